"""Speed of reading graphs, writing them as labels and reading them back, on one core.

    python bench/graphs.py [FILE] [--format markdown] [--runs N]

FILE is by default the English EWT training file in the folder named by ROPEWALK_UD. Speeds are millions of words and
empty nodes a second of CPU time, each the best of several runs. The exit code is 1 if the hierarchical encoding misses
its bar.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk import conllu, deps, kernels
from ropewalk.encodings.graphs import DEFAULT, get, known
from ropewalk.reporting.tables import FORMATS, Table, TableColumn

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.reporting.tables import Cell

LEAST = 1.0  # millions of nodes a second


def fastest(action: Callable[[], object], runs: int) -> float:
    """Return the shortest CPU time of some runs."""
    found = float("inf")
    for _ in range(runs):
        begin = time.process_time()
        action()
        found = min(found, time.process_time() - begin)
    return found


def main() -> int:
    """Print the figures; 1 if one misses its bar."""
    parser = argparse.ArgumentParser(description="Speed of encodings of graphs.")
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--format", choices=sorted(FORMATS), default="table")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    folder = os.environ.get("ROPEWALK_UD")
    if given.file is None and not folder:
        parser.error("give a FILE, or set ROPEWALK_UD")
    path = given.file or Path(folder or "") / "UD_English-EWT/en_ewt-ud-train.conllu"
    bank = conllu.read(path)
    graphs = deps.read(bank)
    how = "compiled" if kernels.compiled() else "in plain Python"
    print(f"{path.name}: {len(graphs)} graphs, {graphs.nodes} nodes; kernels {how}", file=sys.stderr)
    millions = graphs.nodes / 1e6
    rows: list[tuple[Cell, ...]] = [
        (
            "DEPS of CoNLL-U",
            millions / fastest(partial(deps.write, bank, graphs), given.runs),
            millions / fastest(partial(deps.read, bank), given.runs),
            "",
        )
    ]
    met = True
    for name in known():
        encoding = get(name)
        labels = encoding.encode(graphs)
        speeds = [
            millions / fastest(action, given.runs)
            for action in (partial(encoding.encode, graphs), partial(encoding.decode, labels))
        ]
        bar = name == DEFAULT
        met = met and (not bar or min(speeds) >= LEAST)
        rows.append((encoding.spec, *speeds, f"{LEAST:g}" if bar else ""))
    print(
        FORMATS[given.format](
            Table(
                title="Speed of graphs",
                columns=(
                    TableColumn("encoding", numeric=False),
                    TableColumn("write", unit="M nodes/s", decimals=2),
                    TableColumn("read", unit="M nodes/s", decimals=2),
                    TableColumn("bar", numeric=False),
                ),
                rows=tuple(rows),
            )
        )
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
