"""The description of the API in OpenAPI 3.1: the operations of all endpoints, and their shared schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ropewalk import __version__
from ropewalk.serving.endpoints import FLAG, NUMBER, TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk.serving.endpoints import Endpoint

MAYBE_TEXT = {"type": ["string", "null"]}
MAYBE_NUMBER = {"type": ["integer", "null"]}
PROBABILITY = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
WORD = {
    "index": NUMBER,
    "text": TEXT,
    "upos": MAYBE_TEXT,
    "head": {"type": ["integer", "null"], "minimum": 0, "description": "0 for the root, null without a tree."},
    "relation": MAYBE_TEXT,
    "probability": PROBABILITY,
    "start": MAYBE_NUMBER,
    "end": MAYBE_NUMBER,
    "space_after": FLAG,
    "lemma": TEXT,
    "xpos": TEXT,
    "feats": {"type": "object", "additionalProperties": TEXT},
    "tag_probabilities": {"type": "object", "additionalProperties": PROBABILITY},
    "heads": {"type": "array", "items": {"type": "object"}, "description": "All heads in the enhanced graph."},
}
SENTENCE = {
    "generator": TEXT,
    "id": MAYBE_TEXT,
    "text": TEXT,
    "start": MAYBE_NUMBER,
    "end": MAYBE_NUMBER,
    "probability": PROBABILITY,
    "words": {"type": "array", "items": {"$ref": "#/components/schemas/Word"}},
    "multiword_tokens": {"type": "array", "items": {"type": "object"}},
}
NUMBERS = {"type": "array", "items": NUMBER}
MATCH = {
    "sentence": NUMBER,
    "word": NUMBER | {"description": "The word of the pattern's first node."},
    "words": {"type": "object", "additionalProperties": NUMBER, "description": "The named words."},
    "hits": NUMBERS | {"description": "All these words, in the order of the sentence."},
}
MARKED = {
    "sentence": NUMBER,
    "id": MAYBE_TEXT,
    "text": TEXT,
    "hits": NUMBERS,
    "spans": {
        "type": "array",
        "items": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        "description": "Begin and end of each token to mark, in characters of the text.",
    },
}
SCHEMAS = {
    "Word": WORD,
    "Sentence": SENTENCE,
    "Document": {
        "generator": TEXT,
        "text": MAYBE_TEXT,
        "sentences": {"type": "array", "items": {"$ref": "#/components/schemas/Sentence"}},
    },
    "Match": MATCH,
    "MarkedSentence": MARKED,
    "Matches": {
        "names": {"type": "array", "items": TEXT},
        "matches": {"type": "array", "items": {"$ref": "#/components/schemas/Match"}},
        "sentences": {"type": "array", "items": {"$ref": "#/components/schemas/MarkedSentence"}},
    },
    "Error": {"error": {"type": "object", "properties": {"kind": TEXT, "message": TEXT}}},
}


def describe(endpoints: Iterable[Endpoint], model: str) -> dict[str, Any]:
    """Return the OpenAPI document of all endpoints that have operations.

    `model` is a model name, which is added to the examples of endpoints with a field `model`.
    """
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Ropewalk",
            "version": __version__,
            "description": "Dependency parsing by tagging. Errors are answered with 4xx and a reason.",
        },
        "servers": [{"url": "/"}],
        "paths": {
            endpoint.path: {method: _with_model(about, model) for method, about in endpoint.operations.items()}
            for endpoint in endpoints
            if endpoint.operations
        },
        "components": {"schemas": {name: {"type": "object", "properties": of} for name, of in SCHEMAS.items()}},
    }


def _with_model(operation: dict[str, Any], model: str) -> dict[str, Any]:
    body = operation.get("requestBody", {"content": {}})
    content = body["content"].get("application/json", {})
    if "model" not in content.get("schema", {}).get("properties", {}):
        return operation
    content = content | {"example": content["example"] | {"model": model}}
    return operation | {"requestBody": body | {"content": body["content"] | {"application/json": content}}}
