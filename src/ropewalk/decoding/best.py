"""The best tree that label scores allow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.arrays import checked_offsets, ints, real_numbers
from ropewalk.decoding.automaton import build
from ropewalk.decoding.beam import Memory, search
from ropewalk.decoding.inputs import (
    DEEPEST,
    DEPTH,
    checked,
    demand_depth,
    joint_encodings,
    machine_of,
    root_ties,
    spelled_heads,
    words_of,
)
from ropewalk.decoding.paths import Arcs, Floats, best_paths, joint_paths, sums_of
from ropewalk.errors import MismatchError, UnknownNameError
from ropewalk.repair import repair
from ropewalk.trees import UP, Bools, Ints, check, is_root_relation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.decoding.inputs import LabelIds, Logs
    from ropewalk.encodings import Encoding, Machine
    from ropewalk.treebank import Column

DECODERS = ("exact", "greedy", "joint")
WIDEST = 1024  # states kept where the answer should still be exact
LONGEST = 500  # words of a sentence that is worth more than the first search
WIDTHS = (4, 16, 128)  # partial paths kept in a joint search, and in another where the first proves nothing
LARGEST_ARC = np.float32(1e30)  # scores of arcs are taken as no larger, so that their differences stay finite
BEAM = 16  # states kept where it cannot be,
WAYS = 2  # ways to each of them,
CHOICES = 12  # and labels tried for each word


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """For many sentences: label numbers per column, heads that are trees with one root, and how they were found.

    `scores` are what the labels and ties of each sentence gain. `exact` is true where no well-formed sequence of at
    most the depth used is better: the depth asked for, or the next one with a path of finite score. `found` is false
    where no well-formed sequence of finite score was found, and labels were taken one by one and repaired; `scores` are
    then those of the labels alone. The joint decoder adds to them what each arc's score lacks to the best of its word.
    """

    ids: tuple[LabelIds, ...]
    heads: Ints
    scores: Floats
    exact: Bools
    found: Bools


@dataclass(slots=True, eq=False)
class _Task:
    """Sentences to be decoded, and what is known of each so far; the labels begin as each word's best."""

    machine: Machine
    scores: Floats
    ties: Floats
    offsets: Ints
    ids: LabelIds
    totals: Floats
    exact: Bools
    found: Bools

    @classmethod
    def of(cls, machine: Machine, scores: Floats, ties: Floats, offsets: Ints) -> _Task:
        sentences = len(offsets) - 1
        best = scores.argmax(axis=1) if scores.shape[1] else np.zeros(len(scores))
        blank = np.zeros(sentences, dtype=np.bool_)
        return cls(
            machine, scores, ties, offsets, best.astype(np.int32), np.zeros(sentences), blank.copy(), blank.copy()
        )


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
    arcs: Arcs | None = None,
) -> Best:
    """Find the best trees that label scores allow.

    `scores` has one array per label column, a row per word, a number per label of that column's alphabet. `root` is
    each word's log-probability of having the relation `root`. Encodings without a machine, and the decoder `greedy`,
    take each word's best label and repair what they spell. The decoder `joint` adds the scores of arcs: `arcs` holds,
    sentence after sentence and word after word, the log-probability of every head from 0 to the sentence's length.
    """
    if decoder not in DECODERS:
        raise UnknownNameError("decoder", decoder, DECODERS)
    demand_depth(depth)
    offsets = checked_offsets(offsets)
    words = int(offsets[-1])
    if not len(scores) == len(alphabets) == len(encoding.columns):
        raise MismatchError(
            f"{len(scores)} score tables and {len(alphabets)} alphabets; "
            f"{encoding.spec} has {len(encoding.columns)} label columns"
        )
    tables = [checked(table, len(names), words) for table, names in zip(scores, alphabets, strict=True)]
    machine = machine_of(encoding, alphabets[0]) if decoder != "greedy" and len(tables) == 1 else None
    if decoder == "joint":
        arcs, starts = _checked_arcs(encoding, machine, arcs, offsets)
    if machine is None:
        ids = tuple((t.argmax(axis=1) if t.shape[1] else np.zeros(words)).astype(np.int32) for t in tables)
        exact = found = np.zeros(len(offsets) - 1, dtype=np.bool_)
        totals = np.zeros(len(offsets) - 1)
    else:
        task = _Task.of(machine, tables[0], root_ties(machine, root, words), offsets)
        if arcs is not None and decoder == "joint":
            _jointly(task, arcs, starts, depth)
        by_arcs = task.found.copy()
        if machine.spells_trees:
            _exactly(task, depth)
        else:
            _by_beam(task, encoding)
        if decoder == "joint":
            task.exact &= by_arcs | (np.diff(offsets) == 0)
        ids, totals, exact, found = (task.ids,), task.totals, task.exact, task.found
    heads = repair(spelled_heads(encoding, ids, offsets, alphabets, upos), offsets, repair_policy).heads
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


def _exactly(task: _Task, depth: int) -> None:
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
        best, sums = best_paths(build(task.machine, depth), task.scores[places], task.ties[places], inner)
        fits = np.isfinite(sums)
        task.totals[waiting[fits]] = sums[fits]
        task.exact[waiting[fits]] = task.found[waiting[fits]] = True
        done = np.repeat(fits, np.diff(inner))
        task.ids[places[done]] = best[done]
        waiting = waiting[~fits & (lengths[waiting] > depth)]
        depth += 2
    for sentence in waiting.tolist():
        where = slice(int(task.offsets[sentence]), int(task.offsets[sentence + 1]))
        result = search(_memory(task.machine), task.scores[where], task.ties[where], width=WIDEST)
        if result.sequences:
            task.totals[sentence], labels = result.sequences[0]
            task.ids[where] = labels
            task.found[sentence] = True
            task.exact[sentence] = result.whole


def _checked_arcs(
    encoding: Encoding, machine: Machine | None, arcs: Arcs | None, offsets: Ints
) -> tuple[Arcs, npt.NDArray[np.int64]]:
    """Take arc scores as they are needed, each less the best of its word, and where each sentence's begin."""
    if machine is None or not (machine.spells_trees and machine.marks_arcs):
        raise UnknownNameError("encoding with a joint decoder", encoding.spec, joint_encodings())
    lengths = np.diff(offsets).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths * (lengths + 1))])
    found = None if arcs is None else np.shape(arcs)
    if arcs is None or found != (int(starts[-1]),):
        raise MismatchError(
            f"the joint decoder needs arc scores, {int(starts[-1])} for these sentences: one for each word and each "
            f"head from 0 on, in one row; found {'none' if found is None else f'an array of shape {found}'}"
        )
    with np.errstate(over="ignore"):  # what is too large for 32 bits becomes infinite, and is refused
        arcs = np.ascontiguousarray(real_numbers(arcs, "arc scores"), dtype=np.float32)
    if not np.isfinite(arcs).all():
        raise MismatchError("an arc's score is not finite; expected numbers, a very low one where there is no arc")
    if np.abs(arcs).max(initial=0.0) > LARGEST_ARC:
        arcs = np.clip(arcs, -LARGEST_ARC, LARGEST_ARC)
    if not len(arcs):
        return arcs, starts
    widths = np.repeat(lengths + 1, lengths)  # of the rows of words
    rows = np.concatenate([[0], np.cumsum(widths)[:-1]])
    return arcs - np.repeat(np.maximum.reduceat(arcs, rows), widths), starts


def _jointly(task: _Task, arcs: Arcs, starts: npt.NDArray[np.int64], depth: int) -> None:
    """Search for paths by labels and arcs until no other can be better or the widest search is done.

    Sentences too deep for all automata are left to labels alone.
    """
    lengths = np.diff(task.offsets)
    waiting = np.flatnonzero(lengths > 0)
    while len(waiting) and depth <= DEEPEST:
        automaton = build(task.machine, depth)
        open_ = waiting
        fits = np.ones(len(waiting), dtype=np.bool_)
        for width in WIDTHS:
            places, inner = words_of(task.offsets, open_)
            floors = np.where(task.found[open_], task.totals[open_], -np.inf)
            best, sums, bounds = joint_paths(
                automaton, task.scores[places], task.ties[places], inner, arcs, starts[open_], floors, width
            )
            better = sums > floors
            done = np.repeat(better, np.diff(inner))
            task.ids[places[done]] = best[done]
            task.totals[open_[better]] = sums[better]
            task.found[open_[better]] = True
            good = task.found[open_]
            fits[np.searchsorted(waiting, open_[~good])] = False
            task.exact[open_] = good & (task.totals[open_] >= bounds)
            open_ = open_[good & (task.totals[open_] < bounds) & (lengths[open_] <= LONGEST)]
            if not len(open_):
                break
        waiting = waiting[~fits & (lengths[waiting] > depth)]
        depth += 2


def _by_beam(task: _Task, encoding: Encoding) -> None:
    """Search with a beam for labels that match and spell a tree; what has none falls back on projective labels."""
    alphabet = task.machine.labels
    missing = []
    for sentence in range(len(task.offsets) - 1):
        where = slice(int(task.offsets[sentence]), int(task.offsets[sentence + 1]))
        words = where.stop - where.start
        if task.found[sentence]:
            continue
        if not words:
            task.exact[sentence] = task.found[sentence] = True
            continue
        result = search(
            _memory(task.machine), task.scores[where], task.ties[where], width=BEAM, ways=WAYS, choices=CHOICES
        )
        rows = np.array([labels for _, labels in result.sequences], dtype=np.int32).reshape(-1, words)
        bounds = (np.arange(len(rows) + 1) * words).astype(np.int32)
        heads = spelled_heads(encoding, (rows.reshape(-1),), bounds, [alphabet])
        fine = np.flatnonzero(check(heads, bounds).codes == 0)
        if len(fine):
            task.found[sentence] = True
            task.totals[sentence] = result.sequences[fine[0]][0]
            task.ids[where] = rows[fine[0]]
        else:
            missing.append(sentence)
    projective = task.machine.projective_part() if missing else None
    if projective is not None and projective.labels:
        safe = np.array([alphabet.index(label) for label in projective.labels], dtype=np.int32)
        places, inner = words_of(task.offsets, np.array(missing))
        part = _Task.of(projective, np.ascontiguousarray(task.scores[places][:, safe]), task.ties[places], inner)
        _exactly(part, DEPTH)
        spread = np.repeat(part.found, np.diff(inner))
        task.ids[places[spread]] = safe[part.ids[spread]]
        task.found[missing] = part.found
        task.totals[missing] = part.totals
