"""What one looks into: documents of sentences of words, light views of the columns of one treebank.

None of them can be changed. A view holds a place and reads the columns when asked; as long as one is there, so is the
treebank that it looks into. A pickled view takes its treebank along, once for all views that are pickled together. A
copy of a view is the view itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, final, overload

import numpy as np

import ropewalk
from ropewalk.core.trees import Tree
from ropewalk.errors import demand_known, demand_type
from ropewalk.treebank.features import features_of
from ropewalk.treebank.source import COLUMNS
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from ropewalk import Graph, Graphs, Picture


class _Lists:
    """The columns of a treebank as lists, each made when first asked for: all views of the treebank share them."""

    def __init__(self, bank: Treebank) -> None:
        self.bank = bank

    def __getattr__(self, name: str) -> list[str]:
        """Return the strings of a column by its name."""
        if name not in COLUMNS:
            raise AttributeError(name)
        texts = self.bank.column(name).texts()
        setattr(self, name, texts)
        return texts

    @cached_property
    def offsets(self) -> list[int]:
        return _listed(self.bank.offsets.array)

    @cached_property
    def heads(self) -> list[int]:
        return _listed(self.bank.heads)

    @cached_property
    def graphs(self) -> Graphs:
        return ropewalk.deps.read(self.bank)

    @cached_property
    def node_names(self) -> list[str]:
        """How CoNLL-U names each word and empty node."""
        return self.graphs.names()

    @cached_property
    def word_nodes(self) -> list[int]:
        """For each word its place among all nodes."""
        return _listed(np.flatnonzero(~self.graphs.empty))

    @cached_property
    def node_arcs(self) -> list[int]:
        return _listed(self.graphs.node_arcs)

    @cached_property
    def arcs(self) -> list[float | None]:
        found = self.bank.probabilities
        return _known(None if found is None else found.arcs, self.bank.words)

    @cached_property
    def trees(self) -> list[float | None]:
        found = self.bank.probabilities
        return _known(None if found is None else found.trees, len(self.bank))

    def tags(self, column: str) -> list[float | None]:
        found = self.bank.probabilities
        shares = None if found is None else found.tags.get(column)
        return self.bank.kept(f"{column} probabilities", lambda: _known(shares, self.bank.words))

    @cached_property
    def children(self) -> list[list[int]]:
        """For each word the places of those that hang on it, from the first to the last."""
        below: list[list[int]] = [[] for _ in self.heads]
        places = np.repeat(self.bank.offsets.starts, self.bank.lengths) + self.bank.heads - 1
        for word, (head, place) in enumerate(zip(self.heads, places.tolist(), strict=True)):
            if head > 0:
                below[place].append(word)
        return below

    @cached_property
    def first(self) -> list[int]:
        """For each token the place of its first word, and one more for the end."""
        return _listed(self.bank.surface.first)

    @cached_property
    def token_of(self) -> list[int]:
        return _listed(np.repeat(np.arange(len(self.bank.surface)), np.diff(self.bank.surface.first)))

    @cached_property
    def tokens(self) -> list[int]:
        """Where the tokens of each sentence stand."""
        return _listed(self.bank.surface.offsets(self.bank.offsets).array)

    @cached_property
    def starts(self) -> list[int]:
        return _listed(self.bank.surface.starts)

    @cached_property
    def stops(self) -> list[int]:
        return _listed(self.bank.surface.stops)

    @cached_property
    def after(self) -> list[str]:
        return self.bank.surface.after.texts()


def _listed(values: npt.NDArray[Any]) -> list[int]:
    found: list[int] = values.tolist()
    return found


def _known(values: Any, count: int) -> list[float | None]:  # noqa: ANN401 - an array of any kind of float
    return [None] * count if values is None else [None if isnan(value) else value for value in values.tolist()]


def _lists(bank: Treebank) -> _Lists:
    return bank.kept("lists", lambda: _Lists(bank.alias()))  # not of the bank itself: nothing would free either


class _View:
    """Base of all views. A view never changes, so a copy is the view itself."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self


@final
class Token(_View):
    """A token as it stands in the text: one word, or a multiword token such as `don't`."""

    __slots__ = ("_lists", "_number", "_start")

    def __init__(self, lists: _Lists, number: int, start: int) -> None:
        self._lists = lists
        self._number = number
        self._start = start  # of the sentence's first word

    def __reduce__(self) -> tuple[object, ...]:
        return _restored_token, (self._lists.bank, self._number, self._start)

    def __repr__(self) -> str:
        return f"Token({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Token) and self._number == other._number and self._lists is other._lists

    def __hash__(self) -> int:
        return hash((id(self._lists), self._number))

    @property
    def text(self) -> str:
        """What is written, with single spaces if there are any inside."""
        text = self._lists.bank.surface.texts.get(self._number)
        return self._lists.form[self._lists.first[self._number]] if text is None else text

    @property
    def written(self) -> str:
        """What is written, with its spaces as they are."""
        return self._lists.bank.surface.written.get(self._number, self.text)

    @property
    def first(self) -> int:
        """The index of its first word."""
        return self._lists.first[self._number] - self._start + 1

    @property
    def last(self) -> int:
        """The index of its last word."""
        return self._lists.first[self._number + 1] - self._start

    @property
    def start(self) -> int | None:
        """Where it begins, in characters from the beginning of the text; None where the input was no text."""
        place = self._lists.starts[self._number]
        return place if place >= 0 else None

    @property
    def end(self) -> int | None:
        """Where it ends, in characters from the beginning of the text; None where the input was no text."""
        place = self._lists.stops[self._number]
        return place if place >= 0 else None

    @property
    def spaces(self) -> str:
        """The spaces that follow."""
        return self._lists.after[self._number]

    @property
    def space_after(self) -> bool:
        """Whether any space follows."""
        return bool(self._lists.after[self._number])

    @property
    def is_multiword(self) -> bool:
        """Whether it is written as one and parsed as several words."""
        return self.last > self.first


@final
@dataclass(frozen=True, slots=True)
class Head:
    """A head of a word in the enhanced graph: `index` is its number as text, `0` for the root and such as `8.1`.

    `word` is None for the root and for an empty node; `probability` is how likely the model holds the arc to be right.
    """

    index: str
    relation: str
    word: Word | None
    probability: float | None


@final
class Word(_View):
    """A word of a sentence; `index` counts from 1."""

    __slots__ = ("_at", "_lists", "index", "sentence")

    def __init__(self, sentence: Sentence, lists: _Lists, at: int, index: int) -> None:
        self.sentence = sentence
        self.index = index
        self._lists = lists
        self._at = at

    def __reduce__(self) -> tuple[object, ...]:
        return _restored_word, (self.sentence, self.index)

    def __repr__(self) -> str:
        return f"Word({self.index} {self.text} {self.upos} {self.relation})"

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Word) and self._at == other._at and self._lists is other._lists

    def __hash__(self) -> int:
        return hash((id(self._lists), self._at))

    @property
    def text(self) -> str:
        """The word itself; those of a multiword token may not stand in the text as such."""
        return self._lists.form[self._at]

    form = text

    @property
    def lemma(self) -> str:
        """The word's lemma; `_` if nothing gave one."""
        return self._lists.lemma[self._at]

    @property
    def upos(self) -> str:
        """The universal part of speech; `_` if nothing gave one."""
        return self._lists.upos[self._at]

    @property
    def xpos(self) -> str:
        """The treebank's own part of speech; `_` if nothing gave one."""
        return self._lists.xpos[self._at]

    @property
    def feats(self) -> Mapping[str, str]:
        """Features and their values, such as `Number` and `Plur`; nothing if nothing gave any."""
        return MappingProxyType(features_of(self.feats_text))

    @property
    def feats_text(self) -> str:
        """Features as CoNLL-U has them, such as `Number=Plur`; `_` if nothing gave any."""
        return self._lists.feats[self._at]

    @property
    def misc(self) -> str:
        """The last column of CoNLL-U as it was read; `_` if there was none."""
        return self._lists.misc[self._at]

    @property
    def head(self) -> Word | None:
        """The word that it hangs on; None for the root."""
        number = self._lists.heads[self._at]
        if number <= 0:
            return None
        return Word(self.sentence, self._lists, self._at - self.index + number, number)

    @property
    def relation(self) -> str:
        """What it is to its head, such as `nsubj`."""
        return self._lists.deprel[self._at]

    @property
    def heads(self) -> tuple[Head, ...]:
        """All its heads in the enhanced graph, with relations; none where there is no graph."""
        lists, graphs = self._lists, self._lists.graphs
        first = graphs.offsets[self.sentence.number].start
        node = lists.word_nodes[self._at]
        out = []
        for arc in range(lists.node_arcs[node], lists.node_arcs[node + 1]):
            number = int(graphs.heads[arc])
            name = lists.node_names[first + number - 1] if number else "0"
            is_word = number > 0 and not graphs.empty[first + number - 1]
            word = Word(self.sentence, lists, self._at - self.index + int(name), int(name)) if is_word else None
            shares = graphs.probabilities
            share = None if shares is None else float(shares[arc])
            out.append(Head(name, graphs.relations.names[graphs.relations.ids[arc]], word, share))
        return tuple(out)

    @property
    def is_root(self) -> bool:
        """Whether it is the root of its sentence."""
        return self._lists.heads[self._at] == 0

    @property
    def children(self) -> tuple[Word, ...]:
        """The words that hang on it, from the first to the last."""
        return self._others(self._lists.children[self._at])

    @property
    def subtree(self) -> tuple[Word, ...]:
        """The word itself and all below it, from the first to the last."""
        found, waiting = [], [self._at]
        while waiting:
            found.append(waiting.pop())
            waiting += self._lists.children[found[-1]]
        return self._others(sorted(found))

    @property
    def probability(self) -> float | None:
        """How likely the model holds its head to be right; None if it was not asked, or cannot tell."""
        return self._lists.arcs[self._at]

    def tag_probability(self, column: str) -> float | None:
        """Tell how likely the model holds its tag in a column, such as `upos`, to be right; None if not asked."""
        return self._lists.tags(column)[self._at]

    @property
    def token(self) -> Token:
        """The token that it is, or is part of."""
        return Token(self._lists, self._lists.token_of[self._at], self._at - self.index + 1)

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

    def _others(self, places: list[int]) -> tuple[Word, ...]:
        before = self._at - self.index
        return tuple(Word(self.sentence, self._lists, place, place - before) for place in places)


@final
class Sentence(_View, Sequence[Word]):
    """A sequence of words with their tree; `number` counts the sentences of its treebank from 0.

    `generator` is what made the tree, if that is known.
    """

    __slots__ = ("_first", "_last", "_lists", "generator", "number")

    def __init__(self, bank: Treebank, number: int, generator: str = "") -> None:
        lists = _lists(bank)
        self._lists = lists
        self._first = lists.offsets[number]
        self._last = lists.offsets[number + 1]
        self.number = number
        self.generator = generator

    def __reduce__(self) -> tuple[object, ...]:
        return Sentence, (self.treebank, self.number, self.generator)

    def __len__(self) -> int:
        return self._last - self._first

    @overload
    def __getitem__(self, index: int) -> Word: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Word, ...]: ...
    def __getitem__(self, index: int | slice) -> Word | tuple[Word, ...]:
        """Give words by their place from 0, as in any sequence."""
        if isinstance(index, slice):
            return tuple(self._word(place) for place in range(len(self))[index])
        return self._word(range(len(self))[index])

    def __iter__(self) -> Iterator[Word]:
        lists, before = self._lists, self._first - 1
        return (Word(self, lists, at, at - before) for at in range(self._first, self._last))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sentence) and self.number == other.number and self._lists is other._lists

    def __hash__(self) -> int:
        return hash((id(self._lists), self.number))

    def __repr__(self) -> str:
        return f"Sentence({self.text!r})"

    def __str__(self) -> str:
        return self.draw(tags=True).text()

    @property
    def treebank(self) -> Treebank:
        """The treebank that it is a sentence of."""
        return self._lists.bank

    @property
    def forms(self) -> tuple[str, ...]:
        """The words as strings."""
        return tuple(self._lists.form[self._first : self._last])

    @property
    def upos(self) -> tuple[str, ...]:
        """The universal part of speech of each word."""
        return tuple(self._lists.upos[self._first : self._last])

    @property
    def heads(self) -> tuple[int, ...]:
        """The index of each word's head: 0 for the root, -1 where there is none."""
        return tuple(self._lists.heads[self._first : self._last])

    @property
    def relations(self) -> tuple[str, ...]:
        """What each word is to its head."""
        return tuple(self._lists.deprel[self._first : self._last])

    @property
    def probabilities(self) -> tuple[float | None, ...]:
        """How likely each word's head is held to be right."""
        return tuple(self._lists.arcs[self._first : self._last])

    def column(self, name: str) -> tuple[str, ...]:
        """Return one column by its name in CoNLL-U, such as `xpos`."""
        demand_known("column", name, COLUMNS)
        texts: list[str] = getattr(self._lists, name)
        return tuple(texts[self._first : self._last])

    @property
    def tree(self) -> Tree:
        """The tree over the words; a `TreeError` if the heads are none."""
        return Tree(self.heads, self.relations)

    @property
    def graph(self) -> Graph:
        """The enhanced graph over the words and empty nodes, as a parser gave it or DEPS has it."""
        return self._lists.graphs[self.number]

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens as they stand in the text."""
        bounds = self._lists.tokens[self.number : self.number + 2]
        return tuple(Token(self._lists, number, self._first) for number in range(*bounds))

    @property
    def comments(self) -> tuple[str, ...]:
        """The comment lines of the file that it was read from, as written."""
        return self._lists.bank.comments(self.number)

    @property
    def id(self) -> str | None:
        """The name of the sentence, if it has one."""
        return self._lists.bank.heading(self.number).id

    @property
    def caption(self) -> str:
        """Its running text if the treebank says what that is, else nothing."""
        return self._lists.bank.heading(self.number).text or ""

    @property
    def text(self) -> str:
        """The sentence as running text, if need be made of its tokens."""
        text = self._lists.bank.heading(self.number).text
        if text is not None:
            return text
        return "".join(token.text + " " * token.space_after for token in self.tokens).rstrip()

    @property
    def start(self) -> int | None:
        """Where it begins in the text, in characters; None where the input was no text."""
        return self[0].start

    @property
    def end(self) -> int | None:
        """Where it ends in the text, in characters; None where the input was no text."""
        return self[-1].end

    @property
    def root(self) -> Word:
        """The word that hangs on no other; the first if there are several."""
        heads = self._lists.heads
        return self._word(next(place for place in range(len(self)) if heads[self._first + place] <= 0))

    @property
    def probability(self) -> float | None:
        """How likely the model holds the whole tree to be right; None if it was not asked, or cannot tell."""
        return self._lists.trees[self.number]

    def draw(self, *, tags: bool = True, probabilities: bool = False, title: str = "") -> Picture:
        """Draw the tree; `str` of the picture is text, and it knows SVG, TikZ and HTML.

        What a parser's enhanced graph adds to the tree is drawn below the words.
        """
        shares = self.probabilities if probabilities else None
        return ropewalk.draw(self, ropewalk.PictureOptions(tags=tags, probabilities=shares, title=title))

    def to_conllu(self) -> str:
        """Write CoNLL-U."""
        return ropewalk.conllu.dumps(self.treebank.select([self.number])).decode("utf-8")

    def to_json(self) -> dict[str, Any]:
        """Give the values that JSON holds; `docs/parsing.md` has the schema."""
        return ropewalk.json.sentence(self)

    def to_displacy(self) -> dict[str, Any]:
        """Give what `displacy.render(…, style="dep", manual=True)` of spaCy draws."""
        return ropewalk.displacy.sentence(self)

    def _repr_html_(self) -> str:
        return self.draw()._repr_html_()

    def _word(self, place: int) -> Word:
        return Word(self, self._lists, self._first + place, place + 1)


def _restored_word(sentence: Sentence, index: int) -> Word:
    return sentence[index - 1]


def _restored_token(bank: Treebank, number: int, start: int) -> Token:
    return Token(_lists(bank), number, start)


@final
class Document(_View, Sequence[Sentence]):
    """The sentences of a text. `text` is what was parsed, None if that was no text; `generator` is what made the trees.

    Several documents may look into one treebank, each into a stretch of its sentences.
    """

    __slots__ = ("_bank", "_sentences", "generator", "text")

    def __init__(
        self, bank: Treebank, text: str | None = None, generator: str = "", *, sentences: range | None = None
    ) -> None:
        demand_type("the sentences of a document", bank, Treebank)
        self._bank = bank
        self._sentences = range(len(bank)) if sentences is None else sentences
        self.text = text
        self.generator = generator

    def __reduce__(self) -> tuple[object, ...]:
        shared = _lists(self._bank).bank  # which its sentences take along too
        return _restored_document, (shared, self.text, self.generator, self._sentences)

    def __len__(self) -> int:
        return len(self._sentences)

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Sentence, ...]: ...
    def __getitem__(self, index: int | slice) -> Sentence | tuple[Sentence, ...]:
        """Give sentences by their place from 0, as in any sequence."""
        if isinstance(index, slice):
            return tuple(Sentence(self._bank, number, self.generator) for number in self._sentences[index])
        return Sentence(self._bank, self._sentences[index], self.generator)

    def __iter__(self) -> Iterator[Sentence]:
        bank, generator = self._bank, self.generator
        return (Sentence(bank, number, generator) for number in self._sentences)

    def __repr__(self) -> str:
        return f"<Document of {len(self)} sentences, {sum(map(len, self))} words>"

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    @property
    def treebank(self) -> Treebank:
        """All of it as arrays."""
        if len(self) < len(self._bank):
            self._bank, self._sentences = self._bank.select(np.array(self._sentences, dtype=np.int64)), range(len(self))
        return self._bank

    @property
    def words(self) -> tuple[Word, ...]:
        """All words of all sentences."""
        return tuple(word for sentence in self for word in sentence)

    def to_conllu(self) -> str:
        """Write CoNLL-U."""
        return ropewalk.conllu.dumps(self.treebank, generator=self.generator).decode("utf-8")

    def to_json(self) -> dict[str, Any]:
        """Give the values that JSON holds; `docs/parsing.md` has the schema."""
        return ropewalk.json.document(self)

    def to(self, name: str) -> str:
        """Write an output format by its name, such as `conllu`; docs/own-format.md adds one."""
        return ropewalk.formats.get(name).dumps(self).decode("utf-8")

    def to_displacy(self) -> list[dict[str, Any]]:
        """Give what `displacy.render(…, style="dep", manual=True)` of spaCy draws."""
        return [ropewalk.displacy.sentence(sentence) for sentence in self]

    def _repr_html_(self) -> str:
        return "\n".join(sentence._repr_html_() for sentence in self)


def _restored_document(bank: Treebank, text: str | None, generator: str, sentences: range) -> Document:
    return Document(bank, text, generator, sentences=sentences)
