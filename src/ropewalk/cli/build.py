"""The command `ropewalk build`: build a complete parser from a treebank."""

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli import shell
from ropewalk.cli.coverage import DevOption, TestOption, TrainOption, files_of, sources
from ropewalk.cli.train import reporter
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ropewalk.autobuild.planning import Plan
    from ropewalk.autobuild.stages import Event
    from ropewalk.laboratory.splits import SplitSource


def build(
    treebanks: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TREEBANK]...", help="A treebank's folder in UD's layout; several train one parser."),
    ] = None,
    out: Annotated[str, shell.folder_option("The folder for the model.")] = "",
    train: TrainOption = None,
    dev: DevOption = None,
    test: TestOption = None,
    main: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Of several treebanks, the one with dev and test and the style of the output.",
            show_default="the first",
        ),
    ] = "",
    minutes: Annotated[float, typer.Option(min=0, help="Approximate time limit in minutes; 0 is none.")] = 60.0,
    encoder: Annotated[
        str, typer.Option(metavar="NAME|FOLDER", help="A pretrained encoder, from the hub or a folder.")
    ] = "",
    vectors: Annotated[
        str,
        typer.Option(
            metavar="FILE|FOLDER",
            help="Static word vectors, a word and its numbers on a line; or a folder with vectors of subwords.",
        ),
    ] = "",
    teachers: Annotated[
        int,
        typer.Option(min=0, max=20, help="Number of teachers: parsers with other seeds that are trained first."),
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the training.")] = 1,
    threads: Annotated[int, typer.Option(min=0, help="Threads; 0 is all cores.")] = 0,
    changes: Annotated[
        list[str] | None,
        shell.set_option("Change an option, such as parser.training.epochs=5 or segmenter.training.epochs=5"),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and its reasons, and do nothing.")] = False,
) -> None:
    """Build a complete parser from treebanks.

    The model parses raw text without torch. Options are chosen from the data; --dry-run prints them with the reasons.
    The command trains a segmenter and a parser with tags and lemmas, calibrates and exports them, scores the model on
    the test file and writes its card. After an interruption the same command continues, with the help of a folder
    beside OUTPUT that ends in .work.
    """
    if not out and not dry_run:
        raise typer.BadParameter("the output is named with -o, --output; use -o FOLDER")
    shell.prepare_torch()
    shell.warn_if_uncompiled()
    from ropewalk.autobuild.planning import BuildOptions
    from ropewalk.autobuild.stages import build as run
    from ropewalk.autobuild.stages import planned
    from ropewalk.options import checked

    options = checked(
        BuildOptions,
        {
            "minutes": minutes,
            "encoder": str(Path(encoder).resolve()) if Path(encoder).is_dir() and encoder else encoder,
            "vectors": str(Path(vectors).resolve()) if vectors else "",
            "teachers": teachers,
            "seed": seed,
            "threads": threads,
            "changes": changes or [],
        },
        "build",
    )
    banks = _ordered(main, _named(treebanks, train, dev, test))
    if dry_run:
        typer.echo("\n".join(map(clean, _lines(planned(banks, options)[0]))))
        return
    shell.demand_outside(out, [*files_of(banks), *filter(None, (options.vectors, options.encoder))])
    with ExitStack() as stack:
        built = run(banks, out, options, command=shell.command_line(), report=_teller(stack))
    shell.say(f"{out} is ready after {built.seconds / 60:.1f} minutes: ropewalk parse -m {shell.as_folder(out)} FILE")
    shell.say(f"{built.work} is only needed to train further: ropewalk train --init-from {built.work / 'parser'} …")


def _named(treebanks: list[str] | None, *files: str | None) -> "list[SplitSource]":
    """Return the treebanks, or raise if a folder contains several, or if one is a file."""
    from ropewalk.laboratory.splits import WHOLE

    named = []
    for treebank in treebanks or [""]:
        inside = sources([treebank] if treebank else None, *files)
        if len(inside) > 1:
            names = ", ".join(source.name for source in inside[:6])
            raise typer.BadParameter(
                f"{treebank} contains {len(inside)} treebanks ({names}, …); name those that the model learns from"
            )
        if WHOLE in inside[0].files:
            raise typer.BadParameter(
                f"{treebank} is a single file; expected a folder in UD's layout, or files with --train, --dev and "
                "--test"
            )
        named += inside
    return named


def _ordered(main: str, treebanks: "list[SplitSource]") -> "list[SplitSource]":
    """Return the treebanks with that named `main` first, or raise if there is none of this name."""
    if not main:
        return treebanks
    name = Path(main).resolve().name
    if name not in {source.name for source in treebanks}:
        names = ", ".join(source.name for source in treebanks)
        raise typer.BadParameter(f"--main is {main}, which is none of the treebanks; expected one of: {names}")
    return sorted(treebanks, key=lambda source: source.name != name)


def _lines(plan: "Plan") -> list[str]:
    """Return a plan as lines: each choice with its reason, then notes about the data."""
    chosen = [f"{choice.what}: {choice.value} ({choice.reason})" for choice in plan.choices]
    return [*chosen, *(f"note: {text}" for text in plan.lacks)]


def _teller(stack: ExitStack) -> "Callable[[Event], None]":
    """Return a function that prints the events of a build: plan, stages, progress and remaining time."""
    from ropewalk.autobuild.planning import Plan
    from ropewalk.autobuild.stages import StageBegan, StageEnded
    from ropewalk.training.loop import Progress
    from ropewalk.training.segmenter_training import SegmenterProgress

    begun = time.monotonic()
    inner = stack.enter_context(ExitStack())
    show: Callable[[Progress], None] | None = None

    def tell(event: "Event") -> None:
        nonlocal begun, show
        match event:
            case Plan():
                for line in _lines(event):
                    shell.say(line)
            case StageBegan():
                begun = time.monotonic()
                shell.say(f"stage {event.number} of {event.of}, {event.name}: {event.doing}")
            case StageEnded():
                inner.close()
                show = None
                took = "was done before" if event.before else f"took {_span(event.seconds)}"
                shell.say(f"{event.name} {took}{_scores(event.name, event.scores)}")
            case SegmenterProgress():
                remains = (time.monotonic() - begun) / max(event.done, 1e-9) * (1 - event.done)
                shell.say(f"epoch {event.epoch}/{event.epochs}: {_shares(event.scores)}; about {_span(remains)} remain")
            case Progress():
                show = show or reporter(inner)
                show(event)
            case _:
                shell.say(f"bad tree: {event}")

    return tell


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _scores(stage: str, scores: "Mapping[str, Mapping[str, float]]") -> str:
    """Return the main scores of a stage as text."""
    kept = {"parser": ("uas", "las"), "export": ("uas", "las")}.get(stage)
    return "".join(
        f"; {part}: {_shares({name: value for name, value in values.items() if kept is None or name in kept})}"
        for part, values in scores.items()
    )


def _shares(scores: "Mapping[str, float]") -> str:
    return ", ".join(
        f"{name.upper() if name in ('uas', 'las') else name} {100 * value:.2f}" for name, value in scores.items()
    )
