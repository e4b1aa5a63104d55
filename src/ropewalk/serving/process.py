"""Processes and connections: uvicorn, with an end to clients that are too slow, and a stop that loses no request."""

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
LONGEST_HEAD = 64 * 1024  # bytes of a request before its body, an address with a text in it included
KEEP_ALIVE = 75.0  # seconds that a connection may be idle
LINGER = 0.5  # seconds in which open connections hear that the server is going
MUST_STOP = (signal.SIGINT, signal.SIGTERM)
SIGNALS = (*MUST_STOP, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


class Connection(HttpToolsProtocol):
    """HTTP as uvicorn speaks it; a head too long or too slow ends, and so does an answer that nobody reads."""

    patience = 30.0

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 - those of uvicorn
        super().__init__(*arguments, **named)
        self._head_bytes = 0
        self._in_head = True
        self._slow: TimerHandle | None = None
        self._unread: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait for a request."""
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        for timer in (self._slow, self._unread, self.timeout_keep_alive_task):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; of a head only so many, and only for so long."""
        if self._in_head:
            self._head_bytes += len(data)
            if self._slow is None:
                self._slow = self.loop.call_later(self.patience, self.transport.abort)
        super().data_received(data)
        if self._in_head and self._head_bytes > LONGEST_HEAD and not self.transport.is_closing():
            self.send_400_response(f"The address and the headers have more than {LONGEST_HEAD} bytes.")

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        if self._head_bytes > LONGEST_HEAD + 65536:  # what is read at once may hold the beginning of a body
            raise ValueError("the head is too long")
        self._in_head = False
        self._head_bytes = 0
        if self._slow is not None:
            self._slow.cancel()
            self._slow = None
        super().on_headers_complete()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those after a body count too."""
        if not self._in_head:
            self._head_bytes += len(name) + len(value)
            if self._head_bytes > LONGEST_HEAD:
                raise ValueError("the trailers are too long")
        super().on_header(name, value)

    def on_message_complete(self) -> None:
        """Expect the next request."""
        super().on_message_complete()
        self._in_head = True
        self._head_bytes = 0

    def on_response_complete(self) -> None:
        """See that the answer is read in time."""
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            self._expect_reader()

    def pause_writing(self) -> None:
        """See that the client reads on in time."""
        super().pause_writing()
        self._expect_reader()

    def resume_writing(self) -> None:
        """Go on."""
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
    """A server that, when it stops, first says so on every connection, and ends with exit code 0."""

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
        """Begin to listen."""
        await super().startup(sockets)
        if self._started is not None:
            self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no new connections, answer what comes on those there are and say that they end, then end."""
        self._service.draining = True
        await asyncio.sleep(0)  # take the connections that wait already
        for server in self.servers:
            server.close()
        for one in sockets or []:
            one.close()
        await asyncio.sleep(LINGER)
        await super().shutdown(None)
        if self.force_exit:  # by a second Ctrl-C: what is cut off now is no failure to report
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL + 1)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at signals, and take them for answered; SIGHUP stays ignored where it is, as by nohup."""
        heard = [number for number in SIGNALS if number in MUST_STOP or signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self.handle_exit) for number in heard}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def listen(host: str, port: int) -> socket.socket:
    """Listen at an address; port 0 is any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By its protocol asyncio knows that answers must not wait for what the client has to say to their beginnings.
    one = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        one.bind((host, port))
    except (OSError, OverflowError, ValueError) as failure:  # ValueError: no name of any host
        one.close()
        raise OptionError(f"cannot listen at {host} port {port}: {failure}; give another --host or --port") from failure
    one.listen(BACKLOG)
    one.settimeout(0)
    return one


def run(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    workers: int = 1,
    started: Callable[[str], None] | None = None,
) -> None:
    """Serve until a signal asks to stop: SIGINT, SIGTERM, or SIGHUP unless it is ignored.

    One worker computes in a thread of this process. Several are processes that share the models. `started` is called
    with the address once requests are taken. On a loopback address, requests for other hosts are refused, unless
    `settings.allow_hosts` names them.
    """
    if not host:
        raise OptionError("the host is empty; expected an address: 127.0.0.1 for this machine only, 0.0.0.0 for others")
    if workers < 1 or (workers > 1 and not hasattr(os, "fork")):
        raise OptionError(f"found {workers} workers; expected 1, or more where processes can be forked")
    _allow_many_connections()
    crew = Processes(settings, workers) if workers > 1 else Threads(Computer.load(settings))
    try:
        with listen(host, port) as one:
            bound = one.getsockname()
            if not settings.allow_hosts and is_own(bound[0]):
                settings = replace(settings, allow_hosts=("localhost" if is_own(host) else host,))
            address = f"http://{f'[{bound[0]}]' if ':' in bound[0] else bound[0]}:{bound[1]}"
            Server(application(settings, crew=crew), settings, lambda: started and started(address)).run([one])
    finally:
        crew.stop()


def _allow_many_connections() -> None:
    """Ask the system for as many open files as it allows: each connection is one."""
    try:
        import resource
    except ImportError:  # not on every system
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, 65536) if hard != resource.RLIM_INFINITY else 65536
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
