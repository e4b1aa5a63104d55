"""Configurations: files, changes, and what is refused."""

from __future__ import annotations

import dataclasses
import math
import re
import typing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ropewalk import options
from ropewalk.autobuild.planning import BuildOptions
from ropewalk.errors import ConfigError
from ropewalk.laboratory import experiment
from ropewalk.laboratory.comparisons import questions
from ropewalk.segmentation import segmenter_config
from ropewalk.training import config

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    found = segmenter_config.load(path)
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
        ("training.epochs=0", r"training\.epochs is 0; expected from 1 to 100,000"),
        ("training.threads=99999", r"training\.threads is 99,999; expected from 0 to 256"),
        ("training.betas=[2,3]", r"training\.betas is 2\.0; expected from 0 to 0\.999999"),
        ("training.betas=[0.9]", r"training\.betas has 1 values; expected 2"),
        ("training.clip=nan", r"training\.clip is nan; expected from 0 to 1,000,000"),
        ("training.clip=-inf", r"training\.clip is -inf; expected from 0 to 1,000,000"),
        ("training.clip=9223372036854775807", r"training\.clip is 9\.22\d*e\+18; expected from 0"),
        ("model.hidden=99999999999", r"model\.hidden is 99,999,999,999; expected from 0 to 16,384"),
        ("model.encoder.layers=[0]", r"model\.encoder\.layers is 0; expected from 1 to 1,000"),
        (f"model.hidden=0x{'f' * 100_000}", r"model\.hidden has an integer of more than 64 bits"),
        (f"model.hidden={'9' * 10_000}", r"model\.hidden is '9+'; expected a whole number"),
        (f"model.hidden={'[' * 100_000}", r"model\.hidden is '\[+'; expected a whole number"),
        (f"model.hidden={'[' * 30}{']' * 30}", r"model\.hidden is nested too deep"),
        (f"{'a.' * 100_000}b=1", r"is no option: it has too many dots"),
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
    with pytest.raises(ConfigError, match="is not readable TOML"):
        config.load(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"seed = {'9' * 10_000}", "is not readable TOML: Exceeds the limit"),
        (f"seed = {'[' * 100_000}", "is not readable TOML: .*recursion"),
        (f"seed = 0x{'f' * 100_000}", "has an integer of more than 64 bits; expected less than 9,223,372"),
        (f"seeds = [[1, {1 << 63}]]", "has an integer of more than 64 bits"),
        (f"{'a.' * 20_000}b = 1", "is nested too deep; expected at most 16 levels"),
    ],
)
def test_numbers_and_nesting_without_end_are_refused(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text, encoding="utf-8")
    for load in (config.load, segmenter_config.load, experiment.cells):
        with pytest.raises(ConfigError, match=message):
            load(file)


def numeric(kind: type, where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """All options that are numbers or lists of them, with their limits."""
    hints = typing.get_type_hints(kind)
    for one in dataclasses.fields(kind):
        inner = hints[one.name]
        if dataclasses.is_dataclass(inner):
            yield from numeric(inner, f"{where}{one.name}.")  # type: ignore[arg-type] # a class
        elif inner in {int, float} or set(typing.get_args(inner)) & {int, float}:
            yield f"{where}{one.name}", dict(one.metadata)


@pytest.mark.parametrize("kind", [config.Config, segmenter_config.SegmenterConfig, BuildOptions])
def test_every_number_has_bounds(kind: type) -> None:
    found = {name: limits for name, limits in numeric(kind) if not name.startswith("decoding.")}
    assert len(found) >= 3
    free = [name for name, limits in found.items() if not all(math.isfinite(limits[end]) for end in ("low", "high"))]
    assert free == []


def test_a_number_of_json_beyond_what_floats_hold_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"decoding\.temperature is inf"):
        config.from_mapping({"decoding": {"temperature": 10**400}})


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
    for line, seed, end in (("", 7, ""), ("seeds = [3]", 3, "/seed-3")):
        one = experiment.cells(grid_of(tmp_path, line))
        assert [(cell.place.as_posix(), cell.config.seed) for cell in one] == [
            (f"Invented/small/optimal{end}", seed),
            (f"Invented/small/biaffine{end}", seed),
        ]


def test_a_treebank_may_have_fewer_seeds_than_its_grid(tmp_path: Path) -> None:
    grid = grid_of(tmp_path, "seeds = [1, 2, 5]")
    grid.write_text(grid.read_text(encoding="utf-8") + "seeds = [2]\n[treebanks.Other]\n", encoding="utf-8")
    places = [cell.place.as_posix() for cell in experiment.cells(grid)]
    assert [place for place in places if place.startswith("Invented")] == [
        "Invented/small/optimal/seed-2",
        "Invented/small/biaffine/seed-2",
    ]
    assert len(places) == 2 + 6


@pytest.mark.parametrize("seeds", ["[1, 1]", "3", '["a"]', "[true]", "[-1]"])
def test_seeds_that_are_none_are_refused(tmp_path: Path, seeds: str) -> None:
    with pytest.raises(ConfigError, match="seed"):
        experiment.cells(grid_of(tmp_path, f"seeds = {seeds}"))


@pytest.mark.parametrize("seeds", ["", "seeds = [2]"])
def test_seeds_of_a_treebank_that_its_grid_lacks_are_refused(tmp_path: Path, seeds: str) -> None:
    grid = grid_of(tmp_path, seeds)
    grid.write_text(grid.read_text(encoding="utf-8") + "seeds = [3]\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"treebanks\.Invented\.seeds is \[3\]"):
        experiment.cells(grid)


def rows_of(folder: Path, rows: str, more: str = "") -> Path:
    grid = grid_of(folder, more)
    old = 'encodings = ["optimal", "biaffine"]'
    grid.write_text(grid.read_text(encoding="utf-8").replace(old, f"encodings = [{rows}]"), encoding="utf-8")
    return grid


@pytest.mark.parametrize(
    ("rows", "more", "message"),
    [
        ('"optimal"', 'decoders = ["exact", "greeedy"]', r"decoders is .*'greeedy'.* some of: exact, joint, mbr"),
        ('"optimal"', 'decoders = "exact"', r"decoders is 'exact'; expected a list"),
        ('{name = "optimal", encoding = "optimal", decoders = ["exat"]}', "", r"encodings\.decoders is \['exat'\]"),
    ],
)
def test_an_unknown_decoder_of_a_grid_is_refused(tmp_path: Path, rows: str, more: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        experiment.cells(rows_of(tmp_path, rows, more))


def test_a_decoder_of_other_parsers_is_left_out_of_a_row(tmp_path: Path) -> None:
    grid = rows_of(tmp_path, '"optimal", "biaffine"', 'decoders = ["greedy", "mbr-nonprojective"]')
    assert [cell.decoders for cell in experiment.cells(grid)] == [("greedy",), ("mbr-nonprojective",)]


@pytest.mark.parametrize(
    ("row", "more", "message"),
    [
        ('"optimall"', "", r"Invented, small, optimall.*unknown encoding 'optimall'; did you mean 'optimal'"),
        ('"four-bit"', 'decoders = ["joint"]', r"'Invented, small, four-bit' .*needs the scores of arcs"),
        (
            '{name = "x", encoding = "relative", arc_weight = 1.0, decoders = ["exact", "joint"]}',
            "",
            "the encoding relative does not have",
        ),
        ('{name = "x", encoding = "optimal", auxiliary = ["four-bits"]}', "", "unknown encoding 'four-bits'"),
        ('{name = "x", encoding = "optimal", tags = ["upso"]}', "", "unknown tag column 'upso'"),
        ('{name = "x", encoding = "optimal", graph = {encoding = "optimall"}}', "", "'optimall'"),
        ('"four-bit", "four-bit"', "", r"several runs have the folder Invented.small.four-bit"),
        ('"four-bit"', 'set = ["data.dev="]', r"data\.dev is empty"),
    ],
)
def test_every_row_of_a_grid_is_checked_before_the_first_run(tmp_path: Path, row: str, more: str, message: str) -> None:
    first = '{name = "first", encoding = "optimal", arc_weight = 1.0}'
    grid = rows_of(tmp_path, f"{first}, {row}", more)
    with pytest.raises(ConfigError, match=message):
        experiment.cells(grid)


def test_an_unknown_kind_of_encoder_is_refused(tmp_path: Path) -> None:
    grid = grid_of(tmp_path, "")
    grid.write_text(grid.read_text(encoding="utf-8").replace('"bilstm"', '"lstm"'), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"Invented, small, optimal.*unknown kind of encoder 'lstm'"):
        experiment.cells(grid)


@pytest.mark.parametrize("path", GRIDS, ids=lambda path: path.name)
def test_the_ready_made_grids_ask_about_their_own_systems(path: Path) -> None:
    questions(path, experiment.systems(experiment.cells(path)))


def test_the_grids_of_the_guide_are_sound(tmp_path: Path) -> None:
    for name in ("configs", "ewt-minilm.toml"):
        (tmp_path / name).symlink_to(CONFIGS if name == "configs" else CONFIGS / name)
    page = (CONFIGS.parent / "docs" / "experiments.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        grid = tmp_path / "grid.toml"
        grid.write_text(block, encoding="utf-8")
        assert questions(grid, experiment.systems(experiment.cells(grid)))


def test_a_comparison_of_a_system_that_the_grid_lacks_is_refused(tmp_path: Path) -> None:
    question = 'comparisons = [{question = "?", first = "optimal, exact", second = "biaffine, exact"}]'
    grid = grid_of(tmp_path, question)
    systems = experiment.systems(experiment.cells(grid))
    assert systems == ("optimal, exact", "biaffine, spanning tree")
    with pytest.raises(ConfigError, match=r"names 'biaffine, exact'.*'optimal, exact'; 'biaffine, spanning tree'"):
        questions(grid, systems)
    grid.write_text(grid.read_text(encoding="utf-8").replace("biaffine, exact", systems[1]), encoding="utf-8")
    assert len(questions(grid, systems)) == 1


def test_a_change_of_all_seeds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"seed would change all seeds of .*\[1, 2\]"):
        experiment.cells(grid_of(tmp_path, "seeds = [1, 2]"), ["seed=3"])
