"""Decoding of trees from a model's scores: of labels, of labels and arcs together, or of arcs alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, final

import numpy as np
import numpy.typing as npt

from ropewalk import decoding, encodings
from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import Trees
from ropewalk.decoding import LabelTables, Problem, assign_relations, decode
from ropewalk.decoding.mbr import Mbr
from ropewalk.decoding.problem import arc_rows
from ropewalk.errors import ConfigError
from ropewalk.models import calibration

if TYPE_CHECKING:
    from ropewalk.core.arrays import Ints
    from ropewalk.decoding import Best, Scored
    from ropewalk.models.description import DecodingOptions, Description
    from ropewalk.models.label_sets import LabelSet
    from ropewalk.models.scorer import Floats, Numbers, TreeScores
    from ropewalk.treebank.treebank import Treebank

Float64s = npt.NDArray[np.float64]
SCALES = (1.0, 0.7, 1.4, 0.5, 2.0, 2.8, 4.0)  # candidates for the scale of arc scores, nearest to 1 first
TEMPERATURES = (2.0, 1.4, 2.8, 1.0)  # candidates for the temperature of decoders that sum over trees


@dataclass(frozen=True, slots=True, eq=False)
class ParsedTrees:
    """Heads and relations of the words of some sentences.

    `probabilities` has two arrays, with the probability of each arc and of each sentence's tree. It is None if they
    were not computed.
    """

    heads: Ints
    relations: Column
    probabilities: tuple[Float64s, Float64s] | None = None


class TreeDecoder(Protocol):
    """Protocol for decoders, which turn a model's scores into trees.

    `needs_upos` and `needs_arcs` are true if decoding needs UPOS tags or arc scores.
    """

    has_probabilities: bool
    needs_upos: bool
    needs_arcs: bool

    def decode(self, scores: TreeScores, offsets: Ints, upos: Column | None) -> ParsedTrees:
        """Return the best trees of sentences with these `scores`; `offsets` are those of the sentences in the words."""

    def calibrated(self, gold: Treebank, scores: TreeScores) -> DecodingOptions:
        """Return the options of decoding, fitted to the trees of `gold`; `scores` are those of its words.

        Temperature and scale are fitted for accuracy, the weights of probabilities for calibration.
        """

    def head_probabilities(self, scores: TreeScores, trees: Trees) -> Float64s:
        """Return the probability of each head in `trees`, which may be any trees; NaN where it is unknown.

        Call it only if `has_probabilities` is true.
        """


def tree_decoder(description: Description, labels: LabelSet) -> TreeDecoder:
    """Build the decoder of a model's trees: a `LabelDecoder` if the model scores labels, otherwise an `ArcDecoder`."""
    return LabelDecoder(description, labels) if description.heads.labels else ArcDecoder(description, labels)


@final
class ArcDecoder:
    """Decoder of arc scores: the maximum spanning tree, or the tree with the highest expected accuracy.

    Raise `ConfigError` if the decoder that the model's description names needs labels.
    """

    needs_upos = False
    needs_arcs = True

    def __init__(self, description: Description, labels: LabelSet) -> None:
        self._options = description.decoding
        self._relations = labels.relations
        decoder = decoding.get(self._options.decoder)
        if not decoder.trees_by_arcs:
            others = ", ".join(decoding.arc_decoders())
            raise _refusal(self._options.decoder, f"needs labels, and a biaffine model has none; use one of: {others}")
        self.has_probabilities = decoder.has_probabilities(None, ())

    def decode(self, scores: TreeScores, offsets: Ints, upos: Column | None) -> ParsedTrees:  # noqa: ARG002 - a protocol's
        """Return the best trees of sentences with these arc scores; `upos` is not used."""
        options = self._options
        arcs = _one_row(scores.arcs())
        best = self._best(scores, arcs, offsets, options)
        relations = self._best_relations(scores, best, options)
        probabilities = None
        if options.confidence and self.has_probabilities:
            probabilities = calibration.confidences(None, arcs, offsets, best, options.calibration)
        return ParsedTrees(best.heads, relations, probabilities)

    def calibrated(self, gold: Treebank, scores: TreeScores) -> DecodingOptions:
        """Return the options of decoding with the temperature and the weights of probabilities fitted to gold trees.

        Return them unchanged if the decoder has no probabilities, as `exact`.
        """
        if not self.has_probabilities:
            return self._options
        arcs = _one_row(scores.arcs())

        def accuracy(options: DecodingOptions) -> float:
            best = self._best(scores, arcs, gold.offsets.array, options)
            return _las(gold, best.heads, self._best_relations(scores, best, options))

        options = max((replace(self._options, temperature=heat) for heat in TEMPERATURES), key=accuracy)
        best = self._best(scores, arcs, gold.offsets.array, options)
        return replace(options, calibration=calibration.calibrate(None, arcs, gold.offsets.array, best, gold.heads))

    def _best_relations(self, scores: TreeScores, best: Best, options: DecodingOptions) -> Column:
        return _best_relations(scores.relations(best.heads), self._relations, best.heads, tied=options.root_relation)

    def head_probabilities(self, scores: TreeScores, trees: Trees) -> Float64s:
        """Return the calibrated marginal probability of each head in `trees`, from sums over all spanning trees."""
        arcs = _one_row(scores.arcs()) / np.float32(self._options.temperature)
        return calibration.head_probabilities(arcs, trees, self._options.calibration)

    def _best(self, scores: TreeScores, arcs: Floats, offsets: Ints, options: DecodingOptions) -> Best:
        cooled = arcs / np.float32(options.temperature) if self.has_probabilities else arcs
        likely = partial(_relation_probabilities, scores, self._relations, tied=options.root_relation)
        best = decode(Problem(offsets, arcs=cooled, relations=likely), options.decoder)
        return replace(best, heads=frozen_ints(best.heads))


@final
class LabelDecoder:
    """Decoder of label scores, or of label and arc scores together.

    Raise `ConfigError` if the decoder that the model's description names needs scores that the model does not compute,
    or does not support its encoding.
    """

    def __init__(self, description: Description, labels: LabelSet) -> None:
        self._labels = labels
        self._encoding = encodings.get(labels.encodings[0])
        self.needs_upos = self._encoding.needs_upos
        self._options = description.decoding
        self._relations_need_heads = description.heads.relations_need_heads
        name, alphabet = self._options.decoder, labels.columns[0][0]
        decoder = decoding.get(name)
        if not decoder.by_labels:
            others = ", ".join(decoding.label_decoders())
            raise _refusal(name, f"is for biaffine models, and this one has labels; use one of: {others}")
        if decoder.needs_arcs and not description.heads.arcs:
            advice = "train it with model.arc_weight=1, or use the decoder exact"
            raise _refusal(name, f"needs the scores of arcs, and this model has none; {advice}")
        if not decoder.supports(self._encoding, alphabet):
            raise _refusal(name, f"the encoding {self._encoding.spec} does not have; use the decoder exact")
        self._sums = decoder.sums
        self.needs_arcs = decoder.needs_arcs
        self.has_probabilities = decoder.has_probabilities(self._encoding, alphabet)

    def decode(self, scores: TreeScores, offsets: Ints, upos: Column | None) -> ParsedTrees:
        """Return the best trees of sentences with these scores; pseudo-projective lifting is undone.

        `upos` is used only if `needs_upos` is true.
        """
        options = self._options
        labels = scores.labels()
        root = self._root(scores)
        arcs = self._arcs(scores, offsets)
        best = self._best(self._problem(scores, labels, offsets, root, upos, arcs))
        relations = self._relations(best, scores)
        probabilities = None
        if options.confidence and self.needs_arcs and arcs is None:
            unknown = np.full(len(best.heads), np.nan)  # the weights suit labels and arcs together only
            probabilities = unknown, unknown[: len(offsets) - 1]
        elif options.confidence and arcs is not None:
            probabilities = calibration.confidences(labels[0], arcs, offsets, best, options.calibration)
        elif options.confidence and self.has_probabilities:
            scored = self._scored(labels, offsets, root, options.temperature)
            probabilities = decoding.confidences(scored, best.ids[0], best.heads, depth=options.depth)
        lowered = self._encoding.lower(Trees.known(best.heads, Offsets(offsets), relations))
        return ParsedTrees(lowered.heads, lowered.relations, probabilities)

    def calibrated(self, gold: Treebank, scores: TreeScores) -> DecodingOptions:
        """Return the options of decoding, fitted to the trees of `gold`; `scores` are those of its words.

        With arc scores, the scale of arc scores and the weights of probabilities are fitted, and the temperature if the
        decoder sums over trees. Without them, only the temperature is fitted.
        """
        labels = scores.labels()
        root = self._root(scores)
        arcs = self._arcs(scores, gold.offsets.array)
        lifted = gold.lifted(self._encoding.lift).heads
        if arcs is not None:

            def attached(options: DecodingOptions) -> float:
                best = self._best(self._problem(scores, labels, gold.offsets.array, root, None, arcs, options), options)
                return self._attached(gold, best, scores)

            options = self._options
            if self._sums:
                options = max((replace(options, temperature=heat) for heat in TEMPERATURES), key=attached)
            options = max((replace(options, arc_scale=scale) for scale in SCALES), key=attached)
            best = self._best(self._problem(scores, labels, gold.offsets.array, root, None, arcs, options), options)
            weights = calibration.calibrate(labels[0], arcs, gold.offsets.array, best, lifted)
            return replace(options, calibration=weights)
        best = self._best(self._problem(scores, labels, gold.offsets.array, root, None, None))
        scored = self._scored(labels, gold.offsets.array, root)
        temperature = decoding.fit_temperature(scored, best, lifted, depth=self._options.depth)
        return replace(self._options, temperature=round(temperature, 4))

    def head_probabilities(self, scores: TreeScores, trees: Trees) -> Float64s:
        """Return the calibrated marginal probability of each head in `trees`.

        It is computed from labels and arcs over all projective trees if the decoder sums over them, over all spanning
        trees from arc scores if it needs only these, otherwise from label scores. Return NaN for all heads if a
        sentence is too long to score its arcs.
        """
        options, offsets = self._options, trees.offsets.array
        if not self.needs_arcs:
            scored = self._scored(scores.labels(), offsets, self._root(scores), options.temperature)
            return decoding.head_probabilities(scored, trees.heads, depth=options.depth)
        arcs = self._arcs(scores, offsets)
        if arcs is None:
            return np.full(len(trees.heads), np.nan)
        if not self._sums:
            return calibration.head_probabilities(arcs, trees, options.calibration)
        problem = self._problem(scores, scores.labels(), offsets, self._root(scores), None, arcs)
        marginals = Mbr(options.depth, options.repair).arc_marginals(problem)
        return calibration.of_marginals(marginals[arc_rows(offsets) + trees.heads], options.calibration)

    def _attached(self, gold: Treebank, best: Best, scores: TreeScores) -> float:
        """Return the labelled attachment score (LAS) of the trees in `best`, with pseudo-projective lifting undone."""
        lowered = self._encoding.lower(Trees.known(best.heads, gold.offsets, self._relations(best, scores)))
        return _las(gold, lowered.heads, lowered.relations)

    def _relations(self, best: Best, scores: TreeScores) -> Column:
        """Return the best relation of every word, given its head in `best`."""
        logs = scores.relations(best.heads)
        return _best_relations(logs, self._labels.relations, best.heads, tied=self._options.root_relation)

    def _scored(self, labels: list[Floats], offsets: Ints, root: Floats | None, temperature: float = 1.0) -> Scored:
        alphabet = self._labels.columns[0][0]
        return decoding.scored(self._encoding, labels[0], alphabet, offsets=offsets, root=root, temperature=temperature)

    def _best(self, problem: Problem, options: DecodingOptions | None = None) -> Best:
        options = options or self._options
        decoder = "exact" if self.needs_arcs and problem.arcs is None else options.decoder
        return decode(problem, decoder, depth=options.depth, repair=options.repair)

    def _problem(  # noqa: PLR0913, PLR0917 - the parts of a problem
        self,
        scores: TreeScores,
        labels: list[Floats],
        offsets: Ints,
        root: Floats | None,
        upos: Column | None,
        arcs: Floats | None,
        options: DecodingOptions | None = None,
    ) -> Problem:
        options = options or self._options
        cooled = np.float32(1.0 / options.temperature if self._sums and arcs is not None else 1.0)
        scale = np.float32(options.arc_scale) * cooled
        tables = LabelTables(
            self._encoding,
            self._labels.columns[0],
            tuple(labels) if cooled == 1.0 else tuple(cooled * table for table in labels),
            root,
            upos if self.needs_upos else None,
        )
        return Problem(
            offsets,
            tables,
            arcs if arcs is None or scale == 1.0 else scale * arcs,
            partial(_relation_probabilities, scores, self._labels.relations, tied=options.root_relation),
        )

    def _arcs(self, scores: TreeScores, offsets: Ints) -> Floats | None:
        """Return the scores of all arcs as one flat array.

        Return None if the decoder needs no arc scores, or if a sentence has more than `longest_with_arcs` words.
        """
        if not self.needs_arcs or (offsets[1:] - offsets[:-1]).max(initial=0) > self._options.longest_with_arcs:
            return None
        return _one_row(scores.arcs())

    def _root(self, scores: TreeScores) -> Floats | None:
        """Return each word's log-probability of being a root: the log-sum of the scores of its root relations.

        Return None if the scores of relations depend on heads.
        """
        if self._relations_need_heads:
            return None
        summed: Floats = np.logaddexp.reduce(scores.relations()[:, self._labels.roots()], axis=1)
        return summed


def _refusal(decoder: str, problem: str) -> ConfigError:
    return ConfigError("decoding", "decoder", f"is {decoder!r}, which {problem}")


def _one_row(tables: list[Floats]) -> Floats:
    """Return the arc scores of all sentences as one flat array."""
    return np.concatenate([table.ravel() for table in tables])


def _las(gold: Treebank, heads: Ints, relations: Column) -> float:
    """Return the labelled attachment score (LAS) of predicted heads and relations of the words of `gold`."""
    from ropewalk.scoring.attachment import score  # parsing does not need it

    return score(gold, gold.with_trees(heads, relations)).las


def relation_probabilities(scores: TreeScores, names: tuple[str, ...], trees: Trees) -> Float64s:
    """Return the probability of each word's relation in `trees`, given its head there.

    `names` are the relations that the model scores; any other relation has probability 0.
    """
    logs = scores.relations(trees.heads)
    known = {name: number for number, name in enumerate(names)}
    numbers = np.array([*(known.get(name, -1) for name in trees.relations.names), -1])[trees.relations.ids]
    probabilities: Float64s = np.exp(logs[np.arange(len(numbers)), numbers].astype(np.float64))
    return np.where(numbers < 0, 0.0, probabilities)


def _relation_probabilities(
    scores: TreeScores, names: tuple[str, ...], words: Numbers, heads: Ints, *, tied: bool
) -> Floats:
    """Return the probability of the best relation of each arc, from `heads[i]` to `words[i]`.

    With `tied`, only arcs from the root have a root relation.
    """
    logs = scores.relations(heads, words)
    best = _relation_numbers(logs, names, heads, tied=tied)
    probabilities: Floats = np.exp(logs[np.arange(len(best)), best])
    return probabilities


def _best_relations(scores: Floats, names: tuple[str, ...], heads: Ints, *, tied: bool) -> Column:
    """Return the name of the best relation of every word; see `_relation_numbers`."""
    return Column(frozen_ints(_relation_numbers(scores, names, heads, tied=tied)), names)


def _relation_numbers(scores: Floats, names: tuple[str, ...], heads: Ints, *, tied: bool) -> Ints:
    """Return the index in `names` of every word's best relation.

    With `tied`, a word gets a root relation if and only if its head is 0, the root.
    """
    return assign_relations(scores, names, heads) if tied else scores.argmax(axis=1).astype(np.int32)
