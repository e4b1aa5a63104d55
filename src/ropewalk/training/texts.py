"""Sentences without trees, for a teacher to annotate: plain text that is cut into words, tokens, or CoNLL-U."""

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

LONGEST = 60  # words of a sentence: longer ones are mostly lists and mistakes of the segmenter


def read_texts(paths: Sequence[str], segmenter: str) -> Treebank:
    """Read the words of files and nothing else; sentences that are too long are left out.

    `.conllu` and `.tokens`, also packed, are taken as they are; other files have a paragraph a line and are cut.
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
        raise ConfigError(
            "teacher",
            "teacher.segmenter",
            f"names nothing, and {path} is plain text; expected a model or folder with a segmenter, such as en",
        )
    home = Path(segmenter) if (Path(segmenter) / SEGMENTER).is_file() else locate(segmenter)
    return Segmenter.load(home, each_line="paragraph").stream(text_pieces(path))
