"""A training run: from a configuration to a model's folder."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import torch
from accelerate import PartialState

from ropewalk import files
from ropewalk.core.projectivity import lift_until
from ropewalk.core.trees import projective
from ropewalk.errors import TrainingError
from ropewalk.formats.text import text_pieces
from ropewalk.models import tag_columns
from ropewalk.models.description import Description
from ropewalk.models.model import demand_decoders
from ropewalk.models.storage import CONFIG, read_json, write_json
from ropewalk.models.vocabulary import styled
from ropewalk.options import flat_options, to_mapping
from ropewalk.scoring import graph_scores
from ropewalk.scoring.attachment import MEASURES, score
from ropewalk.training import trained_files
from ropewalk.training.card import card
from ropewalk.training.checks import demand_decoder, demand_teachable, demand_used
from ropewalk.training.config import MEAN, from_mapping
from ropewalk.training.construction import graph_shape, head_shape
from ropewalk.training.examples import examples, label_set, read_files, read_treebank
from ropewalk.training.loop import CHECKPOINT, Job, Progress, fit
from ropewalk.training.mixing import MixedData
from ropewalk.training.substitution import substituted
from ropewalk.training.teaching import lessons
from ropewalk.training.texts import read_texts
from ropewalk.training.trainable import Trainable

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

    from ropewalk.errors import FormatError
    from ropewalk.training.config import Config
    from ropewalk.training.loop import ScoresByName, TrainingState
    from ropewalk.treebank.treebank import Treebank


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Result of a run: the model's folder, the final state, and the best epoch's scores on dev and test data.

    If there are several processes, only the first writes files and scores test data; `main` is true for it.
    """

    home: Path
    state: TrainingState
    scores: dict[str, ScoresByName]
    main: bool = True


def train(  # noqa: PLR0913 - one keyword for each option of a run
    config: Config,
    out: str | os.PathLike[str],
    *,
    resume: bool = False,
    init_from: str = "",
    command: str = "",
    report: Callable[[Progress], None] = lambda _: None,
    tell: Callable[[FormatError], None] = lambda _: None,
) -> Outcome:
    """Train a model and write it into the folder `out`.

    With `resume`, continue an interrupted run. With `init_from`, start from the trained model of this name or folder.
    `command` is the command line that the model card shows. `report` is called with the progress, and `tell` for each
    sentence that was skipped or repaired. Raise `TrainingError` or `ConfigError` if options contradict each other, or
    if the folder contains another run.
    """
    home = Path(out)
    process = PartialState(cpu=config.training.device == "cpu")
    main = process.is_main_process
    demand_used(config)
    demand_decoder(config)
    demand_teachable(config)
    _check_home(home, config, resume=resume)
    process.wait_for_everyone()  # before the first process writes files
    if config.training.threads:
        torch.set_num_threads(config.training.threads)
    parts, problems = read_files(config.data.train, config.data.bad_trees, "train")
    mixed = MixedData.of(parts, config.data, config.model.tags)
    bank = mixed.bank
    dev, more = read_treebank(config.data.dev, config.data.bad_trees, "dev")
    test = read_treebank(config.data.test, config.data.bad_trees, "test")[0] if config.data.test else None
    for problem in (*problems, *more) if main else ():
        tell(problem)
    teacher = config.teacher
    sources = "".join(text_pieces(teacher.sources)) if teacher.sources else ""
    texts = read_texts(teacher.texts, teacher.segmenter)
    labels, vectors = label_set(config, bank, mixed)
    shape = head_shape(config.model)
    described = Description(heads=shape, decoding=config.decoding, graphs=graph_shape(config.model))
    demand_decoders(described, labels)
    trainable = (
        Trainable.on_top_of(init_from, config, labels) if init_from else Trainable.create(config, labels, vectors)
    )
    labels = trainable.labels
    if main:
        _begin(home, trainable, config)
    model = trainable.model()
    styles = trainable.description.encoder.styles
    mixed = mixed.with_copies(
        lambda part, number: substituted(part, teacher.replaced, config.seed + number), teacher.copies
    )
    bank = mixed.bank
    if not shape.labels and config.model.loss == "trees":
        # the loss sums over projective trees, and the gold one must be among them
        bank = bank.with_trees(bank.lifted(partial(lift_until, covers=projective)).heads, bank.relations)
    learnt = examples(
        bank,
        labels,
        parse_by_labels=shape.labels,
        unlearnt=mixed.unlearnt(),
        styles=mixed.style_numbers(styles),
    )
    taught = None
    if teacher.model:
        learnt, taught = lessons(
            teacher, labels, learnt, texts, arcs=shape.arcs, trees=config.model.loss == "trees", styles=styles
        )
    inputs = trainable.network.encoder.prepare(learnt.forms)
    job = Job(
        config,
        trainable.network,
        styled(inputs, learnt.styles.tolist()) if styles else inputs,
        learnt,
        lambda: _with_mean(measures(dev, model.parse(dev), model.tags), model.tags),
        home,
        report if main else lambda _: None,
        taught,
    )
    state = fit(job, resume=resume)
    scores: dict[str, ScoresByName] = {}
    known = {*MEASURES, *graph_scores.MEASURES, *model.tags}
    scores["dev"] = {key: value for key, value in state.history[state.best_epoch - 1].items() if key in known}
    if not main:
        return Outcome(home, state, scores, main=False)
    scores |= _finish(home, config, state, (dev, test), report)
    trained_files.save_card(home, card(config, state, scores, command, sources))
    return Outcome(home, state, scores)


def _finish(
    home: Path,
    config: Config,
    state: TrainingState,
    banks: tuple[Treebank, Treebank | None],
    report: Callable[[Progress], None],
) -> dict[str, ScoresByName]:
    """Calibrate the best model of a run on the dev data and store it; return its scores on dev and test data.

    Dev data are scored again only if calibration may have changed the predictions. `banks` are the dev and test data.
    """
    dev, test = banks
    scores: dict[str, ScoresByName] = {}

    def begin(doing: str) -> None:
        report(Progress(state.epoch, config.training.epochs, state.step, 1.0, 0.0, 0.0, doing=doing))

    begin("calibrating probabilities on dev")
    trained = Trainable.load(home)
    best = trained.model().calibrated(dev)
    trained_files.save_description(home, trained.with_decoding(best.decoding), config)
    if best.decoding != config.decoding or not trained.description.graphs.is_empty:  # options were fitted just now
        begin("scoring dev")
        scores["dev"] = measures(dev, best.parse(dev), best.tags)
    if test is not None:
        begin("scoring test")
        scores["test"] = measures(test, best.parse(test), best.tags)
    return scores


def _begin(home: Path, trainable: Trainable, config: Config) -> None:
    """Write the configuration of a new run into its checkpoint folder, then the description of its model."""
    checkpoint = files.make_folder(home / CHECKPOINT)
    for folder in (home, checkpoint):
        files.tidy(folder)
    write_json(checkpoint / CONFIG, to_mapping(config))  # first, so that all later files belong to a run
    trained_files.save_description(home, trainable, config)


def measures(gold: Treebank, predicted: Treebank, tags: Iterable[str] = ()) -> ScoresByName:
    """Return the scores of predicted trees and of the tag columns `tags`, and of graphs if any were predicted.

    Trees are scored with subtypes and punctuation. Measures without a value are left out.
    """
    scores = score(gold, predicted)
    values: ScoresByName = {measure: scores.parts(measure).value for measure in MEASURES}
    for name in tags:
        pairs = zip(*(tag_columns.get(name).values(bank).texts() for bank in (gold, predicted)), strict=True)
        values[name] = sum(right == guess for right, guess in pairs) / gold.words if gold.words else math.nan
    if predicted.graphs is not None:
        values |= graph_scores.measures(gold, predicted)
    return {measure: value for measure, value in values.items() if not math.isnan(value)}


def _with_mean(scores: ScoresByName, tags: Sequence[str]) -> ScoresByName:
    return {**scores, MEAN: fmean([scores["las"], *(scores[name] for name in tags)])}


def _check_home(home: Path, config: Config, *, resume: bool) -> None:
    """Raise `TrainingError` if a folder contains a run or model that this run would overwrite.

    With `resume`, raise it only if the options of the earlier run differ. The option `data.test` may differ, because
    test data are used only after the training.
    """
    earlier = home / CHECKPOINT / CONFIG
    if not earlier.is_file():
        if (home / CONFIG).exists():
            raise TrainingError(f"{home} contains a model without a run to resume; choose another folder, or remove it")
        return
    if not resume:
        raise TrainingError(f"{home} contains a training run; resume it with --resume, or choose another folder")
    before, now = map(flat_options, (from_mapping(read_json(earlier), str(earlier)), config))
    changed = sorted(key for key in {*before, *now} - {"data.test"} if before.get(key) != now.get(key))
    if changed:
        key = changed[0]
        raise TrainingError(
            f"{home}: {key} was {before.get(key)!r} and is now {now.get(key)!r}; resume the run with the same "
            "configuration, or train further with another using --init-from"
        )
