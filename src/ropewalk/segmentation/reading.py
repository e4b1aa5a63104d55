"""Text as the input of a segmenter's network: an id for each character, one id for each run of spaces, and chunks.

A *chunk* is a span without spaces, with the id of the spaces before it. It is cut after `LONGEST` characters. The id of
a run of spaces does not depend on their number. It says whether the run contains a blank line, a line break after a
line of fewer than `FEW` chunks, a line break after a longer line, or none. Characters that cannot be part of a form
count as spaces: white space, control characters, marks of direction, zero-width spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from ropewalk.core.ragged import starts_of
from ropewalk.errors import FormatError
from ropewalk.formats.text import SPACES
from ropewalk.segmentation.dictionary import Dictionary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Bools

Numbers = npt.NDArray[np.int64]
Item = TypeVar("Item", str, tuple[int, int])

LONGEST = 40  # characters of a chunk
FEW = 8  # chunks; a line with fewer was not wrapped
PADDING, OUTSIDE, SPACE, LINE, SHORT_LINE, PARAGRAPH = range(6)  # ids of padding and spaces
CATEGORIES = (
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
    "Sm", "Sc", "Sk", "So", "Cf", "Cs", "Co", "Cn",
)  # fmt: skip
FIRST_CATEGORY = PARAGRAPH + 1
FIRST_CHARACTER = FIRST_CATEGORY + len(CATEGORIES)
UNKNOWN, WORDLESS = 0, 1  # word ids of unknown words, and of chunks without letters and digits
_RUN = re.compile(f"[{re.escape(SPACES)}]+")
_BREAKS = {"\n": 1, "\x0b": 1, "\x85": 1, "\u2028": 1, "\x0c": 2, "\u2029": 2}
LINE_BREAKS = np.array([*map(ord, _BREAKS)], dtype=np.uint32)
_FORWARD, _BACKWARD, _FLAG = 1, 2, 4  # bits: attaches to the next character, to the one before, or is half of a flag
_CODES = 0x110000
MOST_SCRIPTS = 8  # scripts of letters that are read apart
_POWERS = np.cumprod(np.full(LONGEST, 0x9E3779B97F4A7C15, dtype=np.uint64))


def codes_of(text: str, characters: int = 0, lines: int = 0) -> npt.NDArray[np.uint32]:
    """Return the code points of a text; raise `FormatError` for lone surrogates, which UTF-8 cannot encode.

    If the text is a part of a longer one, `characters` and `lines` are the numbers of characters and lines before it.
    The error names the position in the longer text.
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
    """Return whether a character is white space, a control character, a mark of direction or a zero-width space."""
    return character in SPACES


def single_spaced(text: str) -> str:
    """Return a text with each run of spaces replaced with one space."""
    return _RUN.sub(" ", text)


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The input of a network, as arrays over characters and arrays over chunks; a run of spaces is one character.

    For each character, `characters` has its id, `chunks` the index of its chunk, and `places` its position in the text,
    -1 for spaces. For each chunk, `words` has the id of its word, and `first` and `last` the indices of its first and
    last character. `pairs` has the id of the pair of its word and the next, or is None if the vocabulary has no pairs.
    `features` has the dictionary features and the script of each character, [n, features], or is None if the vocabulary
    has no dictionary. `grams` has the id of each character together with the next, or is None if there are no such ids.
    """

    characters: Numbers
    chunks: Numbers
    places: Numbers
    words: Numbers
    first: Numbers
    last: Numbers
    pairs: Numbers | None = None
    features: npt.NDArray[np.uint8] | None = None
    grams: Numbers | None = None

    def opening(self, chunk: int) -> int:
        """Return the position in the text where a chunk begins, after the spaces before it.

        If `chunk` is the number of chunks, return the end of the last one.
        """
        if chunk == len(self.first):
            return int(self.places[-1]) + 1
        first = int(self.first[chunk])
        return int(self.places[first + (self.places[first] < 0)])

    def openings(self) -> Numbers:
        """Return the position in the text where each chunk begins, after the spaces before it."""
        positions: Numbers = self.places[self.first + (self.places[self.first] < 0)]
        return positions

    def joinable(self, start: int, stop: int) -> Bools:
        """Return for each character from `start` up to `stop` whether spaces that a token may contain follow it.

        A token may contain spaces without a blank line.
        """
        after = self.characters[start + 1 : stop + 1]
        out = np.zeros(stop - start, dtype=np.bool_)
        out[: len(after)] = (after >= SPACE) & (after < PARAGRAPH)
        return out

    def part(self, start: int, stop: int) -> dict[str, npt.NDArray[Any]]:
        """Return the network's input arrays for the chunks from `start` up to `stop`; indices in them begin at 0."""
        low, high = int(self.first[start]), int(self.last[stop - 1]) + 1
        others: dict[str, npt.NDArray[Any]] = {} if self.pairs is None else {"pairs": self.pairs[start:stop]}
        if self.features is not None:
            others["features"] = self.features[low:high]
        if self.grams is not None:
            others["grams"] = self.grams[low:high]
        return {
            "characters": self.characters[low:high],
            "chunks": self.chunks[low:high] - start,
            "words": self.words[start:stop],
            "first": self.first[start:stop] - low,
            "last": self.last[start:stop] - low,
            **others,
        }


@dataclass(frozen=True, slots=True)
class CharacterVocabulary:
    """The characters and words that have embeddings of their own; other characters have that of their category.

    `pairs` are pairs of consecutive words with an embedding of their own, as two indices in `words`. `dictionary` has
    the words of the treebank, and `scripts` its most frequent scripts, as Unicode's names of characters begin. `grams`
    are pairs of neighbouring characters with an embedding of their own, one pair after another.
    """

    characters: str
    words: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...] = ()
    dictionary: Dictionary = field(default_factory=Dictionary)
    scripts: tuple[str, ...] = ()
    grams: str = ""

    @classmethod
    def of(cls, text: str, least_characters: int, least_words: int, least_pairs: int = 0) -> CharacterVocabulary:
        """Collect the characters, words and pairs of words of a text, the most frequent first.

        Each must occur at least `least_characters`, `least_words` or `least_pairs` times. If `least_pairs` is 0, there
        are no pairs.
        """
        characters = Counter(character for character in text if not is_space(character))
        chunks = [key(chunk) for chunk in text.split()]
        words = tuple(_frequent(Counter(filter(None, chunks)), least_words))
        numbers = {word: number for number, word in enumerate(words)}
        followers = pairwise(chunks if least_pairs else [])
        known = ((numbers[a], numbers[b]) for a, b in followers if a in numbers and b in numbers)
        pairs = tuple(_frequent(Counter(known), least_pairs))
        return cls("".join(_frequent(characters, least_characters)), words, pairs)


def _frequent(counts: Counter[Item], least: int) -> list[Item]:
    return sorted((item for item, count in counts.items() if count >= least), key=lambda item: (-counts[item], item))


def key(chunk: str) -> str:
    """Return the word of a chunk as the vocabulary has it: only letters, in lower case, and digits, all as 0."""
    return "".join(_folded(character) for character in chunk[:LONGEST] if character.isalnum())


def _folded(character: str) -> str:
    low = character.lower()
    return "0" if character.isdecimal() else low if len(low) == 1 else character


class CharacterReader:
    """Converter of text to the input of a network, with a vocabulary; it caches ids and properties of characters."""

    def __init__(self, vocabulary: CharacterVocabulary, *, lines_apart: bool = False) -> None:
        self._lines_apart = lines_apart  # every line break is read as a blank line
        self._numbers = np.zeros(_CODES, dtype=np.int16)  # unused pages take no memory
        self._folds = np.zeros(_CODES, dtype=np.uint32)
        self._breaks = np.zeros(_CODES, dtype=np.uint8)
        self._glue = np.zeros(_CODES, dtype=np.uint8)
        self._known = {
            character: number for number, character in enumerate(vocabulary.characters, start=FIRST_CHARACTER)
        }
        hashes = _hashes(vocabulary.words)
        order = np.argsort(hashes)
        self._hashes = np.append(hashes[order], np.uint64(0))
        self._ids = np.append(order + WORDLESS + 1, 0)
        self._known_words = words_known(vocabulary)
        pairs = np.array(vocabulary.pairs, dtype=np.int64).reshape(-1, 2) + WORDLESS + 1
        self._pairs = pairs[:, 0] * self._known_words + pairs[:, 1]
        self._pair_order = np.argsort(self._pairs)
        self.dictionary = vocabulary.dictionary
        self._script_numbers = {name: number for number, name in enumerate(vocabulary.scripts, start=1)}
        self._scripts = np.zeros(_CODES, dtype=np.uint8)
        ends = np.frombuffer(vocabulary.grams.encode("utf-32-le"), dtype="<u4").astype(np.uint64).reshape(-1, 2)
        keys = ends[:, 0] * np.uint64(_CODES + 1) + ends[:, 1]
        self._gram_order = np.argsort(keys)
        self._grams = keys[self._gram_order]
        of_known = (
            FIRST_CATEGORY + CATEGORIES.index(unicodedata.category(character)) for character in vocabulary.characters
        )
        self.categories = np.array([*range(FIRST_CHARACTER), *of_known])  # to replace characters' numbers in training

    def numbers(self, codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.int16]:
        """Return the id of each character: that of the character or of its Unicode category, `OUTSIDE` for spaces."""
        numbers = self._numbers[codes]
        if not numbers.all():
            for code in set(codes[numbers == 0].tolist()):
                self._learn(code)
            numbers = self._numbers[codes]
        return numbers

    def spaces(self, codes: npt.NDArray[np.uint32]) -> tuple[Bools, npt.NDArray[np.uint8]]:
        """Return for each character whether it is a space, and its number of line breaks."""
        return self.numbers(codes) == OUTSIDE, self._breaks[codes]

    def glued(self, codes: npt.NDArray[np.uint32]) -> Bools:
        """Return for each character whether no token may end between it and the next.

        These are characters before combining marks or skin tones, around joiners, and inside flags.
        """
        glue = self._glue[codes]
        out = np.zeros(len(codes), dtype=np.bool_)
        before, after = glue[:-1], glue[1:]
        out[:-1] = (before & _FORWARD > 0) | (after & _BACKWARD > 0) | (before & after & _FLAG > 0)
        return out

    def _learn(self, code: int) -> None:
        character = chr(code)
        if is_space(character):
            self._breaks[code] = _BREAKS.get(character, 0)
            self._numbers[code] = OUTSIDE
            return
        number = FIRST_CATEGORY + CATEGORIES.index(unicodedata.category(character))
        self._folds[code] = ord(_folded(character)) if character.isalnum() else 0
        self._glue[code] = _glue(character)
        if self._script_numbers:
            self._scripts[code] = self._script_numbers.get(script(character), 0)
        key = "0" if character.isdecimal() else character
        self._numbers[code] = self._known.get(key, number)  # last: a number other than 0 means that it is cached

    def read(self, codes: npt.NDArray[np.uint32], *, begins: bool = True) -> Reading:
        """Convert the code points of a text to the input of a network; trailing spaces are ignored.

        With `begins`, the text begins with a paragraph. Otherwise, it is the rest of a longer text, from the beginning
        of a chunk on.
        """
        numbers = self.numbers(codes)
        inside = np.flatnonzero(numbers != OUTSIDE)
        if not len(inside):
            none = np.zeros(0, dtype=np.int64)
            return Reading(none, none, none, none, none, none)
        apart = np.ones(len(inside), dtype=np.bool_)  # whether spaces precede it
        np.not_equal(np.diff(inside), 1, out=apart[1:])
        apart[0] = begins or inside[0] > 0
        runs = np.flatnonzero(apart)
        places = np.arange(len(inside)) + np.cumsum(apart)  # indices of form characters among all that are read
        size = len(inside) + len(runs)
        characters = np.empty(size, dtype=np.int64)
        characters[places] = numbers[inside]
        origin = np.zeros(len(inside), dtype=np.int64)
        origin[runs] = runs
        rank = np.arange(len(inside)) - np.maximum.accumulate(origin)
        starts = np.flatnonzero(rank % LONGEST == 0)  # of chunks, among the form characters
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
            self.features(codes, back) if self.dictionary.longest else None,
            self._grams_of(self.letters(codes, back)) if len(self._grams) else None,
        )

    def letters(self, codes: npt.NDArray[np.uint32], places: Numbers) -> npt.NDArray[np.uint32]:
        """Return the code points of the characters of a reading as the dictionary has them.

        `places` are the reading's positions in the text with the code points `codes`. Spaces get a number that no
        character has.
        """
        plain = codes[places]
        folds = self._folds[plain]
        out: npt.NDArray[np.uint32] = np.where(places < 0, _CODES, np.where(folds > 0, folds, plain)).astype(np.uint32)
        return out

    def _grams_of(self, letters: npt.NDArray[np.uint32]) -> Numbers:
        """Return the id of each character together with the next, `UNKNOWN` if it is not in the vocabulary."""
        wide = letters.astype(np.uint64)
        keys = wide * np.uint64(_CODES + 1) + np.append(wide[1:], np.uint64(_CODES))
        at = np.minimum(np.searchsorted(self._grams, keys), len(self._grams) - 1)
        return np.where(self._grams[at] == keys, self._gram_order[at] + 1, UNKNOWN)

    def features(
        self, codes: npt.NDArray[np.uint32], places: Numbers, hidden: Bools | None = None
    ) -> npt.NDArray[np.uint8]:
        """Return the dictionary features of characters, and one column for each script.

        `codes` and `places` are those of `letters`. `hidden`, [n, longest], says which words are read as unknown.
        """
        matches = self.dictionary.matches(self.letters(codes, places))
        if hidden is not None:
            matches &= ~hidden
        scripts = np.where(places < 0, 0, self._scripts[codes[places]])
        one_hot = scripts[:, None] == np.arange(1, len(self._script_numbers) + 1)
        return np.hstack([self.dictionary.features(matches), one_hot.astype(np.uint8)])

    def _paired(self, words: Numbers, apart: Bools) -> Numbers:
        """Return for each chunk the id of the pair of its word and the next, `UNKNOWN` if it is not in the vocabulary.

        Pairs do not cross a blank line: `apart` says which chunks follow one.
        """
        keys = words[:-1] * self._known_words + words[1:]
        rows = np.minimum(np.searchsorted(self._pairs, keys, sorter=self._pair_order), len(self._pairs) - 1)
        at = self._pair_order[rows]
        out = np.full(len(words), UNKNOWN, dtype=np.int64)
        out[:-1] = np.where((self._pairs[at] == keys) & ~apart[1:], at + 1, UNKNOWN)
        return out

    def _gaps(
        self,
        codes: npt.NDArray[np.uint32],
        inside: npt.NDArray[Any],
        runs: npt.NDArray[Any],
        chunks: npt.NDArray[Any],
    ) -> Numbers:
        """Return the id of the spaces before each run of other characters.

        `inside` has the positions of all characters that are no spaces, and `runs` the indices in it where runs begin.
        `chunks` has the number of chunks before each run.
        """
        broken = self._breaks[codes[: inside[-1]]] if len(inside) else self._breaks[:0]  # before the last run's end
        if not broken.any():  # a shortcut for most short texts
            return np.full(len(runs), SPACE, dtype=np.int64)
        breaks = starts_of(broken)
        before = np.where(runs > 0, inside[runs - 1] + 1, 0)
        lines = (breaks[inside[runs]] - breaks[before]) << self._lines_apart
        begun = np.maximum.accumulate(np.where(lines > 0, chunks, 0))  # chunks before the line of the run
        short = chunks - np.concatenate([[0], begun[:-1]]) < FEW
        gaps: Numbers = np.select([lines > 1, lines < 1, short], [PARAGRAPH, SPACE, SHORT_LINE], LINE)
        return gaps

    def _words(self, codes: npt.NDArray[np.uint32], starts: npt.NDArray[Any]) -> Numbers:
        """Return the id of each chunk's word, which is found with a hash of its letters and digits.

        `codes` are the characters without spaces, and `starts` the indices in them where chunks begin.
        """
        folds = self._folds[codes].astype(np.uint64)
        counted = np.cumsum(folds != 0)
        before = counted[starts] - (folds[starts] != 0)
        rank = counted - 1 - np.repeat(before, np.diff(np.append(starts, len(codes))))
        hashes = np.add.reduceat(folds * _POWERS[np.maximum(rank, 0)], starts)
        at = np.minimum(np.searchsorted(self._hashes[:-1], hashes), len(self._hashes) - 1)
        words = np.where(self._hashes[at] == hashes, self._ids[at], UNKNOWN)
        words[hashes == 0] = WORDLESS
        return words


def folded(word: str) -> str:
    """Return a word as dictionaries have it: in lower case, with 0 for every digit."""
    return "".join(_folded(character) if character.isalnum() else character for character in word)


def script(character: str) -> str:
    """Return the first word of a letter's name in Unicode, such as `HIRAGANA`; an empty text for other characters."""
    return unicodedata.name(character, "").split(" ")[0] if character.isalpha() else ""


def scripts_of(text: str) -> tuple[str, ...]:
    """Return the most frequent scripts of a text, at most `MOST_SCRIPTS`, the most frequent first."""
    counts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        counts[script(character)] += count
    del counts[""]
    return tuple(_frequent(counts, 1)[:MOST_SCRIPTS])


def grams_of(text: str, least: int) -> str:
    """Return the pairs of neighbouring characters that occur at least `least` times in a text, without spaces."""
    plain = folded(text)
    counts = Counter(first + second for first, second in pairwise(plain))
    return "".join(gram for gram in _frequent(counts, least) if not any(map(is_space, gram)))


def grams_known(vocabulary: CharacterVocabulary) -> int:
    """Return the number of embeddings of pairs of characters, including that for unknown pairs; 0 if there are none."""
    return len(vocabulary.grams) // 2 + 1 if vocabulary.grams else 0


def features_known(vocabulary: CharacterVocabulary) -> int:
    """Return the number of dictionary features and scripts of a character; 0 if there is no dictionary."""
    return vocabulary.dictionary.width + len(vocabulary.scripts) if vocabulary.dictionary.longest else 0


def _glue(character: str) -> int:
    tone = "\U0001f3fb" <= character <= "\U0001f3ff"
    if unicodedata.category(character)[0] == "M" or tone or character >= "\U000e0020":
        return _BACKWARD
    if character == "\u200d":
        return _FORWARD | _BACKWARD
    return _FLAG if "\U0001f1e6" <= character <= "\U0001f1ff" else 0


def _hashes(words: Sequence[str]) -> npt.NDArray[np.uint64]:
    folds = np.frombuffer("".join(words).encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    lengths = np.array([len(word) for word in words], dtype=np.int64)
    stops = np.cumsum(lengths)
    ranks = np.arange(len(folds)) - np.repeat(stops - lengths, lengths)
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(folds * _POWERS[ranks])])
    hashes: npt.NDArray[np.uint64] = sums[stops] - sums[stops - lengths]
    return hashes


def words_known(vocabulary: CharacterVocabulary) -> int:
    """Return the number of word embeddings, including those for unknown words and for chunks without a word."""
    return len(vocabulary.words) + WORDLESS + 1


def pairs_known(vocabulary: CharacterVocabulary) -> int:
    """Return the number of embeddings of word pairs, including that for unknown pairs; 0 if there are no pairs."""
    return len(vocabulary.pairs) + 1 if vocabulary.pairs else 0


def characters_known(vocabulary: CharacterVocabulary) -> int:
    """Return the number of character embeddings, including those for spaces and Unicode categories."""
    return len(vocabulary.characters) + FIRST_CHARACTER
