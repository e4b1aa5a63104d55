"""Columns of text: one string per word, as numbers into a list of distinct strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import Rebuilt, as_array, frozen_array, ints, numbers_below
from ropewalk.errors import MismatchError
from ropewalk.kernels import intern as kernel
from ropewalk.kernels import view

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.core.ragged import Places


ID_TYPES = (np.dtype(np.uint8), np.dtype(np.int16), np.dtype(np.int32))


def intern(raw: npt.NDArray[Any], starts: Places, stops: Places) -> tuple[Ints, Ints]:
    """Number spans of bytes, equal ones alike, in order of first appearance.

    Returns the number of each stretch, and for each number the first stretch that has it.
    """
    raw = as_array(raw, "bytes")
    starts, stops = as_array(starts, "starts"), as_array(stops, "stops")
    if not (raw.dtype == np.uint8 and raw.ndim == 1 and are_places(starts) and are_places(stops)):
        raise MismatchError("stretches of bytes are one row of uint8 and two rows of int64, where they begin and end")
    if len(starts) != len(stops):
        raise MismatchError(f"{len(starts)} stretches of bytes begin and {len(stops)} end")
    if len(starts) and (starts.min() < 0 or stops.max() > len(raw) or (stops < starts).any()):
        raise MismatchError(f"a stretch of bytes lies outside the {len(raw)} that there are, or ends before it begins")
    raw, starts, stops = (np.ascontiguousarray(array) for array in (raw, starts, stops))
    ids = np.zeros(len(starts), dtype=np.int32)
    firsts = np.zeros(len(starts), dtype=np.int32)
    slots = np.full(1 << (2 * len(starts) + 1).bit_length(), -1, dtype=np.int32)
    count = kernel.intern(view(raw), view(starts), view(stops), view(ids), view(slots), view(firsts))
    return ids, firsts[:count]


def are_places(array: npt.NDArray[Any]) -> bool:
    """Return whether an array is one row of positions in bytes."""
    return isinstance(array, np.ndarray) and array.dtype == np.int64 and array.ndim == 1


@dataclass(frozen=True, slots=True, eq=False)
class Column(Rebuilt):
    """One string per word, as numbers into a list of distinct strings.

    A column is indexed and iterated like a list of its strings; a slice is a column. The numbers are uint8, int16 or
    int32, as they are given; any others become int32. They are checked once and never change.
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
        object.__setattr__(self, "ids", ids)
        object.__setattr__(self, "names", names)

    def _of_own(self, ids: npt.NDArray[np.integer[Any]]) -> Column:
        """Make a column of some of this one's numbers, which need no check."""
        column = object.__new__(Column)
        object.__setattr__(column, "ids", frozen_array(ids))
        object.__setattr__(column, "names", self.names)
        return column

    @classmethod
    def of(cls, texts: Iterable[str]) -> Column:
        """Number equal strings alike, in order of first appearance."""
        numbers: dict[str, int] = {}
        try:
            ids = np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int32)
        except TypeError as error:
            raise MismatchError(f"a column cannot be made of this: {error}; expected texts") from error
        return cls(ids, tuple(numbers))

    @classmethod
    def constant(cls, text: str, length: int) -> Column:
        """Return a column that has the same string for every word."""
        return cls(np.zeros(length, dtype=np.int32), (text,))

    @classmethod
    def of_heads(cls, heads: Ints) -> Column:
        """Write heads as text: `_` where there is none."""
        heads = np.maximum(ints(heads, "heads"), -1)
        most = int(heads.max(initial=0))
        if most > len(heads):  # some head lies outside its sentence, perhaps far outside
            distinct, ids = np.unique(heads, return_inverse=True)
            return cls(ids, tuple("_" if head < 0 else str(head) for head in distinct.tolist()))
        return cls(heads + np.int32(1), ("_", *map(str, range(most + 1))))

    @classmethod
    def concat(cls, columns: Sequence[Column]) -> Column:
        """Return columns joined end to end."""
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
        """Return the column of some words, by their numbers."""
        return self._of_own(self.ids[words])

    def narrow(self) -> Column:
        """Return the column with its numbers in the smallest type that holds them: uint8, int16, else int32."""
        count = len(self.names)
        kind = np.uint8 if count <= 1 << 8 else np.int16 if count <= 1 << 15 else np.int32
        return self if self.ids.dtype == kind else self._of_own(self.ids.astype(kind))
