"""Optimal hierarchical brackets of any tree or graph: brackets with an index that skip others."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from ropewalk.core.arcs import Arcs
from ropewalk.core.arrays import ints
from ropewalk.core.ragged import Offsets
from ropewalk.core.ropes import RopeCover, brackets, structural_arcs
from ropewalk.core.trees import Trees, scratch
from ropewalk.encodings.base import Encoding, Ids, Labels, fault_room, found_faults
from ropewalk.encodings.compact import OPTIMAL_LABELS
from ropewalk.encodings.machines import BracketMachine, BracketStacks
from ropewalk.encodings.text import bracket_symbols, bracket_text, number_labels, spell
from ropewalk.errors import EncodingOptionError, LabelError
from ropewalk.kernels import ropes as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import INDEX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.core.columns import Column


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


def match_brackets(  # noqa: PLR0913 - labels, what they spell, and how to read it
    ids: Ids, offsets: Offsets, symbols: Ints, starts: Ints, *, keep_root: bool = False, trees: bool = False
) -> tuple[Ints, Ints, Ints, tuple[Ints, Ints, Ints]]:
    """Turn bracket labels into arcs: heads, dependents, where each sentence's arcs begin, and faults.

    With `trees`, only into arcs that give no word a second head and close no cycle.
    """
    labels = ids.astype(np.int32)
    most = int(np.diff(starts)[labels].sum()) + len(labels)
    heads, dependents = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    arc_offsets = np.empty(len(offsets) + 1, dtype=np.int32)
    faults = fault_room(2 * most + len(labels))
    kernel.match(
        view(labels),
        view(offsets.array),
        view(symbols),
        view(starts),
        int(keep_root),
        int(trees),
        view(heads),
        view(dependents),
        view(arc_offsets),
        *(view(array) for array in faults),
        *(view(np.empty(most + 1, dtype=np.int32)) for _ in range(2)),
        *(view(scratch(offsets)) for _ in range(2)),
    )
    return heads, dependents, arc_offsets, faults


@final
class OptimalNonprojective(Encoding):
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
        """The options that differ from their defaults."""
        return super().options() | ({} if self.max_index < 0 else {"max_index": self.max_index})

    def covered(self, trees: Trees) -> Bools:
        """Tell which trees need no index above the cap: all of them if there is none."""
        if self.max_index < 0:
            return np.ones(len(trees), dtype=np.bool_)
        return largest_index(trees) <= self.max_index

    def write(self, trees: Trees, upos: Column | None) -> list[tuple[Ids, tuple[str, ...]]]:
        """Write trees by their proper rope cover."""
        return [number_labels(*bracket_labels(Arcs.of_trees(trees), "proper"), bracket_text)]

    def read(self, labels: Labels) -> tuple[Ints, Ints, Ints]:
        """Match brackets, as long as their arcs make a tree."""
        symbols, starts = spell(labels.alphabets[0], self._symbols)
        arc_heads, dependents, arc_offsets, faults = match_brackets(
            labels.ids[0], labels.offsets, symbols, starts, trees=True
        )
        heads = np.full(labels.offsets.total, -1, dtype=np.int32)
        many = int(arc_offsets[-1])
        heads[dependents[:many] + np.repeat(labels.offsets.starts, np.diff(arc_offsets)) - 1] = arc_heads[:many]
        return heads, *found_faults(*faults)

    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if the text is no row of brackets, or an index is above the cap."""
        if any(0 <= self.max_index < symbol // INDEX for symbol in self._symbols(text)):
            raise LabelError(self.spec, text, f"no bracket with more than {self.max_index} *")

    def brackets(self, labels: Sequence[str]) -> tuple[str, ...]:
        """Labels are brackets."""
        return tuple(labels)

    def bracket_stacks(self, labels: Sequence[str]) -> BracketStacks:
        """Put all brackets on one stack; projective trees need the labels of the optimal encoding alone."""
        rows = (tuple((0, symbol) for symbol in self._symbols(label)) for label in labels)
        plain = [label for label in labels if label in OPTIMAL_LABELS]
        return BracketStacks(tuple(labels), tuple(rows), projective=BracketMachine.of(plain, plain))

    def _symbols(self, text: str) -> list[int]:
        return bracket_symbols(self.spec, text)


def largest_index(trees: Trees) -> Ints:
    """Give for each of many trees the largest index of its optimal non-projective labels."""
    symbols, starts = bracket_labels(Arcs.of_trees(trees), "proper")
    indices = np.concatenate([symbols // INDEX, [0]])
    bounds = starts[trees.offsets.array]
    largest = np.maximum.reduceat(indices, bounds[:-1]) if len(trees) else np.zeros(0, dtype=np.int32)
    return np.where(bounds[1:] > bounds[:-1], largest, 0).astype(np.int32)
