"""Guess the classes of words from the ends of other words."""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

Ints = memoryview
Floats = Any  # a buffer of two dimensions


def guess(
    characters: Ints, offsets: Ints, starts: Ints, classes: Ints, asked: Ints, places: Ints, ends: Ints, out: Floats
) -> None:
    """Write into the rows of `out` how likely each class is for each word that is asked for.

    Known words are given by their characters from the last to the first, sorted, word i between `offsets[i]` and
    `offsets[i + 1]`; its classes are those between `starts[i]` and `starts[i + 1]`. Words that are asked for are given
    in the same way by `asked` and `places`. A class is as likely as it is frequent among the known words that end
    alike, with what they leave open shared out by those that end alike in one character less, and so on. `ends` has two
    rows to work in: where the words begin and end that end alike in 0, 1, … characters, up to as many as are compared.
    """
    with cython.nogil:
        most = ends.shape[1] - 1
        for row in range(places.shape[0] - 1):
            size = min(places[row + 1] - places[row], most)
            low = 0
            high = offsets.shape[0] - 1
            depth = 0
            while depth < size:
                wanted = asked[places[row] + depth]
                first = low
                last = high
                while first < last:  # the first word whose next character is not less
                    middle = (first + last) // 2
                    at = offsets[middle] + depth
                    if at < offsets[middle + 1] and characters[at] >= wanted:
                        last = middle
                    else:
                        first = middle + 1
                low = first
                last = high
                while first < last:  # the first whose next character is greater
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
                ends[0, depth] = low
                ends[1, depth] = high
            left = 1.0
            while depth > 0 and left > 0.001:
                first = starts[ends[0, depth]]
                last = starts[ends[1, depth]]
                share = left / (last - first + 1)
                for place in range(first, last):
                    out[row, classes[place]] += share
                left = share
                depth -= 1
