"""Requests that come together are parsed together, by one thread for each model."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ropewalk.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.pipeline import Pipeline
    from ropewalk.serving.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Task:
    """What the thread does for one request: `read` words, have them parsed, and make an answer of them.

    `finish` gets what was read and what was parsed.
    """

    read: Callable[[], Treebank]
    finish: Callable[[Treebank, Treebank], Any]
    parse: bool
    words: int
    answer: asyncio.Future[Any]


@final
class Batcher:
    """A queue in front of one parser.

    What waits is parsed in one call, up to about `words` words; while other requests are being received, it waits for
    them up to `seconds`. A request that fails alone fails alone.
    """

    def __init__(self, parser: Pipeline, *, words: int, seconds: float, metrics: Metrics) -> None:
        self.parser = parser
        self.arriving = 0  # requests that are being received and may yet join
        self._words = words
        self._seconds = seconds
        self._metrics = metrics
        self._waiting: SimpleQueue[Task | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Begin to work for the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._work, name="ropewalk-parser", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish what waits, and end."""
        self._waiting.put(None)
        if self._thread is not None:
            self._thread.join()

    async def run(
        self,
        read: Callable[[], Treebank],
        finish: Callable[[Treebank, Treebank], Any],
        *,
        words: int,
        parse: bool = True,
    ) -> Any:  # noqa: ANN401 - what `finish` gives
        """Read, parse and finish in the thread; `words` is about how many there are."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.put(Task(read, finish, parse, words, answer))
        return await answer

    def _work(self) -> None:
        last = False
        while not last and (first := self._waiting.get()) is not None:
            tasks, words = [first], first.words
            until = time.monotonic() + self._seconds
            while words < self._words:
                try:
                    task = self._next(until)
                except Empty:
                    break
                if task is None:
                    last = True
                    break
                tasks.append(task)
                words += task.words
            answers = self._answers([task for task in tasks if not task.answer.cancelled()])
            assert self._loop is not None  # noqa: S101 - `start` saw to it
            self._loop.call_soon_threadsafe(_deliver, answers)

    def _next(self, until: float) -> Task | None:
        try:
            return self._waiting.get_nowait()
        except Empty:
            left = until - time.monotonic()
            if not self.arriving or left <= 0:
                raise
            return self._waiting.get(timeout=left)

    def _answers(self, tasks: list[Task]) -> list[tuple[Task, Any]]:
        answers: list[tuple[Task, Any]] = []
        found: list[tuple[Task, Treebank]] = []
        for task in tasks:
            try:
                found.append((task, task.read()))
            except Exception as failure:  # noqa: BLE001 - whatever fails is the answer to this request alone
                answers.append((task, failure))
        return answers + self._parsed(found)

    def _parsed(self, found: list[tuple[Task, Treebank]]) -> list[tuple[Task, Any]]:
        banks = [bank for task, bank in found if task.parse]
        try:
            whole = self.parser.treebank(Treebank.concat(banks)) if banks else None
        except Exception as failure:  # noqa: BLE001 - whatever fails is the answer, to this request alone
            if len(found) == 1:
                return [(found[0][0], failure)]
            return [answer for one in found for answer in self._parsed([one])]
        self._metrics.batch(sum(bank.words for bank in banks), sum(map(len, banks)))
        answers: list[tuple[Task, Any]] = []
        end = 0
        for task, bank in found:
            part = bank
            if whole is not None and task.parse:
                start, end = end, end + len(bank)
                part = whole.select(np.arange(start, end)) if len(banks) > 1 else whole
            try:
                answers.append((task, task.finish(bank, part)))
            except Exception as failure:  # noqa: BLE001 - likewise
                answers.append((task, failure))
        return answers


def _deliver(answers: list[tuple[Task, Any]]) -> None:
    for task, answer in answers:
        if not task.answer.done():
            if isinstance(answer, Exception):
                task.answer.set_exception(answer)
            else:
                task.answer.set_result(answer)
