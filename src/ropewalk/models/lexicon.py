"""Which classes of tags the words of a treebank have: evidence beside what a network says.

A word that the treebank has is likely to have the tags that it has there, and another word those of words that end
like it. Of few sentences, that is learnt better by counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.kernels import endings as kernel
from ropewalk.kernels import view
from ropewalk.trees import frozen_ints

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.treebank import Column
    from ropewalk.trees import Ints

    Floats = npt.NDArray[np.float32]
    Places = npt.NDArray[np.int64]

WEIGHTS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)  # that evidence may have
NOTHING = 0.001  # how likely a class still is that nothing speaks for
LONGEST = 10  # characters of an ending


@dataclass(frozen=True, slots=True)
class Seen:
    """How often words have which classes of a tag set: word i those from `starts[i]` to `starts[i + 1]`."""

    starts: Ints
    classes: Ints
    counts: Ints

    @classmethod
    def from_json(cls, table: Mapping[str, list[int]], words: int, classes: int) -> Seen:
        """Take what `labels.json` holds, if it fits."""
        try:
            sizes, ids, counts = (np.array(table[name], dtype=np.int32) for name in ("sizes", "classes", "counts"))
        except (ValueError, OverflowError) as failure:
            raise TypeError("a lexicon that does not count") from failure
        whole = len(sizes) == words and sizes.min(initial=0) >= 0 and sizes.sum() == len(ids) == len(counts)
        if not whole or ids.min(initial=0) < 0 or ids.max(initial=0) >= classes or counts.min(initial=1) < 1:
            raise TypeError("a lexicon whose numbers do not fit its words")
        return cls(frozen_ints(np.concatenate([[0], np.cumsum(sizes)])), frozen_ints(ids), frozen_ints(counts))

    def to_json(self) -> dict[str, list[int]]:
        """Give what `labels.json` holds."""
        return {
            "sizes": np.diff(self.starts).tolist(),
            "classes": self.classes.tolist(),
            "counts": self.counts.tolist(),
        }

    def evidence(self) -> Floats:
        """Say what speaks for each class of each word, by how often it has it."""
        sizes = np.diff(self.starts)
        summed = np.concatenate([[0], np.cumsum(self.counts)])[self.starts]
        shares = self.counts / (np.repeat(np.diff(summed), sizes) + 1)
        evidence: Floats = np.log1p(shares / NOTHING).astype(np.float32)
        return evidence


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The words of a treebank, sorted by their characters from the last to the first, and their classes."""

    words: tuple[str, ...]
    seen: Mapping[str, Seen]  # of each tag set

    @classmethod
    def of(cls, forms: Column, classes: Mapping[str, npt.NDArray[np.int64]]) -> Lexicon:
        """Count the classes of words in each tag set; a negative one is none."""
        used = np.flatnonzero(np.bincount(forms.ids, minlength=len(forms.names))).tolist()
        used.sort(key=lambda number: forms.names[number][::-1])
        places = np.zeros(len(forms.names), dtype=np.int64)
        places[used] = np.arange(len(used))
        seen = {}
        for name, ids in classes.items():
            pairs, counts = np.unique(np.stack([places[forms.ids], ids])[:, ids >= 0], axis=1, return_counts=True)
            sizes = np.bincount(pairs[0], minlength=len(used))
            starts = np.concatenate([[0], np.cumsum(sizes)])
            seen[name] = Seen(frozen_ints(starts), frozen_ints(pairs[1]), frozen_ints(counts))
        return cls(tuple(forms.names[number] for number in used), seen)

    @classmethod
    def from_json(cls, table: Mapping[str, Any], classes: Mapping[str, Sequence[str]]) -> Lexicon:
        """Take what `labels.json` holds, if it fits the classes of the tag sets."""
        words = tuple(table["words"])
        if not all(isinstance(word, str) for word in words) or any(
            one[::-1] >= other[::-1] for one, other in pairwise(words)
        ):
            raise TypeError("a lexicon whose words are not sorted")
        if table["seen"].keys() != classes.keys():
            raise TypeError("a lexicon of other tag sets")
        return cls(
            words, {name: Seen.from_json(one, len(words), len(classes[name])) for name, one in table["seen"].items()}
        )

    def to_json(self) -> dict[str, Any]:
        """Give what `labels.json` holds."""
        return {"words": list(self.words), "seen": {name: one.to_json() for name, one in self.seen.items()}}

    @cached_property
    def _places(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}

    @cached_property
    def _reversed(self) -> tuple[Ints, Ints]:
        return _backwards(self.words)

    @cached_property
    def _evidence(self) -> dict[str, Floats]:
        return {name: seen.evidence() for name, seen in self.seen.items()}

    def places(self, forms: Column) -> Places:
        """Say where each word stands in the lexicon, -1 for those that it lacks."""
        used = np.flatnonzero(np.bincount(forms.ids, minlength=len(forms.names)))
        found = np.full(len(forms.names), -1, dtype=np.int64)
        found[used] = [self._places.get(forms.names[number], -1) for number in used.tolist()]
        return found[forms.ids]

    def add(self, name: str, scores: Floats, forms: Column, places: Places, weights: tuple[float, float]) -> None:
        """Add to the scores of a tag set what the lexicon knows of words, and what endings say of others."""
        known, new = weights
        if known:
            self._add_known(name, scores, places, known)
        if new:
            rows = np.flatnonzero(places < 0)
            if len(rows):
                types, numbers = np.unique(forms.ids[rows], return_inverse=True)
                guessed = self._guessed(name, [forms.names[one] for one in types.tolist()], scores.shape[1])
                scores[rows] += (np.float32(new) * guessed)[numbers]

    def _add_known(self, name: str, scores: Floats, places: Places, weight: float) -> None:
        starts = self.seen[name].starts
        rows = np.flatnonzero(places >= 0)
        first = starts[places[rows]].astype(np.int64)
        sizes = starts[places[rows] + 1] - first
        before = np.cumsum(sizes) - sizes
        entries = np.arange(sizes.sum()) + np.repeat(first - before, sizes)
        scores[np.repeat(rows, sizes), self.seen[name].classes[entries]] += (
            np.float32(weight) * self._evidence[name][entries]
        )

    def _guessed(self, name: str, words: Sequence[str], classes: int) -> Floats:
        """Say what the endings of words speak for."""
        seen = self.seen[name]
        out = np.zeros((len(words), classes), dtype=np.float32)
        asked = _backwards(words)
        ends = np.zeros((2, LONGEST + 1), dtype=np.int32)
        kernel.guess(*map(view, (*self._reversed, seen.starts, seen.classes, *asked, ends, out)))
        guessed: Floats = np.log1p(out / np.float32(NOTHING))
        return guessed


def _backwards(words: Sequence[str]) -> tuple[Ints, Ints]:
    """Lay the characters of words end to end, each word's from the last to the first; say where each begins."""
    sizes = np.array([len(word) for word in words], dtype=np.int64)
    characters = np.fromiter(chain.from_iterable(map(ord, word[::-1]) for word in words), np.int32, int(sizes.sum()))
    return frozen_ints(characters), frozen_ints(np.concatenate([[0], np.cumsum(sizes)]))
