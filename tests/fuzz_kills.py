"""Processes that are killed with SIGKILL at random moments: nothing is lost but what was being computed.

    python tests/fuzz_kills.py KIND [--rounds N] [--minutes M] [--seed S] [--first R]

KIND is one of `KINDS`. A kind is a context manager that starts programs and gives a function; each call of that waits
for a random moment, kills a process, checks what became of it, and returns the name of what was killed. A check that
fails is an `AssertionError`, also one at the end.
"""

from __future__ import annotations

import http.client
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import ropewalk
from fuzz_tools import arguments
from process_tools import children, gone, kill, wait_until, workers_of
from ropewalk.serving.process import listen
from serving_tools import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from serving_tools import Served

    Kill = Callable[[random.Random], str]

LONGEST_PAUSE = 0.4  # seconds before a kill
CLIENTS = 8
WORKERS = 2
WORDS = ("old", "rope", "maker", "walks", "slowly", "while", "children", "twist", "long", "strands", "of", "hemp")


def pause(chance: random.Random, longest: float = LONGEST_PAUSE) -> None:
    """Wait for a random moment."""
    time.sleep(chance.uniform(0, longest))


# ------------------------------------------------------------------ the server


class Load:
    """Clients that ask all the time, each over one connection, and compare every answer with the parser's own."""

    def __init__(self, server: Served, right: dict[str, str]) -> None:
        self.answered = 0
        self.wrong: list[str] = []
        self._server = server
        self._right = right
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(number,)) for number in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def _ask(self, number: int) -> None:
        texts = list(self._right)
        connection = self._server.connect()
        while not self._stop.is_set():
            number = (number + 1) % len(texts)
            body = json.dumps({"text": texts[number], "output": "conllu"})
            try:
                connection.request("POST", "/api/v1/parse", body, {"content-type": "application/json"})
                with connection.getresponse() as response:
                    status, answer = response.status, response.read().decode()
            except (OSError, http.client.HTTPException) as failure:
                self.wrong.append(repr(failure))
                break
            if (status, answer) != (200, self._right[texts[number]]):
                self.wrong.append(f"{status} {answer[:200]}")
            self.answered += 1
        connection.close()

    def expect_more(self, count: int = CLIENTS) -> None:
        """Wait for more answers, and check that all of them are right."""
        wanted = self.answered + count
        wait_until(lambda: self.answered >= wanted or bool(self.wrong))
        assert not self.wrong, self.wrong

    def end(self) -> None:
        """Let the clients end."""
        self._stop.set()
        for thread in self._threads:
            thread.join()


class Running:
    """A server under load, and all processes that it ever had."""

    def __init__(self, server: Served, right: dict[str, str]) -> None:
        self.server = server
        self.load = Load(server, right)
        self._seen: set[int] = set()

    def workers(self) -> list[int]:
        """The workers that live; those that a dead process has forked are nobody's children."""
        self._seen |= set(workers_of(self.server.process.pid))
        return sorted(process for process in self._seen if not gone(process))

    def below(self) -> list[int]:
        """All processes of the server that live, beside itself."""
        return sorted({*self.workers(), *children(self.server.process.pid)})

    def expect_end(self, below: list[int]) -> None:
        """Check that the server has ended, with all of its processes, and that its port is free."""
        wait_until(lambda: all(map(gone, below)))
        listen(self.server.host, self.server.port).close()


def kill_worker(running: Running, chance: random.Random) -> None:
    """Kill a worker: no request is lost, and it is replaced."""
    kill(chance.choice(running.workers()))
    running.load.expect_more()
    wait_until(lambda: len(running.workers()) == WORKERS)


def kill_every_worker(running: Running, chance: random.Random) -> None:
    """Kill all workers within a moment."""
    for worker in running.workers():
        kill(worker)
        pause(chance, 0.005)
    running.load.expect_more()
    wait_until(lambda: len(running.workers()) == WORKERS)


def kill_forking_process(running: Running, chance: random.Random) -> None:
    """Kill the process that forks workers, and perhaps a worker with it."""
    workers = running.workers()
    for process in set(running.below()) - set(workers):
        kill(process)
    if chance.random() < 0.5:
        kill(chance.choice(workers))
    running.load.expect_more()
    wait_until(lambda: len(running.workers()) == WORKERS)


VICTIMS: dict[Callable[[Running, random.Random], None], int] = {  # and how often each is chosen
    kill_worker: 12,
    kill_every_worker: 3,
    kill_forking_process: 2,
}
KILL_SERVER = 3


@contextmanager
def killing_server() -> Iterator[Kill]:
    """Kill workers of a server, which loses nothing, and now and then the server, which leaves no process behind."""
    chance = random.Random(0)  # noqa: S311 - the same texts each time
    parser = ropewalk.load(threads=1)
    texts = [" ".join(chance.choices(WORDS, k=chance.randrange(1, 30))) + "." for _ in range(40)]
    right = {text: parser(text).to_conllu() for text in texts}
    stack = ExitStack()

    def start() -> Running:
        # Each death is a line. The stack closes the file.
        log = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))  # noqa: SIM115 - see above
        return Running(stack.enter_context(serving("--workers", str(WORKERS), log=log)), right)

    running = start()

    def kill_once(chance: random.Random) -> str:
        nonlocal running
        pause(chance)
        [victim] = chance.choices([*VICTIMS, None], [*VICTIMS.values(), KILL_SERVER])
        if victim is not None:
            victim(running, chance)
            return victim.__name__.removeprefix("kill_").replace("_", " ")
        below = running.below()
        assert len(below) == WORKERS + 1
        kill(running.server.process.pid)
        running.server.process.wait()
        running.load.end()
        running.expect_end(below)
        stack.close()
        running = start()
        return "server"

    try:
        yield kill_once
        running.load.expect_more()
    finally:
        running.load.end()
        below = running.below()
        stack.close()
    assert running.server.process.returncode == 0
    running.expect_end(below)


# ------------------------------------------------------------------ all kinds

KINDS: dict[str, Callable[[], AbstractContextManager[Kill]]] = {"server": killing_server}


def main() -> int:
    """Kill until there are no more rounds or there is no more time."""
    options = arguments("Kill processes at random moments.")
    options.add_argument("kind", choices=sorted(KINDS))
    given = options.parse_args()
    end = time.monotonic() + 60 * given.minutes
    killed: Counter[str] = Counter()
    number = given.first
    try:
        with KINDS[given.kind]() as kill_once:
            while number < given.first + given.rounds and time.monotonic() < end:
                killed[kill_once(random.Random(f"{given.seed} {number}"))] += 1  # noqa: S311 - the same for each seed
                number += 1
    except AssertionError as finding:
        sys.stdout.write(f"seed {given.seed}, round {number}: {finding}\n")
        return 1
    named = ", ".join(f"{name} {times}" for name, times in sorted(killed.items()))
    sys.stdout.write(f"{number - given.first} rounds, nothing lost: {named}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
