"""The page of steps in a real browser: keys move it, its arcs become the tree, and nothing is fetched."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from browser_tools import BROWSER, Browser, browsing
from ropewalk import conllu, encodings
from ropewalk.drawing import PictureOptions, scene, to_html, to_steps, trace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")

SEEN = """[...document.querySelectorAll("g.arc.seen:not(.refused)")]
.map(g => [+g.dataset.head, +g.dataset.dependent])"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("profile")) as one:
        yield one


def arcs(browser: Browser) -> set[tuple[int, int]]:
    return {(head, dependent) for head, dependent in browser.run(SEEN)}


@pytest.mark.parametrize(
    ("sentence", "spec"),
    [
        (0, "optimal"),
        (0, "four-bit"),
        (0, "brackets(stacks=1)"),
        (2, "optimal-nonprojective"),
        (3, "optimal-nonprojective"),
    ],
)
def test_keys_play_the_labels_and_the_arcs_become_the_tree(
    browser: Browser, tmp_path: Path, sample: Path, sentence: int, spec: str
) -> None:
    given = conllu.read(sample)[sentence]
    found = trace(encodings.get(spec).encode(given.tree).texts(), spec)
    page = tmp_path / "steps.html"
    page.write_text(to_steps(found, words=given.forms, title=given.text or ""), encoding="utf-8")
    browser.open(page)
    last = len(found.steps) - 1
    assert browser.run("player.at()") == 0
    assert arcs(browser) == set()
    made: set[tuple[int, int]] = set()
    for number, step in enumerate(found.steps[1:], start=1):
        browser.press("ArrowRight")
        assert browser.run("player.at()") == number
        made |= {(arc.head, arc.dependent) for arc in step.arcs}
        assert arcs(browser) == made
        assert browser.run('document.querySelectorAll(".stack li").length') == len(step.stack)
    assert made == set(given.tree.arcs())
    browser.press("ArrowRight")
    assert browser.run("player.at()") == last
    browser.press("ArrowLeft")
    assert browser.run("player.at()") == last - 1
    browser.press("Home")
    assert browser.run("player.at()") == 0
    assert arcs(browser) == set()
    browser.press("End")
    assert arcs(browser) == set(given.tree.arcs())
    assert browser.run('document.querySelector(".message").textContent').startswith("All labels are read")
    assert browser.requests() == [page.as_uri()]
    assert browser.run('performance.getEntriesByType("resource").length') == 0
    assert browser.failures() == []


def test_broken_labels_show_where_they_broke_and_what_was_repaired(browser: Browser, tmp_path: Path) -> None:
    found = trace(["<", "<", ">^/^", "\\^>", ">^", "<"], "optimal")
    page = tmp_path / "steps.html"
    page.write_text(to_steps(found, words=["<script>", "b", "c", "d", "e", "&"]), encoding="utf-8")
    browser.open(page)
    broken = []
    for number in range(1, len(found.steps)):
        browser.run('document.querySelector(".next").click()')
        if browser.run('document.querySelector(".message").classList.contains("broken")'):
            broken.append(number)
    assert broken == [number for number, step in enumerate(found.steps) if step.faults]
    assert arcs(browser) == {(head, word) for word, head in enumerate(found.heads, start=1)}
    assert browser.run('document.querySelectorAll("g.arc.repaired.seen").length') == 1
    assert "Repair" in browser.run('document.querySelector(".message").textContent')
    assert browser.run('document.querySelector("text.word").textContent') == "<script>"
    assert browser.run('document.querySelector(".next").disabled')
    browser.press(" ")  # from the end, it plays from the start
    assert browser.run("player.at()") == 0
    assert browser.run('document.querySelector(".play").getAttribute("aria-pressed")') == "true"
    browser.press(" ")
    assert not browser.run("player.playing()")
    assert browser.requests() == [page.as_uri()]
    assert browser.failures() == []


def test_words_do_not_overlap_on_a_page_of_pictures(browser: Browser, tmp_path: Path, sample: Path) -> None:
    """The estimate of text widths is good enough for the fonts of a real browser."""
    bank = conllu.read(sample)
    page = tmp_path / "trees.html"
    page.write_text(
        to_html([scene(bank[number], PictureOptions(tags=True)) for number in range(len(bank))]), encoding="utf-8"
    )
    browser.open(page)
    boxes = browser.run(
        """[...document.querySelectorAll("svg")].map(svg => [...svg.querySelectorAll("text.word")]
        .map(text => { const box = text.getBoundingClientRect(); return [box.left, box.right]; }))"""
    )
    assert len(boxes) == len(bank)
    for row in boxes:
        ordered = sorted(row)
        for (_, right), (left, _) in pairwise(ordered):
            assert right <= left + 1
    assert browser.requests() == [page.as_uri()]


@pytest.mark.parametrize("system", ["light", "dark"])
@pytest.mark.parametrize("notebook", ["light", "dark"])
def test_a_picture_in_a_notebook_scrolls_and_has_the_colours_of_the_notebook(
    browser: Browser, tmp_path: Path, sample: Path, notebook: str, system: str
) -> None:
    page = tmp_path / "notebook.html"
    shown = conllu.read(sample)[0]._repr_html_()
    is_light = "true" if notebook == "light" else "false"
    page.write_text(
        f'<body data-jp-theme-light="{is_light}"><div id="cell" style="width:200px">{shown}</div></body>',
        encoding="utf-8",
    )
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": system}])
    try:
        browser.open(page)
        assert browser.run("matchMedia('(prefers-color-scheme: dark)').matches") == (system == "dark")
        paper = browser.run('getComputedStyle(document.querySelector("rect.paper")).fill')
        assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}[notebook]
        assert browser.run('document.getElementById("cell").scrollWidth') <= 200
        assert browser.run('document.querySelector("svg").getBoundingClientRect().width') > 200
    finally:
        browser.call("Emulation.setEmulatedMedia", features=[])
