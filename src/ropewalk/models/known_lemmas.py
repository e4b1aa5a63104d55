"""The lemmas of words as a treebank has them, for words that are seen again with the same part of speech."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ropewalk.treebank import Treebank


@dataclass(frozen=True, slots=True)
class KnownLemmas:
    """The forms of each lemma, by part of speech, and the lemma of each form.

    A model without parts of speech has them all under the empty one. Under `UPOS XPOS` are those whose lemma depends on
    both.
    """

    forms: Mapping[str, Mapping[str, list[str]]]
    lemmas: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, bank: Treebank, columns: Collection[str]) -> KnownLemmas:
        """Take the most frequent lemma of each form of a treebank, by those of UPOS and XPOS that are `columns`."""
        forms, lemmas = (bank.column(name).texts() for name in ("form", "lemma"))
        upos: Iterable[str] = bank.column("upos").texts() if "upos" in columns else [""] * bank.words
        found = _most_frequent(zip(upos, forms, strict=True), lemmas)
        if {"upos", "xpos"} <= {*columns}:
            upos, xpos = (bank.column(name).texts() for name in ("upos", "xpos"))
            fine = _most_frequent(zip(upos, xpos, forms, strict=True), lemmas)
            for (tag, more, form), lemma in fine.items():
                if found[tag, form] != lemma:
                    found[f"{tag} {more}", form] = lemma
        table: dict[str, dict[str, list[str]]] = {}
        for (tag, form), lemma in sorted(found.items()):
            table.setdefault(tag, {}).setdefault(lemma, []).append(form)
        return cls.from_json(table)

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that must be known to look a word up."""
        return ("upos", "xpos") if any(" " in tag for tag in self.forms) else ("upos",) if any(self.forms) else ()

    def lemma(self, form: str, upos: str, xpos: str) -> str | None:
        """Look a form up."""
        fine = self.lemmas.get(f"{upos} {xpos}")
        found = None if fine is None else fine.get(form)
        return self.lemmas.get(upos, {}).get(form) if found is None else found

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


def _most_frequent(keys: Iterable[Any], lemmas: Iterable[str]) -> dict[Any, str]:
    """Find the most frequent lemma of each key, of equals the first in order."""
    found: dict[Any, str] = {}
    for (key, lemma), _ in sorted(
        Counter(zip(keys, lemmas, strict=True)).items(), key=lambda item: (-item[1], item[0])
    ):
        found.setdefault(key, lemma)
    return found
