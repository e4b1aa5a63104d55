"""Statistics of treebanks and encodings: the paper's table, and more.

Trees, indices, ropes and brackets are counted in all splits. Labels and relations are counted in train, as in the
paper, or in all splits.
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
from ropewalk.laboratory.splits import SPLITS, WHOLE
from ropewalk.reporting.tables import Cell, Table, TableColumn, text_columns
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
INDEX_COLUMNS: Final = 3  # the table has columns for the indices 0, 1, 2, and one for 3 and more


@dataclass(frozen=True, slots=True)
class LabelStatistics:
    """Statistics of one encoding's labels: the number of distinct labels, and the entropy of a word's label in bits."""

    encoding: str
    symbol: str
    distinct: int
    entropy: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts of one treebank. `indices`, `stars` and `thickness` are histograms: element k counts trees with value k.

    The value in `indices` is the largest index in a tree's optimal non-projective labels. In `stars`, it is the largest
    number of `*` in one of these labels, which is the paper's "#indices". In `thickness`, it is the tree's rope
    thickness. `trees` has the number of trees by split. `brackets` has the brackets per word by rope cover. `relations`
    and `lifted_relations` count distinct relations before and after pseudo-projective lifting. They are None, and
    `labels` is empty, if the split `counted_in` is missing.
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
    """Return the counts of one treebank, and the statistics of its labels in each encoding.

    Labels and relations are counted in the split `labels_in`: `train` or `all`. A treebank without splits is counted as
    a whole.
    """
    demand_known("splits to count labels in", labels_in, COUNTED_IN)
    everything = Treebank.concat(corpus.splits.values())
    labels_in = "all" if WHOLE in corpus.splits else labels_in
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
    """Return the number of distinct values in `ids`."""
    return int(np.count_nonzero(np.bincount(ids)))


def joint_ids(labels: Labels | GraphLabels) -> npt.NDArray[np.int64]:
    """Return an id for each word's label; if labels have several columns, each combination of values has an id."""
    joint = labels.columns[0].ids.astype(np.int64)
    for column in labels.columns[1:]:
        joint = joint * len(column.names) + column.ids
    return joint


def label_statistics(bank: Treebank, encoding: Encoding) -> LabelStatistics:
    """Encode a treebank, and return the number of distinct labels and their entropy."""
    return LabelStatistics(encoding.spec, encoding.symbol, *distinct_labels(encoding.encode(bank)))


def distinct_labels(labels: Labels | GraphLabels) -> tuple[int, float]:
    """Return the number of distinct labels, and the entropy in bits of their distribution over words."""
    counts = np.unique(joint_ids(labels), return_counts=True)[1]
    frequencies = counts / counts.sum()
    return len(counts), abs(float(-(frequencies * np.log2(frequencies)).sum()))  # a single label has 0, not -0


def most_stars(trees: Trees) -> Ints:
    """Return for each tree the largest number of `*` in one of its optimal non-projective labels."""
    symbols, starts = bracket_labels(Arcs.of_trees(trees), "proper")
    out = np.zeros(len(trees), dtype=np.int32)
    np.maximum.at(out, trees.offsets.owners(), Offsets(starts).sums(symbols // INDEX).astype(np.int32))
    return out


def brackets_per_word(bank: Treebank, cover: str) -> float:
    """Return the mean number of brackets in a word's label if arcs are encoded with the rope cover `cover`.

    A structural arc has two brackets, any other arc one. Opening brackets of node 0 do not count: they are in no label.
    """
    structural = structural_arcs(Arcs.of_trees(bank.trees()), cover)
    return (bank.words + int(structural[bank.heads > 0].sum())) / max(bank.words, 1)


def _histogram(values: Ints) -> tuple[int, ...]:
    return tuple(np.bincount(values).tolist())


def shares(counts: Sequence[int], columns: int = INDEX_COLUMNS) -> list[float]:
    """Convert a histogram to percentages of the values 0, 1, … `columns` - 1, and of all larger ones together."""
    total = sum(counts)
    padded = [*counts, *[0] * columns]
    return [100 * part / total for part in [*padded[:columns], sum(padded[columns:])]]


def summary_table(many: Sequence[Statistics]) -> Table:
    """Return the paper's table of treebank and encoding statistics, with a row for each treebank."""
    specs = list(dict.fromkeys(part.encoding for bank in many for part in bank.labels))
    rows = []
    for bank in many:
        distinct = {part.encoding: part.distinct for part in bank.labels}
        labels = (distinct.get(spec) for spec in specs)
        rows.append((bank.name, bank.all_trees, *labels, bank.relations, bank.lifted_relations, *shares(bank.stars)))
    columns = (
        TableColumn("treebank", numeric=False),
        TableColumn("trees"),
        *(TableColumn(f"labels {spec}", f"labels_{spec}") for spec in specs),
        TableColumn("relations"),
        TableColumn("lifted relations", "relations_lifted", detail=True),
        *(
            TableColumn(f"most * {number}", f"stars_{number}", unit="% of trees", decimals=2, detail=number != "0")
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


def _label_columns(unit: str) -> tuple[TableColumn, ...]:
    return (
        *text_columns("treebank", "encoding"),
        TableColumn("distinct labels", "labels"),
        TableColumn("entropy", unit=f"bits per {unit}", decimals=3),
    )


def labels_table(many: Sequence[Statistics]) -> Table:
    """Return a table of distinct labels and label entropy, with a row for each treebank and encoding."""
    return Table(
        title=f"Labels in {_counted_in(many)}",
        columns=_label_columns("word"),
        rows=tuple((bank.name, part.encoding, part.distinct, part.entropy) for bank in many for part in bank.labels),
        notes=_notes(many),
    )


def indices_table(many: Sequence[Statistics]) -> Table:
    """Return a table of the number of trees by their largest index, and by the largest number of `*` in one label."""
    most = max((len(bank.stars) for bank in many), default=1)

    def rows(bank: Statistics) -> list[tuple[Cell, ...]]:
        return [
            (bank.name, what, *counts, *[0] * (most - len(counts)))
            for what, counts in (("largest index", bank.indices), ("most * in one label", bank.stars))
        ]

    return Table(
        title="Trees by index, all splits",
        columns=(
            *text_columns("treebank", "counted"),
            *(TableColumn(str(number), f"trees_{number}") for number in range(most)),
        ),
        rows=tuple(row for bank in many for row in rows(bank)),
    )


def ropes_table(many: Sequence[Statistics]) -> Table:
    """Return a table of the number of trees by rope thickness, and of the brackets per word in each rope cover."""
    most = max((len(bank.thickness) for bank in many), default=1)
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
                bank.name,
                bank.words,
                100 * bank.nonprojective / bank.all_trees,
                *(bank.brackets[cover] for cover in COVERS),
                *bank.thickness[1:],
                *[0] * (most - len(bank.thickness)),
            )
            for bank in many
        ),
        notes=("covers: all is that of naive brackets, farthest that of 4-bit, proper that of optimal brackets",),
    )


TABLES: Final = {"summary": summary_table, "labels": labels_table, "indices": indices_table, "ropes": ropes_table}


def _counted_in(many: Sequence[Statistics]) -> str:
    return "all splits" if any(bank.counted_in == "all" for bank in many) else "train"


def _notes(many: Sequence[Statistics]) -> tuple[str, ...]:
    return tuple(
        f"{treebank.name}: no {' or '.join(missing)} at hand"
        for treebank in many
        if WHOLE not in treebank.trees and (missing := [split for split in SPLITS if split not in treebank.trees])
    )


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """Counts over graphs; two summaries can be added.

    `heads`, `planes` and `indices` are histograms. Element k of `heads` counts the words and empty nodes with k heads.
    Element k of `planes` counts the graphs that need k relaxed planes, and element k of `indices` those whose largest
    index is k. `empties` counts empty nodes and `cyclic` graphs with cycles. `doubled` counts further relations between
    a head and a dependent that already have one.
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
        return GraphSummary(*(_added(getattr(self, part.name), getattr(other, part.name)) for part in fields(self)))


def _added(first: Any, second: Any) -> Any:  # noqa: ANN401 - numbers, or rows of numbers of different lengths
    return first + second if isinstance(first, int) else tuple(map(sum, zip_longest(first, second, fillvalue=0)))


def summarize_graphs(graphs: Graphs) -> GraphSummary:
    """Count the nodes, arcs, heads, planes and indices of graphs."""
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
    """Return a table of counts of graphs, with a row for each of `names`, and with their sum if there are several.

    `of` is the header of the names, such as `file` or `treebank`.
    """

    def row(name: str, counts: GraphSummary) -> tuple[Cell, ...]:
        heads, nodes = counts.heads, counts.words + counts.empties
        of_nodes = (100 * heads[0] / nodes, 100 * sum(heads[2:]) / nodes, len(heads) - 1) if nodes else none
        largest = (len(counts.planes) - 1, len(counts.indices) - 1)
        of_graphs = (100 * counts.cyclic / counts.graphs, *largest) if counts.graphs else none
        own = (counts.graphs, counts.words, counts.empties, counts.arcs, counts.doubled)
        return name, *own, *of_nodes, *of_graphs

    none = (None, None, None)

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
        rows=tuple(row(name, counts) for name, counts in zip(names, summaries, strict=True)),
        totals=(row("total", sum(summaries, start=GraphSummary())),) if len(summaries) > 1 else (),
        notes=("In a plane no two arcs of one direction cross; the index is that of optimal-nonprojective.",),
    )


def graph_labels_table(corpora: Iterable[Corpus[Graphs]], encodings: Sequence[GraphEncoding], labels_in: str) -> Table:
    """Return a table of distinct labels, label entropy and covered graphs, with a row for each treebank and encoding.

    Labels are counted in train, or in all splits if `labels_in` is `all`.
    """
    rows: list[tuple[Cell, ...]] = []
    for corpus in corpora:
        every = Graphs.concat(list(corpus.splits.values()))
        counted = every if labels_in == "all" else corpus.splits.get("train")
        for encoding in encodings:
            distinct: tuple[int | None, float | None] = None, None
            if counted is not None and counted.nodes:
                distinct = distinct_labels(encoding.encode(counted))
            covered = 100 * float(encoding.covers(every).mean()) if len(every) else None
            rows.append((corpus.name, encoding.spec, *distinct, covered))
    return Table(
        title=f"Labels of graphs; distinct in {'all splits' if labels_in == 'all' else 'train'}, covered in all splits",
        columns=(*_label_columns("node"), TableColumn("covered", unit="% of graphs", decimals=2)),
        rows=tuple(rows),
    )


def graph_scores_table(scores: Mapping[str, GraphScores], shared_task: Mapping[str, Score]) -> Table:
    """Return a table of graph scores: a row for each score, columns for unlabelled, without subtypes, and labelled.

    `scores` is the result of `graph_scores.score`, and `shared_task` that of `graph_scores.enhanced`. Either may be
    empty.
    """
    rows: list[tuple[Cell, ...]] = []
    if scores:
        kinds = [scores[kind] for kind in KINDS]
        arcs = int(kinds[-1].gold.sum())
        sentences = len(kinds[-1].gold)
        measured = (
            ("precision over arcs", arcs, "precision"),
            ("recall over arcs", arcs, "recall"),
            ("F1 over arcs", arcs, "f1"),
            ("F1 over sentences", sentences, "f1_sentences"),
            ("whole graphs", sentences, "whole"),
        )
        rows += [(shown, count, *(percent(getattr(kind, name)) for kind in kinds)) for shown, count, name in measured]
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
