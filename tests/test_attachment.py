"""Attachment scores and their breakdowns beside plain loops over trees, and what is said of files that part."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk import conllu
from ropewalk.core.columns import Column
from ropewalk.core.graphs import crossing_arcs
from ropewalk.core.trees import Tree, is_projective
from ropewalk.errors import FormatError, MismatchError, OptionError, UnknownNameError
from ropewalk.scoring import breakdown
from ropewalk.scoring.attachment import CONTENT, MEASURES, NAMES, Judged, judge, score
from ropewalk.scoring.breakdown import BREAKDOWNS
from ropewalk.treebank.treebank import Treebank
from strategies import trees

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

TAGS = ("NOUN", "VERB", "PUNCT")
Word = tuple[int, int, str, int, str, str]  # sentence, gold head and relation, predicted ones, tag


@st.composite
def pairs(draw: DrawFn) -> tuple[Treebank, Treebank]:
    """Draw gold trees and predictions for them: other trees, cycles and missing heads among them."""
    gold = draw(st.lists(trees(max_words=7, single_root=False), max_size=5))
    tags = [[draw(st.sampled_from(TAGS)) for _ in range(len(tree))] for tree in gold]
    bank = Treebank.of(gold, tags)
    heads = [
        draw(st.sampled_from([head, head, -1, *range(len(tree) + 1)])) for tree in gold for head in tree.heads.tolist()
    ]
    names = [draw(st.sampled_from([name, name, "punct", "nsubj:pass", "obj"])) for name in bank.relations.texts()]
    return bank, bank.with_trees(np.array(heads, dtype=np.int32), Column.of(names))


def words_of(gold: Treebank, predicted: Treebank, *, subtypes: bool = True) -> list[Word]:
    def shown(name: str) -> str:
        return name if subtypes else name.partition(":")[0]

    return [
        (number, head, shown(relation), guess, shown(name), tag)
        for number in range(len(gold))
        for head, relation, guess, name, tag in zip(
            gold[number].heads,
            gold[number].relations,
            predicted[number].heads,
            predicted[number].relations,
            gold[number].upos,
            strict=True,
        )
    ]


def ratio(above: float, below: float) -> float:
    return above / below if below else float("nan")


@pytest.mark.parametrize("leave_out", [None, "relation", "upos"])
@given(banks=pairs(), subtypes=st.booleans())
def test_scores_are_what_a_loop_over_words_counts(
    leave_out: str | None, banks: tuple[Treebank, Treebank], *, subtypes: bool
) -> None:
    gold, predicted = banks
    words = [
        word
        for word in words_of(gold, predicted, subtypes=subtypes)
        if not (leave_out == "relation" and word[2] == "punct") and not (leave_out == "upos" and word[5] == "PUNCT")
    ]
    sentences = [[word for word in words if word[0] == number] for number in range(len(gold))]
    sentences = [some for some in sentences if some]

    def right(some: list[Word], *, labelled: bool) -> int:
        return sum(word[1] == word[3] and (not labelled or word[2] == word[4]) for word in some)

    ours = [word for word in words if word[2].split(":")[0] in CONTENT]
    theirs = [word for word in words if word[4].split(":")[0] in CONTENT]
    expected = {
        "uas": ratio(right(words, labelled=False), len(words)),
        "las": ratio(right(words, labelled=True), len(words)),
        "clas": ratio(2 * right(ours, labelled=True), len(ours) + len(theirs)),
        "uas_sentences": ratio(sum(right(some, labelled=False) / len(some) for some in sentences), len(sentences)),
        "las_sentences": ratio(sum(right(some, labelled=True) / len(some) for some in sentences), len(sentences)),
        "um": ratio(sum(right(some, labelled=False) == len(some) for some in sentences), len(sentences)),
        "lm": ratio(sum(right(some, labelled=True) == len(some) for some in sentences), len(sentences)),
    }
    found = score(
        gold,
        predicted,
        subtypes=subtypes,
        punctuation=leave_out is None,
        punctuation_by="upos" if leave_out == "upos" else "relation",
    )
    assert set(expected) == set(MEASURES) == set(NAMES)
    for measure in MEASURES:
        assert found.parts(measure).value == pytest.approx(expected[measure], nan_ok=True)
        assert getattr(found, measure) == pytest.approx(expected[measure], nan_ok=True)


def group_of(by: str, bank: Treebank, number: int, place: int, head: int) -> list[str]:
    """Name the groups of a word as the library does, found another way."""
    if by == "relation":
        return [bank[number].relations[place]]
    if by == "upos":
        return [bank[number].upos[place]]
    if by == "length":
        bins = [(1, 5), (6, 10), (11, 20)]
        return [f"{a}-{b} words" for a, b in bins if a <= len(bank[number]) <= b]
    if by == "distance":
        size = abs(head - place - 1)
        if head <= 0 or not size:
            return ["no head" if head else "root"]
        return [f"head {'6-7' if size > 5 else size} to the {'left' if head < place + 1 else 'right'}"]
    tree = bank.tree(number)
    crossing = {arc for pair in crossing_arcs(tree) for arc in pair}
    return [
        "projective trees" if is_projective(tree) else "non-projective trees",
        f"arcs that cross {'another' if (head, place + 1) in crossing else 'no other'}",
    ]


@given(pairs(), st.sampled_from(BREAKDOWNS))
def test_breakdowns_are_what_a_loop_over_words_counts(banks: tuple[Treebank, Treebank], by: breakdown.By) -> None:
    gold, predicted = banks
    sizes: Counter[str] = Counter()
    guessed: Counter[str] = Counter()
    heads: Counter[str] = Counter()
    labelled: Counter[str] = Counter()
    for number in range(len(gold)):
        ours, theirs = gold[number], predicted[number]
        for place, (head, guess) in enumerate(zip(ours.heads, theirs.heads, strict=True)):
            for group in group_of(by, gold, number, place, head):
                sizes[group] += 1
                heads[group] += head == guess
                labelled[group] += head == guess and ours.relations[place] == theirs.relations[place]
            if by in {"relation", "distance"}:
                guessed.update(group_of(by, predicted, number, place, guess))
    judged = judge(gold, predicted)
    found = breakdown.breakdown(judged, by)
    assert set(found.names) == set(sizes) | set(guessed)
    for place, name in enumerate(found.names):
        assert found.gold[place] == sizes[name]
        assert found.heads[place] == heads[name]
        assert found.labelled[place] == labelled[name]
        assert found.uas[place] == pytest.approx(ratio(heads[name], sizes[name]), nan_ok=True)
        assert found.las[place] == pytest.approx(ratio(labelled[name], sizes[name]), nan_ok=True)
        if found.predicted is not None and found.precision is not None and found.f1 is not None:
            assert found.predicted[place] == guessed[name]
            assert found.precision[place] == pytest.approx(ratio(labelled[name], guessed[name]), nan_ok=True)
            assert found.f1[place] == pytest.approx(ratio(2 * labelled[name], sizes[name] + guessed[name]))
    assert (found.predicted is not None) == (by in {"relation", "distance"})
    parts = breakdown.parts_by_group(judged, by)
    assert {name: part.value for name, part in parts.items()} == pytest.approx(
        {name: labelled[name] / sizes[name] for name in sizes}
    )


@given(pairs())
def test_confusions_are_what_a_loop_over_words_counts(banks: tuple[Treebank, Treebank]) -> None:
    expected = Counter((word[2], word[4]) for word in words_of(*banks))
    found = breakdown.confusion(judge(*banks))
    for row, gold in enumerate(found.names):
        for column, predicted in enumerate(found.names):
            assert found.counts[row, column] == expected[gold, predicted]
    pairs_found = found.pairs()
    assert {(gold, predicted): many for gold, predicted, many in pairs_found} == {
        pair: many for pair, many in expected.items() if pair[0] != pair[1]
    }
    counts = [many for _, _, many in pairs_found]
    assert counts == sorted(counts, reverse=True)


def file(*sentences: str, name: str = "gold.conllu", head: str = "0") -> Treebank:
    """Write sentences of words that all hang on the root."""
    text = "".join(
        "".join(f"{n}\t{word}\t_\t_\t_\t_\t{head}\troot\t_\t_\n" for n, word in enumerate(sentence.split(), start=1))
        + "\n"
        for sentence in sentences
    )
    return conllu.loads(text, name)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (("a b", "c e"), "gold.conllu:5 and other.conllu:5: sentence 2, word 2: 'd' in the first is 'e' in the second"),
        (("a b", "c"), "gold.conllu:5 and other.conllu:4: sentence 2, word 2: the sentence has 2 words in the first"),
        (("a", "b c d"), "gold.conllu:2 and other.conllu:1: sentence 1, word 2: the sentence has 2 words"),
        (("x", "b c d"), "gold.conllu:1 and other.conllu:1: sentence 1, word 1: 'a' in the first is 'x'"),
        (("a b",), "gold.conllu has 2 sentences and other.conllu 1; sentence 2, at gold.conllu:4, has no partner"),
        (
            ("a b", "c d", "e"),
            "gold.conllu has 2 sentences and other.conllu 3; sentence 3, at other.conllu:7, has no partner",
        ),
    ],
)
def test_files_that_part_are_named_where_they_do(other: tuple[str, ...], expected: str) -> None:
    with pytest.raises(MismatchError) as caught:
        score(file("a b", "c d"), file(*other, name="other.conllu"))
    assert str(caught.value).startswith(expected)
    assert "expected the same" in str(caught.value)


def test_trees_without_a_file_must_have_the_same_lengths() -> None:
    with pytest.raises(MismatchError, match=r"<gold> and <predicted>: sentence 1, word 2: .* 2 words .* 1 in the"):
        score(Treebank.of([Tree([0, 1])]), Treebank.of([Tree([0])]))
    assert score(Treebank.of([Tree([0, 1])]), file("a b")).uas == 0.5


def test_gold_trees_must_be_there() -> None:
    with pytest.raises(FormatError, match=r"gold\.conllu:1: word 1: HEAD is _"):
        score(file("a b", head="_"), file("a b"))


def test_unknown_names_are_refused() -> None:
    bank = file("a b")
    with pytest.raises(UnknownNameError, match="uas, las"):
        score(bank, bank).parts("mlas")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="relation, distance"):
        breakdown.breakdown(judge(bank, bank), "colour")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="one of: relation, upos, xpos, form"):
        score(bank, bank, punctuation=False, punctuation_by="colour")  # type: ignore[arg-type]


def test_what_was_judged_keeps_its_banks() -> None:
    gold, other = file("a b"), file("a b", name="other.conllu")
    found: Judged = judge(gold, other)
    assert (found.gold, found.predicted) == (gold, other)
