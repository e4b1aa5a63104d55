"""Coverage of encodings: the score that a perfect tagger would reach on a treebank.

Theoretical coverage encodes, decodes, repairs and compares. Empirical coverage does the same with only the labels and
relations that train has; each other one becomes the most frequent one of train (the paper's appendix on detailed
results). By default trees that an encoding does not cover meet the policy `published`, and missing heads are filled in
by the repair `nearest`, as in the paper's figures. Graphs are measured likewise, without repair.
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
from ropewalk.reporting.tables import Cell, Table, TableColumn
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


@dataclass(frozen=True, slots=True)
class Coverage(Generic[Scores]):
    """Scores of one split after encoding and decoding, and the number of words or arcs that had to change."""

    treebank: str
    split: str
    encoding: str
    kind: str
    scores: Scores
    unknown_labels: int = 0
    unknown_relations: int = 0


@dataclass(frozen=True, slots=True)
class LabelVocabulary:
    """The distinct texts of train, and the most frequent of them; at equal counts, the first seen."""

    known: frozenset[str]
    most_frequent: str

    @classmethod
    def of(cls, column: Column) -> LabelVocabulary:
        """Count the texts of train."""
        names = column.names
        if not len(names):
            raise MismatchError("train has no words, so no labels to choose from; expected at least one")
        counts = np.bincount(column.ids, minlength=len(names))
        return cls(frozenset(names[number] for number in np.flatnonzero(counts).tolist()), names[int(counts.argmax())])

    def restrict(self, column: Column) -> tuple[Column, int]:
        """Replace what train does not have; return also how many words changed."""
        numbers: dict[str, int] = {}
        kept = [name if name in self.known else self.most_frequent for name in column.names]
        table = np.array([numbers.setdefault(name, len(numbers)) for name in kept], dtype=np.int32)
        unknown = np.array([name not in self.known for name in column.names], dtype=np.bool_)
        return Column(table[column.ids], tuple(numbers)).narrow(), int(unknown[column.ids].sum())


def encodings_of(specs: Iterable[str], *, policy: str = "") -> list[Encoding]:
    """Return encodings by their names; `all` is every one that is known.

    A policy, if given, is taken by those that have it and name none of their own.
    """
    if policy and policy not in POLICIES:
        raise UnknownNameError("policy", policy, POLICIES)
    wanted = [spec for given in specs for spec in (known() if given == "all" else [given])]
    return [_with_policy(spec, policy) for spec in dict.fromkeys(wanted)]


def graph_encodings_of(specs: Iterable[str]) -> list[GraphEncoding]:
    """Return encodings of graphs by their names; `all` is every one that is known."""
    wanted = [spec for given in specs or GRAPH_ENCODINGS for spec in (graphs.known() if given == "all" else [given])]
    return [graphs.get(spec) for spec in dict.fromkeys(wanted)]


def _with_policy(spec: str, policy: str) -> Encoding:
    encoding = get(spec)
    if not policy or "policy=" in spec or policy not in encoding.policies:
        return encoding
    name, _, options = spec.replace(" ", "").removesuffix(")").partition("(")
    try:
        return get(f"{name}({options}{',' if options else ''}policy={policy})")
    except EncodingOptionError:  # a policy that does not go with the other options
        return encoding


def coverage(
    corpus: Corpus[Treebank], encodings: Sequence[Encoding], *, splits: Sequence[str] = (), repair: str = "nearest"
) -> list[Coverage[AttachmentScores]]:
    """Measure both kinds of coverage on the splits asked for, or on all that there are.

    Without words in train there is no empirical coverage.
    """

    def measure(encoding: Encoding, bank: Treebank, labels: Labels) -> AttachmentScores:
        return score(bank, Treebank.of(encoding.recover(labels, repair_policy=repair).trees))

    return _coverage(corpus, encodings, splits, Encoding.encode, measure)


def graph_coverage(
    corpus: Corpus[Graphs], encodings: Sequence[GraphEncoding], *, splits: Sequence[str] = ()
) -> list[Coverage[Mapping[str, GraphScores]]]:
    """Measure coverage as for trees: with all labels, and with only the labels and relations that train has."""

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
    """Replace labels and relations that train does not have; return also how many of either had to change."""
    if len(labels.columns) != len(train.columns):
        raise MismatchError(
            f"labels of {len(labels.columns)} columns, and of {len(train.columns)} in train; expected those of one "
            "encoding"
        )
    columns = [LabelVocabulary.of(seen).restrict(own) for seen, own in zip(train.columns, labels.columns, strict=True)]
    relations, unknown = LabelVocabulary.of(train.relations).restrict(labels.relations)
    kept = replace(labels, columns=tuple(column for column, _ in columns), relations=relations)
    return kept, sum(changed for _, changed in columns), unknown


def coverage_table(
    rows: Sequence[Coverage[AttachmentScores]], *, repair: str = "nearest", missing: Sequence[str] = ()
) -> Table:
    """One row for each treebank, split, encoding and kind of coverage; `missing` names what could not be had."""
    return Table(
        title=f"Coverage; relation subtypes and punctuation count, missing heads by the repair {repair}",
        columns=_columns([(name, name.lower().replace(" ", "_"), unit) for name, unit in MEASURES.values()], "words"),
        rows=tuple(_row(row, [100 * row.scores.parts(measure).value for measure in MEASURES]) for row in rows),
        notes=tuple(missing),
    )


def graph_coverage_table(rows: Sequence[Coverage[Mapping[str, GraphScores]]]) -> Table:
    """One row for each treebank, split, encoding and kind of coverage."""
    kinds = ("unlabelled", "labelled")
    return Table(
        title="Coverage of graphs; relation subtypes and arcs from node 0 count",
        columns=_columns(
            [
                (f"{kind} {name}", f"{kind}_{key}", "%")
                for name, key in (
                    ("F1 over arcs", "f1"),
                    ("F1 over sentences", "f1_sentences"),
                    ("whole graphs", "whole"),
                )
                for kind in kinds
            ],
            "nodes",
            "arcs",
        ),
        rows=tuple(
            _row(
                row,
                [
                    percent(getattr(row.scores[kind], share))
                    for share in ("f1", "f1_sentences", "whole")
                    for kind in kinds
                ],
            )
            for row in rows
        ),
    )


def percent(share: float) -> float | None:
    """Return a share in percent, None where there is nothing to share."""
    return None if np.isnan(share) else 100 * share


def _columns(scores: Sequence[tuple[str, str, str]], labels_of: str, relations_of: str = "") -> tuple[TableColumn, ...]:
    return (
        *(TableColumn(name, numeric=False) for name in ("treebank", "split", "coverage", "encoding")),
        *(TableColumn(name, key, unit=unit, decimals=2) for name, key, unit in scores),
        TableColumn("unknown labels", "unknown_labels", unit=labels_of),
        TableColumn("unknown relations", "unknown_relations", unit=relations_of or labels_of),
    )


def _row(row: Coverage[Scores], scores: Sequence[Cell]) -> tuple[Cell, ...]:
    unknown = (None, None) if row.kind == THEORETICAL else (row.unknown_labels, row.unknown_relations)
    return row.treebank, row.split, row.kind, row.encoding, *scores, *unknown
