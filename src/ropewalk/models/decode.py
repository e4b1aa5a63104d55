"""From scores to trees: the one place where the tagger meets encodings and decoders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk import encodings
from ropewalk.decoding import (
    assign_relations,
    confidences,
    decode,
    fit_temperature,
    joint_encodings,
    machine_of,
    scored,
)
from ropewalk.errors import OptionError, UnknownNameError
from ropewalk.treebank import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.decoding import Arcs, Best
    from ropewalk.models.config import Config, Decoding
    from ropewalk.models.labels import LabelSet
    from ropewalk.treebank import Treebank
    from ropewalk.trees import Ints

Scores = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]


def best_of(  # noqa: PLR0913 - all that a decoder may use
    labels: LabelSet,
    scores: Sequence[Scores],
    offsets: Ints,
    options: Decoding,
    *,
    root: Scores | None,
    upos: Column | None,
    arcs: Arcs | None = None,
) -> Best:
    """Find the best trees under the scores of each label column: [words, labels] log-probabilities."""
    encoding = encodings.get(labels.encodings[0])
    return decode(
        encoding,
        tuple(scores),
        offsets,
        labels.columns[0],
        decoder=options.decoder,
        root=root,
        upos=upos if encoding.needs_upos else None,
        depth=options.depth,
        repair_policy=options.repair,
        arcs=arcs,
    )


def demand_decoder(config: Config, labels: LabelSet) -> None:
    """Refuse a decoder for which a model has not all that it needs."""
    if config.decoding.decoder != "joint" or config.model.parser == "biaffine":
        return
    if not config.model.arc_weight:
        raise OptionError(
            "the joint decoder needs the scores of arcs, which this model does not have; "
            "train it with model.arc_weight=1, or use the decoder exact"
        )
    if not sure(labels):
        raise UnknownNameError("encoding with a joint decoder", labels.encodings[0], joint_encodings())


def sure(labels: LabelSet) -> bool:
    """Tell whether the trees of an encoding have probabilities."""
    machine = machine_of(encodings.get(labels.encodings[0]), labels.columns[0][0]) if labels.columns else None
    return machine is not None and machine.spells_trees and machine.marks_arcs


def confidences_of(  # noqa: PLR0913 - what was scored, and what was found
    labels: LabelSet, scores: Scores, offsets: Ints, options: Decoding, best: Best, *, root: Scores | None
) -> tuple[Floats, Floats]:
    """Give the probability of every arc and of every tree that was found, at the model's own temperature."""
    encoding = encodings.get(labels.encodings[0])
    alphabet = labels.columns[0][0]
    given = scored(encoding, scores, alphabet, offsets=offsets, root=root, temperature=options.temperature)
    return confidences(given, best.ids[0], best.heads, depth=options.depth)


def lifted(labels: LabelSet, gold: Treebank) -> Ints:
    """Give the heads that the right labels of a treebank spell."""
    return encodings.get(labels.encodings[0]).lift(gold).heads


def temperature_of(  # noqa: PLR0913, PLR0917 - what was scored, what was found, and what is right
    labels: LabelSet, scores: Scores, best: Best, wanted: Ints, offsets: Ints, options: Decoding, root: Scores | None
) -> float:
    """Find the temperature at which arcs are as often right as their probabilities say."""
    encoding = encodings.get(labels.encodings[0])
    given = scored(encoding, scores, labels.columns[0][0], offsets=offsets, root=root)
    return round(fit_temperature(given, best, wanted, depth=options.depth), 4)


def relations_of(labels: LabelSet, scores: Scores, heads: Ints) -> Column:
    """Choose the best relation of every word such that it is that of a root if and only if the head is 0."""
    return Column(assign_relations(scores, labels.relations, heads), labels.relations)


def lowered(labels: LabelSet, heads: Ints, relations: Column, offsets: Ints) -> tuple[Ints, Column]:
    """Undo what the encoding did to trees before they were written."""
    return encodings.get(labels.encodings[0]).lower(heads, relations, offsets)


def tags_of(scores: npt.NDArray[Any], names: tuple[str, ...]) -> Column:
    """Choose the best tag of every word."""
    return Column(scores.argmax(axis=1).astype(np.int32), names)
