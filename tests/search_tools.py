"""A brute-force matcher of search patterns: every word of a sentence is tried for every node."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ropewalk.search.syntax import PatternRelation, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk import Sentence, Treebank, Word
    from ropewalk.search.syntax import Alternatives, PatternCondition, PatternGroup, PatternNode, PatternValue

    Bound = dict[str, int]
    Pending = tuple[tuple[int, PatternRelation], ...]

TEXTS = {"word": "form", "text": "form", "cpos": "upos", "tag": "xpos", "deprel": "relation", "feats": "feats_text"}


class BruteForce:
    """The matches of a pattern in one sentence."""

    def __init__(self, sentence: Sentence) -> None:
        self.words: list[Word] = list(sentence)
        self.heads = [word.head.index - 1 if word.head else -1 for word in self.words]
        graph = sentence.graph if sentence.treebank.source is not None else None
        self.arcs: list[tuple[str, str, str]] = []
        if graph is not None:
            names = {}
            number = minor = 0
            empties = sentence.treebank.kept("empties", lambda: __import__("ropewalk").deps.read(sentence.treebank))
            where = empties.offsets[sentence.number]
            for node, empty in enumerate(empties.empty[where].tolist(), 1):
                number, minor = (number, minor + 1) if empty else (number + 1, 0)
                names[node] = f"{number}.{minor}" if empty else str(number)
            rows = zip(graph.heads.tolist(), graph.dependents.tolist(), graph.relations, strict=True)
            self.arcs = [(names[h], names[d], r) for h, d, r in rows if h]

    def rows(self, pattern: str, names: tuple[str, ...]) -> set[tuple[int, ...]]:
        """Return the first word and the named ones of each match, from 0; -1 where there is none."""
        syntax = parse(pattern)
        out = set()
        for first, bound in self._joined(syntax.groups, {}):
            if not any(True for without in syntax.without for _ in self._joined(without, bound)):
                out.add((first, *(bound.get(name, -1) for name in names)))
        return out

    def _joined(self, groups: tuple[PatternGroup, ...], bound: Bound) -> Iterator[tuple[int, Bound]]:
        def more(left: tuple[PatternGroup, ...], now: Bound, pending: Pending) -> Iterator[tuple[Bound, Pending, int]]:
            for after, waiting, place in self._group(left[0], now, pending):
                if left[1:]:
                    yield from ((b, p, place) for b, p, _ in more(left[1:], after, waiting))
                else:
                    yield after, waiting, place

        for after, pending, place in more(groups, bound, ()):
            if all(self._counts(at, relation, after) for at, relation in pending):
                yield place, after

    def _counts(self, at: int, relation: PatternRelation, bound: Bound) -> bool:
        targets = {place for place, _ in self._joined((relation.target,), bound) if self._related(relation, at, place)}
        return (relation.fewest or 0) <= len(targets) <= relation.most

    def _group(self, group: PatternGroup, bound: Bound, pending: Pending) -> Iterator[tuple[Bound, Pending, int]]:
        name = group.node.name
        for at in [bound[name]] if name in bound else range(len(self.words)):
            if self._fits(group.node, at):
                now = {**bound, name: at} if name else bound
                for after, waiting in self._constraints(group.constraints, at, now, pending):
                    yield after, waiting, at

    def _constraints(
        self, constraints: tuple[PatternRelation | Alternatives, ...], at: int, bound: Bound, pending: Pending
    ) -> Iterator[tuple[Bound, Pending]]:
        if not constraints:
            yield bound, pending
            return
        one, left = constraints[0], constraints[1:]
        if not isinstance(one, PatternRelation):
            for choice in one.choices:
                yield from self._constraints((*choice, *left), at, bound, pending)
        elif one.fewest is not None:
            yield from self._constraints(left, at, bound, (*pending, (at, one)))
        else:
            for after, waiting, place in self._group(one.target, bound, pending):
                if self._related(one, at, place):
                    yield from self._constraints(left, at, after, waiting)

    def _fits(self, node: PatternNode, at: int) -> bool:
        return all(self._holds(one, at) is not one.negated for one in node.conditions) is not node.negated

    def _holds(self, condition: PatternCondition, at: int) -> bool:
        word, name = self.words[at], condition.attribute
        if name == "$":
            return word.head is None
        numbers: dict[str, Any] = {
            "position": word.index,
            "depth": len(self._above(at)),
            "children": self.heads.count(at),
            "probability": word.probability,
            "length": len(self.words),
        }
        if name in numbers:
            number = numbers[name]
            if number is None or not condition.values:
                return number is not None
            values = [float(value.text) for value in condition.values]
            first = values[0]
            return {  # type: ignore[no-any-return]
                ":": number in values, "<": number < first, ">": number > first, "<=": number <= first,
                ">=": number >= first,
            }[condition.comparison]  # fmt: skip
        if name[0].isupper() or name.startswith("feats."):
            text = word.feats.get(name.removeprefix("feats."))
        else:
            text = getattr(word, TEXTS.get(name, name))
            if not condition.values:
                return bool(text != "_")
        return text is not None and (not condition.values or any(_equal(text, value) for value in condition.values))

    def _above(self, at: int) -> list[int]:
        out = []
        while self.heads[at] >= 0:
            at = self.heads[at]
            out.append(at)
        return out

    def _related(self, relation: PatternRelation, a: int, b: int) -> bool:
        sign = relation.operator
        low, high = relation.bounds or (1, 10**9)
        if sign[0] == "<":
            flipped = {"<": ">", "<<": ">>", "<++": ">--", "<--": ">++"}[sign]
            a, b, sign = b, a, flipped
        label = self.words[b].relation
        labelled = not relation.labels or any(_equal(label, value) for value in relation.labels)
        if relation.enhanced:
            return self._arc(sign, relation.labels, str(a + 1), str(b + 1))
        siblings = a != b and self.heads[a] == self.heads[b] >= 0
        below = [a, *self._above(a)], [b, *self._above(b)]
        tops = [chain[-2] if len(chain) > 1 else chain[0] for chain in below]
        steps = below[1].index(a) if a in below[1] else -1
        return {
            ">": self.heads[b] == a and labelled,
            ">++": self.heads[b] == a and labelled and a < b,
            ">--": self.heads[b] == a and labelled and a > b,
            ">>": steps >= 0 and low <= steps <= high and labelled,
            "$": siblings,
            "$+": siblings and b == a + 1,
            "$-": siblings and b == a - 1,
            "$++": siblings and b > a,
            "$--": siblings and b < a,
            ".": b == a + 1,
            "-": b == a - 1,
            "..": low <= b - a <= high,
            "--": low <= a - b <= high,
            "==": a == b,
            "!=": a != b,
            "~": tops[0] == tops[1],
        }[sign]

    def _arc(self, sign: str, labels: tuple[PatternValue, ...], a: str, b: str) -> bool:
        if sign == "$":
            heads = [{h for h, d, _ in self.arcs if d == node} for node in (a, b)]
            return a != b and bool(heads[0] & heads[1])
        reached = {h for h, d, r in self.arcs if d == b and (not labels or any(_equal(r, one) for one in labels))}
        if sign == ">":
            return a in reached
        while more := {h for h, d, _ in self.arcs if d in reached} - reached:
            reached |= more
        return a in reached


def _equal(text: str, value: PatternValue) -> bool:
    if value.expression is not None:
        return bool(re.fullmatch(value.text, text, re.IGNORECASE if value.ignore_case else 0))
    if value.ignore_case:
        return text.casefold() == value.text.casefold()
    return text == value.text or (value.subtypes and text.startswith(f"{value.text}:"))


def brute_force(treebank: Treebank, pattern: str, names: tuple[str, ...]) -> list[tuple[int, ...]]:
    """Return the rows that `treebank.search(pattern).rows` should have."""
    out = []
    for sentence in treebank:
        start = treebank.offsets[sentence.number].start
        rows = BruteForce(sentence).rows(pattern, names)
        out += sorted(tuple(at + start if at >= 0 else -1 for at in row) for row in rows)
    return sorted(out)
