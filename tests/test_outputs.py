"""No output silently replaces what is read, or another output, by whatever name it is called."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from program_tools import PROGRAM, run
from ropewalk.files import are_same_output, is_replaced
from ropewalk.models.catalogue import locate

if TYPE_CHECKING:
    from pathlib import Path

# Commands with files to read; each of IN is also tried as what is written.
PLOTTING = [
    "evaluate IN PRED",
    "evaluate IN PRED --by relation",
    "compare IN PRED PRED2",
    "compare IN --system a=PRED --system b=PRED2",
    "stats --train IN --dev PRED --test PRED2",
    "coverage --train IN --dev PRED -e optimal",
]
WRITING = [
    *PLOTTING,
    "parse IN",
    "parse --input text PRED IN",
    "draw IN",
    "draw IN --against PRED",
    "encode IN -e optimal",
    "decode IN --into PRED",
    "decode --graphs IN --into PRED",
    "enhance IN",
    "info IN PRED",
    "validate IN PRED",
    "evaluate IN PRED --graphs",
    "vectors ENCODER --words IN --words PRED",
]


@pytest.fixture
def files(tmp_path: Path, sample: Path) -> dict[str, Path]:
    """Copies of the example, whose names end as those of pictures."""
    named = {name: tmp_path / f"{name.lower()}.svg" for name in ("IN", "PRED", "PRED2")}
    for file in named.values():
        shutil.copy(sample, file)
    return named


def filled(words: str, files: dict[str, Path]) -> list[str]:
    return ["".join(str(files.get(part, part)) for part in word.replace("=", " = ").split()) for word in words.split()]


def refused(words: list[str], *said: str) -> None:
    done = run(*words, heavy="vectors" in words)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert all(part in " ".join(done.stderr.split()) for part in said), done.stderr


def linked(file: Path, how: str) -> Path:
    """Name the same file otherwise."""
    other = file.with_name(f"{how}.svg")
    if how == "symbolic":
        other.symlink_to(file)
    elif how == "hard":
        other.hardlink_to(file)
    elif how == "roundabout":
        return file.parent / ".." / file.parent.name / file.name
    else:
        return file
    return other


@pytest.mark.parametrize("how", ["itself", "symbolic", "hard", "roundabout"])
@pytest.mark.parametrize("words", PLOTTING)
def test_a_plot_replaces_nothing_that_is_read(words: str, how: str, files: dict[str, Path]) -> None:
    before = {file: file.read_bytes() for file in files.values()}
    for name in [name for name in files if name in words]:
        refused([*filled(words, files), "--plot", str(linked(files[name], how))], "--plot", "which is read")
        for other in files["IN"].parent.glob("[sh]*.svg"):
            other.unlink()
    assert {file: file.read_bytes() for file in files.values()} == before


@pytest.mark.parametrize("words", WRITING)
def test_no_output_replaces_what_is_read(words: str, files: dict[str, Path]) -> None:
    before = {file: file.read_bytes() for file in files.values()}
    for name in [name for name in files if name in words.replace("=", " ").split()]:
        refused([*filled(words, files), "-o", str(linked(files[name], "itself"))], "-o", "which is read")
    assert {file: file.read_bytes() for file in files.values()} == before


@pytest.mark.parametrize("words", PLOTTING)
def test_a_table_and_a_plot_are_two_files(words: str, files: dict[str, Path], tmp_path: Path) -> None:
    new, link, old, hard = (tmp_path / f"{name}.svg" for name in ("new", "link", "old", "hard"))
    link.symlink_to(new)
    old.write_bytes(b"old")
    hard.hardlink_to(old)
    for table, plot in ((new, new), (link, new), (new, link), (tmp_path / "x" / ".." / "new.svg", new), (old, hard)):
        for more in ([], ["--overwrite"]):
            refused([*filled(words, files), "-o", str(table), "--plot", str(plot), *more], "are the same file")
    assert not new.exists()
    assert old.read_bytes() == b"old"


def test_standard_output_and_a_plot_are_two_files(files: dict[str, Path], tmp_path: Path) -> None:
    with (tmp_path / "out.svg").open("wb") as out:
        words = filled("evaluate IN PRED --plot", files)
        done = subprocess.run([*PROGRAM, *words, tmp_path / "out.svg"], stdout=out, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert b"are the same file" in b" ".join(done.stderr.split())


def test_an_output_replaces_what_is_read_if_that_is_asked_for(files: dict[str, Path]) -> None:
    done = run(*filled("evaluate IN PRED --overwrite --plot PRED", files))
    assert done.returncode == 0, done.stderr
    assert b"<svg" in files["PRED"].read_bytes()


def test_a_models_files_are_read_too(sample: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(locate("en"), model)
    before = {file: file.read_bytes() for file in model.iterdir()}
    refused(["parse", "-m", str(model), str(sample), "-o", str(model / "labels.json")], "which is read")
    refused(["evaluate", str(sample), "-m", str(model), "-o", str(model / "README.md")], "which is read")
    (model / "p.svg").write_bytes(b"")
    refused(["evaluate", str(sample), "-m", str(model), "--plot", str(model / "p.svg")], "which is read")
    (model / "p.svg").unlink()
    assert {file: file.read_bytes() for file in model.iterdir()} == before


def test_a_folder_is_not_replaced_with_what_is_read_in_it(sample: Path, tmp_path: Path) -> None:
    folder = tmp_path / "exported"
    shutil.copytree(locate("en"), folder)
    shutil.copy(sample, folder / "test.conllu")
    (tmp_path / "link").symlink_to(folder)
    for out in ("exported", "link"):
        words = ["export", "trained", "-o", tmp_path / out, "--test", folder / "test.conllu"]
        refused([*map(str, words)], "would replace", "test.conllu, which is read")
        refused([*map(str, ["export", folder / "trained", "-o", tmp_path / out])], "would replace", "trained")
    done = run("build", "--train", folder / "test.conllu", "-o", folder, heavy=True)
    assert done.returncode == 2
    assert "would replace" in " ".join(done.stderr.split())
    assert (folder / "test.conllu").read_bytes() == sample.read_bytes()


def test_names_that_are_no_files_replace_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    assert not are_same_output("-", tmp_path / "a")
    assert not are_same_output(tmp_path / "a", tmp_path / "b")
    assert not is_replaced("\0", tmp_path / "a")
    if sys.platform == "linux":
        assert not is_replaced(os.devnull, os.devnull)
        assert not are_same_output("/dev/null", tmp_path / "a")
