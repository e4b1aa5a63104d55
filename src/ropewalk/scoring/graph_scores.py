"""Scores of graphs over the same words, and those of the shared tasks on enhanced dependencies.

An arc is right if its head, its dependent and its relation are; unlabelled, the relation does not count, and without
subtypes only what stands before its first `:`. Precision, recall and F1 are over all arcs, arcs from node 0 included,
or F1 is the mean over sentences; whole graphs are sentences in which every arc is there and no other. Empty nodes count
as nodes, matched by their numbers.

ELAS and EULAS (Bouma, Seddah & Zeman 2020, 2021, IWPT shared tasks) do without empty nodes: a path of arcs through
them becomes one arc whose relation is that of the path, `conj>nsubj`. ELAS is the F1 of arcs with whole relations and
EULAS that of relations without subtypes, over words aligned as in CoNLL 2018. As in the tasks' program, each right pair
of a gold and a predicted arc counts, so that in EULAS arcs that differ in subtypes alone count several times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column
from ropewalk.core.graphs import Graphs
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import PATH
from ropewalk.errors import MismatchError
from ropewalk.formats import deps
from ropewalk.scoring.attachment import first_difference, numbered
from ropewalk.scoring.conll18 import Score, align

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ropewalk.core.arrays import Ints
    from ropewalk.core.graphs import Longs
    from ropewalk.treebank.treebank import Treebank

MEASURES: Final = ("elas", "eulas", "graph_f1", "graph_uf1", "graph_lm")


def coarse(relation: str) -> str:
    """Take a relation, or each of a path, without its subtypes."""
    return PATH.join(step.partition(":")[0] for step in relation.split(PATH))


KINDS: Final[Mapping[str, Callable[[str], str]]] = {
    "unlabelled": lambda _: "",
    "without subtypes": coarse,
    "labelled": str,
}


@dataclass(frozen=True, slots=True, eq=False)
class GraphScores:
    """How many arcs each sentence has in gold and in the prediction, and how many are right."""

    gold: Ints
    predicted: Ints
    right: Ints

    @property
    def precision(self) -> float:
        """The share of predicted arcs that are right; not a number where there are none."""
        return _ratio(int(self.right.sum()), int(self.predicted.sum()))

    @property
    def recall(self) -> float:
        """The share of gold arcs that were predicted; not a number where there are none."""
        return _ratio(int(self.right.sum()), int(self.gold.sum()))

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, over arcs."""
        return _ratio(2 * int(self.right.sum()), int(self.gold.sum() + self.predicted.sum()))

    @property
    def f1_sentences(self) -> float:
        """The mean F1 of sentences; those without an arc in either have no part in it."""
        both = (self.gold + self.predicted).astype(np.float64)
        some = both > 0
        return float((2 * self.right[some] / both[some]).mean()) if some.any() else float("nan")

    @property
    def whole(self) -> float:
        """The share of sentences whose graph is right, those without arcs included."""
        right = (self.gold == self.right) & (self.predicted == self.right)
        return float(right.mean()) if len(right) else float("nan")


def _ratio(above: int, below: int) -> float:
    return above / below if below else float("nan")


def score(gold: Graphs, predicted: Graphs) -> dict[str, GraphScores]:
    """Score graphs over the same words, for each of `KINDS`; another number of words is a `MismatchError`."""
    if len(gold) != len(predicted):
        raise MismatchError(f"{len(gold)} graphs in gold and {len(predicted)} predicted; expected as many")
    words = [one.offsets.sums(~one.empty) for one in (gold, predicted)]
    if not np.array_equal(words[0], words[1]):
        at = int(np.flatnonzero(words[0] != words[1])[0])
        raise MismatchError(f"sentence {at + 1} has {words[0][at]} words in gold and {words[1][at]} in the prediction")
    return {kind: _scores(gold, predicted, key) for kind, key in KINDS.items()}


def _scores(gold: Graphs, predicted: Graphs, key: Callable[[str], str]) -> GraphScores:
    (ours, theirs), _ = numbered([gold.relations, predicted.relations], key)
    rows = [
        np.unique(np.concatenate([_ends(graphs), ids[:, None]], axis=1), axis=0)
        for graphs, ids in ((gold, ours), (predicted, theirs))
    ]
    both, counts = np.unique(np.concatenate(rows), axis=0, return_counts=True)
    found = (rows[0], rows[1], both[counts > 1])
    return GraphScores(*(np.bincount(one[:, 0], minlength=len(gold)).astype(np.int32) for one in found))


def _ends(graphs: Graphs) -> Longs:
    """Give for each arc its sentence and the numbers, as in CoNLL-U, of its dependent and head."""
    numbers = np.stack(graphs.numbers(), axis=1).astype(np.int64)
    starts = graphs.offsets.starts.astype(np.int64)[graphs.arc_sentences]
    heads = np.where(graphs.heads > 0, starts + graphs.heads - 1, -1)
    known = np.concatenate([numbers, np.zeros((1, 2), dtype=np.int64)])
    return np.concatenate([graphs.arc_sentences[:, None], known[graphs.arc_nodes], known[heads]], axis=1)


class Collapsed(NamedTuple):
    """The arcs of graphs between words alone: both ends counted from 0 over all words, -1 for the root."""

    heads: Longs
    dependents: Longs
    relations: Column


def collapse(graphs: Graphs) -> Collapsed:
    """Do without empty nodes: paths through them become arcs, whose relations are joined by `>`.

    A path passes no empty node twice. Of equal arcs one is kept, and an arc may join a word to itself.
    """
    words = np.cumsum(~graphs.empty) - 1
    starts = graphs.offsets.starts.astype(np.int64)[graphs.arc_sentences]
    nodes = graphs.arc_nodes
    heads = np.where(graphs.heads > 0, starts + graphs.heads - 1, -1)
    from_empty = np.append(graphs.empty, False)[heads]
    plain = ~from_empty & ~graphs.empty[nodes]
    longer = sorted(_paths(graphs, heads, nodes, np.flatnonzero(from_empty & ~graphs.empty[nodes])))
    number = np.append(words, -1)
    return Collapsed(
        np.concatenate([number[heads[plain]], number[[head for _, head, _ in longer]]]).astype(np.int64),
        np.concatenate([number[nodes[plain]], number[[node for node, _, _ in longer]]]).astype(np.int64),
        Column.concat([graphs.relations.take(np.flatnonzero(plain)), Column.of(path for _, _, path in longer)]),
    )


def between_words(graphs: Graphs) -> Graphs:
    """Take graphs without empty nodes, as `collapse` does; arcs from a word to itself are left out."""
    if not graphs.empty.any():
        return graphs
    found = collapse(graphs)
    kept = np.flatnonzero(found.heads != found.dependents)
    words = graphs.offsets.counted(~graphs.empty)
    sentences = words.owners_of(found.dependents[kept])
    order = np.argsort(sentences, kind="stable")
    kept, starts = kept[order], words.starts[sentences[order]]
    return Graphs(
        words,
        np.zeros(words.total, dtype=np.bool_),
        Offsets.of_lengths(np.bincount(sentences, minlength=len(graphs))),
        frozen_ints(np.where(found.heads[kept] < 0, 0, found.heads[kept] - starts + 1)),
        frozen_ints(found.dependents[kept] - starts + 1),
        found.relations.take(kept),
    )


def _paths(graphs: Graphs, heads: Longs, nodes: Longs, arcs: Longs) -> set[tuple[int, int, str]]:
    """Follow arcs from empty nodes back to words: dependent, head and relation of each path."""
    incoming: dict[int, list[tuple[int, str]]] = {}
    names = graphs.relations.names
    for arc in np.flatnonzero(graphs.empty[nodes]).tolist():
        incoming.setdefault(int(nodes[arc]), []).append((int(heads[arc]), names[graphs.relations.ids[arc]]))
    out: set[tuple[int, int, str]] = set()
    for arc in arcs.tolist():
        waiting = [(int(heads[arc]), names[graphs.relations.ids[arc]], frozenset([int(heads[arc])]))]
        while waiting:
            node, path, passed = waiting.pop()
            for head, relation in incoming.get(node, ()):
                longer = f"{relation}{PATH}{path}"
                if head < 0 or not graphs.empty[head]:
                    out.add((int(nodes[arc]), head, longer))
                elif head not in passed:
                    waiting.append((head, longer, passed | {head}))
    return out


def enhanced(gold: Treebank, system: Treebank) -> dict[str, Score]:
    """Compute ELAS and EULAS; the files must have the same text, but need not have the same words."""
    if first_difference(gold, system) is None:
        pairs = np.repeat(np.arange(gold.words)[:, None], 2, axis=1)
    else:
        pairs = align(gold, system)
    partner = np.full(system.words + 1, -2, dtype=np.int64)
    partner[pairs[:, 1]] = pairs[:, 0]
    partner[-1] = -1
    ours, theirs = collapse(deps.read(gold)), collapse(deps.read(system))

    def found(key: Callable[[str], str]) -> Score:
        (right, guessed), _ = numbered([ours.relations, theirs.relations], key)
        rows = np.concatenate(
            [
                np.stack([ours.dependents, ours.heads, right], axis=1),
                np.stack([partner[theirs.dependents], partner[theirs.heads], guessed], axis=1),
            ]
        )
        _, ids = np.unique(rows, axis=0, return_inverse=True)
        many = int(ids.max(initial=-1)) + 1
        cut = len(right)
        seen = (partner[theirs.dependents] >= 0) & (partner[theirs.heads] >= -1)
        both = np.bincount(ids[:cut], minlength=many) * np.bincount(ids[cut:][seen], minlength=many)
        return Score(cut, len(guessed), int(both.sum()))

    return {"ELAS": found(str), "EULAS": found(coarse)}


def measures(gold: Treebank, predicted: Treebank) -> dict[str, float]:
    """Score predicted graphs over the same words by every one of `MEASURES`.

    They are ELAS, EULAS, the F1 of labelled and unlabelled arcs, and the share of whole graphs; paths through empty
    nodes are arcs in all of them.
    """
    tasks = enhanced(gold, predicted)
    found = score(between_words(deps.read(gold)), between_words(deps.read(predicted)))
    labelled = found["labelled"]
    values = (tasks["ELAS"].f1, tasks["EULAS"].f1, labelled.f1, found["unlabelled"].f1, labelled.whole)
    return dict(zip(MEASURES, values, strict=True))
