"""Edits as values: new treebanks that differ in what was asked for alone, in memory and in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ropewalk
from ropewalk import Sentence, Tree, Treebank, conllu
from ropewalk.core.columns import Column
from ropewalk.errors import (
    CycleError,
    HeadRangeError,
    MismatchError,
    MissingHeadError,
    RootError,
    TreeError,
    UnknownNameError,
)
from ropewalk.treebank.edits import NAMES
from strategies import banks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXT = """# newdoc id = harbour
# sent_id = one
# text = Dámelo ya.
#odd comment
1-3\tDámelo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tDa\tdar\tVERB\t_\tMood=Imp|Number=Sing\t0\troot\t0:root\t_
2\tme\tyo\tPRON\t_\tNumber=Sing\t1\tiobj\t1:iobj\t_
3\tlo\tél\tPRON\t_\t_\t1\tobj\t1:obj\tGloss=it|Odd=
3.1\tya\tya\tADV\t_\t_\t_\t_\t1:advmod\t_
4\t.\t.\tPUNCT\t_\t_\t1\tpunct\t1:punct\t_

# sent_id = two
1\tRopes\trope\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t2:nsubj\tConfidence=0.5
2\tbreak\tbreak\tVERB\tVBP\t_\t0\troot\t0:root\t_
3\teasily\teasily\tADV\tRB\t_\t2\tadvmod\t2:advmod\t_

"""


@pytest.fixture
def bank() -> Treebank:
    return conllu.loads(TEXT)


def test_one_word_is_changed_and_no_other_byte(bank: Treebank, tmp_path: Path) -> None:
    edited = bank[0].with_word(
        3, head=2, relation="dep", lemma="lo", upos="DET", xpos="X", feats={"Number": "Sing", "Case": "Acc"}
    )
    old = "3\tlo\tél\tPRON\t_\t_\t1\tobj\t1:obj\tGloss=it|Odd="
    new = "3\tlo\tlo\tDET\tX\tCase=Acc|Number=Sing\t2\tdep\t1:obj\tGloss=it|Odd="
    conllu.write(tmp_path / "a.conllu", edited.treebank)
    assert (tmp_path / "a.conllu").read_text(encoding="utf-8") == TEXT.replace(old, new)
    assert conllu.dumps(bank).decode() == TEXT, "what was edited is as it was"
    assert isinstance(edited, Sentence)
    assert (edited.number, edited.id, edited[2].lemma, edited[2].head) == (0, "one", "lo", edited[1])
    assert edited[2].feats == {"Case": "Acc", "Number": "Sing"}
    assert bank[0][2].lemma == "él"
    again = edited.with_word(3, feats={}).with_word(2, feats="_")
    assert again.column("feats") == ("Mood=Imp|Number=Sing", "_", "_", "_")
    assert conllu.dumps(bank[1].with_word(3).treebank).decode() == TEXT


def test_several_words_at_once_move_the_root(bank: Treebank) -> None:
    edited = bank[1].replace({"head": {2: 3, 3: 0}, "relation": {2: "dep", 3: "root"}, "form": {1: "Hemp"}})
    assert (edited.heads, edited.relations, edited[0].text) == ((2, 3, 0), ("nsubj", "dep", "root"), "Hemp")
    assert bank[1].replace({"upos": "X"}).upos == ("X", "X", "X")
    assert bank[1].replace({"upos": "X"}).treebank[0].upos == bank[0].upos
    assert bank[1].replace({"upos": {bank[1][0]: "X"}, "lemma": ["a", "b", "c"]}).column("lemma") == ("a", "b", "c")
    assert edited.with_word(1, head=edited[2]).heads == (3, 3, 0)


def test_treebanks_take_rows_masks_and_words(bank: Treebank) -> None:
    every: list[Callable[[], Treebank]] = [
        lambda: bank.replace({"upos": {4: "X", 6: "X"}}),
        lambda: bank.replace({"upos": {bank[1][0]: "X", bank[1][2]: "X"}}),
        lambda: bank.replace({"upos": "X"}, where=[4, 6]),
        lambda: bank.replace({"upos": ["X", "X"]}, where=np.array([4, 6])),
        lambda: bank.replace({"upos": "X"}, where=bank.heads == 2),
        lambda: bank.replace({"upos": Column.of(["X", "X"])}, where=[head == 2 for head in bank.heads]),
        lambda: bank.replace({"upos": "X"}, where=[bank[1][0], bank[1][2]]),
    ]
    for make in every:
        assert make().column("upos").texts() == ["VERB", "PRON", "PRON", "PUNCT", "X", "VERB", "X"]
    found = bank.replace({"upos": {match.word: "X" for match in bank.search("{} < {form:break}")}})
    assert found.column("upos").texts() == every[0]().column("upos").texts()
    frame = bank.to_pandas()
    assert bank.replace({"xpos": "_"}, where=frame.upos == "NOUN").column("xpos").texts()[4:] == ["_", "VBP", "RB"]
    no_edits: list[dict[str, Any]] = [{}, {"upos": {}}, {"feats": {}}]
    for nothing in no_edits:
        assert conllu.dumps(bank.replace(nothing)).decode() == TEXT
    assert conllu.dumps(bank.replace({"upos": "X"}, where=[])).decode() == TEXT
    assert set(bank.replace({"feats": {"Number": "Sing"}}).column("feats")) == {"Number=Sing"}
    twice = bank.replace({"deprel": {0: "a"}}).replace({"relation": {0: "root"}})
    assert conllu.dumps(twice).decode() == TEXT


@given(banks(), st.data())
def test_only_the_fields_that_were_edited_differ(raw: bytes, data: st.DataObject) -> None:
    bank = conllu.loads(raw)
    names = data.draw(
        st.lists(st.sampled_from([name for name in NAMES if name not in {"head", "deprel"}]), unique=True)
    )
    rows = st.integers(0, bank.words - 1)
    edits = {name: data.draw(st.dictionaries(rows, st.sampled_from(["a", "ü|x", "_"]), max_size=3)) for name in names}
    written = conllu.dumps(bank.replace(edits)).decode().split("\n")
    before = raw.decode().split("\n")
    assert len(written) == len(before)
    word = -1
    for old, new in zip(before, written, strict=True):
        fields = old.split("\t")
        word += fields[0].isdigit()
        if fields[0].isdigit():
            for place, name in enumerate(
                ("id", "form", "lemma", "upos", "xpos", "feats", "head", "relation", "deps", "misc")
            ):
                fields[place] = edits.get(name, {}).get(word, fields[place])
        assert new == "\t".join(fields)


def test_trees_are_checked_with_sentence_word_and_advice(bank: Treebank) -> None:
    advice = "; give all words of sentence two that need another head one in the same call"
    for edit, kind, message in (
        (
            {"head": {2: 1}},
            CycleError,
            "sentence 2: word 1: heads form a cycle, 1 -> 2 -> 1, that never reaches the root",
        ),
        ({"head": {3: 3}}, CycleError, "sentence 2: word 3: heads form a cycle, 3 -> 3, that never reaches the root"),
        ({"head": {3: 0}}, RootError, "sentence 2: word 3: a second root; expected one, found 2, 3"),
        (
            {"head": {3: 9}},
            HeadRangeError,
            "sentence 2: word 3: HEAD is 9, but the sentence has 3 words; heads count from 1 to 3, and 0 is the root",
        ),
        (
            {"head": {3: -1}},
            MissingHeadError,
            "sentence 2: word 3: it has no head; every word needs one (0 is the root)",
        ),
    ):
        with pytest.raises(kind) as refused:
            bank[1].replace(edit)
        assert str(refused.value) == message + ("" if kind is HeadRangeError else advice)
        assert isinstance(refused.value, TreeError)
        assert (refused.value.sentence, refused.value.word) == (2, int(message.split("word ")[1][0]))
    with pytest.raises(RootError, match=r"sentence 1: word 2: .* give all words of the sentence that need"):
        Treebank.of([Tree([0, 1])])[0].with_word(2, head=0)
    broken = Treebank.of([Tree([0, 0, 1]), Tree([0, 1])])
    assert broken[1].with_word(2, relation="obj").treebank[0].heads == (0, 0, 1), "others are not checked"
    assert broken[0].with_word(2, head=1).heads == (0, 1, 1)


def test_what_is_no_edit_is_refused(bank: Treebank) -> None:
    other = conllu.loads(TEXT)
    wrong: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (
            lambda: bank[1].with_word(4, upos="X"),
            MismatchError,
            "found word 4; expected one of the 3 words, which count from 1",
        ),
        (lambda: bank[1].with_word(0, upos="X"), MismatchError, "found word 0"),
        (lambda: bank[1].with_word(index=True, upos="X"), MismatchError, "found word True"),
        (lambda: bank[1].replace({"upos": {bank[0][0]: "X"}}), MismatchError, "found word Word"),
        (lambda: bank.replace({"upos": {7: "X"}}), MismatchError, "rows 7 to 7 of 7 words; rows count from 0"),
        (lambda: bank.replace({"upos": {-1: "X"}}), MismatchError, "rows count from 0"),
        (lambda: bank.replace({"upos": {other[0][0]: "X"}}), MismatchError, "is of another treebank"),
        (lambda: bank.replace({"upos": {bank[0][0]: "X", 3: "X"}}), MismatchError, "found int beside words"),
        (
            lambda: bank.replace({"upos": "X"}, where=[True]),
            MismatchError,
            "expected 7 truth values, or rows, or words",
        ),
        (lambda: bank.replace({"upos": "X"}, where=[0.5]), MismatchError, "found float64"),
        (lambda: bank.replace({"upos": "X"}, where=3), MismatchError, "expected 7 truth values"),
        (
            lambda: bank.replace({"upos": ["X"]}, where=[1, 2]),
            MismatchError,
            "1 values of upos for 2 words; expected one for",
        ),
        (
            lambda: bank.replace({"upos": "a\tb"}),
            MismatchError,
            r"upos is 'a\\tb'; expected text of at least one character",
        ),
        (lambda: bank.replace({"upos": ""}), MismatchError, "and _ for nothing"),
        (lambda: bank.replace({"upos": None}), MismatchError, "upos is None"),
        (lambda: bank.replace({"upos": {"Number": "Sing"}}), MismatchError, "upos is "),
        (lambda: bank.replace({"head": {0: "1"}}), MismatchError, "head is '1'; expected the index of a word, or 0"),
        (lambda: bank.replace({"head": {0: bank[1][0]}}), MismatchError, "of another sentence"),
        (lambda: bank.replace({"head": {0: 1 << 40}}), MismatchError, "expected the index of a word"),
        (lambda: bank.replace({"relation": "a", "deprel": "b"}), MismatchError, "the same column; name one of them"),
        (lambda: bank.replace({"uops": "X"}), UnknownNameError, "did you mean 'upos'"),
        (lambda: bank.replace({"id": "1"}), UnknownNameError, "unknown column 'id'"),
        (lambda: bank.replace([("upos", "X")]), MismatchError, "columns: found list; expected Mapping"),  # type: ignore[arg-type]
    ]
    for make, kind, message in wrong:
        with pytest.raises(kind, match=message):
            make()


def test_probabilities_of_what_was_edited_are_dropped() -> None:
    parser = ropewalk.load(threads=1, columns=["tree", "upos"])
    document = parser("Ropes break easily. It rains.")
    edited = document[0].with_word(3, head=1, upos="X")
    assert [share is None for share in edited.probabilities] == [False, False, True, False]
    assert (edited.probability, edited.treebank[1].probability) == (None, document[1].probability)
    assert edited[0].probability == document[0][0].probability
    assert edited.text == document[0].text
    assert edited.generator == document.generator
    assert "Confidence" not in edited.to_conllu().splitlines()[-3]
    tagged = document[0].with_word(3, upos="X")
    assert tagged.probabilities == document[0].probabilities
    shared = Treebank.of([Tree([0, 1])]).with_probabilities(
        ropewalk.treebank.surface.Probabilities(tags={"upos": np.array([0.5, 0.25])})
    )
    assert [word.tag_probability("upos") for word in shared[0].with_word(2, upos="X")] == [0.5, None]


def test_editing_deps_replaces_the_graphs_of_a_parser() -> None:
    sentence = ropewalk.load(threads=1, enhance=True)("Ropes break easily.")[0]
    edited = sentence.replace({"deps": {1: "2:obj"}})
    assert [(head.index, head.relation) for head in edited[0].heads] == [("2", "obj")]
    assert [head.relation for head in edited[2].heads] == [head.relation for head in sentence[2].heads]


def test_columns_are_like_lists(bank: Treebank) -> None:
    column = bank.column("upos")
    texts = ["VERB", "PRON", "PRON", "PUNCT", "NOUN", "VERB", "ADV"]
    assert list(column) == texts
    assert [column[place] for place in range(-7, 7)] == texts * 2
    assert list(column[1:6:2]) == texts[1:6:2]
    assert list(reversed(column)) == texts[::-1]
    assert (column.count("VERB"), column.index("PUNCT"), "NOUN" in column, "X" in column) == (2, 3, True, False)
    with pytest.raises(IndexError):
        column[7]
    with pytest.raises(ValueError, match=r"^$"):
        column.index("X")
    replaced = column.replaced(np.array([0, 0, 6]), ["A", "B", "VERB"])
    assert list(replaced) == ["B", *texts[1:6], "VERB"]
    odd = Column(np.array([0, 1]), ("a", "a")).replaced(np.array([1]), ["b"])
    assert list(odd) == ["a", "b"]
    assert list(column) == texts
