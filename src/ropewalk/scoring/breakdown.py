"""Attachment scores of groups of words: by relation, arc length, sentence length, projectivity, part of speech.

Gold trees define the groups, so that every system is scored on the same words. Predicted trees also have relations and
arc lengths, so these groups have precision and F1 besides recall.
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
ARC_LENGTHS: Final = (1, 2, 3, 4, 5, 6, 8, 11, 21)  # the shortest arc of each bin
SENTENCE_LENGTHS: Final = (1, 6, 11, 21, 31, 41, 61)  # the shortest sentence of each bin


class Grouping(NamedTuple):
    """A division of words into groups: the groups' `names`, and the index of each word's group.

    `gold` has each word's group in the gold tree, and `predicted` its group in the predicted tree. `predicted` is None
    if only gold trees define the groups.
    """

    names: tuple[str, ...]
    gold: Ints
    predicted: Ints | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Breakdown:
    """Counts of words for each group in `names`.

    `gold` counts the words of the group in gold, `heads` those of them with the right head, and `labelled` those with
    the right head and relation. `predicted` counts the words of the group in the prediction, or is None if only gold
    trees define the groups.
    """

    by: By
    names: tuple[str, ...]
    gold: Ints
    predicted: Ints | None
    heads: Ints
    labelled: Ints

    @property
    def uas(self) -> Floats:
        """The fraction of each group's words with the right head."""
        return _ratio(self.heads, self.gold)

    @property
    def las(self) -> Floats:
        """The fraction of each group's words with the right head and relation: its recall."""
        return _ratio(self.labelled, self.gold)

    @property
    def precision(self) -> Floats | None:
        """The fraction of each group's predicted words with the right head and relation; None without such groups."""
        return None if self.predicted is None else _ratio(self.labelled, self.predicted)

    @property
    def f1(self) -> Floats | None:
        """The harmonic mean of each group's precision and recall; None without precision."""
        return None if self.predicted is None else _ratio(2 * self.labelled, self.gold + self.predicted)


@dataclass(frozen=True, slots=True, eq=False)
class Confusion:
    """Counts of words by gold relation (rows) and predicted relation (columns); heads are ignored."""

    names: tuple[str, ...]
    counts: Ints

    def pairs(self) -> list[tuple[str, str, int]]:
        """Return the confused pairs of relations, the most frequent first: gold, predicted, count."""
        wrong = self.counts * (1 - np.eye(len(self.names), dtype=np.int32))
        order = np.argsort(-wrong, axis=None, kind="stable")[: int((wrong > 0).sum())]
        rows, columns = np.unravel_index(order, wrong.shape)
        return [
            (self.names[row], self.names[column], int(wrong[row, column]))
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        ]


def breakdown(judged: Judged, by: By) -> Breakdown:
    """Return the counts of right words for each group of words; `by` says what defines the groups.

    Empty groups are left out. Relations and tags are ordered by frequency in gold, the most frequent first.
    """
    names: list[str] = []
    tables = []
    for group in groupings(judged, by):
        counted = [(group.gold, mask) for mask in (judged.counted, judged.heads, judged.labelled)]
        counted += [] if group.predicted is None else [(group.predicted, judged.counted)]
        table = np.stack([np.bincount(ids[mask], minlength=len(group.names)) for ids, mask in counted])
        order = np.argsort(-table[0], kind="stable") if by in {"relation", "upos"} else np.arange(table.shape[1])
        order = order[(table[0] + table[3:].sum(axis=0))[order] > 0]
        names += [group.names[number] for number in order.tolist()]
        tables.append(table[:, order])
    gold, heads, labelled, *predicted = map(frozen_ints, np.concatenate(tables, axis=1))
    return Breakdown(by, tuple(names), gold, predicted[0] if predicted else None, heads, labelled)


def parts_by_group(judged: Judged, by: By) -> dict[str, Parts]:
    """Return the LAS of each gold group, as a numerator and a denominator for each sentence.

    Groups without counted words are left out.
    """
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


def confusion(judged: Judged) -> Confusion:
    """Return the counts of predicted relations for each gold relation, the most frequent gold relation first."""
    many = len(judged.names)
    cells = np.bincount(
        (judged.relations.astype(np.int64) * many + judged.guesses)[judged.counted], minlength=many * many
    )
    counts = cells.reshape(many, many)
    order = np.argsort(-counts.sum(axis=1), kind="stable")
    return Confusion(
        tuple(judged.names[n] for n in order.tolist()), frozen_array(counts[np.ix_(order, order)].astype(np.int32))
    )


def groupings(judged: Judged, by: By) -> list[Grouping]:
    """Return the groups of all words; `projectivity` has two groupings, by tree and by arc, the others one."""
    demand_known("breakdown", by, BREAKDOWNS)
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
    """Return the names of the groups of arc lengths.

    Their order is: heads to the left, the farthest first; the root; heads to the right, the nearest first; no head.
    """
    left = _bin_names(ARC_LENGTHS, "head {} to the left".format)
    return (*reversed(left), "root", *_bin_names(ARC_LENGTHS, "head {} to the right".format), "no head")


def _arc_lengths(bank: Treebank) -> Ints:
    """Return for each word the index of its arc's group in `arc_length_names`."""
    many = len(ARC_LENGTHS)
    distance = bank.heads - bank.offsets.positions()
    size = np.searchsorted(ARC_LENGTHS, np.abs(distance), side="right")
    ids = many + np.sign(distance) * size
    return frozen_ints(np.select([bank.heads == 0, (bank.heads < 0) | (distance == 0)], [many, 2 * many + 1], ids))


def _bin_names(starts: tuple[int, ...], name: Callable[[str], str]) -> tuple[str, ...]:
    stops = [start - 1 for start in starts[1:]]
    inner = [str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, stops, strict=False)]
    return (*map(name, inner), name(f"{starts[-1]}+"))


def _spread(values: Ints, bank: Treebank) -> Ints:
    """Return for every word the value of its sentence."""
    return frozen_ints(np.repeat(values, bank.lengths))


def _ratio(part: Ints, whole: Ints) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, part / whole, np.nan)
