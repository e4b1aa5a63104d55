"""Documents, sentences, words and tokens: light views of the columns of a treebank.

Views cannot be changed. A view stores its position in the treebank and reads the columns when it is used. It keeps the
treebank in memory. A pickled view contains its treebank, once for all views that are pickled together. A copy of a view
is the view itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import isnan
from operator import getitem
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, final, overload

import numpy as np

import ropewalk
from ropewalk.core.trees import Tree
from ropewalk.errors import MismatchError, OptionError, demand_known, demand_type
from ropewalk.treebank import edits
from ropewalk.treebank.features import features_of
from ropewalk.treebank.source import COLUMNS
from ropewalk.treebank.treebank import Treebank, position

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from ropewalk import Graph, Graphs, Picture
    from ropewalk.formats import Before
    from ropewalk.morphology.triples import Triple
    from ropewalk.search import Matches, Pattern
    from ropewalk.treebank.phrases import NounPhrase

SHOWN_SENTENCES = 10  # the most pictures of a document in a notebook
SHOWN_CHARACTERS = 60  # of a text in `repr`


class _Lists:
    """The columns of a treebank as lists, each built when first read; all views of the treebank share them."""

    def __init__(self, bank: Treebank) -> None:
        self.bank = bank

    def __getattr__(self, name: str) -> list[str]:
        """Return the text of every word in the column called `name`."""
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
        """The ID of each word and empty node in CoNLL-U, as text."""
        return self.graphs.names()

    @cached_property
    def word_nodes(self) -> list[int]:
        """The index of each word among all nodes of the enhanced graphs, which include empty nodes."""
        return _listed(np.flatnonzero(~self.graphs.empty))

    @cached_property
    def node_arcs(self) -> list[int]:
        return _listed(self.graphs.node_arcs)

    @cached_property
    def arcs(self) -> list[float | None]:
        probabilities = self.bank.probabilities
        return _known(None if probabilities is None else probabilities.arcs, self.bank.words)

    @cached_property
    def trees(self) -> list[float | None]:
        probabilities = self.bank.probabilities
        return _known(None if probabilities is None else probabilities.trees, len(self.bank))

    def tags(self, column: str) -> list[float | None]:
        probabilities = self.bank.probabilities
        shares = None if probabilities is None else probabilities.tags.get(column)
        return self.bank.kept(f"{column} probabilities", lambda: _known(shares, self.bank.words))

    @cached_property
    def children(self) -> list[list[int]]:
        """For each word the indices of its dependents, from left to right."""
        below: list[list[int]] = [[] for _ in self.heads]
        places = np.repeat(self.bank.offsets.starts, self.bank.lengths) + self.bank.heads - 1
        for word, (head, place) in enumerate(zip(self.heads, places.tolist(), strict=True)):
            if head > 0:
                below[place].append(word)
        return below

    @cached_property
    def first(self) -> list[int]:
        """The index of the first word of each token, and the number of words as the end."""
        return _listed(self.bank.surface.first)

    @cached_property
    def token_of(self) -> list[int]:
        return _listed(np.repeat(np.arange(len(self.bank.surface)), np.diff(self.bank.surface.first)))

    @cached_property
    def tokens(self) -> list[int]:
        """The index of the first token of each sentence, and the number of tokens as the end."""
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
    integers: list[int] = values.tolist()
    return integers


def _known(values: Any, count: int) -> list[float | None]:  # noqa: ANN401 - an array of any kind of float
    return [None] * count if values is None else [None if isnan(value) else value for value in values.tolist()]


def _lists(bank: Treebank) -> _Lists:
    return bank.kept("lists", lambda: _Lists(bank.alias()))  # not of the bank itself: nothing would free either


class _View:
    """Base class of all views. A view never changes, so a copy is the view itself."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self


@final
class Token(_View):
    """A token of the text: one word, or several as a multiword token such as `don't`."""

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
        """The text of the token; if it contains spaces, they are single ones."""
        text = self._lists.bank.surface.texts.get(self._number)
        return self._lists.form[self._lists.first[self._number]] if text is None else text

    @property
    def written(self) -> str:
        """The text of the token exactly as it was written, with all spaces inside it."""
        return self._lists.bank.surface.written.get(self._number, self.text)

    @property
    def first(self) -> int:
        """The index of its first word in the sentence, from 1."""
        return self._lists.first[self._number] - self._start + 1

    @property
    def last(self) -> int:
        """The index of its last word in the sentence, from 1."""
        return self._lists.first[self._number + 1] - self._start

    @property
    def start(self) -> int | None:
        """The offset of its first character in the text; None if the input was no text."""
        place = self._lists.starts[self._number]
        return place if place >= 0 else None

    @property
    def end(self) -> int | None:
        """The offset after its last character in the text; None if the input was no text."""
        place = self._lists.stops[self._number]
        return place if place >= 0 else None

    @property
    def spaces(self) -> str:
        """The spaces after the token."""
        return self._lists.after[self._number]

    @property
    def space_after(self) -> bool:
        """Whether there is any space after the token."""
        return bool(self._lists.after[self._number])

    @property
    def is_multiword(self) -> bool:
        """Whether it consists of several words."""
        return self.last > self.first


@final
@dataclass(frozen=True, slots=True)
class Head:
    """A head of a word in the enhanced graph, and the relation of the word to it.

    `index` is the head's ID in CoNLL-U as text, such as `8`, `8.1` for an empty node, or `0` for the root. `word` is
    None for the root and for an empty node. `probability` is the model's probability that the arc is right.
    """

    index: str
    relation: str
    word: Word | None
    probability: float | None


@final
class Word(_View):
    """A word of a sentence; `index` is its position in the sentence, from 1."""

    __slots__ = ("_at", "_lists", "index", "sentence")

    def __init__(self, sentence: Sentence, lists: _Lists, at: int, index: int) -> None:
        self.sentence = sentence
        self.index = index
        self._lists = lists
        self._at = at

    def __reduce__(self) -> tuple[object, ...]:
        return getitem, (self.sentence, self.index - 1)

    def __repr__(self) -> str:
        return f"Word({self.index} {self.text} {self.upos} {self.relation})"

    def __str__(self) -> str:
        return self.text

    def __format__(self, spec: str) -> str:
        return format(self.text, spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Word) and self._at == other._at and self._lists is other._lists

    def __hash__(self) -> int:
        return hash((id(self._lists), self._at))

    @property
    def text(self) -> str:
        """The form of the word; the text may not contain it if the word is part of a multiword token."""
        return self._lists.form[self._at]

    form = text

    @property
    def lemma(self) -> str:
        """The word's lemma; `_` if it is unknown."""
        return self._lists.lemma[self._at]

    @property
    def upos(self) -> str:
        """The universal part of speech; `_` if it is unknown."""
        return self._lists.upos[self._at]

    @property
    def xpos(self) -> str:
        """The treebank's own part of speech; `_` if it is unknown."""
        return self._lists.xpos[self._at]

    @property
    def feats(self) -> Mapping[str, str]:
        """The value of each feature by its name, such as `Plur` for `Number`; empty if none is known."""
        return MappingProxyType(features_of(self.feats_text))

    @property
    def feats_text(self) -> str:
        """The features as text in CoNLL-U, such as `Case=Nom|Number=Plur`; `_` if none is known."""
        return self._lists.feats[self._at]

    @property
    def misc(self) -> str:
        """MISC, the last column of CoNLL-U, as it was read; `_` if there was none."""
        return self._lists.misc[self._at]

    @property
    def head(self) -> Word | None:
        """The word that it depends on; None for the root and for a word without a head."""
        number = self._lists.heads[self._at]
        if number <= 0:
            return None
        return Word(self.sentence, self._lists, self._at - self.index + number, number)

    @property
    def relation(self) -> str:
        """The relation of the word to its head, such as `nsubj`."""
        return self._lists.deprel[self._at]

    @property
    def heads(self) -> tuple[Head, ...]:
        """All heads of the word in the enhanced graph, with relations; empty if there is no graph."""
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
        """Whether it is a root of its sentence: its head is 0."""
        return self._lists.heads[self._at] == 0

    @property
    def children(self) -> tuple[Word, ...]:
        """The words that depend on it, from left to right."""
        return self._others(self._lists.children[self._at])

    @property
    def lefts(self) -> tuple[Word, ...]:
        """The words to its left that depend on it, from left to right."""
        return self._others([place for place in self._lists.children[self._at] if place < self._at])

    @property
    def rights(self) -> tuple[Word, ...]:
        """The words to its right that depend on it, from left to right."""
        return self._others([place for place in self._lists.children[self._at] if place > self._at])

    @property
    def siblings(self) -> tuple[Word, ...]:
        """The other words with the same head, from left to right; empty for a word without a head."""
        heads, first = self._lists.heads, self._at - self.index + 1
        if heads[self._at] < 0:
            return ()
        places = range(first, first + len(self.sentence))
        return self._others([place for place in places if heads[place] == heads[self._at] and place != self._at])

    @property
    def ancestors(self) -> tuple[Word, ...]:
        """Its head, the head of its head, and so on up to the root."""
        above: dict[Word, None] = {}
        word = self.head
        while word is not None and word not in above:  # heads of a file may form a cycle
            above[word] = None
            word = word.head
        return tuple(above)

    def path_to(self, other: Word) -> tuple[Word, ...]:
        """Return the words on the path through the tree from this word to `other`, both included.

        The path goes up to the lowest common ancestor and down again. It is empty if there is none, as with two roots.
        """
        demand_type("the end of a path", other, Word)
        if other.sentence != self.sentence:
            raise MismatchError(f"{self!r} and {other!r} are of different sentences; a path stays in one tree")
        up, down = (self, *self.ancestors), (other, *other.ancestors)
        steps = {word: step for step, word in enumerate(down)}
        for step, word in enumerate(up):
            if word in steps:
                return (*up[: step + 1], *reversed(down[: steps[word]]))
        return ()

    @property
    def subtree(self) -> tuple[Word, ...]:
        """The word itself and all its descendants, from left to right."""
        inside, waiting = {self._at}, [self._at]
        while waiting:
            below = [place for place in self._lists.children[waiting.pop()] if place not in inside]
            inside.update(below)
            waiting += below
        return self._others(sorted(inside))

    @property
    def probability(self) -> float | None:
        """The model's probability that its head is right; None if it was not computed."""
        return self._lists.arcs[self._at]

    def tag_probability(self, column: str) -> float | None:
        """Return the probability that its tag in a column, such as `upos`, is right; None if it was not computed."""
        return self._lists.tags(column)[self._at]

    @property
    def token(self) -> Token:
        """The token that the word is, or is part of."""
        return Token(self._lists, self._lists.token_of[self._at], self._at - self.index + 1)

    @property
    def start(self) -> int | None:
        """The offset of its token's first character in the text; None if the input was no text."""
        return self.token.start

    @property
    def end(self) -> int | None:
        """The offset after its token's last character in the text; None if the input was no text."""
        return self.token.end

    @property
    def space_after(self) -> bool:
        """Whether there is a space after the word; false between the words of one token."""
        return self.token.space_after and self.index == self.token.last

    def _others(self, places: list[int]) -> tuple[Word, ...]:
        before = self._at - self.index
        return tuple(Word(self.sentence, self._lists, place, place - before) for place in places)


@final
class Sentence(_View, Sequence[Word]):
    """A sequence of words with their tree; `number` is its index in the treebank, from 0.

    `generator` is the name of the program or model that made the tree, or empty if that is unknown.
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
        """Return the word at an index, or the words of a slice; here indices count from 0, as in any sequence."""
        if isinstance(index, slice):
            return tuple(self._word(place) for place in range(len(self))[index])
        return self._word(position(index, len(self), "word", "sentence"))

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
        """The treebank that contains the sentence."""
        return self._lists.bank

    @property
    def forms(self) -> tuple[str, ...]:
        """The form of each word."""
        return tuple(self._lists.form[self._first : self._last])

    @property
    def upos(self) -> tuple[str, ...]:
        """The universal part of speech of each word."""
        return tuple(self._lists.upos[self._first : self._last])

    @property
    def heads(self) -> tuple[int, ...]:
        """The index of each word's head, from 1; 0 for the root, -1 if the word has no head."""
        return tuple(self._lists.heads[self._first : self._last])

    @property
    def relations(self) -> tuple[str, ...]:
        """The relation of each word to its head."""
        return tuple(self._lists.deprel[self._first : self._last])

    @property
    def probabilities(self) -> tuple[float | None, ...]:
        """The model's probability that each word's head is right; None if it was not computed."""
        return tuple(self._lists.arcs[self._first : self._last])

    def column(self, name: str) -> tuple[str, ...]:
        """Return the text of each word in the column called `name` in CoNLL-U, such as `xpos`."""
        demand_known("column", name, COLUMNS)
        texts: list[str] = getattr(self._lists, name)
        return tuple(texts[self._first : self._last])

    @property
    def tree(self) -> Tree:
        """The tree of the sentence; reading it raises a `TreeError` if the heads are no tree."""
        return Tree(self.heads, self.relations)

    @property
    def graph(self) -> Graph:
        """The enhanced graph over words and empty nodes, from a parser or from DEPS."""
        return self._lists.graphs[self.number]

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of the sentence; a multiword token is one token."""
        bounds = self._lists.tokens[self.number : self.number + 2]
        return tuple(Token(self._lists, number, self._first) for number in range(*bounds))

    @property
    def comments(self) -> tuple[str, ...]:
        """The comment lines of the sentence in the file that it was read from."""
        return self._lists.bank.comments(self.number)

    @property
    def id(self) -> str | None:
        """The name of the sentence (`sent_id` in CoNLL-U), or None."""
        return self._lists.bank.heading(self.number).id

    @property
    def language(self) -> str | None:
        """The code of its language, such as `fr`; None if it was not identified. See `ropewalk.identify`."""
        return self._lists.bank.heading(self.number).language

    @property
    def caption(self) -> str:
        """Its running text if the treebank contains it, else an empty string."""
        return self._lists.bank.heading(self.number).text or ""

    @property
    def text(self) -> str:
        """Its running text; if the treebank does not contain it, the tokens with their spaces."""
        text = self._lists.bank.heading(self.number).text
        if text is not None:
            return text
        return "".join(token.text + " " * token.space_after for token in self.tokens).rstrip()

    @property
    def start(self) -> int | None:
        """The offset of its first character in the text; None if the input was no text."""
        return self[0].start

    @property
    def end(self) -> int | None:
        """The offset after its last character in the text; None if the input was no text."""
        return self[-1].end

    @property
    def root(self) -> Word:
        """The word that depends on no other word; the first if there are several."""
        heads = self._lists.heads
        return self._word(next(place for place in range(len(self)) if heads[self._first + place] <= 0))

    @property
    def probability(self) -> float | None:
        """The model's probability that the whole tree is right; None if it was not computed."""
        return self._lists.trees[self.number]

    @property
    def noun_phrases(self) -> tuple[NounPhrase, ...]:
        """The noun phrases of the sentence, from left to right; none is inside another."""
        from ropewalk.treebank import phrases  # parsing does not need it

        return phrases.of_sentence(self)

    @property
    def triples(self) -> tuple[Triple, ...]:
        """Subject, verb and object of each clause, read from the enhanced graph, or from one that rules make."""
        from ropewalk.morphology.triples import triples

        return tuple(triples(self))

    def search(self, pattern: str | Pattern) -> Matches:
        """Return all matches of a pattern in the sentence; docs/search.md describes patterns."""
        return ropewalk.search.compile(pattern).search_sentence(self)

    def replace(self, columns: Mapping[str, Any]) -> Sentence:
        """Return the sentence with other values for some words; `columns` has them by the name of the column.

        The values are as in `Treebank.replace`, except that words count from 1 within the sentence, and that a single
        value or a list is for all words of the sentence. The new sentence is in a copy of the treebank.
        """
        rows = edits.rows_of_sentence(self, columns)
        bank = self.treebank.replace(rows, np.arange(self._first, self._last))
        return Sentence(bank, self.number, self.generator)

    def with_word(  # noqa: PLR0913 - a keyword for each column
        self,
        index: int,
        *,
        head: int | Word | None = None,
        relation: str | None = None,
        lemma: str | None = None,
        upos: str | None = None,
        xpos: str | None = None,
        feats: str | Mapping[str, str] | None = None,
    ) -> Sentence:
        """Return the sentence with other values for the word at `index`, from 1; the value `_` clears a column.

        Use `replace` to change several words at once, which a new root needs, or other columns.
        """
        values = {"head": head, "relation": relation, "lemma": lemma, "upos": upos, "xpos": xpos, "feats": feats}
        return self.replace({name: {index: value} for name, value in values.items() if value is not None})

    def draw(self, *, tags: bool = True, probabilities: bool = False, title: str = "") -> Picture:
        """Return a picture of the tree, which can be written as text (with `str`), SVG, TikZ or HTML.

        Arcs of a parser's enhanced graph that are not in the tree are drawn below the words.
        """
        shares = self.probabilities if probabilities else None
        return ropewalk.draw(self, ropewalk.PictureOptions(tags=tags, probabilities=shares, title=title))

    def to_conllu(self) -> str:
        """Return the sentence as CoNLL-U."""
        return ropewalk.conllu.dumps(self.treebank.select([self.number])).decode("utf-8")

    def to_json(self) -> dict[str, Any]:
        """Return the sentence as a dictionary that can be written as JSON; `docs/formats.md` has the schema."""
        return ropewalk.json.sentence(self)

    def to_displacy(self) -> dict[str, Any]:
        """Return the sentence as the input of spaCy's `displacy.render(…, style="dep", manual=True)`."""
        return ropewalk.displacy.sentence(self)

    def to_arrow(self, features: Sequence[str] = ()) -> pa.Table:
        """Return a PyArrow table with a row for each word; each name in `features`, such as `Case`, adds a column."""
        return ropewalk.word_tables.arrow(self.treebank.select([self.number]), features, self._before(), self.generator)

    def to_pandas(self, features: Sequence[str] = ()) -> pd.DataFrame:
        """Return a pandas table with a row for each word; each name in `features`, such as `Case`, adds a column."""
        return ropewalk.word_tables.pandas(self.treebank.select([self.number]), features, self._before())

    def to_polars(self, features: Sequence[str] = ()) -> pl.DataFrame:
        """Return a Polars table with a row for each word; each name in `features`, such as `Case`, adds a column."""
        return ropewalk.word_tables.polars(self.treebank.select([self.number]), features, self._before())

    def _before(self) -> Before:
        """Return the number of sentences before this one in the treebank, and the name of its document, for tables."""
        return ropewalk.formats.Before(self.number, self.treebank.document_before(self.number + 1))

    def _repr_html_(self) -> str:
        return self.draw()._repr_html_()

    def _word(self, place: int) -> Word:
        return Word(self, self._lists, self._first + place, place + 1)


def _restored_token(bank: Treebank, number: int, start: int) -> Token:
    return Token(_lists(bank), number, start)


@final
class Document(_View, Sequence[Sentence]):
    """A sequence of sentences. `text` is the text that was parsed, or None if the input was no text.

    `generator` is the name of the program or model that made the trees. Several documents may share one treebank;
    `sentences` is the range of this document's sentences in `bank`, by default all.
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
        shared = _lists(self._bank).bank  # the treebank that its sentences are pickled with, too
        return partial(Document, sentences=self._sentences), (shared, self.text, self.generator)

    def __len__(self) -> int:
        return len(self._sentences)

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Sentence, ...]: ...
    def __getitem__(self, index: int | slice) -> Sentence | tuple[Sentence, ...]:
        """Return the sentence at an index, from 0, or the sentences of a slice."""
        if isinstance(index, slice):
            return tuple(Sentence(self._bank, number, self.generator) for number in self._sentences[index])
        place = position(index, len(self), "sentence", "document")
        return Sentence(self._bank, self._sentences[place], self.generator)

    def __iter__(self) -> Iterator[Sentence]:
        bank, generator = self._bank, self.generator
        return (Sentence(bank, number, generator) for number in self._sentences)

    def __repr__(self) -> str:
        words = sum(map(len, self))
        counted = (
            f"{count:,} {noun}{'' if count == 1 else 's'}" for count, noun in ((len(self), "sentence"), (words, "word"))
        )
        begin = self[0].text if len(self) else ""
        shown = begin if len(begin) <= SHOWN_CHARACTERS else f"{begin[:SHOWN_CHARACTERS]}…"
        return f"<Document of {', '.join(counted)}: {shown!r}>"

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    @property
    def treebank(self) -> Treebank:
        """The treebank of the document's sentences, with the annotation as columns."""
        if len(self) < len(self._bank):
            self._bank, self._sentences = self._bank.select(np.array(self._sentences, dtype=np.int64)), range(len(self))
        return self._bank

    @property
    def words(self) -> tuple[Word, ...]:
        """The words of all sentences in one tuple."""
        return tuple(word for sentence in self for word in sentence)

    @property
    def noun_phrases(self) -> tuple[NounPhrase, ...]:
        """The noun phrases of all sentences."""
        return tuple(phrase for sentence in self for phrase in sentence.noun_phrases)

    @property
    def triples(self) -> tuple[Triple, ...]:
        """Subject, verb and object of the clauses of all sentences."""
        return tuple(triple for sentence in self for triple in sentence.triples)

    def search(self, pattern: str | Pattern) -> Matches:
        """Return all matches of a pattern in the document; docs/search.md describes patterns."""
        return ropewalk.search.compile(pattern).search(self.treebank)

    def to_conllu(self) -> str:
        """Return the document as CoNLL-U."""
        return ropewalk.conllu.dumps(self.treebank, generator=self.generator).decode("utf-8")

    def to_json(self) -> dict[str, Any]:
        """Return the document as a dictionary that can be written as JSON; `docs/formats.md` has the schema."""
        return ropewalk.json.document(self)

    def to(self, name: str) -> str:
        """Return the document in the text format `name`, such as `conllu`; docs/own-format.md describes own formats."""
        form = ropewalk.formats.get(name)
        if form.binary:
            raise OptionError(
                f'{name} is no text; use ropewalk.formats.get("{name}").dumps(document), which gives bytes'
            )
        return form.dumps(self).decode("utf-8")

    def to_displacy(self) -> list[dict[str, Any]]:
        """Return each sentence as the input of spaCy's `displacy.render(…, style="dep", manual=True)`."""
        return [ropewalk.displacy.sentence(sentence) for sentence in self]

    def to_arrow(self, features: Sequence[str] = ()) -> pa.Table:
        """Return a PyArrow table with a row for each word; each name in `features`, such as `Case`, adds a column."""
        return ropewalk.word_tables.arrow(self.treebank, features, ropewalk.formats.Before(), self.generator)

    def to_pandas(self, features: Sequence[str] = ()) -> pd.DataFrame:
        """Return a pandas table with a row for each word; each name in `features`, such as `Case`, adds a column."""
        return ropewalk.word_tables.pandas(self.treebank, features, ropewalk.formats.Before())

    def to_polars(self, features: Sequence[str] = ()) -> pl.DataFrame:
        """Return a Polars table with a row for each word; each name in `features`, such as `Case`, adds a column."""
        return ropewalk.word_tables.polars(self.treebank, features, ropewalk.formats.Before())

    def _repr_html_(self) -> str:
        pictures = [sentence._repr_html_() for sentence in self[:SHOWN_SENTENCES]]
        if len(self) > SHOWN_SENTENCES:
            pictures.append(
                f"<p>The first {SHOWN_SENTENCES} of {len(self):,} sentences; see another by its index, such as "
                "document[20].</p>"
            )
        return "\n".join(pictures)
