"""Heads by their position: absolute, relative, or counted over words of one part of speech."""

from __future__ import annotations

import re
from abc import abstractmethod
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Final, final

import numpy as np

from ropewalk.core.arrays import Ints, ints
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets, starts_of
from ropewalk.core.trees import Trees, scratch
from ropewalk.encodings.arc_encodings import ArcEncoding, ArcTrees, SpelledArcs
from ropewalk.encodings.base import Encoding
from ropewalk.encodings.bracket_text import number_labels
from ropewalk.encodings.graphs import GraphEncoding
from ropewalk.encodings.labels import NOTHING, FaultBuffer, Faults, Labels
from ropewalk.errors import EncodingError, LabelError, MismatchError
from ropewalk.kernels import tagged as kernel
from ropewalk.kernels import view

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.core.arcs import Arcs
    from ropewalk.core.arrays import Bools

STEP: Final = re.compile(r"[+-][1-9][0-9]{0,8}")
ROOT: Final = "ROOT"
TREES: Final = "Strzyz, Vilares & Gómez-Rodríguez 2019, Viable Dependency Parsing as Sequence Labeling"
GRAPHS: Final = "Ezquerro, Vilares & Gómez-Rodríguez 2024, Dependency Graph Parsing as Sequence Labeling"


def _numbered(values: Ints, to_text: Callable[[int], str]) -> Column:
    """Return the column of numbers as texts, its names in the order of the numbers."""
    if not len(values):
        return Column(np.zeros(0, dtype=np.int32), ())
    low = int(values.min())
    present = np.flatnonzero(np.bincount(values - low))
    names = Column(np.arange(len(present)), tuple(to_text(value + low) for value in present.tolist())).narrow()
    table = np.zeros(int(present[-1]) + 1, dtype=names.ids.dtype)
    table[present] = names.ids
    return Column(table[values - low], names.names)


def _signed(number: int) -> str:
    return format(number, "+d")


class HeadPositions(ArcEncoding):
    """The heads of each word, from left to right and separated by commas; `_` where it has none."""

    item: ClassVar[re.Pattern[str]]
    expected: ClassVar[str]

    @abstractmethod
    def shown(self, heads: Ints, dependents: Ints) -> Ints:
        """Return the numbers that stand for heads in labels."""

    @abstractmethod
    def heads_of(self, shown: Ints, dependents: Ints) -> Ints:
        """Return the heads for which numbers stand in labels; -1 is outside the sentence."""

    @abstractmethod
    def text(self, number: int) -> str:
        """Write one number."""

    @final
    def write_arcs(self, arcs: Arcs) -> list[Column]:
        """Write the heads of each word."""
        shown = self.shown(arcs.heads, arcs.dependents)
        if arcs.one_head:
            return [_numbered(shown, self.text)]
        nodes = (np.cumsum(arcs.words) - arcs.words)[arcs.offsets.owners()] + arcs.dependents - 1
        order = np.lexsort((arcs.heads, nodes))
        starts = starts_of(np.bincount(nodes, minlength=int(arcs.words.sum())))
        return [number_labels(shown[order].astype(np.int32), starts.astype(np.int32), self._listed)]

    @final
    def read_arcs(self, columns: Sequence[Column], offsets: Offsets) -> SpelledArcs:
        """Read the heads of each word, those outside the sentence included."""
        for text in columns[0].names:
            self.check_label(text)
        spelled = [[int(text)] if self.of_trees else _numbers(text) for text in columns[0].names]
        flat = np.array([number for row in spelled for number in row] or [0], dtype=np.int32)
        if all(len(row) == 1 for row in spelled):
            dependents, shown, arc_offsets = offsets.positions(), flat[columns[0].ids], offsets.array
        else:
            node_heads, places = Offsets.of_lengths([len(row) for row in spelled]).select(
                columns[0].ids.astype(np.int64)
            )
            dependents, shown = np.repeat(offsets.positions(), node_heads.lengths), flat[places]
            arc_offsets = node_heads.array[offsets.array]
        heads = self.heads_of(shown, dependents).astype(np.int32, copy=False)
        return SpelledArcs(heads, dependents, arc_offsets, FaultBuffer(2 * len(heads)))

    @final
    def possible(self, texts: Sequence[str], offsets: Offsets) -> Bools:
        """Return which labels have all their heads in the sentence, none of them the word itself."""
        lengths = np.repeat(offsets.lengths, offsets.lengths)
        dependents = offsets.positions()
        out = np.ones((len(dependents), len(texts)), dtype=np.bool_)
        for place, text in enumerate(texts):
            for number in _numbers(text):
                heads = self.heads_of(np.full(len(dependents), number, dtype=np.int32), dependents)
                out[:, place] &= (heads >= 0) & (heads <= lengths) & (heads != dependents)
        return out

    @final
    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if the text is no head, or for graphs no list of heads, or names one twice."""
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
    """Return whether heads go from left to right; 0, where it is no distance, comes first."""
    return all(a < b for a, b in pairwise(numbers[1:] if numbers[0] == 0 else numbers)) and 0 not in numbers[1:]


class AbsolutePositions(HeadPositions):
    """The numbers of heads: 0 is the root."""

    item = re.compile(r"0|[1-9][0-9]{0,8}")

    @final
    def shown(self, heads: Ints, dependents: Ints) -> Ints:
        """Return heads as they are."""
        return heads

    @final
    def heads_of(self, shown: Ints, dependents: Ints) -> Ints:
        """Return numbers as they are."""
        return shown

    @final
    def text(self, number: int) -> str:
        """Write the number of a head."""
        return str(number)


class RelativePositions(HeadPositions):
    """The distances to heads, negative to the left: 0 is the root."""

    item = re.compile(r"0|[+-][1-9][0-9]{0,8}")

    @final
    def shown(self, heads: Ints, dependents: Ints) -> Ints:
        """Return distances."""
        return np.where(heads == 0, 0, heads - dependents)

    @final
    def heads_of(self, shown: Ints, dependents: Ints) -> Ints:
        """Return heads; node 0 has a label of its own, so a distance that reaches it leads out of the sentence."""
        heads = shown + dependents
        return np.where(shown == 0, 0, np.where(heads == 0, -1, heads))

    @final
    def text(self, number: int) -> str:
        """Write a distance with its sign."""
        return _signed(number) if number else "0"


class EveryTree(ArcTrees):
    """Encodings of positions cover all trees."""

    @final
    def covered(self, trees: Trees) -> Bools:
        """Every tree is covered."""
        return np.ones(len(trees), dtype=np.bool_)


class EveryGraph(GraphEncoding):
    """Encodings of positions cover all graphs."""

    @final
    def fitting(self, arcs: Arcs) -> Bools:
        """Every arc fits."""
        return np.ones(len(arcs), dtype=np.bool_)


@final
class Absolute(AbsolutePositions, EveryTree):
    """The number of the head: 0 for the root."""

    name = "absolute"
    summary = "the number of the head: every tree"
    cites = TREES
    expected = "a head: 0, 1, 2, …"


@final
class AbsoluteGraphs(AbsolutePositions, EveryGraph):
    """The numbers of the heads of each word: 0 is the root."""

    name = "absolute"
    summary = "the numbers of all heads: every graph"
    cites = GRAPHS
    expected = "heads from left to right, such as 0,3,7, or _ for none"


@final
class Relative(RelativePositions, EveryTree):
    """The distance to the head, negative to the left; 0 for the root."""

    name = "relative"
    summary = "the distance to the head: every tree"
    cites = TREES
    expected = "a distance: -1, +1, -2, …, or 0 for the root"


@final
class RelativeGraphs(RelativePositions, EveryGraph):
    """The distances to the heads of each word, negative to the left: 0 is the root."""

    name = "relative"
    summary = "the distances to all heads: every graph"
    cites = GRAPHS
    expected = "distances to heads from left to right, such as 0,-3,+2, or _ for none"


@final
class PosOffset(Encoding):
    """The head as the k-th word with part of speech P to the left (-k) or right (+k); the root is -1 ROOT."""

    name = "pos-offset"
    summary = "the head as the k-th word with a part of speech: every tree"
    cites = TREES
    columns = ("offset", "tag")
    needs_upos = True

    def covered(self, trees: Trees) -> Bools:
        """Every tree is covered."""
        return np.ones(len(trees), dtype=np.bool_)

    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Write how many words of the head's tag to go, and that tag."""
        if upos is None:
            raise EncodingError(f"{self.name} needs parts of speech")
        heads, offsets = trees.heads, trees.offsets
        if len(upos) != len(heads):
            raise MismatchError(f"{len(heads)} heads but {len(upos)} parts of speech; each word needs one of each")
        steps = np.empty(len(heads), dtype=np.int32)
        kernel.write(
            view(heads),
            view(trees.offsets.array),
            view(ints(upos.ids, "tags")),
            view(steps),
            view(scratch(offsets)),
            view(np.empty(len(upos.names), dtype=np.int32)),
        )
        places = np.repeat(offsets.starts, offsets.lengths) + heads - 1
        tags = np.where(heads == 0, len(upos.names), upos.ids[np.maximum(places, 0)] if len(heads) else 0)
        return [_numbered(steps, _signed), Column(tags.astype(np.int32), (*upos.names, ROOT))]

    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Read heads; those outside the sentence, or on a cycle, are missing."""
        if labels.upos is None or len(labels.columns) != 2:
            raise EncodingError(f"{self.name} needs parts of speech, and two columns of labels")
        counts, tags = labels.columns
        for text in counts.names:
            self.check_label(text)
        known = {name: place for place, name in enumerate(labels.upos.names)} | {ROOT: len(labels.upos.names)}
        wanted = np.array([known.get(text, -1) for text in tags.names] or [0], dtype=np.int32)
        steps = np.array([int(text) for text in counts.names] or [0], dtype=np.int32)
        words = len(labels.upos.ids)
        heads, dependents = np.empty(words, dtype=np.int32), np.empty(words, dtype=np.int32)
        many = len(labels.upos.names)
        kernel.read(
            view(steps[counts.ids]),
            view(wanted[tags.ids]),
            view(labels.offsets.array),
            view(ints(labels.upos.ids, "tags")),
            many,
            view(heads),
            view(dependents),
            view(np.empty(many + 1, dtype=np.int32)),
            view(scratch(labels.offsets)),
            view(np.empty(many, dtype=np.int32)),
        )
        return SpelledArcs(heads, dependents, labels.offsets.array, FaultBuffer(2 * words)).settle(labels.offsets)

    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if the text is no count of words, or no tag."""
        if column == 0 and not STEP.fullmatch(text):
            raise LabelError(self.spec, text, "a count of words: -1, +1, -2, …")
        if column == 1 and not text:
            raise LabelError(self.spec, text, f"a part of speech or {ROOT}")
