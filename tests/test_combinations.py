"""Tags that go together: the best combination that a treebank has, for which a word's relation may speak."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.core.columns import Column
from ropewalk.core.trees import Tree
from ropewalk.models.combinations import MOST, WEIGHTS, Combinations
from ropewalk.models.label_sets import LabelSet
from ropewalk.models.tags import TagWeights, best_tags, fitted_relation_weight
from ropewalk.treebank.treebank import Treebank

SETS = {"upos": ("A", "B"), "xpos": ("a", "b", "c")}
Word = tuple[int, int, str]  # its two classes and its relation
words = st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 2), st.sampled_from("xyz")), min_size=1, max_size=20)


def counted(seen: list[Word]) -> Combinations | None:
    classes = {name: np.array([word[place] for word in seen]) for place, name in enumerate(SETS)}
    return Combinations.of(classes, Column.of([word[2] for word in seen]))


@given(words, st.lists(st.sampled_from("wxyz"), min_size=1, max_size=8), st.sampled_from(WEIGHTS), st.integers(0, 9))
def test_the_best_is_found_among_all_that_were_seen(
    seen: list[Word], relations: list[str], weight: float, seed: int
) -> None:
    found = counted(seen)
    whole = Counter((first, second) for first, second, _ in seen if first >= 0 and second >= 0)
    if found is None:
        assert not whole
        return
    assert Combinations.from_json(json.loads(json.dumps(found.to_json())), SETS).to_json() == found.to_json()
    random = np.random.default_rng(seed)
    scores = {name: random.normal(size=(len(relations), len(SETS[name]))).astype(np.float32) for name in SETS}
    best = found.best(scores, Column.of(relations), weight)
    for word, relation in enumerate(relations):
        beside = Counter(one[:2] for one in seen if one[2] == relation and min(one[:2]) >= 0)

        def value(pair: Any, word: int = word, beside: Counter[Any] = beside) -> float:  # noqa: ANN401 - two classes
            share = whole[pair] / whole.total()
            evidence = math.log((beside[pair] + share) / (beside.total() + 1) / share)
            return float(sum(scores[name][word, pair[place]] for place, name in enumerate(SETS)) + weight * evidence)

        chosen = tuple(int(best[name][word]) for name in SETS)
        assert chosen in whole
        assert value(chosen) == pytest.approx(max(map(value, whole)), abs=1e-4)


def test_only_what_was_scored_is_combined() -> None:
    found = counted([(0, 0, "x"), (1, 1, "x"), (1, 2, "y")])
    assert found is not None
    scores = np.array([[0.0, 1.0]], dtype=np.float32)
    assert {name: ids.tolist() for name, ids in found.best({"upos": scores}, None, 1.0).items()} == {"upos": [1]}
    assert found.best({"lemma": scores}, None, 1.0) == {}


def test_too_many_or_no_combinations_are_none() -> None:
    assert Combinations.of({}, Column.of(["x"])) is None
    assert counted([(-1, 0, "x")]) is None
    many = np.arange(MOST + 1)
    assert Combinations.of({"xpos": many}, Column.of(["x"] * len(many))) is None


@pytest.mark.parametrize(
    "change",
    [
        {"classes": [0, 5]},
        {"classes": [0, -1]},
        {"classes": [0, 1, 0]},
        {"classes": []},
        {"classes": ["a", "b"]},
        {"classes": [2**40, 0]},
        {"sets": []},
        {"seen": {"sizes": [1], "classes": [7], "counts": [1]}},
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any]) -> None:
    found = counted([(0, 0, "x"), (1, 1, "x")])
    assert found is not None
    with pytest.raises((TypeError, KeyError)):
        Combinations.from_json({**found.to_json(), **change}, SETS)


def test_the_weight_of_relations_is_that_by_which_most_is_right() -> None:
    """Scores that leave two parts of speech open are decided by relations, if those are told; else by the scores."""
    tree = Tree([2, 0, 2], ["x", "root", "y"])
    gold = Treebank.of([tree], [["A", "B", "B"]])
    labels = LabelSet((), (), (), (("upos", SETS["upos"]),))
    open_scores = np.log(np.array([[0.5, 0.5], [0.1, 0.9], [0.6, 0.4]], dtype=np.float32))
    train = Column.of(["x"] * 9 + ["y"] * 9 + ["root"] * 2)
    together = Combinations.of({"upos": np.array([0] * 9 + [1] * 9 + [0, 1])}, train)
    labels = LabelSet((), (), (), (("upos", SETS["upos"]),), combinations=together)
    weight = fitted_relation_weight(labels, {0: open_scores}, gold, gold.relations, ())
    assert weight == WEIGHTS[1]
    forms = gold.column("form")
    for relations, right in ((gold.relations, ["A", "B", "B"]), (None, ["A", "B", "A"])):
        found, _ = best_tags(
            labels,
            {0: open_scores.copy()},
            forms,
            TagWeights(relations=weight),
            relations=relations,
            probabilities=False,
        )
        assert found["upos"].texts() == right
    certain = {0: np.log(np.array([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9]], dtype=np.float32))}
    assert fitted_relation_weight(labels, certain, gold, gold.relations, ()) == WEIGHTS[0]
