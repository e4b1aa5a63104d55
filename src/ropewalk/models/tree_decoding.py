"""From scores to trees: by labels, by labels and arcs together, or by arcs alone."""

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
from ropewalk.decoding import ARC_DECODERS, assign_relations, decode, decode_arcs, machine_of, stacks_of
from ropewalk.decoding.expected import compact_labels
from ropewalk.errors import ConfigError
from ropewalk.models import calibration

if TYPE_CHECKING:
    from ropewalk.core.arrays import Ints
    from ropewalk.decoding import Best
    from ropewalk.models.description import DecodingOptions, Description
    from ropewalk.models.labels import LabelSet
    from ropewalk.models.scorer import Floats, Numbers, TreeScores
    from ropewalk.treebank.treebank import Treebank

Shares = npt.NDArray[np.float64]
SCALES = (1.0, 0.7, 1.4, 0.5, 2.0, 2.8, 4.0)  # that are tried for the scores of arcs, those nearest to none first,
TEMPERATURES = (2.0, 1.4, 2.8, 1.0)  # and before that for those of labels and arcs together, by the decoder mbr


@dataclass(frozen=True, slots=True, eq=False)
class ParsedTrees:
    """Trees of some sentences, and if asked for the probabilities of their arcs and of each tree."""

    heads: Ints
    relations: Column
    probabilities: tuple[Shares, Shares] | None = None


class TreeDecoder(Protocol):
    """How a model's scores become trees."""

    has_probabilities: bool
    needs_upos: bool
    needs_arcs: bool

    def decode(self, scores: TreeScores, offsets: Ints, upos: Column | None) -> ParsedTrees:
        """Find the best trees."""

    def calibrated(self, gold: Treebank, scores: TreeScores) -> DecodingOptions:
        """Find options by which most is right, and probabilities as often as they say, given scores of known trees."""


def tree_decoder(description: Description, labels: LabelSet) -> TreeDecoder:
    """Make the decoder that a model's heads ask for."""
    return LabelDecoder(description, labels) if description.heads.labels else ArcDecoder(description, labels)


@final
class ArcDecoder:
    """The best tree by the scores of arcs: the maximum spanning tree, or the one with the highest expected accuracy."""

    needs_upos = False
    needs_arcs = True

    def __init__(self, description: Description, labels: LabelSet) -> None:
        self._options = description.decoding
        self._relations = labels.relations
        decoder = self._options.decoder
        if decoder not in ARC_DECODERS:
            raise ConfigError(
                "decoding",
                "decoder",
                f"is {decoder!r}, which needs labels, and a biaffine model has none; "
                f"use one of: {', '.join(ARC_DECODERS)}",
            )
        self.has_probabilities = decoder != "exact"

    def decode(self, scores: TreeScores, offsets: Ints, upos: Column | None) -> ParsedTrees:  # noqa: ARG002 - a protocol's
        """Find the best trees."""
        options = self._options
        arcs = _one_row(scores.arcs())
        best = self._best(scores, arcs, offsets, options)
        relations = _best_relations(
            scores.relations(best.heads), self._relations, best.heads, tied=options.root_relation
        )
        probabilities = None
        if options.confidence and self.has_probabilities:
            probabilities = calibration.confidences(None, arcs, offsets, best, options.calibration)
        return ParsedTrees(best.heads, relations, probabilities)

    def calibrated(self, gold: Treebank, scores: TreeScores) -> DecodingOptions:
        """Fit the temperature and the weights of probabilities to gold trees; `exact` has neither."""
        if not self.has_probabilities:
            return self._options
        arcs = _one_row(scores.arcs())

        def accuracy(options: DecodingOptions) -> float:
            heads = self._best(scores, arcs, gold.offsets.array, options).heads
            found = _best_relations(scores.relations(heads), self._relations, heads, tied=options.root_relation)
            return _las(gold, heads, found)

        options = max((replace(self._options, temperature=heat) for heat in TEMPERATURES), key=accuracy)
        best = self._best(scores, arcs, gold.offsets.array, options)
        return replace(options, calibration=calibration.calibrate(None, arcs, gold.offsets.array, best, gold.heads))

    def _best(self, scores: TreeScores, arcs: Floats, offsets: Ints, options: DecodingOptions) -> Best:
        cooled = arcs / np.float32(options.temperature) if self.has_probabilities else arcs
        likely = partial(_relation_probabilities, scores, self._relations, tied=options.root_relation)
        best = decode_arcs(cooled, offsets, decoder=options.decoder, relations=likely)
        return replace(best, heads=frozen_ints(best.heads))


@final
class LabelDecoder:
    """The best tree that labels allow, or that labels and arcs allow together."""

    def __init__(self, description: Description, labels: LabelSet) -> None:
        self._labels = labels
        self._encoding = encodings.get(labels.encodings[0])
        self.needs_upos = self._encoding.needs_upos
        self._options = description.decoding
        self._relations_need_heads = description.heads.relations_need_heads
        if self._options.decoder not in decoding.DECODERS:
            raise ConfigError(
                "decoding",
                "decoder",
                f"is {self._options.decoder!r}, which is for biaffine models, and this one has labels; "
                f"use one of: {', '.join(decoding.DECODERS)}",
            )
        self._sums = self._options.decoder == "mbr"
        self.needs_arcs = self._sums or self._options.decoder == "joint"
        alphabet = labels.columns[0][0]
        machine = machine_of(self._encoding, alphabet)
        tracks = machine is not None and machine.marks_arcs
        if self._sums:
            tracks = compact_labels(self._encoding, alphabet) is not None
        elif self.needs_arcs:
            tracks = tracks or stacks_of(self._encoding, alphabet) is not None
        if self.needs_arcs:
            self._demand_arcs(has_arcs=description.heads.arcs, tracks=tracks)
        self.has_probabilities = tracks and self._options.decoder != "greedy"

    def _demand_arcs(self, *, has_arcs: bool, tracks: bool) -> None:
        decoder = self._options.decoder
        if not has_arcs:
            raise ConfigError(
                "decoding",
                "decoder",
                f"is {decoder!r}, which needs the scores of arcs, and this model has none; "
                "train it with model.arc_weight=1, or use the decoder exact",
            )
        if not tracks:
            raise ConfigError(
                "decoding",
                "decoder",
                f"is {decoder!r}, which the encoding {self._encoding.spec} does not have; use the decoder exact",
            )

    def decode(self, scores: TreeScores, offsets: Ints, upos: Column | None) -> ParsedTrees:
        """Find the best trees."""
        options = self._options
        labels = scores.labels()
        alone = None if self._relations_need_heads else scores.relations()
        root = None if alone is None else self._root(alone)
        arcs = self._arcs(scores, offsets)
        best = self._best(scores, labels, offsets, root, upos, arcs)
        relations = self._relations(best, scores)
        probabilities = None
        if options.confidence and self.needs_arcs and arcs is None:
            unknown = np.full(len(best.heads), np.nan)  # weights were found for labels and arcs together
            probabilities = unknown, unknown[: len(offsets) - 1]
        elif options.confidence and arcs is not None:
            probabilities = calibration.confidences(labels[0], arcs, offsets, best, options.calibration)
        elif options.confidence and self.has_probabilities:
            given = decoding.scored(
                self._encoding,
                labels[0],
                self._labels.columns[0][0],
                offsets=offsets,
                root=root,
                temperature=options.temperature,
            )
            probabilities = decoding.confidences(given, best.ids[0], best.heads, depth=options.depth)
        lowered = self._encoding.lower(Trees.known(best.heads, Offsets(offsets), relations))
        return ParsedTrees(lowered.heads, lowered.relations, probabilities)

    def calibrated(self, gold: Treebank, scores: TreeScores) -> DecodingOptions:
        """Fit the temperature, the scale of arcs and the weights of probabilities, whichever count, to known trees."""
        labels = scores.labels()
        root = None if self._relations_need_heads else self._root(scores.relations())
        arcs = self._arcs(scores, gold.offsets.array)
        wanted = gold.lifted(self._encoding.lift).heads
        if arcs is not None:

            def attached(options: DecodingOptions) -> float:
                best = self._best(scores, labels, gold.offsets.array, root, None, arcs, options)
                return self._attached(gold, best, scores)

            options = self._options
            if self._sums:
                options = max((replace(options, temperature=heat) for heat in TEMPERATURES), key=attached)
            options = max((replace(options, arc_scale=scale) for scale in SCALES), key=attached)
            best = self._best(scores, labels, gold.offsets.array, root, None, arcs, options)
            weights = calibration.calibrate(labels[0], arcs, gold.offsets.array, best, wanted)
            return replace(options, calibration=weights)
        best = self._best(scores, labels, gold.offsets.array, root, None, None)
        given = decoding.scored(
            self._encoding, labels[0], self._labels.columns[0][0], offsets=gold.offsets.array, root=root
        )
        temperature = decoding.fit_temperature(given, best, wanted, depth=self._options.depth)
        return replace(self._options, temperature=round(temperature, 4))

    def _attached(self, gold: Treebank, best: Best, scores: TreeScores) -> float:
        """Return the LAS of trees."""
        lowered = self._encoding.lower(Trees.known(best.heads, gold.offsets, self._relations(best, scores)))
        return _las(gold, lowered.heads, lowered.relations)

    def _relations(self, best: Best, scores: TreeScores) -> Column:
        """Choose the best relation of every word under its head."""
        found = scores.relations(best.heads)
        return _best_relations(found, self._labels.relations, best.heads, tied=self._options.root_relation)

    def _best(  # noqa: PLR0913, PLR0917 - what is scored
        self,
        scores: TreeScores,
        labels: list[Floats],
        offsets: Ints,
        root: Floats | None,
        upos: Column | None,
        arcs: Floats | None,
        options: DecodingOptions | None = None,
    ) -> Best:
        options = options or self._options
        cooled = np.float32(1.0 / options.temperature if self._sums and arcs is not None else 1.0)
        scale = np.float32(options.arc_scale) * cooled
        return decode(
            self._encoding,
            tuple(labels) if cooled == 1.0 else tuple(cooled * table for table in labels),
            offsets,
            self._labels.columns[0],
            decoder="exact" if self.needs_arcs and arcs is None else options.decoder,
            root=root,
            upos=upos if self.needs_upos else None,
            depth=options.depth,
            repair_policy=options.repair,
            arcs=arcs if arcs is None or scale == 1.0 else scale * arcs,
            relations=partial(_relation_probabilities, scores, self._labels.relations, tied=options.root_relation),
        )

    def _arcs(self, scores: TreeScores, offsets: Ints) -> Floats | None:
        """Give the log-probabilities of all arcs in one row, if the decoder wants them and they are not too many."""
        if not self.needs_arcs or (offsets[1:] - offsets[:-1]).max(initial=0) > self._options.longest_with_arcs:
            return None
        return _one_row(scores.arcs())

    def _root(self, relations: Floats) -> Floats:
        """Give each word's log-probability of being a root, from those of its relations."""
        summed: Floats = np.logaddexp.reduce(relations[:, self._labels.roots()], axis=1)
        return summed


def _one_row(tables: list[Floats]) -> Floats:
    """Return the arc scores of all sentences as one flat array."""
    return np.concatenate([table.ravel() for table in tables])


def _las(gold: Treebank, heads: Ints, relations: Column) -> float:
    """Return the LAS of trees."""
    from ropewalk.scoring.attachment import score  # which parsing does not need

    return score(gold, gold.with_trees(heads, relations)).las


def _relation_probabilities(
    scores: TreeScores, names: tuple[str, ...], words: Numbers, heads: Ints, *, tied: bool
) -> Floats:
    """Return the probability of the best relation of each arc from `heads` to `words`."""
    logs = scores.relations(heads, words)
    best = _relation_numbers(logs, names, heads, tied=tied)
    shares: Floats = np.exp(logs[np.arange(len(best)), best])
    return shares


def _best_relations(scores: Floats, names: tuple[str, ...], heads: Ints, *, tied: bool) -> Column:
    """Choose the best relation of every word."""
    return Column(frozen_ints(_relation_numbers(scores, names, heads, tied=tied)), names)


def _relation_numbers(scores: Floats, names: tuple[str, ...], heads: Ints, *, tied: bool) -> Ints:
    """Choose the best relation of every arc; if tied, such that it is that of a root if and only if the head is 0."""
    return assign_relations(scores, names, heads) if tied else scores.argmax(axis=1).astype(np.int32)
