"""Lemma rules: they give back what they were made of, and fit or say that they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk import conllu
from ropewalk.morphology.lemmas import apply_rule, frequent_rules, lemma_rule

if TYPE_CHECKING:
    from pathlib import Path

texts = st.text(min_size=1, max_size=12)


@given(texts, texts)
def test_a_rule_gives_back_the_lemma_it_was_made_of(form: str, lemma: str) -> None:
    assert apply_rule(lemma_rule(form, lemma), form) == lemma


@given(texts, texts, st.text(max_size=12))
def test_a_rule_fits_another_word_or_says_that_it_does_not(form: str, lemma: str, other: str) -> None:
    found = apply_rule(lemma_rule(form, lemma), other)
    assert found is None or found


@pytest.mark.parametrize(
    ("form", "lemma", "rule"),
    [
        ("ropes", "rope", "lower|-0+|-1+"),
        ("Cities", "city", "lower|-0+|-3+y"),
        ("was", "be", "=be"),
        ("are", "be", "=be"),  # one shared letter that stands elsewhere counts for nothing
        ("Whitby", "Whitby", "same|-0+|-0+"),
        ("WHITBY", "Whitby", "title|-0+|-0+"),
        ("nasa", "NASA", "upper|-0+|-0+"),
        ("an", "a", "lower|-0+|-1+"),
        ("geknüpft", "knüpfen", "lower|-2+|-1+en"),
        ("McAdams", "McAdam", "same|-0+|-1+"),
        ("İpler", "ip", "lower|-0+|-3+"),  # a capital whose lower case is two characters long
        ("x|y", "x|y", "lower|-0+|-0+"),
        ("a", "b|c", "=b|c"),
    ],
)
def test_rules_are_the_simplest(form: str, lemma: str, rule: str) -> None:
    assert lemma_rule(form, lemma) == rule
    assert apply_rule(rule, form) == lemma


@pytest.mark.parametrize(
    "rule", ["lower|-3+|-0+", "lower|-1+|-2+", "lower|-0+|-2+", "=", "odd|-0+|-0+", "lower", "lower|1|2"]
)
def test_a_rule_that_does_not_fit_gives_nothing(rule: str) -> None:
    assert apply_rule(rule, "ab") is None


def test_rare_rules_are_left_out() -> None:
    pairs = [("ropes", "rope"), ("knots", "knot"), ("was", "be"), ("ropes", "rope")]
    assert frequent_rules(pairs, 1) == ("lower|-0+|-1+", "=be")
    assert frequent_rules(pairs, 2) == ("lower|-0+|-1+",)


@pytest.mark.treebanks
def test_all_lemmas_of_the_treebanks_come_back(treebanks: Path) -> None:
    for path in sorted(treebanks.glob("*/*-train.conllu")):
        bank = conllu.read(path)
        pairs = set(zip(bank.column("form").texts(), bank.column("lemma").texts(), strict=True))
        wrong = [(form, lemma) for form, lemma in pairs if apply_rule(lemma_rule(form, lemma), form) != lemma]
        assert len(pairs) > 1000
        assert wrong == []
