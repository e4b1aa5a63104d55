"""Enhanced graphs in the DEPS column of CoNLL-U: reading, checking, and writing.

A word or empty node lists the arcs into it as HEAD:RELATION, separated by `|`, or has `_`. A head is a word, an empty
node such as 8.1, or 0. Reading accepts the items in any order; writing sorts them by head and then by relation, and
keeps the text of a node whose arcs did not change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ropewalk.core.columns import Column
from ropewalk.core.graphs import Graphs, same_graphs, sorted_arcs
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import is_root_relation
from ropewalk.errors import FormatError, MismatchError, demand_type
from ropewalk.formats import conllu
from ropewalk.kernels import codes, view
from ropewalk.kernels import deps as kernel
from ropewalk.kernels.values import ArcBuffer
from ropewalk.treebank.source import UNWRITABLE
from ropewalk.treebank.treebank import Treebank

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
    """The result of one pass over the DEPS column of a treebank: nodes, arcs and problems.

    A row of `fields` has the position of a node's line, and the start and the end of its FORM and of its DEPS. `minors`
    has the number after the point in the ID of an empty node, 0 for words. Arcs are in the order of the file; `spans`
    has the start and the end of each relation. A row of `problems` has a code, the position of the line, and the start
    and the end of the wrong item.
    """

    text: Source
    fields: Places
    minors: Ints
    offsets: Offsets
    heads: Ints
    dependents: Ints
    arc_offsets: Offsets
    spans: Places
    relations: Column
    problems: Places

    def error(self, row: list[int]) -> FormatError:
        code, at, start, stop = row
        sentence = int(np.searchsorted(self.text.sentences, at, side="right")) - 1
        before = self.text.raw[self.text.sentences[sentence] : at]
        raw = view(self.text.raw)
        kind, message = PROBLEMS[code]
        shown = bytes(raw[start : min(stop, start + SHOWN_BYTES)]).decode("utf-8", "replace")
        word = bytes(raw[at : at + SHOWN_BYTES]).split(b"\t", 1)[0].decode("utf-8", "replace")
        line = int(self.text.lines[sentence]) + int(np.count_nonzero(before == 10))
        name = self.text.heading(sentence).id
        return FormatError(self.text.file, line, kind, message.format(found=shown), word=word, sentence=name)

    def graphs(self) -> Graphs:
        return Graphs(self.offsets, self.minors > 0, self.arc_offsets, self.heads, self.dependents, self.relations)


def read(bank: Treebank) -> Graphs:
    """Return the enhanced graphs of a treebank; raise a `FormatError` that names the line of an invalid DEPS item."""
    demand_type("graphs are read from a treebank", bank, Treebank)
    if bank.graphs is not None:
        return bank.graphs
    scanned = _scan(_text(bank))
    wrong = scanned.problems[~np.isin(scanned.problems[:, 0], list(ONLY_CHECKED))]
    if len(wrong):
        raise scanned.error(wrong[0].tolist())
    return scanned.graphs()


def problems(bank: Treebank) -> Iterator[FormatError]:
    """Yield all problems of the enhanced graphs of a treebank, by line."""
    scanned = _scan(_text(bank))
    yield from map(scanned.error, scanned.problems.tolist())


def texts(graphs: Graphs) -> list[str]:
    """Return the text of DEPS for each word and empty node: its arcs sorted by head, then by relation."""
    names = graphs.names()
    bounds = graphs.node_arcs.tolist()
    heads = graphs.heads.tolist()
    relations = graphs.relations.texts()
    out: list[str] = []
    for start, stop in pairwise(graphs.offsets.array.tolist()):
        known = ["0", *names[start:stop]]
        out += [
            "|".join([f"{known[heads[arc]]}:{relations[arc]}" for arc in range(bounds[node], bounds[node + 1])]) or "_"
            for node in range(start, stop)
        ]
    return out


def forms(bank: Treebank) -> Column:
    """Return the forms of all words and empty nodes, in the order of the text."""
    text = _text(bank)
    fields = _scan(text).fields
    return _column(text, fields[:, 1:3])


def _text(bank: Treebank) -> Source:
    """Return the CoNLL-U of a treebank with all its changes."""
    demand_type("graphs are read from a treebank", bank, Treebank)
    return conllu.as_written(bank)


def _scan(text: Source) -> _Scanned:
    raw = text.raw
    lines = int(np.count_nonzero(raw == 10)) + 1
    most = lines + int(np.count_nonzero(raw == 124))
    fields = np.empty((lines, 5), dtype=np.int64)
    spans = np.empty((most, 2), dtype=np.int64)
    wrong = np.empty((most, 4), dtype=np.int64)
    minors, positions, after = (np.empty(lines + 1, dtype=np.int32) for _ in range(3))
    heads, dependents = (np.empty(most, dtype=np.int32) for _ in range(2))
    offsets, arc_offsets = (np.empty(len(text.sentences), dtype=np.int32) for _ in range(2))
    counts = np.zeros(3, dtype=np.int64)
    kernel.scan(
        view(raw),
        view(text.sentences),
        kernel.NodeBuffer(view(fields), view(minors), view(offsets)),
        ArcBuffer(view(heads), view(dependents), view(arc_offsets)),
        kernel.DepsBuffer(view(spans), view(wrong), view(counts), view(positions), view(after)),
    )
    nodes, arcs, bad = counts.tolist()
    scanned = _Scanned(
        text,
        fields[:nodes],
        minors[:nodes],
        Offsets(offsets),
        heads[:arcs],
        dependents[:arcs],
        Offsets(arc_offsets),
        spans[:arcs],
        _column(text, spans[:arcs]),
        wrong[:bad],
    )
    return _with_more_problems(scanned)


def _with_more_problems(scanned: _Scanned) -> _Scanned:
    """Add problems that show only when arcs are compared: repeated items, unsorted items and wrong root relations.

    A root relation is wrong if its head is not 0, and any other relation if its head is 0.
    """
    sentences = scanned.arc_offsets.owners()
    order, twice = sorted_arcs(sentences, scanned.heads, scanned.dependents, scanned.relations)
    nodes = scanned.offsets.starts[sentences] + scanned.dependents - 1
    displaced = np.flatnonzero(order != np.arange(len(order)))
    _, firsts = np.unique(nodes[displaced], return_index=True)
    unsorted = displaced[firsts]
    names = [*map(is_root_relation, scanned.relations.names), False]
    rooted = np.array(names, dtype=np.bool_)[scanned.relations.ids]
    unrooted = np.flatnonzero(rooted != (scanned.heads == 0))
    rows = [scanned.problems]
    for code, arcs in ((codes.DEPS_TWICE, twice), (codes.DEPS_ORDER, unsorted), (codes.DEPS_ROOT, unrooted)):
        starts = scanned.spans[arcs, 0]
        starts = np.array([_item_start(scanned.text.raw, start) for start in starts.tolist()], dtype=np.int64)
        positions = scanned.fields[nodes[arcs], 0]
        rows.append(np.stack([np.full(len(arcs), code), positions, starts, scanned.spans[arcs, 1]], axis=1))
    every = np.concatenate(rows).astype(np.int64)
    every = every[np.argsort(every[:, 1], kind="stable")]
    return replace(scanned, problems=every)


def _item_start(raw: npt.NDArray[np.uint8], at: int) -> int:
    """Return the position where an item of DEPS begins; `at` is the position where its relation begins."""
    at -= 1
    while raw[at - 1] not in b"\t|":
        at -= 1
    return at


def _column(text: Source, spans: Places) -> Column:
    return Column.of_spans(text.raw, *(np.ascontiguousarray(spans[:, side]) for side in range(2)))


def write(bank: Treebank, graphs: Graphs, node_forms: Column | None = None) -> bytes:
    """Return the CoNLL-U of a treebank with other enhanced graphs; unchanged sentences and nodes keep their bytes.

    The graphs must have the same words as the treebank. Its empty nodes are replaced with those of the graphs. An empty
    node that the treebank has already keeps its other columns. A new one has `_` there, and its form is that in
    `node_forms`, which has a form for each node of the graphs.
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
        new = graphs.select([sentence])
        old = before.select([sentence])
        kept = dict(zip(old.names(), texts(old), strict=True))
        parts.append(
            _sentence(
                raw.decode("utf-8"),
                dict(zip(new.names(), deps[sentence], strict=True)),
                kept,
                None if shown is None else dict(zip(new.names(), shown[start:stop], strict=True)),
            ).encode("utf-8")
        )
    return b"".join(parts)


def _demand_writable(bank: Treebank, what: str, column: Column, sentences: npt.NDArray[Any]) -> None:
    """Raise a `FormatError` if a text of `column` is empty or has a character that would break the file.

    `sentences` has the sentence index of each text, and `what` names the kind of text in the error.
    """
    wrong = np.array([not text or UNWRITABLE.search(text) is not None for text in (*column.names, "_")])[column.ids]
    for index in np.flatnonzero(wrong)[:1].tolist():
        text = column.names[column.ids[index]]
        raise FormatError(
            bank.file,
            bank.line(int(sentences[index])),
            "unwritable-text",
            f"a {what} of the graph is {text!r}; expected at least one character and no tab, line break, NUL or lone "
            "surrogate",
        )


def _changed_texts(graphs: Graphs, unchanged: npt.NDArray[np.bool_]) -> dict[int, list[str]]:
    changed = np.flatnonzero(~unchanged)
    some = graphs.select(changed)
    written = texts(some)
    bounds = some.offsets.array.tolist()
    return {
        sentence: written[start:stop]
        for sentence, (start, stop) in zip(changed.tolist(), pairwise(bounds), strict=True)
    }


def _sentence(raw: str, deps: dict[str, str], kept: dict[str, str], shown: dict[str, str] | None) -> str:
    """Return the text of a sentence with new DEPS and other empty nodes.

    `deps` maps the ID of each node, such as `8.1`, to its new DEPS, `kept` to its present DEPS in sorted order, and
    `shown` to the form for new empty nodes.
    """
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
        raise MismatchError(f"{len(bank)} sentences and {len(graphs)} graphs; pass one graph for each sentence")
    counts = graphs.offsets.sums(~graphs.empty)
    wrong = np.flatnonzero(counts != bank.lengths)
    if len(wrong):
        at = int(wrong[0])
        raise MismatchError(
            f"sentence {at + 1} has {bank.lengths[at]} words, but its graph {counts[at]}; expected the same words"
        )
