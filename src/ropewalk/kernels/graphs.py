"""Kernels over graphs as flat arrays of arcs: the assignment of arcs to planes, and the search for cycles.

An arc has a left and a right end and a direction. The arcs of sentence s are `offsets[s]:offsets[s+1]`, and `words[s]`
is its number of nodes.
"""

from __future__ import annotations

from ropewalk.kernels import new_ints

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *
    from ropewalk.kernels.values import ArcEnds, Workspace  # noqa: TC001 - compiled, in the .pxd

Ints = memoryview


class Sweep:
    """The workspace of `planes`.

    `first` and `after` are linked lists of the arcs that end at each node. The open arcs of a plane are nested: `tops`
    has the innermost, and `below` the next outer arc of each arc. `reach` is a binary tree over all planes. A leaf
    holds the farthest node that a new arc of its plane may reach, and an inner node the larger value of its two
    children. A plane in `hidden` accepts no arc until the sweep moves to the next left end.
    """

    def __init__(self, nodes: int, arcs: int, leaves: int) -> None:
        """Allocate buffers for sentences of up to `nodes` nodes and `arcs` arcs.

        `leaves` is the number of leaves of the tree `reach`, a power of 2.
        """
        self.first = new_ints(nodes)
        self.after = new_ints(arcs)
        self.below = new_ints(arcs)
        self.tops = new_ints(leaves)
        self.hidden = new_ints(arcs)
        self.reach = new_ints(2 * leaves)


def planes(arcs: ArcEnds, order: Ints, rule: int, out: Ints, work: Sweep) -> None:
    """Write for each arc its plane, from 1: the first one in which it crosses no arc of its direction.

    With the rule ONE_HEAD_A_SIDE, a node has at most one head on either side in each plane; with ONE_HEAD, at most one
    head. Arcs are assigned in the order of `order`: by left end, the longest first. The time is O(n log n) for n arcs.
    """
    first = work.first
    after = work.after
    with cython.nogil:
        for s in range(arcs.offsets.shape[0] - 1):
            start = arcs.offsets[s]
            for x in range(arcs.words[s] + 1):
                first[x] = -1
            for a in range(start, arcs.offsets[s + 1]):  # after this, `first` and `after` list arcs by right end
                after[a - start] = first[arcs.right[a]]
                first[arcs.right[a]] = a
            # arcs to the left come second: with ONE_HEAD they give way to those to the right
            _planes_of_one_direction(arcs, s, order, rule, 1, out, work)
            _planes_of_one_direction(arcs, s, order, rule, 0, out, work)


def _planes_of_one_direction(
    arcs: ArcEnds, s: int, order: Ints, rule: int, direction: int, out: Ints, work: Sweep
) -> None:
    """Assign planes to the arcs of one direction in sentence `s`, with a sweep over their left ends.

    A new arc goes into the first plane whose innermost open arc ends at the same node or farther right. A descent from
    the root of the tree `reach` finds that plane.
    """
    left = arcs.left
    right = arcs.right
    rightward = arcs.rightward
    start = arcs.offsets[s]
    stop = arcs.offsets[s + 1]
    n = arcs.words[s]
    first = work.first
    after = work.after
    below = work.below
    tops = work.tops
    hidden = work.hidden
    reach = work.reach
    size = 1
    while size < stop - start:
        size *= 2
    for i in range(2 * size):
        reach[i] = n + 1
    for p in range(size):
        tops[p] = -1
    many = 0
    at = -1
    for i in range(start, stop):
        a = order[i]
        if rightward[a] != direction:
            continue
        if at < left[a]:  # move the sweep to the next left end: show hidden planes, close the arcs that end before it
            for j in range(many):
                _set_reach(right, n, tops, reach, size, hidden[j])
            many = 0
            while at < left[a]:
                at += 1
                b = first[at]
                while b >= 0:
                    if rightward[b] == direction:
                        tops[out[b] - 1] = below[tops[out[b] - 1] - start]
                        _set_reach(right, n, tops, reach, size, out[b] - 1)
                    b = after[b - start]
            if rule == ONE_HEAD and direction == 0:
                b = first[at]
                while b >= 0:
                    if rightward[b]:
                        hidden[many] = out[b] - 1
                        many += 1
                        _put_reach(reach, size, out[b] - 1, -1)
                    b = after[b - start]
        far = right[a]
        if rule != 0 and direction == 1:
            far += 1  # an arc that ends at the same node has the same dependent
        p = 1  # descend to the first plane with enough reach
        while p < size:
            p *= 2
            if reach[p] < far:
                p += 1
        p -= size
        out[a] = p + 1
        below[a - start] = tops[p]
        tops[p] = a
        if rule != 0 and direction == 0:
            hidden[many] = p
            many += 1
            _put_reach(reach, size, p, -1)
        else:
            _put_reach(reach, size, p, right[a])


def _set_reach(right: Ints, n: int, tops: Ints, reach: Ints, size: int, plane: int) -> None:
    """Set the value of `plane` in the tree `reach`: the end of its innermost open arc, or else of the sentence."""
    if tops[plane] >= 0:
        _put_reach(reach, size, plane, right[tops[plane]])
    else:
        _put_reach(reach, size, plane, n + 1)


def _put_reach(reach: Ints, size: int, plane: int, value: int) -> None:
    """Set the value of `plane` in the tree `reach`, and update the inner nodes above it."""
    x = size + plane
    reach[x] = value
    while x > 1:
        x >>= 1
        most = max(reach[2 * x], reach[2 * x + 1])
        if reach[x] == most:
            break
        reach[x] = most


def cyclic(heads: Ints, dependents: Ints, offsets: Ints, words: Ints, out: Ints, work: Workspace) -> None:
    """Write 1 for each graph that has a cycle, else 0.

    A depth-first search follows arcs towards heads; a cycle is found when it returns to a node of its current path. The
    arcs of a sentence must be sorted by dependent. A node has the mark 1 while it is on the path, and 2 once it is
    known that no cycle can be reached from it.
    """
    next_arc = work.node1
    mark = work.node2
    path = work.node3
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            stop = offsets[s + 1]
            a = offsets[s]
            for x in range(1, words[s] + 1):
                next_arc[x] = a
                while a < stop and dependents[a] == x:
                    a += 1
                mark[x] = 0
            mark[0] = 2
            out[s] = 0
            for x in range(1, words[s] + 1):
                if mark[x] != 0:
                    continue
                mark[x] = 1
                path[0] = x
                many = 1
                while many > 0:
                    y = path[many - 1]
                    a = next_arc[y]
                    if a == stop or dependents[a] != y:
                        mark[y] = 2
                        many -= 1
                        continue
                    next_arc[y] += 1
                    h = heads[a]
                    if mark[h] == 1:
                        out[s] = 1
                        break
                    if mark[h] == 0:
                        mark[h] = 1
                        path[many] = h
                        many += 1
                if out[s]:
                    break
