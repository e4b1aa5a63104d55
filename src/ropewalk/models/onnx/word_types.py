"""Vectors of word types, for encoders that read features of words: the vector of each word type is cached."""

from __future__ import annotations

import os
import threading
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np

from ropewalk.errors import ModelError
from ropewalk.models.onnx.files import WORDS
from ropewalk.models.onnx.limits import varying
from ropewalk.models.onnx.session import Session
from ropewalk.models.storage import LABELS
from ropewalk.models.vocabulary import AFFIXES, MOST_CHARACTERS, STYLES, Lookup

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ropewalk.core.columns import Column
    from ropewalk.models.label_sets import LabelSet
    from ropewalk.models.onnx.limits import InputSizes
    from ropewalk.models.scorer import Floats
    from ropewalk.models.storage import ModelFolder

MOST_NUMBERS = 1 << 24  # numbers in all cached vectors,
MOST_TYPES = 1 << 15  # and cached word types; a cache that would exceed one of them is emptied
LEAST, MOST_NEW = 16, 128  # new word types are computed in multiples of `LEAST`, and at most `MOST_NEW` at a time


@dataclass(slots=True, eq=False)
class _Memory:
    """Cache of the vectors of word types: `rows` has the row in `table` of each word type.

    Rows are added and never changed, so that the row of a word type stays valid.
    """

    table: Floats
    rows: dict[str, int] = field(default_factory=dict)

    def grow(self, more: int) -> None:
        """Make sure that `table` has space for `more` further rows.

        If it has not, copy it to a larger table; threads that still read the old table are not disturbed.
        """
        need = len(self.rows) + more
        if need > len(self.table):
            grown = np.zeros((max(need, 2 * len(self.table)), self.table.shape[1]), dtype=np.float32)
            grown[: len(self.rows)] = self.table[: len(self.rows)]
            self.table = grown


def _word_sizes() -> list[InputSizes]:
    rows = varying(MOST_NEW)
    single = dict.fromkeys(("words", "shapes", "vectors", STYLES), (rows,))
    return [{**single, "affixes": (rows, AFFIXES), "characters": (rows, MOST_CHARACTERS)}]


@final
class WordTypes:
    """The vectors of word types, computed from features and cached. Several threads may use it at the same time."""

    def __init__(self, folder: ModelFolder, labels: LabelSet, threads: int) -> None:
        if labels.vocabulary is None:
            kind = folder.description.encoder.kind
            raise ModelError(str(folder.path / LABELS), f"has no vocabulary, which the encoder {kind!r} needs")
        self._lookup = Lookup(labels.vocabulary)
        self._words = Session(folder.listed(WORDS), str(folder.path / WORDS), threads, _word_sizes())
        self.width = self._words.width("inputs")
        self._lock = threading.Lock()  # one thread at a time may look into the memory and add to it
        self._memories: dict[int, _Memory] = {}  # by style
        _LIVING.add(self)

    def unlock(self) -> None:
        """Replace the lock by a new one, in a process that was just forked.

        The thread that held the old lock does not exist in this process and would never release it. The cache is valid
        all the same, because new word types are added to it in one step.
        """
        self._lock = threading.Lock()

    def rows(self, forms: Column, style: int) -> tuple[npt.NDArray[np.intp], Floats]:
        """Return the row of each word's vector in a table, and that table; vectors that are not cached are computed.

        `style` is the index of the treebank whose conventions are followed, on which vectors depend.
        """
        used = np.flatnonzero(np.bincount(forms.ids, minlength=len(forms.names)))
        names = [forms.names[number] for number in used.tolist()]
        places = np.zeros(len(forms.names), dtype=np.intp)
        with self._lock:
            memory = self._memories.setdefault(style, self._nothing())
            new = [name for name in names if name not in memory.rows]
            if len(memory.rows) + len(new) > min(MOST_TYPES, MOST_NUMBERS // max(self.width, 1)):
                memory = self._memories[style] = self._nothing()
                new = names
            if new:
                self._learn(new, memory, style)
            places[used] = [memory.rows[name] for name in names]
            table = memory.table
        return places[forms.ids], table

    def _learn(self, new: Sequence[str], memory: _Memory, style: int) -> None:
        have = len(memory.rows)
        memory.grow(len(new))
        for start in range(0, len(new), MOST_NEW):
            some = new[start : start + MOST_NEW]
            features = self._lookup.features([*some, *[some[0]] * (-len(some) % LEAST)])
            features[STYLES] = np.full(len(features["words"]), style, dtype=np.int64)
            inputs = {name: features[name] for name in self._words.inputs}
            memory.table[have + start : have + start + len(some)] = self._words.run(inputs)[0][: len(some)]
        memory.rows.update(zip(new, range(have, have + len(new)), strict=True))

    def _nothing(self) -> _Memory:
        return _Memory(np.zeros((0, self.width), dtype=np.float32))


_LIVING: weakref.WeakSet[WordTypes] = weakref.WeakSet()


def _unlock_all() -> None:
    for word_types in _LIVING:
        word_types.unlock()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_unlock_all)
