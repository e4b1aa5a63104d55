"""`ropewalk stats`."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli.coverage import (
    DevOption,
    EncodingsOption,
    GraphsOption,
    PlotOption,
    TestOption,
    TrainOption,
    Treebanks,
    demand_trees,
    files_of,
    graph_corpora,
    sources,
)
from ropewalk.cli.shell import (
    FormatOption,
    OutputOption,
    OverwriteOption,
    demand_other,
    show,
    warn_if_uncompiled,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ropewalk.laboratory.splits import SplitSource
    from ropewalk.laboratory.statistics import Statistics
    from ropewalk.reporting.tables import Table


class LabelsIn(StrEnum):
    """Where labels and relations are counted."""

    TRAIN = "train"
    ALL = "all"


class Which(StrEnum):
    """Which table to print; the names are those of `ropewalk.laboratory.statistics.TABLES`."""

    SUMMARY = "summary"
    LABELS = "labels"
    INDICES = "indices"
    ROPES = "ropes"


def stats(
    treebanks: Treebanks = None,
    train: TrainOption = None,
    dev: DevOption = None,
    test: TestOption = None,
    encodings: EncodingsOption = None,
    labels_in: Annotated[
        LabelsIn, typer.Option("--labels-in", help="Where to count distinct labels, relations and label entropy.")
    ] = LabelsIn.TRAIN,
    which: Annotated[
        Which,
        typer.Option(
            "--table",
            help="summary: the paper's table; labels: distinct labels and entropy of each encoding; "
            "indices: trees by largest index; ropes: rope thickness and brackets per word.",
        ),
    ] = Which.SUMMARY,
    graphs: GraphsOption = False,
    form: FormatOption = None,
    output: OutputOption = "-",
    plot: PlotOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Count what treebanks ask of the encodings.

    A treebank is a folder in UD's layout, or one that holds such folders, or the files given by --train, --dev
    and --test. Trees, indices, ropes and brackets are counted in all splits that there are. --plot draws the
    histogram of the largest index. With --graphs the summary counts arcs, heads, cycles, planes and indices, and
    the table labels has the labels of each encoding.
    """
    from ropewalk.laboratory import splits, statistics
    from ropewalk.laboratory.coverage import encodings_of
    from ropewalk.laboratory.published import LABELS
    from ropewalk.reporting import plots

    warn_if_uncompiled()
    found = sources(treebanks, train, dev, test)
    demand_other(output, files_of(found), overwrite=overwrite, plot=plot)
    if graphs:
        if plot is not None or which not in {Which.SUMMARY, Which.LABELS}:
            raise typer.BadParameter("--graphs has the tables summary and labels, and no plot")
        show(_of_graphs(found, encodings or (), which, labels_in.value), form, output)
        return
    demand_trees(found)
    if plot is not None:
        plots.require(plot)
    chosen = encodings_of(encodings or LABELS.values())
    counted = [statistics.statistics(corpus, chosen, labels_in=labels_in.value) for corpus in map(splits.read, found)]
    if plot is not None:
        _draw(plot, counted)
    show(statistics.TABLES[which.value](counted), form, output)


def _of_graphs(found: "Iterable[SplitSource]", encodings: "Sequence[str]", which: Which, labels_in: str) -> "Table":
    from ropewalk.laboratory import statistics
    from ropewalk.laboratory.coverage import graph_encodings_of

    if which is Which.LABELS:
        return statistics.graph_labels_table(graph_corpora(found), graph_encodings_of(encodings), labels_in)
    names: list[str] = []
    counted: list[statistics.GraphSummary] = []
    for corpus in graph_corpora(found):
        names.append(corpus.name)
        summaries = map(statistics.summarize_graphs, corpus.splits.values())
        counted.append(sum(summaries, start=statistics.GraphSummary()))
    return statistics.graph_summary_table(names, counted, of="treebank")


def _draw(plot: str, counted: "Sequence[Statistics]") -> None:
    from ropewalk.reporting import plots

    most = max(len(one.indices) for one in counted)
    plots.bars(
        plot,
        [str(number) for number in range(1, max(most, 2))],
        {
            one.name: [100 * count / one.all_trees for count in (*one.indices, *[0] * max(most, 2))][1 : max(most, 2)]
            for one in counted
        },
        plots.AxisLabels("Trees whose labels need an index", "largest index", "% of trees"),
    )
