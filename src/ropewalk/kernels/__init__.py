"""The inner loops: plain Python over arrays, compiled by Cython where a C compiler was at hand.

A kernel sees only buffers of integers (`memoryview` when uncompiled), never an object of this library, and
raises nothing: what went wrong comes back as numbers. The same `.py` file is compiled and interpreted; the
environment variable `ROPEWALK_PURE=1` runs the Python files even where the compiled ones exist, which is how
the tests run both.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

HERE = Path(__file__).parent
NAMES = tuple(sorted(path.stem for path in HERE.glob("*.pxd")))


def view(array: npt.NDArray[Any]) -> memoryview:
    """Give a kernel the buffer of an array: compiled code takes it as it is, and Python reads it fastest."""
    return memoryview(array)


def compiled() -> bool:
    """Tell whether every kernel in use is compiled."""
    if os.environ.get("ROPEWALK_PURE"):
        return False
    specs = [importlib.util.find_spec(f"{__name__}.{name}") for name in NAMES]
    return all(spec is not None and not str(spec.origin).endswith(".py") for spec in specs)


def _use_python_files() -> None:
    for name in NAMES:
        full = f"{__name__}.{name}"
        spec = importlib.util.spec_from_file_location(full, HERE / f"{name}.py")
        if spec is None or spec.loader is None:  # pragma: no cover - the file was listed a moment ago
            continue
        module = importlib.util.module_from_spec(spec)
        sys.modules[full] = module
        spec.loader.exec_module(module)


if os.environ.get("ROPEWALK_PURE"):
    _use_python_files()
