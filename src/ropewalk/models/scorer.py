"""Scores of words: an encoder computes a vector for each word, and classifiers compute scores from vectors.

Two protocols hide whether torch or ONNX Runtime computes the networks. This module cuts words into blocks of fixed
shapes, so that the scores of a word do not depend on how many others there are, and pairs words with their heads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar, final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.core.columns import Column
    from ropewalk.core.ragged import Offsets
    from ropewalk.models.description import Description

BLOCK = 1024  # words that the classifiers score at a time
CELLS = 1 << 18  # pairs of words whose arcs are scored together
TAGS = "tags."  # prefix of the outputs for tag sets, before their indices

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int64]
Number = TypeVar("Number", np.float32, np.int64)


def filled(array: npt.NDArray[Number], rows: int) -> npt.NDArray[Number]:
    """Return `array`, padded with rows of zeros so that its number of rows is a multiple of `rows`."""
    more = -len(array) % rows
    if not more:
        return array
    out = np.zeros((len(array) + more, *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out


class WordVectors(Protocol):
    """Protocol for encoders, which compute a contextual vector for each word.

    The vectors of a sentence must not depend on which other sentences are read with it.
    """

    def vectors(self, forms: Column, offsets: Ints, budget: int, style: int = 0) -> Floats:
        """Return the vector of each word: [words, size]; `offsets` are those of sentences in `forms`.

        About `budget` tokens are read at a time. `style` is the index of the treebank whose conventions are followed;
        encoders without styles ignore it.
        """


@final
@dataclass(frozen=True, slots=True)
class Group:
    """A group of classifiers of labels, relations and arcs: `TREES` or `GRAPHS`.

    `prefix` begins the names of the group's outputs.
    """

    prefix: str

    def output(self, name: str) -> str:
        """Return the network's name for the output `name` of this group: `name` after the prefix."""
        return f"{self.prefix}{name}"

    def sides(self, what: str) -> tuple[str, str]:
        """Return the names of two outputs: the vectors of words as dependents, and as heads.

        If `what` is `pair`, relations are scored from them; if it is `arc`, arcs are.
        """
        return self.output(f"{what}_words"), self.output(f"{what}_heads")


TREES, GRAPHS = Group(""), Group("graph_")  # of basic trees, and of enhanced graphs
GROUPS = (TREES, GRAPHS)


class Classifiers(Protocol):
    """Protocol for the networks that compute scores from word vectors; scores are log-probabilities unless noted.

    The number of words or of pairs that are passed is a multiple of `rows`; a score then does not depend on it.
    """

    rows: int

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of all outputs that `words` can compute.

        `labels.N` and `tags.N` are the scores of label column N and of tag set N. `relations` are the scores of
        relations if they depend on words alone. Otherwise `pair_words` and `pair_heads` are the vectors from which
        `pairs` scores relations. `arc_words` and `arc_heads` are the vectors from which `arcs` scores arcs. The same
        outputs of graphs are `graph_labels`, `graph_pair_words`, `graph_pair_heads`, `graph_arc_words` and
        `graph_arc_heads`.
        """

    def words(self, vectors: Floats, outputs: Sequence[str]) -> dict[str, Floats]:
        """Return the outputs that `outputs` names, by name, with one row for each row of `vectors`."""

    def pairs(self, group: Group, words: Floats, heads: Floats, classes: Numbers) -> Floats:
        """Return the scores of relations for pairs of a word and its head: [pairs, relations].

        `words` and `heads` are the rows of the outputs `pair_words` and `pair_heads` for each pair; `classes` are the
        classes of the distances between word and head.
        """

    def arcs(self, group: Group, words: Floats, heads: Floats) -> Floats:
        """Return the scores of arcs in sentences of equal length: [sentences, words, words + 1].

        The last index is the head's position, 0 for the root. `words` and `heads` are the outputs `arc_words` and
        `arc_heads`: [sentences, words, size]. For trees the scores are log-probabilities over the heads of a word, for
        graphs the log-odds of each arc.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """The networks of a model: an encoder and classifiers.

    `distances` holds for each group the upper bounds of the classes of distances, which are head minus word. `style` is
    the index of the treebank whose conventions are followed.
    """

    encoder: WordVectors
    classifiers: Classifiers
    distances: Mapping[Group, Numbers]
    style: int = 0

    @classmethod
    def of(cls, description: Description, encoder: WordVectors, classifiers: Classifiers) -> Scorer:
        """Build the scorer of the model that `description` describes, with the bounds of distances in it."""
        shapes = {TREES: description.heads, GRAPHS: description.graphs}
        bounds = {group: np.array(shape.distances, dtype=np.int64) for group, shape in shapes.items()}
        return cls(encoder, classifiers, bounds, description.style)

    def scores(self, forms: Column, offsets: Offsets, budget: int, outputs: Sequence[str] | None = None) -> Scores:
        """Compute the scores of words; `offsets` are those of sentences in `forms`.

        About `budget` tokens are encoded at a time. `outputs` names the outputs of classifiers to compute; None is all.
        """
        vectors = self.encoder.vectors(forms, offsets.array, budget, self.style)
        return Scores(self, vectors, offsets, self.classifiers.outputs if outputs is None else outputs)


class TreeScores(Protocol):
    """Protocol for the scores from which trees are decoded; all are log-probabilities."""

    def labels(self) -> list[Floats]:
        """Return the score tables of labels [words, labels], one for each label column of the encoding."""

    def arcs(self) -> list[Floats]:
        """Return the arc scores of each sentence: a table [words, words + 1], in which column 0 is the root as head."""

    def relations(self, heads: Ints | None = None, words: Numbers | None = None) -> Floats:
        """Return the scores of relations if word `words[i]` has head `heads[i]`: [words, relations].

        `words` are indices over all sentences; None is all words. A head is a position in its sentence, 0 the root.
        `heads` may be None if the model's relations depend on words alone.
        """


class Scores:
    """Scores of the words of some sentences: of tags in `tags`, of trees in `trees`, of graphs in `graphs`."""

    def __init__(self, scorer: Scorer, vectors: Floats, offsets: Offsets, outputs: Sequence[str]) -> None:
        self._classifiers = scorer.classifiers
        self._count = offsets.total
        self._vectors = vectors
        self._words = self._of(vectors, outputs)
        self.trees, self.graphs = (GroupScores(group, scorer, self._words, offsets) for group in GROUPS)

    def _of(self, vectors: Floats, outputs: Sequence[str]) -> dict[str, Floats]:
        """Compute the classifiers' `outputs` for word vectors, in blocks of at most `BLOCK` words; return them by name.

        If there is only one block, the rows of its padding are kept.
        """
        classifiers = self._classifiers
        out: dict[str, Floats] = {}
        for start in range(0, len(vectors), BLOCK):
            some = vectors[start : start + BLOCK]
            scores = classifiers.words(filled(some, classifiers.rows), outputs)
            if len(vectors) <= BLOCK:
                return scores
            for name, rows in scores.items():
                if not start:
                    out[name] = np.empty((len(vectors), *rows.shape[1:]), dtype=rows.dtype)
                out[name][start : start + BLOCK] = rows[: len(some)]
        return out

    def tags(self) -> dict[int, Floats]:
        """Return the score table [words, classes] of each computed tag set, by the index of the tag set."""
        outputs = self._words.items()
        return {int(name[len(TAGS) :]): rows[: self._count] for name, rows in outputs if name.startswith(TAGS)}

    def tags_of(self, number: int, words: Numbers) -> Floats:
        """Compute the score table [words, classes] of the tag set with index `number` for some words only.

        `words` are indices over all sentences; there must be at least one.
        """
        name = f"{TAGS}{number}"
        return self._of(self._vectors[words], (name,))[name][: len(words)]

    def forget_tags(self) -> None:
        """Free the memory of tag scores and word vectors; `tags` is empty afterwards, and `tags_of` fails."""
        self._vectors = self._vectors[:0]
        for name in [name for name in self._words if name.startswith(TAGS)]:
            del self._words[name]

    def all(self, heads: Ints) -> list[Floats]:
        """Return all scores as log-probabilities: of trees and tags, then of graphs.

        Relations are scored for the arc from `heads[i]` to word i.
        """
        trees, graphs = self.trees, self.graphs
        out = [*trees.labels(), *self.tags().values()]
        if trees.has_relations:
            out.append(trees.relations(heads))
        out += [*(trees.arcs() if trees.has_arcs else ()), *graphs.labels()]
        out += [-np.logaddexp(0, -log_odds) for log_odds in graphs.arcs()] if graphs.has_arcs else ()
        if graphs.has_relations:
            out.append(graphs.relations(heads))
        return out


@final
class GroupScores:
    """Scores from one group of classifiers, for trees or for graphs, as a `TreeScores`.

    Scores of relations and arcs are computed when they are asked for.
    """

    def __init__(self, group: Group, scorer: Scorer, words: dict[str, Floats], offsets: Offsets) -> None:
        self._group = group
        self._classifiers = scorer.classifiers
        self._distances = scorer.distances[group]
        self._words = words
        self._offsets = offsets

    @property
    def has_relations(self) -> bool:
        """Whether the outputs that scores of relations need were computed."""
        names = {self._group.output("relations"), *self._group.sides("pair")}
        return not self._words.keys().isdisjoint(names)

    @property
    def has_arcs(self) -> bool:
        """Whether the outputs that scores of arcs need were computed."""
        return self._group.sides("arc")[0] in self._words

    def labels(self) -> list[Floats]:
        """Return the score tables of labels [words, labels], one for each label column of the encoding."""
        start, count = self._group.output("labels"), self._offsets.total
        return [rows[:count] for name, rows in self._words.items() if name.startswith(start)]

    def arcs(self) -> list[Floats]:
        """Return the arc scores of each sentence: a table [words, words + 1], in which column 0 is the root as head."""
        words, heads = (self._words[name] for name in self._group.sides("arc"))
        lengths, starts = self._offsets.lengths, self._offsets.starts
        out: list[Floats] = [np.zeros((0, 1), dtype=np.float32)] * len(lengths)
        for length in sorted(set(lengths[lengths > 0].tolist())):
            same = np.flatnonzero(lengths == length)
            most = max(CELLS // (length * length), 1)
            for start in range(0, len(same), most):
                some = same[start : start + most]
                places = starts[some][:, None] + np.arange(length)
                scores = self._classifiers.arcs(self._group, words[places], heads[places])
                for sentence, table in zip(some.tolist(), scores, strict=True):
                    out[sentence] = table
        return out

    def relations(self, heads: Ints | Numbers | None = None, words: Numbers | None = None) -> Floats:
        """Return the scores of relations if word `words[i]` has head `heads[i]`; see `TreeScores.relations`."""
        alone = self._words.get(self._group.output("relations"))
        if alone is not None:
            return alone[: self._offsets.total] if words is None else alone[words]
        assert heads is not None  # noqa: S101 - relations depend on heads here
        words = np.arange(self._offsets.total) if words is None else words
        places = self._offsets.head_rows(words, heads)
        classes = distance_classes(words, places, self._distances)
        below, above = (self._words[name] for name in self._group.sides("pair"))
        rows = self._classifiers.rows
        blocks = []
        for start in range(0, len(words), BLOCK):
            block = slice(start, start + BLOCK)
            chosen = above[places[block]]
            chosen[places[block] < 0] = 0
            sides = filled(below[words[block]], rows), filled(chosen, rows), filled(classes[block], rows)
            blocks.append(self._classifiers.pairs(self._group, *sides)[: len(chosen)])
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)


def distance_classes(words: Numbers, head_rows: Numbers, bounds: Numbers) -> Numbers:
    """Return the class of the distance, head minus word, of each arc.

    `words` and `head_rows` are indices over the words of all sentences; the root is -1. The classes are the intervals
    between `bounds`. The last class is for arcs from the root, which have no distance.
    """
    return np.where(head_rows < 0, len(bounds) + 1, np.searchsorted(bounds, head_rows - words)).astype(np.int64)
