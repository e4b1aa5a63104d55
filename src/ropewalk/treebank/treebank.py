"""The annotation of many sentences as typed columns, without Python objects for words.

A treebank that was read from a file keeps its `Source`, so that writing it again loses nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

import ropewalk
from ropewalk.core.arrays import as_array, frozen_ints, ints
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import Tree, Trees
from ropewalk.errors import CrossingsError, FormatError, MismatchError, demand_known, demand_type
from ropewalk.treebank.edits import demand_trees, edits_of
from ropewalk.treebank.source import COLUMNS, Source
from ropewalk.treebank.surface import Heading, Probabilities, Surface

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from ropewalk import Graphs, Sentence
    from ropewalk.core.arrays import Ints
    from ropewalk.search import Matches, Pattern, RewriteRule

Value = TypeVar("Value")

EDITABLE = tuple(name for name in COLUMNS if name not in {"id", "head"})


def position(index: int, count: int, item: str, whole: str) -> int:
    """Return `index` counted from the start of `count` items; raise an `IndexError` if there is no such item.

    `item` and `whole` name an item and the sequence in the message.
    """
    try:
        return range(count)[index]
    except IndexError:
        raise IndexError(no_item(index, count, item, whole)) from None


def no_item(index: int, count: int, item: str, whole: str) -> str:
    """Return a message that no item of a sequence of `count` items has this index."""
    return f"no {item} has index {index}; the {whole} has {count}, counted from 0"


@dataclass(frozen=True, slots=True, eq=False)
class Treebank:
    """The annotation of many sentences as columns: `offsets[s]` is the slice of the words of sentence s in each column.

    - `heads`: the head of each word, from 1 within its sentence; 0 is the root, and -1 is no head. They are not checked
      here: `trees` checks whether they form trees.
    - `columns`: the relations (`deprel`) and other columns of CoNLL-U. A column that is missing here is read from
      `source` when it is needed.
    - `source`: the CoNLL-U that the treebank was read from, if any.
    - `changed`: the names of the columns that differ from the source. Writing the treebank changes only those.
    - `tokens`, `headings`, `estimates`: set if they are not read from the source. Use `surface`, `heading` and
      `probabilities` to get them in either case.
    - `graphs`: enhanced graphs without empty nodes, which replace those of the source.
    """

    offsets: Offsets
    heads: Ints
    columns: Mapping[str, Column]
    source: Source | None = None
    changed: frozenset[str] = frozenset()
    tokens: Surface | None = None
    headings: tuple[Heading, ...] | None = None
    estimates: Probabilities | None = None
    graphs: Graphs | None = None
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)  # a cache of computed values

    def __post_init__(self) -> None:
        heads = frozen_ints(self.heads, "heads")
        object.__setattr__(self, "heads", heads)
        object.__setattr__(self, "offsets", Offsets.of(self.offsets, end=len(heads)))
        demand_type("columns", self.columns, Mapping)
        columns = MappingProxyType(dict(self.columns))
        object.__setattr__(self, "columns", columns)
        if "deprel" not in columns:
            raise MismatchError("a treebank has no column deprel; pass the relation of every word, or _")
        for name, column in columns.items():
            demand_known("column", name, COLUMNS)
            demand_type(f"the column {name}", column, Column)
            self._fits(name, len(column))
        if self.graphs is not None and (self.graphs.empty.any() or self.graphs.offsets != self.offsets):
            raise MismatchError(
                f"graphs of {len(self.graphs)} sentences with {self.graphs.nodes} nodes, perhaps some empty, for "
                f"{len(self)} sentences with {len(heads)} words; expected the same words and no empty nodes"
            )
        source = self.source
        if source is not None and (source.words, len(source.lines)) != (len(heads), len(self)):
            raise MismatchError(
                f"{len(heads)} words in {len(self)} sentences over {source.file}, "
                f"which has {source.words} words in {len(source.lines)} sentences; expected the same numbers"
            )

    @classmethod
    def of(cls, trees: Iterable[Tree], upos: Sequence[Sequence[str]] | None = None) -> Treebank:
        """Return a treebank of `trees`, with the part of speech of each word of each sentence if `upos` is given."""
        demand_type("trees", trees, Iterable)
        trees = trees if isinstance(trees, Trees) else Trees.of(trees)
        return cls(
            trees.offsets,
            trees.heads,
            {"deprel": trees.relations}
            | ({} if upos is None else {"upos": Column.of(tag for tags in upos for tag in tags)}),
        )

    @classmethod
    def of_words(
        cls,
        forms: Column,
        offsets: Offsets,
        *,
        tokens: Surface | None = None,
        headings: tuple[Heading, ...] | None = None,
    ) -> Treebank:
        """Return a treebank of words without trees: every head is -1 and every relation `_`."""
        nothing = np.full(len(forms), -1, dtype=np.int32)
        return cls(
            offsets,
            nothing,
            {"form": forms, "deprel": Column.constant("_", len(forms))},
            tokens=tokens,
            headings=headings,
        )

    @classmethod
    def concat(cls, banks: Iterable[Treebank]) -> Treebank:
        """Return one treebank with the sentences of all `banks`, one treebank after the other.

        Raise a `MismatchError` if only some of them were read from CoNLL-U, or only some have predicted graphs.
        """
        demand_type("treebanks", banks, Iterable)
        every = list(banks)
        for bank in every:
            demand_type("a treebank", bank, Treebank)
        banks = [bank for bank in every if len(bank)]
        if len(banks) < 2:
            return (banks or every or [cls.of([])])[0]
        sources = [bank.source for bank in banks if bank.source is not None]
        if sources and len(sources) < len(banks):
            raise MismatchError(
                f"{len(sources)} of {len(banks)} treebanks come from CoNLL-U and the others do not; "
                "write the others with conllu.dumps and read them with conllu.loads first"
            )
        graphs = [bank.graphs for bank in banks if bank.graphs is not None]
        if graphs and len(graphs) < len(banks):
            raise MismatchError(
                f"{len(graphs)} of {len(banks)} treebanks have predicted graphs; join those that all have them"
            )
        names = {name for bank in banks for name in bank.columns}
        headed = any(bank.headings is not None for bank in banks)
        return cls(
            Offsets.concat([bank.offsets for bank in banks]),
            frozen_ints(np.concatenate([bank.heads for bank in banks])),
            {name: Column.concat([bank.column(name) for bank in banks]) for name in names},
            Source.concat(sources) if sources else None,
            frozenset().union(*(bank.changed for bank in banks)),
            Surface.concat(banks) if any(bank.tokens is not None for bank in banks) else None,
            tuple(bank.heading(number) for bank in banks for number in range(len(bank))) if headed else None,
            Probabilities.concat(banks) if any(bank.estimates is not None for bank in banks) else None,
            type(graphs[0]).concat(graphs) if graphs else None,
        )

    def __reduce__(self) -> tuple[object, ...]:
        fields = {name: getattr(self, name) for name in _FIELDS} | {"columns": dict(self.columns)}
        return partial(Treebank, **fields), ()

    def __len__(self) -> int:
        return len(self.offsets)

    def __repr__(self) -> str:
        source = "" if self.source is None else f", from {self.file}"
        return f"<Treebank of {len(self):,} sentences, {self.words:,} words{source}>"

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> Treebank: ...
    def __getitem__(self, index: int | slice) -> Sentence | Treebank:
        """Return the sentence at an index, from 0, or a treebank of the sentences of a slice."""
        if isinstance(index, slice):
            return self.select(np.arange(len(self))[index])
        return ropewalk.Sentence(self, self._number(index))

    def _number(self, sentence: int) -> int:
        return position(sentence, len(self), "sentence", "treebank")

    def __iter__(self) -> Iterator[Sentence]:
        return map(self.__getitem__, range(len(self)))

    @property
    def relations(self) -> Column:
        """The relation of every word to its head."""
        return self.columns["deprel"]

    @property
    def upos(self) -> Column | None:
        """The part of speech of every word, if known."""
        return self.columns.get("upos")

    @property
    def words(self) -> int:
        """The number of words of all sentences."""
        return len(self.heads)

    @property
    def lengths(self) -> Ints:
        """The number of words of each sentence."""
        return self.offsets.lengths

    @property
    def file(self) -> str:
        """The name of the file that the treebank was read from, or `<treebank>`."""
        return "<treebank>" if self.source is None else self.source.file

    def line(self, sentence: int, word: int | None = None) -> int:
        """Return the number of a word's line in the file, or of the sentence's first line if `word` is None.

        `word` is an index over the whole treebank, from 0. If the treebank was not read from a file, it is the line in
        a file with a line for each word and a blank line after each sentence.
        """
        if self.source is not None:
            return int(self.source.lines[sentence]) if word is None else self.source.line(sentence, word)
        first = self.offsets[sentence].start
        return int(first + sentence + 1 + (0 if word is None else word - first))

    @property
    def surface(self) -> Surface:
        """The tokens of the text and their spaces; if they are unknown, each word is a token."""
        if self.tokens is not None:
            return self.tokens
        source = self.source
        if source is None:
            return self.kept("surface", lambda: Surface.of_words(self.words))
        return self.kept("surface", lambda: source.surface(self.offsets, self.column("misc")))

    @property
    def probabilities(self) -> Probabilities | None:
        """The model's probabilities that heads, trees and tags are right; None if there are none."""
        held, source = self.estimates, self.source
        if held is None and source is not None:
            held = self.kept("probabilities", lambda: source.probabilities(self.offsets, self.column("misc")))
        return None if held is None or (held.arcs is None and held.trees is None and not held.tags) else held

    def heading(self, sentence: int) -> Heading:
        """Return the metadata of one sentence: its name, text, document, paragraph and language."""
        sentence = self._number(sentence)
        if self.headings is not None:
            return self.headings[sentence]
        return Heading() if self.source is None else self.source.heading(sentence)

    def all_headings(self) -> Sequence[Heading]:
        """Return the metadata of all sentences; see `heading`."""
        if self.headings is not None:
            return self.headings
        source = self.source
        return [Heading()] * len(self) if source is None else self.kept("headings", source.headings)

    def document_before(self, sentence: int, document: str | None = None) -> str | None:
        """Return the name of the last document that begins before the sentence with index `sentence`.

        If none begins there, return `document`.
        """
        begins = range(sentence) if self.headings is not None or self.source is None else self.source.document_starts()
        for number in reversed(begins[: bisect_left(begins, sentence)]):
            if (name := self.heading(number).document) is not None:
                return name
        return document

    def comments(self, sentence: int) -> tuple[str, ...]:
        """Return the comment lines of one sentence as in the file; empty if it was not read from a file."""
        return () if self.source is None else self.source.comments(self._number(sentence))

    def tree(self, sentence: int) -> Tree:
        """Return the tree of one sentence; raise a `TreeError` if its heads are no tree."""
        where = self.offsets[self._number(sentence)]
        return Tree(self.heads[where], self.relations[where].texts())

    def trees(self) -> Trees:
        """Return the trees of all sentences; raise a `TreeError` if the heads of one are no tree."""
        return self.kept("trees", lambda: Trees(self.heads, self.offsets, self.relations))

    def lifted(self, lift: Callable[[Trees], Trees]) -> Trees:
        """Return the result of `lift` for all trees; raise a `FormatError` if a tree has too many crossing arcs."""
        try:
            return lift(self.trees())
        except CrossingsError as error:
            line = self.line(error.sentence - 1)
            raise FormatError(self.file, line, "too-many-crossings", error.problem) from error

    def basic_graphs(self) -> Graphs:
        """Return the basic trees as graphs; a word without a head has no arc."""
        from ropewalk.core.graphs import Graphs

        has = self.heads >= 0
        return Graphs(
            self.offsets,
            np.zeros(self.words, dtype=np.bool_),
            self.offsets.counted(has),
            self.heads[has],
            self.offsets.positions()[has],
            self.relations.take(np.flatnonzero(has)),
        )

    def search(self, pattern: str | Pattern) -> Matches:
        """Return all matches of a pattern in the treebank; docs/search.md describes patterns."""
        return ropewalk.search.compile(pattern).search(self)

    def to_arrow(self, features: Sequence[str] = ()) -> pa.Table:
        """Return a PyArrow table with a row for each word; each name in `features`, such as `Case`, adds a column."""
        return ropewalk.word_tables.arrow(self, features)

    def to_pandas(self, features: Sequence[str] = ()) -> pd.DataFrame:
        """Return a pandas table with a row for each word; each name in `features`, such as `Case`, adds a column."""
        return ropewalk.word_tables.pandas(self, features)

    def to_polars(self, features: Sequence[str] = ()) -> pl.DataFrame:
        """Return a Polars table with a row for each word; each name in `features`, such as `Case`, adds a column."""
        return ropewalk.word_tables.polars(self, features)

    def rewrite(self, rules: str | RewriteRule) -> Treebank:
        """Return the treebank after each rule is applied once; docs/rewriting.md describes rules.

        Raise a `FormatError` with file and line if the result of a rule is no tree.
        """
        import ropewalk

        return ropewalk.search.rewrite(self, rules).treebank

    def column(self, name: str) -> Column:
        """Return the column of CoNLL-U called `name`, such as `lemma`, as text for every word; `_` if it is unknown."""
        demand_known("column", name, COLUMNS)
        if name == "head":
            return Column.of_heads(self.heads)
        graphs = self.graphs
        if name == "deps" and graphs is not None:
            return self.kept(name, lambda: Column.of(ropewalk.deps.texts(graphs)))
        if name in self.columns:
            return self.columns[name]
        source = self.source
        if source is not None:
            return self.kept(name, lambda: source.column(name))
        if name == "id":
            return Column.of_heads(self.offsets.positions())
        return Column.constant("_", self.words)

    def with_trees(self, heads: Ints, relations: Column) -> Treebank:
        """Return the treebank with other heads and relations."""
        heads = frozen_ints(heads, "heads")
        self._fits("head", len(heads))
        self._fits("deprel", len(relations))
        columns = {**self.columns, "deprel": relations}
        return self._with(heads=heads, columns=columns, changed=self.changed | {"head", "deprel"})

    def with_graphs(self, graphs: Graphs | None) -> Treebank:
        """Return the treebank with other enhanced graphs, or none; empty nodes of the source are dropped."""
        return self._with(graphs=graphs, changed=self.changed | {"deps"})

    @property
    def is_edited(self) -> bool:
        """Whether columns were changed or probabilities were set since the treebank was read."""
        return bool(self.changed) or self.estimates is not None

    def with_columns(self, columns: Mapping[str, Column | Sequence[str]]) -> Treebank:
        """Return the treebank with other `columns`, by name; not for IDs, nor for heads: use `with_trees`."""
        known = dict(self.columns)
        for name, texts in columns.items():
            demand_known("column", name, EDITABLE)
            known[name] = texts if isinstance(texts, Column) else Column.of(texts)
            self._fits(name, len(known[name]))
        graphs = None if "deps" in columns else self.graphs
        return self._with(columns=known, changed=self.changed | columns.keys(), graphs=graphs)

    def replace(self, columns: Mapping[str, Any], where: object = None) -> Treebank:
        """Return the treebank with other values for some words; `columns` has them by the name of the column.

        A column is `upos`, `head`, `relation` and so on. Its new values are one of these:

        - a mapping of words to values; a word is a `Word`, or its row, counted from 0 as in `to_pandas`;
        - one value, for all words that `where` chooses;
        - a list with a value for each of these words.

        `where` is a mask with a boolean for each word, or a list of rows or of `Word` objects; by default all words.
        The features of a word may be a mapping.

        Sentences with a new head must be trees with one root; else a `TreeError` names the sentence and the word.
        Writing the treebank changes only these values. DEPS, comments and probabilities that were read stay.
        """
        edits = edits_of(self, columns, where)
        heads, known, estimates = self.heads, dict(self.columns), self.estimates
        for column, rows, values in edits:
            if column == "head":
                heads = heads.copy()
                heads[rows] = values
                demand_trees(self, heads, rows)
            else:
                known[column] = self.column(column).replaced(rows, values)
            estimates = None if estimates is None else estimates.without(column, rows, self.offsets)
        names = {edit.column for edit in edits}
        graphs = None if "deps" in names else self.graphs
        return self._with(heads=heads, columns=known, changed=self.changed | names, estimates=estimates, graphs=graphs)

    def with_probabilities(self, probabilities: Probabilities | None) -> Treebank:
        """Return the treebank with these probabilities, or with none; those read from a file are dropped."""
        estimates = probabilities or Probabilities()
        if estimates.trees is not None and len(estimates.trees) != len(self):
            raise MismatchError(
                f"{len(estimates.trees)} probabilities of trees for {len(self)} sentences; pass one for each"
            )
        for values in (estimates.arcs, *estimates.tags.values()):
            if values is not None:
                self._fits("probability", len(values))
        return self._with(estimates=estimates)

    def with_headings(self, headings: Sequence[Heading]) -> Treebank:
        """Return the treebank with other metadata of sentences; raise a `MismatchError` if it was read from a file."""
        if len(headings) != len(self) or self.source is not None:
            raise MismatchError(f"{len(headings)} headings for {len(self)} sentences, which come from {self.file}")
        return self._with(headings=tuple(headings))

    def with_document(self, name: str) -> Treebank:
        """Return the treebank with a document called `name` that begins at the first sentence."""
        headings = [self.heading(number) for number in range(len(self))]
        return self.with_headings([headings[0]._replace(document=name), *headings[1:]])

    def kept(self, name: str, make: Callable[[], Value]) -> Value:
        """Return the value stored under `name`; compute it with `make` the first time."""
        if name not in self._kept:
            self._kept[name] = make()
        value: Value = self._kept[name]
        return value

    def alias(self) -> Treebank:
        """Return a copy of the treebank with the same columns and an empty cache of computed values."""
        return self._with()

    def _with(self, **changes: Any) -> Treebank:  # noqa: ANN401 - the fields of the class
        """Return a copy of the treebank with other values of some fields and an empty cache."""
        return Treebank(**({name: getattr(self, name) for name in _FIELDS} | changes))

    def _fits(self, name: str, count: int) -> None:
        if count != self.words:
            raise MismatchError(f"{count} values for column {name}, but the treebank has {self.words} words")

    def select(self, sentences: npt.NDArray[Any] | Sequence[int] | Sequence[bool]) -> Treebank:
        """Return a treebank of some sentences, chosen by a mask with a boolean for each, or by indices in any order."""
        chosen = as_array(sentences, "sentences to keep")
        if chosen.dtype == np.bool_:
            if chosen.shape != (len(self),):
                raise MismatchError(f"a mask of {chosen.size} values for a treebank of {len(self)} sentences")
            chosen = np.flatnonzero(chosen)
        chosen = ints(chosen, "sentences to keep")
        outside = chosen[(chosen < -len(self)) | (chosen >= len(self))]
        if len(outside):
            raise MismatchError(no_item(int(outside[0]), len(self), "sentence", "treebank"))
        chosen = np.arange(len(self))[chosen]
        offsets, words = self.offsets.select(chosen)
        return Treebank(
            offsets,
            frozen_ints(self.heads[words]),
            {name: column.take(words) for name, column in self.columns.items()},
            None if self.source is None else self.source.select(self.offsets, chosen),
            self.changed,
            None if self.tokens is None else self.tokens.select(self.offsets, chosen),
            None if self.headings is None else tuple(self.headings[number] for number in chosen.tolist()),
            None if self.estimates is None else self.estimates.select(words, chosen),
            None if self.graphs is None else self.graphs.select(chosen),
        )


_FIELDS = tuple(name for name in Treebank.__dataclass_fields__ if name != "_kept")
