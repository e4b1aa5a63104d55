"""The command `ropewalk stats`: count labels, indices and ropes of treebanks."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ropewalk.cli import coverage, shell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ropewalk.laboratory.splits import SplitSource
    from ropewalk.laboratory.statistics import Statistics
    from ropewalk.reporting.tables import Table


@shell.with_table_options
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
    table_output: shell.TableOutput = shell.TableOutput(),
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

    shell.warn_if_uncompiled()
    sources = coverage.sources(treebanks, train, dev, test)
    table_output.demand_other(coverage.files_of(sources))
    if graphs:
        if table_output.plot is not None or which not in {"summary", "labels"}:
            raise typer.BadParameter("--graphs has the tables summary and labels, and no plot")
        table_output.show(_of_graphs(sources, encodings or (), which, labels_in))
        return
    coverage.demand_trees(sources)
    table_output.require_plots()
    chosen = encodings_of(encodings or LABELS.values())
    counted = [statistics.statistics(corpus, chosen, labels_in=labels_in) for corpus in map(splits.read, sources)]
    if table_output.plot is not None:
        _draw(table_output.plot, counted)
    table_output.show(statistics.TABLES[which](counted))


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
