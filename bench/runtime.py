"""Speed of models without torch on one thread: of the network alone, and from CoNLL-U to CoNLL-U.

    python bench/runtime.py [FILE] [--model FOLDER …] [--kind bilstm sru …] [--hidden 128 …] [--depth 2 …]
                            [--weights int8] [--vectors 64]

FILE is by default the English EWT test file in the folder named by ROPEWALK_UD. Without models, untrained ones of the
sizes asked for are made with the vocabulary and the labels of FILE: what they say means nothing, and costs the same.
Speeds are words a second of CPU time, each the best of several runs. The first run begins with no word known, as a
program does that parses one file.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ropewalk import conllu
from ropewalk.loading import load_model
from ropewalk.reporting.tables import FORMATS, Table, TableColumn

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.models.model import Model
    from ropewalk.reporting.tables import Cell
    from ropewalk.treebank.treebank import Treebank

RUNS = 4


def made(options: argparse.Namespace, home: Path, encoder: tuple[str, int, int], weights: str) -> Path:
    """Make an untrained model and export it; an `encoder` has a kind, hidden units and layers."""
    kind, hidden, depth = encoder
    from ropewalk.training.config import from_mapping
    from ropewalk.training.examples import label_set, read_treebank
    from ropewalk.training.export import export
    from ropewalk.training.trainable import Trainable
    from ropewalk.training.trained_files import save

    bank, _ = read_treebank([options.file], "skip", "train")
    vectors = ""
    if options.vectors:
        vectors = str(home / "vectors.txt")
        forms = sorted(set(bank.column("form").texts()))
        table = np.random.default_rng(1).standard_normal((len(forms), options.vectors)).round(3)
        lines = [f"{form} {' '.join(map(str, row))}\n" for form, row in zip(forms, table.tolist(), strict=True)]
        Path(vectors).write_text("".join(lines), encoding="utf-8")
    config = from_mapping(
        {
            "data": {"train": options.file, "dev": options.file},
            "model": {
                "encoding": options.encoding,
                "tags": ["upos"],
                "hidden": options.head,
                "relations": {"from": "word+head", "hidden": options.head},
                "encoder": {
                    "kind": kind,
                    "hidden": hidden,
                    "depth": depth,
                    "least_count": 1,
                    "vectors": vectors,
                    "word_size": options.word,
                    "affix_size": options.affix,
                    "character_size": options.character,
                },
            },
        }
    )
    labels, rows = label_set(config, bank)
    trained, out = home / f"{kind}-{hidden}-{depth}", home / f"{kind}-{hidden}-{depth}-{weights}"
    save(trained, Trainable.create(config, labels, rows), config)
    export(trained, out, weights=weights)
    return out


def seconds(task: Callable[[], object], runs: int = RUNS) -> float:
    """Return the shortest CPU time of several runs."""
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        task()
        best = min(best, time.process_time() - start)
    return best


def row(folder: Path, name: str, raw: bytes, bank: Treebank) -> tuple[Cell, ...]:
    """Measure one model."""
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    start = time.process_time()
    loaded = load_model(folder, threads=1)
    loading = time.process_time() - start

    def encoder(model: Model) -> None:
        model.scorer.encoder.vectors(bank.column("form"), bank.offsets.array, model.decoding.batch)

    def network(model: Model) -> None:
        for part, scores in model.scores(bank):
            scores.trees.relations(part.heads)

    def whole(model: Model, *, confidence: bool = False) -> None:
        parsed = model.with_decoding(confidence=confidence).parse(conllu.loads(raw))
        io.BytesIO().write(conllu.dumps(parsed))

    cold = seconds(lambda: whole(loaded), 1)
    times = [seconds(lambda: encoder(loaded)), seconds(lambda: network(loaded)), cold, seconds(lambda: whole(loaded))]
    times.append(seconds(lambda: whole(loaded, confidence=True)))
    return (name, round(size, 1), round(loading, 3), *(round(bank.words / one) for one in times))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ.get("ROPEWALK_UD", "")) / "UD_English-EWT" / "en_ewt-ud-test.conllu"
    parser.add_argument("file", nargs="?", default=str(default))
    parser.add_argument("--model", nargs="*", default=[], help="folders that `ropewalk export` made")
    parser.add_argument("--kind", nargs="*", default=["bilstm"], choices=("bilstm", "sru"), help="kinds of encoders")
    parser.add_argument("--hidden", nargs="*", type=int, default=[128])
    parser.add_argument("--depth", nargs="*", type=int, default=[2])
    parser.add_argument("--weights", nargs="*", default=["int8"])
    parser.add_argument("--encoding", default="optimal+head")
    parser.add_argument("--vectors", type=int, default=64)
    parser.add_argument("--head", type=int, default=128, help="hidden units of the heads")
    parser.add_argument("--word", type=int, default=64)
    parser.add_argument("--affix", type=int, default=32)
    parser.add_argument("--character", type=int, default=32)
    parser.add_argument("--format", choices=tuple(FORMATS), default="table")
    options = parser.parse_args()
    raw = Path(options.file).read_bytes()
    bank = conllu.loads(raw)
    rows = [row(Path(folder), Path(folder).name, raw, bank) for folder in options.model]
    with tempfile.TemporaryDirectory() as home:
        sizes = product(options.kind, options.hidden, options.depth, options.weights) if not options.model else ()
        for kind, hidden, depth, weights in sizes:
            folder = made(options, Path(home), (kind, hidden, depth), weights)
            rows.append(row(folder, f"{kind}, hidden {hidden}, depth {depth}, {weights}", raw, bank))
    heads = ("MB", "loading, s", "encoder", "network", "first run", "CoNLL-U to CoNLL-U", "with confidences")
    columns = (TableColumn("model", numeric=False), *(TableColumn(head) for head in heads))
    note = "Words a second of CPU time, one thread; the first run begins with no word known."
    sys.stdout.write(FORMATS[options.format](Table("Speed", columns, tuple(rows), notes=(note,))))


if __name__ == "__main__":
    main()
