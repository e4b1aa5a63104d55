"""Notebooks: the examples run, and what values show there is useful, small and in the colours of the page."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Any

import pytest

import ropewalk
from conftest import REPOSITORY
from pipeline_tools import toy_parser
from ropewalk import Treebank, conllu, encodings
from ropewalk.integrations.client import Client
from ropewalk.treebank.documents import SHOWN_SENTENCES, Document

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = sorted((REPOSITORY / "examples").glob("*.ipynb"))


def run_cells(path: Path) -> list[object]:
    """Run the cells of code of a notebook one after the other, and return what each shows: its last expression."""
    names: dict[str, Any] = {}
    shown = []
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{path.name}, cell {number}", "exec"), names)  # noqa: S102 - our own example
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"{path.name}, cell {number}", "eval"), names)  # noqa: S307 - likewise
            shown.append(value)
    return shown


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_and_shows_pictures(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    shown = run_cells(path)
    pictures = [value._repr_html_() for value in shown if hasattr(value, "_repr_html_")]
    assert len(pictures) >= 2
    assert all("<svg" in picture and "overflow-x:auto" in picture for picture in pictures)
    assert not any("object at 0x" in repr(value) for value in shown)
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") for cell in cells)  # what they show is made anew


def test_there_are_two_examples() -> None:
    assert [path.name for path in EXAMPLES] == ["labels.ipynb", "parse.ipynb"]


def test_a_long_document_shows_its_first_sentences(sample: Path) -> None:
    bank = conllu.read(sample)
    many = Document(Treebank.concat([bank] * 60))
    html = many._repr_html_()
    assert html.count("<svg") == SHOWN_SENTENCES
    assert f"The first {SHOWN_SENTENCES} of {len(many)} sentences" in html
    assert len(html) < 100_000
    assert Document(bank)._repr_html_().count("<svg") == len(bank) < SHOWN_SENTENCES


def test_matches_show_their_sentences_with_the_hits_in_bold() -> None:
    bank = toy_parser()("They don't twist <hemp>.").treebank
    html = bank.search("{form:n't} . {}=next")._repr_html_()
    assert html == (
        '<p>1 matches in 1 sentences</p>\n<p dir="auto">They <b>don&#x27;t</b> <b>twist</b> &lt;hemp&gt;.</p>'
    )
    many = Treebank.concat([bank] * 60)
    html = many.search("{form:They}")._repr_html_()
    assert html.startswith(f"<p>60 matches in 60 sentences, the first {SHOWN_SENTENCES}:</p>")
    assert html.count("<b>They</b>") == html.count("</p>") - 1 == SHOWN_SENTENCES
    assert many[59].search("{form:They}")._repr_html_().count("<b>They</b>") == 1
    assert many.search("{form:hawser}")._repr_html_() == "<p>0 matches in 0 sentences</p>"
    with pytest.raises(IndexError, match="no match has index 60; the result has 60, counted from 0"):
        many.search("{form:They}")[60]


def test_values_say_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = toy_parser()
    assert repr(parser) == f"<Parser {parser.name}, takes text>"
    assert repr(parser("She walks.")) == "<Document of 1 sentence, 3 words: 'She walks.'>"
    long = parser("She walks. " * 2 + "She walks backwards and on and on and on and on and on and on and on.")
    assert repr(long).startswith("<Document of 3 sentences, ")
    assert repr(encodings.get("optimal")).startswith("<Optimal optimal: optimal hierarchical brackets")
    assert repr(encodings.get("brackets(planes=2)")).startswith("<Brackets brackets(planes=2): ")
    bank = parser("She walks.").treebank
    assert repr(bank) == "<Treebank of 1 sentences, 3 words>"
    assert repr(bank.column("form")) == "<Column of 3 strings: 'She', 'walks', '.'>"
    assert repr(ropewalk.Tree([2, 0])) == "Tree([2, 0], ['_', '_'])"
    labels = encodings.get("optimal").encode(ropewalk.Tree([2, 0, 2], ["nsubj", "root", "obj"]))
    assert repr(labels) == "<Labels of 1 sentences, optimal: <, >^/^, >^>"
    many = ropewalk.conllu.loads("".join(f"{n}\tw{n}\t_\t_\t_\t_\t{n - 1}\tdep\t_\t_\n" for n in range(1, 101)) + "\n")
    for value in (
        many.column("form"),
        encodings.get("optimal").encode(many),
        many.basic_graphs(),
        ropewalk.draw(many[0]),
    ):
        assert len(repr(value)) < 200
    about = {"default": "en", "models": [{"name": "en", "generator": "ropewalk"}]}
    monkeypatch.setattr(Client, "models", lambda _: about)
    assert repr(Client("http://127.0.0.1:1")) == "<Client of http://127.0.0.1:1, model en>"


def test_the_package_lists_its_public_names_alone() -> None:
    assert dir(ropewalk) == sorted(ropewalk.__all__)
