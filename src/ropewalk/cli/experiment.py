"""`ropewalk experiment`."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli.shell import command_line, folder_option, plural, prepare_torch, say, set_option, warn_if_uncompiled
from ropewalk.cli.train import reporter

if TYPE_CHECKING:
    from ropewalk.laboratory.experiment import Result
    from ropewalk.reporting.tables import Table


def experiment(
    grid: Annotated[str, typer.Argument(metavar="GRID.toml", help="The grid; see docs/training.md.")],
    out: Annotated[str, folder_option("The folder for the models and tables.")],
    changes: Annotated[list[str] | None, set_option("Change an option of every run")] = None,
) -> None:
    """Train a grid of encodings, encoders, treebanks and seeds, and compare them.

    Runs that are done are not done again, an interrupted one goes on where it stopped, and those are left out whose
    treebank or encoder cannot be found. Writes after each run the paper's table of results (`summary`), every score
    (`details`), means over seeds and their spread, if there are several (`seeds`), the scores of enhanced graphs
    (`graphs`), the paper's systems beside its own figures (`paper`), words per second on each device (`speed`) and the
    energy of training and parsing, if measured, beside the paper's (`energy`), as Markdown, CSV and LaTeX, and at the
    end for each treebank the figure of LAS over sentences against words per second with the front that no other beats,
    as SVG and PNG. What each run predicts is kept beside its
    model, for `ropewalk compare`.
    """
    prepare_torch()
    warn_if_uncompiled()
    from ropewalk import files
    from ropewalk.errors import ModelError
    from ropewalk.laboratory import experiment as library
    from ropewalk.laboratory.graph_results import graph_table
    from ropewalk.laboratory.published import published
    from ropewalk.reporting import plots

    plots.require("figure.svg")
    planned = library.cells(grid, changes or [])
    home = files.make_folder(out)
    results: list[Result] = []
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
        _write(home / "summary", library.summary(results))
        _write(home / "details", library.details(results))
        more = {
            "seeds": library.spread(results),
            "graphs": graph_table(library.over_seeds(results)),
            "paper": library.beside_paper(results, published()),
            "speed": library.speed(results),
            "energy": library.energy(results, published()),
        }
        for name, table in more.items():
            if table.rows:
                _write(home / name, table)
    for treebank in {result.treebank: None for result in results}:
        for suffix in ("svg", "png"):
            plots.scatter(
                home / f"pareto-{treebank}.{suffix}",
                library.points(results, treebank),
                plots.AxisLabels(treebank, "words per second", "LAS over sentences"),
            )
    say(f"tables and figures are in {home}")


def _write(path: Path, table: "Table") -> None:
    from ropewalk import files
    from ropewalk.reporting.tables import FORMATS

    for form, suffix in (("markdown", "md"), ("csv", "csv"), ("latex", "tex")):
        with files.creating(path.with_suffix(f".{suffix}")) as file:
            file.write(FORMATS[form](table).encode("utf-8"))
