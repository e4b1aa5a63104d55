"""Files in any store that PyArrow or fsspec can open, such as the local disk, HDFS or S3, by path or URI."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import posixpath
import stat
from collections import deque
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, final

import pyarrow as pa
from pyarrow import fs

from ropewalk import files
from ropewalk.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPRESSION = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
BLOCK = 1 << 20  # bytes that are read at a time
FAILURES = (OSError, EOFError, pa.ArrowException)


class Listed(NamedTuple):
    """A file: its path as the user would write it, its size in bytes, and the time of its last change in nanoseconds.

    `key` is the same for all names of one file: device and inode of a local file, else store type and path.
    """

    path: str
    size: int
    modified: int
    key: object


def why(failure: Exception) -> str:
    """Return the first line of the message of an exception from a store."""
    text = failure.strerror if isinstance(failure, OSError) and failure.strerror else str(failure)
    return (text or type(failure).__name__).splitlines()[0]


def compression(path: str) -> str | None:
    """Return the compression of a file by its extension, such as `gzip`; None if it is not compressed."""
    return COMPRESSION.get(posixpath.splitext(path)[1].lower())


def ending(path: str) -> str:
    """Return the extension that shows the format of a file, such as `.jsonl` for `a.jsonl.gz`."""
    name = path.lower()
    for packed in COMPRESSION:
        name = name.removesuffix(packed)
    return posixpath.splitext(name)[1]


def absolute(path: str) -> str:
    """Return an absolute path, which processes in other folders can use; a URI is returned unchanged."""
    return path if "://" in path else os.path.abspath(path)  # noqa: PTH100 - a text, which names files of any store


def opened(path: str) -> tuple[fs.FileSystem, str]:
    """Return the store (a PyArrow file system) of a path or URI, and the path inside that store.

    Raise a `FormatError` if neither PyArrow nor fsspec knows the URI.
    """
    if "://" not in path:
        return fs.LocalFileSystem(), absolute(path)
    try:
        located: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        import fsspec

        try:
            store, name = fsspec.core.url_to_fs(path)
        except (ValueError, ImportError) as failure:
            message = f"{failure}; expected a path, or a URI that PyArrow or fsspec knows"
            raise FormatError(path, 0, "store", message) from failure
        if "file" in store.protocol:  # the local file system
            return fs.LocalFileSystem(), name
        return fs.PyFileSystem(fs.FSSpecHandler(store)), name
    return located


def located(path: str) -> tuple[str, str]:
    """Return the type of the store of a path or URI, and the path inside it; symbolic links on disk are resolved."""
    store, name = opened(path)
    return str(store.type_name), os.path.realpath(name) if _is_local(store) else name


def _is_local(store: fs.FileSystem) -> bool:
    return isinstance(store, fs.LocalFileSystem)


def listed(path: str) -> list[Listed]:
    """Return the file at `path`, or all files below it if it is a folder, sorted by path.

    Files and folders whose names begin with `.` or `_` are left out. Symbolic links are followed. A local file with
    several names below the folder is listed once.
    """
    store, name = opened(path)
    try:
        info = store.get_file_info(name)
        if info.type == fs.FileType.NotFound:
            raise FormatError(path, 0, "unreadable", "there is no such file or folder")
        if info.type == fs.FileType.File:
            return [_local(path, os.stat(name)) if _is_local(store) else _remote(path, info, store)]  # noqa: PTH116 - a text
        walk = _below_local if _is_local(store) else _below
        return sorted(walk(store, name, path.rstrip("/")), key=lambda listed: listed.path)
    except FAILURES as failure:
        raise FormatError(path, 0, "unreadable", f"cannot be read: {why(failure)}") from failure


def _below(store: fs.FileSystem, name: str, shown: str) -> Iterator[Listed]:
    """Yield the files below a folder of a store; `shown` is the folder as the user would write it."""
    for info in store.get_file_info(fs.FileSelector(name, recursive=True)):
        inside = posixpath.relpath(info.path, name)
        if info.type == fs.FileType.File and not any(map(_is_hidden, inside.split("/"))):
            yield _remote(f"{shown}/{inside}", info, store)


def _below_local(_: fs.FileSystem, name: str, shown: str) -> Iterator[Listed]:
    """Yield the files below a local folder, each once; a path without symbolic links is preferred.

    `name` is the folder, and `shown` the folder as the user would write it.
    """
    seen: set[object] = set()
    waiting = deque([(name, shown)])
    while waiting:
        place, path = waiting.popleft()
        try:
            status = os.stat(place)  # noqa: PTH116 - many times faster than a `Path`, of which there may be millions
        except OSError as failure:
            if failure.errno in {errno.ENOENT, errno.ELOOP}:  # a link that leads nowhere
                continue
            raise
        file = _local(path, status)
        if file.key in seen:
            continue
        seen.add(file.key)
        if stat.S_ISREG(status.st_mode):
            yield file
        elif stat.S_ISDIR(status.st_mode):
            with os.scandir(place) as entries:
                inside = sorted(
                    (entry for entry in entries if not _is_hidden(entry.name)), key=lambda entry: entry.name
                )
            direct, linked = (
                [(entry.path, f"{path}/{entry.name}") for entry in inside if entry.is_symlink() is by_link]
                for by_link in (False, True)
            )
            waiting.extendleft(reversed(direct))
            waiting.extend(linked)  # after all names without links


def _is_hidden(step: str) -> bool:
    return step.startswith((".", "_"))


def _remote(path: str, info: fs.FileInfo, store: fs.FileSystem) -> Listed:
    return Listed(path, int(info.size), int(info.mtime_ns or 0), (store.type_name, info.path))


def _local(path: str, status: os.stat_result) -> Listed:
    return Listed(path, status.st_size, status.st_mtime_ns, (status.st_dev, status.st_ino))


def reading(path: str) -> pa.NativeFile:
    """Open a file for reading from its start, decompressed."""
    store, name = opened(path)
    return store.open_input_stream(name, compression=compression(path))


def random_access(path: str) -> pa.NativeFile:
    """Open a file for reading at any position, without decompression."""
    store, name = opened(path)
    return store.open_input_file(name)


def sha256(path: str) -> str:
    """Return the SHA-256 of the bytes of a file as they are stored, without decompression."""
    digest = hashlib.sha256()
    store, name = opened(path)
    with store.open_input_stream(name, compression=None) as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def read(path: str) -> bytes | None:
    """Return the stored bytes of a small file; None if it does not exist."""
    store, name = opened(path)
    try:
        with store.open_input_stream(name, compression=None) as file:
            return bytes(file.read())
    except FileNotFoundError:
        return None
    except FAILURES as failure:
        raise FormatError(path, 0, "unreadable", f"cannot be read: {why(failure)}") from failure


@final
class Hashing:
    """A file for writing that counts its bytes and computes their SHA-256."""

    def __init__(self, file: Any) -> None:  # noqa: ANN401 - a file of Python's or of PyArrow's
        self._file = file
        self._hash = hashlib.sha256()
        self.size = 0
        self.closed = False

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer of bytes
        """Write bytes; return their number."""
        block = bytes(data)
        self._hash.update(block)
        self.size += len(block)
        if not self._file.closed:  # after a failure, PyArrow may still write its buffers
            self._file.write(block)
        return len(block)

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self.size

    def flush(self) -> None:
        """Do nothing: nobody reads the file before it is complete."""

    def close(self) -> None:
        """Do nothing: the function that opened the file closes it."""

    def readable(self) -> bool:
        """Return False: the file is only written."""
        return False

    def writable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return False: bytes are written in order."""
        return False

    @property
    def sha256(self) -> str:
        """The SHA-256 of the bytes written."""
        return self._hash.hexdigest()


@contextlib.contextmanager
def creating(path: str) -> Iterator[Hashing]:
    """Open a file for writing that appears at `path` only when the `with` block ends without an exception.

    Local files are synced to disk. In an object store such as S3, an object appears when it is closed; after a failure
    an incomplete object may stay until it is written again. Raise a `FormatError` if the file cannot be written.
    """
    store, name = opened(path)
    try:
        with _creating_here(name) if isinstance(store, fs.LocalFileSystem) else _creating_there(store, name) as file:
            yield Hashing(file)
    except FAILURES as failure:
        raise FormatError(path, 0, "unwritable", f"cannot be written: {why(failure)}") from failure


@contextlib.contextmanager
def _creating_here(name: str) -> Iterator[IO[bytes]]:
    """Open a local file for writing, in a folder that is created if needed; it appears when the block ends well."""
    files.make_folder(posixpath.dirname(name))
    with files.replacing(Path(name)) as file:
        yield file


@contextlib.contextmanager
def _creating_there(store: fs.FileSystem, name: str) -> Iterator[pa.NativeFile]:
    """Open a file for writing in another store; if the store can rename files (HDFS), first under a temporary name."""
    folder, last = posixpath.split(name)
    renames = isinstance(store, fs.HadoopFileSystem)
    target = f"{folder}/{files.aside_name(last, files.PART)}" if renames else name
    store.create_dir(folder, recursive=True)
    try:
        with store.open_output_stream(target, compression=None) as file:
            yield file
        if renames:
            store.move(target, name)
    finally:
        if renames:
            with contextlib.suppress(*FAILURES):  # it was renamed
                store.delete_file(target)


def write(path: str, data: bytes) -> None:
    """Write `data` to a file, which appears whole or not at all."""
    with creating(path) as file:
        file.write(data)


def below(path: str) -> dict[str, int]:
    """Return the files in a folder, as a dictionary from names to sizes; empty if the folder does not exist."""
    store, name = opened(path)
    infos = store.get_file_info(fs.FileSelector(name, allow_not_found=True))
    return {info.base_name: int(info.size) for info in infos if info.type == fs.FileType.File}


def tidy(path: str) -> None:
    """Remove temporary files that killed processes left in a folder; no other process may write there meanwhile."""
    store, name = opened(path)
    if isinstance(store, fs.LocalFileSystem):
        files.tidy(name)
        return
    for file in below(path):
        if files.ASIDE.fullmatch(file):
            store.delete_file(f"{name}/{file}")


def clear(path: str) -> None:
    """Remove a folder and its contents, if it exists."""
    store, name = opened(path)
    if store.get_file_info(name).type == fs.FileType.Directory:
        store.delete_dir(name)
