"""What every encoder is."""

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

    import torch
    from onnx import ModelProto

    from ropewalk.models.inputs import Inputs


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences side by side: tensors, and how many words each sentence has."""

    tensors: dict[str, Tensor]
    lengths: Tensor  # [sentences], int64

    def to(self, device: torch.device) -> Batch:
        """Move everything to a device."""
        return Batch({name: tensor.to(device) for name, tensor in self.tensors.items()}, self.lengths.to(device))


class WordEncoder(nn.Module, ABC):
    """Words in, vectors out. What comes out for a sentence does not depend on what else is in the batch."""

    size: int  # of a word's vector
    restorable: ClassVar[bool] = False  # whether `exported` can find the weights again
    within_one: ClassVar[bool] = False  # whether all numbers of its vectors lie from -1 to 1

    @property
    @abstractmethod
    def shape(self) -> EncoderShape:
        """What it is, for a description."""

    def save(self, home: Path) -> dict[str, Any]:  # noqa: ARG002 - for those that need it
        """Write what else it needs into a model's folder, and give what `config.json` should say of it."""
        return {}

    def networks(self) -> dict[str, ModelProto]:
        """Write its networks for an exported folder, by the names of their files."""
        problem = "is no encoder that can be exported; derive it from ropewalk.models.word_readers.WordReader"
        raise ModelError(type(self).__name__, problem)

    def save_exported(self, home: Path) -> dict[str, Any]:  # noqa: ARG002 - for those that need it
        """Write what else it needs into an exported folder, and give what `config.json` should say of it."""
        return {}

    @abstractmethod
    def prepare(self, sentences: Sequence[Sequence[str]]) -> list[Inputs]:
        """Turn the words of sentences into arrays, once and for all."""

    @abstractmethod
    def canonical(self, size: int) -> int:
        """Round a sentence's size up to the shape in which it is predicted.

        Sentences are predicted beside others of the same canonical size only, so that each passes through
        the same arithmetic whatever its neighbours are: results are equal to the last bit on a CPU.
        """

    @abstractmethod
    def collate(self, inputs: Sequence[Inputs], size: int = 0) -> Batch:
        """Lay sentences side by side, padded to `size`, or to the longest of them."""

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """Give the vectors of all words of all sentences: [words, size]."""


class OwnEncoder(WordEncoder):
    """An encoder of another package that only torch computes, made from its settings alone.

    It can be trained and loaded; to be exported too, a package derives its class from `WordReader` instead.
    """

    def __init__(self, kind: str, settings: Mapping[str, str]) -> None:
        super().__init__()
        self.kind = kind
        self.settings = dict(settings)

    @property
    def shape(self) -> EncoderShape:
        """Its kind, for a description."""
        return EncoderShape(kind=self.kind)

    def save(self, home: Path) -> dict[str, Any]:  # noqa: ARG002 - it is made from its settings
        """Give its settings."""
        return {SETTINGS: self.settings}
