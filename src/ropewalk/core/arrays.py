"""Checks before kernels: convert the arguments of callers to arrays of the type that a kernel needs, or raise.

Compiled kernels do not check whether an index is inside its array. So every function that calls a kernel, and every
object that stores arrays for one, checks them with these functions first. Checked arrays are stored in `bytes` objects,
which cannot be changed.
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
    """Return `values`, any iterable or what numpy accepts, as an array; raise a `MismatchError` that names `what`."""
    if type(values) is np.ndarray:  # nearly always, and often
        return values
    try:
        return np.asarray(values if hasattr(values, "__len__") or not hasattr(values, "__iter__") else list(values))
    except NOT_AN_ARRAY as error:
        raise MismatchError(f"{what} must be numbers, found {type(values).__name__}: {error}") from error


def ints(values: npt.ArrayLike | Iterable[int], what: str, *, size: int | None = None) -> Ints:
    """Return `values` as a contiguous array of 32-bit integers with one dimension.

    Raise a `MismatchError` that names `what` if they are no such integers, or if there are not `size` of them.
    """
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
    """Return `values` as an array of numbers of any shape and type; raise a `MismatchError` if they are no numbers."""
    array = as_array(values, what)
    if array.dtype.kind not in "iuf" and array.size:
        raise MismatchError(f"{what} must be numbers, found {array.dtype}")
    return array


def floats(values: npt.ArrayLike, what: str) -> Floats:
    """Return `values` as a contiguous array of 64-bit floats of any shape; raise a `MismatchError` if impossible."""
    return np.ascontiguousarray(real_numbers(values, what), dtype=np.float64)


def checked_offsets(offsets: npt.ArrayLike, what: str = "offsets", *, end: int | None = None) -> Ints:
    """Return sentence offsets as integers: the start of each sentence, and the end of the last.

    Raise a `MismatchError` unless they begin with 0, never fall, and end with `end`, if that is given.
    """
    array = ints(offsets, what)
    if not len(array) or array[0] != 0 or _falls(array):
        raise MismatchError(
            f"{what} must be one row of numbers that begins with 0 and never falls, one more than sentences"
        )
    if end is not None and array[-1] != end:
        raise MismatchError(f"{what} end at {array[-1]}, but there are {end} values; the last must be their number")
    return array


def _falls(numbers: Ints) -> bool:
    """Return whether any number is less than the one before it; up to FEW numbers are faster as a list."""
    if len(numbers) > FEW:
        return bool((numbers[1:] < numbers[:-1]).any())
    listed: list[int] = numbers.tolist()
    return listed != sorted(listed)


def numbers_below(
    values: npt.ArrayLike | Iterable[int], limit: int, what: str, *, size: int | None = None
) -> npt.NDArray[Any]:
    """Return `values` as an array of integers with one dimension; integers keep their type.

    Raise a `MismatchError` that names `what` unless all are from 0 to `limit` - 1 and there are `size` of them, if that
    is given.
    """
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
    """Return `value` as an `int`; raise a `MismatchError` unless it is a 32-bit integer from `least` on."""
    if not isinstance(value, int | np.integer) or not least <= value <= HIGHEST:
        raise MismatchError(f"{what} is {value!r}; expected an integer from {least} on")
    return int(value)


class Rebuilt:
    """Base class whose copies and unpickled objects are built with the constructor, which checks and freezes arrays."""

    __slots__ = ()

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), tuple(getattr(self, name) for name in inspect.signature(type(self)).parameters)


def set_fields(value: object, **fields: object) -> None:
    """Set fields of `value`, an object of a frozen dataclass, while it is built."""
    for name, content in fields.items():
        object.__setattr__(value, name, content)


def unchangeable(array: npt.NDArray[Any]) -> bool:
    """Return whether the memory of an array is a `bytes` object, which cannot be changed."""
    base = array.base
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, bytes)


def frozen_array(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array that cannot be changed: `array` itself if it is such an array, else a copy."""
    if unchangeable(array):
        return array
    return np.frombuffer(array.tobytes(), dtype=array.dtype).reshape(array.shape)


def frozen_ints(values: Iterable[int] | npt.NDArray[Any], what: str = "values") -> Ints:
    """Return `values` as an array of 32-bit integers that cannot be changed; an array that could be is copied."""
    return frozen_array(ints(values, what))


def frozen_bools(values: npt.ArrayLike) -> Bools:
    """Return `values` as an array of booleans that cannot be changed; raise a `MismatchError` if they are none."""
    array = as_array(values, "marks of empty nodes")
    if array.ndim != 1 or (array.dtype.kind != "b" and len(array)):
        raise MismatchError(f"marks of empty nodes must be one row of truth values, found {array.dtype}")
    return frozen_array(array.astype(np.bool_, copy=False))
