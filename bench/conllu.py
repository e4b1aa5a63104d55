"""Reading and writing CoNLL-U against pyconll, and the memory that streaming takes.

    python bench/conllu.py [FILE]

FILE is by default the English EWT training file in the folder named by ROPEWALK_UD. Each speed is the best of
several runs; the memory is the peak of a process of its own that reads a pipe and writes a file.
"""

from __future__ import annotations

import gc
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pyconll.load import load_from_file

from ropewalk import conllu, kernels
from ropewalk.core.columns import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ropewalk.treebank.treebank import Treebank

STREAMED_WORDS = 1_000_000
LEAST_RATIO = 10.0
MOST_MEGABYTES = 200.0


def best(action: Callable[[], object], runs: int) -> float:
    """Time an action: the shortest of some runs, in seconds."""
    found = []
    for _ in range(runs):
        gc.collect()
        begin = time.perf_counter()
        action()
        found.append(time.perf_counter() - begin)
    return min(found)


def compare(what: str, words: int, ours: float, theirs: float) -> bool:
    """Print one line and tell whether the bar is met."""
    print(
        f"{what:<38}{words / ours / 1e6:>8.2f} M words/s   pyconll {words / theirs / 1e3:>6.0f} k words/s"
        f"   {theirs / ours:>6.1f} times as fast (bar: {LEAST_RATIO:.0f})"
    )
    return theirs / ours >= LEAST_RATIO


def relay() -> None:
    """Copy standard input to standard output with every head replaced; report the peak of memory."""
    words = 0
    with tempfile.TemporaryDirectory() as folder:

        def replaced() -> Iterator[Treebank]:
            nonlocal words
            for bank in conllu.stream("-"):
                words += bank.words
                yield bank.with_trees(np.zeros(bank.words, dtype=np.int32), Column.of(["root"] * bank.words))

        conllu.write(Path(folder) / "out.conllu", replaced())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(words, peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))


def streamed(path: Path) -> tuple[int, float]:
    """Send copies of a file through a pipe; give the words that arrived and the peak of memory in MB."""
    copies = -(-STREAMED_WORDS // sum(bank.words for bank in conllu.stream(path)))
    child = subprocess.Popen([sys.executable, __file__, "--relay"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if child.stdin is None or child.stdout is None:  # both were asked for; mypy cannot know
        raise SystemExit(1)
    for _ in range(copies):
        with path.open("rb") as file:
            shutil.copyfileobj(file, child.stdin)
    child.stdin.close()
    words, peak = child.stdout.read().split()
    child.wait()
    return int(words), float(peak)


def main() -> int:
    """Print the figures; 1 if one misses its bar."""
    folder = os.environ.get("ROPEWALK_UD")
    if len(sys.argv) < 2 and not folder:
        print("usage: python bench/conllu.py FILE, or set ROPEWALK_UD", file=sys.stderr)
        return 2
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder or "") / "UD_English-EWT/en_ewt-ud-train.conllu"
    # First, while this process is small: Linux counts its peak into the peak of its child.
    arrived, peak = streamed(path)
    print(f"streaming {arrived} words, trees replaced: peak {peak:.0f} MB (bar: {MOST_MEGABYTES:.0f})")
    bank = conllu.read(path)
    theirs = load_from_file(str(path))
    words = bank.words
    print(f"{path.name}: {len(bank)} sentences, {words} words; kernels compiled: {kernels.compiled()}")
    heads = np.where(bank.heads > 1, bank.heads - 1, 1).astype(np.int32)
    relations = Column(bank.relations.ids, tuple(f"{name}:x" for name in bank.relations.names))
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "out.conllu"

        def their_write() -> None:
            with out.open("w", encoding="utf-8", newline="\n") as file:
                theirs.write(file)

        their_writing = best(their_write, 2)
        good = [
            compare(
                "read",
                words,
                best(lambda: conllu.read(path), 5),
                best(lambda: load_from_file(str(path)), 2),
            ),
            compare("write, unchanged", words, best(lambda: conllu.write(out, bank), 5), their_writing),
            compare(
                "write, all heads and relations replaced",
                words,
                best(lambda: conllu.write(out, bank.with_trees(heads, relations)), 5),
                their_writing,
            ),
        ]
    return 0 if all(good) and peak < MOST_MEGABYTES else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--relay"]:
        relay()
    else:
        sys.exit(main())
