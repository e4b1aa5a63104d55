"""The 7-bit encoding (B7): brackets in two planes, each with a stack for each direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np
import numpy.typing as npt

from ropewalk.core.columns import Column
from ropewalk.core.trees import Trees, planes, single_rooted, stackable
from ropewalk.encodings.base import ClosedEncoding, read_codes
from ropewalk.encodings.bracket_text import compact_text
from ropewalk.encodings.machines import BracketMachine, BracketStacks
from ropewalk.kernels import seven_bit as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import (
    BIT_FARTHEST,
    BIT_HEAD_LEFT,
    BIT_LEFT,
    BIT_RIGHT,
    BIT_SECOND_PLANE,
    CLOSING,
    RIGHTWARD,
    SUPER,
)
from ropewalk.kernels.values import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.core.ragged import Offsets
    from ropewalk.encodings.labels import Faults, Labels

SEVEN_BITS = tuple(f"{code:07b}" for code in range(128))


def bits_heads(codes: npt.NDArray[np.uint8], offsets: Offsets, *, one_root: bool) -> tuple[Ints, Faults]:
    """Return the heads that labels of seven bits spell, -1 if missing, and faults.

    `codes` has the bits of each word. With `one_root` a second dependent of node 0 is a fault.
    """
    return read_codes(kernel.read, codes, offsets, int(one_root))


@final
class SevenBit(ClosedEncoding):
    """Trees with seven bits per word, for trees whose arcs fit in two planes."""

    name = "seven-bit"
    symbol = "B_7"
    summary = "seven bits a word: up to 128 labels for trees in two planes"
    cites = "Gómez-Rodríguez, Roca & Vilares 2023, 4 and 7-bit Labeling for Projective and Non-Projective Trees"
    policies = ("lift", "refuse", "published")
    planes = 2

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The 128 labels: all texts of seven digits 0 and 1."""
        return SEVEN_BITS

    def covered(self, trees: Trees) -> Bools:
        """Return for each tree whether no two arcs of one plane and one direction cross.

        With the policy `published`, the tree must also have at most one root.
        """
        fits = stackable(trees, planes(trees), 2)
        return fits & single_rooted(trees) if self.policy == "published" else fits

    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Return the seven bits of every word, as one column of labels."""
        codes = np.empty(len(trees.heads), dtype=np.uint8)
        workspace = Workspace(2 * (trees.offsets.longest + 1))
        kernel.write(view(trees.heads), view(trees.offsets.array), view(planes(trees)), view(codes), workspace)
        return [Column(codes, self.alphabet)]

    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Return the heads that labels spell, -1 if missing, and faults; each plane and direction has a stack."""
        return bits_heads(self.own_ids(labels), labels.offsets, one_root=self.policy == "published")

    def bracket_stacks(self, labels: Sequence[str]) -> BracketStacks:
        """Return the labels as brackets on four stacks, one for each plane and direction.

        Its machine for projective trees uses only the labels without brackets in the second plane.
        """
        second = BIT_SECOND_PLANE | BIT_LEFT >> 2 | BIT_RIGHT >> 2
        first = [label for label in labels if not int(label, 2) & second]
        four = [bits >> 3 & 8 | bits >> 2 & 7 for bits in (int(label, 2) for label in first)]
        projective = BracketMachine.of(first, [compact_text(code) for code in four], same_direction=True)
        rows = tuple(_brackets(int(label, 2)) for label in labels)
        return BracketStacks(tuple(labels), rows, planes=(1, 1, 2, 2), projective=projective)


def _brackets(bits: int) -> tuple[tuple[int, int], ...]:
    """Return bits as brackets, each a pair of the stack and the code of the bracket.

    Stacks 0 and 1 are for right and left arcs in plane 1, stacks 2 and 3 for right and left arcs in plane 2.
    """
    own = 2 if bits & BIT_SECOND_PLANE else 0
    rope = SUPER if bits & BIT_FARTHEST else 0
    lefts = [plane for plane in (0, 2) if bits & BIT_LEFT >> plane]
    rights = [plane for plane in (0, 2) if bits & BIT_RIGHT >> plane]
    return (
        *([(own, CLOSING | RIGHTWARD | rope)] if bits & BIT_HEAD_LEFT else []),
        *((plane + 1, CLOSING | SUPER) for plane in lefts),
        *([] if bits & BIT_HEAD_LEFT else [(own + 1, rope)]),
        *((plane, RIGHTWARD | SUPER) for plane in rights),
    )
