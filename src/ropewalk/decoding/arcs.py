"""The best tree that arc scores allow, without labels: what a biaffine parser decodes with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ropewalk.core.arrays import checked_offsets
from ropewalk.decoding.best import Best, most_expected
from ropewalk.decoding.expected import LONGEST, arc_sums, expected_trees
from ropewalk.decoding.inputs import arc_rows, checked_arcs, words_of
from ropewalk.decoding.matrix_tree import spanning_tree_sums
from ropewalk.decoding.paths import sums_of
from ropewalk.errors import demand_known

if TYPE_CHECKING:
    import numpy.typing as npt

    from ropewalk.decoding.best import Relations
    from ropewalk.decoding.paths import ArcScores

SUMS = {"mbr": arc_sums, "mbr-nonprojective": spanning_tree_sums}
ARC_DECODERS = ("exact", *SUMS)


def decode_arcs(
    arcs: ArcScores, offsets: npt.ArrayLike, *, decoder: str = "exact", relations: Relations | None = None
) -> Best:
    """Find the best trees that arc scores allow.

    `arcs` holds, sentence after sentence and word after word, the score of every head from 0 to the sentence's length.
    The decoder `exact` finds the maximum spanning tree; `mbr` and `mbr-nonprojective` find the tree with the highest
    expected accuracy over all projective trees, or over all trees. With `relations`, which returns the probability of
    the best relation of given arcs, that accuracy counts relations too. Sentences of more than `LONGEST` words get the
    maximum spanning tree.
    """
    demand_known("decoder", decoder, ARC_DECODERS)
    bounds = checked_offsets(offsets)
    scores = checked_arcs(arcs, bounds)
    lengths, rows = np.diff(bounds), arc_rows(bounds)
    if decoder == "exact":
        heads = expected_trees(scores, bounds)
        every = np.ones(len(lengths), dtype=np.bool_)
        return Best((), heads, sums_of(scores[rows + heads].astype(np.float64), bounds), every, every)
    summed = lengths <= LONGEST
    within = summed.repeat(lengths * (lengths + 1))
    _, inner = words_of(bounds, np.flatnonzero(summed))
    shares = np.zeros(len(scores))
    shares[within] = SUMS[decoder](scores[within], inner).arcs
    if not summed.all():
        words, inner = words_of(bounds, np.flatnonzero(~summed))
        shares[rows[words] + expected_trees(scores[~within], inner)] = 1.0
    return most_expected(shares, bounds, relations, labels=(), exact=summed, found=np.ones_like(summed))
