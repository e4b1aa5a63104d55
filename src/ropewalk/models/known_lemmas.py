"""The lemmas of words as a treebank has them, for words that are seen again with the same part of speech."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ropewalk.treebank.treebank import Treebank


class _Lemmas(NamedTuple):
    """Those of one part of speech."""

    by_form: Mapping[str, str]
    all: Collection[str]


NONE = _Lemmas({}, ())
FEW = 16  # words that are searched for in the lines of a part of speech before these are cut: one sentence has few


@dataclass(frozen=True, slots=True)
class KnownLemmas:
    """The lemmas of each part of speech: on each line one, and its forms, with tabs between them.

    A model without parts of speech has them all under the empty one. Under `UPOS XPOS` are those whose lemma depends on
    both.
    """

    lines: Mapping[str, str]
    _read: dict[str, _Lemmas] = field(default_factory=dict, compare=False, repr=False)  # of those that were asked for
    _searched: Counter[str] = field(default_factory=Counter, compare=False, repr=False)  # times, before they are read

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
        return cls({tag: _on_lines(under) for tag, under in table.items()})

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that must be known to look a word up."""
        return ("upos", "xpos") if any(" " in tag for tag in self.lines) else ("upos",) if any(self.lines) else ()

    def lemma(self, form: str, upos: str, xpos: str) -> str | None:
        """Look a form up."""
        found = self._lemma(form, f"{upos} {xpos}")
        return self._lemma(form, upos) if found is None else found

    def lemmas(self, upos: str) -> Collection[str]:
        """Give all lemmas of a part of speech."""
        return self._under(upos).all

    def _lemma(self, form: str, tag: str) -> str | None:
        self._searched[tag] += 1
        if tag in self._read or self._searched[tag] > FEW:
            return self._under(tag).by_form.get(form)
        lines = f"{self.lines.get(tag, '')}\n"
        at = max(lines.rfind(f"\t{form}{end}") for end in "\t\n")  # if it is there twice, the last counts
        start = lines.rfind("\n", 0, at) + 1
        return None if at < 0 else lines[start : lines.index("\t", start)]

    def _under(self, tag: str) -> _Lemmas:
        """Look through the lines of a part of speech, once."""
        if tag not in self.lines:
            return NONE
        found = self._read.get(tag)
        if found is None:
            rows = [line.split("\t") for line in self.lines[tag].split("\n")]
            by_form = {form: lemma for lemma, *forms in rows for form in forms}
            found = self._read[tag] = _Lemmas(by_form, frozenset([lemma for lemma, *_ in rows]))
        return found

    @classmethod
    def from_json(cls, table: Mapping[str, str | Mapping[str, list[str]]]) -> KnownLemmas:
        """Take what `labels.json` holds: lines under each part of speech, or a mapping of lemmas to lists of forms."""
        return cls({tag: under if isinstance(under, str) else _on_lines(under) for tag, under in table.items()})

    def to_json(self) -> Mapping[str, str]:
        """Give what `labels.json` holds."""
        return self.lines


def _on_lines(forms: Mapping[str, list[str]]) -> str:
    """Write lemmas on lines, each before its forms."""
    return "\n".join("\t".join([lemma, *of_lemma]) for lemma, of_lemma in forms.items())


def _most_frequent(keys: Iterable[Any], lemmas: Iterable[str]) -> dict[Any, str]:
    """Find the most frequent lemma of each key, of equals the first in order."""
    found: dict[Any, str] = {}
    for (key, lemma), _ in sorted(
        Counter(zip(keys, lemmas, strict=True)).items(), key=lambda item: (-item[1], item[0])
    ):
        found.setdefault(key, lemma)
    return found
