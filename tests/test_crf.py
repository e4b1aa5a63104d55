"""The loss of whole sequences, against the sum over all of them written out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ropewalk.decoding import machine_of  # noqa: E402 - after the check for torch
from ropewalk.encodings import get  # noqa: E402 - likewise
from ropewalk.errors import TrainingError  # noqa: E402 - likewise
from ropewalk.training.crf import crf_loss  # noqa: E402 - likewise


def well_formed(encoding: str, words: int) -> list[tuple[int, ...]]:
    alphabet = get(encoding).alphabet
    assert alphabet is not None
    machine = machine_of(get(encoding), alphabet)
    assert machine is not None
    found: list[tuple[tuple[int, ...], object]] = [((), machine.start)]
    for _ in range(words):
        steps = (((*row, label), machine.step(state, label)) for row, state in found for label in range(len(alphabet)))
        found = [(row, after[0]) for row, after in steps if after is not None]
    return [row for row, state in found if machine.accepts(state)]


@pytest.mark.parametrize("encoding", ["optimal", "four-bit", "hexatags"])
def test_value_and_gradient_equal_the_sum_written_out(encoding: str) -> None:
    alphabet = get(encoding).alphabet
    assert alphabet is not None
    torch.manual_seed(1)
    lengths = [3, 1, 4]
    scores = torch.randn(sum(lengths), len(alphabet), dtype=torch.float64, requires_grad=True)
    rows = [well_formed(encoding, n) for n in lengths]
    wanted = torch.tensor(list(itertools.chain.from_iterable(options[len(options) // 2] for options in rows)))
    loss = crf_loss(scores, wanted, lengths, encoding, alphabet)
    loss.backward()  # type: ignore[no-untyped-call] # torch has no types for it
    plain = scores.detach().clone().requires_grad_()
    expected = torch.zeros((), dtype=torch.float64)
    start = 0
    for n, options in zip(lengths, rows, strict=True):
        part = plain[start : start + n]
        totals = torch.stack([part[torch.arange(n), torch.tensor(row)].sum() for row in options])
        right = part[torch.arange(n), wanted[start : start + n]].sum()
        expected = expected + torch.logsumexp(totals, 0) - right
        start += n
    expected.backward()
    assert loss.item() == pytest.approx(expected.item(), abs=1e-9)
    assert scores.grad is not None
    assert plain.grad is not None
    np.testing.assert_allclose(scores.grad.numpy(), plain.grad.numpy(), atol=1e-9)


def test_labels_that_spell_nothing_are_refused() -> None:
    with pytest.raises(TrainingError, match="no sequence of the 1 labels of optimal"):
        crf_loss(torch.zeros(2, 1), torch.zeros(2, dtype=torch.long), [2], "optimal", ("<",))
