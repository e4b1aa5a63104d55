"""Best paths and sums over paths through an automaton, for many sentences or for one.

Scores are what a label gains at a word: log-probabilities or raw logits. Ties are what a word gains by being the root
or by not being it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import frozen_ints
from ropewalk.kernels import automaton as kernel
from ropewalk.kernels import joint as joint_kernel
from ropewalk.kernels import view
from ropewalk.kernels.automaton import Transitions

if TYPE_CHECKING:
    from ropewalk.core.arrays import Ints
    from ropewalk.decoding.automaton import Automaton

Floats = npt.NDArray[np.float64]
ArcScores = npt.NDArray[np.float32]  # of many sentences, one after the other: for each word one for each head from 0 on

CLOSE = 1e-9  # sums of the same numbers in another order differ by less
SAFE_RANGE = 600.0  # a number of this many natural logarithms below 1 does not vanish


def _transitions(automaton: Automaton, labels: Ints) -> Transitions:
    """Give a kernel an automaton, its transitions numbered by its own labels or by others."""
    return _own_transitions(automaton) if labels is automaton.labels else _new_transitions(automaton, labels)


@lru_cache(maxsize=64)
def _own_transitions(automaton: Automaton) -> Transitions:
    return _new_transitions(automaton, automaton.labels)


def _new_transitions(automaton: Automaton, labels: Ints) -> Transitions:
    return Transitions(
        begins=view(automaton.begins),
        labels=view(labels),
        sources=view(automaton.sources),
        targets=view(automaton.targets),
        roots=view(automaton.roots),
        marks=view(automaton.marks),
        finals=view(automaton.finals),
        distances=view(automaton.distances),
        heights=_heights(automaton),
    )


@lru_cache(maxsize=64)
def _heights(automaton: Automaton) -> int:
    return int(automaton.marks.max(initial=0))


@lru_cache(maxsize=64)
def _most(automaton: Automaton) -> int:
    """Count the transitions of the state that has most."""
    return int(np.diff(automaton.begins).max(initial=0))


def sums_of(values: Floats, offsets: Ints) -> Floats:
    """Add up the values of each sentence's words."""
    sentences = len(offsets) - 1
    owners = np.arange(sentences).repeat(offsets[1:] - offsets[:-1])
    return np.bincount(owners, weights=values, minlength=sentences)[:sentences].astype(np.float64)


def best_paths(automaton: Automaton, scores: Floats, ties: Floats, offsets: Ints) -> tuple[Ints, Floats]:
    """Find the labels of each sentence's best path, and its score: -inf if there is no path of finite score."""
    longest = int(np.diff(offsets).max(initial=0))
    best = np.zeros(len(scores), dtype=np.int32)
    totals = np.zeros(len(offsets) - 1)
    work = kernel.BestPath(longest, automaton.states, scores.shape[1])
    kernel.viterbi(_own_transitions(automaton), view(scores), view(ties), view(offsets), work, view(best), view(totals))
    return best, totals


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Over all paths of each sentence: the probability of each label and of being the root, and log of the sum."""

    labels: Floats
    roots: Floats
    logs: Floats


def sum_paths(automaton: Automaton, scores: Floats, ties: Floats, offsets: Ints) -> Sums:
    """Sum over all paths of each sentence; the log of the sum is -inf where there is no path of finite score.

    Plain products lose what lies e^-700 below the sum over all label sequences, well-formed or not. That can matter
    only where the well-formed ones have so small a share: such sentences are looked at once more.
    """
    shift = _finite_max(scores)
    weights = np.exp(scores - shift[:, None])
    factors = np.exp(ties)
    out = Sums(np.zeros_like(scores), np.zeros(len(scores)), np.zeros(len(offsets) - 1))
    shares, scales = np.zeros(len(offsets) - 1), np.ones(len(scores))
    kernel.sums(
        _own_transitions(automaton),
        view(weights),
        view(factors),
        view(offsets),
        kernel.ForwardBackward(int(np.diff(offsets).max(initial=0)), automaton.states),
        *(view(array) for array in (shares, scales, out.labels, out.roots)),
    )
    scales[np.repeat(shares == 0.0, np.diff(offsets))] = 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        out.logs[:] = np.log(shares) + sums_of(np.log(scales) + shift, offsets)
        safe = sums_of(np.log(weights.sum(axis=1)) + shift + ties.max(axis=1), offsets) - out.logs < SAFE_RANGE
    for sentence in np.flatnonzero(~safe):
        where = slice(int(offsets[sentence]), int(offsets[sentence + 1]))
        if shares[sentence] == 0.0 or _loses(automaton, weights[where], factors[where]):
            _sum_wide((automaton, scores[where], ties[where]), out, where, int(sentence))
    return out


def arc_sums(automaton: Automaton, scores: Floats, ties: Floats, heads: Ints) -> Floats:
    """Give, for one sentence, the probability of the arc from each word's head, over all paths; 0 if none."""
    reach = np.arange(len(heads), dtype=np.int32)
    for word, head in enumerate(heads.tolist()):
        if head > 0:
            low, high = min(word, head - 1), max(word, head - 1)
            reach[low] = max(reach[low], high)
    chosen = np.zeros(len(heads))
    _arcs((automaton, scores, ties), reach, heads, chosen, np.zeros((0, 0)))
    return chosen


def arc_matrix(automaton: Automaton, scores: Floats, ties: Floats) -> Floats:
    """Give, for one sentence, the probability of every arc between words: row the head, column the dependent."""
    n = len(scores)
    matrix = np.zeros((n, n))
    reach = np.full(n, n - 1, dtype=np.int32)
    _arcs((automaton, scores, ties), reach, np.zeros(n, dtype=np.int32), np.zeros(0), matrix)
    return matrix


def draw_paths(
    automaton: Automaton, scores: Floats, ties: Floats, count: int, dice: np.random.Generator
) -> npt.NDArray[np.int32] | None:
    """Draw label sequences of one sentence by their probability, or None if there is none."""
    weights, factors, labels, names = _safe_weights(automaton, scores, ties)
    n = len(scores)
    out = np.zeros((count, n), dtype=np.int32)
    drawn = kernel.draw(
        _transitions(automaton, labels),
        view(weights),
        view(factors),
        n,
        kernel.ForwardBackward(n, automaton.states),
        *(view(array) for array in (np.empty(n), dice.random((count, n)), out)),
    )
    return names[out] if drawn else None


def k_best_paths(automaton: Automaton, scores: Floats, ties: Floats, k: int) -> tuple[npt.NDArray[np.int32], Floats]:
    """Find the k best label sequences of one sentence and their scores, the best first, or as many as there are."""
    n = len(scores)
    out = np.zeros((k, n), dtype=np.int32)
    totals = np.zeros(k)
    work = kernel.BestPaths(n, automaton.states, k)
    found = kernel.k_best(_own_transitions(automaton), view(scores), view(ties), n, k, work, view(out), view(totals))
    return out[:found], totals[:found]


def joint_paths(  # noqa: PLR0913, PLR0917 - labels and arcs of many sentences
    automaton: Automaton,
    scores: Floats,
    ties: Floats,
    offsets: Ints,
    arcs: ArcScores,
    starts: npt.NDArray[np.int64],
    floors: Floats,
    width: int,
) -> tuple[Ints, Floats, Floats]:
    """Find labels of paths by the sum of their labels' and their arcs' scores, with so many partial paths at a time.

    Of each sentence a path is known already that scores as much as its floor, or nothing is. Also gives each path's
    score, -inf if none is better, and a bound that no other path's score exceeds.
    """
    longest = int((offsets[1:] - offsets[:-1]).max(initial=0))
    best = np.zeros(len(scores), dtype=np.int32)
    totals, bounds = np.zeros(len(offsets) - 1), np.zeros(len(offsets) - 1)
    joint_kernel.search(
        _own_transitions(automaton),
        view(scores),
        view(ties),
        view(offsets),
        view(arcs),
        view(starts),
        view(_sides(automaton, scores.shape[1])),
        view(floors - CLOSE),
        joint_kernel.Beam(width, longest, scores.shape[1], automaton.states, _heights(automaton), _most(automaton)),
        view(best),
        view(totals),
        view(bounds),
    )
    return best, totals, bounds


@lru_cache(maxsize=64)
def _sides(automaton: Automaton, labels: int) -> Ints:
    """Tell for each label on which side a word with it has its head: after it (1), before it (2), or either (0)."""
    behind = (automaton.marks[:, [3, 5]] > 0).any(axis=1)
    ahead = (automaton.marks[:, [0, 2]] > 0).any(axis=1)
    counts = [np.bincount(automaton.labels[chosen], minlength=labels) for chosen in (ahead, behind & ~ahead)]
    every = np.bincount(automaton.labels, minlength=labels)
    return frozen_ints(np.where(every == 0, 0, np.where(counts[0] == every, 1, np.where(counts[1] == every, 2, 0))))


def _finite_max(scores: Floats) -> Floats:
    best: Floats = scores.max(axis=1, initial=-np.inf)
    return np.where(np.isfinite(best), best, 0.0)


def _loses(automaton: Automaton, weights: Floats, factors: Floats) -> bool:
    """Tell whether any product on the way through one sentence may have been too small for a number."""
    n = len(weights)
    work = kernel.ForwardBackward(n, automaton.states)
    kernel.forward(_own_transitions(automaton), view(weights), view(factors), n, work, view(np.ones(n)))
    alpha = np.asarray(work.alpha)
    least = [float(array[array > 0.0].min(initial=1.0)) for array in (alpha, weights, factors)]
    return bool(np.log(least).sum() < -SAFE_RANGE)


def _safe_weights(automaton: Automaton, scores: Floats, ties: Floats) -> tuple[Floats, Floats, Ints, Ints]:
    """Give one sentence's weights so that they can be multiplied out: factors, ties, and each transition's weight.

    Where scores differ too much, each transition gets a weight of its own, relative to the best way to its target: then
    the best way to every state weighs 1. The last array turns the third into labels.
    """
    shift = _finite_max(scores)
    weights = np.exp(scores - shift[:, None])
    total = best_paths(automaton, scores, ties, np.array([0, len(scores)], dtype=np.int32))[1][0]
    with np.errstate(divide="ignore", invalid="ignore"):
        safe = (np.log(weights.sum(axis=1)) + shift + ties.max(axis=1)).sum() - total < SAFE_RANGE
    if safe:
        return weights, np.exp(ties), automaton.labels, np.arange(scores.shape[1], dtype=np.int32)
    return _relative_weights(automaton, scores, ties)


def _relative_weights(automaton: Automaton, scores: Floats, ties: Floats) -> tuple[Floats, Floats, Ints, Ints]:
    weights = np.zeros((len(scores), len(automaton.labels)))
    best = np.full(automaton.states, -np.inf)
    best[0] = 0.0
    for word in range(len(scores)):
        ways = best[automaton.sources] + scores[word, automaton.labels] + ties[word, automaton.roots]
        best = np.full(automaton.states, -np.inf)
        np.maximum.at(best, automaton.targets, ways)
        at = best[automaton.targets]
        weights[word] = np.exp(ways - np.where(np.isfinite(at), at, 0.0), where=np.isfinite(ways), out=weights[word])
    each = np.arange(len(automaton.labels), dtype=np.int32)
    return weights, np.ones((len(scores), 2)), each, automaton.labels


def _sum_wide(given: tuple[Automaton, Floats, Floats], out: Sums, where: slice, sentence: int) -> None:
    """Sum over the paths of one sentence whose scores differ too much for plain products."""
    automaton, scores, ties = given
    offsets = np.array([0, len(scores)], dtype=np.int32)
    total = best_paths(automaton, scores, ties, offsets)[1][0]
    if not np.isfinite(total):
        out.labels[where], out.roots[where], out.logs[sentence] = 0.0, 0.0, -np.inf
        return
    weights, factors, labels, names = _relative_weights(automaton, scores, ties)
    shares, scales = np.zeros(1), np.ones(len(scores))
    marginals, rooted = np.zeros_like(weights), np.zeros(len(scores))
    kernel.sums(
        _transitions(automaton, labels),
        view(weights),
        view(factors),
        view(offsets),
        kernel.ForwardBackward(len(scores), automaton.states),
        *(view(array) for array in (shares, scales, marginals, rooted)),
    )
    summed = np.zeros_like(scores)
    for column, label in enumerate(names.tolist()):
        summed[:, label] += marginals[:, column]
    out.labels[where] = summed
    out.roots[where] = rooted
    # the best whole path weighs 1 up to the end, so the sum is its score and what the others add
    out.logs[sentence] = total + np.log(shares[0]) + np.log(scales).sum()


def _arcs(given: tuple[Automaton, Floats, Floats], reach: Ints, heads: Ints, chosen: Floats, matrix: Floats) -> None:
    automaton, scores, ties = given
    weights, factors, labels, _ = _safe_weights(automaton, scores, ties)
    n = len(scores)
    kernel.arcs(
        _transitions(automaton, labels),
        view(weights),
        view(factors),
        n,
        view(reach),
        view(heads),
        kernel.ForwardBackward(n, automaton.states),
        kernel.Tracks(n, automaton.states, _heights(automaton)),
        *(view(array) for array in (np.empty(n), chosen, matrix)),
    )
