"""Maximum spanning trees against brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import check_heads
from ropewalk.decoding.spanning import spanning_tree
from ropewalk.errors import MismatchError


def is_tree(heads: list[int]) -> bool:
    found = check_heads(heads, Offsets.one(len(heads)))
    return not found.codes.any() and found.roots.tolist() == [1]


def total(scores: np.ndarray[tuple[int, int], np.dtype[np.float64]], heads: list[int]) -> float:
    return float(sum(scores[word, head] for word, head in enumerate(heads)))


@pytest.mark.parametrize("words", range(1, 6))
def test_the_tree_is_the_best_of_all_with_one_root(words: int) -> None:
    random = np.random.default_rng(words)
    trees = [list(heads) for heads in product(range(words + 1), repeat=words) if is_tree(list(heads))]
    for _ in range(60):
        scores = random.normal(size=(words, words + 1)) * random.choice([0.1, 1.0, 50.0])
        scores[:, 0] += random.choice([0.0, 5.0, -5.0])  # a root that every word would like, or none
        heads = spanning_tree(scores).tolist()
        assert is_tree(heads)
        assert total(scores, heads) == pytest.approx(max(total(scores, tree) for tree in trees))


def test_ties_and_long_sentences_give_trees() -> None:
    assert is_tree(spanning_tree(np.zeros((7, 8))).tolist())
    random = np.random.default_rng(0)
    for words in (50, 120):
        assert is_tree(spanning_tree(np.round(random.normal(size=(words, words + 1)), 1)).tolist())
    assert spanning_tree(np.zeros((0, 1))).tolist() == []


def test_wrong_scores_are_refused() -> None:
    with pytest.raises(MismatchError, match="shape"):
        spanning_tree(np.zeros((3, 3)))
    with pytest.raises(MismatchError, match="finite"):
        spanning_tree(np.array([[np.nan, 0.0]]))
