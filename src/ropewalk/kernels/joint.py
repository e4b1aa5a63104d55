"""The best path through an automaton where arcs have scores of their own, besides labels.

Which arcs a path makes depends on the words behind the brackets on its stack, so that the automaton's states are too
few to tell paths apart. A beam keeps the best partial paths with their stacks, ordered by what each may reach at most:
its score so far, the best labels that may follow with the best arc on the side where each has its word's head, and for
every word without a head the best arc that it may still get.
Nothing that was dropped can be better than its own bound, so that a result above all these bounds is the best of all.

See `automaton` for transitions, labels and ties.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ropewalk.kernels import new_floats, new_ints

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

Ints = Any  # a buffer of numbers, of one or more dimensions
Floats = Any  # likewise

NOTHING = float("-inf")
CODES = (1 << 24) - 1  # the highest

if TYPE_CHECKING:
    from ropewalk.kernels.automaton import Transitions  # compiled, it is known from the `.pxd`


class Beam:
    """A workspace of `search` that keeps `width` partial paths after each word.

    `after[i, q]` is what is gained at most from state q before word i on, `later[i]` the best arc to word i from a word
    that follows, and `likely[l]` what a label gains with the best arc on the side where it has its head. Partial path b
    before word i has score `values[b]`, state `states[b]`, and behind the bracket at height p the word `openers[b, p]`,
    from 1, and the words that wait for its end, linked from `waiting[b, p]` on through `chain`; the latter two in two
    layers, of which each word reads one and writes the other. It came from partial path `parents[i, b]` by transition
    `taken[i, b]`, and has the score `kept_gains[b]` until all others are chosen; two with different `codes[b]` are not
    the same but for how they came. What may follow it is candidate x, from partial path `froms[x]` by transition
    `ways[x]`: its score is `gains[x]`, and it may reach `hopes[x]`; `heap` orders candidates by that.
    """

    def __init__(self, width: int, longest: int, labels: int, states: int, heights: int, transitions: int) -> None:
        """Make room for sentences so long, in an automaton with at most so many transitions from a state."""
        self.width = width
        self.after = new_floats(longest + 1, states)
        self.later = new_floats(longest)
        self.likely = new_floats(labels)
        self.values = new_floats(width)
        self.states = new_ints(width)
        self.parents = new_ints(longest + 1, width)
        self.taken = new_ints(longest + 1, width)
        self.openers = new_ints(2, width, heights + 1)
        self.waiting = new_ints(2, width, heights + 1)
        self.chain = new_ints(longest * width)
        self.codes = new_ints(width)
        self.hopes = new_floats(width * transitions)
        self.gains = new_floats(width * transitions)
        self.kept_gains = new_floats(width)
        self.froms = new_ints(width * transitions)
        self.ways = new_ints(width * transitions)
        self.heap = new_ints(width * transitions)


def search(
    automaton: Transitions,
    scores: Floats,
    ties: Floats,
    offsets: Ints,
    arcs: Floats,
    starts: Ints,
    sides: Ints,
    floors: Floats,
    work: Beam,
    best: Ints,
    totals: Floats,
    bounds: Floats,
) -> None:
    """Write the labels of each sentence's best path found, its score, and the highest bound of what was dropped.

    Partial paths that may reach less than `floors[s]` are not looked at. The arcs of sentence s begin at `starts[s]`: a
    row for each word, in it the score of each head from 0 on. `sides[l]` tells whether a word with label l has its head
    after it (1), before it (2) or in either place (0). A total is -inf, and the labels are left alone, if there is no
    path of finite score.
    """
    begins = automaton.begins
    labels = automaton.labels
    targets = automaton.targets
    roots = automaton.roots
    finals = automaton.finals
    marks = automaton.marks
    width = work.width
    after = work.after
    later = work.later
    likely = work.likely
    values = work.values
    states = work.states
    parents = work.parents
    taken = work.taken
    openers = work.openers
    waiting = work.waiting
    chain = work.chain
    codes = work.codes
    hopes = work.hopes
    gains = work.gains
    kept_gains = work.kept_gains
    froms = work.froms
    ways = work.ways
    heap = work.heap
    with cython.nogil:
        heights = openers.shape[2] - 1
        for s in range(offsets.shape[0] - 1):
            first = offsets[s]
            n = offsets[s + 1] - first
            totals[s] = 0.0
            bounds[s] = NOTHING
            if n == 0:
                continue
            base = starts[s]
            row = n + 1
            for q in range(finals.shape[0]):
                after[n, q] = 0.0 if finals[q] else NOTHING
            for m in range(n):
                i = n - 1 - m
                top = NOTHING
                for h in range(i + 2, n + 1):
                    top = max(top, arcs[base + i * row + h])
                later[i] = top
                top = NOTHING
                for h in range(i + 1):
                    top = max(top, arcs[base + i * row + h])
                for c in range(sides.shape[0]):
                    gain = scores[first + i, c]
                    likely[c] = gain if sides[c] == 0 else gain + later[i] if sides[c] == 1 else gain + top
                for q in range(finals.shape[0]):
                    top = NOTHING
                    for t in range(begins[q], begins[q + 1]):
                        gain = likely[labels[t]] + ties[first + i, roots[t]] + after[i + 1, targets[t]]
                        top = max(top, gain)
                    after[i, q] = top
            if after[0, 0] == NOTHING:
                totals[s] = NOTHING
                continue
            dropped = NOTHING
            layer = 0
            count = 1
            values[0] = 0.0
            states[0] = 0
            for p in range(heights + 1):
                openers[0, 0, p] = 0
                waiting[0, 0, p] = -1
            for i in range(n):
                found = 0
                for b in range(count):
                    q = states[b]
                    for t in range(begins[q], begins[q + 1]):
                        hope = after[i + 1, targets[t]]
                        gain = values[b] + scores[first + i, labels[t]] + ties[first + i, roots[t]]
                        if gain + hope == NOTHING:
                            continue
                        own = base + i * row
                        if marks[t, 3]:
                            gain += arcs[own + openers[layer, b, marks[t, 3]]]
                        if marks[t, 5]:
                            gain += arcs[own + openers[layer, b, marks[t, 5]]]
                        if marks[t, 4]:
                            word = openers[layer, b, marks[t, 4]] - 1
                            gain += arcs[base + word * row + i + 1] - later[word]
                        for c in range(4, 6):
                            if marks[t, c]:
                                link = waiting[layer, b, marks[t, c]]
                                while link >= 0:
                                    word = link // width
                                    gain += arcs[base + word * row + i + 1] - later[word]
                                    link = chain[link]
                        if marks[t, 0] or marks[t, 2]:
                            gain += later[i]
                        if gain + hope < floors[s]:
                            continue
                        hopes[found] = gain + hope
                        gains[found] = gain
                        froms[found] = b
                        ways[found] = t
                        found += 1
                kept = 0
                other = 1 - layer
                heapify(heap, hopes, found)
                size = found
                while size > 0:
                    c = heap[0]
                    if kept == width:
                        dropped = max(dropped, hopes[c])
                        break
                    size -= 1
                    heap[0] = heap[size]
                    sink(heap, hopes, 0, size)
                    b = froms[c]
                    t = ways[c]
                    for p in range(heights + 1):
                        openers[other, kept, p] = openers[layer, b, p]
                        waiting[other, kept, p] = waiting[layer, b, p]
                    for x in range(4, 6):
                        if marks[t, x]:
                            openers[other, kept, marks[t, x]] = 0
                            waiting[other, kept, marks[t, x]] = -1
                    for x in range(2):
                        if marks[t, x]:
                            openers[other, kept, marks[t, x]] = i + 1
                            waiting[other, kept, marks[t, x]] = -1
                    if marks[t, 2]:
                        link = i * width + kept
                        chain[link] = waiting[other, kept, marks[t, 2]]
                        waiting[other, kept, marks[t, 2]] = link
                    code = targets[t]
                    for p in range(heights + 1):
                        link = waiting[other, kept, p]
                        word = link // width if link >= 0 else -1
                        code = (code * 31 + openers[other, kept, p] * 7 + word) & CODES
                    same = 0
                    for x in range(kept):  # of two that differ only in how they came, the better goes on
                        if codes[x] == code and targets[taken[i + 1, x]] == targets[t]:
                            same = 1
                            for p in range(heights + 1):
                                if openers[other, x, p] != openers[other, kept, p]:
                                    same = 0
                                    break
                                link = waiting[other, x, p]
                                word = waiting[other, kept, p]
                                while link != word and link >= 0 and word >= 0 and link // width == word // width:
                                    link = chain[link]
                                    word = chain[word]
                                if link != word:
                                    same = 0
                                    break
                            if same:
                                break
                    if same:
                        continue
                    codes[kept] = code
                    kept_gains[kept] = gains[c]
                    parents[i + 1, kept] = b
                    taken[i + 1, kept] = t
                    kept += 1
                for b in range(kept):
                    values[b] = kept_gains[b]
                    states[b] = targets[taken[i + 1, b]]
                count = kept
                layer = other
            b = 0
            for x in range(1, count):
                if values[x] > values[b]:
                    b = x
            totals[s] = values[b] if count else NOTHING
            bounds[s] = dropped
            if count:
                for m in range(n):
                    i = n - m
                    best[first + i - 1] = labels[taken[i, b]]
                    b = parents[i, b]


def heapify(heap: Ints, keys: Floats, size: int) -> None:
    """Make a heap of all places of keys, the highest key first."""
    for x in range(size):
        heap[x] = x
    for m in range(size // 2):
        sink(heap, keys, size // 2 - 1 - m, size)


def sink(heap: Ints, keys: Floats, at: int, size: int) -> None:
    """Move an entry of a heap down to where no entry below it has a higher key."""
    moved = heap[at]
    key = keys[moved]
    below = 2 * at + 1
    while below < size:
        if below + 1 < size and keys[heap[below + 1]] > keys[heap[below]]:
            below += 1
        if keys[heap[below]] <= key:
            break
        heap[at] = heap[below]
        at = below
        below = 2 * at + 1
    heap[at] = moved
