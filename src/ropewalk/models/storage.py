"""A model's folder: `config.json` says what the model is, `labels.json` names what its numbers stand for.

A file that is missing, cut short or of another kind is a `ModelError` that names it. In an exported folder
`config.json` lists the other files with their sizes and digests, and has a hash of them all. Nothing in a folder is
executable.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ropewalk import files
from ropewalk.errors import FormatError, ModelError
from ropewalk.models.description import EXPORTED, TRAINED, described
from ropewalk.models.labels import LabelSet

if TYPE_CHECKING:
    import os

    from ropewalk.models.description import Description

CONFIG, LABELS, CARD, TOKENIZER = "config.json", "labels.json", "README.md", "tokenizer.json"
APART = (CONFIG, CARD)  # files that the hash is not about: it lies in one, the other is for readers
LONGEST_NAME, SHOWN = 255, 40  # characters of a model's name, and those that an error shows of a longer one
UNHASHED = {1: {"hash", "name", "scores"}, 2: {"hash", "name", "scores", "training"}}  # by version


@dataclass(frozen=True, slots=True, eq=False)
class ModelFolder:
    """A folder whose `config.json` was read: `table` is all that it holds, `description` what running needs.

    It can be passed wherever a path is expected; `open_folder` then does not read `config.json` again.
    """

    path: Path
    table: dict[str, Any]
    description: Description

    def __fspath__(self) -> str:
        return str(self.path)

    @property
    def format(self) -> str:
        """Which kind of folder it is: `EXPORTED` or `TRAINED`."""
        return str(self.table["format"])

    @property
    def name(self) -> str:
        """The model's short name: its folder's, unless it has one of its own."""
        if self.description.name:
            return checked_name(self.description.name, str(self.path / CONFIG))
        return checked_name(self.path.resolve().name, str(self.path))

    def has(self, file: str) -> bool:
        """Tell whether an exported folder lists a file."""
        return file in self.table["files"]

    def listed(self, file: str) -> bytes:
        """Read a file of an exported folder, which must be what it was when the model was exported."""
        raw = read_content(self.path / file)
        if not self.has(file) or _digest(raw) != self.table["files"][file]["sha256"]:
            raise ModelError(str(self.path / file), "is not the file that was exported; copy or export the model again")
        return raw

    def labels(self, raw: bytes) -> LabelSet:
        """Make the label sets from what `labels.json` holds."""
        file = str(self.path / LABELS)
        try:
            return LabelSet.from_json(parsed_json(raw, file))
        except (KeyError, TypeError, AttributeError) as failure:
            raise ModelError(
                file, f"is damaged: {failure!r} where encodings, relations and tags are expected"
            ) from failure

    def demand_whole(self) -> None:
        """Check that an exported folder's files are there, and that its `config.json` is as it was written."""
        file = str(self.path / CONFIG)
        try:
            for name, facts in self.table["files"].items():
                _demand_size(self.path / name, int(facts["bytes"]))
            right = self.table["hash"] == _hash(self.table)
        except (KeyError, TypeError, AttributeError, ValueError) as failure:
            raise ModelError(file, f"is damaged: it does not list the files: {failure!r}") from failure
        if not right:
            raise ModelError(file, "was changed after the export; copy or export the model again")


def checked_name(name: str, source: str) -> str:
    """Return the name of a model; raise unless it is one line that can be printed. `source` is where it comes from.

    The name is part of all output, and the hash of the model does not cover it.
    """
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise ModelError(
            source,
            f"names the model {name[:SHOWN]!r}{'…' if len(name) > SHOWN else ''}; expected one line of at most "
            f"{LONGEST_NAME} printable characters: choose another name",
        )
    return name


def open_folder(path: str | os.PathLike[str], *formats: str) -> ModelFolder:
    """Read `config.json`, unless `path` is a folder that was opened; raise unless its format is one of `formats`."""
    folder = path if isinstance(path, ModelFolder) else _opened(Path(path))
    if formats and folder.format not in formats:
        kinds = {EXPORTED: "a model that ropewalk export wrote", TRAINED: "a model as training writes it"}
        expected = " or ".join(kinds[one] for one in formats)
        raise ModelError(str(folder.path / CONFIG), f"is that of {kinds[folder.format]}; expected {expected}")
    return folder


def _opened(home: Path) -> ModelFolder:
    if not home.is_dir():
        raise ModelError(str(home), "is no folder; expected one that `ropewalk train` or `ropewalk export` wrote")
    file = str(home / CONFIG)
    table = read_json(home / CONFIG)
    found = table.get("format") if isinstance(table, dict) else None
    if not isinstance(found, str) or found not in {EXPORTED, TRAINED}:
        raise ModelError(file, f"is not that of a Ropewalk model; found format {found!r}")
    return ModelFolder(home, table, described(table, file))


def seal(path: Path, table: dict[str, Any]) -> str:
    """Write `config.json` around what the other files of an exported folder are now, and give the hash of them all."""
    names = sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
    contents = {name: read_content(path / name) for name in names if name not in APART}
    sealed = {
        **table,
        "files": {name: {"bytes": len(raw), "sha256": _digest(raw)} for name, raw in contents.items()},
    }
    sealed["hash"] = _hash(sealed)
    write_json(path / CONFIG, sealed)
    return str(sealed["hash"])


def short_hash(*contents: bytes) -> str:
    """Hash the contents of files to twelve digits."""
    return _digest(b"".join(map(_digest_bytes, contents)))[:12]


def write_json(path: Path, table: Any, *, compact: bool = False) -> None:  # noqa: ANN401 - whatever JSON holds
    """Write a JSON file, whole or not at all; a compact one is for programs rather than people."""
    spaces: dict[str, Any] = {"separators": (",", ":")} if compact else {"indent": 1}
    with files.creating(path) as file:
        file.write((json.dumps(table, ensure_ascii=False, **spaces) + "\n").encode("utf-8"))


def read_json(path: Path) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Read a JSON file."""
    return parsed_json(read_content(path), str(path))


def parsed_json(raw: bytes, file: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Take JSON from what a file of this name holds."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as failure:  # also numbers and nesting beyond what Python takes
        raise ModelError(file, f"is damaged or cut short: it is no JSON that can be read: {failure}") from failure


def read_content(path: Path) -> bytes:
    """Read a file of a model's folder."""
    if not path.is_file():
        raise ModelError(str(path), "is missing; the folder is incomplete, or no model")
    try:
        with files.reading(path) as file:
            return file.read()
    except FormatError as failure:
        raise ModelError(str(path), f"cannot be read: {failure.message}") from failure


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _digest_bytes(raw: bytes) -> bytes:
    return hashlib.sha256(raw).digest()


def _hash(table: dict[str, Any]) -> str:
    """Hash everything but the name, under which the same model may lie in several places, and what is for readers."""
    kept = {key: value for key, value in table.items() if key not in UNHASHED[table["version"]]}
    return _digest(json.dumps(kept, sort_keys=True).encode("utf-8"))[:12]


def _demand_size(file: Path, size: int) -> None:
    if not file.is_file():
        raise ModelError(str(file), "is missing; the folder is incomplete: copy or export the model again")
    found = file.stat().st_size
    if found != size:
        raise ModelError(str(file), f"has {found:,} bytes, expected {size:,}: it is damaged or of another model")
