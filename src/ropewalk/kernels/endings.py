"""Guess the classes of words from the ends of other words."""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

Ints = memoryview
Floats = Any  # a buffer of one or two dimensions
Ends = Any  # one of integers, of three


def find(characters: Ints, offsets: Ints, asked: Ints, places: Ints, ends: Ends) -> None:
    """Write into `ends` which known words end like each word that is asked for.

    Known words are given by their characters from the last to the first, sorted, word i between `offsets[i]` and
    `offsets[i + 1]`. Words that are asked for are given in the same way by `asked` and `places`. `ends[i]` has two
    rows: where the words begin and where they end that end like word i in 1, 2, … characters, up to as many as are
    compared; before all it has in how many characters there are any.
    """
    with cython.nogil:
        most = ends.shape[2] - 1
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
                ends[row, 0, depth] = low
                ends[row, 1, depth] = high
            ends[row, 0, 0] = depth


def guess(ends: Ends, starts: Ints, classes: Ints, out: Floats) -> None:
    """Write into the rows of `out` how likely each class is for each word whose `ends` were found.

    The classes of known word i are those between `starts[i]` and `starts[i + 1]`. A class is as likely as it is
    frequent among the known words that end alike, with what they leave open shared out by those that end alike in one
    character less, and so on.
    """
    with cython.nogil:
        for row in range(out.shape[0]):
            depth = ends[row, 0, 0]
            left = 1.0
            while depth > 0 and left > 0.001:
                first = starts[ends[row, 0, depth]]
                last = starts[ends[row, 1, depth]]
                share = left / (last - first + 1)
                for place in range(first, last):
                    out[row, classes[place]] += share
                left = share
                depth -= 1


def add(places: Ints, starts: Ints, classes: Ints, evidence: Floats, scores: Floats) -> None:
    """Add to the scores of each word, known by its place or -1, the evidence for the classes of that known word."""
    with cython.nogil:
        for row in range(places.shape[0]):
            if places[row] >= 0:
                for place in range(starts[places[row]], starts[places[row] + 1]):
                    scores[row, classes[place]] += evidence[place]


def add_rows(numbers: Ints, rows: Floats, scores: Floats) -> None:
    """Add to the scores of each word the row of its number, if it has one: -1 is none."""
    with cython.nogil:
        for row in range(numbers.shape[0]):
            number = numbers[row]
            if number >= 0:
                for column in range(rows.shape[1]):
                    scores[row, column] += rows[number, column]
