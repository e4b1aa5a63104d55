"""What Universal Dependencies demands of the form of a file beyond CoNLL-U itself: level 2 of its own validator.

Comments that name each sentence once and give its text, spaces, features and relations as they are written, graphs that
hang together. Which tags, features and relations a language has is not looked at.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ropewalk.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.treebank.treebank import Treebank

_Row = list[str]
_Problem = tuple[int, str, str]  # line of the sentence, counted from 0, kind and message

SENT_ID: Final = re.compile(r"#\s*sent_id\s*=\s*(\S+)")
TEXT: Final = re.compile(r"#\s*text\s*=\s*(.*)")
BEGINS: Final = {what: re.compile(rf"#\s*{what}(?:\s+(\S+))?") for what in ("newdoc", "newpar")}
FEATURE: Final = re.compile(
    r"([A-Z][A-Za-z0-9]*(?:\[[a-z0-9]+\])?)=((?:[A-Z0-9][A-Za-z0-9]*)(?:,[A-Z0-9][A-Za-z0-9]*)*)"
)
RELATION: Final = re.compile(r"[a-z]+(:[a-z]+)?")
BEYOND: Final = "ß"  # stands for small letters, letters without case and marks that are not ASCII
ENHANCED: Final = re.compile(rf"[a-z]+(:[a-z]+)?(:[a-z{BEYOND}]+(?:_[a-z{BEYOND}]+)*)?(:[a-z]+)?")
ONCE: Final = ("SpaceAfter", "Lang", "Translit", "LTranslit", "Gloss", "LId", "LDeriv", "Ref")
NAMES: Final = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
SPACED: Final = frozenset({1, 2, 9})  # columns that may hold spaces
SHOWN: Final = 60


class Checker:
    """Finds what is wrong with the sentences of one file, piece by piece; it knows the sentences it has seen."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._with_graph = self._without_graph = 0  # lines of the first sentence of each kind
        self._joined = False  # whether the last token so far goes on without a space

    def problems(self, bank: Treebank) -> Iterator[FormatError]:
        """Find everything in one piece of the file."""
        source = bank.source
        assert source is not None  # noqa: S101 - pieces of a file come from a file
        for number, first in enumerate(source.lines.tolist()):
            lines = source.sentence(number).decode("utf-8").split("\n")[:-2]
            rows = {at: line.split("\t") for at, line in enumerate(lines) if not line.startswith("#")}
            for at, kind, message in self._sentence(first, lines, rows):
                word = rows[at][0] if at in rows else ""
                yield FormatError(source.file, first + at, kind, message, word=word)

    def _sentence(self, first: int, lines: list[str], rows: dict[int, _Row]) -> Iterator[_Problem]:
        begin = next(iter(rows))
        comments = lines[:begin]
        for at, line in enumerate(lines):
            if not unicodedata.is_normalized("NFC", line):
                yield at, "unicode", "characters are not in normal form C; expected composed ones"
        for at, row in rows.items():
            for kind, message in _row_problems(row):
                yield at, kind, message
        yield from self._name(first, comments)
        yield from self._text(comments, rows)
        yield from self._graph(first, begin, rows)

    def _name(self, first: int, comments: list[str]) -> Iterator[_Problem]:
        found = [match[1] for line in comments if (match := SENT_ID.fullmatch(line))]
        for at, line in enumerate(comments):
            if re.match("# ?sent_id", line) and not SENT_ID.fullmatch(line):
                yield at, "sent-id", f"found {line[:SHOWN]!r}; expected # sent_id = NAME, without spaces in the name"
        if len(found) != 1:
            yield 0, "sent-id", f"the sentence has {len(found) or 'no'} sent_id; expected one"
        for name in found[:1]:
            before = self._ids.setdefault(name, first)
            if before != first:
                yield 0, "sent-id-twice", f"sent_id is {name!r}, as in line {before}; expected another name"
            if name.count("/") > 1:
                yield 0, "sent-id", f"sent_id is {name!r}; expected at most one slash"

    def _text(self, comments: list[str], rows: dict[int, _Row]) -> Iterator[_Problem]:
        begins = {what: sum(bool(form.fullmatch(line)) for line in comments) for what, form in BEGINS.items()}
        for what, many in begins.items():
            if many > 1:
                yield 0, "comments", f"{what} is there {many} times; expected it once"
        if any(begins.values()) and self._joined:
            yield 0, "space-after", "a paragraph begins after SpaceAfter=No; expected a space before it"
        texts = [match[1] for line in comments if (match := TEXT.fullmatch(line))]
        if len(texts) != 1 or not texts[0]:
            yield 0, "text", f"the sentence has {len(texts) or 'no'} text; expected one that is not empty"
            return
        (rest,) = texts
        if rest[-1].isspace():
            yield 0, "text", "text ends with a space; expected none there"
        yield from self._compare(rest, rows)

    def _compare(self, rest: str, rows: dict[int, _Row]) -> Iterator[_Problem]:
        """Look whether the forms, with spaces where none are denied, are the text."""
        inside = 0  # the last word of the multiword token
        differs = False
        for at, row in rows.items():
            if "." in row[0]:
                continue
            low, _, high = row[0].partition("-")
            if not high and int(low) <= inside:
                if "SpaceAfter=No" in row[9]:
                    yield at, "space-after", "a word in a multiword token has SpaceAfter=No; expected it of the token"
                continue
            inside = int(high or low)
            if not rest.startswith(row[1]):
                if not differs:
                    yield at, "text", f"FORM is {row[1][:SHOWN]!r}, but text goes on with {rest[:SHOWN]!r}"
                differs = True
                continue
            rest = rest[len(row[1]) :]
            self._joined = "SpaceAfter=No" in row[9].split("|")
            if not self._joined:
                if rest and not rest[0].isspace():
                    yield at, "space-after", f"text goes on with {rest[:SHOWN]!r}; expected SpaceAfter=No"
                rest = rest.lstrip()
        if rest and not differs:
            yield 0, "text", f"text ends with {rest[:SHOWN]!r}, which no word has"

    def _graph(self, first: int, begin: int, rows: dict[int, _Row]) -> Iterator[_Problem]:
        nodes = {row[0]: row[8] for row in rows.values() if "-" not in row[0]}
        if all(deps == "_" for deps in nodes.values()):
            self._without_graph = self._without_graph or first
            if self._with_graph:
                yield (
                    begin,
                    "deps-missing",
                    f"no word has DEPS, but those of line {self._with_graph}; expected all or none",
                )
                self._with_graph = 0  # once is enough
            return
        if self._without_graph:
            message = f"words have DEPS, but none in line {self._without_graph}; expected all or none"
            yield begin, "deps-missing", message
            self._without_graph = 0
        self._with_graph = self._with_graph or first
        below: dict[str, list[str]] = {}
        for name, deps in nodes.items():
            for item in deps.split("|") if deps != "_" else ():
                below.setdefault(item.partition(":")[0], []).append(name)
        reached: set[str] = set()
        waiting = ["0"]
        while waiting:
            waiting += (new := set(below.get(waiting.pop(), ())) - reached)
            reached |= new
        for at, row in rows.items():
            if row[0] in nodes and row[0] not in reached:
                yield at, "deps-unreached", "DEPS lead to no root; expected a way from 0 to every word and empty node"
                return


def _row_problems(row: _Row) -> Iterator[tuple[str, str]]:
    """Look at the columns of one line."""
    name = row[0]
    kind = "token" if "-" in name else "empty node" if "." in name else "word"
    for place, value in enumerate(row):
        if not value.isprintable() or " " in value:  # what is printable has no other spaces
            yield from _space_problems(NAMES[place], value, allowed=place in SPACED and (kind != "token" or place == 9))
    blank = {"token": range(2, 9), "empty node": range(6, 8), "word": ()}[kind]
    for place in blank:
        if row[place] != "_" and not (place == 5 and row[place] == "Typo=Yes"):
            message = (
                f"{NAMES[place]} is {row[place][:SHOWN]!r}; expected _ for a {'multiword ' * (kind == 'token')}{kind}"
            )
            yield "not-blank", message
    yield from _feature_problems(row[5] if kind != "token" else "_")
    if kind == "word" and not RELATION.fullmatch(row[7]):
        yield "relation", f"DEPREL is {row[7][:SHOWN]!r}; expected small letters, with one : at most"
    if kind != "token" and row[8] != "_":
        for item in row[8].split("|"):
            relation = item.partition(":")[2]
            if relation and not _is_enhanced(relation):
                yield (
                    "deps-relation",
                    f"DEPS has {item[:SHOWN]!r}; expected a relation such as nsubj:pass or obl:on:gen",
                )
    if row[9] != "_":
        yield from _misc_problems(row[9], kind)


def _space_problems(column: str, value: str, *, allowed: bool) -> Iterator[tuple[str, str]]:
    places = [at for at, character in enumerate(value) if character.isspace()]
    if places and not allowed:
        yield "column-space", f"{column} is {value[:SHOWN]!r}; expected no space in it"
    elif places and (places[0] == 0 or places[-1] == len(value) - 1 or any(b == a + 1 for a, b in pairwise(places))):
        yield (
            "column-space",
            f"{column} is {value[:SHOWN]!r}; expected single spaces, and only between other characters",
        )


@lru_cache(maxsize=1 << 14)
def _features(text: str) -> tuple[str, ...]:
    if text == "_":
        return ()
    found = []
    items = text.split("|")
    if [item.lower() for item in items] != sorted(item.lower() for item in items):
        found.append("expected features in the order of the alphabet")
    known = [item.partition("=")[0] for item in items]
    if len(set(known)) != len(known):
        found.append("expected each feature once")
    for item in items:
        match = FEATURE.fullmatch(item)
        if match is None:
            found.append("expected Feature=Value, with values of letters and digits")
            continue
        values = [value.lower() for value in match[2].split(",")]
        if values != sorted(values) or len(set(match[2].split(","))) != len(values):
            found.append("expected the values of a feature once each, in the order of the alphabet")
    return tuple(dict.fromkeys(found))


def _feature_problems(text: str) -> Iterator[tuple[str, str]]:
    for expected in _features(text):
        yield "feats", f"FEATS is {text[:SHOWN]!r}; {expected}"


@lru_cache(maxsize=1 << 14)
def _is_enhanced(relation: str) -> bool:
    """Tell whether a relation of DEPS is well formed; letters that are not ASCII, and marks, stand in one part only."""
    kinds = ((one, "L" if one.isascii() else unicodedata.category(one)) for one in relation)
    shape = "".join(BEYOND if kind in {"Ll", "Lm", "Lo", "Mn", "Mc", "Me"} else one for one, kind in kinds)
    return ENHANCED.fullmatch(shape) is not None


def _misc_problems(misc: str, kind: str) -> Iterator[tuple[str, str]]:
    names = [item.partition("=")[0] for item in misc.split("|")]
    for name in ONCE:
        if names.count(name) > 1:
            yield "misc", f"MISC has {name} {names.count(name)} times; expected it once"
    if "NoSpaceAfter=Yes" in misc:
        yield "space-after", "MISC has NoSpaceAfter=Yes; expected SpaceAfter=No"
    if any(item.startswith("SpaceAfter=") and item != "SpaceAfter=No" for item in misc.split("|")):
        yield "space-after", f"MISC is {misc[:SHOWN]!r}; expected SpaceAfter=No, or SpacesAfter"
    if kind == "empty node" and "SpaceAfter=No" in misc:
        yield "space-after", "an empty node has SpaceAfter=No; expected it of words only"
