"""Nothing is lost: what the program writes to, what it leaves alone, and what it leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from program_tools import PROGRAM, TOY, run
from ropewalk import conllu, files
from ropewalk.errors import FormatError

HEADER = b"# ropewalk encoding = optimal "


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_what_the_shell_opened_is_written_to_and_not_replaced(name: str, sample: Path, tmp_path: Path) -> None:
    if not Path(name).exists():
        pytest.skip(f"this system has no {name}")
    log = tmp_path / "log.txt"
    log.write_bytes(b"kept\n")
    with log.open("ab") as file:
        subprocess.run([*PROGRAM, "encode", "-e", "optimal", sample, "-o", name], stdout=file, check=True)
    assert log.read_bytes().startswith(b"kept\n" + HEADER)
    piped = subprocess.run([*PROGRAM, "encode", "-e", "optimal", sample, "-o", name], capture_output=True, check=True)
    assert b"kept\n" + piped.stdout == log.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["log.txt"]


def test_links_to_what_the_shell_opened_are_followed(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/stdout")
    done = subprocess.run(
        [*PROGRAM, "encode", "-e", "optimal", sample, "-o", tmp_path / "link"], capture_output=True, check=True
    )
    assert done.stdout.startswith(HEADER)
    assert (tmp_path / "link").is_symlink()


def test_pipes_and_process_substitution_are_written_to(sample: Path, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    try:
        subprocess.run(
            [*PROGRAM, "encode", "-e", "optimal", sample, "-o", f"/dev/fd/{writing}"], pass_fds=[writing], check=True
        )
        assert os.read(reading, 1 << 16).startswith(HEADER)
    finally:
        os.close(reading)
        os.close(writing)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE) as cat:
        assert run("encode", "-e", "optimal", sample, "-o", fifo).returncode == 0
        assert cat.stdout is not None
        assert cat.stdout.read().startswith(HEADER)
    assert fifo.is_fifo()


def test_a_treebank_is_not_replaced_unless_asked_for(sample: Path, tmp_path: Path) -> None:
    raw = sample.read_bytes()
    bank, link = tmp_path / "bank.conllu", tmp_path / "link.conllu"
    bank.write_bytes(raw)
    link.symlink_to(bank)
    labels = tmp_path / "labels.tsv"
    assert run("encode", "-e", "optimal+head", sample, "-o", labels).returncode == 0
    refused: list[list[str | Path]] = [
        ["encode", "-e", "optimal", bank, "-o", bank],
        ["encode", "-e", "optimal", bank, "-o", link],
        ["encode", "-e", "optimal", link, "-o", bank],
        ["decode", labels, "--into", bank, "-o", bank],
        ["decode", labels, "-o", labels],
        ["draw", bank, "--format", "text", "-o", bank],
        ["parse", bank, "--format", "json", "-o", bank],
        ["parse", bank, "-o", bank],
        ["enhance", bank, "-o", bank],
        ["info", sample, bank, "-o", link],
        ["evaluate", sample, bank, "-o", bank],
        ["evaluate", bank, "-m", "en", "-o", bank],
        ["compare", sample, sample, "--system", f"B={bank}", "-o", bank],
        ["coverage", "--train", sample, "--dev", bank, "-o", bank],
        ["stats", "--test", bank, "-o", bank],
    ]
    for words in refused:
        done = run(*words, toy=True)
        assert done.returncode == 2, words
        assert "add --overwrite" in " ".join(done.stderr.split())
        assert bank.read_bytes() == raw
    done = run("encode", "-e", "optimal", bank, "-o", bank, "--overwrite")
    assert done.returncode == 0
    assert bank.read_bytes().startswith(HEADER)
    bank.write_bytes(raw)
    done = run("info", bank, "--format", "json", "-o", bank, "--overwrite")
    assert done.returncode == 0
    assert json.loads(bank.read_bytes())["rows"][0]["file"] == str(bank)


def test_standard_input_is_not_replaced_either(sample: Path, tmp_path: Path) -> None:
    bank = tmp_path / "bank.conllu"
    bank.write_bytes(sample.read_bytes())
    encode = [*PROGRAM, "encode", "-e", "optimal"]
    with bank.open("rb") as file:
        assert subprocess.run([*encode, "-", "-o", bank], stdin=file, capture_output=True, check=False).returncode == 2
    with bank.open("ab") as file:
        assert subprocess.run([*encode, bank], stdout=file, stderr=subprocess.PIPE, check=False).returncode == 2
    assert bank.read_bytes() == sample.read_bytes()


def test_a_read_only_file_is_not_replaced(sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "labels.tsv"
    file.write_bytes(b"precious")
    file.chmod(0o444)
    done = run("encode", "-e", "optimal", sample, "-o", file)
    assert (done.returncode, file.read_bytes()) == (1, b"precious")
    assert done.stderr.count("\n") == 1
    assert f"{file}: cannot be written" in done.stderr
    with pytest.raises(FormatError), files.creating(file) as out:
        out.write(b"other")
    assert [one.name for one in tmp_path.iterdir()] == ["labels.tsv"]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("command", ["parse", "encode"])
def test_a_signal_leaves_nothing_behind(number: int, command: str, sample: Path, tmp_path: Path) -> None:
    """The program waits for more input with its output begun."""
    words = ["parse", "-"] if command == "parse" else ["encode", "-e", "optimal", "-"]
    with subprocess.Popen(
        [*TOY, *words, "-o", tmp_path / "out.conllu"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"One word. Two words. " if command == "parse" else sample.read_bytes())
        process.stdin.flush()
        deadline = time.monotonic() + 30
        while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert [file.suffix for file in tmp_path.iterdir()] == [".part"]
        assert _ended_by(process, number) == 128 + number
    assert not list(tmp_path.iterdir())


def _ended_by(process: subprocess.Popen[bytes], number: int) -> int:
    """Send a signal until the process ends: Python misses one that comes just before it begins to wait for input."""
    for _ in range(15):
        process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            return process.wait(2)
    raise AssertionError("the process goes on")


def test_a_hangup_that_is_ignored_stays_ignored(sample: Path) -> None:
    """As under nohup."""
    program = (
        "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); "
        f"sys.argv[1:] = ['encode', '-e', 'optimal', {str(sample)!r}]; "
        "from ropewalk.cli import main, shell; shell.warn_if_uncompiled = lambda: None; "
        "import atexit; atexit.register(lambda: os.kill(os.getpid(), signal.SIGHUP)); main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0


def test_a_last_sentence_without_its_blank_line_is_not_skipped(sample: Path, tmp_path: Path) -> None:
    whole = conllu.read(sample)
    raw = sample.read_bytes()
    reader = conllu.Reader("<text>", iter([raw[:-1]]), on_error="skip", trees="optional")
    assert conllu.dumps(reader.read()) == raw
    assert not reader.problems
    small = iter([raw[:-1][at : at + 100] for at in range(0, len(raw), 100)])
    assert sum(map(len, conllu.Reader("<text>", small, on_error="skip", trees="optional"))) == len(whole)
    for cut in (2, 5):  # inside a line something may be missing
        short = conllu.Reader("<text>", iter([raw[:-cut]]), on_error="skip", trees="optional")
        assert len(short.read()) == len(whole) - 1
        assert len(short.problems) == 1
    with pytest.raises(FormatError, match="without a blank line"):
        conllu.loads(raw[:-1])
    file = tmp_path / "short.conllu"
    file.write_bytes(raw[:-1])
    done = run("info", "--on-error", "skip", "--format", "json", file)
    assert json.loads(done.stdout)["rows"][0]["sentences"] == len(whole)


def test_a_folder_whose_place_was_to_be_taken_stays_if_something_comes_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "kept").write_text("earlier", encoding="utf-8")
    replace = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        if self.name.endswith(".part"):
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), files.creating_folder(model) as part:
        (part / "new").write_text("later", encoding="utf-8")
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
    assert (model / "kept").read_text(encoding="utf-8") == "earlier"
