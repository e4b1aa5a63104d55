"""Best paths, sums over paths, and samples of paths through an automaton that reads one label per word.

`scores[w, l]` is what label l gains at the w-th word of all, and `ties[w, 0]` or `ties[w, 1]` what the word gains by
not being or being the root. All paths begin in state 0. Each search works in a workspace of its own kind, made for the
longest sentence; what it finds goes into the buffers given beside it.
"""

from __future__ import annotations

from typing import Any

from ropewalk.kernels import new_floats, new_ints

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

Ints = Any  # a buffer of numbers, of one or more dimensions
Floats = Any  # likewise

NOTHING = float("-inf")
NEGLIGIBLE = 1e-14


class Transitions:
    """An automaton.

    Transition t leads from `sources[t]` to `targets[t]` by label `labels[t]`; those of state q are
    `begins[q]:begins[q+1]`. `roots[t]` is 1 if the word becomes the root. `marks[t]` holds the heights of brackets on
    the stack that a transition concerns, 0 for none: of the left and the right superbracket that it opens, of the
    bracket under which its opening semibracket waits and on which its closing one leans, and of the left and the right
    superbracket that it closes; none is above `heights`. From state q at least `distances[q]` more words lead to an
    end, and paths end where `finals[q]` is 1.
    """

    def __init__(
        self,
        *,
        begins: Ints,
        labels: Ints,
        sources: Ints,
        targets: Ints,
        roots: Ints,
        marks: Ints,
        finals: Ints,
        distances: Ints,
        heights: int,
    ) -> None:
        self.begins = begins
        self.labels = labels
        self.sources = sources
        self.targets = targets
        self.roots = roots
        self.marks = marks
        self.finals = finals
        self.distances = distances
        self.heights = heights


class BestPath:
    """A workspace of `viterbi`.

    `back[i, q]` is the transition by which word i best reaches state q; `now` and `soon` hold a number per state, and
    `gains` what each label gains at the word at hand, first for other words and then for the root.
    """

    def __init__(self, longest: int, states: int, labels: int) -> None:
        self.now = new_floats(states)
        self.soon = new_floats(states)
        self.gains = new_floats(2 * labels)
        self.back = new_ints(longest, states)


class ForwardBackward:
    """A workspace of sums over paths, `alpha` and `beta`, both by word and state."""

    def __init__(self, longest: int, states: int) -> None:
        self.alpha = new_floats(longest + 1, states)
        self.beta = new_floats(longest + 1, states)


class BestPaths:
    """A workspace of `k_best`.

    `value[i, q, j]` is the score of the j-th best way to state q before word i, `via` the transition and `rank` the
    place among the ways to its source by which it comes.
    """

    def __init__(self, words: int, states: int, k: int) -> None:
        self.value = new_floats(words + 1, states, k)
        self.via = new_ints(words + 1, states, k)
        self.rank = new_ints(words + 1, states, k)


class Tracks:
    """A workspace of `arcs`.

    `track[c, p, q]` is the weight of having in state q, at height p, the bracket that the word at hand opened to the
    left (c = 0), to the right (1), or under which it waits (2). `alive[i]` lists the `living[i]` states that paths of
    any weight have before word i: the others would change nothing in the first twelve places.
    """

    def __init__(self, words: int, states: int, heights: int) -> None:
        self.track = new_floats(3, heights + 1, states)
        self.ahead = new_floats(3, heights + 1, states)
        self.alive = new_ints(words + 1, states)
        self.living = new_ints(words + 1)


def viterbi(
    automaton: Transitions,
    scores: Floats,
    ties: Floats,
    offsets: Ints,
    work: BestPath,
    best: Ints,
    totals: Floats,
) -> None:
    """Write the labels of the best path of each sentence into `best`, and its score into `totals`: -inf if none."""
    begins = automaton.begins
    labels = automaton.labels
    targets = automaton.targets
    roots = automaton.roots
    finals = automaton.finals
    distances = automaton.distances
    now = work.now
    soon = work.soon
    gains = work.gains
    back = work.back
    with cython.nogil:
        states = finals.shape[0]
        many = scores.shape[1]
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            for q in range(states):
                now[q] = NOTHING
            now[0] = 0.0
            for i in range(n):
                w = start + i
                for label in range(many):
                    gains[label] = scores[w, label] + ties[w, 0]
                    gains[many + label] = scores[w, label] + ties[w, 1]
                for q in range(states):
                    soon[q] = NOTHING
                for q in range(states):
                    value = now[q]
                    if value == NOTHING or distances[q] > n - i:
                        continue
                    for t in range(begins[q], begins[q + 1]):
                        gain = value + gains[many * roots[t] + labels[t]]
                        target = targets[t]
                        if gain > soon[target]:
                            soon[target] = gain
                            back[i, target] = t
                for q in range(states):
                    now[q] = soon[q]
            total = NOTHING
            end = 0
            for q in range(states):
                if finals[q] and now[q] > total:
                    total = now[q]
                    end = q
            totals[s] = total
            if total == NOTHING:
                continue
            for j in range(n):
                i = n - 1 - j
                t = back[i, end]
                best[start + i] = labels[t]
                low = 0  # the source of a transition is the last state whose transitions begin at or before it
                high = states
                while high - low > 1:
                    middle = (low + high) // 2
                    if begins[middle] <= t:
                        low = middle
                    else:
                        high = middle
                end = low


def forward(
    automaton: Transitions,
    weights: Floats,
    ties: Floats,
    n: int,
    work: ForwardBackward,
    scales: Floats,
) -> float:
    """Sum over the paths of one sentence, in probabilities that are rescaled word by word.

    `weights` and `ties` are given as factors. `alpha[i, q]` becomes the share of state q before word i, `scales[i]`
    what was divided out at word i. Returns the share of paths that end well: 0 if there is none.
    """
    begins = automaton.begins
    labels = automaton.labels
    targets = automaton.targets
    roots = automaton.roots
    finals = automaton.finals
    distances = automaton.distances
    alpha = work.alpha
    states = finals.shape[0]
    for q in range(states):
        alpha[0, q] = 0.0
    alpha[0, 0] = 1.0
    for i in range(n):
        for q in range(states):
            alpha[i + 1, q] = 0.0
        for q in range(states):
            value = alpha[i, q]
            if value == 0.0:
                continue
            if distances[q] > n - i:
                alpha[i, q] = 0.0
                continue
            for t in range(begins[q], begins[q + 1]):
                alpha[i + 1, targets[t]] += value * weights[i, labels[t]] * ties[i, roots[t]]
        total = 0.0
        for q in range(states):
            total += alpha[i + 1, q]
        scales[i] = total
        if not total > 0.0:
            return 0.0
        for q in range(states):
            alpha[i + 1, q] /= total
    ends = 0.0
    for q in range(states):
        if finals[q]:
            ends += alpha[n, q]
    return ends


def backward(
    automaton: Transitions,
    weights: Floats,
    ties: Floats,
    n: int,
    work: ForwardBackward,
    scales: Floats,
) -> None:
    """Sum over the rests of paths, rescaled as `forward` was: `beta[i, q]` is that from state q before word i on.

    What no path reaches is left at 0.
    """
    begins = automaton.begins
    labels = automaton.labels
    targets = automaton.targets
    roots = automaton.roots
    finals = automaton.finals
    alpha = work.alpha
    beta = work.beta
    states = finals.shape[0]
    for q in range(states):
        beta[n, q] = finals[q]
    for j in range(n):
        i = n - 1 - j
        for q in range(states):
            value = 0.0
            if alpha[i, q] > 0.0:
                for t in range(begins[q], begins[q + 1]):
                    value += weights[i, labels[t]] * ties[i, roots[t]] * beta[i + 1, targets[t]]
            beta[i, q] = value / scales[i]


def sums(
    automaton: Transitions,
    weights: Floats,
    ties: Floats,
    offsets: Ints,
    work: ForwardBackward,
    shares: Floats,
    scales: Floats,
    marginals: Floats,
    rooted: Floats,
) -> None:
    """Write the probability of each label at each word, and of each word being the root, over all paths.

    `shares[s]` becomes the share of sentence s that ends well, 0 if the sum vanished and nothing else was written; the
    logarithm of the whole sum is that of `shares[s]` plus those of its `scales`.
    """
    begins = automaton.begins
    labels = automaton.labels
    targets = automaton.targets
    roots = automaton.roots
    finals = automaton.finals
    alpha = work.alpha
    beta = work.beta
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            end = start + n
            share = forward(automaton, weights[start:end], ties[start:end], n, work, scales[start:end])
            shares[s] = share
            if share == 0.0:
                continue
            for i in range(n):
                if scales[start + i] * share == 0.0:
                    shares[s] = 0.0  # too small to divide by: as if there were none, it is looked at once more
            if shares[s] == 0.0:
                continue
            backward(automaton, weights[start:end], ties[start:end], n, work, scales[start:end])
            for i in range(n):
                w = start + i
                factor = 1.0 / (scales[w] * share)
                for q in range(finals.shape[0]):
                    value = alpha[i, q] * factor
                    if value == 0.0:
                        continue
                    for t in range(begins[q], begins[q + 1]):
                        part = value * weights[w, labels[t]] * ties[w, roots[t]] * beta[i + 1, targets[t]]
                        marginals[w, labels[t]] += part
                        if roots[t]:
                            rooted[w] += part


def draw(
    automaton: Transitions,
    weights: Floats,
    ties: Floats,
    n: int,
    work: ForwardBackward,
    scales: Floats,
    dice: Floats,
    out: Ints,
) -> int:
    """Draw label sequences of one sentence by their probability, one per row of `dice`; 0 if there is none."""
    begins = automaton.begins
    labels = automaton.labels
    targets = automaton.targets
    roots = automaton.roots
    beta = work.beta
    with cython.nogil:
        drawn = 0
        if forward(automaton, weights, ties, n, work, scales) > 0.0:
            backward(automaton, weights, ties, n, work, scales)
            drawn = 1
            for r in range(dice.shape[0]):
                q = 0
                for i in range(n):
                    left = dice[r, i] * beta[i, q] * scales[i]
                    chosen = -1
                    for t in range(begins[q], begins[q + 1]):
                        part = weights[i, labels[t]] * ties[i, roots[t]] * beta[i + 1, targets[t]]
                        if part > 0.0:
                            chosen = t
                            left -= part
                            if left < 0.0:
                                break
                    out[r, i] = labels[chosen]
                    q = targets[chosen]
    return drawn


def k_best(
    automaton: Transitions,
    scores: Floats,
    ties: Floats,
    n: int,
    k: int,
    work: BestPaths,
    out: Ints,
    totals: Floats,
) -> int:
    """Write the k best label sequences of one sentence, the best first; return how many there are."""
    begins = automaton.begins
    labels = automaton.labels
    targets = automaton.targets
    roots = automaton.roots
    finals = automaton.finals
    sources = automaton.sources
    value = work.value
    via = work.via
    rank = work.rank
    with cython.nogil:
        states = finals.shape[0]
        for i in range(n + 1):
            for q in range(states):
                for j in range(k):
                    value[i, q, j] = NOTHING
        value[0, 0, 0] = 0.0
        for i in range(n):
            for q in range(states):
                for j in range(k):
                    have = value[i, q, j]
                    if have == NOTHING:
                        break
                    for t in range(begins[q], begins[q + 1]):
                        gain = have + scores[i, labels[t]] + ties[i, roots[t]]
                        target = targets[t]
                        if not gain > value[i + 1, target, k - 1]:
                            continue
                        place = k - 1
                        while place > 0 and gain > value[i + 1, target, place - 1]:
                            value[i + 1, target, place] = value[i + 1, target, place - 1]
                            via[i + 1, target, place] = via[i + 1, target, place - 1]
                            rank[i + 1, target, place] = rank[i + 1, target, place - 1]
                            place -= 1
                        value[i + 1, target, place] = gain
                        via[i + 1, target, place] = t
                        rank[i + 1, target, place] = j
        found = 0
        while found < k:
            total = NOTHING
            q = -1
            j = 0
            for p in range(states):
                if finals[p]:
                    for m in range(k):
                        if value[n, p, m] > total:
                            total = value[n, p, m]
                            q = p
                            j = m
                            break
            if q < 0:
                break
            totals[found] = total
            value[n, q, j] = NOTHING
            for m in range(j, k - 1):  # what was worse moves up
                value[n, q, m] = value[n, q, m + 1]
            end = q
            place = j
            for m in range(n):
                i = n - m
                t = via[i, end, place]
                out[found, i - 1] = labels[t]
                place = rank[i, end, place]
                end = sources[t]
            for m in range(j, k - 1):
                via[n, q, m] = via[n, q, m + 1]
                rank[n, q, m] = rank[n, q, m + 1]
            value[n, q, k - 1] = NOTHING
            found += 1
    return found


def arcs(
    automaton: Transitions,
    weights: Floats,
    ties: Floats,
    n: int,
    reach: Ints,
    heads: Ints,
    sums_work: ForwardBackward,
    work: Tracks,
    scales: Floats,
    chosen: Floats,
    matrix: Floats,
) -> int:
    """Write the probability of arcs of one sentence over all paths; return 0 if there is none.

    A bracket is told from others by its height on the stack, which does not change as long as it is there. Word i,
    from 0, is followed as far as word `reach[i]`. If `matrix` has rows, all arcs between words go there, row the head,
    column the dependent; otherwise `chosen[i]` becomes the probability of the arc from `heads[i]` to word i, both from
    1, if it is no root.
    """
    begins = automaton.begins
    labels = automaton.labels
    targets = automaton.targets
    roots = automaton.roots
    finals = automaton.finals
    marks = automaton.marks
    heights = automaton.heights
    alpha = sums_work.alpha
    beta = sums_work.beta
    track = work.track
    ahead = work.ahead
    alive = work.alive
    living = work.living
    with cython.nogil:
        states = finals.shape[0]
        share = forward(automaton, weights, ties, n, sums_work, scales)
        if share > 0.0:
            backward(automaton, weights, ties, n, sums_work, scales)
            for i in range(n + 1):
                count = 0
                for q in range(states):
                    if alpha[i, q] * beta[i, q] > share * NEGLIGIBLE:
                        alive[i, count] = q
                        count += 1
                        for c in range(3):
                            for p in range(heights + 1):
                                track[c, p, q] = 0.0
                                ahead[c, p, q] = 0.0
                    else:
                        beta[i, q] = 0.0
                living[i] = count
            for i in range(n):
                if reach[i] <= i:
                    continue
                for a in range(living[i]):
                    q = alive[i, a]
                    for t in range(begins[q], begins[q + 1]):
                        if beta[i + 1, targets[t]] > 0.0:
                            part = alpha[i, q] * weights[i, labels[t]] * ties[i, roots[t]] / scales[i]
                            for c in range(3):
                                track[c, marks[t, c], targets[t]] += part
                for j in range(i + 1, reach[i] + 1):
                    right = 0.0
                    left = 0.0
                    for a in range(living[j]):
                        q = alive[j, a]
                        for c in range(3):
                            track[c, 0, q] = 0.0
                            for p in range(1, heights + 1):
                                value = track[c, p, q] / scales[j]
                                track[c, p, q] = 0.0
                                if value == 0.0:
                                    continue
                                for t in range(begins[q], begins[q + 1]):
                                    if beta[j + 1, targets[t]] == 0.0:
                                        continue
                                    part = value * weights[j, labels[t]] * ties[j, roots[t]]
                                    closed = 1
                                    if marks[t, 4] != p and marks[t, 5] != p:
                                        closed = 0
                                        ahead[c, p, targets[t]] += part
                                    part = part * beta[j + 1, targets[t]]
                                    if c == 0:
                                        if marks[t, 3] == p:
                                            right += part
                                        if marks[t, 4] == p:
                                            left += part
                                    elif c == 1:
                                        if marks[t, 3] == p or marks[t, 5] == p:
                                            right += part
                                    elif closed:
                                        left += part
                    if matrix.shape[0] > 0:
                        matrix[i, j] = right / share
                        matrix[j, i] = left / share
                    else:
                        if heads[j] == i + 1:
                            chosen[j] = right / share
                        if heads[i] == j + 1:
                            chosen[i] = left / share
                    for a in range(living[j + 1]):
                        q = alive[j + 1, a]
                        for c in range(3):
                            for p in range(1, heights + 1):
                                track[c, p, q] = ahead[c, p, q]
                                ahead[c, p, q] = 0.0
                for a in range(living[reach[i] + 1]):
                    q = alive[reach[i] + 1, a]
                    for c in range(3):
                        for p in range(1, heights + 1):
                            track[c, p, q] = 0.0
    return share > 0.0
