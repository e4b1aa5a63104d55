"""The border before the kernels: what others hand over becomes arrays that a kernel can take, or an error.

Compiled kernels do not look whether an index lies inside its array. So every function that calls one, and every value
that holds arrays for one, takes them through here first. What is found good is kept on bytes, which nobody can change.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.errors import MismatchError

if TYPE_CHECKING:
    from collections.abc import Iterable

Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

FEW = 16
LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1
UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
NOT_AN_ARRAY = (TypeError, ValueError, OverflowError)  # what numpy raises for what it cannot take


def as_array(values: object, what: str) -> npt.NDArray[Any]:
    """Take whatever numpy takes as an array, and what can be listed."""
    if type(values) is np.ndarray:  # nearly always, and often
        return values
    try:
        return np.asarray(values if hasattr(values, "__len__") or not hasattr(values, "__iter__") else list(values))
    except NOT_AN_ARRAY as error:
        raise MismatchError(f"{what} must be numbers, found {type(values).__name__}: {error}") from error


def ints(values: npt.ArrayLike | Iterable[int], what: str, *, size: int | None = None) -> Ints:
    """Take one row of integers as 32 bits each, side by side in memory, of the given size if there is one."""
    array = as_array(values, what)
    if array.ndim != 1:
        raise MismatchError(f"{what} must be one row of integers, found an array of shape {array.shape}")
    if size is not None and len(array) != size:
        raise MismatchError(f"{what}: {len(array)} values found, {size} expected")
    if array.dtype == np.int32 and array.flags.c_contiguous and array.flags.aligned:
        return array
    if array.dtype.kind not in "biu" and len(array):
        raise MismatchError(f"{what} must be integers, found {array[0]!r} and others of type {array.dtype}")
    narrow = array.dtype.itemsize < 4
    if len(array) and not narrow and not (array.min() >= LOWEST and array.max() <= HIGHEST):
        raise MismatchError(f"{what} must be integers of 32 bits, found {array.min()} to {array.max()}")
    return np.ascontiguousarray(array, dtype=np.int32)


def real_numbers(values: npt.ArrayLike, what: str) -> npt.NDArray[Any]:
    """Take numbers of any shape, in the type that they have."""
    array = as_array(values, what)
    if array.dtype.kind not in "iuf" and array.size:
        raise MismatchError(f"{what} must be numbers, found {array.dtype}")
    return array


def floats(values: npt.ArrayLike, what: str) -> Floats:
    """Take numbers of any shape as 64 bits each, side by side in memory."""
    return np.ascontiguousarray(real_numbers(values, what), dtype=np.float64)


def checked_offsets(offsets: npt.ArrayLike, what: str = "offsets", *, end: int | None = None) -> Ints:
    """Take the places where sentences begin and the last one ends; `end` is where that must be."""
    found = ints(offsets, what)
    if not len(found) or found[0] != 0 or _falls(found):
        raise MismatchError(
            f"{what} must be one row of numbers that begins with 0 and never falls, one more than sentences"
        )
    if end is not None and found[-1] != end:
        raise MismatchError(f"{what} end at {found[-1]}, but there are {end} values; the last must be their number")
    return found


def _falls(numbers: Ints) -> bool:
    """Tell whether any number is less than the one before it; a few are looked at faster by themselves."""
    if len(numbers) > FEW:
        return bool((numbers[1:] < numbers[:-1]).any())
    listed: list[int] = numbers.tolist()
    return listed != sorted(listed)


def numbers_below(
    values: npt.ArrayLike | Iterable[int], limit: int, what: str, *, size: int | None = None
) -> npt.NDArray[Any]:
    """Take one row of integers from 0 up to a limit, in the type that they have."""
    array = as_array(values, what)
    if array.dtype.kind not in "iu" or array.ndim != 1 or not array.dtype.isnative:
        array = ints(array, what)
    if size is not None and len(array) != size:
        raise MismatchError(f"{what}: {len(array)} values found, {size} expected")
    unsigned = array.view(UNSIGNED[array.itemsize])  # a negative number is a very large one
    if len(array) and np.maximum.reduce(unsigned) >= limit:
        wrong = int(np.flatnonzero(unsigned >= limit)[0])
        raise MismatchError(f"{what}: value {wrong + 1} is {array[wrong]}, expected 0 to {limit - 1}")
    return array


def one_number(value: object, what: str, *, least: int) -> int:
    """Take one integer that is not below the least."""
    if not isinstance(value, int | np.integer) or not least <= value <= HIGHEST:
        raise MismatchError(f"{what} is {value!r}; expected an integer from {least} on")
    return int(value)


class Rebuilt:
    """A value whose copies and pickles pass its constructor: their arrays are checked and frozen like its own."""

    __slots__ = ()

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), tuple(getattr(self, name) for name in inspect.signature(type(self)).parameters)


def unchangeable(array: npt.NDArray[Any]) -> bool:
    """Tell whether an array rests on bytes, so that nobody can change it."""
    base = array.base
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, bytes)


def frozen_array(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Give an array that nobody can change: the one given, or a copy."""
    if unchangeable(array):
        return array
    return np.frombuffer(array.tobytes(), dtype=array.dtype).reshape(array.shape)


def frozen_ints(values: Iterable[int] | npt.NDArray[Any], what: str = "values") -> Ints:
    """Make an array of 32-bit integers that nobody can change, copying what could still be changed by others."""
    return frozen_array(ints(values, what))


def frozen_bools(values: npt.ArrayLike) -> Bools:
    """Return one row of truth values that nobody can change, or raise a `MismatchError`."""
    array = as_array(values, "marks of empty nodes")
    if array.ndim != 1 or (array.dtype.kind != "b" and len(array)):
        raise MismatchError(f"marks of empty nodes must be one row of truth values, found {array.dtype}")
    return frozen_array(array.astype(np.bool_, copy=False))
