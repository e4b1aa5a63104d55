"""Rope covers of trees and graphs: sets of structural arcs, the ropes, such that every other arc leans on one.

An arc leans on a rope that covers it and shares its left or its right end. Arcs that are no ropes are auxiliary. (See
the paper's section on the hierarchical bracketing framework, after Yli-Jyrä 2019.) Three covers have names. In `all`
every arc is structural. In `farthest` the longest arc from each node to each side is structural. `proper` is the
smallest cover: no rope leans on another.
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
from ropewalk.kernels.values import SymbolBuffer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk.core.arrays import Ints

COVERS = ("all", "farthest", "proper")


def structural_arcs(arcs: Arcs, cover: str) -> Bytes:
    """Return for each arc 1 if it is structural in the rope cover named `cover`, else 0."""
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
    """Return for each arc the index of the rope on which it leans, and a code of the end that they share.

    `structural` marks the ropes with 1. A rope leans on itself. The codes, such as LEANS_LEFT, are in `kernels.codes`.
    """
    structural = numbers_below(structural, 2, "marks of structural arcs", size=len(arcs.left))
    structural = np.ascontiguousarray(structural, dtype=np.uint8)
    rope = np.empty(len(arcs.left), dtype=np.int32)
    side = np.empty(len(arcs.left), dtype=np.uint8)
    kernel.lean(arcs.buffers(), view(arcs.order), view(structural), view(rope), view(side), arcs.workspace())
    return rope, side


def brackets(arcs: Arcs, structural: Bytes) -> tuple[Ints, Ints]:
    """Return the codes of the brackets of all words in one array, and the start of each word's brackets in it.

    `structural` marks the ropes with 1. Raise a `GraphError` if an arc that is no rope leans on none.
    """
    side = _cover(arcs, structural)[1]
    symbols = np.empty(2 * len(arcs.left), dtype=np.int32)
    starts = np.empty(int(arcs.words.sum()) + 1, dtype=np.int32)
    written = SymbolBuffer(view(symbols), view(starts))
    count = kernel.brackets(arcs.buffers(), view(arcs.order), view(side), written, arcs.workspace())
    return symbols[:count], starts


def _cover(arcs: Arcs, structural: Bytes) -> tuple[Ints, Bytes]:
    """Return the result of `leaning`; raise a `GraphError` if an arc leans on none of the structural arcs."""
    ropes, side = leaning(arcs, structural)
    loose = side == LEANS_NOWHERE
    if loose.any():
        arc = int(np.flatnonzero(loose)[0])
        ends = arcs.left[arc], arcs.right[arc]
        head, dependent = ends if arcs.rightward[arc] else ends[::-1]
        raise GraphError(f"not a rope cover: the arc {head}->{dependent} leans on none of its arcs; make it structural")
    return ropes, side


def rope_thickness(trees: Trees) -> Ints:
    """Return for each tree its rope thickness: the most ropes of its proper cover over one gap between nodes."""
    arcs = Arcs.of_trees(trees)
    out = np.empty(len(arcs.words), dtype=np.int32)
    kernel.thickness(arcs.buffers(), view(structural_arcs(arcs, "proper")), view(out), arcs.workspace())
    return out


@dataclass(frozen=True, slots=True)
class RopeCover:
    """The rope cover of one tree or graph.

    `arcs` are (head, dependent) pairs. `structural[a]` is true if arc a is structural, a rope. `ropes[a]` is the index
    of the rope on which arc a leans, or a itself for a rope. `leans[a]` is the end that arc a shares with its rope,
    `left` or `right`; it is empty for a rope.
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
        """The number of brackets that write the cover: two for each structural arc, one for each other arc."""
        return len(self.arcs) + sum(self.structural)

    @property
    def is_compact(self) -> bool:
        """Whether no node has two structural arcs to dependents on the same side, or from heads on the same side."""
        ends = [(node, arc[0] < arc[1], node == arc[0]) for arc in self.structural_arcs for node in arc]
        return len(ends) == len(set(ends))


def rope_cover(structure: Tree | Graph, cover: str | Iterable[tuple[int, int]] = "proper") -> RopeCover:
    """Return a rope cover of a tree or graph. `cover` is its name (`all`, `farthest`, `proper`) or its structural arcs.

    Structural arcs are (head, dependent) pairs. Raise a `GraphError` if another arc leans on none of them.
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
