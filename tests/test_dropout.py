"""Dropout with random bytes: the shares and the mean of what is kept, and its gradient."""

from __future__ import annotations

import pytest
import torch

from ropewalk.training.dropout import Dropout


@pytest.mark.parametrize("share", [0.1, 0.33, 0.5])
def test_numbers_are_dropped_at_random_and_the_mean_stays(share: float) -> None:
    torch.manual_seed(1)
    numbers = torch.ones(400, 300, requires_grad=True)
    kept = Dropout(share)(numbers)
    assert torch.equal(torch.unique(kept), torch.tensor([0.0, 256 / (256 - round(256 * share))]))
    assert (kept == 0).float().mean().item() == pytest.approx(share, abs=0.01)
    assert kept.mean().item() == pytest.approx(1.0, abs=0.01)
    for dimension in (0, 1):  # no row and no column is kept or dropped together
        assert ((kept == 0).float().mean(dimension) - share).abs().max().item() < 0.16
    kept.sum().backward()
    assert numbers.grad is not None
    assert torch.equal(numbers.grad, kept.detach())


def test_nothing_is_dropped_in_prediction_or_with_a_share_of_none() -> None:
    numbers = torch.ones(10, 10)
    assert Dropout(0.0)(numbers) is numbers
    assert Dropout(0.5).eval()(numbers) is numbers
