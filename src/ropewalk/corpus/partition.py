"""What is to be done: a look into every file, ids that come twice, and parts of about the same size."""

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
from ropewalk.corpus import sources, stores
from ropewalk.corpus.options import FilePart, Slice
from ropewalk.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ropewalk.corpus.options import Options

Keys = npt.NDArray[np.uint64]  # a row for each id: two halves of its hash, the number of its file, of its line or row

MEGABYTE = 1_000_000
MOST_PIECES = 16  # of a packed file: each is unpacked from its beginning
HELD = 4_000_000  # ids that are compared in memory
BUCKETS = 256  # files that more of them are sorted into


@dataclass(frozen=True, slots=True)
class File:
    """What is known of a file: where it can be cut, as places and lines or rows before them, and what is wrong."""

    path: str
    size: int
    modified: int
    sha256: str = ""
    cuts: tuple[tuple[int, int], ...] = ()  # the first is its beginning, the last its end
    kept: str = ""  # the schema of the kept columns of Parquet
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Give what the manifest holds."""
        return asdict(self)

    @classmethod
    def of_json(cls, table: dict[str, Any]) -> File:
        """Read what the manifest holds."""
        cuts = tuple((int(place), int(before)) for place, before in table["cuts"])
        return cls(**(table | {"cuts": cuts}))


def find(paths: Iterable[str], out: str) -> tuple[list[File], list[str]]:
    """List the files to read, each once, and those in folders whose names do not tell what they hold.

    What lies in the output folder is none of them: else a corpus that holds its own output could not be gone on with.
    """
    found: dict[object, File] = {}
    unknown: list[str] = []
    store, home = stores.located(out)
    for given in paths:
        for one in stores.listed(given):
            where, name = stores.located(one.path)
            if where == store and name.startswith(f"{home.rstrip('/')}/"):
                continue
            if sources.kind_of(one.path) is not None:
                found.setdefault(one.key, File(one.path, one.size, one.modified))
            elif one.path == given:
                endings = ", ".join(sources.KINDS)
                raise FormatError(
                    given, 0, "ending", f"its name does not tell what it holds; expected one of {endings}"
                )
            else:
                unknown.append(one.path)
    return list(found.values()), unknown


def inspect(file: File, options: Options) -> tuple[File, Keys]:
    """Look into a file: its hash, where it can be cut, and the ids of its documents."""
    ids = _Ids()
    known = file
    try:
        known = replace(file, sha256=stores.sha256(file.path))
        kind = sources.kind_of(file.path)
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
    """Say what is wrong with a file; its hash stays where its bytes could be read."""
    return replace(file, cuts=(), kept="", error=error)


@final
class _Ids:
    """The ids of a file's documents, as hashes of 128 bits."""

    def __init__(self) -> None:
        self._found = array("Q")

    def add(self, name: str, number: int) -> None:
        """Note the id of the document at a line or row."""
        digest = hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=16).digest()
        self._found.frombytes(digest)
        self._found.append(number)

    def keys(self) -> Keys:
        """Give all of them, without the number of the file."""
        found = np.frombuffer(self._found, dtype=np.uint64).reshape(-1, 3)
        return np.insert(found, 2, 0, axis=1)


def _starts(file: File, ids: _Ids, options: Options) -> Iterator[tuple[int, int]]:
    """Say where documents begin, and how many lines come before each; at last, where the file ends."""
    end = (0, 0)

    def followed(found: Iterator[sources.DocumentLine]) -> Iterator[sources.DocumentLine]:
        nonlocal end
        for line in found:
            end = line.end, line.number
            yield line

    found = followed(sources.lines(file.path))
    kind = sources.kind_of(file.path)
    if kind == "conllu":
        for block in sources.documents(sources.blocks(found)):
            name = sources.name_of(block)
            if name and block.text is not None:
                ids.add(name, block.number)
            yield block.start, block.number - 1
    else:
        for line in found:
            if kind == "jsonl" and line.text and line.text.strip():
                record = sources.json_record(line, file.path, options)
                if record.named and _may_be_good(record, options):
                    ids.add(record.id, line.number)
            yield line.start, line.number - 1
    yield end


def _may_be_good(record: sources.Record, options: Options) -> bool:
    """Tell whether a document may keep its id from later ones: one that is seen to be none would cost them too."""
    return record.reason is None and sources.refusal(record.content, options.longest) is None


def _cuts(file: File, starts: Iterator[tuple[int, int]], options: Options) -> tuple[tuple[int, int], ...]:
    """Choose places to cut at, about a shard's size from each other."""
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
        out = [out[place] for place in np.linspace(0, len(out) - 1, MOST_PIECES + 1).astype(int)]
    return tuple(out)


def _pieces(size: int, options: Options) -> int:
    """Say how many shards so many bytes make, all of the same size: a small one at the end would leave cores idle."""
    return max(math.ceil(size / (options.shard * MEGABYTE)), 1)


def _parquet(file: File, ids: _Ids, options: Options) -> File:
    with stores.random_access(file.path) as opened:
        columns = sources.columns_of(opened, options)
        found = pq.ParquetFile(opened)
        rows = found.metadata.num_rows
        if (options.id or "id") in columns:
            _note_ids(file, opened, rows, ids, options)
        kept = _kept(found.schema_arrow, options)
        step = max(math.ceil(rows / _pieces(_text_bytes(found.metadata, options.text), options)), 1)
    cuts = tuple((cut, cut) for cut in (*range(0, rows, step), rows))
    return replace(file, cuts=cuts, kept=kept)


def _kept(schema: pa.Schema, options: Options) -> str:
    """Write the types of the kept columns as text; those of text are alike, however they are held."""
    kinds = [schema.field(name).type for name in options.keep]
    plain = [pa.string() if sources.is_string(kind) else kind for kind in kinds]
    return base64.b64encode(pa.schema(zip(options.keep, plain, strict=True)).serialize()).decode() if plain else ""


def _text_bytes(metadata: pq.FileMetaData, name: str) -> int:
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    columns = (group.column(place) for group in groups for place in range(group.num_columns))
    return sum(column.total_uncompressed_size for column in columns if column.path_in_schema == name)


def _note_ids(file: File, opened: pa.NativeFile, rows: int, ids: _Ids, options: Options) -> None:
    batches = sources.row_batches(opened, 0, rows, [options.id or "id"])
    values = (value for batch in batches for value in batch.column(0).to_pylist())
    for number, (value, good) in enumerate(zip(values, _good_rows(file, rows, options), strict=False), start=1):
        name = sources.name_in(value)
        if good and name is not None:
            ids.add(name, number)


def _good_rows(file: File, rows: int, options: Options) -> Iterator[bool]:
    """Tell of each row whether its document may be good; where text cannot be read, that is found by who parses it."""
    with contextlib.suppress(*stores.FAILURES):
        for record in sources.records(Slice(file.path, file.sha256, 0, rows, 0), replace(options, keep=())):
            yield _may_be_good(record, options)
    yield from itertools.repeat(True)  # noqa: FBT003 - for every row that is left


@final
class Doubles:
    """Finds ids that come twice, in memory that does not grow with them: many are sorted into files first."""

    def __init__(self) -> None:
        self._held: list[Keys] = []
        self._count = 0
        self._buckets: list[IO[bytes]] = []

    def add(self, keys: Keys, file: int) -> None:
        """Take in the ids of a file."""
        keys[:, 2] = file
        self._held.append(keys)
        self._count += len(keys)
        if self._count > HELD:
            self._spill()

    def found(self) -> list[tuple[int, int]]:
        """Give file and line or row of every document whose id an earlier one has."""
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
    """Cut the files into parts, or put small ones together; each part makes a shard.

    `folder` is where relative paths count from, for workers elsewhere.
    """
    of_file: dict[int, list[int]] = {}
    for number, line in doubles:
        of_file.setdefault(number, []).append(line)
    out: list[FilePart] = []
    filling: dict[
        tuple[str | None, str], tuple[int, float]
    ] = {}  # the part for small files of a kind, and what it holds
    shard = options.shard * MEGABYTE
    for number, file in enumerate(files):
        again = of_file.get(number, [])
        like = sources.kind_of(file.path), file.kept
        for start, end in pairwise(file.cuts):
            size = file.size if len(file.cuts) == 2 else shard  # a piece of a large file has a shard for itself
            place, held = filling.get(like, (0, shard))
            if held + size > shard:
                place, held = len(out), 0.0
                out.append(FilePart(f"part-{place:06d}", (), file.kept))
            filling[like] = place, held + size
            here = frozenset(line for line in again if start[1] < line <= end[1])
            one = Slice(file.path, file.sha256, start[0], end[0], start[1], here, folder)
            out[place] = replace(out[place], slices=(*out[place].slices, one))
    return out
