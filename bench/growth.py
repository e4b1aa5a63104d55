"""Speed and memory of parsing as sentences, texts and processes grow.

    python bench/growth.py [--model en] [--words 1000000] [--jobs 2]

The first table has sentences of 10 to 1,000 words, the second texts of a thousand words up to `--words`, streamed as
`ropewalk parse` does, with the most memory that the process has used so far. The last lines have the time of
`parser.pipe` with one process, with `--jobs` processes, and with as many threads that share one parser. All is CPU
time, that of several processes together, so that other programs on the machine hardly matter. Texts are invented.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import ropewalk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ropewalk import Parser

RUNS = 3
LENGTHS = (10, 30, 100, 300, 1_000)  # words of a sentence
TOGETHER = 6_000  # words of all sentences of a length
PIECE = 200  # paragraphs of a text that are passed at a time
PARTS = (500, 2_500)  # paragraphs for several processes


def spent(action: Callable[[], object]) -> float:
    """Return the CPU time of `action` in this process, in seconds."""
    begin = time.process_time()
    action()
    return time.process_time() - begin


def by_length(parser: Parser, words: list[str]) -> None:
    """Print the speed for sentences of each length."""
    print(f"{'words of a sentence':<24}{'words/s':>10}")
    for length in LENGTHS:
        supply = itertools.cycle(words)
        sentences = [list(itertools.islice(supply, length)) for _ in range(TOGETHER // length)]
        seconds = min(spent(lambda given=sentences: parser.tokens(given)) for _ in range(RUNS))  # type: ignore[misc]
        print(f"{length:<24,}{len(sentences) * length / seconds:>10,.0f}", flush=True)


def pieces(paragraphs: list[str], most: int) -> Iterator[str]:
    """Yield pieces of a text of about `most` words."""
    have = 0
    for start in itertools.count(0, PIECE):
        some = [paragraphs[(start + place) % len(paragraphs)] for place in range(PIECE)]
        for paragraph in some:
            if have >= most:
                return
            have += len(paragraph.split())
            yield f"{paragraph}\n\n"


def by_text(parser: Parser, paragraphs: list[str], most: int) -> None:
    """Print speed and memory for texts of growing length."""
    print(f"\n{'words of a text':<24}{'words/s':>10}{'most memory, MB':>18}")
    size = 1_000
    while size <= most:
        begin = time.process_time()
        words = sum(bank.words for bank in parser.stream(pieces(paragraphs, size)))
        seconds = time.process_time() - begin
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{words:<24,}{words / seconds:>10,.0f}{memory:>18,.0f}", flush=True)
        size *= 10


def of_workers() -> float:
    """Return the CPU time of all living processes that this one started, and that those started, in seconds.

    Workers are forks of a process of their own, so the system does not add their time to that of this process.
    """
    rows = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, fields = file.read_text().rpartition(") ")
            values = fields.split()
            rows[int(name.split()[0])] = int(values[1]), int(values[11]) + int(values[12])
    family = {os.getpid()}
    while new := {number for number, (parent, _) in rows.items() if parent in family} - family:
        family |= new
    return sum(rows[number][1] for number in family - {os.getpid()}) / os.sysconf("SC_CLK_TCK")


def by_processes(parser: Parser, paragraphs: list[str], jobs: int) -> None:
    """Print the CPU time of one process, of several, and of several threads; two amounts of text cancel the start."""

    def piped(texts: list[str], count: int) -> float:
        begin = time.process_time()
        documents = parser.pipe(texts, jobs=count)
        for _ in range(len(texts) - 1):
            next(documents)
        workers = of_workers()  # they live until the last document
        next(documents)
        return time.process_time() - begin + workers

    def parsed(count: int) -> float:
        few, many = (piped(paragraphs[:size], count) for size in PARTS)
        return many - few

    def threaded() -> float:
        with ThreadPoolExecutor(jobs) as pool:
            parts = [paragraphs[PARTS[0] + place : PARTS[1] : jobs] for place in range(jobs)]
            return spent(lambda: list(pool.map(lambda part: sum(1 for _ in parser.pipe(part)), parts)))

    rounds = [(parsed(1), parsed(jobs), threaded()) for _ in range(RUNS)]
    one, several, threads = (min(column) for column in zip(*rounds, strict=True))
    print(f"\nCPU time: one process {one:.2f} s, {jobs} processes {several:.2f} s, {jobs} threads {threads:.2f} s")
    print(f"so that {jobs} processes on idle cores are at most {jobs * one / several:.2f} times as fast")


def main() -> None:
    """Measure and print."""
    sys.path.insert(0, str(Path(__file__).parent))
    from api import invented  # type: ignore[import-not-found]

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="en")
    options.add_argument("--words", type=int, default=1_000_000, help="words of the longest text")
    options.add_argument("--jobs", type=int, default=2)
    given = options.parse_args()
    parser = ropewalk.load(given.model, threads=1)
    paragraphs = invented(PARTS[1])
    by_length(parser, " ".join(paragraphs[:500]).split())
    by_text(parser, paragraphs, given.words)
    by_processes(parser, paragraphs, given.jobs)


if __name__ == "__main__":
    main()
