"""From text, tokens or treebanks to documents: a segmenter and a parser, whatever computes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final

import numpy as np

from ropewalk import conllu, treebank
from ropewalk.errors import FormatError, ModelError
from ropewalk.pipeline.document import Document

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from ropewalk.treebank import Treebank

BATCH = 4096  # words that are parsed together
LONGEST_SHOWN = 30


class Parser(Protocol):
    """Whatever puts trees over the words of sentences."""

    def parse(self, bank: Treebank, /) -> Treebank:
        """Put trees, and tags if it has any, over the words of a treebank."""
        ...


class Segmenter(Protocol):
    """Whatever cuts text into sentences and words."""

    def segment(self, text: str, /) -> Treebank:
        """Cut a text, losing no character."""
        ...

    def stream(self, pieces: Iterable[str], /) -> Iterator[Treebank]:
        """Cut one text that comes in pieces, in memory that does not grow with it."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Pipeline:
    """A model ready to parse: call it with a text. `model` is its name and hash."""

    parser: Parser
    segmenter: Segmenter | None
    model: str

    @property
    def generator(self) -> str:
        """What made the trees: this program and the model, for the first comment of every output."""
        from ropewalk import __version__

        return f"ropewalk {__version__}, model {self.model}"

    def __call__(self, text: str) -> Document:
        """Parse a text."""
        return self._document(self.treebank(self._segmented(text)), text)

    def pipe(self, texts: Iterable[str], *, batch: int = BATCH) -> Iterator[Document]:
        """Parse many texts, one document for each, in order: the same as one by one, and faster.

        Texts are taken as they are needed: about `batch` words of them pass the network together.
        """
        for group in self._groups(texts, batch):
            whole = self.treebank(treebank.Treebank.concat([bank for _, bank in group]))
            end = 0
            for text, bank in group:
                start, end = end, end + len(bank)
                yield self._document(whole.select(np.arange(start, end)), text)

    def tokens(self, sentences: Iterable[Sequence[str]]) -> Document:
        """Parse sentences that are cut into words already."""
        return self._document(self.treebank(bank_of_tokens(sentences)), None)

    def conllu(self, source: str | os.PathLike[str] | Treebank) -> Document:
        """Parse the words of CoNLL-U, a file or what was read from one; all but trees and tags stays as it is."""
        bank = source if isinstance(source, treebank.Treebank) else conllu.read(source)
        return self._document(self.treebank(bank), None)

    def treebank(self, bank: Treebank) -> Treebank:
        """Put trees over the words of a treebank, and nothing else."""
        return self.parser.parse(bank) if bank.words else bank

    def stream(self, pieces: Iterable[str]) -> Iterator[Treebank]:
        """Parse one text that comes in pieces, in memory that does not grow with it."""
        return map(self.treebank, self._segmenter.stream(pieces))

    def marked(self, bank: Treebank) -> Treebank:
        """Name program and model in the first comment of a treebank."""
        if not len(bank):
            return bank
        return bank.with_comments([f"# generator = {self.generator}", *[""] * (len(bank) - 1)])

    def _document(self, bank: Treebank, text: str | None) -> Document:
        return Document.of(self.marked(bank), text, self.generator)

    @property
    def _segmenter(self) -> Segmenter:
        if self.segmenter is None:
            raise ModelError(
                self.model, "was exported without a segmenter and takes no text; give it tokens or CoNLL-U"
            )
        return self.segmenter

    def _segmented(self, text: object) -> Treebank:
        if not isinstance(text, str):
            kind = type(text).__name__
            raise FormatError("<text>", 0, "not-text", f"found a {kind}; expected str, or use tokens() for words")
        return self._segmenter.segment(checked(text))

    def _groups(self, texts: Iterable[str], words: int) -> Iterator[list[tuple[str, Treebank]]]:
        if isinstance(texts, str):
            raise FormatError("<texts>", 0, "not-texts", "found one text; expected several: put it into a list")
        group: list[tuple[str, Treebank]] = []
        size = 0
        for text in texts:
            bank = self._segmented(text)
            group.append((text, bank))
            size += max(bank.words, 1)
            if size >= words:
                yield group
                group, size = [], 0
        if group:
            yield group


def checked(text: str, name: str = "<text>") -> str:
    """Refuse what is no Unicode text: lone surrogates, as bytes that are not UTF-8 become in arguments."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as failure:
        raise FormatError(
            name,
            0,
            "utf-8",
            f"character {failure.start + 1} is a lone surrogate, {text[failure.start]!r}; expected Unicode text",
        ) from failure
    return text


def bank_of_tokens(sentences: Iterable[Sequence[str]], *, first: int = 1, name: str = "<tokens>") -> Treebank:
    """Make a treebank of words without trees; sentences are numbered from `first`."""
    blocks = []
    for number, words in enumerate(sentences, start=first):
        if isinstance(words, str) or not isinstance(words, Sequence) or not len(words):
            found = "is text" if isinstance(words, str) else "has no words"
            message = f"sentence {number} {found}; expected a list of at least one word"
            raise FormatError(name, 0, "no-words", message)
        for place, word in enumerate(words, start=1):
            if not isinstance(word, str) or not word or treebank.UNWRITABLE.search(word):
                shown = word[:LONGEST_SHOWN] if isinstance(word, str) else word
                raise FormatError(
                    name,
                    0,
                    "unwritable-text",
                    f"sentence {number}: word {place} is {shown!r}; expected text of at least one character, "
                    "and no tab, line break, NUL or lone surrogate",
                )
        lines = [f"{place}\t{word}" + "\t_" * 8 + "\n" for place, word in enumerate(words, start=1)]
        blocks.append(f"# sent_id = {number}\n# text = {' '.join(words)}\n{''.join(lines)}\n")
    return conllu.loads("".join(blocks), name) if blocks else treebank.Treebank.of([])
