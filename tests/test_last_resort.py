"""No traceback for a user, whatever happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from program_tools import TOY, run


def closed(words: list[str], number: int) -> subprocess.CompletedProcess[str]:
    """Run the program with one of its standard streams closed."""
    command = "exec " + " ".join(['"$@"', {0: "<&-", 1: ">&-", 2: "2>&-"}[number]])
    return subprocess.run(
        ["/bin/sh", "-c", command, "sh", *TOY, *words], capture_output=True, check=False, encoding="utf-8"
    )


@pytest.mark.parametrize("words", [["parse", "-"], ["info", "-"], ["encode", "-e", "optimal", "-"], ["decode", "-"]])
def test_closed_standard_input_is_one_line(words: list[str]) -> None:
    done = closed(words, 0)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("ropewalk: error: <stdin>")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [["parse", "--text", "Hello."], ["info", "{}"], ["encode", "-e", "optimal", "{}"], ["draw", "{}"], ["encodings"]],
)
def test_closed_standard_output_is_one_line(words: list[str], sample: Path) -> None:
    done = closed([word.format(sample) for word in words], 1)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("ropewalk: error: ")


def test_closed_standard_error_changes_nothing_else(sample: Path) -> None:
    assert closed(["info", str(sample)], 2).returncode == 0
    assert closed(["info", "nowhere"], 2).returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [["info", "{}"], ["encodings"], ["--help"], ["draw", "{}"]])
def test_a_full_disk_is_one_line(words: list[str], sample: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*TOY, *[word.format(sample) for word in words]],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            text=True,
        )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr


@pytest.mark.parametrize(
    "words", [["info"], ["validate"], ["parse"], ["encode", "-e", "optimal"], ["encode", "--graphs"], ["draw"]]
)
def test_a_sentence_of_one_empty_node_has_no_words(words: list[str], tmp_path: Path) -> None:
    file = tmp_path / "empty.conllu"
    file.write_text("# c\n0.1\ta\t_\t_\t_\t_\t_\t_\t0:root\t_\n\n", encoding="utf-8")
    done = run(*words, file, toy=True)
    assert done.returncode == 1
    assert f"{file}:1: the sentence has no words" in done.stdout + done.stderr


def broken(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program whose command `encodings` fails as none should."""
    begin = (
        "import ropewalk.cli.encodings as e\n"
        "def encodings():\n    '''List.'''\n    raise ZeroDivisionError('by nothing\\nat all')\n"
        "e.encodings = encodings\nfrom ropewalk.cli import main; main()"
    )
    return subprocess.run(
        [sys.executable, "-c", begin, *words],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env=os.environ | environment,
    )


def test_a_bug_is_one_line_that_says_where_the_report_is(tmp_path: Path) -> None:
    done = broken("encodings", TMPDIR=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "bug: ZeroDivisionError: by nothing;" in done.stderr
    (report,) = tmp_path.glob("ropewalk-*.txt")
    assert str(report) in done.stderr
    text = report.read_text(encoding="utf-8")
    assert "Traceback" in text
    assert "at all" in text
    assert re.search(r"^ropewalk \d+\.\d+", text)


def test_debug_shows_it_all(tmp_path: Path) -> None:
    assert "Traceback" in broken("--debug", "encodings", TMPDIR=str(tmp_path)).stderr
    done = run("--debug", "info", "nowhere")
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("ropewalk: error: nowhere")
    assert done.returncode == 1
