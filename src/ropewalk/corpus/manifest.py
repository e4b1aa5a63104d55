"""The manifest of an output folder: the inputs and options of the run that writes it.

A run continues an interrupted one only if the inputs and options are those of the manifest.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ropewalk.corpus import stores
from ropewalk.corpus.partition import File
from ropewalk.errors import MismatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.corpus.options import Options

NAME = "manifest.json"
FORMAT = "ropewalk-corpus"
ADVICE = "; run the command that began it, or choose another folder"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The inputs of a run: all that determines its output.

    `generator` names the program and the model with its hash. `files` are the input files with their hashes. `doubles`
    are the documents whose id an earlier document has.
    """

    generator: str
    options: dict[str, Any]
    files: tuple[File, ...]
    doubles: tuple[tuple[int, int], ...]  # numbers of files, and lines or rows in them

    def to_json(self, shards: Sequence[dict[str, Any]] | None) -> dict[str, Any]:
        """Return the content of `manifest.json`; `shards` are the records of all shards, None until all are done."""
        return {
            "format": FORMAT,
            "version": 1,
            "generator": self.generator,
            "options": self.options,
            "inputs": [file.to_json() for file in self.files],
            "doubles": self.doubles,
            "finished": shards is not None,
            "shards": shards or [],
        }


def load(out: str) -> Manifest | None:
    """Read the manifest of the output folder `out`; return None if the folder is empty or does not exist.

    Raise a `MismatchError` if the manifest is damaged, or the folder has files but no manifest.
    """
    path = f"{out}/{NAME}"
    data = stores.read(path)
    if data is None:
        if any(not name.startswith(".") for name in stores.below(out)):
            raise MismatchError(f"{out}: holds files but no {NAME}; choose a folder that is empty or does not exist")
        return None
    try:
        table = json.loads(data)
        if table["format"] != FORMAT or table["version"] != 1:
            raise MismatchError(f"{path}: has another format or version; expected {FORMAT} 1")
        return Manifest(
            table["generator"],
            table["options"],
            tuple(map(File.of_json, table["inputs"])),
            tuple((int(file), int(number)) for file, number in table["doubles"]),
        )
    except (ValueError, KeyError, TypeError) as failure:
        raise MismatchError(f"{path}: is damaged: {failure!r}; choose another folder") from failure


def save(out: str, manifest: Manifest, shards: Sequence[dict[str, Any]] | None = None) -> None:
    """Write the manifest to the folder `out`; `shards` are the records of all shards, None until all are done."""
    text = json.dumps(manifest.to_json(shards), ensure_ascii=False, indent=1)
    stores.write(f"{out}/{NAME}", text.encode("utf-8"))


def demand_same(out: str, manifest: Manifest, generator: str, options: Options) -> None:
    """Raise a `MismatchError` unless `generator` (program and model) and `options` are those of the manifest."""
    path = f"{out}/{NAME}"
    if manifest.generator != generator:
        raise MismatchError(f"{path}: was made by {manifest.generator}, and this is {generator}{ADVICE}")
    ours = options.to_json()
    for name in sorted({*ours, *manifest.options}):
        if ours.get(name) != manifest.options.get(name):
            then, now = manifest.options.get(name), ours.get(name)
            raise MismatchError(f"{path}: was made with {name} = {then!r}, and now it is {now!r}{ADVICE}")


def demand_same_files(out: str, manifest: Manifest, files: Sequence[File], inspect: Callable[[File], File]) -> None:
    """Raise a `MismatchError` unless the input files are those of the manifest, with the same content.

    If the size or time of a file has changed, `inspect` reads it again to compare its content.
    """
    path = f"{out}/{NAME}"
    known = {file.path: file for file in manifest.files}
    for file in files:
        if file.path not in known:
            raise MismatchError(f"{path}: was made without {file.path}{ADVICE}")
        before = known.pop(file.path)
        if (file.size, file.modified) != (before.size, before.modified) and inspect(file) != replace(
            before, modified=file.modified
        ):
            raise MismatchError(f"{path}: was made with another version of {file.path}{ADVICE}")
    if known:
        raise MismatchError(f"{path}: was made with {min(known)} too, which is missing now{ADVICE}")
