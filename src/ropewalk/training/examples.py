"""From a treebank to what a network learns: words, and numbers for everything it should say about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk import conllu, encodings
from ropewalk.core.repair import repair, rooted_relations
from ropewalk.core.trees import check_heads, is_root_relation
from ropewalk.errors import ConfigError, FormatError, TrainingError
from ropewalk.models.combinations import Combinations
from ropewalk.models.features import Vocabulary
from ropewalk.models.known_lemmas import KnownLemmas
from ropewalk.models.labels import LabelSet, frequent, numbers
from ropewalk.models.lexicon import Lexicon
from ropewalk.models.tags import TAGS, classes, tag_sets
from ropewalk.training.construction import graph_shape, head_shape, needs_vocabulary
from ropewalk.training.graph_training import GraphExamples, graph_examples, graph_names
from ropewalk.training.pieces import word_vectors
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.columns import Column
    from ropewalk.models.tags import TagSet
    from ropewalk.training.config import Config

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Sentences with everything to be learnt about them, as flat arrays with offsets."""

    forms: tuple[tuple[str, ...], ...]
    offsets: Numbers
    columns: tuple[Numbers, ...]
    heads: Numbers
    relations: Numbers
    tags: tuple[Numbers, ...]
    graphs: GraphExamples | None = None

    def __len__(self) -> int:
        return len(self.forms)

    def followed_by(self, other: Examples) -> Examples:
        """Lay two groups of sentences without graphs end to end."""

        def all_of(first: tuple[Numbers, ...], second: tuple[Numbers, ...]) -> tuple[Numbers, ...]:
            return tuple(np.concatenate(pair) for pair in zip(first, second, strict=True))

        return Examples(
            self.forms + other.forms,
            np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]]),
            all_of(self.columns, other.columns),
            np.concatenate([self.heads, other.heads]),
            np.concatenate([self.relations, other.relations]),
            all_of(self.tags, other.tags),
        )


def forms_of(bank: Treebank) -> tuple[tuple[str, ...], ...]:
    """Give the words of every sentence."""
    texts = bank.column("form").texts()
    return tuple(tuple(texts[where]) for where in bank.offsets)


def read_treebank(paths: Sequence[str], bad_trees: str, what: str) -> tuple[Treebank, list[FormatError]]:
    """Read files end to end; sentences without a good tree are skipped or repaired, and named, or stop the run."""
    if not paths:
        raise ConfigError("data", f"data.{what}", "names no file; set it in the configuration or with --set")
    banks: list[Treebank] = []
    bad: list[FormatError] = []
    for path in paths:
        reader = conllu.stream(path, on_error="skip" if bad_trees == "skip" else "stop")
        bank = reader.read()
        bad += reader.problems
        problems = bad_sentences(bank)
        if problems and bad_trees == "stop":
            raise next(iter(problems.values()))
        bad += problems.values()
        banks.append(_mended(bank, problems, bad_trees))
    bank = Treebank.concat(banks)
    if not len(bank):
        raise TrainingError(f"{', '.join(paths)}: no sentence with a good tree is left to use for data.{what}")
    return bank, bad


def bad_sentences(bank: Treebank) -> dict[int, FormatError]:
    """Name the first thing wrong with the tree of each bad sentence: heads, roots, or where `root` stands."""
    found = check_heads(bank.heads, bank.offsets)
    rooted = np.array([is_root_relation(name) for name in bank.relations.names], dtype=np.bool_)[bank.relations.ids]
    wrong = np.flatnonzero(rooted != (bank.heads == 0))
    odd = np.unique(bank.offsets.owners_of(wrong))
    out: dict[int, FormatError] = {}
    for sentence in sorted({*np.flatnonzero((found.codes != 0) | (found.roots != 1)).tolist(), *odd.tolist()}):
        problem = next(conllu.tree_problems(bank.select([sentence])), None)
        out[sentence] = problem or FormatError(
            bank.file, bank.line(sentence), "tree", "the heads are no tree with one root; expected one"
        )
    return out


def _mended(bank: Treebank, problems: dict[int, FormatError], bad_trees: str) -> Treebank:
    if not problems:
        return bank
    if bad_trees == "skip":
        keep = np.ones(len(bank), dtype=np.bool_)
        keep[list(problems)] = False
        return bank.select(keep)
    heads = repair(bank.heads, bank.offsets).trees.heads
    return bank.with_trees(heads, rooted_relations(heads, bank.relations))


def label_set(config: Config, bank: Treebank) -> tuple[LabelSet, npt.NDArray[np.float32] | None]:
    """List the labels, relations and tags of a treebank and, for a `bilstm`, its vocabulary and static vectors."""
    names = encoding_names(config)
    columns = []
    relations: tuple[str, ...] = ()
    for place, name in enumerate(names):
        labels = encodings.get(name).encode(bank)
        columns.append(tuple(_alphabet(name, labels, column) for column in labels.columns))
        relations = relations if place else frequent(labels.relations)
    if not head_shape(config.model).labels:
        relations = frequent(bank.relations)
    model = config.model
    for tag in model.tags:
        if tag not in TAGS:
            raise ConfigError("configuration", "model.tags", f"has {tag!r}; expected some of: {', '.join(TAGS)}")
    tags = tag_sets(bank, model.tags, least_rules=model.least_rules, feats=model.feats)
    if ("lemma", ()) in tags:
        raise ConfigError(
            "configuration",
            "model.least_rules",
            f"is {model.least_rules:,}, and no rule that makes lemmas occurs that often in the training data; lower it",
        )
    vocabulary = None
    vectors = None
    options = config.model.encoder
    if needs_vocabulary(options):
        forms = bank.column("form").texts()
        words: list[str] = []
        if options.vectors:
            words, vectors = word_vectors(options.vectors, options.most_vectors, forms)
        vocabulary = Vocabulary.of(forms, options.least_count, words)
    shape = graph_shape(config.model)
    graphs = None if shape.is_empty else graph_names(config.model.graph.encoding if shape.labels else "", bank)
    lemmas = None
    if "lemma" in model.tags and model.known_lemmas:
        lemmas = KnownLemmas.of(bank, model.tags)
    lexicon = lexicon_of(bank, tags) if tags and model.lexicon else None
    together = combinations_of(bank, tags) if model.combinations else None
    return LabelSet(names, tuple(columns), relations, tags, vocabulary, graphs, lemmas, lexicon, together), vectors


def lexicon_of(bank: Treebank, tags: Sequence[TagSet]) -> Lexicon:
    """Count which classes of some tag sets the words of a treebank have."""
    return Lexicon.of(bank.column("form"), _class_numbers(bank, tags))


def combinations_of(bank: Treebank, tags: Sequence[TagSet]) -> Combinations | None:
    """Count which classes of whole columns go together in a treebank, and with which relations."""
    whole = [(name, texts) for name, texts in tags if name in TAGS and name != "lemma"]
    return Combinations.of(_class_numbers(bank, whole), bank.relations)


def _class_numbers(bank: Treebank, tags: Sequence[TagSet]) -> dict[str, npt.NDArray[np.int64]]:
    """Number the classes of the words of a treebank in some tag sets."""
    columns = ((name, texts, classes(bank, name)) for name, texts in tags)
    return {name: numbers(column.ids, column.names, texts) for name, texts, column in columns}


def _alphabet(name: str, labels: encodings.Labels, column: Column) -> tuple[str, ...]:
    whole = encodings.get(name).alphabet
    if whole is not None and len(labels.columns) == 1:
        return whole
    return frequent(column)


def encoding_names(config: Config) -> tuple[str, ...]:
    """List the encodings that have heads: the one parsed with, if any, and the auxiliary ones."""
    own = (config.model.encoding,) if head_shape(config.model).labels else ()
    return (*own, *config.model.auxiliary)


def examples(bank: Treebank, labels: LabelSet, *, parse_by_labels: bool) -> Examples:
    """Number everything that is to be learnt about the sentences of a treebank."""
    columns: list[Numbers] = []
    heads, relations = bank.heads, bank.relations
    for place, name in enumerate(labels.encodings):
        encoding = encodings.get(name)
        coded = encoding.encode(bank)
        columns += [
            numbers(column.ids, column.names, known)
            for column, known in zip(coded.columns, labels.columns[place], strict=True)
        ]
        if place == 0 and parse_by_labels:  # the trees that decoding will give, lifted if the encoding lifts
            heads = repair(encoding.decode(coded).heads, bank.offsets).trees.heads
            relations = coded.relations
    tags = []
    for name, known in labels.tags:
        column = classes(bank, name)
        tags.append(numbers(column.ids, column.names, known))
    return Examples(
        forms_of(bank),
        bank.offsets.array.astype(np.int64),
        tuple(columns),
        heads.astype(np.int64),
        numbers(relations.ids, relations.names, labels.relations),
        tuple(tags),
        None if labels.graphs is None else graph_examples(bank, labels.graphs),
    )
