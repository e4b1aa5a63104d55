"""Word lists in which words are searched for without decoding all of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, final, overload

import numpy as np

from ropewalk.core.arrays import frozen_ints
from ropewalk.core.ragged import starts_of
from ropewalk.kernels import endings as kernel
from ropewalk.kernels import view
from ropewalk.models.packed import numbers_of, packed_numbers, packed_texts, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from ropewalk.core.arrays import Ints

FEW = 500  # texts; of so many a dictionary is made quickly


@final
class SortedTexts(Sequence[str]):
    """Distinct texts as arrays, sorted by their reversed spelling, so that texts with the same ending are neighbours.

    `codes` has the code points of all texts, each spelled backwards, and `sizes` the number of code points of each.
    `indices[i]` is the index in this sequence of text i in the sorted order. Raise `TypeError` if these arrays do not
    fit each other.
    """

    def __init__(self, codes: Ints, sizes: Ints, indices: Ints) -> None:
        if sizes.min(initial=0) < 0 or sizes.sum() != len(codes) or len(indices) != len(sizes):
            raise TypeError("texts whose sizes do not fit")
        if indices.min(initial=0) < 0 or indices.max(initial=-1) >= len(indices):
            raise TypeError("texts whose order does not fit")
        self.codes = codes
        self.starts: Ints = frozen_ints(starts_of(sizes))
        self._indices = indices

    @classmethod
    def of(cls, texts: Sequence[str]) -> SortedTexts:
        """Sort distinct texts."""
        order = sorted(range(len(texts)), key=lambda index: texts[index][::-1])
        codes, starts = backwards([texts[index] for index in order])
        return cls(codes, frozen_ints(np.diff(starts)), frozen_ints(order))

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> SortedTexts:
        """Read texts from a table of `labels.json`; raise `TypeError` or `KeyError` if it is damaged."""
        alphabet, letters, sizes, indices = (
            numbers_of(table[name]) for name in ("alphabet", "letters", "sizes", "indices")
        )
        if letters.min(initial=0) < 0 or letters.max(initial=-1) >= len(alphabet):
            raise TypeError("texts with letters outside their alphabet")
        return cls(alphabet[letters], sizes, indices)

    def to_json(self) -> dict[str, str]:
        """Return the texts as a table for `labels.json`; code points are indices in an alphabet, to save space."""
        alphabet, letters = np.unique(self.codes, return_inverse=True)
        arrays: dict[str, npt.NDArray[Any]] = {"alphabet": alphabet, "letters": letters}
        arrays |= {"sizes": np.diff(self.starts), "indices": self._indices}
        return {name: packed_numbers(frozen_ints(array)) for name, array in arrays.items()}

    def find(self, texts: Sequence[str]) -> Ints:
        """Return the index of each of `texts` in this sequence, or -1 if it does not contain the text."""
        places = np.full(len(texts), -1, dtype=np.int32)
        kernel.places(*map(view, (self.codes, self.starts, *backwards(texts), places)))
        found = places >= 0
        places[found] = self._indices[places[found]]
        return places

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        whole = self.codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        texts = [""] * len(self._indices)
        bounds = self.starts.tolist()
        for number, index in enumerate(self._indices.tolist()):
            texts[index] = whole[bounds[number] : bounds[number + 1]][::-1]
        return tuple(texts)

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        return self._texts[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SortedTexts | tuple) and self._texts == tuple(other)

    def __hash__(self) -> int:
        return hash(self._texts)


def texts_in(value: Any) -> Sequence[str]:  # noqa: ANN401 - any JSON
    """Return the texts of a value in `labels.json`: a table that `SortedTexts` wrote, or what `texts_of` reads."""
    return SortedTexts.from_json(value) if isinstance(value, dict) else texts_of(value)


def texts_table(texts: Sequence[str]) -> dict[str, str] | str | list[str]:
    """Return texts as a value for `labels.json`, which `texts_in` reads."""
    return texts.to_json() if isinstance(texts, SortedTexts) else packed_texts(texts)


def searchable(texts: Sequence[str]) -> Sequence[str]:
    """Return many distinct texts as `SortedTexts`; return others unchanged."""
    return SortedTexts.of(texts) if len(texts) > FEW and len({*texts}) == len(texts) else texts


def finder(texts: Sequence[str]) -> Callable[[Sequence[str]], Sequence[int] | npt.NDArray[Any]]:
    """Return a function that returns the index in `texts` of each of some texts, -1 for those that are missing."""
    if isinstance(texts, SortedTexts):
        return texts.find
    known = dict(zip(texts, range(len(texts)), strict=True))
    return lambda wanted: [known.get(text, -1) for text in wanted]


def backwards(words: Sequence[str]) -> tuple[Ints, Ints]:
    """Return the code points of all words in one array, each word reversed, and the offsets of the words in it."""
    raw = "".join([word[::-1] for word in words]).encode("utf-32-le", "surrogatepass")
    sizes = np.fromiter(map(len, words), np.int64, len(words))
    starts = np.zeros(len(words) + 1, dtype=np.int32)
    np.cumsum(sizes, out=starts[1:])
    return np.frombuffer(raw, dtype="<i4"), starts
