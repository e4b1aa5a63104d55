"""The worked example of a tag column of one's own: learnt, exported, predicted and served through its entry point."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from docs_tools import install_example
from ropewalk import conllu
from ropewalk.errors import ConfigError, MismatchError, UnknownNameError
from ropewalk.loading import load_model
from ropewalk.models import tag_columns
from ropewalk.models.tag_columns import OWN, TagColumn
from ropewalk.options import to_mapping
from ropewalk.serving.udpipe import answer, request_of
from ropewalk.training.config import from_mapping
from ropewalk.training.export import export
from ropewalk.training.training_run import train
from ropewalk.treebank.documents import Document
from training_tools import bank_of, config_of, restored, write_bank

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ropewalk.training.config import Config


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the package of the page as pip would: its module, and the metadata that name its entry point."""
    site = tmp_path_factory.mktemp("site-packages")
    install_example("docs/own-tag-column.md", site)
    monkeypatch.syspath_prepend(str(site))
    tag_columns.known.cache_clear()
    yield site
    sys.modules.pop("names", None)
    tag_columns.known.cache_clear()


def config(data: Path, *tags: str) -> Config:
    table = to_mapping(config_of(data, epochs=12, encoding="optimal"))
    table["model"]["tags"] = list(tags)
    return from_mapping(table)


def data_with_names(path: Path) -> Path:
    """Write sentences where the word of each form has always the same name, or none, beside another attribute."""
    bank = restored(bank_of(60), "optimal", 20)
    misc = [
        "Name=B-PER|Seen=Yes" if sum(map(ord, form)) % 3 == 0 else "Seen=Yes" for form in bank.column("form").texts()
    ]
    return write_bank(path, bank.with_columns({"misc": misc}))


def test_the_worked_example_is_learnt_exported_and_served(site: Path, tmp_path: Path) -> None:
    assert list(tag_columns.known()) == [*OWN, "name"]
    data = data_with_names(tmp_path / "data.conllu")
    train(config(data, "upos", "name"), tmp_path / "model")
    assert "| NAME, over words |" in (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    export(tmp_path / "model", tmp_path / "exported")
    model = load_model(tmp_path / "exported")
    assert model.predicts == ("upos", "name", "tree")
    gold = conllu.read(data)
    plain = gold.with_columns({"misc": ["Seen=Yes"] * gold.words})
    parsed = model.parse(plain)
    names = tag_columns.get("name").values(parsed).texts()
    assert set(names) == {"O", "B-PER"}
    wanted = tag_columns.get("name").values(gold).texts()
    assert sum(a == b for a, b in zip(names, wanted, strict=True)) > 0.9 * gold.words
    assert set(parsed.column("misc").texts()) == {"Seen=Yes", "Seen=Yes|Name=B-PER"}
    assert "name" not in model.with_decoding(columns=("tree",)).parse(plain).columns
    sure = model.with_decoding(tag_confidence=True).parse(plain).probabilities
    assert sure is not None
    assert sure.tags.keys() == {"upos", "name"}
    asked = request_of({"data": "", "tagger": ""})
    served = answer(asked, "", Document(plain), Document(parsed))
    assert served.count("Name=B-PER") == names.count("B-PER")
    sys.modules.pop("names", None)
    for one in site.rglob("*.txt"):
        one.unlink()
    tag_columns.known.cache_clear()
    with pytest.raises(UnknownNameError, match="name"):
        load_model(tmp_path / "exported")


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    data = data_with_names(tmp_path / "data.conllu")
    with pytest.raises(ConfigError, match="'name'; expected some of: lemma, upos, xpos, feats"):
        train(config(data, "upos", "name"), tmp_path / "model")


def test_entry_points_of_another_kind_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "wrong-1.0.dist-info"
    home.mkdir()
    (home / "METADATA").write_text("Metadata-Version: 2.1\nName: wrong\nVersion: 1.0\n", encoding="utf-8")
    (home / "entry_points.txt").write_text(f"[{tag_columns.GROUP}]\nwrong = json:dumps\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    tag_columns.known.cache_clear()
    with pytest.raises(MismatchError, match=TagColumn.__name__):
        tag_columns.get("wrong")
    tag_columns.known.cache_clear()
