"""What every encoding is: trees in, one label per word and column out, and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, final

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import Bools, Ints, Rebuilt, frozen_array, numbers_below
from ropewalk.core.columns import Column
from ropewalk.core.graphs import crossing_arcs
from ropewalk.core.projectivity import lift_until
from ropewalk.core.ragged import Offsets, starts_of
from ropewalk.core.repair import repair
from ropewalk.core.trees import Tree, Trees, scratch
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
from ropewalk.kernels import repair as repair_kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import (
    CLOSES_CYCLE,
    IMPOSSIBLE,
    NO_HEAD,
    OUTSIDE,
    SECOND_HEAD,
    SECOND_ROOT,
    UNMATCHED_CLOSING,
    UNMATCHED_OPENING,
)
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.encodings.machines import BracketStacks, Machine

Ids = npt.NDArray[Any]
Given = TypeVar("Given")
Result = TypeVar("Result")

POLICIES = ("lift", "refuse", "published", "published-12")

FAULTS = {
    UNMATCHED_CLOSING: "unmatched closing bracket",
    UNMATCHED_OPENING: "unmatched opening bracket",
    SECOND_HEAD: "second head",
    CLOSES_CYCLE: "arc would close a cycle",
    SECOND_ROOT: "second root",
    NO_HEAD: "no head",
    OUTSIDE: "head outside the sentence",
    IMPOSSIBLE: "impossible step",
}


def smallest(ids: npt.NDArray[np.integer[Any]], alphabet: int) -> Ids:
    """Keep label numbers in the smallest type that holds the alphabet: uint8, int16, else int32."""
    kind = np.uint8 if alphabet <= 1 << 8 else np.int16 if alphabet <= 1 << 15 else np.int32
    return ids.astype(kind, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class Labels(Rebuilt):
    """The labels of many sentences: one row of numbers per column, each into its own list of label texts.

    They are checked when made and never changed: numbers that fit neither the sentences nor the texts raise a
    `MismatchError`.
    """

    encoding: str
    offsets: Offsets
    ids: tuple[Ids, ...]
    alphabets: tuple[tuple[str, ...], ...]
    relations: Column
    upos: Column | None = None

    def __post_init__(self) -> None:
        offsets = Offsets.of(self.offsets)
        words = offsets.total
        alphabets = tuple(map(tuple, self.alphabets))
        if len(self.ids) != len(alphabets) or not alphabets:
            raise MismatchError(f"{len(self.ids)} columns of labels and {len(alphabets)} lists of label texts")
        if strange := [text for names in alphabets for text in names if not isinstance(text, str)]:
            raise MismatchError(f"a label is {strange[0]!r}; expected text")
        ids = tuple(
            frozen_array(numbers_below(column, len(names), "numbers of labels", size=words))
            for column, names in zip(self.ids, alphabets, strict=True)
        )
        for what, column in (("relations", self.relations), ("parts of speech", self.upos)):
            if column is not None and len(column) != words:
                raise MismatchError(f"{words} labels but {len(column)} {what}; each word needs one of each")
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "ids", ids)
        object.__setattr__(self, "alphabets", alphabets)

    def __len__(self) -> int:
        return len(self.offsets)

    def texts(self, column: int = 0) -> list[str]:
        """Write out one column's label of every word."""
        names = self.alphabets[column]
        return [names[number] for number in self.ids[column].tolist()]

    def sentences(self, column: int = 0) -> list[list[str]]:
        """Write out one column's labels, sentence by sentence."""
        flat = self.texts(column)
        return [flat[where] for where in self.offsets]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with the labels of a word; sentence and word count from 1."""

    sentence: int
    word: int
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """What labels spell: heads, -1 where none was given, without cycles, and what was wrong, word by word."""

    offsets: Offsets
    heads: Ints
    relations: Column
    fault_words: Ints
    fault_kinds: Ints

    @property
    def well_formed(self) -> bool:
        """Whether nothing was wrong."""
        return not len(self.fault_words)

    def faults(self) -> list[Fault]:
        """Name everything that was wrong, in the order of the words."""
        sentences = self.offsets.owners_of(self.fault_words).tolist()
        rows = sorted(zip(sentences, self.fault_words.tolist(), self.fault_kinds.tolist(), strict=True))
        return [Fault(s + 1, w - self.offsets[s].start + 1, FAULTS[kind]) for s, w, kind in rows]

    def counts(self) -> dict[str, int]:
        """How many faults there were of each kind."""
        tally = Counter(self.fault_kinds.tolist())
        return {name: tally[code] for code, name in FAULTS.items() if tally[code]}


@dataclass(frozen=True, slots=True, eq=False)
class Recovered:
    """Whole trees with one root each, what was wrong with their labels, and what was repaired."""

    trees: Trees
    decoded: Decoded
    repairs: dict[str, int]


class Encoding(ABC):
    """A way to write trees as labels.

    A subclass is final: it says which trees it covers (`covered`), writes trees that it covers or that its
    policy lets through (`write`) and reads labels into partial heads (`read`). All work on whole batches. It may also
    say how its labels drive a stack (`machine`), and which brackets they stand for (`brackets`).
    """

    name: ClassVar[str]
    symbol: ClassVar[str] = ""  # as in the paper's tables
    summary: ClassVar[str]
    cites: ClassVar[str]
    policies: ClassVar[tuple[str, ...]] = ("lift", "refuse")
    columns: tuple[str, ...] = ("label",)
    needs_upos: bool = False
    planes: int = 1  # how many planes are left standing when a tree is lifted
    naive_brackets: bool = False  # its brackets come in pairs, without ^, and node 0's stays open for several roots

    def __init__(self, *, policy: str = "lift") -> None:
        if policy not in POLICIES:
            raise UnknownNameError("policy", policy, self.policies)
        if policy not in self.policies:
            raise EncodingOptionError(f"{self.name} has no policy {policy!r}; it has: {', '.join(self.policies)}")
        self.policy = policy

    def options(self) -> dict[str, str | int]:
        """The options that differ from their defaults."""
        return {} if self.policy == "lift" else {"policy": self.policy}

    @property
    def spec(self) -> str:
        """Name and options as text, from which `get` makes the same encoding."""
        options = self.options()
        inside = ",".join(f"{key}={value}" for key, value in options.items())
        return f"{self.name}({inside})" if options else self.name

    @property
    def alphabet(self) -> tuple[str, ...] | None:
        """All labels that there are, or None if their number has no bound."""
        return None

    @abstractmethod
    def covered(self, trees: Trees) -> Bools:
        """Return for each tree whether it comes back exactly from its labels."""

    @abstractmethod
    def write(self, trees: Trees, upos: Column | None) -> list[tuple[Ids, tuple[str, ...]]]:
        """Write trees as label numbers and label texts, one pair per column."""

    @abstractmethod
    def read(self, labels: Labels) -> tuple[Ints, Ints, Ints]:
        """Read labels into partial heads, and the words and kinds of what was wrong, missing heads aside.

        Never raises on labels of its own.
        """

    @abstractmethod
    def check_label(self, text: str, column: int = 0) -> None:
        """Raise a `LabelError` if a column has no such label."""

    def machine(self, labels: Sequence[str]) -> Machine | None:
        """Say how labels drive a stack, or None: the machine gives exact decoding, probabilities and steps."""
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
        """Tell for each tree whether it comes back exactly from its labels."""
        return self.covered(as_bank(trees).trees())

    @final
    def encode(self, trees: Tree | Treebank, *, threads: int = 1) -> Labels:
        """Write trees as labels; what the encoding does not cover meets its policy."""
        bank = as_bank(trees)
        batch = bank.trees()
        if self.needs_upos and bank.upos is None:
            raise EncodingError(f"{self.name} needs parts of speech: give the treebank its UPOS column")
        if threads > 1 and len(bank) > threads:
            return join_labels(_in_threads(self.encode, split(bank, threads)))
        if self.policy == "lift":
            batch = bank.lifted(self.lift)
        elif self.policy == "refuse":
            covered = self.covered(batch)
            if not covered.all():
                raise self._uncovered(batch, int(np.flatnonzero(~covered)[0]))
        columns = self.write(batch, bank.upos)
        return Labels(
            self.spec,
            batch.offsets,
            tuple(smallest(ids, len(names)) for ids, names in columns),
            tuple(names for _, names in columns),
            batch.relations,
            bank.upos if self.needs_upos else None,
        )

    @final
    def decode(self, labels: Labels, *, threads: int = 1) -> Decoded:
        """Read labels, however wrong, into partial heads and a list of faults."""
        demand_type("what to decode", labels, Labels)
        if self.needs_upos and labels.upos is None:
            raise EncodingError(f"{self.name} needs parts of speech to read its labels")
        if len(labels.ids) != len(self.columns):
            raise MismatchError(f"{self.spec} has {len(self.columns)} label columns, found {len(labels.ids)}")
        if threads > 1 and len(labels) > threads:
            return join_decoded(labels, _in_threads(self.decode, split_labels(labels, threads)))
        heads, words, kinds = self.read(labels)
        missing = np.flatnonzero(heads < 0).astype(np.int32)
        if len(missing):
            words = np.concatenate([words, missing])
            kinds = np.concatenate([kinds, np.full(len(missing), NO_HEAD, dtype=np.int32)])
        return Decoded(labels.offsets, heads, labels.relations, words, kinds)

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
        """Take label texts, sentence by sentence; a word's label is a string, or one string per column."""
        demand_sequence("sentences of labels", sentences, Sequence)
        for sentence in sentences:
            demand_sequence("labels", sentence, str, Sequence)
        rows = [[label] if isinstance(label, str) else list(label) for sentence in sentences for label in sentence]
        for row in rows:
            if len(row) != len(self.columns):
                raise MismatchError(f"{self.name} has {len(self.columns)} label columns, found {len(row)}: {row}")
        columns = [Column.of(row[place] for row in rows) for place in range(len(self.columns))]
        for place, column in enumerate(columns):
            for text in column.names:
                self.check_label(text, place)
        return Labels(
            self.spec,
            Offsets.of_lengths([len(sentence) for sentence in sentences]),
            tuple(smallest(column.ids, len(column.names)) for column in columns),
            tuple(column.names for column in columns),
            _flat(relations, len(rows), "relations") or Column.of(["_"] * len(rows)),
            _flat(upos, len(rows), "parts of speech"),
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
        """Give label numbers in the encoding's own alphabet, whatever list the labels came with."""
        if labels.alphabets[0] == self.alphabet:
            return np.ascontiguousarray(labels.ids[0], dtype=np.uint8)
        places = {text: place for place, text in enumerate(self.alphabet)}
        for text in labels.alphabets[0]:
            self.check_label(text)
        table = np.array([places[text] for text in labels.alphabets[0]], dtype=np.uint8)
        return table[labels.ids[0]]


def fault_room(size: int) -> tuple[Ints, Ints, Ints]:
    """Make room for a kernel's faults: words, kinds, and their count."""
    return np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32), np.zeros(1, dtype=np.int32)


def found_faults(words: Ints, kinds: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Cut the lists down to what the kernel wrote."""
    return words[: counts[0]].copy(), kinds[: counts[0]].copy()


def read_codes(
    reader: Callable[..., None], codes: npt.NDArray[np.uint8], offsets: Offsets, *options: int, arrays: int
) -> tuple[Ints, Ints, Ints]:
    """Run a kernel that reads labels of a few bits into heads, with so many arrays to work in."""
    codes = np.ascontiguousarray(numbers_below(codes, 1 << 8, "codes"), dtype=np.uint8)
    offsets = Offsets.of(offsets, end=len(codes))
    heads = np.empty(len(codes), dtype=np.int32)
    faults = fault_room(8 * len(codes))
    workspace = [np.zeros(3 * len(scratch(offsets)), dtype=np.int32) for _ in range(arrays)]
    reader(view(codes), view(offsets.array), *options, *(view(array) for array in (heads, *faults, *workspace)))
    return heads, *found_faults(*faults)


def settle(
    arc_heads: Ints, dependents: Ints, arc_offsets: Ints, offsets: Offsets, faults: tuple[Ints, Ints, Ints]
) -> tuple[Ints, Ints, Ints]:
    """Take arcs in order into partial heads, adding what they break to the faults."""
    heads = np.empty(offsets.total, dtype=np.int32)
    repair_kernel.settle(
        view(arc_heads),
        view(dependents),
        view(arc_offsets),
        view(offsets.array),
        view(heads),
        *(view(array) for array in (*faults, scratch(offsets))),
    )
    return heads, *found_faults(*faults)


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


def split_labels(labels: Labels, parts: int) -> list[Labels]:
    """Cut labels into runs of about equally many words."""
    out = []
    for low, high in cuts(labels.offsets, parts):
        where = slice(*labels.offsets.array[[low, high]].tolist())
        out.append(
            replace(
                labels,
                offsets=labels.offsets.between(low, high),
                ids=tuple(ids[where] for ids in labels.ids),
                relations=labels.relations[where],
                upos=None if labels.upos is None else labels.upos[where],
            )
        )
    return out


def join_columns(columns: Sequence[tuple[Ids, tuple[str, ...]]]) -> tuple[Ids, tuple[str, ...]]:
    """Put label numbers of several lists of labels into one."""
    places: dict[str, int] = {}
    tables = [np.array([places.setdefault(n, len(places)) for n in names], dtype=np.int32) for _, names in columns]
    joined = np.concatenate([table[ids] for table, (ids, _) in zip(tables, columns, strict=True)])
    return smallest(joined, len(places)), tuple(places)


def join_labels(parts: Sequence[Labels]) -> Labels:
    """Put runs of sentences together again."""
    columns = [
        join_columns([(part.ids[place], part.alphabets[place]) for part in parts]) for place in range(len(parts[0].ids))
    ]
    relations = join_columns([(part.relations.ids, part.relations.names) for part in parts])
    tags = [part.upos for part in parts if part.upos is not None]
    upos = join_columns([(tag.ids, tag.names) for tag in tags]) if tags else None
    return Labels(
        parts[0].encoding,
        Offsets.concat([part.offsets for part in parts]),
        tuple(ids for ids, _ in columns),
        tuple(names for _, names in columns),
        Column(relations[0].astype(np.int32), relations[1]),
        None if upos is None else Column(upos[0].astype(np.int32), upos[1]),
    )


def join_decoded(labels: Labels, parts: Sequence[Decoded]) -> Decoded:
    """Put decoded runs of sentences together again."""
    before = starts_of([len(part.heads) for part in parts]).astype(np.int32)
    return Decoded(
        labels.offsets,
        np.concatenate([part.heads for part in parts]),
        labels.relations,
        np.concatenate([part.fault_words + start for part, start in zip(parts, before, strict=False)]),
        np.concatenate([part.fault_kinds for part in parts]),
    )


def _flat(rows: Sequence[Sequence[str]] | None, words: int, what: str) -> Column | None:
    if rows is None:
        return None
    column = Column.of(text for row in rows for text in row)
    if len(column) != words:
        raise MismatchError(f"{words} labels but {len(column)} {what}; each word needs one of each")
    return column
