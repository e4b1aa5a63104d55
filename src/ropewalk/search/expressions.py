"""Regular expressions in linear time: a Glushkov automaton, made deterministic state by state as texts need it.

Python's `re` backtracks and cannot be interrupted. Here a text of n characters takes n steps, whatever the expression
(Glushkov 1961: the positions of an expression are the states of its automaton). An expression has at most
`MOST_POSITIONS` positions, those of a pattern together `MOST_IN_PATTERN`, and matching many texts takes at most
`MOST_WORK` units of work. A caller that has a deadline checks it while texts are matched.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ropewalk.errors import PatternError, SearchLimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    CharacterTest = Callable[[str], bool]

MOST_POSITIONS: Final = 1000
MOST_IN_PATTERN: Final = 2000
MOST_WORK: Final = 1_000_000
DEEPEST: Final = 50
TEXTS_BETWEEN_CHECKS: Final = 1000
CLASSES: Final[dict[str, CharacterTest]] = {
    "d": str.isdecimal,
    "w": lambda character: character.isalnum() or character == "_",
    "s": str.isspace,
}
ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


@dataclass(frozen=True, slots=True)
class _Fragment:
    """A part of an expression: whether it matches the empty text, and the positions where its matches begin and end.

    `first` and `last` are sets of positions, as bits.
    """

    nullable: bool
    first: int
    last: int


_NOTHING: Final = _Fragment(nullable=True, first=0, last=0)


@dataclass(slots=True)
class _Syntax:
    """A node of an expression's syntax tree.

    `kind` is `character` (one that passes `test`), `sequence`, `either` or `repeat`. `repeat` has one child, which is
    repeated `low` to `high` times; `high` is None for no limit.
    """

    kind: str
    children: list[_Syntax] = field(default_factory=list)
    test: CharacterTest | None = None
    low: int = 0
    high: int | None = 0

    def positions(self) -> int:
        """Return the number of characters and character sets after repetitions are written out: 3 for `a{3}`."""
        if self.kind == "character":
            return 1
        once = sum(child.positions() for child in self.children)
        return once * max(1, self.low, self.high or 0) if self.kind == "repeat" else once


class Expression:
    """A regular expression that matches whole texts.

    `pattern` is the search pattern that contains the expression, and `begins` the index in it where the expression
    begins. Errors use both to point at a character. `positions_before` is the number of positions of the expressions
    that come before it in the pattern; they count too.
    """

    def __init__(
        self, text: str, *, ignore_case: bool = False, pattern: str = "", begins: int = 0, positions_before: int = 0
    ) -> None:
        self.text = text
        self._pattern = pattern or text
        self._begins = begins
        syntax = _Reader(text, self._pattern, begins, ignore_case=ignore_case).read()
        self.positions = syntax.positions()
        together = self.positions + positions_before
        for count, counted, most, where in (
            (self.positions, "the regular expression has", MOST_POSITIONS, ""),
            (together, "the regular expressions up to here have", MOST_IN_PATTERN, " in a pattern"),
        ):
            if count > most:
                problem = f"{counted} {count:,} positions once repetitions are written out"
                raise PatternError(f"{problem}; at most {most:,}{where} are allowed", self._pattern, begins)
        self._tests: list[CharacterTest] = []
        self._follow: list[int] = []
        whole = self._build(syntax)
        self._nullable, self._last, self._first = whole.nullable, whole.last, whole.first
        self._states: dict[int, dict[str, int]] = {}
        self._after: dict[int, int] = {}
        self._reads: dict[str, int] = {}
        self._work = 0

    def matches(self, texts: Iterable[str], check: Callable[[], None] = lambda: None) -> list[bool]:
        """Return for each text whether the expression matches the whole text; call `check` again and again meanwhile.

        Raise a `SearchLimitError` if it takes too much work. `check` may raise another error to stop.
        """
        self._work = 0
        states, begin = self._states, self._states.setdefault(-1, {})
        out: list[bool] = []
        for text in texts:
            if len(out) % TEXTS_BETWEEN_CHECKS == 0:
                check()
            state, arcs = -1, begin
            for character in text:
                after = arcs.get(character)
                if after is None:
                    after = arcs[character] = self._step(state, character, check)
                if not after:
                    state = 0
                    break
                state, arcs = after, states[after]
            out.append(self._nullable if state == -1 else bool(state & self._last))
        return out

    def _step(self, state: int, character: str, check: Callable[[], None]) -> int:
        """Return the state after `character` is read in `state`.

        A state is a set of positions, as bits. -1 is the state at the beginning, and 0 that of failure.
        """
        reachable = self._first if state == -1 else self._after.get(state)
        if reachable is None:
            reachable = 0
            for position in _bits(state):
                reachable |= self._follow[position]
                self._work += 1
            self._after[state] = reachable
            check()
        read = self._reads.get(character)
        if read is None:
            read = 0
            for position, test in enumerate(self._tests):
                if test(character):
                    read |= 1 << position
            self._work += len(self._tests)
            self._reads[character] = read
        self._work += 1 + len(self._tests) // 50
        if self._work > MOST_WORK:
            raise SearchLimitError(f"the regular expression /{self.text}/ takes too long; write a simpler one")
        after = reachable & read
        if after:
            self._states.setdefault(after, {})
        return after

    def _build(self, syntax: _Syntax) -> _Fragment:
        if syntax.kind == "character":
            assert syntax.test is not None  # noqa: S101 - for the type checker
            self._tests.append(syntax.test)
            self._follow.append(0)
            bit = 1 << (len(self._tests) - 1)
            return _Fragment(nullable=False, first=bit, last=bit)
        if syntax.kind == "either":
            parts = [self._build(child) for child in syntax.children]
            first = last = 0
            for part in parts:
                first, last = first | part.first, last | part.last
            return _Fragment(any(part.nullable for part in parts), first, last)
        if syntax.kind == "repeat":
            return self._repeated(syntax)
        out = _NOTHING
        for child in syntax.children:
            out = self._joined(out, self._build(child))
        return out

    def _repeated(self, syntax: _Syntax) -> _Fragment:
        child, out = syntax.children[0], _NOTHING
        copies = max(syntax.low, 1) if syntax.high is None else syntax.high
        for copy in range(copies):
            part = self._build(child)
            if syntax.high is None and copy == copies - 1:
                self._link(part.last, part.first)
            if copy >= syntax.low:
                part = _Fragment(nullable=True, first=part.first, last=part.last)
            out = self._joined(out, part)
        return out

    def _joined(self, left: _Fragment, right: _Fragment) -> _Fragment:
        self._link(left.last, right.first)
        return _Fragment(
            left.nullable and right.nullable,
            left.first | right.first if left.nullable else left.first,
            left.last | right.last if right.nullable else right.last,
        )

    def _link(self, last: int, first: int) -> None:
        for position in _bits(last):
            self._follow[position] |= first


def _bits(number: int) -> Iterable[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


class _Reader:
    """A recursive-descent parser of regular expressions."""

    def __init__(self, text: str, pattern: str, begins: int, *, ignore_case: bool) -> None:
        self._text = text
        self._ignore_case = ignore_case
        self._pattern = pattern
        self._begins = begins
        self._at = 0
        self._depth = 0

    def read(self) -> _Syntax:
        if self._peek() == "^":
            self._at += 1
        syntax = self._either()
        if self._at < len(self._text):
            raise self._error("found ) without a ( before it")
        return syntax

    def _peek(self) -> str:
        return self._text[self._at] if self._at < len(self._text) else ""

    def _error(self, message: str, at: int | None = None) -> PatternError:
        return PatternError(
            f"in the regular expression: {message}", self._pattern, self._begins + (self._at if at is None else at)
        )

    def _either(self) -> _Syntax:
        branches = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else _Syntax("either", branches)

    def _sequence(self) -> _Syntax:
        parts = []
        while self._peek() and self._peek() not in "|)":
            if self._peek() == "$" and self._at == len(self._text) - 1:
                self._at += 1
                break
            parts.append(self._quantified(self._atom()))
        return _Syntax("sequence", parts)

    def _quantified(self, atom: _Syntax) -> _Syntax:
        for _ in range(2):
            mark = self._peek()
            bounds: tuple[int, int | None] | None = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(mark)
            if bounds is not None:
                self._at += 1
            elif mark == "{":
                bounds = self._counts()
            if bounds is None:
                return atom
            if self._peek() == "?":  # lazy: a match of the whole text is the same
                self._at += 1
            atom = _Syntax("repeat", [atom], low=bounds[0], high=bounds[1])
        raise self._error("more than two quantifiers in a row; put parentheses around what is repeated")

    def _counts(self) -> tuple[int, int | None]:
        start = self._at
        stop = self._text.find("}", start)
        low, comma, high = self._text[start + 1 : stop].partition(",")
        if stop < 0 or not low.isdecimal() or not (high.isdecimal() or not high):
            raise self._error("found { without counts; expected such as {2} or {2,5}, or \\{ for the character")
        if max(len(low), len(high)) > 4 or (high and int(high) < int(low)):
            raise self._error("the counts of a repetition run from low to high and have at most four digits")
        self._at = stop + 1
        return int(low), (int(high) if high else None) if comma else int(low)

    def _atom(self) -> _Syntax:
        character = self._peek()
        start = self._at
        self._at += 1
        if character == "(":
            if self._peek() == "?":
                if self._text[self._at : self._at + 2] != "?:":
                    raise self._error("found (?; only (?:…) is known, no lookaround and no flags", start)
                self._at += 2
            self._depth += 1
            if self._depth > DEEPEST:
                raise self._error(f"parentheses are nested more than {DEEPEST} deep", start)
            inside = self._either()
            self._depth -= 1
            if self._peek() != ")":
                raise self._error("found ( without a ) after it", start)
            self._at += 1
            return inside
        if character == "[":
            return _Syntax("character", test=self._set(start))
        if character == ".":
            return _Syntax("character", test=lambda _: True)
        if character == "\\":
            return _Syntax("character", test=self._escape(start))
        if character in "*+?{^$":
            raise self._error(
                f"found {character} where nothing can be repeated or anchored; write \\{character}", start
            )
        return _Syntax("character", test=self._folded(character.__eq__))

    def _folded(self, test: CharacterTest) -> CharacterTest:
        """Return `test`, or a test that ignores case if the expression ignores case."""
        if not self._ignore_case:
            return test
        return lambda character: test(character) or test(character.lower()) or test(character.upper())

    def _escape(self, start: int) -> CharacterTest:
        name = self._peek()
        self._at += 1
        if name.lower() in CLASSES:
            return _inverted(CLASSES[name.lower()]) if name.isupper() else CLASSES[name.lower()]
        if name in {"p", "P"}:
            stop = self._text.find("}", self._at)
            category = self._text[self._at + 1 : stop]
            if self._peek() != "{" or stop < 0 or not category.isalpha():
                raise self._error("expected a category of Unicode such as \\p{Lu}", start)
            self._at = stop + 1
            return _inverted(_of_category(category)) if name == "P" else _of_category(category)
        if name in ESCAPES:
            return ESCAPES[name].__eq__
        if not name or name.isalnum():
            raise self._error(f"found \\{name}; known are \\d \\w \\s \\p{{…}}, and \\ before a sign", start)
        return name.__eq__

    def _set(self, start: int) -> CharacterTest:
        negated = self._peek() == "^"
        self._at += negated
        tests: list[CharacterTest] = []
        characters: set[str] = set()
        first = self._at
        while self._peek() != "]" or self._at == first:
            if not self._peek():
                raise self._error("found [ without a ] after it", start)
            low = self._peek()
            self._at += 1
            if low == "\\":
                tests.append(self._escape(self._at - 1))
                continue
            if self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in {"]", ""}:
                high = self._text[self._at + 1]
                self._at += 2
                if high < low or high == "\\":
                    raise self._error(f"the range {low}-{high} is empty", self._at - 3)
                tests.append(_of_range(low, high))
                continue
            characters.add(low)
        self._at += 1
        test = self._folded(_any_of(characters, tests))
        return _inverted(test) if negated else test


def _inverted(test: CharacterTest) -> CharacterTest:
    return lambda character: not test(character)


def _of_range(low: str, high: str) -> CharacterTest:
    return lambda character: low <= character <= high


def _of_category(category: str) -> CharacterTest:
    return lambda character: unicodedata.category(character).startswith(category)


def _any_of(characters: set[str], tests: list[CharacterTest]) -> CharacterTest:
    return lambda character: character in characters or any(test(character) for test in tests)
