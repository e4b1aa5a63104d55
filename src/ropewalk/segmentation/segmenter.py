"""Segmenters, which divide raw text into sentences and words with a network in ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ropewalk.errors import ConfigError, FormatError, ModelError
from ropewalk.formats.text import checked_texts
from ropewalk.models.onnx.limits import varying
from ropewalk.models.onnx.session import Session
from ropewalk.segmentation import segmenter_files
from ropewalk.segmentation.assembly import build, build_many
from ropewalk.segmentation.neighbours import FARTHEST, input_name, neighbours_of, with_neighbours
from ropewalk.segmentation.reading import (
    LONGEST,
    CharacterReader,
    characters_known,
    codes_of,
    features_known,
    grams_known,
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
    from ropewalk.segmentation.reading import CharacterVocabulary
    from ropewalk.segmentation.segmenter_files import Stored

LINE_UNITS = ("sentence", "paragraph")
TOGETHER = 512  # chunks of several texts that the network reads in one call: more are no faster


def network_sizes(context: int) -> list[InputSizes]:
    """Return the largest sizes of the inputs of a segmenter's network.

    They are those of a window with `context` chunks on both sides.
    """
    chunks = WINDOW + 2 * context
    characters, of_chunks = varying(chunks * (LONGEST + 1)), (varying(chunks),)
    return [
        {
            "characters": (characters,),
            "chunks": (characters,),
            **dict.fromkeys(("words", "first", "last", "pairs"), of_chunks),
            **{input_name("characters", dilation): (characters,) for dilation in range(1, FARTHEST + 1)},
            **{input_name("chunks", dilation): of_chunks for dilation in range(1, FARTHEST + 1)},
            **dict.fromkeys(("features", "grams"), (characters,)),
        }
    ]


class Segmenter:
    """A segmenter, which divides raw text into sentences, tokens and words.

    No character is lost: `tokens.text_of` restores the text from the result. Raise `ConfigError` if `each_line` is
    unknown, and `ModelError` if the network does not fit the vocabulary.
    """

    def __init__(
        self, stored: Stored, threads: int = 0, *, each_line: LineUnit = None, name: str = segmenter_files.GRAPH
    ) -> None:
        if each_line not in (None, *LINE_UNITS):
            raise ConfigError("load", "each_line", f"is {each_line!r}; expected {' or '.join(LINE_UNITS)}, or none")
        self._session = Session(stored.graph, name, threads, network_sizes(stored.context))
        self._neighbours = neighbours_of(self._session.input_widths())
        self._reader = CharacterReader(stored.vocabulary, lines_apart=each_line is not None)
        self._each_line = each_line
        self._splitter = stored.splitter
        self._context = stored.context
        self._bare = stored.bare
        self._rules = Rules(
            stored.language, stored.stops, split_numbers=stored.split_numbers, whole_dots=stored.whole_dots
        )
        self._demand_fit(stored.vocabulary, name)

    @classmethod
    def load(cls, path: str | os.PathLike[str], threads: int = 0, *, each_line: LineUnit = None) -> Segmenter:
        """Load a segmenter from its folder; with 0 `threads`, ONNX Runtime chooses their number.

        If `each_line` is `sentence` or `paragraph`, each line of a text is one. Empty lines separate paragraphs.
        """
        name = str(Path(path) / segmenter_files.GRAPH)
        return cls(segmenter_files.load(path), threads, each_line=each_line, name=name)

    def _demand_fit(self, vocabulary: CharacterVocabulary, name: str) -> None:
        """Raise `ModelError` unless the network fits the vocabulary.

        To check this, the network scores one character with the largest ids of the vocabulary.
        """
        last = {"characters": characters_known(vocabulary), "words": words_known(vocabulary)}
        if vocabulary.pairs:
            last["pairs"] = pairs_known(vocabulary)
        if vocabulary.grams:
            last["grams"] = grams_known(vocabulary)
        inputs: dict[str, npt.NDArray[Any]] = {key: np.array([count - 1]) for key, count in last.items()}
        if many := features_known(vocabulary):
            inputs["features"] = np.ones((1, many), dtype=np.uint8)
        try:
            shape = self._score({**inputs, **dict.fromkeys(("chunks", "first", "last"), np.zeros(1, np.int64))}).shape
        except Exception as failure:
            problem = f"is of another segmenter than {segmenter_files.DESCRIPTION}"
            raise ModelError(name, f"{problem}; copy or train the segmenter again: {failure}") from failure
        if shape not in {(1, 3), (1, 4)}:
            raise ModelError(name, f"marks a character with numbers of shape {shape}; expected (1, 3) or (1, 4)")

    def segment(self, text: str) -> Treebank:
        """Return a treebank with the sentences of a text, without heads; it has none if the text has only spaces."""
        return self.segment_many([text])[0]

    def segment_many(self, texts: Sequence[str]) -> tuple[Treebank, list[int]]:
        """Return the sentences of several texts in one treebank, and the number of sentences of each text.

        The result for a text does not depend on the others. Many short texts take less time together than one by one.
        """
        texts = list(checked_texts(texts))
        if max(map(len, texts), default=0) > BLOCK:  # at once it would take much memory
            banks = [
                Treebank.concat(self.stream([text])) if len(text) > BLOCK else self.segment_many([text])[0]
                for text in texts
            ]
            return Treebank.concat(banks), [len(bank) for bank in banks]
        try:
            together = TOGETHER if self._neighbours else 0
            marked = mark_many(texts, self._reader, self._score, self._context, bare=self._bare, together=together)
        except FormatError:
            for text in texts:
                codes_of(text)  # raises with the position in the text
            raise
        return build_many(marked, texts, self._splitter, self._rules, self._each_line)

    def stream(self, pieces: Iterable[str]) -> Iterator[Treebank]:
        """Yield treebanks with the sentences of a text that comes in pieces; memory does not grow with the text.

        Each treebank has up to a few hundred sentences. Together, they equal the result of `segment` for the whole
        text. Pieces may begin and end anywhere.
        """
        return build(self.marks(pieces), self._splitter, self._rules, self._each_line)

    def marks(self, pieces: Iterable[str]) -> Iterator[Marked]:
        """Yield consecutive parts of a text that comes in pieces, with the network's marks on their characters."""
        return mark(pieces, self._reader, self._score, self._context, self._bare)

    def _score(self, part: dict[str, npt.NDArray[Any]]) -> npt.NDArray[np.float32]:
        texts = part.pop("texts", None)
        inputs = with_neighbours(part, self._neighbours, texts) if self._neighbours else part
        (odds,) = self._session.run(inputs)
        return odds
