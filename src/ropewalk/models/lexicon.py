"""Which classes of tags the words of a treebank have: evidence beside what a network says.

A word that the treebank has is likely to have the tags that it has there, and another word those of words that end
like it. Of few sentences, that is learnt better by counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from operator import ge
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import frozen_ints
from ropewalk.errors import MismatchError
from ropewalk.kernels import endings as kernel
from ropewalk.kernels import view
from ropewalk.models.packed import numbers_of, packed_numbers, packed_texts, texts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.core.columns import Column

    Floats = npt.NDArray[np.float32]

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
    def from_json(cls, table: Mapping[str, str | list[int]], words: int, classes: int) -> Seen:
        """Take what `labels.json` holds, if it fits."""
        sizes, ids, counts = (numbers_of(table[name]) for name in ("sizes", "classes", "counts"))
        whole = len(sizes) == words and sizes.min(initial=0) >= 0 and sizes.sum() == len(ids) == len(counts)
        if not whole or ids.min(initial=0) < 0 or ids.max(initial=0) >= classes or counts.min(initial=1) < 1:
            raise TypeError("a lexicon whose numbers do not fit its words")
        return cls(frozen_ints(np.concatenate([[0], np.cumsum(sizes)])), ids, counts)

    def to_json(self) -> dict[str, str]:
        """Give what `labels.json` holds."""
        return {
            "sizes": packed_numbers(np.diff(self.starts)),
            "classes": packed_numbers(self.classes),
            "counts": packed_numbers(self.counts),
        }

    def evidence(self) -> Floats:
        """Say what speaks for each class of each word, by how often it has it."""
        sizes = np.diff(self.starts)
        summed = np.concatenate([[0], np.cumsum(self.counts)])[self.starts]
        shares = self.counts / (np.repeat(np.diff(summed), sizes) + 1)
        evidence: Floats = np.log1p(shares / NOTHING).astype(np.float32)
        return evidence


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """What a lexicon has of the words of sentences: the place of each, and a number for each that it lacks; or -1.

    `ends` says of each number which words of the lexicon end alike, as the kernel writes it.
    """

    places: Ints
    numbers: Ints
    ends: Ints

    def of(self, words: npt.NDArray[np.int64]) -> Entries:
        """Pick words."""
        return Entries(frozen_ints(self.places[words]), frozen_ints(self.numbers[words]), self.ends)


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
        words = texts_of(table["words"])
        backwards = "\n".join(words)[::-1].split("\n")[::-1]  # of all at once
        if any(map(ge, backwards, backwards[1:])):
            raise TypeError("a lexicon whose words are not sorted")
        if table["seen"].keys() != classes.keys():
            raise TypeError("a lexicon of other tag sets")
        return cls(
            words, {name: Seen.from_json(one, len(words), len(classes[name])) for name, one in table["seen"].items()}
        )

    def to_json(self) -> dict[str, Any]:
        """Give what `labels.json` holds."""
        return {"words": packed_texts(self.words), "seen": {name: one.to_json() for name, one in self.seen.items()}}

    @cached_property
    def _places(self) -> dict[str, int]:
        return dict(zip(self.words, range(len(self.words)), strict=True))

    @cached_property
    def _reversed(self) -> tuple[Ints, Ints]:
        return _backwards(self.words)

    @cached_property
    def _widths(self) -> dict[str, int]:
        """How many classes of each tag set there are at least."""
        return {name: int(seen.classes.max(initial=-1)) + 1 for name, seen in self.seen.items()}

    @cached_property
    def _weighed(self) -> dict[tuple[str, float], Floats]:
        return {}

    def _evidence(self, name: str, weight: float) -> Floats:
        """Say what speaks for each class of each word, with a weight; that is remembered."""
        if (name, weight) not in self._weighed:
            self._weighed[name, weight] = np.float32(weight) * self.seen[name].evidence()
        return self._weighed[name, weight]

    def find(self, forms: Column) -> Entries:
        """Look words up, and those that it lacks by their ends."""
        used = np.bincount(forms.ids, minlength=len(forms.names)).nonzero()[0].tolist()
        places, numbers = np.full((2, len(forms.names)), -1, dtype=np.int32)
        known = self._places
        new = [number for number in used if forms.names[number] not in known]
        places[used] = [known.get(forms.names[number], -1) for number in used]
        numbers[new] = range(len(new))
        ends = np.zeros((len(new), 2, LONGEST + 1), dtype=np.int32)
        if new:
            kernel.find(*map(view, (*self._reversed, *_backwards([forms.names[number] for number in new]), ends)))
        return Entries(places[forms.ids], numbers[forms.ids], ends)

    def add(self, name: str, scores: Floats, found: Entries, weights: tuple[float, float]) -> None:
        """Add to the scores of a tag set what the lexicon knows of words, and what endings say of others."""
        known, new = weights
        seen = self.seen[name]
        if len(scores) != len(found.places) or scores.shape[1] < self._widths[name]:
            raise MismatchError(f"scores of shape {scores.shape} for {len(found.places)} words in the tag set {name}")
        if known:
            evidence = self._evidence(name, known)
            kernel.add(*map(view, (found.places, seen.starts, seen.classes, evidence, scores)))
        if new and len(found.ends):
            likely = np.zeros((len(found.ends), scores.shape[1]), dtype=np.float32)
            kernel.guess(*map(view, (found.ends, seen.starts, seen.classes, likely)))
            guessed = np.float32(new) * np.log1p(likely / np.float32(NOTHING))
            kernel.add_rows(*map(view, (found.numbers, guessed, scores)))


def _backwards(words: Sequence[str]) -> tuple[Ints, Ints]:
    """Lay the characters of words end to end, each word's from the last to the first; say where each begins."""
    raw = "".join([word[::-1] for word in words]).encode("utf-32-le", "surrogatepass")
    sizes = np.fromiter(map(len, words), np.int64, len(words))
    starts = np.zeros(len(words) + 1, dtype=np.int32)
    np.cumsum(sizes, out=starts[1:])
    return np.frombuffer(raw, dtype="<i4"), starts
