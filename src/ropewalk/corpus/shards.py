"""One part of a corpus to one shard: read, parsed and written in memory that does not grow with it.

The data file appears whole, then the errors, and last the record that says that the part is done. Without a record
a part is done again from its beginning, and comes out the same.
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
from ropewalk.corpus import sources, stores
from ropewalk.corpus.annotate import GROUP, added, joined, parsed
from ropewalk.corpus.report import Counts
from ropewalk.errors import CorpusError, FormatError, ModelError, OptionError
from ropewalk.treebank.treebank import UNWRITABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ropewalk.corpus.annotate import Parsed
    from ropewalk.corpus.options import FilePart, Options, Rows, Slice
    from ropewalk.corpus.sources import Record
    from ropewalk.options import ParserOptions
    from ropewalk.pipeline import Parser

OUTPUTS = ("parquet", "jsonl", "jsonl.gz", "jsonl.zst", "conllu", "conllu.gz", "conllu.zst")
ROW_GROUP = 100_000  # words, about, of a row group of Parquet
DATA, ERRORS, DONE, TRIES = "data", "errors", "done", "tries"  # folders of the output
MOST_TRIES = 6  # Ray gives a part to others as long as workers die of it


class _Writer(Protocol):
    """Writes documents to a file."""

    def write(self, records: Sequence[Record], found: Parsed) -> int: ...
    def close(self) -> None: ...


@functools.lru_cache(maxsize=1)
def parser_of(model: str, generator: str, options: ParserOptions) -> Parser:
    """Load a model once in a process, and check that it is the one that is meant."""
    from ropewalk.pipeline import load

    parser = load(model, options, threads=1)
    if parser.generator != generator:
        raise ModelError(model, f"is {parser.generator} on this machine; expected {generator}, as where the run began")
    return parser


def warm(model: str, generator: str, options: Options) -> None:
    """Load in a process what its parts will need, ahead of the first of them."""
    parser_of(model, generator, options.parsing)


def annotate(part: FilePart, out: str, model: str, generator: str, options: Options) -> dict[str, Any]:
    """Do a part: write its shard, its errors and its record, and give the record."""
    begun = time.monotonic()
    parser = parser_of(model, generator, options.parsing)
    _try_again(part, out)
    counts = Counts()
    errors: list[dict[str, Any]] = []
    path = f"{out}/{DATA}/{part.name}.{options.output}"
    rows = 0
    with stores.creating(path) as file:
        writer = _writer(file, part, generator, options)
        for records in grouped(_records(part, options, errors), _size, GROUP):
            found = parsed(parser, [record.content for record in records], options.longest)
            for record, reason in zip(records, found.reasons, strict=True):
                if reason is not None:
                    errors.append(_error(record, record.reason or reason))
            good = [record for record, reason in zip(records, found.reasons, strict=True) if reason is None]
            counts.documents += len(good)
            counts.add(found.bank)
            rows += writer.write(records, found)
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
    """Count how often a part was begun in this run, and give up when it ends its workers every time."""
    path = f"{out}/{TRIES}/{part.name}"
    tries = int(stores.read(path) or 0) + 1
    if tries > MOST_TRIES:
        first = part.slices[0]
        raise CorpusError(
            f"{part.name} was begun {MOST_TRIES} times, and its worker died every time, most likely memory ran out; "
            f"it begins with {first.path}:{first.before + 1}; try fewer workers, or a smaller --longest"
        )
    stores.write(path, str(tries).encode())


def _error(record: Record, reason: str) -> dict[str, Any]:
    return {"id": record.id, "file": record.path, "place": record.number, "reason": reason}


def _records(part: FilePart, options: Options, errors: list[dict[str, Any]]) -> Iterator[Record]:
    """Read the documents of all slices; where a file turns out to be damaged, the rest of its slice is an error."""
    for one in part.slices:
        try:
            yield from sources.records(one, options)
        except stores.FAILURES as failure:
            _demand_unchanged(one)
            reason = f"it cannot be read from here on: {stores.why(failure)}"
            errors.append({"id": None, "file": one.path, "place": one.before, "reason": reason})


def _demand_unchanged(one: Slice) -> None:
    """Tell a damaged file from one that is not there just now, which must not be taken for done."""
    if stores.sha256(one.place) != one.sha256:
        raise FormatError(one.path, 0, "changed", "has changed since the run began; expected the same file throughout")


def _size(record: Record) -> int:
    return len(record.content or "") + 1


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
    """Refuse to keep a column twice, or under a name that the output has itself."""
    ours = ["id", *(one.name for one in added(options.rows))]
    for place, name in enumerate(options.keep):
        if name in ours:
            raise OptionError(
                f"--keep {name}: the output has a column of that name itself; expected another than {', '.join(ours)}: "
                "rename it in the input"
            )
        if name in options.keep[:place]:
            raise OptionError(f"--keep {name}: is given twice; expected each column once")


def _kept(part: FilePart, options: Options) -> pa.Schema:
    if part.kept:
        return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(part.kept)))
    return pa.schema([(name, pa.string()) for name in options.keep])


@final
class _Rows:
    """Makes rows of documents: id, what is kept, and the annotation."""

    def __init__(self, kept: pa.Schema, rows: Rows) -> None:
        self._kept = kept
        self._rows = rows
        given = pa.schema([("id", pa.string()), *kept])
        self.schema = pa.schema([*given, *added(rows)][:-1])  # errors are kept apart

    def table(self, records: Sequence[Record], found: Parsed) -> pa.Table:
        """Give the rows of the documents that could be parsed."""
        columns = [pa.array([record.id for record in records], pa.string())]
        for place, one in enumerate(self._kept):
            values = [record.kept[place] if record.kept else None for record in records]
            if pa.types.is_string(one.type):
                values = [sources.text_of(value) if isinstance(value, bytes) else value for value in values]
            columns.append(pa.array(values, one.type))
        given = pa.table(columns, names=["id", *self._kept.names])
        whole = joined(given, found, self._rows)
        return whole.filter(pc.is_null(whole.column("error"))).drop_columns("error").cast(self.schema)


@final
class _Parquet:
    """Writes Parquet, in row groups of many documents."""

    def __init__(self, stream: Any, generator: str, rows: _Rows) -> None:  # noqa: ANN401 - a file to write
        self._rows = rows
        schema = rows.schema.with_metadata({"generator": generator})
        self._writer = pq.ParquetWriter(stream, schema, compression="zstd")
        self._held: list[pa.Table] = []
        self._words = 0

    def write(self, records: Sequence[Record], found: Parsed) -> int:
        """Write some documents; say how many rows they are."""
        table = self._rows.table(records, found)
        self._held.append(table)
        self._words += found.bank.words
        if self._words >= ROW_GROUP:
            self._flush()
        return len(table)

    def close(self) -> None:
        """Write what is left."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._held:
            self._writer.write_table(pa.concat_tables(self._held), row_group_size=1 << 30)
        self._held, self._words = [], 0


@final
class _JsonLines:
    """Writes a JSON object a row, with the names of the columns of Parquet."""

    def __init__(self, stream: Any, rows: _Rows) -> None:  # noqa: ANN401 - a file to write
        self._rows = rows
        self._stream = stream

    def write(self, records: Sequence[Record], found: Parsed) -> int:
        """Write some documents; say how many rows they are."""
        rows = self._rows.table(records, found).to_pylist()
        text = "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
        self._stream.write(text.encode("utf-8"))
        return len(rows)

    def close(self) -> None:
        """Write what is left."""
        self._stream.close()


@final
class _Conllu:
    """Writes CoNLL-U: documents with their ids, or what was read with other trees."""

    def __init__(self, stream: Any, generator: str) -> None:  # noqa: ANN401 - a file to write
        self._stream = stream
        self._generator = generator

    def write(self, records: Sequence[Record], found: Parsed) -> int:
        """Write some documents; say how many sentences they are."""
        bank = found.bank
        if len(bank) and bank.source is None:
            headings = [bank.heading(number) for number in range(len(bank))]
            first = 0
            for record, count in zip(records, found.counts, strict=True):
                if count:
                    name = UNWRITABLE.sub("?", record.id)
                    headings[first] = headings[first]._replace(document=name)
                first += count
            bank = bank.with_headings(headings)
        sentences = conllu.sentences(bank, generator=self._generator)
        first = 0
        for record, count in zip(records, found.counts, strict=True):
            if count:
                blocks = itertools.islice(sentences, count)
                begins = bank.heading(first).document is not None  # or it is a sentence, with a name of its own
                self._stream.write(b"".join(conllu.in_document(blocks, record.id) if begins else blocks))
                self._generator = ""
            first += count
        return len(bank)

    def close(self) -> None:
        """Write what is left."""
        self._stream.close()
