"""Naive brackets: two for each arc, read with one stack, or with one for each plane and direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

import numpy as np

from ropewalk.core.arcs import Arcs
from ropewalk.core.trees import Trees, planes, projective, stackable
from ropewalk.encodings.base import Encoding, Ids, Labels, fault_room, settle
from ropewalk.encodings.indexed import bracket_labels, match_brackets
from ropewalk.encodings.text import bracket_symbols, bracket_text, number_labels, spell
from ropewalk.errors import EncodingOptionError, LabelError
from ropewalk.kernels import planar as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import INDEX, SUPER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.core.columns import Column
    from ropewalk.core.ragged import Offsets

MOST_PLANES: Final = 100  # no tree of a treebank needs more than a few


@final
class Brackets(Encoding):
    """The bracketing of the cover `all`: every arc has a bracket at both ends.

    With one stack it reads projective trees. With two, one for each direction, as published, and in k planes, it
    reads trees in which no two arcs of one plane and direction cross; brackets of plane 2, 3, … bear stars.
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
        """The options that differ from their defaults."""
        given = super().options()
        return (
            given | ({"stacks": 1} if self.stacks == 1 else {}) | ({"planes": self.planes} if self.planes > 1 else {})
        )

    def covered(self, trees: Trees) -> Bools:
        """Tell which trees the stacks can read."""
        if self.stacks == 1:
            return projective(trees)
        return stackable(trees, self._planes(trees), self.planes)

    def write(self, trees: Trees, upos: Column | None) -> list[tuple[Ids, tuple[str, ...]]]:
        """Write two brackets for each arc."""
        arcs = Arcs.of_trees(trees)
        if self.stacks == 1:
            return [self._single(arcs)]
        return [self._planar(arcs, self._planes(trees))]

    def read(self, labels: Labels) -> tuple[Ints, Ints, Ints]:
        """Match brackets, then take the arcs that make a tree."""
        heads, dependents, arc_offsets, faults = self._match(labels)
        return settle(heads, dependents, arc_offsets, labels.offsets, faults)

    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if the text is no row of plain brackets of these planes."""
        self._symbols(text)

    def brackets(self, labels: Sequence[str]) -> tuple[str, ...] | None:
        """Labels are brackets, of one stack or of several."""
        return tuple(labels) if self.stacks == 1 else None

    def _symbols(self, text: str) -> list[int]:
        symbols = bracket_symbols(self.spec, text)
        for symbol in symbols:
            if symbol & SUPER or symbol // INDEX >= self.planes:
                raise LabelError(self.spec, text, rf"brackets < > \ / with at most {self.planes - 1} * and no ^")
        return symbols

    def _planes(self, trees: Trees) -> Ints:
        return planes(trees) if self.planes > 1 else np.ones(len(trees.heads), dtype=np.int32)

    def _single(self, arcs: Arcs) -> tuple[Ids, tuple[str, ...]]:
        symbols, starts = bracket_labels(arcs, "all")
        return number_labels(symbols & (INDEX - 1 - SUPER), starts, bracket_text)

    def _planar(self, arcs: Arcs, levels: Ints) -> tuple[Ids, tuple[str, ...]]:
        symbols = np.empty(2 * len(arcs.left), dtype=np.int32)
        starts = np.empty(int(arcs.words.sum()) + 1, dtype=np.int32)
        tally = np.empty(4 * self.planes * (int(arcs.words.max(initial=0)) + 1), dtype=np.int32)
        count = kernel.write(
            view(arcs.left),
            view(arcs.right),
            view(arcs.rightward),
            view(levels),
            self.planes,
            view(arcs.offsets.array),
            view(arcs.words),
            view(symbols),
            view(starts),
            view(tally),
        )
        return number_labels(symbols[:count], starts, bracket_text)

    def _match(self, labels: Labels) -> tuple[Ints, Ints, Ints, tuple[Ints, Ints, Ints]]:
        symbols, starts = spell(labels.alphabets[0], self._symbols)
        if self.stacks == 1:
            return match_brackets(labels.ids[0], labels.offsets, symbols | SUPER, starts, keep_root=True)
        return match_planes(labels.ids[0], labels.offsets, symbols, starts, self.planes)


def match_planes(
    ids: Ids, offsets: Offsets, symbols: Ints, starts: Ints, count: int
) -> tuple[Ints, Ints, Ints, tuple[Ints, Ints, Ints]]:
    """Match the brackets of labels in so many planes, each with stacks of its own: arcs, their offsets, and faults."""
    numbers = ids.astype(np.int32)
    most = int(np.diff(starts)[numbers].sum())
    heads, dependents = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    arc_offsets = np.empty(len(offsets) + 1, dtype=np.int32)
    faults = fault_room(2 * most + len(numbers))
    kernel.read(
        view(numbers),
        view(offsets.array),
        view(symbols),
        view(starts),
        count,
        view(heads),
        view(dependents),
        view(arc_offsets),
        *(view(array) for array in faults),
        *(view(np.empty(size, dtype=np.int32)) for size in (2 * count, most, most)),
    )
    return heads, dependents, arc_offsets, faults
