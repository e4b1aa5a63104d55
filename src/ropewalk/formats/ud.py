"""Rules of Universal Dependencies beyond the CoNLL-U format: level 2 of UD's own validator.

They concern comments (each sentence has one name and its text), spaces, the form of features and relations, universal
tags and relations, and connected graphs. The lists of features and subtypes of single languages are not checked.
`CHECKS` has every check by its code, so that it can be run alone. Levels 3 to 5 need the package udtools.
"""

from __future__ import annotations

import difflib
import inspect
import io
import os
import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, final

from ropewalk import files
from ropewalk.errors import FormatError, OptionError, demand_type
from ropewalk.formats import conllu, deps
from ropewalk.formats.explanations import UDTOOLS, explanation
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ropewalk.formats.explanations import Explanation

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
UPOS: Final = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ",
    "SYM", "VERB", "X",
)  # fmt: skip
RELATIONS: Final = (
    "acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound", "conj", "cop",
    "csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark",
    "nmod", "nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "punct", "reparandum", "root", "vocative",
    "xcomp",
)  # fmt: skip
ENHANCED_RELATIONS: Final = (*RELATIONS, "ref")
LEVELS: Final = (1, 2, 3, 4, 5)
OWN_LEVEL: Final = 2  # the highest that is checked here


class Checker:
    """A checker of one file, which gets the sentences piece by piece and remembers those that it has seen."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._with_graph = self._without_graph = 0  # lines of the first sentence of each kind
        self._joined = False  # whether the last token so far goes on without a space
        self._untagged = False  # whether a word without UPOS was reported

    def problems(self, bank: Treebank) -> Iterator[FormatError]:
        """Yield all problems of the sentences of `bank`, a piece of the file."""
        source = conllu.as_written(bank)
        for number, first in enumerate(source.lines.tolist()):
            lines = source.sentence(number).decode("utf-8").split("\n")[:-2]
            rows = {at: line.split("\t") for at, line in enumerate(lines) if not line.startswith("#")}
            for at, kind, message in self._sentence(first, lines, rows):
                word = rows[at][0] if at in rows else ""
                name = source.heading(number).id
                yield FormatError(source.file, first + at, kind, message, word=word, sentence=name)

    def _sentence(self, first: int, lines: list[str], rows: dict[int, _Row]) -> Iterator[_Problem]:
        begin = next(iter(rows))
        comments = lines[:begin]
        for at, line in enumerate(lines):
            if not unicodedata.is_normalized("NFC", line):
                yield at, "unicode", "characters are not in normal form C; expected composed ones"
        for at, row in rows.items():
            for kind, message in (*_row_problems(row), *self._tag_problems(row)):
                yield at, kind, message
        yield from self._name(first, comments)
        yield from self._text(comments, rows)
        yield from self._graph(first, begin, rows)

    def _tag_problems(self, row: _Row) -> Iterator[tuple[str, str]]:
        """Yield a problem if UPOS is no universal tag; words without a tag are reported once per file."""
        tag = row[3]
        if "-" in row[0] or tag in UPOS or (tag == "_" and ("." in row[0] or self._untagged)):
            return
        self._untagged = self._untagged or tag == "_"
        yield (
            "unknown-upos",
            f"UPOS is {tag[:SHOWN]!r}; expected one of the {len(UPOS)} universal tags{_near(tag, UPOS)}",
        )

    def _name(self, first: int, comments: list[str]) -> Iterator[_Problem]:
        names = [match[1] for line in comments if (match := SENT_ID.fullmatch(line))]
        for at, line in enumerate(comments):
            if re.match("# ?sent_id", line) and not SENT_ID.fullmatch(line):
                yield at, "sent-id", f"found {line[:SHOWN]!r}; expected # sent_id = NAME, without spaces in the name"
        if len(names) != 1:
            yield 0, "sent-id", f"the sentence has {len(names) or 'no'} sent_id; expected one"
        for name in names[:1]:
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
        """Yield the differences between `rest`, the text of the sentence, and the forms with the spaces after them."""
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
        if all(arcs == "_" for arcs in nodes.values()):
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
        for name, arcs in nodes.items():
            for item in arcs.split("|") if arcs != "_" else ():
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
    """Yield the code and the message of each problem in the columns of one line."""
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
    for expected in _features(row[5] if kind != "token" else "_"):
        yield "feats", f"FEATS is {row[5][:SHOWN]!r}; {expected}"
    if kind == "word":
        yield from _relation_problems(row[7])
    if kind != "token" and row[8] != "_":
        yield from _graph_problems(row[8])
    if row[9] != "_":
        yield from _misc_problems(row[9], kind)


def _relation_problems(relation: str) -> Iterator[tuple[str, str]]:
    base = relation.partition(":")[0]
    if not RELATION.fullmatch(relation):
        yield "relation", f"DEPREL is {relation[:SHOWN]!r}; expected small letters, with one : at most"
    elif base not in RELATIONS:
        expected = f"expected one of the {len(RELATIONS)} universal relations before any :{_near(base, RELATIONS)}"
        yield "unknown-relation", f"DEPREL is {relation[:SHOWN]!r}; {expected}"


def _graph_problems(items: str) -> Iterator[tuple[str, str]]:
    for item in items.split("|"):
        relation = item.partition(":")[2]
        base = relation.partition(":")[0]
        if relation and not _is_enhanced(relation):
            expected = "expected a relation such as nsubj:pass or obl:on:gen"
            yield "deps-relation", f"DEPS has {item[:SHOWN]!r}; {expected}"
        elif relation and base not in ENHANCED_RELATIONS:
            expected = f"expected ref or a universal relation{_near(base, ENHANCED_RELATIONS)}"
            yield "unknown-deps-relation", f"DEPS has {item[:SHOWN]!r}; {expected}"


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
    problems = []
    items = text.split("|")
    if [item.lower() for item in items] != sorted(item.lower() for item in items):
        problems.append("expected features in the order of the alphabet")
    known = [item.partition("=")[0] for item in items]
    if len(set(known)) != len(known):
        problems.append("expected each feature once")
    for item in items:
        match = FEATURE.fullmatch(item)
        if match is None:
            problems.append("expected Feature=Value, with values of letters and digits")
            continue
        values = [value.lower() for value in match[2].split(",")]
        if values != sorted(values) or len(set(match[2].split(","))) != len(values):
            problems.append("expected the values of a feature once each, in the order of the alphabet")
    return tuple(dict.fromkeys(problems))


@lru_cache(maxsize=1 << 14)
def _is_enhanced(relation: str) -> bool:
    """Return whether a relation of DEPS is well formed; only one part may have letters that are not ASCII."""
    kinds = ((character, "L" if character.isascii() else unicodedata.category(character)) for character in relation)
    shape = "".join(BEYOND if kind in {"Ll", "Lm", "Lo", "Mn", "Mc", "Me"} else character for character, kind in kinds)
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


@cache
def _near(name: str, known: tuple[str, ...]) -> str:
    """Return ": did you mean …?" with the name of `known` that is most similar to `name`, or "" if none is similar."""
    near = difflib.get_close_matches(name, known, n=1)
    return f": did you mean {near[0]}?" if near else ""


@final
@dataclass(frozen=True, slots=True)
class Check:
    """One check of treebanks: `code` is that of the problems that it finds, and `level` its level in UD's validator."""

    code: str
    level: int
    _find: Callable[[Treebank], Iterable[FormatError]]

    def run(self, treebank: Treebank) -> Iterator[FormatError]:
        """Return an iterator over the problems with this code in a treebank."""
        demand_type("what to check", treebank, Treebank)
        return (problem for problem in self._find(treebank) if problem.kind == self.code)

    @property
    def explanation(self) -> Explanation:
        """The meaning of the problem, its remedy and an example."""
        return explanation(self.code)


def _own_problems(bank: Treebank) -> Iterator[FormatError]:
    return Checker().problems(bank)


TREE_CODES: Final = ("missing-head", "head-range", "cycle", "no-root", "several-roots", "root-relation")
GRAPH_CODES: Final = tuple(kind for kind, _ in deps.PROBLEMS.values())
OWN_CODES: Final = (
    *("unicode", "sent-id", "sent-id-twice", "comments", "text", "space-after", "misc", "column-space", "not-blank"),
    *("unknown-upos", "feats", "relation", "unknown-relation"),
    *("deps-relation", "unknown-deps-relation", "deps-missing", "deps-unreached"),
)
CHECKS: Final[dict[str, Check]] = {
    code: Check(code, level, find)
    for codes, level, find in (
        (TREE_CODES, 2, conllu.tree_problems),
        (GRAPH_CODES, 2, deps.problems),
        (OWN_CODES, 2, _own_problems),
    )
    for code in codes
}


def problems(path: str | os.PathLike[str], *, level: int = OWN_LEVEL, language: str = "ud") -> Iterator[FormatError]:
    """Yield all problems of a CoNLL-U file up to a level of UD's validator.

    Level 1 checks the CoNLL-U format and the trees, level 2 the general rules of UD. Levels 3 to 5 need the package
    udtools, which has rules for each `language`, such as `en`; the codes of its problems begin with `udtools:`.
    """
    if level not in LEVELS:
        raise OptionError(f"level is {level!r}; expected one of {', '.join(map(str, LEVELS))}")
    if level > OWN_LEVEL:
        _demand_udtools(level, path)
    yield from conllu.problems(path, also=(deps.problems, Checker().problems) if level > 1 else ())
    if level > OWN_LEVEL:
        yield from _deeper_problems(path, level, language)


def _demand_udtools(level: int, path: str | os.PathLike[str]) -> None:
    if find_spec("udtools") is None:
        raise OptionError(
            f"level {level} is checked by udtools, which is not installed; install it with: pip install udtools "
            "(its licence is the GPL), or use level 2"
        )
    if os.fspath(path) == "-":
        raise OptionError(f"level {level} reads a file twice, and standard input can be read once; name a file")


def deeper_meaning(code: str) -> str:
    """Return what udtools documents about a problem that it finds, such as `leaf-punct`.

    The text is empty if udtools is not installed or does not have the code.
    """
    if find_spec("udtools") is None:
        return ""
    from udtools.validator import Validator

    checks = [check for name in dir(Validator) if inspect.isfunction(check := getattr(Validator, name))]
    for check in sorted(checks, key=lambda check: check.__qualname__, reverse=True):  # Level5.… first
        about = inspect.getdoc(check) or ""
        if code in about.partition("\nIncidents\n")[2].split():
            return " ".join(about.partition("\n\n")[0].split())
    return ""


def _deeper_problems(path: str | os.PathLike[str], level: int, language: str) -> Iterator[FormatError]:
    """Yield the problems that udtools, UD's own validator, finds above level 2; its warnings are left out."""
    from udtools.state import State
    from udtools.validator import Validator

    new_validator: Any = Validator
    new_state: Any = State
    validator, state = new_validator(lang=language, level=level, output=None), new_state()
    if not hasattr(validator.data, "is_known_language"):
        raise OptionError("levels above 2 need udtools 0.2.9 or newer; run pip install --upgrade udtools")
    if not validator.data.is_known_language(language):
        raise OptionError(
            f"udtools has no rules for the language {language!r}; use a code of UD's languages, such as en, or ud"
        )
    with files.reading(path) as file:
        raw = file.read()
    validator.validate_file_handle(io.TextIOWrapper(io.BytesIO(raw), "utf-8", "replace"), state)
    validator.validate_end(state)
    lines = ["", *raw.decode("utf-8", "replace").split("\n")]
    errors = [error for error in state.error_tracker if error.level > OWN_LEVEL and error.is_error()]
    for error in sorted(errors, key=lambda error: error.lineno):
        cells = lines[error.lineno].split("\t") if error.lineno < len(lines) else []
        code, word = f"{UDTOOLS}{error.testid}", cells[0] if len(cells) == len(NAMES) else ""
        yield FormatError(files.shown(path), error.lineno, code, error.message, word=word, sentence=error.sentid)
