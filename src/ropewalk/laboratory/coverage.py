"""How much of a treebank comes back from its labels: the most that a perfect tagger could score.

Theoretical coverage encodes, decodes, repairs and compares. Empirical coverage does the same with only the labels and
relations that train has; each other one becomes the most frequent one of train (the paper's appendix on detailed
results). By default trees that an encoding does not cover meet the policy `published`, and missing heads are filled in
by the repair `nearest`, as in the paper's figures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column
from ropewalk.encodings import POLICIES, Encoding, Labels, get, known
from ropewalk.encodings.base import smallest
from ropewalk.errors import EncodingOptionError, MismatchError, UnknownNameError
from ropewalk.reporting.tables import Table, TableColumn
from ropewalk.scoring.attachment import AttachmentScores, Measure, score
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from ropewalk.encodings.base import Ids
    from ropewalk.laboratory.splits import Corpus

THEORETICAL: Final = "theoretical"
EMPIRICAL: Final = "empirical"
MEASURES: Final[dict[Measure, tuple[str, str]]] = {
    "uas": ("UAS over words", "%"),
    "las": ("LAS over words", "%"),
    "uas_sentences": ("UAS over sentences", "%"),
    "las_sentences": ("LAS over sentences", "%"),
    "um": ("UM", "% of sentences"),
    "lm": ("LM", "% of sentences"),
}


@dataclass(frozen=True, slots=True)
class Coverage:
    """What came back of one split through one encoding, and how many words had to change label or relation."""

    treebank: str
    split: str
    encoding: str
    kind: str
    scores: AttachmentScores
    unknown_labels: int = 0
    unknown_relations: int = 0


@dataclass(frozen=True, slots=True)
class LabelVocabulary:
    """The distinct texts of train, and the most frequent of them; at equal counts, the first seen."""

    known: frozenset[str]
    most_frequent: str

    @classmethod
    def of(cls, ids: Ids, names: Sequence[str]) -> LabelVocabulary:
        """Count the texts of train."""
        if not len(names):
            raise MismatchError("train has no words, so no labels to choose from; expected at least one")
        counts = np.bincount(ids, minlength=len(names))
        return cls(frozenset(names[number] for number in np.flatnonzero(counts).tolist()), names[int(counts.argmax())])

    def restrict(self, ids: Ids, names: Sequence[str]) -> tuple[npt.NDArray[np.int32], tuple[str, ...], int]:
        """Replace what train does not have; give the numbers, their texts and how many words changed."""
        numbers: dict[str, int] = {}
        kept = [name if name in self.known else self.most_frequent for name in names]
        table = np.array([numbers.setdefault(name, len(numbers)) for name in kept], dtype=np.int32)
        unknown = np.array([name not in self.known for name in names], dtype=np.bool_)
        return table[ids], tuple(numbers), int(unknown[ids].sum())


def encodings_of(specs: Iterable[str], *, policy: str = "") -> list[Encoding]:
    """Make encodings from their names; `all` is every one that is known.

    A policy, if given, is taken by those that have it and name none of their own.
    """
    if policy and policy not in POLICIES:
        raise UnknownNameError("policy", policy, POLICIES)
    wanted = [spec for given in specs for spec in (known() if given == "all" else [given])]
    return [_with_policy(spec, policy) for spec in dict.fromkeys(wanted)]


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
    corpus: Corpus, encodings: Sequence[Encoding], *, splits: Sequence[str] = (), repair: str = "nearest"
) -> list[Coverage]:
    """Measure both kinds of coverage on the splits asked for, or on all that there are.

    Without words in train there is no empirical coverage.
    """
    out: list[Coverage] = []
    for encoding in encodings:
        known = corpus.splits.get("train")
        train = encoding.encode(known) if known is not None and known.words else None
        for split, bank in corpus.splits.items():
            if splits and split not in splits:
                continue
            labels = train if split == "train" and train is not None else encoding.encode(bank)
            scores = _returned(bank, encoding, labels, repair)
            out.append(Coverage(corpus.name, split, encoding.spec, THEORETICAL, scores))
            if train is not None:
                seen, *unknown = restricted(labels, train)
                scores = _returned(bank, encoding, seen, repair)
                out.append(Coverage(corpus.name, split, encoding.spec, EMPIRICAL, scores, *unknown))
    return sorted(out, key=lambda row: row.kind, reverse=True)


def restricted(labels: Labels, train: Labels) -> tuple[Labels, int, int]:
    """Replace labels and relations that train does not have; give also how many words had to change either."""
    if len(labels.ids) != len(train.ids):
        raise MismatchError(
            f"labels of {len(labels.ids)} columns, and of {len(train.ids)} in train; expected those of one encoding"
        )
    columns = [
        LabelVocabulary.of(seen, names).restrict(ids, own)
        for seen, names, ids, own in zip(train.ids, train.alphabets, labels.ids, labels.alphabets, strict=True)
    ]
    relations, relation_names, unknown = LabelVocabulary.of(train.relations.ids, train.relations.names).restrict(
        labels.relations.ids, labels.relations.names
    )
    kept = replace(
        labels,
        ids=tuple(smallest(ids, len(names)) for ids, names, _ in columns),
        alphabets=tuple(names for _, names, _ in columns),
        relations=Column(frozen_ints(relations), relation_names),
    )
    return kept, sum(changed for _, _, changed in columns), unknown


def _returned(bank: Treebank, encoding: Encoding, labels: Labels, repair: str) -> AttachmentScores:
    recovered = encoding.recover(labels, repair_policy=repair)
    return score(bank, Treebank.of(recovered.trees))


def coverage_table(rows: Sequence[Coverage], *, repair: str = "nearest", missing: Sequence[str] = ()) -> Table:
    """One row for each treebank, split, encoding and kind of coverage; `missing` names what could not be had."""
    return Table(
        title=f"Coverage; relation subtypes and punctuation count, missing heads by the repair {repair}",
        columns=(
            TableColumn("treebank", numeric=False),
            TableColumn("split", numeric=False),
            TableColumn("coverage", numeric=False),
            TableColumn("encoding", numeric=False),
            *(
                TableColumn(name, name.lower().replace(" ", "_"), unit=unit, decimals=2)
                for name, unit in MEASURES.values()
            ),
            TableColumn("unknown labels", "unknown_labels", unit="words"),
            TableColumn("unknown relations", "unknown_relations", unit="words"),
        ),
        rows=tuple(
            (row.treebank, row.split, row.kind, row.encoding, *_percentages(row), *_unknown(row)) for row in rows
        ),
        notes=tuple(missing),
    )


def _percentages(row: Coverage) -> list[float]:
    return [100 * row.scores.parts(measure).value for measure in MEASURES]


def _unknown(row: Coverage) -> tuple[int | None, int | None]:
    return (None, None) if row.kind == THEORETICAL else (row.unknown_labels, row.unknown_relations)
