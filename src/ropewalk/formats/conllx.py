"""CoNLL-X, the format of the shared tasks of 2006 and 2007 and of most conversions of the Penn Treebank.

It has ten columns. The first eight are those of CoNLL-U, the last two are PHEAD and PDEPREL, the head and relation of a
projective tree. It has no comments, multiword tokens or empty nodes (Buchholz & Marsi 2006). Files are converted to
CoNLL-U line by line when they are read, and back when they are written: CPOSTAG is UPOS, POSTAG is XPOS, and MISC holds
PHEAD and PDEPREL.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ropewalk.files import path_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

NAME: Final = re.compile(r".*\.(?:conllx|conll)(?:\.gz|\.xz)?", re.IGNORECASE | re.DOTALL)
COLUMNS: Final = 10
LEAST_COLUMNS: Final = 8  # some programs leave PHEAD and PDEPREL out
HEAD: Final = b"PHead="
RELATION: Final = b"PDeprel="


def is_named(path: str | os.PathLike[str]) -> bool:
    """Return whether a file name ends in `.conllx` or `.conll`, with or without `.gz` or `.xz` after it."""
    return NAME.fullmatch(path_text(path)) is not None


def to_conllu(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Convert blocks of a CoNLL-X file to lines of CoNLL-U; add the blank line at the end if it is missing."""
    rest = b""
    last = b"\n"
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            last = _read_line(line)
            yield last
    if rest:
        last = _read_line(rest)
        yield last
    if last != b"\n":
        yield b"\n"


def from_conllu(text: bytes) -> bytes:
    """Convert CoNLL-U to CoNLL-X; comments, multiword tokens and empty nodes are lost, because CoNLL-X has none."""
    return b"".join(map(_written_line, text.splitlines(keepends=True)))


def _read_line(line: bytes) -> bytes:
    line = line.removesuffix(b"\r")
    fields = line.split(b"\t")
    if not LEAST_COLUMNS <= len(fields) <= COLUMNS:
        return line + b"\n"  # a blank line, or an error that the reader of CoNLL-U reports
    head, relation = (*fields[LEAST_COLUMNS:], b"_", b"_")[:2]
    misc = [HEAD + head] if head != b"_" else []
    misc += [RELATION + relation] if relation != b"_" else []
    return b"\t".join([*fields[:LEAST_COLUMNS], b"_", b"|".join(misc) or b"_"]) + b"\n"


def _written_line(line: bytes) -> bytes:
    if line == b"\n":
        return line
    fields = line.removesuffix(b"\n").split(b"\t")
    if not fields[0].isdigit():
        return b""
    misc = fields[-1].split(b"|")
    projective = [
        next((part.removeprefix(key) for part in misc if part.startswith(key)), b"_") for key in (HEAD, RELATION)
    ]
    return b"\t".join([*fields[:LEAST_COLUMNS], *projective]) + b"\n"
