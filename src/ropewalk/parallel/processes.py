"""The processes that `ropewalk.parallel.workers.apply` starts: given tasks, listened to, and replaced when they die.

Loaded when there is more than one process.
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

END = b""  # what ends a worker
AHEAD = 2  # tasks that a worker has at a time, so that it never waits for the next
FORGIVEN = 2  # deaths of workers with the same task under way
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
    """Apply a function to tasks in `jobs` processes, as `ropewalk.parallel.workers.apply` says."""
    starter = starter_of(make, share=share)
    crew = _Crew(starter, jobs)
    try:
        if here is not None:
            yield from map(here, _until(starter, tasks))
        yield from crew.results(tasks)
    finally:
        crew.close()


def starter_of(make: Callable[[], Callable[[Any], Any]], *, share: bool = sys.platform == "linux") -> Starter:
    """Return what starts workers that apply the function made by `make`; with `share` it is made once for all."""
    return _Forking(make) if share else _Spawning(make)


def _until(starter: Starter, tasks: Iterator[Task]) -> Iterator[Task]:
    """Give tasks one by one as long as no worker could take the next."""
    while not starter.is_ready():
        try:
            yield next(tasks)
        except StopIteration:
            return


class Starter(Protocol):
    """Protocol for what starts workers, each of which ends when the connection to it is closed.

    A worker receives pickled tasks, and answers each with a pickled pair: whether the function returned, and its result
    or exception.
    """

    def is_ready(self) -> bool:
        """Return whether `start` would not wait."""
        ...

    def start(self) -> Connection:
        """Start a worker, and return the connection to it."""
        ...

    def close(self) -> None:
        """Free what is needed to start workers."""
        ...


@final
class _Worker:
    """A worker as it is seen from here: the way to it, and the tasks that it has, the first of them under way."""

    def __init__(self, way: Connection, heard: queue.SimpleQueue[tuple[_Worker, bytes | None]]) -> None:
        self.way = way
        self.tasks: deque[int] = deque()
        self._heard = heard
        self.listener = threading.Thread(target=self._hear, daemon=True)
        self.listener.start()

    def _hear(self) -> None:
        """Put what the worker says where others find it, and None when it is dead."""
        with self.way:
            with contextlib.suppress(OSError, EOFError):
                while True:
                    self._heard.put((self, self.way.recv_bytes()))
            self._heard.put((self, None))


@final
class _Crew:
    """Some workers, what each does, and results that wait for their turn."""

    def __init__(self, starter: Starter, size: int) -> None:
        self._starter = starter
        self._size = size
        self._heard: queue.SimpleQueue[tuple[_Worker, bytes | None]] = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        self._open: dict[int, bytes] = {}  # tasks without a result
        self._deaths: dict[int, int] = {}  # how many workers died of a task
        self._done: dict[int, bytes] = {}  # results that were not given out yet

    def results(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Give the results of tasks in order; no more tasks are taken than keep the workers busy."""
        waiting = enumerate(tasks)
        taken = given = 0
        ended = False
        while True:
            while not self._heard.empty():
                self._listen()
            # What is held is bounded also while the task whose turn it is takes long.
            if not ended and taken - given < 2 * AHEAD * self._size and self._someone_free():
                task = next(waiting, None)
                ended = task is None
                if task is not None:
                    self._open[taken] = _pickled(task[1])
                    self._give(taken)
                    taken += 1
            elif given in self._done:
                worked, value = pickle.loads(self._done.pop(given))  # noqa: S301 - written by our own worker
                if not worked:
                    raise value
                given += 1
                yield value
            elif given < taken:
                self._listen()
            else:
                return

    def close(self) -> None:
        """End all workers, whatever they do."""
        for worker in self._workers:
            with contextlib.suppress(OSError):  # it is dead already
                worker.way.send_bytes(END)
        for worker in self._workers:
            worker.listener.join()
        self._starter.close()

    def _someone_free(self) -> bool:
        return len(self._workers) < self._size or any(len(worker.tasks) < AHEAD for worker in self._workers)

    def _give(self, number: int) -> None:
        """Give a task to who has the least to do; until there are enough workers, to a new one."""
        if len(self._workers) < self._size:
            worker = _Worker(self._starter.start(), self._heard)
            self._workers.append(worker)
        else:
            worker = min(self._workers, key=lambda one: len(one.tasks))
        worker.tasks.append(number)
        with contextlib.suppress(OSError):  # it is dead, as `_listen` will find
            worker.way.send_bytes(self._open[number])

    def _listen(self) -> None:
        """Wait for a result, or for the death of a worker, whose tasks others get."""
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
    """Starts workers as forks of one process that has made the function."""

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
                process_group=0,  # an interrupt from the terminal is ours to handle
                env=os.environ | ONE_THREAD,
            )
        self._socket = ours
        self._way = Connection(os.dup(ours.fileno()))
        self._way.send_bytes(self._make)
        self._is_ready = False

    def is_ready(self) -> bool:
        """Tell whether a worker could be started at once, or it is known why not."""
        return self._is_ready or self._way.poll() or self._process.poll() is not None

    def start(self) -> Connection:
        """Start a worker."""
        if self._process.poll() is not None:  # killed, and its forks perhaps too
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
        """End the process that forks."""
        if not self._is_ready:  # nobody waits for what it loads
            self._process.kill()
        self._way.close()
        self._socket.close()
        self._process.wait()


@final
class _Spawning:
    """Starts workers that make the function each for itself."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = pickle.dumps(make)
        self._processes: list[SpawnProcess] = []

    @staticmethod
    def is_ready() -> bool:
        """Tell that a worker loads when it is started."""
        return True

    def start(self) -> Connection:
        """Start a worker."""
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
    """Wait until the function is made, or raise what went wrong."""
    try:
        failure = pickle.loads(way.recv_bytes())  # noqa: S301 - written by our own process
    except (EOFError, OSError) as ended:
        raise WorkerError(0, 1) from ended
    if failure is not None:
        raise failure


def _make_function(way: Connection, make: bytes) -> Callable[[Any], Any] | None:
    """Make the function, and tell the other side whether that worked."""
    function: Callable[[Any], Any] | None = None
    failure: Exception | None = None
    try:
        function = pickle.loads(make)()  # noqa: S301 - written by the process that started this one
    except Exception as caught:  # noqa: BLE001 - raised where somebody can handle it
        failure = caught
    try:
        way.send_bytes(_pickled(failure))
    except OSError:  # the process that started this one was killed meanwhile
        return None
    return function


def _fork_on_demand(end: int) -> None:
    """Run the process that forks: make the function, then a worker for each connection that comes in."""
    with Connection(os.dup(end)) as way:
        try:
            make = way.recv_bytes()
        except (OSError, EOFError):  # the process that started this one was killed before it could send anything
            return
        function = _make_function(way, make)
    if function is None:
        return
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a worker ended
    gc.collect()
    gc.freeze()  # or collecting would write to shared pages
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt from the terminal is for the process that started us
    function = _make_function(way, make)
    if function is not None:
        _serve(way, function)


def _serve(way: Connection, function: Callable[[Any], Any]) -> None:
    """Apply the function to what comes in until nothing can come any more."""
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    # Takes in the next task while this one is under way, so that the other side never waits to give it, and notices
    # at once when there is no other side any more.
    threading.Thread(target=_receive, args=(way, tasks), daemon=True).start()
    while True:
        task = pickle.loads(tasks.get())  # noqa: S301 - written by the process that started this one
        try:
            answer = _pickled((True, function(task)))
        except Exception as failure:  # noqa: BLE001 - raised where somebody can handle it
            answer = _pickled((False, failure))
        with contextlib.suppress(OSError):  # nobody wants it any more
            way.send_bytes(answer)


def _receive(way: Connection, tasks: queue.SimpleQueue[bytes]) -> None:
    with contextlib.suppress(OSError, EOFError):
        while task := way.recv_bytes():
            tasks.put(task)
    os._exit(0)


def _pickled(value: object) -> bytes:
    return pickle.dumps(value, protocol=5)
