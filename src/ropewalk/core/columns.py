"""Columns of text: one string per word, stored as an index into a list of distinct strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import Rebuilt, as_array, frozen_array, ints, numbers_below, set_fields
from ropewalk.errors import MismatchError
from ropewalk.kernels import intern as kernel
from ropewalk.kernels import view

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from ropewalk.core.arrays import Ints
    from ropewalk.core.ragged import Places


SHOWN_STRINGS = 12  # in `repr`
ID_TYPES = (np.dtype(np.uint8), np.dtype(np.int16), np.dtype(np.int32))


def intern(raw: npt.NDArray[Any], starts: Places, stops: Places) -> tuple[Ints, Ints]:
    """Assign a number to each distinct span `raw[starts[i]:stops[i]]` of bytes, in order of first appearance.

    Return two arrays: for each span its number, which is the same for equal spans, and for each number the index of
    the first span with it.
    """
    raw = as_array(raw, "bytes")
    starts, stops = as_array(starts, "starts"), as_array(stops, "stops")
    if not (raw.dtype == np.uint8 and raw.ndim == 1 and are_places(starts) and are_places(stops)):
        raise MismatchError("spans of bytes need a uint8 array and two int64 arrays with their starts and stops")
    if len(starts) != len(stops):
        raise MismatchError(f"{len(starts)} starts of spans and {len(stops)} stops; expected as many")
    if len(starts) and (starts.min() < 0 or stops.max() > len(raw) or (stops < starts).any()):
        raise MismatchError(f"a span of bytes is outside the {len(raw)} that there are, or ends before it begins")
    raw, starts, stops = (np.ascontiguousarray(array) for array in (raw, starts, stops))
    ids = np.zeros(len(starts), dtype=np.int32)
    firsts = np.zeros(len(starts), dtype=np.int32)
    slots = np.full(1 << (2 * len(starts) + 1).bit_length(), -1, dtype=np.int32)
    count = kernel.intern(view(raw), view(starts), view(stops), view(ids), view(slots), view(firsts))
    return ids, firsts[:count]


def are_places(array: npt.NDArray[Any]) -> bool:
    """Return whether `array` has the type of positions in bytes: 64-bit integers with one dimension."""
    return isinstance(array, np.ndarray) and array.dtype == np.int64 and array.ndim == 1


@dataclass(frozen=True, slots=True, eq=False)
class Column(Rebuilt, Sequence[str]):
    """One string per word: the string of word w is `names[ids[w]]`.

    A column is indexed, searched and iterated like a list of its strings; a slice is a column. The type of `ids` is
    kept if it is uint8, int16 or int32; others become int32. They are checked once and never change.
    """

    ids: npt.NDArray[np.integer[Any]]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        names = tuple(self.names)
        if not {str}.issuperset(map(type, names)) and (
            strange := [name for name in names if not isinstance(name, str)]
        ):
            raise MismatchError(f"a column holds {strange[0]!r}; expected text")
        ids = numbers_below(self.ids, len(names), "numbers of a column")
        ids = frozen_array(ids if ids.dtype in ID_TYPES else ids.astype(np.int32))
        set_fields(self, ids=ids, names=names)

    def __repr__(self) -> str:
        begin = [*map(repr, self[:SHOWN_STRINGS]), *(["…"] if len(self) > SHOWN_STRINGS else [])]
        return f"<Column of {len(self):,} strings: {', '.join(begin)}>"

    def _of_own(self, ids: npt.NDArray[np.integer[Any]]) -> Column:
        """Return a column with the same names and other `ids`, which are not checked."""
        column = object.__new__(Column)
        set_fields(column, ids=frozen_array(ids), names=self.names)
        return column

    @classmethod
    def of(cls, texts: Iterable[str]) -> Column:
        """Return a column of the strings `texts`; `names` has the distinct strings in order of first appearance."""
        numbers: dict[str, int] = {}
        try:
            ids = np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int32)
        except TypeError as error:
            raise MismatchError(f"a column cannot be made of this: {error}; expected texts") from error
        return cls(ids, tuple(numbers))

    @classmethod
    def of_spans(cls, raw: npt.NDArray[np.uint8], starts: Places, stops: Places) -> Column:
        """Return the column whose string w is the UTF-8 text of the bytes `raw[starts[w]:stops[w]]`."""
        ids, firsts = intern(raw, starts, stops)
        data = view(raw)
        return cls(ids, tuple(bytes(data[starts[i] : stops[i]]).decode("utf-8") for i in firsts.tolist()))

    @classmethod
    def constant(cls, text: str, length: int) -> Column:
        """Return a column of `length` words that has the same string for every word."""
        return cls(np.zeros(length, dtype=np.int32), (text,))

    @classmethod
    def of_heads(cls, heads: Ints) -> Column:
        """Return heads as a column of text; a negative number is a missing head and becomes `_`."""
        heads = np.maximum(ints(heads, "heads"), -1)
        most = int(heads.max(initial=0))
        if most > len(heads):  # some head is outside its sentence, perhaps far outside
            distinct, ids = np.unique(heads, return_inverse=True)
            return cls(ids, tuple("_" if head < 0 else str(head) for head in distinct.tolist()))
        return cls(heads + np.int32(1), ("_", *map(str, range(most + 1))))

    @classmethod
    def concat(cls, columns: Sequence[Column]) -> Column:
        """Return one column with the strings of all `columns`, one column after the other."""
        numbers: dict[str, int] = {}
        ids = [
            np.array([numbers.setdefault(name, len(numbers)) for name in column.names], dtype=np.int32)[column.ids]
            for column in columns
            if len(column)
        ]
        return cls(np.concatenate(ids) if ids else np.zeros(0, dtype=np.int32), tuple(numbers))

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, where: int) -> str: ...

    @overload
    def __getitem__(self, where: slice) -> Column: ...

    def __getitem__(self, where: int | slice) -> str | Column:
        if isinstance(where, slice):
            return self._of_own(self.ids[where])
        return self.names[int(self.ids[where])]

    def __iter__(self) -> Iterator[str]:
        return map(self.names.__getitem__, self.ids.tolist())

    def texts(self) -> list[str]:
        """Return the string of every word."""
        names = self.names
        return [names[number] for number in self.ids.tolist()]

    def take(self, words: npt.NDArray[Any]) -> Column:
        """Return the column of the words with these indices, in this order."""
        return self._of_own(self.ids[words])

    def replaced(self, words: npt.NDArray[Any], texts: Sequence[str]) -> Column:
        """Return the column with the string of each word in `words`, an index, replaced with that in `texts`.

        If a word occurs several times, its last text counts.
        """
        numbers = {name: number for number, name in enumerate(self.names)}
        new = {text: len(self.names) + number for number, text in enumerate(_unknown(texts, numbers))}
        numbers |= new
        ids = self.ids.astype(np.int32)
        ids[words] = [numbers[text] for text in texts]
        return Column(ids, (*self.names, *new)) if new else self._of_own(ids)

    def narrow(self) -> Column:
        """Return the column with `ids` of the smallest type that can index `names`: uint8, int16 or int32."""
        count = len(self.names)
        kind = np.uint8 if count <= 1 << 8 else np.int16 if count <= 1 << 15 else np.int32
        return self if self.ids.dtype == kind else self._of_own(self.ids.astype(kind))


def _unknown(texts: Iterable[str], known: Container[str]) -> list[str]:
    """Return the distinct texts that are not in `known`, in order of first appearance."""
    return [text for text in dict.fromkeys(texts) if text not in known]
