"""The lemmas of words as a treebank has them, for words that are seen again with the same part of speech."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ropewalk.treebank import Treebank


@dataclass(frozen=True, slots=True)
class KnownLemmas:
    """The forms of each lemma, by part of speech, and the lemma of each form.

    A model without parts of speech has them all under the empty one.
    """

    forms: Mapping[str, Mapping[str, list[str]]]
    lemmas: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, bank: Treebank, *, by_upos: bool) -> KnownLemmas:
        """Take the most frequent lemma of each form of a treebank under each part of speech."""
        forms, lemmas = (bank.column(name).texts() for name in ("form", "lemma"))
        upos: Iterable[str] = bank.column("upos").texts() if by_upos else [""] * bank.words
        seen = Counter(zip(upos, forms, lemmas, strict=True))
        found: dict[str, dict[str, list[str]]] = {}
        done = set()
        for (tag, form, lemma), _ in sorted(seen.items(), key=lambda item: (-item[1], item[0])):
            if (tag, form) not in done:
                done.add((tag, form))
                found.setdefault(tag, {}).setdefault(lemma, []).append(form)
        return cls.from_json(found)

    @property
    def needs_upos(self) -> bool:
        """Whether a word's part of speech must be known to look it up."""
        return any(self.forms)

    @classmethod
    def from_json(cls, table: Mapping[str, Mapping[str, list[str]]]) -> KnownLemmas:
        """Take what `labels.json` holds: the forms of each lemma under each part of speech."""
        lemmas = {
            tag: {form: lemma for lemma, forms in under.items() for form in forms} for tag, under in table.items()
        }
        return cls(table, lemmas)

    def to_json(self) -> Mapping[str, Mapping[str, list[str]]]:
        """Give what `labels.json` holds."""
        return self.forms
