"""Optimal hierarchical brackets: an encoding of projective trees (O_P), and one of any trees and graphs (O_NP).

A bracket of O_NP has an index: the number of other brackets that it skips before its match (the paper's section 4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np
import numpy.typing as npt

from ropewalk.core.arcs import Arcs
from ropewalk.core.arrays import ints
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.core.ropes import RopeCover, brackets, leaning, structural_arcs
from ropewalk.core.trees import Trees, projective, same_heads
from ropewalk.encodings.arc_encodings import ArcEncoding, ArcTrees, SpelledArcs
from ropewalk.encodings.base import ClosedEncoding, read_codes
from ropewalk.encodings.bracket_text import bracket_symbols, bracket_text, compact_text, number_labels, spell
from ropewalk.encodings.graphs import GraphEncoding
from ropewalk.encodings.machines import BracketMachine, BracketStacks
from ropewalk.errors import EncodingOptionError, LabelError
from ropewalk.kernels import optimal as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import CLOSES_LEFT, HEAD_LEFT, INCOMING_SUPER, INDEX, OPENS_RIGHT, SWAPPED
from ropewalk.kernels.values import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.encodings.labels import Faults, Labels

Codes = npt.NDArray[np.uint8]


def _is_optimal(code: int) -> bool:
    """Return whether the label `code`, as bits, occurs with a proper rope cover.

    In a proper cover no two ropes share a left end or a right end.
    """
    beside = bool(code & (CLOSES_LEFT if code & HEAD_LEFT else OPENS_RIGHT))
    if code & SWAPPED:
        return beside and not code & INCOMING_SUPER
    return not (beside and code & INCOMING_SUPER)


OPTIMAL_CODES = np.array([code for code in range(16) if _is_optimal(code)], dtype=np.uint8)
PUBLISHED_CODES = np.array([code for code in range(32) if _is_optimal(code)], dtype=np.uint8)
OPTIMAL_LABELS = tuple(compact_text(int(code)) for code in OPTIMAL_CODES)
PUBLISHED_LABELS = tuple(compact_text(int(code)) for code in PUBLISHED_CODES)


def _numbers_of(codes: Codes) -> Codes:
    table = np.zeros(32, dtype=np.uint8)
    table[codes] = np.arange(len(codes))
    return table


def cover_codes(trees: Trees, cover: str) -> Codes:
    """Return the compact label of each word, as bits: the bracketing of the rope cover named `cover`.

    The bits are those of `kernels.codes`; `compact_text` writes them as brackets.
    """
    return _cover_codes(trees, structural_arcs(Arcs.of_trees(trees), cover))


def _cover_codes(trees: Trees, structural: Codes) -> Codes:
    codes = np.empty(len(trees.heads), dtype=np.uint8)
    kernel.write(view(trees.heads), view(trees.offsets.array), view(structural), view(codes))
    return codes


def stack_heads(codes: Codes, offsets: Offsets, *, one_root: bool = False, peek: bool = False) -> tuple[Ints, Faults]:
    """Read compact labels with one stack (the paper's Algorithm 1); return heads, -1 if missing, and faults.

    `codes` has the bits of each word's label. With `one_root` a second dependent of node 0 is a fault. With `peek` a
    closing semibracket matches the topmost bracket of any kind.
    """
    return read_codes(kernel.read, codes, offsets, int(one_root), int(peek))


@final
class Optimal(ClosedEncoding):
    """The bracketing of the proper rope cover: 12 labels for all projective trees.

    Two policies write non-projective trees without lifting, and lose some of their arcs. They differ in the semibracket
    of an auxiliary arc, which is at its dependent.

    - `published`: the semibracket shows whether the arc shares the left or the right end of its rope. The brackets of a
      word are ordered by the position of the other end of their arc. This needs 16 labels.
    - `published-12`: the semibracket shows the direction of the arc. The order of brackets is fixed. This needs 12
      labels. A closing semibracket matches the bracket on top of the stack, of any kind.

    The paper's figures are those of `published` on five treebanks and of `published-12` on Uyghur and Wolof.
    """

    name = "optimal"
    symbol = "O_P"
    summary = "optimal hierarchical brackets: 12 labels for projective trees"
    cites = "Ezquerro, Vilares, Yli-Jyrä & Gómez-Rodríguez 2025, section 3.5"
    policies = ("lift", "refuse", "published", "published-12")

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The 12 labels, or the 16 labels of the policy `published`."""
        return PUBLISHED_LABELS if self.policy == "published" else OPTIMAL_LABELS

    @property
    def keeps_roots(self) -> bool:
        """Whether `recover` keeps several roots of a sentence: only with the policy `published-12`, as in the paper."""
        return self.policy == "published-12"

    def covered(self, trees: Trees) -> Bools:
        """Return for each tree whether it is projective; with published policies, whether its labels restore it."""
        if self.policy not in {"published", "published-12"}:
            return projective(trees)
        # Published labels restore some other trees too: try each.
        heads, *_ = self._read_codes(self._codes(trees), trees.offsets)
        return same_heads(trees.heads, heads, trees.offsets)

    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Return the labels of the proper rope covers of `trees`, as one column."""
        return [Column(_numbers_of(self._alphabet_codes)[self._codes(trees)], self.alphabet)]

    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Return the heads that labels spell, -1 if missing, and faults; brackets are matched with one stack."""
        return self._read_codes(self._alphabet_codes[self.own_ids(labels)], labels.offsets)

    def brackets(self, labels: Sequence[str]) -> tuple[str, ...] | None:
        """Return the labels themselves, which are brackets; None with published policies, whose matching differs."""
        return tuple(labels) if self.policy in {"lift", "refuse"} else None

    def machine(self, labels: Sequence[str]) -> BracketMachine:
        """Return a machine with one stack, which accepts the 12 labels of projective trees.

        It refuses the four additional labels of `published`, which only non-projective trees need.
        """
        return BracketMachine.of(labels, [label if label in OPTIMAL_LABELS else None for label in labels])

    @property
    def _alphabet_codes(self) -> Codes:
        return PUBLISHED_CODES if self.policy == "published" else OPTIMAL_CODES

    def _codes(self, trees: Trees) -> Codes:
        if self.policy != "published":
            return cover_codes(trees, "proper")
        arcs = Arcs.of_trees(trees)
        structural = structural_arcs(arcs, "proper")
        codes = _cover_codes(trees, structural)
        _, side = leaning(arcs, structural)
        workspace = Workspace(trees.offsets.longest + 1)
        kernel.publish(view(trees.heads), view(trees.offsets.array), view(side), view(codes), workspace)
        return codes

    def _read_codes(self, codes: Codes, offsets: Offsets) -> tuple[Ints, Faults]:
        return stack_heads(codes, offsets, one_root=self.policy == "published", peek=self.policy == "published-12")


def bracket_labels(arcs: Arcs, cover: str) -> tuple[Ints, Ints]:
    """Return the brackets of the rope cover named `cover`, for all words in one array, and the start of each word's."""
    return brackets(arcs, structural_arcs(arcs, cover))


def bracketing(cover: RopeCover) -> list[str]:
    """Return the hierarchical brackets of a rope cover as text, one label for each word."""
    arcs = Arcs(
        ints([head for head, _ in cover.arcs], "heads"),
        ints([dependent for _, dependent in cover.arcs], "dependents"),
        Offsets.one(len(cover.arcs)),
        ints([cover.words], "number of words"),
    )
    symbols, starts = brackets(arcs, np.array(cover.structural, dtype=np.uint8))
    return [bracket_text(symbols[starts[word] : starts[word + 1]].tolist()) for word in range(cover.words)]


def match_brackets(
    column: Column,
    offsets: Offsets,
    from_text: Callable[[str], list[int]],
    *,
    keep_root: bool = False,
    trees: bool = False,
) -> SpelledArcs:
    """Return the arcs that the bracket labels of `column` spell, with the faults.

    `from_text` reads a label into codes of brackets. With `keep_root` node 0's bracket is never removed, so that there
    may be several roots. With `trees` an arc that makes a second head or a cycle is left out.
    """
    spelling, most = spell(column, offsets, from_text)
    arcs = SpelledArcs.up_to(most + len(column), offsets, settled=trees)
    workspace = Workspace(offsets.longest + 1, most + 1)
    kernel.match(spelling, keep_root, trees, arcs.buffers(), arcs.faults.buffers, workspace)
    return arcs


class HierarchicalArcs(ArcEncoding):
    """Base class: the bracketing of the proper rope cover, with an index for brackets that skip others."""

    @final
    def write_arcs(self, arcs: Arcs) -> list[Column]:
        """Return the brackets of the arcs' proper rope cover, as one column of labels."""
        return [number_labels(*bracket_labels(arcs, "proper"), bracket_text)]

    @final
    def read_arcs(self, columns: Sequence[Column], offsets: Offsets) -> SpelledArcs:
        """Return the arcs of matching brackets; for trees, without arcs that make a second head or a cycle."""
        return match_brackets(columns[0], offsets, self._symbols, trees=self.of_trees)

    @final
    def _symbols(self, text: str) -> list[int]:
        return bracket_symbols(self.spec, text)


@final
class OptimalNonprojective(HierarchicalArcs, ArcTrees):
    """Trees of any kind with the brackets of their proper rope cover; brackets that skip others have an index."""

    name = "optimal-nonprojective"
    symbol = "O_NP"
    summary = "optimal hierarchical brackets with indices: every tree"
    cites = "Ezquerro, Vilares, Yli-Jyrä & Gómez-Rodríguez 2025, section 4"

    def __init__(self, *, policy: str = "lift", max_index: int = -1) -> None:
        super().__init__(policy=policy)
        if max_index < -1:
            raise EncodingOptionError(f"max_index must be 0 or more, or -1 for no limit, found {max_index}")
        self.max_index = max_index

    def options(self) -> dict[str, str | int]:
        """Return the options whose values differ from their defaults, by name."""
        return super().options() | ({} if self.max_index < 0 else {"max_index": self.max_index})

    def covered(self, trees: Trees) -> Bools:
        """Return for each tree whether its labels need no index above `max_index`; always true if that is -1."""
        if self.max_index < 0:
            return np.ones(len(trees), dtype=np.bool_)
        return largest_index(trees) <= self.max_index

    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` unless the text consists of brackets, none with an index above `max_index`."""
        if any(0 <= self.max_index < symbol // INDEX for symbol in self._symbols(text)):
            raise LabelError(self.spec, text, f"no bracket with more than {self.max_index} *")

    def brackets(self, labels: Sequence[str]) -> tuple[str, ...]:
        """Return the labels themselves, which are brackets."""
        return tuple(labels)

    def bracket_stacks(self, labels: Sequence[str]) -> BracketStacks:
        """Return the labels as brackets on one stack.

        Its machine for projective trees uses only those labels that `Optimal` has too.
        """
        rows = (tuple((0, symbol) for symbol in self._symbols(label)) for label in labels)
        plain = [label for label in labels if label in OPTIMAL_LABELS]
        return BracketStacks(tuple(labels), tuple(rows), projective=BracketMachine.of(plain, plain))


@final
class HierarchicalGraphs(HierarchicalArcs, GraphEncoding):
    """Graphs of any kind with the brackets of their proper rope cover; brackets that skip others have an index."""

    name = "optimal-nonprojective"
    summary = "optimal hierarchical brackets with indices: every graph"
    cites = "Ezquerro, Vilares, Yli-Jyrä & Gómez-Rodríguez 2025; 2025, Hierarchical Bracketing … for Dependency Graphs"

    def fitting(self, arcs: Arcs) -> Bools:
        """Return true for every arc: the labels can hold all arcs."""
        return np.ones(len(arcs), dtype=np.bool_)

    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` unless the text consists of brackets."""
        self._symbols(text)


def largest_index(trees: Trees) -> Ints:
    """Return for each tree the largest index of a bracket in its labels of `OptimalNonprojective`."""
    symbols, starts = bracket_labels(Arcs.of_trees(trees), "proper")
    indices = np.concatenate([symbols // INDEX, [0]])
    bounds = starts[trees.offsets.array]
    largest = np.maximum.reduceat(indices, bounds[:-1]) if len(trees) else np.zeros(0, dtype=np.int32)
    return np.where(bounds[1:] > bounds[:-1], largest, 0).astype(np.int32)
