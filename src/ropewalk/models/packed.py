"""Long lists in JSON files as one string, which is much faster to read: texts joined with line breaks, or base64.

The functions that read them also accept plain lists, as in models of earlier versions.
"""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING, Any

import numpy as np

from ropewalk.core.arrays import frozen_ints

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ropewalk.core.arrays import Ints

KINDS = ("u1", "u2", "u4")  # types of numbers; the first that can hold all of a list is used
HIGHEST = (1 << 31) - 1  # of an array for kernels


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


def _unpacked(text: str) -> npt.NDArray[Any]:
    kind, _, coded = text.partition(" ")
    return np.frombuffer(binascii.a2b_base64(coded, strict_mode=True), dtype="<" + KINDS[KINDS.index(kind)])
