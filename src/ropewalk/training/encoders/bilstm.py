"""The `bilstm` encoder: features of words, read in both directions by LSTMs."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from ropewalk.models.onnx.files import ENCODER, WORDS
from ropewalk.training.encoders.word_features import FeatureEncoder
from ropewalk.training.onnx_graphs import lstm

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx import ModelProto

    from ropewalk.models.description import EncoderShape
    from ropewalk.models.vocabulary import Vocabulary


@final
class BiLSTM(FeatureEncoder):
    """Encoder that reads features of words with bidirectional LSTM layers."""

    restorable = True
    within_one = True

    def __init__(
        self, shape: EncoderShape, vocabulary: Vocabulary, *, dropout: float = 0.0, forget: float = 0.0
    ) -> None:
        super().__init__(shape, vocabulary, input_size=shape.input_size, dropout=dropout, forget=forget)
        self.lstm = nn.LSTM(
            self.input_size,
            shape.hidden,
            shape.depth,
            batch_first=True,
            bidirectional=True,
            dropout=dropout if shape.depth > 1 else 0.0,
        )
        self.size = 2 * shape.hidden

    def networks(self) -> dict[str, ModelProto]:
        """Return two ONNX networks by file name: the features of single words, and the LSTMs over sentences."""
        return {WORDS: self.word_network(lambda features: features), ENCODER: lstm(self.lstm)}

    def restored(self, tables: Mapping[str, npt.NDArray[np.float32]]) -> dict[str, npt.NDArray[np.float32]]:
        """Return the weights of the LSTMs, by torch's names, from the weight tables of the exported ONNX network.

        Gates are reordered from ONNX (input, output, forget, cell) to torch (input, forget, cell, output).
        """

        def gates(table: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
            into, out, forget, cell = np.split(table, 4)
            return np.concatenate([into, forget, cell, out])

        arrays = [tables[name] for name in sorted(tables, key=lambda name: int(name.removeprefix("constant")))]
        weights: dict[str, npt.NDArray[np.float32]] = {}
        for layer in range(self.shape.depth):
            inputs, hidden, biases = arrays[3 * layer : 3 * layer + 3]
            for direction, side in enumerate(("", "_reverse")):
                halves = np.split(biases[direction], 2)
                for name, table in zip(
                    ("weight_ih", "weight_hh", "bias_ih", "bias_hh"),
                    (inputs[direction], hidden[direction], *halves),
                    strict=True,
                ):
                    weights[f"encoder.lstm.{name}_l{layer}{side}"] = gates(table)
        return weights

    def read(self, flat: Tensor, lengths: Tensor) -> Tensor:
        """Return the LSTMs' vectors of all words: [words, input_size] to [words, size].

        `flat` has the features of all sentences one after another, `lengths` their numbers of words.
        """
        flat = self.dropout(flat).float()
        padded = nn.utils.rnn.pad_sequence(list(flat.split(lengths.tolist())), batch_first=True)
        inside = torch.arange(padded.shape[1], device=lengths.device) < lengths[:, None]
        with torch.autocast(flat.device.type, enabled=_in_half(flat.device)):
            return self._read(padded, lengths).float()[inside]

    def _read(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Apply all LSTM layers to padded sentences: [sentences, steps, size] to [sentences, steps, 2 * hidden].

        Each direction is one call over all sentences. For the second, sentences are reversed so that padding comes last
        in both. This is many times as fast as packed sequences, which torch reads step by step.
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
        """Apply one LSTM layer in one direction; `name` is the suffix of its weights' names, such as `l0_reverse`."""
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


def _in_half(device: torch.device) -> bool:
    """Return whether LSTMs run in half precision: if autocast is on and the device computes it fast."""
    return torch.is_autocast_enabled(device.type) and (
        device.type != "cpu" or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())  # noqa: SLF001 - no other way to ask
    )
