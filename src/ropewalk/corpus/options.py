"""What can be chosen for a corpus, and what a part of it is: values that go into the manifest and to every worker."""

from __future__ import annotations

import os.path
from dataclasses import asdict, dataclass
from typing import Any, Literal

Rows = Literal["document", "sentence"]

LONGEST = 1_000_000  # characters of a document
SHARD = 16.0  # megabytes of text that make a shard
LEAST_SHARD = 0.001


@dataclass(frozen=True, slots=True)
class Options:
    """What decides on the output, besides the model and the input."""

    text: str = "text"
    id: str | None = None  # a column that every document must have; by default `id` where there is one
    keep: tuple[str, ...] = ()
    lines: bool = False  # of plain text, each line is a document
    rows: Rows = "document"
    output: str = "parquet"
    confidence: bool = True
    decoder: str | None = None  # how scores become trees, and where words without a head go: by default as the model
    repair: str | None = None  # says
    graph_decoder: str | None = None  # likewise, which arcs a graph has
    columns: tuple[str, ...] | None = None  # what is predicted; by default all that the model can
    longest: int = LONGEST
    shard: float = SHARD

    @property
    def loading(self) -> dict[str, Any]:
        """What the parser is loaded with."""
        names = ("confidence", "decoder", "repair", "graph_decoder", "columns")
        return {name: getattr(self, name) for name in names}

    def to_json(self) -> dict[str, Any]:
        """Give what the manifest holds."""
        columns = None if self.columns is None else list(self.columns)
        return asdict(self) | {"keep": list(self.keep), "columns": columns}


@dataclass(frozen=True, slots=True)
class Slice:
    """Consecutive documents of one file: from `start` to `end` in bytes, unpacked, or in rows.

    `before` counts the lines or rows of the file before it. `doubles` are the lines or rows, from 1, of documents with
    an id that an earlier document has. A relative path counts from `folder`, by default that of the process.
    """

    path: str
    sha256: str
    start: int
    end: int
    before: int
    doubles: frozenset[int] = frozenset()
    folder: str = ""

    @property
    def place(self) -> str:
        """Where the file is, for a worker in any folder; documents are named by the path as it was given."""
        return self.path if "://" in self.path else os.path.join(self.folder, self.path)  # noqa: PTH118 - a text


@dataclass(frozen=True, slots=True)
class FilePart:
    """The work that makes one shard."""

    name: str
    slices: tuple[Slice, ...]
    kept: str = ""  # the schema of the kept columns, if the files tell it
