"""What stands on top of an encoder, computed in blocks of rows that hide how many words there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.runtime import folder
from ropewalk.runtime.session import Session

if TYPE_CHECKING:
    from ropewalk.models.decode import Scores
    from ropewalk.runtime.folder import Stored
    from ropewalk.trees import Ints

ROWS = 64  # words come in multiples of it,
BLOCK = 1024  # and so many at a time
CELLS = 1 << 18  # pairs of words whose arcs are scored together

Floats = npt.NDArray[np.float32]


def room(words: int, width: int) -> Floats:
    """Make an array for so many words, and for more up to a multiple of rows."""
    return np.zeros((words + -words % ROWS, width), dtype=np.float32)


class Heads:
    """The networks between the vectors of words and scores."""

    def __init__(self, stored: Stored, threads: int) -> None:
        def opened(file: str) -> Session:
            return Session(stored.content(file), str(stored.path / file), threads)

        self._heads = opened(folder.HEADS)
        self._pairs = opened(folder.PAIRS) if stored.has(folder.PAIRS) else None
        self._arcs = opened(folder.ARCS) if stored.has(folder.ARCS) else None
        self._bounds = np.array(stored.table.get("distances", ()), dtype=np.int64)

    def answers(self, vectors: Floats, offsets: Ints) -> Answers:
        """Score words whose vectors are known; there is `room` for more of them."""
        return Answers(self, vectors, offsets)

    def scores(self, vectors: Floats) -> dict[str, Floats]:
        """Compute what follows from each word alone."""
        names = self._heads.outputs
        out = [np.empty((len(vectors), self._heads.width(name)), dtype=np.float32) for name in names]
        for start in range(0, len(vectors), BLOCK):
            for array, part in zip(out, self._heads.run({"vectors": vectors[start : start + BLOCK]}), strict=True):
                array[start : start + BLOCK] = part
        return dict(zip(names, out, strict=True))

    def related(self, words: Floats, above: Floats, heads: Ints, offsets: Ints) -> Floats:
        """Score relations by what pairs are scored by: `words` of dependents, `above` of heads."""
        assert self._pairs is not None  # noqa: S101 - as the configuration says
        lengths = np.diff(offsets)
        places = np.repeat(offsets[:-1], lengths) + heads - 1
        apart = places - np.arange(len(heads))
        classes = np.where(heads > 0, np.searchsorted(self._bounds, apart), len(self._bounds) + 1)
        padded = np.zeros((2, len(words)), dtype=np.int64)
        padded[:, : len(heads)] = np.where(heads > 0, places, 0), classes
        rooted = padded[1] > len(self._bounds)
        out = np.empty((len(words), self._pairs.width("relations")), dtype=np.float32)
        for start in range(0, len(words), BLOCK):
            block = slice(start, start + BLOCK)
            over = above[padded[0, block]]
            over[rooted[block]] = 0  # the vector of the root lies in its class
            out[block] = self._pairs.run({"words": words[block], "above": over, "classes": padded[1, block]})[0]
        return out[: len(heads)]

    def arcs(self, words: Floats, above: Floats, offsets: Ints) -> list[Floats]:
        """Score the heads of each sentence, those of the same length together."""
        assert self._arcs is not None  # noqa: S101 - as the configuration says
        lengths = np.diff(offsets)
        out: list[Floats] = [np.zeros((0, 1), dtype=np.float32)] * len(lengths)
        for length in sorted(set(lengths[lengths > 0].tolist())):
            same = np.flatnonzero(lengths == length)
            most = max(CELLS // (length * length), 1)
            for start in range(0, len(same), most):
                some = same[start : start + most]
                places = offsets[some][:, None] + np.arange(length)
                scores = self._arcs.run({"words": words[places], "above": above[places]})[0]
                for sentence, table in zip(some.tolist(), scores, strict=True):
                    out[sentence] = table
        return out


class Answers:
    """What a model says of words whose vectors are known."""

    def __init__(self, heads: Heads, vectors: Floats, offsets: Ints) -> None:
        self._networks = heads
        self._offsets = offsets
        self._count = int(offsets[-1])
        self._scores = heads.scores(vectors)

    def tags(self) -> list[Scores]:
        """Score the tags of each tag set."""
        return self._named("tags.")

    def labels(self) -> list[Scores]:
        """Score the labels of each column."""
        return self._named("labels.")

    def arcs(self) -> list[Scores]:
        """Score the heads of each sentence."""
        return self._networks.arcs(self._scores["arc_words"], self._scores["arc_heads"], self._offsets)

    def relations(self, heads: Ints | None) -> Scores:
        """Score relations, from words and heads or from words alone."""
        if "relations" in self._scores:
            return self._scores["relations"][: self._count]
        assert heads is not None  # noqa: S101 - as the configuration says
        return self._networks.related(self._scores["pair_words"], self._scores["pair_heads"], heads, self._offsets)

    def _named(self, start: str) -> list[Scores]:
        return [array[: self._count] for name, array in self._scores.items() if name.startswith(start)]
