"""The figures that the paper prints, cell by cell, each with its table and row.

They are data of the package, as printed, for all ten treebanks of the paper; so are the forms of encodings that the
figures of some rows are of, and the reasons known for which a cell cannot be had again (Ezquerro, Vilares, Yli-Jyrä &
Gómez-Rodríguez 2025).
"""

from __future__ import annotations

import json
import pkgutil
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ropewalk.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The encodings of the paper, by the names of its rows.
PAPER: Final = {
    "B_4": "four-bit",
    "O_P": "optimal",
    "B_4+": "four-bit+head",
    "O_P+": "optimal+head",
    "B_7": "seven-bit",
    "O_NP": "optimal-nonprojective",
    "H+": "hexatags+head",
}
# What the rows of coverage are figures of, where no `LabelForm` says otherwise. A row that stands for several encodings
# is taken for the first: the + rows of all three rest on the same lifted trees, and B_4/O_P holds the figures of B_4.
ENCODINGS: Final = PAPER | {row: f"{PAPER[row]}(policy=published)" for row in ("B_4", "O_P", "B_7")}
# In the table of statistics, labels are those of trees that have been lifted where the encoding needs it, so that a row
# has none of its own for what it gives with lifts.
LABELS: Final = {row: spec for row, spec in PAPER.items() if not (row[-1] == "+" and row[:-1] in PAPER)}


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """One printed cell: its text, where it stands, and the encoding that gives it.

    `table` is the label of the table in the paper's source; `row` is as printed. In the table of statistics `kind`
    and `split` are empty, and `encoding` is too where a figure is of no encoding.
    """

    treebank: str
    folder: str
    table: str
    row: str
    column: str
    text: str
    kind: str = ""
    encoding: str = ""
    split: str = ""


@dataclass(frozen=True, slots=True)
class Where:
    """Which cells are meant; an empty condition holds for every cell."""

    treebanks: tuple[str, ...] = ()
    coverage: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: dict[str, Any]) -> Where:
        """Take the conditions that are given by name."""
        return cls(*(tuple(given.get(one.name, ())) for one in fields(cls)))

    def holds(self, cell: PrintedCell) -> bool:
        """Tell whether a cell is meant."""
        pairs = (
            (self.treebanks, cell.treebank),
            (self.coverage, cell.kind),
            (self.rows, cell.row),
            (self.columns, cell.column),
            (self.splits, cell.split),
        )
        return all(not wanted or found in wanted for wanted, found in pairs)


@dataclass(frozen=True, slots=True)
class LabelForm:
    """The encoding that the figures of some rows are of, where it is not the usual one, and what it does otherwise."""

    where: Where
    encoding: str
    text: str


@dataclass(frozen=True, slots=True)
class Reason:
    """Why cells differ: a kind in two or three words, and a sentence."""

    where: Where
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Accuracy:
    """One printed cell of accuracy: what a trained parser reached; `system` is the row's symbol, DM being biaffine."""

    treebank: str
    folder: str
    encoder: str
    system: str
    split: str
    column: str
    text: str


@dataclass(frozen=True, slots=True)
class Published:
    """All printed cells, the forms of encodings that some rows take, and the reasons known for differences.

    `accuracy` are the cells of the tables of the appendix, `summary` those of the table of results, by treebank and
    system: LAS over sentences and LM on test; four of them differ from the appendix.
    """

    paper: str
    cells: tuple[PrintedCell, ...]
    accuracy: tuple[Accuracy, ...]
    summary: Mapping[str, Mapping[str, tuple[str, str]]]
    forms: tuple[LabelForm, ...]
    reasons: tuple[Reason, ...]

    def folders(self) -> dict[str, str]:
        """The treebanks' names in UD's layout, by the paper's abbreviations."""
        return {cell.treebank: cell.folder for cell in self.cells}

    def encodings(self, folder: str) -> list[str]:
        """The encodings that the rows of coverage of a treebank are figures of."""
        return list(dict.fromkeys(cell.encoding for cell in self.cells if cell.folder == folder and cell.kind))


@cache
def published() -> Published:
    """Read the paper's figures."""
    raw = pkgutil.get_data("ropewalk", "data/published.json")
    if raw is None:
        raise FormatError("ropewalk/data/published.json", 0, "missing", "not there; install ropewalk again")
    whole = json.loads(raw)
    forms = [LabelForm(Where.of(one), one["encoding"], one["text"]) for one in whole["forms"]]
    cells = [
        cell
        for treebank in whole["treebanks"]
        for cell in (*_statistics(treebank, whole["statistics_table"]["label"]), *_coverage(treebank, whole))
    ]
    return Published(
        whole["paper"],
        tuple(_in_form(cell, forms) for cell in cells),
        tuple(_accuracy(whole)),
        {
            code: {system: (cells[0], cells[1]) for system, cells in systems.items()}
            for code, systems in whole["summary_table"]["rows"].items()
        },
        tuple(forms),
        tuple(Reason(Where.of(one), one["kind"], one["text"]) for one in whole["reasons"]),
    )


def _accuracy(whole: dict[str, Any]) -> Iterator[Accuracy]:
    folders = {treebank["code"]: treebank["folder"] for treebank in whole["treebanks"]}
    for code, encoders in whole["accuracy"].items():
        for encoder, systems in encoders.items():
            for system, splits in systems.items():
                for split, texts in splits.items():
                    for column, text in zip(whole["coverage_columns"], texts, strict=True):
                        yield Accuracy(code, folders[code], encoder, system, split, column, text)


def _in_form(cell: PrintedCell, forms: list[LabelForm]) -> PrintedCell:
    if not cell.kind:
        return cell
    return next((replace(cell, encoding=form.encoding) for form in forms if form.where.holds(cell)), cell)


def _statistics(treebank: dict[str, Any], table: str) -> list[PrintedCell]:
    part = treebank["statistics"]
    return [
        PrintedCell(
            treebank["code"],
            treebank["folder"],
            table,
            part["row"],
            column,
            text,
            encoding=LABELS.get(column.removeprefix("labels "), ""),
        )
        for column, text in part["cells"].items()
    ]


def _coverage(treebank: dict[str, Any], whole: dict[str, Any]) -> list[PrintedCell]:
    part = treebank["coverage"]
    return [
        PrintedCell(
            treebank["code"],
            treebank["folder"],
            part["table"],
            row["row"],
            column,
            text,
            row["coverage"],
            ENCODINGS[row["row"].partition("/")[0]],
            split,
        )
        for row in part["rows"]
        for split in ("dev", "test")
        for column, text in zip(whole["coverage_columns"], row[split], strict=True)
    ]
