"""Treebanks: flat arrays that can be cut, joined, edited and looked into without losing a byte."""

from __future__ import annotations

import copy
import pickle
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import FEW
from ropewalk import Sentence, conllu
from ropewalk.core.columns import Column, intern
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import Tree
from ropewalk.errors import MismatchError, UnknownNameError
from ropewalk.treebank.source import COLUMNS, Source
from ropewalk.treebank.surface import Heading, Probabilities, Surface
from ropewalk.treebank.treebank import Treebank
from strategies import banks, trees

RAW = (
    b"# newpar\n# sent_id = a\n# text = x = y\n"
    b"1\tx\t_\tX\t_\t_\t2\tdep\t_\t_\n2\ty\t_\tY\t_\t_\t0\troot\t_\t_\n\n"
    b"1\tz\t_\tX\t_\t_\t_\t_\t_\t_\n\n"
)


def facts(sentence: Sentence) -> tuple[object, ...]:
    return (sentence.forms, sentence.upos, sentence.heads, sentence.relations, sentence.comments)


def parts(raw: bytes) -> list[bytes]:
    return [part + b"\n\n" for part in raw.split(b"\n\n")[:-1]]


def test_one_sentence_as_a_value() -> None:
    bank = conllu.loads(RAW)
    comments = ("# newpar", "# sent_id = a", "# text = x = y")
    assert facts(bank[0]) == (("x", "y"), ("X", "Y"), (2, 0), ("dep", "root"), comments)
    assert bank.heading(0) == Heading("a", "x = y", None, paragraph=True)
    assert (bank[0].id, bank[0].text, len(bank[0])) == ("a", "x = y", 2)
    assert bank[0].tree == bank.tree(0)
    assert bank[-1] == bank[1] != bank[0]
    assert facts(bank[1]) == (("z",), ("X",), (-1,), ("_",), ())
    assert (bank[1].id, bank[1].caption, bank[1].text) == (None, "", "z")
    assert list(bank) == [bank[0], bank[1]]
    with pytest.raises(IndexError, match="no sentence has index 2; the treebank has 2, counted from 0"):
        bank[2]
    with pytest.raises(IndexError, match="no word has index -2; the sentence has 1, counted from 0"):
        bank[1][-2]
    with pytest.raises(MismatchError, match="no sentence has index 5; the treebank has 2, counted from 0"):
        bank.select([1, 5])


@pytest.mark.parametrize("where", [slice(1), slice(1, None), slice(None, None, -1), slice(5, 9), slice(None)])
def test_a_slice_is_a_treebank(where: slice) -> None:
    part = conllu.loads(RAW)[where]
    assert isinstance(part, Treebank)
    assert conllu.dumps(part) == b"".join(parts(RAW)[where])


def test_a_sentence_shows_edits() -> None:
    bank = conllu.loads(RAW).with_columns({"form": ["a", "b", "c"], "upos": Column.of(["P", "Q", "P"])})
    assert bank[0].forms == ("a", "b")
    assert bank[1].upos == ("P",)
    assert bank.upos is not None
    assert bank.upos.texts() == ["P", "Q", "P"]


def test_a_sentence_has_the_columns_of_conllu_and_no_others() -> None:
    sentence = conllu.loads(RAW)[0]
    columns = {name: sentence.column(name) for name in COLUMNS}
    nothing = ("_", "_")
    assert columns == {
        "id": ("1", "2"), "form": ("x", "y"), "lemma": nothing, "upos": ("X", "Y"), "xpos": nothing, "feats": nothing,
        "head": ("2", "0"), "deprel": ("dep", "root"), "deps": nothing, "misc": nothing,
    }  # fmt: skip
    assert sentence[0].children == ()  # computes what `column` must not return
    wrong: list[Any] = ["children", "heads", "offsets", "first", "bank", "relations", "__class__", "", 5, None]
    for name in wrong:
        with pytest.raises(UnknownNameError, match="unknown column"):
            sentence.column(name)


def test_what_views_share_can_be_copied_and_pickled() -> None:
    shared = conllu.loads(RAW)[0]._lists
    for again in (copy.copy(shared), copy.deepcopy(shared), pickle.loads(pickle.dumps(shared))):  # noqa: S301 - our own
        assert again.form == ["x", "y", "z"]
        assert not hasattr(again, "nonsense")


def test_a_column_is_indexed_and_iterated_like_a_list() -> None:
    relations = conllu.loads(RAW).relations
    texts = ["dep", "root", "_"]
    assert list(relations) == relations.texts() == texts
    assert [relations[place] for place in range(-3, 3)] == [*texts, *texts]
    assert list(relations[1:]) == texts[1:]
    assert "root" in relations
    with pytest.raises(IndexError):
        relations[3]


def test_a_treebank_of_trees_alone() -> None:
    found = conllu.loads(RAW)
    bank = Treebank.of([found.tree(0)], upos=[["X", "Y"]]).with_columns({"form": ["one", "two"]})
    assert facts(bank[0]) == (("one", "two"), ("X", "Y"), (2, 0), ("dep", "root"), ())
    assert bank.column("id").texts() == ["1", "2"]
    assert bank.column("lemma").texts() == ["_", "_"]
    assert conllu.dumps(bank) == b"1\tone\t_\tX\t_\t_\t2\tdep\t_\t_\n2\ttwo\t_\tY\t_\t_\t0\troot\t_\t_\n\n"


@given(st.lists(trees(min_words=1, max_words=20), max_size=4))
def test_every_column_of_a_treebank_of_trees_is_found_in_what_is_written(given_trees: list[Tree]) -> None:
    bank = Treebank.of(given_trees)
    again = conllu.loads(conllu.dumps(bank)) if given_trees else bank
    for name in ("id", "form", "upos", "head", "deprel", "misc"):
        assert again.column(name).texts() == bank.column(name).texts()
    for sentence, start in enumerate(bank.offsets.starts.tolist()):
        assert again.line(sentence) == bank.line(sentence)
        assert again.line(sentence, start) == bank.line(sentence, start)


@FEW
@given(banks(), st.data())
def test_selected_sentences_keep_their_bytes(raw: bytes, data: st.DataObject) -> None:
    bank = conllu.loads(raw)
    chosen = data.draw(st.lists(st.integers(0, len(bank) - 1)))
    picked = bank.select(chosen)
    assert conllu.dumps(picked) == b"".join(parts(raw)[number] for number in chosen)
    assert [facts(one) for one in picked] == [facts(bank[number]) for number in chosen]
    mask = np.array([number in chosen for number in range(len(bank))], dtype=np.bool_)
    assert conllu.dumps(bank.select(mask)) == b"".join(
        part for part, kept in zip(parts(raw), mask, strict=True) if kept
    )


@FEW
@given(banks(), st.data())
def test_selecting_and_editing_can_change_places(raw: bytes, data: st.DataObject) -> None:
    bank = conllu.loads(raw)
    chosen = data.draw(st.lists(st.integers(0, len(bank) - 1), min_size=1))
    edited = bank.with_trees(np.zeros(bank.words, dtype=np.int32), Column.of(["root"] * bank.words))
    picked = edited.select(chosen)
    assert conllu.dumps(picked) == conllu.dumps(conllu.loads(conllu.dumps(edited)).select(chosen))
    assert picked.heads.tolist() == [0] * picked.words


@FEW
@given(banks(), banks())
def test_joined_treebanks_keep_edits(first: bytes, second: bytes) -> None:
    one = conllu.loads(first, "one")
    edited = one.with_columns({"misc": ["m"] * one.words})
    joined = Treebank.concat([edited, conllu.loads(second, "two")])
    assert conllu.dumps(joined) == conllu.dumps(edited) + second
    assert joined.column("misc").texts()[: one.words] == ["m"] * one.words
    assert conllu.dumps(joined.with_trees(joined.heads, joined.relations)) == conllu.dumps(joined)


def test_joining_trees_without_text() -> None:
    bank = Treebank.of([conllu.loads(RAW).tree(0)])
    edited = bank.with_columns({"form": ["a", "b"]})
    assert Treebank.concat([bank, edited]).column("form").texts() == ["_", "_", "a", "b"]
    assert list(Treebank.concat([bank, edited]).trees()) == [*bank.trees(), *bank.trees()]
    assert len(Treebank.concat([])) == 0
    with pytest.raises(MismatchError, match="1 of 2 treebanks come from CoNLL-U"):
        Treebank.concat([bank, conllu.loads(RAW)])


def test_what_does_not_fit_is_refused() -> None:
    bank = conllu.loads(RAW)
    with pytest.raises(MismatchError, match="2 values for column misc, but the treebank has 3 words"):
        bank.with_columns({"misc": ["_", "_"]})
    with pytest.raises(MismatchError, match="1 values for column head"):
        bank.with_trees(np.zeros(1, dtype=np.int32), Column.of(["_"]))
    for name in ("id", "head", "heads"):
        with pytest.raises(UnknownNameError, match="nown: form, lemma, upos"):
            bank.with_columns({name: ["_"] * 3})
    with pytest.raises(UnknownNameError):
        bank.column("pos")
    with pytest.raises(MismatchError, match="a mask of 1 values for a treebank of 2 sentences"):
        bank.select([True])


def test_treebanks_cannot_be_changed_in_place() -> None:
    bank = conllu.loads(RAW)
    assert isinstance(bank.source, Source)
    for array in (
        bank.heads,
        bank.offsets.array,
        bank.relations.ids,
        bank.source.raw,
        bank.source.fields,
        bank.source.sentences,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@given(st.lists(st.sampled_from([b"", b"a", b"b", b"ab", b"ba", b"aaaaaaaa", "é".encode()])))
def test_equal_stretches_get_one_number(stretches: list[bytes]) -> None:
    stops = np.cumsum([len(stretch) for stretch in stretches], dtype=np.int64)
    starts = stops - np.array([len(stretch) for stretch in stretches], dtype=np.int64)
    ids, firsts = intern(np.frombuffer(b"".join(stretches), dtype=np.uint8), starts, stops)
    distinct = list(dict.fromkeys(stretches))
    assert ids.tolist() == [distinct.index(stretch) for stretch in stretches]
    assert [stretches[first] for first in firsts] == distinct


@given(st.lists(st.lists(st.sampled_from("abc"))))
def test_columns_end_to_end(texts: list[list[str]]) -> None:
    assert Column.concat([Column.of(part) for part in texts]).texts() == [text for part in texts for text in part]


def told(bank: Treebank) -> Treebank:
    """Return probabilities for each word and sentence, all different."""
    words, sentences = np.arange(bank.words), np.arange(len(bank))
    return bank.with_probabilities(
        Probabilities(1 / (1 + words), 1 / (2 + sentences), {"upos": np.linspace(0, 1, bank.words)})
    )


@FEW
@given(banks(), st.data())
def test_probabilities_go_with_their_words_and_sentences(raw: bytes, data: st.DataObject) -> None:
    bank = told(conllu.loads(raw))
    assert bank.probabilities is not None
    chosen = data.draw(st.lists(st.integers(0, len(bank) - 1), min_size=1))
    picked = bank.select(chosen).probabilities
    assert picked is not None
    assert [one.probability for one in bank.select(chosen)] == [bank[number].probability for number in chosen]
    assert picked.arcs is not None
    assert picked.arcs.tolist() == [word.probability for number in chosen for word in bank[number]]
    assert bank.probabilities.trees is not None
    assert picked.trees is not None
    assert picked.trees.tolist() == bank.probabilities.trees[chosen].tolist()
    joined = Treebank.concat([bank, bank.with_probabilities(None), bank]).probabilities
    assert joined is not None
    assert joined.tags["upos"].tolist()[-bank.words :] == bank.probabilities.tags["upos"].tolist()
    assert joined.arcs is not None
    assert np.isnan(joined.arcs[bank.words : 2 * bank.words]).all()


@FEW
@given(banks())
def test_probabilities_come_back_from_what_is_written(raw: bytes) -> None:
    bank = told(conllu.loads(raw))
    again = conllu.loads(conllu.dumps(bank))
    assert bank.probabilities is not None
    assert again.probabilities is not None
    for mine, theirs in (
        (bank.probabilities.arcs, again.probabilities.arcs),
        (bank.probabilities.trees, again.probabilities.trees),
    ):
        assert theirs == pytest.approx(mine, abs=0.5e-4 + 1e-9)
    assert conllu.dumps(told(again)) == conllu.dumps(bank)
    assert conllu.dumps(again.with_probabilities(None)) == conllu.dumps(conllu.loads(raw).with_probabilities(None))


def test_probabilities_that_do_not_fit_are_refused() -> None:
    bank = conllu.loads(RAW)
    with pytest.raises(MismatchError, match="1 probabilities of trees for 2 sentences"):
        bank.with_probabilities(Probabilities(trees=np.ones(1)))
    with pytest.raises(MismatchError, match="2 values for column probability"):
        bank.with_probabilities(Probabilities(arcs=np.ones(2)))


MADE = Treebank.of_words(
    Column.of(["do", "n't", "stop", "go"]),
    Offsets([0, 3, 4]),
    tokens=Surface(
        np.array([0, 2, 3, 4], dtype=np.int32),
        {0: "don't"},
        Column.of([" ", "", "\n"]),
        {0: "\t"},
        np.array([1, 7, 11], dtype=np.int32),
        np.array([6, 11, 13], dtype=np.int32),
    ),
    headings=(Heading("a", "don't stop", "", paragraph=True), Heading("b", "go", None, paragraph=False)),
)
WRITTEN = """# newdoc
# newpar
# sent_id = a
# text = don't stop
1-2	don't	_	_	_	_	_	_	_	SpacesBefore=\\t|TokenRange=1:6
1	do	_	_	_	_	_	_	_	_
2	n't	_	_	_	_	_	_	_	_
3	stop	_	_	_	_	_	_	_	SpaceAfter=No|TokenRange=7:11

# sent_id = b
# text = go
1	go	_	_	_	_	_	_	_	SpacesAfter=\\n|TokenRange=11:13

"""


def surface_of(bank: Treebank) -> tuple[object, ...]:
    one = bank.surface
    arrays = (one.first.tolist(), one.starts.tolist(), one.stops.tolist())
    return (*arrays, one.after.texts(), dict(one.texts), dict(one.before), [bank.heading(s) for s in range(len(bank))])


def test_what_is_made_in_memory_is_written_whole_and_read_back() -> None:
    assert conllu.dumps(MADE).decode() == WRITTEN
    assert surface_of(conllu.loads(WRITTEN)) == surface_of(MADE)
    for bank in (MADE, conllu.loads(WRITTEN)):
        twice = Treebank.concat([bank, bank]).select([3, 0, 2, 0])
        parts = [WRITTEN[: WRITTEN.index("# sent_id = b")], WRITTEN[WRITTEN.index("# sent_id = b") :]]
        assert conllu.dumps(twice).decode() == parts[1] + parts[0] + parts[0] + parts[0]
        assert surface_of(twice) == surface_of(conllu.loads(conllu.dumps(twice)))


def test_without_a_text_every_word_is_a_token() -> None:
    bank = Treebank.of([Tree([0, 1])]).with_columns({"form": ["a", "b"]})
    assert surface_of(bank)[:4] == ([0, 1, 2], [-1, -1], [-1, -1], [" ", " "])
    assert [token.text for token in bank[0].tokens] == ["a", "b"]


def test_all_headings_are_those_of_each_sentence() -> None:
    word = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    first = "# newpar\n# sent_id = a\n#text=x = y\n# newdoc id = D \n"
    second = "#newpar id = 3\n# sent_id\n# newdoc\n# sent_id_x = 3\n# text_en = q\n"
    bank = conllu.loads(first + word + second + word + "# newparx\n" + word)
    wanted = [Heading("a", "x = y", "D", paragraph=True), Heading("", None, "", paragraph=True), Heading()]
    assert list(bank.all_headings()) == [bank.heading(number) for number in range(3)] == wanted
    assert [bank.document_before(number, "before") for number in range(4)] == ["before", "D", "", ""]
    assert list(bank.select([2, 0]).all_headings()) == [wanted[2], wanted[0]]
    assert list(MADE.all_headings()) == [MADE.heading(number) for number in range(2)]


def test_only_what_comes_from_no_file_gets_headings() -> None:
    named = MADE.with_document("book")
    assert conllu.dumps(named).startswith(b"# newdoc id = book\n# newpar\n")
    assert conllu.loads(conllu.dumps(named)).heading(0).document == "book"
    with pytest.raises(MismatchError, match="come from <text>"):
        conllu.loads(RAW).with_document("book")
    with pytest.raises(MismatchError, match="1 headings for 2 sentences"):
        MADE.with_headings([Heading()])


def test_views_share_lists_and_free_them() -> None:
    bank = conllu.loads(RAW)
    first = weakref.ref(bank[0]._lists)
    assert bank[1]._lists is first()
    del bank
    assert first() is None


def test_a_treebank_is_shown_in_a_line() -> None:
    bank = Treebank.of([Tree([0]), Tree([2, 0])])
    assert repr(bank) == "<Treebank of 2 sentences, 3 words>"
    read = conllu.loads(conllu.dumps(bank))
    assert repr(read) == f"<Treebank of 2 sentences, 3 words, from {read.file}>"
