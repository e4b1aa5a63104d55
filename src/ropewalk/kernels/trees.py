"""Kernels over many trees: `heads[offsets[s]:offsets[s+1]]` are the heads of sentence s, counted from 1.

Node 0 is the root. Unless said otherwise, a kernel expects trees in which `check` found no fault.
"""

from __future__ import annotations

from dataclasses import dataclass

from ropewalk.kernels import new_ints, several_ints

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *

Ints = memoryview

FEW = 60  # crossing arcs, up to which comparing all pairs is faster


class Dependents:
    """A workspace with lists of dependents: `first[h]` is the first of h, `after[d]` the one after d, 0 for none."""

    def __init__(self, nodes: int) -> None:
        """Allocate buffers for sentences of up to `nodes` nodes."""
        self.first = new_ints(nodes)
        self.after = new_ints(nodes)
        self.queue = new_ints(nodes)


class Crossed:
    """The workspace of `planes` and `lift`.

    `first` and `after` are lists of dependents, `crossing` lists the words whose arcs cross others, and `plane` has the
    plane of each arc. `begins` and `ends` are binary trees over the nodes. `most` is the largest number of crossed arcs
    of a sentence that is lifted, or 0 if there is no limit.
    """

    def __init__(self, nodes: int, most: int) -> None:
        """Allocate buffers for sentences of up to `nodes` nodes."""
        self.most = most
        self.first, self.after, self.order, self.crossing, self.plane = several_ints(5, nodes)
        self.begins, self.ends = several_ints(2, 2 * nodes)


@dataclass(repr=False, eq=False)
class LiftMarks:
    """The marks in relations that show where lifted words belong (pseudo-projective parsing).

    The marks of word w, counted over all sentences, are `parts[part_starts[w]:part_starts[w+1]]`. A mark is the
    relation of the head to look for, or -1 for any relation. The last mark is searched first. `relations` are the
    current relations, and `plain` those without marks.

    With `along_path` the search visits only words marked in `down`, and for the mark -1 it ends at a word without
    marked dependents. With `nearest` the dependents of a node are tried by their distance to the lifted word, else in
    word order.
    """

    relations: Ints
    plain: Ints
    parts: Ints
    part_starts: Ints
    down: Ints
    along_path: int
    nearest: int


def check(heads: Ints, offsets: Ints, codes: Ints, words: Ints, roots: Ints, mark: Ints) -> None:
    """Write for each sentence the code of its fault, the word at fault, and the number of its roots.

    `mark` is a workspace, one longer than the longest sentence. From each word a walk follows heads towards the root,
    and marks each new word with its start. A walk that meets its own mark has found a cycle.
    """
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            code = TREE
            at = 0
            count = 0
            for d in range(1, n + 1):
                h = heads[start + d - 1]
                mark[d] = 0
                if h == 0:
                    count += 1
                if code == TREE and h < 0:
                    code = HEAD_MISSING
                    at = d
                elif code == TREE and h > n:
                    code = HEAD_OUT_OF_RANGE
                    at = d
            if code == TREE:
                for d in range(1, n + 1):
                    x = d
                    while x != 0 and mark[x] == 0:
                        mark[x] = d
                        x = heads[start + x - 1]
                    if x != 0 and mark[x] == d:
                        code = CYCLE
                        at = x
                        break
            codes[s] = code
            words[s] = at
            roots[s] = count


def projective(heads: Ints, offsets: Ints, out: Ints, work: Dependents) -> None:
    """Write 1 for each sentence in which no two arcs cross, else 0, in linear time. Arcs from node 0 count.

    Arcs are visited by left end, the longest first, with a stack of right ends: an arc that ends beyond the innermost
    open arc crosses it.
    """
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            out[s] = _projective(heads, offsets[s], offsets[s + 1] - offsets[s], work)


def _projective(heads: Ints, start: int, n: int, work: Dependents) -> int:
    for x in range(n + 1):
        work.first[x] = 0
    for d in range(1, n + 1):  # list right dependents, the farthest first
        h = heads[start + d - 1]
        if h < d:
            work.after[d] = work.first[h]
            work.first[h] = d
    top = 0
    for left in range(n + 1):
        up = 0
        if left > 0 and heads[start + left - 1] > left:
            up = heads[start + left - 1]
        down = work.first[left]
        while up != 0 or down != 0:
            if up > down:
                right = up
                up = 0
            else:
                right = down
                down = work.after[down]
            while top > 0 and work.queue[top - 1] <= left:
                top -= 1
            if top > 0 and work.queue[top - 1] < right:
                return 0
            work.queue[top] = right  # the stack of right ends
            top += 1
    return 1


def _breadth_first(heads: Ints, start: int, marked: Ints, many: int, turn: int, work: Crossed) -> None:
    """Sort the `many` words in `work.crossing`, the words d with `marked[d-1]` not 0, breadth-first.

    Children are in word order. Only the ancestors of these words are visited. They are marked in `work.begins` with
    `turn`, which must not be there yet.
    """
    for i in range(many):
        d = work.crossing[i]
        while d != 0 and work.begins[d] != turn:
            work.begins[d] = turn
            d = heads[start + d - 1]
    last = 0
    read = -1
    node = 0
    have = 0
    while have < many:  # `work.order` is the queue
        d = work.first[node]
        while d != 0:
            if work.begins[d] == turn:
                work.order[last] = d
                last += 1
                if marked[d - 1] != 0:
                    work.crossing[have] = d
                    have += 1
            d = work.after[d]
        read += 1
        node = work.order[read]


def _move(heads: Ints, start: int, d: int, work: Crossed) -> None:
    """Attach word d to its head's head, also in the lists of dependents."""
    h = heads[start + d - 1]
    if work.first[h] == d:
        work.first[h] = work.after[d]
    else:
        x = work.first[h]
        while work.after[x] != d:
            x = work.after[x]
        work.after[x] = work.after[d]
    h = heads[start + h - 1]
    heads[start + d - 1] = h
    if work.first[h] == 0 or work.first[h] > d:
        work.after[d] = work.first[h]
        work.first[h] = d
    else:
        x = work.first[h]
        while work.after[x] != 0 and work.after[x] < d:
            x = work.after[x]
        work.after[d] = work.after[x]
        work.after[x] = d


def _mark_newly_crossed(heads: Ints, start: int, arc: int, many: int, work: Crossed) -> int:
    """Mark the arcs that the arc into word `arc` crosses, and append their words to the `many` in `work.crossing`.

    Return the new number of words there. Such an arc has one end inside the arc into `arc`.
    """
    low = min(heads[start + arc - 1], arc)
    high = max(heads[start + arc - 1], arc)
    for x in range(low + 1, high):
        h = heads[start + x - 1]
        if work.plane[x - 1] == 0 and (h < low or h > high):
            work.plane[x - 1] = 1
            work.crossing[many] = x
            many += 1
        d = work.first[x]
        while d != 0:
            if work.plane[d - 1] == 0 and (d < low or d > high):
                work.plane[d - 1] = 1
                work.crossing[many] = d
                many += 1
            d = work.after[d]
    return many


def _crosses(heads: Ints, start: int, a: int, b: int) -> int:
    """Return whether the arcs into words a and b cross."""
    left_a = heads[start + a - 1]
    right_a = a
    if left_a > right_a:
        left_a, right_a = right_a, left_a
    left_b = heads[start + b - 1]
    right_b = b
    if left_b > right_b:
        left_b, right_b = right_b, left_b
    if left_a < left_b:
        return left_b < right_a < right_b
    return left_b < left_a < right_b < right_a


def _mark_crossed(heads: Ints, start: int, n: int, planes: Ints, work: Crossed) -> int:
    """Write 1 into `planes[d-1]` if the arc into word d crosses another arc, else 0.

    List the words of crossing arcs in `crossing`, and return their number. For each node x, `order[x]` is first the
    nearest later node with an arc to a node before x, and `crossing[x]` the nearest earlier node with an arc to a node
    after x. An arc crosses another one if `order` of its left end or `crossing` of its right end is inside the arc.
    """
    for x in range(n + 1):  # the leftmost and the rightmost node that each node's arcs reach
        work.first[x] = x
        work.after[x] = x
    for d in range(1, n + 1):
        low = min(heads[start + d - 1], d)
        high = max(heads[start + d - 1], d)
        work.first[high] = min(work.first[high], low)
        work.after[low] = max(work.after[low], high)
    nearest = n + 1
    for i in range(n + 1):  # `order` becomes the nearest later node, and links the stack of candidates
        x = n - i
        while nearest <= n and work.first[nearest] >= x:
            nearest = work.order[nearest]
        work.order[x] = nearest
        nearest = x
    nearest = -1
    for x in range(n + 1):  # `crossing` becomes the nearest earlier node
        while nearest >= 0 and work.after[nearest] <= x:
            nearest = work.crossing[nearest]
        work.crossing[x] = nearest
        nearest = x
    crossed = 0
    for d in range(1, n + 1):
        low = min(heads[start + d - 1], d)
        high = max(heads[start + d - 1], d)
        planes[d - 1] = 0
        if work.order[low] < high or work.crossing[high] > low:
            planes[d - 1] = 1
            work.crossing[crossed] = d  # overwrites entries that are no longer read: those at d + 1 and later are
            crossed += 1
    return crossed


def _assign_planes(heads: Ints, start: int, planes: Ints, many: int, work: Crossed) -> int:
    """Write the plane, from 1, of the `many` arcs in `work.crossing`; return the number of planes.

    An arc goes into the first plane in which it crosses no arc listed before it.
    """
    most = 1
    for i in range(many):
        plane = 1
        while True:
            free = 1
            for j in range(i):
                if planes[work.crossing[j] - 1] == plane and _crosses(heads, start, work.crossing[i], work.crossing[j]):
                    free = 0
                    break
            if free:
                break
            plane += 1
        planes[work.crossing[i] - 1] = plane
        most = max(most, plane)
    return most


def _assign_many_planes(heads: Ints, start: int, n: int, planes: Ints, many: int, most: int, work: Crossed) -> None:
    """Write the plane, from 1, of the `many` arcs in `work.crossing`, in a way that is fast for many arcs.

    An arc goes into the first plane in which it crosses no arc listed before it. Arcs that fit into none of `most`
    planes get `most` + 1. `work.begins` and `work.ends` are segment trees over the nodes. An arc is recorded at the few
    tree nodes that together cover the nodes inside it: its left end in `begins`, if it is the largest there, and its
    right end in `ends`, if it is the smallest. A walk from an end of another arc to the root of the segment tree meets
    the arcs that cross it.
    """
    size = n + 1
    for plane in range(1, most + 1):
        if many == 0:
            break
        for x in range(2 * size):
            work.begins[x] = -1
            work.ends[x] = size
        kept = 0
        for i in range(many):
            d = work.crossing[i]
            low = min(heads[start + d - 1], d)
            high = max(heads[start + d - 1], d)
            free = 1
            x = low + size
            y = high + size
            while x > 0:
                if work.ends[x] < high:
                    free = 0
                    break
                x >>= 1
            while free and y > 0:
                if work.begins[y] > low:
                    free = 0
                y >>= 1
            if free == 0:
                work.crossing[kept] = d
                kept += 1
                continue
            planes[d - 1] = plane
            x = low + 1 + size
            y = high + size
            while x < y:
                if x & 1:
                    work.begins[x] = max(work.begins[x], low)
                    work.ends[x] = min(work.ends[x], high)
                    x += 1
                if y & 1:
                    y -= 1
                    work.begins[y] = max(work.begins[y], low)
                    work.ends[y] = min(work.ends[y], high)
                x >>= 1
                y >>= 1
        many = kept
    for i in range(many):
        planes[work.crossing[i] - 1] = most + 1


def planes(heads: Ints, offsets: Ints, most: int, out: Ints, work: Crossed) -> None:
    """Write the plane, from 1, of each word's arc. It is `most` + 1 if the arc fits into none of the `most` planes.

    Arcs are visited breadth-first from the root, children in word order. Each goes into the first plane in which it
    crosses no arc. Arcs that cross no others are in plane 1.
    """
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            many = _mark_crossed(heads, start, n, out[start : start + n], work)
            if many > 0:
                _link_dependents(heads, start, n, 0, 0, work.first, work.after)
                for x in range(n + 1):
                    work.begins[x] = 0
                _breadth_first(heads, start, out[start : start + n], many, 1, work)
                if many <= most and many <= FEW:  # nearly all sentences
                    _assign_planes(heads, start, out[start : start + n], many, work)
                else:
                    _assign_many_planes(heads, start, n, out[start : start + n], many, most, work)
            for w in range(start, start + n):
                out[w] = max(out[w], 1)


def gap_degrees(heads: Ints, offsets: Ints, out: Ints, work: Dependents) -> None:
    """Write the gap degree of each tree: the largest number of gaps in the positions of a word and its descendants.

    Word d begins a new span for each of its ancestors, itself included, that is no ancestor of d-1. `work.first` marks
    each node with its last descendant so far, and `work.after` counts its spans.
    """
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            for x in range(n + 1):
                work.first[x] = -1
                work.after[x] = 0
            most = 0
            for d in range(1, n + 1):
                x = d
                while x != 0 and work.first[x] != d - 1:
                    work.after[x] += 1
                    most = max(most, work.after[x])
                    x = heads[start + x - 1]
                x = d
                while x != 0:
                    work.first[x] = d
                    x = heads[start + x - 1]
            out[s] = max(most - 1, 0)


def lift(
    heads: Ints, offsets: Ints, chosen: Ints, planes: int, steps: int, lifted: Ints, left: Ints, work: Crossed
) -> int:
    """Lift arcs of the `chosen` sentences until their arcs fit into `planes` planes; return the number of lifts.

    A lift attaches a word to its head's head. Among the arcs outside these planes, the shortest is lifted first. Among
    equally short ones it is that in the lower plane, then the first in breadth-first order. Lift i moved word
    `lifted[i]` away from its head `left[i]`, both counted over all sentences. A sentence gets at most `steps` lifts, or
    any number if `steps` is 0. Return -1 if the lists are too short for all lifts, and -2 - c if sentence `chosen[c]`
    has too many crossed arcs; the caller must then restore the heads.
    """
    with cython.nogil:
        count = 0
        for c in range(chosen.shape[0]):
            start = offsets[chosen[c]]
            n = offsets[chosen[c] + 1] - start
            done = 0
            many = _mark_crossed(heads, start, n, work.plane, work)
            if work.most and many > work.most:
                count = -2 - c
                break
            _link_dependents(heads, start, n, 0, 0, work.first, work.after)
            for x in range(n + 1):
                work.begins[x] = 0
            while steps == 0 or done < steps:
                _breadth_first(heads, start, work.plane, many, done + 1, work)
                if _assign_planes(heads, start, work.plane, many, work) <= planes:
                    break
                best = 0
                shortest = 0
                for i in range(many):
                    d = work.crossing[i]
                    own = work.plane[d - 1]
                    if own <= planes:
                        continue
                    length = abs(heads[start + d - 1] - d)
                    if best == 0 or length < shortest or (length == shortest and own < work.plane[best - 1]):
                        best = d
                        shortest = length
                if count == lifted.shape[0]:
                    count = -1
                    break
                h = heads[start + best - 1]
                lifted[count] = start + best - 1
                left[count] = start + h - 1
                _move(heads, start, best, work)
                # arcs without a crossing so far can only cross the new arc
                many = _mark_newly_crossed(heads, start, best, many, work)
                count += 1
                done += 1
            if count < 0:
                break
    return count


def lower(heads: Ints, offsets: Ints, chosen: Ints, marks: LiftMarks, work: Dependents) -> None:
    """Undo lifts: attach the lifted words of the `chosen` sentences to the heads that their marks describe.

    Words are visited in word order. The search for a head is breadth-first through the other dependents of the current
    head and their descendants. A word keeps its head if none is found. Every word except roots gets its plain relation,
    without marks.
    """
    with cython.nogil:
        for c in range(chosen.shape[0]):
            start = offsets[chosen[c]]
            n = offsets[chosen[c] + 1] - start
            for d in range(1, n + 1):
                w = start + d - 1
                for p in range(marks.part_starts[w + 1] - 1, marks.part_starts[w] - 1, -1):
                    if heads[w] != 0:
                        _link_dependents(heads, start, n, d, marks.nearest, work.first, work.after)
                        target = _target(heads, start, d, marks.parts[p], marks, work)
                        if target != 0:
                            heads[w] = target
                if heads[w] != 0:
                    marks.relations[w] = marks.plain[w]


def _link_dependents(heads: Ints, start: int, n: int, d: int, nearest: int, first: Ints, after: Ints) -> None:
    """Write the list of dependents of every node into `first` and `after`, in word order.

    With `nearest` the words nearest to word d are first, and d itself is left out.
    """
    for x in range(n + 1):
        first[x] = 0
    for i in range(n):  # each list is built from its end
        if nearest == 0:
            _link(heads, start, n - i, first, after)
            continue
        distance = n - i
        if d + distance <= n:
            _link(heads, start, d + distance, first, after)
        if d - distance >= 1:
            _link(heads, start, d - distance, first, after)


def _link(heads: Ints, start: int, x: int, first: Ints, after: Ints) -> None:
    h = heads[start + x - 1]
    after[x] = first[h]
    first[h] = x


def _target(heads: Ints, start: int, d: int, wanted: int, marks: LiftMarks, work: Dependents) -> int:
    """Return the head of lifted word d by its mark `wanted`, 0 if the search finds none."""
    last = 0
    read = 0
    node = heads[start + d - 1]
    while True:
        ends = 1
        x = work.first[node]
        while x != 0:
            if x != d and (marks.along_path == 0 or marks.down[start + x - 1]):
                work.queue[last] = x
                last += 1
                ends = 0
            x = work.after[x]
        if read > 0:
            if wanted < 0 and ends:
                return node
            if wanted >= 0 and marks.relations[start + node - 1] == wanted:
                return node
        if read == last:
            return 0
        node = work.queue[read]
        read += 1


def stackable(heads: Ints, offsets: Ints, planes: Ints, many: int, out: Ints, work: Dependents) -> None:
    """Write 1 for each sentence in which no two arcs of the same plane and direction cross, else 0.

    A stack for each plane and direction can read exactly these trees. `many` is the number of planes. An arc with a
    higher plane is treated as an arc of plane 1.
    """
    ends = work.queue
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            fine = 1
            for plane in range(1, many + 1):
                for rightward in range(2):
                    top = 0
                    for i in range(n):
                        d = n - i if rightward else i + 1
                        h = heads[start + d - 1]
                        own = planes[start + d - 1]
                        if own > many:
                            own = 1
                        if own != plane or (h < d) != rightward:
                            continue
                        if rightward:
                            while top > 0 and ends[top - 1] >= d:
                                top -= 1
                            if top > 0 and ends[top - 1] > h:
                                fine = 0
                        else:
                            while top > 0 and ends[top - 1] <= d:
                                top -= 1
                            if top > 0 and ends[top - 1] < h:
                                fine = 0
                        ends[top] = h
                        top += 1
            out[s] = fine
