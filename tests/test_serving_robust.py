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
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest
import uvicorn
from uvicorn.server import ServerState

from process_tools import children, gone, kill, wait_until, workers_of
from ropewalk.errors import RequestError, RequestTooLargeError
from ropewalk.integrations.client import Client
from ropewalk.serving import Settings
from ropewalk.serving.batching import Batcher
from ropewalk.serving.computing import HELP, Call, ParseJob
from ropewalk.serving.crew import Processes
from ropewalk.serving.metrics import Metrics
from ropewalk.serving.process import Connection, listen
from ropewalk.serving.sources import RequestText
from serving_tools import read_to_end, serving
from worker_tools import die_of, fail_oddly, second_word_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from serving_tools import Served

SENTENCE = "The old rope maker walks slowly backwards all day while his children twist long strands of hemp."
BODY = json.dumps({"text": SENTENCE, "output": "conllu"})
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("--max-seconds", "3", "--max-requests", "8") as one:
        yield one


@pytest.mark.parametrize(("address", "size", "accepted"), [("/", 200_000, True), (f"/?{'x' * 100_000}", 0, False)])
def test_a_body_may_come_together_with_its_head(address: str, size: int, accepted: bool) -> None:  # noqa: FBT001 - a case
    """asyncio reads up to 256 KiB at once, which is more than a head may have; browsers send head and body together."""
    received: list[int] = []
    wire = Mock(spec=asyncio.Transport)
    wire.is_closing.return_value = False
    wire.get_write_buffer_size.return_value = 0

    async def application(_: object, receive: Callable[[], Awaitable[dict[str, bytes]]], __: object) -> None:
        received.append(len((await receive())["body"]))

    async def once() -> None:
        connection = Connection(uvicorn.Config(application, lifespan="off"), ServerState(), {})
        connection.connection_made(wire)
        head = f"POST {address} HTTP/1.1\r\nHost: here\r\nContent-Length: {size}\r\n\r\n"
        connection.data_received(head.encode() + b"x" * size)
        await asyncio.sleep(0)
        connection.connection_lost(None)

    asyncio.run(once())
    assert received == ([size] if accepted else [])
    refused = [call for call in wire.write.call_args_list if call.args[0].startswith(b"HTTP/1.1 400")]
    assert bool(refused) != accepted


def well(server: Served, most: float = 20.0) -> None:
    """See that others are served; the time allowed is for a busy machine."""
    until = time.monotonic() + most
    while (status := server.ask("POST", "/api/v1/parse", BODY, JSON).status) == 503:
        assert time.monotonic() < until
    assert status == 200
    assert time.monotonic() < until


def test_a_client_that_sends_a_byte_now_and_then_is_cut_off_and_hurts_nobody(server: Served) -> None:
    head = b"POST /api/v1/parse HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n"
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
    request = (
        b"POST /api/v1/%s HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    )
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
            raw.sendall(
                b"POST /api/v1/parse HTTP/1.1\r\nhost: localhost\r\n" + b"content-length: %d\r\n\r\n" % len(BODY)
            )
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
        raw.sendall(b"POST /process HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n")
        piece = b"100000\r\n" + b"a" * (1 << 20) + b"\r\n"
        try:
            for _ in range(1000):
                raw.sendall(piece)
        except OSError:
            pass
        well(server)
    with socket.create_connection((server.host, server.port), timeout=30) as raw:
        raw.sendall(b"POST /process HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000000\r\n\r\nabc")
        assert raw.recv(65536).startswith(b"HTTP/1.1 413 ")
    with socket.create_connection((server.host, server.port), timeout=30) as raw:
        with suppress(OSError):
            raw.sendall(b"GET / HTTP/1.1\r\nx: " + b"a" * (1 << 20))
        assert read_to_end(raw)[:12] in {b"", b"HTTP/1.1 400"}
    well(server)
    assert _memory(server) - before < 64 << 20


HUGE = 100_000_000


@pytest.fixture(scope="module")
def ordinary() -> Iterator[Served]:
    with serving() as one:
        yield one


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("path", ["/process", "/api/v1/parse?output=conllu"])
def test_urllib_reads_that_a_request_is_too_large(ordinary: Served, path: str, *, chunked: bool) -> None:
    body = iter([b"a" * (HUGE // 100)] * 100) if chunked else b"a" * HUGE
    request = urllib.request.Request(f"{ordinary.address}{path}", body, {"content-type": "text/plain"})  # noqa: S310
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=60)  # noqa: S310 - our own address
    with refused.value as answer:
        assert (answer.status, answer.headers["connection"]) == (413, "close")
        assert b"1000000" in answer.read()


def test_udpipes_client_reads_that_a_request_is_too_large(ordinary: Served) -> None:
    answer = ordinary.parts("/process", tokenizer="", parser="", data="a" * HUGE)
    assert answer.status == 413
    assert "send at most 1000000 in one request" in answer.text


def test_our_client_says_that_a_request_is_too_large_and_goes_on(ordinary: Served) -> None:
    with Client(ordinary.address) as client:
        for _ in range(2):
            with pytest.raises(RequestTooLargeError, match=r"too large for http://.*send at most 1000000") as refused:
                client("a" * HUGE)
            assert refused.value.status == 413
            assert len(client(SENTENCE)) == 1


def test_our_client_reads_an_answer_that_came_before_all_was_sent() -> None:
    """As from a server that closes at once: what it wrote before is there to be read."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            for status, body in (
                (b"200 OK", b'{"models": [{"name": "a", "generator": "b"}], "default": "a"}'),
                (b"413 No", b""),
            ):
                connection, _ = listening.accept()
                with connection:
                    connection.recv(65536)
                    head = b"HTTP/1.1 %s\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
                    connection.sendall(head % (status, len(body)) + body)
                    time.sleep(0.2)  # or the answer might never have left

        thread = threading.Thread(target=answer)
        thread.start()
        client = Client(f"http://127.0.0.1:{listening.getsockname()[1]}")
        with client, pytest.raises(RequestTooLargeError, match=r"too large for .*: send it in parts"):
            client("a" * HUGE)
        thread.join()


def _can_send(raw: socket.socket) -> bool:
    try:
        raw.sendall(b"abc")
    except ConnectionError:
        return False
    return True


def test_a_refused_client_cannot_send_for_ever() -> None:
    with serving("--max-seconds", "1") as server:
        with socket.create_connection((server.host, server.port), timeout=30) as raw:
            raw.sendall(b"POST /process HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000000\r\n\r\nabc")
            assert raw.recv(65536).startswith(b"HTTP/1.1 413 ")
            wait_until(lambda: not _can_send(raw), 20)
        well(server)


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


@contextmanager
def loaded(server: Served, clients: int = 24) -> Iterator[list[int]]:
    """Load a server, which may stop meanwhile but must lose no request; gives the statuses of all answers."""
    stop, done, lost = threading.Event(), list[int](), list[str]()
    threads = [threading.Thread(target=load, args=(server, stop, done, lost)) for _ in range(clients)]
    for thread in threads:
        thread.start()
    try:
        wait_until(lambda: len(done) >= 100)
        yield done
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert lost == []
    assert set(done) == {200}


def refuses(server: Served) -> bool:
    """Whether nobody listens any more; another server can then have the port."""
    try:
        socket.create_connection((server.host, server.port)).close()
    except ConnectionRefusedError:
        listen(server.host, server.port).close()
        return True
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_signal_under_load_ends_the_server_and_answers_every_request(workers: int, number: int) -> None:
    with serving("--workers", str(workers)) as server:
        started = children(server.process.pid)
        with loaded(server):
            server.process.send_signal(number)
            assert server.process.wait(60) == 0
        assert refuses(server)
        wait_until(lambda: all(map(gone, started)))


def test_a_signal_to_all_processes_at_once_loses_no_request() -> None:
    """As systemd sends it to a unit, and a terminal that is closed to all that it started."""
    with serving("--workers", "2") as server:
        started = children(server.process.pid)
        with loaded(server):
            for process in (*started, server.process.pid):
                os.kill(process, signal.SIGTERM)
            assert server.process.wait(60) == 0
        wait_until(lambda: all(map(gone, started)))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_second_interrupt_ends_the_server_at_once_and_in_silence(workers: int) -> None:
    body = json.dumps({"text": f"{SENTENCE} " * 5000}).encode()
    with serving("--workers", str(workers)) as server, socket.socket() as raw:
        started = children(server.process.pid)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.connect((server.host, server.port))
        raw.sendall(b"POST /api/v1/stream HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        assert raw.recv(1) == b"H"  # and reads no more of it
        server.process.send_signal(signal.SIGINT)
        wait_until(lambda: refuses(server))
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(20) == 0
        assert server.process.stderr is not None
        assert server.process.stderr.read() == ""
        wait_until(lambda: all(map(gone, started)))


@pytest.mark.parametrize("workers", [1, 2])
def test_sighup_stays_ignored_where_it_was(workers: int) -> None:
    with serving("--workers", str(workers), through=["nohup"]) as server:
        for process in (server.process.pid, *children(server.process.pid)):
            os.kill(process, signal.SIGHUP)
        well(server)
        assert server.process.poll() is None


def test_workers_end_with_a_server_that_is_killed() -> None:
    with serving("--workers", "3") as server:
        started = children(server.process.pid)
        assert len(started) == 4  # three workers, and the process that forks them
        threads = [
            threading.Thread(target=load, args=(server, threading.Event(), [], []), daemon=True) for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        well(server)
        server.process.kill()
        assert server.process.wait(60) == -signal.SIGKILL
        wait_until(lambda: all(map(gone, started)))
        assert refuses(server)


def test_a_worker_that_dies_is_replaced_and_loses_no_request() -> None:
    with serving("--workers", "2") as server:
        first = workers_of(server.process.pid)
        assert len(first) == 2
        with loaded(server) as done:
            for process in first:
                kill(process)
                answered = len(done)
                wait_until(lambda: len(done) > answered + 100)  # noqa: B023 - called at once
        wait_until(lambda: len(workers_of(server.process.pid)) == 2)
        assert not set(first) & set(workers_of(server.process.pid))
        assert server.get("/ready").status == 200


def test_the_process_that_forks_workers_is_replaced_when_it_is_needed() -> None:
    with serving("--workers", "2") as server:
        first = workers_of(server.process.pid)
        [above] = set(children(server.process.pid)) - set(first)
        kill(above)
        well(server)
        kill(first[0])
        wait_until(lambda: len(workers_of(server.process.pid)) == 1)
        kill(first[1])
        wait_until(lambda: len(workers_of(server.process.pid)) == 2)
        well(server)


def test_a_request_that_kills_workers_is_refused_and_hurts_no_other_of_its_batch() -> None:
    async def ask() -> list[object]:
        crew = Processes(Settings(), 2)
        try:
            await crew.start()
            batcher = Batcher(crew, "en", Metrics({}), words=2048)
            jobs = [ParseJob(RequestText(f"Rope {n} is long."), die_of if n == 3 else second_word_of) for n in range(8)]
            return list(await asyncio.gather(*map(batcher.run, jobs), return_exceptions=True))
        finally:
            crew.stop()

    answers = asyncio.run(ask())
    refused = answers.pop(3)
    assert answers == ["0", "1", "2", "4", "5", "6", "7"]
    assert isinstance(refused, RequestError)
    assert (refused.status, "3 worker processes died" in str(refused)) == (500, True)


def test_an_error_of_a_worker_process_keeps_its_traceback() -> None:
    async def ask() -> object:
        crew = Processes(Settings(), 2)
        try:
            await crew.start()
            return await Batcher(crew, HELP, Metrics({})).run(Call(fail_oddly))
        finally:
            crew.stop()

    with pytest.raises(RuntimeError, match="in fail_oddly"):
        asyncio.run(ask())


def test_a_port_that_is_taken_is_an_error_that_says_so(server: Served) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ropewalk", "serve", "--port", str(server.port)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert re.search(rf"cannot listen at 127.0.0.1 port {server.port}: .*choose another", done.stderr)
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
