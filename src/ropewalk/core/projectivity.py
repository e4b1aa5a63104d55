"""Lifting non-projective trees and lowering them again (Nivre & Nilsson 2005).

Lifting attaches a word to its head's head, again and again, until no arcs cross. Marks in relations allow lowering to
undo this. The schemes differ in these marks:

- `head`: the relation of a lifted word is followed by `¡` and the relation of its head in the original tree.
- `path`: the relation of a lifted word is followed by `¡`. The relation of every word on the path from its new head
  down to its old head is followed by `!`.
- `head+path`: both the mark of `head` and the marks `!` of `path`.

With these, a word gets one `¡`, even if it is lifted several times. Two more schemes reproduce published figures:

- `head-chained`: each lift adds `¡` and the relation of the head that the word leaves, with that head's own marks.
- `head-nearest`: the marks of `head`. Lowering searches the dependents of a node by their distance to the lifted word,
  not from left to right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ropewalk.core.arcs import Arcs
from ropewalk.core.arrays import ints, numbers_below, one_number
from ropewalk.core.columns import Column
from ropewalk.core.ragged import starts_of
from ropewalk.core.trees import DOWN, UP, Trees, projective
from ropewalk.errors import CrossingsError, demand_known, demand_type
from ropewalk.kernels import trees as kernel
from ropewalk.kernels import view

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.core.arrays import Bools, Ints

MOST_CROSSED = 600  # arcs of a tree that cross others
SCHEMES = ("head", "path", "head+path", "head-chained", "head-nearest")


@dataclass(frozen=True, slots=True, eq=False)
class Lifts:
    """Lifted trees and their lifts: lift i detached the word `words[i]` from its head `left[i]`.

    Words are indices over all sentences, from 0.
    """

    trees: Trees
    words: Ints
    left: Ints


def lift_heads(trees: Trees, chosen: Ints, *, planes: int = 1, steps: int = 0) -> Lifts:
    """Lift the trees of the sentences `chosen` until their arcs fit in `planes` planes; return all trees and the lifts.

    If `steps` is not 0, make at most `steps` lifts in each sentence. Raise `CrossingsError` if a tree has more than
    `MOST_CROSSED` crossed arcs: lifting it could take hours.
    """
    demand_type("what to lift", trees, Trees)
    chosen = ints(numbers_below(chosen, len(trees), "chosen sentences"), "chosen sentences")
    planes = one_number(planes, "the number of planes", least=1)
    steps = one_number(steps, "the number of lifts", least=0)
    capacity = 64 + 4 * int(trees.offsets.lengths[chosen].sum())
    while True:
        lifted = np.array(trees.heads, dtype=np.int32)
        words, left = np.empty(capacity, dtype=np.int32), np.empty(capacity, dtype=np.int32)
        workspace = kernel.Crossed(trees.offsets.longest + 2, MOST_CROSSED)
        bounds = view(trees.offsets.array)
        count = kernel.lift(view(lifted), bounds, view(chosen), planes, steps, view(words), view(left), workspace)
        if count >= 0:
            return Lifts(trees.with_heads(lifted), words[:count], left[:count])
        if count < -1:
            sentence = int(chosen[-2 - count])
            crossed = int(Arcs.of_trees(trees.select(np.array([sentence]))).crossed().sum())
            raise CrossingsError(sentence + 1, crossed, MOST_CROSSED)
        capacity *= 4


def lift_until(trees: Trees, covers: Callable[[Trees], Bools], *, planes: int = 1) -> Trees:
    """Return the trees; those for which `covers` is false are lifted until it is true, without marks in relations.

    They are first lifted until their arcs fit in `planes` planes.
    """
    demand_type("what to lift", trees, Trees)
    chosen = np.flatnonzero(~covers(trees)).astype(np.int32)
    if not len(chosen):
        return trees
    trees = lift_heads(trees, chosen, planes=planes).trees
    while planes > 1:  # an encoding may have further limits than planes
        chosen = chosen[~covers(trees.select(chosen))]
        lifts = lift_heads(trees, chosen, steps=1)
        if not len(lifts.words):  # all covered, or projective and still not covered: lifting cannot help
            break
        trees = lifts.trees
    return trees


def lift(trees: Trees, scheme: str = "head") -> Trees:
    """Return the trees lifted until they are projective, with marks of `scheme` in relations that allow lowering."""
    demand_type("what to lift", trees, Trees)
    demand_known("pseudo-projective scheme", scheme, SCHEMES)
    chosen = np.flatnonzero(~projective(trees)).astype(np.int32)
    if not len(chosen):
        return trees
    lifts = lift_heads(trees, chosen)
    names, plain = trees.relations.names, trees.relations.ids
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
    ids = plain.astype(np.int32)
    for word in sorted(marks.keys() | on_path):
        text = names[plain[word]] + (DOWN if word in on_path else "") + marks.get(word, "")
        ids[word] = numbers.setdefault(text, len(numbers))
    return lifts.trees.with_relations(Column(ids, tuple(numbers)))


def lower(trees: Trees, scheme: str = "head") -> Trees:
    """Undo `lift` with the same `scheme`: return trees without marks in relations.

    Each marked word is attached to the word that its mark describes, if there is one below its head.
    """
    demand_type("what to lower", trees, Trees)
    demand_known("pseudo-projective scheme", scheme, SCHEMES)
    relations, offsets = trees.relations, trees.offsets
    marked = [UP in name or DOWN in name for name in relations.names]
    if not any(marked):
        return trees
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
    chosen = np.unique(offsets.owners_of(lifted)).astype(np.int32)
    heads = np.array(trees.heads, dtype=np.int32)
    # Chained marks name a head's relation at that time: a head that still has marks is no target.
    shown = np.where(counts > 0, -2, ids).astype(np.int32) if scheme == "head-chained" else ids.copy()
    marked_down = np.array(down, dtype=np.uint8)[relations.ids]
    starts = starts_of(counts).astype(np.int32)
    marks = kernel.LiftMarks(
        *(view(shown), view(ids), view(flat), view(starts), view(marked_down)),
        *("path" in scheme, scheme == "head-nearest"),
    )
    kernel.lower(view(heads), view(offsets.array), view(chosen), marks, kernel.Dependents(offsets.longest + 2))
    return Trees.known(heads, offsets, Column(ids, tuple(numbers)))
