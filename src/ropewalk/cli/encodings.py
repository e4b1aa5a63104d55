"""The command `ropewalk encodings`: list all encodings with coverage and options."""

from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli.shell import ColumnsOption, FormatOption, OutputOption, show

if TYPE_CHECKING:
    from ropewalk.reporting.tables import Cell, Table


DETAILS = ("columns", "cites")


def encodings(
    graphs: Annotated[bool, typer.Option("--graphs", help="List the encodings of graphs instead.")] = False,
    columns: ColumnsOption = "",
    form: FormatOption = None,
    output: OutputOption = "-",
) -> None:
    """List all encodings with coverage and options.

    Encodings of other installed packages are listed too.
    """
    show(_table(graphs=graphs), form, output, columns)


def _table(*, graphs: bool) -> "Table":
    from ropewalk import encodings
    from ropewalk.core.projectivity import SCHEMES
    from ropewalk.encodings import graphs as graph_encodings
    from ropewalk.reporting.tables import Table, TableColumn

    def row(name: str) -> "tuple[Cell, ...]":
        encoding = (graph_encodings if graphs else encodings).get(name)
        options = (graph_encodings if graphs else encodings).options_of(name)
        shown: tuple[Cell, ...] = ", ".join(encoding.columns), ", ".join(f"{key}={options[key]}" for key in options)
        if isinstance(encoding, encodings.Encoding):
            labels = encoding.alphabet
            shown = encoding.symbol or None, shown[0], None if labels is None else len(labels), shown[1]
        return name, *shown, encoding.summary, encoding.cites

    names = ["name", "columns", "options", "covers", "cites"]
    if not graphs:
        names[1:2] = ["symbol", "columns", "labels"]
    schemes = ", ".join(f"+{scheme}" for scheme in SCHEMES)
    notes = (
        "No number of labels: it grows with the trees.",
        f"A projective encoding becomes pseudo-projective with a scheme after its name: {schemes}.",
    )
    return Table(
        title="Encodings of graphs" if graphs else "Encodings",
        columns=tuple(TableColumn(name, numeric=name == "labels", detail=name in DETAILS) for name in names),
        rows=tuple(row(name) for name in (graph_encodings.known() if graphs else encodings.known())),
        notes=() if graphs else notes,
    )
