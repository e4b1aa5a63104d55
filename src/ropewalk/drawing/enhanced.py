"""A sentence's basic tree above its words, and below them the arcs that its enhanced graph adds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ropewalk.drawing.measure import is_right_to_left
from ropewalk.drawing.scene import Arc, Kind, Row, Scene, demand_few
from ropewalk.encodings.graphs import get
from ropewalk.errors import MismatchError
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ropewalk.core.graphs import Graph, Graphs

MEANINGS: Final[tuple[tuple[Kind, str], ...]] = (
    ("missed", "only in the basic tree"),
    ("repaired", "only in the enhanced graph"),
)


def enhanced_scene(
    graphs: Graphs, basic: Graph, words: Sequence[str], *, labels: Iterable[str] = (), title: str = ""
) -> Scene:
    """Return a scene: the arcs of the tree `basic` above the words, and other arcs of the enhanced graph below them.

    The enhanced graph is the first of `graphs`. If it has an arc of the tree with a subtype added to the relation, the
    relation with the subtype is shown. `words` are the forms of all nodes of the graph; empty nodes are shown in
    brackets. `labels` names graph encodings: the labels of the graph in each of them are shown as a row of text.
    """
    graph = graphs[0]
    demand_few(len(graph))
    nodes = [0, *(np.flatnonzero(~graphs.empty) + 1).tolist()]
    if len(words) != len(graph) or len(nodes) != len(basic) + 1:
        raise MismatchError(
            f"{len(words)} forms and a tree of {len(basic)} words for a graph of {len(graph)} nodes, of which "
            f"{len(nodes) - 1} are words; expected as many forms as nodes, and a tree of as many words"
        )
    forms = tuple(
        clean(f"[{word}]" if empty else word) for word, empty in zip(words, graphs.empty.tolist(), strict=True)
    )
    rows = [Row(spec, ("", *get(spec).encode(graph).texts()), "label") for spec in labels]
    return Scene(
        forms,
        _both(graph, basic, nodes),
        tuple(rows),
        right_to_left=is_right_to_left(forms),
        title=clean(title),
        meanings=MEANINGS,
    )


def with_graph(scene: Scene, basic: Graph, graph: Graph) -> Scene:
    """Return the scene of the tree `basic` with the additional arcs of the enhanced `graph` below the words."""
    return replace(scene, arcs=_both(graph, basic, range(len(basic) + 1)), meanings=MEANINGS)


def _both(graph: Graph, basic: Graph, nodes: Sequence[int]) -> tuple[Arc, ...]:
    """Return the arcs of the tree, drawn above the words, and the other arcs of the graph, drawn below.

    `nodes[w]` is the node of the graph that is word w of the tree.
    """
    rest: dict[tuple[int, int], list[str]] = {}
    for pair, relation in zip(graph.arcs(), graph.relations, strict=True):
        rest.setdefault(pair, []).append(relation)
    arcs = [
        _basic(nodes[head], nodes[dependent], relation, rest)
        for (head, dependent), relation in zip(basic.arcs(), basic.relations, strict=True)
    ]
    arcs += [
        Arc(head, dependent, clean(" & ".join(names)), "repaired", below=True)
        for (head, dependent), names in rest.items()
        if names
    ]
    return tuple(arcs)


def _basic(head: int, dependent: int, relation: str, rest: dict[tuple[int, int], list[str]]) -> Arc:
    """Return an arc of the tree for drawing; remove the relation of the same arc of the graph from `rest`.

    `rest` maps the (head, dependent) pairs of the graph to their relations. An arc that is not in it is marked as
    missed.
    """
    names = rest.get((head, dependent), [])
    same = next((name for name in names if name == relation or name.startswith(f"{relation}:")), None)
    if same is None:
        return Arc(head, dependent, clean(relation), "missed")
    names.remove(same)
    return Arc(head, dependent, clean(same))
