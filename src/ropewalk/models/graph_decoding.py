"""From scores to enhanced graphs, beside the basic trees of the same words.

There are four witnesses of an arc: its own log-odds, the labels, which spell graphs, the basic tree, and what rules
make of that tree. What the labels say of an arc is the share of sequences that spell it, among some that are drawn from
the labels' probabilities. A logistic function weighs the four into the probability of the arc, by weights found on
sentences of known graphs, and arcs above a threshold make the graph. A word that no path from the root reaches then
gets its basic head, so that every graph hangs together; and where graph and tree join the same two words, their
relations agree but for subtypes.
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
    from ropewalk.models.labels import GraphNames
    from ropewalk.models.scorer import Floats, Numbers, Scores
    from ropewalk.models.tree_decoding import ParsedTrees
    from ropewalk.treebank.treebank import Treebank

DRAWN: Final = 16  # label sequences of each sentence
LIKELIEST: Final = 8  # labels of each word that are drawn from
UNLIKELY: Final = -4.0  # log-odds below which an arc needs another witness to be considered
THRESHOLDS: Final = np.arange(0.1, 0.91, 0.02)
RULE_WEIGHTS: Final = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
WIDE: Final = 1 << 32  # more than any sentence has words

Shares = npt.NDArray[np.float64]


class Candidates(NamedTuple):
    """Arcs that some witness speaks for: dependents counted from 0 over all words, heads within their sentences.

    `evidence` has five columns: 1, the arc's own log-odds, those of the labels, and 1 or -1 for the basic tree and for
    the rules.
    """

    words: Numbers
    heads: Numbers
    evidence: Shares


def graph_decoders(description: Description, names: GraphNames) -> list[str]:
    """Name the decoders of graphs that a model has."""
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
    """The graphs that labels spell, that arcs alone make, or both and the basic tree together."""

    def __init__(self, description: Description, names: GraphNames) -> None:
        shape, options = description.graphs, description.decoding
        self._names = names
        self._options = options
        self._has_arcs = shape.arcs
        self._encoding: GraphEncoding | None = get(names.encoding) if shape.labels else None
        if options.graph_decoder not in graph_decoders(description, names):
            raise ConfigError(
                "decoding",
                "graph_decoder",
                f"is {options.graph_decoder!r}, which needs what this model does not score, or another encoding of "
                f"graphs; expected one of: {', '.join(graph_decoders(description, names))}",
            )
        for name, size in (("graph_weights", 5), ("graph_thresholds", 2)):
            if len(getattr(options, name)) != size:
                raise ConfigError("decoding", name, f"has {len(getattr(options, name))} numbers; expected {size}")
        self._rooted = np.array([_begins_at_root(name) for name in names.relations], dtype=np.bool_)
        self._pads = np.array([name == NO_ARC for name in names.relations], dtype=np.bool_)

    def decode(self, scores: Scores, words_alone: Treebank, trees: ParsedTrees) -> Graphs:
        """Find the graphs of sentences whose basic trees are known, and forms and predicted tags, but nothing else."""
        offsets = words_alone.offsets
        ruled = self._ruled(words_alone, trees)
        by_labels = self._options.graph_decoder in {"exact", "greedy"}
        shares: Shares | None = None
        of_tree: Shares | None = None
        if by_labels:
            words, heads = self._spelled(scores, offsets.array)
        else:
            found = self._candidates(scores, offsets.array, trees.heads, ruled)
            probabilities = self._probabilities(found)
            chosen = probabilities >= self._threshold
            words, heads, shares = found.words[chosen], found.heads[chosen], probabilities[chosen]
            of_tree = probabilities[found.evidence[:, 3] > 0]
        relations = self._relations(scores, words, heads, trees, ruled, padded=by_labels)
        kept = np.flatnonzero(np.array([name != NO_ARC for name in relations.names], dtype=np.bool_)[relations.ids])
        words, heads, relations = words[kept], heads[kept], relations.take(kept)
        joined = _reached(words, heads, offsets.array)
        joined[words[trees.heads[words] == heads]] = True  # by the basic tree, which reaches every word
        lost = np.flatnonzero(~joined)
        basic = trees.heads[lost].astype(np.int64)
        more = self._relations(scores, lost, basic, trees, ruled, padded=False)
        if shares is not None and of_tree is not None:
            shares = np.concatenate([shares[kept], of_tree[lost]])
        words, heads = np.concatenate([words, lost]), np.concatenate([heads, basic])
        order = np.lexsort((heads, words))
        return graphs_of_pairs(
            offsets,
            np.zeros(offsets.total, dtype=np.bool_),
            words[order],
            heads[order].astype(np.int32),
            Column.concat([relations, more]).take(order),
            shares[order] if shares is not None and self._options.confidence else None,
        )

    def fitted(self, gold: Treebank, scores: Scores, words_alone: Treebank, trees: ParsedTrees) -> DecodingOptions:
        """Find the weights and thresholds by which most arcs of known graphs are found."""
        graphs = between_words(deps.read(gold))
        ruled = _Ruled.of(words_alone, trees)
        found = self._candidates(scores, gold.offsets.array, trees.heads, ruled)
        first = graphs.first_of_pairs()
        known = graphs.arc_nodes[first] * WIDE + graphs.heads[first]
        right = np.isin(found.words * WIDE + found.heads, known).astype(np.float64)
        start = np.array(self._options.graph_weights)
        weights = fitted_weights(found.evidence, right, start)
        thresholds = (
            _threshold(logistic(found.evidence @ weights), right, len(known)),
            _threshold(logistic(found.evidence[:, 1]), right, len(known)),
        )
        rounded = tuple(round(float(weight), 4) for weight in weights)
        hits = np.flatnonzero(right)
        words, heads = found.words[hits], found.heads[hits]
        joined = joined_relations(graphs)
        wanted = joined.take(np.searchsorted(known, words * WIDE + heads)).texts()

        def right_relations(weight: float) -> int:
            given = replace(ruled, weight=weight)
            guessed = self._relations(scores, words, heads, trees, given, padded=False).texts()
            return sum(one == other for one, other in zip(guessed, wanted, strict=True))

        return replace(
            self._options,
            graph_weights=rounded,
            graph_thresholds=thresholds,
            graph_rules=max(RULE_WEIGHTS, key=right_relations),
        )

    def _ruled(self, words_alone: Treebank, trees: ParsedTrees) -> _Ruled:
        """Give what rules make of trees; only the joint decoder asks for it."""
        if self._options.graph_decoder != "joint":
            return _Ruled(np.zeros(0, dtype=np.int64), Column(frozen_ints([]), ()))
        return _Ruled.of(words_alone, trees, self._options.graph_rules)

    @property
    def _threshold(self) -> float:
        return self._options.graph_thresholds[0 if self._options.graph_decoder == "joint" else 1]

    def _probabilities(self, found: Candidates) -> Shares:
        if self._options.graph_decoder == "arcs":
            return logistic(found.evidence[:, 1])
        return logistic(found.evidence @ np.array(self._options.graph_weights))

    def _spelled(self, scores: Scores, offsets: Ints) -> tuple[Numbers, Numbers]:
        """Give the arcs that the best labels spell."""
        assert self._encoding is not None  # noqa: S101 - as the description says
        found = scores.graph_labels()
        ids: Numbers = found.argmax(axis=1).astype(np.int64)
        if self._options.graph_decoder == "exact":
            ids = best_labels(self._encoding, found, self._names.labels, offsets)
        words, heads = self._arcs(ids, offsets)
        return words, heads.astype(np.int64)

    def _arcs(self, ids: Numbers, offsets: Ints) -> tuple[Numbers, Ints]:
        assert self._encoding is not None  # noqa: S101 - as the description says
        labels = GraphLabels(
            self._encoding.spec,
            Offsets(offsets),
            np.zeros(len(ids), dtype=np.bool_),
            (Column(ids.astype(np.int32), self._names.labels),),
            Column(frozen_ints([]), ()),
            Offsets(np.zeros(len(ids) + 1, dtype=np.int32)),
        )
        words, heads, _ = self._encoding.arcs(labels)
        return words, heads

    def _candidates(self, scores: Scores, offsets: Ints, tree: Ints, ruled: _Ruled) -> Candidates:
        """Collect the arcs that any witness speaks for, and what each says; those of the tree are among them."""
        count = int(offsets[-1])
        lengths = np.diff(offsets).astype(np.int64)
        in_tree = np.arange(count) * WIDE + tree
        keys = [in_tree, ruled.keys]
        logits: Floats = np.zeros(0, dtype=np.float32)
        rows: Numbers = np.zeros(0, dtype=np.int64)
        if self._has_arcs:
            logits = np.concatenate([one.ravel() for one in scores.graph_arcs()])
            widths = np.repeat(lengths + 1, lengths)
            rows = np.cumsum(widths) - widths
            places = np.flatnonzero(logits > UNLIKELY)
            words = np.searchsorted(rows, places, side="right") - 1
            keys.append(words * WIDE + places - rows[words])
        drawn: Numbers = np.zeros(0, dtype=np.int64)
        if self._encoding is not None:
            drawn = self._drawn(scores.graph_labels(), offsets)
            keys.append(drawn)
        every = np.unique(np.concatenate(keys))
        words, heads = every // WIDE, every % WIDE
        evidence = np.zeros((len(every), 5))
        evidence[:, 0] = 1.0
        if self._has_arcs:
            evidence[:, 1] = logits[rows[words] + heads]
        if self._encoding is not None:
            times = np.bincount(np.searchsorted(every, drawn), minlength=len(every))
            share = (times + 0.5) / (DRAWN + 1.0)
            evidence[:, 2] = np.log(share) - np.log1p(-share)
        for place, held in ((3, in_tree), (4, ruled.keys)):
            evidence[:, place] = np.where(np.isin(every, held), 1.0, -1.0)
        return Candidates(words, heads, evidence)

    def _drawn(self, scores: Floats, offsets: Ints) -> Numbers:
        """Draw label sequences, and list the arcs of each as word and head in one number."""
        most = min(LIKELIEST, scores.shape[1])
        best = np.argpartition(-scores, most - 1, axis=1)[:, :most]
        shares = np.exp(np.take_along_axis(scores, best, axis=1).astype(np.float64))
        bounds = np.cumsum(shares, axis=1)
        bounds /= bounds[:, -1:]
        lengths = np.diff(offsets)
        inner = np.arange(int(offsets[-1])) - np.repeat(offsets[:-1], lengths)
        points = _points(int(lengths.max(initial=0)))[inner]
        out = []
        for turn in range(DRAWN):
            picked = (bounds < points[:, turn, None]).sum(axis=1)
            words, heads = self._arcs(np.take_along_axis(best, picked[:, None], axis=1)[:, 0], offsets)
            out.append(words * WIDE + heads)
        return np.concatenate(out)

    def _relations(  # noqa: PLR0913 - the arcs, and all that is known of them
        self, scores: Scores, words: Numbers, heads: Numbers, trees: ParsedTrees, ruled: _Ruled, *, padded: bool
    ) -> Column:
        """Choose the relation of every arc: that of a root from node 0 alone, and the tree's where that has the arc.

        What rules call an arc is preferred by their weight. Only if `padded` it may be `no arc`, by which some
        encodings mark arcs that only fill a place.
        """
        if not len(words):
            return Column(frozen_ints([]), ())
        found = scores.graph_relations(words, heads).astype(np.float64)
        names = self._names.relations
        arcs, called = ruled.relations_of(words, heads, names)
        found[arcs, called] += ruled.weight
        free = np.where((heads == 0)[:, None], self._rooted, ~self._rooted & ~self._pads)
        if padded:
            free |= self._pads
        in_tree = np.flatnonzero(trees.heads[words] == heads)
        basic = trees.relations.take(words[in_tree])
        agreeing = _agreeing(basic.names, names)
        free[in_tree] &= agreeing[basic.ids] | (padded & self._pads)
        ids = np.where(free, found, -np.inf).argmax(axis=1)
        unnamed = in_tree[~free[in_tree].any(axis=1)]  # the tree's relations that no graph had
        ids[unnamed] = len(names) + trees.relations.ids[words[unnamed]]
        nameless = np.flatnonzero(~free.any(axis=1) & (ids < len(names)))
        ids[nameless] = len(names) + len(trees.relations.names)
        return Column(frozen_ints(ids), (*names, *trees.relations.names, "dep"))


@dataclass(frozen=True, slots=True, eq=False)
class _Ruled:
    """The arcs that rules make of basic trees, word and head in one number, with their relations."""

    keys: Numbers
    relations: Column
    weight: float = 0.0

    @classmethod
    def of(cls, words_alone: Treebank, trees: ParsedTrees, weight: float = 0.0) -> _Ruled:
        graphs = by_rules(words_alone.with_trees(trees.heads, trees.relations))
        return cls(graphs.arc_nodes * WIDE + graphs.heads, graphs.relations, weight)

    def relations_of(self, words: Numbers, heads: Numbers, names: tuple[str, ...]) -> tuple[Numbers, Numbers]:
        """Find those of some arcs that rules make too, and the numbers of the relations that they give them."""
        keys = words * WIDE + heads
        held = np.flatnonzero(np.isin(keys, self.keys))
        known = {name: number for number, name in enumerate(names)}
        numbers = np.array([known.get(name, -1) for name in self.relations.names] or [-1], dtype=np.int64)
        called = numbers[self.relations.ids[np.searchsorted(self.keys, keys[held])]]
        return held[called >= 0], called[called >= 0]


@functools.lru_cache(maxsize=16)  # a model asks for the same again and again
def _agreeing(basic: tuple[str, ...], names: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Tell for each relation of a tree which of a graph are the same, perhaps with a subtype: [basic, names]."""
    parts = [name.split(BETWEEN_RELATIONS) for name in names]
    table = [[any(part == one or part.startswith(f"{one}:") for part in options) for options in parts] for one in basic]
    return frozen_array(np.array(table, dtype=np.bool_).reshape(len(basic), len(names)))


def _points(longest: int) -> Shares:
    """Give for each place in a sentence the points at which labels are drawn there: evenly spread, in a random order.

    They are the same for every sentence, so that its graph does not depend on what else is parsed.
    """
    even = (np.arange(DRAWN) + 0.5) / DRAWN
    random = np.random.default_rng(1)
    return np.array([random.permutation(even) for _ in range(longest)]).reshape(longest, DRAWN)


def _reached(words: Numbers, heads: Numbers, offsets: Ints) -> npt.NDArray[np.bool_]:
    """Tell which words some path of arcs from the root leads to."""
    count = int(offsets[-1])
    starts = offsets[:-1].astype(np.int64)
    above = np.where(heads == 0, count, starts[np.searchsorted(offsets, words, side="right") - 1] + heads - 1)
    out = np.zeros(count + 1, dtype=np.bool_)
    out[count] = True
    before = 0
    while before != (now := int(out.sum())):
        before = now
        out[words[out[above]]] = True
    return out[:count]


def _begins_at_root(name: str) -> bool:
    """Tell whether a class of relations is that of arcs from node 0."""
    return is_root_relation(name.partition(BETWEEN_RELATIONS)[0])


def _threshold(probabilities: Shares, right: Shares, total: int) -> float:
    """Find the threshold of the best F1, the middlest of several, given how many arcs there are to be found."""

    def f1(least: float) -> float:
        chosen = probabilities >= least
        return 2 * float(right[chosen].sum()) / max(int(chosen.sum()) + total, 1)

    best = max(THRESHOLDS.tolist(), key=lambda least: (f1(least), -abs(least - 0.5)))
    return round(float(best), 2)
