"""The tokens of a treebank with the spaces between them, and the raw text that they make."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ropewalk.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_NAMED = {"s": " ", "t": "\t", "n": "\n", "r": "\r", "p": "|", "\\": "\\"}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_LITERAL = {character: f"\\{name}" for name, character in _NAMED.items()}
_PARAGRAPH_LINE = re.compile(r"#\s*new(?:par|doc)\b")


def escaped(spaces: str) -> str:
    r"""Write spaces as MISC holds them: `\s`, `\n`, `\t`, `\r`, and `\u` with four digits for any other."""
    return "".join(_LITERAL.get(one) or f"\\u{ord(one):04X}" for one in spaces)


def unescaped(value: str) -> str:
    """Read spaces from MISC."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _NAMED.get(found[2], found[0]), value)


class Token(NamedTuple):
    """A stretch of text, the words it stands for, and the spaces after it."""

    text: str
    words: tuple[str, ...]
    after: str


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one sentence, the spaces before it, and whether a paragraph begins with it."""

    tokens: tuple[Token, ...]
    before: str
    paragraph: bool


def tokens_of(bank: Treebank) -> Iterator[Tokens]:
    """Read the tokens of each sentence; a word outside multiword tokens is a token of its own."""
    text = bank.rendered()
    for sentence in range(len(bank)):
        lines = text.sentence(sentence).decode("utf-8").split("\n")
        rows = [line.split("\t") for line in lines if line and line[0] != "#"]
        yield Tokens(
            tuple(_tokens(rows)),
            _before(rows[0][9]),
            any(_PARAGRAPH_LINE.match(line) for line in lines if line.startswith("#")),
        )


def text_of(banks: Treebank | Iterable[Treebank]) -> str:
    """Rebuild the text that sentences were found in, character by character.

    Text of nothing but spaces has no sentences, and nothing comes back of it.
    """
    many = [banks] if isinstance(banks, Treebank) else banks
    return "".join(
        found.before + "".join(token.text + token.after for token in found.tokens)
        for bank in many
        for found in tokens_of(bank)
    )


def _tokens(rows: Sequence[Sequence[str]]) -> Iterator[Token]:
    forms = {row[0]: row[1] for row in rows}
    last = 0
    for row in rows:
        low, _, high = row[0].partition("-")
        if "." in low or int(low) <= last:
            continue
        last = int(high or low)
        yield Token(row[1], tuple(forms[str(word)] for word in range(int(low), last + 1)), _after(row[9]))


def _after(misc: str) -> str:
    for one in misc.split("|"):
        key, _, value = one.partition("=")
        if key == "SpacesAfter":
            return unescaped(value)
        if one == "SpaceAfter=No":
            return ""
    return " "


def _before(misc: str) -> str:
    found = [one.removeprefix("SpacesBefore=") for one in misc.split("|") if one.startswith("SpacesBefore=")]
    return unescaped(found[0]) if found else ""
