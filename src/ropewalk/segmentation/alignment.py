"""A treebank as raw text with marks on its characters: what a segmenter learns.

Sentences of a paragraph are joined by the spaces that the treebank gives them, a space by default; a blank line
stands before each sentence with a `# newpar` or `# newdoc` comment. `wrap` breaks lines at spaces, as in the raw texts
of the CoNLL shared tasks, where no line is longer than 80 characters; also at those inside of a token.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.segmentation.reading import is_space

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk.segmentation.tokens import RawSentence

MarkBits = npt.NDArray[np.uint8]

END = 1  # a token's last character
SENTENCE = 2  # likewise, and a sentence's
MULTIWORD = 4  # likewise, of a token of several words
JOIN = 8  # the last character before spaces over which its token goes on
PARAGRAPH = "\n\n"


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """Text, and the marks of each of its characters."""

    text: str
    marks: MarkBits


def align(sentences: Iterable[RawSentence], *, wrap: int = 0, paragraph: str = PARAGRAPH) -> Aligned:
    """Lay sentences out as raw text; `wrap` is the longest line, 0 for no limit."""
    pieces: list[str] = []
    ends: list[int] = []
    kinds: list[int] = []
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
            for place in joins(token.text):
                ends.append(at + place)
                kinds.append(JOIN)
            at += len(token.text)
            ends.append(at - 1)
            kinds.append(END | (MULTIWORD if len(token.words) > 1 else 0))
            gap = token.after
        kinds[-1] |= SENTENCE
    pieces.append("\n" if gap == " " else gap)
    text = "".join(pieces)
    marks = np.zeros(len(text), dtype=np.uint8)
    marks[ends] = kinds
    return Aligned(wrapped(text, wrap) if wrap else text, marks)


def joins(token: str) -> list[int]:
    """Give the places in a token of the characters before spaces; mostly there are none."""
    if token.isalnum():  # which is fast to tell, and a space is neither letter nor digit
        return []
    spaces = [is_space(one) for one in token]
    return [place for place, pair in enumerate(pairwise(spaces)) if pair == (False, True)]


def wrapped(text: str, width: int) -> str:
    """Break lines longer than `width` at spaces where that can be done; each break takes the place of a space."""
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
