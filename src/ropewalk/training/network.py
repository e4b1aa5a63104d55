"""An encoder and its classifiers as one network: word vectors, scores and losses."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from ropewalk.models.label_sets import MISSING
from ropewalk.models.scorer import GRAPHS, TREES
from ropewalk.training.classifiers import (
    ArcScorer,
    BiaffineRelations,
    FeedForward,
    GroupClassifiers,
    PairRelations,
    WordRelations,
    one_layer,
    several,
)
from ropewalk.training.crf import TreeMarginals, Wanted, arc_loss, whole_loss
from ropewalk.training.dropout import Dropout
from ropewalk.training.graph_training import GraphModules, moved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.models.description import GroupShape
    from ropewalk.models.label_sets import LabelSet
    from ropewalk.models.scorer import Group
    from ropewalk.training.classifiers import RelationHead
    from ropewalk.training.encoders import Batch, WordEncoder
    from ropewalk.training.graph_training import GraphTargets

RELATIONS: dict[str, type[WordRelations | PairRelations | BiaffineRelations]] = {
    "words": WordRelations,
    "pairs": PairRelations,
    "products": BiaffineRelations,
}


@dataclass(frozen=True, slots=True)
class LossOptions:
    """Options of training that are not part of a network's shape: dropout, kind of loss, and weights of its parts."""

    dropout: float = 0.0
    loss: str = "words"  # see `config.LOSSES`
    auxiliary_weight: float = 0.0
    arc_weight: float = 1.0
    tag_weight: float = 1.0
    graph_weight: float = 1.0


@dataclass(frozen=True, slots=True)
class TeacherProbabilities:
    """A teacher's probabilities for the words of a batch; `arcs` is [words, most words + 1], padded with zeros."""

    weight: float  # fraction of the loss that is the teacher's
    columns: tuple[Tensor, ...]
    relations: Tensor
    tags: tuple[Tensor | None, ...]  # None for tag sets that are learnt from the treebank alone
    arcs: Tensor | None

    @property
    def of_trees(self) -> TreeMarginals:
        """The teacher's marginals of labels and arcs over trees, for models that learn whole trees."""
        assert self.arcs is not None  # noqa: S101 - a model that learns trees scores arcs
        return TreeMarginals(self.weight, self.columns[0], self.arcs)

    def to(self, device: torch.device) -> TeacherProbabilities:
        """Return the probabilities on a device."""
        return moved(self, device)


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets of the words of a batch: heads, and class indices of labels, relations and tags.

    `taught` and `graphs` are None without a teacher or without graphs.
    """

    columns: tuple[Tensor, ...]  # each [words]: of the first encoding, then of the auxiliary ones
    heads: Tensor  # within each sentence; 0 is the root
    places: Tensor  # indices of the heads among all words of the batch; -1 is the root
    classes: Tensor  # distance classes of word and head: see `distance_classes`
    relations: Tensor
    tags: tuple[Tensor, ...]
    taught: TeacherProbabilities | None = None
    graphs: GraphTargets | None = None

    def to(self, device: torch.device) -> Targets:
        """Return the targets on a device."""
        return moved(self, device)


@final
class Network(nn.Module):
    """The whole network: an encoder, and classifiers of labels, arcs, relations, tags and graphs.

    There is one classifier for each label column and each tag set.
    """

    def __init__(
        self, shape: GroupShape, graphs: GroupShape, labels: LabelSet, encoder: WordEncoder, options: LossOptions
    ) -> None:
        super().__init__()
        self.shape = shape
        self.options = options
        self.encoder = encoder
        size, dropout = shape.projection or encoder.size, options.dropout
        self.dropout = Dropout(dropout)
        self.projection = one_layer(encoder.size, size) if shape.projection else nn.Identity()
        sizes = [len(column) for columns in labels.columns for column in columns]
        self.own = len(labels.columns[0]) if shape.labels else 0
        self.whole = (
            whole_loss(options.loss, labels.encodings[0], labels.columns[0][0]) if self.own else arc_loss(options.loss)
        )
        self.columns = nn.ModuleList(FeedForward(size, shape.hidden, out, dropout) for out in sizes)
        self.tags = nn.ModuleList(FeedForward(size, shape.hidden, len(texts), dropout) for _, texts in labels.tags)
        self.arcs = ArcScorer(size, shape.arc_size, dropout) if shape.arcs else None
        head = RELATIONS[shape.relations]
        self.relations: RelationHead = head(size, shape.relation_size, len(labels.relations), dropout)
        self.graphs = None if labels.graphs is None else GraphModules(graphs, labels.graphs, size, dropout)

    @property
    def distances(self) -> tuple[int, ...]:
        """Upper bounds of the distance classes that the relation classifier uses; empty if it uses none."""
        return self.relations.distances

    def forward(self, batch: Batch, targets: Targets | None = None) -> Tensor:
        """Return the loss summed over the words of a batch; without `targets`, return the word vectors [words, size].

        Training calls only this method, because sharded weights are gathered when it is called.
        """
        words: Tensor = self.encoder(batch)
        return words if targets is None else self._loss(words, batch.lengths, targets)

    @property
    def groups(self) -> dict[Group, GroupClassifiers]:
        """The classifiers in groups: those of trees, which include tags, and those of graphs, if there are any."""
        columns = {
            **{f"labels.{number}": column for number, column in enumerate(self.columns[: self.own])},
            **{f"tags.{number}": column for number, column in enumerate(self.tags)},
        }
        trees = GroupClassifiers(TREES, columns, self.relations, self.arcs)
        return {TREES: trees} | ({} if self.graphs is None else {GRAPHS: self.graphs.classifiers})

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of all outputs of `word_scores`; see `models.scorer.Classifiers.outputs`."""
        return tuple(name for group in self.groups.values() for name in group.outputs)

    def word_scores(self, vectors: Tensor, outputs: Sequence[str]) -> dict[str, Tensor]:
        """Return the tensors that `outputs` names, computed from each word's vector alone: each [words, …]."""
        vectors = self.projection(vectors)
        scores = (group.word_scores(vectors, outputs).items() for group in self.groups.values())
        return dict(chain.from_iterable(scores))

    def _loss(self, words: Tensor, lengths: Tensor, targets: Targets) -> Tensor:
        options, taught = self.options, targets.taught
        words = self.projection(words if isinstance(self.projection, nn.Identity) else self.dropout(words))
        words = self.dropout(words)  # for all classifiers, which learn from the same vectors
        losses = []
        if self.whole is not None:
            arcs = self.arcs(words, lengths) if self.arcs is not None and self.whole.has_arcs else None
            labels = (self.columns[0](words), targets.columns[0]) if self.whole.has_labels else (None, None)
            wanted = Wanted(labels[1], targets.heads, None if taught is None else taught.of_trees)
            losses.append(self.whole(labels[0], arcs, wanted, lengths.tolist()))
        for number, (head, column) in enumerate(zip(self.columns, targets.columns, strict=True)):
            own = number < self.own
            if not own or self.whole is None:
                weight = 1.0 if own else options.auxiliary_weight
                soft = taught.columns[number] if taught and own else None
                losses.append(weight * _loss(head(words), column, taught, soft))
        if self.arcs is not None and (self.whole is None or not self.whole.has_arcs):
            loss = _loss(self.arcs.rows(words, lengths), targets.heads, taught, taught.arcs if taught else None)
            losses.append(options.arc_weight * loss)
        relations = self.relations.under_heads(words, targets.places, targets.classes)
        losses.append(_loss(relations, targets.relations, taught, taught.relations if taught else None))
        for number, (scores, tag) in enumerate(zip(several([*self.tags], words), targets.tags, strict=True)):
            loss = _loss(scores, tag, taught, taught.tags[number] if taught else None)
            losses.append(options.tag_weight * loss)
        if self.graphs is not None and targets.graphs is not None:
            losses.append(options.graph_weight * self.graphs.loss(words, lengths, targets.graphs))
        return torch.stack(losses).sum()


def _loss(scores: Tensor, gold: Tensor, taught: TeacherProbabilities | None, soft: Tensor | None) -> Tensor:
    """Return the cross-entropy of scores with the gold classes, summed over words.

    With a teacher's probabilities `soft`, mix it with the cross-entropy with them, which counts with the teacher's
    weight.
    """
    loss = functional.cross_entropy(scores.float(), gold, ignore_index=MISSING, reduction="sum")
    if taught is None or soft is None:
        return loss
    blurred = -(soft * functional.log_softmax(scores.float(), -1)).sum()
    return (1.0 - taught.weight) * loss + taught.weight * blurred
