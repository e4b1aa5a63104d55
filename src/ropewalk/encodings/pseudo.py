"""Pseudo-projective encoding: lift a tree, write it with any projective encoding, and lower what is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from ropewalk.core.projectivity import SCHEMES, lift, lower
from ropewalk.core.trees import Trees, same_heads
from ropewalk.encodings.base import Encoding
from ropewalk.errors import EncodingOptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.core.columns import Column
    from ropewalk.encodings.labels import Faults, Labels
    from ropewalk.encodings.machines import BracketStacks, Machine


@final
class PseudoProjective(Encoding):
    """An encoding of projective trees whose relations say how to undo what was lifted.

    Whether a non-projective tree comes back depends on its relations, so `covers` claims only projective ones;
    `restores` answers for given relations.
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

    def covered(self, trees: Trees) -> Bools:
        """Return which trees come back whatever their relations."""
        return self.inner.covered(trees)

    def restores(self, trees: Trees) -> Bools:
        """Return for each tree whether it comes back with the relations that it has."""
        lowered = lower(lift(trees, self.scheme), self.scheme)
        return same_heads(trees.heads, lowered.heads, trees.offsets)

    def lift(self, trees: Trees) -> Trees:
        """Lift every tree and mark its relations."""
        return lift(trees, self.scheme)

    def lower(self, trees: Trees) -> Trees:
        """Lower every tree and take the marks off its relations."""
        return lower(trees, self.scheme)

    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Write lifted trees with the encoding inside."""
        return self.inner.write(trees, upos)

    def read(self, labels: Labels) -> tuple[Ints, Faults]:
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
