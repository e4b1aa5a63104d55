"""Text as a network reads it: every character a number, every run of spaces one sign, and stretches between spaces.

A *chunk* is a stretch without spaces together with the sign of the spaces before it; a longer one is cut, so that no
chunk is longer than `LONGEST`. How many spaces there are makes no difference, only whether they hold a blank line, or a
line break, and whether that ends a line of few chunks or of more. What cannot stand in a form counts as a space: white
space, control characters, zero-width spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from ropewalk.core.ragged import starts_of
from ropewalk.errors import FormatError
from ropewalk.formats.text import SPACES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Bools

Numbers = npt.NDArray[np.int64]
Item = TypeVar("Item", str, tuple[int, int])

LONGEST = 40  # characters of a chunk
FEW = 8  # chunks; a line of fewer did not end for lack of room
PADDING, OUTSIDE, SPACE, LINE, SHORT_LINE, PARAGRAPH = range(6)  # numbers of what is no character of a form
CATEGORIES = (
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
    "Sm", "Sc", "Sk", "So", "Cf", "Cs", "Co", "Cn",
)  # fmt: skip
FIRST_CATEGORY = PARAGRAPH + 1
FIRST_CHARACTER = FIRST_CATEGORY + len(CATEGORIES)
UNKNOWN, WORDLESS = 0, 1  # numbers of a word that is not known, and of a chunk without letters and digits
_RUN = re.compile(f"[{re.escape(SPACES)}]+")
_BREAKS = {"\n": 1, "\x0b": 1, "\x85": 1, "\u2028": 1, "\x0c": 2, "\u2029": 2}
_FORWARD, _BACKWARD, _FLAG = 1, 2, 4  # to what a character sticks
_CODES = 0x110000
_POWERS = np.cumprod(np.full(LONGEST, 0x9E3779B97F4A7C15, dtype=np.uint64))


def codes_of(text: str, characters: int = 0, lines: int = 0) -> npt.NDArray[np.uint32]:
    """Give the code points of a text; lone surrogates, which UTF-8 cannot hold, are refused.

    `characters` and `lines` count what stands before the text, if it is a part of a longer one.
    """
    try:
        return np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    except UnicodeEncodeError as failure:
        raise FormatError(
            "<text>",
            lines + text.count("\n", 0, failure.start) + 1,
            "surrogate",
            f"character {characters + failure.start:,} of the text is {text[failure.start]!r}, half of a character; "
            "expected Unicode text: decode it with errors='replace'",
        ) from failure


def is_space(character: str) -> bool:
    """Return whether a character stands between tokens, never in one."""
    return character in SPACES


def single_spaced(text: str) -> str:
    """Write one space wherever there are any."""
    return _RUN.sub(" ", text)


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What a network reads of a text: `characters` and, for each chunk, `words`, and its `first` and `last` character.

    `chunks` gives the chunk of each character read, `places` where in the text it stands; spaces have none, -1. `pairs`
    has for each chunk the number of its word and the next together, if the network knows any such.
    """

    characters: Numbers
    chunks: Numbers
    places: Numbers
    words: Numbers
    first: Numbers
    last: Numbers
    pairs: Numbers | None = None

    def opening(self, chunk: int) -> int:
        """Give the place in the text where a chunk begins, the spaces before it left out; that of the end for none."""
        if chunk == len(self.first):
            return int(self.places[-1]) + 1
        first = int(self.first[chunk])
        return int(self.places[first + (self.places[first] < 0)])

    def openings(self) -> Numbers:
        """Give the place in the text where each chunk begins, the spaces before it left out."""
        found: Numbers = self.places[self.first + (self.places[self.first] < 0)]
        return found

    def joinable(self, start: int, stop: int) -> Bools:
        """Tell which of some characters stand before spaces that a token may go over: those that hold no blank line."""
        after = self.characters[start + 1 : stop + 1]
        found = np.zeros(stop - start, dtype=np.bool_)
        found[: len(after)] = (after >= SPACE) & (after < PARAGRAPH)
        return found

    def part(self, start: int, stop: int) -> dict[str, Numbers]:
        """Give the arrays of some chunks, counted from 0 on."""
        low, high = int(self.first[start]), int(self.last[stop - 1]) + 1
        pairs = {} if self.pairs is None else {"pairs": self.pairs[start:stop]}
        return {
            "characters": self.characters[low:high],
            "chunks": self.chunks[low:high] - start,
            "words": self.words[start:stop],
            "first": self.first[start:stop] - low,
            "last": self.last[start:stop] - low,
            **pairs,
        }


@dataclass(frozen=True, slots=True)
class CharacterVocabulary:
    """The characters and words that a network knows; of others it knows the category, or nothing.

    `pairs` are places in `words` of those that it knows to follow each other.
    """

    characters: str
    words: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, text: str, least_characters: int, least_words: int, least_pairs: int = 0) -> CharacterVocabulary:
        """Take what occurs often enough, most frequent first; of 0 pairs, none."""
        characters = Counter(one for one in text if not is_space(one))
        chunks = [key(chunk) for chunk in text.split()]
        words = tuple(_frequent(Counter(filter(None, chunks)), least_words))
        places = {word: place for place, word in enumerate(words)}
        found = (
            (places[a], places[b]) for a, b in pairwise(chunks if least_pairs else []) if a in places and b in places
        )
        pairs = tuple(_frequent(Counter(found), least_pairs))
        return cls("".join(_frequent(characters, least_characters)), words, pairs)


def _frequent(counts: Counter[Item], least: int) -> list[Item]:
    return sorted((one for one, count in counts.items() if count >= least), key=lambda one: (-counts[one], one))


def key(chunk: str) -> str:
    """Keep what words are looked up by: letters in lower case, and digits as 0."""
    return "".join(_folded(one) for one in chunk[:LONGEST] if one.isalnum())


def _folded(character: str) -> str:
    low = character.lower()
    return "0" if character.isdecimal() else low if len(low) == 1 else character


class CharacterReader:
    """Reads text by a vocabulary. What it finds out about a character it remembers."""

    def __init__(self, vocabulary: CharacterVocabulary, *, lines_apart: bool = False) -> None:
        self._lines_apart = lines_apart  # every line break is read as a blank line
        self._numbers = np.zeros(_CODES, dtype=np.int16)  # pages of it that are never used take no memory
        self._folds = np.zeros(_CODES, dtype=np.uint32)
        self._breaks = np.zeros(_CODES, dtype=np.uint8)
        self._glue = np.zeros(_CODES, dtype=np.uint8)
        self._known = {one: number for number, one in enumerate(vocabulary.characters, start=FIRST_CHARACTER)}
        hashes = _hashes(vocabulary.words)
        order = np.argsort(hashes)
        self._hashes = np.append(hashes[order], np.uint64(0))
        self._ids = np.append(order + WORDLESS + 1, 0)
        self._known_words = words_known(vocabulary)
        pairs = np.array(vocabulary.pairs, dtype=np.int64).reshape(-1, 2) + WORDLESS + 1
        self._pairs = pairs[:, 0] * self._known_words + pairs[:, 1]
        self._pair_order = np.argsort(self._pairs)
        self.categories = np.array(  # the category's number in place of each character's, for training
            [
                *range(FIRST_CHARACTER),
                *(FIRST_CATEGORY + CATEGORIES.index(unicodedata.category(one)) for one in vocabulary.characters),
            ]
        )

    def numbers(self, codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.int16]:
        """Give the number of each character, `OUTSIDE` for spaces."""
        found = self._numbers[codes]
        if not found.all():
            for code in set(codes[found == 0].tolist()):
                self._learn(code)
            found = self._numbers[codes]
        return found

    def spaces(self, codes: npt.NDArray[np.uint32]) -> tuple[Bools, npt.NDArray[np.uint8]]:
        """Tell which characters are spaces, and how many lines each breaks."""
        return self.numbers(codes) == OUTSIDE, self._breaks[codes]

    def glued(self, codes: npt.NDArray[np.uint32]) -> Bools:
        """Tell which characters make up one with the next: marks, joiners, emoji with their tones, flags."""
        glue = self._glue[codes]
        found = np.zeros(len(codes), dtype=np.bool_)
        before, after = glue[:-1], glue[1:]
        found[:-1] = (before & _FORWARD > 0) | (after & _BACKWARD > 0) | (before & after & _FLAG > 0)
        return found

    def _learn(self, code: int) -> None:
        one = chr(code)
        if is_space(one):
            self._breaks[code] = _BREAKS.get(one, 0)
            self._numbers[code] = OUTSIDE
            return
        number = FIRST_CATEGORY + CATEGORIES.index(unicodedata.category(one))
        self._folds[code] = ord(_folded(one)) if one.isalnum() else 0
        self._glue[code] = _glue(one)
        self._numbers[code] = self._known.get("0" if one.isdecimal() else one, number)  # last: it says "learnt"

    def read(self, codes: npt.NDArray[np.uint32], *, begins: bool = True) -> Reading:
        """Read a text, or a part of one that begins with a chunk; its trailing spaces are not read."""
        numbers = self.numbers(codes)
        inside = np.flatnonzero(numbers != OUTSIDE)
        if not len(inside):
            return Reading(*(np.zeros(0, dtype=np.int64) for _ in range(6)))
        apart = np.ones(len(inside), dtype=np.bool_)  # whether spaces stand before it
        np.not_equal(np.diff(inside), 1, out=apart[1:])
        apart[0] = begins or inside[0] > 0
        runs = np.flatnonzero(apart)
        places = np.arange(len(inside)) + np.cumsum(apart)  # of the characters of forms among all that are read
        size = len(inside) + len(runs)
        characters = np.empty(size, dtype=np.int64)
        characters[places] = numbers[inside]
        origin = np.zeros(len(inside), dtype=np.int64)
        origin[runs] = runs
        rank = np.arange(len(inside)) - np.maximum.accumulate(origin)
        starts = np.flatnonzero(rank % LONGEST == 0)  # of chunks, among the characters of forms
        gaps = self._gaps(codes, inside, runs, np.searchsorted(starts, runs))
        if begins:
            gaps[0] = PARAGRAPH
        characters[places[runs] - 1] = gaps
        first = places[starts] - apart[starts]
        opens = np.zeros(size, dtype=np.int64)
        opens[first] = 1
        back = np.full(size, -1, dtype=np.int64)
        back[places] = inside
        words = self._words(codes[inside], starts)
        return Reading(
            characters,
            np.cumsum(opens) - 1,
            back,
            words,
            first,
            np.append(first[1:], size) - 1,
            self._paired(words, characters[first] == PARAGRAPH) if len(self._pairs) else None,
        )

    def _paired(self, words: Numbers, apart: Bools) -> Numbers:
        """Look up the word of each chunk and the next together; nothing reaches over a blank line."""
        keys = words[:-1] * self._known_words + words[1:]
        at = self._pair_order[
            np.minimum(np.searchsorted(self._pairs, keys, sorter=self._pair_order), len(self._pairs) - 1)
        ]
        found = np.full(len(words), UNKNOWN, dtype=np.int64)
        found[:-1] = np.where((self._pairs[at] == keys) & ~apart[1:], at + 1, UNKNOWN)
        return found

    def _gaps(
        self,
        codes: npt.NDArray[np.uint32],
        inside: npt.NDArray[Any],
        runs: npt.NDArray[Any],
        chunks: npt.NDArray[Any],
    ) -> Numbers:
        """Give the sign of the spaces before each run; `chunks` counts the chunks before it."""
        broken = self._breaks[codes]
        if not broken.any():  # as nearly always in a short text
            return np.full(len(runs), SPACE, dtype=np.int64)
        breaks = starts_of(broken)
        before = np.where(runs > 0, inside[runs - 1] + 1, 0)
        lines = (breaks[inside[runs]] - breaks[before]) << self._lines_apart
        begun = np.maximum.accumulate(np.where(lines > 0, chunks, 0))  # chunks before the line that the run is in
        short = chunks - np.concatenate([[0], begun[:-1]]) < FEW
        gaps: Numbers = np.select([lines > 1, lines < 1, short], [PARAGRAPH, SPACE, SHORT_LINE], LINE)
        return gaps

    def _words(self, codes: npt.NDArray[np.uint32], starts: npt.NDArray[Any]) -> Numbers:
        """Look up the word of each chunk by a hash of its letters and digits."""
        folds = self._folds[codes].astype(np.uint64)
        counted = np.cumsum(folds != 0)
        before = counted[starts] - (folds[starts] != 0)
        rank = counted - 1 - np.repeat(before, np.diff(np.append(starts, len(codes))))
        hashes = np.add.reduceat(folds * _POWERS[np.maximum(rank, 0)], starts)
        at = np.minimum(np.searchsorted(self._hashes[:-1], hashes), len(self._hashes) - 1)
        found = np.where(self._hashes[at] == hashes, self._ids[at], UNKNOWN)
        found[hashes == 0] = WORDLESS
        return found


def _glue(one: str) -> int:
    if unicodedata.category(one)[0] == "M" or "\U0001f3fb" <= one <= "\U0001f3ff" or one >= "\U000e0020":
        return _BACKWARD
    if one == "\u200d":
        return _FORWARD | _BACKWARD
    return _FLAG if "\U0001f1e6" <= one <= "\U0001f1ff" else 0


def _hashes(words: Sequence[str]) -> npt.NDArray[np.uint64]:
    folds = np.frombuffer("".join(words).encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    lengths = np.array([len(word) for word in words], dtype=np.int64)
    stops = np.cumsum(lengths)
    ranks = np.arange(len(folds)) - np.repeat(stops - lengths, lengths)
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(folds * _POWERS[ranks])])
    found: npt.NDArray[np.uint64] = sums[stops] - sums[stops - lengths]
    return found


def words_known(vocabulary: CharacterVocabulary) -> int:
    """Count the rows of a table of words."""
    return len(vocabulary.words) + WORDLESS + 1


def pairs_known(vocabulary: CharacterVocabulary) -> int:
    """Count the rows of a table of pairs, 0 for none."""
    return len(vocabulary.pairs) + 1 if vocabulary.pairs else 0


def characters_known(vocabulary: CharacterVocabulary) -> int:
    """Count the rows of a table of characters."""
    return len(vocabulary.characters) + FIRST_CHARACTER
