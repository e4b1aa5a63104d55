"""The `bilstm` encoder: every word type becomes a vector once, then sentences of like length are read together."""

from __future__ import annotations

import os
import threading
import weakref
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np

from ropewalk.errors import ModelError
from ropewalk.models.features import AFFIXES, MOST_CHARACTERS, Lookup
from ropewalk.models.onnx.files import ENCODER, WORDS
from ropewalk.models.onnx.limits import varying
from ropewalk.models.onnx.session import Session
from ropewalk.models.storage import LABELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ropewalk.core.arrays import Ints
    from ropewalk.core.columns import Column
    from ropewalk.models.labels import LabelSet
    from ropewalk.models.onnx.limits import InputSizes
    from ropewalk.models.scorer import Floats
    from ropewalk.models.storage import ModelFolder

MOST_TYPES = 1 << 15  # words whose vectors are remembered; then it begins anew
LEAST, MOST_NEW = 16, 128  # new words are looked up in multiples of the one, and at most the other at a time
MOST_ROWS = 16  # sentences that are read together,
MOST_TOKENS = 256  # and words: more gain nothing, and the shorter sentences of a batch are filled up
WINDOW = 4096  # words of a sentence that are read at a time: memory grows with them,
MARGIN = 256  # and the ends of a window, where the other words are not known, are taken from its neighbours


@dataclass(slots=True, eq=False)
class _Memory:
    """The vectors of words that were computed before. Rows are only ever added: one that was given out stays valid."""

    table: Floats
    rows: dict[str, int] = field(default_factory=dict)

    def grow(self, more: int) -> None:
        """Make place for more rows, in a new table: whoever reads the old one goes on reading it."""
        need = len(self.rows) + more
        if need > len(self.table):
            grown = np.zeros((max(need, 2 * len(self.table)), self.table.shape[1]), dtype=np.float32)
            grown[: len(self.rows)] = self.table[: len(self.rows)]
            self.table = grown


def windows(offsets: Ints, window: int, margin: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Cut sentences of more than `window` words into spans that overlap by twice a `margin`.

    Returns where each span starts and stops, and the first word and the end of what it is read for.
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


def _word_sizes() -> list[InputSizes]:
    rows = varying(MOST_NEW)
    single = dict.fromkeys(("words", "shapes", "vectors"), (rows,))
    return [{**single, "affixes": (rows, AFFIXES), "characters": (rows, MOST_CHARACTERS)}]


def _sentence_sizes() -> list[InputSizes]:
    """Return sizes of two long stretches, and of many short ones."""
    pairs = (varying(WINDOW), varying(2)), (varying(MOST_TOKENS), varying(MOST_ROWS))
    return [{"inputs": (steps, rows), "lengths": (rows,)} for steps, rows in pairs]


@final
class OnnxBiLSTM:
    """Word types to vectors, and vectors through LSTMs. Many threads may use one at the same time."""

    def __init__(self, folder: ModelFolder, labels: LabelSet, threads: int) -> None:
        if labels.vocabulary is None:
            raise ModelError(str(folder.path / LABELS), "has no vocabulary, which a bilstm encoder needs")
        self._lookup = Lookup(labels.vocabulary)
        self._words = Session(folder.listed(WORDS), str(folder.path / WORDS), threads, _word_sizes())
        self._encoder = Session(folder.listed(ENCODER), str(folder.path / ENCODER), threads, _sentence_sizes())
        self._size = self._encoder.width("vectors")
        self._lock = threading.Lock()  # one thread at a time may look into the memory and add to it
        self._memory = self._nothing()
        _LIVING.add(self)

    @staticmethod
    def threads() -> int:
        """Tell how many threads are worth using."""
        return 1

    def unlock(self) -> None:
        """Forget who holds the lock: a thread that a forked process does not have. What it adds, it adds at once."""
        self._lock = threading.Lock()

    def vectors(self, forms: Column, offsets: Ints, budget: int) -> Floats:
        """Read every sentence in both directions, the longest first."""
        rows, table = self._rows(forms)
        out = np.zeros((len(forms), self._size), dtype=np.float32)
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
        """Read stretches side by side, the first of which is the longest; give vectors and whose they are."""
        count = max(len(starts), self._least)
        steps = np.arange(int(lengths[0]))
        sizes = np.ones(count, dtype=np.int32)
        sizes[: len(lengths)] = lengths
        places = starts + steps[:, None]  # [steps, stretches]
        numbers = np.zeros((len(steps), count), dtype=np.intp)
        numbers[:, : len(starts)] = rows[np.minimum(places, len(rows) - 1)]
        read = self._encoder.run({"inputs": table[numbers], "lengths": sizes})[0]
        return read[:, : len(starts)], places

    @cached_property
    def _least(self) -> int:
        """How many stretches must be read together: one, unless it is read otherwise alone than beside others.

        There are processors on which one row is multiplied by other instructions than several, which round otherwise.
        """
        words = np.linspace(-1.0, 1.0, 3 * 2 * self._words.width("inputs"), dtype=np.float32).reshape(3, 2, -1)
        beside, alone = (
            self._encoder.run({"inputs": words[:, :count], "lengths": np.array([3, 2], dtype=np.int32)[:count]})[0]
            for count in (2, 1)
        )
        return 1 if np.array_equal(beside[:, 0], alone[:, 0]) else 2

    def _rows(self, forms: Column) -> tuple[npt.NDArray[np.intp], Floats]:
        """Say in which row of which table the vector of every word is, computing those that are new."""
        used = np.flatnonzero(np.bincount(forms.ids, minlength=len(forms.names)))
        names = [forms.names[number] for number in used.tolist()]
        places = np.zeros(len(forms.names), dtype=np.intp)
        with self._lock:
            new = [name for name in names if name not in self._memory.rows]
            if len(self._memory.rows) + len(new) > MOST_TYPES:
                self._memory = self._nothing()
                new = names
            if new:
                self._learn(new, self._memory)
            places[used] = [self._memory.rows[name] for name in names]
            table = self._memory.table
        return places[forms.ids], table

    def _learn(self, new: Sequence[str], memory: _Memory) -> None:
        have = len(memory.rows)
        memory.grow(len(new))
        for start in range(0, len(new), MOST_NEW):
            some = new[start : start + MOST_NEW]
            features = self._lookup.features([*some, *[some[0]] * (-len(some) % LEAST)])
            given = {name: features[name] for name in self._words.inputs}
            memory.table[have + start : have + start + len(some)] = self._words.run(given)[0][: len(some)]
        memory.rows.update(zip(new, range(have, have + len(new)), strict=True))

    def _nothing(self) -> _Memory:
        return _Memory(np.zeros((0, self._words.width("inputs")), dtype=np.float32))


_LIVING: weakref.WeakSet[OnnxBiLSTM] = weakref.WeakSet()


def _unlock_all() -> None:
    for one in _LIVING:
        one.unlock()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_unlock_all)
