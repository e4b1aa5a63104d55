"""The figures that the paper prints, cell by cell, each with its table and row.

They are data of the package, as printed, for all ten treebanks of the paper; so are the reasons known for which a cell
cannot be had again (Ezquerro, Vilares, Yli-Jyrä & Gómez-Rodríguez 2025).
"""

from __future__ import annotations

import json
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from ropewalk.errors import FormatError

# The paper's symbols and our encodings, as its tables of coverage mean them.
ENCODINGS: Final = {
    "B_4": "four-bit(policy=published)",
    "O_P": "optimal(policy=published)",
    "B_4+": "four-bit+head",
    "O_P+": "optimal+head",
    "B_7": "seven-bit(policy=published)",
    "O_NP": "optimal-nonprojective",
    "H+": "hexatags+head",
}
# In the table of statistics, labels are those of trees that have been lifted where the encoding needs it.
LABELS: Final = {
    "B_4": "four-bit",
    "O_P": "optimal",
    "B_7": "seven-bit",
    "O_NP": "optimal-nonprojective",
    "H+": "hexatags+head",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One printed cell: its text, and where it stands.

    `table` is the label of the table in the paper's source; `row` is as printed; `symbol` is the one encoding of the
    row that is meant, for a row may stand for several. In the table of statistics `kind` and `split` are empty.
    """

    treebank: str
    folder: str
    table: str
    row: str
    column: str
    text: str
    kind: str = ""
    symbol: str = ""
    split: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why cells differ: a kind in two or three words, and a sentence; an empty condition holds for every cell."""

    kind: str
    text: str
    treebanks: tuple[str, ...] = ()
    coverage: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()

    def applies(self, cell: Cell) -> bool:
        """Tell whether the reason is one for this cell."""
        pairs = (
            (self.treebanks, cell.treebank),
            (self.coverage, cell.kind),
            (self.rows, cell.row),
            (self.symbols, cell.symbol),
            (self.columns, cell.column),
            (self.splits, cell.split),
        )
        return all(not wanted or found in wanted for wanted, found in pairs)


@dataclass(frozen=True, slots=True)
class Published:
    """All printed cells, and the reasons known for differences."""

    paper: str
    cells: tuple[Cell, ...]
    reasons: tuple[Reason, ...]

    def folders(self) -> dict[str, str]:
        """The treebanks' names in UD's layout, by the paper's abbreviations."""
        return {cell.treebank: cell.folder for cell in self.cells}


@cache
def published() -> Published:
    """Read the paper's figures."""
    raw = pkgutil.get_data("ropewalk", "data/published.json")
    if raw is None:
        raise FormatError("ropewalk/data/published.json", 0, "missing", "not there; install ropewalk again")
    whole = json.loads(raw)
    cells = [
        cell
        for treebank in whole["treebanks"]
        for cell in (*_statistics(treebank, whole["statistics_table"]["label"]), *_coverage(treebank, whole))
    ]
    reasons = [
        Reason(
            reason["kind"],
            reason["text"],
            *(tuple(reason.get(key, ())) for key in ("treebanks", "coverage", "rows", "symbols", "columns", "splits")),
        )
        for reason in whole["reasons"]
    ]
    return Published(whole["paper"], tuple(cells), tuple(reasons))


def _statistics(treebank: dict[str, Any], table: str) -> list[Cell]:
    part = treebank["statistics"]
    return [
        Cell(treebank["code"], treebank["folder"], table, part["row"], column, text)
        for column, text in part["cells"].items()
    ]


def _coverage(treebank: dict[str, Any], whole: dict[str, Any]) -> list[Cell]:
    part = treebank["coverage"]
    return [
        Cell(
            treebank["code"],
            treebank["folder"],
            part["table"],
            row["row"],
            column,
            text,
            row["coverage"],
            symbol,
            split,
        )
        for row in part["rows"]
        for symbol in row["row"].split("/")
        for split in ("dev", "test")
        for column, text in zip(whole["coverage_columns"], row[split], strict=True)
    ]
