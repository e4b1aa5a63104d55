"""Whether one system is better than another on the same sentences, or was only lucky with them.

Sentences are the units: they are drawn independently of each other, and words are not. The paired bootstrap
draws as many sentences as there are, with replacement, and scores both systems on each draw (Efron &
Tibshirani 1993; Berg-Kirkpatrick, Burkett & Klein 2012). Approximate randomization exchanges the outputs of
the systems for each sentence with probability one half (Noreen 1989; Yeh 2000).

A system that was trained from several seeds has an output for each, and its score is the mean of theirs. Sentences are
drawn as before, for all outputs alike. How far means over other seeds would lie is added to each draw: seeds are a
random effect, whose variance is that of the seeds' scores less what sentences alone make of it, by the analysis of
variance of outputs crossed with sentences (Searle, Casella & McCulloch 1992), pooled over both systems; since few seeds
tell little of it, the additions follow Student's t. Randomization exchanges all outputs of one system for a sentence
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
CELLS: Final = 1 << 21  # draws times sentences at once: what fits a cache and keeps memory small
TINY: Final = 1e-12  # below this, differences of sums in another order


@dataclass(frozen=True, slots=True)
class Interval:
    """A score and its bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two scores, the second minus the first with its interval, and two-sided p-values for no difference.

    Over several seeds the scores are means, and their standard deviations stand beside them.
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
    """Compare two systems by several scores at once, all on the same draws."""
    return compare_seeds([first], [second], samples=samples, seed=seed, level=level)


def compare_seeds(
    first: Sequence[Sequence[Parts]],
    second: Sequence[Sequence[Parts]],
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> list[Comparison]:
    """Compare the means of two systems over their seeds by several scores at once: for each seed, all its scores.

    The interval and the p-value of the bootstrap are about other sentences and other seeds, that of randomization is
    about other sentences for the same trained models. A system with one seed stands for nothing but itself in both.
    """
    first, second = ([_checked(scores) for scores in system] for system in (first, second))
    everything = [*first, *second]
    if not first or not second:
        raise MismatchError("a system without scores; expected those of at least one seed")
    many = len(first[0])
    if other := [len(scores) for scores in everything if len(scores) != many]:
        raise MismatchError(f"{many} scores of the first system and {other[0]} of another output; expected pairs")
    sentences = _sentences([one for scores in everything for one in scores], samples, level)
    if not many:
        return []
    sums = np.concatenate([_stacked(scores) for scores in everything], axis=1)
    shape = (-1, len(everything), 2 * many)
    ours, theirs = slice(len(first)), slice(len(first), None)
    totals = sums.sum(axis=0).reshape(shape[1:])
    values = _ratios(totals, many)
    actual = values[theirs].mean(axis=0) - values[ours].mean(axis=0)

    drawn = _ratios(_drawn(sums, sentences, samples, seed, _weights).reshape(shape), many)
    differences = drawn[:, theirs].mean(axis=1) - drawn[:, ours].mean(axis=1)
    differences += _seed_effects([len(first), len(second)], sums.reshape(shape), samples, seed)
    low, high = _bounds(differences, level)
    bootstrap = _share_as_far(differences - actual, actual)

    moved = _drawn(sums, sentences, samples, seed, _exchanges).reshape(shape)
    randomization = _share_as_far(_exchanged(moved, totals, len(first), many), actual)
    deviations = [_deviations(values[some]) for some in (ours, theirs)]
    return [
        Comparison(
            float(values[ours, n].mean()),
            float(values[theirs, n].mean()),
            Interval(float(actual[n]), low[n], high[n]),
            float(bootstrap[n]),
            float(randomization[n]),
            deviations[0][n],
            deviations[1][n],
        )
        for n in range(many)
    ]


def most_different(first: AttachmentScores, second: AttachmentScores, most: int = 10) -> list[tuple[int, int]]:
    """List the sentences, counted from 0, in which the systems differ most, with the second's lead in words right.

    A word is right if head and relation are.
    """
    if len(first.labelled) != len(second.labelled):
        raise MismatchError(
            f"scores of {len(first.labelled)} sentences and of {len(second.labelled)}; expected the same sentences"
        )
    lead = second.labelled.astype(np.int64) - first.labelled
    order = np.argsort(-np.abs(lead), kind="stable")[:most]
    return [(sentence, int(lead[sentence])) for sentence in order.tolist() if lead[sentence]]


def _sentences(scores: Sequence[Parts], samples: int, level: float) -> int:
    """Check what is asked, and count the sentences."""
    if not 1 <= samples <= MOST_SAMPLES:
        raise OptionError(f"samples is {samples:,}; expected 1 to {MOST_SAMPLES:,}")
    if not 0 < level < 1:
        raise OptionError(f"level is {level}; expected a share between 0 and 1, such as 0.95")
    counts = {len(one.numerators) for one in scores}
    if len(counts) > 1:
        raise MismatchError(f"scores of {sorted(counts)} sentences; expected the same sentences")
    if counts == {0}:
        raise MismatchError("scores of no sentences; expected at least one sentence to draw from")
    return counts.pop() if counts else 0


def _checked(scores: Sequence[Parts]) -> list[Parts]:
    """Take scores as numbers for each sentence."""
    found = [Parts(*(floats(row, "what sentences add to a score") for row in one)) for one in scores]
    for above, below in found:
        if above.ndim != 1 or above.shape != below.shape:
            raise MismatchError(
                f"what sentences add to a score has the shapes {above.shape} and {below.shape}; expected a row each"
            )
        if not np.isfinite([above, below]).all():
            raise MismatchError("what a sentence adds to a score is not finite; expected numbers")
    return found


def _stacked(scores: Sequence[Parts]) -> Floats:
    """Lay all numerators and then all denominators side by side: (sentences, 2 scores)."""
    return np.stack([*(one.numerators for one in scores), *(one.denominators for one in scores)], axis=1)


def _ratios(sums: Floats, many: int) -> Floats:
    """Divide; not a number where there is nothing to score."""
    above, below = sums[..., :many], sums[..., many:]
    ratios = np.full(above.shape, np.nan)
    np.divide(above, below, out=ratios, where=below != 0)
    return ratios


def _weights(rng: np.random.Generator, rows: int, sentences: int) -> Floats:
    """Say how often each draw has each sentence: (draws, sentences)."""
    picked = rng.integers(0, sentences, (rows, sentences), dtype=np.int32) + (np.arange(rows) * sentences)[:, None]
    return np.bincount(picked.ravel(), minlength=rows * sentences).reshape(rows, sentences).astype(np.float64)


def _exchanges(rng: np.random.Generator, rows: int, sentences: int) -> Floats:
    """Say for each draw which sentences are exchanged: (draws, sentences)."""
    return rng.integers(0, 2, (rows, sentences), dtype=np.uint8).astype(np.float64)


def _drawn(
    values: Floats,
    sentences: int,
    samples: int,
    seed: int,
    draw: Callable[[np.random.Generator, int, int], Floats],
) -> Floats:
    """Sum the values of each draw's sentences: (draws, values)."""
    rng = np.random.default_rng(seed)
    return np.concatenate([draw(rng, rows, sentences) @ values for rows in _blocks(samples, sentences)])


def _blocks(samples: int, sentences: int) -> Iterator[int]:
    rows = max(1, CELLS // sentences)
    for done in range(0, samples, rows):
        yield min(rows, samples - done)


def _seed_effects(seeds: Sequence[int], sums: Floats, samples: int, seed: int) -> Floats:
    """Draw by how much the difference of means would be another with other seeds: (draws, scores).

    `sums` are those of each output on each sentence: (sentences, outputs, 2 scores). A system with one seed stands for
    nothing but itself.
    """
    sentences, many = len(sums), sums.shape[2] // 2
    values = _ratios(sums.sum(axis=0), many)
    # What a sentence adds to a score, to the first order: the score's influence function.
    with np.errstate(invalid="ignore", divide="ignore"):
        influence = (sums[..., :many] - values * sums[..., many:]) / sums[..., many:].mean(axis=0)
    squares, freedom, share = np.zeros(many), 0, 0.0
    end = 0
    for count in seeds:
        some = slice(end, end := end + count)
        if count > 1:
            apart = influence[:, some] - influence[:, some].mean(axis=1, keepdims=True)
            by_sentences = (apart**2).sum(axis=(0, 1)) / (sentences * max(sentences - 1, 1))
            squares += ((values[some] - values[some].mean(axis=0)) ** 2).sum(axis=0) - by_sentences
            freedom += count - 1
            share += 1 / count
    if not freedom:
        return np.zeros((samples, many))
    error = np.sqrt(share * np.maximum(squares, 0.0) / freedom)
    rng = np.random.default_rng([seed, 1])  # apart from the draws of sentences
    return np.asarray(rng.standard_t(freedom, (samples, 1)) * error)


def _exchanged(moved: Floats, totals: Floats, first: int, many: int) -> Floats:
    """Give the differences of means after exchanges, over all pairs of an output of one system and one of the other.

    `moved` are the sums over exchanged sentences and `totals` those over all, by output; `first` outputs are of the
    first system.
    """
    pairs = [(one, other) for one in range(first) for other in range(first, len(totals))]
    out = np.zeros((len(moved), many))
    for one, other in pairs:
        step = moved[:, other] - moved[:, one]
        out += _ratios(totals[other] - step, many) - _ratios(totals[one] + step, many)
    return out / len(pairs)


def _deviations(values: Floats) -> list[float | None]:
    """Give the standard deviation of each score over seeds: (seeds, scores)."""
    return [None] * values.shape[1] if len(values) == 1 else [float(one) for one in values.std(axis=0, ddof=1)]


def _bounds(drawn: Floats, level: float) -> tuple[list[float], list[float]]:
    """Cut the same share off both ends of what was drawn; draws without anything to score have no part."""
    low, high = [], []
    for values in drawn.T:
        kept = values[~np.isnan(values)]
        ends = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2]) if len(kept) else (np.nan, np.nan)
        low.append(float(ends[0]))
        high.append(float(ends[1]))
    return low, high


def _share_as_far(drawn: Floats, actual: Floats) -> Floats:
    """Give the share of draws at least as far from 0 as what was observed, which counts as one of them."""
    far = np.abs(drawn) >= np.abs(actual) - TINY
    return np.asarray((far.sum(axis=0) + 1) / (len(drawn) + 1))
