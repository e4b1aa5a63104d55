"""Rope covers of many graphs at once, and the brackets of these covers. A rope is a structural arc of a cover."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

from ropewalk.kernels.codes import (
    CLOSING,
    INDEX,
    LEANS_LEFT,
    LEANS_NOWHERE,
    LEANS_RIGHT,
    RIGHTWARD,
    STRUCTURAL,
    SUPER,
)

if not cython.compiled:
    from ropewalk.kernels.values import ArcEnds, SymbolBuffer, Workspace  # noqa: TC001 - compiled, they are in the .pxd

Ints = memoryview


def order(ends: ArcEnds, out: Ints, work: Workspace) -> None:
    """Write into `out` the arcs sorted by left end, then from the longest to the shortest.

    Of two arcs with the same ends, the right arc is first. This is a radix sort with two passes over linked lists, in
    linear time.
    """
    left = ends.left
    right = ends.right
    rightward = ends.rightward
    offsets = ends.offsets
    words = ends.words
    by_right = work.node1
    by_left = work.node2
    after_right = work.arc1
    after_left = work.arc2
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            arcs = offsets[s + 1] - start
            n = words[s]
            # first pass: lists of arcs by right end, left arcs before right ones
            for x in range(n + 1):
                by_right[x] = -1
                by_left[x] = -1
            for direction in range(1, -1, -1):
                for a in range(arcs):
                    if rightward[start + a] == direction:
                        x = right[start + a]
                        after_right[a] = by_right[x]
                        by_right[x] = a
            # second pass: lists by left end; each arc goes to the front, so that the longest is first
            for x in range(n + 1):
                a = by_right[x]
                while a >= 0:
                    y = left[start + a]
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
    left = ends.left
    right = ends.right
    offsets = ends.offsets
    words = ends.words
    opened = work.node1
    closed = work.node2
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            for x in range(words[s] + 1):
                opened[x] = 0
                closed[x] = 0
            for i in range(offsets[s], offsets[s + 1]):
                a = arcs[i]
                if closed[right[a]] or opened[left[a]]:
                    structural[a] = 0
                else:
                    structural[a] = 1
                    opened[left[a]] = 1
                    closed[right[a]] = 1


def farthest(ends: ArcEnds, structural: Ints, work: Workspace) -> None:
    """Mark in `structural` the arcs from each node to its farthest dependent on the left and on the right."""
    left = ends.left
    right = ends.right
    rightward = ends.rightward
    offsets = ends.offsets
    words = ends.words
    low = work.node1
    high = work.node2
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            for x in range(words[s] + 1):
                low[x] = x
                high[x] = x
            for a in range(offsets[s], offsets[s + 1]):
                if rightward[a]:
                    high[left[a]] = max(high[left[a]], right[a])
                else:
                    low[right[a]] = min(low[right[a]], left[a])
            for a in range(offsets[s], offsets[s + 1]):
                if rightward[a]:
                    structural[a] = high[left[a]] == right[a]
                else:
                    structural[a] = low[right[a]] == left[a]


def lean(ends: ArcEnds, arcs: Ints, structural: Ints, rope: Ints, side: Ints, work: Workspace) -> None:
    """Write for each arc the rope on which it leans, and in `side` the code of the end that they share.

    A rope leans on itself. An arc that could lean on two ropes leans on the one with the same right end.
    """
    left = ends.left
    right = ends.right
    offsets = ends.offsets
    words = ends.words
    by_left = work.node1
    by_right = work.node2
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            for x in range(words[s] + 1):
                by_left[x] = -1
                by_right[x] = -1
            # the longest rope from each left end and to each right end
            for i in range(offsets[s], offsets[s + 1]):
                a = arcs[i]
                if structural[a]:
                    if by_left[left[a]] < 0:
                        by_left[left[a]] = a
                    if by_right[right[a]] < 0:
                        by_right[right[a]] = a
            for a in range(offsets[s], offsets[s + 1]):
                over = by_right[right[a]]
                beside = by_left[left[a]]
                if structural[a]:
                    rope[a] = a
                    side[a] = STRUCTURAL
                elif over >= 0 and left[over] <= left[a]:
                    rope[a] = over
                    side[a] = LEANS_RIGHT
                elif beside >= 0 and right[beside] >= right[a]:
                    rope[a] = beside
                    side[a] = LEANS_LEFT
                else:
                    rope[a] = -1
                    side[a] = LEANS_NOWHERE


def thickness(ends: ArcEnds, structural: Ints, out: Ints, work: Workspace) -> None:
    """Write for each sentence the largest number of ropes over one gap between neighbouring nodes."""
    left = ends.left
    right = ends.right
    offsets = ends.offsets
    words = ends.words
    change = work.node1
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            for x in range(words[s] + 1):
                change[x] = 0
            for a in range(offsets[s], offsets[s + 1]):
                if structural[a]:
                    change[left[a]] += 1
                    change[right[a]] -= 1
            most = 0
            now = 0
            for x in range(words[s] + 1):
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
    left = ends.left
    right = ends.right
    rightward = ends.rightward
    offsets = ends.offsets
    words = ends.words
    symbols = out.symbols
    starts = out.starts
    by_right = work.node1
    after = work.arc1
    ropes = work.arc2
    lowest = work.arc3
    with cython.nogil:
        written = 0
        word = 0
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = words[s]
            for x in range(n + 1):
                by_right[x] = -1
            for i in range(start, offsets[s + 1]):
                a = arcs[i]
                after[a - start] = by_right[right[a]]
                by_right[right[a]] = a - start
            top = 0
            position = start
            for x in range(n + 1):
                if x > 0:
                    starts[word] = written
                    word += 1
                a = by_right[x]
                while a >= 0:  # closing brackets of arcs that end here, the shortest first
                    kind = CLOSING
                    if rightward[start + a]:
                        kind |= RIGHTWARD
                    if (
                        side[start + a] == STRUCTURAL
                    ):  # take the rope off the stack; its index counts ropes of its direction above it
                        i = top - 1
                        skipped = 0
                        while ropes[i] != start + a:
                            if rightward[ropes[i]] == rightward[start + a]:
                                skipped += 1
                            i -= 1
                        top -= 1
                        while i < top:
                            ropes[i] = ropes[i + 1]
                            lowest[i] = right[ropes[i]]
                            if i > 0:
                                lowest[i] = min(lowest[i], lowest[i - 1])
                            i += 1
                        symbols[written] = kind | SUPER | skipped * INDEX
                        written += 1
                    elif (
                        side[start + a] == LEANS_LEFT
                    ):  # the index counts all ropes above the one on which the arc leans
                        i = top - 1
                        while left[ropes[i]] != left[start + a]:
                            i -= 1
                        symbols[written] = kind | (top - 1 - i) * INDEX
                        written += 1
                    a = after[a]
                open_before = top
                while (
                    position < offsets[s + 1] and left[arcs[position]] == x
                ):  # opening brackets, the longest arc first
                    a = arcs[position]
                    position += 1
                    kind = 0
                    if rightward[a]:
                        kind = RIGHTWARD
                    if side[a] == STRUCTURAL:
                        ropes[top] = a
                        lowest[top] = right[a]
                        if top > 0:
                            lowest[top] = min(lowest[top], lowest[top - 1])
                        top += 1
                        if x > 0:
                            symbols[written] = kind | SUPER
                            written += 1
                    elif side[a] == LEANS_RIGHT:  # the index counts the ropes that close before the arc ends
                        skipped = 0
                        if open_before > 0 and lowest[open_before - 1] < right[a]:
                            for i in range(open_before):
                                if right[ropes[i]] < right[a]:
                                    skipped += 1
                        symbols[written] = kind | skipped * INDEX
                        written += 1
        starts[word] = written
    return written
