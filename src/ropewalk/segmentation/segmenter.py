"""Raw text to sentences and words by ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ropewalk.errors import ConfigError, FormatError, ModelError
from ropewalk.formats.text import checked_texts
from ropewalk.models.onnx.limits import varying
from ropewalk.models.onnx.session import Session
from ropewalk.segmentation import segmenter_files
from ropewalk.segmentation.assembly import build, build_many
from ropewalk.segmentation.reading import (
    LONGEST,
    CharacterReader,
    characters_known,
    codes_of,
    pairs_known,
    words_known,
)
from ropewalk.segmentation.rules import Rules
from ropewalk.segmentation.windows import BLOCK, WINDOW, mark, mark_many
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from ropewalk.models.onnx.limits import InputSizes
    from ropewalk.segmentation.assembly import LineUnit, Marked
    from ropewalk.segmentation.reading import CharacterVocabulary, Numbers
    from ropewalk.segmentation.segmenter_files import Stored

LINE_UNITS = ("sentence", "paragraph")


def network_sizes(context: int) -> list[InputSizes]:
    """Return the sizes of what a segmenter's network reads: a window, and chunks of context to either side."""
    chunks = WINDOW + 2 * context
    characters, of_chunks = varying(chunks * (LONGEST + 1)), (varying(chunks),)
    return [
        {
            "characters": (characters,),
            "chunks": (characters,),
            **dict.fromkeys(("words", "first", "last", "pairs"), of_chunks),
        }
    ]


class Segmenter:
    """Finds the sentences, tokens and words of raw text; every character can be had back by `tokens.text_of`."""

    def __init__(
        self, stored: Stored, threads: int = 0, *, each_line: LineUnit = None, name: str = segmenter_files.GRAPH
    ) -> None:
        if each_line not in (None, *LINE_UNITS):
            raise ConfigError("load", "each_line", f"is {each_line!r}; expected {' or '.join(LINE_UNITS)}, or none")
        self._session = Session(stored.graph, name, threads, network_sizes(stored.context))
        self._reader = CharacterReader(stored.vocabulary, lines_apart=each_line is not None)
        self._each_line = each_line
        self._splitter = stored.splitter
        self._context = stored.context
        self._rules = Rules(stored.language)
        self._demand_fit(stored.vocabulary, name)

    @classmethod
    def load(cls, path: str | os.PathLike[str], threads: int = 0, *, each_line: LineUnit = None) -> Segmenter:
        """Load a segmenter from its folder; of `threads`, 0 is as many as ONNX Runtime likes.

        With `each_line` it takes each line for a `sentence`, or for a `paragraph`; empty lines begin paragraphs.
        """
        name = str(Path(path) / segmenter_files.GRAPH)
        return cls(segmenter_files.load(path), threads, each_line=each_line, name=name)

    def _demand_fit(self, vocabulary: CharacterVocabulary, name: str) -> None:
        """Mark one character, the last that the vocabulary has, to find out now whether the network knows as many."""
        last = {"characters": characters_known(vocabulary), "words": words_known(vocabulary)}
        if vocabulary.pairs:
            last["pairs"] = pairs_known(vocabulary)
        given = {key: np.array([count - 1]) for key, count in last.items()}
        try:
            shape = self._score({**given, **dict.fromkeys(("chunks", "first", "last"), np.zeros(1, np.int64))}).shape
        except Exception as failure:
            raise ModelError(
                name,
                f"is of another segmenter than {segmenter_files.DESCRIPTION}; "
                f"copy or train the segmenter again: {failure}",
            ) from failure
        if shape not in {(1, 3), (1, 4)}:
            raise ModelError(name, f"marks a character with numbers of shape {shape}; expected (1, 3) or (1, 4)")

    def segment(self, text: str) -> Treebank:
        """Find the sentences of a text; words have no heads yet, and there are none in text of nothing but spaces."""
        return self.segment_many([text])[0]

    def segment_many(self, texts: Sequence[str]) -> tuple[Treebank, list[int]]:
        """Find the sentences of several texts, all in one treebank, and count those of each.

        A text becomes what it becomes alone; many short ones are done faster together.
        """
        texts = list(checked_texts(texts))
        if max(map(len, texts), default=0) > BLOCK:  # in one go it would take much memory
            banks = [
                Treebank.concat(self.stream([text])) if len(text) > BLOCK else self.segment_many([text])[0]
                for text in texts
            ]
            return Treebank.concat(banks), [len(bank) for bank in banks]
        try:
            marked = mark_many(texts, self._reader, self._score, self._context)
        except FormatError:
            for text in texts:
                codes_of(text)  # names the place in its own text
            raise
        return build_many(marked, texts, self._splitter, self._rules, self._each_line)

    def stream(self, pieces: Iterable[str]) -> Iterator[Treebank]:
        """Find the sentences of a text that comes in pieces, in memory that does not grow with it.

        Treebanks of some hundred sentences come out. Together they are what `segment` makes of the whole text,
        wherever its pieces begin and end.
        """
        return build(self.marks(pieces), self._splitter, self._rules, self._each_line)

    def marks(self, pieces: Iterable[str]) -> Iterator[Marked]:
        """Mark the characters of a text that comes in pieces."""
        return mark(pieces, self._reader, self._score, self._context)

    def _score(self, part: dict[str, Numbers]) -> npt.NDArray[np.float32]:
        (odds,) = self._session.run(part)
        return odds
