"""The data of a build: the files of treebanks, and development data held out from train if there is none.

With several treebanks, one is the main one. The others add sentences to its train data.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ropewalk import conllu, files
from ropewalk.errors import TrainingError
from ropewalk.segmentation.tokens import tokens_of
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from ropewalk.laboratory.splits import SplitSource

TENTH = 10  # one sentence in ten is held out
STRETCHES = 20  # spans that train is split into, so that the held-out data come from all of its texts
BLOCK = 1 << 20  # bytes
_CODE = re.compile(r"([a-z]{2,3})_")
_README = re.compile(r"^Licen[sc]e:[ \t]*(\S.*?)\s*$", re.MULTILINE)
_RESOURCES = re.compile(r"Lesser\s+General\s+Public\s+Licen[sc]e\s+For\s+Linguistic\s+Resources", re.IGNORECASE)
_GENERAL = re.compile(r"GNU\s+GENERAL\s+PUBLIC\s+LICENSE\s+(Version\s+)?3", re.IGNORECASE)
_SHORT = re.compile(r"CC[ -](BY(-NC)?(-SA)?)[ -](\d\.\d)")
_CREATIVE = re.compile(r"Attribution(?P<nc>-\s*NonCommercial)?(?P<sa>-\s*ShareAlike)?\s+(?P<version>\d\.\d)")


@dataclass(frozen=True, slots=True, eq=False)
class OtherTreebank:
    """A treebank beside the main one: its name, licence, language code, train data and the file that they come from.

    `dropped` is the number of sentences of the file that are not in `train`; see `read`.
    """

    name: str
    licence: str
    code: str
    train: Treebank
    file: Path
    dropped: int


@dataclass(frozen=True, slots=True, eq=False)
class TreebankData:
    """A treebank's name, licence and parts (train, dev, test), with the `files` of these parts by name.

    If there is no dev file, `dev` was held out from the train file; see `held_out`. `others` are further treebanks,
    from which only train data are learnt. `dropped` is the number of sentences that were removed from train.
    """

    name: str
    licence: str
    train: Treebank
    dev: Treebank
    test: Treebank | None
    files: dict[str, Path]
    others: tuple[OtherTreebank, ...] = ()
    dropped: int = 0

    @property
    def held_out(self) -> bool:
        """Whether the development data were held out from train."""
        return "dev" not in self.files

    @property
    def code(self) -> str:
        """The language code with which the name of the train file begins, as in UD; empty if it has none."""
        return language_code(self.files["train"])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all treebanks, the main one first."""
        return (self.name, *(other.name for other in self.others))

    @property
    def licences(self) -> str:
        """The licences of all treebanks as an SPDX expression; empty if one of them is unknown."""
        licences = dict.fromkeys((self.licence, *(other.licence for other in self.others)))
        return " AND ".join(licences) if all(licences) else ""

    @property
    def learnt(self) -> Treebank:
        """The train data of all treebanks."""
        return Treebank.concat([self.train, *(other.train for other in self.others)])


def read(source: SplitSource, others: Sequence[SplitSource] = ()) -> TreebankData:
    """Read a treebank's files; hold out a part of train if there are no development data.

    With `others`, read their train data too. From the train data of all treebanks, sentences are then dropped whose
    text is also in the dev or test data of any of them. Raise `TrainingError` if a treebank has no train file, or if
    two have the same name.
    """
    for number, other in enumerate(others):
        if other.name in {source.name, *(before.name for before in others[:number])}:
            raise TrainingError(f"two treebanks are called {other.name}; name each treebank once")
    banks = _read_parts(source)
    train, dev = banks["train"], banks.get("dev")
    if dev is None:
        train, dev = hold_out(train)
    paths = {part: path.resolve() for part, path in source.files.items()}
    data = TreebankData(source.name, licence(paths["train"].parent), train, dev, banks.get("test"), paths)
    if not others:
        return data
    more = [_read_parts(other) for other in others]
    held = [dev, *(bank for parts in (banks, *more) for part, bank in parts.items() if part != "train")]
    texts = {text for bank in held for text in _texts(bank)}
    kept = [_without(bank, texts) for bank in (train, *(parts["train"] for parts in more))]
    return replace(
        data,
        train=kept[0],
        dropped=len(train) - len(kept[0]),
        others=tuple(
            OtherTreebank(
                other.name,
                licence(other.files["train"].resolve().parent),
                language_code(other.files["train"]),
                bank,
                other.files["train"].resolve(),
                len(parts["train"]) - len(bank),
            )
            for other, parts, bank in zip(others, more, kept[1:], strict=True)
        ),
    )


def _read_parts(source: SplitSource) -> dict[str, Treebank]:
    if "train" not in source.files:
        raise TrainingError(
            f"{source.name}: there is no train file, only {' and '.join(source.files)}; name one with --train, or "
            "split the treebank's sentences into files of your own"
        )
    return {part: conllu.read(path.resolve()) for part, path in source.files.items()}


def _texts(bank: Treebank) -> list[str]:
    """Return the text of each sentence without spaces."""
    return ["".join("".join(token.text.split()) for token in sentence.tokens) for sentence in tokens_of(bank)]


def _without(bank: Treebank, texts: Collection[str]) -> Treebank:
    """Return a treebank without the sentences whose text is in `texts`; if none is, return it unchanged."""
    keep = np.array([text not in texts for text in _texts(bank)], dtype=np.bool_)
    return bank if keep.all() else bank.select(keep)


def language_code(file: Path) -> str:
    """Return the language code with which the name of a file begins, as in UD: `de` for `de_gsd-ud-train.conllu`."""
    match = _CODE.match(file.name)
    return match[1] if match else ""


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
    """Return the files of all parts by name; parts that differ from their file are first written into `folder`."""
    paths = dict(data.files)
    if data.held_out or data.dropped:
        paths["train"] = _written(data.train, data.files["train"], folder, "kept")
    if data.held_out:
        paths["dev"] = _written(data.dev, data.files["train"], folder, "held-out")
    return paths


def write_other(other: OtherTreebank, folder: Path) -> Path:
    """Return the file with the train data of another treebank; if some were dropped, first write it into `folder`."""
    return _written(other.train, other.file, folder, "kept") if other.dropped else other.file


def _written(bank: Treebank, source: Path, folder: Path, suffix: str) -> Path:
    stem = re.sub(r"\.conllu(\.gz|\.xz)?$", "", source.name)
    path = files.make_folder(folder) / f"{stem}-{suffix}.conllu"
    conllu.write(path, bank)
    return path


def licence(folder: Path) -> str:
    """Return the licence that a treebank's folder states in its README or LICENSE.txt, as in UD; or an empty text."""
    for name in ("README.md", "README.txt"):
        if (folder / name).is_file() and (match := _README.search(_opening(folder / name))):
            return match[1].replace(" ", "-")
    text = _opening(folder / "LICENSE.txt") if (folder / "LICENSE.txt").is_file() else ""
    if _RESOURCES.search(text):
        return "LGPLLR"
    if _GENERAL.search(text):
        return "GPL-3.0-only"
    if match := _SHORT.match(text):
        return f"CC-{match[1]}-{match[4]}"
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
