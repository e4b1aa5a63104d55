"""Bodies of requests: received within limits, and forms read from them."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING, final
from urllib.parse import unquote_to_bytes

from ropewalk.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable, MutableMapping
    from typing import Any

    from starlette.types import Receive

    from ropewalk.serving.metrics import Metrics
    from ropewalk.serving.settings import Settings

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
MOST_FIELDS = 100
LONGEST_LOGGED = 2000
PARAMETER = re.compile(r';\s*([^=;\s"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]*))\s*')
READABLE_ENCODINGS = {"", "7bit", "8bit", "binary"}
logger = logging.getLogger("ropewalk.serving")


@final
class Bodies:
    """Receives bodies: none longer than allowed, none slower, and not too many at once."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._metrics = metrics
        self._held = 0

    async def receive(self, receive: Receive, announced: str | None) -> bytes:
        """Receive a body; `announced` is its Content-Length, if it has one."""
        most = self._settings.max_bytes
        if announced is not None and announced.isdecimal() and int(announced[:19]) > most:
            raise RequestError(413, f"the body has {announced[:19]} bytes; at most {most} are taken: send it in parts")
        pieces: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._settings.max_seconds):
                while True:
                    message = await receive()
                    piece = self._piece(message)
                    size += len(piece)
                    self._held += len(piece)
                    if size > most:
                        raise RequestError(413, f"the body has more than {most} bytes; send it in parts")
                    if self._held > self._settings.held_bytes:
                        raise RequestError(503, "too many bytes are being received; try again", retry_after=1)
                    pieces.append(piece)
                    if not message.get("more_body", False):
                        break
        except TimeoutError as late:
            raise RequestError(408, f"the body did not arrive within {self._settings.max_seconds:g} s") from late
        finally:
            self._held -= size
        self._metrics.received(size)
        body = b"".join(pieces)
        if self._settings.log_text:
            logger.info("received %r", body[:LONGEST_LOGGED])
        return body

    @staticmethod
    def _piece(message: MutableMapping[str, Any]) -> bytes:
        if message["type"] == "http.disconnect":
            raise RequestError(400, "the client went away before it had sent all")
        piece: bytes = message.get("body", b"")
        return piece


def content_type(header: str) -> tuple[str, dict[str, str]]:
    """Read a header such as `text/plain; charset=utf-8`: its kind, and its parameters."""
    kind, mark, rest = header.partition(";")
    found = {
        name.lower(): _unescaped(quoted) if quoted else bare for name, quoted, bare in PARAMETER.findall(mark + rest)
    }
    return kind.strip().lower(), found


def query_fields(query: bytes) -> dict[str, str]:
    """Read the fields of a query, or of a form that is written like one."""
    if not query:
        return {}
    pairs = [pair.partition(b"=") for pair in query.split(b"&", MOST_FIELDS)]
    if len(pairs) > MOST_FIELDS:
        raise RequestError(400, f"the form has more than {MOST_FIELDS} fields")
    return _once(
        (_text(_unquoted(name), "a name"), _text(_unquoted(value), "a value")) for name, _, value in pairs if name
    )


def form_fields(header: str, body: bytes) -> dict[str, str]:
    """Read the fields of a form, written like a query or in parts."""
    kind, parameters = content_type(header)
    if kind == MULTIPART:
        return _once(_parts(body, parameters))
    if kind == FORM:
        return query_fields(body)
    if not body:
        return {}
    raise RequestError(400, f"the body is {kind[:80] or 'of no kind'}; expected a form: {FORM} or {MULTIPART}")


def _once(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise RequestError(400, f"the field {name[:80]!r} is given twice; give it once")
        found[name] = value
    return found


def _unquoted(value: bytes) -> bytes:
    return unquote_to_bytes(value.replace(b"+", b" "))


def _text(value: bytes, what: str) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as failure:
        raise RequestError(
            400, f"byte {failure.start + 1} of {what}, 0x{value[failure.start]:02x}, is not UTF-8; expected UTF-8"
        ) from failure


def _unescaped(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted)


def _parts(body: bytes, parameters: dict[str, str]) -> Iterable[tuple[str, str]]:
    """Take a body of parts asunder, as RFC 7578 and RFC 2046 describe them."""
    boundary = parameters.get("boundary", "")
    if not 0 < len(boundary) <= 70 or not boundary.isascii():
        raise RequestError(400, "the multipart form names no boundary of 1 to 70 characters")
    border = re.compile(rb"(?:\A|\r?\n)--" + re.escape(boundary.encode("ascii")) + rb"(--)?[ \t]*(?:\r?\n|\Z)")
    start: int | None = None
    at, count = 0, 0
    while (found := border.search(body, at)) is not None:
        if start is not None and body[start : found.start()].strip():  # a form without fields is one empty part
            yield _part(body[start : found.start()])
        if found[1]:
            return
        count += 1
        if count > MOST_FIELDS:
            raise RequestError(400, f"the form has more than {MOST_FIELDS} fields")
        start = found.end()
        at = max(start - 2, found.start() + 1)  # the line break after one border may be that before the next
    raise RequestError(400, "the multipart form does not end with its boundary and two dashes")


def _part(part: bytes) -> tuple[str, str]:
    blank = re.search(rb"(?:\A|\r?\n)\r?\n", part)
    if blank is None:
        raise RequestError(400, "a part of the multipart form has no empty line after its headers")
    headers: dict[str, str] = {}
    for line in re.split(rb"\r?\n(?![ \t])", part[: blank.start()]):
        name, colon, value = line.partition(b":")
        if line and not colon:
            raise RequestError(400, "a part of the multipart form has a header without a colon")
        headers[name.strip().lower().decode("latin-1")] = re.sub(r"\r?\n[ \t]+", " ", _text(value, "a header")).strip(
            " \t"
        )
    kind, about = content_type(headers.get("content-disposition", ""))
    if kind != "form-data" or "name" not in about:
        raise RequestError(
            400, 'a part of the multipart form has no name; expected Content-Disposition: form-data; name="…"'
        )
    way = headers.get("content-transfer-encoding", "").lower()
    if way not in READABLE_ENCODINGS:
        raise RequestError(400, f"the field {about['name'][:80]!r} is sent as {way[:40]!r}; expected 8bit or binary")
    charset = content_type(headers.get("content-type", ""))[1].get("charset", "utf-8").lower()
    if charset not in {"utf-8", "utf8", "us-ascii", "ascii"}:
        raise RequestError(400, f"the field {about['name'][:80]!r} is written in {charset[:40]!r}; expected UTF-8")
    return about["name"], _text(part[blank.end() :], f"the field {about['name'][:80]!r}")
