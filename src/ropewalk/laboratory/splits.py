"""Treebanks on disk: a folder in UD's layout, a file for each split, or a single file."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from ropewalk import conllu
from ropewalk.errors import FormatError, OptionError, demand_known
from ropewalk.files import path_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ropewalk.treebank.treebank import Treebank

Structures = TypeVar("Structures")

SPLITS: Final = ("train", "dev", "test")
WHOLE: Final = "all"  # the name of the only split in a treebank of one file
FILE: Final = re.compile(r".+-(?P<split>train|dev|test)\.conllu(\.gz|\.xz)?")
ENDING: Final = re.compile(r"\.(conllu|conllx|sdp)(\.gz|\.xz)?$")
LAYOUT: Final = "files such as en_ewt-ud-train.conllu, en_ewt-ud-dev.conllu and en_ewt-ud-test.conllu"


@dataclass(frozen=True, slots=True)
class SplitSource:
    """One treebank on disk: its name, and the file of each split; a single file has the split name `WHOLE`."""

    name: str
    files: Mapping[str, Path]

    @property
    def missing(self) -> tuple[str, ...]:
        """The splits without a file; empty for a treebank of a single file."""
        return tuple(split for split in SPLITS if split not in self.files) if WHOLE not in self.files else ()


@dataclass(frozen=True, slots=True, eq=False)
class Corpus(Generic[Structures]):
    """One treebank in memory: its name, and the trees or graphs of each split, in the order of `SPLITS`."""

    name: str
    splits: Mapping[str, Structures]

    @property
    def missing(self) -> tuple[str, ...]:
        """Those of train, dev and test that the treebank does not have."""
        return tuple(split for split in SPLITS if split not in self.splits)


def find(path: str | os.PathLike[str]) -> list[SplitSource]:
    """Return the treebank in the folder `path`, or else those in its subfolders, all in UD's layout.

    If `path` is a file, return one treebank without splits. Raise `FormatError` if there is no treebank.
    """
    folder = Path(path_text(path))
    if folder.is_file():
        return [SplitSource(ENDING.sub("", folder.name) or folder.name, {WHOLE: folder})]
    if not folder.is_dir():
        problem = "there is no such file or folder; expected a file, a folder with"
        raise FormatError(os.fspath(path), 0, "no-treebank", f"{problem} {LAYOUT}, or one that contains such folders")
    here = _source(folder)
    if here.files:
        return [here]
    inside = [_source(inner) for inner in sorted(folder.iterdir()) if inner.is_dir()]
    sources = [source for source in inside if source.files]
    if not sources:
        problem = f"neither the folder nor any of the {len(inside)} folders in it has a treebank; expected {LAYOUT}"
        raise FormatError(os.fspath(path), 0, "no-treebank", problem)
    return sources


def of_files(files: Mapping[str, str | os.PathLike[str] | None], name: str = "") -> SplitSource:
    """Return a treebank whose files are given by split; None means that a split has no file.

    If `name` is empty, the treebank is named after its first file. Raise `OptionError` if there is no file.
    """
    for split in files:
        demand_known("split", split, SPLITS)
    paths = {split: Path(file) for split in SPLITS if (file := files.get(split)) is not None}
    if not paths:
        raise OptionError("no file for any split; pass one for at least one of train, dev and test")
    first = next(iter(paths.values())).name
    return SplitSource(name or re.sub(r"(-ud)?(-train|-dev|-test)?\.conllu(\.gz|\.xz)?$", "", first) or first, paths)


def read(source: SplitSource) -> Corpus[Treebank]:
    """Read the treebank of every split; raise `FormatError` if a sentence has no tree."""
    return Corpus(source.name, {split: conllu.read(file, trees="required") for split, file in source.files.items()})


def _source(folder: Path) -> SplitSource:
    """Return the treebank of a folder, with the file of each split; raise `FormatError` if a split has several."""
    paths: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):
        match = FILE.fullmatch(file.name)
        if match is None or not file.is_file():
            continue
        if match["split"] in paths:
            problem = f"{paths[match['split']].name} and {file.name} are both the split {match['split']}"
            advice = "expected one file for each split: pass the right ones as --train, --dev and --test"
            raise FormatError(os.fspath(folder), 0, "several-files", f"{problem}; {advice}")
        paths[match["split"]] = file
    return SplitSource(folder.resolve().name, {split: paths[split] for split in SPLITS if split in paths})
