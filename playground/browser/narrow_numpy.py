"""numpy functions that also accept 64-bit counts where indices have 32 bits, as in WebAssembly.

numpy casts the counts of `repeat` and the values of `bincount` to the type of indices, and refuses those of 64 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

_repeat, _bincount = np.repeat, np.bincount


def repeat(a: npt.ArrayLike, repeats: npt.ArrayLike, axis: int | None = None) -> npt.NDArray[Any]:
    """Return `numpy.repeat` of arrays with counts of any integer type."""
    return _repeat(a, _indices(repeats), axis)


def bincount(x: npt.ArrayLike, weights: npt.ArrayLike | None = None, minlength: int = 0) -> npt.NDArray[Any]:
    """Return `numpy.bincount` of values of any integer type."""
    return _bincount(_indices(x), weights, minlength)


def _indices(values: npt.ArrayLike) -> npt.NDArray[np.intp]:
    return np.asarray(values).astype(np.intp, casting="same_kind")


def install() -> None:
    """Replace numpy's functions with these."""
    np.repeat = repeat
    np.bincount = bincount
