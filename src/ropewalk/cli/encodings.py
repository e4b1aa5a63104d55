"""`ropewalk encodings`."""

from typing import Annotated

import typer

from ropewalk.cli.shell import Format, FormatOption, show


def encodings(
    graphs: Annotated[bool, typer.Option("--graphs", help="List the encodings of graphs instead.")] = False,
    form: FormatOption = Format.TABLE,
) -> None:
    """List all encodings: what each is called, covers and cites, and what options it takes.

    Encodings that installed packages add are listed too.
    """
    if graphs:
        _list_graphs(form)
        return
    from ropewalk.encodings import get, known, options_of
    from ropewalk.projectivity import SCHEMES
    from ropewalk.tables import Cell, Table, TableColumn

    def row(name: str) -> tuple[Cell, ...]:
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
    show(
        Table(
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
        ),
        form,
    )


def _list_graphs(form: Format) -> None:
    from ropewalk.encodings.graphs import KNOWN, get, options_of
    from ropewalk.tables import Table, TableColumn

    names = ("name", "columns", "options", "covers", "cites")
    show(
        Table(
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
        ),
        form,
    )
