"""Grids of training runs: encodings, encoders, treebanks and decoders, and the tables that come of them."""

from __future__ import annotations

import re
import statistics
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ropewalk import encodings
from ropewalk.decoding import machine_of, stacks_of
from ropewalk.errors import ConfigError
from ropewalk.models.folder import read_json, write_json
from ropewalk.models.options import changed, read
from ropewalk.plots import Point
from ropewalk.tables import Table, TableColumn
from ropewalk.training.config import PARSERS, from_mapping
from ropewalk.training.data import read_treebank
from ropewalk.training.graph_results import graph_scores
from ropewalk.training.run import measures, train
from ropewalk.training.tracking import Tracker
from ropewalk.training.trainable import load

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ropewalk.models.model import Model
    from ropewalk.scoring.published import Accuracy, Published
    from ropewalk.training.config import Config, TrainingOptions
    from ropewalk.training.loop import Metrics, Progress
    from ropewalk.treebank import Treebank

KEYS = ("config", "encodings", "decoders", "encoders", "treebanks", "set")
TURNS = 3  # of parsing, to measure its speed
PAPER = {"UAS": "uas_sentences", "LAS": "las_sentences", "UM": "um", "LM": "lm"}
DETAILS = (
    ("uas", "UAS, words"),
    ("las", "LAS, words"),
    ("uas_sentences", "UAS, sentences"),
    ("las_sentences", "LAS, sentences"),
    ("um", "UM"),
    ("lm", "LM"),
)
ENERGY = (  # in kilowatt-hours and kilograms; shown in a thousandth of these
    ("training_energy_kwh", "training, Wh an epoch", "training_energy_wh"),
    ("training_co2_kg", "training, g CO2 an epoch", "training_co2_g"),
    ("parsing_energy_kwh", "parsing, Wh", "parsing_energy_wh"),
    ("parsing_co2_kg", "parsing, g CO2", "parsing_co2_g"),
)


@dataclass(frozen=True, slots=True)
class GridCell:
    """One training run of a grid."""

    treebank: str
    encoder: str
    encoding: str
    config: Config
    decoders: tuple[str, ...]

    @property
    def place(self) -> Path:
        """Where the run is kept within the grid's folder."""
        return Path(*(re.sub(r"[^\w.+-]+", "_", part) for part in (self.treebank, self.encoder, self.encoding)))


@dataclass(frozen=True, slots=True)
class Result:
    """The scores of one run on one part of a treebank with one decoder, how fast it parsed, and by what energy."""

    treebank: str
    encoder: str
    encoding: str
    decoder: str
    part: str
    scores: Metrics
    words_per_second: float


def cells(path: str | os.PathLike[str], changes: Iterable[str] = ()) -> list[GridCell]:
    """Read a grid: all its runs, checked before the first begins."""
    table = read(path)
    source = str(path)
    for key in table:
        if key not in KEYS:
            raise ConfigError(source, key, f"is unknown. Known here: {', '.join(KEYS)}")
    for key in ("config", "encodings", "encoders", "treebanks"):
        if not table.get(key):
            raise ConfigError(source, key, "is missing; a grid has " + ", ".join(KEYS))
    base = changed(read(Path(path).parent / table["config"]), table.get("set", []))
    base = changed(base, changes)
    decoders = tuple(table.get("decoders", ["exact"]))
    out = []
    for treebank, own_data in table["treebanks"].items():
        data = dict(own_data)
        chosen = data.pop("encoders", list(table["encoders"]))
        for name in chosen:
            if name not in table["encoders"]:
                raise ConfigError(
                    source, f"treebanks.{treebank}.encoders", f"names {name!r}, which is not in [encoders]"
                )
        shared = _merged(base, {"training": data.pop("training", {}), "data": {"name": treebank, **data}})
        for name in chosen:
            encoder = table["encoders"][name]
            for entry in table["encodings"]:
                row = dict(entry) if isinstance(entry, dict) else {"name": entry, "encoding": entry}
                encoding, own = _name(row, source), tuple(row.pop("decoders", decoders))
                model = _merged(base.get("model", {}), {"encoder": encoder})
                model |= {"parser": encoding} if encoding in PARSERS else {"parser": PARSERS[0], **row}
                whole = _merged(shared, {"decoding": {"decoder": own[0]}})
                config = from_mapping({**whole, "model": model}, source)
                out.append(GridCell(treebank, name, encoding, config, own))
    return out


def _name(row: dict[str, Any], source: str) -> str:
    value = row.pop("name", None)
    if not isinstance(value, str):
        raise ConfigError(source, "encodings.name", f"is {value!r}; expected a name for the row that it makes")
    return value


def missing(cell: GridCell) -> list[str]:
    """Name the files of a run that are not there."""
    data = cell.config.data
    return [path for path in (*data.train, *data.dev, *data.test) if not Path(path).is_file()]


def run(
    cell: GridCell,
    home: str | os.PathLike[str],
    *,
    command: str = "",
    report: Callable[[Progress], None] = lambda _: None,
) -> list[Result]:
    """Train and score one run, or take up where an interrupted one stopped, or read what a finished one left."""
    place = Path(home) / cell.place
    done = place / "results.json"
    if done.is_file():
        return [Result(**entry) for entry in read_json(done)]
    outcome = train(cell.config, place, resume=(place / "checkpoint").is_dir(), command=command, report=report)
    spent = _an_epoch(outcome.state.history)
    model = load(place)
    data = cell.config.data
    parsers: dict[str, Model] = {}
    for decoder in cell.decoders:
        parser = model.with_decoding(decoder=decoder)
        parsers.setdefault(decoder_name(parser), parser)  # several may come to the same
    results = []
    for part, paths in (("dev", data.dev), ("test", data.test)):
        if not paths:
            continue
        gold, _ = read_treebank(paths, data.bad_trees, part)
        for name, parser in parsers.items():
            found = measures(gold, parser.parse(gold))
            speed, used = _measured(parser, gold, cell.config.training, place)
            found |= spent | used
            if name == next(iter(parsers)):
                found |= graph_scores(parser, gold)
            results.append(Result(cell.treebank, cell.encoder, cell.encoding, name, part, found, speed))
    write_json(done, [_entry(result) for result in results])
    return results


def decoder_name(model: Model) -> str:
    """Say how a model's scores become trees in truth: some encodings have no exact decoder, some parsers no labels."""
    if not model.description.heads.labels:
        return "spanning tree"
    encoding, alphabet = encodings.get(model.labels.encodings[0]), model.labels.columns[0][0]
    machine, stacks = machine_of(encoding, alphabet), stacks_of(encoding, alphabet)
    if model.decoding.decoder == "greedy" or (machine is None and stacks is None):
        return f"greedy, {model.decoding.repair}"
    return "beam" if model.decoding.decoder == "exact" and stacks is not None else model.decoding.decoder


def _an_epoch(history: Sequence[Mapping[str, Any]]) -> Metrics:
    """Give the energy of an epoch of training, if it was measured in all."""
    names = [name for name in ("energy_kwh", "co2_kg") if history and all(name in entry for entry in history)]
    return {f"training_{name}": statistics.mean(entry[name] for entry in history) for name in names}


def _measured(parser: Model, gold: Treebank, options: TrainingOptions, place: Path) -> tuple[int, Metrics]:
    """Give the words a second of a warm parser, the median of several turns, and the energy of one if asked for."""
    tracker = Tracker(replace(options, tensorboard=False), place)
    seconds = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        parser.parse(gold)
        seconds.append(time.perf_counter() - begun)
    used = {f"parsing_{name}": value / TURNS for name, value in tracker.energy().items()}
    tracker.close()
    return round(gold.words / statistics.median(seconds)), used


def summary(results: Sequence[Result]) -> Table:
    """Write the paper's table of results: LAS over sentences and LM by treebank and encoding, and averages.

    The scores are those of the test data where there are any. The best of each column is underlined. Where every
    treebank has one encoder, whichever, a row has all treebanks.
    """
    results = _last(results)
    treebanks = list(dict.fromkeys(result.treebank for result in results))
    pairs = {(result.treebank, result.encoder) for result in results}
    if len(pairs) == len(treebanks):
        each = ", ".join(dict.fromkeys(result.encoder for result in results))
        results = [replace(result, encoder=each) for result in results]
    names = list(dict.fromkeys((result.encoder, result.encoding, result.decoder) for result in results))
    found = {(r.encoder, r.encoding, r.decoder, r.treebank): r.scores for r in results}
    rows = []
    for name in names:
        row: list[float | None] = []
        for measure in ("las_sentences", "lm"):
            values = [found.get((*name, treebank), {}).get(measure) for treebank in treebanks]
            known = [value for value in values if value is not None]
            mean = sum(known) / len(known) if len(known) == len(treebanks) else None
            row += [None if value is None else 100 * value for value in [*values, mean]]
        rows.append((*name, *row))
    columns = [TableColumn(name, numeric=False) for name in ("encoder", "encoding", "decoder")]
    for shown, key in (("LAS", "las_sentences"), ("LM", "lm")):
        columns += [
            TableColumn(f"{treebank} {shown}", f"{key}:{treebank}", decimals=2) for treebank in [*treebanks, "average"]
        ]
    table = Table(
        "LAS over sentences and labelled exact match",
        tuple(columns),
        tuple(rows),
        notes=("Subtypes and punctuation included.",),
    )
    for column in columns[3:]:
        table = table.mark_best(column.id)
    return table


def details(results: Sequence[Result]) -> Table:
    """Write every measure of every run and decoder."""
    return Table(
        "Every run",
        (
            *(TableColumn(name, numeric=False) for name in ("treebank", "part", "encoder", "encoding", "decoder")),
            *(TableColumn(shown, key, decimals=2) for key, shown in DETAILS),
            TableColumn("words/s", "words_per_second", decimals=0),
        ),
        tuple(
            (
                result.treebank,
                result.part,
                result.encoder,
                result.encoding,
                result.decoder,
                *(100 * result.scores[key] for key, _ in DETAILS),
                result.words_per_second,
            )
            for result in results
        ),
    )


def energy(results: Sequence[Result]) -> Table:
    """Write what an epoch of training and parsing a file once took, as far as it was measured (`training.energy`)."""
    names = ("treebank", "part", "encoder", "encoding", "decoder")
    return Table(
        "Energy",
        (
            *(TableColumn(name, numeric=False) for name in names),
            *(TableColumn(shown, key, decimals=4) for _, shown, key in ENERGY),
        ),
        tuple(
            (
                *(getattr(result, name) for name in names),
                *(1000 * result.scores[name] if name in result.scores else None for name, *_ in ENERGY),
            )
            for result in results
            if any(name in result.scores for name, *_ in ENERGY)
        ),
    )


def beside_paper(results: Sequence[Result], source: Published) -> Table:
    """Set our figures beside the paper's cells of accuracy, each system by its name there; another encoder is named.

    A treebank is known by its folder's name in UD, or by the paper's own; a run without a decoder of its own choice is
    taken by its first.
    """
    printed: dict[tuple[str, str, str], dict[str, list[Accuracy]]] = {}
    for cell in source.accuracy:
        for name in {cell.treebank, cell.folder}:  # the Penn Treebank has one name
            printed.setdefault((name, cell.system, cell.split), {}).setdefault(cell.encoder, []).append(cell)
    rows = []
    seen = set()
    for result in results:
        key = (result.treebank, result.encoding, result.part)
        if key not in printed or (*key, result.encoder) in seen:
            continue
        seen.add((*key, result.encoder))
        encoders = printed[key]
        theirs = result.encoder if result.encoder in encoders else list(encoders)[-1]
        rows.append(
            (
                result.treebank,
                result.part,
                result.encoding,
                theirs,
                "" if theirs == result.encoder else result.encoder,
                *(f"{100 * result.scores[PAPER[cell.column]]:.2f} | {cell.text}" for cell in encoders[theirs]),
            )
        )
    names = ("treebank", "part", "system", "encoder of the paper", "ours, if another", *PAPER)
    return Table(
        "Beside the paper",
        tuple(TableColumn(name, numeric=False) for name in names),
        tuple(rows),
        notes=("A cell is: ours | the paper's. UAS and LAS are over sentences.",),
    )


def points(results: Sequence[Result], treebank: str) -> dict[str, Point]:
    """Give words per second and LAS over sentences of each run on a treebank, for the Pareto figure.

    As in the paper a system has its colour and an encoder its symbol.
    """
    chosen = [result for result in _last(results) if result.treebank == treebank]
    several = len({result.encoder for result in chosen}) > 1
    return {
        " ".join([result.encoding, result.decoder, *([result.encoder] if several else [])]): Point(
            result.words_per_second, 100 * result.scores["las_sentences"], result.encoding, result.encoder
        )
        for result in chosen
    }


def _last(results: Sequence[Result]) -> list[Result]:
    """Keep of each run what was measured on the last part, the test data if there are any."""
    parts = {(one.treebank, one.encoder, one.encoding): one.part for one in results}
    return [one for one in results if one.part == parts[one.treebank, one.encoder, one.encoding]]


def _merged(base: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    out = dict(base)
    for key, value in other.items():
        old = out.get(key)
        out[key] = _merged(old, value) if isinstance(value, dict) and isinstance(old, dict) else value
    return out


def _entry(result: Result) -> dict[str, Any]:
    return {name: getattr(result, name) for name in Result.__dataclass_fields__}
