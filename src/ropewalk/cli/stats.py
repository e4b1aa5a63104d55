"""The command `ropewalk stats`: count labels, indices and ropes of treebanks."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ropewalk.cli import coverage, shell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ropewalk.laboratory.splits import SplitSource
    from ropewalk.laboratory.statistics import Statistics
    from ropewalk.reporting.tables import Table


def stats(
    treebanks: coverage.Treebanks = None,
    train: coverage.TrainOption = None,
    dev: coverage.DevOption = None,
    test: coverage.TestOption = None,
    encodings: coverage.EncodingsOption = None,
    labels_in: Annotated[
        Literal["train", "all"],
        typer.Option(help="Count distinct labels, relations and label entropy in train, or in all splits."),
    ] = "train",
    which: Annotated[
        Literal["summary", "labels", "indices", "ropes"],
        typer.Option(
            "--table",
            help="summary: the paper's table; labels: distinct labels and entropy of each encoding; "
            "indices: trees by largest index; ropes: rope thickness and brackets per word.",
        ),
    ] = "summary",
    graphs: shell.GraphsOption = False,
    columns: shell.ColumnsOption = "",
    form: shell.FormatOption = None,
    output: shell.OutputOption = "-",
    plot: shell.PlotOption = None,
    overwrite: shell.OverwriteOption = False,
) -> None:
    """Count labels, indices and ropes of treebanks.

    A treebank is a folder in UD's layout, one that contains such folders, a single file, or the files of --train,
    --dev and --test. Trees, indices, ropes and brackets are counted in all splits; everything in a single file is
    counted. --plot draws the histogram of the largest index. With --graphs the summary counts arcs, heads, cycles,
    planes and indices, and the table labels has the labels of each encoding.
    """
    from ropewalk.laboratory import splits, statistics
    from ropewalk.laboratory.coverage import encodings_of
    from ropewalk.laboratory.published import LABELS
    from ropewalk.reporting import plots

    shell.warn_if_uncompiled()
    sources = coverage.sources(treebanks, train, dev, test)
    shell.demand_other(output, coverage.files_of(sources), overwrite=overwrite, plot=plot)
    if graphs:
        if plot is not None or which not in {"summary", "labels"}:
            raise typer.BadParameter("--graphs has the tables summary and labels, and no plot")
        shell.show(_of_graphs(sources, encodings or (), which, labels_in), form, output, columns)
        return
    coverage.demand_trees(sources)
    if plot is not None:
        plots.require(plot)
    chosen = encodings_of(encodings or LABELS.values())
    counted = [statistics.statistics(corpus, chosen, labels_in=labels_in) for corpus in map(splits.read, sources)]
    if plot is not None:
        _draw(plot, counted)
    shell.show(statistics.TABLES[which](counted), form, output, columns)


def _of_graphs(sources: "Iterable[SplitSource]", encodings: "Sequence[str]", which: str, labels_in: str) -> "Table":
    from ropewalk.laboratory import statistics
    from ropewalk.laboratory.coverage import graph_encodings_of

    if which == "labels":
        return statistics.graph_labels_table(coverage.graph_corpora(sources), graph_encodings_of(encodings), labels_in)
    names: list[str] = []
    counted: list[statistics.GraphSummary] = []
    for corpus in coverage.graph_corpora(sources):
        names.append(corpus.name)
        summaries = map(statistics.summarize_graphs, corpus.splits.values())
        counted.append(sum(summaries, start=statistics.GraphSummary()))
    return statistics.graph_summary_table(names, counted, of="treebank")


def _draw(plot: str, counted: "Sequence[Statistics]") -> None:
    from ropewalk.reporting import plots

    most = max(len(treebank.indices) for treebank in counted)
    plots.bars(
        plot,
        [str(number) for number in range(1, max(most, 2))],
        {
            treebank.name: [100 * count / treebank.all_trees for count in (*treebank.indices, *[0] * max(most, 2))][
                1 : max(most, 2)
            ]
            for treebank in counted
        },
        plots.AxisLabels("Trees whose labels need an index", "largest index", "% of trees"),
    )
