"""The worked example of an output format of one's own, installed and used like one of ours."""

from __future__ import annotations

import gzip
import json
import os
import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest

import ropewalk
from docs_tools import install_example
from program_tools import run
from ropewalk import formats
from ropewalk.errors import MismatchError, OptionError, UnknownNameError
from ropewalk.formats import OutputFormat
from serving_tools import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = "She walks backwards. They rest."
HEADER = "sentence\thead\trelation\tword"


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the package of the page as pip would: its module, and the metadata that name its entry point."""
    site = tmp_path_factory.mktemp("site-packages")
    install_example("docs/own-format.md", site)
    monkeypatch.syspath_prepend(str(site))
    formats.known.cache_clear()
    yield site
    sys.modules.pop("arcs", None)
    formats.known.cache_clear()


def with_path(site: Path) -> str:
    return os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])


@pytest.mark.usefixtures("site")
def test_documents_are_written_by_its_name() -> None:
    parser = ropewalk.load(threads=1)
    rows = parser(TEXT).to("arcs").splitlines()
    assert rows[:3] == [HEADER, "1\twalks\tnsubj\tShe", "1\t-\troot\twalks"]
    assert [row[0] for row in rows[1:]] == ["1"] * 4 + ["2"] * 3
    assert parser("").to("arcs") == ""
    assert list(formats.known()) == [*formats.OWN, "arcs"]


def test_the_program_knows_it_by_its_name_and_by_that_of_a_file(site: Path, tmp_path: Path) -> None:
    parse = partial(run, "parse", PYTHONPATH=with_path(site))
    text = tmp_path / "text.txt"
    text.write_text(f"{TEXT}\n\n" * 300, encoding="utf-8")
    named = parse("--format", "arcs", text)
    assert named.returncode == 0, named.stderr
    assert named.stdout.count(HEADER) == 1, "there is one header, however many pieces are written"
    assert named.stdout.startswith(HEADER)
    assert len(named.stdout.splitlines()) == 1 + 300 * 7
    assert parse("--format", "arcs", "--jobs", "2", text).stdout == named.stdout
    assert parse(text, "-o", tmp_path / "out.arcs").returncode == 0
    assert (tmp_path / "out.arcs").read_text(encoding="utf-8") == named.stdout
    assert parse(text, "-o", tmp_path / "out.arcs.gz").returncode == 0
    assert gzip.decompress((tmp_path / "out.arcs.gz").read_bytes()).decode() == named.stdout
    wrong = parse("--format", "nonsense", TEXT)
    assert wrong.returncode == 2
    assert "'nonsense' is not one of 'conllu', 'json', 'tree', 'csv', 'tsv', 'parquet', 'arcs'" in wrong.stderr
    wrong = parse("--format", "arcs", "--tag-confidence", TEXT)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "arcs has no place for it" in wrong.stderr


def test_the_server_answers_with_it(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", with_path(site))
    with serving() as served:
        body = json.dumps({"text": TEXT, "output": "arcs"})
        found = served.ask("POST", "/api/v1/parse", body, {"content-type": "application/json"})
        assert found.status == 200, found.text
        assert found.headers["content-type"] == "text/tab-separated-values; charset=utf-8"
        assert found.text == ropewalk.load(threads=1)(TEXT).to("arcs")
        paths = json.loads(served.get("/openapi.json").body)["paths"]
        fields = paths["/api/v1/convert"]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
        assert fields["output"]["enum"] == ["conllu", "json", "csv", "tsv", "arcs", "svg", "tikz", "text", "html"]


def test_a_format_of_ours_cannot_be_replaced_and_a_broken_one_is_named(site: Path) -> None:
    entries = next(site.glob("*.dist-info")) / "entry_points.txt"
    entries.write_text("[ropewalk.formats]\njson = arcs:FORMAT\n", encoding="utf-8")
    formats.known.cache_clear()
    assert formats.known()["json"] is formats.get("json")
    assert formats.get("json").media_type == "application/json"
    for entry, error, reason in (
        ("arcs:NOTHING", OptionError, "arcs = arcs:NOTHING of ropewalk.formats cannot be loaded: .* uninstall"),
        ("absent:FORMAT", OptionError, "No module named 'absent'"),
        ("arcs:HEADER", MismatchError, "found str; expected OutputFormat"),
    ):
        entries.write_text(f"[ropewalk.formats]\narcs = {entry}\n", encoding="utf-8")
        formats.known.cache_clear()
        with pytest.raises(error, match=reason):
            formats.get("arcs")


def test_unknown_formats_are_named_with_those_known() -> None:
    with pytest.raises(UnknownNameError, match="conllu, json, tree"):
        formats.get("nonsense")
    assert formats.named_by("a.JSONL.xz") == "json"
    assert formats.named_by("a.txt") is None
    assert isinstance(formats.get("tree"), OutputFormat)
