"""Sentences as a network reads them: arrays of numbers, one sentence at a time or side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Inputs:
    """One sentence as an encoder reads it: arrays, its number of words, and what it costs and is batched by."""

    arrays: Arrays
    words: int
    size: int
