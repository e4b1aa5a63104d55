"""UDPipe's REST protocol: its parameters and its answers.

It follows the API reference of the UDPipe service, <https://lindat.mff.cuni.cz/services/udpipe/api-reference.php>,
and the description of formats in the manual of UDPipe 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from ropewalk import conllu
from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column
from ropewalk.errors import RequestError
from ropewalk.models import tag_columns
from ropewalk.serving.bodies import form_fields, query_fields
from ropewalk.serving.endpoints import EXAMPLE, TEXT, Endpoint, json_response
from ropewalk.serving.sources import Conllu, Lines, RequestText, Words
from ropewalk.treebank.source import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from ropewalk.serving.computing import ServedModel
    from ropewalk.serving.endpoints import Handler, Schema
    from ropewalk.serving.service import Service
    from ropewalk.serving.sources import RequestSource
    from ropewalk.treebank.documents import Document, Sentence
    from ropewalk.treebank.surface import Surface
    from ropewalk.treebank.treebank import Treebank

INPUTS = ("conllu", "horizontal", "vertical", "generic_tokenizer")
OUTPUTS = {
    "conllu": ("v2",),
    "horizontal": ("paragraphs",),
    "vertical": ("paragraphs",),
    "plaintext": ("normalized_spaces",),
}
TOKENIZER = ("ranges", "presegmented", "normalized_spaces", "joint_with_parsing")
NO_BREAK_SPACE = "\u00a0"


@dataclass(frozen=True, slots=True)
class ProcessRequest:
    """The parameters of a request to `/process`.

    `source` is the input. `tags` and `trees` are whether the answer has tags and trees from the model. `ranges` is
    whether it has character positions, and `normalized_spaces` whether the original spaces are dropped from it.
    """

    source: RequestSource
    model: str
    tags: bool
    trees: bool
    ranges: bool
    normalized_spaces: bool
    output: str
    output_options: frozenset[str]

    @property
    def parses(self) -> bool:
        """Whether the model must parse: the request asks for tags or trees."""
        return self.tags or self.trees


def request_of(fields: Mapping[str, str]) -> ProcessRequest:
    """Build a request to `/process` from its form fields; raise a `RequestError` if a field is wrong or missing."""
    if "data" not in fields:
        raise RequestError(400, "Required argument 'data' is missing.")
    tokenizer = _options("tokenizer", fields.get("tokenizer", ""), TOKENIZER)
    name, input_options = _format("input", fields.get("input") or "conllu", dict.fromkeys(INPUTS, TOKENIZER))
    if name == "generic_tokenizer":
        tokenizer |= input_options
    from_text = "tokenizer" in fields or name == "generic_tokenizer"
    source = Lines if "presegmented" in tokenizer else RequestText
    output, output_options = _format("output", fields.get("output") or "conllu", OUTPUTS)
    return ProcessRequest(
        _source(fields["data"], name) if not from_text else source(fields["data"]),
        fields.get("model", ""),
        "tagger" in fields,
        "parser" in fields,
        "ranges" in tokenizer,
        "normalized_spaces" in tokenizer,
        output,
        output_options,
    )


def _format(what: str, value: str, known: Mapping[str, Sequence[str]]) -> tuple[str, frozenset[str]]:
    name, *options = re.split("[=;]", value, maxsplit=1)
    if name not in known:
        raise RequestError(400, f"The {what} format '{name[:80]}' is unknown; known are: {', '.join(known)}.")
    return name, _options(f"{what} format {name}", "".join(options), known[name])


def _options(what: str, value: str, known: Sequence[str]) -> frozenset[str]:
    names = {part.partition("=")[0].strip() for part in value.split(";")} - {""}
    if unknown := sorted(names - set(known)):
        raise RequestError(400, f"The {what} takes no option '{unknown[0][:80]}'; it takes: {', '.join(known)}.")
    return frozenset(names)


def _source(data: str, name: str) -> RequestSource:
    if name == "conllu":
        return Conllu(data)
    lines = [line.removesuffix("\r") for line in data.split("\n")]
    if name == "horizontal":
        rows = [[word for word in line.split(" ") if word] for line in lines]
        return _words(words for words in rows if words)
    blocks = groupby(lines, key=lambda line: bool(line.strip()))
    return _words(list(block) for filled, block in blocks if filled)


def _words(sentences: Iterable[list[str]]) -> RequestSource:
    return Words(tuple(tuple(word.replace(NO_BREAK_SPACE, " ").strip(" ") or word for word in s) for s in sentences))


def answer(request: ProcessRequest, generator: str, read: Document, parsed: Document) -> str:
    """Return the text of the answer in the output format of the request.

    `read` is the document before parsing, `parsed` after it. Only the tags or trees that the request asks for are taken
    from `parsed`.
    """
    bank = _chosen(request, read.treebank, parsed.treebank)
    if request.output == "conllu":
        return conllu.dumps(bank, generator=generator).decode("utf-8")
    write = {"horizontal": _horizontal, "vertical": _vertical, "plaintext": _plain}[request.output]
    return "".join(write(sentence, request.output_options) for sentence in bank)


def _chosen(request: ProcessRequest, read: Treebank, parsed: Treebank) -> Treebank:
    bank = read
    if request.tags:
        columns = {tag.column for tag in tag_columns.known().values()}
        bank = bank.with_columns({name: parsed.column(name) for name in COLUMNS if name in columns})
    if request.trees:
        bank = bank.with_trees(parsed.heads, parsed.relations)
    return bank if bank.tokens is None else replace(bank, tokens=_surface(request, bank.tokens))


def _surface(request: ProcessRequest, tokens: Surface) -> Surface:
    if not request.ranges:
        unknown = frozen_ints(np.full(len(tokens), -1, dtype=np.int32))
        tokens = replace(tokens, starts=unknown, stops=unknown)
    if request.normalized_spaces:
        after = Column(tokens.after.ids, tuple(" " * bool(spaces) for spaces in tokens.after.names))
        tokens = replace(tokens, after=after, before={}, written={})
    return tokens


def _begins(sentence: Sentence) -> str:
    """Return a line break if the sentence begins a paragraph or document that is not the first, else empty text."""
    heading = sentence.treebank.heading(sentence.number)
    return "\n" if sentence.number and (heading.paragraph or heading.document is not None) else ""


def _horizontal(sentence: Sentence, options: frozenset[str]) -> str:
    words = " ".join(word.replace(" ", NO_BREAK_SPACE) for word in sentence.forms)
    return (_begins(sentence) if "paragraphs" in options else "") + f"{words}\n"


def _vertical(sentence: Sentence, options: frozenset[str]) -> str:
    words = "".join(f"{word}\n" for word in sentence.forms)
    return (_begins(sentence) if "paragraphs" in options else "") + f"{words}\n"


def _plain(sentence: Sentence, options: frozenset[str]) -> str:
    tokens = sentence.tokens
    if "normalized_spaces" in options:
        text = "".join(token.text + " " * token.space_after for token in tokens)
        return f"{_begins(sentence)}{text.rstrip(' ')}\n"
    before = sentence.treebank.surface.before.get(sentence.number, "")
    return before + "".join(token.written + token.spaces for token in tokens)


async def process(request: Request, service: Service) -> Response:
    """Process text as UDPipe's service does."""
    asked = request_of(await _parameters(request, service))
    model = service.model(asked.model)
    finish = partial(_processed, asked, model)
    response: Response = await service.parse(model, asked.source, finish, parse=asked.parses)
    return response


def _processed(request: ProcessRequest, model: ServedModel, read: Document, parsed: Document) -> Response:
    result = answer(request, model.generator, read, parsed)
    return json_response({"model": model.name, "acknowledgements": model.acknowledgements, "result": result})


async def models(request: Request, service: Service) -> Response:
    """List the models as UDPipe's service does."""
    await _parameters(request, service)
    components = {name: model.components for name, model in service.models.items()}
    return json_response({"models": components, "default_model": service.default})


async def _parameters(request: Request, service: Service) -> dict[str, str]:
    fields = query_fields(request.scope["query_string"])
    if request.method == "POST":
        body = await service.bodies.receive(request.receive, request.headers.get("content-length"))
        form = form_fields(request.headers.get("content-type", ""), body)
        if twice := sorted(set(fields) & set(form)):
            raise RequestError(400, f"the field {twice[0][:80]!r} is in the query and in the body; send it once")
        fields |= form
    return fields


def _endpoint(handle: Handler, **get: object) -> Endpoint:
    name, summary = handle.__name__, handle.__doc__
    form = {"schema": {"type": "object", "properties": PARAMETERS, "required": ["data"]}}
    body = {"content": {"application/x-www-form-urlencoded": form, "multipart/form-data": form}}
    reply = {
        "200": {"description": "The answer.", "content": {"application/json": {"schema": {"type": "object"}}}},
        "400": {"description": "An error of the request.", "content": {"text/plain": {"schema": TEXT}}},
    }
    operations: dict[str, Schema] = {
        "get": {"summary": summary, "operationId": f"udpipe_{name}_get", "responses": reply} | get,
        "post": {"summary": summary, "operationId": f"udpipe_{name}", "responses": reply, "requestBody": body},
    }
    return Endpoint(f"/{name}", handle, operations, name)


PARAMETERS = {
    "data": TEXT | {"example": EXAMPLE},
    "model": TEXT,
    "tokenizer": TEXT | {"description": f"Options, with ; between them: {', '.join(TOKENIZER[:3])}."},
    "tagger": TEXT,
    "parser": TEXT,
    "input": TEXT | {"enum": list(INPUTS)},
    "output": TEXT | {"enum": list(OUTPUTS)},
}
QUERY = [
    {"name": name, "in": "query", "schema": schema, "required": name == "data", "allowEmptyValue": True}
    for name, schema in PARAMETERS.items()
]
ENDPOINTS = (_endpoint(process, parameters=QUERY), _endpoint(models))
