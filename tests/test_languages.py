"""Models of many languages: the recipe that makes their packages, and installing them without pip."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner

import ropewalk
from building_tools import Invented
from conftest import REPOSITORY
from ropewalk.cli import app_of
from ropewalk.errors import ModelError, UnknownModelError
from ropewalk.models import catalogue
from ropewalk.models.installing import install
from ropewalk.models.packages import module_of
from ropewalk.models.packaging import package
from ropewalk.treebank.surface import Probabilities

if TYPE_CHECKING:
    from types import ModuleType

TINY = Path(__file__).parent / "fixtures" / "version-1" / "exported"


@pytest.fixture(scope="module")
def recipe() -> ModuleType:
    spec = importlib.util.spec_from_file_location("languages_recipe", REPOSITORY / "recipes" / "languages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for their module there
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(catalogue.VARIABLE, str(tmp_path / "own"))
    return tmp_path / "own"


def test_the_table_has_each_language_once(recipe: ModuleType) -> None:
    rows = recipe.table()
    codes = [row.code for row in rows]
    assert codes == sorted(set(codes))
    assert len(codes) >= 60
    assert all(row.name and row.treebanks for row in rows)
    assert all(len({*row.treebanks}) == len(row.treebanks) for row in rows)
    assert all(name.startswith("UD_") for row in rows for name in row.treebanks)


def treebank(home: Path, name: str, *parts: str) -> None:
    (home / name).mkdir(parents=True)
    for seed, part in enumerate(parts):
        Invented().write(home / name / f"xx_t-ud-{part}.conllu", 10, seed)
    (home / name / "LICENSE.txt").write_text(f"CC BY-SA 4.0\nThe terms of {name}.\n", encoding="utf-8")


def test_packages_are_made_once_with_one_command_for_all(
    recipe: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    banks, models = tmp_path / "banks", tmp_path / "models"
    treebank(banks / "a", "UD_Invented-One", "test")  # without train: the other folder has it
    treebank(banks / "b", "UD_Invented-One", "train", "test")
    treebank(banks / "b", "UD_Invented-Two", "train")
    table = tmp_path / "table.tsv"
    rows = ["xx\tInvented\tUD_Invented-One UD_Invented-Two", "yy\tOther\tUD_Other-One", "zz\tThird\tUD_Invented-Two"]
    table.write_text("\n".join(["code\tlanguage\ttreebanks", *rows, ""]), encoding="utf-8")
    commands: list[list[str]] = []
    fails = {"zz"}

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        out = Path(command[command.index("-o") + 1])
        commands.append(command)
        if out.name not in fails:
            shutil.copytree(TINY, out)
        return subprocess.CompletedProcess(command, out.name in fails)

    monkeypatch.setattr(recipe.subprocess, "run", run)
    line = [str(banks / "a"), str(banks / "b"), "-o", str(tmp_path / "work"), "--models", str(models)]
    line += ["--table", str(table)]
    assert recipe.main([*line, "--list"]) == 0
    listed = capsys.readouterr().out
    assert "xx\tInvented\tUD_Invented-One UD_Invented-Two\tnot begun" in listed
    assert "yy\tOther\tUD_Other-One\tcannot be built: no train file of UD_Other-One" in listed
    assert not (tmp_path / "work").exists()
    assert recipe.main([*line, "--", "--seed", "2"]) == 1
    printed = capsys.readouterr().out
    assert "zz: failed, see" in printed
    assert "xx: finished: " in printed
    (built,) = [command for command in commands if "xx" in command[-6:] or str(tmp_path / "work" / "xx") in command]
    assert built[4:6] == [str((banks / "b" / name).resolve()) for name in ("UD_Invented-One", "UD_Invented-Two")]
    assert built[-len(recipe.OPTIONS) - 2 :] == [*recipe.OPTIONS, "--seed", "2"]
    text = (models / "xx" / "LICENSE.txt").read_text(encoding="utf-8")
    assert "The terms of UD_Invented-One." in text
    assert "The terms of UD_Invented-Two." in text
    assert catalogue.in_folder(models / "xx" / "ropewalk_xx" / "xx").hash
    commands.clear()
    fails.clear()
    assert recipe.main([*line, "--only", "xx", "zz", "--", "--seed", "2"]) == 0
    assert [Path(command[command.index("-o") + 1]).name for command in commands] == ["zz"]  # xx was finished
    assert recipe.main([*line, "--list"]) == 0
    assert "finished with other options" in capsys.readouterr().out


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(REPOSITORY / "recipes"))
    import measure_models

    return measure_models


def test_reliability_compares_probabilities_with_what_is_right(measuring: ModuleType) -> None:
    gold = ropewalk.Treebank.of([ropewalk.Tree([2, 0, 2, 2], ["a", "root", "b", "c"]), ropewalk.Tree([0], ["root"])])
    parsed = gold.with_trees(np.array([2, 0, 2, 3, 0], dtype=np.int32), gold.relations)
    sure = Probabilities(np.array([0.95, 0.95, 0.55, 0.55, 1.0]), np.array([0.5, 0.9]))
    found = measuring.reliability(parsed.with_probabilities(sure), gold)
    arcs, trees = found["arcs"], found["trees"]
    assert (arcs.number, arcs.right, arcs.mean) == (5, 0.8, pytest.approx(0.8))
    assert arcs.error == pytest.approx((3 - 2.9 + 1.1 - 1) / 5)
    assert (trees.number, trees.right, trees.mean, trees.error) == (2, 0.5, pytest.approx(0.7), pytest.approx(0.3))
    assert measuring.reliability(gold, gold) == {}


def test_models_are_measured_into_their_cards_and_a_table(
    measuring: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    treebank(tmp_path / "banks", "UD_Invented-One", "train", "test")
    home = shutil.copytree(TINY, tmp_path / "model")
    table = json.loads((home / "config.json").read_text(encoding="utf-8"))
    table["config"]["data"]["name"] = "UD_Invented-One"
    from ropewalk.models.storage import seal

    seal(home, table)
    for name in ("xx", "yy"):
        package(home, tmp_path / "models" / name, name=name, licence="CC-BY-SA-4.0")
    results = tmp_path / "results"
    results.mkdir()
    line = [str(tmp_path / "banks"), "--models", str(tmp_path / "models"), "--results", str(results)]
    gold = ropewalk.conllu.read(tmp_path / "banks" / "UD_Invented-One" / "xx_t-ud-test.conllu")
    monkeypatch.setattr(measuring, "speed", lambda *_: (12345.0, gold))  # as if all were right: there is no segmenter
    for _ in range(2):  # what was measured before is replaced in the card
        measuring.main([*line, "--only", "xx"])
    measuring.main([*line, "--only", "yy"])  # and stays in the table
    assert "en:" not in capsys.readouterr().out
    card = (tmp_path / "models" / "xx" / "ropewalk_xx" / "xx" / "README.md").read_text(encoding="utf-8")
    assert card.count("## Speed and calibration") == 1
    assert "On `xx_t-ud-test.conllu`, on one core: 12,345 words a second" in card
    assert "of the trees" in card.lower()
    scores = measuring.read_scores(results / "models.csv")
    assert scores["xx"] == scores["yy"]
    assert scores["xx"]["words_per_second"] == "12345"
    assert (scores["xx"]["LAS"], scores["xx"]["Words"]) == ("100.00", "100.00")
    found = measuring.read_reliability(results / "reliability.csv")
    assert {*found} == {"xx", "yy"}
    assert found["xx"] == found["yy"]
    assert (found["xx"]["arcs"].number, found["xx"]["trees"].number) == (found["yy"]["arcs"].number, 10)
    assert ">yy</text>" in (results / "reliability.svg").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        measuring.main([*line, "--only", "zz"])


def test_several_licences_and_treebanks_are_named(tmp_path: Path) -> None:
    home = shutil.copytree(TINY, tmp_path / "model")
    table = json.loads((home / "config.json").read_text(encoding="utf-8"))
    table["config"]["data"]["name"] = "UD_Invented-One, UD_Invented-Two"
    from ropewalk.models.storage import seal

    seal(home, table)
    package(home, tmp_path / "out", name="xx", licence="CC-BY-SA-4.0 AND Beerware 42")
    project = (tmp_path / "out" / "pyproject.toml").read_text(encoding="utf-8")
    assert 'license = "CC-BY-SA-4.0 AND LicenseRef-Beerware-42"' in project
    text = (tmp_path / "out" / "LICENSE.txt").read_text(encoding="utf-8")
    assert "trained on the treebanks UD_Invented-One, UD_Invented-Two." in text
    assert "UniversalDependencies/UD_Invented-One, https://github.com/UniversalDependencies/UD_Invented-Two" in text


def wheel(folder: Path, source: Path, name: str) -> Path:
    """Write the wheel of a package."""
    folder.mkdir()
    file = folder / f"{module_of(name)}-0.3-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as out:
        for path in sorted((source / module_of(name)).rglob("*")):
            out.write(path, path.relative_to(source).as_posix())
        out.write(source / "LICENSE.txt", f"{module_of(name)}-0.3.dist-info/licenses/LICENSE.txt")
    return file


@pytest.mark.parametrize("kind", ["clone", "packages", "wheels"])
def test_a_model_is_installed_without_pip(tmp_path: Path, own: Path, kind: str) -> None:
    package(TINY, tmp_path / "models" / "tiny-one", name="tiny-one")
    wheel(tmp_path / "wheels", tmp_path / "models" / "tiny-one", "tiny-one")
    folder = {"clone": tmp_path, "packages": tmp_path / "models", "wheels": tmp_path / "wheels"}[kind]
    done = CliRunner().invoke(app_of(["models"]), ["models", "install", "tiny-one", "--from", str(folder)])
    assert done.exit_code == 0, done.output
    assert catalogue.locate("tiny-one") == own / "tiny-one"
    assert len(ropewalk.load("tiny-one").tokens([["He", "slept"]]).words) == 2
    assert "Apache-2.0" in (own / "tiny-one" / "LICENSE.txt").read_text(encoding="utf-8")
    assert install("tiny-one", [folder]).path == own / "tiny-one"  # again


def test_the_model_in_the_package_needs_no_installation(own: Path) -> None:
    for words in (["en"], ["--network", "en"]):
        done = CliRunner().invoke(app_of(["models"]), ["models", "install", *words])
        assert done.exit_code == 0
        assert "en is in the package of Ropewalk; there is nothing to install" in done.stderr
    assert not own.exists()


def test_damaged_and_unknown_models_are_not_installed(tmp_path: Path, own: Path) -> None:
    package(TINY, tmp_path / "tiny-one", name="tiny-one")
    labels = tmp_path / "tiny-one" / "ropewalk_tiny_one" / "tiny-one" / "labels.json"
    labels.write_bytes(labels.read_bytes().replace(b"n", b"m", 1))
    with pytest.raises(ModelError, match=r"labels\.json: is not the exported file"):
        install("tiny-one", [tmp_path])
    with pytest.raises(ModelError, match="de: is in none of the folders that were searched"):
        install("de", [tmp_path, tmp_path / "nowhere"])
    for name in ("../tiny-one", "", "Tiny"):
        with pytest.raises(ModelError, match="is in none of the folders"):
            install(name, [tmp_path])
    (tmp_path / "ropewalk_xx-1-py3-none-any.whl").write_bytes(b"PK")
    with pytest.raises(ModelError, match="is no readable wheel"):
        install("xx", [tmp_path])
    with zipfile.ZipFile(tmp_path / "ropewalk_yy-1-py3-none-any.whl", "w") as out:
        out.writestr("ropewalk_yy/yy/../../evil", "x")
        out.writestr("ropewalk_yy/yy/inner/evil", "x")
    with pytest.raises(ModelError, match="has no model yy"):
        install("yy", [tmp_path])
    assert not [path for path in own.iterdir() if not path.name.startswith(".")]


@pytest.mark.parametrize(
    "arguments", [["remove", "fr"], ["install"], ["--network"], ["install", "fr", "--network", "--from", "."]]
)
def test_other_arguments_are_refused(arguments: list[str]) -> None:
    assert CliRunner().invoke(app_of(["models"]), ["models", *arguments]).exit_code == 2


def test_pip_is_run_only_if_the_network_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:  # noqa: ANN401 - keywords of `run`
        ran.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    done = CliRunner().invoke(app_of(["models"]), ["models", "install", "fr", "--network"])
    assert done.exit_code == 0, done.output
    assert ran[0][1:] == ["-m", "pip", "install", "--no-deps", "ropewalk-fr"]
    assert CliRunner().invoke(app_of(["models"]), ["models", "install", "--network", "--", "-x"]).exit_code == 2


def test_the_catalogue_has_all_models_with_their_languages() -> None:
    rows = {model.name: model for model in catalogue.offered()}
    assert {"en", "en-accurate", "fr", "wo"} <= rows.keys()
    assert (rows["fr"].code, rows["fr"].language) == ("fr", "French")
    assert (rows["en-accurate"].code, rows["en-accurate"].language) == ("en", "English")
    assert "en" not in {model.name for model in catalogue.installable()}


def test_a_long_list_of_available_models_is_not_repeated() -> None:
    error = UnknownModelError("qq", ["en"], [f"m{number}" for number in range(40)], "do this")
    assert "To install one of 40 others (ropewalk models lists them): do this" in str(error)


def test_parsers_are_loaded_when_needed_and_dropped_when_unused() -> None:
    from ropewalk.loading import LoadedOnDemand

    loads: list[str] = []

    def fake(name: str) -> Any:  # noqa: ANN401 - stands for a parser
        loads.append(name)
        return object()

    parsers = LoadedOnDemand("abc", fake, 2)
    assert (list(parsers), len(parsers), loads) == (["a", "b", "c"], 3, [])
    first = parsers["a"]
    assert parsers["a"] is first
    parsers["b"]
    parsers["a"]
    parsers["c"]
    assert (loads, parsers.loaded) == (["a", "b", "c"], ("a", "c"))
    parsers["b"]
    assert (loads, parsers.loaded) == (["a", "b", "c", "b"], ("c", "b"))
    with pytest.raises(KeyError):
        parsers["d"]


def test_a_server_has_all_installed_models(tmp_path: Path, own: Path) -> None:
    from ropewalk.loading import LoadedOnDemand
    from ropewalk.serving.computing import Computer
    from ropewalk.serving.settings import Settings

    for name in ("aa-one", "zz-one"):
        package(TINY, tmp_path / name, name=name)
        install(name, [tmp_path])
    shutil.copytree(TINY.parent / "trained", own / "mm-trained")  # it needs torch, and is not served
    computer = Computer.load(Settings(models=("all",), max_models=1))
    assert {"en", "aa-one", "zz-one"} <= computer.models.keys()
    assert "mm-trained" not in computer.models
    assert next(iter(computer.models)) == "en"
    assert isinstance(computer.parsers, LoadedOnDemand)
    assert computer.parsers.loaded == ("en",)
    computer.warm_up()
    assert computer.parsers.loaded == ("en",)
    for name in ("en", "aa-one"):
        model, parser = computer.models[name], computer.parsers[name]
        assert model.generator == parser.generator
        assert model.takes_text == (parser.segmenter is not None)
    assert computer.parsers.loaded == ("aa-one",)
    assert (computer.models["en"].language, computer.models["en"].licence) == ("English", "CC-BY-SA-4.0")


@pytest.mark.parametrize("served", ["auto", "all"])
def test_a_server_chooses_the_model_by_the_text(own: Path, served: str) -> None:  # noqa: ARG001 - models go there
    from ropewalk.serving.computing import Computer, ParseJob
    from ropewalk.serving.settings import Settings
    from ropewalk.serving.sources import Lines, RequestText, Words

    french = "Elle marche à reculons toute la journée et tord le chanvre."
    english = "She walks backwards all day and twists the hemp into a rope."
    install("fr", [REPOSITORY])
    computer = Computer.load(Settings(models=(served,), max_models=2))
    assert computer.models["auto"].takes_text
    assert computer.models["auto"].components == ["tokenizer", "tagger", "parser"]
    texts = [english, french, english]
    words = [tuple(text.removesuffix(".").split()) for text in texts]
    sources = [*map(RequestText, texts), *(Words((sentence,)) for sentence in words), Lines("\n".join(texts))]
    jobs = [ParseJob(source, lambda _, parsed: [(one.language, one.tree) for one in parsed]) for source in sources]
    answers = computer.answers("auto", jobs).values
    alone = [ropewalk.load(name, threads=1) for name in ("en", "fr", "en")]
    expected = [
        (code, parser(text)[0].tree) for code, parser, text in zip(("en", "fr", "en"), alone, texts, strict=True)
    ]
    assert answers[:3] == [[one] for one in expected]
    for answer, parser, sentence in zip(answers[3:6], alone, words, strict=True):
        assert [tree for _, tree in answer] == [parser.tokens([sentence])[0].tree]
    assert answers[6] == expected
