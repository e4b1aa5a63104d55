"""The tokens of a treebank with the spaces between them, and the raw text that they form."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class RawToken(NamedTuple):
    """A token: its text, its words, the spaces after it, and the part of speech of its first word, if it is known."""

    text: str
    words: tuple[str, ...]
    after: str
    tag: str = ""


@dataclass(frozen=True, slots=True)
class RawSentence:
    """The tokens of one sentence, the spaces before it, and whether a paragraph begins with it."""

    tokens: tuple[RawToken, ...]
    before: str
    paragraph: bool


def tokens_of(bank: Treebank, *, tagged: bool = False) -> Iterator[RawSentence]:
    """Yield for each sentence of a treebank its tokens and spaces; a word outside multiword tokens is a token.

    With `tagged`, tokens have parts of speech (UPOS).
    """
    surface = bank.surface
    forms = bank.column("form").texts()
    tags = bank.column("upos").texts() if tagged else None
    written = {**surface.texts, **surface.written}
    rows = zip(pairwise(surface.first.tolist()), surface.after.texts(), strict=True)
    tokens = [
        RawToken(written.get(number, forms[start]), tuple(forms[start:stop]), after, tags[start] if tags else "")
        for number, ((start, stop), after) in enumerate(rows)
    ]
    for number, (start, stop) in enumerate(pairwise(surface.offsets(bank.offsets).array.tolist())):
        heading = bank.heading(number)
        paragraph = heading.paragraph or heading.document is not None
        yield RawSentence(tuple(tokens[start:stop]), surface.before.get(number, ""), paragraph)


def text_of(banks: Treebank | Iterable[Treebank]) -> str:
    """Return the raw text of one or more treebanks, with all its spaces, exactly as it was before segmentation."""
    many = [banks] if isinstance(banks, Treebank) else banks
    return "".join(map(_text_of, many))


def _text_of(bank: Treebank) -> str:
    if not len(bank):
        return bank.surface.before.get(0, "")
    return "".join(
        sentence.before + "".join(token.text + token.after for token in sentence.tokens) for sentence in tokens_of(bank)
    )
