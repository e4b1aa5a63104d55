"""Encodings of graphs: what each says that it covers comes back, and nothing else; any labels are read."""

from __future__ import annotations

import random
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import FEW
from ropewalk import encodings
from ropewalk.core.arrays import frozen_bools, frozen_ints
from ropewalk.core.columns import Column
from ropewalk.core.graphs import Graph, Graphs, arc_planes, same_graphs
from ropewalk.core.ragged import Offsets
from ropewalk.decoding.graphs import best_labels, can_be_exact
from ropewalk.encodings import graphs as graph_encodings
from ropewalk.encodings.graphs import FAULTS, get
from ropewalk.errors import (
    LabelError,
    MismatchError,
    OptionError,
    UncoveredGraphError,
    UnknownNameError,
)
from ropewalk.kernels.codes import ONE_HEAD, ONE_HEAD_A_SIDE
from ropewalk.treebank.treebank import Treebank
from strategies import many_graphs, projective_trees, trees

if TYPE_CHECKING:
    from ropewalk.core.trees import Tree

SPECS = (
    "optimal-nonprojective",
    "brackets(planes=1)",
    "brackets",
    "brackets(planes=4)",
    "four-bit(planes=1)",
    "four-bit",
    "six-bit(planes=1)",
    "six-bit",
    "absolute",
    "relative",
)
EVERYTHING = ("optimal-nonprojective", "absolute", "relative")


def every_graph(words: int) -> Graphs:
    """All digraphs over some words and node 0."""
    pairs = [(head, word) for word in range(1, words + 1) for head in range(words + 1) if head != word]
    masks = np.arange(1 << len(pairs))
    chosen = (masks[:, None] >> np.arange(len(pairs)) & 1).astype(np.bool_)
    heads, dependents = (np.tile([pair[side] for pair in pairs], (len(masks), 1))[chosen] for side in range(2))
    return Graphs(
        Offsets.of_lengths(np.full(len(masks), words)),
        frozen_bools(np.zeros(words * len(masks), dtype=np.bool_)),
        Offsets.of_lengths(chosen.sum(axis=1)),
        frozen_ints(heads),
        frozen_ints(dependents),
        Column(frozen_ints(np.zeros(len(heads), dtype=np.int32)), ("dep",)),
    )


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_every_graph_of_up_to_four_words_comes_back_exactly_if_it_is_covered(spec: str, words: int) -> None:
    graphs = every_graph(words)
    encoding = get(spec)
    covered = encoding.covers(graphs)
    decoded = encoding.decode(encoding.encode(graphs))
    assert np.array_equal(same_graphs(decoded.graphs, graphs), covered)
    assert decoded.well_formed
    assert covered.any()
    assert covered.all() or spec not in EVERYTHING


@pytest.mark.parametrize("spec", SPECS)
@FEW
@given(graphs=many_graphs())
def test_a_graph_comes_back_exactly_if_it_is_covered(spec: str, graphs: Graphs) -> None:
    encoding = get(spec)
    covered = encoding.covers(graphs)
    labels = encoding.encode(graphs)
    decoded = encoding.decode(labels)
    assert np.array_equal(same_graphs(decoded.graphs, graphs), covered)
    assert decoded.well_formed
    assert covered.all() or spec not in EVERYTHING
    relations = labels.relation_texts()
    again = encoding.labels(
        labels.sentences(),
        [relations[where] for where in labels.offsets],
        [labels.empty[where].tolist() for where in labels.offsets],
    )
    assert encoding.decode(again).graphs == decoded.graphs


@given(graphs=many_graphs(most_nodes=12))
def test_planes_are_what_their_rules_say_and_no_arc_could_go_lower(graphs: Graphs) -> None:
    demand_first_planes(graphs)


@pytest.mark.parametrize("words", [1, 2, 3])
def test_planes_of_every_small_graph_are_the_first_that_are_free(words: int) -> None:
    demand_first_planes(every_graph(words))


def demand_first_planes(graphs: Graphs) -> None:
    """Look whether arcs lie in the first plane that the rules leave to them, arc by arc."""
    arcs = graphs.arcs()
    for rule in (0, ONE_HEAD_A_SIDE, ONE_HEAD):
        planes = arc_planes(arcs, rule)

        def clash(a: int, b: int, rule: int = rule) -> bool:
            same_way = arcs.rightward[a] == arcs.rightward[b]
            (la, ra), (lb, rb) = ((int(arcs.left[x]), int(arcs.right[x])) for x in (a, b))
            into = [int(arcs.right[x] if arcs.rightward[x] else arcs.left[x]) for x in (a, b)]
            crossing = la < lb < ra < rb or lb < la < rb < ra
            return bool((same_way and crossing) or (rule and into[0] == into[1] and (same_way or rule == ONE_HEAD)))

        for where in arcs.offsets:
            order = arcs.order[where].tolist()
            for place, a in enumerate(order):
                lower = [b for b in order[:place] if clash(a, b)]
                assert planes[a] not in {int(planes[b]) for b in lower}
                assert set(range(1, int(planes[a]))) <= {int(planes[b]) for b in lower}


@given(trees(max_words=12))
def test_hierarchical_labels_of_a_tree_are_those_of_the_encoding_of_trees(tree: Tree) -> None:
    spec = "optimal-nonprojective"
    ours = get(spec).encode(Graph.from_tree(tree))
    assert ours.sentences() == encodings.get(spec).encode(tree).sentences()
    assert ours.relation_texts() == list(tree.relations)


@given(projective_trees(max_words=12))
def test_four_bits_of_a_projective_tree_are_those_of_the_encoding_of_trees(tree: Tree) -> None:
    ours = get("four-bit(planes=1)").encode(Graph.from_tree(tree))
    assert ours.sentences() == encodings.get("four-bit").encode(tree).sentences()
    assert ours.relation_texts() == list(tree.relations)


def test_labels_are_as_the_guide_has_them() -> None:
    graph = Graph(3, [(0, 1, "root"), (1, 2, "conj:and"), (0, 2, "root"), (1, 3, "obj"), (2, 3, "obj"), (2, 3, "x")])
    assert get("optimal-nonprojective").encode(graph).sentences() == [[">/^/", ">^*/", ">^"]]
    assert get("brackets").encode(graph).sentences() == [[">//*", ">>/", ">>*"]]
    assert get("four-bit(planes=2)").encode(graph).sentences() == [["10001101", "11011000", "11001100"]]
    assert get("six-bit(planes=2)").encode(graph).sentences() == [["010000000001", "010101010000", "010100010100"]]
    assert get("relative").encode(graph).sentences() == [["0", "0,-1", "-2,-1"]]
    assert get("absolute").encode(graph).sentences() == [["0", "0,1", "1,2"]]
    for spec in SPECS:
        if get(spec).covers(Graphs.of([graph])).all():
            assert get(spec).encode(graph).relation_texts() == ["root", "root|conj:and", "obj|obj & x"]


def test_arcs_that_only_fill_a_plane_have_no_relation() -> None:
    graph = Graph(3, [(3, 1, "obj")])
    labels = get("four-bit(planes=1)").encode(graph)
    assert labels.sentences() == [["0101", "1101", "1110"]]
    assert labels.relation_texts() == ["obj", "no arc", "no arc"]
    assert get("four-bit(planes=1)").decode(labels).graphs[0] == graph


def test_a_graph_that_does_not_fit_is_refused_with_its_arcs_or_cut() -> None:
    graph = Graph(4, [(1, 3), (2, 4)])
    with pytest.raises(UncoveredGraphError, match=r"sentence 1: .*brackets.* fit in no plane: 2->4;") as caught:
        get("brackets(planes=1,policy=refuse)").encode(Graphs.of([graph]))
    assert (caught.value.sentence, caught.value.arcs) == (1, ((2, 4),))
    encoding = get("brackets(planes=1)")
    assert encoding.decode(encoding.encode(graph)).graphs[0] == Graph(4, [(1, 3)])
    many = Graph(16, [(left, left + 8) for left in range(1, 9)])
    with pytest.raises(UncoveredGraphError, match=r"2->10, 3->11, 4->12, 5->13, 6->14, 7->15 and 1 more"):
        get("six-bit(planes=1,policy=refuse)").encode(many)


@pytest.mark.parametrize("spec", SPECS)
def test_any_labels_are_read_into_graphs_and_what_is_wrong_is_named(spec: str) -> None:
    encoding = get(spec)
    rng = random.Random(spec)  # noqa: S311 - no secret
    seen: set[str] = set()
    for _ in range(120):
        rows = [[label_of(spec, rng) for _ in range(rng.randint(0, 8))] for _ in range(rng.randint(0, 3))]
        relations = [[rng.choice(["_", "a", "a|b", "a & b|c", "no arc|d"]) for _ in row] for row in rows]
        decoded = encoding.decode(encoding.labels(rows, relations))
        graphs = decoded.graphs
        assert Graphs.of([graphs[s] for s in range(len(graphs))]) == graphs  # each is a valid graph
        for fault in decoded.faults():
            assert 1 <= fault.sentence <= len(rows)
            assert 1 <= fault.word <= len(rows[fault.sentence - 1])
            seen.add(fault.kind)
        assert sum(decoded.counts().values()) == len(decoded.faults())
        again = encoding.decode(encoding.encode(graphs))
        assert np.array_equal(same_graphs(again.graphs, graphs), encoding.covers(graphs))
    assert "not as many relations as arcs" in seen
    assert seen <= set(FAULTS.values())
    assert len(seen) > 1


def label_of(spec: str, rng: random.Random) -> str:
    name = spec.partition("(")[0]
    if name in {"four-bit", "six-bit"}:
        width = (4 if name == "four-bit" else 6) * (1 if "planes=1" in spec else 3)
        return "".join(rng.choice("01") for _ in range(width))
    if name in {"absolute", "relative"}:
        numbers = sorted(rng.sample(range(1, 9), rng.randint(0, 3)))
        if name == "relative":
            numbers = sorted({number - 5 for number in numbers} - {0})
        zero = rng.choice([[], ["0"]])
        return ",".join(zero + [f"{n:+d}" if name == "relative" else str(n) for n in numbers]) or "_"
    many = 4 if "4" in spec else 1 if "1" in spec else 2
    stars = "*" * rng.randrange(many if name == "brackets" else 3)
    hat = "" if name == "brackets" else rng.choice(["", "^"])
    return "".join(rng.choice("<>\\/") + hat + stars for _ in range(rng.randint(0, 4))) or "_"


@pytest.mark.parametrize(
    ("spec", "label"),
    [
        ("optimal-nonprojective", "x"),
        ("brackets(planes=1)", "<*"),
        ("brackets", "<^"),
        ("four-bit(planes=1)", "01"),
        ("six-bit", "2" * 18),
        ("absolute", "2,1"),
        ("absolute", "+1"),
        ("absolute", "1,1"),
        ("relative", "1"),
        ("relative", "-1,0"),
        ("relative", ""),
    ],
)
def test_labels_of_another_kind_are_refused(spec: str, label: str) -> None:
    with pytest.raises(LabelError, match=r"is not a label of .*; expected"):
        get(spec).labels([[label]])


def test_names_and_options_are_checked() -> None:
    assert {get(name).name for name in graph_encodings.known()} == set(graph_encodings.known())
    for spec in SPECS:
        assert get(get(spec).spec).spec == get(spec).spec
    with pytest.raises(UnknownNameError, match="encoding of graphs 'optimal'"):
        get("optimal")
    with pytest.raises(OptionError, match="scheme"):
        get("brackets+head")
    with pytest.raises(UnknownNameError, match="policy"):
        get("brackets(policy=lift)")
    for bad in ("brackets(planes=0)", "six-bit(planes=11)", "four-bit(planes=x)"):
        with pytest.raises(OptionError, match="planes"):
            get(bad)
    with pytest.raises(UnknownNameError, match="option"):
        get("relative(planes=2)")
    with pytest.raises(MismatchError, match="1 labels but 2 relations"):
        get("relative").labels([["_"]], [["a", "b"]])


@given(st.lists(trees(max_words=8), max_size=3))
def test_basic_trees_are_graphs_too(some: list[Tree]) -> None:
    bank = Treebank.of(some)
    graphs = bank.basic_graphs()
    assert graphs == Graphs.of([Graph.from_tree(tree) for tree in some])
    for spec in EVERYTHING:
        assert get(spec).decode(get(spec).encode(graphs)).graphs == graphs


def test_every_row_of_two_hierarchical_labels_is_read() -> None:
    signs = ["".join(part) for part in product("<>\\/", ("", "^"), ("", "*"))]
    labels = ["_", *signs, *(a + b for a in signs for b in signs)]
    rows = [[a, b] for a in labels for b in signs]
    decoded = get("optimal-nonprojective").decode(get("optimal-nonprojective").labels(rows))
    assert len(decoded.graphs) == len(rows)
    assert int(decoded.graphs.heads.max()) <= 2


@pytest.mark.parametrize("name", ["absolute", "relative"])
def test_possible_labels_are_those_without_a_fault(name: str) -> None:
    encoding = get(name)
    texts = ["_", "0", "1,2", "3", "0,1"] if name == "absolute" else ["_", "0", "-1", "+1", "0,-2,+1"]
    offsets = Offsets([0, 1, 4])
    found = encoding.possible(texts, offsets)
    assert found is not None
    for word in range(4):
        for place, text in enumerate(texts):
            labels = [["_"], ["_"] * 3]
            labels[int(word > 0)][max(word - 1, 0)] = text
            assert found[word, place] == encoding.decode(encoding.labels(labels)).well_formed
    assert get("brackets").possible(["_"], offsets) is None


ALPHABETS = {
    "brackets(planes=1)": ["_", ">", "/", ">/", "<", "\\", "\\>", ">/<"],
    "brackets(planes=2)": ["_", ">", "/", ">*", "/*", "<", "\\*", "<*"],
    "six-bit(planes=1)": ["000000", "010001", "010100", "100000", "101000", "010010", "010101", "101001"],
    "four-bit(planes=1)": ["1000", "1100", "1001", "1101", "0000", "0100", "1010", "1110"],
    "relative": ["_", "0", "-1", "+1", "0,+2", "-2"],
}


@pytest.mark.parametrize("name", ALPHABETS)
def test_the_best_labels_without_a_fault_are_found(name: str) -> None:
    encoding, texts = get(name), ALPHABETS[name]
    words = 4
    every = list(product(range(len(texts)), repeat=words))
    read = encoding.decode(encoding.labels([[texts[number] for number in row] for row in every]))
    bad = {fault.sentence - 1 for fault in read.faults() if "bracket" in fault.kind or "outside" in fault.kind}
    right = np.array([row for place, row in enumerate(every) if place not in bad])
    assert 0 < len(right) < len(every)
    random_numbers = np.random.default_rng(5)
    offsets = np.array([0, words], dtype=np.int32)
    changed = 0
    for _ in range(40):
        scores = random_numbers.normal(size=(words, len(texts)))
        totals = scores[np.arange(words), right].sum(axis=1)
        found = best_labels(encoding, scores, texts, offsets)
        assert scores[np.arange(words), found].sum() == pytest.approx(totals.max())
        changed += not np.array_equal(found, scores.argmax(axis=1))
    assert changed
    assert can_be_exact(encoding)
    assert not can_be_exact(get("optimal-nonprojective"))
