"""Encodings that write each arc on its own: one implementation serves trees and graphs.

A subclass of `ArcEncoding` writes arcs as labels and reads them back. Mixed with `ArcTrees` it encodes trees; mixed
with `graphs.GraphEncoding` it encodes graphs.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple, final

import numpy as np

from ropewalk.core.arcs import Arcs
from ropewalk.core.trees import Trees, scratch
from ropewalk.encodings.base import Encoding, LabelEncoding
from ropewalk.kernels import repair as kernel
from ropewalk.kernels import view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.core.columns import Column
    from ropewalk.core.ragged import Offsets
    from ropewalk.encodings.labels import FaultBuffer, Faults, Labels


class SpelledArcs(NamedTuple):
    """The arcs that labels spell; those of sentence s are `offsets[s]:offsets[s + 1]` in `heads` and `dependents`.

    If `settled`, no word has two heads and there is no cycle.
    """

    heads: Ints
    dependents: Ints
    offsets: Ints
    faults: FaultBuffer
    settled: bool = False

    def settle(self, words: Offsets) -> tuple[Ints, Faults]:
        """Return partial heads, made of the arcs in order, and faults: those of the labels, and arcs left out."""
        if self.settled:
            heads = np.full(words.total, -1, dtype=np.int32)
            count = int(self.offsets[-1])
            places = self.dependents[:count] + np.repeat(words.starts, np.diff(self.offsets)) - 1
            heads[places] = self.heads[:count]
        else:
            heads = np.empty(words.total, dtype=np.int32)
            kernel.settle(
                view(self.heads),
                view(self.dependents),
                view(self.offsets),
                view(words.array),
                view(heads),
                *self.faults.views(),
                view(scratch(words)),
            )
        return heads, self.faults.faults(words)


class ArcEncoding(LabelEncoding):
    """A way to write arcs as labels, whatever structure they make."""

    of_trees: ClassVar[bool] = False

    @abstractmethod
    def write_arcs(self, arcs: Arcs) -> list[Column]:
        """Write arcs that fit as columns of labels."""

    @abstractmethod
    def read_arcs(self, columns: Sequence[Column], offsets: Offsets) -> SpelledArcs:
        """Read labels into arcs; never raises on labels of its own.

        The buffer of faults has room for two more per arc.
        """


class ArcTrees(ArcEncoding, Encoding):
    """Adapter for trees: the arcs that labels spell become partial heads."""

    of_trees = True

    @final
    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Write the arc into each word."""
        return self.write_arcs(Arcs.of_trees(trees))

    @final
    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Read arcs, then keep those that make a tree."""
        return self.read_arcs(labels.columns, labels.offsets).settle(labels.offsets)
