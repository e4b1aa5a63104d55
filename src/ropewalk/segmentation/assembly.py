"""From marks on the characters of a text to a treebank, whatever the marks are.

A token ends where a mark says so, before spaces unless a mark says that it goes on over them, before a blank line, at
the end of the text, and after `MOST_CHARACTERS` without or `MOST_STRETCHES` with spaces between them. A sentence ends
with a token where a mark says so, before a blank line, at the end of the text, and after `MOST_TOKENS`. Rules come
before marks (see `rules`). Words have neither heads nor tags; spaces inside of one are a single one in its form. Places
in the text are counted in code points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets, starts_of
from ropewalk.errors import FormatError
from ropewalk.segmentation.alignment import END, JOIN, MULTIWORD, SENTENCE
from ropewalk.segmentation.reading import single_spaced
from ropewalk.segmentation.rules import CONTEXT, NEUTRAL
from ropewalk.treebank.surface import Heading, Surface
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ropewalk.core.arrays import Bools
    from ropewalk.segmentation.alignment import MarkBits
    from ropewalk.segmentation.multiwords import Splitter
    from ropewalk.segmentation.rules import Rules

MOST_CHARACTERS = 1_000  # of a token, one after the other
MOST_STRETCHES = 20  # of a token, with spaces between them
MOST_TOKENS = 2_000  # of a sentence
MOST_HELD = 1 << 22  # characters of a text that comes in pieces
LineUnit = Literal["sentence", "paragraph"] | None  # what each line is, if it is known
SENTENCES = 300  # of a treebank, when there is more text
BETWEEN = "\n\n"  # several texts: a blank line, over which nothing reaches
_SPACE, _NO_SPACE = 0, 1  # numbers of what mostly follows a token
_DOCUMENT, _PARAGRAPH, _NOTHING = ("", True), (None, True), (None, False)  # what begins with a sentence, for `Heading`


@dataclass(frozen=True, slots=True, eq=False)
class Marked:
    """A part of a text, perhaps its last: marks of its characters, which are spaces, how many lines each breaks."""

    text: str
    marks: MarkBits
    spaces: Bools
    breaks: npt.NDArray[np.uint8]
    last: bool

    def __add__(self, other: Marked) -> Marked:
        return Marked(
            self.text + other.text,
            np.concatenate([self.marks, other.marks]),
            np.concatenate([self.spaces, other.spaces]),
            np.concatenate([self.breaks, other.breaks]),
            other.last,
        )

    def after(self, place: int) -> Marked:
        """Give the rest from a place on."""
        return Marked(self.text[place:], self.marks[place:], self.spaces[place:], self.breaks[place:], self.last)


@dataclass(frozen=True, slots=True, eq=False)
class _Tokens:
    """The tokens of a stretch of text: places of their first characters and just after their last ones."""

    starts: npt.NDArray[Any]
    stops: npt.NDArray[Any]
    multiword: Bools
    spaced: Bools  # whether there are spaces inside
    ends: npt.NDArray[Any]  # the number of each sentence's last token
    paragraph: Bools  # whether a blank line follows the token
    following: int = -1  # the place of the token after the last, -1 if there is none

    def part(self, low: int, high: int, ends: npt.NDArray[Any]) -> _Tokens:
        """Keep the tokens of some sentences, whose last ones are given."""
        here = slice(low, high)
        following = int(self.starts[high]) if high < len(self.starts) else -1
        tokens = (self.starts[here], self.stops[here], self.multiword[here], self.spaced[here])
        return _Tokens(*tokens, ends - low, self.paragraph[here], following)


def build(
    parts: Iterable[Marked], splitter: Splitter, rules: Rules | None = NEUTRAL, each_line: LineUnit = None
) -> Iterator[Treebank]:
    """Make treebanks of consecutive parts of a text, to the last; how it is cut into parts makes no difference.

    Without rules, marks are all that counts: they may be known to be right. Text of nothing but spaces becomes a
    treebank of no sentences that holds them.
    """
    builder = _Builder(splitter, rules, each_line)
    pending: Marked | None = None  # begins where a sentence begins
    lines = 0  # before it
    for part in parts:
        pending = part if pending is None else pending + part
        banks, used = builder.add(pending)
        yield from banks
        lines += pending.text.count("\n", 0, used)
        pending = pending.after(used)
        demand_short(pending.text, lines)
    if pending is not None and pending.text:
        yield _spaces(pending.text)


def demand_short(held: str, lines: int) -> None:
    """Raise if the text held until a sentence ends is too long; `lines` counts those before it.

    The words of a window and of a sentence are limited, so only the spaces between them can make it so long.
    """
    if len(held) > MOST_HELD:
        raise FormatError(
            "<text>",
            lines + 1,
            "too-many-spaces",
            f"more than {MOST_HELD:,} characters, nearly all of them spaces or control characters, the most that are "
            "held at once; expected text",
        )


def build_many(
    whole: Marked, texts: Sequence[str], splitter: Splitter, rules: Rules = NEUTRAL, each_line: LineUnit = None
) -> tuple[Treebank, list[int]]:
    """Make one treebank of several texts, which lie in `whole` with `BETWEEN` after each; count each one's sentences.

    Every text becomes what it would alone: blank lines end sentences, and no token and no rule reaches over one.
    """
    part = _ruled(whole, "", rules)
    found = _tokens(part, each_line)
    bounds = starts_of([len(text) + len(BETWEEN) for text in texts])
    first = np.searchsorted(found.starts, bounds)  # token of each text
    counts = np.diff(np.searchsorted(found.ends, first))
    if not len(found.ends):
        return _spaces("".join(texts)), [0] * len(texts)
    sizes = np.diff(first)
    nexts = np.append(found.starts[1:], 0)
    some = np.flatnonzero(sizes)
    nexts[first[some + 1] - 1] = bounds[some + 1] - len(BETWEEN)
    gaps = _gaps(whole.text, found.stops, nexts)
    shown = _shown(whole.text, found, gaps)
    before = {}
    headings: list[Heading] = []
    number = 0
    for text, count in enumerate(counts.tolist()):
        if count:
            start = int(bounds[text])
            spaces = whole.text[start : int(found.starts[first[text]])]
            if spaces:
                before[number] = spaces
            ends = found.ends[number : number + count]
            headings += _headings(shown[number : number + count], found.paragraph[ends], 1, _DOCUMENT)
        number += count
    moved = np.repeat(bounds[:-1], sizes)
    return _bank(whole.text, found, gaps, moved, splitter, before, headings), counts.tolist()


def _ruled(part: Marked, before: str, rules: Rules) -> Marked:
    """Put rules in place of marks; `before` is what precedes, as far as they look back.

    Unless it is the text's last, nothing ends in the last run of characters without a space, which may not be whole,
    and no sentence in the one before it: rules look ahead to the next, but for a blank line.
    """
    text = before + part.text
    marks = np.concatenate([np.zeros(len(before), dtype=part.marks.dtype), part.marks])
    rules.apply(text, marks, len(before), last=part.last)
    if not part.last:
        whole = text.rstrip()
        if whole == text:
            *rest, run = text.rsplit(maxsplit=1) or [""]
            start = len(text) - min(len(run), MOST_CHARACTERS)
            marks[start:] &= JOIN  # which rules may take away
            whole = rest[0] if rest and len(run) <= MOST_CHARACTERS else ""
        if part.breaks[max(len(whole) - len(before), 0) :].sum() <= 1:
            run = (whole.rsplit(maxsplit=1) or [""])[-1]
            marks[len(whole) - len(run) : len(whole)] &= ~SENTENCE & 0xFF
    return replace(part, marks=marks[len(before) :])


def _tokens(part: Marked, each_line: LineUnit) -> _Tokens:
    """Find tokens and sentences; unless it is the end of the text, its last token may not be whole."""
    inside = np.flatnonzero(~part.spaces)
    marks = part.marks[inside]
    ends = (marks & END).astype(np.bool_)
    ends[:-1] |= inside[1:] - inside[:-1] > 1
    if len(ends):
        ends[-1] = True
    last = np.flatnonzero(ends)
    lengths = last.copy()
    lengths[1:] -= last[:-1]
    lengths[:1] += 1
    if len(lengths) and lengths.max() > MOST_CHARACTERS:
        rank = np.arange(len(inside)) - np.repeat(last - lengths + 1, lengths)
        last = np.flatnonzero(ends | (rank % MOST_CHARACTERS == MOST_CHARACTERS - 1))
    stops = inside[last] + 1
    starts = inside[np.append(0, last[:-1] + 1)] if len(last) else stops
    breaks = starts_of(part.breaks)
    spaced = np.zeros(len(last), dtype=np.bool_)
    if (marks & JOIN).any():
        first = _firsts(part, starts, stops, breaks, each_line)
        tokens = np.flatnonzero(first)
        starts, spaced = starts[tokens], np.diff(tokens, append=len(first)) > 1
        final = np.append(tokens[1:], len(first)) - 1
        stops, last = stops[final], last[final]
    lines = np.zeros(len(last), dtype=np.int64)  # that end after the token
    lines[:-1] = breaks[starts[1:]] - breaks[stops[:-1]]
    paragraph = lines > (each_line != "paragraph")
    closing = lines > 0 if each_line == "sentence" else (marks[last] & SENTENCE).astype(np.bool_) | paragraph
    if part.last and len(closing):
        closing[-1] = True
    found = np.flatnonzero(closing)
    bounds = np.append(-1, found)
    if len(closing) and np.diff(np.append(bounds, len(closing) - 1)).max() > MOST_TOKENS:
        begun = np.zeros(len(closing), dtype=np.int64)
        begun[found[found + 1 < len(closing)] + 1] = found[found + 1 < len(closing)] + 1
        rank = np.arange(len(closing)) - np.maximum.accumulate(begun)
        found = np.flatnonzero(closing | (rank % MOST_TOKENS == MOST_TOKENS - 1))
    if not part.last:
        found = found[found + 1 < len(closing)]
    return _Tokens(starts, stops, (marks[last] & MULTIWORD).astype(np.bool_), spaced, found, paragraph)


def _firsts(
    part: Marked, starts: npt.NDArray[Any], stops: npt.NDArray[Any], breaks: npt.NDArray[Any], each_line: LineUnit
) -> Bools:
    """Tell which of the stretches that could be tokens begin one; any other goes on with the one before it.

    A mark on a space says that no token goes over it.
    """
    before, after = stops[:-1], starts[1:]
    first = np.ones(len(starts), dtype=np.bool_)
    first[1:] = (
        (part.marks[before - 1] & (JOIN | END) != JOIN)
        | (before == after)
        | (part.marks[after - 1] & END > 0)
        | (breaks[after] - breaks[before] > (each_line is None))
    )
    places = np.arange(len(first))
    rank = places - np.maximum.accumulate(np.where(first, places, 0))
    first |= rank % MOST_STRETCHES == 0
    return first


class _Builder:
    """Makes treebanks of consecutive parts of one text, counting characters and sentences over all of it."""

    def __init__(self, splitter: Splitter, rules: Rules | None, each_line: LineUnit) -> None:
        self._splitter = splitter
        self._rules = rules
        self._each_line = each_line
        self._opening: tuple[str | None, bool] = _DOCUMENT  # what begins with the next sentence
        self._number = 1  # of the next sentence
        self._offset = 0  # of the next part's first character
        self._before = ""  # what stands before it, as far as rules look back

    def add(self, part: Marked) -> tuple[list[Treebank], int]:
        """Make treebanks of the sentences that are whole; say where the next one begins."""
        ruled = part if self._rules is None else _ruled(part, self._before, self._rules)
        found = _tokens(ruled, self._each_line)
        if not len(found.ends):
            return [], 0
        last = int(found.ends[-1])
        used = len(part.text) if part.last else int(found.starts[last + 1])
        banks = []
        for start in range(0, len(found.ends), SENTENCES):
            ends = found.ends[start : start + SENTENCES]
            low, high = int(found.ends[start - 1]) + 1 if start else 0, int(ends[-1]) + 1
            banks.append(self._part(part.text, found.part(low, high, ends), used))
        self._offset += used
        seen = len(part.text[:used].rstrip()) - CONTEXT
        self._before = self._before[min(seen, 0) :] * (seen < 0) + part.text[max(seen, 0) : used]
        return banks, used

    def _part(self, text: str, found: _Tokens, used: int) -> Treebank:
        gaps = _gaps(text, found.stops, np.append(found.starts[1:], used if found.following < 0 else found.following))
        before = {0: text[: found.starts[0]]} if self._number == 1 and found.starts[0] else {}
        paragraph = found.paragraph[found.ends]
        headings = _headings(_shown(text, found, gaps), paragraph, self._number, self._opening)
        self._number += len(headings)
        self._opening = _PARAGRAPH if paragraph[-1] else _NOTHING
        moved = np.full(len(found.starts), -self._offset)
        return _bank(text, found, gaps, moved, self._splitter, before, headings)


def _headings(texts: list[str], paragraph: Bools, number: int, opening: tuple[str | None, bool]) -> list[Heading]:
    """Name sentences by their numbers, and say what begins with each: `opening` with the first."""
    begins = [opening, *[_PARAGRAPH if ended else _NOTHING for ended in paragraph.tolist()]]
    return [Heading(str(place), text, *begins[place - number]) for place, text in enumerate(texts, start=number)]


def _shown(text: str, found: _Tokens, gaps: Column) -> list[str]:
    """Give the running text of each sentence: one space wherever there are any."""
    odd = np.concatenate([[0], np.cumsum(gaps.ids > _NO_SPACE)])
    first = np.append(0, found.ends[:-1] + 1)
    stops = found.stops[found.ends]
    out = [text[a:b] for a, b in zip(found.starts[first].tolist(), stops.tolist(), strict=True)]
    for number in np.flatnonzero(odd[found.ends] > odd[first]).tolist():  # the last gap is no part of it
        here = slice(int(first[number]), int(found.ends[number]) + 1)
        rows = zip(found.starts[here].tolist(), found.stops[here].tolist(), gaps.ids[here].tolist(), strict=True)
        out[number] = "".join(text[a:b] + " " * (gap != _NO_SPACE) for a, b, gap in rows).rstrip(" ")
    if found.spaced.any():
        out = list(map(single_spaced, out))
    return out


def _bank(  # noqa: PLR0913, PLR0917 - all that is known of tokens
    text: str,
    found: _Tokens,
    gaps: Column,
    moved: npt.NDArray[Any],
    splitter: Splitter,
    before: dict[int, str],
    headings: list[Heading],
) -> Treebank:
    """Make a treebank of tokens; `moved` is taken off their places."""
    starts, stops = found.starts, found.stops
    forms = [text[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
    texts: dict[int, str] = {}
    written: dict[int, str] = {}
    for token in np.flatnonzero(found.spaced).tolist():
        form = single_spaced(forms[token])
        if form != forms[token]:
            written[token], forms[token] = forms[token], form
    first: npt.NDArray[Any] = np.arange(len(forms) + 1)
    words = forms
    split = {token: splitter.split(forms[token]) for token in np.flatnonzero(found.multiword & ~found.spaced).tolist()}
    several = {token: parts for token, parts in split.items() if len(parts) > 1}
    if several:
        sizes = np.ones(len(forms), dtype=np.int64)
        sizes[list(several)] = [len(parts) for parts in several.values()]
        first = starts_of(sizes)
        texts = {token: forms[token] for token in several}
        words = []
        done = 0
        for token, parts in several.items():
            words += forms[done:token]
            words += parts
            done = token + 1
        words += forms[done:]
    surface = Surface(
        frozen_ints(first),
        texts,
        gaps,
        before,
        frozen_ints(starts - moved),
        frozen_ints(stops - moved),
        written,
    )
    offsets = Offsets(first[np.append(0, found.ends + 1)])
    return Treebank.of_words(Column.of(words), offsets, tokens=surface, headings=tuple(headings))


def _spaces(text: str) -> Treebank:
    """Make a treebank of no sentences that keeps a text of nothing but spaces."""
    surface = replace(Surface.of_words(0), before={0: text} if text else {})
    return Treebank.of_words(Column.of([]), Offsets.of_lengths([]), tokens=surface, headings=())


def _gaps(text: str, stops: npt.NDArray[Any], nexts: npt.NDArray[Any]) -> Column:
    """Give the spaces after each token up to a place: mostly one, or none."""
    ids = np.where(nexts == stops, _NO_SPACE, _SPACE).astype(np.int32)
    names = {" ": _SPACE, "": _NO_SPACE}
    for place, start, stop in zip(range(len(ids)), stops.tolist(), nexts.tolist(), strict=True):
        if start < stop and (stop - start > 1 or text[start] != " "):
            ids[place] = names.setdefault(text[start:stop], len(names))
    return Column(frozen_ints(ids), tuple(names))
