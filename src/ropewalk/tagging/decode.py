"""From scores to trees: the one place where the tagger meets encodings and decoders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk import encodings
from ropewalk.decoding import decode
from ropewalk.projectivity import UP
from ropewalk.treebank import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.tagging.config import Decoding
    from ropewalk.tagging.labels import LabelSet
    from ropewalk.trees import Ints

Scores = npt.NDArray[np.float32]


def heads_of(  # noqa: PLR0913 - all that a decoder may use
    labels: LabelSet,
    scores: Sequence[Scores],
    offsets: Ints,
    options: Decoding,
    *,
    root: Scores | None,
    upos: Column | None,
) -> Ints:
    """Give the heads of the best trees under the scores of each label column: [words, labels] log-probabilities."""
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
    ).heads


def relations_of(labels: LabelSet, scores: Scores, heads: Ints) -> Column:
    """Choose the best relation of every word such that it is that of a root if and only if the head is 0."""
    roots = labels.roots()
    plain = roots & np.array([UP not in name for name in labels.relations], dtype=np.bool_)
    at_root = np.where(plain, scores, -np.inf).argmax(axis=1)
    elsewhere = np.where(roots, -np.inf, scores).argmax(axis=1)
    return Column(np.where(heads == 0, at_root, elsewhere).astype(np.int32), labels.relations)


def lowered(labels: LabelSet, heads: Ints, relations: Column, offsets: Ints) -> tuple[Ints, Column]:
    """Undo what the encoding did to trees before they were written."""
    return encodings.get(labels.encodings[0]).lower(heads, relations, offsets)


def tags_of(scores: npt.NDArray[Any], names: tuple[str, ...]) -> Column:
    """Choose the best tag of every word."""
    return Column(scores.argmax(axis=1).astype(np.int32), names)
