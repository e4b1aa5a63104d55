"""The best path through an automaton by label and arc scores together.

The arcs of a path depend on the words that opened the brackets on its stack, which the automaton's states do not
distinguish. So a beam keeps the best partial paths with their stacks, ordered by an upper bound. The bound is the score
so far, plus the best labels that may follow, each with the best arc on the side of its word's head, plus the best arc
that each word without a head may still get. No dropped path can score more than its own bound. So a result that scores
more than all these bounds is proved to be the best.

The module `automaton` explains transitions, labels and root scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ropewalk.kernels import Floats, Ints, new_floats, new_ints

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *


NOTHING = float("-inf")
CODES = (1 << 24) - 1  # the highest hash code of a partial path

if TYPE_CHECKING:
    from ropewalk.kernels.automaton import Transitions  # when compiled, the `.pxd` imports it


@dataclass(repr=False, eq=False)
class BeamSearch:
    """The input and output of a beam search over many sentences.

    Input: `scores` and `root_scores` are as in the module `automaton`. The arc scores of sentence s begin at
    `arcs[starts[s]]`, ordered by word, then by head from 0 on. Partial paths whose upper bound is less than
    `lower_bounds[s]` are dropped.

    Output: `best` receives the labels of each sentence's best path, `totals` its score, and `bounds` the highest upper
    bound of a partial path that did not fit into the beam. If there is no path of finite score, the total is -inf and
    the labels are unchanged.
    """

    scores: Floats
    root_scores: Floats
    offsets: Ints
    arcs: Floats
    starts: Ints
    lower_bounds: Floats
    best: Ints
    totals: Floats
    bounds: Floats

    def begin(self, s: int) -> int:
        """Reset the total and the bound of sentence s, and return its number of words."""
        self.totals[s] = 0.0
        self.bounds[s] = NOTHING
        n: int = self.offsets[s + 1] - self.offsets[s]
        return n


class Beam:
    """The workspace of `search`, whose beam keeps `width` partial paths after each word.

    Bounds: `after[i, q]` is the highest score from state q before word i to the end, `later[i]` the best score of an
    arc to word i from a later word, and `likely[l]` the score of a label with the best arc on the side of its head.

    Partial path b before word i has score `values[b]` and state `states[b]`. The word `openers[b, p]`, from 1, opened
    its bracket at height p; the words that wait for that bracket's end are linked from `waiting[b, p]` on through
    `chain`. Openers and waiting words are in two layers, of which each word reads one and writes the other. The
    backpointers of the path are `parents[i, b]`, a partial path, and `taken[i, b]`, a transition; its score is
    `kept_scores[b]` until all others are chosen. Partial paths with different hash codes `codes[b]` have different
    stacks.

    Candidate x extends partial path `sources[x]` by transition `transitions[x]`, with the score `candidate_scores[x]`
    and the upper bound `upper_bounds[x]`; `heap` orders candidates by that bound.
    """

    def __init__(self, width: int, longest: int, labels: int, states: int, heights: int, transitions: int) -> None:
        """Allocate buffers for up to `longest` words in a sentence and `transitions` transitions from a state."""
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
        self.upper_bounds = new_floats(width * transitions)
        self.candidate_scores = new_floats(width * transitions)
        self.kept_scores = new_floats(width)
        self.sources = new_ints(width * transitions)
        self.transitions = new_ints(width * transitions)
        self.heap = new_ints(width * transitions)


def search(automaton: Transitions, sides: Ints, task: BeamSearch, work: Beam) -> None:
    """Search for the best path of each sentence by label and arc scores; write the results into `task`.

    `sides[l]` is the side of the head of a word with label l: 1 if after the word, 2 if before it, 0 if either.
    """
    with cython.nogil:
        for s in range(task.offsets.shape[0] - 1):
            first = task.offsets[s]
            n = task.begin(s)
            if n == 0:
                continue
            _look_back(automaton, sides, task, work, s, n)
            if work.after[0, 0] == NOTHING:
                task.totals[s] = NOTHING
                continue
            # the beam begins with the empty path in state 0
            dropped = NOTHING
            layer = 0
            count = 1
            work.values[0] = 0.0
            work.states[0] = 0
            for p in range(work.openers.shape[2]):
                work.openers[0, 0, p] = 0
                work.waiting[0, 0, p] = -1
            for i in range(n):
                candidates = _extend(automaton, task, work, s, n, i, layer, count)
                # keep the `width` candidates with the highest upper bounds
                heapify(work.heap, work.upper_bounds, candidates)
                kept = 0
                while candidates > 0:
                    c = work.heap[0]
                    if kept == work.width:
                        dropped = max(dropped, work.upper_bounds[c])
                        break
                    candidates -= 1
                    work.heap[0] = work.heap[candidates]
                    sink(work.heap, work.upper_bounds, 0, candidates)
                    t = work.transitions[c]
                    _read(automaton, work, t, i, work.sources[c], layer, kept)
                    if _is_new(automaton, work, t, i, 1 - layer, kept):
                        work.kept_scores[kept] = work.candidate_scores[c]
                        work.parents[i + 1, kept] = work.sources[c]
                        work.taken[i + 1, kept] = t
                        kept += 1
                for b in range(kept):
                    work.values[b] = work.kept_scores[b]
                    work.states[b] = automaton.targets[work.taken[i + 1, b]]
                count = kept
                layer = 1 - layer
            # choose the best path and follow its backpointers
            b = 0
            for x in range(1, count):
                if work.values[x] > work.values[b]:
                    b = x
            task.totals[s] = work.values[b] if count else NOTHING
            task.bounds[s] = dropped
            if count:
                for m in range(n):
                    i = n - m
                    task.best[first + i - 1] = automaton.labels[work.taken[i, b]]
                    b = work.parents[i, b]


def _look_back(automaton: Transitions, sides: Ints, task: BeamSearch, work: Beam, s: int, n: int) -> None:
    """Write upper bounds into `after`, from the last of the `n` words of sentence s to the first.

    Each word has the best arc on the side that its label allows.
    """
    later = work.later
    likely = work.likely
    after = work.after
    base = task.starts[s]
    first = task.offsets[s]
    for q in range(automaton.finals.shape[0]):
        after[n, q] = 0.0 if automaton.finals[q] else NOTHING
    for m in range(n):
        i = n - 1 - m
        own = base + i * (n + 1)
        top = NOTHING  # the best head after the word, then the best before it, node 0 included
        for h in range(i + 2, n + 1):
            top = max(top, task.arcs[own + h])
        later[i] = top
        top = NOTHING
        for h in range(i + 1):
            top = max(top, task.arcs[own + h])
        for c in range(sides.shape[0]):
            score = task.scores[first + i, c]
            likely[c] = score if sides[c] == 0 else score + later[i] if sides[c] == 1 else score + top
        for q in range(automaton.finals.shape[0]):
            top = NOTHING
            for t in range(automaton.begins[q], automaton.begins[q + 1]):
                score = (
                    likely[automaton.labels[t]]
                    + task.root_scores[first + i, automaton.roots[t]]
                    + after[i + 1, automaton.targets[t]]
                )
                top = max(top, score)
            after[i, q] = top


def _extend(
    automaton: Transitions, task: BeamSearch, work: Beam, s: int, n: int, i: int, layer: int, count: int
) -> int:
    """Extend each of the `count` partial paths in `layer` by each transition; return the number of candidates.

    The paths end before word i, from 0, of the `n` words of sentence s.
    """
    row = n + 1
    base = task.starts[s]
    own = base + i * row
    w = task.offsets[s] + i
    candidates = 0
    for b in range(count):
        q = work.states[b]
        for t in range(automaton.begins[q], automaton.begins[q + 1]):
            upper_bound = work.after[i + 1, automaton.targets[t]]
            score = work.values[b] + task.scores[w, automaton.labels[t]] + task.root_scores[w, automaton.roots[t]]
            if score + upper_bound == NOTHING:
                continue
            # add its arcs; an arc to an earlier word replaces the bound `later` of that word
            if automaton.marks[t, MARK_LEANS]:
                score += task.arcs[own + work.openers[layer, b, automaton.marks[t, MARK_LEANS]]]
            if automaton.marks[t, MARK_CLOSES_RIGHT]:
                score += task.arcs[own + work.openers[layer, b, automaton.marks[t, MARK_CLOSES_RIGHT]]]
            if automaton.marks[t, MARK_CLOSES_LEFT]:
                word = work.openers[layer, b, automaton.marks[t, MARK_CLOSES_LEFT]] - 1
                score += task.arcs[base + word * row + i + 1] - work.later[word]
            for c in range(MARK_CLOSES_LEFT, MARK_CLOSES_RIGHT + 1):
                if automaton.marks[t, c]:
                    link = work.waiting[layer, b, automaton.marks[t, c]]
                    while link >= 0:
                        word = link // work.width
                        score += task.arcs[base + word * row + i + 1] - work.later[word]
                        link = work.chain[link]
            if automaton.marks[t, MARK_OPENS_LEFT] or automaton.marks[t, MARK_WAITS]:
                score += work.later[i]  # the head of the word follows
            if score + upper_bound < task.lower_bounds[s]:
                continue
            work.upper_bounds[candidates] = score + upper_bound
            work.candidate_scores[candidates] = score
            work.sources[candidates] = b
            work.transitions[candidates] = t
            candidates += 1
    return candidates


def _read(automaton: Transitions, work: Beam, t: int, i: int, source: int, layer: int, kept: int) -> None:
    """Copy the stack of partial path `source` to path `kept` of the other layer, and read word i with transition t.

    Closed brackets are taken off, and opened ones pushed.
    """
    other = 1 - layer
    for p in range(work.openers.shape[2]):
        work.openers[other, kept, p] = work.openers[layer, source, p]
        work.waiting[other, kept, p] = work.waiting[layer, source, p]
    for x in range(MARK_CLOSES_LEFT, MARK_CLOSES_RIGHT + 1):
        if automaton.marks[t, x]:
            work.openers[other, kept, automaton.marks[t, x]] = 0
            work.waiting[other, kept, automaton.marks[t, x]] = -1
    for x in range(MARK_OPENS_LEFT, MARK_OPENS_RIGHT + 1):
        if automaton.marks[t, x]:
            work.openers[other, kept, automaton.marks[t, x]] = i + 1
            work.waiting[other, kept, automaton.marks[t, x]] = -1
    if automaton.marks[t, MARK_WAITS]:
        link = i * work.width + kept
        work.chain[link] = work.waiting[other, kept, automaton.marks[t, MARK_WAITS]]
        work.waiting[other, kept, automaton.marks[t, MARK_WAITS]] = link


def _is_new(automaton: Transitions, work: Beam, t: int, i: int, layer: int, kept: int) -> int:
    """Return whether no path before path `kept` of `layer` has its state and stack; write its hash code.

    Transition t was the last one of path `kept`, at word i.
    """
    code = automaton.targets[t]
    for p in range(work.openers.shape[2]):
        link = work.waiting[layer, kept, p]
        word = link // work.width if link >= 0 else -1
        code = (code * 31 + work.openers[layer, kept, p] * 7 + word) & CODES
    work.codes[kept] = code
    for x in range(kept):
        if work.codes[x] != code or automaton.targets[work.taken[i + 1, x]] != automaton.targets[t]:
            continue
        same = 1
        for p in range(work.openers.shape[2]):
            if work.openers[layer, x, p] != work.openers[layer, kept, p]:
                same = 0
                break
            link = work.waiting[layer, x, p]
            word = work.waiting[layer, kept, p]
            while link != word and link >= 0 and word >= 0 and link // work.width == word // work.width:
                link = work.chain[link]
                word = work.chain[word]
            if link != word:
                same = 0
                break
        if same:
            return 0
    return 1


def heapify(heap: Ints, keys: Floats, size: int) -> None:
    """Write into `heap` the indices 0 to `size` - 1 as a heap ordered by `keys`, the highest key first."""
    for x in range(size):
        heap[x] = x
    for m in range(size // 2):
        sink(heap, keys, size // 2 - 1 - m, size)


def sink(heap: Ints, keys: Floats, at: int, size: int) -> None:
    """Move the entry at index `at` of a heap down until no entry below it has a higher key."""
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
