"""The command `ropewalk coverage`, and the arguments with which commands name treebanks."""

import statistics
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ropewalk.cli import shell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from ropewalk.core.graphs import Graphs
    from ropewalk.laboratory.coverage import Coverage
    from ropewalk.laboratory.splits import Corpus, SplitSource
    from ropewalk.scoring.attachment import AttachmentScores


class Split(StrEnum):
    """Splits of a treebank; typer takes no `Literal` in a list."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


Treebanks = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TREEBANK]...", help="A folder in UD's layout, one that contains several, or a single file."
    ),
]
TrainOption = Annotated[str | None, typer.Option("--train", metavar="FILE", help="CoNLL-U file of the train split.")]
DevOption = Annotated[str | None, typer.Option("--dev", metavar="FILE", help="CoNLL-U file of the dev split.")]
TestOption = Annotated[str | None, typer.Option("--test", metavar="FILE", help="CoNLL-U file of the test split.")]
EncodingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--encoding",
        "-e",
        metavar="ENCODING",
        show_default="those of the paper",
        help="An encoding, such as optimal+head or brackets(planes=2), or all; repeatable.",
    ),
]


@shell.with_table_options
def coverage(
    treebanks: Treebanks = None,
    train: TrainOption = None,
    dev: DevOption = None,
    test: TestOption = None,
    encodings: EncodingsOption = None,
    splits: Annotated[
        list[Split] | None,
        typer.Option("--split", show_default="all", help="A split to measure: train, dev or test; repeatable."),
    ] = None,
    policy: Annotated[
        Literal["published", "lift"],
        typer.Option(help="Non-projective trees in encodings without them: published: as in the paper; lift: lifted."),
    ] = "published",
    repair: shell.RepairOption = shell.Repair.NEAREST,
    graphs: shell.GraphsOption = False,
    table_output: shell.TableOutput = shell.TableOutput(),
) -> None:
    """Measure how much of a treebank labels preserve.

    Theoretical coverage encodes, decodes, repairs and compares. Empirical coverage does the same with only the
    labels and relations of train: others become the most frequent one there. A treebank is a folder in UD's layout,
    one that contains such folders, a single file (which has no train), or the files of --train, --dev and --test.
    --plot draws bars of LAS over words, the mean of several treebanks.
    """
    from ropewalk.laboratory import coverage as library
    from ropewalk.laboratory.published import PAPER
    from ropewalk.laboratory.splits import WHOLE, read

    shell.warn_if_uncompiled()
    wanted = [split.value for split in splits or ()]
    treebank_sources = sources(treebanks, train, dev, test)
    if wanted and (single := next((source.name for source in treebank_sources if WHOLE in source.files), None)):
        raise typer.BadParameter(f"{single} is a single file without splits; leave out --split")
    table_output.demand_other(files_of(treebank_sources))
    if graphs:
        if table_output.plot is not None:
            raise typer.BadParameter("--plot draws the coverage of trees; leave out --graphs")
        coders = library.graph_encodings_of(encodings or ())
        measured = [library.graph_coverage(corpus, coders, splits=wanted) for corpus in graph_corpora(treebank_sources)]
        table_output.show(library.graph_coverage_table([row for some in measured for row in some]))
        return
    demand_trees(treebank_sources)
    table_output.require_plots()
    chosen = library.encodings_of(encodings or PAPER.values(), policy=policy)
    rows: list[Coverage[AttachmentScores]] = []
    missing: list[str] = []
    for corpus in map(read, treebank_sources):
        rows += library.coverage(corpus, chosen, splits=wanted, repair=repair.value)
        if "train" not in corpus.splits:
            missing.append(f"{corpus.name}: no train at hand, so no empirical coverage")
    if table_output.plot is not None and rows:
        _draw(table_output.plot, rows)
    table_output.show(library.coverage_table(rows, repair=repair.value, missing=missing))


def sources(treebanks: list[str] | None, *files: str | None) -> "list[SplitSource]":
    """Return the treebanks of a command, and print which splits are missing."""
    from ropewalk.laboratory import splits

    named = dict(zip(splits.SPLITS, files, strict=True))
    if bool(treebanks) == any(named.values()):
        raise typer.BadParameter(
            "expected either files and folders in UD's layout, or the splits of a treebank as --train, --dev, --test"
        )
    named_sources = (
        [source for path in treebanks for source in splits.find(path)] if treebanks else [splits.of_files(named)]
    )
    note_missing(named_sources)
    return named_sources


def note_missing(sources: "Iterable[SplitSource]", of: str = "") -> None:
    """Print which splits the treebanks of a collection lack."""
    for source in sources:
        if source.missing:
            shell.say(f"note: {of}{source.name}: no {' or '.join(source.missing)}")


def files_of(sources: "Iterable[SplitSource]") -> "Iterator[Path]":
    """Return the files of all splits of treebanks."""
    return (file for source in sources for file in source.files.values())


def graph_corpora(sources: "Iterable[SplitSource]") -> "Iterator[Corpus[Graphs]]":
    """Read the graphs of every split: DEPS of CoNLL-U, or .sdp files."""
    from ropewalk.core.graphs import Graphs
    from ropewalk.formats.label_files import Nodes
    from ropewalk.laboratory.splits import Corpus

    for source in sources:
        splits = {
            split: Graphs.concat([Nodes.of(bank).graphs for bank in shell.graph_banks(str(file))])
            for split, file in source.files.items()
        }
        yield Corpus(source.name, splits)


def demand_trees(sources: "Iterable[SplitSource]") -> None:
    """Raise if a file has graphs where trees are counted."""
    for file in files_of(sources):
        shell.demand_conllu(file, ", or --graphs to read them")


def _draw(plot: str, rows: "Sequence[Coverage[AttachmentScores]]") -> None:
    from ropewalk.reporting import plots

    values: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in rows:
        values.setdefault((row.kind, row.split), {}).setdefault(row.encoding, []).append(100 * row.scores.las)
    names = list(dict.fromkeys(row.encoding for row in rows))
    treebanks = list(dict.fromkeys(row.treebank for row in rows))
    series: dict[str, list[float]] = {}
    for (kind, split), scores in values.items():
        many = len(scores[names[0]])
        few = f" ({many} of them)" if many < len(treebanks) else ""
        series[f"{kind}, {split}{few}"] = [statistics.fmean(scores[name]) for name in names]
    of = treebanks[0] if len(treebanks) == 1 else f"mean of {len(treebanks)} treebanks"
    lowest = min(value for line in series.values() for value in line)
    plots.bars(
        plot,
        names,
        series,
        plots.AxisLabels(f"Coverage, {of}", y="LAS over words, %"),
        bounds=(max(0.0, lowest - max(0.5, (100 - lowest) / 4)), 100),
    )
