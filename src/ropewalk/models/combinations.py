"""Combinations of tags: which tags of separate tag sets occur together, and with which relations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import frozen_array, frozen_ints
from ropewalk.kernels import combinations as kernel
from ropewalk.kernels import view
from ropewalk.models.lexicon import Seen
from ropewalk.models.packed import numbers_of, packed_numbers, texts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.core.columns import Column

    Floats = npt.NDArray[np.float32]

MOST = 4000  # more combinations than this are too slow to try for each word
WEIGHTS = (0.0, 0.2, 0.35, 0.5, 0.7, 1.0)  # of a relation; `calibrated` picks one
BLOCK = 1 << 13  # words whose scores are concatenated at a time


@dataclass(frozen=True, eq=False)
class Combinations:
    """The combinations of tags that words of a treebank have: one class of each tag set in `sets`.

    `seen` counts for each relation of `relations` how often words with that relation have each combination.
    """

    sets: tuple[str, ...]
    classes: Ints  # [combinations, sets]
    relations: tuple[str, ...]
    seen: Seen  # the combinations of each relation

    @classmethod
    def of(cls, classes: Mapping[str, npt.NDArray[np.int64]], relations: Column) -> Combinations | None:
        """Count the combinations of tags of words, for each relation.

        `classes` has for each tag set the class of each word. Words with a negative class, which means no class, are
        skipped. Return None if there are no combinations, or more than `MOST`.
        """
        rows = np.stack(list(classes.values()), axis=1) if classes else np.zeros((0, 0), np.int64)
        whole = (rows >= 0).all(axis=1)
        distinct, ids = np.unique(rows[whole], axis=0, return_inverse=True)
        if not 0 < len(distinct) <= MOST:
            return None
        seen = Seen.of(relations.ids[whole], ids.reshape(-1), len(relations.names))
        return cls(tuple(classes), _table(distinct), relations.names, seen)

    @classmethod
    def from_json(cls, table: Mapping[str, Any], tags: Mapping[str, Sequence[str]]) -> Combinations:
        """Read the combinations of tags from a table of `labels.json`.

        `tags` has the classes of each tag set. Raise `TypeError` if a combination has a class that is not in `tags`.
        """
        sets, relations = texts_of(table["sets"]), texts_of(table["relations"])
        numbers = numbers_of(table["classes"])
        if not sets or len(numbers) % len(sets):
            raise TypeError("combinations of tags of unequal lengths")
        classes = numbers.reshape(-1, len(sets))
        sizes = [len(tags[name]) for name in sets]
        if classes.min(initial=0) < 0 or (classes >= sizes).any() or not 0 < len(classes) <= MOST:
            raise TypeError("combinations of tags that the model does not have")
        return cls(sets, _table(classes), relations, Seen.from_json(table["seen"], len(relations), len(classes)))

    def to_json(self) -> dict[str, Any]:
        """Return the combinations and their counts as a table for `labels.json`."""
        return {
            "sets": list(self.sets),
            "classes": packed_numbers(self.classes.ravel()),
            "relations": list(self.relations),
            "seen": self.seen.to_json(),
        }

    @cached_property
    def _evidence(self) -> Floats:
        """The evidence of a word's relation for its combination of tags: [relations + 1, combinations].

        It is the logarithm of the combination's probability given the relation, divided by its probability without.
        The last row, all zeros, is for unknown relations.
        """
        counts = np.zeros((len(self.relations) + 1, len(self.classes)))
        rows = np.repeat(np.arange(len(self.relations)), np.diff(self.seen.starts))
        counts[rows, self.seen.classes] = self.seen.counts
        prior = counts.sum(axis=0) / counts.sum()
        with_relation = (counts + prior) / (counts.sum(axis=1, keepdims=True) + 1)
        evidence: Floats = np.log(with_relation / prior).astype(np.float32)
        return evidence

    def best(self, scores: Mapping[str, Floats], relations: Column | None, weight: float) -> dict[str, Ints]:
        """Return the classes of every word's best combination of tags, by the name of the tag set.

        `scores` has for each tag set a score table [words, classes]. The score of a combination is the sum of the
        scores of its classes, plus `weight` times the evidence of the word's relation. Tag sets without scores are
        ignored.
        """
        chosen = [index for index, name in enumerate(self.sets) if name in scores]
        if not chosen:
            return {}
        tables = [scores[self.sets[index]] for index in chosen]
        before = np.cumsum([0, *(table.shape[1] for table in tables[:-1])])
        columns = _table(self.classes[:, chosen] + before)
        evidence = np.float32(weight) * self._evidence
        rows = self._rows(relations, len(tables[0]))
        best = np.zeros(len(rows), dtype=np.int32)
        for start in range(0, len(rows), BLOCK):
            block = slice(start, start + BLOCK)
            together = np.concatenate([table[block] for table in tables], axis=1)
            kernel.best(together, columns, evidence, view(rows[block]), view(best[block]))
        return {self.sets[index]: frozen_ints(self.classes[best, index]) for index in chosen}

    def _rows(self, relations: Column | None, words: int) -> Ints:
        """Return for each word the row of `_evidence` for its relation; `words` is the number of words."""
        unknown = len(self.relations)
        if relations is None:
            return frozen_ints(np.full(words, unknown))
        table = np.array([self._numbers.get(name, unknown) for name in relations.names], dtype=np.int32)
        return frozen_ints(table[relations.ids])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The row of `_evidence` for each known relation."""
        return {name: number for number, name in enumerate(self.relations)}


def _table(values: npt.NDArray[Any]) -> Ints:
    return frozen_array(np.ascontiguousarray(values, dtype=np.int32))
