"""The transitions of a parser, cut after each read, as labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from ropewalk.core.trees import Trees, projective, scratch
from ropewalk.encodings.arc_encodings import SpelledArcs
from ropewalk.encodings.base import Encoding
from ropewalk.encodings.bracket_text import number_labels, spell
from ropewalk.encodings.labels import FaultBuffer, Faults, Labels
from ropewalk.errors import LabelError
from ropewalk.kernels import transitions as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import (
    ARC_EAGER,
    ARC_HYBRID,
    ARC_STANDARD,
    LEFT_ARC,
    NO_ARC,
    REDUCE,
    RIGHT_ARC,
    SHIFT,
    TIMES,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.core.columns import Column

LETTERS = {SHIFT: "S", LEFT_ARC: "L", RIGHT_ARC: "R", REDUCE: "D", NO_ARC: "N"}
ACTIONS = {letter: action for action, letter in LETTERS.items()}
TRANSITION = re.compile(r"([SLRDN])([1-9][0-9]{0,6})?")
CITES = "Gómez-Rodríguez, Strzyz & Vilares 2020, A Unifying Theory of Transition-based and Sequence Labeling Parsing"


def transition_text(symbols: Sequence[int]) -> str:
    """Write transitions as letters, each followed by how often it is repeated if more than once."""
    return "".join(LETTERS[s % TIMES] + (str(s // TIMES) if s // TIMES > 1 else "") for s in symbols)


class _Transitions(Encoding):
    """What all four systems share: labels of letters with exactly one reading transition, or one and more after it."""

    letters: ClassVar[str]
    reads: ClassVar[str]

    @final
    def symbols(self, text: str) -> list[int]:
        """Read transitions from text, or raise a `LabelError`."""
        found = TRANSITION.findall(text)
        readings = sum(letter in self.reads and not (times and int(times) > 1) for letter, times in found)
        if (
            "".join(letter + times for letter, times in found) != text
            or readings != 1
            or any(letter not in self.letters or (letter in self.reads and times) for letter, times in found)
        ):
            raise LabelError(
                self.spec,
                text,
                f"letters of {self.letters} with counts, one of them a reading one ({self.reads})",
            )
        return [ACTIONS[letter] + TIMES * int(times or 1) for letter, times in found]

    @final
    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if the text is no row of transitions."""
        self.symbols(text)


class _Stack(_Transitions):
    """The systems that move words over one stack and cover projective trees."""

    system: ClassVar[int]
    cites = CITES

    @final
    def covered(self, trees: Trees) -> Bools:
        """Return which trees are projective."""
        return projective(trees)

    @final
    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Write the transitions that build each tree."""
        heads, offsets = trees.heads, trees.offsets
        symbols = np.empty(2 * len(heads), dtype=np.int32)
        starts = np.empty(len(heads) + 1, dtype=np.int32)
        count = kernel.write(
            self.system,
            view(heads),
            view(trees.offsets.array),
            view(symbols),
            view(starts),
            *(view(scratch(offsets)) for _ in range(4)),
        )
        return [number_labels(symbols[:count], starts, transition_text)]

    @final
    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Carry out the transitions."""
        symbols, starts = spell(labels.columns[0].names, self.symbols)
        ids = labels.columns[0].ids.astype(np.int32)
        heads = np.empty(len(ids), dtype=np.int32)
        faults = FaultBuffer(int(np.diff(starts)[ids].sum()))
        kernel.read(
            self.system,
            view(ids),
            view(labels.offsets.array),
            view(symbols),
            view(starts),
            view(heads),
            *faults.views(),
            view(scratch(labels.offsets)),
        )
        return heads, faults.faults(labels.offsets)


@final
class ArcStandard(_Stack):
    """Shift, left-arc and right-arc between the two topmost words of the stack."""

    name = "arc-standard"
    summary = "arc-standard transitions: projective trees"
    system = ARC_STANDARD
    letters = "SLR"
    reads = "S"


@final
class ArcEager(_Stack):
    """Shift and right-arc, which both read, left-arc and reduce."""

    name = "arc-eager"
    summary = "arc-eager transitions: projective trees"
    system = ARC_EAGER
    letters = "SLRD"
    reads = "SR"


@final
class ArcHybrid(_Stack):
    """Shift, left-arc as in arc-eager, right-arc as in arc-standard."""

    name = "arc-hybrid"
    summary = "arc-hybrid transitions: projective trees"
    system = ARC_HYBRID
    letters = "SLR"
    reads = "S"


@final
class Covington(_Transitions):
    """Every earlier word is looked at from right to left: left-arc, right-arc or none, and then shift."""

    name = "covington"
    summary = "Covington's transitions: every tree"
    cites = CITES
    letters = "SLRN"
    reads = "S"

    def covered(self, trees: Trees) -> Bools:
        """Every tree is covered."""
        return np.ones(len(trees), dtype=np.bool_)

    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Write the transitions that build each tree."""
        heads, offsets = trees.heads, trees.offsets
        symbols = np.empty(3 * len(heads), dtype=np.int32)
        starts = np.empty(len(heads) + 1, dtype=np.int32)
        count = kernel.write_covington(
            view(heads),
            view(trees.offsets.array),
            view(symbols),
            view(starts),
            view(scratch(offsets)),
            view(scratch(offsets)),
        )
        return [number_labels(symbols[:count], starts, transition_text)]

    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Carry out the transitions, then take the arcs that make a tree."""
        symbols, starts = spell(labels.columns[0].names, self.symbols)
        ids = labels.columns[0].ids.astype(np.int32)
        arcs = np.concatenate([[0], np.cumsum(symbols // TIMES * (symbols % TIMES != NO_ARC), dtype=np.int64)])
        per_label = arcs[starts[1:]] - arcs[starts[:-1]]
        most = int(np.minimum(per_label[ids], labels.offsets.positions()).sum())  # no word has more to its left
        heads, dependents = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
        arc_offsets = np.empty(len(labels.offsets) + 1, dtype=np.int32)
        faults = FaultBuffer(2 * most + 2 * len(ids))
        kernel.read_covington(
            view(ids),
            view(labels.offsets.array),
            view(symbols),
            view(starts),
            view(heads),
            view(dependents),
            view(arc_offsets),
            *faults.views(),
        )
        return SpelledArcs(heads, dependents, arc_offsets, faults).settle(labels.offsets)
