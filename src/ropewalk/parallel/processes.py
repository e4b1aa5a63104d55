"""The implementation of `ropewalk.parallel.workers.apply`: worker processes that receive tasks and send results.

This module is imported only for more than one process.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, final

from ropewalk.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.context import SpawnProcess

Task = TypeVar("Task")
Result = TypeVar("Result")

END = b""  # the message that ends a worker
AHEAD = 2  # tasks that a worker has at a time, so that it never waits for the next
FORGIVEN = 2  # deaths of workers during the same task that are tolerated
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PROGRAM = """import sys
sys.path[:] = {path!r}
from ropewalk.parallel.processes import _fork_on_demand
_fork_on_demand({end})
"""


def results(
    make: Callable[[], Callable[[Task], Result]],
    tasks: Iterator[Task],
    jobs: int,
    *,
    here: Callable[[Task], Result] | None,
    share: bool,
) -> Iterator[Result]:
    """Yield the results of tasks, computed in `jobs` processes; the parameters are those of `workers.apply`."""
    starter = starter_of(make, share=share)
    crew = _Crew(starter, jobs)
    try:
        if here is not None:
            yield from map(here, _until(starter, tasks))
        yield from crew.results(tasks)
    finally:
        crew.close()


def starter_of(make: Callable[[], Callable[[Any], Any]], *, share: bool = sys.platform == "linux") -> Starter:
    """Return a starter of worker processes that apply the function `make()`.

    With `share`, `make` is called once and the workers are forks of that process; otherwise each worker calls it.
    """
    return _Forking(make) if share else _Spawning(make)


def _until(starter: Starter, tasks: Iterator[Task]) -> Iterator[Task]:
    """Yield tasks, for the calling process to compute, until `starter` can start a worker at once."""
    while not starter.is_ready():
        try:
            yield next(tasks)
        except StopIteration:
            return


class Starter(Protocol):
    """Protocol for objects that start worker processes; a worker ends when its connection is closed.

    A worker receives pickled tasks. It answers each with a pickled pair: True and the result of the function, or False
    and the exception that the function raised.
    """

    def is_ready(self) -> bool:
        """Return whether `start` would return, or fail, without waiting."""
        ...

    def start(self) -> Connection:
        """Start a worker process; return the connection to it."""
        ...

    def close(self) -> None:
        """Release the resources for starting workers."""
        ...


@final
class _Worker:
    """A worker process as its parent sees it.

    `way` is the connection to it. `tasks` holds the indices of its tasks; it computes the first of them. A thread puts
    its answers into the queue `heard`.
    """

    def __init__(self, way: Connection, heard: queue.SimpleQueue[tuple[_Worker, bytes | None]]) -> None:
        self.way = way
        self.tasks: deque[int] = deque()
        self._heard = heard
        self.listener = threading.Thread(target=self._hear, daemon=True)
        self.listener.start()

    def _hear(self) -> None:
        """Add each answer of the worker to the queue, and None when the worker has died."""
        with self.way:
            with contextlib.suppress(OSError, EOFError):
                while True:
                    self._heard.put((self, self.way.recv_bytes()))
            self._heard.put((self, None))


@final
class _Crew:
    """A group of up to `size` workers, their tasks, and results that wait until earlier ones are yielded."""

    def __init__(self, starter: Starter, size: int) -> None:
        self._starter = starter
        self._size = size
        self._heard: queue.SimpleQueue[tuple[_Worker, bytes | None]] = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        self._open: dict[int, bytes] = {}  # tasks without a result
        self._deaths: dict[int, int] = {}  # the number of workers that died during a task
        self._done: dict[int, bytes] = {}  # results that were not yielded yet

    def results(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield the results of `tasks` in order; `tasks` is read only a few tasks ahead for each worker."""
        waiting = enumerate(tasks)
        taken = yielded = 0
        ended = False
        while True:
            while not self._heard.empty():
                self._listen()
            # The number of stored results is bounded, also while the next task in order takes long.
            if not ended and taken - yielded < 2 * AHEAD * self._size and self._someone_free():
                task = next(waiting, None)
                ended = task is None
                if task is not None:
                    self._open[taken] = _pickled(task[1])
                    self._give(taken)
                    taken += 1
            elif yielded in self._done:
                worked, value = pickle.loads(self._done.pop(yielded))  # noqa: S301 - written by our own worker
                if not worked:
                    raise value
                yielded += 1
                yield value
            elif yielded < taken:
                self._listen()
            else:
                return

    def close(self) -> None:
        """End all workers, even those that compute a task."""
        for worker in self._workers:
            with contextlib.suppress(OSError):  # it is dead already
                worker.way.send_bytes(END)
        for worker in self._workers:
            worker.listener.join()
        self._starter.close()

    def _someone_free(self) -> bool:
        return len(self._workers) < self._size or any(len(worker.tasks) < AHEAD for worker in self._workers)

    def _give(self, number: int) -> None:
        """Send the task with index `number` to a new worker, or to the one with the fewest tasks if all are started."""
        if len(self._workers) < self._size:
            worker = _Worker(self._starter.start(), self._heard)
            self._workers.append(worker)
        else:
            worker = min(self._workers, key=lambda worker: len(worker.tasks))
        worker.tasks.append(number)
        with contextlib.suppress(OSError):  # it is dead; `_listen` handles that
            worker.way.send_bytes(self._open[number])

    def _listen(self) -> None:
        """Wait for an answer and store it. If it is the death of a worker, send its tasks to other workers.

        Raise a `WorkerError` if too many workers have died during the same task.
        """
        worker, answer = self._heard.get()
        if answer is not None:
            number = worker.tasks.popleft()
            self._done[number] = answer
            del self._open[number]
            return
        self._workers.remove(worker)
        if worker.tasks:
            number = worker.tasks[0]
            self._deaths[number] = self._deaths.get(number, 0) + 1
            if self._deaths[number] > FORGIVEN:
                raise WorkerError(number + 1, self._deaths[number])
        for number in worker.tasks:
            self._give(number)


@final
class _Forking:
    """Starter of workers that are forks of one process, in which `make` was called."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = pickle.dumps(make)
        self._begin()

    def _begin(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            program = PROGRAM.format(path=sys.path, end=theirs.fileno())
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-c", program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,  # only the parent handles interrupts from the terminal
                env=os.environ | ONE_THREAD,
            )
        self._socket = ours
        self._way = Connection(os.dup(ours.fileno()))
        self._way.send_bytes(self._make)
        self._is_ready = False

    def is_ready(self) -> bool:
        """Return whether `start` would start a worker, or fail, at once."""
        return self._is_ready or self._way.poll() or self._process.poll() is not None

    def start(self) -> Connection:
        """Fork a worker and return the connection to it; wait until the function is built."""
        if self._process.poll() is not None:  # it was killed, perhaps with its forks
            self.close()
            self._begin()
        if not self._is_ready:
            _demand_ready(self._way)
            self._is_ready = True
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._socket, [b"f"], [theirs.fileno()])
        return Connection(ours.detach())

    def close(self) -> None:
        """End the process that workers are forked from."""
        if not self._is_ready:  # it still loads, and nothing needs it
            self._process.kill()
        self._way.close()
        self._socket.close()
        self._process.wait()


@final
class _Spawning:
    """Starter of spawned workers, each of which calls `make` itself."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = pickle.dumps(make)
        self._processes: list[SpawnProcess] = []

    @staticmethod
    def is_ready() -> bool:
        """Return True: nothing is prepared in advance, so `start` can always be called."""
        return True

    def start(self) -> Connection:
        """Spawn a worker, wait until it has built the function, and return the connection to it."""
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve_spawned, args=(theirs, self._make), daemon=True)
        process.start()
        self._processes.append(process)
        theirs.close()
        _demand_ready(ours)
        return ours

    def close(self) -> None:
        """Wait until the workers have ended."""
        for process in self._processes:
            process.join()


def _demand_ready(way: Connection) -> None:
    """Wait until the process at the other end has called `make`; raise the exception that `make` raised, if any."""
    try:
        failure = pickle.loads(way.recv_bytes())  # noqa: S301 - written by our own process
    except (EOFError, OSError) as ended:
        raise WorkerError(0, 1) from ended
    if failure is not None:
        raise failure


def _make_function(way: Connection, make: bytes) -> Callable[[Any], Any] | None:
    """Unpickle and call `make`; return the function that it returns, or None if that failed.

    Send the exception, or None, to the process that started this one.
    """
    function: Callable[[Any], Any] | None = None
    failure: Exception | None = None
    try:
        function = pickle.loads(make)()  # noqa: S301 - written by the process that started this one
    except Exception as caught:  # noqa: BLE001 - raised in the process that started this one
        failure = caught
    try:
        way.send_bytes(_pickled(failure))
    except OSError:  # the process that started this one was killed meanwhile
        return None
    return function


def _fork_on_demand(end: int) -> None:
    """Run the process that workers are forked from: build the function, then fork a worker for each request.

    `end` is the file descriptor of the socket on which the pickled `make` and then the workers' connections arrive.
    """
    with Connection(os.dup(end)) as way:
        try:
            make = way.recv_bytes()
        except (OSError, EOFError):  # the process that started this one was killed before it could send anything
            return
        function = _make_function(way, make)
    if function is None:
        return
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the exit status of workers is not needed
    gc.collect()
    gc.freeze()  # otherwise garbage collection would write to shared pages
    requests = socket.socket(fileno=end)
    while True:
        word, files, _, _ = socket.recv_fds(requests, 1, 1)
        if not word:
            return
        if not os.fork():
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _serve(Connection(files[0]), function)
        os.close(files[0])


def _serve_spawned(way: Connection, make: bytes) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the parent handles interrupts from the terminal
    function = _make_function(way, make)
    if function is not None:
        _serve(way, function)


def _serve(way: Connection, function: Callable[[Any], Any]) -> None:
    """Run a worker: apply `function` to each task that arrives and send the result, until the connection closes."""
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    # Receives the next task while this one is computed, so that the sender never waits, and ends the process as soon as
    # the connection closes.
    threading.Thread(target=_receive, args=(way, tasks), daemon=True).start()
    while True:
        task = pickle.loads(tasks.get())  # noqa: S301 - written by the process that started this one
        try:
            answer = _pickled((True, function(task)))
        except Exception as failure:  # noqa: BLE001 - raised in the process that started this one
            answer = _pickled((False, failure))
        with contextlib.suppress(OSError):  # the other process has closed the connection
            way.send_bytes(answer)


def _receive(way: Connection, tasks: queue.SimpleQueue[bytes]) -> None:
    with contextlib.suppress(OSError, EOFError):
        while task := way.recv_bytes():
            tasks.put(task)
    os._exit(0)


def _pickled(value: object) -> bytes:
    return pickle.dumps(value, protocol=5)
