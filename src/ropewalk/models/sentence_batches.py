"""Batches of sentences: cut by token budget and length, shuffled with a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

POOL = 50  # batches whose sentences are sorted together


def shuffled(sizes: npt.NDArray[Any], budget: int, seed: int, epoch: int) -> list[list[int]]:
    """Return random batches of sentences, as lists of indices; `sizes` are the sentences' numbers of tokens.

    A batch has at most `budget` tokens, padding included; a longer sentence is a batch of its own. Sentences are
    shuffled, then sorted by size within pools of about `POOL` batches, so that there is little padding. Then the
    batches are shuffled. `seed` and `epoch` determine the order.
    """
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(sizes))
    filled = np.cumsum(sizes[order]) // max(budget * POOL, 1)
    batches = []
    for pool in range(int(filled[-1]) + 1 if len(filled) else 0):
        chosen = order[filled == pool]
        chosen = chosen[np.argsort(sizes[chosen], kind="stable")]
        batches += packed(chosen.tolist(), sizes.tolist(), budget)
    return [batches[index] for index in random.permutation(len(batches))]


def packed(chosen: Sequence[int], sizes: Sequence[int], budget: int) -> list[list[int]]:
    """Split the list `chosen` of sentence indices, without reordering it, into batches of at most `budget` tokens.

    `sizes` has the number of tokens of each sentence. Padding counts; a longer sentence is a batch of its own.
    """
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
    """Group sentences of the same canonical size into batches; return each batch's size and sentence indices.

    `sizes` are the sentences' numbers of tokens, and `canonical` rounds them. A batch has at most `budget` tokens, or
    one sentence.
    """
    groups: dict[int, list[int]] = {}
    for sentence, size in enumerate(sizes):
        groups.setdefault(canonical(size), []).append(sentence)
    out = []
    for size in sorted(groups):
        count = max(budget // max(size, 1), 1)
        members = groups[size]
        out += [(size, members[start : start + count]) for start in range(0, len(members), count)]
    return out
