"""A treebank as raw text with marks on its characters: the training data of a segmenter.

A mark is a bit of a character: for example, `END` means that a token ends with it. Sentences of a paragraph are joined
with the spaces of the treebank, by default one. A blank line precedes each sentence with a `# newpar` or `# newdoc`
comment. `wrap` breaks lines at spaces, also at those inside a token, as in the raw texts of the CoNLL shared tasks,
whose lines have at most 80 characters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.segmentation.reading import is_space

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk.segmentation.tokens import RawSentence

MarkBits = npt.NDArray[np.uint8]

END = 1  # the last character of a token
SENTENCE = 2  # the last character of a sentence
MULTIWORD = 4  # the last character of a token with several words
JOIN = 8  # the last character before spaces inside a token
PARAGRAPH = "\n\n"
TAGS = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM",
    "VERB", "X",
)  # fmt: skip
_TAG_NUMBERS = {tag: number for number, tag in enumerate(TAGS, start=1)}


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """A text, and the marks of each character, as the sum of `END`, `SENTENCE`, `MULTIWORD` and `JOIN`.

    `tags` has for each character the index of its token's part of speech in `TAGS`, plus 1, or 0 if it is unknown.
    """

    text: str
    marks: MarkBits
    tags: MarkBits = field(default_factory=lambda: np.zeros(0, dtype=np.uint8))


def align(sentences: Iterable[RawSentence], *, wrap: int = 0, paragraph: str = PARAGRAPH) -> Aligned:
    """Return sentences as one raw text, with marks on the characters where tokens and sentences end.

    Lines of more than `wrap` characters are broken at spaces; 0 means no limit. `paragraph` is the text between two
    paragraphs.
    """
    pieces: list[str] = []
    ends: list[int] = []
    kinds: list[int] = []
    tags: list[int] = []
    lengths: list[int] = []
    at = 0
    gap = ""
    for number, sentence in enumerate(sentences):
        if not number:
            gap = sentence.before
        elif sentence.paragraph and gap.count("\n") < 2:
            gap = paragraph
        for token in sentence.tokens:
            pieces += (gap, token.text)
            at += len(gap)
            for index in joins(token.text):
                ends.append(at + index)
                kinds.append(JOIN)
            at += len(token.text)
            ends.append(at - 1)
            kinds.append(END | (MULTIWORD if len(token.words) > 1 else 0))
            tags += (0, _TAG_NUMBERS.get(token.tag, 0))
            lengths += (len(gap), len(token.text))
            gap = token.after
        kinds[-1] |= SENTENCE
    pieces.append("\n" if gap == " " else gap)
    text = "".join(pieces)
    marks = np.zeros(len(text), dtype=np.uint8)
    marks[ends] = kinds
    numbers = np.zeros(len(text), dtype=np.uint8)
    numbers[:at] = np.repeat(np.array(tags, dtype=np.uint8), lengths)
    return Aligned(wrapped(text, wrap) if wrap else text, marks, numbers)


def joins(token: str) -> list[int]:
    """Return the index of the last character before each run of spaces in a token; most tokens have no spaces."""
    if token.isalnum():  # a fast test: a space is neither letter nor digit
        return []
    spaces = [is_space(character) for character in token]
    return [index for index, pair in enumerate(pairwise(spaces)) if pair == (False, True)]


def wrapped(text: str, width: int) -> str:
    """Return a text with lines longer than `width` broken at spaces where possible; a break replaces a space."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = paragraph
        while len(line) > width:
            cut = line.rfind(" ", 1, width + 1)
            cut = line.find(" ", width) if cut < 0 else cut
            if cut < 0:
                break
            lines.append(line[:cut])
            line = line[cut + 1 :]
        lines.append(line)
    return "\n".join(lines)
