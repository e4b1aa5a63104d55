"""`ropewalk parse`."""

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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import WriteableBuffer

    from ropewalk.pipeline import Parser
    from ropewalk.treebank.treebank import Treebank

ENDING = re.compile(r"[^\s]*\.[A-Za-z][A-Za-z0-9]{0,7}")
UNWRITABLE = re.compile("[\\t\\n\\r\\0\\ud800-\\udfff]")
MOST_SEEN = 1 << 20  # bytes of standard input that are looked at to tell what it is
# A byte order mark is let through, for the reader of CoNLL-U to complain of. Both are compiled only if asked for.
BEGINS_CONLLU = rb"(?:\xef\xbb\xbf)?(?:#[^\n]*\n){0,64}(?:0\.[0-9]+|1(?:-[0-9]+)?)\t(?:[^\t\n]+\t){8}[^\t\n]+(?:\n|\Z)"
MAY_BEGIN_CONLLU = rb"\xef?\xbb?\xbf?(?:#[^\n]*\n){0,64}(?:#[^\n]*|[01][-.0-9]*(?:\t[^\t\n]*){0,9})?"
CONLLU = re.compile(r".*\.conllu(?:\.gz|\.xz)?", re.IGNORECASE | re.DOTALL)


class Input(StrEnum):
    """What the input is."""

    TEXT = "text"
    TOKENS = "tokens"
    CONLLU = "conllu"


class Resumed(io.RawIOBase):
    """The bytes of a stream, with those that were read already."""

    def __init__(self, begun: bytes, stream: TextIO) -> None:
        super().__init__()
        self._begun = io.BytesIO(begun)
        self._stream = stream  # all of it: one that nobody holds is closed

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read what is there, rather than wait for more."""
        target = memoryview(buffer)
        found = self._begun.read(len(target)) or _waiting(self._stream, len(target))
        target[: len(found)] = found
        return len(found)


class Argument(NamedTuple):
    """One argument: a file, or text itself."""

    value: str
    kind: Input
    is_file: bool

    @property
    def document(self) -> str:
        """The name of the document that a file is; nothing where there is no name, or CoNLL-U says it itself."""
        named = self.is_file and self.value != "-" and self.kind is not Input.CONLLU
        return UNWRITABLE.sub("?", self.value) if named else ""


class Unparsed(NamedTuple):
    """Sentences to parse: the document that begins with them, if it has a name, and whether the output does."""

    bank: "Treebank"
    document: str
    begins: bool


def _format_name(value: str) -> str:
    """Check the name of an output format; other packages are searched only for names that are not ours."""
    if value not in formats.OWN and value not in formats.known():
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(map(repr, formats.known()))}.")
    return value


@with_parser_options()
def parse(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT|FILE", show_default=False, help="Text, or files, also .gz or .xz; - is standard input."
        ),
    ] = None,
    form_in: Annotated[
        Input | None,
        typer.Option(
            "--input",
            show_default=False,
            help="Text, one sentence a line with spaces between words, or CoNLL-U; by default CoNLL-U for files named "
            "so, else text.",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar=f"[{'|'.join(formats.OWN)}]",
            parser=_format_name,
            show_default=False,
            help="CoNLL-U, one JSON object a sentence and line, or pictures of trees; by default pictures in a "
            "terminal, else JSON for -o FILE.jsonl, and as one list for -o FILE.json, else CoNLL-U.",
        ),
    ] = None,
    out: OutputOption = "-",
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME|FOLDER",
            help="An installed model, a trained or exported folder, or hub:USER/MODEL.",
        ),
    ] = "en",
    as_text: Annotated[
        bool | None,
        typer.Option(
            "--text/--files",
            show_default=False,
            help="Take all arguments for text, or all for files; by default an argument that is a file is one.",
        ),
    ] = None,
    threads: Annotated[int, typer.Option(min=0, help="Threads to use; 0 is a sensible number.")] = 0,
    jobs: Annotated[
        int, typer.Option(min=0, help="Processes that parse, with a thread each; 0 is one for each core.")
    ] = 1,
    options: ParserOptions = ParserOptions(),
    on_error: OnErrorOption = OnError.STOP,
    overwrite: OverwriteOption = False,
    _out: Annotated[str | None, renamed("--out", "-o {}")] = None,
) -> None:
    """Parse text, tokens or CoNLL-U.

    Takes text as it is, or files of it; a word that looks like the name of a file that is not there is an error rather
    than text. Input of any length is read and written piece by piece, and interrupted output ends with a whole
    sentence. The first comment names the model and its hash.
    """
    if out in formats.OWN:
        raise typer.BadParameter(
            f"-o, --output names a file; use --format {out}, or -o ./{out} for a file of that name"
        )
    _demand_text(form_in, options)
    sources = [_source(value, form_in, as_text=as_text) for value in _given(what)]
    read = [*(source.value for source in sources if source.is_file), *files_of_model(model)]
    demand_other(out, read, overwrite=overwrite)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # idle threads of torch would spin on cores others need
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of numpy, unused here, would begin by spinning
    form = form or _form_of(out)
    output = formats.get(form)
    if options.tag_confidence and not output.tag_probabilities:
        raise typer.BadParameter(f"--tag-confidence is for --format json; {form} has no place for it")
    warn_if_uncompiled()
    from ropewalk.pipeline import load

    parser = load(model, options, threads=threads)
    words = 0
    look = formats.Look(width=picture_width(None, out), colour=colourful(out))

    def pieces() -> "Iterator[Unparsed]":
        nonlocal words
        for source in sources:
            document = source.document
            for bank in _banks(parser, source, on_error.value, quiet=out == "-" and sys.stdout.isatty()):
                if len(bank):
                    yield Unparsed(bank, document, begins=not words)
                    document = ""
                    words += bank.words

    def blocks() -> "Iterator[bytes]":
        for written in parser.apply(partial(_written, form, look), pieces(), jobs):
            yield from written

    put(out, output.file(blocks(), out, several=len(sources) > 1))
    if out != "-":
        say(f"{plural(words, 'word')} parsed")


def _demand_text(form: Input | None, options: ParserOptions) -> None:
    if options.each_line is not None and form not in {None, Input.TEXT}:
        raise typer.BadParameter(f"--each-line is for text, not for --input {form}")


def _given(what: list[str] | None) -> list[str]:
    if what:
        return what
    if sys.stdin.isatty():
        raise typer.BadParameter("give text, files, or - for standard input")
    return ["-"]


def _source(value: str, kind: Input | None, *, as_text: bool | None) -> Argument:
    """Tell text from files: what is a file is one, what can only be the name of one is an error, the rest is text."""
    from ropewalk.errors import FormatError

    there = _exists(value)
    is_file = not as_text if as_text is not None else value == "-" or kind is Input.CONLLU or there
    if value != "-" and is_file and not there:
        raise FormatError(value, 0, "unreadable", "there is no such file; expected one, or - for standard input")
    if is_file and there and Path(value).is_dir():
        raise FormatError(value, 0, "unreadable", "is a folder; give the files in it")
    if is_file and kind is None and is_semantic(value):
        from ropewalk import sdp

        raise sdp.refused(value, "text or CoNLL-U, or --input text to take it for text all the same")
    if not is_file and as_text is None and _names_a_file(value):
        raise FormatError(
            value, 0, "unreadable", "there is no such file; if it is text that you want parsed, add --text"
        )
    named = Input.CONLLU if is_file and CONLLU.fullmatch(value) else Input.TEXT
    if value == "-" and is_file and kind is None and _conllu_waits():
        say("note: standard input is taken for CoNLL-U, by how it begins; --input says otherwise")
        named = Input.CONLLU
    return Argument(value, kind or named, is_file)


def _conllu_waits() -> bool:
    """Tell whether standard input is CoNLL-U: read on until its first line that is no comment, and put all back."""
    begun = b""
    with contextlib.suppress(OSError):  # as reading it will say
        while len(begun) < MOST_SEEN and re.fullmatch(MAY_BEGIN_CONLLU, begun):
            piece = _waiting(sys.stdin, io.DEFAULT_BUFFER_SIZE)
            if not piece:
                break
            begun += piece
    sys.stdin = io.TextIOWrapper(io.BufferedReader(Resumed(begun, sys.stdin)), encoding="utf-8")
    return re.match(BEGINS_CONLLU, begun) is not None


def _waiting(stream: TextIO, most: int) -> bytes:
    """Read the bytes of a stream that are there; wait if there are none."""
    return cast("io.BufferedReader", stream.buffer).read1(most)


def _exists(value: str) -> bool:
    try:
        return bool(value) and Path(value).exists()
    except (OSError, ValueError):  # too long for a name, or with a NUL
        return False


def _names_a_file(value: str) -> bool:
    """Tell whether text of one word has a separator of folders in it, or ends as names of files do."""
    one_word = value and not any(character.isspace() for character in value)
    return (
        bool(one_word)
        and "://" not in value
        and ("/" in value or os.sep in value or ENDING.fullmatch(value) is not None)
    )


def _form_of(out: str) -> str:
    if out == "-":
        return "tree" if sys.stdout.isatty() else "conllu"
    return formats.named_by(out) or "conllu"


def _banks(parser: "Parser", source: Argument, on_error: str, *, quiet: bool) -> "Iterator[Treebank]":
    """Read one argument, and find its sentences, piece by piece."""
    from ropewalk import conllu
    from ropewalk.errors import FormatError
    from ropewalk.files import shown
    from ropewalk.formats.text import text_pieces, token_banks

    if source.kind is Input.CONLLU:
        stream = conllu.stream(source.value, on_error="skip" if on_error == "skip" else "stop", chunk_bytes=1 << 19)
        banks = stream if quiet else followed(stream, source.value, bytes_of)
        yield from banks
        for problem in stream.problems:
            say(f"skipped: {problem}")
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


def _written(form: str, look: formats.Look, parser: "Parser", piece: Unparsed) -> list[bytes]:
    """Parse some sentences and write each."""
    from ropewalk import Document

    bank = parser.treebank(piece.bank)
    named = bank.with_document(piece.document) if piece.document else bank
    document = Document(named, None, parser.generator)
    return list(formats.get(form).sentences(document, look._replace(begins=piece.begins)))
