"""Loops over many trees at once: `heads[offsets[s]:offsets[s+1]]` are the heads of sentence s, counted from 1.

Node 0 is the root. Unless said otherwise a kernel expects heads that `check` has passed.
"""

from __future__ import annotations

from ropewalk.kernels import new_ints

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

from ropewalk.kernels.codes import CYCLE, HEAD_MISSING, HEAD_OUT_OF_RANGE, TREE

Ints = memoryview

FEW = 60  # arcs of which it is quicker to look at all pairs


class Dependents:
    """A workspace: `first[h]` is the first dependent of h, `after[d]` the one after d, 0 for none."""

    def __init__(self, nodes: int) -> None:
        """Allocate buffers for sentences of up to `nodes` nodes."""
        self.first = new_ints(nodes)
        self.after = new_ints(nodes)
        self.queue = new_ints(nodes)


class Crossed:
    """A workspace of `planes` and `lift`: lists of dependents, the arcs that cross others (`found`) and their planes.

    `begins` and `ends` are binary trees over the nodes.
    """

    def __init__(self, nodes: int) -> None:
        """Allocate buffers for sentences of up to `nodes` nodes."""
        self.first = new_ints(nodes)
        self.after = new_ints(nodes)
        self.order = new_ints(nodes)
        self.found = new_ints(nodes)
        self.plane = new_ints(nodes)
        self.begins = new_ints(2 * nodes)
        self.ends = new_ints(2 * nodes)


class LiftMarks:
    """Marks in relations that show where lifted words belong.

    The marks of the w-th word of all are `parts[part_starts[w]:part_starts[w+1]]`: relations to look for, the last one
    first, or -1 for any. `relations` are compared as they stand, `plain` are those without marks. With `along_path`
    the search goes only through words marked in `down`, and for -1 to one below which no mark goes on. With `nearest`
    dependents are tried by their distance to the word, else in word order.
    """

    def __init__(self, relations: Ints, plain: Ints, parts: Ints, part_starts: Ints, down: Ints) -> None:
        """Keep the buffers."""
        self.relations = relations
        self.plain = plain
        self.parts = parts
        self.part_starts = part_starts
        self.down = down
        self.along_path = 0
        self.nearest = 0

    def search(self, along_path: int, nearest: int) -> None:
        """Set how targets are searched."""
        self.along_path = along_path
        self.nearest = nearest


def check(heads: Ints, offsets: Ints, codes: Ints, words: Ints, roots: Ints, mark: Ints) -> None:
    """Write for each sentence what is wrong with it, at which word, and how many roots it has.

    `mark` is scratch, one longer than the longest sentence. A word's mark is the word from which the walk
    towards the root first met it; a walk that meets its own mark has gone round a cycle.
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
    """Write 1 for each sentence in which no two arcs cross, arcs from node 0 included, in linear time.

    Arcs are met by left end, the longest first, over a stack of right ends: an arc that reaches beyond the
    innermost one still open crosses it.
    """
    first = work.first
    after = work.after
    ends = work.queue
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            out[s] = _projective(heads, offsets[s], offsets[s + 1] - offsets[s], first, after, ends)


def _projective(heads: Ints, start: int, n: int, first: Ints, after: Ints, ends: Ints) -> int:
    for x in range(n + 1):
        first[x] = 0
    for d in range(1, n + 1):  # after this, `first` and `after` list right dependents, the farthest first
        h = heads[start + d - 1]
        if h < d:
            after[d] = first[h]
            first[h] = d
    top = 0
    for left in range(n + 1):
        up = 0
        if left > 0 and heads[start + left - 1] > left:
            up = heads[start + left - 1]
        down = first[left]
        while up != 0 or down != 0:
            if up > down:
                right = up
                up = 0
            else:
                right = down
                down = after[down]
            while top > 0 and ends[top - 1] <= left:
                top -= 1
            if top > 0 and ends[top - 1] < right:
                return 0
            ends[top] = right
            top += 1
    return 1


def _breadth_first(
    heads: Ints, start: int, n: int, marked: Ints, many: int, first: Ints, after: Ints, order: Ints, found: Ints
) -> None:
    """List in `found` the `many` words d with a mark at `marked[d-1]`, breadth-first, children in word order."""
    for x in range(n + 1):
        first[x] = 0
    for i in range(n):
        d = n - i
        h = heads[start + d - 1]
        after[d] = first[h]
        first[h] = d
    last = 0
    read = -1
    node = 0
    have = 0
    while have < many:  # `order` is the queue: what was put in first is read first
        d = first[node]
        while d != 0:
            order[last] = d
            last += 1
            if marked[d - 1] != 0:
                found[have] = d
                have += 1
            d = after[d]
        read += 1
        node = order[read]


def _crosses(heads: Ints, start: int, a: int, b: int) -> int:
    """Tell whether the arcs into words a and b cross."""
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


def _mark_crossed(
    heads: Ints, start: int, n: int, planes: Ints, first: Ints, after: Ints, order: Ints, found: Ints
) -> int:
    """Write 1 into `planes[d-1]` if the arc into word d crosses any other, else 0; list those words, return how many.

    Every node has a nearest node after it that an arc from before it leads to, and a nearest before it from which one
    leads beyond it. An arc crosses another if the former of its left end, or the latter of its right end, is inside it.
    """
    for x in range(n + 1):  # how far each node's arcs reach to the left and to the right
        first[x] = x
        after[x] = x
    for d in range(1, n + 1):
        low = min(heads[start + d - 1], d)
        high = max(heads[start + d - 1], d)
        first[high] = min(first[high], low)
        after[low] = max(after[low], high)
    nearest = n + 1
    for i in range(n + 1):  # `order` gets the nearest end after each node; it is a stack of those still of use too
        x = n - i
        while nearest <= n and first[nearest] >= x:
            nearest = order[nearest]
        order[x] = nearest
        nearest = x
    nearest = -1
    for x in range(n + 1):  # and `found` the nearest before it
        while nearest >= 0 and after[nearest] <= x:
            nearest = found[nearest]
        found[x] = nearest
        nearest = x
    crossed = 0
    for d in range(1, n + 1):
        low = min(heads[start + d - 1], d)
        high = max(heads[start + d - 1], d)
        planes[d - 1] = 0
        if order[low] < high or found[high] > low:
            planes[d - 1] = 1
            found[crossed] = d  # what is asked of `found` from now on lies at d + 1 or after
            crossed += 1
    return crossed


def _any_cross(heads: Ints, start: int, found: Ints, many: int) -> int:
    for i in range(many):
        for j in range(i):
            if _crosses(heads, start, found[i], found[j]):
                return 1
    return 0


def _assign_planes(heads: Ints, start: int, planes: Ints, found: Ints, many: int) -> int:
    """Write the planes, from 1, of the `many` arcs listed, each the first in which it crosses none listed before it.

    Returns how many planes there are.
    """
    most = 1
    for i in range(many):
        plane = 1
        while True:
            free = 1
            for j in range(i):
                if planes[found[j] - 1] == plane and _crosses(heads, start, found[i], found[j]):
                    free = 0
                    break
            if free:
                break
            plane += 1
        planes[found[i] - 1] = plane
        most = max(most, plane)
    return most


def _assign_many_planes(
    n: int, heads: Ints, start: int, planes: Ints, found: Ints, many: int, most: int, begins: Ints, ends: Ints
) -> None:
    """Do the same for a great many arcs and at most `most` planes, plane by plane; the rest is given `most` + 1.

    Over the nodes stand two binary trees. An arc is written at the few nodes of these that together are what lies
    inside it: its left end into `begins`, if no other there is larger, and its right end into `ends`, if no other is
    smaller. On the way up from an end of another arc stand those that cross it.
    """
    size = n + 1
    for plane in range(1, most + 1):
        if many == 0:
            break
        for x in range(2 * size):
            begins[x] = -1
            ends[x] = size
        kept = 0
        for i in range(many):
            d = found[i]
            low = min(heads[start + d - 1], d)
            high = max(heads[start + d - 1], d)
            free = 1
            x = low + size
            y = high + size
            while x > 0:
                if ends[x] < high:
                    free = 0
                    break
                x >>= 1
            while free and y > 0:
                if begins[y] > low:
                    free = 0
                y >>= 1
            if free == 0:
                found[kept] = d
                kept += 1
                continue
            planes[d - 1] = plane
            x = low + 1 + size
            y = high + size
            while x < y:
                if x & 1:
                    begins[x] = max(begins[x], low)
                    ends[x] = min(ends[x], high)
                    x += 1
                if y & 1:
                    y -= 1
                    begins[y] = max(begins[y], low)
                    ends[y] = min(ends[y], high)
                x >>= 1
                y >>= 1
        many = kept
    for i in range(many):
        planes[found[i] - 1] = most + 1


def planes(heads: Ints, offsets: Ints, most: int, out: Ints, work: Crossed) -> None:
    """Write the plane, from 1, of every word's arc: 1 if it crosses none, `most` + 1 if there is none up to `most`.

    Arcs go breadth-first from the root, children in word order, into the first plane in which they cross nothing.
    """
    first = work.first
    after = work.after
    order = work.order
    found = work.found
    begins = work.begins
    ends = work.ends
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            many = _mark_crossed(heads, start, n, out[start : start + n], first, after, order, found)
            if many > 0:
                _breadth_first(heads, start, n, out[start : start + n], many, first, after, order, found)
                if many <= most and many <= FEW:  # as in nearly all sentences
                    _assign_planes(heads, start, out[start : start + n], found, many)
                else:
                    _assign_many_planes(n, heads, start, out[start : start + n], found, many, most, begins, ends)
            for w in range(start, start + n):
                out[w] = max(out[w], 1)


def gap_degrees(heads: Ints, offsets: Ints, out: Ints, work: Dependents) -> None:
    """Write for each sentence the largest number of gaps in the span of a word and its descendants.

    Word d begins a new stretch for each of its ancestors, itself included, that is no ancestor of d-1.
    """
    mark = work.first
    starts = work.after
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            for x in range(n + 1):
                mark[x] = -1
                starts[x] = 0
            most = 0
            for d in range(1, n + 1):
                x = d
                while x != 0 and mark[x] != d - 1:
                    starts[x] += 1
                    most = max(most, starts[x])
                    x = heads[start + x - 1]
                x = d
                while x != 0:
                    mark[x] = d
                    x = heads[start + x - 1]
            out[s] = max(most - 1, 0)


def lift(
    heads: Ints, offsets: Ints, chosen: Ints, planes: int, steps: int, lifted: Ints, left: Ints, work: Crossed
) -> int:
    """Lift arcs of the chosen sentences until they need no more planes than given; return how many lifts.

    Among the arcs outside these planes the shortest goes first (ties: the lower plane, then breadth-first
    order): its dependent is hung on its head's head. Lift i moved word `lifted[i]` away from word `left[i]`, both
    counted over all sentences. At most `steps` lifts are made in a sentence, any number if 0. If the lists are too
    short for all lifts the return value is -1 and the heads must be given anew.
    """
    first = work.first
    after = work.after
    order = work.order
    plane = work.plane
    found = work.found
    with cython.nogil:
        count = 0
        for c in range(chosen.shape[0]):
            start = offsets[chosen[c]]
            n = offsets[chosen[c] + 1] - start
            done = 0
            many = _mark_crossed(heads, start, n, plane, first, after, order, found)
            while (steps == 0 or done < steps) and _any_cross(heads, start, found, many):
                _breadth_first(heads, start, n, plane, many, first, after, order, found)
                if _assign_planes(heads, start, plane, found, many) <= planes:
                    break
                best = 0
                shortest = 0
                for i in range(many):
                    d = found[i]
                    if plane[d - 1] <= planes:
                        continue
                    length = abs(heads[start + d - 1] - d)
                    if best == 0 or length < shortest or (length == shortest and plane[d - 1] < plane[best - 1]):
                        best = d
                        shortest = length
                if count == lifted.shape[0]:
                    count = -1
                    break
                h = heads[start + best - 1]
                lifted[count] = start + best - 1
                left[count] = start + h - 1
                heads[start + best - 1] = heads[start + h - 1]
                low = min(heads[start + best - 1], best)
                high = max(heads[start + best - 1], best)
                for d in range(1, n + 1):  # what did not cross before can only cross the new arc
                    if plane[d - 1] != 0:
                        continue
                    h = heads[start + d - 1]
                    if (low < d < high and (h < low or h > high)) or (low < h < high and (d < low or d > high)):
                        plane[d - 1] = 1
                        found[many] = d
                        many += 1
                count += 1
                done += 1
            if count < 0:
                break
    return count


def lower(heads: Ints, offsets: Ints, chosen: Ints, marks: LiftMarks, work: Dependents) -> None:
    """Hang lifted words of the chosen sentences back, in word order.

    The search goes breadth-first through the other dependents of the word's head and their descendants. A word whose
    target is not found stays where it is. Once a word has been hung back its relation is its plain one.
    """
    relations = marks.relations
    plain = marks.plain
    parts = marks.parts
    part_starts = marks.part_starts
    down = marks.down
    along_path = marks.along_path
    nearest = marks.nearest
    first = work.first
    after = work.after
    queue = work.queue
    with cython.nogil:
        for c in range(chosen.shape[0]):
            start = offsets[chosen[c]]
            n = offsets[chosen[c] + 1] - start
            for d in range(1, n + 1):
                w = start + d - 1
                for p in range(part_starts[w + 1] - 1, part_starts[w] - 1, -1):
                    if heads[w] != 0:
                        _link_dependents(heads, start, n, d, nearest, first, after)
                        found = _target(heads, start, d, relations, parts[p], down, along_path, first, after, queue)
                        if found != 0:
                            heads[w] = found
                if heads[w] != 0:
                    relations[w] = plain[w]


def _link_dependents(heads: Ints, start: int, n: int, d: int, nearest: int, first: Ints, after: Ints) -> None:
    """List the dependents of every node: in word order, or the nearest to word d first and d nowhere."""
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


def _target(
    heads: Ints,
    start: int,
    d: int,
    relations: Ints,
    wanted: int,
    down: Ints,
    along_path: int,
    first: Ints,
    after: Ints,
    queue: Ints,
) -> int:
    last = 0
    read = 0
    node = heads[start + d - 1]
    while True:
        ends = 1
        x = first[node]
        while x != 0:
            if x != d and (along_path == 0 or down[start + x - 1]):
                queue[last] = x
                last += 1
                ends = 0
            x = after[x]
        if read > 0:
            if wanted < 0 and ends:
                return node
            if wanted >= 0 and relations[start + node - 1] == wanted:
                return node
        if read == last:
            return 0
        node = queue[read]
        read += 1


def stackable(heads: Ints, offsets: Ints, planes: Ints, many: int, out: Ints, ends: Ints) -> None:
    """Write 1 for each sentence in which no two arcs of one plane and one direction cross.

    Those are the trees that a stack for each plane and direction can read. Arcs outside the `many` planes count as of
    the first.
    """
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
