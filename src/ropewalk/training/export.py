"""Export of trained models as folders that need no torch; see `ropewalk.models.onnx`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ropewalk import files
from ropewalk.core.trees import Tree
from ropewalk.errors import ModelError, demand_known
from ropewalk.models.description import EXPORTED, training_record
from ropewalk.models.onnx.files import ARCS, HEADS, PAIRS
from ropewalk.models.onnx.model import load
from ropewalk.models.storage import (
    CARD,
    CONFIG,
    checked_name,
    open_folder,
    read_content,
    read_json,
    seal,
    write_json,
    write_labels,
)
from ropewalk.segmentation import segmenter_files as segmentation
from ropewalk.training import onnx_graphs
from ropewalk.training.card import names_of
from ropewalk.training.classifiers import arc_scores
from ropewalk.training.examples import read_treebank
from ropewalk.training.onnx_graphs import SAMPLE, Computed, traced
from ropewalk.training.trainable import Trainable
from ropewalk.training.training_run import measures
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from onnx import ModelProto
    from torch import Tensor

    from ropewalk.models.label_sets import LabelSet
    from ropewalk.models.model import Model
    from ropewalk.models.scorer import Floats
    from ropewalk.training.classifiers import ArcScorer, PairScorer
    from ropewalk.training.loop import ScoresByName
    from ropewalk.training.network import Network

WEIGHTS = ("fp32", "int8")
CLOSE = 1e-3  # allowed difference of log-probabilities: the order of sums differs
LOWEST = -50.0  # lower log-probabilities are compared as equal
SAME = 0.995  # fraction of heads that must be the same: there are ties
ROUNDED = 0.05  # allowed mean difference of probabilities after weights were rounded
SENTENCES = 48  # sentences that are compared
LONGEST = 40
AS_HERE = b"\n## As it is here"  # the last section of a card
INVENTED = (
    "The", "old", "Dr.", "Vane's", "3", "NEVER", "slept", "…", "http://a.b/c?d=e", "😀", "naïve", "!",
    "iPhone", "1,000",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Report:
    """Report on an exported model: its differences from the trained one on invented sentences.

    `difference` is the largest difference of log-probabilities before weights were rounded. `rounding` is the mean
    difference of probabilities that rounding causes. `same_heads` is the fraction of words that keep their heads.
    `scores` are those on test data, empty if there were none.
    """

    path: Path
    name: str
    hash: str
    bytes: int
    words: int
    difference: float
    rounding: float
    same_heads: float
    scores: ScoresByName


def export(  # noqa: PLR0913 - one keyword for each option of an export
    model_folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    weights: str = "fp32",
    name: str = "",
    segmenter: str | os.PathLike[str] | None = None,
    test: Sequence[str] = (),
) -> Report:
    """Write a trained model as a folder that needs no torch, check that it predicts the same, and return a report.

    With `weights` of `fp32`, they are stored unchanged. With `int8`, each row is rounded to 8 bits, and large matrix
    products are computed in 8 bits. If `segmenter` names the folder of a segmenter, the model can parse raw text. If
    `test` names files, the new model is scored on their words, and its configuration and card contain the scores. Raise
    `ModelError` and write nothing if the predictions differ too much.
    """
    demand_known("kind of weights", weights, WEIGHTS)
    target = Path(out)
    name = checked_name(name or target.resolve().name, "--name" if name else str(target))
    demand_free(target)
    home = Path(model_folder)
    source = open_folder(home)
    record = dict(training_record(source.table))
    trainable = Trainable.load(home)
    trained = trainable.model()
    gold = read_treebank(test, str(record.get("data", {}).get("bad_trees", "stop")), "test")[0] if test else None
    bank = sample(trainable.labels)
    with files.creating_folder(target) as part:
        about = {"name": name, "training": record}
        if segmenter is not None:
            segmentation.save(part, segmentation.load(Path(segmenter)))
        if (home / CARD).is_file():
            with files.creating(part / CARD) as file:
                file.write(read_content(home / CARD))
        graphs = networks(trainable.network)
        _write(trainable, graphs, part, {**about, "weights": "fp32"})
        exported = load(part)
        difference = _compared(trained, exported, bank, str(target))
        rounding = 0.0
        if weights == "int8":
            bounded = ("vectors",) if trainable.network.encoder.within_one else ()
            small = {file: onnx_graphs.rounded(graph, bounded) for file, graph in graphs.items()}
            _write(trainable, small, part, {**about, "weights": weights})
            plain, exported = exported, load(part)
            rounding = _rounding(plain, exported, bank, str(target))
        same = float((exported.parse(bank).heads == trained.parse(bank).heads).mean())
        scores = write_scores(exported, gold, test, part) if gold is not None else {}
        size = sum(file.stat().st_size for file in part.rglob("*") if file.is_file())
    return Report(target, exported.name, exported.hash, size, bank.words, difference, rounding, same, scores)


def demand_free(target: Path) -> None:
    """Raise `ModelError` if `target` exists and is neither an empty folder nor an earlier export."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    try:
        open_folder(target, EXPORTED)
    except ModelError as failure:
        problem = "exists and is no earlier export; choose another folder, or remove it first"
        raise ModelError(str(target), problem) from failure


def write_scores(model: Model, gold: Treebank, test: Sequence[str], part: Path) -> ScoresByName:
    """Score a model on the treebank `gold`, the files `test`, and return the scores.

    They are added to the configuration and the card in `part`; they replace earlier ones.
    """
    scores = measures(gold, model.parse(gold), model.tags)
    write_json(part / CONFIG, {**read_json(part / CONFIG), "scores": {"test": scores}})
    shown = [f"{name.upper()} {100 * scores[name]:.2f}" for name in ("uas", "las", *model.tags)]
    card = read_content(part / CARD) if (part / CARD).is_file() else b""
    with files.creating(part / CARD) as file:
        file.write(card.partition(AS_HERE)[0] + AS_HERE)
        file.write(
            f"\n\nWith the weights in this folder, computed without torch, on the words of "
            f"{names_of(test)}, over words: {', '.join(shown)}.\n".encode()
        )
    return scores


def _write(trainable: Trainable, graphs: Mapping[str, ModelProto], home: Path, about: dict[str, Any]) -> None:
    """Write all files of an exported folder except the card; `about` has further entries of `config.json`."""
    for file, graph in graphs.items():
        onnx_graphs.save(graph, home / file)
    table = trainable.description.to_json(EXPORTED) | about | trainable.network.encoder.save_exported(home)
    write_labels(home, trainable.labels)
    seal(home, table)


def networks(network: Network) -> dict[str, ModelProto]:
    """Return all ONNX networks of an exported model, by the names of their files."""

    def scores(own: Any, given: dict[str, Tensor]) -> tuple[Tensor, ...]:  # noqa: ANN401 - a module with the network
        tensors = own.network.word_scores(given["vectors"], network.outputs)
        return tuple(tensors[name] for name in network.outputs)

    out = network.encoder.networks()
    vectors = torch.zeros(SAMPLE, network.encoder.size)
    out[HEADS] = traced(Computed(scores, network=network), {"vectors": vectors}, network.outputs)
    vectors = network.projection(vectors)  # all further networks begin with these
    for name, group in network.groups.items():
        if group.relations.pairs is not None:
            out[PAIRS[name]] = _relations(group.relations.pairs, vectors)
        if group.arcs is not None:
            out[ARCS[name]] = _arcs(group.arcs, group.bias, vectors)
    return out


def _relations(relations: PairScorer, vectors: Tensor) -> ModelProto:
    """Return the ONNX network that scores the relations of words under given heads; `vectors` is a sample input."""

    def scores(own: Any, given: dict[str, Tensor]) -> Tensor:  # noqa: ANN401 - a module with the relations
        above = given["above"] + own.table[given["classes"]]
        logs: Tensor = own.relations.score(given["words"], above).log_softmax(-1)
        return logs

    words, heads = relations.sides(vectors)
    inputs = {"words": words, "above": heads, "classes": torch.zeros(SAMPLE, dtype=torch.int64)}
    return traced(Computed(scores, relations=relations, table=relations.classes()), inputs, ["relations"])


def _arcs(arcs: ArcScorer, bias: Tensor | None, vectors: Tensor) -> ModelProto:
    """Return the ONNX network that scores all arcs of sentences of one length; `vectors` is a sample input."""

    def scores(own: Any, given: dict[str, Tensor]) -> Tensor:  # noqa: ANN401 - a module with the root
        return arc_scores(given["words"], given["above"], own.root, None if bias is None else own.bias)

    words, heads = (side.reshape(SAMPLE // 2, 2, -1) for side in arcs.sides(vectors))
    parts = {"root": arcs.root_side()} | ({} if bias is None else {"bias": bias})
    return traced(Computed(scores, **parts), {"words": words, "above": heads}, ["arcs"], dynamic=2)


def sample(labels: LabelSet) -> Treebank:
    """Return invented sentences of known and unknown words, on which two models are compared."""
    random = np.random.default_rng(1)
    known = labels.vocabulary.words[:2000] if labels.vocabulary is not None else ()
    words = np.array([*INVENTED, *known], dtype=np.object_)
    lengths = [1, 2, LONGEST, *random.integers(1, LONGEST, SENTENCES - 3).tolist()]
    bank = Treebank.of([Tree(range(length), ["root", *["dep"] * (length - 1)]) for length in lengths])
    return bank.with_columns({"form": random.choice(words, bank.words).tolist()})


def _compared(trained: Model, exported: Model, bank: Treebank, name: str) -> float:
    """Return the largest difference of two models' log-probabilities on a treebank.

    Raise `ModelError` with `name` if it is not below `CLOSE`, or if too many heads differ.
    """
    pairs = zip(all_scores(exported, bank), all_scores(trained, bank), strict=True)
    worst = max(float(np.abs(np.maximum(a, LOWEST) - np.maximum(b, LOWEST)).max()) for a, b in pairs)
    same = float((exported.parse(bank).heads == trained.parse(bank).heads).mean())
    if not worst < CLOSE or same < SAME:
        raise ModelError(
            name,
            f"would not predict the same as the trained model: scores differ by {worst:.2g}, expected less than "
            f"{CLOSE}, and {same:.1%} of the heads are the same; it was not written",
        )
    return worst


def _rounding(plain: Model, rounded: Model, bank: Treebank, name: str) -> float:
    """Return the mean difference of probabilities between a model with `fp32` weights and one with `int8` weights.

    It is the largest of the means of all outputs. Raise `ModelError` with `name` if it is not below `ROUNDED`.
    """
    pairs = zip(all_scores(plain, bank), all_scores(rounded, bank), strict=True)
    worst = max(float(np.abs(np.exp(a) - np.exp(b)).mean()) for a, b in pairs)
    if not worst < ROUNDED:
        problem = f"would lose accuracy: with int8 weights probabilities change by {worst:.2g} on average"
        raise ModelError(name, f"{problem}, expected less than {ROUNDED}; export it with fp32 weights")
    return worst


def all_scores(model: Model, bank: Treebank) -> list[Floats]:
    """Return all scores of a model for a treebank, those of relations under the treebank's heads; see `Scores.all`."""
    return [array for part, scores in model.scores(bank) for array in scores.all(part.heads)]
