"""Which words hang together so far: the check for cycles that every reader of labels needs."""

from __future__ import annotations

Ints = memoryview


def top(up: Ints, x: int) -> int:
    """Find the word, or node 0, under which x hangs in the end, shortening the way for the next search."""
    while up[x] != x:
        up[x] = up[up[x]]
        x = up[x]
    return x
