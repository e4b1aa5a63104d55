"""From a treebank to training examples: words, heads, and the class indices of labels, relations and tags."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk import conllu, encodings
from ropewalk.core.repair import repair, rooted_relations
from ropewalk.core.trees import check_heads, is_root_relation
from ropewalk.errors import ConfigError, FormatError, TrainingError
from ropewalk.models import tag_columns
from ropewalk.models.combinations import Combinations
from ropewalk.models.known_lemmas import KnownLemmas
from ropewalk.models.label_sets import MISSING, LabelSet, frequent, numbers
from ropewalk.models.lexicon import Lexicon
from ropewalk.models.tags import classes, column_of, tag_sets
from ropewalk.models.vocabulary import Vocabulary
from ropewalk.training.config import DataOptions
from ropewalk.training.construction import graph_shape, head_shape, needs_vocabulary
from ropewalk.training.graph_training import GraphExamples, graph_examples, graph_names
from ropewalk.training.mixing import MixedData
from ropewalk.training.pieces import word_vectors
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.models.tags import TagSet
    from ropewalk.training.config import Config
    from ropewalk.training.mixing import Bools

Numbers = npt.NDArray[np.int64]
NOTHING: Mapping[str, Bools] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Training sentences: their words, and flat arrays with a target for each word; `offsets` are those of sentences.

    `columns`, `relations` and `tags` have class indices. `heads` count within the sentence, and 0 is the root. `styles`
    has the index of each sentence's style.
    """

    forms: tuple[tuple[str, ...], ...]
    offsets: Numbers
    columns: tuple[Numbers, ...]
    heads: Numbers
    relations: Numbers
    tags: tuple[Numbers, ...]
    styles: Numbers
    graphs: GraphExamples | None = None

    def __len__(self) -> int:
        return len(self.forms)

    def followed_by(self, other: Examples) -> Examples:
        """Return one `Examples` with these sentences, then those of `other`; graphs are left out."""

        def all_of(first: tuple[Numbers, ...], second: tuple[Numbers, ...]) -> tuple[Numbers, ...]:
            return tuple(np.concatenate(pair) for pair in zip(first, second, strict=True))

        return Examples(
            self.forms + other.forms,
            np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]]),
            all_of(self.columns, other.columns),
            np.concatenate([self.heads, other.heads]),
            np.concatenate([self.relations, other.relations]),
            all_of(self.tags, other.tags),
            np.concatenate([self.styles, other.styles]),
        )


def forms_of(bank: Treebank) -> tuple[tuple[str, ...], ...]:
    """Return the word forms of every sentence."""
    texts = bank.column("form").texts()
    return tuple(tuple(texts[where]) for where in bank.offsets)


def read_treebank(paths: Sequence[str], bad_trees: str, what: str) -> tuple[Treebank, list[FormatError]]:
    """Read the files `paths` as one treebank; return it, and the problems of sentences without a valid tree.

    See `read_files` for the parameters.
    """
    banks, bad = read_files(paths, bad_trees, what)
    return Treebank.concat(banks), bad


def read_files(paths: Sequence[str], bad_trees: str, what: str) -> tuple[list[Treebank], list[FormatError]]:
    """Read the treebank of each file; return them, and the problems of sentences without a valid tree.

    `bad_trees` decides about such sentences: `skip` and `repair` do so, `stop` raises the first problem. `what` names
    the part of the data in errors, such as train.
    """
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
    if not any(map(len, banks)):
        raise TrainingError(
            f"{', '.join(paths)}: no sentence has a valid tree; repair them, or name others in data.{what}"
        )
    return banks, bad


def bad_sentences(bank: Treebank) -> dict[int, FormatError]:
    """Return the first problem of each sentence whose tree is invalid, by the sentence's index.

    A tree is invalid if its heads are no tree, if it has not exactly one root, or if the relation `root` is at another
    word than the root.
    """
    checks = check_heads(bank.heads, bank.offsets)
    rooted = np.array([is_root_relation(name) for name in bank.relations.names], dtype=np.bool_)[bank.relations.ids]
    wrong = np.flatnonzero(rooted != (bank.heads == 0))
    odd = np.unique(bank.offsets.owners_of(wrong))
    out: dict[int, FormatError] = {}
    for sentence in sorted({*np.flatnonzero((checks.codes != 0) | (checks.roots != 1)).tolist(), *odd.tolist()}):
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


def label_set(
    config: Config, bank: Treebank, mixed: MixedData | None = None
) -> tuple[LabelSet, npt.NDArray[np.float32] | None]:
    """Return the label set of a treebank, and the static word vectors of the encoder, or None if it has none.

    The label set contains the alphabets of labels, relations and tags, and for a `bilstm` or an `sru` its vocabulary.
    If `bank` comes from several files, `mixed` has the tag columns that each of them lacks.
    Raise `ConfigError` if a tag column is unknown, or if no lemma rule is frequent enough.
    """
    names = encoding_names(config)
    model = config.model
    encoded = [encodings.get(name).encode(bank) for name in names]
    columns: list[tuple[tuple[str, ...], ...]] = []
    for name, labels in zip(names, encoded, strict=True):
        alphabet = encodings.get(name).alphabet
        whole = None if alphabet is None or len(labels.columns) > 1 else (alphabet,)
        columns.append(whole or tuple(map(frequent, labels.columns)))
    relations = frequent(encoded[0].relations if head_shape(model).labels else bank.relations)
    for tag in model.tags:
        if tag not in tag_columns.OWN and tag not in tag_columns.known():
            problem = f"has {tag!r}; expected some of: {', '.join(tag_columns.known())}"
            raise ConfigError("configuration", "model.tags", problem)
    mixed = mixed or MixedData.of([bank], DataOptions(), ())
    tags: tuple[TagSet, ...] = ()
    for tag in model.tags:
        tags += tag_sets(mixed.annotated([tag]), (tag,), least_rules=model.least_rules, feats=model.feats)
    if ("lemma", ()) in tags:
        problem = f"is {model.least_rules:,}, and no rule for lemmas occurs that often in the training data; lower it"
        raise ConfigError("configuration", "model.least_rules", problem)
    vocabulary = vectors = None
    options = model.encoder
    if needs_vocabulary(options):
        forms = bank.column("form").texts()
        words: list[str] = []
        if options.vectors:
            words, vectors = word_vectors(options.vectors, options.most_vectors, forms)
        vocabulary = Vocabulary.of(forms, options.least_count, words)
    shape = graph_shape(model)
    graphs = None if shape.is_empty else graph_names(model.graph.encoding if shape.labels else "", bank)
    lemmas = None
    if "lemma" in model.tags and model.known_lemmas:
        lemmas = KnownLemmas.of(mixed.annotated(["lemma", *({"upos", "xpos"} & {*model.tags})]), model.tags)
    lexicon = lexicon_of(bank, tags, mixed.unlearnt()) if tags and model.lexicon else None
    together = combinations_of(bank, tags, mixed.unlearnt()) if model.combinations else None
    return LabelSet(names, tuple(columns), relations, tags, vocabulary, graphs, lemmas, lexicon, together), vectors


def lexicon_of(bank: Treebank, tags: Sequence[TagSet], unlearnt: Mapping[str, Bools] = NOTHING) -> Lexicon:
    """Return a lexicon: counts of the classes in `tags` that each word form of a treebank has.

    `unlearnt` has the words that do not count, by tag column.
    """
    return Lexicon.of(bank.column("form"), _class_numbers(bank, tags, unlearnt))


def combinations_of(
    bank: Treebank, tags: Sequence[TagSet], unlearnt: Mapping[str, Bools] = NOTHING
) -> Combinations | None:
    """Return the combinations of UPOS, XPOS and FEATS, as far as `tags` has them, that occur in a treebank.

    They are stored with the relations that they occur with. `unlearnt` has the words that do not count, by tag column.
    Return None if there are none or too many.
    """
    whole = [(name, texts) for name, texts in tags if name in tag_columns.OWN and name != "lemma"]
    return Combinations.of(_class_numbers(bank, whole, unlearnt), bank.relations)


def _class_numbers(
    bank: Treebank, tags: Sequence[TagSet], unlearnt: Mapping[str, Bools]
) -> dict[str, npt.NDArray[np.int64]]:
    """Return the class index of each word of a treebank, by the name of the tag set.

    `unlearnt` has the words whose class is `MISSING`, by tag column.
    """
    columns = ((name, texts, classes(bank, name)) for name, texts in tags)
    class_ids = {name: numbers(column.ids, column.names, texts) for name, texts, column in columns}
    for name, ids in class_ids.items():
        if column_of(name) in unlearnt:
            ids[unlearnt[column_of(name)]] = MISSING
    return class_ids


def encoding_names(config: Config) -> tuple[str, ...]:
    """Return the encodings that have classifiers: the parser's, if it uses labels, then the auxiliary ones."""
    own = (config.model.encoding,) if head_shape(config.model).labels else ()
    return (*own, *config.model.auxiliary)


def examples(
    bank: Treebank,
    labels: LabelSet,
    *,
    parse_by_labels: bool,
    unlearnt: Mapping[str, Bools] = NOTHING,
    styles: Numbers | None = None,
) -> Examples:
    """Return the training examples of a treebank, with class indices from `labels`.

    With `parse_by_labels`, heads and relations are those that the parser's encoding returns for the gold trees; arcs
    that it cannot encode are lifted. `unlearnt` has the words without a target, by tag column. `styles` are the styles
    of sentences; by default all have the main one.
    """
    columns: list[Numbers] = []
    heads, relations = bank.heads, bank.relations
    for index, name in enumerate(labels.encodings):
        encoding = encodings.get(name)
        coded = encoding.encode(bank)
        columns += [
            numbers(column.ids, column.names, known)
            for column, known in zip(coded.columns, labels.columns[index], strict=True)
        ]
        if index == 0 and parse_by_labels:  # the trees that decoding returns, lifted if the encoding lifts
            heads = repair(encoding.decode(coded).heads, bank.offsets).trees.heads
            relations = coded.relations
    return Examples(
        forms_of(bank),
        bank.offsets.array.astype(np.int64),
        tuple(columns),
        heads.astype(np.int64),
        numbers(relations.ids, relations.names, labels.relations),
        tuple(_class_numbers(bank, labels.tags, unlearnt).values()),
        np.zeros(len(bank), dtype=np.int64) if styles is None else styles,
        None if labels.graphs is None else graph_examples(bank, labels.graphs),
    )
