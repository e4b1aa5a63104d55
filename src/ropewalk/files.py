"""Files and streams of bytes: `-`, compression by extension, and files and folders that appear whole or not at all.

What is written lies beside its target under a name of its own, `.NAME.ropewalk-HEX.part`, is synced to disk, and then
takes the target's name in one step; last, the folder that holds the name is synced. So after a power cut, as after
`kill -9`, a name stands for all of the old content or all of the new. A process holds a lock on its parts as long as it
lives; `tidy` removes those that nobody holds. The environment variable `ROPEWALK_NO_SYNC` turns syncing off.
"""

from __future__ import annotations

import contextlib
import errno
import lzma
import os
import re
import shutil
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

READ_FAILURES = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
LONGEST = 1 << 24  # bytes of a sentence: some hundred thousand words
MOST_LINKS = 40  # as many as Linux follows
NO_SYNC = "ROPEWALK_NO_SYNC"  # the environment variable that turns syncing off
PART, OLD = "part", "old"  # what is being written, and a folder that is about to be replaced
ASIDE = re.compile(rf"\.(?P<name>.+)\.ropewalk-[0-9a-f]{{8}}\.(?P<end>{PART}|{OLD})", re.DOTALL)
TRIES = 10  # to make a part that no other process takes for abandoned before it is locked
LONGEST_STEM = 200  # bytes of a target's name in that of its part, of the 255 that a name may have
UNSYNCABLE = {errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF}  # from file systems that cannot sync folders
HERE = -100  # AT_FDCWD: paths count from the current folder
EXCHANGE = 2  # RENAME_EXCHANGE


def path_text(path: object) -> str:
    """Return a path as text; raise if it is none."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if isinstance(text, str):
        return text
    raise FormatError("<path>", 0, "no-path", f"found {type(path).__name__}; expected the path of a file, as text")


def shown(path: str | os.PathLike[str], *, writing: bool = False) -> str:
    """Name a path in messages."""
    name = path_text(path)
    if name == "-":
        return "<stdout>" if writing else "<stdin>"
    return name


def why(failure: Exception) -> str:
    """Say what the operating system or a decompressor complained of, without its numbers."""
    text = failure.strerror if isinstance(failure, OSError) and failure.strerror else str(failure)
    return text or type(failure).__name__


@contextlib.contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file to be read once from start to end; what cannot be read is a `FormatError`.

    The block should do nothing but read: any failure of the system in it counts as one of reading.
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
            with lzma.open(name, "rb") as file:
                yield cast("IO[bytes]", file)
        else:
            with Path(name).open("rb") as file:
                yield file
    except READ_FAILURES as failure:
        raise FormatError(
            shown(path),
            0,
            "unreadable",
            f"cannot be read: {why(failure)}; expected a readable file, compressed if it ends in .gz or .xz, "
            "or - for standard input",
        ) from failure


def blocks(path: str | os.PathLike[str], size: int) -> Iterator[bytes]:
    """Read a file block by block."""
    with reading(path) as file:
        while block := file.read(size):
            yield block


def bounded(blocks: Iterable[bytes], file: str, longest: int = LONGEST) -> Iterator[bytes]:
    """Pass on blocks of a file of sentences with empty lines between; stop before one of too many bytes is held.

    What a file is compressed to says nothing of its size, and whoever reads holds a sentence as a whole.
    """
    line = begun = 1  # that the block begins in, and the sentence that goes on in it
    size = 0  # of the sentence so far
    ended = b""  # how the block before ended
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
                f"the sentence that begins here has more than {longest:,} bytes, the most that is read; expected an "
                "empty line after each sentence",
            )
        line += block.count(b"\n")
        ended = whole[-2:]
        yield block


@contextlib.contextmanager
def _compressing(name: str, file: IO[bytes]) -> Iterator[IO[bytes]]:
    if name.endswith(".gz"):
        import gzip

        with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:  # no name and no time: equal in, equal out
            yield cast("IO[bytes]", packed)
    elif name.endswith(".xz"):
        with lzma.open(file, "wb") as packed:
            yield cast("IO[bytes]", packed)
    else:
        yield file


@contextlib.contextmanager
def creating(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Write a file that takes its name only when the block ends without an exception.

    Devices, pipes and what the shell opened, such as `/dev/stdout` or `>(…)`, cannot be renamed and are written as they
    are. A file that nobody may write is left alone. A reader that closed the pipe early shows as Python's
    `BrokenPipeError`.
    """
    name = path_text(path)
    try:
        target = Path(os.path.realpath(name))
    except ValueError as failure:  # it can be no name
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


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """Write a regular file as it is, whole or not at all; failures are `OSError`s."""
    if target.exists() and not _is_writable(target):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    _tidy_once(str(target.parent))
    with _part_of(target, partial(Path.touch, exist_ok=False)) as part:
        with part.open("wb") as file:
            yield file
            if target.is_file():
                shutil.copymode(target, part)
            file.flush()
            if _syncs(target):
                os.fsync(file.fileno())
        part.replace(target)
        if _syncs(target):
            _sync(target.parent)


@contextlib.contextmanager
def _part_of(target: Path, make: Callable[[Path], object]) -> Iterator[Path]:
    """Make a part of a target and hold a lock on it; remove what has its name when the block ends."""
    part, lock = _begun(target, make)
    try:
        yield part
    finally:
        _discard(part)
        if lock is not None:
            os.close(lock)


def _begun(target: Path, make: Callable[[Path], object]) -> tuple[Path, int | None]:
    """Make a part of a target; return it with the descriptor of its lock, or None where there are no locks."""
    for _ in range(TRIES):
        part = target.with_name(aside_name(target.name, PART))
        make(part)
        try:
            return part, _lock(part)
        except (BlockingIOError, FileNotFoundError):  # another process took it for abandoned
            continue
        except OSError:  # nobody tidies up where there are no locks
            return part, None
    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def aside_name(name: str, end: str) -> str:
    """Return a new name for what is to have this name (`PART`), or had it (`OLD`)."""
    stem = os.fsencode(name)[:LONGEST_STEM].decode("utf-8", "ignore") if end == PART else name
    return f".{stem}.ropewalk-{os.urandom(4).hex()}.{end}"


def _lock(path: Path) -> int:
    """Lock a file or folder, and return the descriptor that holds the lock until it is closed, or its process ends.

    Raises `BlockingIOError` if another process holds it, and another `OSError` if it is gone or cannot be locked.
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
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def tidy(folder: str | os.PathLike[str]) -> None:
    """Remove the parts that killed processes left in a folder, and put back a folder that one of them had set aside.

    The parts of living processes are locked and stay; where files cannot be locked, all parts stay.
    """
    found: list[tuple[Path, re.Match[str]]] = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:  # it may not be there
        for entry in entries:
            match = ASIDE.fullmatch(entry.name)
            if match and (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
                found.append((Path(entry), match))
    for path, match in found:
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
    """Tidy a folder the first time that this process writes there: a folder may hold very many files."""
    tidy(folder)


def _syncs(path: Path) -> bool:
    """Return whether what is written is synced at once: not in a part, which is synced as a whole when it is done."""
    return not os.environ.get(NO_SYNC) and not any(map(ASIDE.fullmatch, path.parts))


def _sync(path: Path) -> None:
    """Sync a file, or the names in a folder, to disk, where the system can."""
    windows = os.name == "nt"
    if windows and path.is_dir():
        return
    with contextlib.suppress(PermissionError):  # what may be written but not read
        number = os.open(path, os.O_RDWR if windows else os.O_RDONLY)
        try:
            os.fsync(number)
        except OSError as failure:
            if failure.errno not in UNSYNCABLE:
                raise
        finally:
            os.close(number)


def _sync_tree(home: Path) -> None:
    """Sync all files and folders below a folder, and last the folder, to disk."""
    for folder, _, names in os.walk(home, topdown=False):
        for file in (Path(folder, name) for name in names):
            if file.is_file() and not file.is_symlink():
                _sync(file)
        _sync(Path(folder))


def _unwritable(path: str | os.PathLike[str], failure: Exception) -> FormatError:
    message = f"cannot be written: {why(failure)}; expected a place that can be written"
    return FormatError(shown(path, writing=True), 0, "unwritable", message)


def _descriptor(name: str) -> int | None:
    """Give the number of the open file that a path such as `/dev/stdout` or `/dev/fd/63` stands for."""
    for _ in range(MOST_LINKS):
        folder, last = os.path.split(name)
        if last.isdecimal() and os.path.realpath(folder) in {f"/proc/{os.getpid()}/fd", "/dev/fd"}:
            return int(last)
        if not Path(name).is_symlink():
            return None
        name = str(Path(folder, Path(name).readlink()))
    return None


def _is_writable(path: Path) -> bool:
    """Tell whether a file may be written; one that is read-only for everybody is so for root too."""
    return os.access(path, os.W_OK) and bool(path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))


def is_replaced(source: str | os.PathLike[str], output: str | os.PathLike[str]) -> bool:
    """Return whether writing the output would change the very file that is read; `-` are the standard streams."""
    return _are_one((source, 0), (output, 1))


def are_same_output(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> bool:
    """Return whether two outputs would be written to one file, which may not be there yet; `-` is standard output."""
    if "-" not in {os.fspath(first), os.fspath(second)} and os.path.realpath(first) == os.path.realpath(second):
        return True
    return _are_one((first, 1), (second, 1))


def _are_one(*named: tuple[str | os.PathLike[str], int]) -> bool:
    """Return whether two paths lead to one file that is there; `-` is the open file of the given number."""
    try:
        first, second = (os.fstat(number) if os.fspath(path) == "-" else Path(path).stat() for path, number in named)
    except (OSError, ValueError):  # it is not there, or can be no name
        return False
    return stat.S_ISREG(first.st_mode) and os.path.samestat(first, second)


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Make a folder, and those above it, unless it is there."""
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
    message = f"no folder can be made here: {why(failure)}; choose another place"
    return FormatError(os.fspath(path), 0, "unwritable", message)


@contextlib.contextmanager
def creating_folder(path: str | os.PathLike[str], *, keep: bool = False) -> Iterator[Path]:
    """Fill a folder that takes its name, and the place of what has it now, only when the block ends well.

    Where the system can exchange two names in one step (Linux), the name stands for the old folder or the new one at
    any moment; elsewhere the old one is set aside for a moment, and a process that is killed then leaves it to `tidy`,
    which puts it back. With `keep` the new folder begins with what the old one holds; if that is a mount point, which
    cannot be renamed, or the current folder, which others would go on to see, its files are replaced one by one.
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
    """Link or copy a file into another folder. Existing files are never written to."""
    try:
        os.link(source, target)
    except OSError:  # the file system has no links
        shutil.copy2(source, target)


def _take_place(part: Path, target: Path) -> None:
    """Rename a folder to its target; what had that name until then gets the part's."""
    if not target.exists():
        part.replace(target)
    elif not _exchanged(part, target):
        old = target.with_name(aside_name(target.name, OLD))
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):  # without locks, `tidy` may put it back too soon, and this fails
                stack.callback(os.close, _lock(target))
            try:
                target.replace(old)
                part.replace(target)
            except BaseException:
                if old.exists() and not target.exists():
                    old.replace(target)
                raise
            old.replace(part)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange the names of two folders in one step; return whether the system did."""
    import ctypes

    with contextlib.suppress(AttributeError, OSError, TypeError):  # no Linux, or a C library without the call
        rename = ctypes.CDLL(None).renameat2
        return bool(rename(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0)
    return False


def scratch() -> IO[bytes]:
    """Open a new file to write and read, which has no name and is gone when it is closed."""
    import tempfile

    return tempfile.TemporaryFile()


def remove(path: str | os.PathLike[str]) -> None:
    """Remove a file if it is there."""
    Path(path).unlink(missing_ok=True)
