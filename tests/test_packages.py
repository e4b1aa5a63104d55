"""Models in packages of their own: made, installed, found by name, and listed before they are installed."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ropewalk
from conftest import REPOSITORY
from program_tools import run
from ropewalk.errors import ConfigError, ModelError, UnknownModelError
from ropewalk.models import catalogue
from ropewalk.models.packages import module_of
from ropewalk.models.packaging import package
from ropewalk.models.storage import open_folder, seal

if TYPE_CHECKING:
    from collections.abc import Callable

TINY = Path(__file__).parent / "fixtures" / "version-1" / "exported"
MB = 1_000_000
LARGEST = {"en-accurate": 45 * MB}  # bytes of a model in the repository; of all others:
LARGE = 3 * MB
LARGE_TOGETHER = 130 * MB
MANY, LARGE_ON_AVERAGE = 55, 2.1 * MB  # when there are so many models


def all_names() -> dict[str, str]:
    """Return the names and treebanks of all models that `ropewalk models` must find room for."""
    with (REPOSITORY / "recipes" / "languages.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return {"en-accurate": "UD_English-EWT", **{row["code"]: row["treebanks"].replace(" ", ", ") for row in rows}}


NAMES = all_names()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where packages are installed, for this process and those that it starts; no model lies elsewhere."""
    home = tmp_path / "site-packages"
    home.mkdir()
    monkeypatch.setenv(catalogue.VARIABLE, str(tmp_path / "none"))
    monkeypatch.syspath_prepend(str(home))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    return home


@pytest.fixture
def install(site: Path, tmp_path: Path) -> Callable[..., Path]:
    """Make a package of a model and put it where pip would."""

    def made(name: str, source: Path = TINY) -> Path:
        package(source, tmp_path / name, name=name)
        return shutil.copytree(tmp_path / name / module_of(name), site / module_of(name))

    return made


def test_a_package_is_data_that_says_whose_it_is(tmp_path: Path) -> None:
    made = package(TINY, tmp_path / "models" / "small-one", name="small-one", version="1.2")
    home = tmp_path / "models" / "small-one"
    assert (made.path, made.distribution, made.version) == (home, "ropewalk-small-one", "1.2")
    project = tomllib.loads((home / "pyproject.toml").read_text(encoding="utf-8"))
    about = project["project"]
    assert (about["name"], about["version"], about["license"]) == ("ropewalk-small-one", "1.2", "Apache-2.0")
    assert about["dependencies"] == [f"ropewalk>={'.'.join(ropewalk.__version__.split('.')[:2])}"]
    assert project["build-system"]["requires"] == ["setuptools>=77"]
    model = home / "ropewalk_small_one" / "small-one"
    assert made.model.path == model
    assert {file.name for file in model.iterdir()} == {file.name for file in TINY.iterdir()}
    copied, source = open_folder(model), open_folder(TINY)
    copied.demand_whole()
    assert (copied.name, copied.table["hash"]) == ("small-one", source.table["hash"])
    assert {file.relative_to(home).as_posix() for file in home.rglob("*.py")} == {"ropewalk_small_one/__init__.py"}
    said = (home / "LICENSE.txt").read_text(encoding="utf-8")
    assert "under Apache-2.0 (https://spdx.org/licenses/Apache-2.0.html)" in said
    assert "UniversalDependencies/UD_Invented-Ropes" in said
    assert "pip install .    # in this folder" in (home / "README.md").read_text(encoding="utf-8")


def test_models_in_packages_are_found_by_name(install: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match='No installed model or folder is named "tiny-one"'):
        ropewalk.load("tiny-one")
    home = install("tiny-one")
    parser = ropewalk.load("tiny-one")
    assert len(parser.tokens([["He", "slept"]]).words) == 2
    (found,) = [one for one in catalogue.installed() if one.name == "tiny-one"]
    assert (found.path, found.embedded, found.treebank) == (home / "tiny-one", False, "UD_Invented-Ropes")
    assert "ropewalk_tiny_one" not in sys.modules
    for other in ("tiny_one", "Tiny-one", "tiny-one.x", "tiny", ""):
        with pytest.raises(ModelError):
            catalogue.locate(other)
    monkeypatch.setenv(catalogue.VARIABLE, str(home))  # the user's own come first
    shutil.copytree(home / "tiny-one", home / "en")
    assert catalogue.locate("en") == home / "en"


def test_what_is_in_the_package_comes_before_packages_of_that_name(install: Callable[..., Path]) -> None:
    install("en")
    assert catalogue.locate("en") == catalogue.embedded_folder() / "en"
    assert [one.embedded for one in catalogue.installed() if one.name == "en"] == [True]


def test_every_door_opens_a_packaged_model(install: Callable[..., Path]) -> None:
    install("english", catalogue.embedded_folder() / "en")
    done = run("parse", "-m", "english", "He slept.")
    assert done.returncode == 0, done.stderr
    assert " model english " in done.stdout.split("\n")[0]
    assert done.stdout.split("\n")[1:] == run("parse", "He slept.").stdout.split("\n")[1:]
    rows = json.loads(run("models", "--format", "json").stdout)["rows"]
    (row,) = [one for one in rows if one["name"] == "english"]
    assert (row["installed"], row["language"], row["takes"]) == ("yes", "English", "text, tokens")
    from ropewalk.serving.computing import Computer
    from ropewalk.serving.settings import Settings

    served = Computer.load(Settings(models=("english",))).models["english"]
    assert (served.language, served.treebank, served.licence) == ("English", "UD_English-EWT", "CC-BY-SA-4.0")


def test_spacy_loads_a_packaged_model(install: Callable[..., Path]) -> None:
    spacy = pytest.importorskip("spacy", exc_type=ImportError)
    install("tiny-one")
    nlp = spacy.blank("en")
    nlp.add_pipe("ropewalk", config={"model": "tiny-one"})
    assert all(token.dep_ for token in nlp("He slept well"))


@pytest.mark.parametrize("name", ["en", "tiny-one"])
def test_no_records_of_packages_are_read_to_parse(install: Callable[..., Path], name: str) -> None:
    """Not for a model inside the package nor for one in a package of its own: neither waits for them."""
    install("tiny-one")
    program = (
        "import sys, ropewalk; "
        f"ropewalk.load({name!r}).tokens([['He', 'slept']]); "
        "print(sorted({'importlib.metadata', 'pkgutil', 'ropewalk_tiny_one'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, encoding="utf-8")
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_pip_installs_a_package_by_its_path(site: Path, tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="77")
    package(TINY, tmp_path / "tiny", name="tiny-one", licence="GNU GPL, mostly")
    line = [*("-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")]
    done = subprocess.run(
        [sys.executable, *line, "--no-index", "--target", site, tmp_path / "tiny"],
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert catalogue.locate("tiny-one") == site / "ropewalk_tiny_one" / "tiny-one"
    assert len(ropewalk.load("tiny-one").tokens([["He", "slept"]]).words) == 2
    (metadata,) = site.glob("ropewalk_tiny_one-*.dist-info")
    said = (metadata / "METADATA").read_text(encoding="utf-8")
    assert "Name: ropewalk-tiny-one\n" in said
    assert "License-Expression: LicenseRef-GNU-GPL-mostly\n" in said
    assert (metadata / "licenses" / "LICENSE.txt").is_file()


def test_a_licence_can_be_told_and_its_text_put_beside_it(tmp_path: Path) -> None:
    text = tmp_path / "terms.txt"
    text.write_text("Do as you like.\n", encoding="utf-8")
    done = run("package", TINY, "-o", tmp_path / "a", "--licence", "LGPLLR", "--licence-file", text)
    assert done.returncode == 0, done.stderr
    assert "ropewalk-tiny " in done.stderr  # its own name
    assert f"pip install {tmp_path / 'a'}" in done.stderr
    home = tmp_path / "a"
    assert (home / "LICENSE.txt").read_text(encoding="utf-8").endswith("\n\nDo as you like.\n")
    assert catalogue.in_folder(home / "ropewalk_tiny" / "tiny").licence == "LGPLLR"
    open_folder(home / "ropewalk_tiny" / "tiny").demand_whole()


def test_a_model_with_subwords_needs_the_package_that_cuts_them(tmp_path: Path) -> None:
    home = shutil.copytree(TINY, tmp_path / "sub")
    (home / "tokenizer.json").write_text("{}", encoding="utf-8")
    seal(home, open_folder(home).table)
    package(home, tmp_path / "out", name="sub")
    assert '"ropewalk[subwords]>=' in (tmp_path / "out" / "pyproject.toml").read_text(encoding="utf-8")


def test_what_makes_no_package_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    trained = TINY.parent / "trained"
    for source, error, said in (
        (tmp_path / "nowhere", ModelError, "nowhere: is no folder"),
        (trained, ModelError, r"is that of a model as training writes it; expected .* ropewalk export"),
    ):
        with pytest.raises(error, match=said):
            package(source, out, name="a")
    for name in ("En", "a_b", "a--b", "-a", "a.b", "français", "../a"):
        with pytest.raises(ConfigError, match=r"name is .*single hyphens.*--name"):
            package(TINY, out, name=name)
    with pytest.raises(ConfigError, match=r"version is 'soon'; expected one such as \d"):
        package(TINY, out, name="a", version="soon")
    with pytest.raises(ModelError, match=r"no\.txt: is missing"):
        package(TINY, out, name="a", licence_file=tmp_path / "no.txt")
    home = shutil.copytree(TINY, tmp_path / "copy")
    table = json.loads((home / "config.json").read_text(encoding="utf-8"))
    table["config"]["data"]["licence"] = ""
    seal(home, table)
    with pytest.raises(ModelError, match=r"names no licence .*--licence"):
        package(home, out, name="a")
    (home / "labels.json").write_bytes((home / "labels.json").read_bytes().replace(b"n", b"m", 1))
    with pytest.raises(ModelError, match=r"labels\.json: is not the exported file"):
        package(home, out, name="a", licence="MIT")
    assert {one.name for one in tmp_path.iterdir()} == {"copy"}
    out.mkdir()
    with pytest.raises(ModelError, match="out: already exists"):
        package(TINY, out, name="a")


def test_files_elsewhere_are_not_put_into_packages(tmp_path: Path) -> None:
    home = shutil.copytree(TINY, tmp_path / "model")
    (home / "inner").mkdir()
    (home / "inner" / "more.json").write_text("{}", encoding="utf-8")
    seal(home, open_folder(home).table)
    with pytest.raises(ModelError, match=r"config\.json: names the file 'inner/more\.json'"):
        package(home, tmp_path / "out", name="a")


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: Path) -> None:  # noqa: ARG001 - nothing is installed
    """All models of the table of languages, which can be installed and are not."""
    one = replace(catalogue.in_folder(TINY).summary, licence="CC-BY-NC-SA-3.0 AND GPL-3.0-only", bytes=37 * MB, las=0.9)
    several = [asdict(replace(one, name=name, treebank=treebank)) for name, treebank in NAMES.items()]
    (tmp_path / "models.json").write_text(json.dumps(several), encoding="utf-8")
    monkeypatch.setattr(catalogue, "OFFERED", tmp_path / "models.json")


@pytest.mark.usefixtures("offered")
def test_models_that_can_be_installed_are_listed(
    install: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    from ropewalk.cli.models import models
    from ropewalk.cli.shell import Format

    install("fr")
    models()
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert len(re.findall(r" 37\.0 +90\.00$", shown, re.MULTILINE)) == len(NAMES) - 1  # no number is broken
    for name in NAMES:
        assert f"\n {name} " in shown
    assert "ropewalk models install NAME" in shown
    assert "pip install ./models/NAME" in shown
    assert "pip install ropewalk-" not in shown
    models(Format.JSON)
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert set(rows) == {"en", *NAMES}
    assert {name: row["installed"] for name, row in rows.items() if row["installed"] == "yes"} == {
        "en": "yes",
        "fr": "yes",
    }
    assert rows["vi"]["where"] == "ropewalk models install vi"
    assert (rows["vi"]["language"], rows["vi"]["las"], rows["vi"]["hash"]) == ("Vietnamese", 90.0, rows["fr"]["hash"])


@pytest.mark.usefixtures("offered")
def test_a_model_that_is_not_installed_is_told_how_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = (
        r'^The model "en-accurate" is not installed\. Installed: en\. To install: ropewalk models install en-accurate '
        r"in a clone of Ropewalk, elsewhere with --from FOLDER; or, in a clone, pip install \./models/en-accurate\. "
    )
    with pytest.raises(ModelError, match=said):
        ropewalk.load("en-accurate")
    with pytest.raises(ModelError, match=r'^The model "de" is not installed\. .* install de .*--from FOLDER'):
        ropewalk.load("de")
    with pytest.raises(
        UnknownModelError, match=r'No installed model or folder is named "xx"\. Installed: en\. '
    ) as raised:
        ropewalk.load("xx")
    assert raised.value.installed == ("en",)
    assert {*raised.value.available} == {*NAMES}
    assert f"To install one of {len(NAMES)} others (ropewalk models lists them)" in str(raised.value)
    (tmp_path / "vi").mkdir()  # as in a clone's folder of models
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=r"pip install \./models/vi\."):
        ropewalk.load("vi")


def test_the_list_is_that_of_the_models_in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "recipes"))
    from list_models import listing

    assert listing() == catalogue.OFFERED.read_text(encoding="utf-8"), "run `make models`"


def packages() -> list[Path]:
    return [file.parent for file in sorted((REPOSITORY / "models").glob("*/pyproject.toml"))]


@pytest.mark.parametrize("home", packages(), ids=lambda home: home.name)
def test_packages_in_the_repository_are_whole_small_and_licensed(home: Path) -> None:
    model = catalogue.in_folder(home / module_of(home.name) / home.name)
    source = open_folder(model.path)
    source.demand_whole()
    for file in source.table["files"]:
        source.listed(file)
    assert source.name == home.name
    assert model.takes_text
    texts = (home / "LICENSE.txt").read_text(encoding="utf-8")
    for licence in model.licence.split(" AND "):
        assert licence in texts
    card = (model.path / "README.md").read_text(encoding="utf-8")
    for treebank in model.treebank.split(", "):
        assert treebank in card
    assert model.licence
    assert model.licence in card
    assert model.size <= LARGEST.get(home.name, LARGE)
    project = tomllib.loads((home / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["build-system"]["requires"] == ["setuptools>=77"]  # so no compiler
    assert not {file.suffix for file in home.rglob("*")} & {".c", ".pyx", ".pxd", ".so"}


def test_all_packages_in_the_repository_are_small_together() -> None:
    sizes = [catalogue.in_folder(home / module_of(home.name) / home.name).size for home in packages()]
    small = [size for home, size in zip(packages(), sizes, strict=True) if home.name not in LARGEST]
    assert sum(small) <= LARGE_TOGETHER
    assert len(small) < MANY or sum(small) / len(small) <= LARGE_ON_AVERAGE
