"""Tools for the tests of the server: a server in its own process, and clients of a few lines."""

from __future__ import annotations

import email.mime.multipart
import email.mime.nonmultipart
import email.policy
import http.client
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urlencode

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterable, Iterator, Mapping, Sequence

START = [sys.executable, "-m", "ropewalk", "serve", "--port", "0"]


def read_to_end(raw: socket.socket) -> bytes:
    """Read what a server says until it ends the connection."""
    said = b""
    try:
        while piece := raw.recv(65536):
            said += piece
    except ConnectionError:
        pass
    return said


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a server."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")


@dataclass(frozen=True, slots=True)
class Served:
    """A running server."""

    host: str
    port: int
    process: subprocess.Popen[str]

    @property
    def address(self) -> str:
        return f"http://{self.host}:{self.port}"

    def connect(self, timeout: float = 60.0) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(
        self, method: str, path: str, body: bytes | str | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        connection = self.connect()
        try:
            connection.request(method, path, body.encode() if isinstance(body, str) else body, dict(headers or {}))
            response = connection.getresponse()
            return Answer(response.status, response.read(), {k.lower(): v for k, v in response.getheaders()})
        finally:
            connection.close()

    def get(self, path: str, **fields: str) -> Answer:
        return self.ask("GET", f"{path}?{urlencode(fields)}" if fields else path)

    def form(self, path: str, **fields: str) -> Answer:
        return self.ask("POST", path, urlencode(fields), {"content-type": "application/x-www-form-urlencoded"})

    def parts(self, path: str, **fields: str) -> Answer:
        """Send a multipart form as UDPipe's client does: a quoted boundary, and parts sent as 8bit."""
        message = email.mime.multipart.MIMEMultipart("form-data", policy=email.policy.HTTP)
        for name, value in fields.items():
            part = email.mime.nonmultipart.MIMENonMultipart("text", "plain", policy=email.policy.HTTP)
            part.add_header("Content-Disposition", f'form-data; name="{name}"')
            part.add_header("Content-Transfer-Encoding", "8bit")
            part.set_payload(value, charset="utf-8")
            message.attach(part)
        _, body = message.as_bytes().split(b"\r\n\r\n", maxsplit=1)
        kind = " ".join(str(message["Content-Type"]).split())
        assert 'boundary="' in kind
        return self.ask("POST", path, body, {"content-type": kind})


@contextmanager
def serving(*options: str, through: Sequence[str] = (), log: IO[str] | None = None) -> Iterator[Served]:
    """Start a server at a free port, perhaps through another program, and stop it.

    What it writes goes to `log`, if there is one: a pipe that nobody reads is full after a while.
    """
    process = subprocess.Popen([*through, *START, *options], stderr=log or subprocess.PIPE, text=True)
    try:
        address = _address(process.stderr or _followed(process, log))
        assert address, f"the server ended with {process.wait()}"
        yield Served(address[1], int(address[2]), process)
    finally:
        process.terminate()
        try:
            process.wait(60)
        finally:
            process.kill()
            if process.stderr is not None:
                process.stderr.close()


def _address(lines: Iterable[str]) -> re.Match[str] | None:
    return next(filter(None, (re.search(r"http://([\d.]+):(\d+)", line) for line in lines)), None)


def _followed(process: subprocess.Popen[str], log: IO[str] | None) -> Iterator[str]:
    """Read a file that a process writes."""
    assert log is not None
    with Path(f"/proc/self/fd/{log.fileno()}").open(encoding="utf-8") as lines:
        while process.poll() is None:
            yield lines.readline()
            time.sleep(0.02)
