"""Sizes of arrays before a network runs: integers that depend on how many words it will read.

A size is a factor times a product of unknowns, plus an offset, and every unknown lies between two bounds. Equal sizes
are equal whatever the unknowns are, so that they cancel: `(words * 384) / (words * 32)` is 12.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

LARGEST = 1 << 62  # beyond it integers of 64 bits could overflow
MOST_UNKNOWNS = 8  # in one product

_numbers = count()


class Unknown(NamedTuple):
    """An integer between two bounds; its number tells it from others."""

    number: int
    least: int
    most: int


class Size(NamedTuple):
    """A factor times some unknowns plus an offset, and the bounds of the sum; a constant is an offset alone."""

    factor: int
    unknowns: tuple[Unknown, ...]
    offset: int
    least: int
    most: int

    @property
    def is_constant(self) -> bool:
        """Whether it is the same for all inputs."""
        return not self.unknowns


def constant(value: int) -> Size:
    """Return a size that does not vary."""
    return Size(0, (), value, value, value)


def unknown(least: int, most: int) -> Size:
    """Return a new size between two bounds."""
    return Size(1, (Unknown(next(_numbers), least, most),), 0, least, most)


def between(least: int, most: int) -> Size | None:
    """Return a new size between two bounds; None if it may be too large."""
    if max(-least, most) > LARGEST:
        return None
    return constant(least) if least == most else unknown(least, most)


def _sum(factor: int, unknowns: tuple[Unknown, ...], offset: int) -> Size | None:
    least = most = factor
    for one in unknowns:
        corners = (least * one.least, least * one.most, most * one.least, most * one.most)
        least, most = min(corners), max(corners)
    if not factor or not unknowns:
        return between(offset + least, offset + most)
    if len(unknowns) > MOST_UNKNOWNS or max(-least - offset, most + offset) > LARGEST:
        return between(offset + least, offset + most)
    return Size(factor, unknowns, offset, offset + least, offset + most)


def times(first: Size, second: Size) -> Size | None:
    """Multiply two sizes."""
    if first.is_constant:
        return _sum(first.offset * second.factor, second.unknowns, first.offset * second.offset)
    if second.is_constant:
        return times(second, first)
    if not first.offset and not second.offset:
        return _sum(first.factor * second.factor, tuple(sorted(first.unknowns + second.unknowns)), 0)
    corners = [a * b for a in (first.least, first.most) for b in (second.least, second.most)]
    return between(min(corners), max(corners))


def plus(first: Size, second: Size) -> Size | None:
    """Add two sizes."""
    if first.is_constant or second.is_constant or first.unknowns == second.unknowns:
        unknowns = first.unknowns or second.unknowns
        return _sum(first.factor + second.factor, unknowns, first.offset + second.offset)
    return between(first.least + second.least, first.most + second.most)


def minus(first: Size, second: Size) -> Size | None:
    """Subtract the second size from the first."""
    negative = times(constant(-1), second)
    return None if negative is None else plus(first, negative)


def over(first: Size, second: Size) -> Size | None:
    """Divide the first size by the second and round down; None if one may be negative, or the second 0."""
    if first.least < 0 or second.least < 1:
        return None
    if first == second:
        return constant(1)
    if not first.offset and not second.offset:
        above, below = list(first.unknowns), []
        for one in second.unknowns:
            if one in above:
                above.remove(one)
            else:
                below.append(one)
        if len(below) < len(second.unknowns):
            upper, lower = _sum(first.factor, tuple(above), 0), _sum(second.factor, tuple(below), 0)
            return None if upper is None or lower is None else over(upper, lower)
    if second.is_constant and first.factor % second.offset == first.offset % second.offset == 0:
        return _sum(first.factor // second.offset, first.unknowns, first.offset // second.offset)
    return between(first.least // second.most, first.most // second.least)


def larger(first: Size, second: Size) -> Size:
    """Return the larger of two sizes."""
    if first.least >= second.most or first == second:
        return first
    if second.least >= first.most:
        return second
    return unknown(max(first.least, second.least), max(first.most, second.most))


def smaller(first: Size, second: Size) -> Size:
    """Return the smaller of two sizes."""
    if first.most <= second.least or first == second:
        return first
    if second.most <= first.least:
        return second
    return unknown(min(first.least, second.least), min(first.most, second.most))


def either(first: Size, second: Size) -> Size:
    """Return a size that is one of two."""
    if first == second:
        return first
    return unknown(min(first.least, second.least), max(first.most, second.most))
