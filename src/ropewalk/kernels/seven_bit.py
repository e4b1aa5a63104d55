"""The 4-bit and 7-bit encodings with a stack for each direction and plane (Gómez-Rodríguez et al. 2023).

A label is a number of seven bits: BIT_HEAD_LEFT, BIT_SECOND_PLANE (of the arc to the head), BIT_FARTHEST (the word is
the farthest dependent of its head on that side and plane), then for each plane whether the word has dependents on the
left and on the right.
The 4-bit encoding is the same with one plane.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *
    from ropewalk.kernels.forest import attach, clear
    from ropewalk.kernels.values import Findings, Workspace  # noqa: TC001 - compiled, in the .pxd

Ints = memoryview


def write(heads: Ints, offsets: Ints, planes: Ints, codes: Ints, work: Workspace) -> None:
    """Write into `codes` the bits of every word. An arc whose plane is not 2 is treated as an arc of plane 1.

    `low` and `high` are each node's farthest dependents on the left and on the right, plane by plane.
    """
    low = work.node1
    high = work.node2
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


def read(codes: Ints, offsets: Ints, one_root: int, heads: Ints, faults: Findings, work: Workspace) -> None:
    """Read the bits of words into `heads`, and record those that do not fit in `faults`.

    Each stack is a linked list. Its topmost word is `lefts[plane]` or `rights[plane]`, and `left_next` or `right_next`
    links each word to the next lower one; -1 is the end. With `one_root` a second dependent of node 0 is a fault.
    """
    up = work.node1
    lefts = work.node2
    left_next = work.node3
    rights = work.node4
    right_next = work.node5
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            clear(up, heads, start, n)
            rooted = 0
            for plane in range(2):
                lefts[plane] = -1
                rights[plane] = -1
            rights[0] = 0
            right_next[0] = -1
            for x in range(1, n + 1):
                w = start + x - 1
                code = codes[w]
                own = 0
                if code & BIT_SECOND_PLANE:
                    own = 1
                # a head on the left is the topmost word that waits for right dependents
                if code & BIT_HEAD_LEFT:
                    h = rights[own]
                    if h < 0:
                        kind = UNMATCHED_CLOSING
                    elif h == 0 and one_root and rooted:
                        kind = SECOND_ROOT
                    else:
                        kind = attach(up, h, x)
                    if kind == 0:
                        heads[w] = h
                        if h == 0:
                            rooted = 1
                        if code & BIT_FARTHEST:
                            rights[own] = right_next[own * (n + 1) + h]
                    else:
                        faults.add(w, kind)
                # left dependents are popped from their stack, up to the farthest
                for plane in range(2):
                    if code & (BIT_LEFT >> (2 * plane)) == 0:
                        continue
                    while True:
                        d = lefts[plane]
                        kind = UNMATCHED_CLOSING
                        if d > 0:
                            kind = attach(up, x, d)
                        if kind != 0:
                            faults.add(w, kind)
                            break
                        heads[start + d - 1] = x
                        lefts[plane] = left_next[d]
                        if codes[start + d - 1] & BIT_FARTHEST:
                            break
                # push the word if it waits for a head on the right, or for right dependents
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
                    faults.add(start + x - 1, UNMATCHED_OPENING)
                    x = left_next[x]
                x = rights[plane]
                while x > 0:
                    faults.add(start + x - 1, UNMATCHED_OPENING)
                    x = right_next[plane * (n + 1) + x]
