"""An encoder and its heads as one network: word vectors, scores and losses, and nothing of trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from ropewalk.models.labels import MISSING
from ropewalk.training.crf import crf_loss, demand_sequences
from ropewalk.training.heads import Arcs, BiaffineRelations, FeedForward, PairRelations

if TYPE_CHECKING:
    from ropewalk.models.config import Model
    from ropewalk.models.labels import LabelSet
    from ropewalk.training.encoders import Batch, Encoder


@dataclass(frozen=True, slots=True)
class Probabilities:
    """A teacher's probabilities for the words of a batch; arcs are padded with zeros."""

    weight: float  # share of the loss that is the teacher's
    columns: tuple[Tensor, ...]
    relations: Tensor
    tags: tuple[Tensor, ...]
    arcs: Tensor | None

    def to(self, device: torch.device) -> Probabilities:
        """Move everything to a device."""
        return Probabilities(
            self.weight,
            tuple(column.to(device) for column in self.columns),
            self.relations.to(device),
            tuple(tag.to(device) for tag in self.tags),
            None if self.arcs is None else self.arcs.to(device),
        )


@dataclass(frozen=True, slots=True)
class Targets:
    """What the words of a batch should be given: numbers of labels, heads, relations and tags."""

    columns: tuple[Tensor, ...]  # each [words]: of the first encoding, then of the auxiliary ones
    heads: Tensor
    relations: Tensor
    tags: tuple[Tensor, ...]
    taught: Probabilities | None = None

    def to(self, device: torch.device) -> Targets:
        """Move everything to a device."""
        return Targets(
            tuple(column.to(device) for column in self.columns),
            self.heads.to(device),
            self.relations.to(device),
            tuple(tag.to(device) for tag in self.tags),
            None if self.taught is None else self.taught.to(device),
        )


@final
class Network(nn.Module):
    """The encoder, a head for each label column, and heads for arcs, relations and tags as the model asks for."""

    def __init__(self, options: Model, labels: LabelSet, encoder: Encoder) -> None:
        super().__init__()
        self.options = options
        self.encoder = encoder
        size = encoder.size
        sizes = [len(column) for columns in labels.columns for column in columns]
        self.own = 0 if options.parser == "biaffine" else len(labels.columns[0])
        self.sequences = (labels.encodings[0], labels.columns[0][0]) if self.own else ("", ())
        if options.loss == "sequences" and self.own:
            demand_sequences(*self.sequences)
        self.columns = nn.ModuleList(FeedForward(size, options.hidden, out, options.dropout) for out in sizes)
        self.tags = nn.ModuleList(
            FeedForward(size, options.hidden, len(texts), options.dropout) for _, texts in labels.tags
        )
        out = len(labels.relations)
        biaffine = options.parser == "biaffine"
        self.arcs = Arcs(size, options.biaffine.arc_size, options.dropout) if biaffine or options.arc_weight else None
        self.relations: PairRelations | BiaffineRelations | FeedForward
        if biaffine:
            self.relations = BiaffineRelations(size, options.biaffine.relation_size, out, options.dropout)
        elif options.relations.from_ == "word":
            self.relations = FeedForward(size, options.relations.hidden, out, options.dropout)
        else:
            self.relations = PairRelations(size, options.relations.hidden, out, options.dropout)

    def forward(self, batch: Batch, targets: Targets | None = None) -> Tensor:
        """Give the loss summed over the words of a batch, or without targets their vectors.

        Everything goes through this one method because that is where sharded weights are brought together.
        """
        words: Tensor = self.encoder(batch)
        return words if targets is None else self._loss(words, batch.lengths, targets)

    def _loss(self, words: Tensor, lengths: Tensor, targets: Targets) -> Tensor:
        options = self.options
        taught = targets.taught
        losses = []
        for number, (head, column) in enumerate(zip(self.columns, targets.columns, strict=True)):
            weight = 1.0 if number < self.own else options.auxiliary_weight
            if options.loss == "sequences" and number < self.own:
                loss = crf_loss(head(words), column, lengths.tolist(), *self.sequences)
            else:
                loss = _loss(
                    head(words), column, taught, taught.columns[number] if taught and number < self.own else None
                )
            losses.append(weight * loss)
        if self.arcs is not None:
            arcs = self.arcs(words, lengths)
            inside = torch.arange(arcs.shape[1], device=lengths.device) < lengths[:, None]
            weight = 1.0 if options.parser == "biaffine" else options.arc_weight
            losses.append(weight * _loss(arcs[inside], targets.heads, taught, taught.arcs if taught else None))
        relations = self.label(words, targets.heads, lengths)
        losses.append(_loss(relations, targets.relations, taught, taught.relations if taught else None))
        for number, (head, tag) in enumerate(zip(self.tags, targets.tags, strict=True)):
            loss = _loss(head(words), tag, taught, taught.tags[number] if taught else None)
            losses.append(options.tag_weight * loss)
        return torch.stack(losses).sum()

    def label(self, words: Tensor, heads: Tensor, lengths: Tensor) -> Tensor:
        """Score the relation of every word under its head: [words, relations]."""
        if isinstance(self.relations, FeedForward):
            scores: Tensor = self.relations(words)
        else:
            scores = self.relations(words, heads, lengths)
        return scores


def _loss(scores: Tensor, wanted: Tensor, taught: Probabilities | None, soft: Tensor | None) -> Tensor:
    """Give the cross-entropy with what is right, and for its share that with a teacher's probabilities."""
    loss = functional.cross_entropy(scores.float(), wanted, ignore_index=MISSING, reduction="sum")
    if taught is None or soft is None:
        return loss
    blurred = -(soft * functional.log_softmax(scores.float(), -1)).sum()
    return (1.0 - taught.weight) * loss + taught.weight * blurred
