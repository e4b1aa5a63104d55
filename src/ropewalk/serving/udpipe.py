"""UDPipe's REST protocol: what its parameters ask for, and what its answers look like.

The rules are those of the service's reference, <https://lindat.mff.cuni.cz/services/udpipe/api-reference.php>, and of
the formats in UDPipe 1's manual.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from ropewalk import conllu
from ropewalk.errors import RequestError
from ropewalk.formats.conllu import unescaped
from ropewalk.serving.sources import Conllu, Lines, RequestText, Words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ropewalk.documents import Document
    from ropewalk.serving.sources import RequestSource

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
class Request:
    """What a request to `/process` asks for."""

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
        """Whether the parser is needed."""
        return self.tags or self.trees


def request(fields: Mapping[str, str]) -> Request:
    """Read the parameters of a request to `/process`."""
    if "data" not in fields:
        raise RequestError(400, "Required argument 'data' is missing.")
    tokenizer = _options("tokenizer", fields.get("tokenizer", ""), TOKENIZER)
    name, input_options = _format("input", fields.get("input") or "conllu", dict.fromkeys(INPUTS, TOKENIZER))
    if name == "generic_tokenizer":
        tokenizer |= input_options
    from_text = "tokenizer" in fields or name == "generic_tokenizer"
    output, output_options = _format("output", fields.get("output") or "conllu", OUTPUTS)
    return Request(
        _text(fields["data"], tokenizer) if from_text else _source(fields["data"], name),
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


def _text(data: str, options: frozenset[str]) -> RequestSource:
    return Lines(data) if "presegmented" in options else RequestText(data)


def _source(data: str, name: str) -> RequestSource:
    if name == "conllu":
        return Conllu(data)
    lines = [line.removesuffix("\r") for line in data.split("\n")]
    if name == "horizontal":
        found = [[word for word in line.split(" ") if word] for line in lines]
        return _words(words for words in found if words)
    blocks = groupby(lines, key=lambda line: bool(line.strip()))
    return _words(list(block) for filled, block in blocks if filled)


def _words(sentences: Iterable[list[str]]) -> RequestSource:
    return Words(tuple(tuple(word.replace(NO_BREAK_SPACE, " ").strip(" ") or word for word in s) for s in sentences))


def answer(asked: Request, generator: str, given: Document, parsed: Document) -> str:
    """Write what was asked for: of the parser's work only that."""
    blocks = [list(_sentence(asked, *pair)) for pair in zip(_sentences(given), _sentences(parsed), strict=True)]
    if asked.output == "conllu":
        head = f"# generator = {generator}\n" if blocks else ""
        return head + "".join("".join(f"{line}\n" for line in block) + "\n" for block in blocks)
    write = {"horizontal": _horizontal, "vertical": _vertical, "plaintext": _plain}[asked.output]
    return "".join(
        write(TokenizedSentence.of(block), asked.output_options, first=not number)
        for number, block in enumerate(blocks)
    )


def _sentences(document: Document) -> Iterator[list[str]]:
    text = conllu.dumps(document.treebank).decode("utf-8")
    return (block.split("\n") for block in text.removesuffix("\n\n").split("\n\n")) if text else iter(())


def _sentence(asked: Request, given: list[str], parsed: list[str]) -> Iterator[str]:
    yield from (line for line in given if line.startswith("#"))
    rows = (line for line in parsed if not line.startswith("#"))
    for before in given:
        if before.startswith("#"):
            continue
        old, new = before.split("\t"), next(rows).split("\t")
        tags = (new if asked.tags else old)[2:6]
        tree = (new if asked.trees else old)[6:8]
        yield "\t".join([*old[:2], *tags, *tree, old[8], _misc(asked, old[9])])


def _misc(asked: Request, misc: str) -> str:
    if not asked.ranges:
        misc = conllu.without_places(misc)
    return conllu.without_spaces(misc) if asked.normalized_spaces else misc


class TokenizedSentence(NamedTuple):
    """The words and tokens of a sentence, each token with what MISC says of it."""

    words: list[str]
    tokens: list[tuple[str, dict[str, str]]]
    begins_paragraph: bool

    @classmethod
    def of(cls, block: list[str]) -> TokenizedSentence:
        """Read the lines of one sentence."""
        words, tokens, reached = [], [], 0
        for row in (line.split("\t") for line in block if not line.startswith("#")):
            first, dash, last = row[0].partition("-")
            about = dict(part.partition("=")[::2] for part in row[9].split("|"))
            if dash:
                tokens.append((row[1], about))
                reached = int(last)
            elif first.isdecimal():
                words.append(row[1])
                if int(first) > reached:
                    tokens.append((row[1], about))
        return cls(words, tokens, any(re.match("# new(?:doc|par)", line) for line in block))


def _gap(parts: TokenizedSentence, options: frozenset[str], *, first: bool) -> str:
    return "\n" if "paragraphs" in options and parts.begins_paragraph and not first else ""


def _horizontal(parts: TokenizedSentence, options: frozenset[str], *, first: bool) -> str:
    words = " ".join(word.replace(" ", NO_BREAK_SPACE) for word in parts.words)
    return f"{_gap(parts, options, first=first)}{words}\n"


def _vertical(parts: TokenizedSentence, options: frozenset[str], *, first: bool) -> str:
    return _gap(parts, options, first=first) + "".join(f"{word}\n" for word in parts.words) + "\n"


def _plain(parts: TokenizedSentence, options: frozenset[str], *, first: bool) -> str:
    if "normalized_spaces" in options:
        last = len(parts.tokens) - 1
        said = [
            text + (" " if number < last and about.get("SpaceAfter") != "No" else "")
            for number, (text, about) in enumerate(parts.tokens)
        ]
        return ("\n" if parts.begins_paragraph and not first else "") + "".join(said) + "\n"
    return "".join(_spaced(text, about) for text, about in parts.tokens)


def _spaced(text: str, about: dict[str, str]) -> str:
    after = unescaped(about["SpacesAfter"]) if "SpacesAfter" in about else " " * (about.get("SpaceAfter") != "No")
    return unescaped(about.get("SpacesBefore", "")) + (unescaped(about.get("SpacesInToken", "")) or text) + after
