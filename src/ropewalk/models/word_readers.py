"""Encoders of other packages: a `WordReader`, used with torch and with ONNX Runtime.

A package announces a class derived from `WordReader` in the entry point group `ropewalk.encoders`. The entry's name is
the value of `model.encoder.kind`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ropewalk.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.models.inputs import Arrays, Inputs

GROUP = "ropewalk.encoders"
OWN = ("transformer", "bilstm", "sru")  # Ropewalk's own kinds of encoders
SETTINGS = "settings"  # the key in `config.json` under which settings of encoders of other packages are stored
MASK = "mask"


class WordReader(ABC):
    """Base class of encoders in other packages.

    `features` turns words into arrays, using numpy alone. `network` builds the network that turns these arrays into
    word vectors; only this method may import torch. Training and loading build an encoder from its `settings` alone.
    """

    size: int  # of a word's vector
    window: ClassVar[int] = 1024  # words; exported models read longer sentences in overlapping windows

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.settings = dict(settings)

    @abstractmethod
    def features(self, forms: Sequence[str]) -> Arrays:
        """Return the network's input for the words of one sentence: arrays by name, each with one row for each word."""

    @abstractmethod
    def network(self) -> Any:  # noqa: ANN401 - a `torch.nn.Module`, which not everybody has
        """Build a `torch.nn.Module` that computes word vectors [sentences, words, size] from a mapping of tensors.

        The mapping has the arrays that `features` returns, as tensors [sentences, words, …], and `mask`, which is true
        for words and false for padding.
        """


def announced(kind: str) -> Any:  # noqa: ANN401 - what another package has under this name
    """Load the encoder that an installed package registers as the entry point `kind` of the group `ropewalk.encoders`.

    Raise `UnknownNameError` if there is none.
    """
    from importlib.metadata import entry_points

    known = {entry.name: entry for entry in entry_points(group=GROUP)}
    if kind not in known:
        raise UnknownNameError("kind of encoder", kind, (*OWN, *known))
    return known[kind].load()


def side_by_side(inputs: Sequence[Inputs], size: int = 0) -> Arrays:
    """Stack the arrays of sentences into a batch: arrays [sentences, words, …] by name.

    Sentences are padded with zeros to `size` words, or to the longest sentence. The array `mask` is added, which is
    true for words and false for padding.
    """
    length = max(size, *(sentence.words for sentence in inputs))
    out: Arrays = {
        name: np.zeros((len(inputs), length, *array.shape[1:]), dtype=array.dtype)
        for name, array in inputs[0].arrays.items()
    }
    out[MASK] = np.arange(length) < np.array([[sentence.words] for sentence in inputs])
    for row, sentence in enumerate(inputs):
        for name, array in sentence.arrays.items():
            out[name][row, : sentence.words] = array
    return out
