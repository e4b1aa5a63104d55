"""Statistics and coverage of every encoding over a whole treebank, reading included.

    python bench/laboratory.py [FOLDER]

FOLDER is by default English EWT in the folder named by ROPEWALK_UD. Everything runs on one core, once, as a
process that has just started would run it.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from ropewalk import kernels
from ropewalk.laboratory import splits
from ropewalk.laboratory.coverage import coverage, encodings_of
from ropewalk.laboratory.statistics import statistics

MOST_SECONDS = 60.0


def main() -> int:
    """Print the figures; 1 if the bar is missed."""
    folder = os.environ.get("ROPEWALK_UD")
    if len(sys.argv) < 2 and not folder:
        print("usage: python bench/laboratory.py FOLDER, or set ROPEWALK_UD", file=sys.stderr)
        return 2
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder or "") / "UD_English-EWT"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    marks = [time.perf_counter()]
    (source,) = splits.find(path)
    corpus = splits.read(source)
    marks.append(time.perf_counter())
    plain = encodings_of(["all", "four-bit+head", "optimal+head", "hexatags+head"])
    found = statistics(corpus, plain, labels_in="all")
    marks.append(time.perf_counter())
    published = encodings_of(["all", "four-bit+head", "optimal+head", "hexatags+head"], policy="published")
    rows = coverage(corpus, published)
    marks.append(time.perf_counter())
    print(f"{corpus.name}: {found.all_trees} trees, {found.words} words in {', '.join(corpus.splits)}; "
          f"kernels compiled: {kernels.compiled()}")  # fmt: skip
    for what, start, stop in zip(
        (
            "reading",
            f"statistics of {len(plain)} encodings",
            f"coverage of {len(published)} encodings, {len(rows)} rows",
        ),
        marks,
        marks[1:],
        strict=False,
    ):
        print(f"{what:<42}{stop - start:>8.2f} s")
    total = marks[-1] - marks[0]
    print(f"{'in all':<42}{total:>8.2f} s (bar: {MOST_SECONDS:.0f})")
    return 0 if total < MOST_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
