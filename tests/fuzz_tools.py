"""Tools for the fuzzers: rounds, each drawn from its own seed, until one fails or the last is done."""

from __future__ import annotations

import argparse
import faulthandler
import os
import re
import subprocess
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.errors import RopewalkError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

SECONDS = 120  # that 64 rounds may take at most, on a busy machine too


def fuzzed(rounds: int, trace: Path, *words: str) -> None:
    """Run a fuzzer in a process of its own: every round must be sound, every kind of call tried."""
    done = subprocess.run(
        [sys.executable, *words, "--rounds", str(rounds), "--trace", str(trace)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent,
    )
    assert done.returncode == 0, f"round {int(trace.read_text())}: {done.stdout}{done.stderr}"
    counted, *never = done.stdout.splitlines()
    assert counted.startswith(f"{rounds} rounds: ")
    assert not never


NO_ITEM = re.compile(r"no \w+ has index -?\d+; |sentence -?\d+ of ")


def answered(action: Callable[[], object]) -> bool:
    """Return whether a call returned; it may also raise an error of ours, or an `IndexError` that names the item."""
    try:
        action()
    except (RopewalkError, IndexError) as error:
        if isinstance(error, IndexError) and not NO_ITEM.match(str(error)):
            raise
        return False
    return True


def arguments(description: str) -> argparse.ArgumentParser:
    """Make the parser of the arguments that `run` takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=sys.maxsize)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--trace", type=Path, default=Path(os.devnull))
    return parser


def run(
    given: argparse.Namespace, names: Collection[str], one_round: Callable[[tuple[int, int]], tuple[str, bool]]
) -> int:
    """Run rounds; each says which of some names it called, and whether that took what it was given."""
    faulthandler.enable()
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", module=r"ropewalk\.kernels\..*")  # compiled kernels count on infinity in silence
    unraisable: list[str] = []
    sys.unraisablehook = lambda hook: unraisable.append(repr(hook.exc_value))  # where kernels with bounds checks report
    end = time.monotonic() + 60 * given.minutes
    taken = dict.fromkeys(names, 0)
    refused = dict.fromkeys(names, 0)
    trace = os.open(given.trace, os.O_WRONLY | os.O_CREAT)
    number = given.first
    while number < given.first + given.rounds and time.monotonic() < end:
        os.pwrite(trace, b"%020d" % number, 0)
        if (number - given.first) % 64 == 0:
            faulthandler.dump_traceback_later(SECONDS, exit=True)
        try:
            name, fine = one_round((given.seed, number))
        except Exception:  # noqa: BLE001 - whatever it is, it is reported
            unraisable.append(traceback.format_exc())
        if unraisable:
            sys.stdout.write(f"seed {given.seed}, round {number}: {unraisable[0]}\n")
            return 1
        (taken if fine else refused)[name] += 1
        number += 1
    faulthandler.cancel_dump_traceback_later()
    sys.stdout.write(f"{number - given.first} rounds: {sum(taken.values())} taken, {sum(refused.values())} refused\n")
    for what, times in (("took", taken), ("refused", refused)):
        sys.stdout.write("".join(f"{name} {what} nothing\n" for name in names if not times[name]))
    return 0
