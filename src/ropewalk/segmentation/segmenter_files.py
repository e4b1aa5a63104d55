"""The files of a segmenter, `segmenter.json` and `segmenter.onnx`, which may lie in a parser's folder."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ropewalk import files
from ropewalk.errors import ModelError
from ropewalk.models.catalogue import language_of
from ropewalk.models.description import EXPORTED
from ropewalk.models.storage import CONFIG, open_folder, parsed_json, read_content, seal, write_json
from ropewalk.segmentation.multiwords import Splitter
from ropewalk.segmentation.reading import FIRST_CHARACTER, LONGEST, CharacterVocabulary

if TYPE_CHECKING:
    import os

    from ropewalk.models.storage import ModelFolder

FORMAT = "ropewalk-segmenter"
VERSION = 2  # 1 had no hash
DESCRIPTION, GRAPH = "segmenter.json", "segmenter.onnx"
MOST_CONTEXT = 1024  # chunks to either side that a network may see
MOST_CHARACTERS = (1 << 15) - FIRST_CHARACTER  # as many as have numbers of 16 bits


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """All of a segmenter: what it knows, how far it sees, its graph, and what it was told and scored in training."""

    vocabulary: CharacterVocabulary
    splitter: Splitter
    context: int
    graph: bytes
    training: dict[str, Any]

    @property
    def language(self) -> str:
        """The language that it was trained for, or nothing."""
        at: Any = self.training
        for name in ("config", "data", "name"):
            at = at.get(name) if isinstance(at, dict) else None
        return language_of(at) if isinstance(at, str) else ""


def save(path: Path, stored: Stored) -> None:
    """Write a segmenter's files, the one that names the other last."""
    home = files.make_folder(path)
    with files.creating(home / GRAPH) as file:
        file.write(stored.graph)
    table = {
        "format": FORMAT,
        "version": VERSION,
        "sha256": hashlib.sha256(stored.graph).hexdigest(),
        "context": stored.context,
        "characters": stored.vocabulary.characters,
        "words": " ".join(stored.vocabulary.words),
        **({"pairs": stored.vocabulary.pairs} if stored.vocabulary.pairs else {}),
        "multiwords": stored.splitter.to_json(),
        "training": stored.training,
    }
    write_json(home / DESCRIPTION, {**table, "hash": _hash(table)}, compact=True)
    if (home / CONFIG).is_file() and (model := open_folder(home)).format == EXPORTED:
        seal(home, model.table)  # with another segmenter it is another model


def _hash(table: dict[str, Any]) -> str:
    kept = {key: value for key, value in table.items() if key != "hash"}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode("utf-8")).hexdigest()


def _sealed(path: str | os.PathLike[str]) -> ModelFolder | None:
    """Return the folder of an exported model, whose files must be those that were exported; None for another."""
    found = open_folder(path) if Path(path, CONFIG).is_file() else None
    return found if found is not None and found.format == EXPORTED else None


def _text(given: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    if not isinstance(given, str):
        raise TypeError(f"{given!r:.40} where a text is expected")
    if not given.isascii() and any("\ud800" <= one <= "\udfff" for one in given):
        raise ValueError("a text with a half of a character")
    return given


def _context(given: Any) -> int:  # noqa: ANN401 - whatever JSON holds
    if type(given) is not int or not 0 <= given <= MOST_CONTEXT:
        raise ValueError(f"a context of {given!r:.40} where a number from 0 to {MOST_CONTEXT:,} is expected")
    return given


def _vocabulary(table: dict[str, Any]) -> CharacterVocabulary:
    """Read what the network knows; raise if a word or a pair is none that can be looked up."""
    characters, words = _text(table["characters"]), tuple(_text(table["words"]).split())
    if len(characters) > MOST_CHARACTERS:
        raise ValueError(f"{len(characters):,} characters where at most {MOST_CHARACTERS:,} are expected")
    long = next((word for word in words if len(word) > LONGEST), None)
    if long is not None:
        raise ValueError(f"the word {long:.40} where at most {LONGEST} characters are expected")
    pairs = tuple((first, second) for first, second in table.get("pairs", []))
    odd = next((one for pair in pairs for one in pair if type(one) is not int or not 0 <= one < len(words)), None)
    if odd is not None:
        raise ValueError(f"a pair with {odd!r:.40} where the number of a word is expected")
    return CharacterVocabulary(characters, words, pairs)


def _record(given: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever JSON holds
    if not isinstance(given, dict):
        raise TypeError(f"{given!r:.40} where a record of training is expected")
    return given


def load(path: str | os.PathLike[str]) -> Stored:
    """Read a segmenter's files."""
    home = Path(path)
    name = str(home / DESCRIPTION)
    sealed = _sealed(path)
    raw, graph = (
        (read_content(home / file) if sealed is None else sealed.listed(file)) for file in (DESCRIPTION, GRAPH)
    )
    table = parsed_json(raw, name)
    if not isinstance(table, dict) or table.get("format") != FORMAT:
        raise ModelError(name, f"is not that of a Ropewalk segmenter; expected format {FORMAT!r}")
    if type(table.get("version")) is not int or table["version"] not in {1, VERSION}:
        raise ModelError(
            name,
            f"has version {table.get('version')!r}; this program reads 1 to {VERSION}: use the one that wrote it",
        )
    if sealed is None and table["version"] > 1 and table.get("hash") != _hash(table):
        raise ModelError(name, "is damaged, or was changed after it was written; train or copy the segmenter again")
    if hashlib.sha256(graph).hexdigest() != table.get("sha256"):
        raise ModelError(
            str(home / GRAPH), f"is damaged, or of another segmenter: it is not the one that {DESCRIPTION} names"
        )
    try:
        return Stored(
            _vocabulary(table),
            Splitter.from_json(table["multiwords"]),
            _context(table["context"]),
            graph,
            _record(table["training"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as failure:
        raise ModelError(name, f"is damaged: {failure!r}; copy or train the segmenter again") from failure
