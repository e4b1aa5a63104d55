"""Labels that are transition sequences, split after each word that is read (Gómez-Rodríguez et al. 2020).

The label of a word holds the transitions after the preceding word was read, up to and including the one that reads this
word. The transitions after the last word are at the end of its label. Repeated transitions are written as one symbol
with a count. Node 0 is at the bottom of the stack.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *
    from ropewalk.kernels.values import ArcBuffer, Findings, Spelling, SymbolBuffer, Workspace  # noqa: TC001 - compiled, in the .pxd

Ints = memoryview


def write(system: int, heads: Ints, offsets: Ints, out: SymbolBuffer, work: Workspace) -> int:
    """Write the labels of projective trees in the stack-based transition system `system`; return the number of symbols.

    `low` and `high` are each node's farthest dependents on the left and on the right. `pending` is the number of its
    dependents that have no arc so far.
    """
    low = work.node1
    high = work.node2
    pending = work.node3
    stack = work.node4
    with cython.nogil:
        written = 0
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            for x in range(n + 1):
                low[x] = 0
                high[x] = 0
                pending[x] = 0
            for d in range(1, n + 1):
                h = heads[start + d - 1]
                pending[h] += 1
                if h < d:
                    high[h] = d
                elif low[h] == 0:
                    low[h] = d
            stack[0] = 0
            top = 1
            for x in range(1, n + 2):  # n + 1 is the end of the sentence
                if x <= n:
                    out.starts[start + x - 1] = written
                elif system == ARC_EAGER:
                    break
                first = written
                while True:
                    # the static oracle: the transition that leads to the tree
                    t = stack[top - 1]
                    action = SHIFT
                    if system == ARC_STANDARD:
                        if top > 1:
                            b = stack[top - 2]
                            if b != 0 and heads[start + b - 1] == t and pending[b] == 0:
                                action = LEFT_ARC
                                stack[top - 2] = t
                                pending[t] -= 1
                            elif heads[start + t - 1] == b and pending[t] == 0:
                                action = RIGHT_ARC
                                pending[b] -= 1
                    elif system == ARC_HYBRID:
                        if t != 0 and heads[start + t - 1] == x:
                            action = LEFT_ARC
                        elif t != 0 and heads[start + t - 1] == stack[top - 2] and high[t] < x:
                            action = RIGHT_ARC
                    elif t != 0 and heads[start + t - 1] == x:
                        action = LEFT_ARC
                    elif heads[start + x - 1] == t:
                        action = RIGHT_ARC
                    elif heads[start + x - 1] < t or (low[x] != 0 and low[x] < t):
                        action = REDUCE
                    if action == SHIFT and x > n:
                        break
                    if written > first and out.symbols[written - 1] % TIMES == action:
                        out.symbols[written - 1] += TIMES
                    else:
                        out.symbols[written] = action + TIMES
                        written += 1
                    if action == SHIFT or (system == ARC_EAGER and action == RIGHT_ARC):
                        stack[top] = x
                        top += 1
                        break
                    top -= 1
        out.starts[offsets[offsets.shape[0] - 1]] = written
    return written


def read(system: int, spelling: Spelling, heads: Ints, faults: Findings, work: Workspace) -> None:
    """Write into `heads` the result of the transitions of a stack-based system.

    A transition that is not possible is skipped and recorded in `faults`.
    """
    stack = work.node1
    with cython.nogil:
        for s in range(spelling.offsets.shape[0] - 1):
            start = spelling.offsets[s]
            n = spelling.offsets[s + 1] - start
            stack[0] = 0
            top = 1
            for w in range(start, start + n):
                heads[w] = -1
            x = 1  # the next word to be read
            for w in range(start, start + n):
                for k in range(spelling.starts[spelling.labels[w]], spelling.starts[spelling.labels[w] + 1]):
                    action = spelling.symbols[k] % TIMES
                    for _ in range(spelling.symbols[k] // TIMES):
                        t = stack[top - 1]
                        possible = 1
                        if action == SHIFT or (action == RIGHT_ARC and system == ARC_EAGER):
                            if x > n:
                                possible = 0
                            else:
                                if action == RIGHT_ARC:
                                    heads[start + x - 1] = t
                                stack[top] = x
                                top += 1
                                x += 1
                        elif t == 0:
                            possible = 0
                        elif action == REDUCE:
                            if heads[start + t - 1] < 0:
                                possible = 0
                            else:
                                top -= 1
                        elif action == RIGHT_ARC:
                            heads[start + t - 1] = stack[top - 2]
                            top -= 1
                        elif system == ARC_STANDARD:
                            if stack[top - 2] == 0:
                                possible = 0
                            else:
                                heads[start + stack[top - 2] - 1] = t
                                stack[top - 2] = t
                                top -= 1
                        elif x > n or heads[start + t - 1] >= 0:
                            possible = 0
                        else:
                            heads[start + t - 1] = x
                            top -= 1
                        if not possible:
                            faults.add(w, IMPOSSIBLE)
                            break


def write_covington(heads: Ints, offsets: Ints, out: SymbolBuffer, work: Workspace) -> int:
    """Write the labels of any trees in Covington's transition system; return the number of symbols.

    Before a word is read, the system visits the earlier words from right to left. At each it adds an arc to the new
    word, an arc from it, or none.
    """
    first = work.node1
    after = work.node2
    with cython.nogil:
        written = 0
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            for x in range(n + 1):
                first[x] = 0
            for d in range(1, n + 1):  # lists of left dependents, the nearest first
                h = heads[start + d - 1]
                if h > d:
                    after[d] = first[h]
                    first[h] = d
            for x in range(1, n + 1):
                out.starts[start + x - 1] = written
                begin = written
                at = x - 1
                head = heads[start + x - 1]
                if head > x:
                    head = -1
                d = first[x]
                while d != 0 or head >= 0:
                    if d > head:
                        to = d
                        action = LEFT_ARC
                        d = after[d]
                    else:
                        to = head
                        action = RIGHT_ARC
                        head = -1
                    if at > to:
                        out.symbols[written] = NO_ARC + (at - to) * TIMES
                        written += 1
                    if written > begin and out.symbols[written - 1] % TIMES == action:
                        out.symbols[written - 1] += TIMES
                    else:
                        out.symbols[written] = action + TIMES
                        written += 1
                    at = to - 1
                out.symbols[written] = SHIFT + TIMES
                written += 1
        out.starts[offsets[offsets.shape[0] - 1]] = written
    return written


def read_covington(spelling: Spelling, arcs: ArcBuffer, faults: Findings) -> None:
    """Read the labels of Covington's system into arcs. An arc into node 0, or beyond it, is a fault and is left out."""
    with cython.nogil:
        made = 0
        for s in range(spelling.offsets.shape[0] - 1):
            arcs.offsets[s] = made
            start = spelling.offsets[s]
            for w in range(start, spelling.offsets[s + 1]):
                x = w - start + 1
                at = x - 1
                for k in range(spelling.starts[spelling.labels[w]], spelling.starts[spelling.labels[w] + 1]):
                    action = spelling.symbols[k] % TIMES
                    if action == SHIFT:
                        break
                    times = spelling.symbols[k] // TIMES
                    if action == NO_ARC:
                        at -= times
                        continue
                    for _ in range(times):
                        if at < 0 or (at == 0 and action == LEFT_ARC):
                            faults.add(w, IMPOSSIBLE)
                            break
                        if action == LEFT_ARC:
                            arcs.heads[made] = x
                            arcs.dependents[made] = at
                        else:
                            arcs.heads[made] = at
                            arcs.dependents[made] = x
                        made += 1
                        at -= 1
        arcs.offsets[spelling.offsets.shape[0] - 1] = made
