"""Rope covers of many graphs at once, and the brackets of these covers. A rope is a structural arc of a cover."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *
    from ropewalk.kernels.values import ArcEnds, SymbolBuffer, Workspace  # noqa: TC001 - compiled, they are in the .pxd

Ints = memoryview


def order(ends: ArcEnds, out: Ints, work: Workspace) -> None:
    """Write into `out` the arcs sorted by left end, then from the longest to the shortest.

    Of two arcs with the same ends, the right arc is first. This is a radix sort with two passes over linked lists, in
    linear time.
    """
    by_right = work.node1
    by_left = work.node2
    after_right = work.arc1
    after_left = work.arc2
    with cython.nogil:
        for s in range(ends.offsets.shape[0] - 1):
            start = ends.offsets[s]
            arcs = ends.offsets[s + 1] - start
            n = ends.words[s]
            # first pass: lists of arcs by right end, left arcs before right ones
            for x in range(n + 1):
                by_right[x] = -1
                by_left[x] = -1
            for direction in range(1, -1, -1):
                for a in range(arcs):
                    if ends.rightward[start + a] == direction:
                        x = ends.right[start + a]
                        after_right[a] = by_right[x]
                        by_right[x] = a
            # second pass: lists by left end; each arc goes to the front, so that the longest is first
            for x in range(n + 1):
                a = by_right[x]
                while a >= 0:
                    y = ends.left[start + a]
                    after_left[a] = by_left[y]
                    by_left[y] = a
                    a = after_right[a]
            position = start
            for x in range(n + 1):
                a = by_left[x]
                while a >= 0:
                    out[position] = start + a
                    position += 1
                    a = after_left[a]


def proper(ends: ArcEnds, arcs: Ints, structural: Ints, work: Workspace) -> None:
    """Mark in `structural` the arcs of the proper rope cover, which are called ropes.

    Arcs are visited in the order of `arcs`. An arc becomes a rope unless an earlier rope has the same left end or the
    same right end.
    """
    opened = work.node1
    closed = work.node2
    with cython.nogil:
        for s in range(ends.offsets.shape[0] - 1):
            for x in range(ends.words[s] + 1):
                opened[x] = 0
                closed[x] = 0
            for i in range(ends.offsets[s], ends.offsets[s + 1]):
                a = arcs[i]
                if closed[ends.right[a]] or opened[ends.left[a]]:
                    structural[a] = 0
                else:
                    structural[a] = 1
                    opened[ends.left[a]] = 1
                    closed[ends.right[a]] = 1


def farthest(ends: ArcEnds, structural: Ints, work: Workspace) -> None:
    """Mark in `structural` the arcs from each node to its farthest dependent on the left and on the right."""
    low = work.node1
    high = work.node2
    with cython.nogil:
        for s in range(ends.offsets.shape[0] - 1):
            for x in range(ends.words[s] + 1):
                low[x] = x
                high[x] = x
            for a in range(ends.offsets[s], ends.offsets[s + 1]):
                if ends.rightward[a]:
                    high[ends.left[a]] = max(high[ends.left[a]], ends.right[a])
                else:
                    low[ends.right[a]] = min(low[ends.right[a]], ends.left[a])
            for a in range(ends.offsets[s], ends.offsets[s + 1]):
                if ends.rightward[a]:
                    structural[a] = high[ends.left[a]] == ends.right[a]
                else:
                    structural[a] = low[ends.right[a]] == ends.left[a]


def lean(ends: ArcEnds, arcs: Ints, structural: Ints, rope: Ints, side: Ints, work: Workspace) -> None:
    """Write for each arc the rope on which it leans, and in `side` the code of the end that they share.

    A rope leans on itself. An arc that could lean on two ropes leans on the one with the same right end.
    """
    by_left = work.node1
    by_right = work.node2
    with cython.nogil:
        for s in range(ends.offsets.shape[0] - 1):
            for x in range(ends.words[s] + 1):
                by_left[x] = -1
                by_right[x] = -1
            # the longest rope from each left end and to each right end
            for i in range(ends.offsets[s], ends.offsets[s + 1]):
                a = arcs[i]
                if structural[a]:
                    if by_left[ends.left[a]] < 0:
                        by_left[ends.left[a]] = a
                    if by_right[ends.right[a]] < 0:
                        by_right[ends.right[a]] = a
            for a in range(ends.offsets[s], ends.offsets[s + 1]):
                over = by_right[ends.right[a]]
                beside = by_left[ends.left[a]]
                if structural[a]:
                    rope[a] = a
                    side[a] = STRUCTURAL
                elif over >= 0 and ends.left[over] <= ends.left[a]:
                    rope[a] = over
                    side[a] = LEANS_RIGHT
                elif beside >= 0 and ends.right[beside] >= ends.right[a]:
                    rope[a] = beside
                    side[a] = LEANS_LEFT
                else:
                    rope[a] = -1
                    side[a] = LEANS_NOWHERE


def thickness(ends: ArcEnds, structural: Ints, out: Ints, work: Workspace) -> None:
    """Write for each sentence the largest number of ropes over one gap between neighbouring nodes."""
    change = work.node1
    with cython.nogil:
        for s in range(ends.offsets.shape[0] - 1):
            for x in range(ends.words[s] + 1):
                change[x] = 0
            for a in range(ends.offsets[s], ends.offsets[s + 1]):
                if structural[a]:
                    change[ends.left[a]] += 1
                    change[ends.right[a]] -= 1
            most = 0
            now = 0
            for x in range(ends.words[s] + 1):
                now += change[x]
                most = max(most, now)
            out[s] = most


def brackets(ends: ArcEnds, arcs: Ints, side: Ints, out: SymbolBuffer, work: Workspace) -> int:
    """Write the brackets of each word's label into `out`, word after word; return the number of brackets.

    Closing brackets come first, those of shorter arcs before those of longer ones. Opening brackets follow, those of
    longer arcs first. The index of a bracket is the number of ropes that a decoder has to pass. Node 0's opening
    bracket is not written. `ropes` is the stack of open ropes by increasing left end, and `lowest[i]` the smallest
    right end among its first i+1 ropes.
    """
    by_right = work.node1
    after = work.arc1
    ropes = work.arc2
    lowest = work.arc3
    with cython.nogil:
        written = 0
        word = 0
        for s in range(ends.offsets.shape[0] - 1):
            start = ends.offsets[s]
            n = ends.words[s]
            for x in range(n + 1):
                by_right[x] = -1
            for i in range(start, ends.offsets[s + 1]):
                a = arcs[i]
                after[a - start] = by_right[ends.right[a]]
                by_right[ends.right[a]] = a - start
            top = 0
            position = start
            for x in range(n + 1):
                if x > 0:
                    out.starts[word] = written
                    word += 1
                a = by_right[x]
                while a >= 0:  # closing brackets of arcs that end here, the shortest first
                    kind = CLOSING
                    if ends.rightward[start + a]:
                        kind |= RIGHTWARD
                    if side[start + a] == STRUCTURAL:
                        # take the rope off the stack; its index counts the ropes of its direction above it
                        i = top - 1
                        skipped = 0
                        while ropes[i] != start + a:
                            if ends.rightward[ropes[i]] == ends.rightward[start + a]:
                                skipped += 1
                            i -= 1
                        top -= 1
                        while i < top:
                            ropes[i] = ropes[i + 1]
                            lowest[i] = ends.right[ropes[i]]
                            if i > 0:
                                lowest[i] = min(lowest[i], lowest[i - 1])
                            i += 1
                        out.symbols[written] = kind | SUPER | skipped * INDEX
                        written += 1
                    elif side[start + a] == LEANS_LEFT:
                        # the index counts all ropes above the one on which the arc leans
                        i = top - 1
                        while ends.left[ropes[i]] != ends.left[start + a]:
                            i -= 1
                        out.symbols[written] = kind | (top - 1 - i) * INDEX
                        written += 1
                    a = after[a]
                open_before = top
                # opening brackets of arcs that begin here, the longest first
                while position < ends.offsets[s + 1] and ends.left[arcs[position]] == x:
                    a = arcs[position]
                    position += 1
                    kind = 0
                    if ends.rightward[a]:
                        kind = RIGHTWARD
                    if side[a] == STRUCTURAL:
                        ropes[top] = a
                        lowest[top] = ends.right[a]
                        if top > 0:
                            lowest[top] = min(lowest[top], lowest[top - 1])
                        top += 1
                        if x > 0:
                            out.symbols[written] = kind | SUPER
                            written += 1
                    elif side[a] == LEANS_RIGHT:
                        # the index counts the ropes that close before the arc ends
                        skipped = 0
                        if open_before > 0 and lowest[open_before - 1] < ends.right[a]:
                            for i in range(open_before):
                                if ends.right[ropes[i]] < ends.right[a]:
                                    skipped += 1
                        out.symbols[written] = kind | skipped * INDEX
                        written += 1
        out.starts[word] = written
    return written
