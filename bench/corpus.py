"""Several processes beside one, and a corpus on Ray beside both: `python bench/corpus.py [--words N] [--jobs N]`.

The text is invented. Each way is run as a program of its own, from its start to its end, and watched: its time, and the
CPU time and memory of every process that it starts. On a busy machine time says little; so beside the ratio of times
stands the one that CPU times allow on free cores, where the slowest process, or all of them together on so many cores,
sets the pace.

What a corpus is for is large, and Ray takes seconds to start: several processes and a corpus are run again on four
times the words. From both sizes follows what each takes to start and end, whatever the words.

It exits with 1 if, by the better of the two ratios, several processes are not 0.9 times their number as fast as one
(1.8 times with two), or a corpus on the larger size not 0.85 times as fast as several processes; or if their output is
not that of one.

With --memory it watches `ropewalk corpus` alone, from Parquet to Parquet, and exits with 1 if any process needs more
than 600 MB at any time, or in the last quarter a tenth more than in the second.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

COMMON = (
    "the a old new long rope ship harbour maker walker hemp day night line knot anchor sail water storm he she they we "
    "it walks twists holds carries breaks says sees and or but when because slowly always never again in on under with"
)
RARE = 10  # of a hundred words are made up and hardly ever come again
MOST = 600.0  # MB of a process
LEAST_SHARE = 0.9  # of so many times the speed of one process: 1.8 times with two
LEAST_CORPUS = 0.85  # of the speed of as many processes without Ray
MORE = 4  # times the words, for what is large
TICKS = 100  # of a second of CPU time in /proc


class Run(NamedTuple):
    """Measurements of a program: seconds, CPU seconds by process, and megabytes by process, in quarters."""

    seconds: float
    cpu: dict[str, float]
    memory: dict[str, list[float]]

    @property
    def used(self) -> float:
        """The seconds of CPU of all processes."""
        return sum(self.cpu.values())

    def pace(self, cores: int) -> float:
        """Return the seconds that it would need on `cores` free cores."""
        return max(*self.cpu.values(), self.used / cores)


def write(folder: Path, words: int) -> int:
    """Write documents of some hundred words as Parquet and as one text; say how many words they have by spaces."""
    rng = random.Random(1)  # noqa: S311 - invented sentences
    common = COMMON.split()
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    done = number = 0
    with pq.ParquetWriter(folder / "in.parquet", schema) as writer, (folder / "in.txt").open("w") as plain:
        while done < words:
            texts = []
            for _ in range(200):
                sentences = []
                for _ in range(rng.randint(2, 40)):
                    rare = [f"{rng.randrange(36**6):x}" if rng.randrange(100) < RARE else "" for _ in range(20)]
                    some = [word or rng.choice(common) for word in rare[: rng.randint(4, 20)]]
                    done += len(some) + 1
                    sentences.append(" ".join(some).capitalize() + ".")
                texts.append(" ".join(sentences))
            names = [f"d{number + at}" for at in range(len(texts))]
            number += len(texts)
            writer.write_table(pa.table({"id": names, "text": texts}, schema=schema))
            plain.write("\n\n".join(texts) + "\n\n")
    return done


def below(process: int) -> dict[int, tuple[str, float, float]]:
    """Find the processes below one, with their names, seconds of CPU and megabytes; Linux only."""
    found: dict[int, tuple[int, str, float, float]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                name, rest = (folder / "stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)
                fields = rest.split()
                pages = int((folder / "statm").read_text(encoding="ascii").split()[1])
            except (OSError, ValueError, IndexError):  # it ended meanwhile
                continue
            used = (int(fields[11]) + int(fields[12])) / TICKS
            found[int(folder.name)] = int(fields[1]), name.partition("(")[2], used, pages * 4096 / 1e6
    wanted = [process]
    for above in wanted:
        wanted += [one for one, (parent, *_) in found.items() if parent == above]
    return {one: found[one][1:] for one in wanted if one in found}


def watch(words: list[str]) -> Run:
    """Run a program to its end."""
    begun = time.monotonic()
    names: dict[int, str] = {}  # the last of each process: Ray's change theirs with what they do
    cpu: dict[int, float] = {}
    seen: dict[int, list[tuple[float, float]]] = defaultdict(list)
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            for number, (name, used, megabytes) in below(process.pid).items():
                names[number] = f"{number} {name}"
                cpu[number] = used
                seen[number].append((time.monotonic() - begun, megabytes))
            time.sleep(0.1)
    if process.returncode:
        sys.exit(process.returncode)
    end = time.monotonic() - begun
    memory = {
        names[number]: [
            max((held for at, held in some if end * q / 4 <= at < end * (q + 1) / 4), default=0.0) for q in range(4)
        ]
        for number, some in seen.items()
    }
    return Run(end, {names[number]: used for number, used in cpu.items()}, memory)


PIPE = """
import sys, pyarrow.parquet as pq, ropewalk
texts = pq.read_table(sys.argv[1], columns=["text"]).column(0).to_pylist()
for document in ropewalk.load(threads=1).pipe(texts, jobs=int(sys.argv[2])):
    document.to_conllu()
"""


def programs(folder: Path, jobs: int) -> dict[str, list[str]]:
    """Every way to parse what was written to a folder."""
    parse = [sys.executable, "-m", "ropewalk", "parse", "--threads", "1", str(folder / "in.txt"), "--format", "conllu"]
    corpus = [sys.executable, "-m", "ropewalk", "corpus", str(folder / "in.parquet"), "--shard-size", "0.5"]
    return {
        "parse": [*parse, "-o", str(folder / "one.conllu")],
        "several": [*parse, "-o", str(folder / "several.conllu"), "--jobs", str(jobs)],
        "pipe": [sys.executable, "-c", PIPE, str(folder / "in.parquet"), "1"],
        "pipes": [sys.executable, "-c", PIPE, str(folder / "in.parquet"), str(jobs)],
        "corpus": [*corpus, "-o", str(folder / "out"), "--workers", str(jobs)],
    }


def measured(folder: Path, words: int, jobs: int, names: dict[str, str]) -> dict[str, Run]:
    """Run some ways once, and print what each took."""
    runs = {}
    print(f"{words:,} words\n{'':24} seconds  words a second  CPU seconds  on {jobs} free cores: seconds")
    for way, name in names.items():
        run = runs[way] = watch(programs(folder, jobs)[way])
        print(
            f"{name:24} {run.seconds:7.1f}  {words / run.seconds:14,.0f}  {run.used:11.1f}  {run.pace(jobs):9.1f}",
            flush=True,
        )
    return runs


def reached(name: str, faster: Run, slower: Run, jobs: int, bar: float | None) -> bool:
    """Print how much faster one way is than another, and tell whether the bar is reached if there is one."""
    ratio, free = slower.seconds / faster.seconds, slower.pace(jobs) / faster.pace(jobs)
    fine = bar is None or max(ratio, free) >= bar
    told = "no bar" if bar is None else f"bar: {bar:.2f}"
    missed = "" if fine else "   MISSED"
    print(f"{name}: {ratio:.2f} times as fast; on free cores {free:.2f}, by CPU time ({told}){missed}")
    return fine


def compare(folder: Path, words: int, jobs: int) -> bool:
    """Run every way once, and two on more words too; print what they took, and tell whether all bars are reached."""
    names = {
        "parse": "parse",
        "several": f"parse --jobs {jobs}",
        "pipe": "pipe",
        "pipes": f"pipe, jobs={jobs}",
        "corpus": f"corpus --workers {jobs}",
    }
    runs = measured(folder, words, jobs, names)
    large = folder / "large"
    large.mkdir()
    more = write(large, MORE * words)
    both = {way: names[way] for way in ("several", "corpus")}
    again = measured(large, more, jobs, both)
    for way, name in both.items():
        share = words / (more - words)
        wall = runs[way].seconds - (again[way].seconds - runs[way].seconds) * share
        used = runs[way].used - (again[way].used - runs[way].used) * share
        print(f"{name}: {wall:.1f} s to start and end, {used:.1f} s of CPU, as both sizes tell")
    beside = f"corpus beside parse --jobs {jobs}"
    fine = [
        reached(f"parse --jobs {jobs} beside parse", runs["several"], runs["parse"], jobs, LEAST_SHARE * jobs),
        reached(f"pipe with {jobs} jobs beside one", runs["pipes"], runs["pipe"], jobs, LEAST_SHARE * jobs),
        reached(f"{beside}, {words:,} words", runs["corpus"], runs["several"], jobs, None),
        reached(f"{beside}, {more:,} words", again["corpus"], again["several"], jobs, LEAST_CORPUS),
    ]
    same = (folder / "one.conllu").read_bytes() == (folder / "several.conllu").read_bytes()
    print(f"the output of several processes is {'that' if same else 'NOT that'} of one, byte for byte")
    return all(fine) and same


def memory(folder: Path, words: int, jobs: int) -> bool:
    """Run a corpus and watch the memory of every process."""
    out = ["-o", str(folder / "out"), "--workers", str(jobs), "--shard-size", "2"]
    run = watch([sys.executable, "-m", "ropewalk", "corpus", str(folder / "in.parquet"), *out])
    print(f"{words:,} words in {run.seconds:.1f} s; peak memory of processes over 50 MB by quarters, in MB:")
    fine = True
    for name, quarters in run.memory.items():
        if max(quarters) > 50:
            lasting = min(quarters[1], quarters[3]) > 0
            flat = not lasting or quarters[3] <= 1.1 * quarters[1]
            fine &= flat and max(quarters) < MOST
            shown = " ".join(f"{quarter:6.0f}" for quarter in quarters)
            print(f"{name:32} {shown}  {'flat' if flat else 'it grows'}{'' if max(quarters) < MOST else ', too much'}")
    return fine


def main() -> None:
    """Run what was asked for."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--words", type=int, default=0)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--memory", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        words = write(folder, given.words or (5_000_000 if given.memory else 500_000))
        fine = (memory if given.memory else compare)(folder, words, given.jobs)
    sys.exit(not fine)


if __name__ == "__main__":
    main()
