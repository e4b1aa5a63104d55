"""Treebanks: flat arrays that can be cut, joined, edited and looked into without losing a byte."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk import conllu
from ropewalk.errors import MismatchError, UnknownNameError
from ropewalk.treebank import Column, Sentence, Treebank, intern
from ropewalk.trees import Tree
from strategies import banks, trees

RAW = (
    b"# newpar\n# sent_id = a\n# text = x = y\n"
    b"1\tx\t_\tX\t_\t_\t2\tdep\t_\t_\n2\ty\t_\tY\t_\t_\t0\troot\t_\t_\n\n"
    b"1\tz\t_\tX\t_\t_\t_\t_\t_\t_\n\n"
)


def parts(raw: bytes) -> list[bytes]:
    return [part + b"\n\n" for part in raw.split(b"\n\n")[:-1]]


def test_one_sentence_as_a_value() -> None:
    bank = conllu.loads(RAW)
    comments = ("# newpar", "# sent_id = a", "# text = x = y")
    assert bank[0] == Sentence(("x", "y"), ("X", "Y"), (2, 0), ("dep", "root"), comments)
    assert bank[0].metadata == {"newpar": "", "sent_id": "a", "text": "x = y"}
    assert (bank[0].sent_id, bank[0].text, len(bank[0])) == ("a", "x = y", 2)
    assert bank[0].tree == bank.tree(0)
    assert bank[-1] == bank[1] == Sentence(("z",), ("X",), (-1,), ("_",))
    assert bank[1].sent_id is None
    with pytest.raises(IndexError, match="sentence 2 of a treebank of 2"):
        bank[2]


def test_a_sentence_shows_edits() -> None:
    bank = conllu.loads(RAW).with_columns({"form": ["a", "b", "c"], "upos": Column.of(["P", "Q", "P"])})
    assert bank[0].forms == ("a", "b")
    assert bank[1].upos == ("P",)
    assert bank.upos is not None
    assert bank.upos.texts() == ["P", "Q", "P"]


def test_a_treebank_of_trees_alone() -> None:
    found = conllu.loads(RAW)
    bank = Treebank.of([found.tree(0)], upos=[["X", "Y"]]).with_columns({"form": ["one", "two"]})
    assert bank[0] == Sentence(("one", "two"), ("X", "Y"), (2, 0), ("dep", "root"))
    assert bank.column("id").texts() == ["1", "2"]
    assert bank.column("lemma").texts() == ["_", "_"]
    assert conllu.dumps(bank) == b"1\tone\t_\tX\t_\t_\t2\tdep\t_\t_\n2\ttwo\t_\tY\t_\t_\t0\troot\t_\t_\n\n"


@given(st.lists(trees(max_words=20), max_size=4))
def test_every_column_of_a_treebank_of_trees_is_found_in_what_is_written(given_trees: list[Tree]) -> None:
    bank = Treebank.of(given_trees)
    text = bank.rendered()
    for name in ("id", "form", "upos", "head", "deprel", "misc"):
        assert text.column(name).texts() == bank.column(name).texts()
    assert text.lines.tolist() == [1 + sum(map(len, given_trees[:s])) + s for s in range(len(given_trees))]


@given(banks(), st.data())
def test_selected_sentences_keep_their_bytes(raw: bytes, data: st.DataObject) -> None:
    bank = conllu.loads(raw)
    chosen = data.draw(st.lists(st.integers(0, len(bank) - 1)))
    picked = bank.select(chosen)
    assert conllu.dumps(picked) == b"".join(parts(raw)[number] for number in chosen)
    assert [picked[place] for place in range(len(chosen))] == [bank[number] for number in chosen]
    mask = np.array([number in chosen for number in range(len(bank))], dtype=np.bool_)
    assert conllu.dumps(bank.select(mask)) == b"".join(
        part for part, kept in zip(parts(raw), mask, strict=True) if kept
    )


@given(banks(), st.data())
def test_selecting_and_editing_can_change_places(raw: bytes, data: st.DataObject) -> None:
    bank = conllu.loads(raw)
    chosen = data.draw(st.lists(st.integers(0, len(bank) - 1), min_size=1))
    edited = bank.with_trees(np.zeros(bank.words, dtype=np.int32), Column.of(["root"] * bank.words))
    picked = edited.select(chosen)
    assert conllu.dumps(picked) == conllu.dumps(conllu.loads(conllu.dumps(edited)).select(chosen))
    assert picked.heads.tolist() == [0] * picked.words


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
    assert Treebank.concat([bank, edited]).trees() == bank.trees() * 2
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
    assert bank.text is not None
    for array in (
        bank.heads,
        bank.offsets,
        bank.relations.ids,
        bank.text.raw,
        bank.text.fields,
        bank.text.sentences,
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


@given(banks(), st.data())
def test_comments_are_put_before_each_sentence(raw: bytes, data: st.DataObject) -> None:
    bank = conllu.loads(raw)
    texts = data.draw(st.lists(st.sampled_from(["", "# a", "# é = 1"]), min_size=len(bank), max_size=len(bank)))
    commented = bank.with_comments(texts)
    again = conllu.loads(conllu.dumps(commented))
    assert [again[number].comments for number in range(len(bank))] == [
        ((text,) if text else ()) + bank[number].comments for number, text in enumerate(texts)
    ]
    assert np.array_equal(again.heads, bank.heads)
    assert commented.column("form").texts() == bank.column("form").texts()
    backwards = range(len(bank) - 1, -1, -1)
    assert commented.select(backwards).column("misc").texts() == bank.select(backwards).column("misc").texts()


def test_what_is_no_comment_is_refused() -> None:
    bank = Treebank.of([Tree([0])])
    with pytest.raises(MismatchError, match="2 comments for a treebank of 1"):
        bank.with_comments(["# a", "# b"])
    for text in ("no sign", "# two\nlines"):
        with pytest.raises(MismatchError, match="is no comment line"):
            bank.with_comments([text])
