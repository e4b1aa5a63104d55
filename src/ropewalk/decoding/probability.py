"""How sure a tree is, and other trees beside it: sums over all well-formed label sequences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import Rebuilt, checked_offsets, floats, frozen_array, ints, numbers_below
from ropewalk.decoding.automaton import Automaton, build
from ropewalk.decoding.inputs import (
    DEEPEST,
    DEPTH,
    arc_encodings,
    checked,
    demand_depth,
    exact_encodings,
    machine_of,
    root_ties,
    spelled_heads,
    words_of,
)
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
)
from ropewalk.errors import MismatchError, OptionError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.decoding.best import Best
    from ropewalk.decoding.inputs import LabelIds, Logs
    from ropewalk.encodings import Encoding, Machine


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of several label sequences for a sentence: its labels, its heads and its score."""

    labels: tuple[str, ...]
    heads: tuple[int, ...]
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Scored(Rebuilt):
    """The scores of many sentences for an encoding with an automaton, ready to be summed.

    `table` and `ties` are divided by the temperature.
    """

    encoding: Encoding
    machine: Machine
    offsets: Ints
    table: Floats
    ties: Floats

    def __post_init__(self) -> None:
        offsets = checked_offsets(self.offsets)
        object.__setattr__(self, "offsets", frozen_array(offsets))
        for name, columns in (("table", len(self.machine.labels)), ("ties", 2)):
            object.__setattr__(self, name, frozen_array(checked(getattr(self, name), columns, int(offsets[-1]))))
        if self.ties.max(initial=0.0) > 0.0:
            raise MismatchError(f"a tie is {self.ties.max()}; expected logarithms of probabilities, none above 0")

    def automaton(self, depth: int) -> Automaton:
        """Build the automaton of a depth, or take the one built before."""
        demand_depth(depth)
        return build(self.machine, depth)

    def sentence(self, number: int) -> tuple[Floats, Floats, slice]:
        """Cut out one sentence."""
        if not 0 <= number < len(self.offsets) - 1:
            raise IndexError(f"sentence {number} of {len(self.offsets) - 1}")
        where = slice(int(self.offsets[number]), int(self.offsets[number + 1]))
        return self.table[where], self.ties[where], where


def scored(  # noqa: PLR0913 - the parts of a question
    encoding: Encoding,
    scores: npt.ArrayLike,
    alphabet: Sequence[str],
    *,
    offsets: npt.ArrayLike | None = None,
    root: Logs | None = None,
    temperature: float = 1.0,
) -> Scored:
    """Take the scores of sentences, of one if there are no offsets, for an encoding that has an automaton."""
    if not 0.0 < temperature < np.inf:
        raise OptionError(f"the temperature is {temperature}; expected a number above 0")
    scores = floats(scores, "scores")
    bounds = checked_offsets([0, len(np.atleast_1d(scores))] if offsets is None else offsets)
    words = int(bounds[-1])
    machine = machine_of(encoding, alphabet)
    if machine is None:
        raise UnknownNameError("encoding with exact decoding", encoding.spec, exact_encodings())
    table = checked(scores, len(alphabet), words) / temperature
    return Scored(encoding, machine, bounds, table, root_ties(machine, root, words) / temperature)


def marginals(given: Scored, *, depth: int = DEPTH) -> Sums:
    """Give the probability of every label and of every word being the root, over all well-formed sequences.

    A sentence none of whose sequences up to the depth has a finite score is summed in deeper automata.
    """
    return _grown(given, depth)[0]


def tree_scores(given: Scored, ids: LabelIds, heads: Ints) -> Floats:
    """Add up what the labels and the root of each sentence gain."""
    ids = numbers_below(ids, given.table.shape[1], "labels", size=len(given.table))
    heads = ints(heads, "heads", size=len(given.table))
    words = np.arange(len(ids))
    rooted = (heads == 0).astype(np.intp) if given.machine.marks_root else np.zeros(len(ids), dtype=np.intp)
    return sums_of(given.table[words, ids] + given.ties[words, rooted], given.offsets)


def confidences(given: Scored, ids: LabelIds, heads: Ints, *, depth: int = DEPTH) -> tuple[Floats, Floats]:
    """Give the probability of each word's arc, and of each whole tree, for trees that `decode` found.

    Both are 0 where no well-formed sequence within reach has a finite score.
    """
    _demand_arcs(given)
    lengths = np.diff(given.offsets)
    ids, heads = ints(ids, "labels"), ints(heads, "heads")
    if len(ids) != len(given.table) or len(heads) != len(given.table):
        raise MismatchError(f"{len(ids)} labels and {len(heads)} heads for scores of {len(given.table)} words")
    if (heads < 0).any() or (heads > np.repeat(lengths, lengths)).any():
        raise MismatchError("a head lies outside its sentence; expected whole trees, as `decode` gives them")
    sums, depths = _grown(given, depth)
    arcs = np.where(heads == 0, sums.roots, 0.0)
    for number in np.flatnonzero(np.isfinite(sums.logs)).tolist():
        table, ties, where = given.sentence(number)
        arcs[where] += arc_sums(given.automaton(int(depths[number])), table, ties, np.ascontiguousarray(heads[where]))
    with np.errstate(invalid="ignore", over="ignore"):  # what is no sequence may score more than all that are
        trees = np.exp(tree_scores(given, ids, heads) - sums.logs)
    return np.clip(arcs, 0.0, 1.0), np.clip(np.nan_to_num(trees, posinf=0.0), 0.0, 1.0)


def arc_probabilities(given: Scored, sentence: int = 0, *, depth: int = DEPTH) -> Floats:
    """Give the probability of every arc of one sentence: row the head, 0 the root, column the dependent from 1.

    Column 0 is empty.
    """
    _demand_arcs(given)
    table, ties, _ = given.sentence(sentence)
    automaton = _deep_enough(given, sentence, depth)
    words = len(table)
    out = np.zeros((words + 1, words + 1))
    out[1:, 1:] = arc_matrix(automaton, table, ties)
    out[0, 1:] = sum_paths(automaton, table, ties, np.array([0, words], dtype=np.int32)).roots
    return out


def k_best(given: Scored, k: int, sentence: int = 0, *, depth: int = DEPTH) -> list[Candidate]:
    """Give the k best label sequences of one sentence and their trees, the best first, or as many as there are."""
    if k < 1:
        raise OptionError(f"the {k} best trees were asked for; expected at least 1")
    table, ties, _ = given.sentence(sentence)
    rows, totals = k_best_paths(_deep_enough(given, sentence, depth), table, ties, k)
    return _candidates(given, rows, totals)


def sample(given: Scored, count: int, sentence: int = 0, *, seed: int, depth: int = DEPTH) -> list[Candidate]:
    """Draw label sequences of one sentence and their trees by their probability; empty if there is none."""
    if count < 1:
        raise OptionError(f"{count} trees were to be drawn; expected at least 1")
    table, ties, where = given.sentence(sentence)
    rows = draw_paths(_deep_enough(given, sentence, depth), table, ties, count, np.random.default_rng(seed))
    if rows is None:
        return []
    bounds = np.arange(count + 1, dtype=np.int32) * (where.stop - where.start)
    heads = spelled_heads(given.encoding, (rows.reshape(-1),), bounds, [given.machine.labels])
    repeated = replace(given, offsets=bounds, table=np.tile(table, (count, 1)), ties=np.tile(ties, (count, 1)))
    return _candidates(given, rows, tree_scores(repeated, rows.reshape(-1), heads))


def fit_temperature(given: Scored, best: Best, gold: Ints, *, depth: int = DEPTH) -> float:
    """Find the temperature at which the arcs found are as often right as their probabilities say.

    It makes the log-loss of "this arc is right" smallest on the sentences given, whose gold heads are known.
    """
    if not len(best.heads):
        raise MismatchError("no words to find a temperature on; give sentences whose heads are known")
    right = best.heads == ints(gold, "gold heads", size=len(best.heads))

    def loss(log_temperature: float) -> float:
        factor = float(np.exp(log_temperature))
        cooled = replace(given, table=given.table / factor, ties=given.ties / factor)
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


def _demand_arcs(given: Scored) -> None:
    if not given.machine.marks_arcs:
        raise UnknownNameError("encoding with arc probabilities", given.encoding.spec, arc_encodings())


def _grown(given: Scored, depth: int) -> tuple[Sums, Ints]:
    """Sum in the automaton of a depth, what has no path there in deeper ones; also the depth used for each sentence."""
    out = sum_paths(given.automaton(depth), given.table, given.ties, given.offsets)
    lengths = np.diff(given.offsets)
    depths = np.full(len(lengths), depth, dtype=np.int32)
    while depth + 2 <= DEEPEST and len(chosen := np.flatnonzero(~np.isfinite(out.logs) & (lengths > depth))):
        depth += 2
        places, inner = words_of(given.offsets, chosen)
        again = sum_paths(given.automaton(depth), given.table[places], given.ties[places], inner)
        out.labels[places] = again.labels
        out.roots[places] = again.roots
        out.logs[chosen] = again.logs
        depths[chosen] = depth
    return out, depths


def _deep_enough(given: Scored, sentence: int, depth: int) -> Automaton:
    """Give the automaton of a depth, or the first deeper one in which a sentence has a path of finite score."""
    table, ties, _ = given.sentence(sentence)
    bounds = np.array([0, len(table)], dtype=np.int32)
    while depth < len(table) and depth + 2 <= DEEPEST:
        if np.isfinite(best_paths(given.automaton(depth), table, ties, bounds)[1][0]):
            break
        depth += 2
    return given.automaton(depth)


def _candidates(given: Scored, rows: LabelIds, totals: Floats) -> list[Candidate]:
    words = rows.shape[1]
    bounds = (np.arange(len(rows) + 1) * words).astype(np.int32)
    heads = spelled_heads(given.encoding, (rows.reshape(-1),), bounds, [given.machine.labels])
    heads = heads.reshape(len(rows), words)
    names = given.machine.labels
    return [
        Candidate(tuple(names[label] for label in row), tuple(tree), total)
        for row, tree, total in zip(rows.tolist(), heads.tolist(), totals.tolist(), strict=True)
    ]
