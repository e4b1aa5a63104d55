"""Functions of workers in tests, which a process can be told to make."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.treebank.documents import Document


def make_square() -> Callable[[int], tuple[int, int]]:
    """The square of a number, and who computed it; later numbers are done sooner."""
    base = os.getpid()

    def square(number: int) -> tuple[int, int]:
        assert number < 0 or base  # made once, wherever that was
        time.sleep(0.002 * (number % 3))
        return number**2, os.getpid()

    return square


LATE = 1.5  # seconds


def make_late_square() -> Callable[[int], tuple[int, int]]:
    """The same, from processes that take long to start."""
    time.sleep(LATE)
    return make_square()


def make_failing() -> Callable[[int], int]:
    def fail(number: int) -> int:
        if number == 3:
            raise FormatError("a.txt", 7, "kind", "found three; expected another")
        return number

    return fail


def make_dying(mark: str, times: int) -> Callable[[int], int]:
    """Die over number 4, so many times; the file named counts them."""

    def die(number: int) -> int:
        if number == 4:
            file = Path(mark)
            deaths = int(file.read_text(encoding="ascii")) if file.exists() else 0
            if deaths < times:
                file.write_text(str(deaths + 1), encoding="ascii")
                os.kill(os.getpid(), signal.SIGKILL)
        return number

    return die


def make_nothing() -> Callable[[int], int]:
    raise FormatError("model", 0, "kind", "there is no such model")


def make_large() -> Callable[[bytes], bytes]:
    """Tasks and results larger than any pipe holds."""
    return lambda given: given[::-1]


def second_word_of(_: Document, parsed: Document) -> str:
    """Return a server's answer to a parsed request."""
    return parsed[0][1].form


def die_of(_: Document, parsed: Document) -> str:
    """The same, from a request that kills its worker."""
    os.kill(os.getpid(), signal.SIGKILL)
    return parsed[0][1].form


def fail_oddly() -> None:
    class OddError(Exception):
        """An error that cannot be pickled."""

    raise OddError
