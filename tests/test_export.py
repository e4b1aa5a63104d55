"""Models without torch: what is exported says what the trained model says, whatever else is parsed with it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from typer.testing import CliRunner

from ropewalk import conllu
from ropewalk.cli import app_of
from ropewalk.core.trees import check_heads
from ropewalk.errors import ModelError, UnknownNameError
from ropewalk.models import model, storage
from ropewalk.models.onnx import bilstm, sru, word_types
from ropewalk.models.onnx.files import ENCODER
from ropewalk.models.onnx.limits import varying
from ropewalk.models.onnx.model import load
from ropewalk.models.onnx.session import Session
from ropewalk.models.vocabulary import Lookup, Vocabulary, affixes, cut, shape
from ropewalk.scoring.attachment import score
from ropewalk.segmentation.neighbours import neighbours_of, with_neighbours
from ropewalk.segmentation.segmenter import network_sizes
from ropewalk.segmentation.segmenter_config import NetworkOptions
from ropewalk.training import onnx_graphs as graphs
from ropewalk.training.examples import label_set
from ropewalk.training.export import all_scores, export
from ropewalk.training.onnx_convolutions import whole_convolutions
from ropewalk.training.onnx_neighbours import several_texts
from ropewalk.training.segmenter_training import SegmenterNetwork, as_onnx
from ropewalk.training.trainable import Trainable
from ropewalk.training.trained_files import read_tensors, save, save_card
from ropewalk.training.training_run import train
from ropewalk.treebank.treebank import Treebank
from training_tools import bank_of, config_of, once, tiny_encoder, write_bank

if TYPE_CHECKING:
    from pathlib import Path

    from onnx import ModelProto

    from ropewalk.models.model import Model

BANK = bank_of(40, longest=20, seed=3)
OPTIONS: dict[str, dict[str, Any]] = {
    "labels": {"encoding": "optimal", "tags": ["upos", "feats", "lemma"], "arc_weight": 1.0, "vectors": True},
    "words": {
        "encoding": "optimal+head",
        "relations": "word",
        "tags": ["xpos", "feats"],
        "feats": "apart",
        "narrow": 24,
    },
    "columns": {"encoding": "pos-offset", "tags": ["upos"], "auxiliary": ["four-bit"]},
    "biaffine": {"parser": "biaffine", "tags": ["upos"]},
    "products": {"encoding": "four-bit", "relations": "word*head", "tags": ["upos"], "arc_weight": 1.0},
    "single": {  # layers
        "encoding": "optimal",
        "relations": "word",
        "relation_hidden": 0,
        "tags": ["upos"],
        "hidden": 0,
        "projection": 20,
        "arc_weight": 1.0,
    },
    "sru": {"encoding": "four-bit", "tags": ["upos"], "arc_weight": 1.0, "vectors": True, "encoder_layers": ("sru", 3)},
    "shallow": {"encoding": "optimal", "relations": "word", "tags": ["upos"], "encoder_layers": ("sru", 1)},
}


def random_model(
    home: Path,
    encoder: Path | None = None,
    *,
    vectors: bool = False,
    narrow: int = 0,
    encoder_layers: tuple[str, int] | None = None,
    **options: Any,  # noqa: ANN401 - options of several types
) -> Trainable:
    """Make a model whose weights are all at random, so that each of them matters."""
    home.mkdir(parents=True, exist_ok=True)
    config = config_of(write_bank(home / "bank.conllu", BANK), encoder, epochs=1, **options)
    sizes = replace(config.model.encoder, input_size=narrow)
    if encoder_layers is not None:
        kind, depth = encoder_layers
        sizes = replace(sizes, kind=kind, depth=depth)
    config = replace(config, model=replace(config.model, encoder=sizes))
    labels, _ = label_set(config, BANK)
    table = None
    if vectors and labels.vocabulary is not None:
        words = tuple(sorted(set(BANK.column("form").texts()[::3])))
        table = np.random.default_rng(5).standard_normal((len(words), 24)).astype(np.float32)
        whole = labels.vocabulary
        known = Vocabulary(whole.words[::2], whole.affixes[::2], whole.shapes, whole.characters[1:], words)
        labels = replace(labels, vocabulary=known)
    trainable = Trainable.create(config, labels, table)
    torch.manual_seed(7)
    with torch.no_grad():
        for name, weights in trainable.network.named_parameters():
            if not name.startswith("encoder.model"):
                spread = 0.02 if name == "encoder.beside.weight" else 0.2  # rounding grows with sums before a tanh
                weights.add_(spread * torch.randn_like(weights))
    trainable.network.eval()
    save(home / "trained", trainable, config)
    save_card(home / "trained", "# A card\n")
    return trainable


def exported_once(factory: pytest.TempPathFactory, name: str) -> Path:
    """Return a folder with a random model of a name, `trained` and `exported`, made once in a session."""

    def make(home: Path) -> None:
        random_model(home, **OPTIONS[name])
        export(home / "trained", home / "exported", name=name)

    return once(factory, f"random-{name}", make)


def networks_of(home: Path) -> dict[str, ModelProto]:
    """Return the networks as torch exported them once, which takes seconds; the rest of an export is repeated."""
    return {file.name: onnx.load(file) for file in (home / "exported").glob("*.onnx")}


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A `bilstm` with tags, arcs and vectors, trained and exported, for tests that only read it."""
    return exported_once(tmp_path_factory, "labels")


@pytest.fixture(scope="session")
def exported(home: Path) -> Path:
    return home / "exported"


def as_text(bank: Treebank) -> bytes:
    return conllu.dumps(bank)


@pytest.mark.parametrize("name", ["labels", "words", "single", "sru", "shallow"])
@pytest.mark.parametrize("weights", ["fp32", "int8"])
def test_what_was_exported_is_trained_further_from_where_it_was(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    weights: str,
) -> None:
    """The weights are found again: those that training had, or those that they were rounded to."""
    home = exported_once(tmp_path_factory, name)
    monkeypatch.setattr("ropewalk.training.export.networks", lambda _: networks_of(home))
    export(home / "trained", tmp_path / "out", weights=weights)
    config = config_of(tmp_path / "none.conllu", epochs=1)
    again = Trainable.load(tmp_path / "out", config)
    again.network.eval()
    right = all_scores(load(tmp_path / "out"), BANK)
    pairs = zip(all_scores(again.model(), BANK), right, strict=True)
    if weights == "fp32":
        assert max(float(np.abs(np.maximum(a, -50) - np.maximum(b, -50)).max()) for a, b in pairs) < 1e-3
        return
    moved = [float(np.abs(np.exp(a) - np.exp(b)).max()) for a, b in pairs]
    # Vectors of characters are the nearest that give rounded products; those of words were rounded, in each layer.
    assert max(moved) < (0.4 if name == "sru" else 0.25)
    before = Trainable.load(home / "trained").network.state_dict()
    products = [key for key in before if key.endswith(".weight") and not key.startswith("encoder.")]
    assert len(products) > 3
    for key in products:
        table, found = before[key].numpy(), again.network.state_dict()[key].numpy()
        assert (np.abs(table - found) <= 0.501 * np.abs(table).max(axis=1, keepdims=True) / graphs.STEPS).all(), key


def test_an_exported_model_teaches_what_it_taught_before(tmp_path: Path, home: Path) -> None:
    """A teacher says the same as it was trained and as it was exported."""
    data = write_bank(tmp_path / "bank.conllu", BANK)
    said = []
    for kind in ("trained", "exported"):
        teacher = {"model": str(home / kind), "cache": str(tmp_path / f"{kind}-said")}
        config = config_of(data, epochs=1, encoding="optimal", tags=["upos"], arc_weight=1.0, teacher=teacher)
        train(config, tmp_path / kind)
        (file,) = (tmp_path / f"{kind}-said").iterdir()
        said.append(read_tensors(file))
    assert {"labels.0", "relations", "arcs", "tags.upos"} == said[0].keys() == said[1].keys()
    for name, one in said[0].items():
        assert torch.allclose(one.float(), said[1][name].float(), atol=2e-3)


def test_a_sentence_is_read_alone_as_beside_others(exported: Path) -> None:
    """Where one row would be rounded otherwise, two are read; here both say the same, whichever it is."""
    one, two = load(exported), load(exported)
    two.scorer.encoder.__dict__["_least"] = 2
    alone = BANK.select([0])
    assert as_text(one.parse(alone)) == as_text(two.parse(alone))
    assert as_text(one.parse(alone)) == as_text(one.parse(BANK).select([0]))


def test_what_cannot_be_trained_further_says_so(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    home = exported_once(tmp_path_factory, "biaffine")
    config = config_of(tmp_path / "none.conllu", epochs=1)
    with pytest.raises(ModelError, match="pass the folder that it was exported from"):
        Trainable.load(home / "exported", config)


@pytest.mark.parametrize("name", OPTIONS)
def test_what_is_exported_parses_as_the_trained_model_does(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    home = exported_once(tmp_path_factory, name)
    trained, exported = Trainable.load(home / "trained").model(), load(home / "exported")
    pairs = list(zip(all_scores(trained, BANK), all_scores(exported, BANK), strict=True))
    assert 0 < max(float(np.abs(np.maximum(a, -50) - np.maximum(b, -50)).max()) for a, b in pairs) < 1e-4
    assert as_text(exported.parse(BANK)) == as_text(trained.parse(BANK))
    probable = {"labels", "words", "products", "single", "sru", "shallow"}
    assert exported.has_probabilities == trained.has_probabilities == (name in probable)
    for decoder in (
        ("exact", "joint", "mbr")
        if name in {"labels", "products", "single", "sru"}
        else ("exact",)
        if exported.has_probabilities
        else ()
    ):
        asked = [
            one.with_decoding(confidence=True, tag_confidence=True, decoder=decoder).parse(BANK)
            for one in (exported, trained)
        ]
        ours, theirs = (one.probabilities for one in asked)
        assert ours is not None
        assert theirs is not None
        assert np.allclose(ours.arcs, theirs.arcs, atol=2e-4)  # type: ignore[arg-type] # there are some
        assert np.allclose(ours.trees, theirs.trees, atol=2e-4)  # type: ignore[arg-type] # likewise
        assert ours.arcs.min() < 0.9  # type: ignore[union-attr] # likewise
        assert set(ours.tags) == set(OPTIONS[name]["tags"])
        assert min(float(shares.min()) for shares in ours.tags.values()) < 0.9
        for column, shares in ours.tags.items():
            assert np.allclose(shares, theirs.tags[column], atol=2e-4)
            assert shares.max() <= 1


@pytest.mark.parametrize(("kind", "pooling"), [("bert", "mean"), ("xlm-roberta", "last"), ("xlnet", "first")])
def test_transformers_need_only_their_tokenizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, pooling: str
) -> None:
    plain = graphs.save

    def save(network: ModelProto, path: Path) -> None:
        large = kind == "xlm-roberta" and path.name == ENCODER  # as if it were beyond what one file holds
        monkeypatch.setattr(graphs, "LARGEST", 0 if large else 1 << 30)
        plain(network, path)

    monkeypatch.setattr(graphs, "save", save)
    trainable = random_model(tmp_path, tiny_encoder(tmp_path / "encoder", kind), pooling=pooling, relations="word")
    assert trainable.description.encoder.casing == (kind == "bert")
    export(tmp_path / "trained", tmp_path / "out")
    assert (tmp_path / "out" / "encoder.onnx.data").is_file() == (kind == "xlm-roberta")
    exported = load(tmp_path / "out", threads=1)
    long = bank_of(3, longest=150, seed=9)  # beyond a window
    both = Treebank.concat([BANK, long])
    parsed = exported.parse(both)
    assert as_text(parsed) == as_text(trainable.model().parse(both))
    assert as_text(exported.with_decoding(batch=1).parse(both)) == as_text(parsed)
    assert str(tmp_path).encode() not in b"".join(file.read_bytes() for file in (tmp_path / "out").iterdir())
    if kind == "bert":
        rounded = graphs.rounded(onnx.load(tmp_path / "out" / ENCODER))
        kinds = {one.data_type for one in rounded.graph.initializer if np.prod(one.dims) >= graphs.LEAST}
        assert kinds == {TensorProto.INT8}


def test_a_network_that_is_written_into_two_files_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its weights are rounded after it was written."""
    network = graphs.lstm(torch.nn.LSTM(8, 16, bidirectional=True))
    before = network.SerializeToString()
    monkeypatch.setattr(graphs, "LARGEST", 0)
    graphs.save(network, tmp_path / ENCODER)
    assert network.SerializeToString() == before
    assert {file.name for file in tmp_path.iterdir()} == {ENCODER, f"{ENCODER}.data"}
    assert (tmp_path / ENCODER).stat().st_size < len(before) < (tmp_path / f"{ENCODER}.data").stat().st_size + 2048
    again = onnx.load(tmp_path / ENCODER)
    for one, other in zip(network.graph.initializer, again.graph.initializer, strict=True):
        assert np.array_equal(numpy_helper.to_array(one), numpy_helper.to_array(other))


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # of the package's own encoders
@pytest.mark.parametrize("kind", ["mpnet", "deberta-v2", "modernbert"])
def test_other_encoders_are_within_the_limits_of_networks(kind: str) -> None:
    """As torch writes them, and with rounded weights."""
    from transformers import AutoConfig, AutoModel

    sizes = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 128}
    special = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
    own = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]} if kind == "deberta-v2" else {}
    config = AutoConfig.for_model(kind, vocab_size=100, max_position_embeddings=80, **sizes, **special, **own)
    model = AutoModel.from_config(config).eval()  # type: ignore[no-untyped-call] # as the package has it

    class Hidden(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, given: dict[str, torch.Tensor]) -> torch.Tensor:
            hidden: torch.Tensor = self.model(given["ids"], attention_mask=given["mask"]).last_hidden_state
            return hidden

    ids = torch.full((2, 16), 5)
    plain = graphs.traced(Hidden(), {"ids": ids, "mask": torch.ones_like(ids)}, ["hidden"], dynamic=2)
    both = varying(1), varying(64)
    for network in (plain, graphs.rounded(plain)):
        session = Session(network.SerializeToString(), kind, 1, [{"ids": both, "mask": both}])
        assert session.run({"ids": ids.numpy(), "mask": np.ones((2, 16), dtype=np.int64)})[0].shape == (2, 16, 64)


def test_neighbours_order_and_batches_change_nothing(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = load(exported, threads=1)
    bank = Treebank.concat([BANK, bank_of(6, longest=70, seed=11)])
    whole = scores_of(one, bank)
    alone = [scores_of(load(exported, threads=1), bank.select([number])) for number in range(0, len(bank), 9)]
    for number, found in zip(range(0, len(bank), 9), alone, strict=True):
        where = bank.offsets[number]
        assert all(np.array_equal(a, b[where]) for a, b in zip(found, whole, strict=True))
    assert as_text(one.with_decoding(batch=1).parse(bank)) == as_text(one.parse(bank))
    joint = one.with_decoding(decoder="joint", confidence=True)
    order = np.random.default_rng(2).permutation(len(bank))
    for each in (one, joint, joint.with_decoding(decoder="mbr", temperature=2.0)):
        assert as_text(each.parse(bank.select(order))) == as_text(each.parse(bank).select(order))
    parsed = as_text(joint.parse(bank))
    monkeypatch.setattr(model, "PIECE", 30)
    assert len(list(one.scores(bank))) > 5
    assert as_text(joint.parse(bank)) == parsed
    for rows in (1, 3, 64):
        monkeypatch.setattr(bilstm, "MOST_ROWS", rows)
        again = scores_of(one, bank)
        assert all(np.array_equal(a, b) for a, b in zip(again, whole, strict=True))


@pytest.mark.parametrize("weights", ["fp32", "int8"])
def test_neighbours_change_nothing_of_simple_recurrent_units(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, weights: str
) -> None:
    home = exported_once(tmp_path_factory, "sru")
    monkeypatch.setattr("ropewalk.training.export.networks", lambda _: networks_of(home))
    export(home / "trained", tmp_path / "out", weights=weights)
    kinds = {node.op_type for node in onnx.load(tmp_path / "out" / ENCODER).graph.node}
    assert ("MatMulIntegerToFloat" in kinds) == (weights == "int8")
    one = load(tmp_path / "out", threads=1)
    bank = Treebank.concat([BANK, bank_of(6, longest=70, seed=11)])
    whole = scores_of(one, bank)
    for number in range(0, len(bank), 9):
        alone = scores_of(load(tmp_path / "out", threads=1), bank.select([number]))
        where = bank.offsets[number]
        assert all(np.array_equal(a, b[where]) for a, b in zip(alone, whole, strict=True))
    for words in (1, 7, 4096):
        monkeypatch.setattr(sru, "MOST_WORDS", words)
        assert all(np.array_equal(a, b) for a, b in zip(scores_of(one, bank), whole, strict=True))


def test_long_sentences_of_simple_recurrent_units_are_read_in_windows(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Distant words hardly matter, and each word has one vector."""
    home = exported_once(tmp_path_factory, "sru")
    one = load(home / "exported", threads=1)
    bank = bank_of(3, longest=150, seed=9)
    whole = scores_of(one, bank)
    monkeypatch.setattr(sru, "WINDOW", 64)
    monkeypatch.setattr(sru, "MARGIN", 30)
    cut = scores_of(one, bank)
    assert bank.offsets.lengths.max() > 64
    for a, b in zip(whole, cut, strict=True):
        assert a.shape == b.shape
        assert np.mean(a.argmax(1) == b.argmax(1)) > 0.95


def test_networks_of_other_encoders_are_no_simple_recurrent_units(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A kernel reads what networks make, so their sizes are checked."""
    for file, source, problem in (
        ("encoder.onnx", "heads.onnx", "networks that do not fit each other"),
        ("words.onnx", "narrow", "is not of an sru encoder"),
    ):
        place = tmp_path / file
        shutil.copytree(exported_once(tmp_path_factory, "sru") / "exported", place)
        if source == "narrow":
            other = onnx.load(place / file)
            (end,) = (node for node in other.graph.node if "inputs" in node.output)
            end.output[0] = "all"
            shape = numpy_helper.from_array(np.array([0, 1]), "two")
            other.graph.initializer.append(shape)
            other.graph.node.append(helper.make_node("Gather", ["all", "two"], ["inputs"], axis=1))
            other.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 2
            (place / file).write_bytes(other.SerializeToString())
        else:
            (place / file).write_bytes((place / source).read_bytes())
        storage.seal(place, json.loads((place / "config.json").read_text(encoding="utf-8")))
        with pytest.raises(ModelError, match=problem):
            load(place)


def scores_of(one: Model, bank: Treebank) -> list[Any]:
    """All scores of a model that have a row for each word."""
    pieces = [
        [*scores.trees.labels(), *scores.tags().values(), scores.trees.relations(part.heads)]
        for part, scores in one.scores(bank)
    ]
    return [np.concatenate(column) for column in zip(*pieces, strict=True)]


def test_words_beyond_what_is_remembered_are_computed_again(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = as_text(load(exported).parse(BANK))
    monkeypatch.setattr(word_types, "MOST_TYPES", 50)
    monkeypatch.setattr(model, "PIECE", 40)
    again = load(exported)
    assert as_text(again.parse(BANK)) == whole
    assert as_text(again.parse(BANK)) == whole
    assert len(again.scorer.encoder._types._memories[0].rows) <= 70  # type: ignore[attr-defined] # what its encoder remembers


def test_a_very_long_sentence_is_one_tree_that_of_the_trained_model(home: Path) -> None:
    forms = BANK.column("form").texts()
    words = 5000
    lines = [f"{n + 1}\t{forms[n % len(forms)]}\t" + "\t".join("_" * 8) for n in range(words)]
    bank = conllu.loads("\n".join([*lines, "", ""]).encode())
    parsed = load(home / "exported").parse(bank)
    found = check_heads(parsed.heads, parsed.offsets)
    assert (parsed.words, found.codes.tolist(), found.roots.tolist()) == (words, [0], [1])
    assert as_text(parsed) == as_text(Trainable.load(home / "trained").model().parse(bank))


def test_nothing_to_parse_comes_back(exported: Path) -> None:
    empty = Treebank.of([])
    assert load(exported).parse(empty) is empty


def test_eight_bits_are_close_and_small(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = load(home / "exported")
    monkeypatch.setattr("ropewalk.training.export.networks", lambda _: networks_of(home))
    given = [str(home / "trained"), "-o", str(tmp_path / "small"), "--weights", "int8", "--name", "tiny"]
    test = ["--test", str(home / "bank.conllu")]
    done = CliRunner().invoke(app_of(["export"]), ["export", *given, *test])
    assert done.exit_code == 0, done.output
    small = load(tmp_path / "small")
    assert small.hash != plain.hash
    assert (small.name, small.path) == ("tiny", tmp_path / "small")
    size, full = (sum(f.stat().st_size for f in one.iterdir()) for one in (tmp_path / "small", home / "exported"))
    assert size < 0.5 * full
    moved = [
        float(np.abs(np.exp(a) - np.exp(b)).max())
        for a, b in zip(scores_of(small, BANK), scores_of(plain, BANK), strict=True)
    ]
    assert 0 < max(moved) < 0.1
    assert f"tiny {small.hash}" in done.stderr
    assert "of the heads stay the same" in done.stderr
    found = score(BANK, small.parse(BANK))
    scores = f"UAS {100 * found.uas:.2f}, LAS {100 * found.las:.2f}"
    assert f"{scores} over words" in done.stderr
    assert f"on the words of `bank.conllu`, over words: {scores}" in (tmp_path / "small" / "README.md").read_text(
        encoding="utf-8"
    )
    table = json.loads((tmp_path / "small" / "config.json").read_text(encoding="utf-8"))
    kept = table["scores"]["test"]
    assert (kept["uas"], kept["las"]) == pytest.approx((found.uas, found.las))
    assert table["training"]["model"]["encoding"] == "optimal"
    with pytest.raises(UnknownNameError, match="int4"):
        export(home / "trained", tmp_path / "none", weights="int4")


def test_tables_of_eight_bits_are_unpacked_whether_large_or_small(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(1).standard_normal((50, 40)).astype(np.float32)
    table[7] = 0
    plain = helper.make_model(
        helper.make_graph(
            [helper.make_node("Gather", ["table", "n"], ["rows"])],
            "rows",
            [helper.make_tensor_value_info("n", TensorProto.INT64, ["n"])],
            [helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["n", 40])],
            [numpy_helper.from_array(table, "table")],
        ),
        opset_imports=[helper.make_opsetid("", graphs.OPSET)],
        ir_version=graphs.FORM,
    )
    steps = np.abs(table).max(axis=1) / graphs.STEPS
    for small in (0, 1 << 20):
        monkeypatch.setattr(graphs, "SMALL", small)
        session = Session(graphs.rounded(plain).SerializeToString(), "rows", 1, [{"n": (varying(64),)}])
        rows = session.run({"n": np.arange(50)})[0]
        assert (np.abs(rows - table) <= 0.5001 * steps[:, None]).all()
        assert np.abs(rows - table).max() > 0


def test_products_of_what_lies_within_one_are_computed_in_whole_numbers() -> None:
    """Each is as near as rounding allows, depends on its row alone, and what is no plain product stays as it is."""
    random = np.random.default_rng(2)
    tables = [random.standard_normal((40, 64)).astype(np.float32) for _ in range(3)]
    bias = random.standard_normal(40).astype(np.float32)
    plain = helper.make_model(
        helper.make_graph(
            [
                helper.make_node("Gemm", ["vectors", "table0", "bias"], ["with_bias"], transB=1),
                helper.make_node("Gemm", ["vectors", "table1"], ["without"], transB=1),
                helper.make_node("Gemm", ["vectors", "table2", "bias"], ["scaled"], transB=1, alpha=2.0),
            ],
            "products",
            [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["n", 64])],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 40])
                for name in ("with_bias", "without", "scaled")
            ],
            [numpy_helper.from_array(table, f"table{place}") for place, table in enumerate(tables)]
            + [numpy_helper.from_array(bias, "bias")],
        ),
        opset_imports=[helper.make_opsetid("", graphs.OPSET)],
        ir_version=graphs.FORM,
    )
    network = graphs.rounded(plain, ["vectors"])
    kinds = [node.op_type for node in network.graph.node]
    assert sorted(kinds) == ["DequantizeLinear", "Gemm", *["MatMulIntegerToFloat"] * 2, "QuantizeLinear", "Reshape"]
    assert "MatMulIntegerToFloat" not in {node.op_type for node in graphs.rounded(plain).graph.node}
    session = Session(network.SerializeToString(), "products", 1, [{"vectors": (varying(64),)}])
    vectors = random.uniform(-1, 1, (30, 64)).astype(np.float32)
    vectors[0], vectors[1] = 1, -1  # the largest sums that there can be
    found = session.run({"vectors": vectors})
    steps = [np.rint(table / (np.abs(table).max(axis=1, keepdims=True) / graphs.STEPS)) for table in tables]
    scales = [np.abs(table).max(axis=1) / graphs.STEPS for table in tables]
    whole = np.rint(vectors * graphs.UNITS)
    for place, more in enumerate((bias, np.zeros_like(bias))):
        exactly = whole @ steps[place].T * scales[place] / graphs.UNITS + more
        assert np.abs(found[place] - exactly).max() < 1e-4
        assert np.abs(found[place] - (vectors @ tables[place].T + more)).max() < 0.3
    assert np.abs(found[2] - (2 * vectors @ (steps[2] * scales[2][:, None]).T + bias)).max() < 1e-3
    for row in range(30):
        alone = session.run({"vectors": vectors[row : row + 1]})
        assert all((one == all_[row : row + 1]).all() for one, all_ in zip(alone[:2], found[:2], strict=True))


@pytest.mark.parametrize("before", ["Identity", "Gelu"])
def test_large_products_round_each_row_with_a_scale_of_its_own(before: str) -> None:
    """They are as near as rounding allows, also for rows of very different sizes, and depend on their row alone."""
    random = np.random.default_rng(4)
    tables = [random.standard_normal((640, 256)).astype(np.float32) for _ in range(2)]
    tables[0][:, 3] = 0
    tables[1][:, 0] = np.float32(1)  # each sum of two weights is as large as it can be
    plain = helper.make_model(
        helper.make_graph(
            [
                helper.make_node(before, ["x"], ["read"]),
                *(helper.make_node("MatMul", ["read", f"table{place}"], [f"out{place}"]) for place in (0, 1)),
            ],
            "products",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "m", 640])],
            [helper.make_tensor_value_info(f"out{place}", TensorProto.FLOAT, ["n", "m", 256]) for place in (0, 1)],
            [numpy_helper.from_array(table, f"table{place}") for place, table in enumerate(tables)],
        ),
        opset_imports=[helper.make_opsetid("", graphs.OPSET)],
        ir_version=graphs.FORM,
    )
    network = graphs.rounded(plain)
    kinds = [node.op_type for node in network.graph.node]
    assert kinds.count("QuantizeLinear") == 1  # the input is rounded once for both
    assert kinds.count("MatMulIntegerToFloat") == 2
    for name in ("table0.8", "table1.8"):
        (stored,) = (numpy_helper.to_array(one) for one in network.graph.initializer if one.name == name)
        sums = stored[0::2].astype(int) + stored[1::2]
        assert 120 < np.abs(sums).max() <= (1 << 15) // graphs.BYTES  # in 16 bits with any two bytes
    sizes = [{"x": (varying(8), varying(16))}]
    exact, session = (Session(one.SerializeToString(), "products", 1, sizes) for one in (plain, network))
    x = random.standard_normal((3, 10, 640)).astype(np.float32)
    x[0] *= 1000
    x[1, ::2] *= np.float32(1e-3)
    x[2, 4] = 0
    found = session.run({"x": x})
    read = {"Identity": x, "Gelu": np.maximum(x, 0)}[before]
    for rounded, true, table in zip(found, exact.run({"x": x}), tables, strict=True):
        size = np.maximum(np.linalg.norm(read, axis=-1, keepdims=True), 0.2) * np.linalg.norm(table, axis=0)
        assert (np.abs(rounded - true) <= 0.02 * size).all()
        assert np.abs(rounded - true).max() > 0
        assert not rounded[2, 4].any()
    for row in range(10):
        alone = session.run({"x": x[1:2, row : row + 1]})
        assert all((one[0, 0] == every[1, row]).all() for one, every in zip(alone, found, strict=True))


@pytest.mark.parametrize("dilations", [(1,), (1, 2), (1, 2, 4)])  # over characters; the first of three is in float
def test_a_segmenter_network_reads_several_texts_as_it_reads_each_alone(dilations: tuple[int, ...]) -> None:
    torch.manual_seed(1)
    network = SegmenterNetwork(NetworkOptions(character_dilations=dilations), 40, 10).eval()
    random = np.random.default_rng(1)

    def inputs(chunks: int) -> dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]]:
        lengths = random.integers(1, 9, chunks)
        stops = np.cumsum(lengths)
        return {
            "characters": random.integers(0, 40, stops[-1]),
            "chunks": np.repeat(np.arange(chunks), lengths),
            "words": random.integers(0, 10, chunks),
            "first": stops - lengths,
            "last": stops - 1,
        }

    plain = graphs.rounded(whole_convolutions(as_onnx(network), "characters"))
    texts = [inputs(count) for count in (1, 2, 40, 7, 200, 1, 90)]
    several = several_texts(plain, texts, 32)
    assert several_texts(several, texts, 32) is several
    kinds = [node.op_type for node in several.graph.node]
    assert "Conv" not in kinds
    assert kinds.count("MatMulIntegerToFloat") == 4 + (len(dilations) if len(dilations) < 3 else 2)
    before, session = (Session(one.SerializeToString(), "it", 1, network_sizes(32)) for one in (plain, several))
    near = neighbours_of(session.input_widths())
    assert {one.name for one in near} >= {"characters.near1", "chunks.near8"}
    alone = [session.run(with_neighbours(text, near))[0] for text in texts]
    for text, scores in zip(texts, alone, strict=True):
        usual = before.run(text)[0]
        assert np.abs(scores - usual).mean() < 0.1 * usual.std() + 0.01
    chunks = np.cumsum([0, *(len(text["words"]) for text in texts)])
    characters = np.cumsum([0, *(len(text["characters"]) for text in texts)])
    moved = {"chunks": chunks, "first": characters, "last": characters}
    joined = {
        name: np.concatenate(
            [text[name] + moved[name][i] if name in moved else text[name] for i, text in enumerate(texts)]
        )
        for name in texts[0]
    }
    assert np.array_equal(session.run(with_neighbours(joined, near, chunks))[0], np.concatenate(alone))


@pytest.mark.parametrize("dilations", [(1,), (1, 2)])
def test_convolutions_over_characters_are_computed_in_whole_numbers(dilations: tuple[int, ...]) -> None:
    """No text leaves the range of 7 bits, which is used well, and what is read stays nearly the same."""
    torch.manual_seed(1)
    options = NetworkOptions(character_dilations=dilations, character_hidden=24)
    network = SegmenterNetwork(options, 40, 10).eval()
    plain = as_onnx(network)
    whole = whole_convolutions(plain, "characters")
    kinds = [node.op_type for node in whole.graph.node]
    assert kinds.count("MatMulIntegerToFloat") == len(dilations)
    assert kinds.count("Conv") == len(options.chunk_dilations)  # those over chunks
    random = np.random.default_rng(1)
    given = {"characters": random.integers(0, 40, 600), "chunks": np.repeat(np.arange(150), 4)}
    given |= {"words": random.integers(0, 10, 150), "first": np.arange(0, 600, 4), "last": np.arange(3, 600, 4)}
    if len(dilations) > 1:
        inner = helper.make_tensor_value_info("characters.1", TensorProto.UINT8, ["n", 24])
        whole.graph.output.append(inner)
    before = Session(plain.SerializeToString(), "plain", 1, network_sizes(32)).run(given)[0]
    found, *inside = Session(graphs.rounded(whole).SerializeToString(), "whole", 1, network_sizes(32)).run(given)
    for values in inside:
        assert 127 >= values.max() > 20
    assert 0 < np.abs(found - before).mean() < 0.05 * before.std()
    assert whole_convolutions(plain, "words") is plain  # these go through none
    assert whole_convolutions(plain, "chunks") is plain
    deep = as_onnx(SegmenterNetwork(replace(options, character_dilations=(1, 1, 1)), 40, 10).eval())
    assert whole_convolutions(deep, "characters") is deep


def test_an_export_that_says_something_else_is_not_kept(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(home / "trained", tmp_path / "trained")

    def networks(_: object) -> dict[str, ModelProto]:
        found = networks_of(home)
        weights = next(one for one in found[ENCODER].graph.initializer if len(one.dims) == 3)
        array = numpy_helper.to_array(weights)
        weights.CopyFrom(numpy_helper.from_array(array[:, ::-1].copy(), weights.name))  # gates in another order
        return found

    monkeypatch.setattr("ropewalk.training.export.networks", networks)
    with pytest.raises(ModelError, match="would not predict the same as the trained model"):
        export(tmp_path / "trained", tmp_path / "out")
    assert [file.name for file in tmp_path.iterdir()] == ["trained"]


def test_only_an_earlier_export_is_replaced(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.training.export.networks", lambda _: networks_of(home))
    first = export(home / "trained", tmp_path / "out")
    assert export(home / "trained", tmp_path / "out").hash == first.hash == load(home / "exported").hash
    assert (tmp_path / "out" / "README.md").read_text(encoding="utf-8") == "# A card\n"
    shutil.copytree(home / "trained", tmp_path / "trained")
    with pytest.raises(ModelError, match="no earlier export"):
        export(home / "trained", tmp_path / "trained")
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(ModelError, match="no earlier export"):
        export(home / "trained", tmp_path / "file")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    "file", ["config.json", "labels.json", "words.onnx", "encoder.onnx", "heads.onnx", "pairs.onnx"]
)
def test_a_damaged_folder_is_named(tmp_path: Path, exported: Path, file: str) -> None:
    for damage in ("missing", "cut", "changed"):
        home = tmp_path / damage
        shutil.copytree(exported, home)
        raw = (home / file).read_bytes()
        if damage == "missing":
            (home / file).unlink()
        elif damage == "cut":
            (home / file).write_bytes(raw[: len(raw) // 2])
        else:
            place = raw.index(b"depth") + 1 if file == "config.json" else len(raw) // 2
            (home / file).write_bytes(raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :])
        with pytest.raises(ModelError) as caught:
            load(home)
        assert caught.value.file == str(home / file)


def test_what_is_no_exported_model_is_refused(tmp_path: Path, home: Path) -> None:
    with pytest.raises(ModelError, match="is no folder"):
        load(tmp_path / "nowhere")
    with pytest.raises(ModelError, match=r"config\.json: is missing"):
        load(tmp_path)
    with pytest.raises(ModelError, match="is that of a model as training writes it"):
        load(home / "trained")
    place = tmp_path / "later"
    shutil.copytree(home / "exported", place)
    table = json.loads((place / "config.json").read_text(encoding="utf-8"))
    (place / "config.json").write_text(json.dumps(table | {"weights": "other"}), encoding="utf-8")
    with pytest.raises(ModelError, match="changed after the export"):
        load(place)
    (place / "heads.onnx").write_bytes(b"nothing of the kind")
    storage.seal(place, table)
    with pytest.raises(ModelError, match=r"heads\.onnx: is no network"):
        load(place)


def test_parsing_loads_no_torch(exported: Path, tmp_path: Path) -> None:
    write_bank(tmp_path / "in.conllu", BANK)
    program = (
        "import sys; from ropewalk import conllu; from ropewalk.loading import load_model; "
        f"bank = conllu.read({str(tmp_path / 'in.conllu')!r}); "
        f"sys.stdout.buffer.write(conllu.dumps(load_model({str(exported)!r}).parse(bank))); "
        "assert not {'torch', 'transformers', 'onnx', 'tokenizers'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.stderr == b""
    assert done.stdout == as_text(load(exported).parse(BANK))


def test_features_are_those_of_the_vocabulary() -> None:
    forms = ["Kalomi", "KA-7", "ß", "naïve", "a" * 50, "x", "ka"]
    whole = Vocabulary.of([*forms, "ka", "ka"], 1, ["ka", "Kalomi"])
    found = Lookup(whole).features(forms)
    for row, form in enumerate(forms):
        known = ["", *whole.affixes]  # affixes longer than the word are not in the vocabulary
        expected = [part if len(part) == len("1<") + int(part[0]) else "" for part in affixes(form)]
        assert [known[number] for number in found["affixes"][row]] == expected
        assert whole.shapes[found["shapes"][row] - 1] == shape(form)
        assert whole.words[found["words"][row] - 1] == form.lower()
        spelled = [whole.characters[number - 1] for number in found["characters"][row] if number >= 0]
        assert "".join(spelled) == cut(form)
    assert found["vectors"].tolist() == [2, 0, 0, 0, 0, 0, 1]
    strange = Lookup(whole).features(["Ωψ9"])
    assert not any(strange[name].any() for name in ("words", "vectors", "affixes"))
    assert strange["characters"][0, :4].tolist() == [0, 0, 0, -1]


def test_an_unknown_mark_is_read_as_a_known_one_that_it_stands_for() -> None:
    lookup = Lookup(Vocabulary.of(["a", '"', ",", "..."], 1))
    found = lookup.features(["\u201e", '"', "\u2014", ",", "\u2026", "...", "«x»"])
    for name, rows in found.items():
        assert (rows[0] == rows[1]).all(), name  # a quotation mark
        assert (rows[2] == rows[3]).all(), name  # there is no dash at all, so a dash is read as a comma
        assert (rows[4] == rows[5]).all(), name
    assert not found["words"][6]
    both = Lookup(Vocabulary.of(["\u201e", '"'], 1)).features(["\u201e", '"'])
    assert both["words"][0] != both["words"][1]


@pytest.mark.parametrize("word", ["Xx", "1,000", "…", "ABCdef", "日本", "ᾼ", "²"])
def test_shapes_are_what_characters_are(word: str) -> None:
    kinds = {(True, False): "X", (False, True): "x"}
    expected = [
        kinds.get((one.isupper(), one.islower()), "a" if one.isalpha() else "d" if one.isnumeric() else one)
        for one in word
    ]
    runs = [kind for place, kind in enumerate(expected) if expected[max(place - 2, 0) : place] != [kind, kind]]
    assert shape(word) == "".join(runs)[:8]
