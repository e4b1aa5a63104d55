"""Computation of answers: the parsers of a server, applied to requests that came together.

It runs in a thread of the server or in processes of its own, so everything that goes in or comes out can be pickled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

from ropewalk.batches import Share, joined, together
from ropewalk.errors import OptionError
from ropewalk.loading import HUB
from ropewalk.models.catalogue import in_folder, installed, locate
from ropewalk.pipeline import load
from ropewalk.serving.sources import RequestSource, cut, demand_lengths
from ropewalk.treebank.documents import Document
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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
    columns: Sequence[str] | None = None  # what it predicts; None: all that it can

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
            parser = load(given, settings.parsing, threads=1)
            model = ServedModel(name, parser.generator, parser.segmenter is not None, columns=settings.parsing.columns)
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
        texts = {number: job.text for number, job in enumerate(self._jobs) if job.text is not None}
        given = self._kept(texts, together(list(texts.values()), lambda some: cut(some, self._parser)))
        others = [number for number in range(len(self._jobs)) if number not in texts]
        given |= self._kept(others, [_attempt(self._read, self._jobs[number].words) for number in others])
        given = self._kept(given, [_attempt(self._short, share) for share in given.values()])
        kinds: dict[tuple[bool, bool], list[int]] = {}  # treebanks that are joined must be of one kind
        for number, share in given.items():
            if self._jobs[number].parse:
                kinds.setdefault((share.bank.source is None, share.bank.tokens is None), []).append(number)
            else:
                self._finish(number, share, share)
        for numbers in kinds.values():
            outcomes = together([given[number] for number in numbers], self._parse)
            for number, share in self._kept(numbers, outcomes).items():
                self._finish(number, given[number], share)
        return self._answers

    def _kept(self, numbers: Iterable[int], outcomes: Iterable[Share | Exception]) -> dict[int, Share]:
        """Return the sentences of jobs by their numbers; the exception of another job is its answer."""
        shares = {}
        for number, outcome in zip(numbers, outcomes, strict=True):
            if isinstance(outcome, Exception):
                self._answers.values[number] = outcome
            else:
                shares[number] = outcome
        return shares

    def _read(self, words: RequestSource | Treebank) -> Share:
        """Read what is cut into words already."""
        bank = words if isinstance(words, Treebank) else words.read(self._parser, self._longest)
        return Share(bank, range(len(bank)))

    def _short(self, share: Share) -> Share:
        """Raise if a sentence has too many words."""
        demand_lengths(share.bank.lengths[share.sentences.start : share.sentences.stop], self._longest)
        return share

    def _parse(self, shares: Sequence[Share]) -> tuple[Treebank, list[int]]:
        whole = self._parser.treebank(joined(shares))
        self._answers.parsed.append((whole.words, len(whole)))
        return whole, [len(share.sentences) for share in shares]

    def _finish(self, number: int, given: Share, parsed: Share) -> None:
        job = self._jobs[number]
        read = Document(given.bank, job.text, sentences=given.sentences)
        document = Document(parsed.bank, job.text, self._parser.generator, sentences=parsed.sentences)
        self._answers.values[number] = _attempt(job.finish, read, document)
