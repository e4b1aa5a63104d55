"""The base class of encoders without pretraining: it computes features of each word by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ropewalk.models.inputs import Inputs
from ropewalk.models.vocabulary import STYLES, Lookup, Vocabulary, end_to_end
from ropewalk.training.dropout import Dropout
from ropewalk.training.encoders.word_encoder import Batch, WordEncoder
from ropewalk.training.onnx_graphs import SAMPLE, Computed, traced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onnx import ModelProto

    from ropewalk.models.description import EncoderShape


BLOCKS = 4  # of words of similar length, whose characters are read together


class FeatureEncoder(WordEncoder, ABC):
    """Base class of encoders that read features of words.

    Features are embeddings of the word, its affixes, its shape and its characters (with a convolution), and static
    vectors. If the encoder learns from several treebanks, a vector of the word's treebank is added to them (Stymne et
    al. 2018).
    """

    def __init__(
        self, shape: EncoderShape, vocabulary: Vocabulary, *, input_size: int, dropout: float = 0.0, forget: float = 0.0
    ) -> None:
        """Build the embedding tables; features are projected to `input_size` dimensions, unless it is 0."""
        super().__init__()
        self._shape = shape
        self.lookup = Lookup(vocabulary)
        self.words = _embedding(vocabulary.words, shape.word_size)
        self.affixes = _embedding(vocabulary.affixes, shape.affix_size)
        self.shapes = _embedding(vocabulary.shapes, shape.shape_size)
        self.characters = _embedding(vocabulary.characters, shape.character_size, extra=2)
        channels = 2 * shape.character_size
        self.convolution = nn.Conv1d(shape.character_size, channels, 3, padding=1) if channels else None
        self.vectors = nn.Embedding(len(vocabulary.vectors) + 1, shape.vector_size) if shape.vector_size else None
        if self.vectors is not None:
            self.vectors.requires_grad_(False)  # noqa: FBT003 - torch's signature
        width = shape.word_size + shape.affix_size + shape.shape_size + channels + shape.vector_size
        self.narrow = nn.Linear(width, input_size) if input_size else None
        self.input_size = input_size or width
        self.styles = nn.Embedding(len(shape.styles), self.input_size) if shape.styles else None
        if self.styles is not None:
            nn.init.normal_(self.styles.weight, std=self.input_size**-0.5)
        self.dropout = Dropout(dropout)
        self.forget = forget

    @property
    def shape(self) -> EncoderShape:
        """The kind and sizes of the encoder, for the model's description."""
        return self._shape

    def word_network(self, compute: Callable[[Tensor], Tensor]) -> ModelProto:
        """Return the ONNX network for single words: their features, then the function `compute` of these features."""
        read = {
            "words": self.words,
            "affixes": self.affixes,
            "shapes": self.shapes,
            "characters": self.characters,
            "vectors": self.vectors,
        }
        arrays = self.lookup.features(["a"] * SAMPLE)
        samples = {name: torch.from_numpy(arrays[name]) for name, table in read.items() if table is not None}
        if self.styles is not None:
            samples[STYLES] = torch.zeros(SAMPLE, dtype=torch.int64)
        spelling = nn.ParameterList(table.detach() for table in self.spelling())

        def single(own: Any, given: dict[str, Tensor]) -> Tensor:  # noqa: ANN401 - what has the tables
            tables = [*own.spelling]
            return compute(own.encoder.features(given, _convolved(given["characters"], tables) if tables else None))

        return traced(Computed(single, encoder=self, spelling=spelling), samples, ["inputs"])

    def prepare(self, sentences: Sequence[Sequence[str]]) -> list[Inputs]:
        """Return the features of every word as indices into the vocabulary."""
        return [Inputs(self.lookup.features(forms), len(forms), len(forms)) for forms in sentences]

    def canonical(self, size: int) -> int:
        """Return `size` unchanged: sentences of different lengths are never predicted together."""
        return size

    def collate(self, inputs: Sequence[Inputs], size: int = 0) -> Batch:
        """Return a batch: the features of all sentences, one after another.

        If `size` is above 0, copies of the first sentence fill it up to a multiple of `models.features.LEAST`
        sentences.
        """
        arrays = end_to_end(inputs, filled=size > 0)
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        return Batch(tensors, torch.tensor([sentence.words for sentence in inputs]))

    def forward(self, batch: Batch) -> Tensor:
        """Return the vectors of all words: [words, size].

        In training, a fraction `forget` of the words is read as unknown.
        """
        tensors = dict(batch.tensors)
        if self.training and self.forget:
            words = tensors["words"]
            tensors["words"] = words.masked_fill(torch.rand(words.shape, device=words.device) < self.forget, 0)
        flat = self.features(tensors, self._spelled(tensors))
        return self.read(flat, tensors["rows"])[: int(batch.lengths.sum())]

    @abstractmethod
    def read(self, flat: Tensor, lengths: Tensor) -> Tensor:
        """Return the vectors of all words in their sentences: [words, input_size] to [words, size].

        `flat` has the features of all sentences one after another, `lengths` their numbers of words.
        """

    def features(self, tensors: Mapping[str, Tensor], spelled: Tensor | None) -> Tensor:
        """Return the features of each word by itself: [words, input_size].

        `tensors` has the indices of each feature, `spelled` what the convolution returns for the words' characters.
        Words without the index of a style have the main one.
        """
        parts = []
        if self.words is not None:
            parts.append(self.words(tensors["words"]))
        if self.affixes is not None:
            parts.append(self.affixes(tensors["affixes"]).sum(1))
        if self.shapes is not None:
            parts.append(self.shapes(tensors["shapes"]))
        if spelled is not None:
            parts.append(spelled)
        if self.vectors is not None:
            parts.append(self.vectors(tensors["vectors"]))
        flat = torch.cat(parts, -1)
        flat = flat if self.narrow is None else self.narrow(self.dropout(flat))
        if self.styles is None:
            return flat
        return flat + (self.styles(tensors[STYLES]) if STYLES in tensors else self.styles.weight[0])

    def spelling(self) -> list[Tensor]:
        """Return a table for each position of the convolution's window: the term that each character adds there.

        A convolution over embeddings is the sum of the rows that are looked up in these tables, and this is much
        cheaper.
        """
        if self.characters is None or self.convolution is None:
            return []
        rows = torch.cat([self.characters.weight, torch.zeros_like(self.characters.weight[:1])])  # beyond the edges
        tables = [rows @ kernel.T for kernel in self.convolution.weight.unbind(2)]
        assert self.convolution.bias is not None  # noqa: S101 - as made above
        tables[1] = tables[1] + self.convolution.bias.to(tables[1].dtype)
        return tables

    def _spelled(self, tensors: Mapping[str, Tensor]) -> Tensor | None:
        """Return the convolution's features of all words, or None if the encoder reads no characters.

        Words of similar length are computed together, which leaves out most of the padding; one place of it is read.
        """
        tables = self.spelling()
        if not tables:
            return None
        characters = tensors["characters"]
        lengths, order = (characters >= 0).sum(1).sort()
        blocks = zip(order.chunk(BLOCKS), lengths.chunk(BLOCKS), strict=True)
        parts = [_convolved(characters[words, : int(sizes[-1]) + 1], tables) for words, sizes in blocks]
        return torch.cat(parts)[order.argsort()]


def _convolved(characters: Tensor, tables: Sequence[Tensor]) -> Tensor:
    """Return the convolution over each word's characters, and its maximum over positions: [words, channels].

    `characters` has indices of characters, -1 beyond the end of a word; `tables` are those of `spelling`.
    """
    beyond = len(tables[0]) - 1
    padded = functional.pad(characters + 1, (1, 1), value=beyond)
    length = characters.shape[1]
    summed = sum(functional.embedding(padded[:, at : at + length], table) for at, table in enumerate(tables))
    assert isinstance(summed, Tensor)  # noqa: S101 - there are three tables
    return summed.masked_fill((characters < 0)[:, :, None], -1e4).amax(1)


def _embedding(names: Sequence[str], size: int, extra: int = 1) -> nn.Embedding | None:
    if not size:
        return None
    table = nn.Embedding(len(names) + extra, size)
    nn.init.normal_(table.weight, std=size**-0.5)
    return table
