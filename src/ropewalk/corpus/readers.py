"""Readers of documents from Parquet, JSON lines, plain text and CoNLL-U.

An invalid document is returned too, with the reason why it is invalid.
"""

from __future__ import annotations

import codecs
import itertools
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ropewalk.corpus import stores
from ropewalk.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ropewalk.corpus.options import Options, Slice

    Content = str | bytes | None

KINDS = {
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".txt": "text",
    ".conllu": "conllu",
}
LONGEST_LINE = 1 << 24  # bytes; longer lines are not kept in memory
LONGEST_SOURCE = 1 << 30  # bytes of a document of CoNLL-U
ROWS = 64  # rows of Parquet that are read at a time
SURROGATE = re.compile("[\ud800-\udfff]")


class Record(NamedTuple):
    """A document: its `content` (a text, or CoNLL-U as bytes), or the `reason` why it is invalid.

    `number` is the number of its line or row in the file, from 1. `kept` has the values of the columns to copy.
    """

    id: str
    path: str
    number: int
    content: str | bytes | None
    reason: str | None = None
    kept: tuple[Any, ...] = ()
    named: bool = False  # whether the document has an id; otherwise `id` consists of path and number


class DocumentLine(NamedTuple):
    """A line of a file.

    `start` is its byte position, and `end` that of the next line. `number` counts from 1. `text` has its bytes without
    the line break, or None if the line is too long.
    """

    start: int
    end: int
    number: int
    text: bytes | None


class Block(NamedTuple):
    """A sentence or a document of CoNLL-U as bytes; `text` is None if it is too long.

    `start` is the byte position of its first line, and `number` the number of that line, from 1.
    """

    start: int
    number: int
    text: bytes | None
    document: str | None  # the name of the document that begins here, if any
    sentence: str  # the sentence's name, or ""


def kind_of(path: str) -> str | None:
    """Return the format of a file by its extension, such as `parquet` or `text`; None if it is unknown."""
    return KINDS.get(stores.ending(path))


def records(part: Slice, options: Options) -> Iterator[Record]:
    """Yield the documents of a slice of a file; those with a repeated id are invalid, and have a reason."""
    read: Callable[[Slice, Options], Iterator[Record]] = {
        "parquet": _rows,
        "jsonl": _json_lines,
        "text": _text_lines if options.lines else _text_file,
        "conllu": _conllu,
    }[kind_of(part.path) or ""]
    for record in read(part, options):
        if record.number in part.doubles:
            yield record._replace(content=None, reason="an earlier document has the same id")
        else:
            yield record


def lines(path: str, start: int = 0, end: int | None = None, before: int = 0) -> Iterator[DocumentLine]:
    """Yield the lines of a file from byte position `start`, where a line begins, up to `end`, by default all.

    Positions count decompressed bytes. `before` is the number of lines before `start`.
    """
    with _at(path, start) as file:
        begin = at = start
        number = before
        held: list[bytes] = []
        size = 0

        def line(end: int) -> DocumentLine:
            return DocumentLine(begin, end, number, _unmarked(b"".join(held), begin) if size <= LONGEST_LINE else None)

        while block := file.read(stores.BLOCK if end is None else min(stores.BLOCK, max(end - at, 0))):
            *whole, rest = bytes(block).split(b"\n")
            for piece in whole:
                size += len(piece)
                held = [*held, piece] if size <= LONGEST_LINE else []
                number += 1
                yield line(begin + size + 1)
                begin, held, size = begin + size + 1, [], 0
            size += len(rest)
            held = [*held, rest] if size <= LONGEST_LINE else []
            at += len(block)
        if size:
            number += 1
            yield line(begin + size)


def _unmarked(text: bytes, start: int) -> bytes:
    """Return `text` without a byte order mark, if it is at the start of a file (`start` is 0)."""
    return text if start else text.removeprefix(codecs.BOM_UTF8)


def _at(path: str, start: int) -> pa.NativeFile:
    """Open a file for reading from position `start`, counted in decompressed bytes."""
    if stores.compression(path) is None:
        file = stores.random_access(path)
        file.seek(start)
        return file
    file = stores.reading(path)
    while start > 0:
        start -= len(file.read(min(start, stores.BLOCK)))
    return file


def _json_lines(part: Slice, options: Options) -> Iterator[Record]:
    for line in lines(part.place, part.start, part.end, part.before):
        if line.text is None or line.text.strip():
            yield json_record(line, part.path, options)


def json_record(line: DocumentLine, path: str, options: Options) -> Record:
    """Return the document in a line of a JSON lines file; it has a reason if the line is invalid."""
    name = f"{path}:{line.number}"
    if line.text is None:
        return Record(name, path, line.number, None, _too_long_line())
    fields, reason = _json_object(line.text)
    named = _id_of(fields, options)
    content = fields.get(options.text)
    if reason is None and named is None and options.id is not None:
        reason = f"it has no {options.id!r}, or an empty one"
    if reason is None and not isinstance(content, str):
        kind = "null" if content is None else type(content).__name__
        reason = (
            f"{options.text!r} is {kind}; expected text"
            if options.text in fields
            else (f"it has no {options.text!r}; found {', '.join(list(fields)[:9]) or 'nothing'}")
        )
    kept = tuple(_plain(fields.get(key)) for key in options.keep)
    return Record(named or name, path, line.number, None if reason else content, reason, kept, named is not None)


def _json_object(text: bytes) -> tuple[dict[str, Any], str | None]:
    """Return the JSON object in `text` and None; if there is none, an empty dictionary and the reason."""
    try:
        value = json.loads(text.decode("utf-8"))
    except UnicodeDecodeError as failure:
        return {}, _not_utf8(failure)
    except (ValueError, RecursionError) as failure:
        return {}, f"no JSON: {failure}"
    return (value, None) if isinstance(value, dict) else ({}, "no JSON object")


def _id_of(fields: dict[str, Any], options: Options) -> str | None:
    named = fields.get(options.id or "id")
    return None if isinstance(named, dict | list) else name_in(named)


def name_in(value: object) -> str | None:
    """Return the value of an id column as text, or None if it is null or empty."""
    return None if value is None else text_of(value) or None


def _text_lines(part: Slice, _options: Options) -> Iterator[Record]:
    for line in lines(part.place, part.start, part.end, part.before):
        name = f"{part.path}:{line.number}"
        if line.text is None:
            yield Record(name, part.path, line.number, None, _too_long_line())
        elif line.text.strip():
            yield _decoded(Record(name, part.path, line.number, line.text.removesuffix(b"\r")))


def _text_file(part: Slice, options: Options) -> Iterator[Record]:
    most = 4 * options.longest + 4  # the most bytes of `longest` characters, and one character more
    with stores.reading(part.place) as file:
        held = bytes(file.read(most))
    record = Record(part.path, part.path, 1, _unmarked(held, 0))
    if len(held) == most:
        yield record._replace(content=None, reason=_too_long(options.longest))
    else:
        yield _decoded(record)


def _decoded(record: Record) -> Record:
    assert isinstance(record.content, bytes)  # noqa: S101 - as it was read
    try:
        return record._replace(content=record.content.decode("utf-8"))
    except UnicodeDecodeError as failure:
        return record._replace(content=None, reason=_not_utf8(failure))


def _rows(part: Slice, options: Options) -> Iterator[Record]:
    with stores.random_access(part.place) as file:
        number = part.start
        for batch in row_batches(file, part.start, part.end, columns_of(file, options)):
            texts = batch.column(options.text).to_pylist()
            names = batch.column(options.id or "id").to_pylist() if (options.id or "id") in batch.schema.names else None
            kept = [batch.column(key).to_pylist() for key in options.keep]
            for row, text in enumerate(texts):
                number += 1
                named = None if names is None else name_in(names[row])
                others = tuple(column[row] for column in kept)
                name = named or f"{part.path}:{number}"
                record = Record(name, part.path, number, text, kept=others, named=named is not None)
                if named is None and options.id is not None:
                    yield record._replace(content=None, reason=f"{options.id!r} is null or empty")
                elif text is None:
                    yield record._replace(reason=f"{options.text!r} is null; expected text")
                else:
                    yield _decoded(record)


def text_of(value: object) -> str:
    """Return an id, or a kept value, as text that is valid UTF-8; wrong bytes are replaced."""
    raw = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
    return raw.decode("utf-8", "replace")


def columns_of(file: pa.NativeFile, options: Options) -> list[str]:
    """Return the names of the columns of a Parquet file that must be read: text, kept columns and id.

    Raise a `FormatError` if one is missing, or the column of text has another type.
    """
    schema = pq.ParquetFile(file).schema_arrow
    needed = [options.text, *options.keep, *([] if options.id is None else [options.id])]
    for name in needed:
        if name not in schema.names:
            raise FormatError("", 0, "column", f"it has no column {name!r}; found {', '.join(schema.names[:20])}")
    if not is_text(schema.field(options.text).type):
        kind = schema.field(options.text).type
        raise FormatError("", 0, "column", f"column {options.text!r} is of type {kind}; expected text")
    return list(dict.fromkeys([*needed, *({"id"} & set(schema.names) if options.id is None else ())]))


def is_string(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is a string type, also if it is large, a view, or dictionary-encoded."""
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(test(inner) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def is_text(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is a string type or a binary type, whose values may be text in UTF-8."""
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
    return is_string(kind) or any(test(inner) for test in tests)


def row_batches(file: pa.NativeFile, start: int, end: int, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows from `start` to `end` of a Parquet file, at most `ROWS` at a time.

    Strings are returned as bytes, since they may not be valid UTF-8.
    """
    parquet = pq.ParquetFile(file, pre_buffer=False, buffer_size=stores.BLOCK)
    first = 0
    for group in range(parquet.num_row_groups):
        rows = parquet.metadata.row_group(group).num_rows
        if first < end and first + rows > start:
            at = first
            for batch in parquet.iter_batches(ROWS, row_groups=[group], columns=columns):
                wanted = batch.slice(max(start - at, 0), max(min(end - at, len(batch)) - max(start - at, 0), 0))
                at += len(batch)
                if len(wanted):
                    yield _as_bytes(wanted)
                if at >= end:
                    break
        first += rows


def _as_bytes(batch: pa.RecordBatch) -> pa.RecordBatch:
    plain = [column.dictionary_decode() if pa.types.is_dictionary(column.type) else column for column in batch.columns]
    columns = [column.cast(pa.large_binary()) if is_string(column.type) else column for column in plain]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _conllu(part: Slice, _options: Options) -> Iterator[Record]:
    for document in documents(blocks(lines(part.place, part.start, part.end, part.before))):
        named = name_of(document)
        name = named or f"{part.path}:{document.number}"
        reason = None if document.text is not None else _too_long_line()
        yield Record(name, part.path, document.number, document.text, reason, named=bool(named))


def name_of(block: Block) -> str:
    """Return the id of a CoNLL-U document, or the `sent_id` of a sentence outside documents; "" if it has none."""
    return block.sentence if block.document is None else block.document


def blocks(lines: Iterator[DocumentLine]) -> Iterator[Block]:
    """Yield the sentences of CoNLL-U, which empty lines separate, from its lines."""
    for blank, group in itertools.groupby(lines, key=lambda line: line.text is not None and not line.text.strip()):
        if blank:
            continue
        held: list[DocumentLine] = []
        size = 0
        for line in group:
            size += LONGEST_LINE + 1 if line.text is None else len(line.text) + 1
            if size <= LONGEST_LINE or not held:
                held.append(line)
        texts = [line.text for line in held if line.text is not None]
        comments = list(itertools.takewhile(lambda text: text.startswith(b"#"), texts))
        document = next((_value(comment) for comment in comments if comment.startswith(b"# newdoc")), None)
        sentence = next((_value(comment) for comment in comments if comment.startswith(b"# sent_id")), "")
        text = b"\n".join([*texts, b"", b""]) if size <= LONGEST_LINE else None
        yield Block(held[0].start, held[0].number, text, document, sentence)


def _value(comment: bytes) -> str:
    return comment.partition(b"=")[2].strip().decode("utf-8", "replace")


def documents(sentences: Iterator[Block]) -> Iterator[Block]:
    """Join CoNLL-U sentences into documents, which begin at `# newdoc` comments.

    Each sentence before the first such comment is yielded as a document of its own.
    """
    begun: Block | None = None
    texts: list[bytes] = []
    size = 0
    for block in sentences:
        if block.document is not None or begun is None:
            if begun is not None:
                yield begun._replace(text=b"".join(texts) if texts else None)
            if block.document is None:
                yield block
                continue
            begun, texts, size = block, [], 0
        size += len(block.text or b"")
        if block.text is None or size > LONGEST_LINE or (not texts and block is not begun):
            texts = []
        else:
            texts.append(block.text)
    if begun is not None:
        yield begun._replace(text=b"".join(texts) if texts else None)


def refusal(content: Content, longest: int) -> str | None:
    """Return the reason why a document with this `content` is not parsed, such as too many characters; else None."""
    if content is None:
        return "it is null; expected text"
    if len(content) > (longest if isinstance(content, str) else LONGEST_SOURCE):
        return _too_long(longest)
    if isinstance(content, str) and SURROGATE.search(content):
        return "it is not UTF-8"
    return None if content.strip() else "it is empty"


def _too_long(longest: int) -> str:
    return f"it is longer than {longest:,} characters; allow more with --longest, or cut it"


def _too_long_line() -> str:
    return f"it takes more than {LONGEST_LINE:,} bytes"


def _not_utf8(failure: UnicodeDecodeError) -> str:
    return f"byte 0x{failure.object[failure.start]:02x} at {failure.start} is not UTF-8"


def _plain(value: object) -> str | None:
    """Return a kept value of JSON as text, None if it is null; values of one column may have different types."""
    if value is None:
        return None
    return text_of(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
