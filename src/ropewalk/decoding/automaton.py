"""The states and transitions of a stack machine with a limited number of open brackets, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import Ints, frozen_ints
from ropewalk.core.ragged import starts_of
from ropewalk.errors import EncodingError

if TYPE_CHECKING:
    from ropewalk.encodings import Machine


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """An automaton: a label sequence is well-formed if and only if a path from state 0 to a final state reads it.

    The transitions from state q are `begins[q]:begins[q+1]`. Transition t reads label `labels[t]` and leads from state
    `sources[t]` to `targets[t]`. `roots[t]` is 1 if its word is the root. `finals[q]` is 1 if state q is final.
    `distances[q]` is the least number of words from state q to a final state.

    `marks[t]` has six columns, named `MARK_…` in `kernels.codes`. Each holds the height on the stack of a bracket that
    transition t opens, closes, waits under or leans on, and 0 for none.
    """

    depth: int
    begins: Ints
    labels: Ints
    sources: Ints
    targets: Ints
    roots: Ints
    marks: npt.NDArray[np.int32]
    finals: Ints
    distances: Ints

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.finals)


@lru_cache(maxsize=64)
def build(machine: Machine, depth: int) -> Automaton:
    """Build the automaton of a stack machine: its states with at most `depth` open brackets that lead to its end."""
    numbers: dict[Any, int] = {machine.start: 0}
    order = [machine.start]
    rows: list[tuple[int, int, int, tuple[int, ...]]] = []
    for state in order:  # grows while the loop runs
        for label in range(len(machine.labels)):
            after = machine.step(state, label)
            if after is None or machine.height(after[0]) > depth:
                continue
            if after[0] not in numbers:
                numbers[after[0]] = len(order)
                order.append(after[0])
            rows.append((numbers[state], label, numbers[after[0]], tuple(map(int, after[1]))))
    ends = [numbers[state] for state in order if machine.accepts(state)]
    if len(ends) > 1:
        raise EncodingError(
            f"{type(machine).__name__} accepts {len(ends)} states of height up to {depth}; expected one, in which no "
            "bracket is open"
        )
    useful = _distances(ends, rows)
    useful.setdefault(0, 0)
    kept = {old: new for new, old in enumerate(sorted(useful))}
    rows = [row for row in rows if row[0] in kept and row[2] in kept]
    marks = np.array([row[3] for row in rows], dtype=np.int32).reshape(len(rows), 7)
    sources = np.array([kept[row[0]] for row in rows], dtype=np.int32)
    return Automaton(
        depth,
        frozen_ints(starts_of(np.bincount(sources, minlength=len(kept)))),
        frozen_ints(row[1] for row in rows),
        frozen_ints(sources),
        frozen_ints(kept[row[2]] for row in rows),
        frozen_ints(marks[:, 0]),
        np.ascontiguousarray(marks[:, 1:]),
        frozen_ints(int(machine.accepts(order[old])) for old in kept),
        frozen_ints(useful[old] for old in kept),
    )


def _distances(ends: list[int], rows: list[tuple[int, int, int, tuple[int, ...]]]) -> dict[int, int]:
    """Return the states that lead to a state in `ends`, each with the least number of transitions to reach one."""
    sources: dict[int, list[int]] = {}
    for source, _, target, _ in rows:
        sources.setdefault(target, []).append(source)
    distances = dict.fromkeys(ends, 0)
    queue = list(ends)
    for state in queue:  # breadth-first; grows while the loop runs
        for source in sources.get(state, []):
            if source not in distances:
                distances[source] = distances[state] + 1
                queue.append(source)
    return distances
