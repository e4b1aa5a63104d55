"""Compact hierarchical brackets of projective trees: the optimal encoding and the 4-bit encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np
import numpy.typing as npt

from ropewalk.encodings.base import ClosedEncoding, Ids, Labels, read_codes
from ropewalk.encodings.bits import bits_heads
from ropewalk.kernels import compact as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import CLOSES_LEFT, HEAD_LEFT, INCOMING_SUPER, OPENS_RIGHT, SWAPPED
from ropewalk.ropes import Arcs, leaning, structural_arcs
from ropewalk.trees import Bools, Ints, checked_trees, projective, same_trees, scratch, single_rooted, stackable

if TYPE_CHECKING:
    from ropewalk.treebank import Column

Codes = npt.NDArray[np.uint8]


def compact_text(code: int) -> str:
    r"""Write a compact label as text: (\^)? (> | >^ | < | <^) (/^)?, in the other order where it is swapped."""
    incoming = (">" if code & HEAD_LEFT else "<") + ("^" if code & INCOMING_SUPER else "")
    closing = "\\^" if code & CLOSES_LEFT else ""
    opening = "/^" if code & OPENS_RIGHT else ""
    if not code & SWAPPED:
        return closing + incoming + opening
    return incoming + closing + opening if code & HEAD_LEFT else closing + opening + incoming


def _is_optimal(code: int) -> bool:
    """Tell whether a proper cover can have the label: no two ropes share a left end or a right end."""
    beside = bool(code & (CLOSES_LEFT if code & HEAD_LEFT else OPENS_RIGHT))
    if code & SWAPPED:
        return beside and not code & INCOMING_SUPER
    return not (beside and code & INCOMING_SUPER)


OPTIMAL_CODES = np.array([code for code in range(16) if _is_optimal(code)], dtype=np.uint8)
PUBLISHED_CODES = np.array([code for code in range(32) if _is_optimal(code)], dtype=np.uint8)
OPTIMAL_LABELS = tuple(compact_text(int(code)) for code in OPTIMAL_CODES)
PUBLISHED_LABELS = tuple(compact_text(int(code)) for code in PUBLISHED_CODES)
FOUR_BITS = tuple(f"{code:04b}" for code in range(16))


def _places(codes: Codes) -> Codes:
    table = np.zeros(32, dtype=np.uint8)
    table[codes] = np.arange(len(codes))
    return table


def cover_codes(heads: Ints, offsets: Ints, cover: str) -> Codes:
    """Write projective trees by a compact rope cover."""
    heads, offsets = checked_trees(heads, offsets)
    codes = np.empty(len(heads), dtype=np.uint8)
    structural = structural_arcs(Arcs.of_trees(heads, offsets), cover)
    kernel.write(view(heads), view(offsets), view(structural), view(codes))
    return codes


def stack_heads(codes: Codes, offsets: Ints) -> tuple[Ints, Ints, Ints]:
    """Read compact labels with one stack (the paper's Algorithm 1)."""
    return read_codes(kernel.read, codes, offsets, arrays=5)


@final
class Optimal(ClosedEncoding):
    """The bracketing of the proper rope cover: 12 labels for all projective trees."""

    name = "optimal"
    symbol = "O_P"
    summary = "optimal hierarchical brackets: 12 labels for projective trees"
    cites = "Ezquerro, Vilares, Yli-Jyrä & Gómez-Rodríguez 2025, section 3.4"
    policies = ("lift", "refuse", "published")

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The 12 labels, or the 16 that the published labels of non-projective trees take."""
        return PUBLISHED_LABELS if self.policy == "published" else OPTIMAL_LABELS

    def covers_heads(self, heads: Ints, offsets: Ints) -> Bools:
        """Tell which trees are projective."""
        if self.policy != "published":
            return projective(heads, offsets)
        # Published labels of other trees come back or not case by case: try it.
        codes = self._published_codes(heads, offsets)
        return same_trees(heads, self._published_heads(codes, offsets)[0], offsets)

    def write(self, heads: Ints, offsets: Ints, upos: Column | None) -> list[tuple[Ids, tuple[str, ...]]]:
        """Write trees by their proper rope cover."""
        if self.policy == "published":
            return [(_places(PUBLISHED_CODES)[self._published_codes(heads, offsets)], self.alphabet)]
        return [(_places(OPTIMAL_CODES)[cover_codes(heads, offsets, "proper")], self.alphabet)]

    def read(self, labels: Labels) -> tuple[Ints, Ints, Ints]:
        """Read labels with one stack."""
        ids = self.own_ids(labels)
        if self.policy == "published":
            return self._published_heads(PUBLISHED_CODES[ids], labels.offsets)
        return stack_heads(OPTIMAL_CODES[ids], labels.offsets)

    def _published_codes(self, heads: Ints, offsets: Ints) -> Codes:
        heads, offsets = checked_trees(heads, offsets)
        arcs = Arcs.of_trees(heads, offsets)
        _, side = leaning(arcs, structural_arcs(arcs, "proper"))
        codes = np.empty(len(heads), dtype=np.uint8)
        kernel.write_published(
            view(heads),
            view(offsets),
            view(side),
            view(codes),
            view(scratch(offsets)),
            view(scratch(offsets)),
        )
        return codes

    def _published_heads(self, codes: Codes, offsets: Ints) -> tuple[Ints, Ints, Ints]:
        return read_codes(kernel.read_published, codes, offsets, arrays=3)


@final
class FourBit(ClosedEncoding):
    """Four bits per word: the bracketing of the cover that takes the longest arc from each node to each side."""

    name = "four-bit"
    symbol = "B_4"
    summary = "four bits a word: 16 labels for projective trees"
    cites = "Gómez-Rodríguez, Roca & Vilares 2023, 4 and 7-bit Labeling for Projective and Non-Projective Trees"
    policies = ("lift", "refuse", "published")

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The 16 labels."""
        return FOUR_BITS

    def covers_heads(self, heads: Ints, offsets: Ints) -> Bools:
        """Tell which trees are projective; as published, in which no two arcs of one direction cross."""
        if self.policy == "published":
            heads, offsets = checked_trees(heads, offsets)
            one_plane = np.ones(len(heads), dtype=np.int32)
            return stackable(heads, offsets, one_plane, 1) & single_rooted(heads, offsets)
        return projective(heads, offsets)

    def write(self, heads: Ints, offsets: Ints, upos: Column | None) -> list[tuple[Ids, tuple[str, ...]]]:
        """Write trees by the cover `farthest`, which is what the four bits say."""
        return [(cover_codes(heads, offsets, "farthest"), self.alphabet)]

    def read(self, labels: Labels) -> tuple[Ints, Ints, Ints]:
        """Read labels with one stack; as published, with one for each direction."""
        codes = self.own_ids(labels)
        if self.policy == "published":
            return bits_heads(_AS_SEVEN[codes], labels.offsets, one_root=True)
        return stack_heads(codes, labels.offsets)


# b0 b1 b2 b3 of the four bits stand at b0, b2, b3, b4 of the seven.
_AS_SEVEN = np.array([(c & 8) << 3 | (c & 4) << 2 | (c & 3) << 2 for c in range(16)], dtype=np.uint8)
