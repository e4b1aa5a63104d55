"""What a word looks like, as numbers: casing, and for the `bilstm` encoder words, affixes, shapes and characters."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk import files
from ropewalk.errors import FormatError
from ropewalk.models.packed import packed_texts, texts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ropewalk.models.inputs import Arrays, Inputs

CASINGS = ("none", "lower", "title", "upper", "mixed")
UNKNOWN = 0  # number of whatever a vocabulary does not hold
PREFIXES = (1, 2, 3)
SUFFIXES = (1, 2, 3, 4)
AFFIXES = len(PREFIXES) + len(SUFFIXES)
LEAST = 16  # predicted rows come in multiples of it
MOST_CHARACTERS = 20  # of a longer word the first and the last ten are read
_RUNS = re.compile(r"(.)\1+")
_BEGINNINGS = tuple((n, f"{n}<") for n in PREFIXES)
_BEYOND = [-1] * MOST_CHARACTERS
_ENDS = tuple((n, f"{n}>") for n in SUFFIXES)


@lru_cache(maxsize=1 << 16)
def casing(form: str) -> int:
    """Number the casing of a word; its place in `CASINGS`."""
    if form.lower() == form:
        return 1 if form.upper() != form else 0
    if form.upper() == form:
        return 3 if sum(character.isalpha() for character in form) > 1 else 2
    return 2 if form[0].isupper() and form[1:].lower() == form[1:] else 4


class _Kinds(dict[int, str]):
    """What each character becomes in a word's shape, as `str.translate` asks for it."""

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
    """Write a word's shape: `Xx` for capitalized, `dd-x`, … with runs cut to two."""
    return _without_runs(form.translate(_KINDS))


@lru_cache(maxsize=1 << 12)
def _without_runs(kinds: str) -> str:
    return _RUNS.sub(r"\1\1", kinds)[:8]


def affixes(form: str) -> list[str]:
    """Cut a word's beginnings and ends, lower case, each marked by its side and length."""
    word = form.lower()
    return [mark + word[:n] for n, mark in _BEGINNINGS] + [mark + word[-n:] for n, mark in _ENDS]


def cut(form: str) -> str:
    """Keep the beginning and the end of a very long word."""
    half = MOST_CHARACTERS // 2
    return form if len(form) <= MOST_CHARACTERS else form[:half] + form[-half:]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words, affixes, shapes and characters that a `bilstm` encoder knows; number 0 is any other."""

    words: tuple[str, ...]
    affixes: tuple[str, ...]
    shapes: tuple[str, ...]
    characters: tuple[str, ...]
    vectors: tuple[str, ...] = ()

    @classmethod
    def of(cls, forms: Iterable[str], least_count: int, vectors: Sequence[str] = ()) -> Vocabulary:
        """Take what occurs often enough, most frequent first."""
        counts = Counter(forms)
        words: Counter[str] = Counter()
        parts: Counter[str] = Counter()
        shapes: Counter[str] = Counter()
        characters: Counter[str] = Counter()
        for form, count in counts.items():
            words[form.lower()] += count
            shapes[shape(form)] += count
            for part in affixes(form):
                parts[part] += count
            for character in form:
                characters[character] += count
        return cls(
            _frequent(words, least_count),
            _frequent(parts, least_count),
            _frequent(shapes, least_count),
            _frequent(characters, least_count),
            tuple(vectors),
        )

    @classmethod
    def from_json(cls, table: dict[str, str | list[str]]) -> Vocabulary:
        """Take a vocabulary from what `labels.json` holds."""
        return cls(**{name: texts_of(table[name]) for name in cls.__dataclass_fields__})

    def to_json(self) -> dict[str, str | list[str]]:
        """Give what `labels.json` holds."""
        return {name: packed_texts(getattr(self, name)) for name in self.__dataclass_fields__}


def _frequent(counter: Counter[str], least: int) -> tuple[str, ...]:
    kept = [(text, count) for text, count in counter.items() if count >= least]
    return tuple(text for text, _ in sorted(kept, key=lambda item: (-item[1], item[0])))


class Lookup:
    """The numbers of every word's features, remembered word by word."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._words, self._affixes, self._shapes, self._characters, self._vectors = (
            dict(zip(texts, range(1, len(texts) + 1), strict=True))
            for texts in (
                vocabulary.words,
                vocabulary.affixes,
                vocabulary.shapes,
                vocabulary.characters,
                vocabulary.vectors,
            )
        )
        self._features = lru_cache(maxsize=1 << 16)(self._make)

    def features(self, forms: Sequence[str]) -> Arrays:
        """Number all features of the words of a sentence; characters are padded with -1."""
        rows = np.array([self._features(form) for form in forms], dtype=np.int64)
        rows = rows.reshape(len(forms), 3 + AFFIXES + MOST_CHARACTERS)
        return {
            "words": rows[:, 0].copy(),
            "vectors": rows[:, 1].copy(),
            "shapes": rows[:, 2].copy(),
            "affixes": rows[:, 3 : 3 + AFFIXES].copy(),
            "characters": rows[:, 3 + AFFIXES :].copy(),
        }

    def _make(self, form: str) -> list[int]:
        """Number a word, its static vector and its shape, then its affixes and its characters."""
        low = form.lower()
        character, affix = self._characters.get, self._affixes.get
        characters = [character(one, UNKNOWN) for one in cut(form)]
        return [
            self._words.get(low, UNKNOWN),
            self._vectors.get(form) or self._vectors.get(low, UNKNOWN),
            self._shapes.get(shape(form), UNKNOWN),
            *[affix(part, UNKNOWN) for part in affixes(form)],
            *characters,
            *_BEYOND[len(characters) :],
        ]


def end_to_end(inputs: Sequence[Inputs], *, filled: bool = False) -> Arrays:
    """Lay the features of all words end to end; `filled` up with copies to a multiple of sentences."""
    rows = list(inputs)
    if filled:
        rows += [inputs[0]] * (-len(inputs) % LEAST)
    arrays = {name: np.concatenate([one.arrays[name] for one in rows]) for name in rows[0].arrays}
    arrays["rows"] = np.array([one.words for one in rows], dtype=np.int64)
    return arrays


def read_vectors(path: str, most: int) -> tuple[list[str], npt.NDArray[np.float32]]:
    """Read static word vectors: a word and its numbers on each line, perhaps after a line of two counts.

    The second count is that of the numbers; where it is told, words may have spaces in them.
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
