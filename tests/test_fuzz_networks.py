"""Networks of strangers are refused, or read as ONNX Runtime reads them; `make fuzz` goes on for longer."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from conftest import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = 600  # a few seconds


def test_networks_of_strangers_are_refused_or_bounded(tmp_path: Path) -> None:
    trace = tmp_path / "round"
    done = subprocess.run(
        [sys.executable, "fuzz_networks.py", "--rounds", str(ROUNDS), "--trace", str(trace)],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY / "tests",
    )
    assert done.returncode == 0, f"round {int(trace.read_text())}: {done.stdout}{done.stderr}"
    counted, *never = done.stdout.splitlines()
    assert counted.startswith(f"{ROUNDS} rounds: ")
    assert not never
