"""Models by name: those inside the package, and those in a folder of the user's own."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ropewalk.errors import ModelError
from ropewalk.models.description import training_record
from ropewalk.models.folder import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VARIABLE = "ROPEWALK_MODELS"
SEGMENTER = "segmenter.json"


@dataclass(frozen=True, slots=True)
class Installed:
    """A model that can be loaded by its name, and what its `config.json` says about it."""

    name: str
    path: Path
    embedded: bool
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def treebank(self) -> str:
        """What it was trained on, or nothing."""
        return str(self._data.get("name") or "")

    @property
    def language(self) -> str:
        """Its language, or nothing."""
        return language_of(self.treebank)

    @property
    def licence(self) -> str:
        """Its licence, or nothing."""
        return str(self._data.get("licence") or "")

    @property
    def hash(self) -> str:
        """The hash of all that it is."""
        return str(self.about.get("hash") or "")

    @property
    def takes_text(self) -> bool:
        """Whether it can cut text into words."""
        return (self.path / SEGMENTER).is_file()

    @property
    def predicts(self) -> tuple[str, ...]:
        """What it predicts beside trees: `graph`, and the columns of its tags; nothing if that cannot be read."""
        from ropewalk.models.tags import column_of

        try:
            names = read_json(self.path / "labels.json")
        except ModelError:
            return ()
        if not isinstance(names, dict):
            return ()
        tags = dict.fromkeys(map(column_of, _within(names, "tags")))
        return (*tags, *(("graph",) if "graphs" in names else ()))

    def score(self, measure: str) -> float | None:
        """Give a measure on the test data, from 0 to 1, if `config.json` tells it."""
        found = _within(self.about, "scores", "test").get(measure)
        return float(found) if isinstance(found, int | float) else None

    @property
    def _data(self) -> Mapping[str, Any]:
        return _within(training_record(self.about), "data")

    @property
    def size(self) -> int:
        """How many bytes its folder holds."""
        return sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file())


def language_of(treebank: str) -> str:
    """Give the language of a treebank by its name, if that is one as UD gives, `UD_English-EWT`; or nothing."""
    named, _, _ = treebank.removeprefix("UD_").partition("-")
    return named if treebank.startswith("UD_") else ""


def own_folder() -> Path:
    """The folder of the user's own models: what `ROPEWALK_MODELS` names, or one where the system keeps such data."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    from platformdirs import user_data_path

    return user_data_path("ropewalk", appauthor=False) / "models"


def embedded_folder() -> Path:
    """The folder of the models inside the package."""
    return Path(str(resources.files("ropewalk") / "data" / "models"))


def installed() -> list[Installed]:
    """List all models by name; the user's own come before those of the package, and stand for them."""
    found: dict[str, Installed] = {}
    for folder, embedded in ((own_folder(), False), (embedded_folder(), True)):
        for path in _models(folder):
            try:
                about = _about(path)
            except ModelError:  # damaged: there, but nothing is known of it
                about = {}
            if path.name not in found:
                found[path.name] = Installed(path.name, path, embedded, about)
    return sorted(found.values(), key=lambda one: one.name)


def locate(name: str | os.PathLike[str]) -> Path:
    """Find a model by name, or take a folder as it is; names come before folders, `./en` is always a folder."""
    given = os.fspath(name)
    homes = () if _is_path(given) else (own_folder(), embedded_folder())
    path = next((home / given for home in homes if (home / given / "config.json").is_file()), Path(given))
    if not path.is_dir():
        raise ModelError(
            given,
            f"is no installed model and no folder; {_known()}; any folder that ropewalk train or export wrote will do",
        )
    if not (path / "config.json").is_file():
        raise ModelError(
            given, "is a folder without config.json, so no model; expected one that ropewalk train or export wrote"
        )
    return path


def _within(table: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """Go into tables of tables as far as they are there."""
    for key in keys:
        inner = table.get(key)
        table = inner if isinstance(inner, dict) else {}
    return table


def _is_path(name: str) -> bool:
    return name in {"", ".", ".."} or any(mark and mark in name for mark in (os.sep, os.altsep))


def _known() -> str:
    names = [one.name for one in installed()]
    return f"installed: {', '.join(names)}" if names else f"none is installed here or in {own_folder()}"


def _models(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from sorted(path for path in folder.iterdir() if (path / "config.json").is_file())


def _about(path: Path) -> dict[str, Any]:
    table = read_json(path / "config.json")
    return table if isinstance(table, dict) else {}
