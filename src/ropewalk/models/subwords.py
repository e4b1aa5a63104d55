"""How words are cut into subwords and long sentences into overlapping windows, for encoders that read subwords."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.models.features import casing
from ropewalk.models.inputs import Arrays, Inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

Places = npt.NDArray[np.int64]

STEP = 2  # canonical sizes are multiples of it: what is filled up is computed for nothing
SPARE = 4  # no word has more subwords than this share of a window
WIDEST = 1 << 13  # subwords of a window: memory grows with their square
HIGHEST = 1 << 31  # numbers of subwords lie below


@dataclass(frozen=True, slots=True)
class Tokens:
    """How a sentence's subwords are framed and padded; all that is needed to do the same without transformers."""

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
        """Take the facts from what `config.json` holds."""
        facts: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
        }
        found = cls(**facts)
        frames = (*found.prefix, *found.suffix, *found.prefix_types, *found.suffix_types)
        for number in (*frames, found.inner_type, found.pad, found.unknown, found.window):
            if type(number) is not int or not 0 <= number < HIGHEST:
                raise TypeError(f"{number!r:.40} where the number of a subword or of positions is expected")
        if not 0 < found.capacity <= found.window <= WIDEST:
            raise TypeError(f"a window of {found.window} subwords where at most {WIDEST:,} are expected")
        return found

    def to_json(self) -> dict[str, Any]:
        """Give what `config.json` holds."""
        return {
            one.name: list(value) if isinstance(value := getattr(self, one.name), tuple) else value
            for one in dataclasses.fields(self)
        }

    @property
    def capacity(self) -> int:
        """How many subwords of a sentence fit into a window."""
        return self.window - len(self.prefix) - len(self.suffix)


def windows(firsts: Places, lasts: Places, capacity: int) -> tuple[Places, Places]:
    """Cut a long sentence into windows of `capacity` subwords that overlap by half.

    Returns where each window starts, and for each word the window in which it is most central: the one where
    the nearer of its two edges is farthest; an edge that is the sentence's own does not count.
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
    """Lay out a sentence whose subwords have these numbers and belong to these words, counted from 0."""
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
    """Round a sentence's size up to a multiple of some subwords."""
    return min(-(-size // STEP) * STEP, max(tokens.window, size))


def side_by_side(tokens: Tokens, inputs: Sequence[Inputs], size: int = 0) -> Arrays:
    """Frame and pad every window of every sentence, to `size` or to the longest."""
    width = max(size, *(one.size for one in inputs))
    height = sum(len(one.arrays["starts"]) for one in inputs)
    ids = np.full((height, width), tokens.pad, dtype=np.int64)
    types = np.zeros((height, width), dtype=np.int64)
    mask = np.zeros((height, width), dtype=np.int64)
    casings = np.zeros((height, width), dtype=np.int64)
    rows, firsts, lasts = [], [], []
    row = 0
    for one in inputs:
        shifts = []
        for start in one.arrays["starts"].tolist():
            inner = one.arrays["ids"][start : start + tokens.capacity]
            framed = np.concatenate([tokens.prefix, inner, tokens.suffix])
            left = width - len(framed) if tokens.side == "left" else 0
            where = slice(left, left + len(framed))
            body = slice(left + len(tokens.prefix), left + len(tokens.prefix) + len(inner))
            ids[row, where] = framed
            mask[row, where] = 1
            types[row, where] = [*tokens.prefix_types, *[tokens.inner_type] * len(inner), *tokens.suffix_types]
            casings[row, body] = one.arrays["casings"][start : start + tokens.capacity]
            shifts.append(left)
            row += 1
        chosen = one.arrays["windows"]
        shift = np.array(shifts, dtype=np.int64)[chosen]
        rows.append(chosen + (row - len(shifts)))
        firsts.append(one.arrays["firsts"] + shift)
        lasts.append(one.arrays["lasts"] + shift)
    return {
        "ids": ids,
        "types": types,
        "mask": mask,
        "casings": casings,
        "firsts": np.concatenate(firsts) + np.concatenate(rows) * width,
        "lasts": np.concatenate(lasts) + np.concatenate(rows) * width,
    }
