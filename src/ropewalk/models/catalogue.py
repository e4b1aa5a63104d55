"""Models by name: those in a folder of the user's own, inside the package, and in packages of their own."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ropewalk.errors import ModelError
from ropewalk.models.description import training_record
from ropewalk.models.packages import all_packaged, how_to_install, packaged
from ropewalk.models.storage import CONFIG, LONGEST_NAME, SHOWN, read_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VARIABLE = "ROPEWALK_MODELS"
SEGMENTER = "segmenter.json"
DATA = Path(__file__).parent.parent / "data"
OFFERED = DATA / "models.json"  # made by `make models`


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """What people ask of a model before they load it; shares from 0 to 1, what is not known is empty or None."""

    name: str
    treebank: str
    licence: str
    hash: str
    bytes: int
    uas: float | None
    las: float | None
    takes_text: bool
    predicts: tuple[str, ...]

    @property
    def language(self) -> str:
        """Its language, or nothing."""
        return language_of(self.treebank)


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
    def size(self) -> int:
        """How many bytes its folder holds."""
        return sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file())

    @property
    def summary(self) -> ModelSummary:
        """All of that together."""
        return ModelSummary(
            name=self.name,
            treebank=self.treebank,
            licence=self.licence,
            hash=self.hash,
            bytes=self.size,
            uas=self.score("uas"),
            las=self.score("las"),
            takes_text=self.takes_text,
            predicts=self.predicts,
        )

    @property
    def _data(self) -> Mapping[str, Any]:
        return _within(training_record(self.about), "data")


def language_of(treebank: str) -> str:
    """Give the language of a treebank by its name, if that is one as UD gives, `UD_English-EWT`; or nothing."""
    named, _, _ = treebank.removeprefix("UD_").partition("-")
    return named if treebank.startswith("UD_") else ""


def own_folder() -> Path:
    """The folder of the user's own models: what `ROPEWALK_MODELS` names, or one where the system keeps such data."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    home = os.environ.get("HOME", "")
    if sys.platform == "linux" and home.startswith("/") and "XDG_DATA_HOME" not in os.environ:
        return Path(home, ".local", "share", "ropewalk", "models")  # as below, without the time that the import takes
    from platformdirs import user_data_path

    return user_data_path("ropewalk", appauthor=False) / "models"


def embedded_folder() -> Path:
    """The folder of the models inside the package."""
    return DATA / "models"


def installed() -> list[Installed]:
    """List all models by name; where names are the same, the user's own come first, then those inside the package."""
    found: dict[str, Installed] = {}
    for path in (*_models(own_folder()), *_models(embedded_folder()), *all_packaged()):
        if path.name not in found:
            found[path.name] = in_folder(path)
    return sorted(found.values(), key=lambda one: one.name)


def in_folder(path: Path) -> Installed:
    """Give what is known of the model in a folder, by the folder's name."""
    try:
        about = read_json(path / CONFIG)
    except ModelError:  # damaged: there, but nothing is known of it
        about = {}
    return Installed(path.name, path, path.parent == embedded_folder(), about if isinstance(about, dict) else {})


def installable() -> list[ModelSummary]:
    """List the models that have packages of their own and are not installed."""
    here = {one.name for one in installed()}
    return [one for one in offered() if one.name not in here]


def offered() -> list[ModelSummary]:
    """List the models that have packages of their own, as they were when this was released."""
    return [ModelSummary(**{**one, "predicts": tuple(one["predicts"])}) for one in read_json(OFFERED)]


def locate(name: str | os.PathLike[str]) -> Path:
    """Find a model by name, or take a folder as it is; names come before folders, `./en` is always a folder."""
    given = os.fspath(name)
    try:
        path = (None if _is_path(given) else _named(given)) or Path(given)
        if (path / CONFIG).is_file():
            return path
    except OSError as failure:
        shown = given if len(given) <= LONGEST_NAME else f"{given[:SHOWN]}…"
        raise ModelError(
            shown,
            f"cannot be looked for ({failure.strerror}); expected the name of a model, or a folder that ropewalk train "
            "or export wrote",
        ) from failure
    if given in {one.name for one in offered()}:
        raise ModelError(given, f"is a model that is not installed; {_known()}; install it: {how_to_install(given)}")
    if not path.is_dir():
        raise ModelError(
            given,
            f"is no installed model and no folder; {_known()}; any folder that ropewalk train or export wrote will do",
        )
    raise ModelError(
        given, "is a folder without config.json, so no model; expected one that ropewalk train or export wrote"
    )


def _within(table: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """Go into tables of tables as far as they are there."""
    for key in keys:
        inner = table.get(key)
        table = inner if isinstance(inner, dict) else {}
    return table


def _named(name: str) -> Path | None:
    """Find the folder of an installed model; packages are looked at last, only if need be."""
    homes = (own_folder(), embedded_folder())
    return next((home / name for home in homes if (home / name / CONFIG).is_file()), None) or packaged(name)


def _is_path(name: str) -> bool:
    return name in {"", ".", ".."} or any(mark and mark in name for mark in (os.sep, os.altsep))


def _known() -> str:
    names = [one.name for one in installed()]
    return f"installed: {', '.join(names)}" if names else f"none is installed here or in {own_folder()}"


def _models(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from sorted(path for path in folder.iterdir() if (path / CONFIG).is_file())
