"""Exact decoding of graphs: the labels with the highest total score that spell a graph without a fault.

The search is best-first (uniform cost). It reads words from left to right. A state holds the arcs that are still open
after a word, as the encoding represents them. The cost of a prefix is the sum over its words of the best label score
minus the chosen one. So if the best labels of all words fit together, they cost nothing and are returned at once.
"""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from ropewalk.core.ragged import Offsets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.encodings.graphs import GraphEncoding

    _Scores = npt.NDArray[np.floating]
    Numbers = npt.NDArray[np.int64]

MOST: Final = 20_000  # prefixes of one sentence that the search expands before it gives up
_Path = tuple["_Path", int] | None


def can_be_exact(encoding: GraphEncoding) -> bool:
    """Return whether `best_labels` finds the best labels without a fault for this encoding."""
    return encoding.start is not None or encoding.possible((), Offsets.of_lengths([])) is not None


def best_labels(encoding: GraphEncoding, scores: _Scores, texts: Sequence[str], offsets: Ints) -> Numbers:
    """Return the indices of the labels with the highest total score that spell a graph without a fault.

    `scores` is a table [words, labels] and `texts` the alphabet of labels. A sentence gets the best label of each word
    instead if no sequence is without fault or the search gives up. The same holds for encodings that do not declare
    which labels fit together.
    """
    possible = encoding.possible(texts, Offsets(offsets))
    if possible is not None:
        scores = np.where(possible, scores, -np.inf)
    out: Numbers = scores.argmax(axis=1).astype(np.int64)
    if encoding.start is not None:
        for start, stop in pairwise(offsets.tolist()):
            best = _search(encoding, scores[start:stop], texts)
            if best is not None:
                out[start:stop] = best
    return out


def _search(encoding: GraphEncoding, scores: _Scores, texts: Sequence[str]) -> list[int] | None:
    """Return the best labels of one sentence; None if no sequence is without fault, or if the search gives up."""
    assert encoding.start is not None  # noqa: S101 - the caller has checked it
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1).astype(np.float64)
    costs: list[list[float]] = (ranked[:, :1] - ranked).tolist()
    labels: list[list[int]] = order.tolist()
    words, ranks = scores.shape
    seen = set()
    number = 0  # breaks ties between equal costs: the newest first
    # entries: cost with the next label, tie-breaker, word and rank of that label; cost, state and path before it
    waiting: list[tuple[float, int, int, int, float, object, _Path]] = [(0.0, 0, 0, 0, 0.0, encoding.start, None)]
    while waiting and number < MOST:
        cost, _, word, rank, before, state, path = heapq.heappop(waiting)
        if rank + 1 < ranks and costs[word][rank + 1] < np.inf:
            number += 1
            heapq.heappush(waiting, (before + costs[word][rank + 1], -number, word, rank + 1, before, state, path))
        label = labels[word][rank]
        after = encoding.advance(state, texts[label])
        if after is None or (word, after) in seen:
            continue
        seen.add((word, after))
        path = (path, label)
        if word + 1 < words:
            number += 1
            heapq.heappush(waiting, (cost, -number, word + 1, 0, cost, after, path))
        elif after == encoding.start:
            return _listed(path)
    return None


def _listed(path: _Path) -> list[int]:
    out = []
    while path is not None:
        path, label = path
        out.append(label)
    return out[::-1]
