"""The command `ropewalk train`: train a parser."""

import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ropewalk.cli.shell import command_line, folder_option, plural, prepare_torch, say, set_option, warn_if_uncompiled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ropewalk.errors import FormatError
    from ropewalk.training.loop import Progress


MINUTE = 60.0


def train(
    config: Annotated[str, typer.Argument(metavar="CONFIG.toml", help="The configuration; see docs/options.md.")],
    out: Annotated[str, folder_option("The folder for the model.")],
    changes: Annotated[list[str] | None, set_option("Change an option, such as training.epochs=5")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in the folder.")] = False,
    init_from: Annotated[
        str, typer.Option(metavar="MODEL", help="Start with the weights of a trained or exported model.")
    ] = "",
    bad_trees: Annotated[
        Literal["stop", "skip", "repair"] | None,
        typer.Option(
            help="At a bad tree: stop: end with an error; skip: report it and leave it out; repair: repair it."
        ),
    ] = None,
) -> None:
    """Train a parser.

    Writes a folder that can be used offline, copied and published: weights, labels, tokenizer and a model card. After
    each epoch the model is scored on the dev data and a checkpoint is written; an interrupted run continues from there
    with --resume and ends with the same weights. Start several processes with
    `accelerate launch --no_python ropewalk train …`.
    """
    prepare_torch()
    warn_if_uncompiled()
    from ropewalk.training import config as configuration
    from ropewalk.training.training_run import train as run

    wanted = [*(changes or []), *([f"data.bad_trees={bad_trees}"] if bad_trees else [])]
    problems: list[FormatError] = []

    def tell(problem: "FormatError") -> None:
        problems.append(problem)
        say(f"bad tree: {problem}")

    with ExitStack() as stack:
        outcome = run(
            configuration.load(config, wanted),
            out,
            resume=resume,
            init_from=init_from,
            command=command_line(),
            report=reporter(stack),
            tell=tell,
        )
    if not outcome.main:
        return
    if problems:
        say(f"{plural(len(problems), 'bad tree')} in the data")
    for part, scores in outcome.scores.items():
        say(
            f"{part}: UAS {100 * scores['uas']:.2f}, LAS {100 * scores['las']:.2f} over words, "
            f"labelled exact match {100 * scores['lm']:.2f}{_graphs(scores)}"
        )
    say(f"the model of epoch {outcome.state.best_epoch} is in {outcome.home}")


def reporter(stack: ExitStack) -> "Callable[[Progress], None]":
    """Return a function that shows progress: a bar in a terminal, elsewhere a line each epoch and each minute."""
    if not sys.stderr.isatty():
        return every(MINUTE, time.monotonic)
    from ropewalk.reporting.progress import progress_bar

    bar = stack.enter_context(progress_bar())
    task = bar.add_task("training", total=1.0)

    def show(progress: "Progress") -> None:
        if progress.doing:
            bar.update(task, description=progress.doing, total=None)  # it pulses: nobody knows the time left
            bar.refresh()  # the next steps may take less time than the bar waits between two updates
            return
        scores = "".join(
            f" {name.upper()} {100 * progress.metrics[name]:.2f}" for name in ("uas", "las") if name in progress.metrics
        )
        bar.update(
            task,
            completed=progress.done,
            description=f"epoch {progress.epoch}/{progress.epochs} loss {progress.loss:.3f}{scores}",
        )
        _line(progress)

    return show


def every(seconds: float, clock: "Callable[[], float]") -> "Callable[[Progress], None]":
    """Return a function that prints a line after each epoch, and within one `seconds` after the last line."""
    begun = last = clock()
    before: float | None = None  # progress of an earlier run

    def show(progress: "Progress") -> None:
        nonlocal begun, last, before
        now = clock()
        if before is None:
            begun, before = now, progress.done
        _line(progress)
        if progress.doing:
            say(progress.doing)
            return
        if progress.ended:
            last = now
        elif now - last >= seconds:
            last = now
            remains = (now - begun) / max(progress.done - before, 1e-9) * (1 - progress.done) / 60
            say(
                f"epoch {progress.epoch}/{progress.epochs}, step {progress.step:,}: loss {progress.loss:.4f}, "
                f"{progress.words_per_second:,.0f} words/s, about {remains:,.0f} min remain"
            )

    return show


def _line(progress: "Progress") -> None:
    if progress.ended:
        say(
            f"epoch {progress.epoch}/{progress.epochs}: loss {progress.loss:.4f}, "
            f"dev UAS {100 * progress.metrics['uas']:.2f}, LAS {100 * progress.metrics['las']:.2f}"
            f"{_graphs(progress.metrics)}, "
            f"{progress.words_per_second:,.0f} words/s"
        )


def _graphs(scores: "Mapping[str, float]") -> str:
    """Return the score of graphs as text, if there is one."""
    return f", ELAS {100 * scores['elas']:.2f}" if "elas" in scores else ""
