"""Tables as values, and one pure function for each output format."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeVar

from ropewalk.errors import UnknownNameError
from ropewalk.reporting.escaping import clean, latex_escape, markdown_escape, markdown_paragraph, spreadsheet_escape
from ropewalk.reporting.layout import cell_width, least_width, share_width, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Item = TypeVar("Item")
Cell = str | int | float | None
Place = tuple[int, int]  # row and column

EVERYTHING: Final = "all"  # the name that stands for all columns
MOST_TURNED: Final = 6  # rows that may become columns
GAP: Final = 3  # spaces between columns, in a table that is not narrowed
NARROW_GAP: Final = 2
PADDING: Final = "\u00a0"  # behind a number, where others of its column have a mark; no line is broken there
RAISED: Final = r"\rlap{{\textsuperscript{{{}}}}}"  # of LaTeX; it takes no width, so numbers stay aligned
MARGIN: Final = 1  # spaces before the first column


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column of a table: its header, and the format of its cells in output for people.

    `key` names the column in output for programs (JSON, CSV, TSV); by default it is `name`. `decimals` is the number of
    decimals of floats. Columns of numbers are aligned right, all others left. The text format leaves out columns with
    `detail`.
    """

    name: str
    key: str = ""
    unit: str = ""
    decimals: int | None = None
    numeric: bool = True
    detail: bool = False

    @property
    def header(self) -> str:
        """The header in output for people: the name and the unit."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @property
    def id(self) -> str:
        """The name of the column in output for programs: its key, or else its name."""
        return self.key or self.name

    def show(self, cell: Cell) -> str:
        """Return a cell as text for people; None and NaN become a dash."""
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            return "-"
        if isinstance(cell, float) and self.decimals is not None:
            return f"{cell:.{self.decimals}f}"
        return str(cell)


DIFFERENCE_COLUMNS = (  # the difference of two scores, and the ends of its interval
    TableColumn("B - A", "difference", unit="points", decimals=2),
    TableColumn("from", "low", decimals=2),
    TableColumn("to", "high", decimals=2),
)


def text_columns(*names: str) -> tuple[TableColumn, ...]:
    """Return a column of texts, aligned left, for each name."""
    return tuple(TableColumn(name, numeric=False) for name in names)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: columns, rows, rows of totals below them, notes at its foot, and emphasized cells.

    `bold` and `underlined` contain (row, column) pairs of indices; the indices of totals continue those of the rows.
    `marks` has texts to show after a cell, such as a star for a significant difference. JSON, CSV and TSV have no
    emphasis and no marks.
    """

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    totals: tuple[tuple[Cell, ...], ...] = ()
    notes: tuple[str, ...] = ()
    bold: frozenset[Place] = frozenset()
    underlined: frozenset[Place] = frozenset()
    marks: Mapping[Place, str] = field(default_factory=dict)

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
        """Build a table with a row for each of `items`, and a row at the end for each of `totals`.

        `columns` maps each column to the function that returns its cell for an item.
        """
        rows, sums = (
            tuple(tuple(cell(item) for cell in columns.values()) for item in some) for some in (items, totals)
        )
        return cls(title, tuple(columns), rows, sums, notes)

    def find(self, name: str) -> int | None:
        """Return the index of the column with the key `name`, or else with that header; None if there is none.

        Case is ignored.
        """
        wanted = name.strip().casefold()
        keys = [column.id.casefold() for column in self.columns]
        headers = [{column.name.casefold(), column.header.casefold()} for column in self.columns]
        by_header = next((number for number, some in enumerate(headers) if wanted in some), None)
        return keys.index(wanted) if wanted in keys else by_header

    def select(self, names: Sequence[str]) -> Table:
        """Return the table with only the columns whose keys or headers are in `names`, in the order of `names`.

        If `names` contains `all`, all columns are kept. Raise `UnknownNameError` if there is no such column.
        """
        if EVERYTHING in names:
            return replace(self, columns=tuple(replace(column, detail=False) for column in self.columns))
        indices: dict[int, None] = {}
        for name in names:
            index = self.find(name)
            if index is None:
                raise UnknownNameError("column", name.strip(), (*(known.id for known in self.columns), EVERYTHING))
            indices[index] = None
        chosen = _with_columns(self, list(indices))
        return replace(chosen, columns=tuple(replace(column, detail=False) for column in chosen.columns))

    def compact(self) -> Table:
        """Return the table without the columns with `detail`; a note lists them."""
        kept = [number for number, column in enumerate(self.columns) if not column.detail]
        if len(kept) == len(self.columns):
            return self
        left_out = ", ".join(column.name for column in self.columns if column.detail)
        notes = (f"Not shown: {left_out}.", "Use --columns all, or --format csv, for all columns.")
        chosen = _with_columns(self, kept)
        return replace(chosen, notes=(*chosen.notes, *notes))

    def fit(self, width: int) -> Table:
        """Return the table changed so that it fits a terminal of `width` cells without broken numbers, if possible.

        First, columns with the same text in all rows become a note. If that is not enough, rows and columns are
        exchanged, or the last columns are left out. Notes describe the changes.
        """
        if self.least_width <= width:
            return self
        table = _without_constants(self)
        if table.least_width <= width:
            return table
        turned = _transposed(table)
        if len(table.columns) <= 2:
            return table
        if len(self.rows) + len(self.totals) <= MOST_TURNED and turned.least_width <= width:
            return turned
        kept = len(table.columns)
        while kept > 2 and _with_columns(table, range(kept)).least_width > width:
            kept -= 1
        names = ", ".join(column.name for column in table.columns[kept:])
        note = f"Left out to fit {width} columns: {names}. Use a wider terminal, or --format csv."
        return replace(_with_columns(table, range(kept)), notes=(*table.notes, note))

    @property
    def least_width(self) -> int:
        """The least width of the table in a terminal, in cells, at which no number is broken."""
        columns = zip(self.columns, _across(self), strict=True)
        widths = [least_width(texts, column.header) for column, texts in columns]
        return MARGIN + sum(widths) + NARROW_GAP * (len(widths) - 1)

    def mark_best(self, column: str, *, highest: bool = True) -> Table:
        """Return the table with the best values of the column with the key `column` in bold.

        The best value is the largest, or the smallest without `highest`. Values are compared as shown, and totals are
        ignored.
        """
        at = [known.id for known in self.columns].index(column)
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
        return replace(self, bold=self.bold | places)


def _with_columns(table: Table, indices: Sequence[int]) -> Table:
    places = {old: new for new, old in enumerate(indices)}
    return replace(
        table,
        columns=tuple(table.columns[number] for number in indices),
        rows=tuple(tuple(row[number] for number in indices) for row in table.rows),
        totals=tuple(tuple(row[number] for number in indices) for row in table.totals),
        bold=frozenset((row, places[at]) for row, at in table.bold if at in places),
        underlined=frozenset((row, places[at]) for row, at in table.underlined if at in places),
        marks={(row, places[at]): mark for (row, at), mark in table.marks.items() if at in places},
    )


def _without_constants(table: Table) -> Table:
    """Replace columns that have the same text in all rows with a note, unless none would be left.

    A table with totals is not changed.
    """
    constant = [
        number
        for number, column in enumerate(table.columns)
        if not column.numeric and len(table.rows) > 1 and len({row[number] for row in table.rows}) == 1
    ]
    if not constant or table.totals or len(constant) == len(table.columns):
        return table
    values = "; ".join(
        f"{table.columns[number].name}: {table.columns[number].show(table.rows[0][number])}" for number in constant
    )
    rest = _with_columns(table, [number for number in range(len(table.columns)) if number not in constant])
    return replace(rest, notes=(f"In all rows: {values}.", *rest.notes))


def _transposed(table: Table) -> Table:
    """Exchange rows and columns; the texts at the beginning of each row become the header of its new column."""
    leading = next((number for number, column in enumerate(table.columns) if column.numeric), len(table.columns)) or 1
    rows = (*table.rows, *table.totals)
    titles = [
        " ".join(column.show(cell) for column, cell in zip(table.columns[:leading], row[:leading], strict=True))
        for row in rows
    ]

    def turned(place: Place) -> Place:
        return place[1] - leading, place[0] + 1

    return replace(
        table,
        columns=(TableColumn("", numeric=False), *(TableColumn(title) for title in titles)),
        rows=tuple(
            (column.header, *(column.show(row[number]) for row in rows))
            for number, column in enumerate(table.columns)
            if number >= leading
        ),
        totals=(),
        notes=(*table.notes, "Rows and columns are exchanged to fit the terminal."),
        bold=frozenset(turned(place) for place in table.bold if place[1] >= leading),
        underlined=frozenset(turned(place) for place in table.underlined if place[1] >= leading),
        marks={turned(place): mark for place, mark in table.marks.items() if place[1] >= leading},
    )


def to_json(table: Table) -> str:
    """Return the table as one JSON object: title, units, rows, totals and notes.

    A row or total is an object with a value for each column. Numbers have full precision; NaN becomes null.
    """

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
    """Return the table as comma-separated values with full precision, totals last.

    A text that a spreadsheet might read as a formula gets an apostrophe before it.
    """
    return _separated(table, ",")


def to_tsv(table: Table) -> str:
    """Return the table as tab-separated values, otherwise like `to_csv`."""
    return _separated(table, "\t")


def to_markdown(table: Table) -> str:
    """Return the table in GitHub's Markdown, with the title above and the notes below."""

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    cells = _shown(table, markdown_escape, "**{}**".format, "<u>{}</u>".format, str)
    rules = ["---:" if column.numeric else "---" for column in table.columns]
    headers = [markdown_escape(column.header) for column in table.columns]
    lines = [line(headers), line(rules), *(line(row) for row in cells)]
    parts = [f"**{markdown_escape(table.title)}**", "\n".join(lines), *map(markdown_paragraph, table.notes)]
    return "\n\n".join(part for part in parts if part != "****") + "\n"


def to_latex(table: Table) -> str:
    """Return the table as a LaTeX table environment, which needs the package booktabs."""

    def line(cells: Iterable[str]) -> str:
        return "    " + " & ".join(cells) + r" \\"

    cells = _shown(table, _latex, r"\textbf{{{}}}".format, r"\underline{{{}}}".format, RAISED.format)
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \begin{{tabular}}{{{''.join('r' if column.numeric else 'l' for column in table.columns)}}}",
        r"    \toprule",
        line(_latex(column.header) for column in table.columns),
        r"    \midrule",
        *(line(row) for row in cells[: len(table.rows)]),
        *([r"    \midrule"] if table.totals else []),
        *(line(row) for row in cells[len(table.rows) :]),
        r"    \bottomrule",
        r"  \end{tabular}",
        rf"  \caption{{{' '.join(_latex(_sentence(text)) for text in (table.title, *table.notes))}}}",
        rf"  \label{{tab:{'-'.join(re.findall('[a-z0-9]+', table.title.partition(';')[0].lower()))}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex(text: str) -> str:
    """Escape a text for LaTeX, including < and >, which LaTeX prints as other characters without T1 fonts."""
    return latex_escape(text).replace("<", r"\textless{}").replace(">", r"\textgreater{}")


def _sentence(text: str) -> str:
    """Return a text with a capital at its beginning and a full stop at its end.

    The first word is only changed if it consists of small letters. A text that ends with `?` or `!` gets no full stop.
    """
    first = text.split(" ", 1)[0]
    begun = text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text
    return begun if begun.endswith((".", "?", "!")) else f"{begun}."


def to_html(table: Table) -> str:
    """Return the table as an HTML table element that needs no style sheet."""

    def line(tag: str, cells: Iterable[str]) -> str:
        kinds = [' style="text-align:right"' if column.numeric else "" for column in table.columns]
        inner = "".join(f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
        return f"<tr>{inner}</tr>"

    cells = _shown(table, _html_escape, "<strong>{}</strong>".format, "<u>{}</u>".format, "<sup>{}</sup>".format)
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
    """Return the table as text for a terminal of `width` cells, or as wide as it needs if `width` is None.

    Numbers are never broken. With `colour`, escape codes of the terminal make text bold, italic or underlined.
    """
    table = table.compact()
    table = table if width is None else table.fit(width)
    headers = [clean(column.header) for column in table.columns]
    texts = _across(table)
    natural = [max(map(cell_width, (header, *column))) for header, column in zip(headers, texts, strict=True)]
    many = len(headers)
    gap, widths = GAP, natural
    if width is not None and MARGIN + sum(natural) + GAP * (many - 1) > width:
        gap, inner = NARROW_GAP, width - MARGIN - NARROW_GAP * (many - 1)
        least = [least_width(column, header) for header, column in zip(headers, texts, strict=True)]
        full = [max([narrowest, *map(cell_width, column)]) for narrowest, column in zip(least, texts, strict=True)]
        widths = share_width(share_width(least, full, inner), natural, inner)  # cells grow before headers

    def lines(cells: Sequence[str], styles: Sequence[str]) -> Iterable[str]:
        wrapped = [wrap(cell, wide) for cell, wide in zip(cells, widths, strict=True)]
        for number in range(max(map(len, wrapped))):
            parts = []
            for at, cell in enumerate(wrapped):
                text = cell[number].replace(PADDING, " ") if number < len(cell) else ""
                space = " " * (widths[at] - cell_width(text))
                shown = _styled(text, styles[at]) if colour and text else text
                parts.append(space + shown if table.columns[at].numeric else shown + space)
            yield (" " * MARGIN + (" " * gap).join(parts)).rstrip()

    rule = " " * MARGIN + "─" * (sum(widths) + gap * (many - 1))
    out = [_styled(line, ITALIC) if colour else line for line in _paragraph(table.title, width)]
    out += ["", *lines(headers, [BOLD] * many), rule]
    for row, cells in enumerate(zip(*texts, strict=True)):
        if row == len(table.rows):
            out.append(rule)
        places = [(row, at) for at in range(many)]
        styles = [BOLD if place in table.bold else UNDERLINED if place in table.underlined else "" for place in places]
        out += lines(cells, styles)
    out += ["", *(line for note in table.notes for line in _paragraph(note, width))]
    return "\n".join(out).strip("\n") + "\n"


BOLD, ITALIC, UNDERLINED = "1", "3", "4"  # of ANSI's codes


def _styled(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if code else text


def _paragraph(text: str, width: int | None) -> list[str]:
    return [clean(text)] if width is None else wrap(clean(text), width)


def _across(table: Table) -> list[list[str]]:
    """Return for each column the texts of its cells for a terminal; marks are padded, so that numbers stay aligned."""
    cells = _shown(table, clean, str, str, str)
    for at in {at for _, at in table.marks}:
        longest = max(len(mark) for (_, column), mark in table.marks.items() if column == at)
        for row, texts in enumerate(cells):
            texts[at] += PADDING * (longest - len(table.marks.get((row, at), "")))
    return [[row[at] for row in cells] for at in range(len(table.columns))]


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
    table: Table,
    escape: Callable[[str], str],
    bold: Callable[[str], str],
    underlined: Callable[[str], str],
    mark: Callable[[str], str],
) -> list[list[str]]:
    """Return the cells of all rows, then those of totals, as text for people.

    The functions escape a text, or format an escaped text as bold, as underlined, or as the mark after a cell.
    """
    out: list[list[str]] = []
    for row, cells in enumerate((*table.rows, *table.totals)):
        texts = [escape(column.show(cell)) for column, cell in zip(table.columns, cells, strict=True)]
        for at, text in enumerate(texts):
            if (row, at) in table.bold:
                texts[at] = bold(text)
            elif (row, at) in table.underlined:
                texts[at] = underlined(text)
            if (row, at) in table.marks:
                texts[at] += mark(escape(table.marks[row, at]))
        out.append(texts)
    return out
