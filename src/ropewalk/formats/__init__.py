"""Readers and writers: one module for each format, used by the library and the command line.

`OWN` lists the names of the output formats of this package; the module of the same name has the format as `FORMAT`.
Other packages add formats through entry points of the group `ropewalk.formats`: the name of the entry point is the name
of the format, and its object is an `OutputFormat`. `ropewalk parse`, the server and `Document.to` can write all
formats; docs/own-format.md has an example.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple, final

from ropewalk.errors import demand_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ropewalk.treebank.documents import Document

    Join = Callable[[Iterable[bytes]], Iterator[bytes]]

OWN = ("conllu", "json", "tree", "csv", "tsv", "parquet")


class Before(NamedTuple):
    """The output that was already written: its number of `sentences`, and the name of its last document.

    `document` is None unless the next sentences continue that document.
    """

    sentences: int = 0
    document: str | None = None


class Look(NamedTuple):
    """The context in which a format writes: the position in the output, and the properties of the terminal.

    `begins` is set if the output begins here, and `before` describes the output so far. `width` is the number of
    terminal cells in a line, and `colour` whether colours are used.
    """

    begins: bool = True
    width: int | None = None
    colour: bool = False
    before: Before = Before()


@final
@dataclass(frozen=True, slots=True)
class OutputFormat:
    """A format in which documents are written.

    `sentences` returns the sentences of a document as pieces of bytes, so that long output is written piece by piece.
    `extensions` maps file extensions to functions that turn these pieces into the content of a file; `iter` leaves them
    unchanged. `join` does the same for other file names, for standard output and for `dumps`. `merge` is applied to the
    pieces first if a file gets the sentences of several inputs.

    `document`, if set, writes a whole document, for formats in which a document is more than its sentences. The server
    offers only formats that have a `media_type`.
    """

    sentences: Callable[[Document, Look], Iterable[bytes]]
    extensions: Mapping[str, Join] = field(default_factory=dict)
    media_type: str | None = "text/plain; charset=utf-8"
    merge: Join = iter
    document: Callable[[Document], bytes] | None = None
    tag_probabilities: bool = False  # whether it can contain the probability of each tag
    join: Join = iter
    binary: bool = False  # whether its bytes are not text

    def dumps(self, document: Document) -> bytes:
        """Return a document in this format as bytes."""
        if self.document is not None:
            return self.document(document)
        return b"".join(self.join(self.sentences(document, Look())))

    def file(self, sentences: Iterable[bytes], path: str, *, several: bool) -> Iterator[bytes]:
        """Return the content of the file `path` in pieces.

        `sentences` are pieces that the format's function `sentences` returned. `several` must be set if they come from
        several inputs.
        """
        return self.extensions.get(_extension(path), self.join)(self.merge(sentences) if several else sentences)


def _own(name: str) -> OutputFormat:
    own: OutputFormat = importlib.import_module(f"{__name__}.{name}").FORMAT
    return own


@cache
def known() -> dict[str, OutputFormat]:
    """Return all output formats by name, including those of other packages."""
    from ropewalk.core.plugins import plugins

    own = {name: _own(name) for name in OWN}
    return own | {name: form for name, form in plugins("ropewalk.formats", OutputFormat).items() if name not in own}


def get(name: str) -> OutputFormat:
    """Return the output format `name`; other packages are searched only if it is not one of `OWN`."""
    if name in OWN:
        return _own(name)
    demand_known("format", name, known())
    return known()[name]


def named_by(path: str) -> str | None:
    """Return the name of the format that has the file extension of `path`, or None."""
    extension = _extension(path)
    own = (name for name in OWN if extension in _own(name).extensions)
    others = (name for name, form in known().items() if extension in form.extensions)
    return next(own, None) or next(others, None)


def _extension(path: str) -> str:
    return PurePath(path.lower().removesuffix(".gz").removesuffix(".xz")).suffix
