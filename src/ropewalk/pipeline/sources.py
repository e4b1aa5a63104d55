"""Files of text and of tokens, read piece by piece."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from ropewalk import files
from ropewalk.errors import FormatError
from ropewalk.pipeline.parser import bank_of_tokens

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from ropewalk.treebank import Treebank

CHUNK = 1 << 16
BETWEEN = re.compile("[ \t\r]+")


def text_pieces(path: str | os.PathLike[str]) -> Iterator[str]:
    """Read UTF-8 as it comes, a pipe too; a byte order mark is no text and left out."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    lines = 1
    with files.reading(path) as file:
        read = getattr(file, "read1", file.read)  # what is there, rather than wait for more
        while True:
            block: bytes = read(CHUNK)
            try:
                piece = decoder.decode(block, final=not block)
            except UnicodeDecodeError as failure:
                line = lines + failure.object[: failure.start].count(b"\n")
                raise FormatError(
                    files.shown(path),
                    line,
                    "utf-8",
                    f"byte 0x{failure.object[failure.start]:02x} is not UTF-8; expected UTF-8 throughout",
                ) from failure
            lines += piece.count("\n")
            if piece:
                yield piece
            if not block:
                return


def token_banks(pieces: Iterable[str], name: str) -> Iterator[Treebank]:
    """Read one sentence a line, words between spaces, as they come; empty lines say nothing.

    The first sentence begins a document, as that of a text does.
    """
    first = 1
    for lines in _lines(pieces):
        found = [[word for word in BETWEEN.split(line) if word] for line in lines]
        sentences = [words for words in found if words]
        if sentences:
            bank = bank_of_tokens(sentences, first=first, name=name)
            yield bank if first > 1 else bank.with_comments(["# newdoc", *[""] * (len(bank) - 1)])
        first += len(sentences)


def _lines(pieces: Iterable[str]) -> Iterator[list[str]]:
    """Give the lines that end in each piece, and in the end what is left."""
    rest: list[str] = []
    for piece in pieces:
        head, *whole = piece.split("\n")
        rest.append(head)
        if whole:
            last = whole.pop()
            yield ["".join(rest), *whole]
            rest = [last]
    yield ["".join(rest)]
