"""How labels drive a stack: the machine that an encoding may bring, from which all exact decoding is made.

A machine reads labels one by one. Its states are stacks, cut down to what decides which labels may follow: opening
semibrackets need no place in them, since they wait for whatever closes the bracket under which they lie. Every machine
demands one root: node 0's bracket is closed by one word, and nothing else leans on it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, final

from ropewalk.encodings.bracket_text import bracket_symbols
from ropewalk.kernels.codes import CLOSING, RIGHTWARD, SUPER

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = "0"


class Marks(NamedTuple):
    """What a label did: whether its word is the root, and at which heights of the stack; 0 is nowhere.

    Heights count from 1, where node 0 lies before the first word. A word lies on the stack at the height `opens_left`
    until the word comes that is its head, or at the height `opens_right` until its last dependent comes, or at both.
    `closes_left` is the height of a dependent that the word takes off the stack, `closes_right` that of a head which it
    takes off as its last dependent. `leans` is the height of a head that stays. `waits` is a height on which another
    word lies: whichever word takes that one off is the head.
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
    """A machine that reads labels by their numbers; its states are of any kind that can be a key.

    Every sequence that it accepts spells a tree with one root: the best path is the best sequence, and its tree has the
    probability of the sequence. If no two spell the same tree, that is the tree's own. A subclass is a frozen
    dataclass: machines that are equal share what is built from them.
    """

    labels: tuple[str, ...]

    # Whether its marks tell all arcs: then they have probabilities and joint decoding, and steps can be shown.
    marks_arcs: ClassVar[bool] = False
    # Whether its marks tell which word is the root.
    marks_root: ClassVar[bool] = True

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
        """How much is open: the searches keep to states of a limited height."""


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
    marks_arcs = True
    start = ROOT

    @classmethod
    def of(cls, labels: Sequence[str], texts: Sequence[str | None], *, same_direction: bool = False) -> BracketMachine:
        """Make the machine of labels from the brackets that each stands for, written as text."""
        rows = (None if text is None else tuple(bracket_symbols("the machine", text)) for text in texts)
        return cls(tuple(labels), tuple(rows), same_direction)

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
class BracketStacks:
    """Labels as brackets with indices on one stack or several, for trees that are not projective.

    Each label is a row of brackets: pairs of a stack and a number as in `kernels.codes`. Node 0's bracket lies on the
    first stack. An opening bracket is put on its stack. A closing superbracket takes off the topmost opening one of its
    direction, as many passed over as its index says. An opening semibracket makes its arc with the word that closes a
    superbracket below it on its stack, after as many others as its index says. A closing semibracket makes its arc with
    the word of the topmost superbracket of any direction, its index passed over, and takes nothing off. Of a word's
    brackets on one stack those of longer arcs are opened first and closed last.

    `planes` may give the plane of each stack, from 1: then arcs of one plane do not cross, and each arc lies in the
    first plane where that is so. What matches in spite of it is taken only where nothing else is found. Labels that
    match may spell no tree; decoding finds those that do. `projective` is a machine over some of the labels, to fall
    back on.
    """

    labels: tuple[str, ...]
    brackets: tuple[tuple[tuple[int, int], ...], ...]
    planes: tuple[int, ...] = ()
    projective: Machine | None = None
