"""The losses of whole sequences and whole trees, against the sums over all of them written out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ropewalk.core.columns import Column  # noqa: E402 - likewise
from ropewalk.core.ragged import Offsets  # noqa: E402 - likewise
from ropewalk.core.trees import Tree, is_projective  # noqa: E402 - likewise
from ropewalk.decoding import machine_of  # noqa: E402 - after the check for torch
from ropewalk.encodings import Labels, get  # noqa: E402 - likewise
from ropewalk.errors import TrainingError  # noqa: E402 - likewise
from ropewalk.models.label_sets import MISSING  # noqa: E402 - likewise
from ropewalk.training import crf  # noqa: E402 - likewise
from ropewalk.training.crf import SequenceLoss, TreeLoss, TreeMarginals, Wanted, whole_loss  # noqa: E402 - likewise


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
    loss = SequenceLoss(encoding, alphabet)(scores, None, Wanted(wanted, wanted), lengths)
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
    sequences, nothing = SequenceLoss("optimal", ("<",)), torch.zeros(2, dtype=torch.long)
    with pytest.raises(TrainingError, match="no sequence of the 1 labels of optimal"):
        sequences(torch.zeros(2, 1), None, Wanted(nothing, nothing), [2])


@pytest.mark.parametrize("encoding", ["optimal", "four-bit"])
def test_the_loss_of_trees_and_its_gradient_equal_the_sum_written_out(encoding: str) -> None:
    alphabet = get(encoding).alphabet
    assert alphabet is not None
    torch.manual_seed(1)
    lengths = [3, 1, 4]
    scores = torch.randn(sum(lengths), len(alphabet), requires_grad=True)
    arcs = torch.randn(3, 4, 5, requires_grad=True)
    rows = [[row for row in well_formed(encoding, n) if is_projective(tree_of(encoding, row))] for n in lengths]
    trees = [[tree_of(encoding, row).heads.tolist() for row in options] for options in rows]
    right = [len(options) // 2 for options in rows]
    wanted = torch.tensor([label for options, one in zip(rows, right, strict=True) for label in options[one]])
    heads = torch.tensor([head for options, one in zip(trees, right, strict=True) for head in options[one]])
    loss = TreeLoss(encoding, alphabet)(scores, arcs, Wanted(wanted, heads), lengths)
    found = torch.autograd.grad(loss, (scores, arcs))
    expected = torch.zeros(())
    for number, (own, options) in enumerate(zip(scores.split(lengths), rows, strict=True)):
        words = torch.arange(len(own))
        totals = torch.stack(
            [
                own[words, torch.tensor(row)].sum() + arcs[number][words, torch.tensor(tree)].sum()
                for row, tree in zip(options, trees[number], strict=True)
            ]
        )
        expected = expected + torch.logsumexp(totals, 0) - totals[right[number]]
    assert loss.item() == pytest.approx(expected.item(), abs=1e-5)
    for one, other in zip(found, torch.autograd.grad(expected, (scores, arcs)), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), atol=1e-5)


@pytest.mark.parametrize("encoding", ["optimal", "four-bit"])
@pytest.mark.parametrize("weight", [0.3, 1.0])
def test_the_share_of_a_teacher_is_the_cross_entropy_of_two_distributions_over_trees(
    encoding: str, weight: float
) -> None:
    alphabet = get(encoding).alphabet or ()
    torch.manual_seed(2)
    words, n = torch.arange(4), 4
    rows = [row for row in well_formed(encoding, n) if is_projective(tree_of(encoding, row))]
    trees = [tree_of(encoding, row).heads.tolist() for row in rows]
    scores = torch.randn(n, len(alphabet), requires_grad=True)
    arcs = torch.randn(1, n, n + 1, requires_grad=True)
    totals = torch.stack(
        [
            scores[words, torch.tensor(row)].sum() + arcs[0][words, torch.tensor(tree)].sum()
            for row, tree in zip(rows, trees, strict=True)
        ]
    )
    logs = totals.log_softmax(0)
    teacher = torch.randn(len(rows)).softmax(0)  # any distribution over trees, also one that no scores give
    labels, heads = torch.zeros(n, len(alphabet)), torch.zeros(n, n + 1)
    for share, row, tree in zip(teacher, rows, trees, strict=True):
        labels[words, torch.tensor(row)] += share
        heads[words, torch.tensor(tree)] += share
    wanted = Wanted(torch.tensor(rows[3]), torch.tensor(trees[3]), TreeMarginals(weight, labels, heads))
    loss = TreeLoss(encoding, alphabet)(scores, arcs, wanted, [n])
    expected = -(1 - weight) * logs[3] - weight * (teacher * logs).sum()
    assert loss.item() == pytest.approx(expected.item(), abs=1e-4)
    found = torch.autograd.grad(loss, (scores, arcs))
    for one, other in zip(found, torch.autograd.grad(expected, (scores, arcs)), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), atol=1e-5)


def test_a_label_that_the_model_lacks_counts_nothing() -> None:
    scores, arcs, heads = torch.zeros(2, 16), torch.zeros(1, 2, 3), torch.tensor([2, 0])
    whole = TreeLoss("four-bit", get("four-bit").alphabet or ())
    missing = whole(scores, arcs, Wanted(torch.tensor([MISSING, 12]), heads), [2])
    assert missing.item() == pytest.approx(np.log(2), abs=1e-5), "there are two trees of two words"


def tree_of(encoding: str, row: tuple[int, ...]) -> Tree:
    alphabet = get(encoding).alphabet or ()
    none = Column(np.zeros(len(row), dtype=np.int32), ("_",))
    labels = Labels(get(encoding).spec, Offsets.one(len(row)), (Column(np.array(row, dtype=np.uint8), alphabet),), none)
    return Tree(get(encoding).decode(labels).heads)


def test_sentences_too_long_to_be_summed_are_learnt_word_by_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crf, "LONGEST", 2)
    alphabet = get("four-bit").alphabet or ()
    scores, arcs = torch.randn(5, 16), torch.randn(2, 3, 4)
    wanted, heads = torch.tensor([13, 8, 13, 9, 12]), torch.tensor([0, 1, 0, 1, 2])
    whole = TreeLoss("four-bit", alphabet)
    together = whole(scores, arcs, Wanted(wanted, heads), [2, 3])
    short = whole(scores[:2], arcs[:1], Wanted(wanted[:2], heads[:2]), [2])
    words = torch.nn.functional.cross_entropy(scores[2:], wanted[2:], reduction="sum")
    words += torch.nn.functional.cross_entropy(arcs[1], heads[2:], reduction="sum")
    assert together.item() == pytest.approx((short + words).item(), rel=1e-5)


def test_losses_of_wholes_are_for_encodings_that_have_them() -> None:
    for name in ("sequences", "trees"):
        with pytest.raises(TrainingError, match=f"model.loss = '{name}' needs an encoding.*found 'relative'.*optimal"):
            whole_loss(name, "relative", ("+1", "-1"))
    assert whole_loss("words", "relative", ("+1", "-1")) is None
