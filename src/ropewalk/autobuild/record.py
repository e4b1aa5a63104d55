"""The record of a build in `build.json` of its working folder: its data, options, plan and finished stages."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ropewalk import __version__
from ropewalk.errors import TrainingError
from ropewalk.models.storage import read_json, write_json
from ropewalk.options import checked, to_mapping
from ropewalk.segmentation.segmenter_config import SegmenterConfig
from ropewalk.training.config import Config

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ropewalk.autobuild.planning import BuildOptions, Plan

FILE = "build.json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """The record of a build: digests of its input files, options, configurations, and results of finished stages."""

    digests: Mapping[str, str]
    options: Mapping[str, Any]
    segmenter: SegmenterConfig
    parser: Config
    teacher: Config | None = None  # of all teachers, except for their seeds; None until the first is trained
    stages: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def begin(cls, digests: Mapping[str, str], options: BuildOptions, plan: Plan) -> BuildRecord:
        """Return the record of a new build with this plan, without finished stages."""
        return cls(digests, asdict(options), plan.segmenter, plan.parser)

    @property
    def seconds(self) -> float:
        """The seconds that the finished stages took."""
        return sum(float(stage["seconds"]) for stage in self.stages.values())

    def with_stage(self, name: str, result: Mapping[str, Any]) -> BuildRecord:
        """Return a copy of the record in which the stage `name` is finished, with its `result`."""
        return replace(self, stages={**self.stages, name: result})

    def demand_same(self, digests: Mapping[str, str], options: BuildOptions, folder: Path) -> None:
        """Raise `TrainingError` unless data and options are the same as when the build began."""
        what = f"resume with the same data and options, choose another -o, or remove {folder}"
        for part in sorted({*digests, *self.digests}):
            if digests.get(part) != self.digests.get(part):
                change = "is new" if part not in self.digests else "is gone" if part not in digests else "has changed"
                raise TrainingError(f"{folder}: the file of {part} {change} since the build began; {what}")
        for name, now in asdict(options).items():
            before = self.options[name]
            if (list(now) if isinstance(now, tuple) else now) != (list(before) if isinstance(now, tuple) else before):
                shown = "set" if name == "changes" else name
                raise TrainingError(f"{folder}: --{shown} was {before!r} and is now {now!r}; {what}")

    def save(self, folder: Path) -> None:
        """Write the record into a working folder; after a failure there is no partial file."""
        write_json(
            folder / FILE,
            {
                "version": VERSION,
                "ropewalk": __version__,
                "digests": dict(self.digests),
                "options": dict(self.options),
                "segmenter": to_mapping(self.segmenter),
                "parser": to_mapping(self.parser),
                "teacher": to_mapping(self.teacher) if self.teacher else None,
                "stages": {name: dict(result) for name, result in self.stages.items()},
            },
        )

    @classmethod
    def load(cls, folder: Path) -> BuildRecord | None:
        """Return the record in a working folder, or None if there is none.

        Raise `TrainingError` if it is damaged or of another version.
        """
        file = folder / FILE
        if not file.is_file():
            return None
        table = read_json(file)
        try:
            if table["version"] != VERSION:
                raise TrainingError(
                    f"{file}: has version {table['version']!r}; this program resumes builds of version {VERSION}: use "
                    f"the program that began the build, or remove {folder}"
                )
            return cls(
                dict(table["digests"]),
                dict(table["options"]),
                checked(SegmenterConfig, table["segmenter"], str(file)),
                checked(Config, table["parser"], str(file)),
                checked(Config, table["teacher"], str(file)) if table["teacher"] else None,
                dict(table["stages"]),
            )
        except (KeyError, TypeError, AttributeError) as failure:
            raise TrainingError(f"{file}: is damaged: {failure!r}; remove {folder} to begin again") from failure
