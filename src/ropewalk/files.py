"""Reading and atomic writing of files and folders.

The path `-` is standard input or output. Files that end in `.gz` or `.xz` are compressed.

New content is first written to a *part*: a file or folder beside the target, named `.NAME.ropewalk-HEX.part`. The part
is synced to disk and renamed to the target in one step; then the folder that contains it is synced. So after a power
cut or `kill -9` the target has all of the old content or all of the new. A running process holds locks on its parts;
`tidy` removes parts without a lock. The environment variable `ROPEWALK_NO_SYNC` turns syncing off.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
import zlib
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from ropewalk.errors import FormatError

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

LONGEST = 1 << 24  # bytes of a sentence: some hundred thousand words
MOST_LINKS = 40  # the most that Linux follows
NO_SYNC = "ROPEWALK_NO_SYNC"  # the environment variable that turns syncing off
PART, OLD = "part", "old"  # endings of a file or folder that is being written, and of a folder to be replaced
ASIDE = re.compile(rf"\.(?P<name>.+)\.ropewalk-[0-9a-f]{{8}}\.(?P<end>{PART}|{OLD})", re.DOTALL)
TRIES = 10  # to make a part that no other process removes as abandoned before it is locked
LONGEST_STEM = 200  # bytes of a target's name in that of its part, of the 255 that a name may have
UNSYNCABLE = {errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF}  # from file systems that cannot sync folders
HERE = -100  # AT_FDCWD: paths are relative to the current folder
EXCHANGE = 2  # RENAME_EXCHANGE


def path_text(path: object) -> str:
    """Return `path` as text; raise a `FormatError` if it is not a path of text (`str` or `os.PathLike`)."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if isinstance(text, str):
        return text
    raise FormatError("<path>", 0, "no-path", f"found {type(path).__name__}; expected the path of a file, as text")


def shown(path: str | os.PathLike[str], *, writing: bool = False) -> str:
    """Return a path as messages show it: `-` is `<stdin>`, or `<stdout>` if `writing`."""
    name = path_text(path)
    if name == "-":
        return "<stdout>" if writing else "<stdin>"
    return name


def why(failure: Exception) -> str:
    """Return the message of an exception from the operating system or a decompressor, without its error number."""
    text = failure.strerror if isinstance(failure, OSError) and failure.strerror else str(failure)
    return text or type(failure).__name__


def _read_failures(name: str) -> tuple[type[Exception], ...]:
    """Return the exceptions that reading the file `name` may raise."""
    if name.endswith(".xz"):
        import lzma

        return OSError, EOFError, ValueError, lzma.LZMAError
    return OSError, EOFError, ValueError, zlib.error


@contextlib.contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for one pass from start to end, decompressed; raise a `FormatError` if it cannot be read.

    The `with` block should only read: any `OSError` or `ValueError` in it is reported as an error of reading.
    """
    name = path_text(path)
    try:
        if name == "-":
            yield sys.stdin.buffer
        elif name.endswith(".gz"):
            import gzip

            with gzip.open(name, "rb") as file:
                yield cast("IO[bytes]", file)
        elif name.endswith(".xz"):
            import lzma

            with lzma.open(name, "rb") as file:
                yield cast("IO[bytes]", file)
        else:
            with Path(name).open("rb") as file:
                yield file
    except _read_failures(name) as failure:
        raise FormatError(
            shown(path),
            0,
            "unreadable",
            f"cannot be read: {why(failure)}; expected a readable file, compressed if it ends in .gz or .xz, "
            "or - for standard input",
        ) from failure


def blocks(path: str | os.PathLike[str], size: int) -> Iterator[bytes]:
    """Yield the decompressed content of a file in blocks of up to `size` bytes."""
    with reading(path) as file:
        while block := file.read(size):
            yield block


def bounded(blocks: Iterable[bytes], file: str, longest: int = LONGEST) -> Iterator[bytes]:
    """Yield `blocks` unchanged; raise a `FormatError` if a sentence in them has more than `longest` bytes.

    Empty lines separate sentences. The limit protects readers, which keep whole sentences in memory: a small compressed
    file may hold a huge sentence. `file` is the name for the message.
    """
    line = begun = 1  # the lines in which the block and the current sentence begin
    size = 0  # of the sentence so far
    ended = b""  # the last bytes of the block before
    for block in blocks:
        whole = ended + block
        cut = max(whole.rfind(b"\n\n") + 2, whole.rfind(b"\n\r\n") + 3 if b"\r" in whole else 0)
        if cut > 2:
            begun = line + whole.count(b"\n", len(ended), cut)
            size = len(whole) - cut
        else:
            size += len(block)
        if size > longest:
            raise FormatError(
                file,
                begun,
                "too-long",
                f"the sentence that begins here has more than {longest:,} bytes; expected an empty line after each "
                "sentence, and shorter ones",
            )
        line += block.count(b"\n")
        ended = whole[-2:]
        yield block


@contextlib.contextmanager
def _compressing(name: str, file: IO[bytes]) -> Iterator[IO[bytes]]:
    if name.endswith(".gz"):
        import gzip

        with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:  # without name and time: same input, same output
            yield cast("IO[bytes]", packed)
    elif name.endswith(".xz"):
        import lzma

        with lzma.open(file, "wb") as packed:
            yield cast("IO[bytes]", packed)
    else:
        yield file


@contextlib.contextmanager
def creating(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears at `path` only when the `with` block ends without an exception.

    Devices, pipes and files that the shell opened, such as `/dev/stdout` or `>(…)`, cannot be renamed and are written
    directly. Raise a `FormatError` if the file cannot be written or an existing one is read-only. Raise
    `BrokenPipeError` if the reader of a pipe closes it early.
    """
    name = path_text(path)
    try:
        target = Path(os.path.realpath(name))
    except ValueError as failure:  # it is no valid name
        raise _unwritable(path, failure) from failure
    try:
        if name == "-":
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        elif (number := _descriptor(name)) is not None:
            with os.fdopen(os.dup(number), "wb") as file, _compressing(name, file) as packed:
                yield packed
        elif target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        elif target.exists() and not target.is_file():
            with target.open("wb") as file, _compressing(name, file) as packed:
                yield packed
        else:
            with replacing(target) as regular, _compressing(name, regular) as packed:
                yield packed
    except BrokenPipeError:
        raise
    except OSError as failure:
        raise _unwritable(path, failure) from failure


def append_line(path: str | os.PathLike[str], line: bytes) -> None:
    """Append `line` and a line break to a file in one write, and sync it. Several processes may append to one file.

    A process that is killed may leave an incomplete line at the end. A line break is then written before `line`.
    """
    target = Path(path_text(path))
    try:
        with target.open("a+b", buffering=0) as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                line = line if file.read(1) == b"\n" else b"\n" + line
            file.write(line + b"\n")
            if _syncs(target):
                os.fsync(file.fileno())
    except OSError as failure:
        raise _unwritable(path, failure) from failure


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """Open a regular file for writing, uncompressed; `target` is replaced only when the `with` block ends well.

    Failures raise `OSError`.
    """
    if target.exists() and not _is_writable(target):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    _tidy_once(str(target.parent))
    with _part_of(target, partial(Path.touch, exist_ok=False)) as part:
        with part.open("wb") as file:
            yield file
            if target.is_file():
                import shutil

                shutil.copymode(target, part)
            file.flush()
            if _syncs(target):
                os.fsync(file.fileno())
        part.replace(target)
        if _syncs(target):
            _sync(target.parent)


@contextlib.contextmanager
def _part_of(target: Path, make: Callable[[Path], object]) -> Iterator[Path]:
    """Create a part, the temporary file or folder beside `target`, with `make(path)`; lock it and yield its path.

    When the `with` block ends, the part is removed if it was not renamed.
    """
    for _ in range(TRIES):
        part = target.with_name(aside_name(target.name, PART))
        lock = None
        try:  # before the part exists, because a signal may raise an exception anywhere
            make(part)
            try:
                lock = _lock(part)
            except (BlockingIOError, FileNotFoundError):  # another process removed it as abandoned
                continue
            except OSError:  # without locks, no process removes parts
                pass
            yield part
            return
        finally:
            _discard(part)
            if lock is not None:
                os.close(lock)
    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def aside_name(name: str, end: str) -> str:
    """Return a temporary name for new content of the file `name` (`end` is `PART`), or for its old content (`OLD`)."""
    stem = os.fsencode(name)[:LONGEST_STEM].decode("utf-8", "ignore") if end == PART else name
    return f".{stem}.ropewalk-{os.urandom(4).hex()}.{end}"


def _lock(path: Path) -> int:
    """Lock a file or folder; return a file descriptor. Closing the descriptor, or the end of the process, unlocks it.

    Raise `BlockingIOError` if another process holds the lock. Raise another `OSError` if the file does not exist or
    cannot be locked.
    """
    if fcntl is None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
    number = os.open(path, os.O_NOFOLLOW | (os.O_RDONLY if path.is_dir() else os.O_RDWR))  # NFS locks what is written
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.lstat()  # it may have been removed before it was locked
    except OSError:
        os.close(number)
        raise
    return number


def _discard(path: Path) -> None:
    """Remove a file or a folder, if it exists."""
    if path.is_dir() and not path.is_symlink():
        import shutil

        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def tidy(folder: str | os.PathLike[str]) -> None:
    """Remove the parts (temporary files and folders) that killed processes left in `folder`.

    A folder that such a process had renamed, in order to replace it, gets its name back. The parts of running processes
    are locked and stay. On file systems without locks, all parts stay.
    """
    aside: list[tuple[Path, re.Match[str]]] = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:  # it may not exist
        for entry in entries:
            match = ASIDE.fullmatch(entry.name)
            if match and (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
                aside.append((Path(entry), match))
    for path, match in aside:
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            can_lock = True
            try:
                stack.callback(os.close, _lock(path))
            except BlockingIOError:
                continue
            except OSError:
                can_lock = False
            target = path.with_name(match["name"])
            if match["end"] == OLD and not target.exists():
                path.replace(target)
            elif can_lock:
                _discard(path)


@lru_cache(maxsize=1024)
def _tidy_once(folder: str) -> None:
    """Call `tidy` for a folder once in this process, because listing a folder with very many files is slow."""
    tidy(folder)


def _syncs(path: Path) -> bool:
    """Return whether a file at `path` must be synced when it is written.

    False if syncing is turned off, or if the file is inside a part, which is synced as a whole when it is complete.
    """
    return not os.environ.get(NO_SYNC) and not any(map(ASIDE.fullmatch, path.parts))


def _sync(path: Path) -> None:
    """Sync a file, or the list of names in a folder, to disk, if the system supports it."""
    windows = os.name == "nt"
    if windows and path.is_dir():
        return
    with contextlib.suppress(PermissionError):  # a file that may be written but not read
        number = os.open(path, os.O_RDWR if windows else os.O_RDONLY)
        try:
            os.fsync(number)
        except OSError as failure:
            if failure.errno not in UNSYNCABLE:
                raise
        finally:
            os.close(number)


def _sync_tree(home: Path) -> None:
    """Sync all files and folders below the folder `home` to disk, and then `home`."""
    for folder, _, names in os.walk(home, topdown=False):
        for file in (Path(folder, name) for name in names):
            if file.is_file() and not file.is_symlink():
                _sync(file)
        _sync(Path(folder))


def _unwritable(path: str | os.PathLike[str], failure: Exception) -> FormatError:
    message = f"cannot be written: {why(failure)}; choose a path that can be written"
    return FormatError(shown(path, writing=True), 0, "unwritable", message)


def _descriptor(name: str) -> int | None:
    """Return the descriptor of a path such as `/dev/stdout` or `/dev/fd/63`, or None for other paths."""
    for _ in range(MOST_LINKS):
        folder, last = os.path.split(name)
        if last.isdecimal() and os.path.realpath(folder) in {f"/proc/{os.getpid()}/fd", "/dev/fd"}:
            return int(last)
        if not Path(name).is_symlink():
            return None
        name = str(Path(folder, Path(name).readlink()))
    return None


def _is_writable(path: Path) -> bool:
    """Return whether a file may be written. A file without any write permission is not writable even for root."""
    return os.access(path, os.W_OK) and bool(path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))


def is_replaced(source: str | os.PathLike[str], output: str | os.PathLike[str]) -> bool:
    """Return whether `source` and `output` are the same existing file, so that writing would change the input.

    `-` is standard input for `source`, and standard output for `output`.
    """
    return _are_one((source, 0), (output, 1))


def are_same_output(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> bool:
    """Return whether two output paths are the same file, which may not exist yet; `-` is standard output."""
    if "-" not in {os.fspath(first), os.fspath(second)} and os.path.realpath(first) == os.path.realpath(second):
        return True
    return _are_one((first, 1), (second, 1))


def _are_one(*named: tuple[str | os.PathLike[str], int]) -> bool:
    """Return whether two paths are the same existing regular file.

    Each path comes with a file descriptor, which is used if the path is `-`.
    """
    try:
        first, second = (os.fstat(number) if os.fspath(path) == "-" else Path(path).stat() for path, number in named)
    except (OSError, ValueError):  # it does not exist, or is no valid name
        return False
    return stat.S_ISREG(first.st_mode) and os.path.samestat(first, second)


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Create a folder and its parent folders unless they exist; return its path."""
    home = Path(path)
    try:
        missing = [folder for folder in (home, *home.parents) if not folder.exists()]
        home.mkdir(parents=True, exist_ok=True)
        for folder in missing if _syncs(home.absolute()) else ():
            _sync(folder.parent)
    except OSError as failure:
        raise _no_folder(path, failure) from failure
    return home


def _no_folder(path: str | os.PathLike[str], failure: OSError) -> FormatError:
    message = f"no folder can be made here: {why(failure)}; choose another path"
    return FormatError(os.fspath(path), 0, "unwritable", message)


@contextlib.contextmanager
def creating_folder(path: str | os.PathLike[str], *, keep: bool = False) -> Iterator[Path]:
    """Yield a temporary folder to fill; it becomes the folder `path` only when the `with` block ends well.

    A folder that exists at `path` is replaced. On Linux the two folders exchange their names in one step. Elsewhere the
    old folder is renamed for a moment; if the process is killed at that moment, `tidy` restores it.

    With `keep`, the new folder begins with the content of the old one. With `keep`, the old folder itself is yielded,
    and its files are replaced one by one, if it is a mount point or contains the current folder of this process:
    a mount point cannot be renamed, and a process would stay in the old folder.
    """
    target = Path(os.path.realpath(path))
    try:
        if keep and target.is_dir() and (target.is_mount() or Path.cwd().is_relative_to(target)):
            yield target
            return
        make_folder(target.parent)
        tidy(target.parent)
        with _part_of(target, Path.mkdir) as part:
            if keep and target.is_dir():
                import shutil

                shutil.copytree(target, part, symlinks=True, copy_function=_link, dirs_exist_ok=True)
            yield part
            if _syncs(target):
                _sync_tree(part)
            _take_place(part, target)
            if _syncs(target):
                _sync(target.parent)
    except OSError as failure:
        raise _no_folder(path, failure) from failure


def _link(source: str, target: str) -> None:
    """Create `target` as a hard link to `source`, or as a copy where links are not possible.

    A link is safe because files are only replaced, never written in place.
    """
    try:
        os.link(source, target)
    except OSError:  # the file system has no hard links
        import shutil

        shutil.copy2(source, target)


def _take_place(part: Path, target: Path) -> None:
    """Rename the folder `part` to `target`; a folder that was at `target` gets the name of `part`."""
    if not target.exists():
        part.replace(target)
    elif not _exchanged(part, target):
        old = target.with_name(aside_name(target.name, OLD))
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):  # without locks, `tidy` may restore it too soon, and this fails
                stack.callback(os.close, _lock(target))
            try:
                target.replace(old)
                part.replace(target)
            except BaseException:
                if old.exists() and not target.exists():
                    old.replace(target)
                raise
            old.replace(part)


def _exchanged(first: Path, second: Path) -> bool:
    """Exchange the names of two folders in one step; return False if the system cannot."""
    import ctypes

    with contextlib.suppress(AttributeError, OSError, TypeError):  # not Linux, or a C library without this call
        rename = ctypes.CDLL(None).renameat2
        return bool(rename(HERE, os.fsencode(first), HERE, os.fsencode(second), EXCHANGE) == 0)
    return False


def scratch() -> IO[bytes]:
    """Open an unnamed temporary file for writing and reading; it is removed when it is closed."""
    import tempfile

    return tempfile.TemporaryFile()


def remove(path: str | os.PathLike[str]) -> None:
    """Remove a file if it exists."""
    Path(path).unlink(missing_ok=True)
