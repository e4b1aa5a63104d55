"""Beam search for the best labels that are brackets on stacks. Brackets that match need not spell a tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ropewalk.kernels import stacks as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import CLOSING, INDEX, RIGHTWARD, SUPER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.core.arrays import Ints
    from ropewalk.decoding.paths import Floats, SentenceScores
    from ropewalk.encodings import BracketStacks

_Counts = tuple[int, ...]

MOST_STATES = 72  # of the coarser machine that computes upper bounds


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """The labels of an encoding as arrays for the search over bracket stacks, and the sizes of its buffers."""

    brackets: kernel.StackProgram
    opens: int
    classes: int
    states: int
    counters: int


def stack_paths(
    stacks: BracketStacks, sentences: SentenceScores, lower_bounds: Floats, width: int
) -> tuple[Ints, Floats, Floats]:
    """Search for the labels that spell a tree and have the highest sum of label scores and, if given, arc scores.

    The beam keeps `width` partial paths. Return labels, scores and upper bounds, as `joint_paths` does.
    """
    program = _program(stacks)
    search, results = sentences.search(lower_bounds)
    kernel.search(
        program.brackets,
        search,
        kernel.StackBeam(
            view(sentences.arcs),
            width,
            sentences.longest,
            program.opens,
            sentences.scores.shape[1],
            program.classes,
            program.states,
            program.counters,
        ),
    )
    return results


@lru_cache(maxsize=32)
def _program(stacks: BracketStacks) -> _Program:
    """Return the labels as arrays for the kernel, with the coarser machine that computes upper bounds."""
    rows = stacks.brackets
    caps = _caps(stacks)
    radices = [int(np.prod([cap + 1 for cap in caps[:counter]])) for counter in range(len(caps))]
    states = list(product(*(range(cap + 1) for cap in reversed(caps))))  # in the order of their numbers
    states = [state[::-1] for state in states]
    steps = [tuple(tuple(sorted(_after(caps, state, row))) for state in states) for row in rows]
    kinds = {step: number for number, step in enumerate(dict.fromkeys(steps))}
    transitions, targets, moves = [0], [], []
    for counter in range(len(states)):
        for step, number in kinds.items():
            for counts, root in step[counter]:
                targets.append(sum(count * radix for count, radix in zip(counts, radices, strict=True)))
                moves.append(2 * number + root)
        transitions.append(len(targets))

    def array(values: list[int]) -> Ints:
        return np.array(values, dtype=np.int32)

    brackets = kernel.StackProgram(
        begins=view(array([0, *np.cumsum([len(row) for row in rows], dtype=np.int32).tolist()])),
        symbols=view(array([symbol for row in rows for _, symbol in row])),
        homes=view(array([home for row in rows for home, _ in row])),
        planes=view(array([*stacks.planes, *[0] * (len(caps) // 2)][: len(caps) // 2])),  # 0: arcs may cross any
        sides=view(array([_side(row) for row in rows])),
        caps=view(array(list(caps))),
        radices=view(array(radices)),
        classes=view(array([kinds[step] for step in steps])),
        transitions=view(array(transitions)),
        targets=view(array(targets)),
        moves=view(array(moves)),
    )
    opens = max((sum(not symbol & CLOSING for _, symbol in row) for row in rows), default=0)
    return _Program(brackets, opens, len(kinds), len(states), len(caps))


def _side(row: tuple[tuple[int, int], ...]) -> int:
    """Return the side of the head of a word with a label: 1 if after the word, 2 if before it, 0 if either.

    `row` holds the brackets of the label, as pairs of a stack and a bracket.
    """
    kinds = {symbol & (CLOSING | RIGHTWARD) for _, symbol in row}
    return 1 if 0 in kinds else 2 if CLOSING | RIGHTWARD in kinds else 0


def _caps(stacks: BracketStacks) -> _Counts:
    """Return the highest count of each counter of the coarser machine, which counts open superbrackets.

    There is one counter for each stack and direction, and a last one for node 0's bracket. The first two counters that
    labels use count as far as `MOST_STATES` allows. The others, for planes with few arcs, would cost more time than
    they save.
    """
    used = [(home, symbol) for row in stacks.brackets for home, symbol in row] + [(0, SUPER | RIGHTWARD)]
    counted = sorted({2 * home + (symbol & RIGHTWARD) for home, symbol in used if symbol & SUPER})
    caps = [0] * (2 * (max(home for home, _ in used) + 1)) + [1]
    grown = True
    while grown:
        grown = False
        for counter in counted[:2]:
            if np.prod([cap + 1 for cap in caps]) // (caps[counter] + 1) * (caps[counter] + 2) <= MOST_STATES:
                caps[counter] += 1
                grown = True
    return tuple(caps)


def _after(caps: _Counts, state: _Counts, row: tuple[tuple[int, int], ...]) -> set[tuple[_Counts, bool]]:
    """Return the states of the coarser machine to which a label may lead, each with whether the word is the root."""
    now = {(state, False)}
    for home, symbol in row:
        now = {after for before in now for after in _read_bracket(caps, before, home, symbol)}
    return now


def _read_bracket(
    caps: _Counts, before: tuple[_Counts, bool], home: int, symbol: int
) -> Iterator[tuple[_Counts, bool]]:
    """Yield the states of the coarser machine after one bracket. A count at its cap means that count or more."""
    counts, root = before
    index = symbol // INDEX
    counter = 2 * home + (symbol & RIGHTWARD)

    def changed(count: int, *, closes_root: bool = False) -> tuple[_Counts, bool]:
        values = list(counts)
        values[counter] = count
        if closes_root:
            values[-1] = 0
        return tuple(values), root or closes_root

    if not symbol & SUPER:
        held = range(2 * home, 2 * home + 2)
        node_0 = int(bool(counts[-1] and home == 0 and symbol & CLOSING))  # no arc leans on node 0's bracket
        if any(counts[c] == caps[c] for c in held) or sum(counts[c] for c in held) - node_0 > index:
            yield before
    elif not symbol & CLOSING:
        yield changed(min(counts[counter] + 1, caps[counter]))
    else:
        under = bool(counts[-1]) and counter == RIGHTWARD  # node 0's bracket is the lowest of those that fit
        if counts[counter] > index:  # the count is exact, or the cap
            yield changed(counts[counter] - 1, closes_root=under and index == counts[counter] - 1)
        if counts[counter] == caps[counter]:  # there may be more brackets than the count
            yield changed(counts[counter])
            if under and index >= counts[counter]:
                yield changed(counts[counter], closes_root=True)
