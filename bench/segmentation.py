"""Speed and accuracy of segmenting raw text into sentences and words, on one core.

    python bench/segmentation.py MODEL [FILE] [--format markdown] [--runs N]

MODEL is a folder with a segmenter. FILE is by default the English EWT development file in the folder named by
ROPEWALK_UD; its raw text is laid out in lines of at most 80 characters, as in the CoNLL shared tasks. Speeds are of CPU
time, each the best of several runs: the marks alone, and all the way from text to treebanks. Scores are those of CoNLL
2018. The exit code is 1 if a bar is missed. For English, 3,000 made sentences such as *Mary loves Paul.* show how many
are cut in two.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk import conllu
from ropewalk.reporting.tables import FORMATS, Table, TableColumn
from ropewalk.segmentation import segmenter_files
from ropewalk.segmentation.alignment import align
from ropewalk.segmentation.evaluation import scores
from ropewalk.segmentation.segmenter import Segmenter
from ropewalk.segmentation.tokens import text_of, tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable

LEAST_SPEED = 300.0  # thousands of characters a second
LEAST_WORDS, LEAST_SENTENCES = 98.7, 77.0  # F1
COPIES = 8  # of the text, laid end to end
PIECE = 1 << 16  # characters of a piece in the stream
NAMES = ("Mary", "John", "Peter", "Anna", "Tom", "Paul", "Susan", "David", "Laura", "Kate")
PEOPLE = ("dog", "teacher", "girl", "man", "woman", "doctor", "child", "king", "cat", "boy")
VERBS = (
    "loves", "sees", "knows", "helps", "calls", "likes", "visits", "meets", "hates", "follows", "asked", "saw", "met",
    "called", "thanked",
)  # fmt: skip
OBJECTS = ("Paul", "Mary", "Berlin", "London", "Anna", "Peter", "Google", "Smith", "Robert", "Lisa")


def seconds(action: Callable[[], object], runs: int) -> float:
    """Measure CPU time, the best of several runs."""
    spent = []
    for _ in range(runs):
        begun = time.process_time()
        action()
        spent.append(time.process_time() - begun)
    return min(spent)


def cut_in_two(segmenter: Segmenter) -> float:
    """Return the percentage of made sentences in which the segmenter finds more than one sentence."""
    subjects = (*NAMES, *(f"The {person}" for person in PEOPLE))
    made = [f"{subject} {verb} {name}." for subject in subjects for verb in VERBS for name in OBJECTS]
    _, counts = segmenter.segment_many(made)
    return 100 * sum(count > 1 for count in counts) / len(made)


def main() -> int:
    """Print the figures; 1 if one misses its bar."""
    parser = argparse.ArgumentParser(description="Speed and scores of a segmenter.")
    parser.add_argument("model", type=Path)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--format", choices=sorted(FORMATS), default="table")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    place = os.environ.get("ROPEWALK_UD")
    if given.file is None and not place:
        parser.error("give a FILE, or set ROPEWALK_UD")
    gold = conllu.read(given.file or Path(place or "") / "UD_English-EWT/en_ewt-ud-dev.conllu")
    text = align(tokens_of(gold), wrap=80).text
    loading = seconds(lambda: Segmenter.load(given.model, threads=1), given.runs)
    segmenter = Segmenter.load(given.model, threads=1)
    english = segmenter_files.load(given.model).language == "English"
    found = segmenter.segment(text)
    if text_of(found) != text:
        print("the text is not what comes back of it", file=sys.stderr)
        return 1
    long = text * COPIES
    pieces = [long[at : at + PIECE] for at in range(0, len(long), PIECE)]
    marking = seconds(lambda: sum(1 for _ in segmenter.marks(pieces)), given.runs)
    whole = seconds(lambda: sum(1 for _ in segmenter.stream(pieces)), given.runs)
    measured = {name: 100 * value for name, value in scores(gold, found).items()}
    size = sum((given.model / name).stat().st_size for name in (segmenter_files.DESCRIPTION, segmenter_files.GRAPH))
    rows = (
        ("size, kB", size / 1e3, None),
        ("loading, ms", 1e3 * loading, None),
        ("marks, thousand characters/s", len(long) / marking / 1e3, None),
        ("text to treebanks, thousand characters/s", len(long) / whole / 1e3, LEAST_SPEED),
        ("text to treebanks, thousand words/s", COPIES * found.words / whole / 1e3, None),
        ("tokens, F1", measured["tokens"], None),
        ("words, F1", measured["words"], LEAST_WORDS),
        ("sentences, F1", measured["sentences"], LEAST_SENTENCES),
        *([("made sentences cut in two, %", cut_in_two(segmenter), None)] if english else []),
    )
    columns = (TableColumn("what", numeric=False), TableColumn("found", decimals=2), TableColumn("bar", decimals=1))
    print(FORMATS[given.format](Table(title="Segmentation", columns=columns, rows=rows)))
    missed = [name for name, value, bar in rows if bar is not None and value < bar]
    for name in missed:
        print(f"missed: {name}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
