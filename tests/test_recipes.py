"""Recipes without a network: distinguishing prose from everything else."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import REPOSITORY

if TYPE_CHECKING:
    from types import ModuleType


@pytest.fixture(scope="module")
def texts() -> ModuleType:
    spec = importlib.util.spec_from_file_location("texts_recipe", REPOSITORY / "recipes" / "texts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for their module there
    spec.loader.exec_module(module)
    return module


def test_prose_is_told_from_code_tables_names_and_other_languages(texts: ModuleType) -> None:
    for line in (
        "The lighthouse keeper had never seen so many birds.",
        "“Where is it?” she asked him again and again.",
    ):
        assert texts.is_prose(line, loose=False)
    for line in (
        "Chapter Seven",
        "THE END OF THE STORY IS NOT FAR.",
        "The call f() of the list is in error.",
        "Der Hund schläft in der Küche und hat keine Lust.",
        "3 4 17 2.5 91 12 8 and 4.",
        "See //example.org/a for the rest of it.",
        "the keeper of the lighthouse had a dog",
    ):
        assert not texts.is_prose(line, loose=False)
    assert texts.is_prose("the keeper of the lighthouse had a dog", loose=True)


def test_pages_are_read_block_by_block_and_code_is_no_prose(texts: ModuleType) -> None:
    page = (
        "<h1>Birds</h1><p>Many of the <b>birds</b>\nfly.<p>Type <code>ls</code> in it now."
        "<pre>int of the x.</pre><ul><li>One of them sings.</ul>"
    )
    found = [" ".join(one.split()) for one in texts.page(page)]
    assert [one for one in found if texts.is_prose(one, loose=False)] == [
        "Many of the birds fly.",
        "One of them sings.",
    ]


def test_long_paragraphs_are_cut_between_sentences(texts: ModuleType) -> None:
    sentence = 'He said "no." Then all of them went home again, as they did on every other day of that long year.'
    parts = list(texts.cut(" ".join([sentence] * 20)))
    assert " ".join(parts) == " ".join([sentence] * 20)
    assert len(parts) > 1
    assert max(len(part.split()) for part in parts) <= texts.LONGEST
