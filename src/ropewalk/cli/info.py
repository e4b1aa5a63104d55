"""The command `ropewalk info`: count what CoNLL-U files contain."""

from typing import TYPE_CHECKING

from ropewalk.cli import shell

if TYPE_CHECKING:
    from ropewalk.reporting.tables import Table
    from ropewalk.treebank.summary import Summary


def info(
    files: shell.Files,
    graphs: shell.GraphsOption = False,
    columns: shell.ColumnsOption = "",
    form: shell.FormatOption = None,
    output: shell.OutputOption = "-",
    on_error: shell.OnErrorOption = shell.OnError.STOP,
    overwrite: shell.OverwriteOption = False,
) -> None:
    """Count what CoNLL-U files contain.

    Prints for each file the numbers of sentences, words, multiword tokens and empty nodes, the longest sentence, the
    share of trees with crossing arcs, and the rope thickness; with --graphs those of arcs, heads per word, cycles,
    planes and indices. Files are read piece by piece: their size does not matter.
    """
    shell.demand_other(output, files, overwrite=overwrite)
    shell.warn_if_uncompiled()
    table = _of_graphs(files, on_error) if graphs else _of_trees(files, on_error)
    shell.show(table, form, output, columns)


def _of_trees(files: list[str], on_error: shell.OnError) -> "Table":
    from ropewalk.treebank.summary import Summary

    summaries = [_summary_of(file, on_error) for file in files]
    return _table(files, summaries, sum(summaries, start=Summary()))


def _of_graphs(files: list[str], on_error: shell.OnError) -> "Table":
    from ropewalk.formats.label_files import Nodes
    from ropewalk.laboratory.statistics import GraphSummary, graph_summary_table, summarize_graphs

    summaries = [
        sum(
            (summarize_graphs(Nodes.of(bank).graphs) for bank in shell.graph_banks(file, on_error)),
            start=GraphSummary(),
        )
        for file in files
    ]
    return graph_summary_table(files, summaries)


def _summary_of(file: str, on_error: shell.OnError) -> "Summary":
    from ropewalk import conllu
    from ropewalk.treebank.summary import Summary, summarize

    shell.demand_conllu(file, ", or --graphs to count them")
    stream = conllu.stream(file, on_error=on_error.value)
    total = sum(map(summarize, shell.followed(stream, file, shell.bytes_of)), start=Summary())
    for problem in stream.problems:
        shell.say(f"skipped: {problem}")
    if stream.problems:
        shell.say(f"{file}: skipped {shell.plural(len(stream.problems), 'sentence')}")
    return total


def _table(files: list[str], summaries: list["Summary"], total: "Summary") -> "Table":
    from ropewalk.reporting.tables import Table, TableColumn

    def crossing(summary: "Summary") -> float | None:
        share = summary.nonprojective_share
        return None if share is None else 100 * share

    return Table.of(
        "Contents",
        zip(files, summaries, strict=True),
        {
            TableColumn("file", numeric=False): lambda row: row[0],
            TableColumn("sentences"): lambda row: row[1].sentences,
            TableColumn("words"): lambda row: row[1].words,
            TableColumn("multiword tokens", "multiword_tokens"): lambda row: row[1].multiwords,
            TableColumn("empty nodes", "empty_nodes"): lambda row: row[1].empties,
            TableColumn("longest sentence", "longest_sentence", unit="words"): lambda row: row[1].longest,
            TableColumn("non-projective", "nonprojective", unit="% of trees", decimals=2): lambda row: crossing(row[1]),
            TableColumn("rope thickness, most", "rope_thickness_max"): lambda row: (
                row[1].thickness_max if row[1].trees else None
            ),
            TableColumn("rope thickness, mean", "rope_thickness_mean", decimals=2): lambda row: row[1].thickness_mean,
        },
        totals=[("total", total)] if len(files) > 1 else (),
    )
