"""`ropewalk build`: what is chosen and why, stages that go on where they were, and treebanks of many kinds."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner

from building_tools import LATIN, TINY, Invented
from ropewalk import conllu
from ropewalk.autobuild import stages, treebank_files
from ropewalk.autobuild import survey as surveys
from ropewalk.autobuild.planning import (
    LIFTED,
    OF_PIECES,
    PROJECTIVE,
    BuildOptions,
    Plan,
    ReaderFacts,
    parser_minutes,
    plan,
)
from ropewalk.autobuild.record import FILE
from ropewalk.autobuild.stages import StageBegan, StageEnded, build, planned, work_folder
from ropewalk.autobuild.survey import Survey, TextCounts, survey
from ropewalk.autobuild.treebank_files import hold_out, licence
from ropewalk.cli import app_of
from ropewalk.errors import ConfigError, FormatError, ModelError, OptionError, RopewalkError, TrainingError
from ropewalk.laboratory.splits import of_files
from ropewalk.training import segmenter_training
from ropewalk.training.checks import demand_decoder, unused_options
from ropewalk.training.export import Report
from ropewalk.training.loop import Clock, Progress
from ropewalk.training.segmenter_training import SegmenterOutcome
from ropewalk.training.training_run import train as train_parser
from training_tools import bank_of, tiny_encoder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ropewalk.autobuild.stages import Event
    from ropewalk.laboratory.splits import SplitSource
    from ropewalk.training.config import Config

SEEN = Survey(
    sentences=2000,
    words=40_000,
    dev_sentences=200,
    dev_words=4_000,
    longest=80,
    text=TextCounts(closed=2_000, texts=2_000),
    columns={"lemma": 1.0, "upos": 1.0, "xpos": 1.0, "feats": 0.5},
    features=60,
    script="Latin",
    coverage={PROJECTIVE: 0.999, LIFTED: 1.0},
)
CROSSING = replace(SEEN, coverage={PROJECTIVE: 0.90, LIFTED: 0.95})
ABOUT = {"name": "UD_Invented-Test", "licence": "CC0"}
CJK = ("山", "水", "火", "木", "人", "口")
HEBREW = ("אב", "גד", "הת", "מח", "של")
THAI = ("กา", "ขิ", "คุ", "งู")
KINDS = {
    "no spaces between words": Invented(CJK, between="", stop="。"),
    "marks and no spaces": Invented(THAI, between="", stop="ๆ"),
    "words with spaces": Invented(("ka mi", "lu", "to ra ne", "so", "so te"), most=1),
    "multiword tokens": Invented(several=True),
    "right to left": Invented(HEBREW, several=True),
    "no text, no spaces told": Invented(text=False, closed=False),
    "crossing": Invented(crossing=True),
    "a sentence of 300 words": Invented(longest=300),
    "no lemmas": Invented(lemmas=False),
    "nothing but trees": Invented(lemmas=False, tags=False),
}


def chosen(made: Plan, what: str) -> str:
    return next(choice.value for choice in made.choices if choice.what == what)


def source_of(kind: Invented, home: Path, **sentences: int) -> SplitSource:
    return of_files(
        {part: kind.write(home / f"{part}.conllu", many, seed) for seed, (part, many) in enumerate(sentences.items())}
    )


def test_a_plan_gives_every_choice_a_reason_and_follows_the_data() -> None:
    made = plan(SEEN, BuildOptions(), ABOUT)
    assert all(choice.value and choice.reason for choice in made.choices)
    assert made.parser.model.encoding == PROJECTIVE
    assert made.parser.model.tags == ("lemma", "upos", "xpos", "feats")
    assert (made.parser.model.loss, made.parser.decoding.decoder) == ("trees", "mbr")
    assert made.parser.data.name == made.segmenter.data.name == ABOUT["name"]
    assert made.lacks == ()
    large = plan(replace(SEEN, words=2_000_000), BuildOptions(seed=7, threads=3), ABOUT)
    assert large.parser.training.epochs < made.parser.training.epochs
    assert (large.parser.seed, large.segmenter.seed) == (7, 7)
    assert (large.parser.training.threads, large.segmenter.training.threads) == (3, 3)


@pytest.mark.parametrize(
    ("coverage", "parser", "encoding"),
    [
        ({PROJECTIVE: 0.999, LIFTED: 1.0}, "labels", PROJECTIVE),
        ({PROJECTIVE: 0.98, LIFTED: 0.99}, "labels", LIFTED),
        ({PROJECTIVE: 0.98, LIFTED: 0.97}, "labels", PROJECTIVE),
        ({PROJECTIVE: 0.90, LIFTED: 0.95}, "biaffine", ""),
    ],
)
def test_the_encoding_is_chosen_by_coverage(coverage: dict[str, float], parser: str, encoding: str) -> None:
    made = plan(replace(SEEN, coverage=coverage), BuildOptions(), ABOUT).parser.model
    assert made.parser == parser
    assert not encoding or made.encoding == encoding


@pytest.mark.parametrize(
    ("seen", "teachers", "learnt", "reason"),
    [
        (SEEN, 0, ("labels", "trees", "word+head", "mbr"), "this one has 40,000"),
        (SEEN, 2, ("labels", "trees", "word+head", "mbr"), "this one has 40,000"),
        (
            replace(SEEN, unsummed=0.05),
            0,
            ("labels", "trees", "word+head", "mbr"),
            "5.00 % of all words, are learnt word",
        ),
        (replace(SEEN, unsummed=0.2), 0, ("labels", "words", "word+head", "joint"), "20.00 % of the words"),
        (CROSSING, 0, ("biaffine", "trees-nonprojective", "word+head", "mbr-nonprojective"), "over all trees"),
        (replace(CROSSING, unsummed=0.2), 0, ("biaffine", "words", "word+head", "exact"), "20.00 % of the words"),
    ],
)
def test_whole_trees_are_learnt_where_they_can_be_summed(
    seen: Survey, teachers: int, learnt: tuple[str, ...], reason: str
) -> None:
    made = plan(seen, BuildOptions(teachers=teachers), ABOUT)
    model = made.parser.model
    assert (model.parser, model.loss, model.relations.from_, made.parser.decoding.decoder) == learnt
    assert reason in next(choice.reason for choice in made.choices if choice.what == "learning")
    demand_decoder(made.parser)


def test_columns_features_and_spaces_decide() -> None:
    bare = plan(replace(SEEN, columns={"upos": 1.0, "lemma": 0.001}, features=0), BuildOptions(), ABOUT)
    assert bare.parser.model.tags == ("upos",)
    assert any("no lemmas" in text for text in bare.lacks)
    assert not any(choice.what == "features" for choice in bare.choices)
    assert plan(replace(SEEN, features=401), BuildOptions(), ABOUT).parser.model.feats == "apart"
    assert plan(SEEN, BuildOptions(), ABOUT).parser.model.feats == "whole"
    unspaced = plan(replace(SEEN, text=replace(SEEN.text, unspaced=0.9)), BuildOptions(), ABOUT).segmenter.model
    spaced = plan(SEEN, BuildOptions(), ABOUT).segmenter.model
    assert sum(unspaced.character_dilations) > sum(spaced.character_dilations)
    assert unspaced.dictionary_length > spaced.dictionary_length == 0
    inside = plan(replace(SEEN, text=replace(SEEN.text, spaced=8_000)), BuildOptions(), ABOUT).segmenter.model
    assert inside.pair_size > spaced.pair_size == 0
    assert plan(replace(SEEN, text=replace(SEEN.text, spaced=80)), BuildOptions(), ABOUT).segmenter.model == spaced
    for kinds in (20, 1_000):  # as in French, and as in Tamil
        text = replace(SEEN.text, multiwords=2_000, multiword_kinds=kinds)
        several = plan(replace(SEEN, text=text), BuildOptions(), ABOUT).segmenter.model
        assert (several.character_hidden > spaced.character_hidden) == (kinds == 1_000)
    lacks = plan(replace(SEEN, has_test=False, longest=300, bad_trees=3, text=TextCounts()), BuildOptions(), {}).lacks
    for words in ("no test file", "300 words", "3 sentences", "space after every token", "no licence"):
        assert any(words in text for text in lacks), words


def test_an_encoder_or_vectors_are_read_as_they_ask() -> None:
    small, large = (plan(SEEN, BuildOptions(encoder="x"), ABOUT, ReaderFacts(size, 1.0)).parser for size in (384, 1024))
    assert small.model.encoder.kind == "transformer"
    assert small.training.encoder_rate > large.training.encoder_rate
    vectors = plan(SEEN, BuildOptions(vectors="v.txt"), ABOUT, ReaderFacts(50, 0.8))
    assert vectors.parser.model.encoder.vectors == "v.txt"
    assert "80.00 %" in chosen(vectors, "reader")


def test_simple_recurrent_units_are_chosen_and_lstms_an_option() -> None:
    lstms = ("parser.model.encoder.kind=bilstm", "parser.model.encoder.input_size=128")
    for changes, kind in (((), "sru"), (lstms, "bilstm")):
        made = plan(SEEN, BuildOptions(changes=changes), ABOUT)
        assert (made.parser.model.encoder.kind, made.parser.model.encoder.depth) == (kind, 3)
        assert not [name for name in unused_options(made.parser) if ".encoder." in name]


def test_layers_are_wide_where_there_is_much_to_learn_and_space() -> None:
    small, large, crowded = (
        plan(replace(SEEN, words=words, crowded=full), BuildOptions(), ABOUT).parser
        for words, full in ((10_000, False), (90_000, False), (90_000, True))
    )
    assert large.model.encoder.hidden > small.model.encoder.hidden == crowded.model.encoder.hidden
    assert large.training.batch > small.training.batch
    assert small.training.epochs == 70
    assert 20 < large.training.epochs < 30


def test_a_treebank_of_many_forms_leaves_no_space_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = treebank_files.read(source_of(Invented(), tmp_path, train=30), [])
    assert not survey(data, ()).crowded
    monkeypatch.setattr(surveys, "LARGE", surveys.FIXED)
    assert survey(data, ()).crowded


def test_the_plan_says_which_of_its_options_were_changed() -> None:
    made = plan(SEEN, BuildOptions(changes=("parser.training.epochs=3", "parser.training.clip=2")), ABOUT)
    changed = [choice.value for choice in made.choices if "changed" in choice.value]
    assert len(changed) == 1
    assert changed[0].endswith("; changed: parser.training.epochs=3")


def test_options_are_set_otherwise_by_name() -> None:
    changes = ("parser.model.hidden=7", "segmenter.training.epochs=3")
    made = plan(SEEN, BuildOptions(changes=changes), ABOUT)
    assert (made.parser.model.hidden, made.segmenter.training.epochs) == (7, 3)
    with pytest.raises(ConfigError, match="tagger is unknown; expected parser"):
        plan(SEEN, BuildOptions(changes=("tagger.hidden=7",)), ABOUT)
    with pytest.raises(ConfigError, match=r"model\.hiden is unknown; did you mean hidden"):
        plan(SEEN, BuildOptions(changes=("parser.model.hiden=7",)), ABOUT)


def test_time_is_shared_out() -> None:
    options = BuildOptions(minutes=20)
    learning = plan(SEEN, options, ABOUT).segmenter.training.minutes
    spent = 60 * learning
    assert 0 < learning + parser_minutes(options, spent, 0) < 20
    assert parser_minutes(options, 0, 0) > parser_minutes(options, spent, 0) > parser_minutes(options, spent, 100) > 0
    assert (
        spent / 60 + parser_minutes(options, spent, 100) <= 20 - 200 / 60
    )  # an export takes longer than a segmenter's
    assert parser_minutes(options, 3600, 0) > 0
    free = BuildOptions(minutes=0)
    assert plan(SEEN, free, ABOUT).segmenter.training.minutes == parser_minutes(free, 3600, 100) == 0


@pytest.mark.parametrize("many", [2, 9, 10, 50, 99, 700])
def test_a_tenth_is_held_out_the_same_each_time(many: int) -> None:
    bank = bank_of(many, longest=3)
    train, dev = hold_out(bank)
    again = hold_out(bank)[1]
    assert conllu.dumps(dev) == conllu.dumps(again)
    assert len(train) + len(dev) == many
    assert len(dev) == pytest.approx(many / 10, abs=1 + many / 200)
    assert len(dev) >= 1
    mixed = sorted(line for part in (train, dev) for line in conllu.dumps(part).splitlines())
    assert mixed == sorted(conllu.dumps(bank).splitlines())


def test_one_sentence_is_too_few() -> None:
    with pytest.raises(TrainingError, match="1 sentence is too few"):
        hold_out(bank_of(1))


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("README.md", "# A treebank\n\nLicense: CC BY-SA 4.0\nGenre: news\n", "CC-BY-SA-4.0"),
        (
            "LICENSE.txt",
            "under the Creative Commons Attribution-NonCommercial- ShareAlike 3.0 Unported",
            "CC-BY-NC-SA-3.0",
        ),
        ("LICENSE.txt", "Attribution 4.0 International", "CC-BY-4.0"),
        ("LICENSE.txt", "Lesser General Public License For Linguistic Resources\n\nPreamble", "LGPLLR"),
        ("LICENSE.txt", "Do what you like.", ""),
        ("NEWS", "", ""),
    ],
)
def test_the_licence_is_that_of_the_folder(tmp_path: Path, file: str, text: str, found: str) -> None:
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert licence(tmp_path) == found


@pytest.mark.parametrize(
    ("kind", "what", "value"),
    [
        ("a sentence of 300 words", "learning", "each word's label and arc alone"),
        ("no spaces between words", "raw text", "14 characters"),
        ("marks and no spaces", "raw text", "14 characters"),
        ("words with spaces", "raw text", "neighbours"),
        ("multiword tokens", "raw text", "goes by spaces"),
        ("right to left", "raw text", "goes by spaces"),
        ("crossing", "trees", LIFTED),
        ("no lemmas", "tags", "upos, feats"),
        ("nothing but trees", "tags", "none"),
    ],
)
def test_what_is_seen_of_a_treebank_makes_the_plan(tmp_path: Path, kind: str, what: str, value: str) -> None:
    made, data = planned(source_of(KINDS[kind], tmp_path, train=60), BuildOptions())
    assert value in chosen(made, what)
    assert data.held_out
    reasons = " ".join(choice.reason for choice in made.choices)
    assert ("right to left" in reasons) == (kind == "right to left")
    assert ("tokens of several words" in reasons) == KINDS[kind].several
    said = " ".join(made.lacks)
    assert ("spaces inside" in reasons) == (kind == "words with spaces")
    assert "other spaces in their # text" not in said


def test_files_that_cannot_be_built_from_are_refused(tmp_path: Path) -> None:
    kind = Invented()
    with pytest.raises(TrainingError, match="no train file, only test"):
        planned(source_of(kind, tmp_path, test=5), BuildOptions())
    with pytest.raises(OptionError, match="do not go together"):
        planned(source_of(kind, tmp_path, train=5), BuildOptions(encoder="a", vectors="b"))
    with pytest.raises(FormatError, match=r"nowhere\.txt: cannot be read"):
        planned(source_of(kind, tmp_path, train=5), BuildOptions(vectors=str(tmp_path / "nowhere.txt")))
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "thesis.tex").write_text("x", encoding="utf-8")
    with pytest.raises(RopewalkError, match="no earlier export"):
        build(source_of(kind, tmp_path, train=5), tmp_path / "m", BuildOptions())
    assert not work_folder(tmp_path / "m").exists()


class Faked:
    """Stands for the stages that take long: tells which ran, and fails where it is asked to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ran: list[str] = []
        self.fails = ""
        for name, stands_for in (
            ("train_segmenter", self.segmenter),
            ("export", self.export),
            ("train_parser", self.parser),
        ):
            monkeypatch.setattr(stages, name, stands_for)
        self._real: Callable[..., Any] = train_parser

    def _enter(self, name: str) -> None:
        self.ran.append(name)
        if self.fails == name:
            raise KeyboardInterrupt

    def segmenter(self, config: Any, out: Path, **_: object) -> SegmenterOutcome:  # noqa: ANN401 - of the real one
        self._enter("segmenter")
        assert all(conllu.read(path).words for path in (*config.data.train, *config.data.dev))
        return SegmenterOutcome(out, {"dev": {"tokens": 1.0}})

    def parser(self, config: Config, home: Path, **options: Any) -> object:  # noqa: ANN401 - of the real one
        self.ran.append(home.name)
        report = options.pop("report")

        def interrupting(progress: Progress) -> None:
            report(progress)
            if self.fails == home.name and progress.ended:
                raise KeyboardInterrupt

        return self._real(config, home, report=interrupting, **options)

    def export(self, home: Path, out: Path, **_: object) -> Report:
        self._enter("export")
        out.mkdir()
        (out / "config.json").write_text('{"format": "ropewalk-runtime"}', encoding="utf-8")
        assert (home / "model.safetensors").is_file()
        return Report(out, "m", "", 0, 0, 0.0, 0.0, 1.0, {})


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> Faked:
    monkeypatch.setattr(stages, "demand_free", lambda _: None)
    return Faked(monkeypatch)


@pytest.mark.parametrize("kind", KINDS)
def test_a_parser_is_learnt_from_any_kind_of_treebank(tmp_path: Path, kind: str, faked: Faked) -> None:
    source = source_of(KINDS[kind], tmp_path, train=50, dev=5)
    changes = (*TINY, *(f"parser.training.{change}" for change in ("epochs=12", "encoder_rate=0.02", "head_rate=0.02")))
    built = build(source, tmp_path / "m", BuildOptions(changes=changes, threads=1))
    assert faked.ran == ["segmenter", "parser", "export"]
    assert set(built.scores) == {"segmenter", "parser", "export"}  # there is no test file
    assert built.scores["parser"]["dev"]["uas_sentences"] >= 0.5  # after two epochs it is about 0.1
    record = json.loads((built.work / FILE).read_text(encoding="utf-8"))
    assert record["parser"]["data"]["train"] == [str(source.files["train"].resolve())]


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [
        ("multiword tokens", 0.95, 1.0),
        ("right to left", 0.95, 1.0),
        ("no text, no spaces told", 0.95, 1.0),
        ("words with spaces", 0.95, 1.0),
    ],
)
def test_the_segmenter_of_a_plan_learns_the_text(
    tmp_path: Path, kind: str, least: float, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt  # what follows is an export, which takes long

    monkeypatch.setattr(segmenter_training, "as_onnx", stop)
    changes = (*TINY, "segmenter.training.epochs=6", "segmenter.training.batch=10")
    epochs: list[Any] = []
    with pytest.raises(KeyboardInterrupt):
        build(
            source_of(KINDS[kind], tmp_path, train=60),
            tmp_path / "m",
            BuildOptions(changes=changes, threads=1),
            report=epochs.append,
        )
    assert (epochs[-1].epoch, epochs[-1].done) == (6, 1.0)
    assert least <= epochs[-1].scores["words"] <= most


def test_a_pretrained_encoder_is_looked_at_and_used(tmp_path: Path, faked: Faked) -> None:
    home = tiny_encoder(tmp_path / "encoder", "bert")
    options = BuildOptions(encoder=str(home), changes=("parser.training.epochs=1",), threads=1)
    source, events = source_of(Invented(), tmp_path, train=30), list[Any]()
    build(source, tmp_path / "m", options, report=events.append)
    made = next(one for one in events if isinstance(one, Plan))
    reason = next(choice.reason for choice in made.choices if choice.what == "reader")
    forms = conllu.read(work_folder(tmp_path / "m") / "train-kept.conllu").column("form").texts()
    known = 1 - forms.count(".") / len(forms)  # it has letters and no full stop
    assert f"knows all pieces of {100 * known:.2f} % of the words" in reason
    assert faked.ran[-1] == "export"
    assert (work_folder(tmp_path / "m") / "parser" / "encoder").is_dir()
    with pytest.raises(ModelError, match="is no folder; pass that of a pretrained encoder"):
        build(source, tmp_path / "n", replace(options, encoder="./nowhere"))


def test_static_vectors_are_looked_at_and_used(tmp_path: Path, faked: Faked) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("ka 1 2 3\n. 0 0 1\n", encoding="utf-8")
    source = source_of(Invented(LATIN[:1], most=1), tmp_path, train=30)
    options = BuildOptions(vectors=str(vectors), changes=TINY, threads=1)
    assert "static vectors of 3, which 100.00 % of the words have" in chosen(planned(source, options)[0], "reader")
    build(source, tmp_path / "m", options)
    assert faked.ran[-1] == "export"
    vectors.write_text("ka 1 2 4\n. 0 0 1\n", encoding="utf-8")
    with pytest.raises(TrainingError, match="file of vectors has changed"):
        build(source, tmp_path / "m", options)


def test_vectors_of_pieces_are_looked_at_and_used(tmp_path: Path, faked: Faked) -> None:
    (tmp_path / "pieces.txt").write_text("▁ka\n▁lo", encoding="utf-8")
    np.save(tmp_path / "vectors.npy", np.eye(2, dtype=np.float16))
    source = source_of(Invented(LATIN[:1], most=1), tmp_path, train=30, dev=5)
    options = BuildOptions(vectors=str(tmp_path), changes=TINY, threads=1)
    made = planned(source, options)[0]
    forms = conllu.read(source.files["train"]).column("form").texts()
    known = 1 - forms.count(".") / len(forms)
    assert f"static vectors of 2, which {100 * known:.2f} % of the words have" in chosen(made, "reader")
    assert made.parser.model.encoder.most_vectors == OF_PIECES
    build(source, tmp_path / "m", options)
    assert faked.ran[-1] == "export"
    (tmp_path / "pieces.txt").write_text("▁ka\n▁mi", encoding="utf-8")
    with pytest.raises(TrainingError, match="file of pieces has changed"):
        build(source, tmp_path / "m", options)


@pytest.mark.parametrize("fails", ["segmenter", "teacher-2", "parser", "export"])
def test_an_interrupted_build_goes_on_where_it_was(
    tmp_path: Path, fails: str, faked: Faked, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = source_of(Invented(), tmp_path, train=30)
    options = BuildOptions(changes=TINY, threads=1, teachers=2)
    faked.fails = fails
    with pytest.raises(KeyboardInterrupt):
        build(source, tmp_path / "m", options)
    before = faked.ran.copy()
    faked.fails = ""
    faked.ran.clear()
    events: list[Event] = []
    build(source, tmp_path / "m", options, report=events.append)
    runs = ["segmenter", "teacher-1", "teacher-2", "parser", "export"]
    assert before == runs[: runs.index(fails) + 1]
    assert faked.ran == runs[1 if fails == "teacher-2" else runs.index(fails) :]  # teachers are a stage
    done = [one.name for one in events if isinstance(one, StageEnded) and one.before]
    stage = "teachers" if fails == "teacher-2" else fails
    assert done == ["segmenter", "teachers", "parser"][: ["segmenter", "teachers", "parser", "export"].index(stage)]
    epochs = [one.epoch for one in events if isinstance(one, Progress) and one.ended]
    assert epochs == {"segmenter": [1, 2] * 3, "teacher-2": [2, 1, 2], "parser": [2], "export": []}[fails]
    faked.ran.clear()
    events.clear()
    monkeypatch.chdir(tmp_path)
    assert build(source, "m", options, report=events.append).model == tmp_path / "m"
    assert not faked.ran
    assert not any(isinstance(one, StageBegan) for one in events)


def test_teachers_have_other_seeds_and_are_learnt_from(tmp_path: Path, faked: Faked) -> None:
    few = plan(SEEN, BuildOptions(teachers=3), ABOUT)
    alone = plan(SEEN, BuildOptions(), ABOUT)
    assert few.teachers == 3
    assert few.parser.training.epochs == alone.parser.training.epochs // (1 + few.parser.teacher.copies)
    assert alone.teachers == alone.parser.teacher.copies == 0
    crossing = replace(SEEN, coverage={PROJECTIVE: 0.5, LIFTED: 0.6})
    assert plan(crossing, BuildOptions(teachers=2), ABOUT).teachers == 0  # arcs alone learn from no teacher
    source = source_of(Invented(), tmp_path, train=30)
    built = build(source, tmp_path / "m", BuildOptions(changes=TINY, threads=1, teachers=2))
    assert faked.ran == ["segmenter", "teacher-1", "teacher-2", "parser", "export"]
    configs = [json.loads((built.work / name / "config.json").read_text()) for name in faked.ran[1:4]]
    assert [one["training"]["seed"] for one in configs] == [2, 3, 1]
    assert configs[2]["training"]["teacher"]["model"] == ["teacher-1", "teacher-2"]
    first, second, last = (one["training"]["training"]["minutes"] for one in configs)
    assert 0 < first == second < 60 / 3 < last < 60  # teachers took less than they might have
    assert 0 <= built.scores["teachers"]["dev"]["las"] <= 1


def test_a_build_goes_on_with_the_same_data_and_options_alone(tmp_path: Path, faked: Faked) -> None:
    source, options = source_of(Invented(), tmp_path, train=30), BuildOptions(changes=TINY, threads=1)
    faked.fails = "segmenter"
    with pytest.raises(KeyboardInterrupt):
        build(source, tmp_path / "m", options)
    faked.ran.clear()
    for other, words in (
        (replace(options, seed=2), "--seed was 1 and is now 2"),
        (replace(options, minutes=5), r"--minutes was 60.0 and is now 5"),
        (replace(options, changes=()), "--set was"),
    ):
        with pytest.raises(TrainingError, match=words) as failure:
            build(source, tmp_path / "m", other)
        assert str(work_folder(tmp_path / "m")) in str(failure.value)
    with pytest.raises(TrainingError, match="file of test is new"):
        build(of_files({**source.files, "test": source.files["train"]}), tmp_path / "m", options)
    Invented().write(source.files["train"], 30, 99)
    with pytest.raises(TrainingError, match="file of train has changed"):
        build(source, tmp_path / "m", options)
    assert not faked.ran
    (work_folder(tmp_path / "m") / FILE).write_text('{"version": 1}', encoding="utf-8")
    with pytest.raises(TrainingError, match="is damaged"):
        build(source, tmp_path / "m", options)


def test_a_clock_ends_a_run_and_lets_its_rates_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    clock, free = Clock(1.0, seconds=15.0), Clock(0.0)
    assert (clock.seconds, clock.done(0.1), clock.done(0.5), clock.is_up) == (15.0, 0.25, 0.5, False)
    now[0] += 50
    assert (clock.done(0.1), clock.is_up) == (1.0, True)
    assert (free.done(0.1), free.is_up) == (0.1, False)


def test_a_parser_keeps_to_its_time(tmp_path: Path, faked: Faked) -> None:
    changes = (*TINY, "parser.training.epochs=100000")
    source, events = source_of(Invented(), tmp_path, train=30), list[Any]()
    begun = time.process_time()
    build(source, tmp_path / "m", BuildOptions(minutes=0.02, changes=changes, threads=1), report=events.append)
    steps = [one for one in events if isinstance(one, Progress)]
    assert steps[-1].done == 1.0
    assert 1 <= steps[-1].epoch < 1000
    assert time.process_time() - begun < 10
    assert faked.ran[-1] == "export"


def test_a_dry_run_says_why_and_writes_nothing(tmp_path: Path) -> None:
    home = tmp_path / "UD_Invented-Test"
    home.mkdir()
    Invented().write(home / "xx_test-ud-train.conllu", 30)
    done = CliRunner().invoke(app_of(["build"]), ["build", str(home), "--dry-run"])
    assert done.exit_code == 0, done.output
    assert "trees: four-bit with arcs (crossing arcs are lifted" in done.stdout
    assert "learning: whole trees; the tree with the highest expected accuracy (mbr)" in done.stdout
    assert "no test file: the model stays unscored" in done.stdout
    assert sorted(tmp_path.rglob("*")) == [home, home / "xx_test-ud-train.conllu"]
    missing = CliRunner().invoke(app_of(["build"]), ["build", str(home)])
    assert (missing.exit_code, "use -o FOLDER" in missing.stderr) == (2, True)


def test_one_command_from_a_treebank_to_a_model_that_parses_text_without_torch(tmp_path: Path) -> None:
    """Words of one or two characters, no spaces, no text, no development data; fewer networks, enough to learn."""
    home = tmp_path / "UD_Invented-Test"
    home.mkdir()
    kind = Invented(("山", "水天", "火"), between="", most=1, stop="。", text=False)
    kind.write(home / "xx_test-ud-train.conllu", 160)
    kind.write(home / "xx_test-ud-test.conllu", 40, seed=2)
    more = (
        "parser.training.epochs=8",
        "segmenter.training.epochs=6",
        "segmenter.training.batch=5",
        "parser.training.batch=50",
    )
    changes = [word for change in (*TINY, *more) for word in ("--set", change)]
    out = tmp_path / "xx"
    done = CliRunner().invoke(
        app_of(["build"]),
        ["build", str(home), "-o", str(out), "--threads", "1", "--teachers", "1", *changes],
        catch_exceptions=False,
    )
    assert done.exit_code == 0, done.output
    for number, name in enumerate(("segmenter", "teachers", "parser", "export", "test"), start=1):
        assert f"stage {number} of 5, {name}: " in done.stderr
        assert f"{name} took" in done.stderr
    assert "remain" in done.stderr
    scores = json.loads((out / "config.json").read_text(encoding="utf-8"))["scores"]
    assert scores["text"]["Tokens"] > 0.9
    assert scores["test"]["las"] > 0.5
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "# UD_Invented-Test" in card
    assert f"| LAS | {100 * scores['text']['LAS']:.2f} |" in card
    program = (
        "import sys, ropewalk; doc = ropewalk.load(sys.argv[1])('山水天火。'); assert 'torch' not in sys.modules; "
        "print([word.text for sentence in doc for word in sentence])"
    )
    parsed = subprocess.run([sys.executable, "-c", program, str(out)], capture_output=True, text=True, check=True)
    assert parsed.stdout.startswith("['")
    assert parsed.stdout.count("'山'") == 1
