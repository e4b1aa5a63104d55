"""Probabilities of trees and arcs, k-best trees, and sampled trees, from sums over all well-formed label sequences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import Rebuilt, checked_offsets, floats, frozen_array, ints, numbers_below
from ropewalk.decoding.automaton import Automaton, build
from ropewalk.decoding.paths import (
    Floats,
    Sums,
    arc_matrix,
    arc_sums,
    best_paths,
    draw_paths,
    k_best_paths,
    sum_paths,
    sums_of,
    words_of,
)
from ropewalk.decoding.problem import (
    DEEPEST,
    DEPTH,
    arc_encodings,
    checked,
    demand_depth,
    exact_encodings,
    machine_of,
    root_score_table,
    spelled_heads,
)
from ropewalk.errors import MismatchError, OptionError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.decoding.problem import Best, LabelIds, Logs
    from ropewalk.encodings import Encoding, Machine


@dataclass(frozen=True, slots=True)
class Candidate:
    """One label sequence of a sentence, with the heads that it spells and its score."""

    labels: tuple[str, ...]
    heads: tuple[int, ...]
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Scored(Rebuilt):
    """The checked scores of many sentences, for an encoding that has a stack machine.

    `table` [words, labels] holds label scores, `root_scores` [words, 2] those of not being and of being the root. Both
    are already divided by the temperature.
    """

    encoding: Encoding
    machine: Machine
    offsets: Ints
    table: Floats
    root_scores: Floats

    def __post_init__(self) -> None:
        offsets = checked_offsets(self.offsets)
        object.__setattr__(self, "offsets", frozen_array(offsets))
        for name, columns in (("table", len(self.machine.labels)), ("root_scores", 2)):
            object.__setattr__(self, name, frozen_array(checked(getattr(self, name), columns, int(offsets[-1]))))
        if self.root_scores.max(initial=0.0) > 0.0:
            raise MismatchError(
                f"a root score is {self.root_scores.max()}; expected logarithms of probabilities, none above 0"
            )

    def automaton(self, depth: int) -> Automaton:
        """Return the automaton with up to `depth` open brackets; it is cached."""
        demand_depth(depth)
        return build(self.machine, depth)

    def sentence(self, number: int) -> tuple[Floats, Floats, slice]:
        """Return the label scores and root scores of sentence `number`, from 0, and the slice of its words."""
        if not 0 <= number < len(self.offsets) - 1:
            raise IndexError(f"sentence {number} of {len(self.offsets) - 1}; expected one from 0 on")
        where = slice(int(self.offsets[number]), int(self.offsets[number + 1]))
        return self.table[where], self.root_scores[where], where


def scored(  # noqa: PLR0913 - the parts of a question
    encoding: Encoding,
    scores: npt.ArrayLike,
    alphabet: Sequence[str],
    *,
    offsets: npt.ArrayLike | None = None,
    root: Logs | None = None,
    temperature: float = 1.0,
) -> Scored:
    """Return checked scores, divided by `temperature`, for the other functions of this module.

    `scores` is a table [words, labels] and `root` each word's log-probability of being the root. Without `offsets` all
    words are one sentence. Raise an `UnknownNameError` if the encoding has no stack machine.
    """
    if not 0.0 < temperature < np.inf:
        raise OptionError(f"the temperature is {temperature}; expected a number above 0")
    scores = floats(scores, "scores")
    bounds = checked_offsets([0, len(np.atleast_1d(scores))] if offsets is None else offsets)
    words = int(bounds[-1])
    machine = machine_of(encoding, alphabet)
    if machine is None:
        raise UnknownNameError("encoding with exact decoding", encoding.spec, exact_encodings())
    table = checked(scores, len(alphabet), words) / temperature
    return Scored(encoding, machine, bounds, table, root_score_table(machine, root, words) / temperature)


def marginals(scores: Scored, *, depth: int = DEPTH) -> Sums:
    """Return the marginal probabilities of each word's labels and of being the root, over all well-formed sequences.

    The sums are over sequences with up to `depth` open brackets. A larger depth is used for sentences in which no such
    sequence has a finite score.
    """
    return _grown(scores, depth)[0]


def tree_scores(scores: Scored, ids: LabelIds, heads: Ints) -> Floats:
    """Return for each sentence the sum of the scores of its labels `ids` and of its root scores, given `heads`."""
    ids = numbers_below(ids, scores.table.shape[1], "labels", size=len(scores.table))
    heads = ints(heads, "heads", size=len(scores.table))
    words = np.arange(len(ids))
    rooted = (heads == 0).astype(np.intp) if scores.machine.marks_root else np.zeros(len(ids), dtype=np.intp)
    return sums_of(scores.table[words, ids] + scores.root_scores[words, rooted], scores.offsets)


def confidences(scores: Scored, ids: LabelIds, heads: Ints, *, depth: int = DEPTH) -> tuple[Floats, Floats]:
    """Return the probability of each word's arc, and of each whole tree, for labels and heads that `decode` returned.

    Both are 0 where no well-formed label sequence up to the largest depth has a finite score.
    """
    ids, heads = ints(ids, "labels"), ints(heads, "heads")
    if len(ids) != len(scores.table) or len(heads) != len(scores.table):
        raise MismatchError(
            f"{len(ids)} labels and {len(heads)} heads for scores of {len(scores.table)} words; pass one for each"
        )
    arcs, sums = _summed_heads(scores, heads, depth)
    with np.errstate(invalid="ignore", over="ignore"):  # labels that are not well-formed may score more than the sum
        trees = np.exp(tree_scores(scores, ids, heads) - sums.logs)
    return arcs, np.clip(np.nan_to_num(trees, posinf=0.0), 0.0, 1.0)


def head_probabilities(scores: Scored, heads: Ints, *, depth: int = DEPTH) -> Floats:
    """Return the marginal probability of each word's head in `heads`; the heads may be of any trees."""
    return _summed_heads(scores, heads, depth)[0]


def _summed_heads(scores: Scored, heads: Ints, depth: int) -> tuple[Floats, Sums]:
    """Return the marginal probability of each word's head, and the sums over all well-formed label sequences."""
    _demand_arcs(scores)
    lengths = np.diff(scores.offsets)
    heads = ints(heads, "heads")
    if len(heads) != len(scores.table):
        raise MismatchError(f"{len(heads)} heads for scores of {len(scores.table)} words; pass one for each")
    if (heads < 0).any() or (heads > np.repeat(lengths, lengths)).any():
        raise MismatchError("a head is outside its sentence; pass whole trees, as `decode` returns them")
    sums, depths = _grown(scores, depth)
    arcs = np.where(heads == 0, sums.roots, 0.0)
    for number in np.flatnonzero(np.isfinite(sums.logs)).tolist():
        table, root_scores, where = scores.sentence(number)
        arcs[where] += arc_sums(
            scores.automaton(int(depths[number])), table, root_scores, np.ascontiguousarray(heads[where])
        )
    return np.clip(arcs, 0.0, 1.0), sums


def arc_probabilities(scores: Scored, sentence: int = 0, *, depth: int = DEPTH) -> Floats:
    """Return the probability of every arc of one sentence as a matrix [head, dependent].

    Row 0 is for arcs from node 0. Column 0 holds only zeros.
    """
    _demand_arcs(scores)
    table, root_scores, _ = scores.sentence(sentence)
    automaton = _deep_enough(scores, sentence, depth)
    words = len(table)
    out = np.zeros((words + 1, words + 1))
    out[1:, 1:] = arc_matrix(automaton, table, root_scores)
    out[0, 1:] = sum_paths(automaton, table, root_scores, np.array([0, words], dtype=np.int32)).roots
    return out


def k_best(scores: Scored, k: int, sentence: int = 0, *, depth: int = DEPTH) -> list[Candidate]:
    """Return the `k` best label sequences of one sentence with their trees, the best first; fewer if fewer exist."""
    if k < 1:
        raise OptionError(f"k is {k}; ask for at least 1 tree")
    table, root_scores, _ = scores.sentence(sentence)
    rows, totals = k_best_paths(_deep_enough(scores, sentence, depth), table, root_scores, k)
    return _candidates(scores, rows, totals)


def sample(scores: Scored, count: int, sentence: int = 0, *, seed: int, depth: int = DEPTH) -> list[Candidate]:
    """Sample `count` label sequences of one sentence with their trees; return an empty list if none is well-formed."""
    if count < 1:
        raise OptionError(f"the number of samples is {count}; ask for at least 1 tree")
    table, root_scores, where = scores.sentence(sentence)
    rows = draw_paths(_deep_enough(scores, sentence, depth), table, root_scores, count, np.random.default_rng(seed))
    if rows is None:
        return []
    bounds = np.arange(count + 1, dtype=np.int32) * (where.stop - where.start)
    heads = spelled_heads(scores.encoding, (rows.reshape(-1),), bounds, [scores.machine.labels])
    repeated = replace(
        scores, offsets=bounds, table=np.tile(table, (count, 1)), root_scores=np.tile(root_scores, (count, 1))
    )
    return _candidates(scores, rows, tree_scores(repeated, rows.reshape(-1), heads))


def fit_temperature(scores: Scored, best: Best, gold: Ints, *, depth: int = DEPTH) -> float:
    """Return the temperature at which the probabilities of decoded arcs agree best with their accuracy.

    It minimizes the log-loss of "this arc is right" on sentences with the heads `gold`, with golden-section search.
    """
    if not len(best.heads):
        raise MismatchError("there are no words to fit a temperature on; pass sentences with gold heads")
    right = best.heads == ints(gold, "gold heads", size=len(best.heads))

    def loss(log_temperature: float) -> float:
        factor = float(np.exp(log_temperature))
        cooled = replace(scores, table=scores.table / factor, root_scores=scores.root_scores / factor)
        arcs, _ = confidences(cooled, best.ids[0], best.heads, depth=depth)
        clipped = np.clip(arcs, 1e-6, 1 - 1e-6)
        return float(-np.where(right, np.log(clipped), np.log1p(-clipped)).mean())

    low, high = np.log(0.25), np.log(8.0)
    ratio = (np.sqrt(5.0) - 1) / 2
    inner, outer = high - ratio * (high - low), low + ratio * (high - low)
    at_inner, at_outer = loss(inner), loss(outer)
    for _ in range(12):
        if at_inner < at_outer:
            high, outer, at_outer = outer, inner, at_inner
            inner = high - ratio * (high - low)
            at_inner = loss(inner)
        else:
            low, inner, at_inner = inner, outer, at_outer
            outer = low + ratio * (high - low)
            at_outer = loss(outer)
    return float(np.exp((low + high) / 2))


def _demand_arcs(scores: Scored) -> None:
    if not scores.machine.marks_arcs:
        raise UnknownNameError("encoding with arc probabilities", scores.encoding.spec, arc_encodings())


def _grown(scores: Scored, depth: int) -> tuple[Sums, Ints]:
    """Return the sums over all well-formed label sequences, and the depth of the automaton used for each sentence.

    The depth is `depth`, or the first larger one with a path of finite score.
    """
    out = sum_paths(scores.automaton(depth), scores.table, scores.root_scores, scores.offsets)
    lengths = np.diff(scores.offsets)
    depths = np.full(len(lengths), depth, dtype=np.int32)
    while depth + 2 <= DEEPEST and len(chosen := np.flatnonzero(~np.isfinite(out.logs) & (lengths > depth))):
        depth += 2
        positions, inner = words_of(scores.offsets, chosen)
        again = sum_paths(scores.automaton(depth), scores.table[positions], scores.root_scores[positions], inner)
        out.labels[positions] = again.labels
        out.roots[positions] = again.roots
        out.logs[chosen] = again.logs
        depths[chosen] = depth
    return out, depths


def _deep_enough(scores: Scored, sentence: int, depth: int) -> Automaton:
    """Return the automaton of depth `depth`, or the first deeper one with a path of finite score for the sentence."""
    table, root_scores, _ = scores.sentence(sentence)
    bounds = np.array([0, len(table)], dtype=np.int32)
    while depth < len(table) and depth + 2 <= DEEPEST:
        if np.isfinite(best_paths(scores.automaton(depth), table, root_scores, bounds)[1][0]):
            break
        depth += 2
    return scores.automaton(depth)


def _candidates(scores: Scored, rows: LabelIds, totals: Floats) -> list[Candidate]:
    words = rows.shape[1]
    bounds = (np.arange(len(rows) + 1) * words).astype(np.int32)
    heads = spelled_heads(scores.encoding, (rows.reshape(-1),), bounds, [scores.machine.labels])
    heads = heads.reshape(len(rows), words)
    names = scores.machine.labels
    return [
        Candidate(tuple(names[label] for label in row), tuple(tree), total)
        for row, tree, total in zip(rows.tolist(), heads.tolist(), totals.tolist(), strict=True)
    ]
