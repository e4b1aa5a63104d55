"""Numbers from words: an encoder gives each word a vector, heads make scores of vectors.

What computes the networks, torch or ONNX Runtime, is hidden behind two protocols. All that is done here is to cut words
into blocks of fixed shapes, so that what a word gets does not depend on how many others there are, and to lay heads
beside their words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.core.columns import Column

BLOCK = 1024  # words that pass the networks at a time
CELLS = 1 << 18  # pairs of words whose arcs are scored together
GRAPHS = "graph_"  # begins the names of outputs for enhanced graphs
TAGS = "tags."  # begins the names of outputs for tag sets, which end in their numbers

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int64]
Number = TypeVar("Number", np.float32, np.int64)


def filled(array: npt.NDArray[Number], rows: int) -> npt.NDArray[Number]:
    """Fill an array up with zeros to a multiple of rows."""
    more = -len(array) % rows
    if not more:
        return array
    out = np.zeros((len(array) + more, *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out


class WordVectors(Protocol):
    """Words in, vectors out. What comes out for a sentence does not depend on what else there is."""

    def vectors(self, forms: Column, offsets: Ints, budget: int) -> Floats:
        """Give the vector of each word of sentences, about `budget` tokens at a time."""


class HeadNetworks(Protocol):
    """The networks between the vectors of words and scores; all scores are log-probabilities.

    Words and pairs come to it in multiples of `rows`: what it says of one must not depend on how many multiples.
    """

    rows: int

    @property
    def outputs(self) -> tuple[str, ...]:
        """Name what `words` can compute.

        `labels.N` and `tags.N` for each label column and tag set; `relations`, or the two sides of pairs, `pair_words`
        and `pair_heads`; and where arcs are scored the sides of those, `arc_words` and `arc_heads`. A model of graphs
        has likewise `graph_labels`, `graph_pair_words`, `graph_pair_heads`, `graph_arc_words` and `graph_arc_heads`.
        """

    def words(self, vectors: Floats, outputs: Sequence[str]) -> dict[str, Floats]:
        """Compute what follows from each word alone, as far as these outputs need it."""

    def pairs(self, words: Floats, heads: Floats, classes: Numbers) -> Floats:
        """Score the relations of pairs by their two sides and the class of each: [pairs, relations]."""

    def arcs(self, words: Floats, heads: Floats) -> Floats:
        """Score heads in sentences of one length: [sentences, words, words + 1], place 0 is the root."""

    def graph_pairs(self, words: Floats, heads: Floats, classes: Numbers) -> Floats:
        """Score the relations of arcs of graphs as `pairs` does those of trees."""

    def graph_arcs(self, words: Floats, heads: Floats) -> Floats:
        """Give the log-odds of arcs of graphs, each by itself, in the shape of `arcs`."""


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """An encoder and its heads; `distances` are the upper bounds of the classes of head minus word.

    `graph_distances` are those of arcs of graphs.
    """

    encoder: WordVectors
    heads: HeadNetworks
    distances: Numbers
    graph_distances: Numbers

    def scores(self, forms: Column, offsets: Ints, budget: int, outputs: Sequence[str] | None = None) -> Scores:
        """Score the words of sentences, about `budget` tokens at a time; by all heads unless some are named."""
        vectors = self.encoder.vectors(forms, offsets, budget)
        return Scores(self, vectors, offsets, self.heads.outputs if outputs is None else outputs)


class TreeScores(Protocol):
    """What trees are found by, whoever says it: log-probabilities, with a row for each word."""

    def labels(self) -> list[Floats]:
        """Score the labels of each column of the encoding that is parsed with."""

    def arcs(self) -> list[Floats]:
        """Score heads for each sentence: [words, words + 1], place 0 is the root."""

    def relations(self, heads: Ints | None = None, words: Numbers | None = None) -> Floats:
        """Score relations of all words, or of some, under these heads.

        A model whose relations come from words alone needs no heads.
        """


class Scores:
    """What a model says of the words of some sentences: log-probabilities, with a row for each word."""

    def __init__(self, scorer: Scorer, vectors: Floats, offsets: Ints, outputs: Sequence[str]) -> None:
        self._networks = scorer.heads
        self._distances = scorer.distances
        self._graph_distances = scorer.graph_distances
        self._offsets = offsets
        self._count = int(offsets[-1])
        self._vectors = vectors
        self._words = self._of(vectors, outputs)

    def _of(self, vectors: Floats, outputs: Sequence[str]) -> dict[str, Floats]:
        """Compute what follows from each word alone, in blocks of rows."""
        heads = self._networks
        out: dict[str, Floats] = {}
        for start in range(0, len(vectors), BLOCK):
            some = vectors[start : start + BLOCK]
            found = heads.words(filled(some, heads.rows), outputs)
            if len(vectors) <= BLOCK:
                return found
            for name, rows in found.items():
                if not start:
                    out[name] = np.empty((len(vectors), *rows.shape[1:]), dtype=rows.dtype)
                out[name][start : start + BLOCK] = rows[: len(some)]
        return out

    def tags(self) -> dict[int, Floats]:
        """Score the tags of each tag set that was asked for, by its number."""
        found = self._words.items()
        return {int(name[len(TAGS) :]): rows[: self._count] for name, rows in found if name.startswith(TAGS)}

    def tags_of(self, number: int, words: Numbers) -> Floats:
        """Score a tag set that was not asked for of all words, for some, of which there must be any."""
        name = f"{TAGS}{number}"
        return self._of(self._vectors[words], (name,))[name][: len(words)]

    def forget_tags(self) -> None:
        """Give the memory of the tags' scores back: of a very long sentence they are the most."""
        self._vectors = self._vectors[:0]
        for name in [name for name in self._words if name.startswith(TAGS)]:
            del self._words[name]

    def labels(self) -> list[Floats]:
        """Score the labels of each column of the encoding that is parsed with."""
        return [rows[: self._count] for name, rows in self._words.items() if name.startswith("labels.")]

    def arcs(self) -> list[Floats]:
        """Score heads for each sentence: [words, words + 1], place 0 is the root."""
        return self._tables(self._words["arc_words"], self._words["arc_heads"], self._networks.arcs)

    def graph_labels(self) -> Floats:
        """Score the labels of the encoding of graphs."""
        return self._words["graph_labels"][: self._count]

    def graph_arcs(self) -> list[Floats]:
        """Give the log-odds of all arcs of each sentence's graph: [words, words + 1], place 0 is the root."""
        words, heads = self._words["graph_arc_words"], self._words["graph_arc_heads"]
        return self._tables(words, heads, self._networks.graph_arcs)

    def graph_relations(self, words: Numbers, heads: Numbers) -> Floats:
        """Score the relations of arcs into these words, counted from 0 over all, from these heads of their sentence."""
        places, classes = arc_places(words, heads, self._offsets, self._graph_distances)
        return self._pairs("graph_pair", words, places, classes, self._networks.graph_pairs)

    def _tables(self, words: Floats, heads: Floats, network: Callable[[Floats, Floats], Floats]) -> list[Floats]:
        lengths = self._offsets[1:] - self._offsets[:-1]
        out: list[Floats] = [np.zeros((0, 1), dtype=np.float32)] * len(lengths)
        for length in sorted(set(lengths[lengths > 0].tolist())):
            same = np.flatnonzero(lengths == length)
            most = max(CELLS // (length * length), 1)
            for start in range(0, len(same), most):
                some = same[start : start + most]
                places = self._offsets[some][:, None] + np.arange(length)
                scores = network(words[places], heads[places])
                for sentence, table in zip(some.tolist(), scores, strict=True):
                    out[sentence] = table
        return out

    def relations(self, heads: Ints | None = None, words: Numbers | None = None) -> Floats:
        """Score relations of all words, or of some, under these heads; from words alone they need none."""
        if "relations" in self._words:
            alone = self._words["relations"][: self._count]
            return alone if words is None else alone[words]
        assert heads is not None  # noqa: S101 - as the description says
        words = np.arange(self._count) if words is None else words
        places, classes = arc_places(words, heads.astype(np.int64), self._offsets, self._distances)
        return self._pairs("pair", words, places, classes, self._networks.pairs)

    def all(self, heads: Ints) -> list[Floats]:
        """Compute all that was asked for, of trees and then of graphs, with the relations of arcs from these heads."""
        out = [*self.labels(), *self.tags().values()]
        if not self._words.keys().isdisjoint({"relations", "pair_words"}):
            out.append(self.relations(heads))
        out += self.arcs() if "arc_words" in self._words else ()
        if "graph_labels" in self._words:
            out.append(self.graph_labels())
        out += [-np.logaddexp(0, -one) for one in self.graph_arcs()] if "graph_arc_words" in self._words else ()
        if "graph_pair_words" in self._words:
            out.append(self.graph_relations(np.arange(self._count), heads.astype(np.int64)))
        return out

    def _pairs(
        self,
        sides: str,
        words: Numbers,
        places: Numbers,
        classes: Numbers,
        network: Callable[[Floats, Floats, Numbers], Floats],
    ) -> Floats:
        """Score pairs in blocks of rows."""
        below, above = self._words[f"{sides}_words"], self._words[f"{sides}_heads"]
        rows = self._networks.rows
        blocks = []
        for start in range(0, len(words), BLOCK):
            block = slice(start, start + BLOCK)
            chosen = above[places[block]]
            chosen[places[block] < 0] = 0
            given = filled(below[words[block]], rows), filled(chosen, rows), filled(classes[block], rows)
            blocks.append(network(*given)[: len(chosen)])
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)


def arc_places(words: Numbers, heads: Numbers, offsets: Ints, bounds: Numbers) -> tuple[Numbers, Numbers]:
    """Say for arcs in which row the head is, -1 for the root, and the class of its distance.

    `words` are the dependents, counted from 0 over all, and `heads` count within their sentences. Classes are those
    between `bounds`; one more is that of the root. Without bounds there are two: a word, or the root.
    """
    sentences = np.searchsorted(offsets, words, side="right") - 1
    rooted = heads == 0
    places = np.where(rooted, -1, offsets[:-1].astype(np.int64)[sentences] + heads - 1)
    classes = np.where(rooted, len(bounds) + 1, np.searchsorted(bounds, places - words))
    return places.astype(np.int64), classes.astype(np.int64)
