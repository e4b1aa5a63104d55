"""The `sru` encoder: features of words, read in both directions by simple recurrent units (Lei et al. 2018).

Projections of the features of its two neighbours are added to those of a word. Gates depend on a layer's input alone.
Each layer is therefore one matrix product over all words of a batch, followed by a recurrence that runs word by word
(`kernels.recurrence`). Values lie from -1 to 1 in every layer, which lets exports compute products in int8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ropewalk.kernels import recurrence
from ropewalk.models.onnx.files import ENCODER, WORDS
from ropewalk.training.encoders.word_features import FeatureEncoder
from ropewalk.training.onnx_graphs import SAMPLE, Computed, traced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx import ModelProto

    from ropewalk.core.arrays import Ints
    from ropewalk.models.description import EncoderShape
    from ropewalk.models.vocabulary import Vocabulary

GATES = 3  # values for each dimension of a vector: the candidate, the forget gate and the keep gate


@final
class SRU(FeatureEncoder):
    """Encoder that reads features of words with layers of simple recurrent units and highway connections."""

    restorable = True
    within_one = True

    def __init__(
        self, shape: EncoderShape, vocabulary: Vocabulary, *, dropout: float = 0.0, forget: float = 0.0
    ) -> None:
        super().__init__(shape, vocabulary, input_size=2 * shape.hidden, dropout=dropout, forget=forget)
        self.size = self.input_size
        self.beside = nn.Linear(self.size, 2 * self.size, bias=False)  # what a word adds to the next, and to the last
        nn.init.uniform_(self.beside.weight, -((0.5 / self.size) ** 0.5), (0.5 / self.size) ** 0.5)
        self.layers = nn.ModuleList(_layer(self.size) for _ in range(shape.depth))

    def networks(self) -> dict[str, ModelProto]:
        """Return ONNX networks by file name: one for single words, and one for the gates of all layers.

        That for single words computes their features, and what they add to the features of their neighbours.
        """

        def single(features: Tensor) -> Tensor:
            return torch.cat([features, self.beside(features)], -1)

        def gates(own: Any, given: dict[str, Tensor]) -> tuple[Tensor, ...]:  # noqa: ANN401 - what has the layers
            return tuple(layer(given["vectors"]).sigmoid() for layer in own.layers)

        samples = {"vectors": torch.zeros(SAMPLE, self.size)}
        names = [f"gates.{number}" for number in range(len(self.layers))]
        layers = traced(Computed(gates, layers=self.layers), samples, names)
        return {WORDS: self.word_network(single), ENCODER: layers}

    def restored(self, tables: Mapping[str, npt.NDArray[np.float32]]) -> dict[str, npt.NDArray[np.float32]]:
        """Return the weights of all layers, by torch's names, from the exported network's tables."""
        return {f"encoder.{name}": table for name, table in tables.items()}

    def read(self, flat: Tensor, lengths: Tensor) -> Tensor:
        """Return the vectors of all words after all layers: [words, input_size] to [words, size].

        `flat` has the features of all sentences one after another, `lengths` their numbers of words.
        """
        offsets = np.concatenate([[0], lengths.cpu().numpy().cumsum()]).astype(np.int32)
        flat = flat.float()
        to_next, to_last = self.beside(self.dropout(flat)).chunk(2, -1)
        owners = torch.repeat_interleave(lengths.to(flat.device))
        together = (owners[1:] == owners[:-1])[:, None]  # words of one sentence
        none = flat[:1] * 0
        before, after = torch.cat([none, to_next[:-1] * together]), torch.cat([to_last[1:] * together, none])
        vectors = (flat + before + after).tanh()
        for layer in self.layers:
            vectors = Recurrence.apply(layer(self.dropout(vectors)).sigmoid(), vectors, offsets)
        return vectors


def _layer(size: int) -> nn.Linear:
    """Return the linear layer that computes candidates and gates of one SRU layer, with its initial weights.

    Weights of candidates are doubled, because a candidate is 2 * sigmoid(2 a) - 1, which is tanh(a).
    """
    layer = nn.Linear(size, GATES * size)
    bound = (3 / size) ** 0.5
    nn.init.uniform_(layer.weight, -bound, bound)
    nn.init.zeros_(layer.bias)
    layer.weight.data[:size] *= 2
    return layer


@final
class Recurrence(torch.autograd.Function):
    """Recurrence of an SRU layer over the words of each sentence, with its gradient.

    It computes vectors [words, size] from gates [words, 3 * size] and inputs [words, size].
    """

    @staticmethod
    def forward(ctx: Any, gates: Tensor, inputs: Tensor, offsets: Ints) -> Tensor:  # noqa: ANN401 - as torch has it
        """Run the recurrence over each sentence on the CPU, and return a vector for every word."""
        gate_array, before = _array(gates), _array(inputs)
        states = np.zeros((len(inputs) + 1, inputs.shape[1]), dtype=np.float32)
        vectors = np.empty(inputs.shape, dtype=np.float32)
        recurrence.read(gate_array, before, offsets, states, vectors)
        ctx.arrays = gate_array, before, offsets, states
        return torch.from_numpy(vectors).to(inputs.device)

    @staticmethod
    def backward(ctx: Any, gradients: Tensor) -> tuple[Tensor, Tensor, None]:  # noqa: ANN401 - likewise
        """Return the gradients of gates and inputs, from those of the vectors."""
        gates, inputs, offsets, states = ctx.arrays
        gradient_arrays = np.empty_like(gates), np.empty_like(inputs)
        carried = np.zeros(inputs.shape[1], dtype=np.float32)
        filled = recurrence.Gradients(_array(gradients), *gradient_arrays, carried)
        recurrence.differentiate(gates, inputs, offsets, states, filled)
        of_gates, of_inputs = (torch.from_numpy(array).to(gradients.device) for array in gradient_arrays)
        return of_gates, of_inputs, None


def _array(tensor: Tensor) -> npt.NDArray[np.float32]:
    return np.ascontiguousarray(tensor.detach().float().cpu().numpy())
