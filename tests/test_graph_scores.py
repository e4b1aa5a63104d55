"""Scores of graphs, beside brute force and the official program of the shared tasks."""

from __future__ import annotations

import io
import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from udtools import udeval

from ropewalk import conllu, deps
from ropewalk.core.graphs import Graph, Graphs
from ropewalk.errors import MismatchError
from ropewalk.scoring import graph_scores as scoring
from strategies import many_graphs

SCORER: Any = udeval  # it has no types
RELATIONS = ("nsubj", "nsubj:pass", "nsubj:xsubj", "conj:and", "obl:in", "obl:on", "obj")
Arc = tuple[str, str, str]


def sentence(rng: random.Random, words: int, empties: dict[int, int], noise: float) -> str:
    """Write a sentence with a chain as its basic tree and a random graph; `empties` stand behind which words."""
    names = [
        name
        for word in range(words + 1)
        for name in [*([str(word)] if word else []), *(f"{word}.{e}" for e in range(1, empties.get(word, 0) + 1))]
    ]
    lines = []
    for place, name in enumerate(names):
        others = ["0", *(other for other in names if other != name)]
        items = {(rng.choice(others), rng.choice(RELATIONS)) for _ in range(rng.choice([0, 1, 1, 2, 3]))}
        if rng.random() < noise:
            items |= {(others[place % len(others)], "obj")}
        ordered = sorted(items, key=lambda item: (tuple(map(int, f"{item[0]}.0".split(".")[:2])), item[1]))
        found = "|".join(f"{head}:{relation}" for head, relation in ordered) or "_"
        word = "." not in name
        head = [str(int(name) - 1), "root" if name == "1" else "dep"] if word else ["_", "_"]
        lines.append("\t".join([name, f"w{name}", "_", "_", "_", "_", *head, found, "_"]))
    return "\n".join([*lines, "\n"])


def simple_paths(arcs: set[Arc], head: str, dependent: str) -> set[tuple[str, ...]]:
    """All paths from one word to another through empty nodes alone, none of them twice: forward and by recursion."""
    out: set[tuple[str, ...]] = set()

    def walk(node: str, path: tuple[str, ...], passed: frozenset[str]) -> None:
        for above, below, relation in arcs:
            if above == node and below == dependent:
                out.add((*path, relation))
            if above == node and "." in below and below not in passed:
                walk(below, (*path, relation), passed | {below})

    walk(head, (), frozenset())
    return out


def collapsed(text: str) -> str:
    """Write a sentence without its empty nodes, the long way round."""
    rows = [line.split("\t") for line in text.split("\n") if line]
    arcs = {
        (item.partition(":")[0], row[0], item.partition(":")[2]) for row in rows if row[8] != "_"
        for item in row[8].split("|")
    }  # fmt: skip
    words = [row[0] for row in rows if "." not in row[0]]
    for row in rows:
        items = [
            f"{head}:{'>'.join(path)}" for head in ["0", *words] for path in sorted(simple_paths(arcs, head, row[0]))
        ]
        row[8] = "|".join(items) or "_"
    return "\n".join([*("\t".join(row) for row in rows if "." not in row[0]), "\n"])


@pytest.mark.parametrize("seed", range(30))
def test_elas_and_eulas_are_those_of_the_official_program(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - no secret
    gold, system = [], []
    for _ in range(4):
        words = rng.randint(1, 6)
        empties = {rng.randint(0, words): rng.randint(1, 2) for _ in range(rng.choice([0, 1, 1, 2]))}
        gold.append(sentence(rng, words, empties, 0.8))
        system.append(sentence(rng, words, empties if rng.random() < 0.5 else {}, 0.8))
    sides = [
        SCORER.load_conllu(io.StringIO("".join(map(collapsed, texts))), "a file", {"no_empty_nodes": True})
        for texts in (gold, system)
    ]
    official = SCORER.evaluate(*sides)
    ours = scoring.enhanced(conllu.loads("".join(gold)), conllu.loads("".join(system)))
    for name in ("ELAS", "EULAS"):
        expected = official[name]
        assert (ours[name].precision, ours[name].recall, ours[name].f1) == (
            expected.precision,
            expected.recall,
            expected.f1,
        )


def test_elas_aligns_words_where_tokens_differ() -> None:
    row = "{}\t{}\t_\t_\t_\t_\t{}\t{}\t{}\t_\n"
    gold = row.format(1, "ab", 0, "root", "0:root") + row.format(2, "cd", 1, "obj", "1:obj|3:obl:in")
    gold += row.format(3, "e", 1, "dep", "1:dep|2:x") + "\n"
    system = row.format(1, "ab", 0, "root", "0:root") + row.format(2, "c", 1, "obj", "1:obj")
    system += row.format(3, "d", 1, "obj", "1:obj") + row.format(4, "e", 1, "dep", "1:dep|2:x") + "\n"
    official = SCORER.evaluate(*(SCORER.load_conllu(io.StringIO(text), "a file", {}) for text in (gold, system)))
    ours = scoring.enhanced(conllu.loads(gold), conllu.loads(system))
    for name in ("ELAS", "EULAS"):
        assert (ours[name].gold, ours[name].system, ours[name].correct) == (5, 5, 2)
        assert ours[name].f1 == official[name].f1


def test_a_path_through_empty_nodes_is_one_arc() -> None:
    text = "1\ta\t_\t_\t_\t_\t0\troot\t0:root\t_\n1.1\t_\t_\t_\t_\t_\t_\t_\t1:conj\t_\n"
    text += "1.2\t_\t_\t_\t_\t_\t_\t_\t1.1:xcomp|2:x\t_\n2\tb\t_\t_\t_\t_\t1\tobj\t1.1:obj|1.2:obl:in\t_\n\n"
    found = scoring.collapse(deps.read(conllu.loads(text)))
    arcs = sorted(zip(found.heads.tolist(), found.dependents.tolist(), found.relations.texts(), strict=True))
    assert arcs == [(-1, 0, "root"), (0, 1, "conj>obj"), (0, 1, "conj>xcomp>obl:in"), (1, 1, "x>obl:in")]


def brute(gold: Graphs, predicted: Graphs, kind: str) -> list[tuple[int, int, int]]:
    """Count gold, predicted and right arcs of each sentence with sets."""

    def arcs(graphs: Graphs, s: int) -> set[tuple[Any, ...]]:
        graph = graphs[s]
        names = ["0", *graphs.names()[graphs.offsets[s]]]
        cut = {"unlabelled": 0, "without subtypes": 1, "labelled": None}[kind]
        relations = [":".join(relation.split(":")[:cut]) for relation in graph.relations]
        return {(names[h], names[d], r) for (h, d), r in zip(graph.arcs(), relations, strict=True)}

    pairs = [(arcs(gold, s), arcs(predicted, s)) for s in range(len(gold))]
    return [(len(a), len(b), len(a & b)) for a, b in pairs]


@given(many_graphs(most_nodes=6))
def test_arcs_and_whole_graphs_are_counted(gold: Graphs) -> None:
    kept = np.random.default_rng(len(gold.heads)).random(len(gold.heads)) < 0.7
    predicted = replace(
        gold,
        arc_offsets=gold.arc_offsets.counted(kept),
        heads=gold.heads[kept],
        dependents=gold.dependents[kept],
        relations=gold.relations.take(np.flatnonzero(kept)),
    )
    scores = scoring.score(gold, predicted)
    for kind, found in scores.items():
        rows = brute(gold, predicted, kind)
        assert list(zip(found.gold.tolist(), found.predicted.tolist(), found.right.tolist(), strict=True)) == rows
        total = [sum(column) for column in zip(*rows, strict=True)] or [0, 0, 0]
        if total[0] + total[1]:
            assert found.f1 == pytest.approx(2 * total[2] / (total[0] + total[1]))
            means = [2 * r / (g + p) for g, p, r in rows if g + p]
            assert found.f1_sentences == pytest.approx(sum(means) / len(means))
        else:
            assert math.isnan(found.f1)
            assert math.isnan(found.f1_sentences)
        if rows:
            assert found.whole == sum(g == p == r for g, p, r in rows) / len(rows)


def test_graphs_over_other_words_are_refused() -> None:
    one, two = Graphs.of([Graph(2, [(1, 2)])]), Graphs.of([Graph(3, [(1, 2)])])
    with pytest.raises(MismatchError, match="sentence 1 has 2 words in gold and 3"):
        scoring.score(one, two)
    with pytest.raises(MismatchError, match="1 graphs in gold and 0"):
        scoring.score(one, Graphs.of([]))


@pytest.mark.parametrize("seed", range(20))
def test_graphs_between_words_have_paths_for_arcs(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - no secret
    texts = [sentence(rng, rng.randint(1, 5), {rng.randint(0, 1): rng.randint(1, 2)}, 0.8) for _ in range(3)]
    found = scoring.between_words(deps.read(conllu.loads("".join(texts))))
    rows = [line.split("\t") for text in texts for line in collapsed(text).split("\n") if line]
    wanted = [{item for item in row[8].split("|") if item.partition(":")[0] not in {row[0], "_"}} for row in rows]
    assert [set(text.split("|")) - {"_"} for text in deps.texts(found)] == wanted
