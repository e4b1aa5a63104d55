"""Significance of differences between two systems on the same sentences.

Sentences are the units, because they are drawn independently of each other, unlike words. The paired bootstrap draws as
many sentences as there are, with replacement, and scores both systems on each draw (Efron & Tibshirani 1993;
Berg-Kirkpatrick, Burkett & Klein 2012). Approximate randomization exchanges the outputs of the systems for each
sentence with probability one half (Noreen 1989; Yeh 2000).

A system that was trained with several seeds has an output for each, and its score is their mean. Sentences are drawn as
before, the same for all outputs. The variation of means over other seeds is added to each draw: seeds are a random
effect, whose variance is that of the seeds' scores minus the part that sentences explain, from the analysis of variance
of outputs crossed with sentences (Searle, Casella & McCulloch 1992), pooled over both systems. Because a few seeds
estimate it poorly, the additions follow Student's t. Randomization exchanges all outputs of one system for a sentence
with all of the other: it is about the models that were trained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ropewalk.core.arrays import floats
from ropewalk.errors import MismatchError, OptionError
from ropewalk.scoring.attachment import Parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ropewalk.scoring.attachment import AttachmentScores, Floats

SAMPLES: Final = 10_000
MOST_SAMPLES: Final = 1_000_000
LEVEL: Final = 0.95
MARKS: Final = {0.001: "***", 0.01: "**", 0.05: "*"}  # levels of p-values, and their marks
STARS: Final = ", ".join(f"{mark} p < {level:g}" for level, mark in reversed(MARKS.items()))
CELLS: Final = 1 << 21  # draws times sentences at once: they fit a cache and keep memory small
TINY: Final = 1e-12  # smaller differences come from the order of sums


@dataclass(frozen=True, slots=True)
class Interval:
    """A value, such as a difference of scores, and the two ends of its bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The scores of two systems, their difference with its interval, and two-sided p-values for no difference.

    The difference is the second score minus the first. With several seeds, the scores are means over seeds, and the
    deviations are their standard deviations.
    """

    first: float
    second: float
    difference: Interval
    bootstrap_p: float
    randomization_p: float
    first_deviation: float | None = None
    second_deviation: float | None = None


def compare(
    first: Sequence[Parts],
    second: Sequence[Parts],
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> list[Comparison]:
    """Return a comparison of two systems for each score: `first[i]` and `second[i]` are the same score of both.

    All scores use the same `samples` draws of sentences. `level` is the confidence level of the intervals.
    """
    return compare_seeds([first], [second], samples=samples, seed=seed, level=level)


def compare_seeds(
    first: Sequence[Sequence[Parts]],
    second: Sequence[Sequence[Parts]],
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> list[Comparison]:
    """Return a comparison of two systems for each score; the score of a system is its mean over seeds.

    `first[s][i]` is score `i` of the first system with its seed `s`. The interval and the p-value of the bootstrap
    generalize to other sentences and other seeds. The p-value of randomization generalizes to other sentences for the
    same trained models. For a system with one seed, neither generalizes to other seeds.
    """
    return compare_means([(first, second)], samples=samples, seed=seed, level=level)


def compare_means(
    datasets: Sequence[tuple[Sequence[Sequence[Parts]], Sequence[Sequence[Parts]]]],
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> list[Comparison]:
    """Return a comparison of two systems for each score; the score of a system is its mean over datasets and seeds.

    Each dataset is a pair: the scores of the first and of the second system, as for `compare_seeds`. Numbers of seeds
    may differ between datasets. All datasets have the same weight.
    Sentences and seeds are drawn within each dataset; datasets are not drawn, so the result is about these datasets.
    Standard deviations over seeds are returned for a single dataset only. Raise `MismatchError` if scores do not match.
    """
    if not datasets:
        raise MismatchError("no dataset to compare systems on; expected at least one")
    draws = [_draws(*outputs, samples, seed + number, level) for number, outputs in enumerate(datasets)]
    first, second, differences, exchanged = (
        np.mean([getattr(draw, name) for draw in draws], axis=0)
        for name in ("first", "second", "differences", "exchanged")
    )
    actual = second - first
    low, high = _bounds(differences, level)
    bootstrap, randomization = _fraction_as_far(differences - actual, actual), _fraction_as_far(exchanged, actual)
    several = len(draws) > 1
    return [
        Comparison(
            float(first[n]),
            float(second[n]),
            Interval(float(actual[n]), low[n], high[n]),
            float(bootstrap[n]),
            float(randomization[n]),
            None if several else draws[0].first_deviations[n],
            None if several else draws[0].second_deviations[n],
        )
        for n in range(len(actual))
    ]


def star(p: float) -> str:
    """Return the mark of a p-value: one to three stars, or an empty text if it is not significant."""
    return next((mark for level, mark in MARKS.items() if p < level), "")


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values of several tests, adjusted with Holm's method (1979), in the order of `p_values`.

    Rejecting the hypotheses whose adjusted value is below a level keeps the chance of any false rejection below it.
    """
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, number in enumerate(sorted(range(len(p_values)), key=lambda number: p_values[number])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[number]))
        adjusted[number] = largest
    return adjusted


@dataclass(frozen=True, slots=True)
class _Draws:
    """Scores of two systems on one dataset, and their differences (second minus first) in each random draw."""

    first: Floats  # [scores], means over seeds
    second: Floats
    differences: Floats  # [draws, scores], bootstrap
    exchanged: Floats  # [draws, scores], randomization
    first_deviations: list[float | None]
    second_deviations: list[float | None]


def _draws(
    first: Sequence[Sequence[Parts]], second: Sequence[Sequence[Parts]], samples: int, seed: int, level: float
) -> _Draws:
    """Score two systems on one dataset, and on `samples` random draws of its sentences and seeds."""
    first, second = ([_checked(scores) for scores in system] for system in (first, second))
    everything = [*first, *second]
    if not first or not second:
        raise MismatchError("a system without scores; expected those of at least one seed")
    many = len(first[0])
    if other := [len(scores) for scores in everything if len(scores) != many]:
        raise MismatchError(f"{many} scores of the first system and {other[0]} of another output; expected pairs")
    sentences = _sentences([parts for scores in everything for parts in scores], samples, level)
    if not many:
        nothing = np.zeros(0)
        return _Draws(nothing, nothing, np.zeros((samples, 0)), np.zeros((samples, 0)), [], [])
    rows = [part for scores in everything for parts in zip(*scores, strict=True) for part in parts]
    sums = np.stack(rows, axis=1)  # of each output, all numerators and then all denominators
    shape = (-1, len(everything), 2 * many)
    ours, theirs = slice(len(first)), slice(len(first), None)
    totals = sums.sum(axis=0).reshape(shape[1:])
    values = _ratios(totals, many)
    drawn = _ratios(_drawn(sums, sentences, samples, seed, _weights).reshape(shape), many)
    differences = drawn[:, theirs].mean(axis=1) - drawn[:, ours].mean(axis=1)
    differences += _seed_effects([len(first), len(second)], sums.reshape(shape), samples, seed)
    moved = _drawn(sums, sentences, samples, seed, _exchanges).reshape(shape)
    return _Draws(
        values[ours].mean(axis=0),
        values[theirs].mean(axis=0),
        differences,
        _exchanged(moved, totals, len(first), many),
        _deviations(values[ours]),
        _deviations(values[theirs]),
    )


def most_different(first: AttachmentScores, second: AttachmentScores, most: int = 10) -> list[tuple[int, int]]:
    """Return the indices of up to `most` sentences in which the systems differ most, each with the second's lead.

    The lead is the second system's number of right words minus the first's. A word is right if its head and its
    relation are. Raise `MismatchError` if the systems have different numbers of sentences.
    """
    if len(first.labelled) != len(second.labelled):
        raise MismatchError(
            f"scores of {len(first.labelled)} sentences and of {len(second.labelled)}; expected the same sentences"
        )
    lead = second.labelled.astype(np.int64) - first.labelled
    order = np.argsort(-np.abs(lead), kind="stable")[:most]
    return [(sentence, int(lead[sentence])) for sentence in order.tolist() if lead[sentence]]


def _sentences(scores: Sequence[Parts], samples: int, level: float) -> int:
    """Return the number of sentences that all `scores` have.

    Raise `MismatchError` if it differs or is 0, and `OptionError` if `samples` or `level` is out of range.
    """
    if not 1 <= samples <= MOST_SAMPLES:
        raise OptionError(f"samples is {samples:,}; expected 1 to {MOST_SAMPLES:,}")
    if not 0 < level < 1:
        raise OptionError(f"level is {level}; expected a fraction between 0 and 1, such as 0.95")
    counts = {len(parts.numerators) for parts in scores}
    if len(counts) > 1:
        raise MismatchError(f"scores of {sorted(counts)} sentences; expected the same sentences")
    if counts == {0}:
        raise MismatchError("scores of no sentences; expected at least one sentence to draw from")
    return counts.pop() if counts else 0


def _checked(scores: Sequence[Parts]) -> list[Parts]:
    """Return scores as arrays of floats; raise `MismatchError` if their shapes are wrong or values are not finite."""
    checked = [Parts(*(floats(row, "what sentences add to a score") for row in parts)) for parts in scores]
    for above, below in checked:
        if above.ndim != 1 or above.shape != below.shape:
            raise MismatchError(
                f"what sentences add to a score has the shapes {above.shape} and {below.shape}; expected a row each"
            )
        if not np.isfinite([above, below]).all():
            raise MismatchError("what a sentence adds to a score is not finite; expected numbers")
    return checked


def _ratios(sums: Floats, many: int) -> Floats:
    """Return the first `many` sums of the last axis divided by the others; NaN if a denominator is 0."""
    above, below = sums[..., :many], sums[..., many:]
    ratios = np.full(above.shape, np.nan)
    np.divide(above, below, out=ratios, where=below != 0)
    return ratios


def _weights(rng: np.random.Generator, rows: int, sentences: int) -> Floats:
    """Draw sentences with replacement; return how often each draw contains each sentence: (draws, sentences)."""
    picked = rng.integers(0, sentences, (rows, sentences), dtype=np.int32) + (np.arange(rows) * sentences)[:, None]
    return np.bincount(picked.ravel(), minlength=rows * sentences).reshape(rows, sentences).astype(np.float64)


def _exchanges(rng: np.random.Generator, rows: int, sentences: int) -> Floats:
    """Choose at random the sentences whose outputs a draw exchanges; return 1 for them, else 0: (draws, sentences)."""
    return rng.integers(0, 2, (rows, sentences), dtype=np.uint8).astype(np.float64)


def _drawn(
    values: Floats,
    sentences: int,
    samples: int,
    seed: int,
    draw: Callable[[np.random.Generator, int, int], Floats],
) -> Floats:
    """Return for each draw the sums of `values` over sentences: (draws, values).

    `values` is (sentences, values). The function `draw` returns the weight of each sentence in each draw.
    """
    rng = np.random.default_rng(seed)
    return np.concatenate([draw(rng, rows, sentences) @ values for rows in _blocks(samples, sentences)])


def _blocks(samples: int, sentences: int) -> Iterator[int]:
    rows = max(1, CELLS // sentences)
    for done in range(0, samples, rows):
        yield min(rows, samples - done)


def _seed_effects(seeds: Sequence[int], sums: Floats, samples: int, seed: int) -> Floats:
    """Draw random changes of the difference between both means, as other seeds would cause: (draws, scores).

    `seeds` has the number of seeds of each system. `sums` has the numerators and then the denominators of the scores,
    for each sentence and output: (sentences, outputs, 2 * scores). A system with one seed adds no change.
    """
    sentences, many = len(sums), sums.shape[2] // 2
    values = _ratios(sums.sum(axis=0), many)
    # What a sentence adds to a score, to the first order: the score's influence function.
    with np.errstate(invalid="ignore", divide="ignore"):
        influence = (sums[..., :many] - values * sums[..., many:]) / sums[..., many:].mean(axis=0)
    squares, freedom, inverse = np.zeros(many), 0, 0.0
    end = 0
    for count in seeds:
        some = slice(end, end := end + count)
        if count > 1:
            apart = influence[:, some] - influence[:, some].mean(axis=1, keepdims=True)
            by_sentences = (apart**2).sum(axis=(0, 1)) / (sentences * max(sentences - 1, 1))
            squares += ((values[some] - values[some].mean(axis=0)) ** 2).sum(axis=0) - by_sentences
            freedom += count - 1
            inverse += 1 / count
    if not freedom:
        return np.zeros((samples, many))
    error = np.sqrt(inverse * np.maximum(squares, 0.0) / freedom)
    rng = np.random.default_rng([seed, 1])  # independent of the draws of sentences
    return np.asarray(rng.standard_t(freedom, (samples, 1)) * error)


def _exchanged(moved: Floats, totals: Floats, first: int, many: int) -> Floats:
    """Return the mean difference of the systems after the exchanges of each draw: (draws, scores).

    The mean is over all pairs of an output of the first system and one of the second. For each output, `moved` has the
    sums over the exchanged sentences, and `totals` those over all sentences. The first `first` outputs are those of the
    first system. `many` is the number of scores.
    """
    pairs = [(ours, theirs) for ours in range(first) for theirs in range(first, len(totals))]
    out = np.zeros((len(moved), many))
    for ours, theirs in pairs:
        step = moved[:, theirs] - moved[:, ours]
        out += _ratios(totals[theirs] - step, many) - _ratios(totals[ours] + step, many)
    return out / len(pairs)


def _deviations(values: Floats) -> list[float | None]:
    """Return the standard deviation of each score over seeds; `values` is (seeds, scores)."""
    return [None] * values.shape[1] if len(values) == 1 else list(map(float, values.std(axis=0, ddof=1)))


def _bounds(drawn: Floats, level: float) -> tuple[list[float], list[float]]:
    """Return the lower and upper ends of each score's central interval, which contains the fraction `level` of draws.

    Draws that are NaN are ignored.
    """
    low, high = [], []
    for values in drawn.T:
        kept = values[~np.isnan(values)]
        ends = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2]) if len(kept) else (np.nan, np.nan)
        low.append(float(ends[0]))
        high.append(float(ends[1]))
    return low, high


def _fraction_as_far(drawn: Floats, actual: Floats) -> Floats:
    """Return for each score the fraction of draws at least as far from 0 as `actual`, which counts as one draw."""
    far = np.abs(drawn) >= np.abs(actual) - TINY
    return np.asarray((far.sum(axis=0) + 1) / (len(drawn) + 1))
