"""Counts of documents, sentences, words, tags and relations, of one shard or of the whole corpus."""

from __future__ import annotations

import functools
import unicodedata
from collections import Counter
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ropewalk.reporting.tables import Table, TableColumn

if TYPE_CHECKING:
    from ropewalk.core.columns import Column as Strings
    from ropewalk.treebank.treebank import Treebank

BINS = 10  # of probabilities
SLOWEST = 5


@dataclass(slots=True)
class Counts:
    """The counts of some documents.

    `upos`, `relations` and `scripts` count words. `probabilities` is a histogram of arc probabilities with `BINS` bins.
    """

    documents: int = 0
    sentences: int = 0
    words: int = 0
    errors: int = 0
    upos: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    scripts: Counter[str] = field(default_factory=Counter)
    probabilities: list[int] = field(default_factory=lambda: [0] * BINS)

    def add(self, bank: Treebank) -> None:
        """Add the sentences and words of a treebank to the counts."""
        self.sentences += len(bank)
        self.words += bank.words
        _count(self.upos, bank.column("upos"))
        _count(self.relations, bank.relations)
        forms = bank.column("form")
        times = np.bincount(forms.ids, minlength=len(forms.names)).tolist()
        for name, count in zip(forms.names, times, strict=True):
            if count:
                self.scripts[script(name)] += count
        arcs = None if bank.probabilities is None else bank.probabilities.arcs
        if arcs is not None:
            bins = np.minimum((arcs[~np.isnan(arcs)] * BINS).astype(np.int64), BINS - 1)
            counts = np.bincount(bins, minlength=BINS).tolist()
            self.probabilities = [a + b for a, b in zip(self.probabilities, counts, strict=True)]

    def merge(self, other: Counts) -> None:
        """Add the counts `other` of other documents to these counts."""
        for item in fields(self):
            if item.name != "probabilities":
                setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))
        self.probabilities = [a + b for a, b in zip(self.probabilities, other.probabilities, strict=True)]

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON values; tags, relations and scripts are sorted by frequency, the highest first."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {
            name: dict(value.most_common()) if isinstance(value, Counter) else value for name, value in values.items()
        }

    @classmethod
    def of_json(cls, table: dict[str, Any]) -> Self:
        """Build counts from the JSON values that `to_json` returns."""
        counters = {name: Counter(table[name]) for name in ("upos", "relations", "scripts")}
        return cls(**(table | counters))


def _count(counter: Counter[str], column: Strings) -> None:
    times = np.bincount(column.ids, minlength=len(column.names)).tolist()
    counter.update({name: count for name, count in zip(column.names, times, strict=True) if count})


@functools.lru_cache(maxsize=1 << 16)
def script(word: str) -> str:
    """Return the script of a word, such as `Latin`, by the Unicode name of its first letter; `none` without letters."""
    letter = next((character for character in word if character.isalpha()), None)
    if letter is None:
        return "none"
    return unicodedata.name(letter, "unknown").split()[0].split("-")[0].capitalize()


def tables(counts: Counts, shards: list[dict[str, Any]]) -> list[Table]:
    """Return tables for the report: totals, distributions, and the slowest of `shards`, which are records of shards."""
    totals = (("documents", counts.documents), ("sentences", counts.sentences), ("words", counts.words))
    distributions = (("script", counts.scripts), ("upos", counts.upos), ("relation", counts.relations))
    words = TableColumn("words")
    return [
        Table(
            "Corpus",
            (TableColumn("what", numeric=False), TableColumn("count")),
            (*totals, ("set aside", counts.errors)),
        ),
        *(
            Table(
                f"Words by {name}",
                (TableColumn(name, numeric=False), words, TableColumn("share", unit="%", decimals=2)),
                tuple((key, count, 100 * count / max(counts.words, 1)) for key, count in counter.most_common()),
            )
            for name, counter in distributions
        ),
        Table(
            "Words by the probability of their arcs",
            (TableColumn("from", decimals=1), TableColumn("to", decimals=1), words),
            tuple((at / BINS, (at + 1) / BINS, count) for at, count in enumerate(counts.probabilities)),
        ),
        Table(
            "Slowest shards",
            (TableColumn("shard", numeric=False), words, TableColumn("seconds", decimals=1)),
            tuple((shard["name"], shard["counts"]["words"], shard["seconds"]) for shard in slowest(shards)),
        ),
    ]


def slowest(shards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records of the `SLOWEST` shards that took longest to parse, the slowest first."""
    return sorted(shards, key=lambda shard: -shard["seconds"])[:SLOWEST]
