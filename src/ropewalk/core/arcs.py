"""The arcs of many trees or graphs, sorted for rope covers and brackets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import Ints, Rebuilt, frozen_array, ints, set_fields
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import Trees
from ropewalk.errors import GraphError, demand_type
from ropewalk.kernels import ropes as kernel
from ropewalk.kernels import view
from ropewalk.kernels.values import ArcEnds, Workspace

if TYPE_CHECKING:
    from ropewalk.core.arrays import Bools

Bytes = npt.NDArray[np.uint8]

MOST_WORDS = 1 << 28  # of all sentences together: positions of words have 32 bits


class Layout(NamedTuple):
    """The left and right end of each arc, and 1 if the arc points to the right, else 0.

    `order` has the indices of the arcs sorted by left end, then from the longest to the shortest.
    """

    left: Ints
    right: Ints
    rightward: Bytes
    order: Ints


@final
@dataclass(frozen=True, slots=True, eq=False)
class Arcs(Rebuilt):
    """The arcs of many sentences as flat arrays: `heads[offsets[s]]` are the heads of the arcs of sentence s.

    `words` is the number of words of each sentence. `heads` and `dependents` count from 1 within their sentence; 0 is
    the root. The constructor raises a `GraphError` if an arc leaves its sentence. `one_head` is true for arcs made by
    `of_trees`: then there is one arc for each word, in the order of the words.
    """

    heads: Ints
    dependents: Ints
    offsets: Offsets
    words: Ints
    one_head: bool = field(default=False, init=False)
    _layout: Layout | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        heads = ints(self.heads, "heads")
        dependents = ints(self.dependents, "dependents", size=len(heads))
        offsets = Offsets.of(self.offsets, end=len(heads))
        words = ints(self.words, "numbers of words", size=len(offsets))
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
        frozen = {"heads": frozen_array(heads), "dependents": frozen_array(dependents), "words": frozen_array(words)}
        set_fields(self, offsets=offsets, **frozen)

    @classmethod
    def of_trees(cls, trees: Trees) -> Arcs:
        """Return the arcs of `trees`: one arc into each word, in the order of the words of all sentences."""
        demand_type("trees", trees, Trees)
        arcs = object.__new__(cls)
        offsets = trees.offsets
        dependents, words = frozen_array(offsets.positions()), frozen_array(offsets.lengths)
        set_fields(arcs, heads=trees.heads, dependents=dependents, offsets=offsets, words=words)
        set_fields(arcs, one_head=True, _layout=None)
        return arcs

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def layout(self) -> Layout:
        """The ends, directions and order of the arcs, for rope covers and brackets; computed when first used."""
        layout = self._layout
        if layout is None:
            left = np.minimum(self.heads, self.dependents)
            right = np.maximum(self.heads, self.dependents)
            rightward = (self.heads < self.dependents).view(np.uint8)
            order = np.zeros(len(left), dtype=np.int32)
            ends = ArcEnds(view(left), view(right), view(rightward), view(self.offsets.array), view(self.words))
            kernel.order(ends, view(order), self.workspace())
            layout = Layout(*(frozen_array(row) for row in (left, right, rightward, order)))
            set_fields(self, _layout=layout)
        return layout

    @property
    def left(self) -> Ints:
        """The left end of each arc: the smaller of head and dependent."""
        return self.layout.left

    @property
    def right(self) -> Ints:
        """The right end of each arc: the larger of head and dependent."""
        return self.layout.right

    @property
    def rightward(self) -> Bytes:
        """For each arc 1 if its head is its left end, else 0."""
        return self.layout.rightward

    @property
    def order(self) -> Ints:
        """The indices of the arcs, sorted by left end, then from the longest to the shortest."""
        return self.layout.order

    def keep(self, marks: Bools) -> Arcs:
        """Return the arcs for which `marks` is true; the sentences stay the same."""
        return Arcs(self.heads[marks], self.dependents[marks], self.offsets.counted(marks), self.words)

    def buffers(self) -> ArcEnds:
        """Return the arcs as the argument of a kernel."""
        left, right, rightward, _ = self.layout
        return ArcEnds(view(left), view(right), view(rightward), view(self.offsets.array), view(self.words))

    def workspace(self) -> Workspace:
        """Allocate the workspace of a kernel, large enough for the longest sentence."""
        return Workspace(int(self.words.max(initial=0)) + 1, self.offsets.longest)

    def crossed(self) -> Bools:
        """Return for each arc whether it crosses another, arcs from node 0 included.

        An arc is crossed if an arc of a node inside it leads to a node outside it. For k = 0, 1, …, this computes the
        farthest nodes to the left and right that arcs of any 2^k neighbouring nodes reach. Two overlapping runs of 2^k
        nodes contain all nodes inside an arc, so each arc is compared with two runs.
        """
        starts = (np.cumsum(self.words) - self.words + np.arange(len(self.words)))[self.offsets.owners()]
        low, high = starts + np.minimum(self.heads, self.dependents), starts + np.maximum(self.heads, self.dependents)
        reach_left, reach_right = (np.arange(int(self.words.sum()) + len(self.words)) for _ in range(2))
        np.minimum.at(reach_left, high, low)
        np.maximum.at(reach_right, low, high)
        inner = np.flatnonzero(high - low > 1)
        low, high = low[inner], high[inner]
        level = np.log2(high - low - 1).astype(np.int64)  # of the longest runs of 2^level nodes inside
        out = np.zeros(len(self), dtype=np.bool_)
        for k in range(int(level.max(initial=-1)) + 1):
            here = np.flatnonzero(level == k)
            for begin in (low[here] + 1, high[here] - (1 << k)):
                out[inner[here]] |= (reach_left[begin] < low[here]) | (reach_right[begin] > high[here])
            step = 1 << k  # runs twice as long
            reach_left = np.minimum(reach_left[:-step], reach_left[step:])
            reach_right = np.maximum(reach_right[:-step], reach_right[step:])
        return out
