"""Reproduction of the paper's figures: a comparison of each printed cell with ours, and the reasons for differences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Final

from ropewalk.drawing import html
from ropewalk.laboratory import published as paper
from ropewalk.laboratory.coverage import coverage, encodings_of
from ropewalk.laboratory.splits import SPLITS
from ropewalk.laboratory.statistics import TABLES, shares, statistics
from ropewalk.reporting.tables import Table, TableColumn, text_columns, to_html, to_markdown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ropewalk.laboratory.coverage import Coverage
    from ropewalk.laboratory.published import PrintedCell, Published, Reason
    from ropewalk.laboratory.splits import Corpus
    from ropewalk.laboratory.statistics import Statistics
    from ropewalk.scoring.attachment import AttachmentScores, Measure
    from ropewalk.treebank.treebank import Treebank

TITLE: Final = "The paper's figures, computed again"
EQUAL: Final = "equal"
KNOWN: Final = "differ, reason known"
UNEXPLAINED: Final = "differ, unexplained"
NO_DATA: Final = "no data at hand"
STATES: Final = (EQUAL, KNOWN, UNEXPLAINED, NO_DATA)
MEASURES: Final[dict[str, Measure]] = {"UAS": "uas_sentences", "LAS": "las_sentences", "UM": "um", "LM": "lm"}
COUNTS: Final = (
    "UAS and LAS are over sentences: the mean of each sentence's accuracy, punctuation and relation subtypes included.",
    "UM and LM are the fractions of sentences wholly right, without and with relations.",
    "Labels and relations are distinct in train only; trees and indices are counted in train, dev and test together.",
    '"Index" is the largest number of * summed over one label of a tree, not the largest index.',
    "The + rows are pseudo-projective and mark each lift, as the authors' program does (head-chained).",
    "Those of Uyghur and Wolof but H+ mark a lifted word once and search the nearest dependent first (head-nearest).",
    "The number of relations of lifted trees is that of the scheme head, which marks a lifted word once.",
    "A label or relation that train does not have is replaced by the most frequent one of train.",
    "A missing head is the nearest candidate that makes no cycle; the paper's text says the root.",
)


@dataclass(frozen=True, slots=True)
class ReleaseFigures:
    """Our statistics and coverage for the treebanks of one UD release."""

    release: str
    statistics: tuple[Statistics, ...]
    coverage: tuple[Coverage[AttachmentScores], ...]


@dataclass(frozen=True, slots=True)
class CellComparison:
    """One printed cell, our figure in the same format, and whether they are equal (`state`, one of `STATES`).

    `reason` explains a difference, if the reason is known. `missing` says which data a missing figure needs.
    """

    cell: PrintedCell
    ours: str
    state: str
    reason: Reason | None = None
    missing: str = ""

    @property
    def why(self) -> str:
        """The reason for the difference as text, or the missing data; empty if there is neither."""
        return self.missing if self.reason is None else f"{self.reason.kind}: {self.reason.text}"


class Figures:
    """Our figures for several UD releases; `of` finds the one for a printed cell."""

    def __init__(self, releases: Iterable[ReleaseFigures]) -> None:
        self._releases: set[str] = set()
        self._counted: dict[tuple[str, str], Statistics] = {}
        self._measured: dict[tuple[str, str, str, str, str], Coverage[AttachmentScores]] = {}
        for figures in releases:
            self._releases.add(figures.release)
            for release in (figures.release, ""):  # a cell without a release gets the first figure
                for counted in figures.statistics:
                    self._counted.setdefault((release, counted.name), counted)
                for row in figures.coverage:
                    self._measured.setdefault((release, row.treebank, row.split, row.kind, row.encoding), row)

    def of(self, cell: PrintedCell, encoding: str = "") -> tuple[float | None, str]:
        """Return our figure for a printed cell and an empty text, or None and a text that names the missing data.

        If `encoding` is not empty, it replaces the encoding of the cell.
        """
        counted = self._counted.get((cell.release, cell.folder))
        if counted is None:
            known = not cell.release or cell.release in self._releases
            return None, f"no folder {cell.folder}" if known else f"no UD {cell.release} at hand"
        if cell.kind:
            key = (cell.release, cell.folder, cell.split, cell.kind, encoding or cell.encoding)
            row = self._measured.get(key)
            if row is None:
                return None, f"no {cell.split} at hand" if cell.split not in counted.trees else "no train at hand"
            return 100 * row.scores.parts(MEASURES[cell.column]).value, ""
        needed = ("train",) if cell.column.startswith(("labels", "relations")) else SPLITS
        if absent := [split for split in needed if split not in counted.trees]:
            return None, f"no {' or '.join(absent)} at hand"
        return _statistic(cell.column, counted), ""


def measure(source: Published, release: str, corpora: Iterable[Corpus[Treebank]]) -> ReleaseFigures:
    """Compute our statistics and coverage for the treebanks `corpora` of one UD release."""
    counted: list[Statistics] = []
    measured: list[Coverage[AttachmentScores]] = []
    for corpus in corpora:
        counted.append(statistics(corpus, encodings_of(paper.LABELS.values())))
        encodings = encodings_of(source.encodings(corpus.name, release))
        measured += coverage(corpus, encodings, splits=("dev", "test"))
    return ReleaseFigures(release, tuple(counted), tuple(measured))


def compare(source: Published, releases: Sequence[ReleaseFigures]) -> list[CellComparison]:
    """Return a comparison of every printed cell of statistics and coverage with our figure for the same UD release."""
    figures = Figures(releases)
    return [_compared(source, cell, figures) for cell in source.cells]


def _compared(source: Published, cell: PrintedCell, figures: Figures) -> CellComparison:
    figure, missing = figures.of(cell)
    if figure is None:
        return CellComparison(cell, "", NO_DATA, missing=missing)
    ours = _written(cell, cell.text, figure)
    if _equal(cell.text, ours):
        return CellComparison(cell, ours, EQUAL)
    for reason in source.reasons:
        if reason.names(cell) and _explains(reason, cell, figures):
            return CellComparison(cell, ours, KNOWN, reason)
    return CellComparison(cell, ours, UNEXPLAINED)


def _explains(reason: Reason, cell: PrintedCell, figures: Figures) -> bool:
    """Return whether our figure equals the printed cell after the correction or with the encoding of the reason."""
    figure, _ = figures.of(cell, reason.encoding)
    expected = reason.correct or cell.text
    return figure is not None and _equal(expected, _written(cell, expected, figure))


def _written(cell: PrintedCell, text: str, figure: float) -> str:
    return written_like(text, figure, percent=bool(cell.kind) or cell.column.startswith("indices"))


def _equal(printed: str, ours: str) -> bool:
    return ours == printed or (not printed.endswith("k") and float(ours) == float(printed))


def written_like(text: str, figure: float, *, percent: bool) -> str:
    """Return `figure` in the format of the printed cell `text`: percentages with two decimals, thousands with a k."""
    if percent:
        return f"{figure:.2f}"
    if text.endswith("k"):
        decimals = len(text[:-1].partition(".")[2])
        return f"{figure / 1000:.{decimals}f}k"
    return str(int(figure))


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
    """A part of the report: a heading, paragraphs and tables."""

    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()


def report(
    source: Published, comparisons: Sequence[CellComparison], releases: Sequence[ReleaseFigures]
) -> list[Section]:
    """Return the sections of the report: counts of equal cells, our tables beside the paper's, and all differences.

    The last sections have our own statistics for each UD release.
    """
    numbers = {reason: number for number, reason in enumerate(source.reasons, start=1)}
    marks = tuple(f"[{numbers[reason]}] {reason.kind}: {reason.text}" for reason in source.reasons)
    of_coverage = [comparison for comparison in comparisons if comparison.cell.kind]
    return [
        Section(
            "Summary",
            (summary_line(comparisons), *releases_used(comparisons)),
            (_summary(comparisons), _data(source, releases)),
        ),
        Section("What the published tables count", COUNTS),
        Section(
            "How to read the tables",
            (
                "A cell is: ours | the paper's. A dash stands for a figure that the data at hand cannot give.",
                "A differing cell bears the number of the reason that explains it, and [?] where none does.",
                *marks,
            ),
        ),
        Section(
            "What each row is taken for",
            (
                "The paper's tables mix releases, ways to mark and undo lifts, and two forms of the optimal labels.",
                "A row of coverage is taken for the release and the encoding named below; a printed cell counts once.",
            ),
            (_forms(source),),
        ),
        Section("Treebank and encoding statistics", (), (_statistics_table(comparisons, numbers),)),
        Section(
            "Coverage",
            ("UAS and LAS over sentences.",),
            tuple(
                _coverage_table(list(group), numbers)
                for _, group in groupby(of_coverage, key=lambda comparison: comparison.cell.treebank)
            ),
        ),
        Section("Every cell that differs", (), (_differences(comparisons),)),
        *(
            Section(f"Statistics of UD {part.release}", (), tuple(make(part.statistics) for make in TABLES.values()))
            for part in releases
        ),
    ]


def summary_line(comparisons: Iterable[CellComparison]) -> str:
    """Return a sentence with the number of cells that are equal, differ, or have no data."""
    tally = Counter(comparison.state for comparison in comparisons)
    return f"{sum(tally.values())} cells of the paper: " + "; ".join(f"{tally[state]} {state}" for state in STATES)


def releases_used(comparisons: Iterable[CellComparison]) -> list[str]:
    """Return a line of text for each UD release: the treebanks that were compared with its data."""
    used: dict[str, dict[str, dict[str, None]]] = {}
    for comparison in comparisons:
        if comparison.state != NO_DATA:
            cell, table = comparison.cell, "coverage" if comparison.cell.kind else "statistics"
            release = f"UD {cell.release}" if cell.release else "no release of UD"
            used.setdefault(release, {}).setdefault(table, {})[cell.treebank] = None
    return [
        f"{name}: " + "; ".join(f"{table} of {', '.join(codes)}" for table, codes in sorted(tables.items()))
        for name, tables in sorted(used.items())
    ]


def markdown(source: Published, sections: Sequence[Section], version: str) -> str:
    """Return the report as Markdown."""
    parts = [f"# {TITLE}", f"{source.paper}. Computed by ropewalk {version}."]
    for section in sections:
        parts += [
            f"## {section.title}",
            *section.paragraphs,
            *(to_markdown(table).rstrip() for table in section.tables),
        ]
    return "\n\n".join(parts) + "\n"


STYLE: Final = """
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
    """Return the report as one self-contained HTML page, for light and dark screens."""
    parts = [
        f"<h1>{escape(TITLE)}</h1>",
        f"<p>{escape(source.paper)}. Computed by ropewalk {escape(version)}.</p>",
    ]
    for section in sections:
        parts += [
            "<section>",
            f"<h2>{escape(section.title)}</h2>",
            *(f"<p>{escape(text)}</p>" for text in section.paragraphs),
            *(to_html(table).rstrip() for table in section.tables),
            "</section>",
        ]
    return html.page(TITLE, STYLE, "\n".join(parts) + "\n")


def _summary(comparisons: Sequence[CellComparison]) -> Table:
    def row(name: str, chosen: Iterable[CellComparison]) -> tuple[str | int, ...]:
        tally = Counter(comparison.state for comparison in chosen)
        return (name, sum(tally.values()), *(tally[state] for state in STATES))

    kinds = {"": "statistics", "theoretical": "theoretical coverage", "empirical": "empirical coverage"}
    return Table(
        title="Cells",
        columns=(TableColumn("table", numeric=False), TableColumn("cells"), *(TableColumn(state) for state in STATES)),
        rows=tuple(row(name, (each for each in comparisons if each.cell.kind == kind)) for kind, name in kinds.items()),
        totals=(row("all", comparisons),),
    )


def _data(source: Published, releases: Sequence[ReleaseFigures]) -> Table:
    counted = {(part.release, bank.name): bank for part in releases for bank in part.statistics}
    needed = {(cell.release, cell.folder): cell.treebank for cell in source.cells}
    others = sorted({name for _, name in counted} - set(source.folders().values()))
    return Table(
        title="Data",
        columns=(
            *text_columns("in the paper", "treebank", "release"),
            *(TableColumn(split, unit="trees") for split in SPLITS),
        ),
        rows=tuple(
            (code, folder, release, *(counted[key].trees.get(split) if key in counted else None for split in SPLITS))
            for key, code in needed.items()
            for release, folder in [key]
        ),
        notes=(f"Not in the paper: {', '.join(others)}",) if others else (),
    )


def _forms(source: Published) -> Table:
    rows: dict[tuple[str, str, str, str], dict[str, None]] = {}
    for cell in source.cells:
        if cell.kind:
            rows.setdefault((cell.row, cell.kind, cell.encoding, cell.release), {})[cell.treebank] = None
    return Table(
        title="Forms",
        columns=text_columns("row", "coverage", "taken for", "release", "treebanks", "scheme or reading"),
        rows=tuple(
            (row, kind, encoding, release, ", ".join(codes), source.forms.get(_form(encoding), ""))
            for (row, kind, encoding, release), codes in sorted(rows.items())
        ),
    )


def _form(encoding: str) -> str:
    """Return the pseudo-projective scheme or the policy in an encoding's name, such as `head` in `optimal+head`."""
    return encoding.rpartition("policy=")[2].removesuffix(")") if "(" in encoding else encoding.partition("+")[2]


def _grid(
    title: str,
    heads: Sequence[str],
    columns: Sequence[str],
    rows: Sequence[tuple[tuple[str, ...], Sequence[CellComparison]]],
    numbers: Mapping[Reason, int],
) -> Table:
    """Return comparisons as a table; explained differences are underlined, unexplained ones bold.

    `heads` are the headers of the texts that begin each row, `columns` those of its comparisons. `numbers` has the
    number of each reason in the report.
    """

    def places(state: str) -> frozenset[tuple[int, int]]:
        return frozenset(
            (number, at)
            for number, (names, cells) in enumerate(rows)
            for at, comparison in enumerate(cells, start=len(names))
            if comparison.state == state
        )

    return Table(
        title=title,
        columns=(*text_columns(*heads), *(TableColumn(column) for column in columns)),
        rows=tuple((*names, *(_shown(comparison, numbers) for comparison in cells)) for names, cells in rows),
        bold=places(UNEXPLAINED),
        underlined=places(KNOWN),
    )


def _shown(comparison: CellComparison, numbers: Mapping[Reason, int]) -> str:
    state, reason, printed = comparison.state, comparison.reason, comparison.cell.text
    if state == NO_DATA:
        return f"- | {printed}"
    mark = " [?]" if state == UNEXPLAINED else "" if reason is None else f" [{numbers[reason]}]"
    return f"{comparison.ours} | {printed}{mark}"


def _statistics_table(comparisons: Sequence[CellComparison], numbers: Mapping[Reason, int]) -> Table:
    chosen = [comparison for comparison in comparisons if not comparison.cell.kind]
    groups = [(name, list(group)) for name, group in groupby(chosen, key=lambda each: each.cell.treebank)]
    return _grid(
        f"The paper's table {chosen[0].cell.table}",
        ("treebank", "release"),
        [comparison.cell.column for comparison in groups[0][1]],
        [((name, group[0].cell.release), group) for name, group in groups],
        numbers,
    )


def _coverage_table(chosen: Sequence[CellComparison], numbers: Mapping[Reason, int]) -> Table:
    def names_of(comparison: CellComparison) -> tuple[str, ...]:
        return tuple(getattr(comparison.cell, name) for name in ("kind", "row", "encoding", "release"))

    rows = [(names, list(group)) for names, group in groupby(chosen, key=names_of)]
    cell = chosen[0].cell
    return _grid(
        f"{cell.folder}: the paper's table {cell.table}",
        ("coverage", "row", "taken for", "release"),
        [f"{comparison.cell.split} {comparison.cell.column}" for comparison in rows[0][1]],
        rows,
        numbers,
    )


def _differences(comparisons: Sequence[CellComparison]) -> Table:
    cells = {
        "table": "table", "treebank": "treebank", "coverage": "kind", "row": "row", "taken for": "encoding",
        "release": "release", "split": "split", "column": "column", "paper": "text",
    }  # fmt: skip
    return Table(
        title="Differences",
        columns=text_columns(*cells, "ours", "reason"),
        rows=tuple(
            (*(getattr(each.cell, name) for name in cells.values()), each.ours, each.why or "unexplained")
            for each in comparisons
            if each.state in {KNOWN, UNEXPLAINED}
        ),
    )
