"""The `sru` encoder: simple recurrent units, which read sentences in both directions.

ONNX Runtime computes the gates of all words of a batch at once; a kernel computes the recurrence over each sentence.
The features of a word, and what they add to those of its neighbours, are computed once for every word type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from ropewalk.errors import ModelError
from ropewalk.kernels import recurrence
from ropewalk.models.onnx.bilstm import MARGIN, WINDOW, windows
from ropewalk.models.onnx.files import ENCODER, WORDS
from ropewalk.models.onnx.limits import varying
from ropewalk.models.onnx.pruning import output_widths, without_others
from ropewalk.models.onnx.session import Session, naming
from ropewalk.models.onnx.word_types import WordTypes

if TYPE_CHECKING:
    from ropewalk.core.arrays import Ints
    from ropewalk.core.columns import Column
    from ropewalk.models.label_sets import LabelSet
    from ropewalk.models.scorer import Floats
    from ropewalk.models.storage import ModelFolder

GATES = 3  # of each number of a word's vector
SIDES = 3  # vectors of a word type: its own, and what it adds to the next and to the last word
# Words that are read together, unless one sentence has more: what is computed of them stays in a CPU's cache.
MOST_WORDS = 256
ROWS = 8  # matrices have a multiple of this many rows: a single row may be multiplied with other rounding


@final
class OnnxSRU:
    """The `sru` encoder. Several threads may use it at the same time.

    Features are computed once for each word type, gates for each word.
    """

    threads = 1  # more are hardly faster

    def __init__(self, folder: ModelFolder, labels: LabelSet, threads: int) -> None:
        self._types = WordTypes(folder, labels, threads)
        self.width = self._types.width // SIDES
        if self._types.width % (2 * SIDES) or not folder.has(ENCODER):
            raise ModelError(str(folder.path / WORDS), "is not of an sru encoder; copy or export the model again")
        self._layers = _layers(folder, threads, self.width)

    def vectors(self, forms: Column, offsets: Ints, budget: int, style: int = 0) -> Floats:
        """Return the contextual vector of each word; `offsets` are those of sentences in `forms`.

        Consecutive sentences are read in one batch of at most `budget` and `MOST_WORDS` words, or one sentence.
        """
        rows, table = self._types.rows(forms, style)
        starts, stops, first, last = windows(offsets, WINDOW, MARGIN)
        lengths = stops - starts
        bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        words = np.arange(bounds[-1]) + np.repeat(starts - bounds[:-1], lengths)
        places = rows[words].astype(np.int32)
        read = np.empty((len(words), self.width), dtype=np.float32)
        groups = _groups(bounds, min(budget, MOST_WORDS))
        work = np.zeros((3, max((_filled(bounds[b] - bounds[a]) for a, b in groups), default=0) + 1, self.width), "f4")
        for start, stop in groups:
            part = slice(bounds[start], bounds[stop])
            if part.start < part.stop:
                self._read(table, places[part], bounds[start : stop + 1] - bounds[start], work, read[part])
        if len(words) == len(forms):
            return read
        kept = (words >= np.repeat(first, lengths)) & (words < np.repeat(last, lengths))
        return read[kept]

    def _read(self, table: Floats, places: Ints, offsets: Ints, work: Floats, vectors: Floats) -> None:
        """Write the contextual vectors of the words of some spans into `vectors`.

        `table` has the vectors of each word type, and `places` each word's row in it. `offsets` are those of the spans.
        `work` is a workspace of three arrays.
        """
        states, inputs, outputs = work
        recurrence.gather(table, places, offsets, inputs)
        np.tanh(inputs[: len(places)], out=inputs[: len(places)])
        for number, layer in enumerate(self._layers, 1):
            gates = self._gates(layer, inputs[: _filled(len(places))])
            recurrence.read(gates, inputs, offsets, states, outputs if number < len(self._layers) else vectors)
            inputs, outputs = outputs, inputs

    def _gates(self, layer: Session, inputs: Floats) -> Floats:
        gates = layer.run({"vectors": inputs})[0]
        if gates.shape != (len(inputs), GATES * self.width) or gates.dtype != np.float32:
            raise ValueError(f"a layer makes gates of the shape {gates.shape}")  # a kernel would read beyond them
        return gates


def _filled(words: int) -> int:
    return words + -words % ROWS


def _groups(bounds: Ints, most: int) -> list[tuple[int, int]]:
    """Group consecutive spans, so that a group has at most `most` words, or one span.

    `bounds` are the offsets of the spans. Return the index of each group's first span, and of the one after its last.
    """
    groups: list[tuple[int, int]] = []
    start = 0
    while start + 1 < len(bounds):
        stop = max(int(np.searchsorted(bounds, bounds[start] + most, "right")) - 1, start + 1)
        groups.append((start, stop))
        start = stop
    return groups


def _layers(folder: ModelFolder, threads: int, size: int) -> list[Session]:
    """Build a session for the gates of each layer; each layer is an output of the file's network."""
    file, network = str(folder.path / ENCODER), folder.listed(ENCODER)
    with naming(file):
        parts = [without_others(network, [name]) for name in output_widths(network)]
    sizes = [{"vectors": (varying(WINDOW + ROWS), size)}]
    layers = [Session(part, file, threads, sizes) for part in parts]
    for layer in layers:
        if [*layer.widths().values()] != [GATES * size]:  # a kernel reads what they make
            problem = f"does not fit {WORDS}, so the model has networks that do not fit each other"
            raise ModelError(file, f"{problem}; copy or export the model again")
    return layers
