"""Text of files is shown and does nothing else: in terminals, spreadsheets, Markdown, LaTeX, HTML and plots."""

from __future__ import annotations

import csv
import io
import os
import pty
import re
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from program_tools import PROGRAM, run_bytes
from ropewalk.reporting import plots
from ropewalk.reporting.escaping import clean, latex_escape, markdown_escape, spreadsheet_escape
from ropewalk.reporting.tables import FORMATS, Table, TableColumn, to_csv, to_html, to_latex, to_markdown, to_tsv

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RED = "\x1b[31m\x1b]0;title\x07\x9b31m"
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


def hostile(relation: str = f"x{RED}") -> str:
    """Write a sentence with escape sequences in all that a file may hold."""
    row = f"1\ta{RED}\tb{RED}\tX{RED}\tc{RED}\td{RED}=e{RED}\t0\t{relation}\t0:{relation}\tMisc{RED}\n"
    return f"# sent_id = s{RED}\n# text = t{RED}\n{row}2\tb\t_\tX\t_\t_\t1\t{relation}\t1:{relation}\t_\n\n"


@pytest.mark.parametrize(
    "words",
    [
        "evaluate FILE OTHER --by relation",
        "evaluate FILE OTHER --by upos",
        "evaluate FILE OTHER --by confusion",
        "evaluate FILE OTHER --by relation --format csv",
        "evaluate FILE OTHER --by relation --format tsv",
        "evaluate FILE OTHER --by relation --format markdown",
        "evaluate FILE OTHER --by relation --format latex",
        "evaluate FILE OTHER --by relation --format html",
        "evaluate FILE SHORT",
        "evaluate FILE OTHER --graphs",
        "compare FILE OTHER OTHER",
        "compare FILE OTHER SHORT",
        "info FILE",
        "info FILE --graphs",
        "info BROKEN",
        "info BROKEN --on-error skip",
        "stats --train FILE --dev FILE --test FILE",
        "coverage --train FILE --dev FILE --test FILE",
        "validate FILE BROKEN",
        "draw FILE",
        "draw FILE --graphs",
        "draw FILE --tags --columns lemma,xpos,feats,misc",
        "draw FILE --against OTHER",
        "draw FILE --format svg",
        "draw FILE --format tikz",
        "draw FILE --format html",
        "draw FILE --steps",
        "draw FILE --sentence NOTHING",
        "encode BROKEN -e optimal",
        "decode FILE",
        "enhance BROKEN",
        "--debug enhance BROKEN",
    ],
)
def test_no_control_character_of_a_file_reaches_a_terminal(words: str, tmp_path: Path) -> None:
    named = {
        "FILE": hostile(),
        "OTHER": hostile(f"y{RED}"),
        "SHORT": hostile().replace("\tb\t", f"\tc{RED}\t", 1),
        "BROKEN": hostile().replace("\t0\t", f"\t9{RED}\t", 1),
    }
    for name, text in named.items():
        (tmp_path / f"{name}{RED}.conllu").write_text(text, encoding="utf-8")
    done = run_bytes(*(tmp_path / f"{word}{RED}.conllu" if word in named else word for word in words.split()))
    shown = (done.stdout + done.stderr).decode()
    assert done.returncode in {0, 1}, shown
    assert shown
    assert not CONTROLS.search(shown), shown
    assert "bug" not in shown


def test_trees_and_progress_in_a_terminal_have_no_control_character_of_a_text(tmp_path: Path) -> None:
    text = tmp_path / f"[red]text{RED}.txt"
    text.write_text("A rope\x1b[31mmaker. " * 3, encoding="utf-8")
    master, slave = pty.openpty()
    with subprocess.Popen(
        [*PROGRAM, "parse", str(text)], stdout=slave, stderr=slave, env={**os.environ, "NO_COLOR": "1"}
    ):
        os.close(slave)
        shown = b""
        try:
            while block := os.read(master, 1 << 16):
                shown += block
        except OSError:  # the other end is closed
            pass
    os.close(master)
    assert b"ropewalk" in shown
    assert not CONTROLS.search(shown.decode().replace("\r\n", "\n")), shown


def table(*cells: str) -> Table:
    return Table(
        cells[0], (TableColumn(cells[0], numeric=False), TableColumn("n")), tuple((one, -1.5) for one in cells)
    )


FORMULAS = ['=HYPERLINK("http://x","y")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "'=1", "'s", "==", "-"]


@pytest.mark.parametrize(("write", "separator"), [(to_csv, ","), (to_tsv, "\t")])
def test_a_spreadsheet_takes_no_text_for_a_formula_and_numbers_for_numbers(
    write: Callable[[Table], str], separator: str
) -> None:
    rows = list(csv.reader(io.StringIO(write(table(*FORMULAS))), delimiter=separator))
    assert [row[0] for row in rows[1:]] == [f"'{clean(text)}" for text in FORMULAS]
    assert rows[0] == [f"'{FORMULAS[0]}", "n"]
    assert {row[1] for row in rows[1:]} == {"-1.5"}


@given(st.text())
def test_what_is_escaped_for_a_spreadsheet_comes_back(text: str) -> None:
    escaped = spreadsheet_escape(text)
    assert escaped.removeprefix("'") == clean(text)
    assert not escaped.startswith(("=", "+", "-", "@", "\t", "\r"))


MARKUP = [
    "[x](javascript:alert(1))",
    "![x](http://a/b.png)",
    "[x][y]",
    "[^1]",
    "<script>alert(1)</script>",
    "<http://a.b>",
    "http://a.b/c",
    "www.a.b",
    "**a** _b_ ~~c~~ `d` $e$",
    "a|b",
    "\\[x](y)",
    "&lt;b&gt; &#91; & &x",
    "a\nb",
    "# a",
    "- a",
    "+ a",
    "===",
    "---",
    "> a",
    "1. a",
]


class Shown(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - as it is called
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_markdown_shows_text_as_it_is() -> None:
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for text in MARKUP:
        shown = Shown(reader.render(to_markdown(Table(text, (TableColumn(text, numeric=False),), ((text,),)))))
        assert set(shown.tags) <= {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}, text
        found = [part for part in shown.text if part.strip()]
        assert [part.strip() for part in found] == [clean(text)] * 3


@pytest.mark.parametrize("text", MARKUP)
def test_notes_below_a_table_are_paragraphs(text: str) -> None:
    written = to_markdown(Table("", (TableColumn("n"),), ((1,),), notes=(text,)))
    shown = Shown(MarkdownIt("commonmark").enable("table").render(written))
    if text != "1. a":  # as a list it looks the same
        assert shown.tags[-1] == "p"
        assert "".join(shown.text).endswith(f"{clean(text)}\n")


def test_links_by_name_alone_are_none() -> None:
    assert markdown_escape("http://a.b") == "http\\://a.b"
    assert markdown_escape("WWW.a.b") == "WWW\\.a.b"
    assert markdown_escape("nsubj:pass 0.5 -1.5 (a)") == "nsubj:pass 0.5 -1.5 (a)"


def test_html_and_latex_show_text_as_it_is() -> None:
    text = f"<b>&{RED}\\x$"
    cell = ET.fromstring(to_html(table(text))).findtext("tbody/tr/td")
    assert cell == clean(text)
    assert latex_escape("\x1b\n") == "??"
    assert r"\textless{}b\textgreater{}\&?[31m" in to_latex(table(text))


def test_every_format_cleans_what_it_is_given() -> None:
    whole = Table(RED, (TableColumn(RED, unit=RED, numeric=False),), ((RED,),), totals=((RED,),), notes=(RED,))
    for name, write in FORMATS.items():
        found = CONTROLS.findall(write(whole))
        assert set(found) <= ({"\x9b"} if name == "json" else set()), name  # which JSON need not escape


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_plots_show_text_as_it_is(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"plot.{ending}"
    names = [f"a{RED}", "$\\frac{", "b<c>"]
    plots.bars(file, names, {"x": [1, 2, 3], "$y$": [3, 2, 1]}, plots.AxisLabels("$z", "\x1b", ""))
    if ending == "svg":
        texts = set(ET.fromstring(file.read_text(encoding="utf-8")).itertext())
        assert {*map(clean, names), "$y$", "$z"} <= texts
