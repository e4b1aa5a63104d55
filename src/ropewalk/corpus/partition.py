"""The plan of a run: inspect every file, find repeated document ids, and cut the files into parts of similar size."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import itertools
import math
from array import array
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from ropewalk import files
from ropewalk.corpus import readers, stores
from ropewalk.corpus.options import FilePart, Slice
from ropewalk.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ropewalk.corpus.options import Options

Keys = npt.NDArray[np.uint64]  # a row for each id: two halves of its hash, the number of its file, of its line or row

MEGABYTE = 1_000_000
MOST_PIECES = 16  # of a packed file, since each is unpacked from the beginning of the file
HELD = 4_000_000  # ids that are compared in memory
BUCKETS = 256  # temporary files for more ids


@dataclass(frozen=True, slots=True)
class File:
    """An input file: its hash, the positions (`cuts`) at which it is divided, and its error if it cannot be read.

    A cut is a position, in decompressed bytes or in rows of Parquet, and the number of lines or rows before it. Hash
    and cuts are empty until the file is inspected.
    """

    path: str
    size: int
    modified: int
    sha256: str = ""
    cuts: tuple[tuple[int, int], ...] = ()  # the first is the start of the file, the last its end
    kept: str = ""  # the schema of the kept columns of Parquet
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the fields of this object as JSON values for the manifest."""
        return asdict(self)

    @classmethod
    def of_json(cls, table: dict[str, Any]) -> File:
        """Build an object from the JSON values in a manifest."""
        cuts = tuple((int(index), int(before)) for index, before in table["cuts"])
        return cls(**(table | {"cuts": cuts}))


def find(paths: Iterable[str], out: str) -> tuple[list[File], list[str]]:
    """Return the files to read, each once, and the paths of files that are skipped because of an unknown extension.

    `paths` are files and folders. Raise a `FormatError` if one of them is a file with an unknown extension. Files in
    the output folder `out` are left out; otherwise a run on a folder that contains its output could not be continued.
    """
    files: dict[object, File] = {}
    unknown: list[str] = []
    store, home = stores.located(out)
    for path in paths:
        for listed in stores.listed(path):
            where, name = stores.located(listed.path)
            if where == store and name.startswith(f"{home.rstrip('/')}/"):
                continue
            if readers.kind_of(listed.path) is not None:
                files.setdefault(listed.key, File(listed.path, listed.size, listed.modified))
            elif listed.path == path:
                endings = ", ".join(readers.KINDS)
                raise FormatError(
                    path, 0, "ending", f"its name does not show its format; expected one of the endings {endings}"
                )
            else:
                unknown.append(listed.path)
    return list(files.values()), unknown


def inspect(file: File, options: Options) -> tuple[File, Keys]:
    """Read a file; return it with its hash and cuts, or with its error, and the hashed ids of its documents."""
    ids = _Ids()
    known = file
    try:
        known = replace(file, sha256=stores.sha256(file.path))
        kind = readers.kind_of(file.path)
        if kind == "parquet":
            known = _parquet(known, ids, options)
        elif kind == "text" and not options.lines:
            known = replace(known, cuts=((0, 0), (file.size, 1)))
        else:
            known = replace(known, cuts=_cuts(known, _starts(known, ids, options), options))
    except FormatError as failure:
        return _unreadable(known, failure.message), _Ids().keys()
    except stores.FAILURES as failure:
        return _unreadable(known, f"it cannot be read: {stores.why(failure)}"), _Ids().keys()
    return known, ids.keys()


def _unreadable(file: File, error: str) -> File:
    """Return `file` with `error` and without cuts; its hash is kept, if it could be computed."""
    return replace(file, cuts=(), kept="", error=error)


@final
class _Ids:
    """The document ids of a file, as hashes of 128 bits, with their line or row numbers."""

    def __init__(self) -> None:
        self._hashes = array("Q")

    def add(self, name: str, number: int) -> None:
        """Add the id `name` of the document at line or row `number`."""
        digest = hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=16).digest()
        self._hashes.frombytes(digest)
        self._hashes.append(number)

    def keys(self) -> Keys:
        """Return the ids as an array [ids, 4]: two halves of the hash, file number (here 0), line or row number."""
        hashes = np.frombuffer(self._hashes, dtype=np.uint64).reshape(-1, 3)
        return np.insert(hashes, 2, 0, axis=1)


def _starts(file: File, ids: _Ids, options: Options) -> Iterator[tuple[int, int]]:
    """Yield the byte position of each document and the number of lines before it; last, those of the end of the file.

    The document ids are added to `ids`.
    """
    end = (0, 0)

    def followed(lines: Iterator[readers.DocumentLine]) -> Iterator[readers.DocumentLine]:
        nonlocal end
        for line in lines:
            end = line.end, line.number
            yield line

    lines = followed(readers.lines(file.path))
    kind = readers.kind_of(file.path)
    if kind == "conllu":
        for block in readers.documents(readers.blocks(lines)):
            name = readers.name_of(block)
            if name and block.text is not None:
                ids.add(name, block.number)
            yield block.start, block.number - 1
    else:
        for line in lines:
            if kind == "jsonl" and line.text and line.text.strip():
                record = readers.json_record(line, file.path, options)
                if record.named and _may_be_good(record, options):
                    ids.add(record.id, line.number)
            yield line.start, line.number - 1
    yield end


def _may_be_good(record: readers.Record, options: Options) -> bool:
    """Return whether no fault of a document is known yet.

    Only the ids of such documents are collected: a later document with the id of an invalid one is not a repetition.
    """
    return record.reason is None and readers.refusal(record.content, options.longest) is None


def _cuts(file: File, starts: Iterator[tuple[int, int]], options: Options) -> tuple[tuple[int, int], ...]:
    """Choose from `starts`, the positions of documents, cuts that are about the input size of a shard apart."""
    packed = stores.compression(file.path) is not None
    step = options.shard * MEGABYTE if packed else file.size / _pieces(file.size, options)
    out = [(0, 0)]
    last = (0, 0)
    for last in starts:
        if last[0] - out[-1][0] >= step:
            out.append(last)
    if last > out[-1]:
        out.append(last)
    if packed and len(out) > MOST_PIECES + 1:
        out = [out[index] for index in np.linspace(0, len(out) - 1, MOST_PIECES + 1).astype(int)]
    return tuple(out)


def _pieces(size: int, options: Options) -> int:
    """Return the number of equal pieces into which `size` bytes are cut, each of at most the size of a shard.

    Equal pieces are better than a small last one, which would leave cores idle.
    """
    return max(math.ceil(size / (options.shard * MEGABYTE)), 1)


def _parquet(file: File, ids: _Ids, options: Options) -> File:
    with stores.random_access(file.path) as opened:
        columns = readers.columns_of(opened, options)
        parquet = pq.ParquetFile(opened)
        rows = parquet.metadata.num_rows
        if (options.id or "id") in columns:
            _note_ids(file, opened, rows, ids, options)
        kept = _kept(parquet.schema_arrow, options)
        step = max(math.ceil(rows / _pieces(_text_bytes(parquet.metadata, options.text), options)), 1)
    cuts = tuple((cut, cut) for cut in (*range(0, rows, step), rows))
    return replace(file, cuts=cuts, kept=kept)


def _kept(schema: pa.Schema, options: Options) -> str:
    """Return the Arrow schema of the kept columns, serialized in Base64; all string types become `string`."""
    kinds = [schema.field(name).type for name in options.keep]
    plain = [pa.string() if readers.is_string(kind) else kind for kind in kinds]
    return base64.b64encode(pa.schema(zip(options.keep, plain, strict=True)).serialize()).decode() if plain else ""


def _text_bytes(metadata: pq.FileMetaData, name: str) -> int:
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    columns = (group.column(index) for group in groups for index in range(group.num_columns))
    return sum(column.total_uncompressed_size for column in columns if column.path_in_schema == name)


def _note_ids(file: File, opened: pa.NativeFile, rows: int, ids: _Ids, options: Options) -> None:
    batches = readers.row_batches(opened, 0, rows, [options.id or "id"])
    values = (value for batch in batches for value in batch.column(0).to_pylist())
    for number, (value, good) in enumerate(zip(values, _good_rows(file, rows, options), strict=False), start=1):
        name = readers.name_in(value)
        if good and name is not None:
            ids.add(name, number)


def _good_rows(file: File, rows: int, options: Options) -> Iterator[bool]:
    """Yield for each row of a Parquet file whether no fault of its document is known yet.

    If reading fails, yield True for ever: the unreadable rows are reported later, when the corpus is parsed.
    """
    with contextlib.suppress(*stores.FAILURES):
        for record in readers.records(Slice(file.path, file.sha256, 0, rows, 0), replace(options, keep=())):
            yield _may_be_good(record, options)
    yield from itertools.repeat(True)  # noqa: FBT003 - for every row that is left


@final
class Doubles:
    """Search for repeated document ids in bounded memory.

    More than `HELD` ids are distributed to temporary files by their hashes, and each file is searched alone.
    """

    def __init__(self) -> None:
        self._held: list[Keys] = []
        self._count = 0
        self._buckets: list[IO[bytes]] = []

    def add(self, keys: Keys, file: int) -> None:
        """Add the hashed ids `keys` of the documents in the file with the number `file`."""
        keys[:, 2] = file
        self._held.append(keys)
        self._count += len(keys)
        if self._count > HELD:
            self._spill()

    def repeated(self) -> list[tuple[int, int]]:
        """Return the file number, and the line or row number, of each document whose id an earlier document has."""
        if not self._buckets:
            return list(_doubles(self._joined()))
        self._spill()
        out: list[tuple[int, int]] = []
        for bucket in self._buckets:
            with bucket:
                bucket.seek(0)
                out += _doubles(np.frombuffer(bucket.read(), dtype=np.uint64).reshape(-1, 4))
        return out

    def _joined(self) -> Keys:
        return np.concatenate([np.zeros((0, 4), dtype=np.uint64), *self._held])

    def _spill(self) -> None:
        if not self._buckets:
            self._buckets = [files.scratch() for _ in range(BUCKETS)]
        keys = self._joined()
        for number, bucket in enumerate(self._buckets):
            bucket.write(keys[keys[:, 0] % BUCKETS == number].tobytes())
        self._held, self._count = [], 0


def _doubles(keys: Keys) -> Iterator[tuple[int, int]]:
    ordered = keys[np.lexsort((keys[:, 3], keys[:, 2], keys[:, 1], keys[:, 0]))]
    again = np.flatnonzero((ordered[1:, :2] == ordered[:-1, :2]).all(axis=1)) + 1
    return ((int(file), int(number)) for file, number in ordered[again, 2:])


def parts(
    files: Sequence[File], doubles: Iterable[tuple[int, int]], options: Options, folder: str = ""
) -> list[FilePart]:
    """Divide the files into parts, each of which is parsed into one shard: large files are cut, small ones combined.

    Only files of the same format, with the same schema of kept columns, are combined. `doubles` are the file and line
    numbers of documents with a repeated id. Relative paths are relative to `folder`.
    """
    of_file: dict[int, list[int]] = {}
    for number, line in doubles:
        of_file.setdefault(number, []).append(line)
    out: list[FilePart] = []
    filling: dict[
        tuple[str | None, str], tuple[int, float]
    ] = {}  # for each kind of small files, the number of the last part and its size
    shard = options.shard * MEGABYTE
    for number, file in enumerate(files):
        again = of_file.get(number, [])
        like = readers.kind_of(file.path), file.kept
        for start, end in pairwise(file.cuts):
            size = file.size if len(file.cuts) == 2 else shard  # a piece of a large file is a whole shard
            index, held = filling.get(like, (0, shard))
            if held + size > shard:
                index, held = len(out), 0.0
                out.append(FilePart(f"part-{index:06d}", (), file.kept))
            filling[like] = index, held + size
            here = frozenset(line for line in again if start[1] < line <= end[1])
            piece = Slice(file.path, file.sha256, start[0], end[0], start[1], here, folder)
            out[index] = replace(out[index], slices=(*out[index].slices, piece))
    return out
