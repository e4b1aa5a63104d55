"""Enhanced graphs in the DEPS column of CoNLL-U: read, checked, and put back where they were.

A word or empty node lists the arcs into it as HEAD:RELATION, separated by `|`, or has `_`. A head is a word, an empty
node such as 8.1, or 0. Reading takes the items in any order; writing sorts them by head and then by relation, and keeps
the text of a node whose arcs are those it had.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column, intern
from ropewalk.core.graphs import Graphs, same_graphs, sorted_arcs
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import is_root_relation
from ropewalk.errors import FormatError, MismatchError, demand_type
from ropewalk.formats import conllu
from ropewalk.kernels import codes, view
from ropewalk.kernels import deps as kernel
from ropewalk.treebank.treebank import UNWRITABLE, Treebank

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from ropewalk.core.arrays import Ints
    from ropewalk.core.ragged import Places
    from ropewalk.treebank.source import Source

SHOWN_BYTES: Final = 60
PROBLEMS: Final = {
    codes.DEPS_FORM: ("deps", "DEPS has {found!r}; expected HEAD:RELATION, such as 3:nsubj or 8.1:obj, without spaces"),
    codes.DEPS_HEAD: ("deps-head", "DEPS has {found!r}, but the sentence has no such word or empty node"),
    codes.DEPS_SELF: ("deps-self", "DEPS has {found!r}, which joins the word to itself; expected another head"),
    codes.DEPS_TWICE: ("deps-twice", "DEPS has {found!r} twice; expected each item once"),
    codes.DEPS_MULTIWORD: ("deps-multiword", "a multiword token has DEPS {found!r}; expected _: its words have them"),
    codes.DEPS_ORDER: ("deps-order", "DEPS is not sorted at {found!r}; expected items by head, then by relation"),
    codes.DEPS_ROOT: ("deps-root", "DEPS has {found!r}; expected the relation root with head 0, and nowhere else"),
}
ONLY_CHECKED: Final = frozenset({codes.DEPS_MULTIWORD, codes.DEPS_ORDER, codes.DEPS_ROOT})


@dataclass(frozen=True, slots=True, eq=False)
class _Scanned:
    """What one pass found: the fields of all nodes, their arcs in the order of the file, and what is wrong."""

    text: Source
    fields: Places
    minors: Ints
    offsets: Offsets
    heads: Ints
    dependents: Ints
    arc_offsets: Offsets
    stretches: Places
    relations: Column
    problems: Places

    def error(self, row: list[int]) -> FormatError:
        code, at, start, stop = row
        sentence = int(np.searchsorted(self.text.sentences, at, side="right")) - 1
        before = self.text.raw[self.text.sentences[sentence] : at]
        raw = view(self.text.raw)
        kind, message = PROBLEMS[code]
        found = bytes(raw[start : min(stop, start + SHOWN_BYTES)]).decode("utf-8", "replace")
        word = bytes(raw[at : at + SHOWN_BYTES]).split(b"\t", 1)[0].decode("utf-8", "replace")
        line = int(self.text.lines[sentence]) + int(np.count_nonzero(before == 10))
        return FormatError(self.text.file, line, kind, message.format(found=found), word=word)

    def graphs(self) -> Graphs:
        return Graphs(self.offsets, self.minors > 0, self.arc_offsets, self.heads, self.dependents, self.relations)


def read(bank: Treebank) -> Graphs:
    """Read the enhanced graphs of a treebank; an item that is none raises a `FormatError` that names its line."""
    demand_type("graphs are read from a treebank", bank, Treebank)
    if bank.graphs is not None:
        return bank.graphs
    scanned = _scan(_text(bank))
    wrong = scanned.problems[~np.isin(scanned.problems[:, 0], list(ONLY_CHECKED))]
    if len(wrong):
        raise scanned.error(wrong[0].tolist())
    return scanned.graphs()


def problems(bank: Treebank) -> Iterator[FormatError]:
    """Find everything that is wrong with the enhanced graphs of a treebank, line by line."""
    scanned = _scan(_text(bank))
    yield from map(scanned.error, scanned.problems.tolist())


def forms(bank: Treebank) -> Column:
    """Give the forms of all words and empty nodes."""
    text = _text(bank)
    fields = _scan(text).fields
    return _column(text, fields[:, 1:3])


def _text(bank: Treebank) -> Source:
    """Return the bytes of a treebank as it would be written, and where its sentences begin."""
    demand_type("graphs are read from a treebank", bank, Treebank)
    source = bank.source
    if source is not None and not bank.is_edited and bank.headings is None:
        return source
    written = conllu.scan(conllu.dumps(bank), bank.file).text
    return replace(written, lines=source.lines) if source is not None else written


def _scan(text: Source) -> _Scanned:
    raw = text.raw
    lines = int(np.count_nonzero(raw == 10)) + 1
    most = lines + int(np.count_nonzero(raw == 124))
    fields = np.empty((lines, 5), dtype=np.int64)
    stretches = np.empty((most, 2), dtype=np.int64)
    wrong = np.empty((most, 4), dtype=np.int64)
    majors, minors, places, after = (np.empty(lines + 1, dtype=np.int32) for _ in range(4))
    heads, dependents = (np.empty(most, dtype=np.int32) for _ in range(2))
    offsets, arc_offsets = (np.empty(len(text.sentences), dtype=np.int32) for _ in range(2))
    counts = np.zeros(3, dtype=np.int64)
    kernel.scan(
        view(raw),
        view(text.sentences),
        view(fields),
        view(majors),
        view(minors),
        view(offsets),
        view(heads),
        view(dependents),
        view(stretches),
        view(arc_offsets),
        view(wrong),
        view(counts),
        view(places),
        view(after),
    )
    nodes, arcs, bad = counts.tolist()
    found = _Scanned(
        text,
        fields[:nodes],
        minors[:nodes],
        Offsets(offsets),
        heads[:arcs],
        dependents[:arcs],
        Offsets(arc_offsets),
        stretches[:arcs],
        _column(text, stretches[:arcs]),
        wrong[:bad],
    )
    return _with_more_problems(found)


def _with_more_problems(found: _Scanned) -> _Scanned:
    """Add what only all items of a word together show: those given twice, not sorted, or with another root."""
    sentences = found.arc_offsets.owners()
    order, twice = sorted_arcs(sentences, found.heads, found.dependents, found.relations)
    nodes = found.offsets.starts[sentences] + found.dependents - 1
    displaced = np.flatnonzero(order != np.arange(len(order)))
    _, firsts = np.unique(nodes[displaced], return_index=True)
    unsorted = displaced[firsts]
    names = [*map(is_root_relation, found.relations.names), False]
    rooted = np.array(names, dtype=np.bool_)[found.relations.ids]
    unrooted = np.flatnonzero(rooted != (found.heads == 0))
    rows = [found.problems]
    for code, arcs in ((codes.DEPS_TWICE, twice), (codes.DEPS_ORDER, unsorted), (codes.DEPS_ROOT, unrooted)):
        starts = found.stretches[arcs, 0]
        starts = np.array([_item_start(found.text.raw, start) for start in starts.tolist()], dtype=np.int64)
        places = found.fields[nodes[arcs], 0]
        rows.append(np.stack([np.full(len(arcs), code), places, starts, found.stretches[arcs, 1]], axis=1))
    every = np.concatenate(rows).astype(np.int64)
    every = every[np.argsort(every[:, 1], kind="stable")]
    return _Scanned(
        found.text,
        found.fields,
        found.minors,
        found.offsets,
        found.heads,
        found.dependents,
        found.arc_offsets,
        found.stretches,
        found.relations,
        every,
    )


def _item_start(raw: npt.NDArray[np.uint8], at: int) -> int:
    """Go back from a relation to where its item begins, after a tab or a bar."""
    at -= 1
    while raw[at - 1] not in b"\t|":
        at -= 1
    return at


def _column(text: Source, stretches: Places) -> Column:
    starts, stops = (np.ascontiguousarray(stretches[:, side]) for side in range(2))
    ids, firsts = intern(text.raw, starts, stops)
    raw = view(text.raw)
    names = tuple(bytes(raw[starts[i] : stops[i]]).decode("utf-8") for i in firsts.tolist())
    return Column(frozen_ints(ids), names)


def write(bank: Treebank, graphs: Graphs, node_forms: Column | None = None) -> bytes:
    """Write a treebank with other graphs over the same words; sentences and nodes that keep theirs keep their bytes.

    The empty nodes become those of the graphs. One that the treebank has too keeps its other columns; a new one has
    its form from `node_forms`, which has one for each node of the graphs, and `_` elsewhere.
    """
    text = _text(bank)
    before = read(bank)
    _require_same_words(bank, graphs)
    _demand_writable(bank, "relation", graphs.relations, graphs.arc_sentences)
    if node_forms is not None:
        sentences = np.repeat(np.arange(len(graphs)), graphs.lengths)
        _demand_writable(bank, "form", node_forms, sentences)
    unchanged = same_graphs(before, graphs)
    deps = _changed_texts(graphs, unchanged)
    shown = None if node_forms is None else node_forms.texts()
    parts: list[bytes] = []
    for sentence in range(len(bank)):
        raw = text.sentence(sentence)
        if unchanged[sentence]:
            parts.append(raw)
            continue
        start, stop = graphs.offsets.bounds(sentence)
        one = graphs.select([sentence])
        old = before.select([sentence])
        kept = dict(zip(old.names(), old.deps(), strict=True))
        parts.append(
            _sentence(
                raw.decode("utf-8"),
                dict(zip(one.names(), deps[sentence], strict=True)),
                kept,
                None if shown is None else dict(zip(one.names(), shown[start:stop], strict=True)),
            ).encode("utf-8")
        )
    return b"".join(parts)


def _demand_writable(bank: Treebank, what: str, column: Column, sentences: npt.NDArray[Any]) -> None:
    """Raise if a text would break the file; `sentences` are those that the texts of the column are of."""
    wrong = np.array([not text or UNWRITABLE.search(text) is not None for text in (*column.names, "_")])[column.ids]
    for place in np.flatnonzero(wrong)[:1].tolist():
        text = column.names[column.ids[place]]
        raise FormatError(
            bank.file,
            bank.line(int(sentences[place])),
            "unwritable-text",
            f"a {what} of the graph is {text!r}; expected at least one character and no tab, line break, NUL or lone "
            "surrogate",
        )


def _changed_texts(graphs: Graphs, unchanged: npt.NDArray[np.bool_]) -> dict[int, list[str]]:
    changed = np.flatnonzero(~unchanged)
    some = graphs.select(changed)
    written = some.deps()
    bounds = some.offsets.array.tolist()
    return {
        sentence: written[start:stop]
        for sentence, (start, stop) in zip(changed.tolist(), pairwise(bounds), strict=True)
    }


def _sentence(raw: str, deps: dict[str, str], kept: dict[str, str], shown: dict[str, str] | None) -> str:
    """Put the DEPS of each node, by its name, into the lines of one sentence; `kept` is what they now say, sorted."""
    lines = raw.split("\n")
    waiting = list(deps)[::-1]
    present = {line.partition("\t")[0] for line in lines if not line.startswith("#")}
    out: list[str] = []

    def insert_new() -> None:
        while waiting and waiting[-1] not in present:
            name = waiting.pop()
            form = "_" if shown is None else shown[name]
            out.append("\t".join([name, form, *["_"] * 6, deps[name], "_"]))

    begun = False
    for line in lines:
        name = line.partition("\t")[0]
        if not begun and not line.startswith("#"):
            begun = True
            insert_new()
        if name in deps and not line.startswith("#"):
            columns = line.split("\t")
            if kept[name] != deps[name]:
                columns[8] = deps[name]
            out.append("\t".join(columns))
            waiting.pop()
            insert_new()
        elif "." not in name or line.startswith("#"):
            out.append(line)
    return "\n".join(out)


def _require_same_words(bank: Treebank, graphs: Graphs) -> None:
    if len(bank) != len(graphs):
        raise MismatchError(f"{len(bank)} sentences and {len(graphs)} graphs; expected as many")
    words = np.concatenate([[0], np.cumsum(~graphs.empty)])
    counts = np.diff(words[graphs.offsets.array])
    wrong = np.flatnonzero(counts != bank.lengths)
    if len(wrong):
        at = int(wrong[0])
        raise MismatchError(
            f"sentence {at + 1} has {bank.lengths[at]} words, but its graph {counts[at]}; expected as many"
        )
