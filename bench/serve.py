"""Speed of `ropewalk serve` beside the parser without HTTP, over the loopback only; ends by itself.

python bench/serve.py [--workers N] [--seconds S] [--requests N]: many clients at once, one request alone, and clients
that idle, dawdle and never read. CPU seconds tell more than the clock where other programs run.

It exits with 1 if a request fails, or is not answered as the parser itself would; if, both by the clock and by CPU
time, a request alone takes over 5 ms more than the parser, or clients get less than half the words a second of no HTTP;
or if the server ends with over a tenth more memory than it had after the first 20,000 requests.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
PARTS = (
    ("The old", "A young", "Every patient", "That quiet", "The tall", "One careful", "My late", "No honest"),
    ("rope maker", "sail maker", "harbour master", "night watchman", "village baker", "ship owner", "net mender"),
    ("walked slowly backwards", "talked very quietly", "waited quite patiently", "worked rather happily"),
    ("all day while", "last night because", "this morning although", "that evening until"),
    ("his children", "her brothers", "our neighbours", "their friends", "some sailors"),
    ("twisted long strands", "carried heavy baskets", "mended broken nets", "counted small boats"),
    ("of grey hemp into rope .", "of fresh fish for sale .", "of thin cord with care ."),
)
HEAD = b"POST /api/v1/%s HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
WORDS = 20
MOST_ABOVE = 5.0  # ms that a request alone may take more than the parser
LEAST_SHARE = 0.5  # of the words a second without HTTP
MOST_GROWTH = 1.1  # of the memory after the first round of requests


class Load(NamedTuple):
    """The measurements of many clients."""

    answered: int
    failed: int
    seconds: float
    cpu: float

    @property
    def rate(self) -> float:
        """Words a second."""
        return self.answered * WORDS / self.seconds


def sentences(count: int) -> list[str]:
    """Write different sentences of 20 words, the full stop one of them."""
    out = []
    for number in range(count):
        rest, chosen = number * 7919, []
        for part in PARTS:
            rest, place = divmod(rest, len(part))
            chosen.append(part[(place + number) % len(part)])
        out.append(" ".join(chosen).replace(" .", "."))
    return out


class Ask(NamedTuple):
    """A request, and what a right answer holds."""

    request: bytes
    right: bytes = b"\t0\troot\t"


def asks(count: int, *, short: bool = False) -> list[Ask]:
    """Ask for the trees of those sentences, and know them; or of few words, all of them new to the parser."""
    if short:
        return [_ask({"tokens": [["rope", f"no{number}", "."]]}) for number in range(count)]
    import ropewalk

    documents = ropewalk.load(threads=1).pipe(sentences(count))
    return [_ask({"text": document.text})._replace(right=document.to_conllu().encode()) for document in documents]


def _ask(fields: dict[str, object]) -> Ask:
    body = json.dumps({**fields, "output": "conllu"}).encode()
    return Ask(HEAD % (b"parse", len(body)) + body)


def family(pid: int) -> list[int]:
    """List a process and all that descend from it."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    return [pid, *(below for child in children for below in family(int(child)))]


def cpu_of(pids: list[int]) -> float:
    """Return the CPU seconds that some processes have used."""
    total = 0.0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / TICKS
    return total


def memory_of(pids: list[int]) -> float:
    """Return the megabytes that some processes use."""
    text = "".join(Path(f"/proc/{pid}/status").read_text(encoding="utf-8") for pid in pids)
    return sum(int(found) for found in re.findall(r"VmRSS:\s*(\d+)", text)) / 1024


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, what: Ask) -> bool:
    """Send one request, read its answer, and return whether it is right."""
    writer.write(what.request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    body = await reader.readexactly(int(length[1])) if length else b""
    return head.startswith(b"HTTP/1.1 200 ") and what.right in body


async def clients(port: int, count: int, seconds: float, what: list[Ask]) -> tuple[int, int]:
    """Ask over `count` connections at once for some seconds; with 0 seconds, each question about once."""
    answered = failed = 0
    until = time.monotonic() + seconds

    async def one(number: int) -> None:
        nonlocal answered, failed
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            while time.monotonic() < until if seconds else answered + failed < len(what):
                number += 1
                good = await ask(reader, writer, what[number % len(what)])
                answered, failed = answered + good, failed + (not good)
            writer.close()
        except (OSError, asyncio.IncompleteReadError):
            failed += 1

    await asyncio.gather(*(one(number * len(what) // count) for number in range(count)))
    return answered, failed


def loaded(port: int, pids: list[int], count: int, seconds: float, what: list[Ask]) -> Load:
    """Load a server from another process."""
    before, begun = cpu_of(pids), time.monotonic()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        answered, failed = pool.apply(_run, (port, count, seconds, what))
    return Load(answered, failed, time.monotonic() - begun, cpu_of(pids) - before)


def _run(port: int, count: int, seconds: float, what: list[Ask]) -> tuple[int, int]:
    return asyncio.run(clients(port, count, seconds, what))


def bare(seconds: float) -> tuple[int, float]:
    """Parse the same sentences without HTTP for so long; give how many, and the CPU seconds."""
    import ropewalk

    parser = ropewalk.load(threads=1)
    texts = sentences(500)
    list(parser.pipe(texts[:64]))
    done, begun, until = 0, time.process_time(), time.monotonic() + seconds
    while time.monotonic() < until:
        start = done % 448
        done += sum(1 for document in parser.pipe(texts[start : start + 64]) if document.to_conllu())
    return done, time.process_time() - begun


def without_http(workers: int, seconds: float) -> Load:
    """Parse in as many processes as the server has."""
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        found = pool.map(bare, [seconds] * workers)
    return Load(sum(count for count, _ in found), 0, seconds, sum(cpu for _, cpu in found))


class Alone(NamedTuple):
    """Milliseconds of one sentence alone: medians by the clock, means of CPU time."""

    own: float
    served: float
    own_cpu: float
    served_cpu: float

    @property
    def above(self) -> float:
        """Milliseconds that a request takes more than the parser: by the clock or by CPU time, whichever is less."""
        return min(self.served - self.own, self.served_cpu - self.own_cpu)

    def __str__(self) -> str:
        return (
            f"the parser takes {self.own:.1f} ms, a request {self.served:.1f} ms: {self.served - self.own:+.1f} ms; "
            f"by CPU time {self.own_cpu:.1f} and {self.served_cpu:.1f} ms: {self.served_cpu - self.own_cpu:+.1f} ms"
        )


async def alone(port: int, pids: list[int], count: int) -> Alone:
    """Measure the parser itself and one request alone, in turns."""
    import ropewalk

    parser = ropewalk.load(threads=1)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    own, served, own_cpu = [], [], 0.0
    before = cpu_of(pids)
    for text, what in zip(sentences(count), asks(count), strict=True):
        begun, begun_cpu = time.perf_counter(), time.process_time()
        parser(text).to_conllu()
        between = time.perf_counter()
        own_cpu += time.process_time() - begun_cpu
        assert await ask(reader, writer, what)  # noqa: S101 - a figure of failures would mean nothing
        own.append(between - begun)
        served.append(time.perf_counter() - between)
    writer.close()
    used = cpu_of(pids) - before
    medians = (statistics.median(own[20:]) * 1000, statistics.median(served[20:]) * 1000)
    return Alone(*medians, own_cpu / count * 1000, used / count * 1000)


def hostile(port: int, stack: contextlib.ExitStack) -> None:
    """Open 1,000 idle connections, 50 that never end their requests, and 5 that never read."""
    for _ in range(1000):
        stack.enter_context(socket.create_connection(("127.0.0.1", port)))
    for _ in range(50):
        stack.enter_context(socket.create_connection(("127.0.0.1", port))).sendall(b"POST /process HTTP/1.1\r\n")
    body = json.dumps({"text": " ".join(sentences(500))}).encode()
    for _ in range(5):
        raw = stack.enter_context(socket.socket())
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.connect(("127.0.0.1", port))
        raw.sendall(HEAD % (b"stream", len(body)) + body)


def show(name: str, load: Load) -> None:
    """Print one load."""
    per_cpu = load.answered * WORDS / load.cpu if load.cpu else 0
    print(
        f"{name}: {load.answered:,} sentences in {load.seconds:.1f} s, {load.rate:,.0f} words a second, "
        f"{per_cpu:,.0f} words a CPU second, {load.failed} failed or wrong"
    )


def reached(what: str, *, fine: bool) -> bool:
    """Print whether a bar is reached."""
    print(f"  bar: {what}{'' if fine else '   MISSED'}", flush=True)
    return fine


def measure(port: int, pids: list[int], workers: int, count: int, seconds: float) -> bool:
    """Measure one request alone, many at once, and one beside hostile clients; tell whether all bars are reached."""
    one = asyncio.run(alone(port, pids, 320))
    print(f"one alone: {one}")
    bars = [reached(f"at most {MOST_ABOVE:.0f} ms above the parser", fine=one.above <= MOST_ABOVE)]
    what = asks(500)
    loaded(port, pids, count, 2, what)
    http = loaded(port, pids, count, seconds, what)
    show(f"{count} clients, {workers} processes", http)
    bars.append(reached("none failed or wrong", fine=not http.failed and http.answered > 0))
    base = without_http(workers, seconds)
    show("the same without HTTP", base)
    share = (http.answered / http.cpu) / (base.answered / base.cpu)
    print(f"share reached over HTTP: {http.rate / base.rate:.0%} by the clock, {share:.0%} by CPU time")
    bars.append(reached(f"at least {LEAST_SHARE:.0%}", fine=max(http.rate / base.rate, share) >= LEAST_SHARE))
    with contextlib.ExitStack() as stack:
        hostile(port, stack)
        print(f"beside 1,055 hostile connections: {asyncio.run(alone(port, pids, 120))}")
    return all(bars)


def watch_memory(port: int, pids: list[int], count: int, requests_in_all: int) -> bool:
    """Print what the server holds as requests go by; tell whether none failed and memory did not grow."""
    done, failed, held = 0, 0, []
    while done < requests_in_all:
        load = loaded(port, pids, count, 0, asks(min(20_000, requests_in_all - done), short=True))
        done, failed = done + load.answered + load.failed, failed + load.failed
        held.append(memory_of(pids))
        print(f"after {done:,} requests: {held[-1]:.1f} MB, {load.failed} failed", flush=True)
    flat = reached(f"at most {MOST_GROWTH} times what it was at first", fine=held[-1] <= MOST_GROWTH * held[0])
    return reached("none failed", fine=not failed) and flat


def main() -> None:
    """Measure, and fail if a bar is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--clients", type=int, default=64)
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--requests", type=int, default=0, help="only so many short requests, to watch the memory")
    given = options.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    program = [sys.executable, "-m", "ropewalk", "serve", "--port", "0", "--workers", str(given.workers)]
    server = subprocess.Popen(program, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None  # noqa: S101 - it was asked for
    found = next(filter(None, (re.search(r"http://[\d.]+:(\d+) ", line) for line in server.stderr)), None)
    assert found is not None  # noqa: S101 - the server says where it is
    port = int(found[1])
    pids = family(server.pid)
    try:
        if given.requests:
            fine = watch_memory(port, pids, given.clients, given.requests)
        else:
            fine = measure(port, pids, given.workers, given.clients, given.seconds)
    finally:
        server.terminate()
        server.wait(60)
    sys.exit(not fine)


if __name__ == "__main__":
    main()
