"""Each way to write a table, read back by something that knows the format."""

from __future__ import annotations

import csv
import io
import json
import math
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.cli.shell import Format
from ropewalk.reporting.tables import (
    FORMATS,
    Table,
    TableColumn,
    to_csv,
    to_html,
    to_json,
    to_latex,
    to_markdown,
    to_text,
    to_tsv,
)

TABLE = Table(
    title="Scores & <more>",
    columns=(
        TableColumn("name", numeric=False),
        TableColumn("accuracy", "las", unit="%", decimals=1),
        TableColumn("words"),
    ),
    rows=(("a|b_c", 91.25678, 1200), ('q "x", y', math.nan, None), ("d", 91.0, 7)),
    totals=(("all", 91.1, 1207),),
    notes=("100% of words.",),
    underlined=frozenset({(2, 1)}),
    marks={(0, 1): "*"},
).mark_best("las")


def test_json_keeps_full_precision_and_has_no_nan() -> None:
    data = json.loads(to_json(TABLE), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert data["rows"][0] == {"name": "a|b_c", "las": 91.25678, "words": 1200}
    assert data["rows"][1] == {"name": 'q "x", y', "las": None, "words": None}
    assert data["totals"] == [{"name": "all", "las": 91.1, "words": 1207}]
    assert (data["title"], data["units"], data["notes"]) == (
        "Scores & <more>",
        {"las": "%"},
        ["100% of words."],
    )


@pytest.mark.parametrize(("text", "separator"), [(to_csv(TABLE), ","), (to_tsv(TABLE), "\t")])
def test_separated_values_are_read_back(text: str, separator: str) -> None:
    rows = list(csv.reader(io.StringIO(text), delimiter=separator))
    assert rows[0] == ["name", "las", "words"]
    assert rows[1] == ["a|b_c", "91.25678", "1200"]
    assert rows[2] == ['q "x", y', "", ""]
    assert rows[4] == ["all", "91.1", "1207"]
    assert "\r" not in text


def test_markdown_escapes_aligns_and_marks() -> None:
    lines = to_markdown(TABLE).splitlines()
    assert lines[0] == "**Scores & \\<more\\>**"
    assert lines[2:5] == [
        "| name | accuracy (%) | words |",
        "| --- | ---: | ---: |",
        "| a\\|b\\_c | **91.3**\\* | 1200 |",
    ]
    assert lines[5] == '| q "x", y | - | - |'
    assert lines[6] == "| d | <u>91.0</u> | 7 |"
    assert lines[-1] == "100% of words."


def test_latex_escapes_aligns_and_marks() -> None:
    text = to_latex(TABLE)
    assert r"\begin{tabular}{lrr}" in text
    assert r"a|b\_c & \textbf{91.3}\rlap{\textsuperscript{*}} & 1200 \\" in text
    assert r"d & \underline{91.0} & 7 \\" in text
    assert r"\caption{Scores \& \textless{}more\textgreater{}. 100\% of words.}" in text
    assert r"\label{tab:scores-more}" in text
    assert text.count(r"\midrule") == 2


def test_html_is_well_formed() -> None:
    tree = ET.fromstring(to_html(TABLE))
    assert tree.findtext("caption") == "Scores & <more>"
    assert [cell.text for cell in tree.iterfind("thead/tr/th")] == ["name", "accuracy (%)", "words"]
    assert tree.findtext("tbody/tr/td/strong") == "91.3"
    assert tree.findtext("tbody/tr/td/u") == "91.0"
    assert [cell.text for cell in tree.findall("tfoot/tr")[0]] == ["all", "91.1", "1207"]


def test_the_terminal_shows_every_cell_in_its_column() -> None:
    text = to_text(TABLE)
    assert "\x1b" not in text
    header = next(line for line in text.splitlines() if "accuracy" in line)
    row = next(line for line in text.splitlines() if "91.3" in line)
    assert row.index("91.3*") + 5 == header.index("accuracy (%)") + len("accuracy (%)")
    assert "100% of words." in text
    assert "\x1b[1m" in to_text(TABLE, colour=True)
    assert max(map(len, to_text(TABLE, width=20).splitlines())) <= 20
    assert "91.3" in to_text(TABLE, width=20)


def test_the_best_is_judged_as_it_is_shown_and_ties_share() -> None:
    columns = (TableColumn("x", decimals=1),)
    table = Table("", columns, ((1.04,), (1.01,), (2.0,), (3.0,)), totals=((9.0,),)).mark_best("x", highest=False)
    assert table.bold == {(0, 0), (1, 0)}


@given(st.data(), st.integers(10, 100))
def test_no_number_is_broken_at_any_width(data: st.DataObject, width: int) -> None:
    names = data.draw(st.lists(st.sampled_from(["name", "words", "UAS over sentences", "non-projective"]), min_size=1))
    kinds = data.draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
    columns = tuple(TableColumn(name, str(at), numeric=kinds[at]) for at, name in enumerate(names))
    texts = st.sampled_from(["a", "UD_English-EWT", "two words", "optimal(policy=published)"])
    cell = {True: st.integers(0, 10**9), False: texts}
    rows = data.draw(st.lists(st.tuples(*(cell[kind] for kind in kinds)), min_size=1, max_size=9))
    shown = to_text(Table("A title", columns, tuple(rows)), width=width)
    numbers = {word for word in shown.split() if word.isdecimal()}
    assert numbers <= {str(value) for row in rows for value in row} | {str(width)}
    longest = max((len(str(value)) for row in rows for value in row if isinstance(value, int)), default=0)
    if width >= 2 * (20 + longest):
        assert max(map(len, shown.splitlines())) <= width


def test_a_narrow_table_of_constants_keeps_a_column() -> None:
    columns = (TableColumn("non-projective", numeric=False),)
    assert to_text(Table("A title", columns, (("two words",),) * 3), width=10).count("words") == 3


def test_a_unit_stays_whole_in_a_narrow_header() -> None:
    columns = (TableColumn("score", numeric=False), TableColumn("B - A", "difference", unit="points", decimals=2))
    rows = (("labelled attachment score over all of the words of all of the sentences", 2.5),)
    lines = to_text(Table("Narrow", columns, rows), width=40).splitlines()
    assert [line.strip() for line in lines[2:5]].count("(") == 0
    assert any(line.endswith("(points)") for line in lines)


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="a row of 2 cells under 1 columns"):
        Table("", (TableColumn("x"),), ((1, 2),))


def test_the_command_line_offers_every_format() -> None:
    assert [form.value for form in Format] == list(FORMATS)
