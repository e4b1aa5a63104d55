"""Text, tokens or CoNLL-U in, trees out: `load` a model and call it."""

from __future__ import annotations

import functools
import os
from collections import deque
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol, TypeVar, cast, final

from ropewalk import conllu
from ropewalk.batches import Share, grouped, together
from ropewalk.errors import ConfigError, FormatError, ModelError, demand_type
from ropewalk.formats.text import checked_texts, treebank_of_tokens
from ropewalk.loading import load_model, open_model
from ropewalk.models.catalogue import SEGMENTER
from ropewalk.options import MOST_THREADS, ParserOptions, overridden
from ropewalk.parallel.workers import apply, count_of
from ropewalk.treebank.documents import Document
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ropewalk.models.model import Model as LoadedModel
    from ropewalk.segmentation.assembly import LineUnit

Task = TypeVar("Task")
Result = TypeVar("Result")

BATCH = 4096  # words that are parsed together
CHARACTERS = 5  # of a word, about
_LOST: list[object] = []  # models and segmenters of a forked process; to free one would wait for threads that it lost


class AnyModel(Protocol):
    """Whatever puts trees over the words of sentences."""

    def parse(self, bank: Treebank, /) -> Treebank:
        """Put trees, and tags if it has any, over the words of a treebank."""
        ...


class AnySegmenter(Protocol):
    """Whatever cuts text into sentences and words."""

    def segment_many(self, texts: Sequence[str], /) -> tuple[Treebank, list[int]]:
        """Cut several texts, losing no character: all sentences, and how many each text has."""
        ...

    def stream(self, pieces: Iterable[str], /) -> Iterator[Treebank]:
        """Cut one text that comes in pieces, in memory that does not grow with it."""
        ...


@final
class Parser:
    """A model ready to parse: call it with a text. `name` is the model's name and hash.

    Many threads may use one parser at the same time. A loaded one can be pickled, and works in a process that was
    forked: in another process the model is loaded again, unless it is forked and the model has one thread.
    """

    def __init__(
        self, model: AnyModel, segmenter: AnySegmenter | None, name: str, *, loading: _Loading | None = None
    ) -> None:
        self._parts = (model, segmenter)
        self.name = name
        self._loading = loading  # what it was loaded by, to load it again
        self._process = os.getpid()

    def __reduce__(self) -> tuple[object, ...]:
        if self._loading is None:
            return Parser, (*self._parts, self.name)
        return _loaded, self._loading

    @property
    def generator(self) -> str:
        """What made the trees: this program and the model, for the first comment of every output."""
        from ropewalk import __version__

        return f"ropewalk {__version__}, model {self.name}"

    @property
    def segmenter(self) -> AnySegmenter | None:
        """What cuts text into sentences and words; None if the model takes no text."""
        return self._renewed()[1]

    def __call__(self, text: str) -> Document:
        """Parse a text."""
        return next(self.pipe([text]))

    def pipe(self, texts: Iterable[str], *, batch: int = BATCH, jobs: int = 1) -> Iterator[Document]:
        """Parse many texts, one document for each, in order: the same as one by one, and faster.

        Texts are taken as they are needed: about `batch` words of them are segmented and parsed together, by one of
        `jobs` processes with a thread each; 0 is a process for each core.
        """
        if isinstance(texts, str):
            raise FormatError("<texts>", 0, "not-texts", "found one text; expected several: put it into a list")
        if not isinstance(batch, int) or batch < 1:
            raise ConfigError("pipe", "batch", f"is {batch!r}; expected how many words to parse together")
        return self._piped(texts, batch, count_of(jobs))

    def _piped(self, texts: Iterable[str], batch: int, jobs: int) -> Iterator[Document]:
        generator = self.generator
        under_way: deque[list[str]] = deque()

        def groups() -> Iterator[list[str]]:
            for group in grouped(checked_texts(texts), lambda text: len(text) + CHARACTERS, batch * CHARACTERS):
                under_way.append(group)
                yield group

        for outcomes in self.apply(_outcomes, groups(), jobs):
            for text, outcome in zip(under_way.popleft(), outcomes, strict=True):
                if isinstance(outcome, Exception):
                    raise outcome
                yield Document(outcome.bank, text, generator, sentences=outcome.sentences)

    def apply(self, function: Callable[[Parser, Task], Result], tasks: Iterable[Task], jobs: int) -> Iterator[Result]:
        """Yield `function(parser, task)` for all tasks in order, by `jobs` processes with a thread each.

        0 is a process for each core. With one job, this process computes, and with the threads of this parser.
        """
        make = functools.partial(_bound, function, self.single_threaded)
        return apply(make, tasks, count_of(jobs), here=functools.partial(function, self))

    @property
    def single_threaded(self) -> Callable[[], Parser]:
        """What makes this parser again, with one thread; it can be pickled, for a process that is one of several."""
        if self._loading is None:
            return functools.partial(Parser, *self._parts, self.name)
        return functools.partial(_loaded, self._loading[0], 1, self._loading[2])

    def parse_together(self, texts: Sequence[str]) -> tuple[Treebank, list[int]]:
        """Parse some texts into one treebank, and say how many of its sentences each text has."""
        bank, counts = self._demand_segmenter().segment_many(texts)
        return self.treebank(bank), counts

    def tokens(self, sentences: Iterable[Sequence[str]]) -> Document:
        """Parse sentences that are cut into words already."""
        return Document(self.treebank(treebank_of_tokens(sentences)), None, self.generator)

    def conllu(self, source: str | os.PathLike[str] | Treebank) -> Document:
        """Parse the words of CoNLL-U, a file or what was read from one; all but trees and tags stays as it is."""
        bank = source if isinstance(source, Treebank) else conllu.read(source)
        return Document(self.treebank(bank), None, self.generator)

    def treebank(self, bank: Treebank) -> Treebank:
        """Put trees over the words of a treebank, and nothing else."""
        demand_type("words to parse", bank, Treebank)
        return self._renewed()[0].parse(bank) if bank.words else bank

    def stream(self, pieces: Iterable[str]) -> Iterator[Treebank]:
        """Parse one text that comes in pieces, in memory that does not grow with it."""
        return map(self.treebank, self.segmented(pieces))

    def segmented(self, pieces: Iterable[str]) -> Iterator[Treebank]:
        """Find the sentences and words of one text that comes in pieces; they have no trees yet."""
        return self._demand_segmenter().stream(pieces)

    def _demand_segmenter(self) -> AnySegmenter:
        found = self.segmenter
        if found is None:
            raise ModelError(self.name, "was exported without a segmenter and takes no text; give it tokens or CoNLL-U")
        return found

    def _renewed(self) -> tuple[AnyModel, AnySegmenter | None]:
        """Give model and segmenter, loaded again in a forked process: if they had several threads, they lost them."""
        if self._loading is not None and self._loading[1] != 1 and self._process != os.getpid():
            _LOST.append(self._parts)
            self._parts = _parts(*self._loading)
            self._process = os.getpid()
        return self._parts


def _outcomes(parser: Parser, texts: Sequence[str]) -> list[Share | Exception]:
    return together(texts, parser.parse_together)


def _bound(function: Callable[[Parser, Task], Result], make: Callable[[], Parser]) -> Callable[[Task], Result]:
    return functools.partial(function, make())


_Loading = tuple[str, int, ParserOptions]  # the name, threads and options


def load(  # noqa: PLR0913 - the options that are most used have keywords
    name: str | os.PathLike[str] = "en",
    options: ParserOptions = ParserOptions(),
    *,
    threads: int = 0,
    confidence: bool | None = None,
    decoder: str | None = None,
    columns: Sequence[str] | None = None,
    each_line: str | None = None,
) -> Parser:
    """Load a model by its name, from a folder that `ropewalk train` or `ropewalk export` wrote, or `hub:USER/MODEL`.

    `threads` is how many to compute with, 0 for a sensible number. `options` holds all that can be chosen about
    parsing; the keywords stand for its fields that are most used, and replace them. With `confidence`, the default,
    words and sentences know their probabilities, if the model can tell. `decoder` is how scores become trees, by
    default the model's own. `columns` is what to predict, of `tree`, `graph`, `upos`, `xpos`, `feats`, `lemma`: what is
    not named costs nothing and stays as it was given; by default all that the model can. With `each_line` every line
    of a text is a `sentence`, or a `paragraph`.
    """
    if not isinstance(name, str | os.PathLike):
        raise ConfigError("load", "name", f"is {name!r}; expected the name or the folder of a model")
    if not isinstance(threads, int) or not 0 <= threads <= MOST_THREADS:
        raise ConfigError("load", "threads", f"is {threads!r}; expected 0 to {MOST_THREADS}")
    demand_type("options", options, ParserOptions)
    options = overridden(options, confidence=confidence, decoder=decoder, columns=columns, each_line=each_line)
    return _loaded(os.fspath(name), threads, options)


def _loaded(*loading: *_Loading) -> Parser:
    model, segmenter = _parts(*loading)
    return Parser(model, segmenter, f"{model.name} {model.hash}", loading=loading)


def _parts(name: str, threads: int, options: ParserOptions) -> tuple[LoadedModel, AnySegmenter | None]:
    """Load model and segmenter."""
    folder = open_model(name)
    model = load_model(folder, threads=threads)
    if options.graph_decoder is not None and not model.has_graphs:
        raise ConfigError("load", "graph_decoder", f"is given, and {name} predicts no graphs; leave it out")
    changes = {key: value for key, value in asdict(options).items() if value is not None}
    each_line = cast("LineUnit", changes.pop("each_line", None))
    likely = model.has_probabilities or model.has_graphs
    model = model.with_decoding(**changes | {"confidence": options.confidence and likely})
    if not (folder.path / SEGMENTER).is_file():
        return model, None
    from ropewalk.segmentation.segmenter import Segmenter as TextSegmenter

    return model, TextSegmenter.load(folder, threads=threads, each_line=each_line)
