r"""Compact hierarchical brackets of trees: four bits per label, one stack (the paper's table of 4-bit labels).

A label of a compact cover of a projective tree has the form (\^)? (> | >^ | < | <^) (/^)?, so it is a number of four
bits. HEAD_LEFT: the bracket of the arc to the head closes here. INCOMING_SUPER: the arc to the head is structural.
CLOSES_LEFT: a structural arc to a dependent on the left ends here. OPENS_RIGHT: a structural arc to a dependent on the
right begins here. A fifth bit, SWAPPED, exchanges the two brackets whose order can differ. It is needed only for the
published labels of non-projective trees.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *
    from ropewalk.kernels.forest import attach, clear
    from ropewalk.kernels.values import (  # noqa: TC001 - compiled, they are in the .pxd
        ArcBuffer,
        Findings,
        Spelling,
        Workspace,
    )

Ints = memoryview

# Entries of the stack of `read`.
LEFT_ROPE = 0  # an opening superbracket of a left arc
RIGHT_ROPE = 1  # an opening superbracket of a right arc
WAITING = 2  # an opening semibracket
DROPPED = 3  # to be removed

# The brackets of a compact label in their order. The first two, where they close, match the rope of the same number.
CLOSE_LEFT = 0
INCOMING = 1
OPEN_RIGHT = 2


def write(heads: Ints, offsets: Ints, structural: Ints, codes: Ints) -> None:
    """Write into `codes` the label of every word of projective trees.

    `structural[w]` is 1 if the arc into word w belongs to the rope cover, so that superbrackets write it.
    """
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            for w in range(start, offsets[s + 1]):
                codes[w] = 0
            for w in range(start, offsets[s + 1]):
                h = heads[w]
                d = w - start + 1
                if h < d:
                    codes[w] |= HEAD_LEFT
                if structural[w]:
                    codes[w] |= INCOMING_SUPER
                    if h > d:
                        codes[start + h - 1] |= CLOSES_LEFT
                    elif h > 0:
                        codes[start + h - 1] |= OPENS_RIGHT


def publish(heads: Ints, offsets: Ints, side: Ints, codes: Ints, work: Workspace) -> None:
    """Change the labels `codes` to those of the published figures, in which each auxiliary arc is at its dependent.

    The bracket of an auxiliary arc shows the end at which it leans on a structural arc. `closes` and `opens` hold, for
    each word, the other end of its structural arc to the left and to the right.
    """
    closes = work.node1
    opens = work.node2
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            for w in range(start, offsets[s + 1]):
                h = heads[w]
                d = w - start + 1
                if side[w] == STRUCTURAL:
                    if h < d:
                        opens[h] = d
                    else:
                        closes[h] = d
                elif side[w] == LEANS_LEFT:
                    codes[w] |= HEAD_LEFT
                else:
                    codes[w] &= ~HEAD_LEFT
            for w in range(start, offsets[s + 1]):
                code = codes[w]
                d = w - start + 1
                if code & INCOMING_SUPER:
                    continue
                if code & HEAD_LEFT:
                    if code & CLOSES_LEFT and heads[w] > closes[d]:
                        codes[w] |= SWAPPED
                elif code & OPENS_RIGHT and heads[w] < opens[d]:
                    codes[w] |= SWAPPED


def _turned(turn: int, code: int) -> int:
    """Return which bracket of a label is read at step `turn`, from 0 to 2; SWAPPED exchanges two of them."""
    if code & SWAPPED:
        if code & HEAD_LEFT:
            return turn if turn == OPEN_RIGHT else 1 - turn
        if turn > CLOSE_LEFT:
            return 3 - turn
    return turn


def read(codes: Ints, offsets: Ints, one_root: int, peek: int, heads: Ints, faults: Findings, work: Workspace) -> None:
    """Read labels into heads with one stack (Algorithm 1), in linear time for labels that fit together.

    A superbracket belongs to a structural arc, whose two brackets match each other. A semibracket belongs to an
    auxiliary arc: it has no partner, and its arc goes to the word of a superbracket.

    A closing superbracket walks down the stack. Each opening semibracket on its way makes its arc, if the arc is valid,
    and is removed in any case. The first superbracket of its own direction is its match if that arc is valid. Otherwise
    the walk goes on to the bottom and matches nothing. A closing semibracket makes its arc with the topmost
    superbracket, and removes nothing.

    With `one_root` an arc that gives node 0 a second dependent is not valid. With `peek` a closing semibracket makes
    its arc with the topmost bracket of any kind, and a match that is not valid is removed and ends the walk.
    """
    up = work.node1
    positions = work.node2
    kinds = work.node3
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            clear(up, heads, start, n)
            rooted = 0
            leaned = 0  # the last word that leans on node 0's bracket
            positions[0] = 0  # node 0's implicit bracket
            kinds[0] = RIGHT_ROPE
            top = 1
            for x in range(1, n + 1):
                w = start + x - 1
                code = codes[w]
                for turn in range(3):
                    which = _turned(turn, code)
                    # opening brackets are pushed on the stack
                    if which == OPEN_RIGHT:
                        if code & OPENS_RIGHT:
                            positions[top] = x
                            kinds[top] = RIGHT_ROPE
                            top += 1
                        continue
                    if which == INCOMING and code & HEAD_LEFT == 0:
                        positions[top] = x
                        kinds[top] = LEFT_ROPE if code & INCOMING_SUPER else WAITING
                        top += 1
                        continue
                    if which == CLOSE_LEFT and code & CLOSES_LEFT == 0:
                        continue
                    # a closing semibracket leans on the topmost superbracket
                    if which == INCOMING and code & INCOMING_SUPER == 0:
                        i = top - 1
                        while i >= 0 and kinds[i] == WAITING and peek == 0:
                            i -= 1
                        kind = UNMATCHED_CLOSING
                        if i >= 0:
                            kind = SECOND_ROOT
                            if positions[i] != 0 or rooted == 0:
                                kind = attach(up, positions[i], x)
                        if kind != 0:
                            faults.add(w, kind)
                            continue
                        heads[w] = positions[i]
                        if positions[i] == 0:
                            rooted = one_root
                            leaned = x
                        continue
                    # a closing superbracket walks down to its match
                    matched = 0
                    refused = UNMATCHED_CLOSING
                    i = top - 1
                    while i >= 0 and matched == 0:
                        h = x
                        d = positions[i]
                        if kinds[i] == WAITING:
                            kind = attach(up, h, d)
                            if kind == 0:
                                heads[start + d - 1] = h
                            else:
                                faults.add(start + d - 1, kind)
                            kinds[i] = DROPPED
                        elif kinds[i] == which and refused == UNMATCHED_CLOSING:
                            if which == INCOMING:
                                h = d
                                d = x
                            refused = SECOND_ROOT
                            if h != 0 or rooted == 0:
                                refused = attach(up, h, d)
                            if refused == 0:
                                matched = 1
                                heads[start + d - 1] = h
                                if h == 0:
                                    rooted = one_root
                            if refused == 0 or peek:
                                kinds[i] = DROPPED
                                i -= 1
                                break
                        i -= 1
                    if matched == 0:
                        faults.add(w, refused)
                    # remove dropped entries from the stack
                    kept = i + 1
                    for j in range(i + 1, top):
                        if kinds[j] != DROPPED:
                            positions[kept] = positions[j]
                            kinds[kept] = kinds[j]
                            kept += 1
                    top = kept
            for i in range(top):
                x = positions[i]
                if x == 0:
                    x = leaned  # if no word leans on it, the word without a head reports node 0's bracket
                if x > 0:
                    faults.add(start + x - 1, UNMATCHED_OPENING)


def match(spelling: Spelling, keep_root: int, trees: int, arcs: ArcBuffer, faults: Findings, work: Workspace) -> None:
    """Read labels with indices into arcs, in the order in which their brackets close (section 4).

    The stack holds opening brackets; the first is node 0's, which labels do not contain. A closing superbracket with
    index k passes k superbrackets of its own direction, and any number of the other direction, and matches the next one
    of its own. An opening semibracket on its way makes its arc if its index is 0; otherwise the index is lowered by 1.
    This happens whether or not the superbracket finds its match. A closing semibracket with index k passes k
    superbrackets, makes its arc with the word of the next one, and removes nothing.

    With `keep_root` node 0's bracket is never removed. With `trees` an arc that makes a second head or a cycle is not
    valid and is left out. A closing superbracket whose match makes no valid arc is then unmatched.
    """
    up = work.node1
    kinds = work.arc1
    positions = work.arc2
    with cython.nogil:
        made = 0
        for s in range(spelling.offsets.shape[0] - 1):
            arcs.offsets[s] = made
            kinds[0] = RIGHTWARD | SUPER
            positions[0] = 0
            top = 1
            leaned = 0  # the last word that leans on node 0's bracket
            start = spelling.offsets[s]
            if trees:
                for x in range(spelling.offsets[s + 1] - start + 1):
                    up[x] = x
            for w in range(start, spelling.offsets[s + 1]):
                x = w - start + 1
                for k in range(spelling.starts[spelling.labels[w]], spelling.starts[spelling.labels[w] + 1]):
                    symbol = spelling.symbols[k]
                    if symbol & CLOSING == 0:
                        kinds[top] = symbol
                        positions[top] = x
                        top += 1
                        continue
                    # a closing bracket walks down to its match
                    own = symbol & RIGHTWARD
                    skip = symbol // INDEX
                    matched = 0
                    refused = UNMATCHED_CLOSING
                    i = top
                    while i > 0 and matched == 0:
                        i -= 1
                        if kinds[i] & SUPER == 0:
                            if symbol & SUPER == 0:
                                continue
                            if kinds[i] >= INDEX:
                                kinds[i] -= INDEX
                                continue
                            # a semibracket above the match of a superbracket makes its arc
                            kind = 0
                            d = positions[i]
                            if kinds[i] & RIGHTWARD:
                                d = x
                            h = x + positions[i] - d
                            if trees:
                                kind = attach(up, h, d)
                            if kind == 0:
                                arcs.heads[made] = h
                                arcs.dependents[made] = d
                                made += 1
                            else:
                                faults.add(start + d - 1, kind)
                            kinds[i] = CLOSING  # to be dropped
                            continue
                        if refused != UNMATCHED_CLOSING or (symbol & SUPER and kinds[i] & RIGHTWARD != own):
                            continue
                        if skip > 0:
                            skip -= 1
                            continue
                        d = positions[i]
                        if own:
                            d = x
                        h = x + positions[i] - d
                        refused = 0
                        if trees:
                            refused = attach(up, h, d)
                        if refused == 0:
                            arcs.heads[made] = h
                            arcs.dependents[made] = d
                            made += 1
                            matched = 1
                        if symbol & SUPER == 0:
                            if own and positions[i] == 0:
                                leaned = x
                            break
                    if matched == 0:
                        faults.add(w, refused)
                    if symbol & SUPER:  # remove dropped entries from the stack
                        kept = i
                        if matched and not (keep_root and positions[i] == 0):
                            i += 1
                        for j in range(i, top):
                            if kinds[j] & CLOSING == 0:
                                kinds[kept] = kinds[j]
                                positions[kept] = positions[j]
                                kept += 1
                        top = kept
            for i in range(top):
                x = positions[i]
                if x == 0 and keep_root == 0:
                    x = leaned  # if no word leans on it, the word without a head reports node 0's bracket
                if x > 0:
                    faults.add(start + x - 1, UNMATCHED_OPENING)
        arcs.offsets[spelling.offsets.shape[0] - 1] = made
