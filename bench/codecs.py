# ruff: noqa: A005 - a script, which nothing imports
"""Speed of encoding and decoding trees on one core, and whether the cost is linear in the sentences.

    python bench/codecs.py [FILE] [--format markdown] [--runs N]

FILE is by default the English EWT training file in the folder named by ROPEWALK_UD. Speeds are millions of words a
second of CPU time, each the best of several runs; beside them stands the ratio to a bare loop of `line.split` at tabs
over the same file. For linearity the trees of ten words in FILE are written and read once as they are and once chained
to sentences of 1,000 words, each root hanging on the one before it. The exit code is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ropewalk import conllu, kernels
from ropewalk.core.arrays import frozen_ints
from ropewalk.core.projectivity import lift, lower
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import projective
from ropewalk.encodings import get
from ropewalk.reporting.tables import FORMATS, Table, TableColumn
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.reporting.tables import Cell

SPECS = (
    "optimal",
    "four-bit",
    "optimal(policy=published)",
    "four-bit(policy=published)",
    "optimal-nonprojective",
    "seven-bit",
    "seven-bit(policy=published)",
    "brackets",
    "brackets(stacks=1)",
    "brackets(planes=2)",
    "hexatags",
    "absolute",
    "relative",
    "pos-offset",
    "arc-standard",
    "arc-eager",
    "arc-hybrid",
    "covington",
)
FAST = ("optimal", "four-bit")
FAST_ENCODE, FAST_DECODE, LEAST, LEAST_LIFTING = 5.0, 10.0, 1.0, 0.5  # millions of words a second
MOST_APART = 2.0
SHORT, LONG = 10, 1_000
LINEARITY_WORDS = 200_000


def fastest(actions: Sequence[Callable[[], object]], runs: int) -> list[float]:
    """Time some actions in turn, so that none has a quieter machine than another: the shortest of the runs of each."""
    found = [float("inf")] * len(actions)
    gc.collect()
    for _ in range(runs):
        for place, action in enumerate(actions):
            begin = time.process_time()
            action()
            found[place] = min(found[place], time.process_time() - begin)
    return found


def split_lines(lines: Sequence[str]) -> None:
    """Do the least that a reader in plain Python does."""
    for line in lines:
        line.split("\t")


def speeds(spec: str, banks: Sequence[Treebank], runs: int) -> list[float]:
    """Measure writing each treebank and then reading each, in millions of words a second."""
    encoding = get(spec)
    labels = [encoding.encode(bank) for bank in banks]
    writing = fastest([partial(encoding.encode, bank) for bank in banks], runs)
    reading = fastest([partial(encoding.decode, written) for written in labels], runs)
    return [bank.words / seconds / 1e6 for bank, seconds in zip([*banks, *banks], writing + reading, strict=True)]


def lifting_speed(bank: Treebank, scheme: str, runs: int) -> float:
    """Measure lifting and lowering together, in millions of words a second."""
    trees = bank.trees()
    actions = [partial(lift, trees, scheme), partial(lower, lift(trees, scheme), scheme)]
    return bank.words / sum(fastest(actions, runs)) / 1e6


def blocks(bank: Treebank) -> tuple[Treebank, Treebank]:
    """Return the trees of ten words, repeated, as they are and chained to long sentences."""
    chosen = np.flatnonzero(bank.lengths == SHORT)
    some = np.resize(chosen, LINEARITY_WORDS // SHORT)
    short = bank.select(some)
    short = Treebank(short.offsets, short.heads, short.columns)
    rows = short.heads.reshape(-1, SHORT).astype(np.int64)
    roots = np.argmax(rows == 0, axis=1) + 1
    before = np.arange(len(rows)) % (LONG // SHORT) * SHORT  # words of the same long sentence before each block
    above = (before - SHORT + np.roll(roots, 1)) * (before > 0)
    heads = np.where(rows == 0, above[:, None], rows + before[:, None])
    offsets = Offsets(np.arange(0, LINEARITY_WORDS + 1, LONG))
    return short, Treebank(offsets, frozen_ints(heads.ravel()), short.columns)


def speed_table(bank: Treebank, plain: float, runs: int) -> tuple[Table, bool]:
    """Measure every encoding, and lifting, against its bar."""
    rows: list[tuple[Cell, ...]] = []
    for spec in SPECS:
        fast = spec in FAST
        writing, reading = speeds(spec, [bank], runs)
        bars = (FAST_ENCODE, FAST_DECODE) if fast else (LEAST, LEAST)
        met = writing >= bars[0] and reading >= bars[1]
        rows.append(
            (spec, writing, reading, writing / plain, reading / plain, f"{bars[0]:g} / {bars[1]:g}", _said(met))
        )
    for scheme in ("head", "path", "head+path"):
        speed = lifting_speed(bank, scheme, runs)
        name = f"lifting and lowering, {scheme}"
        rows.append((name, speed, None, speed / plain, None, f"{LEAST_LIFTING:g}", _said(speed >= LEAST_LIFTING)))
    crossing = bank.select(~projective(bank.trees()))
    if len(crossing):
        speed = lifting_speed(crossing, "head", runs)
        rows.append(("the same, head, non-projective trees only", speed, None, speed / plain, None, "", ""))
    table = Table(
        title="Speed",
        columns=(
            TableColumn("encoding", numeric=False),
            TableColumn("encode", unit="M words/s", decimals=2),
            TableColumn("decode", unit="M words/s", decimals=2),
            TableColumn("encode, times split", "encode_ratio", decimals=1),
            TableColumn("decode, times split", "decode_ratio", decimals=1),
            TableColumn("bar", numeric=False),
            TableColumn("met", numeric=False),
        ),
        rows=tuple(rows),
        notes=(f'A bare loop of line.split("\\t") over the file: {plain:.2f} M words/s.',),
    )
    return table, all(row[-1] != "no" for row in rows)


def linearity_table(bank: Treebank, runs: int) -> tuple[Table, bool]:
    """Measure every encoding on short and on long sentences of the same trees."""
    short, long = blocks(bank)
    rows: list[tuple[Cell, ...]] = []
    for spec in SPECS:
        found = speeds(spec, [short, long], runs)
        writing, reading = found[0] / found[1], found[2] / found[3]
        met = all(1 / MOST_APART <= ratio <= MOST_APART for ratio in (writing, reading))
        rows.append((spec, *found[:2], writing, *found[2:], reading, _said(met)))
    columns = [
        TableColumn(f"{what}, {words} words" if words else f"{what}, ratio", f"{what}_{words or 'ratio'}", decimals=2)
        for what in ("encode", "decode")
        for words in (SHORT, LONG, 0)
    ]
    table = Table(
        title="Linearity",
        columns=(TableColumn("encoding", numeric=False), *columns, TableColumn("met", numeric=False)),
        rows=tuple(rows),
        notes=(f"M words/s for sentences of {SHORT} and of {LONG} words; bar: within a factor of {MOST_APART:g}.",),
    )
    return table, all(row[-1] != "no" for row in rows)


def _said(met: bool) -> str:  # noqa: FBT001 - it puts a truth value into words
    return "yes" if met else "no"


def main() -> int:
    """Print the figures; 1 if one misses its bar."""
    parser = argparse.ArgumentParser(description="Speed of encodings.")
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--format", choices=sorted(FORMATS), default="table")
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    folder = os.environ.get("ROPEWALK_UD")
    if given.file is None and not folder:
        parser.error("give a FILE, or set ROPEWALK_UD")
    path = given.file or Path(folder or "") / "UD_English-EWT/en_ewt-ud-train.conllu"
    bank = conllu.read(path, trees="required")
    lines = path.read_text(encoding="utf-8").split("\n")
    how = "compiled" if kernels.compiled() else "in plain Python"
    print(f"{path.name}: {len(bank)} sentences, {bank.words} words; kernels {how}", file=sys.stderr)
    plain = bank.words / fastest([partial(split_lines, lines)], given.runs)[0] / 1e6
    tables = [speed_table(bank, plain, given.runs), linearity_table(bank, given.runs)]
    for table, _ in tables:
        print(FORMATS[given.format](table))
    return 0 if all(met for _, met in tables) else 1


if __name__ == "__main__":
    sys.exit(main())
