"""Every encoding: exact on all small trees, total on all labels, and as the papers define it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache, partial
from importlib.metadata import EntryPoint
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import FEW, REPOSITORY
from ropewalk import encodings
from ropewalk.core.columns import Column
from ropewalk.core.graphs import Graph, crossing_arcs
from ropewalk.core.projectivity import SCHEMES
from ropewalk.core.repair import POLICIES as REPAIRS
from ropewalk.core.repair import repair
from ropewalk.core.ropes import rope_cover
from ropewalk.core.trees import Tree, Trees, check_heads, projective, same_heads, tree_planes
from ropewalk.encodings import (
    FAULTS,
    POLICIES,
    Encoding,
    Faults,
    Labels,
    PseudoProjective,
    bracketing,
    get,
    known,
    options_of,
    register,
    registry,
)
from ropewalk.encodings import graphs as graph_encodings
from ropewalk.encodings.brackets import Brackets
from ropewalk.encodings.optimal import OptimalNonprojective, largest_index
from ropewalk.encodings.positions import RelativeGraphs
from ropewalk.errors import (
    EncodingError,
    EncodingOptionError,
    LabelError,
    MismatchError,
    RopewalkError,
    UncoveredTreeError,
    UnknownNameError,
)
from ropewalk.kernels import compiled
from ropewalk.testing import check_encoding
from ropewalk.treebank.treebank import Treebank
from strategies import RELATIONS, trees
from test_ropes import every_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hypothesis.strategies import SearchStrategy

    from ropewalk.core.arrays import Bools, Ints

MOST_WORDS = 7 if compiled() else 5
PROJECTIVE = ("optimal", "four-bit", "brackets(stacks=1)", "hexatags", "arc-standard", "arc-eager", "arc-hybrid")
ANY_TREE = ("optimal-nonprojective", "absolute", "relative", "pos-offset", "covington")
PARTLY = (
    "optimal(policy=published)",
    "optimal(policy=published-12)",
    "optimal-nonprojective(max_index=0)",
    "optimal-nonprojective(max_index=1)",
    "four-bit(policy=published)",
    "seven-bit",
    "seven-bit(policy=published)",
    "brackets",
    "brackets(policy=published)",
    "brackets(planes=2)",
    "brackets(policy=published,planes=2)",
    "brackets(planes=3)",
)
PSEUDO = tuple(f"{spec}+{scheme}" for spec in ("optimal", "hexatags") for scheme in SCHEMES)
SPECS = (*PROJECTIVE, *ANY_TREE, *PARTLY, *PSEUDO)
TAGS = ("NOUN", "VERB", "ADP")

# The paper's table that turns the 4 bits into brackets, row by row.
FOUR_BIT_TABLE = {
    "0000": "<", "0001": "</^", "0010": "\\^<", "0011": "\\^</^",
    "0100": "<^", "0101": "<^/^", "0110": "\\^<^", "0111": "\\^<^/^",
    "1000": ">", "1001": ">/^", "1010": "\\^>", "1011": "\\^>/^",
    "1100": ">^", "1101": ">^/^", "1110": "\\^>^", "1111": "\\^>^/^",
}  # fmt: skip


@cache
def every_bank(words: int) -> Treebank:
    """All trees of so many words, with some parts of speech."""
    trees = every_tree(words)
    tags = np.random.default_rng(words).integers(0, len(TAGS), size=len(trees.heads)).astype(np.int32)
    return Treebank(trees.offsets, trees.heads, {"deprel": trees.relations, "upos": Column(tags, TAGS)})


@cache
def projective_ones(words: int) -> Bools:
    """Which of all trees of so many words are projective."""
    return projective(every_tree(words))


def test_every_encoding_is_tried_with_every_policy() -> None:
    names = {spec.partition("(")[0].partition("+")[0] for spec in SPECS}
    assert names == set(known())
    for name in known():
        for policy in set(get(name).policies) - {"lift", "refuse"}:
            assert any(spec.startswith(name) and f"policy={policy}" in spec for spec in SPECS)


@pytest.mark.parametrize("spec", SPECS)
def test_every_small_tree_comes_back_if_and_only_if_it_is_covered(spec: str) -> None:
    encoding = get(spec)
    labels_seen: set[str] = set()
    for words in range(MOST_WORDS + (spec not in PSEUDO)):  # which write what the encoding inside them writes
        bank = every_bank(words)
        labels = encoding.encode(bank)
        labels_seen.update(labels.columns[0])
        decoded = encoding.decode(labels)
        covered = encoding.covers(bank)
        back = same_heads(bank.heads, decoded.heads, bank.offsets)
        assert np.array_equal(back, covered)
        as_published = encoding.policy.startswith("published")
        assert not check_heads(decoded.heads, decoded.offsets).codes.any() or as_published
        if spec in ANY_TREE:
            assert covered.all()
        elif not as_published:
            assert covered[projective_ones(words)].all()
        if spec in PROJECTIVE or spec in PSEUDO:
            assert np.array_equal(covered, projective_ones(words))
        if not as_published:
            assert decoded.well_formed
    if encoding.alphabet is not None:
        assert labels_seen <= set(encoding.alphabet)


@pytest.mark.parametrize(("spec", "labels"), [("optimal", 12), ("four-bit", 16), ("hexatags", 8)])
def test_the_labels_of_all_projective_trees_are_exactly_so_many(spec: str, labels: int) -> None:
    encoding = get(spec)
    assert encoding.alphabet is not None
    assert len(set(encoding.alphabet)) == len(encoding.alphabet) == labels
    seen = {text for words in range(1, MOST_WORDS + 1) for text in encoding.encode(every_bank(words)).texts()}
    assert seen == set(encoding.alphabet)


def test_the_labels_of_optimal_are_those_of_the_table_without_the_four_that_cannot_be() -> None:
    missing = {"<^/^", "\\^>^", "\\^<^/^", "\\^>^/^"}
    assert set(get("optimal").alphabet or ()) == set(FOUR_BIT_TABLE.values()) - missing


def projective_trees_of(words: int) -> Iterator[Tree]:
    for row in every_tree(words).heads.reshape(-1, words)[projective_ones(words)]:
        yield Tree(row)


def four_bits(tree: Tree) -> list[str]:
    """Write the 4 bits by their definition in Gómez-Rodríguez, Roca & Vilares (2023)."""
    out = []
    for head, word in tree.arcs():
        siblings = tree.dependents(head)
        farthest = max(siblings) == word if head < word else min(siblings) == word
        own = tree.dependents(word)
        out.append(
            "".join(
                str(int(b))
                for b in (head < word, farthest, min(own, default=word) < word, max(own, default=word) > word)
            )
        )
    return out


@pytest.mark.parametrize("words", range(1, MOST_WORDS))
def test_four_bits_by_their_definition_are_the_brackets_of_the_cover_farthest(words: int) -> None:
    listed = list(projective_trees_of(words))
    labels = get("four-bit").encode(Treebank.of(listed)).sentences()
    for tree, found in zip(listed, labels, strict=True):
        bits = four_bits(tree)
        assert found == bits
        assert [FOUR_BIT_TABLE[label] for label in bits] == bracketing(rope_cover(tree, "farthest"))


@pytest.mark.parametrize("words", range(1, MOST_WORDS))
def test_optimal_is_the_bracketing_of_the_proper_cover(words: int) -> None:
    listed = list(projective_trees_of(words))
    bank = Treebank.of(listed)
    indexed = get("optimal-nonprojective").encode(bank).sentences()
    naive = get("brackets(stacks=1)").encode(bank).sentences()
    for tree, found, same, plain in zip(listed, get("optimal").encode(bank).sentences(), indexed, naive, strict=True):
        assert found == same == bracketing(rope_cover(tree, "proper"))
        if len(tree.roots) == 1:
            assert plain == [text.replace("^", "") for text in bracketing(rope_cover(tree, "all"))]


def seven_bits(tree: Tree) -> list[str]:
    """Write the 7 bits by their definition, planes after the second joining the first."""
    level = [1 if plane > 2 else plane for plane in tree_planes(tree).tolist()]
    out = []
    for head, word in tree.arcs():
        plane = level[word - 1]
        side = [d for d in tree.dependents(head) if level[d - 1] == plane and (d > head) == (word > head)]
        farthest = word == (max(side) if word > head else min(side))
        bits = [head < word, plane == 2, farthest]
        for wanted in (1, 2):
            own = [d for d in tree.dependents(word) if level[d - 1] == wanted]
            bits += [min(own, default=word) < word, max(own, default=word) > word]
        out.append("".join(str(int(bit)) for bit in bits))
    return out


@pytest.mark.parametrize("words", range(1, 6))
def test_published_bits_are_their_definition_on_every_tree(words: int) -> None:
    bank = every_bank(words)
    listed = bank.trees()
    assert get("four-bit(policy=published)").encode(bank).sentences() == [four_bits(tree) for tree in listed]
    assert get("seven-bit(policy=published)").encode(bank).sentences() == [seven_bits(tree) for tree in listed]


class PublishedArcs:
    """Heads while they are being read, by the rule of validity that the published figures rest on."""

    def __init__(self, words: int, *, one_root: bool = True) -> None:
        self.heads = [-1] * (words + 1)
        self.one_root = one_root

    def add(self, head: int, dependent: int) -> bool:
        if dependent == 0 or self.heads[dependent] >= 0 or (self.one_root and head == 0 and 0 in self.heads[1:]):
            return False
        above = head
        while above > 0 and above != dependent:
            above = self.heads[above]
        if above == dependent:
            return False
        self.heads[dependent] = head
        return True


def published_optimal_labels(tree: Tree) -> list[str]:
    """Write the published labels of the optimal encoding, non-projective trees included."""
    cover = rope_cover(tree)
    rows: list[list[tuple[bool, int, bool, str]]] = [[] for _ in range(len(tree) + 1)]  # opening, -other end, super
    for (head, word), end in zip(cover.arcs, cover.leans, strict=True):
        right = head < word
        if end:
            rows[word].append((end == "right", -head, False, "<" if end == "right" else ">"))
        else:
            rows[max(head, word)].append((False, -min(head, word), True, ">^" if right else "\\^"))
            rows[min(head, word)].append((True, -max(head, word), True, "/^" if right else "<^"))
    return ["".join(text for *_, text in sorted(row)) for row in rows[1:]]


def split_brackets(label: str) -> list[tuple[str, int]]:
    """Split a label into brackets without their indices, and the indices."""
    return [(text.rstrip("*"), text.count("*")) for text in re.findall(r"[<>/\\]\^?\**", label)]


def plain_stack_heads(labels: Sequence[str], *, one_root: bool = False, peek: bool = False) -> list[int]:
    """Read brackets, whatever their order and index, as the paper's algorithms and the published figures do."""
    arcs = PublishedArcs(len(labels), one_root=one_root)
    stack = [("/^", 0, 0)]
    for word, label in enumerate(labels, start=1):
        for bracket, index in split_brackets(label):
            if bracket[0] in "</":
                stack.append((bracket, word, index))
            elif bracket.endswith("^"):
                close_superbracket(arcs, stack, bracket, word, index, peek=peek)
            else:
                found = [place for sign, place, _ in stack if sign.endswith("^") or peek]
                if len(found) > index:
                    ends = (found[-1 - index], word)
                    arcs.add(*(ends if bracket == ">" else ends[::-1]))
    return arcs.heads[1:]


def close_superbracket(  # noqa: PLR0913 - the state of the reader, and what it reads
    arcs: PublishedArcs, stack: list[tuple[str, int, int]], bracket: str, word: int, index: int, *, peek: bool
) -> None:
    wanted = "/^" if bracket == ">^" else "<^"
    for at in range(len(stack) - 1, -1, -1):
        sign, place, skips = stack[at]
        if not sign.endswith("^") and skips:
            stack[at] = (sign, place, skips - 1)
        elif not sign.endswith("^"):
            arcs.add(*((word, place) if sign == "<" else (place, word)))
            del stack[at]
        elif sign == wanted:
            index -= 1
            if index == -1 and (arcs.add(*((place, word) if bracket == ">^" else (word, place))) or peek):
                del stack[at]
                return


def published_bit_heads(labels: Sequence[str]) -> list[int]:
    """Read four bits, or seven, with a stack for each plane and direction."""
    arcs = PublishedArcs(len(labels))
    wide = len(labels[0]) == 7
    rows = [label if wide else f"{label[0]}0{label[1:]}00" for label in labels]
    left: tuple[list[int], list[int]] = ([], [])
    right: tuple[list[int], list[int]] = ([0], [])
    for word, bits in enumerate(rows, start=1):
        on_left, plane, farthest = bits[0] == "1", int(bits[1]), bits[2] == "1"
        if on_left and right[plane] and arcs.add(right[plane][-1], word) and farthest:
            right[plane].pop()
        for own in (0, 1):
            if bits[3 + 2 * own] == "1":
                while left[own] and arcs.add(word, left[own][-1]):
                    if rows[left[own].pop() - 1][2] == "1":
                        break
        if not on_left:
            left[plane].append(word)
        for own in (0, 1):
            if bits[4 + 2 * own] == "1":
                right[own].append(word)
    return arcs.heads[1:]


@pytest.mark.parametrize("words", range(1, 6))
def test_published_optimal_labels_follow_their_definition_on_every_tree(words: int) -> None:
    encoding = get("optimal(policy=published)")
    bank = every_bank(words)
    expected = [published_optimal_labels(tree) for tree in bank.trees()]
    labels = encoding.encode(bank)
    assert labels.sentences() == expected
    heads = [head for sentence in expected for head in plain_stack_heads(sentence, one_root=True)]
    assert encoding.decode(labels).heads.tolist() == heads


def four_bit_brackets(labels: Sequence[str]) -> list[int]:
    return plain_stack_heads([FOUR_BIT_TABLE[label] for label in labels])


PLAIN_READING: dict[str, Callable[[Sequence[str]], list[int]]] = {
    "optimal": plain_stack_heads,
    "optimal(policy=published)": partial(plain_stack_heads, one_root=True),
    "optimal(policy=published-12)": partial(plain_stack_heads, peek=True),
    "optimal-nonprojective": plain_stack_heads,
    "four-bit": four_bit_brackets,
    "four-bit(policy=published)": published_bit_heads,
    "seven-bit(policy=published)": published_bit_heads,
}


@pytest.mark.parametrize("spec", PLAIN_READING)
@given(data=st.data())
def test_greedy_reading_follows_its_definition_on_any_labels(spec: str, data: st.DataObject) -> None:
    encoding = get(spec)
    labels = data.draw(st.lists(labels_of(encoding), min_size=1, max_size=12))
    assert encoding.decode(encoding.labels([labels])).heads.tolist() == PLAIN_READING[spec](labels)


def test_an_unmatched_closing_superbracket_fires_the_semibrackets_above() -> None:
    """So does the paper's Algorithm 1: word 3 closes a left rope that nobody opened, and is the head all the same."""
    for spec, labels in {
        "optimal": ["<", "<", "\\^>^"],
        "optimal-nonprojective": ["<", "<", "\\^>^"],
        "four-bit": ["0000", "0000", "1110"],
    }.items():
        if spec == "optimal":
            labels[2] = "\\^>"  # the 12 labels have no closing superbracket beside another
        decoded = get(spec).decode(get(spec).labels([labels]))
        assert decoded.heads.tolist() == [3, 3, 0]
        assert "unmatched closing bracket" in decoded.counts()


def labels_of(encoding: Encoding) -> SearchStrategy[Any]:
    """Draw labels of an encoding: any of a closed list, or any that the grammar of an open one allows."""
    if encoding.alphabet is not None:
        return st.sampled_from(encoding.alphabet)
    numbers = st.integers(1, 999_999_999) | st.integers(1, 12)
    steps = st.builds("{}{}".format, st.sampled_from("+-"), numbers)
    repeats = st.sampled_from(["", "1", "2", "3", "17", "9999999"])
    systems = {
        "arc-standard": ("LR", "S"),
        "arc-eager": ("LD", "SR"),
        "arc-hybrid": ("LR", "S"),
        "covington": ("LRN", "S"),
    }
    if encoding.name in systems:
        letters, reads = systems[encoding.name]
        several = st.lists(st.builds(str.__add__, st.sampled_from(letters), repeats), max_size=4).map("".join)
        return st.builds("{}{}{}".format, several, st.sampled_from(reads), several)
    if isinstance(encoding, Brackets):
        stars = st.integers(0, encoding.planes - 1)
    elif isinstance(encoding, OptimalNonprojective):
        stars = st.integers(0, 3) | st.integers(0, 200)
        if encoding.max_index >= 0:
            stars = st.integers(0, encoding.max_index)
    else:
        return {
            "absolute": st.integers(0, 12).map(str) | numbers.map(str),
            "relative": steps | st.just("0"),
            "pos-offset": st.tuples(steps, st.sampled_from([*TAGS, "ROOT", "ADV", "_"])),
        }[encoding.name]
    hats = st.just("") if isinstance(encoding, Brackets) else st.sampled_from(["", "^"])
    one = st.builds(lambda sign, hat, many: sign + hat + "*" * many, st.sampled_from("<>\\/"), hats, stars)
    return st.lists(one, max_size=6).map(lambda parts: "".join(parts) or "_")


@pytest.mark.parametrize("spec", SPECS)
@FEW
@given(data=st.data())
def test_any_labels_are_read_and_repaired_into_trees(spec: str, data: st.DataObject) -> None:
    encoding = get(spec)
    inner = encoding.inner if isinstance(encoding, PseudoProjective) else encoding
    sentences = data.draw(st.lists(st.lists(labels_of(inner), max_size=9), max_size=3))
    tags = [[data.draw(st.sampled_from(TAGS)) for _ in sentence] for sentence in sentences]
    marked = st.sampled_from([*RELATIONS, "det¡nsubj", "obj¡", "conj!", "conj!¡obj", "¡", "!¡!¡"])
    relations = [[data.draw(marked) for _ in sentence] for sentence in sentences]
    labels = encoding.labels(sentences, relations, tags)
    decoded = encoding.decode(labels)
    for own in labels.offsets.split(decoded.heads):
        assert ((own >= -1) & (own <= len(own))).all()
        assert not check_heads(np.where(own < 0, 0, own), [0, len(own)]).codes.any()
    faults = decoded.faults()
    assert {fault.kind for fault in faults} <= set(FAULTS.values())
    headless = [(fault.sentence, fault.word) for fault in faults if fault.kind == "no head"]
    found = np.flatnonzero(decoded.heads < 0)
    bounds = labels.offsets.array
    where = np.searchsorted(bounds, found, side="right")
    assert headless == list(zip(where.tolist(), (found - bounds[where - 1] + 1).tolist(), strict=True))
    assert sum(decoded.counts().values()) == len(faults)
    for policy in REPAIRS:
        assert_trees(repair(decoded.heads, decoded.offsets, policy).trees)
        recovered = encoding.recover(labels, repair_policy=policy).trees
        assert_trees(recovered, several_roots=encoding.keeps_roots)
        if isinstance(encoding, PseudoProjective):
            assert not any("¡" in name for name in recovered.relations.texts())


def assert_trees(trees: Trees, *, several_roots: bool = False) -> None:
    found = check_heads(trees.heads, trees.offsets)
    assert not found.codes.any()
    assert np.array_equal(np.minimum(found.roots, 1) if several_roots else found.roots, trees.offsets.lengths > 0)


@pytest.mark.parametrize("spec", ["optimal", "four-bit", "hexatags", "optimal(policy=published)"])
def test_every_row_of_three_labels_is_read_into_trees(spec: str) -> None:
    encoding = get(spec)
    rows = list(product(encoding.alphabet or (), repeat=3))
    assert_trees(encoding.recover(encoding.labels(rows)).trees)


def test_the_largest_index_is_the_longest_row_of_stars() -> None:
    for words in range(1, 6):
        bank = every_bank(words)
        rows = get("optimal-nonprojective").encode(bank).sentences()
        stars = [max(len(found) for label in row for found in re.findall(r"\**", label)) for row in rows]
        assert largest_index(bank.trees()).tolist() == stars


CROSSING = Tree([0, 4, 1, 1, 2], ["root", "nsubj", "advmod", "obj", "nmod"])


@pytest.mark.parametrize("spec", [*PROJECTIVE, "optimal-nonprojective(max_index=0)", "seven-bit", "brackets(planes=2)"])
@FEW
@given(tree=trees(single_root=False))
def test_lift_writes_a_covered_tree_over_the_same_words_and_leaves_covered_ones_alone(spec: str, tree: Tree) -> None:
    encoding = get(spec)
    labels = encoding.encode(tree)
    back = Tree(encoding.decode(labels).heads)
    assert bool(encoding.covers(tree)[0]) == (back == Tree(tree.heads))
    assert encoding.covers(back).all()
    assert labels.relations.texts() == list(tree.relations)
    if encoding.alphabet is not None:
        assert set(labels.texts()) <= set(encoding.alphabet)


@pytest.mark.parametrize("spec", [*PROJECTIVE, "optimal-nonprojective(max_index=0)"])
def test_refuse_names_the_sentence_and_the_crossing_arcs(spec: str) -> None:
    encoding = get(spec, policy="refuse")
    fine = Tree([2, 0])
    with pytest.raises(UncoveredTreeError) as caught:
        encoding.encode(Treebank.of([fine, CROSSING]))
    assert caught.value.sentence == 2
    assert set(caught.value.arcs) == {arc for pair in crossing_arcs(CROSSING) for arc in pair}
    assert str(caught.value).startswith(f"sentence 2: {encoding.spec} cannot write this tree: crossing arcs: 4->2, ")
    assert "'lift'" in str(caught.value)
    assert encoding.encode(fine).sentences() == get(spec).encode(fine).sentences()


def test_a_policy_must_be_known_and_be_the_encodings_own() -> None:
    with pytest.raises(UnknownNameError, match="unknown policy 'lft'; did you mean 'lift'"):
        get("optimal(policy=lft)")
    for name in known():
        for policy in POLICIES:
            if policy in get(name).policies:
                assert get(name, policy=policy).policy == policy
            else:
                with pytest.raises(EncodingOptionError, match=f"{name} has no policy '{policy}'; it has: lift, refuse"):
                    get(name, policy=policy)
    with pytest.raises(EncodingOptionError, match="stacks=1 has: lift, refuse"):
        get("brackets(stacks=1,policy=published)")


@pytest.mark.parametrize("spec", SPECS)
def test_a_spec_says_all_that_is_needed_to_make_the_encoding_again(spec: str) -> None:
    assert get(spec).spec == spec
    assert get(get(spec).spec).options() == get(spec).options()


def test_specs_are_read_with_spaces_and_defaults_are_left_out() -> None:
    assert get("brackets( planes = 2 )").spec == "brackets(planes=2)"
    assert get("brackets(stacks=2, planes=1, policy=lift)").spec == "brackets"
    assert get("optimal-nonprojective(max_index=-1)").spec == "optimal-nonprojective"
    assert get("four-bit +head+path").spec == "four-bit+head+path"
    assert get("brackets(planes=2)", planes=3).spec == "brackets(planes=3)"
    assert options_of("brackets") == {"policy": "lift", "stacks": 2, "planes": 1}


@pytest.mark.parametrize(
    ("spec", "error", "says"),
    [
        ("", EncodingOptionError, "names no encoding; expected NAME"),
        ("optimal(", EncodingOptionError, "names no encoding"),
        ("optimum", UnknownNameError, "unknown encoding 'optimum'.* optimal, optimal-nonprojective, four-bit, "),
        ("brackets(plane=2)", UnknownNameError, "option of brackets 'plane'; did you mean 'planes'.*policy, stacks"),
        ("brackets(planes)", EncodingOptionError, "brackets: 'planes' is no option; expected option=value"),
        ("brackets(planes=two)", EncodingOptionError, "planes is 'two'; expected an integer"),
        ("brackets(planes=0)", EncodingOptionError, "planes must be 1 to 100"),
        ("brackets(stacks=1,planes=2)", EncodingOptionError, "1 with a single stack"),
        ("brackets(stacks=3)", EncodingOptionError, "stacks must be 1 or 2, found 3"),
        ("optimal(policy=3)", EncodingOptionError, "policy is 3; expected a name"),
        ("optimal-nonprojective(max_index=-2)", EncodingOptionError, "max_index must be 0 or more"),
        ("optimal+heads", UnknownNameError, r"scheme 'heads'; did you mean 'head'.*head, path, head\+path"),
        ("seven-bit+head", EncodingOptionError, "seven-bit cannot be pseudo-projective: use a projective encoding"),
        ("optimal(policy=published)+head", EncodingOptionError, "cannot be pseudo-projective"),
    ],
)
def test_a_wrong_spec_is_refused_with_what_is_known(spec: str, error: type[RopewalkError], says: str) -> None:
    with pytest.raises(error, match=says):
        get(spec)


@pytest.mark.parametrize(
    ("spec", "label", "says"),
    [
        ("optimal", "<^/^", "'<\\^/\\^' is not a label of optimal; expected one of < "),
        ("four-bit", "10101", "expected one of 0000 0001"),
        ("brackets", "<*", "at most 0 \\* and no \\^"),
        ("brackets", "<^", "no \\^"),
        ("brackets", "x", "expected brackets"),
        ("optimal-nonprojective", "", "expected brackets"),
        ("optimal-nonprojective", "^<", "expected brackets"),
        ("optimal-nonprojective(max_index=1)", ">**", "more than 1 \\*"),
        ("absolute", "-1", "a head: 0, 1, 2"),
        ("absolute", "01", "a head"),
        ("absolute", "9999999999", "a head"),
        ("relative", "3", "a distance"),
        ("relative", "+0", "a distance"),
        ("arc-standard", "LR", "one of them a reading one"),
        ("arc-standard", "SS", "one of them a reading one"),
        ("arc-standard", "SD", "letters of SLR"),
        ("arc-eager", "S2", "a reading one"),
        ("covington", "SX", "letters of SLRN"),
        ("hexatags+path", "Q", "expected one of "),
    ],
)
def test_a_label_that_an_encoding_does_not_have_is_refused(spec: str, label: str, says: str) -> None:
    with pytest.raises(LabelError, match=says):
        get(spec).labels([[label]])


def test_texts_that_are_no_labels_yet_are_refused_with_the_method_that_makes_labels() -> None:
    wrong: Any = [["<", ">^/^", ">^"]]
    with pytest.raises(MismatchError, match=r"found list; expected Labels: make them from texts with .* labels\("):
        get("optimal").decode(wrong)
    assert get("optimal").decode(get("optimal").labels(wrong)).heads.tolist() == [2, 0, 2]


def test_labels_that_do_not_fit_their_words_are_refused() -> None:
    with pytest.raises(MismatchError, match="has 2 label columns, found 1"):
        get("pos-offset").labels([["+1"]], upos=[["NOUN"]])
    with pytest.raises(MismatchError, match="1 labels but 2 relations"):
        get("optimal").labels([[">^"]], [["root", "obj"]])
    with pytest.raises(LabelError, match="a count of words"):
        get("pos-offset").labels([[("0", "NOUN")]], upos=[["NOUN"]])
    with pytest.raises(EncodingError, match="needs parts of speech"):
        get("pos-offset").encode(Tree([0]))
    with pytest.raises(EncodingError, match="needs parts of speech"):
        get("pos-offset").decode(get("pos-offset").labels([[("-1", "ROOT")]]))


def test_labels_come_in_the_smallest_type() -> None:
    bank = every_bank(4)
    assert get("optimal").encode(bank).columns[0].ids.dtype == np.uint8
    long = Tree([*range(2, 402), 0])
    assert get("absolute").encode(long).columns[0].ids.dtype == np.int16
    assert get("absolute").decode(get("absolute").encode(long)).heads.tolist() == long.heads.tolist()


@pytest.mark.parametrize("spec", SPECS)
def test_threads_change_nothing(spec: str) -> None:
    encoding = get(spec)
    bank = every_bank(4)
    one, two = encoding.encode(bank), encoding.encode(bank, threads=2)
    for column in range(len(encoding.columns)):
        assert one.texts(column) == two.texts(column)
    assert one.relations.texts() == two.relations.texts()
    shuffled = np.random.default_rng(1).permutation(one.offsets.total)  # labels full of faults
    wrong = Labels(
        one.encoding, one.offsets, tuple(column.take(shuffled) for column in one.columns), one.relations, one.upos
    )
    for labels in (one, wrong):
        alone, both = encoding.decode(labels), encoding.decode(labels, threads=2)
        assert np.array_equal(alone.heads, both.heads)
        assert alone.faults() == both.faults()
        assert alone.counts() == both.counts()
    first, second = encoding.recover(wrong), encoding.recover(wrong, threads=2)
    assert np.array_equal(first.trees.heads, second.trees.heads)
    assert first.repairs == second.repairs


def figures() -> str:
    """Write out what all encodings make of all trees of four words, right labels and wrong."""
    out = []
    for spec in SPECS:
        encoding = get(spec)
        labels = encoding.encode(every_bank(4))
        order = np.random.default_rng(2).permutation(labels.offsets.total)
        wrong = Labels(
            labels.encoding,
            labels.offsets,
            tuple(column.take(order) for column in labels.columns),
            labels.relations,
            labels.upos,
        )
        for given_labels in (labels, wrong):
            decoded = encoding.decode(given_labels)
            texts = [given_labels.texts(column) for column in range(len(labels.columns))]
            out.append(repr((spec, texts, decoded.heads.tolist(), decoded.faults())))
            out.append(repr(encoding.recover(given_labels, repair_policy="root").trees.heads.tolist()))
    return "\n".join(out)


@pytest.mark.skipif(not compiled(), reason="the kernels are not compiled, so there is nothing to compare")
def test_compiled_and_plain_kernels_give_the_same() -> None:
    program = (
        f"import hashlib, sys; sys.path.insert(0, {str(REPOSITORY / 'tests')!r}); import test_encodings as t; "
        "print(hashlib.sha256(t.figures().encode()).hexdigest())"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"ROPEWALK_PURE": pure},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for pure in ("", "1")
    ]
    assert found[0] == found[1]
    assert len(found[0].strip()) == 64


class Chain(Encoding):
    """A third party's encoding for the one tree in which each word hangs on the one before it."""

    name = "chain"
    summary = "each word hangs on the one before it"
    cites = "nobody"

    def __init__(self, *, policy: str = "refuse", mark: str = "x") -> None:
        super().__init__(policy=policy)
        self.mark = mark

    def options(self) -> dict[str, str | int]:
        return {"mark": self.mark}

    def covered(self, trees: Trees) -> Bools:
        return same_heads(trees.heads, trees.offsets.positions() - 1, trees.offsets)

    def write(
        self,
        trees: Trees,
        upos: Column | None,  # noqa: ARG002 - the protocol's
    ) -> list[Column]:
        return [Column.constant(self.mark, len(trees.heads))]

    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        return labels.offsets.positions() - 1, Faults.of(labels.offsets)

    def check_label(self, text: str, column: int = 0) -> None:  # noqa: ARG002 - the protocol's
        if text != self.mark:
            raise LabelError(self.spec, text, self.mark)


@pytest.fixture
def third_party(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def entry_points(**wanted: Any) -> list[EntryPoint]:  # noqa: ANN401 - as importlib.metadata has it
        assert wanted == {"group": "ropewalk.encodings"}
        return [
            EntryPoint("chain", "test_encodings:Chain", "ropewalk.encodings"),
            EntryPoint("optimal", "test_encodings:Chain", "ropewalk.encodings"),
        ]

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    registry.installed.cache_clear()
    yield
    registry.installed.cache_clear()


@pytest.mark.usefixtures("third_party")
def test_another_package_can_add_an_encoding_but_not_replace_one() -> None:
    assert list(known())[-1] == "chain"
    encoding = get("chain(mark=y)")
    tree = Tree([0, 1, 2])
    labels = encoding.encode(tree)
    assert labels.sentences() == [["y", "y", "y"]]
    assert list(encoding.recover(labels).trees) == [tree]
    assert encoding.spec == "chain(mark=y)"
    assert get("optimal").cites != "nobody"
    assert get("chain+head").spec == "chain(mark=x)+head"
    with pytest.raises(UnknownNameError, match="chain"):
        get("chian")
    with pytest.raises(UncoveredTreeError, match="sentence 1: chain"):
        encoding.encode(Tree([2, 0]))


def test_hexatags_of_a_small_tree_by_hand() -> None:
    """The binary head tree of `she reads books` is (0 (she (reads books)))."""
    assert get("hexatags").encode(Tree([2, 0, 2])).sentences() == [["L<l", "R>l", "R<r"]]


@pytest.mark.parametrize(
    ("spec", "labels"),
    [
        ("arc-standard", ["S", "S", "LSR2"]),
        ("arc-eager", ["S", "LR", "R"]),
        ("arc-hybrid", ["S", "LS", "SR2"]),
        ("absolute", ["2", "0", "2"]),
        ("relative", ["+1", "0", "-1"]),
    ],
)
def test_transitions_and_offsets_of_a_small_tree_by_hand(spec: str, labels: list[str]) -> None:
    assert get(spec).encode(Tree([2, 0, 2])).sentences() == [labels]


def test_offsets_over_parts_of_speech_by_hand() -> None:
    bank = Treebank.of([Tree([4, 4, 2, 0, 4])], [["ADP", "NOUN", "VERB", "VERB", "NOUN"]])
    labels = get("pos-offset").encode(bank)
    assert labels.texts(0) == ["+2", "+2", "-1", "-1", "-1"]
    assert labels.texts(1) == ["VERB", "VERB", "NOUN", "ROOT", "VERB"]


def test_the_documentation_names_every_encoding() -> None:
    page = (REPOSITORY / "docs" / "choosing.md").read_text(encoding="utf-8")
    table = page.partition("| name | paper |")[2].partition("\n\n")[0]
    for name in known():
        assert f"`{name}`" in table
        labels = get(name).alphabet
        if labels is not None:
            row = next(line for line in table.split("\n") if f"| `{name}` |" in line)
            assert row.split(" | ")[2] == str(len(labels))


def test_an_encoding_can_be_registered_at_run_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encodings.REGISTRY, "_registered", {})
    assert register(Chain) is Chain
    assert register(Chain, name="chain-2") is Chain
    assert list(known())[-2:] == ["chain", "chain-2"]
    assert get("chain-2(mark=y)").encode(Tree([0, 1])).texts() == ["y", "y"]
    assert "chain" not in graph_encodings.known()
    with pytest.raises(EncodingOptionError, match="optimal is the name of one of Ropewalk's own encodings"):
        register(Chain, name="optimal")
    with pytest.raises(EncodingOptionError, match="'Chain X' cannot name an encoding"):
        register(Chain, name="Chain X")
    with pytest.raises(EncodingOptionError, match="3 makes no encoding"):
        register(3, name="three")


def test_a_graph_encoding_can_be_registered_at_run_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_encodings.REGISTRY, "_registered", {})
    graph_encodings.register(RelativeGraphs, name="my-relative")
    assert list(graph_encodings.known())[-1] == "my-relative"
    assert graph_encodings.get("my-relative").encode(Graph(2, [(0, 1), (1, 2)])).texts() == ["0", "-1"]


@pytest.mark.parametrize("spec", SPECS)
def test_our_own_encodings_pass_the_check_for_others(spec: str) -> None:
    check_encoding(get(spec), words=4, junk=50)


class Wrong(Chain):
    """An encoding that does as it is told wrongly."""

    def __init__(self, fault: str) -> None:
        super().__init__(policy="refuse")
        self.fault = fault

    def covered(self, trees: Trees) -> Bools:
        return np.ones(len(trees), dtype=np.bool_) if self.fault == "covers" else super().covered(trees)

    def write(self, trees: Trees, upos: Column | None) -> list[Column]:
        if self.fault == "batch":
            return [Column.constant("x" if len(trees) == 1 else "y", len(trees.heads))]
        return super().write(trees, upos)

    def read(self, labels: Labels) -> tuple[Ints, Faults]:
        heads, faults = super().read(labels)
        if self.fault == "fault":
            faults = Faults.of(labels.offsets, [0], 1)
        if self.fault == "raises" and labels.offsets.longest > 4:
            raise ZeroDivisionError
        if self.fault == "cycle" and labels.offsets.longest > 4:
            heads = np.where(
                labels.offsets.positions() == 1, np.repeat(labels.offsets.lengths, labels.offsets.lengths), heads
            )
        return heads.astype(np.int32), faults

    def check_label(self, text: str, column: int = 0) -> None:
        if self.fault == "label" or (text != "y" and self.fault != "batch"):
            super().check_label(text + "!" if self.fault == "label" else text, column)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("covers", r"the tree \[2, 0\] is covered but decoded as \[0, 1\] from \['x', 'x'\]"),
        ("fault", "are decoded with a fault at word 1: unmatched closing bracket"),
        ("label", "check_label refuses 'x', which write uses"),
        ("batch", "has other labels alone than in a batch"),
        ("raises", "read raises ZeroDivisionError for the encoding's own labels"),
        ("cycle", "are decoded into"),
    ],
)
def test_the_check_for_others_finds_what_is_wrong(fault: str, message: str) -> None:
    check_encoding(Chain(), words=4)
    with pytest.raises(AssertionError, match=message):
        check_encoding(Wrong(fault), words=4)
