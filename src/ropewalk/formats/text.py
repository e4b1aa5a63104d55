"""Plain text and tokens between spaces: files read piece by piece, and treebanks of words without trees."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ropewalk import files
from ropewalk.errors import FormatError
from ropewalk.treebank import UNWRITABLE, Column, Heading, Treebank, starts_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

LONGEST_SHOWN = 30
CHUNK = 1 << 16
MOST_SPACES = 1 << 20  # one after the other: they are kept with the token before them
LONGEST_LINE = 1 << 24  # characters of a line of tokens
BETWEEN = re.compile("[ \t\r]+")


def text_pieces(path: str | os.PathLike[str]) -> Iterator[str]:
    """Read UTF-8 as it comes, a pipe too; a byte order mark is no text and left out."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    lines = 1
    spaces = 0  # that the text so far ends in
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
            bare = piece.strip()
            if spaces + len(piece) - len(piece.lstrip() if bare else "") > MOST_SPACES:
                message = f"more than {MOST_SPACES:,} spaces in a row, the most that are read; expected text"
                raise FormatError(files.shown(path), lines, "too-many-spaces", message)
            spaces = len(piece) - len(piece.rstrip()) if bare else spaces + len(piece)
            lines += piece.count("\n")
            if piece:
                yield piece
            if not block:
                return


def treebank_of_tokens(sentences: Iterable[Sequence[str]], *, first: int = 1, name: str = "<tokens>") -> Treebank:
    """Make a treebank of words without trees; sentences are numbered from `first`."""
    rows = list(sentences)
    for number, words in enumerate(rows, start=first):
        if isinstance(words, str) or not isinstance(words, Sequence) or not len(words):
            found = "is text" if isinstance(words, str) else "has no words"
            message = f"sentence {number} {found}; expected a list of at least one word"
            raise FormatError(name, 0, "no-words", message)
        for place, word in enumerate(words, start=1):
            if not isinstance(word, str) or not word or UNWRITABLE.search(word):
                shown = word[:LONGEST_SHOWN] if isinstance(word, str) else word
                raise FormatError(
                    name,
                    0,
                    "unwritable-text",
                    f"sentence {number}: word {place} is {shown!r}; expected text of at least one character, "
                    "and no tab, line break, NUL or lone surrogate",
                )
    headings = tuple(Heading(str(number), " ".join(words)) for number, words in enumerate(rows, start=first))
    forms = Column.of(word for words in rows for word in words)
    return Treebank.of_words(forms, starts_of([len(words) for words in rows]), headings=headings)


def token_banks(pieces: Iterable[str], name: str) -> Iterator[Treebank]:
    """Read one sentence a line, words between spaces, as they come; empty lines say nothing.

    The first sentence begins a document, as that of a text does.
    """
    first = 1
    for lines in _lines(pieces, name):
        found = [[word for word in BETWEEN.split(line) if word] for line in lines]
        sentences = [words for words in found if words]
        if sentences:
            bank = treebank_of_tokens(sentences, first=first, name=name)
            yield bank if first > 1 else bank.with_document("")
        first += len(sentences)


def _lines(pieces: Iterable[str], name: str) -> Iterator[list[str]]:
    """Give the lines that end in each piece, and in the end what is left."""
    rest: list[str] = []
    held, line = 0, 1
    for piece in pieces:
        head, *whole = piece.split("\n")
        rest.append(head)
        held = len(whole[-1]) if whole else held + len(head)
        line += len(whole)
        if held > LONGEST_LINE:
            message = f"the line has more than {LONGEST_LINE:,} characters, the most that are read"
            raise FormatError(name, line, "too-long", f"{message}; expected one sentence a line")
        if whole:
            last = whole.pop()
            yield ["".join(rest), *whole]
            rest = [last]
    yield ["".join(rest)]
