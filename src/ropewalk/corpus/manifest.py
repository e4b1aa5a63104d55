"""The manifest of an output folder: what it is made of and how, so that a run can go on and no other can."""

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
ADVICE = "; run the command that began it, or give another folder"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What makes an output: program, model and its hash, options, and every input file with its hash."""

    generator: str
    options: dict[str, Any]
    files: tuple[File, ...]
    doubles: tuple[tuple[int, int], ...]  # numbers of files, and lines or rows in them

    def to_json(self, shards: Sequence[dict[str, Any]] | None) -> dict[str, Any]:
        """Give what the file holds; shards only when all are done."""
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
    """Read the manifest of a folder; None if the folder is empty or not there."""
    path = f"{out}/{NAME}"
    data = stores.read(path)
    if data is None:
        if any(not name.startswith(".") for name in stores.below(out)):
            raise MismatchError(f"{out}: holds files but no {NAME}; give a folder that is empty or not there yet")
        return None
    try:
        table = json.loads(data)
        if table["format"] != FORMAT or table["version"] != 1:
            raise MismatchError(f"{path}: is of another format or version; expected {FORMAT} 1")
        return Manifest(
            table["generator"],
            table["options"],
            tuple(map(File.of_json, table["inputs"])),
            tuple((int(file), int(number)) for file, number in table["doubles"]),
        )
    except (ValueError, KeyError, TypeError) as failure:
        raise MismatchError(f"{path}: is damaged: {failure!r}; give another folder") from failure


def save(out: str, manifest: Manifest, shards: Sequence[dict[str, Any]] | None = None) -> None:
    """Write the manifest."""
    text = json.dumps(manifest.to_json(shards), ensure_ascii=False, indent=1)
    stores.write(f"{out}/{NAME}", text.encode("utf-8"))


def demand_same(out: str, manifest: Manifest, generator: str, options: Options) -> None:
    """Refuse to go on with another model or other options than the manifest's."""
    path = f"{out}/{NAME}"
    if manifest.generator != generator:
        raise MismatchError(f"{path}: was made by {manifest.generator}, and this is {generator}{ADVICE}")
    ours = options.to_json()
    for name in sorted({*ours, *manifest.options}):
        if ours.get(name) != manifest.options.get(name):
            found, now = manifest.options.get(name), ours.get(name)
            raise MismatchError(f"{path}: was made with {name} = {found!r}, and now it is {now!r}{ADVICE}")


def demand_same_files(out: str, manifest: Manifest, files: Sequence[File], inspect: Callable[[File], File]) -> None:
    """Refuse to go on with other input than the manifest's; a file that looks changed is looked into."""
    path = f"{out}/{NAME}"
    known = {file.path: file for file in manifest.files}
    for file in files:
        if file.path not in known:
            raise MismatchError(f"{path}: was made without {file.path}{ADVICE}")
        before = known.pop(file.path)
        if (file.size, file.modified) != (before.size, before.modified) and inspect(file) != replace(
            before, modified=file.modified
        ):
            raise MismatchError(f"{path}: was made with another {file.path} than there is now{ADVICE}")
    if known:
        raise MismatchError(f"{path}: was made with {min(known)} too, which is not there or not given now{ADVICE}")
