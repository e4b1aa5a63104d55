"""Long lists in JSON files as one text each, which is read many times as fast: words on lines, numbers in base64.

Both may be plain lists as well, as short ones are, and as all were in models that were made earlier.
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

KINDS = ("u1", "u2", "u4")  # of numbers, by their bytes; the first that can hold all of a list is taken
HIGHEST = (1 << 31) - 1  # that an array for kernels holds


def packed_texts(texts: Sequence[str]) -> str | list[str]:
    """Write texts on lines; as a list if there is none, or one has a line break in it."""
    whole = "\n".join(texts)
    return whole if texts and whole.count("\n") == len(texts) - 1 else list(texts)


def texts_of(given: Any) -> tuple[str, ...]:  # noqa: ANN401 - whatever JSON holds
    """Take texts on lines or a list of them, and nothing else."""
    if isinstance(given, str):
        return tuple(given.split("\n"))
    if not isinstance(given, list) or not {*map(type, given)} <= {str}:
        raise TypeError(f"{given!r:.40} where a list of texts is expected")
    return tuple(given)


def packed_numbers(numbers: Ints) -> str:
    """Write numbers that are not negative: their kind, and their bytes in base64, the lowest of each first."""
    kind = next(kind for kind in KINDS if numbers.max(initial=0) <= np.iinfo(kind).max)
    return f"{kind} {binascii.b2a_base64(numbers.astype('<' + kind).tobytes(), newline=False).decode('ascii')}"


def numbers_of(given: Any) -> Ints:  # noqa: ANN401 - whatever JSON holds
    """Take numbers as they were packed, or a list of them, and nothing else."""
    try:
        found = _unpacked(given) if isinstance(given, str) else np.array(given)
    except (ValueError, OverflowError) as failure:
        raise TypeError(f"{given!r:.40} where numbers are expected") from failure
    whole = found.dtype.kind in "iu" or not found.size
    if not whole or found.ndim != 1 or found.max(initial=0) > HIGHEST or found.min(initial=0) < -HIGHEST:
        raise TypeError(f"{given!r:.40} where numbers are expected")
    return frozen_ints(found)


def _unpacked(given: str) -> npt.NDArray[Any]:
    kind, _, coded = given.partition(" ")
    return np.frombuffer(binascii.a2b_base64(coded, strict_mode=True), dtype="<" + KINDS[KINDS.index(kind)])
