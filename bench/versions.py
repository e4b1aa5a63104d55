"""Two versions side by side: what an install, a first tree and the tests take: `python bench/versions.py OLD NEW`.

OLD and NEW are clones of the repository at two commits, such as `git worktree add ../old v0.1` makes. Each is installed
into an environment of its own, in a folder that is removed at the end. CPU time counts, of a process and all that it
starts: of compiling the kernels, of `ropewalk parse "He slept."`, in turns, the best of several, and with --tests of
the README's test command as it stands there, install included. It exits with 1 if compiling takes NEW more than 60 s, a
first tree more than 0.75 of what it takes OLD, or the tests more than half.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 15
MOST_COMPILING = 60.0  # seconds of CPU
MOST_START = 0.75  # of the old
MOST_TESTS = 0.5  # likewise


def cpu(command: str, folder: Path, *, tests: bool = False) -> float:
    """Run a command in a folder, and give the CPU time of all that it starts; of tests, say how they ended."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    clean = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    words = ["bash", "-c", command]
    done = subprocess.run(words, cwd=folder, env=clean, capture_output=True, text=True, check=False)
    if tests:
        print(f"{folder.name}: {done.stdout.strip().rpartition(chr(10))[2]}", flush=True)
    elif done.returncode:
        sys.exit(f"{command} failed in {folder}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def copied(clone: Path, home: Path) -> Path:
    """Copy the files that a clone tracks, so that no earlier builds are used."""
    home.mkdir()
    cpu(f"git archive HEAD | tar -x -C {shlex.quote(str(home))}", clone)
    return home


def compiled(home: Path) -> float:
    """Install into a fresh environment, and give what compiling the kernels takes."""
    cpu("python3 -m venv env && env/bin/pip install -q -c constraints.txt setuptools wheel cython", home)
    seconds = cpu("env/bin/python setup.py -q build_ext --inplace", home)
    cpu("env/bin/pip install -q -c constraints.txt --no-build-isolation .", home)
    return seconds


def test_command(home: Path) -> str:
    """Return the README's test command."""
    lines = (home / "README.md").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith("python3 -m venv") and "pytest" in line)


def main() -> int:
    """Measure, print, and say whether all bars are met."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("old", type=Path, help="a clone at the earlier commit")
    options.add_argument("new", type=Path, help="a clone at the later one")
    options.add_argument("--tests", action="store_true", help="run the README's test command in both: half an hour")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        homes = [copied(clone, Path(scratch) / name) for name, clone in (("old", given.old), ("new", given.new))]
        compiling = [compiled(home) for home in homes]
        rounds = [[cpu("env/bin/ropewalk parse 'He slept.'", home) for home in homes] for _ in range(ROUNDS)]
        starts = [min(times) for times in zip(*rounds, strict=True)]
        tests = []
        for home in homes if given.tests else []:
            shutil.rmtree(home / "build", ignore_errors=True)
            tests.append(cpu(test_command(home), home, tests=True))
    met = [compiling[1] <= MOST_COMPILING, starts[1] <= MOST_START * starts[0]]
    print(f"compiling: {compiling[0]:.0f} s and {compiling[1]:.0f} s; at most {MOST_COMPILING:.0f} s")
    rows = [("a first tree", starts, MOST_START)]
    if tests:
        met.append(tests[1] <= MOST_TESTS * tests[0])
        rows.append(("the tests", tests, MOST_TESTS))
    for what, (old, new), most in rows:
        print(f"{what}: {old:.2f} s and {new:.2f} s, {new / old:.2f} times as long; at most {most} times")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
