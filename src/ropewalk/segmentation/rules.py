"""What marks are to say whatever a network says, for what treebanks are too old and too small to teach.

Tokens are addresses of the web and of mail, `#tags` and `@names`, names of files and of programs such as `Node.js` and
`C++`, hearts, dashes and ellipses. No sentence ends with an abbreviation (see `abbreviations`), nor with a question or
an exclamation in quotes that goes on in a small letter. Headings, quoted lines and items of lists begin sentences, and
the first two end them with their line.

Whatever is looked for is found by a character that is rare; what is around it is looked at only then.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import chain
from typing import TYPE_CHECKING

from ropewalk.segmentation import abbreviations
from ropewalk.segmentation.alignment import END, SENTENCE
from ropewalk.segmentation.reading import FEW

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.segmentation.alignment import MarkBits

CONTEXT = 200  # characters before spaces with a line break that are looked at
ALONE = re.compile(r"([—…❤])\1*")
QUOTED = re.compile(rf"([?!][\"'\u2018\u2019\u201c\u201d«»]+){abbreviations.SPACES}(\w)")
ADDRESS_SIGN = re.compile(r"[:@wW](?:(?<=:)//|(?<=@)[\w-]|(?<=[wW])[wW]{2}\.)")
ADDRESS = re.compile(  # on the web, or of mail
    r"(?<!\w)(?:https?://|ftp://|www\.)[^\s<>\"\u201c\u201d\u2018\u2019«»\u2013\u2014\[\]{}|]*[\w/&=#%~+-]"
    r"|(?<![\w.+%-])(?:mailto:)?[\w.+%-]*[\w.]@[\w-]+(?:\.[\w-]+)*\.\w+",
    re.IGNORECASE,
)
SCHEMES = ("https", "http", "ftp")
LONGEST_SCHEME = max(map(len, SCHEMES))
MAIL = "mailto:"
POSSESSIVE = re.compile(r"['\u2019]s(?!\w)", re.IGNORECASE)
_PATH = r"[^\s<>\"\u201c\u201d\u2018\u2019«»\[\]{}|]*(?<=[\w/&=#%~+-])"
NAME = re.compile(
    r"(?P<sign>[#@](?<![^\s(\[{\"'\u2018\u201c«].)(?=\w*[^\W\d])\w+(?!\w|\.\w)|<3+(?<![\w<]<3)(?![\w.,]*\d)(?!\w))"
    r"|(?P<name>\+(?<=\w.)(?<!\bA.)\+(?![\w+])|#(?<=\b[A-Z].)(?!\w))"
    rf"|(?P<site>\.(?<=\w.)(?:com|edu|gov|info|io|net|org|[a-z]{{2}})(?:\.[a-z]{{2}})?/{_PATH})"
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

    def apply(self, text: str, marks: MarkBits, first: int) -> None:
        """Change the marks of a text from a place on, where a sentence begins; what stands before is known."""
        if self._abbreviations is not None:
            for found in self._abbreviations.finditer(text, first):
                if found[1] is None or found[1].islower():
                    at = found.start()
                    marks[max(at - 1, 0)] = 0
                    marks[at] = END
        for found in QUOTED.finditer(text, first):
            if found[2].islower():
                marks[slice(*found.span(1))] &= ~SENTENCE & 0xFF
        _lines(text, marks, first)
        for found in NAME.finditer(text, first):
            _name(text, marks, found)
        for found in ALONE.finditer(text, first):
            _whole(text, marks, *found.span())
        _addresses(text, marks, first)


NEUTRAL = Rules()


def _lines(text: str, marks: MarkBits, first: int) -> None:
    """End sentences before lines that are units of their own, and with those that cannot go on."""
    opening = None if first else LINE.match(text)
    for found in chain([opening] if opening else [], NEXT_LINE.finditer(text, len(text[:first].rstrip()))):
        at, sign, stop = found.start(), found.start(found.lastgroup or 0), found.end()
        if found["item"] and not _listed(text, at, found["item"]):
            continue
        _end(text, marks, max(at - CONTEXT, 0), at)
        if text[sign] == "#":
            _whole(text, marks, sign, stop)
        marks[sign:stop] &= ~SENTENCE & 0xFF
        if found["line"] and (end := text.find("\n", stop)) >= 0:
            _end(text, marks, stop, end)


def _listed(text: str, at: int, item: str) -> bool:
    """Tell whether a line that begins with a dash or number is an item: whether the one before ended by itself."""
    low = at - CONTEXT
    start = text.rfind("\n", max(low, 0), at) + 1
    if low >= 0 and not start:
        return False
    before = text[start:at]
    if len(before.split()) < FEW or before.rstrip().endswith(":"):
        return True
    found = LINE.match(before)
    return found is not None and found["item"] is not None and found["item"][-1] == item[-1]


def _end(text: str, marks: MarkBits, start: int, stop: int) -> None:
    """End a sentence with the last character of a stretch that is no space."""
    length = len(text[start:stop].rstrip())
    if length:
        marks[start + length - 1] |= END | SENTENCE


def _name(text: str, marks: MarkBits, found: re.Match[str]) -> None:
    start, stop = found.span()
    if found["name"]:
        start = _back(text, start, str.isalnum)
    elif found["site"] or found["file"]:
        start = _back(text, start, lambda one: one.isalnum() or one in "._-")
    _whole(text, marks, start, _stop(text, start, stop) if found["site"] else stop)


def _back(text: str, start: int, fits: Callable[[str], bool]) -> int:
    """Go back over characters that fit, and over the marks on them."""
    while start and (fits(text[start - 1]) or _combines(text[start - 1])):
        start -= 1
    return start


def _whole(text: str, marks: MarkBits, start: int, stop: int) -> None:
    """Make a token of a stretch of text and the marks that follow it; a sentence may end with it."""
    while stop < len(text) and _combines(text[stop]):
        stop += 1
    marks[start : stop - 1] = 0
    marks[stop - 1] = END | (marks[stop - 1] & SENTENCE)
    if start:
        marks[start - 1] |= END


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
        found = ADDRESS.match(text, start) if start >= done else None
        if found is None:
            continue
        done = _stop(text, *found.span())
        _whole(text, marks, start, done)
        if POSSESSIVE.match(text, done):
            marks[done - 1 : done + 2] = END, 0, END


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
