"""Number equal stretches of bytes alike: the step from text to arrays."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

Ints = memoryview


def intern(raw: Ints, starts: Ints, stops: Ints, ids: Ints, slots: Ints, firsts: Ints) -> int:
    """Write into `ids` a number for each stretch `raw[starts[i]:stops[i]]`, in order of first appearance.

    `slots` is an open hash table filled with -1, its length a power of two above the number of stretches;
    `firsts[k]` becomes the first stretch that has number k. The count of numbers is returned.
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
