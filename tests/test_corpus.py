"""Corpora: documents from files to shards, without Ray; and a few runs of the program with it."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import hashlib
import json
import os
import pickle
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ropewalk
from corpus_tools import expected, parser, rows, text
from pipeline_tools import salad
from ropewalk import conllu, deps
from ropewalk.cli.corpus import _Follower
from ropewalk.cli.corpus import corpus as command
from ropewalk.corpus import Annotate, driver, manifest, partition, readers, shards, stores
from ropewalk.corpus.annotate import parsed
from ropewalk.corpus.options import FilePart, Options, RunOptions, Slice
from ropewalk.corpus.report import Counts, script
from ropewalk.errors import ConfigError, CorpusError, FormatError, MismatchError, ModelError, OptionError
from ropewalk.formats import arrow, ud
from ropewalk.models.catalogue import locate
from ropewalk.options import ParserOptions
from ropewalk.treebank.features import features_text
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ropewalk.corpus.options import Rows

GENERATOR = parser().generator
NOWHERE = "/nowhere"  # an output folder that no input lies in
TEXTS = {f"d{number}": text(number, 1 + number % 4) for number in range(30)}


def json_lines(texts: dict[str, str]) -> str:
    return "".join(json.dumps({"id": name, "text": given}) + "\n" for name, given in texts.items())


def plan(
    files: Iterable[Path | str], options: Options, out: Path | str = NOWHERE
) -> tuple[list[partition.File], list[FilePart]]:
    """Look into files one after another, as a run does on all cores."""
    found, _ = partition.find(map(str, files), str(out))
    looked = []
    doubles = partition.Doubles()
    for number, file in enumerate(found):
        one, keys = partition.inspect(file, options)
        looked.append(one)
        doubles.add(keys, number)
    return looked, partition.parts(looked, doubles.repeated(), options)


def records(parts: Iterable[FilePart], options: Options) -> list[readers.Record]:
    return [record for part in parts for one in part.slices for record in readers.records(one, options)]


def annotate(files: Iterable[Path | str], out: Path | str, options: Options) -> list[dict[str, Any]]:
    return [shards.annotate(part, str(out), "en", GENERATOR, options) for part in plan(files, options, out)[1]]


def named(out: Path) -> list[dict[str, Any]]:
    """Return the errors of a run."""
    files = sorted((out / "errors").iterdir())
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


# Reading


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst", "parquet", "txt", "txt.gz"])
def test_a_file_cut_anywhere_has_the_same_documents(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"a.{ending}"
    if ending == "parquet":
        table = pa.table({"id": list(TEXTS), "text": list(TEXTS.values())})
        pq.write_table(table, file, row_group_size=7)
    else:
        lines = json_lines(TEXTS) if "jsonl" in ending else "\n\n".join(TEXTS.values())
        with pa.output_stream(str(file), compression=stores.compression(str(file))) as stream:
            stream.write(lines.encode())
    options = Options(lines=True)
    (whole,) = plan([file], replace(options, shard=1.0))[1]
    found = records([whole], options)
    assert [record.content for record in found] == list(TEXTS.values())
    if "txt" not in ending:
        assert [record.id for record in found] == list(TEXTS)
    for size in (0.0001, 0.0004, 0.001):
        _, cut = plan([file], replace(options, shard=size))
        assert len(cut) > 2
        assert records(cut, options) == found


def test_documents_of_conllu_are_where_comments_say(tmp_path: Path) -> None:
    def sentence(number: int, *comments: str) -> str:
        return "".join(f"# {one}\n" for one in comments) + f"1\tword{number}\t" + "\t".join("_" * 8) + "\n\n"

    plain = tmp_path / "plain.conllu"
    plain.write_text("".join(sentence(number, f"sent_id = s{number}") for number in range(9)), encoding="utf-8")
    options = Options(shard=0.0001)
    _, cut = plan([plain], options)
    assert len(cut) > 2
    assert [record.id for record in records(cut, options)] == [f"s{number}" for number in range(9)]
    named = tmp_path / "named.conllu"
    blocks = [sentence(0, "sent_id = before")]
    for number in range(1, 10):
        begun = {1: ("global.x = y", "newdoc id = one"), 4: ("newdoc",), 6: ("newdoc id = three",)}.get(number, ())
        blocks.append(sentence(number, *begun, f"sent_id = {number}"))
    named.write_text("\n".join(blocks), encoding="utf-8")  # more empty lines than are needed
    for size in (1.0, 0.0001, 0.00005):
        found = records(plan([named], replace(options, shard=size))[1], options)
        assert [record.id for record in found] == ["before", "one", f"{named}:{found[2].number}", "three"]
        banks = [conllu.loads(record.content) for record in found if isinstance(record.content, bytes)]
        assert [len(bank) for bank in banks] == [1, 3, 2, 4]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "conllu", "txt", "txt.zst"])
def test_a_byte_order_mark_costs_nothing(ending: str, tmp_path: Path) -> None:
    word = "1\tword\t" + "\t".join("_" * 8) + "\n\n"
    whole = {
        "jsonl": json_lines({"a": "One.", "b": "Two.", "c": "Three."}),
        "conllu": f"# newdoc id = a\n{word}{word}# newdoc id = b\n{word}",
        "txt": "One.\nTwo.\nThree.\n",
    }[ending.partition(".")[0]]
    for size in (1.0, 0.00001):  # whole, and cut
        options = Options(lines=True, shard=size)
        found = []
        for mark in (b"", codecs.BOM_UTF8):
            with pa.output_stream(str(tmp_path / f"a.{ending}"), compression=stores.compression(ending)) as stream:
                stream.write(mark + whole.encode())
            (file,), parts = plan([tmp_path / f"a.{ending}"], options)
            assert file.cuts[-1][0] == len(mark) + len(whole)
            found.append(records(parts, options))
        plain, marked = found
        assert marked == plain
        assert all(record.reason is None for record in plain)


def test_lines_too_long_to_hold_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "LONGEST_LINE", 1000)
    monkeypatch.setattr(stores, "BLOCK", 300)
    file = tmp_path / "a.txt"
    file.write_text("short\n" + "x" * 5000 + "\nalso short\n" + "y" * 1001, encoding="utf-8")
    found = list(readers.lines(str(file)))
    assert [line.text for line in found] == [b"short", None, b"also short", None]
    assert [line.end for line in found[:-1]] == [line.start for line in found[1:]]
    assert found[-1].end == file.stat().st_size


# Planning


def test_an_empty_id_is_none(tmp_path: Path) -> None:
    texts = ["One.", "Two.", "Three."]
    for ids in (["", "", ""], [b"", b"", b""]):
        pq.write_table(pa.table({"id": ids, "text": texts}), tmp_path / "a.parquet")
        found = records(plan([tmp_path / "a.parquet"], Options())[1], Options())
        assert [(record.id, record.content) for record in found] == [
            (f"{tmp_path}/a.parquet:{number}", text) for number, text in enumerate(texts, start=1)
        ]
    lines = "".join(json.dumps({"id": "", "text": text}) + "\n" for text in texts)
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")
    found = records(plan([tmp_path / "a.jsonl"], Options())[1], Options())
    assert [(record.id, record.content) for record in found] == [
        (f"{tmp_path}/a.jsonl:{number}", text) for number, text in enumerate(texts, start=1)
    ]
    for file, reason in (("a.parquet", "'id' is null or empty"), ("a.jsonl", "it has no 'id', or an empty one")):
        asked = Options(id="id")
        assert {record.reason for record in records(plan([tmp_path / file], asked)[1], asked)} == {reason}


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_what_is_no_document_does_not_keep_its_id_from_others(ending: str, tmp_path: Path) -> None:
    texts = ["", None, " \n", "x" * 41, "caf\udce9", "Good.", "Again.", ""]
    file = tmp_path / f"a.{ending}"
    if ending == "parquet":
        raw = [text if text is None else text.encode("utf-8", "surrogateescape") for text in texts]
        pq.write_table(pa.table({"id": ["k"] * len(raw), "text": raw}), file, row_group_size=3)
    else:
        lines = [json.dumps({"id": "k", "text": text}) for text in texts]
        file.write_text("\n".join([*lines, "nonsense", '{"id": "k"}']), encoding="utf-8")
    options = Options(longest=40)
    annotate([file], tmp_path / "out", options)
    assert [row["sentences"][0]["text"] for row in rows(tmp_path / "out")] == ["Good."]
    reasons = {error["place"]: error["reason"] for error in named(tmp_path / "out")}
    assert reasons[7] == "an earlier document has the same id"
    assert reasons[8] == "it is empty"


def test_what_lies_in_the_output_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One.", encoding="utf-8")
    (tmp_path / "parsed-too").mkdir()
    (tmp_path / "parsed-too" / "b.txt").write_text("Two.", encoding="utf-8")
    out = tmp_path / "parsed"
    before = partition.find([str(tmp_path)], str(out))
    annotate([tmp_path], out, Options(output="jsonl"))
    assert list((out / "data").iterdir())
    for same in (str(out), f"file://{out}", f"{tmp_path}/other/../parsed"):
        assert partition.find([str(tmp_path)], same) == before
    assert [file.path for file in before[0]] == [f"{tmp_path}/a.txt", f"{tmp_path}/parsed-too/b.txt"]
    with pytest.raises(CorpusError, match="no files to read; expected some outside"):
        driver.run([str(out / "data")], str(out), Options())


def test_a_file_is_read_once_whatever_links_lead_to_it(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    for folder in ("a", "z"):
        (corpus / folder).mkdir(parents=True)
        (corpus / folder / f"{folder}.txt").write_text(f"In {folder}.", encoding="utf-8")
        for loop in ("first", "second"):  # two of them: names double with every step
            (corpus / folder / loop).symlink_to(corpus)
    (corpus / "a" / "link.txt").symlink_to(corpus / "z" / "z.txt")
    (corpus / "hard.txt").hardlink_to(corpus / "a" / "a.txt")
    (corpus / "itself.txt").symlink_to("itself.txt")
    (corpus / "nothing.txt").symlink_to("nowhere.txt")
    (corpus / "elsewhere.txt").symlink_to(tmp_path / "outside.txt")
    (tmp_path / "outside.txt").write_text("Outside.", encoding="utf-8")
    (tmp_path / "again").symlink_to(corpus)
    expected = ["a/a.txt", "elsewhere.txt", "z/z.txt"]
    for given in (str(corpus), f"file://{corpus}", f"local://{corpus}"):
        found, unknown = partition.find([given], NOWHERE)
        assert [file.path for file in found] == [f"{given}/{name}" for name in expected]
        assert not unknown
        others = [str(corpus / "hard.txt"), str(corpus / "a" / "link.txt"), str(tmp_path / "again")]
        assert partition.find([given, *others], NOWHERE)[0] == found


def test_the_output_is_no_input_by_a_link_either(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("One.", encoding="utf-8")
    (tmp_path / "in" / "results").symlink_to(tmp_path / "out")
    (tmp_path / "out" / "data").mkdir(parents=True)
    (tmp_path / "out" / "data" / "part-000000.jsonl").write_text("{}", encoding="utf-8")
    (tmp_path / "too").symlink_to(tmp_path / "out")
    for out in ("out", "too"):
        found, _ = partition.find([str(tmp_path / "in")], str(tmp_path / out))
        assert [file.path for file in found] == [f"{tmp_path}/in/a.txt"]


def test_files_of_other_stores_have_no_inode_and_are_found(tmp_path: Path) -> None:
    store = fsspec.filesystem("memory")
    try:
        for name in ("in/b.txt", "in/sub/a.txt", "in/.hidden/c.txt"):
            store.pipe(f"/{tmp_path.name}/{name}", b"One.")
        given = f"memory://{tmp_path.name}/in"
        found, _ = partition.find([given, f"{given}/b.txt"], NOWHERE)
        assert [file.path for file in found] == [f"{given}/b.txt", f"{given}/sub/a.txt"]
    finally:
        store.rm(f"/{tmp_path.name}", recursive=True)


def test_small_files_share_parts_and_large_ones_are_cut(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"small{number:02d}.txt").write_text("She walks. " * 10, encoding="utf-8")
        (tmp_path / f"small{number:02d}.jsonl").write_text(json_lines({f"j{number}": "He too."}), encoding="utf-8")
    (tmp_path / "large.jsonl").write_text(json_lines(TEXTS), encoding="utf-8")
    files, parts = plan([tmp_path], Options(shard=0.001))
    assert len(files) == 41
    kinds = [{readers.kind_of(one.path) for one in part.slices} for part in parts]
    assert all(len(kind) == 1 for kind in kinds)
    texts = [part for part, kind in zip(parts, kinds, strict=True) if kind == {"text"}]
    assert [len(part.slices) for part in texts] == [9, 9, 2]
    assert len({part.name for part in parts}) == len(parts)
    assert plan([tmp_path, tmp_path / "large.jsonl"], Options(shard=0.001))[1] == parts  # no file is read twice


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_file_is_cut_into_parts_of_the_same_size(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"a.{ending}"
    texts = {f"d{number:02d}": f"She walks {number:02d} times." for number in range(32)}
    if ending == "parquet":
        pq.write_table(pa.table({"id": list(texts), "text": list(texts.values())}), file, use_dictionary=False)
    else:
        file.write_text(json_lines(texts), encoding="utf-8")
    _, parts = plan([file], Options(shard=0.0006))
    counts = [len(records([part], Options())) for part in parts]
    assert len(counts) > 1
    assert sum(counts) == 32
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("held", [partition.HELD, 10])
def test_double_ids_are_found_however_many_there_are(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "HELD", held)
    names = [[f"{(number * 7) % 41}" for number in range(file * 13)] for file in range(5)]
    seen: set[str] = set()
    wanted = set()
    doubles = partition.Doubles()
    for file, some in enumerate(names):
        ids = partition._Ids()
        for number, name in enumerate(some, start=1):
            ids.add(name, number)
            if name in seen:
                wanted.add((file, number))
            seen.add(name)
        doubles.add(ids.keys(), file)
    found = doubles.repeated()
    assert len(found) == len(wanted) > 20
    assert set(found) == wanted


# Parsing and writing


def test_annotation_in_columns_is_that_of_documents() -> None:
    given = "They don't twist hemp… She isn't here,\n\nis  she? Ünïcödé 語 works."
    document = parser()(given)
    for found, sentence in zip(arrow.sentences(document.treebank).to_pylist(), document, strict=True):
        told = sentence.to_json()
        assert [found[key] for key in ("id", "text", "start", "end", "probability", "multiword_tokens")] == [
            told[key] for key in ("id", "text", "start", "end", "probability", "multiword_tokens")
        ]
        for word, other in zip(found["words"], told["words"], strict=True):
            shown = {key: features_text(value) if key == "feats" else value for key, value in other.items()}
            assert {key: word[key] for key in other if key != "index"} == {
                key: value for key, value in shown.items() if key != "index"
            }
            assert given[word["start"] : word["end"]]
    assert [len(one) for one in arrow.documents(document.treebank, [0, len(document), 0]).to_pylist()] == [
        0, len(document), 0,
    ]  # fmt: skip


def test_columns_of_conllu_are_kept(sample: Path) -> None:
    bank = conllu.read(sample)
    found = arrow.sentences(bank).to_pylist()
    for number, sentence in enumerate(found):
        view = bank[number]
        assert (sentence["id"], sentence["text"]) == (view.id, view.text)
        for name, key in (("lemma", "lemma"), ("xpos", "xpos"), ("feats", "feats"), ("deps", "deps"), ("misc", "misc")):
            assert [word[key] or "_" for word in sentence["words"]] == list(view.column(name))
        assert [word["head"] for word in sentence["words"]] == list(view.heads)
    assert any(sentence["multiword_tokens"] for sentence in found)
    assert arrow.sentences(Treebank.of([])).to_pylist() == []


def test_a_document_that_fails_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    contents = ["She walks.", None, "", " \n", "x" * 50, "He\ud800", "They don't. He does."]
    found = parsed(parser(), contents, longest=40)
    assert found.counts == (1, 0, 0, 0, 0, 0, 2)
    assert [reason is None for reason in found.reasons] == [True, False, False, False, False, False, True]
    assert "longer than 40" in str(found.reasons[4])
    whole = type(parser()).parse_together

    def fail(self: object, texts: list[str]) -> object:
        if any("bad" in one for one in texts):
            raise RuntimeError("no tree for this")
        return whole(self, texts)  # type: ignore[arg-type]  # it is a parser

    monkeypatch.setattr(type(parser()), "parse_together", fail)
    found = parsed(parser(), ["One. Two.", "A bad one.", "Three."])
    assert found.counts == (2, 0, 1)
    assert found.reasons == (None, "RuntimeError: no tree for this", None)


@pytest.mark.parametrize("kind", ["document", "sentence"])
def test_tables_are_annotated(kind: Rows) -> None:
    given = pa.table({"n": [1, 2, 3, 4], "text": pa.array(["One. Two don't.", None, " ", "Three."], pa.large_string())})
    step = pickle.loads(pickle.dumps(Annotate(rows=kind)))  # noqa: S301 - our own
    out = step(given)
    assert out.schema == step.schema(given.schema)
    batch = given.to_batches()[0]
    assert step(batch).to_pylist() == out.to_pylist()
    assert step(given.slice(0, 0)).schema == out.schema
    assert step(given.slice(0, 0)).num_rows == 0
    told = [(row["n"], row["error"] is None) for row in out.to_pylist()]
    one, three = (row["sentences"] for row in expected({"a": "One. Two don't.", "b": "Three."}))
    if kind == "document":
        assert told == [(1, True), (2, False), (3, False), (4, True)]
        assert [row["sentences"] for row in out.to_pylist()] == [one, None, None, three]
    else:
        assert told == [(1, True), (1, True), (2, False), (3, False), (4, True)]
        assert [row["sentence"] for row in out.to_pylist()] == [*one, None, None, *three]
        assert [row["number"] for row in out.to_pylist()] == [1, 2, None, None, 1]


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(FormatError, match="no column 'text'; found a"):
        Annotate()(pa.table({"a": ["x"]}))
    with pytest.raises(FormatError, match="column 'error', which the annotation adds"):
        Annotate()(pa.table({"text": ["x"], "error": ["x"]}))
    with pytest.raises(OptionError, match="rows='word'"):
        Annotate(rows="word")  # type: ignore[arg-type]  # what is tested
    bad = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\4\0\0\0"), pa.py_buffer(b"caf\xe9")])
    assert Annotate()(pa.table({"text": bad})).column("error").to_pylist() == ["it is not UTF-8"]


def test_columns_that_are_not_text_are_refused() -> None:
    for column, kind in (([1, 2], "int64"), ([["x"]], "list"), ([1.5], "double"), ([{"a": "x"}], "struct")):
        with pytest.raises(FormatError, match=f"column 'text' is of type {kind}.*; expected text"):
            Annotate()(pa.table({"text": column}))
    texts = ["She walks.", None]
    raw = [b"She walks.", None]
    for given in (
        pa.array(texts).dictionary_encode(), pa.array(texts, pa.string_view()), pa.array(raw),
        pa.array(raw).dictionary_encode(), pa.array(raw, pa.binary(10)), pa.array([None, None]),
    ):  # fmt: skip
        errors = Annotate()(pa.table({"text": given})).column("error").to_pylist()
        assert errors == [None if given[0].is_valid else "it is null; expected text", "it is null; expected text"]


@pytest.mark.parametrize(
    ("keep", "kind", "message"),
    [
        (("error",), "document", "--keep error: the output has a column of that name"),
        (("sentences",), "document", "among id, sentences, error; rename it"),
        (("n", "id"), "document", "--keep id"),
        (("number",), "sentence", "among id, number, sentence, error; rename it"),
        (("tags", "n", "tags"), "document", "--keep tags: is given twice"),
    ],
)
def test_names_of_kept_columns_do_not_clash(keep: tuple[str, ...], kind: Rows, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "One."}\n', encoding="utf-8")
    with pytest.raises(OptionError, match=message):
        driver.run([str(tmp_path)], str(tmp_path / "out"), Options(keep=keep, rows=kind))
    assert not (tmp_path / "out").exists()


def test_ids_and_kept_values_can_always_be_written(tmp_path: Path) -> None:
    line = {"id": "a\ud800", "text": "One.", "n": "\udfff", "m": ["é", "\ud800"]}
    (tmp_path / "a.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    annotate([tmp_path / "a.jsonl"], tmp_path / "out", Options(keep=("n", "m")))
    (row,) = rows(tmp_path / "out")
    assert (row["id"], row["n"], row["m"]) == ("a?", "?", '["é", "?"]')


def test_shards_hold_what_one_process_makes(tmp_path: Path) -> None:
    table = pa.table({
        "id": list(TEXTS), "text": list(TEXTS.values()), "n": range(30), "s": pa.array(["é"] * 30).dictionary_encode(),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=11)
    options = Options(shard=0.001, keep=("n", "s"))
    done = annotate([tmp_path / "a.parquet"], tmp_path / "out", options)
    found = rows(tmp_path / "out")
    assert len(done) > 2
    assert [(row["n"], row["s"]) for row in found] == [(number, "é") for number in range(30)]
    assert [{"id": row["id"], "sentences": row["sentences"]} for row in found] == expected(TEXTS)
    assert (
        pq.read_schema(tmp_path / "out" / "data" / "part-000000.parquet").metadata[b"generator"] == GENERATOR.encode()
    )
    for record in done:
        data = (tmp_path / "out" / "data" / record["name"]).read_bytes()
        assert (record["bytes"], record["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    assert sum(record["rows"] for record in done) == 30
    before = {file: file.read_bytes() for file in (tmp_path / "out" / "data").iterdir()}
    annotate([tmp_path / "a.parquet"], tmp_path / "out", options)
    assert {file: file.read_bytes() for file in (tmp_path / "out" / "data").iterdir()} == before


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
def test_other_outputs_hold_the_same(packed: str, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json_lines(TEXTS), encoding="utf-8")

    def content(output: str, rows: Rows = "document") -> str:
        out = tmp_path / f"{output}-{rows}"
        annotate([file], out, Options(output=output, rows=rows))
        name = out / "data" / f"part-000000.{output}"
        with pa.input_stream(str(name), compression=stores.compression(str(name))) as stream:
            return bytes(stream.read()).decode()

    found = [json.loads(line) for line in content(f"jsonl{packed}").splitlines()]
    assert found == expected(TEXTS)
    each = [json.loads(line) for line in content(f"jsonl{packed}", rows="sentence").splitlines()]
    assert [row["sentence"] for row in each] == [one for row in found for one in row["sentences"]]
    text_out = content(f"conllu{packed}")
    assert text_out.count("# newdoc id = d") == len(TEXTS)
    assert text_out.count("# generator") == 1
    bank = conllu.loads(text_out, trees="required")
    assert [bank[number].text for number in range(len(bank))] == [
        one["text"] for row in found for one in row["sentences"]
    ]


def test_conllu_in_and_out_keeps_the_rest(sample: Path, tmp_path: Path) -> None:
    annotate([sample], tmp_path / "out", Options(output="conllu", parsing=ParserOptions(confidence=False)))
    given, found = conllu.read(sample), conllu.read(tmp_path / "out" / "data" / "part-000000.conllu")
    wanted = parser().treebank(given)
    assert found.heads.tolist() == wanted.heads.tolist()
    for name, other in (("form", given), ("misc", given), ("lemma", wanted), ("xpos", wanted), ("feats", wanted)):
        assert found.column(name).texts() == other.column(name).texts()


def problems(out: Path) -> list[str]:
    """Return the problems that `ropewalk validate` finds in shards of CoNLL-U."""
    files = sorted((out / "data").iterdir())
    return [str(one) for file in files for one in conllu.problems(file, also=(deps.problems, ud.Checker().problems))]


def sentence_names(out: Path) -> list[str | None]:
    banks = [conllu.read(file) for file in sorted((out / "data").iterdir())]
    return [bank.heading(number).id for bank in banks for number in range(len(bank))]


def test_shards_of_conllu_are_valid_however_documents_are_cut(tmp_path: Path) -> None:
    texts = {f"{name}": f"She walks {number} times. They twist hemp." for number, name in enumerate(
        ["a", "a-1", "a/b/c", "a b", "a%20b", "a\u2028b", "ä", "-", "1", "x\u00a0/"]
    )}  # fmt: skip
    file = tmp_path / "a.jsonl"
    file.write_text(json_lines(texts) + '{"text": "No id. None at all"}\n', encoding="utf-8")
    whole: list[bytes] = []
    for size in (1.0, 0.0002):
        out = tmp_path / f"out-{size}"
        done = annotate([file], out, Options(output="conllu", shard=size))
        assert (len(done) > 2) == (size < 1)
        assert problems(out) == []
        names = sentence_names(out)
        assert len(set(names)) == len(names) == 2 * len(texts) + 2
        assert names[:6] == ["a-1", "a-2", "a-1-1", "a-1-2", "a%2Fb%2Fc-1", "a%2Fb%2Fc-2"]
        data = b"".join(shard.read_bytes() for shard in sorted((out / "data").iterdir()))
        whole.append(data.replace(f"# generator = {GENERATOR}\n".encode(), b""))
    assert whole[0] == whole[1]


def test_numbers_of_sentences_in_conllu_become_names_and_names_stay(tmp_path: Path) -> None:
    def sentence(*comments: str) -> str:
        rest = "\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n\n"
        return "".join(f"# {one}\n" for one in comments) + "# text = word\n1\tword" + rest

    (tmp_path / "0.conllu").write_text(sentence("sent_id = 7") + sentence("sent_id = s8"), encoding="utf-8")
    for name in ("a", "b"):
        given = (
            sentence(f"newdoc id = {name}", "sent_id = 1") + sentence("sent_id = 2") + sentence(f"sent_id = {name}x")
        )
        (tmp_path / f"{name}.conllu").write_text(given, encoding="utf-8")
    files = [tmp_path / f"{name}.conllu" for name in ("a", "b", "0")]
    annotate(files, tmp_path / "out", Options(output="conllu"))
    assert sentence_names(tmp_path / "out") == ["a-1", "a-2", "ax", "b-1", "b-2", "bx", "7", "s8"]
    assert problems(tmp_path / "out") == []


def test_trees_are_decoded_and_repaired_as_asked(tmp_path: Path) -> None:
    salads = [{"id": f"d{seed}", "text": salad(seed)} for seed in range(8)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(one) + "\n" for one in salads), encoding="utf-8")
    found = {}
    for decoder, repair in ((None, None), ("greedy", "nearest"), ("greedy", "root")):
        out = tmp_path / f"{decoder}-{repair}"
        parsing = ParserOptions(decoder=decoder, repair=repair)
        annotate([tmp_path / "in.jsonl"], out, Options(output="conllu", parsing=parsing))
        own = ropewalk.load("en", parsing, threads=1)
        wanted = [own.parse_together([one["text"]])[0].heads.tolist() for one in salads]
        found[repair] = conllu.read(out / "data" / "part-000000.conllu").heads.tolist()
        assert found[repair] == [head for heads in wanted for head in heads]
        table = pa.table({"text": [one["text"] for one in salads]})
        rows = Annotate("en", parsing)(table).column("sentences").to_pylist()
        assert [word["head"] for row in rows for sentence in row for word in sentence["words"]] == found[repair]
    assert len(set(map(tuple, found.values()))) == 3


def test_only_the_columns_that_are_asked_for_are_predicted(sample: Path, tmp_path: Path) -> None:
    annotate([sample], tmp_path / "out", Options(output="conllu", parsing=ParserOptions(columns=("upos",))))
    given, found = conllu.read(sample), conllu.read(tmp_path / "out" / "data" / "part-000000.conllu")
    own = ropewalk.load(threads=1, columns=["upos"])
    assert found.heads.tolist() == given.heads.tolist()
    assert found.column("upos").texts() == own.treebank(given).column("upos").texts() != given.column("upos").texts()
    table = pa.table({"text": ["She walks."]})
    (words,) = (
        [word for one in row for word in one["words"]]
        for row in Annotate("en", ParserOptions(columns=["upos"]))(table)["sentences"].to_pylist()
    )
    assert [(word["upos"], word["head"]) for word in words] == [("PRON", None), ("VERB", None), ("PUNCT", None)]


def test_graphs_are_asked_of_models_that_have_them(sample: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="graph_decoder"):
        annotate([sample], tmp_path / "out", Options(parsing=ParserOptions(graph_decoder="exact")))
    with pytest.raises(ConfigError, match="graph_decoder"):
        Annotate("en", ParserOptions(graph_decoder="exact"))(pa.table({"text": ["She walks."]}))


def test_the_command_hands_on_how_to_parse(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Begun(Exception):  # noqa: N818 - no error
        pass

    def begin(inputs: list[str], out: str, options: Options, *_: object, **__: object) -> None:
        raise Begun(inputs, out, options)

    monkeypatch.setattr(driver, "run", begin)
    with pytest.raises(Begun) as begun:
        command(["a.txt"], str(tmp_path), columns=("tree", "upos"), graph_decoder="arcs")
    wanted = Options(parsing=ParserOptions(columns=("tree", "upos"), graph_decoder="arcs"))
    assert begun.value.args == (["a.txt"], str(tmp_path), wanted)
    with pytest.raises(Begun) as begun:
        command(["a.txt"], str(tmp_path))
    assert begun.value.args[2] == Options()


@pytest.mark.parametrize("workers", [0, 257, 99999])
def test_so_many_workers_are_refused(workers: int, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=f"found {workers} workers; expected 1 to 256"):
        driver.run(["a.txt"], str(tmp_path / "out"), Options(), RunOptions(workers=workers))
    done = program("a.txt", "-o", tmp_path / "out", "--workers", str(workers))
    assert done.returncode == 2
    assert "--workers" in done.stderr


@pytest.mark.parametrize("size", [float("nan"), float("inf"), float("-inf"), 0.0, -1.0, 0.0001, "1", None])
def test_a_shard_without_a_size_is_refused_and_leaves_nothing(size: float, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One.", encoding="utf-8")
    with pytest.raises(OptionError, match=r"shard is .*; expected at least 0.001 megabytes"):
        driver.run([str(tmp_path / "a.txt")], str(tmp_path / "out"), Options(shard=size))
    assert not (tmp_path / "out").exists()


def test_a_cluster_that_cannot_be_joined_is_named_and_tokens_are_hinted_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ConnectionError("Failed to connect to Ray cluster")

    monkeypatch.setattr("ray.init", refuse)
    with pytest.raises(CorpusError, match=r"10\.0\.0\.1:6379: .*Failed to connect.*RAY_AUTH_MODE=token"):
        driver._join("10.0.0.1:6379")


def test_workers_in_another_folder_find_what_is_relative_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each task is done in a folder of its own, as by a worker that was started there."""
    monkeypatch.setattr(driver, "_ray", lambda *_: contextlib.nullcontext())

    def elsewhere(function: Callable[[Any], Any], tasks: Iterable[object], _blocks: int) -> Iterator[Any]:
        there = tmp_path / "elsewhere"
        there.mkdir(exist_ok=True)
        for task in tasks:
            with contextlib.chdir(there):
                table = pa.table({"task": [pickle.dumps(task)]})
                (result,) = [row["result"] for done in driver._applied(table, function) for row in done.to_pylist()]
                assert not list(there.iterdir())
            yield pickle.loads(result)  # noqa: S301 - our own

    monkeypatch.setattr(driver, "_mapped", elsewhere)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("One.", encoding="utf-8")
    (tmp_path / "in" / "b.jsonl").write_text('{"id": "b", "text": "Two."}\n', encoding="utf-8")
    pq.write_table(pa.table({"text": ["Three."]}), tmp_path / "in" / "c.parquet")
    (tmp_path / "model").symlink_to(locate("en"))
    monkeypatch.chdir(tmp_path)
    for few, model in ((driver.FEW, "en"), (0, "model")):
        monkeypatch.setattr(driver, "FEW", few)  # few are looked into here, others by workers
        shards.parser_of.cache_clear()
        for _ in range(2):  # and the same command is the same again
            state = driver.run(["in"], f"out-{model}", Options(), model=model)
        assert (state.before, state.counts.documents, state.counts.errors) == (3, 3, 0)
        assert {row["id"] for row in rows(tmp_path / f"out-{model}")} == {"in/a.txt", "b", "in/c.parquet:1"}
        table = json.loads((tmp_path / f"out-{model}" / "manifest.json").read_text(encoding="utf-8"))
        assert [one["path"] for one in table["inputs"]] == ["in/a.txt", "in/b.jsonl", "in/c.parquet"]


def test_what_cannot_be_parsed_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    pq.write_table(pa.table({"id": ["a", "b", "c", "a"], "text": ["One.", None, "", "Double."]}), folder / "a.parquet")
    whole = (folder / "a.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    pq.write_table(pa.table({"id": ["x"], "body": ["One."]}), folder / "other.parquet")
    lines = [
        b'{"id": "j", "text": "Good."}', b'{"id": "u", "text": "caf\xe9"}', b"nonsense", b"[1]", b'{"id": "n"}',
        b'{"id": "num", "text": 3}', b'{"id": "long", "text": "' + b"word " * 2_000_000 + b'"}', b"",
        b'{"id": "a", "text": "The id of an earlier document."}', b'{"text": "No id."}',
    ]  # fmt: skip
    (folder / "b.jsonl").write_bytes(b"\n".join(lines))
    packed = gzip.compress(json_lines(TEXTS).encode())
    (folder / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    (folder / "bad.txt").write_bytes(b"caf\xe9")
    (folder / "empty.txt").touch()
    (folder / "good.txt").write_text("\ufeffA byte order mark.", encoding="utf-8")
    (folder / "bad.conllu").write_text("# sent_id = s1\n1\tbroken\n\n", encoding="utf-8")
    (folder / "notes.md").write_text("What is this?", encoding="utf-8")
    options = Options()
    files, _ = plan([folder], options)
    bad = {file.path.rsplit("/", 1)[1]: file.error for file in files if file.error}
    assert set(bad) == {"cut.parquet", "other.parquet", "cut.jsonl.gz"}
    assert "no column 'text'; found id, body" in str(bad["other.parquet"])
    assert partition.find([str(folder)], NOWHERE)[1] == [f"{folder}/notes.md"]
    annotate([folder], tmp_path / "out", options)
    assert {row["id"] for row in rows(tmp_path / "out")} == {
        "a", "j", f"{folder}/b.jsonl:10", f"{folder}/good.txt",
    }  # fmt: skip
    errors = named(tmp_path / "out")
    reasons = {(error["id"], error["place"]): error["reason"] for error in errors}
    assert reasons.keys() == {
        ("b", 2), ("c", 3), ("a", 4), *((f"{folder}/b.jsonl:{line}", line) for line in (2, 3, 4)), ("n", 5),
        ("num", 6), ("long", 7), ("a", 9), (f"{folder}/bad.txt", 1), (f"{folder}/empty.txt", 1), ("s1", 1),
    }  # fmt: skip
    for key, part in (
        (("a", 4), "same id"), (("a", 9), "same id"), (("long", 7), "longer than 1,000,000"), (("num", 6), "is int"),
        ((f"{folder}/b.jsonl:2", 2), "0xe9"), ((f"{folder}/bad.txt", 1), "0xe9 at 3"), (("n", 5), "no 'text'"),
        (("s1", 1), "FormatError"),
    ):  # fmt: skip
        assert part in reasons[key]


def test_an_id_that_is_asked_for_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"key": 7, "text": "One."}\n{"text": "Two."}\n', encoding="utf-8")
    pq.write_table(pa.table({"text": ["Three."]}), tmp_path / "b.parquet")
    options = Options(id="key")
    found = records(plan([tmp_path], options)[1], options)
    assert [(record.id, record.reason) for record in found] == [
        ("7", None),
        (f"{tmp_path}/a.jsonl:2", "it has no 'key', or an empty one"),
    ]


def test_shards_of_the_same_size_are_told_apart_where_hashes_are_checked(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json_lines(TEXTS), encoding="utf-8")
    options = Options(shard=0.001)
    done = annotate([tmp_path / "a.jsonl"], tmp_path / "out", options)
    _, parts = plan([tmp_path / "a.jsonl"], options)
    damaged = tmp_path / "out" / "data" / done[1]["name"]
    data = damaged.read_bytes()
    damaged.write_bytes(data[:20] + bytes([data[20] ^ 1]) + data[21:])
    (tmp_path / "out" / "done" / f"{parts[2].name}.json").write_text("{}", encoding="utf-8")
    names = [record["name"] for record in done]
    for verify, expected_names in ((False, [*names[:2], *names[3:]]), (True, [names[0], *names[3:]])):
        found = driver._done(str(tmp_path / "out"), parts, options, verify=verify)
        assert [record["name"] for record in found] == expected_names


def test_a_file_that_cannot_be_read_as_what_it_is_has_its_hash_in_the_manifest(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    file.write_bytes(b"no Parquet")
    (found,), _ = plan([file], Options())
    assert found.error
    assert (found.size, found.sha256) == (10, hashlib.sha256(b"no Parquet").hexdigest())
    assert found.cuts == ()
    gone, _ = partition.inspect(replace(found, path=str(tmp_path / "b.parquet"), sha256=""), Options())
    assert "cannot be read" in str(gone.error)
    assert gone.sha256 == ""


class Clock:
    """Stands for the event that ends a run: two minutes go by at once."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        return len(self.waits) > 2


def test_a_run_says_every_minute_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    follower = _Follower()
    clock = Clock()
    monkeypatch.setattr(follower, "_stop", clock)
    state = driver.RunState(3)
    follower.follow(state)
    state.add({"name": "part-000000.parquet", "counts": Counts(documents=2, words=1200).to_json()})
    monkeypatch.setattr(follower, "_begun", time.monotonic() - 60)
    follower._speak()
    assert clock.waits == [60, 60, 60]
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["ropewalk: 1 of 3 shards, 2 documents, 1,200 words, 20 words a second, 2 min 0 s left"] * 2


def test_a_file_damaged_inside_is_told_from_one_that_changed(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"id": list(TEXTS), "text": list(TEXTS.values())}), file, row_group_size=5, use_dictionary=False
    )
    data = bytearray(file.read_bytes())
    place = pq.ParquetFile(file).metadata.row_group(3).column(1).data_page_offset
    data[place : place + 40] = b"\xff" * 40
    file.write_bytes(data)
    (record,) = annotate([file], tmp_path / "out", Options())
    assert record["counts"]["documents"] == 15
    (error,) = named(tmp_path / "out")
    assert "cannot be read from here on" in error["reason"]
    _, (part,) = plan([file], Options())
    file.write_bytes(data[:-100])
    with pytest.raises(FormatError, match="has changed since the run began"):
        shards.annotate(part, str(tmp_path / "other"), "en", GENERATOR, Options())
    assert not list((tmp_path / "other" / "data").iterdir())


def test_a_part_that_kills_its_workers_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One.", encoding="utf-8")
    _, (part,) = plan([tmp_path / "a.txt"], Options())
    for _ in range(shards.MOST_TRIES):
        shards.annotate(part, str(tmp_path / "out"), "en", GENERATOR, Options())
    with pytest.raises(CorpusError, match="part-000000 was begun 6 times"):
        shards.annotate(part, str(tmp_path / "out"), "en", GENERATOR, Options())


def test_a_worker_with_another_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="expected ropewalk 0, model other"):
        shards.annotate(FilePart("part-000000", ()), str(tmp_path), "en", "ropewalk 0, model other", Options())


def test_stores_are_found_by_uri(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("One.", encoding="utf-8")
    for scheme in ("file", "local"):  # of PyArrow, of fsspec
        folder = f"{scheme}://{tmp_path}/in"
        assert [one.path for one in stores.listed(folder)] == [f"{folder}/a.txt"]
        annotate([folder], f"{scheme}://{tmp_path}/{scheme}", Options())
        assert [row["id"] for row in rows(tmp_path / scheme)] == [f"{folder}/a.txt"]
    for wrong in (str(tmp_path / "nowhere"), "nonsense://a/b"):
        with pytest.raises(FormatError):
            stores.listed(wrong)
    with pytest.raises(FormatError, match="does not show its format"):
        partition.find([str(tmp_path / "in" / "a.txt"), str(tmp_path / "file" / "tries" / "part-000000")], NOWHERE)


def test_files_appear_whole_or_not_at_all(tmp_path: Path) -> None:
    with contextlib.suppress(KeyError), stores.creating(str(tmp_path / "sub" / "a")) as file:
        file.write(b"half")
        raise KeyError
    assert not list((tmp_path / "sub").iterdir())
    with pytest.raises(FormatError, match="no folder can be made"), stores.creating("/proc/nowhere/a"):
        pass
    (tmp_path / "sub" / "a").mkdir()
    with pytest.raises(FormatError, match="cannot be written"):
        stores.write(str(tmp_path / "sub" / "a"), b"all of it")
    assert [file.name for file in (tmp_path / "sub").iterdir()] == ["a"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_shard_is_on_disk_before_the_record_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "text": "One."}), encoding="utf-8")
    synced: list[str] = []
    sync = os.fsync

    def fsync(number: int) -> None:
        path = Path(f"/proc/self/fd/{number}").readlink()
        synced.append(path.name.split(".ropewalk-")[0] if path.is_file() else f"{path.name}/")
        sync(number)

    monkeypatch.setattr(os, "fsync", fsync)
    annotate([str(tmp_path / "a.jsonl")], str(tmp_path / "out"), Options(output="jsonl"))
    wanted = [".part-000000.jsonl", "data/", "out/", ".part-000000.json", "done/"]  # `out` has got the folder `done`
    assert [name for name in synced if name in wanted][-5:] == wanted


# Counting


def test_counts_can_be_added_and_kept() -> None:
    bank, _ = parser().parse_together(list(TEXTS.values()))
    whole, parts = Counts(), Counts()
    whole.add(bank)
    for number in range(len(bank)):
        one = Counts()
        one.add(bank.select([number]))
        parts.merge(Counts.of_json(json.loads(json.dumps(one.to_json()))))
    assert whole == parts
    assert sum(whole.upos.values()) == sum(whole.relations.values()) == sum(whole.probabilities) == bank.words
    assert whole.relations["root"] == len(bank)


def test_scripts_are_known_by_letters() -> None:
    words = ("rope", "канат", "σχοινί", "縄", "なわ", "3.14", "«ü»")
    assert [script(word) for word in words] == ["Latin", "Cyrillic", "Greek", "Cjk", "Hiragana", "none", "Latin"]


# Manifests


def test_another_run_than_the_manifests_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("One.", encoding="utf-8")
    options = Options()
    files, _ = plan([source], options)
    out = str(tmp_path / "out")
    assert manifest.load(out) is None
    manifest.save(out, manifest.Manifest(GENERATOR, options.to_json(), tuple(files), ((0, 3),)))
    known = manifest.load(out)
    assert known == manifest.Manifest(GENERATOR, options.to_json(), tuple(files), ((0, 3),))

    def look(file: partition.File) -> partition.File:
        return partition.inspect(file, options)[0]

    manifest.demand_same(out, known, GENERATOR, options)
    manifest.demand_same_files(out, known, files, look)
    with pytest.raises(MismatchError, match="and this is ropewalk 9"):
        manifest.demand_same(out, known, "ropewalk 9, model x", options)
    with pytest.raises(MismatchError, match="rows = 'document', and now it is 'sentence'"):
        manifest.demand_same(out, known, GENERATOR, replace(options, rows="sentence"))
    with pytest.raises(MismatchError, match="graph_decoder = None, and now it is 'arcs'"):
        manifest.demand_same(out, known, GENERATOR, replace(options, parsing=ParserOptions(graph_decoder="arcs")))
    some = replace(options, parsing=ParserOptions(columns=("tree", "upos")))
    with pytest.raises(MismatchError, match=r"columns = None, and now it is \['tree', 'upos'\]"):
        manifest.demand_same(out, known, GENERATOR, some)
    manifest.save(str(tmp_path / "some"), replace(known, options=some.to_json()))
    again_some = manifest.load(str(tmp_path / "some"))
    assert again_some is not None
    manifest.demand_same(out, again_some, GENERATOR, some)
    os.utime(source)
    again, _ = partition.find([str(source)], NOWHERE)
    manifest.demand_same_files(out, known, again, look)  # touched, and the same
    source.write_text("Two.", encoding="utf-8")
    again, _ = partition.find([str(source)], NOWHERE)
    with pytest.raises(MismatchError, match=r"another version of .*a\.txt"):
        manifest.demand_same_files(out, known, again, look)
    with pytest.raises(MismatchError, match="was made without b"):
        manifest.demand_same_files(out, known, [*files, partition.File("b", 1, 1)], look)
    with pytest.raises(MismatchError, match="which is missing now"):
        manifest.demand_same_files(out, known, [], look)
    (tmp_path / "out" / "manifest.json").write_text("{}", encoding="utf-8")
    with pytest.raises(MismatchError, match="damaged"):
        manifest.load(out)
    with pytest.raises(MismatchError, match=r"holds files but no manifest\.json"):
        manifest.load(str(tmp_path))


# With Ray


def program(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ropewalk", "corpus", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.cluster
def test_a_corpus_from_start_to_end(tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "a.jsonl").write_text(json_lines(TEXTS) + '{"id": "d3", "text": "Again."}\n', encoding="utf-8")
    words: list[str | Path] = [folder, "-o", out, "--shard-size", "0.001", "--workers", "2", "--report", "json"]
    done = program(*words)
    assert done.returncode == 0, done.stderr
    assert [{"id": row["id"], "sentences": row["sentences"]} for row in rows(out)] == expected(TEXTS)
    told = [
        line for line in done.stderr.splitlines() if " words a second, " not in line
    ]  # a slow run tells how far it is
    assert told == [
        "ropewalk: 1 files to inspect",
        f"ropewalk: 1 document or file set aside: see {out}/errors",
    ]
    table = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert table["finished"]
    assert table["generator"] == GENERATOR
    data = (folder / "a.jsonl").read_bytes()
    assert [(one["size"], one["sha256"]) for one in table["inputs"]] == [(len(data), hashlib.sha256(data).hexdigest())]
    assert sum(one["counts"]["documents"] for one in table["shards"]) == 30
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert (report["documents"], report["errors"]) == (30, 1)
    assert report["words"] == sum(len(one["words"]) for row in rows(out) for one in row["sentences"])
    # Some of it is lost: the same command makes it again, and touches nothing else.
    first, second = sorted((out / "data").iterdir())[:2]
    before = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in (out / "data").iterdir()}
    first.unlink()
    (out / "done" / second.with_suffix(".json").name).unlink()
    (out / "data" / ".part-000009.parquet.ropewalk-0123abcd.part").touch()  # as a killed worker leaves it
    assert program(*words).returncode == 0
    after = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in (out / "data").iterdir()}
    assert {file: data for file, (_, data) in after.items()} == {file: data for file, (_, data) in before.items()}
    assert {file for file in after if after[file][0] != before[file][0]} == {first, second}
    other = program(*words, "--rows", "sentence")
    assert other.returncode == 1
    assert "was made with rows = 'document'" in other.stderr
    many = tmp_path / "many"  # so many that Ray looks into them
    many.mkdir()
    for number in range(driver.FILES + 1):
        (many / f"{number}.jsonl").write_text('{"id": "d", "text": "Again."}\n', encoding="utf-8")
    few = program(many, "-o", tmp_path / "few", *words[3:], "--max-errors", "0")
    assert few.returncode == 1
    assert "documents or files were set aside, more than 0" in few.stderr


@pytest.mark.cluster
def test_the_example_for_ray_data_runs(repository: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": list(TEXTS), "text": list(TEXTS.values())}), tmp_path / "in.parquet")
    done = subprocess.run(
        [sys.executable, repository / "examples" / "corpus" / "ray_data.py", tmp_path / "in.parquet", tmp_path / "out"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"RAY_USAGE_STATS_ENABLED": "0"},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = sorted(pq.read_table(tmp_path / "out").to_pylist(), key=lambda row: list(TEXTS).index(row["id"]))
    assert [{"id": row["id"], "sentences": row["sentences"]} for row in found] == expected(TEXTS)


def test_a_slice_is_a_value() -> None:
    one = Slice("a", "b", 0, 1, 0, frozenset({3}))
    assert pickle.loads(pickle.dumps(FilePart("p", (one,)))) == FilePart("p", (one,))  # noqa: S301 - our own


def test_the_base_install_gains_nothing(tmp_path: Path) -> None:
    """Without the extra's packages all else works, and the command says what to install."""
    program = (
        "import sys, importlib.abc\n"
        "class Missing(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name.split('.')[0] in {'ray', 'pyarrow', 'pandas', 'fsspec'}:\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "import importlib.util as util\n"
        "found = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name in {'ray', 'pyarrow'} else found(name, *rest)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "import ropewalk\n"
        "assert next(ropewalk.load().pipe(['He sleeps.', 'She too.'], jobs=2)).text == 'He sleeps.'\n"
        "from ropewalk.cli import main\n"
        f"sys.argv = ['ropewalk', 'corpus', 'a.txt', '-o', {str(tmp_path / 'out')!r}]\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install -c constraints.txt '.[corpus]'" in done.stderr.splitlines()[-1]
