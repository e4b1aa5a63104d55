"""The files of a segmenter, `segmenter.json` and `segmenter.onnx`, which may lie in a parser's folder."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ropewalk import files
from ropewalk.errors import ModelError
from ropewalk.models.folder import read_content, read_json, write_json
from ropewalk.segmentation.multiwords import Splitter
from ropewalk.segmentation.reading import CharacterVocabulary

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = "ropewalk-segmenter"
VERSION = 1
DESCRIPTION, GRAPH = "segmenter.json", "segmenter.onnx"


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """All of a segmenter: what it knows, how far it sees, its graph, and what it was told and scored in training."""

    vocabulary: CharacterVocabulary
    splitter: Splitter
    context: int
    graph: bytes
    training: dict[str, Any]


def save(path: Path, stored: Stored) -> None:
    """Write a segmenter's files, the one that names the other last."""
    home = files.make_folder(path)
    with files.creating(home / GRAPH) as file:
        file.write(stored.graph)
    write_json(
        home / DESCRIPTION,
        {
            "format": FORMAT,
            "version": VERSION,
            "sha256": hashlib.sha256(stored.graph).hexdigest(),
            "context": stored.context,
            "characters": stored.vocabulary.characters,
            "words": " ".join(stored.vocabulary.words),
            "multiwords": stored.splitter.to_json(),
            "training": stored.training,
        },
    )


def load(path: Path) -> Stored:
    """Read a segmenter's files."""
    name = str(path / DESCRIPTION)
    table = read_json(path / DESCRIPTION)
    if not isinstance(table, dict) or table.get("format") != FORMAT:
        raise ModelError(name, f"is not that of a Ropewalk segmenter; expected format {FORMAT!r}")
    if table.get("version") != VERSION:
        raise ModelError(
            name,
            f"has version {table.get('version')!r}; this program reads version {VERSION}: use the one that wrote it",
        )
    graph = read_content(path / GRAPH)
    if hashlib.sha256(graph).hexdigest() != table.get("sha256"):
        raise ModelError(
            str(path / GRAPH), f"is damaged, or of another segmenter: it is not the one that {DESCRIPTION} names"
        )
    try:
        return Stored(
            CharacterVocabulary(table["characters"], tuple(table["words"].split())),
            Splitter.from_json(table["multiwords"]),
            int(table["context"]),
            graph,
            dict(table["training"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as failure:
        raise ModelError(name, f"is damaged: {failure!r}") from failure
