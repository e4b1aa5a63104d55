"""Lemmas as rules that change a word's form into its lemma, so that a tagger can predict them as tags.

A rule is text. `lower|-0+|-3+y` removes three characters from the end of the form, adds `y`, and makes all lower case:
`Cities` becomes `city`. Its parts are a casing, an edit at the beginning and an edit at the end; the characters
between stay. `=be` is a whole lemma, for forms that share too little with it. This is the idea of UDPipe 2 (Straka,
Straková and Hajič 2019), with one casing of four instead of a script of changes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ropewalk.core.letters import lower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

WHOLE = "="
LEAST_SHARED = 2  # characters; a single one is enough only at the start of both


def _capitalized(text: str) -> str:
    return text[:1].upper() + lower(text[1:])


CASINGS: dict[str, Callable[[str], str]] = {  # the first that yields the lemma is used
    "lower": lower,
    "same": str,
    "title": _capitalized,
    "upper": str.upper,
}


def lemma_rule(form: str, lemma: str) -> str:
    """Return the lemma rule that changes `form` into `lemma`, such as `lower|-0+|-3+y`."""
    at_form, at_lemma, shared = _longest_shared(lower(form), lower(lemma))
    if shared >= LEAST_SHARED or (shared and at_form == at_lemma == 0):
        cut = len(form) - at_form - shared
        before, after = lemma[:at_lemma], lemma[at_lemma + shared :]
        for written in (lower, str):  # lower case makes fewer rules, if the casing restores the lemma
            edits = f"-{at_form}+{written(before)}|-{cut}+{written(after)}"
            for casing in CASINGS:
                rule = f"{casing}|{edits}"
                if apply_rule(rule, form) == lemma:
                    return rule
    return WHOLE + lemma


def apply_rule(rule: str, form: str) -> str | None:
    """Return the lemma that `rule` makes of `form`.

    Return None if it is no rule, would remove more characters than `form` has, or would leave an empty lemma.
    """
    if rule.startswith(WHOLE):
        return rule[1:] or None
    casing, _, edits = rule.partition("|")
    parts = edits.split("|")
    if casing not in CASINGS or len(parts) != 2:
        return None
    (cut_first, before), (cut_last, after) = map(_edit, parts)
    if cut_first < 0 or cut_last < 0 or cut_first + cut_last > len(form):
        return None
    return CASINGS[casing](before + form[cut_first : len(form) - cut_last] + after) or None


def frequent_rules(pairs: Iterable[tuple[str, str]], least_count: int) -> tuple[str, ...]:
    """Return the lemma rules of (form, lemma) `pairs` that occur `least_count` times or more, most frequent first."""
    rules: Counter[str] = Counter()
    for (form, lemma), count in Counter(pairs).items():
        rules[lemma_rule(form, lemma)] += count
    kept = [(rule, count) for rule, count in rules.items() if count >= least_count]
    return tuple(rule for rule, _ in sorted(kept, key=lambda item: (-item[1], item[0])))


def _edit(text: str) -> tuple[int, str]:
    """Split an edit such as `-2+xy` into the number of removed characters and the added text.

    The number is -1 if `text` is no edit.
    """
    count, plus, added = text.removeprefix("-").partition("+")
    return (int(count) if plus and count.isascii() and count.isdigit() and len(count) < 10 else -1), added


def _longest_shared(first: str, second: str) -> tuple[int, int, int]:
    """Return the longest shared span of two texts, or the first of several: its start in each, and its length."""
    best = (0, 0, 0)
    ending = [0] * (len(second) + 1)  # lengths of the shared spans that end here in both
    for start, character in enumerate(first):
        diagonal = 0
        for at, opposite in enumerate(second, start=1):
            diagonal, ending[at] = ending[at], diagonal + 1 if character == opposite else 0
            if ending[at] > best[2]:
                best = (start - ending[at] + 1, at - ending[at], ending[at])
    return best
