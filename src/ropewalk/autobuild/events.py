"""What a build tells while it is under way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ropewalk.autobuild.planning import Plan
from ropewalk.errors import FormatError
from ropewalk.training.loop import Progress
from ropewalk.training.segmenter_training import SegmenterProgress

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class StageBegan:
    """A stage begins; `number` counts from 1."""

    number: int
    of: int
    name: str
    doing: str


@dataclass(frozen=True, slots=True)
class StageEnded:
    """A stage is done, now or `before` this call, after so many seconds, and gave some scores from 0 to 1."""

    name: str
    seconds: float
    scores: Mapping[str, Mapping[str, float]]
    before: bool


Event = Plan | StageBegan | StageEnded | Progress | SegmenterProgress | FormatError  # the last: a sentence left out
