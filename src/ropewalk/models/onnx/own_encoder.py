"""Encoders of other packages (`WordReader`): sentences of the same length are read together."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from ropewalk.errors import ModelError, UnknownNameError
from ropewalk.models.inputs import Inputs
from ropewalk.models.onnx.bilstm import windows
from ropewalk.models.onnx.files import ENCODER
from ropewalk.models.onnx.limits import varying
from ropewalk.models.onnx.session import Session
from ropewalk.models.sentence_batches import alike
from ropewalk.models.storage import CONFIG
from ropewalk.models.word_readers import MASK, SETTINGS, WordReader, announced, side_by_side

if TYPE_CHECKING:
    from ropewalk.core.arrays import Ints
    from ropewalk.core.columns import Column
    from ropewalk.models.label_sets import LabelSet
    from ropewalk.models.scorer import Floats
    from ropewalk.models.storage import ModelFolder

MOST_WORDS = 512  # words that are read together


def _reader(folder: ModelFolder) -> WordReader:
    """Build the `WordReader` of an exported model with the settings in its `config.json`.

    Raise `ModelError` if no installed package has it, or if the settings are damaged.
    """
    file, kind, settings = str(folder.path / CONFIG), folder.description.encoder.kind, folder.table.get(SETTINGS)
    try:
        reader = announced(kind)
    except UnknownNameError as failure:
        problem = (
            f"has an encoder of the kind {kind!r}, which no installed package has; install the package that has it"
        )
        raise ModelError(file, problem) from failure
    if not isinstance(settings, dict) or not all(isinstance(value, str) for value in settings.values()):
        raise ModelError(file, f"is damaged: it has no {SETTINGS} of its encoder; copy or export the model again")
    if not isinstance(reader, type) or not issubclass(reader, WordReader):
        raise ModelError(file, f"has an encoder of the kind {kind!r}, which is no WordReader in the installed package")
    return reader(settings)


@final
class OnnxOwnEncoder:
    """An encoder of another package: its `WordReader` turns words into arrays, and an ONNX network reads these."""

    threads = 1  # more are hardly faster

    def __init__(self, folder: ModelFolder, _labels: LabelSet, threads: int) -> None:
        self._reader = _reader(folder)
        self.width = self._reader.size
        pairs = (varying(1), varying(self._reader.window)), (varying(MOST_WORDS), varying(1))
        names = (*self._reader.features(["a"]), MASK)
        file = str(folder.path / ENCODER)
        self._encoder = Session(folder.listed(ENCODER), file, threads, [dict.fromkeys(names, pair) for pair in pairs])

    def vectors(self, forms: Column, offsets: Ints, budget: int, style: int = 0) -> Floats:  # noqa: ARG002 - of encoders with styles
        """Return the vector of each word; `offsets` are those of sentences in `forms`.

        Only sentences of the same length are read in one batch. Sentences longer than a window are split.
        """
        texts = forms.texts()
        window = self._reader.window
        rows = [*zip(*(part.tolist() for part in windows(offsets, window, window // 16)), strict=True)]
        inputs = [
            Inputs(self._reader.features(texts[start:stop]), stop - start, stop - start) for start, stop, _, _ in rows
        ]
        out = np.zeros((len(forms), self.width), dtype=np.float32)
        for size, chosen in alike([sentence.size for sentence in inputs], int, min(budget, MOST_WORDS)):
            arrays = side_by_side([inputs[number] for number in chosen], size)
            read = self._encoder.run({name: arrays[name] for name in self._encoder.inputs})[0]
            for vectors, number in zip(read, chosen, strict=True):
                start, _, first, last = rows[number]
                out[first:last] = vectors[first - start : last - start]
        return out
