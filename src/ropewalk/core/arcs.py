"""The arcs of many trees or graphs, laid out for rope covers and brackets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import frozen_array, ints
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import Trees
from ropewalk.errors import GraphError, demand_type
from ropewalk.kernels import ropes as kernel
from ropewalk.kernels import view
from ropewalk.kernels.arcs import ArcEnds, Workspace

if TYPE_CHECKING:
    from ropewalk.core.arrays import Bools, Ints

Bytes = npt.NDArray[np.uint8]

MOST_WORDS = 1 << 28  # of all sentences together: places of words are numbers of 32 bits, and take memory


@dataclass(frozen=True, slots=True, eq=False)
class Arcs:
    """The arcs of many sentences as flat arrays; those of sentence s are at `offsets[s]`.

    `words` is the number of words of each sentence. `order` lists the arcs by left end, then from the longest to the
    shortest. The constructor takes heads and dependents, counted from 1 within their sentence (0 is the root), and
    raises a `GraphError` if an arc leaves its sentence.
    """

    left: Ints
    right: Ints
    rightward: Bytes
    offsets: Offsets
    words: Ints
    order: Ints

    def __init__(self, heads: Ints, dependents: Ints, offsets: Offsets | npt.ArrayLike, words: Ints) -> None:
        heads = ints(heads, "heads")
        dependents = ints(dependents, "dependents", size=len(heads))
        offsets = Offsets.of(offsets, end=len(heads))
        words = ints(words, "numbers of words", size=len(offsets))
        most = np.repeat(words, offsets.lengths)
        outside = (heads < 0) | (heads > most) | (dependents < 1) | (dependents > most) | (heads == dependents)
        if outside.any():
            arc = int(np.flatnonzero(outside)[0])
            raise GraphError(
                f"arc {arc + 1} of all, {heads[arc]}->{dependents[arc]}: expected two of the {most[arc]} words"
            )
        if words.min(initial=0) < 0:
            raise GraphError(f"a sentence of {words.min()} words; expected 0 or more")
        if (total := int(words.sum(dtype=np.int64))) > MOST_WORDS:
            raise GraphError(f"{total:,} words in all sentences; expected at most {MOST_WORDS:,}")
        self._lay_out(heads, dependents, offsets, words)

    def _lay_out(self, heads: Ints, dependents: Ints, offsets: Offsets, words: Ints) -> None:
        """Fill in the fields from arcs that lie in their sentences."""
        left = np.minimum(heads, dependents)
        right = np.maximum(heads, dependents)
        rightward = (heads < dependents).view(np.uint8)
        ends = ArcEnds(view(left), view(right), view(rightward), view(offsets.array), view(words))
        order = np.zeros(len(heads), dtype=np.int32)
        kernel.order(ends, view(order), Workspace(int(words.max(initial=0)) + 1, offsets.longest))
        rows: dict[str, npt.NDArray[Any]] = {
            "left": left, "right": right, "rightward": rightward, "words": words, "order": order,
        }  # fmt: skip
        for name, row in rows.items():
            object.__setattr__(self, name, frozen_array(row))
        object.__setattr__(self, "offsets", offsets)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (*self.ends(), self.offsets, self.words)

    @classmethod
    def of_trees(cls, trees: Trees) -> Arcs:
        """Lay out the arcs of many trees: arc w is the one into the w-th word of all."""
        demand_type("trees", trees, Trees)
        arcs = object.__new__(cls)
        arcs._lay_out(trees.heads, trees.offsets.positions(), trees.offsets, trees.offsets.lengths)
        return arcs

    def __len__(self) -> int:
        return len(self.left)

    def ends(self) -> tuple[Ints, Ints]:
        """Return the heads and the dependents."""
        rightward = self.rightward.view(np.bool_)
        return np.where(rightward, self.left, self.right), np.where(rightward, self.right, self.left)

    def keep(self, marks: Bools) -> Arcs:
        """Return the arcs that are marked, in the same sentences."""
        heads, dependents = self.ends()
        return Arcs(heads[marks], dependents[marks], self.offsets.counted(marks), self.words)

    def buffers(self) -> ArcEnds:
        """Return the buffers of the arcs."""
        return ArcEnds(
            view(self.left), view(self.right), view(self.rightward), view(self.offsets.array), view(self.words)
        )

    def workspace(self) -> Workspace:
        """Allocate buffers for a kernel that works on one sentence after the other."""
        return Workspace(int(self.words.max(initial=0)) + 1, self.offsets.longest)
