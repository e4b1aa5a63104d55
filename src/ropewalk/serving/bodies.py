"""HTTP request bodies: receive them within limits, and read the fields of forms and queries."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING, final
from urllib.parse import unquote_to_bytes

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File, FormParser, parse_options_header

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
LONGEST_HEADER = 4096
READABLE_CHARSETS = {b"utf-8", b"utf8", b"us-ascii", b"ascii"}
logger = logging.getLogger("ropewalk.serving")


@final
class Bodies:
    """Receiver of request bodies; it limits their length, their duration, and the bytes of all bodies in memory."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._metrics = metrics
        self._held = 0

    async def receive(self, receive: Receive, announced: str | None) -> bytes:
        """Receive and return the body of a request; raise a `RequestError` if it exceeds a limit.

        `receive` is that of ASGI. `announced` is the Content-Length header, None if there is none.
        """
        most = self._settings.max_bytes
        if announced is not None and announced.isdecimal() and int(announced[:19]) > most:
            raise RequestError(413, f"the body has {announced[:19]} bytes; send at most {most} in one request")
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
            raise RequestError(
                408, f"the body did not arrive within {self._settings.max_seconds:g} s; send it faster, or in parts"
            ) from late
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
            raise RequestError(400, "the client disconnected before it had sent the whole body; send it again")
        piece: bytes = message.get("body", b"")
        return piece


def content_type(header: str) -> tuple[str, dict[bytes, bytes]]:
    """Return the media type and the parameters of a Content-Type header such as `text/plain; charset=utf-8`."""
    kind, parameters = parse_options_header(header[:LONGEST_HEADER])
    return kind.decode("latin-1").lower(), parameters


def query_fields(query: bytes) -> dict[str, str]:
    """Return names and values of the fields in a URL query, or in a form body that is encoded like one."""
    if not query:
        return {}
    pairs = [pair.partition(b"=") for pair in query.split(b"&", MOST_FIELDS)]
    if len(pairs) > MOST_FIELDS:
        raise RequestError(400, f"the form has more than {MOST_FIELDS} fields")
    return _once(
        (_text(_unquoted(name), "a name"), _text(_unquoted(value), "a value")) for name, _, value in pairs if name
    )


def form_fields(header: str, body: bytes) -> dict[str, str]:
    """Return names and values of the fields in a form; `header` is the Content-Type of its `body`.

    The form is URL-encoded or multipart. Raise a `RequestError` for another type, unless the body is empty.
    """
    kind, parameters = content_type(header)
    if kind == MULTIPART:
        return _once(_parts(body, parameters.get(b"boundary", b"")))
    if kind == FORM:
        return query_fields(body)
    if not body:
        return {}
    raise RequestError(400, f"the body is {kind[:80] or 'of no type'}; send a form: {FORM} or {MULTIPART}")


def _once(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for name, value in pairs:
        if name in fields:
            raise RequestError(400, f"the field {name[:80]!r} is given twice; send it once")
        fields[name] = value
    return fields


def _unquoted(value: bytes) -> bytes:
    return unquote_to_bytes(value.replace(b"+", b" "))


def _text(value: bytes, what: str) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as failure:
        raise RequestError(
            400, f"byte {failure.start + 1} of {what}, 0x{value[failure.start]:02x}, is not UTF-8; send UTF-8"
        ) from failure


def _parts(body: bytes, boundary: bytes) -> list[tuple[str, str]]:
    """Return the names and values of the fields in a multipart form (RFC 7578)."""
    if not 0 < len(boundary) <= 70 or not boundary.isascii():
        raise RequestError(400, "the multipart form has no boundary; add one of 1 to 70 characters to Content-Type")
    if re.fullmatch(rb"(?:--%b\s+)?--%b--\s*" % ((re.escape(boundary),) * 2), body):
        return []  # mail programs write a form without fields as one empty part
    fields: list[tuple[str, str]] = []
    ends: list[bool] = []

    def keep(part: Field | File) -> None:
        if len(fields) == MOST_FIELDS:
            raise RequestError(400, f"the form has more than {MOST_FIELDS} fields")
        name = _text(part.field_name or b"", "a name")
        charset = content_type(part.content_type or "")[1].get(b"charset", b"utf-8").lower()
        if charset not in READABLE_CHARSETS:
            shown = charset.decode("latin-1")[:40]
            raise RequestError(400, f"the field {name[:80]!r} is written in {shown!r}; send UTF-8")
        if isinstance(part, File):
            part.file_object.seek(0)
        value = part.value if isinstance(part, Field) else part.file_object.read()
        fields.append((name, _text(value or b"", f"the field {name[:80]!r}")))

    in_memory = {"MAX_MEMORY_FILE_SIZE": len(body), "UPLOAD_ERROR_ON_BAD_CTE": True}
    parser = FormParser(MULTIPART, keep, keep, lambda: ends.append(True), boundary, config=in_memory)
    try:
        parser.write(body[max(body.find(b"--" + boundary), 0) :])  # text before the first part is skipped
    except FormParserError as failure:
        expected = (
            'Content-Disposition: form-data; name="…" and an empty line before each value, lines that end in CR LF'
        )
        raise RequestError(400, f"the multipart form cannot be read: {failure}; expected {expected}") from failure
    if not ends:
        raise RequestError(400, "the multipart form has no end; finish it with its boundary and two dashes")
    return fields
