"""`ropewalk corpus`."""

import sys
import threading
import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Self

import typer

from ropewalk.cli.shell import (
    Format,
    folder_option,
    plural,
    say,
    show,
    warn_if_uncompiled,
    with_parser_options,
)
from ropewalk.options import ParserOptions

if TYPE_CHECKING:
    from ropewalk.corpus.driver import RunState


class Rows(StrEnum):
    """What a row of the output is."""

    DOCUMENT = "document"
    SENTENCE = "sentence"


class ShardFormat(StrEnum):
    """What is written; the names are those of `ropewalk.corpus.shards.OUTPUTS`."""

    PARQUET = "parquet"
    JSONL = "jsonl"
    JSONL_GZ = "jsonl.gz"
    JSONL_ZST = "jsonl.zst"
    CONLLU = "conllu"
    CONLLU_GZ = "conllu.gz"
    CONLLU_ZST = "conllu.zst"


@with_parser_options("tag_confidence")  # shards have no column for it
def corpus(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="IN",
            show_default=False,
            help="Files, or folders of them: .parquet, .jsonl, .txt or .conllu, also .gz, .zst or .bz2; paths, or URIs "
            "of a store that PyArrow or fsspec opens.",
        ),
    ],
    out: Annotated[str, folder_option("The folder for shards, errors, manifest and report.")],
    model: Annotated[
        str,
        typer.Option(
            "--model", "-m", metavar="NAME|FOLDER", help="An installed model, or a trained or exported folder."
        ),
    ] = "en",
    text: Annotated[str, typer.Option(metavar="COLUMN", help="Where text stands in Parquet and JSON.")] = "text",
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", show_default=False, help="Where ids stand; by default in id, where there is one."
        ),
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", show_default=False, help="A column to keep; may be repeated.")
    ] = None,
    lines: Annotated[
        bool, typer.Option("--lines/--files", help="In plain text, take a line or a file for a document.")
    ] = False,
    rows: Annotated[Rows, typer.Option(help="What a row of the output is.")] = Rows.DOCUMENT,
    form: Annotated[ShardFormat, typer.Option("--format", help="What shards are written as.")] = ShardFormat.PARQUET,
    options: ParserOptions = ParserOptions(),
    longest: Annotated[
        int, typer.Option(min=1, help="Characters of a document; longer ones are set aside.")
    ] = 1_000_000,
    shard_size: Annotated[float, typer.Option(min=0.001, help="Megabytes of text that make a shard.")] = 16.0,
    max_errors: Annotated[
        int | None,
        typer.Option(min=0, show_default=False, help="Stop when more documents than these are set aside."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(show_default=False, help="The address of a Ray cluster; by default this machine alone."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, max=256, show_default=False, help="Processes on this machine; by default one for each core."
        ),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Where a run goes on, check the hashes of shards that are done.")
    ] = False,
    form_report: Annotated[
        Format, typer.Option("--report", help="How to write the report's tables, on standard output.")
    ] = Format.TABLE,
) -> None:
    """Parse whole corpora on all cores, or on a Ray cluster.

    Shards appear in FOLDER/data, each whole or not at all; documents that cannot be parsed are named in FOLDER/errors,
    and the run goes on. The same command does only what is missing, whatever ended it before. A report comes at the
    end.
    """
    _demand_packages()
    warn_if_uncompiled()
    from ropewalk.corpus.driver import run
    from ropewalk.corpus.options import Options, RunOptions
    from ropewalk.corpus.report import tables

    chosen = Options(
        text=text,
        id=id_column,
        keep=tuple(keep or ()),
        lines=lines,
        rows=rows.value,
        output=form.value,
        parsing=options,
        longest=longest,
        shard=shard_size,
    )
    running = RunOptions(address, None if address else workers, max_errors, verify)
    with _Follower() as follower:
        try:
            state = run(inputs, out, chosen, running, model=model, tell=say, follow=follower.follow)
        except KeyboardInterrupt:
            say(f"interrupted; {follower.how_far()}: run the same command again to go on")
            raise
    for table in tables(state.counts, state.records):
        show(table, form_report, "-")
    if state.counts.errors:
        say(f"{plural(state.counts.errors, 'document or file', 'documents or files')} set aside: see {out}/errors")


def _demand_packages() -> None:
    from importlib.util import find_spec

    from ropewalk.errors import MissingExtraError

    for package in ("pyarrow", "ray", "pandas", "fsspec"):
        if find_spec(package) is None:
            raise MissingExtraError("corpora", package, "corpus")


class _Follower:
    """Says how far a run is: on a terminal all the time on one line, elsewhere in a line each minute."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._state: RunState | None = None
        self._stop = threading.Event()
        self._first = 0  # words that were there before

    def __enter__(self) -> Self:
        threading.Thread(target=self._speak, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()

    def follow(self, state: "RunState") -> None:
        """Take note of the state."""
        if self._state is None:
            self._begun = time.monotonic()
            self._first = state.counts.words
        self._state = state

    def how_far(self) -> str:
        """Say how far the run is."""
        state = self._state
        if state is None:
            return "nothing is done yet"
        seconds = max(time.monotonic() - self._begun, 1e-9)
        speed = (state.counts.words - self._first) / seconds
        here = state.done - state.before
        left = _duration(seconds * (state.parts - state.done) / here) + " left" if here else "no estimate yet"
        return (
            f"{state.done} of {plural(state.parts, 'shard')}, {plural(state.counts.documents, 'document')}, "
            f"{plural(state.counts.words, 'word')}, {speed:,.0f} words a second, {left}"
        )

    def _speak(self) -> None:
        live = sys.stderr.isatty()
        while not self._stop.wait(1 if live else 60):
            if self._state is not None:
                if live:
                    sys.stderr.write(f"\r\x1b[K{self.how_far()}")
                    sys.stderr.flush()
                else:
                    say(self.how_far())
        if live:
            sys.stderr.write("\r\x1b[K")


def _duration(seconds: float) -> str:
    hours, rest = divmod(round(seconds), 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"
