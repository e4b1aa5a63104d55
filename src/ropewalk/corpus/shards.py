"""Parsing of one part of a corpus into one output file, a shard, in bounded memory.

First the shard is written, then the file of errors, and last the record, which shows that the part is done. Each file
appears whole or not at all. A part without a record is parsed again from its beginning, with the same result.
"""

from __future__ import annotations

import base64
import functools
import itertools
import json
import posixpath
import time
from typing import TYPE_CHECKING, Any, Protocol, final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ropewalk import conllu
from ropewalk.batches import grouped
from ropewalk.corpus import readers, stores
from ropewalk.corpus.annotate import GROUP, added, joined, parsed
from ropewalk.corpus.report import Counts
from ropewalk.errors import CorpusError, FormatError, ModelError, OptionError
from ropewalk.treebank.source import UNWRITABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ropewalk.corpus.annotate import Parsed
    from ropewalk.corpus.options import FilePart, Options, Rows, Slice
    from ropewalk.corpus.readers import Record
    from ropewalk.options import ParserOptions
    from ropewalk.pipeline import Parser

OUTPUTS = ("parquet", "jsonl", "jsonl.gz", "jsonl.zst", "conllu", "conllu.gz", "conllu.zst")
ROW_GROUP = 100_000  # words, about, of a row group of Parquet
DATA, ERRORS, DONE, TRIES = "data", "errors", "done", "tries"  # folders of the output
MOST_TRIES = 6  # of a part whose workers die: Ray itself would retry for ever


class _Writer(Protocol):
    """Protocol for writers of documents to a file; `write` returns the number of rows that it writes."""

    def write(self, records: Sequence[Record], annotation: Parsed) -> int: ...
    def close(self) -> None: ...


@functools.lru_cache(maxsize=1)
def parser_of(model: str, generator: str, options: ParserOptions) -> Parser:
    """Return the parser of a model, loaded once in each process.

    Raise a `ModelError` unless its program version and model hash are those of `generator`: another machine may have
    another model of the same name.
    """
    from ropewalk.pipeline import load

    parser = load(model, options, threads=1)
    if parser.generator != generator:
        raise ModelError(model, f"is {parser.generator} on this machine; expected {generator}, as where the run began")
    return parser


def warm(model: str, generator: str, options: Options) -> None:
    """Load the model in a worker process before its first part."""
    parser_of(model, generator, options.parsing)


def annotate(part: FilePart, out: str, model: str, generator: str, options: Options) -> dict[str, Any]:
    """Parse a part; write its shard, its errors and its record to the folder `out`, and return the record."""
    begun = time.monotonic()
    parser = parser_of(model, generator, options.parsing)
    _try_again(part, out)
    counts = Counts()
    errors: list[dict[str, Any]] = []
    path = f"{out}/{DATA}/{part.name}.{options.output}"
    rows = 0
    with stores.creating(path) as file:
        writer = _writer(file, part, generator, options)
        for records in grouped(_records(part, options, errors), lambda record: len(record.content or "") + 1, GROUP):
            annotation = parsed(parser, [record.content for record in records], options.longest)
            for record, reason in zip(records, annotation.reasons, strict=True):
                if reason is not None:
                    about = {"id": record.id, "file": record.path, "place": record.number}
                    errors.append(about | {"reason": record.reason or reason})
            good = [record for record, reason in zip(records, annotation.reasons, strict=True) if reason is None]
            counts.documents += len(good)
            counts.add(annotation.bank)
            rows += writer.write(records, annotation)
        writer.close()
    counts.errors = len(errors)
    if errors:
        lines = [json.dumps(error, ensure_ascii=False) + "\n" for error in errors]
        stores.write(f"{out}/{ERRORS}/{part.name}.jsonl", "".join(lines).encode("utf-8", "replace"))
    done = {
        "name": posixpath.basename(path),
        "rows": rows,
        "bytes": file.size,
        "sha256": file.sha256,
        "seconds": round(time.monotonic() - begun, 3),
        "counts": counts.to_json(),
    }
    stores.write(f"{out}/{DONE}/{part.name}.json", json.dumps(done, ensure_ascii=False).encode("utf-8"))
    return done


def _try_again(part: FilePart, out: str) -> None:
    """Count an attempt to parse a part in this run; raise a `CorpusError` after `MOST_TRIES` attempts."""
    path = f"{out}/{TRIES}/{part.name}"
    tries = int(stores.read(path) or 0) + 1
    if tries > MOST_TRIES:
        first = part.slices[0]
        raise CorpusError(
            f"{part.name} was begun {MOST_TRIES} times, and its worker died every time, probably for lack of memory; "
            f"it begins with {first.path}:{first.before + 1}; try fewer workers, or a smaller --longest"
        )
    stores.write(path, str(tries).encode())


def _records(part: FilePart, options: Options, errors: list[dict[str, Any]]) -> Iterator[Record]:
    """Yield the documents of all slices of a part.

    If a file turns out to be damaged, the rest of its slice is skipped and an error is added to `errors`.
    """
    for piece in part.slices:
        try:
            yield from readers.records(piece, options)
        except stores.FAILURES as failure:
            _demand_unchanged(piece)
            reason = f"it cannot be read from here on: {stores.why(failure)}"
            errors.append({"id": None, "file": piece.path, "place": piece.before, "reason": reason})


def _demand_unchanged(piece: Slice) -> None:
    """Raise a `FormatError` if the file of a slice has changed since the run began."""
    if stores.sha256(piece.place) != piece.sha256:
        raise FormatError(piece.path, 0, "changed", "has changed since the run began; restore it, or begin a new run")


def _writer(file: stores.Hashing, part: FilePart, generator: str, options: Options) -> _Writer:
    form, _, packed = options.output.partition(".")
    stream: Any = pa.PythonFile(file, "w")
    if packed:
        stream = pa.CompressedOutputStream(stream, stores.COMPRESSION[f".{packed}"])
    if form == "conllu":
        return _Conllu(stream, generator)
    shape = _Rows(_kept(part, options), options.rows)
    return _Parquet(stream, generator, shape) if form == "parquet" else _JsonLines(stream, shape)


def demand_names_apart(options: Options) -> None:
    """Raise an `OptionError` if `options.keep` names a column twice, or names one that the output has anyway."""
    ours = ["id", *(field.name for field in added(options.rows))]
    for index, name in enumerate(options.keep):
        if name in ours:
            raise OptionError(
                f"--keep {name}: the output has a column of that name itself, among {', '.join(ours)}; rename it in "
                "the input"
            )
        if name in options.keep[:index]:
            raise OptionError(f"--keep {name}: is given twice; name each column once")


def _kept(part: FilePart, options: Options) -> pa.Schema:
    if part.kept:
        return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(part.kept)))
    return pa.schema([(name, pa.string()) for name in options.keep])


@final
class _Rows:
    """Builder of output rows: the id of a document, its kept columns, and its annotation.

    `kept` is the schema of the kept columns. `rows` is whether a row is a document or a sentence.
    """

    def __init__(self, kept: pa.Schema, rows: Rows) -> None:
        self._kept = kept
        self._rows = rows
        own = pa.schema([("id", pa.string()), *kept])
        self.schema = pa.schema([*own, *added(rows)][:-1])  # errors have a file of their own

    def table(self, records: Sequence[Record], annotation: Parsed) -> pa.Table:
        """Return a table with the rows of those documents that could be parsed."""
        columns = [pa.array([record.id for record in records], pa.string())]
        for index, field in enumerate(self._kept):
            values = [record.kept[index] if record.kept else None for record in records]
            if pa.types.is_string(field.type):
                values = [readers.text_of(value) if isinstance(value, bytes) else value for value in values]
            columns.append(pa.array(values, field.type))
        documents = pa.table(columns, names=["id", *self._kept.names])
        whole = joined(documents, annotation, self._rows)
        return whole.filter(pc.is_null(whole.column("error"))).drop_columns("error").cast(self.schema)


@final
class _Parquet:
    """Writer of Parquet; a row group holds documents of about `ROW_GROUP` words."""

    def __init__(self, stream: Any, generator: str, rows: _Rows) -> None:  # noqa: ANN401 - a file to write
        self._rows = rows
        schema = rows.schema.with_metadata({"generator": generator})
        self._writer = pq.ParquetWriter(stream, schema, compression="zstd")
        self._held: list[pa.Table] = []
        self._words = 0

    def write(self, records: Sequence[Record], annotation: Parsed) -> int:
        """Write some documents; return the number of rows."""
        table = self._rows.table(records, annotation)
        self._held.append(table)
        self._words += annotation.bank.words
        if self._words >= ROW_GROUP:
            self._flush()
        return len(table)

    def close(self) -> None:
        """Write the remaining documents and close the file."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._held:
            self._writer.write_table(pa.concat_tables(self._held), row_group_size=1 << 30)
        self._held, self._words = [], 0


@final
class _JsonLines:
    """Writer of JSON lines: one object for each row, with the column names of the Parquet output as keys."""

    def __init__(self, stream: Any, rows: _Rows) -> None:  # noqa: ANN401 - a file to write
        self._rows = rows
        self._stream = stream

    def write(self, records: Sequence[Record], annotation: Parsed) -> int:
        """Write some documents; return the number of rows."""
        rows = self._rows.table(records, annotation).to_pylist()
        text = "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
        self._stream.write(text.encode("utf-8"))
        return len(rows)

    def close(self) -> None:
        """Write the remaining documents and close the file."""
        self._stream.close()


@final
class _Conllu:
    """Writer of CoNLL-U: texts as documents with their ids, or CoNLL-U input with new trees."""

    def __init__(self, stream: Any, generator: str) -> None:  # noqa: ANN401 - a file to write
        self._stream = stream
        self._generator = generator

    def write(self, records: Sequence[Record], annotation: Parsed) -> int:
        """Write some documents; return the number of sentences."""
        bank = annotation.bank
        if len(bank) and bank.source is None:
            headings = [bank.heading(number) for number in range(len(bank))]
            first = 0
            for record, count in zip(records, annotation.counts, strict=True):
                if count:
                    name = UNWRITABLE.sub("?", record.id)
                    headings[first] = headings[first]._replace(document=name)
                first += count
            bank = bank.with_headings(headings)
        sentences = conllu.sentences(bank, generator=self._generator)
        first = 0
        for record, count in zip(records, annotation.counts, strict=True):
            if count:
                blocks = itertools.islice(sentences, count)
                begins = bank.heading(first).document is not None  # otherwise it is a sentence with a name of its own
                self._stream.write(b"".join(conllu.in_document(blocks, record.id) if begins else blocks))
                self._generator = ""
            first += count
        return len(bank)

    def close(self) -> None:
        """Write the remaining documents and close the file."""
        self._stream.close()
