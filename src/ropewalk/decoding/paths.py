"""Best paths and sums over paths through an automaton, for many sentences or for one.

`scores` is a table [words, labels] of log-probabilities or raw logits. `root_scores` is a table [words, 2]: each word's
score for not being the root, and for being it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import frozen_ints
from ropewalk.core.ragged import starts_of
from ropewalk.kernels import automaton as kernel
from ropewalk.kernels import joint as joint_kernel
from ropewalk.kernels import view
from ropewalk.kernels.automaton import Transitions
from ropewalk.kernels.codes import MARK_CLOSES_RIGHT, MARK_LEANS, MARK_OPENS_LEFT, MARK_WAITS
from ropewalk.kernels.joint import BeamSearch

if TYPE_CHECKING:
    from ropewalk.core.arrays import Ints
    from ropewalk.decoding.automaton import Automaton

ArcScores = npt.NDArray[np.float32]  # of all sentences in one row: for each word, a score for each head from 0 on
Floats = npt.NDArray[np.float64]

CLOSE = 1e-9  # sums of the same numbers in another order differ by less
SAFE_RANGE = 600.0  # exp(-SAFE_RANGE) is still a normal floating-point number


@lru_cache(maxsize=64)
def _own_transitions(automaton: Automaton) -> Transitions:
    return _transitions(automaton, automaton.labels)


def _transitions(automaton: Automaton, labels: Ints) -> Transitions:
    """Return an automaton as the buffers that kernels need, with the labels of its transitions replaced by `labels`."""
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
    """Return the largest number of transitions from one state."""
    return int(np.diff(automaton.begins).max(initial=0))


def words_of(offsets: Ints, chosen: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], Ints]:
    """Return the indices of the words of the `chosen` sentences, and the offsets of these sentences alone."""
    lengths = (offsets[1:] - offsets[:-1])[chosen]
    inner = starts_of(lengths).astype(np.int32)
    return np.repeat(offsets[chosen] - inner[:-1], lengths) + np.arange(inner[-1]), inner


def sums_of(values: Floats, offsets: Ints) -> Floats:
    """Return for each sentence the sum of `values` over its words."""
    sentences = len(offsets) - 1
    owners = np.repeat(np.arange(sentences), offsets[1:] - offsets[:-1])
    return np.bincount(owners, weights=values, minlength=sentences)[:sentences].astype(np.float64)


def best_paths(automaton: Automaton, scores: Floats, root_scores: Floats, offsets: Ints) -> tuple[Ints, Floats]:
    """Return the labels of each sentence's best path, and the score of the path: -inf if no path has a finite score."""
    longest = int(np.diff(offsets).max(initial=0))
    best = np.zeros(len(scores), dtype=np.int32)
    totals = np.zeros(len(offsets) - 1)
    work = kernel.BestPath(longest, automaton.states, scores.shape[1])
    kernel.viterbi(
        _own_transitions(automaton), view(scores), view(root_scores), view(offsets), work, view(best), view(totals)
    )
    return best, totals


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums over all paths of each sentence: marginals of labels, marginals of being the root, and log-sums.

    `labels` has the shape [words, labels]. `roots` has one number per word, and `logs` one log-sum per sentence.
    """

    labels: Floats
    roots: Floats
    logs: Floats


def sum_paths(automaton: Automaton, scores: Floats, root_scores: Floats, offsets: Ints) -> Sums:
    """Return marginals and log-sums over all paths of each sentence; a log-sum is -inf if no path has a finite score.

    The sums are first computed with plain products. These underflow for paths whose weight is less than e^-700 of the
    weight of all label sequences, well-formed or not. This matters only if all well-formed sequences have so little
    weight. Such sentences are summed again with weights relative to the best path.
    """
    shift = _finite_max(scores)
    weights = np.exp(scores - shift[:, None])
    factors = np.exp(root_scores)
    out = Sums(np.zeros_like(scores), np.zeros(len(scores)), np.zeros(len(offsets) - 1))
    accepted, scales = np.zeros(len(offsets) - 1), np.ones(len(scores))
    kernel.sums(
        _own_transitions(automaton),
        view(weights),
        view(factors),
        view(offsets),
        kernel.ForwardBackward(int(np.diff(offsets).max(initial=0)), automaton.states),
        *(view(array) for array in (accepted, scales, out.labels, out.roots)),
    )
    scales[np.repeat(accepted == 0.0, np.diff(offsets))] = 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        out.logs[:] = np.log(accepted) + sums_of(np.log(scales) + shift, offsets)
        safe = sums_of(np.log(weights.sum(axis=1)) + shift + root_scores.max(axis=1), offsets) - out.logs < SAFE_RANGE
    for sentence in np.flatnonzero(~safe):
        where = slice(int(offsets[sentence]), int(offsets[sentence + 1]))
        if accepted[sentence] == 0.0 or _loses(automaton, weights[where], factors[where]):
            _sum_wide((automaton, scores[where], root_scores[where]), out, where, int(sentence))
    return out


def arc_sums(automaton: Automaton, scores: Floats, root_scores: Floats, heads: Ints) -> Floats:
    """Return the probability of the arc from each word's head, in one sentence, over all paths.

    It is 0 for words whose head is node 0, and everywhere if there is no path.
    """
    reach = np.arange(len(heads), dtype=np.int32)
    for word, head in enumerate(heads.tolist()):
        if head > 0:
            low, high = min(word, head - 1), max(word, head - 1)
            reach[low] = max(reach[low], high)
    chosen = np.zeros(len(heads))
    _arcs((automaton, scores, root_scores), reach, heads, chosen, np.zeros((0, 0)))
    return chosen


def arc_matrix(automaton: Automaton, scores: Floats, root_scores: Floats) -> Floats:
    """Return the probability of every arc between the words of one sentence as a matrix [head, dependent]."""
    n = len(scores)
    matrix = np.zeros((n, n))
    reach = np.full(n, n - 1, dtype=np.int32)
    _arcs((automaton, scores, root_scores), reach, np.zeros(n, dtype=np.int32), np.zeros(0), matrix)
    return matrix


def draw_paths(
    automaton: Automaton, scores: Floats, root_scores: Floats, count: int, dice: np.random.Generator
) -> npt.NDArray[np.int32] | None:
    """Sample `count` label sequences of one sentence, or return None if no path has a finite score."""
    transitions, weights, factors, names = _safe_weights(automaton, scores, root_scores)
    n = len(scores)
    out = np.zeros((count, n), dtype=np.int32)
    drawn = kernel.draw(
        transitions,
        view(weights),
        view(factors),
        n,
        kernel.ForwardBackward(n, automaton.states),
        *(view(array) for array in (np.empty(n), dice.random((count, n)), out)),
    )
    return names[out] if drawn else None


def k_best_paths(
    automaton: Automaton, scores: Floats, root_scores: Floats, k: int
) -> tuple[npt.NDArray[np.int32], Floats]:
    """Return the `k` best label sequences of one sentence and their scores, the best first; fewer if fewer exist."""
    n = len(scores)
    out = np.zeros((k, n), dtype=np.int32)
    totals = np.zeros(k)
    work = kernel.BestPaths(n, automaton.states, k)
    count = kernel.k_best(
        _own_transitions(automaton), view(scores), view(root_scores), n, k, work, view(out), view(totals)
    )
    return out[:count], totals[:count]


@dataclass(frozen=True, slots=True, eq=False)
class SentenceScores:
    """The input of a beam search: tables of label scores and root scores with a row per word, and flat arc scores.

    The arc scores of sentence s begin at `arcs[starts[s]]`. `arcs` is empty if the search uses labels alone.
    """

    scores: Floats
    root_scores: Floats
    offsets: Ints
    arcs: ArcScores
    starts: npt.NDArray[np.int64]

    @property
    def longest(self) -> int:
        """The number of words of the longest sentence."""
        return int((self.offsets[1:] - self.offsets[:-1]).max(initial=0))

    def part(self, sentences: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], SentenceScores]:
        """Return the indices of the words of the chosen `sentences`, and the scores of these sentences alone."""
        positions, inner = words_of(self.offsets, sentences)
        return positions, SentenceScores(
            self.scores[positions], self.root_scores[positions], inner, self.arcs, self.starts[sentences]
        )

    def search(self, lower_bounds: Floats) -> tuple[BeamSearch, tuple[Ints, Floats, Floats]]:
        """Return the input of a beam-search kernel, and the arrays for its results: labels, scores and upper bounds.

        `lower_bounds` holds for each sentence the score of the best path found so far, or -inf.
        """
        sentences = len(self.offsets) - 1
        out = np.zeros(len(self.scores), dtype=np.int32), np.zeros(sentences), np.zeros(sentences)
        inputs = (self.scores, self.root_scores, self.offsets, self.arcs, self.starts, lower_bounds - CLOSE)
        return BeamSearch(*(view(array) for array in (*inputs, *out))), out


def joint_paths(
    automaton: Automaton, sentences: SentenceScores, lower_bounds: Floats, width: int
) -> tuple[Ints, Floats, Floats]:
    """Search for the best paths by label and arc scores together, with a beam of `width` partial paths.

    Return labels, scores and upper bounds. A score is -inf if no path reaches the sentence's lower bound. No path that
    the beam dropped has a score above the upper bound.
    """
    labels = sentences.scores.shape[1]
    search, results = sentences.search(lower_bounds)
    joint_kernel.search(
        _own_transitions(automaton),
        view(_sides(automaton, labels)),
        search,
        joint_kernel.Beam(width, sentences.longest, labels, automaton.states, _heights(automaton), _most(automaton)),
    )
    return results


@lru_cache(maxsize=64)
def _sides(automaton: Automaton, labels: int) -> Ints:
    """Return for each label the side of the word's head: 1 if after the word, 2 if before it, 0 if either."""
    behind = (automaton.marks[:, [MARK_LEANS, MARK_CLOSES_RIGHT]] > 0).any(axis=1)
    ahead = (automaton.marks[:, [MARK_OPENS_LEFT, MARK_WAITS]] > 0).any(axis=1)
    counts = [np.bincount(automaton.labels[chosen], minlength=labels) for chosen in (ahead, behind & ~ahead)]
    every = np.bincount(automaton.labels, minlength=labels)
    return frozen_ints(np.where(every == 0, 0, np.where(counts[0] == every, 1, np.where(counts[1] == every, 2, 0))))


def _finite_max(scores: Floats) -> Floats:
    best: Floats = scores.max(axis=1, initial=-np.inf)
    return np.where(np.isfinite(best), best, 0.0)


def _loses(automaton: Automaton, weights: Floats, factors: Floats) -> bool:
    """Return whether some product of weights in one sentence may have underflowed to 0."""
    n = len(weights)
    work = kernel.ForwardBackward(n, automaton.states)
    kernel.forward(_own_transitions(automaton), view(weights), view(factors), n, work, view(np.ones(n)))
    alpha = np.asarray(work.alpha)
    least = [float(array[array > 0.0].min(initial=1.0)) for array in (alpha, weights, factors)]
    return bool(np.log(least).sum() < -SAFE_RANGE)


def _safe_weights(
    automaton: Automaton, scores: Floats, root_scores: Floats
) -> tuple[Transitions, Floats, Floats, Ints]:
    """Return transitions, label weights, root weights, and a map of labels; the weights never underflow in products.

    If scores differ too much, each transition gets its own label and its own weight. The weight is relative to the best
    path to the transition's target state, so that the best path to every state has weight 1. The last array maps the
    labels of these transitions to labels of the alphabet.
    """
    shift = _finite_max(scores)
    weights = np.exp(scores - shift[:, None])
    total = best_paths(automaton, scores, root_scores, np.array([0, len(scores)], dtype=np.int32))[1][0]
    with np.errstate(divide="ignore", invalid="ignore"):
        safe = (np.log(weights.sum(axis=1)) + shift + root_scores.max(axis=1)).sum() - total < SAFE_RANGE
    if safe:
        return _own_transitions(automaton), weights, np.exp(root_scores), np.arange(scores.shape[1], dtype=np.int32)
    return _relative_weights(automaton, scores, root_scores)


def _relative_weights(
    automaton: Automaton, scores: Floats, root_scores: Floats
) -> tuple[Transitions, Floats, Floats, Ints]:
    weights = np.zeros((len(scores), len(automaton.labels)))
    best = np.full(automaton.states, -np.inf)
    best[0] = 0.0
    for word in range(len(scores)):
        path_scores = best[automaton.sources] + scores[word, automaton.labels] + root_scores[word, automaton.roots]
        best = np.full(automaton.states, -np.inf)
        np.maximum.at(best, automaton.targets, path_scores)
        highest = best[automaton.targets]
        relative = path_scores - np.where(np.isfinite(highest), highest, 0.0)
        weights[word] = np.exp(relative, where=np.isfinite(path_scores), out=weights[word])
    each = np.arange(len(automaton.labels), dtype=np.int32)
    return _transitions(automaton, each), weights, np.ones((len(scores), 2)), automaton.labels


def _sum_wide(sentence_scores: tuple[Automaton, Floats, Floats], out: Sums, where: slice, sentence: int) -> None:
    """Write into `out` the sums of one sentence whose scores differ too much for plain products.

    `where` is the slice of its words, and `sentence` its index.
    """
    automaton, scores, root_scores = sentence_scores
    offsets = np.array([0, len(scores)], dtype=np.int32)
    total = best_paths(automaton, scores, root_scores, offsets)[1][0]
    if not np.isfinite(total):
        out.labels[where], out.roots[where], out.logs[sentence] = 0.0, 0.0, -np.inf
        return
    transitions, weights, factors, names = _relative_weights(automaton, scores, root_scores)
    accepted, scales = np.zeros(1), np.ones(len(scores))
    marginals, rooted = np.zeros_like(weights), np.zeros(len(scores))
    kernel.sums(
        transitions,
        view(weights),
        view(factors),
        view(offsets),
        kernel.ForwardBackward(len(scores), automaton.states),
        *(view(array) for array in (accepted, scales, marginals, rooted)),
    )
    summed = np.zeros_like(scores)
    for column, label in enumerate(names.tolist()):
        summed[:, label] += marginals[:, column]
    out.labels[where] = summed
    out.roots[where] = rooted
    # the best path weighs 1, so the log of the sum is its score plus the log of the relative sum
    out.logs[sentence] = total + np.log(accepted[0]) + np.log(scales).sum()


def _arcs(
    sentence_scores: tuple[Automaton, Floats, Floats], reach: Ints, heads: Ints, chosen: Floats, matrix: Floats
) -> None:
    automaton, scores, root_scores = sentence_scores
    transitions, weights, factors, _ = _safe_weights(automaton, scores, root_scores)
    n = len(scores)
    kernel.arcs(
        transitions,
        view(weights),
        view(factors),
        n,
        view(reach),
        view(heads),
        kernel.ForwardBackward(n, automaton.states),
        kernel.Tracks(n, automaton.states, _heights(automaton)),
        *(view(array) for array in (np.empty(n), chosen, matrix)),
    )
