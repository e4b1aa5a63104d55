"""Letters: lower case that keeps the length of a text, and combining marks."""

from __future__ import annotations

import unicodedata


def lower(text: str) -> str:
    """Return a text in lower case with as many characters; `İ`, whose lower case has two, becomes `i`."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(character.lower()[:1] for character in text)


def combines(character: str) -> bool:
    """Return whether a character is a combining mark, which belongs to the character before it."""
    return character > "\u02ff" and unicodedata.category(character)[0] == "M"
