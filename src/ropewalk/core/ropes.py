"""Rope covers: which arcs are structural, and on which of them every other arc leans.

An arc leans on another that covers it and shares its left or its right end. A rope cover is a set of structural arcs,
the ropes, on which all others lean (the paper's section on the hierarchical bracketing framework, after
Yli-Jyrä 2019). Three have names: `all` makes every arc structural, `farthest` the longest arc from each node to
each side, and `proper` is the smallest cover, in which no rope leans on another.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING

import numpy as np

from ropewalk.core.arcs import Arcs, Bytes
from ropewalk.core.arrays import NOT_AN_ARRAY, numbers_below
from ropewalk.core.graphs import Graph, arcs_of
from ropewalk.core.trees import Tree, Trees
from ropewalk.errors import GraphError, demand_known, demand_type
from ropewalk.kernels import ropes as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import LEANS_LEFT, LEANS_NOWHERE, LEANS_RIGHT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk.core.arrays import Ints

COVERS = ("all", "farthest", "proper")


def structural_arcs(arcs: Arcs, cover: str) -> Bytes:
    """Mark with 1 the structural arcs of a named cover."""
    demand_known("rope cover", cover, COVERS)
    if cover == "all":
        return np.ones(len(arcs.left), dtype=np.uint8)
    out = np.empty(len(arcs.left), dtype=np.uint8)
    ends, workspace = arcs.buffers(), arcs.workspace()
    if cover == "proper":
        kernel.proper(ends, view(arcs.order), view(out), workspace)
    else:
        kernel.farthest(ends, view(out), workspace)
    return out


def leaning(arcs: Arcs, structural: Bytes) -> tuple[Ints, Bytes]:
    """Return for each arc the rope on which it leans, and the code of the shared end (`kernels.codes`)."""
    structural = numbers_below(structural, 2, "marks of structural arcs", size=len(arcs.left))
    structural = np.ascontiguousarray(structural, dtype=np.uint8)
    rope = np.empty(len(arcs.left), dtype=np.int32)
    side = np.empty(len(arcs.left), dtype=np.uint8)
    kernel.lean(arcs.buffers(), view(arcs.order), view(structural), view(rope), view(side), arcs.workspace())
    return rope, side


def brackets(arcs: Arcs, structural: Bytes) -> tuple[Ints, Ints]:
    """Write the bracketing that a cover induces: the brackets of all words, and where each word's begin.

    Structural arcs on which some other arc cannot lean raise a `GraphError`.
    """
    side = _cover(arcs, structural)[1]
    symbols = np.empty(2 * len(arcs.left), dtype=np.int32)
    starts = np.empty(int(arcs.words.sum()) + 1, dtype=np.int32)
    ends, workspace = arcs.buffers(), arcs.workspace()
    count = kernel.brackets(ends, view(arcs.order), view(side), view(symbols), view(starts), workspace)
    return symbols[:count], starts


def _cover(arcs: Arcs, structural: Bytes) -> tuple[Ints, Bytes]:
    """Do as `leaning`, and refuse a set of arcs that is no rope cover."""
    ropes, side = leaning(arcs, structural)
    loose = side == LEANS_NOWHERE
    if loose.any():
        arc = int(np.flatnonzero(loose)[0])
        ends = arcs.left[arc], arcs.right[arc]
        head, dependent = ends if arcs.rightward[arc] else ends[::-1]
        raise GraphError(f"not a rope cover: the arc {head}->{dependent} leans on none of its arcs")
    return ropes, side


def rope_thickness(trees: Trees) -> Ints:
    """Return for each tree the largest number of ropes of its proper cover over one place between words."""
    arcs = Arcs.of_trees(trees)
    out = np.empty(len(arcs.words), dtype=np.int32)
    kernel.thickness(arcs.buffers(), view(structural_arcs(arcs, "proper")), view(out), arcs.workspace())
    return out


@dataclass(frozen=True, slots=True)
class RopeCover:
    """The rope cover of one tree or graph.

    `arcs` are (head, dependent) pairs; arc a is structural if `structural[a]`; `ropes[a]` is the arc on which it
    leans, itself if it is structural; `leans[a]` is `left` or `right`, the end that it shares with its rope, or
    empty if it is structural.
    """

    words: int
    arcs: tuple[tuple[int, int], ...]
    structural: tuple[bool, ...]
    ropes: tuple[int, ...]
    leans: tuple[str, ...]

    @property
    def structural_arcs(self) -> tuple[tuple[int, int], ...]:
        """The ropes, as (head, dependent) pairs."""
        return tuple(arc for arc, rope in zip(self.arcs, self.structural, strict=True) if rope)

    @property
    def brackets(self) -> int:
        """The number of brackets of the cover: two for a structural arc, one for an auxiliary one."""
        return len(self.arcs) + sum(self.structural)

    @property
    def is_compact(self) -> bool:
        """Whether no node has two structural arcs to dependents on one side, nor two from heads on one side."""
        ends = [(node, arc[0] < arc[1], node == arc[0]) for arc in self.structural_arcs for node in arc]
        return len(ends) == len(set(ends))


def rope_cover(structure: Tree | Graph, cover: str | Iterable[tuple[int, int]] = "proper") -> RopeCover:
    """Cover a tree or graph by name (`all`, `farthest`, `proper`) or with the structural arcs handed over.

    Structural arcs are (head, dependent) pairs; a set on which some other arc cannot lean raises a `GraphError`.
    """
    demand_type("what to cover", structure, Tree, Graph)
    pairs = tuple(structure.arcs())
    arcs = arcs_of(structure)
    if isinstance(cover, str):
        structural = structural_arcs(arcs, cover)
    else:
        try:
            wanted = {(index(head), index(word)) for head, word in cover}
        except NOT_AN_ARRAY as error:
            raise GraphError(
                f"found {cover!r} as a cover; expected {', '.join(COVERS)}, or pairs of head and dependent"
            ) from error
        unknown = sorted(wanted - set(pairs))
        if unknown:
            raise GraphError(f"the arc {unknown[0][0]}->{unknown[0][1]} of the cover is not in the tree or graph")
        structural = np.array([pair in wanted for pair in pairs], dtype=np.uint8)
    ropes, side = _cover(arcs, structural)
    words = {LEANS_LEFT: "left", LEANS_RIGHT: "right"}
    return RopeCover(
        len(structure),
        pairs,
        tuple(bool(mark) for mark in structural),
        tuple(ropes.tolist()),
        tuple(words.get(int(code), "") for code in side),
    )
