"""Encoders of other packages that can be exported: a `WordReader` and its network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import torch

from ropewalk.models.inputs import Inputs
from ropewalk.models.onnx.files import ENCODER
from ropewalk.models.word_readers import MASK, SETTINGS, side_by_side
from ropewalk.training.encoders.word_encoder import Batch, OwnEncoder
from ropewalk.training.onnx_graphs import SAMPLE, Computed, traced

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from onnx import ModelProto
    from torch import Tensor

    from ropewalk.models.word_readers import WordReader


@final
class ReaderEncoder(OwnEncoder):
    """Encoder of another package: a `WordReader`, which converts words into arrays, and its torch network."""

    def __init__(self, kind: str, reader: WordReader) -> None:
        super().__init__(kind, reader.settings)
        self.reader = reader
        self.size = reader.size
        self.network = reader.network()

    def networks(self) -> dict[str, ModelProto]:
        """Return the reader's network as ONNX, by file name."""
        samples = self.collate(self.prepare([["a"] * SAMPLE] * 2)).tensors
        vectors = Computed(lambda own, given: own.network(given), network=self.network)
        return {ENCODER: traced(vectors, samples, ["vectors"], dynamic=2)}

    def save_exported(self, home: Path) -> dict[str, Any]:  # noqa: ARG002 - it is made from its settings
        """Return the settings from which the encoder is built again; nothing is written into `home`."""
        return {SETTINGS: self.settings}

    def prepare(self, sentences: Sequence[Sequence[str]]) -> list[Inputs]:
        """Convert the words of each sentence into arrays with the reader."""
        return [Inputs(self.reader.features(forms), len(forms), len(forms)) for forms in sentences]

    def canonical(self, size: int) -> int:
        """Return `size` unchanged: sentences of different lengths are never predicted together."""
        return size

    def collate(self, inputs: Sequence[Inputs], size: int = 0) -> Batch:
        """Return a batch of sentences, padded to `size`, or to the longest of them if `size` is 0."""
        arrays = side_by_side(inputs, size)
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        return Batch(tensors, torch.tensor([sentence.words for sentence in inputs]))

    def forward(self, batch: Batch) -> Tensor:
        """Return the vectors of all words, without padding: [words, size]."""
        vectors: Tensor = self.network(batch.tensors)
        return vectors[batch.tensors[MASK]]
