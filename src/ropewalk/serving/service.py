"""The models that a server has, and what it does for one request within the limits of all."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from ropewalk.documents import Document
from ropewalk.errors import OptionError, RequestError
from ropewalk.loading import HUB
from ropewalk.models.installed import in_folder, installed, locate
from ropewalk.pipeline import load
from ropewalk.serving.batching import Batcher
from ropewalk.serving.bodies import Bodies
from ropewalk.serving.sources import slices
from ropewalk.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from ropewalk.pipeline import Parser
    from ropewalk.serving.metrics import Metrics
    from ropewalk.serving.settings import Settings
    from ropewalk.serving.sources import RequestSource

HELPERS = 2  # threads for what needs no parser: pictures, labels, cutting long texts
SLICE = 1000  # words of a long text that are parsed before others have their turn


@final
@dataclass(frozen=True, slots=True)
class ServedModel:
    """A loaded model and what is known of it."""

    name: str
    parser: Parser
    language: str = ""
    treebank: str = ""
    licence: str = ""
    columns: tuple[str, ...] | None = None  # what it predicts; None: all that it can

    @property
    def components(self) -> list[str]:
        """What it can do, as UDPipe names it."""
        structures = {"tree", "graph"}
        return [
            *(["tokenizer"] if self.takes_text else []),
            *(["tagger"] if self.columns is None or set(self.columns) - structures else []),
            *(["parser"] if self.columns is None or set(self.columns) & structures else []),
        ]

    @property
    def takes_text(self) -> bool:
        """Whether it can cut text into words."""
        return self.parser.segmenter is not None

    @property
    def acknowledgements(self) -> list[str]:
        """Whom to thank: the data it was trained on."""
        return [f"{self.treebank}, {self.licence}".strip(", ")] if self.treebank else []


def load_models(settings: Settings) -> dict[str, ServedModel]:
    """Load models by name or folder, to be computed by one thread each; a folder is served by its last name."""
    names = {one.name for one in installed()}
    found: dict[str, ServedModel] = {}
    for given in settings.models:
        name = given if given in names else Path(given).resolve().name
        if name in found:
            raise OptionError(f"two models are called {name}; expected models with names of their own")
        parser = load(
            given,
            threads=1,
            decoder=settings.decoder,
            repair=settings.repair,
            graph_decoder=settings.graph_decoder,
            columns=settings.columns,
        )
        found[name] = ServedModel(name, parser, columns=settings.columns)
        if not given.startswith(HUB):
            known = in_folder(locate(given))
            found[name] = replace(found[name], language=known.language, treebank=known.treebank, licence=known.licence)
    return found


@final
class Service:
    """Answers requests: all that handlers share."""

    def __init__(self, models: Mapping[str, ServedModel], settings: Settings, metrics: Metrics) -> None:
        self.models = models
        self.settings = settings
        self.metrics = metrics
        self.bodies = Bodies(settings, metrics)
        self.ready = False
        self.draining = False
        self._helpers = ThreadPoolExecutor(HELPERS, "ropewalk-helper")
        self._batchers = {
            name: Batcher(
                model.parser,
                words=settings.batch_words,
                seconds=settings.batch_seconds,
                longest=settings.max_words,
                metrics=metrics,
            )
            for name, model in models.items()
        }
        self._in_flight = 0

    def start(self) -> None:
        """Begin to work for the running event loop."""
        for name, batcher in self._batchers.items():
            self.models[name].parser.tokens([["Ready"]])  # the first sentence takes longer than others: not a user's
            batcher.start()
        self.ready = True

    def stop(self) -> None:
        """End, after what has begun."""
        self.ready = False
        for batcher in self._batchers.values():
            batcher.stop()
        self._helpers.shutdown()

    @property
    def default(self) -> str:
        """The name of the default model."""
        return next(iter(self.models))

    def model(self, name: str) -> ServedModel:
        """Find a model by its name or an unambiguous beginning of it; no name is the default."""
        if not name:
            return self.models[self.default]
        if name in self.models:
            return self.models[name]
        found = [known for known in self.models if known.startswith(name)]
        if len(found) != 1:
            problem = f"is ambiguous: {', '.join(found)}" if found else f"is unknown; known: {', '.join(self.models)}"
            raise RequestError(400, f"the model {name[:80]!r} {problem}")
        return self.models[found[0]]

    def arriving(self, change: int) -> None:
        """Note that a request is being received, or has been."""
        for batcher in self._batchers.values():
            batcher.arriving += change

    async def parse(
        self,
        model: ServedModel,
        source: RequestSource,
        finish: Callable[[Document, Document], Any],
        *,
        parse: bool = True,
    ) -> Any:  # noqa: ANN401 - what `finish` gives
        """Cut into words, parse, and make the answer: `finish` gets the words, and the words with their trees."""
        most = self.settings.max_words
        batcher = self._batchers[model.name]
        async with self._admitted():
            if not source.is_long:
                words = source.text if source.text is not None else partial(source.read, model.parser, most)
                return await batcher.run(words, finish, size=1 + source.size // 5, parse=parse)
            given = await self._helped(source.read, model.parser, most)
            parts = [part async for part in self._parts(batcher, given)] if parse else [given]
            whole = Document(Treebank.concat(parts), source.text, model.parser.generator)
            return await self._helped(finish, Document(given, source.text), whole)

    async def stream(self, model: ServedModel, source: RequestSource) -> AsyncIterator[Treebank]:
        """Parse a long text a part at a time; what is not taken is not parsed."""
        async with self._admitted(timed=False):
            given = await self._helped(source.read, model.parser, self.settings.max_words)
            async for part in self._parts(self._batchers[model.name], given):
                yield part

    async def help(self, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - what `work` gives
        """Do some work that needs no parser, in a thread of its own."""
        async with self._admitted():
            return await self._helped(work)

    @staticmethod
    async def _parts(batcher: Batcher, given: Treebank) -> AsyncIterator[Treebank]:
        for part in slices(given, SLICE):
            yield await batcher.run(partial(_itself, part), lambda _, parsed: parsed.treebank, size=part.words)

    async def _helped(self, work: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 - what `work` gives
        return await asyncio.get_running_loop().run_in_executor(self._helpers, work, *arguments)

    @asynccontextmanager
    async def _admitted(self, *, timed: bool = True) -> AsyncIterator[None]:
        """Let a request in if there is a place, and let it take no longer than allowed."""
        if self._in_flight >= self.settings.max_requests:
            raise RequestError(
                503, f"{self._in_flight} requests are being answered, as many as allowed; try again", retry_after=1
            )
        self._in_flight += 1
        self.metrics.in_flight(1)
        try:
            async with asyncio.timeout(self.settings.max_seconds if timed else None):
                yield
        except TimeoutError as late:
            raise RequestError(
                503,
                f"the answer was not ready within {self.settings.max_seconds:g} s; send less at a time, or try again",
                retry_after=2,
            ) from late
        finally:
            self._in_flight -= 1
            self.metrics.in_flight(-1)


def _itself(part: Treebank) -> Treebank:
    return part
