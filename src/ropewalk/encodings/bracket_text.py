r"""Brackets as text: `<` `>` at the dependent, `\` `/` at the head, `^` for a superbracket, `*` per index or plane."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ropewalk.core.columns import Column, intern
from ropewalk.errors import EncodingError, LabelError
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

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.core.arrays import Ints

MOST_TEXT = 1 << 26  # characters of all different labels of what is written together
EMPTY = "_"  # the label of a word that has no bracket at all, which only graphs have
SIGNS = {0: "<", RIGHTWARD: "/", CLOSING: "\\", CLOSING | RIGHTWARD: ">"}
CODES = {sign: code for code, sign in SIGNS.items()}
BRACKET = re.compile(r"([<>\\/])(\^?)(\**)")


def bracket_text(symbols: Sequence[int]) -> str:
    """Write brackets as text."""
    return (
        "".join(
            SIGNS[symbol & (CLOSING | RIGHTWARD)] + ("^" if symbol & SUPER else "") + "*" * (symbol // INDEX)
            for symbol in symbols
        )
        or EMPTY
    )


def bracket_symbols(encoding: str, text: str) -> list[int]:
    """Read brackets from text, or raise a `LabelError`."""
    if text == EMPTY:
        return []
    found = BRACKET.findall(text)
    if not text or "".join(map("".join, found)) != text:
        raise LabelError(encoding, text, r"brackets < > \ / each followed by an optional ^ and any number of *")
    return [CODES[sign] + (SUPER if hat else 0) + INDEX * len(stars) for sign, hat, stars in found]


def compact_text(code: int) -> str:
    r"""Write a compact label as text: (\^)? (> | >^ | < | <^) (/^)?, in the other order where it is swapped."""
    incoming = (">" if code & HEAD_LEFT else "<") + ("^" if code & INCOMING_SUPER else "")
    closing = "\\^" if code & CLOSES_LEFT else ""
    opening = "/^" if code & OPENS_RIGHT else ""
    if not code & SWAPPED:
        return closing + incoming + opening
    return incoming + closing + opening if code & HEAD_LEFT else closing + opening + incoming


def number_labels(symbols: Ints, starts: Ints, to_text: Callable[[Sequence[int]], str]) -> Column:
    """Return the column in which label k of all spells `symbols[starts[k]:starts[k+1]]`."""
    places = starts.astype(np.int64) * symbols.itemsize
    ids, firsts = intern(symbols.view(np.uint8), places[:-1], places[1:])
    texts: list[str] = []
    size = 0
    for k in firsts.tolist():
        texts.append(to_text(symbols[starts[k] : starts[k + 1]].tolist()))
        size += len(texts[-1])
        if size > MOST_TEXT:
            raise EncodingError(
                f"the labels of these sentences are over {MOST_TEXT:,} characters long, since brackets have to skip so "
                "many others; expected shorter sentences, or take offsets (relative)"
            )
    return Column(ids, tuple(texts))


def spell(alphabet: Sequence[str], from_text: Callable[[str], list[int]]) -> tuple[Ints, Ints]:
    """Return what the labels of an alphabet spell, one after another, and where each begins."""
    spelled = [from_text(text) for text in alphabet]
    symbols = np.array([symbol for label in spelled for symbol in label], dtype=np.int32)
    return symbols, np.concatenate([[0], np.cumsum([len(label) for label in spelled])]).astype(np.int32)
