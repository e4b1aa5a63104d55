"""The 7-bit encoding: brackets in two planes, each with a stack for each direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np
import numpy.typing as npt

from ropewalk.encodings.base import ClosedEncoding, Ids, Labels, read_codes
from ropewalk.kernels import bits as kernel
from ropewalk.kernels import view
from ropewalk.trees import Bools, Ints, checked_trees, planes, scratch, single_rooted, stackable

if TYPE_CHECKING:
    from ropewalk.treebank import Column

SEVEN_BITS = tuple(f"{code:07b}" for code in range(128))


def bits_heads(codes: npt.NDArray[np.uint8], offsets: Ints, *, one_root: bool) -> tuple[Ints, Ints, Ints]:
    """Read seven bits a word; with `one_root` a second dependent of node 0 is refused."""
    return read_codes(kernel.read, codes, offsets, int(one_root), arrays=5)


@final
class SevenBit(ClosedEncoding):
    """Seven bits per word, for trees whose arcs fit in two planes."""

    name = "seven-bit"
    symbol = "B_7"
    summary = "seven bits a word: up to 128 labels for trees in two planes"
    cites = "Gómez-Rodríguez, Roca & Vilares 2023, 4 and 7-bit Labeling for Projective and Non-Projective Trees"
    policies = ("lift", "refuse", "published")
    planes = 2

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The 128 numbers of seven bits."""
        return SEVEN_BITS

    def covers_heads(self, heads: Ints, offsets: Ints) -> Bools:
        """Tell in which trees no two arcs of one plane and one direction cross."""
        fits = stackable(heads, offsets, planes(heads, offsets), 2)
        return fits & single_rooted(heads, offsets) if self.policy == "published" else fits

    def write(self, heads: Ints, offsets: Ints, upos: Column | None) -> list[tuple[Ids, tuple[str, ...]]]:
        """Write the bits of every word."""
        heads, offsets = checked_trees(heads, offsets)
        codes = np.empty(len(heads), dtype=np.uint8)
        room = (view(np.empty(2 * len(scratch(offsets)), dtype=np.int32)) for _ in range(2))
        kernel.write(view(heads), view(offsets), view(planes(heads, offsets)), view(codes), *room)
        return [(codes, self.alphabet)]

    def read(self, labels: Labels) -> tuple[Ints, Ints, Ints]:
        """Read labels with a stack for each plane and direction."""
        return bits_heads(self.own_ids(labels), labels.offsets, one_root=self.policy == "published")
