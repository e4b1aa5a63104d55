"""Best paths, sums over paths, and samples of paths through an automaton that reads one label per word.

Transition t leads from its source to `targets[t]` by label `labels[t]`; those of state q are `begins[q]:begins[q+1]`.
`roots[t]` is 1 if the word becomes the root. `scores[w, l]` is what label l gains at the w-th word of all, and
`ties[w, 0]` or `ties[w, 1]` what the word gains by not being or being the root. All paths begin in state 0, and from
state q at least `distances[q]` more words lead to an end.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

Ints = Any  # a buffer of numbers, of one or more dimensions
Floats = Any  # likewise

NOTHING = float("-inf")
NEGLIGIBLE = 1e-14


def viterbi(
    scores: Floats,
    ties: Floats,
    offsets: Ints,
    begins: Ints,
    labels: Ints,
    targets: Ints,
    roots: Ints,
    finals: Ints,
    distances: Ints,
    best: Ints,
    totals: Floats,
    now: Floats,
    soon: Floats,
    gains: Floats,
    back: Ints,
) -> None:
    """Write the labels of the best path of each sentence into `best`, and its score into `totals`: -inf if none.

    `back[i, q]` is the transition by which word i best reaches state q; `now` and `soon` hold a number per state, and
    `gains` what each label gains at the word at hand, first for other words and then for the root.
    """
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
    weights: Floats,
    ties: Floats,
    n: int,
    begins: Ints,
    labels: Ints,
    targets: Ints,
    roots: Ints,
    finals: Ints,
    distances: Ints,
    alpha: Floats,
    scales: Floats,
) -> float:
    """Sum over the paths of one sentence, in probabilities that are rescaled word by word.

    `weights` and `ties` are given as factors. `alpha[i, q]` becomes the share of state q before word i, `scales[i]`
    what was divided out at word i. Returns the share of paths that end well: 0 if there is none.
    """
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
    weights: Floats,
    ties: Floats,
    n: int,
    begins: Ints,
    labels: Ints,
    targets: Ints,
    roots: Ints,
    finals: Ints,
    scales: Floats,
    alpha: Floats,
    beta: Floats,
) -> None:
    """Sum over the rests of paths, rescaled as `forward` was: `beta[i, q]` is that from state q before word i on.

    What no path reaches is left at 0.
    """
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
    weights: Floats,
    ties: Floats,
    offsets: Ints,
    begins: Ints,
    labels: Ints,
    targets: Ints,
    roots: Ints,
    finals: Ints,
    distances: Ints,
    shares: Floats,
    scales: Floats,
    marginals: Floats,
    rooted: Floats,
    alpha: Floats,
    beta: Floats,
) -> None:
    """Write the probability of each label at each word, and of each word being the root, over all paths.

    `shares[s]` becomes the share of sentence s that ends well, 0 if the sum vanished and nothing else was written; the
    logarithm of the whole sum is that of `shares[s]` plus those of its `scales`.
    """
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            n = offsets[s + 1] - start
            share = forward(
                weights[start : start + n],
                ties[start : start + n],
                n,
                begins,
                labels,
                targets,
                roots,
                finals,
                distances,
                alpha,
                scales[start : start + n],
            )
            shares[s] = share
            if share == 0.0:
                continue
            backward(
                weights[start : start + n],
                ties[start : start + n],
                n,
                begins,
                labels,
                targets,
                roots,
                finals,
                scales[start : start + n],
                alpha,
                beta,
            )
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
    weights: Floats,
    ties: Floats,
    n: int,
    begins: Ints,
    labels: Ints,
    targets: Ints,
    roots: Ints,
    finals: Ints,
    distances: Ints,
    scales: Floats,
    alpha: Floats,
    beta: Floats,
    dice: Floats,
    out: Ints,
) -> int:
    """Draw label sequences of one sentence by their probability, one per row of `dice`; 0 if there is none."""
    with cython.nogil:
        drawn = 0
        if forward(weights, ties, n, begins, labels, targets, roots, finals, distances, alpha, scales) > 0.0:
            backward(weights, ties, n, begins, labels, targets, roots, finals, scales, alpha, beta)
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
    scores: Floats,
    ties: Floats,
    n: int,
    k: int,
    begins: Ints,
    labels: Ints,
    targets: Ints,
    roots: Ints,
    finals: Ints,
    out: Ints,
    totals: Floats,
    value: Floats,
    via: Ints,
    rank: Ints,
    sources: Ints,
) -> int:
    """Write the k best label sequences of one sentence, the best first; return how many there are.

    `value[i, q, j]` is the score of the j-th best way to state q before word i, `via` the transition and `rank` the
    place among the ways to its source by which it comes. `sources[t]` is the source of transition t.
    """
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
    weights: Floats,
    ties: Floats,
    n: int,
    begins: Ints,
    labels: Ints,
    targets: Ints,
    roots: Ints,
    finals: Ints,
    distances: Ints,
    marks: Ints,
    heights: int,
    reach: Ints,
    heads: Ints,
    chosen: Floats,
    matrix: Floats,
    scales: Floats,
    alpha: Floats,
    beta: Floats,
    track: Floats,
    ahead: Floats,
    alive: Ints,
    living: Ints,
) -> int:
    """Write the probability of arcs of one sentence over all paths; return 0 if there is none.

    A bracket is told from others by its height on the stack, which does not change as long as it is there. `marks[t]`
    holds the heights that a transition concerns, 0 for none: of the left and the right superbracket that it opens, of
    the bracket under which its opening semibracket waits and on which its closing one leans, and of the left and the
    right superbracket that it closes. `track[c, p, q]` is the weight of having in state q, at height p, the bracket
    that the word at hand opened to the left (c = 0), to the right (1), or under which it waits (2). Word i, from 0, is
    followed as far as word `reach[i]`. If `matrix` has rows, all arcs between words go there, row the head, column the
    dependent; otherwise `chosen[i]` becomes the probability of the arc from `heads[i]` to word i, both from 1, if it
    is no root.
    `alive[i]` lists the `living[i]` states that paths of any weight have before word i: the others would change nothing
    in the first twelve places.
    """
    with cython.nogil:
        states = finals.shape[0]
        share = forward(weights, ties, n, begins, labels, targets, roots, finals, distances, alpha, scales)
        if share > 0.0:
            backward(weights, ties, n, begins, labels, targets, roots, finals, scales, alpha, beta)
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
