"""The levels (heights) of arcs: arcs of one level do not overlap, and each arc is above the arcs inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.drawing.scene import Arc


def arc_levels(arcs: Sequence[Arc], column: Mapping[int, int]) -> list[int]:
    """Return the level of each arc, counted from 1; `column` maps each node to its column in the picture."""
    ends = [sorted((column[arc.head], column[arc.dependent])) for arc in arcs]
    return levels([(low, high) for low, high in ends])


def levels(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return the level of each span of columns, counted from 1.

    Each span is above all shorter spans that it overlaps. Spans that only meet at an end may share a level, because
    arcs leave a word to both sides.
    """
    skyline = [0] * max((high for _, high in spans), default=0)
    out = [0] * len(spans)
    for number in sorted(range(len(spans)), key=lambda number: (spans[number][1] - spans[number][0], spans[number])):
        low, high = spans[number]
        out[number] = 1 + max(skyline[low:high])
        skyline[low:high] = [out[number]] * (high - low)
    return out
