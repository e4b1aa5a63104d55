"""The service behind the endpoints: it passes requests to workers and enforces the limits of the server."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, final

from ropewalk.errors import RequestError
from ropewalk.serving.batching import Batcher
from ropewalk.serving.bodies import Bodies
from ropewalk.serving.computing import HELP, Call, ParseJob, Read
from ropewalk.serving.sources import slices
from ropewalk.treebank.documents import Document
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from ropewalk.serving.computing import ServedModel
    from ropewalk.serving.crew import Crew
    from ropewalk.serving.metrics import Metrics
    from ropewalk.serving.settings import Settings
    from ropewalk.serving.sources import RequestSource

SLICE = 1000  # words of a long text that are parsed before other requests get their turn


@final
class Service:
    """The state and the functions that all endpoints share; `crew` is the group of workers."""

    def __init__(self, crew: Crew, settings: Settings, metrics: Metrics) -> None:
        self.models = crew.models
        self.settings = settings
        self.metrics = metrics
        self.bodies = Bodies(settings, metrics)
        self.ready = False
        self.draining = False
        self._crew = crew
        self._helpers = Batcher(crew, HELP, metrics)
        self._batchers = {
            name: Batcher(crew, name, metrics, words=settings.batch_words, seconds=settings.batch_seconds)
            for name in crew.models
        }
        self._in_flight = 0
        self._most_in_flight = settings.max_requests * crew.size

    async def start(self) -> None:
        """Start the workers in the running event loop; then the server is ready."""
        await self._crew.start()
        self.ready = True

    def stop(self) -> None:
        """Cancel waiting jobs and end the workers."""
        self.ready = False
        for batcher in (self._helpers, *self._batchers.values()):
            batcher.stop()
        self._crew.stop()

    @property
    def default(self) -> str:
        """The name of the default model."""
        return next(iter(self.models))

    def model(self, name: str) -> ServedModel:
        """Return a model by its name or an unambiguous beginning of it; "" is the default model.

        Raise a `RequestError` if no model, or more than one, matches.
        """
        if not name:
            return self.models[self.default]
        if name in self.models:
            return self.models[name]
        matches = [known for known in self.models if known.startswith(name)]
        if len(matches) != 1:
            known = f"is ambiguous: {', '.join(matches)}; use one of these"
            problem = known if matches else f"is unknown; known: {', '.join(self.models)}"
            raise RequestError(400, f"the model {name[:80]!r} {problem}")
        return self.models[matches[0]]

    def arriving(self, change: int) -> None:
        """Add `change`, 1 or -1, to the number of requests that are being received; batches wait for them."""
        for batcher in self._batchers.values():
            batcher.arriving(change)

    async def parse(
        self,
        model: ServedModel,
        source: RequestSource,
        finish: Callable[[Document, Document], Any],
        *,
        parse: bool = True,
    ) -> Any:  # noqa: ANN401 - the result of `finish`
        """Segment and parse the input `source` of a request; return the answer that `finish` makes of it.

        `finish(read, parsed)` receives the document before and after parsing. Without `parse`, the input is only read.
        Raise a `RequestError` if there are too many requests, or if the answer takes too long.
        """
        with self._admitted():
            async with asyncio.timeout(self.settings.max_seconds):
                return await self._parse(model, source, finish, parse=parse)

    async def _parse(
        self, model: ServedModel, source: RequestSource, finish: Callable[[Document, Document], Any], *, parse: bool
    ) -> Any:  # noqa: ANN401 - the result of `finish`
        if not source.is_long:
            return await self._batchers[model.name].run(ParseJob(source, finish, parse), size=1 + source.size // 5)
        sentences: Treebank = await self._helpers.run(Read(model.name, source))
        parts = [part async for part in self._parts(model, sentences)] if parse else [sentences]
        whole = Document(Treebank.concat(parts), source.text, model.generator)
        return await self._helpers.run(Call(finish, (Document(sentences, source.text), whole)))

    async def stream(self, model: ServedModel, source: RequestSource) -> AsyncIterator[Treebank]:
        """Segment an input, and yield treebanks of its parsed sentences, about `SLICE` words at a time.

        The next part is parsed only when the caller asks for it.
        """
        with self._admitted():
            sentences: Treebank = await self._helpers.run(Read(model.name, source))
            async for part in self._parts(model, sentences):
                yield part

    async def help(self, function: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 - its result
        """Return `function(*arguments)`, computed by a worker; the function must be picklable and need no parser."""
        with self._admitted():
            async with asyncio.timeout(self.settings.max_seconds):
                return await self._helpers.run(Call(function, arguments))

    async def _parts(self, model: ServedModel, sentences: Treebank) -> AsyncIterator[Treebank]:
        for part in slices(sentences, SLICE):
            yield await self._batchers[model.name].run(ParseJob(part, _parsed), size=part.words)

    @contextmanager
    def _admitted(self) -> Iterator[None]:
        """Count a request as being answered while the `with` block runs.

        Raise a `RequestError` 503 if too many requests are being answered, or if the block raises a `TimeoutError`.
        """
        if self._in_flight >= self._most_in_flight:
            raise RequestError(
                503, f"{self._in_flight} requests are being answered, the most allowed; try again", retry_after=1
            )
        self._in_flight += 1
        self.metrics.in_flight(1)
        try:
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


def _parsed(_: Document, parsed: Document) -> Treebank:
    return parsed.treebank
