"""The command line: a thin skin over the library, one file per command.

Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage.
A command imports what it needs when it runs, so that help comes at once.
"""

import os
import sys
from typing import Annotated

import typer

from ropewalk.cli.compare import compare
from ropewalk.cli.corpus import corpus
from ropewalk.cli.coverage import coverage
from ropewalk.cli.decode import decode
from ropewalk.cli.draw import draw
from ropewalk.cli.encode import encode
from ropewalk.cli.encodings import encodings
from ropewalk.cli.evaluate import evaluate
from ropewalk.cli.experiment import experiment
from ropewalk.cli.export import export
from ropewalk.cli.info import info
from ropewalk.cli.models import models
from ropewalk.cli.parse import parse
from ropewalk.cli.reproduce import reproduce
from ropewalk.cli.serve import serve
from ropewalk.cli.shell import say, version_line
from ropewalk.cli.stats import stats
from ropewalk.cli.train import train
from ropewalk.cli.train_segmenter import train_segmenter
from ropewalk.cli.validate import validate
from ropewalk.cli.vectors import vectors
from ropewalk.errors import RopewalkError

COMMANDS = (
    parse,
    corpus,
    serve,
    models,
    compare,
    draw,
    evaluate,
    encode,
    decode,
    encodings,
    info,
    validate,
    coverage,
    reproduce,
    stats,
    train,
    train_segmenter,
    vectors,
    export,
    experiment,
)

app = typer.Typer(
    name="ropewalk",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help needs no rich, which is slow to load
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command in COMMANDS:
    app.command()(command)


@app.command("predict", hidden=True, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def _predict() -> None:
    raise typer.BadParameter(
        "predict is gone: parse takes trained models too; use ropewalk parse -m MODEL IN.conllu -o OUT.conllu"
    )


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version_line())
        raise typer.Exit


@app.callback()
def ropewalk(
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and how the kernels run, and exit.",
        ),
    ] = False,
) -> None:
    """Dependency parsing by tagging: trees as brackets, one label per word."""


def main() -> None:
    """Run the command line and exit."""
    try:
        app(prog_name="ropewalk")
    except SystemExit as done:
        sys.exit(_flushed(done.code))
    except RopewalkError as error:
        say(f"error: {error}")
    except BrokenPipeError:
        _discard_output()
    except OSError as error:
        say(f"error: {error.filename or 'input or output'}: {error.strerror or error}")
    except MemoryError:
        say("error: out of memory; give the command smaller files, or fewer at a time")
    except KeyboardInterrupt:
        sys.exit(130)  # what a shell expects of an interrupted program
    sys.exit(1)


def _flushed(code: str | int | None) -> str | int | None:
    """Write out what is left while an early end of the reader can still be told from a failure."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return 1
    return code


def _discard_output() -> None:
    """Keep Python from complaining at exit that nobody reads what is left to write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
