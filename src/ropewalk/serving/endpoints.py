"""Endpoints: each has a path, a function that answers requests, a label in the metrics and an OpenAPI description.

`api.ENDPOINTS` lists the endpoints of Ropewalk's own API. Another package adds an `Endpoint` through the entry point
group `ropewalk.endpoints`; docs/own-endpoint.md is a worked example.
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
OUTPUTS = (*(name for name, form in formats.known().items() if form.media_type), *FORMS)
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
    "output": TEXT | {"enum": list(OUTPUTS), "default": "json", "description": "The format of the answer."},
    "sentence": NUMBER | {"description": "The number of the sentence to draw, from 1, if there are several."},
    "tags": FLAG | {"default": True, "description": "Parts of speech under the words."},
    "relations": FLAG | {"default": True, "description": "Relations on the arcs."},
    "probabilities": FLAG | {"default": False, "description": "The probability of each arc beside its relation."},
    "labels": TEXTS | {"description": "Encodings whose labels are shown under the words."},
    "cover": TEXT | {"enum": list(COVERS), "description": "Mark structural and auxiliary arcs of this rope cover."},
    "bracketing": FLAG | {"default": False, "description": "The brackets of the rope cover."},
    "against": TEXT | {"description": "CoNLL-U of the same words: differences are marked."},
    "theme": TEXT | {"enum": list(THEMES), "default": THEMES[0], "description": "The colours."},
    "form": TEXT | {"enum": list(FORMS), "default": "svg", "description": "The format of each picture."},
    "encodings": TEXTS
    | {"description": "Names of encodings, with options if any.", "example": ["optimal", "brackets(planes=2)"]},
    "encoding": TEXT | {"default": "optimal", "description": "One of those that /encodings lists under steps."},
    "repair": TEXT
    | {"enum": list(POLICIES), "default": "nearest", "description": "The repair of words without a head."},
    "words": TEXTS | {"description": "The words of the labels."},
    "pattern": TEXT | {"description": "Words in braces and the relations between them, as for `ropewalk search`."},
}


@final
@dataclass(frozen=True, slots=True)
class Endpoint:
    """A path of the server, and the function `handle` that answers its requests.

    `operations` maps HTTP methods to their OpenAPI descriptions. If it is empty, the endpoint accepts GET and is not
    documented.
    """

    path: str
    handle: Handler
    operations: Mapping[str, Schema] = field(default_factory=dict)
    label: str = "other"  # of its requests in the metrics

    def route(self, service: Service) -> Route:
        """Return the Starlette route that passes requests and `service` to `handle`."""

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
    """Build the endpoint `/api/v1/NAME` of the API. It accepts POST if it has `fields`, otherwise GET.

    `answer` receives the fields of the request and the service. It returns a response, or a value to send as JSON. The
    first line of its docstring is the summary in OpenAPI. `fields` maps the names of fields to JSON schemas; a request
    with other fields is refused. `example` is a valid request body. `media_type` and `schema` describe the response.
    """
    if not NAME.fullmatch(name):
        raise OptionError(f"the endpoint is named {name!r}; use lower case, digits and hyphens")
    known = dict(fields or {})

    async def handle(request: Request, service: Service) -> Response:
        reply = await answer(await _fields_of(request, service, tuple(known)) if known else Fields({}, ()), service)
        return reply if isinstance(reply, Response) else json_response(reply)

    operation: Schema = {
        "summary": (inspect.getdoc(answer) or name).partition("\n")[0],
        "operationId": name,
        "responses": {
            "200": {"description": "The answer.", "content": {media_type: {"schema": schema or {}}}},
            "400": {"description": "An error of the request.", "content": ERROR},
            "413": {"description": "The request is too large.", "content": ERROR},
            "503": {"description": "Too many requests; try again after Retry-After seconds.", "content": ERROR},
        },
    }
    if known:
        body = {"type": "object", "properties": known, "additionalProperties": False}
        content = {"application/json": {"schema": body, "example": dict(example or {})}}
        raw = {kind: {"schema": TEXT} for kind, source in RAW.items() if source in known}
        operation["requestBody"] = {"required": True, "content": content | raw}
    return Endpoint(f"/api/v1/{name}", handle, {"post" if known else "get": operation}, name)


def shared_fields(*names: str) -> dict[str, Schema]:
    """Return the JSON schemas of the fields `names` from `FIELDS`, the fields that several endpoints share."""
    return {name: FIELDS[name] for name in names}


def source_of(fields: Fields) -> RequestSource:
    """Return the input of a request: its field `text`, `tokens` or `conllu`.

    Raise a `RequestError` unless it has exactly one of them.
    """
    name = fields.one_of(*SOURCES)
    if name == "text":
        return RequestText(fields.text("text"))
    return Words(fields.sentences("tokens")) if name == "tokens" else Conllu(fields.text("conllu"))


def json_response(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return an HTTP response whose body is `value` as compact JSON."""
    return Response(compact(value), status, headers, "application/json")


RAW = {"text/plain": "text", "text/x-conllu": "conllu"}  # bodies that are the value of a field


async def _fields_of(request: Request, service: Service, known: tuple[str, ...]) -> Fields:
    """Receive the body of a request and return its fields; raise a `RequestError` for fields that are not in `known`.

    The body is a JSON object of all fields. Or it is plain text or CoNLL-U, and the other fields are in the query.
    """
    body = await service.bodies.receive(request.receive, request.headers.get("content-length"))
    kind, _ = content_type(request.headers.get("content-type", ""))
    in_query = query_fields(request.scope["query_string"])
    if kind in RAW:
        try:
            return Fields(in_query | {RAW[kind]: body.decode("utf-8")}, known)
        except UnicodeDecodeError as failure:
            raise RequestError(400, f"byte {failure.start + 1} of the body is not UTF-8; send UTF-8") from failure
    if kind not in {"", "application/json"}:
        raise RequestError(415, f"the body is {kind[:80]}; send application/json, text/plain or text/x-conllu")
    if in_query:
        raise RequestError(400, "there are fields in the query beside a JSON body; send all of them in the body")
    return Fields.of(body, known)
