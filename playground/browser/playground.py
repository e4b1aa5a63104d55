"""Ropewalk's server without a network: requests of the page go straight to its application."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, final

import narrow_numpy
from pyodide.ffi import to_js

from ropewalk.serving.application import application
from ropewalk.serving.computing import Computer
from ropewalk.serving.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping, Sequence

    from ropewalk.serving.computing import Answers, ServedModel
    from ropewalk.serving.crew import Compute


@final
class Inline:
    """Crew that computes in the event loop itself: a worker of a browser has no other thread."""

    size = 1

    def __init__(self, computer: Computer) -> None:
        self.models: Mapping[str, ServedModel] = computer.models
        self._computer = computer

    def parallel(self, lane: str) -> int:  # noqa: ARG002 - the same for all
        """Return 1: one job is computed at a time."""
        return 1

    @asynccontextmanager
    async def worker(self, lane: str) -> AsyncIterator[Compute]:
        """Yield a function that computes jobs of the lane."""

        async def compute(jobs: Sequence[Any]) -> Answers:
            return self._computer.answers(lane, jobs)

        yield compute

    async def start(self) -> None:
        """Do nothing: the first request of the page is the first sentence."""

    def stop(self) -> None:
        """Do nothing: the worker of the browser ends with its page."""


async def start() -> Callable[[str, str, str], Awaitable[object]]:
    """Load the model; return a function that answers a request with status, media type and content."""
    narrow_numpy.install()
    settings = Settings(batch_seconds=0.0, max_seconds=600.0)
    app = application(settings, crew=Inline(Computer.load(settings)))
    await app.state.service.start()

    async def answer(method: str, path: str, body: str) -> object:
        sent: list[MutableMapping[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body.encode("utf-8", "surrogatepass"), "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": f"/{path}",
            "raw_path": f"/{path}".encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")] if body else [],
        }
        await app(scope, receive, send)
        headers = dict(sent[0]["headers"])
        content = b"".join(message.get("body", b"") for message in sent[1:])
        return to_js([sent[0]["status"], headers.get(b"content-type", b"").decode(), content])

    return answer
