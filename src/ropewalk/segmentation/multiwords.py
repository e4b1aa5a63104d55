"""Splitting of multiword tokens into words, learnt from a treebank.

A table has the words of whole tokens. For tokens that are not in it, changes of their ends or beginnings produce words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from ropewalk.core.letters import combines, lower
from ropewalk.models.packed import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk.segmentation.tokens import RawToken

_APOSTROPHES = dict.fromkeys(map(ord, "\u2019\u2018\u0060\u00b4\u02bc"), "'")
RECURRING = 3  # occurrences
CONTEXT = 3  # characters beside a change that its key may also include


class Change(NamedTuple):
    """A change of a token's end or beginning that splits the token into words.

    `length` characters are removed there and become `words`. The rest of the token is a word too, with the text `kept`
    added where the characters were removed.
    """

    length: int
    kept: str
    words: tuple[str, ...]

    @classmethod
    def from_json(cls, stored: list[Any]) -> Change:
        """Read a change from a JSON list: length, kept text, words; raise `TypeError` if the types are wrong."""
        length, kept, *words = stored
        if type(length) is not int or length < 0 or not isinstance(kept, str):
            raise TypeError(f"{stored!r:.40} where a number and texts are expected")
        return cls(length, kept, _words(words) if words else ())


Changes = dict[str, Change]  # by a token's end or beginning, which includes at least the changed characters


@dataclass(frozen=True, slots=True)
class Splitter:
    """Splitter of multiword tokens into words.

    `table` has the words of whole tokens. `endings` and `beginnings` have changes, by the end or beginning of the
    tokens that they split. Tokens in `single` are one word, even if a change matches. All keys are in lower case, with
    `'` for any apostrophe. After a change of its end, the rest of a token is one word, or several if it is in `table`.
    If the words concatenate to the token, they have its letters; otherwise, they only follow its casing.
    """

    table: dict[str, tuple[str, ...]] = field(default_factory=dict)
    endings: Changes = field(default_factory=dict)
    beginnings: Changes = field(default_factory=dict)
    single: frozenset[str] = frozenset()

    @classmethod
    def learn(cls, tokens: Iterable[RawToken]) -> Splitter:
        """Learn a splitter from the tokens of a treebank: the most frequent words of each multiword token, and changes.

        The table contains only the tokens that changes do not split correctly. A token that is never split in the data
        stays one word.
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
            words = tuple(map(plain, token.words))
            cut = "".join(words) == whole
            seen[whole][words if cut else token.words] += 1
            before, after = _alike(whole, words[0]), _alike(whole[::-1], words[-1][::-1])
            if before and (before >= after or cut):
                change = Change(len(whole) - before, words[0][before:], words[1:])
                ends.update((whole[-size:], change) for size in _sizes(change, whole))
            if after and (after > before or cut):
                change = Change(len(whole) - after, words[-1][: len(words[-1]) - after], words[:-1])
                begins.update((whole[:size], change) for size in _sizes(change, whole))
        endings, beginnings = (
            dict(
                key_and_change
                for key_and_change, count in reversed(some.most_common())
                if _likely(key_and_change[1], count)
            )
            for some in (ends, begins)
        )
        rules = cls({}, endings, beginnings)
        table = {whole: many.most_common(1)[0][0] for whole, many in seen.items()}
        unexplained = {whole: words for whole, words in sorted(table.items()) if rules.split(whole) != words}
        single = {text for text in single.difference(seen) if len(rules.split(text)) > 1}
        return cls(unexplained, endings, beginnings, frozenset(single))

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Splitter:
        """Build a splitter from the result of `to_json`.

        Files of earlier versions have `suffixes` instead of changes: ends that are cut off.
        """
        table = {text: _words(words) for text, words in stored["table"].items()}
        if "suffixes" in stored:
            return cls(table, {end: Change(len(end), "", _words(words)) for end, words in stored["suffixes"].items()})
        endings, beginnings = (
            {text: Change.from_json(change) for text, change in stored[name].items()}
            for name in ("endings", "beginnings")
        )
        return cls(table, endings, beginnings, frozenset(texts_of(stored.get("single", []))))

    def to_json(self) -> dict[str, Any]:
        """Return the splitter as an object that can be written as JSON."""
        changes = {
            name: {key: [*change[:2], *change.words] for key, change in sorted(getattr(self, name).items())}
            for name in ("endings", "beginnings")
        }
        table = {text: list(words) for text, words in self.table.items()}
        return {"table": table, **changes, **({"single": sorted(self.single)} if self.single else {})}

    def split(self, token: str) -> tuple[str, ...]:
        """Return the words of a token; the token alone if it cannot be split."""
        low = plain(token)
        if low in self.single:
            return (token,)
        if low in self.table:
            return cased(token, self.table[low])
        for size in range(len(low) - 1, 0, -1):
            ending, beginning = self.endings.get(low[-size:]), self.beginnings.get(low[:size])
            if beginning is not None and (ending is None or len(self.beginnings) > len(self.endings)):
                return _with_marks(cased(token, (*beginning.words, beginning.kept + token[beginning.length :])))
            if ending is not None:
                rest = len(low) - ending.length
                first = self.table.get(low[:rest] + ending.kept, (token[:rest] + ending.kept,))
                return _with_marks(cased(token, (*first, *ending.words)))
        return (token,)


def _words(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - any JSON
    """Return a JSON list of words as a tuple; raise `TypeError` unless it has words, all of them texts, none empty."""
    if not isinstance(value, list) or not value or not all(isinstance(word, str) and word for word in value):
        raise TypeError(f"{value!r:.40} where a list of words is expected")
    return tuple(value)


def _likely(change: Change, count: int) -> bool:
    """Return whether a change is no error of annotation: one that leaves the token as it is must recur."""
    return count >= RECURRING or change.length > 0 or change.kept != ""


def _sizes(change: Change, token: str) -> range:
    """Return the lengths of a token's ends or beginnings under which a change is stored."""
    return range(max(change.length, 1), min(change.length + CONTEXT + 1, len(token)))


def _alike(first: str, second: str) -> int:
    """Return the length of the longest common prefix of two texts."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def plain(text: str) -> str:
    """Return a text in lower case, with `'` for any apostrophe; it has as many characters as before."""
    return lower(text).translate(_APOSTROPHES)


def _with_marks(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a token such that none begins with a combining mark; marks move to the word before."""
    out = [words[0]]
    for word in words[1:]:
        rest = word.lstrip("".join(character for character in word if combines(character)))
        out[-1] += word[: len(word) - len(rest)]
        out += [rest] * bool(rest)
    return tuple(out)


def cased(token: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a token with its upper and lower case.

    If the words concatenate to the token, their letters are those of the token. Otherwise, all are in upper case if the
    token is, or the first begins with a capital if the token does.
    """
    lengths = [len(word) for word in words]
    if plain("".join(words)) == plain(token) and sum(lengths) == len(token):
        stops = list(accumulate(lengths))
        return tuple(token[stop - length : stop] for stop, length in zip(stops, lengths, strict=True))
    if token.isupper() and len(token) > 1:
        return tuple(word.upper() for word in words)
    if token[0].isupper():
        return (words[0][:1].upper() + words[0][1:], *words[1:])
    return words
