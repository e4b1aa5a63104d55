"""Our own API, `/api/v1`: what each path takes and answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from starlette.responses import Response, StreamingResponse

from ropewalk import __version__
from ropewalk.errors import RequestError
from ropewalk.serving import views
from ropewalk.serving.bodies import content_type, query_fields
from ropewalk.serving.fields import Fields
from ropewalk.serving.sources import Conllu, RequestText, Words, read_conllu
from ropewalk.treebank.documents import Document

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from ropewalk.serving.computing import ServedModel
    from ropewalk.serving.service import Service
    from ropewalk.serving.sources import RequestSource
    from ropewalk.treebank.treebank import Treebank

OUTPUTS = ("json", "conllu", *views.FORMS)
SOURCES = ("text", "tokens", "conllu")
PARSE = (*SOURCES, "model", "output", "sentence", *views.PICTURE)
CONVERT = ("conllu", "output", "sentence", *views.PICTURE)
STREAM = (*SOURCES, "model")
CONLLU = "text/x-conllu; charset=utf-8"
LINES = "application/x-ndjson"


def json_response(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Answer in JSON."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "replace"), status, headers, "application/json")


async def fields_of(request: Request, service: Service, known: tuple[str, ...]) -> Fields:
    """Receive the fields of a request: a JSON object; or text or CoNLL-U as it is, the other fields in the query."""
    body = await service.bodies.receive(request.receive, request.headers.get("content-length"))
    kind, _ = content_type(request.headers.get("content-type", ""))
    given: dict[str, Any] = dict(query_fields(request.scope["query_string"]))
    if kind in {"text/plain", "text/x-conllu"}:
        name = "text" if kind == "text/plain" else "conllu"
        try:
            given[name] = body.decode("utf-8")
        except UnicodeDecodeError as failure:
            raise RequestError(400, f"byte {failure.start + 1} of the body is not UTF-8; expected UTF-8") from failure
        return Fields(given, known)
    if kind not in {"", "application/json"}:
        raise RequestError(415, f"the body is {kind[:80]}; expected application/json, text/plain or text/x-conllu")
    if given:
        raise RequestError(400, "found fields in the query beside a JSON body; put all of them into the body")
    return Fields.of(body, known)


def source_of(fields: Fields) -> RequestSource:
    """Find what is to be parsed."""
    given = fields.one_of(*SOURCES)
    if given == "text":
        return RequestText(fields.text("text"))
    return Words(fields.sentences("tokens")) if given == "tokens" else Conllu(fields.text("conllu"))


async def models(_: Request, service: Service) -> Response:
    """List the models."""
    return json_response(
        {
            "version": __version__,
            "default": service.default,
            "models": [
                {
                    "name": model.name,
                    "language": model.language,
                    "treebank": model.treebank,
                    "licence": model.licence,
                    "generator": model.generator,
                    "takes_text": model.takes_text,
                }
                for model in service.models.values()
            ],
            "limits": {
                "bytes": service.settings.max_bytes,
                "words": service.settings.max_words,
                "seconds": service.settings.max_seconds,
                "sentences_drawn": views.MOST_SENTENCES,
            },
        }
    )


async def parse(request: Request, service: Service) -> Response:
    """Parse text, tokens or CoNLL-U."""
    fields = await fields_of(request, service, PARSE)
    source, model = source_of(fields), service.model(fields.text("model"))
    answer: Response = await service.parse(model, source, Writer.of(fields))
    return answer


async def convert(request: Request, service: Service) -> Response:
    """Write CoNLL-U in another form, its trees as they are."""
    fields = await fields_of(request, service, CONVERT)
    answer: Response = await service.help(_converted, fields.text("conllu"), Writer.of(fields))
    return answer


def _converted(text: str, write: Writer) -> Response:
    found = Document(read_conllu(text))
    return write(found, found)


@final
@dataclass(frozen=True, slots=True)
class Writer:
    """The form of an answer, chosen before anything is computed."""

    output: str
    fields: Fields

    @classmethod
    def of(cls, fields: Fields) -> Writer:
        """Read the form from the fields of a request."""
        return cls(fields.choice("output", OUTPUTS, "json"), fields)

    def __call__(self, _: Document, found: Document) -> Response:
        """Write a parsed document."""
        if self.output == "json":
            return json_response(found.to_json())
        if self.output == "conllu":
            return Response(found.to_conllu(), media_type=CONLLU)
        if not len(found):
            raise RequestError(400, "there is no sentence to draw")
        if len(found) > 1 and "sentence" not in self.fields:
            raise RequestError(
                400, f"found {len(found)} sentences, and a picture shows one; say which in the field sentence, from 1"
            )
        number = self.fields.number("sentence", 1, low=1, high=len(found)) - 1
        picture = views.picture_of(found.treebank, number, self.fields)
        return Response(views.picture_text(picture, self.output, self.fields), media_type=views.KINDS[self.output])


async def stream(request: Request, service: Service) -> Response:
    """Parse a long text, and answer one sentence a line as they are ready."""
    fields = await fields_of(request, service, STREAM)
    source, model = source_of(fields), service.model(fields.text("model"))
    parts = service.stream(model, source)
    try:
        first = await anext(parts)  # what is wrong with the request is known by now
    except StopAsyncIteration:
        return Response(b"", media_type=LINES)
    return StreamingResponse(_lines(model, first, parts), media_type=LINES)


async def _lines(model: ServedModel, first: Treebank, parts: AsyncIterator[Treebank]) -> AsyncIterator[bytes]:
    yield _written(model, first)
    async for part in parts:
        yield _written(model, part)


def _written(model: ServedModel, part: Treebank) -> bytes:
    found = Document(part, None, model.generator)
    return "".join(json.dumps(one.to_json(), ensure_ascii=False) + "\n" for one in found).encode("utf-8")


async def draw(request: Request, service: Service) -> Response:
    """Draw every sentence of CoNLL-U."""
    fields = await fields_of(request, service, views.DRAW)
    return json_response(await service.help(views.pictures, fields, service.settings.max_words))


async def labels(request: Request, service: Service) -> Response:
    """Write the trees of CoNLL-U as labels of encodings."""
    fields = await fields_of(request, service, views.LABELS)
    return json_response(await service.help(views.label_answers, fields, service.settings.max_words))


async def steps(request: Request, service: Service) -> Response:
    """Play the decoder over labels."""
    fields = await fields_of(request, service, views.STEPS)
    return json_response(await service.help(views.step_answers, fields, service.settings.max_words))


async def encodings(_: Request, service: Service) -> Response:
    """List the encodings, and those whose decoder can be watched."""
    return json_response(await service.help(views.encoding_list))
