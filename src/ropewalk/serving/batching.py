"""Batching: requests that arrive at about the same time are parsed together."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from ropewalk.errors import RequestError, WorkerError
from ropewalk.parallel.processes import FORGIVEN
from ropewalk.serving.computing import Answers

if TYPE_CHECKING:
    from ropewalk.serving.crew import Crew
    from ropewalk.serving.metrics import Metrics

LEAST_SHARE = 256  # words; fewer are not divided among workers
logger = logging.getLogger("ropewalk.serving")


@final
@dataclass(slots=True, eq=False)
class Task:
    """A queued job: its size in words, the future of its answer, and the number of workers that died during it."""

    job: Any  # of the type that the batcher's lane accepts
    size: int
    answer: asyncio.Future[Any]
    deaths: int = 0


@final
class Batcher:
    """Queue of jobs for one lane of a crew: jobs to parse with one model, or other jobs (`HELP`).

    Waiting jobs of up to about `words` words are computed in one batch; if several workers are free, the jobs are
    divided among them. A batch waits up to `seconds` for requests that are still being received, and for clients that
    have just received an answer and may send another request. If a worker dies, its jobs are computed again, one by
    one.
    """

    def __init__(self, crew: Crew, lane: str, metrics: Metrics, *, words: int = 1, seconds: float = 0.0) -> None:
        self._crew = crew
        self._lane = lane
        self._metrics = metrics
        self._most = words
        self._seconds = seconds
        self._arriving = 0  # requests that are being received and may yet join
        self._changed = asyncio.Event()
        self._waiting: deque[Task] = deque()
        self._words = 0  # of waiting jobs
        self._computing = 0  # the number of batches
        self._answered = 0  # requests of the last batch, and the time of its answers
        self._answered_at = 0.0
        self._runners: set[asyncio.Task[None]] = set()

    def arriving(self, change: int) -> None:
        """Add `change`, 1 or -1, to the number of requests that are being received; batches wait for them."""
        self._arriving += change
        self._changed.set()

    async def run(self, job: object, *, size: int = 1) -> Any:  # noqa: ANN401 - the job's answer
        """Queue a job of about `size` words; wait for its answer and return it, or raise its exception."""
        task = Task(job, size, asyncio.get_running_loop().create_future())
        self._waiting.append(task)
        self._words += size
        self._changed.set()
        if len(self._runners) < self._crew.parallel(self._lane):
            self._runners.add(asyncio.create_task(self._run()))
        return await task.answer

    def stop(self) -> None:
        """Cancel the tasks that compute batches; waiting jobs get no answer."""
        for runner in self._runners:
            runner.cancel()

    async def _run(self) -> None:
        """Compute batches until no job waits."""
        while self._waiting:
            await self._compute()
        self._runners.discard(asyncio.current_task())  # at once, so that the next job starts a new runner

    async def _compute(self) -> None:
        """Compute one batch of waiting jobs with a free worker, and deliver the answers."""
        await self._expect_others()
        async with self._crew.worker(self._lane) as compute:
            tasks = self._taken()
            if not tasks:
                return
            self._computing += 1
            try:
                answers = await compute([task.job for task in tasks])
            except WorkerError:
                self._again(tasks)
                return
            except Exception as failure:  # noqa: BLE001 - the requests fail, the queue goes on
                answers = Answers([failure] * len(tasks), [])
            finally:
                self._computing -= 1
        for words, sentences in answers.parsed:
            self._metrics.batch(words, sentences)
        self._deliver(tasks, answers.values)
        self._answered, self._answered_at = len(tasks), time.monotonic()

    async def _expect_others(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._seconds):
                while self._words < self._most and (self._arriving or self._may_ask_again()):
                    self._changed.clear()
                    await self._changed.wait()

    def _may_ask_again(self) -> bool:
        return len(self._waiting) < self._answered and time.monotonic() < self._answered_at + self._seconds

    def _taken(self) -> list[Task]:
        """Remove the jobs of the next batch from the queue and return them.

        A job during which a worker has died is a batch of its own.
        """
        tasks: list[Task] = []
        words = 0
        free = self._crew.parallel(self._lane) - self._computing
        most = min(self._most, max(LEAST_SHARE, math.ceil(self._words / free)))
        while self._waiting and words < most and not (tasks and (tasks[0].deaths or self._waiting[0].deaths)):
            task = self._waiting.popleft()
            self._words -= task.size
            if not task.answer.done():  # its client may have disconnected
                tasks.append(task)
                words += task.size
        return tasks

    def _again(self, tasks: list[Task]) -> None:
        """Return jobs whose worker died to the front of the queue, so that they are computed again.

        A job during which too many workers have died is answered with an error 500 instead.
        """
        logger.error("a worker process died; %d requests that it computed are computed again", len(tasks))
        for task in reversed(tasks):
            task.deaths += 1
            if task.deaths > FORGIVEN:
                why = f"{task.deaths} worker processes died while they computed this request; see the server's log"
                self._deliver([task], [RequestError(500, why)])
            else:
                self._waiting.appendleft(task)
                self._words += task.size

    @staticmethod
    def _deliver(tasks: list[Task], answers: list[Any]) -> None:
        for task, answer in zip(tasks, answers, strict=True):
            if task.answer.done():
                continue
            if isinstance(answer, Exception):
                task.answer.set_exception(answer)
            else:
                task.answer.set_result(answer)
