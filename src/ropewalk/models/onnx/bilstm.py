"""The `bilstm` encoder: cached vectors of word types, and LSTMs that read sentences of similar length in one batch."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np

from ropewalk.errors import ModelError
from ropewalk.models.onnx.files import ENCODER, WORDS
from ropewalk.models.onnx.limits import varying
from ropewalk.models.onnx.session import Session
from ropewalk.models.onnx.word_types import WordTypes

if TYPE_CHECKING:
    import numpy.typing as npt

    from ropewalk.core.arrays import Ints
    from ropewalk.core.columns import Column
    from ropewalk.models.label_sets import LabelSet
    from ropewalk.models.onnx.limits import InputSizes
    from ropewalk.models.scorer import Floats
    from ropewalk.models.storage import ModelFolder

MOST_ROWS = 16  # sentences that are read together,
MOST_TOKENS = 256  # and words: more are no faster, and the shorter sentences of a batch are padded
WINDOW = 4096  # words of a sentence that are read at a time: memory grows with them
MARGIN = 256  # words at the ends of a window, which lack context: their vectors come from its neighbours


def windows(offsets: Ints, window: int, margin: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Split sentences of more than `window` words into overlapping spans; a shorter sentence is one span.

    Spans overlap by twice the `margin`, because words near the ends of a span lack context. Return four arrays: the
    start and the stop of each span, and the start and the stop of the words whose vectors are used from it.
    """
    if (offsets[1:] - offsets[:-1]).max(initial=0) <= window:
        return offsets[:-1], offsets[1:], offsets[:-1], offsets[1:]
    rows: list[tuple[int, int, int, int]] = []
    for start, stop in pairwise(offsets.tolist()):
        if stop - start <= window:
            rows.append((start, stop, start, stop))
            continue
        cuts = [*range(start, stop, window - 2 * margin), stop]
        rows += [(max(a - margin, start), min(b + margin, stop), a, b) for a, b in pairwise(cuts)]
    starts, stops, first, last = np.array(rows, dtype=np.int32).reshape(-1, 4).T
    return starts, stops, first, last


def _sentence_sizes() -> list[InputSizes]:
    """Return the largest input sizes that are used, for the memory limit: two long spans, or many short ones."""
    pairs = (varying(WINDOW), varying(2)), (varying(MOST_TOKENS), varying(MOST_ROWS))
    return [{"inputs": (steps, rows), "lengths": (rows,)} for steps, rows in pairs]


@final
class OnnxBiLSTM:
    """The `bilstm` encoder: a vector for each word type, and LSTMs over the vectors of a sentence.

    Several threads may use it at the same time.
    """

    threads = 1  # more are hardly faster

    def __init__(self, folder: ModelFolder, labels: LabelSet, threads: int) -> None:
        self._types = WordTypes(folder, labels, threads)
        self._encoder = Session(folder.listed(ENCODER), str(folder.path / ENCODER), threads, _sentence_sizes())
        self.width = self._encoder.width("vectors")
        if self._encoder.input_widths().get("inputs") != self._types.width:
            problem = f"does not read the vectors of {WORDS}, so the model has networks that do not fit each other"
            raise ModelError(str(folder.path / ENCODER), f"{problem}; copy or export the model again")

    def vectors(self, forms: Column, offsets: Ints, budget: int, style: int = 0) -> Floats:
        """Return the contextual vector of each word; `offsets` are those of sentences in `forms`.

        Sentences of similar length are read in one batch, the longest first.
        """
        rows, table = self._types.rows(forms, style)
        out = np.zeros((len(forms), self.width), dtype=np.float32)
        starts, stops, first, last = windows(offsets, WINDOW, MARGIN)
        lengths = stops - starts
        order = np.argsort(-lengths, kind="stable")
        at = 0
        while at < len(order) and lengths[order[at]]:
            longest = int(lengths[order[at]])
            chosen = order[at : at + max(min(min(budget, MOST_TOKENS) // longest, MOST_ROWS), 1)]
            read, places = self._read(rows, table, starts[chosen], lengths[chosen])
            kept = (places >= first[chosen]) & (places < last[chosen])
            out[places[kept]] = read[kept]
            at += len(chosen)
        return out

    def _read(
        self, rows: npt.NDArray[np.intp], table: Floats, starts: Ints, lengths: Ints
    ) -> tuple[Floats, npt.NDArray[np.int64]]:
        """Read a batch of spans, sorted from the longest to the shortest.

        `starts` and `lengths` are those of the spans. `rows` has the row in `table` of each word's vector. Return the
        contextual vectors [steps, spans, size], and the index of the word that each belongs to: [steps, spans].
        """
        count = max(len(starts), self._least)
        steps = np.arange(int(lengths[0]))
        sizes = np.ones(count, dtype=np.int32)
        sizes[: len(lengths)] = lengths
        places = starts + steps[:, None]  # [steps, spans]
        numbers = np.zeros((len(steps), count), dtype=np.intp)
        numbers[:, : len(starts)] = rows[np.minimum(places, len(rows) - 1)]
        read = self._encoder.run({"inputs": table[numbers], "lengths": sizes})[0]
        return read[:, : len(starts)], places

    @cached_property
    def _least(self) -> int:
        """The least number of spans in a batch: 2 if a single span gets other vectors than in a batch, otherwise 1.

        Some processors multiply a single row with instructions that round differently from those for several rows.
        """
        words = np.linspace(-1.0, 1.0, 3 * 2 * self._types.width, dtype=np.float32).reshape(3, 2, -1)
        beside, alone = (
            self._encoder.run({"inputs": words[:, :count], "lengths": np.array([3, 2], dtype=np.int32)[:count]})[0]
            for count in (2, 1)
        )
        return 1 if np.array_equal(beside[:, 0], alone[:, 0]) else 2
