"""The command `ropewalk corpus`: parse whole corpora on all cores or on a cluster."""

import sys
import threading
import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Self

import typer

from ropewalk.cli.shell import (
    Format,
    ModelOption,
    demand_packages,
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
    """Kinds of rows of the output."""

    DOCUMENT = "document"
    SENTENCE = "sentence"


class ShardFormat(StrEnum):
    """Formats of shards; the names are those of `ropewalk.corpus.shards.OUTPUTS`."""

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
            metavar="IN...",
            show_default=False,
            help="Files, or folders of them: .parquet, .jsonl, .txt or .conllu, also .gz, .zst or .bz2; paths, or URIs "
            "of a store that PyArrow or fsspec opens.",
        ),
    ],
    out: Annotated[str, folder_option("The folder for shards, errors, manifest and report.")],
    model: ModelOption = "en",
    text: Annotated[str, typer.Option(metavar="COLUMN", help="The column of the text in Parquet and JSON.")] = "text",
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", show_default=False, help="The column of the ids; by default id, if there is one."
        ),
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", show_default=False, help="A column to keep; repeatable.")
    ] = None,
    lines: Annotated[
        bool, typer.Option("--lines/--files", help="In plain text, a document is a line, or a file.")
    ] = False,
    rows: Annotated[Rows, typer.Option(help="A row of the output is a document, or a sentence.")] = Rows.DOCUMENT,
    form: Annotated[
        ShardFormat,
        typer.Option("--format", help="The format of shards: parquet, jsonl or conllu; .gz and .zst are compressed."),
    ] = ShardFormat.PARQUET,
    options: ParserOptions = ParserOptions(),
    longest: Annotated[
        int, typer.Option(min=1, help="Longest document, in characters; longer ones are set aside.")
    ] = 1_000_000,
    shard_size: Annotated[float, typer.Option(min=0.001, help="Megabytes of text in a shard.")] = 16.0,
    max_errors: Annotated[
        int | None,
        typer.Option(min=0, show_default=False, help="Stop when more documents than this are set aside."),
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
        bool, typer.Option("--verify", help="When a run continues, check the hashes of finished shards.")
    ] = False,
    form_report: Annotated[
        Format,
        typer.Option(
            "--report",
            help="Format of the report on standard output: table (aligned text), json, csv, tsv, markdown, latex or "
            "html.",
        ),
    ] = Format.TABLE,
) -> None:
    """Parse whole corpora on all cores or on a cluster.

    Shards appear in FOLDER/data, each whole or not at all; documents that cannot be parsed are listed in FOLDER/errors,
    and the run goes on. After an interruption the same command does only what is missing. A report comes at the end.
    The cluster is one of Ray.
    """
    demand_packages("corpora", "corpus", "pyarrow", "ray", "pandas", "fsspec")
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


class _Follower:
    """Progress of a run: in a terminal one line that is updated, elsewhere a line each minute."""

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
        """Store the state."""
        if self._state is None:
            self._begun = time.monotonic()
            self._first = state.counts.words
        self._state = state

    def how_far(self) -> str:
        """Return the progress as a sentence."""
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
