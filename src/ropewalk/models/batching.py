"""Which sentences go together: batches by token budget and length, shuffled by a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

POOL = 50  # batches whose sentences are sorted together


def shuffled(sizes: npt.NDArray[Any], budget: int, seed: int, epoch: int) -> list[list[int]]:
    """Cut sentences into batches of at most `budget` tokens, padding included, in an order that seed and epoch fix.

    Sentences are shuffled, sorted by size within pools so that little is padded, and the batches shuffled again.
    A sentence beyond the budget is a batch of its own.
    """
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(sizes))
    filled = np.cumsum(sizes[order]) // max(budget * POOL, 1)
    batches = []
    for pool in range(int(filled[-1]) + 1 if len(filled) else 0):
        chosen = order[filled == pool]
        chosen = chosen[np.argsort(sizes[chosen], kind="stable")]
        batches += packed(chosen.tolist(), sizes.tolist(), budget)
    return [batches[place] for place in random.permutation(len(batches))]


def packed(chosen: Sequence[int], sizes: Sequence[int], budget: int) -> list[list[int]]:
    """Cut a list of sentences, in order, into batches of at most `budget` tokens, padding included."""
    batches: list[list[int]] = []
    longest = 0
    for sentence in chosen:
        longest = max(longest, sizes[sentence])
        if not batches or longest * (len(batches[-1]) + 1) > budget:
            batches.append([])
            longest = sizes[sentence]
        batches[-1].append(sentence)
    return batches


def alike(sizes: Sequence[int], canonical: Callable[[int], int], budget: int) -> list[tuple[int, list[int]]]:
    """Cut sentences into batches of the same canonical size and at most `budget` tokens."""
    groups: dict[int, list[int]] = {}
    for sentence, size in enumerate(sizes):
        groups.setdefault(canonical(size), []).append(sentence)
    out = []
    for size in sorted(groups):
        count = max(budget // max(size, 1), 1)
        members = groups[size]
        out += [(size, members[start : start + count]) for start in range(0, len(members), count)]
    return out
