"""Maximum spanning trees with exactly one root, for parsers that score arcs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import floats
from ropewalk.decoding.inputs import LARGEST
from ropewalk.errors import MismatchError
from ropewalk.kernels import spanning as kernel
from ropewalk.kernels import view

if TYPE_CHECKING:
    from ropewalk.core.arrays import Ints


def spanning_tree(scores: npt.NDArray[Any]) -> Ints:
    """Give the heads of the tree with one root whose arcs have the highest sum of scores.

    `scores[d, h]` is the score of head h, 0 for the root, over word d + 1: one row a word, one column more than
    words. All scores must be finite. A toll on arcs from the root that outweighs all else keeps their number at
    one (Stanojević & Cohen 2021, A Root of a Problem).
    """
    scores = floats(scores, "scores of arcs")
    words = len(scores) if scores.ndim else 0
    if scores.shape != (words, words + 1):
        raise MismatchError(f"scores of shape {scores.shape}; expected one row a word and one column more than words")
    if not np.isfinite(scores).all():
        raise MismatchError("an arc's score is not finite; expected numbers, a very low one where there is no arc")
    table = np.zeros((words + 1, words + 1), dtype=np.float64)
    table[1:] = np.clip(scores, -LARGEST, LARGEST)
    if words:
        table[1:, 0] -= (words + 1) * (1.0 + table.max() - table.min())
    heads = np.zeros(words, dtype=np.int32)
    enters = np.repeat(np.arange(words + 1, dtype=np.int32)[:, None], words + 1, axis=1)
    size = 2 * words + 2
    best = np.empty(size, dtype=np.float64)
    others = [np.empty(size, dtype=np.int32) for _ in range(7)]
    kernel.spanning(view(table), view(heads), view(enters), view(best), *(view(other) for other in others))
    return heads
