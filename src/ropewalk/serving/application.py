"""The application: every path, and what holds for all of them."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from contextlib import asynccontextmanager, suppress
from functools import cache
from string import punctuation
from typing import TYPE_CHECKING, Any, final
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ropewalk.core.plugins import plugins
from ropewalk.errors import RequestError, RopewalkError
from ropewalk.serving import api, openapi, udpipe
from ropewalk.serving.computing import Computer
from ropewalk.serving.crew import Threads
from ropewalk.serving.endpoints import Endpoint, json_response
from ropewalk.serving.hosts import Hosts
from ropewalk.serving.metrics import Metrics
from ropewalk.serving.pages import static_files
from ropewalk.serving.service import Service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ropewalk.serving.crew import Crew
    from ropewalk.serving.settings import Settings

SLASHES = re.compile("//+")
LINGER_BYTES = 1 << 30  # read and discarded of a body that was refused: most clients read no answer before all is sent
LINGER_PAUSE = 5.0  # seconds that such a client may pause; `max_seconds` is for all of it
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
]
logger = logging.getLogger("ropewalk.serving")


def application(settings: Settings, *, crew: Crew | None = None) -> Starlette:
    """Build the application; without a `crew` the models are loaded here, and threads compute the answers."""
    rows = endpoints()
    metrics = Metrics({one.path: one.label for one in rows})
    service = Service(crew or Threads(Computer.load(settings)), settings, metrics)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            service.stop()

    refusals: dict[Any, Callable[[Request, Exception], Response]] = {
        HTTPException: _refused_by_path,
        RopewalkError: _refused,
        Exception: _failed,
    }
    routes = [one.route(service) for one in rows]
    app = Starlette(routes=routes, exception_handlers=refusals, lifespan=lifespan)
    app.state.service = service
    app.add_middleware(Guard, service=service)
    return app


async def description(_request: Request, service: Service) -> Response:
    """Describe the API as OpenAPI does."""
    return json_response(openapi.describe(endpoints(), service.default))


async def health(_request: Request, _service: Service) -> Response:
    """Answer that the process lives."""
    return Response("alive\n", media_type="text/plain")


async def ready(_request: Request, service: Service) -> Response:
    """Answer whether requests are welcome."""
    good = service.ready and not service.draining
    return Response("ready\n" if good else "not ready\n", 200 if good else 503, media_type="text/plain")


async def counts(_request: Request, service: Service) -> Response:
    """Return all counts as Prometheus reads them."""
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")


@cache
def endpoints() -> tuple[Endpoint, ...]:
    """Return every endpoint: ours, and those of other packages at paths that are not ours."""
    own = (
        *api.ENDPOINTS,
        *udpipe.ENDPOINTS,
        Endpoint("/openapi.json", description),
        Endpoint("/health", health),
        Endpoint("/ready", ready),
        Endpoint("/metrics", counts),
        *static_files(),
    )
    paths = {one.path for one in own}
    return *own, *(one for one in plugins("ropewalk.endpoints", Endpoint).values() if one.path not in paths)


def _refused(request: Request, error: Exception) -> Response:
    """Answer what the client can put right: in JSON to our own API, otherwise in plain text, as UDPipe does."""
    status = error.status if isinstance(error, RequestError) else 400
    headers: dict[str, str] = {}
    if isinstance(error, RequestError) and error.retry_after is not None:
        headers["retry-after"] = str(error.retry_after)
    if status in {408, 413}:
        headers["connection"] = "close"  # the rest of the body is not wanted
    if request.scope["path"].startswith("/api/"):
        kind = re.sub("(?<!^)(?=[A-Z])", "-", type(error).__name__.removesuffix("Error")).lower()
        return json_response({"error": {"kind": kind, "message": str(error)}}, status, headers)
    return Response(f"{error}\n".encode("utf-8", "replace"), status, headers, "text/plain; charset=utf-8")


def _refused_by_path(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - it is called for no other
    path, allowed = request.scope["path"][:200], (error.headers or {}).get("Allow")
    what = {
        404: f"there is no {path} here; see /openapi.json",
        405: f"{request.method} is not for {path}; allowed: {allowed}",
    }
    response = _refused(request, RequestError(error.status_code, what.get(error.status_code, error.detail)))
    response.headers.update(error.headers or {})
    return response


def _failed(request: Request, _error: Exception) -> Response:
    """Answer what is our own fault; Starlette passes the error on, and the server logs it."""
    return _refused(request, RequestError(500, "the server failed at this request; its log says more"))


@final
class Exchange:
    """One request and its answer."""

    def __init__(self, service: Service, receive: Receive, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
        self._service = service
        self._receive = receive
        self._send = send
        self._headers = headers
        self._begun = time.perf_counter()
        self._received = False
        self._status = 500
        service.arriving(1)

    async def receive(self) -> Message:
        """Receive a part of the request."""
        message = await self._receive()
        if not message.get("more_body", False):
            self._arrived()
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            message["headers"] = [*message.get("headers", []), *self._headers]
            if self._service.draining:
                message["headers"].append((b"connection", b"close"))
        elif self._status in {408, 413} and not message.get("more_body", False) and not self._received:
            await self._send({**message, "more_body": True})
            self._arrived()  # nobody waits for it any more
            await self._linger()
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self._send(message)

    async def _linger(self) -> None:
        """Read on, so that a client that still sends comes to read its answer instead of losing the connection."""
        size = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(self._service.settings.max_seconds):
                while size < LINGER_BYTES and not self._service.draining:
                    async with asyncio.timeout(LINGER_PAUSE):
                        message = await self._receive()
                    size += len(message.get("body", b""))
                    if not message.get("more_body", False):
                        return

    def end(self, scope: Scope) -> None:
        """Count the answer, and log it; no request can write a second line, or what a terminal would obey."""
        self._arrived()
        seconds = time.perf_counter() - self._begun
        self._service.metrics.answered(scope["path"], self._status, seconds)
        if logger.isEnabledFor(logging.INFO):
            path = quote(scope["path"][:200], errors="replace")
            query = f" {quote(scope['query_string'], safe=punctuation)}" if self._service.settings.log_text else ""
            logger.info("%s %s %d %.1f ms%s", scope["method"], path, self._status, seconds * 1000, query)

    def _arrived(self) -> None:
        if not self._received:
            self._received = True
            self._service.arriving(-1)


@final
class Guard:
    """Checks and headers of every request: host, double slashes, origins, counts, and one line in the log."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service
        self._origins = service.settings.allow_origins
        self._hosts = Hosts(service.settings.allow_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["path"] = SLASHES.sub("/", scope["path"])
        exchange = Exchange(self._service, receive, send, HEADERS + self._allowed(scope))
        try:
            if not self._hosts.every and (refusal := self._refusal(scope)) is not None:
                await refusal(scope, exchange.receive, exchange.send)
            elif scope["method"] == "OPTIONS" and self._origins:
                await Response(status_code=204)(scope, exchange.receive, exchange.send)
            else:
                await self._app(scope, exchange.receive, exchange.send)
        finally:
            exchange.end(scope)

    def _refusal(self, scope: Scope) -> Response | None:
        """Refuse a request for a host that is not allowed; one without the header comes from no browser."""
        found = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if all(map(self._hosts.allows, found)):
            return None
        names = ", ".join(sorted(self._hosts.names))
        why = f"the Host header is {', '.join(found)[:80]!r}; expected {names}, or a name that --allow-host allows"
        return _refused(Request(scope), RequestError(421, why))

    def _allowed(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        """Return the headers that let pages of other origins read answers, if the server was told to allow them."""
        if not self._origins:
            return []
        origin = next((value for name, value in scope["headers"] if name == b"origin"), b"")
        every = "*" in self._origins
        if not every and origin.decode("latin-1") not in self._origins:
            return [(b"vary", b"origin")]
        return [
            (b"access-control-allow-origin", b"*" if every else origin),
            (b"access-control-allow-methods", b"GET, POST"),
            (b"access-control-allow-headers", b"content-type"),
            (b"vary", b"origin"),
        ]
