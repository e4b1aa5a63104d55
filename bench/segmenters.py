"""Train the segmenter that `ropewalk build` plans for treebanks, and score it on their test files.

    python bench/segmenters.py HOME TREEBANK[+TREEBANK...] ... [--set OPTION=VALUE ...] [--format markdown]

Each TREEBANK is a folder in UD's layout. Several joined with `+` make one segmenter, which the first one plans and
tests. Segmenters are written into folders in HOME. Only the options of a segmenter can be set, such as
`segmenter.training.epochs=10`. F1 is that of CoNLL 2018, on raw text in lines of at most 80 characters; training takes
one thread, and its minutes are of CPU time.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from ropewalk.autobuild.planning import CANDIDATES, BuildOptions, plan
from ropewalk.autobuild.survey import survey
from ropewalk.autobuild.treebank_files import read
from ropewalk.laboratory.splits import find
from ropewalk.reporting.tables import FORMATS, Table, TableColumn
from ropewalk.segmentation import segmenter_files
from ropewalk.training.segmenter_training import SegmenterProgress, train
from ropewalk.treebank.treebank import Treebank

MEASURES = ("tokens", "words", "sentences")


def main() -> int:
    """Train each segmenter and print a row of figures for it."""
    parser = argparse.ArgumentParser(description="Scores of planned segmenters.")
    parser.add_argument("home", type=Path)
    parser.add_argument("treebanks", nargs="+")
    parser.add_argument("--set", action="append", default=[], dest="changes")
    parser.add_argument("--format", choices=sorted(FORMATS), default="table")
    given = parser.parse_args()
    rows = [_row(given.home, name, tuple(given.changes)) for name in given.treebanks]
    numbers = [TableColumn(f"{part} {name}", decimals=2) for part in ("dev", "test") for name in MEASURES]
    kinds = (TableColumn("treebank", numeric=False), TableColumn("kB"), TableColumn("CPU minutes", decimals=1))
    print(FORMATS[given.format](Table(title="Segmenters, F1", columns=(*kinds, *numbers), rows=tuple(rows))))
    return 0


def _row(home: Path, names: str, changes: tuple[str, ...]) -> tuple[str | float, ...]:
    sources = [find(name)[0] for name in names.split("+")]
    banks = [read(source) for source in sources]
    first = banks[0]
    whole = replace(first, train=Treebank.concat([bank.train for bank in banks]))
    about = {"name": first.name, "licence": first.licence}
    options = BuildOptions(minutes=0, threads=1, changes=changes)
    config = plan(survey(whole, CANDIDATES), options, about).segmenter
    train_files, dev_files = (tuple(str(source.files[part]) for source in sources) for part in ("train", "dev"))
    test_files = (str(sources[0].files["test"]),)
    config = replace(config, data=replace(config.data, train=train_files, dev=dev_files, test=test_files))
    name = "+".join(source.name.removeprefix("UD_") for source in sources)
    begun = time.process_time()
    out = train(config, home / name, report=_report)
    minutes = (time.process_time() - begun) / 60
    size = sum((out.home / file).stat().st_size for file in (segmenter_files.DESCRIPTION, segmenter_files.GRAPH))
    found = (100 * out.scores[part][measure] for part in ("dev", "test") for measure in MEASURES)
    return name, size // 1000, minutes, *found


def _report(progress: SegmenterProgress) -> None:
    shown = ", ".join(f"{name} {100 * value:.2f}" for name, value in progress.scores.items())
    print(f"epoch {progress.epoch} of {progress.epochs}: loss {progress.loss:.4f}, dev {shown}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
