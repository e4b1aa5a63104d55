"""The input of decoding as a value, its result, and the base class of decoders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from ropewalk import decoding
from ropewalk.core.arrays import as_array, checked_offsets, floats, real_numbers
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets, starts_of
from ropewalk.core.repair import POLICIES
from ropewalk.decoding.paths import words_of
from ropewalk.encodings import BracketStacks, Encoding, Labels, Machine, names_where
from ropewalk.errors import MismatchError, OptionError, UnknownNameError, demand_known

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.decoding.paths import ArcScores, Floats

    # the probability of the best relation of each arc, by words counted from 0 over all, and heads
    Relations = Callable[[npt.NDArray[np.int64], Ints], npt.NDArray[np.floating]]

DEPTH = 6  # brackets open at once, node 0's included; `bench/decoding.py` prints the depths that a treebank needs
DEEPEST = 14  # beyond this depth an automaton grows too large
LARGEST = 1e300  # larger scores are clipped, so that their sums stay finite
LARGEST_ARC = np.float32(1e30)  # larger scores of arcs are clipped, so that their differences stay finite
LOWEST_ROOT_SCORE = -40.0  # no word ever becomes impossible as the root, or as no root

Number = TypeVar("Number", np.float32, np.float64)
LabelIds = npt.NDArray[np.int32]
Logs = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True, eq=False)
class LabelTables:
    """The label scores of an encoding: for each of its label columns an alphabet and a score table [words, labels].

    `root` is each word's log-probability of having the relation `root`. `upos` holds the part of speech of each word,
    for encodings that need it.
    """

    encoding: Encoding
    alphabets: Sequence[Sequence[str]]
    tables: Sequence[npt.ArrayLike]
    root: Logs | None = None
    upos: Column | None = None

    def checked(self, words: int) -> tuple[Floats, ...]:
        """Return the score tables as arrays of shape [`words`, labels of the alphabet].

        Raise a `MismatchError` if a shape differs, or if a label column lacks its table or its alphabet.
        """
        if not len(self.tables) == len(self.alphabets) == len(self.encoding.columns):
            raise MismatchError(
                f"{len(self.tables)} score tables and {len(self.alphabets)} alphabets; "
                f"{self.encoding.spec} has {len(self.encoding.columns)} label columns, each needs both"
            )
        return tuple(
            checked(table, len(names), words) for table, names in zip(self.tables, self.alphabets, strict=True)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The input of decoding: scores of labels, of arcs, or of both, for many sentences.

    The scores are checked when a `Problem` is created. `arcs` is a flat array of the log-probabilities of heads. It is
    ordered by sentence, then by word, then by head, from head 0 to the last word of the sentence. `relations` is a
    function that returns the probability of the best relation of each arc. `tables` holds the checked score tables of
    `labels`.
    """

    offsets: Ints
    labels: LabelTables | None = None
    arcs: ArcScores | None = None
    relations: Relations | None = None
    tables: tuple[Floats, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", checked_offsets(self.offsets))
        if self.labels is not None:
            object.__setattr__(self, "tables", self.labels.checked(int(self.offsets[-1])))
        if self.arcs is not None or self.labels is None:
            object.__setattr__(self, "arcs", checked_arcs(self.arcs, self.offsets))

    def part(self, sentences: npt.NDArray[np.intp]) -> Problem:
        """Return the problem of the chosen `sentences` alone, without `relations`.

        The whole problem must have labels and arcs.
        """
        labels, arcs, starts = self.labels, self.arcs, arc_starts(self.offsets)
        assert labels is not None  # noqa: S101 - as the docstring demands
        assert arcs is not None  # noqa: S101 - likewise
        words, inner = words_of(self.offsets, sentences)
        own = replace(
            labels,
            tables=tuple(table[words] for table in self.tables),
            root=None if labels.root is None else np.asarray(labels.root)[words],
            upos=None,
        )
        return Problem(inner, own, np.concatenate([arcs[starts[s] : starts[s + 1]] for s in sentences.tolist()]))


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """The result of decoding many sentences: label indices for each label column, and heads. Each tree has one root.

    `scores` holds for each sentence the sum of its label and root scores. The decoder `joint` adds each arc's score
    minus the best arc score of the same word.

    `exact` is true where no well-formed label sequence within the depth used has a higher score. The depth used is that
    of the decoder, or the first larger one with a sequence of finite score.

    `found` is false where no well-formed sequence of finite score was found. Then each word gets its best label, the
    tree is repaired, and the score is the sum of the label scores alone.

    With the decoder `mbr`, `marginals` holds the marginal probability of each word's arc, and `scores` the expected
    number of right arcs. Its labels are the likeliest of each word, and need not spell the tree.
    """

    ids: tuple[LabelIds, ...]
    heads: Ints
    scores: Floats
    exact: Bools
    found: Bools
    marginals: Floats | None = None


@dataclass(frozen=True, slots=True)
class Decoder(ABC):
    """Base class of decoders, which find trees for the scores of a `Problem`.

    The class variables declare which scores a decoder needs and which models it supports. `depth` is the largest number
    of brackets that may be open at once. `repair` is the policy that makes a tree of labels that spell none.
    """

    by_labels: ClassVar[bool] = True  # whether it decodes models that score labels
    needs_arcs: ClassVar[bool] = False  # whether it needs scores of arcs beside those of labels
    trees_by_arcs: ClassVar[Literal["", "projective", "all"]] = ""  # its trees from arcs alone, "" if it needs labels
    sums: ClassVar[bool] = False  # whether it sums over trees: `Best.marginals` are set, scores have a temperature

    depth: int = DEPTH
    repair: str = "nearest"

    def __post_init__(self) -> None:
        demand_depth(self.depth)
        demand_known("repair policy", self.repair, POLICIES)

    @classmethod
    def supports(cls, encoding: Encoding, alphabet: Sequence[str]) -> bool:  # noqa: ARG003 - subclasses ask
        """Return whether this decoder can decode labels of `encoding` with this `alphabet`; by default it can."""
        return True

    @classmethod
    def has_probabilities(cls, encoding: Encoding | None, alphabet: Sequence[str]) -> bool:
        """Return whether decoded trees have probabilities; `encoding` is None if the model scores only arcs."""
        if encoding is None:
            return cls.sums
        return cls.needs_arcs and cls.supports(encoding, alphabet)

    @abstractmethod
    def decode(self, problem: Problem) -> Best:
        """Return the best tree of each sentence of `problem`."""


def decode(problem: Problem, decoder: str = "exact", *, depth: int = DEPTH, repair: str = "nearest") -> Best:
    """Return the best tree of each sentence for the scores of `problem`, found by the decoder named `decoder`.

    Raise an error if the decoder needs scores that `problem` lacks, or does not support its encoding.
    """
    kind, labels = decoding.get(decoder), problem.labels
    if labels is None:
        if not kind.trees_by_arcs:
            raise UnknownNameError("decoder", decoder, decoding.arc_decoders())
    elif not kind.by_labels:
        raise UnknownNameError("decoder", decoder, decoding.label_decoders())
    elif not kind.supports(labels.encoding, labels.alphabets[0]):
        raise UnknownNameError(
            f"encoding with the {decoder} decoder", labels.encoding.spec, decoding.encodings_of(decoder)
        )
    if kind.needs_arcs and problem.arcs is None:
        checked_arcs(None, problem.offsets)
    return kind(depth, repair).decode(problem)


def decode_arcs(
    arcs: ArcScores, offsets: npt.ArrayLike, *, decoder: str = "exact", relations: Relations | None = None
) -> Best:
    """Return the best tree of each sentence for arc scores alone: `decode` for a `Problem` without labels."""
    return decode(Problem(checked_offsets(offsets), arcs=arcs, relations=relations), decoder)


@dataclass(frozen=True, slots=True)
class _Question:
    """A cache key: encodings of the same class with equal `spec` and `labels` have the same machine."""

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
    """Return the stack machine that reads sequences of `labels` of an encoding, or None if the encoding has none.

    Raise a `LabelError` if a text in `labels` is no label of the encoding.
    """
    return _machine(_question(encoding, labels))


def _question(encoding: Encoding, labels: Sequence[str]) -> _Question:
    return _Question(type(encoding), encoding.spec, tuple(labels), encoding)


@lru_cache(maxsize=32)
def _stacks(question: _Question) -> BracketStacks | None:
    return question.encoding.bracket_stacks(question.labels)


def stacks_of(encoding: Encoding, labels: Sequence[str]) -> BracketStacks | None:
    """Return each label as brackets on stacks, for encodings without a stack machine.

    Return None if the encoding has a machine, or if its labels are no brackets.
    """
    machine = machine_of(encoding, labels)
    return None if machine is not None else _stacks(_question(encoding, labels))


def exact_encodings() -> tuple[str, ...]:
    """Return the names of the encodings with a stack machine. Only their trees have probabilities."""
    return names_where(lambda encoding: machine_of(encoding, encoding.alphabet or ()) is not None)


def marks_arcs(encoding: Encoding, labels: Sequence[str]) -> bool:
    """Return whether an encoding has a stack machine over `labels` whose steps determine every arc."""
    machine = machine_of(encoding, labels)
    return machine is not None and machine.marks_arcs


def arc_encodings() -> tuple[str, ...]:
    """Return the names of the encodings whose stack machine determines every arc, so that arcs have probabilities."""
    return names_where(lambda encoding: marks_arcs(encoding, encoding.alphabet or ()))


def demand_depth(depth: int) -> None:
    """Raise an `OptionError` unless `depth` is from 1 to `DEEPEST`, the largest depth of an automaton."""
    if not 1 <= depth <= DEEPEST:
        raise OptionError(f"the depth is {depth}; expected 1 to {DEEPEST}: it grows by itself for trees that need more")


def checked(scores: npt.ArrayLike, labels: int, words: int) -> Floats:
    """Return `scores` as an array of shape [`words`, `labels`]. Very large scores are clipped.

    Raise a `MismatchError` if the shape differs, or if a score is nan or +inf.
    """
    array = floats(scores, "scores")
    if array.shape != (words, labels):
        raise MismatchError(f"scores of shape {array.shape}; expected {words} words by {labels} labels")
    if words and not labels:
        raise MismatchError(f"{words} words but no labels to choose from; pass the alphabet of the encoding")
    _demand_numbers("scores", array)
    huge = np.isfinite(array) & (np.abs(array) > LARGEST)
    return np.where(huge, np.copysign(LARGEST, array), array) if huge.any() else array


def _demand_numbers(what: str, array: Floats) -> None:
    wrong = np.isnan(array) | (array == np.inf)
    if wrong.any():
        word = int(np.flatnonzero(wrong.reshape(len(array), -1).any(axis=1))[0])
        raise MismatchError(
            f"word {word + 1} of all: {what} must be numbers or -inf, found nan or +inf; check the output of the model"
        )


def root_score_table(machine: Machine | BracketStacks, root: Logs | None, words: int) -> Floats:
    """Return a table [words, 2]: each word's log-probability of not being the root, and of being the root.

    `root` holds the log-probabilities of being the root. All entries are 0 if `root` is None, or if the labels of the
    machine do not mark the root.
    """
    if root is None or (isinstance(machine, Machine) and not machine.marks_root):
        return np.zeros((words, 2))
    logs = floats(root, "root log-probabilities")
    if logs.shape != (words,):
        raise MismatchError(f"root log-probabilities of shape {logs.shape}; expected one for each of {words} words")
    _demand_numbers("root log-probabilities", logs)
    log_root = np.clip(logs, LOWEST_ROOT_SCORE, -1e-18)
    with np.errstate(divide="ignore"):
        other = np.log(-np.expm1(log_root))
    return np.ascontiguousarray(np.stack([np.maximum(other, LOWEST_ROOT_SCORE), log_root], axis=1))


def spelled_heads(
    encoding: Encoding,
    ids: Sequence[LabelIds],
    offsets: Ints,
    alphabets: Sequence[Sequence[str]],
    upos: Column | None = None,
) -> Ints:
    """Return the heads that the labels of words spell.

    `ids` holds one array per label column: the index of each word's label in the alphabet of that column.
    """
    columns = tuple(Column(column, tuple(names)).narrow() for column, names in zip(ids, alphabets, strict=True))
    none = Column.constant("_", int(offsets[-1]))
    return encoding.decode(Labels(encoding.spec, Offsets(offsets), columns, none, upos)).heads


def checked_arcs(arcs: npt.NDArray[Any] | None, offsets: Ints) -> ArcScores:
    """Return arc scores as a flat array of 32-bit floats, ordered by sentence, then word, then head from 0 on.

    Raise a `MismatchError` if `arcs` is None, has another size, or has a score that is not finite.
    """
    size = int(arc_starts(offsets)[-1])
    shape = None if arcs is None else as_array(arcs, "arc scores").shape
    if arcs is None or shape != (size,):
        raise MismatchError(
            f"{'there are no arc scores' if shape is None else f'the arc scores have the shape {shape}'}; "
            f"expected {size} in one row: for every word, one for each head from 0 on"
        )
    with np.errstate(over="ignore"):  # scores too large for 32 bits become infinite and raise the error below
        arcs = np.ascontiguousarray(real_numbers(arcs, "arc scores"), dtype=np.float32)
    return clipped(arcs, LARGEST_ARC)


def clipped(arcs: npt.NDArray[Number], most: np.floating | float) -> npt.NDArray[Number]:
    """Return arc scores from `-most` to `most`; raise a `MismatchError` if one is not finite."""
    low, high = float(arcs.min(initial=0.0)), float(arcs.max(initial=0.0))
    if not (isfinite(low) and isfinite(high)):
        raise MismatchError("an arc's score is not finite; pass finite numbers, a very low one where there is no arc")
    return arcs.clip(-most, most) if max(-low, high) > most else arcs


def arc_starts(offsets: Ints) -> npt.NDArray[np.int64]:
    """Return the index of each sentence's first score in the flat array of arc scores, and at the end its length."""
    lengths = (offsets[1:] - offsets[:-1]).astype(np.int64)
    return starts_of(lengths * (lengths + 1))


def arc_widths(offsets: Ints) -> npt.NDArray[np.int64]:
    """Return for each word the number of its arc scores: the length of its sentence plus 1, for node 0."""
    lengths = (offsets[1:] - offsets[:-1]).astype(np.int64)
    return np.repeat(lengths + 1, lengths)


def arc_rows(offsets: Ints) -> npt.NDArray[np.intp]:
    """Return the index of each word's first score in the flat array of arc scores."""
    widths = arc_widths(offsets)
    return (widths.cumsum() - widths).astype(np.intp, copy=False)
