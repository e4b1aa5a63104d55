"""The decoder `exact`: the best tree that label scores allow, or the maximum spanning tree of arc scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from ropewalk.decoding.problem import Best, Decoder, arc_rows, marks_arcs
from ropewalk.encodings import BracketStacks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.decoding.problem import Problem
    from ropewalk.encodings import Encoding


@final
@dataclass(frozen=True, slots=True)
class Exact(Decoder):
    """The decoder `exact`: the best path through the automaton of an encoding.

    For labels that are brackets on stacks it is a beam search. For encodings with neither, each word gets its best
    label, and the tree is repaired. Without labels it finds the maximum spanning tree of the arc scores.
    """

    trees_by_arcs = "all"

    @classmethod
    def has_probabilities(cls, encoding: Encoding | None, alphabet: Sequence[str]) -> bool:
        """Return whether the labels determine every arc, so that arc probabilities are sums over label sequences."""
        return encoding is not None and marks_arcs(encoding, alphabet)

    def decode(self, problem: Problem) -> Best:
        """Return the best tree of each sentence of `problem`."""
        if problem.labels is None:
            return _spanning_trees(problem)
        from ropewalk.decoding.tree_search import SearchState, machine_for, search_exactly, search_stacks, spelled_trees

        task = None
        machine = machine_for(problem.labels)
        if machine is not None:
            task = SearchState.of_problem(problem, machine, with_arcs=False)
            if isinstance(machine, BracketStacks):
                search_stacks(task, machine)
            else:
                search_exactly(task, machine, self.depth)
        return spelled_trees(problem, task, self.repair)


def _spanning_trees(problem: Problem) -> Best:
    import numpy as np

    from ropewalk.decoding.paths import sums_of
    from ropewalk.decoding.spanning import expected_trees

    assert problem.arcs is not None  # noqa: S101 - a problem without labels has arcs
    heads = expected_trees(problem.arcs, problem.offsets)
    every = np.ones(len(problem.offsets) - 1, dtype=np.bool_)
    chosen = problem.arcs[arc_rows(problem.offsets) + heads].astype(np.float64)
    return Best((), heads, sums_of(chosen, problem.offsets), every, every)


DECODER = Exact
