"""Lemmas of the words of a treebank, which are reused for the same words with the same part of speech."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ropewalk.treebank.treebank import Treebank


class _Lemmas(NamedTuple):
    """The lemmas of one part of speech: the lemma of each form, and all lemmas."""

    by_form: Mapping[str, str]
    all: Collection[str]


NONE = _Lemmas({}, ())
FEW = 16  # searches in the lines of a part of speech before it is worth splitting them: one sentence needs few


@dataclass(frozen=True, slots=True)
class KnownLemmas:
    """The lemmas of a treebank's words, by part of speech.

    `lines` has a text for each part of speech; each line of it has a lemma and its forms, separated with tabs. The part
    of speech is a UPOS tag, or UPOS and XPOS with a space between them if a lemma depends on both. It is empty if the
    model predicts no UPOS.
    """

    lines: Mapping[str, str]
    _read: dict[str, _Lemmas] = field(default_factory=dict, compare=False, repr=False)  # parts of speech split so far
    _searched: Counter[str] = field(default_factory=Counter, compare=False, repr=False)  # searches before splitting

    @classmethod
    def of(cls, bank: Treebank, columns: Collection[str]) -> KnownLemmas:
        """Collect the most frequent lemma of each form in a treebank.

        If `columns` contains `upos`, this is done for each UPOS tag. If it also contains `xpos`, the lemmas that differ
        for some XPOS tag are added.
        """
        forms, lemmas = (bank.column(name).texts() for name in ("form", "lemma"))
        upos: Iterable[str] = bank.column("upos").texts() if "upos" in columns else [""] * bank.words
        frequent = _most_frequent(zip(upos, forms, strict=True), lemmas)
        if {"upos", "xpos"} <= {*columns}:
            upos, xpos = (bank.column(name).texts() for name in ("upos", "xpos"))
            fine = _most_frequent(zip(upos, xpos, forms, strict=True), lemmas)
            for (tag, more, form), lemma in fine.items():
                if frequent[tag, form] != lemma:
                    frequent[f"{tag} {more}", form] = lemma
        table: dict[str, dict[str, list[str]]] = {}
        for (tag, form), lemma in sorted(frequent.items()):
            table.setdefault(tag, {}).setdefault(lemma, []).append(form)
        return cls({tag: _on_lines(under) for tag, under in table.items()})

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that must be predicted before the lemma of a word can be looked up: `upos`, `xpos` or none."""
        return ("upos", "xpos") if any(" " in tag for tag in self.lines) else ("upos",) if any(self.lines) else ()

    def lemma(self, form: str, upos: str, xpos: str) -> str | None:
        """Return the lemma of a form with these tags, or None if the treebank did not have it."""
        lemma = self._lemma(form, f"{upos} {xpos}")
        return self._lemma(form, upos) if lemma is None else lemma

    def lemmas(self, upos: str) -> Collection[str]:
        """Return all known lemmas of the words with the UPOS tag `upos`."""
        return self._under(upos).all

    def _lemma(self, form: str, tag: str) -> str | None:
        self._searched[tag] += 1
        if tag in self._read or self._searched[tag] > FEW:
            return self._under(tag).by_form.get(form)
        lines = f"{self.lines.get(tag, '')}\n"
        at = max(lines.rfind(f"\t{form}{end}") for end in "\t\n")  # the last occurrence counts
        start = lines.rfind("\n", 0, at) + 1
        return None if at < 0 else lines[start : lines.index("\t", start)]

    def _under(self, tag: str) -> _Lemmas:
        """Return the lemmas of the part of speech `tag`; its lines are split at the first call and cached."""
        if tag not in self.lines:
            return NONE
        if tag not in self._read:
            rows = [line.split("\t") for line in self.lines[tag].split("\n")]
            by_form = {form: lemma for lemma, *forms in rows for form in forms}
            self._read[tag] = _Lemmas(by_form, frozenset([lemma for lemma, *_ in rows]))
        return self._read[tag]

    @classmethod
    def from_json(cls, table: Mapping[str, str | Mapping[str, list[str]]]) -> KnownLemmas:
        """Read lemmas from a table of `labels.json`.

        For each part of speech it has a text, as `lines`, or a table with the list of forms of each lemma.
        """
        return cls({tag: under if isinstance(under, str) else _on_lines(under) for tag, under in table.items()})

    def to_json(self) -> Mapping[str, str]:
        """Return the lemmas as a table for `labels.json`: a text for each part of speech."""
        return self.lines


def _on_lines(forms: Mapping[str, list[str]]) -> str:
    """Write each lemma with its forms on a line, separated with tabs; return the lines as one text."""
    return "\n".join("\t".join([lemma, *of_lemma]) for lemma, of_lemma in forms.items())


def _most_frequent(keys: Iterable[Any], lemmas: Iterable[str]) -> dict[Any, str]:
    """Return the most frequent lemma of each key; among equally frequent ones, the first in alphabetical order.

    `keys[i]` and `lemmas[i]` belong to the same word.
    """
    counts = Counter(zip(keys, lemmas, strict=True))
    rarest_first = sorted(counts.items(), key=lambda item: (-item[1], item[0]), reverse=True)
    return {key: lemma for (key, lemma), _ in rarest_first}
