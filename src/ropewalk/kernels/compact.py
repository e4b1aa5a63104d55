r"""Compact hierarchical brackets of trees: four bits per label, one stack (the paper's Table of 4-bit labels).

A label of a compact cover of a projective tree is (\^)? (> | >^ | < | <^) (/^)?, so it is a number of four bits:
HEAD_LEFT, the bracket to the head closes here; INCOMING_SUPER, the arc to the head is structural; CLOSES_LEFT, a
structural arc to a dependent on the left ends here; OPENS_RIGHT, one to the right begins here. SWAPPED, a fifth bit
that only the published labels of non-projective trees need, turns round the two brackets of which the order
can differ.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

from ropewalk.kernels.codes import (
    CLOSES_CYCLE,
    CLOSES_LEFT,
    HEAD_LEFT,
    INCOMING_SUPER,
    LEANS_LEFT,
    OPENS_RIGHT,
    SECOND_ROOT,
    STRUCTURAL,
    SWAPPED,
    UNMATCHED_CLOSING,
    UNMATCHED_OPENING,
)

if not cython.compiled:
    from ropewalk.kernels.forest import top

Ints = memoryview


def write(heads: Ints, offsets: Ints, structural: Ints, codes: Ints) -> None:
    """Write the label of every word of projective trees, given which arcs are structural."""
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


def write_published(heads: Ints, offsets: Ints, side: Ints, codes: Ints, closes: Ints, opens: Ints) -> None:
    """Write labels of any trees as the published figures have them: each auxiliary arc at its dependent.

    `closes` and `opens` keep, for each word, the other end of its structural arc to the left and to the right.
    """
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            for w in range(start, offsets[s + 1]):
                codes[w] = 0
            for w in range(start, offsets[s + 1]):
                h = heads[w]
                d = w - start + 1
                if side[w] == STRUCTURAL:
                    codes[w] |= INCOMING_SUPER
                    if h < d:
                        codes[w] |= HEAD_LEFT
                        if h > 0:
                            codes[start + h - 1] |= OPENS_RIGHT
                            opens[h] = d
                    else:
                        codes[start + h - 1] |= CLOSES_LEFT
                        closes[h] = d
                elif side[w] == LEANS_LEFT:
                    codes[w] |= HEAD_LEFT
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


def read(
    codes: Ints,
    offsets: Ints,
    one_root: int,
    peek: int,
    heads: Ints,
    fault_words: Ints,
    fault_kinds: Ints,
    counts: Ints,
    places: Ints,
    kinds: Ints,
    up: Ints,
) -> None:
    """Read labels into heads with one stack, in linear time on labels that fit together.

    `kinds` holds 0 for a superbracket of a left arc, 1 for one of a right arc, 2 for a semibracket. A closing
    superbracket goes down the stack; semibrackets on its way make their arcs if these are valid and are dropped either
    way; the first superbracket of its own direction is its match if that arc is valid, and otherwise the walk goes on
    to the bottom and matches nothing. A closing semibracket takes the topmost superbracket, and removes nothing. With
    `one_root` no arc is valid that gives node 0 a second dependent. With `peek` a closing semibracket takes whatever
    bracket lies on top, and a match that is not valid is removed and ends the walk.
    """
    with cython.nogil:
        faults = 0
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            rooted = 0
            leaned = 0  # the last word that leant on node 0's bracket
            places[0] = 0
            kinds[0] = 1
            top = 1
            for x in range(n + 1):
                up[x] = x
            for w in range(start, start + n):
                heads[w] = -1
            for x in range(1, n + 1):
                w = start + x - 1
                code = codes[w]
                # the brackets of a label in their order: 0 `\^`, 1 the incoming one, 2 `/^`
                for turn in range(3):
                    which = turn
                    if code & SWAPPED:
                        if code & HEAD_LEFT:
                            which = turn if turn == 2 else 1 - turn
                        elif turn > 0:
                            which = 3 - turn
                    if which == 2:
                        if code & OPENS_RIGHT:
                            places[top] = x
                            kinds[top] = 1
                            top += 1
                        continue
                    if which == 1 and code & HEAD_LEFT == 0:
                        places[top] = x
                        kinds[top] = 0 if code & INCOMING_SUPER else 2
                        top += 1
                        continue
                    if which == 0 and code & CLOSES_LEFT == 0:
                        continue
                    if which == 1 and code & INCOMING_SUPER == 0:
                        i = top - 1
                        while i >= 0 and kinds[i] == 2 and peek == 0:
                            i -= 1
                        kind = UNMATCHED_CLOSING
                        if i >= 0:
                            kind = _fault(places[i], x, rooted, up)
                        if kind == 0:
                            heads[w] = places[i]
                            up[x] = places[i]
                            if places[i] == 0:
                                rooted = one_root
                                leaned = x
                        else:
                            fault_words[faults] = w
                            fault_kinds[faults] = kind
                            faults += 1
                        continue
                    # a closing superbracket; what stays is moved down over what is dropped
                    match = -1
                    refused = UNMATCHED_CLOSING
                    i = top - 1
                    while i >= 0 and match < 0:
                        if kinds[i] == 2:
                            kind = _fault(x, places[i], rooted, up)
                            if kind == 0:
                                heads[start + places[i] - 1] = x
                                up[places[i]] = x
                            else:
                                fault_words[faults] = start + places[i] - 1
                                fault_kinds[faults] = kind
                                faults += 1
                            kinds[i] = 3
                        elif kinds[i] == which and refused == UNMATCHED_CLOSING:
                            refused = _fault(places[i], x, rooted, up) if which else _fault(x, places[i], rooted, up)
                            if refused == 0:
                                match = places[i]
                                kinds[i] = 3
                            elif peek:
                                kinds[i] = 3
                                i -= 1
                                break
                        i -= 1
                    kept = i + 1
                    for j in range(i + 1, top):
                        if kinds[j] != 3:
                            places[kept] = places[j]
                            kinds[kept] = kinds[j]
                            kept += 1
                    top = kept
                    if match < 0:
                        fault_words[faults] = w
                        fault_kinds[faults] = refused
                        faults += 1
                    elif which:
                        heads[w] = match
                        up[x] = match
                        if match == 0:
                            rooted = one_root
                    else:
                        heads[start + match - 1] = x
                        up[match] = x
            for i in range(top):
                x = places[i]
                if x == 0:
                    x = leaned  # where none leant, node 0's bracket is missed by the word that has no head
                if x > 0:
                    fault_words[faults] = start + x - 1
                    fault_kinds[faults] = UNMATCHED_OPENING
                    faults += 1
        counts[0] = faults


def _fault(h: int, d: int, rooted: int, up: Ints) -> int:
    """Say what forbids the arc from h to d, which has no head yet in these labels: 0 if nothing."""
    if h == 0 and rooted:
        return SECOND_ROOT
    if d == 0 or top(up, h) == d:
        return CLOSES_CYCLE
    return 0
