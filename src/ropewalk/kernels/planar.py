"""Naive brackets with a stack for each plane and direction (Strzyz et al. 2019, 2020)."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

from ropewalk.kernels.codes import CLOSING, INDEX, RIGHTWARD, UNMATCHED_CLOSING, UNMATCHED_OPENING

Ints = memoryview


def write(
    left: Ints,
    right: Ints,
    rightward: Ints,
    planes: Ints,
    many: int,
    offsets: Ints,
    words: Ints,
    symbols: Ints,
    starts: Ints,
    tally: Ints,
) -> int:
    r"""Write the brackets of every word's label one after another; return how many there are.

    Plane by plane a label has its `\`, `>`, `<` and `/`: the order between stacks is free, and this one makes the
    fewest labels. Arcs outside the `many` planes count as of the first. Node 0's brackets are implicit.
    """
    with cython.nogil:
        written = 0
        word = 0
        for s in range(offsets.shape[0] - 1):
            n = words[s]
            for i in range(4 * many * (n + 1)):
                tally[i] = 0
            for a in range(offsets[s], offsets[s + 1]):
                plane = planes[a] - 1
                if plane >= many:
                    plane = 0
                kind = rightward[a]
                tally[4 * (many * left[a] + plane) + kind] += 1
                tally[4 * (many * right[a] + plane) + kind + CLOSING] += 1
            for x in range(1, n + 1):
                starts[word] = written
                word += 1
                for plane in range(many):
                    for turn in range(4):
                        kind = (turn + 2) & 3  # `\`, `>`, `<`, `/`
                        for _ in range(tally[4 * (many * x + plane) + kind]):
                            symbols[written] = kind | plane * INDEX
                            written += 1
        starts[word] = written
    return written


def read(
    labels: Ints,
    offsets: Ints,
    symbols: Ints,
    starts: Ints,
    many: int,
    heads: Ints,
    dependents: Ints,
    arc_offsets: Ints,
    fault_words: Ints,
    fault_kinds: Ints,
    counts: Ints,
    tops: Ints,
    places: Ints,
    below: Ints,
) -> None:
    """Turn labels into arcs; each closing bracket takes the topmost opening one of its plane and direction.

    A stack is a chain of entries through `below`, ended by -1. Under every stack of right arcs lies node 0's bracket,
    which is never used up. `counts[0]` is the number of faults.
    """
    with cython.nogil:
        made = 0
        faults = 0
        for s in range(offsets.shape[0] - 1):
            arc_offsets[s] = made
            start = offsets[s]
            entries = 0
            for i in range(2 * many):
                tops[i] = -1
            for w in range(start, offsets[s + 1]):
                x = w - start + 1
                for k in range(starts[labels[w]], starts[labels[w] + 1]):
                    symbol = symbols[k]
                    own = symbol & RIGHTWARD
                    stack = 2 * (symbol // INDEX) + own
                    entry = tops[stack]
                    if symbol & CLOSING == 0:
                        places[entries] = x
                        below[entries] = entry
                        tops[stack] = entries
                        entries += 1
                    elif entry >= 0:
                        if own:
                            heads[made] = places[entry]
                            dependents[made] = x
                        else:
                            heads[made] = x
                            dependents[made] = places[entry]
                        made += 1
                        tops[stack] = below[entry]
                    elif own:
                        heads[made] = 0
                        dependents[made] = x
                        made += 1
                    else:
                        fault_words[faults] = w
                        fault_kinds[faults] = UNMATCHED_CLOSING
                        faults += 1
            for i in range(2 * many):
                entry = tops[i]
                while entry >= 0:
                    fault_words[faults] = start + places[entry] - 1
                    fault_kinds[faults] = UNMATCHED_OPENING
                    faults += 1
                    entry = below[entry]
        arc_offsets[offsets.shape[0] - 1] = made
        counts[0] = faults
