"""The decoder `mbr`: the tree with the highest expected accuracy over all projective trees; see `expected`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from ropewalk.decoding.expected import LONGEST, arc_sums, arcs_of, compact_labels, tree_sums
from ropewalk.decoding.paths import sums_of, words_of
from ropewalk.decoding.problem import Best, Decoder, arc_rows, arc_widths, machine_of, root_score_table
from ropewalk.decoding.spanning import expected_trees

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.decoding.expected import TreeSums
    from ropewalk.decoding.paths import ArcScores, Floats
    from ropewalk.decoding.problem import Problem, Relations
    from ropewalk.encodings import Encoding

LIKELY = 0.05  # the probability of an arc whose relations are looked at


@final
@dataclass(frozen=True, slots=True)
class Mbr(Decoder):
    """The decoder `mbr`: minimum Bayes risk over all projective trees, by labels and arcs together or by arcs alone.

    If `Problem.relations` is set, the expected accuracy is that of arcs with their relations. Sentences of more than
    `LONGEST` words, or without a tree of finite score, are decoded with `joint`. If only arcs have scores, long
    sentences get the maximum spanning tree.
    """

    needs_arcs = True
    trees_by_arcs = "projective"
    sums = True

    @classmethod
    def supports(cls, encoding: Encoding, alphabet: Sequence[str]) -> bool:
        """Return whether every label stands for the four bits of a compact label, as in `kernels.optimal`."""
        return compact_labels(encoding, alphabet) is not None

    def decode(self, problem: Problem) -> Best:
        """Return the tree with the highest expected accuracy for each sentence."""
        if problem.labels is None:
            return most_expected_by_arcs(problem, arc_sums)
        summed = self._summed(problem)
        heads, chosen = _most_expected(summed.marginals, problem.offsets, problem.relations)
        return Best((summed.ids,), heads, sums_of(chosen, problem.offsets), summed.exact, summed.found, chosen)

    def arc_marginals(self, problem: Problem) -> Floats:
        """Return the marginal probability of every arc, by labels and arcs together, in one flat array.

        Sentences that are decoded with `joint` have probability 1 for the arcs of their tree.
        """
        return self._summed(problem).marginals

    def _summed(self, problem: Problem) -> _Summed:
        labels, arcs, offsets = problem.labels, problem.arcs, problem.offsets
        assert labels is not None  # noqa: S101 - only arcs: `most_expected_by_arcs`
        assert arcs is not None  # noqa: S101 - `decode` has checked it
        encoding, alphabet, table = labels.encoding, labels.alphabets[0], problem.tables[0]
        short = np.diff(offsets) <= LONGEST
        words, inner = words_of(offsets, np.flatnonzero(short))
        within = arcs_of(offsets, short)
        sums = tree_sums(encoding, table[words], inner, alphabet, _with_root_scores(problem, arcs)[within])
        found = short.copy()
        found[short] = np.isfinite(sums.logs)
        exact = found.copy()
        ids = np.zeros(len(table), dtype=np.int32)
        ids[words] = sums.labels.argmax(axis=1)
        marginals = np.zeros(len(arcs))
        marginals[within] = sums.arcs
        rest = np.flatnonzero(~found)
        if len(rest):
            from ropewalk.decoding.joint import Joint

            best = Joint(self.depth, self.repair).decode(problem.part(rest))
            words, _ = words_of(offsets, rest)
            found[rest], exact[rest], ids[words] = best.found, best.exact, best.ids[0]
            marginals[arc_rows(offsets)[words] + best.heads] = 1.0
        return _Summed(ids, marginals, exact, found)


class _Summed(NamedTuple):
    """The best label of each word, the marginals of all arcs, and whether each sentence is exact and found."""

    ids: Ints
    marginals: Floats
    exact: Bools
    found: Bools


def most_expected_by_arcs(problem: Problem, sum_over: Callable[[ArcScores, Ints], TreeSums]) -> Best:
    """Return the tree with the highest expected accuracy for each sentence, by arc scores alone.

    The function `sum_over` returns the marginals of arcs. Sentences of more than `LONGEST` words get the maximum
    spanning tree.
    """
    scores, offsets = problem.arcs, problem.offsets
    assert scores is not None  # noqa: S101 - a problem without labels has arcs
    summed = np.diff(offsets) <= LONGEST
    within = arcs_of(offsets, summed)
    _, inner = words_of(offsets, np.flatnonzero(summed))
    marginals = np.zeros(len(scores))
    marginals[within] = sum_over(scores[within], inner).arcs
    if not summed.all():
        words, inner = words_of(offsets, np.flatnonzero(~summed))
        marginals[arc_rows(offsets)[words] + expected_trees(scores[~within], inner)] = 1.0
    heads, chosen = _most_expected(marginals, offsets, problem.relations)
    return Best((), heads, sums_of(chosen, offsets), summed, np.ones_like(summed), chosen)


def _with_root_scores(problem: Problem, arcs: ArcScores) -> ArcScores:
    """Return arc scores plus root scores: for head 0 that of being the root, for other heads that of not being it."""
    labels = problem.labels
    assert labels is not None  # noqa: S101 - `decode` has checked it
    machine = machine_of(labels.encoding, labels.alphabets[0])
    if labels.root is None or machine is None:
        return arcs
    rows = arc_rows(problem.offsets)
    root_scores = root_score_table(machine, labels.root, len(rows)).astype(np.float32)
    scores = arcs + np.repeat(root_scores[:, 0], arc_widths(problem.offsets))
    scores[rows] += root_scores[:, 1] - root_scores[:, 0]
    return scores


def _most_expected(marginals: Floats, offsets: Ints, relations: Relations | None) -> tuple[Ints, Floats]:
    """Return the heads with the highest expected accuracy, and the marginal probability of each word's arc."""
    weights = marginals if relations is None else _with_relations(marginals, offsets, relations)
    heads = expected_trees(weights, offsets)
    return heads, marginals[arc_rows(offsets) + heads]


def _with_relations(marginals: Floats, offsets: Ints, relations: Relations) -> Floats:
    """Return marginals times the probability of the arc's best relation; arcs less likely than `LIKELY` get 0."""
    likely = np.flatnonzero(marginals >= LIKELY)
    rows = arc_rows(offsets)
    words = np.searchsorted(rows, likely, side="right") - 1
    out = np.zeros_like(marginals)
    out[likely] = marginals[likely] * relations(words, (likely - rows[words]).astype(np.int32))
    return out


DECODER = Mbr
