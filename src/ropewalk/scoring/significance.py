"""Whether one system is better than another on the same sentences, or was only lucky with them.

Sentences are the units: they are drawn independently of each other, and words are not. The paired bootstrap
draws as many sentences as there are, with replacement, and scores both systems on each draw (Efron &
Tibshirani 1993; Berg-Kirkpatrick, Burkett & Klein 2012). Approximate randomization exchanges the outputs of
the systems for each sentence with probability one half (Noreen 1989; Yeh 2000).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ropewalk.arrays import floats
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
    """Two scores, the second minus the first with its interval, and two-sided p-values for no difference."""

    first: float
    second: float
    difference: Interval
    bootstrap_p: float
    randomization_p: float


def intervals(
    scores: Sequence[Parts], *, samples: int = SAMPLES, seed: int = 0, level: float = LEVEL
) -> list[Interval]:
    """Give the percentile interval of each score, all from the same draws of sentences."""
    scores = _checked(scores)
    sentences = _sentences(scores, samples, level)
    if not scores:
        return []
    sums = _stacked(scores)
    drawn = _drawn(sums, sentences, samples, seed, _weights)
    low, high = _bounds(_ratios(drawn, len(scores)), level)
    return [Interval(one.value, *bounds) for one, *bounds in zip(scores, low, high, strict=True)]


def compare(
    first: Sequence[Parts],
    second: Sequence[Parts],
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> list[Comparison]:
    """Compare two systems by several scores at once, all on the same draws."""
    first, second = _checked(first), _checked(second)
    if len(first) != len(second):
        raise MismatchError(f"{len(first)} scores of the first system and {len(second)} of the second; expected pairs")
    sentences = _sentences([*first, *second], samples, level)
    if not first:
        return []
    many = len(first)
    ours, theirs = _stacked(first), _stacked(second)
    actual = _ratios(theirs.sum(axis=0), many) - _ratios(ours.sum(axis=0), many)

    drawn = _drawn(np.concatenate([ours, theirs], axis=1), sentences, samples, seed, _weights)
    differences = _ratios(drawn[:, 2 * many :], many) - _ratios(drawn[:, : 2 * many], many)
    low, high = _bounds(differences, level)
    bootstrap = _share_as_far(differences - actual, actual)

    moved = _drawn(theirs - ours, sentences, samples, seed, _exchanges)
    exchanged = _ratios(theirs.sum(axis=0) - moved, many) - _ratios(ours.sum(axis=0) + moved, many)
    randomization = _share_as_far(exchanged, actual)
    return [
        Comparison(
            first[n].value,
            second[n].value,
            Interval(float(actual[n]), low[n], high[n]),
            float(bootstrap[n]),
            float(randomization[n]),
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
