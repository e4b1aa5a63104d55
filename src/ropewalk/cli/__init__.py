"""The command line: a thin skin over the library, one file per command.

Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage.
A command imports what it needs when it runs, so that help comes at once.
"""

import difflib
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
from typer.core import TyperCommand, TyperGroup

from ropewalk.cli.shell import bug_line, end_tidily, open_streams, say, version_line
from ropewalk.errors import RopewalkError
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

    from click import Command, Context, HelpFormatter

MANY = 50_000  # objects allocated before Python collects garbage
SECTIONS = {  # of the help; each command is a function in a file of its name, with _ for -
    "Parse": ("parse", "corpus", "draw", "models"),
    "Treebanks": ("info", "search", "rewrite", "validate", "review", "encodings", "encode", "decode", "enhance"),
    "Research": ("evaluate", "compare", "coverage", "stats", "reproduce", "experiment"),
    "Train": ("build", "train", "train-segmenter", "vectors", "export", "package"),
    "Serve": ("serve",),
}
COMPLETION = "_ROPEWALK_COMPLETE"  # the variable with which a shell asks for completions
COMMANDS = tuple(name for names in SECTIONS.values() for name in names)


class Program(TyperGroup):
    """All commands, whose help is in sections."""

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:  # noqa: ARG002 - as in click
        """Write the summary of each command, by section."""
        for section, names in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(limit=80)) for name in names])

    def resolve_command(self, ctx: "Context", args: list[str]) -> "tuple[str | None, Command | None, list[str]]":
        """Find a command, or exit with the name of the nearest one."""
        if args[0] not in self.commands:
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            ctx.fail(f"No such command {args[0]!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)


class PlainCommand(TyperCommand):
    """A command whose usage line leaves out hidden arguments."""

    def collect_usage_pieces(self, ctx: "Context") -> list[str]:
        """Return the parts of the usage line."""
        shown = [param for param in self.get_params(ctx) if not getattr(param, "hidden", False)]
        return ["[OPTIONS]", *(piece for param in shown for piece in param.get_usage_pieces(ctx))]


def app_of(commands: Iterable[str]) -> typer.Typer:
    """Build the program with some of its commands; the modules of the others are not loaded."""
    app = typer.Typer(
        name="ropewalk",
        cls=Program,
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help needs no rich, which is slow to load
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(ropewalk)
    for command in commands:
        name = command.replace("-", "_")
        app.command(cls=PlainCommand)(getattr(import_module(f"ropewalk.cli.{name}"), name))
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


_debug = {"wanted": False}  # whether to print tracebacks


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
        bool, typer.Option("--debug", callback=_show_all, is_eager=True, help="Show the traceback of an error.")
    ] = False,
) -> None:
    """Dependency parsing by tagging: trees as brackets, one label per word."""


def main() -> None:
    """Run the command line and exit."""
    gc.set_threshold(MANY)  # loading a program and a model allocates many objects, and next to no garbage
    named = [word for word in sys.argv[1:2] if word in COMMANDS]
    if COMPLETION in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined] # it is not listed there

        completion_init()
    open_streams()
    end_tidily()
    _hear_interrupts()
    warnings.showwarning = lambda message, *_, **__: say(f"note: {message}")
    try:
        try:
            app_of(named or COMMANDS)(prog_name="ropewalk")
        except SystemExit as done:
            sys.stdout.flush()  # here a reader that has gone can still be told from a failure
            sys.exit(done.code)
    except (Exception, KeyboardInterrupt) as failure:  # noqa: BLE001 - the last resort: no traceback
        sys.exit(_exit_code(failure))
    finally:
        gc.freeze()  # or Python would look through all objects of a model when it exits
        if _interrupts["heard"] is not None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # everything is done: an exception would only be printed


_interrupts: dict[str, bool | None] = {"heard": None}  # None while they are ignored


def _hear_interrupts() -> None:
    """Record interrupts, unless they are ignored, as with nohup."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        _interrupts["heard"] = False
        signal.signal(signal.SIGINT, _interrupt)
        sys.unraisablehook = _raise_again


def _interrupt(*_: object) -> NoReturn:
    _interrupts["heard"] = True
    raise KeyboardInterrupt


def _raise_again(lost: "UnraisableHookArgs") -> None:
    """Raise an interrupt again if Python lost it, such as in a callback of an import."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    import threading

    later = threading.Timer(0.05, _interrupt_main)
    later.daemon = True
    later.start()


def _interrupt_main() -> None:
    """Send an interrupt to the main thread, even in a system call where the system allows that."""
    import threading

    main_thread = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main_thread is not None:
        signal.pthread_kill(main_thread, signal.SIGINT)
    else:
        import _thread

        _thread.interrupt_main()


def _exit_code(failure: BaseException) -> int:
    """Print in one line what went wrong, and return the exit code."""
    if isinstance(failure, BrokenPipeError):
        _discard_output()
        return 1
    if isinstance(failure, KeyboardInterrupt) or _interrupts["heard"]:  # an import may turn it into another exception
        return 130  # as shells expect of an interrupted program
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
    except OSError:  # reported above
        _discard_output()
    return 1


def _discard_output() -> None:
    """Keep Python from printing at exit that the rest of the output cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
