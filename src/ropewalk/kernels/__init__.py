"""Kernels, the inner loops: plain Python over arrays, compiled with Cython where a C compiler was available.

A kernel reads and writes only buffers of numbers (`memoryview` when uncompiled). It uses no other object of this
library and raises no error: it reports faults as numbers. The same `.py` file is compiled and interpreted. If the
environment variable `ROPEWALK_PURE` is 1, the Python files run even where compiled ones exist, so that tests can run
both. Compiled kernels share the module `buffers`, which exists only compiled.
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

Ints = Any  # a buffer of integers, of one or more dimensions
Floats = Any  # likewise
HERE = Path(__file__).parent
NAMES = tuple(sorted(path.stem for path in HERE.glob("*.pxd")))
PURE = os.environ.get("ROPEWALK_PURE", "") not in {"", "0"}


def view(array: npt.NDArray[Any]) -> Any:  # noqa: ANN401 - a buffer of any shape
    """Return an array in the form that kernels read: a buffer if it has one dimension, else the array itself.

    Compiled kernels accept both. Interpreted kernels read a buffer faster than an array, but Python cannot slice a
    buffer of several dimensions.
    """
    return array.data if array.ndim == 1 else array


def new_floats(*shape: int) -> Any:  # noqa: ANN401 - a buffer of any shape
    """Return a buffer of 64-bit float zeros with this `shape`; each dimension has at least one element."""
    sizes = [max(1, size) for size in shape]
    return memoryview(bytearray(8 * math.prod(sizes))).cast("d", sizes)


def new_ints(*shape: int) -> Any:  # noqa: ANN401 - a buffer of any shape
    """Return a buffer of 32-bit integer zeros with this `shape`; each dimension has at least one element."""
    sizes = [max(1, size) for size in shape]
    return memoryview(bytearray(4 * math.prod(sizes))).cast("i", sizes)


def several_ints(count: int, size: int) -> Any:  # noqa: ANN401 - buffers
    """Return `count` buffers of 32-bit integer zeros, each with `size` elements."""
    return [new_ints(size) for _ in range(count)]


def several_floats(count: int, *sizes: int) -> Any:  # noqa: ANN401 - buffers
    """Return `count` buffers of double-precision zeros, each with dimensions `sizes`."""
    return [new_floats(*sizes) for _ in range(count)]


def compiled() -> bool:
    """Return whether all kernels run as compiled code."""
    specs = [importlib.util.find_spec(f"{__name__}.{name}") for name in NAMES]
    return all(spec is not None and not str(spec.origin).endswith(".py") for spec in specs)


class _PythonFiles:
    """An import hook that loads the Python file of a kernel even if there is a compiled one."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        del path, target
        package, _, kernel = name.rpartition(".")
        if package != __name__ or kernel not in NAMES:
            return None
        return importlib.util.spec_from_file_location(name, HERE / f"{kernel}.py")


if PURE or importlib.util.find_spec(f"{__name__}.buffers") is None:  # every compiled kernel needs it
    sys.meta_path.insert(0, _PythonFiles)
