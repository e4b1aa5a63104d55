"""Calibrated probabilities of arcs and trees for decoders that combine label and arc scores.

The probability of an arc is a logistic function of two features: the log-odds of its word's label and of the arc
itself. That of a tree is a logistic function of the sum of its arcs' log-probabilities. The five weights are fitted to
gold trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.decoding.paths import sums_of
from ropewalk.decoding.problem import arc_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.core.trees import Trees
    from ropewalk.decoding import ArcScores, Best

Floats = npt.NDArray[np.float64]
LabelScores = npt.NDArray[np.float32] | None

PLAIN = (0.0, 0.0, 1.0, 0.0, 1.0)  # an arc keeps its probability, a tree has the product of them
LEAST = 1e-6  # probabilities are clipped to [LEAST, 1 - LEAST]
LEAST_MARGINAL = 1e-15  # likewise for heads that need not be the best: many are tiny
STEPS = 30
RIDGE = 1e-3  # keeps weights finite where every arc is right


def confidences(
    scores: LabelScores, arcs: ArcScores, offsets: Ints, best: Best, weights: Sequence[float]
) -> tuple[Floats, Floats]:
    """Return the calibrated probability of every arc and of every tree in `best`.

    `scores` is the score table [words, labels], or None if the model has no labels. `arcs` is a flat array with the
    scores of all arcs. `weights` are the five that `calibrate` fits.
    """
    probabilities = logistic(_evidence(scores, arcs, offsets, best) @ np.array(weights[:3]))
    return probabilities, logistic(_tree_evidence(probabilities, offsets) @ np.array(weights[3:]))


def head_probabilities(arcs: ArcScores, trees: Trees, weights: Sequence[float]) -> Floats:
    """Return the calibrated marginal probability of each head in `trees`, which may be any trees.

    `arcs` are the scores of all arcs in one flat array. `weights` are the five that `calibrate` fits; the first three
    are used.
    """
    offsets = trees.offsets.array
    from ropewalk.decoding.matrix_tree import spanning_tree_sums  # parsing does not need it

    return of_marginals(spanning_tree_sums(arcs, offsets).arcs[arc_rows(offsets) + trees.heads], weights)


def of_marginals(marginals: Floats, weights: Sequence[float]) -> Floats:
    """Return the calibrated probabilities of arcs with these marginals; `weights` are as for `head_probabilities`."""
    even = np.full(len(marginals), 0.5)  # the label that a head would need is not looked at
    evidence = _log_odds(np.stack([even, marginals], axis=1), LEAST_MARGINAL)
    return logistic(_with_ones(evidence) @ np.array(weights[:3]))


def calibrate(scores: LabelScores, arcs: ArcScores, offsets: Ints, best: Best, gold: Ints) -> tuple[float, ...]:
    """Fit the five weights of `confidences` with logistic regression, and return them.

    The first three make the probability of an arc in `best` match how often its head is the one in `gold`; the last two
    do so for whole trees.
    """
    right = (best.heads == gold).astype(np.float64)
    evidence = _evidence(scores, arcs, offsets, best)
    weights = fitted_weights(evidence, right, np.array(PLAIN[:3]))
    trees = (sums_of(1.0 - right, offsets) == 0).astype(np.float64)
    of_trees = fitted_weights(_tree_evidence(logistic(evidence @ weights), offsets), trees, np.array(PLAIN[3:]))
    return tuple(round(float(weight), 4) for weight in (*weights, *of_trees))


def _evidence(scores: LabelScores, arcs: ArcScores, offsets: Ints, best: Best) -> Floats:
    """Return the features of arc probabilities: 1, the log-odds of the word's label, and the log-odds of its arc.

    The array is [words, 3]. If `best` has marginals, they are the arcs' probabilities, and all labels have log-odds 0.
    """
    if best.marginals is not None:
        return _with_ones(_log_odds(np.stack([np.full(len(best.marginals), 0.5), best.marginals], axis=1)))
    assert scores is not None  # noqa: S101 - decoders without labels sum over trees
    chosen = np.empty((len(scores), 2))
    chosen[:, 0] = scores[np.arange(len(scores)), best.ids[0]]
    chosen[:, 1] = arcs[arc_rows(offsets) + best.heads]
    return _with_ones(_log_odds(np.exp(chosen)))


def _tree_evidence(probabilities: Floats, offsets: Ints) -> Floats:
    """Return the features of tree probabilities: 1, and the log-odds of the product of the arcs' probabilities.

    The array is [sentences, 2].
    """
    product = np.exp(sums_of(np.log(probabilities.clip(LEAST, 1.0)), offsets))
    return _with_ones(_log_odds(product)[:, None])


def _log_odds(probabilities: Floats, least: float = LEAST) -> Floats:
    """Return the log-odds of probabilities, clipped to [least, 1 - least]."""
    clipped = probabilities.clip(least, 1.0 - least)
    odds: Floats = np.log(clipped) - np.log1p(-clipped)
    return odds


def _with_ones(columns: Floats) -> Floats:
    """Return `columns` with a column of ones added in front."""
    out = np.ones((len(columns), columns.shape[1] + 1))
    out[:, 1:] = columns
    return out


def logistic(values: Floats) -> Floats:
    """Convert log-odds to probabilities with the logistic function."""
    probabilities: Floats = 1.0 / (1.0 + np.exp(-values.clip(-30.0, 30.0)))
    return probabilities


def fitted_weights(evidence: Floats, right: Floats, start: Floats) -> Floats:
    """Fit a logistic regression with Newton's method, and return its weights.

    `evidence` has a row of features for each item, and `right` is 1 for each item that is correct, else 0. The weights
    begin with `start` and are regularized towards it.
    """
    weights = start.copy()
    for _ in range(STEPS):
        probabilities = logistic(evidence @ weights)
        slope = evidence.T @ (right - probabilities) - RIDGE * (weights - start)
        variance = probabilities * (1.0 - probabilities)
        curve = (evidence * variance[:, None]).T @ evidence + RIDGE * np.eye(len(weights))
        step = np.linalg.solve(curve, slope)
        weights = weights + np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-6:
            break
    return weights
