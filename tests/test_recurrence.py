"""The sums of simple recurrent units: compared with formulas in numpy, and gradients with differences."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ropewalk.kernels import recurrence

LENGTHS = (3, 1, 7, 0, 2)
OFFSETS = np.cumsum([0, *LENGTHS]).astype(np.int32)
WORDS = int(OFFSETS[-1])


def by_formulas(gates: Any, inputs: Any) -> Any:  # noqa: ANN401 - arrays of some precision
    """Compute vectors sentence by sentence, in both directions."""
    width = inputs.shape[1]
    candidate, forget, keep = 2 * gates[:, :width] - 1, gates[:, width : 2 * width], gates[:, 2 * width :]
    states = np.zeros_like(inputs)
    for start, stop in pairwise(OFFSETS):
        for order, half in (
            (range(start, stop), slice(0, width // 2)),
            (range(stop - 1, start - 1, -1), slice(width // 2, width)),
        ):
            state = np.zeros(width // 2)
            for word in order:
                state = forget[word, half] * state + (1 - forget[word, half]) * candidate[word, half]
                states[word, half] = state
    return keep * states + (1 - keep) * inputs


@pytest.fixture
def arrays() -> tuple[Any, Any]:
    random = np.random.default_rng(1)
    inputs = random.uniform(-1, 1, (WORDS, 6)).astype(np.float32)
    return random.uniform(0, 1, (WORDS, 18)).astype(np.float32), inputs


def read(gates: Any, inputs: Any) -> tuple[Any, Any]:  # noqa: ANN401 - arrays
    states = np.zeros((WORDS + 1, inputs.shape[1]), dtype=np.float32)
    vectors = np.zeros(inputs.shape, dtype=np.float32)
    recurrence.read(gates, inputs, OFFSETS, states, vectors)
    return states, vectors


def test_vectors_are_those_of_the_formulas(arrays: tuple[Any, Any]) -> None:
    _, vectors = read(*arrays)
    assert np.abs(vectors - by_formulas(*arrays)).max() < 1e-6
    assert np.abs(vectors).max() <= 1


def test_neighbours_in_a_sentence_are_added() -> None:
    random = np.random.default_rng(2)
    rows = random.integers(0, 5, WORDS).astype(np.int32)  # words of five types
    table = random.standard_normal((5, 18)).astype(np.float32)
    vectors = np.full((WORDS, 6), np.nan, dtype=np.float32)
    recurrence.gather(table, rows, OFFSETS, vectors)
    own, to_next, to_last = (table[rows, start : start + 6] for start in (0, 6, 12))
    for start, stop in pairwise(OFFSETS):
        for word in range(start, stop):
            expected = own[word].copy()
            if word > start:
                expected += to_next[word - 1]
            if word + 1 < stop:
                expected += to_last[word + 1]
            assert np.allclose(vectors[word], expected, atol=1e-6)


def test_gradients_are_the_limits_of_differences(arrays: tuple[Any, Any]) -> None:
    gates, inputs = arrays
    states, _ = read(gates, inputs)
    weights = np.random.default_rng(3).standard_normal(inputs.shape).astype(np.float32)
    found = np.empty_like(gates), np.empty_like(inputs)
    gradients = recurrence.Gradients(weights, *found, np.zeros(6, dtype=np.float32))
    recurrence.differentiate(gates, inputs, OFFSETS, states, gradients)
    exact = [gates.astype(np.float64), inputs.astype(np.float64)]
    for number, gradient in enumerate(found):
        for place in np.ndindex(gradient.shape):
            sides = []
            for step in (1e-6, -1e-6):
                moved = [one.copy() for one in exact]
                moved[number][place] += step
                sides.append((by_formulas(*moved) * weights).sum())
            assert gradient[place] == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=1e-4)
