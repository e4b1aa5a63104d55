"""A sentence's basic tree above its words, and below them what its enhanced graph adds."""

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
    """Draw one graph, the first of `graphs`, with the arcs of the basic tree over its words above.

    An arc of both bears the relation of the graph if this only adds a subtype. `words` are the forms of all nodes,
    empty ones included, which are shown in brackets. `labels` names encodings of graphs whose labels stand below.
    """
    graph = graphs[0]
    demand_few(len(graph))
    nodes = [0, *(np.flatnonzero(~graphs.empty) + 1).tolist()]
    if len(words) != len(graph) or len(nodes) != len(basic) + 1:
        raise MismatchError(
            f"{len(words)} forms and a tree of {len(basic)} words for a graph of {len(graph)} nodes, of which "
            f"{len(nodes) - 1} are words; expected as many"
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
    """Add to the picture of a basic tree what a graph over its words alone has beside it."""
    return replace(scene, arcs=_both(graph, basic, range(len(basic) + 1)), meanings=MEANINGS)


def _both(graph: Graph, basic: Graph, nodes: Sequence[int]) -> tuple[Arc, ...]:
    """Draw the arcs of the tree above, and below what else the graph has; `nodes` are the words of the tree in it."""
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
    """Draw an arc of the tree, and take the same arc of the graph out of what remains."""
    names = rest.get((head, dependent), [])
    same = next((name for name in names if name == relation or name.startswith(f"{relation}:")), None)
    if same is None:
        return Arc(head, dependent, clean(relation), "missed")
    names.remove(same)
    return Arc(head, dependent, clean(same))
