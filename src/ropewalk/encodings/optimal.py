"""Optimal hierarchical brackets: of projective trees (O_P), and of any tree or graph (O_NP).

The second has brackets with an index, which skip others (the paper's section 4).
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
from ropewalk.core.trees import Trees, projective, same_heads, scratch
from ropewalk.encodings.arc_encodings import ArcEncoding, ArcTrees, SpelledArcs
from ropewalk.encodings.base import ClosedEncoding, read_codes
from ropewalk.encodings.bracket_text import bracket_symbols, bracket_text, compact_text, number_labels, spell
from ropewalk.encodings.graphs import GraphEncoding
from ropewalk.encodings.labels import FaultBuffer, Faults, Labels
from ropewalk.encodings.machines import BracketMachine, BracketStacks
from ropewalk.errors import EncodingOptionError, LabelError
from ropewalk.kernels import compact as kernel
from ropewalk.kernels import ropes as ropes_kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import CLOSES_LEFT, HEAD_LEFT, INCOMING_SUPER, INDEX, OPENS_RIGHT, SWAPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.core.arrays import Bools, Ints

Codes = npt.NDArray[np.uint8]


def _is_optimal(code: int) -> bool:
    """Return whether a proper cover can have the label: no two ropes share a left end or a right end."""
    beside = bool(code & (CLOSES_LEFT if code & HEAD_LEFT else OPENS_RIGHT))
    if code & SWAPPED:
        return beside and not code & INCOMING_SUPER
    return not (beside and code & INCOMING_SUPER)


OPTIMAL_CODES = np.array([code for code in range(16) if _is_optimal(code)], dtype=np.uint8)
PUBLISHED_CODES = np.array([code for code in range(32) if _is_optimal(code)], dtype=np.uint8)
OPTIMAL_LABELS = tuple(compact_text(int(code)) for code in OPTIMAL_CODES)
PUBLISHED_LABELS = tuple(compact_text(int(code)) for code in PUBLISHED_CODES)


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


def stack_heads(codes: Codes, offsets: Offsets, *, one_root: bool = False, peek: bool = False) -> tuple[Ints, Faults]:
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
        """Return which trees are projective."""
        if self.policy not in {"published", "published-12"}:
            return projective(trees)
        # Published labels of other trees come back or not case by case: try it.
        heads, *_ = self._read_codes(self._codes(trees), trees.offsets)
        return same_heads(trees.heads, heads, trees.offsets)

    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Write trees by their proper rope cover."""
        return [Column(_places(self._alphabet_codes)[self._codes(trees)], self.alphabet)]

    def read(self, labels: Labels) -> tuple[Ints, Faults]:
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

    def _read_codes(self, codes: Codes, offsets: Offsets) -> tuple[Ints, Faults]:
        return stack_heads(codes, offsets, one_root=self.policy == "published", peek=self.policy == "published-12")


def bracket_labels(arcs: Arcs, cover: str) -> tuple[Ints, Ints]:
    """Write the bracketing that a named cover induces: all brackets, and where each word's begin."""
    return brackets(arcs, structural_arcs(arcs, cover))


def bracketing(cover: RopeCover) -> list[str]:
    """Write the hierarchical bracketing that a rope cover induces, one label per word."""
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
    """Match bracket labels into arcs. With `trees`, refuse arcs that give a word a second head or close a cycle."""
    symbols, starts = spell(column.names, from_text)
    labels = column.ids.astype(np.int32)
    most = int(np.diff(starts)[labels].sum()) + len(labels)
    heads, dependents = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    arc_offsets = np.empty(len(offsets) + 1, dtype=np.int32)
    faults = FaultBuffer(2 * most + len(labels))
    ropes_kernel.match(
        view(labels),
        view(offsets.array),
        view(symbols),
        view(starts),
        int(keep_root),
        int(trees),
        view(heads),
        view(dependents),
        view(arc_offsets),
        *faults.views(),
        *(view(np.empty(most + 1, dtype=np.int32)) for _ in range(2)),
        *(view(scratch(offsets)) for _ in range(2)),
    )
    return SpelledArcs(heads, dependents, arc_offsets, faults, settled=trees)


class HierarchicalArcs(ArcEncoding):
    """The bracketing of the proper rope cover, brackets that skip others bearing an index."""

    @final
    def write_arcs(self, arcs: Arcs) -> list[Column]:
        """Write arcs by their proper rope cover."""
        return [number_labels(*bracket_labels(arcs, "proper"), bracket_text)]

    @final
    def read_arcs(self, columns: Sequence[Column], offsets: Offsets) -> SpelledArcs:
        """Match brackets; for trees, as long as their arcs make a tree."""
        return match_brackets(columns[0], offsets, self._symbols, trees=self.of_trees)

    @final
    def _symbols(self, text: str) -> list[int]:
        return bracket_symbols(self.spec, text)


@final
class OptimalNonprojective(HierarchicalArcs, ArcTrees):
    """The bracketing of the proper rope cover of any tree, brackets that skip others bearing an index."""

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
        """Return the options that differ from their defaults."""
        return super().options() | ({} if self.max_index < 0 else {"max_index": self.max_index})

    def covered(self, trees: Trees) -> Bools:
        """Return which trees need no index above the cap: all of them if there is none."""
        if self.max_index < 0:
            return np.ones(len(trees), dtype=np.bool_)
        return largest_index(trees) <= self.max_index

    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if the text is no row of brackets, or an index is above the cap."""
        if any(0 <= self.max_index < symbol // INDEX for symbol in self._symbols(text)):
            raise LabelError(self.spec, text, f"no bracket with more than {self.max_index} *")

    def brackets(self, labels: Sequence[str]) -> tuple[str, ...]:
        """Labels are brackets."""
        return tuple(labels)

    def bracket_stacks(self, labels: Sequence[str]) -> BracketStacks:
        """Return labels as brackets on one stack; projective trees need only the labels of the optimal encoding."""
        rows = (tuple((0, symbol) for symbol in self._symbols(label)) for label in labels)
        plain = [label for label in labels if label in OPTIMAL_LABELS]
        return BracketStacks(tuple(labels), tuple(rows), projective=BracketMachine.of(plain, plain))


@final
class HierarchicalGraphs(HierarchicalArcs, GraphEncoding):
    """The bracketing of the proper rope cover of any graph, brackets that skip others bearing an index."""

    name = "optimal-nonprojective"
    summary = "optimal hierarchical brackets with indices: every graph"
    cites = "Ezquerro, Vilares, Yli-Jyrä & Gómez-Rodríguez 2025; 2025, Hierarchical Bracketing … for Dependency Graphs"

    def fitting(self, arcs: Arcs) -> Bools:
        """Every arc fits."""
        return np.ones(len(arcs), dtype=np.bool_)

    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if the text is no row of brackets."""
        self._symbols(text)


def largest_index(trees: Trees) -> Ints:
    """Return for each tree the largest index of its optimal non-projective labels."""
    symbols, starts = bracket_labels(Arcs.of_trees(trees), "proper")
    indices = np.concatenate([symbols // INDEX, [0]])
    bounds = starts[trees.offsets.array]
    largest = np.maximum.reduceat(indices, bounds[:-1]) if len(trees) else np.zeros(0, dtype=np.int32)
    return np.where(bounds[1:] > bounds[:-1], largest, 0).astype(np.int32)
