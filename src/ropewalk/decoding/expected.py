"""Sums over all projective trees by label and arc scores together, for the tree with the highest expected accuracy.

The best tree may have little probability, while many other trees agree on most arcs. Decoding with minimum Bayes risk
therefore chooses the tree with the highest expected number of right arcs. The expectation is over all trees, with the
probabilities that label and arc scores assign to them (Goodman 1996, Parsing Algorithms and Metrics; Smith & Smith
2007, Probabilistic Models of Nonprojective Dependency Trees).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import checked_offsets
from ropewalk.decoding import encodings_of
from ropewalk.decoding.paths import words_of
from ropewalk.decoding.problem import arc_starts, checked, checked_arcs, machine_of
from ropewalk.encodings import BracketMachine
from ropewalk.encodings.bracket_text import bracket_symbols, compact_text
from ropewalk.encodings.optimal import OPTIMAL_CODES
from ropewalk.errors import UnknownNameError
from ropewalk.kernels import chart as kernel
from ropewalk.kernels import log_chart as log_kernel
from ropewalk.kernels import view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.decoding.paths import ArcScores, Floats
    from ropewalk.encodings import Encoding

COMPACT = 16  # labels that a word of a projective tree may have, by their bits
LARGEST = 1e9  # scores are taken as no larger, so that small differences count
LONGEST = 256  # words of a sentence whose trees are summed: time grows with the cube


@dataclass(frozen=True, slots=True, eq=False)
class TreeSums:
    """Sums over all trees with one root of each sentence: marginals of labels and arcs, and log-sums of tree scores.

    `labels` has the shape [words, labels]. `arcs` is flat and ordered like arc scores: by word, then by head from 0 on.
    `logs` has one log-sum per sentence. If no tree has a finite score, the log-sum is -inf and the marginals are 0.
    """

    labels: Floats
    arcs: Floats
    logs: Floats


@dataclass(frozen=True, slots=True, eq=False)
class CompactLabels:
    """The four bits of each label of an alphabet, as in `kernels.optimal`.

    `optimal` is true if the labels are optimal brackets, false if they are labels of the 4-bit encoding.
    """

    codes: npt.NDArray[np.intp]
    optimal: bool


def compact_labels(encoding: Encoding, alphabet: Sequence[str]) -> CompactLabels | None:
    """Return each label of the alphabet as the four bits that it stands for, as in `kernels.optimal`.

    Return None if the labels of the encoding are not of this kind.
    """
    machine = machine_of(encoding, alphabet)
    return _compact(machine) if isinstance(machine, BracketMachine) else None


@lru_cache(maxsize=32)
def _compact(machine: BracketMachine) -> CompactLabels | None:
    known = {tuple(bracket_symbols("the chart", compact_text(code))): code for code in range(COMPACT)}
    codes = [known.get(brackets, -1) if brackets is not None else -1 for brackets in machine.brackets]
    optimal = not machine.same_direction
    if len({*codes}) < len(codes) or not {*codes} <= {*(OPTIMAL_CODES.tolist() if optimal else range(COMPACT))}:
        return None
    return CompactLabels(np.array(codes, dtype=np.intp), optimal)


def arc_sums(arcs: npt.NDArray[Any], offsets: npt.ArrayLike) -> TreeSums:
    """Return the marginals of arcs and the log-sums over all projective trees with one root, from arc scores alone.

    The layout of `arcs` is that of `Problem.arcs`. The result has no labels.
    """
    bounds = checked_offsets(offsets)
    words = int(bounds[-1])
    sums = summed(np.zeros((words, COMPACT)), checked_arcs(arcs, bounds), bounds, optimal=False)
    return TreeSums(np.zeros((words, 0)), sums.arcs, sums.logs)


def tree_sums(
    encoding: Encoding, scores: npt.ArrayLike, offsets: npt.ArrayLike, alphabet: Sequence[str], arcs: npt.NDArray[Any]
) -> TreeSums:
    """Return the marginals of labels and arcs and the log-sums over the projective trees of each sentence.

    The score of a tree is the sum of its label and arc scores. `scores` is a table [words, labels]. The layout of
    `arcs` is that of `Problem.arcs`. Raise an `UnknownNameError` if the encoding has no compact labels.
    """
    labels = compact_labels(encoding, alphabet)
    if labels is None:
        raise UnknownNameError("encoding with sums over trees", encoding.spec, encodings_of("mbr"))
    bounds = checked_offsets(offsets)
    label_scores = checked(scores, len(alphabet), int(bounds[-1]))
    table = np.full((len(label_scores), COMPACT), -np.inf)
    table[:, labels.codes] = np.where(np.isfinite(label_scores), label_scores.clip(-LARGEST, LARGEST), label_scores)
    sums = summed(table, checked_arcs(arcs, bounds), bounds, optimal=labels.optimal)
    return TreeSums(sums.labels[:, labels.codes], sums.arcs, sums.logs)


def summed(table: Floats, arcs: ArcScores, bounds: Ints, *, optimal: bool) -> TreeSums:
    """Return marginals and log-sums over the projective trees of each sentence.

    `table` [words, 16] has a score for each compact label, a number of four bits. `arcs` are flat arc scores, and
    `bounds` the offsets of sentences. `optimal` is true if the labels are optimal brackets, false if they are those of
    the 4-bit encoding. Sentences whose scores are too far apart for plain products are summed with logarithms.
    """
    out = TreeSums(np.zeros_like(table), np.zeros(len(arcs)), np.zeros(len(bounds) - 1))
    work = kernel.Chart(int(np.diff(bounds).max(initial=0)))
    inputs = _inputs(table, arcs, bounds, optimal=optimal)
    kernel.sums(*inputs, work, view(out.labels), view(out.arcs), view(out.logs))
    rest = np.flatnonzero(np.isnan(out.logs))
    if len(rest):
        words, inner = words_of(bounds, rest)
        within = arcs_of(bounds, np.isnan(out.logs))
        out.labels[words], out.arcs[within], out.logs[rest] = summed_by_logarithms(
            table[words], arcs[within], inner, optimal=optimal
        )
    return out


def summed_by_logarithms(
    table: Floats, arcs: ArcScores, bounds: Ints, *, optimal: bool
) -> tuple[Floats, Floats, Floats]:
    """Return the marginals of labels, the marginals of arcs, and the log-sums, computed with logarithms throughout.

    This is for sentences whose scores are too far apart for plain products. The parameters are those of `summed`.
    """
    scores = arcs.astype(np.float64).clip(-LARGEST, LARGEST)
    labels, marginals, logs = np.zeros_like(table), np.zeros_like(scores), np.zeros(len(bounds) - 1)
    work = log_kernel.LogChart(int(np.diff(bounds).max(initial=0)))
    inputs = _inputs(table, scores, bounds, optimal=optimal)
    log_kernel.sums(*inputs, work, view(labels), view(marginals), view(logs))
    return labels, marginals, logs


def _inputs(table: Floats, arcs: npt.NDArray[Any], bounds: Ints, *, optimal: bool) -> tuple[Any, Any, Any, Any, int]:
    """Return the first arguments of the two kernels, which both compute sums over trees."""
    return view(table), view(arcs), view(bounds), view(arc_starts(bounds)), int(optimal)


def arcs_of(offsets: Ints, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return a mask over the flat array of arc scores: true for the arcs of the `chosen` sentences."""
    lengths = np.diff(offsets)
    return np.repeat(chosen, lengths * (lengths + 1))
