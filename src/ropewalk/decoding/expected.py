"""Sums over all projective trees by labels and arcs together, and the tree with most expected of it right.

The best tree of all may have little probability, with many others beside it that agree on most arcs. So the tree is
chosen that has most right arcs on average, if the truth is any tree with the probability that labels and arcs give it:
decoding by minimum Bayes risk (Goodman 1996, Parsing Algorithms and Metrics; Smith & Smith 2007, Probabilistic Models
of Nonprojective Dependency Trees).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import checked_offsets, floats
from ropewalk.decoding.inputs import arc_starts, checked, checked_arcs, machine_of
from ropewalk.decoding.spanning import spanning_tree
from ropewalk.encodings import BracketMachine, names_where
from ropewalk.encodings.bracket_text import bracket_symbols, compact_text
from ropewalk.encodings.optimal import OPTIMAL_CODES
from ropewalk.errors import MismatchError, UnknownNameError
from ropewalk.kernels import chart as kernel
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
    """Over all projective trees with one root of each sentence: shares of labels and arcs, and the log of the sum.

    `arcs` lie as their scores do: word after word, each head from 0 on. Logs are -inf, and shares 0, where no tree has
    a finite score.
    """

    labels: Floats
    arcs: Floats
    logs: Floats


@dataclass(frozen=True, slots=True, eq=False)
class CompactLabels:
    """Which bits the labels of an alphabet stand for, and whether they are optimal brackets: see `kernels.chart`."""

    codes: npt.NDArray[np.intp]
    optimal: bool


def compact_labels(encoding: Encoding, alphabet: Sequence[str]) -> CompactLabels | None:
    """Read labels as the bits of compact ones, if the encoding writes trees so."""
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


def mbr_encodings() -> tuple[str, ...]:
    """Name the encodings whose trees can be summed together with arc scores."""
    return names_where(lambda encoding: compact_labels(encoding, encoding.alphabet or ()) is not None)


def arc_sums(arcs: npt.NDArray[Any], offsets: npt.ArrayLike) -> TreeSums:
    """Sum over all projective trees with one root of each sentence, using arc scores alone.

    `arcs` are laid out as `decode` takes them. There are no labels.
    """
    bounds = checked_offsets(offsets)
    words = int(bounds[-1])
    sums = _summed(np.zeros((words, COMPACT)), checked_arcs(arcs, bounds), bounds, optimal=False)
    return TreeSums(np.zeros((words, 0)), sums.arcs, sums.logs)


def tree_sums(
    encoding: Encoding, scores: npt.ArrayLike, offsets: npt.ArrayLike, alphabet: Sequence[str], arcs: npt.NDArray[Any]
) -> TreeSums:
    """Sum over the trees of each sentence, by the scores of labels and arcs, which lie as `decode` takes them."""
    labels = compact_labels(encoding, alphabet)
    if labels is None:
        raise UnknownNameError("encoding with sums over trees", encoding.spec, mbr_encodings())
    bounds = checked_offsets(offsets)
    given = checked(scores, len(alphabet), int(bounds[-1]))
    table = np.full((len(given), COMPACT), -np.inf)
    table[:, labels.codes] = np.where(np.isfinite(given), given.clip(-LARGEST, LARGEST), given)
    sums = _summed(table, checked_arcs(arcs, bounds), bounds, optimal=labels.optimal)
    return TreeSums(sums.labels[:, labels.codes], sums.arcs, sums.logs)


def _summed(table: Floats, arcs: ArcScores, bounds: Ints, *, optimal: bool) -> TreeSums:
    """Sum over trees, given the scores of all compact labels of each word and of all arcs."""
    scores = arcs.astype(np.float64).clip(-LARGEST, LARGEST)
    out = TreeSums(np.zeros_like(table), np.zeros_like(scores), np.zeros(len(bounds) - 1))
    kernel.sums(
        view(table),
        view(scores),
        view(bounds),
        view(arc_starts(bounds)),
        int(optimal),
        kernel.Chart(int(np.diff(bounds).max(initial=0))),
        view(out.labels),
        view(out.arcs),
        view(out.logs),
    )
    return out


def expected_trees(gains: npt.ArrayLike, offsets: npt.ArrayLike) -> Ints:
    """Find the tree of each sentence whose arcs gain most in all; they lie as their scores do."""
    bounds = checked_offsets(offsets)
    starts = arc_starts(bounds)
    table = floats(gains, "gains of arcs")
    if table.shape != (int(starts[-1]),):
        raise MismatchError(f"gains of arcs of shape {table.shape}; expected {int(starts[-1])} for these sentences")
    heads = np.zeros(int(bounds[-1]), dtype=np.int32)
    for number, words in enumerate(np.diff(bounds).tolist()):
        own = table[starts[number] : starts[number + 1]].reshape(words, words + 1)
        heads[bounds[number] : bounds[number + 1]] = spanning_tree(own)
    return heads
