"""Pseudo-projective encoding: trees are lifted and written with a projective encoding, then read and lowered again."""

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
    """An encoding for non-projective trees: they are lifted, and marks in relations allow the lifting to be undone.

    `inner` is the encoding of the lifted, projective trees. `scheme` is one of `core.projectivity.SCHEMES`. Whether a
    non-projective tree is restored depends on its relations. So `covers` is true only for projective trees, and
    `restores` considers the relations.
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
        """The spec of the inner encoding and the scheme as text, such as `optimal+head`."""
        return f"{self.inner.spec}+{self.scheme}"

    @property
    def alphabet(self) -> tuple[str, ...] | None:
        """All labels of the inner encoding, or None if their number is unlimited."""
        return self.inner.alphabet

    @property
    def loses_lifted(self) -> bool:
        """Whether lifting cannot be undone: always false, because relations mark lifted arcs."""
        return False

    def covered(self, trees: Trees) -> Bools:
        """Return for each tree whether the inner encoding covers it; then it is restored with any relations."""
        return self.inner.covered(trees)

    def restores(self, trees: Trees) -> Bools:
        """Return for each tree whether lifting and then lowering it, with its own relations, restores it exactly."""
        lowered = lower(lift(trees, self.scheme), self.scheme)
        return same_heads(trees.heads, lowered.heads, trees.offsets)

    def lift(self, trees: Trees) -> Trees:
        """Return the trees lifted until they are projective, with marks in the relations of lifted words."""
        return lift(trees, self.scheme)

    def lower(self, trees: Trees) -> Trees:
        """Return the trees with lifted words attached to their original heads, without marks in relations."""
        return lower(trees, self.scheme)

    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Return the labels of lifted trees in the inner encoding."""
        return self.inner.write(trees, upos)

    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Return the heads of the lifted trees that labels spell in the inner encoding, -1 if missing, and faults."""
        return self.inner.read(labels)

    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` unless `text` is a label of the inner encoding in the column with index `column`."""
        self.inner.check_label(text, column)

    def brackets(self, labels: Sequence[str]) -> tuple[str, ...] | None:
        """Return the labels as hierarchical brackets of the inner encoding, or None."""
        return self.inner.brackets(labels)

    def machine(self, labels: Sequence[str]) -> Machine | None:
        """Return the machine of the labels in the inner encoding, or None."""
        return self.inner.machine(labels)

    def bracket_stacks(self, labels: Sequence[str]) -> BracketStacks | None:
        """Return the labels as brackets on stacks, as the inner encoding does, or None."""
        return self.inner.bracket_stacks(labels)
