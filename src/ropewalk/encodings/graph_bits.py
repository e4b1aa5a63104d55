"""Graphs as bits: four or six for each word and plane."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
import numpy.typing as npt

from ropewalk.core.arcs import Arcs
from ropewalk.core.columns import Column
from ropewalk.core.graphs import Longs, arc_planes
from ropewalk.core.ragged import Offsets
from ropewalk.encodings.arc_encodings import SpelledArcs
from ropewalk.encodings.graphs import GraphEncoding
from ropewalk.encodings.labels import FaultBuffer
from ropewalk.errors import EncodingOptionError, LabelError
from ropewalk.kernels import graphs as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import (
    GRAPH_FARTHEST_LEFT,
    GRAPH_FARTHEST_RIGHT,
    GRAPH_HAS_LEFT,
    GRAPH_HAS_RIGHT,
    GRAPH_LEFT_DEPENDENT,
    GRAPH_RIGHT_DEPENDENT,
    ONE_HEAD,
    ONE_HEAD_A_SIDE,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from ropewalk.core.arrays import Bools, Ints

Bits = npt.NDArray[np.uint8]
Waiting = tuple[int, tuple[bool, ...]]  # how many heads, and dependents, each whether it is the farthest of its head
MOST_PLANES = 10  # six bits for each must fit in one number


class GraphBits(GraphEncoding):
    """Some bits for each word and plane, written as a row of 0 and 1, the first plane's first."""

    width: ClassVar[int]
    rule: ClassVar[int]

    def __init__(self, *, policy: str = "drop", planes: int = 3) -> None:
        super().__init__(policy=policy)
        if not 1 <= planes <= MOST_PLANES:
            raise EncodingOptionError(f"planes must be 1 to {MOST_PLANES}, found {planes}")
        self.planes = planes

    def options(self) -> dict[str, str | int]:
        """Return the options that differ from their defaults."""
        return super().options() | ({} if self.planes == 3 else {"planes": self.planes})

    @abstractmethod
    def narrowed(self, bits: Bits) -> Bits:
        """Return the bits of a label for the six of a word and plane."""

    @abstractmethod
    def widened(self, bits: Bits) -> Bits:
        """Return the six bits of a word and plane for those of a label."""

    @final
    def fitting(self, arcs: Arcs) -> Bools:
        """Return which arcs lie in one of the planes."""
        return np.asarray(arc_planes(arcs, self.rule) <= self.planes)

    @final
    def write_arcs(self, arcs: Arcs) -> list[Column]:
        """Write the bits of every word."""
        levels = arc_planes(arcs, self.rule)
        padded, levels = self._padded(arcs, levels)
        words = int(arcs.words.sum())
        bits = np.empty(self.planes * words, dtype=np.uint8)
        size = self.planes * (int(arcs.words.max(initial=0)) + 1)
        kernel.write_bits(
            view(padded.left),
            view(padded.right),
            view(padded.rightward),
            view(levels),
            self.planes,
            view(padded.offsets.array),
            view(padded.words),
            view(bits),
            *(view(np.empty(size, dtype=np.int32)) for _ in range(2)),
        )
        codes = np.zeros(words, dtype=np.int64)
        for plane in self.narrowed(bits).reshape(words, self.planes).T:
            codes = (codes << self.width) | plane
        distinct, ids = np.unique(codes, return_inverse=True)
        digits = self.width * self.planes
        return [Column(ids.astype(np.int32), tuple(format(code, f"0{digits}b") for code in distinct.tolist()))]

    @final
    def read_arcs(self, columns: Sequence[Column], offsets: Offsets) -> SpelledArcs:
        """Read bits with two stacks for each plane."""
        for text in columns[0].names:
            self.check_label(text)
        mask = (1 << self.width) - 1
        rows = [
            [int(text, 2) >> self.width * (self.planes - 1 - plane) & mask for plane in range(self.planes)]
            for text in columns[0].names
        ]
        table = self.widened(np.array(rows, dtype=np.uint8).reshape(-1, self.planes))
        bits = np.ascontiguousarray(table[columns[0].ids].reshape(-1))
        heads, dependents = (np.empty(2 * len(bits), dtype=np.int32) for _ in range(2))
        arc_offsets = np.empty(len(offsets) + 1, dtype=np.int32)
        faults = FaultBuffer(4 * len(bits))
        kernel.read_bits(
            view(bits),
            self.planes,
            view(offsets.array),
            view(heads),
            view(dependents),
            view(arc_offsets),
            *faults.views(),
            *(view(np.empty(offsets.longest, dtype=np.int32)) for _ in range(2)),
        )
        return SpelledArcs(heads, dependents, arc_offsets, faults)

    @property
    @final
    def start(self) -> tuple[Waiting, ...]:
        """What waits in each plane: nothing."""
        return ((0, ()),) * self.planes

    @final
    def advance(self, state: Hashable, text: str) -> tuple[Waiting, ...] | None:
        """Read the bits of one more word, plane by plane."""
        assert isinstance(state, tuple)  # noqa: S101 - it began as `start`
        parts = [int(text[at : at + self.width], 2) for at in range(0, len(text), self.width)]
        found = self.widened(np.array(parts, dtype=np.uint8)).tolist()
        after = [_after(heads, dependents, bits) for (heads, dependents), bits in zip(state, found, strict=True)]
        return None if None in after else tuple(one for one in after if one is not None)

    @final
    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` unless the text is a row of `width` times `planes` 0 and 1."""
        if not re.fullmatch(f"[01]{{{self.width * self.planes}}}", text):
            raise LabelError(self.spec, text, f"{self.width * self.planes} digits, each 0 or 1")

    def _padded(self, arcs: Arcs, levels: Ints) -> tuple[Arcs, Ints]:
        """Add to each plane the arcs that its bits cannot but spell."""
        heads, dependents, sentences = self.padding(arcs)
        if not len(heads):
            return arcs, levels
        every = np.concatenate([arcs.offsets.owners(), sentences])
        order = np.argsort(every, kind="stable")
        padded = Arcs(
            np.concatenate([arcs.heads, heads])[order],
            np.concatenate([arcs.dependents, dependents])[order],
            Offsets.of_lengths(np.bincount(every, minlength=len(arcs.words))),
            arcs.words,
        )
        return padded, np.concatenate([levels, self._free(arcs, levels)[1]])[order].astype(np.int32)

    def _free(self, arcs: Arcs, levels: Ints) -> tuple[Longs, Ints]:
        """Return the words, counted over all, that have no head in a plane, and that plane."""
        words = int(arcs.words.sum())
        starts = np.cumsum(arcs.words) - arcs.words
        own = arcs.offsets.owners()
        has = np.zeros((self.planes, words), dtype=np.bool_)
        inside = levels <= self.planes
        has[levels[inside] - 1, (starts[own] + arcs.dependents - 1)[inside]] = True
        plane, word = np.nonzero(~has)
        return word, (plane + 1).astype(np.int32)


def _after(heads: int, dependents: tuple[bool, ...], bits: int) -> Waiting | None:
    """Return what waits in a plane after one more word; None if there is none of the dependents that it says it has."""
    if bits & GRAPH_RIGHT_DEPENDENT and bits & GRAPH_FARTHEST_RIGHT:
        heads = max(heads - 1, 0)
    if bits & GRAPH_HAS_LEFT:
        if not dependents:
            return None
        while dependents:
            *rest, last = dependents
            dependents = tuple(rest)
            if last:
                break
    if bits & GRAPH_LEFT_DEPENDENT:
        dependents = (*dependents, bool(bits & GRAPH_FARTHEST_LEFT))
    return heads + bool(bits & GRAPH_HAS_RIGHT), dependents


@final
class SixBitGraphs(GraphBits):
    """Six bits for each word and plane; in a plane a word has at most one head on either side.

    From the first: it has a head on the right; it has one on the left; it is that right head's farthest dependent on
    its side; it is that left head's; it has dependents on the left; it has dependents on the right.
    """

    name = "six-bit"
    summary = "six bits for each plane, in which a word has at most one head on either side"
    cites = "Ezquerro, Vilares & Gómez-Rodríguez 2024, Dependency Graph Parsing as Sequence Labeling (6k-bit)"
    width = 6
    rule = ONE_HEAD_A_SIDE

    def narrowed(self, bits: Bits) -> Bits:
        """Return all six."""
        return bits

    def widened(self, bits: Bits) -> Bits:
        """Return all six; a mark of the farthest dependent means nothing without a head on that side."""
        return bits


@final
class FourBitGraphs(GraphBits):
    """Four bits for each word and plane; in a plane a word has one head.

    From the first: its head is on the left, else on the right; it is its head's farthest dependent on its side; it has
    dependents on the left; it has dependents on the right. A word that has no head in a plane hangs there on the node
    before it, and the relation of an arc that only fills a plane is `no arc`.
    """

    name = "four-bit"
    summary = "four bits for each plane, in which a word has one head; relations say which arcs only fill a plane"
    cites = "Ezquerro, Vilares & Gómez-Rodríguez 2024, Dependency Graph Parsing as Sequence Labeling (4k-bit)"
    width = 4
    rule = ONE_HEAD
    repeats = True

    def narrowed(self, bits: Bits) -> Bits:
        """Merge the heads on the left and on the right into one bit, and the marks of the farthest into another."""
        left = (bits & GRAPH_RIGHT_DEPENDENT) > 0
        farthest = (bits & (GRAPH_FARTHEST_LEFT | GRAPH_FARTHEST_RIGHT)) > 0
        return (left << 3 | farthest << 2 | bits & (GRAPH_HAS_LEFT | GRAPH_HAS_RIGHT)).astype(np.uint8)

    def widened(self, bits: Bits) -> Bits:
        """Return a head on one side for each word."""
        left = (bits & 8) > 0
        side = np.where(left, GRAPH_RIGHT_DEPENDENT, GRAPH_LEFT_DEPENDENT)
        mark = np.where(left, GRAPH_FARTHEST_RIGHT, GRAPH_FARTHEST_LEFT)
        found: npt.NDArray[Any] = side | np.where((bits & 4) > 0, mark, 0) | bits & (GRAPH_HAS_LEFT | GRAPH_HAS_RIGHT)
        return found.astype(np.uint8)

    def padding(self, arcs: Arcs) -> tuple[Ints, Ints, Longs]:
        """Hang each word that has no head in a plane on the node before it."""
        word, _ = self._free(arcs, arc_planes(arcs, self.rule))
        starts = np.cumsum(arcs.words) - arcs.words
        sentences = np.searchsorted(starts + arcs.words, word, side="right")
        heads = (word - starts[sentences]).astype(np.int32)
        return heads, heads + np.int32(1), sentences
