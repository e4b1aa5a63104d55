"""How sure the trees of the joint decoder are: their labels' and arcs' scores, weighed by data of known trees.

An arc is as sure as a logistic function of two numbers says, the log-odds of its word's label and of its own; a tree as
one of the sum of its arcs' logarithms says. The five weights are found on sentences of known trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.decoding.inputs import arc_rows
from ropewalk.decoding.paths import sums_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.decoding import ArcScores, Best

Floats = npt.NDArray[np.float64]
LabelScores = npt.NDArray[np.float32] | None

PLAIN = (0.0, 0.0, 1.0, 0.0, 1.0)  # an arc's own probability, and the product of all for a tree
LEAST = 1e-6  # probabilities are taken as no nearer to 0 or 1
STEPS = 30
RIDGE = 1e-3  # keeps weights finite where everything is right


def confidences(
    scores: LabelScores, arcs: ArcScores, offsets: Ints, best: Best, weights: Sequence[float]
) -> tuple[Floats, Floats]:
    """Return the probability of every arc and of every tree in `best`; `scores` are those of labels, if any."""
    shares = logistic(_evidence(scores, arcs, offsets, best) @ np.array(weights[:3]))
    return shares, logistic(_whole(shares, offsets) @ np.array(weights[3:]))


def calibrate(scores: LabelScores, arcs: ArcScores, offsets: Ints, best: Best, gold: Ints) -> tuple[float, ...]:
    """Find weights for which arcs and trees are as often right as their probabilities say."""
    right = (best.heads == gold).astype(np.float64)
    evidence = _evidence(scores, arcs, offsets, best)
    weights = fitted_weights(evidence, right, np.array(PLAIN[:3]))
    trees = (sums_of(1.0 - right, offsets) == 0).astype(np.float64)
    whole = fitted_weights(_whole(logistic(evidence @ weights), offsets), trees, np.array(PLAIN[3:]))
    return tuple(round(float(weight), 4) for weight in (*weights, *whole))


def _evidence(scores: LabelScores, arcs: ArcScores, offsets: Ints, best: Best) -> Floats:
    """Return for each word 1, the log-odds of its label, and the log-odds of its arc.

    Where the decoder summed over trees, the marginal of the arc is all there is: the label has even odds.
    """
    if best.shares is not None:
        return _with_ones(_log_odds(np.stack([np.full(len(best.shares), 0.5), best.shares], axis=1)))
    assert scores is not None  # noqa: S101 - decoders without labels sum over trees
    chosen = np.empty((len(scores), 2))
    chosen[:, 0] = scores[np.arange(len(scores)), best.ids[0]]
    chosen[:, 1] = arcs[arc_rows(offsets) + best.heads]
    return _with_ones(_log_odds(np.exp(chosen)))


def _whole(shares: Floats, offsets: Ints) -> Floats:
    """Give for each sentence 1 and the log-odds of the product of its arcs' probabilities."""
    product = np.exp(sums_of(np.log(shares.clip(LEAST, 1.0)), offsets))
    return _with_ones(_log_odds(product)[:, None])


def _log_odds(shares: Floats) -> Floats:
    """Make log-odds of probabilities, which count as no nearer to 0 or 1 than so much."""
    kept = shares.clip(LEAST, 1.0 - LEAST)
    odds: Floats = np.log(kept) - np.log1p(-kept)
    return odds


def _with_ones(columns: Floats) -> Floats:
    """Put a column of ones before others."""
    out = np.ones((len(columns), columns.shape[1] + 1))
    out[:, 1:] = columns
    return out


def logistic(values: Floats) -> Floats:
    """Make probabilities of log-odds."""
    shares: Floats = 1.0 / (1.0 + np.exp(-values.clip(-30.0, 30.0)))
    return shares


def fitted_weights(evidence: Floats, right: Floats, start: Floats) -> Floats:
    """Find the weights of the highest likelihood by Newton's method, drawn a little towards where they start."""
    weights = start.copy()
    for _ in range(STEPS):
        shares = logistic(evidence @ weights)
        slope = evidence.T @ (right - shares) - RIDGE * (weights - start)
        curve = (evidence * (shares * (1.0 - shares))[:, None]).T @ evidence + RIDGE * np.eye(len(weights))
        step = np.linalg.solve(curve, slope)
        weights = weights + np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-6:
            break
    return weights
