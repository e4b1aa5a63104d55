"""The lemmas of words as a treebank has them, for words that are seen again with the same part of speech."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ropewalk.lemmas import lemma_rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ropewalk.treebank import Treebank


@dataclass(frozen=True, slots=True)
class KnownLemmas:
    """The rule that makes the lemma of each form, by part of speech; a model without those has them all under ""."""

    rules: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, bank: Treebank, *, by_upos: bool) -> KnownLemmas:
        """Take the most frequent lemma of each form of a treebank under each part of speech."""
        forms, lemmas = (bank.column(name).texts() for name in ("form", "lemma"))
        upos: Iterable[str] = bank.column("upos").texts() if by_upos else [""] * bank.words
        seen = Counter(zip(upos, forms, lemmas, strict=True))
        found: dict[str, dict[str, str]] = {}
        for (tag, form, lemma), _ in sorted(seen.items(), key=lambda item: (-item[1], item[0])):
            under = found.setdefault(tag, {})
            if form not in under:
                under[form] = lemma_rule(form, lemma)
        return cls(found)

    @property
    def needs_upos(self) -> bool:
        """Whether a word's part of speech must be known to look it up."""
        return any(self.rules)

    @classmethod
    def from_json(cls, table: dict[str, dict[str, list[str]]]) -> KnownLemmas:
        """Take rules from what `labels.json` holds: the forms of each rule under each part of speech."""
        return cls(
            {tag: {form: rule for rule, forms in under.items() for form in forms} for tag, under in table.items()}
        )

    def to_json(self) -> dict[str, Any]:
        """Give what `labels.json` holds."""
        out: dict[str, dict[str, list[str]]] = {}
        for tag, under in self.rules.items():
            forms_of = out.setdefault(tag, {})
            for form, rule in under.items():
                forms_of.setdefault(rule, []).append(form)
        return out
