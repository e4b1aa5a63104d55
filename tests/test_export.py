"""Models without torch: what is exported says what the trained model says, whatever else is parsed with it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnx")

import torch
from onnx import TensorProto
from typer.testing import CliRunner

from ropewalk import conllu
from ropewalk.cli import app
from ropewalk.errors import ModelError, UnknownNameError
from ropewalk.models.features import Lookup, Vocabulary, affixes, cut, shape
from ropewalk.models.onnx import Runtime, bilstm, folder, model
from ropewalk.models.onnx.session import Session
from ropewalk.scoring.attachment import score
from ropewalk.training import export as exporting
from ropewalk.training import onnx_graphs as graphs
from ropewalk.training.data import label_set
from ropewalk.training.export import export
from ropewalk.training.tagger import Tagger
from ropewalk.treebank import Treebank
from ropewalk.trees import check
from training_tools import bank_of, config_of, tiny_encoder, write_bank

if TYPE_CHECKING:
    from pathlib import Path

    from onnx import ModelProto

BANK = bank_of(40, longest=20, seed=3)
OPTIONS: dict[str, dict[str, Any]] = {
    "optimal": {"encoding": "optimal", "tags": ["upos", "feats"]},
    "word": {"encoding": "optimal+head", "relations": "word", "tags": ["xpos"]},
    "hexatags": {"encoding": "hexatags", "narrow": 24},
    "seven-bit": {"encoding": "seven-bit", "auxiliary": ["four-bit"]},
    "pos-offset": {"encoding": "pos-offset", "tags": ["upos"]},
    "absolute": {"encoding": "absolute"},
    "joint": {"encoding": "optimal", "arc_weight": 1.0},
    "biaffine": {"parser": "biaffine", "tags": ["upos"]},
}


def trained(
    home: Path,
    encoder: Path | None = None,
    *,
    vectors: bool = False,
    narrow: int = 0,
    **options: Any,  # noqa: ANN401 - options of several types
) -> Tagger:
    """Make a model whose weights are all at random, so that each of them matters."""
    home.mkdir(parents=True, exist_ok=True)
    config = config_of(write_bank(home / "bank.conllu", BANK), encoder, epochs=1, **options)
    sizes = replace(config.model.encoder, input_size=narrow)
    config = replace(config, model=replace(config.model, encoder=sizes))
    labels, _ = label_set(config, BANK)
    table = None
    if vectors and labels.vocabulary is not None:
        words = tuple(sorted(set(BANK.column("form").texts()[::3])))
        table = np.random.default_rng(5).standard_normal((len(words), 24)).astype(np.float32)
        whole = labels.vocabulary
        known = Vocabulary(whole.words[::2], whole.affixes[::2], whole.shapes, whole.characters[1:], words)
        labels = type(labels)(labels.encodings, labels.columns, labels.relations, labels.tags, known)
    tagger = Tagger.create(config, labels, table)
    torch.manual_seed(7)
    with torch.no_grad():
        for name, weights in tagger.network.named_parameters():
            if not name.startswith("encoder.model"):
                weights.add_(0.2 * torch.randn_like(weights))
    tagger.save_pretrained(home / "trained", card="# A card\n")
    return tagger


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported `bilstm` with tags, for tests that only read it."""
    home = tmp_path_factory.mktemp("exported")
    trained(home, vectors=True, tags=["upos"], encoding="optimal+head")
    export(home / "trained", home / "out")
    return home / "out"


def as_text(bank: Treebank) -> bytes:
    return conllu.dumps(bank)


@pytest.mark.parametrize("name", OPTIONS)
def test_what_is_exported_parses_as_the_trained_model_does(tmp_path: Path, name: str) -> None:
    tagger = trained(tmp_path, vectors=name == "optimal", **OPTIONS[name])
    report = export(tmp_path / "trained", tmp_path / "out")
    runtime = Runtime.load(tmp_path / "out")
    if name == "joint":
        runtime, tagger = runtime.with_decoding(decoder="joint"), tagger.with_decoding(decoder="joint")
    assert 0 < report.difference < 1e-4
    assert report.same_heads > 0.995
    assert as_text(runtime.parse(BANK)) == as_text(tagger.parse(BANK))
    assert runtime.tells_confidence == tagger.tells_confidence
    if runtime.tells_confidence:
        sure = [one.with_decoding(confidence=True).parse(BANK) for one in (runtime, tagger)]
        values = [[float(text.rpartition("=")[2]) for text in one.column("misc").texts()] for one in sure]
        assert np.allclose(values[0], values[1], atol=2e-4)
        assert min(values[0]) < 0.9


@pytest.mark.parametrize(("kind", "pooling"), [("bert", "mean"), ("xlm-roberta", "last"), ("xlnet", "first")])
def test_transformers_need_only_their_tokenizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, pooling: str
) -> None:
    plain = graphs.save

    def save(network: ModelProto, path: Path) -> None:
        large = kind == "xlm-roberta" and path.name == folder.ENCODER  # as if it were beyond what one file holds
        monkeypatch.setattr(graphs, "LARGEST", 0 if large else 1 << 30)
        plain(network, path)

    monkeypatch.setattr(graphs, "save", save)
    tagger = trained(tmp_path, tiny_encoder(tmp_path / "encoder", kind), pooling=pooling, tags=["upos"])
    assert (tagger.encoder.casing is not None) == (kind == "bert")
    export(tmp_path / "trained", tmp_path / "out")
    assert (tmp_path / "out" / "encoder.onnx.data").is_file() == (kind == "xlm-roberta")
    runtime = Runtime.load(tmp_path / "out", threads=1)
    long = bank_of(3, longest=150, seed=9)  # beyond a window
    both = Treebank.concat([BANK, long])
    parsed = runtime.parse(both)
    assert as_text(parsed) == as_text(tagger.parse(both))
    assert as_text(runtime.with_decoding(batch=1).parse(both)) == as_text(parsed)
    assert str(tmp_path).encode() not in b"".join(file.read_bytes() for file in (tmp_path / "out").iterdir())
    if kind == "bert":
        rounded = graphs.rounded(exporting.networks(tagger)[folder.ENCODER])
        kinds = {one.data_type for one in rounded.graph.initializer if np.prod(one.dims) >= graphs.LEAST}
        assert kinds == {TensorProto.INT8}


def test_neighbours_order_and_batches_change_nothing(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = Runtime.load(exported, threads=1)
    bank = Treebank.concat([BANK, bank_of(6, longest=70, seed=11)])
    whole = scores_of(runtime, bank)
    alone = [scores_of(Runtime.load(exported, threads=1), bank.select([one])) for one in range(0, len(bank), 5)]
    for number, found in zip(range(0, len(bank), 5), alone, strict=True):
        where = slice(int(bank.offsets[number]), int(bank.offsets[number + 1]))
        assert all(np.array_equal(a, b[where]) for a, b in zip(found, whole, strict=True))
    assert as_text(runtime.with_decoding(batch=1).parse(bank)) == as_text(runtime.parse(bank))
    order = np.random.default_rng(2).permutation(len(bank))
    assert as_text(runtime.parse(bank.select(order))) == as_text(runtime.parse(bank).select(order))
    parsed = as_text(runtime.parse(bank))
    monkeypatch.setattr(model, "PIECE", 30)
    assert len(list(runtime.answers(bank))) > 5
    assert as_text(runtime.parse(bank)) == parsed
    for rows in (1, 3, 64):
        monkeypatch.setattr(bilstm, "MOST_ROWS", rows)
        again = scores_of(runtime, bank)
        assert all(np.array_equal(a, b) for a, b in zip(again, whole, strict=True))


def scores_of(runtime: Runtime, bank: Treebank) -> list[Any]:
    pieces = list(runtime.answers(bank))
    heads = np.split(bank.heads, np.cumsum([len(one.labels()[0]) for _, one in pieces])[:-1])
    columns = [
        [*one.labels(), *one.tags(), one.relations(given)] for (_, one), given in zip(pieces, heads, strict=True)
    ]
    return [np.concatenate(column) for column in zip(*columns, strict=True)]


def test_words_beyond_what_is_remembered_are_computed_again(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = Runtime.load(exported)
    whole = as_text(runtime.parse(BANK))
    monkeypatch.setattr(bilstm, "MOST_TYPES", 50)
    monkeypatch.setattr(model, "PIECE", 40)
    again = Runtime.load(exported)
    assert as_text(again.parse(BANK)) == whole
    assert as_text(again.parse(BANK)) == whole
    assert len(again._encoder._known) <= 70  # type: ignore[attr-defined] # what its encoder remembers


def test_a_very_long_sentence_is_one_tree(exported: Path) -> None:
    forms = BANK.column("form").texts()
    words = 5000
    lines = [f"{n + 1}\t{forms[n % len(forms)]}\t" + "\t".join("_" * 8) for n in range(words)]
    bank = conllu.loads("\n".join([*lines, "", ""]).encode())
    parsed = Runtime.load(exported).parse(bank)
    found = check(parsed.heads, parsed.offsets)
    assert (parsed.words, found.codes.tolist(), found.roots.tolist()) == (words, [0], [1])


def test_nothing_to_parse_comes_back(exported: Path) -> None:
    empty = Treebank.of([])
    assert Runtime.load(exported).parse(empty) is empty


def test_eight_bits_are_close_and_small(tmp_path: Path) -> None:
    trained(tmp_path, vectors=True, tags=["upos"])
    plain = export(tmp_path / "trained", tmp_path / "plain")
    small = export(tmp_path / "trained", tmp_path / "small", weights="int8", name="tiny")
    assert small.bytes < 0.4 * plain.bytes
    assert 0 < small.rounding < 0.02
    assert small.hash != plain.hash
    runtime = Runtime.load(tmp_path / "small")
    assert (runtime.name, runtime.hash, runtime.path) == ("tiny", small.hash, tmp_path / "small")
    pairs = zip(scores_of(runtime, BANK), scores_of(Runtime.load(tmp_path / "plain"), BANK), strict=True)
    assert all(float(np.abs(np.exp(a) - np.exp(b)).max()) < 0.1 for a, b in pairs)
    with pytest.raises(UnknownNameError, match="int4"):
        export(tmp_path / "trained", tmp_path / "none", weights="int4")


def test_tables_of_eight_bits_are_unpacked_whether_large_or_small(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(1).standard_normal((50, 40)).astype(np.float32)
    table[7] = 0
    graph = graphs.Graph()
    graph.output("rows", graph.op("Gather", graph.constant(table), graph.input("n", TensorProto.INT64, "n")), "n", 40)
    plain = graph.model()
    steps = np.abs(table).max(axis=1) / graphs.STEPS
    for small in (0, 1 << 20):
        monkeypatch.setattr(graphs, "SMALL", small)
        session = Session(graphs.rounded(plain).SerializeToString(), "rows", 1)
        rows = session.run({"n": np.arange(50)})[0]
        assert (np.abs(rows - table) <= 0.5001 * steps[:, None]).all()
        assert np.abs(rows - table).max() > 0


def test_an_export_that_says_something_else_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained(tmp_path)
    monkeypatch.setattr(graphs, "_gates", lambda weights: weights)  # torch's order instead of ONNX's
    with pytest.raises(ModelError, match="would not say what the model says"):
        export(tmp_path / "trained", tmp_path / "out")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bank.conllu", "trained"]


def test_only_an_earlier_export_is_replaced(tmp_path: Path) -> None:
    trained(tmp_path)
    first = export(tmp_path / "trained", tmp_path / "out")
    assert export(tmp_path / "trained", tmp_path / "out").hash == first.hash
    assert (tmp_path / "out" / "README.md").read_text(encoding="utf-8") == "# A card\n"
    with pytest.raises(ModelError, match="no earlier export"):
        export(tmp_path / "trained", tmp_path / "trained")
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(ModelError, match="no earlier export"):
        export(tmp_path / "trained", tmp_path / "file")
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
            Runtime.load(home)
        assert caught.value.file == str(home / file)


def test_what_is_no_exported_model_is_refused(tmp_path: Path, exported: Path) -> None:
    with pytest.raises(ModelError, match="is no folder"):
        Runtime.load(tmp_path / "nowhere")
    with pytest.raises(ModelError, match=r"config\.json: is missing"):
        Runtime.load(tmp_path)
    trained(tmp_path / "other")
    with pytest.raises(ModelError, match="ropewalk-runtime"):
        Runtime.load(tmp_path / "other" / "trained")
    home = tmp_path / "later"
    shutil.copytree(exported, home)
    table = json.loads((home / "config.json").read_text(encoding="utf-8"))
    (home / "config.json").write_text(json.dumps(table | {"version": 99}), encoding="utf-8")
    with pytest.raises(ModelError, match="version 99"):
        Runtime.load(home)
    (home / "config.json").write_text(json.dumps(table | {"weights": "other"}), encoding="utf-8")
    with pytest.raises(ModelError, match="changed after the export"):
        Runtime.load(home)
    (home / "heads.onnx").write_bytes(b"nothing of the kind")
    folder.seal(home, table)
    with pytest.raises(ModelError, match=r"heads\.onnx: is no network"):
        Runtime.load(home)


def test_parsing_loads_no_torch(exported: Path, tmp_path: Path) -> None:
    write_bank(tmp_path / "in.conllu", BANK)
    program = (
        "import sys; from ropewalk import conllu; from ropewalk.models.onnx import Runtime; "
        f"bank = conllu.read({str(tmp_path / 'in.conllu')!r}); "
        f"sys.stdout.buffer.write(conllu.dumps(Runtime.load({str(exported)!r}).parse(bank))); "
        "assert not {'torch', 'transformers', 'onnx', 'tokenizers'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.stderr == b""
    assert done.stdout == as_text(Runtime.load(exported).parse(BANK))


def test_the_command_tells_what_it_made(tmp_path: Path) -> None:
    trained(tmp_path)
    given = ["export", str(tmp_path / "trained"), str(tmp_path / "out"), "--weights", "int8", "--name", "tiny"]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 0, done.output
    runtime = Runtime.load(tmp_path / "out")
    assert f"tiny {runtime.hash}" in done.stderr
    assert "of the heads stay the same" in done.stderr


def test_an_export_knows_how_well_it_does(tmp_path: Path) -> None:
    trained(tmp_path)
    test = tmp_path / "test.conllu"
    test.write_bytes(as_text(BANK))
    plain = export(tmp_path / "trained", tmp_path / "plain")
    given = ["export", str(tmp_path / "trained"), str(tmp_path / "out"), "--test", str(test)]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 0, done.output
    runtime = Runtime.load(tmp_path / "out")
    assert runtime.hash == plain.hash
    found = score(BANK, runtime.parse(BANK))
    told = f"UAS {100 * found.uas:.2f}, LAS {100 * found.las:.2f} over words"
    assert told in done.stderr
    assert f"on the words of `test.conllu`: {told}" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    scores = json.loads((tmp_path / "out" / "config.json").read_text(encoding="utf-8"))["scores"]["test"]
    assert (scores["uas"], scores["las"]) == pytest.approx((found.uas, found.las))


def test_features_are_those_of_the_vocabulary() -> None:
    forms = ["Kalomi", "KA-7", "ß", "naïve", "a" * 50, "x", "ka"]
    whole = Vocabulary.of([*forms, "ka", "ka"], 1, ["ka", "Kalomi"])
    found = Lookup(whole).features(forms)
    for row, form in enumerate(forms):
        known = whole.affixes
        assert [known[number - 1] for number in found["affixes"][row]] == list(affixes(form))
        assert whole.shapes[found["shapes"][row] - 1] == shape(form)
        assert whole.words[found["words"][row] - 1] == form.lower()
        spelled = [whole.characters[number - 1] for number in found["characters"][row] if number >= 0]
        assert "".join(spelled) == cut(form)
    assert found["vectors"].tolist() == [2, 0, 0, 0, 0, 0, 1]
    strange = Lookup(whole).features(["Ωψ9"])
    assert not any(strange[name].any() for name in ("words", "vectors", "affixes"))
    assert strange["characters"][0, :4].tolist() == [0, 0, 0, -1]


@pytest.mark.parametrize("word", ["Xx", "1,000", "…", "ABCdef", "日本", "ᾼ", "²"])
def test_shapes_are_what_characters_are(word: str) -> None:
    kinds = {(True, False): "X", (False, True): "x"}
    expected = [
        kinds.get((one.isupper(), one.islower()), "a" if one.isalpha() else "d" if one.isnumeric() else one)
        for one in word
    ]
    runs = [kind for place, kind in enumerate(expected) if expected[max(place - 2, 0) : place] != [kind, kind]]
    assert shape(word) == "".join(runs)[:8]
