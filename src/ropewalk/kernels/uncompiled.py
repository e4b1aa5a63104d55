"""What the kernels need of the module `cython` when it is not installed: a `nogil` that does nothing."""

from __future__ import annotations

import contextlib

nogil = contextlib.nullcontext()
compiled = False
