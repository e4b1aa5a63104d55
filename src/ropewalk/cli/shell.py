"""Shared parts of the commands: options with the same meaning, checks of them, messages and tables."""

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
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ropewalk.formats.sdp import SemanticBank
    from ropewalk.reporting.tables import Table
    from ropewalk.treebank.treebank import Treebank

Item = TypeVar("Item")
Choice = TypeVar("Choice")
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
    """Policies for sentences that cannot be read."""

    STOP = "stop"
    SKIP = "skip"


Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", show_default=False, help="CoNLL-U, also .gz or .xz; - is standard input."),
]
File = Annotated[
    str,
    typer.Argument(metavar="FILE", show_default=False, help="CoNLL-U, also .gz or .xz; - is standard input."),
]
OutputOption = Annotated[
    str,
    typer.Option("--output", "-o", metavar="FILE", help="The file to write; - is standard output."),
]
OverwriteOption = Annotated[
    bool, typer.Option("--overwrite", help="Allow the output to replace an input file.", show_default=False)
]
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        show_default=False,
        help="table (aligned text), json, csv, tsv, markdown, latex or html; by default the format that the ending of "
        "-o stands for (.json, .csv, .tsv, .md, .tex, .html), else table.",
    ),
]
ColumnsOption = Annotated[
    str,
    typer.Option(
        "--columns",
        metavar="NAME,…",
        show_default=False,
        help="Columns of the table, by their keys in JSON or their headers; all: every column. By default aligned text "
        "has the most important ones, other formats have all.",
    ),
]
ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        metavar="NAME|FOLDER",
        help="An installed model, a trained or exported folder, or hub:USER/MODEL.",
    ),
]
PlotOption = Annotated[
    str | None, typer.Option("--plot", metavar="FILE", help="Also draw a picture: a file that ends in .svg or .png.")
]
GraphsOption = Annotated[
    bool, typer.Option("--graphs", help="Read graphs instead of trees: DEPS of CoNLL-U, or .sdp files.")
]
RepairOption = Annotated[
    Repair,
    typer.Option(
        "--repair", help="Attach a word without a head: nearest: to the nearest word that fits; root: to the root."
    ),
]
OnErrorOption = Annotated[
    OnError,
    typer.Option(
        "--on-error", help="At a sentence that cannot be read: stop: end with an error; skip: report it and go on."
    ),
]


def folder_option(what: str) -> Any:  # noqa: ANN401 - typer's own type of option
    """Return the option -o of a command that writes a folder."""
    return typer.Option("--output", "-o", metavar="FOLDER", show_default=False, help=what)


def set_option(what: str) -> Any:  # noqa: ANN401 - typer's own type of option
    """Return the option --set of a command that reads a configuration."""
    return typer.Option("--set", metavar="KEY=VALUE", help=f"{what}; repeatable.")


def renamed(old: str, new: str) -> Any:  # noqa: ANN401 - typer's own type of option
    """Return a hidden option that was renamed: using it is an error that names the new spelling."""

    def refuse(value: str | None) -> None:
        if value is not None:
            raise typer.BadParameter(f"{old} is gone; use {new.format(value)}")

    return typer.Option(old, hidden=True, callback=refuse)


def with_parser_options(*without: str) -> "Callable[[Callable[..., None]], Callable[..., None]]":
    """Replace the parameter `options` of a command with options for the fields of `ParserOptions` except `without`."""
    fields = {field.name: _option_of(field) for field in dataclasses.fields(ParserOptions) if field.name not in without}
    return lambda command: spread(command, fields)


def _option_of(field: "dataclasses.Field[Any]") -> Any:  # noqa: ANN401 - an annotation for typer
    """Return the annotation of an option for a field: choices are listed, several names are separated by commas."""
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
    """Return a parser of a field's values, which looks for choices of other packages only if a value is not ours."""

    def choice(value: str) -> str:
        known = field.metadata["choices"]
        if value not in known:
            from ropewalk.models.description import DecodingOptions

            stored = {option.name: option.metadata.get("choices") for option in dataclasses.fields(DecodingOptions)}
            known = stored.get(field.name) or known
        if value not in known:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(map(repr, known))}.")
        return value

    return choice


def _names(names: str) -> tuple[str, ...]:
    """Split names at commas, and sort them, since their order has no meaning."""
    return tuple(sorted({name.strip() for name in names.split(",")}))


Moved = Annotated[str | None, typer.Argument(hidden=True)]


def demand_output(moved: str | None, output: str | None, what: str) -> str:
    """Return `output`, or raise if it is missing; `moved` is an argument that named the output in earlier versions."""
    if output is None or moved is not None:
        raise typer.BadParameter(f"the output is named with -o, --output; use -o {moved or what}")
    return output


def demand_other(
    output: str, sources: "Iterable[str | os.PathLike[str]]", *, overwrite: bool, plot: str | None = None
) -> None:
    """Raise if the output would replace a source, unless `overwrite`, or if table and plot are the same file."""
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
    """Raise if a folder that is to be replaced contains a source."""
    target = Path(os.path.realpath(folder))
    for source in sources:
        if Path(os.path.realpath(source)).is_relative_to(target):
            raise typer.BadParameter(
                clean(f"-o {folder} would replace {os.fspath(source)}, which is read; name another folder")
            )


def is_semantic(file: str) -> bool:
    """Return whether a file has semantic dependencies, according to its name (.sdp, also compressed)."""
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
    """Print a message on standard error; a long one, such as with a long line of a file, is shortened."""
    half = LONGEST_MESSAGE // 2
    shown = message if len(message) <= LONGEST_MESSAGE else f"{message[:half]} … {message[-half:]}"
    sys.stderr.write(f"ropewalk: {clean(shown)}\n")  # not typer.echo, which writes into a progress bar's line
    sys.stderr.flush()


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def as_folder(path: str) -> str:
    """Quote a folder for a shell, such that it is not taken for the name of a model or of a package."""
    return shlex.quote(path if "/" in path else f"./{path}")


@dataclasses.dataclass(frozen=True)
class TableOutput:
    """The options of a command that writes a table and can draw a plot of it; `with_table_options` adds them."""

    columns: ColumnsOption = ""
    form: FormatOption = None
    output: OutputOption = "-"
    plot: PlotOption = None
    overwrite: OverwriteOption = False

    def demand_other(self, sources: "Iterable[str | os.PathLike[str]]") -> None:
        """Raise if the table or the plot would replace a source, or if they are the same file."""
        demand_other(self.output, sources, overwrite=self.overwrite, plot=self.plot)

    def require_plots(self) -> None:
        """Raise if a plot is wanted that cannot be drawn."""
        from ropewalk.reporting import plots

        if self.plot is not None:
            plots.require(self.plot)

    def show(self, table: "Table") -> None:
        """Write a table."""
        show(table, self.form, self.output, self.columns)


def with_table_options(command: "Callable[..., None]") -> "Callable[..., None]":
    """Replace the parameter `table_output` of a command with the options of `TableOutput`."""
    return spread(command, get_type_hints(TableOutput, include_extras=True), TableOutput, "table_output")


def format_of_ending(output: str, endings: "Mapping[str, Choice]", otherwise: "Choice") -> "Choice":
    """Return the format that the ending of `output` stands for, or `otherwise` for standard output and no ending.

    Raise if `endings` does not have the ending.
    """
    ending = "" if output == "-" else Path(output.lower().removesuffix(".gz").removesuffix(".xz")).suffix
    if ending and ending not in endings:
        raise typer.BadParameter(
            clean(
                f"-o {output}: no output format ends in {ending}; use {', '.join(endings)}, or name one with --format"
            )
        )
    return endings[ending] if ending else otherwise


def table_format(form: Format | None, output: str) -> Format:
    """Return the format of a table: `form`, or the one that the ending of `output` stands for."""
    return form or ENDINGS.get(Path(output).suffix.lower(), Format.TABLE)


def show(table: "Table", form: Format | None, output: str, columns: str = "", *, narrow: int | None = None) -> None:
    """Write a table, or some of its columns; in a terminal, in its width and in colour.

    Elsewhere a text table is as wide as its cells, or at most `narrow` characters.
    """
    from ropewalk.reporting.tables import FORMATS, to_text

    if columns:
        table = table.select(columns.split(","))

    form = table_format(form, output)
    in_terminal = output == "-" and sys.stdout.isatty()
    if form is Format.TABLE and (in_terminal or narrow):
        width = shutil.get_terminal_size().columns if in_terminal else narrow
        text = to_text(table, width=width, colour=colourful(output))
    else:
        text = FORMATS[form.value](table)
    put(output, [text.encode("utf-8")])


def picture_width(width: int | None, output: str) -> int | None:
    """Return the width to cut pictures at: `width`, or that of the terminal if there is one."""
    if width is not None:
        return width
    known = output == "-" and (sys.stdout.isatty() or "COLUMNS" in os.environ)
    return shutil.get_terminal_size().columns if known else None


def colourful(output: str) -> bool:
    """Return whether the output is a terminal with colours."""
    return output == "-" and sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def followed(items: "Iterable[Item]", source: str, size: "Callable[[Item], float]") -> "Iterator[Item]":
    """Yield items read from a file, and show the progress; `size` returns the bytes of an item."""
    from ropewalk.reporting.progress import track

    path = Path(source)
    known = path.stat().st_size if path.is_file() and path.suffix not in {".gz", ".xz"} else None
    return track(items, source, total=known, size=size)


def bytes_of(bank: "Treebank") -> int:
    """Return the number of bytes of CoNLL-U that a treebank was read from."""
    return 0 if bank.source is None else bank.source.size


def put(output: str, blocks: "Iterable[bytes]") -> None:
    """Write blocks: an interrupted output never ends inside one, and an interrupted file does not appear at all."""
    from ropewalk.files import creating

    with creating(output) as file, Whole(file, at_once=output == "-") as whole:
        for block in blocks:
            whole.write(block)


class Whole:
    """A writer of whole blocks: an interrupt waits for the end of a block; a second one, for a stuck reader, does not.

    With `at_once` each block is flushed.
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
    """Replace standard streams that are closed, so that reading or writing them is a plain error."""
    for name, mode, flags in (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8"))


def bug_line(failure: BaseException) -> str:
    """Write a report of an unexpected failure, and return a line that says where it is and what to do with it."""
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
    """Exit after a signal, with the code that shells expect; files that are being written are removed."""
    raise SystemExit(128 + number)


def end_tidily() -> None:
    """Let signals that end the program leave no half-written file; ignored ones, as with nohup, stay ignored."""
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


def how_to_compile() -> str:
    """Return why the kernels are not compiled and what to do about it."""
    from ropewalk.kernels import PURE

    if PURE:
        return "ROPEWALK_PURE is set; unset it to use compiled kernels"
    return "they were installed without a C compiler; install one, then install ropewalk again"


def version_line() -> str:
    """Return the version, and whether the kernels are compiled."""
    from ropewalk import __version__
    from ropewalk.kernels import compiled

    if compiled():
        return f"ropewalk {__version__}, compiled kernels"
    return f"ropewalk {__version__}, kernels in plain Python (slow: {how_to_compile()})"


def warn_if_uncompiled() -> None:
    """Warn, before the work begins, that the kernels are not compiled."""
    from ropewalk.kernels import compiled

    if not compiled():
        say(f"note: the kernels run in plain Python, many times slower: {how_to_compile()}")


def command_line() -> str:
    """Return the command line, quoted for a shell."""
    return shlex.join(["ropewalk", *sys.argv[1:]])


def demand_packages(what: str, extra: str, *packages: str) -> None:
    """Raise if one of the packages that `what` needs, and `extra` installs, is missing."""
    from importlib.util import find_spec

    from ropewalk.errors import MissingExtraError

    for package in packages:
        if find_spec(package) is None:
            raise MissingExtraError(what, package, extra)


def prepare_torch() -> None:
    """Raise if torch or a related package is missing, and let torch's idle threads sleep.

    By default they spin, and everything becomes many times slower where other programs need the same cores.
    """
    demand_packages("models", "train", "torch", "transformers", "accelerate", "safetensors", "onnx")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
