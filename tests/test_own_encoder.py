"""The worked example of an encoder of one's own: trained, loaded, exported and run through its entry point."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import numpy as np
import pytest

from docs_tools import install_example
from ropewalk import conllu
from ropewalk.errors import ConfigError, ModelError, UnknownNameError
from ropewalk.loading import load_model
from ropewalk.models.storage import open_folder, seal
from ropewalk.options import to_mapping
from ropewalk.scoring.attachment import score
from ropewalk.training.config import from_mapping
from ropewalk.training.encoders import OwnEncoder
from ropewalk.training.export import export
from ropewalk.training.trainable import load
from ropewalk.training.training_run import train
from training_tools import bank_of, config_of, restored, write_bank

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ropewalk.training.config import Config


@pytest.fixture
def announced(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the package of the page as pip would: its module, and the metadata that name its entry point."""
    site = tmp_path_factory.mktemp("site-packages")
    install_example("docs/own-encoder.md", site)
    monkeypatch.syspath_prepend(str(site))
    yield site
    sys.modules.pop("my_package", None)


def config(data: Path, **encoder: Any) -> Config:  # noqa: ANN401 - options of several types
    table = to_mapping(config_of(data, epochs=12, encoding="optimal"))
    table["model"]["encoder"] = {}  # those of a `bilstm` are refused
    table["model"]["encoder"] |= {"kind": "letters", **encoder}
    return from_mapping(table)


@pytest.mark.usefixtures("announced")
def test_the_worked_example_learns_and_comes_back(tmp_path: Path) -> None:
    data = write_bank(tmp_path / "data.conllu", restored(bank_of(60), "optimal", 20))
    outcome = train(config(data, settings=["size=48", "buckets=512"]), tmp_path / "model")
    history = outcome.state.history
    assert history[-1]["loss"] < history[0]["loss"] / 2
    gold = conllu.read(data)
    model = load(tmp_path / "model")
    assert model.description.encoder.kind == "letters"
    reached = history[outcome.state.best_epoch - 1]["las"]
    assert reached > 0.5
    assert score(gold, model.parse(gold)).las == pytest.approx(reached)


def test_an_encoder_that_only_torch_computes_is_not_exported() -> None:
    class Plain(OwnEncoder):
        prepare = canonical = collate = forward = Mock()

    with pytest.raises(ModelError, match=r"Plain: is no encoder that can be exported; derive it from .*WordReader"):
        Plain("plain", {}).networks()


@pytest.mark.usefixtures("announced")
def test_an_unknown_kind_and_a_bad_setting_are_refused(tmp_path: Path) -> None:
    data = write_bank(tmp_path / "data.conllu", restored(bank_of(30), "optimal", 10))
    with pytest.raises(UnknownNameError, match="kind of encoder 'lettres'; did you mean 'letters'"):
        train(config(data, kind="lettres"), tmp_path / "a")
    with pytest.raises(ConfigError, match="holds 'size'; expected name=value"):
        train(config(data, settings=["size"]), tmp_path / "b")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Train the example for a few steps and export it: the data, the trained model and the exported one."""
    home, site = tmp_path_factory.mktemp("models"), tmp_path_factory.mktemp("site-packages")
    install_example("docs/own-encoder.md", site)
    data = write_bank(home / "data.conllu", restored(bank_of(30), "optimal", 20))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        train(config(data, settings=["size=16", "buckets=512"]), home / "trained")
        export(home / "trained", home / "exported")
        sys.modules.pop("my_package")
    return data, home / "trained", home / "exported"


@pytest.mark.usefixtures("announced")
def test_the_worked_example_is_exported_and_parses_the_same(exported: tuple[Path, Path, Path]) -> None:
    data, trained, out = exported
    gold = conllu.read(data)
    right, found = load(trained).parse(gold), load_model(out).parse(gold)
    assert found.heads.tolist() == right.heads.tolist()
    assert found.relations.texts() == right.relations.texts()


@pytest.mark.usefixtures("announced")
def test_an_exported_one_reads_long_sentences_in_parts(
    exported: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The example looks at no neighbours, so that parts of a sentence make what the whole makes."""
    from my_package import Letters  # type: ignore[import-not-found]

    forms = conllu.read(exported[0]).column("form")
    offsets = np.array([0, 5, len(forms)], dtype=np.int32)
    whole = load_model(exported[2]).scorer.encoder.vectors(forms, offsets, 4096)
    monkeypatch.setattr(Letters, "window", 32)
    parts = load_model(exported[2]).scorer.encoder.vectors(forms, offsets, 4096)
    assert whole.any(axis=1).all()
    np.testing.assert_allclose(parts, whole, atol=1e-6)


def test_an_exported_one_runs_without_torch(exported: tuple[Path, Path, Path], announced: Path) -> None:
    program = (
        "import sys; sys.modules['torch'] = None; from ropewalk import conllu; "
        "from ropewalk.loading import load_model; "
        f"sys.stdout.buffer.write(conllu.dumps(load_model({str(exported[2])!r}).parse(conllu.read({str(exported[0])!r}))))"
    )
    path = os.pathsep.join([str(announced), *filter(None, sys.path)])
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=environment)
    gold = conllu.read(exported[0])
    assert conllu.loads(done.stdout).heads.tolist() == load_model(exported[2]).parse(gold).heads.tolist()


def test_without_its_package_an_exported_one_is_refused(exported: tuple[Path, Path, Path]) -> None:
    with pytest.raises(ModelError, match="encoder of the kind 'letters', which no installed package has; install"):
        load_model(exported[2])


@pytest.mark.usefixtures("announced")
@pytest.mark.parametrize("settings", [None, ["size=16"], {"size": 16}])
def test_damaged_settings_are_refused(exported: tuple[Path, Path, Path], tmp_path: Path, settings: object) -> None:
    home = tmp_path / "model"
    shutil.copytree(exported[2], home)
    seal(home, {**open_folder(home).table, "settings": settings})
    assert json.loads((home / "config.json").read_text(encoding="utf-8"))["settings"] == settings
    with pytest.raises(ModelError, match="it has no settings of its encoder"):
        load_model(home)
