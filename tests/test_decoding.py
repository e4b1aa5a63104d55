"""Exact decoding against brute force over all well-formed label sequences, and what always holds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from decoding_tools import decode
from ropewalk import decoding, kernels
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.core.repair import repair
from ropewalk.core.trees import UP, Tree, check_heads, is_projective, tree_planes
from ropewalk.decoding import Candidate, Scored, build, expected, machine_of, mbr, root_score_table, scored, tree_search
from ropewalk.decoding.deep import Memory, deep_search
from ropewalk.decoding.problem import DEEPEST, LARGEST
from ropewalk.encodings import Labels, Machine, get
from ropewalk.encodings.optimal import OPTIMAL_CODES
from ropewalk.errors import LabelError, MismatchError, OptionError, UnknownNameError
from ropewalk.kernels import chart
from ropewalk.treebank.treebank import Treebank
from strategies import projective_trees, trees

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.decoding import Automaton

EXACT = ("optimal", "four-bit", "hexatags")
BEAMS = ("optimal-nonprojective", "seven-bit")
PUBLISHED = ("optimal(policy=published)", "four-bit(policy=published)", "optimal+head")
LONGEST = 6
Floats = npt.NDArray[np.float64]


# All well-formed label sequences, found without the machines.


@dataclass(frozen=True, eq=False)
class All:
    """Every well-formed label sequence of some words: label numbers, heads, and the most brackets open at once."""

    rows: npt.NDArray[np.int64]
    heads: npt.NDArray[np.int64]
    depths: list[int]

    def totals(self, scores: Floats, root_scores: Floats | None = None) -> Floats:
        """Return the score of each sequence."""
        words = np.arange(len(scores))
        out: Floats = scores[words, self.rows].sum(axis=1)
        return out if root_scores is None else out + root_scores[words, (self.heads == 0).astype(int)].sum(axis=1)


def symbols(label: str) -> list[str]:
    return re.findall(r"[<>/\\]\^?", label)


@cache
def bracketings(alphabet: tuple[str, ...], words: int) -> All:
    """Read brackets with one stack, whose entries are direction, word, and the words that wait under it."""
    spelled = [symbols(label) for label in alphabet]
    found: list[tuple[tuple[int, ...], tuple[int, ...], int]] = []

    def read(
        row: tuple[int, ...], stack: list[tuple[str, int, tuple[int, ...]]], arcs: dict[int, int], most: int
    ) -> None:
        word = len(row) + 1
        if word > words:
            if not stack:
                found.append((row, tuple(arcs[w] for w in range(1, words + 1)), most))
            return
        for label, brackets in enumerate(spelled):
            after = one(brackets, word, stack, arcs)
            if after is not None and len(after[0]) <= 2 * (words - word):  # a label closes at most two
                read((*row, label), *after, max(most, len(after[0])))

    read((), [("R", 0, ())], {}, 1)
    return All(
        np.array([row for row, _, _ in found], dtype=np.int64).reshape(-1, words),
        np.array([heads for _, heads, _ in found], dtype=np.int64).reshape(-1, words),
        [most for _, _, most in found],
    )


def one(
    brackets: list[str], word: int, stack: list[tuple[str, int, tuple[int, ...]]], arcs: dict[int, int]
) -> tuple[list[tuple[str, int, tuple[int, ...]]], dict[int, int]] | None:
    stack, arcs = list(stack), dict(arcs)
    for bracket in brackets:
        if bracket in {"<^", "/^"}:
            stack.append(("L" if bracket == "<^" else "R", word, ()))
            continue
        if not stack:
            return None
        direction, opener, waiting = stack[-1]
        if bracket == "<":
            stack[-1] = (direction, opener, (*waiting, word))
        elif bracket == ">":
            if opener == 0:
                return None
            arcs[word] = opener
        else:
            if direction != ("R" if bracket == ">^" else "L"):
                return None
            stack.pop()
            arcs.update(dict.fromkeys(waiting, word))
            if direction == "R":
                arcs[word] = opener
            else:
                arcs[opener] = word
    return stack, arcs


@cache
def projective_heads(words: int) -> list[tuple[int, ...]]:
    """All projective trees with one root, as heads of words 1 to n."""

    def under(low: int, high: int, head: int) -> Iterator[dict[int, int]]:
        """Hang the words of a span under a head that lies just outside it, as any number of subtrees."""
        if low > high:
            yield {}
            return
        for end in range(low, high + 1):
            for first in whole(low, end, head):
                for rest in under(end + 1, high, head):
                    yield first | rest

    def whole(low: int, high: int, head: int) -> Iterator[dict[int, int]]:
        for top in range(low, high + 1):
            for left in under(low, top - 1, top):
                for right in under(top + 1, high, top):
                    yield {top: head} | left | right

    return [tuple(tree[word] for word in range(1, words + 1)) for tree in whole(1, words, 0)]


@cache
def four_bits(words: int) -> All:
    """All 4-bit encodings of trees, by the meaning of each bit; its farthest dependents' arcs are the brackets."""
    rows, depths = [], []
    for heads in projective_heads(words):
        arcs = list(enumerate(heads, start=1))
        far = {
            (min if dependent < head else max)(d for d, h in arcs if h == head and (d < head) == (dependent < head))
            for dependent, head in arcs
        }
        rows.append(
            [
                8 * (head < word)
                + 4 * (word in far)
                + 2 * any(h == word and d < word for d, h in arcs)
                + any(h == word and d > word for d, h in arcs)
                for word, head in arcs
            ]
        )
        over = [sum(min(d, h) <= gap < max(d, h) for d, h in arcs if d in far) for gap in range(words + 1)]
        depths.append(max(over))
    return All(np.array(rows), np.array(projective_heads(words)), depths)


@cache
def head_trees(words: int) -> All:
    """All hexatag sequences, by building every binary tree over node 0 and the words and walking through it."""

    def made(low: int, high: int) -> Iterator[tuple[int, dict[int, str], dict[int, int], int]]:
        """The fence of the top node or -1, fences and words with their tags, heads, and the word at the top."""
        if low == high:
            yield -1, {}, {}, low
            return
        for fence in range(low + 1, high + 1):  # the node between word fence - 1 and word fence
            for left_top, left_tags, left_arcs, left in made(low, fence - 1):
                for right_top, right_tags, right_arcs, right in made(fence, high):
                    tags = left_tags | right_tags
                    for side, top, leaf in (("L", left_top, low), ("R", right_top, fence)):
                        if top > 0:
                            tags[top] = side + tags[top][1:]
                        else:
                            tags[-leaf - 1] = side.lower()
                    arcs = left_arcs | right_arcs
                    yield fence, tags | {fence: "L<"}, arcs | {right: left}, left
                    yield fence, tags | {fence: "L>"}, arcs | {left: right}, right

    names = get("hexatags").alphabet
    assert names is not None
    rows, heads = [], []
    for _, tags, arcs, top in made(0, words):
        if top == 0 and list(arcs.values()).count(0) == 1:
            rows.append([names.index(tags[word] + tags[-word - 1]) for word in range(1, words + 1)])
            heads.append([arcs[word] for word in range(1, words + 1)])
    return All(np.array(rows), np.array(heads), [])


def every(spec: str, words: int) -> All:
    if spec == "four-bit":
        return four_bits(words)
    return head_trees(words) if spec == "hexatags" else bracketings(alphabet_of(spec), words)


def alphabet_of(spec: str) -> tuple[str, ...]:
    found = get(spec).alphabet
    assert found is not None
    return found


def random_scores(spec: str, words: int, seed: int, scale: float = 3.0) -> tuple[Floats, Floats | None]:
    """Scores of labels and log-probabilities of the root, as far as the labels tell the root."""
    dice = np.random.default_rng(seed)
    scores = dice.normal(size=(words, len(alphabet_of(spec)))) * scale
    return scores, None if spec == "hexatags" else np.log(dice.random(words))


def ties_of(root: Floats | None) -> Floats | None:
    return None if root is None else np.stack([np.log1p(-np.exp(root)), root], axis=1)


def log_sum(values: Floats) -> float:
    return float(values.max() + np.log(np.exp(values - values.max()).sum()))


CASES = [(spec, words) for spec in EXACT for words in range(1, LONGEST + 1)]


@pytest.mark.parametrize(("spec", "words"), CASES)
def test_the_oracles_hold_every_tree_and_spell_what_the_encoding_reads(spec: str, words: int) -> None:
    all_of = every(spec, words)
    encoding = get(spec)
    offsets = np.arange(len(all_of.rows) + 1, dtype=np.int32) * words
    none = Column(np.zeros(all_of.rows.size, dtype=np.int32), ("_",))
    ids = all_of.rows.reshape(-1).astype(np.uint8)
    decoded = encoding.decode(Labels(spec, Offsets(offsets), (Column(ids, alphabet_of(spec)),), none))
    assert decoded.well_formed
    assert (decoded.heads.reshape(-1, words) == all_of.heads).all()
    wanted = projective_heads(words)
    assert set(map(tuple, all_of.heads.tolist())) >= set(wanted)
    flat = np.array(wanted, dtype=np.int32).reshape(-1)
    bank = Treebank(Offsets(offsets[: len(wanted) + 1]), flat, {"deprel": Column.constant("_", len(flat))})
    rows = encoding.encode(bank).columns[0].ids.reshape(-1, words)
    assert set(map(tuple, rows.tolist())) <= set(map(tuple, all_of.rows.tolist()))


def test_only_crossing_auxiliary_arcs_make_an_optimal_sequence_other_than_a_projective_tree() -> None:
    for words in range(1, LONGEST + 1):
        all_of = every("optimal", words)
        others = [heads for heads in map(tuple, all_of.heads.tolist()) if heads not in set(projective_heads(words))]
        assert not any(is_projective(Tree(heads, ["_"] * words)) for heads in others)
        assert (len(others) > 0) == (words > 3)
        assert len(set(map(tuple, all_of.heads.tolist()))) == len(all_of.heads), "no two sequences spell one tree"


@pytest.mark.parametrize(("spec", "words"), CASES)
def test_best_sequences_are_those_of_brute_force(spec: str, words: int) -> None:
    all_of = every(spec, words)
    for seed in range(12):
        scores, root = random_scores(spec, words, seed)
        best = decode(get(spec), [scores], [0, words], [alphabet_of(spec)], root=root)
        totals = all_of.totals(scores, ties_of(root))
        place = int(totals.argmax())
        assert best.scores[0] == pytest.approx(totals[place], abs=1e-9)
        assert best.ids[0].tolist() == all_of.rows[place].tolist()
        assert best.heads.tolist() == all_of.heads[place].tolist()
        assert best.exact.all()
        assert best.found.all()


def test_many_sentences_are_decoded_as_each_alone() -> None:
    for spec in EXACT:
        lengths = [3, 1, 6, 0, 2, 5]
        parts = [random_scores(spec, words, words) for words in lengths]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        root = None if spec == "hexatags" else np.concatenate([part[1] for part in parts if part[1] is not None])
        names = alphabet_of(spec)
        together = decode(get(spec), [np.concatenate([part[0] for part in parts])], offsets, [names], root=root)
        alone = [decode(get(spec), [part[0]], [0, len(part[0])], [names], root=part[1]) for part in parts]
        assert together.heads.tolist() == [head for best in alone for head in best.heads.tolist()]
        assert np.allclose(together.scores, [best.scores[0] for best in alone])


SCALES = (0.0, 3.0, 40.0, 120.0, 1e5 / 4)


@pytest.mark.parametrize(("spec", "words"), CASES)
@pytest.mark.parametrize("scale", SCALES)
def test_sums_are_those_of_brute_force_at_any_range_of_scores(spec: str, words: int, scale: float) -> None:
    all_of = every(spec, words)
    for seed in range(3):
        scores, root = random_scores(spec, words, seed, scale)
        given_scores = scored(get(spec), scores, alphabet_of(spec), root=root)
        totals = all_of.totals(scores, ties_of(root))
        shares = np.exp(totals - log_sum(totals))
        found = decoding.marginals(given_scores)
        assert found.logs[0] == pytest.approx(log_sum(totals), rel=1e-12, abs=1e-6)
        wanted = np.zeros_like(scores)
        for word in range(words):
            np.add.at(wanted[word], all_of.rows[:, word], shares)
        assert np.abs(found.labels - wanted).max() < 1e-6
        if spec != "hexatags":
            arcs = np.zeros((words + 1, words + 1))
            for word in range(words):
                np.add.at(arcs[:, word + 1], all_of.heads[:, word], shares)
            assert np.abs(found.roots - arcs[0, 1:]).max() < 1e-6
            assert np.abs(decoding.arc_probabilities(given_scores) - arcs).max() < 1e-6
            place = int(totals.argmax())
            sure, tree = decoding.confidences(
                given_scores, all_of.rows[place].astype(np.int32), all_of.heads[place].astype(np.int32)
            )
            assert np.abs(sure - arcs[all_of.heads[place], np.arange(1, words + 1)]).max() < 1e-6
            assert tree[0] == pytest.approx(shares[place], abs=1e-6)


@pytest.mark.parametrize(("spec", "words"), CASES)
@pytest.mark.parametrize("scale", [3.0, 1e5 / 4])
def test_the_k_best_are_those_of_brute_force(spec: str, words: int, scale: float) -> None:
    all_of = every(spec, words)
    scores, root = random_scores(spec, words, 7, scale)
    totals = all_of.totals(scores, ties_of(root))
    order = np.argsort(-totals)
    given_scores = scored(get(spec), scores, alphabet_of(spec), root=root)
    for k in (1, 5, 40):
        found = decoding.k_best(given_scores, k)
        assert len(found) == min(k, len(totals))
        assert np.allclose([one.score for one in found], totals[order[:k]], rtol=1e-12, atol=1e-6)
        assert [one.heads for one in found] == [tuple(heads) for heads in all_of.heads[order[:k]].tolist()]
        names = alphabet_of(spec)
        assert [one.labels for one in found] == [tuple(names[i] for i in row) for row in all_of.rows[order[:k]]]


@pytest.mark.parametrize("spec", EXACT)
@pytest.mark.parametrize(("words", "scale"), [(3, 1.0), (5, 1.0), (4, 400.0)])
def test_samples_are_as_frequent_as_they_are_probable(spec: str, words: int, scale: float) -> None:
    all_of = every(spec, words)
    scores, root = random_scores(spec, words, 3, scale)
    count = 4000
    drawn = decoding.sample(scored(get(spec), scores, alphabet_of(spec), root=root), count, seed=1)
    assert len(drawn) == count
    totals = all_of.totals(scores, ties_of(root))
    expected = count * np.exp(totals - log_sum(totals))
    names = alphabet_of(spec)
    tally = Counter(one.labels for one in drawn)
    seen = np.array([tally.pop(tuple(names[label] for label in row), 0) for row in all_of.rows])
    assert not tally, "only well-formed sequences are drawn"
    common = expected >= 5
    cells = [*zip(seen[common], expected[common], strict=True), (seen[~common].sum(), expected[~common].sum())]
    cells = [(have, want) for have, want in cells if want > 0.5]
    statistic = sum((have - want) ** 2 / want for have, want in cells)
    freedom = max(len(cells) - 1, 1)
    assert statistic < freedom + 4 * np.sqrt(2 * freedom) + 4
    score_of = dict(zip([tuple(names[i] for i in row) for row in all_of.rows], totals.tolist(), strict=True))
    assert all(one.score == pytest.approx(score_of[one.labels], rel=1e-9, abs=1e-6) for one in drawn[:50])


def test_the_same_seed_draws_the_same_trees() -> None:
    scores, _ = random_scores("optimal", 6, 0, 1.0)
    asked = scored(get("optimal"), scores, alphabet_of("optimal"))
    assert decoding.sample(asked, 20, seed=5) == decoding.sample(asked, 20, seed=5)
    assert decoding.sample(asked, 20, seed=5) != decoding.sample(asked, 20, seed=6)


def test_a_temperature_divides_scores_and_ties() -> None:
    scores, root = random_scores("optimal", 4, 2)
    warm = decoding.marginals(scored(get("optimal"), scores, alphabet_of("optimal"), root=root, temperature=2.5))
    totals = every("optimal", 4).totals(scores, ties_of(root)) / 2.5
    assert warm.logs[0] == pytest.approx(log_sum(totals), abs=1e-9)


# The automaton as data.


def accepted(automaton: Automaton, words: int) -> set[tuple[int, ...]]:
    """Every label sequence of some words that an automaton reads."""
    rows: dict[tuple[int, ...], int] = {(): 0}
    for _ in range(words):
        rows = {
            (*row, int(automaton.labels[t])): int(automaton.targets[t])
            for row, state in rows.items()
            for t in range(automaton.begins[state], automaton.begins[state + 1])
        }
    return {row for row, state in rows.items() if automaton.finals[state]}


@pytest.mark.parametrize("spec", ["optimal", "four-bit"])
@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_the_automaton_of_a_depth_reads_exactly_the_sequences_of_that_depth(spec: str, depth: int) -> None:
    automaton = build(_machine(spec), depth)
    for words in range(1, 6):
        all_of = every(spec, words)
        wanted = {tuple(row) for row, most in zip(all_of.rows.tolist(), all_of.depths, strict=True) if most <= depth}
        assert accepted(automaton, words) == wanted


def test_the_automaton_of_hexatags_reads_exactly_the_binary_head_trees() -> None:
    for words in range(1, 6):
        rows = every("hexatags", words).rows.tolist()
        assert accepted(build(_machine("hexatags"), words), words) == set(map(tuple, rows))


@pytest.mark.parametrize("spec", EXACT)
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_the_automaton_is_deterministic_trim_and_minimal(spec: str, depth: int) -> None:
    automaton = build(_machine(spec), depth)
    steps: list[dict[int, int]] = [{} for _ in range(automaton.states)]
    for source, label, target in zip(automaton.sources, automaton.labels, automaton.targets, strict=True):
        assert int(label) not in steps[source], "one transition for a label"
        steps[source][int(label)] = int(target)
    reached = {0}
    for _ in range(automaton.states):
        reached |= {target for state in reached for target in steps[state].values()}
    assert reached == set(range(automaton.states))
    # distances: how many words it takes at least to an end, by trying one word more at a time
    near = {state for state in range(automaton.states) if automaton.finals[state]}
    distance = dict.fromkeys(near, 0)
    for words in range(1, automaton.states):
        near = {state for state in range(automaton.states) if near & set(steps[state].values())}
        distance = dict.fromkeys(near, words) | distance
    assert [distance[state] for state in range(automaton.states)] == automaton.distances.tolist()
    # Moore: split classes of states until none has two kinds of rows
    kinds = automaton.finals.tolist()
    for _ in range(automaton.states):
        rows = [
            (kinds[q], tuple(sorted((label, kinds[t]) for label, t in steps[q].items()))) for q in range(len(kinds))
        ]
        numbers = {row: number for number, row in enumerate(sorted(set(rows)))}
        kinds = [numbers[row] for row in rows]
    assert len(set(kinds)) == automaton.states
    if spec == "optimal":
        assert automaton.states == 2 ** (depth + 1) - 1, "every string of left and right brackets up to a depth"


def _machine(spec: str) -> Machine:
    machine = machine_of(get(spec), alphabet_of(spec))
    assert machine is not None
    return machine


# Roots and relations.


def test_ties_move_the_root() -> None:
    scores = np.zeros((3, 12))
    for word in range(3):
        root = np.log(np.where(np.arange(3) == word, 0.98, 0.01))
        best = decode(get("optimal"), [scores], [0, 3], [alphabet_of("optimal")], root=root)
        assert np.flatnonzero(best.heads == 0).tolist() == [word]


def test_ties_never_make_a_root_impossible() -> None:
    certain = np.array([0.0, 0.0, -np.inf])
    root_scores = root_score_table(_machine("optimal"), certain, 3)
    assert np.isfinite(root_scores).all()
    best = decode(get("optimal"), [np.zeros((3, 12))], [0, 3], [alphabet_of("optimal")], root=certain)
    assert best.heads[2] != 0
    assert (root_score_table(_machine("hexatags"), certain, 3) == 0).all(), "hexatags do not say which word is the root"


def test_relations_are_root_at_the_root_and_nowhere_else() -> None:
    names = ["nsubj", "root", "obj", f"root{UP}nmod"]
    scores = np.array([[0.0, 9.0, 1.0, 0.0], [5.0, 0.0, 1.0, 2.0], [1.0, 4.0, 2.0, 9.0]])
    chosen = decoding.assign_relations(scores, names, np.array([2, 0, 2], dtype=np.int32))
    assert [names[place] for place in chosen] == ["obj", "root", "obj"]  # a root was never lifted
    plain = decoding.assign_relations(scores[:, [0, 2]], ["nsubj", "obj"], np.array([2, 0, 2], dtype=np.int32))
    assert plain.tolist() == [1, 0, 1], "without a relation `root` each word's best is taken"
    only = decoding.assign_relations(scores[:, [1]], ["root"], np.array([2, 0, 2], dtype=np.int32))
    assert only.tolist() == [0, 0, 0]


# Always one tree.


def assert_trees(spec: str, best: decoding.Best, offsets: npt.NDArray[np.int32], names: tuple[str, ...]) -> None:
    """One tree with one root each; where labels were found to fit, they spell it without repair."""
    found = check_heads(best.heads, offsets)
    assert (found.codes == 0).all()
    for start, stop in pairwise(offsets.tolist()):
        assert (best.heads[start:stop] == 0).sum() == (stop > start)
    assert (best.found | ~best.exact).all()
    if best.marginals is not None:
        return  # labels are each word's likeliest
    encoding = get(spec)
    none = Column(np.zeros(len(best.heads), dtype=np.int32), ("_",))
    small = best.ids[0].astype(np.int16)
    spelled = encoding.decode(Labels(encoding.spec, Offsets(offsets), (Column(small, names),), none)).heads
    fits = np.repeat(best.found, np.diff(offsets))
    assert (spelled[fits] == best.heads[fits]).all()


@st.composite
def wild_scores(draw: st.DrawFn, labels: int) -> Floats:
    """Scores of one sentence of 1 to 40 words: random, tied, very wide, or with holes."""
    words = draw(st.one_of(st.integers(1, 12), st.integers(13, 40)))
    dice = np.random.default_rng(draw(st.integers(0, 2**32)))
    scores = dice.normal(size=(words, labels)) * draw(st.sampled_from([1.0, 30.0, 1e5, 1e307]))
    if draw(st.booleans()):
        scores = np.round(scores)
    if draw(st.booleans()):
        scores[dice.random(scores.shape) < draw(st.sampled_from([0.1, 0.5, 0.9]))] = -np.inf
    return scores


@pytest.mark.parametrize("spec", [*EXACT, *PUBLISHED])
@given(data=st.data())
@settings(max_examples=8 if kernels.compiled() else 3)
def test_there_is_always_one_tree_with_one_root(spec: str, data: st.DataObject) -> None:
    names = alphabet_of(spec)
    scores = data.draw(wild_scores(len(names)))
    offsets = np.array([0, len(scores)], dtype=np.int32)
    arcs = random_arcs(len(scores), len(scores)).reshape(-1)
    for decoder in decoding.label_decoders():
        if (decoder == "joint" and spec == "hexatags") or (
            decoder == "mbr" and spec not in decoding.encodings_of("mbr")
        ):
            continue
        best = decode(get(spec), [scores], offsets, [names], decoder=decoder, arcs=arcs)
        assert_trees(spec, best, offsets, names)
        if np.isfinite(scores).all():
            assert best.found.all() == (decoder != "greedy")
            assert np.isfinite(best.scores).all()


@pytest.mark.parametrize("spec", EXACT)
@given(
    scores=st.integers(1, 5).flatmap(
        lambda n: arrays.arrays(
            np.float64, (n, 16), elements=st.floats(allow_nan=False, max_value=1e308, allow_infinity=None)
        )
    )
)
@settings(max_examples=40)
def test_any_numbers_give_a_tree_and_marginals_that_are_probabilities(spec: str, scores: Floats) -> None:
    names = alphabet_of(spec)
    scores = np.where(scores == np.inf, 1e308, scores)[:, : len(names)]
    offsets = np.array([0, len(scores)], dtype=np.int32)
    best = decode(get(spec), [scores], offsets, [names])
    assert_trees(spec, best, offsets, names)
    totals = every(spec, len(scores)).totals(np.clip(scores, np.where(np.isinf(scores), -np.inf, -LARGEST), LARGEST))
    assert best.found[0] == np.isfinite(totals).any()
    sums = decoding.marginals(scored(get(spec), scores, names))
    assert np.isfinite(sums.logs[0]) == best.found[0]
    assert np.allclose(sums.labels.sum(axis=1), 1.0 if best.found[0] else 0.0)
    if best.found[0]:
        assert best.scores[0] == pytest.approx(totals.max(), rel=1e-9)


def test_where_nothing_fits_the_greedy_tree_is_given_and_said_so() -> None:
    for spec in EXACT:
        names = alphabet_of(spec)
        scores, _ = random_scores(spec, 12, 1)
        scores[2] = -np.inf  # the first sentence cannot be labelled
        offsets = np.array([0, 8, 12], dtype=np.int32)
        best = decode(get(spec), [scores], offsets, [names])
        greedy = decode(get(spec), [scores], offsets, [names], decoder="greedy")
        assert best.found.tolist() == best.exact.tolist() == [False, True]
        assert best.heads[:8].tolist() == greedy.heads[:8].tolist()
        assert best.scores[0] == -np.inf
        assert np.isfinite(best.scores[1]), "one sentence does not spoil the next"
        assert greedy.scores[1] == pytest.approx(scores[8:].max(axis=1).sum())
        assert not greedy.found.any()
        asked = scored(get(spec), scores, names, offsets=offsets)
        assert decoding.k_best(asked, 3) == []
        assert decoding.sample(asked, 3, seed=0) == []
        sums = decoding.marginals(asked)
        assert np.isfinite(sums.logs).tolist() == [False, True]
        assert not sums.labels[:8].any()
        if spec != "hexatags":
            sure, tree_shares = decoding.confidences(asked, best.ids[0], best.heads)
            assert not sure[:8].any()
            assert sure[8:].all()
            assert tree_shares[0] == 0.0
            assert tree_shares[1] > 0.0
            assert not decoding.arc_probabilities(asked, 0).any()


def nested(levels: int) -> list[int]:
    """A tree that has `levels` brackets open at once, node 0's among them: its words lie inside each other's arcs."""
    words = 2 * levels
    heads = [0] * words
    low, high, head = 1, words, 0
    while low <= high:
        heads[low - 1] = head
        if low < high:
            heads[high - 1] = low
            low, high, head = low + 1, high - 1, high
        else:
            break
    return heads


def needed(spec: str, tree: Tree) -> int:
    """Return the largest number of brackets that a tree's labels have open at once."""
    encoding = get(spec)
    machine = _machine(spec)
    state, most = machine.start, 1
    for label in encoding.encode(tree).columns[0].ids.tolist():
        after = machine.step(state, label)
        assert after is not None
        state = after[0]
        most = max(most, machine.height(state))
    assert machine.accepts(state)
    return most


def one_hot(encoding_spec: str, tree: Tree | Treebank) -> tuple[Floats, tuple[str, ...]]:
    labels = get(encoding_spec).encode(tree)
    scores = np.full((len(labels.columns[0].ids), len(labels.columns[0].names)), -np.inf)
    scores[np.arange(len(scores)), labels.columns[0].ids] = 0.0
    return scores, labels.columns[0].names


@pytest.mark.parametrize("spec", EXACT)
@pytest.mark.parametrize("levels", [4, 9, DEEPEST + 4] if kernels.compiled() else [4, 9])
def test_the_depth_grows_by_itself(spec: str, levels: int) -> None:
    tree = Tree(nested(levels), ["_"] * (2 * levels))
    depth = needed(spec, tree)
    scores, names = one_hot(spec, tree)
    offsets = np.array([0, len(tree)], dtype=np.int32)
    best = decode(get(spec), [scores], offsets, [names], depth=2)
    assert best.heads.tolist() == tree.heads.tolist()
    assert best.found.all()
    assert best.exact.all(), "one way only: nothing was left out, whether in an automaton or beyond the deepest"
    asked = scored(get(spec), scores, names)
    sums = decoding.marginals(asked, depth=2)
    if depth <= DEEPEST:
        assert sums.logs[0] == pytest.approx(0.0)
        assert [one.heads for one in decoding.k_best(asked, 2, depth=2)] == [tuple(tree.heads.tolist())]
        assert decoding.sample(asked, 1, seed=0, depth=2)[0].heads == tuple(tree.heads.tolist())
    else:
        assert sums.logs[0] == -np.inf
    if spec != "hexatags":
        sure, share = decoding.confidences(asked, best.ids[0], best.heads, depth=2)
        assert np.allclose(sure, float(depth <= DEEPEST))
        assert share[0] == pytest.approx(float(depth <= DEEPEST))


def test_a_search_that_left_something_out_is_not_called_exact() -> None:
    machine = _machine("optimal")
    scores, _ = random_scores("optimal", 8, 0)
    wide = deep_search(Memory(machine), scores, np.zeros((8, 2)), width=10**6)
    narrow = deep_search(Memory(machine), scores, np.zeros((8, 2)), width=60)
    best = decode(get("optimal"), [scores], [0, 8], [alphabet_of("optimal")], depth=8)
    assert wide is not None
    assert narrow is not None
    assert wide.whole
    assert not narrow.whole
    assert wide.score == pytest.approx(best.scores[0])
    assert wide.labels == best.ids[0].tolist()
    assert narrow.score <= wide.score


@pytest.mark.parametrize("spec", EXACT)
@given(tree=projective_trees(max_words=40))
@settings(max_examples=30 if kernels.compiled() else 5)
def test_gold_labels_give_the_tree_back(spec: str, tree: Tree) -> None:
    scores, names = one_hot(spec, tree)
    best = decode(get(spec), [scores], [0, len(tree)], [names])
    assert best.heads.tolist() == tree.heads.tolist()
    assert best.scores[0] == 0.0
    assert best.exact.all()


# Brackets on stacks, for trees that are not projective.


@cache
def all_heads(words: int) -> list[tuple[int, ...]]:
    """All trees with one root, as heads of words 1 to n."""
    rows = np.array([row for row in np.ndindex(*[words + 1] * words) if row.count(0) == 1], dtype=np.int32)
    offsets = np.arange(len(rows) + 1, dtype=np.int32) * words
    return [tuple(row) for row in rows[check_heads(rows.reshape(-1), offsets).codes == 0].tolist()]


def crosses(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether two arcs, of dependent and head, cross."""
    (a, b), (c, d) = sorted(one), sorted(other)
    return a < c < b < d or c < a < d < b


def seven_bits(heads: tuple[int, ...]) -> Iterator[tuple[str, ...]]:
    """All ways to write a tree in seven bits, by the meaning of each bit and of planes.

    The root's arc lies in plane 1; arcs of one plane do not cross, and those of plane 2 cross one of plane 1.
    """
    arcs = list(enumerate(heads, start=1))
    for planes in np.ndindex(*[2] * len(heads)):
        both = [
            [crosses(arc, other) for other, its in zip(arcs, planes, strict=True) if its == plane]
            for plane in (0, 1)
            for arc in (arcs[word] for word in range(len(heads)) if planes[word] == plane)
        ]
        of_second = [arc for arc, plane in zip(arcs, planes, strict=True) if plane]
        of_first = [arc for arc, plane in zip(arcs, planes, strict=True) if not plane]
        if any(any(row) for row in both) or planes[heads.index(0)]:
            continue
        if not all(any(crosses(arc, other) for other in of_first) for arc in of_second):
            continue
        texts = []
        for (word, head), plane in zip(arcs, planes, strict=True):
            same = [d for (d, h), its in zip(arcs, planes, strict=True) if h == head and its == plane]
            side = [d for d in same if (d < head) == (word < head)]
            bits = [head < word, plane, word == (min if word < head else max)(side)]
            for its in (0, 1):
                own = [d for (d, h), where in zip(arcs, planes, strict=True) if h == word and where == its]
                bits += [any(d < word for d in own), any(d > word for d in own)]
            texts.append("".join(str(int(bit)) for bit in bits))
        yield tuple(texts)


MOST_WORDS = 5 if kernels.compiled() else 4


@cache
def spellings(spec: str) -> dict[int, list[tuple[tuple[str, ...], tuple[int, ...]]]]:
    """The labels and heads of all trees of some words: for `seven-bit` there may be several ways to write one."""
    encoding = get(spec)
    found: dict[int, list[tuple[tuple[str, ...], tuple[int, ...]]]] = {}
    for words in range(1, MOST_WORDS + 1):
        rows = all_heads(words)
        if spec == "seven-bit":
            found[words] = [(texts, heads) for heads in rows for texts in seven_bits(heads)]
        else:
            labels = encoding.encode(Treebank.of([Tree(heads) for heads in rows])).sentences()
            found[words] = [(tuple(map(str, texts)), heads) for texts, heads in zip(labels, rows, strict=True)]
    return found


@cache
def beam_alphabet(spec: str) -> tuple[str, ...]:
    """The labels of all trees of a few words."""
    seen = {text: None for rows in spellings(spec).values() for texts, _ in rows for text in texts}
    return tuple(seen)


@cache
def every_spelling(spec: str, words: int) -> All:
    names = {text: number for number, text in enumerate(beam_alphabet(spec))}
    rows = spellings(spec)[words]
    return All(
        np.array([[names[text] for text in texts] for texts, _ in rows]), np.array([heads for _, heads in rows]), []
    )


@pytest.mark.parametrize("spec", BEAMS)
def test_the_oracles_of_stacks_hold_every_tree_that_is_covered(spec: str) -> None:
    encoding = get(spec)
    for words in range(1, MOST_WORDS + 1):
        rows = [heads for heads in all_heads(words) if spec != "seven-bit" or tree_planes(Tree(heads)).max() <= 2]
        bank = Treebank.of([Tree(heads) for heads in rows])
        wanted = {tuple(map(str, texts)) for texts in encoding.encode(bank).sentences()}
        have = [texts for texts, _ in spellings(spec)[words]]
        assert len(set(have)) == len(have)
        assert wanted <= set(have)
        read = encoding.decode(encoding.labels(have))
        assert read.well_formed
        assert read.heads.tolist() == [head for _, heads in spellings(spec)[words] for head in heads]


@pytest.mark.parametrize("spec", BEAMS)
@pytest.mark.parametrize("words", range(1, MOST_WORDS + 1))
@pytest.mark.parametrize("widths", [(4, 16, 64), (4000,)])
def test_searches_over_stacks_find_what_brute_force_finds(
    spec: str, words: int, widths: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores are plain noise, which is harder to search than what taggers say."""
    monkeypatch.setattr(tree_search, "STACK_WIDTHS", widths)
    monkeypatch.setattr(tree_search, "JOINT_STACK_WIDTHS", widths)
    all_of, names = every_spelling(spec, words), beam_alphabet(spec)
    proved = []
    for seed in range(12 if kernels.compiled() else 2):
        dice = np.random.default_rng(seed)
        scores, root = dice.normal(size=(words, len(names))) * 3, np.log(dice.random(words))
        arcs = random_arcs(words, seed)
        totals = all_of.totals(scores, ties_of(root))
        jointly = totals + arcs[np.arange(words), all_of.heads].sum(axis=1) - arcs.max(axis=1).sum()
        for decoder, wanted in (("exact", totals), ("joint", jointly)):
            best = decode(get(spec), [scores], [0, words], [names], decoder=decoder, root=root, arcs=arcs.reshape(-1))
            assert best.found.all()
            assert best.scores[0] <= wanted.max() + 1e-4
            proved.append(bool(best.exact[0]))
            if best.exact[0]:
                place = int(wanted.argmax())
                assert best.scores[0] == pytest.approx(wanted[place], abs=1e-4)
                assert best.ids[0].tolist() == all_of.rows[place].tolist()
                assert best.heads.tolist() == all_of.heads[place].tolist()
    assert any(proved)
    assert all(proved) or widths != (4000,) or words > 4, "what is searched as a whole is proved"


@pytest.mark.parametrize("spec", BEAMS)
@pytest.mark.parametrize("decoder", ["exact", "joint"])
def test_a_search_over_stacks_that_dropped_something_better_does_not_call_itself_exact(
    spec: str, decoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_search, "STACK_WIDTHS", (1,))
    monkeypatch.setattr(tree_search, "JOINT_STACK_WIDTHS", (1,))
    words = MOST_WORDS
    all_of, names = every_spelling(spec, words), beam_alphabet(spec)
    missed = 0
    for seed in range(60 if kernels.compiled() else 12):
        scores = np.random.default_rng(seed).normal(size=(words, len(names)))
        arcs = random_arcs(words, seed) if decoder == "joint" else np.zeros((words, words + 1), dtype=np.float32)
        totals = all_of.totals(scores) + arcs[np.arange(words), all_of.heads].sum(axis=1) - arcs.max(axis=1).sum()
        best = decode(get(spec), [scores], [0, words], [names], decoder=decoder, arcs=arcs.reshape(-1))
        better = totals.max() > best.scores[0] + 1e-4
        missed += better
        assert not (better and best.exact[0])
    assert missed > 0, "a search of one path at a time misses some"


@pytest.mark.parametrize("spec", BEAMS)
@given(tree=trees(max_words=14))
@settings(max_examples=40 if kernels.compiled() else 5)
def test_stacks_give_back_what_gold_labels_say(spec: str, tree: Tree) -> None:
    if not get(spec).covers(tree).all():
        return
    scores, names = one_hot(spec, tree)
    arcs = random_arcs(len(tree), len(tree)).reshape(-1)
    for decoder in ("exact", "joint"):
        best = decode(get(spec), [scores], [0, len(tree)], [names], decoder=decoder, arcs=arcs)
        assert best.heads.tolist() == tree.heads.tolist()
        assert best.found.all()
        assert best.exact.all(), "there is one way only"


@pytest.mark.parametrize("spec", BEAMS)
@given(data=st.data())
@settings(max_examples=8 if kernels.compiled() else 2)
def test_stacks_always_give_one_tree_with_one_root(spec: str, data: st.DataObject) -> None:
    names = beam_alphabet(spec)
    scores = data.draw(wild_scores(len(names)))[: 40 if kernels.compiled() else 12]
    offsets = np.array([0, len(scores)], dtype=np.int32)
    arcs = random_arcs(len(scores), len(scores)).reshape(-1)
    for decoder in ("exact", "joint"):
        best = decode(get(spec), [scores], offsets, [names], decoder=decoder, arcs=arcs)
        assert_trees(spec, best, offsets, names)
        if np.isfinite(scores).all():
            assert best.found.all(), "projective labels are there to fall back on"


def test_sentences_are_searched_over_stacks_as_each_alone() -> None:
    lengths = [5, 0, 1, 12, 3, 20]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    for spec in BEAMS:
        names = beam_alphabet(spec)
        tables = [np.random.default_rng(words).normal(size=(words, len(names))) for words in lengths]
        arcs = [random_arcs(words, words).reshape(-1) for words in lengths]
        for decoder in ("exact", "joint"):
            together = decode(
                get(spec), [np.concatenate(tables)], offsets, [names], decoder=decoder, arcs=np.concatenate(arcs)
            )
            for number, words in enumerate(lengths):
                alone = decode(get(spec), [tables[number]], [0, words], [names], decoder=decoder, arcs=arcs[number])
                assert together.heads[offsets[number] : offsets[number + 1]].tolist() == alone.heads.tolist()
                assert together.scores[number] == alone.scores[0]


def test_arcs_in_a_third_plane_are_taken_only_where_nothing_else_fits() -> None:
    encoding = get("seven-bit")
    heads = next(
        heads for heads in all_heads(6) if encoding.covers(Tree(heads)).all() and tree_planes(Tree(heads)).max() > 2
    )
    scores, names = one_hot("seven-bit", Tree(heads))
    best = decode(encoding, [scores], [0, 6], [names])
    assert best.heads.tolist() == list(heads)
    assert best.found.all()
    others = next(other for other in all_heads(6) if tree_planes(Tree(other)).max() == 1)
    two = encoding.encode(Treebank.of([Tree(heads), Tree(others)]))
    table = np.full((6, len(two.columns[0].names)), -np.inf)
    table[np.arange(6), two.columns[0].ids[:6]] = 9.0
    table[np.arange(6), two.columns[0].ids[6:]] = np.maximum(table[np.arange(6), two.columns[0].ids[6:]], 0.0)
    best = decode(encoding, [table], [0, 6], [column.names for column in two.columns])
    assert tree_planes(Tree(best.heads)).max() <= 2


@pytest.mark.parametrize("spec", BEAMS)
@pytest.mark.parametrize("decoder", ["exact", "joint"])
def test_where_a_search_over_stacks_finds_nothing_projective_labels_do(
    spec: str, decoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = beam_alphabet(spec)
    scores = np.random.default_rng(4).normal(size=(9, len(names)))
    arcs = np.concatenate([random_arcs(5, 1).reshape(-1), random_arcs(4, 2).reshape(-1)])
    usual = decode(get(spec), [scores], [0, 5, 9], [names], decoder=decoder, arcs=arcs)
    assert usual.found.all()
    monkeypatch.setattr(tree_search, "STACK_WIDTHS", ())
    monkeypatch.setattr(tree_search, "JOINT_STACK_WIDTHS", ())
    fallen = decode(get(spec), [scores], [0, 5, 9], [names], decoder=decoder, arcs=arcs)
    assert fallen.found.all()
    assert_trees(spec, fallen, np.array([0, 5, 9], dtype=np.int32), names)
    assert (fallen.scores <= usual.scores + 1e-9).all()
    safe = "optimal" if spec == "optimal-nonprojective" else "four-bit"
    # the same scores for the projective encoding itself: the fallback is as good as its exact decoder
    texts = alphabet_of(safe)
    as_seven = {text: f"{(c & 8) << 3 | (c & 4) << 2 | (c & 3) << 2:07b}" for c, text in enumerate(texts)}
    own = [text if safe == "optimal" else as_seven[text] for text in texts]
    columns = [scores[:, names.index(text)] if text in names else np.full(9, -np.inf) for text in own]
    exact = decode(get(safe), [np.stack(columns, axis=1)], [0, 5, 9], [texts], decoder=decoder, arcs=arcs)
    assert np.allclose(exact.scores, fallen.scores)
    assert exact.heads.tolist() == fallen.heads.tolist()
    assert not fallen.exact.any()


# Encodings without a machine.


@pytest.mark.parametrize("spec", ["brackets", "relative", "pos-offset", "absolute", "arc-standard", "covington"])
def test_encodings_without_a_machine_are_read_greedily_and_repaired(spec: str) -> None:
    encoding = get(spec)
    heads = [(2, 0, 2, 5, 3), (2, 0, 2), (3, 1, 0, 3)]
    tags = ["PRON", "VERB", "DET", "ADJ", "NOUN"]
    upos = Column.of(tag for tree in heads for tag in tags[: len(tree)])
    offsets = np.array([0, 5, 8, 12], dtype=np.int32)
    flat = np.array([head for tree in heads for head in tree], dtype=np.int32)
    bank = Treebank(Offsets(offsets), flat, {"deprel": Column.constant("_", 12), "upos": upos})
    labels = encoding.encode(bank)
    dice = np.random.default_rng(0)
    alphabets = [column.names for column in labels.columns]
    noisy = [dice.normal(size=(12, len(names))) for names in alphabets]
    best = decode(encoding, noisy, offsets, [column.names for column in labels.columns], upos=upos)
    assert (check_heads(best.heads, offsets).codes == 0).all()
    assert not best.found.any()
    assert [ids.tolist() for ids in best.ids] == [table.argmax(axis=1).tolist() for table in noisy]
    for table, column in zip(noisy, labels.columns, strict=True):
        table[np.arange(12), column.ids] += 99.0
    best = decode(encoding, noisy, offsets, [column.names for column in labels.columns], upos=upos)
    spelled = repair(encoding.decode(labels).heads, labels.offsets).trees.heads
    assert best.heads.tolist() == spelled.tolist()


# Temperature.


def test_a_known_temperature_is_found_again() -> None:
    encoding = get("optimal")
    names = alphabet_of("optimal")
    dice = np.random.default_rng(11)
    sentences, words, hidden = (150, 8, 2.0) if kernels.compiled() else (12, 4, 2.0)
    offsets = np.arange(sentences + 1, dtype=np.int32) * words
    scores = dice.normal(size=(sentences * words, len(names))) * 4
    truth = scored(encoding, scores, names, offsets=offsets, temperature=hidden)
    gold = np.array([decoding.sample(truth, 1, s, seed=s)[0].heads for s in range(sentences)], dtype=np.int32)
    best = decode(encoding, [scores], offsets, [names])
    given_scores = scored(encoding, scores, names, offsets=offsets)
    found = decoding.fit_temperature(given_scores, best, gold.reshape(-1))

    def loss(temperature: float) -> float:
        asked = scored(encoding, scores, names, offsets=offsets, temperature=temperature)
        sure = np.clip(decoding.confidences(asked, best.ids[0], best.heads)[0], 1e-6, 1 - 1e-6)
        return float(-np.where(best.heads == gold.reshape(-1), np.log(sure), np.log1p(-sure)).mean())

    assert loss(found) < loss(1.0)
    assert loss(found) <= min(loss(found * 1.1), loss(found / 1.1)) + 1e-6
    if kernels.compiled():
        assert found == pytest.approx(hidden, rel=0.2)


# Errors.


def test_wrong_inputs_are_named() -> None:
    encoding, names = get("optimal"), alphabet_of("optimal")
    fine = np.zeros((3, 12))
    with pytest.raises(UnknownNameError, match=r"greedy"):
        decode(encoding, [fine], [0, 3], [names], decoder="best")
    with pytest.raises(MismatchError, match=r"\(3, 11\); expected 3 words by 12"):
        decode(encoding, [fine[:, 1:]], [0, 3], [names])
    with pytest.raises(MismatchError, match=r"expected 4 words"):
        decode(encoding, [fine], [0, 4], [names])
    for offsets in ([], [1, 3], [0, 3, 2, 3], [[0, 3]]):
        with pytest.raises(MismatchError, match="offsets"):
            decode(encoding, [fine], offsets, [names])
    with pytest.raises(MismatchError, match="has 1 label column"):
        decode(encoding, [fine, fine], [0, 3], [names, names])
    with pytest.raises(MismatchError, match="has 1 label column"):
        decode(encoding, [fine], [0, 3], [])
    with pytest.raises(MismatchError, match="no labels to choose from"):
        decode(encoding, [fine[:, :0]], [0, 3], [()])
    for spec in (*EXACT, *BEAMS):
        with pytest.raises(LabelError, match="nonsense"):
            decode(get(spec), [fine[:, :1]], [0, 3], [("nonsense",)])
    for depth in (0, DEEPEST + 1):
        with pytest.raises(OptionError, match=f"the depth is {depth}; expected 1 to {DEEPEST}"):
            decode(encoding, [fine], [0, 3], [names], depth=depth)
        with pytest.raises(OptionError, match=f"the depth is {depth}; expected 1 to {DEEPEST}"):
            decoding.marginals(scored(encoding, fine, names), depth=depth)
    for wrong in (np.nan, np.inf):
        holed = fine.copy()
        holed[1, 2] = wrong
        with pytest.raises(MismatchError, match="word 2 of all: scores"):
            decode(encoding, [holed], [0, 3], [names])
        with pytest.raises(MismatchError, match="word 2 of all: root"):
            decode(encoding, [fine], [0, 3], [names], root=holed[:, 2])
    with pytest.raises(MismatchError, match="root log-probabilities of shape"):
        decode(encoding, [fine], [0, 3], [names], root=np.zeros(2))


def test_wrong_questions_are_named() -> None:
    names = alphabet_of("optimal")
    asked = scored(get("optimal"), np.zeros((3, 12)), names)
    for k in (0, -1):
        with pytest.raises(OptionError, match="at least 1"):
            decoding.k_best(asked, k)
        with pytest.raises(OptionError, match="at least 1"):
            decoding.sample(asked, k, seed=0)
    for temperature in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(OptionError, match="temperature"):
            scored(get("optimal"), np.zeros((3, 12)), names, temperature=temperature)
    heads = np.array([0, 1, 1], dtype=np.int32)
    ids = np.zeros(3, dtype=np.int32)
    with pytest.raises(MismatchError, match="2 labels and 3 heads for scores of 3 words"):
        decoding.confidences(asked, ids[:2], heads)
    for head in (-1, 4):
        with pytest.raises(MismatchError, match="outside its sentence"):
            decoding.confidences(asked, ids, np.array([0, 1, head], dtype=np.int32))
    for spec in ("brackets", *BEAMS):
        labels = get(spec).encode(Tree((2, 0, 2), ["_"] * 3))
        with pytest.raises(UnknownNameError, match="encoding with exact decoding"):
            scored(get(spec), np.zeros((3, len(labels.columns[0].names))), labels.columns[0].names)
    tags = scored(get("hexatags"), np.zeros((3, 8)), alphabet_of("hexatags"))
    with pytest.raises(UnknownNameError, match="arc probabilities"):
        decoding.arc_probabilities(tags)
    with pytest.raises(UnknownNameError, match="arc probabilities"):
        decoding.confidences(tags, ids, heads)


def test_nothing_gives_nothing() -> None:
    for spec in (*EXACT, *BEAMS):
        names = alphabet_of(spec) if spec in EXACT else beam_alphabet(spec)
        for offsets in ([0], [0, 0, 0]):
            best = decode(get(spec), [np.zeros((0, len(names)))], offsets, [names])
            assert best.heads.tolist() == []
            assert best.found.all()
            assert len(best.scores) == len(offsets) - 1


# Compiled or not, and the page of the documentation.


def summary_of_all() -> list[Any]:
    """Run everything once on small scores."""
    out: list[Any] = []
    for spec in EXACT:
        scores, root = random_scores(spec, 5, 9)
        names = alphabet_of(spec)
        best = decode(get(spec), [scores], [0, 5], [names], root=root)
        asked = scored(get(spec), scores, names, root=root)
        sums = decoding.marginals(asked)
        kept: list[Candidate] = [*decoding.k_best(asked, 4), *decoding.sample(asked, 4, seed=2)]
        out += [best.heads.tolist(), best.ids[0].tolist(), [one.labels for one in kept]]
        numbers = [best.scores, sums.labels, sums.logs]
        if spec != "hexatags":
            numbers += [decoding.arc_probabilities(asked), *decoding.confidences(asked, best.ids[0], best.heads)]
        out.append([np.round(array, 9).tolist() for array in numbers])
    for spec in BEAMS:
        names = tuple(dict.fromkeys(text for heads in all_heads(4) for text in get(spec).encode(Tree(heads)).texts()))
        scores = np.random.default_rng(3).normal(size=(9, len(names)))
        for decoder in ("exact", "joint"):
            best = decode(get(spec), [scores], [0, 9], [names], decoder=decoder, arcs=random_arcs(9, 3).reshape(-1))
            out += [best.heads.tolist(), best.ids[0].tolist(), best.exact.tolist(), np.round(best.scores, 9).tolist()]
    return out


def test_plain_python_gives_the_same() -> None:
    program = "import test_decoding as t; print(t.kernels.compiled(), t.summary_of_all())"
    said = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"ROPEWALK_PURE": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
    ).stdout
    assert said.startswith("False")
    assert said == f"False {summary_of_all()}\n"


def test_a_scored_question_is_a_value() -> None:
    asked = scored(get("optimal"), np.zeros((2, 12)), alphabet_of("optimal"))
    assert isinstance(asked, Scored)
    with pytest.raises(AttributeError):
        asked.table = np.zeros((2, 12))  # type: ignore[misc]


# Labels and arcs together.


def random_arcs(words: int, seed: int, scale: float = 3.0) -> npt.NDArray[np.float32]:
    dice = np.random.default_rng(seed + 1000)
    return (dice.normal(size=(words, words + 1)) * scale).astype(np.float32)


@pytest.mark.parametrize("spec", ["optimal", "four-bit"])
@given(words=st.integers(1, LONGEST), seed=st.integers(0, 1 << 30))
@settings(max_examples=60, deadline=None)
def test_the_joint_decoder_finds_the_best_tree_by_labels_and_arcs(spec: str, words: int, seed: int) -> None:
    scores, root = random_scores(spec, words, seed)
    arcs = random_arcs(words, seed)
    best = decode(
        get(spec),
        [scores],
        [0, words],
        [alphabet_of(spec)],
        decoder="joint",
        root=root,
        arcs=arcs.reshape(-1),
        depth=LONGEST + 2,
    )
    all_of = every(spec, words)
    totals = all_of.totals(scores, ties_of(root))
    totals += arcs[np.arange(words), all_of.heads].sum(axis=1) - arcs.max(axis=1).sum()
    assert best.scores[0] == pytest.approx(totals.max(), abs=1e-4)
    assert best.exact[0]
    assert best.heads.tolist() == all_of.heads[totals.argmax()].tolist()


def test_a_joint_search_that_dropped_something_better_does_not_call_itself_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missed = 0
    for seed in range(200):
        words = LONGEST
        scores, _ = random_scores("optimal", words, seed, scale=1.0)
        arcs = random_arcs(words, seed, scale=4.0)
        all_of = every("optimal", words)
        totals = all_of.totals(scores) + arcs[np.arange(words), all_of.heads].sum(axis=1) - arcs.max(axis=1).sum()
        monkeypatch.setattr(tree_search, "WIDTHS", (1,))
        best = decode(
            get("optimal"), [scores], [0, words], [alphabet_of("optimal")], decoder="joint", arcs=arcs.reshape(-1)
        )
        better = totals.max() > best.scores[0] + 1e-4
        missed += better
        assert not (better and best.exact[0])
    assert missed > 0, "a search of one path at a time misses some"


def test_a_joint_search_of_many_sentences_is_that_of_each() -> None:
    lengths = [5, 0, 1, 12, 3, 40]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    tables = [random_scores("optimal", words, words)[0] for words in lengths]
    arcs = [random_arcs(words, words).reshape(-1) for words in lengths]
    names = alphabet_of("optimal")
    together = decode(
        get("optimal"), [np.concatenate(tables)], offsets, [names], decoder="joint", arcs=np.concatenate(arcs)
    )
    for number, words in enumerate(lengths):
        alone = decode(get("optimal"), [tables[number]], [0, words], [names], decoder="joint", arcs=arcs[number])
        where = slice(offsets[number], offsets[number + 1])
        assert together.heads[where].tolist() == alone.heads.tolist()
        assert together.scores[number] == alone.scores[0]
        if words:
            assert check_heads(alone.heads, [0, words]).codes.tolist() == [0]


def test_arcs_that_say_nothing_change_nothing() -> None:
    scores, _ = random_scores("optimal", 30, 7)
    names = alphabet_of("optimal")
    flat = np.zeros(30 * 31, dtype=np.float32)
    joint = decode(get("optimal"), [scores], [0, 30], [names], decoder="joint", arcs=flat)
    plain = decode(get("optimal"), [scores], [0, 30], [names])
    assert joint.heads.tolist() == plain.heads.tolist()
    assert joint.scores[0] == pytest.approx(plain.scores[0])
    assert joint.exact[0]


def test_the_joint_decoder_says_what_it_lacks() -> None:
    scores, _ = random_scores("optimal", 3, 1)
    names = alphabet_of("optimal")
    with pytest.raises(MismatchError, match=r"there are no arc scores; expected 12"):
        decode(get("optimal"), [scores], [0, 3], [names], decoder="joint")
    with pytest.raises(MismatchError, match="the arc scores have the shape"):
        decode(get("optimal"), [scores], [0, 3], [names], decoder="joint", arcs=np.zeros(9, dtype=np.float32))
    with pytest.raises(MismatchError, match="not finite"):
        decode(get("optimal"), [scores], [0, 3], [names], decoder="joint", arcs=np.full(12, np.nan, dtype=np.float32))
    tags, _ = random_scores("hexatags", 3, 1)
    with pytest.raises(UnknownNameError, match="joint decoder"):
        decode(
            get("hexatags"),
            [tags],
            [0, 3],
            [alphabet_of("hexatags")],
            decoder="joint",
            arcs=np.zeros(12, dtype=np.float32),
        )


SUMMED = ("optimal", "four-bit")


def sums_written_out(
    spec: str, scores: Floats, arcs: Floats, root_scores: Floats | None = None
) -> tuple[Floats, Floats, float]:
    """Shares of labels and arcs, and the log of the sum, by every projective tree; optimal labels spell others too."""
    words = len(scores)
    whole = every(spec, words)
    known = {*projective_heads(words)}
    kept = [tuple(tree) in known for tree in whole.heads.tolist()]
    all_of = All(whole.rows[kept], whole.heads[kept], [])
    totals = all_of.totals(scores, root_scores) + arcs[np.arange(words), all_of.heads].sum(axis=1)
    shares = np.exp(totals - log_sum(totals))
    labels, heads = np.zeros_like(scores), np.zeros((words, words + 1))
    for share, row, tree in zip(shares, all_of.rows, all_of.heads, strict=True):
        labels[np.arange(words), row] += share
        heads[np.arange(words), tree] += share
    return labels, heads, log_sum(totals)


@pytest.mark.parametrize("spec", SUMMED)
@given(words=st.integers(1, LONGEST), seed=st.integers(0, 1 << 30), scale=st.sampled_from([0.1, 3.0, 30.0, 700.0]))
@settings(max_examples=40, deadline=None)
def test_sums_over_trees_by_labels_and_arcs_are_those_written_out(
    spec: str, words: int, seed: int, scale: float
) -> None:
    scores, _ = random_scores(spec, words, seed, scale)
    arcs = random_arcs(words, seed, scale).astype(np.float64)
    sums = decoding.tree_sums(get(spec), scores, [0, words], alphabet_of(spec), arcs.reshape(-1))
    of_labels, of_arcs, log = sums_written_out(spec, scores, arcs)
    assert sums.logs[0] == pytest.approx(log)
    np.testing.assert_allclose(sums.labels, of_labels, atol=1e-9)
    np.testing.assert_allclose(sums.arcs.reshape(words, words + 1), of_arcs, atol=1e-9)


@pytest.mark.parametrize("spec", SUMMED)
@given(words=st.integers(1, LONGEST), seed=st.integers(0, 1 << 30), scale=st.sampled_from([1.0, 700.0]))
@settings(max_examples=40, deadline=None)
def test_labels_that_are_impossible_have_no_share_in_sums_over_trees(
    spec: str, words: int, seed: int, scale: float
) -> None:
    scores, _ = random_scores(spec, words, seed, scale)
    scores[np.random.default_rng(seed).random(scores.shape) < 0.3] = -np.inf
    arcs = random_arcs(words, seed, scale).astype(np.float64)
    sums = decoding.tree_sums(get(spec), scores, [0, words], alphabet_of(spec), arcs.reshape(-1))
    with np.errstate(invalid="ignore"):  # where no tree is possible
        of_labels, of_arcs, log = sums_written_out(spec, scores, arcs)
    possible = np.isfinite(log)
    assert sums.logs[0] == pytest.approx(log if possible else -np.inf)
    np.testing.assert_allclose(sums.labels, of_labels if possible else 0.0, atol=1e-9)
    np.testing.assert_allclose(sums.arcs.reshape(words, words + 1), of_arcs if possible else 0.0, atol=1e-9)


@pytest.mark.parametrize("optimal", [True, False])
@pytest.mark.parametrize("scale", [0.0, 0.3, 3.0, 30.0, 700.0, 1e6])
@pytest.mark.parametrize("words", [1, 2, 25, 300])
def test_sums_by_products_are_those_by_logarithms(words: int, scale: float, *, optimal: bool) -> None:
    if words > 25 and not kernels.compiled():
        words = 30
    dice = np.random.default_rng(words)
    labels = dice.normal(size=(words, 16)) * scale
    if optimal:
        labels[:, ~np.isin(np.arange(16), OPTIMAL_CODES)] = -np.inf
    labels[:, 3] = -np.inf
    arcs = (dice.normal(size=words * (words + 1)) * scale).astype(np.float32)
    bounds = np.array([0, words], dtype=np.int32)
    found = expected.summed(labels, arcs, bounds, optimal=optimal)
    of_labels, of_arcs, logs = expected.summed_by_logarithms(labels, arcs, bounds, optimal=optimal)
    np.testing.assert_allclose(found.logs, logs, rtol=1e-9)
    np.testing.assert_allclose(found.labels, of_labels, atol=1e-7)
    np.testing.assert_allclose(found.arcs, of_arcs, atol=1e-7)
    assert found.labels.sum() == pytest.approx(words)
    assert found.arcs.sum() == pytest.approx(words)


def test_sums_by_products_leave_out_scores_that_lie_too_far_apart() -> None:
    words, bounds = 10, np.array([0, 10, 20], dtype=np.int32)
    labels = np.zeros((20, 16))
    arcs = np.full((2, words, words + 1), -700.0, dtype=np.float32)
    arcs[0, :, 0] = 0.0  # each word would be the root, and one must be
    arcs[1, :, 0] = -690.0
    logs = np.zeros(2)
    chart.sums(
        labels,
        arcs.reshape(-1),
        bounds,
        np.array([0, 110, 220]),
        0,
        chart.Chart(words),
        np.zeros((20, 16)),
        np.zeros(220),
        logs,
    )
    assert np.isnan(logs).tolist() == [True, False]
    found = expected.summed(labels, arcs.reshape(-1), bounds, optimal=False)
    assert found.logs[0] == pytest.approx(found.logs[1] + 690.0)
    np.testing.assert_allclose(found.arcs[:110], found.arcs[110:], atol=1e-9)


@pytest.mark.parametrize("spec", SUMMED)
@given(words=st.integers(1, LONGEST), seed=st.integers(0, 1 << 30), rooted=st.booleans(), related=st.booleans())
@settings(max_examples=40, deadline=None)
def test_mbr_finds_the_tree_with_most_right_on_average(
    spec: str, words: int, seed: int, *, rooted: bool, related: bool
) -> None:
    scores, root = random_scores(spec, words, seed, 1.0)
    arcs = random_arcs(words, seed, 1.0)
    likely = np.random.default_rng(seed).random((words, words + 1))
    best = decode(
        get(spec),
        [scores],
        [0, words],
        [alphabet_of(spec)],
        decoder="mbr",
        root=root if rooted else None,
        arcs=arcs.reshape(-1),
        relations=(lambda words, heads: likely[words, heads]) if related else None,
    )
    _, shares, _ = sums_written_out(spec, scores, arcs.astype(np.float64), ties_of(root) if rooted else None)
    gains = shares * np.where(shares >= mbr.LIKELY, likely, 0.0) if related else shares
    trees = np.array(all_heads(words))
    rooted_once = trees[(trees == 0).sum(axis=1) == 1]
    most = gains[np.arange(words), rooted_once].sum(axis=1).max()
    assert gains[np.arange(words), best.heads].sum() == pytest.approx(most, abs=1e-6)
    assert best.marginals is not None
    np.testing.assert_allclose(best.marginals, shares[np.arange(words), best.heads], atol=1e-6)
    assert best.scores[0] == pytest.approx(best.marginals.sum())
    assert best.exact.all()


def test_mbr_leaves_what_it_cannot_sum_to_joint(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = [4, 0, 9, 3]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    scores, _ = random_scores("four-bit", 16, 3)
    scores[13:] = -np.inf  # no tree at all
    arcs = np.concatenate([random_arcs(words, words).reshape(-1) for words in lengths])
    names = alphabet_of("four-bit")
    monkeypatch.setattr(mbr, "LONGEST", 5)
    mixed = decode(get("four-bit"), [scores], offsets, [names], decoder="mbr", arcs=arcs)
    joint = decode(get("four-bit"), [scores], offsets, [names], decoder="joint", arcs=arcs)
    assert mixed.heads[4:].tolist() == joint.heads[4:].tolist()
    assert mixed.marginals is not None
    assert mixed.marginals[4:].tolist() == [1.0] * 12
    assert (mixed.marginals[:4] < 1.0).all()
    assert mixed.found.tolist() == [True, True, True, False]


def test_mbr_of_many_sentences_is_that_of_each() -> None:
    lengths = [5, 0, 1, 12, 3, 40]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    scores, root = random_scores("optimal", 61, 5, 1.0)
    assert root is not None
    arcs = [random_arcs(words, words).reshape(-1) for words in lengths]
    names = alphabet_of("optimal")
    whole = decode(get("optimal"), [scores], offsets, [names], decoder="mbr", root=root, arcs=np.concatenate(arcs))
    for number, (start, stop) in enumerate(pairwise(offsets.tolist())):
        one = decode(
            get("optimal"),
            [scores[start:stop]],
            [0, stop - start],
            [names],
            decoder="mbr",
            root=root[start:stop],
            arcs=arcs[number],
        )
        assert whole.heads[start:stop].tolist() == one.heads.tolist()
        assert whole.marginals is not None
        assert one.marginals is not None
        assert whole.marginals[start:stop].tolist() == one.marginals.tolist()


def test_mbr_says_what_it_lacks() -> None:
    scores, _ = random_scores("optimal", 3, 1)
    names = alphabet_of("optimal")
    with pytest.raises(MismatchError, match=r"there are no arc scores; expected 12"):
        decode(get("optimal"), [scores], [0, 3], [names], decoder="mbr")
    tags, _ = random_scores("hexatags", 3, 1)
    with pytest.raises(UnknownNameError, match="mbr decoder"):
        decode(
            get("hexatags"),
            [tags],
            [0, 3],
            [alphabet_of("hexatags")],
            decoder="mbr",
            arcs=np.zeros(12, dtype=np.float32),
        )
    assert set(decoding.encodings_of("mbr")) == set(SUMMED)
