"""Labels of trees and graphs, the heads or graphs that labels spell, and the faults of labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ropewalk.core.arrays import Bools, Ints, Rebuilt, frozen_bools
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets, starts_of
from ropewalk.errors import MismatchError
from ropewalk.kernels import view
from ropewalk.kernels.codes import (
    CLOSES_CYCLE,
    GIVEN_TWICE,
    IMPOSSIBLE,
    NO_HEAD,
    OUTSIDE,
    OWN_HEAD,
    RELATION_COUNT,
    ROOT_DEPENDENT,
    SECOND_HEAD,
    SECOND_ROOT,
    UNMATCHED_CLOSING,
    UNMATCHED_OPENING,
)
from ropewalk.kernels.values import Findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ropewalk.core.graphs import Graphs
    from ropewalk.core.trees import Trees

FAULTS: Final = {
    UNMATCHED_CLOSING: "unmatched closing bracket",
    UNMATCHED_OPENING: "unmatched opening bracket",
    SECOND_HEAD: "second head",
    CLOSES_CYCLE: "arc would close a cycle",
    SECOND_ROOT: "second root",
    NO_HEAD: "no head",
    OUTSIDE: "head outside the sentence",
    IMPOSSIBLE: "impossible step",
    ROOT_DEPENDENT: "arc into the root",
    OWN_HEAD: "arc from a word to itself",
    GIVEN_TWICE: "arc given twice",
    RELATION_COUNT: "not as many relations as arcs",
}
BETWEEN_ARCS: Final = "|"
NOTHING: Final = "_"
SHOWN_LABELS: Final = 12  # in `repr`


class LabelColumns(Rebuilt):
    """One or more columns of labels over the words of many sentences."""

    __slots__ = ()
    encoding: str
    offsets: Offsets
    columns: tuple[Column, ...]

    def _check_columns(self) -> None:
        """Raise a `MismatchError` unless there is at least one column and each has a label for each word."""
        offsets, columns = Offsets.of(self.offsets), tuple(self.columns)
        for column in columns:
            if not isinstance(column, Column):
                raise MismatchError(f"a column of labels is {type(column).__name__}; expected Column")
            if len(column) != offsets.total:
                raise MismatchError(f"{len(column)} labels for {offsets.total} words; each word needs one per column")
        if not columns:
            raise MismatchError("no column of labels; expected at least one")
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "columns", columns)

    def __len__(self) -> int:
        return len(self.offsets)

    def __repr__(self) -> str:
        begin = [" ".join(parts) for parts in zip(*(column[:SHOWN_LABELS] for column in self.columns), strict=True)]
        shown = f"{', '.join(begin)}{', …' if self.offsets.total > SHOWN_LABELS else ''}"
        return f"<{type(self).__name__} of {len(self):,} sentences, {self.encoding}: {shown}>"

    def texts(self, column: int = 0) -> list[str]:
        """Return the labels of all words in the column with index `column`."""
        return self.columns[column].texts()

    def sentences(self, column: int = 0) -> list[list[str]]:
        """Return a list of labels for each sentence, from the column with index `column`."""
        flat = self.texts(column)
        return [flat[where] for where in self.offsets]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Labels(LabelColumns):
    """The labels of many trees: one or more columns, relations and, for some encodings, parts of speech.

    `encoding` is the name and options of the encoding. The constructor raises a `MismatchError` unless every column
    has a value for each word. The values never change. `Encoding.labels` makes labels from texts.
    """

    encoding: str
    offsets: Offsets
    columns: tuple[Column, ...]
    relations: Column
    upos: Column | None = None

    def __post_init__(self) -> None:
        self._check_columns()
        words = self.offsets.total
        for what, column in (("relations", self.relations), ("parts of speech", self.upos)):
            if column is not None and len(column) != words:
                raise MismatchError(f"{words} labels but {len(column)} {what}; each word needs one of each")

    def between(self, first: int, last: int) -> Labels:
        """Return the labels of the sentences from `first` up to, but without, `last`."""
        where = slice(*self.offsets.array[[first, last]].tolist())
        return replace(
            self,
            offsets=self.offsets.between(first, last),
            columns=tuple(column[where] for column in self.columns),
            relations=self.relations[where],
            upos=None if self.upos is None else self.upos[where],
        )

    @classmethod
    def concat(cls, parts: Sequence[Labels]) -> Labels:
        """Return the sentences of all `parts`, which are labels of the same encoding, one part after the other."""
        tags = [part.upos for part in parts if part.upos is not None]
        return cls(
            parts[0].encoding,
            Offsets.concat([part.offsets for part in parts]),
            tuple(Column.concat(columns).narrow() for columns in zip(*(part.columns for part in parts), strict=True)),
            Column.concat([part.relations for part in parts]),
            Column.concat(tags) if tags else None,
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GraphLabels(LabelColumns):
    """The labels of many graphs: one label per node and column, and the relations of all arcs that they spell.

    Nodes are words and, where `empty` is true, empty nodes. The relations of the arcs into node k are
    `relations[relation_offsets[k]]`, sorted by head. If an arc has several relations, they are joined with ` & `. The
    relation `no arc` marks an arc that the labels spell but the graph does not have.
    """

    encoding: str
    offsets: Offsets
    empty: Bools
    columns: tuple[Column, ...]
    relations: Column
    relation_offsets: Offsets

    def __post_init__(self) -> None:
        self._check_columns()
        empty = frozen_bools(self.empty)
        relation_offsets = Offsets.of(self.relation_offsets, end=len(self.relations))
        if not len(empty) == len(relation_offsets) == self.offsets.total:
            raise MismatchError(
                f"{len(empty)} marks of empty nodes and {len(relation_offsets)} lists of relations for "
                f"{self.offsets.total} nodes; each node needs one of each"
            )
        object.__setattr__(self, "empty", empty)
        object.__setattr__(self, "relation_offsets", relation_offsets)

    def relation_texts(self) -> list[str]:
        """Return for each node the relations of the arcs into it, joined with `|`; `_` if there is no arc."""
        flat = self.relations.texts()
        return [BETWEEN_ARCS.join(flat[where]) or NOTHING for where in self.relation_offsets]


def demand_labels(labels: object, kind: type[LabelColumns]) -> None:
    """Raise a `MismatchError` unless `labels` has the type `kind`; the message says how to make such labels."""
    if not isinstance(labels, kind):
        raise MismatchError(
            f"what to decode: found {type(labels).__name__}; expected {kind.__name__}: "
            "make them from texts with the encoding's method labels(…)"
        )


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in the label of a word: its `kind` as text, the sentence, and the word in the sentence, both from 1."""

    sentence: int
    word: int
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class Faults:
    """All faults in some labels: fault i is at word `words[i]` and has the kind `kinds[i]`.

    Words are indices over all sentences, from 0. Kinds are keys of `FAULTS`.
    """

    offsets: Offsets
    words: Ints
    kinds: Ints

    @classmethod
    def of(cls, offsets: Offsets, words: npt.NDArray[Any] | Sequence[int] = (), kind: int = 0) -> Faults:
        """Return a fault of the kind `kind` at each of `words`; by default no fault."""
        return cls(offsets, np.asarray(words, dtype=np.int32), np.full(len(words), kind, dtype=np.int32))

    @classmethod
    def concat(cls, parts: Sequence[Faults]) -> Faults:
        """Return the faults of all `parts` over their sentences, one part after the other."""
        starts = starts_of([part.offsets.total for part in parts]).astype(np.int32)
        return cls(
            Offsets.concat([part.offsets for part in parts]),
            np.concatenate([part.words + start for part, start in zip(parts, starts, strict=False)]),
            np.concatenate([part.kinds for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.words)

    def plus(self, words: npt.NDArray[Any], kind: int) -> Faults:
        """Return these faults and, at each of `words`, one more of the kind `kind`."""
        if not len(words):
            return self
        more = Faults.of(self.offsets, words, kind)
        return Faults(self.offsets, np.concatenate([self.words, more.words]), np.concatenate([self.kinds, more.kinds]))

    def faults(self) -> list[Fault]:
        """Return all faults, sorted by sentence and word."""
        sentences = self.offsets.owners_of(self.words).tolist()
        rows = sorted(zip(sentences, self.words.tolist(), self.kinds.tolist(), strict=True))
        return [Fault(s + 1, w - self.offsets[s].start + 1, FAULTS[kind]) for s, w, kind in rows]

    def counts(self) -> dict[str, int]:
        """Return the number of faults of each kind that occurs, by the text of the kind."""
        tally = Counter(self.kinds.tolist())
        return {name: tally[code] for code, name in FAULTS.items() if tally[code]}


class FaultBuffer:
    """Arrays into which a kernel writes up to `size` faults; `buffers` is the object that is passed to the kernel."""

    __slots__ = ("_kinds", "_words", "buffers")

    def __init__(self, size: int) -> None:
        self._words, self._kinds = (np.empty(size, dtype=np.int32) for _ in range(2))
        self.buffers = Findings(view(self._words), view(self._kinds))

    def faults(self, offsets: Offsets) -> Faults:
        """Return the faults that kernels wrote, as `Faults` of the sentences of `offsets`."""
        count = self.buffers.count
        return Faults(offsets, self._words[:count].copy(), self._kinds[:count].copy())


class Spelled:
    """Base class for results of decoding: trees or graphs that labels spell, and the faults of the labels."""

    __slots__ = ()
    problems: Faults

    @property
    def well_formed(self) -> bool:
        """Whether the labels have no faults."""
        return not len(self.problems)

    def faults(self) -> list[Fault]:
        """Return all faults of the labels, sorted by sentence and word."""
        return self.problems.faults()

    def counts(self) -> dict[str, int]:
        """Return the number of faults of each kind that occurs, by the text of the kind."""
        return self.problems.counts()


@dataclass(frozen=True, slots=True, eq=False)
class Decoded(Spelled):
    """The heads that labels spell, and the faults of the labels. Heads form no cycle; a missing head is -1."""

    offsets: Offsets
    heads: Ints
    relations: Column
    problems: Faults


@dataclass(frozen=True, slots=True, eq=False)
class DecodedGraphs(Spelled):
    """The graphs that labels spell, and the faults of the labels."""

    graphs: Graphs
    problems: Faults


@dataclass(frozen=True, slots=True, eq=False)
class Recovered:
    """The trees that were read from labels, the heads before the repair with the faults, and the counts of repairs."""

    trees: Trees
    decoded: Decoded
    repairs: dict[str, int]
