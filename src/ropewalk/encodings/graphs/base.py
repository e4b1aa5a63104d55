"""What every encoding of graphs is: graphs in, one label per word or empty node out, and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, final

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import (
    Bools,
    Ints,
    Rebuilt,
    frozen_array,
    frozen_bools,
    frozen_ints,
    numbers_below,
)
from ropewalk.core.columns import Column
from ropewalk.core.graphs import Graph, Graphs, Longs
from ropewalk.core.ragged import Offsets
from ropewalk.encodings.base import FAULTS as TREE_FAULTS
from ropewalk.encodings.base import Fault, Ids, smallest
from ropewalk.errors import MismatchError, UncoveredGraphError, demand_known, demand_sequence, demand_type
from ropewalk.kernels.codes import GIVEN_TWICE, OWN_HEAD, RELATION_COUNT, ROOT_DEPENDENT

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ropewalk.core.arcs import Arcs

POLICIES: Final = ("drop", "refuse")
FAULTS: Final = TREE_FAULTS | {
    ROOT_DEPENDENT: "arc into the root",
    OWN_HEAD: "arc from a word to itself",
    GIVEN_TWICE: "arc given twice",
    RELATION_COUNT: "not as many relations as arcs",
}
BETWEEN_ARCS: Final = "|"
BETWEEN_RELATIONS: Final = " & "  # of one arc; no relation holds a space
NO_ARC: Final = "no arc"  # the relation of an arc that labels spell and the graph does not have
NOTHING: Final = "_"

Faults = tuple[Ints, Ints]
ReadArcs = tuple[Ints, Ints, Ints, tuple[Ints, Ints, Ints]]


@dataclass(frozen=True, slots=True, eq=False)
class GraphLabels(Rebuilt):
    """The labels of many graphs: one number per node and column, and the relations of all arcs that they spell.

    The labels of node k are `ids[c][k]` into `alphabets[c]`. The relations of the arcs into it, by increasing head,
    are `relations[relation_offsets[k]]`; several of one arc are joined by ` & `, and `no arc`
    is that of an arc which the labels cannot but spell.
    """

    encoding: str
    offsets: Offsets
    empty: Bools
    ids: tuple[Ids, ...]
    alphabets: tuple[tuple[str, ...], ...]
    relations: Column
    relation_offsets: Offsets

    def __post_init__(self) -> None:
        empty = frozen_bools(self.empty)
        if len(self.ids) != len(self.alphabets):
            raise MismatchError(
                f"{len(self.ids)} columns of labels and {len(self.alphabets)} of texts; expected as many"
            )
        ids = tuple(
            frozen_array(numbers_below(row, len(names), "label numbers", size=len(empty)))
            for row, names in zip(self.ids, self.alphabets, strict=True)
        )
        relation_offsets = Offsets.of(self.relation_offsets, end=len(self.relations))
        if len(relation_offsets) != len(empty):
            raise MismatchError(f"{len(relation_offsets)} lists of relations for {len(empty)} nodes")
        object.__setattr__(self, "offsets", Offsets.of(self.offsets, end=len(empty)))
        object.__setattr__(self, "empty", empty)
        object.__setattr__(self, "ids", ids)
        object.__setattr__(self, "alphabets", tuple(tuple(names) for names in self.alphabets))
        object.__setattr__(self, "relation_offsets", relation_offsets)

    def __len__(self) -> int:
        return len(self.offsets)

    def texts(self, column: int = 0) -> list[str]:
        """Write out one column's label of every node."""
        names = self.alphabets[column]
        return [names[number] for number in self.ids[column].tolist()]

    def sentences(self, column: int = 0) -> list[list[str]]:
        """Write out one column's labels, sentence by sentence."""
        flat = self.texts(column)
        return [flat[where] for where in self.offsets]

    def relation_texts(self) -> list[str]:
        """Write out the relations of every node, separated by `|`; `_` where there is none."""
        flat = self.relations.texts()
        return [BETWEEN_ARCS.join(flat[where]) or NOTHING for where in self.relation_offsets]


@dataclass(frozen=True, slots=True, eq=False)
class DecodedGraphs:
    """The graphs that labels spell, and what was wrong with them, node by node."""

    graphs: Graphs
    fault_words: Ints
    fault_kinds: Ints

    @property
    def well_formed(self) -> bool:
        """Whether nothing was wrong."""
        return not len(self.fault_words)

    def faults(self) -> list[Fault]:
        """Name everything that was wrong, in the order of the nodes."""
        offsets = self.graphs.offsets
        sentences = offsets.owners_of(self.fault_words).tolist()
        rows = sorted(zip(sentences, self.fault_words.tolist(), self.fault_kinds.tolist(), strict=True))
        return [Fault(s + 1, w - offsets[s].start + 1, FAULTS[kind]) for s, w, kind in rows]

    def counts(self) -> dict[str, int]:
        """How many faults there were of each kind."""
        tally = Counter(self.fault_kinds.tolist())
        return {name: tally[code] for code, name in FAULTS.items() if tally[code]}


class GraphEncoding(ABC):
    """A way to write graphs as labels.

    A subclass is final: it says which arcs its labels can hold (`fitting`), writes arcs that they can (`write`) and
    reads labels into arcs (`read`). A graph comes back exactly if all its arcs fit. Under the policy `drop` the other
    arcs are left out, and under `refuse` they are an `UncoveredGraphError`.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    cites: ClassVar[str]
    columns: ClassVar[tuple[str, ...]] = ("label",)
    repeats: ClassVar[bool] = False  # whether an arc may be spelled twice

    def __init__(self, *, policy: str = "drop") -> None:
        demand_known("policy", policy, POLICIES)
        self.policy = policy

    def options(self) -> dict[str, str | int]:
        """The options that differ from their defaults."""
        return {} if self.policy == "drop" else {"policy": self.policy}

    @property
    @final
    def spec(self) -> str:
        """Name and options as text, from which `get` makes the same encoding."""
        options = self.options()
        inside = ",".join(f"{key}={value}" for key, value in options.items())
        return f"{self.name}({inside})" if options else self.name

    @abstractmethod
    def fitting(self, arcs: Arcs) -> Bools:
        """Tell for each arc whether the labels hold it."""

    @abstractmethod
    def write(self, arcs: Arcs) -> list[tuple[Ids, tuple[str, ...]]]:
        """Write arcs that fit as label numbers and label texts, one pair per column."""

    @abstractmethod
    def read(self, labels: GraphLabels) -> ReadArcs:
        """Read labels into arcs, where those of each sentence begin, and faults; never raises on labels of its own."""

    @abstractmethod
    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if a column has no such label."""

    def padding(self, arcs: Arcs) -> tuple[Ints, Ints, Longs]:
        """Give the arcs that the labels spell beside those written: heads, dependents and their sentences."""
        nothing = np.zeros(0, dtype=np.int32)
        return nothing, nothing, np.zeros(0, dtype=np.int64)

    @property
    def start(self) -> Hashable | None:
        """The state in which nothing is open, from which sentences are read and in which they end.

        None where labels do not depend on each other, or states would be too many.
        """
        return None

    def advance(self, state: Hashable, text: str) -> Hashable | None:
        """Read one more label: the state after it, None if it cannot be right there."""
        raise NotImplementedError

    def possible(self, texts: Sequence[str], offsets: Offsets) -> Bools | None:
        """Tell for each word of sentences which labels are right there, whatever the others have: [words, texts].

        None where this depends on the others.
        """
        return None

    @final
    def covers(self, graphs: Graphs) -> Bools:
        """Return for each graph whether it comes back exactly from its labels."""
        demand_type("what to encode", graphs, Graphs)
        arcs = graphs.arcs()
        return np.asarray(arcs.offsets.sums(~self.fitting(arcs)) == 0)

    @final
    def encode(self, graphs: Graphs | Graph) -> GraphLabels:
        """Write graphs as labels; arcs that do not fit meet the policy."""
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
        columns = self.write(arcs)
        relations, relation_offsets = self._relations(graphs, arcs, relations)
        return GraphLabels(
            self.spec,
            graphs.offsets,
            graphs.empty,
            tuple(smallest(ids, len(names)) for ids, names in columns),
            tuple(names for _, names in columns),
            relations,
            relation_offsets,
        )

    @final
    def arcs(self, labels: GraphLabels) -> tuple[Longs, Ints, Faults]:
        """Read labels, however wrong, into arcs: their dependents as nodes of all, their heads, and faults.

        Arcs are sorted by dependent and head; those that no graph can have are left out.
        """
        demand_type("what to decode", labels, GraphLabels)
        heads, dependents, arc_offsets, (words, kinds, counts) = self.read(labels)
        total = int(arc_offsets[-1])
        heads, dependents = heads[:total], dependents[:total]
        faults = [(words[: counts[0]], kinds[: counts[0]])]
        sentences = np.repeat(np.arange(len(labels)), np.diff(arc_offsets))
        starts = labels.offsets.starts.astype(np.int64)
        impossible = (dependents == 0) | (heads == dependents)
        if impossible.any():
            for code, wrong in ((ROOT_DEPENDENT, dependents == 0), (OWN_HEAD, heads == dependents)):
                faults.append(_faults(starts[sentences[wrong]] + heads[wrong] - 1, code))
            heads, dependents, sentences = heads[~impossible], dependents[~impossible], sentences[~impossible]
        most = labels.offsets.longest + 1
        keys = np.sort((starts[sentences] + dependents - 1) * most + heads)
        first = np.ones(len(keys), dtype=np.bool_)
        first[1:] = keys[1:] != keys[:-1]
        if not first.all():
            if not self.repeats:
                faults.append(_faults(keys[~first] // most, GIVEN_TWICE))
            keys = keys[first]
        nodes = keys // most
        return nodes, (keys - nodes * most).astype(np.int32), _joined_faults(faults)

    @final
    def decode(self, labels: GraphLabels) -> DecodedGraphs:
        """Read labels, however wrong, into graphs and a list of faults."""
        nodes, heads, faults = self.arcs(labels)
        relations, miscounted = _assigned(labels, nodes)
        if len(miscounted):
            faults = _joined_faults([faults, _faults(miscounted, RELATION_COUNT)])
        return DecodedGraphs(graphs_of_pairs(labels.offsets, labels.empty, nodes, heads, relations), *faults)

    @final
    def labels(
        self,
        sentences: Sequence[Sequence[str]],
        relations: Sequence[Sequence[str]] | None = None,
        empty: Sequence[Sequence[bool]] | None = None,
    ) -> GraphLabels:
        """Take label texts, sentence by sentence, and relations as `relation_texts` writes them."""
        demand_sequence("sentences of labels", sentences, Sequence)
        for sentence in sentences:
            demand_sequence("labels", sentence, str)
        column = Column.of(text for sentence in sentences for text in sentence)
        for text in column.names:
            self.check_label(text)
        many = len(column)
        named = Column.of([NOTHING] * many if relations is None else [text for row in relations for text in row])
        marks = [False] * many if empty is None else [mark for row in empty for mark in row]
        for what, found in (("relations", len(named)), ("marks of empty nodes", len(marks))):
            if found != many:
                raise MismatchError(f"{many} labels but {found} {what}; each node needs one of each")
        return labels_of(
            self, Offsets.of_lengths([len(row) for row in sentences]), np.array(marks, dtype=np.bool_), [column], named
        )

    def _uncovered(self, arcs: Arcs, fits: Bools) -> UncoveredGraphError:
        first = int(np.flatnonzero(~fits)[0])
        sentence = int(arcs.offsets.owners_of(np.array([first]))[0])
        where = arcs.offsets[sentence]
        heads, dependents = arcs.ends()
        wrong = ~fits[where]
        pairs = zip(heads[where][wrong].tolist(), dependents[where][wrong].tolist(), strict=True)
        return UncoveredGraphError(self.spec, sentence + 1, list(pairs))

    def _relations(self, graphs: Graphs, arcs: Arcs, relations: Column) -> tuple[Column, Offsets]:
        """Lay out the relations of all arcs that the labels spell, by node and head."""
        heads, dependents = arcs.ends()
        sentences = arcs.offsets.owners()
        starts = graphs.offsets.starts.astype(np.int64)
        nodes = starts[sentences] + dependents - 1
        more_heads, more_dependents, more_sentences = self.padding(arcs)
        if len(more_heads):
            more = starts[more_sentences] + more_dependents - 1
            most = int(graphs.lengths.max(initial=0)) + 1
            keys, more_keys = nodes * most + heads, more * most + more_heads
            new = np.unique(more_keys[~np.isin(more_keys, keys)])
            order = np.argsort(np.concatenate([keys, new]), kind="stable")
            padded = np.concatenate([relations.ids, np.full(len(new), len(relations.names), dtype=np.int32)])
            relations = Column(frozen_ints(padded[order]), (*relations.names, NO_ARC))
            nodes = np.concatenate([nodes, new // most])
        return relations, Offsets.of_lengths(np.bincount(nodes, minlength=graphs.nodes))


def labels_of(
    encoding: GraphEncoding, offsets: Offsets, empty: Bools, columns: Sequence[Column], relations: Column
) -> GraphLabels:
    """Put labels together from columns of texts, that of relations as `relation_texts` writes them."""
    parts = [[] if text == NOTHING else text.split(BETWEEN_ARCS) for text in relations.names]
    names: dict[str, int] = {}
    flat = np.array([names.setdefault(name, len(names)) for row in parts for name in row], dtype=np.int32)
    counts = np.array([len(row) for row in parts] or [0], dtype=np.int64)
    relation_offsets, places = Offsets.of_lengths(counts).select(relations.ids.astype(np.int64))
    return GraphLabels(
        encoding.spec,
        offsets,
        frozen_bools(empty),
        tuple(smallest(column.ids, len(column.names)) for column in columns),
        tuple(column.names for column in columns),
        Column(flat[places], tuple(names)),
        relation_offsets,
    )


def _faults(words: Longs, kind: int) -> Faults:
    return words.astype(np.int32), np.full(len(words), kind, dtype=np.int32)


def _joined_faults(many: Sequence[Faults]) -> Faults:
    words, kinds = (np.concatenate([one[side] for one in many]).astype(np.int32) for side in range(2))
    return words, kinds


def joined_relations(graphs: Graphs) -> Column:
    """Give each pair of head and dependent its relations as one text."""
    first = graphs.first_of_pairs()
    if first.all():
        return graphs.relations
    places = np.flatnonzero(first)
    counts = np.diff(np.append(places, len(first)))
    names = {name: number for number, name in enumerate(graphs.relations.names)}
    ids = graphs.relations.ids[places].copy()
    for pair in np.flatnonzero(counts > 1).tolist():
        start = int(places[pair])
        joined = BETWEEN_RELATIONS.join(graphs.relations[start : start + int(counts[pair])].texts())
        ids[pair] = names.setdefault(joined, len(names))
    return Column(frozen_ints(ids), tuple(names))


def _assigned(labels: GraphLabels, nodes: Longs) -> tuple[Column, Longs]:
    """Give the arcs into each node, in order, its relations in order; `_` where there are too few.

    Returns also the nodes where there are too few or too many; one that has none at all is none of them.
    """
    found = np.bincount(nodes, minlength=len(labels.empty))
    given = labels.relation_offsets.lengths
    if np.array_equal(found, given):
        return labels.relations, np.zeros(0, dtype=np.int64)
    rank = np.arange(len(nodes)) - np.repeat(np.cumsum(found) - found, found)
    place = labels.relation_offsets.starts[nodes] + rank
    ids = np.append(labels.relations.ids, 0)[np.minimum(place, len(labels.relations))]
    ids = np.where(rank < given[nodes], ids, len(labels.relations.names))
    return Column(frozen_ints(ids), (*labels.relations.names, NOTHING)), np.flatnonzero((found != given) & (given > 0))


def graphs_of_pairs(  # noqa: PLR0913, PLR0917 - nodes, arcs between them, and what is known of those
    offsets: Offsets,
    empty: Bools,
    nodes: Longs,
    heads: Ints,
    relations: Column,
    probabilities: npt.NDArray[np.float64] | None = None,
) -> Graphs:
    """Make graphs of pairs: several relations of one become arcs of their own, `no arc` becomes none.

    `nodes` are the dependents as nodes of all, sorted, `heads` nodes of the sentence.
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
