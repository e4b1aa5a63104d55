"""Scores of graphs over the same words, and those of the shared tasks on enhanced dependencies.

An arc is right if its head, its dependent and its relation are right. Unlabelled scores ignore the relation. Scores
without subtypes ignore the part of the relation after its first `:`. Precision, recall and F1 are over all arcs,
including those from node 0. There is also the mean F1 of sentences. A whole graph is right if its arcs are exactly the
gold arcs. Empty nodes count as nodes and are matched by their ids, such as 3.1.

ELAS and EULAS (Bouma, Seddah & Zeman 2020, 2021, IWPT shared tasks) have no empty nodes: a path of arcs through them
becomes one arc whose relation is that of the path, `conj>nsubj`. ELAS is the F1 of arcs with whole relations and EULAS
that of relations without subtypes, over words aligned as in CoNLL 2018. As in the tasks' program, each right pair of a
gold and a predicted arc counts, so that in EULAS arcs that differ in subtypes alone count several times.
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
    """Return a relation without its subtypes; in a path such as `conj>nsubj:pass`, each relation loses them."""
    return PATH.join(step.partition(":")[0] for step in relation.split(PATH))


KINDS: Final[Mapping[str, Callable[[str], str]]] = {
    "unlabelled": lambda _: "",
    "without subtypes": coarse,
    "labelled": str,
}


@dataclass(frozen=True, slots=True, eq=False)
class GraphScores:
    """Counts of arcs in each sentence: `gold` arcs, `predicted` arcs, and `right` ones, which are in both."""

    gold: Ints
    predicted: Ints
    right: Ints

    @property
    def precision(self) -> float:
        """The fraction of predicted arcs that are right; NaN if no arc is predicted."""
        return _ratio(int(self.right.sum()), int(self.predicted.sum()))

    @property
    def recall(self) -> float:
        """The fraction of gold arcs that were predicted; NaN if gold has no arcs."""
        return _ratio(int(self.right.sum()), int(self.gold.sum()))

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall over all arcs; NaN if there are none."""
        return _ratio(2 * int(self.right.sum()), int(self.gold.sum() + self.predicted.sum()))

    @property
    def f1_sentences(self) -> float:
        """The mean of the F1 of each sentence; sentences without gold and predicted arcs are left out."""
        both = (self.gold + self.predicted).astype(np.float64)
        some = both > 0
        return float((2 * self.right[some] / both[some]).mean()) if some.any() else float("nan")

    @property
    def whole(self) -> float:
        """The fraction of sentences whose predicted arcs are exactly the gold arcs, perhaps none."""
        right = (self.gold == self.right) & (self.predicted == self.right)
        return float(right.mean()) if len(right) else float("nan")


def _ratio(above: int, below: int) -> float:
    return above / below if below else float("nan")


def score(gold: Graphs, predicted: Graphs) -> dict[str, GraphScores]:
    """Return the scores of graphs over the same words by kind: unlabelled, without subtypes, and labelled.

    Raise `MismatchError` if the numbers of sentences or of their words differ.
    """
    if len(gold) != len(predicted):
        raise MismatchError(f"{len(gold)} graphs in gold and {len(predicted)} predicted; expected as many")
    words = [graphs.offsets.sums(~graphs.empty) for graphs in (gold, predicted)]
    if not np.array_equal(words[0], words[1]):
        at = int(np.flatnonzero(words[0] != words[1])[0])
        counts = f"{words[0][at]} words in gold and {words[1][at]} in the prediction"
        raise MismatchError(f"sentence {at + 1} has {counts}; expected the same words")
    return {kind: _scores(gold, predicted, key) for kind, key in KINDS.items()}


def _scores(gold: Graphs, predicted: Graphs, key: Callable[[str], str]) -> GraphScores:
    (ours, theirs), _ = numbered([gold.relations, predicted.relations], key)
    rows = [
        np.unique(np.concatenate([_ends(graphs), ids[:, None]], axis=1), axis=0)
        for graphs, ids in ((gold, ours), (predicted, theirs))
    ]
    both, counts = np.unique(np.concatenate(rows), axis=0, return_counts=True)
    counted = (rows[0], rows[1], both[counts > 1])
    return GraphScores(*(np.bincount(arcs[:, 0], minlength=len(gold)).astype(np.int32) for arcs in counted))


def _ends(graphs: Graphs) -> Longs:
    """Return a row for each arc: the index of its sentence, then the CoNLL-U ids of its dependent and of its head.

    An id is two integers: 3.1 is (3, 1).
    """
    numbers = np.stack(graphs.numbers(), axis=1).astype(np.int64)
    starts = graphs.offsets.starts.astype(np.int64)[graphs.arc_sentences]
    heads = np.where(graphs.heads > 0, starts + graphs.heads - 1, -1)
    known = np.concatenate([numbers, np.zeros((1, 2), dtype=np.int64)])
    return np.concatenate([graphs.arc_sentences[:, None], known[graphs.arc_nodes], known[heads]], axis=1)


class Collapsed(NamedTuple):
    """Arcs between words; `heads` and `dependents` are indices over the words of all sentences, -1 for the root."""

    heads: Longs
    dependents: Longs
    relations: Column


def collapse(graphs: Graphs) -> Collapsed:
    """Return the arcs of graphs between words; a path through empty nodes becomes an arc with relations joined by `>`.

    A path visits no empty node twice. Of several equal paths, one is kept. An arc may connect a word to itself.
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
    """Return graphs without empty nodes and without arcs from a word to itself; see `collapse` for the other arcs."""
    if not graphs.empty.any():
        return graphs
    collapsed = collapse(graphs)
    kept = np.flatnonzero(collapsed.heads != collapsed.dependents)
    words = graphs.offsets.counted(~graphs.empty)
    sentences = words.owners_of(collapsed.dependents[kept])
    order = np.argsort(sentences, kind="stable")
    kept, starts = kept[order], words.starts[sentences[order]]
    return Graphs(
        words,
        np.zeros(words.total, dtype=np.bool_),
        Offsets.of_lengths(np.bincount(sentences, minlength=len(graphs))),
        frozen_ints(np.where(collapsed.heads[kept] < 0, 0, collapsed.heads[kept] - starts + 1)),
        frozen_ints(collapsed.dependents[kept] - starts + 1),
        collapsed.relations.take(kept),
    )


def _paths(graphs: Graphs, heads: Longs, nodes: Longs, arcs: Longs) -> set[tuple[int, int, str]]:
    """Return the paths through empty nodes as (dependent, head, joined relations), with a word or the root as head.

    `heads` and `nodes` have the head and the dependent of every arc, as indices over all nodes. `arcs` are the indices
    of the arcs from an empty node to a word: the last arcs of the paths.
    """
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
    """Return ELAS and EULAS of enhanced graphs; the treebanks must have the same text, but words may differ."""
    if first_difference(gold, system) is None:
        pairs = np.repeat(np.arange(gold.words)[:, None], 2, axis=1)
    else:
        pairs = align(gold, system)
    partner = np.full(system.words + 1, -2, dtype=np.int64)
    partner[pairs[:, 1]] = pairs[:, 0]
    partner[-1] = -1
    ours, theirs = collapse(deps.read(gold)), collapse(deps.read(system))

    def matched(key: Callable[[str], str]) -> Score:
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

    return {"ELAS": matched(str), "EULAS": matched(coarse)}


def measures(gold: Treebank, predicted: Treebank) -> dict[str, float]:
    """Return all `MEASURES` of predicted graphs over the same words.

    They are ELAS, EULAS, the F1 of labelled and of unlabelled arcs, and the fraction of graphs that are wholly right.
    All of them replace paths through empty nodes with arcs between words.
    """
    tasks = enhanced(gold, predicted)
    kinds = score(between_words(deps.read(gold)), between_words(deps.read(predicted)))
    labelled = kinds["labelled"]
    values = (tasks["ELAS"].f1, tasks["EULAS"].f1, labelled.f1, kinds["unlabelled"].f1, labelled.whole)
    return dict(zip(MEASURES, values, strict=True))
