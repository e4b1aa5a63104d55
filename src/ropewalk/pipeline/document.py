"""What comes out: documents of sentences of words, values that look into CoNLL-U and are made when asked for."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final, overload

from ropewalk import conllu, treebank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.drawing import Picture
    from ropewalk.treebank import Treebank


@final
@dataclass(frozen=True, slots=True)
class Token:
    """A token as it stands in the text: one word, or a multiword token such as `don't`.

    `first` and `last` are the indices of its words. `start` and `end` count characters from the beginning of the text,
    and are None where the input was no text.
    """

    text: str
    first: int
    last: int
    start: int | None
    end: int | None
    space_after: bool

    @property
    def is_multiword(self) -> bool:
        """Whether it is written as one and parsed as several words."""
        return self.last > self.first


@final
@dataclass(frozen=True, slots=True, repr=False)
class Word:
    """A word of a sentence; `index` counts from 1."""

    sentence: Sentence
    index: int

    def __repr__(self) -> str:
        return f"Word({self.index} {self.text} {self.upos} {self.relation})"

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The word itself; those of a multiword token may not stand in the text as such."""
        return self.sentence.plain.forms[self.index - 1]

    form = text

    @property
    def upos(self) -> str:
        """The universal part of speech; `_` if nothing gave one."""
        return self.sentence.plain.upos[self.index - 1]

    @property
    def xpos(self) -> str:
        """The treebank's own part of speech; `_` if nothing gave one."""
        return self._column(4)

    @property
    def feats(self) -> str:
        """Features such as `Number=Plur`; `_` if nothing gave any."""
        return self._column(5)

    @property
    def misc(self) -> str:
        """The last column of CoNLL-U, as written."""
        return self._column(9)

    @property
    def head(self) -> Word | None:
        """The word that it hangs on; None for the root."""
        number = self.sentence.plain.heads[self.index - 1]
        return Word(self.sentence, number) if number > 0 else None

    @property
    def relation(self) -> str:
        """What it is to its head, such as `nsubj`."""
        return self.sentence.plain.relations[self.index - 1]

    @property
    def is_root(self) -> bool:
        """Whether it is the root of its sentence."""
        return self.sentence.plain.heads[self.index - 1] == 0

    @property
    def children(self) -> tuple[Word, ...]:
        """The words that hang on it, from the first to the last."""
        return tuple(Word(self.sentence, index) for index in self.sentence.children[self.index])

    @property
    def subtree(self) -> tuple[Word, ...]:
        """The word itself and all below it, from the first to the last."""
        found, waiting = [], [self.index]
        while waiting:
            found.append(waiting.pop())
            waiting += self.sentence.children[found[-1]]
        return tuple(Word(self.sentence, index) for index in sorted(found))

    @property
    def probability(self) -> float | None:
        """How sure the model is of its head; None if it was not asked, or cannot tell."""
        return _confidence(self.misc)

    @property
    def token(self) -> Token:
        """The token that it is, or is part of."""
        return self.sentence.tokens[self.sentence.token_of[self.index - 1]]

    @property
    def start(self) -> int | None:
        """Where its token begins in the text, in characters; None where the input was no text."""
        return self.token.start

    @property
    def end(self) -> int | None:
        """Where its token ends in the text, in characters; None where the input was no text."""
        return self.token.end

    @property
    def space_after(self) -> bool:
        """Whether a space follows; never between the words of one token."""
        return self.token.space_after and self.index == self.token.last

    def to_json(self) -> dict[str, Any]:
        """Give the values that JSON holds; `docs/parsing.md` has the schema."""
        token = self.token
        out: dict[str, Any] = {
            "index": self.index,
            "text": self.text,
            "upos": _known(self.upos),
            "head": max(self.sentence.plain.heads[self.index - 1], 0),
            "relation": self.relation,
            "probability": self.probability,
            "start": token.start,
            "end": token.end,
            "space_after": token.space_after and self.index == token.last,
        }
        return out | {
            name: value for name, value in (("xpos", _known(self.xpos)), ("feats", _known(self.feats))) if value
        }

    def _column(self, at: int) -> str:
        return self.sentence.rows[self.index - 1][at]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Sentence(Sequence[Word]):
    """A sequence of words with their tree; `block` is its CoNLL-U, which everything else is read from."""

    block: str
    generator: str = ""
    plain: treebank.Sentence = field(compare=False, kw_only=True)
    rows: tuple[tuple[str, ...], ...] = field(compare=False, kw_only=True)
    tokens: tuple[Token, ...] = field(compare=False, kw_only=True)
    token_of: tuple[int, ...] = field(compare=False, kw_only=True)
    children: tuple[tuple[int, ...], ...] = field(compare=False, kw_only=True)

    @classmethod
    def of(cls, block: str, generator: str = "") -> Sentence:
        """Read one sentence of sound CoNLL-U."""
        lines = block.rstrip("\n").split("\n")
        comments = tuple(itertools.takewhile(lambda line: line.startswith("#"), lines))
        split = [tuple(line.split("\t")) for line in lines[len(comments) :]]
        rows = tuple(row for row in split if row[0].isdecimal())
        heads = tuple(-1 if row[6] == "_" else int(row[6]) for row in rows)
        tokens = tuple(_tokens(split))
        below: list[list[int]] = [[] for _ in range(len(rows) + 1)]
        for word, head in enumerate(heads, start=1):
            below[max(head, 0)].append(word)
        return cls(
            block,
            generator,
            plain=treebank.Sentence(
                tuple(row[1] for row in rows),
                tuple(row[3] for row in rows),
                heads,
                tuple(row[7] for row in rows),
                comments,
            ),
            rows=rows,
            tokens=tokens,
            token_of=tuple(number for number, token in enumerate(tokens) for _ in range(token.first, token.last + 1)),
            children=tuple(map(tuple, below)),
        )

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Word: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Word, ...]: ...
    def __getitem__(self, index: int | slice) -> Word | tuple[Word, ...]:
        """Give words by their place from 0, as in any sequence."""
        if isinstance(index, slice):
            return tuple(Word(self, place + 1) for place in range(len(self))[index])
        return Word(self, range(len(self))[index] + 1)

    def __iter__(self) -> Iterator[Word]:
        return (Word(self, index) for index in range(1, len(self) + 1))

    def __repr__(self) -> str:
        return f"Sentence({self.text!r})"

    def __str__(self) -> str:
        return self.draw().text()

    @property
    def comments(self) -> tuple[str, ...]:
        """The comment lines, as written."""
        return self.plain.comments

    @property
    def id(self) -> str | None:
        """The name of the sentence, if it has one."""
        return self.plain.sent_id

    @property
    def text(self) -> str:
        """The sentence as running text."""
        said = self.plain.text
        if said is not None:
            return said
        return "".join(token.text + " " * token.space_after for token in self.tokens).rstrip()

    @property
    def start(self) -> int | None:
        """Where it begins in the text, in characters; None where the input was no text."""
        return self.tokens[0].start

    @property
    def end(self) -> int | None:
        """Where it ends in the text, in characters; None where the input was no text."""
        return self.tokens[-1].end

    @property
    def root(self) -> Word:
        """The word that hangs on no other."""
        return Word(self, self.children[0][0])

    @property
    def probability(self) -> float | None:
        """How sure the model is of the whole tree; None if it was not asked, or cannot tell."""
        said = next((line for line in self.comments if line.startswith("# confidence =")), "")
        return _confidence(f"Confidence={said.partition('=')[2].strip()}") if said else None

    def draw(self, *, tags: bool = True, probabilities: bool = False, title: str = "") -> Picture:
        """Draw the tree; `str` of the picture is text, and it knows SVG, TikZ and HTML."""
        from ropewalk.drawing import draw

        shares = [word.probability for word in self] if probabilities else None
        return draw(self.plain, tags=tags, probabilities=shares, title=title)

    def to_conllu(self) -> str:
        """Write CoNLL-U."""
        return self.block

    def to_json(self) -> dict[str, Any]:
        """Give the values that JSON holds; `docs/parsing.md` has the schema."""
        return {
            "generator": self.generator,
            "id": self.id,
            "text": self.text,
            "start": self.start,
            "end": self.end,
            "probability": self.probability,
            "words": [word.to_json() for word in self],
            "multiword_tokens": [
                {"text": one.text, "first": one.first, "last": one.last, "start": one.start, "end": one.end}
                for one in self.tokens
                if one.is_multiword
            ],
        }

    def to_displacy(self) -> dict[str, Any]:
        """Give what `displacy.render(…, style="dep", manual=True)` of spaCy draws."""
        arcs = []
        for place, (head, relation) in enumerate(zip(self.plain.heads, self.plain.relations, strict=True)):
            if head > 0:
                start, end = sorted((place, head - 1))
                arcs.append(
                    {"start": start, "end": end, "label": relation, "dir": "left" if start == place else "right"}
                )
        words = [{"text": text, "tag": tag} for text, tag in zip(self.plain.forms, self.plain.upos, strict=True)]
        return {"words": words, "arcs": arcs}

    def _repr_html_(self) -> str:
        return self.draw()._repr_html_()


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Document(Sequence[Sentence]):
    """The sentences of a text. `text` is what was parsed, None if that was no text; `bank` has it all as arrays."""

    bank: Treebank
    text: str | None
    generator: str

    @classmethod
    def of(cls, bank: Treebank, text: str | None = None, generator: str = "") -> Document:
        """Take a parsed treebank as a document."""
        return cls(replace(bank, text=bank.rendered(), edits=MappingProxyType({})), text, generator)

    def __len__(self) -> int:
        return len(self.bank)

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Sentence, ...]: ...
    def __getitem__(self, index: int | slice) -> Sentence | tuple[Sentence, ...]:
        """Give sentences by their place from 0, as in any sequence."""
        if isinstance(index, slice):
            return tuple(self._sentence(number) for number in range(len(self))[index])
        return self._sentence(range(len(self))[index])

    def __iter__(self) -> Iterator[Sentence]:
        return map(self._sentence, range(len(self)))

    def __repr__(self) -> str:
        return f"<Document of {len(self)} sentences, {self.bank.words} words>"

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    @property
    def words(self) -> tuple[Word, ...]:
        """All words of all sentences."""
        return tuple(word for sentence in self for word in sentence)

    def to_conllu(self) -> str:
        """Write CoNLL-U."""
        return conllu.dumps(self.bank).decode("utf-8")

    def to_json(self) -> dict[str, Any]:
        """Give the values that JSON holds; `docs/parsing.md` has the schema."""
        return {"generator": self.generator, "text": self.text, "sentences": [one.to_json() for one in self]}

    def to_displacy(self) -> list[dict[str, Any]]:
        """Give what `displacy.render(…, style="dep", manual=True)` of spaCy draws."""
        return [sentence.to_displacy() for sentence in self]

    def _repr_html_(self) -> str:
        return "\n".join(sentence._repr_html_() for sentence in self)

    def _sentence(self, number: int) -> Sentence:
        assert self.bank.text is not None  # noqa: S101 - `of` saw to it
        return Sentence.of(self.bank.text.sentence(number).decode("utf-8"), self.generator)


def _confidence(misc: str) -> float | None:
    from ropewalk.drawing import confidence

    return confidence(misc)


def _known(value: str) -> str | None:
    return None if value == "_" else value


def _tokens(rows: Sequence[tuple[str, ...]]) -> Iterator[Token]:
    """Read the tokens of a sentence from its lines: multiword tokens stand for the words that they span."""
    reached = 0
    for row in rows:
        first, dash, last = row[0].partition("-")
        if dash:
            reached = int(last)
            yield _token(row, int(first), reached)
        elif first.isdecimal() and int(first) > reached:
            reached = int(first)
            yield _token(row, reached, reached)


def _token(row: tuple[str, ...], first: int, last: int) -> Token:
    parts = dict(part.partition("=")[::2] for part in row[9].split("|"))
    start, _, end = parts.get("TokenRange", "").partition(":")
    told = start.isdecimal() and end.isdecimal()
    return Token(
        row[1],
        first,
        last,
        int(start) if told else None,
        int(end) if told else None,
        parts.get("SpaceAfter") != "No",
    )
