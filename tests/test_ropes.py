"""Rope covers against brute force, the paper's own procedure and its figures."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.core.arcs import Arcs
from ropewalk.core.graphs import Graph
from ropewalk.core.ragged import Offsets
from ropewalk.core.ropes import leaning, rope_cover, rope_thickness, structural_arcs
from ropewalk.core.trees import Tree, Trees, check_heads, is_projective
from ropewalk.encodings import bracketing
from ropewalk.encodings import graphs as graph_encodings
from ropewalk.errors import GraphError, UnknownNameError
from ropewalk.kernels import compiled
from strategies import trees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn

Arc = tuple[int, int]

# The tree of the paper's Figure 1, and the graph of its figure on encoding step by step, in its three steps.
FIGURE_1 = Tree([0, 4, 4, 0, 6, 7, 4])
STEPS: tuple[list[Arc], ...] = (
    [(1, 7), (1, 3), (7, 2), (7, 4)],
    [(3, 8), (8, 5)],
    [(4, 9), (9, 6)],
)


@cache
def every_tree(words: int) -> Trees:
    """Return all trees of so many words, several roots included."""
    if words == 0:
        return Trees([], Offsets.one(0))
    lists = np.indices((words + 1,) * words, dtype=np.int32).reshape(words, -1).T
    offsets = Offsets(np.arange(0, lists.size + 1, words))
    rows = lists[check_heads(lists.ravel(), offsets).codes == 0]
    assert len(rows) == (words + 1) ** (words - 1)  # Cayley: trees over words and node 0
    return Trees(rows.ravel(), Offsets(np.arange(0, rows.size + 1, words)))


@st.composite
def graphs(draw: DrawFn, most: int = 8) -> Graph:
    """Draw a digraph without self-loops, cycles of two included."""
    words = draw(st.integers(0, most))
    pairs = [(h, d) for h in range(words + 1) for d in range(1, words + 1) if h != d]
    return Graph(words, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])


def leans(arc: Arc, other: Arc) -> bool:
    """Return by the paper's definition whether one arc leans on another."""
    (a, b), (c, d) = sorted(arc), sorted(other)
    return arc != other and c <= a and b <= d and (a == c or b == d)


def paper_cover(arcs: Sequence[Arc]) -> set[Arc]:
    """Find the proper rope cover by the procedure that the paper takes from Yli-Jyrä (2019), a right arc first."""
    unmarked = set(arcs)
    ropes = set()
    while unmarked:
        rope = min(unmarked, key=lambda arc: (min(arc), -max(arc), arc[0] > arc[1]))
        ropes.add(rope)
        unmarked -= {rope} | {arc for arc in unmarked if leans(arc, rope)}
    return ropes


def all_covers(arcs: Sequence[Arc]) -> list[set[Arc]]:
    """List every rope cover."""
    subsets = [set(some) for size in range(len(arcs) + 1) for some in combinations(arcs, size)]
    return [ropes for ropes in subsets if all(arc in ropes or any(leans(arc, r) for r in ropes) for arc in arcs)]


@pytest.mark.parametrize("words", range(1, 7))
def test_the_proper_cover_of_every_tree_is_minimal(words: int) -> None:
    """Over all subsets of arcs at once: bit a of a number stands for the arc into word a + 1."""
    every = every_tree(words)
    proper = structural_arcs(Arcs.of_trees(every), "proper").reshape(-1, words)
    rows = every.heads.reshape(-1, words)
    place = np.arange(1, words + 1)
    left, right = np.minimum(rows, place), np.maximum(rows, place)
    supports = np.zeros(rows.shape, dtype=np.int64)  # for each arc, the set of arcs on which it leans
    for a, b in product(range(words), repeat=2):
        inside = (left[:, b] <= left[:, a]) & (right[:, a] <= right[:, b])
        shared = (left[:, a] == left[:, b]) | (right[:, a] == right[:, b])
        supports[:, a] |= (inside & shared & (a != b)).astype(np.int64) << b
    fewest = np.full(len(rows), words)
    proper_bits = (proper.astype(np.int64) << np.arange(words)).sum(axis=1)
    proper_is_cover = np.zeros(len(rows), dtype=np.bool_)
    for ropes in range(1 << words):
        structural = (ropes >> np.arange(words)) & 1 == 1
        covers = (structural | (supports & ropes != 0)).all(axis=1)
        fewest = np.where(covers, np.minimum(fewest, ropes.bit_count()), fewest)
        proper_is_cover |= covers & (proper_bits == ropes)
    assert proper_is_cover.all()
    assert np.array_equal(proper.sum(axis=1), fewest)


@pytest.mark.parametrize("words", range(1, 7 if compiled() else 6))
def test_the_proper_cover_is_what_the_papers_procedure_finds(words: int) -> None:
    every = every_tree(words)
    proper = structural_arcs(Arcs.of_trees(every), "proper").reshape(-1, words).tolist()
    for row, marks in zip(every.heads.reshape(-1, words).tolist(), proper, strict=True):
        arcs = list(zip(row, range(1, words + 1), strict=True))
        assert {arc for arc, mark in zip(arcs, marks, strict=True) if mark} == paper_cover(arcs), row


@given(graphs())
def test_covers_of_graphs_are_what_their_definitions_say(graph: Graph) -> None:
    arcs = graph.arcs()
    cover = rope_cover(graph)
    assert set(cover.structural_arcs) == paper_cover(arcs)
    assert not any(leans(a, b) for a in cover.structural_arcs for b in cover.structural_arcs)
    assert cover.is_compact
    assert cover.brackets == len(arcs) + len(paper_cover(arcs))
    assert set(rope_cover(graph, "all").structural_arcs) == set(arcs)
    for name in ("all", "proper"):
        check_leaning(rope_cover(graph, name).structural_arcs, graph)


@given(trees(single_root=False))
def test_the_cover_farthest_takes_the_longest_arc_to_each_side(tree: Tree) -> None:
    wanted = {
        (head, ends[0 if side < 0 else -1])
        for head in range(len(tree) + 1)
        for side in (-1, 1)
        if (ends := [word for word in tree.dependents(head) if (word - head) * side > 0])
    }
    assert set(rope_cover(tree, "farthest").structural_arcs) == wanted


def check_leaning(ropes: Sequence[Arc], structure: Tree | Graph) -> None:
    cover = rope_cover(structure, ropes)
    order = sorted(cover.structural_arcs, key=lambda arc: (min(arc), -max(arc), arc[0] > arc[1]))
    for place, (arc, rope, end) in enumerate(zip(cover.arcs, cover.ropes, cover.leans, strict=True)):
        if cover.structural[place]:
            assert (rope, end) == (place, "")
            continue
        first = next(other for other in order if leans(arc, other))
        assert cover.arcs[rope] == first
        shared = {"left": min, "right": max}[end]
        assert shared(arc) == shared(first)


@pytest.mark.parametrize("words", range(5))
def test_every_rope_cover_of_every_projective_tree_is_a_bracketing_that_decodes(words: int) -> None:
    decoder = graph_encodings.get("optimal-nonprojective")
    tried = 0
    heads = every_tree(words).heads
    for row in heads.reshape(-1, words) if words else [heads]:
        tree = Tree(row)
        # node 0 has one implicit bracket, which a second rope from it could not use
        if not is_projective(tree) or len(tree.roots) > 1:
            continue
        for ropes in all_covers(tree.arcs()):
            cover = rope_cover(tree, ropes)
            check_leaning(list(ropes), tree)
            labels = bracketing(cover)
            assert sum(label.count(sign) for label in labels for sign in "<>/\\") == cover.brackets - (words > 0)
            back = decoder.decode(decoder.labels([labels]))
            assert (back.graphs[0], back.well_formed) == (Graph(words, tree.arcs()), True), (tree, ropes)
            tried += 1
    assert tried >= words


@pytest.mark.parametrize("words", range(1, 6))
def test_compactness_is_what_the_paper_defines(words: int) -> None:
    found = set()
    heads = every_tree(words).heads
    for row in heads.reshape(-1, words):
        tree = Tree(row)
        for name in ("all", "farthest", "proper"):
            cover = rope_cover(tree, name)
            ropes = cover.structural_arcs
            outgoing = [(h, d > h) for h, d in ropes]
            incoming = [(d, h > d) for h, d in ropes]
            compact = len(set(outgoing)) == len(outgoing) and len(set(incoming)) == len(incoming)
            assert cover.is_compact == compact
            found.add((name, compact))
    assert {name for name, compact in found if not compact} == ({"all"} if words > 1 else set())


def test_a_cover_of_a_graph_with_two_heads_on_one_side_is_not_compact() -> None:
    graph = Graph(3, [(1, 3), (2, 3)])
    assert not rope_cover(graph, "all").is_compact
    assert rope_cover(graph, "proper").is_compact


@given(trees(max_words=10))
def test_rope_thickness_is_the_most_ropes_over_one_fence(tree: Tree) -> None:
    ropes = rope_cover(tree).structural_arcs
    over = [sum(min(rope) <= fence < max(rope) for rope in ropes) for fence in range(len(tree))]
    assert rope_thickness(Trees.of(tree)).tolist() == [max(over)]


def test_the_tree_of_figure_1_has_the_covers_that_are_drawn() -> None:
    assert set(rope_cover(FIGURE_1).structural_arcs) == {(0, 4), (4, 7), (6, 5)}
    drawn = {(0, 4), (4, 2), (4, 7), (7, 6), (6, 5)}
    assert set(rope_cover(FIGURE_1, "farthest").structural_arcs) == drawn
    assert bracketing(rope_cover(FIGURE_1, drawn)) == bracketing(rope_cover(FIGURE_1, "farthest"))
    # "10 vs. 14": node 0's bracket counts there
    assert [rope_cover(FIGURE_1, name).brackets for name in ("proper", "farthest", "all")] == [10, 12, 14]


def test_figure_1_comes_out_as_printed() -> None:
    assert bracketing(rope_cover(FIGURE_1, "proper")) == [">", "<", "<", ">^/^", "<^", "\\^<", ">^"]
    assert bracketing(rope_cover(FIGURE_1, "farthest")) == [">", "<^", "<", "\\^>^/^", "<^", "\\^<^", "\\^>^"]
    assert [text.replace("^", "") for text in bracketing(rope_cover(FIGURE_1, "all"))] == [
        ">", "<", "<", r"\\>/", "<", r"\<", r"\>",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("heads", "printed"),
    [
        ([4, 0, 5, 5, 0], ["<^", ">*", "<*", "\\^<", ">^"]),
        ([2, 0, 0, 1, 2], ["/^", "\\>*/^", ">^**", ">^*", ">^"]),
        ([0, 5, 0, 5, 0], [">", "<", ">", "<", ">^"]),
    ],
    ids=["auxiliary arcs cross ropes", "ropes cross", "auxiliary arcs cross"],
)
def test_the_non_projective_examples_come_out_as_printed(heads: list[int], printed: list[str]) -> None:
    assert bracketing(rope_cover(Tree(heads))) == printed


def test_the_step_by_step_figure_and_the_complex_graph_come_out_as_printed() -> None:
    printed = (
        ["/^", "<", ">", "<", "_", "_", ">^", "_", "_"],
        ["/^", "<", ">/^", "<", "<*", "_", ">^*", ">^", "_"],
        ["/^", "<", ">/^", "/^<", "<*", "<**", ">^**", ">^*", ">^"],
    )
    arcs: list[Arc] = []
    for step, labels in zip(STEPS, printed, strict=True):
        arcs += step
        assert bracketing(rope_cover(Graph(9, arcs))) == labels
    arcs += [(9, 13), (14, 10), (9, 11), (9, 12), (11, 14)]
    more = [">^/^", "<^", ">*/*", ">*", ">^", "\\^"]
    assert bracketing(rope_cover(Graph(14, arcs))) == [*printed[-1][:8], *more]


def test_what_is_no_cover_is_refused_with_the_arc_at_fault() -> None:
    tree = Tree([2, 0, 2])
    with pytest.raises(UnknownNameError, match="unknown rope cover 'propper'; did you mean 'proper'"):
        rope_cover(tree, "propper")
    with pytest.raises(GraphError, match="the arc 1->3 of the cover is not in the tree"):
        rope_cover(tree, [(1, 3)])
    with pytest.raises(GraphError, match="not a rope cover: the arc 0->2 leans on none"):
        rope_cover(tree, [(2, 1), (2, 3)])


def test_leaning_says_where_an_arc_leans_on_nothing() -> None:
    arcs = Arcs.of_trees(Trees.of(FIGURE_1))
    ropes, _ = leaning(arcs, np.zeros(7, dtype=np.uint8))
    assert ropes.tolist() == [-1] * 7


def test_more_words_than_memory_holds_are_refused() -> None:
    none = np.zeros(0, dtype=np.int32)
    with pytest.raises(GraphError, match="6,442,450,941 words in all"):
        Arcs(none, none, Offsets(np.zeros(4, dtype=np.int32)), np.full(3, 2**31 - 1, dtype=np.int32))
