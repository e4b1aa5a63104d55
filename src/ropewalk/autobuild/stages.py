"""A build from a treebank's files to a model's folder, in stages; a finished stage is never repeated."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ropewalk import files
from ropewalk.autobuild import treebank_files as treebanks
from ropewalk.autobuild.planning import (
    CANDIDATES,
    OF_FILE,
    OF_PIECES,
    TEACHING,
    Plan,
    ReaderFacts,
    parser_minutes,
    plan,
)
from ropewalk.autobuild.record import BuildRecord
from ropewalk.autobuild.survey import survey
from ropewalk.errors import FormatError, OptionError
from ropewalk.laboratory.splits import SplitSource
from ropewalk.models.storage import CARD, CONFIG, read_content, read_json, write_json
from ropewalk.pipeline import load
from ropewalk.scoring import conll18
from ropewalk.training.card import names_of
from ropewalk.training.checks import only_used
from ropewalk.training.config import TeacherOptions
from ropewalk.training.examples import read_treebank
from ropewalk.training.export import demand_free, export
from ropewalk.training.loop import CHECKPOINT, Progress
from ropewalk.training.pieces import files_of, is_of_pieces, word_vectors
from ropewalk.training.segmenter_training import SegmenterProgress, raw
from ropewalk.training.segmenter_training import train as train_segmenter
from ropewalk.training.training_run import train as train_parser
from ropewalk.training.vectors import load_encoder

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from ropewalk.autobuild.planning import BuildOptions
    from ropewalk.training.config import Config
    from ropewalk.training.training_run import Outcome
    from ropewalk.treebank.treebank import Treebank

STAGES = {
    "segmenter": "learning to find words and sentences in raw text",
    "teachers": "learning trees and tags with other seeds",
    "parser": "learning trees and tags",
    "export": "making a folder that needs no torch",
    "test": "scoring from raw text",
}
FROM_TEXT = "\n## From raw text"  # the heading of a part of the card
COLUMNS = {"upos": "UPOS", "xpos": "XPOS", "feats": "UFeats", "lemma": "Lemmas"}  # as CoNLL 2018 calls them


@dataclass(frozen=True, slots=True)
class StageBegan:
    """Event: a stage begins. `number` counts from 1, `of` is the number of stages, `doing` describes the stage."""

    number: int
    of: int
    name: str
    doing: str


@dataclass(frozen=True, slots=True)
class StageEnded:
    """Event: a stage is finished, with its duration and its scores from 0 to 1, by part of the data and measure.

    `before` is true if an earlier call finished it.
    """

    name: str
    seconds: float
    scores: Mapping[str, Mapping[str, float]]
    before: bool


Event = Plan | StageBegan | StageEnded | Progress | SegmenterProgress | FormatError  # the last: a sentence left out


@dataclass(frozen=True, slots=True)
class Built:
    """Result of a build: the model's folder, the working folder, the seconds of all stages, and their scores.

    `scores` are by stage, part of the data and measure.
    """

    model: Path
    work: Path
    seconds: float
    scores: Mapping[str, Mapping[str, Mapping[str, float]]]


def work_folder(out: str | os.PathLike[str]) -> Path:
    """Return the working folder of a build with the model folder `out`: beside it, with `.work` added to its name."""
    target = Path(out).resolve()
    return target.with_name(f"{target.name}.work")


def planned(source: SplitSource | Sequence[SplitSource], options: BuildOptions) -> tuple[Plan, treebanks.TreebankData]:
    """Return the plan of a build from a treebank, and the treebank's data; nothing is written.

    `source` may be several treebanks, the main one first. Raise `OptionError` if options contradict each other.
    """
    if options.encoder and options.vectors:
        raise OptionError("--encoder and --vectors do not go together: a pretrained encoder reads no static vectors")
    main, *others = _several(source)
    data = treebanks.read(main, others)
    about = {"name": ", ".join(data.names), "licence": data.licences}
    blueprint = plan(survey(data, CANDIDATES), options, about, _reader(data.learnt, options))
    asked = {change.partition("=")[0].strip().removeprefix("parser.") for change in options.changes}
    return replace(blueprint, parser=only_used(blueprint.parser, asked)), data


def _several(source: SplitSource | Sequence[SplitSource]) -> Sequence[SplitSource]:
    return [source] if isinstance(source, SplitSource) else source


def _reader(bank: Treebank, options: BuildOptions) -> ReaderFacts | None:
    """Load the pretrained encoder or the static vectors that `options` name; return their size and coverage.

    Coverage is the fraction of the treebank's words that they know. Return None if the options name neither.
    """
    forms = bank.column("form").texts()
    if options.encoder:
        encoder = load_encoder(options.encoder)
        unknown = encoder.tokenizer.unk_token_id
        known = {
            form: unknown not in encoder.tokenizer(form, add_special_tokens=False)["input_ids"] for form in set(forms)
        }
        return ReaderFacts(encoder.size, sum(known[form] for form in forms) / len(forms))
    if options.vectors:
        most = OF_PIECES if is_of_pieces(options.vectors) else OF_FILE
        words, rows = word_vectors(options.vectors, most, forms)
        known_words = set(words)
        covered = sum(form in known_words or form.lower() in known_words for form in forms)
        return ReaderFacts(rows.shape[1], covered / len(forms), most)
    return None


def build(
    source: SplitSource | Sequence[SplitSource],
    out: str | os.PathLike[str],
    options: BuildOptions,
    *,
    command: str = "",
    report: Callable[[Event], None] = lambda _: None,
) -> Built:
    """Build a parser from a treebank into the folder `out`, or continue a build that was interrupted.

    `source` may be several treebanks: the first is the main one, which has dev and test data and whose conventions the
    output follows. The state of the build is in `work_folder(out)`, which can be removed at the end. `report` is called
    with each event. `command` is the command line that the model card shows.
    """
    model, work = Path(out).resolve(), work_folder(out)  # a bare name would be taken for an installed model's
    demand_free(model)
    sources = _several(source)
    record = _recorded(sources, options, work, report)
    if "export" in record.stages and not (model / CONFIG).is_file():  # it was moved or removed since
        done = [name for name in record.stages if name not in {"export", "test"}]
        record = replace(record, stages={name: record.stages[name] for name in done})
    test = [str(sources[0].files["test"])] if "test" in sources[0].files else []
    left_out = {*(() if test else ("test",)), *(() if record.parser.teacher.model else ("teachers",))}
    names = [name for name in STAGES if name not in left_out]
    building = _Building(record, work, model, options, command, tuple(test), report)
    for number, name in enumerate(names, start=1):
        building.stage(name, number, len(names))
    stages = building.record.stages
    return Built(model, work, building.record.seconds, {name: stages[name]["scores"] for name in names})


def _recorded(
    sources: Sequence[SplitSource], options: BuildOptions, work: Path, report: Callable[[Event], None]
) -> BuildRecord:
    """Return the record of a build: that in the folder `work`, if there is one, or that of a new plan.

    `sources` are the treebanks, the main one first. Raise `TrainingError` if data or options have changed since the
    recorded build began.
    """
    source, *others = sources
    input_files = {**source.files, **(files_of(options.vectors) if options.vectors else {})}
    input_files |= {f"{part} of {other.name}": path for other in others for part, path in other.files.items()}
    digests = {part: treebanks.digest(path) for part, path in input_files.items()}
    record = BuildRecord.load(work)
    if record is not None:
        record.demand_same(digests, options, work)
        return record
    blueprint, data = planned(sources, options)
    report(blueprint)
    paths = treebanks.write_parts(data, files.make_folder(work))
    more = {other.name: str(treebanks.write_other(other, work)) for other in data.others}
    train, dev = (str(paths["train"]), *more.values()), (str(paths["dev"]),)
    texts = (train[0], *(more[name] for name in blueprint.texts if name in more))
    segmenter = replace(blueprint.segmenter, data=replace(blueprint.segmenter.data, train=texts, dev=dev))
    teachers = tuple(str(work / f"teacher-{number}") for number in range(1, blueprint.teachers + 1))
    parser = replace(
        blueprint.parser,
        data=replace(blueprint.parser.data, train=train, dev=dev),
        teacher=replace(blueprint.parser.teacher, model=teachers),
    )
    record = BuildRecord.begin(digests, options, replace(blueprint, segmenter=segmenter, parser=parser))
    record.save(work)
    return record


@dataclass(slots=True)
class _Building:
    """A build in progress: its record, folders and options; `test` has the paths of test files."""

    record: BuildRecord
    work: Path
    model: Path
    options: BuildOptions
    command: str
    test: tuple[str, ...]
    report: Callable[[Event], None]

    def stage(self, name: str, number: int, of: int) -> None:
        """Run the stage `name` and record its result, unless it is already recorded; report its beginning and end."""
        before = name in self.record.stages
        if not before:
            self.report(StageBegan(number, of, name, STAGES[name]))
            begun = time.monotonic()
            stage = {
                "segmenter": self._segmenter,
                "teachers": self._teachers,
                "parser": self._parser,
                "export": self._export,
                "test": self._test,
            }
            result = stage[name]()
            self._keep(self.record.with_stage(name, {"seconds": round(time.monotonic() - begun, 1), **result}))
        recorded = self.record.stages[name]
        self.report(StageEnded(name, recorded["seconds"], recorded["scores"], before))

    def _keep(self, record: BuildRecord) -> None:
        record.save(self.work)
        self.record = record

    def _segmenter(self) -> Mapping[str, Any]:
        learnt = time.monotonic()

        def report(progress: SegmenterProgress) -> None:
            nonlocal learnt
            learnt = time.monotonic()
            self.report(progress)

        outcome = train_segmenter(self.record.segmenter, self.work / "segmenter", report=report)
        return {"scores": outcome.scores, "export": round(time.monotonic() - learnt, 1)}

    def _minutes(self) -> float:
        return parser_minutes(self.options, self.record.seconds, self.record.stages["segmenter"]["export"])

    def _teachers(self) -> Mapping[str, Any]:
        """Train the teachers, parsers with other seeds, one after another; return the mean of their dev scores."""
        parser = self.record.parser
        homes = [Path(name) for name in parser.teacher.model]
        if self.record.teacher is None:  # what time is left is known now, and stays the same if this is interrupted
            training = replace(parser.training, minutes=round(TEACHING * self._minutes() / len(homes), 3))
            self._keep(replace(self.record, teacher=replace(parser, training=training, teacher=TeacherOptions())))
        assert self.record.teacher is not None  # noqa: S101 - as set just now
        dev_scores = []
        for number, home in enumerate(homes, start=1):
            config = replace(self.record.teacher, seed=parser.seed + number)
            dev_scores.append(self._trained(config, home).scores["dev"])
        return {"scores": {"dev": {name: fmean(scores[name] for scores in dev_scores) for name in dev_scores[0]}}}

    def _parser(self) -> Mapping[str, Any]:
        home = self.work / "parser"
        if not _has_begun(home):  # likewise
            training = replace(self.record.parser.training, minutes=self._minutes())
            self._keep(replace(self.record, parser=replace(self.record.parser, training=training)))
        return {"scores": self._trained(self.record.parser, home).scores}

    def _trained(self, config: Config, home: Path) -> Outcome:
        """Train a parser into the folder `home`, or resume its training."""
        return train_parser(
            config, home, resume=_has_begun(home), command=self.command, report=self.report, tell=self.report
        )

    def _export(self) -> Mapping[str, Any]:
        exported = export(
            self.work / "parser",
            self.model,
            weights="int8",
            segmenter=self.work / "segmenter",
            test=self.test,
        )
        return {"scores": {"test": exported.scores} if exported.scores else {}}

    def _test(self) -> Mapping[str, Any]:
        """Score the exported model on raw text; add the scores to its configuration and card, and return them."""
        gold = read_treebank(self.test, self.record.parser.data.bad_trees, "test")[0]
        parser = load(self.model, threads=self.options.threads, confidence=False)
        evaluation = conll18.evaluate(gold, parser(raw(gold)).treebank)
        tags = [COLUMNS[name] for name in COLUMNS if name in self.record.parser.model.tags]
        names = ("Tokens", "Sentences", "Words", *tags, "UAS", "LAS", "CLAS")
        scores = {name: evaluation[name].f1 for name in names}
        table = read_json(self.model / CONFIG)
        write_json(self.model / CONFIG, {**table, "scores": {**table.get("scores", {}), "text": scores}})
        card = read_content(self.model / CARD).split(FROM_TEXT.encode())[0]  # it may have been written before
        with files.creating(self.model / CARD) as file:
            file.write(card + _from_text(scores, self.test).encode("utf-8"))
        return {"scores": {"test": scores}}


def _has_begun(home: Path) -> bool:
    return (home / CHECKPOINT / CONFIG).is_file()


def _from_text(scores: Mapping[str, float], test: tuple[str, ...]) -> str:
    """Return the section of a model card with the scores on raw text."""
    rows = "".join(f"| {name} | {100 * value:.2f} |\n" for name, value in scores.items())
    return (
        f"{FROM_TEXT}\n\nOn the text of {names_of(test)}, F1 by the rules of CoNLL 2018 (without subtypes, "
        f"punctuation included).\n\n| measure | F1 |\n| --- | ---: |\n{rows}"
    )
