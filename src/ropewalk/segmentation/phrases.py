"""Words that say that a sentence goes on where others end, language by language: treebanks have too few of them.

A language is called what UD calls it in the names of its treebanks, such as `UD_English-EWT`.
"""

from __future__ import annotations

from typing import NamedTuple


class Phrases(NamedTuple):
    """Verbs that say who spoke, after a question or an exclamation, and words after which a heart is a verb."""

    speech: frozenset[str] = frozenset()
    lovers: frozenset[str] = frozenset()


KNOWN = {
    "English": Phrases(
        speech=frozenset({
            "added", "answered", "asked", "asks", "cried", "cries", "demanded", "exclaimed", "inquired", "muttered",
            "murmured", "repeated", "replied", "replies", "said", "says", "screamed", "shouted", "shouts", "snapped",
            "whispered", "wondered", "yelled",
        }),
        lovers=frozenset({"I", "We", "we", "You", "you", "They", "they"}),
    ),
}  # fmt: skip


def of(language: str) -> Phrases:
    """Give the words of a language, none if they are not known."""
    return KNOWN.get(language, Phrases())
