"""The annotation of many sentences as typed columns: work on a whole corpus never loops over Python objects.

A treebank that was read from a file keeps its `Source`, so that writing it again loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import as_array, frozen_ints, ints
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import Tree, Trees
from ropewalk.errors import CrossingsError, FormatError, MismatchError, demand_known, demand_type
from ropewalk.treebank.source import COLUMNS, Source
from ropewalk.treebank.surface import Heading, Probabilities, Surface

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ropewalk import Graphs, Sentence
    from ropewalk.core.arrays import Ints

Value = TypeVar("Value")

EDITABLE = tuple(name for name in COLUMNS if name not in {"id", "head"})
UNWRITABLE = re.compile("[\\t\\n\\r\\0\\ud800-\\udfff]")


@dataclass(frozen=True, slots=True, eq=False)
class Treebank:
    """Many sentences: `offsets[s]` is where the words of sentence s are in every array.

    A head is -1 where there is none. `columns` holds the relations (`deprel`) and every other column that is known;
    the rest is read from `source`, the file, when it is needed. `changed` names the columns that differ from the
    source: writing changes only those. The trees are as given: a reader checks what it reads, and `trees` checks them.
    `tokens`, `headings` and `estimates` are set unless the source has them: use `surface`, `heading` and
    `probabilities`. `graphs` are enhanced graphs over the words alone that replace those of the source.
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
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)  # what was computed once

    def __post_init__(self) -> None:
        heads = frozen_ints(self.heads, "heads")
        object.__setattr__(self, "heads", heads)
        object.__setattr__(self, "offsets", Offsets.of(self.offsets, end=len(heads)))
        demand_type("columns", self.columns, Mapping)
        columns = MappingProxyType(dict(self.columns))
        object.__setattr__(self, "columns", columns)
        if "deprel" not in columns:
            raise MismatchError("a treebank has no column deprel; expected the relation of every word")
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
                f"which has {source.words} words in {len(source.lines)} sentences"
            )

    @classmethod
    def of(cls, trees: Iterable[Tree], upos: Sequence[Sequence[str]] | None = None) -> Treebank:
        """Return a treebank of some trees."""
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
        """Return a treebank of words that have no trees yet."""
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
        """Return treebanks joined end to end; either all or none of them were read from a file."""
        demand_type("treebanks", banks, Iterable)
        given = list(banks)
        for bank in given:
            demand_type("a treebank", bank, Treebank)
        banks = [bank for bank in given if len(bank)]
        if len(banks) < 2:
            return (banks or given or [cls.of([])])[0]
        sources = [bank.source for bank in banks if bank.source is not None]
        if sources and len(sources) < len(banks):
            raise MismatchError(
                f"{len(sources)} of {len(banks)} treebanks come from CoNLL-U and the others do not; "
                "write the others with conllu.dumps and read them with conllu.loads first"
            )
        graphs = [bank.graphs for bank in banks if bank.graphs is not None]
        if graphs and len(graphs) < len(banks):
            raise MismatchError(f"{len(graphs)} of {len(banks)} treebanks have graphs that a parser gave; expected all")
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
        return _restored, ({name: getattr(self, name) for name in _FIELDS} | {"columns": dict(self.columns)},)

    def __len__(self) -> int:
        return len(self.offsets)

    def __repr__(self) -> str:
        return f"<Treebank of {len(self):,} sentences, {self.words:,} words, from {self.file}>"

    def __getitem__(self, sentence: int) -> Sentence:
        import ropewalk

        return ropewalk.Sentence(self, self._number(sentence))

    def _number(self, sentence: int) -> int:
        if not -len(self) <= sentence < len(self):
            raise IndexError(f"sentence {sentence} of a treebank of {len(self)}")
        return sentence % len(self)

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
        """The name of the file that it was read from, or something to put in its place."""
        return "<treebank>" if self.source is None else self.source.file

    def line(self, sentence: int, word: int | None = None) -> int:
        """Return the line number of a word, or of the sentence's first line; words count from 0 over the treebank.

        Without a file it is the line that the word would have if nothing but words were written.
        """
        if self.source is not None:
            return int(self.source.lines[sentence]) if word is None else self.source.line(sentence, word)
        first = self.offsets[sentence].start
        return int(first + sentence + 1 + (0 if word is None else word - first))

    @property
    def surface(self) -> Surface:
        """The tokens of the text; where nobody knows better each word is one."""
        if self.tokens is not None:
            return self.tokens
        source = self.source
        if source is None:
            return self.kept("surface", lambda: Surface.of_words(self.words))
        return self.kept("surface", lambda: source.surface(self.offsets, self.column("misc")))

    @property
    def probabilities(self) -> Probabilities | None:
        """Probabilities of predictions, None if there are none."""
        held, source = self.estimates, self.source
        if held is None and source is not None:
            held = self.kept("probabilities", lambda: source.probabilities(self.offsets, self.column("misc")))
        return None if held is None or (held.arcs is None and held.trees is None and not held.tags) else held

    def heading(self, sentence: int) -> Heading:
        """Return the heading of one sentence."""
        sentence = self._number(sentence)
        if self.headings is not None:
            return self.headings[sentence]
        return Heading() if self.source is None else self.source.heading(sentence)

    def comments(self, sentence: int) -> tuple[str, ...]:
        """Return the comment lines of one sentence as they were read."""
        return () if self.source is None else self.source.comments(self._number(sentence))

    def tree(self, sentence: int) -> Tree:
        """Return the tree of one sentence."""
        where = self.offsets[self._number(sentence)]
        return Tree(self.heads[where], self.relations[where].texts())

    def trees(self) -> Trees:
        """Return the trees of all sentences, checked once; raise a `TreeError` if one of them is no tree."""
        return self.kept("trees", lambda: Trees(self.heads, self.offsets, self.relations))

    def lifted(self, lift: Callable[[Trees], Trees]) -> Trees:
        """Lift the trees by a function; raise a `FormatError` with the line of a tree with too many crossing arcs."""
        try:
            return lift(self.trees())
        except CrossingsError as error:
            line = self.line(error.sentence - 1)
            raise FormatError(self.file, line, "too-many-crossings", error.problem) from error

    def basic_graphs(self) -> Graphs:
        """Return the basic trees as graphs; a word without a head has none there."""
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

    def column(self, name: str) -> Column:
        """Return one column of every word, as it would be written."""
        demand_known("column", name, COLUMNS)
        if name == "head":
            return Column.of_heads(self.heads)
        graphs = self.graphs
        if name == "deps" and graphs is not None:
            return self.kept(name, lambda: Column.of(graphs.deps()))
        if name in self.columns:
            return self.columns[name]
        source = self.source
        if source is not None:
            return self.kept(name, lambda: source.column(name))
        if name == "id":
            return Column.of_heads(self.offsets.positions())
        return Column.constant("_", self.words)

    def with_trees(self, heads: Ints, relations: Column) -> Treebank:
        """Return the same words with other trees."""
        heads = frozen_ints(heads, "heads")
        self._fits("head", len(heads))
        self._fits("deprel", len(relations))
        columns = {**self.columns, "deprel": relations}
        return self._with(heads=heads, columns=columns, changed=self.changed | {"head", "deprel"})

    def with_graphs(self, graphs: Graphs | None) -> Treebank:
        """Return the same words with other enhanced graphs; empty nodes of the source are dropped."""
        return self._with(graphs=graphs, changed=self.changed | {"deps"})

    @property
    def is_edited(self) -> bool:
        """Whether anything came since it was read."""
        return bool(self.changed) or self.estimates is not None

    def with_columns(self, columns: Mapping[str, Column | Sequence[str]]) -> Treebank:
        """Replace columns of every word by name; IDs stay, and heads are replaced by `with_trees`."""
        known = dict(self.columns)
        for name, given in columns.items():
            demand_known("column", name, EDITABLE)
            known[name] = given if isinstance(given, Column) else Column.of(given)
            self._fits(name, len(known[name]))
        graphs = None if "deps" in columns else self.graphs
        return self._with(columns=known, changed=self.changed | columns.keys(), graphs=graphs)

    def with_probabilities(self, probabilities: Probabilities | None) -> Treebank:
        """Return the treebank with these probabilities, or with none; those of an earlier parser are dropped."""
        estimates = probabilities or Probabilities()
        if estimates.trees is not None and len(estimates.trees) != len(self):
            raise MismatchError(f"{len(estimates.trees)} probabilities of trees for {len(self)} sentences")
        for values in (estimates.arcs, *estimates.tags.values()):
            if values is not None:
                self._fits("probability", len(values))
        return self._with(estimates=estimates)

    def with_headings(self, headings: Sequence[Heading]) -> Treebank:
        """Return a treebank that was not read from a file with these headings."""
        if len(headings) != len(self) or self.source is not None:
            raise MismatchError(f"{len(headings)} headings for {len(self)} sentences, which come from {self.file}")
        return self._with(headings=tuple(headings))

    def with_document(self, name: str) -> Treebank:
        """Return the treebank with a document that begins at the first sentence."""
        headings = [self.heading(number) for number in range(len(self))]
        return self.with_headings([headings[0]._replace(document=name), *headings[1:]])

    def kept(self, name: str, make: Callable[[], Value]) -> Value:
        """Compute something of this treebank once, and give it again under its name from then on."""
        if name not in self._kept:
            self._kept[name] = make()
        found: Value = self._kept[name]
        return found

    def alias(self) -> Treebank:
        """Return a treebank of the same columns without computed values."""
        return self._with()

    def _with(self, **changes: Any) -> Treebank:  # noqa: ANN401 - the fields of the class
        """Change some fields; what was read from the source stays known unless it may follow from them."""
        return Treebank(**({name: getattr(self, name) for name in _FIELDS} | changes))

    def _fits(self, name: str, found: int) -> None:
        if found != self.words:
            raise MismatchError(f"{found} values for column {name}, but the treebank has {self.words} words")

    def select(self, sentences: npt.NDArray[Any] | Sequence[int] | Sequence[bool]) -> Treebank:
        """Keep some sentences: a mask of one truth value a sentence, or sentence numbers in any order."""
        chosen = as_array(sentences, "sentences to keep")
        if chosen.dtype == np.bool_:
            if chosen.shape != (len(self),):
                raise MismatchError(f"a mask of {chosen.size} values for a treebank of {len(self)} sentences")
            chosen = np.flatnonzero(chosen)
        chosen = ints(chosen, "sentences to keep")
        if len(chosen) and not (-len(self) <= chosen.min() and chosen.max() < len(self)):
            raise MismatchError(f"sentences {chosen.min()} to {chosen.max()} of a treebank of {len(self)}")
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


def _restored(fields: dict[str, Any]) -> Treebank:
    return Treebank(**fields)


_FIELDS = tuple(name for name in Treebank.__dataclass_fields__ if name != "_kept")
