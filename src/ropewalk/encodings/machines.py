"""Machines: automata that read the labels of a sentence with a stack. Exact decoding needs an encoding's machine.

A machine reads labels one by one. Its state is the part of the stack that decides which labels may follow. Opening
semibrackets are not part of the state: their arcs are completed by the word that closes the superbracket below them.
Every machine accepts only trees with one root: exactly one word closes node 0's bracket, and no arc leans on it.
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
    """The effect of a label on the stack: whether its word is the root, and the heights at which brackets change.

    Heights count from 1, the height of node 0 before the first word. A height of 0 means that there is no such bracket.

    - `opens_left`: the word is pushed at this height and stays until its head is read.
    - `opens_right`: the word is pushed at this height and stays until its last right dependent is read.
    - `closes_left`: the word at this height is a dependent of the new word and is removed.
    - `closes_right`: the word at this height is the head of the new word, its last dependent, and is removed.
    - `leans`: the word at this height is the head of the new word and stays.
    - `waits`: the head of the new word is the later word that removes the bracket at this height.
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
    """Base class of machines; labels are read as indices in `labels`, and states are of any hashable type.

    Every sequence of labels that a machine accepts spells a tree with one root. So the best path through its states is
    the best such sequence. If no two sequences spell the same tree, the probability of a sequence is that of its tree.
    A subclass must be a frozen dataclass, because equal machines share the automaton that is built from them.
    """

    labels: tuple[str, ...]

    # Whether its marks determine all arcs: then arc probabilities, joint decoding and parsing steps are possible.
    marks_arcs: ClassVar[bool] = False
    # Whether its marks determine the root.
    marks_root: ClassVar[bool] = True

    @property
    @abstractmethod
    def start(self) -> Any:  # noqa: ANN401 - a state
        """The state before the first word."""

    @abstractmethod
    def step(self, state: Any, label: int) -> tuple[Any, Marks] | None:  # noqa: ANN401 - a state
        """Return the state after reading `label` and the effect of the label; None if it cannot follow in `state`."""

    @abstractmethod
    def accepts(self, state: Any) -> bool:  # noqa: ANN401 - a state
        """Return whether a sentence may end in `state`; exactly one state must accept."""

    @abstractmethod
    def height(self, state: Any) -> int:  # noqa: ANN401 - a state
        """Return the number of open brackets in `state`; searches ignore states above a limit."""


@final
@dataclass(frozen=True)
class BracketMachine(Machine):
    """A machine with one stack of open superbrackets, written as a string, for labels that are hierarchical brackets.

    A superbracket opens or closes an arc of a rope cover. A semibracket stands for an arc to the word of an open
    superbracket; docs/ropes.md explains both. In the string, `0` is the bracket of node 0, `L` that of a left arc and
    `R` that of a right arc. `brackets` has the brackets of each label; a label with None instead is never accepted.
    With `same_direction` a semibracket leans only on a superbracket of its own direction, as in the rope cover
    `farthest`. Without it, accepted sequences are bracketings of proper rope covers.
    """

    brackets: tuple[tuple[int, ...] | None, ...]
    same_direction: bool = False
    marks_arcs = True
    start = ROOT

    @classmethod
    def of(cls, labels: Sequence[str], texts: Sequence[str | None], *, same_direction: bool = False) -> BracketMachine:
        """Return the machine of `labels`; `texts` has the brackets of each label, None for a label never accepted."""
        rows = (None if text is None else tuple(bracket_symbols("the machine", text)) for text in texts)
        return cls(tuple(labels), tuple(rows), same_direction)

    def step(self, state: str, label: int) -> tuple[str, Marks] | None:
        """Return the stack after the brackets of the label and their effect; None if a bracket cannot be matched."""
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
        """Return whether the stack is empty: all brackets are closed, node 0's included."""
        return not state

    def height(self, state: str) -> int:
        """Return the number of superbrackets on the stack."""
        return len(state)


@final
@dataclass(frozen=True)
class BracketStacks:
    """Labels as brackets with indices on one or more stacks, for non-projective trees.

    A superbracket is matched with a superbracket at the other end of its arc. A semibracket has no partner: its arc
    joins its word to the word of a superbracket. `brackets` has a row of brackets for each label. Each bracket is a
    pair: the index of its stack, and a code of `kernels.codes`. The bracket of node 0 is on the first stack.

    A bracket with index k skips k candidates (`>^*` has index 1):

    - An opening bracket is pushed on its stack.
    - A closing superbracket skips k open superbrackets of its direction, then matches and removes the next.
    - A closing semibracket skips k open superbrackets of any direction. Its arc joins its word to the next one's word.
    - An opening semibracket skips the first k words that close a superbracket below it. Its arc joins its word to the
      next such word.

    If a word has several brackets on one stack, those of longer arcs are opened first and closed last.

    `planes` has the plane of each stack, from 1, or is empty. With planes, no two arcs of one plane may cross, and each
    arc is in the first plane where it crosses none. Labels that break this rule are used only if no others spell a
    tree. Labels whose brackets match may still spell no tree; decoding searches for labels that do. `projective` is a
    machine over some of the labels. Its best projective tree is the fallback of this search.
    """

    labels: tuple[str, ...]
    brackets: tuple[tuple[tuple[int, int], ...], ...]
    planes: tuple[int, ...] = ()
    projective: Machine | None = None
