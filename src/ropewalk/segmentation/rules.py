"""What marks are to say whatever a network says, for what treebanks are too old and too small to teach.

Tokens are addresses of the web and of mail, `#tags` and `@names`, names of files and of programs such as `Node.js` and
`C++`, hearts, dashes and ellipses. No sentence ends with an abbreviation (see `abbreviations`), nor with a question or
an exclamation in quotes that goes on in a small letter or with who spoke, nor before a closing quote. Headings, quoted
lines and items of lists begin sentences, and the first two end them with their line.

Whatever is looked for is found by a character that is rare; what is around it is looked at only then.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import chain
from typing import TYPE_CHECKING

from ropewalk.segmentation import abbreviations, phrases
from ropewalk.segmentation.alignment import END, SENTENCE
from ropewalk.segmentation.reading import FEW

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.segmentation.alignment import MarkBits

CONTEXT = 500  # characters around spaces that are looked at, before those with a line break and after any
NEAR = 20  # characters before a heart, more than any word has that is looked for
ALONE = re.compile(r"([—…❤])\1*")
_QUOTES = r"[\"'\u2018\u2019\u201c\u201d«»]"
CLOSING = re.compile(rf"[.?!]{_QUOTES}+(?!\S)")
# What is rarely asked for is compiled when it is: that takes longer than to parse a short text.
_BREAKS = r"\n\x0b\x0c\x85\u2028\u2029"
GAP = rf"(?!\S)[^\S{_BREAKS}]*\n?[^\S{_BREAKS}]*"  # spaces without a blank line, or the end of the text
SPEAKER = (  # at most three words, a verb, perhaps a word, and a sign; `, "` may introduce what is said next
    rf"((?:[^\W\d_][^\s,;:?!]*{GAP}){{1,3}}?)([^\W\d_A-Z]\w*)(?:{GAP}\w+)?(?:[.;:?!]|,(?!(?:{GAP})?{_QUOTES}))"
)
NO_SPEAKER_YET = rf"(?:\S+{GAP}){{0,5}}\S*"  # too little text to know
REST = rf"[^{_BREAKS}]*"  # of a line
NO_LINE_YET = rf"{REST}(?:\n[ \t]*\S{{0,6}})?"  # too little text to know how the next line begins
ADDRESS = (  # on the web, or of mail
    r"(?i:(?<!\w)(?:https?://|ftp://|www\.)[^\s<>\"\u201c\u201d\u2018\u2019«»\u2013\u2014\[\]{}|]*[\w/&=#%~+-]"
    r"|(?<![\w.+%-])(?:mailto:)?[\w.+%-]*[\w.]@[\w-]+(?:\.[\w-]+)*\.\w+)"
)
ADDRESS_SIGN = re.compile(r"[:@wW](?:(?<=:)//|(?<=@)[\w-]|(?<=[wW])[wW]{2}\.)")
SCHEMES = ("https", "http", "ftp")
LONGEST_SCHEME = max(map(len, SCHEMES))
MAIL = "mailto:"
POSSESSIVE = re.compile(r"['\u2019]s(?!\w)", re.IGNORECASE)
_PATH = r"[^\s<>\"\u201c\u201d\u2018\u2019«»\[\]{}|]*(?<=[\w/&=#%~+-])"
NAME = re.compile(
    r"(?P<sign>(?:(?P<at>@)|#)(?<![^\s(\[{\"'\u2018\u201c«].)(?=\w*[^\W\d])\w+(?(at)(?:\.[a-z0-9_]+)*)(?!\w|\.\w)"
    r"|(?P<heart><3+)(?<![\w<]<3)(?![\w.,]*\d)(?!\w))"
    r"|(?P<name>\+(?<=\w.)(?<!\bA.)\+(?:(?<=\bC..)\d\w)?(?![\w+])|#(?<=\b[A-Z].)(?!\w))"
    rf"|(?P<site>\.(?<=\w.)(?:(?:com|edu|gov|info|io|net|org|[a-z]{{2}})(?:\.[a-z]{{2}})?/{_PATH}"
    r"|(?:(?:com|edu|gov|io|net|org)(?:\.[a-z]{2})?|(?:ac|co)\.[a-z]{2})(?![\w@-]|\.\w)))"
    r"|(?P<file>\.(?<=\w.)(?:css|csv|docx?|exe|gif|html?|jpe?g|js|json|md|mp[34]|pdf|php|png|pptx?|py|sh|ts|txt|xlsx?|"
    r"xml|ya?ml|zip)(?!\w)|\.NET(?!\w))"
)
_LINE = (
    r"[ \t]*(?:(?P<line>#{1,6}(?=[ \t])|>(?:[> \t]*>)?(?=[\w \t]))|(?P<sign>[•‣\u2043◦∙▪▫■□●○◆◇▶►➢➤✓✔✗✘])"
    r"|(?P<item>[-\u2013—*+]|\(?(?:\d{1,2}|[A-Za-z]|[ivxIVX]{2,4})\)|\d{1,3}\.)(?=[ \t]))"
)
LINE = re.compile(_LINE)
NEXT_LINE = re.compile("\n" + _LINE)


class Rules:
    """The rules of all languages, and for some of them abbreviations; a language has the name that UD gives it."""

    def __init__(self, language: str = "") -> None:
        self._abbreviations = abbreviations.pattern(language)
        self._phrases = phrases.of(language)

    def apply(self, text: str, marks: MarkBits, first: int, *, last: bool) -> None:
        """Change the marks of a text from a place on, where a sentence begins; what stands before is known.

        If it is not the last of the text, no sentence ends from where on what is still to come may change marks.
        """
        if self._abbreviations is not None:
            for found in self._abbreviations.finditer(text, first):
                if found[1] is None or found[1].islower():
                    at = found.start()
                    marks[max(at - 1, 0)] = 0
                    marks[at] = END
        unknown = self._quotes(text, marks, first, last=last)
        unknown = min(_lines(text, marks, first, last=last), unknown)
        for found in NAME.finditer(text, first):
            stop = _name(text, marks, found)
            if found["heart"]:
                self._heart(text, marks, found.start(), stop)
        for found in ALONE.finditer(text, first):
            stop = _whole(text, marks, *found.span())
            if found[1] == "❤":
                self._heart(text, marks, found.start(), stop)
        _addresses(text, marks, first)
        marks[unknown:] &= ~SENTENCE & 0xFF

    def _quotes(self, text: str, marks: MarkBits, first: int, *, last: bool) -> int:
        """End sentences after closing quotes rather than before, and not where it goes on with who spoke.

        Gives the place from where on that is not known yet.
        """
        for found in CLOSING.finditer(text, first):
            start, stop = found.span()
            spoken = text[start] != "."
            if spoken:
                marks[start] |= END
            if not (marks[start:stop] & SENTENCE).any():
                continue
            marks[start:stop] &= ~SENTENCE & 0xFF
            goes_on = spoken and self._goes_on(text, stop, last=last)
            if goes_on is None:
                return start
            if not goes_on:
                marks[stop - 1] |= END | SENTENCE
        return len(text)

    def _goes_on(self, text: str, stop: int, *, last: bool) -> bool | None:
        """Tell whether a quotation goes on, in a small letter or with who spoke; None if more text is to tell."""
        spaces = re.compile(GAP).match(text, stop)
        start = spaces.end() if spaces else stop
        if text[start : start + 1].islower():
            return True
        if not self._phrases.speech:
            return False
        if not last and len(text) < start + CONTEXT and re.compile(NO_SPEAKER_YET).fullmatch(text, start):
            return None
        speaker = re.compile(SPEAKER).match(text, start, start + CONTEXT)
        if speaker is None or speaker[2] not in self._phrases.speech:
            return False
        return all(word[0].isupper() for word in speaker[1].split())

    def _heart(self, text: str, marks: MarkBits, start: int, stop: int) -> None:
        """End no sentence with a heart that is a verb, as in `I ❤ ropes`."""
        *_, before, beside = ["", *text[max(start - NEAR, 0) : start].split(" ")]
        if not beside and before.split("\n")[-1] in self._phrases.lovers and text[stop : stop + 1] == " ":
            marks[stop - 1] &= ~SENTENCE & 0xFF


NEUTRAL = Rules()


def _lines(text: str, marks: MarkBits, first: int, *, last: bool) -> int:
    """End sentences before lines that are units of their own, and with those that cannot go on.

    Gives the place from where on that is not known yet.
    """
    opening = None if first else LINE.match(text)
    for found in chain([opening] if opening else [], NEXT_LINE.finditer(text, len(text[:first].rstrip()))):
        at, sign, stop = found.start(), found.start(found.lastgroup or 0), found.end()
        listed = not found["item"] or _listed(text, at, stop, found["item"], last=last)
        if listed is None:
            return at
        if not listed:
            continue
        _end(text, marks, max(at - CONTEXT, 0), at)
        if text[sign] == "#":
            _whole(text, marks, sign, stop)
        marks[sign:stop] &= ~SENTENCE & 0xFF
        if found["line"] and (end := text.find("\n", stop)) >= 0:
            _end(text, marks, stop, end)
    return len(text)


def _listed(text: str, at: int, stop: int, item: str, *, last: bool) -> bool | None:
    """Tell whether a line that begins with a dash or number is an item; None if more text is to tell.

    It is if the line before ended by itself, or if one of both beside it is such an item too.
    """
    before = text[max(at - CONTEXT, 0) : at]
    if before.rstrip().endswith(":"):
        return True
    start = before.rfind("\n") + 1
    seen = start or at < CONTEXT  # the line before from its beginning
    if seen and (len(before[start:].split()) < FEW or _is_item(LINE.match(before, start), item)):
        return True
    if not last and len(text) < stop + CONTEXT and re.compile(NO_LINE_YET).fullmatch(text, stop):
        return None
    rest = re.compile(REST).match(text, stop, stop + CONTEXT)
    return rest is not None and _is_item(NEXT_LINE.match(text, rest.end(), stop + CONTEXT), item)


def _is_item(line: re.Match[str] | None, item: str) -> bool:
    """Tell whether a line begins as an item does."""
    return line is not None and line["item"] is not None and line["item"][-1] == item[-1]


def _end(text: str, marks: MarkBits, start: int, stop: int) -> None:
    """End a sentence with the last character of a stretch that is no space."""
    length = len(text[start:stop].rstrip())
    if length:
        marks[start + length - 1] |= END | SENTENCE


def _name(text: str, marks: MarkBits, found: re.Match[str]) -> int:
    """Make a token of a name, and another of a genitive's ending after it; tell where the name ends."""
    start, stop = found.span()
    if found["name"]:
        start = _back(text, start, str.isalnum)
    elif found["site"] or found["file"]:
        start = _back(text, start, lambda one: one.isalnum() or one in "._-")
        while found["site"] and text[start] in "._-":
            start += 1
    stop = _whole(text, marks, start, _stop(text, start, stop) if found["site"] else stop)
    _own(text, marks, stop)
    return stop


def _back(text: str, start: int, fits: Callable[[str], bool]) -> int:
    """Go back over characters that fit, and over the marks on them."""
    while start and (fits(text[start - 1]) or _combines(text[start - 1])):
        start -= 1
    return start


def _own(text: str, marks: MarkBits, stop: int) -> None:
    """Make a token of a genitive's ending, if one stands at a place."""
    if POSSESSIVE.match(text, stop):
        marks[stop - 1] = END
        _whole(text, marks, stop, stop + 2)


def _whole(text: str, marks: MarkBits, start: int, stop: int) -> int:
    """Make a token of a stretch of text and the marks that follow it, to where it ends; a sentence may end with it."""
    while stop < len(text) and _combines(text[stop]):
        stop += 1
    marks[start : stop - 1] = 0
    marks[stop - 1] = END | (marks[stop - 1] & SENTENCE)
    if start:
        marks[start - 1] |= END
    return stop


def _combines(character: str) -> bool:
    return character > "\u02ff" and unicodedata.category(character)[0] == "M"


def _addresses(text: str, marks: MarkBits, first: int) -> None:
    done = first
    for sign in ADDRESS_SIGN.finditer(text, first):
        start = sign.start()
        if text[start] == ":":
            before = text[max(start - LONGEST_SCHEME, 0) : start].lower()
            start -= next((len(name) for name in SCHEMES if before.endswith(name)), 0)
        elif text[start] == "@":
            start = _back(text, start, lambda one: one.isalnum() or one in "_.+%-")
            start -= len(MAIL) if text[max(start - len(MAIL), 0) : start].lower() == MAIL else 0
        found = re.compile(ADDRESS).match(text, start) if start >= done else None
        if found is None:
            continue
        done = _stop(text, *found.span())
        _own(text, marks, _whole(text, marks, start, done))


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
    return max(stop, start + 1)
