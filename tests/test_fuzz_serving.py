"""A server holds against malformed requests, and loses nothing when its processes are killed.

`make fuzz` goes on for longer.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from conftest import REPOSITORY


def fuzzed(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=REPOSITORY / "tests"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("workers", ["1", "2"])
def test_malformed_requests_are_answered_in_good_form_and_hurt_nobody(workers: str) -> None:
    counted = fuzzed("fuzz_http.py", "--rounds", "300", "--workers", workers, "--seed", workers)
    found = re.match(r"300 rounds: (\d+) taken, (\d+) refused\n", counted)
    assert found
    assert int(found[1]) > 20
    assert int(found[2]) > 100


def test_nothing_is_lost_when_processes_of_a_server_are_killed() -> None:
    assert re.match(r"8 rounds, nothing lost: .*worker \d", fuzzed("fuzz_kills.py", "server", "--rounds", "8"))
