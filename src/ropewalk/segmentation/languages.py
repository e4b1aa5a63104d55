"""Word lists of single languages for rules about sentence ends: treebanks are too small to learn all these words.

Languages have the names that UD uses in the names of treebanks, such as `UD_English-EWT`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

SPACES = r"(?!\S)[^\S\n]*\n?[^\S\n]*"  # at least one, or the end of the text; no blank line
NUMBER = r"\(?(?:\d|[A-Z]{1,2}[.-]?\d|[IVXLC]{2,}\b|[VX]\b)"  # not I, which is usually a pronoun


class Language(NamedTuple):
    """Word lists of one language: abbreviations without their full stop, and words that show that a sentence continues.

    An abbreviation in lower case may also begin with a capital. No sentence ends with an abbreviation in `always`. None
    ends with one in `before_numbers` if a number follows, or with one in `before_small` if a small letter or a bracket
    follows. `speech` contains verbs that introduce the speaker after a quoted question or exclamation, such as `asked`.
    `lovers` contains words after which a heart sign is a verb, such as `I`.
    """

    always: tuple[str, ...] = ()
    before_numbers: tuple[str, ...] = ()
    before_small: tuple[str, ...] = ()
    speech: frozenset[str] = frozenset()
    lovers: frozenset[str] = frozenset()


KNOWN = {
    "English": Language(
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
        speech=frozenset({
            "added", "answered", "asked", "asks", "cried", "cries", "demanded", "exclaimed", "inquired", "muttered",
            "murmured", "repeated", "replied", "replies", "said", "says", "screamed", "shouted", "shouts", "snapped",
            "whispered", "wondered", "yelled",
        }),
        lovers=frozenset({"I", "We", "we", "You", "you", "They", "they"}),
    ),
}  # fmt: skip


def pattern(language: str) -> re.Pattern[str] | None:
    """Return a pattern that matches the full stops of a language's abbreviations, which end no sentence.

    If the group of the pattern matches a character, the match is valid only if that character is a small letter.
    Return None if the abbreviations of the language are unknown.
    """
    known = KNOWN.get(language)
    if known is None:
        return None
    always, before_numbers, before_small = map(_before, known[:3])
    # The full stop comes first because it is fast to find; the text before it is checked only then.
    return re.compile(
        rf"\.(?!\S)(?:{always}|{before_numbers}(?={SPACES}{NUMBER})|{before_small}(?={SPACES}(?:[(\[]|(\w))))"
    )


def _before(words: Iterable[str]) -> str:
    """Return a pattern that looks behind a full stop for any of `words`."""
    by_length: defaultdict[int, list[str]] = defaultdict(list)
    for word in words:
        first = word[0]
        letters = f"[{first}{first.upper()}]" if first.islower() else first
        by_length[len(word)].append(letters + re.escape(word[1:]))
    return "(?:" + "|".join(rf"(?<=(?<![\w.])(?:{'|'.join(group)})\.)" for group in by_length.values()) + ")"
