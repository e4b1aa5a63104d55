"""Decoding of enhanced graphs from a model's scores and from the basic trees of the same words.

There are four kinds of evidence for an arc: its own log-odds; the labels, which spell graphs; the basic tree; and the
arcs that rules derive from that tree. The evidence of labels is the fraction of label sequences that spell the arc,
among `DRAWN` sequences sampled from the labels' probabilities. A logistic function turns the evidence into the
probability of the arc, with weights that are fitted to gold graphs. The arcs above a threshold form the graph. A word
that no path from the root reaches then gets its basic head, so that every graph is connected. Where graph and tree
connect the same two words, their relations agree except for subtypes.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import frozen_array, frozen_ints
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import is_root_relation
from ropewalk.decoding.graphs import best_labels, can_be_exact
from ropewalk.encodings.graphs import (
    BETWEEN_RELATIONS,
    NO_ARC,
    GraphLabels,
    get,
    graphs_of_pairs,
    joined_relations,
)
from ropewalk.errors import ConfigError
from ropewalk.formats import deps
from ropewalk.models.calibration import fitted_weights, logistic
from ropewalk.models.description import GRAPH_DECODERS
from ropewalk.morphology.enhancement import by_rules
from ropewalk.scoring.graph_scores import between_words

if TYPE_CHECKING:
    from ropewalk.core.arrays import Ints
    from ropewalk.core.graphs import Graphs
    from ropewalk.encodings.graphs import GraphEncoding
    from ropewalk.models.description import DecodingOptions, Description
    from ropewalk.models.label_sets import GraphNames
    from ropewalk.models.scorer import Floats, GroupScores, Numbers
    from ropewalk.models.tree_decoding import ParsedTrees
    from ropewalk.treebank.treebank import Treebank

DRAWN: Final = 16  # label sequences that are sampled for each sentence
LIKELIEST: Final = 8  # labels of each word that are sampled from
UNLIKELY: Final = -4.0  # below these log-odds an arc is no candidate without other evidence
THRESHOLDS: Final = np.arange(0.1, 0.91, 0.02)
RULE_WEIGHTS: Final = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
WIDE: Final = 1 << 32  # more than the words of any sentence

Float64s = npt.NDArray[np.float64]


class Candidates(NamedTuple):
    """Candidate arcs of graphs, with the evidence for each.

    `words` are the dependents, as indices over all words. `heads` are positions in the sentence, 0 for the root.
    `evidence` is [arcs, 5]. Its columns are: 1; the arc's score, which is its log-odds; the log-odds of the fraction of
    sampled label sequences that spell the arc; 1 if the basic tree has the arc, else -1; 1 if rules derive it, else -1.
    """

    words: Numbers
    heads: Numbers
    evidence: Float64s


def graph_decoders(description: Description, names: GraphNames) -> list[str]:
    """Return the graph decoders that a model supports: those for which it has scores and a suitable encoding."""
    shape = description.graphs
    able = {
        "joint": True,
        "exact": shape.labels and can_be_exact(get(names.encoding)),
        "greedy": shape.labels,
        "arcs": shape.arcs,
    }
    return [name for name in GRAPH_DECODERS if able[name]]


@final
class GraphDecoder:
    """Decoder of enhanced graphs.

    The option `graph_decoder` names the evidence that decides: label scores (`exact`, `greedy`), arc scores (`arcs`),
    or all scores of the model with the basic tree and the arcs that rules derive from it (`joint`). Raise `ConfigError`
    if the model does not support this option.
    """

    def __init__(self, description: Description, names: GraphNames) -> None:
        shape, options = description.graphs, description.decoding
        self._names = names
        self._options = options
        self._has_arcs = shape.arcs
        self._encoding: GraphEncoding | None = get(names.encoding) if shape.labels else None
        supported = graph_decoders(description, names)
        if options.graph_decoder not in supported:
            problem = f"is {options.graph_decoder!r}, which this model's scores or its graph encoding do not support"
            raise ConfigError("decoding", "graph_decoder", f"{problem}; expected one of: {', '.join(supported)}")
        for name, size in (("graph_weights", 5), ("graph_thresholds", 2)):
            if len(getattr(options, name)) != size:
                raise ConfigError("decoding", name, f"has {len(getattr(options, name))} numbers; expected {size}")
        first = [name.partition(BETWEEN_RELATIONS)[0] for name in names.relations]
        self._rooted = np.array(list(map(is_root_relation, first)), dtype=np.bool_)  # relations of arcs from node 0
        self._pads = np.array([name == NO_ARC for name in names.relations], dtype=np.bool_)

    def decode(self, scores: GroupScores, words_alone: Treebank, trees: ParsedTrees) -> Graphs:
        """Return the enhanced graphs of sentences whose basic trees, `trees`, are already decoded.

        `words_alone` is a treebank with only the forms and predicted tags of the same words.
        """
        offsets = words_alone.offsets
        ruled = self._ruled(words_alone, trees)
        by_labels = self._options.graph_decoder in {"exact", "greedy"}
        arc_probabilities: Float64s | None = None
        tree_probabilities: Float64s | None = None
        if by_labels:
            words, heads = self._spelled(scores, offsets)
        else:
            candidates = self._candidates(scores, offsets, trees.heads, ruled)
            probabilities = self._probabilities(candidates)
            chosen = probabilities >= self._threshold
            words, heads = candidates.words[chosen], candidates.heads[chosen]
            arc_probabilities = probabilities[chosen]
            tree_probabilities = probabilities[candidates.evidence[:, 3] > 0]
        relations = self._relations(scores, words, heads, trees, ruled, padded=by_labels)
        kept = np.flatnonzero(np.array([name != NO_ARC for name in relations.names], dtype=np.bool_)[relations.ids])
        words, heads, relations = words[kept], heads[kept], relations.take(kept)
        joined = _reached(words, offsets.head_rows(words, heads), offsets.total)
        joined[words[trees.heads[words] == heads]] = True  # through the basic tree, which reaches every word
        lost = np.flatnonzero(~joined)
        basic = trees.heads[lost].astype(np.int64)
        more = self._relations(scores, lost, basic, trees, ruled, padded=False)
        if arc_probabilities is not None and tree_probabilities is not None:
            arc_probabilities = np.concatenate([arc_probabilities[kept], tree_probabilities[lost]])
        words, heads = np.concatenate([words, lost]), np.concatenate([heads, basic])
        order = np.lexsort((heads, words))
        return graphs_of_pairs(
            offsets,
            np.zeros(offsets.total, dtype=np.bool_),
            words[order],
            heads[order].astype(np.int32),
            Column.concat([relations, more]).take(order),
            arc_probabilities[order] if arc_probabilities is not None and self._options.confidence else None,
        )

    def fitted(self, gold: Treebank, scores: GroupScores, words_alone: Treebank, trees: ParsedTrees) -> DecodingOptions:
        """Return the options of decoding with the weights and thresholds of graphs fitted to the graphs of `gold`.

        `scores`, `words_alone` and `trees` are predictions for the words of `gold`, as in `decode`.
        """
        graphs = between_words(deps.read(gold))
        ruled = _Ruled.of(words_alone, trees)
        candidates = self._candidates(scores, gold.offsets, trees.heads, ruled)
        first = graphs.first_of_pairs()
        gold_keys = graphs.arc_nodes[first] * WIDE + graphs.heads[first]
        right = np.isin(candidates.words * WIDE + candidates.heads, gold_keys).astype(np.float64)
        weights = fitted_weights(candidates.evidence, right, np.array(self._options.graph_weights))
        thresholds = (
            _threshold(logistic(candidates.evidence @ weights), right, len(gold_keys)),
            _threshold(logistic(candidates.evidence[:, 1]), right, len(gold_keys)),
        )
        rounded = tuple(round(float(weight), 4) for weight in weights)
        hits = np.flatnonzero(right)
        words, heads = candidates.words[hits], candidates.heads[hits]
        expected = joined_relations(graphs).take(np.searchsorted(gold_keys, words * WIDE + heads)).texts()

        def right_relations(weight: float) -> int:
            weighted = replace(ruled, weight=weight)
            guessed = self._relations(scores, words, heads, trees, weighted, padded=False).texts()
            return sum(map(str.__eq__, guessed, expected))

        return replace(
            self._options,
            graph_weights=rounded,
            graph_thresholds=thresholds,
            graph_rules=max(RULE_WEIGHTS, key=right_relations),
        )

    def _ruled(self, words_alone: Treebank, trees: ParsedTrees) -> _Ruled:
        """Return the arcs that rules derive from basic trees; none unless the decoder is `joint`."""
        if self._options.graph_decoder != "joint":
            return _Ruled(np.zeros(0, dtype=np.int64), Column(frozen_ints([]), ()))
        return _Ruled.of(words_alone, trees, self._options.graph_rules)

    @property
    def _threshold(self) -> float:
        return self._options.graph_thresholds[0 if self._options.graph_decoder == "joint" else 1]

    def _probabilities(self, candidates: Candidates) -> Float64s:
        if self._options.graph_decoder == "arcs":
            return logistic(candidates.evidence[:, 1])
        return logistic(candidates.evidence @ np.array(self._options.graph_weights))

    def _spelled(self, scores: GroupScores, offsets: Offsets) -> tuple[Numbers, Numbers]:
        """Return the dependents and the heads of the arcs that the best labels spell.

        The decoder `exact` searches for the best sequence of labels; `greedy` uses each word's best label.
        """
        assert self._encoding is not None  # noqa: S101 - as the description says
        (label_scores,) = scores.labels()
        ids: Numbers = label_scores.argmax(axis=1).astype(np.int64)
        if self._options.graph_decoder == "exact":
            ids = best_labels(self._encoding, label_scores, self._names.labels, offsets.array)
        words, heads = self._arcs(ids, offsets)
        return words, heads.astype(np.int64)

    def _arcs(self, ids: Numbers, offsets: Offsets) -> tuple[Numbers, Ints]:
        assert self._encoding is not None  # noqa: S101 - as the description says
        labels = GraphLabels(
            self._encoding.spec,
            offsets,
            np.zeros(len(ids), dtype=np.bool_),
            (Column(ids.astype(np.int32), self._names.labels),),
            Column(frozen_ints([]), ()),
            Offsets(np.zeros(len(ids) + 1, dtype=np.int32)),
        )
        words, heads, _ = self._encoding.arcs(labels)
        return words, heads

    def _candidates(self, scores: GroupScores, offsets: Offsets, tree: Ints, ruled: _Ruled) -> Candidates:
        """Return the candidate arcs: those of the basic tree, those of rules, likely ones, and those of sampled labels.

        `tree` has the basic head of each word. An arc is likely if its log-odds are above `UNLIKELY`.
        """
        lengths = offsets.lengths.astype(np.int64)
        in_tree = np.arange(offsets.total) * WIDE + tree
        keys = [in_tree, ruled.keys]
        logits: Floats = np.zeros(0, dtype=np.float32)
        rows: Numbers = np.zeros(0, dtype=np.int64)
        if self._has_arcs:
            logits = np.concatenate([table.ravel() for table in scores.arcs()])
            widths = np.repeat(lengths + 1, lengths)
            rows = np.cumsum(widths) - widths
            places = np.flatnonzero(logits > UNLIKELY)
            words = np.searchsorted(rows, places, side="right") - 1
            keys.append(words * WIDE + places - rows[words])
        drawn: Numbers = np.zeros(0, dtype=np.int64)
        if self._encoding is not None:
            drawn = self._drawn(scores.labels()[0], offsets)
            keys.append(drawn)
        every = np.unique(np.concatenate(keys))
        words, heads = every // WIDE, every % WIDE
        evidence = np.zeros((len(every), 5))
        evidence[:, 0] = 1.0
        if self._has_arcs:
            evidence[:, 1] = logits[rows[words] + heads]
        if self._encoding is not None:
            times = np.bincount(np.searchsorted(every, drawn), minlength=len(every))
            fraction = (times + 0.5) / (DRAWN + 1.0)
            evidence[:, 2] = np.log(fraction) - np.log1p(-fraction)
        for column, members in ((3, in_tree), (4, ruled.keys)):
            evidence[:, column] = np.where(np.isin(every, members), 1.0, -1.0)
        return Candidates(words, heads, evidence)

    def _drawn(self, scores: Floats, offsets: Offsets) -> Numbers:
        """Sample `DRAWN` label sequences for each sentence, and return the arcs that each spells.

        An arc is one number, word * `WIDE` + head; it occurs once for each sequence that spells it.
        """
        most = min(LIKELIEST, scores.shape[1])
        best = np.argpartition(-scores, most - 1, axis=1)[:, :most]
        probabilities = np.exp(np.take_along_axis(scores, best, axis=1).astype(np.float64))
        bounds = np.cumsum(probabilities, axis=1)
        bounds /= bounds[:, -1:]
        points = _points(offsets.longest)[offsets.positions() - 1]
        out = []
        for turn in range(DRAWN):
            picked = (bounds < points[:, turn, None]).sum(axis=1)
            words, heads = self._arcs(np.take_along_axis(best, picked[:, None], axis=1)[:, 0], offsets)
            out.append(words * WIDE + heads)
        return np.concatenate(out)

    def _relations(  # noqa: PLR0913 - the arcs, and all evidence for their relations
        self, scores: GroupScores, words: Numbers, heads: Numbers, trees: ParsedTrees, ruled: _Ruled, *, padded: bool
    ) -> Column:
        """Return the best relation of every arc from `heads[i]` to `words[i]`.

        Arcs from the root get root relations; no other arcs do. An arc of the basic tree keeps its relation there, but
        a subtype or further relations may be added. If rules derive the arc, their relation's score is raised by the
        weight of rules. Some encodings fill labels with arcs that do not exist, with the relation `NO_ARC`; only if
        `padded` may an arc get it.
        """
        if not len(words):
            return Column(frozen_ints([]), ())
        logs = scores.relations(heads, words).astype(np.float64)
        names = self._names.relations
        arcs, called = ruled.relations_of(words, heads, names)
        logs[arcs, called] += ruled.weight
        free = np.where((heads == 0)[:, None], self._rooted, ~self._rooted & ~self._pads)
        if padded:
            free |= self._pads
        in_tree = np.flatnonzero(trees.heads[words] == heads)
        basic = trees.relations.take(words[in_tree])
        agreeing = _agreeing(basic.names, names)
        free[in_tree] &= agreeing[basic.ids] | (padded & self._pads)
        ids = np.where(free, logs, -np.inf).argmax(axis=1)
        unnamed = in_tree[~free[in_tree].any(axis=1)]  # relations of the tree that no graph had in training
        ids[unnamed] = len(names) + trees.relations.ids[words[unnamed]]
        nameless = np.flatnonzero(~free.any(axis=1) & (ids < len(names)))
        ids[nameless] = len(names) + len(trees.relations.names)
        return Column(frozen_ints(ids), (*names, *trees.relations.names, "dep"))


@dataclass(frozen=True, slots=True, eq=False)
class _Ruled:
    """The arcs that rules derive from basic trees, with their relations, and the weight of these relations.

    An item of `keys` is an arc as one number, word * `WIDE` + head.
    """

    keys: Numbers
    relations: Column
    weight: float = 0.0

    @classmethod
    def of(cls, words_alone: Treebank, trees: ParsedTrees, weight: float = 0.0) -> _Ruled:
        graphs = by_rules(words_alone.with_trees(trees.heads, trees.relations))
        return cls(graphs.arc_nodes * WIDE + graphs.heads, graphs.relations, weight)

    def relations_of(self, words: Numbers, heads: Numbers, names: tuple[str, ...]) -> tuple[Numbers, Numbers]:
        """Find the arcs from `heads[i]` to `words[i]` that rules derive too.

        Return their indices i, and the indices in `names` of the relations that rules assign to them. Arcs with another
        relation are left out.
        """
        keys = words * WIDE + heads
        derived = np.flatnonzero(np.isin(keys, self.keys))
        known = {name: number for number, name in enumerate(names)}
        numbers = np.array([known.get(name, -1) for name in self.relations.names] or [-1], dtype=np.int64)
        called = numbers[self.relations.ids[np.searchsorted(self.keys, keys[derived])]]
        return derived[called >= 0], called[called >= 0]


@functools.lru_cache(maxsize=16)  # a model needs the same table for every batch
def _agreeing(basic: tuple[str, ...], names: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Return which relations of graphs agree with each relation of trees: a table of booleans [basic, names].

    They agree if they are equal or if the relation of the graph only adds a subtype. If it joins several relations, one
    must agree.
    """
    parts = [name.split(BETWEEN_RELATIONS) for name in names]
    table = [[any(part == name or part.startswith(f"{name}:") for part in each) for each in parts] for name in basic]
    return frozen_array(np.array(table, dtype=np.bool_).reshape(len(basic), len(names)))


def _points(longest: int) -> Float64s:
    """Return the quantiles at which labels are sampled, for each position in a sentence: [longest, `DRAWN`].

    Each row has evenly spread quantiles in random order. They are the same in every call, so that the graph of a
    sentence does not depend on other sentences.
    """
    even = (np.arange(DRAWN) + 0.5) / DRAWN
    random = np.random.default_rng(1)
    return np.array([random.permutation(even) for _ in range(longest)]).reshape(longest, DRAWN)


def _reached(words: Numbers, above: Numbers, count: int) -> npt.NDArray[np.bool_]:
    """Return for each of `count` words whether a path of arcs leads to it from the root.

    The arcs go from `above[i]` to `words[i]`, which are indices over all words; the root is -1.
    """
    out = np.zeros(count + 1, dtype=np.bool_)
    out[-1] = True  # the root
    before = 0
    while before != (now := int(out.sum())):
        before = now
        out[words[out[above]]] = True
    return out[:count]


def _threshold(probabilities: Float64s, right: Float64s, total: int) -> float:
    """Return the threshold of probability with the highest F1 of arcs; among equally good ones that nearest to 0.5.

    `right` is 1 for each candidate arc that is in the gold graphs, else 0; `total` is the number of gold arcs.
    """

    def f1(least: float) -> float:
        chosen = probabilities >= least
        return 2 * float(right[chosen].sum()) / max(int(chosen.sum()) + total, 1)

    best = max(THRESHOLDS.tolist(), key=lambda least: (f1(least), -abs(least - 0.5)))
    return round(float(best), 2)
