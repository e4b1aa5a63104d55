"""Crews: groups of workers that compute answers, as threads of the server or as separate processes.

If a worker process dies, only the requests that it computed are affected.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import signal
import socket
import struct
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, final

from ropewalk.errors import RopewalkError, WorkerError
from ropewalk.parallel.processes import starter_of
from ropewalk.serving.computing import HELP, Computer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from multiprocessing.connection import Connection

    from ropewalk.serving.computing import Answers, ServedModel
    from ropewalk.serving.settings import Settings

    Compute = Callable[[Sequence[Any]], Awaitable[Answers]]

HELPERS = 2  # threads for the lane `HELP`
RESTART = 0.5  # seconds until the next attempt to start a worker process
LENGTH = struct.Struct("!i")  # precedes each message, as in `multiprocessing.connection.Connection`
IGNORED = ("SIGINT", "SIGTERM", "SIGHUP")  # only the server handles them, also if the whole process group gets them
logger = logging.getLogger("ropewalk.serving")


class Crew(Protocol):
    """Protocol for crews: groups of `size` workers with the same models.

    Jobs belong to lanes. A lane is the name of a model, or `HELP` for jobs that are not parsed in batches.
    """

    size: int
    models: Mapping[str, ServedModel]

    def parallel(self, lane: str) -> int:
        """Return the number of workers that can compute jobs of a lane at the same time."""
        ...

    def worker(self, lane: str) -> AbstractAsyncContextManager[Compute]:
        """Wait for a free worker; yield a function that computes a batch of jobs with it.

        That function raises a `WorkerError` if the worker dies before it has answered.
        """
        ...

    async def start(self) -> None:
        """Start the workers in the running event loop; return when they are ready for jobs."""
        ...

    def stop(self) -> None:
        """End all workers. A second call has no effect."""
        ...


@final
class Threads:
    """Crew of threads in this process: one for each model, and `HELPERS` for the lane `HELP`."""

    size = 1

    def __init__(self, computer: Computer) -> None:
        self.models: Mapping[str, ServedModel] = computer.models
        self._computer = computer
        self._pools = {lane: ThreadPoolExecutor(self.parallel(lane), "ropewalk") for lane in (HELP, *computer.models)}

    def parallel(self, lane: str) -> int:
        """Return the number of threads of a lane."""
        return HELPERS if lane == HELP else 1

    @asynccontextmanager
    async def worker(self, lane: str) -> AsyncIterator[Compute]:
        """Yield a function that computes jobs in a thread of the lane.

        It does not wait for a free thread; callers use at most `parallel(lane)` at a time.
        """
        loop = asyncio.get_running_loop()
        yield lambda jobs: loop.run_in_executor(self._pools[lane], self._computer.answers, lane, jobs)

    async def start(self) -> None:
        """Parse a sentence with each model, so that the first request is not slow."""
        self._computer.warm_up()

    def stop(self) -> None:
        """Wait for running jobs, then end the threads."""
        for pool in self._pools.values():
            pool.shutdown()


@final
class Processes:
    """Crew of worker processes. The models are loaded once and shared by all workers; a worker that dies is replaced.

    The server process loads no model and computes no answers. It owns the connections to clients and the queues, so the
    death of a worker affects only the jobs of that worker. When the server ends, the connections to its workers close,
    and the workers end too.
    """

    def __init__(self, settings: Settings, size: int) -> None:
        self.size = size
        self._starter = starter_of(partial(_compute_apart, settings))
        try:
            self._new = [self._starter.start() for _ in range(size)]
            self.models: Mapping[str, ServedModel] = _models_of(self._new[0])
        except BaseException:
            self._starter.close()
            raise
        self._stopping = False
        self._starting = asyncio.Lock()
        self._idle: asyncio.Queue[_Process] = asyncio.Queue()
        self._workers: set[_Process] = set()
        self._replacements: set[asyncio.Task[None]] = set()

    def parallel(self, lane: str) -> int:  # noqa: ARG002 - any worker computes for any lane
        """Return the number of workers, each of which computes jobs of any lane."""
        return self.size

    @asynccontextmanager
    async def worker(self, lane: str) -> AsyncIterator[Compute]:
        """Wait for an idle worker; yield a function that computes jobs of the lane with it."""
        while (worker := await self._idle.get()).is_dead:
            pass
        try:
            yield partial(worker.compute, lane)
        finally:
            if not worker.is_dead:
                self._idle.put_nowait(worker)

    async def start(self) -> None:
        """Connect the workers to the event loop; parse a sentence in each, so that the first request is not slow."""
        for channel in self._new:
            try:
                await self._employ(channel)
            except WorkerError:
                self._replace()

    def stop(self) -> None:
        """End all workers, even those that compute jobs."""
        self._stopping = True
        for replacement in self._replacements:
            replacement.cancel()
        for channel in self._new:
            channel.close()
        for worker in self._workers:
            worker.close()
        self._starter.close()

    async def _employ(self, channel: Connection) -> None:
        with channel:
            end = socket.socket(fileno=os.dup(channel.fileno()))
        worker = _Process()
        await asyncio.get_running_loop().create_unix_connection(lambda: worker, sock=end)
        try:
            await worker.compute(HELP, [Computer.warm_up])
        except BaseException:  # also if the server stops meanwhile
            worker.close()
            raise
        worker.mourn = self._lose
        self._workers.add(worker)
        self._idle.put_nowait(worker)

    def _lose(self, worker: _Process) -> None:
        self._workers.discard(worker)
        if not self._stopping:
            self._replace()

    def _replace(self) -> None:
        logger.error("a worker process died and is replaced")
        replacement = asyncio.get_running_loop().create_task(self._replacement())
        self._replacements.add(replacement)
        replacement.add_done_callback(self._replacements.discard)

    async def _replacement(self) -> None:
        """Start a new worker; try again every `RESTART` seconds until it works."""
        while True:
            try:
                async with self._starting:
                    channel = await asyncio.to_thread(self._starter.start)
                return await self._employ(channel)
            except Exception as failure:  # noqa: BLE001 - the other workers go on
                logger.error("cannot start a worker process: %s", failure)  # noqa: TRY400 - no traceback for users
                await asyncio.sleep(RESTART)


@final
class _Process(asyncio.Protocol):
    """Connection to a worker process in the server's event loop; the worker computes one batch at a time."""

    def __init__(self) -> None:
        self.is_dead = False
        self.mourn: Callable[[_Process], None] | None = None  # called when it dies
        self._answer: asyncio.Future[bytes] | None = None
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the connection to the worker process."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - as for every stream
        self._transport = transport

    async def compute(self, lane: str, jobs: Sequence[Any]) -> Answers:
        """Compute jobs of a lane in the worker process; raise a `WorkerError` if it is dead or dies."""
        if self.is_dead:
            raise WorkerError(0, 1)
        message = pickle.dumps((lane, jobs), protocol=5)
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(LENGTH.pack(len(message)) + message)
        return _unpickled(await self._answer)

    def data_received(self, data: bytes) -> None:
        """Collect bytes from the worker; when an answer is complete, deliver it to `compute`."""
        self._received += data
        if len(self._received) < LENGTH.size:
            return
        (size,) = LENGTH.unpack_from(self._received)
        if len(self._received) == LENGTH.size + size:
            answer = bytes(self._received[LENGTH.size :])
            self._received.clear()
            if self._answer is not None and not self._answer.done():
                self._answer.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - dead is dead
        """Mark the process as dead, fail its running jobs, and call `mourn`."""
        self.is_dead = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(WorkerError(0, 1))
        if self.mourn is not None:
            self.mourn(self)

    def close(self) -> None:
        """Close the connection, which ends the worker process."""
        with suppress(RuntimeError):  # the event loop, and with it the connection, has ended
            self._transport.abort()


def _models_of(channel: Connection) -> Mapping[str, ServedModel]:
    """Ask a worker process for the facts about its models; return them by name."""
    try:
        channel.send_bytes(pickle.dumps((HELP, [_models])))
        answer = channel.recv_bytes()
    except (OSError, EOFError) as ended:
        raise WorkerError(0, 1) from ended
    models: Mapping[str, ServedModel] = _unpickled(answer).values[0]
    return models


def _models(computer: Computer) -> Mapping[str, ServedModel]:
    return computer.models


def _unpickled(answer: bytes) -> Answers:
    worked, value = pickle.loads(answer)  # noqa: S301 - written by our own worker
    if not worked:
        raise value
    answers: Answers = value
    return answers


def _compute_apart(settings: Settings) -> Callable[[tuple[str, Sequence[Any]]], Answers]:
    """Load the models in a worker process; return the function that computes the answers to (lane, jobs)."""
    for name in IGNORED:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    computer = Computer.load(settings)

    def compute(task: tuple[str, Sequence[Any]]) -> Answers:
        answers = computer.answers(*task)
        return answers._replace(values=[_portable(value) for value in answers.values])

    return compute


def _portable(value: Any) -> Any:  # noqa: ANN401 - an answer or an exception
    """Return `value`, or a `RuntimeError` with the traceback as message if it is an exception of another package.

    Such an exception may not be picklable, and pickling would lose its traceback.
    """
    if isinstance(value, Exception) and not isinstance(value, RopewalkError):
        return RuntimeError("".join(traceback.format_exception(value)))
    return value
