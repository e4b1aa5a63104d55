"""Hexatags of projective trees by way of binary head trees (Amini et al. 2023).

Node 0 is the leftmost leaf. Each head first takes its right dependents, the nearest first, and then its left ones, so
every arc is one inner node of the binary tree, and each inner node stands at the fence between its two
children. The label of a word has three bits: FENCE_RIGHT, the inner node at the fence before the word is a right child;
FENCE_HEAD_RIGHT, that node's head is in its right child; WORD_RIGHT, the word itself is a right child.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

from ropewalk.kernels.codes import (
    CLOSES_CYCLE,
    FENCE_HEAD_RIGHT,
    FENCE_RIGHT,
    IMPOSSIBLE,
    UNMATCHED_OPENING,
    WORD_RIGHT,
)

Ints = memoryview


def write(
    heads: Ints,
    offsets: Ints,
    codes: Ints,
    low: Ints,
    high: Ints,
    near: Ints,
    far: Ints,
    begin: Ints,
    end: Ints,
) -> None:
    """Write the label of every word of projective trees.

    `low` and `high` keep each node's farthest dependents to the left and the right, `near` its nearest to the
    left, `far` is the next farther dependent of the same head, `begin` and `end` the span below each node.
    """
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
                # the word is the left child of its first merge if that takes a right dependent
                if high[d] == 0 and (near[d] != 0 or h < d):
                    codes[own] |= WORD_RIGHT
                # the inner node of the arc h-d: where it stands, on which side its head is, and whose child it is
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


def read(
    codes: Ints,
    offsets: Ints,
    heads: Ints,
    fault_words: Ints,
    fault_kinds: Ints,
    counts: Ints,
    done: Ints,
    spines: Ints,
    places: Ints,
    sides: Ints,
) -> None:
    """Read labels into heads.

    On the stack lie parts of the binary tree: `done[i]` is the head of a finished part or -1, and an unfinished one
    ends in an empty place for a right child, below inner nodes from `spines[i]` on, each with the head of its left
    child in `places` and its own side in `sides`.
    """
    with cython.nogil:
        faults = 0
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
                code = codes[w]
                child = done[parts - 1]
                if code & FENCE_RIGHT:
                    if parts > 1:
                        parts -= 1
                    else:
                        fault_words[faults] = w
                        fault_kinds[faults] = IMPOSSIBLE
                        faults += 1
                        done[0] = -1
                else:
                    done[parts - 1] = -1
                places[nodes] = child
                sides[nodes] = code & FENCE_HEAD_RIGHT
                nodes += 1
                if code & WORD_RIGHT == 0 and x < n:
                    done[parts] = x
                    spines[parts] = nodes
                    parts += 1
                    continue
                if code & WORD_RIGHT == 0:
                    fault_words[faults] = w
                    fault_kinds[faults] = IMPOSSIBLE
                    faults += 1
                h = x
                while nodes > spines[parts - 1]:
                    nodes -= 1
                    other = places[nodes]
                    if sides[nodes] == 0:
                        heads[start + h - 1] = other
                        h = other
                    elif other != 0:
                        heads[start + other - 1] = h
                    else:
                        fault_words[faults] = start + h - 1
                        fault_kinds[faults] = CLOSES_CYCLE
                        faults += 1
                done[parts - 1] = h
            for i in range(parts - 1):
                for j in range(spines[i], spines[i + 1]):
                    if places[j] > 0:
                        fault_words[faults] = start + places[j] - 1
                        fault_kinds[faults] = UNMATCHED_OPENING
                        faults += 1
        counts[0] = faults
