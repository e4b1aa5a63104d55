"""Best paths, sums over paths, and samples of paths through an automaton that reads one label per word.

`scores[w, l]` is the score of label l at word w, where w counts words over all sentences. `root_scores[w, 0]` is the
word's score for not being the root, and `root_scores[w, 1]` for being it. All paths begin in state 0. Each function has
its own class of workspace, allocated for the longest sentence, and writes its results into further buffers.
"""

from __future__ import annotations

from dataclasses import dataclass

from ropewalk.kernels import Floats, Ints, new_floats, new_ints

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *


NOTHING = float("-inf")
NEGLIGIBLE = 1e-14


@dataclass(repr=False, eq=False)
class Transitions:
    """The states and transitions of an automaton, as buffers.

    Transition t leads from state `sources[t]` to `targets[t]` and reads label `labels[t]`. The transitions from state q
    are `begins[q]:begins[q+1]`. `roots[t]` is 1 if the word becomes the root. `marks[t]` holds the heights on the stack
    of the brackets that transition t opens, closes, waits under or leans on, 0 for none, in the columns MARK_… of
    `codes`. No height is above `heights`. Paths end in states with `finals[q]` 1. From state q, a path has at least
    `distances[q]` more words.
    """

    begins: Ints
    labels: Ints
    sources: Ints
    targets: Ints
    roots: Ints
    marks: Ints
    finals: Ints
    distances: Ints
    heights: int


class BestPath:
    """The workspace of `viterbi`.

    `back[i, q]` is a backpointer: the last transition of the best path to state q after word i. `now` and `soon` hold
    the best score of each state before and after the current word. `label_scores` holds the current word's label scores
    twice: plus its score for not being the root, and plus its score for being the root.
    """

    def __init__(self, longest: int, states: int, labels: int) -> None:
        self.now = new_floats(states)
        self.soon = new_floats(states)
        self.label_scores = new_floats(2 * labels)
        self.back = new_ints(longest, states)


class ForwardBackward:
    """The workspace of sums over paths: forward sums `alpha` and backward sums `beta`, each [word, state]."""

    def __init__(self, longest: int, states: int) -> None:
        self.alpha = new_floats(longest + 1, states)
        self.beta = new_floats(longest + 1, states)


class BestPaths:
    """The workspace of `k_best`.

    `value[i, q, j]` is the score of the j-th best path to state q before word i. Its backpointer is a transition,
    `via`, and the `rank` of the path that it extends among the best paths to the transition's source.
    """

    def __init__(self, words: int, states: int, k: int) -> None:
        self.value = new_floats(words + 1, states, k)
        self.via = new_ints(words + 1, states, k)
        self.rank = new_ints(words + 1, states, k)


class Tracks:
    """The workspace of `arcs`.

    `track[c, p, q]` is the weight of the paths in state q on which the bracket at height p is a bracket of the current
    word: one that it opened to the left (c = 0) or to the right (c = 1), or one under which it waits (c = 2).
    `alive[i]` lists the states that paths of more than negligible weight have before word i, and `living[i]` is their
    number. The other states change no probability in its first twelve digits.
    """

    def __init__(self, words: int, states: int, heights: int) -> None:
        self.track = new_floats(3, heights + 1, states)
        self.ahead = new_floats(3, heights + 1, states)
        self.alive = new_ints(words + 1, states)
        self.living = new_ints(words + 1)


def viterbi(
    automaton: Transitions,
    scores: Floats,
    root_scores: Floats,
    offsets: Ints,
    work: BestPath,
    best: Ints,
    totals: Floats,
) -> None:
    """Write the labels of each sentence's best path into `best`, and its score, -inf without a path, into `totals`."""
    now = work.now
    soon = work.soon
    label_scores = work.label_scores
    back = work.back
    with cython.nogil:
        states = automaton.finals.shape[0]
        many = scores.shape[1]
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            # initialize: every path begins in state 0
            for q in range(states):
                now[q] = NOTHING
            now[0] = 0.0
            for i in range(n):
                w = start + i
                for label in range(many):
                    label_scores[label] = scores[w, label] + root_scores[w, 0]
                    label_scores[many + label] = scores[w, label] + root_scores[w, 1]
                for q in range(states):
                    soon[q] = NOTHING
                # extend the best path to each state by each transition
                for q in range(states):
                    value = now[q]
                    if value == NOTHING or automaton.distances[q] > n - i:
                        continue  # no path reaches q, or too few words are left to end from it
                    for t in range(automaton.begins[q], automaton.begins[q + 1]):
                        score = value + label_scores[many * automaton.roots[t] + automaton.labels[t]]
                        target = automaton.targets[t]
                        if score > soon[target]:
                            soon[target] = score
                            back[i, target] = t
                for q in range(states):
                    now[q] = soon[q]
            # choose the best final state
            total = NOTHING
            end = 0
            for q in range(states):
                if automaton.finals[q] and now[q] > total:
                    total = now[q]
                    end = q
            totals[s] = total
            if total == NOTHING:
                continue
            # follow the backpointers; binary search finds a transition's source
            for j in range(n):
                i = n - 1 - j
                t = back[i, end]
                best[start + i] = automaton.labels[t]
                low = 0  # the source is the last state whose transitions begin at or before t
                high = states
                while high - low > 1:
                    middle = (low + high) // 2
                    if automaton.begins[middle] <= t:
                        low = middle
                    else:
                        high = middle
                end = low


def forward(
    automaton: Transitions,
    weights: Floats,
    root_scores: Floats,
    n: int,
    work: ForwardBackward,
    scales: Floats,
) -> float:
    """Compute the forward sums of one sentence of `n` words, rescaled after each word.

    `weights` and `root_scores` are factors, not logarithms. `work.alpha[i, q]` becomes the probability mass of state q
    before word i, and `scales[i]` the factor by which it was divided at word i. Return the mass of the paths that end
    in a final state, 0 if there are none.
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
                alpha[i + 1, targets[t]] += value * weights[i, labels[t]] * root_scores[i, roots[t]]
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
    root_scores: Floats,
    n: int,
    work: ForwardBackward,
    scales: Floats,
) -> None:
    """Compute the backward sums of one sentence of `n` words, rescaled with the `scales` of `forward`.

    `work.beta[i, q]` becomes the mass of the paths from state q before word i to the end. It is 0 for states that no
    path reaches.
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
                    value += weights[i, labels[t]] * root_scores[i, roots[t]] * beta[i + 1, targets[t]]
            beta[i, q] = value / scales[i]


def sums(
    automaton: Transitions,
    weights: Floats,
    root_scores: Floats,
    offsets: Ints,
    work: ForwardBackward,
    accepted: Floats,
    scales: Floats,
    marginals: Floats,
    rooted: Floats,
) -> None:
    """Write the marginal probability of each label at each word, and of each word being the root, over all paths.

    `accepted[s]` becomes the mass of the paths of sentence s that end in a final state. It is 0 if the sum vanished;
    then no marginals are written. The log-sum of sentence s is the logarithm of `accepted[s]` plus the logarithms of
    `scales` for its words.
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
            mass = forward(automaton, weights[start:end], root_scores[start:end], n, work, scales[start:end])
            accepted[s] = mass
            if mass == 0.0:
                continue
            for i in range(n):
                if scales[start + i] * mass == 0.0:
                    accepted[s] = 0.0  # too small to divide by: the caller sums again with relative weights
            if accepted[s] == 0.0:
                continue
            backward(automaton, weights[start:end], root_scores[start:end], n, work, scales[start:end])
            for i in range(n):
                w = start + i
                factor = 1.0 / (scales[w] * mass)
                for q in range(finals.shape[0]):
                    value = alpha[i, q] * factor
                    if value == 0.0:
                        continue
                    for t in range(begins[q], begins[q + 1]):
                        part = value * weights[w, labels[t]] * root_scores[w, roots[t]] * beta[i + 1, targets[t]]
                        marginals[w, labels[t]] += part
                        if roots[t]:
                            rooted[w] += part


def draw(
    automaton: Transitions,
    weights: Floats,
    root_scores: Floats,
    n: int,
    work: ForwardBackward,
    scales: Floats,
    dice: Floats,
    out: Ints,
) -> int:
    """Sample a label sequence of one sentence for each row of random numbers in `dice`; return 0 without a path."""
    beta = work.beta
    with cython.nogil:
        drawn = 0
        if forward(automaton, weights, root_scores, n, work, scales) > 0.0:
            backward(automaton, weights, root_scores, n, work, scales)
            drawn = 1
            for r in range(dice.shape[0]):
                q = 0
                for i in range(n):
                    # choose a transition in proportion to its weight times the backward sum of its target
                    left = dice[r, i] * beta[i, q] * scales[i]
                    chosen = -1
                    for t in range(automaton.begins[q], automaton.begins[q + 1]):
                        part = weights[i, automaton.labels[t]] * root_scores[i, automaton.roots[t]]
                        part *= beta[i + 1, automaton.targets[t]]
                        if part > 0.0:
                            chosen = t
                            left -= part
                            if left < 0.0:
                                break
                    out[r, i] = automaton.labels[chosen]
                    q = automaton.targets[chosen]
    return drawn


def k_best(
    automaton: Transitions,
    scores: Floats,
    root_scores: Floats,
    n: int,
    k: int,
    work: BestPaths,
    out: Ints,
    totals: Floats,
) -> int:
    """Write the `k` best label sequences of one sentence, the best first; return the number of sequences found."""
    value = work.value
    via = work.via
    rank = work.rank
    with cython.nogil:
        states = automaton.finals.shape[0]
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
                    for t in range(automaton.begins[q], automaton.begins[q + 1]):
                        score = have + scores[i, automaton.labels[t]] + root_scores[i, automaton.roots[t]]
                        target = automaton.targets[t]
                        if not score > value[i + 1, target, k - 1]:
                            continue
                        place = k - 1  # insert into the sorted list of the target's best paths
                        while place > 0 and score > value[i + 1, target, place - 1]:
                            value[i + 1, target, place] = value[i + 1, target, place - 1]
                            via[i + 1, target, place] = via[i + 1, target, place - 1]
                            rank[i + 1, target, place] = rank[i + 1, target, place - 1]
                            place -= 1
                        value[i + 1, target, place] = score
                        via[i + 1, target, place] = t
                        rank[i + 1, target, place] = j
        # pick the best path that ends in a final state, k times
        count = 0
        while count < k:
            total = NOTHING
            q = -1
            j = 0
            for p in range(states):
                if automaton.finals[p]:
                    for m in range(k):
                        if value[n, p, m] > total:
                            total = value[n, p, m]
                            q = p
                            j = m
                            break
            if q < 0:
                break
            totals[count] = total
            value[n, q, j] = NOTHING
            for m in range(j, k - 1):  # move worse paths up
                value[n, q, m] = value[n, q, m + 1]
            end = q
            place = j
            for m in range(n):
                i = n - m
                t = via[i, end, place]
                out[count, i - 1] = automaton.labels[t]
                place = rank[i, end, place]
                end = automaton.sources[t]
            for m in range(j, k - 1):
                via[n, q, m] = via[n, q, m + 1]
                rank[n, q, m] = rank[n, q, m + 1]
            value[n, q, k - 1] = NOTHING
            count += 1
    return count


def arcs(
    automaton: Transitions,
    weights: Floats,
    root_scores: Floats,
    n: int,
    reach: Ints,
    heads: Ints,
    sums_work: ForwardBackward,
    work: Tracks,
    scales: Floats,
    chosen: Floats,
    matrix: Floats,
) -> int:
    """Write the probabilities of arcs of one sentence over all paths; return 0 if there is no path.

    The height of a bracket on the stack does not change while the bracket is open, so that state and height identify
    it. The brackets of word i, from 0, are followed up to word `reach[i]`.

    If `matrix` has rows, it gets the probability of every arc between words, as [head, dependent]. Otherwise
    `chosen[i]` becomes the probability of the arc from `heads[i]`, counted from 1, to word i. Words with head 0 are
    left out.
    """
    marks = automaton.marks
    alpha = sums_work.alpha
    beta = sums_work.beta
    track = work.track
    ahead = work.ahead
    with cython.nogil:
        states = automaton.finals.shape[0]
        mass = forward(automaton, weights, root_scores, n, sums_work, scales)
        if mass > 0.0:
            backward(automaton, weights, root_scores, n, sums_work, scales)
            # list the states that matter before each word
            for i in range(n + 1):
                count = 0
                for q in range(states):
                    if alpha[i, q] * beta[i, q] > mass * NEGLIGIBLE:
                        work.alive[i, count] = q
                        count += 1
                        for c in range(3):
                            for p in range(automaton.heights + 1):
                                track[c, p, q] = 0.0
                                ahead[c, p, q] = 0.0
                    else:
                        beta[i, q] = 0.0
                work.living[i] = count
            for i in range(n):
                if reach[i] <= i:
                    continue
                # start to track the brackets that word i opens or waits under
                for a in range(work.living[i]):
                    q = work.alive[i, a]
                    for t in range(automaton.begins[q], automaton.begins[q + 1]):
                        target = automaton.targets[t]
                        if beta[i + 1, target] > 0.0:
                            part = alpha[i, q] * weights[i, automaton.labels[t]]
                            part = part * root_scores[i, automaton.roots[t]] / scales[i]
                            for c in range(3):  # MARK_OPENS_LEFT, MARK_OPENS_RIGHT, MARK_WAITS
                                track[c, automaton.marks[t, c], target] += part
                # follow them through each later word j: sum over paths with an arc i -> j (right) or j -> i (left)
                for j in range(i + 1, reach[i] + 1):
                    right = 0.0
                    left = 0.0
                    for a in range(work.living[j]):
                        q = work.alive[j, a]
                        for c in range(3):
                            track[c, 0, q] = 0.0
                            for p in range(1, automaton.heights + 1):
                                value = track[c, p, q] / scales[j]
                                track[c, p, q] = 0.0
                                if value == 0.0:
                                    continue
                                for t in range(automaton.begins[q], automaton.begins[q + 1]):
                                    target = automaton.targets[t]
                                    if beta[j + 1, target] == 0.0:
                                        continue
                                    part = value * weights[j, automaton.labels[t]] * root_scores[j, automaton.roots[t]]
                                    closed = 1
                                    if marks[t, MARK_CLOSES_LEFT] != p and marks[t, MARK_CLOSES_RIGHT] != p:
                                        closed = 0
                                        ahead[c, p, target] += part
                                    part = part * beta[j + 1, target]
                                    if c == MARK_OPENS_LEFT:
                                        if marks[t, MARK_LEANS] == p:
                                            right += part
                                        if marks[t, MARK_CLOSES_LEFT] == p:
                                            left += part
                                    elif c == MARK_OPENS_RIGHT:
                                        if marks[t, MARK_LEANS] == p or marks[t, MARK_CLOSES_RIGHT] == p:
                                            right += part
                                    elif closed:  # i waits under the bracket, so that j becomes its head
                                        left += part
                    if matrix.shape[0] > 0:
                        matrix[i, j] = right / mass
                        matrix[j, i] = left / mass
                    else:
                        if heads[j] == i + 1:
                            chosen[j] = right / mass
                        if heads[i] == j + 1:
                            chosen[i] = left / mass
                    for a in range(work.living[j + 1]):
                        q = work.alive[j + 1, a]
                        for c in range(3):
                            for p in range(1, automaton.heights + 1):
                                track[c, p, q] = ahead[c, p, q]
                                ahead[c, p, q] = 0.0
                for a in range(work.living[reach[i] + 1]):
                    q = work.alive[reach[i] + 1, a]
                    for c in range(3):
                        for p in range(1, automaton.heights + 1):
                            track[c, p, q] = 0.0
    return mass > 0.0
