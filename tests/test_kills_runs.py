"""Some kills of trainings and of drivers of corpora; `python tests/fuzz_kills_runs.py` kills more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "fuzz_kills_runs.py"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, and looks into /proc")


@pytest.mark.parametrize(("kind", "kills"), [("training", 5), pytest.param("corpus", 3, marks=pytest.mark.cluster)])
def test_nothing_is_lost_by_kills_but_what_was_being_computed(kind: str, kills: int) -> None:
    words = [sys.executable, str(PROGRAM), kind, "--kills", str(kills), "--seed", "1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{kills} kills in ")
