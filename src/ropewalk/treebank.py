"""Many sentences as flat arrays with offsets: work on a whole corpus never loops over Python objects."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field, replace
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.arrays import Rebuilt, as_array, checked_offsets, ints, numbers_below
from ropewalk.errors import FormatError, MismatchError, UnknownNameError
from ropewalk.kernels import conllu as conllu_kernel
from ropewalk.kernels import intern as kernel
from ropewalk.kernels import view
from ropewalk.trees import Tree, frozen_ints

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ropewalk.trees import Ints

Places = npt.NDArray[np.int64]

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
EDITABLE = tuple(name for name in COLUMNS if name not in {"id", "head"})
UNWRITABLE = re.compile("[\\t\\n\\r\\0\\ud800-\\udfff]")


def intern(raw: npt.NDArray[Any], starts: Places, stops: Places) -> tuple[Ints, Ints]:
    """Give equal stretches of bytes one number, in order of first appearance.

    Returns the number of each stretch, and for each number the first stretch that has it.
    """
    raw = as_array(raw, "bytes")
    starts, stops = as_array(starts, "starts"), as_array(stops, "stops")
    if not (raw.dtype == np.uint8 and raw.ndim == 1 and _are_places(starts) and _are_places(stops)):
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


def _are_places(array: npt.NDArray[Any]) -> bool:
    return isinstance(array, np.ndarray) and array.dtype == np.int64 and array.ndim == 1


@dataclass(frozen=True, slots=True, eq=False)
class Column(Rebuilt):
    """One string per word, as numbers into a list of distinct strings."""

    ids: Ints
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        names = tuple(self.names)
        if strange := [name for name in names if not isinstance(name, str)]:
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
            ids = frozen_ints([numbers.setdefault(text, len(numbers)) for text in texts])
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
    stops = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    return stops, np.arange(stops[-1]) + np.repeat(starts - stops[:-1], lengths)


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make an array of one's own read-only."""
    array.flags.writeable = False
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """The bytes of CoNLL-U that a treebank was read from, and where its parts lie in them.

    `raw` holds whole sentences. Sentence s is `raw[sentences[s]:sentences[s+1]]`, its blank line included.
    Column c of word w is `raw[fields[w, c]:fields[w, c+1] - 1]`: eleven marks a word, the last of them just
    after its line. `lines[s]` is the number of the sentence's first line in its file, counted from 1.
    `multiwords` and `empties` count the lines of those kinds in each sentence.
    """

    raw: npt.NDArray[np.uint8]
    sentences: Places
    fields: Places
    lines: Places
    multiwords: Ints
    empties: Ints
    file: str

    def __post_init__(self) -> None:
        sentences, fields = self.sentences, self.fields
        if (
            not (_are_places(sentences) and _are_places(self.lines) and _are_places(np.ravel(fields)))
            or self.raw.dtype != np.uint8
            or self.raw.ndim != 1
            or fields.shape[1:] != (11,)
            or not len(sentences) == len(self.lines) + 1 == len(self.multiwords) + 1 == len(self.empties) + 1
            or (sentences[1:] < sentences[:-1]).any()
            or not 0 <= sentences[0] <= sentences[-1] <= len(self.raw)
        ):
            raise MismatchError("the places of sentences and columns do not fit the bytes of their CoNLL-U")

    @classmethod
    def blank(cls, lengths: Ints) -> Text:
        """Write sentences of so many words with `_` in every column but the first."""
        longest = int(lengths.max(initial=0))
        ids = [str(word).encode() for word in range(1, longest + 1)]
        every = b"".join(b"%b\t_\t_\t_\t_\t_\t_\t_\t_\t_\n" % word for word in ids)
        ends = np.cumsum([0, *(len(word) + 19 for word in ids)], dtype=np.int64)
        raw = b"".join(every[: ends[length]] + b"\n" for length in lengths.tolist())
        sentences = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(ends[lengths] + 1)])
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)])
        inner = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        before = np.repeat(sentences[:-1], lengths)
        fields = np.empty((len(inner), 11), dtype=np.int64)
        fields[:, 0] = before + ends[inner]
        fields[:, 1:] = (before + ends[inner + 1])[:, None] + np.arange(-18, 2, 2)
        return cls(
            np.frombuffer(raw, dtype=np.uint8),
            frozen(sentences),
            frozen(fields),
            frozen((offsets + np.arange(len(offsets)) + 1)[:-1]),
            frozen_ints(np.zeros(len(lengths), dtype=np.int32)),
            frozen_ints(np.zeros(len(lengths), dtype=np.int32)),
            "<treebank>",
        )

    def column(self, name: str) -> Column:
        """Read one column of every word."""
        at = COLUMNS.index(name)
        starts = np.ascontiguousarray(self.fields[:, at])
        stops = self.fields[:, at + 1] - 1
        ids, firsts = intern(self.raw, starts, stops)
        raw = view(self.raw)
        names = tuple(bytes(raw[starts[i] : stops[i]]).decode("utf-8") for i in firsts.tolist())
        return Column(frozen_ints(ids), names)

    def sentence(self, number: int) -> bytes:
        """Give the bytes of one sentence, its blank line included."""
        return bytes(view(self.raw)[self.sentences[number] : self.sentences[number + 1]])

    def line(self, sentence: int, word: int) -> int:
        """Give the number in its file of a word's line; words count from 0 over the whole treebank."""
        before = self.raw[self.sentences[sentence] : self.fields[word, 0]]
        return int(self.lines[sentence]) + int(np.count_nonzero(before == 10))

    def select(self, offsets: Ints, sentences: npt.NDArray[Any]) -> Text:
        """Keep some sentences, in the order given; `offsets` says where the words of each stand."""
        _, words = gather(offsets, sentences)
        stops = np.zeros(len(sentences) + 1, dtype=np.int64)
        np.cumsum(self.sentences[sentences + 1] - self.sentences[sentences], out=stops[1:])
        shift = np.repeat(stops[:-1] - self.sentences[sentences], np.diff(offsets)[sentences])
        raw = view(self.raw)
        kept = b"".join([raw[self.sentences[s] : self.sentences[s + 1]] for s in sentences.tolist()])
        return Text(
            np.frombuffer(kept, dtype=np.uint8),
            frozen(stops),
            frozen(self.fields[words] + shift[:, None]),
            frozen(self.lines[sentences]),
            frozen_ints(self.multiwords[sentences]),
            frozen_ints(self.empties[sentences]),
            self.file,
        )

    @classmethod
    def concat(cls, texts: Sequence[Text]) -> Text:
        """Lay texts end to end; each sentence keeps the line number it had in its own file."""
        sizes = np.cumsum([0, *(len(text.raw) for text in texts)])
        files = {text.file for text in texts}
        return cls(
            frozen(np.concatenate([text.raw for text in texts])),
            frozen(
                np.concatenate(
                    [text.sentences[:-1] + at for text, at in zip(texts, sizes, strict=False)] + [sizes[-1:]]
                )
            ),
            frozen(np.concatenate([text.fields + at for text, at in zip(texts, sizes, strict=False)])),
            frozen(np.concatenate([text.lines for text in texts])),
            frozen_ints(np.concatenate([text.multiwords for text in texts])),
            frozen_ints(np.concatenate([text.empties for text in texts])),
            files.pop() if len(files) == 1 else "<several files>",
        )

    def splice(self, offsets: Ints, columns: Mapping[str, Column]) -> Text:
        """Put other text into some columns of every word; nothing else changes."""
        offsets = checked_offsets(offsets, end=len(self.fields))
        self._demand_order(offsets)
        for name, column in columns.items():
            if len(column) != len(self.fields):
                raise MismatchError(f"{len(column)} values for column {name}, but there are {len(self.fields)} words")
        places = sorted(((COLUMNS.index(name), column) for name, column in columns.items()), key=itemgetter(0))
        names: list[bytes] = []
        choices = np.empty((len(places), len(self.fields)), dtype=np.int32)
        for row, (at, column) in enumerate(places):
            np.add(column.ids, len(names), out=choices[row])
            names += self._encoded(at, column)
        marks = np.cumsum([0, *map(len, names)], dtype=np.int64)
        grown = len(self.raw)
        for row, (at, _) in enumerate(places):
            grown += int(np.diff(marks)[choices[row]].sum() - (self.fields[:, at + 1] - 1 - self.fields[:, at]).sum())
        raw = np.empty(grown, dtype=np.uint8)
        sentences = np.empty_like(self.sentences)
        fields = np.empty_like(self.fields)
        conllu_kernel.splice(
            view(self.raw),
            view(offsets),
            view(self.sentences),
            view(self.fields),
            view(np.array([at for at, _ in places], dtype=np.int32)),
            view(choices),
            view(np.frombuffer(b"".join(names), dtype=np.uint8)),
            view(marks),
            view(raw),
            view(sentences),
            view(fields),
        )
        return replace(self, raw=frozen(raw), sentences=frozen(sentences), fields=frozen(fields))

    def _demand_order(self, offsets: Ints) -> None:
        """Refuse places of columns that do not lie in order in their sentences."""
        fields = self.fields
        full = np.diff(offsets) > 0  # sentences that have a first and a last word
        if not (
            len(offsets) == len(self.sentences)
            and (fields[:, 1:] > fields[:, :-1]).all()
            and (fields[1:, 0] >= fields[:-1, 10]).all()
            and (fields[offsets[:-1][full], 0] >= self.sentences[:-1][full]).all()
            and (fields[offsets[1:][full] - 1, 10] <= self.sentences[1:][full]).all()
        ):
            raise MismatchError("the places of columns do not lie in order in the bytes of their CoNLL-U")

    def commented(self, offsets: Ints, comments: Sequence[str]) -> Text:
        """Put a comment line before each sentence's own lines; an empty one is left out."""
        lines = [f"{comment}\n".encode() if comment else b"" for comment in comments]
        raw = view(self.raw)
        bounds = self.sentences.tolist()
        pieces = [
            part for line, (a, b) in zip(lines, itertools.pairwise(bounds), strict=True) for part in (line, raw[a:b])
        ]
        before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum([len(line) for line in lines], dtype=np.int64)])
        return replace(
            self,
            raw=np.frombuffer(b"".join(pieces), dtype=np.uint8),
            sentences=frozen(self.sentences + before),
            fields=frozen(self.fields + np.repeat(before[1:], np.diff(offsets))[:, None]),
        )

    def _encoded(self, at: int, column: Column) -> list[bytes]:
        """Turn the distinct strings of a column into bytes, refusing those that would break the file."""
        encoded = [name.encode("utf-8", "surrogatepass") for name in column.names]
        bad = [number for number, name in enumerate(column.names) if not name or UNWRITABLE.search(name)]
        for number in bad:
            found = np.flatnonzero(column.ids == number)
            if len(found):
                sentence = int(np.searchsorted(self.sentences, self.fields[found[0], 0], side="right")) - 1
                raise FormatError(
                    self.file,
                    self.line(sentence, int(found[0])),
                    "unwritable-text",
                    f"{COLUMNS[at].upper()} would become {column.names[number]!r}; a column holds at least "
                    "one character and no tab, line break, NUL or lone surrogate",
                )
        return encoded


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a treebank: its words from the first, and its comment lines as written."""

    forms: tuple[str, ...]
    upos: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    comments: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.forms)

    @property
    def tree(self) -> Tree:
        """The tree over the words; a `TreeError` if the heads are none."""
        return Tree(self.heads, self.relations)

    @property
    def metadata(self) -> dict[str, str]:
        """What the comments say: `# key = value`, and an empty value where there is no `=`."""
        parts = [comment[1:].partition("=") for comment in self.comments]
        return {key.strip(): value.strip() for key, _, value in parts}

    @property
    def sent_id(self) -> str | None:
        """The name of the sentence, if the comments give one."""
        return self.metadata.get("sent_id")

    @property
    def text(self) -> str | None:
        """The sentence as running text, if the comments give it."""
        return self.metadata.get("text")


@dataclass(frozen=True, slots=True, eq=False)
class Treebank:
    """Many sentences: the words of sentence s stand at `offsets[s]:offsets[s+1]` in every array.

    A head is -1 where the file has `_`. `text` is there if the sentences come from CoNLL-U, as they were
    read; `edits` holds the columns replaced since, and writing changes only those. The trees are as given:
    `conllu` checks what it reads, and `Tree` what it is built from.
    """

    offsets: Ints
    heads: Ints
    relations: Column
    upos: Column | None = None
    text: Text | None = None
    edits: Mapping[str, Column] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        heads = frozen_ints(self.heads, "heads")
        object.__setattr__(self, "heads", heads)
        object.__setattr__(self, "offsets", frozen_ints(checked_offsets(self.offsets, end=len(heads))))
        held = {"deprel": self.relations, **({} if self.upos is None else {"upos": self.upos}), **self.edits}
        for name, column in held.items():
            self._fits(name, len(column))
        if self.text is not None and (len(self.text.fields), len(self.text.sentences)) != (len(heads), len(self) + 1):
            raise MismatchError(
                f"{len(heads)} words in {len(self)} sentences over CoNLL-U of {len(self.text.fields)} words "
                f"in {len(self.text.sentences) - 1} sentences"
            )

    @classmethod
    def of(cls, trees: Iterable[Tree], upos: Sequence[Sequence[str]] | None = None) -> Treebank:
        """Lay trees side by side."""
        trees = list(trees)
        lengths = [len(tree) for tree in trees]
        heads = np.concatenate([tree.heads for tree in trees]) if trees else np.zeros(0, dtype=np.int32)
        return cls(
            frozen_ints(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int32)),
            frozen_ints(heads),
            Column.of(relation for tree in trees for relation in tree.relations),
            None if upos is None else Column.of(tag for tags in upos for tag in tags),
        )

    @classmethod
    def of_text(cls, text: Text, offsets: Ints, heads: Ints) -> Treebank:
        """Read the columns that a treebank holds from its text."""
        return cls(frozen_ints(offsets), frozen_ints(heads), text.column("deprel"), text.column("upos"), text)

    @classmethod
    def concat(cls, banks: Iterable[Treebank]) -> Treebank:
        """Lay treebanks end to end; either all or none of them come from CoNLL-U."""
        banks = [bank for bank in banks if len(bank)]
        if not banks:
            return cls.of([])
        texts = [bank.rendered() for bank in banks if bank.text is not None]
        if texts and len(texts) < len(banks):
            raise MismatchError(
                f"{len(texts)} of {len(banks)} treebanks come from CoNLL-U and the others do not; "
                "write the others with conllu.dumps and read them with conllu.loads first"
            )
        lengths = np.concatenate([bank.lengths for bank in banks])
        tags = [bank.upos for bank in banks if bank.upos is not None]
        names = {name for bank in banks for name in bank.edits} if not texts else set()
        return cls(
            frozen_ints(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])),
            frozen_ints(np.concatenate([bank.heads for bank in banks])),
            Column.concat([bank.relations for bank in banks]),
            Column.concat([bank.column("upos") for bank in banks]) if tags else None,
            Text.concat(texts) if texts else None,
            MappingProxyType({name: Column.concat([bank.column(name) for bank in banks]) for name in names}),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, sentence: int) -> Sentence:
        sentence = self._number(sentence)
        where = slice(int(self.offsets[sentence]), int(self.offsets[sentence + 1]))
        return Sentence(
            tuple(self._texts("form", where)),
            tuple(self._texts("upos", where)),
            tuple(self.heads[where].tolist()),
            tuple(self.relations[where].texts()),
            self.comments(sentence),
        )

    def _number(self, sentence: int) -> int:
        if not -len(self) <= sentence < len(self):
            raise IndexError(f"sentence {sentence} of a treebank of {len(self)}")
        return sentence % len(self)

    @property
    def words(self) -> int:
        """How many words there are in all."""
        return len(self.heads)

    @property
    def lengths(self) -> Ints:
        """How many words each sentence has."""
        return np.diff(self.offsets)

    def tree(self, sentence: int) -> Tree:
        """Take one sentence's tree as a value of its own."""
        sentence = self._number(sentence)
        where = slice(int(self.offsets[sentence]), int(self.offsets[sentence + 1]))
        return Tree(self.heads[where], self.relations[where].texts())

    def trees(self) -> list[Tree]:
        """Take every sentence's tree as a value of its own."""
        return [self.tree(sentence) for sentence in range(len(self))]

    def comments(self, sentence: int) -> tuple[str, ...]:
        """Give the comment lines of one sentence as written."""
        sentence = self._number(sentence)
        if self.text is None:
            return ()
        lines = self.text.sentence(sentence).decode("utf-8").split("\n")
        return tuple(itertools.takewhile(lambda line: line.startswith("#"), lines))

    def column(self, name: str) -> Column:
        """Give one column of every word, as it would be written."""
        if name not in COLUMNS:
            raise UnknownNameError("column", name, COLUMNS)
        held = {**self.edits, "deprel": self.relations}
        if name == "head":
            return Column.of_heads(self.heads)
        if name == "upos" and self.upos is not None:
            return self.upos
        if name in held:
            return held[name]
        if self.text is not None:
            return self.text.column(name)
        if name == "id":
            inner = np.arange(self.words) - np.repeat(self.offsets[:-1], self.lengths)
            return Column.of_heads(frozen_ints(inner + 1))
        return Column(frozen_ints(np.zeros(self.words, dtype=np.int32)), ("_",))

    def _texts(self, name: str, words: slice) -> list[str]:
        """Write out one column of a few words without reading that of all others."""
        if name == "upos" and self.upos is not None:
            return self.upos[words].texts()
        if name in self.edits:
            return self.edits[name][words].texts()
        if self.text is None:
            return ["_"] * (words.stop - words.start)
        at = COLUMNS.index(name)
        marks = self.text.fields[words, at : at + 2].tolist()
        raw = view(self.text.raw)
        return [bytes(raw[start : stop - 1]).decode("utf-8") for start, stop in marks]

    def with_trees(self, heads: Ints, relations: Column) -> Treebank:
        """Put other trees over the same words."""
        heads = frozen_ints(heads, "heads")
        self._fits("head", len(heads))
        self._fits("deprel", len(relations))
        edits = {**self.edits, "head": Column.of_heads(heads), "deprel": relations}
        return replace(self, heads=heads, relations=relations, edits=MappingProxyType(edits))

    def with_columns(self, columns: Mapping[str, Column | Sequence[str]]) -> Treebank:
        """Replace columns of every word by name; IDs stay, and heads are replaced by `with_trees`."""
        edits = dict(self.edits)
        for name, given in columns.items():
            if name not in EDITABLE:
                raise UnknownNameError("column", name, EDITABLE)
            column = given if isinstance(given, Column) else Column.of(given)
            self._fits(name, len(column))
            edits[name] = column
        return replace(
            self,
            relations=edits.get("deprel", self.relations),
            upos=edits.get("upos", self.upos),
            edits=MappingProxyType(edits),
        )

    def with_comments(self, comments: Sequence[str]) -> Treebank:
        """Put a comment line before each sentence's own lines; an empty one is left out."""
        if len(comments) != len(self):
            raise MismatchError(f"{len(comments)} comments for a treebank of {len(self)} sentences")
        bad = next(
            (comment for comment in comments if comment and (comment[0] != "#" or UNWRITABLE.search(comment))), ""
        )
        if bad:
            raise MismatchError(f"{bad!r} is no comment line; expected # first, and no tab or line break")
        return replace(self, text=self.rendered().commented(self.offsets, comments), edits=MappingProxyType({}))

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
        )

    def rendered(self) -> Text:
        """Give the text of the treebank with every edit in place; `_` where nothing is known."""
        if self.text is not None:
            return self.text.splice(self.offsets, self.edits) if self.edits else self.text
        if len(self) and int(self.lengths.min()) == 0:
            sentence = int(np.argmin(self.lengths)) + 1
            raise FormatError(
                "<treebank>", 0, "no-words", f"sentence {sentence} has no words; CoNLL-U needs at least one"
            )
        edits = {**self.edits, "head": Column.of_heads(self.heads), "deprel": self.relations}
        if self.upos is not None:
            edits["upos"] = self.upos
        return Text.blank(self.lengths).splice(self.offsets, edits)
