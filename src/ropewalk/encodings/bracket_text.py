r"""Brackets as text: `<` `>` at the dependent, `\` `/` at the head, `^` for a superbracket, `*` per index or plane."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ropewalk.core.columns import Column, intern
from ropewalk.core.ragged import Offsets, starts_of
from ropewalk.errors import EncodingError, LabelError
from ropewalk.kernels import view
from ropewalk.kernels.codes import (
    CLOSES_LEFT,
    CLOSING,
    HEAD_LEFT,
    INCOMING_SUPER,
    INDEX,
    OPENS_RIGHT,
    RIGHTWARD,
    SUPER,
    SWAPPED,
)
from ropewalk.kernels.values import Spelling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.core.arrays import Ints

MOST_TEXT = 1 << 26  # characters of all different labels of a batch
EMPTY = "_"  # the label of a word without brackets, which only graphs have
SIGNS = {0: "<", RIGHTWARD: "/", CLOSING: "\\", CLOSING | RIGHTWARD: ">"}
CODES = {sign: code for code, sign in SIGNS.items()}
BRACKET = re.compile(r"([<>\\/])(\^?)(\**)")


def bracket_text(symbols: Sequence[int]) -> str:
    """Return the label of brackets as text; `symbols` are their codes, as in `kernels.codes`. No bracket is `_`."""
    return (
        "".join(
            SIGNS[symbol & (CLOSING | RIGHTWARD)] + ("^" if symbol & SUPER else "") + "*" * (symbol // INDEX)
            for symbol in symbols
        )
        or EMPTY
    )


def bracket_symbols(encoding: str, text: str) -> list[int]:
    """Return the codes of the brackets in the label `text`, as in `kernels.codes`.

    Raise a `LabelError` that names `encoding` if the text contains anything else.
    """
    if text == EMPTY:
        return []
    brackets = BRACKET.findall(text)
    if not text or "".join(map("".join, brackets)) != text:
        raise LabelError(encoding, text, r"brackets < > \ / each followed by an optional ^ and any number of *")
    return [CODES[sign] + (SUPER if hat else 0) + INDEX * len(stars) for sign, hat, stars in brackets]


def compact_text(code: int) -> str:
    r"""Return the bits `code` of a compact label as brackets: (\^)? (> | >^ | < | <^) (/^)?.

    If the bit `SWAPPED` is set, the incoming bracket changes places with the closing one (`>`) or opening one (`<`).
    """
    incoming = (">" if code & HEAD_LEFT else "<") + ("^" if code & INCOMING_SUPER else "")
    closing = "\\^" if code & CLOSES_LEFT else ""
    opening = "/^" if code & OPENS_RIGHT else ""
    if not code & SWAPPED:
        return closing + incoming + opening
    return incoming + closing + opening if code & HEAD_LEFT else closing + opening + incoming


def number_labels(symbols: Ints, starts: Ints, to_text: Callable[[Sequence[int]], str]) -> Column:
    """Return a column of labels, in which label k is `to_text` of `symbols[starts[k]:starts[k+1]]`.

    Raise an `EncodingError` if the distinct labels have more than MOST_TEXT characters together.
    """
    positions = starts.astype(np.int64) * symbols.itemsize
    ids, firsts = intern(symbols.view(np.uint8), positions[:-1], positions[1:])
    texts: list[str] = []
    size = 0
    for k in firsts.tolist():
        texts.append(to_text(symbols[starts[k] : starts[k + 1]].tolist()))
        size += len(texts[-1])
        if size > MOST_TEXT:
            raise EncodingError(
                f"the labels of these sentences are over {MOST_TEXT:,} characters long, because brackets skip so many "
                "others; use shorter sentences, or the encoding relative"
            )
    return Column(ids, tuple(texts))


def spell(column: Column, offsets: Offsets, from_text: Callable[[str], list[int]]) -> tuple[Spelling, int]:
    """Return labels as the argument of a kernel, and the total number of symbols in the labels of all words.

    `from_text` reads a label into its symbols: codes of brackets or transitions.
    """
    spelled = [from_text(text) for text in column.names]
    symbols = np.array([symbol for label in spelled for symbol in label], dtype=np.int32)
    starts = starts_of([len(label) for label in spelled]).astype(np.int32)
    labels = column.ids.astype(np.int32)
    most = int(np.diff(starts)[labels].sum())
    return Spelling(view(labels), view(offsets.array), view(symbols), view(starts)), most
