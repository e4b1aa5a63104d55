"""Training: encoders, heads, model folders and prediction, with tiny random encoders made here."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from program_tools import run
from ropewalk import conllu, decoding, encodings
from ropewalk.core.columns import Column
from ropewalk.core.trees import Tree, check_heads, projective
from ropewalk.errors import ConfigError, MissingExtraError, ModelError, OptionError, TrainingError
from ropewalk.laboratory.experiment import decoder_name
from ropewalk.models.calibration import PLAIN
from ropewalk.models.label_sets import MISSING
from ropewalk.models.subwords import SPARE, windows
from ropewalk.models.tree_decoding import SCALES, TEMPERATURES
from ropewalk.models.vocabulary import read_vectors
from ropewalk.options import ParserOptions, changed, read, to_mapping
from ropewalk.scoring.attachment import score
from ropewalk.training import loop, teaching, vectors
from ropewalk.training import texts as texts_of
from ropewalk.training.config import LOSSES, PARSERS, TeacherOptions, from_mapping
from ropewalk.training.crf import ArcTreeLoss, SequenceLoss, TreeLoss
from ropewalk.training.examples import examples, forms_of, label_set, read_treebank
from ropewalk.training.export import all_scores
from ropewalk.training.substitution import OPEN, substituted
from ropewalk.training.trainable import Trainable, load
from ropewalk.training.trained_files import read_tensors, save
from ropewalk.training.training_run import train
from ropewalk.treebank.treebank import Treebank
from training_tools import FAST, SLOWER, bank_of, config_of, restored, tiny_encoder, write_bank

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.training.config import Config
    from ropewalk.training.loop import Progress
    from ropewalk.training.training_run import Outcome

FIXTURES = Path(__file__).parent / "fixtures" / "version-1"
ENCODINGS = (
    "optimal",
    "optimal+head",
    "optimal-nonprojective",
    "four-bit",
    "four-bit+path",
    "seven-bit",
    "brackets(planes=2)",
    "hexatags+head",
    "absolute",
    "relative",
    "pos-offset",
    "arc-standard",
    "arc-eager",
    "arc-hybrid",
    "covington",
)


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("encoder"), "bert")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bank(tmp_path_factory.mktemp("data") / "fifty.conllu", restored(bank_of(250), "optimal+head"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, encoder: Path, data: Path) -> Outcome:
    """A small model that has learnt a little."""
    config = config_of(data, encoder, epochs=3, tags=["upos", "xpos", "feats"], auxiliary=["relative"])
    return train(config, tmp_path_factory.mktemp("model"), command=f"ropewalk train {data.parent}/small.toml")


def overfitted(tmp_path: Path, data: Path, **options: object) -> tuple[Treebank, Treebank]:
    """Train until the training data is known by heart; the trees that the saved model gives it, and gold."""
    train(config_of(data, **options), tmp_path)  # type: ignore[arg-type]
    gold = conllu.read(data)
    return load(tmp_path).parse(gold), gold


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_is_learnt_by_heart(encoding: str, tmp_path: Path) -> None:
    bank = restored(bank_of(250), encoding, most=24)
    assert len(bank) == 24
    data = write_bank(tmp_path / "data.conllu", bank)
    parsed, gold = overfitted(tmp_path / "model", data, encoding=encoding, epochs=16, **FAST)
    assert score(gold, parsed).las > 0.99


@pytest.mark.parametrize("options", [{"parser": "biaffine"}, {"relations": "word"}, {"relations": "word*head"}])
def test_other_parsers_are_learnt_by_heart(options: dict[str, str], tmp_path: Path, data: Path) -> None:
    parsed, gold = overfitted(tmp_path, data, epochs=20, **FAST, **options)
    assert score(gold, parsed).las > 0.99


@pytest.mark.parametrize(("kind", "pooling"), [("bert", "first"), ("xlm-roberta", "mean"), ("xlnet", "last")])
def test_transformers_learn_by_heart(
    kind: str, pooling: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tiny_encoder(tmp_path_factory.mktemp("encoder"), kind)
    data = write_bank(tmp_path / "data.conllu", restored(bank_of(250), "optimal+head", most=24))
    options = {"pooling": pooling, "epochs": 28 if kind == "xlnet" else 20, "encoder_rate": 6e-3, "head_rate": 18e-3}
    parsed, gold = overfitted(tmp_path / "model", data, encoder=home, **options)
    assert score(gold, parsed).las > 0.99


def test_the_best_model_is_kept_with_its_scores(trained: Outcome, data: Path) -> None:
    gold = conllu.read(data)
    parsed = load(trained.home).parse(gold)
    assert score(gold, parsed).las == pytest.approx(trained.scores["dev"]["las"])
    assert trained.state.best == max(entry["las"] for entry in trained.state.history)
    card = (trained.home / "README.md").read_text(encoding="utf-8")
    assert "https://pypi.org" not in card, "Ropewalk is on no index"
    assert f"{100 * trained.scores['dev']['las']:.2f}" in card
    assert "ropewalk train small.toml" in card
    assert f"torch {torch.__version__.split('+')[0]}" in card
    texts = [file.read_text(encoding="utf-8") for file in trained.home.iterdir() if file.suffix in {".json", ".md"}]
    assert not [text for text in texts if str(data.parent) in text]
    assert not [file for file in trained.home.rglob("*") if file.suffix in {".bin", ".pt", ".pkl", ".pickle"}]
    upos = np.mean(np.array(parsed.column("upos").texts()) == np.array(gold.column("upos").texts()))
    assert upos > 0.3
    assert trained.scores["dev"]["upos"] == pytest.approx(upos)
    assert f"| UPOS, over words | {100 * upos:.2f} |" in card
    assert set(parsed.column("feats").texts()) <= set(gold.column("feats").texts())


def averaged(config: Config, average: float) -> Config:
    return replace(config, training=replace(config.training, average=average))


def test_an_average_of_the_weights_is_stored(tmp_path: Path, data: Path) -> None:
    """The average of nothing but the last step is that step's; another average is a mean of the weights of steps."""
    config = config_of(data, None, epochs=1)
    stored = {}
    for average in (0.0, 1e-9, 0.9):
        train(averaged(config, average), tmp_path / str(average))
        stored[average] = read_tensors(tmp_path / str(average) / "model.safetensors")
    plain, last, mean = stored.values()
    assert all(torch.allclose(plain[name], last[name], atol=1e-6) for name in plain)
    checkpoint = read_tensors(tmp_path / "0.9" / "checkpoint" / "epoch-1.safetensors")
    assert all(torch.equal(checkpoint[f"model/{name}"], weight) for name, weight in plain.items())  # learnt alike
    assert all(torch.equal(checkpoint.get(f"average/{name}", plain[name]), weight) for name, weight in mean.items())
    assert not all(torch.equal(plain[name], weight) for name, weight in mean.items())


def test_an_average_is_the_mean_that_its_decay_says(tmp_path: Path, data: Path) -> None:
    steps: list[torch.Tensor] = []
    move = loop._Run._average

    def look(self: loop._Run) -> None:
        steps.append(next(self.plain.parameters()).detach().clone())
        move(self)
        expected = steps[0]
        for number, weight in enumerate(steps):
            decay = min(0.5, number / (number + loop.AVERAGED))
            expected = decay * expected + (1 - decay) * weight
        assert torch.allclose(next(iter(self.average.values())), expected, atol=1e-6)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop._Run, "_average", look)
        train(averaged(config_of(data, None, epochs=2), 0.5), tmp_path / "model")
    assert len(steps) > 2


def test_same_seed_same_weights_and_another_seed_others(tmp_path: Path, encoder: Path, data: Path) -> None:
    homes = [tmp_path / name for name in ("a", "b", "c")]
    for home, seed in zip(homes, (1, 1, 2), strict=True):
        train(config_of(data, encoder, epochs=1, seed=seed), home)
    weights = [(home / "model.safetensors").read_bytes() for home in homes]
    assert weights[0] == weights[1]
    assert weights[0] != weights[2]


@pytest.mark.parametrize("average", [0.0, 0.9])
def test_a_killed_run_goes_on_to_the_same_weights(average: float, tmp_path: Path, encoder: Path, data: Path) -> None:
    config = averaged(config_of(data, encoder, epochs=3), average)
    whole = train(config, tmp_path / "whole")
    program = f"""
import json, os, signal, torch
torch.set_num_threads(1)
from ropewalk.training.config import LOSSES, PARSERS, TeacherOptions, from_mapping
from ropewalk.training.crf import ArcTreeLoss, SequenceLoss, TreeLoss
from ropewalk.training.training_run import train
def kill(progress):
    if progress.epoch == 3:
        os.kill(os.getpid(), signal.SIGKILL)
train(from_mapping(json.loads({json.dumps(json.dumps(to_mapping(config)))})), {str(tmp_path / "killed")!r}, report=kill)
"""
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len((tmp_path / "killed" / "log.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    resumed = train(config, tmp_path / "killed", resume=True)
    for name in ("model.safetensors", "checkpoint/epoch-3.safetensors"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "killed" / name).read_bytes()
    assert resumed.state.best == whole.state.best
    assert [entry["loss"] for entry in resumed.state.history] == [entry["loss"] for entry in whole.state.history]


def begun(config: Config, home: Path, scores: list[float]) -> Path:
    """Begin a run with these scores after its epochs, and stop it in the next."""

    def evaluated(self: loop._Run, _: object) -> loop.ScoresByName:
        return {"uas": 1.0, "las": scores[self.state.epoch]}

    def stop(progress: Progress) -> None:
        if progress.epoch > len(scores):
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop._Run, "_evaluated", evaluated)
        with pytest.raises(KeyboardInterrupt):
            train(config, home, report=stop)
    return home


@pytest.fixture(scope="module", params=[0.0, 0.9])
def resumable(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, data: Path
) -> tuple[Config, Path]:
    """A run that was stopped in its third epoch."""
    config = averaged(config_of(data, None, epochs=3), request.param)
    return config, begun(config, tmp_path_factory.mktemp("resumable") / "model", [0.1, 0.2])


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        ("checkpoint/epoch-2.safetensors", lambda raw: raw[:-1] + bytes([raw[-1] ^ 1])),
        ("checkpoint/epoch-2.safetensors", lambda raw: raw[: len(raw) // 2]),
        ("checkpoint/state.json", lambda raw: raw.replace(b'"step": ', b'"step": 1')),
        ("checkpoint/state.json", lambda _: b"{}"),
        ("checkpoint/state.json", lambda _: b"[]"),
    ],
)
def test_a_damaged_checkpoint_is_not_gone_on_with(
    file: str, damage: Callable[[bytes], bytes], resumable: tuple[Config, Path], tmp_path: Path
) -> None:
    config, source = resumable
    home = tmp_path / "model"
    shutil.copytree(source, home)
    (home / file).write_bytes(damage((home / file).read_bytes()))
    with pytest.raises(TrainingError, match=f"{file}: is damaged or missing.*restore it"):
        train(config, home, resume=True)


@pytest.mark.parametrize("weights", [b"those of an earlier epoch", None])
def test_what_follows_from_a_checkpoint_is_made_up_for_where_a_kill_came_between(
    weights: bytes | None, resumable: tuple[Config, Path], tmp_path: Path
) -> None:
    """Weights and log are written after the checkpoint, and the checkpoint before it is removed last."""
    config, source = resumable
    home = tmp_path / "model"
    shutil.copytree(source, home)
    (home / "model.safetensors").unlink()
    if weights is not None:
        (home / "model.safetensors").write_bytes(weights)
    (home / "log.jsonl").unlink()
    shutil.copy(home / "checkpoint" / "epoch-2.safetensors", home / "checkpoint" / "epoch-1.safetensors")
    found: list[dict[str, bytes]] = []

    def look(_: Progress) -> None:
        found.append({file.relative_to(home).as_posix(): file.read_bytes() for file in home.rglob("*.*")})

    train(config, home, resume=True, report=look)
    assert found[0] == {file.relative_to(source).as_posix(): file.read_bytes() for file in source.rglob("*.*")}


def test_damaged_best_weights_of_an_earlier_epoch_are_noticed(data: Path, tmp_path: Path) -> None:
    config = config_of(data, None, epochs=3)
    home = begun(config, tmp_path / "model", [0.2, 0.1])
    raw = (home / "model.safetensors").read_bytes()
    (home / "model.safetensors").write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    with pytest.raises(TrainingError, match=r"model\.safetensors: is damaged or missing"):
        train(config, home, resume=True)
    (home / "model.safetensors").write_bytes(raw)
    assert train(config, home, resume=True).state.epoch == 3


def test_a_run_does_not_write_over_a_model(trained: Outcome, data: Path, tmp_path: Path) -> None:
    home = tmp_path / "model"
    shutil.copytree(trained.home, home, ignore=shutil.ignore_patterns("checkpoint"))
    before = {file.name: file.read_bytes() for file in home.iterdir() if file.is_file()}
    for resume in (False, True):
        with pytest.raises(TrainingError, match=r"contains a model.*choose another folder"):
            train(config_of(data, None, epochs=1), home, resume=resume)
    assert before == {file.name: file.read_bytes() for file in home.iterdir() if file.is_file()}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            [f"model.encoder.{name}_size=0" for name in ("word", "affix", "shape", "character")],
            r"model\.encoder has no features of words; expected one of word_size",
        ),
        (["model.tags=['lemma']", "model.least_rules=1000000"], r"model\.least_rules is 1,000,000, and no rule"),
    ],
)
def test_options_that_leave_nothing_to_learn_are_refused(
    changes: list[str], message: str, data: Path, tmp_path: Path
) -> None:
    config = from_mapping(changed(to_mapping(config_of(data, None, epochs=1)), changes))
    with pytest.raises(ConfigError, match=message):
        train(config, tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("encoder", "hidden", -1),
        ("encoder", "hidden", 10**30),
        ("encoder", "hidden", 0),
        ("encoder", "hidden", 60_000),
        ("encoder", "depth", 10**9),
        ("encoder", "word_size", -5),
        ("heads", "hidden", -1),
        ("heads", "hidden", 10**30),
        ("heads", "hidden", 65_000),
        ("heads", "relation_size", 10**12),
    ],
)
def test_odd_sizes_of_a_trained_model_are_named(tmp_path: Path, part: str, key: str, value: int) -> None:
    """Without taking the memory that they ask for: layers of 60,000 by 60,000 numbers would need 14 GB each."""
    save(tmp_path, Trainable.load(FIXTURES / "trained"))
    assert len(load(tmp_path).parse(bank_of(2))) == 2
    table = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    assert table[part][key] > 0
    table[part][key] = value
    (tmp_path / "config.json").write_text(json.dumps(table), encoding="utf-8")
    with pytest.raises(ModelError, match=r"config\.json: |model\.safetensors: .*of another model"):
        load(tmp_path)


def test_a_run_is_not_written_over_and_not_resumed_as_another(trained: Outcome, encoder: Path, data: Path) -> None:
    with pytest.raises(TrainingError, match="--resume"):
        train(config_of(data, encoder, epochs=3), trained.home)
    with pytest.raises(TrainingError, match=r"training\.epochs was 3 and is now 9"):
        train(
            config_of(data, encoder, epochs=9, tags=["upos", "xpos", "feats"], auxiliary=["relative"]),
            trained.home,
            resume=True,
        )


def test_fine_tuning_begins_with_what_was_learnt(tmp_path: Path, trained: Outcome, data: Path) -> None:
    config = config_of(data, Path("unused"), epochs=1, tags=["upos"], encoder_rate=0.0, head_rate=0.0)
    tuned = train(config, tmp_path, init_from=str(trained.home))
    assert tuned.scores["dev"]["las"] == pytest.approx(trained.scores["dev"]["las"])


def test_fine_tuning_of_single_layers_takes_them_only_from_single_layers(tmp_path: Path, data: Path) -> None:
    single: dict[str, Any] = {"hidden": 0, "relations": "word", "relation_hidden": 0, "projection": 11}
    still: dict[str, Any] = {"encoder_rate": 0.0, "head_rate": 0.0}
    first = train(config_of(data, epochs=2, **single), tmp_path / "first")
    again = train(config_of(data, epochs=1, **single, **still), tmp_path / "again", init_from=str(first.home))
    assert again.scores["dev"]["las"] == pytest.approx(first.scores["dev"]["las"])
    columns = len(Trainable.load(first.home).labels.columns[0][0])  # as many rows as the inner layer then has
    double = config_of(data, epochs=1, hidden=columns, relations="word", projection=11)
    made = Trainable.on_top_of(first.home, double, Trainable.load(first.home).labels).network.state_dict()
    learnt = Trainable.load(first.home).network.state_dict()
    assert torch.equal(made["projection.1.weight"], learnt["projection.1.weight"])
    name = "columns.0.layers.1.weight"
    assert made[name].shape == learnt[name].shape
    assert not torch.equal(made[name], learnt[name])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"relations": "word+head"}, "model.relations.hidden is 0, and model.relations.from is 'word\\+head'"),
        (
            {"relations": "word", "graph": {"encoding": "biaffine"}},
            "relations of graphs depend on the word and its head",
        ),
    ],
)
def test_a_single_layer_is_for_relations_of_the_word_alone(
    options: dict[str, Any], said: str, tmp_path: Path, data: Path
) -> None:
    with pytest.raises(ConfigError, match=said):
        train(config_of(data, epochs=1, relation_hidden=0, **options), tmp_path)


@pytest.mark.parametrize("options", [{}, {"parser": "biaffine"}, {"kind": "bilstm"}, {"relations": "word"}])
def test_neighbours_change_nothing(options: dict[str, str], tmp_path: Path, encoder: Path, data: Path) -> None:
    config = config_of(data, None if options.get("kind") else encoder, epochs=1, **options)  # type: ignore[arg-type]
    model = load(train(config, tmp_path).home)
    bank = bank_of(60, longest=40, seed=5)
    whole = conllu.dumps(model.parse(bank))
    for batch in (1, 100_000):
        other = model.with_decoding(batch=batch)
        assert conllu.dumps(other.parse(bank)) == whole
        alone = b"".join(conllu.dumps(other.parse(bank.select([s]))) for s in range(len(bank)))
        assert alone == whole
    reader = model.scorer.encoder
    beside = reader.vectors(bank.column("form"), bank.offsets.array, 4096)[: bank.words]
    single = [bank.select([s]) for s in range(len(bank))]
    alone_vectors = [reader.vectors(one.column("form"), one.offsets.array, 4096)[: one.words] for one in single]
    assert np.array_equal(beside, np.concatenate(alone_vectors))


@pytest.mark.parametrize("kind", ["transformer", "bilstm"])
def test_a_sentence_of_5000_words(kind: str, tmp_path: Path, encoder: Path, data: Path) -> None:
    config = config_of(data, encoder if kind == "transformer" else None, epochs=1)
    model = load(train(config, tmp_path).home)
    long = Treebank.concat([bank_of(300, longest=30, seed=3)]).column("form").texts()
    forms = (long * 10)[:5000]
    bank = Treebank.of([Tree([0, *range(1, 5000)], ["root", *["dep"] * 4999])]).with_columns({"form": forms})
    parsed = model.parse(bank)
    found = check_heads(parsed.heads, parsed.offsets)
    assert found.codes.tolist() == [0]
    assert found.roots.tolist() == [1]


def test_windows_keep_every_word_where_it_is_most_central() -> None:
    counts = np.array([1, 3, 2, 1, 1, 4, 1, 1, 2, 1] * 20)
    lasts = np.cumsum(counts) - 1
    firsts = lasts - counts + 1
    room = 30
    starts, chosen = windows(firsts, lasts, room)
    total = int(lasts[-1]) + 1
    assert starts[0] == 0
    assert starts[-1] + room == total
    for first, last, window in zip(firsts, lasts, chosen, strict=True):
        assert starts[window] <= first
        assert last < starts[window] + room

        def edge(start: int, first: int = first, last: int = last) -> int:
            left = total if start == 0 else first - start
            right = total if start + room == total else start + room - 1 - last
            return min(left, right)

        assert edge(starts[window]) == max(edge(s) for s in starts if s <= first and last < s + room)
    assert windows(firsts[:5], lasts[:5], room)[0].tolist() == [0]


def test_long_sentences_are_read_in_windows(encoder: Path, data: Path) -> None:
    """Every word of a long sentence gets the vector that its window gives it when that is a sentence by itself."""
    config = config_of(data, encoder, epochs=1)
    trainable = Trainable.create(config, label_set(config, conllu.read(data))[0])
    network = trainable.network.eval()
    forms = ["kamilo"[number % 3] for number in range(400)]  # one subword each
    (inputs,) = network.encoder.prepare([forms])
    starts, chosen = inputs.arrays["starts"], inputs.arrays["windows"]
    assert len(starts) > 3
    room = inputs.size - 2
    with torch.inference_mode():
        vectors = network(network.encoder.collate([inputs]))
        for window, start in enumerate(starts.tolist()):
            alone = network(network.encoder.collate(network.encoder.prepare([forms[start : start + room]])))
            mine = np.flatnonzero(chosen == window)
            assert len(mine)
            assert torch.allclose(vectors[mine], alone[mine - start], atol=1e-5)
    assert not torch.allclose(vectors[0], vectors[7], atol=1e-3), "the same word elsewhere is another"


def test_words_that_a_tokenizer_drops_are_read_as_unknown_ones(trained: Outcome) -> None:
    tokenizer = vectors.load_encoder(str(trained.home)).tokenizer
    dropped = ["the", "\u3000", "rope"]  # it takes the second for a space
    assert set(tokenizer(dropped, is_split_into_words=True, add_special_tokens=False).word_ids(0)) == {0, 2}
    model = load(trained.home)

    def scores(forms: list[str]) -> list[np.ndarray]:
        tree = Tree(range(len(forms)), ["root", *["dep"] * (len(forms) - 1)])
        return all_scores(model, Treebank.of([tree]).with_columns({"form": forms}))

    found, unknown, without = (scores(forms) for forms in (dropped, ["the", "§", "rope"], ["the", "rope"]))
    for mine, same, fewer in zip(found, unknown, without, strict=True):
        assert (len(mine), len(fewer)) == (3, 2)
        assert np.array_equal(mine, same)
        assert not np.allclose(mine[[0, 2]], fewer, atol=1e-3), "the others see that there is a word between them"


def test_a_long_word_is_read_by_its_first_subwords(trained: Outcome) -> None:
    """So that one word leaves room in a window for others."""
    encoder = vectors.load_encoder(str(trained.home))
    most = encoder.tokens.capacity // SPARE
    cut, short, shorter = (encoder.prepare([["a" * many, "ka"]])[0] for many in (4 * most, most, most - 1))
    for name, array in cut.arrays.items():
        assert np.array_equal(array, short.arrays[name]), name
    assert cut.size == short.size == shorter.size + 1


def test_root_is_where_the_head_is_0(trained: Outcome) -> None:
    bank = bank_of(80, seed=9)
    parsed = load(trained.home).parse(bank)
    named = np.array([name.partition(":")[0] == "root" for name in parsed.relations.names])
    assert (named[parsed.relations.ids] == (parsed.heads == 0)).all()
    assert (check_heads(parsed.heads, parsed.offsets).roots == 1).all()


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        ("config.json", None, "missing"),
        ("config.json", b"{", "no readable JSON"),
        ("config.json", b"{}", "not that of a Ropewalk model"),
        ("labels.json", b"[]", "damaged"),
        ("labels.json", b"\xff\xff", "no readable JSON"),
        ("model.safetensors", None, "missing"),
        ("model.safetensors", b"", "cut short"),
        ("encoder/tokenizer.json", b'{"version": ', "no readable JSON"),
        ("encoder/config.json", None, "missing"),
    ],
)
def test_a_damaged_folder_names_the_file(
    file: str, content: bytes | None, why: str, tmp_path: Path, trained: Outcome
) -> None:
    home = shutil.copytree(trained.home, tmp_path / "model")
    (home / file).unlink()
    if content is not None:
        (home / file).write_bytes(content)
    with pytest.raises(ModelError, match=why) as caught:
        load(home)
    assert caught.value.file == str(home / file)


def test_weights_cut_short_or_of_another_model_are_refused(tmp_path: Path, trained: Outcome, data: Path) -> None:
    home = shutil.copytree(trained.home, tmp_path / "model")
    weights = (home / "model.safetensors").read_bytes()
    (home / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(ModelError, match="cut short"):
        load(home)
    other = train(config_of(data, epochs=1), tmp_path / "other")
    shutil.copy(other.home / "model.safetensors", home / "model.safetensors")
    with pytest.raises(ModelError, match="another model"):
        load(home)
    with pytest.raises(ModelError, match="no folder"):
        load(tmp_path / "nowhere")


def test_save_and_load(tmp_path: Path, trained: Outcome) -> None:
    first = Trainable.load(trained.home)
    save(tmp_path, first)
    again = Trainable.load(tmp_path)
    for name, weight in first.network.state_dict().items():
        assert torch.equal(weight, again.network.state_dict()[name])
    bank = bank_of(10, seed=4)
    assert conllu.dumps(first.model().parse(bank)) == conllu.dumps(again.model().parse(bank))


def test_slow_steps_are_told_one_by_one(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the loss of an epoch is the same to the last bit, however often it was asked for."""
    config = config_of(data, epochs=1)
    steps: dict[float, list[int]] = {}
    losses = []
    for seconds in (3600.0, 0.0):
        monkeypatch.setattr(loop, "SILENT", seconds)
        told: list[Progress] = []
        outcome = train(config, tmp_path / str(seconds), report=told.append)
        steps[seconds] = [one.step for one in told if not one.doing]
        losses.append(outcome.state.history[0]["loss"])
    last = steps[0.0][-1]
    assert last > loop.REPORTED
    assert steps[0.0] == [*range(1, last + 1), last]  # and once more at the end
    assert steps[3600.0] == [*range(loop.REPORTED, last, loop.REPORTED), last, last]
    assert losses[0] == losses[1]


def test_what_tracks_a_run_asks_for_its_extra(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_of(data, epochs=1)
    for package, training in (
        ("torch.utils.tensorboard", replace(config.training, tensorboard=True)),
        ("codecarbon", replace(config.training, energy=True)),
    ):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingExtraError, match=r"pip install .*'\.\[track\]'"):
            train(replace(config, training=training), tmp_path / package)


def test_bad_trees_are_named_then_skipped_or_repaired(tmp_path: Path, data: Path) -> None:
    text = data.read_text(encoding="utf-8")
    second = text.index("\n\n") + 2
    broken = tmp_path / "broken.conllu"
    head = text[second:].replace("\t0\troot\t", "\t1\troot\t", 1)
    broken.write_text(text[:second] + head, encoding="utf-8", newline="\n")
    told: list[str] = []
    for policy, sentences in (("skip", 49), ("repair", 50)):
        bank, problems = read_treebank([str(broken)], policy, "train")
        assert len(bank) == sentences
        assert (check_heads(bank.heads, bank.offsets).roots == 1).all()
        assert len(problems) == 1
        assert str(problems[0]).startswith(f"{broken}:")
        assert problems[0].line > text[:second].count("\n")
        told += map(str, problems)
    with pytest.raises(Exception, match=r"broken\.conllu:\d+: word \d+"):
        train(config_of(broken, epochs=1), tmp_path / "stopped")


@pytest.mark.parametrize("sharded", ["false", "true"])
def test_two_processes_learn_what_one_learns(tmp_path: Path, data: Path, sharded: str) -> None:
    """Each with all weights, or with half of them (FSDP), started as the guide says, by `torchrun`."""
    config = tmp_path / "config.toml"
    config.write_text(
        f'[data]\ntrain = "{data.as_posix()}"\ndev = "{data.as_posix()}"\n'
        "[model]\ndropout = 0.0\n"
        '[model.encoder]\nkind = "bilstm"\ndropout = 0.0\nhidden = 16\nleast_count = 1\nforget = 0.0\n'
        '[training]\nepochs = 2\nbatch = 100\ndevice = "cpu"\nthreads = 1\naccumulate = 2\n'
        f"sharded = {sharded}\n",
        encoding="utf-8",
    )
    torchrun = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
        "-m",
        "ropewalk",
    ]
    command = ["train", str(config), "--set", "training.device=cpu", "-o"]
    settings = os.environ | {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen([*torchrun, *command, str(tmp_path / "two")], env=settings) as two_processes:
        alone = run(*command, tmp_path / "one", heavy=True, ACCELERATE_USE_CPU="true")
        assert (alone.returncode, two_processes.wait(timeout=600)) == (0, 0), alone.stderr
    one, two = (Trainable.load(tmp_path / name).network.state_dict() for name in ("one", "two"))
    moved = Trainable.create(from_mapping(read(config)), Trainable.load(tmp_path / "one").labels)
    for name, weight in one.items():
        assert torch.allclose(weight, two[name], atol=2e-5), name
    assert any(not torch.equal(weight, moved.network.state_dict()[name]) for name, weight in one.items())


def test_half_precision_learns_on_a_cpu(tmp_path: Path, data: Path) -> None:
    plain = config_of(data, epochs=3)
    half = replace(plain, training=replace(plain.training, precision="bf16"))
    losses = [
        [entry["loss"] for entry in train(one, tmp_path / name).state.history]
        for one, name in ((plain, "a"), (half, "b"))
    ]
    assert losses[1][-1] < losses[1][0]
    assert losses[1] != losses[0]
    assert losses[1] == pytest.approx(losses[0], rel=0.05)


def test_whole_sequences_are_learnt_by_heart(tmp_path: Path, data: Path) -> None:
    parsed, gold = overfitted(tmp_path, data, encoding="optimal+head", loss="sequences", epochs=16, **FAST)
    assert score(gold, parsed).las > 0.99


def test_whole_sequences_need_an_exact_decoder(tmp_path: Path, data: Path) -> None:
    with pytest.raises(TrainingError, match=r"needs an encoding that is decoded exactly, found 'relative'"):
        train(config_of(data, encoding="relative", loss="sequences", epochs=1), tmp_path)


@pytest.mark.parametrize("encoding", ["four-bit+head", "optimal"])
def test_whole_trees_are_learnt_by_heart(tmp_path: Path, encoding: str) -> None:
    bank = restored(bank_of(250), encoding, most=24)
    data = write_bank(tmp_path / "data.conllu", bank)
    options: dict[str, Any] = {"encoding": encoding, "loss": "trees", "epochs": 24, "decoder": "mbr", **FAST}
    parsed, gold = overfitted(tmp_path / "model", data, **options)
    assert score(gold, parsed).las > 0.99
    model = load(tmp_path / "model")
    assert model.decoding.decoder == "mbr"
    assert model.decoding.temperature in TEMPERATURES
    assert model.decoding.calibration != PLAIN
    assert model.with_decoding(decoder="joint").decoding.calibration == PLAIN, "they are of what mbr finds"
    assert model.with_decoding(decoder="mbr", depth=8).decoding.calibration == model.decoding.calibration
    other = bank_of(60, longest=40, seed=5)
    model = model.with_decoding(confidence=True)
    whole = conllu.dumps(model.parse(other))
    assert whole.count(b"Confidence=") == other.words
    assert b"".join(conllu.dumps(model.parse(other.select([s]))) for s in range(len(other))) == whole


@pytest.mark.parametrize(
    ("loss", "decoder"),
    [("trees", "mbr"), ("trees-nonprojective", "mbr-nonprojective"), ("trees-nonprojective", "exact")],
)
def test_whole_trees_are_learnt_by_arcs_alone(tmp_path: Path, loss: str, decoder: str) -> None:
    bank = bank_of(250)
    if loss == "trees":
        bank = restored(bank, "optimal", most=24)
    data = write_bank(tmp_path / "data.conllu", bank.select(np.arange(24)))
    options: dict[str, Any] = {"parser": "biaffine", "loss": loss, "epochs": 40, "decoder": decoder, **FAST, **SLOWER}
    parsed, gold = overfitted(tmp_path / "model", data, **options)
    assert score(gold, parsed).las > 0.99
    assert projective(gold.trees()).all() == (loss == "trees")
    model = load(tmp_path / "model").with_decoding(confidence=True)
    assert model.decoding.decoder == decoder
    assert model.has_probabilities == (decoder != "exact")
    assert (model.decoding.calibration != PLAIN) == (decoder != "exact")
    other = bank_of(60, longest=40, seed=5)
    whole = conllu.dumps(model.parse(other))
    assert whole.count(b"Confidence=") == (other.words if decoder != "exact" else 0)
    assert b"".join(conllu.dumps(model.parse(other.select([s]))) for s in range(len(other))) == whole


def test_projective_trees_are_learnt_from_crossing_ones(tmp_path: Path) -> None:
    bank = bank_of(40)
    assert not projective(bank.trees()).all()
    data = write_bank(tmp_path / "data.conllu", bank)
    options: dict[str, Any] = {"parser": "biaffine", "loss": "trees", "epochs": 6, "decoder": "mbr", **FAST}
    outcome = train(config_of(data, **options), tmp_path / "model")
    losses = [entry["loss"] for entry in outcome.state.history]
    assert all(loss >= 0 for loss in losses), "the right tree is among those summed over"
    assert losses[-1] < losses[0]


DECODERS = next(one.metadata["choices"] for one in fields(ParserOptions) if one.name == "decoder")
WORKS_WITH = {  # what each parser does with each loss, and the decoders of the result
    ("labels", "words"): (None, {"exact", "greedy", "joint", "mbr"}),
    ("labels", "sequences"): (SequenceLoss, {"exact", "greedy", "joint", "mbr"}),
    ("labels", "trees"): (TreeLoss, {"joint", "mbr"}),
    ("biaffine", "words"): (None, {"exact", "mbr", "mbr-nonprojective"}),
    ("biaffine", "trees"): (ArcTreeLoss, {"mbr"}),
    ("biaffine", "trees-nonprojective"): (ArcTreeLoss, {"exact", "mbr-nonprojective"}),
}


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("parser", PARSERS)
def test_a_parser_uses_its_loss_and_decoder_or_refuses_them(
    tmp_path: Path, parser: str, loss: str, decoder: str
) -> None:
    data = write_bank(tmp_path / "data.conllu", bank_of(6))
    options: dict[str, Any] = {} if parser == "biaffine" else {"encoding": "four-bit"}
    if parser == "labels" and loss != "trees":
        options["arc_weight"] = 1.0
    config = config_of(data, parser=parser, loss=loss, decoder=decoder, epochs=1, **options)
    kind, decoders = WORKS_WITH.get((parser, loss), (None, set()))
    if decoder not in decoders:
        with pytest.raises((TrainingError, ConfigError), match=r"model\.loss|decoding: decoder|decoding\.decoder"):
            train(config, tmp_path / "model")
        assert not (tmp_path / "model" / "model.safetensors").exists()
        return
    train(config, tmp_path / "model")
    shown = {("labels", "greedy"): "greedy, nearest", ("biaffine", "exact"): "spanning tree"}
    assert decoder_name(load(tmp_path / "model")) == shown.get((parser, decoder), decoder)
    labels, vectors = label_set(config, conllu.read(data))
    whole = Trainable.create(config, labels, vectors).network.whole
    assert whole is None if kind is None else isinstance(whole, kind)
    if isinstance(whole, ArcTreeLoss):
        assert whole.projective == (loss == "trees")


@pytest.mark.parametrize(
    "options",
    [
        {"parser": "biaffine", "encoding": "four-bit"},
        {"parser": "biaffine", "arc_weight": 1.0},
        {"parser": "biaffine", "relations": "word"},
        {"loss": "trees", "decoder": "mbr", "encoding": "optimal", "arc_weight": 1.0},
        {"biaffine": {"relation_size": 50}},
        {"biaffine": {"arc_size": 50}},
        {"auxiliary_weight": 1.0},
        {"tag_weight": 1.0},
        {"feats": "whole"},
        {"graph": {"weight": 2.0}},
        {"pooling": "last"},
    ],
)
def test_an_option_that_nothing_uses_is_refused(tmp_path: Path, data: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"configuration: (model|decoding)\.\S+ is .*; leave it out"):
        train(config_of(data, epochs=1, **options), tmp_path)
    assert not [*tmp_path.iterdir()]


def test_whole_trees_need_an_encoding_and_a_decoder_of_theirs(tmp_path: Path, data: Path) -> None:
    with pytest.raises(
        TrainingError, match=r"needs an encoding whose trees can be summed, found 'seven-bit'.*four-bit"
    ):
        train(config_of(data, encoding="seven-bit", loss="trees", epochs=1, decoder="joint"), tmp_path)
    with pytest.raises(
        TrainingError, match=r"'exact' does not use the trees.*expected decoding\.decoder = 'joint' or 'mbr'"
    ):
        train(config_of(data, encoding="optimal", loss="trees", epochs=1), tmp_path)
    with pytest.raises(ConfigError, match=r"'mbr', which the encoding seven-bit does not have"):
        train(config_of(data, encoding="seven-bit", arc_weight=1.0, epochs=1, decoder="mbr"), tmp_path)


def test_the_temperature_is_kept_with_the_model(trained: Outcome, data: Path) -> None:
    gold = conllu.read(data)
    model = load(trained.home)
    kept = model.decoding.temperature
    assert kept != 1.0

    def loss(temperature: float) -> float:
        told = model.with_decoding(confidence=True, temperature=temperature).parse(gold)
        assert told.probabilities is not None
        assert told.probabilities.arcs is not None
        arcs = np.clip(told.probabilities.arcs, 1e-4, 1 - 1e-4)
        lifted = encodings.get(model.labels.encodings[0]).lift(gold.trees())
        return float(-np.where(told.heads == lifted.heads, np.log(arcs), np.log(1 - arcs)).mean())

    assert loss(kept) <= min(loss(kept * 1.5), loss(kept / 1.5)) + 1e-3


@pytest.mark.parametrize(("encoding", "least"), [("optimal+head", 0.99), ("seven-bit", 0.95)])
def test_labels_and_arcs_are_decoded_together(tmp_path: Path, data: Path, encoding: str, least: float) -> None:
    """Arcs from a model that knows the data by heart mend the labels of one that knows nothing."""
    parsed, gold = overfitted(tmp_path, data, encoding=encoding, arc_weight=1.0, epochs=20, decoder="joint")
    assert score(gold, parsed).las > 0.99
    trainable = Trainable.load(tmp_path)
    with torch.no_grad():
        for weight in trainable.network.columns.parameters():
            weight.zero_()
    model = trainable.model()
    mended = score(gold, model.parse(gold)).uas
    assert mended > least
    assert score(gold, model.with_decoding(decoder="exact").parse(gold)).uas < mended
    bank = bank_of(60, longest=40, seed=5)
    model = model.with_decoding(confidence=True)
    assert model.decoding.calibration != PLAIN
    whole = conllu.dumps(model.parse(bank))
    assert whole.count(b"Confidence=") == bank.words
    assert b"".join(conllu.dumps(model.parse(bank.select([s]))) for s in range(len(bank))) == whole


def test_what_arcs_count_beside_labels_is_fitted(tmp_path: Path, data: Path) -> None:
    """Where labels are noise arcs count more than where arcs are; no other scale is better on the data."""
    _, gold = overfitted(tmp_path, data, encoding="four-bit", arc_weight=1.0, epochs=8, decoder="joint", **FAST)

    def fitted(part: str, noise: float) -> float:
        trainable = Trainable.load(tmp_path)
        torch.manual_seed(1)
        with torch.no_grad():
            for weight in getattr(trainable.network, part).parameters():
                weight.add_(torch.randn_like(weight) * noise)
        model = trainable.model()
        found = model.calibrated(gold)
        best = score(gold, found.parse(gold)).las
        assert best == max(score(gold, model.with_decoding(arc_scale=scale).parse(gold)).las for scale in SCALES)
        assert found.decoding.calibration != model.decoding.calibration
        return found.decoding.arc_scale

    assert fitted("arcs", 0.2) < 1.0 < fitted("columns", 0.5)  # with more, arcs are as bad at any scale
    model = load(tmp_path)
    none = model.with_decoding(arc_scale=0.0).parse(gold)
    assert none.heads.tolist() == model.with_decoding(decoder="exact").parse(gold).heads.tolist()


def test_the_joint_decoder_needs_arcs_and_brackets_that_name_them(tmp_path: Path, data: Path, trained: Outcome) -> None:
    with pytest.raises(ConfigError, match=r"train it with model\.arc_weight=1"):
        train(config_of(data, decoder="joint", epochs=1), tmp_path)
    with pytest.raises(ConfigError, match=r"joint.*hexatags does not have"):
        train(config_of(data, encoding="hexatags", arc_weight=1.0, decoder="joint", epochs=1), tmp_path)
    with pytest.raises(ConfigError, match="needs the scores of arcs"):
        load(trained.home).with_decoding(decoder="joint")
    with pytest.raises(ConfigError, match=r"decodr is unknown; did you mean decoder\?"):
        load(trained.home).with_decoding(decodr="exact")
    with pytest.raises(ConfigError, match="'exakt'; did you mean exact"):
        load(trained.home).with_decoding(decoder="exakt")


def test_a_model_learns_from_a_teacher_alone(tmp_path: Path) -> None:
    """With the whole loss from a teacher that knows the data by heart, what the treebank says does not matter."""
    gold = restored(bank_of(250), "optimal", most=30)
    data = write_bank(tmp_path / "right.conllu", gold)
    names = [{"nsubj": "obj", "obj": "nsubj"}.get(name, name) for name in gold.relations.names]
    other = write_bank(tmp_path / "wrong.conllu", gold.with_trees(gold.heads, Column(gold.relations.ids, tuple(names))))
    options: dict[str, Any] = {"encoding": "optimal", "arc_weight": 1.0, "tags": ["upos"], "decoder": "joint", **FAST}
    train(config_of(data, epochs=16, **options), tmp_path / "teacher")
    for weight, low, high in ((1.0, 0.98, 1.0), (0.0, 0.0, 0.95)):
        told = {"model": str(tmp_path / "teacher"), "weight": weight}
        config = config_of(other, epochs=16, teacher=told, **options)
        pupil = train(config, tmp_path / f"pupil{weight}")
        assert low <= score(gold, load(pupil.home).parse(gold)).las <= high


def test_a_model_learns_trees_from_a_teacher_of_trees(tmp_path: Path, data: Path) -> None:
    options: dict[str, Any] = {"encoding": "four-bit", "loss": "trees", "decoder": "mbr", "tags": ["upos"]}
    homes = [train(config_of(data, epochs=1, seed=seed, **options), tmp_path / f"{seed}").home for seed in (1, 2)]
    bank, models = conllu.read(data), [load(home) for home in homes]
    labels = models[0].labels
    learnt = examples(bank, labels, parse_by_labels=True)
    texts = Treebank.of_words(bank.column("form"), bank.offsets).select(np.arange(5))

    def said(*places: int) -> tuple[Any, teaching.Lessons]:
        told = TeacherOptions(model=tuple(str(homes[place]) for place in places))
        return teaching.lessons(told, labels, learnt, texts, arcs=True)

    (one, first), (_, second), (_, both) = said(0), said(1), said(0, 1)
    assert np.allclose((first.columns[0] + second.columns[0]) / 2, both.columns[0], atol=1e-3)
    assert np.allclose((first.arcs + second.arcs) / 2, both.arcs, atol=1e-3)
    model = models[0]
    scores = model.scorer.scores(bank.column("form"), bank.offsets, model.decoding.batch).trees
    cooled = 1 / model.decoding.temperature
    sums = decoding.tree_sums(
        encodings.get("four-bit"),
        cooled * scores.labels()[0],
        bank.offsets.array,
        labels.columns[0][0],
        cooled * model.decoding.arc_scale * np.concatenate([table.ravel() for table in scores.arcs()]),
    )
    assert np.allclose(sums.labels, first.columns[0][: bank.words], atol=2e-3)
    assert np.allclose(sums.arcs, first.arcs[: len(sums.arcs)], atol=2e-3)
    parsed = examples(model.with_decoding(lexicon_weights=[]).parse(texts), labels, parse_by_labels=True)
    assert one.heads[bank.words :].tolist() == parsed.heads.tolist()
    told = {"model": str(homes[0])}
    for loss in ("trees", "words"):
        more = {**options, "loss": loss} | ({"arc_weight": 1.0} if loss == "words" else {})
        pupil = train(config_of(data, epochs=1, teacher=told, **more), tmp_path / loss)
        assert 0 <= pupil.scores["dev"]["las"] <= 1
    told["model"] = str(tmp_path / "words")
    with pytest.raises(TrainingError, match="have no common mean"):
        teaching.lessons(TeacherOptions(model=(str(homes[0]), told["model"])), labels, learnt, texts, arcs=True)


def test_a_model_learns_trees_from_a_teacher_of_words(tmp_path: Path) -> None:
    """With the whole loss from a teacher that learnt word by word, the trees of the treebank do not matter."""
    gold = restored(bank_of(250), "four-bit", most=30)
    data = write_bank(tmp_path / "right.conllu", gold)
    chains = np.concatenate([np.arange(length) for length in gold.lengths])  # each word hangs on the one before
    relations = Column.of("obj" if head else "root" for head in chains.tolist())
    other = write_bank(tmp_path / "wrong.conllu", gold.with_trees(chains, relations))
    options: dict[str, Any] = {"encoding": "four-bit", "tags": ["upos"], **FAST}
    train(config_of(data, epochs=16, arc_weight=1.0, decoder="joint", **options), tmp_path / "teacher")
    told = {"model": str(tmp_path / "teacher"), "weight": 1.0}
    config = config_of(other, epochs=16, teacher=told, loss="trees", decoder="mbr", **options)
    config = replace(config, data=replace(config.data, dev=(str(data),)))
    pupil = train(config, tmp_path / "pupil")
    assert all(entry["loss"] > 0 for entry in pupil.state.history), "a cross-entropy of two distributions"
    assert score(gold, load(pupil.home).parse(gold)).uas >= 0.95
    labels = load(tmp_path / "teacher").labels
    texts = Treebank.of_words(gold.column("form"), gold.offsets)
    asked = TeacherOptions(model=(str(tmp_path / "teacher"),))
    _, taught = teaching.lessons(
        asked, labels, examples(gold, labels, parse_by_labels=True), texts, arcs=True, trees=True
    )
    root = np.array([taught.arcs[start] for start in taught.starts[: gold.words].tolist()], dtype=np.float64)
    assert np.allclose(np.add.reduceat(root, gold.offsets.starts), 1.0, atol=0.01), "each tree has one root"


def test_what_a_teacher_said_is_kept(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"encoding": "optimal", "arc_weight": 1.0, "tags": ["upos"]}
    teacher = {"model": str(train(config_of(data, epochs=1, **options), tmp_path / "teacher").home)}
    cache = {**teacher, "cache": str(tmp_path / "cache")}
    options["tags"] = ["upos", "xpos"]
    with pytest.raises(TrainingError, match="does not predict xpos"):
        train(config_of(data, epochs=1, teacher=cache, **options), tmp_path / "refused")
    told = [{**one, "treebank_tags": ["xpos"]} for one in (teacher, cache, cache)]
    monkeypatch.setattr(teaching, "SENTENCES", 5)
    found = []
    for number, one in enumerate(told):
        if number == 2:  # all is known by now
            monkeypatch.delattr(teaching._Teacher, "answers")
        home = train(config_of(data, epochs=2, teacher=one, **options), tmp_path / str(number)).home
        found.append((home / "model.safetensors").read_bytes())
    assert found[0] == found[1] == found[2]
    assert len(list((tmp_path / "cache").iterdir())) == -(-len(conllu.read(data)) // 5)


def test_texts_are_learnt_as_a_teacher_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model whose treebank says little parses texts as its teacher does."""
    gold = restored(bank_of(250), "optimal")
    rest = gold.select(np.arange(10, len(gold)))
    options: dict[str, Any] = {"encoding": "optimal", "arc_weight": 1.0, "tags": ["upos"], "decoder": "joint"}
    whole = write_bank(tmp_path / "whole.conllu", gold)
    teacher = train(config_of(whole, epochs=8, **options), tmp_path / "teacher").home
    few = write_bank(tmp_path / "few.conllu", gold.select(np.arange(10)))
    words = Treebank.of_words(rest.column("form"), rest.offsets)
    texts = tmp_path / "texts.tokens"
    texts.write_text("".join(" ".join(forms) + "\n" for forms in forms_of(words)), encoding="utf-8")
    told = {"model": str(teacher), "cache": str(tmp_path / "cache")}
    found = {}
    for name, more in (("without", {}), ("with", {"texts": str(texts)})):
        home = train(config_of(few, epochs=8, teacher={**told, **more}, **options), tmp_path / name).home
        found[name] = score(load(teacher).parse(rest), load(home).parse(rest)).las
    assert found["with"] > found["without"] + 0.2, found
    monkeypatch.delattr(teaching._Teacher, "answers")  # all is known by now
    again = train(config_of(few, epochs=1, teacher={**told, "texts": str(texts)}, **options), tmp_path / "again").home
    assert "The teacher annotated text without trees: `texts.tokens`." in (again / "README.md").read_text("utf-8")


def test_what_a_teacher_takes_for_right_is_learnt_of_texts(tmp_path: Path, data: Path) -> None:
    options: dict[str, Any] = {"encoding": "four-bit", "arc_weight": 1.0, "tags": ["upos", "xpos", "lemma"]}
    options["combinations"] = False  # a teacher is asked for each tag set by itself
    config = config_of(data, epochs=1, **options)
    home = train(config, tmp_path / "teacher").home
    bank = conllu.read(data)
    model = load(home)
    labels = model.labels
    learnt = examples(bank, labels, parse_by_labels=True)
    told = TeacherOptions(model=(str(home),), treebank_tags=("lemma",))
    texts = Treebank.of_words(bank.column("form"), bank.offsets).select(np.arange(7, 19))
    both, taught = teaching.lessons(told, labels, learnt, texts, arcs=True)
    assert len(both) == len(bank) + len(texts)
    alone = model.with_decoding(lexicon_weights=[])  # a lexicon is each model's own
    parsed = examples(alone.parse(texts), labels, parse_by_labels=True)
    own = slice(bank.words, None)
    assert both.heads[own].tolist() == parsed.heads.tolist()
    assert both.relations[own].tolist() == parsed.relations.tolist()
    assert [one[own].tolist() for one in both.columns] == [one.tolist() for one in parsed.columns]
    names = [name for name, _ in labels.tags]
    for name, column, right in zip(names, both.tags, parsed.tags, strict=True):
        assert column[own].tolist() == ([MISSING] * texts.words if name == "lemma" else right.tolist())
    assert [name for name, rows in zip(names, taught.tags, strict=True) if rows is None] == ["lemma"]
    _, rough = teaching.lessons(replace(told, precision="bf16"), labels, learnt, texts, arcs=True)
    same = slice(bank.words)  # under the same heads: those of texts are each teacher's own
    assert 0 < np.abs(rough.relations[same] - taught.relations[same]).max() < 0.1
    length = int(texts.lengths[0])
    batch = taught.batch(np.arange(bank.words, bank.words + length), [length])
    assert batch.arcs is not None
    assert torch.allclose(batch.arcs.sum(1), torch.ones(length), atol=2e-3)


def test_several_teachers_are_learnt_from_by_their_mean(tmp_path: Path, data: Path, trained: Outcome) -> None:
    options: dict[str, Any] = {"encoding": "four-bit", "arc_weight": 1.0, "tags": ["upos"]}
    homes = [str(train(config_of(data, epochs=1, seed=seed, **options), tmp_path / f"{seed}").home) for seed in (1, 2)]
    bank = conllu.read(data)
    labels = load(Path(homes[0])).labels
    learnt = examples(bank, labels, parse_by_labels=True)
    texts = Treebank.of_words(bank.column("form"), bank.offsets)

    def said(*names: str) -> tuple[list[Any], list[Any]]:
        both, taught = teaching.lessons(TeacherOptions(model=names), labels, learnt, texts, arcs=True)
        soft = [*taught.columns, taught.relations, *taught.tags, taught.arcs]
        return [both.heads, both.relations, *both.columns], [one[: bank.words] for one in soft if one is not None]

    one, other, twice, mean = said(homes[0]), said(homes[1]), said(homes[0], homes[0]), said(*homes)
    for first, second in zip(one, twice, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    for a, b, found in zip(one[1], other[1], mean[1], strict=True):
        assert not np.array_equal(a, b)
        assert np.allclose((a + b) / 2, found, atol=1e-3)
    told = {"model": [homes[0], str(trained.home)]}
    with pytest.raises(TrainingError, match="a teacher with the same encoding"):
        train(config_of(data, epochs=1, teacher=told, **options), tmp_path / "refused")
    told["model"] = homes
    card = (train(config_of(data, epochs=1, teacher=told, **options), tmp_path / "pupil").home / "README.md").read_text(
        "utf-8"
    )
    assert "It was also trained on the mean probabilities of 2 teachers: `1`, `2`." in card


def test_texts_are_words_without_trees(tmp_path: Path, data: Path) -> None:
    bank = conllu.read(data)
    long = tmp_path / "long.tokens"
    long.write_text("A dog barks .\n\n" + "so " * (texts_of.LONGEST + 1) + "\n", encoding="utf-8")
    plain = tmp_path / "plain.txt"
    plain.write_text("The dog barks. It doesn't sleep.\nA heading\n", encoding="utf-8")
    found = texts_of.read_texts([str(data), str(long), str(plain)], "en")
    own = [list(forms) for forms in forms_of(found)]
    assert own[: len(bank)] == [list(forms) for forms in forms_of(bank)]
    assert own[len(bank) :] == [
        ["A", "dog", "barks", "."],
        ["The", "dog", "barks", "."],
        ["It", "does", "n't", "sleep", "."],
        ["A", "heading"],
    ]
    assert set(found.heads.tolist()) == {-1}
    assert not len(texts_of.read_texts([], ""))
    with pytest.raises(ConfigError, match=r"teacher\.segmenter is empty, and .*plain\.txt is plain text"):
        texts_of.read_texts([str(plain)], "")
    for model, graph, said in (("", "", "texts need a teacher"), ("teacher", "biaffine", "have no graphs")):
        told = {"texts": str(plain), "model": model}
        with pytest.raises(TrainingError, match=said):
            train(config_of(data, epochs=1, teacher=told, graph={"encoding": graph}), tmp_path / "refused")


def test_a_teacher_must_know_what_is_taught(tmp_path: Path, data: Path, trained: Outcome) -> None:
    told = {"model": str(trained.home)}
    for options, said in (
        ({"encoding": "optimal"}, "a teacher with the same encoding"),
        ({"encoding": "optimal+head", "arc_weight": 1.0}, "scores no arcs"),
        ({"parser": "biaffine"}, "learn labels word by word"),
    ):
        with pytest.raises(TrainingError, match=said):
            train(config_of(data, epochs=1, teacher=told, **options), tmp_path / said.replace(" ", ""))


def test_other_words_keep_their_kind(data: Path) -> None:
    bank = conllu.read(data)
    other = substituted(bank, 0.5, 3)
    assert other.heads.tolist() == bank.heads.tolist()
    pairs = list(zip(bank.column("form").texts(), other.column("form").texts(), bank.upos.texts(), strict=True))  # type: ignore[union-attr]
    assert any(old != new for old, new, _ in pairs)
    kinds = {(form.lower(), tag) for form, _, tag in pairs}
    assert all((new.lower(), tag) in kinds for _, new, tag in pairs)
    assert all(old == new for old, new, tag in pairs if tag not in OPEN)
    lemmas = {
        form.lower(): lemma.lower()
        for form, lemma in zip(bank.column("form").texts(), bank.column("lemma").texts(), strict=True)
    }
    for old, new, lemma in zip(
        *(one.texts() for one in (bank.column("form"), other.column("form"), other.column("lemma"))), strict=True
    ):
        assert old == new or lemma.lower() == lemmas[new.lower()]
    assert substituted(bank, 0.0, 3).column("form").texts() == bank.column("form").texts()
    assert substituted(bank, 0.5, 3).column("form").texts() == other.column("form").texts()


def test_static_vectors_of_an_encoder_are_read_by_a_bilstm(tmp_path: Path, encoder: Path, data: Path) -> None:
    reader = vectors.load_encoder(str(encoder))
    forms = conllu.read(data).column("form").texts()
    words = vectors.vocabulary(reader, forms)
    assert len(set(words)) == len(words)
    assert {form.lower() if reader.tokens.lowercases else form for form in forms} <= set(words)
    found = vectors.static_vectors(reader, words, 4)
    assert found.shape == (len(words), 4)
    assert np.isclose(found.std(), 1)
    spread = found.var(axis=0)
    assert (np.diff(spread) <= 1e-6).all(), "the main direction comes first"
    vectors.write_vectors(tmp_path / "vectors.txt", words, found)
    read_words, rows = read_vectors(str(tmp_path / "vectors.txt"), 10**6)
    assert read_words == words
    assert np.allclose(rows, found, rtol=1e-3, atol=1e-6)
    with pytest.raises(OptionError, match="pass a smaller number"):
        vectors.static_vectors(reader, words[:3], 10)


def test_static_vectors_that_a_model_stores_are_its_own(tmp_path: Path, data: Path) -> None:
    rows = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
    vectors.write_vectors(tmp_path / "vectors.txt", ["rope", "holds", "and"], rows)
    plain = config_of(data, epochs=1)
    encoder = replace(plain.model.encoder, vectors=str(tmp_path / "vectors.txt"))
    config = replace(plain, model=replace(plain.model, encoder=encoder))
    home = str(train(config, tmp_path / "model").home)
    stored = vectors.stored_vectors(home, 4)
    assert stored is not None
    assert stored[0] == ["rope", "holds", "and"]
    assert np.allclose(stored[1], rows, rtol=1e-3)
    with pytest.raises(OptionError, match="5 dimensions of vectors of 4; pass a smaller number"):
        vectors.stored_vectors(home, 5)
    assert vectors.stored_vectors(str(train(plain, tmp_path / "plain").home), 4) is None
    assert vectors.stored_vectors(str(tmp_path / "nothing"), 4) is None
    command = ["vectors", home, "-o", tmp_path / "out.txt", "--size", 4]
    assert run(*command, heavy=True).returncode == 0
    assert (tmp_path / "out.txt").read_bytes() == (tmp_path / "vectors.txt").read_bytes()
    refused = run(*command, "--overwrite", "--words", data, heavy=True)
    assert (refused.returncode, "leave it out" in refused.stderr) == (1, True)


def test_static_vectors_come_out_of_a_trained_model_too(tmp_path: Path, encoder: Path, data: Path) -> None:
    bank = conllu.read(data)
    config = config_of(data, encoder, epochs=1)
    trainable = Trainable.create(config, label_set(config, bank)[0], None)
    with torch.no_grad():
        for weight in trainable.network.encoder.parameters():
            weight.mul_(1.5)
    save(tmp_path / "model", trainable)
    words = ["the", "rope", "holds", "again", "and"]
    trained, plain = (vectors.load_encoder(str(path)) for path in (tmp_path / "model", encoder))
    found, other = (vectors.static_vectors(one, words, 3) for one in (trained, plain))
    assert found.shape == (5, 3)
    assert not np.allclose(np.abs(found), np.abs(other), atol=1e-3)
