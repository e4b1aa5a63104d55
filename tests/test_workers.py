"""Several processes give what one gives, in order, whatever becomes of them."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from typing import IO, TYPE_CHECKING

import pytest

import ropewalk
from process_tools import children, gone, wait_until, workers_of
from ropewalk import errors
from ropewalk.errors import FormatError, OptionError, RopewalkError, WorkerError
from ropewalk.parallel import processes, workers
from worker_tools import LATE, make_dying, make_failing, make_large, make_late_square, make_nothing, make_square

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PROGRAM = [sys.executable, "-m", "ropewalk", "parse"]
TEXT = "The old rope maker doesn't walk backwards. She twists hemp all day, and he sees the harbour!\n\n"
both = pytest.mark.parametrize("share", [True, False])


@both
def test_results_come_in_order_from_other_processes(share: bool) -> None:  # noqa: FBT001 - a parameter of tests
    found = list(workers.apply(make_square, range(40), 3, share=share))
    assert [value for value, _ in found] == [number**2 for number in range(40)]
    who = {process for _, process in found}
    assert os.getpid() not in who
    assert len(who) == 3
    assert all(gone(process) for process in who)


def test_tasks_are_taken_only_as_they_are_needed() -> None:
    taken = 0

    def tasks() -> Iterator[int]:
        nonlocal taken
        for number in range(1000):
            taken += 1
            yield number

    results = workers.apply(make_square, tasks(), 2)
    for _ in range(10):
        next(results)
    assert taken <= 10 + 2 * processes.AHEAD * 2
    results.close()  # type: ignore[attr-defined]  # it is a generator


def test_one_task_and_one_job_need_no_process() -> None:
    here = os.getpid()
    assert list(workers.apply(make_square, [5], 4)) == [(25, here)]
    assert [who for _, who in workers.apply(make_square, range(3), 1)] == [here] * 3
    assert list(workers.apply(make_nothing, [], 4, here=lambda task: task)) == []
    assert list(workers.apply(make_nothing, [7], 4, here=lambda task: -task)) == [-7]


def test_tasks_are_done_here_until_workers_are_there() -> None:
    """So that little work takes no longer in several processes than in one."""

    def square(number: int) -> tuple[int, int]:
        time.sleep(0.01)
        return number**2, os.getpid()

    found = list(workers.apply(make_late_square, range(200), 2, here=square, share=True))
    assert [one for one, _ in found] == [number**2 for number in range(200)]
    who = [process for _, process in found]
    assert who[0] == os.getpid() != who[-1]
    begun = time.monotonic()
    assert len(list(workers.apply(make_late_square, range(3), 2, here=square, share=True))) == 3
    assert time.monotonic() - begun < LATE, "nobody waits for workers that are not needed"


@both
def test_large_tasks_and_results_pass(share: bool) -> None:  # noqa: FBT001 - a parameter of tests
    tasks = [bytes([number]) * 3_000_000 + b"!" for number in range(8)]
    assert list(workers.apply(make_large, tasks, 2, share=share)) == [task[::-1] for task in tasks]


@both
def test_an_exception_is_raised_when_its_turn_comes(share: bool) -> None:  # noqa: FBT001 - a parameter of tests
    results = workers.apply(make_failing, range(9), 2, share=share)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(FormatError, match=r"a\.txt:7: found three") as caught:
        next(results)
    assert (caught.value.line, caught.value.kind) == (7, "kind")


@both
def test_what_cannot_be_made_is_told(share: bool) -> None:  # noqa: FBT001 - a parameter of tests
    with pytest.raises(FormatError, match="there is no such model"):
        list(workers.apply(make_nothing, range(3), 2, share=share))


@both
def test_a_dead_worker_is_replaced(share: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a parameter of tests
    make = partial(make_dying, str(tmp_path / "deaths"), processes.FORGIVEN)
    assert list(workers.apply(make, range(12), 2, share=share)) == list(range(12))
    assert (tmp_path / "deaths").read_text(encoding="ascii") == str(processes.FORGIVEN)


def test_a_task_that_kills_every_worker_is_given_up(tmp_path: Path) -> None:
    make = partial(make_dying, str(tmp_path / "deaths"), 99)
    with pytest.raises(WorkerError, match="over part 5 of the input") as caught:
        list(workers.apply(make, range(12), 2))
    assert caught.value.deaths == processes.FORGIVEN + 1


def test_a_process_whose_starter_died_before_it_sent_anything_ends_in_silence() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        program = processes.PROGRAM.format(path=sys.path, end=theirs.fileno())
        with subprocess.Popen(
            [sys.executable, "-c", program], stderr=subprocess.PIPE, pass_fds=[theirs.fileno()]
        ) as process:
            theirs.close()
            ours.close()
            assert process.stderr is not None
            assert (process.stderr.read(), process.wait(60)) == (b"", 0)


def test_jobs_are_counted() -> None:
    assert workers.count_of(3) == 3
    assert workers.count_of(0) == workers.cores() >= 1
    with pytest.raises(OptionError, match="-1 jobs"):
        workers.count_of(-1)


def test_every_error_reaches_another_process() -> None:
    examples: list[RopewalkError] = [
        FormatError("a", 3, "kind", "message", word="4"),
        errors.CycleError([1, 2]),
        errors.UnknownNameError("encoding", "optimla", ["optimal"]),
        errors.UncoveredTreeError("optimal", 1, [(1, 2)], "why"),
        errors.MissingExtraError("corpora", "ray", "corpus"),
        errors.ConfigError("a.toml", "x.y", "is wrong"),
        WorkerError(3, 2),
    ]
    for error in examples:
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
        assert type(again) is type(error)
        assert (str(again), vars(again)) == (str(error), vars(error))


def test_documents_of_several_processes_are_those_of_one() -> None:
    parser = ropewalk.load()
    texts = [TEXT * (1 + number % 7) + f"Number {number}." for number in range(60)]
    one = list(parser.pipe(texts, batch=300))
    several = list(parser.pipe(texts, batch=300, jobs=2))
    assert [document.text for document in several] == texts
    assert [document.to_json() for document in several] == [document.to_json() for document in one]
    assert [document.to_conllu() for document in several] == [document.to_conllu() for document in one]
    assert not several[0].treebank.heads.flags.writeable
    with pytest.raises(OptionError):
        parser.pipe(texts, jobs=-1)


@pytest.mark.parametrize("form", ["conllu", "json", "tree"])
def test_the_program_writes_the_same_bytes(form: str, tmp_path: Path, sample: Path) -> None:
    for name, times in (("a.txt", 400), ("empty.txt", 0), ("b.txt", 3)):
        (tmp_path / name).write_text(TEXT * times, encoding="utf-8")
    files = [tmp_path / "empty.txt", tmp_path / "a.txt", sample, tmp_path / "b.txt"]
    words = [*PROGRAM, "--format", form, *map(str, files)]
    one, several = (
        subprocess.run([*words, "--jobs", jobs], capture_output=True, check=True).stdout for jobs in ("1", "2")
    )
    assert one == several
    assert len(one) > 50_000


def read_until(stdout: IO[bytes], reached: Callable[[], bool]) -> bytes:
    """Read what a program writes, which goes on only as it is read, until something has come about."""
    seen = stdout.read(10_000)
    while not reached():
        more = stdout.read(10_000)
        assert more, "the program ended before"
        seen += more
    return seen


def test_the_program_goes_on_when_a_worker_is_killed(tmp_path: Path) -> None:
    text = tmp_path / "long.txt"
    text.write_text(TEXT * 2500, encoding="utf-8")
    expected = subprocess.run([*PROGRAM, text], capture_output=True, check=True).stdout
    with subprocess.Popen([*PROGRAM, text, "--jobs", "2"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        seen = read_until(process.stdout, lambda: len(workers_of(process.pid)) == 2)
        first = workers_of(process.pid)
        os.kill(first[0], signal.SIGKILL)
        seen += read_until(process.stdout, lambda: len(set(workers_of(process.pid)) - {first[0]}) == 2)
        seen += process.stdout.read()
        assert process.wait(60) == 0
    assert seen == expected


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_workers_end_with_the_program(number: int, code: int, tmp_path: Path) -> None:
    text = tmp_path / "long.txt"
    text.write_text(TEXT * 5000, encoding="utf-8")
    with subprocess.Popen([*PROGRAM, text, "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        seen = read_until(process.stdout, lambda: len(workers_of(process.pid)) == 2)
        started = [*children(process.pid), *workers_of(process.pid)]
        assert len(set(started)) == 3
        process.send_signal(number)
        seen += process.stdout.read()
        assert process.wait(60) == code
        assert process.stderr.read() == b""
    wait_until(lambda: all(map(gone, started)))
    if number != signal.SIGKILL:
        assert seen.endswith(b"\n\n")
