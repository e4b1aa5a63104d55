"""Ragged arrays: sentences of different lengths, one after the other in flat arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import Ints, as_array, checked_offsets, frozen_ints, ints
from ropewalk.errors import MismatchError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Places = npt.NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)


def starts_of(lengths: Sequence[int] | npt.NDArray[Any]) -> Places:
    """Return where sequences of these lengths start when they lie end to end, and where the last one ends."""
    out = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.add.accumulate(lengths, out=out[1:])
    return out


@final
class Offsets:
    """Where each of many sentences starts in a flat array, and where the last one ends.

    The elements of sentence s are `values[offsets[s]]`: indexing returns a slice. The numbers are checked once and
    never change: they start with 0 and never fall. `array` has one number more than there are sentences.
    """

    __slots__ = ("array",)

    array: Ints

    def __init__(self, array: npt.ArrayLike, *, end: int | None = None, what: str = "offsets") -> None:
        object.__setattr__(self, "array", frozen_ints(checked_offsets(array, what, end=end)))

    @classmethod
    def of(cls, given: Offsets | npt.ArrayLike, *, end: int | None = None) -> Offsets:
        """Return `given` itself if it is `Offsets`, or check it. Raise a `MismatchError` unless it ends at `end`."""
        if isinstance(given, Offsets):
            if end is not None and given.total != end:
                raise MismatchError(
                    f"offsets end at {given.total}, but there are {end} values; the last must be their number"
                )
            return given
        return cls(given, end=end)

    @classmethod
    def of_lengths(cls, lengths: Sequence[int] | npt.NDArray[Any]) -> Offsets:
        """Return the offsets of sentences of these lengths."""
        return cls._trusted(starts_of(lengths))

    @classmethod
    def one(cls, length: int) -> Offsets:
        """Return the offsets of one sentence."""
        return cls._trusted(np.array([0, length]))

    @classmethod
    def concat(cls, parts: Sequence[Offsets]) -> Offsets:
        """Return the offsets of groups of sentences that lie end to end."""
        return cls.of_lengths(np.concatenate([part.lengths for part in parts]) if parts else [])

    @classmethod
    def _trusted(cls, array: npt.NDArray[Any]) -> Offsets:
        """Return offsets of numbers that are right by construction."""
        offsets = object.__new__(cls)
        object.__setattr__(offsets, "array", frozen_ints(array))
        return offsets

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"offsets never change; {name} cannot be set")

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return Offsets, (self.array,)

    def __repr__(self) -> str:
        return f"Offsets({self.array.tolist() if len(self) < 8 else f'{len(self)} sentences, {self.total} elements'})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Offsets) and (self is other or np.array_equal(self.array, other.array))

    def __hash__(self) -> int:
        return hash(self.array.tobytes())

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.array) - 1

    def __getitem__(self, sentence: int) -> slice:
        """Return where one sentence lies."""
        if not 0 <= sentence < len(self):
            raise IndexError(f"sentence {sentence} of {len(self)}")
        return slice(int(self.array[sentence]), int(self.array[sentence + 1]))

    def __iter__(self) -> Iterator[slice]:
        """Iterate over where each sentence lies."""
        bounds = self.array.tolist()
        return map(slice, bounds[:-1], bounds[1:])

    def bounds(self, sentence: int) -> tuple[int, int]:
        """Return where one sentence starts and where it ends."""
        where = self[sentence]
        return where.start, where.stop

    @property
    def total(self) -> int:
        """The number of elements of all sentences."""
        return int(self.array[-1])

    @property
    def starts(self) -> Ints:
        """Where each sentence starts."""
        return self.array[:-1]

    @property
    def lengths(self) -> Ints:
        """The number of elements of each sentence."""
        return self.array[1:] - self.array[:-1]

    @property
    def longest(self) -> int:
        """The length of the longest sentence."""
        return int(self.lengths.max(initial=0))

    def positions(self) -> Ints:
        """Return each element's number within its sentence, counted from 1."""
        return np.arange(1, self.total + 1, dtype=np.int32) - np.repeat(self.starts, self.lengths)

    def owners(self) -> Places:
        """Return the sentence of each element, counted from 0."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def owner(self, element: int) -> int:
        """Return the sentence of one element, counted from 0."""
        return int(np.searchsorted(self.array, element, side="right")) - 1

    def owners_of(self, elements: npt.NDArray[Any]) -> Places:
        """Return the sentences of some elements."""
        return np.searchsorted(self.array, elements, side="right") - 1

    def select(self, sentences: npt.NDArray[Any]) -> tuple[Offsets, Places]:
        """Return the offsets of some sentences on their own, and where their elements were."""
        starts = self.array[sentences].astype(np.int64)
        lengths = self.array[sentences + 1] - starts
        stops = starts_of(lengths)
        return Offsets._trusted(stops), np.arange(stops[-1]) + np.repeat(starts - stops[:-1], lengths)

    def between(self, first: int, last: int) -> Offsets:
        """Return the offsets of the sentences from `first` up to, but without, `last` on their own."""
        return Offsets._trusted(self.array[first : last + 1] - self.array[first])

    def split(self, values: npt.NDArray[Scalar]) -> list[npt.NDArray[Scalar]]:
        """Return the values of each sentence."""
        return [values[where] for where in self]

    def sums(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the sum of each sentence's values; truth values are counted."""
        totals = np.zeros(len(values) + 1, dtype=np.int64 if values.dtype.kind in "bui" else np.float64)
        np.cumsum(values, out=totals[1:])
        return totals[self.array[1:]] - totals[self.array[:-1]]

    def counted(self, marks: npt.NDArray[np.bool_]) -> Offsets:
        """Return the offsets of the marked elements alone."""
        return Offsets.of_lengths(self.sums(marks))

    def demand(self, values: object, what: str) -> Ints:
        """Return one 32-bit integer for each element, or raise a `MismatchError`."""
        return ints(as_array(values, what), what, size=self.total)
