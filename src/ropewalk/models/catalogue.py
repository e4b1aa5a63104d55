"""Models by name: in the user's own folder, inside Ropewalk, and in Python packages of their own."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ropewalk.errors import ModelError, UnknownModelError
from ropewalk.models.description import training_record
from ropewalk.models.packages import all_packaged, packaged
from ropewalk.models.storage import CONFIG, LONGEST_NAME, SHOWN, read_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VARIABLE = "ROPEWALK_MODELS"
SEGMENTER = "segmenter.json"
DATA = Path(__file__).parent.parent / "data"
OFFERED = DATA / "models.json"  # made by `make models`
CODE = re.compile(r"([a-z]{2,3})")
FILE_CODE = re.compile(r"([a-z]{2,3})_")
WRITERS = "ropewalk train or export"


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """Facts about a model that can be read without loading it.

    `uas` and `las` are its scores on the test data, from 0 to 1; None if they are unknown.
    """

    name: str
    treebank: str
    licence: str
    hash: str
    bytes: int
    uas: float | None
    las: float | None
    takes_text: bool
    predicts: tuple[str, ...]
    code: str = ""  # of the language
    language_name: str = ""  # if it differs from that in the treebank's name

    @property
    def language(self) -> str:
        """The name of the model's language, by default that in the name of its UD treebank; empty if it is unknown."""
        return self.language_name or language_of(self.treebank).replace("_", " ")


@dataclass(frozen=True, slots=True)
class Installed:
    """A model that can be loaded by its name; `about` is the content of its `config.json`.

    `embedded` is true if the model is one that Ropewalk itself contains.
    """

    name: str
    path: Path
    embedded: bool
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def treebank(self) -> str:
        """The name of the treebank on which the model was trained; empty if it is unknown."""
        return str(self._data.get("name") or "")

    @property
    def language(self) -> str:
        """The language in the name of the UD treebank on which the model was trained; empty if it is unknown."""
        return language_of(self.treebank)

    @property
    def code(self) -> str:
        """The code of the model's language: its name, if that is a code, or else that in its train file's name."""
        train = self._data.get("train")
        first = str(train[0]) if isinstance(train, list) and train else str(train or "")
        code = CODE.fullmatch(self.name) or FILE_CODE.match(first)
        return code[1] if code else ""

    @property
    def licence(self) -> str:
        """The licence of the treebank on which the model was trained; empty if it is unknown."""
        return str(self._data.get("licence") or "")

    @property
    def hash(self) -> str:
        """The hash of the model's files, as stored in `config.json`; empty if it is missing."""
        return str(self.about.get("hash") or "")

    @property
    def takes_text(self) -> bool:
        """Whether the model has a segmenter, so that it can parse raw text."""
        return (self.path / SEGMENTER).is_file()

    @property
    def predicts(self) -> tuple[str, ...]:
        """The tag columns that the model predicts, and `graph` if it predicts enhanced graphs.

        It is empty if `labels.json` cannot be read.
        """
        from ropewalk.models.tags import column_of

        try:
            names = read_json(self.path / "labels.json")
        except ModelError:
            return ()
        if not isinstance(names, dict):
            return ()
        return (*dict.fromkeys(map(column_of, _within(names, "tags"))), *(("graph",) if "graphs" in names else ()))

    def score(self, measure: str) -> float | None:
        """Return the model's score on the test data, from 0 to 1; None if `config.json` does not have it.

        `measure` is the name of a measure, such as `las`.
        """
        score = _within(self.about, "scores", "test").get(measure)
        return float(score) if isinstance(score, int | float) else None

    @property
    def size(self) -> int:
        """The total size of the files in the model's folder, in bytes."""
        return sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file())

    @property
    def summary(self) -> ModelSummary:
        """A summary of the model: its name, treebank, licence, hash, size, scores and predictions."""
        names = ("name", "treebank", "licence", "hash", "takes_text", "predicts")
        facts: dict[str, Any] = {name: getattr(self, name) for name in names}
        return ModelSummary(**facts, bytes=self.size, uas=self.score("uas"), las=self.score("las"), code=self.code)

    @property
    def _data(self) -> Mapping[str, Any]:
        return _within(training_record(self.about), "data")


def language_of(treebank: str) -> str:
    """Return the language in the name of a UD treebank, `English` for `UD_English-EWT`; empty for other names."""
    language, _, _ = treebank.removeprefix("UD_").partition("-")
    return language if treebank.startswith("UD_") else ""


def own_folder() -> Path:
    """Return the folder of the user's own models.

    The environment variable `ROPEWALK_MODELS` names it; the default is in the system's folder for user data.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    home = os.environ.get("HOME", "")
    if sys.platform == "linux" and home.startswith("/") and "XDG_DATA_HOME" not in os.environ:
        return Path(home, ".local", "share", "ropewalk", "models")  # as below, without a slow import
    from platformdirs import user_data_path

    return user_data_path("ropewalk", appauthor=False) / "models"


def embedded_folder() -> Path:
    """Return the folder of the models that Ropewalk itself contains."""
    return DATA / "models"


def installed() -> list[Installed]:
    """Return all installed models, sorted by name.

    Of models with the same name, the one in the user's own folder is returned, else the one inside Ropewalk.
    """
    paths = (*_models(own_folder()), *_models(embedded_folder()), *all_packaged())
    first = {path.name: path for path in reversed(paths)}
    return [in_folder(first[name]) for name in sorted(first)]


def in_folder(path: Path) -> Installed:
    """Return the model in the folder `path`, named after the folder; `about` is empty if `config.json` is damaged."""
    try:
        about = read_json(path / CONFIG)
    except ModelError:  # damaged: the model exists, but nothing is known of it
        about = {}
    return Installed(path.name, path, path.parent == embedded_folder(), about if isinstance(about, dict) else {})


def summaries() -> list[ModelSummary]:
    """Return the summaries of all installed models, with the names of languages from the list of available models."""
    names = {model.name: model.language_name for model in offered()}
    return [replace(model.summary, language_name=names.get(model.name, "")) for model in installed()]


def installable() -> list[ModelSummary]:
    """Return the models that can be installed as Python packages and are not installed yet."""
    names = {model.name for model in installed()}
    return [model for model in offered() if model.name not in names]


def offered() -> list[ModelSummary]:
    """Return the models of Ropewalk when it was released: `en`, and those that are Python packages of their own."""
    return [ModelSummary(**{**facts, "predicts": tuple(facts["predicts"])}) for facts in read_json(OFFERED)]


def locate(name: str | os.PathLike[str]) -> Path:
    """Return the folder of a model; `name` is the name of an installed model, or the path of a folder.

    If both exist, the installed model is returned; a path with a slash, such as `./en`, is always a folder. Raise
    `ModelError` if there is neither.
    """
    text = os.fspath(name)
    try:
        is_path = text in {"", ".", ".."} or any(mark and mark in text for mark in (os.sep, os.altsep))
        path = (None if is_path else _named(text)) or Path(text)
        if (path / CONFIG).is_file():
            return path
    except OSError as failure:
        shown = text if len(text) <= LONGEST_NAME else f"{text[:SHOWN]}…"
        problem = (
            f"cannot be searched for ({failure.strerror}); pass the name of a model, or a folder that {WRITERS} wrote"
        )
        raise ModelError(shown, problem) from failure
    available = [model.name for model in installable()]
    if text in available or not path.is_dir():
        how = _how_to_install(text if text in available else "NAME")
        raise UnknownModelError(text, [model.name for model in installed()], available, how)
    raise ModelError(text, f"is a folder without config.json, so no model; pass a folder that {WRITERS} wrote")


def _how_to_install(name: str) -> str:
    """Return a text for error messages with the commands that install the model `name`."""
    return (
        f"ropewalk models install {name} in a clone of Ropewalk, elsewhere with --from FOLDER; or, in a clone, "
        f"pip install ./models/{name}"
    )


def _within(table: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """Return the inner table `table[keys[0]][keys[1]]…`, or an empty one if a key is missing."""
    for key in keys:
        inner = table.get(key)
        table = inner if isinstance(inner, dict) else {}
    return table


def _named(name: str) -> Path | None:
    """Return the folder of the installed model `name`, or None.

    Python packages are searched last, because that is slow.
    """
    homes = (own_folder(), embedded_folder())
    return next((home / name for home in homes if (home / name / CONFIG).is_file()), None) or packaged(name)


def _models(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from sorted(path for path in folder.iterdir() if (path / CONFIG).is_file())
