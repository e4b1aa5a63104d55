"""The paper's runs: every value that it prints stands in the configurations, and a tiny grid gives the whole report."""

from __future__ import annotations

import csv
import json
import re
import shutil
import statistics
import sys
from dataclasses import asdict, replace
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

import program_tools
from ropewalk import conllu
from ropewalk.encodings import get
from ropewalk.errors import ConfigError, TrainingError
from ropewalk.laboratory import experiment
from ropewalk.laboratory.comparisons import Question, comparisons, questions
from ropewalk.laboratory.published import ENCODINGS, published
from ropewalk.reporting.tables import to_csv
from ropewalk.scoring.attachment import score
from ropewalk.scoring.significance import holm
from ropewalk.training import config
from ropewalk.training.classifiers import ArcScorer, BiaffineRelations
from ropewalk.training.examples import label_set
from ropewalk.training.trainable import Trainable
from ropewalk.training.training_run import train
from training_tools import bank_of, config_of, tiny_encoder, write_bank

if TYPE_CHECKING:
    from pathlib import Path

BITS = ("00", "01", "10", "11")
PRINTED = {  # options whose values the paper prints, and where the data are
    "decoder", "dev", "encoder_rate", "encoding", "epochs", "from", "head_rate", "kind", "metric", "name", "patience",
    "schedule", "train", "warmup",
}  # fmt: skip
SYSTEMS = ("B_4", "O_P", "B_4+", "O_P+", "B_7", "O_NP", "H+", "DM")


@pytest.mark.parametrize(
    ("name", "encoder"),
    [("paper-xlmr.toml", "FacebookAI/xlm-roberta-large"), ("paper-xlnet.toml", "xlnet/xlnet-large-cased")],
)
def test_every_value_that_the_paper_prints(repository: Path, name: str, encoder: str) -> None:
    """Appendix A.2; what it does not print is off, or bears a comment in the file."""
    found = config.load(repository / "configs" / name)
    training = found.training
    assert (training.epochs, training.patience, training.batch) == (100, 20, 300)
    assert (training.encoder_rate, training.head_rate) == (1e-5, 1e-5)
    assert (training.schedule, training.warmup) == ("constant", 0.0)
    assert training.metric == "uas_sentences"
    assert found.model.encoder.name == encoder
    assert found.model.relations.from_ == "word"
    assert (found.model.parser, found.model.loss, found.model.auxiliary, found.model.tags) == (
        "labels",
        "words",
        (),
        (),
    )
    assert (found.decoding.decoder, found.decoding.repair, found.decoding.root_relation) == ("greedy", "nearest", False)
    assert get(found.model.encoding).policy == "published"
    assert (training.precision, training.clip, training.betas, found.model.dropout) == ("no", 0.0, (0.9, 0.999), 0.0)
    commented = (repository / "configs" / name).read_text(encoding="utf-8").splitlines()
    options = [line for line in commented if re.match(r"\w+ = ", line)]
    assert len(options) > 20
    for line in options:
        assert line.split()[0] in PRINTED or "  # " in line, line


def test_heads_and_optimizer_are_the_papers(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Appendix A.2: LeakyReLU in both networks, AdamW over all weights at one rate."""
    optimizers: list[torch.optim.Optimizer] = []

    class Seen(torch.optim.AdamW):
        def __init__(self, *given: Any, **options: Any) -> None:  # noqa: ANN401 - as of AdamW
            super().__init__(*given, **options)
            optimizers.append(self)

    monkeypatch.setattr(torch.optim, "AdamW", Seen)
    data = str(write_bank(tmp_path / "data.conllu", bank_of(8)))
    encoder = tiny_encoder(tmp_path / "encoder", "xlm-roberta")
    given = config.load(
        repository / "configs" / "paper-xlmr.toml",
        [f"data.train={data}", f"data.dev={data}", f"model.encoder.name={encoder}", "training.epochs=1"],
    )
    train(replace(given, training=replace(given.training, device="cpu")), tmp_path / "model")
    (optimizer,) = optimizers
    assert {group["lr"] for group in optimizer.param_groups} == {1e-5}
    network = Trainable.load(tmp_path / "model").network
    learnt = sum(weight.numel() for weight in network.parameters())
    assert sum(weight.numel() for group in optimizer.param_groups for weight in group["params"]) == learnt
    heads = {name: one for name, one in network.named_modules() if not name.startswith("encoder")}
    activations = [one for one in heads.values() if type(one).__module__ == "torch.nn.modules.activation"]
    assert len(activations) == 2  # of labels and of relations
    assert all(isinstance(one, torch.nn.LeakyReLU) for one in activations)


PROGRAM = {  # subwords in a batch, epochs of patience
    "separ-xlmr.toml": (300, 10),
    "separ-xlnet.toml": (200, 20),
    "separ-biaffine.toml": (300, 10),
}


@pytest.mark.parametrize("name", PROGRAM)
def test_every_choice_of_the_authors_program_says_whose_it_is(repository: Path, name: str) -> None:
    file = repository / "configs" / name
    found = config.load(file)
    training = found.training
    assert (training.batch, training.patience) == PROGRAM[name]
    assert (found.seed, training.accumulate, training.clip, found.model.init) == (123, 3, 0.0, "orthogonal")
    assert (training.epochs, training.encoder_rate, training.head_rate) == (100, 1e-5, 1e-5)
    if found.model.parser == "biaffine":
        assert (found.model.projection, *asdict(found.model.biaffine).values()) == (400, 400, 400)
    else:
        assert (found.model.projection, found.model.hidden, found.model.relations.hidden) == (0, 0, 0)
        assert (found.decoding.decoder, found.decoding.repair) == ("greedy", "nearest")
    options = [line for line in file.read_text(encoding="utf-8").splitlines() if re.match(r"\w+ = ", line)]
    assert len(options) > 20
    for line in options:
        assert re.search(r"  # (paper|program)", line) or re.match("(train|dev) = ", line), line


@pytest.mark.parametrize("name", PROGRAM)
def test_networks_are_those_of_the_authors_program(repository: Path, tmp_path: Path, name: str) -> None:
    data = str(write_bank(tmp_path / "data.conllu", bank_of(8)))
    encoder = tiny_encoder(tmp_path / "encoder", "xlnet" if "xlnet" in name else "xlm-roberta")
    changes = [f"data.train={data}", f"data.dev={data}", f"model.encoder.name={encoder}"]
    changes += ["training.epochs=1", "training.device=cpu"]
    given = config.load(repository / "configs" / name, changes)
    fresh = Trainable.create(given, label_set(given, conllu.read(data))[0]).network
    train(given, tmp_path / "model")
    learnt = Trainable.load(tmp_path / "model").network
    size = fresh.encoder.size
    for network in (fresh, learnt):
        layers = {
            place: (one.in_features, one.out_features)
            for place, one in network.named_modules()
            if isinstance(one, torch.nn.Linear) and not place.startswith("encoder.")
        }
        if given.model.parser == "biaffine":
            assert layers.pop("projection.1") == (size, 400)
            assert list(layers.values()) == [(400, 400)] * 4
        else:
            assert set(layers) == {"columns.0.layers.1", "relations.layers.1"}
            assert {before for before, _ in layers.values()} == {size}
            *_, last = network.columns[0].modules()
            assert isinstance(last, torch.nn.LeakyReLU)  # on the logits
    for place, one in fresh.named_modules():
        if isinstance(one, torch.nn.Linear) and not place.startswith("encoder."):
            rows, columns = one.weight.shape
            product = one.weight @ one.weight.T if rows <= columns else one.weight.T @ one.weight
            assert torch.allclose(product, torch.eye(min(rows, columns)), atol=1e-4)
            assert not one.bias.any()
        elif isinstance(one, ArcScorer | BiaffineRelations):
            assert not one.products.any()


def test_bits_are_the_brackets_of_table_1() -> None:
    four = get("four-bit")
    printed = {
        "00": ("<", "</^", "\\^<", "\\^</^"),
        "01": ("<^", "<^/^", "\\^<^", "\\^<^/^"),
        "10": (">", ">/^", "\\^>", "\\^>/^"),
        "11": (">^", ">^/^", "\\^>^", "\\^>^/^"),
    }
    wanted = {row + column: text for row, texts in printed.items() for column, text in zip(BITS, texts, strict=True)}
    assert four.alphabet is not None
    assert dict(zip(four.alphabet, four.brackets(four.alphabet) or (), strict=True)) == wanted


def test_figure_5_has_both_encoders(repository: Path) -> None:
    cells = experiment.cells(repository / "configs" / "grid-paper-english.toml")
    theirs = {(cell.encoder, cell.system) for cell in published().accuracy if cell.treebank == "en"}
    assert {(cell.encoder, cell.encoding) for cell in cells} == theirs
    table = {
        (cell.treebank, cell.encoder, cell.encoding): cell.config
        for cell in experiment.cells(repository / "configs" / "grid-paper.toml")
    }
    both = [
        (table[key], cell.config) for cell in cells if (key := (cell.treebank, cell.encoder, cell.encoding)) in table
    ]
    assert len(both) == len(SYSTEMS)
    assert all(here == there for here, there in both)


def test_the_grid_is_the_papers_table_2(repository: Path) -> None:
    cells = experiment.cells(repository / "configs" / "grid-paper.toml")
    source = published()
    assert {cell.treebank for cell in cells} == set(source.folders().values())
    assert len(cells) == 10 * len(SYSTEMS)
    for cell in cells:
        wanted = "XLNet" if cell.treebank in {"UD_English-EWT", "PTB"} else "XLM"
        assert cell.encoder == wanted
        if cell.encoding == "DM":
            assert cell.config.model.parser == "biaffine"
        else:
            assert cell.config.model.encoding == ENCODINGS[cell.encoding]
        assert cell.decoders == (("exact",) if cell.encoding == "DM" else ("greedy",))


def test_all_cells_of_accuracy_are_there_and_four_of_table_2_differ() -> None:
    source = published()
    assert len(source.accuracy) == 11 * len(SYSTEMS) * 8  # English stands there with both encoders
    test = {
        (cell.treebank, cell.system, cell.column): cell.text
        for cell in source.accuracy
        if cell.split == "test" and (cell.encoder == "XLNet") == (cell.treebank in {"en", "PTB"})
    }
    differ = {
        (code, system, column)
        for code, systems in source.summary.items()
        if code != "avg"
        for system, texts in systems.items()
        for column, text in zip(("LAS", "LM"), texts, strict=True)
        if test[code, system, column] != text
    }
    assert differ == {("fi", "O_P+", "LM"), ("ru", "H+", "LAS"), ("ug", "H+", "LM"), ("PTB", "H+", "LAS")}


def test_a_tiny_run_gives_the_whole_report(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (repository / "configs" / "grid-paper.toml").read_text(encoding="utf-8")
    for name, kind in (("FacebookAI/xlm-roberta-large", "xlm-roberta"), ("xlnet/xlnet-large-cased", "xlnet")):
        text = text.replace(name, tiny_encoder(tmp_path / kind, kind).as_posix())
    (tmp_path / "grid-paper.toml").write_text(text, encoding="utf-8")
    shutil.copy(repository / "configs" / "paper-xlmr.toml", tmp_path)
    for folder, name, ending in (("UD_Tamil-TTB", "ta_ttb-ud-", "conllu"), ("PTB", "", "conllx")):
        (tmp_path / folder).mkdir()
        for seed, split in enumerate(("train", "dev", "test")):
            conllu.write(tmp_path / folder / f"{name}{split}.{ending}", bank_of(8, longest=5, seed=seed))

    def run() -> str:
        options = [f"--set=training.{change}" for change in ("epochs=1", "device=cpu", "threads=1")]
        done = program_tools.run("experiment", "grid-paper.toml", "-o", "runs", *options, heavy=True)
        assert done.returncode == 0, done.stderr
        return done.stderr

    said = run()
    assert said.count("note: left out, for") == 8 * len(SYSTEMS)
    with (tmp_path / "runs" / "paper.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 1 + 2 * len(SYSTEMS) * 2
    (penn,) = (row for row in rows if row[:3] == ["PTB", "test", "O_NP"])
    assert penn[3] == "XLNet"
    assert [cell.partition(" | ")[2] for cell in penn[5:]] == ["95.98", "94.45", "65.23", "51.90"]
    assert all(0 <= float(cell.partition(" | ")[0]) <= 100 for row in rows[1:] for cell in row[5:])
    for treebank in ("UD_Tamil-TTB", "PTB"):
        assert (tmp_path / "runs" / f"pareto-{treebank}.svg").is_file()
    assert "UD\\_Tamil-TTB LAS" in (tmp_path / "runs" / "summary.md").read_text(encoding="utf-8")
    assert "epoch 1/1" not in run()


class Meter:
    """Stands for codecarbon's: every time it is asked, 3 Wh more were used, and 0.6 g of CO2."""

    running = 0

    def __init__(self, *, country_iso_code: str, **_: object) -> None:
        assert country_iso_code == "ESP"
        self._used = 0.0

    @property
    def _total_energy(self) -> SimpleNamespace:
        return SimpleNamespace(kWh=self._used)

    def start(self) -> None:
        Meter.running += 1

    def flush(self) -> float:
        self._used += 0.003
        return self._used * 0.2

    def stop(self) -> None:
        Meter.running -= 1


def test_energy_is_that_of_an_epoch_and_of_parsing_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("codecarbon")
    vars(module)["OfflineEmissionsTracker"] = Meter
    monkeypatch.setitem(sys.modules, "codecarbon", module)
    data = write_bank(tmp_path / "data.conllu", bank_of(12))
    plain = config_of(data, epochs=2)
    measured = replace(plain, training=replace(plain.training, energy=True))
    results = []
    for name, given in (("measured", measured), ("not", plain)):
        cell = experiment.GridCell("Invented", "small", name, given, ("exact", "greedy"))
        results += experiment.run(cell, tmp_path / "runs")
    assert [(one.encoding, one.decoder) for one in results] == [
        ("measured", "exact"),
        ("measured", "greedy, nearest"),
        ("not", "exact"),
        ("not", "greedy, nearest"),
    ]
    assert Meter.running == 0
    rows = list(csv.reader(to_csv(experiment.energy(results, published())).splitlines()))
    assert rows[0][5:] == ["training_energy_wh", "training_co2_g", "parsing_energy_wh", "parsing_co2_g"]
    assert len(rows) == 1 + 2 + 1
    for row in rows[1:3]:
        assert [float(value) for value in row[5:]] == pytest.approx([3.0, 0.6, 3.0 / experiment.TURNS, 0.2])
    assert rows[3] == ["the paper", "", "", "", "", "", "1.44", "", "0.11"]
    assert not experiment.energy(results[2:], published()).rows  # without figures of our own there is no table


def test_speed_is_measured_on_each_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "devices", lambda _: ("cpu", "cpu:0"))  # torch takes the second for another
    monkeypatch.setattr(experiment, "SAMPLE", 5)
    data = write_bank(tmp_path / "data.conllu", bank_of(12))
    results = []
    for seed in (1, 2):
        cell = experiment.GridCell("Invented", "small", "x", config_of(data, epochs=1, seed=seed), ("greedy",), seed)
        results += experiment.run(cell, tmp_path / "runs")
        assert experiment.run(cell, tmp_path / "runs") == results[-1:]  # as it is kept
    table = experiment.speed(results)
    threads = torch.get_num_threads()
    named = [f"{device}, {threads} thread{'s' if threads > 1 else ''}" for device in ("cpu", "cpu:0")]
    assert [row[:-1] for row in table.rows] == [
        ("Invented", "dev", "small", "x", "greedy, nearest", device) for device in named
    ]
    for device, row in zip(named, table.rows, strict=True):
        assert row[-1] == statistics.fmean(one.speeds[device] for one in results)
    assert all(one.words_per_second == one.speeds[named[0]] > 0 for one in results)
    assert not experiment.speed([replace(one, speeds={}) for one in results]).rows  # of an earlier version


def test_runs_of_several_seeds_give_means_and_keep_what_they_predict(tmp_path: Path) -> None:
    data = write_bank(tmp_path / "data.conllu", bank_of(12))
    gold = conllu.read(data)
    results = []
    for seed in (1, 2):
        given = config_of(data, epochs=1, seed=seed, encoding="four-bit", arc_weight=1.0, decoder="joint")
        cell = experiment.GridCell("Invented", "small", "arcs", given, ("joint", "greedy"), seed)
        results += experiment.run(cell, tmp_path / "runs")
        assert experiment.run(cell, tmp_path / "runs") == results[-2:]
    las = {}
    for name, decoder in (("joint", "joint"), ("greedy_nearest", "greedy, nearest")):
        files = [tmp_path / "runs" / "Invented" / "small" / "arcs" / f"seed-{n}" / f"dev-{name}.conllu" for n in (1, 2)]
        las[decoder] = [100 * score(gold, conllu.read(file)).las for file in files]
    assert las["joint"][0] != las["joint"][1]
    rows = list(csv.DictReader(to_csv(experiment.spread(results)).splitlines()))
    assert [(row["decoder"], row["seeds"]) for row in rows] == [("joint", "2"), ("greedy, nearest", "2")]
    for row in rows:
        assert float(row["las"]) == pytest.approx(statistics.mean(las[row["decoder"]]))
        assert float(row["las_deviation"]) == pytest.approx(statistics.stdev(las[row["decoder"]]))
    runs = list(csv.DictReader(to_csv(experiment.details(results)).splitlines()))
    assert [row["seed"] for row in runs] == ["1", "1", "2", "2"]
    means = experiment.over_seeds(results)
    table = experiment.summary(results)
    assert [row[3] for row in table.rows] == pytest.approx([100 * one.scores["las_sentences"] for one in means])
    assert table.notes[-1] == "Means over 2 seeds."
    assert experiment.summary(results[:3]).notes[-1] == "Means over 1 to 2 seeds."
    assert list(experiment.points(results, "Invented")) == ["arcs joint", "arcs greedy, nearest"]
    alone = [replace(one, seed=None) for one in results[:2]]
    assert experiment.summary(alone).notes[-1] == "One seed."
    assert not experiment.spread(alone).rows
    assert "seed" not in [column.id for column in experiment.details(alone).columns]


def test_finished_runs_are_read_from_one_file_and_one_cut_short_is_done_again(tmp_path: Path) -> None:
    data = write_bank(tmp_path / "data.conllu", bank_of(12))
    cell, other = (
        experiment.GridCell("Invented", "small", "x", config_of(data, epochs=1, seed=seed), ("greedy",), seed)
        for seed in (1, 2)
    )
    (result,) = experiment.run(cell, tmp_path / "runs")
    gold, predicted = conllu.read(data), conllu.read(tmp_path / "runs" / cell.place / "dev-greedy_nearest.conllu")
    scores = score(gold, predicted)
    assert result.sentences == {name: getattr(scores, name).tolist() for name in ("words", "heads", "labelled")}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    line = (tmp_path / "runs" / "results.jsonl").read_bytes()
    (elsewhere / "results.jsonl").write_bytes(line + line[:-30])
    assert experiment.run(cell, elsewhere) == [result]
    assert not (elsewhere / cell.place).exists()  # it was not trained again
    (second,) = experiment.run(other, elsewhere)
    assert [experiment.run(one, elsewhere) for one in (cell, other)] == [[result], [second]]


def cell_of(data: Path, **options: Any) -> experiment.GridCell:  # noqa: ANN401 - options of several types
    """Make a run of one epoch, with an explicit seed if `seed` is given."""
    seed = options.pop("seed", None)
    made = config_of(data, epochs=1, seed=seed or 1, **options)
    return experiment.GridCell("Invented", "small", "x", made, ("greedy",), seed)


def test_a_finished_run_of_another_configuration_is_refused(tmp_path: Path) -> None:
    data = write_bank(tmp_path / "data.conllu", bank_of(12))
    cell, home = cell_of(data), tmp_path / "runs"
    results = experiment.run(cell, home)
    for changed, said in (
        (cell_of(data, hidden=32), r"model\.hidden was 64 and is now 32"),
        (replace(cell, decoders=("greedy", "exact")), r"decoders was \['greedy'\] and is now \['greedy', 'exact'\]"),
        (cell_of(write_bank(tmp_path / "other.conllu", bank_of(13))), r"data\.train was .* and is now"),
    ):
        for act in (lambda one: experiment.demand_unchanged([one], home), lambda one: experiment.run(one, home)):
            with pytest.raises(TrainingError, match=rf"'Invented, small, x' was made .*{said}.*another folder with -o"):
                act(changed)
    moved = tmp_path / "moved.conllu"
    shutil.copy(data, moved)
    training = replace(cell.config.training, threads=1)
    same = replace(cell_of(moved), config=replace(cell_of(moved).config, training=training))
    assert experiment.run(same, home) == results  # the same content, and threads change no scores
    write_bank(data, bank_of(13))
    with pytest.raises(TrainingError, match=r"the content of data\.train has changed; .*its line in .*results\.jsonl"):
        experiment.run(cell, home)


def without_configurations(home: Path) -> None:
    """Store the results in `home` as earlier versions did."""
    lines = [json.loads(line) for line in (home / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    old = [json.dumps({key: line[key] for key in ("run", "results")}) for line in lines]
    (home / "results.jsonl").write_text("".join(f"{line}\n" for line in old), encoding="utf-8")


def test_results_of_earlier_versions_are_read_and_checked_by_their_folder(tmp_path: Path) -> None:
    data = write_bank(tmp_path / "data.conllu", bank_of(12))
    cell, home = cell_of(data), tmp_path / "runs"
    results = experiment.run(cell, home)
    without_configurations(home)
    assert experiment.run(cell, home) == results
    with pytest.raises(TrainingError, match=r"model\.hidden was 64 and is now 32"):
        experiment.run(cell_of(data, hidden=32), home)
    shutil.rmtree(home / cell.place)
    assert experiment.run(cell, home) == results
    experiment.demand_unchanged([cell_of(data, hidden=32)], home)  # nothing is known about it


def test_an_unfinished_run_of_another_configuration_is_refused(tmp_path: Path) -> None:
    data = write_bank(tmp_path / "data.conllu", bank_of(12))
    cell, home = cell_of(data), tmp_path / "runs"
    train(cell.config, home / cell.place)
    with pytest.raises(
        TrainingError, match=r"model\.hidden was 64 and is now 32.*remove the folder .*Invented.small.x$"
    ):
        experiment.demand_unchanged([cell_of(data, hidden=32)], home)
    experiment.demand_unchanged([cell], home)


@pytest.mark.parametrize("finished", [True, False])
def test_a_run_whose_folder_lacks_its_seed_is_recognised(tmp_path: Path, *, finished: bool) -> None:
    data = write_bank(tmp_path / "data.conllu", bank_of(12))
    home = tmp_path / "runs"
    before = cell_of(data)
    if finished:
        experiment.run(before, home)
        without_configurations(home)
    else:
        train(before.config, home / before.place)
    (result,) = experiment.run(cell_of(data, seed=1), home)
    assert result.seed == 1
    assert not (home / before.place / "seed-1").exists()
    (other,) = experiment.run(cell_of(data, seed=2), home)
    assert other.seed == 2
    assert (home / before.place / "seed-2").is_dir()
    assert experiment.run(cell_of(data, seed=1), home) == [result]


def test_questions_of_a_grid_are_answered_on_each_treebank_and_on_all(tmp_path: Path) -> None:
    def result(treebank: str, encoding: str, seed: int, right: list[int]) -> experiment.Result:
        counts = {"words": [10] * len(right), "heads": right, "labelled": right}
        return experiment.Result(treebank, "small", encoding, "exact", "test", {}, 1.0, seed, sentences=counts)

    rng = np.random.default_rng(1)
    results = [
        result(treebank, encoding, seed, rng.integers(low, 10, 80).tolist())
        for treebank in ("First", "Second")
        for encoding, low in (("A", 2), ("B", 6), ("C", 2))
        for seed in range(5)
    ]
    asked = [Question("Is B better?", "A, exact", "B, exact"), Question("Is C?", "A, exact", "C, exact")]
    rows = list(csv.DictReader(to_csv(comparisons(results, asked)).splitlines()))
    assert [(row["A"], row["treebank"], row["score"]) for row in rows[:3]] == [
        ("A, exact", "First", "LAS over words"),
        ("A, exact", "First", "LAS over sentences"),
        ("A, exact", "First", "LM"),
    ]
    assert [row["treebank"] for row in rows[::3]] == 2 * ["First", "Second", "average"]
    of_words = [row for row in rows if row["score"] == "LAS over words"]
    parts = [sum(one.sentences["labelled"]) / 8 for one in results if one.treebank == "First" and one.encoding == "B"]
    assert float(of_words[0]["second_score"]) == pytest.approx(statistics.fmean(parts))
    alone = [row for row in of_words if row["treebank"] != "average"]
    adjusted = holm([float(row["bootstrap_p"]) for row in alone])
    assert [float(row["holm_p"]) for row in alone] == pytest.approx(adjusted)
    better, same = (float(alone[number]["holm_p"]) for number in (0, 2))
    assert better < 0.01
    assert same > 0.05
    grid = tmp_path / "grid.toml"
    for text, message in (
        ('comparisons = [{question = "?", first = "A"}]', "expected a table of question, first, second"),
        ("comparisons = 3", "expected a table"),
    ):
        grid.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match=message):
            questions(grid, ())


def test_decoders_are_named_by_what_they_do(tmp_path: Path) -> None:
    data = write_bank(tmp_path / "data.conllu", bank_of(12))
    for encoding, expected in (("optimal-nonprojective", ["beam", "greedy, root"]), ("relative", ["greedy, root"])):
        base = config_of(data, epochs=1, encoding=encoding)
        base = replace(base, decoding=replace(base.decoding, repair="root"))
        cell = experiment.GridCell("Invented", "small", encoding, base, ("exact", "greedy"))
        assert [one.decoder for one in experiment.run(cell, tmp_path / "runs")] == expected


def test_a_row_of_the_summary_has_all_treebanks_where_each_has_one_encoder() -> None:
    scores = {"las_sentences": 0.5, "lm": 0.25}

    def result(treebank: str, encoder: str, las: float) -> experiment.Result:
        found = scores | {"las_sentences": las}
        return experiment.Result(treebank, encoder, "O_P", "greedy, nearest", "test", found, 1.0)

    mixed = [result("UD_Tamil-TTB", "XLM", 0.5), result("PTB", "XLNet", 0.7)]
    (row,) = experiment.summary(mixed).rows
    assert row[:3] == ("XLM, XLNet", "O_P", "greedy, nearest")
    assert row[3:] == pytest.approx((50.0, 70.0, 60.0, 25.0, 25.0, 25.0))
    both = experiment.summary([*mixed, result("PTB", "XLM", 0.75)]).rows
    assert [row[:1] + row[3:6] for row in both] == [("XLM", 50.0, 75.0, 62.5), ("XLNet", None, 70.0, None)]
