"""The encodings of trees: trees in, one label per word and column out, and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, TypeVar, final

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import Bools, Ints, numbers_below
from ropewalk.core.columns import Column
from ropewalk.core.graphs import crossing_arcs
from ropewalk.core.projectivity import lift_until
from ropewalk.core.ragged import Offsets
from ropewalk.core.repair import repair
from ropewalk.core.trees import Tree, Trees, scratch
from ropewalk.encodings.labels import Decoded, FaultBuffer, Faults, Labels, Recovered
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
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.encodings.machines import BracketStacks, Machine

Given = TypeVar("Given")
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
        """Return the options that differ from their defaults."""
        return {} if self.policy == self.policies[0] else {"policy": self.policy}

    @property
    def spec(self) -> str:
        """Name and options as text, from which `get` makes the same encoding."""
        options = self.options()
        inside = ",".join(f"{key}={value}" for key, value in options.items())
        return f"{self.name}({inside})" if options else self.name

    @abstractmethod
    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if a column has no such label."""

    @final
    def _columns(self, sentences: Sequence[Sequence[str | Sequence[str]]]) -> tuple[Offsets, tuple[Column, ...]]:
        """Number label texts given sentence by sentence; a word's label is a string, or one string per column."""
        demand_sequence("sentences of labels", sentences, Sequence)
        for sentence in sentences:
            demand_sequence("labels", sentence, str, Sequence)
        rows = [[label] if isinstance(label, str) else list(label) for sentence in sentences for label in sentence]
        for row in rows:
            if len(row) != len(self.columns):
                raise MismatchError(f"{self.name} has {len(self.columns)} label columns, found {len(row)}: {row}")
        columns = tuple(Column.of(row[place] for row in rows).narrow() for place in range(len(self.columns)))
        for place, column in enumerate(columns):
            for text in column.names:
                self.check_label(text, place)
        return Offsets.of_lengths([len(sentence) for sentence in sentences]), columns


class Encoding(LabelEncoding):
    """A way to write trees as labels.

    A subclass is final. It says which trees it covers (`covered`), writes trees that it covers or that its policy lets
    through (`write`) and reads labels into partial heads (`read`). All work on whole batches. It may also say how its
    labels drive a stack (`machine`), and which brackets they stand for (`brackets`).
    """

    symbol: ClassVar[str] = ""  # as in the paper's tables
    policies: ClassVar[tuple[str, ...]] = ("lift", "refuse")
    needs_upos: bool = False
    planes: int = 1  # how many planes are left standing when a tree is lifted
    naive_brackets: bool = False  # its brackets come in pairs, without ^, and node 0's stays open for several roots

    def __init__(self, *, policy: str = "lift") -> None:
        if policy not in POLICIES:
            raise UnknownNameError("policy", policy, self.policies)
        if policy not in self.policies:
            raise EncodingOptionError(f"{self.name} has no policy {policy!r}; it has: {', '.join(self.policies)}")
        self.policy = policy

    @property
    def alphabet(self) -> tuple[str, ...] | None:
        """All labels that there are, or None if their number has no bound."""
        return None

    @abstractmethod
    def covered(self, trees: Trees) -> Bools:
        """Return for each tree whether it comes back exactly from its labels."""

    @abstractmethod
    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        """Write trees as columns of labels."""

    @abstractmethod
    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        """Read labels into partial heads, and return what was wrong, missing heads aside.

        Never raises on labels of its own.
        """

    def machine(self, labels: Sequence[str]) -> Machine | None:
        """Return how labels drive a stack, or None: the machine gives exact decoding, probabilities and steps."""
        del labels
        return None

    def bracket_stacks(self, labels: Sequence[str]) -> BracketStacks | None:
        """Write labels that have no machine as brackets on stacks, or None: they give a search for the best tree."""
        del labels
        return None

    def brackets(self, labels: Sequence[str]) -> tuple[str, ...] | None:
        """Write each label as the hierarchical brackets that it stands for, or None if labels stand for none.

        Then also the steps of labels that do not fit together can be shown.
        """
        del labels
        return None

    def lift(self, trees: Trees) -> Trees:
        """Lift trees that the encoding does not cover until it does."""
        return lift_until(trees, self.covered, planes=self.planes)

    def lower(self, trees: Trees) -> Trees:
        """Undo what was done to trees before they were written."""
        return trees

    @property
    def keeps_roots(self) -> bool:
        """Whether `recover` leaves a sentence the several roots that its labels give it."""
        return False

    @property
    def loses_lifted(self) -> bool:
        """Whether a tree that is not covered is lifted and nothing says how to undo it."""
        return self.policy == "lift"

    @final
    def covers(self, trees: Tree | Treebank) -> Bools:
        """Return for each tree whether it comes back exactly from its labels."""
        return self.covered(as_bank(trees).trees())

    @final
    def encode(self, trees: Tree | Treebank, *, threads: int = 1) -> Labels:
        """Write trees as labels; what the encoding does not cover meets its policy."""
        bank = as_bank(trees)
        batch = bank.trees()
        if self.needs_upos and bank.upos is None:
            raise EncodingError(f"{self.name} needs parts of speech: give the treebank its UPOS column")
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
        """Read labels, however wrong, into partial heads and a list of faults."""
        demand_type("what to decode", labels, Labels)
        if self.needs_upos and labels.upos is None:
            raise EncodingError(f"{self.name} needs parts of speech to read its labels")
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
        """Read labels into whole trees with one root each, unless it keeps more: decode, repair, undo any lifting."""
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
        """Return labels from texts, sentence by sentence; a word's label is a string, or one string per column."""
        offsets, columns = self._columns(sentences)
        return Labels(
            self.spec,
            offsets,
            columns,
            Column.constant("_", offsets.total) if relations is None else _flat(relations, offsets.total, "relations"),
            None if upos is None else _flat(upos, offsets.total, "parts of speech"),
        )

    def _uncovered(self, trees: Trees, sentence: int) -> UncoveredTreeError:
        crossing = crossing_arcs(trees[sentence])
        arcs = sorted({arc for pair in crossing for arc in pair}, key=lambda arc: arc[1])
        return UncoveredTreeError(self.spec, sentence + 1, arcs, "crossing arcs" if arcs else "several roots")


class ClosedEncoding(Encoding):
    """An encoding whose labels are a fixed list."""

    @property
    @abstractmethod
    def alphabet(self) -> tuple[str, ...]:
        """All labels that there are."""

    @final
    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if there is no such label."""
        if text not in self.alphabet:
            raise LabelError(self.spec, text, "one of " + " ".join(self.alphabet))

    @final
    def own_ids(self, labels: Labels) -> npt.NDArray[np.uint8]:
        """Return label numbers in the encoding's own alphabet, whatever list the labels came with."""
        column = labels.columns[0]
        if column.names == self.alphabet:
            return np.ascontiguousarray(column.ids, dtype=np.uint8)
        places = {text: place for place, text in enumerate(self.alphabet)}
        for text in column.names:
            self.check_label(text)
        table = np.array([places[text] for text in column.names], dtype=np.uint8)
        return np.asarray(table[column.ids])


def read_codes(
    reader: Callable[..., None], codes: npt.NDArray[np.uint8], offsets: Offsets, *options: int, arrays: int
) -> tuple[Ints, Faults]:
    """Run a kernel that reads labels of a few bits into heads, with `arrays` workspaces."""
    codes = np.ascontiguousarray(numbers_below(codes, 1 << 8, "codes"), dtype=np.uint8)
    offsets = Offsets.of(offsets, end=len(codes))
    heads = np.empty(len(codes), dtype=np.int32)
    faults = FaultBuffer(8 * len(codes))
    workspace = (view(np.zeros(3 * len(scratch(offsets)), dtype=np.int32)) for _ in range(arrays))
    reader(view(codes), view(offsets.array), *options, view(heads), *faults.views(), *workspace)
    return heads, faults.faults(offsets)


def as_bank(trees: Tree | Treebank) -> Treebank:
    """Return a treebank of one tree, or the treebank given."""
    demand_type("what to encode", trees, Tree, Treebank)
    return Treebank.of([trees]) if isinstance(trees, Tree) else trees


def cuts(offsets: Offsets, parts: int) -> list[tuple[int, int]]:
    """Cut sentences into runs of about equally many words."""
    wanted = np.linspace(0, offsets.total, parts + 1)[1:-1]
    bounds = sorted({0, len(offsets), *np.searchsorted(offsets.array, wanted).tolist()})
    return list(pairwise(bounds))


def _in_threads(function: Callable[[Given], Result], parts: Sequence[Given]) -> list[Result]:
    """Apply a function to several things at the same time."""
    from concurrent.futures import ThreadPoolExecutor  # which takes long to load, and parsing does not need

    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(function, parts))


def split(bank: Treebank, parts: int) -> list[Treebank]:
    """Cut a treebank into runs of about equally many words, without its text."""
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
