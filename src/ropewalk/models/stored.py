"""What every model's folder begins with: `config.json` and `labels.json`, read and checked without any network.

A file that is missing, cut short or of another kind is a `ModelError` that names it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ropewalk import files
from ropewalk.errors import ConfigError, FormatError, ModelError
from ropewalk.models.config import from_mapping
from ropewalk.models.labels import LabelSet

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.models.config import Config

VERSION = 1


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """All of a model but its weights: configuration, the names behind its numbers, all that `config.json` says."""

    config: Config
    labels: LabelSet
    table: dict[str, Any]


def read_frame(path: Path, kind: str) -> Frame:
    """Read what a folder of a kind begins with."""
    table = read_json(path / "config.json")
    if not isinstance(table, dict) or table.get("format") != kind:
        raise ModelError(str(path / "config.json"), _other(table, kind))
    if table.get("version") != VERSION:
        raise ModelError(
            str(path / "config.json"),
            f"has version {table.get('version')!r}; this program reads version {VERSION}: use the one that wrote it",
        )
    try:
        config = from_mapping(table["config"], str(path / "config.json"))
    except (ConfigError, KeyError) as failure:
        raise ModelError(str(path / "config.json"), f"is damaged: {failure}") from failure
    labels_json = read_json(path / "labels.json")
    try:
        labels = LabelSet.from_json(labels_json)
    except (KeyError, TypeError, AttributeError) as failure:
        raise ModelError(
            str(path / "labels.json"), f"is damaged: {failure!r} where encodings, relations and tags are expected"
        ) from failure
    return Frame(config, labels, table)


def _other(table: Any, kind: str) -> str:  # noqa: ANN401 - whatever JSON holds
    found = table.get("format") if isinstance(table, dict) else None
    if isinstance(found, str) and found.startswith("ropewalk-"):
        return f"has format {found!r}, expected {kind!r}: predict and export take trained models, parse exported ones"
    return f"is not that of a Ropewalk model; expected format {kind!r}"


def write_json(path: Path, table: Any) -> None:  # noqa: ANN401 - whatever JSON holds
    """Write a JSON file, whole or not at all."""
    with files.creating(path) as file:
        file.write((json.dumps(table, ensure_ascii=False, indent=1) + "\n").encode("utf-8"))


def read_json(path: Path) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Read a JSON file."""
    try:
        return json.loads(read_content(path))
    except (json.JSONDecodeError, UnicodeDecodeError) as failure:
        raise ModelError(str(path), f"is damaged or cut short: it is not JSON: {failure}") from failure


def read_content(path: Path) -> bytes:
    """Read a file of a model's folder."""
    if not path.is_file():
        raise ModelError(str(path), "is missing; the folder is incomplete, or no model")
    try:
        with files.reading(path) as file:
            return file.read()
    except FormatError as failure:
        raise ModelError(str(path), f"cannot be read: {failure.message}") from failure
