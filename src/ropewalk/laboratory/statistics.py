"""Statistics of treebanks and encodings: the paper's table, and more.

Trees, indices, ropes and brackets are counted over all splits that there are; labels and relations in train, as in
the paper, or in all splits.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ropewalk.core.arcs import Arcs
from ropewalk.core.graphs import Graphs, arc_planes, cyclic
from ropewalk.core.projectivity import lift
from ropewalk.core.ragged import Offsets
from ropewalk.core.ropes import COVERS, rope_thickness, structural_arcs
from ropewalk.core.trees import Trees, projective
from ropewalk.encodings.optimal import bracket_labels, largest_index
from ropewalk.errors import demand_known
from ropewalk.kernels.codes import INDEX
from ropewalk.laboratory.coverage import percent
from ropewalk.reporting.tables import Cell, Table, TableColumn
from ropewalk.scoring.graph_scores import KINDS
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from ropewalk.core.arrays import Ints
    from ropewalk.encodings import Encoding, Labels
    from ropewalk.encodings.graphs import GraphEncoding, GraphLabels
    from ropewalk.laboratory.splits import Corpus
    from ropewalk.scoring.conll18 import Score
    from ropewalk.scoring.graph_scores import GraphScores

COUNTED_IN: Final = ("train", "all")
INDEX_COLUMNS: Final = 3  # the table has 0, 1, 2 and then all from 3 on


@dataclass(frozen=True, slots=True)
class LabelStatistics:
    """The labels of one encoding: how many distinct ones there are, and the entropy of one word's, in bits."""

    encoding: str
    symbol: str
    distinct: int
    entropy: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts of one treebank; number k of `indices`, `stars` and `thickness` counts the trees that have k.

    `indices` goes by the largest index of a tree's optimal non-projective labels, `stars` by the largest number of
    `*` in one of its labels, which is what the paper's "#indices" counts. `brackets` gives the brackets per word of
    each rope cover. What would be counted in a split that is not there is None, or empty.
    """

    name: str
    trees: dict[str, int]
    words: int
    nonprojective: int
    counted_in: str
    relations: int | None
    lifted_relations: int | None
    indices: tuple[int, ...]
    stars: tuple[int, ...]
    thickness: tuple[int, ...]
    brackets: dict[str, float]
    labels: tuple[LabelStatistics, ...]

    @property
    def all_trees(self) -> int:
        """The number of trees of all splits."""
        return sum(self.trees.values())


def statistics(corpus: Corpus[Treebank], encodings: Sequence[Encoding], *, labels_in: str = "train") -> Statistics:
    """Count what one treebank holds."""
    demand_known("place to count labels in", labels_in, COUNTED_IN)
    everything = Treebank.concat(corpus.splits.values())
    counted = everything if labels_in == "all" else corpus.splits.get("train")
    trees = everything.trees()
    return Statistics(
        name=corpus.name,
        trees={split: len(bank) for split, bank in corpus.splits.items()},
        words=everything.words,
        nonprojective=int((~projective(trees)).sum()),
        counted_in=labels_in,
        relations=None if counted is None else _distinct(counted.relations.ids),
        lifted_relations=None if counted is None else _distinct(counted.lifted(lift).relations.ids),
        indices=_histogram(largest_index(trees)),
        stars=_histogram(most_stars(trees)),
        thickness=_histogram(rope_thickness(trees)),
        brackets={cover: brackets_per_word(everything, cover) for cover in COVERS},
        labels=() if counted is None else tuple(label_statistics(counted, encoding) for encoding in encodings),
    )


def _distinct(ids: npt.NDArray[np.integer]) -> int:
    """Return the number of different ids."""
    return int(np.count_nonzero(np.bincount(ids)))


def joint_ids(labels: Labels | GraphLabels) -> npt.NDArray[np.int64]:
    """Number the labels of all words, those of several columns taken together."""
    joint = labels.columns[0].ids.astype(np.int64)
    for column in labels.columns[1:]:
        joint = joint * len(column.names) + column.ids
    return joint


def label_statistics(bank: Treebank, encoding: Encoding) -> LabelStatistics:
    """Count the labels of one encoding over a treebank."""
    return LabelStatistics(encoding.spec, encoding.symbol, *distinct_labels(encoding.encode(bank)))


def distinct_labels(labels: Labels | GraphLabels) -> tuple[int, float]:
    """Return the number of distinct labels, and the entropy of one word's in bits."""
    counts = np.unique(joint_ids(labels), return_counts=True)[1]
    shares = counts / counts.sum()
    return len(counts), abs(float(-(shares * np.log2(shares)).sum()))  # a single label has 0, not -0


def most_stars(trees: Trees) -> Ints:
    """Return for each tree the largest number of `*` in one of its optimal non-projective labels."""
    symbols, starts = bracket_labels(Arcs.of_trees(trees), "proper")
    out = np.zeros(len(trees), dtype=np.int32)
    np.maximum.at(out, trees.offsets.owners(), Offsets(starts).sums(symbols // INDEX).astype(np.int32))
    return out


def brackets_per_word(bank: Treebank, cover: str) -> float:
    """Two brackets for a structural arc and one for any other; node 0's opening brackets are in no label."""
    structural = structural_arcs(Arcs.of_trees(bank.trees()), cover)
    return (bank.words + int(structural[bank.heads > 0].sum())) / max(bank.words, 1)


def _histogram(values: Ints) -> tuple[int, ...]:
    return tuple(np.bincount(values).tolist())


def shares(counts: Sequence[int], columns: int = INDEX_COLUMNS) -> list[float]:
    """Percentages of 0, 1, … and, last, of all from `columns` on."""
    total = sum(counts)
    padded = [*counts, *[0] * columns]
    return [100 * part / total for part in [*padded[:columns], sum(padded[columns:])]]


def summary_table(many: Sequence[Statistics]) -> Table:
    """The paper's table of treebank and encoding statistics, a row for each treebank."""
    specs = _specs(many)
    rows = [
        (
            one.name,
            one.all_trees,
            *(_distinct_of(one, spec) for spec in specs),
            one.relations,
            one.lifted_relations,
            *shares(one.stars),
        )
        for one in many
    ]
    columns = (
        TableColumn("treebank", numeric=False),
        TableColumn("trees"),
        *(TableColumn(f"labels {spec}", f"labels_{spec}") for spec in specs),
        TableColumn("relations"),
        TableColumn("relations, lifted", "relations_lifted"),
        *(
            TableColumn(f"most * {number}", f"stars_{number}", unit="% of trees", decimals=2)
            for number in ("0", "1", "2", "3+")
        ),
    )
    return Table(
        title=f"Treebank and encoding statistics; labels and relations distinct in {_counted_in(many)}, "
        "trees and * in all splits",
        columns=columns,
        rows=tuple(rows),
        notes=(
            *_notes(many),
            "most *: the largest number of * in one label of the tree, the paper's #indices, not the largest index",
        ),
    )


def labels_table(many: Sequence[Statistics]) -> Table:
    """Distinct labels and label entropy, a row for each treebank and encoding."""
    return Table(
        title=f"Labels in {_counted_in(many)}",
        columns=(
            TableColumn("treebank", numeric=False),
            TableColumn("encoding", numeric=False),
            TableColumn("distinct labels", "labels"),
            TableColumn("entropy", unit="bits per word", decimals=3),
        ),
        rows=tuple((one.name, part.encoding, part.distinct, part.entropy) for one in many for part in one.labels),
        notes=_notes(many),
    )


def indices_table(many: Sequence[Statistics]) -> Table:
    """Return the table of trees by their largest index, and by the most `*` in one label."""
    most = max((len(one.stars) for one in many), default=1)

    def rows(one: Statistics) -> list[tuple[Cell, ...]]:
        return [
            (one.name, what, *counts, *[0] * (most - len(counts)))
            for what, counts in (("largest index", one.indices), ("most * in one label", one.stars))
        ]

    return Table(
        title="Trees by index, all splits",
        columns=(
            TableColumn("treebank", numeric=False),
            TableColumn("counted", numeric=False),
            *(TableColumn(str(number), f"trees_{number}") for number in range(most)),
        ),
        rows=tuple(row for one in many for row in rows(one)),
    )


def ropes_table(many: Sequence[Statistics]) -> Table:
    """Return the table of trees by rope thickness, and of brackets per word in each rope cover."""
    most = max((len(one.thickness) for one in many), default=1)
    return Table(
        title="Rope thickness and brackets, all splits",
        columns=(
            TableColumn("treebank", numeric=False),
            TableColumn("words"),
            TableColumn("non-projective", "nonprojective", unit="% of trees", decimals=2),
            *(
                TableColumn(f"{cover} cover", f"brackets_{cover}", unit="brackets per word", decimals=3)
                for cover in COVERS
            ),
            *(TableColumn(f"thickness {number}", f"thickness_{number}", unit="trees") for number in range(1, most)),
        ),
        rows=tuple(
            (
                one.name,
                one.words,
                100 * one.nonprojective / one.all_trees,
                *(one.brackets[cover] for cover in COVERS),
                *one.thickness[1:],
                *[0] * (most - len(one.thickness)),
            )
            for one in many
        ),
        notes=("covers: all is that of naive brackets, farthest that of 4-bit, proper that of optimal brackets",),
    )


TABLES: Final = {"summary": summary_table, "labels": labels_table, "indices": indices_table, "ropes": ropes_table}


def _specs(many: Sequence[Statistics]) -> list[str]:
    return list(dict.fromkeys(part.encoding for one in many for part in one.labels))


def _distinct_of(one: Statistics, spec: str) -> int | None:
    return next((part.distinct for part in one.labels if part.encoding == spec), None)


def _counted_in(many: Sequence[Statistics]) -> str:
    return "all splits" if any(one.counted_in == "all" for one in many) else "train"


def _notes(many: Sequence[Statistics]) -> tuple[str, ...]:
    return tuple(
        f"{one.name}: no {' or '.join(missing)} at hand"
        for one in many
        if (missing := [split for split in ("train", "dev", "test") if split not in one.trees])
    )


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """Counts over graphs; the sum of two summaries is the summary of both.

    Number k of `heads` counts the words and empty nodes with k heads; number k of `planes` and `indices` counts the
    graphs that need k relaxed planes, and those whose largest index is k. `doubled` counts pairs of nodes joined by
    several relations.
    """

    graphs: int = 0
    words: int = 0
    empties: int = 0
    arcs: int = 0
    doubled: int = 0
    cyclic: int = 0
    heads: tuple[int, ...] = ()
    planes: tuple[int, ...] = ()
    indices: tuple[int, ...] = ()

    def __add__(self, other: GraphSummary) -> GraphSummary:
        return GraphSummary(*(_added(getattr(self, one.name), getattr(other, one.name)) for one in fields(self)))


def _added(first: Any, second: Any) -> Any:  # noqa: ANN401 - numbers, or rows of numbers of different lengths
    return first + second if isinstance(first, int) else tuple(map(sum, zip_longest(first, second, fillvalue=0)))


def summarize_graphs(graphs: Graphs) -> GraphSummary:
    """Count what some graphs hold."""
    arcs = graphs.arcs()
    symbols, starts = bracket_labels(arcs, "proper")
    nodes = np.repeat(np.arange(graphs.nodes), np.diff(starts))
    sentences = np.repeat(np.arange(len(graphs)), graphs.lengths)[nodes]
    own = arcs.offsets.owners()
    heads = np.bincount(graphs.offsets.starts[own] + arcs.dependents - 1, minlength=graphs.nodes)
    empties = int(graphs.empty.sum())
    return GraphSummary(
        graphs=len(graphs),
        words=graphs.nodes - empties,
        empties=empties,
        arcs=len(graphs.heads),
        doubled=len(graphs.heads) - len(arcs),
        cyclic=int(cyclic(graphs).sum()),
        heads=tuple(np.bincount(heads).tolist()),
        planes=_by_graph(arc_planes(arcs), own, len(graphs)),
        indices=_by_graph((symbols // INDEX).astype(np.int32), sentences, len(graphs)),
    )


def _by_graph(values: Ints, sentences: npt.NDArray[np.int64], many: int) -> tuple[int, ...]:
    most = np.zeros(many, dtype=np.int32)
    np.maximum.at(most, sentences, values)
    return tuple(np.bincount(most).tolist())


def graph_summary_table(names: Sequence[str], summaries: Sequence[GraphSummary], *, of: str = "file") -> Table:
    """Return what graphs hold, a row for each file or treebank, and their sum."""

    def row(name: str, one: GraphSummary) -> tuple[Cell, ...]:
        nodes = one.words + one.empties
        return (
            name,
            one.graphs,
            one.words,
            one.empties,
            one.arcs,
            one.doubled,
            100 * one.heads[0] / nodes if nodes else None,
            100 * sum(one.heads[2:]) / nodes if nodes else None,
            len(one.heads) - 1 if nodes else None,
            100 * one.cyclic / one.graphs if one.graphs else None,
            len(one.planes) - 1 if one.graphs else None,
            len(one.indices) - 1 if one.graphs else None,
        )

    return Table(
        title="Graphs",
        columns=(
            TableColumn(of, numeric=False),
            TableColumn("graphs"),
            TableColumn("words"),
            TableColumn("empty nodes", "empty_nodes"),
            TableColumn("arcs"),
            TableColumn("further relations", "further_relations", unit="arcs"),
            TableColumn("no head", "no_head", unit="% of nodes", decimals=2),
            TableColumn("several heads", "several_heads", unit="% of nodes", decimals=2),
            TableColumn("most heads", "most_heads"),
            TableColumn("cycles", "cyclic", unit="% of graphs", decimals=2),
            TableColumn("most planes", "most_planes"),
            TableColumn("largest index", "largest_index"),
        ),
        rows=tuple(row(name, one) for name, one in zip(names, summaries, strict=True)),
        totals=(row("total", sum(summaries, start=GraphSummary())),) if len(summaries) > 1 else (),
        notes=("Planes: in which no two arcs of one direction cross; the index is that of optimal-nonprojective.",),
    )


def graph_labels_table(corpora: Iterable[Corpus[Graphs]], encodings: Sequence[GraphEncoding], labels_in: str) -> Table:
    """Distinct labels, their entropy, and the graphs that come back, a row for each treebank and encoding."""
    rows: list[tuple[Cell, ...]] = []
    for corpus in corpora:
        every = Graphs.concat(list(corpus.splits.values()))
        counted = every if labels_in == "all" else corpus.splits.get("train")
        for encoding in encodings:
            found: tuple[int | None, float | None] = None, None
            if counted is not None and counted.nodes:
                found = distinct_labels(encoding.encode(counted))
            covered = 100 * float(encoding.covers(every).mean()) if len(every) else None
            rows.append((corpus.name, encoding.spec, *found, covered))
    return Table(
        title=f"Labels of graphs; distinct in {'all splits' if labels_in == 'all' else 'train'}, covered in all splits",
        columns=(
            TableColumn("treebank", numeric=False),
            TableColumn("encoding", numeric=False),
            TableColumn("distinct labels", "labels"),
            TableColumn("entropy", unit="bits per node", decimals=3),
            TableColumn("covered", unit="% of graphs", decimals=2),
        ),
        rows=tuple(rows),
    )


def graph_scores_table(scores: Mapping[str, GraphScores], shared_task: Mapping[str, Score]) -> Table:
    """Return what `scoring.graph_scores` counted: a column for each of `KINDS`, a row for each score."""
    rows: list[tuple[Cell, ...]] = []
    if scores:
        found = [scores[kind] for kind in KINDS]
        arcs = int(found[-1].gold.sum())
        rows += [
            ("precision over arcs", arcs, *(percent(one.precision) for one in found)),
            ("recall over arcs", arcs, *(percent(one.recall) for one in found)),
            ("F1 over arcs", arcs, *(percent(one.f1) for one in found)),
            ("F1 over sentences", len(found[-1].gold), *(percent(one.f1_sentences) for one in found)),
            ("whole graphs", len(found[-1].gold), *(percent(one.whole) for one in found)),
        ]
    if shared_task:
        coarse, fine = shared_task["EULAS"], shared_task["ELAS"]
        rows.append(("empty nodes collapsed, F1 (EULAS, ELAS)", fine.gold, None, 100 * coarse.f1, 100 * fine.f1))
    return Table(
        title="Scores of graphs, arcs from node 0 included",
        columns=(
            TableColumn("score", numeric=False),
            TableColumn("of", "count"),
            *(TableColumn(kind, kind.replace(" ", "_"), unit="%", decimals=2) for kind in KINDS),
        ),
        rows=tuple(rows),
    )
