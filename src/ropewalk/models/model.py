"""A model: a description, label sets and a scorer; words in, trees and graphs out, whatever computes the scores."""

from __future__ import annotations

import warnings
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ropewalk.core.ragged import Offsets, starts_of
from ropewalk.errors import ConfigError, FormatError
from ropewalk.models.calibration import PLAIN
from ropewalk.models.description import LONGEST_BY_ARCS, DecodingOptions
from ropewalk.models.scorer import GRAPHS, TAGS
from ropewalk.models.tags import (
    column_of,
    fitted_relation_weight,
    fitted_weights,
    joined,
    number_of_lemmas,
    tag_columns,
)
from ropewalk.models.tree_decoding import tree_decoder
from ropewalk.options import checked
from ropewalk.treebank.surface import Probabilities
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ropewalk.core.columns import Column
    from ropewalk.core.graphs import Graphs
    from ropewalk.models.description import Description
    from ropewalk.models.graph_decoding import GraphDecoder
    from ropewalk.models.labels import GraphNames, LabelSet
    from ropewalk.models.scorer import Scorer, Scores
    from ropewalk.models.tags import Shares
    from ropewalk.models.tree_decoding import ParsedTrees

    Origin = tuple[Callable[[Path, int], "Model"], Path, int]

LONGEST = 100_000  # words of a sentence: it is parsed as a whole, and memory grows with it
TREE, GRAPH = "tree", "graph"  # among the names of what is predicted
PIECE = 1 << 14  # words that are scored before their trees are found,
PIECE_ARCS = 1 << 22  # and arcs between them, unless one sentence has more


class LongSentenceWarning(UserWarning):
    """A sentence is so long that its arcs are not scored, and labels alone decide."""


@final
class Model:
    """Puts trees and tags over words. Many threads may use one at the same time; it is pickled by where it lies.

    `origin` is how to load it again: a function, the folder and the number of threads.
    """

    def __init__(  # noqa: PLR0913 - a model is all of these
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
        self.scorer = scorer
        self.name = name
        self.hash = hash
        self.origin = origin
        self._decoder = tree_decoder(description, labels)
        wanted = self._demand_columns(description.decoding.columns)
        self._demand_weights(description.decoding.lexicon_weights)
        self._graphs = None
        if labels.graphs is not None and GRAPH in wanted:
            self._graphs = _graph_decoder(description, labels.graphs)
        self._wants_trees = TREE in wanted or self._graphs is not None  # graphs lie on trees
        self._columns = tuple(name for name in wanted if name not in {TREE, GRAPH})
        self._relations_speak = (
            self._wants_trees
            and not self._decoder.needs_upos
            and labels.combinations is not None
            and description.decoding.tag_relation_weight > 0
        )
        looked_at = labels.lemmas.needs if "lemma" in self._columns and labels.lemmas is not None else ()
        by_upos = self._wants_trees and self._decoder.needs_upos
        needed = {*self._columns, *looked_at, *(("upos",) if by_upos else ())}
        numbers = {number for number, (name, _) in enumerate(labels.tags) if column_of(name) in needed}
        lemma = number_of_lemmas(labels.tags)
        self._rules = None  # of lemmas, if they are scored for words alone that cannot be looked up
        if lemma in numbers and labels.lemmas is not None and not description.decoding.tag_confidence:
            self._rules = lemma
            numbers.remove(lemma)
        self._outputs = tuple(name for name in scorer.heads.outputs if self._needs(name, numbers))

    def _needs(self, output: str, tags: set[int]) -> bool:
        """Tell whether an output of the networks is needed, given the numbers of the tag sets that are."""
        if output.startswith(TAGS):
            return int(output[len(TAGS) :]) in tags
        return self._graphs is not None if output.startswith(GRAPHS) else self._wants_trees

    def _demand_columns(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [name for name in asked if name not in self.predicts]
        if unknown:
            raise ConfigError(
                "decoding",
                "columns",
                f"has {unknown[0]!r}, which this model does not predict; expected some of: {', '.join(self.predicts)}",
            )
        return tuple(name for name in self.predicts if name in asked) if asked else self.predicts

    def _demand_weights(self, weights: tuple[float, ...]) -> None:
        expected = 2 * len(self.labels.tags)
        if weights and len(weights) != expected:
            raise ConfigError(
                "decoding", "lexicon_weights", f"has {len(weights)} numbers; expected two for each tag set: {expected}"
            )

    @property
    def predicts(self) -> tuple[str, ...]:
        """What the model can predict: columns of tags, `tree`, which is heads and relations, and perhaps `graph`."""
        return (*self.tags, TREE, *(() if self.labels.graphs is None else (GRAPH,)))

    @property
    def tags(self) -> tuple[str, ...]:
        """The columns of tags that the model can predict."""
        return tuple(dict.fromkeys(column_of(name) for name, _ in self.labels.tags))

    def __reduce__(self) -> tuple[Any, ...]:
        if self.origin is None:
            raise TypeError("a model that was not loaded from a folder cannot be pickled; save it first")
        return _loaded_again, (*self.origin, asdict(self.description.decoding))

    @property
    def decoding(self) -> DecodingOptions:
        """How scores become trees."""
        return self.description.decoding

    def with_decoding(self, **changes: Any) -> Model:  # noqa: ANN401 - the fields of `DecodingOptions`
        """Decode otherwise: the same model with other options of decoding.

        Weights of probabilities were fitted to what one decoder finds: another has none, unless they are given.
        """
        others = (
            {} if changes.get("decoder", self.decoding.decoder) == self.decoding.decoder else {"calibration": PLAIN}
        )
        decoding = checked(DecodingOptions, {**asdict(self.decoding), **others, **changes}, "decoding")
        return Model(
            replace(self.description, decoding=decoding),
            self.labels,
            self.scorer,
            name=self.name,
            hash=self.hash,
            origin=self.origin,
        )

    @property
    def path(self) -> Path | None:
        """The folder that it was loaded from, if any."""
        return None if self.origin is None else self.origin[1]

    @property
    def has_probabilities(self) -> bool:
        """Whether the model's trees have probabilities."""
        return self._decoder.has_probabilities

    @property
    def has_graphs(self) -> bool:
        """Whether the model gives enhanced graphs beside trees."""
        return self._graphs is not None

    def parse(self, treebank: Treebank) -> Treebank:
        """Put the model's trees, and tags and graphs if it has any, over the words of a treebank."""
        if not treebank.words:
            return treebank
        self._look_at_lengths(treebank)
        tagged: list[tuple[dict[str, Column], dict[str, Shares]]] = []
        trees: list[ParsedTrees] = []
        graphs: list[Graphs] = []
        for part, scores in self.scores(treebank):
            late = self._relations_speak and len(part.forms) < 2 * PIECE  # of more words, tags' scores are not kept
            if not late:
                tagged.append(self._tagged(scores, part.forms, None))
                scores.forget_tags()
            if self._wants_trees:
                upos = part.upos if late else tagged[-1][0].get("upos", part.upos)
                trees.append(self._decoder.decode(scores, part.offsets, upos))
            if late:
                tagged.append(self._tagged(scores, part.forms, trees[-1].relations))
            if self._graphs is not None:
                words = Treebank.of_words(part.forms, Offsets(part.offsets)).with_columns(tagged[-1][0])
                graphs.append(self._graphs.decode(scores, words, trees[-1]))
        return self._annotated(treebank, tagged, trees, graphs)

    def _annotated(
        self,
        treebank: Treebank,
        tagged: list[tuple[dict[str, Column], dict[str, Shares]]],
        trees: list[ParsedTrees],
        graphs: list[Graphs],
    ) -> Treebank:
        """Put what was found for the parts of a treebank over all of it."""
        parsed = treebank
        if self._columns:
            parsed = parsed.with_columns({name: joined([one[name] for one, _ in tagged]) for name in self._columns})
        if trees:
            heads = np.concatenate([one.heads for one in trees])
            parsed = parsed.with_trees(heads, joined([one.relations for one in trees]))
        if graphs:
            parsed = parsed.with_graphs(type(graphs[0]).concat(graphs))
        if not trees and not self.decoding.tag_confidence:
            return parsed
        return parsed.with_probabilities(self._probabilities(treebank, trees, [shares for _, shares in tagged]))

    def _tagged(
        self, scores: Scores, forms: Column, relations: Column | None
    ) -> tuple[dict[str, Column], dict[str, Shares]]:
        """Find the tags of words, by their relations if those are known, and if asked for how likely they are."""
        options = self.decoding
        return tag_columns(
            self.labels,
            scores.tags(),
            forms,
            options.lexicon_weights,
            relations=relations,
            relation_weight=options.tag_relation_weight,
            rules=None if self._rules is None else partial(scores.tags_of, self._rules),
            shares=options.tag_confidence,
        )

    def _probabilities(
        self, treebank: Treebank, trees: list[ParsedTrees], tags: list[dict[str, Shares]]
    ) -> Probabilities:
        """Say how likely what was predicted is, as far as that was asked; of a tree that was given, what was known."""
        given = [one.probabilities for one in trees if one.probabilities is not None]
        found = Probabilities() if trees else treebank.probabilities or Probabilities()
        if given:
            arcs, whole = (np.concatenate(parts) for parts in zip(*given, strict=True))
            found = Probabilities(arcs, whole)
        asked = self._columns if self.decoding.tag_confidence else ()
        return replace(found, tags={name: np.concatenate([one[name] for one in tags]) for name in asked})

    def scores(self, treebank: Treebank) -> Iterator[tuple[Part, Scores]]:
        """Score the words of a treebank for what is to be predicted, piece by piece."""
        forms = treebank.column("form")
        starts = treebank.offsets.starts
        lengths = treebank.lengths.astype(np.int64)
        arcs = starts_of(lengths * (lengths + 1))
        longest = self.decoding.longest_with_arcs
        alone = [*np.flatnonzero(treebank.lengths > longest).tolist(), len(treebank)]  # pieces of their own
        first = 0
        while first < len(treebank):
            long = alone[int(np.searchsorted(alone, first))]
            full = int(np.searchsorted(starts, starts[first] + PIECE))
            many = int(np.searchsorted(arcs, arcs[first] + PIECE_ARCS, side="right")) - 1
            last = max(min(full, many, long), first + 1)
            part = Part(treebank, forms, first, last)
            outputs = self._outputs
            if first == long and self.description.heads.labels:  # which decide alone
                outputs = tuple(name for name in outputs if not name.startswith("arc_"))
            yield part, self.scorer.scores(part.forms, part.offsets, self.decoding.batch, outputs)
            first = last

    def _look_at_lengths(self, treebank: Treebank) -> None:
        """Refuse sentences that are too long; warn of those whose arcs are too many to score, if labels decide."""
        longest_sentence = int(treebank.lengths.argmax())
        words = int(treebank.lengths[longest_sentence])
        if words > LONGEST:
            problem = f"the sentence has {words:,} words; at most {LONGEST:,} are parsed: cut it"
            raise FormatError(treebank.file, treebank.line(longest_sentence), "too-long", problem)
        by_labels = self.description.heads.labels
        longest = self.decoding.longest_with_arcs if by_labels else LONGEST_BY_ARCS
        if not self._decoder.needs_arcs or not self._wants_trees:
            return
        for sentence in np.flatnonzero(treebank.lengths > longest).tolist():
            file, line, words = treebank.file, treebank.line(sentence), int(treebank.lengths[sentence])
            problem = f"the sentence has {words:,} words; arcs are scored up to {longest:,}"
            if not by_labels:
                raise FormatError(file, line, "too-long", f"{problem}, and this model has nothing else: cut it")
            warnings.warn(f"{file}:{line}: {problem}: labels alone decide", LongSentenceWarning, stacklevel=3)

    def calibrated(self, gold: Treebank) -> Model:
        """Find on sentences of known trees how probabilities must be taken to be right as often as they say.

        Likewise what the scores of arcs count beside those of labels, and a lexicon and relations beside those of tags,
        for most of them to be right, and for graphs the thresholds by which most of their arcs are found.
        """
        counts_words = self.labels.lexicon is not None
        combines = self.labels.combinations is not None
        if not gold.words or not (self.has_probabilities or self._graphs is not None or counts_words or combines):
            return self
        scores = self.scorer.scores(gold.column("form"), gold.offsets.array, self.decoding.batch)
        found = self.with_decoding(**asdict(self._decoder.calibrated(gold, scores))) if self.has_probabilities else self
        if counts_words:
            weights = fitted_weights(self.labels, scores.tags(), gold)
            found = found.with_decoding(lexicon_weights=weights)
        if not combines and self._graphs is None:
            return found
        trees = tree_decoder(found.description, self.labels).decode(scores, gold.offsets.array, gold.upos)
        if combines:
            given = found.decoding.lexicon_weights
            weight = fitted_relation_weight(self.labels, scores.tags(), gold, trees.relations, given)
            found = found.with_decoding(tag_relation_weight=weight)
        if self._graphs is None:
            return found
        forms = gold.column("form")
        tags, _ = found._tagged(scores, forms, trees.relations)  # noqa: SLF001 - of the same class
        words = Treebank.of_words(forms, gold.offsets).with_columns(tags)
        fitted = self._graphs.fitted(gold, scores, words, trees)
        names = ("graph_weights", "graph_thresholds", "graph_rules")
        return found.with_decoding(**{name: getattr(fitted, name) for name in names})


class Part:
    """Some sentences of a treebank, one after the other."""

    def __init__(self, treebank: Treebank, forms: Column, first: int, last: int) -> None:
        self.words = slice(*treebank.offsets.array[[first, last]].tolist())
        self.forms = forms[self.words]
        self.offsets = treebank.offsets.between(first, last).array
        self.heads = treebank.heads[self.words]
        self.upos = None if treebank.upos is None else treebank.upos[self.words]


def demand_decoders(description: Description, labels: LabelSet) -> None:
    """Refuse a model whose scores could not be decoded in the way that it asks for."""
    tree_decoder(description, labels)
    if labels.graphs is not None:
        _graph_decoder(description, labels.graphs)


def _graph_decoder(description: Description, names: GraphNames) -> GraphDecoder:
    """Load what graphs need only for models that have them."""
    from ropewalk.models.graph_decoding import GraphDecoder

    return GraphDecoder(description, names)


def _loaded_again(load: Callable[[Path, int], Model], path: Path, threads: int, decoding: dict[str, Any]) -> Model:
    return load(path, threads).with_decoding(**decoding)
