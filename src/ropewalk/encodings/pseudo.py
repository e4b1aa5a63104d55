"""Pseudo-projective encoding: lift a tree, write it with any projective encoding, and lower what is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from ropewalk.core.trees import same_trees
from ropewalk.encodings.base import Encoding, Ids, Labels
from ropewalk.errors import EncodingOptionError
from ropewalk.projectivity import SCHEMES, lift, lower

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.core.columns import Column
    from ropewalk.encodings.machines import BracketStacks, Machine
    from ropewalk.treebank.treebank import Treebank


@final
class PseudoProjective(Encoding):
    """An encoding of projective trees whose relations say how to undo what was lifted.

    Whether a non-projective tree comes back depends on its relations, so `covers` claims only projective ones;
    `restores` tells for given relations.
    """

    name = "pseudo-projective"
    summary = "any projective encoding, with lifted arcs marked in relations"
    cites = "Nivre & Nilsson 2005, Pseudo-Projective Dependency Parsing"

    def __init__(self, inner: Encoding, scheme: str) -> None:
        super().__init__()
        if inner.planes != 1 or inner.policy not in {"lift", "refuse"}:
            raise EncodingOptionError(
                f"{inner.spec} cannot be pseudo-projective: use a projective encoding with the policy lift or refuse; "
                f"schemes: {', '.join(SCHEMES)}"
            )
        self.inner = inner
        self.scheme = scheme
        self.columns = inner.columns
        self.needs_upos = inner.needs_upos
        self.naive_brackets = inner.naive_brackets

    @property
    def spec(self) -> str:
        """Name and options as text."""
        return f"{self.inner.spec}+{self.scheme}"

    @property
    def alphabet(self) -> tuple[str, ...] | None:
        """All labels that there are, or None if their number has no bound."""
        return self.inner.alphabet

    @property
    def loses_lifted(self) -> bool:
        """Relations say how to undo what is lifted."""
        return False

    def covers_heads(self, heads: Ints, offsets: Ints) -> Bools:
        """Tell which trees come back whatever their relations."""
        return self.inner.covers_heads(heads, offsets)

    def restores(self, bank: Treebank) -> Bools:
        """Tell which trees come back with the relations that they have."""
        lifted = lift(bank, self.scheme)
        heads, _ = lower(lifted.heads, lifted.relations, lifted.offsets, self.scheme)
        return same_trees(bank.heads, heads, bank.offsets)

    def lift(self, bank: Treebank) -> Treebank:
        """Lift every tree and mark its relations."""
        return lift(bank, self.scheme)

    def lower(self, heads: Ints, relations: Column, offsets: Ints) -> tuple[Ints, Column]:
        """Lower every tree and take the marks off its relations."""
        return lower(heads, relations, offsets, self.scheme)

    def write(self, heads: Ints, offsets: Ints, upos: Column | None) -> list[tuple[Ids, tuple[str, ...]]]:
        """Write lifted trees with the encoding inside."""
        return self.inner.write(heads, offsets, upos)

    def read(self, labels: Labels) -> tuple[Ints, Ints, Ints]:
        """Read lifted trees with the encoding inside."""
        return self.inner.read(labels)

    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if the encoding inside has no such label."""
        self.inner.check_label(text, column)

    def brackets(self, labels: Sequence[str]) -> tuple[str, ...] | None:
        """Write labels as the brackets of the encoding inside."""
        return self.inner.brackets(labels)

    def machine(self, labels: Sequence[str]) -> Machine | None:
        """Drive the stack of the encoding inside."""
        return self.inner.machine(labels)

    def bracket_stacks(self, labels: Sequence[str]) -> BracketStacks | None:
        """Put brackets on the stacks of the encoding inside."""
        return self.inner.bracket_stacks(labels)
