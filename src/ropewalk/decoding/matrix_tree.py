"""Sums over all trees with one root, projective or not, using the matrix-tree theorem.

The determinant of a Laplacian matrix of arc weights sums over all spanning trees, and its inverse gives the probability
of every arc (Koo et al. 2007, Structured Prediction Models via the Matrix-Tree Theorem; Smith & Smith 2007).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import checked_offsets
from ropewalk.decoding.expected import TreeSums
from ropewalk.decoding.problem import arc_rows, arc_starts, arc_widths, checked_arcs

if TYPE_CHECKING:
    from ropewalk.decoding.paths import Floats

LOWEST = -25.0  # no arc counts as less likely than this, relative to the best arc into the same word
CELLS = 1 << 20  # entries of the matrices that are inverted together


def spanning_tree_sums(arcs: npt.NDArray[Any], offsets: npt.ArrayLike) -> TreeSums:
    """Return the marginals of arcs and the log-sums over all trees with one root, projective or not.

    The layout of `arcs` is that of `Problem.arcs`. The result has no labels.
    """
    bounds = checked_offsets(offsets)
    scores = checked_arcs(arcs, bounds).astype(np.float64)
    best = np.maximum.reduceat(scores, arc_rows(bounds)) if len(scores) else scores
    weights = np.exp(np.maximum(scores - np.repeat(best, arc_widths(bounds)), LOWEST))
    lengths, starts = np.diff(bounds), arc_starts(bounds)
    marginals = np.zeros_like(scores)
    logs = np.zeros(len(lengths))
    for length in sorted(set(lengths[lengths > 0].tolist())):
        same = np.flatnonzero(lengths == length)
        most = max(CELLS // (length * length), 1)
        for first in range(0, len(same), most):
            sentences = same[first : first + most]
            cells = starts[sentences][:, None] + np.arange(length * (length + 1))
            tables = weights[cells].reshape(-1, length, length + 1)
            probabilities, sums = _marginals(tables)
            marginals[cells] = probabilities.reshape(len(sentences), -1)
            logs[sentences] = sums + best[bounds[sentences][:, None] + np.arange(length)].sum(axis=1)
    return TreeSums(np.zeros((len(best), 0)), marginals, logs)


def _marginals(weights: Floats) -> tuple[Floats, Floats]:
    """Return the marginal probability of every arc, and the log-sum over all trees of each sentence.

    `weights[s, d, h]` is the weight of the arc from head h, 0 for the root, to word d + 1 of sentence s. All sentences
    have the same length.
    """
    length = weights.shape[1]
    words = np.arange(length)
    roots, among = weights[:, :, 0], weights[:, :, 1:].copy()
    among[:, words, words] = 0.0
    laplacian = -among.transpose(0, 2, 1)  # entry h, d
    laplacian[:, words, words] = among.sum(axis=2)
    laplacian[:, 0, :] = roots  # the root's arcs replace the first word's row, so that exactly one of them is chosen
    _, logs = np.linalg.slogdet(laplacian)
    inverse = np.linalg.inv(laplacian)
    diagonal = inverse[:, words, words].copy()
    diagonal[:, 0] = 0.0
    across = inverse.copy()  # entry d, h
    across[:, :, 0] = 0.0
    probabilities = np.empty_like(weights)
    probabilities[:, :, 0] = roots * inverse[:, :, 0]
    probabilities[:, :, 1:] = among * (diagonal[:, :, None] - across)
    return np.clip(probabilities, 0.0, 1.0), logs
