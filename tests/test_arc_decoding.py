"""Trees by arc scores alone: sums over all trees, projective or not, against trees that are listed one by one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import all_heads
from ropewalk.core.trees import Trees, check_heads, projective
from ropewalk.decoding import arc_decoders, arc_sums, decode_arcs, mbr, spanning_tree_sums
from ropewalk.errors import MismatchError, UnknownNameError

LONGEST = 5
Floats = npt.NDArray[np.float64]
TREES = {
    words: np.array(
        [
            heads
            for heads in all_heads(LONGEST)
            if len(heads) == words and heads.count(0) == 1 and check_heads(heads, [0, words]).codes[0] == 0
        ],
        dtype=np.int32,
    )
    for words in range(1, LONGEST + 1)
}
SUMS = {"mbr": arc_sums, "mbr-nonprojective": spanning_tree_sums}


def trees_of(decoder: str, words: int) -> npt.NDArray[np.int32]:
    """List the trees that a decoder sums over."""
    trees = TREES[words]
    if decoder == "mbr-nonprojective":
        return trees
    return trees[projective(Trees(trees.reshape(-1), np.arange(len(trees) + 1) * words))]


def random_arcs(words: int, seed: int, scale: float = 1.0) -> Floats:
    return np.random.default_rng(seed).normal(size=(words, words + 1)).astype(np.float32).astype(np.float64) * scale


def listed(decoder: str, scores: Floats) -> tuple[Floats, float]:
    """Return the marginals of arcs and the log of the sum, tree by tree."""
    words = len(scores)
    trees = trees_of(decoder, words)
    totals = scores[np.arange(words), trees].sum(axis=1)
    log = totals.max() + np.log(np.exp(totals - totals.max()).sum())
    marginals = np.zeros_like(scores)
    for share, tree in zip(np.exp(totals - log), trees, strict=True):
        marginals[np.arange(words), tree] += share
    return marginals, float(log)


@pytest.mark.parametrize("decoder", SUMS)
@given(words=st.integers(1, LONGEST), seed=st.integers(0, 1 << 30), scale=st.sampled_from([0.1, 1.0, 4.0]))
@settings(max_examples=40, deadline=None)
def test_sums_by_arcs_are_those_of_all_trees(decoder: str, words: int, seed: int, scale: float) -> None:
    scores = random_arcs(words, seed, scale)
    sums = SUMS[decoder](scores.reshape(-1), [0, words])
    marginals, log = listed(decoder, scores)
    assert sums.logs[0] == pytest.approx(log, abs=1e-5)
    np.testing.assert_allclose(sums.arcs.reshape(scores.shape), marginals, atol=1e-6)
    assert sums.labels.shape == (words, 0)


@pytest.mark.parametrize("decoder", SUMS)
@given(words=st.integers(1, LONGEST), seed=st.integers(0, 1 << 30), related=st.booleans())
@settings(max_examples=40, deadline=None)
def test_mbr_finds_the_tree_with_the_highest_expected_accuracy(
    decoder: str, words: int, seed: int, *, related: bool
) -> None:
    scores = random_arcs(words, seed)
    likely = np.random.default_rng(seed).random(scores.shape)
    best = decode_arcs(
        scores.reshape(-1).astype(np.float32),
        [0, words],
        decoder=decoder,
        relations=(lambda words, heads: likely[words, heads]) if related else None,
    )
    marginals, _ = listed(decoder, scores)
    weights = marginals * np.where(marginals >= 0.05, likely, 0.0) if related else marginals
    highest = weights[np.arange(words), TREES[words]].sum(axis=1).max()
    assert weights[np.arange(words), best.heads].sum() == pytest.approx(highest, abs=1e-6)
    assert best.marginals is not None
    np.testing.assert_allclose(best.marginals, marginals[np.arange(words), best.heads], atol=1e-6)
    assert best.exact.all()


@given(words=st.integers(1, LONGEST), seed=st.integers(0, 1 << 30))
@settings(max_examples=40, deadline=None)
def test_exact_finds_the_tree_with_the_highest_score(words: int, seed: int) -> None:
    scores = random_arcs(words, seed)
    best = decode_arcs(scores.reshape(-1).astype(np.float32), [0, words])
    highest = scores[np.arange(words), TREES[words]].sum(axis=1).max()
    assert scores[np.arange(words), best.heads].sum() == pytest.approx(highest)
    assert best.scores[0] == pytest.approx(highest)
    assert best.marginals is None


@pytest.mark.parametrize("decoder", arc_decoders())
def test_many_sentences_are_decoded_as_each_is_alone(decoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mbr, "LONGEST", 8)  # one sentence is longer
    lengths = [4, 0, 9, 1, 4, 7]
    tables = [random_arcs(words, words + place).astype(np.float32) for place, words in enumerate(lengths)]
    whole = decode_arcs(
        np.concatenate([table.reshape(-1) for table in tables]), np.cumsum([0, *lengths]), decoder=decoder
    )
    alone = [decode_arcs(table.reshape(-1), [0, len(table)], decoder=decoder) for table in tables]
    assert whole.heads.tolist() == [head for one in alone for head in one.heads.tolist()]
    np.testing.assert_array_equal(whole.scores, [one.scores[0] for one in alone])
    assert whole.exact.tolist() == [decoder == "exact" or words <= 8 for words in lengths]
    assert whole.found.all()
    longest = slice(4, 13)
    if decoder != "exact":
        assert whole.marginals is not None
        assert (whole.marginals[longest] == 1.0).all()
        exact = decode_arcs(tables[2].reshape(-1), [0, 9])
        assert whole.heads[longest].tolist() == exact.heads.tolist()


@pytest.mark.parametrize("decoder", SUMS)
@pytest.mark.parametrize("scale", [50.0, 1e4, 1e30])
def test_scores_far_apart_give_probabilities(decoder: str, scale: float) -> None:
    for seed in range(20):
        scores = random_arcs(12, seed).astype(np.float32) * np.float32(scale)
        sums = SUMS[decoder](scores.reshape(-1), [0, 12])
        assert np.isfinite(sums.logs).all()
        assert ((sums.arcs >= 0) & (sums.arcs <= 1 + 1e-5)).all()
        best = decode_arcs(scores.reshape(-1), [0, 12], decoder=decoder)
        assert check_heads(best.heads, [0, 12]).roots[0] == 1


def test_wrong_input_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="joint"):
        decode_arcs(np.zeros(2, dtype=np.float32), [0, 1], decoder="joint")
    with pytest.raises(MismatchError, match="expected 6 in one row"):
        decode_arcs(np.zeros(5, dtype=np.float32), [0, 2])
