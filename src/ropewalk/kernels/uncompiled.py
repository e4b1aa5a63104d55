"""A replacement for the module `cython` where it is not installed: `nogil` does nothing."""

from __future__ import annotations

import contextlib

nogil = contextlib.nullcontext()
compiled = False
