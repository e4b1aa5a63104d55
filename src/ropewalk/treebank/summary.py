"""What a treebank holds, counted chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ropewalk.core import trees
from ropewalk.core.ropes import rope_thickness

if TYPE_CHECKING:
    from ropewalk.core.arrays import Ints
    from ropewalk.treebank.treebank import Treebank


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over sentences; the sum of two summaries is the summary of both.

    `trees` counts the sentences whose heads are all there; projectivity and rope thickness are over those.
    """

    sentences: int = 0
    words: int = 0
    multiwords: int = 0
    empties: int = 0
    longest: int = 0
    trees: int = 0
    nonprojective: int = 0
    thickness_sum: int = 0
    thickness_max: int = 0

    def __add__(self, other: Summary) -> Summary:
        return Summary(
            self.sentences + other.sentences,
            self.words + other.words,
            self.multiwords + other.multiwords,
            self.empties + other.empties,
            max(self.longest, other.longest),
            self.trees + other.trees,
            self.nonprojective + other.nonprojective,
            self.thickness_sum + other.thickness_sum,
            max(self.thickness_max, other.thickness_max),
        )

    @property
    def nonprojective_share(self) -> float | None:
        """The share of trees in which arcs cross, or nothing if there are no trees."""
        return self.nonprojective / self.trees if self.trees else None

    @property
    def thickness_mean(self) -> float | None:
        """The mean rope thickness of a tree, or nothing if there are no trees."""
        return self.thickness_sum / self.trees if self.trees else None


def summarize(treebank: Treebank) -> Summary:
    """Count what one treebank holds."""
    heads, offsets = _whole_trees(treebank)
    thickness = rope_thickness(heads, offsets)
    text = treebank.text
    return Summary(
        sentences=len(treebank),
        words=treebank.words,
        multiwords=0 if text is None else int(text.multiwords.sum()),
        empties=0 if text is None else int(text.empties.sum()),
        longest=int(treebank.lengths.max(initial=0)),
        trees=len(offsets) - 1,
        nonprojective=int((~trees.projective(heads, offsets)).sum()),
        thickness_sum=int(thickness.sum()),
        thickness_max=int(thickness.max(initial=0)),
    )


def _whole_trees(treebank: Treebank) -> tuple[Ints, Ints]:
    """Take the heads and offsets of those sentences that are trees."""
    good = trees.check(treebank.heads, treebank.offsets).codes == 0
    if good.all():
        return treebank.heads, treebank.offsets
    lengths = treebank.lengths
    offsets = np.concatenate([[0], np.cumsum(lengths[good])]).astype(np.int32)
    return treebank.heads[np.repeat(good, lengths)], offsets
