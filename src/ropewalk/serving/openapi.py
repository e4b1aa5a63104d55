"""The description of the API, as OpenAPI 3.1 has it."""

from __future__ import annotations

from typing import Any

from ropewalk import __version__
from ropewalk.core.repair import POLICIES
from ropewalk.core.ropes import COVERS
from ropewalk.serving import api, udpipe, views

EXAMPLE = "She walks backwards all day, twisting hemp into rope."
EXAMPLE_CONLLU = (
    "1\tShe\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n"
    "2\ttwists\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
    "3\themp\t_\tNOUN\t_\t_\t2\tobj\t_\t_\n\n"
)
TEXT: dict[str, Any] = {"type": "string"}
FLAG: dict[str, Any] = {"type": "boolean"}
NUMBER: dict[str, Any] = {"type": "integer", "minimum": 1}
MAYBE_NUMBER = {"type": ["integer", "null"]}
SHARE = {"type": ["number", "null"], "minimum": 0, "maximum": 1}

FIELDS: dict[str, dict[str, Any]] = {
    "text": TEXT | {"description": "Running text.", "example": EXAMPLE},
    "tokens": {
        "type": "array",
        "items": {"type": "array", "items": TEXT},
        "description": "Sentences of words.",
        "example": [["She", "walks", "backwards", "."]],
    },
    "conllu": TEXT | {"description": "CoNLL-U.", "example": EXAMPLE_CONLLU},
    "model": TEXT | {"description": "The name of a model, or an unambiguous beginning of it."},
    "output": TEXT | {"enum": list(api.OUTPUTS), "default": "json", "description": "The form of the answer."},
    "sentence": NUMBER | {"description": "Which sentence to draw, from 1, where there are several."},
    "tags": FLAG | {"default": True, "description": "Parts of speech under the words."},
    "relations": FLAG | {"default": True, "description": "Relations on the arcs."},
    "probabilities": FLAG | {"default": False, "description": "The probability of each arc beside its relation."},
    "labels": {"type": "array", "items": TEXT, "description": "Encodings whose labels stand under the words."},
    "cover": TEXT | {"enum": list(COVERS), "description": "Tell structural from auxiliary arcs by this rope cover."},
    "bracketing": FLAG | {"default": False, "description": "The brackets of the rope cover."},
    "against": TEXT | {"description": "CoNLL-U of the same words: differences are marked."},
    "theme": TEXT | {"enum": ["auto", "light", "dark"], "default": "auto", "description": "The colours."},
    "form": TEXT | {"enum": list(views.FORMS), "default": "svg", "description": "The form of each picture."},
    "encodings": {
        "type": "array",
        "items": TEXT,
        "description": "Names of encodings, with options if any.",
        "example": ["optimal", "brackets(planes=2)"],
    },
    "encoding": TEXT | {"default": "optimal", "description": "One of those that /encodings lists under steps."},
    "repair": TEXT
    | {"enum": list(POLICIES), "default": "nearest", "description": "Where words go whose head the labels lack."},
    "words": {"type": "array", "items": TEXT, "description": "The words of the labels."},
}
WORD = {
    "index": NUMBER,
    "text": TEXT,
    "upos": {"type": ["string", "null"]},
    "head": {"type": ["integer", "null"], "minimum": 0, "description": "0 for the root, null without a tree."},
    "relation": {"type": ["string", "null"]},
    "probability": SHARE,
    "start": MAYBE_NUMBER,
    "end": MAYBE_NUMBER,
    "space_after": FLAG,
    "lemma": TEXT,
    "xpos": TEXT,
    "feats": {"type": "object", "additionalProperties": TEXT},
    "tag_probabilities": {"type": "object", "additionalProperties": SHARE},
    "heads": {"type": "array", "items": {"type": "object"}, "description": "All heads in the enhanced graph."},
}
SENTENCE = {
    "generator": TEXT,
    "id": {"type": ["string", "null"]},
    "text": TEXT,
    "start": MAYBE_NUMBER,
    "end": MAYBE_NUMBER,
    "probability": SHARE,
    "words": {"type": "array", "items": {"$ref": "#/components/schemas/Word"}},
    "multiword_tokens": {"type": "array", "items": {"type": "object"}},
}


def describe(model: str) -> dict[str, Any]:
    """Describe every path; examples name the model."""
    picture = {"conllu": EXAMPLE_CONLLU}
    paths = {
        "/models": {"get": _operation("List the models and the limits.", "models")},
        "/parse": _post(
            "parse", "Parse text, tokens or CoNLL-U.", api.PARSE, {"text": EXAMPLE, "model": model}, raw=True
        ),
        "/stream": _post(
            "stream",
            "Parse a long text: one sentence a line, as they are ready.",
            api.STREAM,
            {"text": f"{EXAMPLE} He rests.", "model": model},
            answer=api.LINES,
            raw=True,
        ),
        "/convert": _post(
            "convert",
            "Write CoNLL-U in another form, its trees as they are.",
            api.CONVERT,
            picture | {"output": "svg"},
            raw=True,
        ),
        "/draw": _post(
            "draw", "Draw every sentence, its words as JSON beside it.", views.DRAW, picture | {"cover": "proper"}
        ),
        "/labels": _post(
            "labels",
            "Write trees as labels of encodings.",
            views.LABELS,
            picture | {"encodings": ["optimal", "four-bit"]},
        ),
        "/steps": _post(
            "steps",
            "Play the decoder over labels: every step, and HTML to show it.",
            views.STEPS,
            {"labels": ["<", ">^/^", ">^"], "words": ["She", "twists", "hemp"], "encoding": "optimal"},
        ),
        "/encodings": {"get": _operation("List the encodings, and those whose decoder can be watched.", "encodings")},
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Ropewalk",
            "version": __version__,
            "description": "Dependency parsing by tagging. Errors are answered with 4xx and a reason.",
        },
        "servers": [{"url": "/"}],
        "paths": {f"/api/v1{path}": about for path, about in paths.items()} | _udpipe_paths(),
        "components": {
            "schemas": {
                "Word": {"type": "object", "properties": WORD},
                "Sentence": {"type": "object", "properties": SENTENCE},
                "Document": {
                    "type": "object",
                    "properties": {
                        "generator": TEXT,
                        "text": {"type": ["string", "null"]},
                        "sentences": {"type": "array", "items": {"$ref": "#/components/schemas/Sentence"}},
                    },
                },
                "Error": {
                    "type": "object",
                    "properties": {"error": {"type": "object", "properties": {"kind": TEXT, "message": TEXT}}},
                },
            }
        },
    }


def _operation(summary: str, name: str, answer: str = "application/json") -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Document"} if name in {"parse", "convert"} else {}
    refused = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {
        "summary": summary,
        "operationId": name,
        "responses": {
            "200": {"description": "The answer.", "content": {answer: {"schema": schema}}},
            "400": {"description": "What is wrong with the request.", "content": refused},
            "413": {"description": "Too much.", "content": refused},
            "503": {"description": "Too many requests; Retry-After says when to try again.", "content": refused},
        },
    }


def _post(  # noqa: PLR0913 - what there is to say of a path
    name: str,
    summary: str,
    names: tuple[str, ...],
    example: dict[str, Any],
    *,
    answer: str = "application/json",
    raw: bool = False,
) -> dict[str, Any]:
    schema = {"type": "object", "properties": {name: FIELDS[name] for name in names}, "additionalProperties": False}
    content: dict[str, Any] = {"application/json": {"schema": schema, "example": example}}
    if raw and "text" in names:
        content["text/plain"] = {"schema": TEXT}
    if raw:
        content["text/x-conllu"] = {"schema": TEXT}
    return {"post": _operation(summary, name, answer) | {"requestBody": {"required": True, "content": content}}}


def _udpipe_paths() -> dict[str, Any]:
    fields = {
        "data": TEXT | {"example": EXAMPLE},
        "model": TEXT,
        "tokenizer": TEXT | {"description": f"Options, with ; between them: {', '.join(udpipe.TOKENIZER[:3])}."},
        "tagger": TEXT,
        "parser": TEXT,
        "input": TEXT | {"enum": list(udpipe.INPUTS)},
        "output": TEXT | {"enum": list(udpipe.OUTPUTS)},
    }
    form = {"schema": {"type": "object", "properties": fields, "required": ["data"]}}
    body = {"content": {"application/x-www-form-urlencoded": form, "multipart/form-data": form}}
    parameters = [
        {"name": name, "in": "query", "schema": schema, "required": name == "data", "allowEmptyValue": True}
        for name, schema in fields.items()
    ]
    reply = {
        "200": {"description": "The answer.", "content": {"application/json": {"schema": {"type": "object"}}}},
        "400": {"description": "What is wrong with the request.", "content": {"text/plain": {"schema": TEXT}}},
    }

    def both(summary: str, name: str, **get: object) -> dict[str, Any]:
        return {
            "get": {"summary": summary, "operationId": f"udpipe_{name}_get", "responses": reply} | get,
            "post": {"summary": summary, "operationId": f"udpipe_{name}", "responses": reply, "requestBody": body},
        }

    return {
        "/process": both("Process text as UDPipe's service does.", "process", parameters=parameters),
        "/models": both("List the models as UDPipe's service does.", "models"),
    }
