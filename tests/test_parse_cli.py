"""`ropewalk parse` and `ropewalk models` as people run them, with a toy model."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import pty
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

import program_tools
from pipeline_tools import exported
from program_tools import TOY
from ropewalk import conllu

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.treebank.treebank import Treebank


def run(*words: object, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[str]:
    return program_tools.run(*words, stdin=stdin, toy=True, **environment)


def sound(text: str, tmp_path: Path) -> Treebank:
    """Read CoNLL-U that must have no problem, trees included."""
    file = tmp_path / "sound.conllu"
    file.write_text(text, encoding="utf-8", newline="\n")
    assert not list(conllu.problems(file))
    return conllu.loads(text, trees="required")


def test_text_becomes_conllu(tmp_path: Path) -> None:
    done = run("parse", "They don't twist. She walks.")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# generator = ropewalk ")
    assert "model toy 0123456789ab" in done.stdout.split("\n")[0]
    assert done.stdout.count("# generator") == 1
    bank = sound(done.stdout, tmp_path)
    assert bank.column("form").texts() == ["They", "do", "n't", "twist", ".", "She", "walks", "."]
    assert done.stdout.count("# newdoc") == 1


def test_files_standard_input_and_text_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("From a file.", encoding="utf-8")
    (tmp_path / "Word").write_text("From one without an ending.", encoding="utf-8")
    with gzip.open(tmp_path / "b.txt.gz", "wb") as packed:
        packed.write(b"From a packed one.")
    a, word, b = tmp_path / "a.txt", tmp_path / "Word", tmp_path / "b.txt.gz"
    done = run("parse", a, "Some text.", word, b, "-", stdin=b"From a pipe.")
    texts = [line for line in done.stdout.split("\n") if line.startswith(("# text", "# newdoc"))]
    assert texts == [
        f"# newdoc id = {a}",
        "# text = From a file.",
        "# newdoc",
        "# text = Some text.",
        f"# newdoc id = {word}",
        "# text = From one without an ending.",
        f"# newdoc id = {b}",
        "# text = From a packed one.",
        "# newdoc",
        "# text = From a pipe.",
    ]
    sound(done.stdout, tmp_path)
    assert "# text = From a pipe." in run("parse", stdin=b"From a pipe.").stdout
    assert f"# text = {a}" in run("parse", "--text", a).stdout
    assert "# text = Hello" in run("parse", "Hello").stdout


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["nowhere.txt"], "nowhere.txt: there is no such file; if it is text that you want parsed, add --text"),
        (["some/where"], "add --text"),
        (["--files", "Hello there"], "Hello there: there is no such file"),
        (["--input", "conllu", "1 He"], "there is no such file"),
        (["."], "is a folder"),
    ],
)
def test_files_that_are_not_there_are_no_text(words: list[str], what: str) -> None:
    done = run("parse", *words)
    assert (done.returncode, done.stdout) == (1, "")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ropewalk: error: ")
    assert what in last


@pytest.mark.parametrize("text", ["3.14", "Well...", "He went. There he is.", "x" * 5000, "I opened file.txt"])
def test_text_that_no_file_is_named_like_is_text(text: str) -> None:
    done = run("parse", text)
    assert done.returncode == 0, done.stderr
    assert "\troot\t" in done.stdout


def test_tokens_stand_on_lines(tmp_path: Path) -> None:
    done = run("parse", "--input", "tokens", "-", stdin=b"He didn't go .\n\nShe did")
    bank = sound(done.stdout, tmp_path)
    assert done.stdout.count("# newdoc\n") == 1
    assert [bank[number].forms for number in range(2)] == [("He", "didn't", "go", "."), ("She", "did")]
    assert run("parse", "--input", "tokens", "He didn't go .").stdout.count("\troot\t") == 1


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("She \x0b did", "word 2 is '\\x0b', with '\\x0b' as character 1"),
        ("She did\x1cso", "word 2 is 'did\\x1cso', with '\\x1c' as character 4"),
        ("She did\x85", "word 2 is 'did\\x85', with '\\x85' as character 4"),
        ("a\u2028b", "word 1 is 'a\\u2028b'"),
        ("She \u00a0 did", "word 2 is '\\xa0'"),
        ("10\u00a0\u00a0000", "word 1 is '10\\xa0\\xa0000', with '\\xa0' as character 3"),
    ],
)
def test_tokens_that_no_form_can_be_are_refused_with_their_line(line: str, what: str) -> None:
    done = run("parse", "--input", "tokens", "-", stdin=f"He slept .\n\n\n{line}\n".encode())
    assert (done.returncode, done.stdout.count("\troot\t")) == (1, 0)
    assert f"<stdin>:4: sentence 2: {what}" in done.stderr


def test_tokens_may_have_spaces_inside(tmp_path: Path) -> None:
    done = run("parse", "--input", "tokens", "-", stdin="10\u00a0000 ropes".encode())
    assert sound(done.stdout, tmp_path).column("form").texts() == ["10\u00a0000", "ropes"]


def test_conllu_is_known_by_its_name_and_keeps_the_rest(sample: Path, tmp_path: Path) -> None:
    done = run("parse", "--no-confidence", sample)
    assert done.returncode == 0, done.stderr
    given = conllu.read(sample)
    first, rest = done.stdout.split("\n", 1)
    assert first.startswith("# generator = ")
    parsed = sound(rest, tmp_path)
    restored = parsed.with_columns({"upos": given.column("upos")}).with_trees(given.heads, given.relations)
    assert conllu.dumps(restored) == sample.read_bytes()
    piped = run("parse", "--no-confidence", "--input", "conllu", stdin=sample.read_bytes())
    assert piped.stdout == done.stdout


def test_a_broken_sentence_stops_or_is_skipped(tmp_path: Path) -> None:
    good = "1\tHe\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    file = tmp_path / "a.conllu"
    file.write_text(good + good.replace("1\tHe", "x\tHe") + good, encoding="utf-8")
    assert run("parse", file).returncode == 1
    done = run("parse", "--on-error", "skip", file)
    assert done.returncode == 0
    assert done.stdout.count("\troot\t") == 2
    assert f"skipped: {file}:3" in done.stderr


def test_json_is_one_object_a_line(tmp_path: Path) -> None:
    done = run("parse", "--format", "json", "They don't twist. She walks.")
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["text"] == "They don't twist."
    assert [word["relation"] for word in second["words"]] == ["root", "dep", "dep"]
    assert first["generator"] == second["generator"]
    assert first["words"][1]["probability"] == 0.5
    plain = json.loads(run("parse", "--format", "json", "--no-confidence", "She walks.").stdout)
    assert plain["probability"] is None
    file = tmp_path / "out.jsonl"
    run("parse", "-o", file, "They don't twist. She walks.")
    assert file.read_text(encoding="utf-8") == done.stdout


def test_a_json_file_is_one_list(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    run("parse", "-o", file, "They don't twist. She walks.")
    with file.open(encoding="utf-8") as stream:
        assert [one["text"] for one in json.load(stream)] == ["They don't twist.", "She walks."]
    (tmp_path / "empty.txt").write_bytes(b"")
    run("parse", "-o", file, tmp_path / "empty.txt")
    assert json.loads(file.read_text(encoding="utf-8")) == []


def test_conllu_on_standard_input_is_noticed(sample: Path) -> None:
    done = run("parse", "-", stdin=sample.read_bytes())
    assert done.stdout == run("parse", "--input", "conllu", "-", stdin=sample.read_bytes()).stdout
    assert "taken for CoNLL-U" in done.stderr
    text = run("parse", "-", stdin=b"# 1 word.")
    assert "taken for" not in text.stderr
    assert run("parse", "--input", "text", "-", stdin=sample.read_bytes()).stdout != done.stdout


def test_conllu_that_comes_slowly_is_noticed(sample: Path) -> None:
    known = run("parse", "--input", "conllu", "-", stdin=sample.read_bytes()).stdout
    with subprocess.Popen(
        [*TOY, "parse", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        first, second, rest = sample.read_bytes().split(b"\n", 2)
        for piece in (first[:1], first[1:], b"\n", second[:3], second[3:] + b"\n" + rest):
            process.stdin.write(piece)
            process.stdin.flush()
            time.sleep(0.3)
        process.stdin.close()
        assert process.stdout.read().decode() == known
        assert "taken for CoNLL-U" in process.stderr.read().decode()


def test_conllu_after_long_comments_or_a_mark_is_noticed(sample: Path) -> None:
    given = b"# " + b"long " * 4_000 + b"\n" + b"# another\n" * 60 + sample.read_bytes()
    done = run("parse", "-", stdin=given)
    assert "taken for CoNLL-U" in done.stderr
    assert done.stdout == run("parse", "--input", "conllu", "-", stdin=given).stdout
    marked = run("parse", "-", stdin=b"\xef\xbb\xbf" + sample.read_bytes())
    assert marked.returncode == 1
    assert "<stdin>:1: the file begins with a byte order mark" in marked.stderr


@pytest.mark.parametrize(
    "given",
    [
        b"# A heading\n" * 100 + b"A rope. ",
        b"# " + b"rope " * 300_000 + b"\n1 rope",
        b"1\tA rope\n2\tAnother\n",
        b"1",
        b"\xef\xbb\xbfA rope.\r\n",
        "1\t\u00e9\u20ac".encode(),
    ],
)
def test_text_that_begins_like_conllu_loses_nothing(given: bytes) -> None:
    options = ("--format", "json", "--columns", "upos", "-")
    done = run("parse", *options, stdin=given)
    assert done.returncode == 0, done.stderr
    assert "taken for" not in done.stderr
    assert done.stdout == run("parse", "--input", "text", *options, stdin=given).stdout


def test_the_list_of_models_fits_a_terminal() -> None:
    assert max(map(len, run("models").stdout.splitlines())) <= 80


@pytest.mark.parametrize("name", ["data.txt", "data", "data.txt.gz", "data.txt.xz"])
def test_conllu_in_a_file_with_another_name_is_noticed(name: str, sample: Path, tmp_path: Path) -> None:
    content = sample.read_bytes()
    packed = {"gz": gzip.compress(content), "xz": lzma.compress(content)}
    (tmp_path / name).write_bytes(packed.get(name[-2:], content))
    done = run("parse", tmp_path / name)
    assert done.stdout == run("parse", sample).stdout
    assert f"note: {tmp_path / name} begins like CoNLL-U" in done.stderr
    known = run("parse", "--input", "conllu", tmp_path / name)
    assert (known.stdout, known.stderr) == (done.stdout, "")
    text = run("parse", "--input", "text", tmp_path / name)
    assert "taken for" not in text.stderr
    assert text.stdout != done.stdout


@pytest.mark.parametrize("name", ["a.conll", "a.CONLLX", "a.conllx.gz"])
def test_conllx_is_known_by_its_name(name: str, tmp_path: Path) -> None:
    words = b"1\tHe\t_\tPRON\t_\t_\t2\tnsubj\n2\tran\t_\tVERB\t_\t_\t0\troot\n\n"
    (tmp_path / name).write_bytes(gzip.compress(words) if name.endswith(".gz") else words)
    done = run("parse", tmp_path / name)
    assert (done.returncode, done.stderr) == (0, "")
    assert sound(done.stdout, tmp_path).column("form").texts() == ["He", "ran"]


def test_a_pipe_with_a_name_loses_nothing(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([*TOY, "parse", pipe], stdout=subprocess.PIPE) as process:
        pipe.write_bytes(b"From a pipe.")
        assert b"# text = From a pipe." in process.communicate(timeout=60)[0]


def test_an_empty_file_of_conllu_ends_no_batch(sample: Path, tmp_path: Path) -> None:
    empty, out = tmp_path / "empty.conllu", tmp_path / "out.conllu"
    empty.touch()
    for words in ([empty], ["--on-error", "skip", empty], ["--input", "conllu", "-"]):
        done = run("parse", *words)
        assert (done.returncode, done.stdout) == (0, "")
        assert "is empty" in done.stderr
    assert run("parse", sample, empty, sample, "-o", out).returncode == 0
    assert len(conllu.read(out)) == 2 * len(conllu.read(sample))


def test_lines_of_conllu_are_no_sentences(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_bytes(sample.read_bytes())
    for words, stdin in (([sample], b""), ([tmp_path / "data.txt"], b""), (["-"], sample.read_bytes())):
        done = run("parse", "--each-line", "sentence", *words, stdin=stdin)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--each-line is for text" in done.stderr


def test_several_processes_have_one_thread_each() -> None:
    for jobs in ("2", "0"):
        done = run("parse", "--jobs", jobs, "--threads", "4", "She walks.")
        assert (done.returncode, done.stdout) == (2, "")
        assert "--threads is for --jobs 1" in done.stderr
    assert run("parse", "--jobs", "1", "--threads", "4", "She walks.").returncode == 0


def test_json_has_the_graphs_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.conllu"
    rows = ["1 He 2 nsubj 2:nsubj|2.1:nsubj", "2 ran 0 root 0:root", "2.1 ran _ _ 2:conj", "3 . 2 punct _"]
    lines = ("{} {} _ _ _ _ {} {} {} _".format(*row.split()).replace(" ", "\t") for row in rows)
    plain = "1\tNo\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    file.write_text("\n".join(lines) + "\n\n" + plain, encoding="utf-8", newline="\n")
    first, second = map(json.loads, run("parse", "--format", "json", file).stdout.splitlines())
    heads = [[(head["head"], head["relation"]) for head in word["heads"]] for word in first["words"]]
    assert heads == [[(2, "nsubj"), ("2.1", "nsubj")], [(0, "root")], []]
    assert first["words"][0]["heads"][0]["probability"] is None
    assert "heads" not in second["words"][0]


def test_trees_are_drawn() -> None:
    done = run("parse", "--format", "tree", "She walks. He too.")
    assert done.stdout.startswith("# generator = ")
    assert done.stdout.count("▼") == 6
    assert "walks" in done.stdout
    assert "\x1b" not in done.stdout


def test_in_a_terminal_trees_are_drawn() -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*TOY, "parse", "She walks."], stdout=theirs, stderr=subprocess.PIPE, env=os.environ | {"TERM": "xterm"}
    ) as process:
        process.wait(60)
        os.close(theirs)
        seen = b""
        try:
            while block := os.read(ours, 4096):
                seen += block
        except OSError:  # how the end of a terminal shows
            pass
        os.close(ours)
    assert "▼" in seen.decode()
    assert "\troot\t" not in seen.decode()


@pytest.mark.parametrize("form", ["conllu", "json"])
def test_nothing_in_nothing_out(form: str, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    for words in (["-"], [""], ["  "], [tmp_path / "empty.txt"], ["--input", "tokens", "-"]):
        done = run("parse", "--format", form, *words, stdin=b"")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), words


def test_what_is_not_utf8_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Good.\nB\xe4d.")
    done = run("parse", tmp_path / "a.txt")
    assert done.returncode == 1
    assert f"{tmp_path / 'a.txt'}:2: byte 0xe4 is not UTF-8" in done.stderr
    assert "Traceback" not in run("parse", b"\xff".decode("utf-8", "surrogateescape")).stderr


def test_a_form_is_no_file() -> None:
    done = run("parse", "-o", "json", "Hello there.")
    assert done.returncode == 2
    assert "--format json" in done.stderr


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"One. Two. Three. \xff")
    done = run("parse", tmp_path / "bad.txt", "-o", tmp_path / "out.conllu")
    assert done.returncode == 1
    assert not (tmp_path / "out.conllu").exists()
    done = run("parse", "One. Two.", "-o", tmp_path / "out.conllu")
    assert done.stderr.endswith("4 words parsed\n")
    sound((tmp_path / "out.conllu").read_text(encoding="utf-8"), tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"bad.txt", "out.conllu", "sound.conllu"}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("form", ["conllu", "json"])
def test_interrupted_output_ends_with_a_whole_sentence(number: int, code: int, form: str, tmp_path: Path) -> None:
    """The reader reads slowly, so that the program is most likely interrupted while it writes."""
    text = tmp_path / "long.txt"
    text.write_text("The rope maker walks backwards all day. " * 60_000, encoding="utf-8")
    with subprocess.Popen(
        [*TOY, "parse", "--format", form, text], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        seen = process.stdout.read(5_000)
        time.sleep(0.3)  # now the pipe is full and a write waits
        process.send_signal(number)
        seen += process.stdout.read()
        assert process.wait(60) == code
        assert "Traceback" not in process.stderr.read().decode()
    assert len(seen) < 60_000 * 300
    if form == "json":
        assert all(len(json.loads(line)["words"]) == 8 for line in seen.decode().removesuffix("\n").split("\n"))
    else:
        assert set(sound(seen.decode(), tmp_path).lengths.tolist()) == {8}


def test_sentences_come_out_while_text_still_comes_in() -> None:
    with subprocess.Popen([*TOY, "parse", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"One word. Two words")
        process.stdin.flush()
        lines = [process.stdout.readline() for _ in range(10)]
        assert lines[-1] == b"\n"
        assert lines[-2].startswith(b"3\t.\t")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stdout.read() == b""


def test_a_reader_that_has_enough_ends_it_quietly(tmp_path: Path) -> None:
    text = tmp_path / "long.txt"
    text.write_text("The rope maker walks. " * 20_000, encoding="utf-8")
    with subprocess.Popen([*TOY, "parse", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(100)
        process.stdout.close()
        assert process.wait(60) == 1
        assert process.stderr.read() == b""


def test_models_are_listed(tmp_path: Path) -> None:
    home = tmp_path / "toy"
    home.mkdir()
    table = {"hash": "abc", "config": {"data": {"name": "UD_Testish-Toy", "licence": "CC0-1.0"}}}
    (home / "config.json").write_text(json.dumps({**table, "scores": {"test": {"las": 0.8125}}}), encoding="utf-8")
    tagged = tmp_path / "tagged"
    tagged.mkdir()
    (tagged / "config.json").write_text("{}", encoding="utf-8")
    (tagged / "labels.json").write_text(
        json.dumps({"tags": {"upos": [], "feats.Case": [], "feats.Number": []}, "graphs": {}}), encoding="utf-8"
    )
    done = run("models", "--format", "json", ROPEWALK_MODELS=str(tmp_path))
    assert {row["name"]: row["predicts"] for row in json.loads(done.stdout)["rows"]}[
        "tagged"
    ] == "tree, upos, feats, graph"
    (row,) = [row for row in json.loads(done.stdout)["rows"] if row["name"] == "toy"]
    assert row == {
        "name": "toy",
        "installed": "yes",
        "language": "Testish",
        "code": "toy",
        "main_treebank": "Toy",
        "main_licence": "CC0-1.0",
        "treebank": "UD_Testish-Toy",
        "licence": "CC0-1.0",
        "megabytes": (home / "config.json").stat().st_size / 1e6,
        "hash": "abc",
        "uas": None,
        "las": 81.25,
        "takes": "tokens",
        "predicts": "tree",
        "where": str(home),
    }
    assert str(tmp_path) in run("models", ROPEWALK_MODELS=str(tmp_path)).stdout


def test_a_real_model_is_run_by_name_or_folder_exported_or_trained(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pytest.importorskip("torch")
    home = exported(tmp_path_factory)

    def parse(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return program_tools.run("parse", *words, "Kalo mi, nesu su. Lomi", heavy="trained" in words[-1], **environment)

    done = parse("--model", str(home))
    assert done.returncode == 0, done.stderr
    sound(done.stdout, tmp_path)
    assert "model tiny " in done.stdout.split("\n")[0]
    assert parse("--model", "exported", ROPEWALK_MODELS=str(home.parent)).stdout == done.stdout
    assert parse("--model", str(home), "--batch", "1", "--threads", "2").stdout == done.stdout
    bare = parse("--model", str(home), "--no-confidence", "--format", "json")
    assert {json.loads(line)["probability"] for line in bare.stdout.splitlines()} == {None}
    given = ("--input", "tokens", "--text", "--no-confidence", "--model")
    trained, other = parse(*given, str(home.parent / "trained")), parse(*given, str(home))
    assert trained.returncode == 0, trained.stderr
    assert trained.stdout.split("\n")[1:] == other.stdout.split("\n")[1:]
    assert trained.stdout.startswith("# generator = ropewalk ")
    assert " model trained " in trained.stdout.split("\n")[0]
    listed = run("models", "--columns", "all", "--format", "csv", ROPEWALK_MODELS=str(home.parent)).stdout
    assert json.loads((home / "config.json").read_text(encoding="utf-8"))["hash"] in listed


def test_text_is_never_written_over(tmp_path: Path) -> None:
    source = tmp_path / "book.txt"
    source.write_text("He slept.", encoding="utf-8")
    done = run("parse", source, "-o", source)
    assert done.returncode == 2
    assert "would replace" in done.stderr
    assert source.read_text(encoding="utf-8") == "He slept."


@pytest.mark.parametrize("ending", [".conllx", ".svg", ".html.gz", ".txt"])
def test_an_ending_of_no_output_format_is_refused(ending: str, tmp_path: Path) -> None:
    out = tmp_path / f"out{ending}"
    done = run("parse", "They twist.", "-o", out)
    assert done.returncode == 2
    known = "use .conllu, .csv, .json, .jsonl, .parquet, .tsv, or name one with --format"
    assert known in " ".join(done.stderr.replace("│", "").split())
    assert not out.exists()
    assert run("parse", "They twist.", "--format", "conllu", "-o", out).returncode == 0
    assert run("parse", "They twist.", "-o", tmp_path / "out").returncode == 0
