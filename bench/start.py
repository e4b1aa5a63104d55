"""Cold start of two trees side by side: `python bench/start.py OLD NEW [--model en] [--runs 20]`.

OLD and NEW are clones of the repository with compiled kernels. Programs of both are run in turns by this Python, with
`PYTHONPATH` set to the tree's `src`: `ropewalk.load`, and `ropewalk parse` of one sentence. CPU time counts, the least
of several runs and the median. It exits with 1 if NEW takes more than 0.9 of what OLD takes at least.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MOST = 0.9  # of the old
SENTENCE = "The old dog slept."


def cpu(arguments: list[str], tree: Path, cache: str) -> float:
    """Run Python with a tree's package, and return the CPU time in milliseconds."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = kept | {"PYTHONPATH": str(tree / "src"), "PYTHONPYCACHEPREFIX": cache}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> int:
    """Measure, print, and say whether the bar is met."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("old", type=Path, help="a clone at the earlier commit")
    options.add_argument("new", type=Path, help="a clone at the later one")
    options.add_argument("--model", default="en")
    options.add_argument("--runs", type=int, default=20)
    given = options.parse_args()
    trees = (given.old.resolve(), given.new.resolve())
    programs = {
        "load": ["-c", f"import ropewalk; parser = ropewalk.load({given.model!r})"],
        "parse": ["-m", "ropewalk", "parse", "-m", given.model, SENTENCE],
    }
    met = True
    with tempfile.TemporaryDirectory() as cache:
        for name, arguments in programs.items():
            for tree in trees:
                cpu(arguments, tree, cache)  # which compiles the modules
            rounds = [[cpu(arguments, tree, cache) for tree in trees] for _ in range(given.runs)]
            old, new = ([one[place] for one in rounds] for place in (0, 1))
            shares = [least(new) / least(old) for least in (min, statistics.median)]
            met = met and shares[0] <= MOST
            print(
                f"{name}: least {min(old):.0f} and {min(new):.0f} ms, {shares[0]:.3f} of it; median "
                f"{statistics.median(old):.0f} and {statistics.median(new):.0f} ms, {shares[1]:.3f}; at most {MOST}",
                flush=True,
            )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
