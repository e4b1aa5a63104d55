"""CoNLL-U: a streaming reader and writer that lose nothing.

Reading keeps the bytes, and writing changes only the columns that were asked to change. What is wrong with a
file is found in one pass and named by file, line and word. The format is that of
https://universaldependencies.org/format.html, always UTF-8 with LF.
"""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import numpy as np
import numpy.typing as npt

from ropewalk import files
from ropewalk.errors import FormatError, OptionError
from ropewalk.kernels import codes, view
from ropewalk.kernels import conllu as kernel
from ropewalk.treebank import COLUMNS, Places, Text, Treebank, frozen
from ropewalk.trees import Ints, check, frozen_ints, tree_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OnError = Literal["stop", "skip"]
Trees = Literal["optional", "required"]
Path = str | os.PathLike[str]

BAD_UTF8: Final = -1
BOM: Final = -2

KINDS: Final = {
    codes.COLUMN_COUNT: "columns",
    codes.EMPTY_COLUMN: "empty-column",
    codes.BAD_ID: "id",
    codes.ID_ORDER: "id-order",
    codes.RANGE_START: "multiword-start",
    codes.RANGE_OVERLAP: "multiword-overlap",
    codes.RANGE_ORDER: "multiword-order",
    codes.RANGE_END: "multiword-end",
    codes.EMPTY_ORDER: "empty-node-order",
    codes.BAD_HEAD: "head",
    codes.HEAD_RANGE: "head-range",
    codes.COMMENT: "comment",
    codes.STRAY_BLANK: "blank-line",
    codes.NO_WORDS: "no-words",
    codes.NO_FINAL_BLANK: "no-final-blank-line",
    codes.NO_FINAL_NEWLINE: "no-final-newline",
    codes.CARRIAGE_RETURN: "crlf",
    codes.NUL_BYTE: "nul",
    BAD_UTF8: "utf-8",
    BOM: "bom",
}
WORDLESS: Final = frozenset(
    {"comment", "blank-line", "no-words", "columns", "utf-8", "bom", "id", "crlf", "nul"}
)
TREE_KINDS: Final = {
    codes.HEAD_MISSING: "missing-head",
    codes.HEAD_OUT_OF_RANGE: "head-range",
    codes.CYCLE: "cycle",
}


def read(path: Path, *, on_error: OnError = "stop", trees: Trees = "optional") -> Treebank:
    """Read a whole file; `-` is standard input, `.gz` and `.xz` are decompressed.

    With `trees="required"`, a word without a head and a cycle are errors too. `on_error="skip"` leaves out
    each sentence that has an error; `stream(...).read()` does the same and keeps the list of them.
    """
    return stream(path, on_error=on_error, trees=trees).read()


def stream(
    path: Path, *, on_error: OnError = "stop", trees: Trees = "optional", chunk_bytes: int = 1 << 20
) -> Reader:
    """Read a file piece by piece, in memory that does not grow with the file; the source is never rewound."""
    return Reader(files.shown(path), _blocks(path, chunk_bytes), on_error=on_error, trees=trees)


def loads(
    text: bytes | str, name: str = "<text>", *, on_error: OnError = "stop", trees: Trees = "optional"
) -> Treebank:
    """Read CoNLL-U from memory."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return Reader(name, iter([raw]), on_error=on_error, trees=trees).read()


def dumps(bank: Treebank) -> bytes:
    """Write CoNLL-U to memory."""
    return bank.rendered().raw.tobytes()


def write(path: Path, banks: Treebank | Iterable[Treebank]) -> None:
    """Write a file that appears whole or not at all; `-` is standard output, `.gz` and `.xz` are compressed."""
    with files.creating(path) as file:
        for bank in [banks] if isinstance(banks, Treebank) else banks:
            file.write(view(bank.rendered().raw))


def problems(path: Path, *, chunk_bytes: int = 1 << 20) -> Iterator[FormatError]:
    """Find everything that is wrong with a file, its trees included.

    Missing heads are told once a sentence, and lines that end in CR LF once a file.
    """
    reader = Reader(files.shown(path), _blocks(path, chunk_bytes), on_error="skip", trees="optional")
    returned = False
    try:
        for scanned in reader.scan():
            found = [*scanned.errors(), *_tree_problems(scanned.bank())]
            for problem in sorted(found, key=lambda problem: problem.line):
                if problem.kind != "crlf" or not returned:
                    yield problem
                returned = returned or problem.kind == "crlf"
    except FormatError as problem:
        yield problem


class Reader:
    """An iterator over the pieces of a file, each a `Treebank` of whole sentences.

    `problems` holds what was wrong with the sentences left out under `on_error="skip"`, the first problem of
    each; `skipped`, `sentences` and `words` count what was left out and what was read so far.
    """

    def __init__(self, file: str, blocks: Iterator[bytes], *, on_error: OnError, trees: Trees) -> None:
        for option, value, known in (
            ("on_error", on_error, ("stop", "skip")),
            ("trees", trees, ("optional", "required")),
        ):
            if value not in known:
                raise OptionError(f"{option} is {value!r}; expected {known[0]!r} or {known[1]!r}")
        self.file = file
        self.problems: list[FormatError] = []
        self.sentences = 0
        self.words = 0
        self._skip = on_error == "skip"
        self._required = trees == "required"
        self._line = 1
        self._blocks = blocks
        self._banks = (self._kept(scanned) for scanned in self.scan())

    @property
    def skipped(self) -> int:
        """How many sentences were left out so far."""
        return len(self.problems)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Treebank:
        return next(self._banks)

    def read(self) -> Treebank:
        """Read all that is left as one treebank."""
        self._blocks = iter([b"".join(self._blocks)])
        banks = list(self)
        return banks[0] if len(banks) == 1 else Treebank.concat(banks)

    def scan(self) -> Iterator[Scanned]:
        """Cut the bytes at ends of sentences and scan each piece; an empty file is a problem of its own."""
        pending = bytearray()
        empty = True
        for block in self._blocks:
            empty = empty and not block
            seen = max(len(pending) - 2, 0)
            pending += block
            cut = max(pending.rfind(b"\n\n", seen) + 2, pending.rfind(b"\n\r\n", seen) + 3)
            if cut > 3:
                yield self._scanned(bytes(memoryview(pending)[:cut]))
                del pending[:cut]
        if pending:
            yield self._scanned(bytes(pending))
        if empty:
            problem = FormatError(
                self.file, 0, "empty-file", "the file is empty; expected at least one sentence"
            )
            if not self._skip:
                raise problem
            self.problems.append(problem)

    def _scanned(self, raw: bytes) -> Scanned:
        scanned = scan(raw, self.file, self._line)
        self._line += raw.count(b"\n")
        return scanned

    def _kept(self, scanned: Scanned) -> Treebank:
        wrong = scanned.first_errors()
        if wrong and not self._skip:
            raise min(wrong.values(), key=lambda problem: problem.line)
        bank = scanned.bank()
        if self._required:
            found = check(bank.heads, bank.offsets)
            bad = np.flatnonzero(found.codes)
            untrue = [_tree_problem(bank, int(s), int(found.codes[s]), int(found.words[s])) for s in bad]
            if untrue and not self._skip:
                raise untrue[0]
            if untrue:
                self.problems += untrue
                bank = bank.select(found.codes == 0)
        self.problems += wrong.values()
        self.problems.sort(key=lambda problem: problem.line)
        self.sentences += len(bank)
        self.words += bank.words
        return bank


def _blocks(path: Path, size: int) -> Iterator[bytes]:
    with files.reading(path) as file:
        while block := file.read(size):
            yield block


@dataclass(frozen=True, slots=True, eq=False)
class Scanned:
    """What one pass over some bytes found: all sentences, and the problems in the order of their places.

    A problem is a kind, the place of its line, the stretch at fault and a number.
    """

    text: Text
    offsets: Ints
    heads: Ints
    problems: Places

    def bank(self) -> Treebank:
        """Make a treebank of the sentences that have no problem."""
        text, offsets, heads = self.text, self.offsets, self.heads
        if len(self.problems):
            good = np.setdiff1d(np.arange(len(offsets) - 1), self._sentences())
            text = text.select(offsets, good)
            keep = np.zeros(len(offsets) - 1, dtype=np.bool_)
            keep[good] = True
            lengths = np.diff(offsets)
            heads = heads[np.repeat(keep, lengths)]
            offsets = np.concatenate([np.zeros(1, dtype=np.int32), np.cumsum(lengths[good], dtype=np.int32)])
        return Treebank.of_text(text, offsets, heads)

    def errors(self) -> list[FormatError]:
        """Name every problem."""
        return self._errors(self.problems)

    def first_errors(self) -> dict[int, FormatError]:
        """Name the first problem of each sentence that has any."""
        sentences, firsts = np.unique(self._sentences(), return_index=True)
        return dict(zip(sentences.tolist(), self._errors(self.problems[firsts]), strict=True))

    def _sentences(self) -> npt.NDArray[Any]:
        return np.searchsorted(self.text.sentences, self.problems[:, 1], side="right") - 1

    def _errors(self, rows: Places) -> list[FormatError]:
        if not len(rows):
            return []
        breaks = np.flatnonzero(self.text.raw == 10)
        lines = np.searchsorted(breaks, rows[:, 1]) + self.text.lines[0]
        return [self._error(int(line), *row) for line, row in zip(lines, rows.tolist(), strict=True)]

    def _error(self, line: int, kind: int, at: int, start: int, stop: int, extra: int) -> FormatError:  # noqa: PLR0913 - one row of problems
        raw = (
            self.text.raw.tobytes()
            if len(self.text.raw) < 1 << 16
            else bytes(view(self.text.raw[at : at + (1 << 16)]))
        )
        whole = raw[at:] if len(self.text.raw) < 1 << 16 else raw
        first = whole.split(b"\n", 1)[0].split(b"\t", 1)[0].decode("utf-8", "replace")
        found = bytes(view(self.text.raw[start : min(stop, start + 60)])).decode("utf-8", "replace")
        name = KINDS[kind]
        word = "" if name in WORDLESS or first.startswith("#") else first
        return FormatError(self.text.file, line, name, _message(kind, found, first, extra), word=word)


def _message(kind: int, found: str, word: str, extra: int) -> str:
    """Say what was found and what was expected."""
    match kind:
        case codes.COLUMN_COUNT if not found.strip():
            return "the line holds only spaces; expected an empty line after a sentence"
        case codes.COLUMN_COUNT:
            columns = "1 column" if extra == 1 else f"{extra} columns"
            return f"found {columns}, expected 10 separated by single tabs"
        case codes.EMPTY_COLUMN:
            return f"{COLUMNS[extra].upper()} is empty; expected a value, or _ for none"
        case codes.BAD_ID:
            return f"ID is {found!r}; expected a number, a range such as 3-4 or an empty node such as 3.1"
        case codes.ID_ORDER:
            return f"ID is {found}, expected {extra}; words are numbered from 1 without gaps"
        case codes.RANGE_START:
            return f"the multiword token {found} stands before word {extra}; expected it to begin at {extra}"
        case codes.RANGE_OVERLAP:
            return f"the multiword token {found} overlaps the one before, which reaches word {extra}; expected none to overlap"
        case codes.RANGE_ORDER:
            return f"the multiword token {found} ends before it begins; expected a range such as 3-4"
        case codes.RANGE_END:
            return f"the multiword token {word} reaches past the sentence, which has {extra} words"
        case codes.EMPTY_ORDER:
            return f"the empty node {found} is out of order; expected number {extra} after the word just before it"
        case codes.BAD_HEAD:
            return f"HEAD is {found!r}; expected the number of a word, 0 for the root or _ for none"
        case codes.HEAD_RANGE:
            return f"HEAD is {found}, but the sentence has {extra} words"
        case codes.COMMENT:
            return "a comment inside a sentence; expected comments only before its first word"
        case codes.STRAY_BLANK:
            return "a blank line without a sentence; expected exactly one after each sentence, and none elsewhere"
        case codes.NO_WORDS:
            return "the sentence has no words; expected at least one between its comments and the blank line"
        case codes.NO_FINAL_BLANK:
            return "the file ends without a blank line; expected one after the last sentence"
        case codes.NO_FINAL_NEWLINE:
            return (
                "the file ends inside a line; expected a line break and a blank line after the last sentence"
            )
        case codes.CARRIAGE_RETURN:
            return "the line ends in CR LF; expected LF alone: convert the file, for instance with dos2unix"
        case codes.NUL_BYTE:
            return "a NUL byte; expected text: the file may be damaged or in UTF-16"
        case _ if kind == BAD_UTF8:
            return f"byte {extra >> 32} of the line, 0x{extra & 0xFF:02x}, is not UTF-8; expected UTF-8 throughout"
        case _:
            return "the file begins with a byte order mark (EF BB BF); expected UTF-8 without one: remove the mark"


def scan(raw: bytes, file: str, first_line: int = 1) -> Scanned:
    """Find the sentences, words, columns and problems of some bytes that begin where a sentence begins."""
    lines = raw.count(b"\n") + 2
    array = np.frombuffer(raw, dtype=np.uint8)
    fields = np.empty((lines, 11), dtype=np.int64)
    found = np.empty((6 * lines, 5), dtype=np.int64)
    heads, offsets, multiwords, empties = (np.empty(lines, dtype=np.int32) for _ in range(4))
    sentences, starts = (np.empty(lines, dtype=np.int64) for _ in range(2))
    counts = np.zeros(3, dtype=np.int64)
    marked = first_line == 1 and raw.startswith(codecs.BOM_UTF8)
    kernel.scan(
        view(array),
        3 if marked else 0,
        first_line,
        view(fields),
        view(heads),
        view(offsets),
        view(sentences),
        view(starts),
        view(multiwords),
        view(empties),
        view(found),
        view(counts),
    )
    many, words, wrong = counts.tolist()
    rows = found[:wrong]
    others = [*([(BOM, 0, 0, 3, 0)] if marked else []), *_undecodable(raw)]
    if others:
        rows = np.concatenate([np.array(others, dtype=np.int64), rows])
    text = Text(
        array,
        frozen(sentences[: many + 1]),
        frozen(fields[:words]),
        frozen(starts[:many]),
        frozen_ints(multiwords[:many]),
        frozen_ints(empties[:many]),
        file,
    )
    return Scanned(text, offsets[: many + 1], heads[:words], rows[np.argsort(rows[:, 1], kind="stable")])


def _undecodable(raw: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Find the first byte of each line that is not UTF-8, decoding in pieces so that little memory is used."""
    data = memoryview(raw)
    at = 0
    while at < len(raw):
        stop = min(at + (1 << 20), len(raw))
        try:
            at += codecs.utf_8_decode(data[at:stop], "strict", stop == len(raw))[1]
        except UnicodeDecodeError as error:
            bad = at + error.start
            start = raw.rfind(b"\n", 0, bad) + 1
            yield BAD_UTF8, start, bad, bad + 1, ((bad - start + 1) << 32) + raw[bad]
            at = raw.find(b"\n", bad) + 1 or len(raw)


def _tree_problem(bank: Treebank, sentence: int, code: int, word: int) -> FormatError:
    start, stop = bank.offsets[sentence : sentence + 2].tolist()
    error = tree_error(bank.heads[start:stop], code, word)
    message = str(error).removeprefix(f"word {error.word}: ")
    return _problem(bank, sentence, error.word, TREE_KINDS[code], message)


def _problem(bank: Treebank, sentence: int, word: int, kind: str, message: str) -> FormatError:
    text = bank.rendered()
    line = text.line(sentence, int(bank.offsets[sentence]) + word - 1)
    return FormatError(text.file, line, kind, message, word=str(word))


def _tree_problems(bank: Treebank) -> Iterator[FormatError]:
    """Find what is wrong with trees: cycles, missing heads, roots and relations that do not fit."""
    found = check(bank.heads, bank.offsets)
    for s in np.flatnonzero(found.codes).tolist():
        yield _tree_problem(bank, s, int(found.codes[s]), int(found.words[s]))
    missing = np.zeros(len(bank), dtype=np.bool_)
    missing[np.repeat(np.arange(len(bank)), bank.lengths)[bank.heads < 0]] = True
    for s in np.flatnonzero((found.roots == 0) & ~missing).tolist():
        yield _problem(bank, s, 1, "no-root", "no word of the sentence has HEAD 0; expected exactly one")
    for s in np.flatnonzero(found.roots > 1).tolist():
        start, stop = bank.offsets[s : s + 2].tolist()
        roots = (np.flatnonzero(bank.heads[start:stop] == 0) + 1).tolist()
        named = ", ".join(map(str, roots))
        yield _problem(
            bank,
            s,
            roots[1],
            "several-roots",
            f"a second root; words {named} have HEAD 0, expected exactly one",
        )
    named_root = np.array([name.partition(":")[0] == "root" for name in bank.relations.names], dtype=np.bool_)
    is_root = named_root[bank.relations.ids] if bank.words else np.zeros(0, dtype=np.bool_)
    for w in np.flatnonzero((bank.heads >= 0) & (is_root != (bank.heads == 0))).tolist():
        s = int(np.searchsorted(bank.offsets, w, side="right")) - 1
        relation = bank.relations.names[bank.relations.ids[w]]
        message = (
            f"DEPREL is {relation!r} but HEAD is 0; expected root"
            if bank.heads[w] == 0
            else f"DEPREL is {relation!r} but HEAD is {bank.heads[w]}; expected root only where HEAD is 0"
        )
        yield _problem(bank, s, w - int(bank.offsets[s]) + 1, "root-relation", message)
