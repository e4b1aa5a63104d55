"""What a teacher says of sentences, for a model that learns its probabilities beside what a treebank says.

A teacher is one trained model or several, which say together what they say on average. Of sentences without trees it
also says which trees it takes for right.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.errors import TrainingError
from ropewalk.files import make_folder
from ropewalk.models.catalogue import locate
from ropewalk.models.description import TRAINED, training_record
from ropewalk.models.labels import MISSING
from ropewalk.models.onnx.model import load as load_exported
from ropewalk.models.storage import open_folder
from ropewalk.models.tags import column_of
from ropewalk.models.tree_decoding import tree_decoder
from ropewalk.training.examples import Examples, examples, forms_of
from ropewalk.training.network import TeacherProbabilities
from ropewalk.training.trainable import load as load_trained
from ropewalk.training.trained_files import read_tensors, write_tensors
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torch import Tensor

    from ropewalk.core.arrays import Ints
    from ropewalk.models.labels import LabelSet
    from ropewalk.models.model import Model
    from ropewalk.models.scorer import Floats, Numbers, Scores
    from ropewalk.training.config import TeacherOptions

Half = npt.NDArray[np.float16]
_Answer = npt.NDArray[Any]
SENTENCES = 1000  # that are asked about, and kept, together
OWN = "own."  # begins the names of answers that are a teacher's trees
LEAST = np.float32(1e-30)  # the least probability whose logarithm is taken
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
    options: TeacherOptions, labels: LabelSet, learnt: Examples, texts: Treebank, *, arcs: bool
) -> tuple[Examples, Lessons]:
    """Ask a teacher about what is learnt and about texts, which become examples too: by its own best trees.

    Its relations are those under the heads that are to be learnt. What it says is kept in the cache, if one is named:
    some sentences at a time, so that an interrupted run goes on.
    """
    teacher = _Teacher.load(options, labels, arcs=arcs)
    cache = make_folder(options.cache) if options.cache else None
    bank = Treebank.of_words(Column.of(form for forms in learnt.forms for form in forms), Offsets(learnt.offsets))
    found = []
    for sentences, known in ((bank, learnt.heads), (texts, None)):
        for first in range(0, len(sentences), SENTENCES):
            part = sentences.select(np.arange(first, min(first + SENTENCES, len(sentences))))
            heads = None if known is None else known[slice(*sentences.offsets.array[[first, first + len(part)]])]
            found.append(_kept(cache, teacher, part, heads) if cache else teacher.answers(part, heads))
    together = _joined(found)
    tags = tuple(together.get(f"tags.{name}") for name, _ in labels.tags)
    if len(texts):
        learnt = learnt.followed_by(_examples(texts, together, tags))
    lengths = np.diff(learnt.offsets)
    widths = np.repeat(lengths + 1, lengths)
    return learnt, Lessons(
        options.weight,
        tuple(together[f"labels.{number}"] for number in range(len(labels.columns[0]))),
        together["relations"],
        tags,
        together.get("arcs", NONE),
        np.concatenate([[0], np.cumsum(widths)[:-1]]) if len(widths) else np.zeros(0, np.int64),
    )


def _joined(answers: Sequence[dict[str, _Answer]]) -> dict[str, _Answer]:
    """Lay all answers of a name end to end, and forget them one by one: there may not be room for both."""
    names = dict.fromkeys(name for one in answers for name in one)
    return {name: np.concatenate([one.pop(name) for one in answers if name in one]) for name in names}


def _examples(texts: Treebank, together: dict[str, _Answer], tags: Sequence[Half | None]) -> Examples:
    """Take the teacher's trees for right, and its likeliest tags; columns that it is not asked for are not learnt."""
    columns = sum(name.startswith(f"{OWN}columns.") for name in together)
    return Examples(
        forms_of(texts),
        texts.offsets.array.astype(np.int64),
        tuple(together[f"{OWN}columns.{number}"] for number in range(columns)),
        together[f"{OWN}heads"],
        together[f"{OWN}relations"],
        tuple(
            np.full(texts.words, MISSING) if rows is None else rows[-texts.words :].argmax(axis=1).astype(np.int64)
            for rows in tags
        ),
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


def _kept(cache: Path, teacher: _Teacher, bank: Treebank, heads: Numbers | None) -> dict[str, _Answer]:
    """Take answers from the cache, or ask and keep them; whatever they depend on is in the name of their file."""
    key = hashlib.sha256(
        repr((teacher.identity, bank.offsets.array.tolist(), None if heads is None else heads.tolist())).encode()
    )
    key.update("\t".join(bank.column("form").texts()).encode())
    file = cache / f"{key.hexdigest()[:32]}.safetensors"
    if file.is_file():
        return {name: tensor.numpy() for name, tensor in read_tensors(file).items()}
    found = teacher.answers(bank, heads)
    write_tensors(file, {name: torch.from_numpy(rows) for name, rows in found.items()})
    return found


class _Teacher:
    """One or several trained models as one, which finds trees by the mean of their probabilities."""

    def __init__(self, models: Sequence[Model], asked: Sequence[_Asked], labels: LabelSet, precision: str) -> None:
        self._models = models
        self._precision = precision
        self._asked = asked
        self._labels = replace(labels, tags=())
        self._tags = dict(labels.tags)
        found = max((one.description for one in models), key=lambda one: one.heads.relations_need_heads)
        described = replace(found, decoding=replace(found.decoding, confidence=False))
        self._decoder = tree_decoder(described, labels)
        if self._decoder.needs_arcs and not all(one.description.heads.arcs for one in models):
            raise TrainingError(
                "a teacher parses by labels and arcs, another scores no arcs; train all with model.arc_weight=1"
            )
        names = (labels.encodings, labels.columns, labels.relations)
        self.identity = repr(([one.hash for one in models], precision, asked, described.decoding, names))

    @classmethod
    def load(cls, options: TeacherOptions, labels: LabelSet, *, arcs: bool) -> _Teacher:
        """Load the models, and compare what they know with what is to be learnt."""
        models = [_model(name) for name in options.model]
        asked = [_Asked.of(one, labels, options.treebank_tags, arcs=arcs) for one in models]
        return cls(models, asked, labels, options.precision)

    def answers(self, bank: Treebank, heads: Numbers | None) -> dict[str, _Answer]:
        """Say what is thought of sentences; everything has a name, and a row for each word but for arcs.

        Relations are those under these heads; without heads under those of the best trees, which are said too.
        """
        with torch.autocast("cpu", torch.bfloat16, enabled=self._precision == "bf16"):
            return self._answers(bank, heads)

    def _answers(self, bank: Treebank, heads: Numbers | None) -> dict[str, _Answer]:
        forms = bank.column("form")
        found = [one.scorer.scores(forms, bank.offsets.array, one.decoding.batch) for one in self._models]
        mean = _Mean(found, self._asked)
        own: dict[str, _Answer] = {}
        if heads is None:
            best = self._best(mean, bank)
            heads = best.heads
            own = {f"{OWN}heads": best.heads, f"{OWN}relations": best.relations}
            own |= {f"{OWN}columns.{number}": column for number, column in enumerate(best.columns)}
        return (
            {f"labels.{number}": _half(one) for number, one in enumerate(mean.label_shares())}
            | {"relations": _half(mean.relation_shares(heads.astype(np.int32)))}
            | {f"tags.{name}": _half(one) for name, one in mean.tag_shares().items()}
            | (
                {"arcs": np.concatenate([_half(one).ravel() for one in mean.arc_shares()])}
                if self._asked[0].arcs
                else {}
            )
            | own
        )

    def _best(self, mean: _Mean, bank: Treebank) -> Examples:
        """Find the best trees, and what is to be learnt of them."""
        words = Treebank.of_words(bank.column("form"), bank.offsets)
        if "upos" in self._asked[0].tags:
            ids = mean.tag_shares()["upos"].argmax(axis=1)
            words = words.with_columns({"upos": Column(frozen_ints(ids), self._tags["upos"])})
        trees = self._decoder.decode(mean, bank.offsets.array, words.upos)
        return examples(words.with_trees(trees.heads, trees.relations), self._labels, parse_by_labels=True)


class _Mean:
    """The mean of what several models say of sentences, with names in the order of the model that learns."""

    def __init__(self, scores: Sequence[Scores], asked: Sequence[_Asked]) -> None:
        self._pairs = list(zip(scores, asked, strict=True))

    def label_shares(self) -> list[Floats]:
        """Say how likely the labels of each column are."""
        found = [
            [_shares(*one) for one in zip(scores.labels(), asked.columns, strict=True)] for scores, asked in self._pairs
        ]
        return [_mean(one) for one in zip(*found, strict=True)]

    def arc_shares(self) -> list[Floats]:
        """Say how likely the heads of each sentence are."""
        return [
            _mean([_shares(one) for one in some])
            for some in zip(*(scores.arcs() for scores, _ in self._pairs), strict=True)
        ]

    def relation_shares(self, heads: Ints | None, words: Numbers | None = None) -> Floats:
        """Say how likely relations of all words, or of some, under these heads are."""
        return _mean([_shares(scores.relations(heads, words), asked.relations) for scores, asked in self._pairs])

    def tag_shares(self) -> dict[str, Floats]:
        """Say how likely the tags of each tag set are that is asked for."""
        found = [(scores.tags(), asked.tags) for scores, asked in self._pairs]
        return {
            name: _mean([_shares(tags[places[name][0]], places[name][1]) for tags, places in found])
            for name in found[0][1]
        }

    def labels(self) -> list[Floats]:
        """Score the labels of each column."""
        return [_logs(one) for one in self.label_shares()]

    def arcs(self) -> list[Floats]:
        """Score heads for each sentence."""
        return [_logs(one) for one in self.arc_shares()]

    def relations(self, heads: Ints | None = None, words: Numbers | None = None) -> Floats:
        """Score relations of all words, or of some, under these heads."""
        return _logs(self.relation_shares(heads, words))


def _model(name: str) -> Model:
    """Load a teacher as training wrote it, or as it was exported."""
    home = open_folder(locate(name))
    model = training_record(home.table).get("model")
    if isinstance(model, dict) and str(model.get("loss")).startswith("trees"):
        raise TrainingError(
            f"the teacher {name} was trained with model.loss={model['loss']}: what it says of a label or an arc "
            "alone is no probability; a model learns from a teacher that was trained with model.loss=words"
        )
    return load_trained(home) if home.format == TRAINED else load_exported(home)


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


def _shares(logs: Floats, order: Sequence[int] | None = None) -> Floats:
    """Make probabilities that add up to 1 of the scores of some names."""
    chosen = logs if order is None else logs[:, order]
    out = np.exp(chosen - chosen.max(axis=-1, keepdims=True))
    shares: Floats = out / out.sum(axis=-1, keepdims=True)
    return shares


def _mean(shares: Sequence[Floats]) -> Floats:
    mean: Floats = np.mean(shares, axis=0)
    return mean


def _logs(shares: Floats) -> Floats:
    logs: Floats = np.log(np.maximum(shares, LEAST))
    return logs


def _half(shares: Floats) -> Half:
    half: Half = shares.astype(np.float16)
    return half
