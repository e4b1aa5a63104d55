"""Encodings that write each arc on its own: one implementation serves trees and graphs.

A subclass of `ArcEncoding` writes arcs as labels and reads them back. Mixed with `ArcTrees` it encodes trees; mixed
with `graphs.GraphEncoding` it encodes graphs.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple, final

import numpy as np

from ropewalk.core.arcs import Arcs
from ropewalk.encodings.base import Encoding, LabelEncoding
from ropewalk.encodings.labels import FaultBuffer
from ropewalk.kernels import repair as kernel
from ropewalk.kernels import view
from ropewalk.kernels.values import ArcBuffer, Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.core.columns import Column
    from ropewalk.core.ragged import Offsets
    from ropewalk.core.trees import Trees
    from ropewalk.encodings.labels import Faults, Labels


class SpelledArcs(NamedTuple):
    """The arcs that the labels of many sentences spell, and the faults of the labels.

    The arcs of sentence s are `heads[offsets[s]:offsets[s + 1]]` and the same slice of `dependents`. `settled` means
    that no word has two heads and that there is no cycle.
    """

    heads: Ints
    dependents: Ints
    offsets: Ints
    faults: FaultBuffer
    settled: bool = False

    @classmethod
    def up_to(cls, most: int, offsets: Offsets, *, settled: bool = False) -> SpelledArcs:
        """Allocate arrays for up to `most` arcs of the sentences of `offsets`; two faults per arc and word fit."""
        heads, dependents = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
        faults = FaultBuffer(2 * most + 2 * offsets.total)
        return cls(heads, dependents, np.empty(len(offsets) + 1, dtype=np.int32), faults, settled)

    def buffers(self) -> ArcBuffer:
        """Return the arcs as the argument of a kernel."""
        return ArcBuffer(view(self.heads), view(self.dependents), view(self.offsets))

    def settle(self, words: Offsets) -> tuple[Ints, Faults]:
        """Return the head of each word, -1 if missing, and the faults; `words` are the offsets of the sentences.

        Arcs are added one after the other. An arc that leaves the sentence or makes a second head or a cycle is left
        out, and becomes a fault like those of the labels.
        """
        if self.settled:
            heads = np.full(words.total, -1, dtype=np.int32)
            count = int(self.offsets[-1])
            positions = self.dependents[:count] + np.repeat(words.starts, np.diff(self.offsets)) - 1
            heads[positions] = self.heads[:count]
        else:
            heads = np.empty(words.total, dtype=np.int32)
            workspace = Workspace(words.longest + 1)
            kernel.settle(self.buffers(), view(words.array), view(heads), self.faults.buffers, workspace)
        return heads, self.faults.faults(words)


class ArcEncoding(LabelEncoding):
    """Base class for encodings of the arcs of trees or graphs as labels."""

    of_trees: ClassVar[bool] = False

    @abstractmethod
    def write_arcs(self, arcs: Arcs) -> list[Column]:
        """Return columns of labels for arcs, all of which the labels can hold."""

    @abstractmethod
    def read_arcs(self, columns: Sequence[Column], offsets: Offsets) -> SpelledArcs:
        """Return the arcs that labels spell; labels of this encoding never raise an error.

        The result's buffer of faults must have space for two more faults per arc.
        """


class ArcTrees(ArcEncoding, Encoding):
    """Adapter of an `ArcEncoding` for trees: the arcs that labels spell become the heads of words."""

    of_trees = True

    @final
    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Return the labels of the trees' arcs."""
        return self.write_arcs(Arcs.of_trees(trees))

    @final
    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Return heads, -1 if missing, and faults; arcs that make a second head or a cycle are left out."""
        return self.read_arcs(labels.columns, labels.offsets).settle(labels.offsets)
