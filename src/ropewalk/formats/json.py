"""JSON for documents, sentences and words, as values for `json.dumps`; `docs/formats.md` has the schema."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ropewalk.errors import demand_type
from ropewalk.formats import Look, OutputFormat
from ropewalk.treebank.documents import Document, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ropewalk.treebank.documents import Token, Word

DIGITS = 4  # of probabilities
INDEX = re.compile("[0-9]{1,9}")  # of a word, or of the root


def document(document: Document) -> dict[str, Any]:
    """Return a document as a dictionary that `json.dumps` can write."""
    demand_type("a document to write", document, Document)
    return {"generator": document.generator, "text": document.text, "sentences": list(map(sentence, document))}


def sentence(sentence: Sentence) -> dict[str, Any]:
    """Return a sentence as a dictionary that `json.dumps` can write."""
    demand_type("a sentence to write", sentence, Sentence)
    tokens = sentence.tokens
    held = sentence.treebank.probabilities
    tags = () if held is None else tuple(held.tags)
    tokens_of = [token for token in tokens for _ in range(token.first, token.last + 1)]
    return {
        "generator": sentence.generator,
        "id": sentence.id,
        "text": sentence.text,
        "start": tokens[0].start,
        "end": tokens[-1].end,
        "probability": _rounded(sentence.probability),
        "words": [
            _word(word, token, tags, heads)
            for word, token, heads in zip(sentence, tokens_of, _graph_heads(sentence), strict=True)
        ],
        "multiword_tokens": [
            {"text": token.text, "first": token.first, "last": token.last, "start": token.start, "end": token.end}
            for token in tokens
            if token.is_multiword
        ],
    }


def _graph_heads(sentence: Sentence) -> Iterable[list[dict[str, Any]] | None]:
    """Return the heads of each word in the enhanced graph, from a parser or from DEPS; None if there is no graph."""
    if sentence.treebank.graphs is not None:
        return (
            [
                {"head": int(arc.index), "relation": arc.relation, "probability": _rounded(arc.probability)}
                for arc in word.heads
            ]
            for word in sentence
        )
    texts = sentence.column("deps")
    return map(_heads_of, texts) if any(text != "_" for text in texts) else [None] * len(texts)


def _heads_of(deps: str) -> list[dict[str, Any]]:
    """Return the heads that a text of DEPS lists, unchecked; the index of an empty node, such as 5.1, is a text."""
    items = [item.partition(":") for item in deps.split("|") if item != "_"]
    return [
        {"head": int(head) if INDEX.fullmatch(head) else head, "relation": relation, "probability": None}
        for head, _, relation in items
    ]


def _word(word: Word, token: Token, tags: Sequence[str], heads: list[dict[str, Any]] | None) -> dict[str, Any]:
    head = word.head
    out: dict[str, Any] = {
        "index": word.index,
        "text": word.text,
        "upos": _known(word.upos),
        "head": head.index if head is not None else 0 if word.is_root else None,
        "relation": word.relation if head is not None or word.is_root else None,
        "probability": _rounded(word.probability),
        "start": token.start,
        "end": token.end,
        "space_after": token.space_after and word.index == token.last,
    }
    if heads is not None:
        out["heads"] = heads
    more = (
        ("lemma", _known(word.lemma)),
        ("xpos", _known(word.xpos)),
        ("feats", dict(word.feats)),
        ("tag_probabilities", {name: _rounded(word.tag_probability(name)) for name in tags}),
    )
    return out | {name: value for name, value in more if value}


def _rounded(probability: float | None) -> float | None:
    return None if probability is None else round(probability, DIGITS)


def _known(value: str) -> str | None:
    return None if value == "_" else value


def compact(value: object) -> bytes:
    """Return `value` as JSON without spaces, as the server sends it; lone surrogates become `?`."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _lines(document: Document, _: Look) -> Iterator[bytes]:
    return (json.dumps(sentence(view), ensure_ascii=False).encode() + b"\n" for view in document)


def _listed(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces of one JSON list whose items are `lines`, each on its own line."""
    before = b"[\n"
    for line in lines:
        yield before + line.removesuffix(b"\n")
        before = b",\n"
    yield b"\n]\n" if before == b",\n" else b"[]\n"


FORMAT = OutputFormat(
    _lines,
    {".jsonl": iter, ".json": _listed},
    "application/json",
    document=lambda whole: compact(document(whole)),
    tag_probabilities=True,
)
