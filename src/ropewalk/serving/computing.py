"""Computation of answers: a server's parsers are applied to batches of jobs from requests.

This code runs in threads of the server or in worker processes. So jobs and answers must be picklable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

from ropewalk.batches import Share, joined, together
from ropewalk.errors import OptionError
from ropewalk.identification.automatic import AutomaticModel, automatic_parts, models_by_language
from ropewalk.loading import AUTOMATIC, HUB, LoadedOnDemand
from ropewalk.models.catalogue import in_folder, installed, locate
from ropewalk.models.description import EXPORTED
from ropewalk.models.storage import open_folder
from ropewalk.pipeline import Parser, generator_of, load
from ropewalk.serving.sources import RequestSource, cut, demand_lengths
from ropewalk.treebank.documents import Document
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ropewalk.serving.settings import Settings

ALL, DEFAULT = "all", "en"  # the name that stands for all installed models, and the default one of them
HELP = ""  # the lane of jobs without a parser; the other lanes have the names of models


@final
@dataclass(frozen=True, slots=True)
class ServedModel:
    """The facts about a served model that clients can see."""

    name: str
    generator: str
    takes_text: bool  # whether it can segment text
    language: str = ""
    treebank: str = ""
    licence: str = ""
    columns: Sequence[str] | None = None  # the predicted columns; None for all

    @property
    def components(self) -> list[str]:
        """The tasks that the model performs, under UDPipe's names: tokenizer, tagger, parser."""
        structures = {"tree", "graph"}
        return [
            *(["tokenizer"] if self.takes_text else []),
            *(["tagger"] if self.columns is None or set(self.columns) - structures else []),
            *(["parser"] if self.columns is None or set(self.columns) & structures else []),
        ]

    @property
    def acknowledgements(self) -> list[str]:
        """The treebank that the model was trained on, and its licence."""
        return [f"{self.treebank}, {self.licence}".strip(", ")] if self.treebank else []


@final
@dataclass(frozen=True, slots=True)
class ParseJob:
    """Job to read sentences and parse them.

    `words` is the input. `finish(read, parsed)` receives the document before and after parsing, and returns the answer.
    Without `parse`, the sentences are only read, and both documents have the same sentences.
    """

    words: RequestSource | Treebank
    finish: Callable[[Document, Document], Any]
    parse: bool = True

    @property
    def text(self) -> str | None:
        """The running text of the input, None if the input is not running text."""
        return self.words.text if isinstance(self.words, RequestSource) else None


@final
@dataclass(frozen=True, slots=True)
class Call:
    """Job to call `function(*arguments)`, which needs no parser."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()

    def __call__(self, _: Computer) -> Any:  # noqa: ANN401 - the function's result
        """Return the result of the function."""
        return self.function(*self.arguments)


@final
@dataclass(frozen=True, slots=True)
class Read:
    """Job to segment an input that is too long for a batch, with the segmenter of a model."""

    model: str
    source: RequestSource

    def __call__(self, computer: Computer) -> Treebank:
        """Return the sentences of the input as a treebank without new trees."""
        return self.source.read(computer.parsers[self.model], computer.longest)


class Answers(NamedTuple):
    """The answers to a batch of jobs.

    `values` has the answer or the exception of each job. `parsed` has the numbers of words and sentences of each call
    of a parser, for the metrics.
    """

    values: list[Any]
    parsed: list[tuple[int, int]]


@final
class Computer:
    """The parsers of a server, which compute jobs; sentences of more than `longest` words are refused."""

    def __init__(self, parsers: Mapping[str, Parser], models: dict[str, ServedModel], longest: int) -> None:
        self.parsers = parsers
        self.models = models
        self.longest = longest

    @classmethod
    def load(cls, settings: Settings) -> Computer:
        """Load the models of `settings`, with one thread each.

        A model that is given as a path is served under the last part of the path. The name `auto` serves the parser
        that chooses among the installed models. Instead of all models, the name `all` loads the first installed one,
        and the others, with `auto`, when they are first needed. Raise an `OptionError` if two models have the same
        name.
        """
        if settings.models == (ALL,):
            return cls._of_all(settings)
        names = {model.name for model in installed()}
        parsers: dict[str, Parser] = {}
        models: dict[str, ServedModel] = {}
        for path in settings.models:
            name = path if path in names else Path(path).resolve().name
            if name in parsers:
                raise OptionError(f"two models are called {name}; serve models with different names")
            parser = load(path, settings.parsing, threads=1)
            model = ServedModel(name, parser.generator, parser.segmenter is not None, columns=settings.parsing.columns)
            if path != AUTOMATIC and not path.startswith(HUB):
                known = in_folder(locate(path))
                model = replace(model, language=known.language, treebank=known.treebank, licence=known.licence)
            parsers[name], models[name] = parser, model
        return cls(parsers, models, settings.max_words)

    @classmethod
    def _of_all(cls, settings: Settings) -> Computer:
        """Serve all installed models that were exported; load the default one: `en`, or else the first."""
        folders = {model.name: (model, open_folder(model.path)) for model in installed()}
        exported = [name for name, (_, folder) in folders.items() if folder.format == EXPORTED]
        names = sorted(exported, key=lambda name: name != DEFAULT)
        if not names:
            raise OptionError("no model is installed that can be served; see ropewalk models")
        models = {}
        for name in names:
            model, folder = folders[name]
            models[name] = ServedModel(
                name,
                generator_of(f"{folder.name} {model.hash}"),
                model.takes_text,
                model.language,
                model.treebank,
                model.licence,
                settings.parsing.columns,
            )
        languages = {code: name for code, name in models_by_language().items() if name in models}

        def loaded(name: str) -> Parser:
            return automatic if name == AUTOMATIC else load(name, settings.parsing, threads=1)

        parsers = LoadedOnDemand([*names, *([AUTOMATIC] if languages else [])], loaded, settings.max_models)
        if languages:
            any_model, segmenter = automatic_parts(
                lambda name: (parsers[name].model, parsers[name].segmenter), languages
            )
            automatic = Parser(any_model, segmenter, f"{any_model.name} {any_model.hash}")
            models[AUTOMATIC] = ServedModel(
                AUTOMATIC, automatic.generator, takes_text=True, columns=settings.parsing.columns
            )
        parsers[names[0]]  # so that wrong options are found before the server starts
        return cls(parsers, models, settings.max_words)

    def warm_up(self) -> None:
        """Parse a sentence with each loaded model, because the first call of a model takes longer than later ones."""
        loaded = self.parsers.loaded if isinstance(self.parsers, LoadedOnDemand) else self.parsers
        for name in loaded:
            self.parsers[name].tokens([["Ready"]])

    def answers(self, lane: str, jobs: Sequence[Any]) -> Answers:
        """Compute the answers to `jobs`.

        If `lane` is the name of a model, they are `ParseJob`s. If it is `HELP`, they are functions of this object, such
        as `Call` and `Read`.
        """
        if lane != HELP:
            return _Batch(self.parsers[lane], self.longest, jobs).answers()
        return Answers([_attempt(job, self) for job in jobs], [])


def _attempt(function: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 - the result, or what it raised
    try:
        return function(*arguments)
    except Exception as failure:  # noqa: BLE001 - the failure is the answer to this request alone
        return failure


@final
class _Batch:
    """Jobs that are segmented and parsed together; if one of them fails, the others still get their answers."""

    def __init__(self, parser: Parser, longest: int, jobs: Sequence[ParseJob]) -> None:
        self._parser = parser
        self._longest = longest
        self._jobs = jobs
        self._answers = Answers([None] * len(jobs), [])

    def answers(self) -> Answers:
        """Compute and return the answers to all jobs: segment texts together, parse together, then call `finish`."""
        texts = {number: job.text for number, job in enumerate(self._jobs) if job.text is not None}
        read = self._kept(texts, together(list(texts.values()), lambda some: cut(some, self._parser)))
        others = [number for number in range(len(self._jobs)) if number not in texts]
        read |= self._kept(others, [_attempt(self._read, self._jobs[number].words) for number in others])
        read = self._kept(read, [_attempt(self._short, share) for share in read.values()])
        kinds: dict[tuple[bool, bool, int], list[int]] = {}  # treebanks that are joined must be of one kind
        is_automatic = isinstance(self._parser.model, AutomaticModel)  # it needs the words of one job to choose by them
        for number, share in read.items():
            if self._jobs[number].parse:
                alone = number if is_automatic and number not in texts else -1
                kinds.setdefault((share.bank.source is None, share.bank.tokens is None, alone), []).append(number)
            else:
                self._finish(number, share, share)
        for numbers in kinds.values():
            outcomes = together([read[number] for number in numbers], self._parse)
            for number, share in self._kept(numbers, outcomes).items():
                self._finish(number, read[number], share)
        return self._answers

    def _kept(self, numbers: Iterable[int], outcomes: Iterable[Share | Exception]) -> dict[int, Share]:
        """Store exceptions in `outcomes` as the answers to their jobs; return the other outcomes by job index.

        `numbers` are the indices of the jobs that the outcomes belong to.
        """
        shares = {}
        for number, outcome in zip(numbers, outcomes, strict=True):
            if isinstance(outcome, Exception):
                self._answers.values[number] = outcome
            else:
                shares[number] = outcome
        return shares

    def _read(self, words: RequestSource | Treebank) -> Share:
        """Return the sentences of an input that is not running text."""
        bank = words if isinstance(words, Treebank) else words.read(self._parser, self._longest)
        return Share(bank, range(len(bank)))

    def _short(self, share: Share) -> Share:
        """Return `share`; raise a `RequestError` if one of its sentences has more words than allowed."""
        demand_lengths(share.bank.lengths[share.sentences.start : share.sentences.stop], self._longest)
        return share

    def _parse(self, shares: Sequence[Share]) -> tuple[Treebank, list[int]]:
        whole = self._parser.treebank(joined(shares))
        self._answers.parsed.append((whole.words, len(whole)))
        return whole, [len(share.sentences) for share in shares]

    def _finish(self, number: int, before: Share, parsed: Share) -> None:
        job = self._jobs[number]
        read = Document(before.bank, job.text, sentences=before.sentences)
        document = Document(parsed.bank, job.text, self._parser.generator, sentences=parsed.sentences)
        self._answers.values[number] = _attempt(job.finish, read, document)
