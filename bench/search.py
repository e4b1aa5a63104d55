"""Speed of searches for patterns in a treebank, on one core.

    python bench/search.py [FILE] [--format markdown] [--runs N]

FILE is by default the English EWT training file in the folder named by ROPEWALK_UD. `first` is the CPU time of the
first search of a treebank that was just read, `later` the shortest of the next ones, which reuse columns and index.
Streaming reads FILE from disk and searches it piece by piece, as `ropewalk search` does. The exit code is 1 if a bar is
missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk import conllu, search
from ropewalk.reporting.tables import FORMATS, Table, TableColumn

if TYPE_CHECKING:
    from ropewalk.treebank.treebank import Treebank

TYPICAL = "{upos:VERB}=v >nsubj {}=s >obj {}=o"
PATTERNS = (
    TYPICAL,
    "{upos:VERB}=v >nsubj {}=s >obj {lemma:/.*ing/}=o",
    "{}=a >> {upos:PRON}=b",
    "{upos:NOUN}=n >amod {}=a . {}=b",
    "{upos:VERB}=v without {}=v >nsubj {}",
    "{}=a $ {}=b",
    "{upos:VERB}=v @>nsubj {}=s @>>obj {}=o",
)
TYPICAL_MILLISECONDS, WORST_MILLISECONDS, STREAMED = 50, 1000, 1.0  # the bars; the last in millions of words a second


def measure(treebank: Treebank, pattern: str) -> tuple[int, float]:
    """Return the number of matches and the milliseconds of CPU time."""
    compiled = search.compile(pattern)
    begin = time.process_time()
    matches = len(compiled.search(treebank, seconds=60))
    return matches, 1000 * (time.process_time() - begin)


def main() -> None:
    """Print the table, and the speed of streaming."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", default="")
    parser.add_argument("--format", choices=tuple(FORMATS), default="table")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    folder = Path(os.environ.get("ROPEWALK_UD", "."))
    file = options.file or folder / "UD_English-EWT" / "en_ewt-ud-train.conllu"
    rows, missed = [], []
    for pattern in PATTERNS:
        treebank = conllu.read(file)
        matches, first = measure(treebank, pattern)
        later = min(measure(treebank, pattern)[1] for _ in range(options.runs))
        rows.append((pattern, matches, first, later))
        if first > (TYPICAL_MILLISECONDS if pattern == TYPICAL else WORST_MILLISECONDS):
            missed.append(f"{pattern}: {first:.0f} ms")
    begin, words = time.process_time(), 0
    compiled = search.compile(TYPICAL)
    for piece in conllu.stream(file):
        words += piece.words
        compiled.search(piece)
    streamed = words / 1e6 / (time.process_time() - begin)
    if streamed < STREAMED:
        missed.append(f"streaming: {streamed:.2f} million words a second")
    columns = (
        TableColumn("pattern", numeric=False),
        TableColumn("matches"),
        TableColumn("first", unit="ms", decimals=0),
        TableColumn("later", unit="ms", decimals=0),
    )
    notes = (f"streaming {TYPICAL}: {streamed:.2f} million words a second", *(f"bar missed: {one}" for one in missed))
    sys.stdout.write(FORMATS[options.format](Table(f"Search in {words:,} words", columns, tuple(rows), notes=notes)))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
