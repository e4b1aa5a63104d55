"""Several treebanks, one parser: styles, columns that a treebank lacks, and sentences that are dropped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner

import ropewalk
from building_tools import TINY, Invented
from ropewalk import conllu
from ropewalk.autobuild import stages
from ropewalk.autobuild.planning import BuildOptions, Plan
from ropewalk.autobuild.stages import build, planned
from ropewalk.autobuild.treebank_files import licence, read
from ropewalk.cli import app_of
from ropewalk.errors import ConfigError, TrainingError
from ropewalk.laboratory.splits import find
from ropewalk.loading import load_model
from ropewalk.models.label_sets import MISSING
from ropewalk.training.config import DataOptions, from_mapping
from ropewalk.training.examples import examples, label_set, read_files
from ropewalk.training.export import export
from ropewalk.training.mixing import MixedData, filled
from ropewalk.training.segmenter_training import SegmenterOutcome
from ropewalk.training.training_run import train

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.laboratory.splits import SplitSource
    from ropewalk.treebank.treebank import Treebank

PLAIN = Invented()
FIRST, SECOND = "UD_Invented-First", "UD_Invented-Second"


def treebank(home: Path, name: str, code: str = "xx", kind: Invented = PLAIN, **sentences: int) -> SplitSource:
    folder = home / name
    folder.mkdir(parents=True)
    for seed, (part, many) in enumerate(sentences.items()):
        kind.write(folder / f"{code}_t-ud-{part}.conllu", many, seed + 10 * len(name))
    (source,) = find(folder)
    return source


def other_way(path: Path) -> None:
    """Annotate the same words otherwise: objects are oblique, nouns are proper."""
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("\tobj\t", "\tobl\t").replace("\tNOUN\t", "\tPROPN\t"), encoding="utf-8")


def test_sentences_of_dev_and_test_are_dropped_from_all_train_data(tmp_path: Path) -> None:
    main = treebank(tmp_path, FIRST, train=40, dev=5, test=5)
    other = treebank(tmp_path, SECOND, train=30, test=4)
    own, held = (main.files[part].read_text(encoding="utf-8") for part in ("train", "test"))
    main.files["train"].write_text(own + other.files["test"].read_text(encoding="utf-8"), encoding="utf-8")
    more = other.files["train"].read_text(encoding="utf-8")
    other.files["train"].write_text(more + held.replace("\t.\t", "\t.\t").replace("# text", "# old"), encoding="utf-8")
    before = {text for part in (main.files["dev"], main.files["test"], other.files["test"]) for text in texts(part)}
    data = read(main, [other])
    assert data.dropped >= 4
    assert data.others[0].dropped >= 5
    for bank, file in ((data.train, main.files["train"]), (data.others[0].train, other.files["train"])):
        kept = ["".join(sentence.text.split()) for sentence in ropewalk.Document(bank)]
        assert before.isdisjoint(kept)
        assert kept == [text for text in texts(file) if text not in before]
    assert len(read(main).train) == len(conllu.read(main.files["train"]))  # a single treebank is learnt as it is
    made, _ = planned([main, other], BuildOptions())
    assert any(f"{SECOND}: {data.others[0].dropped} sentences of train were dropped" in text for text in made.lacks)
    with pytest.raises(TrainingError, match="two treebanks are called UD_Invented-First"):
        read(main, [main])
    with pytest.raises(TrainingError, match="UD_Invented-Third: there is no train file, only test"):
        read(main, [treebank(tmp_path, "UD_Invented-Third", test=3)])


def texts(file: Path) -> list[str]:
    return ["".join(sentence.text.split()) for sentence in ropewalk.Document(conllu.read(file))]


def test_the_plan_says_what_several_treebanks_are_for(tmp_path: Path) -> None:
    main = treebank(tmp_path, FIRST, train=30, dev=5)
    same = treebank(tmp_path, SECOND, kind=Invented(lemmas=False), train=20)
    foreign = treebank(tmp_path, "UD_Other-Third", "yy", train=20)
    bare = treebank(tmp_path, "UD_Invented-Fourth", kind=Invented(text=False, closed=False), train=20)
    made, data = planned([main, same, foreign, bare], BuildOptions())
    choices = {choice.what: choice for choice in made.choices}
    assert choices["treebanks"].value.startswith(f"{FIRST} is the main one")
    assert "a learnt vector for each" in choices["treebanks"].reason
    assert made.parser.data.styles == data.names
    assert made.texts == (FIRST, SECOND)
    assert choices["treebanks of the segmenter"].value == f"{FIRST}, {SECOND}"
    assert "UD_Other-Third: another language" in choices["treebanks of the segmenter"].reason
    assert "UD_Invented-Fourth: no spaces told" in choices["treebanks of the segmenter"].reason
    assert f"{SECOND} has no LEMMA, which is learnt from the other treebanks alone" in made.lacks
    assert made.parser.model.tags == ("lemma", "upos", "feats")
    alone, _ = planned(main, BuildOptions())
    assert alone.parser.data.styles == alone.texts == ()
    assert not {"treebanks", "treebanks of the segmenter"} & {choice.what for choice in alone.choices}
    assert alone.parser.training.epochs >= made.parser.training.epochs


def test_columns_that_a_treebank_lacks_are_not_learnt_from_it(tmp_path: Path) -> None:
    files = [Invented().write(tmp_path / "a", 20, 1), Invented(lemmas=False, tags=False).write(tmp_path / "b", 20, 2)]
    config = from_mapping(
        {
            "data": {"train": [str(file) for file in files], "styles": ["a", "b"]},
            "model": {"tags": ["lemma", "upos", "feats"], "encoder": {"kind": "bilstm"}},
        }
    )
    parts, _ = read_files(config.data.train, "stop", "train")
    mixed = MixedData.of(parts, config.data, config.model.tags)
    assert [*map(sorted, mixed.lacking)] == [[], ["feats", "lemma", "upos"]]
    labels, _ = label_set(config, mixed.bank, mixed)
    assert "_" not in dict(labels.tags)["upos"]
    alone, _ = label_set(config, parts[0])
    assert [(name, set(classes)) for name, classes in labels.tags] == [
        (name, set(classes)) for name, classes in alone.tags
    ]
    assert labels.lemmas == alone.lemmas
    learnt = examples(
        mixed.bank,
        labels,
        parse_by_labels=True,
        unlearnt=mixed.unlearnt(),
        styles=mixed.style_numbers(("a", "b")),
    )
    words = parts[0].words
    for column in learnt.tags:
        assert (column[words:] == MISSING).all()
        assert (column[:words] >= 0).any()
    assert learnt.styles.tolist() == [0] * len(parts[0]) + [1] * len(parts[1])
    assert (learnt.relations >= 0).all()  # trees are learnt from both
    plain = MixedData.of(parts, DataOptions(), ())
    assert len(plain.parts) == 1
    assert not plain.unlearnt()
    with pytest.raises(ConfigError, match=r"data\.styles has 'b', which the encoder does not know; expected .* a"):
        mixed.style_numbers(("a",))
    with pytest.raises(ConfigError, match=r"data\.styles has 1 names; expected one for each of the 2 files"):
        MixedData.of(parts, replace(config.data, styles=("a",)), ())


def settings(kind: str, files: list[str], styles: list[str]) -> dict[str, Any]:
    sizes = {"word_size": 8, "affix_size": 4, "shape_size": 0, "character_size": 4, "hidden": 16, "depth": 2}
    return {
        "data": {"train": files, "dev": files[:1], "styles": styles},
        "model": {
            "encoding": "four-bit",
            "loss": "trees",
            "tags": ["upos", "lemma"],
            "hidden": 12,
            "dropout": 0.0,
            "relations": {"from": "word+head", "hidden": 12},
            "biaffine": {"arc_size": 8},
            "encoder": {"kind": kind, "dropout": 0.0, **sizes},
        },
        "training": {
            "epochs": 5,
            "metric": "mean",
            "batch": 60,
            "encoder_rate": 0.02,
            "head_rate": 0.02,
            "threads": 1,
            "device": "cpu",
        },
        "decoding": {"decoder": "mbr"},
    }


@pytest.fixture(scope="module", params=["bilstm", "sru"])
def two_styles(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model of two treebanks with opposite conventions, trained and exported."""
    home = tmp_path_factory.mktemp(request.param)
    files = [Invented().write(home / name, 60, 1) for name in ("one.conllu", "two.conllu")]
    other_way(files[1])
    train(from_mapping(settings(request.param, [str(file) for file in files], ["one", "two"])), home / "trained")
    export(home / "trained", home / "exported", weights="int8")
    return home, files[1]


def test_a_style_is_learnt_exported_and_chosen(two_styles: tuple[Path, Path]) -> None:
    home, second = two_styles
    gold = {"one": conllu.read(home / "one.conllu"), "two": conllu.read(second)}
    for folder in ("trained", "exported"):
        parser = ropewalk.load(home / folder)
        main = parser.conllu(gold["one"]).treebank
        assert right(main, gold["one"]) > 0.9
        chosen = {
            name: ropewalk.load(home / folder, ropewalk.ParserOptions(style=name)).conllu(bank).treebank
            for name, bank in gold.items()
        }
        assert conllu.dumps(chosen["one"]) == conllu.dumps(main)
        assert right(chosen["two"], gold["two"]) > 0.9
        assert right(chosen["two"], gold["one"]) < 0.8  # objects and nouns are called otherwise
        model = load_model(home / folder)
        changed = model.with_decoding(style="two")
        assert right(changed.parse(gold["one"]), chosen["two"]) == 1
        assert right(model.parse(gold["one"]), main) == 1  # the first is not disturbed
    card = (home / "exported" / "README.md").read_text(encoding="utf-8")
    assert "The output follows the conventions of `one`; `--style` chooses those of `two`." in card


def right(bank: Treebank, gold: Treebank) -> float:
    same = np.array(bank.relations.texts()) == np.array(gold.relations.texts())
    assert bank.upos is not None
    assert gold.upos is not None
    return float((same & (np.array(bank.upos.texts()) == np.array(gold.upos.texts()))).mean())


def test_a_style_that_a_model_does_not_have_is_refused(two_styles: tuple[Path, Path]) -> None:
    home, _ = two_styles
    with pytest.raises(
        ConfigError, match=r"style is 'tree', which this model does not have; expected one of: one, two"
    ):
        ropewalk.load(home / "exported", ropewalk.ParserOptions(style="tree"))
    with pytest.raises(ConfigError, match="it has one style: leave it out"):
        ropewalk.load("en", ropewalk.ParserOptions(style="one"))
    result = CliRunner().invoke(
        app_of(["parse"]),
        ["parse", "-m", str(home / "exported"), "--input", "tokens", "--style", "two", "-"],
        input="ka lo mi .\n",
    )
    assert result.exit_code == 0, result.output
    assert "\tobl\t" in result.stdout


def test_a_model_with_styles_is_trained_further(two_styles: tuple[Path, Path], tmp_path: Path) -> None:
    home, second = two_styles
    table = settings(load_model(home / "trained").description.encoder.kind, [str(second)], ["two"])
    table["training"]["epochs"] = 1
    further = train(from_mapping(table), tmp_path / "further", init_from=str(home / "trained"))
    assert load_model(further.home).description.encoder.styles == ("one", "two")
    table["data"]["styles"] = ["three"]
    with pytest.raises(ConfigError, match="'three', which the encoder does not know"):
        train(from_mapping(table), tmp_path / "else", init_from=str(home / "trained"))


def test_teachers_are_asked_in_each_style(two_styles: tuple[Path, Path], tmp_path: Path) -> None:
    home, second = two_styles
    files = [str(home / "one.conllu"), str(second)]
    table = settings(load_model(home / "trained").description.encoder.kind, files, ["one", "two"])
    table["teacher"] = {"model": [str(home / "trained")], "weight": 0.9, "copies": 1}
    taught = train(from_mapping(table), tmp_path / "student").home
    banks = dict(zip(("one", "two"), map(conllu.read, files), strict=True))
    for name, other in (("one", "two"), ("two", "one")):
        parsed = ropewalk.load(taught, ropewalk.ParserOptions(style=name)).conllu(banks[name]).treebank
        assert right(parsed, banks[name]) > 0.75 > right(parsed, banks[other])


def test_styles_need_an_encoder_that_has_them() -> None:
    from ropewalk.training.checks import demand_used

    table = {"data": {"styles": ["a"]}, "model": {"encoder": {"kind": "transformer", "name": "x"}}}
    with pytest.raises(ConfigError, match=r"data\.styles is for the encoders bilstm and sru"):
        demand_used(from_mapping(table))


def test_a_build_from_several_treebanks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learnt: list[list[str]] = []

    def segmenter(config: Any, out: Path, **_: object) -> SegmenterOutcome:  # noqa: ANN401 - of the real one
        learnt.append([*config.data.train])
        return SegmenterOutcome(out, {"dev": {"tokens": 1.0}})

    def exported(*_: object, **__: object) -> object:
        raise KeyboardInterrupt  # it is tested above

    monkeypatch.setattr(stages, "train_segmenter", segmenter)
    monkeypatch.setattr(stages, "export", exported)
    main = treebank(tmp_path, FIRST, train=30)
    same, foreign = treebank(tmp_path, SECOND, train=20), treebank(tmp_path, "UD_Other-Third", "yy", train=20)
    options, events = BuildOptions(changes=TINY, threads=1, teachers=1), list[Any]()
    with pytest.raises(KeyboardInterrupt):
        build([main, same, foreign], tmp_path / "m", options, report=events.append)
    assert isinstance(events[0], Plan)
    parser = load_model(tmp_path / "m.work" / "parser")
    assert parser.description.encoder.styles == (FIRST, SECOND, "UD_Other-Third")
    assert len(learnt[0]) == 2
    assert learnt[0][0].endswith("-kept.conllu")
    with pytest.raises(TrainingError, match="the file of train of UD_Other-Third is gone"):
        build([main, same], tmp_path / "m", options)


def test_the_command_takes_several_treebanks_and_a_main_one(tmp_path: Path) -> None:
    folders = [str(tmp_path / name) for name in (FIRST, SECOND)]
    for name in (FIRST, SECOND):
        treebank(tmp_path, name, train=20)
    result = CliRunner().invoke(app_of(["build"]), ["build", *folders, "--main", SECOND, "--dry-run"])
    assert result.exit_code == 0, result.output
    assert f"{SECOND} is the main one" in result.stdout
    result = CliRunner().invoke(app_of(["build"]), ["build", *folders, "--main", "UD_Nowhere", "--dry-run"])
    assert result.exit_code == 2
    result = CliRunner().invoke(app_of(["build"]), ["build", *folders, folders[0], "--dry-run"])
    assert "two treebanks are called" in str(result.exception)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("GNU GENERAL PUBLIC LICENSE 3.0\nhttp://www.gnu.org\n", "GPL-3.0-only"),
        ("   GNU GENERAL PUBLIC LICENSE\n      Version 3, 29 June 2007\n", "GPL-3.0-only"),
        ("CC BY-SA 3.0\n", "CC-BY-SA-3.0"),
    ],
)
def test_short_licence_files_are_understood(tmp_path: Path, text: str, found: str) -> None:
    (tmp_path / "LICENSE.txt").write_text(text, encoding="utf-8")
    assert licence(tmp_path) == found


def test_punctuation_alone_makes_no_column() -> None:
    bank = ropewalk.Treebank.of([ropewalk.Tree([2, 0, 2], ["nsubj", "root", "punct"])] * 3)
    bank = bank.with_columns({"form": ["ka", "lo", "."] * 3, "lemma": ["_", "_", "."] * 3, "upos": ["X", "_", "_"] * 3})
    assert filled(bank, "lemma") == 0
    assert filled(bank, "upos") == pytest.approx(0.5)
