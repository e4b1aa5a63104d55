"""Intervals that cover, p-values that are uniform where nothing differs, and draws that a seed repeats."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ropewalk.errors import MismatchError, OptionError
from ropewalk.scoring import attachment, significance
from ropewalk.scoring.attachment import Parts
from ropewalk.treebank import Treebank
from ropewalk.trees import Tree

EASE, SKILL = 6.0, (0.80, 0.84)  # how alike sentences are in difficulty, and the systems' expected shares right


def draw(rng: np.random.Generator, sentences: int, skill: tuple[float, float] = SKILL) -> tuple[Parts, Parts]:
    """Draw the counts of two systems on the same sentences, some of them harder than others for both."""
    words = rng.geometric(1 / 15, sentences)
    shared = rng.random((sentences, 1))
    rows = []
    for mean in skill:
        # Both systems take the same quantile of their own distribution of difficulty: they are correlated.
        grid = np.sort(np.random.default_rng(0).beta(EASE * mean, EASE * (1 - mean), 2000))
        rows.append(rng.binomial(words, grid[(shared[:, 0] * 2000).astype(int)]).astype(float))
    first, second = (Parts(row, words.astype(float)) for row in rows)
    return first, second


def truth() -> float:
    """The expected difference: the mean of each system's own distribution of difficulty, as it is drawn from."""
    means = [np.random.default_rng(0).beta(EASE * mean, EASE * (1 - mean), 2000).mean() for mean in SKILL]
    return float(means[1] - means[0])


def test_a_95_percent_interval_covers_the_truth_in_about_95_percent_of_draws() -> None:
    rng = np.random.default_rng(1)
    expected = truth()
    covered = 0
    for number in range(1000):
        first, second = draw(rng, 300)
        found = significance.compare([first], [second], samples=500, seed=number)[0].difference
        covered += found.low <= expected <= found.high
    assert 930 <= covered <= 970


def test_the_interval_of_one_system_covers_too() -> None:
    rng = np.random.default_rng(2)
    expected = np.random.default_rng(0).beta(EASE * SKILL[0], EASE * (1 - SKILL[0]), 2000).mean()
    covered = 0
    for number in range(1000):
        first, _ = draw(rng, 300)
        found = significance.intervals([first], samples=500, seed=number)[0]
        covered += found.low <= expected <= found.high
    assert 930 <= covered <= 970


def test_where_nothing_differs_few_p_values_are_small() -> None:
    rng = np.random.default_rng(3)
    found = [
        significance.compare(*([one] for one in draw(rng, 200, (0.8, 0.8))), samples=400, seed=number)[0]
        for number in range(400)
    ]
    for p_values in ([one.bootstrap_p for one in found], [one.randomization_p for one in found]):
        assert 0.02 <= np.mean(np.array(p_values) <= 0.05) <= 0.09
        assert 0.40 <= np.mean(np.array(p_values) <= 0.5) <= 0.60


def test_approximate_randomization_comes_near_the_exact_test() -> None:
    first = Parts(np.array([3, 5, 2, 8, 6, 4, 7, 1.0]), np.full(8, 10.0))
    second = Parts(np.array([5, 6, 2, 9, 9, 3, 9, 3.0]), np.full(8, 10.0))
    lead = second.numerators - first.numerators
    exact = np.mean([abs(lead @ np.array(signs)) >= lead.sum() for signs in product((1, -1), repeat=8)])
    found = significance.compare([first], [second], samples=20_000)[0]
    assert found.randomization_p == pytest.approx(exact, abs=0.01)
    assert found.difference.value == pytest.approx(lead.sum() / 80)


def test_a_score_with_denominators_of_its_own_is_exchanged_whole() -> None:
    """F1 such as CLAS: exchanging all sentences must give the difference with the other sign."""
    rng = np.random.default_rng(4)
    below = [rng.integers(5, 20, 40).astype(float) for _ in range(2)]
    first, second = (Parts(np.floor(some * rng.random(40)), some) for some in below)
    forth, back = significance.compare([first], [second])[0], significance.compare([second], [first])[0]
    assert forth.difference.value == pytest.approx(-back.difference.value)
    assert forth.bootstrap_p == back.bootstrap_p
    assert forth.randomization_p == pytest.approx(back.randomization_p, abs=0.02)
    assert (forth.difference.low, forth.difference.high) == pytest.approx((-back.difference.high, -back.difference.low))


def test_a_seed_repeats_the_draws_and_another_does_not() -> None:
    first, second = draw(np.random.default_rng(5), 50)
    found = significance.compare([first], [second], samples=500, seed=7)
    assert found == significance.compare([first], [second], samples=500, seed=7)
    assert found != significance.compare([first], [second], samples=500, seed=8)


def test_scores_compared_together_are_as_if_alone() -> None:
    first, second = draw(np.random.default_rng(6), 50)
    third, fourth = draw(np.random.default_rng(7), 50)
    together = significance.compare([first, third], [second, fourth], samples=500)
    alone = [significance.compare([a], [b], samples=500)[0] for a, b in [(first, second), (third, fourth)]]
    for one, other in zip(together, alone, strict=True):
        assert one.difference.low == pytest.approx(other.difference.low)
        assert (one.bootstrap_p, one.randomization_p) == (other.bootstrap_p, other.randomization_p)


def test_equal_systems_do_not_differ() -> None:
    first, _ = draw(np.random.default_rng(8), 50)
    found = significance.compare([first], [first], samples=500)[0]
    assert (found.difference.value, found.difference.low, found.difference.high) == (0, 0, 0)
    assert found.bootstrap_p == found.randomization_p == 1


def test_a_group_of_one_sentence_is_scored_where_it_is_drawn() -> None:
    rare = Parts(np.array([1.0, 0, 0, 0]), np.array([2.0, 0, 0, 0]))
    found = significance.intervals([rare], samples=500)[0]
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def test_the_sentences_that_differ_most_come_first() -> None:
    gold = Treebank.of([Tree([0, 1, 1]), Tree([0, 1]), Tree([2, 0]), Tree([0])])
    first = Treebank.of([Tree([0, 1, 2]), Tree([0, 1]), Tree([0, 1]), Tree([0])])
    ours, theirs = (attachment.score(gold, bank) for bank in (first, gold))
    assert significance.most_different(ours, theirs) == [(2, 2), (0, 1)]
    assert significance.most_different(theirs, ours, most=1) == [(2, -2)]


def test_what_makes_no_sense_is_refused() -> None:
    first, second = draw(np.random.default_rng(9), 5)
    other, _ = draw(np.random.default_rng(9), 6)
    with pytest.raises(OptionError, match="samples is 0"):
        significance.compare([first], [second], samples=0)
    with pytest.raises(OptionError, match="level is 95"):
        significance.intervals([first], level=95)
    with pytest.raises(MismatchError, match=r"\[5, 6\] sentences"):
        significance.compare([first], [other])
    with pytest.raises(MismatchError, match="1 scores of the first system and 0"):
        significance.compare([first], [])
    with pytest.raises(MismatchError, match="no sentences"):
        significance.intervals([Parts(np.zeros(0), np.zeros(0))])
