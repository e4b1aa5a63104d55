"""Long lists in JSON files as one string, which is much faster to read: texts joined with line breaks, or base64.

The functions that read them also accept plain lists, as in models of earlier versions. In exported models, long strings
are in a file beside the JSON file: texts as UTF-8, numbers as bytes.
"""

from __future__ import annotations

import binascii
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ropewalk.core.arrays import frozen_ints

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ropewalk.core.arrays import Ints

KINDS = ("u1", "u2", "u4")  # types of numbers; the first that can hold all of a list is used
HIGHEST = (1 << 31) - 1  # of an array for kernels
MOST = 1 << 28  # bytes of long strings
LONG = 512  # characters of a string that is stored beside the JSON file
TEXT = "text"  # the kind of a string that is stored there; others have the kind of their numbers
_REFERENCE = {"kind", "from", "to"}  # keys of the table that stands for such a string


def packed_texts(texts: Sequence[str]) -> str | list[str]:
    """Join texts with line breaks to one string; return a list if there are no texts or one contains a line break."""
    whole = "\n".join(texts)
    return whole if texts and whole.count("\n") == len(texts) - 1 else list(texts)


def texts_of(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - any JSON
    """Return the texts that `packed_texts` joined to one string, or those in a list.

    Raise `TypeError` for any other value.
    """
    if isinstance(value, str):
        return tuple(value.split("\n"))
    if not isinstance(value, list) or not {*map(type, value)} <= {str}:
        raise TypeError(f"{value!r:.40} where a list of texts is expected")
    return tuple(value)


def packed_numbers(numbers: Ints) -> str:
    """Encode an array of non-negative integers as text: their numpy type, a space, and their bytes in base64.

    The type is the smallest in `KINDS` that holds all of them; the bytes are little-endian.
    """
    kind = next(kind for kind in KINDS if numbers.max(initial=0) <= np.iinfo(kind).max)
    return f"{kind} {binascii.b2a_base64(numbers.astype('<' + kind).tobytes(), newline=False).decode('ascii')}"


def numbers_of(value: Any) -> Ints:  # noqa: ANN401 - any JSON
    """Return the integers that `packed_numbers` encoded as text, or those in a list.

    Raise `TypeError` for any other value.
    """
    try:
        numbers = _unpacked(value) if isinstance(value, str) else np.array(value)
    except (ValueError, OverflowError) as failure:
        raise TypeError(f"{value!r:.40} where numbers are expected") from failure
    whole = numbers.dtype.kind in "iu" or not numbers.size
    if not whole or numbers.ndim != 1 or numbers.max(initial=0) > HIGHEST or numbers.min(initial=0) < -HIGHEST:
        raise TypeError(f"{value!r:.40} where numbers are expected")
    return frozen_ints(numbers)


def apart(table: Any) -> tuple[Any, bytes]:  # noqa: ANN401 - any JSON
    """Return a copy of a JSON table without the long strings in it and its inner tables, and their bytes, compressed.

    Most of the bytes are counts of words, which repeat themselves.
    """
    blocks: list[bytes] = []

    def moved(value: Any, start: int) -> Any:  # noqa: ANN401 - likewise
        if isinstance(value, dict):
            return {key: moved(inner, sum(map(len, blocks))) for key, inner in value.items()}
        if not isinstance(value, str) or len(value) < LONG:
            return value
        kind = value[:2] if value[:3] in {f"{kind} " for kind in KINDS} else TEXT
        blocks.append(value.encode("utf-8") if kind == TEXT else _unpacked(value).tobytes())
        return {"kind": kind, "from": start, "to": start + len(blocks[-1])}

    return moved(table, 0), zlib.compress(b"".join(blocks), zlib.Z_BEST_COMPRESSION)


def together(table: Any, compressed: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return a copy of a JSON table with the strings that `apart` moved out of it, and arrays in place of numbers.

    Raise `TypeError` if `compressed` is damaged, holds more than `MOST` bytes or lacks a string.
    """
    reader = zlib.decompressobj()
    try:
        raw = reader.decompress(compressed, MOST) if compressed else b""
    except zlib.error as failure:
        raise TypeError(f"{len(compressed):,} bytes that cannot be decompressed ({failure})") from failure
    if compressed and not reader.eof:
        raise TypeError(f"compressed bytes that are cut off, or more than {MOST:,}")
    return _joined(table, raw)


def _joined(table: Any, raw: bytes) -> Any:  # noqa: ANN401 - any JSON
    if not isinstance(table, dict):
        return table
    if table.keys() != _REFERENCE:
        return {key: _joined(inner, raw) for key, inner in table.items()}
    kind, start, stop = table["kind"], table["from"], table["to"]
    if type(start) is not int or type(stop) is not int or not 0 <= start <= stop <= len(raw):
        raise TypeError(f"{start!r:.40} to {stop!r:.40} where a part of {len(raw):,} bytes is expected")
    try:
        if kind == TEXT:
            return raw[start:stop].decode("utf-8")
        return np.frombuffer(raw[start:stop], dtype="<" + KINDS[KINDS.index(kind)])
    except ValueError as failure:
        raise TypeError(f"bytes {start:,} to {stop:,} are no {kind!r:.40}") from failure


def _unpacked(text: str) -> npt.NDArray[Any]:
    kind, _, coded = text.partition(" ")
    return np.frombuffer(binascii.a2b_base64(coded, strict_mode=True), dtype="<" + KINDS[KINDS.index(kind)])
