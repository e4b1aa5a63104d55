"""What stands on top of an encoder: small networks from word vectors to scores."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

DISTANCES = (-32, -16, -8, -4, -2, -1, 0, 1, 3, 7, 15, 31)  # upper bounds of the classes of head minus word


@final
class FeedForward(nn.Module):
    """Two layers with LeakyReLU between them (the paper, section 6)."""

    def __init__(self, size: int, hidden: int, out: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(size, hidden), nn.LeakyReLU(0.1), nn.Dropout(dropout), nn.Linear(hidden, out)
        )

    def forward(self, words: Tensor) -> Tensor:
        """Score labels: [words, size] to [words, out]."""
        scores: Tensor = self.layers(words)
        return scores


@final
class PairRelations(nn.Module):
    """Relations from a word and its head: two layers over both vectors, and how far apart the two stand."""

    def __init__(self, size: int, hidden: int, out: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.word = nn.Linear(size, hidden)
        self.head = nn.Linear(size, hidden, bias=False)
        self.root = nn.Parameter(torch.zeros(size))
        self.distance = nn.Embedding(len(DISTANCES) + 1, hidden)
        nn.init.zeros_(self.distance.weight)
        self.activation = nn.LeakyReLU(0.1)
        self.out = nn.Linear(hidden, out)
        self.register_buffer("bounds", torch.tensor(DISTANCES), persistent=False)
        self.bounds: Tensor

    def forward(self, words: Tensor, heads: Tensor, lengths: Tensor) -> Tensor:
        """Score relations; `heads` count from 1 within each sentence, 0 is the root: [words] to [words, out]."""
        places = absolute(heads, lengths)
        words = self.dropout(words)
        above = self.head(torch.cat([self.root[None], words]))[places + 1]
        inner = torch.arange(len(heads), device=heads.device)
        apart = torch.where(places < 0, 0, places - inner)
        hidden = self.word(words) + above + self.distance(torch.bucketize(apart, self.bounds))
        scores: Tensor = self.out(self.dropout(self.activation(hidden)))
        return scores


@final
class Arcs(nn.Module):
    """Arc scores by biaffine products (Dozat & Manning 2017)."""

    def __init__(self, size: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.root = nn.Parameter(torch.zeros(size))
        self.words, self.heads = _narrow(size, hidden, dropout), _narrow(size, hidden, dropout)
        self.products = nn.Parameter(torch.zeros(hidden + 1, hidden))
        nn.init.xavier_uniform_(self.products)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Score arcs: [words, size] to [sentences, most words, most words + 1]; place 0 of the last is the root."""
        dependents = _padded(self.words(words), lengths)
        above = self.heads(torch.cat([self.root[None], words]))
        heads = _padded(above[1:], lengths)
        heads = torch.cat([above[:1].expand(len(lengths), 1, -1), heads], 1)
        ones = torch.ones_like(dependents[..., :1])
        scores = torch.cat([dependents, ones], -1) @ self.products @ heads.transpose(1, 2)
        most = scores.shape[1]
        numbers = torch.arange(most + 1, device=lengths.device)
        outside = numbers[None, :] > lengths[:, None]  # [sentences, most words + 1]
        own = numbers[None, :] == numbers[1:, None]
        return scores.masked_fill(outside[:, None, :] | own[None], -1e4)


@final
class BiaffineRelations(nn.Module):
    """Relation scores by biaffine products (Dozat & Manning 2017)."""

    def __init__(self, size: int, hidden: int, out: int, dropout: float) -> None:
        super().__init__()
        self.root = nn.Parameter(torch.zeros(size))
        self.words, self.heads = _narrow(size, hidden, dropout), _narrow(size, hidden, dropout)
        self.products = nn.Parameter(torch.zeros(out, hidden + 1, hidden + 1))
        nn.init.xavier_uniform_(self.products)

    def forward(self, words: Tensor, heads: Tensor, lengths: Tensor) -> Tensor:
        """Score the relations of chosen arcs: [words, relations]."""
        places = absolute(heads, lengths)
        dependents = self.words(words)
        above = self.heads(torch.cat([self.root[None], words]))[places + 1]
        ones = torch.ones_like(dependents[:, :1])
        dependents, above = torch.cat([dependents, ones], -1), torch.cat([above, ones], -1)
        products = torch.einsum("wi,rij->wrj", dependents, self.products)
        return torch.einsum("wrj,wj->wr", products, above)


def _narrow(size: int, to: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(nn.Dropout(dropout), nn.Linear(size, to), nn.LeakyReLU(0.1), nn.Dropout(dropout))


def absolute(heads: Tensor, lengths: Tensor) -> Tensor:
    """Count heads from 0 over all sentences; -1 is the root."""
    starts = torch.repeat_interleave(torch.cumsum(lengths, 0) - lengths, lengths)
    return torch.where(heads > 0, starts + heads - 1, -1)


def _padded(words: Tensor, lengths: Tensor) -> Tensor:
    return nn.utils.rnn.pad_sequence(list(words.split(lengths.tolist())), batch_first=True)
