"""Lists of words and numbers in JSON files, as one text each."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.models.packed import numbers_of, packed_numbers, packed_texts, texts_of


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_texts_come_back(texts: list[str]) -> None:
    assert list(texts_of(json.loads(json.dumps(packed_texts(texts))))) == texts
    assert list(texts_of(texts)) == texts, "as models had them earlier"


def test_texts_that_lines_could_not_tell_apart_stay_a_list() -> None:
    assert packed_texts(["a", "", "b"]) == "a\n\nb"
    assert packed_texts([""]) == ""
    assert packed_texts([]) == []
    assert packed_texts(["a\nb", "c"]) == ["a\nb", "c"]


@given(st.lists(st.integers(0, 2**31 - 1)))
def test_numbers_come_back(numbers: list[int]) -> None:
    found = numbers_of(json.loads(json.dumps(packed_numbers(np.array(numbers, dtype=np.int32)))))
    assert found.tolist() == numbers
    assert found.dtype.name == "int32"
    assert not found.flags.writeable
    assert numbers_of(numbers).tolist() == numbers, "as models had them earlier"


def test_numbers_take_as_few_bytes_as_the_largest_needs() -> None:
    kinds = [packed_numbers(np.array([1, most], dtype=np.int32))[:2] for most in (255, 256, 65_535, 65_536)]
    assert kinds == ["u1", "u2", "u2", "u4"]


@pytest.mark.parametrize(
    "given",
    [
        *("", "u1 ?", "u1 QQ", "u2 QQ==", "u4 /////w==", "i4 AAAAAA==", "u8 AAAAAAAAAAA="),
        *([[1], [2]], [2**40], [2**70], [1.5], ["1"], [1, None], 7, None, {}),
    ],
)
def test_what_are_no_numbers_is_refused(given: object) -> None:
    with pytest.raises(TypeError):
        numbers_of(given)


@pytest.mark.parametrize("given", [None, 7, {"a": 1}, ["a", 1], [["a"]]])
def test_what_are_no_texts_is_refused(given: object) -> None:
    with pytest.raises(TypeError):
        texts_of(given)
