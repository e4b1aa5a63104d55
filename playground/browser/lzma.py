"""The names of Python's module `lzma` that Ropewalk uses: Pyodide leaves it out, and the page opens no such file."""

from __future__ import annotations

from typing import NoReturn


class LZMAError(Exception):
    """Error of a damaged file; it is never raised."""


def open(*_: object, **__: object) -> NoReturn:  # noqa: A001 - the name of what it stands for
    """Raise an `LZMAError`."""
    raise LZMAError("files that end in .xz cannot be read in a browser")
