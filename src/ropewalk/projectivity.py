"""Lifting non-projective trees and lowering them again (Nivre & Nilsson 2005).

Lifting hangs a word on its head's head until no arcs cross. What lowering needs to undo it is written into
relations. After a word's own relation stands, for the schemes `head` and `head+path`, `¡` and the relation that its
first head has in the original tree; for `path`, a `¡` alone; and for the last two every word on the way from the new
head down to the old one is marked with `!`. A word is marked once, however often it is lifted. Two more schemes are
there for published figures. `head-chained` marks each lift: `¡` and the relation of the head that the word then leaves,
that head's own marks included. `head-nearest` marks like `head`; lowering looks at the dependents of a node by their
distance to the lifted word instead of in word order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ropewalk.core.arrays import Bools, Ints, ints, numbers_below, one_number
from ropewalk.core.columns import Column
from ropewalk.core.ragged import gather
from ropewalk.core.trees import DOWN, UP, checked_trees, heads_and_offsets, projective, scratch
from ropewalk.errors import FormatError, MismatchError, demand_known, demand_type
from ropewalk.kernels import trees as kernel
from ropewalk.kernels import view
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_CROSSED = 600  # arcs of a tree that cross others
SCHEMES = ("head", "path", "head+path", "head-chained", "head-nearest")


@dataclass(frozen=True, slots=True, eq=False)
class Lifts:
    """Heads after lifting; lift i moved word `words[i]` away from word `left[i]`, counted over all sentences."""

    heads: Ints
    words: Ints
    left: Ints


def lift_heads(heads: Ints, offsets: Ints, chosen: Ints, *, planes: int = 1, steps: int = 0) -> Lifts:
    """Lift the chosen sentences until they need no more than `planes` planes, or for at most `steps` lifts each."""
    heads, offsets = checked_trees(heads, offsets)
    chosen = ints(numbers_below(chosen, len(offsets) - 1, "chosen sentences"), "chosen sentences")
    planes = one_number(planes, "the number of planes", least=1)
    return _lifted(heads, offsets, chosen, planes, one_number(steps, "the number of lifts", least=0))


def _lifted(heads: Ints, offsets: Ints, chosen: Ints, planes: int, steps: int) -> Lifts:
    """Lift trees that have been checked."""
    capacity = 64 + 4 * int(np.diff(offsets)[chosen].sum())
    while True:
        lifted = np.array(heads, dtype=np.int32)
        words, left = np.empty(capacity, dtype=np.int32), np.empty(capacity, dtype=np.int32)
        count = kernel.lift(
            view(lifted),
            view(offsets),
            view(chosen),
            planes,
            steps,
            view(words),
            view(left),
            *(view(scratch(offsets)) for _ in range(5)),
        )
        if count >= 0:
            return Lifts(lifted, words[:count], left[:count])
        capacity *= 4


def _demand_few_crossings(bank: Treebank, chosen: Ints) -> None:
    """Refuse to lift trees of so many crossing arcs that it would take hours; every lift looks at all pairs."""
    for sentence in chosen[np.diff(bank.offsets)[chosen] > MOST_CROSSED].tolist():
        start, stop = bank.offsets[sentence : sentence + 2].tolist()
        crossed = _count_crossed(bank.heads[start:stop])
        if crossed > MOST_CROSSED:
            raise FormatError(
                bank.file,
                bank.line(sentence),
                "too-many-crossings",
                f"the tree has {crossed:,} arcs that cross others; at most {MOST_CROSSED} are lifted: use an encoding "
                "that covers them, such as optimal-nonprojective or absolute",
            )


def _count_crossed(heads: Ints) -> int:
    """Count the arcs that cross any other, in time that hardly grows faster than the sentence."""
    places = np.arange(len(heads) + 1)
    low, high = np.minimum(heads, places[1:]), np.maximum(heads, places[1:])
    reach_left, reach_right = places.copy(), places.copy()
    np.minimum.at(reach_left, high, low)
    np.maximum.at(reach_right, low, high)
    inner = high - low > 1
    low, high = low[inner], high[inner]
    level = np.log2(high - low - 1).astype(np.int64)  # of the widest stretches of 2^level words inside
    crossed = np.zeros(len(low), dtype=np.bool_)
    for width in range(int(level.max(initial=-1)) + 1):
        here = np.flatnonzero(level == width)
        for begin in (low[here] + 1, high[here] - (1 << width)):
            crossed[here] |= (reach_left[begin] < low[here]) | (reach_right[begin] > high[here])
        step = 1 << width  # stretches twice as wide
        reach_left = np.minimum(reach_left[:-step], reach_left[step:])
        reach_right = np.maximum(reach_right[:-step], reach_right[step:])
    return int(crossed.sum())


def lift_until(bank: Treebank, covers: Callable[[Ints, Ints], Bools], *, planes: int = 1) -> Treebank:
    """Lift what is not covered, relations unmarked, until it is."""
    chosen = np.flatnonzero(~covers(bank.heads, bank.offsets)).astype(np.int32)
    if not len(chosen):
        return bank
    _demand_few_crossings(bank, chosen)
    heads = lift_heads(bank.heads, bank.offsets, chosen, planes=planes).heads
    while planes > 1:  # fitting the planes may not be enough for an encoding with a further limit
        offsets, words = gather(bank.offsets, chosen)
        chosen = chosen[~covers(heads[words], offsets.astype(np.int32))]
        lifts = _lifted(heads, bank.offsets, chosen, 1, 1)  # lifted trees are trees
        if not len(lifts.words):  # all covered, or projective and still not covered: lifting cannot help
            break
        heads = lifts.heads
    return bank.with_trees(heads, bank.relations)


def lift(bank: Treebank, scheme: str = "head") -> Treebank:
    """Make every tree projective and mark in its relations how to undo it."""
    demand_type("what to lift", bank, Treebank)
    demand_known("pseudo-projective scheme", scheme, SCHEMES)
    chosen = np.flatnonzero(~projective(bank.heads, bank.offsets)).astype(np.int32)
    if not len(chosen):
        return bank
    _demand_few_crossings(bank, chosen)
    lifts = lift_heads(bank.heads, bank.offsets, chosen)
    names = bank.relations.names
    plain = bank.relations.ids
    marks: dict[int, str] = {}
    on_path: set[int] = set()
    for word, head in zip(lifts.words.tolist(), lifts.left.tolist(), strict=True):
        if scheme == "head-chained":
            marks[word] = f"{marks.get(word, '')}{UP}{names[plain[head]]}{marks.get(head, '')}"
            continue
        marks.setdefault(word, UP + ("" if scheme == "path" else names[plain[head]]))
        if "path" in scheme:
            on_path.add(head)
    numbers = {name: number for number, name in enumerate(names)}
    ids = plain.copy()
    for word in sorted(marks.keys() | on_path):
        text = names[plain[word]] + (DOWN if word in on_path else "") + marks.get(word, "")
        ids[word] = numbers.setdefault(text, len(numbers))
    return bank.with_trees(lifts.heads, Column(ids, tuple(numbers)))


def lower(heads: Ints, relations: Column, offsets: Ints, scheme: str = "head") -> tuple[Ints, Column]:
    """Hang lifted words back where their marks say, and take the marks off the relations."""
    demand_known("pseudo-projective scheme", scheme, SCHEMES)
    heads, offsets = heads_and_offsets(heads, offsets)
    if len(relations) != len(heads):
        raise MismatchError(f"{len(heads)} heads but {len(relations)} relations; each word needs one of each")
    marked = [UP in name or DOWN in name for name in relations.names]
    if not any(marked):
        return heads, relations
    heads, offsets = checked_trees(heads, offsets)
    numbers: dict[str, int] = {}
    plain: list[int] = []
    parts: list[list[int]] = []
    down: list[bool] = []
    for name in relations.names:
        base, *rest = name.split(UP)
        plain.append(numbers.setdefault(base.removesuffix(DOWN), len(numbers)))
        parts.append([numbers.setdefault(part, len(numbers)) if part else -1 for part in rest])
        down.append(base.endswith(DOWN))
    ids = np.array(plain, dtype=np.int32)[relations.ids]
    counts = np.array([len(part) for part in parts], dtype=np.int32)[relations.ids]
    lifted = np.flatnonzero(counts)
    flat = np.array([part for word in lifted for part in parts[relations.ids[word]]], dtype=np.int32)
    chosen = np.unique(np.searchsorted(offsets, lifted, side="right") - 1).astype(np.int32)
    out = np.array(heads, dtype=np.int32)
    # Chained marks name a head's relation as it then stood: while it carries marks it is no target.
    shown = np.where(counts > 0, -2, ids).astype(np.int32) if scheme == "head-chained" else ids.copy()
    kernel.lower(
        view(out),
        view(offsets),
        view(chosen),
        view(shown),
        view(ids),
        view(flat),
        view(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)),
        view(np.array(down, dtype=np.uint8)[relations.ids]),
        int("path" in scheme),
        int(scheme == "head-nearest"),
        *(view(scratch(offsets)) for _ in range(3)),
    )
    return out, Column(ids, tuple(numbers))
