"""Label files: one word per line, as written by `ropewalk encode` and read by `ropewalk decode`.

The first line names the encoding and the columns:

`# ropewalk encoding = optimal+head | columns = form, label, relation`

It is followed by a line for each word, with tabs between the columns, and an empty line after each sentence. If the
encoding needs parts of speech, the column `upos` follows the form. Label files have no multiword tokens, empty nodes
and comments. To keep them, write the decoded trees into the original file (`fill`).

Label files of graphs begin with another line:

`# ropewalk graph encoding = brackets | columns = id, form, label, relations`

They have a line for each word and each empty node, in text order: its ID as in CoNLL-U (such as 8.1), its form, its
label and the relations of the arcs into it. Relations are sorted by head and separated by `|`. Several relations of one
arc are joined by ` & `. A node without arcs has `_`.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Final, Generic, Self, TypeVar, final

import numpy as np

from ropewalk import files
from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column
from ropewalk.core.graphs import Graphs
from ropewalk.core.ragged import Offsets
from ropewalk.core.repair import rooted_relations
from ropewalk.encodings import Encoding, Labels, get, graphs
from ropewalk.encodings.graphs import GraphEncoding, GraphLabels
from ropewalk.errors import (
    EncodingError,
    FormatError,
    LabelError,
    UncoveredGraphError,
    UncoveredTreeError,
    UnknownNameError,
)
from ropewalk.formats import deps
from ropewalk.formats.sdp import SemanticBank
from ropewalk.treebank.surface import Heading
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy.typing as npt

    LineNumbers = npt.NDArray[np.int64]

Path = str | os.PathLike[str]
Kind = TypeVar("Kind", Encoding, GraphEncoding)
Piece = TypeVar("Piece", Labels, GraphLabels)
Structures = TypeVar("Structures", Treebank, Graphs)
Content = TypeVar("Content", Labels, GraphLabels, Treebank, Graphs)

LONGEST_HEADER: Final = 1 << 16
RELATIONS: Final = re.compile(r"(?:no arc|[^\s|]+(?: & [^\s|]+)*)(?:\|(?:no arc|[^\s|]+(?: & [^\s|]+)*))*")


def columns_of(encoding: Encoding | GraphEncoding) -> tuple[str, ...]:
    """Return the names of the columns of an encoding's label files."""
    if isinstance(encoding, GraphEncoding):
        return ("id", "form", *encoding.columns, "relations")
    return ("form", *(["upos"] if encoding.needs_upos else []), *encoding.columns, "relation")


def header(encoding: Encoding | GraphEncoding) -> str:
    """Return the first line of a label file of `encoding`."""
    kind = "graph " if isinstance(encoding, GraphEncoding) else ""
    return f"# ropewalk {kind}encoding = {encoding.spec} | columns = {', '.join(columns_of(encoding))}\n"


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """The graphs of a treebank with the forms of their words and empty nodes, from which a label file is written."""

    bank: Treebank | SemanticBank
    graphs: Graphs
    forms: Column

    @classmethod
    def of(cls, bank: Treebank | SemanticBank) -> Nodes:
        """Return the enhanced graphs of a treebank, or the graphs of an `.sdp` file, with the forms of their nodes."""
        if isinstance(bank, SemanticBank):
            return cls(bank, bank.graphs, bank.forms)
        return cls(bank, deps.read(bank), deps.forms(bank))


def text_of(encoding: Encoding, bank: Treebank) -> str:
    """Return the lines of a label file for a treebank: one for each word, and an empty line after each sentence.

    Raise a `FormatError` that names the line if the encoding cannot represent a tree and its policy is `refuse`.
    """
    try:
        labels = encoding.encode(bank)
    except UncoveredTreeError as error:
        if bank.source is None:
            raise
        raise _uncovered(bank, error, "uncovered-tree") from error
    tags = [] if labels.upos is None else [labels.upos]
    return _rows([bank.column("form"), *tags, *labels.columns, labels.relations], labels.offsets)


def graph_text_of(encoding: GraphEncoding, nodes: Nodes) -> str:
    """Return the lines of a label file for graphs: one for each word or empty node, an empty one after each sentence.

    Raise a `FormatError` that names the line if the encoding cannot represent a graph.
    """
    try:
        labels = encoding.encode(nodes.graphs)
    except UncoveredGraphError as error:
        raise _uncovered(nodes.bank, error, "uncovered-graph") from error
    return _rows([nodes.graphs.names(), nodes.forms, *labels.columns, labels.relation_texts()], labels.offsets)


def _uncovered(
    bank: Treebank | SemanticBank, error: UncoveredTreeError | UncoveredGraphError, kind: str
) -> FormatError:
    message = str(error).removeprefix(f"sentence {error.sentence}: ")
    return FormatError(bank.file, bank.line(error.sentence - 1), kind, message)


def _rows(columns: Sequence[Iterable[str]], offsets: Offsets) -> str:
    """Return the values of `columns` as lines, one for each word, with an empty line after each sentence."""
    lines = list(map("\t".join, zip(*columns, strict=True)))
    return "".join("\n".join([*lines[start:stop], "\n"]) for start, stop in pairwise(offsets.array.tolist()))


def write(path: Path, encoding: Encoding | GraphEncoding, texts: Iterable[str]) -> None:
    """Write a label file: its first line, then `texts` that `text_of` or `graph_text_of` returned.

    `-` is standard output, and `.gz` and `.xz` files are compressed. The file appears only when it is complete. Nothing
    is written before the first text exists.
    """
    first = header(encoding)
    with files.creating(path) as file:
        for text in texts:
            file.write((first + text).encode("utf-8"))
            first = ""
        file.write(first.encode("utf-8"))


@dataclass(frozen=True, slots=True, eq=False)
class LabelledSentences(Generic[Content]):
    """Some sentences of a label file: the form of each word or node, and the number of its line in the file.

    `content` has the labels of the sentences, or the trees or graphs that were decoded from them.
    """

    forms: Column
    content: Content
    lines: LineNumbers


class LabelRows(ABC, Generic[Kind, Piece]):
    """An iterator over the pieces of a label file, each of whole sentences.

    The file is read once from start to end, in bounded memory. `encoding` is the one that the first line names.
    Subclasses define how it is looked up (`named`), and how columns become labels (`labels`).
    """

    header: ClassVar[str]  # the expected first line

    def __init__(self, path: Path, *, chunk_bytes: int = 1 << 20) -> None:
        self.file = files.shown(path)
        self._blocks = files.bounded(files.blocks(path, chunk_bytes), self.file)
        self._pending = bytearray()
        self._line = 1
        self.encoding: Kind = self._read_header()
        self._chunks: Iterator[LabelledSentences[Piece]] = self._read()

    @abstractmethod
    def named(self, spec: str) -> Kind:
        """Return the encoding that `spec` from the first line names, or raise an `EncodingError`."""

    @abstractmethod
    def labels(self, columns: dict[str, Column], offsets: Offsets, lines: LineNumbers) -> Piece:
        """Return the labels of some sentences; `lines` has the number of each word's line in the file."""

    def checks(self) -> dict[str, Callable[[str], object]]:
        """Return for each column a function that raises a `LabelError` for an invalid text."""
        columns = self.encoding.columns
        return {name: partial(self.encoding.check_label, column=number) for number, name in enumerate(columns)}

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> LabelledSentences[Piece]:
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
        start = self.header.partition("NAME")[0]
        match = re.fullmatch(rf"{start}(?P<spec>.+?) \| columns = (?P<columns>.+)", text)
        if match is None:
            shown = repr(text[:60]) if text else "nothing"
            raise self._error(1, "header", f"the file begins with {shown}; expected {self.header!r}")
        try:
            encoding = self.named(match["spec"])
        except (EncodingError, UnknownNameError) as error:
            raise self._error(1, "encoding", str(error)) from error
        expected = ", ".join(columns_of(encoding))
        if match["columns"] != expected:
            raise self._error(1, "header", f"the columns are {match['columns']}; {match['spec']} has {expected}")
        self._pending = bytearray(rest)
        self._line = 2
        return encoding

    def _read(self) -> Iterator[LabelledSentences[Piece]]:
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
            message = "the file ends inside a sentence; expected an empty line after the last word: it may be truncated"
            raise self._error(last, "truncated", message)

    def _parsed(self, raw: bytes) -> LabelledSentences[Piece]:
        """Parse the bytes of whole sentences; raise a `FormatError` that names the line if one is invalid."""
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self._line + raw.count(b"\n", 0, error.start)
            raise self._error(line, "utf-8", f"byte 0x{raw[error.start]:02x} is not UTF-8; expected UTF-8") from error
        for byte, name in ((b"\0", "NUL"), (b"\r", "carriage return")):
            if byte in raw:
                line = self._line + raw.count(b"\n", 0, raw.index(byte))
                raise self._error(
                    line, "unwritable-text", f"the line has a {name}, which no treebank can contain; remove it"
                )
        names = columns_of(self.encoding)
        array = np.frombuffer(raw, dtype=np.uint8)
        stops = np.flatnonzero(array == 10)
        starts = np.concatenate([[0], stops[:-1] + 1])
        tabs = np.flatnonzero(array == 9)
        counts = np.searchsorted(tabs, stops) - np.searchsorted(tabs, starts) + 1
        blank = stops == starts
        stray = blank & np.concatenate([[True], blank[:-1]])
        wrong = np.flatnonzero(stray | (~blank & (counts != len(names))))
        fine = slice(0, int(wrong[0]) if len(wrong) else len(stops))  # lines before it may have other faults
        words = np.flatnonzero(~blank[fine])
        inner = tabs[: len(words) * (len(names) - 1)].reshape(len(words), len(names) - 1)
        marks = np.column_stack([starts[words] - 1, inner, stops[words]])
        empty = np.argwhere(np.diff(marks, axis=1) == 1)
        if len(empty):
            row, column = empty[0].tolist()
            message = f"the column {names[column]} is empty; expected a value"
            raise self._error(self._line + int(words[row]), "empty-column", message)
        spans = pairwise(np.ascontiguousarray(marks.T))
        columns = {
            name: Column.of_spans(array, start + 1, stop) for name, (start, stop) in zip(names, spans, strict=True)
        }
        for name, check in self.checks().items():
            self._check(columns[name], check, words)
        if len(wrong):
            raise self._bad_line(int(wrong[0]), int(counts[wrong[0]]), stray=bool(stray[wrong[0]]))
        offsets = Offsets(np.append(0, np.cumsum(~blank)[blank]))
        lines = words + self._line
        piece = LabelledSentences(columns["form"], self.labels(columns, offsets, lines), lines)
        self._line += len(stops)
        return piece

    def _bad_line(self, line: int, count: int, *, stray: bool) -> FormatError:
        if stray:
            message = "an empty line without a sentence; expected exactly one after each sentence"
            return self._error(self._line + line, "blank-line", message)
        names = columns_of(self.encoding)
        message = f"the number of columns is {count}; expected {len(names)}: {', '.join(names)}"
        return self._error(self._line + line, "columns", message)

    def _check(self, column: Column, check: Callable[[str], object], lines: LineNumbers) -> None:
        for number, name in enumerate(column.names):
            try:
                check(name)
            except LabelError as error:
                first = int(np.flatnonzero(column.ids == number)[0])
                raise self._error(self._line + int(lines[first]), "label", str(error)) from error


@final
class LabelReader(LabelRows[Encoding, Labels]):
    """An iterator over the pieces of a label file of trees, each of whole sentences."""

    header = "# ropewalk encoding = NAME | columns = form, …, relation"

    def named(self, spec: str) -> Encoding:
        """Return the tree encoding that `spec` names."""
        return get(spec)

    def labels(self, columns: dict[str, Column], offsets: Offsets, lines: LineNumbers) -> Labels:
        """Return the labels of the trees of some sentences."""
        del lines
        labels = tuple(columns[name].narrow() for name in self.encoding.columns)
        return Labels(self.encoding.spec, offsets, labels, columns["relation"], columns.get("upos"))


@final
class GraphLabelReader(LabelRows[GraphEncoding, GraphLabels]):
    """An iterator over the pieces of a label file of graphs, each of whole sentences."""

    header = "# ropewalk graph encoding = NAME | columns = id, form, …, relations"

    def named(self, spec: str) -> GraphEncoding:
        """Return the graph encoding that `spec` names."""
        return graphs.get(spec)

    def checks(self) -> dict[str, Callable[[str], object]]:
        """Return functions that raise a `LabelError` for an invalid text, by the names of the columns.

        The columns of labels and the column of relations have one.
        """
        return {**super().checks(), "relations": partial(_check_relations, self.encoding.spec)}

    def labels(self, columns: dict[str, Column], offsets: Offsets, lines: LineNumbers) -> GraphLabels:
        """Return the labels of the graphs of some sentences; an ID with a point, such as 8.1, is that of an empty node.

        Raise a `FormatError` that names the line if nodes are not numbered in order.
        """
        empty = np.array([*("." in name for name in columns["id"].names), False])[columns["id"].ids]
        no_arcs = Offsets.of_lengths(np.zeros(len(offsets), dtype=np.int64))
        nodes = Graphs(offsets, empty, no_arcs, frozen_ints([]), frozen_ints([]), Column.of([]))
        for line, node, expected in zip(lines.tolist(), columns["id"], nodes.names(), strict=True):
            if node != expected:
                message = f"the id is {node}, expected {expected}: words from 1 without gaps, empty nodes from .1"
                raise self._error(line, "id", message)
        labels = [columns[name] for name in self.encoding.columns]
        return self.encoding.with_relations(offsets, empty, labels, columns["relations"])


def _check_relations(spec: str, text: str) -> None:
    if not RELATIONS.fullmatch(text):
        raise LabelError(spec, text, "relations separated by |, two of one arc by ' & ', or _ for none")


def _cut(piece: LabelledSentences[Structures], first: int, last: int) -> LabelledSentences[Structures]:
    """Return the sentences of `piece` from index `first` to before `last`."""
    where = slice(*piece.content.offsets.array[[first, last]].tolist())
    return LabelledSentences(piece.forms[where], piece.content.select(np.arange(first, last)), piece.lines[where])


class LabelTrees:
    """An iterator over the trees of a label file, decoded and repaired, as treebanks with forms.

    `faults` and `repairs` count, by kind, the faults of the labels that were read so far and the repairs of their
    trees.
    """

    def __init__(self, reader: LabelReader, *, repair_policy: str = "nearest") -> None:
        self.file = reader.file
        self.faults: Counter[str] = Counter()
        self.repairs: Counter[str] = Counter()
        self._reader = reader
        self._policy = repair_policy

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> LabelledSentences[Treebank]:
        piece = next(self._reader)
        recovered = self._reader.encoding.recover(piece.content, repair_policy=self._policy)
        self.faults.update(recovered.decoded.counts())
        self.repairs.update(recovered.repairs)
        trees = recovered.trees
        sentences = trees.offsets.owners()
        changed = trees.heads != recovered.decoded.heads
        mended = np.isin(sentences, sentences[changed])  # other sentences keep their relations
        relations = rooted_relations(trees.heads, trees.relations, among=mended)
        columns = {"form": piece.forms, "upos": piece.content.upos, "deprel": relations}
        known = {name: column for name, column in columns.items() if column is not None}
        return LabelledSentences(piece.forms, Treebank(trees.offsets, trees.heads, known), piece.lines)


class LabelGraphs:
    """An iterator over the graphs that are decoded from a label file.

    `faults` counts, by kind, the faults of the labels that were read so far.
    """

    def __init__(self, reader: GraphLabelReader) -> None:
        self.file = reader.file
        self.faults: Counter[str] = Counter()
        self._reader = reader

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> LabelledSentences[Graphs]:
        piece = next(self._reader)
        decoded = self._reader.encoding.decode(piece.content)
        self.faults.update(decoded.counts())
        return LabelledSentences(piece.forms, decoded.graphs, piece.lines)


def named(trees: LabelTrees) -> Iterator[Treebank]:
    """Yield the trees of a label file as treebanks in which each sentence has a `sent_id` and a text, as UD demands.

    The `sent_id` is a number, counted from 1.
    """
    count = 0
    for piece in trees:
        forms = piece.forms.texts()
        texts = (" ".join(forms[where]) for where in piece.content.offsets)
        headings = [Heading(str(number), text) for number, text in enumerate(texts, start=count + 1)]
        yield piece.content.with_headings(headings)
        count += len(piece.content)


def fill(originals: Iterable[Treebank], trees: LabelTrees) -> Iterator[Treebank]:
    """Yield the original treebanks with the trees of a label file in place of their own.

    Raise a `FormatError` where sentences or words of the two differ.
    """
    for bank, piece in _aligned(originals, trees, trees.file):
        yield bank.with_trees(piece.content.heads, piece.content.relations)


def fill_graphs(originals: Iterable[Treebank], labelled: LabelGraphs) -> Iterator[bytes]:
    """Yield the CoNLL-U of the original treebanks with the graphs of a label file in DEPS.

    Empty nodes are replaced with those of the label file. Raise a `FormatError` where sentences or words of the two
    differ.
    """
    for bank, piece in _aligned(originals, labelled, labelled.file):
        yield deps.write(bank, piece.content, piece.forms)


def _aligned(
    originals: Iterable[Treebank], pieces: Iterator[LabelledSentences[Structures]], file: str
) -> Iterator[tuple[Treebank, LabelledSentences[Structures]]]:
    """Yield sentences of the original treebanks together with the same sentences of a label file.

    Raise a `FormatError` where sentences or words of the two differ.
    """
    rest: LabelledSentences[Structures] | None = None
    original = "the original"
    for bank in originals:
        original = bank.file
        at = 0
        while at < len(bank):
            rest = next(pieces, None) if rest is None else rest
            if rest is None:
                message = f"{file} has no labels for this sentence and those after it; expected as many sentences"
                raise FormatError(original, bank.line(at), "sentences-differ", message)
            many = min(len(bank) - at, len(rest.content))
            here, there = bank.select(np.arange(at, at + many)), _cut(rest, 0, many)
            _demand_same_words(here, there, file)
            yield here, there
            rest = _cut(rest, many, len(rest.content)) if many < len(rest.content) else None
            at += many
    rest = next(pieces, None) if rest is None else rest
    if rest is not None:
        message = f"labels for a sentence that {original} does not have; expected as many sentences"
        raise FormatError(file, int(rest.lines[0]), "sentences-differ", message)


def _demand_same_words(bank: Treebank, labelled: LabelledSentences[Structures], file: str) -> None:
    """Raise a `FormatError` at the first sentence whose words differ between the treebank and the label file."""
    structures, forms, lines = labelled.content, labelled.forms, labelled.lines
    offsets, sentence_lines = structures.offsets, lines[structures.offsets.starts]
    if isinstance(structures, Graphs):
        words = np.flatnonzero(~structures.empty)
        offsets, forms, lines = offsets.counted(~structures.empty), forms.take(words), lines[words]
    mine, theirs = bank.column("form").texts(), forms.texts()
    if mine == theirs and bank.offsets == offsets:
        return
    for sentence in range(len(bank)):
        start, stop = bank.offsets.bounds(sentence)
        other, end = offsets.bounds(sentence)
        for word in range(min(stop - start, end - other)):
            if mine[start + word] != theirs[other + word]:
                raise FormatError(
                    bank.file,
                    bank.line(sentence, start + word),
                    "words-differ",
                    f"the form is {mine[start + word]!r}, but {theirs[other + word]!r} in line "
                    f"{lines[other + word]} of {file}; expected the same words",
                    word=str(word + 1),
                )
        if stop - start != end - other:
            raise FormatError(
                bank.file,
                bank.line(sentence),
                "words-differ",
                f"the sentence has {stop - start} words, but {end - other} in {file}, where it begins in line "
                f"{sentence_lines[sentence]}; expected the same words",
            )


def fill_semantic(bank: SemanticBank, labelled: LabelGraphs) -> SemanticBank:
    """Return the sentences of an `.sdp` file with the graphs of a label file in place of their own.

    Raise a `FormatError` where sentences or words of the two differ.
    """
    pieces = list(labelled)
    graphs_of_labels = Graphs.concat([piece.content for piece in pieces])
    mine, theirs = bank.forms.texts(), Column.concat([piece.forms for piece in pieces]).texts()
    if mine != theirs or graphs_of_labels.offsets != bank.graphs.offsets:
        both = zip(enumerate(bank.graphs.lengths.tolist()), graphs_of_labels.lengths.tolist(), strict=False)
        parted = [s for (s, ours), other in both if ours != other]
        words = [w for w, (ours, other) in enumerate(zip(mine, theirs, strict=False)) if ours != other]
        first = bank.graphs.offsets.owner(words[0]) if words else len(bank) - 1
        raise FormatError(
            bank.file,
            int(bank.lines[min([first, *parted])]) if len(bank) else 0,
            "words-differ",
            f"the words from this sentence on are not those of {labelled.file}; expected the same words and sentences",
        )
    return bank.with_graphs(graphs_of_labels)
