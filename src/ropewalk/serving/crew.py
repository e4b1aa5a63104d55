"""Where answers are computed: in threads of the server, or in processes that may die without harm to other requests."""

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
LENGTH = struct.Struct("!i")  # comes before each message, as `multiprocessing.connection.Connection` has it
IGNORED = ("SIGINT", "SIGTERM", "SIGHUP")  # for the server to handle, also where a whole group of processes gets them
logger = logging.getLogger("ropewalk.serving")


class Crew(Protocol):
    """Protocol for what computes: `size` workers that have the same models. A lane is a model's name, or `HELP`."""

    size: int
    models: Mapping[str, ServedModel]

    def parallel(self, lane: str) -> int:
        """Return how many workers may compute for a lane at a time."""
        ...

    def worker(self, lane: str) -> AbstractAsyncContextManager[Compute]:
        """Wait for a free worker; it raises a `WorkerError` if it dies before it has answered."""
        ...

    async def start(self) -> None:
        """Begin to work for the running event loop."""
        ...

    def stop(self) -> None:
        """End all workers; nothing happens the second time."""
        ...


@final
class Threads:
    """A thread of this process for each model, and some for the lane `HELP`."""

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
        """Provide a thread, which is free if no more than `parallel` are used."""
        loop = asyncio.get_running_loop()
        yield lambda jobs: loop.run_in_executor(self._pools[lane], self._computer.answers, lane, jobs)

    async def start(self) -> None:
        """Warm up."""
        self._computer.warm_up()

    def stop(self) -> None:
        """Finish what has begun, and end."""
        for pool in self._pools.values():
            pool.shutdown()


@final
class Processes:
    """Worker processes. The models are loaded once and shared by all of them; a worker that dies is replaced.

    The server itself loads no model and computes nothing. Connections and queues are its own, so a worker's death
    concerns only what that worker was computing. Workers end when the server does, because their channels end.
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
        """Return the number of workers."""
        return self.size

    @asynccontextmanager
    async def worker(self, lane: str) -> AsyncIterator[Compute]:
        """Wait for an idle worker."""
        while (worker := await self._idle.get()).is_dead:
            pass
        try:
            yield partial(worker.compute, lane)
        finally:
            if not worker.is_dead:
                self._idle.put_nowait(worker)

    async def start(self) -> None:
        """Connect to the workers and warm them up."""
        for channel in self._new:
            try:
                await self._employ(channel)
            except WorkerError:
                self._replace()

    def stop(self) -> None:
        """End all workers, whatever they compute."""
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
        """Start a worker, however many attempts it takes."""
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
    """A worker process as the server's event loop sees it. It computes one thing at a time."""

    def __init__(self) -> None:
        self.is_dead = False
        self.mourn: Callable[[_Process], None] | None = None  # called when it dies
        self._answer: asyncio.Future[bytes] | None = None
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - as for every stream
        self._transport = transport

    async def compute(self, lane: str, jobs: Sequence[Any]) -> Answers:
        """Compute jobs in the process."""
        if self.is_dead:
            raise WorkerError(0, 1)
        message = pickle.dumps((lane, jobs), protocol=5)
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(LENGTH.pack(len(message)) + message)
        return _unpickled(await self._answer)

    def data_received(self, data: bytes) -> None:
        """Collect the bytes of an answer."""
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
        """Note that the process is dead."""
        self.is_dead = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(WorkerError(0, 1))
        if self.mourn is not None:
            self.mourn(self)

    def close(self) -> None:
        """End the process."""
        with suppress(RuntimeError):  # the event loop has ended before, and the connection with it
            self._transport.abort()


def _models_of(channel: Connection) -> Mapping[str, ServedModel]:
    """Ask a worker which models it has."""
    try:
        channel.send_bytes(pickle.dumps((HELP, [_models])))
        answer = channel.recv_bytes()
    except (OSError, EOFError) as ended:
        raise WorkerError(0, 1) from ended
    found: Mapping[str, ServedModel] = _unpickled(answer).values[0]
    return found


def _models(computer: Computer) -> Mapping[str, ServedModel]:
    return computer.models


def _unpickled(answer: bytes) -> Answers:
    worked, value = pickle.loads(answer)  # noqa: S301 - written by our own worker
    if not worked:
        raise value
    found: Answers = value
    return found


def _compute_apart(settings: Settings) -> Callable[[tuple[str, Sequence[Any]]], Answers]:
    """Load the models in a process of its own, and return what computes there."""
    for name in IGNORED:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    computer = Computer.load(settings)

    def compute(task: tuple[str, Sequence[Any]]) -> Answers:
        answers = computer.answers(*task)
        return answers._replace(values=[_portable(value) for value in answers.values])

    return compute


def _portable(value: Any) -> Any:  # noqa: ANN401 - an answer or an exception
    """Replace an exception that may not be picklable, and whose traceback would be lost, with its traceback."""
    if isinstance(value, Exception) and not isinstance(value, RopewalkError):
        return RuntimeError("".join(traceback.format_exception(value)))
    return value
