"""Grids of training runs: encodings, encoders, treebanks, seeds and decoders, and the tables that come of them."""

from __future__ import annotations

import re
import statistics
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ropewalk import encodings
from ropewalk.decoding import machine_of, stacks_of
from ropewalk.errors import ConfigError
from ropewalk.formats import conllu
from ropewalk.laboratory.graph_results import graph_scores
from ropewalk.models.storage import read_json, write_json
from ropewalk.options import changed, read
from ropewalk.reporting.plots import Point
from ropewalk.reporting.tables import Table, TableColumn, text_columns
from ropewalk.training.checks import demand_decoder, only_used, parser_decoders
from ropewalk.training.config import PARSERS, from_mapping
from ropewalk.training.examples import read_treebank
from ropewalk.training.loop import CHECKPOINT
from ropewalk.training.tracking import Tracker
from ropewalk.training.trainable import device_name, devices, load
from ropewalk.training.training_run import measures, train

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ropewalk.laboratory.published import Accuracy, Published
    from ropewalk.models.model import Model
    from ropewalk.training.config import Config
    from ropewalk.training.loop import Progress, ScoresByName
    from ropewalk.treebank.treebank import Treebank

KEYS = ("config", "encodings", "decoders", "encoders", "treebanks", "seeds", "set")
TURNS = 3  # of parsing, to measure its speed
SAMPLE = 200  # sentences, for the speed of devices that no run was trained on
PAPER = {"UAS": "uas_sentences", "LAS": "las_sentences", "UM": "um", "LM": "lm"}
DETAILS = (
    ("uas", "UAS, words"),
    ("las", "LAS, words"),
    ("uas_sentences", "UAS, sentences"),
    ("las_sentences", "LAS, sentences"),
    ("um", "UM"),
    ("lm", "LM"),
)
SYSTEM = ("treebank", "part", "encoder", "encoding", "decoder")
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
    seed: int | None = None  # where the grid has several

    @property
    def place(self) -> Path:
        """Where the run is kept within the grid's folder."""
        last = () if self.seed is None else (f"seed-{self.seed}",)
        return Path(*(_file_name(part) for part in (self.treebank, self.encoder, self.encoding, *last)))

    @property
    def name(self) -> str:
        """What the run is called."""
        last = () if self.seed is None else (f"seed {self.seed}",)
        return ", ".join((self.treebank, self.encoder, self.encoding, *last))


@dataclass(frozen=True, slots=True)
class Result:
    """The scores of one run on one part of a treebank with one decoder, how fast it parsed, and by what energy.

    `words_per_second` is that of the device that it was trained on, `speeds` that of each device, by name. `seed` is
    that of the run where a grid has several; `over_seeds` makes means of them, which have none.
    """

    treebank: str
    encoder: str
    encoding: str
    decoder: str
    part: str
    scores: ScoresByName
    words_per_second: float
    seed: int | None = None
    speeds: Mapping[str, float] = field(default_factory=dict)

    @property
    def system(self) -> tuple[str, ...]:
        """What is alike in runs that differ by their seed alone."""
        return self.treebank, self.part, self.encoder, self.encoding, self.decoder


def cells(path: str | os.PathLike[str], changes: Iterable[str] = ()) -> list[GridCell]:
    """Read a grid: all its runs, checked before the first begins.

    Of several seeds all systems have the first before any has the next, so that what is done so far is fair.
    """
    table, changes = read(path), tuple(changes)
    source = str(path)
    for key in table:
        if key not in KEYS:
            raise ConfigError(source, key, f"is unknown. Known here: {', '.join(KEYS)}")
    for key in ("config", "encodings", "encoders", "treebanks"):
        if not table.get(key):
            raise ConfigError(source, key, "is missing; a grid has " + ", ".join(KEYS))
    base = changed(read(Path(path).parent / table["config"]), table.get("set", []))
    base = changed(base, changes)
    seeds = _seeds(table, changes, source)
    if not seeds:
        return _cells(table, base, source)
    of_each = [(seed, _cells(table, {**base, "seed": seed}, source)) for seed in seeds]
    if len(seeds) == 1:
        return of_each[0][1]
    return [replace(cell, seed=seed) for seed, some in of_each for cell in some]


def _seeds(table: Mapping[str, Any], changes: Iterable[str], source: str) -> list[int]:
    """Give the seeds that a grid names."""
    seeds: list[int] = table.get("seeds", [])
    if not isinstance(seeds, list) or not all(type(seed) is int for seed in seeds) or len({*seeds}) < len(seeds):
        raise ConfigError(source, "seeds", f"is {seeds!r}; expected different whole numbers, such as [1, 2, 3]")
    if seeds and any(change.partition("=")[0].strip() == "seed" for change in changes):
        raise ConfigError("--set", "seed", f"would change all seeds of {source}, which are {seeds}; change them there")
    return seeds


def _cells(table: Mapping[str, Any], base: dict[str, Any], source: str) -> list[GridCell]:
    """Make the runs of a grid from what they share."""
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
                row = _row(entry)
                encoding, own = _name(row, source), tuple(row.pop("decoders", ()))
                model = _merged(base.get("model", {}), {"encoder": encoder})
                model |= {"parser": PARSERS[0], **row}
                known = parser_decoders(model["parser"])
                own = own or tuple(name for name in decoders if name in known) or known[:1]
                configs = [
                    only_used(
                        from_mapping({**_merged(shared, {"decoding": {"decoder": decoder}}), "model": model}, source),
                        asked=_options_of(row),
                    )
                    for decoder in own
                ]
                for config in configs:
                    demand_decoder(config)
                out.append(GridCell(treebank, name, encoding, configs[0], own))
    return out


def _row(entry: Any) -> dict[str, Any]:  # noqa: ANN401 - as TOML has it
    """Return an entry of `encodings` as options of [model]: an encoding, or the name of a parser, stands for itself."""
    if isinstance(entry, dict):
        return dict(entry)
    return {"name": entry, "parser": entry} if entry in PARSERS else {"name": entry, "encoding": entry}


def _options_of(row: Mapping[str, Any], above: str = "model.") -> set[str]:
    """Return the names of the options that a row of a grid sets itself; what rows share need not apply to all."""
    out: set[str] = set()
    for key, value in row.items():
        out |= _options_of(value, f"{above}{key}.") if isinstance(value, dict) else {above + key}
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
    """Train and score one run, or take up where an interrupted one stopped, or read what a finished one left.

    What it predicts is kept beside its model, a CoNLL-U file for each part and decoder: `test-joint.conllu`.
    """
    place = Path(home) / cell.place
    done = place / "results.json"
    if done.is_file():
        return [Result(**entry) for entry in read_json(done)]
    outcome = train(cell.config, place, resume=(place / CHECKPOINT).is_dir(), command=command, report=report)
    spent = _an_epoch(outcome.state.history)
    models = {device_name(device): load(place, device=device) for device in devices(cell.config.training.device)}
    device, model = next(iter(models.items()))
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
            predicted = parser.parse(gold)
            conllu.write(place / f"{part}-{_file_name(name)}.conllu", predicted)
            found = measures(gold, predicted)
            tracker = Tracker(replace(cell.config.training, tensorboard=False), place)
            speeds = {device: _speed(parser, gold)}
            found |= spent | {f"parsing_{key}": value / TURNS for key, value in tracker.energy().items()}
            tracker.close()
            few = gold.select(np.arange(min(len(gold), SAMPLE)))
            for other in list(models)[1:]:
                speeds[other] = _speed(models[other].with_decoding(decoder=parser.decoding.decoder), few)
            if name == next(iter(parsers)):
                found |= graph_scores(parser, gold)
            system = (cell.treebank, cell.encoder, cell.encoding, name, part)
            results.append(Result(*system, found, speeds[device], cell.seed, speeds))
    write_json(done, [_entry(result) for result in results])
    return results


def decoder_name(model: Model) -> str:
    """Return how a model's scores really become trees: some encodings have no exact decoder, some parsers no labels."""
    if not model.description.heads.labels:
        return "spanning tree" if model.decoding.decoder == "exact" else model.decoding.decoder
    encoding, alphabet = encodings.get(model.labels.encodings[0]), model.labels.columns[0][0]
    machine, stacks = machine_of(encoding, alphabet), stacks_of(encoding, alphabet)
    if model.decoding.decoder == "greedy" or (machine is None and stacks is None):
        return f"greedy, {model.decoding.repair}"
    return "beam" if model.decoding.decoder == "exact" and stacks is not None else model.decoding.decoder


def _an_epoch(history: Sequence[Mapping[str, Any]]) -> ScoresByName:
    """Give the energy of an epoch of training, if it was measured in all."""
    names = [name for name in ("energy_kwh", "co2_kg") if history and all(name in entry for entry in history)]
    return {f"training_{name}": statistics.mean(entry[name] for entry in history) for name in names}


def _speed(parser: Model, gold: Treebank) -> int:
    """Return the words a second of a parser: the median of several turns."""
    seconds = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        parser.parse(gold)
        seconds.append(time.perf_counter() - begun)
    return round(gold.words / statistics.median(seconds))


def _by_system(results: Iterable[Result]) -> list[list[Result]]:
    """Put the results together that differ by their seed alone."""
    found: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        found.setdefault(result.system, []).append(result)
    return list(found.values())


def over_seeds(results: Iterable[Result]) -> list[Result]:
    """Make one result of those that differ by their seed alone: the means of what all of them have."""
    return [
        replace(
            some[0],
            scores={
                key: statistics.fmean(one.scores[key] for one in some)
                for key in some[0].scores
                if all(key in one.scores for one in some)
            },
            words_per_second=statistics.fmean(one.words_per_second for one in some),
            seed=None,
            speeds={
                device: statistics.fmean(one.speeds[device] for one in some)
                for device in some[0].speeds
                if all(device in one.speeds for one in some)
            },
        )
        for some in _by_system(results)
    ]


def _number_of_seeds(results: Iterable[Result]) -> str:
    """Say of how many seeds figures are."""
    counts = sorted({len(some) for some in _by_system(results)})
    if counts[-1:] in ([], [1]):
        return "One seed."
    return f"Means over {' to '.join(dict.fromkeys(str(count) for count in (counts[0], counts[-1])))} seeds."


def spread(results: Sequence[Result]) -> Table:
    """Write the means over seeds of every measure, and their standard deviations; without several seeds no row."""
    groups = _by_system(results) if any(len(some) > 1 for some in _by_system(results)) else []
    rows = []
    for some in groups:
        row: list[float | None] = []
        for key, _ in DETAILS:
            values = [100 * one.scores[key] for one in some]
            row += [statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None]
        rows.append((*some[0].system, len(some), *row))
    return Table(
        "Over seeds",
        (
            *text_columns(*SYSTEM),
            TableColumn("seeds"),
            *(
                column
                for key, shown in DETAILS
                for column in (TableColumn(shown, key, decimals=2), TableColumn("±", f"{key}_deviation", decimals=2))
            ),
        ),
        tuple(rows),
        notes=("Means over seeds, and ± their standard deviations; one seed has none.",),
    )


def summary(results: Sequence[Result]) -> Table:
    """Write the paper's table of results: LAS over sentences and LM by treebank and encoding, and averages.

    The scores are those of the test data where there are any, means where there are several seeds. The best of each
    column is underlined. Where every treebank has one encoder, whichever, a row has all treebanks.
    """
    seeds = _number_of_seeds(results)
    results = over_seeds(_last(results))
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
    columns = [*text_columns("encoder", "encoding", "decoder")]
    for shown, key in (("LAS", "las_sentences"), ("LM", "lm")):
        columns += [
            TableColumn(f"{treebank} {shown}", f"{key}:{treebank}", decimals=2) for treebank in [*treebanks, "average"]
        ]
    table = Table(
        "LAS over sentences and labelled exact match",
        tuple(columns),
        tuple(rows),
        notes=("Subtypes and punctuation included.", seeds),
    )
    for column in columns[3:]:
        table = table.mark_best(column.id)
    return table


def details(results: Sequence[Result]) -> Table:
    """Write every measure of every run and decoder."""
    seeds = any(result.seed is not None for result in results)
    return Table(
        "Every run",
        (
            *text_columns(*SYSTEM),
            *([TableColumn("seed")] if seeds else []),
            *(TableColumn(shown, key, decimals=2) for key, shown in DETAILS),
            TableColumn("words/s", "words_per_second", decimals=0),
        ),
        tuple(
            (
                *result.system,
                *([result.seed] if seeds else []),
                *(100 * result.scores[key] for key, _ in DETAILS),
                result.words_per_second,
            )
            for result in results
        ),
    )


def speed(results: Sequence[Result]) -> Table:
    """Write the words a second of every run and decoder on each device, means where there are several seeds."""
    return Table(
        "Speed",
        (
            *text_columns(*SYSTEM, "device"),
            TableColumn("words/s", "words_per_second", decimals=0),
        ),
        tuple(
            (*result.system, device, words) for result in over_seeds(results) for device, words in result.speeds.items()
        ),
        notes=(
            f"The median of {TURNS} turns of a warm parser over the file.",
            f"On a CPU beside a GPU it is over the first {SAMPLE} sentences.",
        ),
    )


def energy(results: Sequence[Result], source: Published) -> Table:
    """Write what an epoch of training and parsing a file once took, as far as it was measured (`training.energy`).

    The last row has what the paper says of its own models.
    """
    rows = [
        (*result.system, *(1000 * result.scores[name] if name in result.scores else None for name, *_ in ENERGY))
        for result in over_seeds(results)
        if any(name in result.scores for name, *_ in ENERGY)
    ]
    theirs = (float(source.energy[key]) if key in source.energy else None for *_, key in ENERGY)
    return Table(
        "Energy",
        (
            *text_columns(*SYSTEM),
            *(TableColumn(shown, key, decimals=4) for _, shown, key in ENERGY),
        ),
        (*rows, ("the paper", *[""] * (len(SYSTEM) - 1), *theirs)) if rows else (),
        notes=(
            "The paper names neither treebank nor device for its grams; its machines have RTX 3090 GPUs, in Spain.",
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
    for result in over_seeds(results):
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
    return Table(
        "Beside the paper",
        text_columns("treebank", "part", "system", "encoder of the paper", "ours, if another", *PAPER),
        tuple(rows),
        notes=("A cell is: ours | the paper's. UAS and LAS are over sentences.", _number_of_seeds(results)),
    )


def points(results: Sequence[Result], treebank: str) -> dict[str, Point]:
    """Give words per second and LAS over sentences of each run on a treebank, for the Pareto figure.

    As in the paper a system has its colour and an encoder its symbol.
    """
    chosen = [result for result in over_seeds(_last(results)) if result.treebank == treebank]
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


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.+-]+", "_", text)


def _merged(base: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    out = dict(base)
    for key, value in other.items():
        old = out.get(key)
        out[key] = _merged(old, value) if isinstance(value, dict) and isinstance(old, dict) else value
    return out


def _entry(result: Result) -> dict[str, Any]:
    return {name: getattr(result, name) for name in Result.__dataclass_fields__}
