"""Compact hierarchical brackets of projective trees: the optimal encoding and the 4-bit encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np
import numpy.typing as npt

from ropewalk.core.arcs import Arcs
from ropewalk.core.ropes import leaning, structural_arcs
from ropewalk.core.trees import Trees, projective, same_heads, scratch, single_rooted, stackable
from ropewalk.encodings.base import ClosedEncoding, Ids, Labels, read_codes
from ropewalk.encodings.bits import bits_heads
from ropewalk.encodings.machines import BracketMachine
from ropewalk.encodings.text import compact_text
from ropewalk.kernels import compact as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import CLOSES_LEFT, HEAD_LEFT, INCOMING_SUPER, OPENS_RIGHT, SWAPPED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.core.columns import Column
    from ropewalk.core.ragged import Offsets

Codes = npt.NDArray[np.uint8]


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


def cover_codes(trees: Trees, cover: str) -> Codes:
    """Write projective trees by a compact rope cover."""
    structural = structural_arcs(Arcs.of_trees(trees), cover)
    codes = np.empty(len(trees.heads), dtype=np.uint8)
    kernel.write(view(trees.heads), view(trees.offsets.array), view(structural), view(codes))
    return codes


def stack_heads(
    codes: Codes, offsets: Offsets, *, one_root: bool = False, peek: bool = False
) -> tuple[Ints, Ints, Ints]:
    """Read compact labels with one stack (the paper's Algorithm 1); for the options see the kernel."""
    return read_codes(kernel.read, codes, offsets, int(one_root), int(peek), arrays=3)


@final
class Optimal(ClosedEncoding):
    """The bracketing of the proper rope cover: 12 labels for all projective trees.

    Two policies write non-projective trees as they are and lose some arcs. With `published`, an auxiliary arc's
    bracket at the dependent shows the end at which it leans, and brackets stand by the position of their arc's other
    end, which takes 16 labels. With `published-12` it shows the arc's direction and the order is fixed, so that there
    are 12; the reader takes whatever bracket lies on top of the stack for a closing semibracket. The paper's figures
    are of the first on five treebanks and of the second on Uyghur and Wolof.
    """

    name = "optimal"
    symbol = "O_P"
    summary = "optimal hierarchical brackets: 12 labels for projective trees"
    cites = "Ezquerro, Vilares, Yli-Jyrä & Gómez-Rodríguez 2025, section 3.5"
    policies = ("lift", "refuse", "published", "published-12")

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The 12 labels, or the 16 that the published labels of non-projective trees take."""
        return PUBLISHED_LABELS if self.policy == "published" else OPTIMAL_LABELS

    @property
    def keeps_roots(self) -> bool:
        """The published figures of the form with 12 labels rest on sentences with several roots."""
        return self.policy == "published-12"

    def covered(self, trees: Trees) -> Bools:
        """Tell which trees are projective."""
        if self.policy not in {"published", "published-12"}:
            return projective(trees)
        # Published labels of other trees come back or not case by case: try it.
        heads, *_ = self._read_codes(self._codes(trees), trees.offsets)
        return same_heads(trees.heads, heads, trees.offsets)

    def write(self, trees: Trees, upos: Column | None) -> list[tuple[Ids, tuple[str, ...]]]:
        """Write trees by their proper rope cover."""
        return [(_places(self._alphabet_codes)[self._codes(trees)], self.alphabet)]

    def read(self, labels: Labels) -> tuple[Ints, Ints, Ints]:
        """Read labels with one stack."""
        return self._read_codes(self._alphabet_codes[self.own_ids(labels)], labels.offsets)

    def brackets(self, labels: Sequence[str]) -> tuple[str, ...] | None:
        """Labels are brackets; published ones are matched by other rules."""
        return tuple(labels) if self.policy in {"lift", "refuse"} else None

    def machine(self, labels: Sequence[str]) -> BracketMachine:
        """Drive one stack.

        The labels that only the published encoding has are for trees that are not projective: no stack bounds them.
        """
        return BracketMachine.of(labels, [label if label in OPTIMAL_LABELS else None for label in labels])

    @property
    def _alphabet_codes(self) -> Codes:
        return PUBLISHED_CODES if self.policy == "published" else OPTIMAL_CODES

    def _codes(self, trees: Trees) -> Codes:
        if self.policy != "published":
            return cover_codes(trees, "proper")
        arcs = Arcs.of_trees(trees)
        _, side = leaning(arcs, structural_arcs(arcs, "proper"))
        codes = np.empty(len(trees.heads), dtype=np.uint8)
        kernel.write_published(
            view(trees.heads),
            view(trees.offsets.array),
            view(side),
            view(codes),
            view(scratch(trees.offsets)),
            view(scratch(trees.offsets)),
        )
        return codes

    def _read_codes(self, codes: Codes, offsets: Offsets) -> tuple[Ints, Ints, Ints]:
        return stack_heads(codes, offsets, one_root=self.policy == "published", peek=self.policy == "published-12")


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

    def covered(self, trees: Trees) -> Bools:
        """Tell which trees are projective; as published, in which no two arcs of one direction cross."""
        if self.policy == "published":
            one_plane = np.ones(len(trees.heads), dtype=np.int32)
            return stackable(trees, one_plane, 1) & single_rooted(trees)
        return projective(trees)

    def write(self, trees: Trees, upos: Column | None) -> list[tuple[Ids, tuple[str, ...]]]:
        """Write trees by the cover `farthest`, which is what the four bits say."""
        return [(cover_codes(trees, "farthest"), self.alphabet)]

    def read(self, labels: Labels) -> tuple[Ints, Ints, Ints]:
        """Read labels with one stack; as published, with one for each direction."""
        codes = self.own_ids(labels)
        if self.policy == "published":
            return bits_heads(_AS_SEVEN[codes], labels.offsets, one_root=True)
        return stack_heads(codes, labels.offsets)

    def brackets(self, labels: Sequence[str]) -> tuple[str, ...] | None:
        """Write bits as brackets; published ones are matched by other rules."""
        return None if self.policy == "published" else tuple(compact_text(int(label, 2)) for label in labels)

    def machine(self, labels: Sequence[str]) -> BracketMachine:
        """Drive one stack, where what leans does so on an arc of its own direction."""
        return BracketMachine.of(labels, [compact_text(int(label, 2)) for label in labels], same_direction=True)


# b0 b1 b2 b3 of the four bits stand at b0, b2, b3, b4 of the seven.
_AS_SEVEN = np.array([(c & 8) << 3 | (c & 4) << 2 | (c & 3) << 2 for c in range(16)], dtype=np.uint8)
