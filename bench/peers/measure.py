"""Measure Ropewalk and its peers in one run on one core, and write the page and the figure of the documentation.

    python bench/peers/measure.py [--model en …] [--home HOME] [--docs docs] [--rounds 5]

Peers are what bench/peers/train.py left in HOME; the treebank is English EWT in the folder named by ROPEWALK_UD. All
systems annotate the words and sentences of the test file, every annotation taken out of it, and its raw text, in
processes of their own that take turns. Each figure is the best of all rounds. Exits with 1 if a bar of ours is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from places import HOME, english, files_of

if TYPE_CHECKING:
    from ropewalk.reporting.tables import Cell, Table

# Of ropewalk nothing that loads numpy is imported before all runs are over: a process starts as a copy of this one, and
# what this one holds would count as memory of theirs.

RUNNER = Path(__file__).with_name("run.py")
SENTENCE = ("They", "walk", "backwards", "all", "day", ".")
LAS_ABOVE, FASTER, COLD = 4.0, 3.0, 0.8  # our bars; the first two against spaCy
WORDS_GIVEN = {"UPOS": 96.2, "XPOS": 95.7, "UFeats": 96.3, "Lemmas": 97.4, "LAS": 87.6, "MLAS": 80.5, "BLEX": 81.5}
FROM_TEXT = {"UPOS": 95.4, "XPOS": 95.0, "UFeats": 95.6, "Lemmas": 96.6, "LAS": 85.6}
SHOWN = ("Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS", "CLAS", "MLAS", "BLEX")
RAW_TEXT = """
import sys
from pathlib import Path
from ropewalk import conllu
from ropewalk.segmentation.alignment import align
from ropewalk.segmentation.tokens import tokens_of

text = align(tokens_of(conllu.read(sys.argv[1]))).text
Path(sys.argv[2]).write_text(text, encoding="utf-8", newline="\\n")
"""  # in a process of its own, for the reason above
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


class Run(NamedTuple):
    """The time and memory of one process, in seconds and megabytes, and its output."""

    wall: float
    cpu: float
    memory: float
    said: str


@dataclass(frozen=True, slots=True)
class System:
    """A system with a model: its name for people, what `run.py` calls it, and the path or name of its model."""

    name: str
    kind: str
    model: str

    def whole(self, source: Path, target: Path) -> list[str]:
        """Return the command that parses one file; for our parser, the usual one."""
        if self.kind == "ropewalk":
            options = ["--model", self.model, "--threads", "1", "-o", str(target)]
            return [sys.executable, "-m", "ropewalk", "parse", str(source), *options]
        return [sys.executable, str(RUNNER), self.kind, self.model, str(source), str(target)]

    def warm(self, before: Path, source: Path, target: Path) -> list[str]:
        """Return the command that parses two files and measures the second."""
        return [sys.executable, str(RUNNER), self.kind, self.model, str(source), str(target), "--warm", str(before)]


@dataclass(slots=True)
class Figures:
    """The best of all rounds so far: seconds, and megabytes."""

    warm: float = float("inf")
    text: float = float("inf")
    whole: float = float("inf")
    cold_wall: float = float("inf")
    cold_cpu: float = float("inf")
    memory_sentence: float = float("inf")
    memory_file: float = float("inf")

    def add(self, cold: Run, whole: Run, warm: float, text: float) -> None:
        """Add the measurements of one round."""
        self.warm = min(self.warm, warm)
        self.text = min(self.text, text)
        self.whole = min(self.whole, whole.cpu)
        self.cold_wall = min(self.cold_wall, cold.wall)
        self.cold_cpu = min(self.cold_cpu, cold.cpu)
        self.memory_sentence = min(self.memory_sentence, cold.memory)
        self.memory_file = min(self.memory_file, whole.memory)


def run(command: list[str]) -> Run:
    """Run a program to its end."""
    begun = time.perf_counter()
    environment = os.environ | ONE_THREAD
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment) as process:
        said = process.stdout.read().decode() if process.stdout else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    taken = time.perf_counter() - begun
    if process.returncode:
        sys.exit(f"{' '.join(command)}\n{said}failed with {process.returncode}")
    scale = 1e6 if sys.platform == "darwin" else 1e6 / 1024  # bytes there, kibibytes elsewhere
    return Run(taken, used.ru_utime + used.ru_stime, used.ru_maxrss / scale, said)


def bare(source: Path) -> tuple[str, int]:
    """Write a treebank with only words, multiword tokens and spaces; return the number of words."""
    out, words = [], 0
    for line in source.read_text(encoding="utf-8").split("\n"):
        fields = line.split("\t")
        if fields[0].isdigit():
            words += 1
            space = "SpaceAfter=No" if "SpaceAfter=No" in fields[-1].split("|") else "_"
            out.append("\t".join([*fields[:2], *["_"] * 7, space]))
        elif "." not in fields[0] or len(fields) == 1:
            out.append(line)
    return "\n".join(out), words


def measure(systems: list[System], treebank: dict[str, Path], work: Path, rounds: int) -> tuple[list[Figures], int]:
    """Let the systems take turns; leave what each made of words and of text in files with its place in the list."""
    test, dev, one = (work / f"{name}.conllu" for name in ("test", "dev", "one"))
    text, words = bare(treebank["test"])
    test.write_text(text, encoding="utf-8", newline="\n")
    dev.write_text(bare(treebank["dev"])[0], encoding="utf-8", newline="\n")
    lines = [f"{place}\t{word}" + "\t_" * 8 + "\n" for place, word in enumerate(SENTENCE, start=1)]
    one.write_text("".join([*lines, "\n"]), encoding="utf-8", newline="\n")
    for part in ("dev", "test"):
        run([sys.executable, "-c", RAW_TEXT, str(treebank[part]), str(work / f"{part}.txt")])
    found = [Figures() for _ in systems]
    for number in range(rounds + 1):
        for place, (system, figures) in enumerate(zip(systems, found, strict=True)):
            cold = run(system.whole(one, work / "out.conllu"))
            if not number:  # this was to bring programs and models into the system's cache
                continue
            whole = run(system.whole(test, work / f"{place}.conllu"))
            given = run(system.warm(dev, test, work / "out.conllu"))
            from_text = run(system.warm(work / "dev.txt", work / "test.txt", work / f"{place}-text.conllu"))
            figures.add(cold, whole, *(json.loads(one.said.splitlines()[-1])["parse"][1] for one in (given, from_text)))
            print(f"round {number}: {system.name}: cold {cold.cpu:.2f} s, whole {whole.cpu:.2f} s", file=sys.stderr)
    return found, words


def scored(systems: list[System], test: Path, work: Path, ending: str, title: str) -> Table:
    """Score what was annotated, as the CoNLL 2018 shared task did."""
    from ropewalk import conllu
    from ropewalk.reporting.tables import Table, TableColumn
    from ropewalk.scoring.conll18 import evaluate

    gold = conllu.read(test)
    rows: list[tuple[Cell, ...]] = []
    for place, system in enumerate(systems):
        scores = evaluate(gold, conllu.read(work / f"{place}{ending}.conllu"))
        rows.append((system.name, *(100 * scores[name].f1 for name in SHOWN)))
    columns = (TableColumn("system", numeric=False), *(TableColumn(name, decimals=2) for name in SHOWN))
    return Table(title, columns, tuple(rows))


def megabytes(folder: Path) -> float:
    """Return the size of a model."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def timed(systems: list[System], found: list[Figures], words: int) -> Table:
    """Return a table of speed and sizes."""
    from ropewalk.models.catalogue import locate
    from ropewalk.reporting.tables import Table, TableColumn

    spacy = next(figures for system, figures in zip(systems, found, strict=True) if system.kind == "spacy")
    rows: list[tuple[Cell, ...]] = []
    for system, figures in zip(systems, found, strict=True):
        folder = locate(system.model) if system.kind == "ropewalk" else Path(system.model)
        size = megabytes(folder)
        given = (round(words / figures.warm), spacy.warm / figures.warm)
        text = (round(words / figures.text), spacy.text / figures.text)
        cold = (figures.cold_wall, figures.cold_cpu)
        memory = (figures.memory_sentence, figures.memory_file)
        rows.append((system.name, *given, *text, round(words / figures.whole), *cold, size, *memory))
    columns = (
        TableColumn("system", numeric=False),
        TableColumn("words/s, words given", key="words_per_second"),
        TableColumn("spaCy = 1", key="speed_to_spacy", decimals=2),
        TableColumn("words/s, from text", key="words_per_second_text"),
        TableColumn("spaCy = 1", key="speed_to_spacy_text", decimals=2),
        TableColumn("words/s, whole process", key="words_per_second_whole"),
        TableColumn("cold start", key="cold_wall", unit="s", decimals=2),
        TableColumn("its CPU time", key="cold_cpu", unit="s", decimals=2),
        TableColumn("model", key="model", unit="MB", decimals=1),
        TableColumn("memory, one sentence", key="memory_sentence", unit="MB", decimals=0),
        TableColumn("memory, the file", key="memory_file", unit="MB", decimals=0),
    )
    return Table("Speed, size and memory, one core", columns, tuple(rows))


def missed(given: Table, text: Table, times: Table, systems: list[System]) -> list[str]:
    """Name the bars that our first model misses."""

    def of(table: Table, kind: str) -> dict[str, float]:
        row = table.rows[[system.kind for system in systems].index(kind)]
        named = zip([column.id for column in table.columns], row, strict=True)
        return {key: float(value) for key, value in named if isinstance(value, int | float)}

    ours, spacy, udpipe = (of(times, kind) for kind in ("ropewalk", "spacy", "udpipe"))
    bars = {
        f"{name} at least {bar}, {way}": of(table, "ropewalk")[name] >= bar
        for way, table, least in (("words given", given, WORDS_GIVEN), ("from text", text, FROM_TEXT))
        for name, bar in least.items()
    } | {
        f"LAS at least {LAS_ABOVE} above spaCy's": of(given, "ropewalk")["LAS"] - of(given, "spacy")["LAS"]
        >= LAS_ABOVE,
        f"at least {FASTER} times spaCy's words a second": ours["speed_to_spacy"] >= FASTER,
        "the fastest cold start": ours["cold_wall"] < min(spacy["cold_wall"], udpipe["cold_wall"]),
        f"a cold start under {COLD} s of CPU time": ours["cold_cpu"] < COLD,
    }
    return [bar for bar, met in bars.items() if not met]


def page(tables: list[Table], words: int, rounds: int, home: Path) -> str:
    """Write the page of the documentation."""
    from train import MADE, PIPELINE, UDPIPE_PARSER, UDPIPE_TOKENIZER

    from ropewalk.reporting.tables import to_markdown

    used = json.loads((home / "udpipe" / MADE).read_text(encoding="utf-8"))["recipe"]
    short = [
        f"its {part} with `{used[part]}`, not to the end, which takes `{whole}`: it could score higher"
        for part, whole in (("tokenizer", UDPIPE_TOKENIZER), ("parser", UDPIPE_PARSER))
        if used[part] != whole
    ]
    given, _, times = tables
    las, ratio = SHOWN.index("LAS") + 1, 2
    conclusions = "\n".join(
        f"- {score[0]}: a LAS of {float(score[las] or 0):.2f} with words given, "
        f"{float(time[ratio] or 0):.2f} times spaCy's speed."
        for score, time in zip(given.rows, times.rows, strict=True)
    )
    shown = "".join(to_markdown(table) + "\n" for table in tables)
    return f"""# Ropewalk and its peers

After this page you know how Ropewalk's English models compare with spaCy and UDPipe 1.

{conclusions}

**They did not learn from the same data.** spaCy and UDPipe learnt from the training file of English EWT alone.
Ropewalk's models also learnt from teachers with pretrained transformers, and from other text that these annotated, over
a million words for `en` ([models](models.md#the-english-model)). So the tables compare what one installs, not parsers
trained on equal terms. [Other languages](udpipe.md) compares models trained on the same files, and
[published figures](published-peers.md) has larger systems.

All systems were measured in one run on one core with `python bench/peers/measure.py`;
[its README](../bench/peers/README.md) explains how. The ratios count; seconds depend on the machine.

{shown}
![LAS and words a second](results/peers.svg)

- Scores are the F1 of the CoNLL 2018 shared task on the test file, {words:,} words: relations without subtypes,
  punctuation included. Tags are always each system's own; words and sentences are the treebank's, or each system's own
  from the raw text.
- Words a second of CPU time are from file to file in a warm process, which has annotated the development file; and of a
  whole process that starts, loads its model, annotates the test file's words and ends. Raw text goes to Ropewalk and
  spaCy as paragraphs, to UDPipe as a whole. Ropewalk also computes probabilities, its default.
- A cold start is a whole process that parses one sentence of {len(SENTENCE)} words. Memory is the peak of a process.
- Every figure is the best of {rounds} rounds in which the systems took turns, one thread each.
- spaCy's pipeline is {", ".join(PIPELINE)}, trained until the development score stopped rising, with its rule-based
  English tokens. UDPipe was trained with {"; ".join(short) or "its authors' options"}.
"""


def main() -> int:
    """Measure, print and write; 1 if a bar is missed."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", nargs="+", default=["en"], help="installed models, or exported folders")
    options.add_argument("--home", type=Path, default=HOME, help=f"where the peers are; by default {HOME}")
    options.add_argument("--docs", type=Path, default=Path(__file__).parents[2] / "docs", help="where to write")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--core", type=int, help="the core to use; by default the last")
    given = options.parse_args()
    treebank = files_of(english())
    for kind in ("spacy", "udpipe"):
        if not (given.home / kind / "made.json").is_file():
            options.error(f"there is no trained {kind} in {given.home}; run bench/peers/train.py first")
    systems = [System(f"Ropewalk, {Path(model).name}", "ropewalk", model) for model in given.model]
    systems.append(System(f"spaCy {version('spacy')}", "spacy", str(given.home / "spacy" / "model")))
    systems.append(System(f"UDPipe {version('ufal.udpipe')}", "udpipe", str(given.home / "udpipe" / "model")))
    if hasattr(os, "sched_setaffinity"):  # not on macOS; all processes started from here inherit it
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0)) if given.core is None else given.core})
    with tempfile.TemporaryDirectory() as place:
        found, words = measure(systems, treebank, Path(place), given.rounds)
        test, work = treebank["test"], Path(place)
        given_words = scored(systems, test, work, "", "English EWT, test file, words given")
        from_text = scored(systems, test, work, "-text", "English EWT, test file, from text")
        times = timed(systems, found, words)
    from ropewalk.files import creating, make_folder
    from ropewalk.reporting.plots import AxisLabels, Point, scatter
    from ropewalk.reporting.tables import to_text

    las = SHOWN.index("LAS") + 1
    points = {
        str(time[0]): Point(float(time[1] or 0), float(score[las] or 0))
        for time, score in zip(times.rows, given_words.rows, strict=True)
    }
    labels = AxisLabels("English EWT, gold words, one core", "words a second, CoNLL-U to CoNLL-U", "LAS")
    scatter(make_folder(given.docs / "results") / "peers.svg", points, labels)
    tables = [given_words, from_text, times]
    with creating(given.docs / "peers.md") as file:
        file.write(page(tables, words, given.rounds, given.home).encode())
    print("\n".join(map(to_text, tables)))
    bars = missed(given_words, from_text, times, systems)
    for bar in bars:
        print(f"missed: {bar}", file=sys.stderr)
    return 1 if bars else 0


if __name__ == "__main__":
    sys.exit(main())
