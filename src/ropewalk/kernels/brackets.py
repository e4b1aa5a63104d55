"""Naive brackets with a stack for each plane and direction (Strzyz et al. 2019, 2020)."""

from __future__ import annotations

from ropewalk.kernels import new_ints

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *
    from ropewalk.kernels.values import ArcBuffer, ArcEnds, Findings, Spelling, SymbolBuffer  # noqa: TC001 - compiled, in the .pxd

Ints = memoryview

KINDS = 4  # of brackets in a plane, numbered by direction and side: `<`, `/`, `\\` and `>`


class PlaneStacks:
    """The workspace of `write` and `read`, with a stack of open brackets for each plane and direction.

    `tally` counts each word's brackets by plane and kind. `tops` has the topmost entry of each stack. For each entry,
    `positions` has its word, and `below` the entry under it.
    """

    def __init__(self, nodes: int, planes: int, brackets: int) -> None:
        """Allocate buffers for sentences of up to `nodes` nodes and `brackets` brackets."""
        self.tally = new_ints(KINDS * planes * nodes)
        self.tops = new_ints(2 * planes)
        self.positions = new_ints(brackets)
        self.below = new_ints(brackets)


def write(ends: ArcEnds, planes: Ints, many: int, out: SymbolBuffer, work: PlaneStacks) -> int:
    r"""Write the brackets of each word's label into `out`, word after word; return the number of brackets.

    A label has its brackets plane by plane, in each plane in the order `\`, `>`, `<`, `/`. Any order between stacks
    would do; this one gives the fewest different labels. `many` is the number of planes. An arc with a higher plane is
    treated as an arc of the first. The brackets of node 0 are not written.
    """
    tally = work.tally
    with cython.nogil:
        written = 0
        word = 0
        for s in range(ends.offsets.shape[0] - 1):
            n = ends.words[s]
            for i in range(KINDS * many * (n + 1)):
                tally[i] = 0
            for a in range(ends.offsets[s], ends.offsets[s + 1]):
                plane = planes[a] - 1
                if plane >= many:
                    plane = 0
                kind = ends.rightward[a]
                tally[KINDS * (many * ends.left[a] + plane) + kind] += 1
                tally[KINDS * (many * ends.right[a] + plane) + kind + CLOSING] += 1
            for x in range(1, n + 1):
                out.starts[word] = written
                word += 1
                for plane in range(many):
                    for turn in range(KINDS):
                        kind = turn ^ CLOSING  # `\`, `>`, `<`, `/`
                        for _ in range(tally[KINDS * (many * x + plane) + kind]):
                            out.symbols[written] = kind | plane * INDEX
                            written += 1
        out.starts[word] = written
    return written


def read(spelling: Spelling, many: int, arcs: ArcBuffer, faults: Findings, work: PlaneStacks) -> None:
    """Read labels into arcs: each closing bracket matches the topmost opening one of its plane and direction.

    A stack is a chain of entries linked through `below`; -1 is its end. A closing bracket of a right arc that finds its
    stack empty makes an arc from node 0.
    """
    tops = work.tops
    positions = work.positions
    below = work.below
    with cython.nogil:
        made = 0
        for s in range(spelling.offsets.shape[0] - 1):
            arcs.offsets[s] = made
            start = spelling.offsets[s]
            entries = 0
            for i in range(2 * many):
                tops[i] = -1
            for w in range(start, spelling.offsets[s + 1]):
                x = w - start + 1
                for k in range(spelling.starts[spelling.labels[w]], spelling.starts[spelling.labels[w] + 1]):
                    symbol = spelling.symbols[k]
                    own = symbol & RIGHTWARD
                    stack = 2 * (symbol // INDEX) + own
                    entry = tops[stack]
                    if symbol & CLOSING == 0:
                        positions[entries] = x
                        below[entries] = entry
                        tops[stack] = entries
                        entries += 1
                    elif entry >= 0:
                        if own:
                            arcs.heads[made] = positions[entry]
                            arcs.dependents[made] = x
                        else:
                            arcs.heads[made] = x
                            arcs.dependents[made] = positions[entry]
                        made += 1
                        tops[stack] = below[entry]
                    elif own:
                        arcs.heads[made] = 0
                        arcs.dependents[made] = x
                        made += 1
                    else:
                        faults.add(w, UNMATCHED_CLOSING)
            for i in range(2 * many):
                entry = tops[i]
                while entry >= 0:
                    faults.add(start + positions[entry] - 1, UNMATCHED_OPENING)
                    entry = below[entry]
        arcs.offsets[spelling.offsets.shape[0] - 1] = made
