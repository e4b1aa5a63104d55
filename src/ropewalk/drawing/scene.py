"""The content of a picture: words, rows of text under them, and arcs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from types import NoneType
from typing import TYPE_CHECKING, Literal

import numpy as np

from ropewalk import encodings
from ropewalk.core.graphs import Graph, arcs_of
from ropewalk.core.ropes import brackets, rope_cover
from ropewalk.core.trees import Tree
from ropewalk.drawing.measure import is_right_to_left
from ropewalk.encodings import graphs as graph_encodings
from ropewalk.encodings.bracket_text import bracket_text
from ropewalk.errors import EncodingError, MismatchError, OptionError, UnknownNameError, demand_sequence, demand_type
from ropewalk.kernels.codes import INDEX, SUPER
from ropewalk.reporting.escaping import clean
from ropewalk.treebank.documents import Sentence
from ropewalk.treebank.treebank import EDITABLE, Treebank

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

Kind = Literal["plain", "structural", "auxiliary", "missed", "wrong", "renamed", "refused", "repaired"]
Structure = Tree | Graph | Sentence

MOST_WORDS = 2000
LIFTED = ", lifted"  # marks the labels of a tree that had to be made projective first
NOTES: dict[Kind, str] = {
    "structural": "structural arc",
    "auxiliary": "auxiliary arc",
    "missed": "only in the first tree",
    "wrong": "only in the second tree",
    "renamed": "same head, other relation",
    "refused": "arc refused: it would break the tree",
    "repaired": "arc added by the repair",
}


@dataclass(frozen=True, slots=True)
class Arc:
    """An arc from a head to a dependent with the text on it; with `below` it is drawn below the words, else above."""

    head: int
    dependent: int
    text: str = ""
    kind: Kind = "plain"
    below: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row of text under the words: `cells[0]` is under node 0, and `cells[w]` under word w.

    Rows of kind `brackets` are typeset as in the paper. In rows of kind `steps`, each bracket is an SVG element, so
    that a script can highlight it.
    """

    name: str
    cells: tuple[str, ...]
    kind: Literal["tag", "label", "brackets", "steps"]


@dataclass(frozen=True, slots=True)
class Scene:
    """The content of a picture: words, arcs between them and rows of text under them.

    With `root`, node 0 is drawn as a word before all others. Otherwise an arc from node 0 is a vertical line to its
    word.
    """

    words: tuple[str, ...]
    arcs: tuple[Arc, ...]
    rows: tuple[Row, ...] = ()
    root: bool = False
    right_to_left: bool = False
    title: str = ""
    caption: str = ""
    meanings: tuple[tuple[Kind, str], ...] = tuple(NOTES.items())

    @property
    def nodes(self) -> tuple[int, ...]:
        """The drawn nodes from left to right: words are numbered from 1, and node 0 is included if `root` is set."""
        order = tuple(range(0 if self.root else 1, len(self.words) + 1))
        return order[::-1] if self.right_to_left else order

    @property
    def named_rows(self) -> bool:
        """Whether the names of rows are shown: if there are several rows of labels, or labels of a lifted tree."""
        names = [row.name for row in self.rows if row.kind != "tag"]
        return len(names) > 1 or any(name.endswith(LIFTED) for name in names)

    def word(self, node: int) -> str:
        """Return the form of word `node`, or `0` for node 0."""
        return self.words[node - 1] if node else "0"

    def arcs_on(self, *, below: bool) -> tuple[Arc, ...]:
        """Return the arcs above or below the words, without arcs from node 0 if it is not drawn."""
        return tuple(arc for arc in self.arcs if arc.below == below and (arc.head or self.root))

    def roots(self, *, below: bool) -> tuple[Arc, ...]:
        """Return the arcs from node 0 above or below the words if node 0 is not drawn, else none."""
        return tuple(arc for arc in self.arcs if arc.below == below and not (arc.head or self.root))

    def notes(self) -> tuple[tuple[Kind, str], ...]:
        """Return the legend of the picture: each kind of arc in it that needs an explanation, and the explanation."""
        kinds = {arc.kind for arc in self.arcs}
        return tuple((kind, note) for kind, note in self.meanings if kind in kinds)


def demand_few(words: int) -> None:
    """Raise an `OptionError` if a sentence of `words` words is too long to draw.

    Nobody could read the picture, and its layout would take hours.
    """
    if words > MOST_WORDS:
        raise OptionError(f"a sentence of {words:,} words is too long to draw; draw at most {MOST_WORDS:,}")


@dataclass(frozen=True, slots=True)
class PictureOptions:
    """Options of a picture of a tree, a graph or a sentence.

    `columns` names columns of a sentence, such as `lemma`, that are written under the words. `labels` names encodings;
    the labels of the tree in each of them are written under the words too.

    `cover` is a rope cover: `proper`, `farthest`, `all`, or a collection of (head, dependent) pairs. Its structural
    arcs are drawn red and solid, auxiliary arcs black and dashed. With `bracketing`, the brackets of the cover are
    written under the words as in the paper.

    `against` is a second tree; arcs that only the second tree has are drawn below the words. With `root`, node 0 is
    drawn as a word; by default it is drawn only if there is a cover.
    """

    words: Sequence[str] | None = None
    relations: bool = True
    tags: bool | Sequence[str] = False
    columns: Sequence[str] = ()
    probabilities: Sequence[float | None] | None = None
    labels: Iterable[str] = ()
    cover: str | Collection[tuple[int, int]] | None = None
    bracketing: bool = False
    against: Structure | None = None
    root: bool | None = None
    title: str | None = None


def scene(structure: Structure, options: PictureOptions = PictureOptions()) -> Scene:
    """Return the words, arcs and rows of text of a picture of a tree, a graph or a sentence."""
    graph = graph_of(structure)
    demand_few(len(graph))
    forms = _forms(structure, options.words)
    cover, against = options.cover, options.against
    if cover is not None and against is not None:
        raise OptionError(
            "a rope cover and a second tree would use the same colours; draw them in two pictures, one with each"
        )
    if options.bracketing and cover is None:
        cover = "proper"
    upos = _tags(structure, options.tags)
    rows = [Row("upos", ("", *upos), "tag")] if upos and options.tags else []
    rows += _column_rows(structure, options.columns)
    if options.bracketing and cover is not None:
        rows.append(_cover_row(graph, cover))
    demand_type("labels", options.labels, Iterable)
    for spec in options.labels:
        rows += _label_rows(structure, graph, upos, spec)
    shown = _probability_texts(graph, options.probabilities)
    texts = _texts(graph, shown) if options.relations else shown
    arcs = [Arc(h, d, text) for (h, d), text in zip(graph.arcs(), texts, strict=True)]
    if cover is not None:
        covered = dict(zip(graph.arcs(), rope_cover(graph, cover).structural, strict=True))
        arcs = [
            Arc(arc.head, arc.dependent, arc.text, "structural" if covered[arc.head, arc.dependent] else "auxiliary")
            for arc in arcs
        ]
    if against is not None:
        arcs = _compared(graph, graph_of(against), arcs, relations=options.relations)
        _same_words(forms, against)
    about = structure if isinstance(structure, Sentence) else None
    title = options.title if options.title is not None else (about.id or "") if about else ""
    demand_type("title", title, str)
    return Scene(
        forms,
        tuple(arcs),
        tuple(Row(row.name, tuple(map(clean, row.cells)), row.kind) for row in rows),
        (cover is not None and any(head == 0 for head, _ in graph.arcs())) if options.root is None else options.root,
        is_right_to_left(forms),
        clean(title),
        clean(about.caption if about else ""),
    )


def graph_of(structure: Structure) -> Graph:
    """Return a tree, a graph or a sentence as a graph; a word without a head has no arc."""
    if isinstance(structure, Graph):
        return structure
    if isinstance(structure, Tree):
        return Graph.from_tree(structure)
    demand_type("what to draw", structure, Tree, Graph, Sentence)
    rows = zip(structure.heads, structure.relations, strict=True)
    return Graph(len(structure), [(h, d, r) for d, (h, r) in enumerate(rows, start=1) if h >= 0])


def _forms(structure: Structure, words: Sequence[str] | None) -> tuple[str, ...]:
    size = len(structure)
    if words is not None:
        demand_sequence("words", words, str)
    if words is not None and len(words) != size:
        raise MismatchError(f"{len(words)} words for a tree of {size}; pass one word for each head")
    forms = words if words is not None else structure.forms if isinstance(structure, Sentence) else ()
    if not forms or all(word == "_" for word in forms):
        return tuple(str(number) for number in range(1, size + 1))
    return tuple(map(clean, forms))


def _tags(structure: Structure, tags: bool | Sequence[str]) -> tuple[str, ...]:  # noqa: FBT001 - as in `draw`
    if not isinstance(tags, bool):
        demand_sequence("parts of speech", tags, str)
        if len(tags) != len(structure):
            raise MismatchError(f"{len(tags)} parts of speech for {len(structure)} words; pass one for each")
        return tuple(tags)
    return structure.upos if isinstance(structure, Sentence) else ()


def _column_rows(structure: Structure, names: Sequence[str]) -> list[Row]:
    if isinstance(names, str):
        raise OptionError(f"columns is {names!r}; expected several names: put it into a list")
    demand_sequence("columns", names, str)
    if not names:
        return []
    if not isinstance(structure, Sentence):
        raise OptionError(f"a {type(structure).__name__} has no columns; draw it without them, or draw a sentence")
    if unknown := [name for name in names if name not in EDITABLE]:
        raise UnknownNameError("column", unknown[0], EDITABLE)
    return [
        Row(name, ("", *("" if text == "_" else text for text in structure.column(name))), "label") for name in names
    ]


def _probability_texts(graph: Graph, probabilities: Sequence[float | None] | None) -> list[str]:
    if probabilities is None:
        return [""] * len(graph.heads)
    demand_sequence("probabilities", probabilities, Real, NoneType)
    if len(probabilities) != len(graph):
        raise MismatchError(f"{len(probabilities)} probabilities for {len(graph)} words; pass one for each")
    shown = [probabilities[dependent - 1] for _, dependent in graph.arcs()]
    return ["" if probability is None else f"{probability:.2f}" for probability in shown]


def _texts(graph: Graph, shown: list[str]) -> list[str]:
    names = ["" if relation == "_" else clean(relation) for relation in graph.relations]
    return [f"{name} {probability}".strip() for name, probability in zip(names, shown, strict=True)]


def _cover_row(graph: Graph, cover: str | Collection[tuple[int, int]]) -> Row:
    """Return a row with the brackets of a rope cover; if `cover` is `all`, they are not marked as superbrackets."""
    arcs = arcs_of(graph)
    marks = np.array(rope_cover(graph, cover).structural, dtype=np.uint8)
    symbols, starts = brackets(arcs, marks)
    if cover == "all":
        symbols = symbols & (INDEX - 1 - SUPER)
    implicit = ("/" if cover == "all" else "/^") * int(np.count_nonzero(marks[graph.heads == 0]))
    cells = [implicit, *(bracket_text(symbols[start:stop].tolist()) for start, stop in pairwise(starts.tolist()))]
    return Row(
        f"cover {cover}" if isinstance(cover, str) else "cover",
        tuple(cell if cell != "_" else "" for cell in cells),
        "brackets",
    )


def _label_rows(structure: Structure, graph: Graph, upos: tuple[str, ...], spec: str) -> list[Row]:
    if isinstance(structure, Sentence) and -1 not in structure.heads:
        structure = structure.tree
    if not isinstance(structure, Tree):
        return _graph_label_rows(graph, spec)
    encoding = encodings.get(spec)
    written = encoding.encode(Treebank.of([structure], [upos] if upos else None))
    many = len(encoding.columns) > 1
    lifted = encoding.policy == "lift" and not encoding.covers(structure).all()
    spec = encoding.spec + (LIFTED if lifted else "")
    return [
        Row(f"{name} {spec}" if many else spec, ("", *written.texts(column)), "label")
        for column, name in enumerate(encoding.columns)
    ]


def _graph_label_rows(graph: Graph, spec: str) -> list[Row]:
    name = encodings.parse_spec(spec)[0]
    if name not in graph_encodings.known():
        raise EncodingError(
            f"{encodings.get(spec).spec} encodes whole trees, and here a word has no head or several; "
            f"use one of {', '.join(graph_encodings.known())}"
        )
    encoding = graph_encodings.get(spec)
    return [Row(encoding.spec, ("", *encoding.encode(graph).texts()), "label")]


def _compared(first: Graph, second: Graph, arcs: list[Arc], *, relations: bool) -> list[Arc]:
    if len(first) != len(second):
        raise MismatchError(
            f"the first tree has {len(first)} words and the second {len(second)}; compare trees of one sentence"
        )
    names = dict(zip(second.arcs(), second.relations, strict=True))
    out = []
    for arc, relation in zip(arcs, first.relations, strict=True):
        other = names.get((arc.head, arc.dependent))
        if other is None:
            out.append(Arc(arc.head, arc.dependent, arc.text, "missed"))
        elif relations and other != relation:
            out.append(Arc(arc.head, arc.dependent, clean(f"{relation} → {other}"), "renamed"))
        else:
            out.append(arc)
    held = set(first.arcs())
    for (head, dependent), relation in names.items():
        if (head, dependent) not in held:
            text = clean(relation) if relations and relation != "_" else ""
            out.append(Arc(head, dependent, text, "wrong", below=True))
    return out


def _same_words(forms: tuple[str, ...], against: Structure) -> None:
    if isinstance(against, Sentence):
        for number, (form, other) in enumerate(zip(forms, _forms(against, None), strict=True), start=1):
            if form != other:
                raise MismatchError(
                    f"word {number} is {form!r} in the first tree and {other!r} in the second; compare trees of the "
                    "same words"
                )
