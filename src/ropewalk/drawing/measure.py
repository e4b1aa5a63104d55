"""How much room text takes: cells of a terminal, and about how many units of a proportional font."""

from __future__ import annotations

import unicodedata

# Widths of Latin letters in hundredths of the font size; a letter of no group takes 56.
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
    """Count the cells that text takes in a terminal: two for a wide character, none for a mark."""
    return len(text) if text.isascii() else sum(size for _, size in clusters(text))


def clusters(text: str) -> list[tuple[str, int]]:
    """Cut text into what stands in one place of a terminal, marks and joined emoji kept together, with its cells."""
    if text.isascii():
        return [(character, 1) for character in text]
    from rich.cells import split_graphemes

    spans, _ = split_graphemes(text)
    return [(text[start:end], size) for start, end, size in spans]


def units(text: str) -> float:
    """Estimate the width of text in a proportional font, as a multiple of the font's size."""
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
    """Cut text down to so many cells, an ellipsis the last of them."""
    if cells(text) <= most:
        return text
    kept, used = "", 0
    for part, size in clusters(text):
        if used + size > most - 1:
            break
        kept, used = kept + part, used + size
    return kept + "…" if most > 0 else ""


def is_right_to_left(texts: tuple[str, ...]) -> bool:
    """Tell whether more letters of right-to-left scripts occur than of others."""
    balance = 0
    for text in texts:
        if not text.isascii():
            kinds = [unicodedata.bidirectional(character) for character in text]
            balance += sum((kind in {"R", "AL"}) - (kind == "L") for kind in kinds)
        else:
            balance -= sum(map(str.isalpha, text))
    return balance > 0
