"""The names behind the numbers that a network deals in: labels, relations and tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.trees import is_root_relation
from ropewalk.models.combinations import Combinations
from ropewalk.models.features import Vocabulary
from ropewalk.models.known_lemmas import KnownLemmas
from ropewalk.models.lexicon import Lexicon
from ropewalk.models.packed import texts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.columns import Column

MISSING = -100  # the number of a target that is not to be learnt


@dataclass(frozen=True, slots=True)
class GraphNames:
    """An encoding of graphs and its label texts, both empty if there are none, and the relations of arcs.

    Several relations of one arc are joined as in `encodings.graphs`, and those of a path through empty nodes by `>`.
    """

    encoding: str
    labels: tuple[str, ...]
    relations: tuple[str, ...]

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> GraphNames:
        """Take names from what `labels.json` holds."""
        (encoding,) = texts_of([table["encoding"]])
        return cls(encoding, texts_of(table["labels"]), texts_of(table["relations"]))

    def to_json(self) -> dict[str, Any]:
        """Give what `labels.json` holds."""
        return {"encoding": self.encoding, "labels": list(self.labels), "relations": list(self.relations)}


@dataclass(frozen=True, slots=True)
class LabelSet:
    """Label texts of every column of every encoding, relations, tag sets, and the vocabulary of a `bilstm`.

    The first encoding is the one that is parsed with; the others are auxiliary. Lemmas of known words are looked up,
    and their tags, and which go together and with which relations, are evidence beside scores.
    """

    encodings: tuple[str, ...]
    columns: tuple[tuple[tuple[str, ...], ...], ...]
    relations: tuple[str, ...]
    tags: tuple[tuple[str, tuple[str, ...]], ...] = ()
    vocabulary: Vocabulary | None = None
    graphs: GraphNames | None = None
    lemmas: KnownLemmas | None = None
    lexicon: Lexicon | None = None
    combinations: Combinations | None = None

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> LabelSet:
        """Take names from what `labels.json` holds."""
        tags = tuple((name, texts_of(texts)) for name, texts in table["tags"].items())
        return cls(
            texts_of([one["name"] for one in table["encodings"]]),
            tuple(tuple(texts_of(column) for column in one["columns"]) for one in table["encodings"]),
            texts_of(table["relations"]),
            tags,
            None if table["vocabulary"] is None else Vocabulary.from_json(table["vocabulary"]),
            GraphNames.from_json(table["graphs"]) if "graphs" in table else None,
            KnownLemmas.from_json(table["lemmas"]) if "lemmas" in table else None,
            Lexicon.from_json(table["lexicon"], dict(tags)) if "lexicon" in table else None,
            Combinations.from_json(table["combinations"], dict(tags)) if "combinations" in table else None,
        )

    def to_json(self) -> dict[str, Any]:
        """Give what `labels.json` holds."""
        return {
            "encodings": [
                {"name": name, "columns": [list(column) for column in columns]}
                for name, columns in zip(self.encodings, self.columns, strict=True)
            ],
            "relations": list(self.relations),
            "tags": {name: list(texts) for name, texts in self.tags},
            "vocabulary": None if self.vocabulary is None else self.vocabulary.to_json(),
            **({} if self.graphs is None else {"graphs": self.graphs.to_json()}),
            **({} if self.lemmas is None else {"lemmas": self.lemmas.to_json()}),
            **({} if self.lexicon is None else {"lexicon": self.lexicon.to_json()}),
            **({} if self.combinations is None else {"combinations": self.combinations.to_json()}),
        }

    def roots(self) -> npt.NDArray[np.bool_]:
        """Tell which relations are those of a root."""
        return np.array([is_root_relation(name) for name in self.relations], dtype=np.bool_)


def numbers(ids: npt.NDArray[Any], names: Sequence[str], known: Sequence[str]) -> npt.NDArray[np.int64]:
    """Renumber texts into a list of known ones; `MISSING` where it does not hold them."""
    places = {text: place for place, text in enumerate(known)}
    table = np.array([places.get(name, MISSING) for name in names], dtype=np.int64)
    return table[ids] if len(ids) else np.zeros(0, dtype=np.int64)


def frequent(column: Column) -> tuple[str, ...]:
    """List a column's texts, most frequent first."""
    counts = np.bincount(column.ids, minlength=len(column.names)).tolist()
    kept = [(name, count) for name, count in zip(column.names, counts, strict=True) if count]
    return tuple(name for name, _ in sorted(kept, key=lambda item: (-item[1], item[0])))
