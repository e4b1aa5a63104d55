"""Graphs as flat arrays of arcs: planes, cycles, and the bits of the arcs of each plane.

An arc has a left and a right end and a direction; the arcs of sentence s stand at `offsets[s]:offsets[s+1]`, and
`words[s]` is its number of nodes.
"""

from __future__ import annotations

from ropewalk.kernels import new_ints

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

if not cython.compiled:
    from ropewalk.kernels.arcs import ArcEnds  # noqa: TC001 - compiled code has it from the .pxd

Ints = memoryview


class Sweep:
    """A workspace of `planes`.

    `first` and `after` list the arcs that end at a node. The open arcs of a plane lie inside each other: `tops` has the
    innermost, and `below` what lies around each. `reach` is a binary tree over all planes: a leaf has how far a new arc
    of its plane may reach, an inner node the larger of its two. A plane that is `hidden` reaches nowhere until the
    sweep goes on.
    """

    def __init__(self, nodes: int, arcs: int, leaves: int) -> None:
        """Allocate for sentences of up to `nodes` nodes and `arcs` arcs; `leaves` is a power of 2 above that."""
        self.first = new_ints(nodes)
        self.after = new_ints(arcs)
        self.below = new_ints(arcs)
        self.tops = new_ints(leaves)
        self.hidden = new_ints(arcs)
        self.reach = new_ints(2 * leaves)


def planes(arcs: ArcEnds, order: Ints, rule: int, out: Ints, work: Sweep) -> None:
    """Give each arc the first plane, from 1, in which no arc of its direction crosses it.

    With the rule ONE_HEAD_A_SIDE a plane has at most one arc of a direction into a node, with ONE_HEAD at most one
    arc. Arcs go in the given order: by left end, the longest first. The time grows with the arcs and the logarithm of
    their number.
    """
    right = arcs.right
    offsets = arcs.offsets
    words = arcs.words
    first = work.first
    after = work.after
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            for x in range(words[s] + 1):
                first[x] = -1
            for a in range(start, offsets[s + 1]):  # after this, `first` and `after` list arcs by right end
                after[a - start] = first[right[a]]
                first[right[a]] = a
            # arcs to the left come second: with ONE_HEAD they give way to those to the right
            _planes_of_one_direction(arcs, s, order, rule, 1, out, work)
            _planes_of_one_direction(arcs, s, order, rule, 0, out, work)


def _planes_of_one_direction(
    arcs: ArcEnds, s: int, order: Ints, rule: int, direction: int, out: Ints, work: Sweep
) -> None:
    """Assign planes to the arcs of one direction, with a sweep over their left ends.

    A new arc goes into the first plane whose innermost open arc ends where it does or beyond: the tree `reach` leads
    from its root to that plane.
    """
    left = arcs.left
    right = arcs.right
    rightward = arcs.rightward
    start = arcs.offsets[s]
    stop = arcs.offsets[s + 1]
    n = arcs.words[s]
    first = work.first
    after = work.after
    below = work.below
    tops = work.tops
    hidden = work.hidden
    reach = work.reach
    size = 1
    while size < stop - start:
        size *= 2
    for i in range(2 * size):
        reach[i] = n + 1
    for p in range(size):
        tops[p] = -1
    many = 0
    at = -1
    for i in range(start, stop):
        a = order[i]
        if rightward[a] != direction:
            continue
        if at < left[a]:
            for j in range(many):
                _set_reach(right, n, tops, reach, size, hidden[j])
            many = 0
            while at < left[a]:
                at += 1
                b = first[at]
                while b >= 0:
                    if rightward[b] == direction:
                        tops[out[b] - 1] = below[tops[out[b] - 1] - start]
                        _set_reach(right, n, tops, reach, size, out[b] - 1)
                    b = after[b - start]
            if rule == ONE_HEAD and direction == 0:
                b = first[at]
                while b >= 0:
                    if rightward[b]:
                        hidden[many] = out[b] - 1
                        many += 1
                        _put_reach(reach, size, out[b] - 1, -1)
                    b = after[b - start]
        far = right[a]
        if rule != 0 and direction == 1:
            far += 1  # one that ends at the same node has the same dependent
        p = 1
        while p < size:
            p *= 2
            if reach[p] < far:
                p += 1
        p -= size
        out[a] = p + 1
        below[a - start] = tops[p]
        tops[p] = a
        if rule != 0 and direction == 0:
            hidden[many] = p
            many += 1
            _put_reach(reach, size, p, -1)
        else:
            _put_reach(reach, size, p, right[a])


def _set_reach(right: Ints, n: int, tops: Ints, reach: Ints, size: int, plane: int) -> None:
    """Let a plane reach as far as its innermost open arc, or to the end."""
    if tops[plane] >= 0:
        _put_reach(reach, size, plane, right[tops[plane]])
    else:
        _put_reach(reach, size, plane, n + 1)


def _put_reach(reach: Ints, size: int, plane: int, value: int) -> None:
    """Change the reach of a plane, and of the nodes above it as far as that changes them."""
    x = size + plane
    reach[x] = value
    while x > 1:
        x >>= 1
        most = max(reach[2 * x], reach[2 * x + 1])
        if reach[x] == most:
            break
        reach[x] = most


def cyclic(
    heads: Ints, dependents: Ints, offsets: Ints, words: Ints, out: Ints, next_arc: Ints, mark: Ints, path: Ints
) -> None:
    """Tell with 1 which graphs have a cycle: one in which a walk towards heads comes back to a node of its own path.

    The arcs of a sentence are sorted by dependent. A node is marked with 1 while it is on the path, and with 2 once no
    walk from it can come back.
    """
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            stop = offsets[s + 1]
            a = offsets[s]
            for x in range(1, words[s] + 1):
                next_arc[x] = a
                while a < stop and dependents[a] == x:
                    a += 1
                mark[x] = 0
            mark[0] = 2
            out[s] = 0
            for x in range(1, words[s] + 1):
                if mark[x] != 0:
                    continue
                mark[x] = 1
                path[0] = x
                many = 1
                while many > 0:
                    y = path[many - 1]
                    a = next_arc[y]
                    if a == stop or dependents[a] != y:
                        mark[y] = 2
                        many -= 1
                        continue
                    next_arc[y] += 1
                    h = heads[a]
                    if mark[h] == 1:
                        out[s] = 1
                        break
                    if mark[h] == 0:
                        mark[h] = 1
                        path[many] = h
                        many += 1
                if out[s]:
                    break


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
