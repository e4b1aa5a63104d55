"""What a teacher says of sentences, for a model that learns its probabilities beside what a treebank says."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from ropewalk.errors import TrainingError
from ropewalk.files import make_folder
from ropewalk.models.tags import column_of
from ropewalk.training.folder import read_tensors, write_tensors
from ropewalk.training.network import TeacherProbabilities
from ropewalk.training.trainable import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from ropewalk.models.labels import LabelSet
    from ropewalk.models.model import Model
    from ropewalk.training.config import TeacherOptions
    from ropewalk.treebank import Treebank

Half = npt.NDArray[np.float16]
SENTENCES = 1000  # that are asked about, and kept, together
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
    tags: tuple[Half | None, ...]  # None where only the treebank is learnt from
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
        tags = tuple(None if rows is None else tensor(rows) for rows in self.tags)
        return TeacherProbabilities(self.weight, tuple(map(tensor, self.columns)), tensor(self.relations), tags, arcs)


def lessons(
    options: TeacherOptions, labels: LabelSet, bank: Treebank, heads: npt.NDArray[np.int64], *, arcs: bool
) -> Lessons:
    """Ask a teacher about sentences, its relations under the heads that are to be learnt.

    What it says is kept in the cache, if one is named: some sentences at a time, so that an interrupted run goes on.
    """
    teacher = load(Path(options.model))
    asked = _Asked.of(teacher, labels, options.treebank_tags, arcs=arcs)
    cache = make_folder(options.cache) if options.cache else None
    found = []
    for first in range(0, len(bank), SENTENCES):
        part = bank.select(np.arange(first, min(first + SENTENCES, len(bank))))
        above = heads[bank.offsets[first] : bank.offsets[first + len(part)]]
        found.append(_kept(cache, teacher, asked, part, above) if cache else _answers(teacher, asked, part, above))
    together = {name: np.concatenate([one[name] for one in found]) for name in (found[0] if found else ())}
    widths = np.repeat(bank.lengths.astype(np.int64) + 1, bank.lengths)
    return Lessons(
        options.weight,
        tuple(together[f"labels.{number}"] for number in range(len(asked.columns))),
        together["relations"],
        tuple(together.get(f"tags.{name}") for name, _ in labels.tags),
        together.get("arcs", NONE),
        np.concatenate([[0], np.cumsum(widths)[:-1]]) if len(widths) else np.zeros(0, np.int64),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a teacher is asked for: its numbers of all names that the model knows, in the model's order."""

    columns: list[list[int]]
    relations: list[int]
    tags: dict[str, tuple[int, list[int]]]  # of each tag set, its place among the teacher's, and numbers
    arcs: bool

    @classmethod
    def of(cls, teacher: Model, labels: LabelSet, without: Sequence[str], *, arcs: bool) -> _Asked:
        """Compare what both know; whatever the teacher lacks is an error."""
        columns = [
            _order(mine, theirs, "label") for mine, theirs in zip(labels.columns[0], _of(teacher, labels), strict=True)
        ]
        relations = _order(labels.relations, teacher.labels.relations, "relation")
        known = dict(teacher.labels.tags)
        wanted = [(name, texts) for name, texts in labels.tags if column_of(name) not in without]
        for name, _ in wanted:
            if name not in known:
                raise TrainingError(
                    f"the teacher does not know {name}; train it with model.tags, or leave that to the treebank by "
                    "teacher.treebank_tags"
                )
        places = list(known)
        tags = {name: (places.index(name), _order(texts, known[name], name)) for name, texts in wanted}
        if arcs and not teacher.description.heads.arcs:
            raise TrainingError(
                "the teacher scores no arcs; train it with model.arc_weight=1, or leave model.arc_weight at 0"
            )
        return cls(columns, relations, tags, arcs)


def _kept(cache: Path, teacher: Model, asked: _Asked, bank: Treebank, heads: npt.NDArray[np.int64]) -> dict[str, Half]:
    """Take answers from the cache, or ask and keep them; whatever they depend on is in the name of their file."""
    key = hashlib.sha256(repr((teacher.hash, asked, bank.offsets.tolist(), heads.tolist())).encode())
    key.update("\t".join(bank.column("form").texts()).encode())
    file = cache / f"{key.hexdigest()[:32]}.safetensors"
    if file.is_file():
        return {name: tensor.numpy() for name, tensor in read_tensors(file).items()}
    found = _answers(teacher, asked, bank, heads)
    write_tensors(file, {name: torch.from_numpy(rows) for name, rows in found.items()})
    return found


def _answers(teacher: Model, asked: _Asked, bank: Treebank, heads: npt.NDArray[np.int64]) -> dict[str, Half]:
    """Ask a teacher about sentences; everything has a name, and a row for each word but for arcs."""
    found: list[dict[str, Half]] = []
    for part, scores in teacher.scores(bank):
        tags = scores.tags()
        found.append(
            {f"labels.{at}": _half(one[:, asked.columns[at]]) for at, one in enumerate(scores.labels())}
            | {"relations": _half(scores.relations(heads[part.words].astype(np.int32))[:, asked.relations])}
            | {f"tags.{name}": _half(tags[place][:, order]) for name, (place, order) in asked.tags.items()}
            | ({"arcs": np.concatenate([_half(one).reshape(-1) for one in scores.arcs()])} if asked.arcs else {})
        )
    return {name: np.concatenate([one[name] for one in found]) for name in found[0]}


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
