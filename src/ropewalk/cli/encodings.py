"""`ropewalk encodings`."""

from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli.shell import FormatOption, OutputOption, show

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ropewalk.reporting.tables import Table


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

    def labels(alphabet: "tuple[str, ...] | None") -> int | None:
        return None if alphabet is None else len(alphabet)

    schemes = ", ".join(f"+{scheme}" for scheme in SCHEMES)
    return Table.of(
        "Encodings",
        known(),
        {
            TableColumn("name", numeric=False): str,
            TableColumn("symbol", numeric=False): lambda name: get(name).symbol or None,
            TableColumn("columns", numeric=False): lambda name: ", ".join(get(name).columns),
            TableColumn("labels"): lambda name: labels(get(name).alphabet),
            TableColumn("options", numeric=False): lambda name: _listed(options_of(name)),
            TableColumn("covers", numeric=False): lambda name: get(name).summary,
            TableColumn("cites", numeric=False): lambda name: get(name).cites,
        },
        notes=(
            "No number of labels: it grows with the trees.",
            f"A projective encoding becomes pseudo-projective with a scheme after its name: {schemes}.",
        ),
    )


def _of_graphs() -> "Table":
    from ropewalk.encodings.graphs import KNOWN, get, options_of
    from ropewalk.reporting.tables import Table, text_columns

    rows = (
        (name, ", ".join(get(name).columns), _listed(options_of(name)), get(name).summary, get(name).cites)
        for name in KNOWN
    )
    return Table("Encodings of graphs", text_columns("name", "columns", "options", "covers", "cites"), tuple(rows))


def _listed(options: "Mapping[str, object]") -> str:
    return ", ".join(f"{option}={value}" for option, value in options.items())
