"""JSON: the values that `json.dumps` writes for documents, sentences and words; `docs/parsing.md` has the schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ropewalk.errors import demand_type
from ropewalk.formats import Look, OutputFormat
from ropewalk.treebank.documents import Document, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ropewalk.treebank.documents import Token, Word

DIGITS = 4  # of probabilities


def document(given: Document) -> dict[str, Any]:
    """Return the values of a document."""
    demand_type("a document to write", given, Document)
    return {"generator": given.generator, "text": given.text, "sentences": [sentence(one) for one in given]}


def sentence(given: Sentence) -> dict[str, Any]:
    """Return the values of a sentence."""
    demand_type("a sentence to write", given, Sentence)
    tokens = given.tokens
    held = given.treebank.probabilities
    tags = () if held is None else tuple(held.tags)
    tokens_of = [token for token in tokens for _ in range(token.first, token.last + 1)]
    return {
        "generator": given.generator,
        "id": given.id,
        "text": given.text,
        "start": tokens[0].start,
        "end": tokens[-1].end,
        "probability": _rounded(given.probability),
        "words": [_word(word, token, tags) for word, token in zip(given, tokens_of, strict=True)],
        "multiword_tokens": [
            {"text": one.text, "first": one.first, "last": one.last, "start": one.start, "end": one.end}
            for one in tokens
            if one.is_multiword
        ],
    }


def _word(given: Word, token: Token, tags: Sequence[str]) -> dict[str, Any]:
    head = given.head
    out: dict[str, Any] = {
        "index": given.index,
        "text": given.text,
        "upos": _known(given.upos),
        "head": head.index if head is not None else 0 if given.is_root else None,
        "relation": given.relation if head is not None or given.is_root else None,
        "probability": _rounded(given.probability),
        "start": token.start,
        "end": token.end,
        "space_after": token.space_after and given.index == token.last,
    }
    if given.sentence.treebank.graphs is not None:
        out["heads"] = [
            {"head": int(one.index), "relation": one.relation, "probability": _rounded(one.probability)}
            for one in given.heads
        ]
    more = (
        ("lemma", _known(given.lemma)),
        ("xpos", _known(given.xpos)),
        ("feats", dict(given.feats)),
        ("tag_probabilities", {name: _rounded(given.tag_probability(name)) for name in tags}),
    )
    return out | {name: value for name, value in more if value}


def _rounded(probability: float | None) -> float | None:
    return None if probability is None else round(probability, DIGITS)


def _known(value: str) -> str | None:
    return None if value == "_" else value


def compact(value: object) -> bytes:
    """Write JSON without spaces, as the server answers; lone surrogates become `?`."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _lines(given: Document, _: Look) -> Iterator[bytes]:
    return (json.dumps(sentence(one), ensure_ascii=False).encode() + b"\n" for one in given)


def _listed(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Make one JSON list of objects on lines of their own."""
    before = b"[\n"
    for line in lines:
        yield before + line.removesuffix(b"\n")
        before = b",\n"
    yield b"\n]\n" if before == b",\n" else b"[]\n"


FORMAT = OutputFormat(
    _lines,
    {".jsonl": iter, ".json": _listed},
    "application/json",
    document=lambda given: compact(document(given)),
    tag_probabilities=True,
)
