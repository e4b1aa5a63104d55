"""Strategies for the tests: trees, words and CoNLL-U sentences of every shape that the format allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from ropewalk.core.graphs import Graph, Graphs
from ropewalk.core.trees import Tree

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

RELATIONS = ("nsubj", "obj", "det", "amod", "advcl:relcl", "conj", "punct")


def values() -> SearchStrategy[str]:
    """Draw what may stand in a column: anything but tabs, line breaks and NUL."""
    characters = st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\0")
    return st.text(characters, min_size=1, max_size=8)


@st.composite
def head_lists(draw: DrawFn, most: int = 30, *, least: int = 0, single_root: bool = False) -> list[int]:
    """Heads of a tree over up to `most` words, projective or not, with any number of roots or just one."""
    order = draw(st.integers(least, most).flatmap(lambda words: st.permutations(range(1, words + 1))))
    heads = [0] * len(order)
    for place, word in enumerate(order):  # each word hangs on one that was placed before it, or on node 0
        above = draw(st.integers(1 if single_root and place else 0, place))
        heads[word - 1] = 0 if above == 0 else order[above - 1]
    return heads


@st.composite
def trees(draw: DrawFn, min_words: int = 1, max_words: int = 12, *, single_root: bool = True) -> Tree:
    """Draw any tree, projective or not, whose relation is `root` exactly at the root."""
    found = draw(head_lists(max_words, least=min_words, single_root=single_root))
    return Tree(found, [draw(st.sampled_from(RELATIONS)) if head else "root" for head in found])


@st.composite
def projective_trees(draw: DrawFn, min_words: int = 1, max_words: int = 12) -> Tree:
    """Draw a projective tree with one root: a word of each span is its top, and so on beside it."""
    n = draw(st.integers(min_words, max_words))
    found = [0] * n
    spans = [(1, n, 0)]
    while spans:
        low, high, head = spans.pop()
        while low <= high:
            end = high if head == 0 else draw(st.integers(low, high))
            top = draw(st.integers(low, end))
            found[top - 1] = head
            spans += [(low, top - 1, top), (top + 1, end, top)]
            low = end + 1
    return Tree(found, [draw(st.sampled_from(RELATIONS)) if head else "root" for head in found])


@st.composite
def sentences(draw: DrawFn, max_words: int = 6) -> str:
    """Draw one sentence of CoNLL-U with comments, multiword tokens, empty nodes and perhaps missing heads."""
    tree = draw(trees(max_words=max_words, single_root=draw(st.booleans())))
    lines = [f"#{comment}" for comment in draw(st.lists(values(), max_size=3))]
    covered = 0
    lines += [_line(draw, f"0.{number}") for number in range(1, draw(st.integers(0, 2)) + 1)]
    for word, (head, relation) in enumerate(zip(tree.heads.tolist(), tree.relations, strict=True), start=1):
        if word > covered and draw(st.booleans()):
            covered = draw(st.integers(word, len(tree)))
            lines.append(_line(draw, f"{word}-{covered}"))
        known = draw(st.integers(0, 9)) > 0
        lines.append(_line(draw, str(word), str(head) if known else "_", relation if known else "_"))
        lines += [_line(draw, f"{word}.{number}") for number in range(1, draw(st.integers(0, 2)) + 1)]
    return "".join(f"{line}\n" for line in [*lines, ""])


def _line(draw: DrawFn, name: str, head: str = "_", relation: str = "_") -> str:
    before = [draw(values()) for _ in range(5)]
    return "\t".join([name, *before, head, relation, draw(values()), draw(values())])


def banks(max_sentences: int = 4) -> SearchStrategy[bytes]:
    """Draw a whole CoNLL-U file."""
    return st.lists(sentences(), min_size=1, max_size=max_sentences).map(lambda parts: "".join(parts).encode("utf-8"))


@st.composite
def many_graphs(draw: DrawFn, most_nodes: int = 40, most_graphs: int = 3) -> Graphs:
    """Draw some graphs with any arcs, cycles, two relations between one pair of nodes, and empty nodes."""
    out = []
    for _ in range(draw(st.integers(0, most_graphs))):
        words = draw(st.integers(1, most_nodes))
        marks = draw(st.lists(st.sampled_from([False, False, False, True]), min_size=words - 1, max_size=words - 1))
        nodes = st.integers(1, words)
        arcs = draw(
            st.sets(
                st.tuples(st.integers(0, words), nodes, st.sampled_from(["nsubj", "obj", "conj:and", "nmod:di:là"])),
                max_size=3 * words,
            )
        )
        plain = [arc for arc in arcs if arc[0] != arc[1]]
        one = Graphs.of([Graph(words, plain)])
        empty = np.array([*marks, False] if draw(st.booleans()) else [False, *marks])
        out.append(Graphs(one.offsets, empty, one.arc_offsets, one.heads, one.dependents, one.relations))
    return Graphs.concat(out)
