"""Rules as text: a pattern, `=>`, and actions on the words that it names; docs/rewriting.md has the grammar."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Final, final

from ropewalk.errors import PatternError
from ropewalk.search.matching import Pattern
from ropewalk.search.syntax import ATTRIBUTE, NAME, TEXT_ATTRIBUTES, PatternParser
from ropewalk.treebank.source import UNWRITABLE

ARROW: Final = "=>"
ROOT: Final = "0"
BARE: Final = re.compile(r'[^\s;+"()]+')
BARE_RELATION: Final = re.compile(r'[^\s;+"()0-9][^\s;+"()]*(?=\s)')
COMMENT: Final = re.compile(r"^[ \t]*#(?!\d).*$", re.MULTILINE)  # `#2,` in a pattern counts
PARAGRAPH: Final = re.compile(r"(?:^.*\S.*(?:\n|\Z))+", re.MULTILINE)
WITH_PARTS: Final = ("feats", "misc")


@dataclass(frozen=True, slots=True)
class RuleCell:
    """A column of a word that an action reads or sets; with `part`, one feature of FEATS or one entry of MISC."""

    column: str
    part: str = ""


@dataclass(frozen=True, slots=True)
class ValuePart:
    """A part of the value that an action writes: `text` itself, or the content of a cell.

    If `cell` is set, the part is the content of that cell of the word named `text`. With `lower`, the part is written
    in lower case.
    """

    text: str
    cell: RuleCell | None = None
    lower: bool = False


RuleValue = tuple[ValuePart, ...]


@dataclass(frozen=True, slots=True)
class SetCell:
    """An action that writes `value` into a column of a word, a feature or an entry of MISC."""

    word: str
    cell: RuleCell
    value: RuleValue

    @property
    def words(self) -> tuple[str, ...]:
        """The names of all words that this action refers to."""
        return self.word, *_named(self.value)


@dataclass(frozen=True, slots=True)
class Reattach:
    """An action that changes the head of `word` to the word named `head`; `0` makes it the root."""

    word: str
    head: str

    @property
    def words(self) -> tuple[str, ...]:
        """The names of all words that this action refers to."""
        return (self.word,) if self.head == ROOT else (self.word, self.head)


@dataclass(frozen=True, slots=True)
class ChangeArc:
    """An action that adds an arc from `head` to `word` to the enhanced graph, or deletes it.

    If `relation` is empty, all arcs from `head` to `word` are deleted.
    """

    adds: bool
    head: str
    relation: RuleValue
    word: str

    @property
    def words(self) -> tuple[str, ...]:
        """The names of all words that this action refers to."""
        return (self.word, *(() if self.head == ROOT else (self.head,)), *_named(self.relation))


Action = SetCell | Reattach | ChangeArc


def _named(value: RuleValue) -> tuple[str, ...]:
    return tuple(part.text for part in value if part.cell is not None)


@final
class RewriteRule:
    """A compiled rule, which can be applied to any treebank; `ropewalk.search.compile_rule` makes one from text."""

    def __init__(self, text: str) -> None:
        parser = _RuleParser(text)
        self.text = text
        self.pattern, self.actions = parser.read_rule()

    def __repr__(self) -> str:
        return f"RewriteRule({self.text!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return RewriteRule, (self.text,)


def compile_rule(rule: str | RewriteRule) -> RewriteRule:
    """Compile the text of a rule; return a `RewriteRule` unchanged.

    Raise a `PatternError` that points at the wrong character if the text is no rule.
    """
    return rule if isinstance(rule, RewriteRule) else RewriteRule(rule)


def compile_rules(text: str) -> tuple[RewriteRule, ...]:
    """Compile rules that are separated by blank lines.

    Lines that begin with `#` are comments, unless a digit follows: `#2` is a count in a pattern.
    """
    if not isinstance(text, str):
        raise PatternError(f"rules are text; found {type(text).__name__}", "", 0)
    rules = []
    for paragraph in PARAGRAPH.finditer(text):
        if not COMMENT.sub("", paragraph[0]).strip():
            continue
        try:
            rules.append(RewriteRule(paragraph[0].rstrip("\n")))
        except PatternError as error:
            if "\n" not in text.strip():
                raise
            line = text.count("\n", 0, paragraph.start() + error.position) + 1
            raise PatternError(f"line {line}: {error.problem}", error.pattern, error.position) from None
    if not rules:
        raise PatternError("found no rule; expected one such as {upos:VERB; relation:aux}=a => a.upos = AUX", text, 0)
    return tuple(rules)


class _RuleParser(PatternParser):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._text = COMMENT.sub(lambda comment: " " * len(comment[0]), text)
        self._names: tuple[str, ...] = ()

    def read_rule(self) -> tuple[Pattern, tuple[Action, ...]]:
        """Read the whole rule, and return its pattern and its actions."""
        self.read(ARROW)
        pattern = Pattern(self._text[: self._at])
        self._at += len(ARROW)
        self._names = pattern.names
        actions: list[Action] = []
        while True:
            self._skip()
            if self._at == len(self._text) and actions:
                return pattern, tuple(actions)
            actions.append(self._action())
            self._skip()
            if self._at < len(self._text) and not self._take(";"):
                raise self._error("expected ; between actions, or the end")

    def _action(self) -> Action:
        self._skip()
        start = self._at
        for word in ("add", "delete"):
            if self._word(word) and not self._text.startswith(".", self._at):
                return self._arc(adds=word == "add")
            self._at = start
        name = self._named()
        if not self._text.startswith(".", self._at):
            raise self._error(f"expected a column after {name}, such as {name}.upos = AUX or {name}.head = verb")
        self._at += 1
        if re.compile(r"head\b").match(self._text, self._at):
            self._at += len("head")
            self._demand_equals()
            return Reattach(name, self._head())
        begins = self._at
        cell = self._cell()
        if cell.column in {"form", "id"}:
            raise self._error(
                "form is the text itself and is not rewritten; use misc.CorrectForm for what it should be", begins
            )
        self._demand_equals()
        return SetCell(name, cell, self._expression())

    def _demand_equals(self) -> None:
        if not self._take("="):
            raise self._error("expected = and a value")

    def _named(self) -> str:
        """Read and return the name of a word; raise a `PatternError` if the pattern has no word of that name."""
        self._skip()
        match = NAME.match(self._text, self._at)
        if match is None:
            raise self._error("expected an action, such as word.upos = AUX, word.head = verb or add verb @>nsubj word")
        if match[0] not in self._names:
            known = ", ".join(self._names) or "none; name a word with =name"
            raise self._error(f"the pattern names no word {match[0]!r}; it names {known}", self._at)
        self._at = match.end()
        return match[0]

    def _head(self) -> str:
        self._skip()
        if re.compile(r"0(?!\w)").match(self._text, self._at):
            self._at += 1
            return ROOT
        return self._named()

    def _cell(self) -> RuleCell:
        """Read the name of a column, a feature such as `Number`, or an entry of MISC such as `misc.Gloss`."""
        match = ATTRIBUTE.match(self._text, self._at)
        if match is None or match[0] == "$":
            raise self._error("expected a column, such as upos, lemma or relation, or a feature, such as Number")
        self._at = match.end()
        return self._cell_of(match[0], match.start())

    def _cell_of(self, name: str, at: int) -> RuleCell:
        column, _, part = name.partition(".")
        if column in WITH_PARTS and part:
            return RuleCell(column, part)
        if name[0].isupper() and "." not in name:
            return RuleCell("feats", name)
        if name in TEXT_ATTRIBUTES:
            return RuleCell(TEXT_ATTRIBUTES[name])
        known = sorted({*TEXT_ATTRIBUTES, "head"})
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}, and features such as Number"
        raise self._error(f"unknown column {name!r}; {hint}", at)

    def _expression(self) -> RuleValue:
        parts = [self._part()]
        while self._take("+"):
            parts.append(self._part())
        return tuple(parts)

    def _part(self) -> ValuePart:
        self._skip()
        start = self._at
        if re.compile(r"lower\s*\(").match(self._text, start):
            self._at = self._text.index("(", start) + 1
            inner = self._part()
            if not self._take(")"):
                raise self._error("expected ) after what is to be in small letters")
            return ValuePart(inner.text, inner.cell, lower=True)
        if self._text.startswith('"', start):
            text = re.sub(r"\\(.)", r"\1", self._delimited('"'))
            if not text or UNWRITABLE.search(text):
                raise self._error("a value has at least one character and no tab or line break", start)
            return ValuePart(text)
        match = BARE.match(self._text, start)
        if match is None:
            raise self._error('expected a value: a word, "text", or a column of a named word, such as verb.lemma')
        self._at = match.end()
        name, dot, attribute = match[0].partition(".")
        if not dot or not NAME.fullmatch(name):
            return ValuePart(match[0])
        if name not in self._names:
            known = ", ".join(self._names) or "none"
            raise self._error(f"the pattern names no word {name!r}, only {known}; put text with a dot in quotes", start)
        return ValuePart(name, self._cell_of(attribute, start + len(name) + 1) if attribute else None)

    def _arc(self, *, adds: bool) -> ChangeArc:
        head = self._head()
        if not self._take("@>"):
            raise self._error("expected @> after the head of an arc, as in add verb @>nsubj word")
        relation = self._relation()
        if adds and not relation:
            raise self._error("expected the relation of the new arc, as in add verb @>nsubj word")
        return ChangeArc(adds, head, relation, self._named())

    def _relation(self) -> RuleValue:
        """Read the relation of an arc; return an empty value if the name of the dependent comes instead."""
        if self._take("("):
            value = self._expression()
            if not self._take(")"):
                raise self._error("expected ) after the relation")
            return value
        if self._ahead('"'):
            return (self._part(),)
        match = BARE_RELATION.match(self._text, self._at)
        if match is None:
            return ()
        after = self._text[match.end() :].lstrip()
        if not NAME.match(after):  # it is the name of the dependent
            return ()
        self._at = match.end()
        return (ValuePart(match[0]),)
