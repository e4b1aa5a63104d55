"""Files and streams of bytes: `-`, compression by extension, and files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import gzip
import lzma
import os
import shutil
import stat
import sys
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from ropewalk.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

READ_FAILURES = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
LONGEST = 1 << 24  # bytes of a sentence: some hundred thousand words
MOST_LINKS = 40  # as many as Linux follows


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
    part = target.with_name(f".{target.name}.{os.urandom(4).hex()}.part")
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
            if target.exists() and not _is_writable(target):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            with part.open("xb") as file, _compressing(name, file) as packed:
                yield packed
            if target.is_file():
                shutil.copymode(target, part)
            part.replace(target)
    except BrokenPipeError:
        raise
    except OSError as failure:
        raise _unwritable(path, failure) from failure
    finally:
        with contextlib.suppress(OSError):  # it was renamed, or never came to be
            part.unlink()


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
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise FormatError(
            os.fspath(path), 0, "unwritable", f"no folder can be made here: {why(failure)}; choose another place"
        ) from failure
    return Path(path)


@contextlib.contextmanager
def creating_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Fill a folder that takes its name, and the place of what has it now, only when the block ends well."""
    target = Path(os.path.realpath(path))
    mark = os.urandom(4).hex()
    part, old = (target.with_name(f".{target.name}.{mark}.{end}") for end in ("part", "old"))
    try:
        make_folder(part)
        yield part
        if target.exists():
            target.replace(old)
        part.replace(target)
    except OSError as failure:
        raise FormatError(
            os.fspath(path), 0, "unwritable", f"no folder can be made here: {why(failure)}; choose another place"
        ) from failure
    finally:
        if old.exists() and not target.exists():  # something came between
            old.replace(target)
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def remove(path: str | os.PathLike[str]) -> None:
    """Remove a file if it is there."""
    Path(path).unlink(missing_ok=True)
