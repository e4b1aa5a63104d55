"""Words whose annotation is improbable under a model, and their ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ropewalk.errors import MismatchError, OptionError, demand_type
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.core.arrays import Bools
    from ropewalk.models.model import Model
    from ropewalk.models.tree_decoding import Float64s
    from ropewalk.treebank.documents import Sentence, Word

DOUBTFUL: Final = 1.0  # bits of surprise: the model gives the annotation a probability of one half
LEAST: Final = 1e-6  # the lowest probability of a relation that counts: unknown relations would outweigh all heads


@dataclass(frozen=True, slots=True, eq=False)
class Suspect:
    """A word whose annotation the model contradicts or doubts.

    `word` has the annotation; `predicted` is the same word in the model's tree. `head` is the probability of the
    annotated head, and `relation` that of the annotated relation given this head. `surprise` is the negative logarithm,
    to base 2, of their product.
    """

    word: Word
    predicted: Word
    head: float
    relation: float
    surprise: float


@dataclass(frozen=True, slots=True, eq=False)
class SuspectSentence:
    """A sentence with its suspicious words, the most suspicious first; `surprise` is that of the first."""

    sentence: Sentence
    surprise: float
    suspects: tuple[Suspect, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Review:
    """An annotated treebank and the trees that a model predicts for it.

    `heads` and `relations` have the model's probability of each word's annotated head and relation.
    """

    treebank: Treebank
    predicted: Treebank
    heads: Float64s
    relations: Float64s

    def __post_init__(self) -> None:
        for name, count in (("trees", self.predicted.words), ("heads", len(self.heads))):
            if count != self.treebank.words:
                raise MismatchError(f"{count} predicted {name} for {self.treebank.words} words; expected as many")

    @property
    def surprise(self) -> Float64s:
        """The surprise of each word's annotation: minus the base 2 logarithm of its probability, or 0 if unknown."""
        product = np.maximum(self.heads, np.finfo(np.float64).tiny) * np.maximum(self.relations, LEAST)
        bits: Float64s = np.nan_to_num(-np.log2(product), nan=0.0)
        return bits + 0.0

    @property
    def disagrees(self) -> Bools:
        """For each word, whether the model predicts another head or relation than the annotated one."""
        ours, theirs = self.treebank, self.predicted
        names = {name: number for number, name in enumerate(ours.relations.names)}
        known = np.array([*(names.get(name, -1) for name in theirs.relations.names), -1])
        return np.asarray((ours.heads != theirs.heads) | (known[theirs.relations.ids] != ours.relations.ids))

    @property
    def doubts(self) -> Bools:
        """For each word, whether the model predicts the annotation, but with a probability below one half."""
        return np.asarray(~self.disagrees & (self.surprise > DOUBTFUL))

    def ranked(self) -> list[int]:
        """Return the indices of the words that the model contradicts or doubts, the most suspicious first.

        Words are counted from 0 in the whole treebank.
        """
        words = np.flatnonzero(self.disagrees | self.doubts)
        order: list[int] = words[np.argsort(-self.surprise[words], kind="stable")].tolist()
        return order

    def suspects(self, count: int | None = None) -> list[Suspect]:
        """Return the `count` most suspicious words, the most suspicious first.

        Without `count`, return all words whose annotation the model contradicts or doubts.
        """
        if count is not None and count < 0:
            raise OptionError(f"{count} suspicious words were asked for; expected 0 or more")
        surprise = self.surprise
        return [self._suspect(at, float(surprise[at])) for at in self.ranked()[:count]]

    def sentences(self, count: int | None = None) -> list[SuspectSentence]:
        """Return the sentences that contain the `count` most suspicious words, each sentence once.

        The sentence with the most suspicious word comes first. The words of each sentence are ordered in the same way.
        """
        by_sentence: dict[int, list[Suspect]] = {}
        for suspect in self.suspects(count):
            by_sentence.setdefault(suspect.word.sentence.number, []).append(suspect)
        return [
            SuspectSentence(self.treebank[number], some[0].surprise, tuple(some))
            for number, some in by_sentence.items()
        ]

    def _suspect(self, at: int, surprise: float) -> Suspect:
        number = self.treebank.offsets.owner(at)
        place = at - self.treebank.offsets[number].start
        word, predicted = self.treebank[number][place], self.predicted[number][place]
        return Suspect(word, predicted, float(self.heads[at]), float(self.relations[at]), surprise)

    def __iter__(self) -> Iterator[Suspect]:
        return iter(self.suspects())


def review(treebank: Treebank, model: Model) -> Review:
    """Compare the annotation of a treebank with the trees and probabilities that `model` predicts.

    Raise a `TreeError` if a sentence has no tree, and a `ConfigError` if the model has no probabilities of arcs.
    """
    demand_type("what to review", treebank, Treebank)
    judged = model.judge(treebank)
    return Review(treebank, judged.predicted, judged.heads, judged.relations)
