"""Sizes of arrays before a network runs: integers that depend on the number of words that it will read.

A size is a factor times a product of unknowns, plus an offset; every unknown has two bounds. Equal expressions are
equal for all values of the unknowns, so that they cancel: `(words * 384) / (words * 32)` is 12.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

LARGEST = 1 << 62  # beyond it integers of 64 bits could overflow
MOST_UNKNOWNS = 8  # in one product

_numbers = count()


class Unknown(NamedTuple):
    """An unknown integer from `least` to `most`; `number` distinguishes it from other unknowns."""

    number: int
    least: int
    most: int


class Size(NamedTuple):
    """The size of a dimension: `factor` times the product of `unknowns`, plus `offset`.

    It is at least `least` and at most `most`. A constant has no unknowns.
    """

    factor: int
    unknowns: tuple[Unknown, ...]
    offset: int
    least: int
    most: int

    @property
    def is_constant(self) -> bool:
        """Whether the size has no unknowns, so that it is the same for all inputs of the network."""
        return not self.unknowns


def constant(value: int) -> Size:
    """Return the size that is always `value`."""
    return Size(0, (), value, value, value)


def unknown(least: int, most: int) -> Size:
    """Return a new unknown size from `least` to `most`."""
    return Size(1, (Unknown(next(_numbers), least, most),), 0, least, most)


def between(least: int, most: int) -> Size | None:
    """Return a new size from `least` to `most`, a constant if both are equal; None if it may exceed `LARGEST`."""
    if max(-least, most) > LARGEST:
        return None
    return constant(least) if least == most else unknown(least, most)


def _sum(factor: int, unknowns: tuple[Unknown, ...], offset: int) -> Size | None:
    least = most = factor
    for variable in unknowns:
        corners = (least * variable.least, least * variable.most, most * variable.least, most * variable.most)
        least, most = min(corners), max(corners)
    too_many = len(unknowns) > MOST_UNKNOWNS or max(-least - offset, most + offset) > LARGEST
    if not factor or not unknowns or too_many:
        return between(offset + least, offset + most)
    return Size(factor, unknowns, offset, offset + least, offset + most)


def times(first: Size, second: Size) -> Size | None:
    """Return the product of two sizes; None if it may exceed `LARGEST`."""
    if first.is_constant:
        return _sum(first.offset * second.factor, second.unknowns, first.offset * second.offset)
    if second.is_constant:
        return times(second, first)
    if not first.offset and not second.offset:
        return _sum(first.factor * second.factor, tuple(sorted(first.unknowns + second.unknowns)), 0)
    corners = [a * b for a in (first.least, first.most) for b in (second.least, second.most)]
    return between(min(corners), max(corners))


def plus(first: Size, second: Size) -> Size | None:
    """Return the sum of two sizes; None if it may exceed `LARGEST`."""
    if first.is_constant or second.is_constant or first.unknowns == second.unknowns:
        unknowns = first.unknowns or second.unknowns
        return _sum(first.factor + second.factor, unknowns, first.offset + second.offset)
    return between(first.least + second.least, first.most + second.most)


def minus(first: Size, second: Size) -> Size | None:
    """Return `first` minus `second`; None if it may exceed `LARGEST`."""
    negative = times(constant(-1), second)
    return None if negative is None else plus(first, negative)


def over(first: Size, second: Size) -> Size | None:
    """Return `first` divided by `second`, rounded down; None if either may be negative or `second` may be 0."""
    if first.least < 0 or second.least < 1:
        return None
    if first == second:
        return constant(1)
    if not first.offset and not second.offset:
        above, below = list(first.unknowns), []
        for variable in second.unknowns:
            if variable in above:
                above.remove(variable)
            else:
                below.append(variable)
        if len(below) < len(second.unknowns):
            upper, lower = _sum(first.factor, tuple(above), 0), _sum(second.factor, tuple(below), 0)
            return None if upper is None or lower is None else over(upper, lower)
    if second.is_constant and first.factor % second.offset == first.offset % second.offset == 0:
        return _sum(first.factor // second.offset, first.unknowns, first.offset // second.offset)
    return between(first.least // second.most, first.most // second.least)


def larger(first: Size, second: Size) -> Size:
    """Return the larger of two sizes, or a new unknown size with its bounds if it is not known which is larger."""
    if first.least >= second.most or first == second:
        return first
    if second.least >= first.most:
        return second
    return unknown(max(first.least, second.least), max(first.most, second.most))


def smaller(first: Size, second: Size) -> Size:
    """Return the smaller of two sizes, or a new unknown size with its bounds if it is not known which is smaller."""
    if first.most <= second.least or first == second:
        return first
    if second.most <= first.least:
        return second
    return unknown(min(first.least, second.least), min(first.most, second.most))


def either(first: Size, second: Size) -> Size:
    """Return a size that covers two possibilities: its bounds include those of both sizes."""
    if first == second:
        return first
    return unknown(min(first.least, second.least), max(first.most, second.most))
