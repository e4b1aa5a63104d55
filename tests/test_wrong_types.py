"""Values that are no text, path, name, tree or treebank raise an error of ours in every public function."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import ropewalk
from conftest import REPOSITORY
from ropewalk import Document, RopewalkError, Tree, Treebank, conllu, deps, displacy, encodings, json, sdp
from ropewalk.core.graphs import crossing_arcs
from ropewalk.core.projectivity import lift
from ropewalk.core.ropes import rope_cover
from ropewalk.core.trees import gap_degree, is_projective, tree_planes
from ropewalk.encodings import graphs as graph_encodings
from ropewalk.formats.label_files import LabelReader
from ropewalk.formats.text import text_pieces, token_banks, treebank_of_tokens
from ropewalk.laboratory import splits
from ropewalk.scoring import attachment, conll18

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ropewalk import Parser

SAMPLE = REPOSITORY / "examples" / "sample.conllu"
WRONG = [None, 5, 1.5, object(), [None], [[None]], {}, {5: 5}, len]  # none of them is a text, a path, a tree, …


@cache
def parser() -> Parser:
    return ropewalk.load("en", threads=1)


@cache
def bank() -> Treebank:
    return conllu.read(SAMPLE)


def other_than(right: object, wrong: Any) -> Any:  # noqa: ANN401 - of any type
    """Replace a valid argument by another value."""
    return object() if wrong == right else wrong


OPTIMAL, BRACKETS = encodings.get("optimal"), graph_encodings.get("brackets")
ONE = Tree([0])
TAKING: dict[str, Callable[[Any], object]] = {
    "conllu.loads": conllu.loads,
    "conllu.read": conllu.read,
    "conllu.stream": lambda wrong: conllu.stream(wrong).read(),
    "conllu.stream chunk_bytes": lambda wrong: conllu.stream(SAMPLE, chunk_bytes=other_than(5, wrong)).read(),
    "conllu.stream longest": lambda wrong: conllu.stream(SAMPLE, longest=other_than(5, wrong)).read(),
    "conllu.problems": lambda wrong: list(conllu.problems(wrong)),
    "conllu.dumps": conllu.dumps,
    "conllu.write path": lambda wrong: conllu.write(wrong, bank()),
    "sdp.loads": sdp.loads,
    "sdp.read": sdp.read,
    "sdp.problems": lambda wrong: list(sdp.problems(wrong)),
    "sdp.dumps": sdp.dumps,
    "deps.read": deps.read,
    "deps.forms": deps.forms,
    "json.sentence": json.sentence,
    "json.document": json.document,
    "displacy.sentence": displacy.sentence,
    "encodings.get": encodings.get,
    "encodings.parse_spec": encodings.parse_spec,
    "encodings.options_of": encodings.options_of,
    "graph encodings.get": graph_encodings.get,
    "graph encodings.options_of": graph_encodings.options_of,
    "encode": OPTIMAL.encode,
    "covers": OPTIMAL.covers,
    "decode": OPTIMAL.decode,
    "recover": OPTIMAL.recover,
    "labels": lambda wrong: OPTIMAL.labels(other_than({}, wrong)),
    "encode graphs": BRACKETS.encode,
    "graphs covered": BRACKETS.covers,
    "decode graphs": BRACKETS.decode,
    "labels of graphs": lambda wrong: BRACKETS.labels(other_than({}, wrong)),
    "load": ropewalk.load,
    "load each_line": lambda wrong: ropewalk.load(
        "en", ropewalk.ParserOptions(each_line=other_than(None, wrong)), threads=1
    ),
    "parser": lambda wrong: list(parser()(wrong)),
    "parser.pipe": lambda wrong: list(parser().pipe(other_than({}, wrong))),
    "parser.pipe of one": lambda wrong: list(parser().pipe([wrong])),
    "parser.pipe batch": lambda wrong: list(parser().pipe(["a"], batch=other_than(5, wrong))),
    "parser.pipe jobs": lambda wrong: list(parser().pipe(["a"], jobs=other_than(5, wrong))),
    "parser.tokens": lambda wrong: parser().tokens(other_than({}, wrong)),
    "parser.conllu": lambda wrong: parser().conllu(wrong),
    "parser.treebank": lambda wrong: parser().treebank(wrong),
    "parser.stream": lambda wrong: list(parser().stream(other_than({}, wrong))),
    "parser.stream of one": lambda wrong: list(parser().stream([wrong])),
    "parser.segmented of one": lambda wrong: list(parser().segmented(["a", wrong])),
    "parser.parse_together": lambda wrong: parser().parse_together(other_than({}, wrong)),
    "text_pieces": lambda wrong: list(text_pieces(wrong)),
    "token_banks": lambda wrong: list(token_banks([wrong], "x")),
    "treebank_of_tokens": lambda wrong: treebank_of_tokens(other_than({}, wrong)),
    "LabelReader": LabelReader,
    "Document": Document,
    "Treebank.of": lambda wrong: Treebank.of(other_than({}, wrong)),
    "Treebank.concat": lambda wrong: Treebank.concat(other_than({}, wrong)),
    "draw": ropewalk.draw,
    "draw words": lambda wrong: ropewalk.draw(ONE, words=other_than(None, wrong)),
    "draw tags": lambda wrong: ropewalk.draw(ONE, tags=other_than(None, wrong)),
    "draw labels": lambda wrong: ropewalk.draw(ONE, labels=other_than(None, other_than({}, wrong))),
    "draw columns": lambda wrong: ropewalk.draw(bank()[0], ropewalk.PictureOptions(columns=other_than({}, wrong))),
    "draw probabilities": lambda wrong: ropewalk.draw(
        ONE, ropewalk.PictureOptions(probabilities=other_than(None, other_than([None], wrong)))
    ),
    "draw against": lambda wrong: ropewalk.draw(ONE, ropewalk.PictureOptions(against=other_than(None, wrong))),
    "draw title": lambda wrong: ropewalk.draw(ONE, ropewalk.PictureOptions(title=other_than(None, wrong))),
    "crossing_arcs": crossing_arcs,
    "is_projective": is_projective,
    "gap_degree": gap_degree,
    "tree_planes": tree_planes,
    "lift": lift,
    "rope_cover": rope_cover,
    "score": lambda wrong: attachment.score(bank(), wrong),
    "conll18.evaluate": lambda wrong: conll18.evaluate(wrong, bank()),
    "splits.find": splits.find,
}


@pytest.mark.parametrize("name", TAKING)
def test_what_is_something_else_is_an_error_of_our_own(name: str) -> None:
    for wrong in WRONG:
        with pytest.raises(RopewalkError):
            TAKING[name](wrong)


@pytest.mark.parametrize("path", ["a\0b", "\ud800", b"a"])
def test_what_can_be_no_path_is_an_error_of_our_own(path: Any) -> None:  # noqa: ANN401 - no path
    for taken in (conllu.read, sdp.read, lambda one: conllu.write(one, bank()), lambda one: list(text_pieces(one))):
        with pytest.raises(RopewalkError):
            taken(path)


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    wrong: Any
    for wrong in (None, 5, [None], [bank(), "text"]):
        with pytest.raises(RopewalkError):
            conllu.write(tmp_path / "out.conllu", wrong)
        with pytest.raises(RopewalkError):
            sdp.write(tmp_path / "out.sdp", wrong)
    assert not list(tmp_path.iterdir())
