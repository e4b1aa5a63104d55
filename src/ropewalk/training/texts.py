"""Sentences without trees for a teacher: plain text, tokens or CoNLL-U."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk import conllu
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.errors import ConfigError
from ropewalk.formats.text import text_pieces, token_banks
from ropewalk.models.catalogue import SEGMENTER, locate
from ropewalk.segmentation.segmenter import Segmenter
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST = 60  # words of a sentence: longer ones are usually lists and errors of the segmenter


def read_texts(paths: Sequence[str], segmenter: str) -> Treebank:
    """Read the words of files as one treebank without trees; leave out sentences of more than `LONGEST` words.

    Files named `.conllu` or `.tokens`, also compressed, are already segmented. Other files are plain text with a
    paragraph on each line, and the model or folder `segmenter` segments them. Raise `ConfigError` if a file is plain
    text and `segmenter` is empty.
    """
    banks = [bank for path in paths for bank in _banks(path, segmenter)]
    if not banks:
        return Treebank.of([])
    forms = Column.concat([bank.column("form") for bank in banks])
    offsets = Offsets.concat([bank.offsets for bank in banks])
    return Treebank.of_words(forms, offsets).select(offsets.lengths <= LONGEST)


def _banks(path: str, segmenter: str) -> Iterable[Treebank]:
    kind = Path(path.removesuffix(".gz").removesuffix(".xz")).suffix
    if kind == ".conllu":
        return [conllu.read(path)]
    if kind == ".tokens":
        return token_banks(text_pieces(path), path)
    if not segmenter:
        problem = f"is empty, and {path} is plain text; expected a model or folder with a segmenter, such as en"
        raise ConfigError("teacher", "teacher.segmenter", problem)
    home = Path(segmenter) if (Path(segmenter) / SEGMENTER).is_file() else locate(segmenter)
    return Segmenter.load(home, each_line="paragraph").stream(text_pieces(path))
