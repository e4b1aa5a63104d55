"""The ASGI application: all endpoints, and the checks and response headers that they share."""

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
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ropewalk.serving.crew import Crew
    from ropewalk.serving.settings import Settings

SLASHES = re.compile("//+")
LINGER_BYTES = 1 << 30  # read and discarded after a body is refused: most clients read the answer only when all is sent
LINGER_PAUSE = 5.0  # seconds that such a client may pause; `max_seconds` limits the whole
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
    """Build the ASGI application.

    `crew` is the group of workers that compute the answers. Without it, this process loads the models, and threads of
    this process are the workers.
    """
    rows = endpoints()
    metrics = Metrics({row.path: row.label for row in rows})
    service = Service(crew or Threads(Computer.load(settings)), settings, metrics)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            service.stop()

    refusals: dict[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
        HTTPException: _answering(_refused_by_path),
        RopewalkError: _answering(_refused),
        Exception: _answering(_failed),
    }
    routes = [row.route(service) for row in rows]
    app = Starlette(routes=routes, exception_handlers=refusals, lifespan=lifespan)
    app.state.service = service
    app.add_middleware(Guard, service=service)
    return app


async def description(_request: Request, service: Service) -> Response:
    """Answer with the OpenAPI description of all endpoints."""
    return json_response(openapi.describe(endpoints(), service.default))


async def health(_request: Request, _service: Service) -> Response:
    """Answer that the process is alive."""
    return Response("alive\n", media_type="text/plain")


async def ready(_request: Request, service: Service) -> Response:
    """Answer 200 if the server accepts requests, or 503 if it is starting or stopping."""
    good = service.ready and not service.draining
    return Response("ready\n" if good else "not ready\n", 200 if good else 503, media_type="text/plain")


async def counts(_request: Request, service: Service) -> Response:
    """Answer with all metrics in the text format of Prometheus."""
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")


@cache
def endpoints() -> tuple[Endpoint, ...]:
    """Return all endpoints: those of Ropewalk, and those that plugins add.

    An endpoint of a plugin is left out if its path is one of Ropewalk's.
    """
    own = (
        *api.ENDPOINTS,
        *udpipe.ENDPOINTS,
        Endpoint("/openapi.json", description),
        Endpoint("/health", health),
        Endpoint("/ready", ready),
        Endpoint("/metrics", counts),
        *static_files(),
    )
    paths = {endpoint.path for endpoint in own}
    return *own, *(added for added in plugins("ropewalk.endpoints", Endpoint).values() if added.path not in paths)


def _answering(
    function: Callable[[Request, Exception], Response],
) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Return `function` as a coroutine function, which Starlette calls at once instead of in a thread."""

    async def answer(request: Request, error: Exception) -> Response:
        return function(request, error)

    return answer


def _refused(request: Request, error: Exception) -> Response:
    """Return the response to a request that failed with `error`: JSON for `/api/`, otherwise plain text, like UDPipe.

    The status is that of a `RequestError`, and 400 for other errors.
    """
    status = error.status if isinstance(error, RequestError) else 400
    headers: dict[str, str] = {}
    if isinstance(error, RequestError) and error.retry_after is not None:
        headers["retry-after"] = str(error.retry_after)
    if status in {408, 413}:
        headers["connection"] = "close"  # the rest of the body is discarded
    if request.scope["path"].startswith("/api/"):
        kind = re.sub("(?<!^)(?=[A-Z])", "-", type(error).__name__.removesuffix("Error")).lower()
        return json_response({"error": {"kind": kind, "message": str(error)}}, status, headers)
    return Response(f"{error}\n".encode("utf-8", "replace"), status, headers, "text/plain; charset=utf-8")


def _refused_by_path(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - it is called for no other
    path, allowed = request.scope["path"][:200], (error.headers or {}).get("Allow")
    what = {
        404: f"there is no {path} here; see /openapi.json for all paths",
        405: f"{request.method} is not allowed for {path}; use {allowed}",
    }
    response = _refused(request, RequestError(error.status_code, what.get(error.status_code, error.detail)))
    response.headers.update(error.headers or {})
    return response


def _failed(request: Request, _error: Exception) -> Response:
    """Return the response 500 to a request; Starlette raises the exception again, and the server logs it."""
    return _refused(request, RequestError(500, "the server failed at this request; see its log"))


@final
class Exchange:
    """One HTTP request and its response: it wraps `receive` and `send` of ASGI.

    It adds `headers` to the response, keeps count of requests that are being received, and measures the time.
    """

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
        """Receive the next ASGI message of the request; note when its body is complete."""
        message = await self._receive()
        if not message.get("more_body", False):
            self._arrived()
        return message

    async def send(self, message: Message) -> None:
        """Send an ASGI message of the response, with the additional headers.

        If the request was refused before its body had arrived, the rest of the body is read before the response ends.
        """
        if message["type"] == "http.response.start":
            self._status = message["status"]
            message["headers"] = [*message.get("headers", []), *self._headers]
            if self._service.draining:
                message["headers"].append((b"connection", b"close"))
        elif self._status in {408, 413} and not message.get("more_body", False) and not self._received:
            await self._send({**message, "more_body": True})
            self._arrived()  # batches need not wait for it
            await self._linger()
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self._send(message)

    async def _linger(self) -> None:
        """Read and discard the rest of the request body: many clients read the response only after sending all."""
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
        """Count the finished response in the metrics, and log it in one line.

        Control characters of the path and the query are escaped.
        """
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
    """Middleware for every request.

    It refuses `Host` headers that are not allowed, replaces double slashes in paths, adds CORS headers for allowed
    origins, counts metrics, and writes a line to the log.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service
        self._origins = service.settings.allow_origins
        self._hosts = Hosts(service.settings.allow_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request, pass it to the application, and send the response with the additional headers."""
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
        """Return the response 421 if the `Host` header is not allowed, else None.

        Requests without the header pass: browsers, for which the check is made, always send it.
        """
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if all(map(self._hosts.allows, hosts)):
            return None
        names = ", ".join(sorted(self._hosts.names))
        why = f"the Host header is {', '.join(hosts)[:80]!r}; use {names}, or allow the name with --allow-host"
        return _refused(Request(scope), RequestError(421, why))

    def _allowed(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        """Return the CORS headers of a response: they let web pages of an allowed origin read it."""
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
