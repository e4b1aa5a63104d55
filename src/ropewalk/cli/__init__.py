"""The command line: a thin skin over the library, one file per command.

Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage.
A command imports what it needs when it runs, so that help comes at once.
"""

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated

import typer

from ropewalk.cli.shell import say, version_line
from ropewalk.errors import RopewalkError

COMMANDS = (  # in the order of help; each is a function in a file of its name, with _ for -
    "parse",
    "corpus",
    "serve",
    "models",
    "compare",
    "draw",
    "evaluate",
    "encode",
    "decode",
    "enhance",
    "encodings",
    "info",
    "validate",
    "coverage",
    "reproduce",
    "stats",
    "train",
    "train-segmenter",
    "vectors",
    "export",
    "experiment",
)


def app_of(commands: Iterable[str]) -> typer.Typer:
    """Make a program of some commands: what is not asked for need not be loaded."""
    app = typer.Typer(
        name="ropewalk",
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help needs no rich, which is slow to load
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(ropewalk)
    for command in commands:
        name = command.replace("-", "_")
        app.command()(getattr(import_module(f"ropewalk.cli.{name}"), name))
    extra = {"ignore_unknown_options": True, "allow_extra_args": True}
    app.command("predict", hidden=True, context_settings=extra)(_predict)
    return app


def _predict() -> None:
    raise typer.BadParameter(
        "predict is gone: parse takes trained models too; use ropewalk parse -m MODEL IN.conllu -o OUT.conllu"
    )


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version_line())
        raise typer.Exit


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
    named = [word for word in sys.argv[1:2] if word in COMMANDS]
    try:
        app_of(named or COMMANDS)(prog_name="ropewalk")
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
