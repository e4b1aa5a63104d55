"""Label files of graphs: one word or empty node per line, as written by `ropewalk encode --graphs`.

The first line says what the rest holds: `# ropewalk graph encoding = brackets | columns = id, form, label, relations`.
Then comes a line for each word and each empty node, where it stands, with its number as in CoNLL-U (8.1), its form, its
label and the relations of the arcs into it: by increasing head, separated by `|`, two of one arc joined by ` & `, and
`_` where there is none. An empty line follows each sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Self, final

import numpy as np

from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column
from ropewalk.core.graphs import Graphs
from ropewalk.core.ragged import Offsets
from ropewalk.encodings.graphs import GraphEncoding, GraphLabels, get
from ropewalk.encodings.graphs.base import labels_of
from ropewalk.errors import FormatError, LabelError, UncoveredGraphError
from ropewalk.formats import deps
from ropewalk.formats.label_files import LabelledWords, LabelRows, Path, demand_same_words, rows_of, write_rows
from ropewalk.formats.sdp import SemanticBank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy.typing as npt

    from ropewalk.treebank.treebank import Treebank

HEADER: Final = re.compile(r"# ropewalk graph encoding = (?P<spec>.+?) \| columns = (?P<columns>.+)")
EXPECTED_HEADER: Final = "# ropewalk graph encoding = NAME | columns = id, form, …, relations"
NUMBER: Final = re.compile(r"(0|[1-9][0-9]{0,8})(?:\.([1-9][0-9]{0,8}))?")
RELATIONS: Final = re.compile(r"(?:no arc|[^\s|]+(?: & [^\s|]+)*)(?:\|(?:no arc|[^\s|]+(?: & [^\s|]+)*))*")


def header(encoding: GraphEncoding) -> str:
    """Write the first line of a label file."""
    return f"# ropewalk graph encoding = {encoding.spec} | columns = {', '.join(_columns(encoding))}\n"


def _columns(encoding: GraphEncoding) -> tuple[str, ...]:
    return ("id", "form", *encoding.columns, "relations")


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """What becomes a label file: graphs, and the forms of their nodes."""

    bank: Treebank | SemanticBank
    graphs: Graphs
    forms: Column

    @classmethod
    def of(cls, bank: Treebank | SemanticBank) -> Nodes:
        """Take the enhanced graphs of a treebank, or semantic dependencies."""
        if isinstance(bank, SemanticBank):
            return cls(bank, bank.graphs, bank.forms)
        return cls(bank, deps.read(bank), deps.forms(bank))


def text_of(encoding: GraphEncoding, nodes: Nodes) -> str:
    """Write words and empty nodes with the labels of their graphs, and an empty line after each sentence."""
    try:
        labels = encoding.encode(nodes.graphs)
    except UncoveredGraphError as error:
        message = str(error).removeprefix(f"sentence {error.sentence}: ")
        raise FormatError(nodes.bank.file, nodes.bank.line(error.sentence - 1), "uncovered-graph", message) from error
    columns = [
        nodes.graphs.names(),
        nodes.forms.texts(),
        *(labels.texts(column) for column in range(len(labels.ids))),
        labels.relation_texts(),
    ]
    return rows_of(columns, labels.offsets)


def write(path: Path, encoding: GraphEncoding, pieces: Iterable[Nodes]) -> None:
    """Write a label file, which appears whole or not at all; `-` is standard output, `.gz` and `.xz` compress."""
    write_rows(path, header(encoding), (text_of(encoding, nodes) for nodes in pieces))


@dataclass(frozen=True, slots=True, eq=False)
class LabelledNodes:
    """Some sentences of a label file: the forms of their words and empty nodes, and the labels."""

    forms: Column
    labels: GraphLabels
    lines: npt.NDArray[np.int64]


@final
class GraphLabelReader(LabelRows[GraphEncoding, LabelledNodes]):
    """An iterator over the pieces of a file with labels of graphs, each of whole sentences."""

    header = HEADER, EXPECTED_HEADER

    def named(self, spec: str) -> GraphEncoding:
        """Make the encoding of graphs."""
        return get(spec)

    def columns(self, encoding: GraphEncoding) -> tuple[str, ...]:
        """Name the columns of an encoding's label files."""
        return _columns(encoding)

    def checks(self, encoding: GraphEncoding) -> dict[str, Callable[[str], object]]:
        """Look at each column of labels, and at the relations."""
        labels = {name: partial(encoding.check_label, column=place) for place, name in enumerate(encoding.columns)}
        return {**labels, "relations": partial(_check_relations, encoding.spec)}

    def piece(self, columns: dict[str, Column], offsets: Offsets, lines: npt.NDArray[np.int64]) -> LabelledNodes:
        """Take the forms and the labels; numbers tell words from empty nodes."""
        empty = np.array([*("." in name for name in columns["id"].names), False])[columns["id"].ids]
        graphs = Graphs(
            offsets,
            empty,
            Offsets.of_lengths(np.zeros(len(offsets), dtype=np.int64)),
            frozen_ints([]),
            frozen_ints([]),
            Column.of([]),
        )
        for line, found, expected in zip(lines.tolist(), columns["id"].texts(), graphs.names(), strict=True):
            if found != expected:
                message = f"the id is {found}, expected {expected}: words from 1 without gaps, empty nodes from .1"
                raise FormatError(self.file, line, "id", message)
        labels = [columns[name] for name in self.encoding.columns]
        return LabelledNodes(
            columns["form"], labels_of(self.encoding, offsets, empty, labels, columns["relations"]), lines
        )


def _check_relations(spec: str, text: str) -> None:
    if not RELATIONS.fullmatch(text):
        raise LabelError(spec, text, "relations separated by |, two of one arc by ' & ', or _ for none")


class LabelledGraphs:
    """An iterator over the graphs that a label file spells: pieces of forms, graphs and line numbers.

    `faults` counts by kind what was wrong with the labels so far.
    """

    def __init__(self, reader: GraphLabelReader) -> None:
        self.file = reader.file
        self.faults: Counter[str] = Counter()
        self._reader = reader

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[Column, Graphs, npt.NDArray[np.int64]]:
        piece = next(self._reader)
        found = self._reader.encoding.decode(piece.labels)
        self.faults.update(found.counts())
        return piece.forms, found.graphs, piece.lines


def fill(originals: Iterable[Treebank], found: LabelledGraphs) -> Iterator[bytes]:
    """Put graphs into the DEPS of an original with the same words; sentences or words that differ are a `FormatError`.

    The empty nodes become those of the labels.
    """
    forms, rest, lines = Column.of([]), Graphs.of([]), np.zeros(0, dtype=np.int64)
    file = "the original"
    for bank in originals:
        file = bank.file
        at = 0
        while at < len(bank):
            if not len(rest):
                forms, rest, lines = next(found, (forms, rest, lines))
            many = min(len(bank) - at, len(rest))
            if not many:
                raise FormatError(
                    file,
                    bank.line(at),
                    "sentences-differ",
                    f"{found.file} has no labels for this sentence and those after it; expected as many sentences",
                )
            here, cut = bank.select(np.arange(at, at + many)), int(rest.offsets.array[many])
            some = rest.select(np.arange(many))
            words = np.flatnonzero(~some.empty)
            offsets = some.offsets.counted(~some.empty)
            same = LabelledWords(forms[:cut].take(words), offsets, lines[words], lines[some.offsets.starts])
            demand_same_words(here, same, found.file)
            yield deps.write(here, some, forms[:cut])
            rest = rest.select(np.arange(many, len(rest)))
            forms, lines = forms[cut:], lines[cut:]
            at += many
    if not len(rest):
        forms, rest, lines = next(found, (forms, rest, lines))
    if len(rest):
        message = f"labels for a sentence that {file} does not have; expected as many sentences"
        raise FormatError(found.file, int(lines[0]), "sentences-differ", message)


def fill_semantic(bank: SemanticBank, found: LabelledGraphs) -> SemanticBank:
    """Put graphs over the same words of an `.sdp` file; sentences or words that differ are a `FormatError`."""
    pieces = list(found)
    graphs = Graphs.concat([piece for _, piece, _ in pieces])
    mine, theirs = bank.forms.texts(), Column.concat([forms for forms, _, _ in pieces]).texts()
    if mine != theirs or graphs.offsets != bank.graphs.offsets:
        both = zip(enumerate(bank.graphs.lengths.tolist()), graphs.lengths.tolist(), strict=False)
        parted = [s for (s, ours), other in both if ours != other]
        words = [w for w, (ours, other) in enumerate(zip(mine, theirs, strict=False)) if ours != other]
        first = bank.graphs.offsets.owner(words[0]) if words else len(bank) - 1
        raise FormatError(
            bank.file,
            int(bank.lines[min([first, *parted])]) if len(bank) else 0,
            "words-differ",
            f"the words from this sentence on are not those of {found.file}; expected the same words and sentences",
        )
    return bank.with_graphs(graphs)
