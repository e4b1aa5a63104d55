"""Files and streams of bytes: `-`, compression by extension, and files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import gzip
import lzma
import os
import secrets
import shutil
import sys
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from ropewalk.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

READ_FAILURES = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)


def shown(path: str | os.PathLike[str], *, writing: bool = False) -> str:
    """Name a path in messages."""
    if os.fspath(path) == "-":
        return "<stdout>" if writing else "<stdin>"
    return os.fspath(path)


def why(failure: Exception) -> str:
    """Say what the operating system or a decompressor complained of, without its numbers."""
    text = failure.strerror if isinstance(failure, OSError) and failure.strerror else str(failure)
    return text or type(failure).__name__


@contextlib.contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file to be read once from start to end; what cannot be read is a `FormatError`.

    The block should do nothing but read: any failure of the system in it counts as one of reading.
    """
    name = os.fspath(path)
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

    Devices and pipes cannot be renamed and are written as they are. A reader that closed the pipe early
    shows as Python's `BrokenPipeError`.
    """
    name = os.fspath(path)
    target = Path(os.path.realpath(name))
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        if name == "-":
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        elif target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        elif target.exists() and not target.is_file():
            with target.open("wb") as file, _compressing(name, file) as packed:
                yield packed
        else:
            with part.open("xb") as file, _compressing(name, file) as packed:
                yield packed
            if target.is_file():
                shutil.copymode(target, part)
            part.replace(target)
    except BrokenPipeError:
        raise
    except OSError as failure:
        raise FormatError(
            shown(path, writing=True),
            0,
            "unwritable",
            f"cannot be written: {why(failure)}; expected a path in a folder that can be written",
        ) from failure
    finally:
        with contextlib.suppress(OSError):  # it was renamed, or never came to be
            part.unlink()


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
    mark = secrets.token_hex(4)
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
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def remove(path: str | os.PathLike[str]) -> None:
    """Remove a file if it is there."""
    Path(path).unlink(missing_ok=True)
