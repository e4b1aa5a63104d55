"""The best tree that labels spell as brackets on stacks, where they may match without spelling a tree.

A partial path keeps the open brackets of all its stacks in one row, each with its word and with the word under which
that one hangs so far, so that no second head and no cycle is ever made: whatever ends with nothing open is a tree with
one root. A beam keeps the best partial paths, ordered by what each may reach at most: its score so far and the best
labels that may follow by a coarser machine, which only counts open brackets, and those only up to a cap. Where arcs
have scores of their own, each label that follows comes with the best arc on the side where it has its word's head, and
every word without a head with the best arc that it may still get. Nothing that was dropped can be better than its own
bound, so that a result above all these bounds is the best of all.
"""

from __future__ import annotations

from typing import Any

from ropewalk.kernels import new_floats, new_ints
from ropewalk.kernels.codes import CLOSING, INDEX, RIGHTWARD, SUPER

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:
    from ropewalk.kernels.joint import heapify, sink

Ints = Any  # a buffer of numbers, of one or more dimensions
Floats = Any  # likewise

NOTHING = float("-inf")
GONE = -1  # the kind of a bracket that is taken off its stack
PRIME = 31
MASK = (1 << 24) - 1  # checksums stay small enough to be multiplied


class StackProgram:
    """What labels do to stacks, and the coarser machine.

    Label l spells `symbols[begins[l]:begins[l+1]]`, each bracket on the stack `homes` says. `sides[l]` tells whether a
    word with label l has its head after it (1), before it (2) or in either place (0). Arcs of stack h lie in the plane
    `planes[h]`, where they cross no others, or may cross any if that is 0; node 0's bracket lies on stack 0. Counter
    `2 * h` counts the superbrackets of left arcs on stack h, and that after it those of right ones; the last counts
    node 0's. A state of the coarser machine is the sum over counters of the count, at most `caps`, times `radices`; in
    state 0 nothing is open. Labels of the same class, `classes[l]`, do the same to it. Its transitions from state q are
    `ways[q]:ways[q+1]`; transition k leads to state `targets[k]` by the class `moves[k] // 2`, the word being the root
    if `moves[k]` is odd.
    """

    def __init__(
        self,
        *,
        begins: Ints,
        symbols: Ints,
        homes: Ints,
        planes: Ints,
        sides: Ints,
        caps: Ints,
        radices: Ints,
        classes: Ints,
        ways: Ints,
        targets: Ints,
        moves: Ints,
    ) -> None:
        self.begins = begins
        self.symbols = symbols
        self.homes = homes
        self.planes = planes
        self.sides = sides
        self.caps = caps
        self.radices = radices
        self.classes = classes
        self.ways = ways
        self.targets = targets
        self.moves = moves


class StackBeam:
    """A workspace of `search` that keeps `width` partial paths after each word.

    `after[i, q]` is what is gained at most from state q of the coarser machine before word i on, `later[i]` the best
    arc to word i from a word that follows, `likely[l]` what a label gains with the best arc on the side where it has
    its head, `chances[2 * c]` the most that labels of a class gain so, `chances[2 * c + 1]` if their word is the root,
    and `coming[c]` what may follow them. The arcs of the sentence at hand begin at `base`, with `row` for each word.

    Partial paths lie in two layers, of which each word reads one and writes the other. The one in slot b, counted over
    both, has score `values[b]`, state `states[b]` and counters from `counts[b * counters]` on, and `heights[b]` open
    brackets from place `b * capacity` on: `kinds` are brackets as in labels, `homes` their stacks, `words` their words
    from 1, `tops` the words under which these hang so far, and `crossed` has a bit for each plane in which they are
    crossed.
    `signs` tell how it may go on: `lengths[b]` numbers with the checksum `sums[b]`; `mentions` and `numbers` belong to
    words while signs are written.

    While a label is read, `gain` is what its arcs gain, `top` the word under which its word hangs, `promised` whether
    that waits for its head, and `rooted` whether it is the root. It has made `many` arcs, with the words `partners`, of
    the stacks `partner_homes`, crossed before as `partner_crossed` says; the last of them is `word`.

    Partial path b before word i came from partial path `parents[i, b]` by label `taken[i, b]`. What may follow is
    candidate x, from partial path `froms[x]` by label `labels[x]`: it may reach `hopes[x]`, which is known to be so if
    `tried[x]`; `heap` orders candidates by that.
    """

    def __init__(
        self, arcs: Floats, width: int, longest: int, opens: int, labels: int, classes: int, states: int, counters: int
    ) -> None:
        """Make room for sentences so long, with labels that open at most so many brackets."""
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
        self.states = new_ints(2 * width)
        self.counts = new_ints(2 * width * counters)
        self.heights = new_ints(2 * width)
        self.kinds = new_ints(2 * width * capacity)
        self.homes = new_ints(2 * width * capacity)
        self.words = new_ints(2 * width * capacity)
        self.tops = new_ints(2 * width * capacity)
        self.crossed = new_ints(2 * width * capacity)
        self.partners = new_ints(capacity + 1)
        self.partner_homes = new_ints(capacity + 1)
        self.partner_crossed = new_ints(capacity + 1)
        self.signs = new_ints(2 * width, 4 * capacity)
        self.lengths = new_ints(2 * width)
        self.sums = new_ints(2 * width)
        self.mentions = new_ints(longest + 1)
        self.numbers = new_ints(longest + 1)
        self.parents = new_ints(longest + 1, width)
        self.taken = new_ints(longest + 1, width)
        self.hopes = new_floats(width * labels)
        self.froms = new_ints(width * labels)
        self.labels = new_ints(width * labels)
        self.tried = new_ints(width * labels)
        self.heap = new_ints(width * labels)
        self.arcs = arcs
        self.jointly = int(arcs.shape[0] > 0)
        self.base = 0
        self.row = 0
        self.gain = 0.0
        self.top = 0
        self.promised = 0
        self.rooted = 0
        self.word = 0
        self.many = 0


def search(
    brackets: StackProgram,
    scores: Floats,
    ties: Floats,
    offsets: Ints,
    starts: Ints,
    floors: Floats,
    work: StackBeam,
    best: Ints,
    totals: Floats,
    bounds: Floats,
) -> None:
    """Write the labels of each sentence's best path found, its score, and the highest bound of what was dropped.

    Partial paths that may reach less than `floors[s]` are not looked at. The arcs of sentence s begin at `starts[s]`: a
    row for each word, in it the score of each head from 0 on; or there are no arcs at all. A total is -inf, and the
    labels are left alone, if no path of finite score was found.
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
    hopes = work.hopes
    froms = work.froms
    labels = work.labels
    tried = work.tried
    heap = work.heap
    with cython.nogil:
        many = scores.shape[1]
        for s in range(offsets.shape[0] - 1):
            first = offsets[s]
            n = offsets[s + 1] - first
            totals[s] = 0.0
            bounds[s] = NOTHING
            if n == 0:
                continue
            work.base = starts[s]
            work.row = n + 1
            _look_back(brackets, work, scores, ties, first, n)
            dropped = NOTHING
            layer = 0
            count = 1
            _begin(brackets, work)
            if after[0, states[0]] == NOTHING:
                count = 0
            for i in range(n):
                _weigh(brackets, work, scores, first, i)
                found = 0
                for b in range(layer, layer + count):
                    _look_ahead(brackets, work, ties, first + i, i, states[b])
                    for label in range(many):
                        hope = values[b] + likely[label] + coming[classes[label]]
                        if hope == NOTHING or hope < floors[s]:
                            continue
                        hopes[found] = hope
                        froms[found] = b
                        labels[found] = label
                        tried[found] = 0
                        found += 1
                heapify(heap, hopes, found)
                kept = 0
                other = width - layer
                while found > 0:
                    c = heap[0]
                    if kept == width:
                        dropped = max(dropped, hopes[c])
                        break
                    b = froms[c]
                    label = labels[c]
                    slot = other + kept
                    fits = _read(brackets, work, label, i + 1, b, slot)
                    if i == n - 1 and work.heights[slot] > 0:
                        fits = 0  # a bracket is open that the coarser machine does not count
                    if fits:
                        gain = values[b] + scores[first + i, label] + ties[first + i, work.rooted] + work.gain
                        hope = gain + after[i + 1, states[slot]]
                        if hope == NOTHING or hope < floors[s]:
                            fits = 0
                    if fits and tried[c] == 0:
                        tried[c] = 1
                        hopes[c] = min(hopes[c], hope)
                        sink(heap, hopes, 0, found)
                        if heap[0] != c:
                            continue  # what it may reach in truth is less than what others may
                    found -= 1
                    heap[0] = heap[found]
                    sink(heap, hopes, 0, found)
                    if fits:
                        _sign(brackets, work, slot)
                        if _is_new(work, other, slot):
                            values[slot] = gain
                            parents[i + 1, kept] = b - layer
                            taken[i + 1, kept] = label
                            kept += 1
                count = kept
                layer = other
            b = 0
            for x in range(1, count):
                if values[layer + x] > values[layer + b]:
                    b = x
            totals[s] = values[layer + b] if count else NOTHING
            bounds[s] = dropped
            if count:
                for m in range(n):
                    i = n - m
                    best[first + i - 1] = taken[i, b]
                    b = parents[i, b]


def _weigh(brackets: StackProgram, work: StackBeam, scores: Floats, first: int, i: int) -> None:
    """Write into `likely` what each label of word i gains at most, with the best arc on the side of its head."""
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


def _look_back(brackets: StackProgram, work: StackBeam, scores: Floats, ties: Floats, first: int, n: int) -> None:
    """Write what is gained at most from each state of the coarser machine before each word on."""
    classes = brackets.classes
    ways = brackets.ways
    targets = brackets.targets
    moves = brackets.moves
    after = work.after
    chances = work.chances
    likely = work.likely
    states = ways.shape[0] - 1
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
            chances[2 * c + 1] = chances[2 * c] + ties[first + i, 1]
            chances[2 * c] += ties[first + i, 0]
        for q in range(states):
            most = NOTHING
            for k in range(ways[q], ways[q + 1]):
                gain = chances[moves[k]] + after[i + 1, targets[k]]
                most = max(most, gain)
            after[i, q] = most


def _look_ahead(brackets: StackProgram, work: StackBeam, ties: Floats, w: int, i: int, q: int) -> None:
    """Write into `coming` what is gained at most by being the root or not, and after word i, w of all words, from q."""
    for c in range(work.coming.shape[0]):
        work.coming[c] = NOTHING
    for k in range(brackets.ways[q], brackets.ways[q + 1]):
        c = brackets.moves[k] // 2
        gain = ties[w, brackets.moves[k] % 2] + work.after[i + 1, brackets.targets[k]]
        work.coming[c] = max(work.coming[c], gain)


def _begin(brackets: StackProgram, work: StackBeam) -> None:
    """Put node 0's bracket on its stack in slot 0."""
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
    """Give the state of the coarser machine by the counters of a partial path."""
    q = 0
    for c in range(work.counters):
        q += min(work.counts[slot * work.counters + c], brackets.caps[c]) * brackets.radices[c]
    return q


def _read(brackets: StackProgram, work: StackBeam, label: int, x: int, source: int, slot: int) -> int:
    """Copy a partial path to a slot and read the label of word x there; give 1 if it fits."""
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
    work.gain = 0.0
    work.top = x
    work.promised = 0
    work.rooted = 0
    work.many = 0
    nearest = x  # the word of the bracket that was closed last
    last = -1  # and its stack
    ropes = 0  # superbrackets that x opens
    for k in range(brackets.begins[label], brackets.begins[label + 1]):
        symbol = brackets.symbols[k]
        home = brackets.homes[k]
        if symbol & CLOSING:
            if symbol & SUPER:
                high = _close(work, counts, low, high, home, symbol, x)
            else:
                high = _lean(work, low, high, home, symbol, x)
            if high < 0 or (home == last and work.word >= nearest):
                return 0  # of closing brackets on one stack, that of the shorter arc stands first
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
            return 0  # it will not be passed by so many as it waits for
        work.kinds[high] = symbol
        work.homes[high] = home
        work.words[high] = x
        work.tops[high] = work.top
        work.crossed[high] = 0
        high += 1
    if work.top == x:
        if work.promised == 0 and ropes == 0:
            return 0  # nothing will give it a head
        if work.jointly:
            work.gain += work.later[x - 1]
    for m in range(work.many):
        if _cross(brackets, work, low, high, m, x) == 0:
            return 0
    work.heights[slot] = high - low
    work.states[slot] = _state(brackets, work, slot)
    return 1


def _close(work: StackBeam, counts: int, low: int, high: int, home: int, symbol: int, x: int) -> int:
    """Close a superbracket, and make the arcs of semibrackets on the way; give the end of what is left, -1 if none."""
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
    if word != 0 and work.tops[p] == word:  # it still needs a head, by another bracket of its own
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
    """Lean on a superbracket that stays; give the end of what is open, -1 if it does not fit."""
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
            return -1  # it has a head
        for o in range(low, high):
            if work.words[o] == word and work.kinds[o] & RIGHTWARD == 0:
                return -1  # it waits for one
    if _make(work, low, high, p, symbol & RIGHTWARD, x) == 0:
        return -1
    return high


def _make(work: StackBeam, low: int, high: int, p: int, rightward: int, x: int) -> int:
    """Make the arc between word x and that of the bracket at a place, to x if rightward; give 0 if it may not be."""
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
            work.gain += work.arcs[work.base + (x - 1) * work.row + word]
    else:
        if work.top == word:
            return 0
        dependent = word
        if work.jointly:
            work.gain += work.arcs[work.base + (word - 1) * work.row + x] - work.later[word - 1]
    for o in range(low, high):
        if work.tops[o] == dependent:
            work.tops[o] = work.top
    return 1


def _is_last(work: StackBeam, p: int, high: int) -> int:
    """Tell whether a word has no bracket on the same stack that it opened after the one at a place."""
    o = p + 1
    while o < high and work.words[o] == work.words[p]:
        if work.homes[o] == work.homes[p] and work.kinds[o] != GONE:
            return 0
        o += 1
    return 1


def _cross(brackets: StackProgram, work: StackBeam, low: int, high: int, m: int, x: int) -> int:
    """Note what the m-th arc made by word x crosses; give 0 if that is in its own plane, or none in one before it."""
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
    """Write down what decides how a partial path may go on.

    Where arcs have scores, it is all brackets with their words and those under which they hang. Otherwise
    it is only which of these are the same, and what waits for the next superbracket that closes below it is left out,
    unless others hang under it.
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
        work.signs[slot, size + 3] = work.crossed[p]
        work.signs[slot, size + 2] = top
        for c in range(size, size + 4):
            total = (total * PRIME + work.signs[slot, c]) & MASK
        size += 4
    work.lengths[slot] = size
    work.sums[slot] = total


def _goes_along(brackets: StackProgram, work: StackBeam, low: int, p: int) -> int:
    """Tell whether a word that waits for the next superbracket to close below it changes nothing for all others."""
    if brackets.planes[work.homes[p]] == 0:
        return 1
    if p == low or work.homes[p - 1] != work.homes[p] or work.crossed[p - 1] != work.crossed[p]:
        return 0
    return 1 if work.kinds[p - 1] in (SUPER, 0) else 0


def _is_new(work: StackBeam, first: int, slot: int) -> int:
    """Tell whether none of the partial paths from slot `first` on can go on as this one, worse than they, can."""
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
