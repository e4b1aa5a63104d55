"""The words of a treebank as evidence for where words begin and end in text without spaces.

A *dictionary feature* of a character says whether a known word of a certain length begins with it, ends with it, or
contains it and the next character. Words are compared in lower case, with 0 for every digit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk.core.arrays import Bools

MOST_LENGTH = 16  # characters of the longest word in a dictionary
SHARE = 0.99  # of all words of the treebank are no longer than the longest word of its dictionary
KINDS = 3  # kinds of features: a word begins, ends or continues
_POWERS = np.cumprod(np.full(MOST_LENGTH, 0x9E3779B97F4A7C15, dtype=np.uint64))


@dataclass(frozen=True, slots=True)
class Dictionary:
    """A set of words, in lower case with 0 for digits, and the number of characters of the longest."""

    words: tuple[str, ...] = ()
    longest: int = 0
    _hashes: tuple[npt.NDArray[np.uint64], ...] = field(
        init=False, repr=False, compare=False
    )  # sorted, by length of the word

    def __post_init__(self) -> None:
        by_length: list[list[str]] = [[] for _ in range(self.longest)]
        for word in self.words:
            if not 0 < len(word) <= self.longest:
                raise ValueError(f"the word {word:.40} where 1 to {self.longest} characters are expected")
            by_length[len(word) - 1].append(word)
        object.__setattr__(self, "_hashes", tuple(_hashes(words, size) for size, words in enumerate(by_length, 1)))

    @classmethod
    def of(cls, words: Iterable[str], longest: int) -> tuple[Dictionary, Dictionary]:
        """Collect the distinct words of a treebank, and those that occur only once, as two dictionaries.

        Words have at most `longest` characters, fewer if a share of `SHARE` of all words is no longer than that.
        """
        counts = Counter(words)
        lengths = np.zeros(MOST_LENGTH + 1, dtype=np.int64)
        for word, count in counts.items():
            lengths[min(len(word), MOST_LENGTH)] += count
        enough = int(np.searchsorted(np.cumsum(lengths), SHARE * lengths.sum()))
        longest = max(min(longest, enough), 1)
        known = sorted(word for word in counts if len(word) <= longest)
        return cls(tuple(known), longest), cls(tuple(word for word in known if counts[word] == 1), longest)

    @property
    def width(self) -> int:
        """The number of features of a character."""
        return KINDS * self.longest

    def matches(self, codes: npt.NDArray[np.uint32]) -> Bools:
        """Return for each character and length whether a known word of this length begins there: [n, longest].

        `codes` are folded code points, with numbers beyond Unicode for spaces.
        """
        out = np.zeros((len(codes), self.longest), dtype=np.bool_)
        wide = codes.astype(np.uint64)
        sums = np.zeros(len(codes), dtype=np.uint64)
        for index, known in enumerate(self._hashes):
            if len(codes) <= index:
                break
            sums = sums[: len(codes) - index] + wide[index:] * _POWERS[index]
            if len(known):
                at = np.minimum(np.searchsorted(known, sums), len(known) - 1)
                out[: len(sums), index] = known[at] == sums
        return out

    def features(self, matches: Bools) -> npt.NDArray[np.uint8]:
        """Return the dictionary features of each character, [n, width], from the result of `matches`."""
        count, longest = matches.shape
        out = np.zeros((KINDS, longest, count), dtype=np.uint8)
        begins, ends, goes_on = out
        begins[:] = matches.T
        for index in range(min(longest, count)):
            row = begins[index, : count - index]
            ends[index, index:] = row
            for place in range(index):
                goes_on[index, place : count - index + place] |= row
        return np.ascontiguousarray(out.reshape(KINDS * longest, count).T)


def _hashes(words: list[str], size: int) -> npt.NDArray[np.uint64]:
    codes = np.frombuffer("".join(words).encode("utf-32-le"), dtype="<u4").reshape(-1, size).astype(np.uint64)
    sums: npt.NDArray[np.uint64] = (codes * _POWERS[:size]).sum(axis=1, dtype=np.uint64)
    return np.unique(sums)
