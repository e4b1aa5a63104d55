"""Grids of training runs over encodings, encoders, treebanks, seeds and decoders, and tables of their results."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import statistics
import time
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ropewalk import decoding, encodings, files
from ropewalk.errors import ConfigError, RopewalkError, TrainingError, demand_known
from ropewalk.formats import conllu
from ropewalk.laboratory.graph_results import graph_scores
from ropewalk.models import tag_columns
from ropewalk.models.description import Description
from ropewalk.models.label_sets import GraphNames, LabelSet
from ropewalk.models.model import demand_decoders
from ropewalk.models.storage import CONFIG, read_content, read_json
from ropewalk.models.word_readers import OWN, announced
from ropewalk.options import changed, flat_options, flat_table, read
from ropewalk.reporting.plots import Point
from ropewalk.reporting.tables import Table, TableColumn, text_columns
from ropewalk.scoring.attachment import score
from ropewalk.training.checks import demand_decoder, demand_teachable, only_used, parser_decoders
from ropewalk.training.config import PARSERS, Config, from_mapping
from ropewalk.training.construction import graph_shape, head_shape
from ropewalk.training.examples import encoding_names, read_treebank
from ropewalk.training.loop import CHECKPOINT, Progress
from ropewalk.training.tracking import Tracker
from ropewalk.training.trainable import device_name, devices, load
from ropewalk.training.training_run import measures, train

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ropewalk.laboratory.published import Accuracy, Published
    from ropewalk.models.model import Model
    from ropewalk.training.loop import ScoresByName
    from ropewalk.treebank.treebank import Treebank

KEYS = ("config", "encodings", "decoders", "encoders", "treebanks", "seeds", "set", "comparisons")
RESULTS = "results.jsonl"  # in a grid's folder: a line for each finished run, with everything that its tables need
UNCOMPARED = frozenset(  # options that change neither a model nor its scores
    {
        *("data.name", "data.licence", "model.encoder.local_files_only", "teacher.cache", "teacher.sources"),
        *("training.device", "training.threads", "training.tensorboard"),
    }
)
SHOWN = 3  # differences between configurations that an error names
TURNS = 3  # repetitions of parsing, to measure its speed
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
COUNTS = ("words", "heads", "labelled")  # counts of words: all, with the right head, with the right relation too
SYSTEM = ("treebank", "part", "encoder", "encoding", "decoder")
ENERGY = (  # in kilowatt-hours and kilograms; tables show a thousandth of these
    ("training_energy_kwh", "training, Wh an epoch", "training_energy_wh"),
    ("training_co2_kg", "training, g CO2 an epoch", "training_co2_g"),
    ("parsing_energy_kwh", "parsing, Wh", "parsing_energy_wh"),
    ("parsing_co2_kg", "parsing, g CO2", "parsing_co2_g"),
)


@dataclass(frozen=True, slots=True)
class GridCell:
    """One training run of a grid: treebank, encoder, encoding and seed, with the decoders to score it with."""

    treebank: str
    encoder: str
    encoding: str
    config: Config
    decoders: tuple[str, ...]
    seed: int | None = None  # if the grid has `seeds`

    @property
    def place(self) -> Path:
        """The folder of the run within the grid's folder."""
        last = () if self.seed is None else (f"seed-{self.seed}",)
        return Path(*(_file_name(part) for part in (self.treebank, self.encoder, self.encoding, *last)))

    @property
    def name(self) -> str:
        """The name of the run for people: treebank, encoder, encoding, and the seed if the grid has `seeds`."""
        last = () if self.seed is None else (f"seed {self.seed}",)
        return ", ".join((self.treebank, self.encoder, self.encoding, *last))


@dataclass(frozen=True, slots=True)
class Result:
    """The scores of one run on one part of a treebank (dev or test) with one decoder, and its parsing speed.

    `scores` also has the energy of training and parsing, if it was measured. `words_per_second` is the speed on the
    device of training. `speeds` has the speed on each device, by the device's name. `seed` is None if the grid has no
    `seeds`, or if this is a mean over seeds. `sentences` has three counts for each sentence: its `words`, those with
    the right head (`heads`), and those with the right relation too (`labelled`).
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
    sentences: Mapping[str, list[int]] = field(default_factory=dict)

    @property
    def system(self) -> tuple[str, ...]:
        """The treebank, part, encoder, encoding and decoder, which are the same for all seeds."""
        return self.treebank, self.part, self.encoder, self.encoding, self.decoder


def cells(path: str | os.PathLike[str], changes: Iterable[str] = ()) -> list[GridCell]:
    """Read the training runs of a grid from its TOML file; raise `ConfigError` if an option is wrong.

    `changes` are options to change, such as `training.epochs=3`. With several seeds, all runs with the first seed
    precede those with the next, so that systems can be compared before the whole grid is finished. Every run is
    checked, as far as that is possible without its data.
    """
    table, changes = read(path), tuple(changes)
    source = str(path)
    for key in table:
        if key not in KEYS:
            raise ConfigError(source, key, f"is unknown. Known here: {', '.join(KEYS)}")
    for key in ("config", "encodings", "encoders", "treebanks"):
        if not table.get(key):
            raise ConfigError(source, key, "is missing; a grid has " + ", ".join(KEYS))
    base = changed(read(Path(path).parent / table["config"]), [*table.get("set", []), *changes])
    seeds = _seeds(table, changes, source)
    own = {name: _treebank_seeds(name, data, seeds, source) for name, data in table["treebanks"].items()}
    if seeds:
        every = [(seed, cell) for seed in seeds for cell in _cells(table, {**base, "seed": seed}, source)]
        planned = [replace(cell, seed=seed) for seed, cell in every if seed in own[cell.treebank]]
    else:
        planned = _cells(table, base, source)
    places: set[Path] = set()
    for cell in planned:
        _demand_sound(cell, source)
        if cell.place in places:
            raise ConfigError(source, "", f"several runs have the folder {cell.place}; give each row another name")
        places.add(cell.place)
    return planned


def _seeds(table: Mapping[str, Any], changes: Iterable[str], source: str) -> list[int]:
    """Return the seeds in `table`, a grid or one of its treebanks; raise `ConfigError` if they are invalid.

    Raise it also if `changes` would change these seeds. `source` names the table in errors.
    """
    seeds: list[int] = table.get("seeds", [])
    if not isinstance(seeds, list) or not all(type(seed) is int for seed in seeds) or len({*seeds}) < len(seeds):
        raise ConfigError(source, "seeds", f"is {seeds!r}; expected different integers, such as [1, 2, 3]")
    if seeds and any(change.partition("=")[0].strip() == "seed" for change in changes):
        raise ConfigError("--set", "seed", f"would change all seeds of {source}, which are {seeds}; change them there")
    return seeds


def _treebank_seeds(name: str, data: Mapping[str, Any], seeds: Sequence[int], source: str) -> Sequence[int]:
    """Return the seeds of the treebank `name`: its own, which must be some of the grid's `seeds`, or all of these."""
    own = _seeds(data, (), f"{source}: treebanks.{name}")
    if not {*own} <= {*seeds}:
        raise ConfigError(source, f"treebanks.{name}.seeds", f"is {own}; expected some of the grid's seeds, {seeds}")
    return own or seeds


def _cells(table: Mapping[str, Any], base: dict[str, Any], source: str) -> list[GridCell]:
    """Return the runs of the grid `table`, without seeds; `base` has the options that all runs share."""
    decoders = _decoders(table.get("decoders", ["exact"]), source, "decoders")
    out = []
    for treebank, own_data in table["treebanks"].items():
        data = {key: value for key, value in own_data.items() if key != "seeds"}
        chosen = data.pop("encoders", list(table["encoders"]))
        for name in chosen:
            if name not in table["encoders"]:
                problem = f"names {name!r}, which is not in [encoders]"
                raise ConfigError(source, f"treebanks.{treebank}.encoders", problem)
        shared = _merged(base, {"training": data.pop("training", {}), "data": {"name": treebank, **data}})
        for name in chosen:
            encoder = table["encoders"][name]
            for entry in table["encodings"]:
                row = _row(entry)
                encoding, own = row.pop("name", None), _decoders(row.pop("decoders", []), source, "encodings.decoders")
                if not isinstance(encoding, str):
                    raise ConfigError(source, "encodings.name", f"is {encoding!r}; expected a name for the row")
                model = _merged(base.get("model", {}), {"encoder": encoder})
                model |= {"parser": PARSERS[0], **row}
                known = parser_decoders(model["parser"])
                own = own or tuple(name for name in decoders if name in known) or known[:1]
                config = only_used(
                    from_mapping({**_merged(shared, {"decoding": {"decoder": own[0]}}), "model": model}, source),
                    named=flat_table(row, "model."),  # shared options need not apply to all rows
                )
                out.append(GridCell(treebank, name, encoding, config, own))
    return out


def _row(entry: Any) -> dict[str, Any]:  # noqa: ANN401 - as TOML has it
    """Return an entry of the grid's `encodings` as a name and options of [model].

    An entry is a table of options, or a text: the name of an encoding or of a parser.
    """
    if isinstance(entry, dict):
        return dict(entry)
    return {"name": entry, "parser": entry} if entry in PARSERS else {"name": entry, "encoding": entry}


def _decoders(names: Any, source: str, key: str) -> tuple[str, ...]:  # noqa: ANN401 - as TOML has it
    """Return the decoders that `key` of a grid lists; raise `ConfigError` unless it is a list of known names."""
    known = decoding.known()
    if not isinstance(names, list) or not all(isinstance(name, str) and name in known for name in names):
        raise ConfigError(source, key, f"is {names!r}; expected a list with some of: {', '.join(known)}")
    return tuple(names)


def _demand_sound(cell: GridCell, source: str) -> None:
    """Raise `ConfigError` if a run of the grid `source` cannot be trained, or not scored with one of its decoders."""
    try:
        _demand_known_names(cell.config)
        demand_teachable(cell.config)
        for config in _decoder_configs(cell):
            demand_decoder(config)
            demand_decoders(*_described(config))
    except RopewalkError as failure:
        raise ConfigError(source, "", f"the run {cell.name!r} is not possible: {failure}") from failure


def _demand_known_names(config: Config) -> None:
    """Raise an error if a configuration lacks data, or if it names an unknown encoding, encoder or tag column."""
    for part in ("train", "dev"):
        if not getattr(config.data, part):
            raise TrainingError(f"data.{part} is empty; expected a treebank file")
    if config.model.encoder.kind not in OWN:
        announced(config.model.encoder.kind)
    for name in encoding_names(config):
        encodings.get(name)
    for tag in config.model.tags:
        demand_known("tag column", tag, tag_columns.known())


def _decoder_configs(cell: GridCell) -> list[Config]:
    """Return the configuration of a run with each of its decoders."""
    config = cell.config
    return [replace(config, decoding=replace(config.decoding, decoder=name)) for name in cell.decoders]


def _described(config: Config) -> tuple[Description, LabelSet]:
    """Return the description and the label set of a run's model, as far as they are known without its data."""
    model = config.model
    shape = graph_shape(model)
    names = encoding_names(config)
    columns = tuple((tuple(encodings.get(name).alphabet or ()),) for name in names)
    graphs = None if shape.is_empty else GraphNames(model.graph.encoding if shape.labels else "", (), ())
    return Description(heads=head_shape(model), decoding=config.decoding, graphs=shape), LabelSet(
        names, columns, (), graphs=graphs
    )


def systems(cells: Iterable[GridCell]) -> tuple[str, ...]:
    """Return the names of a grid's systems, such as `optimal, exact`: a row's name and a decoder as results name it."""
    return tuple(
        dict.fromkeys(
            f"{cell.encoding}, {_decoder_used(*_described(config))}"
            for cell in cells
            for config in _decoder_configs(cell)
        )
    )


def missing(cell: GridCell) -> list[str]:
    """Return the treebank files of a run that do not exist."""
    data = cell.config.data
    return [path for path in (*data.train, *data.dev, *data.test) if not Path(path).is_file()]


def run(
    cell: GridCell,
    home: str | os.PathLike[str],
    *,
    command: str = "",
    report: Callable[[Progress], None] = lambda _: None,
) -> list[Result]:
    """Train and score one run in the grid's folder `home`, and return a result for each part and decoder.

    Training resumes if it was interrupted. A finished run is not repeated: its stored results are returned. The
    predictions are stored beside the model, in a CoNLL-U file for each part and decoder, such as `test-joint.conllu`.
    The results become a line of `results.jsonl` in `home`. A run with a line there is finished, even if its model was
    deleted. Raise `TrainingError` if an earlier run in this folder has another configuration.
    """
    place, stored = _found(cell, Path(home), _stored(Path(home) / RESULTS), _digest)
    if stored:
        return stored
    folder = Path(home) / place
    settings = _settings(cell, _digest)
    outcome = train(cell.config, folder, resume=(folder / CHECKPOINT).is_dir(), command=command, report=report)
    after = Progress(outcome.state.epoch, cell.config.training.epochs, outcome.state.step, 1.0, 0.0, 0.0)
    spent = _an_epoch(outcome.state.history)
    models = {device_name(device): load(folder, device=device) for device in devices(cell.config.training.device)}
    device, model = next(iter(models.items()))
    data = cell.config.data
    parsers: dict[str, Model] = {}
    for decoder in cell.decoders:
        parser = model.with_decoding(decoder=decoder)
        parsers.setdefault(decoder_name(parser), parser)  # several decoders may be the same
    results = []
    for part, paths in (("dev", data.dev), ("test", data.test)):
        if not paths:
            continue
        gold, _ = read_treebank(paths, data.bad_trees, part)
        for name, parser in parsers.items():
            report(replace(after, doing=f"scoring and timing {part} with the decoder {name}"))
            predicted = parser.parse(gold)
            conllu.write(folder / f"{part}-{_file_name(name)}.conllu", predicted)
            scores = measures(gold, predicted)
            tracker = Tracker(replace(cell.config.training, tensorboard=False), folder)
            speeds = {device: _speed(parser, gold)}
            scores |= spent | {f"parsing_{key}": value / TURNS for key, value in tracker.energy().items()}
            tracker.close()
            few = gold.select(np.arange(min(len(gold), SAMPLE)))
            for other in list(models)[1:]:
                speeds[other] = _speed(models[other].with_decoding(decoder=parser.decoding.decoder), few)
            if name == next(iter(parsers)):
                scores |= graph_scores(parser, gold)
            counts = score(gold, predicted)
            sentences = {count: getattr(counts, count).tolist() for count in COUNTS}
            system = (cell.treebank, cell.encoder, cell.encoding, name, part)
            results.append(Result(*system, scores, speeds[device], cell.seed, speeds, sentences))
    line = json.dumps({"run": place.as_posix(), **asdict(settings), "results": [asdict(result) for result in results]})
    files.append_line(Path(home) / RESULTS, line.encode())
    return results


@dataclass(frozen=True, slots=True)
class _Settings:
    """Settings that identify a run: `options` by full name, with its decoders, and `hashes` of its treebank files.

    Either may lack entries, if an earlier version stored the run.
    """

    options: dict[str, Any]
    hashes: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Stored:
    """The results of a finished run, and its settings, or None if an earlier version stored it."""

    results: list[Result]
    settings: _Settings | None


def _settings(cell: GridCell, digest: Callable[[str], str]) -> _Settings:
    """Return the settings of the run `cell`; `digest` returns the hash of a file."""
    data = cell.config.data
    paths = {"data.train": data.train, "data.dev": data.dev, "data.test": data.test}
    hashes = {option: [digest(path) for path in some] for option, some in paths.items()}
    return _Settings({**flat_options(cell.config), "decoders": list(cell.decoders)}, hashes)


def _digest(path: str) -> str:
    """Return the SHA-256 of a file's content, uncompressed."""
    with files.reading(path) as file:
        return hashlib.sha256(file.read()).hexdigest()


def _differences(before: _Settings, now: _Settings, uncompared: Collection[str]) -> list[str]:
    """Return a phrase for each option that differs between two runs, except those in `uncompared`.

    Treebank files with the same content are equal, wherever they are.
    """
    defaults = flat_options(Config())
    phrases = []
    for option, value in now.options.items():
        earlier = before.options.get(option, defaults.get(option, value))
        if option in before.hashes:
            same = before.hashes[option] == now.hashes[option]
        else:
            same = option in uncompared or earlier == value
        if not same and earlier == value:
            phrases.append(f"the content of {option} has changed")
        elif not same:
            phrases.append(f"{option} was {earlier!r} and is now {value!r}")
    return phrases


def demand_unchanged(cells: Iterable[GridCell], home: str | os.PathLike[str]) -> None:
    """Raise `TrainingError` if the folder `home` has a run of the grid that was made with another configuration.

    Runs whose treebank files do not exist are not checked.
    """
    stored, digest = _stored(Path(home) / RESULTS), cache(_digest)
    for cell in cells:
        if not missing(cell):
            _found(cell, Path(home), stored, digest)


def _found(
    cell: GridCell, home: Path, stored: Mapping[str, _Stored], digest: Callable[[str], str]
) -> tuple[Path, list[Result]]:
    """Return the folder of a run within `home`, and its stored results, which are empty if it is not finished.

    Earlier versions left a single seed out of the folder's name; such a run is found if its configuration is known and
    the same. Raise `TrainingError` if an earlier run in the folder has another configuration.
    """

    def differences(place: Path) -> list[str] | None:
        before = _earlier_settings(place, home, stored)
        # an unfinished run continues only with the same options, except for test data, which it has not read
        uncompared = UNCOMPARED if place.as_posix() in stored else {"data.test"}
        return None if before is None else _differences(before, _settings(cell, digest), uncompared)

    place, phrases = cell.place, differences(cell.place)
    is_new = phrases is None and place.as_posix() not in stored
    if is_new and cell.seed is not None and differences(place.parent) == []:
        place = place.parent
    entry = stored.get(place.as_posix())
    if phrases:
        more = f" and {len(phrases) - SHOWN} more" if len(phrases) > SHOWN else ""
        line = "" if entry is None else f" and its line in {home / RESULTS}"
        raise TrainingError(
            f"the run {cell.name!r} was made with another configuration: {'; '.join(phrases[:SHOWN])}{more}. Write to "
            f"another folder with -o; or, to train it again, remove the folder {home / place}{line}"
        )
    return place, [] if entry is None else [replace(result, seed=cell.seed) for result in entry.results]


def _earlier_settings(place: Path, home: Path, stored: Mapping[str, _Stored]) -> _Settings | None:
    """Return the settings of the run in the folder `place` within `home`, or None if they are unknown."""
    entry, config = stored.get(place.as_posix()), home / place / CHECKPOINT / CONFIG
    if entry is not None and entry.settings is not None:
        return entry.settings
    return _Settings(flat_table(read_json(config))) if config.is_file() else None


def _stored(path: Path) -> dict[str, _Stored]:
    """Read the finished runs from `results.jsonl`; the keys are the runs' folders within the grid's folder.

    An incomplete line, whose process was killed, is skipped: its run is not finished.
    """
    runs: dict[str, _Stored] = {}
    for line in read_content(path).splitlines() if path.is_file() else ():
        with contextlib.suppress(ValueError):
            entry = json.loads(line)
            settings = _Settings(entry["options"], entry["hashes"]) if "options" in entry else None
            runs[entry["run"]] = _Stored([Result(**result) for result in entry["results"]], settings)
    return runs


def decoder_name(model: Model) -> str:
    """Return the name of the decoder that a model really uses, which may differ from the one in its options.

    Some encodings have no exact decoder, and some parsers have no labels.
    """
    return _decoder_used(model.description, model.labels)


def _decoder_used(description: Description, labels: LabelSet) -> str:
    options = description.decoding
    if not description.heads.labels:
        return "spanning tree" if options.decoder == "exact" else options.decoder
    encoding, alphabet = encodings.get(labels.encodings[0]), labels.columns[0][0]
    machine, stacks = decoding.machine_of(encoding, alphabet), decoding.stacks_of(encoding, alphabet)
    if options.decoder == "greedy" or (machine is None and stacks is None):
        return f"greedy, {options.repair}"
    return "beam" if options.decoder == "exact" and stacks is not None else options.decoder


def _an_epoch(history: Sequence[Mapping[str, Any]]) -> ScoresByName:
    """Return the mean energy and CO2 of a training epoch; a value is left out unless all epochs measured it."""
    names = [name for name in ("energy_kwh", "co2_kg") if history and all(name in entry for entry in history)]
    return {f"training_{name}": statistics.mean(entry[name] for entry in history) for name in names}


def _speed(parser: Model, gold: Treebank) -> int:
    """Return the words per second of a parser: the median of several repetitions."""
    seconds = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        parser.parse(gold)
        seconds.append(time.perf_counter() - begun)
    return round(gold.words / statistics.median(seconds))


def _by_system(results: Iterable[Result]) -> list[list[Result]]:
    """Return the results in groups; those of a group differ in their seed alone."""
    groups: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        groups.setdefault(result.system, []).append(result)
    return list(groups.values())


def over_seeds(results: Iterable[Result]) -> list[Result]:
    """Return one result for each system, with means over its seeds; a value is left out unless all seeds have it."""
    return [
        replace(
            group[0],
            scores=_means([result.scores for result in group]),
            words_per_second=statistics.fmean(result.words_per_second for result in group),
            seed=None,
            speeds=_means([result.speeds for result in group]),
        )
        for group in _by_system(results)
    ]


def _means(tables: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each key's values; keys that a table lacks are left out."""
    return {
        key: statistics.fmean(table[key] for table in tables)
        for key in tables[0]
        if all(key in table for table in tables)
    }


def _number_of_seeds(results: Iterable[Result]) -> str:
    """Return a note on the number of seeds for the foot of a table."""
    counts = sorted({len(some) for some in _by_system(results)})
    if counts[-1:] in ([], [1]):
        return "One seed."
    return f"Means over {' to '.join(dict.fromkeys(str(count) for count in (counts[0], counts[-1])))} seeds."


def spread(results: Sequence[Result]) -> Table:
    """Return a table of every measure's mean and standard deviation over seeds; without rows if there is one seed."""
    groups = _by_system(results) if any(len(some) > 1 for some in _by_system(results)) else []
    rows = []
    for some in groups:
        row: list[float | None] = []
        for key, _ in DETAILS:
            values = [100 * result.scores[key] for result in some]
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
    """Return the paper's table of results: LAS over sentences and LM by treebank and encoding, and averages.

    The scores are on the test data, or on dev if there are none, and means over seeds. The best value of each column is
    bold. If every treebank has only one encoder, a row shows a system on all treebanks; otherwise, on those with the
    same encoder.
    """
    seeds = _number_of_seeds(results)
    results = over_seeds(last_parts(results))
    treebanks = list(dict.fromkeys(result.treebank for result in results))
    pairs = {(result.treebank, result.encoder) for result in results}
    if len(pairs) == len(treebanks):
        each = ", ".join(dict.fromkeys(result.encoder for result in results))
        results = [replace(result, encoder=each) for result in results]
    names = list(dict.fromkeys((result.encoder, result.encoding, result.decoder) for result in results))
    scores = {(r.encoder, r.encoding, r.decoder, r.treebank): r.scores for r in results}
    rows = []
    for name in names:
        row: list[float | None] = []
        for measure in ("las_sentences", "lm"):
            values = [scores.get((*name, treebank), {}).get(measure) for treebank in treebanks]
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
    """Return a table with a row for each run, part and decoder, and a column for each measure."""
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
    """Return a table of the words per second of every run and decoder on each device, means over seeds."""
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
            f"The median of {TURNS} repetitions of a warm parser over the file.",
            f"On a CPU beside a GPU, over the first {SAMPLE} sentences.",
        ),
    )


def energy(results: Sequence[Result], source: Published) -> Table:
    """Return a table of the energy of a training epoch and of parsing a file; without rows if it was not measured.

    The option `training.energy` turns measuring on. The last row has the paper's figures for its own models.
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
    """Return a table of our accuracy beside the paper's, for systems that have the paper's names.

    A treebank must have the name of its folder in UD, or its name in the paper. Of several decoders, the first is
    shown. If the paper does not have our encoder, the row names both encoders.
    """
    printed: dict[tuple[str, str, str], dict[str, list[Accuracy]]] = {}
    for cell in source.accuracy:
        for name in {cell.treebank, cell.folder}:  # the Penn Treebank has only one name
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
    """Return a point for each system on `treebank`, by name: words per second and LAS over sentences.

    They are for the Pareto figure. As in the paper, each encoding has a colour and each encoder a symbol.
    """
    chosen = [result for result in over_seeds(last_parts(results)) if result.treebank == treebank]
    several = len({result.encoder for result in chosen}) > 1
    return {
        " ".join([result.encoding, result.decoder, *([result.encoder] if several else [])]): Point(
            result.words_per_second, 100 * result.scores["las_sentences"], result.encoding, result.encoder
        )
        for result in chosen
    }


def last_parts(results: Sequence[Result]) -> list[Result]:
    """Return the results on the test data, or those on dev for runs without test data."""
    parts = {(result.treebank, result.encoder, result.encoding): result.part for result in results}
    return [result for result in results if result.part == parts[result.treebank, result.encoder, result.encoding]]


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.+-]+", "_", text)


def _merged(base: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    out = dict(base)
    for key, value in other.items():
        old = out.get(key)
        out[key] = _merged(old, value) if isinstance(value, dict) and isinstance(old, dict) else value
    return out
