"""From arcs to partial heads, and from partial heads to one tree with one root."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

from ropewalk.kernels.codes import ATTACHED, CLOSES_CYCLE, OUTSIDE, REROOTED, SECOND_HEAD

if not cython.compiled:
    from ropewalk.kernels.forest import top

Ints = memoryview


def settle(
    arc_heads: Ints,
    arc_dependents: Ints,
    arc_offsets: Ints,
    offsets: Ints,
    heads: Ints,
    fault_words: Ints,
    fault_kinds: Ints,
    counts: Ints,
    up: Ints,
) -> None:
    """Take arcs in order into partial heads, -1 for none, as long as they make no second head and no cycle."""
    with cython.nogil:
        faults = counts[0]
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            for x in range(n + 1):
                up[x] = x
            for w in range(start, start + n):
                heads[w] = -1
            for a in range(arc_offsets[s], arc_offsets[s + 1]):
                h = arc_heads[a]
                d = arc_dependents[a]
                kind = 0
                if h < 0 or h > n or d < 1:
                    kind = OUTSIDE
                    d = max(d, 1)
                elif heads[start + d - 1] >= 0:
                    kind = SECOND_HEAD
                elif top(up, h) == d:
                    kind = CLOSES_CYCLE
                else:
                    heads[start + d - 1] = h
                    up[d] = h
                if kind != 0:
                    fault_words[faults] = start + d - 1
                    fault_kinds[faults] = kind
                    faults += 1
        counts[0] = faults


def nearest(heads: Ints, offsets: Ints, keep_roots: int, repair_words: Ints, repair_kinds: Ints, up: Ints) -> int:
    """Give every word without a head the nearest that makes no cycle: d-1, d+1, d-2, d+2, …; return how many.

    Node 0 is taken only while no word hangs on it. Heads that are there and sound stay; further roots do
    with `keep_roots`.
    """
    with cython.nogil:
        repairs = 0
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            repairs = _sound(heads, start, n, keep_roots, repair_words, repair_kinds, repairs, up)
            rooted = 0
            for w in range(start, start + n):
                if heads[w] == 0:
                    rooted = 1
            for d in range(1, n + 1):
                if heads[start + d - 1] >= 0:
                    continue
                distance = 1
                while True:
                    h = d - distance
                    if (h > 0 or (h == 0 and not rooted)) and top(up, h) != d:
                        break
                    h = d + distance
                    if h <= n and top(up, h) != d:
                        break
                    distance += 1
                heads[start + d - 1] = h
                up[d] = h
                if h == 0:
                    rooted = 1
                repair_words[repairs] = start + d - 1
                repair_kinds[repairs] = ATTACHED
                repairs += 1
    return repairs


def root(heads: Ints, offsets: Ints, keep_roots: int, repair_words: Ints, repair_kinds: Ints, up: Ints) -> int:
    """Hang every word without a head on the sentence's root, the first such word if there is none; return how many.

    With `keep_roots` further roots stay.
    """
    with cython.nogil:
        repairs = 0
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            repairs = _sound(heads, start, n, keep_roots, repair_words, repair_kinds, repairs, up)
            found = 0
            for d in range(1, n + 1):
                if heads[start + d - 1] == 0:
                    found = d
                    break
            for d in range(1, n + 1):
                if heads[start + d - 1] >= 0:
                    continue
                if found == 0:
                    found = d
                    heads[start + d - 1] = 0
                else:
                    heads[start + d - 1] = found
                repair_words[repairs] = start + d - 1
                repair_kinds[repairs] = ATTACHED
                repairs += 1
    return repairs


def _sound(
    heads: Ints,
    start: int,
    n: int,
    keep_roots: int,
    repair_words: Ints,
    repair_kinds: Ints,
    repairs: int,
    up: Ints,
) -> int:
    """Fill `up`, drop heads out of range or on a cycle, and, unless they are kept, hang further roots on the first."""
    for x in range(n + 1):
        up[x] = x
    first = 0
    for d in range(1, n + 1):
        h = heads[start + d - 1]
        if h < 0:
            continue
        if h > n or top(up, h) == d:
            heads[start + d - 1] = -1
            continue
        if h == 0 and first != 0 and keep_roots == 0:
            h = first
            heads[start + d - 1] = h
            repair_words[repairs] = start + d - 1
            repair_kinds[repairs] = REROOTED
            repairs += 1
        elif h == 0:
            first = d
        up[d] = h
    return repairs
