"""Repair of trees: arcs become partial heads, and partial heads become one tree with one root."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *
    from ropewalk.kernels.forest import attach, clear, top
    from ropewalk.kernels.values import ArcBuffer, Findings, Workspace  # noqa: TC001 - compiled, they are in the .pxd

Ints = memoryview


def settle(arcs: ArcBuffer, offsets: Ints, heads: Ints, faults: Findings, work: Workspace) -> None:
    """Write the heads of all words, -1 for words without a head, from arcs in their given order.

    An arc that would make a second head or a cycle, or whose head is outside the sentence, is recorded in `faults`
    instead.
    """
    arc_heads = arcs.heads
    arc_dependents = arcs.dependents
    arc_offsets = arcs.offsets
    up = work.node1
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            clear(up, heads, start, n)
            for a in range(arc_offsets[s], arc_offsets[s + 1]):
                h = arc_heads[a]
                d = arc_dependents[a]
                kind = OUTSIDE
                if 0 <= h <= n:
                    kind = attach(up, h, d)
                if kind == 0:
                    heads[start + d - 1] = h
                else:
                    faults.add(start + max(d, 1) - 1, kind)


def repair(heads: Ints, offsets: Ints, to_root: int, keep_roots: int, repairs: Findings, work: Workspace) -> None:
    """Make a tree of partial heads: attach every word without a head. Other heads stay if they make no cycle.

    With `to_root` the new head is the root of the sentence; if there is no root, the first word without a head becomes
    it. Otherwise the new head of word d is the nearest node that makes no cycle, tried in the order d-1, d+1, d-2, d+2,
    …. Node 0 is tried only while it has no dependent. Second and further roots are attached to the first root, unless
    `keep_roots` is 1.
    """
    up = work.node1
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            root = _keep_sound(heads, start, n, keep_roots, repairs, up)
            for d in range(1, n + 1):
                if heads[start + d - 1] >= 0:
                    continue
                h = root
                if to_root == 0:
                    h = _nearest(d, n, root, up)
                heads[start + d - 1] = h
                up[d] = h
                if h == 0:
                    root = d
                repairs.add(start + d - 1, ATTACHED)


def _nearest(d: int, n: int, root: int, up: Ints) -> int:
    """Return the nearest node to which word d can be attached without a cycle; node 0 only if `root` is 0."""
    distance = 1
    while True:
        h = d - distance
        if (h > 0 or (h == 0 and root == 0)) and top(up, h) != d:
            return h
        h = d + distance
        if h <= n and top(up, h) != d:
            return h
        distance += 1


def _keep_sound(heads: Ints, start: int, n: int, keep_roots: int, repairs: Findings, up: Ints) -> int:
    """Remove heads that are out of range or close a cycle; return the first root, or 0 if there is none.

    Further roots are attached to the first one, unless `keep_roots` is 1.
    """
    for x in range(n + 1):
        up[x] = x
    root = 0
    for d in range(1, n + 1):
        h = heads[start + d - 1]
        if h < 0:
            continue
        if h > n or top(up, h) == d:
            heads[start + d - 1] = -1
            continue
        if h == 0 and root == 0:
            root = d
        elif h == 0 and keep_roots == 0:
            h = root
            heads[start + d - 1] = h
            repairs.add(start + d - 1, REROOTED)
        up[d] = h
    return root
