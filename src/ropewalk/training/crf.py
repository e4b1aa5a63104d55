"""Losses of whole label sequences and whole trees: the negative log-likelihood of the gold sequence or tree.

These are conditional random fields, over the label sequences that an encoding's stack automaton accepts, or over all
trees of a sentence. The kernels of `decoding` compute the log-sum of the scores of all sequences or trees, and the
marginal probabilities, which are the gradient of that log-sum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
import torch
from torch import Tensor

from ropewalk import encodings
from ropewalk.core.ragged import starts_of
from ropewalk.decoding import (
    DEPTH,
    arc_sums,
    encodings_of,
    exact_encodings,
    get,
    machine_of,
    marginals,
    scored,
    spanning_tree_sums,
    tree_sums,
)
from ropewalk.decoding.expected import LONGEST
from ropewalk.errors import TrainingError
from ropewalk.models.label_sets import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from ropewalk.core.arrays import Ints

    Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TreeMarginals:
    """A teacher's marginals of labels, [words, labels], and of arcs, [words, most words + 1]."""

    weight: float  # share of the loss that is the teacher's
    labels: Tensor
    arcs: Tensor


@dataclass(frozen=True, slots=True)
class Wanted:
    """The gold label and head of each word, and a teacher's marginals of them, if there is a teacher."""

    labels: Tensor | None
    heads: Tensor
    taught: TreeMarginals | None = None


class WholeLoss(ABC):
    """Base class of losses of a sentence's whole label sequence or whole tree."""

    has_labels: ClassVar[bool]  # whether it needs scores of labels
    has_arcs: ClassVar[bool]  # whether it needs scores of arcs

    @abstractmethod
    def __call__(self, scores: Tensor | None, arcs: Tensor | None, wanted: Wanted, lengths: list[int]) -> Tensor:
        """Return the negative log-likelihood of the gold sequences or trees, summed over sentences.

        `scores` is [words, labels], `arcs` is [sentences, most words, most words + 1], and `lengths` has each
        sentence's number of words. If there is a teacher, a part of the loss is the cross-entropy with the teacher's
        distribution of trees.
        """

    @abstractmethod
    def sums(self, offsets: Ints, *scores: Floats) -> tuple[Floats, ...]:
        """Return the log-sum of the scores of all sequences or trees for each sentence, and its gradients.

        There is one gradient for each array in `scores`. `offsets` are those of sentences.
        """


@final
@dataclass(frozen=True)
class SequenceLoss(WholeLoss):
    """Negative log-likelihood of the gold label sequence among all well-formed sequences.

    `depth` limits the stack; it must be enough for the gold sequences: see `ropes.rope_thickness`.
    """

    encoding: str
    alphabet: tuple[str, ...]
    depth: int = DEPTH
    has_labels = True
    has_arcs = False

    def __call__(self, scores: Tensor | None, arcs: Tensor | None, wanted: Wanted, lengths: list[int]) -> Tensor:
        """Return the negative log-likelihood of the gold labels, summed over sentences; a teacher is not supported."""
        del arcs
        assert scores is not None  # noqa: S101 - see `has_labels`
        assert wanted.labels is not None  # noqa: S101 - likewise
        return _log_sum(self, lengths, scores) - scores.gather(1, wanted.labels[:, None]).sum()

    def sums(self, offsets: Ints, *scores: Floats) -> tuple[Floats, ...]:
        """Return the log-sum over well-formed label sequences for each sentence, and the marginals of labels.

        Raise `TrainingError` if a sentence has no well-formed sequence.
        """
        sums = marginals(
            scored(encodings.get(self.encoding), scores[0], self.alphabet, offsets=offsets), depth=self.depth
        )
        if not np.isfinite(sums.logs).all():
            problem = f"no sequence of the {len(self.alphabet)} labels of {self.encoding} is well-formed for a sentence"
            raise TrainingError(f"{problem}; train on more sentences, or use model.loss = 'words'")
        return sums.logs, sums.labels


class _AnyTreeLoss(WholeLoss):
    """Base class of losses of trees with one root; sentences of more than `LONGEST` words are learnt word by word."""

    has_arcs = True

    def __call__(self, scores: Tensor | None, arcs: Tensor | None, wanted: Wanted, lengths: list[int]) -> Tensor:
        """Return the negative log-likelihood of the gold trees, summed over sentences.

        A tree's score is a sum over its labels and arcs. Therefore the mean score of a teacher's trees depends only on
        the teacher's marginals. The log-sum over all trees minus this mean is the cross-entropy of the two
        distributions.
        """
        assert arcs is not None  # noqa: S101 - see `has_arcs`
        taught, heads = wanted.taught, wanted.heads
        weight = taught.weight if taught else 0.0
        sizes = torch.tensor(lengths, device=arcs.device)
        heads_of_all = torch.arange(arcs.shape[2], device=arcs.device)
        rows = arcs.float()[heads_of_all[:-1] < sizes[:, None]]  # a word's scores of heads
        sizes = sizes.repeat_interleave(sizes)[:, None]  # of each word's sentence
        inside, whole = heads_of_all <= sizes, sizes[:, 0] <= LONGEST
        soft = taught.arcs[:, : arcs.shape[2]] if taught else None
        total = -_mean_score(rows, heads, weight, soft)
        parts = [rows[inside & whole[:, None]]]
        alone = [rows.masked_fill(~inside, -torch.inf)[~whole]]
        if scores is not None and wanted.labels is not None:
            total = total - _mean_score(scores.float(), wanted.labels, weight, taught.labels if taught else None)
            parts.insert(0, scores.float()[whole])
            alone.append(scores.float()[~whole])
        if whole.any():
            total = total + _log_sum(self, [words for words in lengths if words <= LONGEST], *parts)
        if not whole.all():
            total = total + torch.stack([part.logsumexp(-1).sum() for part in alone]).sum()
        return total


def _mean_score(scores: Tensor, right: Tensor, weight: float, soft: Tensor | None) -> Tensor:
    """Return the sum of the scores of the gold classes `right`; missing ones do not count.

    With a teacher's marginals `soft`, mix it with their mean score, which counts with `weight`.
    """
    known = right != MISSING  # labels that only a teacher's trees have are missing
    gold = scores.gather(1, right.clamp(min=0)[:, None])[known].sum()
    return gold if soft is None else (1.0 - weight) * gold + weight * (soft * scores).sum()


@final
@dataclass(frozen=True)
class TreeLoss(_AnyTreeLoss):
    """Negative log-likelihood of the gold tree among all projective trees with one root.

    Trees are scored with labels and arcs.
    """

    encoding: str
    alphabet: tuple[str, ...]
    has_labels = True

    def sums(self, offsets: Ints, *scores: Floats) -> tuple[Floats, ...]:
        """Return the log-sum over projective trees for each sentence, and the marginals of labels and of arcs.

        Raise `TrainingError` if a sentence has no tree that the alphabet of labels can encode.
        """
        labels, arcs = scores
        sums = tree_sums(encodings.get(self.encoding), labels, offsets, self.alphabet, arcs)
        if not np.isfinite(sums.logs).all():
            problem = f"no tree has one of the {len(self.alphabet)} labels of {self.encoding} at each word"
            raise TrainingError(f"{problem}; train on more sentences, or use model.loss = 'words'")
        return sums.logs, sums.labels, sums.arcs


@final
@dataclass(frozen=True)
class ArcTreeLoss(_AnyTreeLoss):
    """Negative log-likelihood of the gold tree among all trees with one root, scored with arcs alone.

    With `projective`, it is among projective trees only.
    """

    projective: bool
    has_labels = False

    def sums(self, offsets: Ints, *scores: Floats) -> tuple[Floats, ...]:
        """Return the log-sum over trees for each sentence, and the marginals of arcs.

        The sum is over projective trees if `projective` is true, otherwise over all trees.
        """
        sums = (arc_sums if self.projective else spanning_tree_sums)(scores[0], offsets)
        return sums.logs, sums.arcs


def arc_loss(name: str) -> WholeLoss | None:
    """Return the loss that `model.loss` names for a parser with arcs alone, or None for a loss of single words."""
    if name == "sequences":
        raise TrainingError(
            "model.loss = 'sequences' needs labels, and model.parser = 'biaffine' has none; "
            "use model.loss = 'words', 'trees' or 'trees-nonprojective'"
        )
    return None if name == "words" else ArcTreeLoss(projective=name == "trees")


def whole_loss(name: str, encoding: str, alphabet: Sequence[str]) -> WholeLoss | None:
    """Return the loss that `model.loss` names for a parser with labels, or None for a loss of single words."""
    if name == "words":
        return None
    if name == "trees-nonprojective":
        raise TrainingError(
            "model.loss = 'trees-nonprojective' sums over arcs alone, and model.parser = 'labels' has labels; "
            "use model.loss = 'words', 'sequences' or 'trees', or model.parser = 'biaffine'"
        )
    kind: type[SequenceLoss | TreeLoss]
    known: Callable[[], tuple[str, ...]]
    if name == "trees":
        kind, what, known = TreeLoss, "whose trees can be summed", partial(encodings_of, "mbr")
        fits = get("mbr").supports(encodings.get(encoding), alphabet)
    else:
        kind, what, known = SequenceLoss, "that is decoded exactly", exact_encodings
        fits = machine_of(encodings.get(encoding), alphabet) is not None
    if not fits:
        raise TrainingError(
            f"model.loss = {name!r} needs an encoding {what}, found {encoding!r}; "
            f"use {', '.join(known())}, with or without a scheme, or model.loss = 'words'"
        )
    return kind(encoding, tuple(alphabet))


def _log_sum(loss: WholeLoss, lengths: Sequence[int], *scores: Tensor) -> Tensor:
    total: Tensor = _LogSum.apply(partial(loss.sums, starts_of(lengths).astype(np.int32)), *scores)
    return total


class _LogSum(torch.autograd.Function):
    """Differentiable sum of the log-sums of all sentences; the gradients are those that `sums` returns with them."""

    @staticmethod
    def forward(ctx: Any, sums: Callable[..., tuple[Floats, ...]], *scores: Tensor) -> Tensor:  # noqa: ANN401 - torch's signature
        arrays = [np.ascontiguousarray(tensor.detach().cpu().double().numpy()) for tensor in scores]
        logs, *gradients = sums(*arrays)
        pairs = zip(gradients, scores, strict=True)
        ctx.save_for_backward(*(torch.from_numpy(gradient).to(tensor) for gradient, tensor in pairs))
        return scores[0].new_tensor(float(logs.sum()))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401 - torch's signature
        return None, *(grads[0] * gradient for gradient in ctx.saved_tensors)
