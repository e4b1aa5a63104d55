"""Malformed requests against a running server, on the loopback interface only.

    python tests/fuzz_http.py [--rounds N] [--minutes M] [--seed S] [--first R] [--trace FILE] [--workers W]

Each round damages a good request, drawn from its own seed, and sends it whole or in pieces. Whatever comes back must be
answers in good form, none of them with status 500. Now and then, and at the end, the server must answer a good request
rightly; at the end it must have no request in work, no more memory than before, and a log of one plain line for each
request.
"""

from __future__ import annotations

import json
import random
import re
import socket
import struct
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote_from_bytes

import ropewalk
from fuzz_tools import arguments, run
from process_tools import children, wait_until
from serving_tools import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from serving_tools import Served

TEXT = "The rope maker can't walk backwards all day, said Dr. Smith. Why not?"
TREE = "1\tShe\tshe\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\twalks\twalk\tVERB\t_\t_\t0\troot\t_\t_\n\n"
STATUSES = {100, 200, 204, 304, 400, 404, 405, 408, 413, 415, 421, 503}
QUIET = 0.1  # seconds without an answer after which a request is taken for incomplete
OFTEN = 50  # rounds between two good requests
MOST_GROWTH = 64 << 20  # bytes of memory
LINE = re.compile(r"[\d-]+ [\d:,]+ [A-Z-]+ \S* \d{3} [\d.]+ ms")
JSON: dict[str, list[dict[str, object]]] = {
    "parse": [{"text": TEXT}, {"tokens": [["She", "walks"], ["."]], "output": "conllu"}, {"conllu": TREE}],
    "stream": [{"text": TEXT}, {"tokens": [["She"]]}],
    "convert": [{"conllu": TREE, "output": "svg"}, {"conllu": TREE, "output": "text", "sentence": 1}],
    "draw": [{"conllu": TREE, "labels": ["optimal"], "cover": "proper", "against": TREE}],
    "labels": [{"conllu": TREE, "encodings": ["four-bit", "hexatags"]}],
    "steps": [{"conllu": TREE, "encoding": "optimal"}, {"labels": ["<", ">^/^", ">^"], "words": ["a", "b", "c"]}],
}
FORM = {b"data": TEXT.encode(), b"tokenizer": b"ranges", b"tagger": b"", b"parser": b"", b"output": b"horizontal"}
PATHS = (
    b"/",
    b"/models",
    b"/health",
    b"/ready",
    b"/metrics",
    b"/openapi.json",
    b"/docs",
    b"/api/v1/models",
    b"/static/page.js",
)
NASTY = (
    b"\r\n", b"\n", b"\r", b"\0", b"\x1b[31m", b"\xff", b"\x80", b" ", b"\t", b":", b"%", b"%00", b"%0a", b"%ff", b"//",
    b"/../", b"?", b"#", b"&", b"=", b";", b",", b'"', b"\\", b"{", b"[", b"-1", b"0", b"9" * 20, b"1e400", b"null",
    b"Host: evil.example\r\n", b"Transfer-Encoding: chunked\r\n", b"Content-Length: 5\r\n", b"Expect: 100-continue\r\n",
    b"Connection: upgrade\r\nUpgrade: websocket\r\n", b"HTTP/1.1", b"HTTP/9.9", b"\xe2\x80\xae", b"\xc2\x9b",
    b"\xc3\xa9", b"a" * 5000,
)  # fmt: skip
METHODS = (b"GET", b"GET", b"GET", b"POST", b"HEAD", b"OPTIONS", b"PUT", b"DELETE", b"PRI", b"CONNECT", b"get", b"")
KEEP = b"Connection: keep-alive"
LENGTHS = (b"-1", b"+5", b"0x10", b"1_0", b"", b" ", b"5, 5", b"1" * 30, b"1000000000", b"0", b"00000000012", b"\xb2")


def damaged(data: bytes, chance: random.Random, most: int = 3) -> bytes:
    """Change some bytes, or none."""
    raw = bytearray(data)
    for _ in range(chance.randrange(most + 1)):
        start = chance.randrange(len(raw) + 1)
        stop = min(len(raw), start + chance.choice((0, 0, 1, 2, 10, 100)))
        how = chance.randrange(4)
        if how == 0:
            raw[start:stop] = chance.choice(NASTY)
        elif how == 1:
            del raw[start:stop]
        elif how == 2:
            raw[start:start] = raw[start:stop] * chance.choice((1, 2, 50))
        elif raw:
            raw[start % len(raw)] = chance.randrange(256)
    return bytes(raw)


def request(method: bytes, target: bytes, body: bytes = b"", kind: bytes = b"", *more: bytes) -> bytes:
    """Write a request in good form; `more` are lines of its head, by default one that ends the connection."""
    lines = [method + b" " + target + b" HTTP/1.1", b"Host: localhost", *(more or [b"Connection: close"])]
    if kind:
        lines += [b"Content-Type: " + kind, b"Content-Length: %d" % len(body)]
    return b"\r\n".join([*lines, b"", body])


def good(chance: random.Random, *more: bytes) -> bytes:
    """Write a request that nothing is wrong with."""
    how = chance.randrange(3)
    if how == 0:
        return request(b"GET", chance.choice(PATHS), b"", b"", *more)
    if how == 1:
        return request(b"POST", b"/process", _form(FORM), b"application/x-www-form-urlencoded", *more)
    path = chance.choice(tuple(JSON))
    return request(b"POST", f"/api/v1/{path}".encode(), _json(path, chance), b"application/json", *more)


def _json(path: str, chance: random.Random) -> bytes:
    return json.dumps(chance.choice(JSON[path])).encode()


def _form(fields: dict[bytes, bytes]) -> bytes:
    return b"&".join(name + b"=" + quote_from_bytes(value).encode() for name, value in fields.items())


# ------------------------------------------------------------------ what is sent


def whole(chance: random.Random) -> bytes:
    """Damage anything, wherever."""
    return damaged(good(chance), chance)


def start_line(chance: random.Random) -> bytes:
    """Damage the method, the target and the version."""
    target = damaged(chance.choice((*PATHS, b"/process", b"/api/v1/parse", b"http://evil.example/models")), chance)
    version = chance.choice((b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/0.9", b"HTTP/2.0", b"http/1.1", b""))
    return chance.choice(METHODS) + b" " + target + b" " + version + b"\r\nHost: localhost\r\n\r\n"


def headers(chance: random.Random) -> bytes:
    """Damage headers, have many, long and repeated ones."""
    lines = [
        b"X: " + b"a" * chance.choice((1, 1000, 70_000)),
        b"Accept: */*",
        b"Host: 127.0.0.1",
        b"X-Y: \xff",
        b" folded: 1",
    ]
    more = [damaged(line, chance, 1) for line in chance.choices(lines, k=chance.choice((1, 3, 100)))]
    return request(b"GET", chance.choice(PATHS), b"", b"", *more)


def length(chance: random.Random) -> bytes:
    """Announce another length than the body has, twice, or none."""
    body = _json("parse", chance)
    sizes = [chance.choice((*LENGTHS, b"%d" % len(body), b"%d" % chance.randrange(2 * len(body)))) for _ in range(2)]
    more = [b"Content-Length: " + size for size in sizes[: chance.randrange(3)]]
    if chance.random() < 0.3:
        more.append(
            b"Transfer-Encoding: "
            + chance.choice((b"chunked", b"identity", b"gzip, chunked", b"x", b"chunked, chunked"))
        )
    return (
        request(b"POST", b"/api/v1/parse", body, b"", *more)
        if more
        else request(b"POST", b"/api/v1/parse", body, b"text/plain")
    )


def chunks(chance: random.Random) -> bytes:
    """Damage a body that comes in chunks, and what follows them."""
    body, pieces = _json("parse", chance), []
    while body:
        size = chance.randrange(1, len(body) + 1)
        pieces.append(b"%x%s\r\n%s\r\n" % (size, chance.choice((b"", b"", b";a=b", b" ")), body[:size]))
        body = body[size:]
    end = b"0\r\n" + chance.choice((b"", b"", b"X: y\r\n", b"X: " + b"a" * 70_000 + b"\r\n")) + b"\r\n"
    head = request(
        b"POST", b"/api/v1/parse", b"", b"", b"Transfer-Encoding: chunked", b"Content-Type: application/json"
    )
    return head + damaged(b"".join(pieces) + end, chance, 2)


def json_body(chance: random.Random) -> bytes:
    """Damage JSON, in a request that is in good form."""
    path = chance.choice(tuple(JSON))
    kind = chance.choice(
        (b"application/json",) * 4 + (b"", b"text/plain", b"text/x-conllu", b"application/xml", b"\xff")
    )
    return request(b"POST", f"/api/v1/{path}".encode(), damaged(_json(path, chance), chance), kind or b" ")


def form_body(chance: random.Random) -> bytes:
    """Damage a form, or a query."""
    fields = {name: damaged(value, chance, 1) for name, value in FORM.items() if chance.random() < 0.9}
    form = damaged(_form(fields), chance, 1)
    if chance.random() < 0.5:
        return request(b"GET", b"/process?" + form)
    return request(b"POST", b"/process", form, b"application/x-www-form-urlencoded")


def multipart_body(chance: random.Random) -> bytes:
    """Damage a form in parts."""
    parts = b"".join(
        b'--x\r\nContent-Disposition: form-data; name="' + name + b'"\r\n\r\n' + value + b"\r\n"
        for name, value in FORM.items()
    )
    kind = damaged(b"multipart/form-data; boundary=x", chance, 1).translate(None, b"\r\n")
    return request(b"POST", b"/process", damaged(parts + b"--x--\r\n", chance), kind)


def several(chance: random.Random) -> bytes:
    """Send requests without waiting for answers, the last of them damaged."""
    return b"".join(good(chance, KEEP) for _ in range(chance.randrange(1, 6))) + damaged(good(chance), chance)


def noise(chance: random.Random) -> bytes:
    """Send anything, after a good request or not."""
    return chance.choice((b"", good(chance, KEEP) * 2)) + chance.randbytes(chance.choice((0, 1, 10, 1000, 100_000)))


KINDS: dict[str, Callable[[random.Random], bytes]] = {
    kind.__name__: kind
    for kind in (whole, start_line, headers, length, chunks, json_body, form_body, multipart_body, several, noise)
}

# ------------------------------------------------------------------ what comes back


def sent(server: Served, data: bytes, chance: random.Random) -> bytes:
    """Send bytes whole, in pieces or not to the end, and return what comes back; a client may also just vanish."""
    said = b""
    with socket.create_connection((server.host, server.port), timeout=30) as raw, suppress(ConnectionError):
        pieces = [data] if chance.random() < 0.7 else [data[i : i + 97] for i in range(0, min(len(data), 5000), 97)]
        for piece in pieces:
            raw.sendall(piece)
        if chance.random() < 0.1:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # its end is a reset
            return b""
        if chance.random() < 0.2:
            with suppress(OSError):  # the server may have ended the connection
                raw.shutdown(socket.SHUT_WR)
        raw.settimeout(QUIET)
        with suppress(TimeoutError):
            while piece := raw.recv(65536):
                said += piece
    return said


def statuses(said: bytes, *, bodies: bool) -> list[int]:
    """Read answers, which may be cut at the end, and return their statuses; those to HEAD have no bodies."""
    found = []
    while said:
        head, blank, rest = said.partition(b"\r\n\r\n")
        if not blank:
            break
        start, *lines = head.split(b"\r\n")
        matched = re.fullmatch(rb"HTTP/1\.1 (\d{3}) [ -~]*", start)
        assert matched, said[:200]
        assert all(re.fullmatch(rb"[a-z-]+: [ -~]*", line) for line in lines), head
        found.append(int(matched[1]))
        if not bodies:
            break
        fields = dict(line.split(b": ", 1) for line in lines)
        if b"content-length" in fields:
            rest = rest[int(fields[b"content-length"]) :]
        elif fields.get(b"transfer-encoding") == b"chunked":
            while chunk := re.match(rb"([0-9a-f]+)\r\n", rest):
                rest = rest[chunk.end() + int(chunk[1], 16) + 2 :]
                if chunk[1] == b"0":
                    break
            else:
                assert not rest, rest[:200]
        said = rest
    return found


def demand_right(server: Served, right: str) -> None:
    """Check that a good request gets the parser's answer."""
    body = json.dumps({"text": TEXT, "output": "conllu"})
    answer = server.ask("POST", "/api/v1/parse", body, {"content-type": "application/json"})
    assert (answer.status, answer.text) == (200, right)


def memory(server: Served) -> int:
    """Count the bytes that the processes of a server hold."""
    processes = [server.process.pid, *children(server.process.pid)]
    found = "".join(Path(f"/proc/{process}/status").read_text(encoding="utf-8") for process in processes)
    return 1024 * sum(map(int, re.findall(r"VmRSS:\s*(\d+) kB", found)))


@contextmanager
def watched(workers: int) -> Iterator[tuple[Served, str]]:
    """Start a server, give it and a right answer, and at the end check what became of it."""
    right = ropewalk.load(threads=1)(TEXT).to_conllu()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        with serving("--log", "--max-bytes", "50000", "--workers", str(workers), log=log) as server:
            for _ in range(50):
                demand_right(server, right)
            before = memory(server)
            yield server, right
            demand_right(server, right)
            wait_until(lambda: "\nropewalk_requests_in_flight 0\n" in server.get("/metrics").text)
            assert memory(server) - before < MOST_GROWTH
        assert server.process.returncode == 0
        log.seek(0)
        odd = [line for line in log.read().splitlines()[1:] if not LINE.fullmatch(line)]
        assert not odd, odd[:20]


def main() -> int:
    """Send requests until there are no more rounds or there is no more time."""
    options = arguments("Malformed requests against a server.")
    options.add_argument("--workers", type=int, default=1)
    given = options.parse_args()
    with watched(given.workers) as (server, right):

        def one_round(seed: tuple[int, int]) -> tuple[str, bool]:
            chance = random.Random("{} {}".format(*seed))  # noqa: S311 - the same request for the same seed
            name = chance.choice(tuple(KINDS))
            data = KINDS[name](chance)
            found = statuses(sent(server, data, chance), bodies=b"HEAD" not in data)
            assert set(found) <= STATUSES, (found, data[:2000])
            if seed[1] % OFTEN == 0:
                demand_right(server, right)
            return name, 200 in found

        return run(given, KINDS, one_round)


if __name__ == "__main__":
    sys.exit(main())
