"""`ropewalk info`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli.shell import (
    Files,
    FormatOption,
    OnError,
    OnErrorOption,
    OutputOption,
    OverwriteOption,
    bytes_of,
    demand_other,
    graph_banks,
    is_semantic,
    plural,
    say,
    show,
    warn_if_uncompiled,
)

if TYPE_CHECKING:
    from ropewalk.reporting.tables import Cell, Table
    from ropewalk.treebank.summary import Summary


def info(
    files: Files,
    graphs: Annotated[
        bool, typer.Option("--graphs", help="Count the graphs instead: DEPS of CoNLL-U, or .sdp files.")
    ] = False,
    form: FormatOption = None,
    output: OutputOption = "-",
    on_error: OnErrorOption = OnError.STOP,
    overwrite: OverwriteOption = False,
) -> None:
    """Count what CoNLL-U files hold.

    Prints for each file the number of sentences, words, multiword tokens and empty nodes, the longest
    sentence, the share of trees in which arcs cross, and the rope thickness; with --graphs that of arcs, heads per
    word, cycles, planes and indices. Files are read piece by piece: their size does not matter.
    """
    demand_other(output, files, overwrite=overwrite)
    warn_if_uncompiled()
    table = _of_graphs(files, on_error) if graphs else _of_trees(files, on_error)
    show(table, form, output)


def _of_trees(files: list[str], on_error: OnError) -> "Table":
    from ropewalk.treebank.summary import Summary

    summaries = [_summary_of(file, on_error) for file in files]
    return _table(files, summaries, sum(summaries, start=Summary()))


def _of_graphs(files: list[str], on_error: OnError) -> "Table":
    from ropewalk.formats.label_files import Nodes
    from ropewalk.laboratory.statistics import GraphSummary, graph_summary_table, summarize_graphs

    found = [
        sum((summarize_graphs(Nodes.of(bank).graphs) for bank in graph_banks(file, on_error)), start=GraphSummary())
        for file in files
    ]
    return graph_summary_table(files, found)


def _summary_of(file: str, on_error: OnError) -> "Summary":
    from ropewalk import conllu, sdp
    from ropewalk.reporting.progress import track
    from ropewalk.treebank.summary import Summary, summarize

    if is_semantic(file):
        raise sdp.refused(file, "CoNLL-U, or --graphs to count them")
    stream = conllu.stream(file, on_error=on_error.value)
    chunks = track(
        stream,
        file,
        total=Path(file).stat().st_size if Path(file).suffix == ".conllu" and Path(file).is_file() else None,
        size=bytes_of,
    )
    total = sum(map(summarize, chunks), start=Summary())
    for problem in stream.problems:
        say(f"skipped: {problem}")
    if stream.problems:
        say(f"{file}: skipped {plural(len(stream.problems), 'sentence')}")
    return total


def _table(files: list[str], summaries: list["Summary"], total: "Summary") -> "Table":
    from ropewalk.reporting.tables import Table, TableColumn

    def row(name: str, summary: "Summary") -> "tuple[Cell, ...]":
        share = summary.nonprojective_share
        return (
            name,
            summary.sentences,
            summary.words,
            summary.multiwords,
            summary.empties,
            summary.longest,
            None if share is None else 100 * share,
            summary.thickness_max if summary.trees else None,
            summary.thickness_mean,
        )

    return Table(
        title="Contents",
        columns=(
            TableColumn("file", numeric=False),
            TableColumn("sentences"),
            TableColumn("words"),
            TableColumn("multiword tokens", "multiword_tokens"),
            TableColumn("empty nodes", "empty_nodes"),
            TableColumn("longest sentence", "longest_sentence", unit="words"),
            TableColumn("non-projective", "nonprojective", unit="% of trees", decimals=2),
            TableColumn("rope thickness, most", "rope_thickness_max"),
            TableColumn("mean", "rope_thickness_mean", decimals=2),
        ),
        rows=tuple(row(file, summary) for file, summary in zip(files, summaries, strict=True)),
        totals=(row("total", total),) if len(files) > 1 else (),
    )
