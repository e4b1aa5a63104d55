"""The names of the classes that a network scores: labels, relations and tags."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.trees import is_root_relation
from ropewalk.models.combinations import Combinations
from ropewalk.models.known_lemmas import KnownLemmas
from ropewalk.models.lexicon import Lexicon
from ropewalk.models.packed import texts_of
from ropewalk.models.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.columns import Column

MISSING = -100  # the index of a target class that is ignored in training


@dataclass(frozen=True, slots=True)
class GraphNames:
    """The name of a model's graph encoding, its alphabet of labels, and the relations of arcs in graphs.

    A model that scores only arcs of graphs has an empty encoding and no labels. If an arc has several relations, they
    are one text, joined as in `encodings.graphs`. The relations along a path through empty nodes are joined with `>`.
    """

    encoding: str
    labels: tuple[str, ...]
    relations: tuple[str, ...]

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> GraphNames:
        """Read the names of a graph encoding, its labels and relations from a table of `labels.json`."""
        (encoding,) = texts_of([table["encoding"]])
        return cls(encoding, texts_of(table["labels"]), texts_of(table["relations"]))

    def to_json(self) -> dict[str, Any]:
        """Return the names of the graph encoding, its labels and relations as a table for `labels.json`."""
        return {"encoding": self.encoding, "labels": list(self.labels), "relations": list(self.relations)}


@dataclass(frozen=True, slots=True)
class LabelSet:
    """The names of all classes that a model's network scores, and the word lists that the model uses.

    `columns` has for each encoding in `encodings` the alphabets of its label columns. The model parses with the first
    encoding; the others are auxiliary tasks of training. `tags` are tag sets, each with its name and its classes.
    `vocabulary` is that of a `bilstm` or an `sru` encoder. `lemmas` are looked up for known words. `lexicon` and
    `combinations` are evidence that is added to the scores of tags.
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
        """Build the label sets from the content of `labels.json`."""
        tags = tuple((name, texts_of(texts)) for name, texts in table["tags"].items())
        return cls(
            texts_of([encoding["name"] for encoding in table["encodings"]]),
            tuple(tuple(texts_of(column) for column in encoding["columns"]) for encoding in table["encodings"]),
            texts_of(table["relations"]),
            tags,
            None if table["vocabulary"] is None else Vocabulary.from_json(table["vocabulary"]),
            GraphNames.from_json(table["graphs"]) if "graphs" in table else None,
            KnownLemmas.from_json(table["lemmas"]) if "lemmas" in table else None,
            Lexicon.from_json(table["lexicon"], dict(tags)) if "lexicon" in table else None,
            Combinations.from_json(table["combinations"], dict(tags)) if "combinations" in table else None,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the content of `labels.json`."""
        table: dict[str, Any] = {
            "encodings": [
                {"name": name, "columns": [list(column) for column in columns]}
                for name, columns in zip(self.encodings, self.columns, strict=True)
            ],
            "relations": list(self.relations),
            "tags": {name: list(texts) for name, texts in self.tags},
            "vocabulary": None if self.vocabulary is None else self.vocabulary.to_json(),
        }
        optional = {name: getattr(self, name) for name in ("graphs", "lemmas", "lexicon", "combinations")}
        return table | {name: value.to_json() for name, value in optional.items() if value is not None}

    def searchable(self) -> LabelSet:
        """Return a copy whose word lists are searched without decoding them all, for a folder that is read often."""
        vocabulary = None if self.vocabulary is None else self.vocabulary.searchable()
        return replace(self, vocabulary=vocabulary, lexicon=None if self.lexicon is None else self.lexicon.searchable())

    def roots(self) -> npt.NDArray[np.bool_]:
        """Return for each relation whether it is a relation of roots, such as `root`."""
        return np.array([is_root_relation(name) for name in self.relations], dtype=np.bool_)


def numbers(ids: npt.NDArray[Any], names: Sequence[str], known: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the index in `known` of each text `names[ids[i]]`, or `MISSING` if `known` does not contain it."""
    indices = {text: index for index, text in enumerate(known)}
    table = np.array([indices.get(name, MISSING) for name in names], dtype=np.int64)
    return table[ids] if len(ids) else np.zeros(0, dtype=np.int64)


def frequent(column: Column) -> tuple[str, ...]:
    """Return the distinct texts of a column, the most frequent first."""
    counts = np.bincount(column.ids, minlength=len(column.names)).tolist()
    kept = [(name, count) for name, count in zip(column.names, counts, strict=True) if count]
    return tuple(name for name, _ in sorted(kept, key=lambda item: (-item[1], item[0])))
