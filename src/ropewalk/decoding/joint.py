"""The decoder `joint`: the best tree for the scores of labels and arcs together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from ropewalk.decoding.problem import Decoder, marks_arcs, stacks_of
from ropewalk.decoding.tree_search import (
    SearchState,
    machine_for,
    search_exactly,
    search_jointly,
    search_stacks,
    spelled_trees,
)
from ropewalk.encodings import BracketStacks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.decoding.problem import Best, Problem
    from ropewalk.encodings import Encoding


@final
@dataclass(frozen=True, slots=True)
class Joint(Decoder):
    """The decoder `joint`: a beam search over stacks of open brackets, which can prove most of its results.

    `kernels/joint.py` explains the search.
    """

    needs_arcs = True

    @classmethod
    def supports(cls, encoding: Encoding, alphabet: Sequence[str]) -> bool:
        """Return whether the stack machine of the labels determines every arc, or the labels are brackets on stacks."""
        return marks_arcs(encoding, alphabet) or stacks_of(encoding, alphabet) is not None

    def decode(self, problem: Problem) -> Best:
        """Return the best tree of each sentence, for label and arc scores together."""
        assert problem.labels is not None  # noqa: S101 - `decode` has checked it
        machine = machine_for(problem.labels)
        assert machine is not None  # noqa: S101 - see `supports`
        task = SearchState.of_problem(problem, machine, with_arcs=True)
        if isinstance(machine, BracketStacks):
            search_stacks(task, machine)
        else:
            search_jointly(task, machine, self.depth)
            by_arcs = task.found.copy()
            search_exactly(task, machine, self.depth)
            task.exact &= by_arcs | (np.diff(problem.offsets) == 0)
        return spelled_trees(problem, task, self.repair)


DECODER = Joint
