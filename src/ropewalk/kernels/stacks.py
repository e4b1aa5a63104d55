"""Beam search for the best labels that are brackets on stacks. Brackets that match need not spell a tree.

A partial path keeps the open brackets of all its stacks in one row. Each bracket has its word and that word's topmost
ancestor so far. So a path never makes a second head or a cycle, and a path that ends with nothing open is a tree with
one root.

A beam keeps the best partial paths, ordered by an upper bound: the score so far plus the best labels that may follow in
a coarser machine. This machine only counts open brackets, up to a cap. If arcs have scores, the bound adds for each
later label the best arc on the side of its word's head, and for every word without a head the best arc that it may
still get. No dropped path can score more than its own bound. So a result that scores more than all these bounds is
proved to be the best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ropewalk.kernels import Floats, Ints, new_floats, new_ints, several_ints

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *
    from ropewalk.kernels.joint import heapify, sink

if TYPE_CHECKING:
    from ropewalk.kernels.joint import BeamSearch  # when compiled, the `.pxd` imports it

NOTHING = float("-inf")
GONE = -1  # the kind of a bracket that was removed from its stack
PRIME = 31
MASK = (1 << 24) - 1  # keeps checksums small enough to be multiplied
SIGN = 4  # numbers of a signature for each open bracket


@dataclass(repr=False, eq=False)
class StackProgram:
    """The effect of each label on the stacks, and a coarser machine that only counts open brackets.

    Label l has the brackets `symbols[begins[l]:begins[l+1]]`, and `homes` has the stack of each. `sides[l]` is the side
    of the head of a word with label l: 1 if after the word, 2 if before it, 0 if either. The arcs of stack h are in
    plane `planes[h]` and cross no other arc of this plane; if the plane is 0, they may cross any arc. Node 0's bracket
    is on stack 0.

    The coarser machine has counters. Counter `2 * h` counts the open superbrackets of left arcs on stack h, the next
    counter those of right arcs, and the last counter node 0's bracket. A state is the sum over all counters of the
    count, at most `caps`, times `radices`; in state 0 nothing is open. Labels with the same class, `classes[l]`, have
    the same effect on the state. The transitions from state q are `transitions[q]:transitions[q+1]`. Transition k leads
    to state `targets[k]` with the class `moves[k] // 2`, and the word is the root if `moves[k]` is odd.
    """

    begins: Ints
    symbols: Ints
    homes: Ints
    planes: Ints
    sides: Ints
    caps: Ints
    radices: Ints
    classes: Ints
    transitions: Ints
    targets: Ints
    moves: Ints


class StackBeam:
    """The workspace of `search`, whose beam keeps `width` partial paths after each word.

    Bounds: `after[i, q]` is the highest score from state q of the coarser machine before word i to the end, `later[i]`
    the best score of an arc to word i from a later word, `likely[l]` the score of a label with the best arc on the side
    of its head, `chances[2 * c]` the highest of these for the labels of a class, `chances[2 * c + 1]` the same if their
    word is the root, and `coming[c]` the highest score after them. The sentence's arcs begin at `base`, with `row` for
    each word.

    Partial paths are in two layers, of which each word reads one and writes the other. The one in slot b, counted over
    both, has score `values[b]`, state `states[b]`, counters from `counts[b * counters]` on, and `heights[b]` open
    brackets from index `b * capacity` on: `kinds` are brackets as in labels, `homes` their stacks, `words` their words
    from 1, `tops` the topmost ancestors of these words so far, and `crossed` has a bit for each plane in which they are
    crossed. Its signature, the part of it that decides how it may go on, is `lengths[b]` numbers in `signs` with the
    checksum `sums[b]`; `mentions` and `numbers`, by word, are needed to write it.

    While a label is read, `arc_scores` is the sum of its arcs' scores, `top` the topmost ancestor of its word,
    `promised` whether a bracket waits for the word's head, and `rooted` whether the word is the root. The label has
    made `many` arcs: to the words `partners`, on the stacks `partner_homes`, crossed before in the planes
    `partner_crossed`. `word` is the last partner.

    The backpointers of partial path b before word i are `parents[i, b]`, a partial path, and `taken[i, b]`, a label.
    Candidate x extends the partial path in slot `sources[x]` by label `labels[x]`; its upper bound is
    `upper_bounds[x]`, which counts its own arcs and brackets once `tried[x]` is 1. `heap` orders candidates by that
    bound.
    """

    def __init__(
        self, arcs: Floats, width: int, longest: int, opens: int, labels: int, classes: int, states: int, counters: int
    ) -> None:
        """Allocate buffers for up to `longest` words in a sentence, and up to `opens` opening brackets in a label."""
        capacity = longest * opens + 1
        self.width = width
        self.capacity = capacity
        self.counters = counters
        self.after = new_floats(longest + 1, states)
        self.later = new_floats(longest)
        self.likely = new_floats(labels)
        self.chances = new_floats(2 * classes)
        self.coming = new_floats(classes)
        self.values = new_floats(2 * width)
        self.states, self.heights, self.lengths, self.sums = several_ints(4, 2 * width)
        self.counts = new_ints(2 * width * counters)
        self.kinds, self.homes, self.words, self.tops, self.crossed = several_ints(5, 2 * width * capacity)
        self.partners, self.partner_homes, self.partner_crossed = several_ints(3, capacity + 1)
        self.signs = new_ints(2 * width, SIGN * capacity)
        self.mentions, self.numbers = several_ints(2, longest + 1)
        self.parents = new_ints(longest + 1, width)
        self.taken = new_ints(longest + 1, width)
        self.upper_bounds = new_floats(width * labels)
        self.sources, self.labels, self.tried, self.heap = several_ints(4, width * labels)
        self.arcs = arcs
        self.jointly = int(arcs.shape[0] > 0)
        self.base = 0
        self.row = 0
        self.arc_scores = 0.0
        self.top = 0
        self.promised = 0
        self.rooted = 0
        self.word = 0
        self.many = 0


def search(brackets: StackProgram, task: BeamSearch, work: StackBeam) -> None:
    """Search for the best path of each sentence by label scores and, if given, arc scores.

    The results are written into `task`.
    """
    classes = brackets.classes
    width = work.width
    after = work.after
    likely = work.likely
    coming = work.coming
    values = work.values
    states = work.states
    parents = work.parents
    taken = work.taken
    upper_bounds = work.upper_bounds
    sources = work.sources
    labels = work.labels
    tried = work.tried
    heap = work.heap
    with cython.nogil:
        many = task.scores.shape[1]
        for s in range(task.offsets.shape[0] - 1):
            first = task.offsets[s]
            n = task.begin(s)
            if n == 0:
                continue
            work.base = task.starts[s]
            work.row = n + 1
            _look_back(brackets, work, task.scores, task.root_scores, first, n)
            dropped = NOTHING
            layer = 0
            count = 1
            _begin(brackets, work)
            if after[0, states[0]] == NOTHING:
                count = 0
            for i in range(n):
                # list candidates, with upper bounds from the coarser machine
                _weigh(brackets, work, task.scores, first, i)
                candidates = 0
                for b in range(layer, layer + count):
                    _look_ahead(brackets, work, task.root_scores, first + i, i, states[b])
                    for label in range(many):
                        upper_bound = values[b] + likely[label] + coming[classes[label]]
                        if upper_bound == NOTHING or upper_bound < task.lower_bounds[s]:
                            continue
                        upper_bounds[candidates] = upper_bound
                        sources[candidates] = b
                        labels[candidates] = label
                        tried[candidates] = 0
                        candidates += 1
                # keep the `width` candidates with the highest upper bounds; reading the label makes a bound tighter
                heapify(heap, upper_bounds, candidates)
                kept = 0
                other = width - layer
                while candidates > 0:
                    c = heap[0]
                    if kept == width:
                        dropped = max(dropped, upper_bounds[c])
                        break
                    b = sources[c]
                    label = labels[c]
                    slot = other + kept
                    fits = _read(brackets, work, label, i + 1, b, slot)
                    if i == n - 1 and work.heights[slot] > 0:
                        fits = 0  # a bracket is open that the coarser machine does not count
                    if fits:
                        score = (
                            values[b]
                            + task.scores[first + i, label]
                            + task.root_scores[first + i, work.rooted]
                            + work.arc_scores
                        )
                        upper_bound = score + after[i + 1, states[slot]]
                        if upper_bound == NOTHING or upper_bound < task.lower_bounds[s]:
                            fits = 0
                    if fits and tried[c] == 0:
                        tried[c] = 1
                        upper_bounds[c] = min(upper_bounds[c], upper_bound)
                        sink(heap, upper_bounds, 0, candidates)
                        if heap[0] != c:
                            continue  # another candidate now has the highest upper bound
                    candidates -= 1
                    heap[0] = heap[candidates]
                    sink(heap, upper_bounds, 0, candidates)
                    if fits:
                        _sign(brackets, work, slot)
                        if _is_new(work, other, slot):
                            values[slot] = score
                            parents[i + 1, kept] = b - layer
                            taken[i + 1, kept] = label
                            kept += 1
                count = kept
                layer = other
            # choose the best path and follow its backpointers
            b = 0
            for x in range(1, count):
                if values[layer + x] > values[layer + b]:
                    b = x
            task.totals[s] = values[layer + b] if count else NOTHING
            task.bounds[s] = dropped
            if count:
                for m in range(n):
                    i = n - m
                    task.best[first + i - 1] = taken[i, b]
                    b = parents[i, b]


def _weigh(brackets: StackProgram, work: StackBeam, scores: Floats, first: int, i: int) -> None:
    """Write into `likely` the score of each label of word i plus the best arc score on the side of the word's head."""
    before = 0.0
    behind = 0.0
    if work.jointly:
        own = work.base + i * work.row
        before = NOTHING
        for h in range(i + 1):
            before = max(before, work.arcs[own + h])
        behind = NOTHING
        for h in range(i + 2, work.row):
            behind = max(behind, work.arcs[own + h])
    work.later[i] = behind
    for label in range(scores.shape[1]):
        side = brackets.sides[label]
        work.likely[label] = scores[first + i, label] + (behind if side == 1 else before if side == 2 else 0.0)


def _look_back(
    brackets: StackProgram, work: StackBeam, scores: Floats, root_scores: Floats, first: int, n: int
) -> None:
    """Write into `after` the highest score from each state of the coarser machine, before each word, to the end."""
    classes = brackets.classes
    transitions = brackets.transitions
    targets = brackets.targets
    moves = brackets.moves
    after = work.after
    chances = work.chances
    likely = work.likely
    states = transitions.shape[0] - 1
    for q in range(states):
        after[n, q] = NOTHING
    after[n, 0] = 0.0
    for m in range(n):
        i = n - 1 - m
        _weigh(brackets, work, scores, first, i)
        for c in range(chances.shape[0]):
            chances[c] = NOTHING
        for label in range(classes.shape[0]):
            c = 2 * classes[label]
            chances[c] = max(chances[c], likely[label])
        for c in range(chances.shape[0] // 2):
            chances[2 * c + 1] = chances[2 * c] + root_scores[first + i, 1]
            chances[2 * c] += root_scores[first + i, 0]
        for q in range(states):
            most = NOTHING
            for k in range(transitions[q], transitions[q + 1]):
                score = chances[moves[k]] + after[i + 1, targets[k]]
                most = max(most, score)
            after[i, q] = most


def _look_ahead(brackets: StackProgram, work: StackBeam, root_scores: Floats, w: int, i: int, q: int) -> None:
    """Write into `coming`, for each class of labels, the highest score that may follow word i in state q.

    It includes the root score of word i, whose index over all sentences is w.
    """
    for c in range(work.coming.shape[0]):
        work.coming[c] = NOTHING
    for k in range(brackets.transitions[q], brackets.transitions[q + 1]):
        c = brackets.moves[k] // 2
        score = root_scores[w, brackets.moves[k] % 2] + work.after[i + 1, brackets.targets[k]]
        work.coming[c] = max(work.coming[c], score)


def _begin(brackets: StackProgram, work: StackBeam) -> None:
    """Write the first partial path into slot 0: only node 0's bracket is open."""
    for c in range(work.counters):
        work.counts[c] = 0
    work.counts[RIGHTWARD] = 1
    work.counts[work.counters - 1] = 1
    work.states[0] = _state(brackets, work, 0)
    work.values[0] = 0.0
    work.heights[0] = 1
    work.kinds[0] = SUPER | RIGHTWARD
    work.homes[0] = 0
    work.words[0] = 0
    work.tops[0] = 0
    work.crossed[0] = 0


def _state(brackets: StackProgram, work: StackBeam, slot: int) -> int:
    """Return the state of the coarser machine that the counters of the partial path in `slot` make."""
    q = 0
    for c in range(work.counters):
        q += min(work.counts[slot * work.counters + c], brackets.caps[c]) * brackets.radices[c]
    return q


def _read(brackets: StackProgram, work: StackBeam, label: int, x: int, source: int, slot: int) -> int:
    """Copy the partial path in `source` to `slot` and read the label of word x there; return 1 if the label fits."""
    low = slot * work.capacity
    old = source * work.capacity
    high = low + work.heights[source]
    for p in range(high - low):
        work.kinds[low + p] = work.kinds[old + p]
        work.homes[low + p] = work.homes[old + p]
        work.words[low + p] = work.words[old + p]
        work.tops[low + p] = work.tops[old + p]
        work.crossed[low + p] = work.crossed[old + p]
    counts = slot * work.counters
    for c in range(work.counters):
        work.counts[counts + c] = work.counts[source * work.counters + c]
    work.arc_scores = 0.0
    work.top = x
    work.promised = 0
    work.rooted = 0
    work.many = 0
    nearest = x  # the word of the last closed bracket
    last = -1  # the stack of the last closed bracket
    ropes = 0  # the number of superbrackets that x opens
    for k in range(brackets.begins[label], brackets.begins[label + 1]):
        symbol = brackets.symbols[k]
        home = brackets.homes[k]
        if symbol & CLOSING:
            if symbol & SUPER:
                high = _close(work, counts, low, high, home, symbol, x)
            else:
                high = _lean(work, low, high, home, symbol, x)
            if high < 0 or (home == last and work.word >= nearest):
                return 0  # closing brackets on one stack must be ordered from the shortest arc to the longest
            nearest = work.word
            last = home
            continue
        if symbol & RIGHTWARD == 0:
            if work.promised or work.top != x:
                return 0  # a second head
            work.promised = 1
        if symbol & SUPER:
            work.counts[counts + 2 * home + (symbol & RIGHTWARD)] += 1
            ropes += 1
        elif work.counts[counts + 2 * home] + work.counts[counts + 2 * home + 1] <= symbol // INDEX:
            return 0  # fewer superbrackets are open than must close before the semibracket is matched
        work.kinds[high] = symbol
        work.homes[high] = home
        work.words[high] = x
        work.tops[high] = work.top
        work.crossed[high] = 0
        high += 1
    if work.top == x:
        if work.promised == 0 and ropes == 0:
            return 0  # no bracket can give the word a head
        if work.jointly:
            work.arc_scores += work.later[x - 1]
    for m in range(work.many):
        if _cross(brackets, work, low, high, m, x) == 0:
            return 0
    work.heights[slot] = high - low
    work.states[slot] = _state(brackets, work, slot)
    return 1


def _close(work: StackBeam, counts: int, low: int, high: int, home: int, symbol: int, x: int) -> int:
    """Close a superbracket, and make its arc and those of semibrackets above it that wait for it.

    Return the new end of the open brackets, or -1 if the closing bracket does not fit.
    """
    skip = symbol // INDEX
    own = symbol & RIGHTWARD
    p = high
    while True:
        p -= 1
        if p < low:
            return -1
        if work.homes[p] != home:
            continue
        kind = work.kinds[p]
        if kind & SUPER:
            if kind & RIGHTWARD != own:
                continue
            if skip == 0:
                break
            skip -= 1
        elif kind >= INDEX:
            work.kinds[p] = kind - INDEX
        else:
            work.kinds[p] = GONE
            if _is_last(work, p, high) == 0 or _make(work, low, high, p, kind & RIGHTWARD, x) == 0:
                return -1
    work.kinds[p] = GONE
    if work.words[p] == 0:
        work.rooted = 1
        work.counts[counts + work.counters - 1] = 0
    if _is_last(work, p, high) == 0 or _make(work, low, high, p, own, x) == 0:
        return -1
    work.counts[counts + 2 * home + own] -= 1
    word = work.words[p]
    if word != 0 and work.tops[p] == word:  # the word needs a head, from another bracket of its own
        others = 0
        for o in range(low, high):
            kind = work.kinds[o]
            if kind != GONE and work.words[o] == word and (kind & SUPER or kind & RIGHTWARD == 0):
                others += 1
        if others == 0:
            return -1
    kept = p
    for o in range(p, high):
        if work.kinds[o] != GONE:
            work.kinds[kept] = work.kinds[o]
            work.homes[kept] = work.homes[o]
            work.words[kept] = work.words[o]
            work.tops[kept] = work.tops[o]
            work.crossed[kept] = work.crossed[o]
            kept += 1
    return kept


def _lean(work: StackBeam, low: int, high: int, home: int, symbol: int, x: int) -> int:
    """Make the arc of a closing semibracket, which leans on an open superbracket.

    Return the end of the open brackets, or -1 if the semibracket does not fit.
    """
    skip = symbol // INDEX
    p = high
    while True:
        p -= 1
        if p < low:
            return -1
        if work.homes[p] != home or work.kinds[p] & SUPER == 0:
            continue
        if skip == 0:
            break
        skip -= 1
    word = work.words[p]
    if word == 0:
        return -1
    if symbol & RIGHTWARD == 0:
        if work.tops[p] != word:
            return -1  # the word has a head
        for o in range(low, high):
            if work.words[o] == word and work.kinds[o] & RIGHTWARD == 0:
                return -1  # the word waits for a head
    if _make(work, low, high, p, symbol & RIGHTWARD, x) == 0:
        return -1
    return high


def _make(work: StackBeam, low: int, high: int, p: int, rightward: int, x: int) -> int:
    """Make the arc between word x and the word of bracket p, into x if `rightward`; return 0 if no tree can have it."""
    word = work.words[p]
    work.word = word
    work.partners[work.many] = word
    work.partner_crossed[work.many] = work.crossed[p]
    work.partner_homes[work.many] = work.homes[p]
    work.many += 1
    if rightward:
        if work.promised or work.top != x or work.tops[p] == x:
            return 0  # a second head, or a cycle
        dependent = x
        work.top = work.tops[p]
        if work.jointly:
            work.arc_scores += work.arcs[work.base + (x - 1) * work.row + word]
    else:
        if work.top == word:
            return 0
        dependent = word
        if work.jointly:
            work.arc_scores += work.arcs[work.base + (word - 1) * work.row + x] - work.later[word - 1]
    for o in range(low, high):
        if work.tops[o] == dependent:
            work.tops[o] = work.top
    return 1


def _is_last(work: StackBeam, p: int, high: int) -> int:
    """Return whether bracket p is the last open one of its word on its stack."""
    o = p + 1
    while o < high and work.words[o] == work.words[p]:
        if work.homes[o] == work.homes[p] and work.kinds[o] != GONE:
            return 0
        o += 1
    return 1


def _cross(brackets: StackProgram, work: StackBeam, low: int, high: int, m: int, x: int) -> int:
    """Record which planes the m-th arc of word x crosses; return 0 if the arc is in the wrong plane.

    It is wrong if the arc crosses an arc of its own plane, or does not cross an arc of every lower plane.
    """
    plane = brackets.planes[work.partner_homes[m]]
    crossed = work.partner_crossed[m]
    if plane == 0:
        return 1
    for o in range(low, high):
        if work.partners[m] < work.words[o] < x:
            other = brackets.planes[work.homes[o]]
            if other == plane:
                return 0
            if other < plane:
                crossed |= 1 << other
            else:
                work.crossed[o] |= 1 << plane
    return 1 if crossed == (1 << plane) - 2 else 0


def _sign(brackets: StackProgram, work: StackBeam, slot: int) -> None:
    """Write the signature of a partial path. Paths with the same signature can be continued in the same ways.

    If arcs have scores, the signature lists all open brackets with their words and these words' topmost ancestors.
    Otherwise it only records which of these words are equal. It then leaves out a word that waits for the next
    superbracket to close below it, unless other words depend on it.
    """
    low = slot * work.capacity
    high = low + work.heights[slot]
    size = 0
    known = 1
    for p in range(low, high):
        work.mentions[work.words[p]] = 0
        work.mentions[work.tops[p]] = 0
        work.numbers[work.words[p]] = 0
        work.numbers[work.tops[p]] = 0
    for p in range(low, high):
        work.mentions[work.words[p]] += 1
        if work.tops[p] != work.words[p]:
            work.mentions[work.tops[p]] += 1
    total = 0
    for p in range(low, high):
        word = work.words[p]
        top = work.tops[p]
        if work.jointly == 0:
            if work.kinds[p] == 0 and work.mentions[word] == 1 and _goes_along(brackets, work, low, p):
                continue
            if word > 0:
                if work.numbers[word] == 0:
                    work.numbers[word] = known
                    known += 1
                word = work.numbers[word]
            if top > 0:
                if work.numbers[top] == 0:
                    work.numbers[top] = known
                    known += 1
                top = work.numbers[top]
        work.signs[slot, size] = work.kinds[p] * work.counters + work.homes[p]
        work.signs[slot, size + 1] = word
        work.signs[slot, size + 2] = top
        work.signs[slot, size + 3] = work.crossed[p]
        for c in range(size, size + SIGN):
            total = (total * PRIME + work.signs[slot, c]) & MASK
        size += SIGN
    work.lengths[slot] = size
    work.sums[slot] = total


def _goes_along(brackets: StackProgram, work: StackBeam, low: int, p: int) -> int:
    """Return whether the word of bracket p, which waits for a superbracket below it, can be left out of a signature."""
    if brackets.planes[work.homes[p]] == 0:
        return 1
    if p == low or work.homes[p - 1] != work.homes[p] or work.crossed[p - 1] != work.crossed[p]:
        return 0
    return 1 if work.kinds[p - 1] in (SUPER, 0) else 0


def _is_new(work: StackBeam, first: int, slot: int) -> int:
    """Return whether no partial path in the slots `first` to `slot` - 1 has the same signature as that in `slot`."""
    for b in range(first, slot):
        if work.sums[b] != work.sums[slot] or work.lengths[b] != work.lengths[slot]:
            continue
        same = 1
        for c in range(work.lengths[slot]):
            if work.signs[b, c] != work.signs[slot, c]:
                same = 0
                break
        if same:
            return 0
    return 1
