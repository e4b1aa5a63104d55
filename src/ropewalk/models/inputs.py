"""The inputs of encoders: arrays of one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Inputs:
    """The input of an encoder for one sentence: arrays by name, the number of words, and the number of tokens.

    `size`, the number of tokens, is used to form batches.
    """

    arrays: Arrays
    words: int
    size: int
