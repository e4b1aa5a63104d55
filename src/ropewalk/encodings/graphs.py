"""Encodings of graphs: they write graphs as one label per word or empty node, and read these labels.

An encoding of graphs has the name of the encoding of trees with the same kind of labels, if there is one. Examples:
`optimal-nonprojective`, `brackets(planes=3)`, `six-bit(planes=2,policy=refuse)`.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, Final, final

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import Bools, Ints, frozen_ints
from ropewalk.core.columns import Column
from ropewalk.core.graphs import Graph, Graphs, Longs
from ropewalk.core.ragged import Offsets
from ropewalk.encodings.arc_encodings import ArcEncoding
from ropewalk.encodings.labels import BETWEEN_ARCS, FAULTS, NOTHING, DecodedGraphs, Faults, GraphLabels, demand_labels
from ropewalk.encodings.registry import Registry
from ropewalk.errors import EncodingOptionError, MismatchError, UncoveredGraphError, demand_known, demand_type
from ropewalk.kernels.codes import GIVEN_TWICE, OUTSIDE, OWN_HEAD, RELATION_COUNT, ROOT_DEPENDENT

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from ropewalk.core.arcs import Arcs

__all__ = [
    "DEFAULT",
    "FAULTS",
    "DecodedGraphs",
    "GraphEncoding",
    "GraphLabels",
    "get",
    "known",
    "options_of",
    "register",
]

DEFAULT: Final = "optimal-nonprojective"
BETWEEN_RELATIONS: Final = " & "  # of one arc; no relation holds a space
NO_ARC: Final = "no arc"  # the relation of an arc that labels spell and the graph lacks


class GraphEncoding(ArcEncoding):
    """Base class for encodings of graphs as labels.

    A subclass is final. It must define three methods: `fitting` returns which arcs its labels can hold, `write_arcs`
    writes such arcs as labels, and `read_arcs` reads labels into arcs. Labels restore a graph exactly if they can hold
    all its arcs. With the policy `drop` the other arcs are left out; with `refuse` they raise an `UncoveredGraphError`.
    """

    policies: ClassVar[tuple[str, ...]] = ("drop", "refuse")
    repeats: ClassVar[bool] = False  # whether an arc may be spelled twice

    def __init__(self, *, policy: str = "drop") -> None:
        demand_known("policy", policy, self.policies)
        self.policy = policy

    @abstractmethod
    def fitting(self, arcs: Arcs) -> Bools:
        """Return for each arc whether the labels can hold it."""

    def padding(self, arcs: Arcs) -> tuple[Ints, Ints, Longs]:
        """Return arcs that the labels of `arcs` spell in addition, as heads, dependents and sentences; none by default.

        Such arcs fill positions that the labels cannot leave empty.
        """
        nothing = np.zeros(0, dtype=np.int32)
        return nothing, nothing, np.zeros(0, dtype=np.int64)

    @property
    def start(self) -> Hashable | None:
        """The state before the first label of a sentence and after the last, in which no bracket is open.

        It is None if decoding uses no states: labels do not depend on each other, or there would be too many states.
        """
        return None

    def advance(self, state: Hashable, text: str) -> Hashable | None:
        """Return the state after reading the label `text` in `state`; None if the label cannot follow."""
        raise NotImplementedError

    def possible(self, texts: Sequence[str], offsets: Offsets) -> Bools | None:
        """Return an array [words, texts]: whether each word can have each label, whatever the other labels are.

        Return None if that depends on the labels of other words.
        """
        return None

    @final
    def covers(self, graphs: Graphs) -> Bools:
        """Return for each graph whether its labels restore it exactly."""
        demand_type("what to encode", graphs, Graphs)
        arcs = graphs.arcs()
        return np.asarray(arcs.offsets.sums(~self.fitting(arcs)) == 0)

    @final
    def encode(self, graphs: Graphs | Graph) -> GraphLabels:
        """Return graphs as labels.

        Arcs that the labels cannot hold are left out or raise an `UncoveredGraphError`, depending on the policy.
        """
        demand_type("what to encode", graphs, Graphs, Graph)
        graphs = Graphs.of([graphs]) if isinstance(graphs, Graph) else graphs
        arcs = graphs.arcs()
        relations = joined_relations(graphs)
        fits = self.fitting(arcs)
        if not fits.all():
            if self.policy == "refuse":
                raise self._uncovered(arcs, fits)
            relations = relations.take(np.flatnonzero(fits))
            arcs = arcs.keep(fits)
        columns = tuple(column.narrow() for column in self.write_arcs(arcs))
        return GraphLabels(self.spec, graphs.offsets, graphs.empty, columns, *self._relations(graphs, arcs, relations))

    @final
    def arcs(self, labels: GraphLabels) -> tuple[Longs, Ints, Faults]:
        """Return the arcs that labels spell, as dependents and heads, and the faults of the labels.

        Dependents are node indices over all sentences, from 0. Heads count from 1 within the sentence; 0 is the root.
        Arcs are sorted by dependent, then head. Arcs that no graph can have, such as into the root, are left out.
        """
        demand_labels(labels, GraphLabels)
        spelled = self.read_arcs(labels.columns, labels.offsets)
        total = int(spelled.offsets[-1])
        heads, dependents = spelled.heads[:total], spelled.dependents[:total]
        faults = spelled.faults.faults(labels.offsets)
        sentences = np.repeat(np.arange(len(labels)), np.diff(spelled.offsets))
        starts = labels.offsets.starts.astype(np.int64)
        outside = (heads < 0) | (heads > labels.offsets.lengths[sentences])
        into_root = ~outside & (dependents == 0)
        own = ~outside & (heads == dependents)
        impossible = outside | into_root | own
        if impossible.any():
            faults = faults.plus(starts[sentences[outside]] + dependents[outside] - 1, OUTSIDE)
            for code, wrong in ((ROOT_DEPENDENT, into_root), (OWN_HEAD, own)):
                faults = faults.plus(starts[sentences[wrong]] + heads[wrong] - 1, code)
            heads, dependents, sentences = heads[~impossible], dependents[~impossible], sentences[~impossible]
        most = labels.offsets.longest + 1
        keys = np.sort((starts[sentences] + dependents - 1) * most + heads)
        first = np.ones(len(keys), dtype=np.bool_)
        first[1:] = keys[1:] != keys[:-1]
        if not first.all():
            if not self.repeats:
                faults = faults.plus(keys[~first] // most, GIVEN_TWICE)
            keys = keys[first]
        nodes = keys // most
        return nodes, (keys - nodes * most).astype(np.int32), faults

    @final
    def decode(self, labels: GraphLabels) -> DecodedGraphs:
        """Return the graphs that labels spell, and all faults of the labels, which may be wrong."""
        nodes, heads, faults = self.arcs(labels)
        relations, miscounted = _assigned(labels, nodes)
        graphs = graphs_of_pairs(labels.offsets, labels.empty, nodes, heads, relations)
        return DecodedGraphs(graphs, faults.plus(miscounted, RELATION_COUNT))

    @final
    def labels(
        self,
        sentences: Sequence[Sequence[str]],
        relations: Sequence[Sequence[str]] | None = None,
        empty: Sequence[Sequence[bool]] | None = None,
    ) -> GraphLabels:
        """Return `GraphLabels` made of texts: a sequence of labels for each sentence.

        `relations` has a text for each node, as `GraphLabels.relation_texts` returns them; by default it is `_`.
        `empty` marks the empty nodes; by default there are none.
        """
        offsets, columns = self._columns(sentences)
        many = offsets.total
        named = Column.of([NOTHING] * many if relations is None else [text for row in relations for text in row])
        marks = [False] * many if empty is None else [mark for row in empty for mark in row]
        for what, count in (("relations", len(named)), ("marks of empty nodes", len(marks))):
            if count != many:
                raise MismatchError(f"{many} labels but {count} {what}; each node needs one of each")
        return self.with_relations(offsets, np.array(marks, dtype=np.bool_), columns, named)

    @final
    def with_relations(
        self, offsets: Offsets, empty: Bools, columns: Sequence[Column], relations: Column
    ) -> GraphLabels:
        """Return `GraphLabels` made of columns of labels and a column of relations.

        `relations` has a text for each node, as `GraphLabels.relation_texts` returns them.
        """
        parts = [[] if text == NOTHING else text.split(BETWEEN_ARCS) for text in relations.names]
        names: dict[str, int] = {}
        flat = np.array([names.setdefault(name, len(names)) for row in parts for name in row], dtype=np.int32)
        relation_offsets, positions = Offsets.of_lengths([len(row) for row in parts] or [0]).select(
            relations.ids.astype(np.int64)
        )
        narrow = tuple(column.narrow() for column in columns)
        return GraphLabels(self.spec, offsets, empty, narrow, Column(flat[positions], tuple(names)), relation_offsets)

    def _uncovered(self, arcs: Arcs, fits: Bools) -> UncoveredGraphError:
        first = int(np.flatnonzero(~fits)[0])
        sentence = int(arcs.offsets.owners_of(np.array([first]))[0])
        where = arcs.offsets[sentence]
        wrong = ~fits[where]
        pairs = zip(arcs.heads[where][wrong].tolist(), arcs.dependents[where][wrong].tolist(), strict=True)
        return UncoveredGraphError(self.spec, sentence + 1, list(pairs))

    def _relations(self, graphs: Graphs, arcs: Arcs, relations: Column) -> tuple[Column, Offsets]:
        """Return the relations of all arcs that the labels spell, sorted by node and head, and the offsets of nodes.

        `relations` has those of `arcs`. An arc of `padding` that is not in `arcs` has the relation `no arc`.
        """
        starts = graphs.offsets.starts.astype(np.int64)
        nodes = starts[arcs.offsets.owners()] + arcs.dependents - 1
        more_heads, more_dependents, more_sentences = self.padding(arcs)
        if len(more_heads):
            more = starts[more_sentences] + more_dependents - 1
            most = int(graphs.lengths.max(initial=0)) + 1
            keys, more_keys = nodes * most + arcs.heads, more * most + more_heads
            new = np.unique(more_keys[~np.isin(more_keys, keys)])
            order = np.argsort(np.concatenate([keys, new]), kind="stable")
            padded = np.concatenate([relations.ids, np.full(len(new), len(relations.names), dtype=np.int32)])
            relations = Column(frozen_ints(padded[order]), (*relations.names, NO_ARC))
            nodes = np.concatenate([nodes, new // most])
        return relations, Offsets.of_lengths(np.bincount(nodes, minlength=graphs.nodes))


class PlanarGraphEncoding(GraphEncoding):
    """Base class for encodings of graphs in `planes` planes; a subclass sets the default and the largest number."""

    default_planes: ClassVar[int]
    most_planes: ClassVar[int]

    def __init__(self, *, policy: str = "drop", planes: int) -> None:
        super().__init__(policy=policy)
        if not 1 <= planes <= self.most_planes:
            raise EncodingOptionError(f"planes must be 1 to {self.most_planes}, found {planes}")
        self.planes = planes

    def options(self) -> dict[str, str | int]:
        """Return the options whose values differ from their defaults, by name."""
        return super().options() | ({} if self.planes == self.default_planes else {"planes": self.planes})


def joined_relations(graphs: Graphs) -> Column:
    """Return one text for each pair of head and dependent: the relations of its arcs, joined with ` & `."""
    first = graphs.first_of_pairs()
    if first.all():
        return graphs.relations
    positions = np.flatnonzero(first)
    counts = np.diff(np.append(positions, len(first)))
    names = {name: number for number, name in enumerate(graphs.relations.names)}
    ids = graphs.relations.ids[positions].copy()
    for pair in np.flatnonzero(counts > 1).tolist():
        start = int(positions[pair])
        joined = BETWEEN_RELATIONS.join(graphs.relations[start : start + int(counts[pair])].texts())
        ids[pair] = names.setdefault(joined, len(names))
    return Column(frozen_ints(ids), tuple(names))


def _assigned(labels: GraphLabels, nodes: Longs) -> tuple[Column, Longs]:
    """Return the relation of each arc, and the nodes whose number of relations differs from that of their arcs.

    `nodes` has the dependent of each arc. The k-th arc into a node gets the k-th relation of the node, or `_` if there
    are too few. Nodes without any relation are not returned.
    """
    arcs = np.bincount(nodes, minlength=len(labels.empty))
    relations = labels.relation_offsets.lengths
    if np.array_equal(arcs, relations):
        return labels.relations, np.zeros(0, dtype=np.int64)
    rank = np.arange(len(nodes)) - np.repeat(np.cumsum(arcs) - arcs, arcs)
    index = labels.relation_offsets.starts[nodes] + rank
    ids = np.append(labels.relations.ids, 0)[np.minimum(index, len(labels.relations))]
    ids = np.where(rank < relations[nodes], ids, len(labels.relations.names))
    return Column(frozen_ints(ids), (*labels.relations.names, NOTHING)), np.flatnonzero(
        (arcs != relations) & (relations > 0)
    )


def graphs_of_pairs(  # noqa: PLR0913, PLR0917 - nodes, arcs between them, and what is known of those
    offsets: Offsets,
    empty: Bools,
    nodes: Longs,
    heads: Ints,
    relations: Column,
    probabilities: npt.NDArray[np.float64] | None = None,
) -> Graphs:
    """Return the graphs of given pairs of head and dependent, with an arc for each relation of a pair.

    `offsets` and `empty` describe the nodes. `nodes` has the dependent of each pair, as a sorted index over the nodes
    of all sentences, from 0. `heads` count from 1 within the sentence; 0 is the root. `relations` has the relations of
    each pair, joined with ` & `; a pair with `no arc` gets no arc.
    """
    split = [
        [] if name == NO_ARC else sorted({part or NOTHING for part in name.split(BETWEEN_RELATIONS)})
        for name in relations.names
    ]
    ids = relations.ids
    names: Sequence[str] = relations.names
    if any(len(parts) != 1 or parts[0] != name for parts, name in zip(split, relations.names, strict=True)):
        numbers: dict[str, int] = {}
        flat = np.array([numbers.setdefault(part, len(numbers)) for parts in split for part in parts] or [0])
        counts = np.array([len(parts) for parts in split], dtype=np.int64)
        starts = np.cumsum(counts) - counts
        many = counts[ids]
        inner = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
        nodes, heads = np.repeat(nodes, many), np.repeat(heads, many)
        probabilities = None if probabilities is None else np.repeat(probabilities, many)
        ids = flat[np.repeat(starts[ids], many) + inner]
        names = tuple(numbers)
    sentences = offsets.owners_of(nodes)
    return Graphs(
        offsets,
        empty,
        Offsets.of_lengths(np.bincount(sentences, minlength=len(offsets))),
        heads,
        nodes - offsets.starts[sentences] + 1,
        Column(ids, tuple(names)),
        probabilities,
    )


REGISTRY: Final[Registry[GraphEncoding]] = Registry(
    "encoding of graphs",
    "ropewalk.graph_encodings",
    {
        DEFAULT: ("optimal", "HierarchicalGraphs"),
        "brackets": ("brackets", "PlanarGraphs"),
        "four-bit": ("graph_bits", "FourBitGraphs"),
        "six-bit": ("graph_bits", "SixBitGraphs"),
        "absolute": ("positions", "AbsoluteGraphs"),
        "relative": ("positions", "RelativeGraphs"),
    },
)
known = REGISTRY.known
options_of = REGISTRY.options_of
register = REGISTRY.register
get = REGISTRY.get
