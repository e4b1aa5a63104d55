"""One loaded parser, many threads: the same answers as one thread gives."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import ropewalk

THREADS = 8
TEXTS = 2_000 if "ROPEWALK_ROUNDS" in os.environ else 120
ROUNDS = int(os.environ.get("ROPEWALK_ROUNDS", "3"))  # `make threads` has many more
INTERVALS = (5e-3, 1e-4, 1e-5)  # seconds after which another thread gets its turn; each finds what others miss
FRAMES = (
    "The {} of {} sold {} to a {}, and the {} mended {}.",
    "Did {} see the {} who tarred {} and {}?",
    "No {} walked past {} because {} {} it.",
)


def texts() -> list[str]:
    """Sentences full of words that are new to the parser, so that what it remembers keeps changing."""
    draw = np.random.default_rng(7)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))

    def word() -> str:
        return "".join(draw.choice(letters, size=draw.integers(3, 10)))

    return [" ".join(frame.format(*(word() for _ in range(6))) for frame in FRAMES) for _ in range(TEXTS)]


def answers(given: list[str], order: list[int]) -> dict[int, str]:
    """Parse texts in some order by a parser that remembers nothing yet and is shared by all threads."""
    shared = ropewalk.load("en")
    with ThreadPoolExecutor(THREADS) as pool:
        return dict(pool.map(lambda place: (place, shared(given[place]).to_conllu()), order))


def test_threads_give_what_one_thread_gives() -> None:
    given = texts()
    alone = ropewalk.load("en")
    expected = {place: alone(text).to_conllu() for place, text in enumerate(given)}
    interval = sys.getswitchinterval()
    try:
        for number in range(ROUNDS):
            sys.setswitchinterval(INTERVALS[number % len(INTERVALS)])
            found = answers(given, np.random.default_rng(number).permutation(TEXTS).tolist())
            wrong = [given[place] for place in expected if found[place] != expected[place]]
            assert not wrong, f"{len(wrong)} of {TEXTS} answers differ, the first for {wrong[0]!r}"
    finally:
        sys.setswitchinterval(interval)
