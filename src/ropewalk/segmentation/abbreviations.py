"""Abbreviations that end no sentence, language by language: treebanks are too small to teach them all.

A language is called what UD calls it in the names of its treebanks, such as `UD_English-EWT`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

SPACES = r"(?!\S)[^\S\n]*\n?[^\S\n]*"  # at least one, or the end of the text; no blank line
NUMBER = r"\(?(?:\d|[A-Z]{1,2}[.-]?\d|[IVXLC]{2,}\b|[VX]\b)"  # not I, which is mostly none


class Abbreviations(NamedTuple):
    """Words without their full stop; what is in lower case here may begin with a capital.

    No sentence ends with those of `always`, with those of `before_numbers` if a number follows, and with those of
    `before_small` if a small letter or a bracket does.
    """

    always: tuple[str, ...]
    before_numbers: tuple[str, ...]
    before_small: tuple[str, ...]


KNOWN = {
    "English": Abbreviations(
        always=(
            "approx", "ca", "cf", "e.g", "esp", "i.e", "incl", "messrs", "viz", "vs", "Adm", "Capt", "Cmdr", "Col",
            "Dr", "Gen", "Gov", "Hon", "Lt", "Maj", "Mlle", "Mme", "Mr", "Mrs", "Ms", "Mx", "Pres", "Prof", "Rep",
            "Rev", "Sen", "Sgt",
        ),
        before_numbers=(
            "al", "app", "art", "arts", "ch", "chap", "eq", "eqs", "ex", "fig", "figs", "nos", "nr", "p", "par", "para",
            "pp", "ref", "refs", "sec", "sect", "tab", "tabs", "vol", "vols", "No", "Jan", "Feb", "Mar", "Apr",
            "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec",
        ),
        before_small=(
            "al", "assn", "bldg", "blvd", "bros", "dept", "est", "gal", "hrs", "lb", "lbs", "max", "min", "misc", "oz",
            "qt", "resp", "tbsp", "tbsps", "temp", "tsp", "tsps", "univ", "yd",
        ),
    ),
}  # fmt: skip


def pattern(language: str) -> re.Pattern[str] | None:
    """Make a pattern of the full stops that end no sentence in a language, if its abbreviations are known.

    Its group takes in what must be a small letter.
    """
    known = KNOWN.get(language)
    if known is None:
        return None
    always, before_numbers, before_small = map(_before, known)
    # A full stop comes first: that is found fast, and what precedes it is looked at only then.
    return re.compile(
        rf"\.(?!\S)(?:{always}|{before_numbers}(?={SPACES}{NUMBER})|{before_small}(?={SPACES}(?:[(\[]|(\w))))"
    )


def _before(words: Iterable[str]) -> str:
    """Look behind a full stop for any of some words."""
    by_length: defaultdict[int, list[str]] = defaultdict(list)
    for word in words:
        first = word[0]
        letters = f"[{first}{first.upper()}]" if first.islower() else first
        by_length[len(word)].append(letters + re.escape(word[1:]))
    return "(?:" + "|".join(rf"(?<=(?<![\w.])(?:{'|'.join(some)})\.)" for some in by_length.values()) + ")"
