"""Typed objects in which kernels receive arcs, and the buffers that they work in."""

from __future__ import annotations

from typing import Any

from ropewalk.kernels import new_ints

Ints = Any  # a buffer of integers


class ArcEnds:
    """The arcs of many graphs by their ends: those of sentence s are at `offsets[s]:offsets[s+1]`.

    An arc has a left and a right end; `rightward` is 1 if its head is the left one. `words[s]` is the number of words
    of sentence s. A tree is the graph whose arc a is the one into word a+1 of its sentence.
    """

    def __init__(self, left: Ints, right: Ints, rightward: Ints, offsets: Ints, words: Ints) -> None:
        """Keep the buffers."""
        self.left = left
        self.right = right
        self.rightward = rightward
        self.offsets = offsets
        self.words = words


class Workspace:
    """Buffers for one sentence at a time: two numbers for each node, three for each arc."""

    def __init__(self, nodes: int, arcs: int) -> None:
        """Allocate buffers for sentences of up to `nodes` nodes and `arcs` arcs."""
        self.node1 = new_ints(nodes)
        self.node2 = new_ints(nodes)
        self.arc1 = new_ints(arcs)
        self.arc2 = new_ints(arcs)
        self.arc3 = new_ints(arcs)
