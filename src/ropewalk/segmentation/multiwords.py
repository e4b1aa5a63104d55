"""Which words a multiword token stands for: a table and what becomes of ends or beginnings, learnt from a treebank."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ropewalk.models.packed import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk.segmentation.tokens import RawToken

_APOSTROPHES = dict.fromkeys(map(ord, "\u2019\u2018\u0060\u00b4\u02bc"), "'")
CONTEXT = 3  # characters of the rest that may decide what becomes of an end or a beginning


class Change(NamedTuple):
    """So many characters of a token give way to others, which the rest's word keeps, and to words of their own."""

    length: int
    kept: str
    words: tuple[str, ...]

    @classmethod
    def from_json(cls, stored: list[Any]) -> Change:
        """Take what a file of JSON has for it."""
        length, kept, *words = stored
        if type(length) is not int or length < 0 or not isinstance(kept, str):
            raise TypeError(f"{stored!r:.40} where a number and texts are expected")
        return cls(length, kept, _words(words) if words else ())


Changes = dict[str, Change]  # by what a token begins or ends with: at least what is changed


@dataclass(frozen=True, slots=True)
class Splitter:
    """`table` gives the words of whole tokens, the changes what becomes of a token's end or beginning.

    Tokens of `single` are one word, whatever their ends look like. All are in lower case, with `'`. The rest is one
    word, or before an end several if the table says so. Where words laid end to end are the token, they keep its
    letters; else they take over its casing.
    """

    table: dict[str, tuple[str, ...]] = field(default_factory=dict)
    endings: Changes = field(default_factory=dict)
    beginnings: Changes = field(default_factory=dict)
    single: frozenset[str] = frozenset()

    @classmethod
    def learn(cls, tokens: Iterable[RawToken]) -> Splitter:
        """Take the most frequent words of each multiword token, and what becomes of its end or its beginning.

        What changes explain is left out of the table. A token that was one word wherever it stood stays one.
        """
        single: set[str] = set()
        seen: defaultdict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
        ends: Counter[tuple[str, Change]] = Counter()
        begins: Counter[tuple[str, Change]] = Counter()
        for token in tokens:
            whole = plain(token.text)
            if len(token.words) < 2:
                single.add(whole)
                continue
            words = tuple(map(plain, token.words))
            seen[whole][words if "".join(words) == whole else token.words] += 1
            before, after = _alike(whole, words[0]), _alike(whole[::-1], words[-1][::-1])
            cut = "".join(words) == whole
            if before and (before >= after or cut):
                change = Change(len(whole) - before, words[0][before:], words[1:])
                ends.update((whole[-size:], change) for size in _sizes(change, whole))
            if after and (after > before or cut):
                change = Change(len(whole) - after, words[-1][: len(words[-1]) - after], words[:-1])
                begins.update((whole[:size], change) for size in _sizes(change, whole))
        endings, beginnings = (
            dict(text_and_change for text_and_change, _ in reversed(some.most_common())) for some in (ends, begins)
        )
        rules = cls({}, endings, beginnings)
        table = {whole: many.most_common(1)[0][0] for whole, many in seen.items()}
        unexplained = {whole: words for whole, words in sorted(table.items()) if rules.split(whole) != words}
        single = {text for text in single.difference(seen) if len(rules.split(text)) > 1}
        return cls(unexplained, endings, beginnings, frozenset(single))

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Splitter:
        """Take what `to_json` gave; earlier versions knew nothing but ends that are cut off, as `suffixes`."""
        table = {text: _words(words) for text, words in stored["table"].items()}
        if "suffixes" in stored:
            return cls(table, {end: Change(len(end), "", _words(words)) for end, words in stored["suffixes"].items()})
        endings, beginnings = (
            {text: Change.from_json(change) for text, change in stored[name].items()}
            for name in ("endings", "beginnings")
        )
        return cls(table, endings, beginnings, frozenset(texts_of(stored.get("single", []))))

    def to_json(self) -> dict[str, Any]:
        """Give what a file of JSON can hold."""
        changes = {"endings": self.endings, "beginnings": self.beginnings}
        return {
            "table": {text: list(words) for text, words in self.table.items()},
            **{
                name: {key: [*one[:2], *one.words] for key, one in sorted(some.items())}
                for name, some in changes.items()
            },
            **({"single": sorted(self.single)} if self.single else {}),
        }

    def split(self, token: str) -> tuple[str, ...]:
        """Give the words of a token: itself if nothing is known of it."""
        low = plain(token)
        if low in self.single:
            return (token,)
        if low in self.table:
            return cased(token, self.table[low])
        own = token if len(token) == len(low) else low
        for size in range(len(low) - 1, 0, -1):
            ending, beginning = self.endings.get(low[-size:]), self.beginnings.get(low[:size])
            if beginning is not None and (ending is None or len(self.beginnings) > len(self.endings)):
                return cased(token, (*beginning.words, beginning.kept + own[beginning.length :]))
            if ending is not None:
                rest = len(low) - ending.length
                first = self.table.get(low[:rest] + ending.kept, (own[:rest] + ending.kept,))
                return cased(token, (*first, *ending.words))
        return (token,)


def _words(given: Any) -> tuple[str, ...]:  # noqa: ANN401 - whatever JSON holds
    """Return the words of a token; raise unless they are texts, none of them empty."""
    if not isinstance(given, list) or not given or not all(isinstance(one, str) and one for one in given):
        raise TypeError(f"{given!r:.40} where a list of words is expected")
    return tuple(given)


def _sizes(change: Change, token: str) -> range:
    """Say how long the ends or beginnings of a token may be that tell of a change."""
    return range(max(change.length, 1), min(change.length + CONTEXT + 1, len(token)))


def _alike(one: str, other: str) -> int:
    """Count the characters with which both begin."""
    return next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )


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
