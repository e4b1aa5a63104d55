"""Encoders of other packages: what reads words for them, with torch or without.

A package announces a class derived from `WordReader` in the entry point group `ropewalk.encoders`. The entry's name is
the kind that `model.encoder.kind` asks for.
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
OWN = ("transformer", "bilstm")  # Ropewalk's own kinds of encoders
SETTINGS = "settings"  # the key in `config.json` under which settings of encoders of other packages are stored
MASK = "mask"


class WordReader(ABC):
    """An encoder: words to arrays, with numpy alone, and the network that turns those arrays into vectors of words.

    It is made from its settings alone: when a model is trained, and when it is loaded. Only `network` may import torch.
    """

    size: int  # of a word's vector
    window: ClassVar[int] = 1024  # words; exported models read longer sentences in parts that overlap

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.settings = dict(settings)

    @abstractmethod
    def features(self, forms: Sequence[str]) -> Arrays:
        """Return the arrays that the network reads for the words of a sentence, with a row for each word."""

    @abstractmethod
    def network(self) -> Any:  # noqa: ANN401 - a `torch.nn.Module`, which not everybody has
        """Build a `torch.nn.Module`: a mapping of tensors [sentences, words, …] to vectors [sentences, words, size].

        The tensors are those that `features` returns, and `mask`, which is true for words and false for padding.
        """


def announced(kind: str) -> Any:  # noqa: ANN401 - what another package has under this name
    """Load the encoder that another package announces by this name."""
    from importlib.metadata import entry_points

    known = {entry.name: entry for entry in entry_points(group=GROUP)}
    if kind not in known:
        raise UnknownNameError("kind of encoder", kind, (*OWN, *known))
    return known[kind].load()


def side_by_side(inputs: Sequence[Inputs], size: int = 0) -> Arrays:
    """Stack the arrays of sentences, padded with zeros to `size` words or to the longest sentence, with a mask."""
    length = max(size, *(one.words for one in inputs))
    out: Arrays = {
        name: np.zeros((len(inputs), length, *array.shape[1:]), dtype=array.dtype)
        for name, array in inputs[0].arrays.items()
    }
    out[MASK] = np.arange(length) < np.array([[one.words] for one in inputs])
    for row, one in enumerate(inputs):
        for name, array in one.arrays.items():
            out[name][row, : one.words] = array
    return out
