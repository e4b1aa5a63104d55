"""The loss of whole label sequences: how much less likely the right one is than all that are well-formed.

A conditional random field over the automaton of an encoding's stack. The sum over all sequences and the probability of
every label, which is its gradient, come from the kernels of exact decoding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from ropewalk import encodings
from ropewalk.decoding import DEPTH, exact_encodings, machine_of, marginals, scored
from ropewalk.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.trees import Ints


class _LogSum(torch.autograd.Function):
    """The logarithm of the sum over all well-formed sequences of every sentence, added up."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, offsets: Ints, encoding: str, alphabet: Sequence[str], depth: int) -> Tensor:  # noqa: ANN401, PLR0913, PLR0917 - torch's signature
        given = scored(encodings.get(encoding), scores.detach().cpu().double().numpy(), alphabet, offsets=offsets)
        sums = marginals(given, depth=depth)
        if not np.isfinite(sums.logs).all():
            raise TrainingError(
                f"no sequence of the {len(alphabet)} labels of {encoding} is well-formed for a sentence"
            )
        ctx.save_for_backward(torch.from_numpy(sums.labels).to(scores))
        return scores.new_tensor(float(sums.logs.sum()))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401 - torch's signature
        (probabilities,) = ctx.saved_tensors
        return grads[0] * probabilities, None, None, None, None


def demand_sequences(encoding: str, alphabet: Sequence[str]) -> None:
    """Raise an error if whole sequences of an encoding cannot be summed."""
    machine = machine_of(encodings.get(encoding), alphabet)
    if machine is None:
        raise TrainingError(
            f"model.loss = 'sequences' needs an encoding that is decoded exactly, found {encoding!r}; "
            f"use {', '.join(exact_encodings())}, with or without a scheme, or model.loss = 'words'"
        )


def crf_loss(  # noqa: PLR0913 - what is scored and what is right
    scores: Tensor,
    wanted: Tensor,
    lengths: Sequence[int],
    encoding: str,
    alphabet: Sequence[str],
    *,
    depth: int = DEPTH,
) -> Tensor:
    """Give the negative log-likelihood of the right labels, summed over sentences.

    `scores` is [words, labels], `wanted` the right label of each word, `lengths` the words of each sentence. The depth
    must be enough for the right sequences: see `ropes.rope_thickness`.
    """
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    right = scores.gather(1, wanted[:, None]).sum()
    total: Tensor = _LogSum.apply(scores, offsets, encoding, tuple(alphabet), depth)
    return total - right
