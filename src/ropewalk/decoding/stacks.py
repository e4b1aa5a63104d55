"""The best trees that labels spell as brackets on stacks, where labels that match need not spell a tree."""

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

    import numpy.typing as npt

    from ropewalk.core.arrays import Ints
    from ropewalk.decoding.paths import ArcScores, Floats
    from ropewalk.encodings import BracketStacks

_Counts = tuple[int, ...]

CLOSE = 1e-9  # sums of the same numbers in another order differ by less
MOST_STATES = 72  # of the coarser machine that bounds what may follow


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """Labels as a kernel takes them, and the sizes of a workspace for them."""

    brackets: kernel.StackProgram
    opens: int
    classes: int
    states: int
    counters: int


def stack_paths(  # noqa: PLR0913, PLR0917 - labels and arcs of many sentences
    stacks: BracketStacks,
    scores: Floats,
    ties: Floats,
    offsets: Ints,
    arcs: ArcScores,
    starts: npt.NDArray[np.int64],
    floors: Floats,
    width: int,
) -> tuple[Ints, Floats, Floats]:
    """Find labels of trees by the sum of their scores and, if there are any, their arcs' scores.

    So many partial paths are kept at a time. Of each sentence a path is known already that scores as much as its floor,
    or nothing is. Also gives each path's score, -inf if none is better, and a bound that no other path's score exceeds.
    """
    program = _program(stacks)
    longest = int(np.diff(offsets).max(initial=0))
    best = np.zeros(len(scores), dtype=np.int32)
    totals, bounds = np.zeros(len(offsets) - 1), np.zeros(len(offsets) - 1)
    kernel.search(
        program.brackets,
        view(scores),
        view(ties),
        view(offsets),
        view(starts),
        view(floors - CLOSE),
        kernel.StackBeam(
            view(arcs),
            width,
            longest,
            program.opens,
            scores.shape[1],
            program.classes,
            program.states,
            program.counters,
        ),
        view(best),
        view(totals),
        view(bounds),
    )
    return best, totals, bounds


@lru_cache(maxsize=32)
def _program(stacks: BracketStacks) -> _Program:
    """Lay out labels and the coarser machine as arrays."""
    rows = stacks.brackets
    caps = _caps(stacks)
    radices = [int(np.prod([cap + 1 for cap in caps[:place]])) for place in range(len(caps))]
    states = list(product(*(range(cap + 1) for cap in reversed(caps))))  # by their numbers
    states = [state[::-1] for state in states]
    steps = [tuple(tuple(sorted(_after(caps, state, row))) for state in states) for row in rows]
    kinds = {step: number for number, step in enumerate(dict.fromkeys(steps))}
    ways, targets, moves = [0], [], []
    for place in range(len(states)):
        for step, number in kinds.items():
            for counts, root in step[place]:
                targets.append(sum(count * radix for count, radix in zip(counts, radices, strict=True)))
                moves.append(2 * number + root)
        ways.append(len(targets))

    def array(values: list[int]) -> Ints:
        return np.array(values, dtype=np.int32)

    brackets = kernel.StackProgram(
        begins=view(array([0, *np.cumsum([len(row) for row in rows], dtype=np.int32).tolist()])),
        symbols=view(array([symbol for row in rows for _, symbol in row])),
        homes=view(array([home for row in rows for home, _ in row])),
        planes=view(array(_planes(stacks, len(caps) // 2))),
        sides=view(array([_side(row) for row in rows])),
        caps=view(array(list(caps))),
        radices=view(array(radices)),
        classes=view(array([kinds[step] for step in steps])),
        ways=view(array(ways)),
        targets=view(array(targets)),
        moves=view(array(moves)),
    )
    opens = max((sum(not symbol & CLOSING for _, symbol in row) for row in rows), default=0)
    return _Program(brackets, opens, len(kinds), len(states), len(caps))


def _planes(stacks: BracketStacks, many: int) -> list[int]:
    """Give the plane of each stack, 0 if its arcs may cross any others."""
    return [stacks.planes[home] if home < len(stacks.planes) else 0 for home in range(many)]


def _side(row: tuple[tuple[int, int], ...]) -> int:
    """Tell where the head of a word with a label is: after it (1), before it (2), or in either place (0)."""
    kinds = {symbol & (CLOSING | RIGHTWARD) for _, symbol in row}
    return 1 if 0 in kinds else 2 if CLOSING | RIGHTWARD in kinds else 0


def _caps(stacks: BracketStacks) -> _Counts:
    """Choose how far the coarser machine counts: by stacks and directions, then node 0's bracket.

    The first two that labels use go as far as the number of states allows. The others, of planes that few arcs need,
    cost more time than they save.
    """
    used = [(home, symbol) for row in stacks.brackets for home, symbol in row] + [(0, SUPER | RIGHTWARD)]
    counted = sorted({2 * home + (symbol & RIGHTWARD) for home, symbol in used if symbol & SUPER})
    caps = [0] * (2 * (max(home for home, _ in used) + 1)) + [1]
    grown = True
    while grown:
        grown = False
        for place in counted[:2]:
            if np.prod([cap + 1 for cap in caps]) // (caps[place] + 1) * (caps[place] + 2) <= MOST_STATES:
                caps[place] += 1
                grown = True
    return tuple(caps)


def _after(caps: _Counts, state: _Counts, row: tuple[tuple[int, int], ...]) -> set[tuple[_Counts, bool]]:
    """Give the states to which a label may lead, and whether its word is then the root."""
    now = {(state, False)}
    for home, symbol in row:
        now = {after for before in now for after in _one(caps, before, home, symbol)}
    return now


def _one(caps: _Counts, before: tuple[_Counts, bool], home: int, symbol: int) -> Iterator[tuple[_Counts, bool]]:
    """Read one bracket; a count at its cap stands for all from there on."""
    counts, root = before
    index = symbol // INDEX
    place = 2 * home + (symbol & RIGHTWARD)

    def changed(count: int, *, closes_root: bool = False) -> tuple[_Counts, bool]:
        values = list(counts)
        values[place] = count
        if closes_root:
            values[-1] = 0
        return tuple(values), root or closes_root

    if not symbol & SUPER:
        held = range(2 * home, 2 * home + 2)
        node_0 = int(bool(counts[-1] and home == 0 and symbol & CLOSING))  # on it nothing leans
        if any(counts[c] == caps[c] for c in held) or sum(counts[c] for c in held) - node_0 > index:
            yield before
    elif not symbol & CLOSING:
        yield changed(min(counts[place] + 1, caps[place]))
    else:
        under = bool(counts[-1]) and place == RIGHTWARD  # node 0's bracket is the lowest of those that fit
        if counts[place] > index:  # so many there are, if not more
            yield changed(counts[place] - 1, closes_root=under and index == counts[place] - 1)
        if counts[place] == caps[place]:  # there may be more
            yield changed(counts[place])
            if under and index >= counts[place]:
                yield changed(counts[place], closes_root=True)
