"""Which tags go together, and with which relations: what tag sets that are scored one by one cannot know."""

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

MOST = 4000  # combinations that are worth looking through for each word
WEIGHTS = (0.0, 0.2, 0.35, 0.5, 0.7, 1.0)  # that a relation may have
BLOCK = 1 << 13  # words whose scores are laid side by side


@dataclass(frozen=True, eq=False)
class Combinations:
    """The combinations of classes that words of a treebank have in some tag sets, and how often with each relation."""

    sets: tuple[str, ...]
    classes: Ints  # [combinations, sets]
    relations: tuple[str, ...]
    seen: Seen  # of each relation, its combinations

    @classmethod
    def of(cls, classes: Mapping[str, npt.NDArray[np.int64]], relations: Column) -> Combinations | None:
        """Count the combinations of words; a negative class is none. None if there is nothing to count, or too much."""
        rows = np.stack(list(classes.values()), axis=1) if classes else np.zeros((0, 0), np.int64)
        whole = (rows >= 0).all(axis=1)
        found, ids = np.unique(rows[whole], axis=0, return_inverse=True)
        if not 0 < len(found) <= MOST:
            return None
        pairs = np.stack([relations.ids[whole], ids.reshape(-1)])
        pairs, counts = np.unique(pairs, axis=1, return_counts=True)
        sizes = np.bincount(pairs[0], minlength=len(relations.names))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        seen = Seen(frozen_ints(starts), frozen_ints(pairs[1]), frozen_ints(counts))
        return cls(tuple(classes), _table(found), relations.names, seen)

    @classmethod
    def from_json(cls, table: Mapping[str, Any], tags: Mapping[str, Sequence[str]]) -> Combinations:
        """Take what `labels.json` holds, if it fits the classes of the tag sets."""
        sets, relations = texts_of(table["sets"]), texts_of(table["relations"])
        numbers = numbers_of(table["classes"])
        if not sets or len(numbers) % len(sets):
            raise TypeError("combinations of tags that are not whole")
        classes = numbers.reshape(-1, len(sets))
        sizes = [len(tags[name]) for name in sets]
        if classes.min(initial=0) < 0 or (classes >= sizes).any() or not 0 < len(classes) <= MOST:
            raise TypeError("combinations of tags that are none of the model's")
        return cls(sets, _table(classes), relations, Seen.from_json(table["seen"], len(relations), len(classes)))

    def to_json(self) -> dict[str, Any]:
        """Give what `labels.json` holds."""
        return {
            "sets": list(self.sets),
            "classes": packed_numbers(self.classes.ravel()),
            "relations": list(self.relations),
            "seen": self.seen.to_json(),
        }

    @cached_property
    def _evidence(self) -> Floats:
        """Say how much likelier each combination is with each relation than without: [relations + 1, combinations].

        The last row is for a relation that is not known, and says nothing.
        """
        counts = np.zeros((len(self.relations) + 1, len(self.classes)))
        rows = np.repeat(np.arange(len(self.relations)), np.diff(self.seen.starts))
        counts[rows, self.seen.classes] = self.seen.counts
        share = counts.sum(axis=0) / counts.sum()
        with_relation = (counts + share) / (counts.sum(axis=1, keepdims=True) + 1)
        evidence: Floats = np.log(with_relation / share).astype(np.float32)
        return evidence

    def best(self, scores: Mapping[str, Floats], relations: Column | None, weight: float) -> dict[str, Ints]:
        """Find the classes of the best combination of every word in the tag sets that were scored, by name.

        Scores of classes add up, and what the word's relation speaks for is added with a weight.
        """
        chosen = [place for place, name in enumerate(self.sets) if name in scores]
        if not chosen:
            return {}
        tables = [scores[self.sets[place]] for place in chosen]
        before = np.cumsum([0, *(table.shape[1] for table in tables[:-1])])
        places = _table(self.classes[:, chosen] + before)
        evidence = np.float32(weight) * self._evidence
        rows = self._rows(relations, len(tables[0]))
        found = np.zeros(len(rows), dtype=np.int32)
        for start in range(0, len(rows), BLOCK):
            block = slice(start, start + BLOCK)
            together = np.concatenate([table[block] for table in tables], axis=1)
            kernel.best(together, places, evidence, view(rows[block]), view(found[block]))
        return {self.sets[place]: frozen_ints(self.classes[found, place]) for place in chosen}

    def _rows(self, relations: Column | None, words: int) -> Ints:
        """Say which row of the evidence is for each word."""
        unknown = len(self.relations)
        if relations is None:
            return frozen_ints(np.full(words, unknown))
        numbers = {name: number for number, name in enumerate(self.relations)}
        table = np.array([numbers.get(name, unknown) for name in relations.names], dtype=np.int32)
        return frozen_ints(table[relations.ids])


def _table(values: npt.NDArray[Any]) -> Ints:
    return frozen_array(np.ascontiguousarray(values, dtype=np.int32))
