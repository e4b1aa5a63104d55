"""Hexatags of projective trees, using binary head trees (Amini et al. 2023).

In the binary tree, node 0 is the leftmost leaf. Each head is merged first with its right dependents, the nearest first,
and then with its left dependents. So every arc is one inner node of the binary tree. Each inner node is assigned to the
fence, the gap between two words, where its two children meet.

The label of a word has three bits. FENCE_RIGHT is set if the inner node at the fence before the word is a right child.
FENCE_HEAD_RIGHT is set if the head of that node is in its right child. WORD_RIGHT is set if the word itself is a right
child.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *
    from ropewalk.kernels.values import Findings, Workspace  # noqa: TC001 - compiled, in the .pxd

Ints = memoryview


def write(heads: Ints, offsets: Ints, codes: Ints, work: Workspace) -> None:
    """Write into `codes` the label of every word of projective trees.

    `low` and `high` are each node's farthest dependents on the left and on the right, and `near` is its nearest on the
    left. `far` is the next farther dependent of the same head on the same side. `begin` and `end` are the first and
    last word of each node's subtree.
    """
    low = work.node1
    high = work.node2
    near = work.node3
    far = work.node4
    begin = work.node5
    end = work.node6
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            for x in range(n + 1):
                low[x] = 0
                high[x] = 0
                near[x] = 0
                far[x] = 0
            for d in range(1, n + 1):
                codes[start + d - 1] = 0
                h = heads[start + d - 1]
                if h < d:
                    if high[h] != 0:
                        far[high[h]] = d
                    high[h] = d
                else:
                    if low[h] == 0:
                        low[h] = d
                    else:
                        far[d] = near[h]
                    near[h] = d
            for x in range(n + 1):
                begin[x] = x
                if low[x] != 0:
                    begin[x] = begin[low[x]]
            for i in range(n + 1):
                x = n - i
                end[x] = x
                if high[x] != 0:
                    end[x] = end[high[x]]
            for d in range(1, n + 1):
                h = heads[start + d - 1]
                own = start + d - 1
                # the word is the left child of its first merge if that is with a right dependent
                if high[d] == 0 and (near[d] != 0 or h < d):
                    codes[own] |= WORD_RIGHT
                # the inner node of the arc h-d: its fence, the side of its head, and whose child it is
                if h < d:
                    fence = start + begin[d] - 1
                    last = far[d] == 0 and near[h] == 0
                    right = far[d] == 0 and near[h] != 0
                else:
                    fence = start + min(end[d], n - 1)  # it is below n in a projective tree
                    codes[fence] |= FENCE_HEAD_RIGHT
                    last = far[d] == 0
                    right = not last
                if last:
                    right = h != 0 and heads[start + h - 1] < h
                if right:
                    codes[fence] |= FENCE_RIGHT


def read(codes: Ints, offsets: Ints, heads: Ints, faults: Findings, work: Workspace) -> None:
    """Read labels into `heads`, and record labels that do not fit in `faults`.

    The stack holds parts of the binary tree. `done[i]` is the head of part i if it is finished, else -1. An unfinished
    part lacks a right child at its lower end. The inner nodes above this gap begin at `spines[i]`. Each has the head of
    its left child in `positions` and the side of its own head in `sides`.
    """
    done = work.node1
    spines = work.node2
    positions = work.node3
    sides = work.node4
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            done[0] = 0
            spines[0] = 0
            parts = 1
            nodes = 0
            for w in range(start, start + n):
                heads[w] = -1
            for x in range(1, n + 1):
                w = start + x - 1
                # the fence before the word: its inner node gets the topmost part as its left child
                code = codes[w]
                child = done[parts - 1]
                if code & FENCE_RIGHT:
                    if parts > 1:
                        parts -= 1
                    else:
                        faults.add(w, IMPOSSIBLE)
                        done[0] = -1
                else:
                    done[parts - 1] = -1
                positions[nodes] = child
                sides[nodes] = code & FENCE_HEAD_RIGHT
                nodes += 1
                # the word: a left child starts a new part, a right child completes the topmost one
                if code & WORD_RIGHT == 0 and x < n:
                    done[parts] = x
                    spines[parts] = nodes
                    parts += 1
                    continue
                if code & WORD_RIGHT == 0:
                    faults.add(w, IMPOSSIBLE)
                h = x
                while nodes > spines[parts - 1]:
                    nodes -= 1
                    other = positions[nodes]
                    if sides[nodes] == 0:
                        heads[start + h - 1] = other
                        h = other
                    elif other != 0:
                        heads[start + other - 1] = h
                    else:
                        faults.add(start + h - 1, CLOSES_CYCLE)
                done[parts - 1] = h
            for i in range(parts - 1):
                for j in range(spines[i], spines[i + 1]):
                    if positions[j] > 0:
                        faults.add(start + positions[j] - 1, UNMATCHED_OPENING)
