"""Memory of many models in one process: `python bench/model_memory.py MODEL… [--most 2] [--rounds 12]`.

Each MODEL is the name of an installed model, or a folder. First each model is loaded alone, in a process of its own,
and parses some text; the table has what that adds to the memory of the process. Then one process uses all models in
turn, `--rounds` times, as `ropewalk serve --model all --max-models MOST` does. The first rounds
grow, until the memory of dropped models is used again. Exits with 1 if the last round needs over a twentieth more than
the middle one. Linux only.
"""

from __future__ import annotations

import argparse
import gc
import random
import subprocess
import sys
from pathlib import Path

from ropewalk import load
from ropewalk.loading import LoadedOnDemand
from ropewalk.models.catalogue import in_folder, locate
from ropewalk.reporting.tables import FORMATS, Table, TableColumn

WORDS = 4000  # that each model parses each time
ALONE = "--alone"


def resident() -> float:
    """Return the megabytes that this process uses now."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def words(seed: int) -> list[list[str]]:
    """Return invented sentences, in which most words are new."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    return [["".join(chance.choices("aeiklmnorstu", k=6)) for _ in range(20)] for _ in range(WORDS // 20)]


def alone(model: str) -> None:
    """Print how much memory loading a model adds, and parsing with it."""
    load("en" if in_folder(locate(model)).name != "en" else model, threads=1).tokens([["a", "b"]])  # loads libraries
    gc.collect()
    before = resident()
    parser = load(model, threads=1)
    loaded = resident()
    parser.tokens(words(1))
    print(loaded - before, resident() - before)


def main() -> None:
    """Measure the models that are named."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("models", nargs="+")
    options.add_argument("--most", type=int, default=2)
    options.add_argument("--rounds", type=int, default=12)
    options.add_argument(ALONE, action="store_true")
    given = options.parse_args()
    if given.alone:
        alone(given.models[0])
        return
    rows = []
    for model in given.models:
        line = [sys.executable, __file__, model, ALONE]
        done = subprocess.run(line, capture_output=True, check=True, encoding="utf-8")
        loaded, used = map(float, done.stdout.split())
        rows.append((in_folder(locate(model)).name, in_folder(locate(model)).size / 1e6, loaded, used))
    cells = {
        TableColumn("model", numeric=False): lambda row: row[0],
        TableColumn("folder", unit="MB", decimals=1): lambda row: row[1],
        TableColumn("memory, loaded", unit="MB", decimals=0): lambda row: row[2],
        TableColumn(f"after {WORDS:,} words", unit="MB", decimals=0): lambda row: row[3],
    }
    sys.stdout.write(FORMATS["table"](Table.of("Memory of models", rows, cells)) + "\n")
    parsers = LoadedOnDemand(given.models, lambda name: load(name, threads=1), given.most)
    peaks = []
    for number in range(given.rounds):
        peak = 0.0
        for name in parsers:
            parsers[name].tokens(words(number))
            peak = max(peak, resident())
        peaks.append(peak)
    print(f"all in turn, {given.most} in memory; peak of each round: {', '.join(f'{peak:.0f} MB' for peak in peaks)}")
    sys.exit(peaks[-1] > 1.05 * peaks[len(peaks) // 2])


if __name__ == "__main__":
    main()
