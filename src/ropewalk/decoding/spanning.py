"""Maximum spanning trees with exactly one root, for parsers that score arcs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import checked_offsets, floats
from ropewalk.decoding.problem import LARGEST, arc_starts, clipped
from ropewalk.errors import MismatchError
from ropewalk.kernels import spanning as kernel
from ropewalk.kernels import view

if TYPE_CHECKING:
    from ropewalk.core.arrays import Ints


def spanning_tree(scores: npt.NDArray[Any]) -> Ints:
    """Return the heads of the maximum spanning tree of one sentence, with exactly one root.

    `scores[d, h]` is the score of the arc from head h, 0 for the root, to word d + 1. So the table has a row per word,
    and one column more than rows. All scores must be finite.
    """
    scores = floats(scores, "scores of arcs")
    words = len(scores) if scores.ndim else 0
    if scores.shape != (words, words + 1):
        raise MismatchError(f"scores of shape {scores.shape}; expected one row a word and one column more than words")
    return expected_trees(scores.reshape(-1), np.array([0, words]))


def expected_trees(gains: npt.ArrayLike, offsets: npt.ArrayLike) -> Ints:
    """Return the heads of each sentence's maximum spanning tree with one root.

    `gains` is a flat array of arc scores, with the layout of `Problem.arcs`.
    """
    bounds = checked_offsets(offsets)
    starts = arc_starts(bounds)
    table = floats(gains, "gains of arcs")
    if table.shape != (int(starts[-1]),):
        raise MismatchError(f"arc scores of shape {table.shape}; expected {int(starts[-1])} for these sentences")
    table = clipped(table, LARGEST)
    heads = np.zeros(int(bounds[-1]), dtype=np.int32)
    work = kernel.SpanningParts(int(np.diff(bounds).max(initial=0)))
    kernel.spanning_trees(view(table), view(bounds), view(starts), view(heads), work)
    return heads
