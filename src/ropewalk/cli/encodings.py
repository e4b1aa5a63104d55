"""`ropewalk encodings`."""

from ropewalk.cli.shell import Format, FormatOption, show


def encodings(form: FormatOption = Format.TABLE) -> None:
    """List all encodings: what each is called, covers and cites, and what options it takes.

    Encodings that installed packages add are listed too.
    """
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
