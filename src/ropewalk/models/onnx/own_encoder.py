"""Encoders of other packages (`WordReader`): sentences of the same length are read together."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from ropewalk.errors import ModelError, UnknownNameError
from ropewalk.models.batching import alike
from ropewalk.models.inputs import Inputs
from ropewalk.models.onnx.bilstm import windows
from ropewalk.models.onnx.files import ENCODER
from ropewalk.models.onnx.limits import varying
from ropewalk.models.onnx.session import Session
from ropewalk.models.storage import CONFIG
from ropewalk.models.word_readers import MASK, SETTINGS, WordReader, announced, side_by_side

if TYPE_CHECKING:
    from ropewalk.core.arrays import Ints
    from ropewalk.core.columns import Column
    from ropewalk.models.labels import LabelSet
    from ropewalk.models.scorer import Floats
    from ropewalk.models.storage import ModelFolder

MOST_WORDS = 512  # that are read together


def _reader(folder: ModelFolder) -> WordReader:
    """Make the reader of an exported model with its settings."""
    file, kind, settings = str(folder.path / CONFIG), folder.description.encoder.kind, folder.table.get(SETTINGS)
    try:
        found = announced(kind)
    except UnknownNameError as failure:
        problem = (
            f"has an encoder of the kind {kind!r}, which no installed package has; install the package that has it"
        )
        raise ModelError(file, problem) from failure
    if not isinstance(settings, dict) or not all(isinstance(one, str) for one in settings.values()):
        raise ModelError(file, f"is damaged: it has no {SETTINGS} of its encoder; copy or export the model again")
    if not isinstance(found, type) or not issubclass(found, WordReader):
        raise ModelError(file, f"has an encoder of the kind {kind!r}, which is no WordReader in the installed package")
    return found(settings)


@final
class OnnxOwnEncoder:
    """A reader of words, and a network over its arrays."""

    def __init__(self, folder: ModelFolder, _labels: LabelSet, threads: int) -> None:
        self._reader = _reader(folder)
        pairs = (varying(1), varying(self._reader.window)), (varying(MOST_WORDS), varying(1))
        names = (*self._reader.features(["a"]), MASK)
        file = str(folder.path / ENCODER)
        self._encoder = Session(folder.listed(ENCODER), file, threads, [dict.fromkeys(names, pair) for pair in pairs])

    @staticmethod
    def threads() -> int:
        """Return how many threads are worth using."""
        return 1

    def vectors(self, forms: Column, offsets: Ints, budget: int) -> Floats:
        """Read sentences beside others of the same length only."""
        texts = forms.texts()
        window = self._reader.window
        rows = [*zip(*(part.tolist() for part in windows(offsets, window, window // 16)), strict=True)]
        inputs = [
            Inputs(self._reader.features(texts[start:stop]), stop - start, stop - start) for start, stop, _, _ in rows
        ]
        out = np.zeros((len(forms), self._reader.size), dtype=np.float32)
        for size, chosen in alike([one.size for one in inputs], int, min(budget, MOST_WORDS)):
            arrays = side_by_side([inputs[number] for number in chosen], size)
            read = self._encoder.run({name: arrays[name] for name in self._encoder.inputs})[0]
            for vectors, number in zip(read, chosen, strict=True):
                start, _, first, last = rows[number]
                out[first:last] = vectors[first - start : last - start]
        return out
