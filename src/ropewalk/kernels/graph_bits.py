"""Six bits for each word and plane of a graph (Ezquerro et al. 2024)."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *
    from ropewalk.kernels.values import ArcBuffer, ArcEnds, Findings, Workspace  # noqa: TC001 - compiled, in the .pxd

Ints = memoryview


def write(ends: ArcEnds, arc_planes: Ints, many: int, out: Ints, work: Workspace) -> None:
    """Write six bits for each word and plane: those of word w and plane p, from 0, into `out[many * w + p]`.

    Words are counted over all sentences. `many` is the number of planes; arcs of higher planes are left out.
    """
    low = work.node1
    high = work.node2
    with cython.nogil:
        for i in range(out.shape[0]):
            out[i] = 0
        before = 0
        for s in range(ends.offsets.shape[0] - 1):
            n = ends.words[s]
            # find the farthest left and right dependent of each node in each plane
            for i in range(many * (n + 1)):
                low[i] = n + 1
                high[i] = 0
            for a in range(ends.offsets[s], ends.offsets[s + 1]):
                p = arc_planes[a] - 1
                if p < many:
                    if ends.rightward[a]:
                        high[many * ends.left[a] + p] = max(high[many * ends.left[a] + p], ends.right[a])
                    else:
                        low[many * ends.right[a] + p] = min(low[many * ends.right[a] + p], ends.left[a])
            # set the bits of each arc's dependent and head
            for a in range(ends.offsets[s], ends.offsets[s + 1]):
                p = arc_planes[a] - 1
                if p >= many:
                    continue
                x = many * (before + ends.left[a] - 1) + p
                y = many * (before + ends.right[a] - 1) + p
                if ends.rightward[a]:
                    out[y] |= GRAPH_RIGHT_DEPENDENT
                    if high[many * ends.left[a] + p] == ends.right[a]:
                        out[y] |= GRAPH_FARTHEST_RIGHT
                    if ends.left[a] > 0:
                        out[x] |= GRAPH_HAS_RIGHT
                else:
                    out[x] |= GRAPH_LEFT_DEPENDENT
                    if low[many * ends.right[a] + p] == ends.left[a]:
                        out[x] |= GRAPH_FARTHEST_LEFT
                    out[y] |= GRAPH_HAS_LEFT
            before += n


def read(bits: Ints, offsets: Ints, many: int, arcs: ArcBuffer, faults: Findings, work: Workspace) -> None:
    """Read six bits for each word and plane into arcs.

    Each plane has a stack of words that still get right dependents, and one of words that still get a head on the
    right. A word is first attached to its head on the left: the topmost word of the first stack, or node 0 if the stack
    is empty. Then it gets its dependents on the left, up to the one marked as the farthest.
    """
    rights = work.node1
    lefts = work.node2
    with cython.nogil:
        made = 0
        for s in range(offsets.shape[0] - 1):
            arcs.offsets[s] = made
            start = offsets[s]
            for p in range(many):
                right_top = 0
                left_top = 0
                for w in range(start, offsets[s + 1]):
                    x = w - start + 1
                    code = bits[many * w + p]
                    if code & GRAPH_RIGHT_DEPENDENT:
                        arcs.heads[made] = 0
                        if right_top > 0:
                            arcs.heads[made] = rights[right_top - 1]
                            if code & GRAPH_FARTHEST_RIGHT:
                                right_top -= 1
                        arcs.dependents[made] = x
                        made += 1
                    if code & GRAPH_HAS_LEFT:
                        last = 0
                        if left_top == 0:
                            faults.add(w, UNMATCHED_CLOSING)
                        while left_top > 0 and last == 0:
                            left_top -= 1
                            arcs.heads[made] = x
                            arcs.dependents[made] = abs(lefts[left_top])
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
        arcs.offsets[offsets.shape[0] - 1] = made
