"""Searches for the best labels of many sentences, shared by the exact and the joint decoder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ropewalk.core.ragged import Offsets
from ropewalk.core.repair import repair
from ropewalk.decoding.automaton import build
from ropewalk.decoding.paths import SentenceScores, best_paths, joint_paths, sums_of
from ropewalk.decoding.problem import (
    DEEPEST,
    DEPTH,
    Best,
    arc_rows,
    arc_starts,
    arc_widths,
    machine_of,
    root_score_table,
    spelled_heads,
    stacks_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.decoding.deep import Memory
    from ropewalk.decoding.paths import ArcScores, Floats
    from ropewalk.decoding.problem import LabelIds, LabelTables, Problem
    from ropewalk.encodings import BracketStacks, Machine

    # returns labels, scores and upper bounds, from sentences, lower bounds and the width of the beam
    Search = Callable[[SentenceScores, Floats, int], tuple[Ints, Floats, Floats]]

WIDEST = 1024  # states of the beam that replaces an automaton: wide, because its answer should still be exact
LONGEST = 500  # longer sentences get only the first, narrowest search
WIDTHS = (1, 4, 16, 128)  # of the beam in joint decoding: each is tried only if the one before proves nothing
STACK_WIDTHS = (4,)  # for brackets on stacks: a second search would cost more time than it is worth
JOINT_STACK_WIDTHS = (4, 16, 64)  # for brackets on stacks with scores of arcs


def machine_for(labels: LabelTables) -> Machine | BracketStacks | None:
    """Return the stack machine of the labels, or their brackets on stacks.

    Return None if the encoding has neither, or more than one label column.
    """
    if len(labels.alphabets) != 1:
        return None
    return machine_of(labels.encoding, labels.alphabets[0]) or stacks_of(labels.encoding, labels.alphabets[0])


@dataclass(slots=True, eq=False)
class SearchState:
    """The sentences to decode and the best labels found so far; at first each word has its own best label.

    For each sentence, `totals` is the score of the labels in `ids`, `found` whether these labels are well-formed, and
    `exact` whether they are proved to be the best.
    """

    sentences: SentenceScores
    ids: LabelIds
    totals: Floats
    exact: Bools
    found: Bools

    @classmethod
    def of(cls, sentences: SentenceScores) -> SearchState:
        """Return the initial state for `sentences`: each word has its own best label, and nothing is found yet."""
        count = len(sentences.offsets) - 1
        blank = np.zeros(count, dtype=np.bool_)
        return cls(sentences, best_labels(sentences.scores), np.zeros(count), blank.copy(), blank.copy())

    @classmethod
    def of_problem(cls, problem: Problem, machine: Machine | BracketStacks, *, with_arcs: bool) -> SearchState:
        """Return the initial state for the first label column of `problem`, with its arc scores if `with_arcs`."""
        assert problem.labels is not None  # noqa: S101 - `decode` has checked it
        offsets, table = problem.offsets, problem.tables[0]
        arcs, starts = np.zeros(0, dtype=np.float32), np.zeros(len(offsets) - 1, dtype=np.int64)
        if with_arcs:
            assert problem.arcs is not None  # noqa: S101 - likewise
            arcs, starts = _less_best(problem.arcs, offsets), arc_starts(offsets)
        root_scores = root_score_table(machine, problem.labels.root, len(table))
        return cls.of(SentenceScores(table, root_scores, offsets, arcs, starts))


def best_labels(table: Floats) -> LabelIds:
    """Return the index of each word's best label in a score table [words, labels]."""
    best = table.argmax(axis=1) if table.shape[1] else np.zeros(len(table))
    return best.astype(np.int32)


def spelled_trees(problem: Problem, task: SearchState | None, policy: str) -> Best:
    """Return the trees that the labels of a finished search spell, repaired with the repair policy `policy`.

    If `task` is None, each word gets its own best label instead.
    """
    labels, offsets, tables = problem.labels, problem.offsets, problem.tables
    assert labels is not None  # noqa: S101 - `decode` has checked it
    if task is None:
        ids = tuple(best_labels(table) for table in tables)
        exact = found = np.zeros(len(offsets) - 1, dtype=np.bool_)
        totals = np.zeros(len(offsets) - 1)
    else:
        ids, totals, exact, found = (task.ids,), task.totals, task.exact, task.found
    spelled = spelled_heads(labels.encoding, ids, offsets, labels.alphabets, labels.upos)
    heads = repair(spelled, Offsets(offsets), policy).trees.heads
    words = int(offsets[-1])
    own = sum((t[np.arange(words), column] for t, column in zip(tables, ids, strict=True)), start=np.zeros(words))
    return Best(ids, heads, np.where(found, totals, sums_of(own, offsets)), exact, found)


@lru_cache(maxsize=8)
def _memory(machine: Machine) -> Memory:
    from ropewalk.decoding.deep import Memory  # needed for few sentences

    return Memory(machine)


def search_exactly(task: SearchState, machine: Machine, depth: int) -> None:
    """Find the best well-formed labels of each sentence that has none yet, and store them in `task`.

    The first search uses the automaton with up to `depth` open brackets. Sentences without a path through it are
    searched with deeper automata, up to `DEEPEST`. The last resort is a beam search over the states of the machine,
    which have no limit.
    """
    if task.exact.all() and task.found.all():
        return
    sentences = task.sentences
    lengths = np.diff(sentences.offsets)
    waiting = np.flatnonzero((lengths > 0) & ~task.found)
    task.exact[lengths == 0] = task.found[lengths == 0] = True
    while len(waiting) and depth <= DEEPEST:
        positions, part = sentences.part(waiting)
        best, sums = best_paths(build(machine, depth), part.scores, part.root_scores, part.offsets)
        fits = np.isfinite(sums)
        task.totals[waiting[fits]] = sums[fits]
        task.exact[waiting[fits]] = task.found[waiting[fits]] = True
        done = np.repeat(fits, np.diff(part.offsets))
        task.ids[positions[done]] = best[done]
        waiting = waiting[~fits & (lengths[waiting] > depth)]
        depth += 2
    if len(waiting):
        _search_deeply(task, machine, waiting)


def _search_deeply(task: SearchState, machine: Machine, waiting: npt.NDArray[np.intp]) -> None:
    """Search over the states of the machine itself, for sentences that are too deep for every automaton."""
    from ropewalk.decoding.deep import deep_search  # needed for few sentences

    sentences = task.sentences
    for sentence in waiting.tolist():
        where = slice(int(sentences.offsets[sentence]), int(sentences.offsets[sentence + 1]))
        result = deep_search(_memory(machine), sentences.scores[where], sentences.root_scores[where], width=WIDEST)
        if result is not None:
            task.totals[sentence] = result.score
            task.ids[where] = result.labels
            task.found[sentence] = True
            task.exact[sentence] = result.whole


def search_jointly(task: SearchState, machine: Machine, depth: int) -> None:
    """Search for the best labels by label and arc scores together, and store them in `task`.

    The beam gets wider until the result is proved to be the best. Sentences too deep for every automaton are skipped;
    the caller decodes them by labels alone.
    """
    lengths = task.sentences.offsets[1:] - task.sentences.offsets[:-1]
    waiting = np.flatnonzero(lengths > 0)
    while len(waiting) and depth <= DEEPEST:
        _widen(task, waiting, partial(joint_paths, build(machine, depth)), WIDTHS)
        waiting = waiting[~task.found[waiting] & (lengths[waiting] > depth)]
        depth += 2


def search_stacks(task: SearchState, stacks: BracketStacks) -> None:
    """Search for the best labels that spell trees, by label scores and, if there are any, arc scores.

    A result that is not proved to be the best is replaced by the best projective labels if these score more. Sentences
    without a result are searched again without planes, so that any two arcs may cross.
    """
    from ropewalk.decoding.stacks import stack_paths  # not needed for encodings with a machine

    widths = JOINT_STACK_WIDTHS if len(task.sentences.arcs) else STACK_WIDTHS
    lengths = np.diff(task.sentences.offsets)
    task.exact[lengths == 0] = task.found[lengths == 0] = True
    _widen(task, np.flatnonzero(lengths > 0), partial(stack_paths, stacks), widths)
    if stacks.projective is not None and stacks.projective.labels:
        _compare(task, stacks.labels, stacks.projective)
    if stacks.planes:
        anywhere = partial(stack_paths, replace(stacks, planes=()))
        _widen(task, np.flatnonzero(~task.found), anywhere, widths)


def _compare(task: SearchState, alphabet: tuple[str, ...], projective: Machine) -> None:
    """Replace labels that are not proved to be the best by the best projective labels where these score more."""
    unsure = np.flatnonzero(~task.exact)
    if not len(unsure):
        return
    own = np.array([alphabet.index(label) for label in projective.labels], dtype=np.int32)
    positions, sentences = task.sentences.part(unsure)
    part = SearchState.of(replace(sentences, scores=np.ascontiguousarray(sentences.scores[:, own])))
    if len(sentences.arcs):
        search_jointly(part, projective, DEPTH)
    search_exactly(part, projective, DEPTH)
    better = part.found & (~task.found[unsure] | (part.totals > task.totals[unsure]))
    spread = np.repeat(better, np.diff(sentences.offsets))
    task.ids[positions[spread]] = own[part.ids[spread]]
    task.totals[unsure[better]] = part.totals[better]
    task.found[unsure[better]] = True


def _widen(task: SearchState, waiting: npt.NDArray[np.intp], search: Search, widths: Sequence[int]) -> None:
    """Search for labels of the sentences `waiting`, and store results that are better than those in `task`.

    The search is repeated with the next larger width of the beam for sentences whose result is not proved to be the
    best.
    """
    lengths = task.sentences.offsets[1:] - task.sentences.offsets[:-1]
    for width in widths if len(waiting) else ():
        positions, part = task.sentences.part(waiting)
        lower_bounds = np.where(task.found[waiting], task.totals[waiting], -np.inf)
        best, sums, bounds = search(part, lower_bounds, width)
        better = sums > lower_bounds
        done = np.repeat(better, part.offsets[1:] - part.offsets[:-1])
        task.ids[positions[done]] = best[done]
        task.totals[waiting[better]] = sums[better]
        task.found[waiting[better]] = True
        good = task.found[waiting]
        task.exact[waiting] = good & (task.totals[waiting] >= bounds)
        waiting = waiting[(good | np.isfinite(bounds)) & ~task.exact[waiting] & (lengths[waiting] <= LONGEST)]
        if not len(waiting):
            break


def _less_best(arcs: ArcScores, offsets: Ints) -> ArcScores:
    """Return arc scores minus the best arc score of the same word."""
    if not len(arcs):
        return arcs
    best: ArcScores = np.maximum.reduceat(arcs, arc_rows(offsets))
    return arcs - np.repeat(best, arc_widths(offsets))
