"""What can be chosen for a corpus, and what a part of it is: values that go into the manifest and to every worker."""

from __future__ import annotations

import os.path
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ropewalk.errors import OptionError
from ropewalk.options import ParserOptions

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
    parsing: ParserOptions = ParserOptions()
    longest: int = LONGEST
    shard: float = SHARD

    def __post_init__(self) -> None:
        demand_columns_for(self.parsing)

    def to_json(self) -> dict[str, Any]:
        """Return what the manifest holds."""
        own = asdict(self)
        parsing = own.pop("parsing")
        return {name: list(value) if isinstance(value, tuple) else value for name, value in (own | parsing).items()}


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run that do not change its output.

    `address` is that of a Ray cluster; without one, `workers` processes of this machine are used, or one on each core.
    The run stops after more than `max_errors` errors. With `verify`, shards that are done are checked by their hashes.
    """

    address: str | None = None
    workers: int | None = None
    max_errors: int | None = None
    verify: bool = False


def demand_columns_for(options: ParserOptions) -> None:
    """Raise if the parser shall predict something that tables of documents have no column for."""
    if options.tag_confidence:
        raise OptionError("tag_confidence is for JSON of ropewalk parse; tables of documents have no column for it")


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
