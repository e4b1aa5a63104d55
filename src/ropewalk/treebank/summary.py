"""Counts of sentences, words and trees in a treebank; the counts of several parts can be added."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from ropewalk.core.ropes import rope_thickness
from ropewalk.core.trees import Trees, check_heads, projective

if TYPE_CHECKING:
    from ropewalk.treebank.treebank import Treebank


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of a treebank; the sum of two summaries is the summary of both treebanks together.

    `multiwords` and `empties` are the numbers of multiword tokens and empty nodes. `longest` is the number of words of
    the longest sentence. `trees` is the number of sentences whose heads form a tree. Only these count for
    `nonprojective` and for the sum and maximum of rope thickness.
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
        maxima = {"longest", "thickness_max"}
        pairs = {field.name: (getattr(self, field.name), getattr(other, field.name)) for field in fields(self)}
        return Summary(**{name: max(pair) if name in maxima else sum(pair) for name, pair in pairs.items()})

    @property
    def nonprojective_share(self) -> float | None:
        """The proportion of non-projective trees among all trees; None if there are no trees."""
        return self.nonprojective / self.trees if self.trees else None

    @property
    def thickness_mean(self) -> float | None:
        """The mean over trees of the most ropes that cover one word boundary; None if there are no trees."""
        return self.thickness_sum / self.trees if self.trees else None


def summarize(treebank: Treebank) -> Summary:
    """Count the sentences, words, trees and other properties of a treebank; return the summary."""
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
    """Return the trees of those sentences whose heads form a tree, without relations."""
    good = check_heads(treebank.heads, treebank.offsets).codes == 0
    offsets, words = treebank.offsets.select(np.flatnonzero(good))
    return Trees.known(treebank.heads[words], offsets)
