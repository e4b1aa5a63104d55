"""Ragged arrays: sentences of different lengths, stored one after the other in flat arrays."""

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
    """Return the starts of sequences with these lengths, stored one after the other, and the end of the last."""
    out = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.add.accumulate(lengths, out=out[1:])
    return out


@final
class Offsets:
    """The offsets of many sentences in a flat array: where each sentence starts, and where the last one ends.

    Indexing returns a slice: the elements of sentence s in a flat array `values` are `values[offsets[s]]`. `array` has
    the start of each sentence and the end of the last. It starts with 0, never falls, and cannot be changed.
    """

    __slots__ = ("array",)

    array: Ints

    def __init__(self, array: npt.ArrayLike, *, end: int | None = None, what: str = "offsets") -> None:
        object.__setattr__(self, "array", frozen_ints(checked_offsets(array, what, end=end)))

    @classmethod
    def of(cls, offsets: Offsets | npt.ArrayLike, *, end: int | None = None) -> Offsets:
        """Return `offsets` as `Offsets`; raise a `MismatchError` if they are wrong or do not end at `end`."""
        if isinstance(offsets, Offsets):
            if end is not None and offsets.total != end:
                raise MismatchError(
                    f"offsets end at {offsets.total}, but there are {end} values; the last must be their number"
                )
            return offsets
        return cls(offsets, end=end)

    @classmethod
    def of_lengths(cls, lengths: Sequence[int] | npt.NDArray[Any]) -> Offsets:
        """Return the offsets of sentences of these lengths; raise a `MismatchError` unless they are 0 or more."""
        numbers = ints(lengths, "lengths of sentences")
        if numbers.min(initial=0) < 0:
            raise MismatchError(f"lengths of sentences: found {numbers.min()}; expected 0 or more")
        return cls._trusted(starts_of(numbers))

    @classmethod
    def one(cls, length: int) -> Offsets:
        """Return the offsets of a single sentence with `length` elements."""
        return cls._trusted(np.array([0, length]))

    @classmethod
    def concat(cls, parts: Sequence[Offsets]) -> Offsets:
        """Return the offsets of the sentences of all `parts`, one part after the other."""
        return cls._trusted(starts_of(np.concatenate([part.lengths for part in parts]) if parts else []))

    @classmethod
    def _trusted(cls, array: npt.NDArray[Any]) -> Offsets:
        """Return `array` as offsets without a check."""
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
        """Return the slice of one sentence's elements in a flat array."""
        if not 0 <= sentence < len(self):
            raise IndexError(f"there is no sentence {sentence}; there are {len(self)}, numbered from 0")
        return slice(int(self.array[sentence]), int(self.array[sentence + 1]))

    def __iter__(self) -> Iterator[slice]:
        """Iterate over the slices of all sentences."""
        bounds = self.array.tolist()
        return map(slice, bounds[:-1], bounds[1:])

    def bounds(self, sentence: int) -> tuple[int, int]:
        """Return the index of a sentence's first element, and the index after its last."""
        where = self[sentence]
        return where.start, where.stop

    @property
    def total(self) -> int:
        """The number of elements of all sentences."""
        return int(self.array[-1])

    @property
    def starts(self) -> Ints:
        """The index of the first element of each sentence."""
        return self.array[:-1]

    @property
    def lengths(self) -> Ints:
        """The number of elements of each sentence."""
        return self.array[1:] - self.array[:-1]

    @property
    def longest(self) -> int:
        """The number of elements of the longest sentence, 0 without sentences."""
        return int(self.lengths.max(initial=0))

    def positions(self) -> Ints:
        """Return the position of each element within its sentence, from 1."""
        return np.arange(1, self.total + 1, dtype=np.int32) - np.repeat(self.starts, self.lengths)

    def owners(self) -> Places:
        """Return the index of each element's sentence, from 0."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def owner(self, element: int) -> int:
        """Return the index of the sentence of one element; both count from 0."""
        return int(np.searchsorted(self.array, element, side="right")) - 1

    def owners_of(self, elements: npt.NDArray[Any]) -> Places:
        """Return the index of the sentence of each of `elements`; both count from 0."""
        return np.searchsorted(self.array, elements, side="right") - 1

    def head_rows(self, words: npt.NDArray[Any], heads: npt.NDArray[Any]) -> Places:
        """Convert the heads of `words` from positions within the sentence to indices over all sentences.

        `words` are indices over all sentences, from 0. `heads` count from 1 within the sentence. A head of 0, the root,
        becomes -1.
        """
        starts = self.starts.astype(np.int64)[self.owners_of(words)]
        return np.where(heads == 0, -1, starts + heads - 1)

    def select(self, sentences: npt.NDArray[Any]) -> tuple[Offsets, Places]:
        """Return the offsets of a batch of only these sentences, and the indices of their elements in this batch.

        `sentences` are indices, in any order.
        """
        starts = self.array[sentences].astype(np.int64)
        lengths = self.array[sentences + 1] - starts
        stops = starts_of(lengths)
        return Offsets._trusted(stops), np.arange(stops[-1]) + np.repeat(starts - stops[:-1], lengths)

    def between(self, first: int, last: int) -> Offsets:
        """Return the offsets of a batch of the sentences from `first` up to, but without, `last`."""
        return Offsets._trusted(self.array[first : last + 1] - self.array[first])

    def split(self, values: npt.NDArray[Scalar]) -> list[npt.NDArray[Scalar]]:
        """Return an array for each sentence, with its part of `values`."""
        return [values[where] for where in self]

    def sums(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the sum of each sentence's values; for booleans, the number of true ones."""
        totals = np.zeros(len(values) + 1, dtype=np.int64 if values.dtype.kind in "bui" else np.float64)
        np.cumsum(values, out=totals[1:])
        return totals[self.array[1:]] - totals[self.array[:-1]]

    def counted(self, marks: npt.NDArray[np.bool_]) -> Offsets:
        """Return the offsets of the same sentences if only the elements with a true mark are kept."""
        return Offsets._trusted(starts_of(self.sums(marks)))

    def demand(self, values: object, what: str) -> Ints:
        """Return `values` as 32-bit integers; raise a `MismatchError` unless there is one for each element."""
        return ints(as_array(values, what), what, size=self.total)
