"""The best allowed combination of tags (classes of several columns) for each word."""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

Ints = memoryview
Floats = Any  # a buffer of two dimensions
Indices = Any  # a buffer of integers of two dimensions


def best(scores: Floats, positions: Indices, evidence: Floats, rows: Ints, out: Ints) -> None:
    """Write into `out` the index of each word's best combination of classes; the first one wins among equals.

    The score of combination c for a word is the sum of the word's `scores` in the columns `positions[c]`, plus the
    evidence for c, which is `evidence[rows[word], c]`.
    """
    with cython.nogil:
        for word in range(rows.shape[0]):
            row = rows[word]
            highest = 0.0
            chosen = -1
            for combination in range(positions.shape[0]):
                summed = evidence[row, combination]
                for part in range(positions.shape[1]):
                    summed += scores[word, positions[combination, part]]
                if chosen < 0 or summed > highest:
                    highest = summed
                    chosen = combination
            out[word] = chosen
