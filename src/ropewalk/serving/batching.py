"""Requests that come together are parsed together, by one thread for each model."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from ropewalk.documents import Document
from ropewalk.errors import RequestError
from ropewalk.serving.sources import cut, demand_lengths
from ropewalk.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.pipeline import Parser
    from ropewalk.serving.metrics import Metrics

    Answer = tuple["Task", Any]


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What the thread does for one request: `words` are cut or read, parsed, and an answer is made of them.

    `words` is a text, or something that gives a treebank. `finish` gets what was read and what was parsed.
    """

    words: str | Callable[[], Treebank]
    finish: Callable[[Document, Document], Any]
    parse: bool
    size: int
    answer: asyncio.Future[Any]

    @property
    def text(self) -> str | None:
        """The text that places count in, if it is one."""
        return self.words if isinstance(self.words, str) else None


class QueuedPiece(NamedTuple):
    """The sentences of one task in a treebank that it may share with others."""

    task: Task
    bank: Treebank
    sentences: range


@final
class Batcher:
    """A queue in front of one parser.

    What waits is segmented and parsed together, up to about `words` words; while other requests are being received, it
    waits for them up to `seconds`. A request that fails alone fails alone. No sentence has more than `longest` words.
    """

    def __init__(self, parser: Parser, *, words: int, seconds: float, longest: int, metrics: Metrics) -> None:
        self.parser = parser
        self.arriving = 0  # requests that are being received and may yet join
        self._words = words
        self._seconds = seconds
        self._longest = longest
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
        words: str | Callable[[], Treebank],
        finish: Callable[[Document, Document], Any],
        *,
        size: int,
        parse: bool = True,
    ) -> Any:  # noqa: ANN401 - what `finish` gives
        """Read, parse and finish in the thread; `size` is about how many words there are."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.put(Task(words, finish, parse, size, answer))
        return await answer

    def _work(self) -> None:
        last = False
        while not last and (first := self._waiting.get()) is not None:
            tasks, words = [first], first.size
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
                words += task.size
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

    def _answers(self, tasks: list[Task]) -> list[Answer]:
        answers: list[Answer] = []
        pieces = self._cut([task for task in tasks if task.text is not None], answers)
        for task in tasks:
            if not isinstance(task.words, str):
                try:
                    bank = task.words()
                    pieces.append(QueuedPiece(task, bank, range(len(bank))))
                except Exception as failure:  # noqa: BLE001 - whatever fails is the answer to this request alone
                    answers.append((task, failure))
        good = [piece for piece in pieces if self._is_short(piece, answers)]
        for piece in good:
            if not piece.task.parse:
                self._finish(piece, piece, answers)
        kinds: dict[tuple[bool, bool], list[QueuedPiece]] = {}  # what is laid end to end must be of one kind
        for piece in good:
            if piece.task.parse:
                kinds.setdefault((piece.bank.text is None, piece.bank.tokens is None), []).append(piece)
        for alike in kinds.values():
            self._parse(alike, answers)
        return answers

    def _cut(self, tasks: list[Task], answers: list[Answer]) -> list[QueuedPiece]:
        """Cut texts into sentences and words, all at once."""
        if not tasks:
            return []
        try:
            bank, counts = cut([str(task.words) for task in tasks], self.parser)
        except Exception as failure:  # noqa: BLE001 - likewise
            if len(tasks) == 1:
                answers.append((tasks[0], failure))
                return []
            return [piece for task in tasks for piece in self._cut([task], answers)]
        ends = list(itertools.accumulate(counts, initial=0))
        return [
            QueuedPiece(task, bank, range(*bounds))
            for task, bounds in zip(tasks, itertools.pairwise(ends), strict=True)
        ]

    def _is_short(self, piece: QueuedPiece, answers: list[Answer]) -> bool:
        try:
            demand_lengths(piece.bank.lengths[piece.sentences.start : piece.sentences.stop], self._longest)
        except RequestError as failure:
            answers.append((piece.task, failure))
            return False
        return True

    def _parse(self, pieces: list[QueuedPiece], answers: list[Answer]) -> None:
        try:
            whole = self.parser.treebank(_joined(pieces))
        except Exception as failure:  # noqa: BLE001 - likewise
            if len(pieces) == 1:
                answers.append((pieces[0].task, failure))
            else:
                for piece in pieces:
                    self._parse([piece], answers)
            return
        self._metrics.batch(whole.words, len(whole))
        end = 0
        for piece in pieces:
            start, end = end, end + len(piece.sentences)
            self._finish(piece, QueuedPiece(piece.task, whole, range(start, end)), answers)

    def _finish(self, given: QueuedPiece, parsed: QueuedPiece, answers: list[Answer]) -> None:
        task, generator = given.task, self.parser.generator
        read = Document(given.bank, task.text, sentences=given.sentences)
        document = Document(parsed.bank, task.text, generator, sentences=parsed.sentences)
        try:
            answers.append((task, task.finish(read, document)))
        except Exception as failure:  # noqa: BLE001 - likewise
            answers.append((task, failure))


def _joined(pieces: list[QueuedPiece]) -> Treebank:
    """Lay the sentences of all pieces end to end."""
    banks = []
    for _, group in itertools.groupby(pieces, key=lambda piece: id(piece.bank)):
        some = list(group)
        bank, chosen = some[0].bank, [number for piece in some for number in piece.sentences]
        banks.append(bank if len(chosen) == len(bank) else bank.select(np.array(chosen, dtype=np.int64)))
    return banks[0] if len(banks) == 1 else Treebank.concat(banks)


def _deliver(answers: list[Answer]) -> None:
    for task, answer in answers:
        if not task.answer.done():
            if isinstance(answer, Exception):
                task.answer.set_exception(answer)
            else:
                task.answer.set_result(answer)
