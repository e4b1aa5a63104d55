"""What was counted: of one shard, or of all together."""

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
    """What some documents hold."""

    documents: int = 0
    sentences: int = 0
    words: int = 0
    errors: int = 0
    upos: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    scripts: Counter[str] = field(default_factory=Counter)
    probabilities: list[int] = field(default_factory=lambda: [0] * BINS)

    def add(self, bank: Treebank) -> None:
        """Count the sentences of a treebank."""
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
            found = np.bincount(bins, minlength=BINS).tolist()
            self.probabilities = [a + b for a, b in zip(self.probabilities, found, strict=True)]

    def merge(self, other: Counts) -> None:
        """Add the counts of other documents."""
        for one in fields(self):
            if one.name != "probabilities":
                setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))
        self.probabilities = [a + b for a, b in zip(self.probabilities, other.probabilities, strict=True)]

    def to_json(self) -> dict[str, Any]:
        """Give plain values, the most frequent first."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: dict(value.most_common()) if isinstance(value, Counter) else value for name, value in values.items()
        }

    @classmethod
    def of_json(cls, table: dict[str, Any]) -> Self:
        """Read them again."""
        counters = {name: Counter(table[name]) for name in ("upos", "relations", "scripts")}
        return cls(**(table | counters))


def _count(counter: Counter[str], column: Strings) -> None:
    times = np.bincount(column.ids, minlength=len(column.names)).tolist()
    counter.update({name: count for name, count in zip(column.names, times, strict=True) if count})


@functools.lru_cache(maxsize=1 << 16)
def script(word: str) -> str:
    """Tell the script of a word by the name of its first letter, such as `Latin`; `none` if it has no letter."""
    letter = next((character for character in word if character.isalpha()), None)
    if letter is None:
        return "none"
    return unicodedata.name(letter, "unknown").split()[0].split("-")[0].capitalize()


def tables(counts: Counts, shards: list[dict[str, Any]]) -> list[Table]:
    """Show what was counted."""
    totals = (("documents", counts.documents), ("sentences", counts.sentences), ("words", counts.words))
    shares = (("script", counts.scripts), ("upos", counts.upos), ("relation", counts.relations))
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
                tuple((key, count, 100 * count / max(counts.words, 1)) for key, count in found.most_common()),
            )
            for name, found in shares
        ),
        Table(
            "Words by the probability of their arcs",
            (TableColumn("from", decimals=1), TableColumn("to", decimals=1), words),
            tuple((at / BINS, (at + 1) / BINS, count) for at, count in enumerate(counts.probabilities)),
        ),
        Table(
            "Slowest shards",
            (TableColumn("shard", numeric=False), words, TableColumn("seconds", decimals=1)),
            tuple((one["name"], one["counts"]["words"], one["seconds"]) for one in slowest(shards)),
        ),
    ]


def slowest(shards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Pick the shards that took longest."""
    return sorted(shards, key=lambda one: -one["seconds"])[:SLOWEST]
