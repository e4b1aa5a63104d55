"""The figures in the paper, cell by cell, each with its table and row.

The package stores them as printed, for all ten treebanks of the paper. Each row of coverage names the release of
Universal Dependencies and the variant of its encoding: the pseudo-projective scheme, or the policy with which labels
are read. If a printed cell differs from our figure for a known reason, that reason is stored too (Ezquerro, Vilares,
Yli-Jyrä & Gómez-Rodríguez 2025).
"""

from __future__ import annotations

import json
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ropewalk.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BASES: Final = {
    "B_4": "four-bit",
    "O_P": "optimal",
    "B_7": "seven-bit",
    "O_NP": "optimal-nonprojective",
    "H": "hexatags",
}
# The paper's encodings by the names of its rows. Like the authors' program, the + rows mark each lift.
PAPER: Final = {
    row: f"{BASES[row[:-1]]}+head-chained" if row.endswith("+") else BASES[row]
    for row in ("B_4", "O_P", "B_4+", "O_P+", "B_7", "O_NP", "H+")
}
# The same, but non-projective trees are encoded and decoded as in the authors' program (the policy `published`).
ENCODINGS: Final = PAPER | {row: f"{PAPER[row]}(policy=published)" for row in ("B_4", "O_P", "B_7")}
# The table of statistics counts the labels of lifted trees, and marks a lifted word once.
LABELS: Final = {row: PAPER[row] for row in ("B_4", "O_P", "B_7", "O_NP")} | {"H+": "hexatags+head"}


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """One printed cell: its text, its position, and the release and encoding that it belongs to.

    `treebank` is the paper's abbreviation and `folder` the treebank's name in UD. `table` is the label of the table in
    the paper's source. `row` is the row's name as printed. `kind` is theoretical or empirical coverage. In the table of
    statistics, `kind` and `split` are empty. `encoding` is empty if the figure does not depend on an encoding, and
    `release` is empty for the Penn Treebank.
    """

    treebank: str
    folder: str
    table: str
    row: str
    column: str
    text: str
    release: str
    kind: str = ""
    encoding: str = ""
    split: str = ""


@dataclass(frozen=True, slots=True)
class CellSet:
    """A set of printed cells: those whose treebank, row, column, kind of coverage and split are all in these tuples.

    For the table of statistics, `coverage` and `splits` contain only an empty text.
    """

    treebanks: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    coverage: tuple[str, ...] = ("",)
    splits: tuple[str, ...] = ("",)

    @classmethod
    def of(cls, names: Mapping[str, Any]) -> CellSet:
        """Build a set from a JSON object with a list of names for each field."""
        return cls(**{name: tuple(values) for name, values in names.items()})

    def __contains__(self, cell: PrintedCell) -> bool:
        """Return whether the set contains a printed cell."""
        names = (self.treebanks, self.rows, self.columns, self.coverage, self.splits)
        own = (cell.treebank, cell.row, cell.column, cell.kind, cell.split)
        return all(name in known for name, known in zip(own, names, strict=True))


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why some printed cells differ from our figures: its `kind` in two or three words, and a sentence.

    With the reason, they are equal: our figure equals the text that should have been printed (`correct`), or the
    printed figure belongs to another `encoding`.
    """

    kind: str
    text: str
    cells: tuple[CellSet, ...]
    correct: str = ""
    encoding: str = ""

    def names(self, cell: PrintedCell) -> bool:
        """Return whether the reason applies to a printed cell."""
        return any(cell in some for some in self.cells)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """One printed cell of accuracy of a trained parser; `system` is its symbol in the paper, DM for biaffine."""

    treebank: str
    folder: str
    encoder: str
    system: str
    split: str
    column: str
    text: str


@dataclass(frozen=True, slots=True)
class Published:
    """All printed cells of the paper, and the known reasons why some of them differ from our figures.

    `cells` has the tables of statistics and coverage. `accuracy` has the accuracy of trained parsers in the appendix.
    `summary` has the table of results by treebank and system: LAS over sentences and LM on test. Four of its cells
    differ from the appendix. `energy` has the grams of CO2 in "Ethical considerations", for an epoch of training and
    for inference. `forms` explains each pseudo-projective scheme and each policy of reading labels, by its name.
    """

    paper: str
    cells: tuple[PrintedCell, ...]
    accuracy: tuple[Accuracy, ...]
    summary: Mapping[str, Mapping[str, tuple[str, str]]]
    energy: Mapping[str, str]
    forms: Mapping[str, str]
    reasons: tuple[Reason, ...]

    def folders(self) -> dict[str, str]:
        """Return the name of each treebank's folder in UD, by the paper's abbreviation of the treebank."""
        return {cell.treebank: cell.folder for cell in self.cells}

    def encodings(self, folder: str, release: str) -> list[str]:
        """Return the encodings needed to compute the coverage of the treebank `folder` of one UD release.

        They are the encodings of its printed cells, and those named by reasons that apply to these cells.
        """
        cells = [cell for cell in self.cells if cell.kind and cell.folder == folder and cell.release in {"", release}]
        explained = [why.encoding for why in self.reasons if why.encoding and any(map(why.names, cells))]
        return list(dict.fromkeys([*(cell.encoding for cell in cells), *explained]))


@cache
def published() -> Published:
    """Read the paper's figures from the package's data."""
    raw = pkgutil.get_data("ropewalk", "data/published.json")
    if raw is None:
        raise FormatError("ropewalk/data/published.json", 0, "missing", "is missing; install ropewalk again")
    whole = json.loads(raw)
    return Published(
        whole["paper"],
        tuple(
            cell
            for treebank in whole["treebanks"]
            for cell in (*_statistics(treebank, whole["statistics_table"]["label"]), *_coverage(treebank, whole))
        ),
        tuple(_accuracy(whole)),
        {
            code: {system: (cells[0], cells[1]) for system, cells in systems.items()}
            for code, systems in whole["summary_table"]["rows"].items()
        },
        whole["energy"],
        whole["schemes"] | whole["readings"],
        tuple(Reason(**{**reason, "cells": tuple(map(CellSet.of, reason["cells"]))}) for reason in whole["reasons"]),
    )


def _accuracy(whole: dict[str, Any]) -> Iterator[Accuracy]:
    folders = {treebank["code"]: treebank["folder"] for treebank in whole["treebanks"]}
    for code, encoders in whole["accuracy"].items():
        for encoder, systems in encoders.items():
            for system, splits in systems.items():
                for split, texts in splits.items():
                    for column, text in zip(whole["coverage_columns"], texts, strict=True):
                        yield Accuracy(code, folders[code], encoder, system, split, column, text)


def _statistics(treebank: dict[str, Any], table: str) -> Iterator[PrintedCell]:
    part = treebank["statistics"]
    encodings = {f"labels {row}": spec for row, spec in LABELS.items()}
    encodings["relations +"] = f"{BASES['O_P']}+{part['scheme']}"
    for column, text in part["cells"].items():
        cell = (treebank["code"], treebank["folder"], table, part["row"], column, text, part["release"])
        yield PrintedCell(*cell, encoding=encodings.get(column, ""))


def _coverage(treebank: dict[str, Any], whole: dict[str, Any]) -> Iterator[PrintedCell]:
    part = treebank["coverage"]
    for row in part["rows"]:
        place = (treebank["code"], treebank["folder"], part["table"], row["row"])
        meaning = (row["release"], row["coverage"], _encoding(row))
        for split in ("dev", "test"):
            for column, text in zip(whole["coverage_columns"], row[split], strict=True):
                yield PrintedCell(*place, column, text, *meaning, split)


def _encoding(row: dict[str, Any]) -> str:
    """Return the name of the encoding of a row in a table of coverage.

    A row may stand for several encodings. Then it is the one in the row's field `of`, or else the first. Any of them
    has the same coverage in a + row, because these rows use the same lifted trees.
    """
    symbol = row.get("of", row["row"].partition("/")[0])
    base = BASES[symbol.removesuffix("+")]
    if "scheme" in row:
        return f"{base}+{row['scheme']}"
    return f"{base}(policy={row['reading']})" if "reading" in row else base
