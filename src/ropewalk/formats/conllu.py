"""CoNLL-U: a streaming reader and a writer that preserve the whole file.

Reading keeps the bytes of a file, and writing replaces only the columns that were changed. One pass finds all problems
of a file, each with its file, line and word. The format is that of https://universaldependencies.org/format.html,
always in UTF-8 with LF. Files with a name of CoNLL-X are read and written as CoNLL-X: see `conllx`.
"""

from __future__ import annotations

import codecs
import itertools
import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, Self
from urllib.parse import quote

import numpy as np

from ropewalk import files
from ropewalk.core.arrays import frozen_array, frozen_ints
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import check_heads, is_root_relation
from ropewalk.errors import FormatError, OptionError, demand_type
from ropewalk.formats import Look, OutputFormat, conllx
from ropewalk.formats.text import raw_bytes
from ropewalk.kernels import codes, view
from ropewalk.kernels import conllu as kernel
from ropewalk.treebank.documents import Document, Sentence
from ropewalk.treebank.misc import CONFIDENCE, Spaces
from ropewalk.treebank.source import COLUMNS, TREE_CONFIDENCE, UNWRITABLE, Source
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from ropewalk.core.arrays import Ints
    from ropewalk.core.ragged import Places
    from ropewalk.core.trees import HeadFaults
    from ropewalk.treebank.surface import Floats, Heading

OnError = Literal["stop", "skip"]
Presence = Literal["optional", "required"]
Path = str | os.PathLike[str]

BAD_UTF8: Final = -1
BOM: Final = -2
SPACES: Final = -3
PARTS: Final = 10_000  # probabilities are written to four digits
CLAIMS: Final = (b"# generator = ", TREE_CONFIDENCE)
EARLIER: Final = re.compile(rb"^(?:" + b"|".join(CLAIMS) + rb").*\n", re.MULTILINE)
EMPTY_NODE: Final = re.compile(rb"^[0-9]+\.[0-9]+\t.*\n", re.MULTILINE)
SENT_ID: Final = re.compile(rb"^#\s*sent_id\s*=\s*(\S+)$", re.MULTILINE)
SENT_NUMBER: Final = re.compile(rb"^(#\s*sent_id\s*=\s*)([0-9]+)$", re.MULTILINE)
UNNAMEABLE: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff/%]")  # in a sent_id: UD keeps slashes for itself
BEGINS: Final = re.compile(rb"^#\s*new(?:doc|par)\b", re.MULTILINE)
SHOWN_BYTES: Final = 60
WORD_ID: Final = re.compile(r"[0-9]+(?:[-.][0-9]+)?")

PROBLEMS: Final = {  # kind and message: {found} as written, a number {extra}, or two, {high} and {low}
    codes.COLUMN_COUNT: ("columns", "the number of columns is {extra}; expected 10, separated by single tabs"),
    codes.EMPTY_COLUMN: ("empty-column", "{column} is empty; expected a value, or _ for none"),
    codes.BAD_ID: ("id", "ID is {found!r}; expected a number, a range such as 3-4 or an empty node such as 3.1"),
    codes.ID_ORDER: ("id-order", "ID is {found}, expected {extra}; words are numbered from 1 without gaps"),
    codes.RANGE_START: (
        "multiword-start",
        "the multiword token is before word {extra}; expected it to begin there",
    ),
    codes.RANGE_OVERLAP: (
        "multiword-overlap",
        "the multiword token overlaps the one before it, which reaches word {extra}; expected no overlap",
    ),
    codes.RANGE_ORDER: ("multiword-order", "the multiword token ends before it begins; expected a range such as 3-4"),
    codes.RANGE_END: ("multiword-end", "the multiword token ends at {found}, but the sentence has {extra} words"),
    codes.EMPTY_ORDER: ("empty-node-order", "the empty node is out of order; expected {high}.{low} here"),
    codes.BAD_HEAD: ("head", "HEAD is {found!r}; expected the number of a word, 0 for the root or _ for none"),
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
    BOM: ("bom", "the file begins with a byte order mark (EF BB BF); expected UTF-8 without one: remove the mark"),
    SPACES: ("spaces", "the line holds only spaces; expected an empty line after a sentence"),
}
NOT_OF_A_WORD: Final = frozenset({codes.NO_FINAL_BLANK, codes.NO_FINAL_NEWLINE})
TREE_KINDS: Final = {
    codes.HEAD_MISSING: "missing-head",
    codes.HEAD_OUT_OF_RANGE: "head-range",
    codes.CYCLE: "cycle",
}


def _with_arc_estimates(bank: Treebank, misc: Column) -> Column:
    """Return the column MISC with the parser's probability of each arc.

    Probabilities that an earlier parser wrote are removed.
    """
    if bank.estimates is None:
        return misc
    names = tuple(map(_without_confidence, misc.names))
    arcs = bank.estimates.arcs
    if arcs is not None:
        return Column.of([text or "_" for text in _beside(Column(misc.ids, names).texts(), _confidences(arcs))])
    kept = tuple(name or "_" for name in names)
    return misc if kept == misc.names else Column(misc.ids, kept)


def _without_confidence(misc: str) -> str:
    """Return the text of MISC without the probability that an earlier parser wrote; the result may be empty."""
    return "" if misc == "_" else "|".join(part for part in misc.split("|") if not part.startswith(CONFIDENCE))


def _confidences(arcs: Floats) -> list[str]:
    """Return the probability of each arc as an entry of MISC, or "" if it is unknown (NaN)."""
    unknown = np.isnan(arcs)
    parts = np.where(unknown, PARTS + 1, np.rint(np.where(unknown, 0, arcs) * PARTS)).astype(np.int64)
    return list(map(_confidence, parts.tolist()))


@cache
def _confidence(part: int) -> str:
    return "" if part > PARTS else f"{CONFIDENCE}{part / PARTS:.4f}"


def _beside(texts: Sequence[str], more: Sequence[str]) -> list[str]:
    """Join each word's text of `texts` and of `more` with `|`; either may be empty."""
    return [f"{a}|{b}" if a and b else a or b for a, b in zip(texts, more, strict=True)]


def sentences(bank: Treebank, *, generator: str = "") -> Iterator[bytes]:
    """Yield each sentence as CoNLL-U.

    If `generator`, the program that made the trees, is given, the first comment names it. If a parser replaced the
    trees, comments of an earlier parser about itself and its trees are left out.
    """
    demand_type("what to write", bank, Treebank)
    blocks = _new(bank) if bank.source is None else _edited(bank, bank.source)
    begin = f"# generator = {generator}\n".encode() if generator else b""
    trees = bank.estimates.trees if bank.estimates is not None else None
    probabilities = itertools.repeat(math.nan) if trees is None else trees.tolist()
    for probability, block in zip(probabilities, blocks, strict=False):
        comment = b"" if math.isnan(probability) else b"%b%.4f\n" % (TREE_CONFIDENCE, probability)
        yield begin + comment + block
        begin = b""


def joined(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the sentences of several files, changed so that they form one valid file.

    A repeated `sent_id` gets a number at its end. The last token before a new document or paragraph loses
    `SpaceAfter=No`.
    """
    seen: dict[bytes, int] = {}  # names, and their number of sentences
    before = b""
    for block in blocks:
        yield _apart(before) if BEGINS.search(block) else before
        match = SENT_ID.search(block)
        name = whole = match[1] if match else b""
        while name in seen and match:
            seen[whole] += 1
            name = b"%b-%d" % (whole, seen[whole])
        seen[name] = 1
        before = block if name == whole or not match else block[: match.start(1)] + name + block[match.end(1) :]
    yield before


def in_document(blocks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Yield the sentences of the document `name`, changed so that a file may contain other documents too.

    A `sent_id` that is only a number gets the document's name before it. Characters of the name that a `sent_id` cannot
    contain are percent-encoded. The last token of the document loses `SpaceAfter=No`.
    """
    document = UNNAMEABLE.sub(lambda match: quote(match[0], safe="", errors="surrogatepass"), name).encode()
    before = b""
    for block in blocks:
        yield before
        before = SENT_NUMBER.sub(lambda match: b"%b%b-%b" % (match[1], document, match[2]), block, count=1)
    yield _apart(before)


def _apart(block: bytes) -> bytes:
    """Return a sentence without `SpaceAfter=No` in its last token."""
    lines = block.split(b"\n")
    words = [at for at, line in enumerate(lines) if line[:1].isdigit() and b"." not in line.partition(b"\t")[0]]
    ranges = [at for at in words if b"-" in lines[at].partition(b"\t")[0]]
    last = int(lines[words[-1]].partition(b"\t")[0]) if words else 0
    ends = [at for at in ranges if int(lines[at].partition(b"\t")[0].split(b"-")[1]) == last] or words[-1:]
    for at in ends:
        rest, _, misc = lines[at].rpartition(b"\t")
        kept = b"|".join(part for part in misc.split(b"|") if part != b"SpaceAfter=No")
        lines[at] = rest + b"\t" + (kept or b"_")
    return b"\n".join(lines)


def _edited(bank: Treebank, source: Source) -> Iterator[bytes]:
    """Yield the sentences with the bytes that were read, in which only the changed columns are replaced."""
    edits = {name: bank.column(name) for name in sorted(bank.changed)}
    misc = bank.column("misc") if bank.estimates is not None else None
    if misc is not None and (estimated := _with_arc_estimates(bank, misc)) is not misc:
        edits["misc"] = estimated
    for name, column in edits.items():
        _demand_writable(bank, name, column)
    text = source.splice(bank.offsets, edits) if edits else source
    raw = text.raw.tobytes()
    earlier = bank.estimates is not None and any(raw.startswith(claim) or b"\n" + claim in raw for claim in CLAIMS)
    displaced = bank.graphs is not None and text.empties.any()
    for start, stop in itertools.pairwise(text.sentences.tolist()):
        block = EMPTY_NODE.sub(b"", raw[start:stop]) if displaced else raw[start:stop]
        yield EARLIER.sub(b"", block) if earlier and any(claim in block for claim in CLAIMS) else block


def _new(bank: Treebank) -> Iterator[bytes]:
    """Yield sentences that were not read from a file as CoNLL-U; unknown values are `_`."""
    if len(bank) and int(bank.lengths.min()) == 0:
        sentence = int(np.argmin(bank.lengths)) + 1
        raise FormatError("<treebank>", 0, "no-words", f"sentence {sentence} has no words; CoNLL-U needs at least one")
    columns = [bank.column(name) for name in COLUMNS[1:]]
    for name, column in zip(COLUMNS[1:], columns, strict=True):
        _demand_writable(bank, name, column)
    misc = columns.pop()
    ends, ranges = _spaces_of(bank)
    estimates = bank.estimates
    names = tuple("" if text == "_" else text for text in misc.names)
    if estimates is not None:
        names = tuple(map(_without_confidence, names))
    if any(names):
        ends = _beside(ends, Column(misc.ids, names).texts())
    if estimates is not None and estimates.arcs is not None:
        ends = _beside(ends, _confidences(estimates.arcs))
    numbers = list(map(str, range(1, int(bank.lengths.max(initial=0)) + 1)))
    ids = [number for length in bank.lengths.tolist() for number in numbers[:length]]
    texts = [column.texts() for column in columns]
    words = list(map("\t".join, zip(ids, *texts, [end or "_" for end in ends], strict=True)))
    for first, (many, form, misc_text) in ranges.items():
        span = f"{ids[first]}-{int(ids[first]) + many - 1}"
        words[first] = f"{span}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc_text}\n{words[first]}"
    for number, (start, stop) in enumerate(itertools.pairwise(bank.offsets.array.tolist())):
        lines = _heading_lines(bank.heading(number))
        yield "\n".join([*lines, *words[start:stop], "\n"]).encode("utf-8")


def _heading_lines(heading: Heading) -> list[str]:
    lines = []
    if heading.document is not None:
        lines.append(f"# newdoc id = {heading.document}" if heading.document else "# newdoc")
    if heading.paragraph:
        lines.append("# newpar")
    if heading.id is not None:
        lines.append(f"# sent_id = {heading.id}")
    if heading.language is not None:
        lines.append(f"# lang = {heading.language}")
    if heading.text is not None:
        lines.append(f"# text = {heading.text}")
    return lines


def _spaces_of(bank: Treebank) -> tuple[list[str], dict[int, tuple[int, str, str]]]:
    """Return entries of MISC with the spaces around tokens and their character positions.

    The list has a text for each word. The dictionary has the multiword tokens by the index of their first word: the
    number of words, the form and MISC.
    """
    if bank.tokens is None:
        return [""] * bank.words, {}
    tokens = bank.tokens
    before = dict(
        zip(tokens.offsets(bank.offsets).array[list(tokens.before)].tolist(), tokens.before.values(), strict=True)
    )
    starts, stops, after = tokens.starts.tolist(), tokens.stops.tolist(), tokens.after.texts()
    begins = {spaces: Spaces(spaces, "", -1, -1).text() for spaces in tokens.after.names}
    misc_values = [
        begins[spaces] if a < 0 else f"{begins[spaces]}|TokenRange={a}:{b}" if spaces != " " else f"TokenRange={a}:{b}"
        for spaces, a, b in zip(after, starts, stops, strict=True)
    ]
    inside = tokens.written
    for token in {*before, *inside} - {len(tokens)}:  # a text without tokens may have spaces before them
        rest = (before.get(token, ""), starts[token], stops[token], inside.get(token, ""))
        misc_values[token] = Spaces(after[token], *rest).text()
    if not tokens.texts:
        return misc_values, {}
    out = [""] * bank.words
    first = tokens.first.tolist()
    for token, text in enumerate(misc_values):
        out[first[token]] = text
    ranges = {}
    for token, text in tokens.texts.items():
        out[first[token]] = ""
        ranges[first[token]] = (first[token + 1] - first[token], text, misc_values[token] or "_")
    return out, ranges


def _demand_writable(bank: Treebank, name: str, column: Column) -> None:
    """Raise a `FormatError` if a text of the column `name` is empty or has a character that would break the file."""
    # A part of a treebank may share the names of the whole, which are far more than its words.
    used = column.names if len(column.names) <= len(column.ids) else column.texts()
    if all(used) and not UNWRITABLE.search(" ".join(used)):
        return
    for number, text in enumerate(column.names):
        if text and not UNWRITABLE.search(text):
            continue
        words = np.flatnonzero(column.ids == number)
        if len(words):
            word = int(words[0])
            sentence = bank.offsets.owner(word)
            raise FormatError(
                bank.file,
                bank.line(sentence, word),
                "unwritable-text",
                f"{name.upper()} would become {text!r}; use at least one character and no tab, line break, NUL or lone "
                "surrogate",
            )


def read(
    path: Path, *, on_error: OnError = "stop", trees: Presence = "optional", longest: int = files.LONGEST
) -> Treebank:
    """Read a whole file; `-` is standard input, and `.gz` and `.xz` files are decompressed.

    With `trees="required"`, a word without a head and a cycle are errors too. With `on_error="skip"`, each sentence
    that has an error is left out; `stream(...).read()` does the same, and its reader keeps the list of errors. A
    sentence of more than about `longest` bytes is always an error.
    """
    return stream(path, on_error=on_error, trees=trees, longest=longest).read()


def stream(
    path: Path,
    *,
    on_error: OnError = "stop",
    trees: Presence = "optional",
    chunk_bytes: int = 1 << 20,
    longest: int = files.LONGEST,
) -> Reader:
    """Return a reader that yields the sentences of a file in pieces of about `chunk_bytes`.

    It needs memory for one piece, however long the file is. The file is read once from start to end, so it may be a
    pipe. The other options are those of `read`.
    """
    for option, size in (("chunk_bytes", chunk_bytes), ("longest", longest)):
        if not isinstance(size, int) or size < 1:
            raise OptionError(f"{option} is {size!r}; expected a number of bytes from 1 on")
    return Reader(files.shown(path), _text(path, chunk_bytes, longest), on_error=on_error, trees=trees)


def loads(
    text: bytes | str, name: str = "<text>", *, on_error: OnError = "stop", trees: Presence = "optional"
) -> Treebank:
    """Read CoNLL-U from memory; errors use `name` as the file name. The options are those of `read`."""
    return Reader(name, iter([raw_bytes(text, name)]), on_error=on_error, trees=trees).read()


def dumps(content: Treebank | Document | Sentence, *, generator: str = "") -> bytes:
    """Return a treebank, a document or a sentence as CoNLL-U.

    The first comment names `generator`, the program that made the trees, if given; by default that of the document.
    """
    if isinstance(content, Document):
        generator = generator or content.generator
    return b"".join(sentences(_treebank_of(content), generator=generator))


def _treebank_of(content: Treebank | Document | Sentence) -> Treebank:
    demand_type("what to write", content, Treebank, Document, Sentence)
    if isinstance(content, Sentence):
        return content.treebank.select([content.number])
    return content.treebank if isinstance(content, Document) else content


def as_written(bank: Treebank) -> Source:
    """Return the CoNLL-U of a treebank with all its changes.

    Each sentence keeps the line number that it has in the file from which it was read.
    """
    source = bank.source
    if source is not None and not bank.is_edited and bank.headings is None:
        return source
    written = scan(dumps(bank), bank.file).text
    return replace(written, lines=source.lines) if source is not None else written


def write(path: Path, content: Treebank | Document | Sentence | Iterable[Treebank | Document | Sentence]) -> None:
    """Write one or several treebanks, documents or sentences to a file.

    `-` is standard output, and `.gz` and `.xz` files are compressed. The file appears only when it is complete.
    """
    demand_type("what to write", content, Treebank, Document, Sentence, Iterable)
    with files.creating(path) as file:
        for part in [content] if isinstance(content, Treebank | Document | Sentence) else content:
            raw = dumps(part)
            file.write(conllx.from_conllu(raw) if conllx.is_named(path) else raw)


def problems(
    path: Path, *, chunk_bytes: int = 1 << 20, also: Iterable[Callable[[Treebank], Iterable[FormatError]]] = ()
) -> Iterator[FormatError]:
    """Yield all problems of a file and of its trees, by line.

    `also` are further checks: functions that return the problems of a treebank. They get the sentences without problems
    of format. Missing heads are reported once per sentence, and lines that end in CR LF once per file.
    """
    reader = Reader(files.shown(path), _text(path, chunk_bytes), on_error="stop", trees="optional")
    returned = False
    checks = (tree_problems, *also)
    try:
        for scanned in reader.scan():
            bank = scanned.bank()
            errors = [*scanned.errors(), *(problem for check in checks for problem in check(bank))]
            for problem in sorted(errors, key=lambda problem: problem.line):
                if problem.kind != "crlf" or not returned:
                    yield problem
                returned = returned or problem.kind == "crlf"
    except FormatError as problem:
        yield problem


class Reader:
    """An iterator over the pieces of a file, each a `Treebank` of whole sentences.

    `sentences` and `words` are the numbers of sentences and words that were read so far. With `on_error="skip"`,
    `problems` holds the first problem of each sentence that was left out, and `skipped` is the number of these
    sentences.
    """

    def __init__(self, file: str, blocks: Iterator[bytes], *, on_error: OnError, trees: Presence) -> None:
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
        """The number of sentences left out so far."""
        return len(self.problems)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Treebank:
        return next(self._banks)

    def read(self) -> Treebank:
        """Read the rest of the file as one treebank."""
        self._blocks = iter([b"".join(self._blocks)])
        banks = list(self)
        return banks[0] if len(banks) == 1 else Treebank.concat(banks)

    def scan(self) -> Iterator[Scanned]:
        """Cut the file into pieces of whole sentences, and yield the scanned sentences and problems of each piece.

        An empty file is a problem too.
        """
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
        if self._skip and pending.endswith(b"\n") and not len(scan(bytes(pending) + b"\n", self.file).problems):
            pending += b"\n"  # a last sentence without a blank line, but without other problems, is not left out
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
            faults = check_heads(bank.heads, bank.offsets)
            bad = _head_problems(bank, faults)
            wrong += bad
            bank = bank.select(faults.codes == 0) if bad else bank
        wrong.sort(key=lambda problem: problem.line)
        if wrong and not self._skip:
            raise wrong[0]
        self.problems += wrong
        self.sentences += len(bank)
        self.words += bank.words
        return bank


def _text(path: Path, size: int, longest: int = files.LONGEST) -> Iterator[bytes]:
    """Yield the CoNLL-U of a file in blocks of about `size` bytes; CoNLL-X is converted to CoNLL-U."""
    blocks = files.bounded(files.blocks(path, size), files.shown(path), longest)
    return conllx.to_conllu(blocks) if conllx.is_named(path) else blocks


@dataclass(frozen=True, slots=True, eq=False)
class Scanned:
    """The result of one pass over some bytes: all sentences, and all problems by position.

    A row of `problems` has a code, the position of the line, the start and the end of the wrong bytes, and a number for
    the message. `first_line` is the number of the first line in the file, and `next_line` that of the line after the
    last.
    """

    text: Source
    offsets: Offsets
    heads: Ints
    problems: Places
    first_line: int
    next_line: int

    def bank(self) -> Treebank:
        """Return a treebank of the sentences without problems."""
        text, offsets, heads = self.text, self.offsets, self.heads
        if len(self.problems):
            good = np.setdiff1d(np.arange(len(offsets)), self._sentences())
            text = text.select(offsets, good)
            offsets, words = offsets.select(good)
            heads = heads[words]
        return Treebank(offsets, heads, {name: text.column(name) for name in ("deprel", "upos")}, text)

    def errors(self) -> list[FormatError]:
        """Return each problem as a `FormatError`."""
        return self._errors(self.problems)

    def first_errors(self, most: int | None = None) -> list[FormatError]:
        """Return the first problem of each sentence that has one; with `most`, only of the first `most` of them."""
        if not len(self.problems):
            return []
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
        shown = self._shown(start, stop)
        if code == codes.COLUMN_COUNT and not shown.strip():
            code = SPACES
        kind, message = PROBLEMS[code]
        word = re.split("[\\t\\n]", self._shown(at, len(self.text.raw)), maxsplit=1)[0]
        sentence = int(np.searchsorted(self.text.sentences, at, side="right")) - 1
        name = SENT_ID.search(self.text.sentence(sentence)) if sentence < len(self.text.lines) else None
        return FormatError(
            self.text.file,
            line,
            kind,
            message.format(
                found=shown,
                extra=extra,
                high=extra >> 32,
                low=extra & 0xFFFFFFFF,
                column=COLUMNS[min(extra, 9)].upper(),
            ),
            word=word if WORD_ID.fullmatch(word) and code not in NOT_OF_A_WORD else "",
            sentence=name[1].decode("utf-8", "replace") if name else None,
        )

    def _shown(self, start: int, stop: int) -> str:
        return self.text.raw[start : min(stop, start + SHOWN_BYTES)].tobytes().decode("utf-8", "replace")


def scan(raw: bytes, file: str, first_line: int = 1) -> Scanned:
    """Return the sentences, columns, heads and problems of `raw`, which must begin where a sentence begins.

    `first_line` is the number of its first line in `file`.
    """
    lines = raw.count(b"\n") + 2
    array = np.frombuffer(raw, dtype=np.uint8)
    fields = np.empty((lines, 11), dtype=np.int64)
    problems = np.empty((6 * lines, 5), dtype=np.int64)
    heads, offsets, multiwords, empties = (np.empty(lines, dtype=np.int32) for _ in range(4))
    sentences, starts = (np.empty(lines, dtype=np.int64) for _ in range(2))
    counts = np.zeros(3, dtype=np.int64)
    arrays: list[npt.NDArray[Any]] = [fields, heads, offsets, sentences, starts, multiwords, empties, problems, counts]
    marked = first_line == 1 and raw.startswith(codecs.BOM_UTF8)
    kernel.scan(view(array), 3 if marked else 0, first_line, kernel.ScanBuffer(*map(view, arrays)))
    many, words, wrong = counts.tolist()
    rows = problems[:wrong]
    others = [*([(BOM, 0, 0, 3, 0)] if marked else []), *_undecodable(raw)]
    only_empty = np.flatnonzero((np.diff(offsets[: many + 1]) == 0) & (empties[:many] > 0))
    others += [(codes.NO_WORDS, at, at, at, 0) for at in sentences[only_empty].tolist()]
    if others:
        rows = np.concatenate([np.array(others, dtype=np.int64), rows])
    text = Source(
        array,
        frozen_array(sentences[: many + 1]),
        frozen_array(fields[:words]),
        frozen_array(starts[:many]),
        frozen_ints(multiwords[:many]),
        frozen_ints(empties[:many]),
        file,
    )
    rows = rows[np.argsort(rows[:, 1], kind="stable")]
    return Scanned(text, Offsets(offsets[: many + 1]), heads[:words], rows, first_line, int(starts[many]))


def _undecodable(raw: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield a problem for each line that is not UTF-8, with the position of the first wrong byte of the line.

    The bytes are decoded in pieces to use little memory.
    """
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


def _head_problems(bank: Treebank, faults: HeadFaults) -> list[FormatError]:
    """Return one error for each sentence with a missing head, a head out of range or a cycle."""
    return [
        _problem(bank, s, error.word, TREE_KINDS[int(faults.codes[s])], str(error).removeprefix(f"word {error.word}: "))
        for s in np.flatnonzero(faults.codes).tolist()
        if (error := faults.error(s))
    ]


def _problem(bank: Treebank, sentence: int, word: int, kind: str, message: str) -> FormatError:
    line = bank.line(sentence, bank.offsets[sentence].start + word - 1)
    return FormatError(bank.file, line, kind, message, word=str(word), sentence=bank.heading(sentence).id)


def tree_problems(bank: Treebank) -> Iterator[FormatError]:
    """Yield the problems of trees: missing heads, heads out of range, cycles, no root, several roots, root relations.

    A root relation is a problem if its head is not 0; any other relation is a problem if its head is 0.
    """
    faults = check_heads(bank.heads, bank.offsets)
    yield from _head_problems(bank, faults)
    missing = bank.offsets.sums(bank.heads < 0) > 0
    for s in np.flatnonzero((faults.roots == 0) & ~missing).tolist():
        yield _problem(bank, s, 1, "no-root", "no word of the sentence has HEAD 0; expected exactly one")
    for s in np.flatnonzero(faults.roots > 1).tolist():
        roots = (np.flatnonzero(bank.heads[bank.offsets[s]] == 0) + 1).tolist()
        message = f"a second root; words {', '.join(map(str, roots))} have HEAD 0, expected exactly one"
        yield _problem(bank, s, roots[1], "several-roots", message)
    is_root = np.array([is_root_relation(name) for name in bank.relations.names], dtype=np.bool_)[bank.relations.ids]
    for w in np.flatnonzero((bank.heads >= 0) & (is_root != (bank.heads == 0))).tolist():
        s = bank.offsets.owner(w)
        relation = bank.relations[w]
        message = (
            f"DEPREL is {relation!r} but HEAD is 0; expected root"
            if bank.heads[w] == 0
            else f"DEPREL is {relation!r} but HEAD is {bank.heads[w]}; expected root only where HEAD is 0"
        )
        yield _problem(bank, s, w - bank.offsets[s].start + 1, "root-relation", message)


def _document_sentences(document: Document, look: Look) -> Iterator[bytes]:
    return sentences(document.treebank, generator=document.generator if look.begins else "")


FORMAT = OutputFormat(_document_sentences, {".conllu": iter}, "text/x-conllu; charset=utf-8", merge=joined)
