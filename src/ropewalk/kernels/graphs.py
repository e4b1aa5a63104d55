"""Graphs as flat arrays of arcs: planes, cycles, and the bits of the arcs of each plane.

An arc has a left and a right end and a direction; the arcs of sentence s stand at `offsets[s]:offsets[s+1]`, and
`words[s]` is its number of nodes.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

from ropewalk.kernels.codes import (
    GRAPH_FARTHEST_LEFT,
    GRAPH_FARTHEST_RIGHT,
    GRAPH_HAS_LEFT,
    GRAPH_HAS_RIGHT,
    GRAPH_LEFT_DEPENDENT,
    GRAPH_RIGHT_DEPENDENT,
    ONE_HEAD,
    UNMATCHED_CLOSING,
    UNMATCHED_OPENING,
)

Ints = memoryview


def planes(
    left: Ints, right: Ints, rightward: Ints, offsets: Ints, order: Ints, rule: int, out: Ints, taken: Ints
) -> None:
    """Give each arc the first plane, from 1, in which no arc of its direction crosses it.

    With the rule ONE_HEAD_A_SIDE a plane has at most one arc of a direction into a node, with ONE_HEAD at most one
    arc. Arcs go in the given order: by left end, the longest first.
    """
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            for i in range(offsets[s], offsets[s + 1]):
                a = order[i]
                for p in range(i - offsets[s] + 2):
                    taken[p] = 0
                dependent = left[a]
                if rightward[a]:
                    dependent = right[a]
                for j in range(offsets[s], i):
                    b = order[j]
                    other = left[b]
                    if rightward[b]:
                        other = right[b]
                    same = 0
                    if rightward[a] == rightward[b]:
                        same = 1
                    if (same and left[b] < left[a] and left[a] < right[b] and right[b] < right[a]) or (
                        other == dependent and (rule == ONE_HEAD or (rule != 0 and same))
                    ):
                        taken[out[b]] = 1
                p = 1
                while taken[p]:
                    p += 1
                out[a] = p


def cyclic(heads: Ints, dependents: Ints, offsets: Ints, words: Ints, out: Ints, stops: Ints, next_arc: Ints) -> None:
    """Tell with 1 which graphs have a cycle: nodes whose heads are all done are done, until none is left.

    The arcs of a sentence are sorted by dependent. Each round goes over all nodes from left to right and back, so that
    few rounds are enough for most graphs.
    """
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            n = words[s]
            for x in range(n + 1):
                stops[x] = 0
                next_arc[x] = offsets[s]
            a = offsets[s]
            for x in range(1, n + 1):
                next_arc[x] = a
                while a < offsets[s + 1] and dependents[a] == x:
                    a += 1
                stops[x] = a
            left = n
            changed = 1
            forward = 1
            while changed:
                changed = 0
                for step in range(1, n + 1):
                    x = step
                    if forward == 0:
                        x = n + 1 - step
                    if stops[x] < 0:
                        continue
                    i = next_arc[x]
                    while i < stops[x] and (heads[i] == 0 or stops[heads[i]] < 0):
                        i += 1
                    next_arc[x] = i
                    if i == stops[x]:
                        stops[x] = -1
                        left -= 1
                        changed = 1
                forward = 1 - forward
            out[s] = 0
            if left > 0:
                out[s] = 1


def write_bits(
    left: Ints, right: Ints, rightward: Ints, arc_planes: Ints, many: int, offsets: Ints, words: Ints, out: Ints,
    low: Ints, high: Ints,
) -> None:  # fmt: skip
    """Write six bits for each word and plane: `out[many * w + p]` of word w of all and plane p, from 0.

    Arcs of a plane beyond `many` are left out.
    """
    with cython.nogil:
        for i in range(out.shape[0]):
            out[i] = 0
        before = 0
        for s in range(offsets.shape[0] - 1):
            n = words[s]
            for i in range(many * (n + 1)):
                low[i] = n + 1
                high[i] = 0
            for a in range(offsets[s], offsets[s + 1]):
                p = arc_planes[a] - 1
                if p < many:
                    if rightward[a]:
                        high[many * left[a] + p] = max(high[many * left[a] + p], right[a])
                    else:
                        low[many * right[a] + p] = min(low[many * right[a] + p], left[a])
            for a in range(offsets[s], offsets[s + 1]):
                p = arc_planes[a] - 1
                if p >= many:
                    continue
                x = many * (before + left[a] - 1) + p
                y = many * (before + right[a] - 1) + p
                if rightward[a]:
                    out[y] |= GRAPH_RIGHT_DEPENDENT
                    if high[many * left[a] + p] == right[a]:
                        out[y] |= GRAPH_FARTHEST_RIGHT
                    if left[a] > 0:
                        out[x] |= GRAPH_HAS_RIGHT
                else:
                    out[x] |= GRAPH_LEFT_DEPENDENT
                    if low[many * right[a] + p] == left[a]:
                        out[x] |= GRAPH_FARTHEST_LEFT
                    out[y] |= GRAPH_HAS_LEFT
            before += n


def read_bits(
    bits: Ints,
    many: int,
    offsets: Ints,
    heads: Ints,
    dependents: Ints,
    arc_offsets: Ints,
    fault_words: Ints,
    fault_kinds: Ints,
    counts: Ints,
    rights: Ints,
    lefts: Ints,
) -> None:
    """Turn six bits a word and plane into arcs, with a stack of heads and one of dependents for each plane.

    A word first takes its head on the left, the topmost that still waits for dependents, node 0 below all; then its
    dependents on the left, up to the one that is marked as the farthest. `counts[0]` is the number of faults.
    """
    with cython.nogil:
        made = 0
        faults = 0
        for s in range(offsets.shape[0] - 1):
            arc_offsets[s] = made
            start = offsets[s]
            for p in range(many):
                right_top = 0
                left_top = 0
                for w in range(start, offsets[s + 1]):
                    x = w - start + 1
                    found = bits[many * w + p]
                    if found & GRAPH_RIGHT_DEPENDENT:
                        heads[made] = 0
                        if right_top > 0:
                            heads[made] = rights[right_top - 1]
                            if found & GRAPH_FARTHEST_RIGHT:
                                right_top -= 1
                        dependents[made] = x
                        made += 1
                    if found & GRAPH_HAS_LEFT:
                        last = 0
                        if left_top == 0:
                            fault_words[faults] = w
                            fault_kinds[faults] = UNMATCHED_CLOSING
                            faults += 1
                        while left_top > 0 and last == 0:
                            left_top -= 1
                            heads[made] = x
                            dependents[made] = abs(lefts[left_top])
                            if lefts[left_top] < 0:
                                last = 1
                            made += 1
                    if found & GRAPH_HAS_RIGHT:
                        rights[right_top] = x
                        right_top += 1
                    if found & GRAPH_LEFT_DEPENDENT:
                        lefts[left_top] = x
                        if found & GRAPH_FARTHEST_LEFT:
                            lefts[left_top] = -x
                        left_top += 1
                for i in range(right_top):
                    fault_words[faults] = start + rights[i] - 1
                    fault_kinds[faults] = UNMATCHED_OPENING
                    faults += 1
                for i in range(left_top):
                    fault_words[faults] = start + abs(lefts[i]) - 1
                    fault_kinds[faults] = UNMATCHED_OPENING
                    faults += 1
        arc_offsets[offsets.shape[0] - 1] = made
        counts[0] = faults
