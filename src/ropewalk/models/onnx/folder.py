"""A runtime's folder: `config.json`, `labels.json`, networks as `.onnx`, `tokenizer.json` of transformers, the card.

`config.json` lists the other files with their sizes and digests, and has a hash of them all. Nothing in a folder is
executable. A file that is missing, cut short or of another kind is a `ModelError` that names it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ropewalk.errors import ModelError
from ropewalk.models.stored import read_content, read_frame, write_json

if TYPE_CHECKING:
    import os

    from ropewalk.models.config import Config
    from ropewalk.models.labels import LabelSet

FORMAT = "ropewalk-runtime"
WORDS = "words.onnx"  # of a bilstm: features of word types to vectors
ENCODER = "encoder.onnx"  # vectors of words in sentences, or subwords, to vectors that know the sentence
HEADS = "heads.onnx"  # vectors to scores of labels and tags, and to what pairs are scored by
PAIRS = "pairs.onnx"  # words and heads to scores of relations
ARCS = "arcs.onnx"  # the words of one sentence to scores of heads
TOKENIZER = "tokenizer.json"
APART = ("config.json", "README.md")  # files that the hash is not about: it lies in one, the other is for readers


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """What a runtime's folder holds."""

    path: Path
    config: Config
    labels: LabelSet
    table: dict[str, Any]

    @property
    def name(self) -> str:
        """The model's short name: its folder's, unless it has one of its own."""
        return str(self.table.get("name") or self.path.resolve().name)

    @property
    def hash(self) -> str:
        """A short hash of all that the model is."""
        return str(self.table["hash"])

    def has(self, file: str) -> bool:
        """Tell whether the folder holds a file."""
        return file in self.table["files"]

    def content(self, file: str) -> bytes:
        """Read a file, which must be what it was when the model was exported."""
        raw = read_content(self.path / file)
        if not self.has(file) or _digest(raw) != self.table["files"][file]["sha256"]:
            raise ModelError(str(self.path / file), "is not the file that was exported; copy or export the model again")
        return raw


def load(path: str | os.PathLike[str]) -> Stored:
    """Read what a folder holds, and check that all its files are there."""
    home = Path(path)
    if not home.is_dir():
        raise ModelError(str(home), "is no folder; expected one that `ropewalk export` made")
    frame = read_frame(home, FORMAT)
    table = frame.table
    try:
        for file, facts in table["files"].items():
            _demand_size(home / file, int(facts["bytes"]))
        right = table["hash"] == _hash(table)
    except (KeyError, TypeError, AttributeError, ValueError) as failure:
        raise ModelError(str(home / "config.json"), f"is damaged: it does not list the files: {failure!r}") from failure
    if not right:
        raise ModelError(str(home / "config.json"), "was changed after the export; copy or export the model again")
    stored = Stored(home, frame.config, frame.labels, table)
    stored.content("labels.json")
    return stored


def seal(path: Path, table: dict[str, Any]) -> str:
    """Write `config.json` around what the other files are now, and give the hash of them all."""
    names = sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
    listed = {name: read_content(path / name) for name in names if name not in APART}
    described = {name: {"bytes": len(raw), "sha256": _digest(raw)} for name, raw in listed.items()}
    sealed = {**table, "files": described}
    sealed["hash"] = _hash(sealed)
    write_json(path / "config.json", sealed)
    return str(sealed["hash"])


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _hash(table: dict[str, Any]) -> str:
    """Hash everything but the name, under which the same model may lie in several places, and its scores."""
    kept = {key: value for key, value in table.items() if key not in {"hash", "name", "scores"}}
    return _digest(json.dumps(kept, sort_keys=True).encode("utf-8"))[:12]


def _demand_size(file: Path, size: int) -> None:
    if not file.is_file():
        raise ModelError(str(file), "is missing; the folder is incomplete: copy or export the model again")
    found = file.stat().st_size
    if found != size:
        raise ModelError(str(file), f"has {found:,} bytes, expected {size:,}: it is damaged or of another model")
