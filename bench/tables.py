"""Measure how fast a treebank becomes a table, on one core.

    python bench/tables.py [FILE] [--words N] [--format markdown] [--runs N]

FILE is by default the English EWT training file in the folder named by ROPEWALK_UD; its first sentences of about N
words are taken. `first` is the CPU time for a treebank that was just read, `later` that of the next table of the same
treebank; both are the shortest of some runs. The exit code is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ropewalk import conllu, formats
from ropewalk.reporting.tables import FORMATS, Table, TableColumn
from ropewalk.treebank.documents import Document

if TYPE_CHECKING:
    from ropewalk.treebank.treebank import Treebank

MILLISECONDS = 200  # the bar, for data frames of 100 thousand words
FRAMES = ("to_arrow", "to_pandas", "to_polars")


def measured(bank: Treebank, way: str) -> float:
    """Return the milliseconds of CPU time that one table takes."""
    begin = time.process_time()
    if way in FRAMES:
        getattr(bank, way)()
    else:
        formats.get(way).dumps(Document(bank))
    return 1000 * (time.process_time() - begin)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", default="")
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--format", choices=tuple(FORMATS), default="table")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    folder = Path(os.environ.get("ROPEWALK_UD", "."))
    whole = conllu.read(options.file or folder / "UD_English-EWT" / "en_ewt-ud-train.conllu")
    some = np.arange(int(np.searchsorted(whole.offsets.array[1:], options.words)) + 1)
    for name in ("pyarrow.parquet", "pandas", "polars"):
        importlib.import_module(name)
    rows, missed = [], []
    words = whole.select(some[some < len(whole)]).words
    for way in (*FRAMES, "csv", "parquet"):
        first, later = [], []
        for _ in range(options.runs):
            bank = whole.select(some[some < len(whole)])
            first.append(measured(bank, way))
            later.append(measured(bank, way))
        rows.append((way, min(first), min(later)))
        if way in FRAMES and min(first) > MILLISECONDS * words / 100_000:
            missed.append(f"bar missed: {way}: {min(first):.0f} ms")
    columns = (
        TableColumn("table", numeric=False),
        TableColumn("first", unit="ms", decimals=0),
        TableColumn("later", unit="ms", decimals=0),
    )
    table = Table(f"Tables of {words:,} words", columns, tuple(rows), notes=tuple(missed))
    sys.stdout.write(FORMATS[options.format](table))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
