"""What is open after each label: the stack machine of an encoding, from which its automaton is made.

A machine reads labels one by one. Its states are stacks, cut down to what decides which labels may follow: opening
semibrackets need no place in them, since they wait for whatever closes the bracket under which they lie. Every machine
demands one root: node 0's bracket is closed by one word, and nothing else leans on it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, final

from ropewalk.encodings.bits import SevenBit
from ropewalk.encodings.compact import OPTIMAL_LABELS, FourBit, Optimal, compact_text
from ropewalk.encodings.hexatags import HEXATAGS, Hexatags
from ropewalk.encodings.indexed import OptimalNonprojective
from ropewalk.encodings.pseudo import PseudoProjective
from ropewalk.encodings.text import bracket_symbols
from ropewalk.kernels.codes import (
    BIT_FARTHEST,
    BIT_HEAD_LEFT,
    BIT_LEFT,
    BIT_RIGHT,
    BIT_SECOND_PLANE,
    CLOSING,
    FENCE_HEAD_RIGHT,
    FENCE_RIGHT,
    INDEX,
    RIGHTWARD,
    SUPER,
    WORD_RIGHT,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.encodings import Encoding


class Marks(NamedTuple):
    """What a label did: whether its word is the root, and at which heights of the stack; 0 is nowhere.

    `opens_left` and `opens_right` are the superbrackets that it opened, `waits` the bracket under which its opening
    semibracket lies, `leans` the one on which its closing semibracket leans, `closes_left` and `closes_right` the
    superbrackets that it closed.
    """

    root: bool = False
    opens_left: int = 0
    opens_right: int = 0
    waits: int = 0
    leans: int = 0
    closes_left: int = 0
    closes_right: int = 0


@dataclass(frozen=True)
class Machine(ABC):
    """A machine that reads labels by their numbers; its states are of any kind that can be a key."""

    labels: tuple[str, ...]

    # Whether every sequence that it accepts spells a tree, so that the best path is the best tree.
    certain: ClassVar[bool]
    # Whether its marks tell arcs apart, so that their probabilities can be summed.
    tracks: ClassVar[bool] = False
    # Whether its marks tell which word is the root.
    knows_root: ClassVar[bool] = True

    @property
    @abstractmethod
    def start(self) -> Any:  # noqa: ANN401 - a state
        """The state before the first word."""

    @abstractmethod
    def step(self, state: Any, label: int) -> tuple[Any, Marks] | None:  # noqa: ANN401 - a state
        """Read a label: the state after it and what it did, or None if it does not fit."""

    @abstractmethod
    def accepts(self, state: Any) -> bool:  # noqa: ANN401 - a state
        """Tell whether a sentence may end here: in one state only."""

    @abstractmethod
    def height(self, state: Any) -> int:  # noqa: ANN401 - a state
        """How much is open."""


ROOT = "0"


@final
@dataclass(frozen=True)
class BracketMachine(Machine):
    """One stack of superbrackets: `0` for node 0's, `L` and `R` for those of left and right arcs.

    A label without brackets, None, never fits. With `same_direction` a semibracket leans only on a bracket of its own
    direction, as the longest arcs from each node demand; without it each sequence is the proper cover of its tree all
    the same.
    """

    brackets: tuple[tuple[int, ...] | None, ...]
    same_direction: bool = False
    certain = True
    tracks = True
    start = ROOT

    def step(self, state: str, label: int) -> tuple[str, Marks] | None:
        """Open, close and lean as the label's brackets say."""
        brackets = self.brackets[label]
        if brackets is None:
            return None
        root = False
        did: dict[str, int] = {}
        for symbol in brackets:
            top = state[-1:]
            if symbol & SUPER and not symbol & CLOSING:
                state += "R" if symbol & RIGHTWARD else "L"
                did["opens_right" if symbol & RIGHTWARD else "opens_left"] = len(state)
            elif symbol & SUPER:
                if top != ("R" if symbol & RIGHTWARD else "L") and not (symbol & RIGHTWARD and top == ROOT):
                    return None
                did["closes_right" if symbol & RIGHTWARD else "closes_left"] = len(state)
                root = root or top == ROOT
                state = state[:-1]
            else:
                if not top or (self.same_direction and top != ("R" if symbol & CLOSING else "L")):
                    return None
                if symbol & CLOSING and top == ROOT:
                    return None
                did["leans" if symbol & CLOSING else "waits"] = len(state)
        return state, Marks(root, **did)

    def accepts(self, state: str) -> bool:
        """Nothing is open, not even node 0's bracket."""
        return not state

    def height(self, state: str) -> int:
        """How many superbrackets are open."""
        return len(state)


@final
@dataclass(frozen=True)
class HexatagMachine(Machine):
    """The number of unfinished parts of the binary tree; 0 before the first word."""

    certain = True
    knows_root = False
    start = 0

    def step(self, state: int, label: int) -> tuple[int, Marks] | None:
        """Hang the fence's node under the part below or start anew, then put the word in place."""
        first = state == self.start
        if first and label & (FENCE_RIGHT | FENCE_HEAD_RIGHT):
            return None  # node 0 stands alone: it can only be the head of all that follows
        if state == 1:
            return None  # a second dependent of node 0
        parts = 1 if first else state - 1 if label & FENCE_RIGHT else state
        return parts + (0 if label & WORD_RIGHT else 1), Marks(root=False)

    def accepts(self, state: int) -> bool:
        """The binary tree is whole."""
        return state == 1

    def height(self, state: int) -> int:
        """How many parts are on the stack."""
        return state


@final
@dataclass(frozen=True)
class IndexedMachine(Machine):
    """One stack of superbrackets and of the opening semibrackets that still have brackets to let pass.

    A state is a row of numbers: 0 for node 0's bracket, 1 and 2 for those of left and right arcs, and -k for an opening
    semibracket of index k. It accepts sequences that match; whether they spell a tree must be seen.
    """

    brackets: tuple[tuple[int, ...], ...]
    certain = False
    start = (0,)

    def step(self, state: tuple[int, ...], label: int) -> tuple[tuple[int, ...], Marks] | None:
        """Open, close and lean as the label's brackets say; a label that gives its word two heads never fits.

        One that gives none may: the head can lean on a bracket that the word opens, or wait under one that it closes.
        """
        if sum(bool(symbol & CLOSING) == bool(symbol & RIGHTWARD) for symbol in self.brackets[label]) > 1:
            return None
        stack = state
        for symbol in self.brackets[label]:
            after = self._close(stack, symbol) if symbol & CLOSING else self._open(stack, symbol)
            if after is None:
                return None
            stack = after
        return stack, Marks(root=0 in state and 0 not in stack)

    def accepts(self, state: tuple[int, ...]) -> bool:
        """Nothing is open."""
        return not state

    def height(self, state: tuple[int, ...]) -> int:
        """How many brackets are on the stack."""
        return len(state)

    def _open(self, stack: tuple[int, ...], symbol: int) -> tuple[int, ...] | None:
        if symbol & SUPER:
            return (*stack, 2 if symbol & RIGHTWARD else 1)
        if max(stack, default=-1) < 0:
            return None  # nothing will ever close above it
        return (*stack, -(symbol // INDEX)) if symbol >= INDEX else stack

    def _close(self, stack: tuple[int, ...], symbol: int) -> tuple[int, ...] | None:
        fits = {0, 1, 2} if not symbol & SUPER else {0, 2} if symbol & RIGHTWARD else {1}
        places = [place for place in range(len(stack) - 1, -1, -1) if stack[place] in fits]
        if symbol // INDEX >= len(places):
            return None
        match = places[symbol // INDEX]
        if not symbol & SUPER:
            return None if stack[match] == 0 else stack
        kept = stack[:match]
        for entry in stack[match + 1 :]:
            if entry < -1:
                kept = (*kept, entry + 1)
            elif entry >= 0:
                kept = (*kept, entry)
            elif max(kept, default=-1) < 0:
                return None  # a semibracket with nothing more to let pass, and nothing left to close above it
        return kept


@final
@dataclass(frozen=True)
class BitsMachine(Machine):
    """How many words wait on each stack of the 7-bit encoding: (left, right) of plane 1, then of plane 2.

    On the left stacks only words count that are the farthest of their head: the others leave with the one
    below. Node 0 is the first on the right stack of plane 1. It accepts sequences that match; whether they spell a tree
    must be seen.
    """

    certain = False
    start = (0, 1, 0, 0, 0)

    def step(self, state: tuple[int, ...], label: int) -> tuple[tuple[int, ...], Marks] | None:  # noqa: C901 - one rule per bit
        """Take words off the stacks and put them there as the bits say."""
        bits = int(self.labels[label], 2)
        counts = list(state)
        own = 2 if bits & BIT_SECOND_PLANE else 0
        root = False
        if bits & BIT_HEAD_LEFT:
            if counts[own + 1] == 0:
                return None
            if own == 0 and counts[1] == 1 and not counts[4]:
                if not bits & BIT_FARTHEST:
                    return None
                root = True
                counts[4] = 1
            counts[own + 1] -= bool(bits & BIT_FARTHEST)
        for plane in (0, 1):
            if bits & BIT_LEFT >> 2 * plane:
                if counts[2 * plane] == 0:
                    return None
                counts[2 * plane] -= 1
        if not bits & BIT_HEAD_LEFT:
            if bits & BIT_FARTHEST:
                counts[own] += 1
            elif counts[own] == 0:
                return None
        for plane in (0, 1):
            counts[2 * plane + 1] += bool(bits & BIT_RIGHT >> 2 * plane)
        return tuple(counts), Marks(root=root)

    def accepts(self, state: tuple[int, ...]) -> bool:
        """Nothing waits, and there is a root."""
        return state == (0, 0, 0, 0, 1)

    def height(self, state: tuple[int, ...]) -> int:
        """How many words wait on the fullest stack."""
        return max(state[:4])


def machine_of(encoding: Encoding, labels: Sequence[str]) -> Machine | None:
    """Make the machine of an encoding over the given labels, or None if it has none."""
    labels = tuple(labels)
    inner = encoding.inner if isinstance(encoding, PseudoProjective) else encoding
    if isinstance(inner, Optimal):
        # The labels that only the published encoding has are for trees that are not projective: no stack bounds them.
        plain = [label in OPTIMAL_LABELS for label in labels]
        spelled = zip(_spelled(labels), plain, strict=True)
        return BracketMachine(labels, tuple(brackets if fits else None for brackets, fits in spelled))
    if isinstance(inner, FourBit):
        return BracketMachine(labels, _spelled([compact_text(int(label, 2)) for label in labels]), same_direction=True)
    if isinstance(inner, Hexatags) and labels == HEXATAGS:
        return HexatagMachine(labels)
    if isinstance(inner, OptimalNonprojective):
        return IndexedMachine(labels, _spelled(labels))
    if isinstance(inner, SevenBit):
        return BitsMachine(labels)
    return None


def safe_labels(encoding: Encoding, labels: Sequence[str]) -> list[int]:
    """Choose the labels of an uncertain encoding that are also labels of a projective one, for its guarantees."""
    if isinstance(encoding, OptimalNonprojective):
        return [place for place, label in enumerate(labels) if label in OPTIMAL_LABELS]
    if isinstance(encoding, SevenBit):
        second = BIT_SECOND_PLANE | BIT_LEFT >> 2 | BIT_RIGHT >> 2
        return [place for place, label in enumerate(labels) if not int(label, 2) & second]
    return []


def safe_machine(encoding: Encoding, labels: Sequence[str]) -> Machine:
    """Make the machine of the projective encoding to which `safe_labels` belong."""
    if isinstance(encoding, SevenBit):
        four = [f"{bits >> 3 & 8 | bits >> 2 & 7:04b}" for bits in (int(label, 2) for label in labels)]
        return BracketMachine(
            tuple(labels), _spelled([compact_text(int(bits, 2)) for bits in four]), same_direction=True
        )
    return BracketMachine(tuple(labels), _spelled(labels))


def _spelled(labels: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(bracket_symbols("the machine", label)) for label in labels)
