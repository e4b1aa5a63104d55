"""Immutable graphs of one sentence or many: words and empty nodes, and the arcs between them with their relations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import ropewalk
from ropewalk.core.arcs import Arcs
from ropewalk.core.arrays import (
    HIGHEST,
    Rebuilt,
    frozen_array,
    frozen_bools,
    frozen_ints,
    ints,
    real_numbers,
    set_fields,
)
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets, starts_of
from ropewalk.core.trees import Tree, Trees
from ropewalk.errors import GraphError, MismatchError, OptionError, demand_type
from ropewalk.kernels import graphs as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import ONE_HEAD, ONE_HEAD_A_SIDE
from ropewalk.kernels.values import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Bools, Ints

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A directed graph over words 1…n and node 0: any number of heads per word, cycles allowed.

    Arcs are kept sorted by dependent, then head, then relation. An arc from a word to itself, into node 0, outside the
    sentence or given twice with the same relation raises a `GraphError`.
    """

    words: int
    heads: Ints
    dependents: Ints
    relations: tuple[str, ...]

    def __init__(self, words: int, arcs: Iterable[tuple[int, int] | tuple[int, int, str]]) -> None:
        if not isinstance(words, int | np.integer) or not 0 <= words < HIGHEST:
            raise GraphError(f"the number of words of a graph is {words!r}; expected an integer, 0 or more")
        if not isinstance(arcs, Iterable):
            raise GraphError(f"arcs are {arcs!r}; expected an iterable of arcs")
        rows = sorted(map(_row, arcs))
        for row, (dependent, head, _) in enumerate(rows):
            if head == dependent:
                raise GraphError(f"the arc {head}->{dependent} joins a word to itself")
            if not (1 <= dependent <= words and 0 <= head <= words):
                raise GraphError(f"the arc {head}->{dependent} leaves the sentence of {words} words")
            if row and rows[row - 1] == rows[row]:
                raise GraphError(f"the arc {head}->{dependent} is given twice with the same relation")
        heads, dependents = frozen_ints(row[1] for row in rows), frozen_ints(row[0] for row in rows)
        relations = tuple(relation for _, _, relation in rows)
        set_fields(self, words=int(words), heads=heads, dependents=dependents, relations=relations)

    @classmethod
    def from_tree(cls, tree: Tree) -> Graph:
        """Return a tree as a graph in which each word has one head."""
        return cls(len(tree), [(h, d, r) for (h, d), r in zip(tree.arcs(), tree.relations, strict=True)])

    def __len__(self) -> int:
        return self.words

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            self.words == other.words
            and self.relations == other.relations
            and np.array_equal(self.heads, other.heads)
            and np.array_equal(self.dependents, other.dependents)
        )

    def __hash__(self) -> int:
        return hash((self.words, self.heads.tobytes(), self.dependents.tobytes(), self.relations))

    def __repr__(self) -> str:
        return f"Graph({self.words}, {self.arcs()})"

    def _repr_html_(self) -> str:
        """Return the graph as a picture, which a notebook shows."""
        return ropewalk.draw(self)._repr_html_()

    def arcs(self) -> list[tuple[int, int]]:
        """Return (head, dependent) pairs sorted by dependent, then head."""
        return [(int(h), int(d)) for h, d in zip(self.heads, self.dependents, strict=True)]


def _row(arc: tuple[int, int] | tuple[int, int, str]) -> tuple[int, int, str]:
    """Return the dependent, head and relation of `arc`, a head, a dependent and perhaps a relation; else raise."""
    try:
        head, dependent, relation = arc if len(arc) > 2 else (*arc, "_")
    except (TypeError, ValueError) as error:
        raise GraphError(f"an arc is {arc!r}; expected a head, a dependent and perhaps a relation") from error
    if not isinstance(head, int | np.integer) or not isinstance(dependent, int | np.integer):
        raise GraphError(f"the arc {head!r}->{dependent!r} does not join two words by their numbers")
    if not isinstance(relation, str):
        raise GraphError(f"the relation of the arc {head}->{dependent} is {relation!r}; expected text")
    return int(dependent), int(head), relation


@dataclass(frozen=True, slots=True, eq=False)
class Graphs(Rebuilt):
    """The graphs of many sentences as flat arrays over all nodes and all arcs.

    A node is a word or, where `empty` is true, an empty node. The nodes of sentence s are the slice `offsets[s]` of all
    nodes, in the order of the sentence. `heads` and `dependents` count nodes from 1 within their sentence; 0 is the
    root.

    The arcs of sentence s are the slice `arc_offsets[s]` of `heads`, `dependents` and `relations`. They are sorted by
    dependent, then head, then relation; the constructor accepts any order within a sentence. Two nodes may be joined by
    several arcs with different relations, and in both directions. An arc from a node to itself, outside its sentence or
    given twice raises a `GraphError`. `probabilities` has the model's probability of each arc, if known; equality
    ignores it.
    """

    offsets: Offsets
    empty: Bools
    arc_offsets: Offsets
    heads: Ints
    dependents: Ints
    relations: Column
    probabilities: npt.NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        empty = frozen_bools(self.empty)
        offsets = Offsets.of(self.offsets, end=len(empty))
        heads = ints(self.heads, "heads")
        dependents = ints(self.dependents, "dependents", size=len(heads))
        arc_offsets = Offsets.of(self.arc_offsets, end=len(heads))
        if len(arc_offsets) != len(offsets) or len(self.relations) != len(heads):
            raise MismatchError(
                f"{len(offsets)} sentences of nodes and {len(arc_offsets)} of arcs, {len(heads)} arcs and "
                f"{len(self.relations)} relations; expected as many"
            )
        sentences = arc_offsets.owners()
        most = offsets.lengths[sentences]
        wrong = (heads < 0) | (heads > most) | (dependents < 1) | (dependents > most) | (heads == dependents)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise GraphError(
                f"graph {int(sentences[at]) + 1}: the arc {heads[at]}->{dependents[at]} joins a node to itself or "
                f"leaves the sentence of {most[at]} nodes"
            )
        relations, probabilities = self.relations, self.probabilities
        if probabilities is not None:
            probabilities = real_numbers(probabilities, "probabilities").astype(np.float64)
            if probabilities.shape != heads.shape:
                raise MismatchError(
                    f"probabilities of shape {probabilities.shape} for {len(heads)} arcs; expected one for each"
                )
        if not _is_sorted(sentences, heads, dependents, relations):
            order, twice = sorted_arcs(sentences, heads, dependents, relations)
            if len(twice):
                at = int(twice[0])
                raise GraphError(
                    f"graph {int(sentences[at]) + 1}: the arc {heads[at]}->{dependents[at]} with the relation "
                    f"{relations.names[relations.ids[at]]!r} is given twice"
                )
            heads, dependents, relations = heads[order], dependents[order], relations.take(order)
            probabilities = None if probabilities is None else probabilities[order]
        probabilities = None if probabilities is None else frozen_array(probabilities)
        set_fields(self, offsets=offsets, empty=empty, arc_offsets=arc_offsets, probabilities=probabilities)
        set_fields(self, heads=frozen_ints(heads), dependents=frozen_ints(dependents), relations=relations)

    def __repr__(self) -> str:
        return f"<Graphs of {len(self):,} sentences, {len(self.empty):,} nodes, {len(self.heads):,} arcs>"

    @classmethod
    def of(cls, graphs: Iterable[Graph]) -> Graphs:
        """Return the batch of single graphs, which have no empty nodes."""
        graphs = list(graphs)
        nodes = Offsets.of_lengths([graph.words for graph in graphs])
        nothing = [np.zeros(0, dtype=np.int32)]
        return cls(
            nodes,
            np.zeros(nodes.total, dtype=np.bool_),
            Offsets.of_lengths([len(graph.heads) for graph in graphs]),
            np.concatenate(nothing + [graph.heads for graph in graphs]),
            np.concatenate(nothing + [graph.dependents for graph in graphs]),
            Column.of(relation for graph in graphs for relation in graph.relations),
        )

    @classmethod
    def concat(cls, many: Sequence[Graphs]) -> Graphs:
        """Return one batch with the graphs of all batches in `many`, one batch after the other."""
        if not many:
            return cls.of([])
        probabilities = [part.probabilities for part in many if part.probabilities is not None]
        return cls(
            Offsets.concat([part.offsets for part in many]),
            np.concatenate([part.empty for part in many]),
            Offsets.concat([part.arc_offsets for part in many]),
            np.concatenate([part.heads for part in many]),
            np.concatenate([part.dependents for part in many]),
            Column.concat([part.relations for part in many]),
            np.concatenate(probabilities) if len(probabilities) == len(many) else None,
        )

    def __len__(self) -> int:
        return len(self.offsets)

    def __getitem__(self, sentence: int) -> Graph:
        """Return the graph of one sentence, whose words are the nodes, empty ones included."""
        if not -len(self) <= sentence < len(self):
            raise IndexError(f"there is no graph {sentence}; there are {len(self)}, numbered from 0")
        sentence %= len(self)
        where = self.arc_offsets[sentence]
        arcs = zip(
            self.heads[where].tolist(), self.dependents[where].tolist(), self.relations[where].texts(), strict=True
        )
        return Graph(int(self.lengths[sentence]), arcs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graphs):
            return NotImplemented
        return (
            self.offsets == other.offsets
            and np.array_equal(self.empty, other.empty)
            and self.arc_offsets == other.arc_offsets
            and np.array_equal(self.heads, other.heads)
            and np.array_equal(self.dependents, other.dependents)
            and self.relations.texts() == other.relations.texts()
        )

    def __hash__(self) -> int:
        return hash((self.offsets, self.empty.tobytes(), self.heads.tobytes(), self.dependents.tobytes()))

    @property
    def nodes(self) -> int:
        """The number of words and empty nodes of all sentences."""
        return len(self.empty)

    @property
    def lengths(self) -> Ints:
        """The number of nodes of each sentence."""
        return self.offsets.lengths

    @property
    def arc_sentences(self) -> Longs:
        """The index of each arc's sentence, from 0."""
        return self.arc_offsets.owners()

    @property
    def arc_nodes(self) -> Longs:
        """The dependent of each arc as an index over the nodes of all sentences, from 0."""
        return self.offsets.starts.astype(np.int64)[self.arc_sentences] + self.dependents - 1

    @property
    def node_arcs(self) -> Longs:
        """The index of the first arc into each node: the arcs into node k are `node_arcs[k]:node_arcs[k+1]`.

        Nodes are indices over all sentences, from 0.
        """
        return starts_of(np.bincount(self.arc_nodes, minlength=self.nodes))

    def numbers(self) -> tuple[Ints, Ints]:
        """Return each node's ID in CoNLL-U as two arrays, before and after the dot: 8.1 is 8 and 1; 8 is 8 and 0."""
        words = starts_of(~self.empty)
        majors = words[1:] - np.repeat(words[self.offsets.starts], self.lengths)
        places = np.arange(self.nodes)
        anchors = np.where(self.empty, -1, places)  # the word before an empty node, or the position before the sentence
        starts = self.offsets.starts[self.lengths > 0]
        anchors[starts] = np.where(self.empty[starts], starts - 1, starts)
        return majors.astype(np.int32), (places - np.maximum.accumulate(anchors)).astype(np.int32)

    def names(self) -> list[str]:
        """Return the ID of each node in CoNLL-U as text, such as `8` or `8.1`."""
        majors, minors = self.numbers()
        return [
            f"{major}.{minor}" if minor else str(major)
            for major, minor in zip(majors.tolist(), minors.tolist(), strict=True)
        ]

    def select(self, sentences: npt.NDArray[Any] | Sequence[int]) -> Graphs:
        """Return the graphs of the sentences with these indices, in this order."""
        chosen = np.asarray(sentences, dtype=np.int64)
        offsets, nodes = self.offsets.select(chosen)
        arc_offsets, arcs = self.arc_offsets.select(chosen)
        return Graphs(
            offsets,
            self.empty[nodes],
            arc_offsets,
            self.heads[arcs],
            self.dependents[arcs],
            self.relations.take(arcs),
            None if self.probabilities is None else self.probabilities[arcs],
        )

    def first_of_pairs(self) -> Bools:
        """Return for each arc whether it is the first arc of its pair of head and dependent."""
        nodes = self.arc_nodes
        out = np.ones(len(self.heads), dtype=np.bool_)
        out[1:] = (nodes[1:] != nodes[:-1]) | (self.heads[1:] != self.heads[:-1])
        return out

    def arcs(self) -> Arcs:
        """Return the arcs without relations: each pair of head and dependent once."""
        first = self.first_of_pairs()
        return Arcs(self.heads[first], self.dependents[first], self.arc_offsets.counted(first), self.lengths)


def same_graphs(first: Graphs, second: Graphs) -> Bools:
    """Return for each sentence whether its nodes and arcs, with relations, are the same in both batches."""
    same: Bools = (first.lengths == second.lengths) & (first.arc_offsets.lengths == second.arc_offsets.lengths)
    some = np.flatnonzero(same)
    ours, theirs = first.select(some), second.select(some)
    ids = Column.concat([ours.relations, theirs.relations]).ids  # equal relations have equal numbers
    relations = ids[: len(ours.heads)] != ids[len(ours.heads) :]
    arcs = (ours.heads != theirs.heads) | (ours.dependents != theirs.dependents) | relations
    same[some] = (ours.arc_offsets.sums(arcs) == 0) & (ours.offsets.sums(ours.empty != theirs.empty) == 0)
    return same


def sorted_arcs(sentences: Longs, heads: Ints, dependents: Ints, relations: Column) -> tuple[Longs, Longs]:
    """Return the arcs' indices sorted by sentence, dependent, head and relation, and the indices of repeated arcs."""
    rank = np.empty(len(relations.names), dtype=np.int64)
    rank[sorted(range(len(relations.names)), key=relations.names.__getitem__)] = np.arange(len(relations.names))
    keys = (rank[relations.ids] if len(relations) else np.zeros(0, dtype=np.int64), heads, dependents, sentences)
    order = np.lexsort(keys)
    same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
    for key in keys:
        same &= key[order[1:]] == key[order[:-1]]
    return order, np.sort(order[1:][same])


def _is_sorted(sentences: Longs, heads: Ints, dependents: Ints, relations: Column) -> bool:
    """Return whether arcs are sorted by sentence, dependent, head and relation, without repetition."""
    up: Bools = np.diff(sentences) > 0
    level: Bools = ~up
    for key in (dependents, heads):
        step = np.diff(key)
        if (level & (step < 0)).any():
            return False
        level &= step == 0
    names, ids = relations.names, relations.ids
    return all(names[ids[at]] < names[ids[at + 1]] for at in np.flatnonzero(level).tolist())


def arc_planes(arcs: Arcs, rule: int = 0) -> Ints:
    """Return for each arc its plane, from 1: the first plane in which it crosses no arc of its own direction.

    Arcs are assigned to planes sorted by left end, then from the longest to the shortest. `rule` may limit the heads
    of a word in a plane: 0 is no limit, ONE_HEAD_A_SIDE allows one head on either side, and ONE_HEAD allows one head.
    The codes are those of `kernels.codes`.
    """
    if rule not in {0, ONE_HEAD_A_SIDE, ONE_HEAD}:
        raise OptionError(f"the rule of arcs in planes is {rule!r}; expected 0, {ONE_HEAD_A_SIDE} or {ONE_HEAD}")
    out = np.zeros(len(arcs.left), dtype=np.int32)
    most = arcs.offsets.longest
    leaves = 1 << max(most - 1, 0).bit_length()  # of a binary tree over as many planes as there are arcs
    workspace = kernel.Sweep(int(arcs.words.max(initial=0)) + 1, most, leaves)
    kernel.planes(arcs.buffers(), view(arcs.order), rule, view(out), workspace)
    return out


def cyclic(graphs: Graphs) -> Bools:
    """Return for each graph whether it has a cycle."""
    out = np.zeros(len(graphs), dtype=np.uint8)
    kernel.cyclic(
        view(graphs.heads),
        view(graphs.dependents),
        view(graphs.arc_offsets.array),
        view(np.ascontiguousarray(graphs.lengths)),
        view(out),
        Workspace(graphs.offsets.longest + 1),
    )
    return out.view(np.bool_)


def arcs_of(structure: Tree | Graph) -> Arcs:
    """Return the arcs of one tree or graph without relations: each pair of head and dependent once."""
    return Arcs.of_trees(Trees.of(structure)) if isinstance(structure, Tree) else Graphs.of([structure]).arcs()


def crossing_arcs(structure: Tree | Graph) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return all pairs of arcs that cross. An arc is (head, dependent); the arc with the leftmost end is first."""
    demand_type("a tree or graph", structure, Tree, Graph)
    every = arcs_of(structure)
    crossed = every.crossed()
    pairs = zip(every.heads[crossed].tolist(), every.dependents[crossed].tolist(), strict=True)
    arcs = sorted(pairs, key=lambda arc: (min(arc), max(arc)))
    return [
        (arc, other)
        for place, arc in enumerate(arcs)
        for other in arcs[place + 1 :]
        if min(arc) < min(other) < max(arc) < max(other)
    ]
