"""Rope covers of many graphs at once, and the brackets that they induce."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

from ropewalk.kernels.codes import (
    CLOSES_CYCLE,
    CLOSING,
    INDEX,
    LEANS_LEFT,
    LEANS_NOWHERE,
    LEANS_RIGHT,
    OUTSIDE,
    RIGHTWARD,
    SECOND_HEAD,
    STRUCTURAL,
    SUPER,
    UNMATCHED_CLOSING,
    UNMATCHED_OPENING,
)

if not cython.compiled:
    from ropewalk.kernels.arcs import ArcEnds, Workspace  # noqa: TC001 - compiled code has them from the .pxd
    from ropewalk.kernels.forest import top

Ints = memoryview


def order(ends: ArcEnds, out: Ints, work: Workspace) -> None:
    """Sort arcs by left end, then from the longest to the shortest, a right arc before its own reverse.

    Two passes over linked lists, so the time is linear in words and arcs.
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
            for x in range(n + 1):
                by_right[x] = -1
                by_left[x] = -1
            for wanted in range(1, -1, -1):
                for a in range(arcs):
                    if rightward[start + a] == wanted:
                        x = right[start + a]
                        after_right[a] = by_right[x]
                        by_right[x] = a
            for x in range(n + 1):
                a = by_right[x]
                while a >= 0:
                    y = left[start + a]
                    after_left[a] = by_left[y]
                    by_left[y] = a
                    a = after_right[a]
            place = start
            for x in range(n + 1):
                a = by_left[x]
                while a >= 0:
                    out[place] = start + a
                    place += 1
                    a = after_left[a]


def proper(ends: ArcEnds, arcs: Ints, structural: Ints, work: Workspace) -> None:
    """Mark the proper rope cover: an arc is structural unless an earlier rope shares its right or left end."""
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
    """Mark for each node its longest arc to a dependent on the left and on the right."""
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
    """Write on which rope each arc leans and with which end; a rope leans on itself.

    Where an arc could lean on two ropes it takes the first in the order of `arcs`, which is the one that
    shares its right end and begins further to the left.
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
    """Write for each sentence the largest number of ropes over one place between two neighbouring nodes."""
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


def brackets(ends: ArcEnds, arcs: Ints, side: Ints, symbols: Ints, starts: Ints, work: Workspace) -> int:
    """Write the brackets of every word's label one after another; return how many there are.

    The label of the k-th word of all is `symbols[starts[k]:starts[k+1]]`. `ropes` is the stack of open ropes,
    by increasing left end, and `lowest[i]` the smallest right end among its first i+1. Node 0's opening bracket is
    implicit. Closing brackets stand in the order of increasing arc length, then opening ones in decreasing
    length; their indices count the ropes that a decoder has to pass.
    """
    left = ends.left
    right = ends.right
    rightward = ends.rightward
    offsets = ends.offsets
    words = ends.words
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
            place = start
            for x in range(n + 1):
                if x > 0:
                    starts[word] = written
                    word += 1
                a = by_right[x]
                while a >= 0:  # arcs that end here, the shortest first
                    kind = CLOSING
                    if rightward[start + a]:
                        kind |= RIGHTWARD
                    if side[start + a] == STRUCTURAL:
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
                    elif side[start + a] == LEANS_LEFT:
                        i = top - 1
                        while left[ropes[i]] != left[start + a]:
                            i -= 1
                        symbols[written] = kind | (top - 1 - i) * INDEX
                        written += 1
                    a = after[a]
                open_before = top
                while place < offsets[s + 1] and left[arcs[place]] == x:  # arcs that begin here, the longest first
                    a = arcs[place]
                    place += 1
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
                    elif side[a] == LEANS_RIGHT:
                        skipped = 0
                        if open_before > 0 and lowest[open_before - 1] < right[a]:
                            for i in range(open_before):
                                if right[ropes[i]] < right[a]:
                                    skipped += 1
                        symbols[written] = kind | skipped * INDEX
                        written += 1
        starts[word] = written
    return written


def match(
    labels: Ints,
    offsets: Ints,
    symbols: Ints,
    starts: Ints,
    keep_root: int,
    trees: int,
    heads: Ints,
    dependents: Ints,
    arc_offsets: Ints,
    fault_words: Ints,
    fault_kinds: Ints,
    counts: Ints,
    kinds: Ints,
    places: Ints,
    headed: Ints,
    up: Ints,
) -> None:
    """Turn labels into arcs, in the order in which their brackets close.

    Label k spells `symbols[starts[k]:starts[k+1]]`. On the stack lie opening brackets, the implicit one of node 0
    first. A closing superbracket passes as many of its own direction as its index says, and all of the other, and takes
    the next one; opening semibrackets on its way make their arcs, or have their index lowered, whether or not it
    finds its match. A closing semibracket takes the topmost superbracket, its index passed over, and removes nothing.
    With `keep_root` node 0's bracket is never used up. With `trees` an arc that makes a second head or a cycle is
    not valid: it is left out, and a closing superbracket whose match makes no valid arc finds none. `counts[0]` is the
    number of faults.
    """
    with cython.nogil:
        made = 0
        faults = counts[0]
        for s in range(offsets.shape[0] - 1):
            arc_offsets[s] = made
            kinds[0] = RIGHTWARD | SUPER
            places[0] = 0
            top = 1
            leaned = 0  # the last word that leant on node 0's bracket
            start = offsets[s]
            if trees:
                for x in range(offsets[s + 1] - start + 1):
                    headed[x] = 0
                    up[x] = x
            for w in range(start, offsets[s + 1]):
                x = w - start + 1
                for k in range(starts[labels[w]], starts[labels[w] + 1]):
                    symbol = symbols[k]
                    if symbol & CLOSING == 0:
                        kinds[top] = symbol
                        places[top] = x
                        top += 1
                        continue
                    own = symbol & RIGHTWARD
                    skip = symbol // INDEX
                    found = 0
                    refused = UNMATCHED_CLOSING
                    i = top
                    while i > 0 and found == 0:
                        i -= 1
                        if kinds[i] & SUPER == 0:
                            if symbol & SUPER == 0:
                                continue
                            if kinds[i] >= INDEX:
                                kinds[i] -= INDEX
                                continue
                            kind = 0
                            d = places[i]
                            if kinds[i] & RIGHTWARD:
                                d = x
                            h = x + places[i] - d
                            if trees:
                                kind = _fault(h, d, headed, up)
                            if kind == 0:
                                heads[made] = h
                                dependents[made] = d
                                made += 1
                            else:
                                fault_words[faults] = start + d - 1
                                fault_kinds[faults] = kind
                                faults += 1
                            kinds[i] = CLOSING  # to be dropped
                            continue
                        if refused != UNMATCHED_CLOSING or (symbol & SUPER and kinds[i] & RIGHTWARD != own):
                            continue
                        if skip > 0:
                            skip -= 1
                            continue
                        d = places[i]
                        if own:
                            d = x
                        h = x + places[i] - d
                        refused = 0
                        if trees:
                            refused = _fault(h, d, headed, up)
                        if refused == 0:
                            heads[made] = h
                            dependents[made] = d
                            made += 1
                            found = 1
                        if symbol & SUPER == 0:
                            if own and places[i] == 0:
                                leaned = x
                            break
                    if found == 0:
                        fault_words[faults] = w
                        fault_kinds[faults] = refused
                        faults += 1
                    if symbol & SUPER:
                        kept = i
                        if found and not (keep_root and places[i] == 0):
                            i += 1
                        for j in range(i, top):
                            if kinds[j] & CLOSING == 0:
                                kinds[kept] = kinds[j]
                                places[kept] = places[j]
                                kept += 1
                        top = kept
            for i in range(top):
                x = places[i]
                if x == 0 and keep_root == 0:
                    x = leaned  # where none leant, node 0's bracket is missed by the word that has no head
                if x > 0:
                    fault_words[faults] = start + x - 1
                    fault_kinds[faults] = UNMATCHED_OPENING
                    faults += 1
        arc_offsets[offsets.shape[0] - 1] = made
        counts[0] = faults


def _fault(h: int, d: int, headed: Ints, up: Ints) -> int:
    """Say what forbids the arc from h to d in a tree: 0 if nothing, and then the arc is made."""
    if d == 0:
        return OUTSIDE
    if headed[d]:
        return SECOND_HEAD
    if h == d or top(up, h) == d:
        return CLOSES_CYCLE
    headed[d] = 1
    up[d] = h
    return 0
