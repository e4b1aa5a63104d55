"""Probabilities of trees from decoders with arcs, compared with made-up scores of known reliability."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ropewalk.decoding import Best
from ropewalk.models.calibration import PLAIN, calibrate, confidences

WORDS, SENTENCES = 5, 4000


def made_up(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, Best, np.ndarray]:
    """Arcs that claim log-odds twice as high as they have, and labels that say nothing of them."""
    dice = np.random.default_rng(seed)
    words = WORDS * SENTENCES
    odds = dice.normal(1.5, 1.0, size=words)
    right = dice.random(words) < 1 / (1 + np.exp(-odds))
    heads = np.ones(words, dtype=np.int32)
    claimed = -np.log1p(np.exp(-2 * odds))
    arcs = np.full((words, WORDS + 1), -9.0, dtype=np.float32)
    arcs[:, 1] = claimed
    scores = np.log(dice.dirichlet([1.0, 1.0], size=words)).astype(np.float32)
    offsets = np.arange(SENTENCES + 1, dtype=np.int32) * WORDS
    none = np.zeros(SENTENCES, dtype=np.bool_)
    best = Best((np.zeros(words, dtype=np.int32),), heads, np.zeros(SENTENCES), none, none)
    return scores, arcs.reshape(-1), offsets, best, np.where(right, heads, 2).astype(np.int32)


def test_weights_make_probabilities_as_often_right_as_they_say() -> None:
    scores, arcs, offsets, best, gold = made_up(1)
    weights = calibrate(scores, arcs, offsets, best, gold)
    assert weights[:3] == pytest.approx((0.0, 0.0, 0.5), abs=0.1)
    scores, arcs, offsets, best, gold = made_up(2)
    sure, trees = confidences(scores, arcs, offsets, best, weights)
    right = best.heads == gold
    whole = right.reshape(-1, WORDS).all(axis=1)
    for said, true in ((sure, right), (trees, whole)):
        for low in np.arange(0.0, 1.0, 0.2):
            inside = (said >= low) & (said < low + 0.2)
            if inside.sum() > 300:
                assert said[inside].mean() == pytest.approx(true[inside].mean(), abs=0.06)
    plain, _ = confidences(scores, arcs, offsets, best, PLAIN)
    assert plain.mean() > right.mean() + 0.03, "what the arcs claim themselves is too much"


def test_shares_of_trees_are_evidence_enough() -> None:
    scores, arcs, offsets, best, gold = made_up(1)
    shares = np.exp(arcs.reshape(len(gold), -1)[:, 1].astype(np.float64))
    nothing = np.zeros_like(scores)
    weights = calibrate(nothing, np.zeros_like(arcs), offsets, replace(best, marginals=shares), gold)
    assert weights[:3] == pytest.approx((0.0, 0.0, 0.5), abs=0.1)
    sure, _ = confidences(nothing, np.zeros_like(arcs), offsets, replace(best, marginals=shares), weights)
    assert sure.mean() == pytest.approx((best.heads == gold).mean(), abs=0.01)


def test_data_without_a_mistake_give_finite_weights() -> None:
    scores, arcs, offsets, best, _ = made_up(3)
    weights = calibrate(scores, arcs, offsets, best, best.heads)
    assert np.isfinite(weights).all()
    sure, trees = confidences(scores, arcs, offsets, best, weights)
    assert sure.mean() > 0.95
    assert ((trees >= 0) & (trees <= 1)).all()
