"""An encoder for treebanks without a pretrained one: features of words, read in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from ropewalk.models.features import Lookup, Vocabulary, end_to_end
from ropewalk.models.inputs import Inputs
from ropewalk.models.onnx.files import ENCODER, WORDS
from ropewalk.training.encoders.base import Batch, WordEncoder
from ropewalk.training.onnx_graphs import SAMPLE, Computed, lstm, traced

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx import ModelProto

    from ropewalk.models.description import EncoderShape


@final
class BiLSTM(WordEncoder):
    """Embeddings of a word, its affixes, shape and characters (by convolution), and static vectors, through LSTMs."""

    restorable = True
    within_one = True

    def __init__(
        self, shape: EncoderShape, vocabulary: Vocabulary, *, dropout: float = 0.0, forget: float = 0.0
    ) -> None:
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
        self.narrow = nn.Linear(width, shape.input_size) if shape.input_size else None
        self.dropout = nn.Dropout(dropout)
        self.forget = forget
        self.lstm = nn.LSTM(
            shape.input_size or width,
            shape.hidden,
            shape.depth,
            batch_first=True,
            bidirectional=True,
            dropout=dropout if shape.depth > 1 else 0.0,
        )
        self.size = 2 * shape.hidden

    @property
    def shape(self) -> EncoderShape:
        """Its sizes."""
        return self._shape

    def networks(self) -> dict[str, ModelProto]:
        """Write the part that sees one word, with the features that it reads, and the LSTMs over sentences."""
        read = {
            "words": self.words,
            "affixes": self.affixes,
            "shapes": self.shapes,
            "characters": self.characters,
            "vectors": self.vectors,
        }
        arrays = self.lookup.features(["a"] * SAMPLE)
        given = {name: torch.from_numpy(arrays[name]) for name, table in read.items() if table is not None}
        spelling = nn.ParameterList(table.detach() for table in self.spelling())
        features = Computed(
            lambda own, given: own.encoder.features(given, [*own.spelling]), encoder=self, spelling=spelling
        )
        return {WORDS: traced(features, given, ["inputs"]), ENCODER: lstm(self.lstm)}

    def prepare(self, sentences: Sequence[Sequence[str]]) -> list[Inputs]:
        """Number the features of every word."""
        return [Inputs(self.lookup.features(forms), len(forms), len(forms)) for forms in sentences]

    def canonical(self, size: int) -> int:
        """Sentences of different lengths are never predicted together."""
        return size

    def collate(self, inputs: Sequence[Inputs], size: int = 0) -> Batch:
        """Lay the features of all words end to end; with a `size`, fill up with copies to a multiple of rows."""
        arrays = end_to_end(inputs, filled=size > 0)
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        return Batch(tensors, torch.tensor([one.words for one in inputs]))

    def forward(self, batch: Batch) -> Tensor:
        """Read every sentence in both directions."""
        tensors = dict(batch.tensors)
        if self.training and self.forget:
            words = tensors["words"]
            tensors["words"] = words.masked_fill(torch.rand(words.shape, device=words.device) < self.forget, 0)
        flat = self.dropout(self.features(tensors, self.spelling())).float()
        lengths = tensors["rows"]
        padded = nn.utils.rnn.pad_sequence(list(flat.split(lengths.tolist())), batch_first=True)
        inside = torch.arange(padded.shape[1], device=lengths.device) < lengths[:, None]
        with torch.autocast(flat.device.type, enabled=_in_half(flat.device)):
            hidden = self._read(padded, lengths).float()
        return hidden[inside][: int(batch.lengths.sum())]

    def _read(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Read sentences side by side in both directions: [sentences, steps, size] to [sentences, steps, 2 * hidden].

        Each direction is one call over whole rows, the second of turned sentences, so that padding comes last in both:
        many times as fast as packed sequences, which torch reads step by step.
        """
        steps = torch.arange(words.shape[1], device=lengths.device)
        turned = torch.where(steps < lengths[:, None], lengths[:, None] - 1 - steps, steps)[:, :, None]
        for layer in range(self.lstm.num_layers):
            if layer:
                words = functional.dropout(words, self.lstm.dropout, self.training)
            ahead = self._layer(words, f"l{layer}")
            back = self._layer(words.gather(1, turned.expand(-1, -1, words.shape[2])), f"l{layer}_reverse")
            words = torch.cat([ahead, back.gather(1, turned.expand(-1, -1, back.shape[2]))], -1)
        return words

    def _layer(self, words: Tensor, name: str) -> Tensor:
        """Read in one direction with the weights of one layer."""
        weights = [getattr(self.lstm, f"{kind}_{name}") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        none = words.new_zeros(1, len(words), self.lstm.hidden_size)
        return torch.lstm(
            words,
            (none, none),
            weights,
            has_biases=True,
            num_layers=1,
            dropout=0.0,
            train=self.training,
            bidirectional=False,
            batch_first=True,
        )[0]

    def features(self, tensors: Mapping[str, Tensor], spelling: Sequence[Tensor]) -> Tensor:
        """Give the vector that the first LSTM reads for each word by itself: [words, size]."""
        parts = []
        if self.words is not None:
            parts.append(self.words(tensors["words"]))
        if self.affixes is not None:
            parts.append(self.affixes(tensors["affixes"]).sum(1))
        if self.shapes is not None:
            parts.append(self.shapes(tensors["shapes"]))
        if spelling:
            parts.append(_spelled(tensors["characters"], spelling))
        if self.vectors is not None:
            parts.append(self.vectors(tensors["vectors"]))
        flat = torch.cat(parts, -1)
        return flat if self.narrow is None else self.narrow(self.dropout(flat))

    def spelling(self) -> list[Tensor]:
        """Give what each character adds to the convolution at each place of its window, one table for a place.

        A convolution over looked-up rows is a sum of rows looked up in these, and much cheaper.
        """
        if self.characters is None or self.convolution is None:
            return []
        rows = torch.cat([self.characters.weight, torch.zeros_like(self.characters.weight[:1])])  # beyond the edges
        tables = [rows @ kernel.T for kernel in self.convolution.weight.unbind(2)]
        assert self.convolution.bias is not None  # noqa: S101 - as made above
        tables[1] = tables[1] + self.convolution.bias
        return tables


def _in_half(device: torch.device) -> bool:
    """Tell whether LSTMs of half precision, where they are asked for, gain anything: not on all CPUs."""
    return torch.is_autocast_enabled(device.type) and (
        device.type != "cpu" or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())  # noqa: SLF001 - no other way to ask
    )


def _spelled(characters: Tensor, tables: Sequence[Tensor]) -> Tensor:
    """Convolve over the characters of each word, -1 beyond its end, and keep the largest: [words, channels]."""
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
