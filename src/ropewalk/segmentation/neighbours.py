"""Neighbours of characters and chunks, as inputs of segmenter networks that read several texts at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    import numpy.typing as npt

    from ropewalk.core.arrays import Ints

    NetworkInputs = Mapping[str, npt.NDArray[Any]]

FARTHEST = 64  # the largest dilation
_NAME = re.compile(r"(characters|chunks)\.near([1-9][0-9]?)")


def input_name(rows: str, dilation: int) -> str:
    """Return the name of the network's input with the neighbours of `rows`, which is `characters` or `chunks`."""
    return f"{rows}.near{dilation}"


class Neighbours(NamedTuple):
    """An input of a network: the neighbours of `rows`, which is `characters` or `chunks`, `dilation` rows apart.

    `places` is the number of neighbours of a row, itself included.
    """

    name: str
    rows: str
    dilation: int
    places: int

    def of(self, bounds: Ints) -> Ints:
        """Return the neighbours of each row, as indices from 1; 0 stands for those beyond the ends of its text.

        The rows of text i are those from `bounds[i]` up to, but without, `bounds[i + 1]`.
        """
        count = int(bounds[-1])
        shifts = (np.arange(self.places, dtype=np.int32) - self.places // 2) * self.dilation
        near: npt.NDArray[np.int32] = np.arange(1, count + 1, dtype=np.int32)[:, None] + shifts
        if len(bounds) == 2:  # one text
            np.maximum(near, 0, out=near)
            near[near > count] = 0
            return near
        lengths = bounds[1:] - bounds[:-1]
        starts = np.repeat(bounds[:-1], lengths)[:, None]
        stops = np.repeat(bounds[1:], lengths)[:, None]
        near *= (near > starts) & (near <= stops)
        return near


def neighbours_of(widths: Mapping[str, int]) -> tuple[Neighbours, ...]:
    """Return the inputs of a network that are neighbours; `widths` has the size of each input's last dimension."""
    matches = ((name, _NAME.fullmatch(name)) for name in sorted(widths))
    return tuple(Neighbours(name, match[1], int(match[2]), widths[name]) for name, match in matches if match)


def with_neighbours(
    arrays: NetworkInputs, inputs: Sequence[Neighbours], texts: npt.NDArray[Any] | None = None
) -> dict[str, npt.NDArray[Any]]:
    """Return the inputs of a network with the neighbours that it needs added to those in `arrays`.

    `texts` has the index of each text's first chunk, and the number of chunks; None stands for one text.
    """
    chunks = np.array([0, len(arrays["words"])]) if texts is None else texts
    bounds = {"chunks": chunks, "characters": np.append(arrays["first"], len(arrays["characters"]))[chunks]}
    return {
        **arrays,
        **{neighbours.name: neighbours.of(bounds[neighbours.rows].astype(np.int32)) for neighbours in inputs},
    }
