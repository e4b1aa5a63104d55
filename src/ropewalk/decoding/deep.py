"""Beam search over the states of a machine itself, for trees too deep for any automaton."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ropewalk.decoding.paths import Floats
    from ropewalk.encodings import Machine


@dataclass(slots=True)
class Memory:
    """A stack machine with a cache of its steps."""

    machine: Machine
    steps: dict[tuple[Any, int], tuple[Any, bool] | None] = field(default_factory=dict)

    def step(self, state: Any, label: int) -> tuple[Any, bool] | None:  # noqa: ANN401 - states are of any kind
        """Return the state after `label` and whether its word is the root, or None if the label does not fit."""
        key = (state, label)
        if key not in self.steps:
            after = self.machine.step(state, label)
            self.steps[key] = None if after is None else (after[0], after[1].root)
        return self.steps[key]


@dataclass(frozen=True, slots=True)
class BestLabels:
    """The label sequence that a beam search found, and its score.

    If `whole` is true, the beam dropped no state, and the sequence is proved to be the best.
    """

    score: float
    labels: list[int]
    whole: bool


def deep_search(memory: Memory, scores: Floats, root_scores: Floats, *, width: int) -> BestLabels | None:
    """Return the best labels of one sentence, found with a beam of `width` states, or None if no sequence fits."""
    beam: dict[Any, float] = {memory.machine.start: 0.0}
    trail: list[dict[Any, tuple[Any, int]]] = []  # backpointers after each word: the state before, and the label
    whole = True
    for row, label_scores, (other, rooted) in zip(scores, scores.tolist(), root_scores.tolist(), strict=True):
        reached: dict[Any, float] = {}
        backpointers: dict[Any, tuple[Any, int]] = {}
        labels = np.flatnonzero(row > -np.inf).tolist()
        for state, score in beam.items():
            for label in labels:
                after = memory.step(state, label)
                if after is None:
                    continue
                total = score + label_scores[label] + (rooted if after[1] else other)
                if total > reached.get(after[0], -np.inf):
                    reached[after[0]] = total
                    backpointers[after[0]] = (state, label)
        whole = whole and len(reached) <= width
        beam = dict(sorted(reached.items(), key=lambda item: -item[1])[:width])
        trail.append(backpointers)
    ends = [state for state in beam if memory.machine.accepts(state)]
    if not ends:
        return None
    state = max(ends, key=lambda end: beam[end])
    score, path = beam[state], []
    for backpointers in reversed(trail):
        state, label = backpointers[state]
        path.append(label)
    return BestLabels(score, path[::-1], whole)
