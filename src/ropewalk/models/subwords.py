"""Subwords of words, and overlapping windows of long sentences, for encoders that read subwords."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.models.inputs import Arrays, Inputs
from ropewalk.models.vocabulary import casing

if TYPE_CHECKING:
    from collections.abc import Sequence

Places = npt.NDArray[np.int64]

STEP = 2  # canonical sizes are multiples of it: larger steps would compute more padding
SPARE = 4  # a word has at most 1 / SPARE of the subwords of a window
WIDEST = 1 << 13  # subwords of a window: memory grows with their square
HIGHEST = 1 << 31  # ids of subwords are smaller


@dataclass(frozen=True, slots=True)
class Tokens:
    """The special tokens around a sentence's subwords, and its padding token.

    They are stored, so that an exported model needs no transformers package.
    `prefix` and `suffix` are the ids of special tokens before and after the subwords; `prefix_types`, `suffix_types`
    and `inner_type` are the token types of the three parts. `pad` and `unknown` are ids. `side` is the side of padding.
    `window` is the largest number of tokens that the encoder reads at once.
    """

    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    prefix_types: tuple[int, ...]
    suffix_types: tuple[int, ...]
    inner_type: int
    pad: int
    unknown: int
    side: str
    window: int
    lowercases: bool
    takes_types: bool

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> Tokens:
        """Read the fields from a table of `config.json`; raise `TypeError` if a value is not possible."""
        facts: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
        }
        tokens = cls(**facts)
        frames = (*tokens.prefix, *tokens.suffix, *tokens.prefix_types, *tokens.suffix_types)
        for number in (*frames, tokens.inner_type, tokens.pad, tokens.unknown, tokens.window):
            if type(number) is not int or not 0 <= number < HIGHEST:
                raise TypeError(f"{number!r:.40} where the number of a subword or of positions is expected")
        if not 0 < tokens.capacity <= tokens.window <= WIDEST:
            raise TypeError(f"a window of {tokens.window} subwords where at most {WIDEST:,} are expected")
        return tokens

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a table for `config.json`."""
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in facts.items()}

    @property
    def capacity(self) -> int:
        """The number of subwords that fit into a window beside the special tokens."""
        return self.window - len(self.prefix) - len(self.suffix)


def windows(firsts: Places, lasts: Places, capacity: int) -> tuple[Places, Places]:
    """Split a sentence into windows of `capacity` subwords that overlap by half.

    `firsts` and `lasts` are the indices of each word's first and last subword. Return the index of each window's first
    subword, and for each word the index of the window in which it is most central. A word is most central in the
    window whose nearer edge is farthest from it. The beginning and the end of the sentence do not count as edges.
    """
    total = int(lasts[-1]) + 1
    if total <= capacity:
        return np.zeros(1, dtype=np.int64), np.zeros(len(firsts), dtype=np.int64)
    starts = np.arange(0, total - capacity, max(capacity // 2, 1), dtype=np.int64)
    starts = np.append(starts, total - capacity)
    left = np.where(starts == 0, total, firsts[:, None] - starts)
    right = np.where(starts + capacity == total, total, starts + capacity - 1 - lasts[:, None])
    inside = (firsts[:, None] >= starts) & (lasts[:, None] < starts + capacity)
    centrality = np.where(inside, np.minimum(left, right), -1)
    return starts, np.argmax(centrality, axis=1).astype(np.int64)


def inputs_of(tokens: Tokens, forms: Sequence[str], ids: Sequence[int], owners: Sequence[int | None]) -> Inputs:
    """Return the encoder's inputs for the sentence with the words `forms`.

    `ids` are the ids of its subwords, and `owners` the index of the word that each subword belongs to, or None. Words
    with too many subwords are cut; words without any get the unknown one.
    """
    most = max(tokens.capacity // SPARE, 1)
    pieces: list[list[int]] = [[] for _ in forms]
    for number, owner in zip(ids, owners, strict=True):
        if owner is not None and len(pieces[owner]) < most:
            pieces[owner].append(number)
    rows = [piece or [tokens.unknown] for piece in pieces]
    counts = np.array([len(row) for row in rows], dtype=np.int64)
    lasts = np.cumsum(counts) - 1
    firsts = lasts - counts + 1
    starts, chosen = windows(firsts, lasts, tokens.capacity)
    shift = len(tokens.prefix) - starts[chosen]
    total = int(lasts[-1]) + 1
    arrays = {
        "ids": np.array([number for row in rows for number in row], dtype=np.int64),
        "casings": np.repeat(np.array([casing(form) for form in forms], dtype=np.int64), counts),
        "starts": starts,
        "windows": chosen,
        "firsts": firsts + shift,
        "lasts": lasts + shift,
    }
    return Inputs(arrays, len(forms), min(total, tokens.capacity) + tokens.window - tokens.capacity)


def canonical(tokens: Tokens, size: int) -> int:
    """Return `size`, a number of tokens, rounded up to a multiple of `STEP`, but not above the window of `tokens`."""
    return min(-(-size // STEP) * STEP, max(tokens.window, size))


def side_by_side(tokens: Tokens, inputs: Sequence[Inputs], size: int = 0) -> Arrays:
    """Return the arrays for a batch of sentences: one row for each window, with special tokens and padding.

    Rows are padded to `size` tokens, or to the longest. `firsts` and `lasts` in the result are the indices of each
    word's first and last subword in the flattened rows.
    """
    width = max(size, *(sentence.size for sentence in inputs))
    height = sum(len(sentence.arrays["starts"]) for sentence in inputs)
    ids = np.full((height, width), tokens.pad, dtype=np.int64)
    types, mask, casings = np.zeros((3, height, width), dtype=np.int64)
    rows, firsts, lasts = [], [], []
    row = 0
    for sentence in inputs:
        shifts = []
        for start in sentence.arrays["starts"].tolist():
            inner = sentence.arrays["ids"][start : start + tokens.capacity]
            framed = np.concatenate([tokens.prefix, inner, tokens.suffix])
            left = width - len(framed) if tokens.side == "left" else 0
            where = slice(left, left + len(framed))
            body = slice(left + len(tokens.prefix), left + len(tokens.prefix) + len(inner))
            ids[row, where] = framed
            mask[row, where] = 1
            types[row, where] = [*tokens.prefix_types, *[tokens.inner_type] * len(inner), *tokens.suffix_types]
            casings[row, body] = sentence.arrays["casings"][start : start + tokens.capacity]
            shifts.append(left)
            row += 1
        chosen = sentence.arrays["windows"]
        shift = np.array(shifts, dtype=np.int64)[chosen]
        rows.append(chosen + (row - len(shifts)))
        firsts.append(sentence.arrays["firsts"] + shift)
        lasts.append(sentence.arrays["lasts"] + shift)
    return {
        "ids": ids,
        "types": types,
        "mask": mask,
        "casings": casings,
        "firsts": np.concatenate(firsts) + np.concatenate(rows) * width,
        "lasts": np.concatenate(lasts) + np.concatenate(rows) * width,
    }
