"""Six bits for each word and plane of a graph (Ezquerro et al. 2024)."""

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
    UNMATCHED_CLOSING,
    UNMATCHED_OPENING,
)

if not cython.compiled:
    from ropewalk.kernels.values import ArcBuffer, ArcEnds, Findings, Workspace  # noqa: TC001 - compiled, in the .pxd

Ints = memoryview


def write(ends: ArcEnds, arc_planes: Ints, many: int, out: Ints, work: Workspace) -> None:
    """Write six bits for each word and plane: those of word w and plane p, from 0, into `out[many * w + p]`.

    Words are counted over all sentences. `many` is the number of planes; arcs of higher planes are left out.
    """
    left = ends.left
    right = ends.right
    rightward = ends.rightward
    offsets = ends.offsets
    words = ends.words
    low = work.node1
    high = work.node2
    with cython.nogil:
        for i in range(out.shape[0]):
            out[i] = 0
        before = 0
        for s in range(offsets.shape[0] - 1):
            n = words[s]
            # find the farthest left and right dependent of each node in each plane
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
            # set the bits of each arc's dependent and head
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


def read(bits: Ints, offsets: Ints, many: int, arcs: ArcBuffer, faults: Findings, work: Workspace) -> None:
    """Read six bits for each word and plane into arcs.

    Each plane has a stack of words that still get right dependents, and one of words that still get a head on the
    right. A word is first attached to its head on the left: the topmost word of the first stack, or node 0 if the stack
    is empty. Then it gets its dependents on the left, up to the one marked as the farthest.
    """
    heads = arcs.heads
    dependents = arcs.dependents
    arc_offsets = arcs.offsets
    rights = work.node1
    lefts = work.node2
    with cython.nogil:
        made = 0
        for s in range(offsets.shape[0] - 1):
            arc_offsets[s] = made
            start = offsets[s]
            for p in range(many):
                right_top = 0
                left_top = 0
                for w in range(start, offsets[s + 1]):
                    x = w - start + 1
                    code = bits[many * w + p]
                    if code & GRAPH_RIGHT_DEPENDENT:
                        heads[made] = 0
                        if right_top > 0:
                            heads[made] = rights[right_top - 1]
                            if code & GRAPH_FARTHEST_RIGHT:
                                right_top -= 1
                        dependents[made] = x
                        made += 1
                    if code & GRAPH_HAS_LEFT:
                        last = 0
                        if left_top == 0:
                            faults.add(w, UNMATCHED_CLOSING)
                        while left_top > 0 and last == 0:
                            left_top -= 1
                            heads[made] = x
                            dependents[made] = abs(lefts[left_top])
                            if lefts[left_top] < 0:
                                last = 1
                            made += 1
                    if code & GRAPH_HAS_RIGHT:
                        rights[right_top] = x
                        right_top += 1
                    if code & GRAPH_LEFT_DEPENDENT:
                        lefts[left_top] = x
                        if code & GRAPH_FARTHEST_LEFT:
                            lefts[left_top] = -x
                        left_top += 1
                for i in range(right_top):
                    faults.add(start + rights[i] - 1, UNMATCHED_OPENING)
                for i in range(left_top):
                    faults.add(start + abs(lefts[i]) - 1, UNMATCHED_OPENING)
        arc_offsets[offsets.shape[0] - 1] = made
