"""A function applied by several processes at once: results in order, and a process that dies is replaced.

On Linux one process loads what the function needs and forks into workers, which then share that memory; it begins as a
fresh program and does nothing else, so forking it is safe whatever the caller runs. Elsewhere each worker loads
for itself, in a process that `multiprocessing` spawns.
"""

from __future__ import annotations

import itertools
import os
import sys
from typing import TYPE_CHECKING, TypeVar

from ropewalk.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Task = TypeVar("Task")
Result = TypeVar("Result")

MOST_JOBS = 1024


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def count_of(jobs: int) -> int:
    """Tell how many processes are meant: 0 is one for each core."""
    if not isinstance(jobs, int) or not 0 <= jobs <= MOST_JOBS:
        raise OptionError(f"found {jobs!r} jobs; expected 1 to {MOST_JOBS} processes, or 0 for one on each core")
    return jobs or cores()


def apply(
    make: Callable[[], Callable[[Task], Result]],
    tasks: Iterable[Task],
    jobs: int,
    *,
    here: Callable[[Task], Result] | None = None,
    share: bool = sys.platform == "linux",
) -> Iterator[Result]:
    """Apply a function to tasks in `jobs` processes; results come in the order of the tasks, and as they are needed.

    `make` gives the function. It is pickled, and called in each worker, or with `share` once for all of them. A task
    whose worker dies is given to another; the third time it is a `WorkerError`. An exception of the function is raised
    here, when its turn comes. With one job, or for one task alone, no process is started, and the function is `here`;
    it is also applied here as long as workers are still being started.
    """
    if jobs == 1:
        yield from map(here or make(), tasks)
        return
    waiting = iter(tasks)
    first = list(itertools.islice(waiting, 2))
    if len(first) < 2:
        yield from map(here or make(), first)
        return
    from ropewalk.parallel.processes import results

    yield from results(make, itertools.chain(first, waiting), jobs, here=here, share=share)
