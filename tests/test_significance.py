"""Intervals that cover, p-values that are uniform where nothing differs, and draws that a seed repeats."""

from __future__ import annotations

import statistics
from itertools import product

import numpy as np
import pytest

from ropewalk.core.trees import Tree
from ropewalk.errors import MismatchError, OptionError
from ropewalk.scoring import attachment, significance
from ropewalk.scoring.attachment import Parts
from ropewalk.treebank.treebank import Treebank

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
    first, second = (Parts(np.array([right, 0, 0, 0]), np.array([2.0, 0, 0, 0])) for right in (1.0, 2.0))
    found = significance.compare([first], [second], samples=500)[0].difference
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def draw_seeds(
    rng: np.random.Generator, seeds: int, effects: tuple[float, float, float], sentences: int = 200
) -> list[list[list[Parts]]]:
    """Draw outputs of two equal systems for some seeds.

    `effects` are the standard deviations of what a system has of its own on a sentence, of what a seed is better by on
    all, and of what an output has of its own on a sentence of fifteen words.
    """
    own, by_seed, rest = effects
    words = rng.geometric(1 / 15, sentences).astype(float)
    shared = 0.8 + 0.1 * rng.standard_normal(sentences)
    systems = []
    for _ in range(2):
        system = shared + own * rng.standard_normal(sentences)
        rates = [
            system + by_seed * rng.standard_normal() + rest * np.sqrt(15 / words) * rng.standard_normal(sentences)
            for _ in range(seeds)
        ]
        systems.append([[Parts(words * rate, words)] for rate in rates])
    return systems


@pytest.mark.parametrize(
    ("seeds", "effects"),
    [
        (3, (0.05, 0.003, 0.12)),  # much as of real parsers: outputs differ more by sentence than by seed
        (3, (0.01, 0.02, 0.02)),  # seeds decide
        (2, (0.01, 0.02, 0.02)),
    ],
)
def test_where_systems_over_seeds_are_equal_few_p_values_of_the_bootstrap_are_small(
    seeds: int, effects: tuple[float, float, float]
) -> None:
    rng = np.random.default_rng(10)
    p_values = np.array(
        [
            significance.compare_seeds(*draw_seeds(rng, seeds, effects), samples=200, seed=number)[0].bootstrap_p
            for number in range(300)
        ]
    )
    assert 0.02 <= np.mean(p_values <= 0.05) <= 0.09
    assert 0.40 <= np.mean(p_values <= 0.5) <= 0.60


def test_randomization_is_about_the_models_that_were_trained() -> None:
    """Where no seed is better than another its p-values are right; where seeds decide, it finds these models unlike."""
    rng = np.random.default_rng(11)
    equal, unlike = (
        np.array(
            [
                significance.compare_seeds(*draw_seeds(rng, 3, effects), samples=200, seed=number)[0].randomization_p
                for number in range(200)
            ]
        )
        for effects in ((0.05, 0.0, 0.12), (0.01, 0.02, 0.02))
    )
    assert 0.01 <= np.mean(equal <= 0.05) <= 0.09
    assert np.mean(unlike <= 0.05) > 0.6


def test_seeds_that_differ_by_as_much_on_every_sentence_give_the_t_test() -> None:
    """Then sentences add nothing, and with three seeds each Student's t has four degrees of freedom."""
    words = np.full(20, 10.0)
    first, second = (
        [[Parts(words * rate, words)] for rate in rates] for rates in ((0.5, 0.52, 0.56), (0.55, 0.6, 0.57))
    )
    (found,) = significance.compare_seeds(first, second, samples=40_000)
    rates = np.array([[0.5, 0.52, 0.56], [0.55, 0.6, 0.57]])
    error = np.sqrt(rates.var(axis=1, ddof=1).mean() * 2 / 3)
    t = (rates[1].mean() - rates[0].mean()) / error
    part = t / np.sqrt(1 + t * t / 4)
    below = 0.5 + 3 / 8 * part * (1 - part * part / 12)  # the distribution function for four degrees of freedom
    assert found.bootstrap_p == pytest.approx(2 * (1 - below), abs=0.01)
    assert found.difference.value == pytest.approx(rates[1].mean() - rates[0].mean())
    assert found.difference.high - found.difference.value == pytest.approx(2.776 * error, rel=0.05)
    assert (found.first_deviation, found.second_deviation) == pytest.approx(tuple(rates.std(axis=1, ddof=1)))


def test_the_variance_of_seeds_is_that_of_the_analysis_of_variance() -> None:
    """Against loops: the mean square between seeds, less that of what neither seed nor sentence explains."""
    rng = np.random.default_rng(12)
    counts = [rng.integers(0, 10, (seeds, 30)) + 2.0 * np.arange(seeds)[:, None] for seeds in (3, 2)]
    squares = 0.0
    for count in counts:
        rates = count / 10
        for seed in range(len(rates)):
            squares += (rates[seed].mean() - rates.mean()) ** 2
            squares -= sum(
                (rates[seed, n] - rates[seed].mean() - rates[:, n].mean() + rates.mean()) ** 2 for n in range(30)
            ) / (30 * 29)
    variance = squares / 3 * (1 / 3 + 1 / 2)
    assert variance > 0
    systems = [[[Parts(row, np.full(30, 10.0))] for row in count] for count in counts]
    (apart,) = significance.compare_seeds(*systems, samples=40_000)
    means = [[Parts(count.mean(axis=0), np.full(30, 10.0))] for count in counts]
    (together,) = significance.compare(*means, samples=40_000)
    assert apart.difference.value == pytest.approx(together.difference.value)
    assert apart.randomization_p == pytest.approx(together.randomization_p, abs=0.01)
    rows = np.stack([count.mean(axis=0) for count in counts]) / 10
    by_sentences = (rows[1] - rows[0]).var() / 30
    # Sentences are close to normal, seeds follow t with three degrees of freedom, of variance 3.
    drawn = rng.standard_normal(200_000) * np.sqrt(by_sentences) + rng.standard_t(3, 200_000) * np.sqrt(variance)
    half = np.quantile(np.abs(drawn), 0.95)
    assert (apart.difference.high - apart.difference.low) / 2 == pytest.approx(half, rel=0.06)


def test_seeds_that_say_the_same_are_as_one() -> None:
    first, second = draw(np.random.default_rng(13), 60)
    (one,) = significance.compare([first], [second], samples=500)
    (three,) = significance.compare_seeds([[first]] * 3, [[second]] * 3, samples=500)
    assert three.difference.low == pytest.approx(one.difference.low)
    assert (three.bootstrap_p, three.randomization_p) == (one.bootstrap_p, one.randomization_p)
    assert one.first_deviation is None
    assert three.first_deviation == pytest.approx(0.0)


def test_all_outputs_of_a_sentence_are_exchanged_together() -> None:
    """Against all exchanges of few sentences, with denominators of each output's own, as those of CLAS."""
    rng = np.random.default_rng(14)
    below = rng.integers(4, 12, (2, 3, 6)).astype(float)
    above = np.floor(below * rng.random((2, 3, 6)))
    above[1] = np.minimum(above[1] + 2, below[1])

    def difference(signs: tuple[int, ...]) -> float:
        out = []
        for one, other in product(range(3), repeat=2):
            exchanged = np.array(signs, dtype=bool)
            sides = [
                np.where(exchanged, table[1 - side, (one, other)[1 - side]], table[side, (one, other)[side]]).sum()
                for side in range(2)
                for table in (above, below)
            ]
            out.append(sides[2] / sides[3] - sides[0] / sides[1])
        return float(np.mean(out))

    actual = difference((0,) * 6)
    exact = np.mean([abs(difference(signs)) >= abs(actual) - 1e-12 for signs in product((0, 1), repeat=6)])
    systems = [[[Parts(above[side, seed], below[side, seed])] for seed in range(3)] for side in range(2)]
    (found,) = significance.compare_seeds(*systems, samples=20_000)
    assert found.difference.value == pytest.approx(actual)
    assert found.randomization_p == pytest.approx(exact, abs=0.015)


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
        significance.compare([first], [second], level=95)
    with pytest.raises(MismatchError, match=r"\[5, 6\] sentences"):
        significance.compare([first], [other])
    with pytest.raises(MismatchError, match="1 scores of the first system and 0"):
        significance.compare([first], [])
    with pytest.raises(MismatchError, match="without scores"):
        significance.compare_seeds([[first]], [])
    with pytest.raises(MismatchError, match="1 scores of the first system and 2"):
        significance.compare_seeds([[first], [first, first]], [[second]])
    with pytest.raises(MismatchError, match="no sentences"):
        significance.compare(*[[Parts(np.zeros(0), np.zeros(0))]] * 2)


def test_holms_correction_is_that_of_the_textbook() -> None:
    assert significance.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert significance.holm([0.6, 0.9]) == [1.0, 1.0]
    assert significance.holm([]) == []


def test_a_mean_over_datasets_has_the_mean_difference_and_a_narrower_interval() -> None:
    rng = np.random.default_rng(5)
    datasets = [([[first]], [[second]]) for first, second in (draw(rng, 60) for _ in range(4))]
    alone = [significance.compare_seeds(*dataset, samples=2000, seed=3)[0] for dataset in datasets]
    (together,) = significance.compare_means(datasets, samples=2000, seed=3)
    assert together.difference.value == pytest.approx(np.mean([one.difference.value for one in alone]))
    widths = [one.difference.high - one.difference.low for one in alone]
    assert together.difference.high - together.difference.low == pytest.approx(np.mean(widths) / 2, rel=0.15)
    assert together.bootstrap_p < statistics.median(one.bootstrap_p for one in alone)
    assert significance.compare_means(datasets[:1], samples=2000, seed=3) == alone[:1]
    with pytest.raises(MismatchError, match="no dataset"):
        significance.compare_means([])
