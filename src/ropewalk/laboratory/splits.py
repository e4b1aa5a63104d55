"""Treebanks as people keep them: a folder in UD's layout, or a file for each split."""

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
FILE: Final = re.compile(r".+-(?P<split>train|dev|test)\.conllu(\.gz|\.xz)?")
LAYOUT: Final = "files such as en_ewt-ud-train.conllu, en_ewt-ud-dev.conllu and en_ewt-ud-test.conllu"


@dataclass(frozen=True, slots=True)
class SplitSource:
    """One treebank on disk: its name, and the file of each split that there is."""

    name: str
    files: Mapping[str, Path]

    @property
    def missing(self) -> tuple[str, ...]:
        """The splits for which there is no file."""
        return tuple(split for split in SPLITS if split not in self.files)


@dataclass(frozen=True, slots=True, eq=False)
class Corpus(Generic[Structures]):
    """One treebank in memory: its name, and the trees or graphs of each split, in the order of `SPLITS`."""

    name: str
    splits: Mapping[str, Structures]

    @property
    def missing(self) -> tuple[str, ...]:
        """The splits that are not there."""
        return tuple(split for split in SPLITS if split not in self.splits)


def find(path: str | os.PathLike[str]) -> list[SplitSource]:
    """Find the treebanks of a folder in UD's layout: the folder is one, or holds one in each of several folders."""
    folder = Path(path_text(path))
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing"
        raise FormatError(
            os.fspath(path),
            0,
            "no-treebank",
            f"a treebank's folder was looked for and {found} found; expected a folder with {LAYOUT}, or one that "
            "holds such folders; give single files as --train, --dev and --test",
        )
    here = _source(folder)
    if here.files:
        return [here]
    inside = [_source(one) for one in sorted(folder.iterdir()) if one.is_dir()]
    sources = [source for source in inside if source.files]
    if not sources:
        raise FormatError(
            os.fspath(path),
            0,
            "no-treebank",
            f"neither the folder nor any of the {len(inside)} folders in it holds a treebank; expected {LAYOUT}",
        )
    return sources


def of_files(files: Mapping[str, str | os.PathLike[str] | None], name: str = "") -> SplitSource:
    """Take explicit files by split, None where there is none; the name is by default the first file's."""
    for split in files:
        demand_known("split", split, SPLITS)
    given = {split: Path(file) for split in SPLITS if (file := files.get(split)) is not None}
    if not given:
        raise OptionError("no file for any split; expected one for at least one of train, dev and test")
    first = next(iter(given.values())).name
    return SplitSource(name or re.sub(r"(-ud)?(-train|-dev|-test)?\.conllu(\.gz|\.xz)?$", "", first) or first, given)


def read(source: SplitSource) -> Corpus[Treebank]:
    """Read the trees of every split; a sentence that is no tree is an error."""
    return Corpus(source.name, {split: conllu.read(file, trees="required") for split, file in source.files.items()})


def _source(folder: Path) -> SplitSource:
    """Take the split files of one folder; several of one split are an error, for they cannot all be meant."""
    found: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):
        match = FILE.fullmatch(file.name)
        if match is None or not file.is_file():
            continue
        if match["split"] in found:
            raise FormatError(
                os.fspath(folder),
                0,
                "several-files",
                f"{found[match['split']].name} and {file.name} are both the split {match['split']}; expected one file "
                "a split: give those that are meant as --train, --dev and --test",
            )
        found[match["split"]] = file
    return SplitSource(folder.resolve().name, {split: found[split] for split in SPLITS if split in found})
