"""Word tables: the same rows in every library and file, with a schema that does not change."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

import ropewalk
from conftest import REPOSITORY
from program_tools import run
from ropewalk import conllu, formats, word_tables
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.errors import MismatchError, MissingExtraError, OptionError
from ropewalk.formats import parquet
from ropewalk.treebank.treebank import Treebank
from strategies import banks

if TYPE_CHECKING:
    from pathlib import Path

TEXT = 'They don\'t twist hemp.\n\nShe said "go, now". Ropes break.'
BANK = """# newdoc id = harbour
# sent_id = one
# text = Dámelo, NA.
1-3\tDámelo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tDa\tdar\tVERB\t_\tMood=Imp|Number=Sing\t0\troot\t0:root\t_
2\tme\tyo\tPRON\t_\tNumber=Sing\t1\tiobj\t1:iobj\t_
3\tlo\tél\tPRON\t_\t_\t1\tobj\t1:obj\t_
3.1\tya\tya\tADV\t_\t_\t_\t_\t1:advmod\t_
4\t,\t,\tPUNCT\t_\t_\t5\tpunct\t5:punct\t_
5\tNA\tNA\tX\t_\t_\t1\tdep\t1:dep\tConfidence=0.25|SpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t1\tpunct\t1:punct\t_

# sent_id = two
1\t"\t"\tPUNCT\t_\t_\t_\t_\t_\t_
2\t_\t_\tX\t_\t_\t_\t_\t_\t_

"""


@pytest.fixture
def bank() -> Treebank:
    return conllu.loads(BANK)


def plain(value: Any) -> Any:  # noqa: ANN401 - a cell of any type
    """Return a cell as Python's own value, None for nothing."""
    return None if value is None or value is pd.NA or value != value else value  # noqa: PLR0124 - NaN alone


def cells(table: pa.Table) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = table.to_pydict()
    return columns


def test_the_rows_are_the_words(bank: Treebank) -> None:
    table = bank.to_arrow()
    assert table.column_names == list(word_tables.SCHEMA)
    first, second = table.to_pylist()[0], table.to_pylist()[4]
    assert first == {
        "document": "harbour",
        "sentence": 0,
        "sentence_id": "one",
        "index": 1,
        "form": "Da",
        "lemma": "dar",
        "upos": "VERB",
        "xpos": None,
        "feats": "Mood=Imp|Number=Sing",
        "head": 0,
        "relation": "root",
        "deps": "0:root",
        "misc": None,
        "head_form": None,
        "head_lemma": None,
        "head_upos": None,
        "token_index": 1,
        "token": "Dámelo",
        "token_words": 3,
        "start": None,
        "end": None,
        "space_after": False,
        "probability": None,
        "sentence_probability": None,
    }
    wanted = {
        "form": "NA",
        "head_form": "Da",
        "head_lemma": "dar",
        "head_upos": "VERB",
        "token_index": 3,
        "token": "NA",
    }
    assert {name: second[name] for name in wanted} == wanted
    assert (second["token_words"], second["space_after"], second["probability"]) == (1, False, 0.25)
    last = table.to_pylist()[-1]
    assert (last["document"], last["sentence"], last["sentence_id"], last["form"]) == ("harbour", 1, "two", "_")
    assert (last["head"], last["relation"], last["lemma"]) == (None, None, None)


def test_every_library_has_the_same_cells_and_a_stable_schema(bank: Treebank) -> None:
    arrow, frame, other = bank.to_arrow(["Number"]), bank.to_pandas(["Number"]), bank.to_polars(["Number"])
    assert arrow.column_names == list(frame.columns) == other.columns == [*word_tables.SCHEMA, "Number"]
    assert (
        cells(arrow)
        == {name: [*map(plain, frame[name].tolist())] for name in frame.columns}
        == other.to_dict(as_series=False)
    )
    assert arrow["Number"].to_pylist() == ["Sing", "Sing", *[None] * 6]
    empty = Treebank.of([])
    assert empty.to_arrow(["Number"]).schema.types == arrow.schema.types
    assert empty.to_pandas().dtypes.astype(str).tolist() == bank.to_pandas().dtypes.astype(str).tolist()
    assert empty.to_polars().dtypes == bank.to_polars().dtypes
    for name, kind in word_tables.SCHEMA.items():
        text = kind == word_tables.TEXT
        assert pa.types.is_dictionary(arrow.schema.field(name).type) == text, name
        assert (frame[name].dtype == "category") == text, name
        assert (other[name].dtype == pl.Categorical) == text, name


def test_dictionaries_hold_what_is_used_and_no_nulls(bank: Treebank) -> None:
    table = bank[1].to_arrow()
    for name in ("form", "lemma", "relation"):
        values = table[name].combine_chunks().dictionary.to_pylist()
        assert values == list(dict.fromkeys(one for one in table[name].to_pylist() if one is not None))
    doubled = Treebank(Offsets([0, 2]), [0, 1], {"deprel": Column([0, 1], ("a", "a"))})  # type: ignore[arg-type]
    assert doubled.to_pandas()["relation"].tolist() == ["a", "a"]


def test_sentences_and_documents_know_their_place(bank: Treebank) -> None:
    rows = bank[1].to_pandas()
    assert rows["sentence"].tolist() == [1, 1]
    assert rows["document"].tolist() == ["harbour", "harbour"]
    assert rows["sentence_id"].tolist() == ["two", "two"]
    parser = ropewalk.load(threads=1)
    first, second = parser.pipe([TEXT, "Ropes break."])
    table = second.to_arrow()
    assert table["sentence"].to_pylist() == [0, 0, 0]
    assert table.schema.metadata == {b"generator": parser.generator.encode()}
    assert [(a, b) for a, b in zip(*(first.to_polars()[name] for name in ("start", "end")), strict=True)][:3] == [
        (0, 4),
        (5, 10),
        (5, 10),
    ]
    assert all(
        0 <= share <= 1 for share in table["probability"].to_pylist() + table["sentence_probability"].to_pylist()
    )


@settings(max_examples=30)
@given(banks())
def test_tables_agree_with_the_views(raw: bytes) -> None:
    bank = conllu.loads(raw)
    table = bank.to_arrow().to_pylist()
    words = [word for sentence in bank for word in sentence]
    assert len(table) == len(words)
    for row, word in zip(table, words, strict=True):
        assert (row["sentence"], row["index"]) == (word.sentence.number, word.index)
        assert (row["form"], row["relation"] or "_") == (word.text, word.relation)
        assert row["head_form"] == (None if word.head is None else word.head.text)
        assert row["token"] == word.token.text
        assert row["space_after"] == word.space_after


def test_wrong_features_and_texts_are_refused(bank: Treebank) -> None:
    with pytest.raises(OptionError, match="'form', a column of every table; name features such as Number"):
        bank.to_arrow(["form"])
    with pytest.raises(MismatchError, match="expected a list"):
        bank.to_pandas("Number")
    odd = Treebank.of_words(Column.of(["a", "\ud800"]), Offsets([0, 2]))
    for table in (odd.to_arrow, odd.to_pandas, odd.to_polars):
        with pytest.raises(MismatchError, match="the column form has a lone surrogate, which is no text; replace it"):
            table()


@pytest.mark.parametrize("name", ["pyarrow", "pandas", "polars"])
def test_a_missing_library_is_named_with_what_to_install(
    bank: Treebank, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    table = {"pyarrow": bank.to_arrow, "pandas": bank.to_pandas, "polars": bank.to_polars}[name]
    with pytest.raises(MissingExtraError, match=rf"word tables need {name}.*pip install .*'\.\[tables\]'"):
        table()
    document = ropewalk.Document(bank)
    assert document.to("csv").startswith("document,sentence,")
    if name == "pyarrow":
        with pytest.raises(MissingExtraError):
            formats.get("parquet").dumps(document)


def test_csv_and_tsv_are_read_back_as_they_were(bank: Treebank) -> None:
    document = ropewalk.Document(bank)
    for name, separator in (("csv", ","), ("tsv", "\t")):
        text = document.to(name)
        found = list(csv.DictReader(io.StringIO(text), delimiter=separator))
        assert [row["form"] for row in found] == [word.text for word in document.words]
        assert [row["head"] for row in found] == ["0", "1", "1", "5", "1", "1", "", ""]
        frame = pd.read_csv(io.StringIO(text), sep=separator, keep_default_na=False, na_values=[""])
        assert frame["form"].tolist() == bank.to_pandas()["form"].tolist()
        assert frame["space_after"].dtype == bool
        assert frame["probability"].isna().tolist() == [*[True] * 4, False, *[True] * 3]
    assert ropewalk.Document(Treebank.of([])).to("csv") == ",".join(word_tables.SCHEMA) + "\n"


def test_parquet_is_binary_and_has_what_arrow_has(bank: Treebank) -> None:
    document = ropewalk.Document(bank, None, "by hand")
    raw = formats.get("parquet").dumps(document)
    table = pq.read_table(io.BytesIO(raw))
    assert cells(table) == cells(bank.to_arrow())
    assert table.schema.metadata[b"generator"] == b"by hand"
    assert table.schema.types == bank.to_arrow().schema.types
    with pytest.raises(OptionError, match=r"parquet is no text; use ropewalk\.formats\.get"):
        document.to("parquet")
    assert pq.read_table(io.BytesIO(formats.get("parquet").dumps(ropewalk.Document(Treebank.of([]))))).num_rows == 0


def test_row_groups_are_bounded_whatever_the_size_of_pieces(bank: Treebank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP", 20)
    form = formats.get("parquet")
    pieces = [
        block
        for number in range(30)
        for block in form.sentences(ropewalk.Document(bank), formats.Look(before=formats.Before(2 * number)))
    ]
    taken = []

    def counted() -> Any:  # noqa: ANN401 - an iterator
        for number, piece in enumerate(pieces):
            taken.append(number)
            yield piece

    parts = []
    for part in form.file(counted(), "x.parquet", several=True):
        parts.append(part)
        assert len(taken) <= 3 * len(parts), "a part is written as soon as there are enough rows"
    file = pq.ParquetFile(io.BytesIO(b"".join(parts)))
    assert file.metadata.num_rows == 30 * bank.words
    assert {file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)} == {24}
    assert file.read()["sentence"].to_pylist() == [n for n in range(60) for _ in range(6 if n % 2 == 0 else 2)]


def test_the_program_writes_tables_by_their_endings(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(TEXT * 40, encoding="utf-8")
    inputs = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for ending in ("csv", "csv.gz", "tsv", "parquet"):
        done = run("parse", *inputs, "-o", tmp_path / f"x.{ending}")
        assert done.returncode == 0, done.stderr
    table = pq.read_table(tmp_path / "x.parquet")
    frame = pd.read_csv(tmp_path / "x.csv", keep_default_na=False, na_values=[""], dtype={"sentence_id": str})
    for name in ("document", "sentence", "sentence_id", "index", "form", "head", "relation", "token", "start"):
        assert table[name].to_pylist() == frame[name].tolist(), name
    assert table["document"].to_pylist() == sorted(table["document"].to_pylist())
    assert set(table["document"].to_pylist()) == {str(path) for path in inputs}
    assert table["sentence"].to_pylist() == sorted(table["sentence"].to_pylist())
    assert len(set(table["sentence"].to_pylist())) == 2 * 40 * 3
    assert gzip.decompress((tmp_path / "x.csv.gz").read_bytes()) == (tmp_path / "x.csv").read_bytes()
    assert run("parse", *inputs, "--jobs", "2", "--format", "csv").stdout == (tmp_path / "x.csv").read_text("utf-8")
    assert run("parse", inputs[0], "--format", "tsv").stdout.count("document\tsentence") == 1


def test_the_program_goes_on_with_documents_of_conllu(tmp_path: Path) -> None:
    sentence = "# sent_id = {}\n1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    body = "".join(sentence.format(number) for number in range(20_000))
    (tmp_path / "a.conllu").write_text(f"# newdoc id = long\n{body}# newdoc id = short\n{sentence.format('x')}")
    done = run("parse", tmp_path / "a.conllu", "--columns", "tree", "-o", tmp_path / "a.parquet")
    assert done.returncode == 0, done.stderr
    table = pq.read_table(tmp_path / "a.parquet")
    assert table["document"].to_pylist() == ["long"] * 20_000 + ["short"]
    assert table["sentence"].to_pylist() == list(range(20_001))


def test_a_table_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(BANK + "1\tGo\n\n", encoding="utf-8")
    for ending in ("csv", "parquet"):
        done = run("parse", tmp_path / "a.conllu", "-o", tmp_path / f"x.{ending}")
        assert done.returncode == 1
    assert [file.name for file in tmp_path.iterdir()] == ["a.conllu"]


def test_endings_and_options_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    done = run("parse", "Ropes break.", "-o", tmp_path / "x.xlsx")
    assert done.returncode == 2
    assert ".csv" in done.stderr
    assert ".parquet" in done.stderr
    done = run("parse", "Ropes break.", "--tag-confidence", "-o", tmp_path / "x.csv")
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_the_page_lists_the_columns() -> None:
    page = (REPOSITORY / "docs" / "tables.md").read_text(encoding="utf-8")
    listed = [name for row in re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", page, re.MULTILINE) for name in row.split(", ")]
    assert [name.strip("`") for name in listed] == list(word_tables.SCHEMA)
