"""Language identification with a linear classifier over hashed character n-grams."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
import numpy.typing as npt

from ropewalk.errors import ModelError, demand_type
from ropewalk.files import reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FOLDER: Final = Path(__file__).parent.parent / "data"
DESCRIPTION, WEIGHTS = "languages.json", "languages.int8"
UNKNOWN: Final = "und"  # the code of ISO 639 for an undetermined language
LONGEST: Final = 4000  # characters of a text that are read
ORDERS: Final = (1, 2, 3, 4)  # characters of an n-gram
PRIME, SPREAD = np.uint32(0x01000193), np.uint32(0x9E3779B1)
BLOCK_BITS: Final = 7  # a block of characters has 128 of them
LEAST_PROBABILITY: Final = 0.6
LEAST_FAMILIAR: Final = 0.8  # share of letters that must be in blocks that the language is known to use
# Spaces, digits and the punctuation of most scripts; vowel signs are kept, which `\W` would not do.
BETWEEN: Final = re.compile(r"[\s\d!-/:-@\[-`{-~\u0080-\u00bf\u2000-\u206f\u3000-\u303f\uff00-\uff0f]+")


@final
@dataclass(frozen=True, slots=True)
class LanguageGuess:
    """The identified language of a text: its code, its name in Universal Dependencies, and its probability.

    If no language is certain enough, `code` is `und`, `name` is empty, and `probability` is that of the best language.
    """

    code: str
    name: str
    probability: float

    @property
    def is_known(self) -> bool:
        """Whether a language was identified, so that `code` is not `und`."""
        return self.code != UNKNOWN


@final
class LanguageIdentifier:
    """Language identifier: a linear classifier over the hashed character n-grams of a text.

    `description["buckets"]` is the number of hash buckets. `description["languages"]` lists the languages, each with
    its `code`, `name`, `bias`, the `scale` of its weights, and `blocks`: the blocks of 128 Unicode characters that it
    uses. `weights` is an int8 array [buckets, languages].
    """

    def __init__(self, description: Mapping[str, Any], weights: npt.NDArray[np.int8]) -> None:
        self.languages: tuple[Mapping[str, Any], ...] = tuple(description["languages"])
        self._buckets = int(description["buckets"])
        if weights.shape != (self._buckets, len(self.languages)):
            expected = (self._buckets, len(self.languages))
            raise ModelError(WEIGHTS, f"has shape {weights.shape}; expected {expected}: install Ropewalk again")
        self._weights = weights
        self._scales = np.array([language["scale"] for language in self.languages])
        self._biases = np.array([language["bias"] for language in self.languages])

    @classmethod
    def load(cls, folder: Path = FOLDER) -> LanguageIdentifier:
        """Load an identifier from the files in `folder`, by default those of the package."""
        with reading(folder / DESCRIPTION) as file:
            description = json.load(file)
        with reading(folder / WEIGHTS) as file:
            weights = np.frombuffer(file.read(), dtype=np.int8)
        return cls(description, weights.reshape(-1, len(description["languages"])))

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all languages that can be identified."""
        return tuple(language["code"] for language in self.languages)

    def probabilities(self, text: str, among: Iterable[str] | None = None) -> dict[str, float]:
        """Return a dictionary from language codes to probabilities, which sum to 1.

        If `among` is given, only languages with these codes are compared. The dictionary is empty if the text has no
        letters, or none of the languages is known.
        """
        demand_type("text", text, str)
        letters = normalized(text)
        if len(letters) <= 2:
            return {}
        buckets = buckets_of(letters, self._buckets)
        sums = self._weights[buckets].sum(axis=0, dtype=np.int64)
        scores = sums * self._scales / np.sqrt(len(buckets)) + self._biases
        allowed = set(self.codes if among is None else among)
        kept = [at for at, code in enumerate(self.codes) if code in allowed]
        if not kept:
            return {}
        exponentials = np.exp(scores[kept] - scores[kept].max())
        shares = exponentials / exponentials.sum()
        return {self.codes[at]: float(share) for at, share in zip(kept, shares, strict=True)}

    def identify(self, text: str) -> LanguageGuess:
        """Return the most probable language of a text, or the code `und` if it is uncertain.

        It is uncertain if its probability is less than `LEAST_PROBABILITY`, or if too many letters of the text are in
        Unicode blocks that the language does not use.
        """
        probabilities = self.probabilities(text)
        if not probabilities:
            return LanguageGuess(UNKNOWN, "", 0.0)
        code = max(probabilities, key=probabilities.__getitem__)
        if probabilities[code] < LEAST_PROBABILITY or not self.has_letters(code, text):
            return LanguageGuess(UNKNOWN, "", probabilities[code])
        return LanguageGuess(code, self.languages[self.codes.index(code)]["name"], probabilities[code])

    def has_letters(self, code: str, text: str) -> bool:
        """Return whether a text has letters, nearly all in Unicode blocks that the language `code` uses."""
        known = np.isin(blocks_of(normalized(text)), self.languages[self.codes.index(code)]["blocks"])
        return bool(len(known)) and float(known.mean()) >= LEAST_FAMILIAR


@cache
def _own() -> LanguageIdentifier:
    return LanguageIdentifier.load()


def identify(text: str) -> LanguageGuess:
    """Return the language of a text with its probability, using the identifier of the package."""
    return _own().identify(text)


def normalized(text: str) -> str:
    """Return the first `LONGEST` characters of a text in lower case, with one space around each word.

    Spaces, digits and punctuation between words become one space.
    """
    return f" {BETWEEN.sub(' ', text[:LONGEST].lower()).strip()} "


def buckets_of(letters: str, buckets: int) -> npt.NDArray[np.uint32]:
    """Return the hash bucket, less than `buckets`, of each character n-gram of a normalized text."""
    codes = np.frombuffer(letters.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    parts = []
    for order in ORDERS:
        count = len(codes) - order + 1
        if count <= 0:
            break
        hashes = np.full(count, order, dtype=np.uint32)
        for at in range(order):
            hashes = (hashes ^ codes[at : at + count]) * PRIME
        parts.append((hashes * SPREAD >> np.uint32(8)) % np.uint32(buckets))
    return np.concatenate(parts)


def blocks_of(letters: str) -> npt.NDArray[np.uint32]:
    """Return the index of the block of 128 Unicode characters that contains each letter of a normalized text."""
    codes = np.frombuffer(letters.replace(" ", "").encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return codes >> np.uint32(BLOCK_BITS)
