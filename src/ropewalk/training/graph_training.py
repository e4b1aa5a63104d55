"""Training of enhanced graphs: their targets, and the modules that score them beside those of trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ropewalk.core.ragged import Offsets
from ropewalk.encodings.graphs import NO_ARC, get, joined_relations
from ropewalk.errors import TrainingError
from ropewalk.formats import deps
from ropewalk.models.label_sets import MISSING, GraphNames, frequent, numbers
from ropewalk.models.scorer import GRAPHS, distance_classes
from ropewalk.scoring.graph_scores import between_words
from ropewalk.training.classifiers import ArcScorer, FeedForward, GroupClassifiers, PairRelations

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from _typeshed import DataclassInstance

    from ropewalk.models.description import GroupShape
    from ropewalk.treebank.treebank import Treebank

    Numbers = npt.NDArray[np.int64]

Moved = TypeVar("Moved", bound="DataclassInstance")

RARE = -3.0  # the initial log-odds of an arc: most pairs of words have none


@dataclass(frozen=True, slots=True, eq=False)
class GraphExamples:
    """The targets of the enhanced graphs of some sentences: a label for each word, and arcs.

    The arcs into word k are at indices `starts[k]` to `starts[k + 1]` of `heads`, `relations` and `real`. Heads count
    within the sentence, and 0 is the root. `real` is false for arcs that labels encode and the graph does not have.
    """

    labels: Numbers
    starts: Numbers
    heads: Numbers
    relations: Numbers
    real: npt.NDArray[np.bool_]

    def batch(self, words: Numbers, lengths: Sequence[int], distances: Numbers) -> GraphTargets:
        """Return the targets of a batch; `words` are the indices of its words, `lengths` its sentences' word counts.

        `distances` are the upper bounds of the distance classes.
        """
        counts = self.starts[words + 1] - self.starts[words]
        owners: Numbers = np.repeat(np.arange(len(words)), counts)
        inner = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        arcs = self.starts[words][owners] + inner
        heads = self.heads[arcs]
        above = Offsets.of_lengths(lengths).head_rows(owners, heads)
        classes = distance_classes(owners, above, distances)
        labels = self.labels[words] if len(self.labels) else self.labels
        arrays = (labels, owners, heads, above, classes, self.relations[arcs], self.real[arcs])
        return GraphTargets(*map(torch.from_numpy, arrays))


def moved(batch: Moved, device: torch.device) -> Moved:
    """Return a copy of a dataclass with all tensors on a device, also those in tuples and inner dataclasses."""

    def transfer(value: Any) -> Any:  # noqa: ANN401 - a field
        if isinstance(value, tuple):
            return tuple(map(transfer, value))
        return value.to(device) if hasattr(value, "to") else value

    fields: dict[str, Any] = {name: transfer(getattr(batch, name)) for name in batch.__dataclass_fields__}
    return replace(batch, **fields)


@dataclass(frozen=True, slots=True)
class GraphTargets:
    """The targets of the graphs of a batch: a label for each word, and arcs with their relations.

    `words`, `heads`, `places`, `classes`, `relations` and `real` have one entry for each arc.
    """

    labels: Tensor
    words: Tensor  # index of the dependent among all words of the batch
    heads: Tensor  # index of the head within the sentence; 0 is the root
    places: Tensor  # index of the head among all words of the batch; -1 is the root
    classes: Tensor  # distance classes of the arcs: see `distance_classes`
    relations: Tensor
    real: Tensor

    def to(self, device: torch.device) -> GraphTargets:
        """Return the targets on a device."""
        return moved(self, device)


def graph_names(encoding: str, bank: Treebank) -> GraphNames:
    """Return the alphabets of labels and relations of a treebank's graphs; there are no labels if `encoding` is empty.

    Raise `TrainingError` if the treebank has no graphs.
    """
    graphs = between_words(deps.read(bank))
    if not len(graphs.heads):
        raise TrainingError(
            f"{bank.file}: no word has an arc in DEPS; add enhanced graphs, or clear model.graph.encoding"
        )
    relations = frequent(joined_relations(graphs))
    if not encoding:
        return GraphNames("", (), relations)
    labels = get(encoding).encode(graphs)
    texts = frequent(labels.columns[0])
    pads = (NO_ARC,) if NO_ARC in labels.relations.names else ()
    return GraphNames(encoding, texts, (*relations, *pads))


def graph_examples(bank: Treebank, names: GraphNames) -> GraphExamples:
    """Return the targets of the enhanced graphs of a treebank, with class indices from `names`."""
    graphs = between_words(deps.read(bank))
    first = graphs.first_of_pairs()
    words, heads = graphs.arc_nodes[first], graphs.heads[first].astype(np.int64)
    joined = joined_relations(graphs)
    relations = numbers(joined.ids, joined.names, names.relations)
    real = np.ones(len(words), dtype=np.bool_)
    labels: Numbers = np.zeros(0, dtype=np.int64)
    if names.encoding:
        encoding = get(names.encoding)
        coded = encoding.encode(graphs)
        labels = numbers(coded.columns[0].ids, coded.columns[0].names, names.labels)
        if NO_ARC in names.relations:
            most = int(graphs.lengths.max(initial=0)) + 1
            spelled, above, _ = encoding.arcs(coded)
            more = np.setdiff1d(spelled * most + above, words * most + heads)
            words, heads = np.concatenate([words, more // most]), np.concatenate([heads, more % most])
            relations = np.append(relations, np.full(len(more), names.relations.index(NO_ARC)))
            real = np.append(real, np.zeros(len(more), dtype=np.bool_))
    order = np.lexsort((heads, words))
    starts = np.concatenate([[0], np.cumsum(np.bincount(words, minlength=bank.words))])
    return GraphExamples(labels, starts, heads[order], relations[order], real[order])


@final
class GraphModules(nn.Module):
    """The network's modules that score graphs: labels and arcs, if `shape` has them, and relations.

    Relations are scored from the dependent and the head of an arc.
    """

    def __init__(self, shape: GroupShape, names: GraphNames, size: int, dropout: float) -> None:
        super().__init__()
        self.labels = FeedForward(size, shape.hidden, len(names.labels), dropout) if shape.labels else None
        self.arcs = ArcScorer(size, shape.arc_size, dropout) if shape.arcs else None
        self.bias = nn.Parameter(torch.tensor(RARE)) if shape.arcs else None
        self.relations = PairRelations(size, shape.relation_size, len(names.relations), dropout)

    @property
    def classifiers(self) -> GroupClassifiers:
        """The modules as a group of classifiers."""
        columns = {} if self.labels is None else {"labels": self.labels}
        return GroupClassifiers(GRAPHS, columns, self.relations, self.arcs, self.bias)

    def loss(self, vectors: Tensor, lengths: Tensor, targets: GraphTargets) -> Tensor:
        """Return the sum of the losses of labels, arcs and relations over a batch."""
        words, heads = self.relations.sides(vectors)
        scores = self.relations.of_arcs(words[targets.words], heads, targets.places, targets.classes)
        out = functional.cross_entropy(scores.float(), targets.relations, ignore_index=MISSING, reduction="sum")
        if self.labels is not None:
            labels = self.labels(vectors).float()
            out = out + functional.cross_entropy(labels, targets.labels, ignore_index=MISSING, reduction="sum")
        if self.arcs is not None and self.bias is not None:
            rows = self.arcs.rows(vectors, lengths) + self.bias
            gold = torch.zeros_like(rows)
            gold[targets.words[targets.real], targets.heads[targets.real]] = 1.0
            out = out + functional.binary_cross_entropy_with_logits(rows.float(), gold.float(), reduction="sum")
        return out


def graph_outputs(names: GraphNames, last: int) -> dict[str, tuple[str, ...]]:
    """Return the class names of the rows of each last layer, by the prefix of its weights' names.

    `last` is the index of the last layer in the classifier of labels.
    """
    return {f"graphs.labels.layers.{last}.": names.labels, "graphs.relations.out.": names.relations}
