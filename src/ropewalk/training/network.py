"""An encoder and its heads as one network: word vectors, scores and losses, and nothing of trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from ropewalk.models.labels import MISSING
from ropewalk.training.classifiers import (
    ArcScorer,
    BiaffineRelations,
    FeedForward,
    PairRelations,
    WordRelations,
    one_layer,
)
from ropewalk.training.crf import arc_loss, whole_loss
from ropewalk.training.graph_training import GraphHeads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.models.description import GraphShape, HeadShape
    from ropewalk.models.labels import LabelSet
    from ropewalk.training.classifiers import RelationHead
    from ropewalk.training.encoders import Batch, WordEncoder
    from ropewalk.training.graph_training import GraphTargets

RELATIONS: dict[str, type[WordRelations | PairRelations | BiaffineRelations]] = {
    "words": WordRelations,
    "pairs": PairRelations,
    "products": BiaffineRelations,
}

ARCS = ("arc_words", "arc_heads")


@dataclass(frozen=True, slots=True)
class LossOptions:
    """What training adds to the shape of a network: dropout, and the weights of the parts of the loss."""

    dropout: float = 0.0
    loss: str = "words"  # see `config.LOSSES`
    auxiliary_weight: float = 0.0
    arc_weight: float = 1.0
    tag_weight: float = 1.0
    graph_weight: float = 1.0


@dataclass(frozen=True, slots=True)
class TeacherProbabilities:
    """A teacher's probabilities for the words of a batch; arcs are padded with zeros."""

    weight: float  # share of the loss that is the teacher's
    columns: tuple[Tensor, ...]
    relations: Tensor
    tags: tuple[Tensor | None, ...]  # None where only the treebank is learnt from
    arcs: Tensor | None

    def to(self, device: torch.device) -> TeacherProbabilities:
        """Move everything to a device."""
        return TeacherProbabilities(
            self.weight,
            tuple(column.to(device) for column in self.columns),
            self.relations.to(device),
            tuple(None if tag is None else tag.to(device) for tag in self.tags),
            None if self.arcs is None else self.arcs.to(device),
        )


@dataclass(frozen=True, slots=True)
class Targets:
    """What the words of a batch should be given: numbers of labels, heads, relations and tags."""

    columns: tuple[Tensor, ...]  # each [words]: of the first encoding, then of the auxiliary ones
    heads: Tensor  # within each sentence, 0 is the root
    places: Tensor  # of the heads among all words of the batch, -1 is the root,
    classes: Tensor  # and the classes of their distances: see `arc_places`
    relations: Tensor
    tags: tuple[Tensor, ...]
    taught: TeacherProbabilities | None = None
    graphs: GraphTargets | None = None

    def to(self, device: torch.device) -> Targets:
        """Move everything to a device."""
        return Targets(
            tuple(column.to(device) for column in self.columns),
            self.heads.to(device),
            self.places.to(device),
            self.classes.to(device),
            self.relations.to(device),
            tuple(tag.to(device) for tag in self.tags),
            None if self.taught is None else self.taught.to(device),
            None if self.graphs is None else self.graphs.to(device),
        )


@final
class Network(nn.Module):
    """The encoder, a head for each label column, and heads for arcs, relations, tags and graphs as asked for."""

    def __init__(
        self, shape: HeadShape, graphs: GraphShape, labels: LabelSet, encoder: WordEncoder, options: LossOptions
    ) -> None:
        super().__init__()
        self.shape = shape
        self.options = options
        self.encoder = encoder
        size, dropout = shape.projection or encoder.size, options.dropout
        self.projection = one_layer(encoder.size, size, dropout) if shape.projection else nn.Identity()
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
        self.graphs = None if labels.graphs is None else GraphHeads(graphs, labels.graphs, size, dropout)

    @property
    def distances(self) -> tuple[int, ...]:
        """Upper bounds of the classes of distances that relations depend on."""
        return self.relations.distances

    def forward(self, batch: Batch, targets: Targets | None = None) -> Tensor:
        """Give the loss summed over the words of a batch, or without targets their vectors.

        Everything goes through this one method because that is where sharded weights are brought together.
        """
        words: Tensor = self.encoder(batch)
        return words if targets is None else self._loss(words, batch.lengths, targets)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Name what `word_scores` can compute; see `HeadNetworks.outputs`."""
        return (
            *self._own_heads(),
            *self.relations.outputs,
            *(() if self.arcs is None else ARCS),
            *(() if self.graphs is None else self.graphs.outputs),
        )

    def word_scores(self, vectors: Tensor, outputs: Sequence[str]) -> dict[str, Tensor]:
        """Compute what follows from each word alone, as far as these outputs need it."""
        vectors = self.projection(vectors)
        out = {name: head(vectors).log_softmax(-1) for name, head in self._own_heads().items() if name in outputs}
        if not set(self.relations.outputs).isdisjoint(outputs):
            out |= self.relations.word_scores(vectors)
        if self.arcs is not None and not set(ARCS).isdisjoint(outputs):
            out |= zip(ARCS, self.arcs.sides(vectors), strict=True)
        return out if self.graphs is None else out | self.graphs.word_scores(vectors, outputs)

    def _own_heads(self) -> dict[str, nn.Module]:
        """Name the heads that score classes of single words."""
        return {
            **{f"labels.{number}": head for number, head in enumerate(self.columns[: self.own])},
            **{f"tags.{number}": head for number, head in enumerate(self.tags)},
        }

    def _loss(self, words: Tensor, lengths: Tensor, targets: Targets) -> Tensor:
        options, taught = self.options, targets.taught
        words = self.projection(words)
        losses = []
        if self.whole is not None:
            arcs = self.arcs(words, lengths) if self.arcs is not None and self.whole.has_arcs else None
            labels = (self.columns[0](words), targets.columns[0]) if self.whole.has_labels else (None, None)
            losses.append(self.whole(labels[0], arcs, labels[1], targets.heads, lengths.tolist()))
        for number, (head, column) in enumerate(zip(self.columns, targets.columns, strict=True)):
            own = number < self.own
            if not own or self.whole is None:
                weight = 1.0 if own else options.auxiliary_weight
                soft = taught.columns[number] if taught and own else None
                losses.append(weight * _loss(head(words), column, taught, soft))
        if self.arcs is not None and (self.whole is None or not self.whole.has_arcs):
            arcs = self.arcs(words, lengths)
            inside = torch.arange(arcs.shape[1], device=lengths.device) < lengths[:, None]
            loss = _loss(arcs[inside], targets.heads, taught, taught.arcs if taught else None)
            losses.append(options.arc_weight * loss)
        relations = self.relations.under_heads(words, targets.places, targets.classes)
        losses.append(_loss(relations, targets.relations, taught, taught.relations if taught else None))
        for number, (head, tag) in enumerate(zip(self.tags, targets.tags, strict=True)):
            loss = _loss(head(words), tag, taught, taught.tags[number] if taught else None)
            losses.append(options.tag_weight * loss)
        if self.graphs is not None and targets.graphs is not None:
            losses.append(options.graph_weight * self.graphs.loss(words, lengths, targets.graphs))
        return torch.stack(losses).sum()


def _loss(scores: Tensor, wanted: Tensor, taught: TeacherProbabilities | None, soft: Tensor | None) -> Tensor:
    """Give the cross-entropy with what is right, and for its share that with a teacher's probabilities."""
    loss = functional.cross_entropy(scores.float(), wanted, ignore_index=MISSING, reduction="sum")
    if taught is None or soft is None:
        return loss
    blurred = -(soft * functional.log_softmax(scores.float(), -1)).sum()
    return (1.0 - taught.weight) * loss + taught.weight * blurred
