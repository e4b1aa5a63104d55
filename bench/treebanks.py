"""Compare parsers of one treebank with parsers of several, built by the same command with the same seeds.

    python bench/treebanks.py UD… -o WORK [--only de it] [--seeds 1 2 3] [--csv FILE] [--format markdown]

Each UD is a folder of treebanks in UD's layout. The languages are those of `recipes/languages.tsv` with several
treebanks of the same language; the first one is the main one. For each language and seed, `ropewalk build` makes a
parser of the main treebank alone and one of all, in bf16 on one thread. Both are scored on the test file of the main
treebank, words given, subtypes included; segmenters are not compared and learn for one epoch. Models that lie in WORK
are not built again.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from ropewalk.reporting.tables import FORMATS, Table, TableColumn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "recipes"))
from languages import table, treebanks_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from languages import Language

    from ropewalk.laboratory.splits import SplitSource

CHANGES = ("parser.training.precision=bf16", "segmenter.training.epochs=1")
ALONE, TOGETHER = "alone", "together"


def main() -> int:
    """Build what is missing, and print a row for each language."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", metavar="UD")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="WORK")
    parser.add_argument("--only", nargs="+", default=["de", "it", "nl", "fr", "fi", "es", "cs"], metavar="CODE")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--csv", type=Path, metavar="FILE")
    parser.add_argument("--format", choices=sorted(FORMATS), default="table")
    given = parser.parse_args()
    known = treebanks_in(given.folders)
    languages = [language for language in table() if language.code in given.only]
    rows = []
    for language in languages:
        for seed in given.seeds:
            for kind, names in ((ALONE, language.treebanks[:1]), (TOGETHER, language.treebanks)):
                home = given.output / f"{language.code}-{kind}-{seed}"
                rows.append((language.code, seed, kind, 100 * built(home, names, seed, known)))
    if given.csv:
        with given.csv.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("language", "seed", "treebanks", "LAS"))
            writer.writerows((*row[:3], f"{row[3]:.2f}") for row in rows)
    print(FORMATS[given.format](summary(languages, rows)))
    return 0


def built(home: Path, names: Sequence[str], seed: int, known: Mapping[str, SplitSource]) -> float:
    """Build a parser of treebanks unless it lies in `home`; return its LAS on the test file of the first one."""
    config = home / "config.json"
    if not config.is_file():
        folders = [str(next(iter(known[name].files.values())).parent) for name in names]
        command = [sys.executable, "-m", "ropewalk", "build", *folders, "-o", str(home), "--seed", str(seed)]
        command += ["--minutes", "0", "--threads", "1", *(part for change in CHANGES for part in ("--set", change))]
        home.parent.mkdir(parents=True, exist_ok=True)
        with home.with_suffix(".log").open("ab") as log:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True)
    return float(json.loads(config.read_text(encoding="utf-8"))["scores"]["test"]["las"])


def summary(languages: Sequence[Language], rows: Sequence[tuple[str, int, str, float]]) -> Table:
    """Return the mean LAS of each language, and the differences of its seeds."""
    out = []
    for language in languages:
        found = {
            kind: [las for code, _, of, las in rows if (code, of) == (language.code, kind)]
            for kind in (ALONE, TOGETHER)
        }
        gains = [together - alone for alone, together in zip(found[ALONE], found[TOGETHER], strict=True)]
        means = (mean(found[ALONE]), mean(found[TOGETHER]), mean(gains))
        out.append((language.name, len(language.treebanks), *means, " ".join(f"{gain:+.2f}" for gain in gains)))
    columns = (
        TableColumn("language", numeric=False),
        TableColumn("treebanks"),
        TableColumn("LAS alone", decimals=2),
        TableColumn("LAS together", decimals=2),
        TableColumn("gain", decimals=2),
        TableColumn("gain of each seed", numeric=False),
    )
    return Table(title="One treebank and several", columns=columns, rows=tuple(out))


if __name__ == "__main__":
    sys.exit(main())
