"""Parsers: `load` a model and call it with text, tokens or CoNLL-U."""

from __future__ import annotations

import functools
import os
from collections import deque
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeVar, cast, final

from ropewalk.batches import Share, grouped, together
from ropewalk.errors import ConfigError, FormatError, ModelError, demand_type
from ropewalk.formats.text import checked_texts, treebank_of_tokens
from ropewalk.loading import AUTOMATIC, LoadedOnDemand, load_model, open_model
from ropewalk.models.catalogue import SEGMENTER
from ropewalk.options import MOST_THREADS, ParserOptions, overridden
from ropewalk.parallel.workers import apply, count_of
from ropewalk.treebank.documents import Document
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ropewalk.loading import AnyModel, AnySegmenter, NamedModel
    from ropewalk.models.model import Model as LoadedModel
    from ropewalk.segmentation.assembly import LineUnit
    from ropewalk.segmentation.segmenter import Segmenter

Task = TypeVar("Task")
Result = TypeVar("Result")

BATCH = 4096  # words that are parsed together
CHARACTERS = 5  # of a word, on average
_LOST: list[object] = []  # models and segmenters of a forked process: freeing one would wait for threads that it lacks


@final
class Parser:
    """A loaded model: call it with a text to parse the text. `name` is the model's name and hash.

    Several threads may use one parser at the same time. A parser from `load` can be pickled, and can be used after a
    fork. An unpickled parser loads its model again. So does a parser in a forked process, unless it has one thread.
    """

    def __init__(
        self, model: AnyModel, segmenter: AnySegmenter | None, name: str, *, loading: _Loading | None = None
    ) -> None:
        self._parts = (model, segmenter)
        self.name = name
        self._loading = loading  # the arguments to load it again
        self._process = os.getpid()

    def __reduce__(self) -> tuple[object, ...]:
        if self._loading is None:
            return Parser, (*self._parts, self.name)
        return _loaded, self._loading

    def __repr__(self) -> str:
        return f"<Parser {self.name}, takes {'text' if self._parts[1] is not None else 'tokens'}>"

    @property
    def generator(self) -> str:
        """The program with its version and the model with its hash, for the first comment of every output."""
        return generator_of(self.name)

    @property
    def model(self) -> AnyModel:
        """The model that parses words."""
        return self._renewed()[0]

    @property
    def segmenter(self) -> AnySegmenter | None:
        """The segmenter; None if the model cannot parse raw text."""
        return self._renewed()[1]

    def __call__(self, text: str) -> Document:
        """Segment and parse a text; return it as a document."""
        return next(self.pipe([text]))

    def pipe(self, texts: Iterable[str], *, batch: int = BATCH, jobs: int = 1) -> Iterator[Document]:
        """Yield one parsed document for each text, in order. The documents are the same as from single calls.

        Texts of about `batch` words together are segmented and parsed at once, which is faster. `texts` is read only as
        far as needed. With several `jobs`, that many processes work, with one thread each; 0 is one process for each
        core. Raise `ConfigError`, `OptionError` or `FormatError` if an argument is wrong.
        """
        if isinstance(texts, str):
            raise FormatError("<texts>", 0, "not-texts", "found one text; expected several: put it into a list")
        if not isinstance(batch, int) or batch < 1:
            raise ConfigError("pipe", "batch", f"is {batch!r}; expected the number of words to parse together")
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
        """Yield `function(parser, task)` for each of `tasks`, in order, computed in `jobs` processes.

        Each process has a copy of this parser with one thread. If `jobs` is 0, there is one process for each core. If
        it is 1, no process is started: this parser is used, with all its threads.
        """
        make = functools.partial(_bound, function, self.single_threaded)
        return apply(make, tasks, count_of(jobs), here=functools.partial(function, self))

    @property
    def single_threaded(self) -> Callable[[], Parser]:
        """A picklable function without parameters that builds a copy of this parser with one thread."""
        if self._loading is None:
            return functools.partial(Parser, *self._parts, self.name)
        return functools.partial(_loaded, self._loading[0], 1, self._loading[2])

    def parse_together(self, texts: Sequence[str]) -> tuple[Treebank, list[int]]:
        """Segment and parse `texts`; return one treebank of all sentences, and the number of sentences of each text."""
        bank, counts = self._demand_segmenter().segment_many(texts)
        return self.treebank(bank), counts

    def tokens(self, sentences: Iterable[Sequence[str]]) -> Document:
        """Parse sentences that are lists of words already; return them as a document."""
        return Document(self.treebank(treebank_of_tokens(sentences)), None, self.generator)

    def conllu(self, source: str | os.PathLike[str] | Treebank) -> Document:
        """Parse the sentences of a CoNLL-U file or a treebank; only trees and predicted tags are replaced."""
        from ropewalk import conllu  # parsing text does not need it

        bank = source if isinstance(source, Treebank) else conllu.read(source)
        return Document(self.treebank(bank), None, self.generator)

    def treebank(self, bank: Treebank) -> Treebank:
        """Return a copy of the treebank `bank` with the trees and tags that the model predicts."""
        demand_type("words to parse", bank, Treebank)
        return self._renewed()[0].parse(bank) if bank.words else bank

    def stream(self, pieces: Iterable[str]) -> Iterator[Treebank]:
        """Yield treebanks of the parsed sentences of one long text; `pieces` are its consecutive parts.

        The memory that it uses does not grow with the length of the text.
        """
        return map(self.treebank, self.segmented(pieces))

    def segmented(self, pieces: Iterable[str]) -> Iterator[Treebank]:
        """Yield treebanks of the sentences of one long text, without trees; `pieces` are its consecutive parts.

        Raise `ModelError` if the model has no segmenter.
        """
        return self._demand_segmenter().stream(pieces)

    def _demand_segmenter(self) -> AnySegmenter:
        segmenter = self.segmenter
        if segmenter is None:
            raise ModelError(self.name, "has no segmenter, so it cannot parse raw text; pass tokens or CoNLL-U")
        return segmenter

    def _renewed(self) -> tuple[AnyModel, AnySegmenter | None]:
        """Return the model and the segmenter; load them again in a forked process, which lacks their threads."""
        if self._loading is not None and self._loading[1] != 1 and self._process != os.getpid():
            _LOST.append(self._parts)
            self._parts = _parts(*self._loading)
            self._process = os.getpid()
        return self._parts


def generator_of(name: str) -> str:
    """Return the program with its version and a model; `name` is the model's name and hash."""
    from ropewalk import __version__

    return f"ropewalk {__version__}, model {name}"


def _outcomes(parser: Parser, texts: Sequence[str]) -> list[Share | Exception]:
    return together(texts, parser.parse_together)


def _bound(function: Callable[[Parser, Task], Result], make: Callable[[], Parser]) -> Callable[[Task], Result]:
    return functools.partial(function, make())


_Loading = tuple[str, int, ParserOptions]  # the name, threads and options


def load(  # noqa: PLR0913 - the most used options have keywords
    name: str | os.PathLike[str] = "en",
    options: ParserOptions = ParserOptions(),
    *,
    threads: int = 0,
    confidence: bool | None = None,
    decoder: str | None = None,
    columns: Sequence[str] | None = None,
    enhance: bool | None = None,
) -> Parser:
    """Load a model and return a parser.

    `name` is the name of an installed model, a folder that `ropewalk train` or `ropewalk export` wrote, or
    `hub:USER/MODEL` on the Hugging Face hub. The name `auto` returns a parser that detects the language of each text
    and uses the installed model of that language.

    `threads` is the number of threads; 0 chooses it. `options` holds all options of parsing. The other keywords replace
    single fields of `options`, unless they are None. With `confidence`, the default, words and sentences have
    probabilities if the model can compute them. `decoder` is the algorithm that finds trees from scores, by default
    that of the model. `columns` names the predictions to compute: `tree`, `graph`, `upos`, `xpos`, `feats` and `lemma`.
    Columns that it does not name stay unchanged; by default the model predicts all that it can. With `enhance`, rules
    add enhanced graphs to the trees, unless the model predicts graphs.

    Raise `ModelError` if there is no such model, `ConfigError` if an option is wrong.
    """
    if not isinstance(name, str | os.PathLike):
        raise ConfigError("load", "name", f"is {name!r}; expected the name or the folder of a model")
    if not isinstance(threads, int) or not 0 <= threads <= MOST_THREADS:
        raise ConfigError("load", "threads", f"is {threads!r}; expected 0 to {MOST_THREADS}")
    demand_type("options", options, ParserOptions)
    options = overridden(options, confidence=confidence, decoder=decoder, columns=columns, enhance=enhance)
    return _loaded(os.fspath(name), threads, options)


def _loaded(*loading: *_Loading) -> Parser:
    model, segmenter = _parts(*loading)
    return Parser(model, segmenter, f"{model.name} {model.hash}", loading=loading)


def _parts(name: str, threads: int, options: ParserOptions) -> tuple[NamedModel, AnySegmenter | None]:
    """Load a model and its segmenter; for the name `auto`, those that cover all installed languages."""
    if name == AUTOMATIC:
        from ropewalk.identification.automatic import MOST_LOADED, automatic_parts, models_by_language

        models = models_by_language()
        load_parts = functools.partial(_parts_of, threads=threads, options=options)
        return automatic_parts(LoadedOnDemand(models.values(), load_parts, MOST_LOADED).__getitem__, models)
    return _parts_of(name, threads, options)


def _parts_of(name: str, threads: int, options: ParserOptions) -> tuple[LoadedModel, Segmenter | None]:
    """Load a model and its segmenter; the segmenter is None if the model folder has none."""
    folder = open_model(name)
    if options.graph_decoder is not None and folder.description.graphs.is_empty:
        raise ConfigError("load", "graph_decoder", f"is set, and {name} predicts no graphs; leave it out")
    changes = {key: value for key, value in asdict(options).items() if value is not None}
    each_line = cast("LineUnit", changes.pop("each_line", None))
    model = load_model(folder.with_decoding(**changes), threads=threads)
    if not (folder.path / SEGMENTER).is_file():
        return model, None
    from ropewalk.segmentation.segmenter import Segmenter as TextSegmenter

    return model, TextSegmenter.load(folder, threads=threads, each_line=each_line)
