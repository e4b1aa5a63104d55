"""The losses of whole label sequences and of whole trees: how much less likely the right one is than all together.

Conditional random fields: over the automaton of an encoding's stack, or over all projective trees, each with its labels
and its arcs. The sum over all, and the probabilities that are its gradient, come from the kernels of decoding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
import torch
from torch import Tensor

from ropewalk import encodings
from ropewalk.core.ragged import starts_of
from ropewalk.decoding import (
    DEPTH,
    arc_sums,
    exact_encodings,
    machine_of,
    marginals,
    mbr_encodings,
    scored,
    spanning_tree_sums,
    tree_sums,
)
from ropewalk.decoding.expected import LONGEST, compact_labels
from ropewalk.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.arrays import Ints


class WholeLoss(ABC):
    """The loss of what belongs together in a sentence."""

    has_labels: ClassVar[bool]  # whether it is a loss of labels,
    has_arcs: ClassVar[bool]  # and whether it is one of arcs

    @abstractmethod
    def __call__(
        self, scores: Tensor | None, arcs: Tensor | None, wanted: Tensor | None, heads: Tensor, lengths: list[int]
    ) -> Tensor:
        """Return the negative log-likelihood of what is right, summed over sentences.

        `scores` is [words, labels], `arcs` [sentences, most words, most words + 1], `wanted` and `heads` are the right
        label and head of each word, `lengths` the words of each sentence.
        """


@final
@dataclass(frozen=True)
class SequenceLoss(WholeLoss):
    """The loss of label sequences among all that are well-formed.

    The depth must be enough for the right sequences: see `ropes.rope_thickness`.
    """

    encoding: str
    alphabet: tuple[str, ...]
    depth: int = DEPTH
    has_labels = True
    has_arcs = False

    def __call__(
        self, scores: Tensor | None, arcs: Tensor | None, wanted: Tensor | None, heads: Tensor, lengths: list[int]
    ) -> Tensor:
        """Return the negative log-likelihood of the right labels, summed over sentences."""
        del arcs, heads
        assert scores is not None  # noqa: S101 - see `has_labels`
        assert wanted is not None  # noqa: S101 - likewise
        total: Tensor = _SequenceSum.apply(scores, starts_of(lengths).astype(np.int32), self)
        return total - scores.gather(1, wanted[:, None]).sum()


@final
@dataclass(frozen=True)
class TreeLoss(WholeLoss):
    """The loss of trees, by labels and arcs together, among all projective ones with one root.

    Sentences too long to be summed are learnt word by word: labels and arcs as if any went with any.
    """

    encoding: str
    alphabet: tuple[str, ...]
    has_labels = True
    has_arcs = True

    def __call__(
        self, scores: Tensor | None, arcs: Tensor | None, wanted: Tensor | None, heads: Tensor, lengths: list[int]
    ) -> Tensor:
        """Return the negative log-likelihood of the right trees, summed over sentences."""
        assert scores is not None  # noqa: S101 - see `has_labels`
        assert wanted is not None  # noqa: S101 - likewise
        assert arcs is not None  # noqa: S101 - see `building.head_shape`
        scores, arcs = scores.float(), arcs.float()
        total = -scores.gather(1, wanted[:, None]).sum()
        short: list[tuple[Tensor, Tensor]] = []
        for table, own, above in zip(arcs, scores.split(lengths), heads.split(lengths), strict=True):
            words = len(own)
            among = table[:words, : words + 1]
            total = total - among.gather(1, above[:, None]).sum()
            if words <= LONGEST:
                short.append((own, among.flatten()))
            else:
                total = total + own.logsumexp(-1).sum() + among.logsumexp(-1).sum()
        if short:
            own, among = (torch.cat(some) for some in zip(*short, strict=True))
            total = total + _TreeSum.apply(own, among, [len(one) for one, _ in short], self)
        return total


@final
@dataclass(frozen=True)
class ArcTreeLoss(WholeLoss):
    """The loss of trees by arcs alone, among all projective trees with one root or among all trees with one root.

    Sentences of more than `LONGEST` words are learnt word by word.
    """

    projective: bool
    has_labels = False
    has_arcs = True

    def __call__(
        self, scores: Tensor | None, arcs: Tensor | None, wanted: Tensor | None, heads: Tensor, lengths: list[int]
    ) -> Tensor:
        """Return the negative log-likelihood of the right trees, summed over sentences."""
        del scores, wanted
        assert arcs is not None  # noqa: S101 - see `building.head_shape`
        total = arcs.new_zeros(())
        short: list[Tensor] = []
        for table, above in zip(arcs.float(), heads.split(lengths), strict=True):
            words = len(above)
            among = table[:words, : words + 1]
            total = total - among.gather(1, above[:, None]).sum()
            if words <= LONGEST:
                short.append(among)
            else:
                total = total + among.logsumexp(-1).sum()
        if short:
            among = torch.cat([table.flatten() for table in short])
            total = total + _ArcSum.apply(among, [len(table) for table in short], self)
        return total


def arc_loss(name: str) -> WholeLoss | None:
    """Return the loss that `model.loss` names for a parser with arcs alone, or None for a loss of single words."""
    if name == "sequences":
        raise TrainingError(
            "model.loss = 'sequences' needs labels, and model.parser = 'biaffine' has none; "
            "use model.loss = 'words', 'trees' or 'trees-nonprojective'"
        )
    return None if name == "words" else ArcTreeLoss(projective=name == "trees")


def whole_loss(name: str, encoding: str, alphabet: Sequence[str]) -> WholeLoss | None:
    """Make the loss that `model.loss` asks for, if it is not that of single words."""
    if name == "words":
        return None
    if name == "trees-nonprojective":
        raise TrainingError(
            "model.loss = 'trees-nonprojective' sums over arcs alone, and model.parser = 'labels' has labels; "
            "use model.loss = 'words', 'sequences' or 'trees', or model.parser = 'biaffine'"
        )
    found = encodings.get(encoding)
    kind: type[SequenceLoss | TreeLoss]
    if name == "trees":
        kind, what, known = TreeLoss, "whose trees can be summed", mbr_encodings
        fits = compact_labels(found, alphabet) is not None
    else:
        kind, what, known = SequenceLoss, "that is decoded exactly", exact_encodings
        fits = machine_of(found, alphabet) is not None
    if not fits:
        raise TrainingError(
            f"model.loss = {name!r} needs an encoding {what}, found {encoding!r}; "
            f"use {', '.join(known())}, with or without a scheme, or model.loss = 'words'"
        )
    return kind(encoding, tuple(alphabet))


class _SequenceSum(torch.autograd.Function):
    """The logarithm of the sum over all well-formed sequences of every sentence, added up."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, offsets: Ints, loss: SequenceLoss) -> Tensor:  # noqa: ANN401 - torch's signature
        encoding = encodings.get(loss.encoding)
        sums = marginals(scored(encoding, _numbers(scores), loss.alphabet, offsets=offsets), depth=loss.depth)
        if not np.isfinite(sums.logs).all():
            raise TrainingError(
                f"no sequence of the {len(loss.alphabet)} labels of {loss.encoding} is well-formed for a sentence"
            )
        ctx.save_for_backward(torch.from_numpy(sums.labels).to(scores))
        return scores.new_tensor(float(sums.logs.sum()))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401 - torch's signature
        (probabilities,) = ctx.saved_tensors
        return grads[0] * probabilities, None, None


class _TreeSum(torch.autograd.Function):
    """The logarithm of the sum over all trees of every sentence, added up."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, arcs: Tensor, lengths: Sequence[int], loss: TreeLoss) -> Tensor:  # noqa: ANN401 - torch's signature
        offsets = starts_of(lengths).astype(np.int32)
        sums = tree_sums(encodings.get(loss.encoding), _numbers(scores), offsets, loss.alphabet, _numbers(arcs))
        if not np.isfinite(sums.logs).all():
            raise TrainingError(f"no tree has one of the {len(loss.alphabet)} labels of {loss.encoding} at each word")
        ctx.save_for_backward(torch.from_numpy(sums.labels).to(scores), torch.from_numpy(sums.arcs).to(arcs))
        return scores.new_tensor(float(sums.logs.sum()))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401 - torch's signature
        labels, arcs = ctx.saved_tensors
        return grads[0] * labels, grads[0] * arcs, None, None


class _ArcSum(torch.autograd.Function):
    """The logarithm of the sum over all trees of every sentence by arcs alone, added up."""

    @staticmethod
    def forward(ctx: Any, arcs: Tensor, lengths: Sequence[int], loss: ArcTreeLoss) -> Tensor:  # noqa: ANN401 - torch's signature
        sum_over = arc_sums if loss.projective else spanning_tree_sums
        sums = sum_over(_numbers(arcs), starts_of(lengths).astype(np.int32))
        ctx.save_for_backward(torch.from_numpy(sums.arcs).to(arcs))
        return arcs.new_tensor(float(sums.logs.sum()))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401 - torch's signature
        (probabilities,) = ctx.saved_tensors
        return grads[0] * probabilities, None, None


def _numbers(scores: Tensor) -> Any:  # noqa: ANN401 - an array
    return np.ascontiguousarray(scores.detach().cpu().double().numpy())
