"""The decoder `greedy`: each word's best label; the heads that these labels spell are repaired to a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from ropewalk.decoding.problem import Decoder
from ropewalk.decoding.tree_search import spelled_trees

if TYPE_CHECKING:
    from ropewalk.decoding.problem import Best, Problem


@final
@dataclass(frozen=True, slots=True)
class Greedy(Decoder):
    """The decoder `greedy`: each word gets its best label, and the heads that the labels spell are repaired."""

    def decode(self, problem: Problem) -> Best:
        """Return the repaired trees of each word's best labels."""
        return spelled_trees(problem, None, self.repair)


DECODER = Greedy
