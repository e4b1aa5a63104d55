"""Pictures: layout, measuring, every form, escaping, and the decoder step by step."""

from __future__ import annotations

import json
import os
import re
import struct
import sys
import time
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import REPOSITORY
from golden_pictures import FOLDER, HOSTILE, LONG, pictures
from program_tools import run
from ropewalk import Treebank, conllu, draw, encodings
from ropewalk.core.graphs import Graph
from ropewalk.core.trees import Tree
from ropewalk.drawing import PictureOptions, Scene, scene, to_html, to_steps, to_svg, to_text, to_tikz, trace
from ropewalk.drawing.levels import levels
from ropewalk.drawing.measure import cells, is_right_to_left, shorten, units
from ropewalk.encodings import FAULTS
from ropewalk.errors import (
    EncodingError,
    LabelError,
    MismatchError,
    MissingExtraError,
    OptionError,
    UnknownNameError,
)
from ropewalk.reporting.escaping import clean
from strategies import head_lists, projective_trees, trees, values

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"
sys.path.insert(0, str(REPOSITORY / "docs"))
from draw_figures import figures  # noqa: E402 - a script of the documentation

sys.path.pop(0)


class Checked(HTMLParser):
    """A parser that insists on every element being closed in order, and collects what would be fetched."""

    VOID = frozenset({"meta", "input", "br", "path", "rect"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [str(value) for name, value in attrs if name in {"src", "href", "data", "action", "xlink:href"}]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag in self.VOID or self.open.pop() == tag

    @classmethod
    def of(cls, page: str) -> Checked:
        parser = cls()
        parser.feed(page)
        parser.close()
        assert parser.open == []
        assert parser.links == []
        assert "url(" not in page
        assert "@import" not in page
        return parser


def arcs_of(svg: str) -> set[tuple[int, int]]:
    return {
        (int(group.attrib["data-head"]), int(group.attrib["data-dependent"]))
        for group in ET.fromstring(svg).iter(f"{SVG}g")
        if "data-head" in group.attrib
    }


def graphs_and_trees() -> st.SearchStrategy[Tree | Graph]:
    pairs = st.integers(1, 8).flatmap(
        lambda words: st.tuples(
            st.just(words),
            st.sets(
                st.tuples(st.integers(0, words), st.integers(1, words)).filter(lambda arc: arc[0] != arc[1]),
                max_size=12,
            ),
        )
    )
    return st.one_of(trees(), pairs.map(lambda pair: Graph(*pair)))


@given(st.sets(st.tuples(st.integers(0, 30), st.integers(0, 30)).filter(lambda span: span[0] < span[1])))
def test_no_two_arcs_of_one_level_overlap_and_nested_arcs_lie_inside(chosen: set[tuple[int, int]]) -> None:
    spans = sorted(chosen)
    found = levels(spans)
    assert all(level >= 1 for level in found)
    for a, (low, high) in enumerate(spans):
        for b, (start, stop) in enumerate(spans):
            if a != b and start < high and low < stop:
                assert found[a] != found[b]
            if a != b and low <= start and stop <= high:
                assert found[b] < found[a]


@given(projective_trees())
def test_a_tree_without_crossings_has_no_crossing_in_the_terminal(tree: Tree) -> None:
    assert not set(to_text(scene(tree, PictureOptions(relations=False)))) & set("┼╋╂┿")


@given(graphs_and_trees())
def test_every_arc_is_in_every_form(structure: Tree | Graph) -> None:
    shown = scene(structure)
    wanted = set(structure.arcs())
    assert arcs_of(to_svg(shown)) == wanted
    tikz = to_tikz(scene(structure, PictureOptions(root=True)))
    edges = re.findall(r"\\depedge(?:\[.*?\])?\{(\d+)\}\{(\d+)\}", tikz)
    assert {(int(head) - 1, int(dependent) - 1) for head, dependent in edges} == wanted
    assert to_text(shown).count("▼") == len({dependent for _, dependent in wanted})
    Checked.of(to_html([shown]))


@given(st.lists(values(), min_size=1, max_size=6), st.data())
def test_any_words_can_be_drawn_within_the_width(words: list[str], data: st.DataObject) -> None:
    heads = data.draw(head_lists(len(words), least=len(words)))
    tree = Tree(heads, data.draw(st.lists(values(), min_size=len(words), max_size=len(words))))
    shown = scene(tree, PictureOptions(words=words, tags=words, labels=["optimal-nonprojective"]))
    ET.fromstring(to_svg(shown))
    Checked.of(to_html([shown]))
    width = data.draw(st.integers(20, 60))
    for line in to_text(shown, width=width).splitlines():
        assert cells(line) <= width, line
    texts = [text.text for text in ET.fromstring(to_svg(shown)).iter(f"{SVG}text") if "data-node" in text.attrib]
    assert sorted(map(str, texts)) == sorted(clean(word) for word in shown.words)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("rope", 4),
        ("縄は", 4),
        ("e\u0301te\u0301", 3),
        ("👩‍👩‍👧", 2),
        ("👍🏽", 2),
        ("🇫🇮🇸🇪", 4),
        ("❤\ufe0f", 2),
        ("한", 2),
        ("\u1112\u1161\u11ab", 2),
        ("שָׁלוֹם", 4),
        ("ｱ", 1),
        ("", 0),
    ],
)
def test_cells_of_a_terminal(text: str, size: int) -> None:
    assert cells(text) == size


def test_text_is_cut_at_whole_characters() -> None:
    assert shorten("縄は長い", 5) == "縄は…"
    assert shorten("rope", 4) == "rope"
    assert shorten("e\u0301te\u0301s", 3) == "e\u0301t…"
    assert units("mm") > units("ii") > 0
    assert units("縄") == 1


def test_right_to_left_sentences_run_from_right_to_left() -> None:
    words = ("שלום", "לכם", "Rope")
    assert is_right_to_left(words)
    assert not is_right_to_left(("rope", "שלום"))
    shown = scene(Tree([0, 1, 1]), PictureOptions(words=words))
    at = {
        text.text: float(text.attrib["x"])
        for text in ET.fromstring(to_svg(shown)).iter(f"{SVG}text")
        if "data-node" in text.attrib
    }
    assert at["שלום"] > at["לכם"] > at["Rope"]
    line = to_text(shown).splitlines()[-1]
    assert line.index("Rope") < line.index("לכם") < line.index("שלום")
    assert r"Rope \& לכם \& שלום" in to_tikz(shown)


def test_a_long_sentence_is_cut_between_words_and_loses_none() -> None:
    words = [f"word{number}" for number in range(1, 41)]
    text = to_text(scene(LONG, PictureOptions(words=words)), width=50)
    assert max(map(cells, text.splitlines())) <= 50
    assert re.findall(r"word\d+", text) == words
    assert text.count("▼") == 40
    assert text.count("nmod") == LONG.relations.count("nmod")


def test_colours_are_there_only_when_asked_for() -> None:
    shown = scene(Tree([2, 0]), PictureOptions(cover="proper"))
    assert "\x1b[31m" in to_text(shown, colour=True)
    assert "\x1b" not in to_text(shown)
    assert re.sub(r"\x1b\[[0-9;]*m", "", to_text(shown, colour=True)) == to_text(shown)


def test_structural_arcs_are_red_and_solid_and_auxiliary_ones_dashed() -> None:
    shown = scene(Tree([0, 4, 4, 0, 6, 7, 4]), PictureOptions(cover="proper"))
    kinds = {(arc.head, arc.dependent): arc.kind for arc in shown.arcs}
    assert {arc for arc, kind in kinds.items() if kind == "structural"} == {(0, 4), (4, 7), (6, 5)}
    assert r"\depedge[edge style={red}]{1}{5}{}" in to_tikz(shown)
    assert r"\depedge[edge style={dashed}]{1}{2}{}" in to_tikz(shown)
    style = to_svg(shown)
    assert re.search(r"\.auxiliary \.line[^{]*\{stroke-dasharray", style)
    assert re.search(r"--structural:#d1121f", style)


# The labels under node 0 and the words as the paper prints them.
PRINTED = {
    "paper-naive": "// > < < \\\\>/ < \\< \\>",
    "paper-optimal": "/^ > < < >^/^ <^ \\^< >^",
    "paper-four-bit": "/^ > <^ < \\^>^/^ <^ \\^<^ \\^>^",
    "paper-semibrackets": "/^ <^ >* <* \\^< >^",
    "paper-superbrackets": "/^ /^ \\>*/^ >^** >^* >^",
    "paper-auxiliary": "/^ > < > < >^",
    "paper-stepwise-1": "/^ < > < >^",
    "paper-stepwise-2": "/^ < >/^ < <* >^* >^",
    "paper-stepwise": "/^ < >/^ /^< <* <** >^** >^* >^",
    "paper-complex": "/^ < >/^ /^< <* <** >^** >^* >^/^ <^ >*/* >* >^ \\^",
}
RED = {
    "paper-naive": {(0, 4), (0, 1), (4, 2), (4, 3), (4, 7), (7, 6), (6, 5)},
    "paper-optimal": {(0, 4), (4, 7), (6, 5)},
    "paper-four-bit": {(0, 4), (4, 2), (4, 7), (7, 6), (6, 5)},
    "paper-semibrackets": {(0, 5), (4, 1)},
    "paper-superbrackets": {(0, 3), (1, 4), (2, 5)},
    "paper-auxiliary": {(0, 5)},
    "paper-stepwise-1": {(1, 7)},
    "paper-stepwise-2": {(1, 7), (3, 8)},
    "paper-stepwise": {(1, 7), (3, 8), (4, 9)},
    "paper-proof-before": {(1, 6), (6, 2)},
    "paper-proof-after": {(1, 6), (2, 5)},
    "paper-complex": {(1, 7), (3, 8), (4, 9), (9, 13), (14, 10)},
}


@pytest.mark.parametrize("name", RED)
def test_the_papers_figures_come_out_as_printed(name: str) -> None:
    drawn = ET.fromstring(figures()[f"{name}.svg"])
    labels = []
    for text in drawn.iter(f"{SVG}text"):
        if "brackets" in text.attrib.get("class", ""):
            label = ""
            for span in text:
                label += (span.text or "") + ("^" if span.attrib["class"] == "super" else "")
                label += "*" * int(span[0].text or 0) if len(span) else ""
            labels.append((int(text.attrib["data-word"]), label))
    assert " ".join(label for _, label in sorted(labels)) == PRINTED.get(name, "")
    red = {
        (int(group.attrib["data-head"]), int(group.attrib["data-dependent"]))
        for group in drawn.iter(f"{SVG}g")
        if group.attrib["class"] == "arc structural"
    }
    assert red == RED[name]


def test_the_figures_of_the_documentation_are_up_to_date() -> None:
    folder = REPOSITORY / "docs" / "figures"
    assert {file.name for file in folder.iterdir()} == set(figures())
    for name, text in figures().items():
        assert (folder / name).read_text(encoding="utf-8") == text, "run `make figures`"
    sources = (REPOSITORY / "README.md", *(REPOSITORY / "docs").glob("*.md"))
    pages = "".join(page.read_text(encoding="utf-8") for page in sources)
    for name in figures():
        assert f"figures/{name}" in pages


@pytest.mark.parametrize("name", sorted(pictures()))
def test_golden_pictures(name: str) -> None:
    golden = (FOLDER / name).read_text(encoding="utf-8")
    assert pictures()[name] == golden, "look at it, then run `python tests/golden_pictures.py`"


def test_no_golden_picture_is_left_over() -> None:
    assert {file.name for file in FOLDER.iterdir()} == set(pictures())


def test_hostile_words_stay_words() -> None:
    svg = to_svg(scene(HOSTILE, PictureOptions(tags=True, labels=["optimal"])))
    words = [text.text for text in ET.fromstring(svg).iter(f"{SVG}text")]
    assert "<script>alert(1)</script>" in words
    assert "<script" not in svg
    assert "script" not in Checked.of(to_html([scene(HOSTILE)], title="</title><script>")).seen
    page = to_steps(trace(["<", ">^"], "optimal"), words=["</script><script>alert(1)", "<b>"], title="</h1><img>")
    assert Checked.of(page).seen.count("script") == 2
    assert "img" not in Checked.of(page).seen
    tikz = to_tikz(scene(HOSTILE))
    cell_row = tikz.splitlines()[3]
    assert cell_row.count(r"\&") == len(HOSTILE) - 1
    assert r"\symbol{38}amp;" in cell_row
    bars = to_tikz(scene(Tree([0, 1]), PictureOptions(words=["|[red]|", "&"])))
    assert r"\textbar{}{[}red]\textbar{} \& \symbol{38}" in bars
    assert r"50\%\_\{\}" in cell_row
    assert "\x1b" not in to_text(scene(HOSTILE))


@pytest.mark.parametrize(
    "form",
    [
        to_text,
        lambda shown: to_text(shown, width=100, colour=True),
        to_svg,
        to_tikz,
        lambda shown: to_html([shown]),
    ],
    ids=["text", "wrapped text", "svg", "tikz", "html"],
)
def test_two_hundred_words_take_no_longer_than_a_loop_of_two_million_steps(form: Callable[[Scene], str]) -> None:
    heads = [word // 2 for word in range(1, 201)]  # every arc over half of what came before
    shown = scene(
        Tree(heads, ["nsubj:pass"] * 200), PictureOptions(words=["harbour"] * 200, labels=["optimal-nonprojective"])
    )

    def loop() -> int:  # about a tenth of a second, and as slow as the machine is just then
        return sum(step % 7 for step in range(2_000_000))

    def seconds(call: Callable[[], object]) -> float:
        before = time.process_time()
        call()
        return time.process_time() - before

    assert any(seconds(lambda: form(shown)) < seconds(loop) for _ in range(5))


def test_two_trees_at_once_mark_errors() -> None:
    gold = Tree([2, 0, 2, 3], ["nsubj", "root", "obj", "amod"])
    other = Tree([2, 0, 4, 2], ["csubj", "root", "amod", "obj"])
    kinds = {(arc.head, arc.dependent, arc.below): arc.kind for arc in scene(gold, PictureOptions(against=other)).arcs}
    assert kinds == {
        (2, 1, False): "renamed",
        (0, 2, False): "plain",
        (2, 3, False): "missed",
        (3, 4, False): "missed",
        (4, 3, True): "wrong",
        (2, 4, True): "wrong",
    }
    assert "nsubj → csubj" in str(draw(gold, PictureOptions(against=other)))
    assert {kind for kind in kinds.values() if kind != "plain"} == {
        k for k, _ in scene(gold, PictureOptions(against=other)).notes()
    }
    alone = {(arc.kind) for arc in scene(gold, PictureOptions(against=gold)).arcs}
    assert alone == {"plain"}
    with pytest.raises(MismatchError, match="4 words and the second 1"):
        draw(gold, PictureOptions(against=Tree([0])))
    with pytest.raises(OptionError, match="same colours"):
        draw(gold, PictureOptions(against=other, cover="proper"))
    words, others = (
        Treebank.of([Tree([0, 1], ["root", "x"])]).with_columns({"form": forms})[0] for forms in ("ab", "ac")
    )
    with pytest.raises(MismatchError, match="word 2 is 'b' in the first tree and 'c'"):
        draw(words, PictureOptions(against=others))


def test_labels_of_encodings_stand_under_the_words(sample: Path) -> None:
    sentence = conllu.read(sample)[1]
    for spec in ("optimal", "four-bit", "hexatags", "relative", "pos-offset", "brackets", "arc-eager"):
        rows = scene(sentence, PictureOptions(labels=[spec])).rows
        found = encodings.get(spec).encode(conllu.read(sample).select([1]))
        assert [list(row.cells[1:]) for row in rows] == [found.texts(place) for place in range(len(rows))]
    crossing = scene(conllu.read(sample)[3], PictureOptions(labels=["optimal", "optimal-nonprojective"]))
    assert [row.name for row in crossing.rows] == ["optimal, lifted", "optimal-nonprojective"]
    with pytest.raises(EncodingError, match="whole trees"):
        draw(Graph(2, [(1, 2)]), labels=["optimal"])
    assert scene(Graph(2, [(1, 2)]), PictureOptions(labels=["optimal-nonprojective"])).rows[0].cells == ("", "/^", ">^")
    with pytest.raises(UnknownNameError):
        draw(sentence, cover="nonsense")


def test_columns_stand_under_the_words(sample: Path) -> None:
    sentence = conllu.read(sample)[1]
    rows = scene(sentence, PictureOptions(tags=True, columns=["lemma", "feats"])).rows
    assert [row.name for row in rows] == ["upos", "lemma", "feats"]
    assert list(rows[1].cells[1:]) == ["" if text == "_" else text for text in sentence.column("lemma")]
    with pytest.raises(UnknownNameError, match="heads"):
        draw(sentence, PictureOptions(columns=["heads"]))
    with pytest.raises(OptionError, match="put it into a list"):
        draw(sentence, PictureOptions(columns="lemma"))
    with pytest.raises(OptionError, match="a Tree has no columns"):
        draw(Tree([0]), PictureOptions(columns=["lemma"]))


def test_what_does_not_fit_is_refused() -> None:
    tree = Tree([0, 1])
    with pytest.raises(MismatchError, match="1 words for a tree of 2"):
        draw(tree, words=["a"])
    with pytest.raises(MismatchError, match="1 parts of speech for 2"):
        draw(tree, tags=["X"])
    with pytest.raises(MismatchError, match="1 probabilities for 2"):
        draw(tree, PictureOptions(probabilities=[1.0]))
    with pytest.raises(MismatchError, match="1 words for 2 labels"):
        to_steps(trace(["<", ">^"]), words=["a"])


@pytest.mark.parametrize(
    ("misc", "share"),
    [
        ("_", None),
        ("Confidence=0.98", 0.98),
        ("SpaceAfter=No|Confidence=1", 1),
        ("Confidence=x", None),
        ("Confidence=nan", None),
    ],
)
def test_probabilities_are_read_from_misc(misc: str, share: float | None) -> None:
    (word,) = conllu.loads(f"1\tx\t_\t_\t_\t_\t0\troot\t_\t{misc}\n\n")[0]
    assert word.probability == share


def test_notebooks_show_pictures_and_trees() -> None:
    tree = Tree([2, 0], ["nsubj", "root"])
    picture = draw(tree, words=["ropes", "hold"])
    html = picture._repr_html_()
    assert arcs_of(html) == {(2, 1), (0, 2)}
    assert 'style="overflow-x:auto' in html  # it scrolls and does not burst the cell
    assert "prefers-color-scheme" not in html
    assert "[data-jp-theme-light=false] svg.ropewalk.notebook" in html
    assert str(picture) == picture.text()
    assert arcs_of(tree._repr_html_()) == {(2, 1), (0, 2)}
    assert arcs_of(Graph(2, [(2, 1), (0, 1), (0, 2)])._repr_html_()) == {(2, 1), (0, 1), (0, 2)}


def bracket_labels() -> st.SearchStrategy[str]:
    return st.lists(st.from_regex(r"[<>\\/]\^?\*{0,2}", fullmatch=True), min_size=1, max_size=3).map("".join)


SPECS = {
    "optimal": st.sampled_from(encodings.get("optimal").alphabet or ()),
    "four-bit": st.sampled_from(encodings.get("four-bit").alphabet or ()),
    "optimal-nonprojective": bracket_labels(),
    "brackets(stacks=1)": st.from_regex(r"[<>\\/]{1,3}", fullmatch=True),
}


@pytest.mark.parametrize("spec", SPECS)
@given(data=st.data())
def test_the_steps_end_where_the_decoder_ends(spec: str, data: st.DataObject) -> None:
    """On any labels, however broken: the same heads, the same faults, the same repaired tree."""
    labels = data.draw(st.lists(SPECS[spec], min_size=1, max_size=12))
    encoding = encodings.get(spec)
    given_labels = encoding.labels([labels])
    found = trace(labels, spec)
    decoded = encoding.decode(given_labels)
    assert list(found.decoded) == decoded.heads.tolist()
    assert sorted((word, FAULTS[kind]) for word, kind in found.faults()) == sorted(
        (fault.word, fault.kind) for fault in decoded.faults()
    )
    assert list(found.heads) == encoding.recover(given_labels).trees.heads.tolist()
    page = to_steps(found)
    Checked.of(page)
    steps = json.loads(page.split('id="steps">')[1].split("</script>")[0])
    seen: set[str] = set()
    for step in steps:
        seen |= set(step["show"])
        seen -= set(step["hide"])
    arcs = {tuple(map(int, key.split(":")[1:])) for key in seen if not key.startswith("refused")}
    assert arcs == {(head, word) for word, head in enumerate(found.heads, start=1)}


@pytest.mark.parametrize(
    "spec", ["optimal", "four-bit", "brackets(stacks=1)", "optimal+head", "four-bit(policy=published)"]
)
@given(tree=projective_trees())
def test_the_steps_of_good_labels_make_the_tree(spec: str, tree: Tree) -> None:
    found = trace(encodings.get(spec).encode(tree).texts(), spec)
    assert list(found.heads) == tree.heads.tolist()
    assert not found.faults()
    assert "every bracket found its match" in to_steps(found)


@given(trees())
def test_the_steps_of_indexed_labels_make_any_tree(tree: Tree) -> None:
    found = trace(encodings.get("optimal-nonprojective").encode(tree).texts(), "optimal-nonprojective")
    assert list(found.heads) == tree.heads.tolist()
    assert not found.faults()


@pytest.mark.parametrize("spec", ["brackets", "seven-bit", "hexatags", "relative"])
def test_the_steps_of_other_encodings_are_refused(spec: str) -> None:
    with pytest.raises(OptionError, match=r"can: optimal, optimal-nonprojective, four-bit$"):
        trace(["<"], spec)


def test_a_label_of_no_encoding_is_refused() -> None:
    with pytest.raises(LabelError):
        trace(["<<"], "optimal")


def test_the_program_draws_heads() -> None:
    done = run("draw", "--heads", "4,4,0,3", "--words", "a b c d", "--cover", "proper", COLUMNS="80")
    assert done.returncode == 0, done.stderr
    assert "structural arc" in done.stdout
    assert "\x1b" not in done.stdout
    partial = run("draw", "--heads", "_,1,1", "--brackets")
    assert partial.returncode == 0, partial.stderr
    for words in (["--heads", "2,1"], ["--heads", "a"], ["--heads", "0,1", "--words", "a"]):
        assert run("draw", *words).returncode == 1
    for words in ([], ["--heads", "0", "--labels", "<"], ["--heads", "0", "--tags"], ["x", "--words", "a"]):
        assert run("draw", *words).returncode == 2


def test_the_program_writes_what_the_name_of_the_file_says(tmp_path: Path, sample: Path) -> None:
    for name, start in (("a.svg", "<svg"), ("a.tex", "%"), ("a.html", "<!DOCTYPE html>"), ("a.txt", "en-4")):
        done = run("draw", sample, "--sentence", "en-4", "-o", tmp_path / name)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.html", "a.svg", "a.tex", "a.txt"]
    assert run("draw", sample, "--format", "svg", "-o", tmp_path / "b.svg").returncode == 1
    assert not (tmp_path / "b.svg").exists()
    missing = run("draw", sample, "--sentence", "99")
    assert missing.returncode == 1
    assert "from 1 to" in missing.stderr
    page = run("draw", "-", "--format", "html", "--theme", "dark", stdin=sample.read_bytes())
    assert Checked.of(page.stdout).seen.count("figure") == len(conllu.read(sample))


def test_the_program_compares_and_shows_probabilities(tmp_path: Path, sample: Path) -> None:
    other = tmp_path / "other.conllu"
    text = sample.read_text(encoding="utf-8").replace("\t3\tdet\t3:det\t_", "\t2\tdet\t2:det\tConfidence=0.25", 1)
    other.write_text(text, encoding="utf-8", newline="\n")
    done = run("draw", sample, "--against", other, "--sentence", "1")
    assert "only in the first tree" in done.stdout
    assert "▲" in done.stdout
    assert "det 0.25" in run("draw", other, "--probabilities", "--sentence", "1").stdout
    short = tmp_path / "short.conllu"
    short.write_text(text[: text.index("# sent_id = en-2")], encoding="utf-8", newline="\n")
    assert "expected the same sentences" in run("draw", sample, "--against", short).stderr


def test_the_program_shows_the_steps_of_labels_trees_and_heads(tmp_path: Path, sample: Path) -> None:
    page = tmp_path / "steps.html"
    assert run("draw", "--steps", "--labels", "< < >^/^ \\^> >^ <", "-o", page).returncode == 0
    assert "Repair: 6 has no head" in page.read_text(encoding="utf-8")
    assert "optimal-nonprojective" in run("draw", "--steps", sample, "--sentence", "en-4").stdout
    assert "four-bit" in run("draw", "--steps", "--heads", "0,1", "-e", "four-bit").stdout
    assert run("draw", "--steps", sample).returncode == 1
    assert run("draw", "--steps", "--heads", "_,1").returncode == 1
    told = run("draw", "--labels", "< <")
    assert told.returncode == 0
    assert "unmatched opening bracket" in told.stderr


def test_pictures_as_png_and_pdf(sample: Path, tmp_path: Path) -> None:
    pytest.importorskip("typst")
    picture = draw(conllu.read(sample)[0])
    png = picture.png(scale=2)
    width, height = struct.unpack(">II", png[16:24])
    wide, high = re.findall(r'(?:width|height)="([\d.]+)"', picture.svg())[:2]
    assert png.startswith(b"\x89PNG")
    assert (width, height) == (pytest.approx(2 * float(wide), abs=2), pytest.approx(2 * float(high), abs=2))
    assert picture.png(scale=2) == png  # equal trees give equal files
    assert picture.png(scale=2, theme="dark") != png
    with pytest.raises(OptionError, match="the scale of a PNG is 0"):
        picture.png(scale=0)
    done = run("draw", sample, "-o", tmp_path / "all.pdf")
    assert done.returncode == 0, done.stderr
    pages = re.findall(rb"/Type\s*/Page\b", (tmp_path / "all.pdf").read_bytes())
    assert len(pages) == len(conllu.read(sample))
    one = run("draw", sample, "--sentence", "1", "-o", tmp_path / "one.png")
    assert one.returncode == 0, one.stderr
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    several = run("draw", sample, "-o", tmp_path / "several.png")
    assert "PNG holds one picture" in several.stderr


def test_png_and_pdf_name_the_extra_that_they_need(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(MissingExtraError, match=r"pip install -c constraints\.txt '\.\[draw\]'"):
        draw(conllu.read(sample)[0]).pdf()


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_a_terminal_gets_colours_and_its_own_width(environment: dict[str, str], coloured: bool) -> None:  # noqa: FBT001 - a case
    import pty

    program = "from ropewalk.cli import main; main()"
    words = " ".join(f"word{number}" for number in range(30))
    heads = ",".join(str(number) for number in range(30))
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover - another process
        os.environ.pop("NO_COLOR", None)
        os.environ |= {"TERM": "xterm", "COLUMNS": "40"} | environment
        os.execv(  # noqa: S606 - our own program
            sys.executable,
            [sys.executable, "-c", program, "draw", "--heads", heads, "--words", words, "--cover", "proper"],
        )
    out = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    os.waitpid(child, 0)
    os.close(terminal)
    text = out.decode("utf-8")
    assert ("\x1b[31m" in text) == coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert max(map(cells, plain.splitlines())) <= 40
    assert plain.count("word") == 30


def test_the_program_refuses_forms_that_it_does_not_know(tmp_path: Path) -> None:
    for words, said in (
        (("--heads", "2,0", "-o", tmp_path / "tree.gif"), "no picture format ends in .gif"),
        (("--heads", "2,0", "--steps", "--format", "svg"), "--steps writes an HTML page"),
        (("--heads", ""), "--heads is empty"),
    ):
        done = run("draw", *words)
        assert done.returncode != 0
        assert said in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_steps_say_that_a_tree_was_lifted() -> None:
    assert (
        "lifted: optimal cannot write its crossing arcs"
        in run("draw", "--heads", "3,4,0,3", "--steps", "-e", "optimal").stdout
    )
    assert "lifted" not in run("draw", "--heads", "3,4,0,3", "--steps").stdout
