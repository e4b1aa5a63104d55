"""Configurations: files, changes, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ropewalk.errors import ConfigError
from ropewalk.models import options
from ropewalk.segmentation import config as segmentation_config
from ropewalk.training import config, experiment

CONFIGS = Path(__file__).parent.parent / "configs"
GRIDS = sorted(CONFIGS.glob("grid-*.toml"))
SEGMENTERS = sorted(CONFIGS.glob("*-segmenter.toml"))
READY = sorted({*CONFIGS.glob("*.toml")} - {*GRIDS} - {*SEGMENTERS})


@pytest.mark.parametrize("path", READY, ids=lambda path: path.name)
def test_the_ready_made_configurations_are_sound(path: Path) -> None:
    found = config.load(path)
    assert config.from_mapping(options.to_mapping(found)) == found
    assert found.data.train
    assert found.data.dev


@pytest.mark.parametrize("path", GRIDS, ids=lambda path: path.name)
def test_the_ready_made_grids_are_sound(path: Path) -> None:
    cells = experiment.cells(path)
    specs = {cell.config.model.encoding.partition("(")[0].partition("+")[0] for cell in cells}
    graphs = {cell.config.model.graph.encoding.partition("(")[0] for cell in cells} - {""}
    if graphs:
        assert {"optimal-nonprojective", "brackets", "biaffine"} <= graphs
    else:
        assert {"optimal", "four-bit" if "seeds" in path.name else "hexatags"} <= specs
        assert any(cell.config.model.parser == "biaffine" for cell in cells)
    assert all(cell.config.data.train and cell.config.data.dev and cell.config.data.test for cell in cells)
    for name in {cell.treebank for cell in cells}:
        assert len({cell.config.training.epochs for cell in cells if cell.treebank == name}) == 1, "the same budget"


@pytest.mark.parametrize("path", SEGMENTERS, ids=lambda path: path.name)
def test_the_ready_made_segmenters_are_sound(path: Path) -> None:
    found = segmentation_config.load(path)
    assert found.data.train
    assert found.data.dev


def test_changes_are_toml_or_text() -> None:
    table = options.changed(
        {"model": {"encoding": "optimal"}},
        ["model.encoding=four-bit", "training.epochs=3", "model.tags=['upos']", "model.encoder.name=a/b", "data.test="],
    )
    found = config.from_mapping(table)
    assert found.model.encoding == "four-bit"
    assert found.training.epochs == 3
    assert found.model.tags == ("upos",)
    assert found.model.encoder.name == "a/b"
    assert found.data.test == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("training.epoch=3", r"training\.epoch is unknown; did you mean epochs\?"),
        ("model.encodr.name=x", r"model\.encodr is unknown; did you mean encoder\?"),
        ("training.epochs=0", r"training\.epochs is 0; expected at least 1"),
        ("training.epochs=many", r"training\.epochs is 'many'; expected a whole number"),
        ("training.epochs=true", r"training\.epochs is True; expected a whole number"),
        ("model.dropout=2", r"model\.dropout is 2\.0; expected from 0 to 0\.9"),
        ("model.relations.from=words", r"model\.relations\.from is 'words'; did you mean word\?"),
        ("training=3", r"training is 3; expected a table"),
        ("epochs", r"is no change"),
        ("seed.x.y=3", r"seed\.x is|is a value|unknown"),
    ],
)
def test_what_is_wrong_is_named(change: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config.from_mapping(options.changed({"seed": 1}, [change]), "file.toml")


def test_a_file_that_is_not_toml(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[model\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="is not TOML"):
        config.load(file)


def grid_of(folder: Path, seeds: str) -> Path:
    (folder / "base.toml").write_text('seed = 7\n[data]\ntrain = "t"\ndev = "d"\n', encoding="utf-8")
    grid = folder / "grid.toml"
    rest = 'encodings = ["optimal", "biaffine"]\n[encoders.small]\nkind = "bilstm"\n[treebanks.Invented]\n'
    grid.write_text(f'config = "base.toml"\n{seeds}\n{rest}', encoding="utf-8")
    return grid


def test_a_grid_of_several_seeds_has_every_run_for_each(tmp_path: Path) -> None:
    cells = experiment.cells(grid_of(tmp_path, "seeds = [1, 2, 5]"))
    assert [(cell.place.as_posix(), cell.config.seed) for cell in cells] == [
        (f"Invented/small/{name}/seed-{seed}", seed) for seed in (1, 2, 5) for name in ("optimal", "biaffine")
    ]
    assert cells[0].name == "Invented, small, optimal, seed 1"
    for line, seed in (("", 7), ("seeds = [3]", 3)):
        one = experiment.cells(grid_of(tmp_path, line))
        assert [(cell.place.as_posix(), cell.config.seed) for cell in one] == [
            ("Invented/small/optimal", seed),
            ("Invented/small/biaffine", seed),
        ]


@pytest.mark.parametrize("seeds", ["[1, 1]", "3", '["a"]', "[true]", "[-1]"])
def test_seeds_that_are_none_are_refused(tmp_path: Path, seeds: str) -> None:
    with pytest.raises(ConfigError, match="seed"):
        experiment.cells(grid_of(tmp_path, f"seeds = {seeds}"))


def test_a_change_of_all_seeds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"seed would change all seeds of .*\[1, 2\]"):
        experiment.cells(grid_of(tmp_path, "seeds = [1, 2]"), ["seed=3"])
