"""Attachment scores by what the words are: relation, arc length, sentence length, projectivity, part of speech.

Groups are made by the gold trees, so that every system is scored on the same words. Where a prediction has
such a group too (its relation, the length of its arc), precision and F1 stand beside recall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

import numpy as np

from ropewalk.core.arcs import Arcs
from ropewalk.core.arrays import frozen_array, frozen_ints, ints
from ropewalk.core.trees import projective
from ropewalk.errors import demand_known
from ropewalk.scoring.attachment import Floats, Parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.scoring.attachment import Judged
    from ropewalk.treebank.treebank import Treebank

By = Literal["relation", "distance", "length", "projectivity", "upos"]

BREAKDOWNS: Final[tuple[By, ...]] = get_args(By)
ARC_LENGTHS: Final = (1, 2, 3, 4, 5, 6, 8, 11, 21)  # where each bin of arc lengths begins
SENTENCE_LENGTHS: Final = (1, 6, 11, 21, 31, 41, 61)  # likewise of sentence lengths


class Grouping(NamedTuple):
    """Names of groups, and the group of each word in gold and, where it has one there, in the prediction."""

    names: tuple[str, ...]
    gold: Ints
    predicted: Ints | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Breakdown:
    """Counts for each group: words in gold and in the prediction, right heads, right heads and relations."""

    by: By
    names: tuple[str, ...]
    gold: Ints
    predicted: Ints | None
    heads: Ints
    labelled: Ints

    @property
    def uas(self) -> Floats:
        """The share of each group's words with the right head."""
        return _share(self.heads, self.gold)

    @property
    def las(self) -> Floats:
        """The share of each group's words with the right head and relation: its recall."""
        return _share(self.labelled, self.gold)

    @property
    def precision(self) -> Floats | None:
        """The share of the words predicted to be of each group that have the right head and relation."""
        return None if self.predicted is None else _share(self.labelled, self.predicted)

    @property
    def f1(self) -> Floats | None:
        """The harmonic mean of precision and recall."""
        return None if self.predicted is None else _share(2 * self.labelled, self.gold + self.predicted)


@dataclass(frozen=True, slots=True, eq=False)
class Confusion:
    """How often each relation of gold (rows) was predicted as each relation (columns), whatever the heads."""

    names: tuple[str, ...]
    counts: Ints

    def pairs(self) -> list[tuple[str, str, int]]:
        """List the confusions of two relations, the most frequent first: gold, predicted, how often."""
        wrong = self.counts * (1 - np.eye(len(self.names), dtype=np.int32))
        order = np.argsort(-wrong, axis=None, kind="stable")[: int((wrong > 0).sum())]
        rows, columns = np.unravel_index(order, wrong.shape)
        return [
            (self.names[row], self.names[column], int(wrong[row, column]))
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        ]


def breakdown(
    judged: Judged,
    by: By,
) -> Breakdown:
    """Score each group of words; groups of relations and tags come with the largest first, empty ones not at all."""
    parts = []
    for group in groupings(judged, by):

        def count(ids: Ints, mask: Bools, many: int = len(group.names)) -> Ints:
            return frozen_ints(np.bincount(ids[mask], minlength=many))

        sizes = count(group.gold, judged.counted)
        guessed = None if group.predicted is None else count(group.predicted, judged.counted)
        order = np.argsort(-sizes, kind="stable") if by in {"relation", "upos"} else np.arange(len(sizes))
        order = order[(sizes + (0 if guessed is None else guessed))[order] > 0]
        parts.append(
            Breakdown(
                by,
                tuple(group.names[number] for number in order.tolist()),
                sizes[order],
                None if guessed is None else guessed[order],
                count(group.gold, judged.heads)[order],
                count(group.gold, judged.labelled)[order],
            )
        )
    guesses = [part.predicted for part in parts if part.predicted is not None]
    return Breakdown(
        by,
        tuple(name for part in parts for name in part.names),
        frozen_ints(np.concatenate([part.gold for part in parts])),
        frozen_ints(np.concatenate(guesses)) if guesses else None,
        frozen_ints(np.concatenate([part.heads for part in parts])),
        frozen_ints(np.concatenate([part.labelled for part in parts])),
    )


def parts_by_group(
    judged: Judged,
    by: By,
) -> dict[str, Parts]:
    """Take the LAS of each group that gold has apart by sentence."""
    gold = judged.gold
    sentences = np.repeat(np.arange(len(gold)), gold.lengths)
    out: dict[str, Parts] = {}
    for group in groupings(judged, by):
        many = len(group.names)

        def table(mask: Bools, ids: Ints = group.gold, many: int = many) -> Floats:
            cells = np.bincount((sentences * many + ids)[mask], minlength=len(gold) * many)
            return cells.reshape(len(gold), many).astype(np.float64)

        above, below = table(judged.labelled), table(judged.counted)
        out |= {name: Parts(above[:, n], below[:, n]) for n, name in enumerate(group.names) if below[:, n].any()}
    return out


def confusion(
    judged: Judged,
) -> Confusion:
    """Count which relations were taken for which, the most frequent relation of gold first."""
    many = len(judged.names)
    cells = np.bincount(
        (judged.relations.astype(np.int64) * many + judged.guesses)[judged.counted], minlength=many * many
    )
    counts = cells.reshape(many, many)
    order = np.argsort(-counts.sum(axis=1), kind="stable")
    return Confusion(
        tuple(judged.names[n] for n in order.tolist()), frozen_array(counts[np.ix_(order, order)].astype(np.int32))
    )


def known(name: str) -> By:
    """Take the name of a breakdown, or raise an error that lists those there are."""
    demand_known("breakdown", name, BREAKDOWNS)
    return BREAKDOWNS[BREAKDOWNS.index(name)]


def groupings(judged: Judged, by: By) -> list[Grouping]:
    """Put each word into a group, or into one of each of several kinds."""
    by = known(by)
    if by == "relation":
        return [Grouping(judged.names, judged.relations, judged.guesses)]
    gold = judged.gold
    if by == "upos":
        tags = gold.column("upos")
        return [Grouping(tags.names, ints(tags.ids, "tags"))]
    if by == "distance":
        return [Grouping(arc_length_names(), _arc_lengths(gold), _arc_lengths(judged.predicted))]
    if by == "length":
        bins = frozen_ints(np.searchsorted(SENTENCE_LENGTHS, gold.lengths, side="right") - 1)
        return [Grouping(_bin_names(SENTENCE_LENGTHS, "{} words".format), _spread(bins, gold))]
    crossing = frozen_ints(~projective(gold.trees()))
    return [
        Grouping(("projective trees", "non-projective trees"), _spread(crossing, gold)),
        Grouping(
            ("arcs that cross no other", "arcs that cross another"),
            frozen_ints(Arcs.of_trees(gold.trees()).crossed()),
        ),
    ]


def arc_length_names() -> tuple[str, ...]:
    """Name the groups of arc lengths: heads to the left, furthest first, then the root, then heads to the right."""
    left = _bin_names(ARC_LENGTHS, "head {} to the left".format)
    return (*reversed(left), "root", *_bin_names(ARC_LENGTHS, "head {} to the right".format), "no head")


def _arc_lengths(bank: Treebank) -> Ints:
    """Group arcs by the signed distance from dependent to head."""
    many = len(ARC_LENGTHS)
    distance = bank.heads - bank.offsets.positions()
    size = np.searchsorted(ARC_LENGTHS, np.abs(distance), side="right")
    ids = many + np.sign(distance) * size
    return frozen_ints(np.select([bank.heads == 0, (bank.heads < 0) | (distance == 0)], [many, 2 * many + 1], ids))


def _bin_names(starts: tuple[int, ...], name: Callable[[str], str]) -> tuple[str, ...]:
    stops = [start - 1 for start in starts[1:]]
    inner = [str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, stops, strict=False)]
    return (*(name(one) for one in inner), name(f"{starts[-1]}+"))


def _spread(values: Ints, bank: Treebank) -> Ints:
    """Give every word the number of its sentence."""
    return frozen_ints(np.repeat(values, bank.lengths))


def _share(some: Ints, of: Ints) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(of > 0, some / of, np.nan)
