"""Tools for tests of processes: list the descendants of a process, check that they ended, and wait for it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def children(process: int) -> list[int]:
    """The processes below a process, those of its children included."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout.split("\n")
    pairs = [tuple(map(int, line.split())) for line in listed if line.strip()]
    found = [process]
    for above in found:
        found += [pid for pid, parent in pairs if parent == above]
    return found[1:]


def workers_of(process: int) -> list[int]:
    """The workers of a program: what its child has forked."""
    return [pid for child in children(process) for pid in children(child)]


def gone(process: int) -> bool:
    """Whether a process is no more, or only its parent has not noticed."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def kill(process: int) -> None:
    """Kill a process, which may be dead already."""
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def wait_until(reached: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)
