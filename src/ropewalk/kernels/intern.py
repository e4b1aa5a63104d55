"""Interning: equal byte strings get the same integer."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

Ints = memoryview


def intern(raw: Ints, starts: Ints, stops: Ints, ids: Ints, slots: Ints, firsts: Ints) -> int:
    """Write into `ids` the same number for equal byte strings among the spans `raw[starts[i]:stops[i]]`.

    Numbers are in order of first appearance, from 0. `firsts[k]` becomes the index of the first span with number k.
    `slots` is an open hash table, filled with -1. Its length is a power of two above the number of spans. Return the
    number of distinct byte strings.
    """
    with cython.nogil:
        count = 0
        mask = slots.shape[0] - 1
        for i in range(starts.shape[0]):
            start = starts[i]
            length = stops[i] - start
            mixed = 1
            for j in range(length):
                mixed = ((mixed ^ raw[start + j]) * 16777619) & 0x7FFFFFFF
            slot = (mixed ^ (mixed >> 15)) & mask
            while True:
                known = slots[slot]
                if known < 0:
                    slots[slot] = count
                    firsts[count] = i
                    ids[i] = count
                    count += 1
                    break
                other = starts[firsts[known]]
                if stops[firsts[known]] - other == length:
                    j = 0
                    while j < length and raw[start + j] == raw[other + j]:
                        j += 1
                    if j == length:
                        ids[i] = known
                        break
                slot = (slot + 1) & mask
    return count
