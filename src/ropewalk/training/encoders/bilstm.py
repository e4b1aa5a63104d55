"""An encoder for treebanks without a pretrained one: features of words, read in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ropewalk.models.features import Lookup, Vocabulary, end_to_end
from ropewalk.models.inputs import Inputs
from ropewalk.training.encoders.base import Batch, Encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.models.config import Encoder as Options


@final
class BiLSTM(Encoder):
    """Embeddings of a word, its affixes, shape and characters (by convolution), and static vectors, through LSTMs."""

    def __init__(self, options: Options, vocabulary: Vocabulary, vector_size: int) -> None:
        super().__init__()
        self.lookup = Lookup(vocabulary)
        self.words = _embedding(vocabulary.words, options.word_size)
        self.affixes = _embedding(vocabulary.affixes, options.affix_size)
        self.shapes = _embedding(vocabulary.shapes, options.shape_size)
        self.characters = _embedding(vocabulary.characters, options.character_size, extra=2)
        channels = 2 * options.character_size
        self.convolution = nn.Conv1d(options.character_size, channels, 3, padding=1) if channels else None
        self.vectors = nn.Embedding(len(vocabulary.vectors) + 1, vector_size) if vector_size else None
        if self.vectors is not None:
            self.vectors.requires_grad_(False)  # noqa: FBT003 - torch's signature
        width = options.word_size + options.affix_size + options.shape_size + channels + vector_size
        self.narrow = nn.Linear(width, options.input_size) if options.input_size else None
        self.dropout = nn.Dropout(options.dropout)
        self.forget = options.forget
        self.lstm = nn.LSTM(
            options.input_size or width,
            options.hidden,
            options.depth,
            batch_first=True,
            bidirectional=True,
            dropout=options.dropout if options.depth > 1 else 0.0,
        )
        self.size = 2 * options.hidden

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
        tensors = batch.tensors
        parts = []
        if self.words is not None:
            words = tensors["words"]
            if self.training and self.forget:
                words = words.masked_fill(torch.rand(words.shape, device=words.device) < self.forget, 0)
            parts.append(self.words(words))
        if self.affixes is not None:
            parts.append(self.affixes(tensors["affixes"]).sum(1))
        if self.shapes is not None:
            parts.append(self.shapes(tensors["shapes"]))
        if self.characters is not None and self.convolution is not None:
            spelled = self.characters(tensors["characters"] + 1)  # [words, characters, size]
            spelled = self.convolution(spelled.transpose(1, 2))
            blank = (tensors["characters"] < 0)[:, None, :]
            parts.append(spelled.masked_fill(blank, -1e4).amax(-1))
        if self.vectors is not None:
            parts.append(self.vectors(tensors["vectors"]))
        flat = torch.cat(parts, -1)
        if self.narrow is not None:
            flat = self.narrow(self.dropout(flat))
        flat = self.dropout(flat)
        lengths = tensors["rows"]
        padded = nn.utils.rnn.pad_sequence(list(flat.split(lengths.tolist())), batch_first=True)
        packed = pack_padded_sequence(padded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        hidden, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        inside = torch.arange(hidden.shape[1], device=lengths.device) < lengths[:, None]
        return hidden[inside][: int(batch.lengths.sum())]


def _embedding(names: Sequence[str], size: int, extra: int = 1) -> nn.Embedding | None:
    if not size:
        return None
    table = nn.Embedding(len(names) + extra, size)
    nn.init.normal_(table.weight, std=size**-0.5)
    return table
