"""What a treebank holds, counted chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ropewalk.core.ropes import rope_thickness
from ropewalk.core.trees import Trees, check_heads, projective

if TYPE_CHECKING:
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
    whole = _whole_trees(treebank)
    thickness = rope_thickness(whole)
    source = treebank.source
    return Summary(
        sentences=len(treebank),
        words=treebank.words,
        multiwords=0 if source is None else int(source.multiwords.sum()),
        empties=0 if source is None else int(source.empties.sum()),
        longest=int(treebank.lengths.max(initial=0)),
        trees=len(whole),
        nonprojective=int((~projective(whole)).sum()),
        thickness_sum=int(thickness.sum()),
        thickness_max=int(thickness.max(initial=0)),
    )


def _whole_trees(treebank: Treebank) -> Trees:
    """Return the trees of those sentences that have one."""
    good = check_heads(treebank.heads, treebank.offsets).codes == 0
    offsets, words = treebank.offsets.select(np.flatnonzero(good))
    return Trees.known(treebank.heads[words], offsets)
