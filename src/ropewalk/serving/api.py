"""Ropewalk's own API, `/api/v1`: the function that answers each path, and the list `ENDPOINTS`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from starlette.responses import Response, StreamingResponse

from ropewalk import __version__, formats
from ropewalk.errors import RequestError
from ropewalk.serving import views
from ropewalk.serving.endpoints import (
    DOCUMENT,
    EXAMPLE,
    EXAMPLE_CONLLU,
    OUTPUTS,
    SOURCES,
    TEXTS,
    endpoint,
    json_response,
    shared_fields,
    source_of,
)
from ropewalk.serving.sources import read_conllu
from ropewalk.treebank.documents import Document

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ropewalk.serving.fields import Fields
    from ropewalk.serving.service import Service
    from ropewalk.treebank.treebank import Treebank

MODEL = ("name", "language", "treebank", "licence", "generator", "takes_text")
PICTURE = ("tags", "relations", "probabilities", "labels", "cover", "bracketing", "against", "theme")
LINES = "application/x-ndjson"


async def models(_: Fields, service: Service) -> object:
    """List the models and the limits."""
    return {
        "version": __version__,
        "default": service.default,
        "models": [{name: getattr(model, name) for name in MODEL} for model in service.models.values()],
        "limits": {
            "bytes": service.settings.max_bytes,
            "words": service.settings.max_words,
            "seconds": service.settings.max_seconds,
            "sentences_drawn": views.MOST_SENTENCES,
        },
    }


async def parse(fields: Fields, service: Service) -> object:
    """Parse text, tokens or CoNLL-U."""
    source, model = source_of(fields), service.model(fields.text("model"))
    return await service.parse(model, source, Writer.of(fields))


async def stream(fields: Fields, service: Service) -> object:
    """Parse a long text: one sentence per line, as soon as it is ready."""
    source, model = source_of(fields), service.model(fields.text("model"))
    parts = service.stream(model, source)
    try:
        first = await anext(parts)  # errors of the request are raised here, before the answer begins
    except StopAsyncIteration:
        return Response(b"", media_type=LINES)

    async def lines() -> AsyncIterator[bytes]:
        yield written(first)
        async for part in parts:
            yield written(part)

    def written(part: Treebank) -> bytes:
        return b"".join(formats.get("json").sentences(Document(part, None, model.generator), formats.Look()))

    return StreamingResponse(lines(), media_type=LINES)


async def convert(fields: Fields, service: Service) -> object:
    """Convert CoNLL-U to another format, with its trees unchanged."""
    return await service.help(_converted, fields.text("conllu"), Writer.of(fields))


def _converted(text: str, write: Writer) -> Response:
    document = Document(read_conllu(text))
    return write(document, document)


@final
@dataclass(frozen=True, slots=True)
class Writer:
    """Function that writes a parsed document in the format `output`.

    It is built before the document is parsed, so that a wrong format is refused early. `fields` are those of the
    request; they hold the options of pictures.
    """

    output: str
    fields: Fields

    @classmethod
    def of(cls, fields: Fields) -> Writer:
        """Build a writer for the format that the field `output` of a request names, by default JSON."""
        return cls(fields.choice("output", OUTPUTS, "json"), fields)

    def __call__(self, _: Document, document: Document) -> Response:
        """Return a response with the parsed document.

        Raise a `RequestError` if it is to be drawn and the request does not choose one of several sentences.
        """
        if self.output not in views.FORMS:
            form = formats.get(self.output)
            return Response(form.dumps(document), media_type=form.media_type)
        if not len(document):
            raise RequestError(400, "there is no sentence to draw; send at least one")
        if len(document) > 1 and "sentence" not in self.fields:
            raise RequestError(
                400,
                f"found {len(document)} sentences, and a picture shows one; choose it with the field sentence, from 1",
            )
        number = self.fields.number("sentence", 1, low=1, high=len(document)) - 1
        picture = views.picture_of(document.treebank, number, self.fields)
        return Response(views.picture_text(picture, self.output, self.fields), media_type=views.FORMS[self.output])


async def draw(fields: Fields, service: Service) -> object:
    """Draw every sentence; return also its words as JSON."""
    return await service.help(views.pictures, fields, service.settings.max_words)


async def labels(fields: Fields, service: Service) -> object:
    """Write trees as labels of encodings."""
    return await service.help(views.label_answers, fields, service.settings.max_words)


async def steps(fields: Fields, service: Service) -> object:
    """Decode labels step by step; return every step, and HTML to show them."""
    return await service.help(views.step_answers, fields, service.settings.max_words)


async def search(fields: Fields, service: Service) -> object:
    """Find the words that match a pattern, in CoNLL-U or in text that is parsed first."""
    pattern, source = fields.text("pattern"), source_of(fields)
    if "conllu" in fields:
        return await service.help(views.search_conllu, pattern, fields.text("conllu"))
    await service.help(views.check_pattern, pattern)  # before anything is parsed
    return await service.parse(service.model(fields.text("model")), source, Finder(pattern))


@final
@dataclass(frozen=True, slots=True)
class Finder:
    """Function that searches a parsed document for `pattern`."""

    pattern: str

    def __call__(self, _: Document, document: Document) -> Response:
        """Return a response with the matches."""
        return json_response(views.search_answers(self.pattern, document.treebank))


async def encodings(_: Fields, service: Service) -> object:
    """List the encodings, and those whose decoder can be shown step by step."""
    return await service.help(views.encoding_list)


TREE: dict[str, Any] = {"conllu": EXAMPLE_CONLLU}
ENDPOINTS = (
    endpoint("models", models),
    endpoint(
        "parse",
        parse,
        shared_fields(*SOURCES, "model", "output", "sentence", *PICTURE),
        {"text": EXAMPLE},
        schema=DOCUMENT,
    ),
    endpoint("stream", stream, shared_fields(*SOURCES, "model"), {"text": f"{EXAMPLE} He rests."}, media_type=LINES),
    endpoint(
        "convert",
        convert,
        shared_fields("conllu", "output", "sentence", *PICTURE),
        TREE | {"output": "svg"},
        schema=DOCUMENT,
    ),
    endpoint("draw", draw, shared_fields("conllu", "form", "sentence", *PICTURE), TREE | {"cover": "proper"}),
    endpoint("labels", labels, shared_fields("conllu", "encodings"), TREE | {"encodings": ["optimal", "four-bit"]}),
    endpoint(
        "steps",
        steps,
        shared_fields("conllu", "words", "encoding", "repair", "theme", "sentence")
        | {"labels": TEXTS | {"description": "Labels to decode, instead of those of a tree."}},
        {"labels": ["<", ">^/^", ">^"], "words": ["She", "twists", "hemp"], "encoding": "optimal"},
    ),
    endpoint(
        "search",
        search,
        shared_fields(*SOURCES, "model", "pattern"),
        {"text": EXAMPLE, "pattern": "{upos:VERB}=verb >nsubj {}=subject"},
        schema={"$ref": "#/components/schemas/Matches"},
    ),
    endpoint("encodings", encodings),
)
