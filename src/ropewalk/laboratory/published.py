"""The figures that the paper prints, cell by cell, each with its table and row.

They are data of the package, as printed, for all ten treebanks of the paper. Each row names the release of Universal
Dependencies that its figures are of and the form of its encoding: the pseudo-projective scheme or the way in which
labels are read. The reasons known for differing cells are there too (Ezquerro, Vilares, Yli-Jyrä & Gómez-Rodríguez
2025).
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
# The encodings of the paper, by the names of its rows, as its authors' program has them: each lift is marked.
PAPER: Final = {
    row: f"{BASES[row[:-1]]}+head-chained" if row.endswith("+") else BASES[row]
    for row in ("B_4", "O_P", "B_4+", "O_P+", "B_7", "O_NP", "H+")
}
# The same with non-projective trees as that program writes and reads them.
ENCODINGS: Final = PAPER | {row: f"{PAPER[row]}(policy=published)" for row in ("B_4", "O_P", "B_7")}
# The table of statistics counts the labels of lifted trees, and marks a lifted word once.
LABELS: Final = {row: PAPER[row] for row in ("B_4", "O_P", "B_7", "O_NP")} | {"H+": "hexatags+head"}


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """One printed cell: its text, where it stands, and the release and encoding that give it.

    `table` is the label of the table in the paper's source; `row` is as printed. In the table of statistics `kind`
    and `split` are empty, and `encoding` is too where a figure is of no encoding. `release` is empty for the Penn
    Treebank.
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
    """The cells of every combination of these names; `coverage` and `splits` are empty names in the statistics."""

    treebanks: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    coverage: tuple[str, ...] = ("",)
    splits: tuple[str, ...] = ("",)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> CellSet:
        """Read a set from JSON."""
        return cls(**{name: tuple(values) for name, values in given.items()})

    def __contains__(self, cell: PrintedCell) -> bool:
        """Return whether a cell is one of these."""
        return (
            cell.treebank in self.treebanks
            and cell.row in self.rows
            and cell.column in self.columns
            and cell.kind in self.coverage
            and cell.split in self.splits
        )


@dataclass(frozen=True, slots=True)
class Reason:
    """Why some cells differ: a kind in two or three words, a sentence, and what makes them equal.

    That is the text that should have been printed (`correct`), or the encoding that the printed figures are of.
    """

    kind: str
    text: str
    cells: tuple[CellSet, ...]
    correct: str = ""
    encoding: str = ""

    def names(self, cell: PrintedCell) -> bool:
        """Return whether a cell is one of those that the reason is for."""
        return any(cell in some for some in self.cells)


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
    """All printed cells, what the names of schemes and readings mean, and the reasons known for differences.

    `forms` explains schemes and readings by their names. `accuracy` holds the cells of the tables of the appendix,
    `summary` those of the table of results, by treebank and system: LAS over sentences and LM on test; four of them
    differ from the appendix. `energy` holds the grams of CO2 that "Ethical considerations" names, for an epoch of
    training and for inference.
    """

    paper: str
    cells: tuple[PrintedCell, ...]
    accuracy: tuple[Accuracy, ...]
    summary: Mapping[str, Mapping[str, tuple[str, str]]]
    energy: Mapping[str, str]
    forms: Mapping[str, str]
    reasons: tuple[Reason, ...]

    def folders(self) -> dict[str, str]:
        """The treebanks' names in UD's layout, by the paper's abbreviations."""
        return {cell.treebank: cell.folder for cell in self.cells}

    def encodings(self, folder: str, release: str) -> list[str]:
        """Return the encodings that the coverage of a treebank of one release is of, and those that reasons name."""
        cells = [one for one in self.cells if one.kind and one.folder == folder and one.release in {"", release}]
        explained = [why.encoding for why in self.reasons if why.encoding and any(map(why.names, cells))]
        return list(dict.fromkeys([*(cell.encoding for cell in cells), *explained]))


@cache
def published() -> Published:
    """Read the paper's figures."""
    raw = pkgutil.get_data("ropewalk", "data/published.json")
    if raw is None:
        raise FormatError("ropewalk/data/published.json", 0, "missing", "not there; install ropewalk again")
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
        tuple(Reason(**{**one, "cells": tuple(map(CellSet.of, one["cells"]))}) for one in whole["reasons"]),
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
        yield PrintedCell(
            treebank["code"],
            treebank["folder"],
            table,
            part["row"],
            column,
            text,
            part["release"],
            encoding=encodings.get(column, ""),
        )


def _coverage(treebank: dict[str, Any], whole: dict[str, Any]) -> Iterator[PrintedCell]:
    part = treebank["coverage"]
    for row in part["rows"]:
        encoding = _encoding(row)
        for split in ("dev", "test"):
            for column, text in zip(whole["coverage_columns"], row[split], strict=True):
                yield PrintedCell(
                    treebank["code"],
                    treebank["folder"],
                    part["table"],
                    row["row"],
                    column,
                    text,
                    row["release"],
                    row["coverage"],
                    encoding,
                    split,
                )


def _encoding(row: dict[str, Any]) -> str:
    """Return the encoding that a row of coverage is taken for.

    A row that stands for several encodings is taken for the one that it names as `of`, else for the first: the + rows
    of all three rest on the same lifted trees.
    """
    symbol = row.get("of", row["row"].partition("/")[0])
    base = BASES[symbol.removesuffix("+")]
    if "scheme" in row:
        return f"{base}+{row['scheme']}"
    return f"{base}(policy={row['reading']})" if "reading" in row else base
