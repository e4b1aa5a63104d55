"""Repair of heads, some of which are missing, into a tree with one root. There are two policies.

`nearest` is the policy of the published figures. It attaches a word d without a head to the nearest node that makes no
cycle. It tries d-1, d+1, d-2, d+2, …; node 0 is allowed only while it has no dependent. `root` is the policy in the
paper's text. It attaches such a word to the root of the sentence. With both policies a second root is attached to the
first, and a head outside the sentence or on a cycle counts as missing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ropewalk.core.arrays import Ints, ints
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import Trees, is_root_relation
from ropewalk.errors import demand_known
from ropewalk.kernels import repair as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import ATTACHED, REROOTED
from ropewalk.kernels.values import Findings, Workspace

if TYPE_CHECKING:
    import numpy.typing as npt

POLICIES = {"nearest": 0, "root": 1}  # whether words without a head go to the root
REPAIRS = {ATTACHED: "attached", REROOTED: "rerooted"}


@dataclass(frozen=True, slots=True, eq=False)
class Repaired:
    """Repaired trees and the list of repairs: repair i changed the head of word `words[i]` and has the kind `kinds[i]`.

    Words are indices over all sentences, from 0. Kinds are keys of `REPAIRS`.
    """

    trees: Trees
    words: Ints
    kinds: Ints

    def counts(self) -> dict[str, int]:
        """Return the number of repairs of each kind that occurs, by the name of the kind."""
        tally = Counter(self.kinds.tolist())
        return {name: tally[code] for code, name in REPAIRS.items() if tally[code]}


def repair(
    heads: Ints, offsets: Offsets, policy: str = "nearest", *, relations: Column | None = None, keep_roots: bool = False
) -> Repaired:
    """Repair the heads of every sentence into a tree with one root; return the trees and the repairs.

    A missing head is -1. With `keep_roots` a sentence keeps all its roots. `relations` are passed on unchanged.
    """
    demand_known("repair policy", policy, POLICIES)
    heads = ints(heads, "heads").copy()
    offsets = Offsets.of(offsets, end=len(heads))
    words, kinds = (np.empty(len(heads), dtype=np.int32) for _ in range(2))
    repairs, workspace = Findings(view(words), view(kinds)), Workspace(offsets.longest + 2)
    kernel.repair(view(heads), view(offsets.array), POLICIES[policy], keep_roots, repairs, workspace)
    return Repaired(Trees.known(heads, offsets, relations), words[: repairs.count], kinds[: repairs.count])


def rooted_relations(
    heads: npt.NDArray[Any], relations: Column, *, among: npt.NDArray[np.bool_] | None = None
) -> Column:
    """Return relations that fit the heads: only words whose head is 0 have a root relation.

    Such a word with another relation gets `root`. Any other word with a root relation gets `dep`. `among` marks the
    words that may change; by default all may.
    """
    heads = ints(heads, "heads", size=len(relations))
    names = (*relations.names, "root", "dep")
    rooted = np.array([is_root_relation(name) for name in names], dtype=np.bool_)[relations.ids]
    proper = np.where(heads == 0, len(names) - 2, len(names) - 1)
    wrong = (rooted != (heads == 0)) & (True if among is None else among)
    return Column(np.where(wrong, proper, relations.ids).astype(np.int32), names) if wrong.any() else relations
