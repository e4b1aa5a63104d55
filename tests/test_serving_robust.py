"""A server that is left running: full, slow, vanished and hostile clients, and an end that loses no request."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ropewalk.serving.process import listen
from serving_tools import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving_tools import Served

SENTENCE = "The old rope maker walks slowly backwards all day while his children twist long strands of hemp."
BODY = json.dumps({"text": SENTENCE, "output": "conllu"})
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("--max-seconds", "3", "--max-requests", "8") as one:
        yield one


def well(server: Served, most: float = 20.0) -> None:
    """See that others are served; the time allowed is for a busy machine."""
    until = time.monotonic() + most
    while (status := server.ask("POST", "/api/v1/parse", BODY, JSON).status) == 503:
        assert time.monotonic() < until
    assert status == 200
    assert time.monotonic() < until


def read_to_end(raw: socket.socket) -> bytes:
    said = b""
    try:
        while piece := raw.recv(65536):
            said += piece
    except ConnectionError:
        pass
    return said


def test_a_client_that_sends_a_byte_now_and_then_is_cut_off_and_hurts_nobody(server: Served) -> None:
    head = b"POST /api/v1/parse HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n"
    with ExitStack() as stack:
        slow = [
            stack.enter_context(socket.create_connection((server.host, server.port), timeout=30)) for _ in range(40)
        ]
        for raw in slow[:20]:
            raw.sendall(head + b"{")
        for raw in slow[20:]:
            raw.sendall(b"GET /mod")  # a head that never ends
        well(server)
        until = time.monotonic() + 1
        while time.monotonic() < until:
            for raw in slow:
                raw.sendall(b" ")
            time.sleep(0.2)
        well(server)
        for raw in slow[:20]:
            assert read_to_end(raw).startswith(b"HTTP/1.1 408 ")
        for raw in slow[20:]:
            assert read_to_end(raw) == b""


def test_a_client_that_never_reads_is_cut_off_and_hurts_nobody(server: Served) -> None:
    body = json.dumps({"text": f"{SENTENCE} " * 1000}).encode()
    request = b"POST /api/v1/%s HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    with ExitStack() as stack:
        for path in (b"stream", b"stream"):
            raw = stack.enter_context(socket.socket())
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            raw.connect((server.host, server.port))
            raw.sendall(request % (path, len(body)) + body)
        for _ in range(5):
            well(server)
            time.sleep(0.5)
        until = time.monotonic() + 60
        while _in_flight(server):  # given up, though the clients still hold on
            assert time.monotonic() < until
            time.sleep(0.2)


def _in_flight(server: Served) -> int:
    found = re.search(r"^ropewalk_requests_in_flight (\d+)$", server.get("/metrics").text, re.MULTILINE)
    assert found
    return int(found[1])


def test_a_client_that_vanishes_hurts_nobody(server: Served) -> None:
    for _ in range(20):
        with socket.create_connection((server.host, server.port)) as raw:
            raw.sendall(b"POST /api/v1/parse HTTP/1.1\r\nhost: a\r\n" + b"content-length: %d\r\n\r\n" % len(BODY))
            raw.sendall(BODY.encode())
    well(server)


def test_a_thousand_idle_connections_hurt_nobody(server: Served) -> None:
    with ExitStack() as stack:
        for _ in range(1000):
            stack.enter_context(socket.create_connection((server.host, server.port)))
        well(server)


def test_a_request_of_a_gigabyte_is_refused_and_hurts_nobody(server: Served) -> None:
    before = _memory(server)
    with socket.create_connection((server.host, server.port), timeout=30) as raw:
        raw.sendall(b"POST /process HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n")
        piece = b"100000\r\n" + b"a" * (1 << 20) + b"\r\n"
        try:
            for _ in range(1000):
                raw.sendall(piece)
        except OSError:
            pass
        well(server)
    with socket.create_connection((server.host, server.port), timeout=30) as raw:
        raw.sendall(b"POST /process HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000\r\n\r\nabc")
        assert raw.recv(65536).startswith(b"HTTP/1.1 413 ")
    with socket.create_connection((server.host, server.port), timeout=30) as raw:
        with suppress(OSError):
            raw.sendall(b"GET / HTTP/1.1\r\nx: " + b"a" * (1 << 20))
        assert read_to_end(raw)[:12] in {b"", b"HTTP/1.1 400"}
    well(server)
    assert _memory(server) - before < 64 << 20


def _memory(server: Served) -> int:
    try:
        status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8")
    except OSError:
        pytest.skip("this system does not tell the memory of a process")
    found = re.search(r"VmRSS:\s*(\d+) kB", status)
    assert found
    return int(found[1]) * 1024


def test_a_full_server_says_so_and_when_to_try_again(server: Served) -> None:
    body = json.dumps({"text": f"{SENTENCE} " * 600})
    with ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(lambda _: server.ask("POST", "/api/v1/parse", body, JSON), range(40)))
    assert {answer.status for answer in answers} <= {200, 503}
    refused = [answer for answer in answers if answer.status == 503]
    assert refused
    assert all(int(answer.headers["retry-after"]) > 0 for answer in refused)
    well(server)


def load(server: Served, stop: threading.Event, done: list[int], lost: list[str]) -> None:
    """Ask over one connection until the server says that it ends; note every request without an answer."""
    connection = server.connect()
    try:
        while not stop.is_set():
            try:
                connection.connect() if connection.sock is None else None
            except OSError:
                return  # it listens no more
            try:
                connection.request("POST", "/api/v1/parse", BODY, JSON)
                response = connection.getresponse()
                response.read()
            except (OSError, http.client.HTTPException) as failure:
                lost.append(repr(failure))
                return
            done.append(response.status)
            if response.will_close:
                return
    finally:
        connection.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_under_load_answers_every_request(workers: int) -> None:
    with serving("--workers", str(workers)) as server:
        stop, done, lost = threading.Event(), list[int](), list[str]()
        threads = [threading.Thread(target=load, args=(server, stop, done, lost)) for _ in range(24)]
        for thread in threads:
            thread.start()
        until = time.monotonic() + 60
        while len(done) < 100:
            assert time.monotonic() < until
            time.sleep(0.05)
        server.process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join(60)
        stop.set()
        assert lost == []
        assert set(done) == {200}
        assert server.process.wait(60) == 0
        with pytest.raises(OSError, match="refused"):
            server.get("/health")


def test_a_worker_that_dies_is_replaced() -> None:
    with serving("--workers", "2") as server:
        children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
        if not children.exists():
            pytest.skip("this system does not list the children of a process")
        first = children.read_text(encoding="utf-8").split()
        assert len(first) == 2
        os.kill(int(first[0]), signal.SIGKILL)
        until = time.monotonic() + 30
        while len(now := children.read_text(encoding="utf-8").split()) < 2 or first[0] in now:
            assert time.monotonic() < until
            time.sleep(0.1)
        for _ in range(8):
            well(server)
        assert server.get("/ready").status == 200


def test_a_port_that_is_taken_is_an_error_that_says_so(server: Served) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ropewalk", "serve", "--port", str(server.port)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert re.search(rf"cannot listen at 127.0.0.1 port {server.port}: .*give another", done.stderr)
    assert "Traceback" not in done.stderr


def test_answers_do_not_wait_for_the_client_to_confirm_their_beginnings() -> None:
    delays: list[int] = []

    async def connect() -> None:
        def accepted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            delays.append(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with listen("127.0.0.1", 0) as listening:
            port = listening.getsockname()[1]
            async with await asyncio.start_server(accepted, sock=listening):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                await reader.read()
                writer.close()

    asyncio.run(connect())
    assert len(delays) == 1
    assert delays[0] != 0
