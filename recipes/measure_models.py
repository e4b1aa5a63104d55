"""Measure models on the test files of their treebanks: speed, and whether their probabilities are true.

    python recipes/measure_models.py TREEBANKS [TREEBANKS …] [--only de fr] [--models FOLDER] [--results FOLDER]

TREEBANKS are folders that contain treebanks in UD's layout. The models are `en` and the packages in FOLDER (by default
`models/` of the repository), or those named by `--only`. The script writes

- speed and calibration into each model's card,
- `reliability.csv` into the folder of results (by default `docs/results/`): for each model, and each of ten intervals
  of probability, how many arcs and how many trees have such a probability, its mean, and how many of them are right,
- `reliability.svg` beside it, a diagram of these for each model.

Rows of models that were not measured stay as they are. Speed is CPU time: measure while nothing else runs. Then
`make models` puts the speeds into the page of languages.
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
from ropewalk.training.segmenter_training import raw

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ropewalk.pipeline import Parser
    from ropewalk.treebank.surface import Floats
    from ropewalk.treebank.treebank import Treebank

REPOSITORY = Path(__file__).resolve().parent.parent
HEADING = "\n## Speed and calibration"  # of a part of the card
INTERVALS = 10  # of probabilities
LEAST = 10  # predictions of an interval that a diagram shows
RUNS = 3
COLUMNS = ("model", "of", "interval", "number", "mean_probability", "right")
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


def speed(parser: Parser, gold: Treebank) -> float:
    """Return the words a second of CPU time with which the text of a treebank is parsed, the best of several runs."""
    text = raw(gold)
    best = 0.0
    for _ in range(RUNS):
        begun = time.process_time()
        words = parser(text).treebank.words
        best = max(best, words / max(time.process_time() - begun, 1e-9))
    return best


def measure(model: Path, test: Path) -> dict[str, Reliability]:
    """Measure a model on a test file, write speed and calibration into its card, and return its reliability."""
    parser = load(model, threads=1)
    gold = conllu.read(test)
    words_per_second = speed(parser, gold)
    found = reliability(parser.treebank(gold), gold)
    lines = [f"On `{test.name}`, on one core: {words_per_second:,.0f} words a second from text to trees."]
    lines += [
        f"Of the {part}, {100 * of.right:.2f} % are right, and their mean probability is {100 * of.mean:.2f} %; the "
        f"expected calibration error over {INTERVALS} intervals is {100 * of.error:.2f} points."
        for part, of in found.items()
    ]
    card = model / "README.md"
    before = card.read_text(encoding="utf-8").split(HEADING)[0].rstrip("\n")
    text = f"{before}\n{HEADING}\n\n{' '.join(lines)}\n"
    with files.creating(card) as file:
        file.write(text.encode())
    return found


def read(table: Path) -> dict[str, dict[str, Reliability]]:
    """Return the rows of `reliability.csv` by model, arcs or trees; empty if there is no such file."""
    found: dict[str, dict[str, list[Interval]]] = {}
    if table.is_file():
        with table.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                one = Interval(int(row["number"]), float(row["mean_probability"]), int(row["right"]))
                found.setdefault(row["model"], {}).setdefault(row["of"], []).append(one)
    return {name: {part: Reliability(tuple(rows)) for part, rows in parts.items()} for name, parts in found.items()}


def write(table: Path, found: dict[str, dict[str, Reliability]]) -> None:
    """Write `reliability.csv`, and the diagrams beside it."""
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for name, parts in sorted(found.items()):
            for part, of in parts.items():
                for place, interval in enumerate(of.intervals):
                    row = (interval.number, f"{interval.mean:.4f}", interval.right)
                    writer.writerow([name, part, f"{place / INTERVALS:.1f}", *row])
    series = {name: {part: of.points for part, of in parts.items()} for name, parts in sorted(found.items())}
    diagrams(table.with_suffix(".svg"), series, AxisLabels("", "mean probability", "share of right ones"))


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
    table = Path(options.results) / "reliability.csv"
    found = {name: parts for name, parts in read(table).items() if name in models}
    for name in options.only or sorted(models):
        main_treebank = in_folder(models[name]).summary.treebank.split(", ")[0]
        test = known[main_treebank].files.get("test") if main_treebank in known else None
        if test is None:
            print(f"{name}: no test file of {main_treebank}", flush=True)
            continue
        found[name] = measure(models[name], test)
        errors = ", ".join(f"{part} {100 * of.error:.2f}" for part, of in found[name].items())
        print(f"{name}: expected calibration error in points: {errors or 'no probabilities'}", flush=True)
    write(table, {name: parts for name, parts in found.items() if parts})


if __name__ == "__main__":
    main()
