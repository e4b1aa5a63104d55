"""A parser that `ropewalk serve` serves, used as if it were here: the same calls, the same documents."""

from __future__ import annotations

import http.client
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, final
from urllib.parse import urlsplit

from ropewalk import conllu
from ropewalk.errors import RequestError, RequestTooLargeError
from ropewalk.treebank.documents import Document
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

KINDS = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}


@final
class Client:
    """One connection to a server, kept open; not to be shared by threads.

    A server that refuses, or does not answer, raises a `RequestError`; for a request that is larger than it takes, a
    `RequestTooLargeError`.
    """

    def __init__(
        self, address: str = "http://127.0.0.1:8080", *, model: str | None = None, timeout: float = 60.0
    ) -> None:
        parts = urlsplit(address)
        if parts.scheme not in KINDS or not parts.hostname:
            raise RequestError(400, f"{address!r} is no address; expected one such as http://127.0.0.1:8080")
        self._path = parts.path.rstrip("/")
        self._connection = KINDS[parts.scheme](parts.hostname, parts.port, timeout=timeout)
        self._address = address
        about = self.models()
        named = {one["name"]: one for one in about["models"]}
        chosen = model or about["default"]
        if chosen not in named:
            self.close()
            raise RequestError(400, f"{address} has no model {chosen!r}; it has: {', '.join(named)}")
        self.model: str = chosen
        self.generator: str = named[chosen]["generator"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def models(self) -> dict[str, Any]:
        """List the server's models and limits."""
        found: dict[str, Any] = json.loads(self._asked("GET", "models"))
        return found

    def __call__(self, text: str) -> Document:
        """Parse a text."""
        return self._parsed({"text": text}, text)

    def pipe(self, texts: Iterable[str]) -> Iterator[Document]:
        """Parse many texts, one document for each, in order."""
        return map(self, texts)

    def tokens(self, sentences: Iterable[Sequence[str]]) -> Document:
        """Parse sentences that are cut into words already."""
        return self._parsed({"tokens": [list(words) for words in sentences]}, None)

    def conllu(self, source: str | Treebank) -> Document:
        """Parse the words of CoNLL-U, a file or what was read from one."""
        bank = source if isinstance(source, Treebank) else conllu.read(source)
        return self._parsed({"conllu": conllu.dumps(bank).decode("utf-8")}, None)

    def _parsed(self, what: dict[str, object], text: str | None) -> Document:
        answer = self._asked("POST", "parse", what | {"model": self.model, "output": "conllu"})
        answer = answer.removeprefix(f"# generator = {self.generator}\n".encode())
        bank = conllu.loads(answer, self._address) if answer else Treebank.of([])
        return Document(bank, text, self.generator)

    def _asked(self, method: str, path: str, what: dict[str, object] | None = None) -> bytes:
        body = None if what is None else json.dumps(what).encode("utf-8")
        headers = {} if body is None else {"content-type": "application/json"}
        fresh = self._connection.sock is None
        try:
            return self._answer(method, path, body, headers)
        except (http.client.HTTPException, OSError) as failure:
            self._connection.close()
            if fresh or isinstance(failure, TimeoutError):
                raise RequestError(
                    503, f"{self._address} does not answer: {failure}; is the server running?"
                ) from failure
        return self._asked(method, path, what)  # the server had closed an idle connection

    def _answer(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        with suppress(BrokenPipeError, ConnectionResetError):  # who refuses a body may answer before all is sent
            self._connection.request(method, f"{self._path}/api/v1/{path}", body, headers)
        response = self._connection.getresponse()
        answer: bytes = response.read()
        if response.status == http.HTTPStatus.OK:
            return answer
        if response.status == http.HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            raise RequestTooLargeError(self._address, _reason(answer))
        wait = response.headers.get("retry-after", "")
        raise RequestError(response.status, _reason(answer), retry_after=int(wait[:9]) if wait.isdecimal() else None)


def _reason(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return answer.decode("utf-8", "replace").strip()[:200]
