"""Models as people have them: folders of earlier versions, descriptions, pickles, and what is refused."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs
import pytest

import ropewalk
from ropewalk import conllu
from ropewalk.errors import ConfigError, MissingExtraError, ModelError
from ropewalk.loading import load_model
from ropewalk.models import catalogue, storage
from ropewalk.models import model as model_module
from ropewalk.models.description import EXPORTED, VERSION, Description, described
from ropewalk.models.storage import seal

if TYPE_CHECKING:
    from ropewalk.models.model import Model
    from ropewalk.treebank.treebank import Treebank

FIXTURES = Path(__file__).parent / "fixtures" / "version-1"
NEEDS_TORCH = pytest.mark.skipif(find_spec("torch") is None, reason="what training wrote needs torch")
FOLDERS = ("exported", "trained", "biaffine")
KINDS = [pytest.param(kind, marks=() if kind == "exported" else NEEDS_TORCH) for kind in FOLDERS]


def expected() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text(encoding="utf-8"))
    return found


def words() -> Treebank:
    blocks = [
        "".join(f"{n}\t{word}" + "\t_" * 8 + "\n" for n, word in enumerate(sentence, start=1)) + "\n"
        for sentence in expected()["sentences"]
    ]
    return conllu.loads("".join(blocks))


def loaded(path: Path) -> Model:
    model = load_model(path)
    return model.with_decoding(confidence=model.has_probabilities)


@pytest.mark.parametrize("kind", KINDS)
def test_models_of_version_1_give_the_trees_they_gave(kind: str) -> None:
    """The folders were written by release 0.1, and so was what they gave."""
    parsed = loaded(FIXTURES / kind).parse(words())
    given = expected()[kind]
    assert parsed.heads.tolist() == given["heads"]
    assert parsed.relations.texts() == given["relations"]
    assert parsed.column("upos").texts() == given["upos"]
    shares = [float(text.removeprefix("Confidence=")) for text in given["misc"] if text != "_"]
    if shares:
        assert parsed.probabilities is not None
        assert parsed.probabilities.arcs == pytest.approx(shares, abs=2e-4)
    else:
        assert parsed.probabilities is None


@pytest.mark.parametrize("kind", KINDS)
def test_any_column_may_be_a_tag(kind: str, tmp_path: Path) -> None:
    home = shutil.copytree(FIXTURES / kind, tmp_path / kind)
    text = (home / "labels.json").read_text(encoding="utf-8")
    (home / "labels.json").write_text(text.replace('"upos"', '"feats"'), encoding="utf-8")
    table = json.loads((home / "config.json").read_text(encoding="utf-8"))
    table["config"]["model"]["tags"] = ["feats"]
    if kind == "exported":
        seal(home, table)
    else:
        (home / "config.json").write_text(json.dumps(table), encoding="utf-8")
    parsed = loaded(home).parse(words())
    assert parsed.column("feats").texts() == expected()[kind]["upos"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_folder_works_by_name_too(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(catalogue.VARIABLE, str(FIXTURES))
    assert {one.name for one in catalogue.installed()} >= set(FOLDERS)
    (found,) = [one for one in catalogue.installed() if one.name == kind]
    assert (found.treebank, found.licence) == ("UD_Invented-Ropes", "Apache-2.0")
    document = ropewalk.load(kind).tokens(expected()["sentences"])
    assert [word.relation for word in document.words] == expected()[kind]["relations"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_later_version_is_refused_by_saying_so(kind: str, tmp_path: Path) -> None:
    home = shutil.copytree(FIXTURES / kind, tmp_path / kind)
    table = json.loads((home / "config.json").read_text(encoding="utf-8"))
    (home / "config.json").write_text(json.dumps(table | {"version": VERSION + 1}), encoding="utf-8")
    with pytest.raises(ModelError, match=rf"has version {VERSION + 1}; .*install a newer ropewalk"):
        load_model(home)


def test_names_that_a_version_does_not_know_mean_nothing_and_wrong_values_are_named() -> None:
    table = Description(name="a").to_json(EXPORTED)
    table["heads"]["later"] = 3
    assert described(table | {"unheard": {"of": 1}, "training": "nothing checks it"}, "config.json") == Description("a")
    table["decoding"]["depth"] = "deep"
    with pytest.raises(ModelError, match=r"config\.json: is damaged: .*decoding\.depth is 'deep'; expected a whole"):
        described(table, "config.json")


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_is_pickled_by_its_folder_and_options(kind: str) -> None:
    model = load_model(FIXTURES / kind).with_decoding(batch=7)
    raw = pickle.dumps(model)
    assert len(raw) < 1000
    again = pickle.loads(raw)  # noqa: S301 - our own
    assert (again.decoding, again.name, again.hash) == (model.decoding, model.name, model.hash)
    assert conllu.dumps(again.parse(words())) == conllu.dumps(model.parse(words()))


def parsed_by(model: Model) -> bytes:
    return conllu.dumps(model.parse(words()))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_model_goes_to_other_processes(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    model = load_model(FIXTURES / "exported")
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(parsed_by, (model,)) == parsed_by(model)


def test_unknown_options_of_a_model_are_named() -> None:
    model = load_model(FIXTURES / "exported")
    with pytest.raises(ConfigError, match=r"bach is unknown; did you mean batch\?"):
        model.with_decoding(bach=3)
    with pytest.raises(ConfigError, match="depth is 99; expected from 1 to 14"):
        model.with_decoding(depth=99)
    with pytest.raises(ConfigError, match="batch is 0; expected at least 1"):
        ropewalk.load(FIXTURES / "exported", ropewalk.ParserOptions(batch=0))


def test_a_trained_model_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.loading.find_spec", lambda name: None if name == "torch" else object())
    with pytest.raises(MissingExtraError, match=r"need torch, .*pip install .*'\.\[train\]'"):
        load_model(FIXTURES / "trained")
    assert load_model(FIXTURES / "exported").name == "tiny"


def test_an_exported_model_from_the_hub_needs_no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.loading.find_spec", lambda name: None if name == "torch" else object())
    monkeypatch.setattr("ropewalk.training.hub.download", lambda name: FIXTURES / name.partition("/")[2])
    model = load_model("hub:somebody/exported")
    assert model.parse(words()).heads.tolist() == expected()["exported"]["heads"]
    with pytest.raises(
        MissingExtraError, match=r"hub:somebody/trained and other models that were trained .* need torch"
    ):
        load_model("hub:somebody/trained")
    monkeypatch.setattr("ropewalk.loading.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="need huggingface_hub"):
        load_model("hub:somebody/exported")


def test_loading_reads_each_file_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    plain = storage.read_content

    def counted(path: Path) -> bytes:
        read.append(path.name)
        return plain(path)

    monkeypatch.setattr(storage, "read_content", counted)
    ropewalk.load("en")
    assert sorted(read) == sorted({*read})
    assert {"config.json", "labels.json", "words.onnx", "segmenter.json", "segmenter.onnx"} <= {*read}


@pytest.mark.parametrize(
    ("home", "data"), [("/home/a", None), ("/home/a", ""), ("/home/a", "/data"), ("/home/a", "data"), ("", None)]
)
def test_the_folder_of_own_models_is_the_one_that_platformdirs_names(
    home: str, data: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(catalogue.VARIABLE, raising=False)
    monkeypatch.setenv("HOME", home)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    if data is not None:
        monkeypatch.setenv("XDG_DATA_HOME", data)
    assert catalogue.own_folder() == platformdirs.user_data_path("ropewalk", appauthor=False) / "models"


def test_loading_builds_the_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    models: list[Model] = []
    build = model_module.Model.__init__

    def building(model: Model, *parts: Any, **about: Any) -> None:  # noqa: ANN401 - those of `Model`
        models.append(model)
        build(model, *parts, **about)

    monkeypatch.setattr(model_module.Model, "__init__", building)
    parser = ropewalk.load("en", decoder="greedy", columns=["tree"])
    assert len(models) == 1
    again = pickle.loads(pickle.dumps(models[0]))  # noqa: S301 - pickled here
    assert models[1:] == [again]
    assert again.decoding == models[0].decoding
    assert parser("It rains.")[0].heads == (2, 0, 2)
