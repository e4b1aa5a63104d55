"""Naive brackets: two for each arc, read with one stack, or with one for each plane and direction."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Final, final

import numpy as np

from ropewalk.core.graphs import arc_planes
from ropewalk.core.trees import Trees, planes, projective, stackable
from ropewalk.encodings.arc_encodings import ArcEncoding, ArcTrees, SpelledArcs
from ropewalk.encodings.bracket_text import bracket_symbols, bracket_text, number_labels, spell
from ropewalk.encodings.graphs import GraphEncoding
from ropewalk.encodings.labels import FaultBuffer
from ropewalk.encodings.optimal import bracket_labels, match_brackets
from ropewalk.errors import EncodingOptionError, LabelError
from ropewalk.kernels import planar as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import CLOSING, INDEX, RIGHTWARD, SUPER

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from ropewalk.core.arcs import Arcs
    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.core.columns import Column
    from ropewalk.core.ragged import Offsets

MOST_PLANES: Final = 100  # no tree of a treebank needs more than a few


class NaiveBrackets(ArcEncoding):
    """Two brackets for each arc, read with a stack for each plane and direction; those of plane 2, 3, … bear stars."""

    planes: int
    stacks: int = 2

    @abstractmethod
    def arc_planes(self, arcs: Arcs) -> Ints:
        """Return the plane of each arc, from 1."""

    @final
    def write_arcs(self, arcs: Arcs) -> list[Column]:
        """Write two brackets for each arc."""
        if self.stacks == 1:
            symbols, starts = bracket_labels(arcs, "all")
            return [number_labels(symbols & (INDEX - 1 - SUPER), starts, bracket_text)]
        symbols = np.empty(2 * len(arcs), dtype=np.int32)
        starts = np.empty(int(arcs.words.sum()) + 1, dtype=np.int32)
        tally = np.empty(4 * self.planes * (int(arcs.words.max(initial=0)) + 1), dtype=np.int32)
        count = kernel.write(
            view(arcs.left),
            view(arcs.right),
            view(arcs.rightward),
            view(self.arc_planes(arcs)),
            self.planes,
            view(arcs.offsets.array),
            view(arcs.words),
            view(symbols),
            view(starts),
            view(tally),
        )
        return [number_labels(symbols[:count], starts, bracket_text)]

    @final
    def read_arcs(self, columns: Sequence[Column], offsets: Offsets) -> SpelledArcs:
        """Match brackets, those of each plane and direction among themselves unless there is one stack."""
        if self.stacks == 1:
            return match_brackets(columns[0], offsets, self._super_symbols, keep_root=True)
        symbols, starts = spell(columns[0].names, self._symbols)
        numbers = columns[0].ids.astype(np.int32)
        most = int(np.diff(starts)[numbers].sum())
        heads, dependents = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
        arc_offsets = np.empty(len(offsets) + 1, dtype=np.int32)
        faults = FaultBuffer(2 * most + len(numbers))
        kernel.read(
            view(numbers),
            view(offsets.array),
            view(symbols),
            view(starts),
            self.planes,
            view(heads),
            view(dependents),
            view(arc_offsets),
            *faults.views(),
            *(view(np.empty(size, dtype=np.int32)) for size in (2 * self.planes, most, most)),
        )
        return SpelledArcs(heads, dependents, arc_offsets, faults)

    @final
    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if the text is no row of plain brackets of these planes."""
        self._symbols(text)

    @final
    def _symbols(self, text: str) -> list[int]:
        symbols = bracket_symbols(self.spec, text)
        for symbol in symbols:
            if symbol & SUPER or symbol // INDEX >= self.planes:
                raise LabelError(self.spec, text, rf"brackets < > \ / with at most {self.planes - 1} * and no ^")
        return symbols

    def _super_symbols(self, text: str) -> list[int]:
        return [symbol | SUPER for symbol in self._symbols(text)]


@final
class Brackets(NaiveBrackets, ArcTrees):
    """The bracketing of the cover `all`: every arc has a bracket at both ends.

    With one stack it reads projective trees. With two, one for each direction, as published, and in k planes, it
    reads trees in which no two arcs of one plane and direction cross.
    """

    name = "brackets"
    summary = "naive brackets: two for each arc; stacks=1 or 2, any number of planes"
    cites = "Strzyz, Vilares & Gómez-Rodríguez 2019, Viable Dependency Parsing; 2020, Bracketing Encodings for 2-Planar"
    policies = ("lift", "refuse", "published")

    def __init__(self, *, policy: str = "lift", stacks: int = 2, planes: int = 1) -> None:
        super().__init__(policy=policy)
        if stacks not in (1, 2):
            raise EncodingOptionError(f"stacks must be 1 or 2, found {stacks}")
        if not 1 <= planes <= MOST_PLANES or (stacks == 1 and planes != 1):
            raise EncodingOptionError(f"planes must be 1 to {MOST_PLANES}, and 1 with a single stack, found {planes}")
        if stacks == 1 and policy == "published":
            raise EncodingOptionError(
                "the published policy of brackets is that of two stacks; stacks=1 has: lift, refuse"
            )
        self.stacks = stacks
        self.naive_brackets = stacks == 1
        self.planes = planes

    def options(self) -> dict[str, str | int]:
        """Return the options that differ from their defaults."""
        given = super().options()
        return (
            given | ({"stacks": 1} if self.stacks == 1 else {}) | ({"planes": self.planes} if self.planes > 1 else {})
        )

    def covered(self, trees: Trees) -> Bools:
        """Return which trees the stacks can read."""
        if self.stacks == 1:
            return projective(trees)
        return stackable(trees, self._planes(trees), self.planes)

    def arc_planes(self, arcs: Arcs) -> Ints:
        """Return planes in which no two arcs cross."""
        return self._planes(Trees.known(arcs.heads, arcs.offsets))

    def brackets(self, labels: Sequence[str]) -> tuple[str, ...] | None:
        """Labels are brackets, of one stack or of several."""
        return tuple(labels) if self.stacks == 1 else None

    def _planes(self, trees: Trees) -> Ints:
        return planes(trees) if self.planes > 1 else np.ones(len(trees.heads), dtype=np.int32)


@final
class PlanarGraphs(NaiveBrackets, GraphEncoding):
    """Naive brackets of graphs, in relaxed planes.

    An arc goes into the first plane in which it crosses no arc of its own direction; one that finds no such plane does
    not fit.
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
        """Return the options that differ from their defaults."""
        return super().options() | ({} if self.planes == 2 else {"planes": self.planes})

    def fitting(self, arcs: Arcs) -> Bools:
        """Return which arcs lie in one of the planes."""
        return np.asarray(arc_planes(arcs) <= self.planes)

    def arc_planes(self, arcs: Arcs) -> Ints:
        """Return planes in which no two arcs of one direction cross."""
        return arc_planes(arcs)

    @property
    def start(self) -> tuple[int, ...]:
        """The state of an empty stack for each plane and direction."""
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
