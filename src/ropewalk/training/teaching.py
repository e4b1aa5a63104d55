"""What a teacher says of sentences, for a model that learns its probabilities beside what a treebank says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from ropewalk.errors import TrainingError
from ropewalk.training.network import TeacherProbabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from ropewalk.models.labels import LabelSet
    from ropewalk.models.model import Model
    from ropewalk.treebank import Treebank

Half = npt.NDArray[np.float16]
NONE: Half = np.zeros(0, dtype=np.float16)


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """A teacher's probabilities for the words of many sentences, a row for each.

    `arcs` has the rows of all words one after the other, that of a word of a sentence of n words n + 1 long and
    beginning at `starts`; it is empty if no arcs are learnt.
    """

    weight: float  # share of the loss that is the teacher's
    columns: tuple[Half, ...]
    relations: Half
    tags: tuple[Half, ...]
    arcs: Half
    starts: npt.NDArray[np.int64]

    def batch(self, places: npt.NDArray[Any], lengths: Sequence[int]) -> TeacherProbabilities:
        """Take the rows of some words, of sentences of these lengths."""

        def tensor(rows: Half) -> Tensor:
            return torch.from_numpy(rows[places].astype(np.float32))

        arcs = None
        if len(self.arcs):
            arcs = torch.zeros(len(places), max(lengths) + 1)
            row = 0
            for length in lengths:
                first = int(self.starts[places[row]])
                part = self.arcs[first : first + length * (length + 1)].reshape(length, length + 1)
                arcs[row : row + length, : length + 1] = torch.from_numpy(part.astype(np.float32))
                row += length
        columns, tags = tuple(map(tensor, self.columns)), tuple(map(tensor, self.tags))
        return TeacherProbabilities(self.weight, columns, tensor(self.relations), tags, arcs)


def lessons(  # noqa: PLR0913 - who is asked, and about what
    teacher: Model, labels: LabelSet, bank: Treebank, heads: npt.NDArray[np.int64], *, arcs: bool, weight: float
) -> Lessons:
    """Ask a teacher about sentences, its relations under the heads that are to be learnt."""
    columns = [
        _order(mine, theirs, "label") for mine, theirs in zip(labels.columns[0], _of(teacher, labels), strict=True)
    ]
    relations = _order(labels.relations, teacher.labels.relations, "relation")
    known = dict(teacher.labels.tags)
    for name, _ in labels.tags:
        if name not in known:
            raise TrainingError(
                f"the teacher does not know {name}; train it with model.tags, or leave that to the treebank"
            )
    tags = [_order(texts, known[name], name) for name, texts in labels.tags]
    places = [list(known).index(name) for name, _ in labels.tags]
    if arcs and not teacher.description.heads.arcs:
        raise TrainingError(
            "the teacher scores no arcs; train it with model.arc_weight=1, or leave model.arc_weight at 0"
        )
    found: list[list[Any]] = []
    for part, scores in teacher.scores(bank):
        taught = scores.tags()
        found.append(
            [
                [_half(one[:, order]) for one, order in zip(scores.labels(), columns, strict=True)],
                _half(scores.relations(heads[part.words].astype(np.int32))[:, relations]),
                [_half(taught[place][:, order]) for place, order in zip(places, tags, strict=True)],
                np.concatenate([_half(one).reshape(-1) for one in scores.arcs()]) if arcs else NONE,
            ]
        )
    widths = np.repeat(bank.lengths.astype(np.int64) + 1, bank.lengths)
    return Lessons(
        weight,
        tuple(np.concatenate([one[0][number] for one in found]) for number in range(len(columns))),
        np.concatenate([one[1] for one in found]),
        tuple(np.concatenate([one[2][number] for one in found]) for number in range(len(tags))),
        np.concatenate([one[3] for one in found]),
        np.concatenate([[0], np.cumsum(widths)[:-1]]) if len(widths) else np.zeros(0, np.int64),
    )


def _of(teacher: Model, labels: LabelSet) -> tuple[tuple[str, ...], ...]:
    found = teacher.labels.encodings[:1]
    if not teacher.description.heads.labels or found != labels.encodings[:1]:
        raise TrainingError(
            f"the teacher parses with {found[0] if found else 'arcs'}, the model with {labels.encodings[0]}; "
            "a model learns from a teacher of its own encoding"
        )
    return teacher.labels.columns[0]


def _order(mine: Sequence[str], theirs: Sequence[str], what: str) -> list[int]:
    """Find the teacher's number of each name."""
    numbers = {name: number for number, name in enumerate(theirs)}
    unknown = [name for name in mine if name not in numbers]
    if unknown:
        raise TrainingError(
            f"the teacher does not know the {what} {unknown[0]!r} and {len(unknown) - 1} more; "
            "train it on the same treebank"
        )
    return [numbers[name] for name in mine]


def _half(logs: npt.NDArray[np.float32]) -> Half:
    """Make probabilities that add up to 1 of scores, in half precision."""
    out = np.exp(logs - logs.max(axis=-1, keepdims=True))
    half: Half = (out / out.sum(axis=-1, keepdims=True)).astype(np.float16)
    return half
