"""The 7-bit encoding: brackets in two planes, each with a stack for each direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
import numpy.typing as npt

from ropewalk.encodings.base import ClosedEncoding, Ids, Labels, read_codes
from ropewalk.encodings.machines import BracketMachine, Machine, Marks
from ropewalk.encodings.text import compact_text
from ropewalk.kernels import bits as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import BIT_FARTHEST, BIT_HEAD_LEFT, BIT_LEFT, BIT_RIGHT, BIT_SECOND_PLANE
from ropewalk.trees import Bools, Ints, checked_trees, planes, scratch, single_rooted, stackable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.treebank import Column

SEVEN_BITS = tuple(f"{code:07b}" for code in range(128))


def bits_heads(codes: npt.NDArray[np.uint8], offsets: Ints, *, one_root: bool) -> tuple[Ints, Ints, Ints]:
    """Read seven bits a word; with `one_root` a second dependent of node 0 is refused."""
    return read_codes(kernel.read, codes, offsets, int(one_root), arrays=5)


@final
@dataclass(frozen=True)
class BitsMachine(Machine):
    """How many words wait on each stack of the 7-bit encoding: (left, right) of plane 1, then of plane 2.

    On the left stacks only words count that are the farthest of their head: the others leave with the one
    below. Node 0 is the first on the right stack of plane 1. It accepts sequences that match; whether they spell a tree
    must be seen.
    """

    spells_trees = False
    start = (0, 1, 0, 0, 0)

    def step(self, state: tuple[int, ...], label: int) -> tuple[tuple[int, ...], Marks] | None:  # noqa: C901 - one rule per bit
        """Take words off the stacks and put them there as the bits say."""
        bits = int(self.labels[label], 2)
        counts = list(state)
        own = 2 if bits & BIT_SECOND_PLANE else 0
        root = False
        if bits & BIT_HEAD_LEFT:
            if counts[own + 1] == 0:
                return None
            if own == 0 and counts[1] == 1 and not counts[4]:
                if not bits & BIT_FARTHEST:
                    return None
                root = True
                counts[4] = 1
            counts[own + 1] -= bool(bits & BIT_FARTHEST)
        for plane in (0, 1):
            if bits & BIT_LEFT >> 2 * plane:
                if counts[2 * plane] == 0:
                    return None
                counts[2 * plane] -= 1
        if not bits & BIT_HEAD_LEFT:
            if bits & BIT_FARTHEST:
                counts[own] += 1
            elif counts[own] == 0:
                return None
        for plane in (0, 1):
            counts[2 * plane + 1] += bool(bits & BIT_RIGHT >> 2 * plane)
        return tuple(counts), Marks(root=root)

    def accepts(self, state: tuple[int, ...]) -> bool:
        """Nothing waits, and there is a root."""
        return state == (0, 0, 0, 0, 1)

    def height(self, state: tuple[int, ...]) -> int:
        """How many words wait on the fullest stack."""
        return max(state[:4])

    def projective_part(self) -> BracketMachine:
        """Take the labels that use the first plane alone, as the four bits that they then are."""
        second = BIT_SECOND_PLANE | BIT_LEFT >> 2 | BIT_RIGHT >> 2
        first = [label for label in self.labels if not int(label, 2) & second]
        four = [bits >> 3 & 8 | bits >> 2 & 7 for bits in (int(label, 2) for label in first)]
        return BracketMachine.of(first, [compact_text(code) for code in four], same_direction=True)


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

    def machine(self, labels: Sequence[str]) -> BitsMachine:
        """Drive a stack for each plane and direction."""
        return BitsMachine(tuple(labels))
