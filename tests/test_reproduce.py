"""The paper's figures as data, and the report that sets ours beside them."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from program_tools import run
from ropewalk import Tree, Treebank, conllu
from ropewalk.encodings import get
from ropewalk.laboratory import reproduction
from ropewalk.laboratory.published import CellSet, PrintedCell, Published, Reason, published
from ropewalk.laboratory.splits import Corpus

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = Tree([2, 0, 2], ["nsubj", "root", "obj"])
CROSSED = Tree([0, 4, 1, 1], ["root", "obj", "a", "b"])
LOST = Tree([0, 1, 1, 2], ["root", "a", "b", "c"])  # 4-bit labels cannot give it back, 7-bit ones can
TAMIL = {"train": Treebank.of([PLAIN, CROSSED]), "dev": Treebank.of([CROSSED]), "test": Treebank.of([PLAIN])}


Report = tuple[Published, list[reproduction.CellComparison], list[reproduction.ReleaseFigures]]


def compared(splits: dict[str, Treebank], release: str = "2.14", source: Published | None = None) -> Report:
    source = source or published()
    figures = [reproduction.measure(source, release, [Corpus("UD_Tamil-TTB", splits)])]
    return source, reproduction.compare(source, figures), figures


def test_every_printed_cell_is_a_figure_with_its_source() -> None:
    cells = published().cells
    assert len({cell.treebank for cell in cells}) == 10
    for cell in cells:
        assert cell.table == "tab:stats" if not cell.kind else cell.table.startswith("tab:results-")
        assert cell.row
        assert re.fullmatch(r"[0-9]+(\.[0-9]+)?k?", cell.text)
        if cell.kind:
            assert 0 <= float(cell.text) <= 100
            assert get(cell.encoding).spec == cell.encoding
        assert re.fullmatch("" if cell.treebank == "PTB" else r"2\.1[456]", cell.release)
    per_treebank = Counter(cell.treebank for cell in cells if not cell.kind)
    assert set(per_treebank.values()) == {12}
    for code in per_treebank:
        shares = [float(cell.text) for cell in cells if cell.treebank == code and cell.column.startswith("indices")]
        assert sum(shares) == pytest.approx(100, abs=0.07)


def test_labelled_figures_never_exceed_unlabelled_ones() -> None:
    """A slip in copying would likely break this."""
    rows: dict[tuple[str, ...], dict[str, float]] = {}
    for cell in published().cells:
        if cell.kind:
            place = (cell.treebank, cell.kind, cell.row, cell.split)
            rows.setdefault(place, {})[cell.column] = float(cell.text)
    assert rows
    for row in rows.values():
        assert row["LAS"] <= row["UAS"]
        assert row["LM"] <= row["UM"]


def test_every_row_names_its_release_and_the_scheme_or_reading_that_it_has(repository: Path) -> None:
    raw = json.loads((repository / "src" / "ropewalk" / "data" / "published.json").read_text(encoding="utf-8"))
    seen = set()
    for treebank in raw["treebanks"]:
        assert treebank["statistics"]["scheme"] == "head"
        for one in treebank["coverage"]["rows"]:
            assert "release" in one
            symbol = one.get("of", one["row"].partition("/")[0])
            assert symbol in one["row"].split("/")
            assert ("scheme" in one) == symbol.endswith("+")
            assert ("reading" in one) == (symbol in {"B_4", "O_P", "B_7"})
            seen |= {one["scheme"]} if "scheme" in one else {one["reading"]} if "reading" in one else set()
    assert seen | {"head"} == {*raw["schemes"], *raw["readings"]} == set(published().forms)


def test_every_reason_names_cells_and_no_cell_has_two() -> None:
    source = published()
    for reason in source.reasons:
        assert reason.kind
        assert reason.text
        assert bool(reason.correct) != bool(reason.encoding)  # what makes the cells equal
        for some in reason.cells:
            named = [cell for cell in source.cells if cell in some]
            sizes = (some.treebanks, some.rows, some.columns, some.coverage, some.splits)
            assert len(named) == math.prod(map(len, sizes)) > 0, some
    assert max(sum(reason.names(cell) for reason in source.reasons) for cell in source.cells) == 1


def row(treebank: str, kind: str, name: str) -> dict[tuple[str, str], str]:
    cells = [cell for cell in published().cells if (cell.treebank, cell.kind, cell.row) == (treebank, kind, name)]
    assert cells
    return {(cell.split, cell.column): cell.text for cell in cells}


def test_rows_are_copied_where_the_data_says_so() -> None:
    for treebank in ("ta", "ug", "wo"):
        assert row(treebank, "empirical", "B_7") == row(treebank, "empirical", "B_4")
    for treebank in ("ug", "wo"):  # UAS and UM of the row that theoretical coverage repeats
        repeated, own = row(treebank, "theoretical", "B_4/O_P"), row(treebank, "empirical", "O_P")
        assert all(repeated[place] == own[place] for place in own if place[1] in {"UAS", "UM"})
        assert repeated != row(treebank, "empirical", "B_4")
    for treebank in ("en", "fi", "fr", "he", "ta"):
        repeated, own = row(treebank, "theoretical", "B_4/O_P"), row(treebank, "empirical", "B_4")
        assert all(repeated[place] == own[place] for place in own if place[1] in {"UAS", "UM"})


def test_the_misprint_lacks_a_k() -> None:
    (text,) = (cell.text for cell in published().cells if (cell.treebank, cell.column) == ("en", "trees"))
    others = [cell.text for cell in published().cells if cell.column == "trees" and cell.treebank not in {"en", "ta"}]
    assert all(other.endswith("k") for other in others)
    assert reproduction.written_like(f"{text}k", 16_622, percent=False) == f"{text}k"


@pytest.mark.parametrize(
    ("text", "figure", "percent", "expected"),
    [
        ("13.9k", 13_919, False, "13.9k"),
        ("44k", 43_948, False, "44k"),
        ("600", 600, False, "600"),
        ("16.6", 16_622, False, "16622"),
        ("100", 100.0, True, "100.00"),
        ("99.8", 99.804, True, "99.80"),
    ],
)
def test_figures_are_written_like_the_papers(text: str, figure: float, percent: bool, expected: str) -> None:  # noqa: FBT001 - a parameter of the test
    assert reproduction.written_like(text, figure, percent=percent) == expected


def test_cells_are_equal_differ_or_have_no_data() -> None:
    source, comparisons, _ = compared(TAMIL)
    assert [one.cell for one in comparisons] == list(source.cells)
    by = {(one.cell.column, one.cell.kind, one.cell.row, one.cell.split): one for one in comparisons
          if one.cell.treebank == "ta"}  # fmt: skip
    assert by["trees", "", "ta", ""].ours == "4"
    assert by["trees", "", "ta", ""].state == reproduction.UNEXPLAINED
    exact = by["UAS", "theoretical", "B_7", "test"]
    assert (exact.ours, exact.cell.text, exact.state) == ("100.00", "100", reproduction.EQUAL)
    other = by["UAS", "empirical", "B_7", "test"]  # it has a reason, which is none for these trees
    assert (other.ours, other.state, other.why) == ("100.00", reproduction.UNEXPLAINED, "")
    for one in comparisons:
        if one.cell.treebank != "ta":
            assert (one.state, one.ours) == (reproduction.NO_DATA, "")
            known = one.cell.release in {"", "2.14"}
            assert one.why == (f"no folder {one.cell.folder}" if known else f"no UD {one.cell.release} at hand")
    assert all(one.state == reproduction.NO_DATA for one in compared(TAMIL, "2.15")[1])


def tamil(text: str, column: str, **further: str) -> PrintedCell:
    return PrintedCell("ta", "UD_Tamil-TTB", "tab:x", "ta", column, text, "2.14", **further)


def test_a_reason_holds_only_if_it_makes_the_cell_equal() -> None:
    covered = {"kind": "theoretical", "split": "dev"}
    cells = (
        tamil("4", "trees"),
        tamil("2", "relations"),
        tamil("50.00", "UM", encoding="optimal-nonprojective", **covered),
        tamil("0.00", "UM", encoding="seven-bit", **covered),
    )
    anywhere = CellSet(("ta",), ("ta",), ("trees", "relations", "UM"), ("", "theoretical"), ("", "dev"))

    def states(reason: Reason) -> list[str]:
        source = replace(published(), cells=cells, reasons=(reason,))
        found = compared(TAMIL | {"dev": Treebank.of([LOST])}, source=source)[1]
        assert [one.reason is reason for one in found] == [one.state == reproduction.KNOWN for one in found]
        return [one.state for one in found]

    equal, known, unexplained = reproduction.EQUAL, reproduction.KNOWN, reproduction.UNEXPLAINED
    five = Reason("misprint", "another figure", (anywhere,), correct="5")
    assert states(five) == [equal, known, unexplained, unexplained]
    copied = Reason("copied", "of another encoding", (anywhere,), encoding="four-bit(policy=published)")
    assert states(copied) == [equal, unexplained, unexplained, known]
    elsewhere = replace(five, cells=(CellSet(("ta",), ("ta",), ("trees",)),))
    assert states(elsewhere) == [equal, unexplained, unexplained, unexplained]


def test_a_missing_split_is_named() -> None:
    _, comparisons, _ = compared({"dev": TAMIL["dev"]})
    why = {
        (one.cell.column, one.cell.kind, one.cell.split): one.why for one in comparisons if one.cell.treebank == "ta"
    }
    assert why["trees", "", ""] == "no train or test at hand"
    assert why["relations", "", ""] == "no train at hand"
    assert why["UAS", "theoretical", "test"] == "no test at hand"
    assert why["UAS", "empirical", "dev"] == "no train at hand"


class Page(HTMLParser):
    """Collects tags, and fails on what is not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: Counter[str] = Counter()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] += 1
        self.links += [value or "" for name, value in attrs if name in {"src", "href"}]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_report_holds_every_cell_and_marks_differences() -> None:
    source, comparisons, figures = compared(TAMIL)
    sections = reproduction.report(source, comparisons, figures)
    tally = Counter(one.state for one in comparisons)
    text = reproduction.markdown(source, sections, "1.2.3")
    assert "ropewalk 1.2.3" in text
    assert f"{tally[reproduction.EQUAL]} equal" in text
    assert "UD 2.14: coverage of ta; statistics of ta" in text
    shown = text.partition("## Treebank and encoding statistics")[2].partition("## Every cell")[0]
    assert shown.count("\\|") == len(comparisons)
    assert shown.count("\\[?\\]") == tally[reproduction.UNEXPLAINED]
    assert shown.count("**") // 2 - 11 == tally[reproduction.UNEXPLAINED]  # eleven titles are bold too
    assert shown.count("<u>") == tally[reproduction.KNOWN]
    listed = text.partition("## Every cell")[2].partition("\n## ")[0]
    assert len(listed.strip().splitlines()) - 6 == tally[reproduction.KNOWN] + tally[reproduction.UNEXPLAINED]
    page = Page()
    page.feed(reproduction.page(source, sections, "1.2.3"))
    assert page.open == []
    assert page.links == []  # it needs nothing else
    assert page.seen["strong"] == tally[reproduction.UNEXPLAINED]


def test_the_command_writes_both_files_or_neither(tmp_path: Path) -> None:
    place = tmp_path / "ud-2.14" / "UD_Tamil-TTB"
    place.mkdir(parents=True)
    for split, bank in TAMIL.items():
        conllu.write(place / f"ta_ttb-ud-{split}.conllu", bank)
    done = run("reproduce", tmp_path / "ud-2.14", "-o", tmp_path / "report")
    assert (done.returncode, done.stdout) == (0, "")
    assert f"{len(published().cells)} cells of the paper" in done.stderr
    assert "UD 2.14: coverage of ta; statistics of ta" in done.stderr
    assert sorted(file.name for file in (tmp_path / "report").iterdir()) == ["report.html", "report.md"]
    first = (tmp_path / "report" / "report.md").read_bytes()
    run("reproduce", tmp_path / "ud-2.14", "-o", tmp_path / "report")
    assert (tmp_path / "report" / "report.md").read_bytes() == first
    (place / "ta_ttb-ud-test.conllu").write_text("broken\n", encoding="utf-8")
    failed = run("reproduce", tmp_path / "ud-2.14", "-o", tmp_path / "other")
    assert failed.returncode == 1
    assert "ta_ttb-ud-test.conllu:1" in failed.stderr
    assert not (tmp_path / "other").exists()
    conllu.write(place / "ta_ttb-ud-test.conllu", TAMIL["test"])
    (tmp_path / "other" / "report.html").mkdir(parents=True)  # the second file cannot be written
    assert run("reproduce", tmp_path / "ud-2.14", "-o", tmp_path / "other").returncode == 1
    assert [file.name for file in (tmp_path / "other").iterdir()] == ["report.html"]


def test_the_command_takes_a_folder_for_each_release(tmp_path: Path) -> None:
    for release, bank in (("2.14", PLAIN), ("2.15", LOST)):
        for name, code in (("UD_Tamil-TTB", "ta_ttb"), ("UD_Hebrew-HTB", "he_htb")):
            place = tmp_path / f"ud-treebanks-v{release}" / name
            place.mkdir(parents=True)
            conllu.write(place / f"{code}-ud-dev.conllu", Treebank.of([bank]))
    (tmp_path / "ud-treebanks-v2.15").rename(tmp_path / "other")
    given = (tmp_path / "ud-treebanks-v2.14", f"2.15={tmp_path / 'other'}")
    done = run("reproduce", *given, "-o", tmp_path / "report")
    assert done.returncode == 0
    assert "UD 2.14: coverage of ta\n" in done.stderr
    assert "UD 2.15: coverage of he\n" in done.stderr
    assert "note: UD 2.15, UD_Hebrew-HTB: no train or test" in done.stderr
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    hebrew = text.partition("**UD\\_Hebrew-HTB:")[2].partition("**UD")[0].splitlines()
    (row,) = (line for line in hebrew if "| empirical | O\\_P |" in line)
    assert "| 2.15 | - \\| 99.95 |" in row
    (row,) = (line for line in hebrew if "| theoretical | B\\_4/O\\_P |" in line)
    assert "0.00 \\| 99.79 " in row


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("UD",), "UD names no release of UD; expected a folder whose name ends in one, such as ud-2.14, or 2.14=UD"),
        (("x=UD",), "x=UD names no release of UD"),
        (("ud-2.14", "2.14=UD"), "ud-2.14 and UD are both UD 2.14; expected one for each release"),
    ],
)
def test_folders_without_a_release_of_their_own_are_refused(given: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = run("reproduce", *given, "-o", tmp_path / "report")
    assert done.returncode == 2
    assert said in " ".join(done.stderr.replace("│", " ").split())
    assert not (tmp_path / "report").exists()


def test_the_data_is_plain_json_in_the_package(repository: Path) -> None:
    raw = (repository / "src" / "ropewalk" / "data" / "published.json").read_text(encoding="utf-8")
    assert {part["folder"] for part in json.loads(raw)["treebanks"]} == set(published().folders().values())
