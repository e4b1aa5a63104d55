"""The interface of encoders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from torch import Tensor, nn

from ropewalk.errors import ModelError
from ropewalk.models.description import EncoderShape
from ropewalk.models.word_readers import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt
    import torch
    from onnx import ModelProto

    from ropewalk.models.inputs import Inputs


@dataclass(frozen=True, slots=True)
class Batch:
    """Several sentences as input of an encoder: tensors by name, and the number of words of each sentence."""

    tensors: dict[str, Tensor]
    lengths: Tensor  # [sentences], int64

    def to(self, device: torch.device) -> Batch:
        """Return the batch with all tensors on a device."""
        return Batch({name: tensor.to(device) for name, tensor in self.tensors.items()}, self.lengths.to(device))


class WordEncoder(nn.Module, ABC):
    """Base class of encoders, which compute a vector for each word.

    The vectors of a sentence do not depend on the other sentences of the batch.
    """

    size: int  # of a word's vector
    restorable: ClassVar[bool] = False  # whether `restored` finds the weights of an exported model again
    within_one: ClassVar[bool] = False  # whether all numbers of its vectors lie from -1 to 1

    @property
    @abstractmethod
    def shape(self) -> EncoderShape:
        """The kind and sizes of the encoder, for the model's description."""

    def save(self, home: Path) -> dict[str, Any]:  # noqa: ARG002 - for those that need it
        """Write the encoder's own files, if any, into the folder `home` of a trained model.

        Return its entries for `config.json`.
        """
        return {}

    def networks(self) -> dict[str, ModelProto]:
        """Return the encoder's ONNX networks for an exported model, by file name.

        Raise `ModelError` if the encoder cannot be exported.
        """
        problem = "is no encoder that can be exported; derive it from ropewalk.models.word_readers.WordReader"
        raise ModelError(type(self).__name__, problem)

    def save_exported(self, home: Path) -> dict[str, Any]:  # noqa: ARG002 - for those that need it
        """Write the encoder's own files, if any, into the folder `home` of an exported model.

        Return its entries for `config.json`.
        """
        return {}

    def restored(
        self,
        tables: Mapping[str, npt.NDArray[np.float32]],  # noqa: ARG002 - for those that are restorable
    ) -> dict[str, npt.NDArray[np.float32]]:
        """Return the encoder's weights, by their names in a trained model, from those of its exported network.

        `tables` are the weight tables of the exported network over sentences.
        """
        return {}

    @abstractmethod
    def prepare(self, sentences: Sequence[Sequence[str]]) -> list[Inputs]:
        """Convert the words of each sentence into the arrays that `collate` needs."""

    @abstractmethod
    def canonical(self, size: int) -> int:
        """Return a sentence's `size` rounded up to the padded size with which it is predicted.

        In prediction, a batch has only sentences of the same canonical size. The arithmetic for a sentence is then the
        same with any other sentences beside it, so results on a CPU are equal to the last bit.
        """

    @abstractmethod
    def collate(self, inputs: Sequence[Inputs], size: int = 0) -> Batch:
        """Return a batch of sentences, padded to `size`, or to the longest of them if `size` is 0."""

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """Return the vectors of all words of all sentences: [words, size]."""


class OwnEncoder(WordEncoder):
    """Base class of encoders of other packages that need torch; they are built from their settings alone.

    They can be trained and loaded, but not exported. For export, a package derives its class from `WordReader` instead.
    """

    def __init__(self, kind: str, settings: Mapping[str, str]) -> None:
        super().__init__()
        self.kind = kind
        self.settings = dict(settings)

    @property
    def shape(self) -> EncoderShape:
        """The kind of the encoder, for the model's description."""
        return EncoderShape(kind=self.kind)

    def save(self, home: Path) -> dict[str, Any]:  # noqa: ARG002 - it is made from its settings
        """Return the settings from which the encoder is built again; nothing is written into `home`."""
        return {SETTINGS: self.settings}
