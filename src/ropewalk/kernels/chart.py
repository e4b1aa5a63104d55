"""Sums over all projective trees with one root, by arc scores and by scores of the four-bit labels of words.

The chart is that of Eisner (1996). A half is a word with all its descendants on one side. An arc joins two halves that
meet. A half is open while the word may get further dependents on that side, and closed by the farthest one. When a
dependent is added to a half, all four bits of its label are known: the side of its head, whether its arc is structural,
and whether the arcs to its own farthest dependents on the left and on the right are structural.

In the 4-bit encoding the arc to the farthest dependent on either side is structural. With optimal brackets there is an
exception: below a structural arc into a word, on the side of its head, the word has no structural arc to a dependent. A
half in this position has no structural arc at all, and is like one that is still open.

Sums are plain sums of products. Each word has one arc and one label in every tree, so both scores are relative to the
word's best. All weights are then at most 1, and no sum is larger than the number of trees, which is less than 6.75 to
the power of n. If the sum over all trees is so small that products may underflow, `log_chart` computes the sentence
instead.
"""

from __future__ import annotations

from ropewalk.kernels import Floats, Ints, new_floats, several_floats

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if cython.compiled:
    from cython.cimports.libc.math import exp, log
else:
    from math import exp, log

    from ropewalk.kernels.codes import *

NOTHING = float("-inf")
UNKNOWN = float("nan")
GROWTH = 1.9096  # logarithm of 6.75, rounded up
LOWEST = -660.0  # what underflows beside a log-sum of at least LOWEST + GROWTH * n is a share below 1e-9
NEGLIGIBLE = 1e-15  # a part with a smaller share is not divided further; n words have at most 3 n^2 such parts


class Chart:
    """The workspace of `sums`: inside sums and outside sums of the parts of trees.

    Words count from 0. `opened[h, e]` and `closed[h, e]` are the inside sums of the open and the closed half of word h
    that ends at word e, without the label of h. `ended[e, h]` is `closed[h, e]`.

    The next three are inside sums of an arc from h to d with all words between them. They differ in the half of d on
    the side of h: it is empty in `bare[h, d]`, closed in `full[h, d]`, and without structural arcs in `plain[h, d]`.

    `inner[h, d]` and `outer[h, d]` sum over those of the three that are possible, with the label that d has if it has
    dependents on its other side. In `inner` the half of h stays open; in `outer` it is closed.

    The buffers whose names end in `_rest` are outside sums: the sum over the rest of all trees that have the part,
    divided by the sum over all trees.
    """

    def __init__(self, longest: int) -> None:
        """Allocate buffers for sentences of up to `longest` words."""
        self.roots = new_floats(longest)
        self.labels = new_floats(longest, 16)
        self.arcs, self.opened, self.closed, self.ended = several_floats(4, longest, longest)
        self.bare, self.full, self.plain = several_floats(3, longest, longest)
        self.inner, self.outer = several_floats(2, longest, longest)
        self.opened_rest, self.closed_rest, self.ended_rest = several_floats(3, longest, longest)
        self.inner_rest, self.outer_rest = several_floats(2, longest, longest)


def sums(
    labels: Floats,
    arcs: Floats,
    offsets: Ints,
    starts: Ints,
    optimal: int,
    work: Chart,
    label_shares: Floats,
    arc_shares: Floats,
    logs: Floats,
) -> None:
    """Write the log-sum over the trees of each sentence into `logs`, and the marginals of its labels and arcs.

    `labels` is a score table [words, 16]; a column is a label as a number of four bits. `optimal` is 1 if the labels
    are optimal brackets, 0 if they are those of the 4-bit encoding. The arc scores of sentence s begin at
    `arcs[starts[s]]`, ordered by word, then by head from 0 on. The log-sum is nan where `log_chart` must compute the
    sums.
    """
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            first = offsets[s]
            n = offsets[s + 1] - first
            lowest = LOWEST + GROWTH * n
            logs[s] = 0.0 if n == 0 else UNKNOWN
            if n == 0 or lowest > 0.0:
                continue
            scale = weigh(labels, arcs, first, starts[s], n, work)
            inside(n, optimal, work)
            total = 0.0
            for r in range(n):
                code = root_label(r, n, optimal)
                left = work.opened[r, 0] if optimal else work.closed[r, 0]
                total += left * work.closed[r, n - 1] * work.roots[r] * work.labels[r, code]
            if total <= 0.0 or log(total) < lowest:
                continue
            logs[s] = scale + log(total)
            for h in range(n):
                for e in range(n):
                    work.opened_rest[h, e] = 0.0
                    work.closed_rest[h, e] = 0.0
                    work.ended_rest[h, e] = 0.0
                    work.inner_rest[h, e] = 0.0
                    work.outer_rest[h, e] = 0.0
            for r in range(n):
                code = root_label(r, n, optimal)
                left = work.opened[r, 0] if optimal else work.closed[r, 0]
                right = work.closed[r, n - 1]
                rest = work.roots[r] * work.labels[r, code] / total
                share = left * right * rest
                arc_shares[starts[s] + r * (n + 1)] = share
                label_shares[first + r, code] += share
                work.closed_rest[r, n - 1] += left * rest
                if optimal:
                    work.opened_rest[r, 0] += right * rest
                else:
                    work.closed_rest[r, 0] += right * rest
            outside(n, optimal, first, starts[s], work, label_shares, arc_shares)


def root_label(r: int, n: int, optimal: int) -> int:
    """Return the label of word r, from 0, as the root of a sentence of `n` words."""
    code = HEAD_LEFT | INCOMING_SUPER
    if r > 0 and not optimal:
        code |= CLOSES_LEFT
    return code | OPENS_RIGHT if r < n - 1 else code


def weigh(labels: Floats, arcs: Floats, first: int, base: int, n: int, work: Chart) -> float:
    """Write the weights of a sentence's arcs and labels, relative to each word's best; return the sum of the best."""
    arc_weights = work.arcs
    root_weights = work.roots
    label_weights = work.labels
    scale = 0.0
    for d in range(n):
        best = NOTHING
        for code in range(16):
            best = max(best, labels[first + d, code])
        if best == NOTHING:
            best = 0.0
        scale += best
        for code in range(16):
            score = labels[first + d, code]
            label_weights[d, code] = exp(score - best) if score > NOTHING else 0.0
        row = base + d * (n + 1)
        best = arcs[row]
        for h in range(n):
            if h != d:
                best = max(best, arcs[row + h + 1])
        scale += best
        root_weights[d] = exp(arcs[row] - best)
        for h in range(n):
            if h != d:
                arc_weights[h, d] = exp(arcs[row + h + 1] - best)
    return scale


def inside(n: int, optimal: int, work: Chart) -> None:
    """Compute the inside sums of all parts of trees of one sentence, narrow parts first."""
    arcs = work.arcs
    labels = work.labels
    opened = work.opened
    closed = work.closed
    ended = work.ended
    bare = work.bare
    full = work.full
    plain = work.plain
    inner = work.inner
    outer = work.outer
    for h in range(n):
        opened[h, h] = 1.0
        closed[h, h] = 1.0
        ended[h, h] = 1.0
    for width in range(1, n):
        for left in range(n - width):
            right = left + width
            # Halves meet between words m and m + 1, under an arc from left to right or from right to left.
            both = 0.0
            rightward = 0.0
            leftward = 0.0
            for m in range(left + 1, right - 1):
                both += opened[left, m] * opened[right, m + 1]
                rightward += opened[left, m] * closed[right, m + 1]
                leftward += closed[left, m] * opened[right, m + 1]
            # The last dependent of a half is a word m between, with a closed half of its own up to the end.
            open_right = 0.0
            closed_right = 0.0
            open_left = 0.0
            closed_left = 0.0
            for m in range(left + 1, right):
                open_right += inner[left, m] * ended[right, m]
                closed_right += outer[left, m] * ended[right, m]
                open_left += inner[right, m] * ended[left, m]
                closed_left += outer[right, m] * ended[left, m]
            for turn in range(2):
                h = right if turn else left
                d = left if turn else right
                step = -1 if turn else 1
                # The arc from h to d, over a half of d that is empty, closed, or without structural arcs.
                nothing = opened[h, d - step] * arcs[h, d]
                some = 0.0
                leaning = 0.0
                if width > 1:
                    some = ((leftward if turn else rightward) + closed[d, h + step]) * arcs[h, d]
                    leaning = (both + opened[d, h + step]) * arcs[h, d]
                bare[h, d] = nothing
                full[h, d] = some
                plain[h, d] = leaning
                # The label of d: the first four codes are of open halves, the others of closed ones.
                other = leaning if optimal else some
                own = 0 if turn else HEAD_LEFT
                beyond = own + (CLOSES_LEFT if turn else OPENS_RIGHT)
                own_super = own + INCOMING_SUPER
                beyond_super = beyond + INCOMING_SUPER
                within = OPENS_RIGHT if turn else CLOSES_LEFT
                beneath = 0 if optimal else within
                inner[h, d] = nothing * labels[d, beyond] + some * labels[d, beyond + within]
                outer[h, d] = nothing * labels[d, beyond_super] + other * labels[d, beyond_super + beneath]
                # The halves of h up to d; d may be the last dependent.
                last = nothing * labels[d, own] + some * labels[d, own + within]
                opened[h, d] = last + (open_left if turn else open_right)
                last = nothing * labels[d, own_super] + other * labels[d, own_super + beneath]
                closed[h, d] = last + (closed_left if turn else closed_right)
                ended[d, h] = closed[h, d]


def outside(n: int, optimal: int, first: int, base: int, work: Chart, label_shares: Floats, arc_shares: Floats) -> None:
    """Compute the outside sums of all parts of trees, wide parts first, and add up the marginals of labels and arcs."""
    arcs = work.arcs
    labels = work.labels
    opened = work.opened
    closed = work.closed
    ended = work.ended
    bare = work.bare
    full = work.full
    plain = work.plain
    inner = work.inner
    outer = work.outer
    opened_rest = work.opened_rest
    closed_rest = work.closed_rest
    ended_rest = work.ended_rest
    inner_rest = work.inner_rest
    outer_rest = work.outer_rest
    for narrower in range(1, n):
        width = n - narrower
        for left in range(n - width):
            right = left + width
            for turn in range(2):
                h = right if turn else left
                d = left if turn else right
                step = -1 if turn else 1
                # The halves of h up to d, open and closed: their last dependent is a word m between, or d.
                in_open = opened_rest[h, d]
                if in_open * opened[h, d] < NEGLIGIBLE:
                    in_open = 0.0
                in_closed = closed_rest[h, d] + ended_rest[d, h]
                if in_closed * closed[h, d] < NEGLIGIBLE:
                    in_closed = 0.0
                if in_open + in_closed > 0.0:
                    for m in range(left + 1, right):
                        inner_rest[h, m] += in_open * ended[d, m]
                        outer_rest[h, m] += in_closed * ended[d, m]
                        ended_rest[d, m] += in_open * inner[h, m] + in_closed * outer[h, m]
                # The label of d: the first four codes are of open halves, the others of closed ones.
                own = 0 if turn else HEAD_LEFT
                beyond = own + (CLOSES_LEFT if turn else OPENS_RIGHT)
                own_super = own + INCOMING_SUPER
                beyond_super = beyond + INCOMING_SUPER
                within = OPENS_RIGHT if turn else CLOSES_LEFT
                beneath = 0 if optimal else within
                in_inner = inner_rest[h, d]
                in_outer = outer_rest[h, d]
                nothing = bare[h, d]
                some = full[h, d]
                other = plain[h, d] if optimal else some
                word = first + d
                label_shares[word, own] += in_open * nothing * labels[d, own]
                label_shares[word, own + within] += in_open * some * labels[d, own + within]
                label_shares[word, beyond] += in_inner * nothing * labels[d, beyond]
                label_shares[word, beyond + within] += in_inner * some * labels[d, beyond + within]
                label_shares[word, own_super] += in_closed * nothing * labels[d, own_super]
                label_shares[word, own_super + beneath] += in_closed * other * labels[d, own_super + beneath]
                label_shares[word, beyond_super] += in_outer * nothing * labels[d, beyond_super]
                label_shares[word, beyond_super + beneath] += in_outer * other * labels[d, beyond_super + beneath]
                # The arc from h to d, over a half of d that is empty, closed, or without structural arcs.
                of_bare = in_open * labels[d, own] + in_inner * labels[d, beyond]
                of_bare += in_closed * labels[d, own_super] + in_outer * labels[d, beyond_super]
                of_full = in_open * labels[d, own + within] + in_inner * labels[d, beyond + within]
                of_plain = in_closed * labels[d, own_super + beneath] + in_outer * labels[d, beyond_super + beneath]
                if not optimal:
                    of_full += of_plain
                    of_plain = 0.0
                share = of_full * some + of_plain * other
                arc_shares[base + d * (n + 1) + h + 1] = of_bare * nothing + share
                opened_rest[h, d - step] += of_bare * arcs[h, d]
                if share > NEGLIGIBLE:
                    of_full *= arcs[h, d]
                    of_plain *= arcs[h, d]
                    for m in range(left + 1, right):  # the half of d ends at m, that of h beside it
                        opened_rest[h, m - step] += of_full * closed[d, m] + of_plain * opened[d, m]
                        closed_rest[d, m] += of_full * opened[h, m - step]
                        opened_rest[d, m] += of_plain * opened[h, m - step]
