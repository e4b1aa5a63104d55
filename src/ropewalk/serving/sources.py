"""The input of a request: running text, one sentence per line, tokenized sentences or CoNLL-U."""

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

LONG = 20_000  # characters; longer input is segmented outside of the queue, and parsed part by part


class RequestSource(ABC):
    """Base class for the input of requests; `value` is the input as it was received."""

    value: Any

    @abstractmethod
    def _bank(self, parser: Parser) -> Treebank:
        """Return the input as sentences and words, with the segmenter of `parser` if it is text."""

    @property
    def size(self) -> int:
        """The approximate number of characters in the words of the input, used to estimate the time to parse it."""
        return len(self.value)

    @property
    def text(self) -> str | None:
        """The running text, None for other kinds of input; character positions of words refer to it."""
        return None

    @final
    @property
    def is_long(self) -> bool:
        """Whether the input is so long that it is parsed in parts, so that other requests need not wait long."""
        return self.size > LONG

    @final
    def read(self, parser: Parser, max_words: int) -> Treebank:
        """Return the input as sentences and words; raise a `RequestError` if a sentence exceeds `max_words` words."""
        bank = self._bank(parser)
        demand_lengths(bank.lengths, max_words)
        return bank


@final
@dataclass(frozen=True, slots=True)
class RequestText(RequestSource):
    """Running text, which a segmenter must split."""

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
    """Text with one sentence per line; an empty line ends a paragraph."""

    value: str

    def _bank(self, parser: Parser) -> Treebank:
        lines = re.findall(r"[^\n]*\n|[^\n]+", self.value)
        starts = [0, *itertools.accumulate(map(len, lines))][: len(lines)]
        filled = [number for number, line in enumerate(lines) if line.strip()]
        bank, counts = cut([lines[number] for number in filled], parser)
        headings = [
            Heading(
                str(index + 1),
                " ".join(lines[number].split()),
                None if index else "",
                not index or number - 1 not in filled,
            )
            for index, number in enumerate(filled)
        ]
        return joined(bank, counts, [starts[number] for number in filled], headings)


@final
@dataclass(frozen=True, slots=True)
class Words(RequestSource):
    """Sentences that are tokenized already."""

    value: tuple[tuple[str, ...], ...]

    @property
    def size(self) -> int:
        """The number of characters in all words, with a space after each."""
        return sum(len(word) + 1 for words in self.value for word in words)

    def _bank(self, parser: Parser) -> Treebank:  # noqa: ARG002 - the words are there already
        return treebank_of_tokens(self.value)


@final
@dataclass(frozen=True, slots=True)
class Conllu(RequestSource):
    """CoNLL-U; CRLF line ends and missing or additional empty lines are corrected."""

    value: str

    @property
    def size(self) -> int:
        """The approximate number of characters in all words: an eighth of the CoNLL-U."""
        return len(self.value) // 8  # most of it is no word

    def _bank(self, parser: Parser) -> Treebank:  # noqa: ARG002 - it is cut already
        return read_conllu(self.value)


def cut(texts: Sequence[str], parser: Parser) -> tuple[Treebank, list[int]]:
    """Segment texts; return one treebank of all sentences, and the number of sentences of each text.

    Raise a `ModelError` if the model has no segmenter.
    """
    if parser.segmenter is None:
        raise ModelError(parser.name, "has no segmenter and takes no text; send tokens or CoNLL-U")
    return parser.segmenter.segment_many([checked(text) for text in texts])


def checked(text: str, name: str = "the text") -> str:
    """Return `text`; raise a `RequestError` if it has lone surrogates, which JSON allows but UTF-8 does not.

    `name` is the name of the text in the message.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as failure:
        raise RequestError(
            400, f"{name}: character {failure.start + 1} is a lone surrogate; send valid Unicode"
        ) from failure
    return text


def read_conllu(text: str) -> Treebank:
    """Read CoNLL-U from a text; wrong line ends and missing or additional empty lines are corrected."""
    tidy = checked(text).removeprefix("\ufeff").replace("\r\n", "\n").strip("\n")
    tidy = re.sub(r"\n[ \t]*(?:\n[ \t]*)+(?=\n)", "\n", tidy)
    return conllu.loads(f"{tidy}\n\n", "<conllu>") if tidy.strip() else Treebank.of([])


def demand_lengths(lengths: npt.NDArray[np.int32], max_words: int) -> None:
    """Raise a `RequestError` if one of the sentence lengths, in words, is more than `max_words`."""
    if len(lengths) and int(lengths.max()) > max_words:
        number = int(lengths.argmax())
        raise RequestError(
            413, f"sentence {number + 1} has {int(lengths[number])} words; send sentences of at most {max_words}"
        )


def slices(bank: Treebank, words: int) -> Iterator[Treebank]:
    """Yield consecutive parts of a treebank: whole sentences of up to `words` words together, or one longer one."""
    ends = np.cumsum(bank.lengths)
    start = 0
    while start < len(bank):
        before = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, before + words, side="right")), start + 1)
        yield bank.select(np.arange(start, stop))
        start = stop


def joined(bank: Treebank, counts: list[int], shifts: list[int], headings: list[Heading]) -> Treebank:
    """Join consecutive sentences: the first `counts[0]` into one, the next `counts[1]` into one, and so on.

    `shifts[i]` is added to the character positions of joined sentence `i`, and `headings[i]` is its heading, which gets
    the language of the first sentence.
    """
    if not len(bank):
        return bank
    first = np.cumsum([0, *counts])
    tokens = bank.surface
    offsets = Offsets(bank.offsets.array[first])
    languages = [bank.heading(at).language for at in first[:-1].tolist()]
    headings = [heading._replace(language=code) for heading, code in zip(headings, languages, strict=True)]
    moved = np.repeat(shifts, tokens.offsets(offsets).lengths)
    surface = replace(
        tokens,
        before={number: tokens.before[old] for number, old in enumerate(first[:-1].tolist()) if old in tokens.before},
        starts=frozen_ints(tokens.starts + moved),
        stops=frozen_ints(tokens.stops + moved),
    )
    return Treebank.of_words(bank.column("form"), offsets, tokens=surface, headings=tuple(headings))
