"""The command `ropewalk parse`: parse text, tokens or CoNLL-U."""

import contextlib
import io
import os
import re
import sys
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TextIO, cast

import typer

from ropewalk import formats
from ropewalk.cli.shell import (
    ModelOption,
    OnError,
    OnErrorOption,
    OutputOption,
    OverwriteOption,
    bytes_of,
    colourful,
    demand_other,
    files_of_model,
    followed,
    is_semantic,
    picture_width,
    plural,
    put,
    renamed,
    say,
    warn_if_uncompiled,
    with_parser_options,
)
from ropewalk.options import ParserOptions
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from _typeshed import WriteableBuffer

    from ropewalk.pipeline import Parser
    from ropewalk.treebank.treebank import Treebank

ENDING = re.compile(r"[^\s]*\.[A-Za-z][A-Za-z0-9]{0,7}")
UNWRITABLE = re.compile("[\\t\\n\\r\\0\\ud800-\\udfff]")
MOST_SEEN = 1 << 20  # bytes at the beginning of an input that are read to tell whether it is CoNLL-U
# A byte order mark is let through, for the reader of CoNLL-U to complain of. Both are compiled only if asked for.
BEGINS_CONLLU = rb"(?:\xef\xbb\xbf)?(?:#[^\n]*\n){0,64}(?:0\.[0-9]+|1(?:-[0-9]+)?)\t(?:[^\t\n]+\t){8}[^\t\n]+(?:\n|\Z)"
MAY_BEGIN_CONLLU = rb"\xef?\xbb?\xbf?(?:#[^\n]*\n){0,64}(?:#[^\n]*|[01][-.0-9]*(?:\t[^\t\n]*){0,9})?"
CONLLU = re.compile(r".*\.conllu(?:\.gz|\.xz)?", re.IGNORECASE | re.DOTALL)


class Input(StrEnum):
    """Kinds of input."""

    TEXT = "text"
    TOKENS = "tokens"
    CONLLU = "conllu"


class Resumed(io.RawIOBase):
    """A stream whose first bytes were read before."""

    def __init__(self, begun: bytes, stream: TextIO) -> None:
        super().__init__()
        self._begun = io.BytesIO(begun)
        self._stream = stream  # kept, or it would be closed

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read the bytes that are available, rather than wait for more."""
        target = memoryview(buffer)
        block = self._begun.read(len(target)) or _waiting(self._stream, len(target))
        target[: len(block)] = block
        return len(block)


class Argument(NamedTuple):
    """An argument: a file, or text."""

    value: str
    kind: Input
    is_file: bool

    @property
    def document(self) -> str:
        """The name of a file's document; empty for text, and for CoNLL-U, which has names of its own."""
        named = self.is_file and self.value != "-" and self.kind is not Input.CONLLU
        return UNWRITABLE.sub("?", self.value) if named else ""


class Unparsed(NamedTuple):
    """Sentences to parse; the name of the document that begins with them, if any; what was written before."""

    bank: "Treebank"
    document: str
    before: formats.Before


def _format_name(value: str) -> str:
    """Return the name of an output format, or raise; other packages are searched only for names that are not ours."""
    if value not in formats.OWN and value not in formats.known():
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(map(repr, formats.known()))}.")
    return value


@with_parser_options()
def parse(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT|FILE]...", show_default=False, help="Text, or files, also .gz or .xz; - is standard input."
        ),
    ] = None,
    form_in: Annotated[
        Input | None,
        typer.Option(
            "--input",
            show_default=False,
            help="text: raw text; tokens: one sentence a line, spaces between words; conllu: CoNLL-U. By default "
            "conllu for files that end in .conllu, .conllx or .conll, and for what begins like CoNLL-U, else text.",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar=f"[{'|'.join(formats.OWN)}]",
            parser=_format_name,
            show_default=False,
            help="conllu: CoNLL-U; json: a JSON object a sentence and line; tree: pictures; csv, tsv, parquet: a table "
            "with a row for each word. By default what the ending of -o stands for (.json is one list), tree in a "
            "terminal, else conllu.",
        ),
    ] = None,
    out: OutputOption = "-",
    model: ModelOption = "en",
    as_text: Annotated[
        bool | None,
        typer.Option(
            "--text/--files",
            show_default=False,
            help="Read all arguments as text, or all as files; by default those that are files as files.",
        ),
    ] = None,
    threads: Annotated[int, typer.Option(min=0, help="Threads, only with --jobs 1; 0 chooses a number.")] = 0,
    jobs: Annotated[
        int, typer.Option(min=0, help="Processes that parse, each with one thread; 0 is one for each core.")
    ] = 1,
    options: ParserOptions = ParserOptions(),
    on_error: OnErrorOption = OnError.STOP,
    overwrite: OverwriteOption = False,
    _out: Annotated[str | None, renamed("--out", "-o {}")] = None,
) -> None:
    """Parse text, tokens or CoNLL-U.

    Arguments are text or files; a word that looks like the name of a missing file is an error rather than text. Input
    of any length is read and written piece by piece, and interrupted output ends with a whole sentence. The first
    comment names the model and its hash.
    """
    if out in formats.OWN:
        raise typer.BadParameter(
            f"-o, --output names a file; use --format {out}, or -o ./{out} for a file of that name"
        )
    if jobs != 1 and threads > 1:
        raise typer.BadParameter("--threads is for --jobs 1; with other --jobs each process has one thread")
    sources = _sources(what or [], form_in, options, as_text=as_text)
    read = [*(source.value for source in sources if source.is_file), *files_of_model(model)]
    demand_other(out, read, overwrite=overwrite)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # or idle threads of torch would spin
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # or numpy's threads, unused here, would spin at the start
    form = form or _form_of(out)
    output = formats.get(form)
    _demand_fit(form, output, out, options)
    warn_if_uncompiled()
    from ropewalk.pipeline import load

    parser = load(model, options, threads=threads)
    words = sentences = 0
    look = formats.Look(width=picture_width(None, out), colour=colourful(out))

    def pieces() -> "Iterator[Unparsed]":
        nonlocal words, sentences
        for source in sources:
            document, open_document = source.document, source.document or None
            for bank in _banks(parser, source, on_error.value, quiet=out == "-" and sys.stdout.isatty()):
                if len(bank):
                    yield Unparsed(bank, document, formats.Before(sentences, open_document))
                    document = ""
                    words += bank.words
                    sentences += len(bank)
                    open_document = bank.document_before(len(bank), open_document)

    def blocks() -> "Iterator[bytes]":
        for written in parser.apply(partial(_written, form, look), pieces(), jobs):
            yield from written

    put(out, output.file(blocks(), out, several=len(sources) > 1))
    if out != "-":
        say(f"{plural(words, 'word')} parsed")


def _demand_fit(form: str, output: formats.OutputFormat, out: str, options: ParserOptions) -> None:
    """Raise if a format has no place for an option, or cannot be written to a terminal."""
    if options.tag_confidence and not output.tag_probabilities:
        raise typer.BadParameter(f"--tag-confidence is for --format json; {form} has no place for it")
    if output.binary and out == "-" and sys.stdout.isatty():
        raise typer.BadParameter(f"--format {form} is no text for a terminal; name a file with -o")


def _sources(what: list[str], kind: Input | None, options: ParserOptions, *, as_text: bool | None) -> list[Argument]:
    if options.each_line is not None and kind not in {None, Input.TEXT}:
        raise typer.BadParameter(f"--each-line is for text, not for --input {kind}")
    if not what and sys.stdin.isatty():
        raise typer.BadParameter("expected text, files, or - for standard input")
    sources = [_source(value, kind, as_text=as_text) for value in what or ["-"]]
    marked = next((source.value for source in sources if source.kind is Input.CONLLU), None)
    if options.each_line is not None and marked is not None:
        named = "standard input" if marked == "-" else marked
        raise typer.BadParameter(clean(f"--each-line is for text, and {named} is CoNLL-U; leave out one of them"))
    return sources


def _source(value: str, kind: Input | None, *, as_text: bool | None) -> Argument:
    """Classify an argument: an existing file, or text; what can only be the name of a missing file is an error."""
    from ropewalk.errors import FormatError

    there = _exists(value)
    is_file = not as_text if as_text is not None else value == "-" or kind is Input.CONLLU or there
    if value != "-" and is_file and not there:
        raise FormatError(value, 0, "unreadable", "there is no such file; expected one, or - for standard input")
    if is_file and there and Path(value).is_dir():
        raise FormatError(value, 0, "unreadable", "is a folder; name the files in it")
    if is_file and kind is None and is_semantic(value):
        from ropewalk import sdp

        raise sdp.refused(value, "text or CoNLL-U, or --input text to read it as text all the same")
    if not is_file and as_text is None and _names_a_file(value):
        raise FormatError(
            value, 0, "unreadable", "there is no such file; if it is text that you want parsed, add --text"
        )
    return Argument(value, kind or (_kind_of(value) if is_file else Input.TEXT), is_file)


def _kind_of(file: str) -> Input:
    """Return the kind of input of a file: CoNLL-U by its name or its beginning, else text."""
    from ropewalk.formats import conllx

    if CONLLU.fullmatch(file) or conllx.is_named(file):
        return Input.CONLLU
    begun = _beginning_of_stdin() if file == "-" else _beginning_of(file)
    if not re.match(BEGINS_CONLLU, begun):
        return Input.TEXT
    what = "standard input" if file == "-" else file
    say(f"note: {what} begins like CoNLL-U and is taken for CoNLL-U; use --input for another format")
    return Input.CONLLU


def _beginning_of_stdin() -> bytes:
    """Read the beginning of standard input, and put it back."""
    begun = _beginning(_available(sys.stdin))
    sys.stdin = io.TextIOWrapper(io.BufferedReader(Resumed(begun, sys.stdin)), encoding="utf-8")
    return begun


def _beginning_of(file: str) -> bytes:
    """Read the beginning of a file, decompressed; nothing of a pipe, which can be read only once."""
    from ropewalk.files import blocks

    return _beginning(blocks(file, io.DEFAULT_BUFFER_SIZE)) if Path(file).is_file() else b""


def _beginning(blocks: "Iterable[bytes]") -> bytes:
    """Join blocks up to the first line that is no comment, and no more than about `MOST_SEEN` bytes."""
    begun = b""
    for block in blocks:
        begun += block
        if len(begun) >= MOST_SEEN or not re.fullmatch(MAY_BEGIN_CONLLU, begun):
            break
    return begun


def _available(stream: TextIO) -> "Iterator[bytes]":
    """Yield the bytes of a stream as soon as they are available."""
    with contextlib.suppress(OSError):  # as reading it will say
        while block := _waiting(stream, io.DEFAULT_BUFFER_SIZE):
            yield block


def _waiting(stream: TextIO, most: int) -> bytes:
    """Read the bytes of a stream that are available; wait if there are none."""
    return cast("io.BufferedReader", stream.buffer).read1(most)


def _exists(value: str) -> bool:
    try:
        return bool(value) and Path(value).exists()
    except (OSError, ValueError):  # too long for a name, or with a NUL
        return False


def _names_a_file(value: str) -> bool:
    """Return whether text is one word that contains a separator of folders, or ends like the name of a file."""
    if not value or any(map(str.isspace, value)) or "://" in value:
        return False
    return "/" in value or os.sep in value or ENDING.fullmatch(value) is not None


def _form_of(out: str) -> str:
    """Return the format for an output without --format: that of its ending, or CoNLL-U if it has none."""
    if out == "-":
        return "tree" if sys.stdout.isatty() else "conllu"
    ending = Path(out.lower().removesuffix(".gz").removesuffix(".xz")).suffix
    form = formats.named_by(out) if ending else "conllu"
    if form is None:
        endings = sorted({known for output in formats.known().values() for known in output.extensions})
        raise typer.BadParameter(
            clean(f"-o {out}: no output format ends in {ending}; use {', '.join(endings)}, or name one with --format")
        )
    return form


def _banks(parser: "Parser", source: Argument, on_error: str, *, quiet: bool) -> "Iterator[Treebank]":
    """Yield the sentences of an argument, piece by piece."""
    from ropewalk.errors import FormatError
    from ropewalk.files import shown
    from ropewalk.formats.text import text_pieces, token_banks

    if source.kind is Input.CONLLU:
        yield from _conllu_banks(source.value, on_error, quiet=quiet)
        return
    pieces = text_pieces(source.value) if source.is_file else iter([source.value])
    if source.is_file and not quiet:
        pieces = followed(pieces, source.value, lambda piece: len(piece.encode()))
    if source.kind is Input.TEXT:
        try:
            yield from parser.segmented(pieces)
        except FormatError as error:
            if not source.is_file:
                raise
            raise FormatError(shown(source.value), error.line, error.kind, error.message) from error
    else:
        yield from token_banks(pieces, shown(source.value) if source.is_file else "<tokens>")


def _conllu_banks(file: str, on_error: str, *, quiet: bool) -> "Iterator[Treebank]":
    """Yield the sentences of CoNLL-U, piece by piece; an empty file has none."""
    from ropewalk import conllu
    from ropewalk.errors import FormatError
    from ropewalk.files import shown

    stream = conllu.stream(file, on_error="skip" if on_error == "skip" else "stop", chunk_bytes=1 << 19)
    try:
        yield from stream if quiet else followed(stream, file, bytes_of)
    except FormatError as error:
        if error.kind != "empty-file":
            raise
        say(f"note: {shown(file)} is empty")
    for problem in stream.problems:
        say(f"skipped: {problem}")


def _written(form: str, look: formats.Look, parser: "Parser", piece: Unparsed) -> list[bytes]:
    """Parse some sentences and return each as bytes."""
    from ropewalk import Document

    bank = parser.treebank(piece.bank)
    named = bank.with_document(piece.document) if piece.document else bank
    document = Document(named, None, parser.generator)
    look = look._replace(begins=not piece.before.sentences, before=piece.before)
    return list(formats.get(form).sentences(document, look))
