"""The CoNLL-U that a treebank was read from; it is kept so that writing the treebank loses nothing."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ropewalk.core.arrays import frozen_array, frozen_ints
from ropewalk.core.columns import Column, are_places
from ropewalk.core.ragged import Offsets, starts_of
from ropewalk.errors import MismatchError
from ropewalk.kernels import conllu as kernel
from ropewalk.kernels import view
from ropewalk.treebank.misc import Spaces, finite, probability_of
from ropewalk.treebank.surface import Heading, Probabilities, Surface

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from ropewalk.core.arrays import Ints
    from ropewalk.core.ragged import Places

COLUMNS: Final = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
UNWRITABLE: Final = re.compile("[\\t\\n\\r\\0\\ud800-\\udfff]")  # what no column can hold
TREE_CONFIDENCE: Final = b"# confidence = "
HEADING: Final = re.compile(
    rb"^#[^\S\n]*(?:(sent_id|text|newdoc id|newdoc)[^\S\n]*(?:=(.*))?|(newpar)(?:(?:=|[^\S\n]).*)?)$", re.MULTILINE
)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The CoNLL-U that a treebank was read from: its bytes, and the positions of sentences and columns.

    `raw` has the bytes of whole sentences. Sentence s is `raw[sentences[s]:sentences[s+1]]`, its blank line included.
    Column c of word w is `raw[fields[w, c]:fields[w, c+1] - 1]`; `fields` has eleven positions for each word, the last
    of them after its line. `lines[s]` is the number of the sentence's first line in its file, from 1. `multiwords` and
    `empties` have the number of multiword tokens and of empty nodes in each sentence.
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
            raise MismatchError("the positions of sentences and columns do not fit the bytes of their CoNLL-U")

    def column(self, name: str) -> Column:
        """Return the column of CoNLL-U called `name`, such as `lemma`, for every word."""
        at = COLUMNS.index(name)
        starts = np.ascontiguousarray(self.fields[:, at])
        stops = self.fields[:, at + 1] - 1
        try:
            return Column.of_spans(self.raw, starts, stops)
        except UnicodeDecodeError as failure:
            raise MismatchError("the positions of columns do not fit the characters of their CoNLL-U") from failure

    @property
    def size(self) -> int:
        """The number of bytes of the CoNLL-U."""
        return len(self.raw)

    @property
    def words(self) -> int:
        """The number of words of all sentences, without multiword tokens and empty nodes."""
        return len(self.fields)

    def sentence(self, number: int) -> bytes:
        """Return the bytes of one sentence, its blank line included."""
        return bytes(view(self.raw)[self.sentences[number] : self.sentences[number + 1]])

    def line(self, sentence: int, word: int) -> int:
        """Return the line number, from 1, of a word in its file; `word` is an index over the whole treebank, from 0."""
        before = self.raw[self.sentences[sentence] : self.fields[word, 0]]
        return int(self.lines[sentence]) + int(np.count_nonzero(before == 10))

    def comments(self, sentence: int) -> tuple[str, ...]:
        """Return the comment lines of one sentence as they are in the file."""
        lines = self.sentence(sentence).decode("utf-8").split("\n")
        return tuple(itertools.takewhile(lambda line: line.startswith("#"), lines))

    def heading(self, sentence: int) -> Heading:
        """Read the metadata of one sentence from its comments: name, text, document and paragraph."""
        return _heading(HEADING.finditer(self.sentence(sentence)))

    def headings(self) -> list[Heading]:
        """Read the metadata of all sentences from their comments, in one pass; see `heading`."""
        begins = self.sentences[0]
        comments = list(HEADING.finditer(self.raw[begins : self.sentences[-1]].tobytes()))
        places = np.array([comment.start() for comment in comments], dtype=np.int64) + begins
        bounds = np.searchsorted(places, self.sentences).tolist()
        return [_heading(comments[first:last]) for first, last in itertools.pairwise(bounds)]

    def document_starts(self) -> list[int]:
        """Return the indices of the sentences that may begin a document: those whose lines contain `newdoc`."""
        places = [match.start() for match in re.finditer(rb"newdoc", self.raw.tobytes())]
        return sorted({*(np.searchsorted(self.sentences, places, side="right") - 1).tolist()})

    def surface(self, offsets: Offsets, misc: Column) -> Surface:
        """Read the tokens and their spaces from the lines of multiword tokens and from `misc`, a column."""
        words = len(self.fields)
        opens = np.ones(words, dtype=np.bool_)
        texts: dict[int, str] = {}  # by the first word
        others: dict[int, str] = {}
        for sentence in np.flatnonzero(self.multiwords).tolist():
            before = offsets[sentence].start - 1
            for row in self._multiwords(sentence):
                low, _, high = row[0].partition("-")
                opens[before + int(low) + 1 : before + int(high) + 1] = False
                texts[before + int(low)] = row[1]
                others[before + int(low)] = row[9]
        first = np.flatnonzero(opens)
        place = {word: token for token, word in enumerate(first.tolist())} if texts else {}
        described = misc.replaced(np.array(list(others), dtype=np.int64), list(others.values())).take(first)
        spacings = [Spaces.of(text) for text in described.names]  # once for each distinct MISC
        spaces = Column.of(spacing.after for spacing in spacings)
        begun = np.searchsorted(first, offsets.starts)
        opening = described.take(begun).ids.tolist()
        inside = np.array([bool(spacing.inside) for spacing in spacings], dtype=np.bool_)[described.ids]
        return Surface(
            frozen_ints(np.append(first, words)),
            {place[word]: text for word, text in texts.items()},
            spaces.take(described.ids),
            {number: spacings[spacing].before for number, spacing in enumerate(opening) if spacings[spacing].before},
            frozen_ints(np.array([spacing.start for spacing in spacings], dtype=np.int32)[described.ids]),
            frozen_ints(np.array([spacing.stop for spacing in spacings], dtype=np.int32)[described.ids]),
            {token: spacings[described.ids[token]].inside for token in np.flatnonzero(inside).tolist()},
        )

    def _multiwords(self, sentence: int) -> Iterator[list[str]]:
        """Yield the ten columns of the line of each multiword token of a sentence."""
        for line in self.sentence(sentence).decode("utf-8").split("\n"):
            if line[:1] not in {"#", ""} and "-" in line.partition("\t")[0]:
                yield line.split("\t")

    def probabilities(self, offsets: Offsets, misc: Column) -> Probabilities | None:
        """Read the probabilities that a parser wrote into MISC and comments; None if there are none."""
        arcs = np.array([probability_of(text) for text in misc.names], dtype=np.float64)[misc.ids]
        trees = np.full(len(offsets), np.nan)
        if self.raw.tobytes().find(TREE_CONFIDENCE) >= 0:
            for sentence in range(len(trees)):
                lines = [line for line in self.comments(sentence) if line.startswith(TREE_CONFIDENCE.decode())]
                trees[sentence] = finite(lines[0].partition("=")[2]) if lines else np.nan
        of_arcs, of_trees = (None if np.isnan(values).all() else frozen_array(values) for values in (arcs, trees))
        return None if of_arcs is None and of_trees is None else Probabilities(of_arcs, of_trees)

    def select(self, offsets: Offsets, sentences: npt.NDArray[Any]) -> Source:
        """Return the source of the `sentences` with these indices, in this order; `offsets` are those of the words."""
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
        """Return one source with the sentences of all `sources`; each sentence keeps the line number in its file."""
        sizes = starts_of([len(text.raw) for text in sources])
        files = {text.file for text in sources}
        return cls(
            frozen_array(np.concatenate([text.raw for text in sources])),
            frozen_array(
                np.concatenate(
                    [text.sentences[:-1] + at for text, at in zip(sources, sizes, strict=False)] + [sizes[-1:]]
                )
            ),
            frozen_array(np.concatenate([text.fields + at for text, at in zip(sources, sizes, strict=False)])),
            frozen_array(np.concatenate([text.lines for text in sources])),
            frozen_ints(np.concatenate([text.multiwords for text in sources])),
            frozen_ints(np.concatenate([text.empties for text in sources])),
            files.pop() if len(files) == 1 else "<several files>",
        )

    def splice(self, offsets: Offsets, columns: Mapping[str, Column]) -> Source:
        """Return the source with other texts in these `columns`, by name, of every word; nothing else changes."""
        offsets = Offsets.of(offsets, end=len(self.fields))
        self._demand_order(offsets)
        for name, column in columns.items():
            if len(column) != len(self.fields):
                raise MismatchError(f"{len(column)} values for column {name}, but there are {len(self.fields)} words")
        edits = sorted(((COLUMNS.index(name), column) for name, column in columns.items()), key=itemgetter(0))
        names: list[bytes] = []
        choices = np.empty((len(edits), len(self.fields)), dtype=np.int32)
        for row, (_, column) in enumerate(edits):
            np.add(column.ids, len(names), out=choices[row])
            names += [name.encode("utf-8") for name in column.names]
        marks = np.cumsum([0, *map(len, names)], dtype=np.int64)
        grown = len(self.raw)
        for row, (at, _) in enumerate(edits):
            grown += int(np.diff(marks)[choices[row]].sum() - (self.fields[:, at + 1] - 1 - self.fields[:, at]).sum())
        raw = np.empty(grown, dtype=np.uint8)
        sentences = np.empty_like(self.sentences)
        fields = np.empty_like(self.fields)
        indices = np.array([at for at, _ in edits], dtype=np.int32)
        letters = np.frombuffer(b"".join(names), dtype=np.uint8)
        kernel.splice(
            view(self.raw),
            kernel.WrittenWords(view(offsets.array), view(self.sentences), view(self.fields)),
            kernel.Replacements(view(indices), view(choices), view(letters), view(marks)),
            view(raw),
            kernel.CopyBuffer(*map(view, (sentences, fields))),
        )
        return replace(self, raw=frozen_array(raw), sentences=frozen_array(sentences), fields=frozen_array(fields))

    def _demand_order(self, offsets: Offsets) -> None:
        """Raise a `MismatchError` unless the positions in `fields` rise and are inside their sentences."""
        fields = self.fields
        full = offsets.lengths > 0  # sentences that have a first and a last word
        if not (
            len(offsets) == len(self.sentences) - 1
            and (fields[:, 1:] > fields[:, :-1]).all()
            and (fields[1:, 0] >= fields[:-1, 10]).all()
            and (fields[offsets.starts[full], 0] >= self.sentences[:-1][full]).all()
            and (fields[offsets.array[1:][full] - 1, 10] <= self.sentences[1:][full]).all()
        ):
            raise MismatchError("the positions of columns are not in increasing order in the bytes of their CoNLL-U")


def _heading(comments: Iterable[re.Match[bytes]]) -> Heading:
    """Return the metadata in matches of HEADING; the last of several with the same key counts."""
    named = {comment[1] or comment[3]: (comment[2] or b"").decode("utf-8").strip() for comment in comments}
    document = named.get(b"newdoc id", named.get(b"newdoc"))
    return Heading(named.get(b"sent_id"), named.get(b"text"), document, b"newpar" in named)
