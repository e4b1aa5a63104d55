"""A union-find forest of words: the check for second heads and cycles that every reader of labels needs.

In `up` every node points to itself or to a node above it. A word that points to itself has no head yet.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *

Ints = memoryview


def top(up: Ints, x: int) -> int:
    """Return the topmost ancestor of x, and shorten the path to it (path halving)."""
    while up[x] != x:
        up[x] = up[up[x]]
        x = up[x]
    return x


def clear(up: Ints, heads: Ints, start: int, n: int) -> None:
    """Reset `up` and `heads` for a sentence of `n` words from index `start` on, none of which has a head."""
    for x in range(n + 1):
        up[x] = x
    for w in range(start, start + n):
        heads[w] = -1


def attach(up: Ints, h: int, d: int) -> int:
    """Attach word d to head h and return 0; if a tree cannot have this arc, only return the code of the fault."""
    if d == 0:
        return OUTSIDE
    if up[d] != d:
        return SECOND_HEAD
    x = h
    while up[x] != x:  # as in `top`, which would copy its arguments
        up[x] = up[up[x]]
        x = up[x]
    if x == d:
        return CLOSES_CYCLE
    up[d] = h
    return 0
