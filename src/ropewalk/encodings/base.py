"""Base classes of encodings of trees, which write trees as columns of labels, one label per word, and read them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, TypeVar, final

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import Bools, Ints, numbers_below
from ropewalk.core.columns import Column
from ropewalk.core.projectivity import lift_until
from ropewalk.core.ragged import Offsets
from ropewalk.core.repair import repair
from ropewalk.core.trees import Tree, Trees
from ropewalk.encodings.labels import Decoded, FaultBuffer, Faults, Labels, Recovered, demand_labels
from ropewalk.errors import (
    EncodingError,
    EncodingOptionError,
    LabelError,
    MismatchError,
    UncoveredTreeError,
    UnknownNameError,
    demand_sequence,
    demand_type,
)
from ropewalk.kernels import view
from ropewalk.kernels.codes import NO_HEAD
from ropewalk.kernels.values import Workspace
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.encodings.machines import BracketStacks, Machine

Item = TypeVar("Item")
Result = TypeVar("Result")

POLICIES = ("lift", "refuse", "published", "published-12")


class LabelEncoding(ABC):
    """Base class for encodings of trees and of graphs: a name, options, and columns of labels."""

    name: ClassVar[str]
    summary: ClassVar[str]
    cites: ClassVar[str]
    policies: ClassVar[tuple[str, ...]]  # the first is the default
    columns: tuple[str, ...] = ("label",)
    policy: str

    def options(self) -> dict[str, str | int]:
        """Return the options whose values differ from their defaults, by name."""
        return {} if self.policy == self.policies[0] else {"policy": self.policy}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.spec}: {self.summary}>"

    @property
    def spec(self) -> str:
        """The name and options as text, such as `brackets(planes=2)`; `get` of this text returns the same encoding."""
        options = self.options()
        inside = ",".join(f"{key}={value}" for key, value in options.items())
        return f"{self.name}({inside})" if options else self.name

    @abstractmethod
    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` unless `text` is a label of this encoding in the column with index `column`."""

    @final
    def _columns(self, sentences: Sequence[Sequence[str | Sequence[str]]]) -> tuple[Offsets, tuple[Column, ...]]:
        """Return the offsets of `sentences` and their labels as columns.

        The label of a word is a string or, if the encoding has several columns, a sequence with a string for each.
        """
        demand_sequence("sentences of labels", sentences, Sequence)
        for sentence in sentences:
            demand_sequence("labels", sentence, str, Sequence)
        rows = [[label] if isinstance(label, str) else list(label) for sentence in sentences for label in sentence]
        for row in rows:
            if len(row) != len(self.columns):
                raise MismatchError(f"{self.name} has {len(self.columns)} label columns, found {len(row)}: {row}")
        columns = tuple(Column.of(row[column] for row in rows).narrow() for column in range(len(self.columns)))
        for number, column in enumerate(columns):
            for text in column.names:
                self.check_label(text, number)
        return Offsets.of_lengths([len(sentence) for sentence in sentences]), columns


class Encoding(LabelEncoding):
    """Base class for encodings of trees as labels.

    A subclass is final. It must define three methods, which work on batches of trees. `covered` returns which trees
    the encoding can restore exactly from their labels. `write` writes trees as labels. `read` reads labels into heads,
    some of which may be missing. A subclass may also define `machine`, how its labels change a stack, and `brackets`,
    its labels as hierarchical brackets.
    """

    symbol: ClassVar[str] = ""  # as in the paper's tables
    policies: ClassVar[tuple[str, ...]] = ("lift", "refuse")
    needs_upos: bool = False
    planes: int = 1  # the number of planes that a lifted tree may still have
    naive_brackets: bool = False  # whether brackets come in pairs, without ^, and node 0's stays open for several roots

    def __init__(self, *, policy: str = "lift") -> None:
        if policy not in POLICIES:
            raise UnknownNameError("policy", policy, self.policies)
        if policy not in self.policies:
            raise EncodingOptionError(f"{self.name} has no policy {policy!r}; it has: {', '.join(self.policies)}")
        self.policy = policy

    @property
    def alphabet(self) -> tuple[str, ...] | None:
        """All labels of the encoding, or None if their number is unlimited."""
        return None

    @abstractmethod
    def covered(self, trees: Trees) -> Bools:
        """Return for each tree whether its labels restore it exactly."""

    @abstractmethod
    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Return the labels of all words of `trees`, one column for each name in `columns`.

        `upos` has the part of speech of each word; only encodings with `needs_upos` use it.
        """

    @abstractmethod
    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Return the head of each word, -1 if missing, and the faults of the labels.

        Missing heads are not among the faults: `decode` adds them. Labels of this encoding never raise an error.
        """

    def machine(self, labels: Sequence[str]) -> Machine | None:
        """Return the machine that reads these labels, or None if the encoding has none.

        Exact decoding, probabilities of arcs and the display of parsing steps need it.
        """
        del labels
        return None

    def bracket_stacks(self, labels: Sequence[str]) -> BracketStacks | None:
        """Return these labels as brackets on stacks, or None if the encoding does not define this.

        With it, an encoding without a machine allows a search for the labels of the best tree.
        """
        del labels
        return None

    def brackets(self, labels: Sequence[str]) -> tuple[str, ...] | None:
        """Return each label as hierarchical brackets in text, or None if labels cannot be written so.

        With brackets, parsing steps can be shown even for labels that spell no tree.
        """
        del labels
        return None

    def lift(self, trees: Trees) -> Trees:
        """Return the trees; those that the encoding does not cover are lifted until it covers them."""
        return lift_until(trees, self.covered, planes=self.planes)

    def lower(self, trees: Trees) -> Trees:
        """Return the trees with lifted words attached to their original heads, as far as their relations mark these."""
        return trees

    @property
    def keeps_roots(self) -> bool:
        """Whether `recover` keeps all roots of a sentence that has several, instead of only the first."""
        return False

    @property
    def loses_lifted(self) -> bool:
        """Whether encoding lifts the trees that are not covered, without marks that allow undoing it."""
        return self.policy == "lift"

    @final
    def covers(self, trees: Tree | Treebank) -> Bools:
        """Return for each tree whether its labels restore it exactly."""
        return self.covered(as_bank(trees).trees())

    @final
    def encode(self, trees: Tree | Treebank, *, threads: int = 1) -> Labels:
        """Return trees as labels, computed in `threads` threads.

        Trees that the encoding does not cover are lifted, raise an `UncoveredTreeError`, or are written with loss of
        some arcs, depending on the policy.
        """
        bank = as_bank(trees)
        batch = bank.trees()
        if self.needs_upos and bank.upos is None:
            raise EncodingError(f"{self.name} needs parts of speech; add the column upos to the treebank")
        if threads > 1 and len(bank) > threads:
            return Labels.concat(_in_threads(self.encode, split(bank, threads)))
        if self.policy == "lift":
            batch = bank.lifted(self.lift)
        elif self.policy == "refuse":
            covered = self.covered(batch)
            if not covered.all():
                raise self._uncovered(batch, int(np.flatnonzero(~covered)[0]))
        columns = tuple(column.narrow() for column in self.write(batch, bank.upos))
        return Labels(self.spec, batch.offsets, columns, batch.relations, bank.upos if self.needs_upos else None)

    @final
    def decode(self, labels: Labels, *, threads: int = 1) -> Decoded:
        """Return the heads that labels spell, -1 if missing, and all faults of the labels.

        Labels may be wrong or contradict each other. The work is done in `threads` threads.
        """
        demand_labels(labels, Labels)
        if self.needs_upos and labels.upos is None:
            raise EncodingError(f"{self.name} needs parts of speech to read its labels; pass labels with upos")
        if len(labels.columns) != len(self.columns):
            raise MismatchError(f"{self.spec} has {len(self.columns)} label columns, found {len(labels.columns)}")
        if threads > 1 and len(labels) > threads:
            parts = _in_threads(self.decode, [labels.between(*cut) for cut in cuts(labels.offsets, threads)])
            heads = np.concatenate([part.heads for part in parts])
            return Decoded(labels.offsets, heads, labels.relations, Faults.concat([part.problems for part in parts]))
        heads, faults = self.read(labels)
        return Decoded(labels.offsets, heads, labels.relations, faults.plus(np.flatnonzero(heads < 0), NO_HEAD))

    @final
    def recover(self, labels: Labels, *, repair_policy: str = "nearest", threads: int = 1) -> Recovered:
        """Return the trees that labels spell: decode the labels, repair the heads, and undo the lifting.

        Each tree has one root, unless `keeps_roots`. `repair_policy` is a policy of `core.repair`.
        """
        decoded = self.decode(labels, threads=threads)
        repaired = repair(
            decoded.heads,
            decoded.offsets,
            repair_policy,
            relations=decoded.relations,
            keep_roots=self.keeps_roots,
        )
        return Recovered(self.lower(repaired.trees), decoded, repaired.counts())

    @final
    def labels(
        self,
        sentences: Sequence[Sequence[str | Sequence[str]]],
        relations: Sequence[Sequence[str]] | None = None,
        upos: Sequence[Sequence[str]] | None = None,
    ) -> Labels:
        """Return `Labels` made of texts: a sequence of labels for each sentence.

        The label of a word is a string or, if the encoding has several columns, a sequence with a string for each.
        Without `relations` each relation is `_`.
        """
        offsets, columns = self._columns(sentences)
        return Labels(
            self.spec,
            offsets,
            columns,
            Column.constant("_", offsets.total) if relations is None else _flat(relations, offsets.total, "relations"),
            None if upos is None else _flat(upos, offsets.total, "parts of speech"),
        )

    def _uncovered(self, trees: Trees, sentence: int) -> UncoveredTreeError:
        from ropewalk.core.graphs import crossing_arcs  # only errors need it

        crossing = crossing_arcs(trees[sentence])
        arcs = sorted({arc for pair in crossing for arc in pair}, key=lambda arc: arc[1])
        return UncoveredTreeError(self.spec, sentence + 1, arcs, "crossing arcs" if arcs else "several roots")


class ClosedEncoding(Encoding):
    """Base class for encodings with a fixed alphabet of labels."""

    @property
    @abstractmethod
    def alphabet(self) -> tuple[str, ...]:
        """All labels of the encoding; the index of a label here is its id."""

    @final
    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` unless `text` is in the alphabet."""
        if text not in self.alphabet:
            raise LabelError(self.spec, text, "one of " + " ".join(self.alphabet))

    @final
    def own_ids(self, labels: Labels) -> npt.NDArray[np.uint8]:
        """Return for each word the index of its label in the encoding's alphabet."""
        column = labels.columns[0]
        if column.names == self.alphabet:
            return np.ascontiguousarray(column.ids, dtype=np.uint8)
        numbers = {text: number for number, text in enumerate(self.alphabet)}
        for text in column.names:
            self.check_label(text)
        table = np.array([numbers[text] for text in column.names], dtype=np.uint8)
        return np.asarray(table[column.ids])


def read_codes(
    reader: Callable[..., None], codes: npt.NDArray[np.uint8], offsets: Offsets, *options: int
) -> tuple[Ints, Faults]:
    """Return the head of each word, -1 if missing, and the faults, as the kernel `reader` reads them.

    `codes` has the label of each word as an integer below 256. `options` are passed on to `reader`.
    """
    codes = np.ascontiguousarray(numbers_below(codes, 1 << 8, "codes"), dtype=np.uint8)
    offsets = Offsets.of(offsets, end=len(codes))
    heads = np.empty(len(codes), dtype=np.int32)
    faults = FaultBuffer(8 * len(codes))
    workspace = Workspace(3 * (offsets.longest + 1))  # a word has at most three brackets
    reader(view(codes), view(offsets.array), *options, view(heads), faults.buffers, workspace)
    return heads, faults.faults(offsets)


def as_bank(trees: Tree | Treebank) -> Treebank:
    """Return `trees` itself if it is a treebank, else a treebank of this one tree."""
    demand_type("what to encode", trees, Tree, Treebank)
    return Treebank.of([trees]) if isinstance(trees, Tree) else trees


def cuts(offsets: Offsets, parts: int) -> list[tuple[int, int]]:
    """Split sentences into at most `parts` ranges with about the same number of words.

    Return the first sentence of each range and the sentence after its last, from 0.
    """
    wanted = np.linspace(0, offsets.total, parts + 1)[1:-1]
    bounds = sorted({0, len(offsets), *np.searchsorted(offsets.array, wanted).tolist()})
    return list(pairwise(bounds))


def _in_threads(function: Callable[[Item], Result], parts: Sequence[Item]) -> list[Result]:
    """Return the result of `function` for each of `parts`, computed in one thread for each."""
    from concurrent.futures import ThreadPoolExecutor  # slow to import, and parsing does not need it

    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(function, parts))


def split(bank: Treebank, parts: int) -> list[Treebank]:
    """Split a treebank into at most `parts` treebanks with about the same number of words.

    They have heads and columns, but not the source, tokens and headings of `bank`.
    """
    banks = []
    for low, high in cuts(bank.offsets, parts):
        where = slice(*bank.offsets.array[[low, high]].tolist())
        banks.append(
            Treebank(
                bank.offsets.between(low, high),
                bank.heads[where],
                {name: column[where] for name, column in bank.columns.items()},
            )
        )
    return banks


def _flat(rows: Sequence[Sequence[str]], words: int, what: str) -> Column:
    column = Column.of(text for row in rows for text in row)
    if len(column) != words:
        raise MismatchError(f"{words} labels but {len(column)} {what}; each word needs one of each")
    return column
