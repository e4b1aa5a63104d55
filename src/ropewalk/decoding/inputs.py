"""What both the search for the best tree and the sums over trees begin with."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import as_array, floats, real_numbers
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets, starts_of
from ropewalk.encodings import BracketStacks, Encoding, Labels, Machine, names_where
from ropewalk.errors import MismatchError, OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.decoding.paths import ArcScores, Floats

DEPTH = 6  # brackets open at once, node 0's among them; `bench/decoding.py` prints what a treebank needs
DEEPEST = 14  # beyond this depth an automaton grows too large
LARGEST = 1e300  # scores are taken as no larger, so that their sums stay finite
LARGEST_ARC = np.float32(1e30)  # scores of arcs are taken as no larger, so that their differences stay finite
FLOOR = -40.0  # being the root, or not, never becomes impossible

LabelIds = npt.NDArray[np.int32]
Logs = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class _Question:
    """Whose machine is wanted: encodings of one class and one text are the same."""

    kind: type[Encoding]
    spec: str
    labels: tuple[str, ...]
    encoding: Encoding = field(compare=False)


@lru_cache(maxsize=32)
def _machine(question: _Question) -> Machine | None:
    for label in question.labels:
        question.encoding.check_label(label)
    return question.encoding.machine(question.labels)


def machine_of(encoding: Encoding, labels: Sequence[str]) -> Machine | None:
    """Take the machine of an encoding over the given labels, or None if it has none.

    Raises a `LabelError` for what is no label of the encoding.
    """
    return _machine(_question(encoding, labels))


def _question(encoding: Encoding, labels: Sequence[str]) -> _Question:
    return _Question(type(encoding), encoding.spec, tuple(labels), encoding)


@lru_cache(maxsize=32)
def _stacks(question: _Question) -> BracketStacks | None:
    return question.encoding.bracket_stacks(question.labels)


def stacks_of(encoding: Encoding, labels: Sequence[str]) -> BracketStacks | None:
    """Take the brackets on stacks that labels of an encoding without a machine stand for, or None if it has none."""
    machine = machine_of(encoding, labels)
    return None if machine is not None else _stacks(_question(encoding, labels))


def exact_encodings() -> tuple[str, ...]:
    """Name the encodings whose trees have probabilities."""
    return names_where(lambda encoding: _own_machine(encoding) is not None)


def arc_encodings() -> tuple[str, ...]:
    """Name the encodings whose arcs have probabilities."""
    return names_where(_marks_arcs)


def joint_encodings() -> tuple[str, ...]:
    """Name the encodings that can be decoded together with arc scores."""
    return names_where(
        lambda encoding: _marks_arcs(encoding) or encoding.bracket_stacks(encoding.alphabet or ()) is not None
    )


def _own_machine(encoding: Encoding) -> Machine | None:
    return encoding.machine(encoding.alphabet or ())


def _marks_arcs(encoding: Encoding) -> bool:
    machine = _own_machine(encoding)
    return machine is not None and machine.marks_arcs


def demand_depth(depth: int) -> None:
    """Refuse a depth that no automaton has."""
    if not 1 <= depth <= DEEPEST:
        raise OptionError(f"the depth is {depth}; expected 1 to {DEEPEST}: it grows by itself for trees that need more")


def checked(scores: npt.ArrayLike, labels: int, words: int) -> Floats:
    """Take scores as they are needed, or say what is wrong with them."""
    array = floats(scores, "scores")
    if array.shape != (words, labels):
        raise MismatchError(f"scores of shape {array.shape}; expected {words} words by {labels} labels")
    if words and not labels:
        raise MismatchError(f"{words} words but no labels to choose from; give the alphabet of the encoding")
    _demand_numbers("scores", array)
    huge = np.isfinite(array) & (np.abs(array) > LARGEST)
    return np.where(huge, np.copysign(LARGEST, array), array) if huge.any() else array


def _demand_numbers(what: str, array: Floats) -> None:
    wrong = np.isnan(array) | (array == np.inf)
    if wrong.any():
        word = int(np.flatnonzero(wrong.reshape(len(array), -1).any(axis=1))[0])
        raise MismatchError(
            f"word {word + 1} of all: {what} must be numbers or -inf, found nan or +inf; look at what the model put out"
        )


def root_ties(machine: Machine | BracketStacks, root: Logs | None, words: int) -> Floats:
    """Make of each word's log-probability of being the root what it gains by not being it, and by being it.

    There are none without such probabilities, and none for a machine whose labels do not say which word is the root.
    """
    if root is None or (isinstance(machine, Machine) and not machine.marks_root):
        return np.zeros((words, 2))
    logs = floats(root, "root log-probabilities")
    if logs.shape != (words,):
        raise MismatchError(f"root log-probabilities of shape {logs.shape}; expected one for each of {words} words")
    _demand_numbers("root log-probabilities", logs)
    log_root = np.clip(logs, FLOOR, -1e-18)
    with np.errstate(divide="ignore"):
        other = np.log(-np.expm1(log_root))
    return np.ascontiguousarray(np.stack([np.maximum(other, FLOOR), log_root], axis=1))


def spelled_heads(
    encoding: Encoding,
    ids: Sequence[LabelIds],
    offsets: Ints,
    alphabets: Sequence[Sequence[str]],
    upos: Column | None = None,
) -> Ints:
    """Read the heads that label numbers spell."""
    columns = tuple(Column(column, tuple(names)).narrow() for column, names in zip(ids, alphabets, strict=True))
    none = Column.constant("_", int(offsets[-1]))
    return encoding.decode(Labels(encoding.spec, Offsets(offsets), columns, none, upos)).heads


def words_of(offsets: Ints, chosen: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], Ints]:
    """Give the places of the words of some sentences, and their offsets among themselves."""
    lengths = (offsets[1:] - offsets[:-1])[chosen]
    inner = starts_of(lengths).astype(np.int32)
    return (offsets[chosen] - inner[:-1]).repeat(lengths) + np.arange(inner[-1]), inner


def checked_arcs(arcs: npt.NDArray[Any] | None, offsets: Ints) -> ArcScores:
    """Take arc scores as they are needed: sentence after sentence and word after word, one for each head from 0 on."""
    size = int(arc_starts(offsets)[-1])
    found = None if arcs is None else as_array(arcs, "arc scores").shape
    if arcs is None or found != (size,):
        raise MismatchError(
            f"arc scores are needed, {size} for these sentences: for every word one for each head, in one row; "
            f"found {'none' if found is None else f'an array of shape {found}'}"
        )
    with np.errstate(over="ignore"):  # what is too large for 32 bits becomes infinite, and is refused
        arcs = np.ascontiguousarray(real_numbers(arcs, "arc scores"), dtype=np.float32)
    low, high = float(arcs.min(initial=0.0)), float(arcs.max(initial=0.0))
    if not (isfinite(low) and isfinite(high)):
        raise MismatchError("an arc's score is not finite; expected numbers, a very low one where there is no arc")
    return np.clip(arcs, -LARGEST_ARC, LARGEST_ARC) if max(-low, high) > LARGEST_ARC else arcs


def arc_starts(offsets: Ints) -> npt.NDArray[np.int64]:
    """Say where the scores of each sentence's arcs begin, if those of all lie in one row, and where the last end."""
    lengths = (offsets[1:] - offsets[:-1]).astype(np.int64)
    return starts_of(lengths * (lengths + 1))


def arc_widths(offsets: Ints) -> npt.NDArray[np.int64]:
    """Count the heads that each word may have, node 0 and itself among them: as many as its arcs have scores."""
    lengths = (offsets[1:] - offsets[:-1]).astype(np.int64)
    return (lengths + 1).repeat(lengths)


def arc_rows(offsets: Ints) -> npt.NDArray[np.int64]:
    """Say where the scores of each word's arcs begin, if those of all words lie in one row."""
    widths = arc_widths(offsets)
    return widths.cumsum() - widths
