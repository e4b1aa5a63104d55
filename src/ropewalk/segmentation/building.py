r"""From marks on the characters of a text to a treebank, whatever the marks are.

A token ends where a mark says so, before spaces, at the end of the text, and after `MOST_CHARACTERS`. Addresses, dashes
and ellipses are tokens whatever the marks are: treebanks are too old and too small to teach them. A sentence ends
with a token where a mark says so, before a blank line, at the end of the text, and after `MOST_TOKENS`. Words have
neither heads nor tags. MISC says where in the text a token stands, counted in code points (`TokenRange=0:5`), and what
spaces follow it unless it is one space: `SpaceAfter=No`, or `SpacesAfter=` with `\s`, `\n`, … as UDPipe writes them.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk import conllu
from ropewalk.segmentation.alignment import END, MULTIWORD, SENTENCE
from ropewalk.segmentation.tokens import escaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ropewalk.segmentation.alignment import Marks
    from ropewalk.segmentation.multiwords import Splitter
    from ropewalk.treebank import Treebank
    from ropewalk.trees import Bools

MOST_CHARACTERS = 1_000  # of a token
MOST_TOKENS = 2_000  # of a sentence
SENTENCES = 300  # of a treebank, when there is more text
ADDRESS = re.compile(  # on the web, or of mail
    r"(?<!\w)(?:https?://|ftp://|www\.)[^\s<>\"\u201c\u201d\u2018\u2019«»\u2013\u2014\[\]{}|]*[\w/&=#%~+-]"
    r"|(?<![\w.+-])[\w.+-]*\w@[\w-]+(?:\.[\w-]+)*\.\w+",
    re.IGNORECASE,
)
POSSESSIVE = re.compile(r"['\u2019]s(?!\w)", re.IGNORECASE)
ALONE = re.compile("—+|…+")  # tokens wherever they stand


@dataclass(frozen=True, slots=True, eq=False)
class Marked:
    """A part of a text, perhaps its last: marks of its characters, which are spaces, how many lines each breaks."""

    text: str
    marks: Marks
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
    ends: npt.NDArray[Any]  # the number of each sentence's last token
    paragraph: Bools  # whether a blank line follows the token


def build(parts: Iterable[Marked], splitter: Splitter, *, ruled: bool = True) -> Iterator[Treebank]:
    """Make treebanks of consecutive parts of a text, to the last; how it is cut into parts makes no difference.

    Unless it is `ruled`, marks are what counts for addresses and dashes too: they may be known to be right.
    """
    writer = _Writer(splitter, ruled=ruled)
    pending: Marked | None = None  # begins where a sentence begins
    for part in parts:
        pending = part if pending is None else pending + part
        pending = pending.after(writer.write(pending))
        while len(writer.waiting) >= (1 if part.last else SENTENCES):
            yield writer.bank()


def _ruled(part: Marked, before: str) -> Marked:
    """Mark addresses and dashes as tokens; `before` is the character that precedes.

    Nothing ends in the last run of characters without a space, if it is not the text's last: it may not be whole.
    """
    text = before + part.text
    marks = np.concatenate([np.zeros(len(before), dtype=part.marks.dtype), part.marks])
    for start, stop in (one.span() for one in ALONE.finditer(text, len(before))):
        if start:
            marks[start - 1] |= END
        marks[start : stop - 1] = 0
        marks[stop - 1] |= END
    at = len(before)
    while found := ADDRESS.search(text, at):
        start, at = found.start(), _stop(text, *found.span())
        marks[start : at - 1] = 0
        marks[at - 1] = END | (marks[at - 1] & SENTENCE)
        if start:
            marks[start - 1] |= END
        if POSSESSIVE.match(text, at):
            marks[at - 1 : at + 2] = END, 0, END
    run = "" if part.last or not text or text[-1].isspace() else text.rsplit(maxsplit=1)[-1]
    if len(run) <= MOST_CHARACTERS:
        marks[len(text) - len(run) :] = 0
    return replace(part, marks=marks[len(before) :])


def _stop(text: str, start: int, stop: int) -> int:
    """Tell where an address ends: before a bracket that it did not open, and before a genitive's ending."""
    depth = 0
    for place in range(start, stop):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth < 0:
            stop = place
            break
    else:
        if depth > 0 and text[stop : stop + 1] == ")":
            stop += 1
    if POSSESSIVE.fullmatch(text, max(stop - 2, start), stop):
        stop -= 2
    while stop < len(text) and unicodedata.category(text[stop])[0] == "M":
        stop += 1
    return max(stop, start + 1)


def _tokens(part: Marked) -> _Tokens:
    """Find tokens and sentences; unless it is the end of the text, its last token may not be whole."""
    inside = np.flatnonzero(~part.spaces)
    marks = part.marks[inside]
    ends = (marks & END).astype(np.bool_)
    ends[:-1] |= np.diff(inside) > 1
    if len(ends):
        ends[-1] = True
    last = np.flatnonzero(ends)
    lengths = np.diff(last, prepend=-1)
    if len(lengths) and lengths.max() > MOST_CHARACTERS:
        rank = np.arange(len(inside)) - np.repeat(last - lengths + 1, lengths)
        last = np.flatnonzero(ends | (rank % MOST_CHARACTERS == MOST_CHARACTERS - 1))
    stops = inside[last] + 1
    starts = inside[np.append(0, last[:-1] + 1)] if len(last) else stops
    breaks = np.concatenate([[0], np.cumsum(part.breaks, dtype=np.int64)])
    paragraph = np.zeros(len(last), dtype=np.bool_)
    paragraph[:-1] = breaks[starts[1:]] - breaks[stops[:-1]] > 1
    closing = (marks[last] & SENTENCE).astype(np.bool_) | paragraph
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
    return _Tokens(starts, stops, (marks[last] & MULTIWORD).astype(np.bool_), found, paragraph)


class _Writer:
    """Writes sentences as CoNLL-U, counting characters and sentences over the whole text."""

    def __init__(self, splitter: Splitter, *, ruled: bool) -> None:
        self._splitter = splitter
        self._ruled = ruled
        self._opening = "# newdoc\n# newpar\n"
        self._number = 0  # of the last sentence
        self._offset = 0  # of the next part's first character
        self._before = ""  # the character before it
        self.waiting: list[str] = []  # sentences that are in no treebank yet

    def bank(self) -> Treebank:
        """Take the next sentences out."""
        found = conllu.loads("".join(self.waiting[:SENTENCES]))
        del self.waiting[:SENTENCES]
        return found

    def write(self, part: Marked) -> int:
        """Write the sentences that are whole; say where the next one begins."""
        found = _tokens(_ruled(part, self._before) if self._ruled else part)
        ends = found.ends.tolist()
        if not ends:
            return 0
        starts, stops = found.starts.tolist(), found.stops.tolist()
        used = len(part.text) if part.last else starts[ends[-1] + 1]
        nexts = [*starts[1 : ends[-1] + 1], used]
        multiword, paragraph = found.multiword.tolist(), found.paragraph.tolist()
        first = 0
        for last in ends:
            self._number += 1
            here = slice(first, last + 1)
            self._sentence(part.text, starts[here], stops[here], nexts[here], multiword[here])
            if paragraph[last]:
                self._opening = "# newpar\n"
            first = last + 1
        self._offset += used
        self._before = part.text[used - 1 : used]
        return used

    def _sentence(
        self, text: str, starts: list[int], stops: list[int], nexts: list[int], multiword: list[bool]
    ) -> None:
        lines: list[str] = []
        pieces: list[str] = []
        offset = self._offset
        before = text[: starts[0]] if not offset and self._number == 1 else ""
        number = 1
        for start, stop, following, several in zip(starts, stops, nexts, multiword, strict=True):
            form, gap = text[start:stop], text[stop:following]
            misc = f"TokenRange={offset + start}:{offset + stop}"
            if before:
                misc = f"SpacesBefore={escaped(before)}|{misc}"
                before = ""
            if gap != " ":
                misc = f"SpacesAfter={escaped(gap)}|{misc}" if gap else f"SpaceAfter=No|{misc}"
            pieces += (form, " ") if gap else (form,)
            words = self._splitter.split(form) if several else ()
            if len(words) > 1:
                lines.append(f"{number}-{number + len(words) - 1}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc}\n")
                for word in words:
                    lines.append(f"{number}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_\n")
                    number += 1
            else:
                lines.append(f"{number}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc}\n")
                number += 1
        shown = "".join(pieces).rstrip(" ")
        comments = f"{self._opening}# sent_id = {self._number}\n# text = {shown}\n"
        self.waiting.append("".join([comments, *lines, "\n"]))
        self._opening = ""
