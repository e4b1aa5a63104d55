"""Readers and writers at the edge: one module for each format, for the library and the command line alike.

An output format has a name. `OWN` lists ours; the module of that name holds it as `FORMAT`. Another package adds one
through the entry point group `ropewalk.formats`: the entry's name is the format's, its object an `OutputFormat`.
`ropewalk parse`, the server and `Document.to` take all of them from here; docs/own-format.md is a worked example.
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

OWN = ("conllu", "json", "tree")


class Look(NamedTuple):
    """Context of a writer: whether the output begins here, and the width and colours of the terminal."""

    begins: bool = True
    width: int | None = None
    colour: bool = False


@final
@dataclass(frozen=True, slots=True)
class OutputFormat:
    """A format that documents are written in.

    `sentences` writes each sentence of a document, so that output of any length is written piece by piece.
    `extensions` maps names that files end with to how the sentences become such a file: `iter` writes one after the
    other. `merge` comes before that where sentences of several inputs become one file. `document` writes a whole
    document, if that is more than its sentences. Formats without a `media_type` are not served.
    """

    sentences: Callable[[Document, Look], Iterable[bytes]]
    extensions: Mapping[str, Join] = field(default_factory=dict)
    media_type: str | None = "text/plain; charset=utf-8"
    merge: Join = iter
    document: Callable[[Document], bytes] | None = None
    tag_probabilities: bool = False  # whether it has a place for the probability of each tag

    def dumps(self, document: Document) -> bytes:
        """Write a document to memory."""
        if self.document is not None:
            return self.document(document)
        return b"".join(self.sentences(document, Look()))

    def file(self, sentences: Iterable[bytes], path: str, *, several: bool) -> Iterator[bytes]:
        """Make one file of sentences, which come from `several` inputs or one."""
        return self.extensions.get(_extension(path), iter)(self.merge(sentences) if several else sentences)


def _own(name: str) -> OutputFormat:
    found: OutputFormat = importlib.import_module(f"{__name__}.{name}").FORMAT
    return found


@cache
def known() -> dict[str, OutputFormat]:
    """Return all output formats by name, those of other packages included."""
    from ropewalk.core.plugins import plugins

    own = {name: _own(name) for name in OWN}
    return own | {name: one for name, one in plugins("ropewalk.formats", OutputFormat).items() if name not in own}


def get(name: str) -> OutputFormat:
    """Return an output format; other packages are searched only for names that are not ours."""
    if name in OWN:
        return _own(name)
    demand_known("format", name, known())
    return known()[name]


def named_by(path: str) -> str | None:
    """Return the name of the format that the extension of a file stands for, if any."""
    extension = _extension(path)
    own = (name for name in OWN if extension in _own(name).extensions)
    others = (name for name, one in known().items() if extension in one.extensions)
    return next(own, None) or next(others, None)


def _extension(path: str) -> str:
    return PurePath(path.lower().removesuffix(".gz").removesuffix(".xz")).suffix
