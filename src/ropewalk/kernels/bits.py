"""The 4-bit and 7-bit encodings with a stack for each direction and plane (Gómez-Rodríguez et al. 2023).

A label is a number of seven bits: BIT_HEAD_LEFT, BIT_SECOND_PLANE (of the arc to the head), BIT_FARTHEST (dependent
of its head on that side and plane), then for each plane whether there are dependents on the left and on the right.
The 4-bit encoding is the same with one plane.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

from ropewalk.kernels.codes import (
    BIT_FARTHEST,
    BIT_HEAD_LEFT,
    BIT_LEFT,
    BIT_RIGHT,
    BIT_SECOND_PLANE,
    CLOSES_CYCLE,
    SECOND_HEAD,
    SECOND_ROOT,
    UNMATCHED_CLOSING,
    UNMATCHED_OPENING,
)

if not cython.compiled:
    from ropewalk.kernels.forest import top

Ints = memoryview


def write(heads: Ints, offsets: Ints, planes: Ints, codes: Ints, low: Ints, high: Ints) -> None:
    """Write the bits of every word; arcs outside plane 2 count as of plane 1.

    `low` and `high` keep each node's farthest dependent to the left and to the right, plane by plane.
    """
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            for x in range(2 * n + 2):
                low[x] = 0
                high[x] = 0
            for d in range(1, n + 1):
                h = heads[start + d - 1]
                slot = 2 * h
                if planes[start + d - 1] == 2:
                    slot += 1
                if h < d:
                    high[slot] = d
                elif low[slot] == 0:
                    low[slot] = d
            for d in range(1, n + 1):
                h = heads[start + d - 1]
                slot = 2 * h
                code = 0
                if planes[start + d - 1] == 2:
                    slot += 1
                    code |= BIT_SECOND_PLANE
                if h < d:
                    code |= BIT_HEAD_LEFT
                    if high[slot] == d:
                        code |= BIT_FARTHEST
                elif low[slot] == d:
                    code |= BIT_FARTHEST
                for plane in range(2):
                    if low[2 * d + plane] != 0:
                        code |= BIT_LEFT >> (2 * plane)
                    if high[2 * d + plane] != 0:
                        code |= BIT_RIGHT >> (2 * plane)
                codes[start + d - 1] = code


def read(
    codes: Ints,
    offsets: Ints,
    one_root: int,
    heads: Ints,
    fault_words: Ints,
    fault_kinds: Ints,
    counts: Ints,
    lefts: Ints,
    left_next: Ints,
    rights: Ints,
    right_next: Ints,
    up: Ints,
) -> None:
    """Read bits into heads.

    Each stack is a chain through `left_next` or `right_next` from its topmost word, `lefts[plane]` or
    `rights[plane]`; -1 is its end. With `one_root` a second dependent of node 0 is refused.
    """
    with cython.nogil:
        faults = 0
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            rooted = 0
            for plane in range(2):
                lefts[plane] = -1
                rights[plane] = -1
            rights[0] = 0
            right_next[0] = -1
            for x in range(n + 1):
                up[x] = x
            for w in range(start, start + n):
                heads[w] = -1
            for x in range(1, n + 1):
                w = start + x - 1
                code = codes[w]
                own = 0
                if code & BIT_SECOND_PLANE:
                    own = 1
                if code & BIT_HEAD_LEFT:
                    h = rights[own]
                    kind = 0
                    if h < 0:
                        kind = UNMATCHED_CLOSING
                    elif h == 0 and one_root and rooted:
                        kind = SECOND_ROOT
                    elif top(up, h) == x:
                        kind = CLOSES_CYCLE
                    if kind == 0:
                        heads[w] = h
                        up[x] = h
                        if h == 0:
                            rooted = 1
                        if code & BIT_FARTHEST:
                            rights[own] = right_next[own * (n + 1) + h]
                    else:
                        fault_words[faults] = w
                        fault_kinds[faults] = kind
                        faults += 1
                for plane in range(2):
                    if code & (BIT_LEFT >> (2 * plane)) == 0:
                        continue
                    while True:
                        d = lefts[plane]
                        kind = 0
                        if d < 0:
                            kind = UNMATCHED_CLOSING
                        elif heads[start + d - 1] >= 0:
                            kind = SECOND_HEAD
                        elif top(up, x) == d:
                            kind = CLOSES_CYCLE
                        if kind != 0:
                            fault_words[faults] = w
                            fault_kinds[faults] = kind
                            faults += 1
                            break
                        heads[start + d - 1] = x
                        up[d] = x
                        lefts[plane] = left_next[d]
                        if codes[start + d - 1] & BIT_FARTHEST:
                            break
                if code & BIT_HEAD_LEFT == 0:
                    left_next[x] = lefts[own]
                    lefts[own] = x
                for plane in range(2):
                    if code & (BIT_RIGHT >> (2 * plane)):
                        right_next[plane * (n + 1) + x] = rights[plane]
                        rights[plane] = x
            for plane in range(2):
                x = lefts[plane]
                while x > 0:
                    fault_words[faults] = start + x - 1
                    fault_kinds[faults] = UNMATCHED_OPENING
                    faults += 1
                    x = left_next[x]
                x = rights[plane]
                while x > 0:
                    fault_words[faults] = start + x - 1
                    fault_kinds[faults] = UNMATCHED_OPENING
                    faults += 1
                    x = right_next[plane * (n + 1) + x]
        counts[0] = faults
