"""Output in a terminal of 80 columns: no number is broken, and no line is too long."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from program_tools import run, run_in_terminal

if TYPE_CHECKING:
    from pathlib import Path

NUMBER = re.compile(r"-?[\d.,]*\d%?")
STYLE = re.compile(r"\x1b\[\d*m")
COLUMNS = 80

TABLES = {
    "stats": ("stats", "{bank}"),
    "stats of several": ("stats", "{bank}", "{other}", "{bank}", "{other}", "{bank}", "{other}", "{bank}"),
    "stats with all columns": ("stats", "--columns", "all", "{bank}", "{other}"),
    "stats of labels": ("stats", "--table", "labels", "{bank}", "{other}"),
    "stats of indices": ("stats", "--table", "indices", "{bank}"),
    "stats of ropes": ("stats", "--table", "ropes", "{bank}", "{other}"),
    "stats of graphs": ("stats", "--graphs", "{bank}"),
    "coverage": ("coverage", "{bank}"),
    "coverage of splits": ("coverage", "--train", "{other}", "--dev", "{bank}", "--test", "{bank}"),
    "coverage with all columns": ("coverage", "--columns", "all", "--train", "{other}", "--dev", "{bank}"),
    "coverage of graphs": ("coverage", "--graphs", "{bank}"),
    "info": ("info", "{bank}"),
    "info of several": ("info", "{bank}", "{other}", "{bank}", "{other}", "{bank}", "{other}", "{bank}"),
    "info of graphs": ("info", "--graphs", "{bank}"),
    "compare": ("compare", "{bank}", "{worse}", "{bank}", "--samples", "200"),
    "compare three": ("compare", "{bank}", "{worse}", "{bank}", "{worse}", "--samples", "200"),
    "compare seeds": ("compare", "{bank}", "{worse}", "--system", "two={bank},{worse}", "--samples", "200"),
    "compare relations": ("compare", "{bank}", "{worse}", "{bank}", "--by", "relation", "--samples", "200"),
    "compare sentences": ("compare", "{bank}", "{worse}", "{bank}", "--by", "sentence"),
    "evaluate": ("evaluate", "{bank}", "{worse}"),
    "evaluate relations": ("evaluate", "{bank}", "{worse}", "--by", "relation"),
    "evaluate confusions": ("evaluate", "{bank}", "{worse}", "--by", "confusion"),
    "evaluate as CoNLL 2018": ("evaluate", "{bank}", "{worse}", "--conll18"),
    "evaluate graphs": ("evaluate", "{bank}", "{worse}", "--graphs"),
    "encodings": ("encodings",),
    "models": ("models",),
}


@pytest.fixture(scope="module")
def banks(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("a-folder-with-a-long-name")
    files = {name: folder / f"xx_{name}-ud-test.conllu" for name in ("bank", "other", "worse")}
    text = sample.read_text(encoding="utf-8")
    files["bank"].write_text(text * 150, encoding="utf-8")  # counts of five digits
    files["other"].write_text(text, encoding="utf-8")
    files["worse"].write_text((text * 150).replace("\tobj\t", "\tiobj\t"), encoding="utf-8")
    return files


def numbers(text: str) -> set[str]:
    words = (word.strip("();:*") for word in STYLE.sub("", text).split())
    return {word for word in words if NUMBER.fullmatch(word)}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_in_a_terminal_breaks_no_number(name: str, banks: dict[str, Path]) -> None:
    words = [word.format(**banks) for word in TABLES[name]]
    shown = run_in_terminal(*words, columns=COLUMNS)
    whole = run(*words).stdout
    assert numbers(shown) <= numbers(whole) | {str(COLUMNS)}
    assert len(numbers(shown)) > 1
    assert max(len(STYLE.sub("", line)) for line in shown.splitlines()) <= COLUMNS


def test_what_a_narrow_table_leaves_out_is_named(banks: dict[str, Path]) -> None:
    shown = run_in_terminal("stats", "--columns", "all", *[banks["bank"], banks["other"]] * 4, columns=COLUMNS)
    assert "Left out to fit 80 columns: " in shown
    turned = run_in_terminal("stats", banks["bank"], columns=40)
    assert "Rows and columns are exchanged to fit the terminal." in " ".join(turned.split())
    assert "1350" in turned
    described = run_in_terminal("info", banks["bank"], columns=40)
    assert "rope thickness, mean" in " ".join(described.split())


def test_stats_and_coverage_take_single_files_and_are_compact(banks: dict[str, Path]) -> None:
    counted = run("stats", banks["other"])
    assert "no train" not in counted.stdout + counted.stderr
    assert "Not shown: lifted relations" in counted.stdout
    assert [line.split()[1:3] for line in counted.stdout.splitlines() if "xx_other-ud-test" in line] == [["9", "11"]]
    covered = run("coverage", banks["other"], "-e", "optimal")
    assert "Not shown: UAS over sentences" in covered.stdout
    chosen = run("coverage", banks["other"], "-e", "optimal", "--columns", "encoding,um", "--format", "csv").stdout
    assert chosen.splitlines()[0] == "encoding,um"
    refused = run("coverage", banks["other"], "--split", "dev")
    assert refused.returncode == 2
    assert "single file" in refused.stderr
    unknown = run("coverage", banks["other"], "-e", "optimal", "--columns", "encodng")
    assert "did you mean 'encoding'?" in unknown.stderr
