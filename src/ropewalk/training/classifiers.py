"""Classifiers: small networks from word vectors to scores.

A relation classifier declares which outputs it computes from words alone, and whether its scores depend on heads. A
classifier of pairs computes two vectors of each word, called sides: one as a dependent and one as a head. It scores an
arc from the dependent's and the head's side. The classifier of arcs has sides too. Training, prediction and the export
to ONNX use the same methods.

The network drops out numbers of word vectors once for all classifiers. Classifiers drop out their hidden units.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from ropewalk.models.scorer import TREES
from ropewalk.training.dropout import Dropout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.models.scorer import Group

DISTANCES = (-32, -16, -8, -4, -2, -1, 0, 1, 3, 7, 15, 31)  # upper bounds of the classes of head minus word
IMPOSSIBLE = -1e4  # the score of an arc that must not be chosen
SLOPE = 0.1  # of LeakyReLU below zero
FEW = 32  # classes of classifiers that are computed together
PAIRS = TREES.sides("pair")  # outputs: see `models.scorer.Classifiers.outputs`


@final
class FeedForward(nn.Module):
    """Classifier of words: two layers with LeakyReLU between them (the paper, sections 5 and A.2).

    If `hidden` is 0, it has one layer.
    """

    def __init__(self, size: int, hidden: int, out: int, dropout: float) -> None:
        super().__init__()
        self.layers = _layers(size, hidden, out, dropout)

    @property
    def linear(self) -> list[nn.Linear]:
        """The linear layers: one or two."""
        return [layer for layer in self.layers if isinstance(layer, nn.Linear)]

    def forward(self, words: Tensor) -> Tensor:
        """Return the score of each class for each word: [words, size] to [words, out]."""
        scores: Tensor = self.layers(words)
        return scores


def several(classifiers: Sequence[FeedForward], words: Tensor) -> list[Tensor]:
    """Return the scores of several classifiers for each word, a tensor [words, out] for each.

    They are what each classifier returns alone. Those with at most `FEW` classes are computed together in two products.
    """
    together = {one: one.linear for one in classifiers if len(one.linear) > 1 and one.linear[-1].out_features <= FEW}
    if len(together) < 2:
        return [one(words) for one in classifiers]
    first, last = zip(*together.values(), strict=True)
    weights, biases = torch.cat([layer.weight for layer in first]), torch.cat([layer.bias for layer in first])
    hidden = functional.leaky_relu(functional.linear(words, weights, biases), SLOPE)
    hidden = next(iter(together)).layers[-2](hidden)  # dropout
    tables = torch.stack([functional.pad(layer.weight, (0, 0, 0, FEW - layer.out_features)) for layer in last])
    scores = hidden.unflatten(1, (len(last), -1)).transpose(0, 1) @ tables.transpose(1, 2)
    rows = zip(together, last, scores.unbind(), strict=True)
    found = {one: row[:, : layer.out_features] + layer.bias for one, layer, row in rows}
    return [found[one] if one in found else one(words) for one in classifiers]


class RelationHead(nn.Module, ABC):
    """Base class of relation classifiers: they score relations from words alone, or from words and their heads."""

    outputs: ClassVar[tuple[str, ...]]  # names of what `word_scores` computes
    distances: ClassVar[tuple[int, ...]] = ()  # upper bounds of the classes of distances that relations depend on
    restorable: ClassVar[bool] = False  # whether `exported` can find the weights again

    @property
    def pairs(self) -> PairScorer | None:
        """This classifier if its scores depend on a word and its head, otherwise None."""
        return None

    @abstractmethod
    def word_scores(self, vectors: Tensor) -> dict[str, Tensor]:
        """Return the tensors named in `outputs`, computed from each word's vector alone: each [words, …]."""

    @abstractmethod
    def under_heads(self, vectors: Tensor, places: Tensor, classes: Tensor) -> Tensor:
        """Return each word's relation scores under its head: [words, relations].

        `places` are the row indices of the heads in `vectors`, -1 for the root. `classes` are the distance classes of
        word and head; see `models.scorer.distance_classes`.
        """


@final
class WordRelations(RelationHead):
    """Classifier of relations from the word alone: two layers, or one layer if `hidden` is 0."""

    outputs = ("relations",)
    restorable = True

    def __init__(self, size: int, hidden: int, out: int, dropout: float) -> None:
        super().__init__()
        self.layers = _layers(size, hidden, out, dropout)

    def word_scores(self, vectors: Tensor) -> dict[str, Tensor]:
        """Return each word's log-probabilities of relations, [words, relations], under the name `relations`."""
        return {"relations": self.layers(vectors).log_softmax(-1)}

    def under_heads(self, vectors: Tensor, places: Tensor, classes: Tensor) -> Tensor:  # noqa: ARG002 - not used here
        """Return each word's relation scores, [words, relations]; they do not depend on its head."""
        scores: Tensor = self.layers(vectors)
        return scores


class PairScorer(RelationHead):
    """Base class of relation classifiers that score pairs of a word, as a dependent, and its head.

    Both are represented by vectors of their own, called sides.
    """

    outputs = PAIRS

    @property
    def pairs(self) -> PairScorer:
        """This classifier."""
        return self

    @abstractmethod
    def sides(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Return each word's vector as a dependent and its vector as a head: two tensors [words, hidden]."""

    @abstractmethod
    def classes(self) -> Tensor:
        """Return the vectors that are added to a head's side: one for each distance class, then the root's side.

        The result is [classes + 1, hidden].
        """

    @abstractmethod
    def score(self, words: Tensor, heads: Tensor) -> Tensor:
        """Return the relation scores of pairs of a dependent's side and a head's side: [pairs, relations]."""

    def word_scores(self, vectors: Tensor) -> dict[str, Tensor]:
        """Return both sides of each word, under the names in `PAIRS`: each [words, hidden]."""
        return dict(zip(PAIRS, self.sides(vectors), strict=True))

    def under_heads(self, vectors: Tensor, places: Tensor, classes: Tensor) -> Tensor:
        """Return the relation scores of each word under its head."""
        return self.of_arcs(*self.sides(vectors), places, classes)

    def of_arcs(self, words: Tensor, heads: Tensor, places: Tensor, classes: Tensor) -> Tensor:
        """Return the relation scores of arcs: [arcs, relations].

        `words` has the dependent's side of each arc, `heads` the head sides of all words. `places` are the row indices
        of the arcs' heads in `heads`, -1 for the root; `classes` are the arcs' distance classes.
        """
        above = heads[places.clamp(min=0)].masked_fill(places[:, None] < 0, 0.0)
        return self.score(words, above + self.classes()[classes])


@final
class PairRelations(PairScorer):
    """Classifier of relations from a word, its head and their distance: two layers over the sum of three vectors."""

    distances = DISTANCES
    restorable = True

    def __init__(self, size: int, hidden: int, out: int, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.word = nn.Linear(size, hidden)
        self.head = nn.Linear(size, hidden, bias=False)
        self.root = nn.Parameter(torch.zeros(size))
        self.distance = nn.Embedding(len(DISTANCES) + 1, hidden)
        nn.init.zeros_(self.distance.weight)
        self.activation = nn.LeakyReLU(SLOPE)
        self.out = nn.Linear(hidden, out)

    def sides(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Return each word's vector as a dependent and its vector as a head: two tensors [words, hidden]."""
        return self.word(vectors), self.head(vectors)

    def classes(self) -> Tensor:
        """Return the embeddings of distance classes, which are added to a head's vector, then node 0's vector."""
        own = self.distance.weight[DISTANCES.index(0)]
        return torch.cat([self.distance.weight, (own + self.head(self.root))[None]])

    def score(self, words: Tensor, heads: Tensor) -> Tensor:
        """Return the relation scores of pairs of a dependent's side and a head's side: [pairs, relations]."""
        scores: Tensor = self.out(self.dropout(self.activation(words + heads)))
        return scores


@final
class BiaffineRelations(PairScorer):
    """Classifier of relations from biaffine products of a word and its head (Dozat & Manning 2017)."""

    def __init__(self, size: int, hidden: int, out: int, dropout: float) -> None:
        super().__init__()
        self.root = nn.Parameter(torch.zeros(size))
        self.words, self.heads = _narrow(size, hidden, dropout), _narrow(size, hidden, dropout)
        self.products = nn.Parameter(torch.zeros(out, hidden + 1, hidden + 1))
        nn.init.xavier_uniform_(self.products)

    def sides(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Return each word's vector as a dependent and its vector as a head: two tensors [words, hidden]."""
        return self.words(vectors), self.heads(vectors)

    def classes(self) -> Tensor:
        """Return the vectors that are added to a head's side: zeros for a word, then the root's side: [2, hidden]."""
        root = self.heads(self.root)
        return torch.stack([torch.zeros_like(root), root])

    def score(self, words: Tensor, heads: Tensor) -> Tensor:
        """Return the relation scores of pairs of a dependent's side and a head's side: [pairs, relations]."""
        relations, size, _ = self.products.shape
        table = self.products.permute(1, 0, 2).reshape(size, -1)
        products = (words @ table[:-1] + table[-1]).reshape(-1, relations, size)
        return (products[:, :, :-1] @ heads[:, :, None])[:, :, 0] + products[:, :, -1]


@final
class ArcScorer(nn.Module):
    """Classifier of heads: it scores all arcs of a sentence with biaffine products (Dozat & Manning 2017)."""

    def __init__(self, size: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.root = nn.Parameter(torch.zeros(size))
        self.words, self.heads = _narrow(size, hidden, dropout), _narrow(size, hidden, dropout)
        self.products = nn.Parameter(torch.zeros(hidden + 1, hidden))
        nn.init.xavier_uniform_(self.products)

    def sides(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Return each word's vector as a dependent and its vector as a head: two tensors [words, hidden]."""
        return self.words(vectors) @ self.products[:-1] + self.products[-1], self.heads(vectors)

    def root_side(self) -> Tensor:
        """Return the root's vector as a head: [hidden]."""
        root: Tensor = self.heads(self.root)
        return root

    @staticmethod
    def score(words: Tensor, heads: Tensor, root: Tensor) -> Tensor:
        """Return each word's scores of heads: [sentences, words, words + 1]; index 0 is the root.

        `words` and `heads` are the sides of the words: each [sentences, words, hidden]. The score of a word as its own
        head is `IMPOSSIBLE`.
        """
        among = words @ heads.transpose(1, 2)
        numbers = torch.arange(words.shape[1], device=words.device)
        among = among.masked_fill(numbers[:, None] == numbers, IMPOSSIBLE)
        return torch.cat([(words @ root)[:, :, None], among], -1)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Return each word's scores of heads, padded to the longest sentence: [sentences, most words, most words + 1].

        `vectors` are those of all words, [words, size]; `lengths` are the sentences' numbers of words. The score of a
        head beyond the end of the sentence is `IMPOSSIBLE`.
        """
        words, heads = (_padded(side, lengths) for side in self.sides(vectors))
        root = self.root_side()
        with torch.autocast(words.device.type, enabled=False):  # CPUs compile products in bf16 for every new size
            scores = self.score(words.float(), heads.float(), root.float())
        outside = torch.arange(scores.shape[2], device=lengths.device) > lengths[:, None]
        return scores.masked_fill(outside[:, None, :], IMPOSSIBLE)

    def rows(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Return each word's scores of heads, with one row for each word of all sentences: [words, most words + 1]."""
        table: Tensor = self(vectors, lengths)
        return table[torch.arange(table.shape[1], device=lengths.device) < lengths[:, None]]


@final
@dataclass(frozen=True, slots=True, eq=False)
class GroupClassifiers:
    """The classifiers of trees, or those of graphs; the network owns their modules.

    `columns` has the classifiers of single words by output name. `bias`, if given, is added to arc scores: each arc is
    then predicted independently of others. Without it, every word has exactly one head.
    """

    group: Group
    columns: Mapping[str, nn.Module]
    relations: RelationHead
    arcs: ArcScorer | None
    bias: Tensor | None = None

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of all outputs of `word_scores`; see `models.scorer.Classifiers.outputs`."""
        own = map(self.group.output, (*self.columns, *self.relations.outputs))
        return (*own, *(() if self.arcs is None else self.group.sides("arc")))

    def word_scores(self, vectors: Tensor, outputs: Sequence[str]) -> dict[str, Tensor]:
        """Return the tensors of this group that `outputs` names, computed from each word's vector alone."""
        columns = {self.group.output(name): column for name, column in self.columns.items()}
        out = {name: column(vectors).log_softmax(-1) for name, column in columns.items() if name in outputs}
        if not set(map(self.group.output, self.relations.outputs)).isdisjoint(outputs):
            out |= {self.group.output(name): rows for name, rows in self.relations.word_scores(vectors).items()}
        if self.arcs is not None and not set(self.group.sides("arc")).isdisjoint(outputs):
            out |= zip(self.group.sides("arc"), self.arcs.sides(vectors), strict=True)
        return out


def arc_scores(words: Tensor, heads: Tensor, root: Tensor, bias: Tensor | None) -> Tensor:
    """Return arc scores from both sides: log-probabilities of heads, or with a `bias` the log-odds of each arc."""
    scores = ArcScorer.score(words, heads, root)
    return scores.log_softmax(-1) if bias is None else scores + bias


# Layers begin with an identity, so that weights have the same names as in older models, whose first layer was dropout.


def one_layer(size: int, out: int) -> nn.Sequential:
    """Return a linear layer followed by LeakyReLU: the only kind of layer in the authors' program."""
    return nn.Sequential(nn.Identity(), nn.Linear(size, out), nn.LeakyReLU(SLOPE))


@torch.no_grad()
def make_orthogonal(network: nn.Module) -> None:
    """Initialize linear layers outside the encoder as orthogonal matrices; set biases and biaffine products to 0."""
    for name, module in network.named_modules():
        if isinstance(module, nn.Linear) and not name.startswith("encoder."):
            nn.init.orthogonal_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    for name, weight in network.named_parameters():
        if name.endswith(".products"):
            nn.init.zeros_(weight)


def _layers(size: int, hidden: int, out: int, dropout: float) -> nn.Sequential:
    if not hidden:
        return one_layer(size, out)
    return nn.Sequential(
        nn.Identity(), nn.Linear(size, hidden), nn.LeakyReLU(SLOPE), Dropout(dropout), nn.Linear(hidden, out)
    )


def _narrow(size: int, to: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(nn.Identity(), nn.Linear(size, to), nn.LeakyReLU(SLOPE), Dropout(dropout))


def _padded(words: Tensor, lengths: Tensor) -> Tensor:
    inside = torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None]
    return words.new_zeros((*inside.shape, words.shape[1])).masked_scatter(inside[:, :, None], words)
