"""The decoder `mbr-nonprojective`: the highest expected accuracy over all trees, from arc scores alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from ropewalk.decoding.matrix_tree import spanning_tree_sums
from ropewalk.decoding.mbr import most_expected_by_arcs
from ropewalk.decoding.problem import Decoder

if TYPE_CHECKING:
    from ropewalk.decoding.problem import Best, Problem


@final
@dataclass(frozen=True, slots=True)
class MbrNonprojective(Decoder):
    """The decoder `mbr-nonprojective`: minimum Bayes risk over all trees, with sums from the matrix-tree theorem."""

    by_labels = False
    trees_by_arcs = "all"
    sums = True

    def decode(self, problem: Problem) -> Best:
        """Return the tree with the highest expected accuracy for each sentence."""
        return most_expected_by_arcs(problem, spanning_tree_sums)


DECODER = MbrNonprojective
