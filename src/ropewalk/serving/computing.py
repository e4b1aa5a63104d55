"""Computation of answers: the parsers of a server, applied to requests that came together.

It runs in a thread of the server or in processes of its own, so everything that goes in or comes out can be pickled.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from ropewalk.errors import OptionError, RequestError
from ropewalk.loading import HUB
from ropewalk.models.catalogue import in_folder, installed, locate
from ropewalk.pipeline import load
from ropewalk.serving.sources import RequestSource, cut, demand_lengths
from ropewalk.treebank.documents import Document
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.pipeline import Parser
    from ropewalk.serving.settings import Settings

HELP = ""  # the lane of work that is not batched; the others are named like their models


@final
@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that is served, as its clients see it."""

    name: str
    generator: str
    takes_text: bool  # whether it can cut text into words
    language: str = ""
    treebank: str = ""
    licence: str = ""
    columns: tuple[str, ...] | None = None  # what it predicts; None: all that it can

    @property
    def components(self) -> list[str]:
        """The tasks of the model, by the names of UDPipe."""
        structures = {"tree", "graph"}
        return [
            *(["tokenizer"] if self.takes_text else []),
            *(["tagger"] if self.columns is None or set(self.columns) - structures else []),
            *(["parser"] if self.columns is None or set(self.columns) & structures else []),
        ]

    @property
    def acknowledgements(self) -> list[str]:
        """Whom to thank: the data it was trained on."""
        return [f"{self.treebank}, {self.licence}".strip(", ")] if self.treebank else []


@final
@dataclass(frozen=True, slots=True)
class ParseJob:
    """Sentences to read and parse; `finish` receives the document as read and as parsed, and makes the answer."""

    words: RequestSource | Treebank
    finish: Callable[[Document, Document], Any]
    parse: bool = True

    @property
    def text(self) -> str | None:
        """The text that positions refer to, if `words` is text."""
        return self.words.text if isinstance(self.words, RequestSource) else None


@final
@dataclass(frozen=True, slots=True)
class Call:
    """A call that needs no parser."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()

    def __call__(self, _: Computer) -> Any:  # noqa: ANN401 - the function's result
        """Call the function."""
        return self.function(*self.arguments)


@final
@dataclass(frozen=True, slots=True)
class Read:
    """Sentences and words of a source that is too long for a batch."""

    model: str
    source: RequestSource

    def __call__(self, computer: Computer) -> Treebank:
        """Read the source."""
        return self.source.read(computer.parsers[self.model], computer.longest)


class Answers(NamedTuple):
    """The answer to each job, or the exception that it raised; and words and sentences of each call of a parser."""

    values: list[Any]
    parsed: list[tuple[int, int]]


@final
class Computer:
    """Loaded parsers. No sentence has more than `longest` words."""

    def __init__(self, parsers: dict[str, Parser], models: dict[str, ServedModel], longest: int) -> None:
        self.parsers = parsers
        self.models = models
        self.longest = longest

    @classmethod
    def load(cls, settings: Settings) -> Computer:
        """Load models by name or folder, with one thread each; a folder is served under its last name."""
        names = {one.name for one in installed()}
        parsers: dict[str, Parser] = {}
        models: dict[str, ServedModel] = {}
        for given in settings.models:
            name = given if given in names else Path(given).resolve().name
            if name in parsers:
                raise OptionError(f"two models are called {name}; expected models with names of their own")
            parser = load(
                given,
                threads=1,
                decoder=settings.decoder,
                repair=settings.repair,
                graph_decoder=settings.graph_decoder,
                columns=settings.columns,
            )
            model = ServedModel(name, parser.generator, parser.segmenter is not None, columns=settings.columns)
            if not given.startswith(HUB):
                known = in_folder(locate(given))
                model = replace(model, language=known.language, treebank=known.treebank, licence=known.licence)
            parsers[name], models[name] = parser, model
        return cls(parsers, models, settings.max_words)

    def warm_up(self) -> None:
        """Parse a sentence with each model: the first takes longer than others, and should not be a client's."""
        for parser in self.parsers.values():
            parser.tokens([["Ready"]])

    def answers(self, lane: str, jobs: Sequence[Any]) -> Answers:
        """Compute jobs of one lane: `ParseJob`s for the model of that name; for `HELP`, calls that take a computer."""
        if lane != HELP:
            return _Batch(self.parsers[lane], self.longest, jobs).answers()
        return Answers([_attempt(job, self) for job in jobs], [])


def _attempt(function: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 - the result, or what it raised
    try:
        return function(*arguments)
    except Exception as failure:  # noqa: BLE001 - whatever fails is the answer to this request alone
        return failure


class _Piece(NamedTuple):
    """The sentences of one job in a treebank that it may share with others."""

    number: int
    bank: Treebank
    sentences: range


@final
class _Batch:
    """Jobs that are segmented and parsed together. A job that fails alone fails alone."""

    def __init__(self, parser: Parser, longest: int, jobs: Sequence[ParseJob]) -> None:
        self._parser = parser
        self._longest = longest
        self._jobs = jobs
        self._answers = Answers([None] * len(jobs), [])

    def answers(self) -> Answers:
        """Compute all answers."""
        texts = [number for number, job in enumerate(self._jobs) if job.text is not None]
        pieces = self._cut(texts) + self._read(sorted(set(range(len(self._jobs))) - set(texts)))
        kinds: dict[tuple[bool, bool], list[_Piece]] = {}  # treebanks that are joined must be of one kind
        for piece in pieces:
            if not self._is_short(piece):
                continue
            if self._jobs[piece.number].parse:
                kinds.setdefault((piece.bank.source is None, piece.bank.tokens is None), []).append(piece)
            else:
                self._finish(piece, piece)
        for alike in kinds.values():
            self._parse(alike)
        return self._answers

    def _cut(self, numbers: list[int]) -> list[_Piece]:
        """Cut texts into sentences and words, all at once."""
        if not numbers:
            return []
        try:
            bank, counts = cut([str(self._jobs[number].text) for number in numbers], self._parser)
        except Exception as failure:  # noqa: BLE001 - likewise
            if len(numbers) == 1:
                self._answers.values[numbers[0]] = failure
                return []
            return [piece for number in numbers for piece in self._cut([number])]
        ends = itertools.accumulate(counts, initial=0)
        return [
            _Piece(number, bank, range(*bounds))
            for number, bounds in zip(numbers, itertools.pairwise(ends), strict=True)
        ]

    def _read(self, numbers: list[int]) -> list[_Piece]:
        """Read what is cut into words already."""
        pieces = []
        for number in numbers:
            words = self._jobs[number].words
            bank = words if isinstance(words, Treebank) else _attempt(words.read, self._parser, self._longest)
            if isinstance(bank, Treebank):
                pieces.append(_Piece(number, bank, range(len(bank))))
            else:
                self._answers.values[number] = bank
        return pieces

    def _is_short(self, piece: _Piece) -> bool:
        try:
            demand_lengths(piece.bank.lengths[piece.sentences.start : piece.sentences.stop], self._longest)
        except RequestError as failure:
            self._answers.values[piece.number] = failure
            return False
        return True

    def _parse(self, pieces: list[_Piece]) -> None:
        try:
            whole = self._parser.treebank(_joined(pieces))
        except Exception as failure:  # noqa: BLE001 - likewise
            if len(pieces) == 1:
                self._answers.values[pieces[0].number] = failure
            else:
                for piece in pieces:
                    self._parse([piece])
            return
        self._answers.parsed.append((whole.words, len(whole)))
        end = 0
        for piece in pieces:
            start, end = end, end + len(piece.sentences)
            self._finish(piece, _Piece(piece.number, whole, range(start, end)))

    def _finish(self, given: _Piece, parsed: _Piece) -> None:
        job = self._jobs[given.number]
        read = Document(given.bank, job.text, sentences=given.sentences)
        document = Document(parsed.bank, job.text, self._parser.generator, sentences=parsed.sentences)
        self._answers.values[given.number] = _attempt(job.finish, read, document)


def _joined(pieces: list[_Piece]) -> Treebank:
    """Join the sentences of all pieces in one treebank."""
    banks = []
    for _, group in itertools.groupby(pieces, key=lambda piece: id(piece.bank)):
        some = list(group)
        bank, chosen = some[0].bank, [number for piece in some for number in piece.sentences]
        banks.append(bank if len(chosen) == len(bank) else bank.select(np.array(chosen, dtype=np.int64)))
    return banks[0] if len(banks) == 1 else Treebank.concat(banks)
