"""The options of a corpus run, and the descriptions of its parts that workers receive."""

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
    """The options that determine the output of a run, besides the model and the input.

    `text` and `id` name the columns of a document's text and id, and `keep` the columns to copy. `rows` is whether a
    row of the output is a document or a sentence. `output` is the file format. Documents of more than `longest`
    characters are set aside as errors. `shard` is the size of the input of one output file, in megabytes.
    """

    text: str = "text"
    id: str | None = None  # a column that every document must have; by default `id` if it exists
    keep: tuple[str, ...] = ()
    lines: bool = False  # whether each line of plain text is a document
    rows: Rows = "document"
    output: str = "parquet"
    parsing: ParserOptions = ParserOptions()
    longest: int = LONGEST
    shard: float = SHARD

    def __post_init__(self) -> None:
        demand_columns_for(self.parsing)

    def to_json(self) -> dict[str, Any]:
        """Return the options, those of parsing included, as one flat dictionary of JSON values for the manifest."""
        own = asdict(self)
        parsing = own.pop("parsing")
        return {name: list(value) if isinstance(value, tuple) else value for name, value in (own | parsing).items()}


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run that do not change its output.

    `address` is the address of a Ray cluster. Without it, `workers` processes on this machine are used, by default one
    for each core. The run stops after more than `max_errors` errors. With `verify`, the hashes of shards that are done
    already are checked.
    """

    address: str | None = None
    workers: int | None = None
    max_errors: int | None = None
    verify: bool = False


def demand_columns_for(options: ParserOptions) -> None:
    """Raise an `OptionError` if `options` ask for tag probabilities, which corpus output has no column for."""
    if options.tag_confidence:
        raise OptionError(
            "tables of documents have no column for tag_confidence; use it with ropewalk parse --format json"
        )


@dataclass(frozen=True, slots=True)
class Slice:
    """Consecutive documents of a file: those from position `start` to `end`.

    Positions are rows of Parquet, or bytes of the decompressed content of other files. `before` is the number of lines
    or rows of the file before `start`. `doubles` are the line or row numbers, from 1, of documents whose id an earlier
    document has. A relative `path` is relative to `folder`, by default the current folder of the process.
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
        """The path of the file joined to `folder`, for workers in other folders."""
        return self.path if "://" in self.path else os.path.join(self.folder, self.path)  # noqa: PTH118 - a text


@dataclass(frozen=True, slots=True)
class FilePart:
    """A part of the corpus: the input of one shard, which consists of slices of files."""

    name: str
    slices: tuple[Slice, ...]
    kept: str = ""  # the schema of the kept columns, if the files have one
