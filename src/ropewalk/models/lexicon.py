"""Lexicon: which tags the words of a treebank have, as evidence beside the network's scores.

A word of the treebank probably has the tags that it has there. Any other word probably has the tags of words with the
same ending. With a small treebank, such counts predict tags better than a network.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from operator import ge
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import frozen_ints
from ropewalk.core.ragged import starts_of
from ropewalk.errors import MismatchError
from ropewalk.kernels import endings as kernel
from ropewalk.kernels import view
from ropewalk.models.packed import numbers_of, packed_numbers
from ropewalk.models.sorted_texts import SortedTexts, backwards, finder, searchable, texts_in, texts_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.core.columns import Column

    Floats = npt.NDArray[np.float32]

WEIGHTS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)  # of evidence; `fitted_weights` picks from these
NOTHING = 0.001  # the probability of a class without evidence
LONGEST = 10  # characters of an ending


@dataclass(frozen=True, slots=True)
class Seen:
    """Counts of how often each word has each class of a tag set.

    Those of word i are `counts[starts[i]:starts[i + 1]]`, for the classes in `classes` at the same indices.
    """

    starts: Ints
    classes: Ints
    counts: Ints

    @classmethod
    def of(cls, words: npt.NDArray[Any], classes: npt.NDArray[Any], count: int) -> Seen:
        """Count how often each word has each class; word indices in `words` are below `count`.

        `words` and `classes` have the word and the class of each token.
        """
        pairs, counts = np.unique(np.stack([words, classes]), axis=1, return_counts=True)
        starts = starts_of(np.bincount(pairs[0], minlength=count))
        return cls(frozen_ints(starts), frozen_ints(pairs[1]), frozen_ints(counts))

    @classmethod
    def from_json(cls, table: Mapping[str, str | list[int]], words: int, classes: int) -> Seen:
        """Read counts from a table of `labels.json`, for `words` words and `classes` classes.

        Raise `TypeError` if the table has another number of words, or a class that does not exist.
        """
        sizes, ids, counts = (numbers_of(table[name]) for name in ("sizes", "classes", "counts"))
        whole = len(sizes) == words and sizes.min(initial=0) >= 0 and sizes.sum() == len(ids) == len(counts)
        if not whole or ids.min(initial=0) < 0 or ids.max(initial=0) >= classes or counts.min(initial=1) < 1:
            raise TypeError("a lexicon whose numbers do not fit its words")
        return cls(frozen_ints(starts_of(sizes)), ids, counts)

    def to_json(self) -> dict[str, str]:
        """Return the counts as a table for `labels.json`."""
        return {
            "sizes": packed_numbers(np.diff(self.starts)),
            "classes": packed_numbers(self.classes),
            "counts": packed_numbers(self.counts),
        }

    def evidence(self) -> Floats:
        """Return the evidence for each class of each word, in the order of `classes`.

        It grows with the logarithm of the class's relative frequency among the word's classes, and is at least 0.
        """
        sizes = np.diff(self.starts)
        summed = starts_of(self.counts)[self.starts]
        frequencies = self.counts / (np.repeat(np.diff(summed), sizes) + 1)
        evidence: Floats = np.log1p(frequencies / NOTHING).astype(np.float32)
        return evidence


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The entries of a lexicon for the words of some sentences.

    `places` has each word's index in the lexicon, or -1 if the lexicon does not contain it. `numbers` has the row in
    `ends` of each word that the lexicon does not contain, and -1 for the others. A row of `ends` has, for endings of
    each length, the range of the lexicon's words with the same ending.
    """

    places: Ints
    numbers: Ints
    ends: Ints

    def of(self, words: npt.NDArray[np.int64]) -> Entries:
        """Return the entries of some of the words; `words` are their indices."""
        return Entries(frozen_ints(self.places[words]), frozen_ints(self.numbers[words]), self.ends)


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The words of a treebank, and how often each word has each class of each tag set.

    The words are sorted by their reversed spelling, so that words with the same ending are neighbours.
    """

    words: Sequence[str]
    seen: Mapping[str, Seen]  # of each tag set

    @classmethod
    def of(cls, forms: Column, classes: Mapping[str, npt.NDArray[np.int64]]) -> Lexicon:
        """Count how often each word has each class, for each tag set.

        `forms` are the tokens of a treebank. `classes` has for each tag set the class of each token; tokens with a
        negative class are skipped.
        """
        used = np.flatnonzero(np.bincount(forms.ids, minlength=len(forms.names))).tolist()
        used.sort(key=lambda number: forms.names[number][::-1])
        places = np.zeros(len(forms.names), dtype=np.int64)
        places[used] = np.arange(len(used))
        seen = {name: Seen.of(places[forms.ids][ids >= 0], ids[ids >= 0], len(used)) for name, ids in classes.items()}
        return cls(tuple(forms.names[number] for number in used), seen)

    @classmethod
    def from_json(cls, table: Mapping[str, Any], classes: Mapping[str, Sequence[str]]) -> Lexicon:
        """Read a lexicon from a table of `labels.json`; `classes` has the names of the classes of each tag set.

        Raise `TypeError` if words are not sorted, or if the table has other tag sets or classes.
        """
        words = texts_in(table["words"])
        if not isinstance(words, SortedTexts):
            reversed_words = "\n".join(words)[::-1].split("\n")[::-1]  # reversing all words at once is faster
            if any(map(ge, reversed_words, reversed_words[1:])):
                raise TypeError("a lexicon whose words are not sorted")
        if table["seen"].keys() != classes.keys():
            raise TypeError("a lexicon of other tag sets")
        seen = {name: Seen.from_json(counts, len(words), len(classes[name])) for name, counts in table["seen"].items()}
        return cls(words, seen)

    def to_json(self) -> dict[str, Any]:
        """Return the words and their counts as a table for `labels.json`."""
        return {"words": texts_table(self.words), "seen": {name: seen.to_json() for name, seen in self.seen.items()}}

    def searchable(self) -> Lexicon:
        """Return a copy in which words are found without decoding them all."""
        return Lexicon(searchable(self.words), self.seen)

    @cached_property
    def _find(self) -> Callable[[Sequence[str]], Sequence[int] | Ints]:
        return finder(self.words)

    @cached_property
    def _reversed(self) -> tuple[Ints, Ints]:
        return (self.words.codes, self.words.starts) if isinstance(self.words, SortedTexts) else backwards(self.words)

    @cached_property
    def _widths(self) -> dict[str, int]:
        """The least number of columns that the score table of each tag set must have: its highest class, plus 1."""
        return {name: int(seen.classes.max(initial=-1)) + 1 for name, seen in self.seen.items()}

    @cached_property
    def _weighed(self) -> dict[tuple[str, float], Floats]:
        return {}

    def _evidence(self, name: str, weight: float) -> Floats:
        """Return `weight` times the evidence for each class of each word in the tag set `name`; cache the result."""
        if (name, weight) not in self._weighed:
            self._weighed[name, weight] = np.float32(weight) * self.seen[name].evidence()
        return self._weighed[name, weight]

    def find(self, forms: Column) -> Entries:
        """Look up words in the lexicon; for a word that is missing, find the words with the same ending."""
        used = np.bincount(forms.ids, minlength=len(forms.names)).nonzero()[0]
        places, numbers = np.full((2, len(forms.names)), -1, dtype=np.int32)
        places[used] = self._find([forms.names[number] for number in used.tolist()])
        new = used[places[used] < 0].tolist()
        numbers[new] = range(len(new))
        ends = np.zeros((len(new), 2, LONGEST + 1), dtype=np.int32)
        if new:
            kernel.find(*map(view, (*self._reversed, *backwards([forms.names[number] for number in new]), ends)))
        return Entries(places[forms.ids], numbers[forms.ids], ends)

    def add(self, name: str, scores: Floats, entries: Entries, weights: tuple[float, float]) -> None:
        """Add the evidence of the lexicon, in place, to `scores`: the score table [words, classes] of tag set `name`.

        The evidence for a word in the lexicon comes from its own counts, with the first of `weights`. The evidence for
        any other word comes from words with the same ending, with the second. Raise `MismatchError` if `scores` has
        another number of words than `entries`, or too few classes.
        """
        known, new = weights
        seen = self.seen[name]
        if len(scores) != len(entries.places) or scores.shape[1] < self._widths[name]:
            raise MismatchError(f"scores of shape {scores.shape} for {len(entries.places)} words in the tag set {name}")
        if known:
            evidence = self._evidence(name, known)
            kernel.add(*map(view, (entries.places, seen.starts, seen.classes, evidence, scores)))
        if new and len(entries.ends):
            likely = np.zeros((len(entries.ends), scores.shape[1]), dtype=np.float32)
            kernel.guess(*map(view, (entries.ends, seen.starts, seen.classes, likely)))
            guessed = np.float32(new) * np.log1p(likely / np.float32(NOTHING))
            kernel.add_rows(*map(view, (entries.numbers, guessed, scores)))
