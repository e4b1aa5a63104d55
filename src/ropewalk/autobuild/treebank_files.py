"""The data of a build: the treebank's files, and development data held out of train where there is none."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ropewalk import conllu, files
from ropewalk.errors import TrainingError

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.laboratory.splits import SplitSource
    from ropewalk.treebank.treebank import Treebank

TENTH = 10  # one sentence of so many is held out
STRETCHES = 20  # that train is cut into, so that all of its texts are held out of
BLOCK = 1 << 20  # bytes
_README = re.compile(r"^Licen[sc]e:[ \t]*(\S.*?)\s*$", re.MULTILINE)
_RESOURCES = re.compile(r"Lesser\s+General\s+Public\s+Licen[sc]e\s+For\s+Linguistic\s+Resources", re.IGNORECASE)
_CREATIVE = re.compile(r"Attribution(?P<nc>-\s*NonCommercial)?(?P<sa>-\s*ShareAlike)?\s+(?P<version>\d\.\d)")


@dataclass(frozen=True, slots=True, eq=False)
class TreebankData:
    """A treebank's name and licence, its parts in memory and, by the same names, their files.

    `dev` lies in `train`'s file if it was held out; `held_out` tells so.
    """

    name: str
    licence: str
    train: Treebank
    dev: Treebank
    test: Treebank | None
    files: dict[str, Path]

    @property
    def held_out(self) -> bool:
        """Whether the development data are a part of train."""
        return "dev" not in self.files


def read(source: SplitSource) -> TreebankData:
    """Read a treebank's files; a part of train is held out where there are no development data."""
    found = {part: path.resolve() for part, path in source.files.items()}
    if "train" not in found:
        has = " and ".join(found)
        raise TrainingError(
            f"{source.name}: there is no train file, only {has}; a parser is learnt from train: name it by --train, or "
            "cut the treebank's sentences into files of your own"
        )
    banks = {part: conllu.read(path) for part, path in found.items()}
    train, dev = banks["train"], banks.get("dev")
    if dev is None:
        train, dev = hold_out(train)
    return TreebankData(source.name, licence(found["train"].parent), train, dev, banks.get("test"), found)


def hold_out(bank: Treebank) -> tuple[Treebank, Treebank]:
    """Cut a treebank in two, the same on every call: nine tenths, and the last tenth of each of its stretches.

    Neighbours stay together, as sentences are learnt as running text too.
    """
    many = len(bank)
    if many < 2:
        raise TrainingError(
            f"{bank.file}: {many} sentence is too few: at least one is needed to learn from and another to choose by; "
            "add sentences, or name development data by --dev"
        )
    some = -(-many // (STRETCHES * TENTH))  # held out of each stretch
    held = np.arange(many) % (TENTH * some) >= (TENTH - 1) * some
    if not held.any():
        held[-1] = True
    return bank.select(~held), bank.select(held)


def write_parts(data: TreebankData, folder: Path) -> dict[str, Path]:
    """Give the files of all parts, writing those that were cut apart into a folder."""
    if not data.held_out:
        return data.files
    stem = re.sub(r"\.conllu(\.gz|\.xz)?$", "", data.files["train"].name)
    home = files.make_folder(folder)
    paths = {"train": home / f"{stem}-kept.conllu", "dev": home / f"{stem}-held-out.conllu"}
    conllu.write(paths["train"], data.train)
    conllu.write(paths["dev"], data.dev)
    return data.files | paths


def licence(folder: Path) -> str:
    """Find the licence that a treebank's folder names, as UD keeps it: in its README, or in LICENSE.txt; or nothing."""
    for name in ("README.md", "README.txt"):
        if (folder / name).is_file() and (found := _README.search(_opening(folder / name))):
            return found[1].replace(" ", "-")
    text = _opening(folder / "LICENSE.txt") if (folder / "LICENSE.txt").is_file() else ""
    if _RESOURCES.search(text):
        return "LGPLLR"
    if found := _CREATIVE.search(text):
        parts = ("CC", "BY", "NC" if found["nc"] else "", "SA" if found["sa"] else "", found["version"])
        return "-".join(filter(None, parts))
    return ""


def _opening(path: Path) -> str:
    with files.reading(path) as file:
        return file.read(BLOCK).decode("utf-8", "replace")


def digest(path: Path) -> str:
    """Give what a file's content is known by."""
    found = hashlib.sha256()
    for block in files.blocks(path, BLOCK):
        found.update(block)
    return found.hexdigest()
