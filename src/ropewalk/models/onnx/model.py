"""A trained model without torch: words in, trees out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, final

import numpy as np

from ropewalk.models import decode, parse
from ropewalk.models.onnx import folder
from ropewalk.models.onnx.bilstm import BiLSTM
from ropewalk.models.onnx.heads import Heads
from ropewalk.models.onnx.transformer import Transformer
from ropewalk.trees import frozen_ints

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

    from ropewalk.models.config import Config
    from ropewalk.models.labels import LabelSet
    from ropewalk.models.onnx.folder import Stored
    from ropewalk.models.onnx.heads import Answers, Floats
    from ropewalk.treebank import Column, Treebank
    from ropewalk.trees import Ints

PIECE = 1 << 14  # words that are computed before their trees are found


class Encoder(Protocol):
    """Words in, vectors out. What comes out for a sentence does not depend on what else there is."""

    def vectors(self, forms: Column, offsets: Ints, budget: int) -> Floats:
        """Give the vectors of the words of sentences, about `budget` tokens at a time; with `room` for more."""


@final
class Runtime:
    """A network and its heads, the names behind their numbers, and how to decode."""

    def __init__(self, stored: Stored, encoder: Encoder, heads: Heads, config: Config) -> None:
        self._stored = stored
        self._encoder = encoder
        self._heads = heads
        self.config = config
        self.labels: LabelSet = stored.labels
        self.name = stored.name
        self.hash = stored.hash
        self.path: Path = stored.path

    @classmethod
    def load(cls, path: str | os.PathLike[str], threads: int = 0) -> Runtime:
        """Load a model from a folder that `ropewalk export` made.

        Without a number of threads, a transformer takes all cores and a `bilstm`, which gains little by more, one.
        """
        stored = folder.load(path)
        kind = BiLSTM if stored.config.model.encoder.kind == "bilstm" else Transformer
        count = threads or kind.threads()
        return cls(stored, kind(stored, count), Heads(stored, count), stored.config)

    def with_decoding(self, **changes: Any) -> Runtime:  # noqa: ANN401 - the fields of `Decoding`
        """Decode otherwise: the same model with other options of decoding."""
        config = replace(self.config, decoding=replace(self.config.decoding, **changes))
        return Runtime(self._stored, self._encoder, self._heads, config)

    @property
    def tells_confidence(self) -> bool:
        """Whether the model's trees have probabilities."""
        return self.config.model.parser != "biaffine" and decode.sure(self.labels)

    def parse(self, bank: Treebank) -> Treebank:
        """Put the model's trees, and tags if it has any, over the words of a treebank."""
        if not bank.words:
            return bank
        return parse.parse(bank, self.config, self.labels, self.answers(bank))

    def answers(self, bank: Treebank) -> Iterator[tuple[int, Answers]]:
        """Say what the networks say, piece by piece: how many sentences each piece is about, and their scores."""
        forms = bank.column("form")
        starts = bank.offsets[:-1]
        first = 0
        while first < len(bank):
            last = max(int(np.searchsorted(starts, starts[first] + PIECE)), first + 1)
            offsets = frozen_ints(bank.offsets[first : last + 1] - starts[first])
            words = slice(int(starts[first]), int(bank.offsets[last]))
            vectors = self._encoder.vectors(forms[words], offsets, self.config.decoding.batch)
            yield last - first, self._heads.answers(vectors, offsets)
            first = last
