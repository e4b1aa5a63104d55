"""Semantic dependencies: graphs in the format of SemEval 2015 task 18, `.sdp`.

The first line is `#SDP 2015`. A sentence has a line with `#` and its name, a line for each word, and an empty line.

The columns of a word are its number, form, lemma and part of speech, `+` if it is a top (else `-`), `+` if it is a
predicate (else `-`), and its frame. A column for each predicate of the sentence follows, from left to right: the role
of the word as an argument of this predicate, or `_`. Tops become arcs from node 0 with the relation `top`.

(https://alt.qcri.org/semeval2015/task18/index.php?id=data-and-tools)
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ropewalk import files
from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column
from ropewalk.core.graphs import Graphs, same_graphs
from ropewalk.core.ragged import Offsets
from ropewalk.errors import FormatError, GraphError, MismatchError, demand_type
from ropewalk.formats.text import raw_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = str | os.PathLike[str]

HEADER: Final = "#SDP 2015"
TOP: Final = "top"
BLOCK: Final = 1 << 20  # bytes that are read at a time
FIXED: Final = 7  # columns before the roles
ROLE: Final = re.compile(r"[^\s|]+")


@dataclass(frozen=True, slots=True, eq=False)
class SemanticBank:
    """The sentences of an `.sdp` file: the columns of their words, and their graphs.

    `lines[s]` is the number of the first line of sentence s in its file, and `comments[s]` has the lines before its
    words. `predicates` has the indices of the words that the file marks with `+` as predicates; they may have no
    arguments.
    """

    comments: tuple[tuple[str, ...], ...]
    forms: Column
    lemmas: Column
    pos: Column
    frames: Column
    predicates: frozenset[int]
    graphs: Graphs
    lines: tuple[int, ...]
    file: str

    def __len__(self) -> int:
        return len(self.graphs)

    def line(self, sentence: int) -> int:
        """Return the number of the first line of a sentence in its file."""
        return self.lines[sentence]

    def with_graphs(self, graphs: Graphs) -> SemanticBank:
        """Return the same sentences with other graphs.

        In sentences whose graph changes, the words that have arguments become predicates. The format has only one role
        for a pair of words: an arc with several relations or none raises a `GraphError`. The relations of arcs from
        node 0 are not written, because tops have no name.
        """
        if graphs.offsets != self.graphs.offsets or graphs.empty.any():
            raise MismatchError(
                "the graphs have other words than the file, or empty nodes; pass graphs over the same words"
            )
        nameless = np.array([*(name == "_" for name in graphs.relations.names), False])[graphs.relations.ids]
        wrong = np.flatnonzero(~graphs.first_of_pairs() | (nameless & (graphs.heads > 0)))
        if len(wrong):
            at = int(wrong[0])
            raise GraphError(
                f"graph {int(graphs.arc_sentences[at]) + 1}: the arc {graphs.heads[at]}->{graphs.dependents[at]} has a "
                "second relation, or none; expected exactly one"
            )
        heads = graphs.offsets.starts.astype(np.int64)[graphs.arc_sentences] + graphs.heads - 1
        unchanged = np.repeat(same_graphs(self.graphs, graphs), graphs.lengths)
        predicates = frozenset(heads[graphs.heads > 0].tolist()) | {node for node in self.predicates if unchanged[node]}
        return replace(self, predicates=predicates, graphs=graphs)


def read(path: Path) -> SemanticBank:
    """Read a whole `.sdp` file; `-` is standard input, and `.gz` and `.xz` files are decompressed."""
    return loads(_raw(path), files.shown(path))


def loads(raw: bytes | str, name: str = "<text>") -> SemanticBank:
    """Read `.sdp` from memory; raise a `FormatError` that names the line of the first problem."""
    parser = _Parser(raw_bytes(raw, name), name)
    first = next(parser.problems(), None)
    if first is not None:
        raise first
    return parser.bank()


def refused(path: Path, expected: str) -> FormatError:
    """Return the error for an `.sdp` file where a file of another kind, `expected`, is needed."""
    message = f"this is an .sdp file of semantic dependencies, which has graphs and no trees; expected {expected}"
    return FormatError(files.shown(path), 0, "semantic-dependencies", message)


def problems(path: Path) -> Iterator[FormatError]:
    """Yield the problems of an `.sdp` file, at most one for each line."""
    return _Parser(_raw(path), files.shown(path)).problems()


def _raw(path: Path) -> bytes:
    """Return the bytes of a file; raise a `FormatError` if a sentence is too long."""
    return b"".join(files.bounded(files.blocks(path, BLOCK), files.shown(path)))


def dumps(bank: SemanticBank) -> bytes:
    """Return sentences with semantic graphs as the bytes of an `.sdp` file."""
    demand_type("what to write", bank, SemanticBank)
    graphs = bank.graphs
    columns = [column.texts() for column in (bank.forms, bank.lemmas, bank.pos)]
    frames = bank.frames.texts()
    relations = graphs.relations.texts()
    bounds = graphs.node_arcs.tolist()
    out = [HEADER]
    for sentence in range(len(bank)):
        start, stop = graphs.offsets.bounds(sentence)
        out += bank.comments[sentence]
        predicates = [node - start + 1 for node in range(start, stop) if node in bank.predicates]
        for node in range(start, stop):
            arcs = slice(bounds[node], bounds[node + 1])
            roles = dict(zip(graphs.heads[arcs].tolist(), relations[arcs], strict=True))
            out.append(
                "\t".join(
                    [
                        str(node - start + 1),
                        *(column[node] for column in columns),
                        "+" if 0 in roles else "-",
                        "+" if node in bank.predicates else "-",
                        frames[node],
                        *(roles.get(head, "_") for head in predicates),
                    ]
                )
            )
        out.append("")
    return "".join(f"{line}\n" for line in out).encode("utf-8")


def write(path: Path, bank: SemanticBank) -> None:
    """Write an `.sdp` file; `-` is standard output, and `.gz` and `.xz` files are compressed.

    The file appears only when it is complete.
    """
    raw = dumps(bank)
    with files.creating(path) as file:
        file.write(raw)


class _Parser:
    """A parser of an `.sdp` file: `problems` reads the file, and then `bank` returns its valid sentences."""

    def __init__(self, raw: bytes, name: str) -> None:
        self._raw = raw
        self._file = name
        self._comments: list[tuple[str, ...]] = []
        self._rows: list[list[str]] = []
        self._lengths: list[int] = []
        self._lines: list[int] = []
        self._arcs: list[list[tuple[int, int, str]]] = []

    def _error(self, line: int, kind: str, message: str, word: str = "") -> FormatError:
        return FormatError(self._file, line, kind, message, word=word)

    def problems(self) -> Iterator[FormatError]:
        """Read the file, store its valid sentences, and yield its problems."""
        try:
            text = self._raw.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self._raw.count(b"\n", 0, error.start) + 1
            yield self._error(line, "utf-8", f"byte 0x{self._raw[error.start]:02x} is not UTF-8; expected UTF-8")
            return
        lines = text.split("\n")
        if lines[0] != HEADER:
            shown = repr(lines[0][:60]) if lines[0] else "nothing"
            yield self._error(1, "header", f"the file begins with {shown}; expected {HEADER!r}")
            return
        if lines[-1] or (len(lines) > 2 and lines[-2]):
            yield self._error(
                len(lines), "truncated", "the file ends inside a sentence; expected an empty line after it"
            )
            return
        begun = 1
        for at in range(1, len(lines) - 1):
            if not lines[at]:
                yield from self._sentence(lines[begun:at], begun + 1)
                begun = at + 1

    def _sentence(self, lines: list[str], first: int) -> Iterator[FormatError]:
        comments = [line for line in lines if line.startswith("#")]
        words = lines[len(comments) :]
        if not words or lines[: len(comments)] != comments:
            kind, message = ("comment", "a comment among words") if words else ("no-words", "a sentence without words")
            yield self._error(first, kind, f"{message}; expected comments, then at least one word")
            return
        rows = [line.split("\t") for line in words]
        predicates = [at for at, row in enumerate(rows, start=1) if len(row) >= FIXED and row[5] == "+"]
        arcs: list[tuple[int, int, str]] = []
        wrong = False
        for number, row in enumerate(rows, start=1):
            for kind, message in _row_problems(row, number, predicates):
                yield self._error(first + len(comments) + number - 1, kind, message, word=row[0][:20])
                wrong = True
                break
            else:
                arcs += [(0, number, TOP)] if row[4] == "+" else []
                arcs += [
                    (head, number, role) for head, role in zip(predicates, row[FIXED:], strict=True) if role != "_"
                ]
        if not wrong:
            self._comments.append(tuple(comments))
            self._lines.append(first)
            self._rows += rows
            self._lengths.append(len(rows))
            self._arcs.append(arcs)

    def bank(self) -> SemanticBank:
        """Return all sentences without problems that were read."""
        arcs = [arc for arcs in self._arcs for arc in arcs]
        offsets = Offsets.of_lengths(self._lengths)
        graphs = Graphs(
            offsets,
            np.zeros(len(self._rows), dtype=np.bool_),
            Offsets.of_lengths([len(arcs) for arcs in self._arcs]),
            frozen_ints([head for head, _, _ in arcs]),
            frozen_ints([dependent for _, dependent, _ in arcs]),
            Column.of(relation for _, _, relation in arcs),
        )
        forms, lemmas, pos, frames = (Column.of(row[column] for row in self._rows) for column in (1, 2, 3, 6))
        predicates = frozenset(node for node, row in enumerate(self._rows) if row[5] == "+")
        return SemanticBank(
            tuple(self._comments), forms, lemmas, pos, frames, predicates, graphs, tuple(self._lines), self._file
        )


def _row_problems(row: list[str], number: int, predicates: list[int]) -> Iterator[tuple[str, str]]:
    """Yield the code and the message of each problem in the line of word `number`; `row` has its columns.

    `predicates` are the numbers of the predicates of the sentence.
    """
    if len(row) != FIXED + len(predicates):
        yield (
            "columns",
            f"the number of columns is {len(row)}; expected {FIXED} and one for each of {len(predicates)} predicates",
        )
        return
    if row[0] != str(number):
        yield "id", f"the id is {row[0][:60]!r}, expected {number}; words are numbered from 1 without gaps"
    if not all(row):
        yield "empty-column", f"column {row.index('') + 1} is empty; expected a value, or _ for none"
    for column, name in ((4, "top"), (5, "pred")):
        if row[column] not in {"+", "-"}:
            yield name, f"{name} is {row[column][:60]!r}; expected + or -"
    for head, role in zip(predicates, row[FIXED:], strict=True):
        if not ROLE.fullmatch(role):
            yield "role", f"the role is {role[:60]!r}; expected a name without spaces or |"
        elif role != "_" and head == number:
            yield "role-self", f"the role {role!r} joins the word to itself; expected another predicate"
