"""Search over the states of a machine itself, where trees are too deep for any automaton."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ropewalk.decoding.paths import Floats
    from ropewalk.encodings import Machine


@dataclass(slots=True)
class Memory:
    """The steps of a machine that were taken before."""

    machine: Machine
    steps: dict[tuple[Any, int], tuple[Any, bool] | None] = field(default_factory=dict)

    def step(self, state: Any, label: int) -> tuple[Any, bool] | None:  # noqa: ANN401 - states are of any kind
        """Read a label: the state after it, and whether its word is the root."""
        key = (state, label)
        if key not in self.steps:
            after = self.machine.step(state, label)
            self.steps[key] = None if after is None else (after[0], after[1].root)
        return self.steps[key]


@dataclass(frozen=True, slots=True)
class Found:
    """A label sequence, its score, and whether nothing was left out on the way, so that it is the best there is."""

    score: float
    labels: list[int]
    whole: bool


def deep_search(memory: Memory, scores: Floats, ties: Floats, *, width: int) -> Found | None:
    """Find a good label sequence of one sentence, or None if none is found: so many states are kept after each word."""
    beam: dict[Any, float] = {memory.machine.start: 0.0}
    trail: list[dict[Any, tuple[Any, int]]] = []  # for each word and state after it: the state before, and the label
    whole = True
    for row, gains, (other, rooted) in zip(scores, scores.tolist(), ties.tolist(), strict=True):
        reached: dict[Any, float] = {}
        ways: dict[Any, tuple[Any, int]] = {}
        labels = np.flatnonzero(row > -np.inf).tolist()
        for state, score in beam.items():
            for label in labels:
                after = memory.step(state, label)
                if after is None:
                    continue
                gain = score + gains[label] + (rooted if after[1] else other)
                if gain > reached.get(after[0], -np.inf):
                    reached[after[0]] = gain
                    ways[after[0]] = (state, label)
        whole = whole and len(reached) <= width
        beam = dict(sorted(reached.items(), key=lambda item: -item[1])[:width])
        trail.append(ways)
    ends = [state for state in beam if memory.machine.accepts(state)]
    if not ends:
        return None
    state = max(ends, key=lambda end: beam[end])
    score, taken = beam[state], []
    for ways in reversed(trail):
        state, label = ways[state]
        taken.append(label)
    return Found(score, taken[::-1], whole)
