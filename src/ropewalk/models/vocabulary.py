"""Features of words as indices: the casing, and for `bilstm` and `sru` encoders words, affixes, shapes, characters."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk import files
from ropewalk.core.letters import lower
from ropewalk.errors import FormatError
from ropewalk.models.sorted_texts import finder, searchable, texts_in, texts_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ropewalk.models.inputs import Arrays, Inputs

CASINGS = ("none", "lower", "title", "upper", "mixed")
UNKNOWN = 0  # index of anything that is not in a vocabulary
PREFIXES = (1, 2, 3)
SUFFIXES = (1, 2, 3, 4)
AFFIXES = len(PREFIXES) + len(SUFFIXES)
LEAST = 16  # predicted rows are padded to a multiple of it
MOST_CACHED = 1 << 16  # words whose indices are cached
MOST_CHARACTERS = 20  # of a longer word the first and the last ten are read
STYLES = "styles"  # the name of an array: the index of the style in which each word is read
# Marks that stand for each other, and others if none of them is known: a model reads one that it does not know as the
# first that it knows.
_SIMILAR = (
    ('"\u201c\u201d\u201e\u201f«»\u300c\u300d\u300e\u300f\uff02', "'"),
    ("'\u2018\u2019\u201a\u2039\u203a`", '"'),
    ("-\u2013\u2014\u2015\u2010\u2212", ","),
    ("*\u2022\u00b7\u25aa\u25e6", "-"),
    ("([{\uff08\u3010", '"'),
    (")]}\uff09\u3011", '"'),
    (".\u3002\uff0e", ""),
    (",\uff0c\u060c\u3001", ""),
    ("!\uff01", ".\u3002"),
    ("?\uff1f\u061f", ".\u3002"),
    (":\uff1a", ",\uff0c"),
    (";\uff1b\u061b", ",\uff0c"),
)
SIMILAR: dict[str, Sequence[str]] = {mark: marks + others for marks, others in _SIMILAR for mark in marks}
SIMILAR |= {"…": ("...", "."), "...": ("…", ".")}
_RUNS = re.compile(r"(.)\1+")
_BEGINNINGS = tuple((n, f"{n}<") for n in PREFIXES)
_ENDS = tuple((n, f"{n}>") for n in SUFFIXES)


@lru_cache(maxsize=1 << 16)
def casing(form: str) -> int:
    """Return the casing of a word as its index in `CASINGS`."""
    if form.lower() == form:
        return 1 if form.upper() != form else 0
    if form.upper() == form:
        return 3 if sum(character.isalpha() for character in form) > 1 else 2
    return 2 if form[0].isupper() and form[1:].lower() == form[1:] else 4


class _Kinds(dict[int, str]):
    """The table for `str.translate` that replaces each character by its class in a word's shape, such as `X` or `d`."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isupper():
            kind = "X"
        elif character.islower():
            kind = "x"
        elif character.isalpha():
            kind = "a"
        else:
            kind = "d" if character.isnumeric() else character
        self[code] = kind
        return kind


_KINDS = _Kinds()


def shape(form: str) -> str:
    """Return a word's shape, such as `Xxx` for `Paris` and `dd-x` for `100-m`.

    `X`, `x`, `a` and `d` stand for upper case, lower case, other letters and digits. Runs of the same character are cut
    to two characters, and the shape to eight.
    """
    return _without_runs(form.translate(_KINDS))


@lru_cache(maxsize=1 << 12)
def _without_runs(kinds: str) -> str:
    return _RUNS.sub(r"\1\1", kinds)[:8]


def affixes(form: str) -> list[str]:
    """Return a word's prefixes and suffixes in lower case; each begins with a mark for its length and side.

    The prefixes have 1 to 3 characters, the suffixes 1 to 4.
    """
    word = lower(form)
    return [mark + word[:n] for n, mark in _BEGINNINGS] + [mark + word[-n:] for n, mark in _ENDS]


def own_affixes(form: str) -> list[str]:
    """Return those of a word's `affixes` that are not longer than the word."""
    return [part for part in affixes(form) if len(part) == len("1<") + int(part[0])]


def cut(form: str) -> str:
    """Return a word, or the beginning and the end of one that is longer than `MOST_CHARACTERS` characters."""
    half = MOST_CHARACTERS // 2
    return form if len(form) <= MOST_CHARACTERS else form[:half] + form[-half:]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The vocabulary of a `bilstm` or an `sru` encoder: words, affixes, shapes and characters.

    `vectors` are the words that have a static vector. An entry's index in the network is its position plus 1; index 0
    stands for anything that is not in the vocabulary.
    """

    words: Sequence[str]
    affixes: Sequence[str]
    shapes: Sequence[str]
    characters: Sequence[str]
    vectors: Sequence[str] = ()

    @classmethod
    def of(cls, forms: Iterable[str], least_count: int, vectors: Sequence[str] = ()) -> Vocabulary:
        """Collect the words, affixes, shapes and characters that occur at least `least_count` times in `forms`.

        The most frequent are first. Affixes that are longer than their word are left out, because they say no more than
        the word. `vectors` are the words that have a static vector.
        """
        words, parts, shapes, characters = counters = tuple(Counter[str]() for _ in range(4))
        for form, count in Counter(forms).items():
            words[lower(form)] += count
            shapes[shape(form)] += count
            for part in own_affixes(form):
                parts[part] += count
            for character in form:
                characters[character] += count
        names = ("words", "affixes", "shapes", "characters")
        kept = {name: _frequent(counter, least_count) for name, counter in zip(names, counters, strict=True)}
        return cls(**kept, vectors=tuple(vectors))

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> Vocabulary:
        """Read a vocabulary from a table of `labels.json`."""
        return cls(**{name: texts_in(table[name]) for name in cls.__dataclass_fields__})

    def to_json(self) -> dict[str, Any]:
        """Return the vocabulary as a table for `labels.json`."""
        return {name: texts_table(getattr(self, name)) for name in self.__dataclass_fields__}

    def searchable(self) -> Vocabulary:
        """Return a copy whose long lists are sorted, so that words are found without decoding them all."""
        return Vocabulary(**{name: searchable(getattr(self, name)) for name in self.__dataclass_fields__})


def _frequent(counter: Counter[str], least: int) -> tuple[str, ...]:
    kept = [(text, count) for text, count in counter.items() if count >= least]
    return tuple(text for text, _ in sorted(kept, key=lambda item: (-item[1], item[0])))


class Lookup:
    """Lookup of the vocabulary indices of words' features; the indices of each word are cached."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._words, self._affixes, self._shapes, self._characters, self._vectors = (
            finder(getattr(vocabulary, name)) for name in Vocabulary.__dataclass_fields__
        )
        self._rows: dict[str, list[int]] = {}  # the indices of each word

    def features(self, forms: Sequence[str]) -> Arrays:
        """Return the vocabulary indices of the features of some words: arrays by the feature's name, one row a word.

        The indices of characters are padded with -1.
        """
        known = self._rows
        new = [form for form in dict.fromkeys(forms) if form not in known]
        if len(known) + len(new) > MOST_CACHED:
            known = self._rows = {}
            new = [*dict.fromkeys(forms)]
        if new:
            known.update(zip(new, self._indices(new), strict=True))
        rows = np.array([known[form] for form in forms], dtype=np.int64)
        rows = rows.reshape(len(forms), 3 + AFFIXES + MOST_CHARACTERS)
        at = 3 + AFFIXES
        parts: dict[str, int | slice] = {
            "words": 0,
            "vectors": 1,
            "shapes": 2,
            "affixes": slice(3, at),
            "characters": slice(at, None),
        }
        return {name: rows[:, columns].copy() for name, columns in parts.items()}

    def _similar(self, mark: str) -> str:
        """Return a mark, or one that stands for it if it is not in the vocabulary, such as `"` for `„`."""
        candidates = [mark, *SIMILAR[mark]]
        places = list(self._words(candidates))
        return next((other for other, place in zip(candidates, places, strict=True) if place >= 0), mark)

    def _indices(self, forms: Sequence[str]) -> list[list[int]]:
        """Return the vocabulary indices of each word, its static vector, its shape, its affixes and its characters."""
        forms = [self._similar(form) if form in SIMILAR else form for form in forms]
        low = [lower(form) for form in forms]
        vectors = np.array(self._vectors(forms), dtype=np.int64)
        rows = np.full((len(forms), 3 + AFFIXES + MOST_CHARACTERS), -1, dtype=np.int64)
        rows[:, 0] = self._words(low)
        rows[:, 1] = np.where(vectors < 0, self._vectors(low), vectors)
        rows[:, 2] = self._shapes([shape(form) for form in forms])
        parts = self._affixes([part for form in forms for part in affixes(form)])
        rows[:, 3 : 3 + AFFIXES] = np.array(parts, dtype=np.int64).reshape(len(forms), AFFIXES)
        rows[:, : 3 + AFFIXES] += 1  # index 0 stands for unknown
        letters = [cut(form) for form in forms]
        sizes = np.array([len(text) for text in letters], dtype=np.int64)
        within = np.arange(MOST_CHARACTERS) < sizes[:, None]
        characters = np.array(self._characters("".join(letters)), dtype=np.int64)
        rows[:, 3 + AFFIXES :][within] = characters + 1
        out: list[list[int]] = rows.tolist()
        return out


def styled(inputs: Sequence[Inputs], styles: Sequence[int]) -> list[Inputs]:
    """Return the inputs of sentences with an array more: the index of each sentence's style, for all of its words."""
    return [
        replace(sentence, arrays={**sentence.arrays, STYLES: np.full(sentence.words, style, dtype=np.int64)})
        for sentence, style in zip(inputs, styles, strict=True)
    ]


def end_to_end(inputs: Sequence[Inputs], *, filled: bool = False) -> Arrays:
    """Join the features of sentences: one array for each feature, over the words of all sentences.

    With `filled`, copies of the first sentence are appended until the number of sentences is a multiple of `LEAST`. The
    array `rows` is added, with the number of words of each sentence.
    """
    rows = list(inputs)
    if filled:
        rows += [inputs[0]] * (-len(inputs) % LEAST)
    arrays = {name: np.concatenate([sentence.arrays[name] for sentence in rows]) for name in rows[0].arrays}
    arrays["rows"] = np.array([sentence.words for sentence in rows], dtype=np.int64)
    return arrays


def read_vectors(path: str, most: int) -> tuple[list[str], npt.NDArray[np.float32]]:
    """Read static word vectors from a text file; return the first `most` words and their vectors [words, size].

    Each line has a word and the numbers of its vector. The first line may instead have the number of words and the size
    of vectors; words may then contain spaces. Raise `FormatError` if the vectors have different sizes or the file has
    none.
    """
    words: list[str] = []
    rows: list[npt.NDArray[np.float32]] = []
    declared = 0
    with files.reading(path) as file:
        for number, line in enumerate(file, start=1):
            if len(words) == most:
                break
            text = line.decode("utf-8", "replace").rstrip()
            word, _, values = text.partition(" ")
            if number == 1 and word.isdecimal() and values.isdecimal() and len(values) < 10:
                declared = int(values)
                continue
            if declared:
                word, *numbers = text.rsplit(" ", declared)
            else:
                numbers = values.split()
            try:
                row = np.array(numbers, dtype=np.float32)
            except ValueError:
                row = np.zeros(0, dtype=np.float32)
            size = declared or (len(rows[0]) if rows else len(row))
            if not size or len(row) != size:
                expected = f"{size} numbers" if size else "numbers"
                raise FormatError(
                    path, number, "vectors", f"{len(row)} numbers follow the word; expected a word and {expected}"
                )
            words.append(word)
            rows.append(row)
    if not rows:
        raise FormatError(path, 0, "vectors", "holds no vectors; expected a word and its numbers on each line")
    return words, np.stack(rows)
