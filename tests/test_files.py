"""Nothing is lost: what the program writes to, what it leaves alone, and what it leaves behind."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import stat
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
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, or exchanges names")


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


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_folder_whose_place_was_to_be_taken_stays_if_something_comes_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, exchanges: bool
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "kept").write_text("earlier", encoding="utf-8")
    replace = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        if self.name.endswith(".part"):
            raise KeyboardInterrupt
        return replace(self, target)

    def interrupt(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    monkeypatch.setattr(files, "_exchanged", interrupt if exchanges else lambda *_: False)
    with pytest.raises(KeyboardInterrupt), files.creating_folder(model) as part:
        (part / "new").write_text("later", encoding="utf-8")
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
    assert (model / "kept").read_text(encoding="utf-8") == "earlier"


def traced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Note each sync and rename with the name of what it is about; names of parts without what is random in them."""
    calls: list[tuple[str, str]] = []
    real_fsync, real_replace, real_exchanged = os.fsync, os.replace, files._exchanged

    def note(call: str, path: object) -> None:
        calls.append((call, re.sub(r"ropewalk-\w+", "ropewalk", Path(str(path)).name)))

    def fsync(number: int) -> None:
        note("sync", Path(f"/proc/self/fd/{number}").readlink())
        real_fsync(number)

    def replace(old: str, new: str) -> None:
        note("rename", old)
        real_replace(old, new)

    def exchanged(part: Path, target: Path) -> bool:
        note("exchange", part)
        return real_exchanged(part, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(files, "_exchanged", exchanged)
    return calls


@LINUX
def test_a_file_is_synced_before_it_takes_its_name_and_its_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = traced(monkeypatch)
    for name in ("plain.txt", "packed.gz"):
        with files.creating(tmp_path / name) as file:
            file.write(b"all of it")
        part = f".{name}.ropewalk.part"
        assert calls == [("sync", part), ("rename", part), ("sync", tmp_path.name)]
        calls.clear()
    monkeypatch.setenv("ROPEWALK_NO_SYNC", "1")
    with files.creating(tmp_path / "plain.txt") as file:
        file.write(b"something else")
    assert calls == [("rename", ".plain.txt.ropewalk.part")]


@LINUX
def test_all_of_a_folder_is_synced_once_before_it_takes_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = traced(monkeypatch)
    part = ".model.ropewalk.part"
    for last in ("rename", "exchange"):  # there is none before, then there is one
        with files.creating_folder(tmp_path / "model") as home:
            write_folder_into(home)
        names = [("rename", ".a.bin.ropewalk.part"), ("rename", ".b.bin.ropewalk.part")]
        synced = [("sync", "b.bin"), ("sync", "below"), ("sync", "a.bin"), ("sync", part)]
        assert calls == [*names, *synced, (last, part), ("sync", tmp_path.name)]
        calls.clear()
    made = files.make_folder(tmp_path / "one" / "two")
    assert made.is_dir()
    assert calls == [("sync", "one"), ("sync", tmp_path.name)]


def write_folder_into(home: Path) -> None:
    for name in ("a.bin", "below/b.bin"):
        with files.creating(files.make_folder((home / name).parent) / Path(name).name) as file:
            file.write(b"content")


def test_what_cannot_be_synced_does_not_replace_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_bytes(b"earlier")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FormatError, match="cannot be written: No space left"), files.creating(kept) as file:
        file.write(b"later")
    with pytest.raises(FormatError, match="No space left"), files.creating_folder(tmp_path / "model") as part:
        (part / "a").write_bytes(b"later")
    assert [file.name for file in tmp_path.iterdir()] == ["kept.txt"]
    assert kept.read_bytes() == b"earlier"


def test_folders_that_cannot_be_synced_are_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on some network file systems."""
    real = os.fsync

    def files_only(number: int) -> None:
        if stat.S_ISDIR(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(number)

    monkeypatch.setattr(os, "fsync", files_only)
    with files.creating(tmp_path / "file") as file:
        file.write(b"all of it")
    assert (tmp_path / "file").read_bytes() == b"all of it"


@LINUX
@pytest.mark.parametrize(("kind", "least"), [("file", 8), ("folder", 25), ("aside", 30), ("kept", 25)])
def test_a_writer_that_is_killed_at_any_step_leaves_the_old_or_the_new(kind: str, least: int, tmp_path: Path) -> None:
    """And nothing that the next run does not remove."""
    program = [sys.executable, str(Path(__file__).parent / "fault_tools.py"), kind, str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) >= least


def test_only_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    mine = [".out.conllu.ropewalk-0123abcd.part", ".model.ropewalk-0123abcd.part/below/file"]
    others = [".out.conllu.part", "out.conllu.ropewalk-0123abcd.part", ".out.conllu.0123abcd.part", ".ropewalk-0.part"]
    for name in (*mine, *others):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"unfinished")
    (tmp_path / ".link.ropewalk-0123abcd.part").symlink_to(tmp_path / others[0])
    with files.creating(tmp_path / "living") as file:  # by another process: its own lock keeps it from nobody else
        file.write(b"half")
        tidy = "import sys; from ropewalk import files; files.tidy(sys.argv[1])"
        subprocess.run([sys.executable, "-c", tidy, tmp_path], check=True)
        file.write(b" and half")
    assert (tmp_path / "living").read_bytes() == b"half and half"
    left = {file.name for file in tmp_path.iterdir()}
    assert left == {"living", ".link.ropewalk-0123abcd.part", *others}


def test_a_part_that_another_process_removes_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = files._lock
    removed: list[Path] = []

    def too_late(path: Path) -> int:
        if len(removed) < 3:
            removed.append(path)
            path.unlink()
        return real(path)

    monkeypatch.setattr(files, "_lock", too_late)
    with files.creating(tmp_path / "file") as file:
        file.write(b"all of it")
    assert (tmp_path / "file").read_bytes() == b"all of it"
    assert len(removed) == 3


def test_a_folder_that_was_set_aside_is_put_back_by_the_next_run(tmp_path: Path) -> None:
    """As a killed process leaves it where the system cannot exchange two names."""
    for name in ("model", "there", "other"):
        (tmp_path / f".{name}.ropewalk-0123abcd.old").mkdir()
        (tmp_path / f".{name}.ropewalk-0123abcd.old" / "kept").write_text("earlier", encoding="utf-8")
    (tmp_path / "there").mkdir()
    with pytest.raises(ZeroDivisionError), files.creating_folder(tmp_path / "model"):
        _ = 1 // 0  # another run, which comes to nothing
    assert (tmp_path / "model" / "kept").read_text(encoding="utf-8") == "earlier"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model", "other", "there"]
    assert not list((tmp_path / "there").iterdir())


def test_what_a_folder_holds_is_kept_where_only_some_of_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    write_folder_into(model)
    (model / "link").symlink_to("nowhere")
    (model / "a.bin").chmod(0o600)
    for number, content in enumerate((b"one", b"two")):
        before = model.stat().st_ino
        with files.creating_folder(model, keep=True) as part, files.creating(part / "a.bin") as file:
            file.write(content)
        assert (model.stat().st_ino == before) == bool(number)  # in the current folder, files alone are replaced
        assert (model / "a.bin").read_bytes() == content
        assert (model / "a.bin").stat().st_mode & 0o777 == 0o600
        assert (model / "below" / "b.bin").read_bytes() == b"content"
        assert sorted(file.name for file in model.iterdir()) == ["a.bin", "below", "link"]
        monkeypatch.chdir(model)
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


def test_a_name_as_long_as_any_may_be_is_written(tmp_path: Path) -> None:
    for name in ("a" * 255, "ä" * 127):
        with files.creating(tmp_path / name) as file:
            file.write(b"all of it")
        assert (tmp_path / name).read_bytes() == b"all of it"


def test_where_nothing_can_be_locked_files_are_written_and_parts_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / ".file.ropewalk-0123abcd.part"
    left.write_bytes(b"unfinished")
    monkeypatch.setattr(files, "fcntl", None)
    with files.creating(tmp_path / "file") as file:
        file.write(b"all of it")
    with files.creating_folder(tmp_path / "model") as part:
        (part / "a").write_bytes(b"all of it")
    assert sorted(file.name for file in tmp_path.iterdir()) == [left.name, "file", "model"]
