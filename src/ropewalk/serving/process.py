"""The server process: uvicorn with limits for slow clients, and with a shutdown that answers all open requests."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, final

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ropewalk.errors import OptionError
from ropewalk.serving.application import application
from ropewalk.serving.computing import Computer
from ropewalk.serving.crew import Processes, Threads
from ropewalk.serving.hosts import is_own

if TYPE_CHECKING:
    from asyncio import TimerHandle
    from collections.abc import Callable, Iterator

    from starlette.applications import Starlette

    from ropewalk.serving.settings import Settings

BACKLOG = 2048
LONGEST_HEAD = 64 * 1024  # bytes of a request before its body, including an address that contains a text
KEEP_ALIVE = 75.0  # seconds that a connection may be idle
LINGER = 0.5  # seconds in which open connections are told that the server stops
MUST_STOP = (signal.SIGINT, signal.SIGTERM)
SIGNALS = (*MUST_STOP, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


class Connection(HttpToolsProtocol):
    """uvicorn's HTTP protocol with limits for slow clients.

    The connection is closed if the head of a request (its address and headers) is too long, if the head takes more than
    `patience` seconds, or if the client does not read the response for `patience` seconds.
    """

    patience = 30.0

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 - those of uvicorn
        super().__init__(*arguments, **named)
        self._head_bytes = 0  # received before the head was complete
        self._field_bytes = 0  # of the address and the headers that were read
        self._in_head = True
        self._slow: TimerHandle | None = None
        self._unread: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Start the timer that closes an idle connection."""
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers of the connection."""
        for timer in (self._slow, self._unread, self.timeout_keep_alive_task):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass received bytes to uvicorn; limit the length and the time of the head of a request."""
        if self._in_head:
            self._head_bytes += len(data)
            if self._slow is None:
                self._slow = self.loop.call_later(self.patience, self.transport.abort)
        super().data_received(data)
        if self._in_head and self._head_bytes > LONGEST_HEAD and not self.transport.is_closing():
            self.send_400_response(f"The address and the headers have more than {LONGEST_HEAD} bytes.")

    def on_headers_complete(self) -> None:
        """Stop the timer of the head, which is complete; uvicorn then starts the response."""
        self._in_head = False
        self._head_bytes = self._field_bytes = 0
        if self._slow is not None:
            self._slow.cancel()
            self._slow = None
        super().on_headers_complete()

    def on_url(self, url: bytes) -> None:
        """Pass a part of the address to uvicorn; limit its length."""
        self._count(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Pass a header to uvicorn; limit the length of all headers, and of trailers, the headers after a body."""
        self._count(name, value)
        super().on_header(name, value)

    def _count(self, *fields: bytes) -> None:
        self._field_bytes += sum(map(len, fields))
        if self._field_bytes > LONGEST_HEAD:
            raise ValueError("the address and the headers, or the trailers, are too long")

    def on_message_complete(self) -> None:
        """Count the header lines of the next request on this connection from 0 again."""
        super().on_message_complete()
        self._in_head = True
        self._head_bytes = self._field_bytes = 0

    def on_response_complete(self) -> None:
        """Start the timer for the client to read, if a part of the response is not sent yet."""
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            self._expect_reader()

    def pause_writing(self) -> None:
        """Start the timer for the client to read, because the buffer of unsent bytes is full."""
        super().pause_writing()
        self._expect_reader()

    def resume_writing(self) -> None:
        """Cancel the timer for the client to read, because it has read enough."""
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
        super().resume_writing()

    def _expect_reader(self) -> None:
        if self._unread is None:
            self._unread = self.loop.call_later(self.patience, self._give_up)

    def _give_up(self) -> None:
        self._unread = None
        if self.transport.get_write_buffer_size():
            self.transport.abort()


@final
class Server(uvicorn.Server):
    """uvicorn server that sends `Connection: close` on open connections before it stops, and ends with exit code 0.

    `started` is called when the server listens.
    """

    def __init__(self, app: Starlette, settings: Settings, started: Callable[[], None] | None) -> None:
        class Patient(Connection):
            patience = settings.max_seconds

        super().__init__(
            uvicorn.Config(
                app,
                http=Patient,
                ws="none",
                lifespan="on",
                loop="asyncio",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                backlog=BACKLOG,
                timeout_keep_alive=KEEP_ALIVE,  # type: ignore[arg-type]  # any number of seconds will do
                timeout_graceful_shutdown=int(settings.max_seconds * 2) + 1,
            )
        )
        self._service = app.state.service
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen; then call `started`."""
        await super().startup(sockets)
        if self._started is not None:
            self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop the server: accept no new connections, and answer requests on open ones with `Connection: close`."""
        self._service.draining = True
        await asyncio.sleep(0)  # accept the connections that are waiting
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            listener.close()
        await asyncio.sleep(LINGER)
        await super().shutdown(None)
        if self.force_exit:  # after a second Ctrl-C, interrupted requests are no failure to report
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL + 1)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop the server at SIGINT, SIGTERM or SIGHUP in the `with` block; do not raise the signals again after it.

        SIGHUP stays ignored if it was ignored before, as under nohup.
        """
        handled = [
            number for number in SIGNALS if number in MUST_STOP or signal.getsignal(number) is not signal.SIG_IGN
        ]
        before = {number: signal.signal(number, self.handle_exit) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at `host` and `port`; port 0 is any free port. Raise an `OptionError` on failure."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only for sockets of this protocol; otherwise answers would wait for acknowledgements.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError, ValueError) as failure:  # ValueError: no name of any host
        listener.close()
        raise OptionError(
            f"cannot listen at {host} port {port}: {failure}; choose another --host or --port"
        ) from failure
    listener.listen(BACKLOG)
    listener.settimeout(0)
    return listener


def run(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    workers: int = 1,
    started: Callable[[str], None] | None = None,
) -> None:
    """Run the server until a signal stops it: SIGINT, SIGTERM, or SIGHUP unless it is ignored.

    With one worker, threads of this process compute the answers. Several `workers` are processes that share the loaded
    models. `started` is called with the address of the server when requests are accepted. If the server listens at a
    loopback address, requests whose `Host` header names another host are refused, unless `settings.allow_hosts` allows
    it.
    """
    if not host:
        raise OptionError("the host is empty; expected an address: 127.0.0.1 for this machine only, 0.0.0.0 for others")
    if workers < 1 or (workers > 1 and not hasattr(os, "fork")):
        raise OptionError(f"found {workers} workers; expected 1, or more where processes can be forked")
    _allow_many_connections()
    crew = Processes(settings, workers) if workers > 1 else Threads(Computer.load(settings))
    try:
        with listen(host, port) as listener:
            bound = listener.getsockname()
            if not settings.allow_hosts and is_own(bound[0]):
                settings = replace(settings, allow_hosts=("localhost" if is_own(host) else host,))
            address = f"http://{f'[{bound[0]}]' if ':' in bound[0] else bound[0]}:{bound[1]}"
            Server(application(settings, crew=crew), settings, lambda: started and started(address)).run([listener])
    finally:
        crew.stop()


def _allow_many_connections() -> None:
    """Raise the limit of open files to 65536, or as far as the system allows: a connection counts as a file."""
    try:
        import resource
    except ImportError:  # not on every system
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, 65536) if hard != resource.RLIM_INFINITY else 65536
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
