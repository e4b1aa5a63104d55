"""Search over the stacks of a machine itself, as many of them as are wanted: no limit to their height."""

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
    """Label sequences with their scores, the best first, and whether nothing was left out on the way."""

    sequences: list[tuple[float, list[int]]]
    whole: bool


def search(  # noqa: PLR0913 - what is searched, and how widely
    memory: Memory, scores: Floats, ties: Floats, *, width: int, ways: int = 1, choices: int | None = None
) -> Found:
    """Find good label sequences of one sentence: `width` states are kept after each word, `ways` ways to each.

    Each word's best `choices` labels are tried, or all. If nothing ever had to be left out, and one way to each state
    is enough, the first sequence is the best there is.
    """
    beam: dict[Any, list[tuple[float, int, int]]] = {memory.machine.start: [(0.0, -1, -1)]}
    trail: list[list[tuple[int, int]]] = []  # for each word: (place in the trail of the word before, label)
    whole = True
    for word in range(len(scores)):
        row = scores[word]
        order = [label for label in np.argsort(-row, kind="stable").tolist() if row[label] > -np.inf]
        whole = whole and (choices is None or len(order) <= choices)
        order = order[:choices]
        reached: dict[Any, list[tuple[float, int, int]]] = {}
        for state, entries in beam.items():
            for label in order:
                after = memory.step(state, label)
                if after is None:
                    continue
                gain = float(row[label] + ties[word, int(after[1])])
                reached.setdefault(after[0], []).extend((score + gain, place, label) for score, place, _ in entries)
        best = sorted(reached.items(), key=lambda item: -max(item[1])[0])
        whole = whole and len(best) <= width
        steps: list[tuple[int, int]] = []
        beam = {}
        for state, entries in best[:width]:
            kept = sorted(entries, reverse=True)[:ways]
            beam[state] = [(score, len(steps) + place, label) for place, (score, _, label) in enumerate(kept)]
            steps.extend((place, label) for _, place, label in kept)
        trail.append(steps)
    ends = sorted(
        (entry for state, kept in beam.items() if memory.machine.accepts(state) for entry in kept), reverse=True
    )
    return Found([(score, _labels(trail, place)) for score, place, _ in ends], whole)


def _labels(trail: list[list[tuple[int, int]]], place: int) -> list[int]:
    out = []
    for steps in reversed(trail):
        place, label = steps[place]
        out.append(label)
    return out[::-1]
