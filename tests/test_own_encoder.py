"""The worked example of an encoder of one's own: trained, saved, loaded and used through its entry point."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from docs_tools import install_example
from ropewalk import conllu
from ropewalk.errors import ConfigError, UnknownNameError
from ropewalk.options import to_mapping
from ropewalk.scoring.attachment import score
from ropewalk.training.config import from_mapping
from ropewalk.training.trainable import load
from ropewalk.training.training_run import train
from training_tools import bank_of, config_of, restored, write_bank

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ropewalk.training.config import Config


@pytest.fixture
def announced(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the package of the page as pip would: its module, and the metadata that name its entry point."""
    site = tmp_path_factory.mktemp("site-packages")
    install_example("docs/own-encoder.md", site)
    monkeypatch.syspath_prepend(str(site))
    yield
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


@pytest.mark.usefixtures("announced")
def test_an_unknown_kind_and_a_bad_setting_are_refused(tmp_path: Path) -> None:
    data = write_bank(tmp_path / "data.conllu", restored(bank_of(30), "optimal", 10))
    with pytest.raises(UnknownNameError, match="kind of encoder 'lettres'; did you mean 'letters'"):
        train(config(data, kind="lettres"), tmp_path / "a")
    with pytest.raises(ConfigError, match="holds 'size'; expected name=value"):
        train(config(data, settings=["size"]), tmp_path / "b")
