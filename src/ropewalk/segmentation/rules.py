"""Rules that override the marks of a network, for cases that are missing in treebanks.

Each of these is one token: web and mail addresses, `#tags` and `@names`, names of files and of programs such as
`Node.js` and `C++`, hearts, dashes and ellipses, and numbers such as `1,234.50` and `...` unless the treebank splits
them. No sentence ends with an abbreviation (see `languages`), within a number or several marks such as `?!`, or before
a closing quote or bracket. None ends with a quoted question or exclamation if a small letter or the speaker follows.
Headings, quoted lines and list items begin sentences. A sentence also ends at the end of a heading or a quoted line. A
full stop at the end of a paragraph is a token, unless the treebank has the token before it only as an abbreviation.

For speed, each rule searches for a rare character first, and checks the text around it only then.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import chain
from typing import TYPE_CHECKING

from ropewalk.core.letters import combines
from ropewalk.segmentation import languages
from ropewalk.segmentation.alignment import END, SENTENCE
from ropewalk.segmentation.reading import FEW

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.segmentation.alignment import MarkBits

CONTEXT = 500  # characters around spaces that rules read, before those with a line break and after any
NEAR = 20  # characters before a heart, more than any word in `lovers` has
ALONE = re.compile(r"([—…❤])\1*")
DOTS = re.compile(r"\.{3,}")
_WIDE = r"\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"  # written without spaces, or beside it
_WORD = rf"[^\W{_WIDE}]"  # a character of an address
WIDE = re.compile(rf"[{_WIDE}]")
IN_NUMBER = re.compile(r"[.,:\u066b\u066c](?<=\d.)(?=\d)")
NUMBER = re.compile(r"\d+(?:[.,\u066b\u066c]\d+)+")
_FINAL = r"[.!?…\u3002\uff0e\uff01\uff1f\u061f]"
FINALS = re.compile(rf"{_FINAL}(?={_FINAL}){_FINAL}+")
DOTS_BEFORE_WORD = re.compile(r"(?<=\.\.\.)\w")  # the dots may begin a sentence
CLOSERS = re.compile(r"[)\]\u300d\u300f\uff09\u3011\u3009\u300b\u201d]+")
_QUOTES = r"[\"'\u2018\u2019\u201c\u201d«»]"
_DASHES = r"(?:[\u2014\u2013-]\s+)?"
STOP_BEFORE_BLANK = re.compile(r"\.(?=[^\S\n]*\n[^\S\n]*\n)")
LAST_STOP = re.compile(r"\.(?=\s*\Z)")
CLOSING = re.compile(rf"[.?!]{_QUOTES}+(?!\S)")
# Patterns that are rarely needed are compiled on demand: that takes longer than parsing a short text.
_BREAKS = r"\n\x0b\x0c\x85\u2028\u2029"
GAP = rf"(?!\S)[^\S{_BREAKS}]*\n?[^\S{_BREAKS}]*"  # spaces without a blank line, or the end of the text
SPEAKER = (  # at most three words, a verb, perhaps a word, and a sign; `, "` may introduce the next quotation
    rf"((?:[^\W\d_][^\s,;:?!]*{GAP}){{1,3}}?)([^\W\d_A-Z]\w*)(?:{GAP}\w+)?(?:[.;:?!]|,(?!(?:{GAP})?{_QUOTES}))"
)
NO_SPEAKER_YET = rf"(?:\S+{GAP}){{0,5}}\S*"  # too little text to know
REST = rf"[^{_BREAKS}]*"  # of a line
NO_LINE_YET = rf"{REST}(?:\n[ \t]*\S{{0,6}})?"  # too little text to know how the next line begins
_LOCAL = rf"(?:{_WORD}|[.+%-])"
_HOST = rf"(?:{_WORD}|-)+"
ADDRESS = (  # on the web, or of mail
    rf"(?i:(?<!{_WORD})(?:https?://|ftp://|www\.)[^\s<>\"\u201c\u201d\u2018\u2019«»\u2013\u2014\[\]{{}}|{_WIDE}]*"
    rf"(?:{_WORD}|[/&=#%~+-])"
    rf"|(?<!{_WORD})(?<![.+%-])(?:mailto:)?{_LOCAL}*(?:{_WORD}|\.)@{_HOST}(?:\.{_HOST})*\.{_WORD}+)"
)
ADDRESS_SIGN = re.compile(r"[:@wW](?:(?<=:)//|(?<=@)[\w-]|(?<=[wW])[wW]{2}\.)")
SCHEMES = ("https", "http", "ftp")
LONGEST_SCHEME = max(map(len, SCHEMES))
MAIL = "mailto:"
POSSESSIVE = re.compile(r"['\u2019]s(?!\w)", re.IGNORECASE)
_PATH = rf"[^\s<>\"\u201c\u201d\u2018\u2019«»\[\]{{}}|{_WIDE}]*(?<=[\w/&=#%~+-])"
NAME = (
    r"(?P<sign>(?:(?P<at>@)|#)(?<![^\s(\[{\"'\u2018\u201c«].)(?=\w*[^\W\d])\w+(?(at)(?:\.[a-z0-9_]+)*)(?!\w|\.\w)"
    r"|(?P<heart><3+)(?<![\w<]<3)(?![\w.,]*\d)(?!\w))"
    r"|(?P<name>\+(?<=\w.)(?<!\bA.)\+(?:(?<=\bC..)\d\w)?(?![\w+])|#(?<=\b[A-Z].)(?!\w))"
    rf"|(?P<site>\.(?<=\w.)(?:(?:com|edu|gov|info|io|net|org|[a-z]{{2}})(?:\.[a-z]{{2}})?/{_PATH}"
    rf"|(?:(?:com|edu|gov|io|net|org)(?:\.[a-z]{{2}})?|(?:ac|co)\.[a-z]{{2}})(?!{_WORD}|[@-]|\.\w)))"
    r"|(?P<file>\.(?<=\w.)(?:css|csv|docx?|exe|gif|html?|jpe?g|js|json|md|mp[34]|pdf|php|png|pptx?|py|sh|ts|txt|xlsx?|"
    rf"xml|ya?ml|zip)(?!{_WORD})|\.NET(?!{_WORD}))"
)
NAME_SIGN = re.compile(
    r"[@#<+]|\.\w"
)  # every name has one of these; the pattern above is slow to compile and to search
_LINE = (
    r"[ \t]*(?:(?P<line>#{1,6}(?=[ \t])|>(?:[> \t]*>)?(?=[\w \t]))|(?P<sign>[•‣\u2043◦∙▪▫■□●○◆◇▶►➢➤✓✔✗✘])"
    r"|(?P<item>[-\u2013—*+]|\(?(?:\d{1,2}|[A-Za-z]|[ivxIVX]{2,4})\)|\d{1,3}\.)(?=[ \t]))"
)
LINE = re.compile(_LINE)
NEXT_LINE = re.compile("\n" + _LINE)


class Rules:
    """The rules for a language: those of all languages, and its word lists if it has some.

    `language` is its name in UD, such as `English`. `stops` has the tokens of the treebank that end with a full stop,
    in lower case, or is None if they are unknown. With `split_numbers`, numbers such as `1.5` may be several tokens;
    with `whole_dots`, `...` is one.
    """

    def __init__(
        self,
        language: str = "",
        stops: frozenset[str] | None = None,
        *,
        split_numbers: bool = False,
        whole_dots: bool = False,
    ) -> None:
        self._stops = stops
        self._split_numbers = split_numbers
        self._whole_dots = whole_dots
        self._abbreviations = languages.pattern(language)
        self._words = languages.KNOWN.get(language, languages.Language())

    def apply(self, text: str, marks: MarkBits, first: int, *, last: bool) -> None:
        """Apply all rules to the marks of a text, from position `first` on, where a sentence begins.

        Without `last`, more text follows. Then marks of sentence ends that depend on that text are removed.
        """
        if self._abbreviations is not None:
            for match in self._abbreviations.finditer(text, first):
                if match[1] is None or match[1].islower():
                    at = match.start()
                    marks[max(at - 1, 0)] = 0
                    marks[at] = END
        if self._stops is not None:
            self._full_stops(text, marks, first, last=last)
        self._numbers(text, marks, first)
        for match in DOTS.finditer(text, first) if self._whole_dots else ():
            _whole(text, marks, *match.span())
        _closers(text, marks, first)
        unknown = self._quotes(text, marks, first, last=last)
        unknown = min(_lines(text, marks, first, last=last), unknown)
        for match in re.compile(NAME).finditer(text, first) if NAME_SIGN.search(text, first) else ():
            stop = _name(text, marks, match)
            if match["heart"]:
                self._heart(text, marks, match.start(), stop)
        for match in ALONE.finditer(text, first):
            stop = _whole(text, marks, *match.span())
            if match[1] == "❤":
                self._heart(text, marks, match.start(), stop)
        _addresses(text, marks, first)
        marks[unknown:] &= ~SENTENCE & 0xFF

    def _full_stops(self, text: str, marks: MarkBits, first: int, *, last: bool) -> None:
        """Separate a full stop at the end of a paragraph from a word that the treebank never has as an abbreviation.

        It is also separated from a sign such as `%`. Words of one letter, words with a digit and words after a full
        stop, as in `U.S.`, are left as they are.
        """
        matches = STOP_BEFORE_BLANK.finditer(text, first)
        end = LAST_STOP.search(text, max(first, len(text.rstrip()) - 1)) if last else None
        for match in chain(matches, [end] if end else []):
            stop = match.start()
            start = _back(text, stop, str.isalpha)
            beside, token = text[start - 1 : start] if start else "", text[start : stop + 1].lower()
            word = stop - start > 1 and not beside.isalnum() and beside != "."
            sign = start == stop and unicodedata.category(beside or " ")[0] == "S"
            if (word or sign) and token not in (self._stops or ()):
                marks[stop - 1] |= END
                marks[stop] = END | (marks[stop] & SENTENCE)

    def _numbers(self, text: str, marks: MarkBits, first: int) -> None:
        """Remove the ends of sentences within numbers, and those of tokens unless the treebank splits numbers."""
        done = first
        for sign in IN_NUMBER.finditer(text, first):
            at = sign.start()
            marks[at - 1 : at + 1] &= ~SENTENCE & 0xFF
            if at < done or self._split_numbers or text[at] == ":":
                continue
            match = NUMBER.match(text, _back(text, at, str.isdecimal))
            if match is not None:
                done = match.end()
                marks[match.start() : done - 1] = 0

    def _quotes(self, text: str, marks: MarkBits, first: int, *, last: bool) -> int:
        """Move sentence ends from before closing quotes to after them; remove them if the sentence continues.

        Return the position from which on more text is needed to decide, or the length of the text.
        """
        for match in CLOSING.finditer(text, first):
            start, stop = match.span()
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
        """Return whether a quotation continues with a small letter or a speaker; None if more text is needed."""
        spaces = re.compile(GAP).match(text, stop)
        start = spaces.end() if spaces else stop
        dash = re.compile(_DASHES).match(text, start)
        if text[dash.end() if dash else start :][:1].islower():
            return True
        if not self._words.speech:
            return False
        if not last and len(text) < start + CONTEXT and re.compile(NO_SPEAKER_YET).fullmatch(text, start):
            return None
        speaker = re.compile(SPEAKER).match(text, start, start + CONTEXT)
        if speaker is None or speaker[2] not in self._words.speech:
            return False
        return all(word[0].isupper() for word in speaker[1].split())

    def _heart(self, text: str, marks: MarkBits, start: int, stop: int) -> None:
        """Remove the sentence end at a heart that is a verb, as in `I ❤ ropes`."""
        *_, before, beside = ["", *text[max(start - NEAR, 0) : start].split(" ")]
        if not beside and before.split("\n")[-1] in self._words.lovers and text[stop : stop + 1] == " ":
            marks[stop - 1] &= ~SENTENCE & 0xFF


NEUTRAL = Rules()


def _closers(text: str, marks: MarkBits, first: int) -> None:
    """Move sentence ends within several final marks to the last one, and those before closing brackets after them."""
    spans = [match.span() for match in FINALS.finditer(text, first) if not DOTS_BEFORE_WORD.match(text, match.end())]
    spans += [(max(match.start() - 1, 0), match.end()) for match in CLOSERS.finditer(text, first)]
    for start, stop in spans:
        inside = marks[start : stop - 1]
        if ((inside & SENTENCE > 0) & (inside & END > 0)).any():
            marks[start:stop] &= ~SENTENCE & 0xFF
            marks[stop - 1] |= END | SENTENCE


def _lines(text: str, marks: MarkBits, first: int, *, last: bool) -> int:
    """Mark sentence ends before headings, quoted lines and list items, and at the end of headings and quoted lines.

    Return the position from which on more text is needed to decide, or the length of the text.
    """
    opening = None if first else LINE.match(text)
    for match in chain([opening] if opening else [], NEXT_LINE.finditer(text, len(text[:first].rstrip()))):
        at, sign, stop = match.start(), match.start(match.lastgroup or 0), match.end()
        listed = not match["item"] or _listed(text, at, stop, match["item"], last=last)
        if listed is None:
            return at
        if not listed:
            continue
        _end(text, marks, max(at - CONTEXT, 0), at)
        if text[sign] == "#":
            _whole(text, marks, sign, stop)
        marks[sign:stop] &= ~SENTENCE & 0xFF
        if match["line"] and (end := text.find("\n", stop)) >= 0:
            _end(text, marks, stop, end)
    return len(text)


def _listed(text: str, at: int, stop: int, item: str, *, last: bool) -> bool | None:
    """Return whether a line that begins with a dash or number is a list item; None if more text is needed to decide.

    It is one if the line before ends with a colon or is so short that it was not wrapped, or if the line before or
    after begins with a sign of the same kind.
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
    """Return whether the matched line begins with a list sign of the same kind as `item`, such as `2)` for `1)`."""
    return line is not None and line["item"] is not None and line["item"][-1] == item[-1]


def _end(text: str, marks: MarkBits, start: int, stop: int) -> None:
    """Mark a sentence end at the last character of the span that is no space."""
    length = len(text[start:stop].rstrip())
    if length:
        marks[start + length - 1] |= END | SENTENCE


def _name(text: str, marks: MarkBits, match: re.Match[str]) -> int:
    """Mark a matched name as one token, and a possessive ending after it as another; return where the name ends."""
    start, stop = match.span()
    if match["name"]:
        start = _back(text, start, _narrow)
    elif match["site"] or match["file"]:
        start = _back(text, start, lambda character: _narrow(character) or character in "._-")
        while match["site"] and text[start] in "._-":
            start += 1
    stop = _whole(text, marks, start, _stop(text, start, stop) if match["site"] else stop)
    _own(text, marks, stop)
    return stop


def _back(text: str, start: int, fits: Callable[[str], bool]) -> int:
    """Return where the run of characters before `start` begins that pass the test `fits` or are combining marks."""
    while start and (fits(text[start - 1]) or combines(text[start - 1])):
        start -= 1
    return start


def _own(text: str, marks: MarkBits, stop: int) -> None:
    """Mark a possessive ending as a token, if one begins at `stop`."""
    if POSSESSIVE.match(text, stop):
        marks[stop - 1] = END
        _whole(text, marks, stop, stop + 2)


def _whole(text: str, marks: MarkBits, start: int, stop: int) -> int:
    """Mark a span with the combining marks after it as one token, and return its end; a sentence end there is kept."""
    while stop < len(text) and combines(text[stop]):
        stop += 1
    marks[start : stop - 1] = 0
    marks[stop - 1] = END | (marks[stop - 1] & SENTENCE)
    if start:
        marks[start - 1] |= END
    return stop


def _narrow(character: str) -> bool:
    """Return whether a character is a letter or digit of a script with spaces between words."""
    return character.isalnum() and not WIDE.match(character)


def _addresses(text: str, marks: MarkBits, first: int) -> None:
    done = first
    for sign in ADDRESS_SIGN.finditer(text, first):
        start = sign.start()
        if text[start] == ":":
            before = text[max(start - LONGEST_SCHEME, 0) : start].lower()
            start -= next((len(name) for name in SCHEMES if before.endswith(name)), 0)
        elif text[start] == "@":
            start = _back(text, start, lambda character: _narrow(character) or character in "_.+%-")
            start -= len(MAIL) if text[max(start - len(MAIL), 0) : start].lower() == MAIL else 0
        match = re.compile(ADDRESS).match(text, start) if start >= done else None
        if match is None:
            continue
        done = _stop(text, *match.span())
        _own(text, marks, _whole(text, marks, start, done))


def _stop(text: str, start: int, stop: int) -> int:
    """Return where the address from `start` to `stop` really ends.

    It ends before a closing bracket that it did not open, and before a possessive ending. A closing bracket at `stop`
    belongs to it if it opened one.
    """
    depth = 0
    for index in range(start, stop):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth < 0:
            stop = index
            break
    else:
        if depth > 0 and text[stop : stop + 1] == ")":
            stop += 1
    if POSSESSIVE.fullmatch(text, max(stop - 2, start), stop):
        stop -= 2
    return max(stop, start + 1)
