"""Pictures: what they are written as, that equal figures give equal files, and what is refused."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

from ropewalk.errors import FormatError, MissingExtraError
from ropewalk.reporting import plots
from ropewalk.reporting.plots import AxisLabels, Point

if TYPE_CHECKING:
    from pathlib import Path


def draw_all(folder: Path, suffix: str) -> dict[str, bytes]:
    series = {"first series": [0.5, 0.75], "second series": [0.25, float("nan")]}
    labels = AxisLabels("the title", "across", "up")
    plots.bars(folder / f"bars{suffix}", ["one name", "another name"], series, labels, bounds=(0, 1))
    plots.scatter(folder / f"scatter{suffix}", {"a point": Point(1, 2), "worse": Point(0, 1)}, labels)
    shares = {"a panel": {"first series": [(0.1, 0.2), (0.5, 0.6)], "second series": [(1.0, 1.0)]}, "empty": {}}
    plots.diagrams(folder / f"diagrams{suffix}", shares, labels)
    return {file.stem: file.read_bytes() for file in sorted(folder.iterdir()) if file.suffix == suffix}


def test_every_picture_holds_its_words_as_text_and_is_the_same_each_time(tmp_path: Path) -> None:
    drawn = draw_all(tmp_path, ".svg")
    assert set(drawn) == {"bars", "diagrams", "scatter"}
    for name, raw in drawn.items():
        text = "".join(ET.fromstring(raw).itertext())
        expected = ["a point"] if name == "scatter" else ["first series", "second series"]
        for word in ["the title", "across", "up", *expected, *(["a panel", "empty"] if name == "diagrams" else [])]:
            assert word in text, name
    assert draw_all(tmp_path, ".svg") == drawn


def test_pictures_may_be_png(tmp_path: Path) -> None:
    assert all(raw.startswith(b"\x89PNG") for raw in draw_all(tmp_path, ".png").values())


def test_another_kind_of_picture_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"\.svg or \.png"):
        plots.bars(tmp_path / "picture.gif", ["one"], {"a": [1]})
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*'\.\[plot\]'") as caught:
        plots.require(tmp_path / "picture.svg")
    assert (caught.value.package, caught.value.extra) == ("matplotlib", "plot")


def test_the_front_is_what_no_other_point_beats() -> None:
    places = {"low": (0.0, 0.0), "fast": (3.0, 1.0), "good": (1.0, 3.0), "worse": (1.0, 2.0), "twin": (3.0, 1.0)}
    points = {name: Point(*place) for name, place in places.items()}
    assert plots.pareto(points) == ("fast", "good", "twin")
    assert plots.pareto(points, highest=(False, False)) == ("low",)
    assert plots.pareto(points, highest=(False, True)) == ("low", "good")


def test_the_front_is_bold_and_dashed_groups_share_colours_and_kinds_symbols(tmp_path: Path) -> None:
    points = {
        "first": Point(1.0, 3.0, "red", "square"),
        "second": Point(3.0, 1.0, "red", "circle"),
        "beaten": Point(0.5, 0.5, "blue", "square"),
    }
    plots.scatter(tmp_path / "front.svg", points)
    drawn = ET.parse(tmp_path / "front.svg").getroot()
    names = {one.text: one.get("style", "") for one in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {name for name in points if "700" in names[name]} == {"first", "second"}
    styles = [one.get("style", "") for one in drawn.iter("{http://www.w3.org/2000/svg}path")]
    assert sum("stroke-dasharray" in style for style in styles) == 1
    used = [one.get("style", "") for one in drawn.iter("{http://www.w3.org/2000/svg}use")]
    fills = [style.partition(";")[0] for style in used if "fill: #" in style]
    assert (len(fills), len(set(fills))) == (3, 2)
