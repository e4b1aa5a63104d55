"""The 4-bit encoding (B4): the bracketing of the rope cover `farthest`, in four bits per word."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from ropewalk.core.columns import Column
from ropewalk.core.trees import Trees, projective, single_rooted, stackable
from ropewalk.encodings.base import ClosedEncoding
from ropewalk.encodings.bracket_text import compact_text
from ropewalk.encodings.machines import BracketMachine
from ropewalk.encodings.optimal import cover_codes, stack_heads
from ropewalk.encodings.seven_bit import bits_heads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.encodings.labels import Faults, Labels

FOUR_BITS = tuple(f"{code:04b}" for code in range(16))


@final
class FourBit(ClosedEncoding):
    """Trees with four bits per word: the bracketing of the rope cover `farthest`.

    The ropes of this cover are the longest arcs from each node to each side.
    """

    name = "four-bit"
    symbol = "B_4"
    summary = "four bits a word: 16 labels for projective trees"
    cites = "Gómez-Rodríguez, Roca & Vilares 2023, 4 and 7-bit Labeling for Projective and Non-Projective Trees"
    policies = ("lift", "refuse", "published")

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The 16 labels."""
        return FOUR_BITS

    def covered(self, trees: Trees) -> Bools:
        """Return for each tree whether it is projective.

        With the policy `published`: whether it has at most one root and no two arcs of one direction cross.
        """
        if self.policy == "published":
            one_plane = np.ones(len(trees.heads), dtype=np.int32)
            return stackable(trees, one_plane, 1) & single_rooted(trees)
        return projective(trees)

    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Return the bits of the trees' rope covers `farthest`, as one column of labels."""
        return [Column(cover_codes(trees, "farthest"), self.alphabet)]

    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Return the heads that labels spell, -1 if missing, and faults.

        Brackets are matched with one stack; with the policy `published`, with one stack for each direction.
        """
        codes = self.own_ids(labels)
        if self.policy == "published":
            return bits_heads(_AS_SEVEN[codes], labels.offsets, one_root=True)
        return stack_heads(codes, labels.offsets)

    def brackets(self, labels: Sequence[str]) -> tuple[str, ...] | None:
        """Return the bits of each label as brackets; None with the policy `published`, whose matching differs."""
        return None if self.policy == "published" else tuple(compact_text(int(label, 2)) for label in labels)

    def machine(self, labels: Sequence[str]) -> BracketMachine:
        """Return a machine with one stack, in which an arc leans only on a rope of its own direction."""
        return BracketMachine.of(labels, [compact_text(int(label, 2)) for label in labels], same_direction=True)


# Bits b0 b1 b2 b3 of the four are b0, b2, b3, b4 of the seven.
_AS_SEVEN = np.array([(c & 8) << 3 | (c & 4) << 2 | (c & 3) << 2 for c in range(16)], dtype=np.uint8)
