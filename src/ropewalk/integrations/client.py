"""Client of `ropewalk serve`, with the same calls and documents as a local parser."""

from __future__ import annotations

import http.client
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, final
from urllib.parse import urlsplit

import numpy as np

from ropewalk import conllu
from ropewalk.errors import RequestError, RequestTooLargeError, demand_type
from ropewalk.search import Matches
from ropewalk.treebank.documents import Document
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

KINDS = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}


@final
class Client:
    """Client with one open connection to a server; threads must not share it.

    `model` is the name of a model of the server, by default the server's default model; `timeout` is in seconds. All
    methods raise `RequestError` if the server refuses a request or does not respond, and `RequestTooLargeError` if a
    request is too large.
    """

    def __init__(
        self, address: str = "http://127.0.0.1:8080", *, model: str | None = None, timeout: float = 60.0
    ) -> None:
        parts = urlsplit(address)
        if parts.scheme not in KINDS or not parts.hostname:
            raise RequestError(400, f"{address!r} is no address; pass one such as http://127.0.0.1:8080")
        self._path = parts.path.rstrip("/")
        self._connection = KINDS[parts.scheme](parts.hostname, parts.port, timeout=timeout)
        self._address = address
        about = self.models()
        named = {facts["name"]: facts for facts in about["models"]}
        chosen = model or about["default"]
        if chosen not in named:
            self.close()
            raise RequestError(400, f"{address} has no model {chosen!r}; choose one of: {', '.join(named)}")
        self.model: str = chosen
        self.generator: str = named[chosen]["generator"]

    def __repr__(self) -> str:
        return f"<Client of {self._address}, model {self.model}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def models(self) -> dict[str, Any]:
        """Return the models and the limits of the server, as `/api/v1/models` answers them."""
        models: dict[str, Any] = json.loads(self._sent("GET", "models"))
        return models

    def __call__(self, text: str) -> Document:
        """Parse a text on the server; return it as a document."""
        return self._parsed({"text": text}, text)

    def pipe(self, texts: Iterable[str]) -> Iterator[Document]:
        """Yield one parsed document for each text, in order, with one request for each."""
        return map(self, texts)

    def tokens(self, sentences: Iterable[Sequence[str]]) -> Document:
        """Parse sentences that are lists of words already; return them as a document."""
        return self._parsed({"tokens": [list(words) for words in sentences]}, None)

    def conllu(self, source: str | Treebank) -> Document:
        """Parse the sentences of a CoNLL-U file or a treebank; return them as a document."""
        bank = source if isinstance(source, Treebank) else conllu.read(source)
        return self._parsed({"conllu": _written(bank)}, None)

    def search(self, source: str | Document | Treebank, pattern: str) -> Matches:
        """Find the matches of a pattern on the server, as `Document.search` does on this machine.

        A text is parsed first. The trees of a document or a treebank are searched as they are.
        """
        document = self(source) if isinstance(source, str) else source
        demand_type("what to search", document, Document, Treebank)
        bank = document.treebank if isinstance(document, Document) else document
        answer = json.loads(self._sent("POST", "search", {"conllu": _written(bank), "pattern": pattern}))
        names = tuple(answer["names"])
        rows = [
            [bank.offsets[match["sentence"] - 1].start + word - 1 if word else -1 for word in _words(match, names)]
            for match in answer["matches"]
        ]
        return Matches(bank, names, np.array(rows, dtype=np.int32).reshape(-1, 1 + len(names)))

    def _parsed(self, what: dict[str, object], text: str | None) -> Document:
        answer = self._sent("POST", "parse", what | {"model": self.model, "output": "conllu"})
        answer = answer.removeprefix(f"# generator = {self.generator}\n".encode())
        bank = conllu.loads(answer, self._address) if answer else Treebank.of([])
        return Document(bank, text, self.generator)

    def _sent(self, method: str, path: str, what: dict[str, object] | None = None) -> bytes:
        body = None if what is None else json.dumps(what).encode("utf-8")
        headers = {} if body is None else {"content-type": "application/json"}
        fresh = self._connection.sock is None
        try:
            return self._answer(method, path, body, headers)
        except (http.client.HTTPException, OSError) as failure:
            self._connection.close()
            if fresh or isinstance(failure, TimeoutError):
                problem = f"{self._address} does not respond: {failure}; is the server running?"
                raise RequestError(503, problem) from failure
        return self._sent(method, path, what)  # the server had closed an idle connection

    def _answer(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        with suppress(BrokenPipeError, ConnectionResetError):  # a server that refuses a body may respond early
            self._connection.request(method, f"{self._path}/api/v1/{path}", body, headers)
        response = self._connection.getresponse()
        answer: bytes = response.read()
        if response.status == http.HTTPStatus.OK:
            return answer
        if response.status == http.HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            raise RequestTooLargeError(self._address, _reason(answer))
        wait = response.headers.get("retry-after", "")
        raise RequestError(response.status, _reason(answer), retry_after=int(wait[:9]) if wait.isdecimal() else None)


def _written(bank: Treebank) -> str:
    return conllu.dumps(bank).decode("utf-8")


def _words(match: dict[str, Any], names: tuple[str, ...]) -> list[int]:
    """Return the first word of a match and its named words, from 1; 0 for a name that it does not have."""
    return [match["word"], *(match["words"].get(name, 0) for name in names)]


def _reason(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return answer.decode("utf-8", "replace").strip()[:200]
