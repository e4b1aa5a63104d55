"""The data of a build: the treebank's files, and development data held out from train if there is none."""

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

TENTH = 10  # one sentence in ten is held out
STRETCHES = 20  # spans that train is split into, so that the held-out data come from all of its texts
BLOCK = 1 << 20  # bytes
_README = re.compile(r"^Licen[sc]e:[ \t]*(\S.*?)\s*$", re.MULTILINE)
_RESOURCES = re.compile(r"Lesser\s+General\s+Public\s+Licen[sc]e\s+For\s+Linguistic\s+Resources", re.IGNORECASE)
_CREATIVE = re.compile(r"Attribution(?P<nc>-\s*NonCommercial)?(?P<sa>-\s*ShareAlike)?\s+(?P<version>\d\.\d)")


@dataclass(frozen=True, slots=True, eq=False)
class TreebankData:
    """A treebank's name, licence and parts (train, dev, test), with the `files` of these parts by name.

    If there is no dev file, `dev` was held out from the train file; see `held_out`.
    """

    name: str
    licence: str
    train: Treebank
    dev: Treebank
    test: Treebank | None
    files: dict[str, Path]

    @property
    def held_out(self) -> bool:
        """Whether the development data were held out from train."""
        return "dev" not in self.files


def read(source: SplitSource) -> TreebankData:
    """Read a treebank's files; hold out a part of train if there are no development data.

    Raise `TrainingError` if there is no train file.
    """
    paths = {part: path.resolve() for part, path in source.files.items()}
    if "train" not in paths:
        raise TrainingError(
            f"{source.name}: there is no train file, only {' and '.join(paths)}; name one with --train, or split the "
            "treebank's sentences into files of your own"
        )
    banks = {part: conllu.read(path) for part, path in paths.items()}
    train, dev = banks["train"], banks.get("dev")
    if dev is None:
        train, dev = hold_out(train)
    return TreebankData(source.name, licence(paths["train"].parent), train, dev, banks.get("test"), paths)


def hold_out(bank: Treebank) -> tuple[Treebank, Treebank]:
    """Split a treebank into two, about nine tenths and one tenth; the split is the same on every call.

    The treebank is cut into up to `STRETCHES` spans, and the end of each span is held out. Neighbours stay together,
    because segmenters learn from running text. Raise `TrainingError` if there are fewer than two sentences.
    """
    many = len(bank)
    if many < 2:
        raise TrainingError(
            f"{bank.file}: {many} sentence is too few: training needs one, and choosing the best epoch another; "
            "add sentences, or name development data with --dev"
        )
    some = -(-many // (STRETCHES * TENTH))  # held out from each span
    held = np.arange(many) % (TENTH * some) >= (TENTH - 1) * some
    if not held.any():
        held[-1] = True
    return bank.select(~held), bank.select(held)


def write_parts(data: TreebankData, folder: Path) -> dict[str, Path]:
    """Return the files of all parts by name; if dev data were held out, first write both parts into `folder`."""
    if not data.held_out:
        return data.files
    stem = re.sub(r"\.conllu(\.gz|\.xz)?$", "", data.files["train"].name)
    home = files.make_folder(folder)
    paths = {"train": home / f"{stem}-kept.conllu", "dev": home / f"{stem}-held-out.conllu"}
    conllu.write(paths["train"], data.train)
    conllu.write(paths["dev"], data.dev)
    return data.files | paths


def licence(folder: Path) -> str:
    """Return the licence that a treebank's folder states in its README or LICENSE.txt, as in UD; or an empty text."""
    for name in ("README.md", "README.txt"):
        if (folder / name).is_file() and (match := _README.search(_opening(folder / name))):
            return match[1].replace(" ", "-")
    text = _opening(folder / "LICENSE.txt") if (folder / "LICENSE.txt").is_file() else ""
    if _RESOURCES.search(text):
        return "LGPLLR"
    if match := _CREATIVE.search(text):
        parts = ("CC", "BY", "NC" if match["nc"] else "", "SA" if match["sa"] else "", match["version"])
        return "-".join(filter(None, parts))
    return ""


def _opening(path: Path) -> str:
    with files.reading(path) as file:
        return file.read(BLOCK).decode("utf-8", "replace")


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's content."""
    digest = hashlib.sha256()
    for block in files.blocks(path, BLOCK):
        digest.update(block)
    return digest.hexdigest()
