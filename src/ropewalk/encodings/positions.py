"""Encodings of heads as positions: absolute, relative, or as the k-th word with a part of speech."""

from __future__ import annotations

import re
from abc import abstractmethod
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

import numpy as np

from ropewalk.core.arrays import Ints, ints
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets, starts_of
from ropewalk.encodings.arc_encodings import ArcEncoding, ArcTrees, SpelledArcs
from ropewalk.encodings.base import Encoding
from ropewalk.encodings.bracket_text import number_labels
from ropewalk.encodings.graphs import GraphEncoding
from ropewalk.encodings.labels import NOTHING, FaultBuffer, Faults, Labels
from ropewalk.errors import EncodingError, LabelError, MismatchError
from ropewalk.kernels import positions as kernel
from ropewalk.kernels import view

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.core.arcs import Arcs
    from ropewalk.core.arrays import Bools
    from ropewalk.core.trees import Trees

STEP: Final = re.compile(r"[+-][1-9][0-9]{0,8}")
ROOT: Final = "ROOT"
TREES: Final = "Strzyz, Vilares & Gómez-Rodríguez 2019, Viable Dependency Parsing as Sequence Labeling"
GRAPHS: Final = "Ezquerro, Vilares & Gómez-Rodríguez 2024, Dependency Graph Parsing as Sequence Labeling"


def _numbered(values: Ints, to_text: Callable[[int], str]) -> Column:
    """Return integers as a column of texts, made with `to_text`; its distinct texts are sorted by their integers."""
    if not len(values):
        return Column(np.zeros(0, dtype=np.int32), ())
    low = int(values.min())
    present = np.flatnonzero(np.bincount(values - low))
    narrow: type[np.integer[Any]] = np.uint8 if len(present) <= 1 << 8 else np.int32
    table = np.zeros(int(present[-1]) + 1, dtype=narrow)
    table[present] = np.arange(len(present))
    return Column(table[values - low], tuple([to_text(value + low) for value in present.tolist()]))


def _signed(number: int) -> str:
    return format(number, "+d")


class HeadPositions(ArcEncoding):
    """Base class: a label is the list of a word's heads as numbers, from left to right, separated by commas.

    The label of a word without heads is `_`. Subclasses define which number stands for a head.
    """

    item: ClassVar[re.Pattern[str]]
    expected: ClassVar[str]

    @abstractmethod
    def shown(self, heads: Ints, dependents: Ints) -> Ints:
        """Return the number that stands for each head in the labels of `dependents`: a position or a distance."""

    @abstractmethod
    def heads_of(self, shown: Ints, dependents: Ints) -> Ints:
        """Return the heads that the numbers `shown` in the labels of `dependents` stand for.

        A head before the first word is negative, and one after the last is larger than the sentence.
        """

    @abstractmethod
    def text(self, number: int) -> str:
        """Return one number of a label as text."""

    @final
    def write_arcs(self, arcs: Arcs) -> list[Column]:
        """Return one column of labels: the numbers of each word's heads."""
        shown = self.shown(arcs.heads, arcs.dependents)
        if arcs.one_head:
            return [_numbered(shown, self.text)]
        nodes = (np.cumsum(arcs.words) - arcs.words)[arcs.offsets.owners()] + arcs.dependents - 1
        order = np.lexsort((arcs.heads, nodes))
        starts = starts_of(np.bincount(nodes, minlength=int(arcs.words.sum())))
        return [number_labels(shown[order].astype(np.int32), starts.astype(np.int32), self._listed)]

    @final
    def read_arcs(self, columns: Sequence[Column], offsets: Offsets) -> SpelledArcs:
        """Return the arcs that labels spell, including arcs from heads outside the sentence."""
        for text in columns[0].names:
            self.check_label(text)
        spelled = [[int(text)] if self.of_trees else _numbers(text) for text in columns[0].names]
        flat = np.array([number for row in spelled for number in row] or [0], dtype=np.int32)
        if all(len(row) == 1 for row in spelled):
            dependents, shown, arc_offsets = offsets.positions(), flat[columns[0].ids], offsets.array.copy()
        else:
            node_heads, positions = Offsets.of_lengths([len(row) for row in spelled]).select(
                columns[0].ids.astype(np.int64)
            )
            dependents, shown = np.repeat(offsets.positions(), node_heads.lengths), flat[positions]
            arc_offsets = node_heads.array[offsets.array]
        heads = self.heads_of(shown, dependents).astype(np.int32, copy=False)
        return SpelledArcs(heads, dependents, arc_offsets, FaultBuffer(2 * len(heads)))

    @final
    def possible(self, texts: Sequence[str], offsets: Offsets) -> Bools:
        """Return an array [words, texts]: whether each word can have each label.

        It can if all heads of the label are in the sentence and none is the word itself.
        """
        lengths = np.repeat(offsets.lengths, offsets.lengths)
        dependents = offsets.positions()
        out = np.ones((len(dependents), len(texts)), dtype=np.bool_)
        for label, text in enumerate(texts):
            for number in _numbers(text):
                heads = self.heads_of(np.full(len(dependents), number, dtype=np.int32), dependents)
                out[:, label] &= (heads >= 0) & (heads <= lengths) & (heads != dependents)
        return out

    @final
    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` unless `text` is a head or, for graphs, `_` or a list of heads from left to right.

        A list must not repeat a head.
        """
        if self.item.fullmatch(text) or (text == NOTHING and not self.of_trees):
            return
        parts = text.split(",")
        if self.of_trees or not all(map(self.item.fullmatch, parts)) or not _rises([int(part) for part in parts]):
            raise LabelError(self.spec, text, self.expected)

    def _listed(self, numbers: Sequence[int]) -> str:
        return ",".join(map(self.text, numbers)) or NOTHING


def _numbers(text: str) -> list[int]:
    return [] if text == NOTHING else [int(part) for part in text.split(",")]


def _rises(numbers: Sequence[int]) -> bool:
    """Return whether numbers rise, as heads from left to right do; 0, the root, may only be the first."""
    return all(a < b for a, b in pairwise(numbers[1:] if numbers[0] == 0 else numbers)) and 0 not in numbers[1:]


class AbsolutePositions(HeadPositions):
    """Base class: the number of a head is its position in the sentence, from 1; 0 is the root."""

    item = re.compile(r"0|[1-9][0-9]{0,8}")

    @final
    def shown(self, heads: Ints, dependents: Ints) -> Ints:
        """Return `heads` unchanged: the numbers are positions."""
        return heads

    @final
    def heads_of(self, shown: Ints, dependents: Ints) -> Ints:
        """Return `shown` unchanged: the numbers are positions."""
        return shown

    @final
    def text(self, number: int) -> str:
        """Return the position of a head as text."""
        return str(number)


class RelativePositions(HeadPositions):
    """Base class: the number of a head is its distance from the dependent, negative to the left; 0 is the root."""

    item = re.compile(r"0|[+-][1-9][0-9]{0,8}")

    @final
    def shown(self, heads: Ints, dependents: Ints) -> Ints:
        """Return the distance from each dependent to its head, 0 if the head is the root."""
        return np.where(heads == 0, 0, heads - dependents)

    @final
    def heads_of(self, shown: Ints, dependents: Ints) -> Ints:
        """Return the heads at the distances `shown` from `dependents`; the distance 0 stands for the root, node 0.

        A distance that leads to node 0 is not allowed: its head is -1, outside the sentence.
        """
        heads = shown + dependents
        return np.where(shown == 0, 0, np.where(heads == 0, -1, heads))

    @final
    def text(self, number: int) -> str:
        """Return a distance as text with its sign, such as `+2`; `0` for the root."""
        return _signed(number) if number else "0"


class EveryTree(ArcTrees):
    """Base class for encodings of trees as positions of heads, which cover all trees."""

    @final
    def covered(self, trees: Trees) -> Bools:
        """Return true for every tree: all are covered."""
        return np.ones(len(trees), dtype=np.bool_)


class EveryGraph(GraphEncoding):
    """Base class for encodings of graphs as positions of heads, which cover all graphs."""

    @final
    def fitting(self, arcs: Arcs) -> Bools:
        """Return true for every arc: the labels can hold all arcs."""
        return np.ones(len(arcs), dtype=np.bool_)


@final
class Absolute(AbsolutePositions, EveryTree):
    """Trees with the position of each word's head as its label, from 1; 0 for the root."""

    name = "absolute"
    summary = "the number of the head: every tree"
    cites = TREES
    expected = "a head: 0, 1, 2, …"


@final
class AbsoluteGraphs(AbsolutePositions, EveryGraph):
    """Graphs with the positions of each word's heads as its label, such as `0,3,7`; 0 is the root."""

    name = "absolute"
    summary = "the numbers of all heads: every graph"
    cites = GRAPHS
    expected = "heads from left to right, such as 0,3,7, or _ for none"


@final
class Relative(RelativePositions, EveryTree):
    """Trees with the distance to each word's head as its label, negative to the left; 0 for the root."""

    name = "relative"
    summary = "the distance to the head: every tree"
    cites = TREES
    expected = "a distance: -1, +1, -2, …, or 0 for the root"


@final
class RelativeGraphs(RelativePositions, EveryGraph):
    """Graphs with the distances to each word's heads as its label, such as `0,-3,+2`; 0 is the root."""

    name = "relative"
    summary = "the distances to all heads: every graph"
    cites = GRAPHS
    expected = "distances to heads from left to right, such as 0,-3,+2, or _ for none"


def _tagged(upos: Column, offsets: Offsets) -> kernel.Tagged:
    """Return the tags and sentence offsets of words as the argument of a kernel."""
    return kernel.Tagged(view(ints(upos.ids, "tags")), view(offsets.array), len(upos.names), offsets.longest + 1)


@final
class PosOffset(Encoding):
    """Trees with labels of two columns: the head is the k-th word with part of speech P to the left or right.

    The columns are -k or +k, and P. The label of the root is `-1` and `ROOT`.
    """

    name = "pos-offset"
    summary = "the head as the k-th word with a part of speech: every tree"
    cites = TREES
    columns = ("offset", "tag")
    needs_upos = True

    def covered(self, trees: Trees) -> Bools:
        """Return true for every tree: all are covered."""
        return np.ones(len(trees), dtype=np.bool_)

    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Return two columns: the signed number of words with the head's tag up to the head, and the head's tag."""
        if upos is None:
            raise EncodingError(f"{self.name} needs parts of speech; add the column upos to the treebank")
        heads, offsets = trees.heads, trees.offsets
        if len(upos) != len(heads):
            raise MismatchError(f"{len(heads)} heads but {len(upos)} parts of speech; each word needs one of each")
        steps = np.empty(len(heads), dtype=np.int32)
        kernel.write(view(heads), _tagged(upos, offsets), view(steps))
        positions = np.repeat(offsets.starts, offsets.lengths) + heads - 1
        tags = np.where(heads == 0, len(upos.names), upos.ids[np.maximum(positions, 0)] if len(heads) else 0)
        return [_numbered(steps, _signed), Column(tags.astype(np.int32), (*upos.names, ROOT))]

    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Return the heads that labels spell, and faults. A head outside the sentence or on a cycle is -1, missing."""
        if labels.upos is None or len(labels.columns) != 2:
            raise EncodingError(f"{self.name} needs parts of speech and two columns of labels; pass labels with both")
        counts, tags = labels.columns
        for text in counts.names:
            self.check_label(text)
        known = {name: number for number, name in enumerate(labels.upos.names)} | {ROOT: len(labels.upos.names)}
        wanted = np.array([known.get(text, -1) for text in tags.names] or [0], dtype=np.int32)
        steps = np.array([int(text) for text in counts.names] or [0], dtype=np.int32)
        arcs = SpelledArcs.up_to(labels.offsets.total, labels.offsets)
        words = _tagged(labels.upos, labels.offsets)
        kernel.read(view(steps[counts.ids]), view(wanted[tags.ids]), words, arcs.buffers())
        return arcs.settle(labels.offsets)

    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` unless `text` is a signed count such as `+2` in column 0, or a tag in column 1."""
        if column == 0 and not STEP.fullmatch(text):
            raise LabelError(self.spec, text, "a count of words: -1, +1, -2, …")
        if column == 1 and not text:
            raise LabelError(self.spec, text, f"a part of speech or {ROOT}")
