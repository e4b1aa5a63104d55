"""Encoding and decoding as people run them, and label files as the library reads and writes them."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from program_tools import PROGRAM, run
from ropewalk import conllu
from ropewalk.core.trees import check_heads
from ropewalk.encodings import get, known
from ropewalk.errors import FormatError
from ropewalk.formats import label_files
from ropewalk.kernels import compiled
from strategies import trees, values

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.core.trees import Tree

RESTORING = ("optimal+head", "four-bit+path", "hexatags+head+path", "optimal-nonprojective", "pos-offset", "covington")


def words_of(file: Path) -> list[list[list[str]]]:
    """Read the words of CoNLL-U by plain text, sentence by sentence."""
    blocks = file.read_text(encoding="utf-8").strip().split("\n\n")
    rows = [[line.split("\t") for line in block.split("\n") if not line.startswith("#")] for block in blocks]
    return [[row for row in block if row[0].isdigit()] for block in rows]


def test_encode_writes_one_word_per_line(sample: Path) -> None:
    done = run("encode", "-e", "optimal", sample)
    assert done.returncode == 0, done.stderr
    first, rest = done.stdout.split("\n", 1)
    assert first == "# ropewalk encoding = optimal | columns = form, label, relation"
    assert rest.endswith("\n\n")
    found = [[line.split("\t") for line in block.split("\n")] for block in rest[:-2].split("\n\n")]
    labels = get("optimal").encode(conllu.read(sample)).sentences()
    assert found == [
        [[row[1], label, row[7]] for row, label in zip(words, own, strict=True)]
        for words, own in zip(words_of(sample), labels, strict=True)
    ]


def test_encode_writes_parts_of_speech_where_they_are_needed(sample: Path) -> None:
    lines = run("encode", "-e", "pos-offset", sample).stdout.split("\n")
    assert lines[0] == "# ropewalk encoding = pos-offset | columns = form, upos, offset, tag, relation"
    assert lines[1] == "The\tDET\t+2\tNOUN\tdet"


@pytest.mark.parametrize("spec", RESTORING)
def test_a_pipe_through_encode_and_decode_gives_the_file_again(spec: str, sample: Path) -> None:
    labels = run("encode", "-e", spec, sample)
    assert labels.returncode == 0, labels.stderr
    done = run("decode", "-", "--into", sample, stdin=labels.stdout.encode())
    assert done.returncode == 0, done.stderr
    assert done.stdout.encode() == sample.read_bytes()
    assert "ropewalk: faults in the labels: none\nropewalk: repairs: none\n" in done.stderr


@pytest.mark.parametrize("spec", ["optimal", "seven-bit", "brackets(planes=2)", "arc-eager"])
def test_decode_alone_writes_conllu_with_forms_heads_and_relations(spec: str, sample: Path, tmp_path: Path) -> None:
    labels, out = tmp_path / "labels.xz", tmp_path / "out.conllu"
    assert run("encode", "-e", spec, "-o", labels, sample).returncode == 0
    assert run("decode", labels, "-o", out).returncode == 0
    encoding = get(spec)
    bank = conllu.read(sample)
    heads = encoding.recover(encoding.encode(bank)).trees.heads.tolist()
    found = [row for words in words_of(out) for row in words]
    expected = [row for words in words_of(sample) for row in words]
    assert [row[:2] + row[7:8] for row in found] == [row[:2] + row[7:8] for row in expected]
    assert [int(row[6]) for row in found] == heads
    assert {row[place] for row in found for place in (2, 3, 4, 5, 8, 9)} == {"_"}
    assert conllu.read(out).lengths.tolist() == bank.lengths.tolist()
    assert not list(conllu.problems(out))


def test_decode_keeps_parts_of_speech_that_the_labels_have(sample: Path) -> None:
    labels = run("encode", "-e", "pos-offset", sample).stdout
    rows = [line.split("\t") for line in run("decode", "-", stdin=labels.encode()).stdout.split("\n") if "\t" in line]
    assert [row[3] for row in rows] == [row[3] for words in words_of(sample) for row in words]


def test_encode_reads_standard_input_and_compressed_files(sample: Path, tmp_path: Path) -> None:
    packed = tmp_path / "a.conllu.gz"
    packed.write_bytes(gzip.compress(sample.read_bytes()))
    piped = run("encode", "-e", "optimal", "-", stdin=sample.read_bytes())
    assert (
        piped.stdout == run("encode", "-e", "optimal", packed).stdout == run("encode", "-e", "optimal", sample).stdout
    )


def test_a_policy_given_apart_is_the_one_in_the_header(sample: Path) -> None:
    done = run("encode", "-e", "optimal", "--policy", "published", sample)
    assert done.stdout.startswith("# ropewalk encoding = optimal(policy=published) | columns")
    assert run("decode", "-", stdin=done.stdout.encode()).returncode == 0


def test_refuse_names_the_line_of_the_sentence_and_leaves_no_file(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "labels"
    done = run("encode", "-e", "optimal", "--policy", "refuse", "-o", out, sample)
    assert (done.returncode, done.stdout, list(tmp_path.iterdir())) == (1, "", [])
    line = sample.read_text(encoding="utf-8").split("# sent_id = en-3")[0].count("\n") + 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ropewalk: error: {sample}:{line}: optimal(policy=refuse) cannot write this tree: crossing")


def test_missing_heads_are_named_by_line(sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.conllu"
    file.write_text(
        sample.read_text(encoding="utf-8").replace("\t3\tdet\t", "\t_\tdet\t", 1), encoding="utf-8", newline="\n"
    )
    done = run("encode", "-e", "optimal", file)
    assert done.returncode == 1
    assert f"{file}:3: word 1: it has no head" in done.stderr


HEADER = "# ropewalk encoding = optimal | columns = form, label, relation\n"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "the file begins with nothing; expected '# ropewalk encoding = NAME | columns"),
        ("A\t>^\troot\n\n", 1, "the file begins with 'A\\t>^\\troot'; expected '# ropewalk"),
        (
            HEADER.replace("optimal", "optimol"),
            1,
            "unknown encoding 'optimol'; did you mean 'optimal'? Known: optimal, ",
        ),
        (HEADER.replace("optimal", "optimal(x=1)"), 1, "unknown option of optimal 'x'; known: policy"),
        (HEADER.replace("form", "word"), 1, "the columns are word, label, relation; optimal has form, label, relation"),
        (HEADER + "A\t>^\troot\nB\t>>\tobj\n\n", 3, "'>>' is not a label of optimal; expected one of < "),
        (HEADER + "A\t>^\troot\n\nB\t>^\n\n", 4, "the number of columns is 2; expected 3: form, label, relation"),
        (HEADER + "A\t>^\troot\tx\n\n", 2, "the number of columns is 4; expected 3"),
        (HEADER + "A\t>^\t\n\n", 2, "the column relation is empty"),
        (HEADER + "A\t>^\troot\n\n\n", 4, "an empty line without a sentence"),
        (HEADER + "\nA\t>^\troot\n\n", 2, "an empty line without a sentence"),
        (HEADER + "A\t>^\troot\n\nB\t>^\troot\n", 4, "the file ends inside a sentence"),
        (HEADER + "A\t>^\troot\n\nB\t>^\tro", 4, "the file ends inside a sentence"),
    ],
)
def test_a_wrong_label_file_is_named_by_line(text: str, line: int, says: str, tmp_path: Path) -> None:
    file = tmp_path / "labels"
    file.write_text(text, encoding="utf-8", newline="\n")
    for size in (1 << 20, 7):
        with pytest.raises(FormatError) as caught:
            list(label_files.LabelReader(file, chunk_bytes=size))
        assert str(caught.value).startswith(f"{file}:{line}: ")
        assert says in str(caught.value)
    done = run("decode", file, "-o", tmp_path / "out")
    assert (done.returncode, done.stdout) == (1, "")
    assert str(caught.value) in done.stderr
    assert not (tmp_path / "out").exists()


def test_what_is_not_utf8_is_named_by_line(tmp_path: Path) -> None:
    file = tmp_path / "labels"
    file.write_bytes(HEADER.encode() + b"A\t>^\troot\n\n\xff\t>^\troot\n\n")
    with pytest.raises(FormatError, match=r"labels:4: byte 0xff is not UTF-8"):
        list(label_files.LabelReader(file))


def test_a_wrong_label_in_the_second_column_is_named_by_its_own_line(tmp_path: Path) -> None:
    file = tmp_path / "labels"
    header = label_files.header(get("pos-offset"))
    file.write_text(header + "A\tNOUN\t-1\tNOUN\troot\nB\tNOUN\tNOUN\tNOUN\tobj\n\n", encoding="utf-8", newline="\n")
    with pytest.raises(FormatError, match="labels:3: 'NOUN' is not a label of pos-offset; expected a count of words"):
        list(label_files.LabelReader(file))


def test_wrong_labels_are_repaired_and_counted(tmp_path: Path) -> None:
    file = tmp_path / "labels"
    file.write_text(HEADER + "A\t<\ta\nB\t<\tb\nC\t<\tc\n\n", encoding="utf-8", newline="\n")
    for policy, heads in (("nearest", [0, 1, 2]), ("root", [0, 1, 1])):
        done = run("decode", "--repair", policy, file)
        assert done.returncode == 0
        assert [int(line.split("\t")[6]) for line in done.stdout.split("\n") if "\t" in line] == heads
        assert "faults in the labels: 3 no head, 3 unmatched opening bracket\n" in done.stderr
        assert "ropewalk: repairs: 3 attached\n" in done.stderr


@pytest.mark.parametrize(
    ("change", "line", "says"),
    [
        (
            lambda text: text.replace("maker\t", "baker\t", 1),
            5,
            "word 3: the form is 'maker', but 'baker' in line 4 of",
        ),
        (
            lambda text: text.replace("rope\t<\tcompound\n", "", 1),
            4,
            "word 2: the form is 'rope', but 'maker' in line 3",
        ),
        (lambda text: text.replace(".\t>^\tpunct\n", "", 1), 1, "the sentence has 8 words, but 7 in"),
    ],
)
def test_labels_for_other_words_are_refused_by_line(
    change: object, line: int, says: str, sample: Path, tmp_path: Path
) -> None:
    assert callable(change)
    file = tmp_path / "labels"
    file.write_text(change(run("encode", "-e", "optimal", sample).stdout), encoding="utf-8", newline="\n")
    out = tmp_path / "out.conllu"
    done = run("decode", file, "--into", sample, "-o", out)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"ropewalk: error: {sample}:{line}: ")
    assert says in done.stderr
    assert not out.exists()


def test_fewer_labels_than_sentences_are_refused_by_line(sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "labels"
    text = run("encode", "-e", "optimal", sample).stdout
    file.write_text(text[: text.rindex("\n\n", 0, -2) + 2], encoding="utf-8", newline="\n")
    done = run("decode", file, "--into", sample)
    assert done.returncode == 1
    original = sample.read_text(encoding="utf-8")
    line = original.count("\n", 0, original.rindex("\n\n", 0, -2)) + 3
    assert f"{sample}:{line}: {file} has no labels for this sentence and those after it" in done.stderr


def test_more_labels_than_sentences_are_refused_by_line(sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "labels"
    text = run("encode", "-e", "optimal", sample).stdout
    file.write_text(text + "More\t>^\troot\n\n", encoding="utf-8", newline="\n")
    done = run("decode", file, "--into", sample)
    assert done.returncode == 1
    expected = text.count("\n") + 1
    assert f"{file}:{expected}: labels for a sentence that {sample} does not have" in done.stderr


def test_decoding_can_fill_the_file_that_it_writes(sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.conllu"
    file.write_bytes(sample.read_bytes())
    labels = run("encode", "-e", "optimal", sample).stdout
    assert run("decode", "-", "--into", file, "-o", file, "--overwrite", stdin=labels.encode()).returncode == 0
    assert file.read_bytes() != sample.read_bytes()
    assert len(file.read_bytes().splitlines()) == len(sample.read_bytes().splitlines())


@given(data=st.data())
def test_pieces_may_be_cut_anywhere(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Label files and originals in pieces of any size line up, whatever the forms are."""
    found: list[Tree] = data.draw(st.lists(trees(max_words=5), min_size=1, max_size=6))
    rows = [
        f"{word}\t{data.draw(values())}\t_\t_\t_\t_\t{head}\t{relation}\t_\t_\n" if word else "\n"
        for tree in found
        for word, head, relation in [
            *zip(range(1, len(tree) + 1), tree.heads.tolist(), tree.relations, strict=True),
            (0, 0, ""),
        ]
    ]
    folder = tmp_path_factory.mktemp("pieces")
    original, labels = folder / "a.conllu", folder / "labels"
    original.write_bytes("".join(rows).encode())
    encoding = get("optimal-nonprojective")
    banks = conllu.stream(original, chunk_bytes=data.draw(st.integers(1, 200)))
    label_files.write(labels, encoding, (label_files.text_of(encoding, bank) for bank in banks))
    decoding = label_files.LabelTrees(label_files.LabelReader(labels, chunk_bytes=data.draw(st.integers(1, 200))))
    filled = label_files.fill(conllu.stream(original, chunk_bytes=data.draw(st.integers(1, 200))), decoding)
    assert b"".join(conllu.dumps(bank) for bank in filled) == original.read_bytes()


def test_encodings_are_listed_with_what_they_cover_and_cite() -> None:
    done = run("encodings", "--format", "json")
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)["rows"]}
    assert list(rows) == list(known())
    for name, row in rows.items():
        encoding = get(name)
        assert row["covers"] == encoding.summary
        assert row["cites"] == encoding.cites
        assert row["columns"] == ", ".join(encoding.columns)
        assert row["labels"] == (None if encoding.alphabet is None else len(encoding.alphabet))
    assert rows["optimal"]["symbol"] == "O_P"
    assert rows["brackets"]["options"] == "policy=lift, stacks=2, planes=1"
    assert "+head, +path, +head+path" in run("encodings").stdout


def test_an_unknown_encoding_lists_the_known_ones(sample: Path) -> None:
    done = run("encode", "-e", "nonsense", sample)
    assert (done.returncode, done.stdout) == (1, "")
    for name in known():
        assert name in done.stderr


def test_several_encodings_are_refused(sample: Path) -> None:
    done = run("encode", "-e", "optimal", "-e", "brackets", sample)
    assert (done.returncode, done.stdout) == (2, "")
    assert "found optimal, brackets; expected one" in done.stderr


def test_encoding_needs_a_name(sample: Path) -> None:
    assert run("encode", sample).returncode == 2


@pytest.mark.skipif(not compiled(), reason="plain kernels would take too long over so much text")
@pytest.mark.parametrize("command", ["encode", "decode"])
def test_streams_of_any_length_take_constant_memory(command: str, sample: Path) -> None:
    """Megabytes more in, and the peak of memory hardly moves."""
    bank = conllu.read(sample)
    encoding = get("absolute")
    pieces = {
        "encode": (b"", sample.read_bytes(), ["-e", "absolute"]),
        "decode": (label_files.header(encoding).encode(), label_files.text_of(encoding, bank).encode(), []),
    }
    first, piece, options = pieces[command]
    program = (
        "import resource, subprocess, sys; "
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )

    def peak(megabytes: int) -> int:
        done = subprocess.run(
            [sys.executable, "-c", program, *PROGRAM, command, *options, "-"],
            input=first + piece * (megabytes * 1_000_000 // len(piece)),
            capture_output=True,
            check=True,
        )
        return int(done.stdout) // (1 << 10 if sys.platform == "darwin" else 1)

    assert peak(12) - peak(3) < 20_000  # kilobytes


def test_repaired_files_hold_trees(sample: Path, tmp_path: Path) -> None:
    """Labels of another sentence order are wrong everywhere, and still give one tree with one root each."""
    text = run("encode", "-e", "optimal", sample).stdout
    rows = [line.split("\t") for line in text.split("\n")[1:]]
    places = [place for place, row in enumerate(rows) if len(row) == 3]
    for here, there in pairwise(places):
        rows[here][1] = rows[there][1]
    file = tmp_path / "labels"
    file.write_text(text.split("\n")[0] + "\n" + "\n".join(map("\t".join, rows)), encoding="utf-8", newline="\n")
    out = tmp_path / "out.conllu"
    done = run("decode", file, "--into", sample, "-o", out)
    assert done.returncode == 0, done.stderr
    assert "attached" in done.stderr
    bank = conllu.read(out, trees="required")
    assert np.array_equal(check_heads(bank.heads, bank.offsets).roots, np.ones(len(bank)))


def test_lifting_that_loses_trees_is_said(sample: Path) -> None:
    done = run("encode", "-e", "optimal", str(sample))
    assert done.returncode == 0
    assert "3 of 9 trees had crossing arcs that optimal cannot write and were lifted" in done.stderr
    assert run("encode", "-e", "optimal+head", str(sample)).stderr == ""


def test_label_files_with_windows_line_ends_are_refused(sample: Path, tmp_path: Path) -> None:
    labels = run("encode", "-e", "covington", str(sample)).stdout
    (tmp_path / "crlf.labels").write_bytes(labels.encode().replace(b"\n", b"\r\n"))
    done = run("decode", str(tmp_path / "crlf.labels"))
    assert done.returncode == 1
    assert "crlf.labels:1: the line ends in CR LF; expected LF alone" in done.stderr


def test_standard_input_is_read_once() -> None:
    done = run("decode", "-", "--into", "-")
    assert done.returncode == 2
    assert "standard input can be read once" in done.stderr
