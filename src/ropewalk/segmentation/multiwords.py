"""Which words a multiword token stands for: a table and suffixes, both learnt from a treebank."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk.segmentation.tokens import RawToken

_APOSTROPHES = dict.fromkeys(map(ord, "\u2019\u2018\u0060\u00b4\u02bc"), "'")
LEAST = 2  # how often a suffix must have been seen


@dataclass(frozen=True, slots=True)
class Splitter:
    """`table` gives the words of whole tokens, `suffixes` those of a token's end; both in lower case, with `'`.

    The rest before a suffix is one word, or several if the table says so. Where words laid end to end are the token,
    they keep its letters; else they take over its casing.
    """

    table: dict[str, tuple[str, ...]] = field(default_factory=dict)
    suffixes: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def learn(cls, tokens: Iterable[RawToken]) -> Splitter:
        """Take the most frequent words of each multiword token, and the ends of those that are cut, not changed.

        What a suffix explains is left out of the table.
        """
        seen: defaultdict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
        ends: defaultdict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
        for token in tokens:
            if len(token.words) < 2:
                continue
            whole = plain(token.text)
            words = tuple(map(plain, token.words))
            cut = "".join(words) == whole
            seen[whole][words if cut else token.words] += 1
            if cut:
                ends["".join(words[1:])][words[1:]] += 1
        suffixes = {end: words for end, many in ends.items() for words, count in many.most_common(1) if count >= LEAST}
        rules = cls({}, suffixes)
        table = {whole: many.most_common(1)[0][0] for whole, many in seen.items()}
        return cls({whole: words for whole, words in sorted(table.items()) if rules.split(whole) != words}, suffixes)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Splitter:
        """Take what `to_json` gave."""
        return cls(*({text: tuple(words) for text, words in stored[name].items()} for name in ("table", "suffixes")))

    def to_json(self) -> dict[str, Any]:
        """Give what a file of JSON can hold."""
        return {
            "table": {text: list(words) for text, words in self.table.items()},
            "suffixes": {text: list(words) for text, words in self.suffixes.items()},
        }

    def split(self, token: str) -> tuple[str, ...]:
        """Give the words of a token: itself if nothing is known of it."""
        low = plain(token)
        if low in self.table:
            return cased(token, self.table[low])
        for start in range(1, len(token)):
            if low[start:] in self.suffixes:
                rest = low[:start]
                return cased(token, (*self.table.get(rest, (rest,)), *self.suffixes[low[start:]]))
        return (token,)


def plain(text: str) -> str:
    """Write a token in lower case, and with one kind of apostrophe."""
    return text.lower().translate(_APOSTROPHES)


def cased(token: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Give words the letters of a token that they make up, or else its casing."""
    lengths = [len(word) for word in words]
    if plain("".join(words)) == plain(token) and sum(lengths) == len(token):
        stops = [sum(lengths[: place + 1]) for place in range(len(words))]
        return tuple(token[stop - length : stop] for stop, length in zip(stops, lengths, strict=True))
    if token.isupper() and len(token) > 1:
        return tuple(word.upper() for word in words)
    if token[0].isupper():
        return (words[0][:1].upper() + words[0][1:], *words[1:])
    return words
