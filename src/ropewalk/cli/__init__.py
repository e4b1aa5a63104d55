"""The command line: a thin skin over the library, one file per command.

Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage.
A command imports what it needs when it runs, so that help comes at once.
"""

import gc
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from ropewalk.cli.shell import bug_line, end_tidily, open_streams, say, version_line
from ropewalk.errors import RopewalkError
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

MANY = 50_000  # things made until Python looks for garbage
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
    "build",
    "train",
    "train-segmenter",
    "vectors",
    "export",
    "package",
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


def _show_all(wanted: bool) -> bool:
    _debug["wanted"] = wanted
    return wanted


_debug = {"wanted": False}


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
    debug: Annotated[
        bool, typer.Option("--debug", callback=_show_all, is_eager=True, help="Show where in the program errors arise.")
    ] = False,
) -> None:
    """Dependency parsing by tagging: trees as brackets, one label per word."""


def main() -> None:
    """Run the command line and exit."""
    gc.set_threshold(MANY)  # loading a program and a model makes many things, and next to no garbage
    named = [word for word in sys.argv[1:2] if word in COMMANDS]
    open_streams()
    end_tidily()
    _hear_interrupts()
    warnings.showwarning = lambda message, *_, **__: say(f"note: {message}")
    try:
        try:
            app_of(named or COMMANDS)(prog_name="ropewalk")
        except SystemExit as done:
            sys.stdout.flush()  # while an early end of the reader can still be told from a failure
            sys.exit(done.code)
    except (Exception, KeyboardInterrupt) as failure:  # noqa: BLE001 - the last resort: nobody wants a traceback
        sys.exit(_exit_code(failure))
    finally:
        gc.freeze()  # at its end Python need not look through all that a model holds: that would take long
        if _interrupts["heard"] is not None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # all is done: an exception would only be printed


_interrupts: dict[str, bool | None] = {"heard": None}  # None while they are ignored


def _hear_interrupts() -> None:
    """Note interrupts, unless they are ignored, as by nohup."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        _interrupts["heard"] = False
        signal.signal(signal.SIGINT, _interrupt)
        sys.unraisablehook = _raise_again


def _interrupt(*_: object) -> NoReturn:
    _interrupts["heard"] = True
    raise KeyboardInterrupt


def _raise_again(lost: "UnraisableHookArgs") -> None:
    """Raise an interrupt again that came where exceptions are lost, such as in a callback of an import."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    import threading

    later = threading.Timer(0.05, _interrupt_main)
    later.daemon = True
    later.start()


def _interrupt_main() -> None:
    """Send an interrupt to the main thread, also where it waits in a system call if the system can do so."""
    import threading

    main_thread = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main_thread is not None:
        signal.pthread_kill(main_thread, signal.SIGINT)
    else:
        import _thread

        _thread.interrupt_main()


def _exit_code(failure: BaseException) -> int:
    """Say in one line what went wrong, and give the code to exit with."""
    if isinstance(failure, BrokenPipeError):
        _discard_output()
        return 1
    if isinstance(failure, KeyboardInterrupt) or _interrupts["heard"]:  # of which an import may make something else
        return 130  # what a shell expects of an interrupted program
    if _debug["wanted"]:
        typer.echo("\n".join(map(clean, "".join(traceback.format_exception(failure)).splitlines())), err=True)
    if isinstance(failure, RopewalkError):
        say(f"error: {failure}")
    elif isinstance(failure, OSError):
        say(f"error: {failure.filename or 'input or output'}: {failure.strerror or failure}")
    elif isinstance(failure, MemoryError):
        say("error: out of memory; give the command smaller files, or fewer at a time")
    else:
        say(bug_line(failure))
    try:
        sys.stdout.flush()
    except OSError:  # as was said
        _discard_output()
    return 1


def _discard_output() -> None:
    """Keep Python from complaining at exit that nobody reads what is left to write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
