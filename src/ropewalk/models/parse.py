"""From what a network says of words to a treebank, whatever computes the network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ropewalk.decoding.spanning import spanning_tree
from ropewalk.models import calibration, decode
from ropewalk.treebank import Column, Probabilities
from ropewalk.trees import frozen_ints

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ropewalk.decoding import Arcs
    from ropewalk.models.config import Config, Decoding
    from ropewalk.models.decode import Floats, Scores
    from ropewalk.models.labels import LabelSet
    from ropewalk.treebank import Treebank
    from ropewalk.trees import Ints


class Answers(Protocol):
    """What a network says of the words of some sentences: scores with a row for each word."""

    def tags(self) -> Sequence[Scores]:
        """Score the tags of each tag set."""

    def labels(self) -> Sequence[Scores]:
        """Give the log-probabilities of the labels of each column of the encoding that is parsed with."""

    def arcs(self) -> Iterable[Scores]:
        """Give the log-probabilities of heads for each sentence: [words, words + 1], place 0 is the root."""

    def relations(self, heads: Ints | None) -> Scores:
        """Score relations under these heads; without heads, as log-probabilities from the words alone."""


def parse(bank: Treebank, config: Config, labels: LabelSet, pieces: Iterable[tuple[int, Answers]]) -> Treebank:
    """Put trees, and tags if a model has any, over the words of a treebank.

    `pieces` are what the network says of its sentences in order, and how many of them each piece is about.
    """
    decode.demand_decoder(config, labels)
    found: list[_Found] = []
    first = 0
    for count, answers in pieces:
        words = slice(int(bank.offsets[first]), int(bank.offsets[first + count]))
        offsets = frozen_ints(bank.offsets[first : first + count + 1] - words.start)
        found.append(_found(answers, offsets, None if bank.upos is None else bank.upos[words], config, labels))
        first += count
    tags = {
        name: Column(frozen_ints(np.concatenate([one.tags[number] for one in found])), texts)
        for number, (name, texts) in enumerate(labels.tags)
    }
    tagged = bank.with_columns(tags) if tags else bank
    relations = found[0].relations if len(found) == 1 else Column.concat([one.relations for one in found])
    parsed = tagged.with_trees(np.concatenate([one.heads for one in found]), relations)
    if not config.decoding.confidence or config.model.parser == "biaffine":
        return parsed.with_probabilities(None)
    sure = [one.sure for one in found if one.sure is not None]
    arcs, trees = (np.concatenate(part) for part in zip(*sure, strict=True))
    return parsed.with_probabilities(Probabilities(arcs, trees))


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """The tags and trees of some sentences, and how sure arcs and trees are."""

    tags: list[Ints]
    heads: Ints
    relations: Column
    sure: tuple[Floats, Floats] | None = None


def _found(answers: Answers, offsets: Ints, upos: Column | None, config: Config, labels: LabelSet) -> _Found:
    tags = [decode.tags_of(scores, texts) for (_, texts), scores in zip(labels.tags, answers.tags(), strict=True)]
    numbers = [column.ids for column in tags]
    if config.model.parser == "biaffine":
        heads = frozen_ints(np.concatenate([spanning_tree(arcs) for arcs in answers.arcs()]))
        return _Found(numbers, heads, decode.relations_of(labels, answers.relations(heads), heads))
    upos = next((column for (name, _), column in zip(labels.tags, tags, strict=True) if name == "upos"), upos)
    scores = answers.labels()
    alone = answers.relations(None) if config.model.relations.from_ == "word" else None
    root = None if alone is None else root_scores(labels, alone)
    options = config.decoding
    arcs = arcs_for(options, answers)
    best = decode.best_of(labels, scores, offsets, options, root=root, upos=upos, arcs=arcs)
    relations = decode.relations_of(labels, answers.relations(best.heads) if alone is None else alone, best.heads)
    sure = None
    if options.confidence and arcs is not None:
        sure = calibration.confidences(scores[0], arcs, offsets, best, options.calibration)
    elif options.confidence:
        sure = decode.confidences_of(labels, scores[0], offsets, options, best, root=root)
    return _Found(numbers, *decode.lowered(labels, best.heads, relations, offsets), sure)


def calibrated(gold: Treebank, config: Config, labels: LabelSet, answers: Answers) -> Decoding:
    """Find on sentences of known trees how their probabilities must be taken to be right as often as they say."""
    options = config.decoding
    scores = answers.labels()
    root = root_scores(labels, answers.relations(None)) if config.model.relations.from_ == "word" else None
    arcs = arcs_for(options, answers)
    best = decode.best_of(labels, scores, gold.offsets, options, root=root, upos=None, arcs=arcs)
    wanted = decode.lifted(labels, gold)
    if arcs is not None:
        return replace(options, calibration=calibration.calibrate(scores[0], arcs, gold.offsets, best, wanted))
    return replace(
        options, temperature=decode.temperature_of(labels, scores[0], best, wanted, gold.offsets, options, root)
    )


def arcs_for(options: Decoding, answers: Answers) -> Arcs | None:
    """Give the log-probabilities of all arcs in one row, if the decoder wants them."""
    return np.concatenate([one.ravel() for one in answers.arcs()]) if options.decoder == "joint" else None


def root_scores(labels: LabelSet, relations: Scores) -> Scores:
    """Give each word's log-probability of being a root, from those of its relations."""
    summed: Scores = np.logaddexp.reduce(relations[:, labels.roots()], axis=1)
    return summed
