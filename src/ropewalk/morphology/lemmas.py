"""Lemmas as rules: what must be done to a word's form to have its lemma, so that a tagger can predict it as a tag.

A rule is text. `lower|-0+|-3+y` takes three characters off the end of the form, puts `y` there, and makes all lower
case: `Cities` becomes `city`. Its parts are a casing, an edit at the beginning and an edit at the end; what lies
between stays. `=be` is a whole lemma, for forms that share too little with it. This is the idea of UDPipe 2 (Straka,
Straková and Hajič 2019), with one casing of four instead of a script of changes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

WHOLE = "="
LEAST_SHARED = 2  # characters; a single one counts only where both begin


def _lower(text: str) -> str:
    """Make lower case of each character that has one of the same length."""
    return "".join(low if len(low := one.lower()) == 1 else one for one in text)


def _capitalized(text: str) -> str:
    return text[:1].upper() + _lower(text[1:])


CASINGS: dict[str, Callable[[str], str]] = {  # the first that gives the lemma is taken
    "lower": _lower,
    "same": str,
    "title": _capitalized,
    "upper": str.upper,
}


def lemma_rule(form: str, lemma: str) -> str:
    """Give the rule that makes this lemma of this form."""
    at_form, at_lemma, shared = _longest_shared(_lower(form), _lower(lemma))
    if shared >= LEAST_SHARED or (shared and at_form == at_lemma == 0):
        cut = len(form) - at_form - shared
        before, after = lemma[:at_lemma], lemma[at_lemma + shared :]
        for written in (_lower, str):  # what is added in lower case makes fewer rules, if the casing restores it
            edits = f"-{at_form}+{written(before)}|-{cut}+{written(after)}"
            for casing in CASINGS:
                rule = f"{casing}|{edits}"
                if apply_rule(rule, form) == lemma:
                    return rule
    return WHOLE + lemma


def apply_rule(rule: str, form: str) -> str | None:
    """Make a form's lemma by a rule; None where it does not fit: it would cut more than there is, or leave nothing."""
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
    """List the rules of forms and their lemmas that occur often enough, most frequent first."""
    rules: Counter[str] = Counter()
    for (form, lemma), count in Counter(pairs).items():
        rules[lemma_rule(form, lemma)] += count
    kept = [(rule, count) for rule, count in rules.items() if count >= least_count]
    return tuple(rule for rule, _ in sorted(kept, key=lambda item: (-item[1], item[0])))


def _edit(text: str) -> tuple[int, str]:
    """Read `-2+xy`: how many characters go, and what comes instead; -1 characters where it is no edit."""
    count, plus, added = text.removeprefix("-").partition("+")
    return (int(count) if plus and count.isascii() and count.isdigit() and len(count) < 10 else -1), added


def _longest_shared(one: str, other: str) -> tuple[int, int, int]:
    """Find the longest stretch that two texts share, the first of equals: where it begins in each, and its length."""
    best = (0, 0, 0)
    ending = [0] * (len(other) + 1)  # lengths of the shared stretches that end here in both
    for place, character in enumerate(one):
        diagonal = 0
        for at, opposite in enumerate(other, start=1):
            diagonal, ending[at] = ending[at], diagonal + 1 if character == opposite else 0
            if ending[at] > best[2]:
                best = (place - ending[at] + 1, at - ending[at], ending[at])
    return best
