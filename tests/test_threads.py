"""One loaded parser, many threads: the same answers as one thread gives."""

from __future__ import annotations

import random
import sys
from concurrent.futures import ThreadPoolExecutor

import ropewalk

THREADS = 8
TEXTS = 2_000
ROUNDS = 2
NAMES = ("Ada", "the ropemaker", "a sailor from Whitby", "our neighbour", "nobody")
VERBS = ("twisted", "sold", "forgot", "mended and tarred", "walked past")
THINGS = ("the hemp", "two long ropes", "every strand of it", "a knot", "the old walk by the harbour")
ENDS = (".", "!", " again?", ", said the clerk.", " because it rained.")


def texts() -> list[str]:
    """Different sentences, each with a word that is new to the parser, so that what it remembers keeps changing."""
    draw = random.Random(7)  # noqa: S311 - no secret
    letters = "abcdefghijklmnopqrstuvwxyz"
    made: set[str] = set()
    while len(made) < TEXTS:
        word = "".join(draw.choice(letters) for _ in range(draw.randint(3, 9)))
        parts = (draw.choice(NAMES), draw.choice(VERBS), draw.choice(THINGS), "of", word)
        made.add(" ".join(parts).capitalize() + draw.choice(ENDS))
    return sorted(made)


def test_threads_give_what_one_thread_gives() -> None:
    given = texts()
    alone = ropewalk.load("en")
    expected = [alone(text).to_conllu() for text in given]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for number in range(ROUNDS):
            shared = ropewalk.load("en")  # which remembers nothing yet
            order = random.Random(number).sample(range(TEXTS), TEXTS)  # noqa: S311 - no secret
            with ThreadPoolExecutor(THREADS) as pool:
                answered = pool.map(lambda place, parser=shared: parser(given[place]).to_conllu(), order)
                answers = list(zip(order, answered, strict=True))
            wrong = [place for place, answer in answers if answer != expected[place]]
            assert wrong == [], f"{len(wrong)} of {TEXTS} answers differ, the first for {given[wrong[0]]!r}"
    finally:
        sys.setswitchinterval(interval)
