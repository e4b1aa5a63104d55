"""Parallel application of a function to tasks in several worker processes; dead workers are replaced.

On Linux one process builds the function, for example loads a model, and then forks into workers, which share its
memory. That process starts as a fresh program without threads, so forking it is safe for every caller. On other systems
each worker is a process that `multiprocessing` spawns, and builds the function itself.
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
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def count_of(jobs: int) -> int:
    """Return the number of processes for the option `jobs`: `jobs` itself, or the number of cores if it is 0.

    Raise an `OptionError` if it is no integer from 0 to `MOST_JOBS`.
    """
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
    """Apply a function to tasks in `jobs` worker processes; yield the results in the order of the tasks.

    `make()` returns the function. `make` is pickled and called once in each worker, or with `share` once for all of
    them. An exception of the function is raised in the calling process, when the result of its task is due. If a worker
    dies, its task is sent to another worker; the third death during one task raises a `WorkerError`.

    `here` is a function with the same results for use in the calling process. It is applied to tasks until the workers
    are ready. With one job, or only one task, no worker is started, and `here`, or else `make()`, is applied to all.
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
