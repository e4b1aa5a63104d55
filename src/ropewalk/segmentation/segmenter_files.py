"""The files of a segmenter, `segmenter.json` and `segmenter.onnx`, perhaps in a parser's folder."""

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
from ropewalk.segmentation.dictionary import MOST_LENGTH, Dictionary
from ropewalk.segmentation.multiwords import Splitter
from ropewalk.segmentation.reading import FIRST_CHARACTER, LONGEST, MOST_SCRIPTS, CharacterVocabulary

if TYPE_CHECKING:
    import os

    from ropewalk.models.storage import ModelFolder

FORMAT = "ropewalk-segmenter"
VERSION = 3  # 1 had no hash
PLAIN = 2  # the version of segmenters without a dictionary, which 0.2 reads too
DESCRIPTION, GRAPH = "segmenter.json", "segmenter.onnx"
SWITCHES = ("split_numbers", "whole_dots")  # see `Stored`
MOST_CONTEXT = 1024  # chunks on each side that a network may read
MOST_BARE = 100  # log-odds
MOST_CHARACTERS = (1 << 15) - FIRST_CHARACTER  # their numbers have 16 bits


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """The stored parts of a segmenter.

    `context` is the number of chunks that the network reads on each side. `graph` is the network as an ONNX file.
    `training` has the options and scores of its training. `stops` has the tokens of the treebank that end with a full
    stop, in lower case; None if they are unknown, or if its sentences do not end with full stops. `bare` is what the
    log-odds of the end of a sentence must exceed after a letter or digit within a line. `split_numbers` says whether
    numbers such as `1.5` are several tokens, `whole_dots` whether `...` is one.
    """

    vocabulary: CharacterVocabulary
    splitter: Splitter
    context: int
    graph: bytes
    training: dict[str, Any]
    stops: frozenset[str] | None = None
    bare: float = 0.0
    split_numbers: bool = False
    whole_dots: bool = False

    @property
    def language(self) -> str:
        """The language of the treebank that the segmenter was trained on, or an empty text if it is unknown."""
        value: Any = self.training
        for name in ("config", "data", "name"):
            value = value.get(name) if isinstance(value, dict) else None
        return language_of(value) if isinstance(value, str) else ""


def save(path: Path, stored: Stored) -> None:
    """Write a segmenter's files into the folder `path`; the description has the network's hash and is written last."""
    home = files.make_folder(path)
    with files.creating(home / GRAPH) as file:
        file.write(stored.graph)
    table = {
        "format": FORMAT,
        "version": VERSION if stored.vocabulary.dictionary.longest else PLAIN,
        "sha256": hashlib.sha256(stored.graph).hexdigest(),
        "context": stored.context,
        "characters": stored.vocabulary.characters,
        "words": " ".join(stored.vocabulary.words),
        **({"pairs": stored.vocabulary.pairs} if stored.vocabulary.pairs else {}),
        **_dictionary_table(stored.vocabulary),
        **({} if stored.stops is None else {"stops": " ".join(sorted(stored.stops))}),
        **({"bare": stored.bare} if stored.bare else {}),
        **{name: True for name in SWITCHES if getattr(stored, name)},
        "multiwords": stored.splitter.to_json(),
        "training": stored.training,
    }
    write_json(home / DESCRIPTION, {**table, "hash": _hash(table)}, compact=True)
    if (home / CONFIG).is_file() and (model := open_folder(home)).format == EXPORTED:
        seal(home, model.table)  # the hash changes with the segmenter


def _dictionary_table(vocabulary: CharacterVocabulary) -> dict[str, Any]:
    """Return the entries of `segmenter.json` about text without spaces; none if there is no dictionary."""
    dictionary = vocabulary.dictionary
    if not dictionary.longest:
        return {}
    words = " ".join(dictionary.words)
    table = {"dictionary": words, "longest": dictionary.longest, "scripts": list(vocabulary.scripts)}
    return {**table, "grams": vocabulary.grams} if vocabulary.grams else table


def _hash(table: dict[str, Any]) -> str:
    kept = {key: value for key, value in table.items() if key != "hash"}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode("utf-8")).hexdigest()


def _sealed(path: str | os.PathLike[str]) -> ModelFolder | None:
    """Return the model folder at `path` if it is an exported model, else None.

    The `config.json` of an exported model has the hashes of its files.
    """
    folder = open_folder(path) if Path(path, CONFIG).is_file() else None
    return folder if folder is not None and folder.format == EXPORTED else None


def _text(value: Any) -> str:  # noqa: ANN401 - any JSON
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} where a text is expected")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError("a text with half of a character")
    return value


def _stored(table: dict[str, Any], graph: bytes) -> Stored:
    context, training = table["context"], table["training"]
    if type(context) is not int or not 0 <= context <= MOST_CONTEXT:
        raise ValueError(f"a context of {context!r:.40} where a number from 0 to {MOST_CONTEXT:,} is expected")
    if not isinstance(training, dict):
        raise TypeError(f"{training!r:.40} where a record of training is expected")
    bare = table.get("bare", 0.0)
    if type(bare) not in {int, float} or not 0 <= bare <= MOST_BARE:
        raise ValueError(f"log-odds of {bare!r:.40} where a number from 0 to {MOST_BARE} is expected")
    stops = frozenset(_text(table["stops"]).split(" ")) if "stops" in table else None
    splitter = Splitter.from_json(table["multiwords"])
    switches = {name: table.get(name, False) for name in SWITCHES}
    for value in switches.values():
        if type(value) is not bool:
            raise TypeError(f"{value!r:.40} where true or false is expected")
    return Stored(_vocabulary(table), splitter, context, graph, training, stops, float(bare), **switches)


def _vocabulary(table: dict[str, Any]) -> CharacterVocabulary:
    """Return the vocabulary in `segmenter.json`; raise `ValueError` or `TypeError` if a part of it is invalid."""
    characters, words = _text(table["characters"]), tuple(_text(table["words"]).split())
    if len(characters) > MOST_CHARACTERS:
        raise ValueError(f"{len(characters):,} characters where at most {MOST_CHARACTERS:,} are expected")
    for word in words:
        if len(word) > LONGEST:
            raise ValueError(f"the word {word:.40} where at most {LONGEST} characters are expected")
    pairs = tuple((first, second) for first, second in table.get("pairs", []))
    for number in (number for pair in pairs for number in pair):
        if type(number) is not int or not 0 <= number < len(words):
            raise ValueError(f"a pair with {number!r:.40} where the number of a word is expected")
    longest, scripts = table.get("longest", 0), tuple(map(_text, table.get("scripts", [])))
    if type(longest) is not int or not 0 <= longest <= MOST_LENGTH:
        raise ValueError(f"words of {longest!r:.40} characters where at most {MOST_LENGTH} are expected")
    if len(scripts) > MOST_SCRIPTS:
        raise ValueError(f"{len(scripts):,} scripts where at most {MOST_SCRIPTS} are expected")
    dictionary = Dictionary(tuple(_text(table.get("dictionary", "")).split(" ") if longest else ()), longest)
    grams = _text(table.get("grams", ""))
    if len(grams) % 2 or (grams and not longest):
        raise ValueError("pairs of characters where an even number of them and a dictionary are expected")
    return CharacterVocabulary(characters, words, pairs, dictionary, scripts, grams)


def load(path: str | os.PathLike[str]) -> Stored:
    """Read a segmenter's files from the folder `path`; raise `ModelError` if one is missing or damaged."""
    home = Path(path)
    name = str(home / DESCRIPTION)
    sealed = _sealed(path)
    raw, graph = (
        (read_content(home / file) if sealed is None else sealed.listed(file)) for file in (DESCRIPTION, GRAPH)
    )
    table = parsed_json(raw, name)
    if not isinstance(table, dict) or table.get("format") != FORMAT:
        raise ModelError(name, f"is not that of a Ropewalk segmenter; expected format {FORMAT!r}")
    if type(table.get("version")) is not int or not 1 <= table["version"] <= VERSION:
        problem = f"has version {table.get('version')!r}; this program reads 1 to {VERSION}"
        raise ModelError(name, f"{problem}: use the one that wrote it")
    if sealed is None and table["version"] > 1 and table.get("hash") != _hash(table):
        raise ModelError(name, "is damaged, or was changed after it was written; train or copy the segmenter again")
    listed = hashlib.sha256(graph).hexdigest() if sealed is None else sealed.table["files"][GRAPH]["sha256"]
    if listed != table.get("sha256"):
        problem = f"is damaged, or of another segmenter: it is not the one that {DESCRIPTION} names"
        raise ModelError(str(home / GRAPH), f"{problem}; train or copy the segmenter again")
    try:
        return _stored(table, graph)
    except (KeyError, TypeError, AttributeError, ValueError) as failure:
        raise ModelError(name, f"is damaged: {failure!r}; copy or train the segmenter again") from failure
