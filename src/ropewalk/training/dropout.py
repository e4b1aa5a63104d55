"""Dropout with random bytes."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

BYTES = 256  # values of a byte


@final
class Dropout(nn.Module):
    """Dropout like torch's, but faster on a CPU: a random byte for each number decides whether it is kept.

    The probability `share` of setting a number to 0 is therefore rounded to a multiple of 1/256. Bytes are drawn eight
    at a time.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.dropped = round(share * BYTES)

    def forward(self, numbers: Tensor) -> Tensor:
        """Return the numbers, in training with some set to 0 and the others enlarged so that the mean stays."""
        if not self.training or not self.dropped:
            return numbers
        drawn = torch.empty((numbers.numel() + 7) // 8, dtype=torch.int64, device=numbers.device)
        drawn.random_(torch.iinfo(torch.int64).min, None)  # all 64 bits
        kept = drawn.view(torch.uint8)[: numbers.numel()].view(numbers.shape) >= self.dropped
        return numbers * (kept.to(numbers.dtype) * (BYTES / (BYTES - self.dropped)))
