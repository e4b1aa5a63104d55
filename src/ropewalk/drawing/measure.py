"""The width of text: its number of cells in a terminal, and its estimated width in a proportional font."""

from __future__ import annotations

import unicodedata

# Widths of Latin letters in hundredths of the font size.
LATIN = {
    **dict.fromkeys("ijl'|!.,:;`", 28),
    **dict.fromkeys('frtI()[]{}/\\-" ', 38),
    **dict.fromkeys("mwMW%@", 90),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ&", 70),
}
LATIN_OTHER = 56
FOREIGN = 66
INDIC = 84  # from Devanagari to Myanmar


def cells(text: str) -> int:
    """Return the number of cells of a text in a terminal: two for a wide character, none for a combining mark."""
    return len(text) if text.isascii() else sum(size for _, size in clusters(text))


def clusters(text: str) -> list[tuple[str, int]]:
    """Split text into grapheme clusters, each with its number of cells in a terminal."""
    if text.isascii():
        return [(character, 1) for character in text]
    from rich.cells import split_graphemes

    spans, _ = split_graphemes(text)
    return [(text[start:end], size) for start, end, size in spans]


def units(text: str) -> float:
    """Return the estimated width of text in a proportional font, as a multiple of the font's size."""
    if text.isascii():
        return sum(LATIN.get(character, LATIN_OTHER) for character in text) / 100
    total = 0
    for part, size in clusters(text):
        if size == 2:
            total += 100
        elif size == 1 and part[0].isascii():
            total += LATIN.get(part[0], LATIN_OTHER)
        elif size == 1:
            total += INDIC if "\u0900" <= part[0] <= "\u109f" else FOREIGN
    return total / 100


def shorten(text: str, most: int) -> str:
    """Return `text`, cut to at most `most` terminal cells; a cut text ends with an ellipsis."""
    if cells(text) <= most:
        return text
    kept, used = "", 0
    for part, size in clusters(text):
        if used + size > most - 1:
            break
        kept, used = kept + part, used + size
    return kept + "…" if most > 0 else ""


def is_right_to_left(texts: tuple[str, ...]) -> bool:
    """Return whether most letters of `texts` are of right-to-left scripts."""
    balance = 0
    for text in texts:
        if not text.isascii():
            kinds = [unicodedata.bidirectional(character) for character in text]
            balance += sum((kind in {"R", "AL"}) - (kind == "L") for kind in kinds)
        else:
            balance -= sum(map(str.isalpha, text))
    return balance > 0
