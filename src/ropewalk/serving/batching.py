"""Requests that come together are computed together."""

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

LEAST_SHARE = 256  # words that are not worth more than one worker
logger = logging.getLogger("ropewalk.serving")


@final
@dataclass(slots=True, eq=False)
class Task:
    """A job that waits for its answer."""

    job: Any  # what the lane of the batcher takes
    size: int
    answer: asyncio.Future[Any]
    deaths: int = 0


@final
class Batcher:
    """A queue of jobs for one lane of a crew.

    Jobs that wait are computed together, up to about `words` words, or shared among free workers. The queue waits up to
    `seconds` for requests that are being received, and for clients that were answered just now and may ask again. Jobs
    whose worker died are computed again, each alone.
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
        self._words = 0  # of what waits
        self._computing = 0  # batches
        self._answered = 0  # requests of the last batch, and when that was
        self._answered_at = 0.0
        self._runners: set[asyncio.Task[None]] = set()

    def arriving(self, change: int) -> None:
        """Count requests that are being received."""
        self._arriving += change
        self._changed.set()

    async def run(self, job: object, *, size: int = 1) -> Any:  # noqa: ANN401 - the job's answer
        """Return the answer to a job of about `size` words."""
        task = Task(job, size, asyncio.get_running_loop().create_future())
        self._waiting.append(task)
        self._words += size
        self._changed.set()
        self._run_more()
        return await task.answer

    def stop(self) -> None:
        """Cancel the jobs that still wait."""
        for runner in self._runners:
            runner.cancel()

    def _run_more(self) -> None:
        if len(self._runners) < self._crew.parallel(self._lane):
            self._runners.add(asyncio.create_task(self._run()))

    async def _run(self) -> None:
        """Compute batches until nothing waits."""
        while self._waiting:
            await self._compute()
        self._runners.discard(asyncio.current_task())  # at once: what comes next needs a new one

    async def _compute(self) -> None:
        """Compute one batch."""
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
        """Remove the jobs of one batch from the queue."""
        tasks: list[Task] = []
        words = 0
        free = self._crew.parallel(self._lane) - self._computing
        most = min(self._most, max(LEAST_SHARE, math.ceil(self._words / free)))
        while self._waiting and words < most and not (tasks and (tasks[0].deaths or self._waiting[0].deaths)):
            task = self._waiting.popleft()
            self._words -= task.size
            if not task.answer.done():  # its client may have gone
                tasks.append(task)
                words += task.size
        return tasks

    def _again(self, tasks: list[Task]) -> None:
        """Return jobs whose worker died to the head of the queue."""
        logger.error("a worker process died; %d requests that it computed are computed again", len(tasks))
        for task in reversed(tasks):
            task.deaths += 1
            if task.deaths > FORGIVEN:
                why = f"{task.deaths} worker processes died while they computed this request; the log says more"
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
