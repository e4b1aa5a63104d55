"""Layout of tables in a terminal: widths of columns, and lines of text in a cell. Numbers are never broken."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST_WORD: Final = 20  # words with letters that are longer can be broken
BREAKS: Final = re.compile(r"(?<=\S[-/_+=,;:(.])(?=[^\W\d_])")  # after punctuation in a word, before a letter
LETTER: Final = re.compile(r"[^\W\d_]")


def cell_width(text: str) -> int:
    """Return the width of a text in a terminal, in character cells; wide characters have two."""
    from rich.cells import cell_len

    return cell_len(text)


def least_width(texts: Iterable[str], header: str) -> int:
    """Return the least width of a column with these `texts` and this `header`.

    It is the width of the widest piece that must not be broken: a number, a word of up to `LONGEST_WORD` cells, or a
    piece of the header, which may be broken at spaces and after punctuation.
    """
    words = [word for text in texts for word in text.split(" ")]
    widths = [
        min(cell_width(word), LONGEST_WORD) if LETTER.search(word) else cell_width(word)
        for word in dict.fromkeys(words)
    ]
    return max([1, *widths, *(cell_width(piece) for word in header.split() for piece in BREAKS.split(word))])


def share_width(least: Sequence[int], natural: Sequence[int], total: int) -> list[int]:
    """Return the widths of columns, each between its `least` and its `natural` width, so that their sum is `total`.

    The sum is larger if the least widths need more, and smaller if the natural widths need less. The narrowest columns
    grow first, so that columns with long texts share the rest.
    """
    widths = list(least)
    spare = total - sum(widths)
    growing = [number for number, width in enumerate(widths) if width < natural[number]]
    while spare > 0 and growing:
        number = min(growing, key=lambda column: widths[column])
        widths[number] += 1
        spare -= 1
        if widths[number] == natural[number]:
            growing.remove(number)
    return widths


def wrap(text: str, width: int) -> list[str]:
    """Break a text into lines of up to `width` cells, at spaces.

    A longer word with letters is broken after punctuation, or anywhere if that is not enough. A longer number gets a
    line of its own, which is wider than `width`.
    """
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_width(joined) <= width:
            lines[-1] = joined
            continue
        first, *rest = _pieces(word, width)
        lines += [first, *rest]
    return lines[1:] if lines[0] == "" and len(lines) > 1 else lines


def _pieces(word: str, width: int) -> list[str]:
    """Break a word that is wider than `width` into pieces, each as long as possible; a number stays whole."""
    from rich.cells import chop_cells

    if cell_width(word) <= width or not LETTER.search(word):
        return [word]
    lines = [""]
    for piece in BREAKS.split(word):
        if cell_width(lines[-1] + piece) <= width:
            lines[-1] += piece
        else:
            lines += chop_cells(piece, width)
    return [line for line in lines if line]
