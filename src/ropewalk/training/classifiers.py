"""What stands on top of an encoder: small networks from word vectors to scores.

A head for relations says itself what it computes of words alone, and whether it needs to know what they hang on. One
of pairs has two sides, what a word brings as a dependent and what it brings as a head, and a score that is made
of both, as has the one for arcs. Training, prediction and the export to ONNX all go through the same methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, final

import torch
from torch import Tensor, nn

DISTANCES = (-32, -16, -8, -4, -2, -1, 0, 1, 3, 7, 15, 31)  # upper bounds of the classes of head minus word
IMPOSSIBLE = -1e4  # the score of what must not be chosen
SLOPE = 0.1  # of LeakyReLU below zero
PAIRS = ("pair_words", "pair_heads")  # outputs: see `HeadNetworks.outputs`


@final
class FeedForward(nn.Module):
    """Two layers with LeakyReLU between them (the paper, sections 5 and A.2), or one layer if `hidden` is 0."""

    def __init__(self, size: int, hidden: int, out: int, dropout: float) -> None:
        super().__init__()
        self.layers = _layers(size, hidden, out, dropout)

    def forward(self, words: Tensor) -> Tensor:
        """Score labels: [words, size] to [words, out]."""
        scores: Tensor = self.layers(words)
        return scores


class RelationHead(nn.Module, ABC):
    """Relations of words to what they hang on, from the words alone or from both."""

    outputs: ClassVar[tuple[str, ...]]  # names of what `word_scores` computes
    distances: ClassVar[tuple[int, ...]] = ()  # upper bounds of the classes of distances that relations depend on
    restorable: ClassVar[bool] = False  # whether `exported` can find the weights again

    @property
    def pairs(self) -> PairScorer | None:
        """What scores a word together with its head, if relations depend on both."""
        return None

    @abstractmethod
    def word_scores(self, vectors: Tensor) -> dict[str, Tensor]:
        """Compute what follows from each word alone."""

    @abstractmethod
    def under_heads(self, vectors: Tensor, places: Tensor, classes: Tensor) -> Tensor:
        """Score the relation of each word: [words, relations].

        `places` are those of their heads among all words, -1 is the root, and `classes` those of the distances.
        """


@final
class WordRelations(RelationHead):
    """Relations from a word alone: two layers, or one layer if `hidden` is 0."""

    outputs = ("relations",)
    restorable = True

    def __init__(self, size: int, hidden: int, out: int, dropout: float) -> None:
        super().__init__()
        self.layers = _layers(size, hidden, out, dropout)

    def word_scores(self, vectors: Tensor) -> dict[str, Tensor]:
        """Give the log-probabilities of relations."""
        return {"relations": self.layers(vectors).log_softmax(-1)}

    def under_heads(self, vectors: Tensor, places: Tensor, classes: Tensor) -> Tensor:  # noqa: ARG002 - they say nothing here
        """Score relations, which are the same under any head."""
        scores: Tensor = self.layers(vectors)
        return scores


class PairScorer(RelationHead):
    """Relations from what a word brings as a dependent and what another brings as its head."""

    outputs = PAIRS

    @property
    def pairs(self) -> PairScorer:
        """Itself."""
        return self

    @abstractmethod
    def sides(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Give what words bring as dependents and as heads: twice [words, hidden]."""

    @abstractmethod
    def classes(self) -> Tensor:
        """Give what is added to the side of a head: a row for each distance, the last for the root in its place."""

    @abstractmethod
    def score(self, words: Tensor, heads: Tensor) -> Tensor:
        """Score relations by both sides: [pairs, relations]."""

    def word_scores(self, vectors: Tensor) -> dict[str, Tensor]:
        """Give both sides of each word."""
        return dict(zip(PAIRS, self.sides(vectors), strict=True))

    def under_heads(self, vectors: Tensor, places: Tensor, classes: Tensor) -> Tensor:
        """Score the relation of each word to its head."""
        return self.of_arcs(*self.sides(vectors), places, classes)

    def of_arcs(self, words: Tensor, heads: Tensor, places: Tensor, classes: Tensor) -> Tensor:
        """Score the relations of arcs, given the sides of their words, and those of all heads by place."""
        above = heads[places.clamp(min=0)].masked_fill(places[:, None] < 0, 0.0)
        return self.score(words, above + self.classes()[classes])


@final
class PairRelations(PairScorer):
    """Relations from a word and its head: two layers over both vectors, and how far apart the two stand."""

    distances = DISTANCES
    restorable = True

    def __init__(self, size: int, hidden: int, out: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.word = nn.Linear(size, hidden)
        self.head = nn.Linear(size, hidden, bias=False)
        self.root = nn.Parameter(torch.zeros(size))
        self.distance = nn.Embedding(len(DISTANCES) + 1, hidden)
        nn.init.zeros_(self.distance.weight)
        self.activation = nn.LeakyReLU(SLOPE)
        self.out = nn.Linear(hidden, out)

    def sides(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Give what words bring as dependents and as heads: twice [words, hidden]."""
        vectors = self.dropout(vectors)
        return self.word(vectors), self.head(vectors)

    def classes(self) -> Tensor:
        """Give what is added to the side of a head: a row for each distance, the last for the root in its place."""
        own = self.distance.weight[DISTANCES.index(0)]
        return torch.cat([self.distance.weight, (own + self.head(self.root))[None]])

    def score(self, words: Tensor, heads: Tensor) -> Tensor:
        """Score relations by both sides: [pairs, relations]."""
        scores: Tensor = self.out(self.dropout(self.activation(words + heads)))
        return scores


@final
class BiaffineRelations(PairScorer):
    """Relation scores by biaffine products (Dozat & Manning 2017)."""

    def __init__(self, size: int, hidden: int, out: int, dropout: float) -> None:
        super().__init__()
        self.root = nn.Parameter(torch.zeros(size))
        self.words, self.heads = _narrow(size, hidden, dropout), _narrow(size, hidden, dropout)
        self.products = nn.Parameter(torch.zeros(out, hidden + 1, hidden + 1))
        nn.init.xavier_uniform_(self.products)

    def sides(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Give what words bring as dependents and as heads: twice [words, hidden]."""
        return self.words(vectors), self.heads(vectors)

    def classes(self) -> Tensor:
        """Give what is added to the side of a head: nothing, or the root in its place."""
        root = self.heads(self.root)
        return torch.stack([torch.zeros_like(root), root])

    def score(self, words: Tensor, heads: Tensor) -> Tensor:
        """Score relations by both sides: [pairs, relations]."""
        relations, size, _ = self.products.shape
        table = self.products.permute(1, 0, 2).reshape(size, -1)
        products = (words @ table[:-1] + table[-1]).reshape(-1, relations, size)
        return (products[:, :, :-1] @ heads[:, :, None])[:, :, 0] + products[:, :, -1]


@final
class ArcScorer(nn.Module):
    """Arc scores by biaffine products (Dozat & Manning 2017)."""

    def __init__(self, size: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.root = nn.Parameter(torch.zeros(size))
        self.words, self.heads = _narrow(size, hidden, dropout), _narrow(size, hidden, dropout)
        self.products = nn.Parameter(torch.zeros(hidden + 1, hidden))
        nn.init.xavier_uniform_(self.products)

    def sides(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Give what words bring as dependents and as heads: twice [words, hidden]."""
        return self.words(vectors) @ self.products[:-1] + self.products[-1], self.heads(vectors)

    def root_side(self) -> Tensor:
        """Give what the root brings as a head."""
        root: Tensor = self.heads(self.root)
        return root

    @staticmethod
    def score(words: Tensor, heads: Tensor, root: Tensor) -> Tensor:
        """Score heads: twice [sentences, words, hidden] to [sentences, words, words + 1], place 0 is the root."""
        among = words @ heads.transpose(1, 2)
        numbers = torch.arange(words.shape[1], device=words.device)
        among = among.masked_fill(numbers[:, None] == numbers, IMPOSSIBLE)
        return torch.cat([(words @ root)[:, :, None], among], -1)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Score the heads of sentences of any lengths: [words, size] to [sentences, most words, most words + 1]."""
        words, heads = (_padded(side, lengths) for side in self.sides(vectors))
        scores = self.score(words, heads, self.root_side())
        outside = torch.arange(scores.shape[2], device=lengths.device) > lengths[:, None]
        return scores.masked_fill(outside[:, None, :], IMPOSSIBLE)


def one_layer(size: int, out: int, dropout: float) -> nn.Sequential:
    """Return a linear layer with LeakyReLU on what it gives: the only kind of layer in the authors' program."""
    return nn.Sequential(nn.Dropout(dropout), nn.Linear(size, out), nn.LeakyReLU(SLOPE))


@torch.no_grad()
def make_orthogonal(network: nn.Module) -> None:
    """Make all linear layers but those of the encoder orthogonal, and set biases and biaffine products to zero."""
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
        return one_layer(size, out, dropout)
    return nn.Sequential(
        nn.Dropout(dropout), nn.Linear(size, hidden), nn.LeakyReLU(SLOPE), nn.Dropout(dropout), nn.Linear(hidden, out)
    )


def _narrow(size: int, to: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(nn.Dropout(dropout), nn.Linear(size, to), nn.LeakyReLU(SLOPE), nn.Dropout(dropout))


def _padded(words: Tensor, lengths: Tensor) -> Tensor:
    return nn.utils.rnn.pad_sequence(list(words.split(lengths.tolist())), batch_first=True)
