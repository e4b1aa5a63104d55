"""Tables as values, and one pure function for each way to write one."""

from __future__ import annotations

import csv
import html
import io
import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from ropewalk.reporting.escaping import clean, latex_escape, markdown_escape, markdown_paragraph, spreadsheet_escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Item = TypeVar("Item")
Cell = str | int | float | None
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column: its header, and how its cells are written for people.

    `key` names the column for programs (JSON, CSV, TSV) and is the header unless given. `decimals` is for
    numbers with a fraction. Columns of numbers stand flush right, all others flush left.
    """

    name: str
    key: str = ""
    unit: str = ""
    decimals: int | None = None
    numeric: bool = True

    @property
    def header(self) -> str:
        """The header for people, with the unit."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @property
    def id(self) -> str:
        """The header for programs."""
        return self.key or self.name

    def show(self, cell: Cell) -> str:
        """Write a cell for people; what is missing or not a number is a dash."""
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            return "-"
        if isinstance(cell, float) and self.decimals is not None:
            return f"{cell:.{self.decimals}f}"
        return str(cell)


def text_columns(*names: str) -> tuple[TableColumn, ...]:
    """Return columns of texts."""
    return tuple(TableColumn(name, numeric=False) for name in names)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: columns, rows, totals under them, notes at its foot, and cells that stand out.

    `bold` and `underlined` hold (row, column) places counted from 0, totals following on the rows.
    """

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    totals: tuple[tuple[Cell, ...], ...] = ()
    notes: tuple[str, ...] = ()
    bold: frozenset[Place] = frozenset()
    underlined: frozenset[Place] = frozenset()

    def __post_init__(self) -> None:
        for row in (*self.rows, *self.totals):
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} cells under {len(self.columns)} columns: {row}")

    @classmethod
    def of(
        cls,
        title: str,
        items: Iterable[Item],
        columns: Mapping[TableColumn, Callable[[Item], Cell]],
        totals: Iterable[Item] = (),
        notes: tuple[str, ...] = (),
    ) -> Table:
        """Build a table with a row for each item; each column comes with the function that computes its cells."""
        rows, sums = (
            tuple(tuple(cell(item) for cell in columns.values()) for item in some) for some in (items, totals)
        )
        return cls(title, tuple(columns), rows, sums, notes)

    def mark_best(self, column: str, *, highest: bool = True) -> Table:
        """Underline the best value of a column, and all that are written the same; totals do not compete."""
        at = [one.id for one in self.columns].index(column)
        shown = self.columns[at]
        values = {
            row: float(shown.show(cells[at]))
            for row, cells in enumerate(self.rows)
            if isinstance(cells[at], int | float) and not math.isnan(float(cells[at] or 0))
        }
        if not values:
            return self
        best = max(values.values()) if highest else min(values.values())
        places = frozenset((row, at) for row, value in values.items() if value == best)
        return replace(self, underlined=self.underlined | places)


def to_json(table: Table) -> str:
    """Write one JSON object: title, units, rows and totals as records with full precision, notes."""

    def records(rows: Iterable[tuple[Cell, ...]]) -> list[dict[str, Cell]]:
        return [{column.id: _plain(cell) for column, cell in zip(table.columns, row, strict=True)} for row in rows]

    whole = {
        "title": table.title,
        "units": {column.id: column.unit for column in table.columns if column.unit},
        "rows": records(table.rows),
        "totals": records(table.totals),
        "notes": list(table.notes),
    }
    return json.dumps(whole, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def to_csv(table: Table) -> str:
    """Write comma-separated values, totals last, with full precision; an apostrophe stands before possible formulas."""
    return _separated(table, ",")


def to_tsv(table: Table) -> str:
    """Write tab-separated values as `to_csv` does those with commas."""
    return _separated(table, "\t")


def to_markdown(table: Table) -> str:
    """Write a GitHub table with the title above and the notes below."""

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    cells = _shown(table, markdown_escape, "**{}**".format, "<u>{}</u>".format)
    rules = ["---:" if column.numeric else "---" for column in table.columns]
    headers = [markdown_escape(column.header) for column in table.columns]
    lines = [line(headers), line(rules), *(line(row) for row in cells)]
    parts = [f"**{markdown_escape(table.title)}**", "\n".join(lines), *map(markdown_paragraph, table.notes)]
    return "\n\n".join(part for part in parts if part != "****") + "\n"


def to_latex(table: Table) -> str:
    """Write a LaTeX table environment for the package booktabs."""

    def line(cells: Iterable[str]) -> str:
        return "    " + " & ".join(cells) + r" \\"

    cells = _shown(table, latex_escape, r"\textbf{{{}}}".format, r"\underline{{{}}}".format)
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \begin{{tabular}}{{{''.join('r' if column.numeric else 'l' for column in table.columns)}}}",
        r"    \toprule",
        line(latex_escape(column.header) for column in table.columns),
        r"    \midrule",
        *(line(row) for row in cells[: len(table.rows)]),
        *([r"    \midrule"] if table.totals else []),
        *(line(row) for row in cells[len(table.rows) :]),
        r"    \bottomrule",
        r"  \end{tabular}",
        rf"  \caption{{{' '.join(latex_escape(text) for text in (table.title, *table.notes))}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def to_html(table: Table) -> str:
    """Write an HTML table element that needs no style sheet."""

    def line(tag: str, cells: Iterable[str]) -> str:
        kinds = [' style="text-align:right"' if column.numeric else "" for column in table.columns]
        inner = "".join(f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
        return f"<tr>{inner}</tr>"

    cells = _shown(table, _html_escape, "<strong>{}</strong>".format, "<u>{}</u>".format)
    lines = [
        "<table>",
        f"<caption>{_html_escape(table.title)}</caption>",
        f"<thead>{line('th', (_html_escape(column.header) for column in table.columns))}</thead>",
        "<tbody>",
        *(line("td", row) for row in cells[: len(table.rows)]),
        "</tbody>",
    ]
    if table.totals or table.notes:
        span = f'<td colspan="{len(table.columns)}">'
        lines += [
            "<tfoot>",
            *(line("td", row) for row in cells[len(table.rows) :]),
            *(f"<tr>{span}{_html_escape(note)}</td></tr>" for note in table.notes),
            "</tfoot>",
        ]
    return "\n".join([*lines, "</table>"]) + "\n"


def to_text(table: Table, *, width: int | None = None, colour: bool = False) -> str:
    """Draw the table for a terminal of a given width, or as wide as it needs to be."""
    import rich.box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as Drawing

    def shown(text: str) -> str:
        return escape(clean(text))

    drawing = Drawing(title=shown(table.title), box=rich.box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for column in table.columns:
        drawing.add_column(shown(column.header), justify="right" if column.numeric else "left", overflow="fold")
    cells = _shown(table, shown, "[bold]{}[/bold]".format, "[underline]{}[/underline]".format)
    for number, row in enumerate(cells, start=1):
        drawing.add_row(*row, end_section=number == len(table.rows) and bool(table.totals))
    out = io.StringIO()
    console = Console(
        file=out,
        width=width or 10_000,
        force_terminal=colour,
        color_system="standard" if colour else None,
        highlight=False,
        emoji=False,
    )
    console.print(drawing)
    for note in table.notes:
        console.print(shown(note))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


FORMATS: dict[str, Callable[[Table], str]] = {
    "table": to_text,
    "json": to_json,
    "csv": to_csv,
    "tsv": to_tsv,
    "markdown": to_markdown,
    "latex": to_latex,
    "html": to_html,
}


def _plain(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _separated(table: Table, separator: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    writer.writerow(spreadsheet_escape(column.id) for column in table.columns)
    for row in (*table.rows, *table.totals):
        writer.writerow(spreadsheet_escape(cell) if isinstance(cell, str) else _plain(cell) for cell in row)
    return out.getvalue()


def _html_escape(text: str) -> str:
    return html.escape(clean(text))


def _shown(
    table: Table, escape: Callable[[str], str], bold: Callable[[str], str], underlined: Callable[[str], str]
) -> list[list[str]]:
    """Write every cell for people, rows first, then totals."""
    out: list[list[str]] = []
    for row, cells in enumerate((*table.rows, *table.totals)):
        texts = [escape(column.show(cell)) for column, cell in zip(table.columns, cells, strict=True)]
        for at, text in enumerate(texts):
            if (row, at) in table.bold:
                texts[at] = bold(text)
            elif (row, at) in table.underlined:
                texts[at] = underlined(text)
        out.append(texts)
    return out
