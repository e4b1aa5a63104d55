"""Measure models of several treebanks and UDPipe 1 trained on the same files, from raw text; write a page of the docs.

    python bench/peers/by_language.py wo=UD_Wolof-WTB fr=UD_French-Sequoia … [--home HOME] [--docs docs] [--rounds 3]

Each argument is a model of ours, installed or a folder, and the treebank that it was built from: a folder, or its name
in the folder named by ROPEWALK_UD. UDPipe is what `bench/peers/train.py udpipe --treebank …` left in HOME. Both
annotate the raw text of the test file in processes of their own that take turns, on one core. Exits with 1 if a bar is
missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from measure import RAW_TEXT, System, megabytes, run
from places import HOME, files_of, home_of

from ropewalk import conllu
from ropewalk.files import creating
from ropewalk.models.catalogue import locate
from ropewalk.reporting.tables import Table, TableColumn, to_markdown, to_text
from ropewalk.scoring.conll18 import evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.reporting.tables import Cell

SHOWN = ("Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS", "MLAS", "BLEX")
ABOVE = ("Words", "UFeats", "Lemmas", "LAS")  # in which we mean to be above UDPipe
MARGIN = dict.fromkeys(("UD_French-Sequoia", "UD_Wolof-WTB", "UD_Uyghur-UDT"), 3.0)  # in LAS, at least
FASTEST = 25_000  # words a second that we mean to reach


def measured(
    systems: Sequence[System], treebank: Path, work: Path, rounds: int
) -> list[tuple[dict[str, float], float]]:
    """Let systems annotate the raw text of the test file in turns; give scores and words a second, the best of each."""
    parts = files_of(treebank)
    texts = {part: work / f"{part}.txt" for part in ("dev", "test")}
    for part, text in texts.items():
        run([sys.executable, "-c", RAW_TEXT, str(parts[part]), str(text)])
    outs = [work / f"{place}.conllu" for place in range(len(systems))]
    seconds = [float("inf")] * len(systems)
    for _ in range(rounds):
        for place, system in enumerate(systems):
            said = run(system.warm(texts["dev"], texts["test"], outs[place])).said
            seconds[place] = min(seconds[place], json.loads(said.splitlines()[-1])["parse"][1])
    gold = conllu.read(parts["test"])
    scores = [evaluate(gold, conllu.read(out)) for out in outs]
    return [
        ({name: 100 * one[name].f1 for name in SHOWN}, gold.words / taken)
        for one, taken in zip(scores, seconds, strict=True)
    ]


def page(table: Table, rounds: int) -> str:
    """Write the page of the documentation."""
    las, speed = 2 + SHOWN.index("LAS"), 2 + len(SHOWN)
    pairs = list(zip(table.rows[::2], table.rows[1::2], strict=True))  # ours, UDPipe's
    gains = [float(ours[las] or 0) - float(theirs[las] or 0) for ours, theirs in pairs]
    ratios = [float(ours[speed] or 0) / float(theirs[speed] or 1) for ours, theirs in pairs]
    conclusion = (
        f"Ropewalk's LAS is {min(gains):.1f} to {max(gains):.1f} points above UDPipe's, and it parses "
        f"{min(ratios):.0f} to {max(ratios):.0f} times as many words a second."
    )
    return f"""# Models of other languages and UDPipe

After this page you know how models that `ropewalk build` makes compare with UDPipe 1 trained on the same files.

{conclusion}

Both learnt from the training and development files of each treebank, UDPipe with the options of
[bench/peers](../bench/peers/README.md). Both annotated the raw text of the test file in one run on one core with
`python bench/peers/by_language.py`.

{to_markdown(table)}
- Scores are the F1 of the CoNLL 2018 shared task, from raw text: relations without subtypes, punctuation included, one
  seed each. A column that a treebank leaves empty scores as right.
- Words a second of CPU time are from text to CoNLL-U in a warm process; the best of {rounds} rounds in which the
  systems took turns, one thread each. New words cost more, so a short text of many different words is slower.
"""


def main() -> int:
    """Measure, print and write; 1 if a bar is missed."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("models", nargs="+", metavar="MODEL=TREEBANK")
    options.add_argument("--home", type=Path, default=HOME, help=f"where UDPipe's models are; by default {HOME}")
    options.add_argument("--docs", type=Path, default=Path(__file__).parents[2] / "docs", help="where to write")
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    if hasattr(os, "sched_setaffinity"):  # not on macOS; all processes started from here inherit it
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows: list[tuple[Cell, ...]] = []
    missed = []
    with tempfile.TemporaryDirectory() as place:
        for pair in given.models:
            model, _, name = pair.partition("=")
            treebank = Path(os.environ.get("ROPEWALK_UD", "")) / name
            peer = home_of(treebank, given.home) / "udpipe" / "model"
            if not peer.is_dir():
                options.error(f"there is no {peer}; run bench/peers/train.py udpipe --treebank {treebank} first")
            systems = (
                System(f"Ropewalk, {Path(model).name}", "ropewalk", model),
                System(f"UDPipe {version('ufal.udpipe')}", "udpipe", str(peer)),
            )
            found = measured(systems, treebank, Path(place), given.rounds)
            for system, folder, (scores, speed) in zip(systems, (locate(model), peer), found, strict=True):
                rows.append((treebank.name, system.name, *scores.values(), round(speed), megabytes(folder)))
            (ours, speed), (theirs, _) = found
            missed += [f"{treebank.name}: {name} above UDPipe's" for name in ABOVE if ours[name] <= theirs[name]]
            if (margin := MARGIN.get(treebank.name)) and ours["LAS"] < theirs["LAS"] + margin:
                missed.append(f"{treebank.name}: LAS {margin} above UDPipe's")
            missed += [f"{treebank.name}: {FASTEST:,} words a second"] if speed < FASTEST else []
    columns = (
        TableColumn("treebank", numeric=False),
        TableColumn("system", numeric=False),
        *(TableColumn(name, decimals=2) for name in SHOWN),
        TableColumn("words/s", key="words_per_second"),
        TableColumn("model", key="model", unit="MB", decimals=1),
    )
    table = Table("From raw text, test files", columns, tuple(rows))
    with creating(given.docs / "udpipe.md") as file:
        file.write(page(table, given.rounds).encode())
    print(to_text(table))
    for bar in missed:
        print(f"missed: {bar}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
