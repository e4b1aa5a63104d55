"""Measure models on the test files of their treebanks: speed, and whether their probabilities are true.

    python recipes/measure_models.py TREEBANKS [TREEBANKS …] [--only de fr] [--models FOLDER] [--results FOLDER]

TREEBANKS are folders that contain treebanks in UD's layout. The models are `en` and the packages in FOLDER (by default
`models/` of the repository), or those named by `--only`. The script writes

- speed and calibration into each model's card,
- `models.csv` into the folder of results (by default `docs/results/`): speed, and scores from raw text by the rules of
  CoNLL 2018,
- `reliability.csv` beside it: for each model, and each of ten intervals
  of probability, how many arcs and how many trees have such a probability, its mean, and how many of them are right,
- `reliability.svg`, a diagram of these for each model.

Rows of models that were not measured stay as they are. Speed is CPU time: measure while nothing else runs. Then
`make models` writes the page of languages.
"""

from __future__ import annotations

import argparse
import csv
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from languages import treebanks_in
from list_models import folders

from ropewalk import conllu, files, load
from ropewalk.models.catalogue import embedded_folder, in_folder
from ropewalk.reporting.plots import AxisLabels, diagrams
from ropewalk.scoring import conll18
from ropewalk.training.segmenter_training import raw

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from ropewalk.pipeline import Parser
    from ropewalk.treebank.surface import Floats
    from ropewalk.treebank.treebank import Treebank

REPOSITORY = Path(__file__).resolve().parent.parent
HEADING = "\n## Speed and calibration"  # of a part of the card
INTERVALS = 10  # of probabilities
LEAST = 10  # predictions of an interval that a diagram shows
RUNS = 3
MODELS, RELIABILITY = "models.csv", "reliability.csv"
COLUMNS = ("model", "of", "interval", "number", "mean_probability", "right")
MEASURES = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS", "CLAS")
SPEED = "words_per_second"
ARCS, TREES = "arcs", "trees"


class Interval(NamedTuple):
    """Predictions with a probability in one of the intervals: how many, their mean probability, and how many right."""

    number: int
    mean: float
    right: int


@dataclass(frozen=True, slots=True)
class Reliability:
    """The predictions of a model by their probability, in intervals of equal width."""

    intervals: tuple[Interval, ...]

    @classmethod
    def of(cls, probabilities: Floats, right: npt.NDArray[np.bool_]) -> Reliability:
        """Count predictions in intervals; `right` says which of them are right."""
        places = np.minimum((probabilities * INTERVALS).astype(np.int64), INTERVALS - 1)
        inside = [places == place for place in range(INTERVALS)]
        means = [float(probabilities[chosen].mean()) if chosen.any() else 0.0 for chosen in inside]
        counts = [(int(chosen.sum()), int(right[chosen].sum())) for chosen in inside]
        return cls(tuple(Interval(all_, mean, hits) for mean, (all_, hits) in zip(means, counts, strict=True)))

    @property
    def number(self) -> int:
        """The number of predictions."""
        return sum(interval.number for interval in self.intervals)

    @property
    def mean(self) -> float:
        """The mean probability."""
        return sum(interval.number * interval.mean for interval in self.intervals) / max(self.number, 1)

    @property
    def right(self) -> float:
        """The share of right predictions."""
        return sum(interval.right for interval in self.intervals) / max(self.number, 1)

    @property
    def error(self) -> float:
        """The expected calibration error: how far probability and share of right ones differ in a mean interval."""
        gaps = (abs(interval.number * interval.mean - interval.right) for interval in self.intervals)
        return sum(gaps) / max(self.number, 1)

    @property
    def points(self) -> list[tuple[float, float]]:
        """Mean probability and share of right predictions of each interval that has enough for a diagram."""
        shown = (interval for interval in self.intervals if interval.number >= LEAST)
        return [(interval.mean, interval.right / interval.number) for interval in shown]


def reliability(parsed: Treebank, gold: Treebank) -> dict[str, Reliability]:
    """Return the reliability of the arcs and of the trees of a parsed treebank; empty without probabilities."""
    found = parsed.probabilities
    if found is None or found.arcs is None or found.trees is None:
        return {}
    right = parsed.heads == gold.heads
    whole = np.logical_and.reduceat(right, gold.offsets.starts)
    return {ARCS: Reliability.of(found.arcs, right), TREES: Reliability.of(found.trees, whole)}


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of a model: words a second, scores from raw text from 0 to 1, and reliability."""

    speed: float
    scores: dict[str, float]
    reliability: dict[str, Reliability]

    @property
    def lines(self) -> list[str]:
        """Sentences about speed and reliability for the model's card."""
        return [f"{self.speed:,.0f} words a second from text to trees."] + [
            f"Of the {part}, {100 * of.right:.2f} % are right, and their mean probability is {100 * of.mean:.2f} %; "
            f"the expected calibration error over {INTERVALS} intervals is {100 * of.error:.2f} points."
            for part, of in self.reliability.items()
        ]


def measure(model: Path, test: Path) -> Measured:
    """Measure a model on a test file; write speed and calibration into its card."""
    parser = load(model, threads=1)
    gold = conllu.read(test)
    words_per_second, parsed = speed(parser, raw(gold))
    evaluation = conll18.evaluate(gold, parsed)
    scores = {name: evaluation[name].f1 for name in MEASURES}
    found = Measured(words_per_second, scores, reliability(parser.treebank(gold), gold))
    card = model / "README.md"
    before = card.read_text(encoding="utf-8").split(HEADING)[0].rstrip("\n")
    text = f"{before}\n{HEADING}\n\nOn `{test.name}`, on one core: {' '.join(found.lines)}\n"
    with files.creating(card) as file:
        file.write(text.encode())
    return found


def speed(parser: Parser, text: str) -> tuple[float, Treebank]:
    """Parse a text several times; return the words a second of CPU time in the best run, and the trees."""
    best = 0.0
    for _ in range(RUNS):
        begun = time.process_time()
        parsed = parser(text).treebank
        best = max(best, parsed.words / max(time.process_time() - begun, 1e-9))
    return best, parsed


def read_reliability(table: Path) -> dict[str, dict[str, Reliability]]:
    """Return the rows of `reliability.csv` by model, arcs or trees; empty if there is no such file."""
    found: dict[str, dict[str, list[Interval]]] = {}
    if table.is_file():
        with table.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                one = Interval(int(row["number"]), float(row["mean_probability"]), int(row["right"]))
                found.setdefault(row["model"], {}).setdefault(row["of"], []).append(one)
    return {name: {part: Reliability(tuple(rows)) for part, rows in parts.items()} for name, parts in found.items()}


def write_reliability(table: Path, found: dict[str, dict[str, Reliability]]) -> None:
    """Write `reliability.csv`, and the diagrams beside it."""
    rows = [
        (name, part, f"{place / INTERVALS:.1f}", interval.number, f"{interval.mean:.4f}", interval.right)
        for name, parts in sorted(found.items())
        for part, of in parts.items()
        for place, interval in enumerate(of.intervals)
    ]
    _write(table, COLUMNS, rows)
    series = {name: {part: of.points for part, of in parts.items()} for name, parts in sorted(found.items())}
    diagrams(table.with_suffix(".svg"), series, AxisLabels("", "mean probability", "share of right ones"))


def read_scores(table: Path) -> dict[str, dict[str, str]]:
    """Return the rows of `models.csv` by model; empty if there is no such file."""
    if not table.is_file():
        return {}
    with table.open(encoding="utf-8", newline="") as file:
        return {row.pop("model"): row for row in csv.DictReader(file)}


def _write(table: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("treebanks", nargs="+", metavar="TREEBANKS")
    parser.add_argument("--only", nargs="+", default=[], metavar="CODE")
    parser.add_argument("--models", default=str(REPOSITORY / "models"), metavar="FOLDER")
    parser.add_argument("--results", default=str(REPOSITORY / "docs" / "results"), metavar="FOLDER")
    options = parser.parse_args(arguments)
    known = treebanks_in(options.treebanks)
    models = {folder.name: folder for folder in (embedded_folder() / "en", *folders(Path(options.models)))}
    unknown = {*options.only} - {*models}
    if unknown:
        parser.error(f"there is no model {', '.join(sorted(unknown))}")
    results = Path(options.results)
    reliable = {name: parts for name, parts in read_reliability(results / RELIABILITY).items() if name in models}
    scored = {name: row for name, row in read_scores(results / MODELS).items() if name in models}
    for name in options.only or sorted(models):
        main_treebank = in_folder(models[name]).summary.treebank.split(", ")[0]
        test = known[main_treebank].files.get("test") if main_treebank in known else None
        if test is None:
            print(f"{name}: no test file of {main_treebank}", flush=True)
            continue
        found = measure(models[name], test)
        reliable[name] = found.reliability
        scored[name] = {SPEED: f"{found.speed:.0f}", **{key: f"{100 * f1:.2f}" for key, f1 in found.scores.items()}}
        print(f"{name}: LAS {scored[name]['LAS']}, {' '.join(found.lines)}", flush=True)
    write_reliability(results / RELIABILITY, {name: parts for name, parts in reliable.items() if parts})
    columns = (SPEED, *MEASURES)
    _write(
        results / MODELS, ("model", *columns), [(name, *map(row.get, columns)) for name, row in sorted(scored.items())]
    )


if __name__ == "__main__":
    main()
