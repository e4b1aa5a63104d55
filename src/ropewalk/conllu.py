"""CoNLL-U: a streaming reader and writer that lose nothing.

Reading keeps the bytes, and writing changes only the columns that were asked to change. What is wrong with a
file is found in one pass and named by file, line and word. The format is that of
https://universaldependencies.org/format.html, always UTF-8 with LF. Files that are CoNLL-X by their name are read and
written as such: see `conllx`.
"""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import numpy as np

from ropewalk import conllx, files
from ropewalk.errors import FormatError, OptionError
from ropewalk.kernels import codes, view
from ropewalk.kernels import conllu as kernel
from ropewalk.treebank import COLUMNS, Text, Treebank, frozen
from ropewalk.trees import check, frozen_ints, tree_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt

    from ropewalk.treebank import Places
    from ropewalk.trees import Ints

OnError = Literal["stop", "skip"]
Trees = Literal["optional", "required"]
Path = str | os.PathLike[str]

BAD_UTF8: Final = -1
BOM: Final = -2
SPACES: Final = -3
SHOWN_BYTES: Final = 60
WORD_ID: Final = re.compile(r"[0-9]+(?:[-.][0-9]+)?")

PROBLEMS: Final = {  # kind and message: {found} as written, a number {extra}, or two, {high} and {low}
    codes.COLUMN_COUNT: (
        "columns",
        "the number of columns is {extra}; expected 10, separated by single tabs",
    ),
    codes.EMPTY_COLUMN: ("empty-column", "{column} is empty; expected a value, or _ for none"),
    codes.BAD_ID: (
        "id",
        "ID is {found!r}; expected a number, a range such as 3-4 or an empty node such as 3.1",
    ),
    codes.ID_ORDER: ("id-order", "ID is {found}, expected {extra}; words are numbered from 1 without gaps"),
    codes.RANGE_START: (
        "multiword-start",
        "the multiword token stands before word {extra}; expected it to begin there",
    ),
    codes.RANGE_OVERLAP: (
        "multiword-overlap",
        "the multiword token overlaps the one before it, which reaches word {extra}; expected no overlap",
    ),
    codes.RANGE_ORDER: (
        "multiword-order",
        "the multiword token ends before it begins; expected a range such as 3-4",
    ),
    codes.RANGE_END: (
        "multiword-end",
        "the multiword token ends at {found}, but the sentence has {extra} words",
    ),
    codes.EMPTY_ORDER: ("empty-node-order", "the empty node is out of order; expected {high}.{low} here"),
    codes.BAD_HEAD: (
        "head",
        "HEAD is {found!r}; expected the number of a word, 0 for the root or _ for none",
    ),
    codes.HEAD_RANGE: ("head-range", "HEAD is {found}, but the sentence has {extra} words"),
    codes.COMMENT: ("comment", "a comment inside a sentence; expected comments only before its first word"),
    codes.STRAY_BLANK: (
        "blank-line",
        "a blank line without a sentence; expected exactly one after each sentence, and none elsewhere",
    ),
    codes.NO_WORDS: ("no-words", "the sentence has no words; expected at least one after its comments"),
    codes.NO_FINAL_BLANK: (
        "no-final-blank-line",
        "the file ends without a blank line; expected one after the last sentence",
    ),
    codes.NO_FINAL_NEWLINE: (
        "no-final-newline",
        "the file ends inside a line; expected a line break and a blank line after the last sentence",
    ),
    codes.CARRIAGE_RETURN: (
        "crlf",
        "the line ends in CR LF; expected LF alone: convert the file, for instance with dos2unix",
    ),
    codes.NUL_BYTE: ("nul", "a NUL byte; expected text: the file may be damaged or in UTF-16"),
    BAD_UTF8: ("utf-8", "byte {high} of the line, 0x{low:02x}, is not UTF-8; expected UTF-8 throughout"),
    BOM: (
        "bom",
        "the file begins with a byte order mark (EF BB BF); expected UTF-8 without one: remove the mark",
    ),
    SPACES: ("spaces", "the line holds only spaces; expected an empty line after a sentence"),
}
NOT_OF_A_WORD: Final = frozenset({codes.NO_FINAL_BLANK, codes.NO_FINAL_NEWLINE})
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


def stream(path: Path, *, on_error: OnError = "stop", trees: Trees = "optional", chunk_bytes: int = 1 << 20) -> Reader:
    """Read a file piece by piece, in memory that does not grow with the file; the source is never rewound."""
    return Reader(files.shown(path), _text(path, chunk_bytes), on_error=on_error, trees=trees)


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
    """Write a file, which appears whole or not at all; `-` is standard output, `.gz` and `.xz` compress."""
    with files.creating(path) as file:
        for bank in [banks] if isinstance(banks, Treebank) else banks:
            raw = bank.rendered().raw
            file.write(conllx.from_conllu(raw.tobytes()) if conllx.is_named(path) else view(raw))


def problems(path: Path, *, chunk_bytes: int = 1 << 20) -> Iterator[FormatError]:
    """Find everything that is wrong with a file, its trees included.

    Missing heads are told once a sentence, and lines that end in CR LF once a file.
    """
    reader = Reader(files.shown(path), _text(path, chunk_bytes), on_error="stop", trees="optional")
    returned = False
    try:
        for scanned in reader.scan():
            found = [*scanned.errors(), *tree_problems(scanned.bank())]
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
        self._banks = filter(len, map(self._kept, self.scan()))

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
            cut = pending.rfind(b"\n\n", seen) + 2
            if cut < 2:
                cut = pending.rfind(b"\n\r\n", seen) + 3
            if cut > 3:
                yield self._scanned(bytes(memoryview(pending)[:cut]))
                del pending[:cut]
        if pending:
            yield self._scanned(bytes(pending))
        if empty:
            problem = FormatError(self.file, 0, "empty-file", "the file is empty; expected at least one sentence")
            if not self._skip:
                raise problem
            self.problems.append(problem)

    def _scanned(self, raw: bytes) -> Scanned:
        scanned = scan(raw, self.file, self._line)
        self._line = scanned.next_line
        return scanned

    def _kept(self, scanned: Scanned) -> Treebank:
        bank = scanned.bank()
        wrong = scanned.first_errors(None if self._skip else 1)
        if self._required:
            found = check(bank.heads, bank.offsets)
            bad = np.flatnonzero(found.codes).tolist()
            wrong += [_tree_problem(bank, s, int(found.codes[s]), int(found.words[s])) for s in bad]
            bank = bank.select(found.codes == 0) if bad else bank
        wrong.sort(key=lambda problem: problem.line)
        if wrong and not self._skip:
            raise wrong[0]
        self.problems += wrong
        self.sentences += len(bank)
        self.words += bank.words
        return bank


def _text(path: Path, size: int) -> Iterator[bytes]:
    """Read CoNLL-U, or CoNLL-X as CoNLL-U."""
    return conllx.to_conllu(_blocks(path, size)) if conllx.is_named(path) else _blocks(path, size)


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
    first_line: int
    next_line: int

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

    def first_errors(self, most: int | None = None) -> list[FormatError]:
        """Name the first problem of each sentence that has any, or of so many sentences at most."""
        return self._errors(self.problems[np.unique(self._sentences(), return_index=True)[1][:most]])

    def _sentences(self) -> npt.NDArray[Any]:
        return np.searchsorted(self.text.sentences, self.problems[:, 1], side="right") - 1

    def _errors(self, rows: Places) -> list[FormatError]:
        if not len(rows):
            return []
        lines = np.searchsorted(np.flatnonzero(self.text.raw == 10), rows[:, 1]) + self.first_line
        return [self._error(line, row) for line, row in zip(lines.tolist(), rows.tolist(), strict=True)]

    def _error(self, line: int, row: list[int]) -> FormatError:
        code, at, start, stop, extra = row
        found = self._shown(start, stop)
        if code == codes.COLUMN_COUNT and not found.strip():
            code = SPACES
        kind, message = PROBLEMS[code]
        word = re.split("[\\t\\n]", self._shown(at, len(self.text.raw)), maxsplit=1)[0]
        return FormatError(
            self.text.file,
            line,
            kind,
            message.format(
                found=found,
                extra=extra,
                high=extra >> 32,
                low=extra & 0xFFFFFFFF,
                column=COLUMNS[min(extra, 9)].upper(),
            ),
            word=word if WORD_ID.fullmatch(word) and code not in NOT_OF_A_WORD else "",
        )

    def _shown(self, start: int, stop: int) -> str:
        return self.text.raw[start : min(stop, start + SHOWN_BYTES)].tobytes().decode("utf-8", "replace")


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
    rows = rows[np.argsort(rows[:, 1], kind="stable")]
    return Scanned(text, offsets[: many + 1], heads[:words], rows, first_line, int(starts[many]))


def _undecodable(raw: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Find the first byte of each line that is not UTF-8, decoding in pieces to use little memory."""
    data = memoryview(raw)
    at = 0
    size = 1 << 20
    while at < len(raw):
        stop = min(at + size, len(raw))
        try:
            at += codecs.utf_8_decode(data[at:stop], "strict", stop == len(raw))[1]
            size = min(2 * size, 1 << 20)
        except UnicodeDecodeError as error:
            bad = at + error.start
            start = raw.rfind(b"\n", 0, bad) + 1
            yield BAD_UTF8, start, bad, bad + 1, ((bad - start + 1) << 32) + raw[bad]
            at = raw.find(b"\n", bad) + 1 or len(raw)
            size = 1 << 10  # each error copies the whole piece, and another may be near


def _tree_problem(bank: Treebank, sentence: int, code: int, word: int) -> FormatError:
    start, stop = bank.offsets[sentence : sentence + 2].tolist()
    error = tree_error(bank.heads[start:stop], code, word)
    message = str(error).removeprefix(f"word {error.word}: ")
    return _problem(bank, sentence, error.word, TREE_KINDS[code], message)


def _problem(bank: Treebank, sentence: int, word: int, kind: str, message: str) -> FormatError:
    text = bank.rendered()
    line = text.line(sentence, int(bank.offsets[sentence]) + word - 1)
    return FormatError(text.file, line, kind, message, word=str(word))


def tree_problems(bank: Treebank) -> Iterator[FormatError]:
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
