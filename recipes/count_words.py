"""Print a table of treebanks: release, and words of the train and test files; `treebanks.tsv` is what it printed.

    python recipes/count_words.py UD… > recipes/treebanks.tsv

Each UD is a folder of treebanks in UD's layout. The treebanks are those of `languages.tsv` and of the English models;
of one that several folders have, the first with a train file counts, as in `languages.py`. The release is that in the
folder's name, `ud-2.14`, or in the column `release or commit` of a file `MANIFEST.tsv` in the folder.
"""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING

from languages import table, treebanks_in

from ropewalk import conllu

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.laboratory.splits import SplitSource

ENGLISH = "UD_English-EWT"
MANIFEST, RELEASE = "MANIFEST.tsv", "release or commit"
COLUMNS = ("treebank", "release", "train", "test")


def release(source: SplitSource) -> str:
    """Return the release of a treebank, such as 2.14, or the commit that it was taken from."""
    folder = source.files["train"].parent
    manifest = folder.parent / MANIFEST
    if not manifest.is_file():
        return folder.parent.name.removeprefix("ud-")
    with manifest.open(encoding="utf-8", newline="") as file:
        rows = {row["folder"]: row[RELEASE] for row in csv.DictReader(file, delimiter="\t")}
    return rows[folder.name].removeprefix("r")


def words(path: Path | None) -> int:
    """Return the number of words of a file; 0 without a file."""
    return sum(bank.words for bank in conllu.stream(path)) if path is not None else 0


def main() -> None:
    """Print the table."""
    known = treebanks_in(sys.argv[1:])
    names = {ENGLISH, *(name for language in table() for name in language.treebanks)}
    writer = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    writer.writerow(COLUMNS)
    for name in sorted(names):
        source = known[name]
        writer.writerow([name, release(source), *(words(source.files.get(part)) for part in ("train", "test"))])


if __name__ == "__main__":
    main()
