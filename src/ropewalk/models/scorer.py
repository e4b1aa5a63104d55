"""Numbers from words: an encoder gives each word a vector, heads make scores of vectors.

What computes the networks, torch or ONNX Runtime, is hidden behind two protocols. All that is done here is to cut words
into blocks of fixed shapes, so that what a word gets does not depend on how many others there are, and to lay heads
beside their words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.treebank import Column
    from ropewalk.trees import Ints

ROWS = 64  # words come in multiples of it,
BLOCK = 1024  # and so many at a time
CELLS = 1 << 18  # pairs of words whose arcs are scored together
TAGS = "tags."  # begins the names of outputs for tag sets, which end in their numbers

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int64]


def blank_rows(words: int, width: int) -> Floats:
    """Make an array for so many words, and for more up to a multiple of rows."""
    return np.zeros((words + -words % ROWS, width), dtype=np.float32)


class WordVectors(Protocol):
    """Words in, vectors out. What comes out for a sentence does not depend on what else there is."""

    def vectors(self, forms: Column, offsets: Ints, budget: int) -> Floats:
        """Give the vectors of the words of sentences as `blank_rows`, about `budget` tokens at a time."""


class HeadNetworks(Protocol):
    """The networks between the vectors of words and scores; all scores are log-probabilities."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """Name what `words` can compute.

        `labels.N` and `tags.N` for each label column and tag set; `relations`, or the two sides of pairs, `pair_words`
        and `pair_heads`; and where arcs are scored the sides of those, `arc_words` and `arc_heads`.
        """

    def words(self, vectors: Floats, outputs: Sequence[str]) -> dict[str, Floats]:
        """Compute what follows from each word alone, as far as these outputs need it."""

    def pairs(self, words: Floats, heads: Floats, classes: Numbers) -> Floats:
        """Score the relations of pairs by their two sides and the class of each: [pairs, relations]."""

    def arcs(self, words: Floats, heads: Floats) -> Floats:
        """Score heads in sentences of one length: [sentences, words, words + 1], place 0 is the root."""


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """An encoder and its heads; `distances` are the upper bounds of the classes of head minus word."""

    encoder: WordVectors
    heads: HeadNetworks
    distances: Numbers

    def scores(self, forms: Column, offsets: Ints, budget: int, outputs: Sequence[str] | None = None) -> Scores:
        """Score the words of sentences, about `budget` tokens at a time; by all heads unless some are named."""
        vectors = self.encoder.vectors(forms, offsets, budget)
        return Scores(self.heads, self.distances, vectors, offsets, self.heads.outputs if outputs is None else outputs)


class Scores:
    """What a model says of the words of some sentences: log-probabilities, with a row for each word."""

    def __init__(
        self, heads: HeadNetworks, distances: Numbers, vectors: Floats, offsets: Ints, outputs: Sequence[str]
    ) -> None:
        self._networks = heads
        self._distances = distances
        self._offsets = offsets
        self._count = int(offsets[-1])
        blocks = [heads.words(vectors[start : start + BLOCK], outputs) for start in range(0, len(vectors), BLOCK)]
        self._words = (
            blocks[0]
            if len(blocks) == 1
            else {name: np.concatenate([block[name] for block in blocks]) for name in (blocks[0] if blocks else ())}
        )

    def tags(self) -> dict[int, Floats]:
        """Score the tags of each tag set that was asked for, by its number."""
        found = self._words.items()
        return {int(name[len(TAGS) :]): rows[: self._count] for name, rows in found if name.startswith(TAGS)}

    def labels(self) -> list[Floats]:
        """Score the labels of each column of the encoding that is parsed with."""
        return [rows[: self._count] for name, rows in self._words.items() if name.startswith("labels.")]

    def arcs(self) -> list[Floats]:
        """Score heads for each sentence: [words, words + 1], place 0 is the root."""
        words, heads = self._words["arc_words"], self._words["arc_heads"]
        lengths = np.diff(self._offsets)
        out: list[Floats] = [np.zeros((0, 1), dtype=np.float32)] * len(lengths)
        for length in sorted(set(lengths[lengths > 0].tolist())):
            same = np.flatnonzero(lengths == length)
            most = max(CELLS // (length * length), 1)
            for start in range(0, len(same), most):
                some = same[start : start + most]
                places = self._offsets[some][:, None] + np.arange(length)
                scores = self._networks.arcs(words[places], heads[places])
                for sentence, table in zip(some.tolist(), scores, strict=True):
                    out[sentence] = table
        return out

    def relations(self, heads: Ints | None = None) -> Floats:
        """Score relations under these heads; a model whose relations come from words alone needs none."""
        if "relations" in self._words:
            return self._words["relations"][: self._count]
        assert heads is not None  # noqa: S101 - as the description says
        words, above = self._words["pair_words"], self._words["pair_heads"]
        places, classes = head_places(heads, self._offsets, self._distances, len(words))
        blocks = []
        for start in range(0, len(words), BLOCK):
            block = slice(start, start + BLOCK)
            chosen = above[places[block]]
            chosen[places[block] < 0] = 0
            blocks.append(self._networks.pairs(words[block], chosen, classes[block]))
        return np.concatenate(blocks)[: self._count]


def head_places(heads: npt.NDArray[np.integer], offsets: Ints, bounds: Numbers, rows: int) -> tuple[Numbers, Numbers]:
    """Say for each word in which row its head is, -1 for the root, and the class of their distance.

    Classes are those between `bounds`; one more is that of the root. Without bounds there are two: a word, or the root.
    Both are filled up to so many `rows`.
    """
    lengths = np.diff(offsets)
    places = np.full(rows, -1, dtype=np.int64)
    rooted = heads == 0
    places[: len(heads)] = np.where(rooted, -1, np.repeat(offsets[:-1], lengths) + heads - 1)
    classes = np.full(rows, len(bounds) + 1, dtype=np.int64)
    apart = places[: len(heads)] - np.arange(len(heads))
    classes[: len(heads)] = np.where(rooted, len(bounds) + 1, np.searchsorted(bounds, apart))
    return places, classes
