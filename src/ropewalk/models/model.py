"""A model: a description, label sets and a scorer. It predicts tags, trees and graphs for words."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ropewalk.core.ragged import starts_of
from ropewalk.core.trees import Trees
from ropewalk.errors import ConfigError, FormatError
from ropewalk.models import tag_columns
from ropewalk.models.description import LONGEST_BY_ARCS, DecodingOptions
from ropewalk.models.scorer import GRAPHS, TAGS, TREES
from ropewalk.models.storage import open_folder
from ropewalk.models.tags import (
    TagWeights,
    best_tags,
    column_of,
    fitted_relation_weight,
    fitted_weights,
    joined,
    number_of_lemmas,
)
from ropewalk.models.tree_decoding import relation_probabilities, tree_decoder
from ropewalk.treebank.surface import Probabilities
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ropewalk.core.columns import Column
    from ropewalk.core.graphs import Graphs
    from ropewalk.models.description import Description
    from ropewalk.models.graph_decoding import GraphDecoder
    from ropewalk.models.label_sets import GraphNames, LabelSet
    from ropewalk.models.scorer import Scorer, Scores
    from ropewalk.models.storage import ModelFolder
    from ropewalk.models.tags import ProbabilityArray
    from ropewalk.models.tree_decoding import Float64s, ParsedTrees

    Origin = tuple[Callable[["Path | ModelFolder", int], "Model"], Path, int]
    TagsAndProbabilities = tuple[
        dict[str, Column], dict[str, ProbabilityArray]
    ]  # tags of words, and their probabilities

LONGEST = 100_000  # most words of a sentence: it is parsed as a whole, and memory grows with its length
TREE, GRAPH = "tree", "graph"  # names of predictions beside tag columns
PIECE = 1 << 14  # words that are scored before their trees are decoded,
PIECE_ARCS = 1 << 22  # and arcs between them, unless one sentence has more


class LongSentenceWarning(UserWarning):
    """Warning that a sentence is too long to score its arcs, so that its tree is decoded from label scores alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """A model's view of an annotated treebank: its own trees, and the probability of each annotated head and relation.

    `predicted` is the treebank with the model's trees. `heads` holds for each word the calibrated marginal probability
    of its annotated head, NaN where it is unknown. `relations` holds the probability of its annotated relation, given
    the annotated head.
    """

    predicted: Treebank
    heads: Float64s
    relations: Float64s


@final
class Model:
    """A parser of sentences that are split into words. Several threads may use it at the same time.

    `origin` is set if the model was loaded from a folder: the function that loads it, the folder, and the number of
    threads. Only such a model can be pickled; the pickle holds `origin` and the options of decoding, no weights.
    `outputs` names the outputs of classifiers that predictions need.
    """

    def __init__(  # noqa: PLR0913 - the parts of a model
        self,
        description: Description,
        labels: LabelSet,
        scorer: Scorer,
        *,
        name: str = "",
        hash: str = "",  # noqa: A002 - the field's word
        origin: Origin | None = None,
    ) -> None:
        self.description = description
        self.labels = labels
        self.scorer = replace(scorer, style=description.style)
        self.name = name
        self.hash = hash
        self.origin = origin
        self._decoder = tree_decoder(description, labels)
        predicted = self._demand_columns(description.decoding.columns)
        for column in {*predicted} - {TREE, GRAPH}:
            tag_columns.get(column)  # raises unless its package is installed
        self._demand_weights(description.decoding.lexicon_weights)
        self._graphs = None
        if labels.graphs is not None and GRAPH in predicted:
            self._graphs = _graph_decoder(description, labels.graphs)
        if description.decoding.enhance and TREE not in predicted and self._graphs is None:
            raise ConfigError("decoding", "enhance", "needs trees, and columns has no tree; add tree, or leave it out")
        self._wants_trees = TREE in predicted or self._graphs is not None  # graphs are built on trees
        self._columns = tuple(name for name in predicted if name not in {TREE, GRAPH})
        self._relations_speak = (
            self._wants_trees
            and not self._decoder.needs_upos
            and labels.combinations is not None
            and description.decoding.tag_relation_weight > 0
        )
        for_lemmas = labels.lemmas.needs if "lemma" in self._columns and labels.lemmas is not None else ()
        for_trees = ("upos",) if self._wants_trees and self._decoder.needs_upos else ()
        needed = {*self._columns, *for_lemmas, *for_trees}
        numbers = {number for number, (name, _) in enumerate(labels.tags) if column_of(name) in needed}
        lemma = number_of_lemmas(labels.tags)
        self._rules = None  # the index of the tag set of lemmas, if only words without a known lemma are scored in it
        if lemma in numbers and labels.lemmas is not None and not description.decoding.tag_confidence:
            self._rules = lemma
            numbers.remove(lemma)
        self.outputs = tuple(name for name in scorer.classifiers.outputs if self._needs(name, numbers))

    def _needs(self, output: str, tags: set[int]) -> bool:
        """Return whether predictions need the network's output `output`; `tags` are the indices of needed tag sets."""
        if output.startswith(TAGS):
            return int(output[len(TAGS) :]) in tags
        return self._graphs is not None if output.startswith(GRAPHS.prefix) else self._wants_trees

    def _demand_columns(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [name for name in columns if name not in self.predicts]
        if unknown:
            problem = f"has {unknown[0]!r}, which this model does not predict"
            raise ConfigError("decoding", "columns", f"{problem}; expected some of: {', '.join(self.predicts)}")
        return tuple(name for name in self.predicts if name in columns) if columns else self.predicts

    def _demand_weights(self, weights: tuple[float, ...]) -> None:
        expected = 2 * len(self.labels.tags)
        if weights and len(weights) != expected:
            problem = f"has {len(weights)} numbers; expected two for each tag set: {expected}"
            raise ConfigError("decoding", "lexicon_weights", problem)

    @property
    def predicts(self) -> tuple[str, ...]:
        """The names of all that the model can predict: its tag columns, `tree`, and `graph` if it scores graphs.

        `tree` stands for heads and relations.
        """
        return (*self.tags, TREE, *(() if self.labels.graphs is None else (GRAPH,)))

    @property
    def tags(self) -> tuple[str, ...]:
        """The tag columns that the model can predict."""
        return tuple(dict.fromkeys(column_of(name) for name, _ in self.labels.tags))

    def __reduce__(self) -> tuple[Any, ...]:
        if self.origin is None:
            raise TypeError("a model that was not loaded from a folder cannot be pickled; save it first")
        return _loaded_again, (*self.origin, asdict(self.description.decoding))

    @property
    def decoding(self) -> DecodingOptions:
        """The model's options of decoding, a part of its description."""
        return self.description.decoding

    def with_decoding(self, **changes: Any) -> Model:  # noqa: ANN401 - the fields of `DecodingOptions`
        """Return a model with the same weights and changed options of decoding; see `DecodingOptions.changed`."""
        return Model(
            replace(self.description, decoding=self.decoding.changed(**changes)),
            self.labels,
            self.scorer,
            name=self.name,
            hash=self.hash,
            origin=self.origin,
        )

    @property
    def path(self) -> Path | None:
        """The folder from which the model was loaded, or None."""
        return None if self.origin is None else self.origin[1]

    @property
    def has_probabilities(self) -> bool:
        """Whether the model's decoder can compute probabilities of arcs and trees."""
        return self._decoder.has_probabilities

    def parse(self, treebank: Treebank) -> Treebank:
        """Return a copy of `treebank` with the trees, tags and graphs that the model predicts for its words.

        The option `columns` may restrict the predictions. Raise `FormatError` if a sentence is too long.
        """
        if not treebank.words:
            return treebank
        self._demand_lengths(treebank)
        tagged: list[TagsAndProbabilities] = []
        trees: list[ParsedTrees] = []
        graphs: list[Graphs] = []
        for part, scores in self.scores(treebank):
            late = self._relations_speak and len(part.forms) < 2 * PIECE  # tag scores of more words are not kept
            if not late:
                tagged.append(self._tagged(scores, part.forms, None))
                scores.forget_tags()
            if self._wants_trees:
                upos = part.upos if late else tagged[-1][0].get("upos", part.upos)
                trees.append(self._decoder.decode(scores.trees, part.offsets.array, upos))
            if late:
                tagged.append(self._tagged(scores, part.forms, trees[-1].relations))
            if self._graphs is not None:
                words = Treebank.of_words(part.forms, part.offsets).with_columns(_own(tagged[-1][0]))
                graphs.append(self._graphs.decode(scores.graphs, words, trees[-1]))
        return self._annotated(treebank, tagged, trees, graphs)

    def judge(self, treebank: Treebank) -> Judgement:
        """Parse an annotated treebank, and return the model's trees with the probabilities of the annotated arcs.

        Raise `TreeError` if the annotated heads of a sentence are no tree, and `ConfigError` if the model's decoder
        computes no probabilities.
        """
        if not self.has_probabilities or not self._wants_trees:
            raise ConfigError(
                "decoding",
                "decoder",
                f"is {self.decoding.decoder!r}, with which this model's arcs have no probabilities; use another "
                "decoder, such as mbr, or another model",
            )
        treebank.trees()
        if not treebank.words:
            return Judgement(treebank, np.zeros(0), np.zeros(0))
        self._demand_lengths(treebank)
        trees: list[ParsedTrees] = []
        head_parts: list[Float64s] = []
        relation_parts: list[Float64s] = []
        for part, scores in self.scores(treebank):
            annotated = Trees.known(part.heads, part.offsets, treebank.relations[part.words])
            head_parts.append(self._decoder.head_probabilities(scores.trees, annotated))
            relation_parts.append(relation_probabilities(scores.trees, self.labels.relations, annotated))
            trees.append(self._decoder.decode(scores.trees, part.offsets.array, part.upos))
        heads = np.concatenate([batch_trees.heads for batch_trees in trees])
        predicted = treebank.with_trees(heads, joined([batch_trees.relations for batch_trees in trees]))
        return Judgement(predicted, np.concatenate(head_parts), np.concatenate(relation_parts))

    def _annotated(
        self, treebank: Treebank, tagged: list[TagsAndProbabilities], trees: list[ParsedTrees], graphs: list[Graphs]
    ) -> Treebank:
        """Return a copy of `treebank` with all predictions; each list has one item for each part that was scored."""
        parsed = treebank
        if self._columns:
            columns = {name: joined([tags[name] for tags, _ in tagged]) for name in self._columns}
            parsed = parsed.with_columns(_own(columns))
            for name in (name for name in columns if name not in tag_columns.OWN):
                parsed = tag_columns.get(name).written(parsed, columns[name])
        if trees:
            heads = np.concatenate([part.heads for part in trees])
            parsed = parsed.with_trees(heads, joined([part.relations for part in trees]))
        if graphs:
            parsed = parsed.with_graphs(type(graphs[0]).concat(graphs))
        elif self.decoding.enhance:
            parsed = parsed.with_graphs(_by_rules(parsed))
        if not trees and not self.decoding.tag_confidence:
            return parsed
        return parsed.with_probabilities(self._probabilities(treebank, trees, [tags for _, tags in tagged]))

    def _tagged(self, scores: Scores, forms: Column, relations: Column | None) -> TagsAndProbabilities:
        """Return the best tags of words by column, and their probabilities if the option `tag_confidence` is on.

        `relations` are the predicted relations of the words, which may be evidence for tags, or None.
        """
        options = self.decoding
        return best_tags(
            self.labels,
            scores.tags(),
            forms,
            TagWeights(options.lexicon_weights, options.tag_relation_weight),
            relations=relations,
            rules=None if self._rules is None else partial(scores.tags_of, self._rules),
            probabilities=options.tag_confidence,
        )

    def _probabilities(
        self, treebank: Treebank, trees: list[ParsedTrees], tags: list[dict[str, ProbabilityArray]]
    ) -> Probabilities:
        """Return the probabilities of all predictions for `treebank`.

        If no trees were predicted, the treebank keeps the probabilities of its own trees.
        """
        parts = [part.probabilities for part in trees if part.probabilities is not None]
        probabilities = Probabilities() if trees else treebank.probabilities or Probabilities()
        if parts:
            arcs, whole = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
            probabilities = Probabilities(arcs, whole)
        columns = self._columns if self.decoding.tag_confidence else ()
        return replace(probabilities, tags={name: np.concatenate([part[name] for part in tags]) for name in columns})

    def scores(self, treebank: Treebank) -> Iterator[tuple[Part, Scores]]:
        """Split a treebank into parts of consecutive sentences; yield each part with its scores.

        A part has at most about `PIECE` words and `PIECE_ARCS` possible arcs, or one sentence. Only the scores that the
        model's predictions need are computed.
        """
        forms = treebank.column("form")
        starts = treebank.offsets.starts
        lengths = treebank.lengths.astype(np.int64)
        arcs = starts_of(lengths * (lengths + 1))
        longest = self.decoding.longest_with_arcs
        alone = [*np.flatnonzero(treebank.lengths > longest).tolist(), len(treebank)]  # parts of their own
        first = 0
        while first < len(treebank):
            long = alone[int(np.searchsorted(alone, first))]
            full = int(np.searchsorted(starts, starts[first] + PIECE))
            many = int(np.searchsorted(arcs, arcs[first] + PIECE_ARCS, side="right")) - 1
            last = max(min(full, many, long), first + 1)
            part = Part(treebank, forms, first, last)
            outputs = self.outputs
            if first == long and self.description.heads.labels:  # labels alone decide
                outputs = tuple(name for name in outputs if name not in TREES.sides("arc"))
            yield part, self.scorer.scores(part.forms, part.offsets, self.decoding.batch, outputs)
            first = last

    def _demand_lengths(self, treebank: Treebank) -> None:
        """Raise `FormatError` if a sentence is too long to be parsed.

        Warn if a sentence is too long to score its arcs and will be parsed with label scores alone.
        """
        longest_sentence = int(treebank.lengths.argmax())
        words = int(treebank.lengths[longest_sentence])
        if words > LONGEST:
            problem = f"the sentence has {words:,} words; at most {LONGEST:,} are parsed: split it"
            raise FormatError(treebank.file, treebank.line(longest_sentence), "too-long", problem)
        by_labels = self.description.heads.labels
        longest = self.decoding.longest_with_arcs if by_labels else LONGEST_BY_ARCS
        if not self._decoder.needs_arcs or not self._wants_trees:
            return
        for sentence in np.flatnonzero(treebank.lengths > longest).tolist():
            file, line, words = treebank.file, treebank.line(sentence), int(treebank.lengths[sentence])
            problem = f"the sentence has {words:,} words; arcs are scored up to {longest:,}"
            if not by_labels:
                raise FormatError(file, line, "too-long", f"{problem}, and this model has no labels: split it")
            warnings.warn(f"{file}:{line}: {problem}: labels alone decide", LongSentenceWarning, stacklevel=3)

    def calibrated(self, gold: Treebank) -> Model:
        """Return the same model with options of decoding that are fitted to the gold treebank `gold`.

        The fitted options are the weights and the temperature of probabilities, the scale of arc scores, the weights
        of the lexicon and of relations in choosing tags, and the weights and thresholds of arcs in graphs.
        """
        counts_words = self.labels.lexicon is not None
        combines = self.labels.combinations is not None
        if not gold.words or not (self.has_probabilities or self._graphs is not None or counts_words or combines):
            return self
        scores = self.scorer.scores(gold.column("form"), gold.offsets, self.decoding.batch)
        fitted = self
        if self.has_probabilities:
            fitted = self.with_decoding(**asdict(self._decoder.calibrated(gold, scores.trees)))
        if counts_words:
            fitted = fitted.with_decoding(lexicon_weights=fitted_weights(self.labels, scores.tags(), gold))
        if not combines and self._graphs is None:
            return fitted
        trees = tree_decoder(fitted.description, self.labels).decode(scores.trees, gold.offsets.array, gold.upos)
        if combines:
            weights = fitted.decoding.lexicon_weights
            weight = fitted_relation_weight(self.labels, scores.tags(), gold, trees.relations, weights)
            fitted = fitted.with_decoding(tag_relation_weight=weight)
        if self._graphs is None:
            return fitted
        forms = gold.column("form")
        tags, _ = fitted._tagged(scores, forms, trees.relations)  # noqa: SLF001 - of the same class
        words = Treebank.of_words(forms, gold.offsets).with_columns(_own(tags))
        options = self._graphs.fitted(gold, scores.graphs, words, trees)
        names = ("graph_weights", "graph_thresholds", "graph_rules")
        return fitted.with_decoding(**{name: getattr(options, name) for name in names})


class Part:
    """The columns of some consecutive sentences of a treebank: those from index `first` up to `last`, exclusive.

    `words` is the slice of the treebank's words that the sentences cover.
    """

    def __init__(self, treebank: Treebank, forms: Column, first: int, last: int) -> None:
        self.words = slice(*treebank.offsets.array[[first, last]].tolist())
        self.forms = forms[self.words]
        self.offsets = treebank.offsets.between(first, last)
        self.heads = treebank.heads[self.words]
        self.upos = None if treebank.upos is None else treebank.upos[self.words]


def demand_decoders(description: Description, labels: LabelSet) -> None:
    """Raise `ConfigError` if the model does not compute the scores that its options of decoding need."""
    tree_decoder(description, labels)
    if labels.graphs is not None:
        _graph_decoder(description, labels.graphs)


def _own(tags: dict[str, Column]) -> dict[str, Column]:
    """Return only those of the predicted `tags` that are Ropewalk's own columns: LEMMA, UPOS, XPOS and FEATS."""
    return {name: column for name, column in tags.items() if name in tag_columns.OWN}


def _by_rules(bank: Treebank) -> Graphs:
    """Return the enhanced graphs that rules derive from the trees of a treebank.

    The rules are imported only here, because few calls need them.
    """
    from ropewalk.morphology.enhancement import by_rules

    return by_rules(bank)


def _graph_decoder(description: Description, names: GraphNames) -> GraphDecoder:
    """Build the decoder of a model's graphs; its module is imported only here, because few models have graphs."""
    from ropewalk.models.graph_decoding import GraphDecoder

    return GraphDecoder(description, names)


def _loaded_again(
    load: Callable[[Path | ModelFolder, int], Model], path: Path, threads: int, decoding: dict[str, Any]
) -> Model:
    return load(open_folder(path).with_decoding(**decoding), threads)
