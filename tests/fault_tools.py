"""Writers that are killed before each of their steps, and what must hold after each death.

A step is a call that changes or syncs files. As a program it kills one kind of writer at every step in turn:
`python tests/fault_tools.py KIND FOLDER`; it says how many steps there were.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ropewalk import files

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS: tuple[tuple[Any, str], ...] = (
    *((os, name) for name in ("open", "fsync", "replace", "unlink", "rmdir", "mkdir", "link", "chmod")),
    (fcntl, "flock"),
    (files, "_exchanged"),
)
OLD, NEW = b"old" * 1000, b"new" * 1000
NAMES = ("a.bin", "below/b.bin")


def kill_before(step: int) -> Callable[[], int]:
    """Let this process kill itself before its call of this number, from 1; return what says how many there were."""
    seen = 0

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - whatever the call takes and gives
            nonlocal seen
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*given, **named)

        return counting

    for home, name in CALLS:
        setattr(home, name, counted(getattr(home, name)))
    return lambda: seen


def sweep(write: Callable[[], None], check: Callable[[], None]) -> int:
    """Kill a writer before each of its steps, checking after each death, until it lives; say how many steps it has."""
    step = 1
    while True:
        child = os.fork()
        if not child:
            kill_before(step)
            write()
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in {0, -signal.SIGKILL}, f"step {step} ended with {status}"
        check()
        if status == 0:
            return step - 1
        step += 1


def write_file(target: Path) -> None:
    """Write a file."""
    with files.creating(target) as file:
        file.write(NEW)


def write_folder(target: Path, *, keep: bool = False) -> None:
    """Write a folder, or change a file of it."""
    with files.creating_folder(target, keep=keep) as part:
        for name in NAMES[:1] if keep else NAMES:
            files.make_folder((part / name).parent)
            write_file(part / name)


def contents(target: Path) -> set[bytes]:
    """Read all that a file or a folder holds."""
    return {(target / name).read_bytes() for name in NAMES} if target.is_dir() else {target.read_bytes()}


def kill_writers(kind: str, home: Path) -> int:
    """Kill writers of a file or a folder at every step; what they replace is there after each, the old or the new."""
    target = home / "target"
    kept = kind == "kept"
    if kind == "aside":
        files._exchanged = lambda *_: False
    whole = [{OLD}, {OLD, NEW} if kept else {NEW}]

    def begin() -> None:
        for name in ("target",) if kind == "file" else (f"target/{name}" for name in NAMES):
            (home / name).parent.mkdir(exist_ok=True)
            (home / name).write_bytes(OLD)

    def write() -> None:
        if kind == "file":
            write_file(target)
        else:
            write_folder(target, keep=kept)

    def check() -> None:
        if kind == "aside":  # without an exchange there is none for a moment; the next run puts it back
            files.tidy(home)
        assert contents(target) in whole, "neither the old nor the new"
        write_file(home / "other")  # the next run, which tidies up once in a process
        files._tidy_once.cache_clear()
        assert sorted(file.name for file in home.iterdir()) == ["other", "target"]
        begin()

    begin()
    return sweep(write, check)


if __name__ == "__main__":
    sys.stdout.write(f"{kill_writers(sys.argv[1], Path(sys.argv[2]))} steps\n")
