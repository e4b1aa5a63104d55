"""Whatever is read, damaged CoNLL-U, labels, texts or JSON, there is an answer that holds together or an error of ours.

All of it runs in processes of its own, so that a crash is a failure like any other; `make fuzz` goes on for longer.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = {"conllu": 300, "labels": 300, "texts": 120, "json": 300}  # about a second of each


@pytest.mark.parametrize("kind", ROUNDS)
def test_damaged_inputs_give_an_answer_or_a_documented_error(kind: str, tmp_path: Path) -> None:
    trace = tmp_path / "round"
    done = subprocess.run(
        [sys.executable, "fuzz_inputs.py", kind, "--rounds", str(ROUNDS[kind]), "--trace", str(trace)],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY / "tests",
    )
    assert done.returncode == 0, f"round {int(trace.read_text())}: {done.stdout}{done.stderr}"
    counted, *never = done.stdout.splitlines()
    assert counted.startswith(f"{ROUNDS[kind]} rounds: ")
    assert not never
