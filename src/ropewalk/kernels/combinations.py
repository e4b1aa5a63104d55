"""Choose the best of the combinations of classes that words may have."""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

Ints = memoryview
Floats = Any  # a buffer of two dimensions
Places = Any  # one of integers


def best(scores: Floats, places: Places, evidence: Floats, rows: Ints, out: Ints) -> None:
    """Write for each word the combination for which scores and evidence add up to the most, the first of equals.

    A combination is scored at its `places` in the word's row of `scores`; the evidence for all combinations is in the
    row of `evidence` that `rows` names for the word.
    """
    with cython.nogil:
        for word in range(rows.shape[0]):
            row = rows[word]
            highest = 0.0
            chosen = -1
            for one in range(places.shape[0]):
                summed = evidence[row, one]
                for part in range(places.shape[1]):
                    summed += scores[word, places[one, part]]
                if chosen < 0 or summed > highest:
                    highest = summed
                    chosen = one
            out[word] = chosen
