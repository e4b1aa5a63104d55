"""Our figures beside the paper's, cell by cell, with the reason known for each that differs."""

from __future__ import annotations

import html
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from ropewalk.scoring import published as paper
from ropewalk.scoring.splits import SPLITS
from ropewalk.scoring.statistics import TABLES, shares
from ropewalk.tables import Table, TableColumn, to_html, to_markdown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ropewalk.scoring.attachment import Measure
    from ropewalk.scoring.coverage import Coverage
    from ropewalk.scoring.published import PrintedCell, Published, Reason
    from ropewalk.scoring.statistics import Statistics

EQUAL: Final = "equal"
KNOWN: Final = "differ, reason known"
UNEXPLAINED: Final = "differ, unexplained"
NO_DATA: Final = "no data at hand"
STATES: Final = (EQUAL, KNOWN, UNEXPLAINED, NO_DATA)
LIFTED: Final = {row: spec for row, spec in paper.LABELS.items() if spec != paper.ENCODINGS[row]}
MEASURES: Final[dict[str, Measure]] = {"UAS": "uas_sentences", "LAS": "las_sentences", "UM": "um", "LM": "lm"}
COUNTS: Final = (
    "UAS and LAS are over sentences: the mean of each sentence's accuracy, punctuation and relation subtypes included.",
    "UM and LM are the shares of sentences wholly right, without and with relations.",
    "Labels and relations are distinct in train only; trees and indices are counted in train, dev and test together.",
    '"Index" is the largest number of * summed over one label of a tree, not the largest index.',
    "The + rows are pseudo-projective by the scheme head; in most a lifted word is marked once, in some by each lift.",
    "A label or relation that train does not have is replaced by the most frequent one of train.",
    "A missing head is the nearest candidate that makes no cycle; the paper's text says the root.",
)


@dataclass(frozen=True, slots=True)
class CellComparison:
    """One cell of the paper, our figure written like it, how they stand, and why."""

    cell: PrintedCell
    ours: str
    state: str
    reasons: tuple[Reason, ...] = ()
    missing: str = ""

    @property
    def why(self) -> str:
        """The reasons in words."""
        if self.state == NO_DATA:
            return self.missing
        return "; ".join(f"{reason.kind}: {reason.text}" for reason in self.reasons)


def compare(source: Published, statistics: Sequence[Statistics], coverage: Iterable[Coverage]) -> list[CellComparison]:
    """Set our figure beside every cell of the paper.

    The statistics are of the encodings `published.LABELS`, the coverage of those that `Published.encodings` names.
    """
    counted = {one.name: one for one in statistics}
    measured = {(row.treebank, row.split, row.kind, row.encoding): row for row in coverage}
    return [_compared(source, cell, *_figure(cell, counted, measured)) for cell in source.cells]


def _compared(source: Published, cell: PrintedCell, figure: float | None, missing: str) -> CellComparison:
    if figure is None:
        return CellComparison(cell, "", NO_DATA, missing=missing)
    ours = written_like(cell.text, figure, percent=bool(cell.kind) or cell.column.startswith("indices"))
    if ours == cell.text or (not cell.text.endswith("k") and float(ours) == float(cell.text)):
        return CellComparison(cell, ours, EQUAL)
    reasons = tuple(reason for reason in source.reasons if reason.where.holds(cell))
    return CellComparison(cell, ours, KNOWN if reasons else UNEXPLAINED, reasons)


def written_like(text: str, figure: float, *, percent: bool) -> str:
    """Write a figure as the paper writes such cells: percentages with two decimals, thousands with a k."""
    if percent:
        return f"{figure:.2f}"
    if text.endswith("k"):
        decimals = len(text[:-1].partition(".")[2])
        return f"{figure / 1000:.{decimals}f}k"
    return str(int(figure))


def _figure(
    cell: PrintedCell, counted: Mapping[str, Statistics], measured: Mapping[tuple[str, str, str, str], Coverage]
) -> tuple[float | None, str]:
    """Give our figure for a cell, or say what is missing."""
    statistics = counted.get(cell.folder)
    if statistics is None:
        return None, f"no folder {cell.folder}"
    if cell.kind:
        row = measured.get((cell.folder, cell.split, cell.kind, cell.encoding))
        if row is None:
            return None, f"no {cell.split} at hand" if cell.split not in statistics.trees else "no train at hand"
        return 100 * row.scores.parts(MEASURES[cell.column]).value, ""
    needed = ("train",) if cell.column.startswith(("labels", "relations")) else SPLITS
    if absent := [split for split in needed if split not in statistics.trees]:
        return None, f"no {' or '.join(absent)} at hand"
    return _statistic(cell.column, statistics), ""


def _statistic(column: str, statistics: Statistics) -> float | None:
    kind, _, which = column.partition(" ")
    if kind == "trees":
        return statistics.all_trees
    if kind == "relations":
        return statistics.lifted_relations if which else statistics.relations
    if kind == "labels":
        return next(part.distinct for part in statistics.labels if part.encoding == paper.LABELS[which])
    return shares(statistics.stars)[("0", "1", "2", ">=3").index(which)]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report: a heading, paragraphs, tables."""

    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()


def report(source: Published, comparisons: Sequence[CellComparison], statistics: Sequence[Statistics]) -> list[Section]:
    """Put together the report: counts, the tables beside the paper's, every difference, and our own statistics."""
    numbers = {reason: number for number, reason in enumerate(source.reasons, start=1)}
    marks = tuple(f"[{numbers[reason]}] {reason.kind}: {reason.text}" for reason in source.reasons)
    coverage = [one for one in comparisons if one.cell.kind]
    return [
        Section("Summary", (summary_line(comparisons),), (_summary(comparisons), _data(source, statistics))),
        Section("What the published tables count", COUNTS),
        Section(
            "How to read the tables",
            (
                "A cell is: ours | the paper's. A dash stands for a figure that the data at hand cannot give.",
                "Differing cells bear the number of each reason known, and [?] where there is none.",
                *marks,
            ),
        ),
        Section(
            "What each row is taken for",
            (
                "Two forms of the optimal labels and two ways to mark lifted words are mixed in the paper's tables.",
                "A row of coverage is taken for the encoding named beside it below, and a printed cell counts once.",
            ),
            (_forms(source),),
        ),
        Section("Treebank and encoding statistics", (), (_statistics_table(comparisons, numbers),)),
        Section(
            "Coverage",
            ("UAS and LAS over sentences.",),
            tuple(
                _coverage_table(list(group), numbers)
                for _, group in groupby(coverage, key=lambda one: one.cell.treebank)
            ),
        ),
        Section("Every cell that differs", (), (_differences(comparisons),)),
        Section("Statistics of the data at hand", (), tuple(make(statistics) for make in TABLES.values())),
    ]


def summary_line(comparisons: Iterable[CellComparison]) -> str:
    """Count the cells of each state in one sentence."""
    tally = Counter(one.state for one in comparisons)
    return f"{sum(tally.values())} cells of the paper: " + "; ".join(f"{tally[state]} {state}" for state in STATES)


def markdown(source: Published, sections: Sequence[Section], version: str) -> str:
    """Write the report as Markdown."""
    parts = ["# The paper's figures, computed again", f"{source.paper}. Computed by ropewalk {version}."]
    for section in sections:
        parts += [
            f"## {section.title}",
            *section.paragraphs,
            *(to_markdown(table).rstrip() for table in section.tables),
        ]
    return "\n\n".join(parts) + "\n"


STYLE: Final = """\
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
section { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0 2rem; font-variant-numeric: tabular-nums; font-size: 13px; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .15rem .6rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
td:has(u) { background: color-mix(in srgb, orange 22%, transparent); }
td:has(strong) { background: color-mix(in srgb, red 25%, transparent); }
tfoot td { white-space: normal; }
u { text-decoration: none; }
"""


def page(source: Published, sections: Sequence[Section], version: str) -> str:
    """Write the report as one HTML page that needs nothing else, for light and dark screens."""
    title = "The paper's figures, computed again"
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{html.escape(title)}</title>",
        f"<style>\n{STYLE}</style>",
        "</head>",
        "<body>",
        f"<h1>{html.escape(title)}</h1>",
        f"<p>{html.escape(source.paper)}. Computed by ropewalk {html.escape(version)}.</p>",
    ]
    for section in sections:
        parts += [
            "<section>",
            f"<h2>{html.escape(section.title)}</h2>",
            *(f"<p>{html.escape(text)}</p>" for text in section.paragraphs),
            *(to_html(table).rstrip() for table in section.tables),
            "</section>",
        ]
    return "\n".join([*parts, "</body>", "</html>"]) + "\n"


def _summary(comparisons: Sequence[CellComparison]) -> Table:
    def row(name: str, chosen: Iterable[CellComparison]) -> tuple[str | int, ...]:
        tally = Counter(one.state for one in chosen)
        return (name, sum(tally.values()), *(tally[state] for state in STATES))

    kinds = {"": "statistics", "theoretical": "theoretical coverage", "empirical": "empirical coverage"}
    return Table(
        title="Cells",
        columns=(TableColumn("table", numeric=False), TableColumn("cells"), *(TableColumn(state) for state in STATES)),
        rows=tuple(row(name, (one for one in comparisons if one.cell.kind == kind)) for kind, name in kinds.items()),
        totals=(row("all", comparisons),),
    )


def _data(source: Published, statistics: Sequence[Statistics]) -> Table:
    found = {one.name: one for one in statistics}
    rows = [
        (code, folder, *(found[folder].trees.get(split) if folder in found else None for split in SPLITS))
        for code, folder in source.folders().items()
    ]
    others = sorted(found.keys() - set(source.folders().values()))
    return Table(
        title="Data at hand",
        columns=(
            TableColumn("in the paper", numeric=False),
            TableColumn("treebank", numeric=False),
            *(TableColumn(split, unit="trees") for split in SPLITS),
        ),
        rows=tuple(rows),
        notes=(f"Not in the paper: {', '.join(others)}",) if others else (),
    )


def _forms(source: Published) -> Table:
    usual = [(row, "", "", encoding, "") for row, encoding in paper.ENCODINGS.items()]
    labels = [(row, "", "labels, in the statistics", encoding, "of lifted trees") for row, encoding in LIFTED.items()]
    others = [
        (row, ", ".join(form.where.treebanks), ", ".join(form.where.coverage), form.encoding, form.text)
        for form in source.forms
        for row in form.where.rows
    ]
    names = ("row", "treebanks", "coverage", "taken for", "what is different")
    return Table(
        title="Forms",
        columns=tuple(TableColumn(name, numeric=False) for name in names),
        rows=(*usual, *labels, *others),
        notes=("Rows without treebanks hold for all others.",),
    )


def _grid(
    title: str,
    heads: Sequence[str],
    columns: Sequence[str],
    rows: Sequence[tuple[tuple[str, ...], Sequence[CellComparison]]],
    numbers: Mapping[Reason, int],
) -> Table:
    """Write comparisons as cells; a known difference is underlined and an unexplained one bold."""
    places: dict[str, set[tuple[int, int]]] = {KNOWN: set(), UNEXPLAINED: set(), EQUAL: set(), NO_DATA: set()}
    for number, (names, cells) in enumerate(rows):
        for at, one in enumerate(cells, start=len(names)):
            places[one.state].add((number, at))
    return Table(
        title=title,
        columns=(*(TableColumn(head, numeric=False) for head in heads), *(TableColumn(column) for column in columns)),
        rows=tuple((*names, *(_shown(one, numbers) for one in cells)) for names, cells in rows),
        bold=frozenset(places[UNEXPLAINED]),
        underlined=frozenset(places[KNOWN]),
    )


def _shown(one: CellComparison, numbers: Mapping[Reason, int]) -> str:
    if one.state == NO_DATA:
        return f"- | {one.cell.text}"
    mark = {KNOWN: "".join(f" [{numbers[reason]}]" for reason in one.reasons), UNEXPLAINED: " [?]"}.get(one.state, "")
    return f"{one.ours} | {one.cell.text}{mark}"


def _statistics_table(comparisons: Sequence[CellComparison], numbers: Mapping[Reason, int]) -> Table:
    chosen = [one for one in comparisons if not one.cell.kind]
    groups = [(name, list(group)) for name, group in groupby(chosen, key=lambda one: one.cell.treebank)]
    return _grid(
        f"The paper's table {chosen[0].cell.table}",
        ("treebank",),
        [one.cell.column for one in groups[0][1]],
        [((name,), group) for name, group in groups],
        numbers,
    )


def _coverage_table(chosen: Sequence[CellComparison], numbers: Mapping[Reason, int]) -> Table:
    rows = [
        ((kind, row, encoding), list(group))
        for (kind, row, encoding), group in groupby(
            chosen, key=lambda one: (one.cell.kind, one.cell.row, one.cell.encoding)
        )
    ]
    cell = chosen[0].cell
    return _grid(
        f"{cell.folder}: the paper's table {cell.table}",
        ("coverage", "row", "taken for"),
        [f"{one.cell.split} {one.cell.column}" for one in rows[0][1]],
        rows,
        numbers,
    )


def _differences(comparisons: Sequence[CellComparison]) -> Table:
    names = ("table", "treebank", "coverage", "row", "taken for", "split", "column", "paper", "ours", "reason")
    return Table(
        title="Differences",
        columns=tuple(TableColumn(name, numeric=False) for name in names),
        rows=tuple(
            (
                one.cell.table,
                one.cell.treebank,
                one.cell.kind,
                one.cell.row,
                one.cell.encoding,
                one.cell.split,
                one.cell.column,
                one.cell.text,
                one.ours,
                one.why or "unexplained",
            )
            for one in comparisons
            if one.state in {KNOWN, UNEXPLAINED}
        ),
    )
