"""The command `ropewalk experiment`: train and compare a grid of models."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli.shell import command_line, folder_option, plural, prepare_torch, say, set_option, warn_if_uncompiled
from ropewalk.cli.train import reporter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.laboratory.comparisons import Question
    from ropewalk.laboratory.experiment import Result
    from ropewalk.reporting.tables import Table


def experiment(
    grid: Annotated[
        str, typer.Argument(metavar="GRID.toml", help="Treebanks, systems and seeds, as in docs/experiments.md.")
    ],
    out: Annotated[str, folder_option("The folder for the models and tables.")],
    changes: Annotated[list[str] | None, set_option("Change an option of every run")] = None,
    columns: Annotated[
        str,
        typer.Option(
            metavar="NAME,…",
            help="Columns of the LaTeX tables, by their names in CSV; a table that lacks one keeps all.",
        ),
    ] = "",
) -> None:
    """Train and compare a grid of models.

    A grid has encodings, encoders, treebanks and seeds. Finished runs are kept, an interrupted one continues, and runs
    without their treebank or encoder are left out. After each run, writes as Markdown, CSV and LaTeX the paper's table
    of results (`summary`), every score (`details`), means and deviations over several seeds (`seeds`), the scores of
    enhanced graphs (`graphs`), the paper's systems beside its own figures (`paper`), words per second on each device
    (`speed`) and the energy of training and parsing, if measured, beside the paper's (`energy`). At the end, draws for
    each treebank the LAS over sentences against words per second with the Pareto front, as SVG and PNG. If the grid
    asks questions, compares their systems over all seeds, with intervals and Holm's correction (`comparisons`).

    The predictions of each run are kept beside its model, for `ropewalk compare`, and its scores in `results.jsonl`. A
    run with a line in that file is finished: to continue a grid in another folder, copy the file.
    """
    prepare_torch()
    warn_if_uncompiled()
    from ropewalk import files
    from ropewalk.errors import ModelError, TrainingError
    from ropewalk.laboratory import experiment as library
    from ropewalk.laboratory.comparisons import questions
    from ropewalk.reporting import plots

    plots.require("figure.svg")
    planned = library.cells(grid, changes or [])
    asked = questions(grid, library.systems(planned))
    library.demand_unchanged(planned, out)
    home = files.make_folder(out)
    results: list[Result] = []
    tables: dict[str, Table] = {}
    for number, cell in enumerate(planned, start=1):
        say(f"run {number} of {plural(len(planned), 'run')}: {cell.name}")
        if absent := library.missing(cell):
            say(f"note: left out, for {absent[0]} is not there")
            continue
        with ExitStack() as stack:
            try:
                results += library.run(cell, home, command=command_line(), report=reporter(stack))
            except ModelError as failure:
                say(f"note: left out: {failure}")
                continue
        tables = _tables(results, asked)
        for name, table in tables.items():
            if table.rows:
                _write(home / name, table, columns)
    if not results:
        raise TrainingError(f"{grid}: every run was left out; the notes above say what each of them lacks")
    _draw(home, results)
    for name in columns.split(",") if columns and tables else ():
        if all(table.find(name) is None for table in tables.values()):
            say(f"note: no table has the column {name!r}; expected names in the first lines of the .csv files")
    say(f"tables and figures are in {home}")


def _tables(results: "Sequence[Result]", asked: "Sequence[Question]") -> "dict[str, Table]":
    """Return all tables of a grid's results by name; some may have no rows."""
    from ropewalk.laboratory import experiment as library
    from ropewalk.laboratory.comparisons import comparisons
    from ropewalk.laboratory.graph_results import graph_table
    from ropewalk.laboratory.published import published

    return {
        "summary": library.summary(results),
        "details": library.details(results),
        "seeds": library.spread(results),
        "graphs": graph_table(library.over_seeds(results)),
        "paper": library.beside_paper(results, published()),
        "speed": library.speed(results),
        "energy": library.energy(results, published()),
        "comparisons": comparisons(results, asked),
    }


def _draw(home: Path, results: "Sequence[Result]") -> None:
    """Draw the accuracy and the speed of the systems on each treebank, as SVG and PNG."""
    from ropewalk.laboratory import experiment as library
    from ropewalk.reporting import plots

    for treebank in {result.treebank: None for result in results}:
        for suffix in ("svg", "png"):
            plots.scatter(
                home / f"pareto-{treebank}.{suffix}",
                library.points(results, treebank),
                plots.AxisLabels(treebank, "words per second", "LAS over sentences"),
            )


def _write(path: Path, table: "Table", columns: str) -> None:
    """Write a table as Markdown, CSV and LaTeX; `columns` names those that LaTeX has, if the table has all of them."""
    from ropewalk import files
    from ropewalk.reporting.tables import FORMATS

    wanted = columns.split(",")
    chosen = all(table.find(name) is not None for name in wanted)
    for form, suffix in (("markdown", "md"), ("csv", "csv"), ("latex", "tex")):
        with files.creating(path.with_suffix(f".{suffix}")) as file:
            shown = table.select(wanted) if chosen and form == "latex" else table
            file.write(FORMATS[form](shown).encode("utf-8"))
