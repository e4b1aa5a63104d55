"""What the commands share: messages, tables, and the options that mean the same everywhere."""

import dataclasses
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, NoReturn, Self, TypeVar, get_type_hints

import typer

from ropewalk.options import ParserOptions, spread
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ropewalk.formats.sdp import SemanticBank
    from ropewalk.reporting.tables import Table
    from ropewalk.treebank.treebank import Treebank

Item = TypeVar("Item")
LONGEST_MESSAGE = 1000
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Format(StrEnum):
    """Formats of tables; the names are those of `ropewalk.reporting.tables.FORMATS`."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    TSV = "tsv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    HTML = "html"


ENDINGS = {
    ".json": Format.JSON,
    ".csv": Format.CSV,
    ".tsv": Format.TSV,
    ".md": Format.MARKDOWN,
    ".tex": Format.LATEX,
    ".html": Format.HTML,
}


class Repair(StrEnum):
    """Policies for missing heads; the names are those of `ropewalk.core.repair.POLICIES`."""

    NEAREST = "nearest"
    ROOT = "root"


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
OutputOption = Annotated[
    str,
    typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is standard output."),
]
OverwriteOption = Annotated[
    bool, typer.Option("--overwrite", help="Let what is written replace a file that is read.", show_default=False)
]
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        show_default=False,
        help="How to write the table; by default as the ending of -o says (.json, .csv, .tsv, .md, .tex, .html), else "
        "for people.",
    ),
]
RepairOption = Annotated[
    Repair,
    typer.Option("--repair", help="Hang a word without a head on the nearest word that fits, or on the root."),
]
OnErrorOption = Annotated[
    OnError,
    typer.Option("--on-error", help="Stop at a sentence that cannot be read, or name it and skip it."),
]


def folder_option(what: str) -> Any:  # noqa: ANN401 - typer's own type of option
    """Make the option -o of a command that writes a folder."""
    return typer.Option("--output", "-o", metavar="FOLDER", show_default=False, help=what)


def set_option(what: str) -> Any:  # noqa: ANN401 - typer's own type of option
    """Make the option --set of a command that reads a configuration."""
    return typer.Option("--set", metavar="KEY=VALUE", help=f"{what}; repeatable.")


def renamed(old: str, new: str) -> Any:  # noqa: ANN401 - typer's own type of option
    """Make an option that is gone, and whose use is an error that names the new spelling."""

    def refuse(value: str | None) -> None:
        if value is not None:
            raise typer.BadParameter(f"{old} is gone; use {new.format(value)}")

    return typer.Option(old, hidden=True, callback=refuse)


def with_parser_options(*without: str) -> "Callable[[Callable[..., None]], Callable[..., None]]":
    """Replace the parameter `options` of a command with an option for each field of `ParserOptions`, but for some."""
    fields = {one.name: _option_of(one) for one in dataclasses.fields(ParserOptions) if one.name not in without}
    return lambda command: spread(command, fields)


def _option_of(field: "dataclasses.Field[Any]") -> Any:  # noqa: ANN401 - an annotation for typer
    """Return how the command line writes a field: choices are listed, several names have commas between them."""
    kind = get_type_hints(ParserOptions)[field.name]
    about: dict[str, Any] = {"help": field.metadata["about"], "show_default": kind is bool}
    if kind is bool:
        names = [f"--{field.name.replace('_', '-')}"] if not field.default else []
        return Annotated[bool, typer.Option(*names, **about)]
    if choices := field.metadata["choices"]:
        parse = _choice_of(field)
        return Annotated[str | None, typer.Option(metavar=f"[{'|'.join(choices)}]", parser=parse, **about)]
    if kind == Sequence[str] | None:
        return Annotated[str | None, typer.Option(metavar="NAME,…", parser=_names, **about)]
    return Annotated[kind, typer.Option(min=field.metadata["low"], **about)]


def _choice_of(field: "dataclasses.Field[Any]") -> "Callable[[str], str]":
    """Return a check of a field's values; choices of other packages are looked for only if a value is not ours."""

    def choice(value: str) -> str:
        known = field.metadata["choices"]
        if value not in known:
            from ropewalk.models.description import DecodingOptions

            stored = {one.name: one.metadata.get("choices") for one in dataclasses.fields(DecodingOptions)}
            known = stored.get(field.name) or known
        if value not in known:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(map(repr, known))}.")
        return value

    return choice


def _names(names: str) -> tuple[str, ...]:
    """Split names at commas; their order means nothing."""
    return tuple(sorted({name.strip() for name in names.split(",")}))


Moved = Annotated[str | None, typer.Argument(hidden=True)]


def demand_output(moved: str | None, output: str | None, what: str) -> str:
    """Give what -o names, or say that it is needed; `moved` is an argument that stood for it once."""
    if output is None or moved is not None:
        raise typer.BadParameter(f"what is written is named by -o, --output; use -o {moved or what}")
    return output


def demand_other(
    output: str, sources: "Iterable[str | os.PathLike[str]]", *, overwrite: bool, plot: str | None = None
) -> None:
    """Refuse to write over what is read, unless that is asked for, and to write a table and a plot to one file."""
    from ropewalk.files import are_same_output, is_replaced, shown

    written = {"-o": output} if plot is None else {"-o": output, "--plot": plot}
    if plot is not None and are_same_output(output, plot):
        raise typer.BadParameter(clean(f"-o {output} and --plot {plot} are the same file; name two"))
    for source in sources if not overwrite else ():
        for option, path in written.items():
            if is_replaced(source, path):
                raise typer.BadParameter(
                    clean(f"{option} {path} would replace {shown(source)}, which is read; name another file, or add ")
                    + "--overwrite"
                )


def files_of_model(name: str) -> list[str]:
    """List the files of a model that is named by its folder."""
    is_folder = os.path.isdir(name)  # noqa: PTH112 - other than a `Path`, it takes any text
    return [str(file) for file in Path(name).rglob("*") if file.is_file()] if is_folder else []


def demand_outside(folder: str, sources: "Iterable[str | os.PathLike[str]]") -> None:
    """Refuse to replace a folder in which something lies that is read."""
    target = Path(os.path.realpath(folder))
    for source in sources:
        if Path(os.path.realpath(source)).is_relative_to(target):
            raise typer.BadParameter(
                clean(f"-o {folder} would replace {os.fspath(source)}, which is read; name another folder")
            )


def is_semantic(file: str) -> bool:
    """Tell by its name whether a file has semantic dependencies (.sdp, also compressed)."""
    return file.removesuffix(".gz").removesuffix(".xz").endswith(".sdp")


def demand_conllu(file: "str | Path", otherwise: str = "") -> None:
    """Raise if a file has semantic dependencies; `otherwise` names an option that takes them."""
    if is_semantic(str(file)):
        from ropewalk import sdp

        raise sdp.refused(file, f"CoNLL-U{otherwise}")


def graph_banks(file: str, on_error: OnError = OnError.STOP) -> "Iterator[Treebank | SemanticBank]":
    """Read a file with graphs: an .sdp file as a whole, CoNLL-U piece by piece, naming each sentence it skips."""
    from ropewalk import conllu, sdp

    if is_semantic(file):
        yield sdp.read(file)
        return
    stream = conllu.stream(file, on_error=on_error.value)
    yield from stream
    for problem in stream.problems:
        say(f"skipped: {problem}")


def say(message: str) -> None:
    """Tell the user something on standard error; what was found in a file may be longer than anybody reads."""
    half = LONGEST_MESSAGE // 2
    shown = message if len(message) <= LONGEST_MESSAGE else f"{message[:half]} … {message[-half:]}"
    typer.echo(f"ropewalk: {clean(shown)}", err=True)


def plural(count: int, one: str, many: str = "") -> str:
    """Write a count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def as_folder(path: str) -> str:
    """Write a folder for a shell such that it is not taken for the name of a model, or of a package."""
    return shlex.quote(path if "/" in path else f"./{path}")


def table_format(form: Format | None, output: str) -> Format:
    """Say how to write a table: as asked for, or as the ending of the file says."""
    return form or ENDINGS.get(Path(output).suffix.lower(), Format.TABLE)


def show(table: "Table", asked: Format | None, output: str) -> None:
    """Write a table, such as a terminal shows it where it goes to one."""
    from ropewalk.reporting.tables import FORMATS, to_text

    form = table_format(asked, output)
    if form is Format.TABLE and output == "-" and sys.stdout.isatty():
        text = to_text(table, width=shutil.get_terminal_size().columns, colour=True)
    else:
        text = FORMATS[form.value](table)
    put(output, [text.encode("utf-8")])


def picture_width(width: int | None, output: str) -> int | None:
    """Give the width to cut pictures at: as asked, or the terminal's, or none where nobody knows."""
    if width is not None:
        return width
    known = output == "-" and (sys.stdout.isatty() or "COLUMNS" in os.environ)
    return shutil.get_terminal_size().columns if known else None


def colourful(output: str) -> bool:
    """Tell whether what is written will be seen in colour."""
    return output == "-" and sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def followed(items: "Iterable[Item]", source: str, size: "Callable[[Item], float]") -> "Iterator[Item]":
    """Pass on what is read from a file, and show how much of it is done; `size` is an item's bytes."""
    from ropewalk.reporting.progress import track

    path = Path(source)
    known = path.stat().st_size if path.is_file() and path.suffix not in {".gz", ".xz"} else None
    return track(items, source, total=known, size=size)


def bytes_of(bank: "Treebank") -> int:
    """Say how many bytes of CoNLL-U a treebank was read from."""
    return 0 if bank.source is None else bank.source.size


def put(output: str, blocks: "Iterable[bytes]") -> None:
    """Write blocks, each whole: interrupted output never ends inside one, and a file then does not appear at all."""
    from ropewalk.files import creating

    with creating(output) as file, Whole(file, at_once=output == "-") as whole:
        for block in blocks:
            whole.write(block)


class Whole:
    """Writes whole blocks: an interrupt waits until the block is out, and a second one, for a stuck reader, does not.

    With `at_once` whoever reads sees each block as soon as it is written.
    """

    def __init__(self, file: "IO[bytes]", *, at_once: bool) -> None:
        self._file = file
        self._at_once = at_once
        self._writing = False
        self._caught: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        heard = (number for number in (signal.SIGINT, *ENDING) if signal.getsignal(number) is not signal.SIG_IGN)
        self._before = {number: signal.signal(number, self._stop) for number in heard}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def write(self, block: bytes) -> None:
        """Write a block."""
        self._writing = True
        self._file.write(block)
        if self._at_once:
            self._file.flush()
        self._writing = False
        if self._caught is not None:
            self._leave(self._caught)

    def _stop(self, number: int, _: object) -> None:
        if self._writing and self._caught is None:
            self._caught = number
        else:
            self._leave(number)

    def _leave(self, number: int) -> NoReturn:
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        end(number)


def open_streams() -> None:
    """Put something in the place of standard streams that are closed: reading or writing them is then a plain error."""
    for name, mode, flags in (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8"))


def bug_line(failure: BaseException) -> str:
    """Write a report of a failure that should not be, and say in a line where it lies and what to do with it."""
    import platform
    import tempfile
    import traceback

    about = f"{version_line()}\nPython {platform.python_version()}, {platform.platform()}\n{sys.argv[1:]}\n\n"
    kind = f"{type(failure).__name__}: {failure}".split("\n", 1)[0][:200]
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="ropewalk-", suffix=".txt", delete=False, encoding="utf-8", errors="replace"
        ) as file:
            file.write(about + "".join(traceback.format_exception(failure)))
            where = f"the report is in {file.name}: please look through it and send it to those who make ropewalk"
    except OSError:
        where = "add --debug after ropewalk to see where"
    return f"bug: {kind}; this should not happen; {where}"


def end(number: int, _: object = None) -> NoReturn:
    """End the program as a signal asks, tidying up; a shell expects this code of one that was told to end."""
    raise SystemExit(128 + number)


def end_tidily() -> None:
    """Let signals that end a program leave no half-written file; one that is ignored, as by nohup, stays so."""
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


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


def command_line() -> str:
    """Return the command as a shell would take it."""
    return shlex.join(["ropewalk", *sys.argv[1:]])


def prepare_torch() -> None:
    """Stop with what to install if torch or its kin are missing, and let its idle threads sleep.

    By default they spin, and where other programs want the same cores everything becomes many times slower.
    """
    from importlib.util import find_spec

    from ropewalk.errors import MissingExtraError

    for package in ("torch", "transformers", "accelerate", "safetensors", "onnx"):
        if find_spec(package) is None:
            raise MissingExtraError("models", package, "train")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
