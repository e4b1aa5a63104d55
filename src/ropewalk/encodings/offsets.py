"""Heads by their position: absolute, relative, or counted over words of one part of speech."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import ints
from ropewalk.core.trees import Trees, scratch
from ropewalk.encodings.base import Encoding, Ids, Labels, fault_room, settle
from ropewalk.errors import EncodingError, LabelError, MismatchError
from ropewalk.kernels import tagged as kernel
from ropewalk.kernels import view

if TYPE_CHECKING:
    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.core.columns import Column
    from ropewalk.core.ragged import Offsets

ABSOLUTE = re.compile(r"0|[1-9][0-9]{0,8}")
STEP = re.compile(r"[+-][1-9][0-9]{0,8}")
ROOT = "ROOT"


def _everything(trees: Trees) -> Bools:
    return np.ones(len(trees), dtype=np.bool_)


def _number(values: npt.NDArray[Any], form: str) -> tuple[Ids, tuple[str, ...]]:
    if not len(values):
        return np.zeros(0, dtype=np.int32), ()
    low = int(values.min())
    present = np.flatnonzero(np.bincount(values - low))
    table = np.zeros(int(present[-1]) + 1, dtype=np.int32)
    table[present] = np.arange(len(present))
    return table[values - low], tuple(format(value + low, form) for value in present.tolist())


def _values(encoding: Encoding, labels: Labels) -> Ints:
    """Read the numbers that the labels of the first column are."""
    for text in labels.alphabets[0]:
        encoding.check_label(text)
    return np.array([int(text) for text in labels.alphabets[0]] or [0], dtype=np.int32)


def _settled(heads: Ints, words: Offsets) -> tuple[Ints, Ints, Ints]:
    return settle(heads, words.positions(), words.array, words, fault_room(2 * len(heads)))


@final
class Absolute(Encoding):
    """The number of the head: 0 for the root."""

    name = "absolute"
    summary = "the number of the head: every tree"
    cites = "Strzyz, Vilares & Gómez-Rodríguez 2019, Viable Dependency Parsing as Sequence Labeling"

    def covered(self, trees: Trees) -> Bools:
        """Every tree is covered."""
        return _everything(trees)

    def write(self, trees: Trees, upos: Column | None) -> list[tuple[Ids, tuple[str, ...]]]:
        """Write heads as they are."""
        return [_number(trees.heads, "d")]

    def read(self, labels: Labels) -> tuple[Ints, Ints, Ints]:
        """Read heads; those outside the sentence, or on a cycle, are missing."""
        values = _values(self, labels)
        return _settled(values[labels.ids[0]], labels.offsets)

    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if the text is no head."""
        if not ABSOLUTE.fullmatch(text):
            raise LabelError(self.spec, text, "a head: 0, 1, 2, …")


@final
class Relative(Encoding):
    """The distance to the head, negative to the left; 0 for the root."""

    name = "relative"
    summary = "the distance to the head: every tree"
    cites = "Strzyz, Vilares & Gómez-Rodríguez 2019, Viable Dependency Parsing as Sequence Labeling"

    def covered(self, trees: Trees) -> Bools:
        """Every tree is covered."""
        return _everything(trees)

    def write(self, trees: Trees, upos: Column | None) -> list[tuple[Ids, tuple[str, ...]]]:
        """Write distances."""
        steps = np.where(trees.heads == 0, 0, trees.heads - trees.offsets.positions())
        ids, names = _number(steps, "+d")
        return [(ids, tuple("0" if name == "+0" else name for name in names))]

    def read(self, labels: Labels) -> tuple[Ints, Ints, Ints]:
        """Read heads; those outside the sentence, or on a cycle, are missing."""
        values = _values(self, labels)
        steps = values[labels.ids[0]]
        places = labels.offsets.positions() + steps
        # node 0 has a label of its own, so a step onto it leads out of the sentence
        return _settled(np.where(steps == 0, 0, np.where(places == 0, -1, places)).astype(np.int32), labels.offsets)

    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if the text is no distance."""
        if text != "0" and not STEP.fullmatch(text):
            raise LabelError(self.spec, text, "a distance: -1, +1, -2, …, or 0 for the root")


@final
class PosOffset(Encoding):
    """The head as the k-th word with part of speech P to the left (-k) or right (+k); the root is -1 ROOT."""

    name = "pos-offset"
    summary = "the head as the k-th word with a part of speech: every tree"
    cites = "Strzyz, Vilares & Gómez-Rodríguez 2019, Viable Dependency Parsing as Sequence Labeling"
    columns = ("offset", "tag")
    needs_upos = True

    def covered(self, trees: Trees) -> Bools:
        """Every tree is covered."""
        return _everything(trees)

    def write(self, trees: Trees, upos: Column | None) -> list[tuple[Ids, tuple[str, ...]]]:
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
        return [_number(steps, "+d"), (tags.astype(np.int32), (*upos.names, ROOT))]

    def read(self, labels: Labels) -> tuple[Ints, Ints, Ints]:
        """Read heads; those outside the sentence, or on a cycle, are missing."""
        if labels.upos is None or len(labels.ids) != 2:
            raise EncodingError(f"{self.name} needs parts of speech, and two columns of labels")
        known = {name: place for place, name in enumerate(labels.upos.names)} | {ROOT: len(labels.upos.names)}
        wanted = np.array([known.get(text, -1) for text in labels.alphabets[1]] or [0], dtype=np.int32)
        steps = _values(self, labels)
        words = len(labels.upos.ids)
        heads, dependents = np.empty(words, dtype=np.int32), np.empty(words, dtype=np.int32)
        many = len(labels.upos.names)
        kernel.read(
            view(steps[labels.ids[0]]),
            view(wanted[labels.ids[1]]),
            view(labels.offsets.array),
            view(ints(labels.upos.ids, "tags")),
            many,
            view(heads),
            view(dependents),
            view(np.empty(many + 1, dtype=np.int32)),
            view(scratch(labels.offsets)),
            view(np.empty(many, dtype=np.int32)),
        )
        return settle(heads, dependents, labels.offsets.array, labels.offsets, fault_room(2 * words))

    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if the text is no count of words, or no tag."""
        if column == 0 and not STEP.fullmatch(text):
            raise LabelError(self.spec, text, "a count of words: -1, +1, -2, …")
        if column == 1 and not text:
            raise LabelError(self.spec, text, f"a part of speech or {ROOT}")
