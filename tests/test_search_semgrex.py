"""The patterns of docs/search.md find what Semgrex means by its own, by a small implementation of that meaning."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from conftest import REPOSITORY
from ropewalk import conllu, search

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ropewalk import Sentence, Treebank

PAGE = (REPOSITORY / "docs" / "search.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", PAGE[PAGE.index("## Semgrex and ours") :], flags=re.MULTILINE)
TOKENS = re.compile(r"(!?)\{(.*?)\}(?:=(\w+))?|(!?)(\d+,\d+)?(<<|>>|\$\+|\$--|[<>.-])(/[^/]*/|\w+)?|([():])")
COLUMNS = {"cpos": "upos", "word": "form", "lemma": "lemma"}
Bound = dict[str, int]


class Semgrex:
    """Nodes, `:`, parentheses, negated relations without names, and the relations that the page shows."""

    def __init__(self, pattern: str, sentence: Sentence) -> None:
        assert TOKENS.sub("", pattern).strip() == ""
        self.tokens = [match.groups() for match in TOKENS.finditer(pattern)]
        self.words = list(sentence)
        self.heads = [word.head.index - 1 if word.head else None for word in self.words]

    def matches(self) -> set[tuple[tuple[str, int], ...]]:
        found: list[Bound] = [{}]
        at = 0
        while at < len(self.tokens):
            results = [result for bound in found for result in self.group(at, bound)]
            if not results:
                return set()
            at = results[0][2] + 1
            found = [bound for bound, _, _ in results]
        return {tuple(sorted(bound.items())) for bound in found}

    def group(self, at: int, bound: Bound) -> Iterator[tuple[Bound, int, int]]:
        """Match the node at a token and what follows it; yield names, its word and the token after the group."""
        negated, conditions, name = self.tokens[at][:3]
        for word in range(len(self.words)):
            fits = all(self.fits(one, word) for one in conditions.split(";") if one) is not bool(negated)
            if fits and bound.get(name, word) == word:
                yield from self.relations(at + 1, word, {**bound, name: word} if name else bound)

    def relations(self, at: int, word: int, bound: Bound) -> Iterator[tuple[Bound, int, int]]:
        if at == len(self.tokens) or self.tokens[at][7]:
            yield bound, word, at
            return
        _, _, _, negated, distance, sign, label, _ = self.tokens[at]
        deeper = self.tokens[at + 1][7] == "("
        single = at + 2 if deeper else at + 1
        results = []
        for other in range(len(self.words)):
            if self.related(sign, distance, label, word, other):
                inner = self.group(single, bound) if deeper else self.node(single, bound)
                results += [(now, after) for now, place, after in inner if place == other]
        if negated:
            if not results:
                yield from self.relations(at + 2, word, bound)
            return
        for now, after in results:
            yield from self.relations(after + 1 if deeper else after, word, now)

    def node(self, at: int, bound: Bound) -> list[tuple[Bound, int, int]]:
        alone = Semgrex.__new__(Semgrex)
        alone.tokens, alone.words, alone.heads = self.tokens[: at + 1], self.words, self.heads
        return list(alone.group(at, bound))

    def fits(self, condition: str, at: int) -> bool:
        if condition == "$":
            return self.heads[at] is None
        name, value = condition.split(":", 1)
        return equal(getattr(self.words[at], COLUMNS[name]), value)

    def above(self, at: int) -> list[int]:
        head = self.heads[at]
        return [] if head is None else [head, *self.above(head)]

    def related(self, sign: str, distance: str | None, label: str | None, a: int, b: int) -> bool:
        if sign in {"<", "<<"}:
            return self.related(sign.replace("<", ">"), distance, label, b, a)
        low, high = map(int, distance.split(",")) if distance else (1, 999)
        labelled = not label or equal(self.words[b].relation, label)
        siblings = self.heads[a] is not None and self.heads[a] == self.heads[b]
        return {
            ">": self.heads[b] == a and labelled,
            ">>": a in self.above(b) and low <= self.above(b).index(a) + 1 <= high and labelled,
            ".": a + 1 == b,
            "-": a - 1 == b,
            "$+": siblings and a + 1 == b,
            "$--": siblings and b < a,
        }[sign]


def equal(text: str, value: str) -> bool:
    return bool(re.fullmatch(value[1:-1], text)) if value.startswith("/") else text == value


def test_the_page_has_twenty_patterns() -> None:
    assert len(ROWS) == 20


@pytest.mark.parametrize(("semgrex", "ours"), ROWS)
def test_both_find_the_same(semgrex: str, ours: str) -> None:
    assert compared(conllu.read(REPOSITORY / "examples" / "sample.conllu"), semgrex, ours), (
        "the sample has no such thing"
    )


@pytest.mark.treebanks
@pytest.mark.parametrize(("semgrex", "ours"), ROWS)
def test_both_find_the_same_in_ewt(semgrex: str, ours: str, treebanks: Path) -> None:
    bank = conllu.read(treebanks / "UD_English-EWT" / "en_ewt-ud-dev.conllu")
    some = [number for number, length in enumerate(bank.lengths.tolist()) if 2 < length < 22][::8]
    assert len(some) > 100
    compared(bank.select(some), semgrex, ours)


def compared(bank: Treebank, semgrex: str, ours: str) -> int:
    """Assert that both patterns find the same words in every sentence, and return the number of matches."""
    total = 0
    for sentence in bank:
        expected = Semgrex(semgrex, sentence).matches()
        found = sentence.search(search.compile(ours))
        assert {
            tuple(sorted((name, word.index - 1) for name, word in match.words.items())) for match in found
        } == expected
        total += len(expected)
    return total
