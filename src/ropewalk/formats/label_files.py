"""Label files: one word per line, as written by `ropewalk encode` and read by `ropewalk decode`.

The first line says what the rest holds: `# ropewalk encoding = optimal+head | columns = form, label, relation`. Then
comes a line for each word, its columns separated by tabs, and an empty line after each sentence. A column `upos`
follows the form for encodings that count parts of speech. Multiword tokens, empty nodes and comments are no words and
are not there; filling trees into the file that they come from leaves them as they are.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Generic, Self, TypeVar, final

import numpy as np

from ropewalk import files
from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column, intern
from ropewalk.core.ragged import Offsets
from ropewalk.core.repair import rooted_relations
from ropewalk.encodings import Encoding, Labels, get
from ropewalk.encodings.base import smallest
from ropewalk.errors import EncodingError, FormatError, LabelError, UncoveredTreeError, UnknownNameError
from ropewalk.treebank.surface import Heading
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy.typing as npt


Path = str | os.PathLike[str]
Kind = TypeVar("Kind")
Piece = TypeVar("Piece")

HEADER: Final = re.compile(r"# ropewalk encoding = (?P<spec>.+?) \| columns = (?P<columns>.+)")
EXPECTED_HEADER: Final = "# ropewalk encoding = NAME | columns = form, …, relation"
LONGEST_HEADER: Final = 1 << 16


def columns_of(encoding: Encoding) -> tuple[str, ...]:
    """Name the columns of an encoding's label files."""
    return ("form", *(["upos"] if encoding.needs_upos else []), *encoding.columns, "relation")


def header(encoding: Encoding) -> str:
    """Write the first line of a label file."""
    return f"# ropewalk encoding = {encoding.spec} | columns = {', '.join(columns_of(encoding))}\n"


def text_of(encoding: Encoding, bank: Treebank) -> str:
    """Write the words of a treebank, labelled, one per line, with an empty line after each sentence.

    A tree that the policy `refuse` keeps out is a `FormatError` that names the line of its sentence.
    """
    try:
        labels = encoding.encode(bank)
    except UncoveredTreeError as error:
        if bank.source is None:
            raise
        raise FormatError(
            bank.file,
            bank.line(error.sentence - 1),
            "uncovered-tree",
            str(error).removeprefix(f"sentence {error.sentence}: "),
        ) from error
    columns = [
        bank.column("form").texts(),
        *([] if labels.upos is None else [labels.upos.texts()]),
        *(labels.texts(column) for column in range(len(labels.ids))),
        labels.relations.texts(),
    ]
    return rows_of(columns, labels.offsets)


def rows_of(columns: Sequence[Sequence[str]], offsets: Offsets) -> str:
    """Write columns side by side, one line for each word, with an empty line after each sentence."""
    lines = list(map("\t".join, zip(*columns, strict=True)))
    return "".join("\n".join([*lines[start:stop], "\n"]) for start, stop in pairwise(offsets.array.tolist()))


def write(path: Path, encoding: Encoding, banks: Iterable[Treebank]) -> None:
    """Write a label file, which appears whole or not at all; `-` is standard output, `.gz` and `.xz` compress."""
    write_rows(path, header(encoding), (text_of(encoding, bank) for bank in banks))


def write_rows(path: Path, first: str, texts: Iterable[str]) -> None:
    """Write a first line and texts; nothing is written before the first text is there."""
    with files.creating(path) as file:
        for text in texts:
            file.write((first + text).encode("utf-8"))
            first = ""
        file.write(first.encode("utf-8"))


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Some sentences of a label file: their words and labels."""

    forms: Column
    labels: Labels


class LabelRows(ABC, Generic[Kind, Piece]):
    """An iterator over the pieces of a file with one word per line, each piece of whole sentences.

    The file is read once from start to end, in memory that does not grow with it. `encoding` is what its first line
    names. A subclass says what that line is and what becomes of the columns.
    """

    def __init__(self, path: Path, *, chunk_bytes: int = 1 << 20) -> None:
        self.file = files.shown(path)
        self._blocks = files.bounded(files.blocks(path, chunk_bytes), self.file)
        self._pending = bytearray()
        self._line = 1
        self.encoding = self._read_header()
        self._chunks = self._read()

    @property
    @abstractmethod
    def header(self) -> tuple[re.Pattern[str], str]:
        """What the first line must be, with the groups `spec` and `columns`, and how to tell a user."""

    @abstractmethod
    def named(self, spec: str) -> Kind:
        """Make the encoding that the first line names, or raise an `EncodingError`."""

    @abstractmethod
    def columns(self, encoding: Kind) -> tuple[str, ...]:
        """Name the columns that an encoding's files have."""

    @abstractmethod
    def checks(self, encoding: Kind) -> dict[str, Callable[[str], object]]:
        """Say what raises a `LabelError` at a wrong text, for each column that has one."""

    @abstractmethod
    def piece(self, columns: dict[str, Column], offsets: Offsets, lines: npt.NDArray[np.int64]) -> Piece:
        """Put together the sentences of some lines; `lines` are their numbers in the file."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Piece:
        return next(self._chunks)

    def _error(self, line: int, kind: str, message: str) -> FormatError:
        return FormatError(self.file, line, kind, message)

    def _read_header(self) -> Kind:
        while b"\n" not in self._pending and len(self._pending) < LONGEST_HEADER:
            block = next(self._blocks, b"")
            if not block:
                break
            self._pending += block
        line, _, rest = bytes(self._pending).partition(b"\n")
        text = line[:LONGEST_HEADER].decode("utf-8", "replace")
        if text.endswith("\r"):
            raise self._error(1, "line-end", "the line ends in CR LF; expected LF alone")
        pattern, shown = self.header
        match = pattern.fullmatch(text)
        if match is None:
            found = repr(text[:60]) if text else "nothing"
            raise self._error(1, "header", f"the file begins with {found}; expected {shown!r}")
        try:
            encoding = self.named(match["spec"])
        except (EncodingError, UnknownNameError) as error:
            raise self._error(1, "encoding", str(error)) from error
        expected = ", ".join(self.columns(encoding))
        if match["columns"] != expected:
            raise self._error(1, "header", f"the columns are {match['columns']}; {match['spec']} has {expected}")
        self._pending = bytearray(rest)
        self._line = 2
        return encoding

    def _read(self) -> Iterator[Piece]:
        seen = 0
        while True:
            cut = self._pending.rfind(b"\n\n", seen) + 2
            if cut >= 2:
                yield self._parsed(bytes(memoryview(self._pending)[:cut]))
                del self._pending[:cut]
            seen = max(len(self._pending) - 1, 0)
            block = next(self._blocks, b"")
            if not block:
                break
            self._pending += block
        if self._pending:
            last = self._line + self._pending.count(b"\n") - self._pending.endswith(b"\n")
            message = "the file ends inside a sentence; expected an empty line after the last word: was it cut off?"
            raise self._error(last, "truncated", message)

    def _parsed(self, raw: bytes) -> Piece:
        """Read whole sentences: every line is found at once, and equal texts of a column become one number."""
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self._line + raw.count(b"\n", 0, error.start)
            raise self._error(line, "utf-8", f"byte 0x{raw[error.start]:02x} is not UTF-8; expected UTF-8") from error
        for byte, name in ((b"\0", "NUL"), (b"\r", "carriage return")):
            if byte in raw:
                line = self._line + raw.count(b"\n", 0, raw.index(byte))
                raise self._error(line, "unwritable-text", f"the line has a {name}, which no treebank can; remove it")
        names = self.columns(self.encoding)
        array = np.frombuffer(raw, dtype=np.uint8)
        stops = np.flatnonzero(array == 10)
        starts = np.concatenate([[0], stops[:-1] + 1])
        tabs = np.flatnonzero(array == 9)
        found = np.searchsorted(tabs, stops) - np.searchsorted(tabs, starts) + 1
        blank = stops == starts
        stray = blank & np.concatenate([[True], blank[:-1]])
        wrong = np.flatnonzero(stray | (~blank & (found != len(names))))
        fine = slice(0, int(wrong[0]) if len(wrong) else len(stops))  # what comes before may have other faults
        words = np.flatnonzero(~blank[fine])
        inner = tabs[: len(words) * (len(names) - 1)].reshape(len(words), len(names) - 1)
        marks = np.column_stack([starts[words] - 1, inner, stops[words]])
        empty = np.argwhere(np.diff(marks, axis=1) == 1)
        if len(empty):
            row, column = empty[0].tolist()
            message = f"the column {names[column]} is empty; expected a value"
            raise self._error(self._line + int(words[row]), "empty-column", message)
        columns = {
            name: _column(array, np.ascontiguousarray(marks[:, place] + 1), np.ascontiguousarray(marks[:, place + 1]))
            for place, name in enumerate(names)
        }
        for name, check in self.checks(self.encoding).items():
            self._check(columns[name], check, words)
        if len(wrong):
            raise self._bad_line(int(wrong[0]), int(found[wrong[0]]), stray=bool(stray[wrong[0]]))
        offsets = Offsets(np.append(0, np.cumsum(~blank)[blank]))
        piece = self.piece(columns, offsets, words + self._line)
        self._line += len(stops)
        return piece

    def _bad_line(self, line: int, found: int, *, stray: bool) -> FormatError:
        if stray:
            message = "an empty line without a sentence; expected exactly one after each sentence"
            return self._error(self._line + line, "blank-line", message)
        names = self.columns(self.encoding)
        message = f"the number of columns is {found}; expected {len(names)}: {', '.join(names)}"
        return self._error(self._line + line, "columns", message)

    def _check(self, column: Column, check: Callable[[str], object], lines: npt.NDArray[np.int64]) -> None:
        for number, name in enumerate(column.names):
            try:
                check(name)
            except LabelError as error:
                first = int(np.flatnonzero(column.ids == number)[0])
                raise self._error(self._line + int(lines[first]), "label", str(error)) from error


@final
class LabelReader(LabelRows[Encoding, Labelled]):
    """An iterator over the pieces of a file with labels of trees, each of whole sentences."""

    header = HEADER, EXPECTED_HEADER

    def named(self, spec: str) -> Encoding:
        """Make the encoding of trees."""
        return get(spec)

    def columns(self, encoding: Encoding) -> tuple[str, ...]:
        """Name the columns of an encoding's label files."""
        return columns_of(encoding)

    def checks(self, encoding: Encoding) -> dict[str, Callable[[str], object]]:
        """Look at each column of labels."""
        return {name: partial(encoding.check_label, column=place) for place, name in enumerate(encoding.columns)}

    def piece(self, columns: dict[str, Column], offsets: Offsets, lines: npt.NDArray[np.int64]) -> Labelled:
        """Take the forms and the labels."""
        del lines
        labels = [columns[name] for name in self.encoding.columns]
        return Labelled(
            columns["form"],
            Labels(
                self.encoding.spec,
                offsets,
                tuple(smallest(column.ids, len(column.names)) for column in labels),
                tuple(column.names for column in labels),
                columns["relation"],
                columns.get("upos"),
            ),
        )


def _column(raw: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64]) -> Column:
    ids, firsts = intern(raw, starts, stops)
    return Column(frozen_ints(ids), tuple(raw[starts[i] : stops[i]].tobytes().decode("utf-8") for i in firsts.tolist()))


class LabelTrees:
    """An iterator over the trees that a label file spells, each piece a `Treebank` with forms.

    `faults` and `repairs` count by kind what was wrong with the labels so far and what was done about it.
    """

    def __init__(self, reader: LabelReader, *, repair_policy: str = "nearest") -> None:
        self.file = reader.file
        self.faults: Counter[str] = Counter()
        self.repairs: Counter[str] = Counter()
        self._reader = reader
        self._policy = repair_policy

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Treebank:
        piece = next(self._reader)
        found = self._reader.encoding.recover(piece.labels, repair_policy=self._policy)
        self.faults.update(found.decoded.counts())
        self.repairs.update(found.repairs)
        trees = found.trees
        sentences = trees.offsets.owners()
        changed = trees.heads != found.decoded.heads
        mended = np.isin(sentences, sentences[changed])  # others keep the relations that they have, whatever those are
        relations = rooted_relations(trees.heads, trees.relations, among=mended)
        columns = {"form": piece.forms, "upos": piece.labels.upos, "deprel": relations}
        known = {name: column for name, column in columns.items() if column is not None}
        return Treebank(trees.offsets, trees.heads, known)


@dataclass(frozen=True, slots=True, eq=False)
class LabelledWords:
    """The words of some sentences of a label file, and the lines where these words and sentences begin."""

    forms: Column
    offsets: Offsets
    word_lines: npt.NDArray[np.int64]
    sentence_lines: npt.NDArray[np.int64]


def named(trees: Iterable[Treebank]) -> Iterator[Treebank]:
    """Give sentences that are only words a number and a text, as Universal Dependencies demands."""
    count = 0
    for bank in trees:
        forms = bank.column("form").texts()
        texts = (" ".join(forms[start:stop]) for start, stop in pairwise(bank.offsets.array.tolist()))
        yield bank.with_headings([Heading(str(number), text) for number, text in enumerate(texts, start=count + 1)])
        count += len(bank)


def fill(originals: Iterable[Treebank], trees: LabelTrees) -> Iterator[Treebank]:
    """Put trees over the same words of an original; sentences or words that differ are a `FormatError`."""
    rest = Treebank.of([])
    line = 2  # of the label file
    file = "the original"
    for bank in originals:
        file = bank.file
        at = 0
        while at < len(bank):
            rest = rest if len(rest) else next(trees, rest)
            many = min(len(bank) - at, len(rest))
            if not many:
                raise FormatError(
                    file,
                    bank.line(at),
                    "sentences-differ",
                    f"{trees.file} has no labels for this sentence and those after it; expected as many sentences",
                )
            here, there = bank.select(np.arange(at, at + many)), rest.select(np.arange(many))
            lines = line + np.arange(there.words) + np.repeat(np.arange(many), there.lengths)
            words = LabelledWords(there.column("form"), there.offsets, lines, lines[there.offsets.starts])
            demand_same_words(here, words, trees.file)
            yield here.with_trees(there.heads, there.relations)
            rest = rest.select(np.arange(many, len(rest)))
            line += there.words + many
            at += many
    if len(rest) or len(next(trees, rest)):
        message = f"labels for a sentence that {file} does not have; expected as many sentences"
        raise FormatError(trees.file, line, "sentences-differ", message)


def demand_same_words(bank: Treebank, labelled: LabelledWords, file: str) -> None:
    """Raise a `FormatError` at the first sentence of which the label file has other words."""
    mine, theirs = bank.column("form").texts(), labelled.forms.texts()
    if mine == theirs and bank.offsets == labelled.offsets:
        return
    for sentence in range(len(bank)):
        start, stop = bank.offsets.bounds(sentence)
        other, end = labelled.offsets.bounds(sentence)
        for word in range(min(stop - start, end - other)):
            if mine[start + word] != theirs[other + word]:
                raise FormatError(
                    bank.file,
                    bank.line(sentence, start + word),
                    "words-differ",
                    f"the form is {mine[start + word]!r}, but {theirs[other + word]!r} in line "
                    f"{labelled.word_lines[other + word]} of {file}; expected the same words",
                    word=str(word + 1),
                )
        if stop - start != end - other:
            raise FormatError(
                bank.file,
                bank.line(sentence),
                "words-differ",
                f"the sentence has {stop - start} words, but {end - other} in {file}, where it begins in line "
                f"{labelled.sentence_lines[sentence]}; expected the same words",
            )
