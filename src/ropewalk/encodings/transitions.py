"""Encodings of trees as transitions: a label has the transitions of a parser around the reading of one word."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from ropewalk.core.trees import Trees, projective
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
from ropewalk.kernels.values import SymbolBuffer, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.core.columns import Column

LETTERS = {SHIFT: "S", LEFT_ARC: "L", RIGHT_ARC: "R", REDUCE: "D", NO_ARC: "N"}
ACTIONS = {letter: action for action, letter in LETTERS.items()}
TRANSITION = re.compile(r"([SLRDN])([1-9][0-9]{0,6})?")
CITES = "Gómez-Rodríguez, Strzyz & Vilares 2020, A Unifying Theory of Transition-based and Sequence Labeling Parsing"


def transition_text(symbols: Sequence[int]) -> str:
    """Return transitions as a label such as `L2S`: letters, each followed by its number of repetitions if above 1."""
    return "".join(LETTERS[s % TIMES] + (str(s // TIMES) if s // TIMES > 1 else "") for s in symbols)


class _Transitions(Encoding):
    """Base class of the four transition systems: labels are rows of letters, one letter for a transition.

    `letters` are those of the system. Exactly one letter of a label is in `reads`: that transition reads a word.
    """

    letters: ClassVar[str]
    reads: ClassVar[str]

    @final
    def symbols(self, text: str) -> list[int]:
        """Return the codes of the transitions in the label `text`; raise a `LabelError` if it is no label."""
        parts = TRANSITION.findall(text)
        readings = sum(letter in self.reads and not (times and int(times) > 1) for letter, times in parts)
        if (
            "".join(letter + times for letter, times in parts) != text
            or readings != 1
            or any(letter not in self.letters or (letter in self.reads and times) for letter, times in parts)
        ):
            raise LabelError(
                self.spec,
                text,
                f"letters of {self.letters} with counts, one of them a reading one ({self.reads})",
            )
        return [ACTIONS[letter] + TIMES * int(times or 1) for letter, times in parts]

    @final
    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` unless `text` consists of transitions, exactly one of which reads a word."""
        self.symbols(text)


def _labels(write: Callable[..., int], trees: Trees, most: int) -> list[Column]:
    """Return one column of labels, as the kernel `write` writes them with at most `most` symbols per word."""
    symbols = np.empty(most * len(trees.heads), dtype=np.int32)
    starts = np.empty(len(trees.heads) + 1, dtype=np.int32)
    written = SymbolBuffer(view(symbols), view(starts))
    count = write(view(trees.heads), view(trees.offsets.array), written, Workspace(trees.offsets.longest + 1))
    return [number_labels(symbols[:count], starts, transition_text)]


class _Stack(_Transitions):
    """Base class of the transition systems with one stack, which cover projective trees."""

    system: ClassVar[int]
    cites = CITES

    @final
    def covered(self, trees: Trees) -> Bools:
        """Return for each tree whether it is projective."""
        return projective(trees)

    @final
    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Return one column of labels: the transitions that build each tree."""
        return _labels(partial(kernel.write, self.system), trees, 2)

    @final
    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Execute the transitions; return the heads that they make, -1 if missing, and faults."""
        spelling, most = spell(labels.columns[0], labels.offsets, self.symbols)
        heads = np.empty(labels.offsets.total, dtype=np.int32)
        faults = FaultBuffer(most)
        kernel.read(self.system, spelling, view(heads), faults.buffers, Workspace(labels.offsets.longest + 1))
        return heads, faults.faults(labels.offsets)


@final
class ArcStandard(_Stack):
    """The arc-standard system: shift, and left-arc and right-arc between the two topmost words of the stack."""

    name = "arc-standard"
    summary = "arc-standard transitions: projective trees"
    system = ARC_STANDARD
    letters = "SLR"
    reads = "S"


@final
class ArcEager(_Stack):
    """The arc-eager system: shift, left-arc, right-arc and reduce; both shift and right-arc read a word."""

    name = "arc-eager"
    summary = "arc-eager transitions: projective trees"
    system = ARC_EAGER
    letters = "SLRD"
    reads = "SR"


@final
class ArcHybrid(_Stack):
    """The arc-hybrid system: shift, left-arc as in arc-eager, and right-arc as in arc-standard."""

    name = "arc-hybrid"
    summary = "arc-hybrid transitions: projective trees"
    system = ARC_HYBRID
    letters = "SLR"
    reads = "S"


@final
class Covington(_Transitions):
    """Covington's system: each word is compared with all earlier words, from right to left, before it is shifted.

    The transition for an earlier word is left-arc, right-arc or no arc.
    """

    name = "covington"
    summary = "Covington's transitions: every tree"
    cites = CITES
    letters = "SLRN"
    reads = "S"

    def covered(self, trees: Trees) -> Bools:
        """Return true for every tree: all are covered."""
        return np.ones(len(trees), dtype=np.bool_)

    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Return one column of labels: the transitions that build each tree."""
        return _labels(kernel.write_covington, trees, 3)

    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Execute the transitions; return heads, -1 if missing, and faults. Arcs that break the tree are left out."""
        column, offsets = labels.columns[0], labels.offsets
        symbols = {text: self.symbols(text) for text in column.names}
        spelling, _ = spell(column, offsets, symbols.__getitem__)
        arcs_of = [
            sum(symbol // TIMES for symbol in symbols[text] if symbol % TIMES != NO_ARC) for text in column.names
        ]
        per_label = np.array(arcs_of or [0], dtype=np.int64)
        most = int(np.minimum(per_label[column.ids], offsets.positions()).sum())  # at most one for each earlier node
        arcs = SpelledArcs.up_to(most, offsets)
        kernel.read_covington(spelling, arcs.buffers(), arcs.faults.buffers)
        return arcs.settle(offsets)
