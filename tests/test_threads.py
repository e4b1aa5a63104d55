"""One loaded parser, many threads: the same answers as one thread gives."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import ropewalk

THREADS = 8
TEXTS = 2_000 if "ROPEWALK_ROUNDS" in os.environ else 500
ROUNDS = int(os.environ.get("ROPEWALK_ROUNDS", "2"))  # `make threads` has many more
NAMES = ("Ada", "the ropemaker", "a sailor from Whitby", "our neighbour", "nobody")
VERBS = ("twisted", "sold", "forgot", "mended and tarred", "walked past")
THINGS = ("the hemp", "two long ropes", "every strand of it", "a knot", "the old walk by the harbour")
ENDS = (".", "!", " again?", ", said the clerk.", " because it rained.")


def texts() -> list[str]:
    """Different sentences, each with a word that is new to the parser, so that what it remembers keeps changing."""
    draw = np.random.default_rng(7)
    letters = "abcdefghijklmnopqrstuvwxyz"
    made: set[str] = set()
    while len(made) < TEXTS:
        word = "".join(letters[number] for number in draw.integers(len(letters), size=draw.integers(3, 10)))
        parts = (*(some[int(draw.integers(len(some)))] for some in (NAMES, VERBS, THINGS)), "of", word)
        made.add(" ".join(parts).capitalize() + ENDS[int(draw.integers(len(ENDS)))])
    return sorted(made)


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
    sys.setswitchinterval(1e-5)
    try:
        for number in range(ROUNDS):
            found = answers(given, np.random.default_rng(number).permutation(TEXTS).tolist())
            wrong = [given[place] for place in expected if found[place] != expected[place]]
            assert not wrong, f"{len(wrong)} of {TEXTS} answers differ, the first for {wrong[0]!r}"
    finally:
        sys.setswitchinterval(interval)
