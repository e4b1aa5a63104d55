"""What the graphs of a treebank hold, and how much of them comes back from their labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column
from ropewalk.core.graphs import Graphs, arc_planes, cyclic
from ropewalk.encodings.graphs import KNOWN, get
from ropewalk.encodings.indexed import bracket_labels
from ropewalk.kernels.codes import INDEX
from ropewalk.laboratory.coverage import EMPIRICAL, THEORETICAL, LabelVocabulary
from ropewalk.reporting.tables import Cell, Table, TableColumn
from ropewalk.scoring.graph_scores import KINDS, score

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.encodings.graphs import GraphEncoding, GraphLabels
    from ropewalk.scoring.conll18 import Score
    from ropewalk.scoring.graph_scores import GraphScores

DEFAULTS: Final = ("optimal-nonprojective", "brackets", "four-bit", "six-bit", "relative")


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
        return GraphSummary(
            self.graphs + other.graphs,
            self.words + other.words,
            self.empties + other.empties,
            self.arcs + other.arcs,
            self.doubled + other.doubled,
            self.cyclic + other.cyclic,
            _added(self.heads, other.heads),
            _added(self.planes, other.planes),
            _added(self.indices, other.indices),
        )


def _added(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    many = max(len(first), len(second))
    return tuple(sum(counts) for counts in zip(_padded(first, many), _padded(second, many), strict=True))


def _padded(counts: Sequence[int], many: int) -> list[int]:
    return [*counts, *[0] * (many - len(counts))]


def summarize(graphs: Graphs) -> GraphSummary:
    """Count what some graphs hold."""
    arcs = graphs.arcs()
    symbols, starts = bracket_labels(arcs, "proper")
    nodes = np.repeat(np.arange(graphs.nodes), np.diff(starts))
    sentences = np.repeat(np.arange(len(graphs)), graphs.lengths)[nodes]
    own = arcs.offsets.owners()
    dependents = np.where(arcs.rightward.view(np.bool_), arcs.right, arcs.left)
    heads = np.bincount(graphs.offsets.starts[own] + dependents - 1, minlength=graphs.nodes)
    empties = int(graphs.empty.sum())
    return GraphSummary(
        graphs=len(graphs),
        words=graphs.nodes - empties,
        empties=empties,
        arcs=len(graphs.heads),
        doubled=len(graphs.heads) - len(arcs.left),
        cyclic=int(cyclic(graphs).sum()),
        heads=tuple(np.bincount(heads).tolist()),
        planes=_by_graph(arc_planes(arcs), own, len(graphs)),
        indices=_by_graph((symbols // INDEX).astype(np.int32), sentences, len(graphs)),
    )


def _by_graph(values: Ints, sentences: np.typing.NDArray[np.int64], many: int) -> tuple[int, ...]:
    most = np.zeros(many, dtype=np.int32)
    np.maximum.at(most, sentences, values)
    return tuple(np.bincount(most).tolist())


def summary_table(names: Sequence[str], summaries: Sequence[GraphSummary], *, of: str = "file") -> Table:
    """What graphs hold, a row for each file or treebank, and their sum."""

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


@dataclass(frozen=True, slots=True, eq=False)
class GraphCorpus:
    """One treebank in memory: its name, and the graphs of each split that there is."""

    name: str
    splits: Mapping[str, Graphs]


def encodings_of(specs: Sequence[str]) -> list[GraphEncoding]:
    """Make encodings of graphs from their names; `all` is every one that is known."""
    wanted = [spec for given in specs or DEFAULTS for spec in (KNOWN if given == "all" else [given])]
    return [get(spec) for spec in dict.fromkeys(wanted)]


def labels_table(corpora: Iterable[GraphCorpus], encodings: Sequence[GraphEncoding], labels_in: str) -> Table:
    """Distinct labels, their entropy, and the graphs that come back, a row for each treebank and encoding."""
    rows: list[tuple[Cell, ...]] = []
    for corpus in corpora:
        every = Graphs.concat(list(corpus.splits.values()))
        counted = every if labels_in == "all" else corpus.splits.get("train")
        for encoding in encodings:
            found: tuple[int | None, float | None] = None, None
            if counted is not None and counted.nodes:
                counts = np.bincount(encoding.encode(counted).ids[0])
                shares = counts[counts > 0] / counts.sum()
                found = len(shares), abs(float(-(shares * np.log2(shares)).sum()))
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


@dataclass(frozen=True, slots=True)
class GraphCoverage:
    """What came back of one split through one encoding, and how many nodes and arcs had to change."""

    treebank: str
    split: str
    encoding: str
    kind: str
    scores: Mapping[str, GraphScores]
    unknown_labels: int | None = None
    unknown_relations: int | None = None


def coverage(
    corpus: GraphCorpus, encodings: Sequence[GraphEncoding], *, splits: Sequence[str] = ()
) -> list[GraphCoverage]:
    """Measure coverage as for trees: with all labels, and with only the labels and relations that train has."""
    out: list[GraphCoverage] = []
    for encoding in encodings:
        train = encoding.encode(corpus.splits["train"]) if "train" in corpus.splits else None
        for split, graphs in corpus.splits.items():
            if splits and split not in splits:
                continue
            labels = encoding.encode(graphs)
            scores = score(graphs, encoding.decode(labels).graphs)
            out.append(GraphCoverage(corpus.name, split, encoding.spec, THEORETICAL, scores))
            if train is not None and len(train.relations):
                seen, *unknown = _restricted(labels, train)
                scores = score(graphs, encoding.decode(seen).graphs)
                out.append(GraphCoverage(corpus.name, split, encoding.spec, EMPIRICAL, scores, *unknown))
    return sorted(out, key=lambda row: row.kind, reverse=True)


def _restricted(labels: GraphLabels, train: GraphLabels) -> tuple[GraphLabels, int, int]:
    columns = [
        LabelVocabulary.of(seen, names).restrict(ids, own)
        for seen, names, ids, own in zip(train.ids, train.alphabets, labels.ids, labels.alphabets, strict=True)
    ]
    known = LabelVocabulary.of(train.relations.ids, train.relations.names)
    relations, names, unknown = known.restrict(labels.relations.ids, labels.relations.names)
    kept = replace(
        labels,
        ids=tuple(ids for ids, _, _ in columns),
        alphabets=tuple(texts for _, texts, _ in columns),
        relations=Column(frozen_ints(relations), names),
    )
    return kept, sum(changed for _, _, changed in columns), unknown


def coverage_table(rows: Sequence[GraphCoverage]) -> Table:
    """One row for each treebank, split, encoding and kind of coverage."""
    kinds = ("unlabelled", "labelled")
    return Table(
        title="Coverage of graphs; relation subtypes and arcs from node 0 count",
        columns=(
            TableColumn("treebank", numeric=False),
            TableColumn("split", numeric=False),
            TableColumn("coverage", numeric=False),
            TableColumn("encoding", numeric=False),
            *(TableColumn(f"{kind} F1 over arcs", f"{kind}_f1", unit="%", decimals=2) for kind in kinds),
            *(TableColumn(f"{kind} F1 over sentences", f"{kind}_f1_sentences", unit="%", decimals=2) for kind in kinds),
            *(TableColumn(f"{kind} whole graphs", f"{kind}_whole", unit="%", decimals=2) for kind in kinds),
            TableColumn("unknown labels", "unknown_labels", unit="nodes"),
            TableColumn("unknown relations", "unknown_relations", unit="arcs"),
        ),
        rows=tuple(
            (
                row.treebank,
                row.split,
                row.kind,
                row.encoding,
                *(_percent(row.scores[kind].f1) for kind in kinds),
                *(_percent(row.scores[kind].f1_sentences) for kind in kinds),
                *(_percent(row.scores[kind].whole) for kind in kinds),
                row.unknown_labels,
                row.unknown_relations,
            )
            for row in rows
        ),
    )


def scores_table(scores: Mapping[str, GraphScores], shared_task: Mapping[str, Score]) -> Table:
    """What `scoring.graphs` counted: a column for each of `KINDS`, a row for each score, ELAS and EULAS last."""
    rows: list[tuple[Cell, ...]] = []
    if scores:
        found = [scores[kind] for kind in KINDS]
        arcs = int(found[-1].gold.sum())
        rows += [
            ("precision over arcs", arcs, *(_percent(one.precision) for one in found)),
            ("recall over arcs", arcs, *(_percent(one.recall) for one in found)),
            ("F1 over arcs", arcs, *(_percent(one.f1) for one in found)),
            ("F1 over sentences", len(found[-1].gold), *(_percent(one.f1_sentences) for one in found)),
            ("whole graphs", len(found[-1].gold), *(_percent(one.whole) for one in found)),
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


def _percent(share: float) -> float | None:
    return None if np.isnan(share) else 100 * share
