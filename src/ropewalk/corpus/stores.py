"""Files in any store that PyArrow or fsspec opens, by path or URI; files that appear whole or not at all."""

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
    """A file: its path as the user would write it, its size in bytes, and when it was changed.

    `key` tells files apart, whatever their names: the device and inode of a local file, else the name in its store.
    """

    path: str
    size: int
    modified: int
    key: object


def why(failure: Exception) -> str:
    """Say in one line what a store complained of."""
    text = failure.strerror if isinstance(failure, OSError) and failure.strerror else str(failure)
    return (text or type(failure).__name__).splitlines()[0]


def compression(path: str) -> str | None:
    """Tell by its name how a file is packed."""
    return COMPRESSION.get(posixpath.splitext(path)[1].lower())


def ending(path: str) -> str:
    """Give the ending that tells what is in a file, whatever it is packed with."""
    name = path.lower()
    for packed in COMPRESSION:
        name = name.removesuffix(packed)
    return posixpath.splitext(name)[1]


def absolute(path: str) -> str:
    """Give a path that means the same to a process in another folder; a URI does as it is."""
    return path if "://" in path else os.path.abspath(path)  # noqa: PTH100 - a text, which names files of any store


def opened(path: str) -> tuple[fs.FileSystem, str]:
    """Find the store of a path or URI, and its name there."""
    if "://" not in path:
        return fs.LocalFileSystem(), absolute(path)
    try:
        found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        import fsspec

        try:
            store, name = fsspec.core.url_to_fs(path)
        except (ValueError, ImportError) as failure:
            message = f"{failure}; expected a path, or a URI that PyArrow or fsspec knows"
            raise FormatError(path, 0, "store", message) from failure
        if "file" in store.protocol:  # a local one
            return fs.LocalFileSystem(), name
        return fs.PyFileSystem(fs.FSSpecHandler(store)), name
    return found


def located(path: str) -> tuple[str, str]:
    """Name the kind of a path's store and the path in it; of a local one, links are followed."""
    store, name = opened(path)
    return str(store.type_name), os.path.realpath(name) if _is_local(store) else name


def _is_local(store: fs.FileSystem) -> bool:
    return isinstance(store, fs.LocalFileSystem)


def listed(path: str) -> list[Listed]:
    """List a file, or the files below a folder, in the order of their names; hidden ones are none.

    Symbolic links are followed. A local file is listed once, however many names it has below the folder.
    """
    store, name = opened(path)
    try:
        info = store.get_file_info(name)
        if info.type == fs.FileType.NotFound:
            raise FormatError(path, 0, "unreadable", "there is no such file or folder")
        if info.type == fs.FileType.File:
            return [_local(path, os.stat(name)) if _is_local(store) else _remote(path, info, store)]  # noqa: PTH116 - a text
        walk = _below_local if _is_local(store) else _below
        return sorted(walk(store, name, path.rstrip("/")), key=lambda one: one.path)
    except FAILURES as failure:
        raise FormatError(path, 0, "unreadable", f"cannot be read: {why(failure)}") from failure


def _below(store: fs.FileSystem, name: str, shown: str) -> Iterator[Listed]:
    """Yield the files below a folder of a store; `shown` is the folder as the user would write it."""
    for one in store.get_file_info(fs.FileSelector(name, recursive=True)):
        inside = posixpath.relpath(one.path, name)
        if one.type == fs.FileType.File and not any(map(_is_hidden, inside.split("/"))):
            yield _remote(f"{shown}/{inside}", one, store)


def _below_local(_: fs.FileSystem, name: str, shown: str) -> Iterator[Listed]:
    """Yield the files below a local folder, each once, by a name without links if it has one."""
    seen: set[object] = set()
    waiting = deque([(name, shown)])
    while waiting:
        place, path = waiting.popleft()
        try:
            found = os.stat(place)  # noqa: PTH116 - many times faster than a `Path`, of which there may be millions
        except OSError as failure:
            if failure.errno in {errno.ENOENT, errno.ELOOP}:  # a link that leads nowhere
                continue
            raise
        one = _local(path, found)
        if one.key in seen:
            continue
        seen.add(one.key)
        if stat.S_ISREG(found.st_mode):
            yield one
        elif stat.S_ISDIR(found.st_mode):
            with os.scandir(place) as entries:
                inside = sorted(
                    (entry for entry in entries if not _is_hidden(entry.name)), key=lambda entry: entry.name
                )
            direct, linked = (
                [(entry.path, f"{path}/{entry.name}") for entry in inside if entry.is_symlink() is by_link]
                for by_link in (False, True)
            )
            waiting.extendleft(reversed(direct))
            waiting.extend(linked)  # after all that has a name without links


def _is_hidden(step: str) -> bool:
    return step.startswith((".", "_"))


def _remote(path: str, info: fs.FileInfo, store: fs.FileSystem) -> Listed:
    return Listed(path, int(info.size), int(info.mtime_ns or 0), (store.type_name, info.path))


def _local(path: str, found: os.stat_result) -> Listed:
    return Listed(path, found.st_size, found.st_mtime_ns, (found.st_dev, found.st_ino))


def reading(path: str) -> pa.NativeFile:
    """Open a file to be read from its start, unpacked."""
    store, name = opened(path)
    return store.open_input_stream(name, compression=compression(path))


def random_access(path: str) -> pa.NativeFile:
    """Open a file to be read anywhere, as it is."""
    store, name = opened(path)
    return store.open_input_file(name)


def sha256(path: str) -> str:
    """Read a whole file, as it is, and give its hash."""
    found = hashlib.sha256()
    store, name = opened(path)
    with store.open_input_stream(name, compression=None) as file:
        while block := file.read(BLOCK):
            found.update(block)
    return found.hexdigest()


def read(path: str) -> bytes | None:
    """Read a small file; None if there is none."""
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
    """A file to write that knows its size and SHA-256."""

    def __init__(self, file: Any) -> None:  # noqa: ANN401 - a file of Python's or of PyArrow's
        self._file = file
        self._hash = hashlib.sha256()
        self.size = 0
        self.closed = False

    def write(self, data: Any) -> int:  # noqa: ANN401 - whatever has bytes
        """Write bytes."""
        block = bytes(data)
        self._hash.update(block)
        self.size += len(block)
        if not self._file.closed:  # after a failure, what others still hold is of no use
            self._file.write(block)
        return len(block)

    def tell(self) -> int:
        """Say how many bytes were written."""
        return self.size

    def flush(self) -> None:
        """Do nothing: the file appears when it is whole."""

    def close(self) -> None:
        """Do nothing: whoever opened the file closes it."""

    def readable(self) -> bool:
        """Nothing can be read."""
        return False

    def writable(self) -> bool:
        """It is for writing."""
        return True

    def seekable(self) -> bool:
        """What is written stays."""
        return False

    @property
    def sha256(self) -> str:
        """The hash of what was written."""
        return self._hash.hexdigest()


@contextlib.contextmanager
def creating(path: str) -> Iterator[Hashing]:
    """Write a file that takes its name only when the block ends without an exception.

    Files of this machine are synced, as `files.replacing` does it. Where the store is no file system, an object appears
    when it is closed, and half of one after a failure may stay until it is written again.
    """
    store, name = opened(path)
    try:
        with _creating_here(name) if isinstance(store, fs.LocalFileSystem) else _creating_there(store, name) as file:
            yield Hashing(file)
    except FAILURES as failure:
        raise FormatError(path, 0, "unwritable", f"cannot be written: {why(failure)}") from failure


@contextlib.contextmanager
def _creating_here(name: str) -> Iterator[IO[bytes]]:
    """Write a file of this machine."""
    files.make_folder(posixpath.dirname(name))
    with files.replacing(Path(name)) as file:
        yield file


@contextlib.contextmanager
def _creating_there(store: fs.FileSystem, name: str) -> Iterator[pa.NativeFile]:
    """Write a file of another machine: under another name first, where the store can rename it."""
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
    """Write a small file."""
    with creating(path) as file:
        file.write(data)


def below(path: str) -> dict[str, int]:
    """Give the names of the files in a folder and their sizes; nothing if there is no folder."""
    store, name = opened(path)
    found = store.get_file_info(fs.FileSelector(name, allow_not_found=True))
    return {one.base_name: int(one.size) for one in found if one.type == fs.FileType.File}


def tidy(path: str) -> None:
    """Remove what killed processes left unfinished in a folder where no other process writes."""
    store, name = opened(path)
    if isinstance(store, fs.LocalFileSystem):
        files.tidy(name)
        return
    for file in below(path):
        if files.ASIDE.fullmatch(file):
            store.delete_file(f"{name}/{file}")


def clear(path: str) -> None:
    """Remove a folder with all that is in it, if it is there."""
    store, name = opened(path)
    if store.get_file_info(name).type == fs.FileType.Directory:
        store.delete_dir(name)
