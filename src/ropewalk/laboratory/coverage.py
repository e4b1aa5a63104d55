"""Coverage of encodings: the score that a perfect tagger would reach on a treebank.

Theoretical coverage is measured by encoding gold trees, decoding and repairing the labels, and scoring the result
against gold. Empirical coverage does the same, but replaces each label or relation that is not in train with the most
frequent one of train (the paper's appendix on detailed results). By default, trees that an encoding does not cover are
treated with the policy `published`, and missing heads with the repair `nearest`, as in the paper's figures. Graphs are
measured likewise, without repair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import numpy as np

from ropewalk.core.columns import Column
from ropewalk.core.graphs import Graphs
from ropewalk.encodings import POLICIES, Encoding, Labels, get, graphs, known
from ropewalk.encodings.base import LabelEncoding
from ropewalk.encodings.graphs import GraphEncoding, GraphLabels
from ropewalk.errors import EncodingOptionError, MismatchError, UnknownNameError
from ropewalk.reporting.tables import Cell, Table, TableColumn, text_columns
from ropewalk.scoring import graph_scores
from ropewalk.scoring.attachment import AttachmentScores, Measure, score
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ropewalk.laboratory.splits import Corpus
    from ropewalk.scoring.graph_scores import GraphScores

Coded = TypeVar("Coded", Labels, GraphLabels)
Coder = TypeVar("Coder", bound=LabelEncoding)
Structures = TypeVar("Structures", Treebank, Graphs)
Scores = TypeVar("Scores")

THEORETICAL: Final = "theoretical"
EMPIRICAL: Final = "empirical"
GRAPH_ENCODINGS: Final = ("optimal-nonprojective", "brackets", "four-bit", "six-bit", "relative")
MEASURES: Final[dict[Measure, tuple[str, str]]] = {
    "uas": ("UAS over words", "%"),
    "las": ("LAS over words", "%"),
    "uas_sentences": ("UAS over sentences", "%"),
    "las_sentences": ("LAS over sentences", "%"),
    "um": ("UM", "% of sentences"),
    "lm": ("LM", "% of sentences"),
}
IN_COMPACT_TABLE: Final[tuple[Measure, ...]] = ("uas", "las", "lm")
GRAPH_MEASURES: Final = {"f1": "F1 over arcs", "f1_sentences": "F1 over sentences", "whole": "whole graphs"}


@dataclass(frozen=True, slots=True)
class Coverage(Generic[Scores]):
    """Scores of one split after encoding and decoding; `kind` is theoretical or empirical coverage.

    `unknown_labels` and `unknown_relations` count the labels and relations of the split that train does not have. They
    are 0 in theoretical coverage.
    """

    treebank: str
    split: str
    encoding: str
    kind: str
    scores: Scores
    unknown_labels: int = 0
    unknown_relations: int = 0


@dataclass(frozen=True, slots=True)
class LabelVocabulary:
    """The distinct labels or relations of train, and the most frequent of them; at equal counts, the first seen."""

    known: frozenset[str]
    most_frequent: str

    @classmethod
    def of(cls, column: Column) -> LabelVocabulary:
        """Return the vocabulary of a `column` of train; raise `MismatchError` if it is empty."""
        names = column.names
        if not len(names):
            raise MismatchError("train has no words, so no labels to choose from; expected at least one")
        counts = np.bincount(column.ids, minlength=len(names))
        return cls(frozenset(names[number] for number in np.flatnonzero(counts).tolist()), names[int(counts.argmax())])

    def restrict(self, column: Column) -> tuple[Column, int]:
        """Return the column with the most frequent text instead of unknown texts, and the number of replacements."""
        numbers: dict[str, int] = {}
        kept = [name if name in self.known else self.most_frequent for name in column.names]
        table = np.array([numbers.setdefault(name, len(numbers)) for name in kept], dtype=np.int32)
        unknown = np.array([name not in self.known for name in column.names], dtype=np.bool_)
        return Column(table[column.ids], tuple(numbers)).narrow(), int(unknown[column.ids].sum())


def encodings_of(specs: Iterable[str], *, policy: str = "") -> list[Encoding]:
    """Return the encodings named by `specs`, each once; `all` stands for every known encoding.

    `policy` is added to encodings that support it, unless their name already has a policy. Raise `UnknownNameError` if
    `policy` is unknown.
    """
    if policy and policy not in POLICIES:
        raise UnknownNameError("policy", policy, POLICIES)
    names = [name for spec in specs for name in (known() if spec == "all" else [spec])]
    return [_with_policy(name, policy) for name in dict.fromkeys(names)]


def graph_encodings_of(specs: Iterable[str]) -> list[GraphEncoding]:
    """Return the graph encodings that `specs` names; `all` means every known one. Without names, `GRAPH_ENCODINGS`."""
    names = [name for spec in specs or GRAPH_ENCODINGS for name in (graphs.known() if spec == "all" else [spec])]
    return [graphs.get(name) for name in dict.fromkeys(names)]


def _with_policy(spec: str, policy: str) -> Encoding:
    encoding = get(spec)
    if not policy or "policy=" in spec or policy not in encoding.policies:
        return encoding
    name, _, options = spec.replace(" ", "").removesuffix(")").partition("(")
    try:
        return get(f"{name}({options}{',' if options else ''}policy={policy})")
    except EncodingOptionError:  # the policy contradicts the other options
        return encoding


def coverage(
    corpus: Corpus[Treebank], encodings: Sequence[Encoding], *, splits: Sequence[str] = (), repair: str = "nearest"
) -> list[Coverage[AttachmentScores]]:
    """Measure theoretical and empirical coverage of trees for each encoding on `splits`, or on all splits if empty.

    If train is missing or has no words, there is no empirical coverage. `repair` names the repair of missing heads.
    """

    def measure(encoding: Encoding, bank: Treebank, labels: Labels) -> AttachmentScores:
        return score(bank, Treebank.of(encoding.recover(labels, repair_policy=repair).trees))

    return _coverage(corpus, encodings, splits, Encoding.encode, measure)


def graph_coverage(
    corpus: Corpus[Graphs], encodings: Sequence[GraphEncoding], *, splits: Sequence[str] = ()
) -> list[Coverage[Mapping[str, GraphScores]]]:
    """Measure theoretical and empirical coverage of graphs for each encoding on `splits`, or on all splits if empty."""

    def measure(encoding: GraphEncoding, gold: Graphs, labels: GraphLabels) -> Mapping[str, GraphScores]:
        return graph_scores.score(gold, encoding.decode(labels).graphs)

    return _coverage(corpus, encodings, splits, GraphEncoding.encode, measure)


def _coverage(
    corpus: Corpus[Structures],
    encodings: Sequence[Coder],
    splits: Sequence[str],
    encode: Callable[[Coder, Structures], Coded],
    measure: Callable[[Coder, Structures, Coded], Scores],
) -> list[Coverage[Scores]]:
    out: list[Coverage[Scores]] = []
    for encoding in encodings:
        train = encode(encoding, corpus.splits["train"]) if "train" in corpus.splits else None
        for split, gold in corpus.splits.items():
            if splits and split not in splits:
                continue
            labels = train if split == "train" and train is not None else encode(encoding, gold)
            row = corpus.name, split, encoding.spec
            out.append(Coverage(*row, THEORETICAL, measure(encoding, gold, labels)))
            if train is not None and len(train.relations):
                seen, *unknown = restricted(labels, train)
                out.append(Coverage(*row, EMPIRICAL, measure(encoding, gold, seen), *unknown))
    return sorted(out, key=lambda row: row.kind, reverse=True)


def restricted(labels: Coded, train: Coded) -> tuple[Coded, int, int]:
    """Replace each label and relation that is not in `train` with the most frequent one of `train`.

    Return the result, the number of replaced labels, and the number of replaced relations. Raise `MismatchError` if
    `labels` and `train` have different numbers of label columns.
    """
    if len(labels.columns) != len(train.columns):
        problem = f"labels of {len(labels.columns)} columns, and of {len(train.columns)} in train"
        raise MismatchError(f"{problem}; expected those of one encoding")
    columns = [LabelVocabulary.of(seen).restrict(own) for seen, own in zip(train.columns, labels.columns, strict=True)]
    relations, unknown = LabelVocabulary.of(train.relations).restrict(labels.relations)
    kept = replace(labels, columns=tuple(column for column, _ in columns), relations=relations)
    return kept, sum(changed for _, changed in columns), unknown


def coverage_table(
    rows: Sequence[Coverage[AttachmentScores]], *, repair: str = "nearest", missing: Sequence[str] = ()
) -> Table:
    """Return a table with a row for each treebank, split, encoding and kind of coverage.

    `repair` is named in the title. `missing` has the notes below the table.
    """
    return Table(
        title=f"Coverage; relation subtypes and punctuation count, missing heads by the repair {repair}",
        columns=_columns([_score_column(measure) for measure in MEASURES], "words"),
        rows=tuple(_row(row, [100 * row.scores.parts(measure).value for measure in MEASURES]) for row in rows),
        notes=tuple(missing),
    )


def graph_coverage_table(rows: Sequence[Coverage[Mapping[str, GraphScores]]]) -> Table:
    """Return a table with a row for each treebank, split, encoding and kind of coverage."""
    scores = [(kind, key) for key in GRAPH_MEASURES for kind in ("unlabelled", "labelled")]
    return Table(
        title="Coverage of graphs; relation subtypes and arcs from node 0 count",
        columns=_columns([_graph_score_column(kind, key) for kind, key in scores], "nodes", "arcs"),
        rows=tuple(_row(row, [percent(getattr(row.scores[kind], key)) for kind, key in scores]) for row in rows),
    )


def percent(fraction: float) -> float | None:
    """Return a fraction in percent, or None if it is NaN."""
    return None if np.isnan(fraction) else 100 * fraction


def _score_column(measure: Measure) -> TableColumn:
    name, unit = MEASURES[measure]
    key = name.lower().replace(" ", "_")
    return TableColumn(name, key, unit=unit, decimals=2, detail=measure not in IN_COMPACT_TABLE)


def _graph_score_column(kind: str, key: str) -> TableColumn:
    name = f"{kind} {GRAPH_MEASURES[key]}"
    return TableColumn(name, f"{kind}_{key}", unit="%", decimals=2, detail=key == "f1_sentences")


def _columns(scores: Sequence[TableColumn], labels_of: str, relations_of: str = "") -> tuple[TableColumn, ...]:
    return (
        *text_columns("treebank", "split", "coverage", "encoding"),
        *scores,
        TableColumn("unknown labels", "unknown_labels", unit=labels_of),
        TableColumn("unknown relations", "unknown_relations", unit=relations_of or labels_of, detail=True),
    )


def _row(row: Coverage[Scores], scores: Sequence[Cell]) -> tuple[Cell, ...]:
    unknown = (None, None) if row.kind == THEORETICAL else (row.unknown_labels, row.unknown_relations)
    return row.treebank, row.split, row.kind, row.encoding, *scores, *unknown
