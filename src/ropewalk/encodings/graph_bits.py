"""Encodings of graphs as bits: four or six bits for each word and plane."""

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
from ropewalk.encodings.graphs import PlanarGraphEncoding
from ropewalk.errors import LabelError
from ropewalk.kernels import graph_bits as kernel
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
from ropewalk.kernels.values import Workspace

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from ropewalk.core.arrays import Bools, Ints

Bits = npt.NDArray[np.uint8]
Waiting = tuple[int, tuple[bool, ...]]  # the number of heads, and for each dependent whether it is its head's farthest
MOST_PLANES = 10  # six bits for each must fit in one number


class GraphBits(PlanarGraphEncoding):
    """Base class: `width` bits for each word and plane, written as digits 0 and 1, those of the first plane first.

    `rule` limits the heads of a word in a plane, as in `core.graphs.arc_planes`.
    """

    width: ClassVar[int]
    rule: ClassVar[int]

    default_planes = 3
    most_planes = MOST_PLANES

    def __init__(self, *, policy: str = "drop", planes: int = default_planes) -> None:
        super().__init__(policy=policy, planes=planes)

    @abstractmethod
    def narrowed(self, bits: Bits) -> Bits:
        """Convert the six bits of each word and plane, as kernels use them, to the `width` bits in labels."""

    @abstractmethod
    def widened(self, bits: Bits) -> Bits:
        """Convert the `width` bits in labels to the six bits of each word and plane, as kernels use them."""

    @final
    def fitting(self, arcs: Arcs) -> Bools:
        """Return for each arc whether its plane is among the first `planes`."""
        return np.asarray(arc_planes(arcs, self.rule) <= self.planes)

    @final
    def write_arcs(self, arcs: Arcs) -> list[Column]:
        """Return the bits of every word in all planes, as one column of labels."""
        levels = arc_planes(arcs, self.rule)
        padded, levels = self._padded(arcs, levels)
        words = int(arcs.words.sum())
        bits = np.empty(self.planes * words, dtype=np.uint8)
        workspace = Workspace(self.planes * (int(arcs.words.max(initial=0)) + 1))
        kernel.write(padded.buffers(), view(levels), self.planes, view(bits), workspace)
        codes = np.zeros(words, dtype=np.int64)
        for plane in self.narrowed(bits).reshape(words, self.planes).T:
            codes = (codes << self.width) | plane
        distinct, ids = np.unique(codes, return_inverse=True)
        digits = self.width * self.planes
        return [Column(ids.astype(np.int32), tuple(format(code, f"0{digits}b") for code in distinct.tolist()))]

    @final
    def read_arcs(self, columns: Sequence[Column], offsets: Offsets) -> SpelledArcs:
        """Return the arcs that labels spell; each plane has a stack for each direction."""
        for text in columns[0].names:
            self.check_label(text)
        mask = (1 << self.width) - 1
        rows = [
            [int(text, 2) >> self.width * (self.planes - 1 - plane) & mask for plane in range(self.planes)]
            for text in columns[0].names
        ]
        table = self.widened(np.array(rows, dtype=np.uint8).reshape(-1, self.planes))
        bits = np.ascontiguousarray(table[columns[0].ids].reshape(-1))
        arcs = SpelledArcs.up_to(2 * len(bits), offsets)
        workspace = Workspace(offsets.longest)
        kernel.read(view(bits), view(offsets.array), self.planes, arcs.buffers(), arcs.faults.buffers, workspace)
        return arcs

    @property
    @final
    def start(self) -> tuple[Waiting, ...]:
        """The state before the first word: no plane has a word that waits for its head or dependents."""
        return ((0, ()),) * self.planes

    @final
    def advance(self, state: Hashable, text: str) -> tuple[Waiting, ...] | None:
        """Return the waiting words of each plane after the label `text`; None if the label cannot follow."""
        assert isinstance(state, tuple)  # noqa: S101 - it began as `start`
        parts = [int(text[at : at + self.width], 2) for at in range(0, len(text), self.width)]
        planes = self.widened(np.array(parts, dtype=np.uint8)).tolist()
        after = [_after(heads, dependents, bits) for (heads, dependents), bits in zip(state, planes, strict=True)]
        return None if None in after else tuple(waiting for waiting in after if waiting is not None)

    @final
    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` unless `text` consists of `width` times `planes` digits 0 and 1."""
        if not re.fullmatch(f"[01]{{{self.width * self.planes}}}", text):
            raise LabelError(self.spec, text, f"{self.width * self.planes} digits, each 0 or 1")

    def _padded(self, arcs: Arcs, levels: Ints) -> tuple[Arcs, Ints]:
        """Return the arcs and those of `padding`, and the plane of each; `levels` are the planes of `arcs`."""
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
        """Return all pairs of a word and a plane in which it has no head, as two arrays.

        Words are indices over all sentences, from 0; planes count from 1. `levels` are the planes of `arcs`.
        """
        words = int(arcs.words.sum())
        starts = np.cumsum(arcs.words) - arcs.words
        own = arcs.offsets.owners()
        has = np.zeros((self.planes, words), dtype=np.bool_)
        inside = levels <= self.planes
        has[levels[inside] - 1, (starts[own] + arcs.dependents - 1)[inside]] = True
        plane, word = np.nonzero(~has)
        return word, (plane + 1).astype(np.int32)


def _after(heads: int, dependents: tuple[bool, ...], bits: int) -> Waiting | None:
    """Return the waiting words of one plane after a word with the six bits `bits`.

    `heads` is the number of words that wait for dependents; `dependents` has the words that wait for a head. Return
    None if the word needs a left dependent and none waits.
    """
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
    """Graphs with six bits for each word and plane. In a plane a word has at most one head on either side.

    The bits, from the first to the last:
    1. The word has a head on the right.
    2. It has a head on the left.
    3. It is the farthest left dependent of its right head.
    4. It is the farthest right dependent of its left head.
    5. It has dependents on the left.
    6. It has dependents on the right.
    """

    name = "six-bit"
    summary = "six bits for each plane, in which a word has at most one head on either side"
    cites = "Ezquerro, Vilares & Gómez-Rodríguez 2024, Dependency Graph Parsing as Sequence Labeling (6k-bit)"
    width = 6
    rule = ONE_HEAD_A_SIDE

    def narrowed(self, bits: Bits) -> Bits:
        """Return the bits unchanged: labels have all six."""
        return bits

    def widened(self, bits: Bits) -> Bits:
        """Return the bits unchanged: labels have all six. Kernels ignore bits 3 and 4 on a side without a head."""
        return bits


@final
class FourBitGraphs(GraphBits):
    """Graphs with four bits for each word and plane. In a plane every word has exactly one head.

    The bits, from the first to the last:
    1. The head is on the left; if the bit is 0, it is on the right.
    2. The word is its head's farthest dependent on its side.
    3. It has dependents on the left.
    4. It has dependents on the right.
    A word that has no head in a plane is attached to the node before it there. The relation of such an arc is `no arc`,
    unless the graph has the arc in another plane.
    """

    name = "four-bit"
    summary = "four bits for each plane, in which a word has one head; relations mark arcs that only fill a plane"
    cites = "Ezquerro, Vilares & Gómez-Rodríguez 2024, Dependency Graph Parsing as Sequence Labeling (4k-bit)"
    width = 4
    rule = ONE_HEAD
    repeats = True

    def narrowed(self, bits: Bits) -> Bits:
        """Convert six bits to four: one bit is the side of the head, one marks its farthest dependent."""
        left = (bits & GRAPH_RIGHT_DEPENDENT) > 0
        farthest = (bits & (GRAPH_FARTHEST_LEFT | GRAPH_FARTHEST_RIGHT)) > 0
        return (left << 3 | farthest << 2 | bits & (GRAPH_HAS_LEFT | GRAPH_HAS_RIGHT)).astype(np.uint8)

    def widened(self, bits: Bits) -> Bits:
        """Convert four bits to six: each word has a head on one side, and none on the other."""
        left = (bits & 8) > 0
        side = np.where(left, GRAPH_RIGHT_DEPENDENT, GRAPH_LEFT_DEPENDENT)
        mark = np.where(left, GRAPH_FARTHEST_RIGHT, GRAPH_FARTHEST_LEFT)
        wide: npt.NDArray[Any] = side | np.where((bits & 4) > 0, mark, 0) | bits & (GRAPH_HAS_LEFT | GRAPH_HAS_RIGHT)
        return wide.astype(np.uint8)

    def padding(self, arcs: Arcs) -> tuple[Ints, Ints, Longs]:
        """Return an arc from the node before it for each word and plane in which the word has no head.

        The arcs are arrays of heads, dependents and sentences.
        """
        word, _ = self._free(arcs, arc_planes(arcs, self.rule))
        starts = np.cumsum(arcs.words) - arcs.words
        sentences = np.searchsorted(starts + arcs.words, word, side="right")
        heads = (word - starts[sentences]).astype(np.int32)
        return heads, heads + np.int32(1), sentences
