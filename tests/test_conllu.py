"""The reader and writer of CoNLL-U: nothing is lost, everything wrong is named with its place."""

from __future__ import annotations

import gzip
import importlib
import io
import lzma
import os
import stat
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyconll.load import load_from_string

from conftest import FEW
from ropewalk import conllu
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import Tree
from ropewalk.errors import FormatError, OptionError, RopewalkError
from ropewalk.treebank.source import Source
from ropewalk.treebank.treebank import Treebank
from strategies import banks, trees

if TYPE_CHECKING:
    from collections.abc import Iterator

conllu_package = importlib.import_module("conllu")  # to mypy this name means bench/conllu.py

SAMPLE = (
    "# newdoc id = d1\n"
    "# sent_id = s1\n"
    "# text = Les marins du port tressent  \n"
    "1\tLes\tle\tDET\t_\tDefinite=Def\t2\tdet\t2:det\t_\n"
    "2\tmarins\tmarin\tNOUN\t_\tNumber=Plur\t5\tnsubj\t5:nsubj\tGloss=a b \n"
    "3-4\tdu\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "3\tde\tde\tADP\t_\t_\t4\tcase\t_\t_\n"
    "4\tle port\tport\tNOUN\t_\t_\t2\tnmod\t_\t_\n"
    "4.1\tqui\tqui\tPRON\t_\t_\t_\t_\t5:nsubj\t_\n"
    "5\ttressent\ttresser\tVERB\tV\t_\t0\troot\t0:root\t_\n"
    "\n"
    "# sent_id = s2\n"
    "0.1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tNœud\tnœud\tNOUN\t_\t_\t_\t_\t_\t_\n"
    "2\t!\t!\tPUNCT\t_\t_\t_\t_\t_\t_\n"
    "\n"
).encode()


def words(*ids: str, heads: dict[str, str] | None = None) -> str:
    lines = (f"{name}\tw\t_\t_\t_\t_\t{(heads or {}).get(name, '_')}\t_\t_\t_\n" for name in ids)
    return "".join(lines) + "\n"


GOOD = words("1")
KINDS = {kind for kind, _ in conllu.PROBLEMS.values()} | {"empty-file"}

# What is wrong: the text, and the line, kind, word and message of the first problem.
WRONG = {
    "too few columns": (
        "1\ta\tb\n\n",
        (1, "columns", "1", "the number of columns is 3; expected 10, separated by single tabs"),
    ),
    "too many columns": (
        GOOD + "1\t_\t_\t_\t_\t_\t_\t_\t_\t_\t_\n\n",
        (3, "columns", "1", "the number of columns is 11; expected 10, separated by single tabs"),
    ),
    "spaces for tabs": (
        "1 a b\n\n",
        (1, "columns", "", "the number of columns is 1; expected 10, separated by single tabs"),
    ),
    "a line of spaces": (
        words("1") + words("1")[:-1] + "  \n\n",
        (4, "spaces", "", "the line holds only spaces; expected an empty line after a sentence"),
    ),
    "an empty form": (
        "1\t\t_\t_\t_\t_\t_\t_\t_\t_\n\n",
        (1, "empty-column", "1", "FORM is empty; expected a value, or _ for none"),
    ),
    "an empty last column": (
        "1\t_\t_\t_\t_\t_\t_\t_\t_\t\n\n",
        (1, "empty-column", "1", "MISC is empty; expected a value, or _ for none"),
    ),
    "an empty head": (
        "1\t_\t_\t_\t_\t_\t\t_\t_\t_\n\n",
        (1, "empty-column", "1", "HEAD is empty; expected a value, or _ for none"),
    ),
    "an empty column of a multiword token": (
        "# c\n1-2\tx\t\t_\t_\t_\t_\t_\t_\t_\n" + words("1", "2"),
        (2, "empty-column", "1-2", "LEMMA is empty; expected a value, or _ for none"),
    ),
    "a word for an id": (
        words("one"),
        (1, "id", "", "ID is 'one'; expected a number, a range such as 3-4 or an empty node such as 3.1"),
    ),
    "a leading zero": (
        words("01"),
        (1, "id", "01", "ID is '01'; expected a number, a range such as 3-4 or an empty node such as 3.1"),
    ),
    "half a range": (
        words("1-", "1"),
        (1, "id", "", "ID is '1-'; expected a number, a range such as 3-4 or an empty node such as 3.1"),
    ),
    "a gap": (
        words("1", "3"),
        (2, "id-order", "3", "ID is 3, expected 2; words are numbered from 1 without gaps"),
    ),
    "a repeated id": (
        words("1", "1"),
        (2, "id-order", "1", "ID is 1, expected 2; words are numbered from 1 without gaps"),
    ),
    "a start at 0": (
        words("0", "1"),
        (1, "id-order", "0", "ID is 0, expected 1; words are numbered from 1 without gaps"),
    ),
    "a huge id": (
        words("1", "99999999999999999999"),
        (
            2,
            "id-order",
            "99999999999999999999",
            "ID is 99999999999999999999, expected 2; words are numbered from 1 without gaps",
        ),
    ),
    "a range too late": (
        words("1", "1-2", "2"),
        (2, "multiword-start", "1-2", "the multiword token is before word 2; expected it to begin there"),
    ),
    "ranges that overlap": (
        words("1-2", "1", "2-3", "2", "3"),
        (
            3,
            "multiword-overlap",
            "2-3",
            "the multiword token overlaps the one before it, which reaches word 2; expected no overlap",
        ),
    ),
    "a range backwards": (
        words("1", "2-1", "2"),
        (
            2,
            "multiword-order",
            "2-1",
            "the multiword token ends before it begins; expected a range such as 3-4",
        ),
    ),
    "a range past the end": (
        words("1", "2-4", "2", "3"),
        (2, "multiword-end", "2-4", "the multiword token ends at 4, but the sentence has 3 words"),
    ),
    "an empty node that skips": (
        words("1", "1.2", "2"),
        (2, "empty-node-order", "1.2", "the empty node is out of order; expected 1.1 here"),
    ),
    "an empty node of a later word": (
        words("2.1", "1", "2"),
        (1, "empty-node-order", "2.1", "the empty node is out of order; expected 0.1 here"),
    ),
    "a head in words": (
        words("1", heads={"1": "zero"}),
        (1, "head", "1", "HEAD is 'zero'; expected the number of a word, 0 for the root or _ for none"),
    ),
    "a negative head": (
        words("1", heads={"1": "-1"}),
        (1, "head", "1", "HEAD is '-1'; expected the number of a word, 0 for the root or _ for none"),
    ),
    "a head outside": (
        "# c\n" + words("1-2", "1", "2", "3", heads={"1": "0", "2": "19"}),
        (4, "head-range", "2", "HEAD is 19, but the sentence has 3 words"),
    ),
    "a comment inside": (
        GOOD + words("1")[:-1] + "# late\n" + words("2"),
        (4, "comment", "", "a comment inside a sentence; expected comments only before its first word"),
    ),
    "two blank lines": (
        GOOD + "\n" + GOOD,
        (
            3,
            "blank-line",
            "",
            "a blank line without a sentence; expected exactly one after each sentence, and none elsewhere",
        ),
    ),
    "a blank line first": (
        "\n" + GOOD,
        (
            1,
            "blank-line",
            "",
            "a blank line without a sentence; expected exactly one after each sentence, and none elsewhere",
        ),
    ),
    "only comments": (
        "# a\n# b\n\n",
        (3, "no-words", "", "the sentence has no words; expected at least one after its comments"),
    ),
    "no blank line at the end": (
        GOOD + words("1", "2")[:-1],
        (
            4,
            "no-final-blank-line",
            "",
            "the file ends without a blank line; expected one after the last sentence",
        ),
    ),
    "no line break at the end": (
        GOOD + words("1")[:-2],
        (
            3,
            "no-final-newline",
            "",
            "the file ends inside a line; expected a line break and a blank line after the last sentence",
        ),
    ),
    "CR LF": (
        GOOD + GOOD.replace("\n", "\r\n"),
        (
            3,
            "crlf",
            "1",
            "the line ends in CR LF; expected LF alone: convert the file, for instance with dos2unix",
        ),
    ),
    "a NUL byte": (
        GOOD.replace("w", "w\0"),
        (1, "nul", "1", "a NUL byte; expected text: the file may be damaged or in UTF-16"),
    ),
}
WRONG_BYTES = {
    "Latin-1": (
        b"# a\n" + GOOD.encode().replace(b"w", b"\xe9t"),
        (2, "utf-8", "1", "byte 3 of the line, 0xe9, is not UTF-8; expected UTF-8 throughout"),
    ),
    "a byte order mark": (
        b"\xef\xbb\xbf" + GOOD.encode(),
        (
            1,
            "bom",
            "",
            "the file begins with a byte order mark (EF BB BF); expected UTF-8 without one: remove the mark",
        ),
    ),
    "only a byte order mark": (
        b"\xef\xbb\xbf",
        (
            1,
            "bom",
            "",
            "the file begins with a byte order mark (EF BB BF); expected UTF-8 without one: remove the mark",
        ),
    ),
    "nothing": (b"", (0, "empty-file", "", "the file is empty; expected at least one sentence")),
}
ALL_WRONG = {name: (text.encode(), found) for name, (text, found) in WRONG.items()} | WRONG_BYTES


@pytest.mark.parametrize("name", ALL_WRONG)
def test_each_problem_is_named_with_its_place(name: str) -> None:
    raw, (line, kind, word, message) = ALL_WRONG[name]
    with pytest.raises(FormatError) as caught:
        conllu.loads(raw, "a.conllu")
    error = caught.value
    assert (error.file, error.line, error.kind, error.word, error.message) == (
        "a.conllu",
        line,
        kind,
        word,
        message,
    )
    place = f"a.conllu:{line}: " if line else "a.conllu: "
    assert str(error) == place + (f"word {word}: " if word else "") + message


@pytest.mark.parametrize(
    "name", sorted(set(ALL_WRONG) - {"nothing", "only a byte order mark", "no blank line at the end"})
)
def test_a_sentence_with_a_problem_is_skipped_and_named(name: str, tmp_path: Path) -> None:
    raw, (line, kind, word, _) = ALL_WRONG[name]
    path = tmp_path / "a.conllu"
    before = words("1", "2", "3").encode()
    path.write_bytes(before + raw if kind != "bom" else raw)
    shift = before.count(b"\n") if kind != "bom" else 0
    reader = conllu.stream(path, on_error="skip")
    bank = reader.read()
    problem = reader.problems[0]
    assert (problem.line, problem.kind, problem.word) == (line + shift, kind, word)
    assert reader.skipped == len(reader.problems) >= 1
    assert (reader.sentences, reader.words) == (len(bank), bank.words)
    kept = conllu.dumps(bank)
    assert kept.startswith(before) or kind == "bom"
    assert conllu.dumps(conllu.loads(kept)) == kept if kept else len(bank) == 0
    assert kind in {found.kind for found in conllu.problems(path)}


def test_the_kinds_that_can_be_found_are_all_tested() -> None:
    assert {kind for _, (_, kind, _, _) in ALL_WRONG.values()} == KINDS


def test_every_problem_of_a_sentence_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    bad = "1\ta\n" + words("2", "4", "4.2", "x", heads={"2": "?"})
    path.write_text(GOOD + bad + GOOD + words("1", heads={"1": "5"}), encoding="utf-8", newline="\n")
    found = [(problem.line, problem.kind) for problem in conllu.problems(path)]
    assert found == [
        (1, "missing-head"),
        (3, "columns"),
        (4, "head"),
        (5, "id-order"),
        (6, "empty-node-order"),
        (7, "id"),
        (9, "missing-head"),
        (11, "head-range"),
    ]


@pytest.mark.parametrize(
    ("heads", "relations", "expected"),
    [
        ("0 1", "root obj", []),
        ("0 1", "root:x obj", []),
        ("2 1", "obj det", [("cycle", "1"), ("no-root", "1")]),
        ("0 2", "root det", [("cycle", "2")]),
        ("0 0", "root root", [("several-roots", "2")]),
        ("0 1", "obj det", [("root-relation", "1")]),
        ("0 1", "root root", [("root-relation", "2")]),
        ("0 _", "root _", [("missing-head", "2")]),
        ("_ _", "_ _", [("missing-head", "1")]),
    ],
)
def test_problems_of_trees(heads: str, relations: str, expected: list[tuple[str, str]], tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    rows = zip(heads.split(), relations.split(), strict=True)
    lines = (f"{word}\tw\t_\t_\t_\t_\t{h}\t{r}\t_\t_\n" for word, (h, r) in enumerate(rows, 1))
    path.write_text("# c\n" + "".join(lines) + "\n", encoding="utf-8", newline="\n")
    found = list(conllu.problems(path))
    assert [(problem.kind, problem.word) for problem in found] == expected
    assert all(problem.line == int(problem.word) + 1 for problem in found)


def test_trees_are_checked_where_they_are_required() -> None:
    cycle = GOOD.replace("_\t_\t_\t_\n", "0\troot\t_\t_\n") + "# c\n" + words("1", "2", heads={"1": "2", "2": "1"})
    assert conllu.loads(cycle).heads.tolist() == [0, 2, 1]
    with pytest.raises(FormatError, match=r"^<text>:4: word 1: heads form a cycle, 1 -> 2 -> 1") as caught:
        conllu.loads(cycle, trees="required")
    assert caught.value.kind == "cycle"
    with pytest.raises(FormatError, match=r"^<text>:1: word 1: it has no head") as caught:
        conllu.loads(GOOD, trees="required")
    assert caught.value.kind == "missing-head"
    kept = conllu.loads(GOOD + cycle, on_error="skip", trees="required")
    assert kept.heads.tolist() == [0]


def test_crlf_is_listed_once_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_bytes((GOOD * 3).encode().replace(b"\n", b"\r\n"))
    assert [(problem.line, problem.kind) for problem in conllu.problems(path)] == [(1, "crlf")]
    reader = conllu.stream(path, on_error="skip", chunk_bytes=7)
    assert len(reader.read()) == 0
    assert [problem.line for problem in reader.problems] == [1, 3, 5]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
@pytest.mark.parametrize("name", ALL_WRONG)
def test_problems_do_not_depend_on_where_the_file_is_cut(name: str, size: int, tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_bytes(ALL_WRONG[name][0])
    assert list(map(str, conllu.problems(path, chunk_bytes=size))) == list(map(str, conllu.problems(path)))


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_characters_may_lie_anywhere(shift: int) -> None:
    long = b"# " + b"x" * shift + ("€" * 400_000).encode()  # over a megabyte: decoded in several pieces
    raw = long + b"\n" + GOOD.encode()
    assert conllu.dumps(conllu.loads(raw)) == raw
    broken = long + b"\xff" + b"\n" + GOOD.encode().replace(b"w", b"\xfe")
    found = [(problem.line, problem.kind, problem.message.split()[:4]) for problem in conllu.scan(broken, "a").errors()]
    assert found == [
        (1, "utf-8", ["byte", str(len(long) + 1), "of", "the"]),
        (2, "utf-8", ["byte", "3", "of", "the"]),
    ]


def peak_of_streaming(blocks: int) -> int:
    block = SAMPLE * 20
    reader = conllu.Reader("a", (block for _ in range(blocks)), on_error="stop", trees="optional")
    tracemalloc.start()
    sentences = sum(len(bank) for bank in reader)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sentences == blocks * 40
    return peak


def test_memory_does_not_grow_with_the_file() -> None:
    peak_of_streaming(2)
    assert peak_of_streaming(32) < 1.5 * peak_of_streaming(4)


def test_devices_are_written_as_they_are() -> None:
    if os.name == "nt":
        pytest.skip("no such device")
    conllu.write(os.devnull, conllu.loads(SAMPLE))
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_a_word_may_fill_megabytes() -> None:
    raw = SAMPLE + b"1\t" + b"x" * 3_000_000 + b"\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    bank = conllu.loads(raw)
    assert len(bank[2].forms[0]) == 3_000_000
    assert conllu.dumps(bank) == raw


@FEW
@given(banks())
def test_what_is_not_changed_comes_out_byte_for_byte(raw: bytes) -> None:
    bank = conllu.loads(raw)
    assert conllu.dumps(bank) == raw
    assert conllu.dumps(bank.with_trees(bank.heads, bank.relations)) == raw
    copied = {name: bank.column(name).texts() for name in ("form", "lemma", "upos", "xpos", "feats", "deps", "misc")}
    assert conllu.dumps(bank.with_columns(copied)) == raw


@FEW
@given(banks(), st.integers(1, 200))
def test_pieces_of_any_size_make_the_whole(raw: bytes, size: int) -> None:
    blocks = iter([raw[i : i + size] for i in range(0, len(raw), size)])
    pieces = list(conllu.Reader("a", blocks, on_error="stop", trees="optional"))
    assert b"".join(map(conllu.dumps, pieces)) == raw
    whole, joined = conllu.loads(raw), Treebank.concat(pieces)
    assert conllu.dumps(joined) == raw
    assert joined.heads.tolist() == whole.heads.tolist()
    assert joined.offsets == whole.offsets
    assert joined.relations.texts() == whole.relations.texts()
    assert isinstance(joined.source, Source)
    assert isinstance(whole.source, Source)
    assert joined.source.lines.tolist() == whole.source.lines.tolist()
    assert joined.source.fields.tolist() == whole.source.fields.tolist()


@given(st.lists(trees(max_words=9, single_root=False), max_size=5))
def test_any_tree_written_and_read_back_is_equal(given_trees: list[Tree]) -> None:
    raw = conllu.dumps(Treebank.of(given_trees))
    assert raw.count(b"\n\n") == len(given_trees)
    if given_trees:
        assert list(conllu.loads(raw, trees="required").trees()) == given_trees


LINES = st.sampled_from(
    [
        b"\n",
        b"# c\n",
        b"1\t_\t_\t_\t_\t_\t0\t_\t_\t_\n",
        b"2\t_\t_\t_\t_\t_\t1\t_\t_\t_\n",
        b"1-2" + b"\t_" * 9 + b"\n",
    ]
)
NOISE = st.sampled_from(
    [b"\t", b"\n", b"\r\n", b"1", b"_", b"-", b".", b"#", b"\xff", b"\0", b"\xef\xbb\xbf", b"\xc3\xa9"]
)


def check_bytes(raw: bytes) -> None:
    """Bytes come out as they went in, or all that is wrong is named and what is left can be written."""
    reader = conllu.Reader("a", iter([raw]), on_error="skip", trees="optional")
    bank = reader.read()
    kept = conllu.dumps(bank)
    if not reader.problems and kept == raw + b"\n":  # the last blank line alone was missing
        with pytest.raises(FormatError, match="without a blank line"):
            conllu.loads(raw)
        return
    if not reader.problems:
        assert kept == raw
        assert conllu.dumps(conllu.loads(raw)) == raw
        return
    with pytest.raises(FormatError) as caught:
        conllu.loads(raw, "a")
    assert str(caught.value) == str(reader.problems[0])
    assert all(problem.line <= raw.count(b"\n") + 1 for problem in reader.problems)
    assert {problem.kind for problem in reader.problems} <= KINDS
    if len(bank):
        assert conllu.dumps(conllu.loads(kept)) == kept


@given(st.one_of(st.binary(), st.lists(st.one_of(LINES, NOISE)).map(b"".join)))
def test_any_bytes_parse_or_raise_the_documented_error(raw: bytes) -> None:
    check_bytes(raw)


@FEW
@given(banks(), st.data())
def test_one_changed_byte_parses_or_raises(raw: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(raw) - 1))
    changed = raw[:at] + data.draw(st.one_of(NOISE, st.just(b""))) + raw[at + 1 :]
    check_bytes(changed)


def test_heads_and_relations_alone_change() -> None:
    bank = conllu.loads(SAMPLE)
    changed = bank.with_trees(np.array([5, 5, 5, 5, 0, 0, 1]), Column.of(["a", "b", "c", "d", "root", "root", "punct"]))
    lines, others = SAMPLE.decode().split("\n"), conllu.dumps(changed).decode().split("\n")
    rows = [(line.split("\t"), other.split("\t")) for line, other in zip(lines, others, strict=True)]
    word_rows = [pair for pair in rows if pair[0][0].isdigit()]
    assert [after[6:8] for _, after in word_rows] == [
        ["5", "a"], ["5", "b"], ["5", "c"], ["5", "d"], ["0", "root"], ["0", "root"], ["1", "punct"]
    ]  # fmt: skip
    assert all(before[:6] + before[8:] == after[:6] + after[8:] for before, after in word_rows)
    assert all(before == after for before, after in rows if not before[0].isdigit())
    again = conllu.loads(conllu.dumps(changed))
    assert again.heads.tolist() == [5, 5, 5, 5, 0, 0, 1]


@FEW
@given(banks(), st.data())
def test_replaced_columns_are_read_back(raw: bytes, data: st.DataObject) -> None:
    bank = conllu.loads(raw)
    texts = st.lists(st.sampled_from(["_", "x", "né", "a b", "|" * 9]), min_size=bank.words, max_size=bank.words)
    names = data.draw(st.sets(st.sampled_from(["form", "lemma", "upos", "xpos", "feats", "deprel", "deps", "misc"])))
    wanted = {name: data.draw(texts) for name in sorted(names)}
    edited = bank.with_columns(wanted)
    again = conllu.loads(conllu.dumps(edited))
    for name in ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"):
        expected = wanted.get(name, bank.column(name).texts())
        assert again.column(name).texts() == edited.column(name).texts() == expected
    restored = {name: bank.column(name) for name in names}
    assert conllu.dumps(again.with_columns(restored)) == raw


@pytest.mark.parametrize("text", ["", "a\tb"])
def test_only_text_that_is_written_can_break_the_file(text: str) -> None:
    """Some sentences of a treebank share the names of all, which may be far more than their words."""
    words, rest = ["a", "b"], [f"x{number}" for number in range(9)]
    bank = Treebank.of_words(Column.of([*words, text, *rest]), Offsets([0, 2, 3, 12]))
    assert b"\tb\t" in conllu.dumps(bank.select(np.array([0])))
    with pytest.raises(FormatError, match="FORM would become"):
        conllu.dumps(bank.select(np.array([1])))


@pytest.mark.parametrize("text", ["", "a\tb", "a\nb", "a\r", "a\0", "\ud800"])
def test_text_that_would_break_the_file_is_refused(text: str) -> None:
    bank = conllu.loads(SAMPLE, "a.conllu").with_columns({"misc": ["_"] * 3 + [text] + ["_"] * 3})
    with pytest.raises(FormatError, match=r"a.conllu:8: MISC would become") as caught:
        conllu.dumps(bank)
    assert caught.value.kind == "unwritable-text"


def test_a_sentence_without_words_cannot_be_written() -> None:
    with pytest.raises(FormatError, match="sentence 2 has no words"):
        conllu.dumps(Treebank.of([Tree([0]), Tree([])]))


@pytest.mark.parametrize("name", ["a.conllu", "a.conllu.gz", "a.conllu.xz"])
def test_files_are_compressed_by_extension(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    bank = conllu.loads(SAMPLE)
    conllu.write(path, [bank, bank])
    unpack = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(path.suffix, bytes)
    assert unpack(path.read_bytes()) == SAMPLE * 2
    assert conllu.dumps(conllu.read(path)) == SAMPLE * 2
    first = path.read_bytes()
    conllu.write(path, [bank, bank])
    assert path.read_bytes() == first
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_gzip_output_does_not_depend_on_name_or_time(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        conllu.write(tmp_path / name, conllu.loads(SAMPLE))
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert (tmp_path / "a.gz").read_bytes()[3:8] == bytes(5)


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    bank = conllu.loads(SAMPLE)

    def failing() -> Iterator[Treebank]:
        yield bank
        assert not path.exists()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        conllu.write(path, failing())
    assert list(tmp_path.iterdir()) == []
    path.write_bytes(b"before")
    path.chmod(0o640)
    with pytest.raises(ZeroDivisionError):
        conllu.write(path, (bank if number else 1 // number for number in (1, 0)))  # type: ignore[misc]
    assert path.read_bytes() == b"before"
    conllu.write(path, bank)
    assert path.read_bytes() == SAMPLE
    assert stat.S_IMODE(path.stat().st_mode) == 0o640 or os.name == "nt"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "a", tmp_path / "b"
    link.symlink_to(path)
    conllu.write(link, conllu.loads(SAMPLE))
    assert link.is_symlink()
    assert path.read_bytes() == SAMPLE


def test_what_cannot_be_read_or_written_is_an_error_of_ours(tmp_path: Path) -> None:
    packed = gzip.compress(SAMPLE)
    (tmp_path / "plain.gz").write_bytes(SAMPLE)
    (tmp_path / "short.gz").write_bytes(packed[:-20])
    (tmp_path / "damaged.gz").write_bytes(packed[:30] + b"\xff\xff\xff\xff" + packed[34:])
    (tmp_path / "plain.xz").write_bytes(SAMPLE)
    for name in ("missing", "", "plain.gz", "short.gz", "damaged.gz", "plain.xz", "no\0name"):
        path = str(tmp_path / name) if name else str(tmp_path)
        with pytest.raises(FormatError, match="cannot be read: ") as caught:
            conllu.read(path)
        assert (caught.value.file, caught.value.kind) == (path, "unreadable")
        assert [problem.kind for problem in conllu.problems(path)] == ["unreadable"]
    for target in (tmp_path, tmp_path / "missing" / "a", tmp_path / "plain.gz" / "a"):
        with pytest.raises(FormatError, match="cannot be written: ") as caught:
            conllu.write(target, conllu.loads(SAMPLE))
        assert caught.value.kind == "unwritable"
    assert len(list(tmp_path.iterdir())) == 4


def test_unknown_options_are_refused() -> None:
    with pytest.raises(OptionError, match="on_error is 'ignore'; expected 'stop' or 'skip'"):
        conllu.loads(SAMPLE, on_error="ignore")  # type: ignore[arg-type]
    assert issubclass(OptionError, RopewalkError)


class Pipe(io.RawIOBase):
    """Bytes that can only be read forward."""

    def __init__(self, raw: bytes) -> None:
        self.left = raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        count = min(len(buffer), 11, len(self.left))
        buffer[:count] = self.left[:count]
        self.left = self.left[count:]
        return count


def test_standard_input_is_never_rewound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Pipe(SAMPLE * 3))))
    pieces = list(conllu.stream("-", chunk_bytes=100))
    assert len(pieces) > 1
    assert b"".join(map(conllu.dumps, pieces)) == SAMPLE * 3
    assert pieces[0].source is not None
    assert pieces[0].source.file == "<stdin>"


def test_standard_streams_pass_bytes_through() -> None:
    program = "from ropewalk import conllu; conllu.write('-', conllu.stream('-', chunk_bytes=50))"
    done = subprocess.run([sys.executable, "-c", program], input=SAMPLE, capture_output=True, check=True)
    assert done.stdout == SAMPLE


def same_as_oracles(raw: bytes) -> int:
    """Compare with two other readers; return the number of words compared."""
    bank = conllu.loads(raw)
    ours = [(bank[s].forms, bank[s].upos, bank[s].heads, bank[s].relations) for s in range(len(bank))]
    known = [bank[s].id for s in range(len(bank))]
    text = raw.decode("utf-8")
    for number, tokens in enumerate(conllu_package.parse(text)):
        plain = [token for token in tokens if isinstance(token["id"], int)]
        assert ours[number] == (
            tuple(token["form"] for token in plain),
            tuple(token["upos"] for token in plain),
            tuple(-1 if token["head"] is None else token["head"] for token in plain),
            tuple(token["deprel"] for token in plain),
        )
        assert tokens.metadata.get("sent_id") == known[number]
    for number, sentence in enumerate(load_from_string(text)):
        forms, upos, heads, relations = ours[number]
        rows = [token for token in sentence if token.id.isdigit()]
        assert [token.form or "_" for token in rows] == list(forms)
        assert [token.upos or "_" for token in rows] == list(upos)
        assert [token.head or "-1" for token in rows] == list(map(str, heads))
        assert [token.deprel or "_" for token in rows] == list(relations)
    return bank.words


def test_other_readers_see_the_same() -> None:
    assert same_as_oracles(SAMPLE) == 7
