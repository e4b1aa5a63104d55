"""Teachers: trained models whose probabilities another model learns beside a treebank.

A teacher is one trained model, or the mean of several. It also annotates sentences without trees with its best trees.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from ropewalk import encodings
from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.decoding import tree_sums
from ropewalk.decoding.expected import LONGEST
from ropewalk.decoding.paths import words_of
from ropewalk.decoding.problem import arc_starts
from ropewalk.errors import TrainingError
from ropewalk.files import make_folder
from ropewalk.models.catalogue import locate
from ropewalk.models.description import TRAINED, training_record
from ropewalk.models.label_sets import MISSING
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
    from ropewalk.models.label_sets import LabelSet
    from ropewalk.models.model import Model
    from ropewalk.models.scorer import Floats, Numbers, Scorer, Scores
    from ropewalk.training.config import TeacherOptions

Half = npt.NDArray[np.float16]
_Answer = npt.NDArray[Any]
SENTENCES = 1000  # sentences that a teacher annotates, and a cache file stores, together
OWN = "own."  # prefix of the answers that are a teacher's trees
LEAST = np.float32(1e-30)  # probabilities are clipped to it before their logarithm
NONE: Half = np.zeros(0, dtype=np.float16)


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """A teacher's probabilities for the words of many sentences; all arrays but `arcs` have one row for each word.

    `arcs` is flat. A word in a sentence of n words has n + 1 probabilities of heads, which begin at index
    `starts[word]`. It is empty if no arcs are learnt.
    """

    weight: float  # fraction of the loss that is the teacher's
    columns: tuple[Half, ...]
    relations: Half
    tags: tuple[Half | None, ...]  # None for tag sets that are learnt from the treebank alone
    arcs: Half
    starts: npt.NDArray[np.int64]

    def batch(self, words: npt.NDArray[Any], lengths: Sequence[int]) -> TeacherProbabilities:
        """Return the probabilities for a batch of sentences.

        `words` are the indices of its words, `lengths` the numbers of words of its sentences.
        """

        def tensor(rows: Half) -> Tensor:
            return torch.from_numpy(rows[words].astype(np.float32))

        arcs = None
        if len(self.arcs):
            arcs = torch.zeros(len(words), max(lengths) + 1)
            row = 0
            for length in lengths:
                first = int(self.starts[words[row]])
                part = self.arcs[first : first + length * (length + 1)].reshape(length, length + 1)
                arcs[row : row + length, : length + 1] = torch.from_numpy(part.astype(np.float32))
                row += length
        tags = tuple(None if rows is None else tensor(rows) for rows in self.tags)
        return TeacherProbabilities(self.weight, tuple(map(tensor, self.columns)), tensor(self.relations), tags, arcs)


def lessons(  # noqa: PLR0913 - what is learnt, and what is to be said of it
    options: TeacherOptions,
    labels: LabelSet,
    learnt: Examples,
    texts: Treebank,
    *,
    arcs: bool,
    trees: bool = False,
    styles: Sequence[str] = (),
) -> tuple[Examples, Lessons]:
    """Return the examples, followed by `texts` with the teacher's best trees, and its probabilities for all words.

    The probabilities of relations are those under the heads of the examples. With `arcs`, the probabilities of arcs are
    included. With `trees`, or if the teacher learnt whole trees, they and those of labels are marginals over trees. If
    `options.cache` names a folder, the answers are stored there, `SENTENCES` sentences in a file, so that an
    interrupted run can be resumed. `styles` are the names of the examples' styles; a teacher that knows the style of a
    sentence reads it in this style. Raise `TrainingError` if the teacher does not know a label, relation or tag set.
    """
    teacher = _Teacher.load(options, labels, arcs=arcs)
    cache = make_folder(options.cache) if options.cache else None
    bank = Treebank.of_words(Column.of(form for forms in learnt.forms for form in forms), Offsets(learnt.offsets))
    answers = []
    for sentences, known in ((bank, learnt.heads), (texts, None)):
        numbers = np.zeros(len(sentences), dtype=np.int64) if known is None else learnt.styles
        for first, last in _spans(numbers):
            part = sentences.select(np.arange(first, last))
            style = styles[numbers[first]] if styles else ""
            heads = None if known is None else known[slice(*sentences.offsets.array[[first, first + len(part)]])]
            answer = _kept(cache, teacher, part, heads, style) if cache else teacher.answers(part, heads, style)
            answers.append(_over_trees(answer, labels, part.offsets) if trees and not teacher.learnt_trees else answer)
    together = _joined(answers)
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


def _spans(styles: Numbers) -> list[tuple[int, int]]:
    """Return spans of at most `SENTENCES` consecutive sentences of one style: the start and the stop of each."""
    changes = [0, *(np.flatnonzero(np.diff(styles)) + 1).tolist(), len(styles)]
    return [
        (first, min(first + SENTENCES, stop))
        for start, stop in pairwise(changes)
        for first in range(start, stop, SENTENCES)
    ]


def _joined(answers: Sequence[dict[str, _Answer]]) -> dict[str, _Answer]:
    """Concatenate the arrays of all answers by name. Remove each from `answers`, because memory may not hold both."""
    names = dict.fromkeys(name for answer in answers for name in answer)
    return {name: np.concatenate([answer.pop(name) for answer in answers if name in answer]) for name in names}


def _examples(texts: Treebank, together: dict[str, _Answer], tags: Sequence[Half | None]) -> Examples:
    """Return `texts` as examples with the teacher's trees and its most probable tags.

    `together` has the teacher's answers by name, `tags` its probabilities for each tag set. Tag sets without
    probabilities get no targets.
    """
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
        np.zeros(len(texts), dtype=np.int64),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """Indices of the student's labels, relations and tags in the teacher's alphabets, in the student's order."""

    columns: list[list[int]]
    relations: list[int]
    tags: dict[str, tuple[int, list[int]]]  # index of the teacher's tag set, and of its classes
    arcs: bool
    sums: _TreeSums | None  # None unless the teacher learnt whole trees

    @classmethod
    def of(cls, loaded: _Loaded, labels: LabelSet, without: Sequence[str], *, arcs: bool) -> _Asked:
        """Compare the student's `labels` with the teacher's; raise `TrainingError` if the teacher lacks one.

        `without` names tag columns that are learnt from the treebank alone.
        """
        teacher = loaded.model
        columns = [
            _order(mine, theirs, "label") for mine, theirs in zip(labels.columns[0], _of(teacher, labels), strict=True)
        ]
        relations = _order(labels.relations, teacher.labels.relations, "relation")
        known = dict(teacher.labels.tags)
        learnt = [(name, texts) for name, texts in labels.tags if column_of(name) not in without]
        for name, _ in learnt:
            if name not in known:
                raise TrainingError(
                    f"the teacher does not predict {name}; train the teacher with {name} in model.tags, or add {name} "
                    "to teacher.treebank_tags"
                )
        names = list(known)
        tags = {name: (names.index(name), _order(texts, known[name], name)) for name, texts in learnt}
        if arcs and not teacher.description.heads.arcs:
            raise TrainingError(
                "the teacher scores no arcs; train it with model.arc_weight=1, or leave model.arc_weight at 0"
            )
        decoding = teacher.decoding
        sums = _TreeSums(labels.encodings[0], labels.columns[0][0], decoding.temperature, decoding.arc_scale)
        return cls(columns, relations, tags, arcs, sums if loaded.trees else None)


def _over_trees(answer: dict[str, _Answer], labels: LabelSet, offsets: Offsets) -> dict[str, _Answer]:
    """Return the answers of a teacher that learnt word by word, with marginals over trees for labels and arcs.

    The probabilities of single words are no marginals of a distribution over trees, which a loss over trees needs: it
    would have no minimum. Labels and arcs say the same thing twice, so the logarithm of each counts half.
    """
    lengths = offsets.lengths.tolist()
    flat = _logs(answer["arcs"].astype(np.float32))
    ends = np.cumsum([length * (length + 1) for length in lengths])
    tables = [
        table.reshape(length, length + 1) for table, length in zip(np.split(flat, ends[:-1]), lengths, strict=True)
    ]
    sums = _TreeSums(labels.encodings[0], labels.columns[0][0], temperature=2.0, arc_scale=1.0)
    rows, arcs = sums.marginals(_logs(answer["labels.0"].astype(np.float32)), tables, offsets.array)
    together = np.concatenate([table.ravel() for table in arcs])
    return answer | {"labels.0": rows.astype(np.float16), "arcs": together.astype(np.float16)}


@dataclass(frozen=True, slots=True)
class _TreeSums:
    """Options for computing a teacher's marginals over all trees.

    Its temperature and the scale of its arc scores were fitted to its development data.
    """

    encoding: str
    alphabet: tuple[str, ...]
    temperature: float
    arc_scale: float

    def marginals(self, labels: Floats, arcs: Sequence[Floats], offsets: Ints) -> tuple[Floats, list[Floats]]:
        """Return the marginals of labels, [words, labels], and of arcs, a table [words, words + 1] for each sentence.

        In sentences of more than `LONGEST` words, they are each word's softmax probabilities instead.
        """
        cooled = np.float32(1.0 / self.temperature)
        labels = cooled * labels
        tables = [cooled * np.float32(self.arc_scale) * table for table in arcs]
        of_labels, of_arcs = _probabilities(labels), [_probabilities(table) for table in tables]
        short = np.flatnonzero(np.diff(offsets) <= LONGEST)
        words, inner = words_of(offsets, short)
        scores = np.concatenate([tables[number].ravel() for number in short.tolist()] or [labels[:0].ravel()])
        sums = tree_sums(encodings.get(self.encoding), labels[words], inner, self.alphabet, scores)
        of_labels[words] = sums.labels
        starts = arc_starts(inner)
        for place, number in enumerate(short.tolist()):
            flat = sums.arcs[starts[place] : starts[place + 1]].astype(np.float32)
            of_arcs[number] = flat.reshape(tables[number].shape)
        return of_labels, of_arcs


def _kept(cache: Path, teacher: _Teacher, bank: Treebank, heads: Numbers | None, style: str) -> dict[str, _Answer]:
    """Return the teacher's answers from the cache, or compute and store them.

    The name of a cache file is a hash of everything that the answers depend on.
    """
    key = hashlib.sha256(
        repr((teacher.identity, bank.offsets.array.tolist(), None if heads is None else heads.tolist())).encode()
    )
    key.update("\t".join(bank.column("form").texts()).encode())
    key.update(style.encode())
    file = cache / f"{key.hexdigest()[:32]}.safetensors"
    if file.is_file():
        return {name: tensor.numpy() for name, tensor in read_tensors(file).items()}
    answers = teacher.answers(bank, heads, style)
    write_tensors(file, {name: torch.from_numpy(rows) for name, rows in answers.items()})
    return answers


class _Teacher:
    """One or several trained models as one, which parses with the mean of their probabilities."""

    def __init__(self, models: Sequence[Model], numberings: Sequence[_Asked], labels: LabelSet, precision: str) -> None:
        self._models = models
        self._precision = precision
        self._numberings = numberings
        self._labels = replace(labels, tags=())
        self._tags = dict(labels.tags)
        first = max((model.description for model in models), key=lambda described: described.heads.relations_need_heads)
        described = replace(first, decoding=replace(first.decoding, confidence=False))
        self._decoder = tree_decoder(described, labels)
        if self._decoder.needs_arcs and not all(model.description.heads.arcs for model in models):
            raise TrainingError(
                "a teacher parses with labels and arcs, another scores no arcs; train all with model.arc_weight=1"
            )
        self.learnt_trees = numberings[0].sums is not None
        names = (labels.encodings, labels.columns, labels.relations)
        self.identity = repr(([model.hash for model in models], precision, numberings, described.decoding, names))

    @classmethod
    def load(cls, options: TeacherOptions, labels: LabelSet, *, arcs: bool) -> _Teacher:
        """Load the teacher's models; raise `TrainingError` if one lacks a label, relation or tag set of the student."""
        teachers = [_Loaded.of(name) for name in options.model]
        _demand_alike(teachers)
        numberings = [_Asked.of(teacher, labels, options.treebank_tags, arcs=arcs) for teacher in teachers]
        return cls([teacher.model for teacher in teachers], numberings, labels, options.precision)

    def answers(self, bank: Treebank, heads: Numbers | None, style: str = "") -> dict[str, _Answer]:
        """Return the teacher's probabilities by name, one row for each word; those of arcs are flat.

        Probabilities of relations are those under `heads`. If `heads` is None, they are those under the heads of the
        best trees, and these trees are returned too. Models that know the style named `style` read the sentences in it,
        others in their main one.
        """
        with torch.autocast("cpu", torch.bfloat16, enabled=self._precision == "bf16"):
            return self._answers(bank, heads, style)

    def _answers(self, bank: Treebank, heads: Numbers | None, style: str) -> dict[str, _Answer]:
        forms = bank.column("form")
        scorers = [_in_style(model, style) for model in self._models]
        scores = [
            scorer.scores(forms, bank.offsets, model.decoding.batch)
            for scorer, model in zip(scorers, self._models, strict=True)
        ]
        mean = _Mean(scores, self._numberings, bank.offsets.array)
        own: dict[str, _Answer] = {}
        if heads is None:
            best = self._best(mean, bank)
            heads = best.heads
            own = {f"{OWN}heads": best.heads, f"{OWN}relations": best.relations}
            own |= {f"{OWN}columns.{number}": column for number, column in enumerate(best.columns)}
        learnt = {f"labels.{number}": rows for number, rows in enumerate(mean.label_probabilities())}
        learnt["relations"] = mean.relation_probabilities(heads.astype(np.int32))
        learnt |= {f"tags.{name}": rows for name, rows in mean.tag_probabilities().items()}
        if self._numberings[0].arcs:
            learnt["arcs"] = np.concatenate([table.ravel() for table in mean.arc_probabilities()])
        return {name: rows.astype(np.float16) for name, rows in learnt.items()} | own

    def _best(self, mean: _Mean, bank: Treebank) -> Examples:
        """Decode the best trees from the mean scores, and return them as training examples."""
        words = Treebank.of_words(bank.column("form"), bank.offsets)
        if "upos" in self._numberings[0].tags:
            ids = mean.tag_probabilities()["upos"].argmax(axis=1)
            words = words.with_columns({"upos": Column(frozen_ints(ids), self._tags["upos"])})
        trees = self._decoder.decode(mean, bank.offsets.array, words.upos)
        return examples(words.with_trees(trees.heads, trees.relations), self._labels, parse_by_labels=True)


def _in_style(model: Model, style: str) -> Scorer:
    """Return the scorer of a model, set to the style named `style` if the model knows it."""
    known = model.description.encoder.styles
    return replace(model.scorer, style=known.index(style)) if style in known else model.scorer


class _Mean:
    """The mean probabilities of several models; labels, relations and tags are in the student's order."""

    def __init__(self, scores: Sequence[Scores], numberings: Sequence[_Asked], offsets: Ints) -> None:
        self._pairs = list(zip(scores, numberings, strict=True))
        self._sums = [
            numbering.sums.marginals(_ordered(own.trees.labels(), numbering)[0], own.trees.arcs(), offsets)
            for own, numbering in self._pairs
            if numbering.sums is not None
        ]  # of all models or of none

    def label_probabilities(self) -> list[Floats]:
        """Return the label probabilities of each label column: [words, labels].

        If the models learnt whole trees, they are marginals over all trees.
        """
        if self._sums:
            return [_mean([labels for labels, _ in self._sums])]
        columns = [
            [_probabilities(column) for column in _ordered(scores.trees.labels(), asked)]
            for scores, asked in self._pairs
        ]
        return [_mean(of_models) for of_models in zip(*columns, strict=True)]

    def arc_probabilities(self) -> list[Floats]:
        """Return the probabilities of heads for each sentence: [words, words + 1]; index 0 is the root.

        If the models learnt whole trees, they are marginals over all trees.
        """
        if self._sums:
            return [_mean(of_models) for of_models in zip(*(arcs for _, arcs in self._sums), strict=True)]
        tables = zip(*(scores.trees.arcs() for scores, _ in self._pairs), strict=True)
        return [_mean([_probabilities(table) for table in of_models]) for of_models in tables]

    def relation_probabilities(self, heads: Ints | None, words: Numbers | None = None) -> Floats:
        """Return the probabilities of relations of all words, or of `words`, under `heads`: [words, relations]."""
        return _mean(
            [
                _probabilities(scores.trees.relations(heads, words), numbering.relations)
                for scores, numbering in self._pairs
            ]
        )

    def tag_probabilities(self) -> dict[str, Floats]:
        """Return the tag probabilities [words, tags] of each tag set that is learnt, by its name."""
        tables = [(scores.tags(), numbering.tags) for scores, numbering in self._pairs]
        return {
            name: _mean([_probabilities(tags[known[name][0]], known[name][1]) for tags, known in tables])
            for name in tables[0][1]
        }

    def labels(self) -> list[Floats]:
        """Return the label scores of each label column: [words, labels].

        They are the models' mean scores if these learnt whole trees, otherwise the logarithms of the mean
        probabilities.
        """
        if self._sums:
            columns = zip(*(_ordered(scores.trees.labels(), asked) for scores, asked in self._pairs), strict=True)
            return [_mean(of_models) for of_models in columns]
        return list(map(_logs, self.label_probabilities()))

    def arcs(self) -> list[Floats]:
        """Return the scores of heads for each sentence: [words, words + 1]; index 0 is the root.

        They are the models' mean scores if these learnt whole trees, otherwise the logarithms of the mean
        probabilities.
        """
        if self._sums:
            tables = zip(*(scores.trees.arcs() for scores, _ in self._pairs), strict=True)
            return [_mean(of_models) for of_models in tables]
        return list(map(_logs, self.arc_probabilities()))

    def relations(self, heads: Ints | None = None, words: Numbers | None = None) -> Floats:
        """Return the logarithms of `relation_probabilities`."""
        return _logs(self.relation_probabilities(heads, words))


@dataclass(frozen=True, slots=True)
class _Loaded:
    """One model of a teacher, trained or exported, and whether it was trained with the loss of whole trees."""

    model: Model
    trees: bool

    @classmethod
    def of(cls, name: str) -> _Loaded:
        """Load a model by its name or folder."""
        home = open_folder(locate(name))
        model = training_record(home.table).get("model")
        trees = isinstance(model, dict) and model.get("loss") == "trees"
        return cls(load_trained(home) if home.format == TRAINED else load_exported(home), trees)


def _demand_alike(loaded: Sequence[_Loaded]) -> None:
    """Raise `TrainingError` if only some teachers learnt whole trees."""
    if len({teacher.trees for teacher in loaded}) > 1:
        raise TrainingError(
            "one teacher was trained with model.loss=trees, another word by word, so their probabilities have no "
            "common mean; train all with the same model.loss"
        )


def _of(teacher: Model, labels: LabelSet) -> tuple[tuple[str, ...], ...]:
    encodings = teacher.labels.encodings[:1]
    if not teacher.description.heads.labels or encodings != labels.encodings[:1]:
        raise TrainingError(
            f"the teacher parses with {encodings[0] if encodings else 'arcs'}, the model with {labels.encodings[0]}; "
            "use a teacher with the same encoding"
        )
    return teacher.labels.columns[0]


def _order(mine: Sequence[str], theirs: Sequence[str], what: str) -> list[int]:
    """Return the index in `theirs` of each name in `mine`; raise `TrainingError` if one is missing.

    `what` is the kind of names, for the error.
    """
    numbers = {name: number for number, name in enumerate(theirs)}
    unknown = [name for name in mine if name not in numbers]
    if unknown:
        raise TrainingError(
            f"the teacher does not know the {what} {unknown[0]!r} and {len(unknown) - 1} more; "
            "train it on the same treebank"
        )
    return [numbers[name] for name in mine]


def _ordered(labels: Sequence[Floats], asked: _Asked) -> list[Floats]:
    """Return the teacher's label scores, a table for each label column, with labels in the student's order."""
    return [column[:, order] for column, order in zip(labels, asked.columns, strict=True)]


def _probabilities(logs: Floats, order: Sequence[int] | None = None) -> Floats:
    """Return the softmax of scores over the last axis; with `order`, over the columns with these indices."""
    chosen = logs if order is None else logs[:, order]
    out = np.exp(chosen - chosen.max(axis=-1, keepdims=True))
    probabilities: Floats = out / out.sum(axis=-1, keepdims=True)
    return probabilities


def _mean(probabilities: Sequence[Floats]) -> Floats:
    mean: Floats = np.mean(probabilities, axis=0)
    return mean


def _logs(probabilities: Floats) -> Floats:
    logs: Floats = np.log(np.maximum(probabilities, LEAST))
    return logs
