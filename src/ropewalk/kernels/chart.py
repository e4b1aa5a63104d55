"""Sums over all projective trees with one root, by the scores of arcs and of the compact labels of words.

The chart is that of Eisner (1996): what hangs on one side of a word is a half, and an arc is made over two halves that
meet. A half is open while the word may get further dependents on that side, and closed by the farthest one. When a half
takes in a dependent with all that hangs on it, every bit of its label is known: on which side its head is, whether its
arc is structural, and whether the arcs to its own farthest dependents on either side are.

With four bits the arc to the farthest dependent on either side is structural. With optimal brackets it is, unless it
lies under a structural arc to the word itself, on the side of its head: a half there has no structural arc at all, and
is in no way different from one that is still open.
"""

from __future__ import annotations

from typing import Any

from ropewalk.kernels import new_floats

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if cython.compiled:
    from cython.cimports.libc.math import exp, log
else:
    from math import exp, log

Floats = Any  # a buffer of numbers, of one or more dimensions
Ints = Any  # likewise

NOTHING = float("-inf")
NEGLIGIBLE = -25.0  # logarithm of a share that does not count


class Chart:
    """A workspace of `sums`.

    Words count from 0. `halves[c, h, e]` is the sum over what may hang on word h up to word e, on the side where e
    lies, without the label of h: open (c is 0) or closed (1). `spans[x, h, d]` is that of an arc from h to d and all
    between the two: d has nothing there (x is 0), a closed half (1), or one without structural arcs (2). `half_shares`
    and `span_shares` are what of all trees has these parts.
    """

    def __init__(self, longest: int) -> None:
        """Make room for sentences so long."""
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
    work: Chart,
    label_shares: Floats,
    arc_shares: Floats,
    logs: Floats,
) -> None:
    """Write the logarithm of each sentence's sum over trees, and add up the shares that labels and arcs have in it.

    Labels are numbered by the bits of a compact label. The arcs of sentence s begin at `starts[s]`: a row for each
    word, in it the score of each head from 0 on. Labels are `optimal` brackets, or else four bits.
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
                code = 12 + (2 * inner if r > 0 else 0) + (1 if r < n - 1 else 0)
                gain = halves[inner, r, 0] + halves[1, r, n - 1] + arcs[base + r * row] + labels[first + r, code]
                top = max(top, gain)
            if top == NOTHING:
                logs[s] = NOTHING
                continue
            total = 0.0
            for r in range(n):
                code = 12 + (2 * inner if r > 0 else 0) + (1 if r < n - 1 else 0)
                gain = halves[inner, r, 0] + halves[1, r, n - 1] + arcs[base + r * row] + labels[first + r, code]
                total += exp(gain - top)
            logs[s] = top + log(total)
            for r in range(n):
                code = 12 + (2 * inner if r > 0 else 0) + (1 if r < n - 1 else 0)
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
    """Sum over the places where an open half of h and a half of d meet, under an arc from h to d."""
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
    """Sum over the last dependents of h in its half up to e, which end it or not."""
    step = 1 if e > h else -1
    outer = 1 if step > 0 else 2
    for c in range(2):
        own = 4 * c + (8 if step > 0 else 0)
        plain = optimal * c  # whether there are no structural arcs between the last dependent and h
        within = 0 if plain else 3 - outer
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
    """Divide the shares of the halves of h up to e among all that they may be made of."""
    step = 1 if e > h else -1
    outer = 1 if step > 0 else 2
    for c in range(2):
        share = half_shares[c, h, e]
        if share > 0.0:
            own = 4 * c + (8 if step > 0 else 0)
            plain = optimal * c
            d = e
            while d != h:
                base = halves[1, d, e] - halves[c, h, e]
                for x in range(2):
                    place = x + x * plain
                    code = own + (outer if d != e else 0) + (3 - outer if x > plain else 0)
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
    """Divide the share of an arc and all below it among the halves that meet there; give the share of the arc."""
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
