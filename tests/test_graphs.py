"""Graphs as values, in DEPS, in `.sdp` and in label files: in and out without loss, every fault by its line."""

from __future__ import annotations

import pickle
import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk import conllu, deps, sdp
from ropewalk.core.arrays import frozen_ints
from ropewalk.core.graphs import Graph, Graphs, cyclic
from ropewalk.core.ragged import Offsets
from ropewalk.encodings.graphs import get, known
from ropewalk.errors import FormatError, GraphError, MismatchError
from ropewalk.formats import label_files
from strategies import many_graphs

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.treebank.treebank import Treebank

ROPES = """# sent_id = ropes
1\tAnn\t_\t_\t_\t_\t2\tnsubj\t2:nsubj|4:nsubj\t_
2\tspins\t_\t_\t_\t_\t0\troot\t0:root\t_
3\tand\t_\t_\t_\t_\t4\tcc\t4:cc\t_
4\ttwists\t_\t_\t_\t_\t2\tconj\t0:root|2:conj:and\t_
5-6\themp,\t_\t_\t_\t_\t_\t_\t_\t_
5\themp\t_\t_\t_\t_\t4\tobj\t2:obj|4:obj\t_
6\t,\t_\t_\t_\t_\t7\tpunct\t7.1:punct\t_
7\tBob\t_\t_\t_\t_\t4\tconj\t7.1:nsubj\t_
7.1\ttwists\ttwist\tVERB\t_\t_\t_\t_\t2:conj:and|4:conj:and\t_
8\twool\t_\t_\t_\t_\t7\torphan\t7.1:dep|7.1:obj\t_

"""
SEMANTIC = """#SDP 2015
#22000001
1\tRopes\trope\tNNS\t-\t-\tn:x\t_\tARG1\t_
2\tnever\tnever\tRB\t-\t+\ta:e\t_\t_\t_
3\ttwist\ttwist\tVBP\t+\t+\tv:e-i\tARG1\t_\tloc
4\talone\talone\tRB\t-\t+\t_\t_\t_\t_
5\t.\t.\t.\t-\t-\t_\t_\t_\t_

#22000002
1\tHemp\themp\tNN\t+\t-\tn:x

"""


def rows(bank: Treebank) -> dict[str, str]:
    graphs = deps.read(bank)
    return dict(zip(graphs.names(), deps.texts(graphs), strict=True))


def test_deps_are_read_with_empty_nodes_and_two_relations_between_one_pair() -> None:
    bank = conllu.loads(ROPES)
    graphs = deps.read(bank)
    assert graphs.names() == ["1", "2", "3", "4", "5", "6", "7", "7.1", "8"]
    assert graphs.empty.tolist() == [name == "7.1" for name in graphs.names()]
    bounds = graphs.node_arcs
    assert graphs.heads[bounds[7] : bounds[8]].tolist() == [2, 4]
    assert graphs.relations.texts()[bounds[8] : bounds[9]] == ["dep", "obj"]
    assert graphs[0].arcs()[-2:] == [(8, 9), (8, 9)]
    assert deps.forms(bank).texts()[6:9] == ["Bob", "twists", "wool"]
    assert deps.write(bank, graphs) == ROPES.encode()


def test_only_what_changes_is_written_anew() -> None:
    unsorted = ROPES.replace("2:nsubj|4:nsubj", "4:nsubj|2:nsubj")
    bank = conllu.loads(unsorted)
    graphs = deps.read(bank)
    assert deps.write(bank, graphs) == unsorted.encode()
    fewer = Graphs(
        graphs.offsets,
        graphs.empty,
        Offsets.one(len(graphs.heads) - 1),
        graphs.heads[:-1],
        graphs.dependents[:-1],
        graphs.relations[:-1],
    )
    assert deps.write(bank, fewer) == unsorted.replace("7.1:dep|7.1:obj", "7.1:dep").encode()
    trees = bank.basic_graphs()
    written = deps.write(bank, trees).decode()
    assert "7.1\t" not in written
    assert rows(conllu.loads(written))["8"] == "7:orphan"
    back = deps.write(conllu.loads(written), graphs, deps.forms(bank)).decode()
    assert back == ROPES.replace("7.1\ttwists\ttwist\tVERB", "7.1\ttwists\t_\t_")
    with pytest.raises(MismatchError, match="1 sentences and 0 graphs"):
        deps.write(bank, Graphs.of([]))
    with pytest.raises(MismatchError, match="sentence 1 has 8 words, but its graph 2"):
        deps.write(bank, Graphs.of([Graph(2, [])]))


@given(many_graphs(most_nodes=9))
def test_any_graphs_come_back_from_deps(graphs: Graphs) -> None:
    lines: list[str] = []
    written = deps.texts(graphs)
    for s in range(len(graphs)):
        start, stop = graphs.offsets.bounds(s)
        if graphs.empty[start:stop].all():
            return  # no sentence of CoNLL-U
        for name, found in zip(graphs.names()[start:stop], written[start:stop], strict=True):
            lines.append(f"{name}\ta\t_\t_\t_\t_\t_\t_\t{found}\t_")
        lines.append("")
    if not lines:
        return
    bank = conllu.loads("".join(f"{line}\n" for line in lines))
    assert deps.read(bank) == graphs
    empty = Graphs(
        graphs.offsets,
        graphs.empty,
        Offsets.of_lengths([0] * len(graphs)),
        frozen_ints([]),
        frozen_ints([]),
        graphs.relations[:0],
    )
    bare = conllu.loads(deps.write(bank, empty))
    assert deps.write(bare, graphs) == conllu.dumps(bank)


@pytest.mark.parametrize(
    ("before", "after", "kind", "line"),
    [
        ("4:cc", "cc", "deps", 4),
        ("4:cc", "4", "deps", 4),
        ("4:cc", "4:", "deps", 4),
        ("4:cc", ":cc", "deps", 4),
        ("4:cc", "04:cc", "deps", 4),
        ("4:cc", "4.0:cc", "deps", 4),
        ("4:cc", "4.:cc", "deps", 4),
        ("4:cc", "-1:cc", "deps", 4),
        ("4:cc", "4:c c", "deps", 4),
        ("4:cc", "4:cc|", "deps", 4),
        ("4:cc", "|4:cc", "deps", 4),
        ("4:cc", "9:cc", "deps-head", 4),
        ("4:cc", "4.1:cc", "deps-head", 4),
        ("4:cc", "99999999999999999999:cc", "deps-head", 4),
        ("4:cc", "3:cc", "deps-self", 4),
        ("4:cc", "4:cc|4:cc", "deps-twice", 4),
        ("7.1:punct", "7.2:punct", "deps-head", 8),
        ("2:conj:and|4:conj:and", "7.1:conj:and", "deps-self", 10),
    ],
)
def test_faults_of_deps_are_named_by_line(before: str, after: str, kind: str, line: int) -> None:
    bank = conllu.loads(ROPES.replace(before, after), "ropes.conllu")
    with pytest.raises(FormatError, match=rf"^ropes.conllu:{line}: word [\d.]+: DEPS has .*expected|but the") as caught:
        deps.read(bank)
    assert (caught.value.kind, caught.value.line) == (kind, line)
    assert kind in {problem.kind for problem in deps.problems(bank)}


def test_more_is_checked_than_reading_needs() -> None:
    assert not list(deps.problems(conllu.loads(ROPES)))
    strange = ROPES.replace("2:nsubj|4:nsubj", "4:nsubj|2:nsubj").replace("4:cc", "4:root")
    strange = strange.replace("0:root|2:conj:and", "0:dep|2:conj:and").replace(
        "hemp,\t_\t_\t_\t_\t_\t_\t_", "hemp,\t_\t_\t_\t_\t_\t_\t4:obj"
    )
    bank = conllu.loads(strange)
    deps.read(bank)
    found = [(problem.line, problem.kind) for problem in deps.problems(bank)]
    assert found == [(2, "deps-order"), (4, "deps-root"), (5, "deps-root"), (6, "deps-multiword")]


@given(st.binary(max_size=40), st.integers(0, 400), st.integers(0, 40))
def test_any_bytes_are_read_as_deps_or_are_a_format_error(noise: bytes, at: int, cut: int) -> None:
    raw = ROPES.encode()
    try:
        bank = conllu.loads(raw[:at] + noise + raw[at + cut :])
        graphs = deps.read(bank)
    except FormatError:
        return
    assert deps.write(bank, graphs) == conllu.dumps(bank)


@given(st.text("0123456789.:|_ abß", max_size=20))
def test_any_text_in_deps_is_read_or_is_a_format_error(text: str) -> None:
    bank = conllu.loads(ROPES.replace("2:obj|4:obj", text or "_"))
    wrong = [problem for problem in deps.problems(bank) if problem.kind not in {"deps-order", "deps-root"}]
    if not wrong:
        assert sorted(rows(bank)["5"].split("|")) == sorted((text or "_").split("|"))
        return
    with pytest.raises(FormatError) as caught:
        deps.read(bank)
    assert (str(caught.value), caught.value.line) == (str(wrong[0]), 7)


def test_semantic_dependencies_come_back_byte_for_byte(tmp_path: Path) -> None:
    bank = sdp.loads(SEMANTIC)
    assert len(bank) == 2
    assert bank.graphs[0] == Graph(5, [(3, 1, "ARG1"), (0, 3, "top"), (2, 3, "ARG1"), (4, 3, "loc")])
    assert bank.graphs[1] == Graph(1, [(0, 1, "top")])
    assert (bank.lines, bank.comments) == ((2, 9), (("#22000001",), ("#22000002",)))
    for name in ("a.sdp", "a.sdp.gz"):
        sdp.write(tmp_path / name, bank)
        assert sdp.dumps(sdp.read(tmp_path / name)) == SEMANTIC.encode()
    other = bank.with_graphs(Graphs.of([Graph(5, [(1, 2, "x"), (0, 5, "top")]), Graph(1, [])]))
    assert sdp.loads(sdp.dumps(other)).graphs == other.graphs
    assert sdp.dumps(other).decode().split("\n")[2:4] == [
        "1\tRopes\trope\tNNS\t-\t+\tn:x\t_",
        "2\tnever\tnever\tRB\t-\t-\ta:e\tx",
    ]
    with pytest.raises(MismatchError, match="same words"):
        bank.with_graphs(Graphs.of([Graph(5, [])]))
    for arcs in ([(1, 2, "x"), (1, 2, "y")], [(1, 2, "_")]):
        with pytest.raises(GraphError, match="graph 1: the arc 1->2"):
            bank.with_graphs(Graphs.of([Graph(5, arcs), Graph(1, [])]))


def test_predicates_without_arguments_stay_where_the_graph_does() -> None:
    text = SEMANTIC.replace("NN\t+\t-\tn:x\n", "NN\t+\t+\tn:x\t_\n")
    bank = sdp.loads(text)
    assert sdp.dumps(bank.with_graphs(bank.graphs)) == text.encode()
    other = bank.with_graphs(Graphs.of([Graph(5, []), bank.graphs[1]]))
    first, second = sdp.dumps(other).decode().split("\n\n")[:2]
    assert first.count("+") == 0
    assert second == text.split("\n\n")[1]


@pytest.mark.parametrize(
    ("before", "after", "kind", "line"),
    [
        (SEMANTIC, "", "header", 1),
        ("#SDP 2015\n", "", "header", 1),
        ("n:x\n\n", "n:x\n", "truncated", 11),
        ("\t_\tARG1\t_\n", "\t_\tARG1\n", "columns", 3),
        ("2\tnever", "3\tnever", "id", 4),
        ("\tnever\tRB", "\t\tRB", "empty-column", 4),
        ("\t-\t+\ta:e", "\tx\t+\ta:e", "top", 4),
        ("NNS\t-\t-", "NNS\t-\t*", "pred", 3),
        ("ARG1\t_\tloc", "ARG 1\t_\tloc", "role", 5),
        ("ARG1\t_\tloc", "a|b\t_\tloc", "role", 5),
        ("a:e\t_", "a:e\tARG1", "role-self", 4),
        ("3\ttwist", "#3\ttwist", "comment", 2),
        ("1\tHemp\themp\tNN\t+\t-\tn:x\n", "", "no-words", 9),
    ],
)
def test_faults_of_semantic_dependencies_are_named_by_line(before: str, after: str, kind: str, line: int) -> None:
    text = SEMANTIC.replace(before, after, 1)
    with pytest.raises(FormatError, match=rf"^a.sdp:{line}: .*expected") as caught:
        sdp.loads(text, "a.sdp")
    assert (caught.value.kind, caught.value.line) == (kind, line)


@given(st.binary(max_size=30), st.integers(0, 250), st.integers(0, 30))
def test_any_bytes_are_semantic_dependencies_or_are_a_format_error(noise: bytes, at: int, cut: int) -> None:
    raw = SEMANTIC.encode()
    raw = raw[:at] + noise + raw[at + cut :]
    try:
        bank = sdp.loads(raw)
    except FormatError:
        return
    assert sdp.dumps(bank) == raw


@pytest.mark.parametrize("spec", sorted(known()))
def test_label_files_lead_back_to_the_same_bytes(spec: str, tmp_path: Path, sample: Path) -> None:
    file = tmp_path / "labels.gz"
    several = tmp_path / "several.conllu"
    several.write_bytes(ROPES.encode() + sample.read_bytes() + ROPES.encode())
    banks = conllu.stream(several, chunk_bytes=500)
    texts = [label_files.graph_text_of(get(spec), label_files.Nodes.of(bank)) for bank in banks]
    label_files.write(file, get(spec), texts)
    found = label_files.LabelGraphs(label_files.GraphLabelReader(file, chunk_bytes=300))
    back = b"".join(label_files.fill_graphs(conllu.stream(several, chunk_bytes=700), found))
    assert back == several.read_bytes()
    assert not found.faults
    semantic = sdp.loads(SEMANTIC)
    text = label_files.graph_text_of(get(spec), label_files.Nodes.of(semantic))
    label_files.write(file, get(spec), [text])
    found = label_files.LabelGraphs(label_files.GraphLabelReader(file))
    assert label_files.fill_semantic(semantic, found).graphs == semantic.graphs


def labels(text: str, tmp_path: Path) -> label_files.LabelGraphs:
    (tmp_path / "labels").write_text(text, encoding="utf-8")
    return label_files.LabelGraphs(label_files.GraphLabelReader(tmp_path / "labels"))


@pytest.mark.parametrize(
    ("before", "after", "kind", "line"),
    [
        ("graph encoding", "encoding", "header", 1),
        ("= relative", "= nonsense", "encoding", 1),
        ("2\tspins", "3\tspins", "id", 3),
        ("7.1\t", "7.2\t", "id", 9),
        ("0\troot\n", "x\troot\n", "label", 3),
        ("0\troot\n", "0\tro ot\n", "label", 3),
        ("\tspins", "\tpins", "words-differ", 3),
        ("8\twool\t-1\tdep & obj\n", "", "words-differ", 1),
    ],
)
def test_faults_of_label_files_are_named_by_line(before: str, after: str, kind: str, line: int, tmp_path: Path) -> None:
    bank = conllu.loads(ROPES, "ropes.conllu")
    text = label_files.header(get("relative"))
    text += label_files.graph_text_of(get("relative"), label_files.Nodes.of(bank))
    assert before in text
    with pytest.raises(FormatError) as caught:
        list(label_files.fill_graphs([bank], labels(text.replace(before, after, 1), tmp_path)))
    assert (caught.value.kind, caught.value.line) == (kind, line)


def test_missing_and_additional_sentences_are_told(tmp_path: Path) -> None:
    bank, two = conllu.loads(ROPES), conllu.loads(2 * ROPES, "two.conllu")
    head = label_files.header(get("relative"))
    text = label_files.graph_text_of(get("relative"), label_files.Nodes.of(bank))
    with pytest.raises(FormatError, match=r"^two.conllu:13: .* has no labels for this sentence"):
        list(label_files.fill_graphs([two], labels(head + text, tmp_path)))
    with pytest.raises(FormatError, match=r"labels:12: labels for a sentence that .* does not have"):
        list(label_files.fill_graphs([bank], labels(head + 2 * text, tmp_path)))
    semantic = sdp.loads(SEMANTIC, "a.sdp")
    with pytest.raises(FormatError, match=r"^a.sdp:2: the words from this sentence on"):
        label_files.fill_semantic(semantic, labels(head + text, tmp_path))


def test_graphs_are_checked_and_compared() -> None:
    one = Graphs.of([Graph(3, [(1, 2, "b"), (1, 2, "a"), (3, 1)])])
    assert one.relations.texts() == ["_", "a", "b"]
    mixed = Graphs(
        one.offsets,
        one.empty,
        one.arc_offsets,
        frozen_ints([1, 3, 1]),
        frozen_ints([2, 1, 2]),
        one.relations.take(np.array([2, 0, 1])),
    )
    assert mixed == one
    assert hash(mixed) == hash(one)
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301 - our own
    for heads, dependents in (([1, 4, 1], [2, 1, 2]), ([1, 1, 1], [2, 1, 2]), ([1, 1, 1], [2, 0, 2])):
        with pytest.raises(GraphError, match="graph 1: the arc"):
            Graphs(one.offsets, one.empty, one.arc_offsets, frozen_ints(heads), frozen_ints(dependents), one.relations)
    pair = Offsets.one(2), frozen_ints([1, 1]), frozen_ints([2, 2])
    assert Graphs(one.offsets, one.empty, *pair, one.relations[1:]).relations.texts() == ["a", "b"]
    with pytest.raises(GraphError, match="graph 1: the arc 1->2 with the relation 'a' is given twice"):
        Graphs(one.offsets, one.empty, *pair, one.relations.take(np.array([1, 1])))
    with pytest.raises(MismatchError, match="expected as many"):
        Graphs(one.offsets, one.empty, *pair, one.relations)
    with pytest.raises(GraphError, match="given twice"):
        Graph(2, [(1, 2, "a"), (1, 2, "a")])
    assert one[-1] == one[0]
    with pytest.raises(IndexError):
        one[1]


@given(many_graphs(most_nodes=7))
def test_cycles_are_found(graphs: Graphs) -> None:
    def reaches(arcs: list[tuple[int, int]], start: int) -> bool:
        seen: set[int] = set()
        waiting = [d for h, d in arcs if h == start]
        while waiting:
            node = waiting.pop()
            if node == start:
                return True
            if node not in seen:
                seen.add(node)
                waiting += [d for h, d in arcs if h == node]
        return False

    found = cyclic(graphs)
    for s in range(len(graphs)):
        graph = graphs[s]
        assert found[s] == any(reaches(graph.arcs(), node) for node in range(1, len(graph) + 1))


def test_some_graphs_can_be_picked() -> None:
    rng = random.Random(3)  # noqa: S311 - no secret
    many = [Graph(n, [(h, 1) for h in range(2, n + 1) if rng.random() < 0.5]) for n in (3, 1, 5, 2)]
    graphs = Graphs.of(many)
    picked = graphs.select([2, 0, 2])
    assert [picked[s] for s in range(3)] == [many[2], many[0], many[2]]
    assert Graphs.concat([graphs.select([0, 1]), graphs.select([2, 3])]) == graphs
