"""The CoNLL-U that a treebank was read from, so that writing it again loses nothing."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ropewalk.core.arrays import frozen_array, frozen_ints
from ropewalk.core.columns import Column, are_places, intern
from ropewalk.core.ragged import Offsets, starts_of
from ropewalk.errors import MismatchError
from ropewalk.kernels import conllu as kernel
from ropewalk.kernels import view
from ropewalk.treebank.misc import Spaces, finite, probability_of
from ropewalk.treebank.surface import Heading, Probabilities, Surface

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from ropewalk.core.arrays import Ints
    from ropewalk.core.ragged import Places

COLUMNS: Final = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
TREE_CONFIDENCE: Final = b"# confidence = "


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The CoNLL-U that a treebank was read from: its bytes, and where sentences and columns are in them.

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
            not (are_places(sentences) and are_places(self.lines) and are_places(np.ravel(fields)))
            or self.raw.dtype != np.uint8
            or self.raw.ndim != 1
            or fields.shape[1:] != (11,)
            or not len(sentences) == len(self.lines) + 1 == len(self.multiwords) + 1 == len(self.empties) + 1
            or (sentences[1:] < sentences[:-1]).any()
            or not 0 <= sentences[0] <= sentences[-1] <= len(self.raw)
        ):
            raise MismatchError("the places of sentences and columns do not fit the bytes of their CoNLL-U")

    def column(self, name: str) -> Column:
        """Read one column of every word."""
        at = COLUMNS.index(name)
        starts = np.ascontiguousarray(self.fields[:, at])
        stops = self.fields[:, at + 1] - 1
        ids, firsts = intern(self.raw, starts, stops)
        raw = view(self.raw)
        try:
            names = tuple(bytes(raw[starts[i] : stops[i]]).decode("utf-8") for i in firsts.tolist())
        except UnicodeDecodeError as failure:
            raise MismatchError("the places of columns do not fit the characters of their CoNLL-U") from failure
        return Column(frozen_ints(ids), names)

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.raw)

    @property
    def words(self) -> int:
        """The number of words."""
        return len(self.fields)

    def sentence(self, number: int) -> bytes:
        """Return the bytes of one sentence, its blank line included."""
        return bytes(view(self.raw)[self.sentences[number] : self.sentences[number + 1]])

    def line(self, sentence: int, word: int) -> int:
        """Return the line number of a word in its file; words count from 0 over the whole treebank."""
        before = self.raw[self.sentences[sentence] : self.fields[word, 0]]
        return int(self.lines[sentence]) + int(np.count_nonzero(before == 10))

    def comments(self, sentence: int) -> tuple[str, ...]:
        """Return the comment lines of one sentence as written."""
        lines = self.sentence(sentence).decode("utf-8").split("\n")
        return tuple(itertools.takewhile(lambda line: line.startswith("#"), lines))

    def heading(self, sentence: int) -> Heading:
        """Read what is known of one sentence as a whole from its comments."""
        pairs = [line[1:].partition("=") for line in self.comments(sentence)]
        named = {key.strip(): value.strip() for key, _, value in pairs}
        return Heading(
            named.get("sent_id"),
            named.get("text"),
            named.get("newdoc id", named.get("newdoc")),
            any(key.split()[:1] == ["newpar"] for key in named),
        )

    def surface(self, offsets: Offsets, misc: Column) -> Surface:
        """Read the tokens from the lines of multiword tokens and from MISC."""
        spacings = [Spaces.of(text) for text in misc.names]
        words = len(self.fields)
        opens = np.ones(words, dtype=np.bool_)
        texts: dict[int, str] = {}  # by the first word
        others: dict[int, Spaces] = {}
        for sentence in np.flatnonzero(self.multiwords).tolist():
            before = offsets[sentence].start - 1
            for row in self._multiwords(sentence):
                low, _, high = row[0].partition("-")
                opens[before + int(low) + 1 : before + int(high) + 1] = False
                texts[before + int(low)] = row[1]
                others[before + int(low)] = Spaces.of(row[9])
        first = np.flatnonzero(opens)
        spaces = [spacings[number] for number in misc.ids[first].tolist()]
        place = {word: token for token, word in enumerate(first.tolist())} if texts else {}
        for word, one in others.items():
            spaces[place[word]] = one
        begun = np.searchsorted(first, offsets.starts).tolist()
        return Surface(
            frozen_ints(np.append(first, words)),
            {place[word]: text for word, text in texts.items()},
            Column.of(one.after for one in spaces),
            {number: spaces[token].before for number, token in enumerate(begun) if spaces[token].before},
            frozen_ints([one.start for one in spaces]),
            frozen_ints([one.stop for one in spaces]),
            {token: one.inside for token, one in enumerate(spaces) if one.inside},
        )

    def _multiwords(self, sentence: int) -> Iterator[list[str]]:
        """Return the columns of the lines of multiword tokens."""
        for line in self.sentence(sentence).decode("utf-8").split("\n"):
            if line[:1] not in {"#", ""} and "-" in line.partition("\t")[0]:
                yield line.split("\t")

    def probabilities(self, offsets: Offsets, misc: Column) -> Probabilities | None:
        """Read the probabilities that an earlier parser wrote, if it did."""
        arcs = np.array([probability_of(text) for text in misc.names], dtype=np.float64)[misc.ids]
        trees = np.full(len(offsets), np.nan)
        if self.raw.tobytes().find(TREE_CONFIDENCE) >= 0:
            for sentence in range(len(trees)):
                lines = [line for line in self.comments(sentence) if line.startswith(TREE_CONFIDENCE.decode())]
                trees[sentence] = finite(lines[0].partition("=")[2]) if lines else np.nan
        of_arcs, of_trees = (None if np.isnan(values).all() else frozen_array(values) for values in (arcs, trees))
        return None if of_arcs is None and of_trees is None else Probabilities(of_arcs, of_trees)

    def select(self, offsets: Offsets, sentences: npt.NDArray[Any]) -> Source:
        """Keep some sentences, in the order given; `offsets` says where the words of each stand."""
        _, words = offsets.select(sentences)
        stops = starts_of(self.sentences[sentences + 1] - self.sentences[sentences])
        shift = np.repeat(stops[:-1] - self.sentences[sentences], offsets.lengths[sentences])
        raw = view(self.raw)
        kept = b"".join([raw[self.sentences[s] : self.sentences[s + 1]] for s in sentences.tolist()])
        return Source(
            np.frombuffer(kept, dtype=np.uint8),
            frozen_array(stops),
            frozen_array(self.fields[words] + shift[:, None]),
            frozen_array(self.lines[sentences]),
            frozen_ints(self.multiwords[sentences]),
            frozen_ints(self.empties[sentences]),
            self.file,
        )

    @classmethod
    def concat(cls, sources: Sequence[Source]) -> Source:
        """Return sources joined end to end; each sentence keeps its line number in its own file."""
        texts = sources
        sizes = starts_of([len(text.raw) for text in texts])
        files = {text.file for text in texts}
        return cls(
            frozen_array(np.concatenate([text.raw for text in texts])),
            frozen_array(
                np.concatenate(
                    [text.sentences[:-1] + at for text, at in zip(texts, sizes, strict=False)] + [sizes[-1:]]
                )
            ),
            frozen_array(np.concatenate([text.fields + at for text, at in zip(texts, sizes, strict=False)])),
            frozen_array(np.concatenate([text.lines for text in texts])),
            frozen_ints(np.concatenate([text.multiwords for text in texts])),
            frozen_ints(np.concatenate([text.empties for text in texts])),
            files.pop() if len(files) == 1 else "<several files>",
        )

    def splice(self, offsets: Offsets, columns: Mapping[str, Column]) -> Source:
        """Replace some columns of every word; nothing else changes."""
        offsets = Offsets.of(offsets, end=len(self.fields))
        self._demand_order(offsets)
        for name, column in columns.items():
            if len(column) != len(self.fields):
                raise MismatchError(f"{len(column)} values for column {name}, but there are {len(self.fields)} words")
        places = sorted(((COLUMNS.index(name), column) for name, column in columns.items()), key=itemgetter(0))
        names: list[bytes] = []
        choices = np.empty((len(places), len(self.fields)), dtype=np.int32)
        for row, (_, column) in enumerate(places):
            np.add(column.ids, len(names), out=choices[row])
            names += [name.encode("utf-8") for name in column.names]
        marks = np.cumsum([0, *map(len, names)], dtype=np.int64)
        grown = len(self.raw)
        for row, (at, _) in enumerate(places):
            grown += int(np.diff(marks)[choices[row]].sum() - (self.fields[:, at + 1] - 1 - self.fields[:, at]).sum())
        raw = np.empty(grown, dtype=np.uint8)
        sentences = np.empty_like(self.sentences)
        fields = np.empty_like(self.fields)
        kernel.splice(
            view(self.raw),
            view(offsets.array),
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
        return replace(self, raw=frozen_array(raw), sentences=frozen_array(sentences), fields=frozen_array(fields))

    def _demand_order(self, offsets: Offsets) -> None:
        """Refuse places of columns that do not lie in order in their sentences."""
        fields = self.fields
        full = offsets.lengths > 0  # sentences that have a first and a last word
        if not (
            len(offsets) == len(self.sentences) - 1
            and (fields[:, 1:] > fields[:, :-1]).all()
            and (fields[1:, 0] >= fields[:-1, 10]).all()
            and (fields[offsets.starts[full], 0] >= self.sentences[:-1][full]).all()
            and (fields[offsets.array[1:][full] - 1, 10] <= self.sentences[1:][full]).all()
        ):
            raise MismatchError("the places of columns do not lie in order in the bytes of their CoNLL-U")
