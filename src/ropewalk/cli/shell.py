"""What the commands share: messages, tables, and the options that mean the same everywhere."""

import shutil
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ropewalk.tables import Table


class Format(StrEnum):
    """How a table is written; the names are those of `ropewalk.tables.FORMATS`."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    TSV = "tsv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    HTML = "html"


class OnError(StrEnum):
    """What to do with a sentence that cannot be read."""

    STOP = "stop"
    SKIP = "skip"


Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE", show_default=False, help="CoNLL-U, also .gz or .xz; - is standard input."),
]
File = Annotated[
    str,
    typer.Argument(metavar="FILE", show_default=False, help="CoNLL-U, also .gz or .xz; - is standard input."),
]
EncodingOption = Annotated[
    str,
    typer.Option(
        "--encoding",
        "-e",
        metavar="NAME",
        show_default=False,
        help="An encoding, with options if any: optimal, optimal+head, 'brackets(planes=2)'.",
    ),
]
OutputOption = Annotated[
    str,
    typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is standard output."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How to write the table.")]
OnErrorOption = Annotated[
    OnError,
    typer.Option("--on-error", help="Stop at a sentence that cannot be read, or name it and skip it."),
]


def say(message: str) -> None:
    """Tell the user something on standard error."""
    typer.echo(f"ropewalk: {message}", err=True)


def plural(count: int, one: str, many: str = "") -> str:
    """Write a count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def show(table: "Table", form: Format) -> None:
    """Write a table to standard output."""
    from ropewalk.tables import FORMATS, to_text

    if form is Format.TABLE and sys.stdout.isatty():
        text = to_text(table, width=shutil.get_terminal_size().columns, colour=True)
    else:
        text = FORMATS[form.value](table)
    sys.stdout.write(text)


def how_to_compile() -> str:
    """Say why the kernels are not compiled and what to do about it."""
    from ropewalk.kernels import PURE

    if PURE:
        return "ROPEWALK_PURE is set; unset it to use compiled kernels"
    return "they were installed without a C compiler; install one, then install ropewalk again"


def version_line() -> str:
    """Give the version and how the kernels run."""
    from ropewalk import __version__
    from ropewalk.kernels import compiled

    if compiled():
        return f"ropewalk {__version__}, compiled kernels"
    return f"ropewalk {__version__}, kernels in plain Python (slow: {how_to_compile()})"


def warn_if_uncompiled() -> None:
    """Say once, before the work begins, that the kernels run slowly."""
    from ropewalk.kernels import compiled

    if not compiled():
        say(f"note: the kernels run in plain Python, many times slower: {how_to_compile()}")


def prepare_torch() -> None:
    """Stop with what to install if torch or its kin are missing, and let its idle threads sleep.

    By default they spin, and where other programs want the same cores everything becomes many times slower.
    """
    import os
    from importlib.util import find_spec

    from ropewalk.errors import MissingExtraError

    for package in ("torch", "transformers", "accelerate", "safetensors"):
        if find_spec(package) is None:
            raise MissingExtraError("models", package, "train")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
