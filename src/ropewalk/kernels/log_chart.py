"""Sums over all projective trees with one root, as in `chart`, with logarithms in place of products.

This is about ten times slower, but never underflows. It computes the sentences that `chart` leaves out.
"""

from __future__ import annotations

from ropewalk.kernels import Floats, Ints, new_floats

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if cython.compiled:
    from cython.cimports.libc.math import exp, log
else:
    from math import exp, log

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.chart import root_label
    from ropewalk.kernels.codes import *

NOTHING = float("-inf")
NEGLIGIBLE = -25.0  # logarithm of a share that does not count


class LogChart:
    """The workspace of `sums`: log-sums and marginals of the parts of trees. `chart` explains halves.

    Words count from 0. `halves[c, h, e]` is the log-sum of the half of word h that ends at word e, without the label of
    h. The half is open if c is 0, closed if c is 1. `spans[x, h, d]` is the log-sum of an arc from h to d with all
    words between them. The half of d on the side of h is empty if x is 0, closed if x is 1, and without structural arcs
    if x is 2. `half_shares` and `span_shares` are the marginal probabilities of these parts.
    """

    def __init__(self, longest: int) -> None:
        """Allocate buffers for sentences of up to `longest` words."""
        self.halves = new_floats(2, longest, longest)
        self.spans = new_floats(3, longest, longest)
        self.half_shares = new_floats(2, longest, longest)
        self.span_shares = new_floats(3, longest, longest)


def sums(
    labels: Floats,
    arcs: Floats,
    offsets: Ints,
    starts: Ints,
    optimal: int,
    work: LogChart,
    label_shares: Floats,
    arc_shares: Floats,
    logs: Floats,
) -> None:
    """Write the log-sum over the trees of each sentence into `logs`, and add up the marginals of its labels and arcs.

    `labels` is a score table [words, 16]; a column is a label as a number of four bits. `optimal` is 1 if the labels
    are optimal brackets, 0 if they are those of the 4-bit encoding. The arc scores of sentence s begin at
    `arcs[starts[s]]`, ordered by word, then by head from 0 on.
    """
    halves = work.halves
    spans = work.spans
    half_shares = work.half_shares
    span_shares = work.span_shares
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            first = offsets[s]
            n = offsets[s + 1] - first
            logs[s] = 0.0
            if n == 0:
                continue
            base = starts[s]
            row = n + 1
            for h in range(n):
                for e in range(n):
                    for x in range(3):
                        spans[x, h, e] = NOTHING
                        span_shares[x, h, e] = 0.0
                    for x in range(2):
                        halves[x, h, e] = 0.0 if h == e else NOTHING
                        half_shares[x, h, e] = 0.0
            for width in range(1, n):
                for left in range(n - width):
                    right = left + width
                    join(halves, spans, optimal, left, right, arcs[base + right * row + left + 1])
                    join(halves, spans, optimal, right, left, arcs[base + left * row + right + 1])
                    close(halves, spans, labels, optimal, first, left, right)
                    close(halves, spans, labels, optimal, first, right, left)
            inner = 1 - optimal
            top = NOTHING
            for r in range(n):
                code = root_label(r, n, optimal)
                gain = halves[inner, r, 0] + halves[1, r, n - 1] + arcs[base + r * row] + labels[first + r, code]
                top = max(top, gain)
            if top == NOTHING:
                logs[s] = NOTHING
                continue
            total = 0.0
            for r in range(n):
                code = root_label(r, n, optimal)
                gain = halves[inner, r, 0] + halves[1, r, n - 1] + arcs[base + r * row] + labels[first + r, code]
                total += exp(gain - top)
            logs[s] = top + log(total)
            for r in range(n):
                code = root_label(r, n, optimal)
                gain = halves[inner, r, 0] + halves[1, r, n - 1] + arcs[base + r * row] + labels[first + r, code]
                share = exp(gain - logs[s])
                half_shares[inner, r, 0] += share
                half_shares[1, r, n - 1] += share
                arc_shares[base + r * row] += share
                label_shares[first + r, code] += share
            for m in range(1, n):
                width = n - m
                for left in range(m):
                    right = left + width
                    divide(halves, spans, half_shares, span_shares, labels, label_shares, optimal, first, left, right)
                    divide(halves, spans, half_shares, span_shares, labels, label_shares, optimal, first, right, left)
                    c = base + right * row + left + 1
                    arc_shares[c] += part(halves, spans, half_shares, span_shares, optimal, left, right, arcs[c])
                    c = base + left * row + right + 1
                    arc_shares[c] += part(halves, spans, half_shares, span_shares, optimal, right, left, arcs[c])


def join(halves: Floats, spans: Floats, optimal: int, h: int, d: int, score: float) -> None:
    """Compute the log-sums of an arc from h to d, over all positions where an open half of h and a half of d meet."""
    step = 1 if d > h else -1
    spans[0, h, d] = halves[0, h, d - step] + score
    for x in range(1, 2 + optimal):
        top = NOTHING
        k = h
        while k != d - step:
            top = max(top, halves[0, h, k] + halves[2 - x, d, k + step])
            k += step
        if top > NOTHING:
            total = 0.0
            k = h
            while k != d - step:
                gain = halves[0, h, k] + halves[2 - x, d, k + step] - top
                if gain > NEGLIGIBLE:
                    total += exp(gain)
                k += step
            spans[x, h, d] = top + log(total) + score


def close(halves: Floats, spans: Floats, labels: Floats, optimal: int, first: int, h: int, e: int) -> None:
    """Compute the log-sums of the open and the closed half of h that end at e, over all last dependents of h."""
    step = 1 if e > h else -1
    outer = OPENS_RIGHT if step > 0 else CLOSES_LEFT
    for c in range(2):
        own = INCOMING_SUPER * c + (HEAD_LEFT if step > 0 else 0)
        plain = optimal * c  # whether there are no structural arcs between the last dependent and h
        within = 0 if plain else OPENS_RIGHT + CLOSES_LEFT - outer
        top = NOTHING
        d = e
        while d != h:
            code = own + (outer if d != e else 0)
            gain = spans[0, h, d] + labels[first + d, code]
            gain = max(gain, spans[1 + plain, h, d] + labels[first + d, code + within])
            top = max(top, gain + halves[1, d, e])
            d -= step
        if top > NOTHING:
            total = 0.0
            d = e
            while d != h:
                code = own + (outer if d != e else 0)
                base = halves[1, d, e] - top
                gain = base + spans[0, h, d] + labels[first + d, code]
                if gain > NEGLIGIBLE:
                    total += exp(gain)
                gain = base + spans[1 + plain, h, d] + labels[first + d, code + within]
                if gain > NEGLIGIBLE:
                    total += exp(gain)
                d -= step
            halves[c, h, e] = top + log(total)


def divide(
    halves: Floats,
    spans: Floats,
    half_shares: Floats,
    span_shares: Floats,
    labels: Floats,
    label_shares: Floats,
    optimal: int,
    first: int,
    h: int,
    e: int,
) -> None:
    """Distribute the marginals of the halves of h that end at e over the arcs, halves and labels in them."""
    step = 1 if e > h else -1
    outer = OPENS_RIGHT if step > 0 else CLOSES_LEFT
    for c in range(2):
        share = half_shares[c, h, e]
        if share > 0.0:
            own = INCOMING_SUPER * c + (HEAD_LEFT if step > 0 else 0)
            plain = optimal * c
            d = e
            while d != h:
                base = halves[1, d, e] - halves[c, h, e]
                for x in range(2):
                    place = x + x * plain
                    code = own + (outer if d != e else 0) + (OPENS_RIGHT + CLOSES_LEFT - outer if x > plain else 0)
                    gain = base + spans[place, h, d] + labels[first + d, code]
                    if gain > NEGLIGIBLE:
                        gain = share * exp(gain)
                        span_shares[place, h, d] += gain
                        half_shares[1, d, e] += gain
                        label_shares[first + d, code] += gain
                d -= step


def part(
    halves: Floats, spans: Floats, half_shares: Floats, span_shares: Floats, optimal: int, h: int, d: int, score: float
) -> float:
    """Distribute the marginal of the arc from h to d over the two halves below it; return the marginal of the arc."""
    step = 1 if d > h else -1
    whole: float = span_shares[0, h, d]
    half_shares[0, h, d - step] += whole
    for x in range(1, 2 + optimal):
        share = span_shares[x, h, d]
        whole += share
        if share > 0.0:
            k = h
            while k != d - step:
                gain = halves[0, h, k] + halves[2 - x, d, k + step] + score - spans[x, h, d]
                if gain > NEGLIGIBLE:
                    gain = share * exp(gain)
                    half_shares[0, h, k] += gain
                    half_shares[2 - x, d, k + step] += gain
                k += step
    return whole
