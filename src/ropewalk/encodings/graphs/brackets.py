"""Graphs as brackets: hierarchical ones with indices, and naive ones in planes."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from ropewalk.core.graphs import arc_planes
from ropewalk.encodings.brackets import MOST_PLANES, match_planes
from ropewalk.encodings.graphs.base import GraphEncoding, GraphLabels, ReadArcs
from ropewalk.encodings.indexed import bracket_labels, match_brackets
from ropewalk.encodings.text import bracket_symbols, bracket_text, number_labels, spell
from ropewalk.errors import EncodingOptionError, LabelError
from ropewalk.kernels import planar as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import CLOSING, INDEX, RIGHTWARD, SUPER

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ropewalk.core.arcs import Arcs
    from ropewalk.core.arrays import Bools
    from ropewalk.encodings.base import Ids


@final
class HierarchicalGraphs(GraphEncoding):
    """The bracketing of the proper rope cover, brackets that skip others bearing an index: every graph."""

    name = "optimal-nonprojective"
    summary = "optimal hierarchical brackets with indices: every graph"
    cites = "Ezquerro, Vilares, Yli-Jyrä & Gómez-Rodríguez 2025; 2025, Hierarchical Bracketing … for Dependency Graphs"

    def fitting(self, arcs: Arcs) -> Bools:
        """Every arc fits."""
        return np.ones(len(arcs.left), dtype=np.bool_)

    def write(self, arcs: Arcs) -> list[tuple[Ids, tuple[str, ...]]]:
        """Write graphs by their proper rope cover."""
        return [number_labels(*bracket_labels(arcs, "proper"), bracket_text)]

    def read(self, labels: GraphLabels) -> ReadArcs:
        """Match brackets."""
        symbols, starts = spell(labels.alphabets[0], lambda text: bracket_symbols(self.spec, text))
        return match_brackets(labels.ids[0], labels.offsets, symbols, starts)

    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if the text is no row of brackets."""
        bracket_symbols(self.spec, text)


@final
class PlanarGraphs(GraphEncoding):
    """Two brackets for each arc, read with a stack for each plane and direction; those of plane 2, 3, … bear stars.

    An arc goes into the first plane in which it crosses no arc of its own direction (a relaxed plane); one that finds
    no such plane does not fit.
    """

    name = "brackets"
    summary = "naive brackets in planes in which no two arcs of one direction cross"
    cites = "Ezquerro, Vilares & Gómez-Rodríguez 2024, Dependency Graph Parsing as Sequence Labeling"

    def __init__(self, *, policy: str = "drop", planes: int = 2) -> None:
        super().__init__(policy=policy)
        if not 1 <= planes <= MOST_PLANES:
            raise EncodingOptionError(f"planes must be 1 to {MOST_PLANES}, found {planes}")
        self.planes = planes

    def options(self) -> dict[str, str | int]:
        """The options that differ from their defaults."""
        return super().options() | ({} if self.planes == 2 else {"planes": self.planes})

    def fitting(self, arcs: Arcs) -> Bools:
        """Tell which arcs lie in one of the planes."""
        return np.asarray(arc_planes(arcs) <= self.planes)

    def write(self, arcs: Arcs) -> list[tuple[Ids, tuple[str, ...]]]:
        """Write two brackets for each arc."""
        symbols = np.empty(2 * len(arcs.left), dtype=np.int32)
        starts = np.empty(int(arcs.words.sum()) + 1, dtype=np.int32)
        tally = np.empty(4 * self.planes * (int(arcs.words.max(initial=0)) + 1), dtype=np.int32)
        count = kernel.write(
            view(arcs.left),
            view(arcs.right),
            view(arcs.rightward),
            view(arc_planes(arcs)),
            self.planes,
            view(arcs.offsets.array),
            view(arcs.words),
            view(symbols),
            view(starts),
            view(tally),
        )
        return [number_labels(symbols[:count], starts, bracket_text)]

    def read(self, labels: GraphLabels) -> ReadArcs:
        """Match brackets plane by plane."""
        symbols, starts = spell(labels.alphabets[0], self._symbols)
        return match_planes(labels.ids[0], labels.offsets, symbols, starts, self.planes)

    @property
    def start(self) -> tuple[int, ...]:
        """How many brackets are open in each plane and direction: none."""
        return (0,) * (2 * self.planes)

    def advance(self, state: Hashable, text: str) -> tuple[int, ...] | None:
        """Open and close brackets; only one of an arc to the right may close what the root opens."""
        assert isinstance(state, tuple)  # noqa: S101 - it began as `start`
        depths = list(state)
        for symbol in self._symbols(text):
            stack = 2 * (symbol // INDEX) + (symbol & RIGHTWARD)
            if not symbol & CLOSING:
                depths[stack] += 1
            elif depths[stack]:
                depths[stack] -= 1
            elif not symbol & RIGHTWARD:
                return None
        return tuple(depths)

    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if the text is no row of plain brackets of these planes."""
        self._symbols(text)

    def _symbols(self, text: str) -> list[int]:
        symbols = bracket_symbols(self.spec, text)
        for symbol in symbols:
            if symbol & SUPER or symbol // INDEX >= self.planes:
                raise LabelError(self.spec, text, rf"brackets < > \ / with at most {self.planes - 1} * and no ^")
        return symbols
