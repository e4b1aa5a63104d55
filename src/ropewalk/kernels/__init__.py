"""The inner loops: plain Python over arrays, compiled by Cython where a C compiler was at hand.

A kernel sees only buffers of integers (`memoryview` when uncompiled), never an object of this library, and
raises nothing: what went wrong comes back as numbers. The same `.py` file is compiled and interpreted; the
environment variable `ROPEWALK_PURE=1` runs the Python files even where the compiled ones exist, which is how
the tests run both. Compiled kernels share the module `buffers`, which exists only compiled.
"""

from __future__ import annotations

import importlib.util
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    import numpy.typing as npt

HERE = Path(__file__).parent
NAMES = tuple(sorted(path.stem for path in HERE.glob("*.pxd")))
PURE = os.environ.get("ROPEWALK_PURE", "") not in {"", "0"}


def view(array: npt.NDArray[Any]) -> Any:  # noqa: ANN401 - a buffer of any shape
    """Give a kernel the buffer of an array: compiled code takes it as it is, and Python reads it fastest.

    Python cannot cut a buffer of several dimensions, so an array of several is given as it is.
    """
    return array.data if array.ndim == 1 else array


def new_floats(*shape: int) -> Any:  # noqa: ANN401 - a buffer of any shape
    """Make a buffer of zeros, at least one along each dimension, for a kernel to work in."""
    sizes = [max(1, size) for size in shape]
    return memoryview(bytearray(8 * math.prod(sizes))).cast("d", sizes)


def new_ints(*shape: int) -> Any:  # noqa: ANN401 - a buffer of any shape
    """Make a buffer of whole zeros, at least one along each dimension, for a kernel to work in."""
    sizes = [max(1, size) for size in shape]
    return memoryview(bytearray(4 * math.prod(sizes))).cast("i", sizes)


def compiled() -> bool:
    """Tell whether every kernel in use is compiled."""
    specs = [importlib.util.find_spec(f"{__name__}.{name}") for name in NAMES]
    return all(spec is not None and not str(spec.origin).endswith(".py") for spec in specs)


class _PythonFiles:
    """Finds a kernel's Python file where Python itself would take the compiled one."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        del path, target
        package, _, kernel = name.rpartition(".")
        if package != __name__ or kernel not in NAMES:
            return None
        return importlib.util.spec_from_file_location(name, HERE / f"{kernel}.py")


if PURE or importlib.util.find_spec(f"{__name__}.buffers") is None:  # no compiled kernel runs without it
    sys.meta_path.insert(0, _PythonFiles)
