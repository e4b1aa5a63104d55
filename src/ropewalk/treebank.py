"""The annotation of many sentences as typed columns: work on a whole corpus never loops over Python objects.

A `Treebank` knows nothing of any file format. What it was read from, if anything, is a `Source` that stands beside it,
so that writing the same format again loses nothing.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from ropewalk.arrays import Rebuilt, as_array, checked_offsets, ints, numbers_below
from ropewalk.errors import MismatchError, demand_known, demand_type
from ropewalk.kernels import intern as kernel
from ropewalk.kernels import view
from ropewalk.trees import Tree, frozen_ints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ropewalk import Graphs, Sentence
    from ropewalk.trees import Ints

Places = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating[Any]]
Value = TypeVar("Value")

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
EDITABLE = tuple(name for name in COLUMNS if name not in {"id", "head"})
UNWRITABLE = re.compile("[\\t\\n\\r\\0\\ud800-\\udfff]")


def intern(raw: npt.NDArray[Any], starts: Places, stops: Places) -> tuple[Ints, Ints]:
    """Give equal stretches of bytes one number, in order of first appearance.

    Returns the number of each stretch, and for each number the first stretch that has it.
    """
    raw = as_array(raw, "bytes")
    starts, stops = as_array(starts, "starts"), as_array(stops, "stops")
    if not (raw.dtype == np.uint8 and raw.ndim == 1 and are_places(starts) and are_places(stops)):
        raise MismatchError("stretches of bytes are one row of uint8 and two rows of int64, where they begin and end")
    if len(starts) != len(stops):
        raise MismatchError(f"{len(starts)} stretches of bytes begin and {len(stops)} end")
    if len(starts) and (starts.min() < 0 or stops.max() > len(raw) or (stops < starts).any()):
        raise MismatchError(f"a stretch of bytes lies outside the {len(raw)} that there are, or ends before it begins")
    raw, starts, stops = (np.ascontiguousarray(array) for array in (raw, starts, stops))
    ids = np.zeros(len(starts), dtype=np.int32)
    firsts = np.zeros(len(starts), dtype=np.int32)
    slots = np.full(1 << (2 * len(starts) + 1).bit_length(), -1, dtype=np.int32)
    count = kernel.intern(view(raw), view(starts), view(stops), view(ids), view(slots), view(firsts))
    return ids, firsts[:count]


def are_places(array: npt.NDArray[Any]) -> bool:
    """Tell whether an array is one row of places in bytes."""
    return isinstance(array, np.ndarray) and array.dtype == np.int64 and array.ndim == 1


@dataclass(frozen=True, slots=True, eq=False)
class Column(Rebuilt):
    """One string per word, as numbers into a list of distinct strings."""

    ids: Ints
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        names = tuple(self.names)
        if not {str}.issuperset(map(type, names)) and (strange := [one for one in names if not isinstance(one, str)]):
            raise MismatchError(f"a column holds {strange[0]!r}; expected text")
        ids = frozen_ints(numbers_below(self.ids, len(names), "numbers of a column"))
        object.__setattr__(self, "ids", ids)
        object.__setattr__(self, "names", names)

    def _of_own(self, ids: Ints) -> Column:
        """Make a column of some of this one's numbers, which need no check."""
        column = object.__new__(Column)
        object.__setattr__(column, "ids", frozen_ints(ids))
        object.__setattr__(column, "names", self.names)
        return column

    @classmethod
    def of(cls, texts: Iterable[str]) -> Column:
        """Give equal strings one number, in order of first appearance."""
        numbers: dict[str, int] = {}
        try:
            ids = frozen_ints(np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int32))
        except TypeError as error:
            raise MismatchError(f"a column cannot be made of this: {error}; expected texts") from error
        return cls(ids, tuple(numbers))

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, where: slice) -> Column:
        return self._of_own(self.ids[where])

    def texts(self) -> list[str]:
        """Write out the string of every word."""
        names = self.names
        return [names[number] for number in self.ids.tolist()]

    def take(self, words: npt.NDArray[Any]) -> Column:
        """Pick words by their numbers."""
        return self._of_own(self.ids[words])

    @classmethod
    def of_heads(cls, heads: Ints) -> Column:
        """Write heads as text: `_` where there is none."""
        heads = np.maximum(ints(heads, "heads"), -1)
        most = int(heads.max(initial=0))
        if most > len(heads):  # some head lies outside its sentence, perhaps far outside
            found, ids = np.unique(heads, return_inverse=True)
            return cls(frozen_ints(ids), tuple("_" if head < 0 else str(head) for head in found.tolist()))
        return cls(frozen_ints(heads + 1), ("_", *map(str, range(most + 1))))

    @classmethod
    def concat(cls, columns: Sequence[Column]) -> Column:
        """Lay columns end to end."""
        numbers: dict[str, int] = {}
        ids = [
            np.array([numbers.setdefault(name, len(numbers)) for name in column.names], dtype=np.int32)[column.ids]
            for column in columns
            if len(column)
        ]
        return cls(frozen_ints(np.concatenate(ids) if ids else []), tuple(numbers))


def gather(offsets: npt.NDArray[Any], sentences: npt.NDArray[Any]) -> tuple[Places, Places]:
    """Say where some of many stretches lie: the new offsets, and the old place of every element."""
    starts = offsets[sentences].astype(np.int64)
    lengths = offsets[sentences + 1] - starts
    stops = starts_of(lengths)
    return stops, np.arange(stops[-1]) + np.repeat(starts - stops[:-1], lengths)


def starts_of(lengths: Sequence[int] | npt.NDArray[Any]) -> Places:
    """Say where stretches of these lengths begin when they lie end to end, and where the last one ends."""
    out = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.add.accumulate(lengths, out=out[1:])
    return out


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make an array of one's own read-only."""
    array.flags.writeable = False
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Probabilities:
    """How likely a model holds what it predicted to be right; NaN where it is not known.

    `arcs` has a value for each word's head, `trees` one for each sentence, `tags` those of each column of tags by name.
    """

    arcs: Floats | None = None
    trees: Floats | None = None
    tags: Mapping[str, Floats] = field(default_factory=lambda: MappingProxyType({}))

    def __reduce__(self) -> tuple[object, ...]:
        return Probabilities, (self.arcs, self.trees, dict(self.tags))  # a mapping that cannot be changed has no pickle

    def select(self, words: npt.NDArray[Any], sentences: npt.NDArray[Any]) -> Probabilities:
        """Pick words and sentences by their numbers."""
        return Probabilities(
            None if self.arcs is None else frozen(self.arcs[words]),
            None if self.trees is None else frozen(self.trees[sentences]),
            MappingProxyType({name: frozen(values[words]) for name, values in self.tags.items()}),
        )

    @classmethod
    def concat(cls, banks: Sequence[Treebank]) -> Probabilities:
        """Lay the probabilities of treebanks end to end."""
        parts = [bank.probabilities or cls() for bank in banks]
        words = [bank.words for bank in banks]

        def joined(found: list[Floats | None], sizes: list[int]) -> Floats | None:
            if all(one is None for one in found):
                return None
            pairs = zip(found, sizes, strict=True)
            return frozen(np.concatenate([np.full(size, np.nan) if one is None else one for one, size in pairs]))

        tags = {name: joined([part.tags.get(name) for part in parts], words) for part in parts for name in part.tags}
        return cls(
            joined([part.arcs for part in parts], words),
            joined([part.trees for part in parts], [len(bank) for bank in banks]),
            MappingProxyType({name: values for name, values in tags.items() if values is not None}),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """The tokens that stand in a text: token t is written for the words `first[t]:first[t+1]` of the treebank.

    `texts` has what is written for a token of several words; any other is written as its word. `after` has the spaces
    after each token, `before` those before the first token of a sentence, if there are any, by the sentence's number;
    text of nothing but spaces, which has no sentences, has them as if before a first.
    `starts` and `stops` count characters from the beginning of the text, -1 where nobody knows. `written` has
    tokens with other than single spaces inside as they stand there.
    """

    first: Ints
    texts: Mapping[int, str]
    after: Column
    before: Mapping[int, str]
    starts: Ints
    stops: Ints
    written: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of_words(cls, words: int) -> Surface:
        """Take every word for a token with one space after it."""
        unknown = frozen_ints(np.full(words, -1, dtype=np.int32))
        after = Column(frozen_ints(np.zeros(words, dtype=np.int32)), (" ",))
        return cls(frozen_ints(np.arange(words + 1)), {}, after, {}, unknown, unknown)

    def __len__(self) -> int:
        return len(self.first) - 1

    def offsets(self, offsets: Ints) -> Places:
        """Say where the tokens of each sentence stand, from where its words do."""
        return np.searchsorted(self.first, offsets)

    def select(self, offsets: Ints, sentences: npt.NDArray[Any]) -> Surface:
        """Keep the tokens of some sentences."""
        _, tokens = gather(self.offsets(offsets), sentences)
        sizes = np.diff(self.first)[tokens]
        before = {new: self.before[old] for new, old in enumerate(sentences.tolist()) if old in self.before}
        return Surface(
            frozen_ints(starts_of(sizes)),
            _chosen(self.texts, tokens),
            self.after.take(tokens),
            before if self.before else {},
            frozen_ints(self.starts[tokens]),
            frozen_ints(self.stops[tokens]),
            _chosen(self.written, tokens),
        )

    @classmethod
    def concat(cls, banks: Sequence[Treebank]) -> Surface:
        """Lay the tokens of treebanks end to end."""
        parts = [bank.surface for bank in banks]
        tokens = starts_of([len(part) for part in parts]).tolist()
        words = starts_of([bank.words for bank in banks]).tolist()
        sentences = starts_of([len(bank) for bank in banks]).tolist()
        return cls(
            frozen_ints(np.concatenate([*(p.first[:-1] + w for p, w in zip(parts, words, strict=False)), words[-1:]])),
            {t + base: text for part, base in zip(parts, tokens, strict=False) for t, text in part.texts.items()},
            Column.concat([part.after for part in parts]),
            {s + base: text for part, base in zip(parts, sentences, strict=False) for s, text in part.before.items()},
            frozen_ints(np.concatenate([part.starts for part in parts])),
            frozen_ints(np.concatenate([part.stops for part in parts])),
            {t + base: text for part, base in zip(parts, tokens, strict=False) for t, text in part.written.items()},
        )


def _chosen(texts: Mapping[int, str], tokens: npt.NDArray[Any]) -> dict[int, str]:
    """Number the texts of some tokens anew."""
    return {new: texts[old] for new, old in enumerate(tokens.tolist()) if old in texts} if texts else {}


class Heading(NamedTuple):
    """What is known of a sentence as a whole: its name, its running text, and what begins with it.

    `document` is the name of the document that begins with it, empty if that has none, and None if none begins.
    """

    id: str | None = None
    text: str | None = None
    document: str | None = None
    paragraph: bool = False


class Source(ABC):
    """What a treebank was read from. `lines` has the number of each sentence's first line in `file`.

    `multiwords` and `empties` count the multiword tokens and empty nodes of each sentence.
    """

    __slots__ = ()

    file: str
    lines: Places
    multiwords: Ints
    empties: Ints

    @property
    @abstractmethod
    def size(self) -> int:
        """How many bytes it takes."""

    @property
    @abstractmethod
    def words(self) -> int:
        """How many words it has."""

    @abstractmethod
    def column(self, name: str) -> Column:
        """Read one column of every word."""

    @abstractmethod
    def line(self, sentence: int, word: int) -> int:
        """Give the number of a word's line; words count from 0 over the whole treebank."""

    @abstractmethod
    def comments(self, sentence: int) -> tuple[str, ...]:
        """Give the comment lines of one sentence as written."""

    @abstractmethod
    def heading(self, sentence: int) -> Heading:
        """Read what is known of one sentence as a whole."""

    @abstractmethod
    def surface(self, offsets: Ints, misc: Column) -> Surface:
        """Read the tokens; `misc` is the last column of every word as it is now."""

    @abstractmethod
    def probabilities(self, offsets: Ints, misc: Column) -> Probabilities | None:
        """Read what an earlier parser said of its predictions, if anything."""

    @abstractmethod
    def select(self, offsets: Ints, sentences: npt.NDArray[Any]) -> Self:
        """Keep some sentences, in the order given; `offsets` says where the words of each stand."""

    @classmethod
    @abstractmethod
    def concat(cls, sources: Sequence[Self]) -> Self:
        """Lay sources end to end."""


@dataclass(frozen=True, slots=True, eq=False)
class Treebank:
    """Many sentences: the words of sentence s stand at `offsets[s]:offsets[s+1]` in every array.

    A head is -1 where there is none. `text` is what the sentences were read from, if they were; `edits` holds the
    columns that came since, or all of them, and writing changes only those. The trees are as given: a reader checks
    what it reads, and `Tree` what it is built from. `tokens`, `headings` and `estimates` are there unless a source says
    it: ask `surface`, `heading` and `probabilities`. `graphs` are enhanced graphs over the words alone that take the
    place of the source's.
    """

    offsets: Ints
    heads: Ints
    relations: Column
    upos: Column | None = None
    text: Source | None = None
    edits: Mapping[str, Column] = field(default_factory=lambda: MappingProxyType({}))
    tokens: Surface | None = None
    headings: tuple[Heading, ...] | None = None
    estimates: Probabilities | None = None
    graphs: Graphs | None = None
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)  # what was computed once

    def __post_init__(self) -> None:
        heads = frozen_ints(self.heads, "heads")
        object.__setattr__(self, "heads", heads)
        object.__setattr__(self, "offsets", frozen_ints(checked_offsets(self.offsets, end=len(heads))))
        self._fits("deprel", len(self.relations))
        if self.upos is not None:
            self._fits("upos", len(self.upos))
        for name, column in self.edits.items():
            self._fits(name, len(column))
        if self.graphs is not None and (
            self.graphs.empty.any() or not np.array_equal(self.graphs.offsets, self.offsets)
        ):
            raise MismatchError(
                f"graphs of {len(self.graphs)} sentences with {self.graphs.nodes} nodes, perhaps some empty, for "
                f"{len(self)} sentences with {len(heads)} words; expected the same words and no empty nodes"
            )
        source = self.text
        if source is not None and (source.words, len(source.lines)) != (len(heads), len(self)):
            raise MismatchError(
                f"{len(heads)} words in {len(self)} sentences over {source.file}, "
                f"which has {source.words} words in {len(source.lines)} sentences"
            )

    @classmethod
    def of(cls, trees: Iterable[Tree], upos: Sequence[Sequence[str]] | None = None) -> Treebank:
        """Lay trees side by side."""
        demand_type("trees", trees, Iterable)
        trees = list(trees)
        for tree in trees:
            demand_type("a tree", tree, Tree)
        heads = np.concatenate([tree.heads for tree in trees]) if trees else np.zeros(0, dtype=np.int32)
        return cls(
            frozen_ints(starts_of([len(tree) for tree in trees])),
            frozen_ints(heads),
            Column.of(relation for tree in trees for relation in tree.relations),
            None if upos is None else Column.of(tag for tags in upos for tag in tags),
        )

    @classmethod
    def of_words(
        cls,
        forms: Column,
        offsets: npt.NDArray[Any],
        *,
        tokens: Surface | None = None,
        headings: tuple[Heading, ...] | None = None,
    ) -> Treebank:
        """Lay sentences of words side by side that have no trees yet."""
        nothing = np.zeros(len(forms), dtype=np.int32)
        return cls(
            frozen_ints(offsets),
            frozen_ints(nothing - 1),
            Column(frozen_ints(nothing), ("_",)),
            edits=MappingProxyType({"form": forms}),
            tokens=tokens,
            headings=headings,
        )

    @classmethod
    def of_source(cls, source: Source, offsets: Ints, heads: Ints) -> Treebank:
        """Read the columns that a treebank holds from its source."""
        return cls(frozen_ints(offsets), frozen_ints(heads), source.column("deprel"), source.column("upos"), source)

    @classmethod
    def concat(cls, banks: Iterable[Treebank]) -> Treebank:
        """Lay treebanks end to end; either all or none of them were read from a file."""
        demand_type("treebanks", banks, Iterable)
        given = list(banks)
        for bank in given:
            demand_type("a treebank", bank, Treebank)
        banks = [bank for bank in given if len(bank)]
        if len(banks) < 2:
            return (banks or given or [cls.of([])])[0]
        sources = [bank.text for bank in banks if bank.text is not None]
        if sources and len(sources) < len(banks):
            raise MismatchError(
                f"{len(sources)} of {len(banks)} treebanks come from CoNLL-U and the others do not; "
                "write the others with conllu.dumps and read them with conllu.loads first"
            )
        graphs = [bank.graphs for bank in banks if bank.graphs is not None]
        if graphs and len(graphs) < len(banks):
            raise MismatchError(f"{len(graphs)} of {len(banks)} treebanks have graphs that a parser gave; expected all")
        names = {name for bank in banks for name in bank.edits}
        headed = any(bank.headings is not None for bank in banks)
        return cls(
            frozen_ints(starts_of(np.concatenate([bank.lengths for bank in banks]))),
            frozen_ints(np.concatenate([bank.heads for bank in banks])),
            Column.concat([bank.relations for bank in banks]),
            Column.concat([bank.column("upos") for bank in banks])
            if any(bank.upos is not None for bank in banks)
            else None,
            type(sources[0]).concat(sources) if sources else None,
            MappingProxyType({name: Column.concat([bank.column(name) for bank in banks]) for name in names}),
            Surface.concat(banks) if any(bank.tokens is not None for bank in banks) else None,
            tuple(bank.heading(number) for bank in banks for number in range(len(bank))) if headed else None,
            Probabilities.concat(banks) if any(bank.estimates is not None for bank in banks) else None,
            type(graphs[0]).concat(graphs) if graphs else None,
        )

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, ({name: getattr(self, name) for name in _FIELDS}, dict(self.edits))

    def __len__(self) -> int:
        return len(self.offsets) - 1

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
    def words(self) -> int:
        """How many words there are in all."""
        return len(self.heads)

    @property
    def lengths(self) -> Ints:
        """How many words each sentence has."""
        offsets = self.offsets
        return offsets[1:] - offsets[:-1]

    @property
    def file(self) -> str:
        """The name of the file that it was read from, or something to put in its place."""
        return "<treebank>" if self.text is None else self.text.file

    def line(self, sentence: int, word: int | None = None) -> int:
        """Give the number of a word's line in the file, or of the sentence's first one; words count from 0 over all.

        Without a file it is the line that the word would have if nothing but words were written.
        """
        if self.text is not None:
            return int(self.text.lines[sentence]) if word is None else self.text.line(sentence, word)
        return int(self.offsets[sentence]) + sentence + 1 + (0 if word is None else word - int(self.offsets[sentence]))

    @property
    def surface(self) -> Surface:
        """The tokens of the text; where nobody knows better each word is one."""
        if self.tokens is not None:
            return self.tokens
        source = self.text
        if source is None:
            return self.kept("surface", lambda: Surface.of_words(self.words))
        return self.kept("surface", lambda: source.surface(self.offsets, self.column("misc")))

    @property
    def probabilities(self) -> Probabilities | None:
        """How likely predictions are held to be right; None if nothing says."""
        held, source = self.estimates, self.text
        if held is None and source is not None:
            held = self.kept("probabilities", lambda: source.probabilities(self.offsets, self.column("misc")))
        return None if held is None or (held.arcs is None and held.trees is None and not held.tags) else held

    def heading(self, sentence: int) -> Heading:
        """Say what is known of one sentence as a whole."""
        sentence = self._number(sentence)
        if self.headings is not None:
            return self.headings[sentence]
        return Heading() if self.text is None else self.text.heading(sentence)

    def comments(self, sentence: int) -> tuple[str, ...]:
        """Give the comment lines of one sentence as they were read."""
        return () if self.text is None else self.text.comments(self._number(sentence))

    def tree(self, sentence: int) -> Tree:
        """Take one sentence's tree as a value of its own."""
        sentence = self._number(sentence)
        where = slice(int(self.offsets[sentence]), int(self.offsets[sentence + 1]))
        return Tree(self.heads[where], self.relations[where].texts())

    def trees(self) -> list[Tree]:
        """Take every sentence's tree as a value of its own."""
        return [self.tree(sentence) for sentence in range(len(self))]

    def column(self, name: str) -> Column:
        """Give one column of every word, as it would be written."""
        demand_known("column", name, COLUMNS)
        if name == "head":
            return Column.of_heads(self.heads)
        graphs = self.graphs
        if name == "deps" and graphs is not None:
            return self.kept(name, lambda: Column.of(graphs.deps()))
        held = {**self.edits, "deprel": self.relations} | ({} if self.upos is None else {"upos": self.upos})
        if name in held:
            return held[name]
        source = self.text
        if source is not None:
            return self.kept(name, lambda: source.column(name))
        if name == "id":
            inner = np.arange(self.words) - np.repeat(self.offsets[:-1], self.lengths)
            return Column.of_heads(frozen_ints(inner + 1))
        return Column(frozen_ints(np.zeros(self.words, dtype=np.int32)), ("_",))

    def with_trees(self, heads: Ints, relations: Column) -> Treebank:
        """Put other trees over the same words."""
        heads = frozen_ints(heads, "heads")
        self._fits("head", len(heads))
        self._fits("deprel", len(relations))
        edits = (
            {**self.edits, "head": Column.of_heads(heads), "deprel": relations} if self.text is not None else self.edits
        )
        return self._with(heads=heads, relations=relations, edits=edits)

    def with_graphs(self, graphs: Graphs | None) -> Treebank:
        """Put other enhanced graphs over the same words; empty nodes of the source are no longer there."""
        return self._with(graphs=graphs)

    @property
    def is_edited(self) -> bool:
        """Whether anything came since it was read."""
        return bool(self.edits) or self.estimates is not None or self.graphs is not None

    def with_columns(self, columns: Mapping[str, Column | Sequence[str]]) -> Treebank:
        """Replace columns of every word by name; IDs stay, and heads are replaced by `with_trees`."""
        edits = dict(self.edits)
        for name, given in columns.items():
            demand_known("column", name, EDITABLE)
            column = given if isinstance(given, Column) else Column.of(given)
            self._fits(name, len(column))
            edits[name] = column
        relations = edits["deprel"] if "deprel" in columns else self.relations
        return self._with(
            relations=relations,
            upos=edits["upos"] if "upos" in columns else self.upos,
            graphs=None if "deps" in columns else self.graphs,
            edits=edits,
        )

    def with_probabilities(self, probabilities: Probabilities | None) -> Treebank:
        """Say how likely predictions are to be right, or nothing of it; what an earlier parser said is forgotten."""
        estimates = probabilities or Probabilities()
        if estimates.trees is not None and len(estimates.trees) != len(self):
            raise MismatchError(f"{len(estimates.trees)} probabilities of trees for {len(self)} sentences")
        for values in (estimates.arcs, *estimates.tags.values()):
            if values is not None:
                self._fits("probability", len(values))
        return self._with(estimates=estimates)

    def with_headings(self, headings: Sequence[Heading]) -> Treebank:
        """Say what is known of the sentences of a treebank that comes from no file."""
        if len(headings) != len(self) or self.text is not None:
            raise MismatchError(f"{len(headings)} headings for {len(self)} sentences, which come from {self.file}")
        return self._with(headings=tuple(headings))

    def with_document(self, name: str) -> Treebank:
        """Say that a document begins with the first sentence of a treebank that comes from no file."""
        headings = [self.heading(number) for number in range(len(self))]
        return self.with_headings([headings[0]._replace(document=name), *headings[1:]])

    def kept(self, name: str, make: Callable[[], Value]) -> Value:
        """Compute something of this treebank once, and give it again under its name from then on."""
        if name not in self._kept:
            self._kept[name] = make()
        found: Value = self._kept[name]
        return found

    def alias(self) -> Treebank:
        """Give a treebank of the same columns that has computed nothing yet."""
        return self._with()

    def _with(self, **changes: Any) -> Treebank:  # noqa: ANN401 - the fields of the class
        """Change some fields; what was read from the source stays known unless it may follow from them."""
        kept = {name: getattr(self, name) for name in _FIELDS}
        edits = changes.pop("edits", self.edits)
        return Treebank(**(kept | changes), edits=edits if edits is self.edits else MappingProxyType(edits))

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
        offsets, words = gather(self.offsets, chosen)
        return Treebank(
            frozen_ints(offsets),
            frozen_ints(self.heads[words]),
            self.relations.take(words),
            None if self.upos is None else self.upos.take(words),
            None if self.text is None else self.text.select(self.offsets, chosen),
            MappingProxyType({name: column.take(words) for name, column in self.edits.items()}),
            None if self.tokens is None else self.tokens.select(self.offsets, chosen),
            None if self.headings is None else tuple(self.headings[number] for number in chosen.tolist()),
            None if self.estimates is None else self.estimates.select(words, chosen),
            None if self.graphs is None else self.graphs.select(chosen),
        )


def _restored(fields: dict[str, Any], edits: dict[str, Column]) -> Treebank:
    return Treebank(**fields, edits=MappingProxyType(edits))


_FIELDS = tuple(name for name in Treebank.__dataclass_fields__ if name not in {"edits", "_kept"})
