"""Trees against brute force: every list of heads of up to five words, random ones beyond."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import all_heads
from ropewalk.core.graphs import Graph, crossing_arcs
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import (
    MOST_PLANES,
    Tree,
    Trees,
    check_heads,
    gap_degree,
    gap_degrees,
    is_projective,
    planes,
    projective,
    tree_planes,
)
from ropewalk.encodings import brackets
from ropewalk.errors import CycleError, GraphError, HeadRangeError, MissingHeadError, RootError, TreeError
from strategies import head_lists

LONGEST = 5


def reaches_root(heads: list[int], word: int) -> bool:
    for _ in range(len(heads) + 1):
        if word == 0:
            return True
        word = heads[word - 1]
    return False


def is_tree(heads: list[int]) -> bool:
    return all(reaches_root(heads, word) for word in range(1, len(heads) + 1))


def ancestors(heads: list[int], word: int) -> list[int]:
    out = [word]
    while out[-1]:
        out.append(heads[out[-1] - 1])
    return out


def crosses(arc: tuple[int, int], other: tuple[int, int]) -> bool:
    (a, b), (c, d) = sorted(arc), sorted(other)
    return a < c < b < d or c < a < d < b


def arcs_of(heads: list[int]) -> list[tuple[int, int]]:
    return [(head, word) for word, head in enumerate(heads, start=1)]


def projective_by_definition(heads: list[int]) -> bool:
    """An arc is projective if its head is above every word that it spans (node 0 is above all)."""
    return all(
        head in ancestors(heads, between)
        for head, word in arcs_of(heads)
        for between in range(min(head, word) + 1, max(head, word))
    )


def gaps_by_definition(heads: list[int]) -> int:
    most = 0
    for word in range(1, len(heads) + 1):
        span = [one for one in range(1, len(heads) + 1) if word in ancestors(heads, one)]
        most = max(most, sum(right - left > 1 for left, right in pairwise(span)))
    return most


def planes_by_definition(heads: list[int]) -> list[int]:
    queue = [0]
    placed: dict[int, int] = {}
    for node in queue:
        for word in range(1, len(heads) + 1):
            if heads[word - 1] != node:
                continue
            queue.append(word)
            arc = (node, word)
            taken = {plane for other, plane in placed.items() if crosses(arc, (heads[other - 1], other))}
            placed[word] = min(plane for plane in range(1, len(heads) + 1) if plane not in taken)
    return [placed[word] for word in range(1, len(heads) + 1)]


def error_of(heads: list[int]) -> TreeError | None:
    try:
        Tree(heads)
    except TreeError as error:
        return error
    return None


def agrees_with_the_definitions(heads: list[int]) -> None:
    tree = Tree(heads)
    crossing = {tuple(sorted(pair)) for pair in combinations(arcs_of(heads), 2) if crosses(*pair)}
    found = crossing_arcs(tree)
    assert {tuple(sorted(pair)) for pair in found} == crossing
    assert len(found) == len(crossing)
    assert is_projective(tree) == (not crossing) == projective_by_definition(heads)
    assert gap_degree(tree) == gaps_by_definition(heads)
    assert tree_planes(tree).tolist() == planes_by_definition(heads)
    for plane in set(tree_planes(tree).tolist()):
        within = [arc for arc, its in zip(arcs_of(heads), tree_planes(tree), strict=True) if its == plane]
        assert not any(crosses(*pair) for pair in combinations(within, 2))


def test_every_short_list_of_heads_is_a_tree_or_names_its_cycle() -> None:
    seen = 0
    for heads in all_heads(LONGEST):
        if is_tree(heads):
            assert Tree(heads).heads.tolist() == heads
            seen += 1
            continue
        with pytest.raises(CycleError) as caught:
            Tree(heads)
        cycle = caught.value.cycle
        assert cycle[0] == min(cycle) == caught.value.word
        assert len(set(cycle)) == len(cycle)
        for word, above in pairwise([*cycle, cycle[0]]):
            assert heads[word - 1] == above
    # Cayley's formula: (n+1)^(n-1) trees over n words and node 0
    assert seen == sum((words + 1) ** (words - 1) if words else 1 for words in range(LONGEST + 1))


def test_every_short_tree_agrees_with_the_definitions() -> None:
    for heads in filter(is_tree, all_heads(LONGEST)):
        agrees_with_the_definitions(heads)


@given(head_lists())
def test_long_trees_agree_with_the_definitions(heads: list[int]) -> None:
    agrees_with_the_definitions(heads)


@pytest.mark.parametrize("seed", range(6))
def test_planes_of_very_many_crossing_arcs_agree_with_the_definition(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same trees each time
    order = chance.sample(range(1, 161), 160)
    above = [0, *(chance.choice(order[max(0, place - 1 - 40 * seed) : place]) for place in range(1, 160))]
    heads = [above[order.index(word)] for word in range(1, 161)]
    found = planes_by_definition(heads)
    assert sum(any(crosses(arc, other) for other in arcs_of(heads)) for arc in arcs_of(heads)) > 100
    assert tree_planes(Tree(heads)).tolist() == found
    assert max(found) > 5


def test_planes_are_looked_for_up_to_a_limit() -> None:
    half = MOST_PLANES + 20
    heads = [*range(half), *range(1, half + 1)]  # a chain, and on each of its words one that lies as far away as others
    assert tree_planes(Tree(heads))[half:].tolist() == [min(plane, MOST_PLANES + 1) for plane in range(1, half + 1)]
    assert MOST_PLANES == brackets.MOST_PLANES


@given(st.lists(head_lists(most=12), max_size=8))
def test_many_trees_at_once_are_as_one_by_one(many: list[list[int]]) -> None:
    heads = np.array([head for one in many for head in one], dtype=np.int32)
    offsets = Offsets.of_lengths([len(one) for one in many])
    trees = Trees(heads, offsets)
    single = [Tree(one) for one in many]
    assert projective(trees).tolist() == [is_projective(tree) for tree in single]
    assert gap_degrees(trees).tolist() == [gap_degree(tree) for tree in single]
    assert planes(trees).tolist() == [plane for tree in single for plane in tree_planes(tree)]
    assert check_heads(heads, offsets).roots.tolist() == [len(tree.roots) for tree in single]


def test_trees_side_by_side_are_equal_if_all_are() -> None:
    some = [Tree([2, 0], ["a", "b"]), Tree([0], ["c"])]
    trees = Trees.of(some)
    assert trees == Trees.of(iter(some))
    assert hash(trees) == hash(Trees.of(some))
    assert list(trees) == some
    others = ([some[0]], some[::-1], [Tree([0, 1], ["a", "b"]), some[1]], [some[0], Tree([0], ["d"])])
    assert all(trees != Trees.of(other) for other in others)
    assert trees != some


@given(st.lists(st.lists(st.integers(-2, 9), max_size=8), max_size=6))
def test_checking_many_at_once_finds_what_checking_each_finds(many: list[list[int]]) -> None:
    heads = np.array([head for one in many for head in one], dtype=np.int32)
    offsets = Offsets.of_lengths([len(one) for one in many])
    found = check_heads(heads, offsets)
    for one, code, word in zip(many, found.codes, found.words, strict=True):
        error = error_of(one)
        assert bool(code) == (error is not None)
        if error is None:
            assert is_tree(one)
        elif not isinstance(error, CycleError):
            assert word == error.word


@pytest.mark.parametrize(
    ("heads", "kind", "message"),
    [
        ([2, -1], MissingHeadError, "word 2: it has no head; every word needs one (0 is the root)"),
        ([0, 7, 1], HeadRangeError, "word 2: HEAD is 7, but the sentence has 3 words"),
        ([0, 2], CycleError, "word 2: heads form a cycle, 2 -> 2, that never reaches the root"),
        (
            [2, 4, 0, 1],
            CycleError,
            "word 1: heads form a cycle, 1 -> 2 -> 4 -> 1, that never reaches the root",
        ),
    ],
)
def test_a_bad_head_is_named(heads: list[int], kind: type[TreeError], message: str) -> None:
    with pytest.raises(kind) as caught:
        Tree(heads)
    assert str(caught.value) == message


def test_a_second_root_is_an_error_only_where_one_is_demanded() -> None:
    assert Tree([0, 0, 2]).roots == (1, 2)
    assert Tree([0, 1], single_root=True).roots == (1,)
    with pytest.raises(RootError, match="word 2: a second root; expected one, found 1, 2") as caught:
        Tree([0, 0, 2], single_root=True)
    assert caught.value.roots == (1, 2)


def test_a_tree_never_changes() -> None:
    given_heads = np.array([0, 1], dtype=np.int32)
    tree = Tree(given_heads)
    given_heads[0] = 2
    assert tree.heads.tolist() == [0, 1]
    with pytest.raises(ValueError, match="read-only"):
        tree.heads[0] = 2
    with pytest.raises(AttributeError):
        tree.relations = ()  # type: ignore[misc]


def test_trees_are_equal_by_value() -> None:
    assert Tree([0, 1], ["root", "obj"]) == Tree([0, 1], ["root", "obj"])
    assert hash(Tree([0, 1])) == hash(Tree([0, 1]))
    assert Tree([0, 1]) != Tree([2, 0])
    assert Tree([0, 1], ["root", "obj"]) != Tree([0, 1], ["root", "nsubj"])
    assert Tree([0]) != "Tree([0])"


def test_a_tree_tells_its_arcs() -> None:
    tree = Tree([2, 0, 2])
    assert len(tree) == 3
    assert tree.arcs() == [(2, 1), (0, 2), (2, 3)]
    assert tree.dependents(2) == (1, 3)
    assert tree.dependents(0) == tree.roots == (2,)
    assert eval(repr(Tree([0], ["root"])), {"Tree": Tree}) == Tree([0], ["root"])  # noqa: S307 - our own text


def test_heads_and_relations_must_fit_each_other() -> None:
    with pytest.raises(GraphError, match="2 heads but 1 relations"):
        Tree([0, 1], ["root"])
    with pytest.raises(GraphError, match=r"an array of shape \(1, 2\)"):
        Tree(np.zeros((1, 2), dtype=np.int32))


@given(head_lists(most=10))
def test_a_tree_is_a_graph_of_the_same_arcs(heads: list[int]) -> None:
    graph = Graph.from_tree(Tree(heads))
    assert graph.arcs() == arcs_of(heads)
    assert len(graph) == len(heads)
    assert crossing_arcs(graph) == crossing_arcs(Tree(heads))


def test_a_graph_takes_several_heads_and_cycles() -> None:
    graph = Graph(3, [(2, 1, "b"), (0, 1, "a"), (1, 2), (3, 2), (2, 3)])
    assert graph.arcs() == [(0, 1), (2, 1), (1, 2), (3, 2), (2, 3)]
    assert graph.relations == ("a", "b", "_", "_", "_")
    assert graph == Graph(3, [(1, 2), (3, 2), (2, 3), (0, 1, "a"), (2, 1, "b")])
    assert hash(graph) == hash(Graph(3, [(1, 2), (3, 2), (2, 3), (0, 1, "a"), (2, 1, "b")]))
    assert graph != Graph(3, [(0, 1)])


@pytest.mark.parametrize(
    ("arcs", "message"),
    [
        ([(1, 1)], "the arc 1->1 joins a word to itself"),
        ([(1, 0)], "the arc 1->0 leaves the sentence of 2 words"),
        ([(3, 1)], "the arc 3->1 leaves the sentence of 2 words"),
        ([(2, 1), (2, 1)], "the arc 2->1 is given twice with the same relation"),
    ],
)
def test_a_graph_refuses_arcs_that_cannot_be(arcs: list[tuple[int, int]], message: str) -> None:
    with pytest.raises(GraphError) as caught:
        Graph(2, arcs)
    assert str(caught.value) == message


def test_relations_and_arcs_that_cannot_be_listed_are_refused() -> None:
    with pytest.raises(GraphError, match="relations are 5"):
        Tree([0], 5)  # type: ignore[arg-type]
    with pytest.raises(GraphError, match="arcs are 5"):
        Graph(2, 5)  # type: ignore[arg-type]
