"""Hexatags: a projective tree as a binary head tree, written from fence to fence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from ropewalk.core.columns import Column
from ropewalk.core.trees import Trees, projective, scratch
from ropewalk.encodings.base import ClosedEncoding, read_codes
from ropewalk.encodings.machines import Machine, Marks
from ropewalk.kernels import hexatags as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import FENCE_HEAD_RIGHT, FENCE_RIGHT, WORD_RIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.encodings.labels import Faults, Labels

HEXATAGS = tuple(
    ("R" if code & FENCE_RIGHT else "L")
    + (">" if code & FENCE_HEAD_RIGHT else "<")
    + ("r" if code & WORD_RIGHT else "l")
    for code in range(8)
)


@final
@dataclass(frozen=True)
class HexatagMachine(Machine):
    """The number of unfinished parts of the binary tree; 0 before the first word."""

    marks_root = False
    start = 0

    def step(self, state: int, label: int) -> tuple[int, Marks] | None:
        """Hang the fence's node under the part below or start anew, then put the word in place."""
        first = state == self.start
        if first and label & (FENCE_RIGHT | FENCE_HEAD_RIGHT):
            return None  # node 0 stands alone: it can only be the head of all that follows
        if state == 1:
            return None  # a second dependent of node 0
        parts = 1 if first else state - 1 if label & FENCE_RIGHT else state
        return parts + (0 if label & WORD_RIGHT else 1), Marks()

    def accepts(self, state: int) -> bool:
        """The binary tree is whole."""
        return state == 1

    def height(self, state: int) -> int:
        """How many parts are on the stack."""
        return state


@final
class Hexatags(ClosedEncoding):
    """Eight labels: of the inner node at the fence before the word, and of the word itself.

    `L` or `R`: the inner node is a left or a right child; `<` or `>`: its head is in its left or its right child;
    `l` or `r`: the word is a left or a right child. The node at the top counts as a left child.
    """

    name = "hexatags"
    symbol = "H"
    summary = "binary head trees: 8 labels for projective trees"
    cites = "Amini, Liu & Cotterell 2023, Hexatagging: Projective Dependency Parsing as Tagging"

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The eight labels."""
        return HEXATAGS

    def covered(self, trees: Trees) -> Bools:
        """Return which trees are projective."""
        return projective(trees)

    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Write trees by way of their binary head trees."""
        codes = np.empty(len(trees.heads), dtype=np.uint8)
        kernel.write(
            view(trees.heads), view(trees.offsets.array), view(codes), *(view(scratch(trees.offsets)) for _ in range(6))
        )
        return [Column(codes, self.alphabet)]

    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Build the binary head tree from left to right with a stack."""
        return read_codes(kernel.read, self.own_ids(labels), labels.offsets, arrays=4)

    def machine(self, labels: Sequence[str]) -> HexatagMachine | None:
        """Drive the stack of unfinished parts."""
        return HexatagMachine(tuple(labels)) if tuple(labels) == HEXATAGS else None
