"""Word tables as Parquet: pieces are exchanged as Arrow streams, and written as row groups of one file."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

from ropewalk.formats import Look, OutputFormat
from ropewalk.formats.word_tables import arrow, library
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from ropewalk.treebank.documents import Document

ROW_GROUP: Final = 100_000  # words, about


class _Sink(io.RawIOBase):
    """A stream in memory that PyArrow writes to and that can be emptied while it is written."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        """Return True: the stream can be written."""
        return True

    def write(self, data: object, /) -> int:
        """Store bytes, and return their number."""
        part = bytes(memoryview(data))  # type: ignore[arg-type]  # PyArrow hands over buffers
        self._parts.append(part)
        self._size += len(part)
        return len(part)

    def tell(self) -> int:
        """Return the number of all bytes that were written, including those already emptied."""
        return self._size

    def emptied(self) -> bytes:
        """Return the bytes that were written since the last call, and forget them."""
        written, self._parts = b"".join(self._parts), []
        return written


def _sentences(document: Document, look: Look) -> Iterator[bytes]:
    table = arrow(document.treebank, (), look.before, document.generator)
    out = library("pyarrow").BufferOutputStream()
    with library("pyarrow.ipc").new_stream(out, table.schema) as stream:
        stream.write_table(table)
    yield out.getvalue().to_pybytes()


def _file(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a Parquet file, one row group at a time; `blocks` are Arrow streams of word tables."""
    parquet = library("pyarrow.parquet")
    sink = _Sink()
    writer = None
    for group in _groups(blocks):
        writer = writer or parquet.ParquetWriter(sink, group.schema, compression="zstd")
        writer.write_table(group)
        yield sink.emptied()
    if writer is None:
        writer = parquet.ParquetWriter(sink, arrow(Treebank.of([])).schema)
    writer.close()
    yield sink.emptied()


def _groups(blocks: Iterable[bytes]) -> Iterator[pa.Table]:
    """Read word tables from Arrow streams, and yield them joined into tables of at least `ROW_GROUP` rows.

    The file has few row groups, and memory does not grow with it. Only the last table may be smaller.
    """
    ipc = library("pyarrow.ipc")
    held: list[pa.Table] = []
    for block in blocks:
        held.append(ipc.open_stream(block).read_all())
        if sum(map(len, held)) >= ROW_GROUP:
            yield _one(held)
            held = []
    if held:
        yield _one(held)


def _one(tables: list[pa.Table]) -> pa.Table:
    return library("pyarrow").concat_tables(tables).unify_dictionaries().combine_chunks()


FORMAT = OutputFormat(_sentences, {".parquet": _file}, None, join=_file, binary=True)
