"""Graphs by the positions of heads: absolute or relative, all of a word's in one label."""

from __future__ import annotations

import re
from abc import abstractmethod
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from ropewalk.core.ragged import Offsets, starts_of
from ropewalk.encodings.base import Ids, fault_room
from ropewalk.encodings.graphs.base import GraphEncoding, GraphLabels, ReadArcs
from ropewalk.encodings.text import number_labels
from ropewalk.errors import LabelError
from ropewalk.kernels.codes import OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arcs import Arcs
    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.core.graphs import Longs

NONE = "_"


class GraphOffsets(GraphEncoding):
    """The heads of each word, separated by commas; `_` where it has none. Every graph."""

    cites = "Ezquerro, Vilares & Gómez-Rodríguez 2024, Dependency Graph Parsing as Sequence Labeling"
    item: ClassVar[str]
    expected: ClassVar[str]

    @abstractmethod
    def shown(self, heads: Ints, dependents: Ints) -> Ints:
        """Give the numbers that stand for heads in labels."""

    @abstractmethod
    def heads_of(self, shown: Ints, dependents: Ints) -> Ints:
        """Give the heads for which numbers stand in labels."""

    @abstractmethod
    def text(self, numbers: Sequence[int]) -> str:
        """Write the numbers of one label."""

    @final
    def fitting(self, arcs: Arcs) -> Bools:
        """Every arc fits."""
        return np.ones(len(arcs.left), dtype=np.bool_)

    @final
    def write(self, arcs: Arcs) -> list[tuple[Ids, tuple[str, ...]]]:
        """Write the heads of each word, from left to right."""
        heads, dependents = arcs.ends()
        nodes = (np.cumsum(arcs.words) - arcs.words)[arcs.offsets.owners()] + dependents - 1
        order = np.lexsort((heads, nodes))
        starts = starts_of(np.bincount(nodes, minlength=int(arcs.words.sum())))
        numbers = self.shown(heads, dependents)[order].astype(np.int32)
        return [number_labels(numbers, starts.astype(np.int32), self.text)]

    @final
    def read(self, labels: GraphLabels) -> ReadArcs:
        """Read heads; those outside the sentence are left out."""
        for text in labels.alphabets[0]:
            self.check_label(text)
        spelled = [[] if text == NONE else [int(part) for part in text.split(",")] for text in labels.alphabets[0]]
        flat = np.array([number for row in spelled for number in row] or [0], dtype=np.int32)
        counts = np.array([len(row) for row in spelled] or [0], dtype=np.int64)
        ids = labels.ids[0].astype(np.int64)
        node_heads, places = Offsets.of_lengths(counts).select(ids)
        nodes: Longs = node_heads.owners()
        shown = flat[places]
        sentences = labels.offsets.owners_of(nodes)
        dependents = (nodes - labels.offsets.starts[sentences] + 1).astype(np.int32)
        heads = self.heads_of(shown, dependents).astype(np.int32)
        wrong = (heads < 0) | (heads > labels.offsets.lengths[sentences])
        faults = fault_room(int(wrong.sum()))
        faults[0][:] = nodes[wrong]
        faults[1][:] = OUTSIDE
        faults[2][0] = len(faults[0])
        arcs = Offsets(node_heads.array[labels.offsets.array]).counted(~wrong)
        return heads[~wrong], dependents[~wrong], arcs.array, faults

    @final
    def possible(self, texts: Sequence[str], offsets: Offsets) -> Bools:
        """Tell which labels have all their heads in the sentence, none of them the word itself."""
        lengths = np.repeat(offsets.lengths, offsets.lengths)
        dependents = offsets.positions()
        out = np.ones((len(dependents), len(texts)), dtype=np.bool_)
        for place, text in enumerate(texts):
            for number in [] if text == NONE else text.split(","):
                heads = self.heads_of(np.full(len(dependents), int(number), dtype=np.int32), dependents)
                out[:, place] &= (heads >= 0) & (heads <= lengths) & (heads != dependents)
        return out

    @final
    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if the text is no list of heads, or names one twice."""
        parts = text.split(",")
        if text != NONE and (not all(re.fullmatch(self.item, part) for part in parts) or not self._rises(parts)):
            raise LabelError(self.spec, text, self.expected)

    def _rises(self, parts: Sequence[str]) -> bool:
        """Tell whether heads go from left to right; 0, where it is no distance, comes first."""
        numbers = [int(part) for part in parts]
        return all(a < b for a, b in pairwise(numbers[1:] if numbers[0] == 0 else numbers)) and 0 not in numbers[1:]


@final
class AbsoluteGraphs(GraphOffsets):
    """The numbers of the heads of each word: 0 is the root."""

    name = "absolute"
    summary = "the numbers of all heads: every graph"
    item = r"0|[1-9][0-9]{0,8}"
    expected = "heads from left to right, such as 0,3,7, or _ for none"

    def shown(self, heads: Ints, dependents: Ints) -> Ints:
        """Show heads as they are."""
        return heads

    def heads_of(self, shown: Ints, dependents: Ints) -> Ints:
        """Take heads as they are."""
        return shown

    def text(self, numbers: Sequence[int]) -> str:
        """Write heads."""
        return ",".join(map(str, numbers)) or NONE


@final
class RelativeGraphs(GraphOffsets):
    """The distances to the heads of each word, negative to the left: 0 is the root."""

    name = "relative"
    summary = "the distances to all heads: every graph"
    item = r"0|[+-][1-9][0-9]{0,8}"
    expected = "distances to heads from left to right, such as 0,-3,+2, or _ for none"

    def shown(self, heads: Ints, dependents: Ints) -> Ints:
        """Show distances."""
        return np.where(heads == 0, 0, heads - dependents)

    def heads_of(self, shown: Ints, dependents: Ints) -> Ints:
        """Take distances; one that reaches node 0 or beyond is outside."""
        heads = shown + dependents
        return np.where(shown == 0, 0, np.where(heads == 0, -1, heads))

    def text(self, numbers: Sequence[int]) -> str:
        """Write distances with their signs."""
        return ",".join("0" if number == 0 else f"{number:+d}" for number in numbers) or NONE
