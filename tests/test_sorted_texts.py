"""Word lists that are searched without decoding them, and the file that exported models keep them in."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz_models import SOURCE, trees
from ropewalk.errors import ModelError
from ropewalk.models import packed
from ropewalk.models.label_sets import LabelSet
from ropewalk.models.packed import LONG, apart, packed_numbers, together
from ropewalk.models.sorted_texts import SortedTexts, finder, searchable
from ropewalk.models.storage import LABELS, LONG_LABELS, open_folder, repack, seal, write_labels
from ropewalk.models.vocabulary import Lookup, Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

texts = st.text("abß😀\n", max_size=6)


@given(st.lists(texts, unique=True, max_size=40), st.lists(texts, max_size=20))
def test_texts_are_found_where_a_dictionary_finds_them(known: list[str], wanted: list[str]) -> None:
    read = SortedTexts.from_json(json.loads(json.dumps(SortedTexts.of(known).to_json())))
    expected = [known.index(text) if text in known else -1 for text in [*wanted, *known]]
    assert read.find([*wanted, *known]).tolist() == expected
    assert list(finder(known)([*wanted, *known])) == expected
    assert (list(read), len(read), read) == (known, len(known), SortedTexts.of(known))
    spelled = [read[index][::-1] for index in np.argsort(read.find(known))] if known else []
    assert sorted(spelled) == [bytes_of(read, place) for place in range(len(known))]


def bytes_of(read: SortedTexts, place: int) -> str:
    """Return the text at a place of the sorted order, spelled backwards."""
    return "".join(map(chr, read.codes[read.starts[place] : read.starts[place + 1]].tolist()))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sizes", "u1 /w=="),
        ("sizes", "u1 AgI="),
        ("indices", "u1 AAc="),
        ("indices", "u1 AA=="),
        ("letters", "u1 AAkA"),
        ("alphabet", "u1 "),
        ("alphabet", [-1, 3]),
        ("alphabet", None),
    ],
)
def test_arrays_that_do_not_fit_each_other_are_refused(name: str, value: object) -> None:
    table: dict[str, Any] = SortedTexts.of(["ab", "c"]).to_json()
    assert list(SortedTexts.from_json(table)) == ["ab", "c"]
    with pytest.raises(TypeError):
        list(SortedTexts.from_json({**table, name: value}))


@given(st.lists(texts, unique=True, max_size=9), st.integers(0, 3))
def test_long_strings_come_back_from_their_file(known: list[str], long: int) -> None:
    numbers = np.arange(long * LONG, dtype=np.int32)
    table = {"a": {"b": "x" * (long * LONG)}, "n": packed_numbers(numbers), "few": known, "none": None}
    small, raw = apart(table)
    assert len(json.dumps(small)) < 2 * LONG
    back = together(json.loads(json.dumps(small)), raw)
    assert {**back, "n": 0} == {**table, "n": 0}
    assert not long or back["n"].tolist() == numbers.tolist()


@pytest.mark.parametrize(
    ("field", "value"), [("from", -1), ("to", 10**9), ("to", True), ("from", 10**6), ("kind", "f8"), ("kind", "u4")]
)
def test_a_part_that_is_not_in_the_file_is_refused(field: str, value: object) -> None:
    small, raw = apart({"text": "ä" * (LONG + 1) + "b"})
    with pytest.raises(TypeError):
        together({"text": {**small["text"], field: value}}, raw)
    with pytest.raises(TypeError):
        together({"text": {**small["text"], "from": 1}}, raw)  # begins within a character


def test_compressed_bytes_that_are_damaged_or_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    small, raw = apart({"text": "ä" * (LONG + 1)})
    for damaged in (raw[:-3], b"x" + raw):
        with pytest.raises(TypeError, match="compressed"):
            together(small, damaged)
    monkeypatch.setattr(packed, "MOST", LONG)
    with pytest.raises(TypeError, match="more than 512"):
        together(small, raw)


def test_a_vocabulary_has_the_same_indices_whichever_way_it_is_read() -> None:
    forms = [
        f"{first}{second}-{third}" for first in "AbcÖ" for second in "xyz9" for third in ("", "ing", "ed", "s" * 30)
    ]
    vocabulary = Vocabulary.of(forms * 2, 1, tuple({text: 0 for form in forms for text in (form, form.lower())}))
    many = Vocabulary(
        **{name: [*getattr(vocabulary, name), *map(str, range(900))] for name in ("words", "affixes")}
        | {name: getattr(vocabulary, name) for name in ("shapes", "characters", "vectors")}
    )
    again = LabelSet.from_json(LabelSet((), (), (), vocabulary=many.searchable()).to_json()).vocabulary
    assert again is not None
    assert isinstance(again.words, SortedTexts)
    asked = [*forms, "UNKNOWN", "AX-", "x😀", "17"]
    expected, found = Lookup(many).features(asked), Lookup(again).features(asked)
    assert all(np.array_equal(expected[name], found[name]) for name in expected)
    assert found["words"][-1] == many.words.index("17") + 1
    assert searchable(["a", "a"] * 600) == ["a", "a"] * 600, "an index must be that of one text"


def test_a_folder_written_again_predicts_the_same(tmp_path: Path) -> None:
    home = shutil.copytree(SOURCE, tmp_path / "en")
    labels = open_folder(home).listed_labels()
    table = labels.to_json()
    plain = json.loads(json.dumps({**table, "vocabulary": {key: [*value] for key, value in words(labels).items()}}))
    (home / LABELS).write_text(json.dumps(plain), encoding="utf-8")  # as folders of earlier versions
    (home / LONG_LABELS).unlink(missing_ok=True)
    first = seal(home, open_folder(home).table)
    expected = trees(home)
    assert expected == trees(SOURCE)
    second = repack(home)
    assert first != second == open_folder(home).table["hash"] == repack(home)
    assert (home / LABELS).stat().st_size < 50_000
    assert trees(home) == expected


def words(labels: LabelSet) -> dict[str, Any]:
    """Return the word lists of a vocabulary by name."""
    assert labels.vocabulary is not None
    return {name: getattr(labels.vocabulary, name) for name in ("words", "affixes", "shapes", "characters", "vectors")}


def test_the_file_beside_the_labels_is_checked(tmp_path: Path) -> None:
    home = shutil.copytree(SOURCE, tmp_path / "en")
    write_labels(home, open_folder(home).listed_labels())
    seal(home, open_folder(home).table)
    raw = (home / LONG_LABELS).read_bytes()
    (home / LONG_LABELS).write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    with pytest.raises(ModelError, match=r"labels\.bin: is not the exported file"):
        trees(home)
    (home / LONG_LABELS).write_bytes(raw[:-1])
    seal(home, open_folder(home).table)
    with pytest.raises(ModelError, match=r"labels\.json: is damaged"):
        trees(home)
    (home / LONG_LABELS).unlink()
    with pytest.raises(ModelError, match=r"labels\.bin: is missing"):
        trees(home)
