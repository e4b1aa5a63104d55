"""Any partial heads into exactly one tree with one root, by a named policy, saying what was done.

`nearest`, which the published figures rest on, gives a word without a head the nearest one that makes no cycle,
tried in the order d-1, d+1, d-2, d+2, …, and node 0 only while no word hangs on it. `root`, which the paper's text
describes, hangs it on the sentence's root. With both, a second root is hung on the first, and a head outside the
sentence or on a cycle counts as missing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ropewalk.core.arrays import Ints, ints
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import Trees, is_root_relation, scratch
from ropewalk.errors import demand_known
from ropewalk.kernels import repair as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import ATTACHED, REROOTED

if TYPE_CHECKING:
    import numpy.typing as npt

POLICIES = {"nearest": kernel.nearest, "root": kernel.root}
REPAIRS = {ATTACHED: "attached", REROOTED: "rerooted"}


@dataclass(frozen=True, slots=True, eq=False)
class Repaired:
    """Trees with one root each, and the repairs: the words that were attached and their kinds."""

    trees: Trees
    words: Ints
    kinds: Ints

    def counts(self) -> dict[str, int]:
        """How many repairs there were of each kind."""
        tally = Counter(self.kinds.tolist())
        return {name: tally[code] for code, name in REPAIRS.items() if tally[code]}


def repair(
    heads: Ints, offsets: Offsets, policy: str = "nearest", *, relations: Column | None = None, keep_roots: bool = False
) -> Repaired:
    """Turn every sentence into one tree with one root; -1 is a missing head. With `keep_roots` further roots stay."""
    demand_known("repair policy", policy, POLICIES)
    heads = ints(heads, "heads").copy()
    offsets = Offsets.of(offsets, end=len(heads))
    words, kinds = (np.empty(len(heads), dtype=np.int32) for _ in range(2))
    count = POLICIES[policy](
        view(heads), view(offsets.array), int(keep_roots), view(words), view(kinds), view(scratch(offsets))
    )
    return Repaired(Trees.known(heads, offsets, relations), words[:count], kinds[:count])


def rooted_relations(
    heads: npt.NDArray[Any], relations: Column, *, among: npt.NDArray[np.bool_] | None = None
) -> Column:
    """Make the relation `root` where the head is 0, and `dep` where it says root and the head is not.

    `among` marks the words that may change; by default all may.
    """
    heads = ints(heads, "heads", size=len(relations))
    names = (*relations.names, "root", "dep")
    rooted = np.array([is_root_relation(name) for name in names], dtype=np.bool_)[relations.ids]
    proper = np.where(heads == 0, len(names) - 2, len(names) - 1)
    wrong = (rooted != (heads == 0)) & (True if among is None else among)
    return Column(np.where(wrong, proper, relations.ids).astype(np.int32), names) if wrong.any() else relations
