"""Plain text, and text with spaces between tokens: read files piece by piece, and build treebanks without trees."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ropewalk import files
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.errors import FormatError, demand_type
from ropewalk.treebank.source import UNWRITABLE
from ropewalk.treebank.surface import Heading
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

LONGEST_SHOWN = 30
CHUNK = 1 << 16
MOST_SPACES = 1 << 20  # in a row, since they are stored with the token before them
# The characters that no token contains: white space, control characters, marks of direction, U+200B and U+FEFF.
_SPACE_CODES = (*range(0x21), *range(0x7F, 0xA1), 0x1680, *range(0x2000, 0x200C), 0x2028, 0x2029, 0x202F, 0x205F)
_DIRECTION_CODES = (0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
SPACES = "".join(map(chr, (*_SPACE_CODES, *_DIRECTION_CODES, 0x3000, 0xFEFF)))
LONGEST_LINE = 1 << 24  # characters of a line of tokens
BETWEEN = re.compile("[ \t\r]+")
# UD allows only single spaces in a form, between other characters, and no line breaks.
UNFIT = re.compile(rf"{UNWRITABLE.pattern}|[\x0b\x0c\x1c-\x1f\x85\u2028\u2029]|(?<!\S)\s|\s(?!\S)")


def raw_bytes(text: bytes | str, name: str) -> bytes:
    """Return `text` as bytes; raise a `FormatError` with the file name `name` if it is neither str nor bytes."""
    if not isinstance(text, bytes | str):
        raise FormatError(name, 0, "not-text", f"found {type(text).__name__}; expected str or bytes")
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def checked_texts(texts: Iterable[object]) -> Iterator[str]:
    """Yield `texts` unchanged; raise a `FormatError` for a value that is not a str."""
    demand_type("texts", texts, Iterable)
    for text in texts:
        if not isinstance(text, str):
            kind = type(text).__name__
            raise FormatError("<text>", 0, "not-text", f"found a {kind}; expected str, or use tokens() for words")
        yield text


def text_pieces(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the text of a UTF-8 file in pieces, each as soon as it can be read, also from a pipe.

    A byte order mark is left out.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    lines = 1
    spaces = 0  # at the end of the text so far
    with files.reading(path) as file:
        read = getattr(file, "read1", file.read)  # `read1` does not wait for more
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
            behind = piece.lstrip(SPACES)
            if spaces + len(piece) - len(behind) > MOST_SPACES:
                message = (
                    f"more than {MOST_SPACES:,} spaces in a row, control characters included; expected text with fewer"
                )
                raise FormatError(files.shown(path), lines, "too-many-spaces", message)
            spaces = len(piece) - len(piece.rstrip(SPACES)) if behind else spaces + len(piece)
            lines += piece.count("\n")
            if piece:
                yield piece
            if not block:
                return


def treebank_of_tokens(
    sentences: Iterable[Sequence[str]], *, first: int = 1, name: str = "<tokens>", lines: Sequence[int] = ()
) -> Treebank:
    """Return a treebank without trees from lists of words.

    Sentences are numbered from `first`. For errors, `name` is the file name, and `lines` has the line of each sentence.
    """
    demand_type("sentences", sentences, Iterable)
    rows = list(sentences)
    for number, words in enumerate(rows, start=first):
        if isinstance(words, str) or not isinstance(words, Sequence) or not len(words):
            problem = "is text" if isinstance(words, str) else "has no words"
            message = f"sentence {number} {problem}; expected a list of at least one word"
            raise FormatError(name, 0, "no-words", message)
        for position, word in enumerate(words, start=1):
            unfit = UNFIT.search(word) if isinstance(word, str) else None
            if not isinstance(word, str) or not word or unfit:
                shown = word[:LONGEST_SHOWN] if isinstance(word, str) else word
                where = f", with {unfit[0]!r} as character {unfit.start() + 1}" if unfit else ""
                raise FormatError(
                    name,
                    lines[number - first] if lines else 0,
                    "unwritable-text",
                    f"sentence {number}: word {position} is {shown!r}{where}; expected text of at least one character, "
                    "with single spaces at most between others, and no tab, line break, NUL or lone surrogate",
                )
    headings = tuple(Heading(str(number), " ".join(words)) for number, words in enumerate(rows, start=first))
    forms = Column.of(word for words in rows for word in words)
    return Treebank.of_words(forms, Offsets.of_lengths([len(words) for words in rows]), headings=headings)


def token_banks(pieces: Iterable[str], name: str) -> Iterator[Treebank]:
    """Yield treebanks without trees from text with one sentence per line and spaces between words.

    Each treebank has the sentences whose lines end in one piece of the text. Empty lines are skipped. The first
    sentence begins a document.
    """
    first = line = 1
    for lines in _lines(pieces, name):
        rows = ([word for word in BETWEEN.split(text) if word] for text in lines)
        sentences = {number: words for number, words in enumerate(rows, start=line) if words}
        if sentences:
            bank = treebank_of_tokens(sentences.values(), first=first, name=name, lines=tuple(sentences))
            yield bank if first > 1 else bank.with_document("")
        first += len(sentences)
        line += len(lines)


def _lines(pieces: Iterable[str], name: str) -> Iterator[list[str]]:
    """Yield for each piece of text the list of lines that end in it, and at last the rest after the last line break."""
    rest: list[str] = []
    held, line = 0, 1
    for piece in checked_texts(pieces):
        head, *whole = piece.split("\n")
        rest.append(head)
        held = len(whole[-1]) if whole else held + len(head)
        line += len(whole)
        if held > LONGEST_LINE:
            message = f"the line has more than {LONGEST_LINE:,} characters; expected one sentence per line"
            raise FormatError(name, line, "too-long", message)
        if whole:
            last = whole.pop()
            yield ["".join(rest), *whole]
            rest = [last]
    yield ["".join(rest)]
