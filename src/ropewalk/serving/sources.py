"""What a request asks to be parsed: text, lines of text, words or CoNLL-U."""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ropewalk import conllu
from ropewalk.core.arrays import frozen_ints
from ropewalk.core.ragged import Offsets
from ropewalk.errors import ModelError, RequestError
from ropewalk.formats.text import treebank_of_tokens
from ropewalk.treebank.surface import Heading
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from ropewalk.pipeline import Parser

LONG = 20_000  # characters: what is longer is cut into words beside the queue, and parsed a part at a time


class RequestSource(ABC):
    """Something to parse."""

    value: Any

    @abstractmethod
    def _bank(self, parser: Parser) -> Treebank:
        """Cut it into sentences and words."""

    @property
    def size(self) -> int:
        """Its number of characters, which says how long it takes to parse."""
        return len(self.value)

    @property
    def text(self) -> str | None:
        """The text that positions refer to, if it is text."""
        return None

    @final
    @property
    def is_long(self) -> bool:
        """Whether others should not have to wait for all of it."""
        return self.size > LONG

    @final
    def read(self, parser: Parser, max_words: int) -> Treebank:
        """Cut it into sentences and words, none of more words than allowed."""
        bank = self._bank(parser)
        demand_lengths(bank.lengths, max_words)
        return bank


@final
@dataclass(frozen=True, slots=True)
class RequestText(RequestSource):
    """Running text."""

    value: str

    @property
    def text(self) -> str | None:
        """The text itself."""
        return self.value

    def _bank(self, parser: Parser) -> Treebank:
        return cut([self.value], parser)[0]


@final
@dataclass(frozen=True, slots=True)
class Lines(RequestSource):
    """Text with one sentence a line; an empty line ends a paragraph."""

    value: str

    def _bank(self, parser: Parser) -> Treebank:
        lines = re.findall(r"[^\n]*\n|[^\n]+", self.value)
        starts = [0, *itertools.accumulate(map(len, lines))][: len(lines)]
        filled = [number for number, line in enumerate(lines) if line.strip()]
        bank, counts = cut([lines[number] for number in filled], parser)
        headings = [
            Heading(
                str(place + 1),
                " ".join(lines[number].split()),
                None if place else "",
                not place or number - 1 not in filled,
            )
            for place, number in enumerate(filled)
        ]
        return joined(bank, counts, [starts[number] for number in filled], headings)


@final
@dataclass(frozen=True, slots=True)
class Words(RequestSource):
    """Sentences that are cut into words already."""

    value: tuple[tuple[str, ...], ...]

    @property
    def size(self) -> int:
        """Its number of characters."""
        return sum(len(word) + 1 for words in self.value for word in words)

    def _bank(self, parser: Parser) -> Treebank:  # noqa: ARG002 - the words are there already
        return treebank_of_tokens(self.value)


@final
@dataclass(frozen=True, slots=True)
class Conllu(RequestSource):
    """CoNLL-U; line ends of other systems and missing or spare empty lines are put right."""

    value: str

    @property
    def size(self) -> int:
        """Its number of characters."""
        return len(self.value) // 8  # most of it is no word

    def _bank(self, parser: Parser) -> Treebank:  # noqa: ARG002 - it is cut already
        return read_conllu(self.value)


def cut(texts: Sequence[str], parser: Parser) -> tuple[Treebank, list[int]]:
    """Cut texts into sentences and words: all of them, and how many sentences each text has."""
    if parser.segmenter is None:
        raise ModelError(parser.name, "has no segmenter and takes no text; give it tokens or CoNLL-U")
    return parser.segmenter.segment_many([checked(text) for text in texts])


def checked(text: str, name: str = "the text") -> str:
    """Refuse what is no Unicode text: lone surrogates, which JSON can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as failure:
        raise RequestError(
            400, f"{name}: character {failure.start + 1} is a lone surrogate; expected Unicode text"
        ) from failure
    return text


def read_conllu(text: str) -> Treebank:
    """Read CoNLL-U as people paste it."""
    tidy = checked(text).removeprefix("\ufeff").replace("\r\n", "\n").strip("\n")
    tidy = re.sub(r"\n[ \t]*(?:\n[ \t]*)+(?=\n)", "\n", tidy)
    return conllu.loads(f"{tidy}\n\n", "<conllu>") if tidy.strip() else Treebank.of([])


def demand_lengths(lengths: npt.NDArray[np.int32], max_words: int) -> None:
    """Refuse a sentence of more words than allowed."""
    if len(lengths) and int(lengths.max()) > max_words:
        number = int(lengths.argmax())
        raise RequestError(
            413, f"sentence {number + 1} has {int(lengths[number])} words; at most {max_words} are taken"
        )


def slices(bank: Treebank, words: int) -> Iterator[Treebank]:
    """Cut a treebank into parts of about so many words, whole sentences each."""
    ends = np.cumsum(bank.lengths)
    start = 0
    while start < len(bank):
        before = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, before + words, side="right")), start + 1)
        yield bank.select(np.arange(start, stop))
        start = stop


def joined(bank: Treebank, counts: list[int], shifts: list[int], headings: list[Heading]) -> Treebank:
    """Take so many sentences each time for one; their places in the text move by `shifts`."""
    if not len(bank):
        return bank
    first = np.cumsum([0, *counts])
    tokens = bank.surface
    offsets = Offsets(bank.offsets.array[first])
    moved = np.repeat(shifts, tokens.offsets(offsets).lengths)
    surface = replace(
        tokens,
        before={number: tokens.before[old] for number, old in enumerate(first[:-1].tolist()) if old in tokens.before},
        starts=frozen_ints(tokens.starts + moved),
        stops=frozen_ints(tokens.stops + moved),
    )
    return Treebank.of_words(bank.column("form"), offsets, tokens=surface, headings=tuple(headings))
