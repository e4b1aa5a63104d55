"""The best labels of graphs: those of the highest score together that have no fault.

Words are read from left to right; what is still open after a word is the encoding's state, and a search that takes up
the cheapest beginning first finds the best end. A beginning costs what its labels have less than the best of their
words, so that labels which are right as they are cost nothing and are found at once.
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

MOST: Final = 20_000  # beginnings of one sentence that are taken up before the search is given up
_Path = tuple["_Path", int] | None


def can_be_exact(encoding: GraphEncoding) -> bool:
    """Tell whether the best labels without a fault can be found."""
    return encoding.start is not None or encoding.possible((), Offsets.of_lengths([])) is not None


def best_labels(encoding: GraphEncoding, scores: _Scores, texts: Sequence[str], offsets: Ints) -> Numbers:
    """Find for each sentence the labels of the highest score together that have no fault: the number of each word's.

    Where there are none, or none were found in time, each word gets its best label. Of encodings that do not say how
    labels depend on each other the same.
    """
    possible = encoding.possible(texts, Offsets(offsets))
    if possible is not None:
        scores = np.where(possible, scores, -np.inf)
    out: Numbers = scores.argmax(axis=1).astype(np.int64)
    if encoding.start is not None:
        for start, stop in pairwise(offsets.tolist()):
            found = _search(encoding, scores[start:stop], texts)
            if found is not None:
                out[start:stop] = found
    return out


def _search(encoding: GraphEncoding, scores: _Scores, texts: Sequence[str]) -> list[int] | None:
    """Find the best labels of one sentence; None if there are none, or the search is given up."""
    assert encoding.start is not None  # noqa: S101 - who calls it has asked
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1).astype(np.float64)
    costs: list[list[float]] = (ranked[:, :1] - ranked).tolist()
    labels: list[list[int]] = order.tolist()
    words, ranks = scores.shape
    seen = set()
    number = 0  # tells apart what costs the same
    # what it costs with one label more, which word that is of and how good, and what there was before
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
