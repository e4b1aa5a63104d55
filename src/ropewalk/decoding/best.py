"""The best tree that label scores allow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import Bools, Ints, checked_offsets, ints, real_numbers
from ropewalk.core.ragged import Offsets
from ropewalk.core.repair import repair
from ropewalk.core.trees import UP, is_root_relation
from ropewalk.decoding.automaton import build
from ropewalk.decoding.deep import Memory, deep_search
from ropewalk.decoding.expected import LONGEST as LONGEST_SUMMED
from ropewalk.decoding.expected import expected_trees, tree_sums
from ropewalk.decoding.inputs import (
    DEEPEST,
    DEPTH,
    arc_rows,
    arc_starts,
    arc_widths,
    checked,
    checked_arcs,
    demand_depth,
    joint_encodings,
    machine_of,
    root_ties,
    spelled_heads,
    stacks_of,
    words_of,
)
from ropewalk.decoding.paths import ArcScores, Floats, best_paths, joint_paths, sums_of
from ropewalk.decoding.stacks import stack_paths
from ropewalk.encodings import BracketStacks, Machine
from ropewalk.errors import MismatchError, UnknownNameError, demand_known

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.core.columns import Column
    from ropewalk.decoding.inputs import LabelIds, Logs
    from ropewalk.encodings import Encoding

    # the probability of the best relation of each arc, by words counted from 0 over all, and heads
    Relations = Callable[[npt.NDArray[np.int64], Ints], npt.NDArray[np.floating]]
    # labels, scores and bounds by scores, ties, offsets, arcs, where they start, floors and width
    Search = Callable[
        [Floats, Floats, Ints, ArcScores, npt.NDArray[np.int64], Floats, int], tuple[Ints, Floats, Floats]
    ]

DECODERS = ("exact", "greedy", "joint", "mbr")  # for labels; `ARC_DECODERS` are for arcs alone
LIKELY = 0.05  # the share of an arc whose relations are looked at
WIDEST = 1024  # states kept where the answer should still be exact
LONGEST = 500  # words of a sentence that is worth more than the first search
WIDTHS = (1, 4, 16, 128)  # partial paths kept in a joint search, and in another where the first proves nothing
STACK_WIDTHS = (4,)  # where labels are brackets on stacks: a second search would take more time than it is worth,
JOINT_STACK_WIDTHS = (4, 16, 64)  # unless arcs have scores


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """For many sentences: label numbers per column, heads that are trees with one root, and how they were found.

    `scores` are what the labels and ties of each sentence gain. `exact` is true where no well-formed sequence of at
    most the depth used is better: the depth asked for, or the next one with a path of finite score. `found` is false
    where no well-formed sequence of finite score was found, and labels were taken one by one and repaired; `scores` are
    then those of the labels alone. The joint decoder adds to them what each arc's score lacks to the best of its word.
    By the decoder `mbr`, `shares` are how much of all trees has each arc, `scores` how many arcs are right on average,
    and labels each word's likeliest, which need not spell the tree.
    """

    ids: tuple[LabelIds, ...]
    heads: Ints
    scores: Floats
    exact: Bools
    found: Bools
    shares: Floats | None = None


@dataclass(slots=True, eq=False)
class _Task:
    """Sentences to be decoded, and what is known of each so far; the labels begin as each word's best."""

    scores: Floats
    ties: Floats
    offsets: Ints
    ids: LabelIds
    totals: Floats
    exact: Bools
    found: Bools

    @classmethod
    def of(cls, scores: Floats, ties: Floats, offsets: Ints) -> _Task:
        sentences = len(offsets) - 1
        best = scores.argmax(axis=1) if scores.shape[1] else np.zeros(len(scores))
        blank = np.zeros(sentences, dtype=np.bool_)
        return cls(scores, ties, offsets, best.astype(np.int32), np.zeros(sentences), blank.copy(), blank.copy())


def decode(  # noqa: PLR0913 - what is scored, and how to decode it
    encoding: Encoding,
    scores: Sequence[npt.ArrayLike],
    offsets: npt.ArrayLike,
    alphabets: Sequence[Sequence[str]],
    *,
    decoder: str = "exact",
    root: Logs | None = None,
    upos: Column | None = None,
    depth: int = DEPTH,
    repair_policy: str = "nearest",
    arcs: ArcScores | None = None,
    relations: Relations | None = None,
) -> Best:
    """Find the best trees that label scores allow.

    `scores` has one array per label column, a row per word, a number per label of that column's alphabet. `root` is
    each word's log-probability of having the relation `root`. Encodings without a machine, and the decoder `greedy`,
    take each word's best label and repair what they spell. The decoder `joint` adds the scores of arcs: `arcs` holds,
    sentence after sentence and word after word, the log-probability of every head from 0 to the sentence's length.
    The decoder `mbr` needs them too, and finds the tree with most right arcs on average over all projective trees; with
    `relations`, which are asked how likely the best relation of an arc is, the one with most right arcs and relations.
    Sentences whose trees it cannot sum, since they are too long or none has a finite score, are left to `joint`.
    """
    demand_known("decoder", decoder, DECODERS)
    demand_depth(depth)
    offsets = checked_offsets(offsets)
    words = int(offsets[-1])
    if not len(scores) == len(alphabets) == len(encoding.columns):
        raise MismatchError(
            f"{len(scores)} score tables and {len(alphabets)} alphabets; "
            f"{encoding.spec} has {len(encoding.columns)} label columns"
        )
    tables = [checked(table, len(names), words) for table, names in zip(scores, alphabets, strict=True)]
    machine: Machine | BracketStacks | None = None
    if decoder != "greedy" and len(tables) == 1:
        machine = machine_of(encoding, alphabets[0]) or stacks_of(encoding, alphabets[0])
    if decoder == "mbr":
        joint = partial(
            decode, encoding, alphabets=alphabets, decoder="joint", depth=depth, repair_policy=repair_policy
        )
        return _expected(encoding, tables[0], offsets, alphabets[0], root, arcs, relations, joint)
    if decoder == "joint":
        if machine is None or (isinstance(machine, Machine) and not machine.marks_arcs):
            raise UnknownNameError("encoding with a joint decoder", encoding.spec, joint_encodings())
        arcs = _less_best(checked_arcs(arcs, offsets), offsets)
        starts = arc_starts(offsets)
    else:
        arcs, starts = np.zeros(0, dtype=np.float32), np.zeros(len(offsets) - 1, dtype=np.int64)
    if machine is None:
        ids = tuple((t.argmax(axis=1) if t.shape[1] else np.zeros(words)).astype(np.int32) for t in tables)
        exact = found = np.zeros(len(offsets) - 1, dtype=np.bool_)
        totals = np.zeros(len(offsets) - 1)
    else:
        task = _Task.of(tables[0], root_ties(machine, root, words), offsets)
        if isinstance(machine, BracketStacks):
            _by_stacks(task, machine, arcs, starts)
        elif decoder == "joint":
            _jointly(task, machine, arcs, starts, depth)
            by_arcs = task.found.copy()
            _exactly(task, machine, depth)
            task.exact &= by_arcs | (np.diff(offsets) == 0)
        else:
            _exactly(task, machine, depth)
        ids, totals, exact, found = (task.ids,), task.totals, task.exact, task.found
    spelled = spelled_heads(encoding, ids, offsets, alphabets, upos)
    heads = repair(spelled, Offsets(offsets), repair_policy).trees.heads
    gains = sum((t[np.arange(words), column] for t, column in zip(tables, ids, strict=True)), start=np.zeros(words))
    return Best(ids, heads, np.where(found, totals, sums_of(gains, offsets)), exact, found)


def assign_relations(scores: npt.NDArray[np.floating], names: Sequence[str], heads: Ints) -> LabelIds:
    """Choose each word's best relation: that of a root for the root, never a lifted one, and for no other word."""
    scores = real_numbers(scores, "scores of relations")
    heads = ints(heads, "heads")
    if scores.shape != (len(heads), len(names)) or (len(heads) and not len(names)):
        raise MismatchError(f"scores of shape {scores.shape}; expected {len(heads)} words by {len(names)} relations")
    if not len(heads):
        return np.zeros(0, dtype=np.int32)
    roots, plain = _roots(tuple(names))
    if not plain.any() or roots.all():
        return np.asarray(scores.argmax(axis=1), dtype=np.int32)
    allowed = np.where((heads == 0)[:, None], plain[None, :], ~roots[None, :])
    return np.asarray(np.where(allowed, scores, -np.inf).argmax(axis=1), dtype=np.int32)


@lru_cache(maxsize=8)
def _roots(names: tuple[str, ...]) -> tuple[Bools, Bools]:
    """Tell which relations are those of a root, and which of these are not lifted."""
    roots = np.array([is_root_relation(name) for name in names], dtype=np.bool_)
    return roots, roots & np.array([UP not in name for name in names], dtype=np.bool_)


@lru_cache(maxsize=8)
def _memory(machine: Machine) -> Memory:
    return Memory(machine)


def _exactly(task: _Task, machine: Machine, depth: int) -> None:
    """Find best paths, in deeper automata for what fits in none so far, and in the machine itself for the rest.

    Sentences whose labels are found already are left alone.
    """
    if task.exact.all() and task.found.all():
        return
    lengths = np.diff(task.offsets)
    waiting = np.flatnonzero((lengths > 0) & ~task.found)
    task.exact[lengths == 0] = task.found[lengths == 0] = True
    while len(waiting) and depth <= DEEPEST:
        places, inner = words_of(task.offsets, waiting)
        best, sums = best_paths(build(machine, depth), task.scores[places], task.ties[places], inner)
        fits = np.isfinite(sums)
        task.totals[waiting[fits]] = sums[fits]
        task.exact[waiting[fits]] = task.found[waiting[fits]] = True
        done = np.repeat(fits, np.diff(inner))
        task.ids[places[done]] = best[done]
        waiting = waiting[~fits & (lengths[waiting] > depth)]
        depth += 2
    for sentence in waiting.tolist():
        where = slice(int(task.offsets[sentence]), int(task.offsets[sentence + 1]))
        result = deep_search(_memory(machine), task.scores[where], task.ties[where], width=WIDEST)
        if result is not None:
            task.totals[sentence] = result.score
            task.ids[where] = result.labels
            task.found[sentence] = True
            task.exact[sentence] = result.whole


def _less_best(arcs: ArcScores, offsets: Ints) -> ArcScores:
    """Take off each arc's score the best of its word."""
    return arcs - np.maximum.reduceat(arcs, arc_rows(offsets)).repeat(arc_widths(offsets)) if len(arcs) else arcs


def _expected(  # noqa: PLR0913, PLR0917 - what is scored
    encoding: Encoding,
    scores: Floats,
    offsets: Ints,
    alphabet: Sequence[str],
    root: Logs | None,
    arcs: ArcScores | None,
    relations: Relations | None,
    joint: Callable[..., Best],
) -> Best:
    """Find the trees with most right on average; what cannot be summed is left to another decoder."""
    arcs, starts, rows = checked_arcs(arcs, offsets), arc_starts(offsets), arc_rows(offsets)
    gains = arcs
    machine = machine_of(encoding, alphabet)
    if root is not None and machine is not None:
        ties = root_ties(machine, root, len(rows)).astype(np.float32)
        gains = arcs + ties[:, 0].repeat(arc_widths(offsets))
        gains[rows] += ties[:, 1] - ties[:, 0]
    lengths = np.diff(offsets)
    short = lengths <= LONGEST_SUMMED
    places, inner = words_of(offsets, np.flatnonzero(short))
    within = short.repeat(lengths * (lengths + 1))
    sums = tree_sums(encoding, scores[places], inner, alphabet, gains[within])
    found = short.copy()
    found[short] = np.isfinite(sums.logs)
    exact = found.copy()
    ids = np.zeros(len(rows), dtype=np.int32)
    ids[places] = sums.labels.argmax(axis=1)
    shares = np.zeros(len(arcs))
    shares[within] = sums.arcs
    rest = np.flatnonzero(~found)
    if len(rest):
        places, inner = words_of(offsets, rest)
        own = np.concatenate([arcs[starts[number] : starts[number + 1]] for number in rest.tolist()])
        some = None if root is None else np.asarray(root)[places]
        best = joint([scores[places]], inner, root=some, arcs=own)
        found[rest], exact[rest], ids[places] = best.found, best.exact, best.ids[0]
        shares[rows[places] + best.heads] = 1.0
    return most_expected(shares, offsets, relations, labels=(ids,), exact=exact, found=found)


def most_expected(  # noqa: PLR0913 - the parts of the answer
    shares: Floats,
    offsets: Ints,
    relations: Relations | None,
    *,
    labels: tuple[LabelIds, ...],
    exact: Bools,
    found: Bools,
) -> Best:
    """Return the trees with the highest expected accuracy, given the marginal probability of every arc."""
    weights = shares if relations is None else _with_relations(shares, offsets, relations)
    heads = expected_trees(weights, offsets)
    chosen = shares[arc_rows(offsets) + heads]
    return Best(labels, heads, sums_of(chosen, offsets), exact, found, chosen)


def _with_relations(shares: Floats, offsets: Ints, relations: Relations) -> Floats:
    """Multiply the shares of likely arcs by the probability of their best relations, and leave out all others."""
    likely = np.flatnonzero(shares >= LIKELY)
    rows = arc_rows(offsets)
    words = np.searchsorted(rows, likely, side="right") - 1
    out = np.zeros_like(shares)
    out[likely] = shares[likely] * relations(words, (likely - rows[words]).astype(np.int32))
    return out


def _jointly(task: _Task, machine: Machine, arcs: ArcScores, starts: npt.NDArray[np.int64], depth: int) -> None:
    """Search for paths by labels and arcs until no other can be better or the widest search is done.

    Sentences too deep for all automata are left to labels alone.
    """
    lengths = task.offsets[1:] - task.offsets[:-1]
    waiting = np.flatnonzero(lengths > 0)
    while len(waiting) and depth <= DEEPEST:
        _widen(task, waiting, partial(joint_paths, build(machine, depth)), arcs, starts, WIDTHS)
        waiting = waiting[~task.found[waiting] & (lengths[waiting] > depth)]
        depth += 2


def _by_stacks(task: _Task, stacks: BracketStacks, arcs: ArcScores, starts: npt.NDArray[np.int64]) -> None:
    """Search for labels that spell trees, by arcs too if there are any.

    What is not proved to be the best is compared with the best of projective labels. Where there is nothing at all,
    arcs may lie in any plane.
    """
    widths = JOINT_STACK_WIDTHS if len(arcs) else STACK_WIDTHS
    lengths = np.diff(task.offsets)
    task.exact[lengths == 0] = task.found[lengths == 0] = True
    _widen(task, np.flatnonzero(lengths > 0), partial(stack_paths, stacks), arcs, starts, widths)
    if stacks.projective is not None and stacks.projective.labels:
        _compare(task, stacks.labels, stacks.projective, arcs, starts)
    if stacks.planes:
        anywhere = partial(stack_paths, replace(stacks, planes=()))
        _widen(task, np.flatnonzero(~task.found), anywhere, arcs, starts, widths)


def _compare(
    task: _Task, alphabet: tuple[str, ...], projective: Machine, arcs: ArcScores, starts: npt.NDArray[np.int64]
) -> None:
    """Take the best of projective labels, a part of the alphabet, where it is better than what is found so far."""
    unsure = np.flatnonzero(~task.exact)
    if not len(unsure):
        return
    own = np.array([alphabet.index(label) for label in projective.labels], dtype=np.int32)
    places, inner = words_of(task.offsets, unsure)
    part = _Task.of(np.ascontiguousarray(task.scores[places][:, own]), task.ties[places], inner)
    if len(arcs):
        _jointly(part, projective, arcs, starts[unsure], DEPTH)
    _exactly(part, projective, DEPTH)
    better = part.found & (~task.found[unsure] | (part.totals > task.totals[unsure]))
    spread = np.repeat(better, np.diff(inner))
    task.ids[places[spread]] = own[part.ids[spread]]
    task.totals[unsure[better]] = part.totals[better]
    task.found[unsure[better]] = True


def _widen(  # noqa: PLR0913, PLR0917 - what is searched, and how
    task: _Task,
    waiting: npt.NDArray[np.intp],
    search: Search,
    arcs: ArcScores,
    starts: npt.NDArray[np.int64],
    widths: Sequence[int],
) -> None:
    """Search for paths of some sentences, ever more widely for those whose best path is not proved to be that."""
    lengths = task.offsets[1:] - task.offsets[:-1]
    for width in widths if len(waiting) else ():
        places, inner = words_of(task.offsets, waiting)
        floors = np.where(task.found[waiting], task.totals[waiting], -np.inf)
        best, sums, bounds = search(task.scores[places], task.ties[places], inner, arcs, starts[waiting], floors, width)
        better = sums > floors
        done = better.repeat(inner[1:] - inner[:-1])
        task.ids[places[done]] = best[done]
        task.totals[waiting[better]] = sums[better]
        task.found[waiting[better]] = True
        good = task.found[waiting]
        task.exact[waiting] = good & (task.totals[waiting] >= bounds)
        waiting = waiting[(good | np.isfinite(bounds)) & ~task.exact[waiting] & (lengths[waiting] <= LONGEST)]
        if not len(waiting):
            break
