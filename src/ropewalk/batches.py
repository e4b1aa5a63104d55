"""Batches of items to parse, such as texts.

Items are grouped and parsed with one call, and each item gets its own sentences. If the call fails, each item is parsed
alone.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Item = TypeVar("Item")


class Share(NamedTuple):
    """The sentences of one item: those of the treebank `bank` with the indices `sentences`.

    The treebank may also hold sentences of other items.
    """

    bank: Treebank
    sentences: range


def grouped(items: Iterable[Item], size: Callable[[Item], int], most: int) -> Iterator[list[Item]]:
    """Yield groups of consecutive items; a group ends when the sum of `size(item)` reaches `most`."""
    group: list[Item] = []
    total = 0
    for item in items:
        group.append(item)
        total += size(item)
        if total >= most:
            yield group
            group, total = [], 0
    if group:
        yield group


def together(
    items: Sequence[Item], parse: Callable[[Sequence[Item]], tuple[Treebank, Sequence[int]]]
) -> list[Share | Exception]:
    """Parse all items with one call of `parse`; return for each item its sentences or its exception.

    `parse` returns one treebank of the sentences of all items, and the number of sentences of each item. If the call
    raises an exception, `parse` is called again for each item alone, so that one bad item does not affect the others.
    """
    if not items:
        return []
    try:
        bank, counts = parse(items)
    except Exception as failure:  # noqa: BLE001 - one item must not cost the others
        if len(items) == 1:
            return [failure]
        return [outcome for item in items for outcome in together([item], parse)]
    ends = itertools.accumulate(counts, initial=0)
    return [Share(bank, range(*bounds)) for bounds in itertools.pairwise(ends)]


def joined(shares: Iterable[Share]) -> Treebank:
    """Return one treebank with the sentences of all `shares`, in order."""
    banks = []
    for _, group in itertools.groupby(shares, key=lambda share: id(share.bank)):
        some = list(group)
        bank, chosen = some[0].bank, [number for share in some for number in share.sentences]
        banks.append(bank if len(chosen) == len(bank) else bank.select(np.array(chosen, dtype=np.int64)))
    return Treebank.concat(banks)
