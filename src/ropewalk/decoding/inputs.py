"""What both the search for the best tree and the sums over trees begin with."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.decoding.machines import Machine, machine_of
from ropewalk.encodings import get
from ropewalk.encodings.base import Encoding, Labels, smallest
from ropewalk.errors import MismatchError, RopewalkError
from ropewalk.treebank import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.decoding.paths import Floats
    from ropewalk.trees import Ints

DEPTH = 6  # English EWT needs no more (`ropewalk info`)
DEEPEST = 14  # beyond this depth an automaton grows too large
FLOOR = -40.0  # being the root, or not, never becomes impossible

LabelIds = npt.NDArray[np.int32]
Logs = npt.NDArray[np.floating]


@lru_cache(maxsize=32)
def machine_for(spec: str, labels: tuple[str, ...]) -> Machine | None:
    """Make the machine of an encoding over the given labels, or take the one made before."""
    return machine_of(get(spec), labels)


def checked(scores: npt.ArrayLike, labels: int, words: int) -> Floats:
    """Take scores as they are needed, or say what is wrong with them."""
    array = np.ascontiguousarray(scores, dtype=np.float64)
    if array.shape != (words, labels):
        raise MismatchError(f"scores of shape {array.shape}; expected {words} words by {labels} labels")
    if np.isnan(array).any() or (array == np.inf).any():
        raise RopewalkError("scores must be numbers or -inf, found nan or +inf; look at what the model put out")
    return array


def root_ties(machine: Machine, root: Logs | None, words: int) -> Floats:
    """Make of each word's log-probability of being the root what it gains by not being it, and by being it.

    There are none without such probabilities, and none for a machine whose labels do not say which word is the root.
    """
    if root is None or not machine.knows_root:
        return np.zeros((words, 2))
    log_root = np.clip(np.asarray(root, dtype=np.float64), FLOOR, -1e-18)
    with np.errstate(divide="ignore"):
        other = np.log(-np.expm1(log_root))
    return np.ascontiguousarray(np.stack([np.maximum(other, FLOOR), log_root], axis=1))


def spelled_heads(
    encoding: Encoding,
    ids: Sequence[LabelIds],
    offsets: Ints,
    alphabets: Sequence[Sequence[str]],
    upos: Column | None = None,
) -> Ints:
    """Read the heads that label numbers spell."""
    small = tuple(smallest(column, len(names)) for column, names in zip(ids, alphabets, strict=True))
    none = Column(np.zeros(int(offsets[-1]), dtype=np.int32), ("_",))
    return encoding.decode(Labels(encoding.spec, offsets, small, tuple(map(tuple, alphabets)), none, upos)).heads


def words_of(offsets: Ints, chosen: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], Ints]:
    """Give the places of the words of some sentences, and their offsets among themselves."""
    lengths = np.diff(offsets)[chosen]
    inner = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return np.repeat(offsets[chosen] - inner[:-1], lengths) + np.arange(inner[-1]), inner
