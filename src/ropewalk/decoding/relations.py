"""The best relation of every word under its head."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import Bools, Ints, ints, real_numbers
from ropewalk.core.trees import UP, is_root_relation
from ropewalk.errors import MismatchError

if TYPE_CHECKING:
    from collections.abc import Sequence


def assign_relations(scores: npt.NDArray[np.floating], names: Sequence[str], heads: Ints) -> Ints:
    """Return the index in `names` of each word's best relation, given its head.

    Only the root gets a root relation, and never one with the mark of pseudo-projective lifting. `scores` is a table
    [words, relations].
    """
    scores = real_numbers(scores, "scores of relations")
    heads = ints(heads, "heads")
    if scores.shape != (len(heads), len(names)) or (len(heads) and not len(names)):
        raise MismatchError(f"scores of shape {scores.shape}; expected {len(heads)} words by {len(names)} relations")
    if not len(heads):
        return np.zeros(0, dtype=np.int32)
    roots, plain = _roots(tuple(names))
    if not plain.any() or roots.all():
        return np.asarray(scores.argmax(axis=1), dtype=np.int32)
    allowed = np.where((heads == 0)[:, None], plain[None, :], ~roots[None, :])
    return np.asarray(np.where(allowed, scores, -np.inf).argmax(axis=1), dtype=np.int32)


@lru_cache(maxsize=8)
def _roots(names: tuple[str, ...]) -> tuple[Bools, Bools]:
    """Return two masks over relations: which are root relations, and which of these have no mark of lifting."""
    roots = np.array([is_root_relation(name) for name in names], dtype=np.bool_)
    return roots, roots & np.array([UP not in name for name in names], dtype=np.bool_)
