"""`ropewalk encodings`."""

from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli.shell import FormatOption, OutputOption, show

if TYPE_CHECKING:
    from ropewalk.reporting.tables import Cell, Table


def encodings(
    graphs: Annotated[bool, typer.Option("--graphs", help="List the encodings of graphs instead.")] = False,
    form: FormatOption = None,
    output: OutputOption = "-",
) -> None:
    """List all encodings: what each is called, covers and cites, and what options it takes.

    Encodings that installed packages add are listed too.
    """
    show(_of_graphs() if graphs else _of_trees(), form, output)


def _of_trees() -> "Table":
    from ropewalk.core.projectivity import SCHEMES
    from ropewalk.encodings import get, known, options_of
    from ropewalk.reporting.tables import Table, TableColumn

    def row(name: str) -> "tuple[Cell, ...]":
        encoding = get(name)
        labels = encoding.alphabet
        return (
            name,
            encoding.symbol or None,
            ", ".join(encoding.columns),
            None if labels is None else len(labels),
            ", ".join(f"{option}={value}" for option, value in options_of(name).items()),
            encoding.summary,
            encoding.cites,
        )

    schemes = ", ".join(f"+{scheme}" for scheme in SCHEMES)
    return Table(
        title="Encodings",
        columns=(
            TableColumn("name", numeric=False),
            TableColumn("symbol", numeric=False),
            TableColumn("columns", numeric=False),
            TableColumn("labels"),
            TableColumn("options", numeric=False),
            TableColumn("covers", numeric=False),
            TableColumn("cites", numeric=False),
        ),
        rows=tuple(row(name) for name in known()),
        notes=(
            "No number of labels: it grows with the trees.",
            f"A projective encoding becomes pseudo-projective with a scheme after its name: {schemes}.",
        ),
    )


def _of_graphs() -> "Table":
    from ropewalk.encodings.graphs import KNOWN, get, options_of
    from ropewalk.reporting.tables import Table, TableColumn

    names = ("name", "columns", "options", "covers", "cites")
    return Table(
        title="Encodings of graphs",
        columns=tuple(TableColumn(name, numeric=False) for name in names),
        rows=tuple(
            (
                name,
                ", ".join(get(name).columns),
                ", ".join(f"{option}={value}" for option, value in options_of(name).items()),
                get(name).summary,
                get(name).cites,
            )
            for name in KNOWN
        ),
    )
