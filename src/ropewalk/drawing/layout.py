"""Where arcs go: levels in which no two arcs overlap and every arc lies over those inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.drawing.scene import Arc


def arc_levels(arcs: Sequence[Arc], place: Mapping[int, int]) -> list[int]:
    """Return the level of each arc, as `levels` does; `place` is the column of each node."""
    ends = [sorted((place[arc.head], place[arc.dependent])) for arc in arcs]
    return levels([(low, high) for low, high in ends])


def levels(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Give each span of places a level from 1, the shortest first, above all that it overlaps.

    Spans that only meet at an end may share a level: a word has an end of its own to each side.
    """
    skyline = [0] * max((high for _, high in spans), default=0)
    out = [0] * len(spans)
    for number in sorted(range(len(spans)), key=lambda number: (spans[number][1] - spans[number][0], spans[number])):
        low, high = spans[number]
        out[number] = 1 + max(skyline[low:high])
        skyline[low:high] = [out[number]] * (high - low)
    return out
