"""The program as people run it: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import re
import resource
import shlex
import signal
import subprocess
import sys
import tomllib
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest
import typer

from conftest import REPOSITORY
from program_tools import PROGRAM, run
from ropewalk.cli import COMMANDS, SECTIONS, app_of
from ropewalk.kernels import compiled

if TYPE_CHECKING:
    from pathlib import Path

    from click import Command


@pytest.fixture
def broken(tmp_path: Path, sample: Path) -> Path:
    """The example with one head out of range, in its first sentence."""
    text = sample.read_text(encoding="utf-8")
    file = tmp_path / "broken.conllu"
    file.write_text(text.replace("\t3\tdet\t", "\t99\tdet\t", 1), encoding="utf-8", newline="\n")
    return file


def test_shells_complete_commands_and_options(tmp_path: Path) -> None:
    program = tmp_path / "ropewalk"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAM)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    asked = f"""PATH={tmp_path}:$PATH; eval "$(_ROPEWALK_COMPLETE=source_bash ropewalk)"
    for words in "ropewalk st" "ropewalk stats --ta"; do
      COMP_WORDS=($words) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) COMPREPLY=()
      _ropewalk_completion ropewalk && echo "${{COMPREPLY[@]}}"
    done"""
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["stats", "--table"], done.stderr
    assert "#compdef ropewalk" in run("", _ROPEWALK_COMPLETE="source_zsh").stdout
    assert "complete --command ropewalk" in run("", _ROPEWALK_COMPLETE="source_fish").stdout


def test_help_comes_at_once() -> None:
    def children() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def asked() -> str:
        return subprocess.run([*PROGRAM, "--help"], capture_output=True, check=True, text=True).stdout

    asked()  # the first run may have to write byte code
    before = children()
    told = asked()
    assert children() - before < 0.3
    assert "validate" in told


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from ropewalk.cli import COMMANDS, app_of; app_of(COMMANDS)(['--help'], standalone_mode=False); "
        "print('heavy:', sorted({'numpy', 'rich', 'torch', 'onnxruntime'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "heavy: []"


def test_version_tells_how_the_kernels_run() -> None:
    done = run("--version")
    assert done.returncode == 0
    assert done.stdout.startswith(f"ropewalk {version('ropewalk')}, ")
    assert ("compiled" in done.stdout.split("(")[0]) == compiled()
    pure = run("--version", ROPEWALK_PURE="1")
    assert "plain Python" in pure.stdout
    assert "unset" in pure.stdout


@pytest.mark.parametrize("words", [["info"], ["nonsense"], ["info", "--format", "nonsense", "x"], ["--nonsense"]])
def test_wrong_usage_exits_with_2_and_prints_no_data(words: list[str]) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Usage: ropewalk" in done.stderr


@pytest.mark.parametrize(
    ("words", "new"),
    [
        (["parse", "x", "--out", "a.conllu"], "use -o a.conllu"),
        (["parse", "x", "--output", "json"], "use --format json"),
        (["draw", "--heads", "0", "--as", "svg"], "use --format svg"),
        (["export", "model", "out"], "use -o out"),
        (["vectors", "encoder", "out.txt"], "use -o out.txt"),
        (["predict", "model", "a.conllu", "b.conllu"], "use ropewalk parse -m MODEL"),
    ],
)
def test_old_spellings_name_the_new(words: list[str], new: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert new in " ".join(done.stderr.split())


def test_commands_agree_on_what_they_write_and_how() -> None:
    program = typer.main.get_command(app_of(COMMANDS))
    assert isinstance(program, typer.core.TyperGroup)
    writing = set()
    for name in COMMANDS:
        options = {word: one for one in program.commands[name].params for word in (*one.opts, *one.secondary_opts)}
        assert ("-o" in options) == ("--output" in options)
        if "-o" in options:
            writing.add(name)
            assert options["-o"] is options["--output"]
            assert options["-o"].metavar in {"FILE", "FOLDER"}, name
        reads_files = name not in {"models", "encodings"}
        assert ("--overwrite" in options) == ("-o" in options and options["-o"].metavar == "FILE" and reads_files), name
    assert set(COMMANDS) - writing == {"serve"}


def test_a_file_that_is_not_there_is_one_line_and_no_traceback(tmp_path: Path) -> None:
    done = run("info", tmp_path / "nowhere.conllu")
    assert (done.returncode, done.stdout) == (1, "")
    *notes, last = done.stderr.splitlines()
    assert all(note.startswith("ropewalk: note: ") for note in notes)
    assert last.startswith("ropewalk: error: ")
    assert "nowhere.conllu" in last


def test_validate_goes_on_after_a_file_that_is_not_there(broken: Path, tmp_path: Path) -> None:
    done = run("validate", tmp_path / "nowhere.conllu", broken)
    assert done.returncode == 1
    missing, found = done.stdout.splitlines()
    assert missing.startswith(f"{tmp_path / 'nowhere.conllu'}: ")
    assert found.startswith(f"{broken}:")


def test_validate_is_content_with_the_example(sample: Path) -> None:
    done = run("validate", sample)
    assert (done.returncode, done.stdout) == (0, "")
    assert "1 file: no problems" in done.stderr


def test_validate_prints_each_problem_with_its_place(sample: Path, broken: Path) -> None:
    done = run("validate", sample, broken)
    line = broken.read_text(encoding="utf-8").split("\t99\tdet")[0].count("\n") + 1
    assert done.returncode == 1
    assert [text.startswith(f"{broken}:{line}: word 1: HEAD is 99") for text in done.stdout.splitlines()] == [True]
    assert "1 problem in 1 of 2 files" in done.stderr


def test_validate_writes_problems_for_programs_too(sample: Path, broken: Path, tmp_path: Path) -> None:
    out = tmp_path / "problems.jsonl"
    done = run("validate", sample, broken, "--format", "json", "-o", out)
    assert (done.returncode, done.stdout) == (1, "")
    (found,) = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert (found["file"], found["word"], found["code"]) == (str(broken), "1", "head-range")
    told = f"{found['message']} [head-range in {found['sentence']}]"
    assert run("validate", broken).stdout == f"{broken}:{found['line']}: word 1: {told}\n"
    assert run("validate", broken, "-o", broken).returncode == 2, "which is read"


def facts(file: Path) -> dict[str, int]:
    """Count by plain text what the program counts."""
    ids = [line.split("\t")[0] for line in file.read_text(encoding="utf-8").splitlines() if "\t" in line]
    blocks = file.read_text(encoding="utf-8").strip().split("\n\n")
    words = [sum(line.split("\t")[0].isdigit() for line in block.splitlines()) for block in blocks]
    return {
        "sentences": len(blocks),
        "words": sum(words),
        "multiword_tokens": sum("-" in one for one in ids),
        "empty_nodes": sum("." in one for one in ids),
        "longest_sentence": max(words),
    }


def test_info_counts_each_file_and_the_total(sample: Path) -> None:
    done = run("info", "--format", "json", sample, sample)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    first, second = data["rows"]
    (total,) = data["totals"]
    expected = facts(sample)
    assert expected["empty_nodes"] > 0
    assert expected["multiword_tokens"] > 0
    assert {key: first[key] for key in expected} == expected
    assert first == second == {**first, "file": str(sample)}
    assert total["words"] == 2 * first["words"]
    assert total["longest_sentence"] == first["longest_sentence"]
    assert total["nonprojective"] == first["nonprojective"] > 0
    assert total["rope_thickness_max"] == first["rope_thickness_max"] >= first["rope_thickness_mean"] >= 1


def test_info_reads_standard_input(sample: Path) -> None:
    piped = json.loads(run("info", "--format", "json", "-", stdin=sample.read_bytes()).stdout)["rows"][0]
    named = json.loads(run("info", "--format", "json", sample).stdout)["rows"][0]
    assert {**piped, "file": ""} == {**named, "file": ""}


def test_info_stops_at_a_bad_sentence_or_names_and_skips_it(sample: Path, broken: Path) -> None:
    stopped = run("info", broken)
    assert (stopped.returncode, stopped.stdout) == (1, "")
    assert "HEAD is 99" in stopped.stderr.splitlines()[-1]
    skipped = run("info", "--on-error", "skip", "--format", "json", broken)
    assert skipped.returncode == 0
    assert json.loads(skipped.stdout)["rows"][0]["sentences"] == facts(sample)["sentences"] - 1
    assert "HEAD is 99" in skipped.stderr
    assert "skipped 1 sentence" in skipped.stderr


@pytest.mark.parametrize(
    "command",
    [
        "info SAMPLE",
        "info --graphs SAMPLE",
        "stats --train SAMPLE",
        "stats --graphs --train SAMPLE",
        "coverage --train SAMPLE",
        "coverage --graphs --train SAMPLE",
        "evaluate SAMPLE SAMPLE",
        "evaluate --graphs SAMPLE SAMPLE",
        "compare SAMPLE SAMPLE SAMPLE --samples 10",
        "models",
        "encodings",
        "encodings --graphs",
    ],
)
def test_tables_go_to_a_file_as_they_do_to_standard_output(command: str, sample: Path, tmp_path: Path) -> None:
    words = command.replace("SAMPLE", str(sample)).split()
    usual = run(*words, "--format", "markdown")
    assert usual.stdout.count("\n|") > 1, usual.stderr
    file = tmp_path / "table.md"
    done = run(*words, "--format", "markdown", "-o", file)
    assert (done.returncode, done.stdout) == (0, "")
    assert file.read_text(encoding="utf-8") == usual.stdout
    assert [one.name for one in tmp_path.iterdir()] == ["table.md"]


def test_a_table_appears_whole_or_not_at_all(broken: Path, tmp_path: Path) -> None:
    file = tmp_path / "table.txt"
    file.write_text("of yesterday", encoding="utf-8")
    assert run("info", broken, "-o", file).returncode == 1
    assert file.read_text(encoding="utf-8") == "of yesterday"
    nowhere = run("encodings", "-o", tmp_path / "no" / "table.txt")
    assert nowhere.returncode == 1
    assert "cannot be written" in nowhere.stderr


@pytest.mark.parametrize("command", ["info", "validate"])
def test_plain_python_kernels_are_mentioned_once_and_give_the_same(command: str, sample: Path) -> None:
    pure, usual = run(command, sample, sample, ROPEWALK_PURE="1"), run(command, sample, sample)
    assert pure.stderr.count("plain Python") == 1
    assert pure.stdout == usual.stdout
    assert ("plain Python" in usual.stderr) != compiled()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and signals as POSIX has them")
def test_a_reader_that_leaves_early_is_no_news(broken: Path) -> None:
    broken.write_text("x\n" * 20_000, encoding="utf-8")
    with subprocess.Popen(
        [*PROGRAM, "validate", str(broken)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read().decode()
    assert "Traceback" not in said
    assert "BrokenPipe" not in said


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and signals as POSIX has them")
def test_an_interrupt_is_quiet() -> None:
    started = subprocess.Popen(
        [*PROGRAM, "info", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with started as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(5)  # it is waiting for its input
        process.send_signal(signal.SIGINT)
        code = process.wait(60)
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read().decode()
    assert code == 130


# Interrupts itself when a module is looked for, in one of the ways in which an import may meet an interrupt.
INTERRUPTED = """
import signal, sys

class Collected:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            if {how!r} == "lost":
                Collected()
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                if {how!r} == "turned":
                    raise ImportError("initialization failed")
                raise

sys.meta_path.insert(0, Finder())
from ropewalk.__main__ import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
@pytest.mark.parametrize("how", ["plain", "turned", "lost"])
@pytest.mark.parametrize("module", ["ropewalk.cli", "typer", "ropewalk.cli.info", "numpy", "ropewalk.kernels"])
def test_an_interrupt_at_the_start_is_quiet(module: str, how: str, sample: Path) -> None:
    program = [sys.executable, "-c", INTERRUPTED.format(module=module, how=how), "info", str(sample)]
    done = subprocess.run(program, capture_output=True, check=False, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
def test_an_interrupt_that_was_lost_comes_again() -> None:
    lost = INTERRUPTED.replace("            try:", "            return\n            try:")
    program = [sys.executable, "-c", lost.format(module="ropewalk.formats.conllu", how="lost"), "info", "-"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        code = process.wait(60)  # its input never comes
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert code == 130


@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
def test_an_interrupt_that_is_ignored_stays_so(sample: Path) -> None:
    ignoring = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    program = ignoring + INTERRUPTED.format(module="numpy", how="plain")
    done = subprocess.run([sys.executable, "-c", program, "info", str(sample)], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_program_begins_where_interrupts_are_heard() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["scripts"] == {"ropewalk": "ropewalk.__main__:main"}


def test_tables_are_written_as_the_name_of_the_file_says(sample: Path, tmp_path: Path) -> None:
    for ending in ("json", "csv", "tsv", "md", "html", "txt"):
        out = tmp_path / f"facts.{ending}"
        assert run("info", sample, "-o", out).returncode == 0
        text = out.read_text(encoding="utf-8")
        named = run("info", sample, "--format", {"md": "markdown", "txt": "table"}.get(ending, ending)).stdout
        assert text == named, ending
    assert json.loads((tmp_path / "facts.json").read_text(encoding="utf-8"))
    assert run("info", sample, "--format", "csv", "-o", tmp_path / "x.json").returncode == 0
    assert (tmp_path / "x.json").read_text(encoding="utf-8") == (tmp_path / "facts.csv").read_text(encoding="utf-8")


def commands() -> dict[str, Command]:
    program = typer.main.get_command(app_of(COMMANDS))
    assert isinstance(program, typer.core.TyperGroup)
    return {name: command for name, command in program.commands.items() if not command.hidden}


def test_help_has_sections_and_whole_summaries() -> None:
    lines = run("--help", COLUMNS="80").stdout.splitlines()
    assert [line for line in lines if line in {f"{name}:" for name in SECTIONS}] == [f"{name}:" for name in SECTIONS]
    assert sorted(COMMANDS) == sorted(name for names in SECTIONS.values() for name in names)
    assert not [line for line in lines if "..." in line and "COMMAND [ARGS]..." not in line]
    for name, command in commands().items():
        summary = (command.help or "").partition("\n")[0]
        assert 0 < len(summary) <= 50, name
        assert any(line.split(maxsplit=1) == [name, summary] for line in lines), name


def test_help_explains_every_choice_by_its_name() -> None:
    for name, command in commands().items():
        for param in command.params:
            listed = re.fullmatch(r"\[(.*)\]", param.metavar or "") if param.param_type_name == "option" else None
            choices = listed[1].split("|") if listed else getattr(param.type, "choices", ())
            for choice in () if getattr(param, "hidden", False) else choices:
                stem = str(getattr(choice, "value", choice)).split(".")[0]
                told = getattr(param, "help", "") or ""
                assert re.search(rf"(?<![\w-]){stem}(?![\w-])", told), f"{name} {param.opts}: {choice}"


def test_help_shows_what_can_be_repeated() -> None:
    for name, command in commands().items():
        context = typer.Context(command)
        for param in command.params:
            if param.nargs == -1:
                assert param.make_metavar(context).rstrip("]").endswith("..."), f"{name} {param.name}"
            elif param.multiple:
                assert "repeatable" in str(getattr(param, "help", "")), f"{name} {param.opts}"


def test_usage_leaves_out_hidden_arguments() -> None:
    for name, command in commands().items():
        assert "MOVED" not in command.get_usage(typer.Context(command, info_name=name)), name


def test_a_wrong_command_has_one_suggestion() -> None:
    done = run("prase")
    assert done.returncode == 2
    assert done.stderr.count("Did you mean") == 1
    assert "'parse'" in done.stderr
    assert "Did you mean" not in run("nonsense").stderr
