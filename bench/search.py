"""Speed of searches for patterns in a treebank, on one core, and memory of a long stream.

    python bench/search.py [FILE] [--format markdown] [--runs N] [--stream-words N]

FILE is by default the English EWT training file in the folder named by ROPEWALK_UD. `first` is the CPU time of the
first search of a treebank that was just read, `later` the shortest of the next ones, which reuse columns and index.
Besides the patterns below, all patterns of docs/search.md are measured, and the slowest of them is shown. Then
`ropewalk search PATTERN - --count` reads FILE again and again from a pipe, up to a tenth of N words and up to N words
(by default 10 million), with the CPU time and the largest memory of both. Last, hostile patterns are searched. The exit
code is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from ropewalk import conllu, search
from ropewalk.errors import RopewalkError
from ropewalk.reporting.tables import FORMATS, Table, TableColumn

if TYPE_CHECKING:
    from ropewalk.treebank.treebank import Treebank

REPOSITORY = Path(__file__).parent.parent
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
HOSTILE = (
    " : ".join(f"{{}}=a{number}" for number in range(12)),
    " ".join(["{}=a", *(f".. {{}}=b{number}" for number in range(12))]),
    "{} #5, .. ({} #5, -- ({} #5, .. ({} #5, -- ({} #5, .. {}))))",
    "{}=x without " + " : ".join([*(f"{{}}=a{number}" for number in range(12)), "{}=a0 . {}=a1 . {}=a0"]),
    "{} " + "> ({} " * 2000,
    "{form:/" + "(" * 3000 + "a" + ")" * 3000 + "/}",
    "{form:/(((a{100}){100}){100}){100}/}",
    "{form:/" + "(a|e|i|o|u|.)*" * 150 + "x/}",
    "{form:" + "|".join(f"/(.|b)*e(.|b){{{number}}}/" for number in range(10, 30)) + "}",
    "{" + "; ".join(["form:/(a?b?c?){330}/"] * 400) + "}",
    "{" + "; ".join(["!form:x"] * 1000) + "}",
    "{} " + "[> {} | < {}]" * 30,
)
# The bars: milliseconds, millions of words a second, growth of memory, seconds.
TYPICAL_MILLISECONDS, WORST_MILLISECONDS, STREAMED, GROWTH, HOSTILE_SECONDS = 50, 1000, 1.0, 1.1, 2.0


class Streamed(NamedTuple):
    """A run of the command: words that it read, seconds of CPU time and in all, the largest memory in MB, matches."""

    words: int
    seconds: float
    in_all: float
    megabytes: float
    matches: int


def measure(treebank: Treebank, pattern: str) -> tuple[int, float]:
    """Return the number of matches and the milliseconds of CPU time."""
    compiled = search.compile(pattern)
    begin = time.process_time()
    matches = len(compiled.search(treebank, seconds=60))
    return matches, 1000 * (time.process_time() - begin)


def of_the_page() -> list[str]:
    """Return our patterns in the table of docs/search.md."""
    page = (REPOSITORY / "docs" / "search.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `.+?` \| `(.+?)` \|$", page[page.index("## Semgrex and ours") :], flags=re.MULTILINE)


def stream(file: Path, words_of_file: int, words: int) -> Streamed:
    """Search about `words` words with the command, which reads them from a pipe; Unix only."""
    text, times = file.read_bytes(), max(1, round(words / words_of_file))
    program = [sys.executable, "-m", "ropewalk", "search", TYPICAL, "-", "--count"]
    begin = time.perf_counter()
    process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None  # noqa: S101 - it was asked for
    assert process.stdout is not None  # noqa: S101 - likewise
    threading.Thread(target=_feed, args=(process.stdin, text, times), daemon=True).start()
    matches = int(process.stdout.read())
    _, code, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(code)
    in_all = time.perf_counter() - begin
    return Streamed(times * words_of_file, usage.ru_utime + usage.ru_stime, in_all, usage.ru_maxrss / 1024, matches)


def _feed(out: IO[bytes], text: bytes, times: int) -> None:
    with out:
        for _ in range(times):
            out.write(text)


def hostile(treebank: Treebank) -> float:
    """Return the CPU seconds of the slowest hostile pattern; it ends with an error or with matches."""
    slowest = 0.0
    for pattern in HOSTILE:
        begin = time.process_time()
        with contextlib.suppress(RopewalkError):
            search.compile(pattern).search(treebank)
        slowest = max(slowest, time.process_time() - begin)
    return slowest


def main() -> None:
    """Print the table, the speed of streaming and the time of hostile patterns."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", default="")
    parser.add_argument("--format", choices=tuple(FORMATS), default="table")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--stream-words", type=int, default=10_000_000)
    options = parser.parse_args()
    folder = Path(os.environ.get("ROPEWALK_UD", "."))
    file = Path(options.file or folder / "UD_English-EWT" / "en_ewt-ud-train.conllu")
    rows = [_row(file, pattern, options.runs) for pattern in PATTERNS]
    page = [_row(file, pattern, 1) for pattern in of_the_page()]
    slowest = max(page, key=lambda row: row[2])
    rows.append((f"slowest of {len(page)} in docs/search.md: {slowest[0]}", *slowest[1:]))
    missed = [f"{row[0]}: {row[2]:.0f} ms" for row in rows if row[2] > WORST_MILLISECONDS]
    missed += [f"{TYPICAL}: {rows[0][2]:.0f} ms"] * (rows[0][2] > TYPICAL_MILLISECONDS)
    treebank = conllu.read(file)
    fewer, more = (stream(file, treebank.words, options.stream_words // part) for part in (10, 1))
    speed = more.words / 1e6 / more.seconds
    missed += [f"streaming: {speed:.2f} million words a second"] * (speed < STREAMED)
    missed += [f"memory: {more.megabytes:.0f} MB"] * (more.megabytes > GROWTH * fewer.megabytes)
    seconds = hostile(treebank)
    missed += [f"hostile patterns: {seconds:.1f} s"] * (seconds > HOSTILE_SECONDS)
    columns = (
        TableColumn("pattern", numeric=False),
        TableColumn("matches"),
        TableColumn("first", unit="ms", decimals=0),
        TableColumn("later", unit="ms", decimals=0),
    )
    command = f"`ropewalk search '{TYPICAL}' - --count`"
    taken = f"{more.seconds:.1f} s of CPU time with its start ({more.in_all:.1f} s in all)"
    notes = (
        f"{command}: {more.words:,} words, {more.matches:,} matches, {taken}, {speed:.2f} million words a second",
        f"its memory: {more.megabytes:.0f} MB, and {fewer.megabytes:.0f} MB for {fewer.words:,} words",
        f"slowest of {len(HOSTILE)} hostile patterns: {seconds:.2f} s of CPU time",
        *(f"bar missed: {one}" for one in missed),
    )
    table = Table(f"Search in {treebank.words:,} words", columns, tuple(rows), notes=notes)
    sys.stdout.write(FORMATS[options.format](table))
    sys.exit(1 if missed else 0)


def _row(file: Path, pattern: str, runs: int) -> tuple[str, int, float, float]:
    treebank = conllu.read(file)
    matches, first = measure(treebank, pattern)
    return pattern, matches, first, min(measure(treebank, pattern)[1] for _ in range(runs))


if __name__ == "__main__":
    main()
