"""Endpoints: one value holds the path, what answers there, its label in the metrics and its description in OpenAPI.

`api.ENDPOINTS` lists those of our own API. Another package adds one through the entry point group
`ropewalk.endpoints`, whose objects are `Endpoint`s; docs/own-endpoint.md is a worked example.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

from starlette.responses import Response
from starlette.routing import Route

from ropewalk import formats
from ropewalk.core.repair import POLICIES
from ropewalk.core.ropes import COVERS
from ropewalk.errors import OptionError, RequestError
from ropewalk.formats.json import compact
from ropewalk.serving.bodies import content_type, query_fields
from ropewalk.serving.fields import Fields
from ropewalk.serving.sources import Conllu, RequestText, Words
from ropewalk.serving.views import FORMS, THEMES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.requests import Request

    from ropewalk.serving.service import Service
    from ropewalk.serving.sources import RequestSource

    Handler = Callable[[Request, Service], Awaitable[Response]]
    Schema = dict[str, Any]

NAME = re.compile("[a-z][a-z0-9-]*")
SOURCES = ("text", "tokens", "conllu")
OUTPUTS = (*(name for name, one in formats.known().items() if one.media_type), *FORMS)
EXAMPLE = "She walks backwards all day, twisting hemp into rope."
EXAMPLE_CONLLU = (
    "1\tShe\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n"
    "2\ttwists\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
    "3\themp\t_\tNOUN\t_\t_\t2\tobj\t_\t_\n\n"
)
TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
FLAG: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "integer", "minimum": 1}
ERROR: Schema = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
DOCUMENT: Schema = {"$ref": "#/components/schemas/Document"}
FIELDS: dict[str, Schema] = {
    "text": TEXT | {"description": "Running text.", "example": EXAMPLE},
    "tokens": {
        "type": "array",
        "items": TEXTS,
        "description": "Sentences of words.",
        "example": [["She", "walks", "backwards", "."]],
    },
    "conllu": TEXT | {"description": "CoNLL-U.", "example": EXAMPLE_CONLLU},
    "model": TEXT | {"description": "The name of a model, or an unambiguous beginning of it."},
    "output": TEXT | {"enum": list(OUTPUTS), "default": "json", "description": "The form of the answer."},
    "sentence": NUMBER | {"description": "Which sentence to draw, from 1, where there are several."},
    "tags": FLAG | {"default": True, "description": "Parts of speech under the words."},
    "relations": FLAG | {"default": True, "description": "Relations on the arcs."},
    "probabilities": FLAG | {"default": False, "description": "The probability of each arc beside its relation."},
    "labels": TEXTS | {"description": "Encodings whose labels stand under the words."},
    "cover": TEXT | {"enum": list(COVERS), "description": "Tell structural from auxiliary arcs by this rope cover."},
    "bracketing": FLAG | {"default": False, "description": "The brackets of the rope cover."},
    "against": TEXT | {"description": "CoNLL-U of the same words: differences are marked."},
    "theme": TEXT | {"enum": list(THEMES), "default": THEMES[0], "description": "The colours."},
    "form": TEXT | {"enum": list(FORMS), "default": "svg", "description": "The form of each picture."},
    "encodings": TEXTS
    | {"description": "Names of encodings, with options if any.", "example": ["optimal", "brackets(planes=2)"]},
    "encoding": TEXT | {"default": "optimal", "description": "One of those that /encodings lists under steps."},
    "repair": TEXT
    | {"enum": list(POLICIES), "default": "nearest", "description": "Where words go whose head the labels lack."},
    "words": TEXTS | {"description": "The words of the labels."},
}


@final
@dataclass(frozen=True, slots=True)
class Endpoint:
    """A path of the server. `operations` are OpenAPI's, by method; without them it is a GET that is not described."""

    path: str
    handle: Handler
    operations: Mapping[str, Schema] = field(default_factory=dict)
    label: str = "other"  # counts its requests in the metrics

    def route(self, service: Service) -> Route:
        """Return the route of an application."""

        async def answer(request: Request) -> Response:
            return await self.handle(request, service)

        return Route(self.path, answer, methods=[method.upper() for method in self.operations or ("get",)])


def endpoint(  # noqa: PLR0913 - the parts of an endpoint
    name: str,
    answer: Callable[[Fields, Service], Awaitable[object]],
    fields: Mapping[str, Schema] | None = None,
    example: Mapping[str, object] | None = None,
    *,
    media_type: str = "application/json",
    schema: Schema | None = None,
) -> Endpoint:
    """Build an endpoint of the API, `/api/v1/NAME`: a POST that takes `fields`, or a GET without them.

    `answer` receives the fields and the service, and returns a response or values for JSON. The first line of its
    docstring is the summary. `fields` maps names to JSON schemas; a request with other fields is refused. `example` is
    a body that works. `media_type` and `schema` describe the answer.
    """
    if not NAME.fullmatch(name):
        raise OptionError(f"the endpoint is named {name!r}; expected small letters, digits and hyphens")
    known = dict(fields or {})

    async def handle(request: Request, service: Service) -> Response:
        found = await answer(await _fields_of(request, service, tuple(known)) if known else Fields({}, ()), service)
        return found if isinstance(found, Response) else json_response(found)

    operation: Schema = {
        "summary": (inspect.getdoc(answer) or name).partition("\n")[0],
        "operationId": name,
        "responses": {
            "200": {"description": "The answer.", "content": {media_type: {"schema": schema or {}}}},
            "400": {"description": "What is wrong with the request.", "content": ERROR},
            "413": {"description": "Too much.", "content": ERROR},
            "503": {"description": "Too many requests; Retry-After says when to try again.", "content": ERROR},
        },
    }
    if known:
        body = {"type": "object", "properties": known, "additionalProperties": False}
        content = {"application/json": {"schema": body, "example": dict(example or {})}}
        raw = {kind: {"schema": TEXT} for kind, source in RAW.items() if source in known}
        operation["requestBody"] = {"required": True, "content": content | raw}
    return Endpoint(f"/api/v1/{name}", handle, {"post" if known else "get": operation}, name)


def shared_fields(*names: str) -> dict[str, Schema]:
    """Return the schemas of fields that several endpoints take."""
    return {name: FIELDS[name] for name in names}


def source_of(fields: Fields) -> RequestSource:
    """Return what is to be parsed: the one of the fields `SOURCES` that is given."""
    given = fields.one_of(*SOURCES)
    if given == "text":
        return RequestText(fields.text("text"))
    return Words(fields.sentences("tokens")) if given == "tokens" else Conllu(fields.text("conllu"))


def json_response(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Answer in JSON."""
    return Response(compact(value), status, headers, "application/json")


RAW = {"text/plain": "text", "text/x-conllu": "conllu"}  # bodies that are one field as it is


async def _fields_of(request: Request, service: Service, known: tuple[str, ...]) -> Fields:
    """Receive the fields of a request: a JSON object; or text or CoNLL-U as it is, the other fields in the query."""
    body = await service.bodies.receive(request.receive, request.headers.get("content-length"))
    kind, _ = content_type(request.headers.get("content-type", ""))
    given = query_fields(request.scope["query_string"])
    if kind in RAW:
        try:
            return Fields(given | {RAW[kind]: body.decode("utf-8")}, known)
        except UnicodeDecodeError as failure:
            raise RequestError(400, f"byte {failure.start + 1} of the body is not UTF-8; expected UTF-8") from failure
    if kind not in {"", "application/json"}:
        raise RequestError(415, f"the body is {kind[:80]}; expected application/json, text/plain or text/x-conllu")
    if given:
        raise RequestError(400, "found fields in the query beside a JSON body; put all of them into the body")
    return Fields.of(body, known)
