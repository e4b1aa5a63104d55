"""Graphs as people work with them: every command that takes --graphs, and the guide."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from conftest import REPOSITORY
from program_tools import run
from ropewalk import conllu, deps
from ropewalk.core.columns import Column
from ropewalk.core.graphs import Graph, Graphs
from ropewalk.drawing import enhanced_scene
from ropewalk.encodings.graphs import known
from ropewalk.errors import FormatError, MismatchError
from test_graphs import ROPES, SEMANTIC

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def ropes(tmp_path: Path) -> Path:
    file = tmp_path / "ropes.conllu"
    file.write_text(ROPES, encoding="utf-8")
    return file


@pytest.fixture
def semantic(tmp_path: Path) -> Path:
    file = tmp_path / "a.sdp"
    file.write_text(SEMANTIC, encoding="utf-8")
    return file


def test_graphs_go_out_as_labels_and_come_back(ropes: Path, semantic: Path, tmp_path: Path) -> None:
    for file in (ropes, semantic):
        labels = tmp_path / "labels"
        done = run("encode", "--graphs", file, "-o", labels)
        assert (done.returncode, done.stderr) == (0, "")
        back = run("decode", "--graphs", labels, "--into", file)
        assert (back.stdout, back.stderr) == (file.read_text("utf-8"), "ropewalk: faults in the labels: none\n")
    assert labels.read_text("utf-8").split("\n")[:3] == [
        "# ropewalk graph encoding = optimal-nonprojective | columns = id, form, label, relations",
        "1\tRopes\t<\tARG1",
        "2\tnever\t/\t_",
    ]


def test_semantic_dependencies_come_back_with_predicates_that_have_no_arguments(tmp_path: Path) -> None:
    file, labels = tmp_path / "a.sdp", tmp_path / "labels"
    file.write_text("#SDP 2015\n#1\n1\tGo\tgo\tVB\t+\t+\tv:e\t_\n\n", encoding="utf-8")
    assert run("encode", "--graphs", file, "-o", labels).returncode == 0
    assert run("decode", "--graphs", labels, "--into", file).stdout == file.read_text("utf-8")


def test_semantic_dependencies_are_counted_and_covered(semantic: Path) -> None:
    done = run("stats", "--graphs", "--train", semantic, "--format", "json")
    assert [(row["graphs"], row["arcs"]) for row in json.loads(done.stdout)["rows"]] == [(2, 5)]
    done = run("coverage", "--graphs", "--train", semantic, "-e", "relative", "--format", "json")
    assert [row["labelled_whole"] for row in json.loads(done.stdout)["rows"]] == [100, 100]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("info", "CoNLL-U, or --graphs"),
        ("draw", "CoNLL-U, or --graphs"),
        ("encode", "CoNLL-U, or --graphs"),
        ("encode -e optimal", "CoNLL-U, or --graphs"),
        ("stats --train", "CoNLL-U, or --graphs"),
        ("coverage --train", "CoNLL-U, or --graphs"),
        ("enhance", "CoNLL-U"),
        ("parse", "text or CoNLL-U"),
    ],
)
def test_what_takes_no_semantic_dependencies_says_what_the_file_is(command: str, expected: str, semantic: Path) -> None:
    done = run(*command.split(), semantic)
    assert done.returncode == 1
    assert f"{semantic}: this is an .sdp file of semantic dependencies" in done.stderr
    assert f"expected {expected}" in done.stderr


def test_what_does_not_fit_is_said(ropes: Path) -> None:
    done = run("encode", "--graphs", "-e", "four-bit(planes=1)", ropes)
    assert done.returncode == 0
    assert "1 of 1 graph had arcs that four-bit(planes=1) cannot write" in done.stderr
    done = run("encode", "--graphs", "-e", "four-bit(planes=1)", "--policy", "refuse", ropes)
    assert done.returncode == 1
    assert f"{ropes}:1: four-bit(policy=refuse,planes=1) cannot write this graph" in done.stderr
    assert run("encode", ropes).returncode == 2
    assert run("decode", "--graphs", ropes).returncode == 2
    assert run("evaluate", "--graphs", "--no-punct", ropes, ropes).returncode == 2


def test_graphs_are_counted_and_scored(ropes: Path, semantic: Path, tmp_path: Path) -> None:
    rows = json.loads(run("info", "--graphs", "--format", "json", ropes, semantic).stdout)["rows"]
    assert [(row["graphs"], row["words"], row["empty_nodes"], row["arcs"]) for row in rows] == [
        (1, 8, 1, 14),
        (2, 6, 0, 5),
    ]
    assert [(row["further_relations"], row["most_heads"], row["cyclic"]) for row in rows] == [(1, 2, 0), (0, 3, 0)]
    wrong = tmp_path / "wrong.conllu"
    wrong.write_text(ROPES.replace("7.1:dep|7.1:obj", "7.1:obj"), encoding="utf-8")
    rows = json.loads(run("evaluate", "--graphs", "--format", "json", ropes, wrong).stdout)["rows"]
    found = {row["score"]: row["labelled"] for row in rows}
    assert found["precision over arcs"] == 100
    assert found["recall over arcs"] == pytest.approx(100 * 13 / 14)
    assert found["whole graphs"] == 0
    assert found["empty nodes collapsed, F1 (EULAS, ELAS)"] == pytest.approx(100 * 2 * 14 / (16 + 14))
    rows = json.loads(run("evaluate", "--graphs", "--format", "json", semantic, semantic).stdout)["rows"]
    assert {row["labelled"] for row in rows} == {100}
    assert len(rows) == 5
    rows = json.loads(run("stats", "--graphs", "--train", ropes, "--table", "labels", "--format", "json").stdout)[
        "rows"
    ]
    assert {row["encoding"]: row["covered"] for row in rows}["relative"] == 100
    assert json.loads(run("stats", "--graphs", "--train", ropes, "--format", "json").stdout)["rows"][0]["arcs"] == 14
    done = run("coverage", "--graphs", "--train", ropes, "-e", "all", "--format", "json")
    rows = json.loads(done.stdout)["rows"]
    assert len(rows) == 2 * len(known())
    assert all(row["labelled_whole"] == 100 for row in rows)
    listed = json.loads(run("encodings", "--graphs", "--format", "json").stdout)["rows"]
    assert [row["name"] for row in listed] == list(known())


def test_graphs_are_validated(ropes: Path, semantic: Path) -> None:
    named = ROPES.replace("# sent_id = ropes\n", "# sent_id = ropes\n# text = Ann spins and twists hemp, Bob wool\n")
    named = re.sub(r"^(\d+\t\S+\t\S+)\t_", r"\1\tX", named, flags=re.MULTILINE)
    ropes.write_text(named, encoding="utf-8")
    done = run("validate", ropes, semantic)
    assert done.returncode == 0, done.stdout
    ropes.write_text(named.replace("4:cc", "9:cc"), encoding="utf-8")
    semantic.write_text(SEMANTIC.replace("2\tnever", "3\tnever"), encoding="utf-8")
    done = run("validate", ropes, semantic)
    assert done.returncode == 1
    assert done.stdout.startswith(f"{ropes}:5: word 3: DEPS has '9:cc', but the sentence has no such word")
    assert f"{semantic}:4: word 3: the id is '3', expected 2" in done.stdout


def test_the_tree_is_drawn_above_and_what_the_graph_adds_below(sample: Path, semantic: Path) -> None:
    page = (REPOSITORY / "docs" / "graphs.md").read_text(encoding="utf-8")
    drawn = run("draw", "--graphs", sample, "--sentence", "2").stdout
    assert drawn in page
    assert drawn == run("draw", "--graphs", sample, "--sentence", "en-2").stdout
    text = run("draw", "--graphs", semantic, "--sentence", "22000001", "-e", "relative").stdout
    assert "ARG1" in text
    assert "0,-1,+1" in text
    assert run("draw", "--graphs", semantic, "--sentence", "3").returncode == 1
    assert run("draw", "--graphs", "--heads", "0").returncode == 2
    graphs = Graphs.of([Graph(2, [(0, 1, "root"), (1, 2, "obl:in"), (1, 2, "x"), (2, 1, "ref")])])
    found = enhanced_scene(graphs, Graph(2, [(0, 1, "root"), (1, 2, "obl")]), ["a", "b"], labels=["relative"])
    assert [(arc.head, arc.dependent, arc.text, arc.below) for arc in found.arcs] == [
        (0, 1, "root", False),
        (1, 2, "obl:in", False),
        (2, 1, "ref", True),
        (1, 2, "x", True),
    ]
    assert found.notes() == (("repaired", "only in the enhanced graph"),)
    with pytest.raises(MismatchError, match="expected as many forms"):
        enhanced_scene(graphs, Graph(1, []), ["a", "b"])


def test_the_guide_names_every_encoding() -> None:
    page = (REPOSITORY / "docs" / "graphs.md").read_text(encoding="utf-8")
    for name in known():
        assert f"`{name}" in page


@pytest.mark.parametrize("where", ["\tdep\n", "\tb\t", "\tx\t"])
@pytest.mark.parametrize(("wrong", "named"), [("\0", "NUL"), ("\r", "carriage return")])
def test_what_no_treebank_can_hold_is_refused_in_labels(where: str, wrong: str, named: str, tmp_path: Path) -> None:
    rows = "1\tA\t0\troot\n1.1\tx\t1\tdep\n2\tb\t1\tdep\n\n"
    labels, into, out = tmp_path / "a.labels", tmp_path / "a.conllu", tmp_path / "out.conllu"
    header = "# ropewalk graph encoding = absolute | columns = id, form, label, relations\n"
    into.write_text("1\tA\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tdep\t_\t_\n\n", encoding="utf-8")
    damaged = rows.replace(where, where[:2] + wrong + where[2:], 1)
    labels.write_bytes((header + damaged).encode())
    done = run("decode", "--graphs", labels, "--into", into, "-o", out)
    line = 2 + damaged[: damaged.index(wrong)].count("\n")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f"{labels}:{line}: the line has a {named}" in done.stderr
    assert not out.exists()


@pytest.mark.parametrize("wrong", ["a\0b", "a\tb", "a\nb", "a\rb", "", "\ud800"])
def test_graphs_that_would_break_the_file_are_not_written(wrong: str) -> None:
    bank = conllu.loads(
        "1\tA\t_\t_\t_\t_\t0\troot\t_\t_\n\n1\tA\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"
    )
    graphs = Graphs.of([Graph(1, [(0, 1, "root")]), Graph(2, [(0, 1, "root"), (1, 2, wrong)])])
    with pytest.raises(FormatError, match=r"<text>:3: a relation of the graph is"):
        deps.write(bank, graphs)
    right = Graphs.of([Graph(1, [(0, 1, "root")]), Graph(2, [(0, 1, "root"), (1, 2, "dep")])])
    with pytest.raises(FormatError, match=r"<text>:3: a form of the graph is"):
        deps.write(bank, right, Column.of(["A", "A", wrong]))
    assert b"1:dep" in deps.write(bank, right, Column.of(["A", "A", "b"]))
