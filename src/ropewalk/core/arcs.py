"""The arcs of many trees or graphs, laid out for rope covers and brackets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import Ints, frozen_array, ints
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import Trees
from ropewalk.errors import GraphError, demand_type
from ropewalk.kernels import ropes as kernel
from ropewalk.kernels import view

if TYPE_CHECKING:
    from ropewalk.core.arrays import Bools

Bytes = npt.NDArray[np.uint8]

MOST_WORDS = 1 << 28  # of all sentences together: places of words are numbers of 32 bits, and take memory


class Layout(NamedTuple):
    """The ends of arcs, whether each points to the right, and their order: by left end, the longest first."""

    left: Ints
    right: Ints
    rightward: Bytes
    order: Ints


@final
@dataclass(frozen=True, slots=True, eq=False)
class Arcs:
    """The arcs of many sentences as flat arrays; those of sentence s are at `offsets[s]`.

    `words` is the number of words of each sentence. `heads` and `dependents` are counted from 1 within their sentence
    (0 is the root). The constructor raises a `GraphError` if an arc leaves its sentence. `one_head` is true for arcs of
    trees: arc w is the one into the w-th word of all.
    """

    heads: Ints
    dependents: Ints
    offsets: Offsets
    words: Ints
    one_head: bool
    _layout: Layout | None

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
        self._fill(heads, dependents, offsets, words, one_head=False)

    def _fill(self, heads: Ints, dependents: Ints, offsets: Offsets, words: Ints, *, one_head: bool) -> None:
        object.__setattr__(self, "heads", frozen_array(heads))
        object.__setattr__(self, "dependents", frozen_array(dependents))
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "words", frozen_array(words))
        object.__setattr__(self, "one_head", one_head)
        object.__setattr__(self, "_layout", None)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.heads, self.dependents, self.offsets, self.words)

    @classmethod
    def of_trees(cls, trees: Trees) -> Arcs:
        """Return the arcs of many trees: arc w is the one into the w-th word of all."""
        demand_type("trees", trees, Trees)
        arcs = object.__new__(cls)
        arcs._fill(trees.heads, trees.offsets.positions(), trees.offsets, trees.offsets.lengths, one_head=True)
        return arcs

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def layout(self) -> Layout:
        """The arcs as rope covers and brackets need them; laid out when first asked for."""
        layout = self._layout
        if layout is None:
            left = np.minimum(self.heads, self.dependents)
            right = np.maximum(self.heads, self.dependents)
            rightward = (self.heads < self.dependents).view(np.uint8)
            order = np.zeros(len(left), dtype=np.int32)
            nodes = int(self.words.max(initial=0)) + 1
            most = self.offsets.longest
            kernel.order(
                view(left),
                view(right),
                view(rightward),
                view(self.offsets.array),
                view(self.words),
                view(order),
                *(view(np.empty(size, dtype=np.int32)) for size in (nodes, nodes, most, most)),
            )
            layout = Layout(*(frozen_array(row) for row in (left, right, rightward, order)))
            object.__setattr__(self, "_layout", layout)
        return layout

    @property
    def left(self) -> Ints:
        """The left end of each arc."""
        return self.layout.left

    @property
    def right(self) -> Ints:
        """The right end of each arc."""
        return self.layout.right

    @property
    def rightward(self) -> Bytes:
        """1 for each arc whose head is its left end."""
        return self.layout.rightward

    @property
    def order(self) -> Ints:
        """The arcs by left end, then from the longest to the shortest."""
        return self.layout.order

    def keep(self, marks: Bools) -> Arcs:
        """Return the arcs that are marked, in the same sentences."""
        return Arcs(self.heads[marks], self.dependents[marks], self.offsets.counted(marks), self.words)

    def crossed(self) -> Bools:
        """Return for each arc whether it crosses another, arcs from node 0 included.

        An arc crosses another if an arc from a node inside it leads beyond it. The farthest nodes that arcs from any
        2^k neighbouring nodes reach are computed for k = 0, 1, …, and each arc is compared with two overlapping runs.
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

    def scratch(self, *, per_arc: bool = False) -> Any:  # noqa: ANN401 - a buffer
        """Allocate a number per node, or per arc, of the largest sentence."""
        size = self.offsets.longest if per_arc else int(self.words.max(initial=0))
        return view(np.empty(size + 1, dtype=np.int32))
