"""Naive brackets: two for each arc, matched with one stack, or with one stack for each plane and direction."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Final, final

import numpy as np

from ropewalk.core.graphs import arc_planes
from ropewalk.core.trees import Trees, planes, projective, stackable
from ropewalk.encodings.arc_encodings import ArcEncoding, ArcTrees, SpelledArcs
from ropewalk.encodings.bracket_text import bracket_symbols, bracket_text, number_labels, spell
from ropewalk.encodings.graphs import PlanarGraphEncoding
from ropewalk.encodings.optimal import bracket_labels, match_brackets
from ropewalk.errors import EncodingOptionError, LabelError
from ropewalk.kernels import brackets as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import CLOSING, INDEX, RIGHTWARD, SUPER
from ropewalk.kernels.values import SymbolBuffer

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from ropewalk.core.arcs import Arcs
    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.core.columns import Column
    from ropewalk.core.ragged import Offsets

MOST_PLANES: Final = 100  # no tree of a treebank needs more than a few


class NaiveBrackets(ArcEncoding):
    """Base class: two brackets for each arc, matched with a stack for each plane and direction, or with one stack.

    A bracket in plane k is followed by k - 1 stars.
    """

    planes: int
    stacks: int = 2

    @abstractmethod
    def arc_planes(self, arcs: Arcs) -> Ints:
        """Return the plane of each arc, from 1."""

    @final
    def write_arcs(self, arcs: Arcs) -> list[Column]:
        """Return one column of labels, with a bracket at both ends of each arc."""
        if self.stacks == 1:
            symbols, starts = bracket_labels(arcs, "all")
            return [number_labels(symbols & (INDEX - 1 - SUPER), starts, bracket_text)]
        symbols = np.empty(2 * len(arcs), dtype=np.int32)
        starts = np.empty(int(arcs.words.sum()) + 1, dtype=np.int32)
        workspace = kernel.PlaneStacks(int(arcs.words.max(initial=0)) + 1, self.planes, 0)
        levels, written = view(self.arc_planes(arcs)), SymbolBuffer(view(symbols), view(starts))
        count = kernel.write(arcs.buffers(), levels, self.planes, written, workspace)
        return [number_labels(symbols[:count], starts, bracket_text)]

    @final
    def read_arcs(self, columns: Sequence[Column], offsets: Offsets) -> SpelledArcs:
        """Return the arcs of matching brackets.

        Only brackets of the same plane and direction match, unless there is a single stack.
        """
        if self.stacks == 1:
            return match_brackets(columns[0], offsets, self._super_symbols, keep_root=True)
        spelling, most = spell(columns[0], offsets, self._symbols)
        arcs = SpelledArcs.up_to(most, offsets)
        workspace = kernel.PlaneStacks(0, self.planes, most)
        kernel.read(spelling, self.planes, arcs.buffers(), arcs.faults.buffers, workspace)
        return arcs

    @final
    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` unless `text` consists of brackets without `^` in planes up to `planes`."""
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
    """Trees with naive brackets, the bracketing of the rope cover `all`: every arc has a bracket at both ends.

    With `stacks=1` it covers projective trees. With `stacks=2`, as published, each plane has a stack for each
    direction. It then covers trees in which no two arcs of one plane and direction cross.
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
        """Return the options whose values differ from their defaults, by name."""
        options = super().options()
        return (
            options | ({"stacks": 1} if self.stacks == 1 else {}) | ({"planes": self.planes} if self.planes > 1 else {})
        )

    def covered(self, trees: Trees) -> Bools:
        """Return for each tree whether matching its brackets on the stacks restores it."""
        if self.stacks == 1:
            return projective(trees)
        return stackable(trees, self._planes(trees), self.planes)

    def arc_planes(self, arcs: Arcs) -> Ints:
        """Return the plane of each arc, from 1; no two arcs of a plane cross. It is always 1 if `planes` is 1."""
        return self._planes(Trees.known(arcs.heads, arcs.offsets))

    def brackets(self, labels: Sequence[str]) -> tuple[str, ...] | None:
        """Return the labels themselves if there is one stack, else None."""
        return tuple(labels) if self.stacks == 1 else None

    def _planes(self, trees: Trees) -> Ints:
        return planes(trees) if self.planes > 1 else np.ones(len(trees.heads), dtype=np.int32)


@final
class PlanarGraphs(NaiveBrackets, PlanarGraphEncoding):
    """Graphs with naive brackets in relaxed planes, in which arcs of different directions may cross.

    An arc is in the first plane where it crosses no arc of its own direction. An arc without such a plane among the
    first `planes` cannot be written.
    """

    name = "brackets"
    summary = "naive brackets in planes in which no two arcs of one direction cross"
    cites = "Ezquerro, Vilares & Gómez-Rodríguez 2024, Dependency Graph Parsing as Sequence Labeling"

    default_planes = 2
    most_planes = MOST_PLANES

    def __init__(self, *, policy: str = "drop", planes: int = default_planes) -> None:
        super().__init__(policy=policy, planes=planes)

    def fitting(self, arcs: Arcs) -> Bools:
        """Return for each arc whether its plane is among the first `planes`."""
        return np.asarray(arc_planes(arcs) <= self.planes)

    def arc_planes(self, arcs: Arcs) -> Ints:
        """Return the plane of each arc, from 1; no two arcs of one plane and direction cross."""
        return arc_planes(arcs)

    @property
    def start(self) -> tuple[int, ...]:
        """The state before the first word: the depth of the stack of each plane and direction, all 0."""
        return (0,) * (2 * self.planes)

    def advance(self, state: Hashable, text: str) -> tuple[int, ...] | None:
        """Return the depths of the stacks after the label `text`, or None if a bracket closes on an empty stack.

        A closing bracket of an arc to the right may do so: it matches the root, which has no bracket of its own.
        """
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
