"""A whole training run: from a configuration to a model's folder."""

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
from ropewalk.models.description import Description
from ropewalk.models.model import demand_decoders
from ropewalk.models.storage import CONFIG, read_json, write_json
from ropewalk.options import flat_options, to_mapping
from ropewalk.scoring import graph_scores
from ropewalk.scoring.attachment import MEASURES, score
from ropewalk.training import trained_files
from ropewalk.training.card import card
from ropewalk.training.checks import demand_decoder, demand_teachable, demand_used
from ropewalk.training.config import MEAN, from_mapping
from ropewalk.training.construction import graph_shape, head_shape
from ropewalk.training.examples import examples, label_set, read_treebank
from ropewalk.training.loop import CHECKPOINT, Job, fit
from ropewalk.training.substitution import substituted
from ropewalk.training.teaching import lessons
from ropewalk.training.texts import read_texts
from ropewalk.training.trainable import Trainable
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

    from ropewalk.errors import FormatError
    from ropewalk.training.config import Config
    from ropewalk.training.loop import Progress, ScoresByName, TrainingState


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a run left: where its model is, how it went, and the scores of the best epoch.

    Of several processes only the first, `main`, writes, scores and has anything to tell.
    """

    home: Path
    state: TrainingState
    scores: dict[str, ScoresByName]
    main: bool = True


def train(  # noqa: PLR0913 - one keyword for each thing a run can be told
    config: Config,
    out: str | os.PathLike[str],
    *,
    resume: bool = False,
    init_from: str = "",
    command: str = "",
    report: Callable[[Progress], None] = lambda _: None,
    tell: Callable[[FormatError], None] = lambda _: None,
) -> Outcome:
    """Train a model into a folder; `tell` hears of each sentence that was skipped or repaired."""
    home = Path(out)
    process = PartialState(cpu=config.training.device == "cpu")
    main = process.is_main_process
    demand_used(config)
    demand_decoder(config)
    demand_teachable(config)
    _check_home(home, config, resume=resume)
    process.wait_for_everyone()  # or another would find what the first begins to write
    if config.training.threads:
        torch.set_num_threads(config.training.threads)
    bank, problems = read_treebank(config.data.train, config.data.bad_trees, "train")
    dev, more = read_treebank(config.data.dev, config.data.bad_trees, "dev")
    test = read_treebank(config.data.test, config.data.bad_trees, "test")[0] if config.data.test else None
    for problem in (*problems, *more) if main else ():
        tell(problem)
    teacher = config.teacher
    sources = "".join(text_pieces(teacher.sources)) if teacher.sources else ""
    texts = read_texts(teacher.texts, teacher.segmenter)
    labels, vectors = label_set(config, bank)
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
    copies = [substituted(bank, teacher.replaced, config.seed + number) for number in range(teacher.copies)]
    bank = Treebank.concat([bank, *copies])
    if not shape.labels and config.model.loss == "trees":
        # the loss sums over projective trees, and the right one must be among them
        bank = bank.with_trees(bank.lifted(partial(lift_until, covers=projective)).heads, bank.relations)
    learnt = examples(bank, labels, parse_by_labels=shape.labels)
    taught = None
    if teacher.model:
        learnt, taught = lessons(teacher, labels, learnt, texts, arcs=shape.arcs)
    job = Job(
        config,
        trainable.network,
        trainable.network.encoder.prepare(learnt.forms),
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
    found = Trainable.load(home)
    best = found.model().calibrated(dev)
    trained_files.save_description(home, found.with_decoding(best.decoding), config)
    if best.decoding != config.decoding or not found.description.graphs.is_empty:  # what decides has just been found
        scores["dev"] = measures(dev, best.parse(dev), best.tags)
    if test is not None:
        scores["test"] = measures(test, best.parse(test), best.tags)
    trained_files.save_card(home, card(config, state, scores, command, sources))
    return Outcome(home, state, scores)


def _begin(home: Path, trainable: Trainable, config: Config) -> None:
    """Write what says that a run has begun: its configuration, then the description of its model."""
    checkpoint = files.make_folder(home / CHECKPOINT)
    for place in (home, checkpoint):
        files.tidy(place)
    write_json(checkpoint / CONFIG, to_mapping(config))  # first, so that whatever comes after belongs to a run
    trained_files.save_description(home, trainable, config)


def measures(gold: Treebank, predicted: Treebank, tags: Iterable[str] = ()) -> ScoresByName:
    """Score trees by every measure, subtypes and punctuation included, graphs if there are any, and columns of tags."""
    found = score(gold, predicted)
    values: ScoresByName = {measure: found.parts(measure).value for measure in MEASURES}
    for name in tags:
        pairs = zip(gold.column(name).texts(), predicted.column(name).texts(), strict=True)
        values[name] = sum(right == guess for right, guess in pairs) / gold.words if gold.words else math.nan
    if predicted.graphs is not None:
        values |= graph_scores.measures(gold, predicted)
    return {measure: value for measure, value in values.items() if not math.isnan(value)}


def _with_mean(found: ScoresByName, tags: Sequence[str]) -> ScoresByName:
    return {**found, MEAN: fmean([found["las"], *(found[name] for name in tags)])}


def _check_home(home: Path, config: Config, *, resume: bool) -> None:
    """Refuse to write over another run or model, or to go on with one that was told something else.

    Tests come after a run, and may be others.
    """
    earlier = home / CHECKPOINT / CONFIG
    if not earlier.is_file():
        if (home / CONFIG).exists():
            raise TrainingError(
                f"{home} holds a model that no run in it can go on with; choose another folder, or remove this one"
            )
        return
    if not resume:
        raise TrainingError(f"{home} holds a training run; go on with it by --resume, or choose another folder")
    before, now = (flat_options(one) for one in (from_mapping(read_json(earlier), str(earlier)), config))
    changed = sorted(key for key in {*before, *now} - {"data.test"} if before.get(key) != now.get(key))
    if changed:
        key = changed[0]
        raise TrainingError(
            f"{home}: {key} was {before.get(key)!r} and is now {now.get(key)!r}; a run is resumed with the same "
            "configuration; to train further with another, use --init-from"
        )
