"""Hexatags: a projective tree as a binary tree with marked heads, whose inner nodes are at the fences before words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from ropewalk.core.columns import Column
from ropewalk.core.trees import Trees, projective
from ropewalk.encodings.base import ClosedEncoding, read_codes
from ropewalk.encodings.machines import Machine, Marks
from ropewalk.kernels import hexatags as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import FENCE_HEAD_RIGHT, FENCE_RIGHT, WORD_RIGHT
from ropewalk.kernels.values import Workspace

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
    """A machine whose state is the number of unfinished subtrees of the binary tree on the stack; 0 at the start."""

    marks_root = False
    start = 0

    def step(self, state: int, label: int) -> tuple[int, Marks] | None:
        """Return the number of unfinished subtrees after the label, or None if it cannot follow.

        The inner node before the word joins the subtree below it on the stack or starts a new one. Then the word is
        added.
        """
        first = state == self.start
        if first and label & (FENCE_RIGHT | FENCE_HEAD_RIGHT):
            return None  # node 0 has no other node yet: it can only be the head of all that follows
        if state == 1:
            return None  # a second dependent of node 0
        parts = 1 if first else state - 1 if label & FENCE_RIGHT else state
        return parts + (0 if label & WORD_RIGHT else 1), Marks()

    def accepts(self, state: int) -> bool:
        """Return whether a sentence may end in `state`: one subtree is left, the complete binary tree."""
        return state == 1

    def height(self, state: int) -> int:
        """Return the number of unfinished subtrees on the stack."""
        return state


@final
class Hexatags(ClosedEncoding):
    """Projective trees as binary trees: each label describes a word, and the inner node at the fence before the word.

    There are eight labels of three characters.

    - `L` or `R`: the inner node is a left or a right child. The top node counts as a left child.
    - `<` or `>`: the head of the inner node's words is in its left or in its right child.
    - `l` or `r`: the word is a left or a right child.
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
        """Return for each tree whether it is projective."""
        return projective(trees)

    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Return the labels of the trees' binary trees, as one column."""
        codes = np.empty(len(trees.heads), dtype=np.uint8)
        kernel.write(view(trees.heads), view(trees.offsets.array), view(codes), Workspace(trees.offsets.longest + 1))
        return [Column(codes, self.alphabet)]

    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Return the heads that labels spell, -1 if missing, and faults; a stack builds the binary tree."""
        return read_codes(kernel.read, self.own_ids(labels), labels.offsets)

    def machine(self, labels: Sequence[str]) -> HexatagMachine | None:
        """Return the machine of the eight labels, or None for any other list of labels."""
        return HexatagMachine(tuple(labels)) if tuple(labels) == HEXATAGS else None
