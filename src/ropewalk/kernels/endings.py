"""Classes of unknown words, guessed from known words with the same endings."""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

Ints = memoryview
Floats = Any  # a buffer of one or two dimensions
Ends = Any  # a buffer of integers of three dimensions


def find(characters: Ints, offsets: Ints, asked: Ints, positions: Ints, ends: Ends) -> None:
    """Write into `ends`, for each word in `asked`, the ranges of known words that share its endings.

    The known words are spelled backwards in `characters` and sorted; known word i is at `offsets[i]:offsets[i+1]`. The
    words to look up are spelled backwards in `asked`; word i is at `positions[i]:positions[i+1]`. The known words that
    share the last k characters with word i are those from `ends[i, 0, k]` up to, but without, `ends[i, 1, k]`. `ends[i,
    0, 0]` is the largest k with such words.
    """
    with cython.nogil:
        most = ends.shape[2] - 1
        for row in range(positions.shape[0] - 1):
            size = min(positions[row + 1] - positions[row], most)
            low = 0
            high = offsets.shape[0] - 1
            depth = 0
            while depth < size:
                wanted = asked[positions[row] + depth]
                first = low
                last = high
                while first < last:  # binary search for the first word whose next character is not less
                    middle = (first + last) // 2
                    at = offsets[middle] + depth
                    if at < offsets[middle + 1] and characters[at] >= wanted:
                        last = middle
                    else:
                        first = middle + 1
                low = first
                last = high
                while first < last:  # binary search for the first word whose next character is greater
                    middle = (first + last) // 2
                    at = offsets[middle] + depth
                    if at < offsets[middle + 1] and characters[at] > wanted:
                        last = middle
                    else:
                        first = middle + 1
                high = first
                if low == high:
                    break
                depth += 1
                ends[row, 0, depth] = low
                ends[row, 1, depth] = high
            ends[row, 0, 0] = depth


def places(characters: Ints, offsets: Ints, asked: Ints, positions: Ints, out: Ints) -> None:
    """Write into `out[i]` the index of the known word that equals word i of `asked`; leave it as it is if none does.

    The words are spelled backwards, as for `find`.
    """
    with cython.nogil:
        for row in range(positions.shape[0] - 1):
            size = positions[row + 1] - positions[row]
            first = 0
            last = offsets.shape[0] - 1
            while first < last:  # binary search for the first word that is not less
                middle = (first + last) // 2
                begin = offsets[middle]
                length = offsets[middle + 1] - begin
                depth = 0
                while depth < size and depth < length and characters[begin + depth] == asked[positions[row] + depth]:
                    depth += 1
                if depth == size and depth == length:
                    out[row] = middle
                    break
                if depth < size and (depth == length or characters[begin + depth] < asked[positions[row] + depth]):
                    first = middle + 1
                else:
                    last = middle


def guess(ends: Ends, starts: Ints, classes: Ints, out: Floats) -> None:
    """Add to `out[i, c]` the probability of class c for word i, estimated from the known words that share its endings.

    `ends` is the result of `find`. The classes of known word k are `classes[starts[k]:starts[k+1]]`. The probability of
    a class is its relative frequency among the known words with the longest shared ending, smoothed with the frequency
    for an ending that is one character shorter, and so on.
    """
    with cython.nogil:
        for row in range(out.shape[0]):
            depth = ends[row, 0, 0]
            left = 1.0
            while depth > 0 and left > 0.001:
                first = starts[ends[row, 0, depth]]
                last = starts[ends[row, 1, depth]]
                weight = left / (last - first + 1)
                for position in range(first, last):
                    out[row, classes[position]] += weight
                left = weight
                depth -= 1


def add(positions: Ints, starts: Ints, classes: Ints, evidence: Floats, scores: Floats) -> None:
    """Add the evidence for a known word's classes to `scores[row]`, for each row.

    The known word of a row is `positions[row]`; nothing is added if that is -1. The classes of known word k are
    `classes[starts[k]:starts[k+1]]`, with the evidence at the same indices.
    """
    with cython.nogil:
        for row in range(positions.shape[0]):
            if positions[row] >= 0:
                for position in range(starts[positions[row]], starts[positions[row] + 1]):
                    scores[row, classes[position]] += evidence[position]


def add_rows(numbers: Ints, rows: Floats, scores: Floats) -> None:
    """Add row `numbers[i]` of `rows` to row i of `scores`, for each i; add nothing if `numbers[i]` is -1."""
    with cython.nogil:
        for row in range(numbers.shape[0]):
            number = numbers[row]
            if number >= 0:
                for column in range(rows.shape[1]):
                    scores[row, column] += rows[number, column]
