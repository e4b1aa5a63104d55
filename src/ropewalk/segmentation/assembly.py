"""Conversion of a text with marks on its characters to a treebank; any combination of marks is allowed.

A token ends at an `END` mark, before spaces unless a `JOIN` mark continues it, before a blank line, and at the end of
the text. It also ends after `MOST_CHARACTERS` characters without a space, or after `MOST_STRETCHES` spans with spaces
between them. A sentence ends at a `SENTENCE` mark, before a blank line, at the end of the text, and after `MOST_TOKENS`
tokens. Rules override marks (see `rules`). Words have neither heads nor tags. Each run of spaces inside a word becomes
one space in its form. Positions in the text are counted in code points.
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

MOST_CHARACTERS = 1_000  # of a token without spaces
MOST_STRETCHES = 20  # spans of a token, with spaces between them
MOST_TOKENS = 2_000  # of a sentence
MOST_HELD = 1 << 22  # characters of a text that comes in pieces
LineUnit = Literal["sentence", "paragraph"] | None  # what each line is, if that is known
SENTENCES = 300  # of a treebank, if there is more text
BETWEEN = "\n\n"  # between several texts: a blank line, which no token or sentence crosses
_SPACE, _NO_SPACE = 0, 1  # ids of the most frequent texts after a token: one space, and nothing
_DOCUMENT, _PARAGRAPH, _NOTHING = ("", True), (None, True), (None, False)  # what begins with a sentence, for `Heading`


@dataclass(frozen=True, slots=True, eq=False)
class Marked:
    """A part of a text, with the marks of each character, whether it is a space, and its number of line breaks.

    `last` says whether the text ends with this part.
    """

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

    def after(self, index: int) -> Marked:
        """Return the rest of the part from the character with this index on."""
        return Marked(self.text[index:], self.marks[index:], self.spaces[index:], self.breaks[index:], self.last)


@dataclass(frozen=True, slots=True, eq=False)
class _Tokens:
    """The tokens of a part of a text; `starts` and `stops` are the positions where tokens begin and end."""

    starts: npt.NDArray[Any]
    stops: npt.NDArray[Any]
    multiword: Bools
    spaced: Bools  # whether there are spaces inside
    ends: npt.NDArray[Any]  # the index of each sentence's last token
    paragraph: Bools  # whether a blank line follows the token
    following: int = -1  # the position of the token after the last, -1 if there is none

    def part(self, low: int, high: int, ends: npt.NDArray[Any]) -> _Tokens:
        """Return the tokens from index `low` up to `high`; `ends` has the index of each sentence's last token."""
        here = slice(low, high)
        following = int(self.starts[high]) if high < len(self.starts) else -1
        tokens = (self.starts[here], self.stops[here], self.multiword[here], self.spaced[here])
        return _Tokens(*tokens, ends - low, self.paragraph[here], following)


def build(
    parts: Iterable[Marked], splitter: Splitter, rules: Rules | None = NEUTRAL, each_line: LineUnit = None
) -> Iterator[Treebank]:
    """Yield treebanks of the consecutive sentences of a text, from its marked parts.

    The sentences do not depend on how the text is cut into parts. `splitter` splits multiword tokens. If `rules` is
    None, only marks count, as for gold marks. `each_line` says whether each line is a sentence or a paragraph. If the
    text has only spaces, yield a treebank without sentences that stores the spaces.
    """
    builder = _Builder(splitter, rules, each_line)
    pending: Marked | None = None  # begins where a sentence begins
    lines = 0  # line breaks before `pending`
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
    """Raise `FormatError` if `held`, the text in memory whose sentence has not ended yet, is too long.

    `lines` is the number of lines before it. Windows and sentences have a limited number of words, so that only spaces
    between words can make it too long.
    """
    if len(held) > MOST_HELD:
        problem = (
            f"more than {MOST_HELD:,} characters without a sentence, nearly all of them spaces or control characters"
        )
        raise FormatError("<text>", lines + 1, "too-many-spaces", f"{problem}; expected text")


def build_many(
    whole: Marked, texts: Sequence[str], splitter: Splitter, rules: Rules = NEUTRAL, each_line: LineUnit = None
) -> tuple[Treebank, list[int]]:
    """Return one treebank with the sentences of several texts, and the number of sentences of each text.

    `whole` has the characters of all texts with their marks (ends of tokens and sentences), and `BETWEEN` after each
    text. The result for a text does not depend on the others:
    `BETWEEN` is a blank line, which ends sentences, and which no token and no rule crosses.
    """
    part = _ruled(whole, "", rules)
    tokens = _tokens(part, each_line)
    bounds = starts_of([len(text) + len(BETWEEN) for text in texts])
    first = np.searchsorted(tokens.starts, bounds)  # token of each text
    counts = np.diff(np.searchsorted(tokens.ends, first))
    if not len(tokens.ends):
        return _spaces("".join(texts)), [0] * len(texts)
    sizes = np.diff(first)
    nexts = np.append(tokens.starts[1:], 0)
    some = np.flatnonzero(sizes)
    nexts[first[some + 1] - 1] = bounds[some + 1] - len(BETWEEN)
    gaps = _gaps(whole.text, tokens.stops, nexts)
    shown = _shown(whole.text, tokens, gaps)
    before = {}
    headings: list[Heading] = []
    number = 0
    for text, count in enumerate(counts.tolist()):
        if count:
            start = int(bounds[text])
            spaces = whole.text[start : int(tokens.starts[first[text]])]
            if spaces:
                before[number] = spaces
            ends = tokens.ends[number : number + count]
            headings += _headings(shown[number : number + count], tokens.paragraph[ends], 1, _DOCUMENT)
        number += count
    moved = np.repeat(bounds[:-1], sizes)
    return _bank(whole.text, tokens, gaps, moved, splitter, before, headings), counts.tolist()


def _ruled(part: Marked, before: str, rules: Rules) -> Marked:
    """Return a part with rules applied to its marks; `before` is the text before it, as far as rules look back.

    If the text continues after the part, its last run of characters without a space may be incomplete, so that no token
    ends there. No sentence ends in the run before it, unless a blank line follows, because rules look ahead to the next
    run.
    """
    text = before + part.text
    marks = np.concatenate([np.zeros(len(before), dtype=part.marks.dtype), part.marks])
    rules.apply(text, marks, len(before), last=part.last)
    if not part.last:
        whole = text.rstrip()
        if whole == text:
            *rest, run = text.rsplit(maxsplit=1) or [""]
            start = len(text) - min(len(run), MOST_CHARACTERS)
            marks[start:] &= JOIN  # rules may remove it
            whole = rest[0] if rest and len(run) <= MOST_CHARACTERS else ""
        if part.breaks[max(len(whole) - len(before), 0) :].sum() <= 1:
            run = (whole.rsplit(maxsplit=1) or [""])[-1]
            marks[len(whole) - len(run) : len(whole)] &= ~SENTENCE & 0xFF
    return replace(part, marks=marks[len(before) :])


def _tokens(part: Marked, each_line: LineUnit) -> _Tokens:
    """Return the tokens of a part, and the ends of its sentences.

    If the text continues after the part, the last token may be incomplete, so that no sentence ends with it.
    """
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
    lines = np.zeros(len(last), dtype=np.int64)  # line breaks after the token
    lines[:-1] = breaks[starts[1:]] - breaks[stops[:-1]]
    paragraph = lines > (each_line != "paragraph")
    closing = lines > 0 if each_line == "sentence" else (marks[last] & SENTENCE).astype(np.bool_) | paragraph
    if part.last and len(closing):
        closing[-1] = True
    sentence_ends = np.flatnonzero(closing)
    bounds = np.append(-1, sentence_ends)
    if len(closing) and np.diff(np.append(bounds, len(closing) - 1)).max() > MOST_TOKENS:
        begun = np.zeros(len(closing), dtype=np.int64)
        inner = sentence_ends[sentence_ends + 1 < len(closing)] + 1
        begun[inner] = inner
        rank = np.arange(len(closing)) - np.maximum.accumulate(begun)
        sentence_ends = np.flatnonzero(closing | (rank % MOST_TOKENS == MOST_TOKENS - 1))
    if not part.last:
        sentence_ends = sentence_ends[sentence_ends + 1 < len(closing)]
    return _Tokens(starts, stops, (marks[last] & MULTIWORD).astype(np.bool_), spaced, sentence_ends, paragraph)


def _firsts(
    part: Marked, starts: npt.NDArray[Any], stops: npt.NDArray[Any], breaks: npt.NDArray[Any], each_line: LineUnit
) -> Bools:
    """Return for each span of characters without spaces whether it begins a token.

    Any other span continues the token of the span before it. `starts` and `stops` are the positions of the spans.
    `breaks` has the number of line breaks before each position. No token crosses a space with an `END` mark.
    """
    before, after = stops[:-1], starts[1:]
    first = np.ones(len(starts), dtype=np.bool_)
    first[1:] = (
        (part.marks[before - 1] & (JOIN | END) != JOIN)
        | (before == after)
        | (part.marks[after - 1] & END > 0)
        | (breaks[after] - breaks[before] > (each_line is None))
    )
    indices = np.arange(len(first))
    rank = indices - np.maximum.accumulate(np.where(first, indices, 0))
    first |= rank % MOST_STRETCHES == 0
    return first


class _Builder:
    """Builder of treebanks from consecutive parts of one text.

    Positions and sentence numbers are counted from the beginning of the whole text.
    """

    def __init__(self, splitter: Splitter, rules: Rules | None, each_line: LineUnit) -> None:
        self._splitter = splitter
        self._rules = rules
        self._each_line = each_line
        self._opening: tuple[str | None, bool] = _DOCUMENT  # what begins with the next sentence
        self._number = 1  # of the next sentence
        self._offset = 0  # of the next part's first character
        self._before = ""  # the text before it, as far as rules look back

    def add(self, part: Marked) -> tuple[list[Treebank], int]:
        """Return treebanks of the complete sentences of a part, and the position in it where the next one begins.

        The next part must begin at that position.
        """
        ruled = part if self._rules is None else _ruled(part, self._before, self._rules)
        tokens = _tokens(ruled, self._each_line)
        if not len(tokens.ends):
            return [], 0
        last = int(tokens.ends[-1])
        used = len(part.text) if part.last else int(tokens.starts[last + 1])
        banks = []
        for start in range(0, len(tokens.ends), SENTENCES):
            ends = tokens.ends[start : start + SENTENCES]
            low, high = int(tokens.ends[start - 1]) + 1 if start else 0, int(ends[-1]) + 1
            banks.append(self._part(part.text, tokens.part(low, high, ends), used))
        self._offset += used
        seen = len(part.text[:used].rstrip()) - CONTEXT
        self._before = self._before[min(seen, 0) :] * (seen < 0) + part.text[max(seen, 0) : used]
        return banks, used

    def _part(self, text: str, tokens: _Tokens, used: int) -> Treebank:
        following = used if tokens.following < 0 else tokens.following
        gaps = _gaps(text, tokens.stops, np.append(tokens.starts[1:], following))
        before = {0: text[: tokens.starts[0]]} if self._number == 1 and tokens.starts[0] else {}
        paragraph = tokens.paragraph[tokens.ends]
        headings = _headings(_shown(text, tokens, gaps), paragraph, self._number, self._opening)
        self._number += len(headings)
        self._opening = _PARAGRAPH if paragraph[-1] else _NOTHING
        moved = np.full(len(tokens.starts), -self._offset)
        return _bank(text, tokens, gaps, moved, self._splitter, before, headings)


def _headings(texts: list[str], paragraph: Bools, number: int, opening: tuple[str | None, bool]) -> list[Heading]:
    """Return the heading of each sentence: its number, its text, and whether a document or paragraph begins with it.

    `number` is that of the first sentence. `opening` says what begins with the first sentence. `paragraph` says for
    each sentence whether a paragraph ends with it.
    """
    begins = [opening, *[_PARAGRAPH if ended else _NOTHING for ended in paragraph.tolist()]]
    return [Heading(str(count), text, *begins[count - number]) for count, text in enumerate(texts, start=number)]


def _shown(text: str, tokens: _Tokens, gaps: Column) -> list[str]:
    """Return the text of each sentence, with one space for each run of spaces; `gaps` has the spaces after tokens."""
    odd = starts_of(gaps.ids > _NO_SPACE)
    first = np.append(0, tokens.ends[:-1] + 1)
    stops = tokens.stops[tokens.ends]
    out = [text[a:b] for a, b in zip(tokens.starts[first].tolist(), stops.tolist(), strict=True)]
    for number in np.flatnonzero(odd[tokens.ends] > odd[first]).tolist():  # the last gap is no part of the sentence
        here = slice(int(first[number]), int(tokens.ends[number]) + 1)
        rows = zip(tokens.starts[here].tolist(), tokens.stops[here].tolist(), gaps.ids[here].tolist(), strict=True)
        out[number] = "".join(text[a:b] + " " * (gap != _NO_SPACE) for a, b, gap in rows).rstrip(" ")
    return list(map(single_spaced, out)) if tokens.spaced.any() else out


def _bank(  # noqa: PLR0913, PLR0917 - tokens, and the spaces and headings around them
    text: str,
    tokens: _Tokens,
    gaps: Column,
    moved: npt.NDArray[Any],
    splitter: Splitter,
    before: dict[int, str],
    headings: list[Heading],
) -> Treebank:
    """Return a treebank of tokens.

    `gaps` has the spaces after each token, and `before` those before a sentence, by its index. `moved` is subtracted
    from each token's positions in `text`.
    """
    starts, stops = tokens.starts, tokens.stops
    forms = [text[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
    texts: dict[int, str] = {}
    written: dict[int, str] = {}
    for token in np.flatnonzero(tokens.spaced).tolist():
        form = single_spaced(forms[token])
        if form != forms[token]:
            written[token], forms[token] = forms[token], form
    first: npt.NDArray[Any] = np.arange(len(forms) + 1)
    words = forms
    split = {
        token: splitter.split(forms[token]) for token in np.flatnonzero(tokens.multiword & ~tokens.spaced).tolist()
    }
    several = {token: parts for token, parts in split.items() if len(parts) > 1}
    if several:
        sizes = np.ones(len(forms), dtype=np.int64)
        sizes[list(several)] = [len(parts) for parts in several.values()]
        first = starts_of(sizes)
        texts = {token: forms[token] for token in several}
        words = []
        done = 0
        for token, parts in several.items():
            words += [*forms[done:token], *parts]
            done = token + 1
        words += forms[done:]
    positions = frozen_ints(starts - moved), frozen_ints(stops - moved)
    surface = Surface(frozen_ints(first), texts, gaps, before, *positions, written)
    offsets = Offsets(first[np.append(0, tokens.ends + 1)])
    return Treebank.of_words(Column.of(words), offsets, tokens=surface, headings=tuple(headings))


def _spaces(text: str) -> Treebank:
    """Return a treebank without sentences that stores `text`, which has only spaces."""
    surface = replace(Surface.of_words(0), before={0: text} if text else {})
    return Treebank.of_words(Column.of([]), Offsets.of_lengths([]), tokens=surface, headings=())


def _gaps(text: str, stops: npt.NDArray[Any], nexts: npt.NDArray[Any]) -> Column:
    """Return the spaces after each token: the text between its end in `stops` and the position in `nexts`."""
    ids = np.where(nexts == stops, _NO_SPACE, _SPACE).astype(np.int32)
    names = {" ": _SPACE, "": _NO_SPACE}
    for token, start, stop in zip(range(len(ids)), stops.tolist(), nexts.tolist(), strict=True):
        if start < stop and (stop - start > 1 or text[start] != " "):
            ids[token] = names.setdefault(text[start:stop], len(names))
    return Column(frozen_ints(ids), tuple(names))
