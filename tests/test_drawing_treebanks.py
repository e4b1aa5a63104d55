"""Every tree of the development sets in all four forms."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from ropewalk import conllu
from ropewalk.drawing import PictureOptions, scene, to_html, to_svg, to_text, to_tikz
from ropewalk.drawing.measure import cells, is_right_to_left
from test_drawing import Checked, arcs_of

pytestmark = pytest.mark.treebanks

FOLDER = os.environ.get("ROPEWALK_UD", "")
FILES = sorted(Path(FOLDER).rglob("*-dev.conllu")) if FOLDER else []
PARSED = 10  # one picture in ten is also taken apart again


@pytest.mark.skipif(not FOLDER, reason="ROPEWALK_UD is not set")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_tree_draws_in_all_four_forms(path: Path) -> None:
    bank = conllu.read(path, trees="required")
    for number in range(len(bank)):
        sentence = bank[number]
        shown = scene(sentence, PictureOptions(tags=True, cover="proper" if number % 2 else None))
        text, svg, tikz, page = to_text(shown, width=80), to_svg(shown), to_tikz(shown), to_html([shown])
        assert text.count("▼") == len(sentence)
        assert tikz.count(r"\depedge") + tikz.count(r"\deproot") == len(sentence)
        if number % PARSED == 0:
            assert arcs_of(svg) == set(sentence.tree.arcs())
            assert max(map(cells, text.splitlines())) <= 80
            Checked.of(page)
        else:
            ET.fromstring(svg)


@pytest.mark.skipif(not FOLDER, reason="ROPEWALK_UD is not set")
def test_hebrew_and_uyghur_run_from_right_to_left_and_others_do_not() -> None:
    assert FILES
    for path in FILES:
        bank = conllu.read(path)
        backwards = sum(is_right_to_left(bank[number].forms) for number in range(len(bank))) / len(bank)
        assert backwards > 0.95 if path.name.startswith(("he_", "ug_")) else backwards < 0.01
