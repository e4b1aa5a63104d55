"""The syntax of patterns: a recursive-descent parser with errors that point at a character.

docs/search.md has the grammar.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, TypeVar

from ropewalk.errors import PatternError
from ropewalk.search.expressions import Expression

Choice = TypeVar("Choice")

LONGEST: Final = 10_000  # characters of a pattern
DEEPEST: Final = 30  # groups in groups
MOST_ALTERNATIVES: Final = 64
UNBOUNDED: Final = 1 << 30

TEXT_ATTRIBUTES: Final = {  # attribute: column
    "form": "form",
    "word": "form",
    "text": "form",
    "lemma": "lemma",
    "upos": "upos",
    "cpos": "upos",
    "xpos": "xpos",
    "tag": "xpos",
    "feats": "feats",
    "relation": "deprel",
    "deprel": "deprel",
    "misc": "misc",
}
NUMBER_ATTRIBUTES: Final = ("position", "depth", "children", "probability", "length")
OPERATORS: Final = (  # the longer ones first
    ">++", ">--", "<++", "<--", "$++", "$--", ">>", "<<", "$+", "$-", "..", "--", "==", "!=", ">", "<", "$", ".", "-",
    "~",
)  # fmt: skip
WITH_LABELS: Final = frozenset({">", "<", ">>", "<<", ">++", ">--", "<++", "<--"})
WITH_BOUNDS: Final = frozenset({">>", "<<", "..", "--"})
OF_GRAPHS: Final = frozenset({">", "<", ">>", "<<", "$"})
NAME: Final = re.compile(r"[^\W\d]\w*")
ATTRIBUTE: Final = re.compile(r"[^\W\d][\w.]*(?:\[\w+\])?|\$")
COMPARISON: Final = re.compile(r"!:|!=|<=|>=|<|>|:|=")
BARE_VALUE: Final = re.compile(r'[^\s;,{}|"/][^\s;,{}|"]*')
BARE_LABEL: Final = re.compile(r'[^\s;{}|"/&()\[\]=!][^\s;{}|"&()\[\]=!]*')
NUMBER: Final = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,9})?")
BOUNDS: Final = re.compile(r"(\d{1,6})?(,)?(\d{1,6})?")


@dataclass(frozen=True, slots=True)
class PatternValue:
    """A value that texts are compared with: they must equal `text`, or match the regular `expression` if there is one.

    With `subtypes`, texts that begin with `text` and a colon fit too.
    """

    text: str
    expression: Expression | None = None
    subtypes: bool = False
    ignore_case: bool = False


@dataclass(frozen=True, slots=True)
class PatternCondition:
    """A condition on one word: its `attribute` must compare with one of `values`, for instance with `:` or `<`.

    Without values, the word must have the attribute. With `negated`, the condition must not hold. `position` is the
    index of the condition in the pattern's text.
    """

    attribute: str
    comparison: str
    values: tuple[PatternValue, ...]
    position: int
    negated: bool = False


@dataclass(frozen=True, slots=True)
class PatternNode:
    """A node of a pattern, which matches one word: all `conditions` hold, or with `negated` at least one does not."""

    name: str
    conditions: tuple[PatternCondition, ...]
    negated: bool
    position: int


@dataclass(frozen=True, slots=True)
class PatternRelation:
    """A relation from a node of a pattern to the node of `target`.

    If `fewest` is None, the relation must hold, and its target is part of the match. Otherwise the relation is counted:
    it must hold to at least `fewest` and at most `most` words, which are not part of the match. `bounds` limits the
    distance. With `enhanced`, the relation is one of the enhanced graph. `labels` are the allowed relations of the arc.
    """

    operator: str
    enhanced: bool
    bounds: tuple[int, int] | None
    labels: tuple[PatternValue, ...]
    target: PatternGroup
    fewest: int | None
    most: int
    position: int


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Alternatives in a pattern, such as `[>nsubj {} | >csubj {}]`: at least one of the `choices` must hold.

    A choice is a list of constraints, all of which must hold.
    """

    choices: tuple[tuple[PatternRelation | Alternatives, ...], ...]
    position: int


@dataclass(frozen=True, slots=True)
class PatternGroup:
    """A node of a pattern with its constraints: relations to other nodes, and alternatives of such relations."""

    node: PatternNode
    constraints: tuple[PatternRelation | Alternatives, ...]


@dataclass(frozen=True, slots=True)
class PatternSyntax:
    """A parsed pattern: all `groups` must match, and none of the lists of groups in `without` may match.

    Nodes of the same name are the same word.
    """

    text: str
    groups: tuple[PatternGroup, ...]
    without: tuple[tuple[PatternGroup, ...], ...]


def parse(text: str) -> PatternSyntax:
    """Parse a pattern; raise a `PatternError` that points at the character where parsing failed."""
    return PatternParser(text).read()


def alternatives(groups: tuple[PatternGroup, ...], text: str) -> list[tuple[PatternGroup, ...]]:
    """Return all ways to choose among the alternatives of `groups`, each as groups without alternatives.

    The pattern matches where one of them matches. `text` is the pattern's text, for errors.
    """
    choices = [_choices(group, text) for group in groups]
    out = [tuple(choice) for choice in _product(choices, text, groups[0].node.position)]
    return [tuple(_spread(group, text) for group in choice) for choice in out]


def _choices(group: PatternGroup, text: str) -> list[PatternGroup]:
    """Return a copy of `group` for each way to choose among its alternatives.

    Targets of negated and counted relations keep their alternatives.
    """
    lists = [_constraint_choices(constraint, text) for constraint in group.constraints]
    combined = _product(lists, text, group.node.position)
    return [
        replace(group, constraints=tuple(constraint for part in choice for constraint in part)) for choice in combined
    ]


def _constraint_choices(
    constraint: PatternRelation | Alternatives, text: str
) -> list[tuple[PatternRelation | Alternatives, ...]]:
    if isinstance(constraint, PatternRelation):
        if constraint.fewest is not None:
            return [(constraint,)]
        return [(replace(constraint, target=target),) for target in _choices(constraint.target, text)]
    out: list[tuple[PatternRelation | Alternatives, ...]] = []
    for choice in constraint.choices:
        lists = [_constraint_choices(member, text) for member in choice]
        out += [
            tuple(member for part in parts for member in part) for parts in _product(lists, text, constraint.position)
        ]
    return out


def _spread(group: PatternGroup, text: str) -> PatternGroup:
    """Replace each negated relation whose target has alternatives with one negated relation for each of them.

    Raise a `PatternError` if the relation is counted instead of negated.
    """
    out: list[PatternRelation | Alternatives] = []
    for constraint in group.constraints:
        assert isinstance(constraint, PatternRelation)  # noqa: S101 - for the type checker
        targets = [_spread(target, text) for target in _choices(constraint.target, text)]
        if len(targets) > 1 and constraint.most > 0:
            raise PatternError("what is counted cannot have alternatives", text, constraint.position)
        out += [replace(constraint, target=target) for target in targets]
    return replace(group, constraints=tuple(out))


def _product(lists: list[list[Choice]], text: str, position: int) -> list[tuple[Choice, ...]]:
    count = 1
    for choices in lists:
        count *= len(choices)
    if count > MOST_ALTERNATIVES:
        raise PatternError(
            f"the alternatives make {count:,} patterns; at most {MOST_ALTERNATIVES} are allowed", text, position
        )
    return list(product(*lists))


class PatternParser:
    """A recursive-descent parser of the text of a pattern."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise PatternError(f"a pattern is text; found {type(text).__name__}", "", 0)
        if len(text) > LONGEST:
            raise PatternError(f"the pattern has {len(text):,} characters; at most {LONGEST:,} are read", text, LONGEST)
        self._text = text
        self._at = 0
        self._depth = 0
        self._positions = 0  # of all regular expressions so far

    def read(self, stop: str = "") -> PatternSyntax:
        """Parse the pattern up to the end of the text, or up to `stop`, and return its syntax."""
        groups = self._joined()
        without = []
        while self._word("without"):
            without.append(self._joined())
        self._skip()
        if self._text[self._at :].startswith(stop) if stop else self._at == len(self._text):
            return PatternSyntax(self._text, groups, tuple(without))
        next_sign = repr(self._text[self._at]) if self._at < len(self._text) else "the end"
        raise self._error(f"found {next_sign}; expected a relation, such as >nsubj, or {stop or 'the end'}")

    def _error(self, message: str, at: int | None = None) -> PatternError:
        return PatternError(message, self._text, self._at if at is None else at)

    def _skip(self) -> None:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1

    def _ahead(self, sign: str) -> bool:
        self._skip()
        return self._text.startswith(sign, self._at)

    def _take(self, sign: str) -> bool:
        is_ahead = self._ahead(sign)
        self._at += len(sign) * is_ahead
        return is_ahead

    def _word(self, word: str) -> bool:
        self._skip()
        match = NAME.match(self._text, self._at)
        if match is None or match[0] != word:
            return False
        self._at = match.end()
        return True

    def _joined(self) -> tuple[PatternGroup, ...]:
        groups = [self._group()]
        while self._take(":"):
            groups.append(self._group())
        return tuple(groups)

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._error(f"groups are nested more than {DEEPEST} deep")

    def _group(self) -> PatternGroup:
        inner = self._target()
        node, constraints = inner.node, list(inner.constraints)
        while (constraint := self._constraint()) is not None:
            constraints.append(constraint)
        return PatternGroup(node, tuple(constraints))

    def _target(self) -> PatternGroup:
        if self._ahead("("):
            start = self._at
            self._at += 1
            self._deeper()
            group = self._group()
            self._depth -= 1
            if not self._take(")"):
                raise self._error("found ( without a ) after it", start)
            return group
        return PatternGroup(self._node(), ())

    def _node(self) -> PatternNode:
        self._skip()
        start = self._at
        negated = self._take("!")
        if not self._take("{"):
            next_sign = repr(self._text[self._at]) if self._at < len(self._text) else "the end"
            raise self._error(f"found {next_sign}; expected a node, such as {{upos:VERB}} or {{}}")
        conditions: list[PatternCondition] = []
        while not self._take("}"):
            if conditions and not (self._take(";") or self._take(",") or self._take("&")):
                raise self._error("expected ; between conditions or } at their end")
            if self._take("}"):
                break
            conditions.append(self._condition())
        name = ""
        if not self._ahead("=>") and self._take("="):
            self._skip()
            found_name = NAME.match(self._text, self._at)
            if found_name is None:
                raise self._error("expected a name after =, such as =verb")
            name = found_name[0]
            self._at = found_name.end()
        return PatternNode(name, tuple(conditions), negated, start)

    def _condition(self) -> PatternCondition:
        self._skip()
        negated = self._take("!")
        self._skip()
        start = self._at
        match = ATTRIBUTE.match(self._text, start)
        if match is None:
            raise self._error("expected an attribute, such as lemma, upos, relation or Number")
        attribute = match[0]
        self._demand_attribute(attribute, start)
        self._at = match.end()
        self._skip()
        sign = COMPARISON.match(self._text, self._at)
        if sign is None or attribute == "$":
            return PatternCondition(attribute, "", (), start, negated)
        self._at = sign.end()
        comparison = {"=": ":", "!=": "!:"}.get(sign[0], sign[0])
        if comparison == "!:":
            negated, comparison = not negated, ":"
        begins = self._at
        values = self._values(BARE_VALUE)
        if attribute in NUMBER_ATTRIBUTES:
            for value in values:
                _demand_number(value, self._text, begins)
        elif comparison != ":":
            raise self._error(f"{attribute} is text and has no order; expected : or !:", sign.start())
        if len(values) > 1 and comparison != ":":
            raise self._error(f"expected one number after {comparison}", begins)
        return PatternCondition(attribute, comparison, values, start, negated)

    def _demand_attribute(self, name: str, at: int) -> None:
        known = [*TEXT_ATTRIBUTES, *NUMBER_ATTRIBUTES]
        if name == "$" or name in known or name[0].isupper() or name.startswith(("feats.", "misc.")):
            return
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}, and features such as Number"
        raise self._error(f"unknown attribute {name!r}; {hint}", at)

    def _values(self, bare: re.Pattern[str]) -> tuple[PatternValue, ...]:
        values = [self._value(bare)]
        while self._text.startswith("|", self._at):
            self._at += 1
            values.append(self._value(bare))
        return tuple(values)

    def _value(self, bare: re.Pattern[str]) -> PatternValue:
        self._skip()
        start = self._at
        if start < len(self._text) and self._text[start] in '/"':
            text = self._delimited(self._text[start])
            ignore_case = self._text.startswith("i", self._at)
            self._at += ignore_case
            if self._text[start] == '"':
                return PatternValue(re.sub(r"\\(.)", r"\1", text), ignore_case=ignore_case)
            expression = Expression(
                text,
                ignore_case=ignore_case,
                pattern=self._text,
                begins=start + 1,
                positions_before=self._positions,
            )
            self._positions += expression.positions
            return PatternValue(text, expression, ignore_case=ignore_case)
        match = bare.match(self._text, start)
        if match is None:
            raise self._error('expected a value: a word, "text" or /regular expression/')
        self._at = match.end()
        if match[0].endswith(":*"):
            return PatternValue(match[0][:-2], subtypes=True)
        return PatternValue(match[0])

    def _delimited(self, sign: str) -> str:
        start = self._at
        at = start + 1
        while at < len(self._text) and self._text[at] != sign:
            at += 2 if self._text[at] == "\\" else 1
        if at >= len(self._text):
            raise self._error(f"found {sign} without another {sign} after it", start)
        self._at = at + 1
        return self._text[start + 1 : at]

    def _constraint(self) -> PatternRelation | Alternatives | None:
        self._take("&")
        if self._ahead("["):
            return self._alternatives()
        self._skip()
        start = self._at
        negated = self._ahead("!") and not re.match(r"!=(?!=)", self._text[start : start + 3])
        self._at += negated
        fewest, most = (0, 0) if negated else (None, 0)
        if self._take("#"):
            if negated:
                raise self._error("a count is not negated; use #0,… instead", start)
            fewest, most = self._bounds(expected=True)
        enhanced = self._take("@")
        self._skip()
        digits = self._text[self._at : self._at + 1]
        bounds = self._bounds(expected=False) if digits.isdecimal() or digits == "," else None
        self._skip()
        operator = next((sign for sign in OPERATORS if self._text.startswith(sign, self._at)), None)
        if operator is None:
            if self._at > start:
                raise self._error("expected a relation, such as >, <<, $+ or ..")
            return None
        if enhanced and operator not in OF_GRAPHS:
            raise self._error(f"@ goes with {' '.join(sorted(OF_GRAPHS))}, not with {operator}")
        if bounds is not None and (operator not in WITH_BOUNDS or enhanced):
            raise self._error(f"a distance goes with {' '.join(sorted(WITH_BOUNDS))} of trees, not with {operator}")
        self._at += len(operator)
        labels = self._labels(operator)
        return PatternRelation(operator, enhanced, bounds, labels, self._target(), fewest, most, start)

    def _labels(self, operator: str) -> tuple[PatternValue, ...]:
        self._skip()
        if self._at >= len(self._text) or self._text[self._at] in "{(!":
            return ()
        if operator not in WITH_LABELS:
            raise self._error(f"{operator} takes no relation; expected a node, such as {{}}")
        return self._values(BARE_LABEL)

    def _bounds(self, *, expected: bool) -> tuple[int, int]:
        match = BOUNDS.match(self._text, self._at)
        if match is None or not match[0] or match[0] == ",":
            raise self._error("expected numbers, such as 2 or 2,4 or 2,")
        low = int(match[1] or 0)
        high = int(match[3]) if match[3] else UNBOUNDED if match[2] else low
        if high < low or (expected and match[0] == "0,"):
            raise self._error("the bounds hold for any number or for none; expected low,high")
        self._at = match.end()
        return low, high

    def _alternatives(self) -> Alternatives:
        self._skip()
        start = self._at
        self._at += 1
        self._deeper()
        choices = []
        while True:
            choice = []
            while (constraint := self._constraint()) is not None:
                choice.append(constraint)
            if not choice:
                raise self._error("expected a relation, such as >nsubj {}")
            choices.append(tuple(choice))
            if self._take("|"):
                continue
            if self._take("]"):
                break
            raise self._error("found [ without a ] after it", start)
        self._depth -= 1
        return Alternatives(tuple(choices), start)


def _demand_number(value: PatternValue, pattern: str, at: int) -> None:
    """Raise a `PatternError` unless `value` is a number; `at` is its index in the text of `pattern`."""
    if value.expression is not None or not NUMBER.fullmatch(value.text) or value.subtypes:
        raise PatternError(f"found {value.text!r}; expected a number", pattern, at)
