"""Folders of models: `config.json` describes the model, `labels.json` names its labels, relations and tags.

In exported folders, `labels.bin` has the long texts and numbers of `labels.json`, compressed: lists of words, counts,
lemmas.

If a file is missing, cut short or of another kind, a `ModelError` names it. The `config.json` of an exported
folder lists the other files with their sizes and digests, and contains a hash of them all. Nothing in a folder is
executable.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ropewalk import files
from ropewalk.errors import FormatError, ModelError
from ropewalk.models.description import EXPORTED, TRAINED, described
from ropewalk.models.label_sets import LabelSet
from ropewalk.models.packed import apart, together

if TYPE_CHECKING:
    import os

    from ropewalk.models.description import Description

CONFIG, LABELS, CARD, TOKENIZER = "config.json", "labels.json", "README.md", "tokenizer.json"
LONG_LABELS = "labels.bin"  # long texts and numbers of `labels.json`, in exported folders
APART = (CONFIG, CARD)  # files that the hash does not cover: it is in one, the other is for readers
LONGEST_NAME, SHOWN = 255, 40  # characters of a model's name, and those of a longer one that an error shows
UNHASHED = {1: {"hash", "name", "scores"}, 2: {"hash", "name", "scores", "training"}}  # by version


@dataclass(frozen=True, slots=True, eq=False)
class ModelFolder:
    """The folder of a model, and its `config.json`: the whole content as `table`, and `description` made from it.

    It can be passed to functions instead of the folder's path, so that `config.json` is not read again.
    """

    path: Path
    table: dict[str, Any]
    description: Description

    def __fspath__(self) -> str:
        return str(self.path)

    def with_decoding(self, **changes: Any) -> ModelFolder:  # noqa: ANN401 - the fields of `DecodingOptions`
        """Return a copy whose description has changed options of decoding; no file is written."""
        decoding = self.description.decoding.changed(**changes)
        return replace(self, description=replace(self.description, decoding=decoding))

    @property
    def format(self) -> str:
        """The format of the folder: `EXPORTED` if `ropewalk export` wrote it, `TRAINED` if training did."""
        return str(self.table["format"])

    @property
    def name(self) -> str:
        """The model's short name: the name in `config.json`, or else the name of the folder."""
        if self.description.name:
            return checked_name(self.description.name, str(self.path / CONFIG))
        return checked_name(self.path.resolve().name, str(self.path))

    def has(self, file: str) -> bool:
        """Return whether the `config.json` of an exported folder lists the file named `file`."""
        return file in self.table["files"]

    def listed(self, file: str) -> bytes:
        """Return the content of a file of an exported folder; raise `ModelError` if it changed since the export."""
        raw = read_content(self.path / file)
        if not self.has(file) or _digest(raw) != self.table["files"][file]["sha256"]:
            raise ModelError(str(self.path / file), "is not the exported file; copy or export the model again")
        return raw

    def labels(self, raw: bytes, beside: bytes = b"") -> LabelSet:
        """Build the label sets from `raw`, the content of `labels.json`; raise `ModelError` if it is damaged.

        `beside` is the content of `labels.bin`, which exported models have.
        """
        file = str(self.path / LABELS)
        try:
            return LabelSet.from_json(together(parsed_json(raw, file), beside))
        except (KeyError, TypeError, AttributeError) as failure:
            problem = f"is damaged: {failure!r} where encodings, relations and tags are expected"
            raise ModelError(file, f"{problem}; copy or export the model again") from failure

    def listed_labels(self) -> LabelSet:
        """Build the label sets from the listed files of an exported folder."""
        beside = self.listed(LONG_LABELS) if self.has(LONG_LABELS) else b""
        return self.labels(self.listed(LABELS), beside)

    def demand_whole(self) -> None:
        """Raise `ModelError` if a listed file is missing or has another size, or if `config.json` was changed."""
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
    """Return `name`; raise `ModelError` unless it is one line of at most `LONGEST_NAME` printable characters.

    `source` is the file or folder that has the name, for the error. The name must be checked because it is printed,
    and because the hash of the model does not cover it.
    """
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise ModelError(
            source,
            f"names the model {name[:SHOWN]!r}{'…' if len(name) > SHOWN else ''}; expected one line of at most "
            f"{LONGEST_NAME} printable characters: choose another name",
        )
    return name


def open_folder(path: str | os.PathLike[str], *formats: str) -> ModelFolder:
    """Read the `config.json` of a model's folder; if `path` is a `ModelFolder`, return it without reading.

    Raise `ModelError` if the folder is no model, or if `formats` are given and do not contain its format.
    """
    folder = path if isinstance(path, ModelFolder) else _opened(Path(path))
    if formats and folder.format not in formats:
        kinds = {EXPORTED: "a model that ropewalk export wrote", TRAINED: "a model as training writes it"}
        expected = " or ".join(kinds[kind] for kind in formats)
        raise ModelError(str(folder.path / CONFIG), f"is that of {kinds[folder.format]}; expected {expected}")
    return folder


def _opened(home: Path) -> ModelFolder:
    if not home.is_dir():
        raise ModelError(str(home), "is no folder; pass one that `ropewalk train` or `ropewalk export` wrote")
    file = str(home / CONFIG)
    table = read_json(home / CONFIG)
    kind = table.get("format") if isinstance(table, dict) else None
    if not isinstance(kind, str) or kind not in {EXPORTED, TRAINED}:
        raise ModelError(file, f"is not that of a Ropewalk model; found format {kind!r}")
    return ModelFolder(home, table, described(table, file))


def seal(path: Path, table: dict[str, Any]) -> str:
    """Write the `config.json` of an exported folder, and return the model's hash.

    It contains `table`, the sizes and digests of the other files in the folder, and the hash.
    """
    names = sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
    contents = {name: read_content(path / name) for name in names if name not in APART}
    digests = {name: {"bytes": len(raw), "sha256": _digest(raw)} for name, raw in contents.items()}
    sealed = {**table, "files": digests}
    sealed["hash"] = _hash(sealed)
    write_json(path / CONFIG, sealed)
    return str(sealed["hash"])


def write_labels(path: Path, labels: LabelSet) -> None:
    """Write the label sets of an exported model into the folder `path`, in files that are read fast."""
    table, raw = apart(labels.searchable().to_json())
    write_json(path / LABELS, table, compact=True)
    with files.creating(path / LONG_LABELS) as file:
        file.write(raw)


def repack(path: str | os.PathLike[str]) -> str:
    """Write the label sets of an exported folder again, as `ropewalk export` writes them now; return the new hash.

    The model predicts the same as before.
    """
    folder = open_folder(path, EXPORTED)
    folder.demand_whole()
    write_labels(folder.path, folder.listed_labels())
    return seal(folder.path, folder.table)


def short_hash(*contents: bytes) -> str:
    """Return one hash of the contents of several files: twelve hexadecimal digits."""
    return _digest(b"".join(hashlib.sha256(raw).digest() for raw in contents))[:12]


def write_json(path: Path, table: Any, *, compact: bool = False) -> None:  # noqa: ANN401 - any JSON
    """Write `table` as a JSON file, completely or not at all; `compact` omits spaces and line breaks."""
    spaces: dict[str, Any] = {"separators": (",", ":")} if compact else {"indent": 1}
    with files.creating(path) as file:
        file.write((json.dumps(table, ensure_ascii=False, **spaces) + "\n").encode("utf-8"))


def read_json(path: Path) -> Any:  # noqa: ANN401 - any JSON
    """Return the content of a JSON file; raise `ModelError` if it cannot be read."""
    return parsed_json(read_content(path), str(path))


def parsed_json(raw: bytes, file: str) -> Any:  # noqa: ANN401 - any JSON
    """Decode `raw`, the content of the JSON file `file`; raise `ModelError` if it is no valid JSON."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as failure:  # also numbers and nesting that Python limits
        raise ModelError(file, f"is damaged or cut short: it is no readable JSON: {failure}") from failure


def read_content(path: Path) -> bytes:
    """Return the bytes of a file of a model's folder; raise `ModelError` if it is missing or unreadable."""
    if not path.is_file():
        raise ModelError(str(path), "is missing; the folder is incomplete, or no model")
    try:
        with files.reading(path) as file:
            return file.read()
    except FormatError as failure:
        raise ModelError(str(path), f"cannot be read: {failure.message}") from failure


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _hash(table: dict[str, Any]) -> str:
    """Return a hash of `table`, the content of a `config.json`, without the keys in `UNHASHED`.

    These are the name, which may differ between copies, and records that do not change predictions.
    """
    kept = {key: value for key, value in table.items() if key not in UNHASHED[table["version"]]}
    return _digest(json.dumps(kept, sort_keys=True).encode("utf-8"))[:12]


def _demand_size(file: Path, size: int) -> None:
    if not file.is_file():
        raise ModelError(str(file), "is missing; the folder is incomplete: copy or export the model again")
    actual = file.stat().st_size
    if actual != size:
        raise ModelError(str(file), f"has {actual:,} bytes, expected {size:,}: it is damaged or of another model")
